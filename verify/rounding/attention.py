"""What a head reads, for all inputs at once.

For one state of the query, each state of a key gives a score polynomial, recovered from the rows of W_Q and W_K. The scores of
all keys lie on a lattice (all coefficients are multiples of one number), so any two that differ at all differ by that number:
the *margin*. If the margin is large enough for the format and the length, and the largest score cannot saturate, the rounded
softmax gives weight ROUND(1/m) to the m keys whose score is largest and exactly 0 to all others, as the ideal model gives 1/m
and 0. That is the soundness of rounding, and it needs no word about who wins. Who can win is then read off the squares:
  by position   every score is −c·(k' − f)² + the same constant: the key at f wins; the last one if f lies after it, else the first
  by key        a key that scores less, for want of equality, than some key that is surely there cannot win: its form is 0
  by count      nearest.py
  by number     at a known position, with keys at known positions: if all scores are numbers, rounded and ideal, they are compared
Several winners are read only if all values are 0, or all but one that is 1 and surely among them (a count), or if their scores are
one number and the values are integers (a mean).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from constructions.rows import HeadRows
from verify.algebra.domains import POSITION, Integer, Reciprocal, Refused, Undecided, with_fields
from verify.algebra.polynomial import ONE, ZERO, Polynomial, atom, decimal, is_whole, total, whole
from verify.algebra.symbolic import at_most, grows
from verify.automata.token_automaton import Apart, Consecutive, OneWinner
from verify.rounding.abstract_state import NOWHERE, AbstractState
from verify.rounding.candidates import (
    GROUPS,
    KEYS,
    KNOWN,
    QUERY,
    SCORE,
    VALUES,
    Candidate,
    HeadMargin,
    Keys,
    entry,
    lowest,
    needed_margin,
    steps_back,
)
from verify.rounding.join import Pool, by_order, wide_first
from verify.rounding.nearest import Key, nearest_count_of
from verify.rounding.operators import row_of
from verify.rounding.scores import Score, lattice
from verify.rounding.winners import Winners, scored, winning_part

Target: TypeAlias = tuple[Fraction, Polynomial, Polynomial]
"""c, f and the rest of scores −c·(k' − f)² + rest."""
FEW = 3  # positions beside a first one, of which each is looked at where nothing else tells who wins


class HeadTransfer:
    """One head over the states at the entry of its block."""

    def __init__(
        self,
        keys: Keys,
        rows: HeadRows,
        where: str,
        fused: bool,
        known: Sequence[tuple[Consecutive, int, int]] = (),
        apart: Sequence[tuple[Apart, int]] = (),
        one_winner: OneWinner | None = None,
    ) -> None:
        self.one_winner = one_winner
        self.keys, self.rows, self.where, self.fused, self.known, self.apart = keys, rows, where, fused, known, apart
        space, longest = keys.states[0].space, max(state.position.high for state in keys.states)
        self.needed = needed_margin(-space.format.quantum_exponent, longest)
        self.used: list[Consecutive | Apart | OneWinner] = []
        self.trace: list[str] = []  # who wins, without the numbers that scores are scaled by
        self.projected: dict[int, AbstractState] = {}
        self.groups: dict[frozenset[int], list[tuple[frozenset[int], str, AbstractState]]] = {}

    def read(self, query: AbstractState, at: int) -> tuple[list[AbstractState], HeadMargin | None]:
        """Returns the query's state in parts, with what the head reads in the pseudo registers at, at − 1, …"""
        queries: list[Polynomial] = []
        for j, row in enumerate(self.rows.query):
            query, value = row_of(query, row, 0, f"{self.where}, query row {j}", self.fused)
            queries.append(value)
        candidates = [self._candidate(query, queries, frozenset(), "", query)]
        if query.position.high > 1:
            groups = self._group(self.keys.earlier[entry(query)])
            candidates += [self._candidate(query, queries, *group) for group in groups]
        rivals = [candidate for candidate in candidates if candidate is not None]
        if len(rivals) == 1 and rivals[0].is_self:
            return [self._reads(rivals[0].joint, at)], None
        needed = needed_margin(-query.space.format.quantum_exponent, query.position.high)
        inexact = any(self._inexact(c.exact, c.joint) for c in rivals)
        target = None if inexact else self._target(rivals)
        few = _few_positions(query) if target is None and not inexact else ()
        if few and any(candidate.upper > query.space.largest for candidate in rivals):
            return self._at_each_position(query, few, at)
        if target is None or target[2].is_constant:
            for candidate in rivals:
                self._require_in_range(query, candidate.upper)
        if inexact and not self.known and query.position.low == query.position.high:
            return self._by_number(query, queries, needed, at)
        if inexact:
            return self._by_count(query, rivals, needed, at)
        if target is not None:
            for i, candidate in enumerate(rivals):  # the target travels with the parts
                rivals[i] = replace(candidate, joint=candidate.joint.with_registers({SCORE - 2: target[1]}))
            return self._by_position(query, rivals, target, needed, at)
        return self._by_key(query, rivals, needed, at)

    def _require_in_range(self, query: AbstractState, score: Fraction) -> None:
        """Raises Refused for a score that may be above the largest number."""
        if score > query.space.largest:
            raise Refused(
                self.where,
                f"saturates: a score of {query.label} reaches {decimal(score)}, above the largest number",
            )

    def _group(self, ids: frozenset[int]) -> list[tuple[frozenset[int], str, AbstractState]]:
        """Returns what keys of these states can be to this head: states that differ in bounds only are one.

        Of each, its states, and as text how the atoms of those are called in it.
        """
        if ids not in self.groups:
            for i in ids - self.projected.keys():
                state = self._with_rows(self.keys.states[i])
                projection = state.needed({j: p for j, p in sorted(state.registers.items()) if j < SCORE and p.terms})
                self.projected[i] = with_fields(projection, label=NOWHERE, parents=frozenset([i]))
            pool, members = Pool(), dict[int, dict[int, dict[str, str]]]()
            for state in wide_first([self.projected[i] for i in sorted(ids)]):
                members.setdefault(pool.add(state), {})[entry(state)] = by_order(state)
            self.groups[ids] = [
                (frozenset(members[place]), str(sorted(members[place].items())), state)
                for place, state in enumerate(pool.states)
            ]
        return self.groups[ids]

    def _candidate(
        self,
        query: AbstractState,
        queries: Sequence[Polynomial],
        ids: frozenset[int],
        naming: str,
        state: AbstractState,
    ) -> Candidate | None:
        key, names = state.renamed() if ids else (self._with_rows(query), {POSITION: POSITION})
        place = atom(names[POSITION])
        if (joint := query.join_position(key)) is None:
            return None
        entries = [key.register(KEYS - j) for j in range(len(queries))]
        products = [q * entry for q, entry in zip(queries, entries, strict=True) if q.terms and entry.terms]
        operators = products if not self.fused else [total(products)]
        rounded = [product for product in operators if not joint.on_grid(product)]
        noise = sum(not self._inexact(product, joint) for product in rounded) * query.space.step / 2
        if not self.fused:
            partial = ZERO
            for product in products:
                partial = partial + product
                joint.round(product, f"{self.where}, score")
                joint.round(partial, f"{self.where}, score")
        key_values = {i: p for i, p in key.registers.items() if i <= VALUES}
        asked = tuple(sorted({name for q in queries for name in q.atoms}))
        query_atoms = {QUERY - i: atom(name) for i, name in enumerate(asked)}
        joint = joint.with_registers({SCORE: total(products), SCORE - 1: place, **query_atoms, **key_values})
        own = frozenset(key.box) - frozenset(query.box)
        if not ids:
            return scored(Candidate(ids, joint, own, Score((), ZERO), noise, not rounded, asked=asked))
        part = joint.restricted(place - atom(POSITION), None, Fraction(-1))
        if part is None:
            return None
        text = f"{naming} {names}"
        return scored(Candidate(ids, part, own, Score((), ZERO), noise, not rounded, text=text, asked=asked))

    def _inexact(self, score: Polynomial, joint: AbstractState) -> bool:
        return any(joint.integer(name) is None for name in score.atoms)

    def _with_rows(self, state: AbstractState) -> AbstractState:
        """Returns the state with its key and value rows as pseudo registers."""
        changed: dict[int, Polynomial] = {}
        for j, row in enumerate(self.rows.key):
            state, changed[KEYS - j] = row_of(state, row, 0, f"{self.where}, key row {j}", self.fused)
        for i, (_, group, count) in enumerate(self.known):
            changed[KNOWN - 2 * i], changed[KNOWN - 2 * i - 1] = state.register(group), state.register(count)
        for i, (_, group) in enumerate(self.apart):
            changed[GROUPS - i] = state.register(group)
        for i, row in enumerate(self.rows.value):
            state, changed[VALUES - i] = row_of(state, row, 0, f"{self.where}, value row {i}", self.fused)
        return state.with_registers(changed)

    def _reads(self, joint: AbstractState, at: int, values: Sequence[Polynomial] | None = None) -> AbstractState:
        """Returns the query's state, with what is read in the pseudo registers at, at − 1, …"""
        read_values = [joint.register(VALUES - i) for i in range(len(self.rows.value))] if values is None else values
        registers = {i: p for i, p in joint.registers.items() if i > SCORE}
        return with_fields(joint, registers={**registers, **{at - i: value for i, value in enumerate(read_values)}})

    # Margins

    def _check(
        self, query: AbstractState, winning: Fraction, margin: Fraction | None, needed: int, lowest: Fraction
    ) -> HeadMargin:
        """Raises Refused if the margin does not suffice, or the largest score may lie where others saturate.

        margin: None if no two scores differ.
        """
        if margin is not None and margin < needed:
            raise Refused(
                self.where, f"scores of {query.label} may differ by {decimal(margin)} only; {needed} is needed"
            )
        largest = query.space.largest
        if winning - needed < -largest and lowest < -largest:
            raise Refused(
                self.where,
                f"saturates: the largest score of {query.label} can be {decimal(winning)}, and others are below "
                f"−{decimal(largest)}",
            )
        return HeadMargin(margin or Fraction(0), needed, winning)

    # By position

    def _target(self, candidates: Sequence[Candidate]) -> Target | None:
        """Returns c, f and the rest if every score is −c·(k' − f)² + rest with the same f and rest, free of the key's atoms."""
        targets: list[Target] = []
        known: list[Target] = []  # by keys at known positions: f lies on one side or the other
        for candidate in candidates:
            squares, rest, place = candidate.score.squares, candidate.score.rest, candidate.place
            if (
                place.is_constant
                and len(squares) == 1
                and squares[0].can_vanish
                and rest.is_constant
                and not squares[0].form.atoms & candidate.own
            ):
                known += [(squares[0].cost, place + squares[0].form * side, rest) for side in (1, -1)]
            if not place.atoms & candidate.own:
                continue
            if not candidate.exact.atoms & candidate.own:
                continue
            if not rest.is_constant:  # what all keys share may have squares of its own
                squares = tuple(s for s in squares if s.form.atoms & candidate.own)
            if len(squares) != 1 or not squares[0].can_vanish or len(place.atoms) != 1:
                return None
            (square,), (name,) = squares, place.atoms
            c = square.form.terms.get((name,), Fraction(0))
            if abs(c) != 1:
                return None
            if not rest.is_constant:
                rest = candidate.exact + square.form * square.form * square.cost
            if rest.atoms & candidate.own:
                return None
            targets.append((square.cost, place - square.form * c, rest))
        # In the part where a key has one state, atoms of the query may be numbers: take the form that says most, compare with all.
        likely = [max(targets, key=lambda item: len(item[1].atoms))] if targets else known
        return next((target for target in likely if self._is_target(target, candidates)), None)

    def _is_target(self, target: Target, candidates: Sequence[Candidate]) -> bool:
        """Returns whether every score is that, but for keys that do not matter."""
        cost, f, rest = target
        for candidate in candidates:
            offset = candidate.place - f
            expected = rest - offset * offset * cost
            if (
                rest.is_constant
                and not candidate.exact.atoms & candidate.own
                and self._stands_after(candidate, f, rest.constant - cost)
            ):
                continue
            if f.atoms & candidate.own or candidate.joint.fixed(expected) != candidate.joint.fixed(candidate.exact):
                return False
        return True

    def _stands_after(self, candidate: Candidate, target: Polynomial, most: Fraction) -> bool:
        """Returns whether its keys stand after the target position, which exists, and score at most `most`."""
        joint = candidate.joint
        if not target.atoms <= joint.box.keys():  # an atom of the query is another form here
            return False
        exists, ahead = joint.bounds(target)[0] >= 1, joint.bounds(candidate.place - target)[0] > 0
        return exists and ahead and candidate.upper <= most

    def _by_position(
        self,
        query: AbstractState,
        candidates: Sequence[Candidate],
        target: Target,
        needed: int,
        at: int,
    ) -> tuple[list[AbstractState], HeadMargin]:
        """Says who wins where scores depend on the position, and by how much. The rest is the same for all keys of a query.

        Only whether scores saturate does; and none is larger than that of a key that is nearest.
        """
        cost, f, rest = target
        self.trace += [f"position {f}", *(candidate.text for candidate in candidates)]
        k, parts, scores = atom(POSITION), list[AbstractState](), list[tuple[Fraction, Fraction]]()
        winning, varies = rest.constant, not rest.is_constant
        outside = query.bounds(f - k)[0] > 0 or query.bounds(f)[1] < 1
        offset = query.fixed(k - f)
        for candidate in candidates:
            cases: list[AbstractState | None] = []
            if candidate.is_self:
                cases = [candidate.joint.restricted(f - k, Fraction(0), None)]
            if not candidate.is_self or query.position.low == 1:  # the query itself may be the first key
                first = candidate.joint.restricted(f, None, Fraction(0))
                cases.append(first and first.restricted(first.register(SCORE - 1), Fraction(1), Fraction(1)))
            for part in cases:
                if part is not None and not varies:
                    low, high = part.bounds(part.register(SCORE - 1) - part.register(SCORE - 2))
                    winning = min(winning, rest.constant - cost * max(low * low, high * high))
            if not candidate.is_self and not (varies and outside):
                cases.append(
                    self._back(candidate, whole(offset.constant))
                    if offset.is_constant
                    else candidate.joint.restricted(candidate.place - f, Fraction(0), Fraction(0))
                )
            if varies:
                scores += [part.bounds(part.fixed(part.register(SCORE))) for part in cases if part is not None]
            parts += [self._reads(part, at) for part in cases if part is not None]
        # All keys may lie on one side of f, this far off at least.
        away = max(1 - query.bounds(f)[1], query.bounds(f - k)[0], Fraction(0))
        margin, noise = cost * (2 * away + 1), 2 * max(candidate.noise for candidate in candidates)
        if varies:
            winning = min(low for low, _ in scores)
            self._require_in_range(query, max(high for _, high in scores) + noise)
        return parts, self._check(query, winning - noise, margin - noise, needed, lowest(candidates))

    def _back(self, candidate: Candidate, offset: int) -> AbstractState | None:
        """Returns the query where the key `offset` positions before has this state."""
        query = candidate.joint
        by = frozenset(step for step in query.before if candidate.ids & steps_back(self.keys.states, step, offset - 1))
        if offset < 1 or not by:
            return None
        distance = -offset
        return with_fields(query, before=by).restricted(candidate.place - atom(POSITION), distance, distance)

    # By key

    def _by_key(
        self, query: AbstractState, candidates: Sequence[Candidate], needed: int, at: int
    ) -> tuple[list[AbstractState], HeadMargin]:
        winning, lost = max(c.lower for c in candidates if self._sure(query, c)), list[Fraction]()
        winners = [part for c in candidates if (part := winning_part(c, winning, lost)) is not None]
        able = Winners(winners, [self._many(c) for c in winners])
        surely = max(self._at_known_positions(query, candidates), default=winning)
        if surely > winning and not able.unique():
            winning, lost = surely, []
            winners = [part for c in candidates if (part := winning_part(c, winning, lost)) is not None]
            able = Winners(winners, [self._many(c) for c in winners])
        noise = 2 * max(c.noise for c in candidates)
        margin = lattice([c.exact for c in candidates])
        if margin > 0 and not at_most(needed + noise, margin):
            margin = max(margin, able.margin(lost))
            for invariant, on_line in self._of_one_number(able):
                if on_line and not at_most(self.needed + noise, margin):
                    margin = max(margin, replace(able, apart=invariant.by).margin(lost))
                    self.used.append(invariant)
        head_margin = self._check(
            query, winning - noise, margin - noise if margin else None, needed, lowest(candidates)
        )
        for c, rank in zip(winners, able.ranks(), strict=True):
            signs = [f"{s.form} from {c.joint.bounds(s.form)[0] >= 0}" for s in c.score.squares]
            self.trace.append(f"key {c.text} {c.place} {c.whole} {rank} {signs} {[*map(str, c.equal)]}")
        if able.unique():
            return [self._reads(c.joint, at) for c in winners], head_margin
        if self.one_winner is not None:  # what differs still differs by the margin
            self.used.append(self.one_winner)
            return [self._reads(c.joint, at) for c in winners], head_margin
        everybody = not lost and len(winners) == len(candidates)
        try:
            return [self._average(query, winners, at, everybody=everybody)], head_margin
        except Undecided:
            if not (few := _few_positions(query)):
                raise
            return self._at_each_position(query, few, at)

    def _at_known_positions(self, query: AbstractState, candidates: Sequence[Candidate]) -> Iterator[Fraction]:
        """Yields what some key scores at least: of each position before the query at which keys are known to stand, its worst
        key.
        """
        if grows(query.space.steps):  # a comparison of numbers that grow may split the case
            return
        for place in {whole(c.place.constant) for c in candidates if c.place.is_constant}:
            if place < query.position.low:
                spans = [(c, c.joint.bounds(c.place)) for c in candidates if not c.is_self]
                yield min(c.lower for c, (low, high) in spans if low <= place <= high)

    def _at_each_position(
        self, query: AbstractState, positions: Sequence[int], at: int
    ) -> tuple[list[AbstractState], HeadMargin]:
        """Returns the query's state in parts, each of which stands at one position."""
        self.trace.append(f"each of {range(positions[0], positions[-1] + 1)}")
        states, margins = list[AbstractState](), list[HeadMargin]()
        for place in positions:
            part = query.restricted(atom(POSITION), place, place)
            if part is not None:
                parts, margin = self.read(part, at)
                states += parts
                margins += [margin] if margin is not None else []
        least = min((margin.margin for margin in margins if margin.margin), default=Fraction(0))
        return states, HeadMargin(
            least, max(margin.needed for margin in margins), min(margin.winning for margin in margins)
        )

    def _of_one_number(self, able: Winners) -> Iterator[tuple[Apart, bool]]:
        """Yields the invariants of positions that are apart; and whether all keys on the line are of one number of theirs."""
        on, _ = able.line()
        line_parts = [c for c, is_on in zip(able.parts, on, strict=True) if is_on]
        for i, (invariant, _) in enumerate(self.apart):
            groups = [c.joint.fixed(c.joint.register(GROUPS - i)) for c in line_parts]
            of_query = (g == groups[0] and not g.atoms & c.own for g, c in zip(groups, line_parts, strict=True))
            yield (
                invariant,
                bool(line_parts) and all(of_query) and all(c.joint.bounds(groups[0])[0] >= 1 for c in line_parts),
            )

    def _by_count(
        self, query: AbstractState, candidates: Sequence[Candidate], needed: int, at: int
    ) -> tuple[list[AbstractState], HeadMargin]:
        """Returns the winner among equal keys, whose count is nearest to a target, by the first invariant that fits."""
        for i, (invariant, _, _) in enumerate(self.known):
            group, count = KNOWN - 2 * i, KNOWN - 2 * i - 1
            keys = [
                Key(
                    c.joint,
                    c.exact,
                    c.on_grid,
                    c.own,
                    self._sure(query, c),
                    c.joint.register(group),
                    c.joint.register(count),
                    self._many(c),
                    c.text,
                )
                for c in candidates
            ]
            nearest = nearest_count_of(query, keys, 1 if self.fused else len(self.rows.key))
            if nearest is None:
                continue
            outcome = nearest.run(needed, self.where)
            self.trace += [f"nearest {nearest.target} by {invariant.name}", *outcome.texts]
            if outcome.by_invariant:
                self.used.append(invariant)
            values = range(len(self.rows.value))
            parts = [self._reads(joint, at) for joint in outcome.winners]
            if outcome.tied:
                if any(joint.register(VALUES - j).terms for joint in outcome.tied for j in values):
                    raise Undecided(self.where, f"several keys of {query.label} can tie, whose values are not 0")
                parts.append(self._reads(query, at, [ZERO for _ in values]))
            lowest = min(nearest.lowest())
            return parts, self._check(query, outcome.winning, outcome.margin or None, needed, lowest)
        raise Undecided(self.where, f"scores of {query.label} are no integer polynomials: {candidates[0].exact}")

    # By number

    def _by_number(
        self, query: AbstractState, queries: Sequence[Polynomial], needed: int, at: int
    ) -> tuple[list[AbstractState], HeadMargin]:
        """Returns the position whose score is the largest number, rounded and ideally. Each position up to the query's has some
        key.

        Keys that may stand at one position score alike, so that it does not matter which of them does.
        """
        candidates = [self._candidate(query, queries, frozenset(), "", query)]
        for i in sorted(self.keys.earlier[entry(query)]):
            key = with_fields(self._with_rows(self.keys.states[i]), label=NOWHERE, parents=frozenset([i]))
            candidates.append(self._candidate(query, queries, frozenset([i]), str(i), key))
        scores: dict[Fraction, tuple[Fraction, Fraction]] = {}
        rivals = [candidate for candidate in candidates if candidate is not None]
        places = list[Fraction]()
        for c in rivals:
            ends = [c.joint.bounds(value) for value in (c.place, c.exact, c.joint.ideal(c.exact))]
            (place, rounded, ideal) = (low for low, _ in ends)
            if any(low != high for low, high in ends) or scores.setdefault(place, (rounded, ideal)) != (rounded, ideal):
                raise Undecided(self.where, f"scores of {query.label} are no integer polynomials: {c.exact}")
            places.append(place)
        noise = 2 * max(c.noise for c in rivals)
        best, *others = sorted(scores, key=lambda place: scores[place], reverse=True)
        if any(scores[place][1] >= scores[best][1] for place in others):
            raise Undecided(self.where, f"another key of {query.label} wins without rounding")
        winning = scores[best][0]
        self._require_in_range(query, winning + noise)
        margin = min((winning - scores[place][0] - noise for place in others), default=None)
        self.trace.append(f"number {best} of {sorted(scores.items())}")
        head_margin = self._check(query, winning - noise, margin, needed, min(score for score, _ in scores.values()))
        return [self._reads(c.joint, at) for c, place in zip(rivals, places, strict=True) if place == best], head_margin

    def _sure(self, query: AbstractState, candidate: Candidate) -> bool:
        """Returns whether there is such a key, whatever the input."""
        return candidate.is_self or self.keys.sure(entry(query), candidate.ids)

    def _many(self, candidate: Candidate) -> bool:
        """Returns whether there may be several such keys."""
        return self._multiplicity(candidate) > 1

    def _average(
        self, query: AbstractState, winners: Sequence[Candidate], at: int, *, everybody: bool
    ) -> AbstractState:
        """Returns what several winners give: 0, or 1 of a key that is surely one of them, or a sum of integers, divided by their
        number.

        A sum needs scores that are one number: then the same keys win in every case. everybody: whether no key can lose.
        """
        top = max(c.upper for c in winners)
        always = [c for c in winners if c.certain and self._sure(query, c) and c.upper == top]
        most = min(sum(self._multiplicity(c) for c in winners), query.position.high)
        span = _span([c.joint.bounds(c.place) for c in winners])  # each winner is another position
        most = span if span is not None and at_most(span, most) else most
        number, share = query.space.fresh("m"), query.space.fresh("r")
        values: list[Polynomial] = []
        sums: dict[str, Integer] = {}
        ranges: list[tuple[str, int, int]] = []  # of a sum: each summand lies between these
        constant_scores = all(c.upper == c.lower == top for c in winners)
        for i in range(len(self.rows.value)):
            nonzero = [c for c in winners if c.value(i).terms]
            if not nonzero:
                values.append(ZERO)
            elif (
                constant_scores
                and len(nonzero) == 1
                and nonzero[0].value(i) == ONE
                and nonzero[0] in always
                and not self._many(nonzero[0])
            ):
                values.append(atom(share))
            elif constant_scores and all(self._is_whole(c, i) for c in winners):
                ends = [whole(end) for c in winners for end in c.joint.bounds(c.value(i))]
                summed = query.space.fresh("s")  # the values of all winners, added up
                sums[summed] = Integer(min(*ends, 0) * most, max(*ends, 0) * most)
                ranges.append((summed, min(ends), max(ends)))
                values.append(atom(summed) * atom(share))
                self.trace.append(f"sum {[f'{c.value(i)} of {c.text}' for c in winners]}")
            else:
                shown = ", ".join(f"{c.value(i)} at {self._name(c)}" for c in nonzero)
                raise Undecided(self.where, f"several keys of {query.label} can tie, whose values are {shown}")
        if not self.fused and any(value.terms for value in values):
            if most > query.space.largest:
                raise Refused(self.where, f"{most} keys are more than the largest number")
            if any(c.noise for c in winners):
                raise Undecided(self.where, f"equal scores of {query.label} may be rounded differently")
        box = {**query.box, **sums, number: Integer(max(len(always), 1), most), share: Reciprocal(number, 0)}
        if constant_scores and everybody:  # as many as there are positions
            box[share] = Reciprocal(POSITION, 0)
        state = with_fields(query, box=box)
        for summed, low, high in ranges:
            counted = atom(POSITION if constant_scores and everybody else number)
            state = state.not_below_0(atom(summed) - counted * low).not_below_0(counted * high - atom(summed))
        for value in values:
            state, _ = state.round(value, self.where)  # no multiple of the step is rounded, but a sum may saturate
        return self._reads(state, at, values).simplified()

    def _is_whole(self, candidate: Candidate, row: int) -> bool:
        """Returns whether what is read there is an integer, the same one in both readings."""
        value = candidate.value(row)
        return not self._inexact(value, candidate.joint) and all(map(is_whole, value.terms.values()))

    def _name(self, candidate: Candidate) -> str:
        return "itself" if candidate.is_self else str(self.keys.states[min(candidate.ids)].label)

    def _multiplicity(self, candidate: Candidate) -> int:
        if not candidate.place.atoms & candidate.own or (len(candidate.ids) == 1 and candidate.ids <= self.keys.single):
            return 1
        low, high = candidate.joint.bounds(candidate.place)
        return whole(high - low) + 1


def _few_positions(query: AbstractState) -> Sequence[int]:
    """Returns its positions, where these are several and few; else none."""
    first, last = query.position.low, query.position.high
    if grows(first) or grows(last) or not first < last <= first + FEW:
        return ()
    return range(first, last + 1)


def _span(ranges: Sequence[tuple[Fraction, Fraction]]) -> int | None:
    """Returns how many positions there are from the first to the last of these ranges; None where it is not seen which these
    are.
    """
    ends: list[Fraction] = []
    for values in ([low for low, _ in ranges], [-high for _, high in ranges]):
        least = next((one for one in values if all(at_most(one, other) for other in values)), None)
        if least is None:
            return None
        ends.append(least)
    return whole(-ends[1] - ends[0]) + 1

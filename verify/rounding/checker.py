"""The static checker: walks the matrices of a model and proves, for all inputs of an automaton, that rounding is sound.

Soundness of rounding: at every position of every input, every register is what the ideal model (the same weights over exact
rationals; attention takes the largest scores and averages ties) has there, rounded, or within a stated number of steps of it; every
gate opens in both or in neither; every head has the same winners; and the two models produce the same token.

How: by abstract interpretation. At first there is an abstract state (abstract_state.py) for each state of the automaton that reads
the input. Each sublayer turns a state into one or more, where the sign of a gate or the state of a head's winner differs, and
those that differ in bounds only are joined (join.py). Whatever no rule proves ends the check.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest

from constructions.places import ATTENTION, FEED_FORWARD, RECURRENCE, name_place
from constructions.rows import Row, Written
from precision.format import Discipline, Rounding
from verify.algebra.domains import (
    POSITION,
    SIZE,
    Domain,
    Integer,
    Reciprocal,
    Refuted,
    Rounded,
    Space,
    Undecided,
    with_fields,
)
from verify.algebra.polynomial import Polynomial, atom, constant, is_whole, quotient
from verify.algebra.symbolic import grows
from verify.automata.token_automaton import Apart, Consecutive, OneWinner, TokenAutomaton
from verify.rounding.abstract_state import AbstractState
from verify.rounding.attention import HeadTransfer
from verify.rounding.bounds import Bounded
from verify.rounding.candidates import HeadMargin, Keys
from verify.rounding.join import join, join_and_link, linked
from verify.rounding.model import NUMBER, ExactModel
from verify.rounding.operators import added, dot, feed_forward, loosened
from verify.rounding.output import require_same_argmax
from verify.rounding.recurrence import RecurrenceTransfer
from verify.rounding.rows import as_polynomial

MOST_STATES = 4000
CONTENT = "content"  # begins the names of the atoms that stand in given registers


@dataclass(frozen=True)
class Entry:
    """Where a check stands in front of a sublayer, or after the last. names: how many were given; trace: how long it is."""

    states: Sequence[AbstractState]
    names: int
    trace: int


@dataclass
class Report:
    """What was proved. registers: their names. met_margins: of heads, in order. entries: of each sublayer, and the end.

    invariants: those that were used, by name. met: every state on the way. behind: those after each block, and what is read of
    them. trace: where and what the ideal model does, states or the checker's words for who wins.
    """

    registers: Sequence[str] = ()
    met_margins: list[tuple[tuple[int, int], HeadMargin]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    invariants: dict[str, str] = field(default_factory=dict)
    met: list[AbstractState] = field(default_factory=list)
    behind: list[tuple[int, AbstractState, frozenset[int]]] = field(default_factory=list)
    trace: list[tuple[str, str | AbstractState]] = field(default_factory=list)

    @property
    def states(self) -> list[int]:
        """Returns how many there are after each block."""
        return [len(entry.states) for entry in self.entries[2::2]]

    @cached_property
    def ideal(self) -> str:
        """A fingerprint of the ideal model."""
        return hashlib.sha256("\n".join(text for _, text in self.texts).encode()).hexdigest()

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """The trace as text: two models of which it is the same are the same function."""
        return [(where, what if isinstance(what, str) else _text(what)) for where, what in self.trace]

    def first_difference(self, other: Report) -> str:
        """Returns where the ideal models may differ first; "" if they are the same function."""
        for (where, text), (_, expected) in zip_longest(self.texts, other.texts, fillvalue=("the last block", "")):
            if text != expected:
                return where
        return ""

    @cached_property
    def errors(self) -> dict[str, Fraction]:
        """Register → the largest error in steps."""
        errors: dict[int, Fraction] = {}
        for state in self.met:
            inexact = {name for name, domain in state.box.items() if not isinstance(domain, Integer)}
            for index, polynomial in state.registers.items():
                if index >= 0 and not inexact.isdisjoint(polynomial.atoms):
                    error = state.error(polynomial)
                    errors[index] = max(error, errors.get(index, error))
        return {self.registers[index]: error / self.met[0].space.step for index, error in errors.items()}

    @cached_property
    def ranges(self) -> dict[tuple[int, str], tuple[Fraction, Fraction]]:
        """(block, register) → bounds after it, where it is read."""
        ranges: dict[tuple[int, str], tuple[Fraction, Fraction]] = {}
        for block, state, live in self.behind:
            for index in live:
                name = self.registers[index]
                low, high = state.bounds(state.register(index))
                old = ranges.get((block, name), (low, high))
                ranges[block, name] = min(low, old[0]), max(high, old[1])
        return ranges

    def stands_at(self, states: Sequence[AbstractState]) -> None:
        """Notes an entry."""
        self.entries.append(Entry(states, states[0].space.given, len(self.trace)))

    @cached_property
    def margins(self) -> dict[tuple[int, int], HeadMargin]:
        """Returns the narrowest margin of each head, by its block and its number there, both from 0."""
        margins: dict[tuple[int, int], HeadMargin] = {}
        for head, new in self.met_margins:
            old = margins.get(head, new)
            margin = min((x.margin for x in (old, new) if x.margin), default=Fraction(0))
            margins[head] = HeadMargin(margin, max(old.needed, new.needed), min(old.winning, new.winning))
        return margins


def check(model: ExactModel, automaton: TokenAutomaton) -> Report:
    """Proves soundness of rounding for every input. Raises Refused with the first place that fails, Undecided for "cannot tell"."""
    if model.arithmetic.rounding is not Rounding.NEAREST_EVEN or not model.arithmetic.format.is_fixed_point:
        raise Undecided("the number format", "only R_p with rounding to nearest even is covered")
    report = Report(model.registers)
    words = {word: [(i, str(w)) for i, w in row] for word, row in model.specials.items()}
    numbers = [str(family.texts) for family in model.families.values()]
    report.trace.append(("the vocabulary", f"{words} {' '.join(numbers)} {model.position}"))
    require_weights(model, automaton)
    states = embedded(model, automaton)
    report.met += states
    for number in range(2 * len(model.layers)):
        report.stands_at(states)
        states = behind_sublayer(model, automaton, number, states, report)
    report.stands_at(states)
    require_output(model, states)
    return report


def require_weights(model: ExactModel, automaton: TokenAutomaton) -> None:
    """Raises Refuted with the first weight that is no element of the format: of a word that no text has, too.

    Raises Undecided if a weight that depends on n or v may be none.
    """
    space = Space(model.arithmetic.format)
    sizes = Bounded(space, {}, {SIZE: Integer(*automaton.sizes)})
    for where, weight in model.weights():
        form = as_polynomial(weight)
        if max(map(abs, sizes.bounds(form))) > space.largest or not sizes.on_grid(form):
            what = f"weight {weight} is not an element of {space.format.name}"
            raise (Refuted if form.is_constant else Undecided)(where, what)
    for family in model.families.values():
        every = AbstractState(space, {}, {**sizes.box, NUMBER: Integer(family.low, family.high)})
        for form in family.rows.values():
            if not space.covers(*every.reach(form)) or not every.on_grid(form):
                what = f"{form}, v = {family.low} … {family.high}, is not always an element of {space.format.name}"
                ends = (form.substitute({NUMBER: constant(v)}) for v in (family.low, family.high))
                is_shown = any(end.is_constant and not _is_element(end.constant, space) for end in ends)
                raise (Refuted if is_shown else Undecided)("the embedding of numbers", what)


def _is_element(value: Fraction, space: Space) -> bool:
    """Returns whether the format has this number. One that grows with n is not seen to be none."""
    return grows(value) or grows(space.steps) or (abs(value) <= space.largest and is_whole(value * space.steps))


def require_output(model: ExactModel, states: Sequence[AbstractState]) -> None:
    """Raises Refused or Undecided unless the same tokens come out in both readings."""
    for state in states:
        require_same_argmax(state, model, model.arithmetic.discipline is Discipline.FUSED)


def embedded(model: ExactModel, automaton: TokenAutomaton) -> list[AbstractState]:
    """Returns the abstract states after the embedding, one for each state of the automaton."""
    space = Space(model.arithmetic.format)
    abstract_states = []
    for index, state in enumerate(automaton.states):
        box: dict[str, Domain] = {
            SIZE: Integer(*automaton.sizes),
            POSITION: automaton.positions(state),
        }
        limits = [(atom(POSITION), state.low, state.high)]
        if state.word:
            values = {i: as_polynomial(w) for i, w in model.specials[state.word]}
        else:
            values = dict(model.families[state.family].rows)
            box[NUMBER] = Integer(automaton.range(state.numbers[0])[0], automaton.range(state.numbers[1])[1])
            limits.append((atom(NUMBER), *state.numbers))
        for content in state.contents:
            place, name = model.registers.index(content.register), f"{CONTENT} {content.register}"
            limits.append((atom(name), content.low, content.high))
            first, last = automaton.range(content.low)[0], automaton.range(content.high)[1]
            box[name] = Integer(first, last, content.every).within(first, last)
            if content.is_reciprocal:
                box[name := f"1/{name}"] = Reciprocal(f"{CONTENT} {content.register}", 0)
            values[place] = values.get(place, constant(0)) + atom(name)
        abstract = AbstractState(space, values, box, {}, state.label, frozenset([index]), frozenset(state.after))
        for i, value in abstract.registers.items():
            if not abstract.on_grid(value):
                raise Undecided("the embedding", f"{value} is no multiple of the step at {state.label}")
            abstract, rounded = abstract.round(value, "the embedding")
            abstract = abstract.with_registers({i: rounded})
        narrowed: AbstractState | None = abstract
        for value, low, high in limits:
            for bound, least, most in ((low, Fraction(0), None), (high, None, Fraction(0))):
                if narrowed is not None and isinstance(bound, Polynomial) and bound.is_affine:
                    narrowed = narrowed.restricted(value - bound, least, most)
        if narrowed is not None and state.behind is not None:
            narrowed = narrowed.restricted(atom(POSITION) - atom(NUMBER), Fraction(state.behind), None)
        if narrowed is None:
            raise ValueError(f"no token can stand at {state.label}")
        abstract_states += _place(narrowed.simplified(), model.position)
    return linked(abstract_states)


def _place(state: AbstractState, slopes: Row) -> list[AbstractState]:
    """Adds the position. Positions larger than any number are states of their own, of the largest number."""
    done = [state]
    for i, slope in slopes:
        offset = atom(POSITION) * as_polynomial(slope)
        largest = state.space.largest * (1 if offset.terms[POSITION,] > 0 else -1)
        last = math.floor(quotient(largest, offset.terms[POSITION,]))
        parts, done = done, []
        for part in parts:
            if (exact := part.restricted(atom(POSITION), None, last)) is not None:
                exact, value = exact.round(offset, "the embedding")
                done.append(added(exact, i, value, "the embedding"))
            if (beyond := part.restricted(atom(POSITION), last + 1, None)) is not None:
                if part.register(i).terms:  # the word and the position are one sum, under `fused` rounded once
                    raise Undecided(
                        "the embedding", f"a position of {state.label} beyond {largest} is added to a word's number"
                    )
                error = max(map(abs, beyond.bounds(offset - largest)))
                name = state.space.fresh("z")
                box = {**beyond.box, name: Rounded(offset, offset, largest, largest, error)}
                done.append(added(with_fields(beyond, box=box), i, atom(name), "the embedding"))
    return done


def behind_sublayer(
    model: ExactModel, automaton: TokenAutomaton, number: int, states: Sequence[AbstractState], report: Report
) -> list[AbstractState]:
    """Returns the states after a sublayer: two to a block, the heads or the recurrence first."""
    behind = _fed_forward if number % 2 else _mix
    return behind(model, automaton, number // 2, states, report)


def _mix(
    model: ExactModel, automaton: TokenAutomaton, number: int, states: Sequence[AbstractState], report: Report
) -> list[AbstractState]:
    """Returns the states after a block's heads or recurrence. In the last block only the states of answers matter."""
    layer, fused = model.layers[number], model.arithmetic.discipline is Discipline.FUSED
    answers = automaton.answers if number == len(model.layers) - 1 else None
    at = name_place(number + 1)
    index = {name: i for i, name in enumerate(model.registers)}
    counted_groups = tuple(
        (item, index[item.group], index[item.count])
        for item in automaton.invariants
        if isinstance(item, Consecutive) and item.group in index and item.count in index
    )
    apart = [
        (item, index[item.group]) for item in automaton.invariants if isinstance(item, Apart) and item.group in index
    ]
    states = [
        with_fields(_limit(state, counted_groups, report), parents=frozenset([i])) for i, state in enumerate(states)
    ]
    parts = [state for state in states if answers is None or state.label in answers]
    if layer.recurrence is not None:
        report.trace.append((name_place(number + 1, RECURRENCE), str(layer.recurrence)))
        recurrence_transfer = RecurrenceTransfer(
            states, layer.recurrence, at, model.registers, fused, automaton.invariants
        )
        report.invariants |= {item.name: item.statement for item in recurrence_transfer.used}
        every = [
            part for number in range(len(states)) for part in recurrence_transfer.parts(number)
        ]  # a sum may saturate anywhere
        parts = [part for part in every if answers is None or part.label in answers]
        report.met += parts
        parts = join(parts, model.live(number, feed_forward=True))
    if layer.heads:
        keys = Keys(states)
        width = 0
        for h, head in enumerate(layer.heads):
            where = model.head(number, h)
            one_winner = (item for item in automaton.invariants if isinstance(item, OneWinner))
            alone = next((item for item in one_winner if item.head == model.heads[number][h]), None)
            head_transfer = HeadTransfer(keys, head, where, fused, counted_groups, apart, alone)
            next_parts: list[AbstractState] = []
            for state in parts:
                pieces, margin = head_transfer.read(state, -1 - width)
                report.met_margins += [((number, h), margin)] if margin is not None else []
                report.trace += [*((where, text) for text in head_transfer.trace), *((where, one) for one in pieces)]
                head_transfer.trace.clear()
                report.invariants |= {item.name: item.statement for item in head_transfer.used}
                next_parts += pieces
            parts = next_parts
            width += len(head.value)
        report.trace.append((name_place(number + 1, ATTENTION), str(layer.out)))
        parts = [_write(state, layer.out, name_place(number + 1, ATTENTION), model, fused) for state in parts]
        report.met += parts
        parts = join(parts, model.live(number, feed_forward=True))
    report.trace.append((at, f"read behind: {sorted(model.live(number, feed_forward=True))}"))
    return parts


def _fed_forward(
    model: ExactModel, automaton: TokenAutomaton, number: int, states: Sequence[AbstractState], report: Report
) -> list[AbstractState]:
    """Returns the states after a block's feed-forward."""
    layer, fused = model.layers[number], model.arithmetic.discipline is Discipline.FUSED
    at, where, done = name_place(number + 1), name_place(number + 1, FEED_FORWARD), list[AbstractState]()
    loose = frozenset(i for i, name in enumerate(model.registers) if name in automaton.loose)
    rest, forgotten = layer.feed_forward.without(loose)
    for state in states:
        state, all_parts = loosened(state, layer.feed_forward, loose, where, model.registers, fused)
        report.trace += [(where, part) for part in all_parts]
        done += feed_forward(state, rest, where, model.registers, fused, forgotten)
        if len(done) > MOST_STATES:
            raise Undecided(at, f"more than {MOST_STATES} kinds of positions")
    live = model.live(number, feed_forward=True)
    report.met += done
    report.behind += [(number, state, live) for state in done]
    # Before registers that are not read any more are dropped: which inputs belong to the part is known by them.
    report.trace += [(where, state) for state in done]
    report.trace.append((at, f"read behind: {sorted(live)}"))
    return join_and_link(done, model.live(number))


def _text(state: AbstractState) -> str:
    """Returns all that is known of a state, ideally."""
    registers = {i: str(state.ideal(p)) for i, p in sorted(state.registers.items())}
    box = [(name, str(domain)) for name, domain in sorted(state.box.items()) if not isinstance(domain, Rounded)]
    return (
        f"{state.label} {registers} {box} {sorted(state.forms.items())} {sorted(state.parents)} {sorted(state.before)}"
    )


def _limit(
    state: AbstractState, counted_groups: Sequence[tuple[Consecutive, int, int]], report: Report
) -> AbstractState:
    """Returns the state with what the invariants say of one position: a member of a group has a count from 1/2 to 1/(most + 1)."""
    for item, group, count in counted_groups:
        names = state.register(count).atoms
        domain = state.box[next(iter(names))] if len(names) == 1 else None
        if isinstance(domain, Reciprocal) and state.bounds(state.register(group))[0] >= 1:
            place = atom(domain.of) + constant(domain.shift)
            limited = state.restricted(place, Fraction(2), None)
            most = as_polynomial(item.most)
            limited = limited and limited.restricted(limited.fixed(place - most), None, Fraction(1))
            report.invariants[item.name] = item.statement
            if limited is None:
                raise Undecided("the input", f"no {state.label} keeps the invariant {item.name!r}")
            state = limited
    return state


def _write(state: AbstractState, out: Written, at: str, model: ExactModel, fused: bool) -> AbstractState:
    for register, row in out:
        where = f"{at}, register {model.registers[register]}"
        state, change = dot(state, [(w, state.register(-1 - j)) for j, w in row], 0, where, fused)
        state = added(state, register, change, where)
    return with_fields(state, registers={i: p for i, p in state.registers.items() if i >= 0})

"""What is known of a term at some states of all inputs: its bounds, whether it is an integer, and where it may read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial

from constructions.language.terms import (
    FIRST,
    POSITION,
    Above,
    At,
    Atom,
    Back,
    Best,
    Closest,
    Comb,
    Count,
    Digits,
    Equal,
    IsNumber,
    IsWord,
    Monomial,
    Named,
    Next,
    NumberOf,
    Pick,
    Position,
    Positive,
    Read,
    Reciprocal,
    Selection,
    Sum,
    Term,
    as_term,
    fraction,
)
from verify.algebra.domains import Integer, Undecided
from verify.algebra.polynomial import is_whole
from verify.algebra.symbolic import at_most, grows, one_number, told_apart
from verify.automata.token_automaton import TokenAutomaton
from verify.programs import reachability
from verify.programs.cases import by_token, lines, on_line, share, with_known_values
from verify.programs.forms import alone, at_first
from verify.programs.matches import always_matches, matches_before, matching_states, most_matches, picked_states
from verify.programs.tables import extent, is_table, is_told, of_one
from verify.programs.texts import ending

Interval = tuple[Fraction, Fraction]
MOST_STEPS = 64  # that are followed one by one
Standing = tuple[dict[int, Atom], tuple[int, int]]  # tokens so many steps back, and bounds of k


@dataclass(frozen=True)
class Group:
    """What an invariant says, by name: positions of one `key`, 1 or more, have 1/2, 1/3, … in `count`, each once, at most so many.

    An assumption: that it holds in every run is a claim of its own.
    """

    name: str
    key: Term
    count: Term
    most: int


@dataclass(frozen=True)
class Facts:
    """The position k is at one of these states of the automaton.

    given: bounds of some atoms at k, not at positions that it reads. known: bounds that were found so far. stood: what factors
    say of tokens and of k, whatever is given. around: what is known of every position, if there is that already. parts: what was
    asked for by `facts_at`. groups: what is assumed.
    """

    automaton: TokenAutomaton
    states: frozenset[int]
    given: Mapping[Atom, Interval] = field(default_factory=dict)
    known: dict[Atom, Interval] = field(default_factory=dict, compare=False)
    stood: dict[tuple[Atom, ...], Standing | None] = field(default_factory=dict, compare=False)
    around: Facts | None = field(default=None, compare=False)
    parts: dict[frozenset[int], Facts] = field(default_factory=dict, compare=False)
    groups: tuple[Group, ...] = ()

    @staticmethod
    def everywhere(automaton: TokenAutomaton) -> Facts:
        """Returns the facts of every position. Raises Undecided unless position 1 is one certain word."""
        first, *others = automaton.states
        if not first.word or any(automaton.positions(state).low == 1 for state in others):
            raise Undecided("the input", "it does not begin with one certain word")
        return Facts(automaton, frozenset(range(len(automaton.states))))

    def facts_at(self, states: frozenset[int]) -> Facts:
        """Returns the facts of positions at these states."""
        parts = self.globally.parts
        if states not in parts:
            parts[states] = Facts(self.automaton, states, around=self.globally, groups=self.groups)
        return parts[states]

    def ending(self, state: int) -> Facts:
        """Returns the facts of a text's last position, at this state."""
        automaton, number = ending(self.automaton, state)
        return Facts(automaton, frozenset([number]), groups=self.groups)

    @cached_property
    def each(self) -> dict[int, Facts]:
        """Returns the facts of positions at each state of these, or of the automaton."""
        return {i: self.facts_at(frozenset([i])) for i in range(len(self.automaton.states))}

    @cached_property
    def ranges(self) -> list[Integer]:
        """The positions of each state."""
        return [self.automaton.positions(state) for state in self.automaton.states]

    def knowing(self, a: Atom, low: Fraction, high: Fraction) -> Facts:
        """Returns where an atom lies between these two as well."""
        least, most = self.given.get(a, (low, high))
        given = {**self.given, a: (max(low, least), min(high, most))}
        return replace(self, given=given, known={}, around=self.globally)

    @property
    def is_nowhere(self) -> bool:
        """Returns whether what is given of an atom is seen to be none of what it can be, by what is given of others; or so steps
        back.
        """
        ends = (self._atom(a) for a in self.given)
        if any(low > high for low, high in ends if type(low) is type(high) is Fraction):
            return True
        steps = dict.fromkeys(a.where for a in self.given if isinstance(a, Read) and isinstance(a.where, Back))
        return any(self.facts_of_read(where).is_nowhere for where in steps)

    def where(self, case: Mapping[Atom, Interval]) -> Facts:
        """Returns where these atoms lie between these bounds."""
        return replace(self, given={**self.given, **case}, known={}, around=self.globally)

    @cached_property
    def globally(self) -> Facts:
        """Returns the facts of every position."""
        if self.around is not None:
            return self.around
        whole = frozenset(range(len(self.automaton.states)))
        return self if self.states == whole and not self.given else Facts(self.automaton, whole, groups=self.groups)

    @cached_property
    def copies(self) -> frozenset[str]:
        """The families of numbers that stand at several states of a text, as it is known."""
        return frozenset(state.family for state in self.automaton.states if state.same)

    @property
    def start(self) -> str:
        """The word at position 1."""
        return self.automaton.states[0].word

    @cached_property
    def starts_once(self) -> bool:
        """Returns whether that word stands nowhere else."""
        first, *others = self.automaton.states
        return self.automaton.positions(first).high == 1 and all(state.word != first.word for state in others)

    @cached_property
    def positions(self) -> tuple[int, int]:
        """The least and the largest k."""
        ranges = [self.globally.ranges[i] for i in self.states]
        return min(r.low for r in ranges), max(r.high for r in ranges)

    @cached_property
    def here(self) -> tuple[int, int]:
        """Returns `positions`, narrowed by what is given of k; where these are numbers of n, no more is known."""
        (first, last), ends = self.positions, self.given.get(POSITION)
        if ends is None or not all(type(end) in (int, Fraction) for end in (first, last, *ends)):
            return first, last
        low, high = max(first, math.ceil(ends[0])), min(last, math.floor(ends[1]))
        return (low, high) if low <= high else (first, last)  # else nothing is like this

    def number(self, family: str) -> tuple[int, int]:
        """Returns bounds of the token's number."""
        ends = [
            (self.automaton.range(p.numbers[0])[0], self.automaton.range(p.numbers[1])[1])
            if not p.word and p.family == family
            else (0, 0)
            for p in map(self.automaton.states.__getitem__, self.states)
        ]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def tells_of(self, steps: int) -> bool:
        """Returns whether a fact about the token so many steps before is given."""
        return told_apart(steps) in self.told

    @cached_property
    def told(self) -> dict[int, frozenset[int]]:
        """Returns, by how many steps a token is back, the states at which it may stand, for tokens with given facts."""
        given: dict[int, list[tuple[Atom, Interval]]] = {}
        for a, ends in self.given.items():
            steps, value = of_one(a)
            if steps < self.positions[0] and (there := alone(value)) is not None and is_told(there):
                given.setdefault(told_apart(steps), []).append((there, ends))
        return {
            steps: frozenset(i for i, there in self.each.items() if all(_meet(there._atom(a), e) for a, e in items))
            for steps, items in given.items()
        }

    def states_back(self, steps: int) -> frozenset[int]:
        """Returns where the token so many steps before may stand, by what is given of others; none if these cannot stand
        together.
        """
        key, found = (self.states, frozenset(self.told.items()), told_apart(steps)), self.globally.found_back
        if key not in found:
            tokens = {steps: states.__contains__ for steps, states in self.told.items()}
            ranges = self.globally.ranges
            found[key] = reachability.standing(self.automaton, ranges, self.states, tokens, self.positions, steps)
        return found[key]

    @cached_property
    def found_back(self) -> dict[object, frozenset[int]]:
        """Returns what `states_back` has found, of all parts: by the states, by where tokens stand, and by the steps."""
        return {}

    @cached_property
    def found_bounds(self) -> dict[Term, Interval]:
        """Returns what `bounds` has found."""
        return {}

    def bounds(self, value: Term) -> Interval:
        """Returns two numbers that it lies between."""
        if value not in self.found_bounds:
            self.found_bounds[value] = self._bounds(value)
        return self.found_bounds[value]

    def _bounds(self, value: Term) -> Interval:
        low, high = self._plain(value)
        slope = next((c for monomial, c in value.items if monomial == (POSITION,)), Fraction(0))
        for other, nearest, farthest in self._before_k(value) if slope else ():
            rest = self._plain(value + (other - as_term(POSITION)) * slope)
            ends = sorted((slope * nearest, slope * farthest))
            low, high = max(low, rest[0] + ends[0]), min(high, rest[1] + ends[1])
        for cases in by_token(value, self) if low < high else ():
            lows, highs = zip(*(self.where(case)._plain(value) for case in cases), strict=True)
            low, high = max(low, min(lows)), min(high, max(highs))
        for a, (least, most) in self.given.items():
            if isinstance(a, Above) and least == most and (scale := share(value, a.of)):
                rest = self._plain(value - a.of * scale)
                end = scale * (int(self.is_integer(a.of)) if least else 0)
                if (scale > 0) == bool(least):
                    low = max(low, rest[0] + end)
                else:
                    high = min(high, rest[1] + end)
        return low, high

    def _before_k(self, value: Term) -> Iterator[tuple[Term, int, int]]:
        """Yields terms t with bounds low and high: k lies between t + low and t + high."""
        state = self.automaton.states[min(self.states)]
        if len(self.states) == 1 and state.behind is not None:
            number = self.number(state.family)[0]
            yield (
                as_term(NumberOf(state.family)) + state.behind,
                0,
                self.positions[1] - number - state.behind,
            )
        for a in value.atoms:
            if isinstance(a, Read) and isinstance(a.where, Pick) and a.value == as_term(POSITION):
                yield as_term(a), int(matches_before(self, a.where)), self.positions[1] - 1
            if isinstance(a, Count):
                yield as_term(a), 1, self.positions[1]

    def _plain(self, value: Term) -> Interval:
        value = with_known_values(value, self)
        if len(value.atoms) == 1 and max(len(monomial) for monomial, _ in value.items) == 2:
            return self._parabola(value)
        low = high = Fraction(0)
        on_lines = set[Monomial]()
        for x, slope, more in lines(value):
            if self._is_integer(x):
                ends = on_line(self._atom(x), slope, more)
                low, high = low + ends[0], high + ends[1]
                on_lines |= {(x,), *((a,) for a, _ in more)}
        for monomial, c in value.items:
            if monomial in on_lines:
                continue
            ends = c, c
            for a in monomial:
                ends = _product(ends, self._atom(a))
            if len(monomial) > 1 and len(set(monomial)) == 1 and len(monomial) % 2 == 0:  # a square
                ends = (max(ends[0], Fraction(0)), ends[1]) if c > 0 else (ends[0], min(ends[1], Fraction(0)))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def _parabola(self, value: Term) -> Interval:
        """Returns bounds of a + b·x + c·x², from its values at the ends of x and at its vertex."""
        (x,) = value.atoms
        parts = {len(monomial): c for monomial, c in value.items}
        a, b, c = (parts.get(power, Fraction(0)) for power in range(3))
        low, high = self._atom(x)
        points = (low, high, min(max(-b / (2 * c), low), high))
        values = [a + b * point + c * point * point for point in points]
        return min(values), max(values)

    def _atom(self, a: Atom) -> Interval:
        if a not in self.known:
            low, high = self._fresh(a)
            least, most = self.given.get(a, (low, high))
            self.known[a] = (max(low, least), min(high, most)) if a in self.given else (low, high)
        return self.known[a]

    def _fresh(self, a: Atom) -> Interval:
        match a:
            case Position():
                return fraction(self.positions[0]), fraction(self.positions[1])
            case NumberOf(family):
                low, high = self.number(family)
                return fraction(low), fraction(high)
            case IsWord(word):
                is_word = [self.automaton.states[i].word == word for i in self.states]
                return Fraction(min(is_word)), Fraction(max(is_word))
            case IsNumber(family):
                states = map(self.automaton.states.__getitem__, self.states)
                is_one = [not state.word and state.family == family for state in states]
                return Fraction(min(is_one)), Fraction(max(is_one))
            case Equal(of, value):
                low_end, high_end = self.bounds(of)
                return Fraction(int(low_end == high_end == value)), Fraction(int(low_end <= value <= high_end))
            case Above(of):
                low_end, high_end = self.bounds(of)
                return Fraction(int(low_end > 0)), Fraction(int(high_end > 0))
            case Count(matching):
                most_of_k = most_matches(self, matching)
                if self.here != self.positions:
                    most_of_k = min(most_of_k, self.here[1] - 1)
                return Fraction(int(always_matches(self, matching))), fraction(most_of_k)
            case Positive(of):
                low_end, high_end = self.bounds(of)
                return max(low_end, Fraction(0)), max(high_end, Fraction(0))
            case Reciprocal(of):
                low_end, high_end = self.bounds(of)
                if type(high_end) is Fraction:  # where nothing is like this, it may lie below 1
                    high_end = max(high_end, Fraction(1))
                return 1 / high_end, 1 / max(low_end, Fraction(1))
            case Named(_, of) if is_table(of) and len(self.states) > 1:
                ends = [self.globally.each[i].bounds(of) for i in self.states]
                return min(low for low, _ in ends), max(high for _, high in ends)
            case Named(_, of):
                return self.bounds(of)
            case Digits(of, base, count):
                low_end, high_end = extent(of, self.automaton) or self.globally.bounds(of)
                digits = fraction((base**count - 1) // (base - 1))
                return min(low_end * digits, Fraction(0)), max(high_end * digits, Fraction(0))
            case Sum(of):
                low_end, high_end = self.globally.bounds(of)
                most = self.here[1]
                low_end, high_end = min(low_end, low_end * most), max(high_end, high_end * most)
                least, largest = self._sum_behind_first(of) or (low_end, high_end)
                return max(low_end, least), min(high_end, largest)
            case Comb(of, _, sign):
                low_end, high_end = self.globally.bounds(of)
                # Two that follow each other add at most high − low; what stands at position 1 alone is added once.
                most = 1 if of == as_term(FIRST) else self.here[1]
                if sign < 0:
                    apart = (high_end - low_end) * most
                    return min(low_end, Fraction(0)) - apart, max(high_end, Fraction(0)) + apart
                return min(low_end * most, Fraction(0)), max(high_end * most, Fraction(0))
            case Read(_, Back(steps)) if self.here[1] <= steps:
                return Fraction(0), Fraction(0)
            case Read(value, Back(steps)) if self.here[0] == self.here[1] == steps + 1:
                return (at_first(value, self.start),) * 2
            case Read(value, (Pick(matching) | Next(matching) | Closest(matching)) as where):
                picked = picked_states(self, where) if isinstance(where, Pick) else matching_states(self, matching)
                ends = [self.globally.each[i].bounds(value) for i in picked]
                if not always_matches(self, matching) or not ends:
                    ends.append((at_first(value, self.start),) * 2)
                return min(low for low, _ in ends), max(high for _, high in ends)
            case Read(value, where):
                low_end, high_end = self.facts_of_read(where).bounds(value)
                if isinstance(where, Back) and self.here[0] <= where.steps and not self._is_behind(where):
                    return min(low_end, Fraction(0)), max(high_end, Fraction(0))
                return low_end, high_end
        raise TypeError(f"no atom: {a}")

    def _sum_behind_first(self, of: Term) -> Interval | None:
        """Returns bounds of the sum over 1 … k, k > 1, from bounds at position 1, at k, and at the k − 2 positions between.

        None where k may be 1, or for numbers of n.
        """
        first, last = self.here
        others, once = self.globally.states - {0}, self.ranges[0].high
        if not others or not type(first) is type(last) is type(once) is int or not first > once == 1:
            return None
        between, own, start = self.facts_at(others).bounds(of), self.bounds(of), at_first(of, self.start)
        if not all(type(end) is Fraction for end in (*between, *own, start)):
            return None
        low = min(between[0] * (k - 2) for k in (first, last))
        high = max(between[1] * (k - 2) for k in (first, last))
        return start + own[0] + low, start + own[1] + high

    def facts_of_read(self, where: Selection) -> Facts:
        """Returns the facts of the positions that a read with this selection may reach from here."""
        match where:
            case Back(steps) if type(steps) is int:
                if steps not in self.facts_back:
                    self.facts_back[steps] = self._look_back(where)
                return self.facts_back[steps]
            case Back():
                return self._look_back(where)
            case At(target):
                low, high = self.bounds(target)
                least = self.bounds(as_term(POSITION) - target)[0]
                return self._earlier(max(math.ceil(least), 0), (math.ceil(low), math.floor(high)))
        return self.globally

    @cached_property
    def facts_back(self) -> dict[int, Facts]:
        """Returns what `facts_of_read` has found, by how many steps back it is: what is read there shares its bounds."""
        return {}

    def _look_back(self, where: Back) -> Facts:
        steps = where.steps
        earlier = self._earlier(steps, (1, self.positions[1] - steps), exactly=True)
        states = earlier.states & self.states_back(steps) if self.told else None
        there = self.facts_at(states) if states else earlier
        given = self._given_back(where)
        return there.where(given) if given and (self.here[0] > steps or self._is_behind(where)) else there

    def _given_back(self, where: Back) -> dict[Atom, Interval]:
        """Returns the given facts of atoms at the position so many steps before k, if it exists."""
        reads = [(a, ends) for a, ends in self.given.items() if isinstance(a, Read) and a.where == where]
        given = {there: ends for a, ends in reads if (there := alone(a.value)) is not None}
        if not given or type(where.steps) is not int:
            return given
        if self.here != self.positions:
            low, high = (end - where.steps for end in self.here)
            given[POSITION] = fraction(max(low, 1)), fraction(high)
        for a, ends in self.given.items():
            if isinstance(a, Equal) and a.of == as_term(POSITION) and type(a.value) is Fraction:
                given[Equal(a.of, a.value - where.steps)] = ends
        return given

    def _is_behind(self, where: Back) -> bool:
        """Returns whether k is shown to lie that far into the text: a given fact reads a value other than 0 there."""
        return any(
            isinstance(a, Read)
            and a.where == where
            and all(type(end) in (int, Fraction) for end in ends)
            and not ends[0] <= 0 <= ends[1]
            for a, ends in self.given.items()
        )

    def _earlier(self, least: int, positions: tuple[int, int], *, exactly: bool = False) -> Facts:
        """Returns the facts of positions at least so many steps before this one, between two bounds; of all if none seem to be."""
        some = grows(least) and not at_most(MOST_STEPS, least)
        states = reachability.earlier(
            self.automaton, self.states, least if some else one_number(min(least, MOST_STEPS))
        )
        if not exactly or some or least > MOST_STEPS:
            states = reachability.backward(self.automaton, states, frozenset())
        ranges = {i: self.globally.ranges[i] for i in states}
        states_within = frozenset(i for i, r in ranges.items() if r.low <= positions[1] and positions[0] <= r.high)
        return self.facts_at(states_within) if states_within else self.globally

    def standing(self, back: Mapping[int, Atom], positions: tuple[int, int], *, before: int = 0) -> frozenset[int]:
        """Returns the states so many steps `before` k, given bounds of k and tokens so many steps back; none if that cannot be.

        back: words, or numbers of families, that stand there all together.
        """
        tokens = {steps: partial(self._stands, token) for steps, token in back.items()}
        return reachability.standing(self.automaton, self.globally.ranges, self.states, tokens, positions, before)

    def _stands(self, token: Atom, state: int) -> bool:
        return reachability.stands(self.automaton.states[state], token)

    def written_first(self, a: Atom) -> Atom:
        """Returns a token's number as it stands where all texts have it first; any other atom as it is."""
        number, where = (a.value, a.where) if isinstance(a, Read) else (as_term(a), None)
        steps = where.steps if isinstance(where, Back) else 0
        family = next((f for f in self.copies if number == as_term(NumberOf(f))), None)
        if family is None or (where and not steps):
            return a
        states = self.automaton.states
        while True:
            there = self.facts_of_read(Back(steps)) if steps else self
            more, *others = {states[i].same * (states[i].family == family) for i in there.states}
            if others or not more:
                break
            steps += more
        return Read(number, Back(steps)) if steps else a

    def is_integer(self, value: Term) -> bool:
        """Returns whether it is an integer at every position."""
        return all(is_whole(c) and all(map(self._is_integer, monomial)) for monomial, c in value.items)

    def _is_integer(self, a: Atom) -> bool:
        match a:
            case Reciprocal():
                return False
            case Positive(of) | Sum(of) | Comb(of) | Digits(of) | Named(_, of):
                return self.is_integer(of)
            case Read(value, where):
                return self.is_integer(value) and not isinstance(where, Best)
        return True

    def is_bit(self, a: Atom) -> bool:
        """Returns whether it is 0 or 1 everywhere."""
        match a:
            case Equal() | Above() | IsWord() | IsNumber():
                return True
            case NumberOf():  # of texts without larger numbers
                return all(0 <= end <= 1 for end in self.globally._atom(a))
            case Comb(of):
                return self.is_integer(of) and all(0 <= end <= 1 for end in self.globally._atom(a))
            case Named(_, of) if is_table(of):
                return self.is_integer(of) and all(0 <= end <= 1 for end in self.globally.bounds(as_term(a)))
            case Named(_, of):  # b, or 1 − b
                ((monomial, c), *others) = (of if len(of.items) == 1 else of * -1 + 1).items
                return not others and c == 1 and all(map(self.is_bit, monomial))
            case Read(value, where) if not isinstance(where, Best) and len(value.items) == 1:
                ((monomial, c),) = value.items
                return c == 1 and all(map(self.is_bit, monomial))
        return False


def _meet(one: Interval, other: Interval) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _product(one: Interval, other: Interval) -> Interval:
    """Returns the bounds of the products of two intervals."""
    if (
        one[0] is one[1] and type(one[0]) is type(other[0]) is type(other[1]) is Fraction
    ):  # a coefficient: two products, not four
        low, high = one[0] * other[0], one[0] * other[1]
        return (low, high) if one[0].numerator >= 0 else (high, low)
    products = [x * y for x in one for y in other]
    return min(products), max(products)

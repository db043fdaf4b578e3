"""Proves that rounding is sound where the position alone says where each head looks: all positions at once, in arrays.

Texts have any of some words at each position, whatever stands elsewhere. For each register and each position this keeps bounds, in
steps of the format, and one power of two that divides all its values. So much is the same in the rounded and in the ideal machine,
but for registers that are one known number in each.

Rules. An operator whose exact result is a whole number of steps, within the range, rounds nothing. One that rounds may do so to
known numbers alone: then both results are known. A unit whose gate is at most 0 in both machines holds 0 in both. The scores of a
head must be a quadratic polynomial of the key's position, but for position 1, with known coefficients, so that the largest one
stands beside the vertex; it must lead by what the softmax needs, in both machines, at the same key. Or the vertex is a whole number
between bounds: then the nearest key wins, and what is read may be what any key before has. Units whose gates differ in
their biases alone are one function of one number, with bends, and its bounds are those at its bends and ends.
What no rule covers is Undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from constructions.places import FEED_FORWARD, name_part, name_place
from constructions.rows import HeadRows, Layer, Row, Sublayer, UnitRows
from precision.format import Discipline, Format
from verify.algebra.domains import Refused, Undecided
from verify.algebra.polynomial import constant
from verify.automata.token_automaton import Free, TokenAutomaton
from verify.rounding.candidates import HeadMargin, needed_margin
from verify.rounding.checker import Report, require_weights
from verify.rounding.model import NUMBER, ExactModel
from verify.rounding.rows import as_polynomial

Array = Any
NOTHING = 1 << 30  # the power of two that divides 0


@dataclass(frozen=True, eq=False)
class Ranges:
    """What a number may be at each position: low … high, in units of 2^−scale steps, and a multiple of 2^grid steps.

    ideal: what it is in the ideal machine, in steps, if that is another number; then both are known.
    """

    low: Array
    high: Array
    scale: int = 0
    grid: int = NOTHING
    ideal: Array | None = None

    @property
    def is_known(self) -> bool:
        """True if it is one number at each position."""
        return self.low is self.high or bool((self.low == self.high).all())

    @property
    def is_zero(self) -> bool:
        """True if it is seen to be 0 everywhere, in both machines."""
        return self.grid == NOTHING and self.ideal is None

    @property
    def content(self) -> object:
        """Returns what equal columns have in common."""
        numbers = (self.low, self.low if self.low is self.high else self.high, self.ideal)
        return (*(None if array is None else tuple(array.tolist()) for array in numbers), self.scale, self.grid)

    @property
    def exactly(self) -> Array:
        """Returns what it is in the ideal machine, in steps; of a known number."""
        if self.ideal is not None:
            return self.ideal
        return np.array([Fraction(x, 1 << self.scale) for x in self.low.tolist()], object)

    def gather(self, places: Array) -> Ranges:
        """Returns the column in which each position has the entry of the position `places` there."""
        ideal = None if self.ideal is None else self.ideal[places]
        low = self.low[places]
        return replace(self, low=low, high=low if self.low is self.high else self.high[places], ideal=ideal)

    def where(self, chosen: Array) -> Ranges:
        """Returns the column with 0 at the positions that are not chosen."""
        low = np.where(chosen, self.low, 0)
        high = low if self.low is self.high else np.where(chosen, self.high, 0)
        return replace(self, low=low, high=high, ideal=None if self.ideal is None else np.where(chosen, self.ideal, 0))


def known(values: Array) -> Ranges:
    """Returns the column of known whole numbers of steps."""
    return Ranges(values, values, 0, _grid_of(values))


def _grid_of(values: Array) -> int:
    together = 0
    for value in values.tolist():
        together |= abs(value)
    return (together & -together).bit_length() - 1 if together else NOTHING


def _twos(weight: Fraction) -> tuple[int, int]:
    """Returns s and g: the weight is a multiple of 2^g, and 2^s of it is whole."""
    top, bottom = abs(weight.numerator), weight.denominator
    if bottom & (bottom - 1):
        raise Undecided("the weights", f"{weight} is no binary fraction")
    return bottom.bit_length() - 1, (top & -top).bit_length() - bottom.bit_length()


def times(column: Ranges, weight: Any) -> Ranges:
    """Returns the column times a number, exactly."""
    if weight == 1:
        return column
    number = Fraction(weight)
    shift, grid = _twos(number)
    factor = int(number * (1 << shift))
    ends = column.low * factor, column.high * factor
    low, high = ends if factor > 0 else ends[::-1]
    if column.low is column.high:
        high = low
    ideal = None if column.ideal is None else column.ideal * number
    return Ranges(low, high, column.scale + shift, min(NOTHING, column.grid + grid), ideal)


def total(columns: Sequence[Ranges], count: int, where: str) -> Ranges:
    """Returns the sum, exactly. count: how many positions there are."""
    if not columns:
        nothing = np.zeros(count, object)
        return Ranges(nothing, nothing)
    if len(columns) == 1:
        return columns[0]
    scale = max(column.scale for column in columns)
    low = _sum([(column.low, scale - column.scale) for column in columns])
    same = all(column.low is column.high for column in columns)
    high = low if same else _sum([(column.high, scale - column.scale) for column in columns])
    ideal = None
    if any(column.ideal is not None for column in columns):
        if not all(column.is_known for column in columns):
            raise Undecided(where, "a number that rounding changes is added to one that is not known")
        ideal = sum((column.exactly for column in columns), start=np.zeros(count, object))
    return Ranges(low, high, scale, min(column.grid for column in columns), ideal)


def _sum(terms: Sequence[tuple[Array, int]]) -> Array:
    """Returns the sum of numbers, each times a power of two."""
    result = None
    for numbers, shift in terms:
        term = numbers << shift if shift else numbers
        result = term if result is None else result + term
    return result


def product(a: Ranges, b: Ranges, where: str) -> Ranges:
    """Returns the product of two columns in steps, exactly; a step is 2^−q, so the result is in units of 2^−q steps more."""
    of_a, of_b = ([column.low] if column.low is column.high else [column.low, column.high] for column in (a, b))
    low, *ends = [x * y for x in of_a for y in of_b]
    high = low
    for end in ends:
        low, high = np.minimum(low, end), np.maximum(high, end)
    ideal = None
    if a.ideal is not None or b.ideal is not None:
        if not (a.is_known and b.is_known):
            raise Undecided(where, "a number that rounding changes is multiplied with one that is not known")
        ideal = a.exactly * b.exactly
    return Ranges(low, high, a.scale + b.scale, min(NOTHING, a.grid + b.grid), ideal)


@dataclass
class RangeOperators:
    """The operators of one format, on columns. length: how many positions there are.

    kinds: a number for each content of a column. known: what units write, by their weights and the kinds of what they read.
    """

    format: Format
    length: int
    fraction: int = field(init=False)
    kinds: dict[object, int] = field(init=False, default_factory=dict, repr=False)
    known: dict[object, Sequence[tuple[int, Ranges]]] = field(init=False, default_factory=dict, repr=False)
    _kind_of: WeakKeyDictionary[Ranges, int] = field(init=False, default_factory=WeakKeyDictionary, repr=False)

    def __post_init__(self) -> None:
        self.fraction = -self.format.quantum_exponent

    def finer(self, column: Ranges) -> Ranges:
        """Returns a product of two numbers in steps, in steps: those are 2^q times as large."""
        ideal = None if column.ideal is None else column.ideal / (1 << self.fraction)
        return replace(
            column, scale=column.scale + self.fraction, grid=min(NOTHING, column.grid - self.fraction), ideal=ideal
        )

    def settled(self, exact: Ranges, where: str) -> Ranges:
        """Returns the result of an operator. Raises Refused if it may saturate, Undecided if it may round what is not known."""
        if exact.grid >= 0 or not exact.scale:
            low = exact.low >> exact.scale
            high = low if exact.is_known else exact.high >> exact.scale
            result = Ranges(low, high, 0, exact.grid, exact.ideal)
        elif exact.is_known:
            half = (1 << exact.scale) >> 1
            floor = exact.low >> exact.scale
            rest = exact.low - (floor << exact.scale)
            up = (rest > half) | ((rest == half) & (floor % 2 == 1))
            rounded = floor + np.array(up, object).astype(int).astype(object)
            ideal = exact.exactly
            same = exact.ideal is None and bool((rest == 0).all())
            result = Ranges(rounded, rounded, 0, _grid_of(rounded), None if same else ideal)
        else:
            raise Undecided(where, "an operator may round a number that is not known")
        most = self.format.max_quanta
        if int(result.high.max()) > most or int(result.low.min()) < -most:
            reached = max(int(result.high.max()), -int(result.low.min()))
            place = int(np.argmax(np.maximum(result.high, -result.low))) + 1
            raise Refused(
                where, f"saturates: position {place} reaches {reached} steps, the largest number is {most} steps"
            )
        return result

    def dot(self, row: Row, columns: Sequence[Ranges] | Mapping[int, Ranges], bias: Any, where: str) -> Ranges:
        """Returns Σ weight·column + bias, exactly. Columns that are 0 everywhere are left out."""
        terms = [times(columns[i], weight) for i, weight in row if not columns[i].is_zero]
        if bias:
            terms.append(self.constant(bias))
        return total(terms, self.length, where)

    def constant(self, number: Any) -> Ranges:
        """Returns the column of one number."""
        value = self.steps(number)
        values = np.full(self.length, int(value), object)
        return Ranges(values, values, 0, _twos(value)[1] if value else NOTHING)

    def steps(self, number: Any) -> Fraction:
        """Returns how many steps a weight is. Raises Undecided for no whole number."""
        value = Fraction(number) * (1 << self.fraction)
        if value.denominator != 1:
            raise Undecided("the weights", f"{number} is no multiple of the step")
        return value

    def freed(self, column: Ranges, free: Free, where: str) -> Ranges:
        """Returns the column of a register that may hold any whole numbers between these, as it does here. Raises Undecided."""
        low, high = (np.array(ends, object) << self.fraction for ends in zip(*free.bounds, strict=True))
        if column.ideal is not None or (column.low < low).any() or (column.high > high).any():
            raise Undecided(where, f"register {free.register} is not between the bounds that are given for it")
        return Ranges(low, high, 0, min(self.fraction, column.grid))

    # Feed-forwards

    def fed(self, stream: list[Ranges], layer: Sublayer, where: str) -> list[Ranges]:
        """Returns the registers after a feed-forward."""
        groups: dict[tuple[Row, Row, Any], list[int]] = {}
        for number, unit in enumerate(layer.units):
            groups.setdefault((unit.gate, unit.up, unit.up_bias), []).append(number)
        readers: dict[int, list[tuple[int, Any]]] = {}  # unit → the registers that it writes, with weights
        changes: dict[int, list[Ranges]] = {}
        for register, row, bias in layer.down:
            changes[register] = [self.constant(bias)] if bias else []
            for number, weight in row:
                readers.setdefault(number, []).append((register, weight))
        for (gate, up_row, up_bias), numbers in groups.items():
            at = f"{where}, {name_part('unit', numbers[0] + 1)}"
            units = [(number, layer.units[number]) for number in numbers]
            weights = tuple((unit.gate_bias, *readers.get(number, ())) for number, unit in units)
            read = tuple(self._kind(stream[i]) for i, _ in (*gate, *up_row))
            key = (gate, up_row, up_bias, weights, read)
            if key not in self.known:  # the same units are often asked about the same numbers
                self.known[key] = self._outputs(stream, units, readers, at)
            for register, column in self.known[key]:
                changes[register].append(column)
        stream = list(stream)
        for register, terms in changes.items():
            at = f"{where}, register {register}"
            change = self.settled(total(terms, self.length, at), at)
            stream[register] = self.settled(total([stream[register], change], self.length, at), at)
        return stream

    def _kind(self, column: Ranges) -> int:
        """Returns a number that this column shares with those of equal content."""
        if column not in self._kind_of:
            self._kind_of[column] = self.kinds.setdefault(column.content, len(self.kinds))
        return self._kind_of[column]

    def _outputs(
        self,
        stream: Sequence[Ranges],
        units: Sequence[tuple[int, UnitRows]],
        readers: Mapping[int, Sequence[tuple[int, Any]]],
        where: str,
    ) -> Sequence[tuple[int, Ranges]]:
        """Returns what units write that differ in the biases of their gates alone."""
        _, unit = units[0]
        up = self.settled(self.dot(unit.up, stream, unit.up_bias, where), f"{where}, up")
        if up.is_zero:
            return []  # whatever its gate is, it is multiplied by 0
        x = self.dot(unit.gate, stream, 0, where)
        grids = [x.grid, *(_twos(self.steps(unit.gate_bias))[1] for _, unit in units if unit.gate_bias)]
        if x.ideal is None and up.ideal is None and min(grids) >= 0 and min(grids) + up.grid >= self.fraction:
            return list(self._bent(x, up, units, readers, where))
        return list(self._one_by_one(x, up, units, readers, where))

    def _open(self, gate: Ranges, up: Ranges, where: str) -> Ranges:
        """Returns what a unit's gate lets through; where its other factor is 0 it may be anything, where it is shut as well."""
        ideal = gate.high if gate.ideal is None else gate.ideal
        other = up.low if up.ideal is None else up.ideal
        matters = ((gate.high > 0) | (ideal > 0)) & ((up.low != 0) | (up.high != 0) | (other != 0))
        settled = self.settled(gate.where(matters), f"{where}, gate")
        low = np.maximum(settled.low, 0)
        high = low if settled.low is settled.high else np.maximum(settled.high, 0)
        return replace(
            settled, low=low, high=high, ideal=None if settled.ideal is None else np.maximum(settled.ideal, 0)
        )

    def _one_by_one(
        self,
        x: Ranges,
        up: Ranges,
        units: Sequence[tuple[int, UnitRows]],
        readers: Mapping[int, Sequence[tuple[int, Any]]],
        where: str,
    ) -> Iterable[tuple[int, Ranges]]:
        for number, unit in units:
            terms = [x, self.constant(unit.gate_bias)] if unit.gate_bias else [x]
            gate = self._open(total(terms, self.length, where), up, where)
            hidden = self.settled(self.finer(product(gate, up, where)), f"{where}, product")
            for register, weight in readers.get(number, ()):
                yield register, times(hidden, weight)

    def _bent(
        self,
        x: Ranges,
        up: Ranges,
        units: Sequence[tuple[int, UnitRows]],
        readers: Mapping[int, Sequence[tuple[int, Any]]],
        where: str,
    ) -> Iterable[tuple[int, Ranges]]:
        """Yields what units with gates x + b write, nothing of which is rounded: Σ w·max(0, x + b) times the other factor."""
        biases = {number: int(self.steps(unit.gate_bias)) for number, unit in units}
        low = x.low >> x.scale
        x = Ranges(low, low if x.is_known else x.high >> x.scale, 0, x.grid)
        grid = min(x.grid, *(_twos(Fraction(bias))[1] for bias in biases.values() if bias), NOTHING)
        top = total([x, known(np.full(self.length, max(biases.values()), object))], self.length, where)
        largest = self._open(top, up, where)
        # The largest gate is the largest of all; its product with the other factor as well, and all are whole numbers of steps.
        whole = self.finer(product(replace(largest, low=np.zeros(self.length, object), grid=grid), up, where))
        self.settled(whole, f"{where}, product")
        curves: dict[int, list[tuple[int, Any]]] = {}
        for number, _ in units:
            for register, weight in readers.get(number, ()):
                curves.setdefault(register, []).append((-biases[number], weight))
        shut = (up.low == 0) & (up.high == 0)
        for register, bends in curves.items():
            values = _curve(x, bends)
            values = replace(values, low=np.where(shut, 0, values.low), high=np.where(shut, 0, values.high))
            if x.low is x.high:
                values = replace(values, high=values.low)
            least = min(_twos(Fraction(weight))[1] for _, weight in bends)
            exact = self.finer(product(values, up, where))
            yield register, replace(exact, grid=min(NOTHING, whole.grid + least))

    # Heads

    def read(self, stream: Sequence[Ranges], head: HeadRows, where: str) -> tuple[list[Ranges], HeadMargin]:
        """Returns what a head reads at each position, and the least lead of a winner. Raises Refused if that is too small."""
        ends, margin = self.look(stream, head, where)
        columns = [self.settled(self.dot(row, stream, 0, where), f"{where}, value") for row in head.value]
        return [_between(column, *ends, where) for column in columns], margin

    def mixed(self, stream: Sequence[Ranges], values: Sequence[Ranges], layer: Layer, where: str) -> list[Ranges]:
        """Returns the registers after heads that read these values."""
        after = list(stream)
        for register, row in layer.out:
            at = f"{where}, register {register}"
            change = self.settled(self.dot(row, values, 0, at), at)
            after[register] = self.settled(total([stream[register], change], self.length, at), at)
        return after

    def look(self, stream: Sequence[Ranges], head: HeadRows, where: str) -> tuple[tuple[Array, Array], HeadMargin]:
        """Returns between which keys the winner is at each position, and its least lead. Raises Refused if that is too small."""
        queries, forms, first = self._scored(stream, head, where)
        if all(query.is_known for query in queries):
            winner, scores, lead = _winners([query.low for query in queries], forms, first, where)
            if any(query.ideal is not None for query in queries):
                same, _, ideal_lead = _winners(_whole([query.exactly for query in queries]), forms, first, where)
                if (winner != same).any() or (ideal_lead[1:] <= 0).any():
                    raise Refused(where, "another key wins without rounding")
            ends = winner, winner
            best = scores, scores
        else:
            ends, best, lead = _whole_targets(queries, forms, first, where)
        # A score is in units of 2^−2q/2; a rounded one is half a step away at most.
        unit, step = Fraction(1, 2 << 2 * self.fraction), Fraction(1, 1 << self.fraction)
        needed, most = needed_margin(self.fraction, self.length), self.format.max_quanta * step
        margin = unit * min(lead[1:].tolist(), default=0) - step
        if self.length > 1 and margin < needed:
            raise Refused(where, f"scores may differ by {float(margin):g} only; {needed} is needed")
        least, largest = unit * min(best[0].tolist()), unit * max(best[1].tolist())
        if largest > most or least - needed - step < -most:
            raise Refused(where, f"saturates: the largest score is between {float(least):g} and {float(largest):g}")
        return ends, HeadMargin(max(margin, Fraction(0)), needed, least)

    def aim(self, stream: Sequence[Ranges], head: HeadRows, where: str) -> tuple[Array, Array]:
        """Returns bounds of the whole number that a head looks for at each position: the nearest key wins. Raises Undecided.

        The number is a sum of registers, each times a number that depends on the position alone.
        """
        queries, forms, first = self._scored(stream, head, where)
        return _aimed(queries, forms, first, where)[0]

    def _scored(
        self, stream: Sequence[Ranges], head: HeadRows, where: str
    ) -> tuple[list[Ranges], list[tuple[int, ...]], list[int]]:
        """Returns the parts of the score: each query, and the key that it meets as a polynomial and as twice its value at 1."""
        queries, forms, first = list[Ranges](), list[tuple[int, ...]](), list[int]()
        for query_row, key_row in zip(head.query, head.key, strict=True):
            query = self.settled(self.dot(query_row, stream, 0, where), f"{where}, query")
            key = self.settled(self.dot(key_row, stream, 0, where), f"{where}, key")
            if not key.is_known or key.ideal is not None:
                raise Undecided(where, "a key depends on more than its position")
            forms.append(_quadratic(key.low, where))
            first.append(2 * key.low[0])
            queries.append(query)
        return queries, forms, first


def _between(column: Ranges, first: Array, last: Array, where: str) -> Ranges:
    """Returns bounds of a column's entries at the keys from one to another, for each position; nearer ones may be counted too."""
    if first is last:
        return column.gather(np.array((first - 1).tolist(), np.int64))
    if column.ideal is not None:
        raise Undecided(where, "a number that rounding changes is read at a key that is not known")
    low, high = np.minimum.accumulate(column.low), np.maximum.accumulate(column.high)
    reached = np.array((last - 1).tolist(), np.int64)
    return replace(column, low=low[reached], high=high[reached])


def _whole_targets(
    queries: Sequence[Ranges], forms: Sequence[tuple[int, ...]], first: Sequence[int], where: str
) -> tuple[tuple[Array, Array], tuple[Array, Array], Array]:
    """Returns between which keys the winner is, between which its score, and its lead: where a whole number is looked for.

    The nearest key wins, by a at least, as k² − 2·t·k is (k − t)² but for t². Its score rises with t.
    """
    targets, twice, rest = _aimed(queries, forms, first, where)
    places = np.arange(1, len(twice) + 1).astype(object)
    low, high = (np.clip(target, 1, places) for target in targets)
    scores = [
        (2 * target - key) * key * (twice // 2) + (more >> rest.scale)
        for target, key, more in zip(targets, (low, high), (rest.low, rest.high), strict=True)
    ]
    return (low, high), (scores[0], scores[1]), twice // 2


def _aimed(
    queries: Sequence[Ranges], forms: Sequence[tuple[int, ...]], first: Sequence[int], where: str
) -> tuple[tuple[Array, Array], Array, Ranges]:
    """Returns bounds of the whole number t that is looked for, 2a, and what all keys' scores share. Raises Undecided.

    Scores are −a·(k² − 2·t·k) and more that all keys share, at key 1 as well, with a known, a power of two.
    """
    count = len(queries[0].low)
    if any(one != sum(form) for one, form in zip(first, forms, strict=True)):
        raise Undecided(where, "key 1 is another one, and where it looks depends on more than the position")
    if any(
        query.ideal is not None or (form[0] and not query.is_known) for query, form in zip(queries, forms, strict=True)
    ):
        raise Undecided(where, "how steep scores are depends on more than the position")
    bend, slope, rest = (
        total([times(query, form[i]) for query, form in zip(queries, forms, strict=True) if form[i]], count, where)
        for i in range(3)
    )
    twice = -2 * bend.low >> bend.scale
    powers = {x & -x for x in twice.tolist()}
    if (twice <= 0).any() or powers != {*twice.tolist()} or max(powers).bit_length() > slope.grid + 1:
        raise Undecided(where, "what it looks for is not seen to be a whole number")
    return ((slope.low >> slope.scale) // twice, (slope.high >> slope.scale) // twice), twice, rest


def _curve(x: Ranges, bends: Sequence[tuple[int, Any]]) -> Ranges:
    """Returns bounds of Σ w·max(0, x − t) over all x of a column. bends: the pairs (t, w)."""
    scale = max(_twos(Fraction(weight))[0] for _, weight in bends)
    ordered = sorted((t, int(Fraction(weight) * (1 << scale))) for t, weight in bends)
    places = np.array([t for t, _ in ordered], object)
    slopes, offsets = [0], [0]
    for t, w in ordered:
        slopes.append(slopes[-1] + w)
        offsets.append(offsets[-1] - w * t)
    slope, offset = np.array(slopes, object), np.array(offsets, object)

    def value(at: Array) -> Array:
        piece = np.searchsorted(places, at)
        return slope[piece] * at + offset[piece]

    low = high = value(x.low)
    if x.low is not x.high:
        for point in (x.high, *(np.clip(t, x.low, x.high) for t in dict.fromkeys(places.tolist()))):
            here = value(np.asarray(point, object))
            low, high = np.minimum(low, here), np.maximum(high, here)
    return Ranges(low, high, scale)


def _whole(columns: Sequence[Array]) -> list[Array]:
    """Returns binary fractions, all times one power of two that makes them whole."""
    bits = max(_twos(Fraction(x))[0] for column in columns for x in column.tolist())
    return [np.array([int(x * (1 << bits)) for x in column.tolist()], object) for column in columns]


def _quadratic(keys: Array, where: str) -> tuple[int, ...]:
    """Returns a, b, c: twice the keys are a·k² + b·k + c at each position k but the first."""
    if len(keys) < 5:
        raise Undecided(where, "fewer than five positions")
    x, y, z = keys[1:4].tolist()
    a = z - 2 * y + x
    b = 2 * (y - x) - 5 * a
    c = 2 * x - 4 * a - 2 * b
    places = np.arange(2, len(keys) + 1).astype(object)
    if ((a * places + b) * places + c != 2 * keys[1:]).any():
        raise Undecided(where, "the keys are no quadratic polynomial of the position")
    return a, b, c


def _winners(
    queries: Sequence[Array], forms: Sequence[tuple[int, ...]], first: Sequence[int], where: str
) -> tuple[Array, Array, Array]:
    """Returns the key with the largest score at each position, that score, and its lead, by whole numbers.

    A score is Σ query·key. Keys are a·k² + b·k + c from position 2 on, and `first` at position 1. The sum has a vertex: where
    scores fall to both sides, the keys beside it are ahead of all others.
    """
    count = range(len(queries))
    zero = np.zeros(len(queries[0]), object)
    a, b, c = (sum((queries[j] * forms[j][i] for j in count), start=zero) for i in range(3))
    at_first = sum((queries[j] * first[j] for j in count), start=zero)
    places = np.arange(1, len(zero) + 1).astype(object)
    if (a[1:] >= 0).any():
        raise Undecided(where, "scores have no vertex")
    slope = np.where(places == 1, 1, -a)
    near = np.maximum(np.minimum((b + slope) // (2 * slope), places), 2)
    keys = [np.ones(len(zero), object), near - 1, near, near + 1]
    scores = [at_first, *((a * key + b) * key + c for key in keys[1:])]
    floor = (
        min(min(score.tolist()) for score in scores) - 1
    )  # of a key that there is not; two keys there are, but at position 1
    best, winner, second = at_first, keys[0], np.full(len(zero), floor, object)
    for key, score in zip(keys[1:], scores[1:], strict=True):
        here = np.where((key >= 2) & (key <= places), score, floor)
        second = np.maximum(second, np.minimum(best, here))
        best, winner = np.maximum(best, here), np.where(here > best, key, winner)
    return winner, best, best - second


def rows_of_words(model: ExactModel) -> dict[tuple[str, str, int], dict[int, int]]:
    """Returns the rows of the vocabulary in steps, zeros left out: by family, text and number. Raises Undecided."""
    quantum = -model.arithmetic.format.quantum_exponent
    entries: dict[tuple[str, str, int], Sequence[tuple[int, Any]]] = {}
    for family, numbers in model.families.items():
        for v in range(numbers.low, numbers.high + 1):
            entries[family, "", v] = [(i, p.substitute({NUMBER: constant(v)})) for i, p in numbers.rows.items()]
    for word, row in model.specials.items():
        entries["", word, 0] = [(i, as_polynomial(w)) for i, w in row]
    rows = dict[tuple[str, str, int], dict[int, int]]()
    for key, items in entries.items():
        quanta = {i: Fraction(w.constant) * (1 << quantum) for i, w in items}
        if any(not w.is_constant for _, w in items) or any(x.denominator != 1 for x in quanta.values()):
            raise Undecided("the embedding", f"{key} is no element of the format")
        rows[key] = {i: int(x) for i, x in quanta.items() if x}
    return rows


def embedded(model: ExactModel, automaton: TokenAutomaton, fmt: Format) -> list[Ranges]:
    """Returns the registers at the embedding, of any word that may stand at each position."""
    length = max(int(state.high) for state in automaton.states)  # type: ignore[arg-type]
    quantum, width = -fmt.quantum_exponent, len(model.registers)
    low: list[list[int | None]] = [[None] * length for _ in range(width)]
    high: list[list[int]] = [[0] * length for _ in range(width)]
    rows = rows_of_words(model)
    for state in automaton.states:
        if state.contents or state.low != state.high or not isinstance(state.low, int):
            raise Undecided("the input", f"{state.label} has no position of its own")
        words = [("", state.word, 0)] if state.word else []
        if not words:
            first, last = state.numbers
            if not isinstance(first, int) or not isinstance(last, int):
                raise Undecided("the input", f"{state.label} has numbers that depend on n")
            words = [(state.family, "", v) for v in range(first, last + 1)]
        for word in words:
            place = state.low - 1
            for i in range(width):
                value = rows[word].get(i, 0)
                before = low[i][place]
                low[i][place] = value if before is None else min(before, value)
                high[i][place] = value if before is None else max(high[i][place], value)
    if any(entry is None for entry in low[0]):
        raise Undecided("the input", "a position that no word stands at")
    machine, slopes, columns = RangeOperators(fmt, length), dict(model.position), list[Ranges]()
    positions = known(np.arange(1, length + 1).astype(object) << quantum)
    for i in range(width):
        a, b = np.array(low[i], object), np.array(high[i], object)
        grid = min([NOTHING, *(_grid_of(np.array([row[i]], object)) for row in rows.values() if i in row)])
        column = Ranges(a, a if (a == b).all() else b, 0, grid)
        terms = [column, times(positions, slopes[i])] if i in slopes else [column]
        columns.append(machine.settled(total(terms, length, "the embedding"), "the embedding"))
    return columns


@dataclass
class PositionReport(Report):
    """What was proved. streams: the registers at the end of each block."""

    streams: list[list[Ranges]] = field(default_factory=list)

    @property
    def states(self) -> list[int]:
        """Returns how many positions there are after each block."""
        return [len(stream[0].low) for stream in self.streams]

    @cached_property
    def errors(self) -> dict[str, Fraction]:
        """Register → the largest error in steps."""
        errors = dict[str, Fraction]()
        for stream in self.streams:
            for name, column in zip(self.registers, stream, strict=True):
                if column.ideal is not None:
                    error = max(map(abs, (column.ideal - column.low).tolist()))
                    errors[name] = max(error, errors.get(name, error))
        return errors


def check_positions(model: ExactModel, automaton: TokenAutomaton) -> PositionReport:
    """Proves soundness of rounding for every text. Raises Refused with the first place that fails, Undecided for "cannot tell"."""
    fmt = model.arithmetic.format
    if model.arithmetic.discipline is not Discipline.FUSED:
        raise Undecided("the discipline", "position by position, only fused operators are covered")
    require_weights(model, automaton)
    stream, report = embedded(model, automaton, fmt), PositionReport(model.registers)
    report.trace.append(("the weights", model.digest))
    machine = RangeOperators(fmt, len(stream[0].low))
    for number, layer in enumerate(model.layers):
        at = name_place(number + 1)
        if layer.recurrence is not None:
            raise Undecided(at, "a recurrence")
        values = list[Ranges]()
        for h, head in enumerate(layer.heads):
            read, margin = machine.read(stream, head, model.head(number, h))
            report.met_margins.append(((number, h), margin))
            values += read
        after = machine.mixed(stream, values, layer, at)
        stream = machine.fed(after, layer.feed_forward, name_place(number + 1, FEED_FORWARD))
        for one in automaton.free:
            if one.block == number + 1:
                i = model.registers.index(one.register)
                stream[i] = machine.freed(stream[i], one, at)
        report.streams.append(stream)
    for (family, word, v), entries in rows_of_words(model).items():
        row = tuple((i, Fraction(w, 1 << machine.fraction)) for i, w in entries.items())
        name = word or f"{family} {v}"
        logit = machine.settled(machine.dot(row, stream, 0, "the output head"), f"the output head, {name}")
        if logit.ideal is not None:
            raise Undecided("the output head", f"the logit of {name} is another number in the ideal machine")
    return report

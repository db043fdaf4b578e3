"""Numbers of R_p as sums of weighted bits that become gates late: the operators of a step, exact, each rounded once.

Idea: a sum of numbers is a sum of their bits. As long as an operator's result is an element of R_p whatever the bits are,
so that rounding changes nothing, it costs no gate: affine maps, residual additions and recurrences only collect
coefficients, and what cancels is gone. Gates are made where something is not linear: at a ReLU, a product, a rounding,
a saturation, and at the end.
Notation: q = (p − 1)/2; numbers are counted in quanta of 2^−q. A number x with magnitude bits m_i, k of them, and sign s is
Σ 2^i·(m_i ⊕ s) + s·(1 − 2^k), also where it is −0. Ranges are intervals: of the bits one by one, of the operands, and of all cases
where few bits decide (cones.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from circuits.builder import Bit
from circuits.cones import Cones, Table, synthesize
from circuits.numbers import Number, NumberBuilder
from circuits.ranges import Range, Reads, range_of, whole
from circuits.sums import BitHeap, all_of, signed_digits
from precision.format import Discipline
from precision.rounding import round_shifted

FEW = 7  # leaves of a table that gates are made from
Key = tuple[frozenset[tuple[Bit, int]], int]


@dataclass(frozen=True)
class Form:
    """Σ coefficient·bit + constant, in quanta; from low to high whatever is read. No bit is a negation or a constant."""

    terms: Mapping[Bit, int]
    constant: int
    low: int
    high: int

    @cached_property
    def key(self) -> Key:
        """The same for the same sum."""
        return frozenset(self.terms.items()), self.constant

    @property
    def width(self) -> int:
        """The bits of its two's complement, but for the sign."""
        return max(self.high, ~self.low).bit_length()


@dataclass(frozen=True, eq=False)
class FormBuilder:
    """Operators on forms over numbers that a step may rely on. discipline: of dot products."""

    numbers: NumberBuilder
    discipline: Discipline
    reads: Reads
    _make: dict[Key, Number] = field(default_factory=dict)  # the numbers that forms were made of
    _tables: dict[Key, Table | None] = field(default_factory=dict)

    @cached_property
    def _cones(self) -> Cones:
        return Cones(self.numbers.builder)

    @property
    def _most(self) -> int:
        return self.numbers.format.max_quanta

    # In and out

    def state(self, name: str) -> Form:
        """Returns a new number of the state, as the reads say."""
        within = self.reads.states.get(name, whole(self._most))
        number = self._narrow(self.numbers.state(f"{name}."), within)
        if within.low >= 0:
            self._cones.read_state(number.magnitude, within)
        return self._wrap(number, within.low, within.high)

    def input(self, name: str) -> Form:
        """Returns a new number of the input, as the reads say."""
        values = self.reads.inputs.get(name, whole(self._most))
        within = values if isinstance(values, Range) else range_of(values)
        number = self._narrow(self.numbers.input(f"{name}."), within)
        if not isinstance(values, Range):
            self._cones.read_word(number.negative, [v < 0 for v in values])
            for i, bit in enumerate(number.magnitude):
                self._cones.read_word(bit, [bool(abs(v) >> i & 1) for v in values])
        return self._wrap(number, within.low, within.high)

    def number(self, form: Form) -> Number:
        """Returns the form, within R_p, as a number made of gates, never −0."""
        if form.key in self._make:
            return self.numbers.canonical(self._make[form.key])
        zero, digits = self.numbers.builder.zero, self.numbers.digits
        *bits, negative = self._bits(form)
        carry, magnitude = negative, list[Bit]()
        for bit in (*bits, negative):
            flipped = bit ^ negative
            magnitude.append(flipped ^ carry)
            carry = flipped & carry
        return Number((*magnitude, *[zero] * digits)[:digits], negative)

    def range(self, form: Form) -> Range:
        """Returns all that a form can be, and 0."""
        form = self._tight(form)
        step = _twos([*form.terms.values(), form.constant], self.numbers.digits)
        return Range(min(form.low, 0), max(form.high, 0), step)

    def _narrow(self, number: Number, within: Range) -> Number:
        """Returns a number without the bits that are 0 within a range."""
        zero, top = self.numbers.builder.zero, max(-within.low, within.high).bit_length()
        bits = (bit if within.step <= i < top else zero for i, bit in enumerate(number.magnitude))
        return Number(tuple(bits), number.negative if within.low < 0 else zero)

    def _wrap(self, number: Number, low: int, high: int) -> Form:
        """Returns a number of gates as a form."""
        negative, zero = number.negative, self.numbers.builder.zero
        k = max((i for i, bit in enumerate(number.magnitude, start=1) if bit != zero), default=0)
        terms = [(1 << i, bit ^ negative) for i, bit in enumerate(number.magnitude[:k])]
        form = self._form([*terms, (1 - (1 << k), negative)], 0, low, high)
        self._make.setdefault(form.key, number)
        return form

    # Operators

    def constant(self, quanta: int) -> Form:
        """Returns an element of the format."""
        return Form({}, quanta, quanta, quanta)

    def add(self, x: Form, y: Form) -> Form:
        """Returns x + y, at most the largest number."""
        return self._round(self._sum([(1, x), (1, y)], 0), 0)

    def dot(self, terms: Sequence[tuple[int, Form]], bias: int) -> Form:
        """Returns Σ weight·x + bias, constants in quanta: rounded once, or after each product and sum, the bias last."""
        shift = self.numbers.fraction
        if self.discipline is Discipline.FUSED:
            return self._round(self._sum(terms, bias << shift), shift)
        result = self.constant(0)
        for weight, x in terms:
            result = self.add(result, self._round(self._sum([(weight, x)], 0), shift))
        return self.add(result, self.constant(bias))

    def relu(self, x: Form) -> Form:
        """Returns max(x, 0)."""
        x = self._tight(x)
        if x.low >= 0 or x.high <= 0:
            return x if x.low >= 0 else self.constant(0)
        one = self.numbers.builder.one
        # No other value is above 0.
        if x.high == _ends(x.terms, x.constant)[1] and x.high <= 1 << _twos(x.terms.values(), 0):
            reached = [bit if weight > 0 else ~bit for bit, weight in x.terms.items()]
            return self._form([(x.high, all_of(reached, one))], 0, 0, x.high)

        def gates() -> Form:
            *bits, negative = self._bits(x)
            return self._form([(1 << i, bit & ~negative) for i, bit in enumerate(bits)], 0, 0, x.high)

        return self._cheaper(x, gates, lambda value: max(value, 0))

    def multiply(self, x: Form, y: Form) -> Form:
        """Returns x·y, rounded."""
        x, y = (self._compact(self._tight(form)) for form in (x, y))
        ends = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
        terms = [(a * b, s & t) for s, a in x.terms.items() for t, b in y.terms.items()]
        terms += [(a * y.constant, s) for s, a in x.terms.items()] + [(b * x.constant, t) for t, b in y.terms.items()]
        return self._round(self._form(terms, x.constant * y.constant, min(ends), max(ends)), self.numbers.fraction)

    def _round(self, x: Form, shift: int) -> Form:
        """Returns x / 2^shift, rounded, at most the largest number."""
        if _twos([*x.terms.values(), x.constant], shift) >= shift:
            x = Form(
                {bit: weight >> shift for bit, weight in x.terms.items()},
                *(n >> shift for n in (x.constant, x.low, x.high)),
            )
            shift = 0
        rounded = partial(round_shifted, shift=shift, fmt=self.numbers.format)
        if shift or max(x.high, -x.low) > self._most:
            x = self._tight(x)
        low, high = rounded(x.low).quanta, rounded(x.high).quanta
        if not shift and (low, high) == (x.low, x.high):
            return x

        def gates() -> Form:
            *bits, negative = self._bits(x)
            if max(x.high >> shift, -(x.low >> shift)) >= self._most:
                return self._wrap(self.numbers.round_signed([*bits, negative], shift), low, high)
            terms = [(1 << i, bit) for i, bit in enumerate(bits[shift:])]
            up = self.numbers.rounds_up([*bits, negative], shift)
            return self._form([*terms, (-1 << max(0, len(bits) - shift), negative), (1, up)], 0, low, high)

        return self._cheaper(x, gates, lambda value: rounded(value).quanta)

    # Sums

    def _sum(self, terms: Sequence[tuple[int, Form]], constant: int) -> Form:
        """Returns Σ weight·x + constant."""
        bits = [(weight * c, bit) for weight, x in terms for bit, c in x.terms.items()]
        low = constant + sum(min(weight * x.low, weight * x.high) for weight, x in terms)
        high = constant + sum(max(weight * x.low, weight * x.high) for weight, x in terms)
        return self._form(bits, constant + sum(weight * x.constant for weight, x in terms), low, high)

    def _form(self, terms: Iterable[tuple[int, Bit]], constant: int, low: int, high: int) -> Form:
        """Returns Σ weight·bit + constant, which is known to be from low to high."""
        builder, weights = self.numbers.builder, dict[Bit, int]()
        for weight, bit in terms:
            if bit == builder.one:
                constant += weight
            elif bit != builder.zero:
                positive, negated = builder.positive(bit)
                weights[positive] = weights.get(positive, 0) + (-weight if negated else weight)
                constant += weight * negated
        weights = {bit: weight for bit, weight in weights.items() if weight}
        lowest, highest = _ends(weights, constant)
        low, high = max(low, lowest), min(high, highest)
        return Form(weights, constant, low, high) if low < high else self.constant(low)

    def _tight(self, x: Form) -> Form:
        """Narrows the range to that of all cases that can come, where they are few."""
        table = self._table(x)
        if table is None:
            return x
        low, high = max(x.low, int(table.values.min())), min(x.high, int(table.values.max()))
        return replace(x, low=low, high=high) if low < high else self.constant(low)

    def _table(self, x: Form) -> Table | None:
        if x.key not in self._tables:
            self._tables[x.key] = self._cones.table(x.terms, x.constant)
        return self._tables[x.key]

    def _compact(self, x: Form) -> Form:
        """Rewrites the sum as one of its own bits, if these are fewer."""
        if len(x.terms) <= x.width + (x.low < 0):
            return x
        *bits, negative = self._bits(x)
        return self._form([*((1 << i, bit) for i, bit in enumerate(bits)), (-1 << x.width, negative)], 0, x.low, x.high)

    def _bits(self, x: Form) -> tuple[Bit, ...]:
        """Returns the two's complement of a sum, the least significant bit first; the last one is the sign."""
        heap = BitHeap(self.numbers.builder, x.width + (x.low < 0))
        heap.add_constant(x.constant)
        for bit, weight in x.terms.items():
            for exponent, digit in signed_digits(weight):
                heap.add_bit(bit if digit > 0 else ~bit, exponent)
                heap.add_constant(min(digit, 0) << exponent)
        total = heap.total()
        return total if x.low < 0 else (*total, self.numbers.builder.zero)

    def _cheaper(self, x: Form, gates: Callable[[], Form], value: Callable[[int], int]) -> Form:
        """Returns a function of a sum: by gates, or by a table if that is few gates."""
        table = self._table(x)
        if table is None or len(table.leaves) > FEW:
            return gates()
        builder = self.numbers.builder
        values = np.array([value(v) for v in table.values.tolist()], np.int64)
        low, high = int(values.min()), int(values.max())
        if low == high:
            return self.constant(low)
        start = len(builder.gates)
        first = gates()
        middle = len(builder.gates)
        width = max(high, ~low).bit_length()
        *bits, negative = synthesize(builder, replace(table, values=values), width + 1)
        if middle - start <= len(builder.gates) - middle:
            return first
        return self._form([*((1 << i, bit) for i, bit in enumerate(bits)), (-1 << width, negative)], 0, low, high)


def _ends(terms: Mapping[Bit, int], constant: int) -> tuple[int, int]:
    """Returns the least and the greatest value of a sum whose bits are free."""
    return constant + sum(min(w, 0) for w in terms.values()), constant + sum(max(w, 0) for w in terms.values())


def _twos(numbers: Iterable[int], none: int) -> int:
    """Returns the twos in all of these, `none` if all are 0."""
    return min(((n & -n).bit_length() - 1 for n in numbers if n), default=none)

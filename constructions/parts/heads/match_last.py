"""Read from the last, or the first, position with equal keys, at the fewest bits: integers in small units, a wish far away.

Source: Lemmas C.7, C.15 to C.17, for what they compute; the wiring is ours.
Notation: λ is a lead after which all other keys vanish; K bounds the places, n the other integers; q are the fraction bits.

Units. Registers hold integers times u = 2^−b, their squares times u². So numbers from u² ≥ 2^−q up to (K·u)² < 2^(q−1) are
exact, and a square may be as large as 2^(2q−1), where plain integers end at 2^q. No register below is ever rounded.

A wish far away. The score is −S·Σ(x' − x)² − W·(k' − w)², with w = K + F after every place if the last equal key is wanted, and
w = 1 − F before every place if the first is. Places lie F … F + K − 1 from the wish, so with F ≥ 8K the square is nearly a
straight line: the preference reaches over R = W·((F + K − 1)² − F²) ≤ 2.125·W·F·K only, not W·K². The nearer of two equal keys
leads by W·((F + 1)² − F²) or more; hence W = λ/(2·F) and R ≤ 1.07·λ·K.

Defaults. With default=True, position 1, where all x' are 0, has no term S·Σx². As the last place of all it is what is left if no
other key is equal; if the first is wanted, it pays D = R + λ. Unequal keys lie S ≥ R + 2λ below, which is λ below position 1.
A constant moves equal keys to ±R/2, so that 2^q ≥ R/2 + λ keeps them apart from what saturates, R/2 + 2λ where D is paid.

Copy. Without pairs and with the wish k − s, λ is the factor itself: the winner scores 0, its neighbours −λ.

Splitting. A factor f between a key of size x and a query of size y is split into 2^i and 2^−i·f, with both entries below 2^q and
multiples of 2^−q: x·y·f < 2^(2q) is enough, up to the rounding of i. With +2S·x'·x in two halves, and squares pair by pair,
S·n² < 2^(2q) decides where K = O(n), and p = 3·log2 n + O(log log n); R/2 < 2^q decides where K = O(n²), and p = 4·log2 n +
O(log log n).

Counting from c. Entries are powers of two times numbers up to n. If n is one as well, so is the largest entry, and as 2^q itself is
just above R_p, both sides would lose a bit to the number n alone. There keys and queries are counted from c = 1, which leaves their
differences as they are and nothing above n − 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from constructions.parts.heads.match import RegisterPair, equality_needs, sides
from constructions.wiring.affine import Affine, reg
from constructions.wiring.lookup import Lookup, nearest_to
from constructions.wiring.needs import ONE, is_square
from constructions.wiring.part import Setting
from constructions.wiring.register import squared
from constructions.wiring.wire import Component, Gadget, Head, Unit
from precision.winners import vanishing_lead

SLACK = Fraction(1, 4)  # more than the rounding of two scores
UNITY = Fraction(1)


@dataclass(frozen=True)
class Split:
    """A factor between a key and a query: the largest number and the unit of each side tell how the factor may be split."""

    key_bound: Fraction
    key_unit: Fraction
    query_bound: Fraction
    query_unit: Fraction
    factor: Fraction
    fraction_bits: int

    @cached_property
    def shares(self) -> tuple[int, int]:
        """The least and the largest i for a key share 2^i; no share fits if the least is the larger one. Weights must fit too."""
        q, odd = self.fraction_bits, self.factor.numerator
        step = (
            odd & -odd
        ).bit_length() - self.factor.denominator.bit_length()  # log2 of the largest power that divides it
        low = max(_digits(self.query_bound, self.factor) - q, -q - _exponent(self.key_unit))
        high = min(q - _digits(self.key_bound), q + _exponent(self.query_unit) + step)
        return low, high

    @cached_property
    def parts(self) -> tuple[Fraction, Fraction]:
        """The share of the key and that of the query, in the middle of what fits; their product is the factor."""
        low, high = self.shares
        share = Fraction(2) ** (max(low, (low + high) // 2))
        return share, self.factor / share

    def component(self, key: Affine, query: Affine) -> Component:
        """Returns the component key·factor·query of a score."""
        of_key, of_query = self.parts
        return Component(key * of_key, query * of_query)


def _digits(bound: Fraction, factor: Fraction = UNITY) -> int:
    """Returns the least e with max(bound, 1)·|factor| < 2^e."""
    if isinstance(bound, int) or type(bound) is Fraction:  # most are; these are compared faster as integers
        over, under = (bound.numerator, bound.denominator) if bound > 1 else (1, 1)
        over, under = over * abs(factor.numerator), under * factor.denominator
        e = over.bit_length() - under.bit_length()
        return e + (over << max(-e, 0) >= under << max(e, 0))
    value = max(bound, UNITY) * abs(factor)
    e = value.numerator.bit_length() - value.denominator.bit_length()
    return e if value < Fraction(2) ** e else e + 1


def _exponent(power: Fraction) -> int:
    """Returns log2 of a power of two."""
    return power.numerator.bit_length() - power.denominator.bit_length()


@dataclass(frozen=True)
class Scale:
    """The constants of a model of these heads. See the top of the file.

    places: K. area: the largest number, in units of u², that the model has elsewhere.
    """

    setting: Setting
    places: int
    area: int = 0

    @cached_property
    def fraction_bits(self) -> int:
        """q."""
        return -self.setting.format.quantum_exponent

    @cached_property
    def halvings(self) -> int:
        """b: the least with max(K², area)·u² < 2^(q − 1)."""
        largest = max(self.places**2, self.area)
        return max(0, -(-(largest.bit_length() + 1 - self.fraction_bits) // 2))

    @cached_property
    def unit(self) -> Fraction:
        """u = 2^−b."""
        return Fraction(1, 1 << self.halvings)

    @cached_property
    def lead(self) -> int:
        """λ, a whole number."""
        return -int(-(vanishing_lead(self.setting.length, self.fraction_bits) + SLACK) // 1)

    @cached_property
    def far(self) -> int:
        """F: the least power of two from 8K on."""
        return 1 << (8 * self.places - 1).bit_length()

    @cached_property
    def preference(self) -> Fraction:
        """W."""
        return Fraction(self.lead, 2 * self.far)

    @cached_property
    def reach(self) -> int:
        """R, rounded up."""
        return -int(-self.preference * ((self.far + self.places - 1) ** 2 - self.far**2) // 1)

    @cached_property
    def default(self) -> int:
        """D."""
        return self.reach + self.lead

    @cached_property
    def mismatch(self) -> int:
        """S: a power of two, so that an engine which only sees numbers can tell the least mismatch."""
        return 1 << (self.reach + 2 * self.lead - 1).bit_length()

    @cached_property
    def origin(self) -> int:
        """c: 1 if n is a power of two, so that no key or query is as large, else 0."""
        n = self.setting.n
        return int(n > 2 and n == 1 << (n - 1).bit_length())

    def whole(self, form: Affine) -> Affine:
        """Returns a register in units as the integer that it stands for."""
        return (1 << self.halvings) * form

    def fits(self, pairs: int, *, first: bool, sequential: bool = False) -> bool:
        """Returns whether every entry and sum of a copy and of the heads with up to so many pairs fits the format and is exact.

        first: whether one of them has a default and wants the first place.
        """
        squares, product, squares_asked = self.equality
        alike = pairs if sequential else 1  # pairs are alike but for sums
        splits = [squares, product, product, squares_asked] * alike
        splits += [self.penalty] if first else []
        splits += [*self.last, *self.first]
        square, double = self.copied
        within = all(low <= high for one in (*splits, square, double) for low, high in [one.shares])
        sums: Fraction | int = self.reach // 2 + (2 if first else 1) * self.lead + 1
        if sequential:  # every sum of some of the terms
            copied = (square, double)
            sums = max(sum(t.key_bound * t.query_bound * abs(t.factor) for t in some) + 1 for some in (splits, copied))
        return within and 2 * self.halvings <= self.fraction_bits and sums < 1 << self.fraction_bits

    def _split(
        self,
        factor: Fraction,
        key: tuple[Fraction, Fraction] = (UNITY, UNITY),
        query: tuple[Fraction, Fraction] = (UNITY, UNITY),
    ) -> Split:
        """Splits between key and query: the largest number of each side, and its unit."""
        return Split(*key, *query, factor, self.fraction_bits)

    @cached_property
    def equality(self) -> tuple[Split, Split, Split]:
        """−S·x'², half of +2S·x'·x, and −S·x². They are the same for each pair."""
        u, factor = self.unit, self.mismatch / self.unit**2
        most = (self.setting.n - self.origin) * u
        side, square = (most, u), (most**2, u * u)
        return self._split(-factor, key=square), self._split(factor, side, side), self._split(-factor, query=square)

    @cached_property
    def penalty(self) -> Split:
        """−D."""
        return self._split(Fraction(-self.default))

    @cached_property
    def last(self) -> tuple[Split, Split, Split]:
        """The wish for the last place."""
        return self._towards(self.wish_of("last"))

    @cached_property
    def first(self) -> tuple[Split, Split, Split]:
        """The wish for the first place."""
        return self._towards(self.wish_of("first"))

    def wish_of(self, prefer: str) -> int:
        """Returns w."""
        return self.places + self.far if prefer == "last" else 1 - self.far

    def _towards(self, wish: int) -> tuple[Split, Split, Split]:
        """Returns −W·(k' − w)² + W·((F + K − 1)² + F²)/2, the constant rounded to an integer: of k'², k' and 1."""
        u, weight = self.unit, self.preference
        middle = weight * ((self.far + self.places - 1) ** 2 + self.far**2) / 2
        constant = Fraction(round(middle - weight * wish * wish))
        place, squared_place = self._most_places
        square = self._split(-weight / u**2, key=squared_place)
        return square, self._split(2 * weight * wish / u, key=place), self._split(constant)

    @cached_property
    def _most_places(self) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        """Returns the largest place and its unit, then the same of its square."""
        u = self.unit
        most = self.places * u
        return (most, u), (most**2, u * u)

    @cached_property
    def copied(self) -> tuple[Split, Split]:
        """Returns the splits of k'² and k' in −λ·(k' − w)²."""
        factor, (place, squared_place) = self.lead / self.unit**2, self._most_places
        return self._split(-factor, key=squared_place), self._split(2 * factor, place, place)

    def _equal(self, pairs: Sequence[RegisterPair], *, default: bool) -> Iterator[Component]:
        """Yields −S·Σ(x' − x)²."""
        c, one = self.origin * self.unit, reg("one")
        mask = one - reg("first") if default else one
        squares, product, squares_asked = self.equality
        for p in pairs:
            keys, query = (p.key, p.key_squared), (p.query, p.query_squared)
            if c:
                keys = p.key - c * mask, p.key_squared - 2 * c * p.key + c * c * mask
                query = p.query - c * one, p.query_squared - 2 * c * p.query + c * c * one
            yield squares.component(keys[1], one)
            yield from [product.component(keys[0], query[0])] * 2  # two halves of +2S·x'·x
            yield squares_asked.component(mask, query[1])

    def copy(self, name: str, offset: int, reads: Mapping[str, Affine]) -> Head:
        """Wires register := form at position k − offset, at position 1 if there is none; places are positions, up to K."""
        u, one = self.unit, reg("one")
        wish = reg("place") - offset * u * one
        square, double = self.copied
        components = square.component(reg(squared("place")), one), double.component(reg("place"), wish)
        k_squared, most = (
            reg(squared("place")) - 2 * offset * u * reg("place") + offset * offset * u * u * one,
            self.places * self.unit,
        )
        rest = self._split(-self.lead / u**2, query=(most**2, u * u))
        lookup = Lookup(prefer=nearest_to(self.whole(reg("place")), self.whole(wish), self.lead))
        return Head(
            name, (*components, rest.component(one, k_squared)), reads, "Lemma C.13, in units", (ONE, PLACE), lookup
        )

    def match(
        self,
        name: str,
        pairs: Sequence[RegisterPair],
        reads: Mapping[str, Affine],
        *,
        prefer: str = "last",
        default: bool = True,
    ) -> Head:
        """Wires register := form at the last (or `first`) place with equal keys, or at position 1 if there is none.

        Keys are 0 at position 1. default=False: there always is one; position 1 is a key like any other.
        """
        one, towards = reg("one"), self.last if prefer == "last" else self.first
        keys = reg(squared("place")), reg("place"), one
        components = [*self._equal(pairs, default=default)]
        components += [split.component(key, one) for split, key in zip(towards, keys, strict=True)]
        if default and prefer == "first":
            components.append(self.penalty.component(reg("first"), one))
        lookup = Lookup(
            tuple((self.whole(key), self.whole(query)) for key, query in sides(pairs)),
            self.mismatch,
            nearest_to(self.whole(reg("place")), self.wish_of(prefer) * one, self.preference),
            exempt=default,
            penalty=self.default * one if default and prefer == "first" else None,
        )
        return Head(
            name, tuple(components), reads, "Lemmas C.15 to C.17, in units", (*equality_needs(pairs), PLACE), lookup
        )


PLACE = is_square(reg(squared("place")), reg("place"))


def places(scale: Scale) -> Gadget:
    """Wires place := min(position, K)·u and its square, from a position of any size. Width 2."""
    k, u, position = scale.places, scale.unit, reg("position")
    short = k - position
    units = (
        Unit(short, u * Affine({}, Fraction(1)), {"place": -1}),
        Unit(short, u * u * (k + position), {squared("place"): -1}),
    )
    return Gadget("place = min(position, K)·u", units, {"place": k * u, squared("place"): k * k * u * u})

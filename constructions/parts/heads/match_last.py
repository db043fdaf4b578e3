"""Read from the last, or the first, position with equal keys, at the fewest bits: integers in small units, a wish far away.

Source: Lemmas C.7, C.15 to C.17, for what they compute; the wiring is ours.
Notation: λ is a lead behind which all other keys vanish; K bounds the places, n the other integers; q are the fraction bits.

Units. Registers hold integers times u = 2^−b, their squares times u². So numbers from u² ≥ 2^−q up to max(n³, K²)·u² <
2^(q−1) are exact, and a square may be as large as 2^(2q−1), where plain integers end at 2^q. No register below is ever
rounded. There is room between the two bounds, so b is told by bit lengths of n and K, without q.

A wish far away. The score is −S·Σ(x' − x)² − W·(k' − w)², with w = F behind every place if the last equal key is wanted,
and w = −F before every place if the first is, and W = λ/(2·F). But for a constant that is ±λ·k' − λ·k'²/(2F), nearly a
straight line as F ≥ 32K: the nearer of two equal keys leads by 31/32·λ or more, and the preference reaches over R, λ times
K + K²/(2F) rounded up, at most, not over λ·K². A constant ∓R/2 moves equal keys to between −R/2 and R/2.

Defaults. With default=True, position 1, where all x' are 0, has no term S·Σx². As the last place of all it is what is left
if no other key is equal; if the first is wanted, it pays R. Unequal keys lie S ≥ R below. No key stands at the place 0, so
what is below an equal key is so by a lead, and what is below the default as well. 2^q ≥ R/2 + λ keeps equal keys apart from
what saturates, R/2 + 2λ where R is paid.

Leads. Behind y·ln 2, y = q + 2 + bits of the longest sequence, all other keys vanish (precision/winners.py). λ = 23/32·y +
1/4, as 31/32·23/32 > ln 2: a whole number of 32nds as it is, and rounded up to a whole number where y < 64, as 2^−q is too
large for more digits of W there. Where a lead costs nothing it is Λ, a whole number: y itself, or λ where that is one.

Copy. Without pairs and with the wish k − s, Λ is the factor itself: the winner scores 0, its neighbours −Λ.

Splitting. A factor f between a key of size x and a query of size y is split into 2^i and 2^−i·f, with both entries below
2^q and multiples of 2^−q, i as large as that permits. A power of two is below 2^q only from half of it on, so what S
multiplies is added in two halves: S·n² ≤ 2^(2q) decides where K = O(n), and p = 3·log2 n + O(log log n); R/2 < 2^q decides
where K = O(n²), and p = 4·log2 n + O(log log n). Bounds are powers of two, so that the weights are told by bit lengths.

Counting from c. Entries are powers of two times numbers up to n. If n is one as well, so is the largest entry, and as 2^q
itself is just above R_p, both sides would lose a bit to the number n alone. There keys and queries are counted from c = 1,
which leaves their differences as they are and nothing above n − 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.parts.heads.match import TEST_PAIR, Pair, equality_needs
from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.needs import ONE, is_square
from constructions.wiring.part import Setting
from constructions.wiring.register import squared
from constructions.wiring.wire import Component, Gadget, Head, Unit

LN_2_ABOVE = Fraction(23, 32)  # and 1/31 more
FEW = 64
SLACK = Fraction(1, 4)  # more than the rounding of two scores


@dataclass(frozen=True)
class Side:
    """A key or a query: a form, at most `most` and below 2^bits, and a multiple of 2^unit. Its weights, up to 1, must fit too."""

    form: Affine
    most: Number = 1
    bits: int = 1
    unit: int = 0


@dataclass(frozen=True)
class Term:
    """key·factor·query in a score; the factor is a multiple of 2^unit."""

    key: Side
    query: Side
    factor: Fraction
    unit: int
    meaning: str

    def fits(self, fraction_bits: int, spare: int = 0) -> bool:
        """Whether some key share does, so many bits below the largest that its own side permits."""
        q, i = fraction_bits, self._most(fraction_bits) - spare
        return -q <= self.key.unit + i and self.query.most * abs(self.factor) < Fraction(2) ** (q + i)

    def _most(self, fraction_bits: int) -> int:
        return fraction_bits + min(-self.key.bits, self.query.unit + self.unit)

    def component(self, fraction_bits: int) -> Component:
        """The component of the score, its factor split into a key share 2^i, i as large as fits, and the query's.

        A bit is spared where it can be: sums of some terms of a key may be larger than the key, which `sequential` rounds.
        """
        share = Fraction(2) ** (self._most(fraction_bits) - int(self.fits(fraction_bits, spare=1)))
        return Component(share * self.key.form, self.factor / share * self.query.form, self.meaning)


ONCE = Side(reg("one"))
FIRST = Side(reg("first"))


@dataclass(frozen=True)
class Scale:
    """The constants of a model of these heads. See the top of the file.

    places: K.
    """

    setting: Setting
    places: int

    @property
    def fraction_bits(self) -> int:
        """q."""
        return -self.setting.format.quantum_exponent

    @property
    def _area_bits(self) -> int:
        """Bits of what is as large as a number in units of u² can be."""
        return max(3 * self.setting.n.bit_length(), (self.places**2).bit_length())

    @property
    def halvings(self) -> int:
        """b."""
        return self._area_bits // 4

    @property
    def unit(self) -> Fraction:
        """u = 2^−b."""
        return Fraction(1) / (1 << self.halvings)

    @property
    def doublings(self) -> int:
        """y."""
        return self.fraction_bits + 2 + self.setting.length.bit_length()

    @property
    def lead_unit(self) -> int:
        """The exponent of a power of two that λ is a multiple of."""
        return 0 if self.doublings < FEW else -5

    @property
    def lead(self) -> Fraction:
        """λ."""
        unit = Fraction(2) ** self.lead_unit
        return -(-(LN_2_ABOVE * self.doublings + SLACK) / unit // 1) * unit

    @property
    def wide_lead(self) -> Number:
        """Λ."""
        return self.lead if self.doublings < FEW else self.doublings

    @property
    def far_exponent(self) -> int:
        """log2 of F, the least power of two from 32K on."""
        return (32 * self.places - 1).bit_length()

    @property
    def far(self) -> int:
        """F."""
        return 1 << self.far_exponent

    @property
    def preference(self) -> Fraction:
        """W."""
        return self.lead / (2 * self.far)

    @property
    def reach(self) -> Fraction:
        """R."""
        return -(-self._costs // 1) * self.lead

    @property
    def _costs(self) -> Fraction:
        """Of the preference over all places, in λ."""
        return self.places + Fraction(1) * self.places**2 / (2 * self.far)

    @property
    def mismatch_exponent(self) -> int:
        """log2 of S, the least power of two above R."""
        return (self.reach // 1).bit_length()

    @property
    def mismatch(self) -> int:
        """S: a power of two, so that an engine which only sees numbers can tell the least mismatch."""
        return 1 << self.mismatch_exponent

    @property
    def origin(self) -> int:
        """c: 1 if n is a power of two, so that no key or query is as large, else 0."""
        n = self.setting.n
        return int(n > 2 and n == 1 << (n - 1).bit_length())

    def whole(self, form: Affine) -> Affine:
        """A register in units as the integer that it stands for."""
        return (1 << self.halvings) * form

    def fits(self, pairs: int, *, first: bool, sequential: bool = False) -> bool:
        """Whether every entry and sum of a copy and of the heads with up to so many pairs fits the format and is exact.

        first: whether one of them has a default and wants the first place.
        """
        q, k, far = self.fraction_bits, self.places, self.far
        terms = [*self._equality((TEST_PAIR,), default=True), *self._copied(1), *([self._default()] if first else [])]
        terms += [term for wish in (far, -far) for term in self._towards(wish)]
        sums = 1 + (self.reach / 2 + 2 * self.lead if first else (self._costs / 2 + 1) * self.lead)
        if sequential:  # every sum of some of the terms
            own = 4 * pairs * self.mismatch * (self.setting.n - self.origin) ** 2 + (self.reach if first else 0)
            preferred = self.preference * k * (k + 2 * far) + self.reach / 2
            sums = max(own + preferred, Fraction(3) * self.wide_lead * k**2) + 1
        return (
            self._area_bits - 2 * self.halvings < q >= 2 * self.halvings
            and sums < 1 << q
            and all(term.fits(q) for term in terms)
        )

    def _scaled(self, form: Affine, most: int, bits: int, power: int = 1) -> Side:
        """An integer, up to this number of so many bits, in units of u to this power."""
        b = power * self.halvings
        largest: Number = max(most * self.unit**power, Fraction(1))
        return Side(form, largest, max(bits - b, 1), -b)

    def _place(self, form: Affine) -> Side:
        return self._scaled(form, self.places, self.places.bit_length())

    def _place_squared(self, form: Affine) -> Side:
        return self._scaled(form, self.places**2, (self.places**2).bit_length(), 2)

    def _equality(self, pairs: Sequence[Pair], *, default: bool) -> Iterator[Term]:
        u, c, b, one = self.unit, self.origin * self.unit, self.halvings, reg("one")
        asked, text = (one - reg("first"), "−S·x² unless k' = 1") if default else (one, "−S·x²")
        most, half = self.setting.n - self.origin, self.mismatch_exponent - 1
        bits, factor = most.bit_length(), Fraction(2) ** half / u**2
        for p in pairs:
            key, query = (self._scaled(form - c * of, most, bits) for form, of in ((p.key, asked), (p.query, one)))
            forms = (
                p.key_squared - 2 * c * p.key + c * c * asked,
                p.query_squared - 2 * c * p.query + c * c * one,
            )
            key_squared, query_squared = (self._scaled(form, most**2, 2 * bits, 2) for form in forms)
            for which in ("a half", "the other half"):
                yield Term(key_squared, ONCE, -factor, half + 2 * b, f"−S·x'², {which}")
                yield Term(key, query, 2 * factor, half + 2 * b + 1, f"+2S·x'·x, {which}")
                yield Term(Side(asked), query_squared, -factor, half + 2 * b, f"{text}, {which}")

    def _default(self) -> Term:
        return Term(FIRST, ONCE, -self.reach, self.lead_unit, "−R at k' = 1")

    def _towards(self, wish: int) -> Iterator[Term]:
        """−W·(k' − w)² + W·w² ∓ R/2, of which 2W·w is ±λ."""
        u, b, far = self.unit, self.halvings, self.far_exponent
        sign, k_squared = 1 if wish > 0 else -1, self._place_squared(reg(squared("place")))
        yield Term(k_squared, ONCE, -self.preference / u**2, self.lead_unit - 1 - far + 2 * b, "−W·k'²")
        yield Term(self._place(reg("place")), ONCE, sign * self.lead / u, self.lead_unit + b, "+2W·w·k'")
        yield Term(ONCE, ONCE, -sign * self.reach / 2, self.lead_unit - 1, "±R/2 in all")

    def _copied(self, offset: int) -> Iterator[Term]:
        """−Λ·(k' − (k − s))², s the offset."""
        u, b, one, factor = self.unit, self.halvings, reg("one"), self.wide_lead / self.unit**2
        wish = reg("place") - offset * u * one
        squares = (
            reg(squared("place")),
            reg(squared("place")) - 2 * offset * u * reg("place") + offset * offset * u * u * one,
        )
        key_squared, wish_squared = map(self._place_squared, squares)
        yield Term(key_squared, ONCE, -factor, 2 * b, "−Λ·k'²")
        yield Term(self._place(reg("place")), self._place(wish), 2 * factor, 2 * b + 1, "+2Λ·k'·(k − s)")
        yield Term(ONCE, wish_squared, -factor, 2 * b, f"−Λ·(k − {offset})²")

    def copy(self, name: str, offset: int, reads: Mapping[str, Affine]) -> Head:
        """register := form at position k − offset, at position 1 if there is none; places are positions, up to K."""
        components = tuple(term.component(self.fraction_bits) for term in self._copied(offset))
        return Head(name, components, reads, "Lemma C.13, in units", (ONE, PLACE))

    def match(
        self,
        name: str,
        pairs: Sequence[Pair],
        reads: Mapping[str, Affine],
        *,
        prefer: str = "last",
        default: bool = True,
    ) -> Head:
        """register := form at the last (or `first`) place with equal keys, or at position 1 if there is none.

        Keys are 0 at position 1. default=False: there always is one; position 1 is a key like any other.
        """
        wish = self.far if prefer == "last" else -self.far
        terms = [*self._equality(pairs, default=default), *self._towards(wish)]
        if default and prefer == "first":
            terms.append(self._default())
        components = tuple(term.component(self.fraction_bits) for term in terms)
        needs = (*equality_needs(pairs), PLACE)
        return Head(name, components, reads, "Lemmas C.15 to C.17, in units", needs)


PLACE = is_square(reg(squared("place")), reg("place"))


def places(scale: Scale) -> Gadget:
    """place := min(position, K)·u and its square, from a position of any size. Width 2."""
    k, u, position = scale.places, scale.unit, reg("position")
    short = k - position
    units = (
        Unit(short, u * as_affine(1), {"place": -1}),
        Unit(short, u * u * (k + position), {squared("place"): -1}),
    )
    return Gadget("place = min(position, K)·u", units, {"place": k * u, squared("place"): k * k * u * u})

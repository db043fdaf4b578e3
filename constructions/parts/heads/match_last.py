"""Read from the last, or the first, position with equal keys, at the fewest bits: integers in small units, a wish far away.

Source: Lemmas C.7, C.15 to C.17, for what they compute; the wiring is ours.
Notation: λ is a lead behind which all other keys vanish; K bounds the places, n the other integers; q are the fraction bits.

Units. Registers hold integers times u = 2^−b, their squares times u². So numbers from u² ≥ 2^−q up to (K·u)² < 2^(q−1) are
exact, and a square may be as large as 2^(2q−1), where plain integers end at 2^q. No register below is ever rounded.

A wish far away. The score is −S·Σ(x' − x)² − W·(k' − w)², with w = K + F behind every place if the last equal key is wanted, and
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

from constructions.parts.heads.match import Pair, equality_needs, pairs_of, sides
from constructions.wiring.affine import Affine, reg
from constructions.wiring.lookup import Lookup, nearest_to
from constructions.wiring.needs import ONE, is_square
from constructions.wiring.part import Setting
from constructions.wiring.register import squared
from constructions.wiring.wire import Component, Gadget, Head, Unit
from precision.winners import vanishing_lead

SLACK = Fraction(1, 4)  # more than the rounding of two scores


@dataclass(frozen=True)
class Term:
    """key·factor·query in a score: the largest number and the unit of each side, to tell how the factor may be split."""

    key: Affine
    key_bound: Fraction
    key_unit: Fraction
    query: Affine
    query_bound: Fraction
    query_unit: Fraction
    factor: Fraction

    def shares(self, fraction_bits: int) -> tuple[int, int]:
        """The least and the largest i for a key share 2^i; no share fits if the least is the larger one. Weights must fit too."""
        q, odd = fraction_bits, self.factor.numerator
        step = Fraction(odd & -odd, self.factor.denominator)
        low = max(_digits(max(self.query_bound, Fraction(1)) * abs(self.factor)) - q, -q - _exponent(self.key_unit))
        high = min(q - _digits(max(self.key_bound, Fraction(1))), q + _exponent(self.query_unit * step))
        return low, high

    def component(self, fraction_bits: int) -> Component:
        """The component of the score, its factor split between key and query in the middle of what fits."""
        low, high = self.shares(fraction_bits)
        share = Fraction(2) ** (max(low, (low + high) // 2))
        return Component(share * self.key, self.factor / share * self.query)


def _digits(value: Fraction) -> int:
    """The least e with value < 2^e."""
    e = value.numerator.bit_length() - value.denominator.bit_length()
    if type(value) is Fraction:  # most are; these are compared faster as integers
        return e + (value.numerator << max(-e, 0) >= value.denominator << max(e, 0))
    return e if value < Fraction(2) ** e else e + 1


def _exponent(power: Fraction) -> int:
    """log2 of a power of two."""
    return power.numerator.bit_length() - power.denominator.bit_length()


@dataclass(frozen=True)
class Scale:
    """The constants of a model of these heads. See the top of the file.

    places: K. area: the largest number, in units of u², that the model has elsewhere.
    """

    setting: Setting
    places: int
    area: int = 0

    @property
    def fraction_bits(self) -> int:
        """q."""
        return -self.setting.format.quantum_exponent

    @cached_property
    def halvings(self) -> int:
        """b: the least with max(K², area)·u² < 2^(q − 1)."""
        largest = max(self.places**2, self.area)
        return max(0, -(-(largest.bit_length() + 1 - self.fraction_bits) // 2))

    @property
    def unit(self) -> Fraction:
        """u = 2^−b."""
        return Fraction(1, 1 << self.halvings)

    @cached_property
    def lead(self) -> int:
        """λ, a whole number."""
        return -int(-(vanishing_lead(self.setting.length, self.fraction_bits) + SLACK) // 1)

    @property
    def far(self) -> int:
        """F: the least power of two from 8K on."""
        return 1 << (8 * self.places - 1).bit_length()

    @property
    def preference(self) -> Fraction:
        """W."""
        return Fraction(self.lead, 2 * self.far)

    @property
    def reach(self) -> int:
        """R, rounded up."""
        return -int(-self.preference * ((self.far + self.places - 1) ** 2 - self.far**2) // 1)

    @property
    def default(self) -> int:
        """D."""
        return self.reach + self.lead

    @property
    def mismatch(self) -> int:
        """S: a power of two, so that an engine which only sees numbers can tell the least mismatch."""
        return 1 << (self.reach + 2 * self.lead - 1).bit_length()

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
        q, tests = self.fraction_bits, pairs_of(1) * (pairs if sequential else 1)  # pairs are alike but for sums
        terms = [*self._equality(tests, default=True), *([self._default()] if first else [])]
        terms += [term for wish in (self.places + self.far, 1 - self.far) for term in self._towards(wish)]
        copied = list(self._copied(reg("place")))
        within = all(low <= high for term in (*terms, *copied) for low, high in [term.shares(q)])
        sums: Fraction | int = self.reach // 2 + (2 if first else 1) * self.lead + 1
        if sequential:  # every sum of some of the terms
            sums = max(sum(t.key_bound * t.query_bound * abs(t.factor) for t in some) + 1 for some in (terms, copied))
        return within and 2 * self.halvings <= q and sums < 1 << q

    def _equality(self, pairs: Sequence[Pair], *, default: bool) -> Iterator[Term]:
        u, c, one, unity = self.unit, self.origin * self.unit, reg("one"), Fraction(1)
        mask = one - reg("first") if default else one
        factor, most = self.mismatch / u**2, (self.setting.n - self.origin) * u
        for p in pairs:
            keys, query = (p.key, p.key_squared), (p.query, p.query_squared)
            if c:
                keys = p.key - c * mask, p.key_squared - 2 * c * p.key + c * c * mask
                query = p.query - c * one, p.query_squared - 2 * c * p.query + c * c * one
            yield Term(keys[1], most**2, u * u, one, unity, unity, -factor)
            for _ in range(2):  # two halves of +2S·x'·x
                yield Term(keys[0], most, u, query[0], most, u, factor)
            yield Term(mask, unity, unity, query[1], most**2, u * u, -factor)

    def _default(self) -> Term:
        one = Fraction(1)
        return Term(reg("first"), one, one, reg("one"), one, one, Fraction(-self.default))

    def _towards(self, wish: int) -> Iterator[Term]:
        """−W·(k' − w)² + W·((F + K − 1)² + F²)/2, the constant rounded to an integer."""
        u, weight, one, unity = self.unit, self.preference, reg("one"), Fraction(1)
        middle = weight * ((self.far + self.places - 1) ** 2 + self.far**2) / 2
        k, k_squared, most = reg("place"), reg(squared("place")), self.places * u
        yield Term(k_squared, most**2, u * u, one, unity, unity, -weight / u**2)
        yield Term(k, most, u, one, unity, unity, 2 * weight * wish / u)
        yield Term(one, unity, unity, one, unity, unity, Fraction(round(middle - weight * wish * wish)))

    def _copied(self, wish: Affine) -> Iterator[Term]:
        u, one, unity, factor = self.unit, reg("one"), Fraction(1), self.lead / self.unit**2
        k, k_squared, most = reg("place"), reg(squared("place")), self.places * u
        yield Term(k_squared, most**2, u * u, one, unity, unity, -factor)
        yield Term(k, most, u, wish, most, u, 2 * factor)

    def copy(self, name: str, offset: int, reads: Mapping[str, Affine]) -> Head:
        """register := form at position k − offset, at position 1 if there is none; places are positions, up to K."""
        u, q, one = self.unit, self.fraction_bits, reg("one")
        wish = reg("place") - offset * u * one
        terms = [t.component(q) for t in self._copied(wish)]
        k_squared, most = (
            reg(squared("place")) - 2 * offset * u * reg("place") + offset * offset * u * u * one,
            self.places * self.unit,
        )
        rest = Term(one, Fraction(1), Fraction(1), k_squared, most**2, u * u, -self.lead / u**2)
        lookup = Lookup(prefer=nearest_to(self.whole(reg("place")), self.whole(wish), self.lead))
        return Head(name, (*terms, rest.component(q)), reads, "Lemma C.13, in units", (ONE, PLACE), lookup)

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
        wish = self.places + self.far if prefer == "last" else 1 - self.far
        terms = [*self._equality(pairs, default=default), *self._towards(wish)]
        if default and prefer == "first":
            terms.append(self._default())
        components = tuple(term.component(self.fraction_bits) for term in terms)
        lookup = Lookup(
            tuple((self.whole(key), self.whole(query)) for key, query in sides(pairs)),
            self.mismatch,
            nearest_to(self.whole(reg("place")), wish * reg("one"), self.preference),
            exempt=default,
            penalty=self.default * reg("one") if default and prefer == "first" else None,
        )
        return Head(name, components, reads, "Lemmas C.15 to C.17, in units", (*equality_needs(pairs), PLACE), lookup)


PLACE = is_square(reg(squared("place")), reg("place"))


def places(scale: Scale) -> Gadget:
    """place := min(position, K)·u and its square, from a position of any size. Width 2."""
    k, u, position = scale.places, scale.unit, reg("position")
    short = k - position
    units = (
        Unit(short, u * Affine({}, Fraction(1)), {"place": -1}),
        Unit(short, u * u * (k + position), {squared("place"): -1}),
    )
    return Gadget("place = min(position, K)·u", units, {"place": k * u, squared("place"): k * k * u * u})

"""Checks inequalities between powers of two, their exponents and logarithms, for all large n, case by case.

Nothing of the project is imported but how to reject; whoever finds cases and inequalities is not trusted. A theorem is an object

    {"bits_of_bits": 7, "inequalities": [["-3 + 1*E + -1*n", ">="], …], "cases": [CASE, CASE]}

about each whole n whose bit length B has 7 bits or more: every n ≥ 2^63. Let E = 2^B, so that E/2 ≤ n ≤ E − 1; let B have 2v + r
bits, r = 0 or 1, and V = 2^v, so that 2^r·V²/2 ≤ B ≤ 2^r·V² − 1. The first case is of r = 0, the second of r = 1. A case is about
the n in a box: a least v, ends of B (polynomials of V and v) and ends of n (of E, B, V and v). It has

- "shown": numbers of inequalities, a polynomial > or >= 0, that hold for each n of the case. Polynomials are sums of numbers times
  powers, as 3 + -1/4*n^2*E^-1; f0, f1, … are any numbers from 0 to 1. Or [number, i, factor]: the inequality follows from
  the i-th answer on the way to this case, which is a polynomial that is ≥ 0, times the factor, which is ≥ 0.
- "split" and two "parts", or neither. "v": the least v alone, and those above. Else a question: {"of": "n" or "B", "question":
  inequality, "from": a, "to": b, "rises": true}, and the parts are about the n of which it is true and about the others. The first
  have n ≥ a, the others n ≤ b; the other way round if it does not rise. That it is false for n < a, and true for n > b, is shown;
  as n is whole, n < a means n ≤ a − 1/m, where m·a has whole coefficients.

Inequalities are shown for all real B and n in the box, E = 2^B, by these rules:

1. E and V are positive: a power of them is multiplied by, until no power is negative.
2. A polynomial of n, low ≤ n ≤ high, is not below the least of its Bernstein coefficients, without n. So for B and each f.
3. Of c_d·E^d + … + c_0: let h_i be a number that c_i + h_{i+1}·M_i is not below, h_{d+1} = 0, and none but h_0 be negative.
   If E ≥ M_i ≥ 0, then by induction c_d·E^(d−i) + … + c_i ≥ h_i. M is B^k·2^b/b^k, for a whole b ≥ 2k that B is not below: 2^B/B^k
   rises from B = k/ln 2 on.
4. With v = v0 + t and V = 2^v0·(1 + t + u), both t and u are ≥ 0, as 2^t ≥ 1 + t. A polynomial of t and u of which no coefficient
   but its constant is negative is not below that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache, reduce
from typing import Any

from verify.trusted.rejection import Rejected, reject

Monomial = tuple[tuple[str, int], ...]  # (symbol, power), in order, no power 0
Polynomial = dict[Monomial, int | Fraction]  # ints where they are whole: those calculate ten times as fast
Bernstein = tuple[list[Polynomial], int]  # coefficients, times a number
SYMBOLS = frozenset(("B", "E", "V", "n", "v"))
KNOWN = {"B": {"V", "v"}, "n": {"E", "B", "V", "v"}}  # what the ends may depend on
OPPOSITE = {">": ">=", ">=": ">"}
MOST_POWER = 40
ENOUGH = 64  # a bit length from which on 2^B is far above the powers of B that are met; a larger one makes long numbers


def number(value: int | Fraction) -> Polynomial:
    return {(): value} if value else {}


def symbol(name: str) -> Polynomial:
    return {((name, 1),): 1}


def plus(first: Polynomial, second: Polynomial, factor: int | Fraction = 1) -> Polynomial:
    return add(dict(first), second, factor)


def add(result: Polynomial, second: Polynomial, factor: int | Fraction = 1) -> Polynomial:
    """Adds a multiple of `second` to `result` in place."""
    for monomial, c in second.items():
        total = result.get(monomial, 0) + (c if factor == 1 else factor * c)
        if total:
            result[monomial] = total.numerator if total.denominator == 1 else total
        else:
            result.pop(monomial, None)
    return result


@cache
def multiplied(one: Monomial, other: Monomial) -> Monomial:
    powers = dict(one)
    for name, power in other:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def times(first: Polynomial, second: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for one, a in first.items():
        add(result, {multiplied(one, other): b for other, b in second.items()}, a)
    return result


def powers_of(polynomial: Polynomial, most: int) -> list[Polynomial]:
    return [*itertools.accumulate([polynomial] * most, times, initial=number(1))]


def by_power(polynomial: Polynomial, name: str) -> list[Polynomial]:
    """c_0, c_1, … with polynomial = Σ c_i·name^i."""
    found: list[Polynomial] = [{}]
    for monomial, c in polynomial.items():
        power = next((power for own, power in monomial if own == name), 0)
        if not 0 <= power <= MOST_POWER:
            reject(f"{name} has the power {power}")
        found += [{} for _ in range(power + 1 - len(found))]
        found[power][tuple(item for item in monomial if item[0] != name) if power else monomial] = c
    return found


def names_of(polynomial: Polynomial) -> set[str]:
    return {name for monomial in polynomial for name, _ in monomial}


def bernstein(polynomial: Polynomial, name: str, low: Polynomial, high: Polynomial, degree: int = 0) -> Bernstein:
    """Bernstein coefficients on [low, high], times a number: of name^k at the i-th, the mean of its products of k such ends."""
    parts = by_power(polynomial, name)
    if not (degree := max(degree, len(parts) - 1)):
        return parts, 1
    d = math.lcm(*(c.denominator for end in (low, high) for c in end.values()))
    lows, highs = (powers_of(times(end, number(d)), degree) for end in (low, high))
    common = math.lcm(*(math.comb(degree, k) for k in range(degree + 1)))
    found: list[Polynomial] = [{} for _ in range(degree + 1)]
    for k, part in enumerate(parts):
        for j in range(k + 1) if part else ():
            product = times(part, times(highs[j], lows[k - j]))
            weight = common // math.comb(degree, k) * d ** (degree - k)
            for i in range(j, degree - k + j + 1):
                add(found[i], product, weight * math.comb(i, j) * math.comb(degree - i, k - j))
    return found, common * d**degree


@dataclass(frozen=True, eq=False)
class Box:
    """v ≥ start, or just that if it is fixed; the ends of B and of n; what is ≥ 0 by the answers to questions."""

    start: int
    ends: Mapping[str, tuple[Polynomial, Polynomial]]
    fixed: bool = False
    answers: tuple[Polynomial, ...] = ()

    def within(self, name: str, low: Polynomial | None, high: Polynomial | None) -> Box:
        """Returns the box with another end, or two."""
        ends = [old if new is None else new for old, new in zip(self.ends[name], (low, high), strict=True)]
        return replace(self, ends={**self.ends, name: (ends[0], ends[1])})

    @cached_property
    def least_exponent(self) -> int:
        """A whole number that B is not below."""
        return max(0, math.floor(self._of_v(self.ends["B"][0])))

    def shows(self, polynomial: Polynomial, relation: str) -> bool:
        """Returns whether the polynomial is > 0, or >= 0, everywhere in the box."""
        found = min(map(self._of_E, bernstein(cleared(polynomial), "n", *self.ends["n"])[0]))
        return found > 0 if relation == ">" else found >= 0

    def _of_E(self, polynomial: Polynomial) -> Fraction:
        """Returns a number that the polynomial is nowhere below, by rule 3; a negative one says nothing."""
        h = Fraction(0)
        for part in reversed(by_power(polynomial, "E")):
            if h < 0:
                return h
            k = growth(part) if h else 0
            b = min(self.least_exponent, max(ENOUGH, 2 * k))
            if b < 2 * k:
                return Fraction(-1)
            scale = h.denominator * b**k
            part = add({(("B", k),) if k else (): h.numerator << b}, part, scale) if h else part
            h = self._of_B(part, scale)
        return h

    def _of_B(self, polynomial: Polynomial, scale: int) -> Fraction:
        """Returns the same of the polynomial without E, divided by scale."""
        if polynomial.keys() <= {()}:  # as most are
            return Fraction(polynomial.get((), 0), scale)
        parts = [(polynomial, scale)]
        for name in sorted(names_of(polynomial) - SYMBOLS):  # of what is rounded down
            coefficients = [(bernstein(part, name, {}, number(1)), scale) for part, scale in parts]
            parts = [(one, scale * more) for (found, more), scale in coefficients for one in found]
        return min(self._of_v(*part) for part in parts)

    def _of_v(self, polynomial: Polynomial, scale: int = 1) -> Fraction:
        """Returns the same, by rule 4, of the Bernstein coefficients of a polynomial of B, V and v."""
        degree, more = max((power for m in polynomial for name, power in m if name == "B"), default=0), 1
        totals: list[Polynomial] = [{} for _ in range(degree + 1)]
        for monomial, c in polynomial.items():
            coefficients, more = grown(self, degree, monomial)
            for total, one in zip(totals, coefficients, strict=True):
                add(total, one, c)
        if any(c < 0 for total in totals for monomial, c in total.items() if monomial):
            return Fraction(-1)
        return Fraction(min(total.get((), 0) for total in totals), scale * more)


@lru_cache(1 << 16)
def grown(box: Box, degree: int, monomial: Monomial) -> Bernstein:
    """Returns a power of B, V and v at each Bernstein coefficient of that degree, by t and u; times a number."""
    found, scale = bernstein({monomial: 1}, "B", *box.ends["B"], degree)
    if any(name not in ("V", "v") or power < 0 for part in found for m in part for name, power in m):
        reject("the ends of B depend on more than V and v")
    t, u = ({}, {}) if box.fixed else (symbol("t"), symbol("u"))  # which are 0 if v is fixed
    factors = {"V": times(number(1 << box.start), plus(number(1), plus(t, u))), "v": plus(number(box.start), t)}
    powers = cache(lambda m: reduce(times, (powers_of(factors[name], k)[-1] for name, k in m), number(1)))
    return [reduce(plus, (times(number(c), powers(m)) for m, c in part.items()), {}) for part in found], scale


def cleared(polynomial: Polynomial) -> Polynomial:
    """Times a number, and the powers of E and V, with which it has integers and no negative powers of these."""
    scale = math.lcm(*(c.denominator for c in polynomial.values()))
    powers = {name: min((dict(monomial).get(name, 0) for monomial in polynomial), default=0) for name in ("E", "V")}
    return times(polynomial, {tuple((name, -power) for name, power in powers.items() if power < 0): scale})


def growth(polynomial: Polynomial) -> int:
    """Returns a power of B that its terms do not outgrow: V² is at most 2B."""
    weights = (sum({"B": 2, "V": 1, "v": 1}.get(name, 0) * power for name, power in m) for m in polynomial)
    return max((-(-weight // 2) for weight in weights), default=0)


def root(bits_of_bits: int, r: int | None) -> Box:
    """Returns all n that have this r; None: a box that has those of both.

    Of both, let v0 be the least v. If bits_of_bits is even, B ≥ V²/2. If it is odd, B ≥ 2^v0·V: with v = v0 only r = 1 is left, so
    B ≥ V²; with v > v0, V ≥ 2·2^v0 and B ≥ V²/2.
    """
    start = (bits_of_bits - (r != 0) + 1) // 2
    if r is None:
        least, most = f"{1 << start}*V" if bits_of_bits % 2 else "1/2*V^2", "2*V^2 + -1"
    else:
        least, most = f"{Fraction(1 << r, 2)}*V^2", f"{1 << r}*V^2 + -1"
    return Box(start, {"B": (parsed(least), parsed(most)), "n": (parsed("1/2*E"), parsed("1*E + -1"))})


def parsed(text: str) -> Polynomial:
    """-3 + 1/2*n*E^-1 as a polynomial; each term begins with its coefficient."""
    result: Polynomial = {}
    for term in text.split(" + "):
        c, *factors = term.split("*")
        powers: Monomial = ()
        for factor in factors:
            name, _, power = factor.partition("^")
            if name not in SYMBOLS and not (name[:1] == "f" and name[1:].isdecimal()):
                reject(f"no symbol is called {name}")
            powers = multiplied(powers, ((name, k),) if (k := int(power or "1")) else ())
        if any(abs(power) > MOST_POWER for _, power in powers):
            reject(f"a large power in {term}")
        result = plus(result, {powers: Fraction(*map(int, c.split("/")))})
    return result


def check(theorem: Any, proof: Any) -> None:
    """Returns if the theorem is shown; its proof has nothing to say, {}. Raises Rejected, whatever both of them are."""
    try:
        if set(theorem) != {"bits_of_bits", "inequalities", "cases"} or proof != {}:
            reject("a theorem has bits_of_bits, inequalities and cases; its proof is {}")
        inequalities = [(parsed(text), how) for text, how in theorem["inequalities"]]
        if type(bits_of_bits := theorem["bits_of_bits"]) is not int or not 2 <= bits_of_bits <= 64:
            reject("B has from 2 to 64 bits at least")
        cases = zip((0, 1), theorem["cases"], strict=True)
        shown = {i for r, case in cases for i in checked(case, root(bits_of_bits, r), inequalities)}
        if shown != set(range(len(inequalities))):
            reject("some inequalities are shown nowhere")
    except Rejected:
        raise
    except Exception as error:  # of data that is no theorem
        raise Rejected(f"malformed: {type(error).__name__}: {error}") from error


def checked(case: Any, box: Box, inequalities: Sequence[tuple[Polynomial, str]]) -> Iterator[int]:
    """Yields the numbers of the inequalities that this case and its parts show."""
    for item in case["shown"]:
        place, *by = item if isinstance(item, list) else [item]
        polynomial, relation = inequalities[place]
        if by:
            answer, factor = box.answers[by[0]], parsed(by[1])
            require(box, factor, ">=")
            polynomial = plus(polynomial, times(factor, answer), -1)
        require(box, polynomial, relation)
        yield place
    if set(case) != {"shown"}:
        boxes = by_exponent(box) if case["split"] == "v" else parts_of(box, case["split"])
        for part, inside in zip(case["parts"], boxes, strict=True):
            yield from checked(part, inside, inequalities)


def by_exponent(box: Box) -> tuple[Box, Box]:
    """Returns the box with its least v alone, and with all others."""
    return replace(box, fixed=True), replace(box, start=box.start + 1)


def parts_of(box: Box, question: Any) -> tuple[Box, Box]:
    """Splits by a question: where it is true, and where not. Raises Rejected unless each n of the box is in the right part."""
    of, rises, start, end = question["of"], question["rises"], parsed(question["from"]), parsed(question["to"])
    polynomial, relation = parsed(question["question"][0]), question["question"][1]
    if (names_of(start) | names_of(end)) - KNOWN[of]:
        reject(f"the ends of {of} depend on more than {', '.join(sorted(KNOWN[of]))}")
    yes, no = (polynomial, relation), (times(polynomial, number(-1)), OPPOSITE[relation])
    require(box.within(of, None, plus(start, step_of(start), -1)), *(no if rises else yes))
    require(box.within(of, plus(end, step_of(end)), None), *(yes if rises else no))
    for_yes, for_no = (box.within(of, start, None), box.within(of, None, end))[:: 1 if rises else -1]
    return replace(for_yes, answers=(*box.answers, yes[0])), replace(for_no, answers=(*box.answers, no[0]))


def step_of(end: Polynomial) -> Polynomial:
    """Returns how far a whole number is from an end that it is not, at least."""
    if any(power < 0 for monomial in end for _, power in monomial):
        reject("an end has a negative power")
    return number(Fraction(1, math.lcm(*(c.denominator for c in end.values()))))


def require(box: Box, polynomial: Polynomial, relation: str) -> None:
    if relation not in OPPOSITE or not box.shows(polynomial, relation):
        reject(f"not shown: {polynomial} {relation} 0")

"""Which word has the largest logit: the answer as a program."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from constructions.language.terms import (
    ZERO,
    Above,
    Answer,
    Back,
    Digits,
    Equal,
    If,
    Read,
    Reciprocal,
    Say,
    SayNumber,
    Term,
    as_term,
    fraction,
    term,
)
from verify.algebra.domains import Undecided
from verify.algebra.polynomial import is_whole
from verify.algebra.symbolic import common_divisor, nearest, span
from verify.programs.forms import alone, as_atom, expanded
from verify.programs.normal import Normalizer
from verify.programs.units import MOST_EXCEPTIONS
from verify.rounding.model import ExactModel

WHERE = "the output head"
MOST_CORNERS = 3  # atoms of a polynomial that is looked at in every corner


def normal_answer(answer: Answer, normal: Normalizer) -> Answer:
    """Returns the answer with every term in normal form, in each branch by the facts that hold there."""
    match answer:
        case If(bit, then, otherwise):
            normal_bit = normal.term(bit)
            if normal_bit.is_constant:
                return normal_answer(then if normal_bit.constant else otherwise, normal)
            then, otherwise = normal_answer(then, normal), normal_answer(otherwise, normal)
            return If(normal_bit, then, otherwise) if then != otherwise else then
        case SayNumber(number, family):
            return SayNumber(normal.term(number), family)
    return answer


def answer_of(model: ExactModel, registers: Mapping[int, Term], normal: Normalizer) -> Answer:
    """Returns the word with the largest logit at these states. Raises Undecided if no rule tells it, or if two may tie."""
    numbers: dict[str, tuple[Term, Term, Term]] = {}
    for family, rows in model.families.items():
        powers = [ZERO, ZERO, ZERO]
        for i, polynomial in rows.rows.items():
            for monomial, c in polynomial.terms.items():
                if len(monomial) > 2:
                    raise Undecided(WHERE, "an embedding is no quadratic polynomial of a number")
                powers[len(monomial)] += registers.get(i, ZERO) * c
        numbers[family] = (normal.term(powers[0]), normal.term(powers[1]), normal.term(powers[2]))
    words = {
        word: normal.term(sum((registers[i] * fraction(w) for i, w in row if i in registers), ZERO))
        for word, row in model.specials.items()
    }
    return _Logits(model, numbers, words).answer(normal)


@dataclass(frozen=True)
class _Logits:
    """Number v of a family has a + b·v + c·v²; words have terms."""

    model: ExactModel
    numbers: Mapping[str, tuple[Term, Term, Term]]
    words: Mapping[str, Term]

    def answer(self, normal: Normalizer) -> Answer:
        """Returns the largest one."""
        best: dict[Say | SayNumber, Term] = {Say(word): logit for word, logit in self.words.items()}
        if (parabola := self._one_parabola(normal)) is not None:
            return self._of_digits(parabola, best, normal)
        for family, (shared, slope, bend) in self.numbers.items():
            low, high = self.model.families[family].low, self.model.families[family].high
            if bend == ZERO and low <= high <= low + 1:  # 0 at both: v² − (low + high)·v + low·high
                shared, slope, bend = shared - low * high, slope + (low + high), as_term(-1)
            counted = _spelled_count(shared, slope, bend)
            if counted is None and (not bend.is_constant or bend.constant > 0 or (bend == ZERO and slope != ZERO)):
                if (few := self._of_few(normal)) is not None:
                    return few
                raise Undecided(WHERE, f"the logits of numbers are not a parabola: {bend.order}")
            if bend == ZERO:
                best[Say(f"a number {family}".strip())] = shared
                continue
            top = counted[0] if counted else slope * (-1 / (2 * bend.constant))
            (least, most), (low_end, high_end) = map(normal.facts.bounds, (top, normal.term(expanded(top))))
            corners = at_corners(top, normal)
            least, most = max(least, low_end, corners[0]), min(most, high_end, corners[1])
            if low == high or most < low or least > high:  # the number that is nearest to the top
                end = high if least > high else low
                best[SayNumber(as_term(end), family)] = shared + slope * end + bend * (end * end)
                continue
            if not normal.facts.is_integer(top):
                raise Undecided(WHERE, f"the parabola's top is no integer: {top.order}")
            if least < low <= most and len(self.numbers) == 1:
                return self._split(top, low, normal)
            atom = as_atom("top", top)  # so that its square is bounded as that of one number
            largest = counted[1] if counted else shared - atom * atom * bend.constant
            if low <= least and most <= high:
                best[SayNumber(top, family)] = largest
            else:  # which one is not known, but how large its logit is at most
                of = f"a number {family}".strip()
                best[Say(f"{of} from {least} to {most}, where the texts have {low} to {high}")] = largest
        return self._largest({say: normal.normalised(logit) for say, logit in best.items()}, normal)

    def _split(self, top: Term, low: int, normal: Normalizer) -> Answer:
        """Returns the number to say may be one below the least: apart from the others, if it is an atom."""
        ((monomial, c),) = top.items if len(top.items) == 1 else (((), Fraction(0)),)
        least, most = normal.facts.bounds(top)
        if len(monomial) != 1 or c != 1 or least != low - 1:
            raise Undecided(WHERE, f"the number to say may be below {low}, and no rule takes it apart: {top.order}")
        answers = [self._where(normal.knowing(monomial[0], *ends)) for ends in ((least, least), (fraction(low), most))]
        return If(as_term(Equal(top, least)), *answers)

    def _where(self, part: Normalizer) -> Answer:
        """Returns the largest one where more is known."""
        numbers = {f: (part.term(a), part.term(b), part.term(c)) for f, (a, b, c) in self.numbers.items()}
        return _Logits(self.model, numbers, {w: part.term(t) for w, t in self.words.items()}).answer(part)

    def _of_few(self, normal: Normalizer) -> Answer | None:
        """Returns what is said where the logits depend on which of a few numbers one integer x is: one answer, or x + c; else
        None.
        """
        terms = (*self.words.values(), *itertools.chain.from_iterable(self.numbers.values()))
        compared = {a.of for value in terms for a in value.atoms if isinstance(a, Equal)}
        x = alone(next(iter(compared))) if len(compared) == 1 else None
        if x is None or not normal.facts.is_integer(as_term(x)):
            return None
        low, high = normal.facts.bounds(as_term(x))
        if not (type(low) is type(high) is Fraction) or not 0 < high - low <= MOST_EXCEPTIONS:
            return None  # numbers of n are not listed
        values = [fraction(value) for value in span(math.ceil(low), math.floor(high))]
        answers = [self._where(normal.knowing(x, value, value)) for value in values]
        if len({*answers}) == 1:
            return answers[0]
        said = {
            replace(a, number=a.number - value) if isinstance(a, SayNumber) else a
            for a, value in zip(answers, values, strict=True)
        }
        (line, *others) = said
        return replace(line, number=line.number + as_term(x)) if isinstance(line, SayNumber) and not others else None

    def _one_parabola(self, normal: Normalizer) -> tuple[Term, Term, Term] | None:
        """Returns a, b, c if the logit of every number v is a + b·v + c·v², c < 0, and no number is in two families; else None."""
        ends = sorted((rows.low, rows.high) for rows in self.model.families.values())
        if len(ends) < 2 or any(high >= low for (_, high), (low, _) in itertools.pairwise(ends)):
            return None
        points: dict[int, Term] = {}  # three of a family tell it
        for family, (shared, slope, bend) in self.numbers.items():
            low, high = self.model.families[family].low, self.model.families[family].high
            points |= {v: shared + slope * v + bend * (v * v) for v in range(low, min(low + 2, high) + 1)}
        if len(points) < 3:
            return None
        (u, at_u), (v, at_v), (w, at_w) = list(points.items())[:3]
        chord = (at_v - at_u) * Fraction(1, v - u)
        bend = normal.normalised(((at_w - at_v) * Fraction(1, w - v) - chord) * Fraction(1, w - u))
        slope = normal.normalised(chord - bend * (u + v))
        shared = normal.normalised(at_u - slope * u - bend * (u * u))
        same = all(normal.normalised(shared + slope * x + bend * (x * x) - y) == ZERO for x, y in points.items())
        return (shared, slope, bend) if same and bend.is_constant and bend.constant < 0 else None

    def _of_digits(
        self, parabola: tuple[Term, Term, Term], best: Mapping[Say | SayNumber, Term], normal: Normalizer
    ) -> Answer:
        """Returns where all numbers have one parabola: the one next to its top, if this is the front of a queue and little more."""
        shared, slope, bend = parabola
        top = slope * (-1 / (2 * bend.constant))
        front, rest = (normal.term(part) for part in _in_front(top))
        (low, high), near = normal.facts.bounds(rest), Fraction(1, 2)
        if not (normal.facts.is_integer(front) and -near < low <= high < near):
            raise Undecided(WHERE, f"no rule tells which number is next to the parabola's top: {top.order}")
        least, most = normal.facts.bounds(front)
        families = self.model.families.items()
        family = next((f for f, rows in families if rows.low <= least and most <= rows.high), None)
        say = Say("a number") if family is None else SayNumber(front, family)
        atom, first = as_atom("top", top), min(rows.low for _, rows in families)
        at_least = shared + slope * first + bend * (first * first)  # the nearest one has no less
        return self._largest({**best, say: shared - atom * atom * bend.constant}, normal, {say: at_least})

    def _largest(
        self, best: Mapping[Say | SayNumber, Term], normal: Normalizer, at_least: Mapping[Say | SayNumber, Term] = {}
    ) -> Answer:
        """Returns the largest of these logits, or of upper bounds of them. at_least: lower bounds, where they are not the same."""

        def beats(say: Say | SayNumber, positive: Term = ZERO) -> bool:
            """Returns whether its logit is above all others, where `positive` is above 0."""
            for other in (logit for it, logit in best.items() if it != say):
                margin = normal.normalised(at_least.get(say, best[say]) - other)
                if normal.facts.bounds(margin)[0] > 0:
                    continue
                if not (positive.items and margin.items and _is_share(margin, positive)):
                    return False
            return True

        for say in best:
            if beats(say):
                return self._sayable(say)
        if len(open_ones := [say for say, logit in best.items() if not logit.is_constant]) == 2:
            then, otherwise = open_ones
            margin = normal.normalised(best[then] - best[otherwise])
            bit = _sign(margin, normal)
            if bit is not None and beats(then, margin) and beats(otherwise, margin * -1):
                return If(bit, self._sayable(then), self._sayable(otherwise))
        raise Undecided(WHERE, "no rule tells which logit is the largest")

    def _sayable(self, say: Say | SayNumber) -> Say | SayNumber:
        if isinstance(say, Say) and say.word not in self.words:
            raise Undecided(WHERE, f"{say.word}, but which one is not known")
        return say


def _spelled_count(shared: Term, slope: Term, bend: Term) -> tuple[Term, Term] | None:
    """Returns the number of largest logit and that logit, if the logits output a count; else None.

    With an integer t ≥ 1 and an integer w = v + b, number v has s·(2·w − w²/t) + rest = s·t + rest − s·(w − t)²/t.
    """
    ((monomial, c), *others) = bend.items or (((), Fraction(0)),)
    if others or len(monomial) != 1 or not isinstance(monomial[0], Reciprocal) or c >= 0:
        return None
    share, t, s = as_term(monomial[0]), monomial[0].of, -c
    b = next((factor for m, factor in slope.items if m == monomial), Fraction(0)) / (-2 * s)
    rest = shared - 2 * s * b + share * (s * b * b)
    if slope != as_term(2 * s) - share * (2 * s * b) or not is_whole(b) or monomial[0] in rest.atoms:
        return None
    return t - b, rest + t * s


def at_corners(value: Term, normal: Normalizer) -> tuple[Fraction, Fraction]:
    """Returns bounds of a polynomial without squares of atoms: it is largest and least at corners of its atoms' bounds."""
    atoms = sorted(value.atoms, key=lambda a: a.order)
    ends = [normal.facts.bounds(as_term(a)) for a in atoms]
    numbers = (end for of in (*ends, *((c,) for _, c in value.items)) for end in of)
    if len(atoms) > MOST_CORNERS or any(len({*monomial}) < len(monomial) for monomial, _ in value.items):
        return normal.facts.bounds(value)
    if not all(type(number) in (int, Fraction) for number in numbers):  # a comparison of numbers of n cuts the interval
        return normal.facts.bounds(value)
    values = []
    for corner in itertools.product(*ends):
        at = dict(zip(atoms, corner, strict=True))
        values.append(sum((c * math.prod(at[a] for a in monomial) for monomial, c in value.items), Fraction(0)))
    return min(values), max(values)


def _is_share(one: Term, other: Term) -> bool:
    """Returns whether it is the other one times a positive number; neither is 0. Multiplied out, as a quotient may be no number
    here.
    """
    a, b = one.items[0][1], other.items[0][1]
    return a * b > 0 and one * b == other * a


def _sign(value: Term, normal: Normalizer) -> Term | None:
    """Returns a bit that is 1 where the value is above 0, and it is below 0 elsewhere; None if that is not seen.

    With 1/t times t ≥ 1, the value is a·F + δ, F an integer. If −a < δ < 0, it is above 0 if and only if F is, and never 0.
    """
    divisors = {a.of for a in value.atoms if isinstance(a, Reciprocal)}
    if len(divisors) > 1:
        return None
    whole = value
    for divisor in divisors:
        numerators = [(tuple(a for a in m if not isinstance(a, Reciprocal)), c) for m, c in value.items if _divide(m)]
        whole = term(numerators) + term((m, c) for m, c in value.items if not _divide(m)) * divisor
    near = term((m, c if is_whole(c) else nearest(c)) for m, c in whole.items)
    if near.is_constant:
        return None
    scale = common_divisor(c for _, c in near.items)
    form = near * (1 / scale)
    if not normal.facts.is_integer(form):
        return None
    low, high = normal.facts.bounds(whole - near)
    if -scale < low <= high < 0:
        return as_term(Above(form))
    if 0 < low <= high < scale:
        return as_term(Above(form + 1))
    return None


def _divide(monomial: tuple[object, ...]) -> bool:
    return sum(isinstance(a, Reciprocal) for a in monomial) == 1


def _in_front(top: Term) -> tuple[Term, Term]:
    """Returns the digits in front of the queues in it, and the rest."""
    front, rest = ZERO, top
    for monomial, c in top.items:
        if len(monomial) == 1 and isinstance(a := monomial[0], Digits):
            digit = as_term(Read(a.of, Back(a.count - 1))) if a.count > 1 else a.of
            behind = as_term(Digits(a.of, a.base, a.count - 1)) if a.count > 1 else ZERO
            front = front + digit * (c * a.base ** (a.count - 1))
            rest = rest + (behind - as_term(a)) * c
    return front, rest

"""The output head: the two readings choose the same token.

A count is said by these logits of the numbers v: s·(2·w − r·w²) + t, with w = v + b, r = ROUND(1/m) and s > 0. From v to v + 1
they change by s·D, D = 2 − r·(2·w + 1). Ideally D is z/m with the odd number z = 2·m − 2·w − 1. Rounded, it is away from that by at
most |2·w + 1|·ε/2 ≤ (2·m + |z|)·ε/2, ε the step. That is less than |z|/m for every z if it is for |z| = 1, so if m·(2·m + 1)·ε < 2.
Then the logits rise up to w = m and fall behind it in both readings, and one number has the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from verify.algebra.domains import Integer, Reciprocal, Refused, Undecided, with_fields
from verify.algebra.polynomial import (
    Polynomial,
    atom,
    constant,
    decimal,
    form_polynomial,
    is_whole,
    quotient,
    total,
)
from verify.algebra.symbolic import at_most, grows
from verify.rounding.abstract_state import AbstractState
from verify.rounding.model import NUMBER, ExactModel
from verify.rounding.rows import as_polynomial

WHERE = "the output head"
FEW = 64  # shares 1/m that are looked at, one by one


@dataclass(frozen=True)
class Logit:
    """A token's logit. cut: the most that it is where a partial sum is below the least number of the format, if one may be."""

    exact: Polynomial
    cut: Fraction | None = None


def require_same_argmax(state: AbstractState, model: ExactModel, fused: bool) -> None:
    """Raises Refused or Undecided unless the argmax, the first of equals, is the same in both readings at this state.

    Logits without an inexact atom are the same numbers in both. Where one has them, its difference to every other logit must have
    the same sign in both, never 0.
    """

    def again(part: AbstractState) -> None:
        require_same_argmax(part, model, fused)

    state = state.with_registers({i: _by_forms(state, p) for i, p in state.registers.items() if not p.is_affine})
    logit_of: dict[str, Logit] = {}
    least: dict[str, Polynomial] = {}  # of the atom that stands for the numbers of a family, the least one
    for family, numbers in model.families.items():
        number = state.space.fresh("v")
        least[number] = constant(numbers.low)
        state = with_fields(state, box={**state.box, number: Integer(numbers.low, numbers.high)})
        rows = {i: p.substitute({NUMBER: atom(number)}) for i, p in numbers.rows.items()}
        logit_of[f"{family or 'number'} {NUMBER}"] = _logit(state, rows, fused)
    of_numbers = set(logit_of)
    for word, row in model.specials.items():
        logit_of[word] = _logit(state, {i: as_polynomial(w) for i, w in row}, fused)
    _refuse_cut(state, list(logit_of.values()))
    logits = {word: logit.exact for word, logit in logit_of.items()}
    inexact = [word for word, logit in logits.items() if _is_inexact(state, logit)]
    if of_numbers.intersection(inexact):
        if len(least) > 1 or len(inexact) > 1:
            raise Undecided(WHERE, f"the logits of numbers at {state.label} are inexact, and so are others")
        ((number, low),) = least.items()
        _require_same_count(state, number, low, logits.pop(inexact[0]), logits.values())
        return
    for word in inexact:
        for other, logit in _unlike({other: logit for other, logit in logits.items() if other != word}):
            _decide(state, logits[word] - logit, f"{WHERE}, {word} against {other}", again)


def _unlike(logits: Mapping[str, Polynomial]) -> Iterator[tuple[str, Polynomial]]:
    """Yields the first word of each logit, as far as numbers tell: those that grow with n are not compared for it."""
    known: set[object] = set()
    for word, logit in logits.items():
        key = word if any(map(grows, logit.terms.values())) else frozenset(logit.terms.items())
        if key not in known:
            known.add(key)
            yield word, logit


def _by_forms(state: AbstractState, value: Polynomial) -> Polynomial:
    """Returns the same with one atom less for each form that is one number: so a share times a bit is seen to be the share."""
    for form, (low, high) in state.forms.items():
        if low == high:
            (name, factor), *others = form
            rest = form_polynomial(tuple(others))
            value = value.substitute({name: (constant(low) - rest) * quotient(1, factor)})
    return value


def _logit(state: AbstractState, row: dict[int, Polynomial], fused: bool) -> Logit:
    """Raises Refused or Undecided if an operator of it may be rounded, or reach above the largest number."""
    terms = [state.register(i) * weight for i, weight in sorted(row.items())]
    if not fused:
        for term in terms:
            _exact(state, term)
    cuts: list[Fraction] = []
    for count in (len(terms),) if fused else range(1, len(terms) + 1):
        partial, largest = total(terms[:count]), state.space.largest
        least, most = state.reach(partial)
        if least < -largest and most <= largest and state.on_grid(partial) and not _is_inexact(state, partial):
            rest = (state.bounds(term)[1] for term in terms[count:])  # what is added to the least number
            cuts.append(sum((max(most, Fraction(0)) for most in rest), -largest))
        elif least < -largest or most > largest or not state.on_grid(partial):
            _exact(state, partial)
    return Logit(total(terms), max(cuts, default=None))


def _refuse_cut(state: AbstractState, logits: Sequence[Logit]) -> None:
    """Raises Refused or Undecided unless each logit that may be cut off is then below one that surely is not."""
    cuts = [logit.cut for logit in logits if logit.cut is not None]
    sure = (x.exact for x in logits if x.cut is None and not _is_inexact(state, x.exact))
    if cuts and not any(state.bounds(logit)[0] > max(cuts) for logit in sure):
        for logit in logits:
            _exact(state, logit.exact)
        raise Undecided(WHERE, f"a partial sum of a logit of {state.label} may saturate")


def _exact(state: AbstractState, value: Polynomial) -> None:
    _, rounded = state.round(value, WHERE)
    if rounded != value:
        raise Undecided(WHERE, f"a logit of {state.label} is rounded")


def _is_inexact(state: AbstractState, value: Polynomial) -> bool:
    return any(state.integer(name) is None for name in value.atoms)


def _decide(state: AbstractState, difference: Polynomial, where: str, again: Callable[[AbstractState], None]) -> None:
    """Raises Refused or Undecided unless it has one sign in both readings. again: asks anew for all logits of a part."""
    low, high = state.bounds(difference)
    ideal_low, ideal_high = state.bounds(difference, ideal=True)
    if (low > 0 and ideal_low > 0) or (high < 0 and ideal_high < 0):
        return
    _refuse_where_they_differ(state, difference, where)
    for part in state.split(difference, where):
        if difference.atoms <= part.box.keys():
            _decide(part, difference.substitute(_fix(part, difference)), where, again)
        else:  # where an atom stands for no number any more, registers say what it was
            again(part)


def _refuse_where_they_differ(state: AbstractState, difference: Polynomial, where: str) -> None:
    """Raises Refused if c·A·ROUND(1/m) + d has another sign than c·A/m + d at one of the first m, with an A beside the root."""
    ratio = state.ratio(difference)
    if ratio is None or grows(state.space.steps):  # of numbers that grow, no first one is looked at
        return
    c, form, share = ratio
    index, d = state.index_of(share), difference.constant
    for m in range(index.low, min(index.high, index.low + FEW) + 1):
        one = state.restricted(atom(share.of), Fraction(m - share.shift), Fraction(m - share.shift))
        root = math.floor(-d * m / c)
        for a in range(root - 1, root + 3):
            rounded, ideal = c * a * state.space.reciprocal(m) + d, c * a * Fraction(1, m) + d
            differ = (rounded > 0, rounded < 0) != (ideal > 0, ideal < 0)
            if differ and one is not None and one.restricted(one.fixed(form), Fraction(a), Fraction(a)) is not None:
                raise Refused(
                    where, f"the logits of {state.label} differ by {rounded}, ideally by {ideal}, at a share of 1/{m}"
                )


def _require_same_count(
    state: AbstractState, number: str, low: Polynomial, logit: Polynomial, words: Iterable[Polynomial]
) -> None:
    """Raises Refused or Undecided unless a count is said, one number in both readings, and even the least one beats all words.

    number: the atom of which `logit` is that of each number, from `low` on. words: their logits, which are exact.
    """
    share, *others = (name for name in logit.atoms if state.integer(name) is None)
    domain = state.box[share]
    if others or not isinstance(domain, Reciprocal):
        raise Undecided(WHERE, f"the logits of numbers at {state.label} are inexact")
    parts = {power: logit.terms.get(tuple(sorted((share, *[number] * power))), Fraction(0)) for power in (1, 2)}
    if not parts[2] < 0:
        raise Undecided(WHERE, f"the logits of numbers at {state.label} are no parabola")
    w = atom(number) + constant(quotient(parts[1], 2 * parts[2]))
    rest = logit + (w * 2 - w * w * atom(share)) * parts[2]
    if not is_whole(w.constant) or rest.atoms & {number, share}:
        raise Undecided(WHERE, f"the logits of numbers at {state.label} say no count: {logit}")
    most, steps = state.index_of(domain).high, state.space.steps
    if not at_most(most * (2 * most + 1) + 1, 2 * steps):
        raise Refused(
            WHERE,
            f"a count up to {decimal(most)} that is said at {state.label} needs a finer step than 1/{decimal(steps)}",
        )
    for word in words:
        margin = logit.substitute({number: low}) - word
        if min(state.bounds(margin)[0], state.bounds(margin, ideal=True)[0]) <= 0:
            raise Undecided(WHERE, f"a word may beat the least number at {state.label}, which is no count then")


def _fix(part: AbstractState, difference: Polynomial) -> dict[str, Polynomial]:
    """Returns the atoms to which the split leaves one value, with that value."""
    fixed: dict[str, Polynomial] = {}
    for name in difference.atoms:
        domain = part.integer(name)
        if domain is not None and domain.low == domain.high:
            fixed[name] = constant(domain.low)
    return fixed

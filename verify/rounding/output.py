"""The output head: the two readings choose the same token."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from verify.algebra.domains import Integer, Refused, Undecided, with_fields
from verify.algebra.growing import Growing
from verify.algebra.polynomial import Polynomial, atom, constant, total
from verify.rounding.kinds import Kind
from verify.rounding.model import NUMBER, Model
from verify.rounding.rows import as_polynomial

WHERE = "the output head"
FEW = 64  # shares 1/m that are looked at, one by one


@dataclass(frozen=True)
class Logit:
    """A token's logit. cut: the most that it is where a partial sum is below the least number of the format, if one may be."""

    exact: Polynomial
    cut: Fraction | None = None


def settle_output(kind: Kind, model: Model, fused: bool) -> None:
    """Raises Refused or Undecided unless the argmax, the first of equals, is the same in both readings at this kind.

    Logits without an inexact atom are the same numbers in both. Where one has them, its difference to every other logit must have
    the same sign in both, never 0.
    """

    def again(part: Kind) -> None:
        settle_output(part, model, fused)

    logit_of: dict[str, Logit] = {}
    for family, numbers in model.families.items():
        number = kind.space.fresh("v")
        kind = with_fields(kind, box={**kind.box, number: Integer(numbers.low, numbers.high)})
        rows = {i: p.substitute({NUMBER: atom(number)}) for i, p in numbers.rows.items()}
        logit_of[f"{family or 'number'} {NUMBER}"] = _logit(kind, rows, fused)
    of_numbers = set(logit_of)
    for word, row in model.specials.items():
        logit_of[word] = _logit(kind, {i: as_polynomial(w) for i, w in row}, fused)
    _refuse_cut(kind, list(logit_of.values()))
    logits = {word: logit.exact for word, logit in logit_of.items()}
    inexact = [word for word, logit in logits.items() if _is_inexact(kind, logit)]
    if of_numbers.intersection(inexact):
        raise Undecided(WHERE, f"the logits of numbers at {kind.state} are inexact")
    for word in inexact:
        for other, logit in logits.items():
            if other != word:
                _decided(kind, logits[word] - logit, f"{WHERE}, {word} against {other}", again)


def _logit(kind: Kind, row: dict[int, Polynomial], fused: bool) -> Logit:
    """Raises Refused or Undecided if an operator of it may be rounded, or reach above the largest number."""
    terms = [kind.register(i) * weight for i, weight in sorted(row.items())]
    if not fused:
        for term in terms:
            _exact(kind, term)
    cuts: list[Fraction] = []
    for count in (len(terms),) if fused else range(1, len(terms) + 1):
        partial, largest = total(terms[:count]), kind.space.largest
        least, most = kind.reach(partial)
        if least < -largest and most <= largest and kind.on_grid(partial) and not _is_inexact(kind, partial):
            rest = (kind.bounds(term)[1] for term in terms[count:])  # what is added to the least number
            cuts.append(sum((max(most, Fraction(0)) for most in rest), -largest))
        elif least < -largest or most > largest or not kind.on_grid(partial):
            _exact(kind, partial)
    return Logit(total(terms), max(cuts, default=None))


def _refuse_cut(kind: Kind, logits: Sequence[Logit]) -> None:
    """Raises Refused or Undecided unless each logit that may be cut off is then below one that surely is not."""
    cuts = [logit.cut for logit in logits if logit.cut is not None]
    sure = (x.exact for x in logits if x.cut is None and not _is_inexact(kind, x.exact))
    if cuts and not any(kind.bounds(logit)[0] > max(cuts) for logit in sure):
        for logit in logits:
            _exact(kind, logit.exact)
        raise Undecided(WHERE, f"a partial sum of a logit of {kind.state} may saturate")


def _exact(kind: Kind, value: Polynomial) -> None:
    _, settled = kind.settle(value, WHERE)
    if settled != value:
        raise Undecided(WHERE, f"a logit of {kind.state} is rounded")


def _is_inexact(kind: Kind, value: Polynomial) -> bool:
    return any(kind.integer(name) is None for name in value.atoms)


def _decided(kind: Kind, difference: Polynomial, where: str, again: Callable[[Kind], None]) -> None:
    """Raises Refused or Undecided unless it has one sign in both readings. again: asks anew for all logits of a part."""
    low, high = kind.bounds(difference)
    ideal_low, ideal_high = kind.bounds(difference, ideal=True)
    if (low > 0 and ideal_low > 0) or (high < 0 and ideal_high < 0):
        return
    _refuse_where_they_differ(kind, difference, where)
    for part in kind.split(difference, where):
        if difference.atoms <= part.box.keys():
            _decided(part, difference.substitute(_fixed(part, difference)), where, again)
        else:  # where an atom stands for no number any more, registers say what it was
            again(part)


def _refuse_where_they_differ(kind: Kind, difference: Polynomial, where: str) -> None:
    """Raises Refused if c·A·ROUND(1/m) + d has another sign than c·A/m + d at one of the first m, with an A beside the root."""
    ratio = kind.ratio(difference)
    if ratio is None or isinstance(kind.space.steps, Growing):  # of numbers that grow, no first one is looked at
        return
    c, form, share = ratio
    index, d = kind.index_of(share), difference.constant
    for m in range(index.low, min(index.high, index.low + FEW) + 1):
        one = kind.restricted(atom(share.of), Fraction(m - share.shift), Fraction(m - share.shift))
        root = math.floor(-d * m / c)
        for a in range(root - 1, root + 3):
            rounded, ideal = c * a * kind.space.reciprocal(m) + d, c * a * Fraction(1, m) + d
            differ = (rounded > 0, rounded < 0) != (ideal > 0, ideal < 0)
            if differ and one is not None and one.restricted(one.fixed(form), Fraction(a), Fraction(a)) is not None:
                raise Refused(
                    where, f"the logits of {kind.state} differ by {rounded}, ideally by {ideal}, at a share of 1/{m}"
                )


def _fixed(part: Kind, difference: Polynomial) -> dict[str, Polynomial]:
    """Atoms that the split has given one value."""
    fixed: dict[str, Polynomial] = {}
    for name in difference.atoms:
        domain = part.integer(name)
        if domain is not None and domain.low == domain.high:
            fixed[name] = constant(domain.low)
    return fixed

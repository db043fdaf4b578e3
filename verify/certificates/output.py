"""The output head: the two readings choose the same token."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from verify.certificates.domains import Integer, Refused, Undecided
from verify.certificates.kinds import Kind
from verify.certificates.model import NUMBER, Model
from verify.certificates.polynomial import ZERO, Polynomial, atom
from verify.certificates.rows import as_polynomial
from verify.certificates.scores import complete_squares

WHERE = "the output head"
FEW = 64  # shares 1/m that are looked at, one by one


def settle_output(kind: Kind, model: Model, fused: bool) -> None:
    """Raises Refused or Undecided unless the argmax, the first of equals, is the same in both readings at this kind.

    Logits without an inexact atom are the same numbers in both. Where one has them, its difference to every other logit must have
    the same sign in both, never 0.
    """
    logits: dict[str, Polynomial] = {}
    for family, numbers in model.families.items():
        number = kind.space.fresh("v")
        kind = replace(kind, box={**kind.box, number: Integer(numbers.low, numbers.high)})
        rows = {i: p.substitute({NUMBER: atom(number)}) for i, p in numbers.rows.items()}
        logits[f"{family or 'number'} {NUMBER}"] = _logit(kind, rows, fused)
    of_numbers = set(logits)
    for word, row in model.specials.items():
        logits[word] = _logit(kind, {i: as_polynomial(w) for i, w in row}, fused)
    _representable(kind, logits, fused)
    inexact = [word for word, logit in logits.items() if _is_inexact(kind, logit)]
    if of_numbers.intersection(inexact):
        raise Undecided(WHERE, f"the logits of numbers at {kind.name} are inexact")
    for word in inexact:
        for other, logit in logits.items():
            if other != word:
                _decided(kind, logits[word] - logit, f"{WHERE}, {word} against {other}")


def _logit(kind: Kind, row: dict[int, Polynomial], fused: bool) -> Polynomial:
    result = ZERO
    for i, weight in sorted(row.items()):
        term = kind.register(i) * weight
        if not fused:
            _exact(kind, term)
            _exact(kind, result + term)
        result = result + term
    return result


def _representable(kind: Kind, logits: dict[str, Polynomial], fused: bool) -> None:
    """Raises Refused or Undecided unless every logit is as it is, or so low that it is cut off below one that is surely larger."""
    largest, low = kind.space.largest, []
    for logit in logits.values():
        least, most = kind.bounds(logit)
        cut = fused and least < -largest and most <= largest and kind.on_grid(logit) and not _is_inexact(kind, logit)
        if cut:
            low.append(logit)
        elif least < -largest or (most > largest and _top(kind, logit) > largest) or not kind.on_grid(logit):
            _exact(kind, logit)
    if low and all(
        logit in low or _is_inexact(kind, logit) or kind.bounds(logit)[0] <= -largest for logit in logits.values()
    ):
        _exact(kind, low[0])


def _top(kind: Kind, logit: Polynomial) -> Fraction:
    """An upper bound that knows of squares: 2v·i − i² is v² at most, though 2v·i may be twice that."""
    return complete_squares(kind, logit, sorted(logit.atoms)).upper(kind)


def _exact(kind: Kind, value: Polynomial) -> None:
    _, settled = kind.settle(value, WHERE)
    if settled != value:
        raise Undecided(WHERE, f"a logit of {kind.name} is rounded")


def _is_inexact(kind: Kind, value: Polynomial) -> bool:
    return any(kind.integer(name) is None for name in value.atoms)


def _decided(kind: Kind, difference: Polynomial, where: str) -> None:
    low, high = kind.bounds(difference)
    ideal_low, ideal_high = kind.bounds(difference, ideal=True)
    if (low > 0 and ideal_low > 0) or (high < 0 and ideal_high < 0):
        return
    _refuse_where_they_differ(kind, difference, where)
    for part in kind.split(difference, where):
        _decided(part, difference.substitute(_fixed(part, difference)), where)


def _refuse_where_they_differ(kind: Kind, difference: Polynomial, where: str) -> None:
    """Raises Refused if c·A·ROUND(1/m) + d has another sign than c·A/m + d at one of the first m, with an A beside the root."""
    found = kind.ratio(difference)
    if found is None:
        return
    c, form, share = found
    index, d = kind.index_of(share), difference.constant
    for m in range(index.low, min(index.high, index.low + FEW) + 1):
        one = kind.restricted(atom(share.of), Fraction(m - share.shift), Fraction(m - share.shift))
        root = math.floor(-d * m / c)
        for a in range(root - 1, root + 3):
            rounded, ideal = c * a * kind.space.reciprocal(m) + d, c * a * Fraction(1, m) + d
            differ = (rounded > 0, rounded < 0) != (ideal > 0, ideal < 0)
            if differ and one is not None and one.restricted(one.fixed(form), Fraction(a), Fraction(a)) is not None:
                raise Refused(
                    where, f"the logits of {kind.name} differ by {rounded}, ideally by {ideal}, at a share of 1/{m}"
                )


def _fixed(part: Kind, difference: Polynomial) -> dict[str, Polynomial]:
    """Atoms that the split has given one value."""
    fixed: dict[str, Polynomial] = {}
    for name in difference.atoms:
        domain = part.integer(name)
        if domain is not None and domain.low == domain.high:
            fixed[name] = Polynomial({(): Fraction(domain.low)})
    return fixed

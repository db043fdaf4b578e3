"""One check for many n: an interval in which every weight is the same number or the same affine form of n.

Powers of two, which grow with n, are the same in it; n itself is an atom of the model and of its inputs. That weights which agree
with their forms at the ends of an interval, beside them and in the middle do so at every n between is tested, not proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from verify.certificates.building import LEAST, Subject, between, build, compared, precision_of
from verify.certificates.document import Judged, certificate, judge
from verify.certificates.model import Model, at_size


@dataclass(frozen=True)
class Interval:
    """n from low to high have the same weights or forms of n, at the same p. digest: of these. compared: where that was seen.

    inputs_run: of the smallest n, whose inputs are all run.
    """

    low: int
    high: int
    precision_bits: int
    digest: str
    compared: list[int]
    judged: Judged
    inputs_run: int = 0


def intervals(subject: Subject, bits: int) -> Iterator[Interval]:
    """Covers all n from the subject's to 2^bits."""
    low, end = subject.n, 1 << bits
    while low < min(LEAST, end):
        yield _exhausted(replace(subject, n=low))
        low += 1
    while low <= end:
        high = reach(subject, low, end)
        model, inputs = between(subject, low, high)
        p = precision_of(replace(subject, n=low))
        yield Interval(low, high, p, model.digest, compared(low, high), judge(model, inputs))
        low = high + 1


def _exhausted(subject: Subject) -> Interval:
    n, made = subject.n, certificate(subject)
    judged = Judged(made["verdict"], made["where"], made["what"])
    return Interval(n, n, made["precision_bits"], made["weights_sha256"], [n], judged, made.get("inputs_run", 0))


def reach(subject: Subject, low: int, end: int) -> int:
    """The last n of the interval that starts at low: p is one, and the form that fits its first two sizes fits more."""
    found, form = precision_of(replace(subject, n=low)), _form(subject, low) if low < end else None
    if form is None:
        return low
    same = _last(low + 1, min(2 * low, end), lambda n: precision_of(replace(subject, n=n)) == found)
    high = _last(low + 1, same, partial(_fits, subject, form))
    return high if high > low + 1 else low  # two sizes lie on a line, whatever their weights


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The last one up to which it holds, as it does at low."""
    if holds(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _form(subject: Subject, low: int) -> Model | None:
    try:
        return between(subject, low, low + 1)[0]
    except ValueError:
        return None


def _fits(subject: Subject, form: Model, n: int) -> bool:
    return build(replace(subject, n=n))[0].layers == at_size(form, n).layers

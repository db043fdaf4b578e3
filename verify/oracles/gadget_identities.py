"""Lemmas C.1 to C.6: what the gadgets' units add up to, for all arguments, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from constructions.parts.gadgets import indicator, interval, linear_map, lookup, product, threshold
from constructions.wiring.affine import reg
from verify.framework.claim import Json
from verify.oracles.proofs import Shown, by_cases, text_of, theorem

MARGINS = 64
SPANS = 16


@dataclass(frozen=True)
class Identity:
    """range: what the theorems cover. limit: which instances, if not all. argued: what a person concludes, "" if nothing."""

    range: str
    limit: str = ""
    argued: str = ""


IDENTITIES: Mapping[str, Identity] = {
    "C.1": Identity("all real x and y, before rounding"),
    "C.2": Identity("all real x and y, before rounding", "the map 2x − 3y"),
    "C.3": Identity("all integers x and B, times any real f, before rounding"),
    "C.4": Identity(
        "each table with a single 1, before rounding",
        "two digits below 3",
        "Any table is a sum of multiples of these, and the units' weights are linear in the table.",
    ),
    "C.5": Identity("all real x and u, times any real f, before rounding", f"ε = 1, 1/2 … 2^−{MARGINS - 1}"),
    "C.6": Identity("all integers x and u ≤ v, times any real f, before rounding", f"v < u + {SPANS}"),
}


@cache
def identities(id: str) -> Sequence[Shown]:
    """Returns the theorems of a lemma, their left sides read off the gadget, with proofs."""
    made = {"C.1": _product, "C.2": _linear_map, "C.3": _indicator, "C.4": _lookup, "C.5": _threshold, "C.6": _interval}
    return [by_cases(stated) for stated in made[id]()]


def _product() -> list[Json]:
    gadget = product.product(reg("x"), reg("y"), {"out": 1})
    return [theorem(f"{text_of(gadget, 'out')} == x*y", x="real", y="real")]


def _linear_map() -> list[Json]:
    gadget = linear_map.linear_map({"out": 2 * reg("x") - 3 * reg("y")})
    return [theorem(f"{text_of(gadget, 'out')} == 2*x - 3*y", x="real", y="real")]


def _indicator() -> list[Json]:
    gadget = indicator.indicator(reg("x") - reg("B"), 0, {"out": 1}, times=reg("f"))
    return [theorem(f"{text_of(gadget, 'out')} == step(x - B)*step(B - x)*f", x="integer", B="integer", f="real")]


def _lookup() -> list[Json]:
    base = lookup.TEST_BASE
    stated = []
    for marked in range(base**2):
        table = [int(i == marked) for i in range(base**2)]
        gadget = lookup.lookup([reg("x"), reg("y")], base, table, "out")
        is_marked = f"step(x + {base}*y - {marked})*step({marked} - x - {base}*y)"
        stated.append(theorem(f"{text_of(gadget, 'out')} == {is_marked}", x="integer", y="integer"))
    return stated


def _threshold() -> list[Json]:
    stated = []
    for margin in (Fraction(1, 2**e) for e in range(MARGINS)):
        gadget = threshold.threshold(reg("x") - reg("u"), 0, {"out": 1}, margin=margin, times=reg("f"))
        kept = f"x <= u - {margin} or x >= u"
        stated.append(theorem(f"{text_of(gadget, 'out')} == step(x - u)*f", kept, x="real", u="real", f="real"))
    return stated


def _interval() -> list[Json]:
    stated = []
    for span in range(SPANS):
        gadget = interval.interval(reg("x") - reg("u"), 0, span, {"out": 1}, times=reg("f"))
        inside = f"step(x - u)*step(u + {span} - x)*f"
        stated.append(theorem(f"{text_of(gadget, 'out')} == {inside}", x="integer", u="integer", f="real"))
    return stated


WRITTEN_OUT = "10*(relu(x - B - 1/2) - relu(x - B + 1/2)) + 10*(relu(B - x - 3/5) - relu(B - x + 2/5)) + 10"
"""The identities of Lemma C.3, with 0.6 and 0.4 as they stand there."""


def indicator_written_out() -> Shown:
    """Shows that Lemma C.3's written-out form is the indicator."""
    return by_cases(theorem(f"{WRITTEN_OUT} == step(x - B)*step(B - x)", x="integer", B="integer"))

"""Heads of appendix C.2 as printed: columns on which the runner-up is as close as can be, and forms beside the shipped ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.parts.heads import count
from constructions.wiring.affine import reg
from constructions.wiring.lookup import Lookup
from constructions.wiring.needs import ONE, is_square
from constructions.wiring.part import Part, Setting
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Head, constant
from verify.inputs.strategies import complete
from verify.inputs.trial import Trial

# The closest runner-up


def hardest(part: Part, n: int, length: int, precision_bits: int, back: int = 0) -> Trial:
    """Returns columns with every position as close to the winner as the lemma allows; what is read differs next to it.

    back: for C.18, how many counts lie after the one that is looked for.
    """
    alternating = [Fraction((-1) ** k * n) for k in range(length)]
    given: Mapping[str, Sequence[Fraction]] = {
        "C.13": {"x": [Fraction(0), *alternating[1:]]},
        "C.14": {"x": [Fraction(0), *[Fraction(1 + (k > length // 2)) for k in range(1, length)]]},
    }.get(
        part.id,
        {
            "key": [Fraction(0), *[Fraction(1)] * (length - 1)],
            "query": [Fraction(1)] * length,
            "payload": alternating,
            "wanted": [Fraction(length // 2 + 1)] * length,
            "wish": [Fraction(max(0, k - 1 - back)) for k in range(length)],
            "count": [Fraction(0)] * length,
            "query_count": [Fraction(1)] * length,
        },
    )
    trial = Trial(n, length, precision_bits, {})
    contract = part.contract(trial.setting)
    columns = {name: tuple(column) for name, column in given.items() if name in contract.requires}
    return replace(trial, columns=complete(part, contract, columns, n))


# Lemma C.14's score


def _by_score(setting: Setting, printed: bool) -> list[BlockPlan]:
    """Returns keys and queries whose product is the printed score −n(X' − X)² + n·1[k' = 1]X²."""
    n, x, x_squared, one, first = setting.n, reg("x"), reg(squared("x")), reg("one"), reg("first")
    head = Head(
        "count",
        (Component(n * x_squared, -one), Component(n * x, 2 * x), Component(n * (one - first), -x_squared)),
        {"out": first},
        "Lemma C.14, the score",
        (ONE, is_square(x_squared, x)),
        Lookup(((x, x),), n),
    )
    gadgets = (constant("1", {"one": 1}), indicator(reg("position"), 1, {"first": 1}), square(x, squared("x")))
    return [BlockPlan((), gadgets), BlockPlan((head,), ())]


COUNT_BY_SCORE = replace(count.PART, plan=_by_score)

# Lemma C.18's precision for other A


def precision_above(factor: int, n: int) -> int:
    """Returns the least odd p > factor·log2 n."""
    above: int = n**factor
    return above.bit_length() | 1

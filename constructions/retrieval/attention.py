"""What the retrieval models with attention share: copied numbers, the output, and precision.

Source: Theorems 4.6 and 5.6. A number v is written as (2v, −1), which gives number i the logit 2v·i − i² = v² − (v − i)².
"""

from __future__ import annotations

from collections.abc import Callable

from constructions.models.program import window
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.parts.heads.match import RegisterPair
from constructions.parts.heads.match import spelled_out_key_precision as spelled_out_key_precision  # by this name, too
from constructions.parts.heads.match import spelled_out_position_precision as spelled_out_position_precision
from constructions.parts.recurrences.recent import recent
from constructions.retrieval.retriever import COPIES, TIED_HEAD, RetrievalPlan
from constructions.retrieval.task import FAILED, SPECIALS
from constructions.wiring.affine import Affine, reg
from constructions.wiring.part import least_odd_precision
from constructions.wiring.register import copied, register_before, squared
from constructions.wiring.wire import BlockPlan, Gadget, Unit, constant, linear


def prepare(plan: RetrievalPlan, *, first: bool = True, squares: bool = True) -> BlockPlan:
    """Returns block 1, which writes the constant 1, and 1[position = 1] and position² where a head needs them."""
    gadgets = [constant("1", {"one": 1})]
    if squares:
        gadgets.append(square(reg("position"), squared("position")))
    if first:
        gadgets.append(
            indicator(reg("position"), 1, {"first": 1}, printed=plan.says(INDICATOR), name="1[position = 1]")
        )
    if plan.says(TIED_HEAD):
        gadgets.append(square(reg("number"), squared("number")))
    return BlockPlan((), tuple(gadgets))


def remember(plan: RetrievalPlan, attention: BlockPlan, depth: int, block: BlockPlan) -> BlockPlan:
    """Returns the recurrent block before `attention`, which looks `depth` tokens back; `block`: what else it does.

    Squares of earlier numbers are kept like the numbers; as a print's tied head has none, they are computed then.
    """
    if not plan.says(TIED_HEAD):
        return BlockPlan((), block.gadgets, (*window([attention]), *block.linear_units))
    earlier = [register_before("number", by) for by in range(1, depth + 1)]
    squares = tuple(square(reg(number), squared(number)) for number in earlier)
    numbers = recent(f"the last {depth + 1} of number", ["number"], depth + 1)
    return BlockPlan((), (*block.gadgets, *squares), (numbers, *block.linear_units))


def brought(name: str, by: int) -> Affine:
    """Returns the register `name` of `by` positions before, where a COPY head has brought it."""
    return reg(copied(name, by) if by else name)


def copies(by: int) -> dict[str, Affine]:
    """Returns what a COPY head reads to have the number `by` positions before."""
    return {copied(name, by): reg(name) for name in COPIES}


def pair(key_offset: int, query_offset: int, before: Callable[[str, int], Affine]) -> RegisterPair:
    """Returns the number `key_offset` positions before the key against the one `query_offset` positions before the query."""
    key, key_squared = (before(name, key_offset) for name in COPIES)
    query, query_squared = (before(name, query_offset) for name in COPIES)
    return RegisterPair(key, query, key_squared, query_squared)


def clear_numbers(plan: RetrievalPlan) -> Gadget:
    """Takes the last token's own embedding away, which is a number's. A print's tied head has no squares."""
    names = COPIES[:1] if plan.says(TIED_HEAD) else COPIES
    return Gadget("clear the embedding", tuple(linear("", -reg(name), name).units[0] for name in names))


def output_number(plan: RetrievalPlan, value: Affine, *, can_fail: bool) -> tuple[Gadget, ...]:
    """Writes the number `value`, and FAILED for 0, where the tied output head reads it."""
    n = plan.setting.n
    none = 1 - value
    gadgets = [clear_numbers(plan)]
    if plan.says(TIED_HEAD):
        gadgets.append(linear(f"output −n·{value}", -n * value, "number"))
        gadgets.append(constant("−n on specials", dict.fromkeys(SPECIALS, -n)))
        failed = 2 * n
    else:
        gadgets.append(linear(f"output 2·{value}", 2 * value, "number"))
        gadgets.append(constant("output −1", {squared("number"): -1}))
        failed = 1
    if can_fail:
        gadgets.append(Gadget(f"{FAILED} if nothing was found", (Unit(none, reg("one"), {FAILED: failed}),)))
    return tuple(gadgets)


def own_precision(n: int) -> int:
    """Returns the least p at which squares of numbers and their logits 2v·i fit: 2n² < 2^q."""
    return least_odd_precision(lambda q: 2 * n.bit_length() + 1)

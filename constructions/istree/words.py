"""What people are told about IsTree: the meaning of registers, blocks, constants, and a step of the search in a sentence.

Nothing here reaches the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from constructions.models.construction import Derived, lead_of, numbers_of
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match import match_scale
from constructions.parts.heads.match_next import least_lead, next_scale
from constructions.wiring.part import Setting

STATEMENT = (
    "A Transformer of nine blocks decides whether a graph is a tree, by a depth-first search in its chain of thought."
)
PRECISION = "p ≤ 8·bits(n) + 23 for n ≤ 10^6: n⁴ and a lead of O(log n) must fit (p − 1)/2 digits"

BLOCKS: Mapping[int, str] = {
    1: "constants, squares, and where the prompt ends",
    2: "counts how often this vertex has occurred",
    3: "copies what stands 1 position back, as …@1",
    4: "copies what block 3 left 1 and 2 positions back, as …@2 and …@3; writes incidence records, current and previous",
    5: "finds the edge just walked, and the count to look for next",
    6: "finds the father; a vertex reached from its father starts with its first edge",
    7: "finds the next edge of the current vertex",
    8: "finds the edge after that, needed if the next one leads to the father; decides where to go",
    9: "asks whether that vertex has been visited before; writes the output",
}

GLOSSARY: Mapping[str, str] = {
    "vertex": "the number of this token's vertex, 0 at other tokens; at the end, the output",
    "position": "this token's position, from 1",
    "one": "1 everywhere",
    "first": "1 at position 1, else 0",
    "after_prompt": "1 in the chain of thought, else 0",
    "after_root": "1 in the chain of thought after its first vertex, else 0",
    "prompt_end": "the position of the token that ends the prompt, 1 within the prompt",
    "count": "1/(1 + how often this vertex has occurred so far)",
    "self": "incidence record: the vertex whose edge this is",
    "other": "incidence record: the vertex at the other end",
    "edge_count": "incidence record: 1/(1 + i) for the i-th edge of `self`",
    "current": "chain of thought: the vertex where the search is",
    "previous": "chain of thought: the vertex where it was before, 0 at the start",
    "walked": "the count of the edge just walked; 1 if none of this vertex's edges is used up",
    "target": "close to the count that comes after `walked`",
    "father": "the vertex from which the current one was reached first, 0 for the root",
    "next1": "where the next edge leads",
    "count1": "the count of the next edge; that of the last one if there is no next",
    "candidate1": "next1, or 0 if no edge is left",
    "skip": "1 if the next edge leads to the father",
    "target2": "close to the count that comes after `count1`",
    "next2": "where the edge after the next leads",
    "count2": "the count of the edge after the next",
    "next": "where the search goes; 0 if it is finished",
    "onward": "1 if `next` is neither the father nor 0",
    "seen": "the position at which `next` was visited first; 1 if it never was",
    **dict.fromkeys(("YES", "NO", "TRUE", "FALSE"), "a verdict: the output writes it, no token of a prompt has it"),
    # As printed:
    "a": "record as printed: the edge's first endpoint",
    "b": "record as printed: the edge's second endpoint",
    "count_a": "record as printed: the count of a",
    "count_b": "record as printed: the count of b",
    **{
        f"{what}{number}_{side}": f"{'the edge after the next, ' * (number == 2)}read where {side} is the current vertex: {means}"
        for number in (1, 2)
        for side in ("a", "b")
        for what, means in (
            ("this", "that endpoint, the current vertex itself"),
            ("next", "the other endpoint"),
            ("count", "its count"),
            ("other_count", "the other endpoint's count"),
        )
    },
    **{f"of{number}_b": f"1 if the edge before next{number} has this vertex as its larger end" for number in (1, 2)},
    **{f"product1_{side}": f"walked·count1_{side}" for side in ("a", "b")},
    **{f"product2_{side}": f"count1·count2_{side}" for side in ("a", "b")},
    **{
        f"hit{number}_{side}": f"1 if count{number}_{side} is the next count"
        for number in (1, 2)
        for side in ("a", "b")
    },
    "candidate2": "where the edge after the next leads, or 0",
}


def scale_constants(setting: Setting) -> tuple[Derived, ...]:
    """Returns the constants of heads that prefer among equal keys by position."""
    scale, largest = match_scale(setting, printed=False), f"up to {setting.length}"
    return (
        Derived("L", Fraction(setting.length_bound), f"the least power of two above every position, {largest}"),
        Derived("S", Fraction(scale.mismatch), "4·G·L²: what unequal keys cost, more than any preference by position"),
        Derived("D", Fraction(scale.default), "2·G·L² = S/2: what position 1 costs, between equal and unequal keys"),
    )


def constants(setting: Setting, resolution: int, printed: frozenset[str]) -> tuple[Derived, ...]:
    """Returns the constants of the weights for one (n, p); the last three are those of the repaired variant alone."""
    n, gap = setting.n, setting.gap
    numbers = numbers_of(setting.format, "; a score too negative for it saturates")
    lead = lead_of(setting, "; the runners-up then get weight exactly 0")
    if SCORE_RANGE.id in printed:
        scale = match_scale(setting, printed=True)
        return (
            *numbers,
            lead,
            Derived("S", Fraction(scale.mismatch), f"n^(4c+1) as printed, c = 2, n = {n}: what unequal keys cost"),
            Derived("D", Fraction(scale.default), "n^(2c+2) − n as printed: what position 1 costs as the default"),
            Derived("S next", Fraction(n**7), "n^(4A+3) as printed, A = 1"),
            Derived("D next", Fraction(n**6), "n^(4A+2) as printed"),
            Derived("T", Fraction(n**5), "n^(4A+1) as printed: the scale of differences between counts"),
        )
    counts = next_scale(gap, n)
    return (
        *numbers,
        lead,
        *scale_constants(setting),
        Derived(
            "T",
            Fraction(counts),
            "match next: the least power of two with T·λ ≥ G, where λ ≈ "
            f"{float(least_lead(n + 1)):.3g} is the least lead between counts from 1/2 to 1/{n + 2}; there S = T, D = T/2",
        ),
        Derived("R", Fraction(resolution), "2·(2^bits(n + 1))²: takes the difference of two counts above 1"),
        Derived("span", Fraction(4 * setting.length_bound), "4·L: closes a gate that some position could open"),
        Derived(
            "override",
            Fraction(8 * (1 << n.bit_length()) ** 2),
            "8·(2^bits(n))²: above the logit of any vertex, so that a vertex seen before stops the search",
        ),
    )


def narrate(values: Mapping[str, Fraction], produced: str, verdict: str) -> str:
    """Returns one step of the search in a sentence, from the registers after the last attention; "" for weights that lack them.

    produced: the token that this step leads to. verdict: how the whole run ends.
    """
    needed = ("current", "previous", "father", "candidate1", "skip", "next1", "next2", "next", "seen")
    if any(name not in values or values[name].denominator != 1 for name in needed):
        return ""
    current, previous, father, candidate, skip, next1, next2, following, seen = (int(values[name]) for name in needed)
    if not current:
        return "The prompt ends here: the search starts at vertex 1." if produced == "1" else f"Verdict: {verdict}."
    if previous == 0:
        parts = [f"At {current}, the root."]
    elif previous == father:
        parts = [f"At {current}, reached from its father {father}."]
    else:
        parts = [f"Back at {current} from {previous}."]
    if candidate == 0:
        parts.append("No edge is left.")
    elif skip and next2 != father:
        parts.append(f"The next edge leads to the father {father}, the one after it to {next2}.")
    elif skip:
        parts.append(f"The only edge left leads to the father {father}.")
    else:
        parts.append(f"The next edge leads to {next1}.")
    if following == 0:
        parts.append(f"The search is over: {verdict}.")
    elif following == father:
        parts.append(f"Go back to {father}.")
    elif seen > 1:
        parts.append(f"{following} was visited before, at position {seen}: a cycle. {verdict}.")
    else:
        parts.append(f"{following} is new: go there.")
    return " ".join(parts)

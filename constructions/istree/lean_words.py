"""What people are told about the lean variant of IsTree. Nothing here reaches the weights."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from constructions.istree.words import GLOSSARY as COMMON
from constructions.istree.words import narrate as narrate_integers
from constructions.models.construction import Derived, numbers_of
from constructions.parts.heads.match_last import Scale

STATEMENT = "A Transformer of five blocks decides whether a graph is a tree, by the same search, with integers only."
PRECISION = "p ≤ 3·log2 n + 2·log2(1 + log2 n) + 11: n² and a preference over 5n places must fit p − 1 digits together"

BLOCKS: Mapping[int, str] = {
    1: "constants, places, and where the prompt ends",
    2: "copies what stands 1 to 4 positions back, as …@1 to …@4; writes incidence records, current and previous",
    3: "finds the edge before each record's at its vertex, and the father",
    4: "finds the next edge of the current vertex, and the one after the father's; decides where to go",
    5: "asks whether that vertex has been visited before; writes the output",
}

GLOSSARY: Mapping[str, str] = {
    **{
        name: COMMON[name]
        for name in ("vertex", "position", "one", "first", "after_prompt", "after_root", "self", "other")
    },
    **{name: COMMON[name] for name in ("current", "YES", "NO", "TRUE", "FALSE")},
    "place": "this token's position, in units; positions above K count as K",
    "late": "1 at the joint of edge number n, which no tree has",
    "overlong": "1 from the joint of edge number n on",
    "prompt_end": "the place of the token that ends the prompt, that of position 1 within the prompt",
    "left": "incidence record of the token before: its `self`",
    "left_other": "incidence record of the token before: its `other`",
    "visited": "1 at the vertices of the chain of thought, else 0",
    "previous": "chain of thought: the vertex where it was before, −1 at the start",
    "before": "incidence record: the other end of the edge before this one at `self`, 0 at the first",
    "father": "the vertex from which the current one was reached first, −1 for the root",
    "goal": "the neighbour after whose edge to go on, 0 for the first edge",
    "next1": "where the next edge leads, 0 if there is none",
    "past": "where the edge after the father's leads, 0 if there is none",
    "next": "where the search goes on, 0 if it goes back to the father or is finished",
    "seen": "1 if `next` has been visited before",
}


def constants(scale: Scale) -> tuple[Derived, ...]:
    """Returns the constants of the weights for one (n, p)."""
    fmt = scale.setting.format
    return (
        *numbers_of(fmt, "; a score too negative for it saturates"),
        Derived(
            "u", scale.unit, "what registers count in, and squares in u²: the largest unit in which all squares fit"
        ),
        Derived(
            "λ", Fraction(scale.lead), f"a lead beyond which all other keys vanish, of up to {scale.setting.length}"
        ),
        Derived("K", Fraction(scale.places), "the most places that are told apart"),
        Derived("F", Fraction(scale.far), "how far after or before all places the wish is: a power of two from 8K on"),
        Derived("W", scale.preference, "λ/(2F): what the square of a distance from the wish costs"),
        Derived("R", Fraction(scale.reach), "the reach of the preference, W·((F + K − 1)² − F²)"),
        Derived("S", Fraction(scale.mismatch), "what unequal keys cost: a power of two from R + 2λ on"),
        Derived(
            "c", Fraction(scale.origin), "what keys and queries are counted from: 1 if n is a power of two, else 0"
        ),
    )


def narrate(values: Mapping[str, Fraction], produced: str, verdict: str) -> str:
    """Returns one step of the search in a sentence, from the registers after the last attention; "" for weights that lack them."""
    needed = ("place", "position", "current", "previous", "father", "next1", "past", "next", "seen")
    if any(name not in values for name in needed) or not values["position"]:
        return ""
    unit = values["place"] / values["position"]
    whole = {name: values[name] / unit for name in needed}
    father, following = max(whole["father"], Fraction(0)), whole["next"]
    return narrate_integers(
        {
            **whole,
            "previous": max(whole["previous"], Fraction(0)),
            "father": father,
            "candidate1": whole["next1"],
            "skip": Fraction(int(whole["next1"] == father != 0)),
            "next2": whole["past"] or father,
            "next": following or father,
            "seen": 1 + values["seen"] * (values["position"] - 1),
        },
        produced,
        verdict,
    )

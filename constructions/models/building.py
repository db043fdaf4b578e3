"""What the builders of models share: which findings are put back to print, the number format, the matrices with their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constructions.places import name_part, name_place
from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Numbered
from constructions.wiring.reading import refusals
from constructions.wiring.wire import BlockPlan, Embedding, wire
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Format, fixed_point


def chosen_of(findings: Sequence[Finding], printed: Iterable[str]) -> frozenset[str]:
    """Returns the ids of the findings to put back to print. Raises ValueError for one that is not known."""
    finding_ids, known_ids = frozenset(printed), [finding.id for finding in findings]
    if unknown := finding_ids - set(known_ids):
        known = f"known: {', '.join(known_ids)}" if known_ids else "this construction has none"
        raise ValueError(f"unknown finding {min(unknown)!r}; {known}")
    return finding_ids


def format_of(least: int, precision_bits: int | None, what: str) -> Format:
    """Returns R_p at the least p for `what`, or at `precision_bits`. Raises ValueError if p is even or too small."""
    bits = least if precision_bits is None else precision_bits
    fmt = fixed_point(bits)
    if bits < least:
        raise ValueError(f"p = {bits} is too small for {what}; the least p it is wired for is {least}")
    return fmt


def wired_of(
    construction: str,
    source: str,
    findings: Sequence[Finding],
    chosen: frozenset[str],
    n: int,
    embedding: Embedding,
    blocks: tuple[BlockPlan, ...],
    arithmetic: Arithmetic,
    longest: int | None = None,
    *,
    variant: str = "repaired",
    exact: bool = True,
) -> Wired:
    """Returns the model of these blocks, the output head tied to the embedding. longest, exact: as of `wire`.

    variant: what it is called, unless everything is as printed.
    Raises ValueError for a head whose keys and queries do not make the score of its lookup; a print may have one.
    """
    for block, plan in enumerate(() if chosen else blocks, start=1):
        for number, head in enumerate(plan.heads, start=1):
            for refused in refusals(head):
                place = name_place(block, name_part("head", number, head.name))
                raise ValueError(f"{place}: its score has {refused}, which is not of its lookup")
    model, registers = wire(embedding, blocks, embedding.words, arithmetic.format, exact=exact, longest=longest)
    ids = [finding.id for finding in findings]
    return Wired(
        construction=construction,
        source=source,
        variant="printed" if ids and chosen == set(ids) else variant,
        printed=tuple(i for i in ids if i in chosen),
        n=n,
        arithmetic=arithmetic,
        model=model,
        registers=registers,
        vocabulary=embedding.vocabulary,
        blocks=blocks,
        families=embedding.words.families if isinstance(embedding.words, Numbered) else (),
    )

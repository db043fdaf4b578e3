"""For which n each link of each model is certified, as a table for a page: `verify.readme` puts it there.

Every range is what a run measured, as its ledger has it; what lies between two of them is a gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from constructions.show.markdown import table
from verify.framework.claim import Certified, Evidence, Exhaustive, Row, Sizes, Stored, Verdict, merge, size_text

LINKS = ("rounding", "program")
NONE = "no range yet"
NOTE = (
    "Each range holds for every n in it. Where it ends, or up to n = 2^7 or 2^15, certified intervals of n are stored with digests "
    "of their weights, which `make verify` compares. Where a range goes on without end, each n from there on belongs to one of "
    "finitely many cases. Of most models the small checker reads a certificate of each case in each run. Of the others, and of "
    "programs, the cases rest on finitely many inequalities, which are proved; that these suffice is argued in prose."
)


@dataclass(frozen=True)
class LinkPart:
    """One text layout and one discipline of a model. document: of every n. above: the claim of all n from some n on, if any.

    own: the claim that has the range by itself; there, a place that was looked at in every case counts, too.
    """

    label: str
    claim: str
    document: str = ""
    above: str = ""
    own: str = ""


@dataclass(frozen=True)
class Coverage:
    """A row of the table. parts: of each link; where several tasks are one row, a part of each with the same label."""

    name: str
    parts: Mapping[str, Sequence[LinkPart]]


def _retrieval(title: str, models: Mapping[str, str]) -> Coverage:
    """Returns the row of the retrieval tasks for one architecture. models: its name by theorem."""
    parts: dict[str, list[LinkPart]] = {link: [] for link in LINKS}
    for (theorem, model), task in product(models.items(), ("index", "recall", "ngram", "counting")):
        claim, own = f"{theorem}/{task}", f"{task}{model}"
        for label, more in (("fused", ""), ("sequential", "-sequential")):
            parts["rounding"].append(LinkPart(label, f"{claim}-rounding", f"{own}{more}-rounding", f"{claim}-above"))
        parts["program"].append(LinkPart("", f"{claim}-program", above=f"{claim}-program-above"))
    return Coverage(title, parts)


def _row_of(
    name: str, claim: str, document: str, labels: Mapping[str, tuple[str, str]], programs: Sequence[str] = ("",)
) -> Coverage:
    """Returns the row of one task. labels: for each, the stored document's suffix and the claim above. programs: layouts."""
    rounding = [
        LinkPart(label, f"{claim}rounding", f"{document}{more}-rounding", above)
        for label, (more, above) in labels.items()
    ]
    above = next((f"{claim}program-above" for _, one in labels.values() if one), "")
    program = [
        LinkPart(layout, f"{claim}program", f"{document}{'-eos' * (layout == EOS)}-program", above * (layout != EOS))
        for layout in programs
    ]
    return Coverage(name, {"rounding": rounding, "program": program})


EOS = "layout eos"
ISTREE = {"fused": ("", "4.7/above"), "sequential": ("-sequential", ""), f"fused with {EOS}": ("-eos", "")}
LEAN = {label: (more, "") for label, (more, _) in ISTREE.items()}
MODELS = (
    _retrieval(
        "Index, recall, c-gram, Counting: Transformer (4.6), Linear RNN with search (5.2), hybrid (5.6)",
        {"4.6": "", "5.2": "-rag", "5.6": "-hybrid"},
    ),
    _row_of("IsTree: Transformer (4.7)", "4.7/", "istree", ISTREE, ("paper's layout", EOS)),
    _row_of("IsTree, `lean`", "4.7/lean-", "istree-lean", LEAN, ("paper's layout", EOS)),
    _row_of("IsTree: hybrid (5.7)", "5.7/", "istree-hybrid", {"fused": ("", "5.7/above")}),
    _row_of(
        "IsTree: Linear RNN with search (5.3)",
        "5.3/istree-",
        "istree-rag",
        {"fused": ("", "5.3/istree-above"), "sequential": ("-sequential", "5.3/istree-above")},
    ),
    *(
        _row_of(
            f"The machine BB(2) on a blank tape, n steps: {title} ({theorem})",
            f"{theorem}/",
            f"turing-{model}",
            {"fused": ("", f"{theorem}/above"), "sequential": ("-sequential", f"{theorem}/above")},
        )
        for theorem, title, model in (("5.8", "hybrid", "hybrid"), ("5.4", "Linear RNN with search", "rag"))
    ),
    Coverage(
        "The machine BB(2) on n cells: a tape that turns around (4.1)",
        {link: [LinkPart("", f"4.1/cells-{link}", own=f"4.1/cells-{link}")] for link in LINKS},
    ),
    Coverage(
        "An RNN, gate by gate: Transformer (4.8), prompts of n words",
        {
            "rounding": [LinkPart("fused, 14 RNNs, each at one to four n", "4.8/rounding", own="4.8/rounding")],
            "program": [LinkPart("10 RNNs, each at one to three n", "4.8/program", own="4.8/program")],
        },
    ),
)


def both(one: Sizes, other: Sizes) -> Sizes:
    """Returns the n that are in both."""
    result = list[tuple[int, int | None]]()
    for low, high in one:
        for its_low, its_high in other:
            ends = [end for end in (high, its_high) if end is not None]
            start, end = max(low, its_low), min(ends) if ends else None
            if end is None or start <= end:
                result.append((start, end))
    return merge(result)


def sizes_of(part: LinkPart, rows: Mapping[str, Row]) -> Sizes:
    """Returns the n for which a part is certified."""
    result = [
        size
        for one in _evidence(part.claim, rows)
        if isinstance(one, Stored) and one.name == part.document
        for size in one.sizes
    ]
    result += [size for id in (part.above, part.own) for one in _evidence(id, rows) for size in one.sizes]
    if part.own:
        result += [size for one in _evidence(part.own, rows, Exhaustive) for size in one.sizes]
    return merge(result)


def _evidence(id: str, rows: Mapping[str, Row], *kinds: type[Evidence]) -> Iterator[Evidence]:
    """Yields the evidence of these kinds of a claim that holds; without kinds, what was certified, now or as stored."""
    row = rows.get(id)
    if row is not None and row.verdict is Verdict.HOLDS:
        yield from (one for one in row.evidence if isinstance(one, kinds or (Certified, Stored)))


def cell(parts: Sequence[LinkPart], rows: Mapping[str, Row]) -> str:
    """Returns the ranges of a link, those of each label; of several tasks with one label, what is certified of all."""
    of: dict[str, Sizes] = {}
    for part in parts:
        own = sizes_of(part, rows)
        of[part.label] = both(of[part.label], own) if part.label in of else own
    labels: dict[str, list[str]] = {}
    for label, sizes in of.items():
        labels.setdefault(ranges(sizes), []).append(label)
    return "; ".join(text if not any(names) else f"{', '.join(names)}: {text}" for text, names in labels.items())


def ranges(sizes: Sizes) -> str:
    """Writes ranges for people: "4 … 2^63 and above", "4 … 2^62, 2^63 and above"."""
    parts = []
    for low, high in sizes:
        if high is None:
            parts.append(f"{size_text(low)} and above")
        else:
            parts.append(size_text(low) if low == high else f"{size_text(low)} … {size_text(high)}")
    return ", ".join(parts) or NONE


def markdown(rows: Sequence[Row]) -> str:
    """Returns the table as Markdown, with the claims that it rests on."""
    by_id = {row.claim.id: row for row in rows}
    lines = [(model.name, *(cell(model.parts[link], by_id) for link in LINKS)) for model in MODELS]
    return "\n".join([*table(("model", *LINKS), lines), "", NOTE, ""])

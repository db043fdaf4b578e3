"""The paper's separation, task by task: `python -m verify.table [LEDGER.json] [--json | --markdown]`.

Source: Theorems 4.1, 4.6, 4.7, 5.1 – 5.4 and 5.6 – 5.8.
A cell says that an architecture solves a task, or that it cannot. What each cell rests on stands here; whether it stands is read
from a ledger, and from nothing else: every claim that is named must be in it, and each of them, and each other claim about the same
weights, must hold there. Claims about what is printed, and about one finding put back to print, are not counted.
A lower bound that is not proved says so.
"""

from __future__ import annotations

import enum
import functools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from constructions.show import cli
from constructions.show.markdown import table as markdown_table
from constructions.show.terminal import console, print_table
from verify import reach
from verify.bits import claimed as bits
from verify.framework.claim import (
    EVIDENCE,
    Certified,
    Claim,
    Evidence,
    Json,
    Proved,
    Row,
    Searched,
    Sizes,
    Stored,
    Verdict,
    merge,
    size_text,
)
from verify.framework.ledger import natural, read_run
from verify.framework.order import LEDGER

PROG = "python -m verify.table"
MAKE = "python -m verify --n-max 10000 --ledger"
EPILOG = f"""examples:
  {MAKE} run.json   judge every claim
  {PROG} run.json                       the table of that run
  {PROG} run.json --markdown            the same for a page
  {PROG} --json | jq '.cells[] | select(.verdict == "not settled")'

exit status: 0 every cell is settled, 1 a claim that a cell rests on is refuted, 2 usage, 3 some cell is not settled"""
HEAD = """\
# Which architecture solves what

Some tasks a recurrent model cannot solve, and a Transformer can. This page says which, and what an RNN needs to catch up: searches,
or one attention layer. A row is a task, a column an architecture. A cell says at what cost the task is solved, and names the claims
of the [ledger](ledger.md) that show it. Written by `python -m verify.table --markdown`, never by hand.

![State bits against the least n at which each architecture is broken, and three models by hand that are not](capacity.svg)

The line of [the lower bounds](lower-bounds.md) says when a recurrent model must fail. The points say when architectures do.
"""
WIDTH, TASK_WIDTH = 100, 11  # of the whole at most; of the first column
LEAST_WIDTH = 80  # of the whole; with less, each line of the table is a list
COSTS = ("size", "precision", "least-bits", "length", "cost", "circuit")  # aspects that are not about what it answers
# what aspects begin with that compare whole answers, beside "": their sizes alone say how far a task was tried
ANSWERS = ("lower", "oracle", "small", "scale", "sequential", "repaired", "reduced", "every-run", "busy-beavers")
# those that say how it comes to answer so: lines of their own, with the n for which it is certified
APART = {f"{more}{about}": about for about in ("program", "rounding") for more in ("", "cells-")}
APART |= {"program-above": "program", "above": "rounding"}


class Mark(enum.StrEnum):
    """A cell's mark."""

    SOLVED = "solved"
    IMPOSSIBLE = "impossible"
    SMALL = "impossible for small n"
    NOT_SETTLED = "not settled"
    REFUTED = "refuted"


STYLES = {
    Mark.SOLVED: "bold green",
    Mark.IMPOSSIBLE: "bold blue",
    Mark.SMALL: "blue",
    Mark.NOT_SETTLED: "bold yellow",
    Mark.REFUTED: "bold red",
}


@dataclass(frozen=True)
class CellBasis:
    """What a cell rests on. outcome: if all of it holds. how: in words.

    required: claims that must be there. theorem, task: of the weights; all other claims about them count as well.
    """

    outcome: Mark
    how: str
    theorem: str = ""
    task: str = ""
    required: tuple[str, ...] = ()

    def has(self, claim: Claim) -> bool:
        """Returns whether a claim is one of this cell."""
        same_weights = (claim.theorem, claim.task) == (self.theorem, self.task) and not claim.is_lower_bound
        return same_weights or claim.id in self.required

    def missing(self, ids: Sequence[str]) -> list[str]:
        """Returns the required claims that are not among these."""
        return [id for id in self.required if id not in ids]


def solved(theorem: str, task: str, how: str, *required: str) -> CellBasis:
    """Returns the basis of a cell that says solved, by weights that are wired."""
    return CellBasis(Mark.SOLVED, how, theorem, task, required)


def impossible(how: str, *claims: str) -> CellBasis:
    """Returns the basis of a cell that says impossible, by a reduction."""
    return CellBasis(Mark.IMPOSSIBLE, how, required=claims)


def _retrieval(theorem: str, task: str, how: str, *more: str) -> CellBasis:
    stem = f"{theorem}/{task}"
    required = (stem, f"{stem}-small", f"{theorem}/size", f"{theorem}/precision", *(f"{stem}-{x}" for x in more))
    return solved(theorem, task, how, *required)


def _retrieval_row(task: str, bits: str, limit: str = "") -> tuple[CellBasis | None, ...]:
    return (
        impossible(f"needs {bits} bits", f"4.6/lower-{task}"),
        _retrieval("4.6", task, f"no chain of thought{limit}"),
        _retrieval("5.2", task, f"1 search, O(1) tokens, {LINEAR}{limit}", "circuit"),
        _retrieval("5.6", task, f"no chain of thought, {QUADRATIC}{limit}", "circuit"),
    )


def _turing(theorem: str, how: str) -> CellBasis:
    return solved(
        theorem,
        "turing",
        f"{how}, program and rounding for bb2",
        theorem,
        *(f"{theorem}/{what}" for what in ("every-run", "size", "cost", "circuit")),
    )


LINEAR, QUADRATIC = "circuit of O(p) gates where counted", "circuit of O(p²) gates where counted"
ARCHITECTURES = ("RNN, o(n) bits, any chain of thought", "Transformer", "Linear RNN with search", "hybrid RNN")
TASKS: Mapping[str, tuple[CellBasis | None, ...]] = {
    "Index": _retrieval_row("index", "n"),
    "associative recall": _retrieval_row("recall", "n/2"),
    "c-gram retrieval": _retrieval_row("ngram", "n/c", ", program and rounding for c = 3"),
    "Counting": _retrieval_row("counting", "n − 1"),
    "IsTree": (
        impossible("needs n − 3 bits", "4.7/lower-istree"),
        solved(
            "4.7",
            "istree",
            "at most 2n − 1 vertices",
            "4.7/repaired",
            "4.7/small-paper",
            "4.7/size",
            "4.7/precision",
            "C.29",
        ),
        solved(
            "5.3",
            "istree",
            f"at most 64n − 43 tokens and 6n − 4 searches, {LINEAR}",
            *(f"5.3/istree{what}" for what in ("", "-small", "-length", "-size", "-precision", "-circuit")),
        ),
        solved(
            "5.7",
            "istree",
            f"O(n log n) tokens, {QUADRATIC}",
            "5.7",
            *(f"5.7/{what}" for what in ("small", "length", "size", "precision", "circuit")),
        ),
    ),
    "Turing machines": (
        impossible("needs n/2 bits", "5.4/lower-turing"),
        None,
        _turing("5.4", f"O(1) tokens and 1 search a step, {LINEAR}"),
        _turing("5.8", f"O(1) tokens a step, {QUADRATIC}"),
    ),
    "… on log n cells": (_turing("4.1", f"O(log n) bits, O(log n) tokens a step, {LINEAR}"), None, None, None),
    "Index with an oracle for recall": (
        impossible("needs n/2 − 2 bits", "5.1/lower-index", "5.1/oracle-simulated"),
        None,
        None,
        None,
    ),
}
"""For each architecture, or None where nothing is claimed. n: tokens of the sequence, vertices, or cells of the input."""


@dataclass(frozen=True)
class TableCell:
    """One verdict. rows: of the claims that it rests on, as they stand in the ledger."""

    task: str
    architecture: str
    basis: CellBasis
    rows: tuple[Row, ...]

    @property
    def claims(self) -> list[str]:
        """Their ids."""
        return list(dict.fromkeys(row.claim.id for row in self.rows))

    @property
    def missing(self) -> list[str]:
        """Returns what the ledger does not have."""
        return self.basis.missing(self.claims)

    def claims_with(self, verdict: Verdict) -> list[str]:
        """Returns the claims with this verdict, by any engine."""
        return list(dict.fromkeys(row.claim.id for row in self.rows if row.verdict is verdict))

    @property
    def outcome(self) -> Mark:
        """Returns what the ledger makes of it."""
        if self.claims_with(Verdict.REFUTED):
            return Mark.REFUTED
        if self.missing or self.claims_with(Verdict.UNKNOWN) or self.claims_with(Verdict.MEASURED):
            return Mark.NOT_SETTLED
        return Mark.SMALL if self.basis.outcome is Mark.IMPOSSIBLE and not self.is_proved else self.basis.outcome

    @property
    def is_proved(self) -> bool:
        """Returns whether each lower bound that it rests on is."""
        bounds = [row for row in self.rows if row.claim.is_lower_bound]
        return all(any(isinstance(evidence, Proved) for evidence in row.evidence) for row in bounds)

    @property
    def evidence(self) -> list[str]:
        """Returns each kind of evidence but costs', with the largest n compared; for each of APART, its certified n."""
        sizes = dict[str, int]()
        for row in (row for row in self.rows if row.claim.aspect not in (*COSTS, *APART)):
            is_sized = row.claim.aspect.startswith(ANSWERS) or not row.claim.aspect
            for evidence in row.evidence:
                size = evidence.n_max if isinstance(evidence, Searched) and is_sized else 0
                sizes[evidence.kind] = max(size or 0, sizes.get(evidence.kind, 0))
        if self.basis.outcome is Mark.IMPOSSIBLE and "exhaustive" in sizes:
            searched = f"n ≤ {sizes['exhaustive']:,}"
            beyond = ", argued for all n" if "argued" in sizes else ", and no further"
            small = [f"shown for {searched}{beyond}"]
            return ["proved for all n", f"and every x of {searched}"] if self.is_proved else small
        found = [kind + (f" to {size_text(sizes[kind])}" if sizes[kind] else "") for kind in EVIDENCE if kind in sizes]
        return [*found, *filter(None, map(self._certify, dict.fromkeys(APART.values())))]

    def certified_sizes(self) -> list[str]:
        """Returns the n for which program and rounding are certified, and of which machine or c, in few words."""
        only = re.search(r"program and rounding (for \w+(?: = \d+)?)", self.basis.how)
        ranges = {
            about: self._certify(about).partition(" certified for ")[2] for about in dict.fromkeys(APART.values())
        }
        if len({*ranges.values()}) == 1:
            return [f"certified{f' {only[1]}' if only else ''}, {text}" for text in {*ranges.values()} if text]
        return [f"{about}: {text or 'not certified'}" for about, text in ranges.items()]

    def _certify(self, about: str) -> str:
        """Says for which n it is certified: those of each stored document and all above; without one, those that were met."""
        rows = [row for row in self.rows if APART.get(row.claim.aspect) == about]
        found = [one for row in rows for one in row.evidence if isinstance(one, Certified | Stored) and one.sizes]
        documents = [one.sizes for one in found if isinstance(one, Stored) and one.sizes[-1][1] is not None]
        above = [size for one in found for size in one.sizes if size[1] is None]
        sizes = merge([*functools.reduce(reach.both, documents), *above]) if documents else merged_of(found)
        if not sizes:
            return ""
        cells = any("cells" in row.claim.aspect for row in rows)
        return f"{about} certified for {'any number of cells' if cells else f'n = {reach.ranges(sizes)}'}"

    def lines(self, *, every_claim: bool) -> list[str]:
        """Returns the lines below the verdict. every_claim: a page links each claim that the cell rests on, not the first alone."""
        if self.outcome is Mark.REFUTED:
            return self.claims_with(Verdict.REFUTED)
        if self.outcome is Mark.NOT_SETTLED:
            parts = {
                "missing:": self.missing,
                "unknown:": self.claims_with(Verdict.UNKNOWN),
                "measured:": self.claims_with(Verdict.MEASURED),
            }
            return [line for word, ids in parts.items() if ids for line in (word, *ids)]
        others = len(self.claims) - 1
        claims = self.basis.required[0] + (f" + {others} more" if others else "")
        if every_claim:
            linked = ", ".join(f"[{id}](ledger.md#{id})" for id in self.claims)
            claims = f"<details><summary>{claims}</summary>{linked}</details>" if others else linked
        return [self.basis.how, claims, *self.evidence]

    def document(self) -> dict[str, Json]:
        """Returns the table as JSON."""
        return {
            "task": self.task,
            "architecture": self.architecture,
            "verdict": self.outcome,
            "how": self.basis.how if self.outcome not in (Mark.NOT_SETTLED, Mark.REFUTED) else None,
            "claims": [
                {"id": row.claim.id, "engine": row.engine, "verdict": row.verdict, "statement": row.claim.statement}
                for row in self.rows
            ],
            "missing": self.missing,
            "refuted": self.claims_with(Verdict.REFUTED),
            "unknown": self.claims_with(Verdict.UNKNOWN),
            "evidence": self.evidence,
        }


def merged_of(found: Sequence[Evidence]) -> Sizes:
    """Returns all n that some evidence is about."""
    return merge(size for one in found for size in one.sizes)


def cells(rows: Sequence[Row]) -> Iterator[TableCell]:
    """Yields every cell in which something is claimed."""
    shipped = [row for row in rows if is_shipped(row)]
    shipped.sort(key=lambda row: (natural(row.claim.id), row.engine))
    for task, bases in TASKS.items():
        for architecture, basis in zip(ARCHITECTURES, bases, strict=True):
            if basis is not None:
                yield TableCell(task, architecture, basis, tuple(row for row in shipped if basis.has(row.claim)))


def is_shipped(row: Row) -> bool:
    """Returns whether a claim is about repaired weights, and meant to hold."""
    claim = row.claim
    return claim.variant == "repaired" and not claim.finding and claim.expected is Verdict.HOLDS


def solving_models() -> Iterator[tuple[str, CellBasis]]:
    """Yields each model that solves a task, by the task and its architecture."""
    for task, bases in TASKS.items():
        for architecture, basis in zip(ARCHITECTURES, bases, strict=True):
            if basis is not None and basis.outcome is Mark.SOLVED:
                yield f"{task}, {architecture}", basis


def status(found: Sequence[TableCell]) -> int:
    """Returns the exit status."""
    if Mark.REFUTED in (outcomes := {cell.outcome for cell in found}):
        return cli.REFUTED
    return cli.UNKNOWN if Mark.NOT_SETTLED in outcomes else cli.HOLDS


def totals(found: Sequence[TableCell]) -> str:
    """Returns how many cells came out how; and what the signs mean."""
    outcomes = [cell.outcome for cell in found]
    counts = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in Mark)
    signs = "n: tokens, vertices or cells of the input; where a machine is run, its steps; —: nothing is claimed"
    largest = "to 8: the largest n at which answers were compared; the claims say which inputs of this n"
    circuit = "circuit: of what is recurrent in a step, over numbers of p bits"
    program = "program: what the weights compute in exact arithmetic is the task, or its search, as defined"
    cannot = "impossible: inputs are told apart later, so each needs a state of its own (proved for all n)"
    return "\n".join((counts, signs, largest, cannot, circuit, program))


def grid(found: Sequence[TableCell]) -> Iterator[tuple[str, list[TableCell | None]]]:
    """Yields each task with the cells of its line, None where nothing is claimed."""
    places = {(cell.task, cell.architecture): cell for cell in found}
    for task in TASKS:
        yield task, [places.get((task, architecture)) for architecture in ARCHITECTURES]


def table(found: Sequence[TableCell], width: int) -> Table:
    """Returns the table for a terminal."""
    shown = Table(box=box.HORIZONTALS, show_lines=True, pad_edge=False, padding=0, width=width)
    shown.add_column("", style="bold", width=TASK_WIDTH)
    for architecture in ARCHITECTURES:
        shown.add_column(architecture, ratio=1, overflow="fold")
    for task, line in grid(found):
        shown.add_row(task, *(_text(cell) for cell in line))
    return shown


def _text(cell: TableCell | None) -> Text:
    if cell is None:
        return Text("—", style="dim")
    return (
        Text()
        .append(cell.outcome, STYLES[cell.outcome])
        .append("".join(f"\n{line}" for line in cell.lines(every_claim=False)))
    )


def markdown(found: Sequence[TableCell]) -> str:
    """Returns the table as Markdown, below the title of its page."""
    lines = []
    for task, line in grid(found):
        texts = [
            "—" if cell is None else "<br>".join((f"**{cell.outcome}**", *cell.lines(every_claim=True)))
            for cell in line
        ]
        lines.append((task, *texts))
    _, *below = markdown_table(("", *ARCHITECTURES), lines)
    text = "\n".join([HEAD, f"| | {' | '.join(ARCHITECTURES)} |", *below, "", totals(found), ""])
    return text.replace("<br><details>", "<details>").replace("</details><br>", "</details>")


def load(path: Path) -> tuple[list[Row], dict[str, Json]]:
    """Returns the rows and the options of a ledger. Raises CommandError."""
    if not path.exists():
        raise cli.CommandError(f"no ledger at {path}; `{MAKE} {path}` makes one")
    with cli.usage_errors():
        return read_run(path)


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, "Which architecture solves which task, by the verdicts of a ledger.", EPILOG)
    parser.add_argument(
        "ledger", nargs="?", type=Path, default=None, help="what `python -m verify --ledger PATH` wrote"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON document")
    form.add_argument("--markdown", action="store_true", help="the page docs/separation.md")
    arguments = parser.parse_args(argv)
    rows, options = load(arguments.ledger or LEDGER)
    result = list(cells(rows))
    if arguments.json:
        cli.write_json(
            {
                "schema": 1,
                "options": options,
                "cells": [cell.document() for cell in result],
                "bits": [asdict(item) for item in bits.claimed_bits(rows, solving_models())],
                "settled": status(result) == cli.HOLDS,
            }
        )
    elif arguments.markdown:
        print(markdown(result))
        print(bits.markdown(bits.claimed_bits(rows, solving_models())), end="")
    else:
        screen = console()
        print_table(screen, table(result, min(WIDTH, screen.width)), LEAST_WIDTH)
        screen.print(totals(result))
        print_table(
            screen, bits.table(bits.claimed_bits(rows, solving_models()), min(WIDTH, screen.width)), LEAST_WIDTH
        )
    return status(result)


if __name__ == "__main__":
    sys.exit(main())

"""The tables of docs/gallery.md: `python -m tests.gallery [NAME …] [--all-n]` asks anew about these programs, by default about all.

What a program is takes no time and is written anew in each run. What is certified takes minutes: rows of programs that are not
named stay as they stand on the page. Each has the digest of the weights that it is of, and a test compares it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from constructions import counting, index, ngram, recall
from constructions.language.files import GALLERY, names_of_gallery
from constructions.language.program import ARCHITECTURES, NotCompiled
from constructions.retrieval.retriever import Retriever
from precision.format import Discipline
from tests.imports import ROOT
from verify.bits import subjects
from verify.bits.search import PrecisionWitness, search
from verify.certificates.building import every_n, model_of
from verify.certificates.document import CERTIFIED
from verify.dossiers.dossier import LEAST, Subject
from verify.dossiers.written import ProgramDossier, find_program
from verify.rounding.model import ExactModel
from verify.theorem import TRIED, links

PAGE = ROOT / "docs" / "gallery.md"
SIZE = 8
SIZES = (4, 8, 100, 1000)
BY_HAND: Mapping[str, Sequence[Retriever]] = {
    "associative_recall": (recall.TRANSFORMER, recall.HYBRID),
    "lookup": (index.TRANSFORMER, index.HYBRID),
    "more_than": (counting.TRANSFORMER, counting.HYBRID),
    "trigram": (ngram.TRANSFORMER, ngram.HYBRID),
    "recall_search": (recall.RAG,),
    "trigram_search": (ngram.RAG,),
}
"""Programs of tasks that are wired by hand as well, and those models."""
NONE, NOT_ASKED, NOT_LOOKED_UP = "none", "not asked", "not looked up"
SAYS: Mapping[str, str] = {
    "2105.11115": "O(log k) bits of memory for a token in a layer",
    "2411.12537": "finite precision, where it says what cannot be done",
    "2506.12027": "a constant number of bits",
    **dict.fromkeys(("2106.06981", "2112.00114", "2202.12172", "2310.07923"), "nothing"),
    **dict.fromkeys(("2402.01032", "2402.09268", "2402.18510", "2408.14332"), "nothing"),
}
"""What the abstract says of precision, by its number on arXiv."""
HEADS = {
    "programs": ("file", "task", "source", "precision in its abstract"),
    "architectures": ("file", *ARCHITECTURES),
    "by-hand": (
        *("file", "architecture", "blocks, heads by hand", "compiled", "p by hand, fused", "compiled"),
        *("p by hand, sequential", "compiled", "lines by hand", "compiled"),
    ),
    "certified": ("file", "weights", f"n = {SIZE}", "every n", "wired p", "certified from", "fails at", "on"),
}


@dataclass(frozen=True)
class Asked:
    """A program of the gallery at one n. architecture: by default its own."""

    name: str
    n: int = SIZE
    architecture: str | None = None

    @property
    def dossier(self) -> ProgramDossier:
        """Its dossier."""
        dossier = find_program(self.name, self.architecture)
        if not isinstance(dossier, ProgramDossier):
            raise TypeError(f"{self.name} is no program of the gallery")
        return dossier

    @property
    def subject(self) -> Subject:
        """What the commands ask about."""
        return Subject(self.dossier, self.n)

    @cached_property
    def model(self) -> ExactModel:
        """Its exact layers. Raises NotCompiled."""
        return model_of(self.subject)

    @property
    def weights(self) -> str:
        """The first digits of the digest of its exact layers."""
        return str(self.model.digest)[:8]

    def described(self) -> tuple[str, ...]:
        """Its row of the first table."""
        text = (GALLERY / f"{self.name}.py").read_text(encoding="utf-8")
        paper = re.search(r"^Source:.*?arXiv (\d{4}\.\d{5})", text, re.M | re.S)
        source = self.dossier.written.source
        number = paper[1] if paper else ""
        if paper:
            source = f"[{source or f'arXiv {number}'}](https://arxiv.org/abs/{number})"
        says = SAYS.get(number, NOT_LOOKED_UP) if paper else ""
        return (f"`{self.name}`", self.dossier.written.statement, source, says)

    @property
    def compiles(self) -> bool:
        """Whether it is compiled for this architecture."""
        try:
            return bool(self.model)
        except NotCompiled:
            return False

    @property
    def size(self) -> str:
        """Blocks, heads and p."""
        heads = sum(len(layer.heads) for layer in self.model.layers)
        return f"{len(self.model.layers)}, {heads}, {self.dossier.least_precision(self.subject)}"

    def sized(self) -> tuple[str, ...]:
        """Its row of the table of architectures."""
        every = (ask(self.name, architecture) for architecture in ARCHITECTURES)
        return (f"`{self.name}`", *(one.size if one.compiles else "" for one in every))

    def certified(self, *, every: bool) -> tuple[str, ...]:
        """Its row of the last table. every: whether to ask about every n."""
        of_every = theorem(every_n(replace(self.subject, n=LEAST), theorem=True)) if every else NOT_ASKED
        return (f"`{self.name}`", f"`{self.weights}`", theorem(self.subject), of_every, *self._bits())

    def _bits(self) -> tuple[str, str, str, str]:
        """The wired p; from which p on it is certified, the largest p at which a hard prompt fails, and that prompt."""
        row = search(subjects.BitsSubject(self.dossier, discipline=Discipline.FUSED), self.n)
        certified = NONE if row.certified is None else str(row.certified)
        point = row.fails_at
        if point is None or point.witness is None:
            return str(row.wired_for), certified, NONE, ""
        return str(row.wired_for), certified, str(point.precision_bits), shown(point.witness)


@cache
def ask(name: str, architecture: str) -> Asked:
    """Returns the program as it is compiled to an architecture, for SIZE: one object, whose layers are made once."""
    return Asked(name, architecture=architecture)


def beside(name: str, wired: Retriever) -> tuple[str, ...]:
    """What a model wired by hand takes, and its program as compiled."""
    architecture = wired.model if wired.model in ARCHITECTURES else "rnn"
    asked = [Asked(name, n, architecture) for n in SIZES]
    blocks: list[Sequence[Any]] = [wired.build(SIZE).model.blocks, ask(name, architecture).model.layers]
    cells = [f"{len(of)}, {sum(len(block.heads) for block in of)}" for of in blocks]
    for discipline in Discipline:
        cells.append(", ".join(str(wired.least_precision(n, discipline)) for n in SIZES))
        subjects = (replace(one.subject, discipline=discipline) for one in asked)
        cells.append(", ".join(str(subject.dossier.least_precision(subject)) for subject in subjects))
    files = (ROOT / "constructions" / f"{wired.task.name}.py", GALLERY / f"{name}.py")
    cells += [str(len(path.read_text(encoding="utf-8").splitlines())) for path in files]
    return (f"`{name}`", architecture, *cells)


def theorem(subject: Subject) -> str:
    """Whether each link of it holds, or the first one that does not."""
    for link in links(subject):
        if link.verdict not in (CERTIFIED, TRIED):
            return f"{link.name}: {link.verdict}"
    return "holds"


def shown(witness: PrecisionWitness) -> str:
    """The input and the first wrong word, for a cell of a table."""
    text = f"`{witness.input}`: `{witness.said}` for `{witness.expected}`"
    if witness.right:
        text += f", after {witness.right} right word{'s' * (witness.right > 1)}"
    return text.replace("|", "\\|")


def table(name: str, rows: Sequence[Sequence[str]]) -> str:
    """A table of the page, with its marks."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (HEADS[name], *rows)]
    lines.insert(1, "|" + "---|" * len(HEADS[name]))
    return "\n".join([f"<!-- {name}: begin -->", *lines, f"<!-- {name}: end -->"])


def rows_of(text: str) -> dict[str, tuple[str, ...]]:
    """The rows of the last table as they stand on the page, by name."""
    part = text.partition("<!-- certified: begin -->\n")[2].partition("<!-- certified: end -->")[0]
    rows = [tuple(re.split(r" ?(?<!\\)\| ?", line)[1:-1]) for line in part.splitlines()[2:]]
    return {row[0].strip("`"): row for row in rows}


def page(text: str, rows: Mapping[str, Sequence[str]]) -> str:
    """The page with these rows in its last table, and the others made anew."""
    tables = {
        "programs": table("programs", [Asked(name).described() for name in names_of_gallery()]),
        "architectures": table("architectures", [Asked(name).sized() for name in names_of_gallery()]),
        "by-hand": table("by-hand", [beside(name, wired) for name, models in BY_HAND.items() for wired in models]),
        "certified": table("certified", [rows[name] for name in names_of_gallery() if name in rows]),
    }
    for name, new in tables.items():
        text = re.sub(f"<!-- {name}: begin -->.*?<!-- {name}: end -->", lambda _, new=new: new, text, flags=re.S)
    return text


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.gallery", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names_of_gallery())}")
    parser.add_argument("--all-n", action="store_true", help="ask about every n as well")
    options = parser.parse_args(argv)
    if unknown := {*options.names} - {*names_of_gallery()}:
        parser.error(f"there is no program {min(unknown)!r} in the gallery")
    for name in options.names or names_of_gallery():
        print(f"{name} …", file=sys.stderr, flush=True)
        row = Asked(name).certified(every=options.all_n)
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(page(text, {**rows_of(text), name: row}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

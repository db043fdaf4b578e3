"""The searches of Algorithm 2 as tokens, repaired and as printed.

Source: Algorithm 2, r1 to r4; definition A.5.
Notation: v is the vertex that a search is about, u the one that the walk comes from; both are tokens of their own.
  father, record  (?x)(\\d+)\\s-\\s v \\b                                                       r2, r4
  first           (?x)(?:(?<=\\b v \\s~\\s)|(?=\\d+\\s~\\s v \\b))(\\d+)                           r1
  next            (?x)\\b(?: u \\s~\\s v | v \\s~\\s u )\\b[^-]*?(?: … as for first … )(\\d+)      r1 after the edge u v, r3
Derivation: under (?x) the spaces between a pattern's tokens mean nothing, and \\s is a space of the text. So no search is taken for
an edge or a record, as it has no space there; and \\b keeps 5 out of 15 and 57, at the end of the text too. [^-]*? ends with
the prompt, at the mark of the first record; .*? would find the same, later. Each search takes time linear in the text: the
graph has an edge once, so nothing is tried twice after it.

ERRATUM Algorithm 2: paper says, we use and why stand in each finding below.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from constructions.models.program import back
from constructions.wiring.affine import Affine
from constructions.wiring.finding import Finding

FATHER_SPACES = Finding(
    id="father-spaces",
    source="Algorithm 2, r2",
    printed=r"the search \b(\S+)\b −\bv\b for the father of v",
    used=r"(?x)(\d+)\s-\s v \b",
    why="our transcription has no blank after the sign; with blanks on both sides the searches are right",
)
RECORD_SPACES = Finding(
    id="record-spaces",
    source="Algorithm 2, r4",
    printed=r"the search \b(\S+)\b −\bv''\b for a record of v''",
    used=r"(?x)(\d+)\s-\s v'' \b",
    why="our transcription has no blank after the sign; with blanks on both sides the searches are right",
)
EDGE_SPACES = Finding(
    id="edge-spaces",
    source="Algorithm 2, r1 and r3",
    printed=r"∼\bv\b and \bv\b ∼\b for the two ends of an edge, the walked edge among them",
    used=r"\s~\s under (?x)",
    why="our transcription has no blank after the sign; with blanks on both sides the searches are right",
)
TWO_GROUPS = Finding(
    id="two-groups",
    source="Algorithm 2, r1 and r3, with A.5",
    printed="(neighbour) ∼ v | v ∼ (neighbour): a group in each alternative, and nothing around the two",
    used="what stands before or after the neighbour in two alternatives, and the neighbour in one group",
    why="group(1) takes no part where the second alternative matches, and a prefix belongs to the first alternative only; brackets"
    " around the two set both right, if a search returns the group that took part",
)
EDGE_GROUP = Finding(
    id="edge-group",
    source="Algorithm 2, r1 and r3, with A.5",
    printed="the walked edge stands in a group, before the neighbour's",
    used="(?: … ), which is not counted",
    why="group(1) is then the walked edge; the neighbour is meant, so the edge's brackets are not to be counted",
)
FINDINGS: tuple[Finding, ...] = (FATHER_SPACES, RECORD_SPACES, EDGE_SPACES, TWO_GROUPS, EDGE_GROUP)


class Ref(Enum):
    """A vertex quoted in a search."""

    VERTEX = "v"
    FROM = "u"


V, U = Ref.VERTEX, Ref.FROM
Script = tuple[str | Ref, ...]


@dataclass(frozen=True)
class SearchWords:
    """What is written between <StartSearch> and <EndSearch>. The first token occurs once, and in no other script."""

    script: Script

    @property
    def first(self) -> str:
        """The token that tells this search from others."""
        return str(self.script[0])

    def __len__(self) -> int:
        return len(self.script)

    @property
    def last_vertex(self) -> int:
        """Returns how many tokens follow the last v."""
        return self.script[::-1].index(V)

    def began(self, ago: int) -> Affine:
        """Returns the form that is 1 if the search's first token was written so many tokens ago, else 0."""
        return back(self.first, ago)


@dataclass(frozen=True)
class Searches:
    """Those of one variant."""

    father: SearchWords
    record: SearchWords
    first: SearchWords
    next: SearchWords

    @property
    def pieces(self) -> tuple[str, ...]:
        """Their tokens but for the vertices."""
        every = (item for search in (self.father, self.record, self.first, self.next) for item in search.script)
        return tuple(dict.fromkeys(item for item in every if isinstance(item, str)))


def searches(printed: frozenset[str]) -> Searches:
    """Returns the searches that the model writes, with these findings put back to print."""
    spaceless = EDGE_SPACES.id in printed
    group = "(" if EDGE_GROUP.id in printed else "(?:"
    around, neighbour = _neighbour(spaceless, TWO_GROUPS.id in printed)
    edge: Script
    if spaceless:
        flags, edge, skip = "", (rf"{group}\b", U, r"\b ~\b", V, r"\b|\b", V, r"\b ~\b", U), r"\b).*?"
    else:
        flags, edge, skip = "(?x)", (rf"(?x)\b{group}", U, r"\s~\s", V, "|", V, r"\s~\s", U), r")\b[^-]*?"
    return Searches(
        father=_record(FATHER_SPACES.id in printed),
        record=_record(RECORD_SPACES.id in printed),
        first=SearchWords((flags + around, *neighbour)),
        next=SearchWords((*edge, skip + around, *neighbour)),
    )


def _record(spaceless: bool) -> SearchWords:
    return SearchWords((r"\b(\S+)\b -\b" if spaceless else r"(?x)(\d+)\s-\s", V, r"\b"))


def _neighbour(spaceless: bool, two: bool) -> tuple[str, Script]:
    """Writes how the search for a neighbour starts, and how it goes on."""
    match spaceless, two:
        case True, True:
            return r"\b(\S+)\b ~\b", (V, r"\b|\b", V, r"\b ~\b(\S+)\b")
        case True, False:
            return r"(?:(?<=\b", (V, r"\b ~\b)|(?=\d+\b ~\b", V, r"\b))(\d+)")
        case False, True:
            return r"\b(\d+)\s~\s", (V, r"\b|\b", V, r"\s~\s(\d+)\b")
    return r"(?:(?<=\b", (V, r"\s~\s)|(?=\d+\s~\s", V, r"\b))(\d+)")

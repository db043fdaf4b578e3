"""docs/transcription.md: each claim points at a section of it, and each section names the claims that rest on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import verify
from verify.framework.claim import Claim
from verify.replay import Replay, run
from verify.transcription import PAGE, anchor_of, link, places_of

PARTS = ("Transcribed", "Sentence", "Open", "Filled", "Claims")
NO_CLAIM = "no claim has"


@dataclass(frozen=True)
class Section:
    """A heading's anchors, and what stands below it. patterns: of the ids of the claims that it names."""

    anchors: tuple[str, ...]
    text: str
    patterns: tuple[str, ...]

    def names(self, id: str) -> bool:
        """Whether it names this claim."""
        return any(fnmatchcase(id, pattern) for pattern in self.patterns)


def sections(page: str) -> list[Section]:
    """Those of the page, in order."""
    result = []
    for text in re.split(r"^## ", page, flags=re.M)[1:]:
        heading, _, below = text.partition("\n")
        named = below.partition("**Claims**")[2]
        result.append(Section(tuple(re.findall(r'id="(\w+)"', heading)), below, tuple(re.findall(r"`(\S+)`", named))))
    return result


def astray(claims: Mapping[str, str], page: Sequence[Section]) -> list[str]:
    """What is wrong between claims, id → source, and the page."""
    by_anchor = {anchor: section for section in page for anchor in section.anchors}
    wrong = []
    for id, source in claims.items():
        places = places_of(source)
        wrong += [f"{id}: {place} has no section" for place in places if anchor_of(place) not in by_anchor]
        if not any(by_anchor[anchor].names(id) for anchor in map(anchor_of, places) if anchor in by_anchor):
            wrong.append(f"{id}: no section of {source!r} names it")
    for section in page:
        pointed = {id for id, source in claims.items() if {*map(anchor_of, places_of(source))} & {*section.anchors}}
        if not section.patterns:
            if pointed or NO_CLAIM not in section.text:
                wrong.append(
                    f"#{section.anchors[0]}: names no claim, and {', '.join(sorted(pointed)) or 'says no reason'}"
                )
            continue
        wrong += [
            f"#{section.anchors[0]}: there is no claim {pattern}"
            for pattern in section.patterns
            if not any(fnmatchcase(id, pattern) for id in claims)
        ]
    return wrong


@pytest.fixture(scope="module")
def page() -> list[Section]:
    return sections(PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    known: Mapping[str, Claim] = run(Path(verify.__file__).parent, Replay(), "--collect-only").claims
    return {id: claim.source for id, claim in known.items()}


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("Lemmas C.9 and C.15", ("C.9", "C.15")),
        ("Lemmas C.15 to C.18", ("C.15", "C.16", "C.17", "C.18")),
        ("Theorem 4.6, lower bound; Lemma C.24", ("4.6", "C.24")),
        ("definitions 3.3 to 3.5", ("3.3", "3.4", "3.5")),
        ("section 3 (embedding) and C.6.2, layer 9", ("3", "C.6.2")),
        ("section 3.2, the word embedding", ("3.2",)),
        ("Algorithm 2, r1 and r3, with A.5", ("5.3", "A.5")),
        ("Theorem 5.3, Algorithm 2", ("5.3",)),
        ("C.6.2, layer 9 and |Tokenize(G)| = 3n − 2", ("C.6.2",)),
        ("As Lemma C.3 says.", ("C.3",)),
        ("section 6", ("6",)),
        ("appendix B", ("B",)),
    ],
)
def test_a_source_names_its_places(source: str, places: tuple[str, ...]) -> None:
    assert places_of(source) == places


@pytest.mark.parametrize("source", ["", "the introduction", "Theorem X.1"])
def test_a_source_without_a_place_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="names no place"):
        link(source)


def test_a_link_leads_to_the_first_place() -> None:
    assert link("Lemmas C.9 and C.15") == "transcription.md#c9"
    assert link("Theorem 4.7, appendix C.6.2") == "transcription.md#47"


def test_every_claim_has_its_section_and_every_section_its_claims(
    sources: Mapping[str, str], page: Sequence[Section]
) -> None:
    assert len(sources) > 400
    assert astray(sources, page) == []


def test_a_claim_that_goes_astray_is_told() -> None:
    there = sections("## <a id='x'></a>".replace("'", '"') + "X\n- **Claims**: `C.3/*`\n")
    assert astray({"C.3/a": "Lemma C.3"}, there) == [
        "C.3/a: C.3 has no section",
        "C.3/a: no section of 'Lemma C.3' names it",
    ]
    there = sections('## <a id="c3"></a>C.3\n- **Claims**: `C.3/*`, `C.4/*`\n')
    assert astray({"C.3/a": "Lemma C.3"}, there) == ["#c3: there is no claim C.4/*"]
    assert astray({"C.3/a": "Lemma C.3", "C.4/a": "Lemma C.3"}, there[:1]) == []
    there = sections('## <a id="c3"></a>C.3\n- **Claims**: no claim has it.\n')
    assert astray({}, there) == []
    assert len(astray({"C.3/a": "Lemma C.3"}, there)) == 2


def test_the_sections_have_their_parts_and_the_links_their_anchors(page: Sequence[Section]) -> None:
    anchors = [anchor for section in page for anchor in section.anchors]
    assert len(set(anchors)) == len(anchors)
    for section in page:
        assert section.anchors
        assert [part for part in PARTS if f"**{part}**" not in section.text] == [], section.anchors
    assert {*re.findall(r"\]\(#(\w+)\)", PAGE.read_text(encoding="utf-8"))} <= {*anchors}

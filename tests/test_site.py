"""The documentation site, without the packages that build it: the list of claims is the ledger, what is linked to is there."""

from __future__ import annotations

import ast
import functools
import importlib
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import constructions
import precision
from tests.pages import Element, tree
from verify import site
from verify.framework import ledger
from verify.framework.claim import Claim, Exhaustive, Kind, Reading, Row, Verdict, Witness

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NODE = shutil.which("node")


@functools.cache
def shown() -> Element:
    """The list of the committed ledger."""
    return tree(site.html(ledger.read(DOCS / "ledger.json")))


@functools.cache
def rows() -> Mapping[str, Any]:
    """The committed ledger, as plain JSON."""
    document = json.loads((DOCS / "ledger.json").read_text(encoding="utf-8"))
    result = {row["id"]: row for row in document["rows"]}
    assert len(result) == len(document["rows"])  # an address is of one row
    return result


def facts(details: Element) -> dict[str, Element]:
    names, values = details.one("dl").all("dt"), details.one("dl").all("dd")
    return {name.text: value for name, value in zip(names, values, strict=True)}


def number(text: str) -> int:
    """10,000, 2^63, 2^63 − 1, 10^12."""
    power, _, less = text.partition(" − ")
    base, _, exponent = power.replace(",", "").partition("^")
    return int(base) ** int(exponent or 1) - int(less or 0)


def sizes(text: str) -> list[list[str | None]]:
    """The intervals that a line says, as the ledger has them."""
    result = []
    for part in re.sub(r",(?=\d)", "", text.removeprefix("n = ")).split(", "):
        low, _, high = part.partition(" … ")
        endless = low.endswith(" and above")
        ends = number(low.removesuffix(" and above")), None if endless else number(high or low)
        result.append([None if end is None else str(end) for end in ends])
    return result


def test_the_list_of_claims_is_the_ledger() -> None:
    claims = list(shown().all("details"))
    assert [claim.one("h3").attributes["id"] for claim in claims] == list(rows())
    for claim, (id, row) in zip(claims, rows().items(), strict=True):
        said, data = facts(claim), claim.attributes
        assert claim.one("h3").text == id
        assert claim.one("summary").one("span").text == row["statement"]
        verdict = claim.one("summary").one("strong")
        assert verdict.attributes["class"] == row["verdict"]
        assert verdict.text.startswith(row["verdict"])
        assert (row["kind"] is None) or verdict.text == f"refuted ({row['kind']})"
        assert said["source"].text == row["source"]
        assert said["weights"].text.startswith(row["variant"])
        assert row["finding"] in said["weights"].text
        assert [float(said["seconds"].text), float(data["data-seconds"])] == [row["seconds"]] * 2
        for name in ("note", "engine"):
            assert (said[name].text if name in said else "") == row[name]
        assert ("expected" in said) == (row["verdict"] != row["expected"])
        readings = list(said["readings"].all("li")) if row["readings"] else []
        for line, reading in zip(readings, row["readings"], strict=True):
            assert line.text.startswith(reading["text"])
            assert ("; holds" if reading["holds"] else "; fails") in line.text
            assert [link.text for link in line.all("a")] == [reading["shown"]] * bool(reading["shown"])
        evidence = list(said["evidence"].all("li")) if row["evidence"] else []
        for line, part in zip(evidence, row["evidence"], strict=True):
            assert line.text.startswith(f"{part['kind']}: {part['range']}")
            assert part["precision"] in line.text
            assert part.get("stopped") or f"{part['cases']:,} case" in line.text if "cases" in part else True
            assert [sizes(span.text) for span in line.all("span")] == [part["sizes"]] * bool(part["sizes"])
        kinds = {part["kind"] for part in row["evidence"]}
        assert set(data["data-evidence"].split()) == kinds
        below = "below" in kinds and row["verdict"] == "holds"
        assert set(data["data-verdict"].split()) == {row["verdict"], row["kind"] or "", "from" * below} - {""}
        about = [data[f"data-{name}"] for name in ("variant", "engine", "theorem")]
        assert about == [row["variant"], row["engine"] or "none", row["theorem"]]
        assert ("witness" in said) == (row["witness"] is not None)
        if row["witness"] is not None:
            assert json.loads(said["witness"].one("code").text) == row["witness"]["case"]
            assert all(f"{name}: " in said["witness"].text for name in row["witness"]["shows"])
        commands = [code.text.split() for code in said["again"].all("code")]
        assert all(id in command for command in commands)
        assert (len(commands) == 2) == (row["witness"] is not None or any(x.get("sha256") for x in row["evidence"]))
        assert ("finding" in said) == (row["verdict"] == "refuted" or below)


def test_every_link_of_the_list_leads_somewhere() -> None:
    links = [link.attributes["href"] for link in shown().all("a")]
    assert {link.partition("#")[0] for link in links} == {"ledger.html", "transcription.html", "findings.html"}
    for link in set(links):
        page, _, anchor = link.partition("#")
        assert anchor in anchors(page.replace(".html", ".md")), link
    for id in rows():
        assert f"ledger.html#{id}" in links
        assert id in anchors("ledger.md")  # of the table, for readers without the site


@functools.cache
def anchors(page: str) -> frozenset[str]:
    """What can be linked to on a page of docs/."""
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    actual = re.findall(r'<a id="([^"]+)"></a>', text)
    assert len(set(actual)) == len(actual), page
    titles = [re.sub(r"<[^>]+>", "", title).lower() for title in re.findall(r"^#+ (.*)$", text, re.M)]
    return frozenset([*actual, *(re.sub(r"\s+", "-", re.sub(r"[^a-z0-9_\s-]", "", title)) for title in titles)])


@pytest.mark.parametrize("page", [*sorted(path.name for path in DOCS.glob("*.md")), "../README.md"])
def test_every_anchor_that_a_page_links_to_is_there(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?:docs/)?([\w-]+\.md)?#([^)\s]+)\)", text):
        assert anchor in anchors(target or page), f"{page}: {target}#{anchor}"


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_a_page_begins_with_a_title_and_a_sentence(page: str) -> None:
    title, first, *_ = (DOCS / page).read_text(encoding="utf-8").split("\n\n")
    assert re.fullmatch(r"# \S.*", title)
    assert re.match(r"[A-Z`*].*[.:]$", first.replace("\n", " "))


def test_only_the_ledgers_page_becomes_a_list() -> None:
    home = site.on_page_markdown(
        "", page=SimpleNamespace(file=SimpleNamespace(src_uri="index.md")), config=None, files=None
    )
    assert home.startswith("# Hand-wired Transformers and RNNs, checked\n")
    assert "\n## What came out\n" in home
    assert "](docs/" not in home
    for name in ("ledger.md", "findings.md"):
        text = (DOCS / name).read_text(encoding="utf-8")
        page = SimpleNamespace(file=SimpleNamespace(src_uri=name))
        made = site.on_page_markdown(text, page=page, config=None, files=None)
        assert (made == text) == (name != "ledger.md")
        assert site.on_page_content("a.\nb: c", page=page, config=None, files=None) == "a.\nb: c"
    listed = site.on_page_markdown(
        (DOCS / "ledger.md").read_text(encoding="utf-8"), SimpleNamespace(file=SimpleNamespace(src_uri="ledger.md"))
    )
    assert listed.startswith("# Ledger\n")
    assert listed.count("<details ") == len(rows())
    assert "| claim |" not in listed


def test_what_is_said_of_a_field_begins_a_line() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="api-precision.md"))
    text = "A format.\nname, other: as printed;\nmax(n): most.\nso that: no"
    broken = "A format.<br>\nname, other: as printed;<br>\nmax(n): most.\nso that: no"
    assert site.on_page_content(text, page) == broken


WITNESS = Witness([1, "<b>"], {"expected": "</script>", "got": [2]}, "all", 4, None, "reference", 0)
REFUTED = Row(
    Claim("X.2", "Lemma X.2", "so", "printed", expected=Verdict.REFUTED),
    Verdict.REFUTED,
    (Exhaustive("all", "", 3, None, True),),
    WITNESS,
    "reference",
    0.1,
)


@given(st.text(min_size=1))
@example("</summary><script>alert(1)</script>&amp;\"'\x00")
@example("<!-- a & b")
@example("²")  # a digit, and no decimal
def test_any_text_is_shown_as_it_is(text: str) -> None:
    text = text.replace("\r", "").replace("\x00", "") or "x"  # no page has these
    name = re.sub(r"\s", "", text) or "x"
    reading = Reading(text, False)
    claim = replace(
        REFUTED.claim, id=name, theorem=name, statement=text, source=text, kind=Kind.FALSE, readings=(reading,)
    )
    page = tree(site.html([replace(REFUTED, claim=claim, note=text)]))
    actual, said = page.one("details"), facts(page.one("details"))
    assert actual.one("h3").attributes["id"] == actual.one("h3").text == actual.attributes["data-theorem"] == name
    assert actual.one("summary").one("span").text == said["note"].text == text
    assert said["source"].text == text
    assert said["readings"].text == f"{text}; fails"
    assert json.loads(said["witness"].one("code").text) == WITNESS.case
    assert said["witness"].text.endswith("expected: </script>; got: [2]")


def after(*actions: Mapping[str, object], hash: str = "") -> list[Any]:
    """What a reader sees on the committed ledger's page when it is opened and after each action, by its script."""
    if NODE is None:
        pytest.skip("no node to run the script")
    page = {
        "hash": hash,
        "rows": [
            {
                "id": claim.one("h3").text,
                "text": claim.text,
                "data": {name.removeprefix("data-"): value for name, value in claim.attributes.items()},
            }
            for claim in shown().all("details")
        ],
        "menus": {
            menu.attributes["name"]: [option.attributes["value"] for option in menu.all("option")]
            for menu in shown().all("select")
        },
        "actions": actions,
    }
    argv = [NODE, str(ROOT / "tests" / "ledger_dom.js"), str(DOCS / "ledger.js")]
    done = subprocess.run(argv, input=json.dumps(page), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_the_script_asks_for_what_the_page_has() -> None:
    script = (DOCS / "ledger.js").read_text(encoding="utf-8")
    ids = {
        part.attributes["id"] for tag in ("form", "p", "div") for part in shown().all(tag) if "id" in part.attributes
    }
    assert set(re.findall(r'byId\("([\w-]+)"\)', script)) == ids
    assert shown().one("script").attributes == {"src": "ledger.js"}
    assert shown().one("input").attributes["name"] == "words"
    assert "hidden" in shown().one("form").attributes  # until the script runs; `noscript` says what is missing
    assert "Without JavaScript" in shown().one("noscript").text
    assert not re.search(r"https?:|fetch\(", script)


def test_the_list_is_filtered_and_sorted() -> None:
    opened, slips, both, words, cleared, verdicts, slow, none = after(
        {"set": {"verdict": "slip"}},
        {"set": {"evidence": "sampled"}},
        {"set": {"verdict": "", "evidence": "", "words": " Circuit  GATES "}},
        {"reset": True},
        {"set": {"order": "verdict"}},
        {"set": {"order": "seconds"}},
        {"set": {"words": "no claim has unheard words"}},
    )
    everything = list(rows())
    assert opened["form"]
    assert opened["shown"] == cleared["shown"] == everything
    assert slips["shown"] == [id for id, row in rows().items() if row["kind"] == "slip"]
    assert slips["count"] == f"{len(slips['shown'])} of {len(everything)} claims"
    assert both["shown"] == [id for id in slips["shown"] if "sampled" in {x["kind"] for x in rows()[id]["evidence"]}]
    texts = {claim.one("h3").text: claim.text.lower() for claim in shown().all("details")}
    assert words["shown"] == [id for id, text in texts.items() if "circuit" in text and "gates" in text]
    assert 0 < len(words["shown"]) < len(everything)
    kinds = ["holds", "from", "false", "slip", "open", "unknown", "measured"]

    def rank(id: str) -> int:
        row = rows()[id]
        below = row["verdict"] == "holds" and any(part["kind"] == "below" for part in row["evidence"])
        return kinds.index("from" if below else row["kind"] or row["verdict"])

    assert verdicts["shown"] == sorted(everything, key=rank)
    assert slow["shown"] == sorted(everything, key=lambda id: -rows()[id]["seconds"])
    assert (none["shown"], none["count"]) == ([], f"0 of {len(everything)} claims")


def test_an_address_opens_its_claim_even_if_it_is_filtered_out() -> None:
    opened, _, other, _ = after(
        {"set": {"verdict": "unknown", "order": "seconds"}},
        {"hash": "C.14/printed"},
        {"hash": "nowhere"},
        hash="#4.7/rounding",
    )
    assert (opened["open"], opened["scrolled"]) == (["4.7/rounding"], "4.7/rounding")
    assert (other["open"], other["scrolled"]) == (["4.7/rounding", "C.14/printed"], "C.14/printed")
    assert other["shown"] == list(rows())


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("api-*.md")))
def test_what_a_page_of_the_reference_names_is_there_and_described(page: str) -> None:
    names = re.findall(r"^::: (\S+)$", (DOCS / page).read_text(encoding="utf-8"), re.M)
    assert names
    assert len(set(names)) == len(names)
    for name in names:
        package, _, last = name.rpartition(".")
        file = ROOT / f"{name.replace('.', '/')}.py"
        if file.is_file():  # a module, even if its package has a function of this name
            assert page in ("api-verify.md", "api-language.md")
            tree = ast.parse(file.read_text(encoding="utf-8"))
            if page == "api-verify.md":
                assert "main" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            text = ast.get_docstring(tree)
        else:
            text = getattr(importlib.import_module(package), last).__doc__
        assert text, name


@pytest.mark.parametrize("package", [constructions, precision])
def test_the_reference_is_whole(package: Any) -> None:
    text = (DOCS / f"api-{package.__name__}.md").read_text(encoding="utf-8")
    missing = [name for name in package.__all__ if not re.search(rf"(::: {package.__name__}\.|`){name}\b", text)]
    assert missing == []
    members = re.findall(r"members: \[(.*)\]", text)
    for name in [name for line in members for name in line.split(", ")]:
        assert getattr(constructions.LoadedModel, name).__doc__ or name == "wired"


def test_the_site_loads_nothing_from_elsewhere() -> None:
    """What the theme and its search would load, if nobody said otherwise: fonts, and a worker for pages without a server."""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.search(r"^  font: false\b", settings, re.M)
    assert re.search(r"^  polyfills: \[iframe-worker\.js\]", settings, re.M)
    assert (DOCS / "iframe-worker.js").is_file()
    assert not re.search(r"https?://", settings)
    for file in ("site.css", "ledger.js"):
        assert not re.search(r"https?://|@import", (DOCS / file).read_text(encoding="utf-8"))

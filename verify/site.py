"""The ledger as a page of the site: a list to filter and to sort, where each claim has an address, ledger.html#4.7/rounding.

mkdocs calls `on_page_markdown` and `on_page_content` (`hooks` in mkdocs.yml). The list is whole without JavaScript; docs/ledger.js
hides rows, orders them and opens the one of the address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path

from verify.findings import is_among_findings
from verify.framework.claim import (
    EVIDENCE,
    Evidence,
    Json,
    Kind,
    Proved,
    Reading,
    Row,
    Sizes,
    Verdict,
    compact,
    sizes_text,
)
from verify.framework.ledger import natural, range_text, read, sort_key, summary
from verify.framework.order import LEDGER
from verify.readme import MARK, transcribed

ROOT = Path(__file__).parents[1]
NO_ENGINE, FROM = "none", "from"
ORDERS = {"": "the paper's", "verdict": "by verdict", "evidence": "by evidence", "seconds": "by seconds, longest first"}
NAMES: dict[str, str] = {FROM: "holds from some n on", **{str(kind): f"refuted ({kind})" for kind in Kind}}
# Words stand in this order; others as in the paper.
KNOWN = (Verdict.HOLDS, FROM, Verdict.REFUTED, *Kind, Verdict.UNKNOWN, Verdict.MEASURED, *EVIDENCE)
FILTERS: dict[str, tuple[str, Callable[[Row], Sequence[str]]]] = {
    "verdict": ("Verdict", lambda row: [*_narrower(row), row.verdict]),
    "evidence": ("Evidence", lambda row: sorted({part.kind for part in row.evidence}, key=_place)),
    "variant": ("Variant", lambda row: [row.claim.variant]),
    "engine": ("Engine", lambda row: [row.engine or NO_ENGINE]),
    "theorem": ("Theorem", lambda row: [row.claim.theorem]),
}
"""What the list is filtered by: a label, and the words that a row is found by. By the first of them it is sorted."""


def html(rows: Sequence[Row]) -> str:
    """Returns the list, and the form that filters it."""
    rows = sorted(rows, key=sort_key)
    return "\n".join(
        (
            '<div class="ledger">',
            *_form(rows),
            f'<p id="ledger-count" role="status">{escape(summary(rows))}</p>',
            "<noscript><p>Without JavaScript this list cannot be filtered or sorted. Each line still opens.</p></noscript>",
            '<div id="ledger-rows">',
            *map(_row, rows),
            "</div>",
            '<script src="ledger.js"></script>',
            "</div>",
        )
    )


def _form(rows: Sequence[Row]) -> Iterator[str]:
    yield '<form id="ledger-form" aria-label="Filter and sort the claims" hidden>'
    yield '<label>Words <input name="words" type="search" placeholder="in names, sentences, evidence"></label>'
    for name, (label, words) in FILTERS.items():
        found = {word for row in rows for word in words(row)}
        options = {"": "any", **{word: NAMES.get(word, word) for word in sorted(found, key=_place)}}
        yield _select(name, label, options)
    yield _select("order", "Order", ORDERS)
    yield '<button type="reset">Clear</button>'
    yield "</form>"


def _narrower(row: Row) -> Sequence[str]:
    """Returns what a verdict is called more narrowly."""
    if row.verdict is Verdict.REFUTED:
        return [row.claim.kind] if row.claim.kind else []
    return [FROM] if row.holds_from is not None else []


def _place(word: str) -> tuple[int, list[tuple[int, str]]]:
    return KNOWN.index(word) if word in KNOWN else len(KNOWN), natural(word)


def _select(name: str, label: str, options: dict[str, str]) -> str:
    inner = "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in options.items())
    return f'<label>{label} <select name="{name}">{inner}</select></label>'


def _row(row: Row) -> str:
    claim = escape(row.claim.id)
    data = {name: " ".join(words(row)) for name, (_, words) in FILTERS.items()} | {"seconds": str(row.seconds)}
    attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    return (
        f'<details{attributes}><summary><h3 id="{claim}">{claim}</h3> '
        f'<strong class="{row.verdict}">{escape(row.verdict_text)}</strong> '
        f"<span>{escape(row.claim.statement)}</span></summary><dl>"
        + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in _facts(row) if text)
        + "</dl></details>"
    )


def _facts(row: Row) -> Iterator[tuple[str, str]]:
    """Yields what stands below a claim that is opened: names, and HTML."""
    claim = row.claim
    yield "address", _link(f"ledger.html#{claim.id}", f"ledger.md#{claim.id}")
    yield "source", _link(claim.source, transcribed(claim.source))
    yield "weights", escape(claim.variant_text)
    yield "readings", _list(map(_reading, claim.readings))
    about = f"findings.md#{claim.id}" if is_among_findings(row) else ""
    yield "finding", about and _link("what is printed, what is used instead, and why", about)
    yield "evidence", _list(map(_evidence, row.evidence))
    if row.witness is not None:
        shows = "; ".join(f"{name}: {_show(value)}" for name, value in row.witness.shows.items())
        yield "witness", f"{_code(compact(row.witness.case), 'case')}<br>{escape(shows)}"
    commands = [f"python -m verify --n-max 10000 --claim {claim.id}"]
    if row.witness is not None or any(isinstance(part, Proved) and part.sha256 for part in row.evidence):
        commands.insert(0, f"python -m verify.replay {claim.id}")
    yield "again", "<br>".join(map(_code, commands))
    yield "expected", "" if row.as_expected else escape(claim.expected)
    yield "engine", escape(row.engine)
    yield "seconds", str(row.seconds)
    yield "note", escape(row.note)


def _reading(reading: Reading) -> str:
    stands = f" ({reading.stands})" if reading.stands else ""
    by = f": {_link(reading.shown, f'ledger.md#{reading.shown}')}" if reading.shown else ""
    return f"{escape(reading.text + stands)}; {'holds' if reading.holds else 'fails'}{by}"


def _evidence(evidence: Evidence) -> str:
    sizes = f'<br><span class="sizes">{_every(evidence.sizes)}</span>' if evidence.sizes else ""
    return f"<strong>{evidence.kind}</strong>: {escape(range_text(evidence))}{sizes}"


def _every(sizes: Sizes) -> str:
    """Returns each interval, however many there are."""
    return "n = " + ", ".join(sizes_text((size,)).removeprefix("n = ") for size in sizes)


def _show(value: Json) -> str:
    return value if isinstance(value, str) else compact(value)


def _list(items: Iterator[str]) -> str:
    inner = "".join(f"<li>{item}</li>" for item in items)
    return inner and f"<ul>{inner}</ul>"


def _code(text: str, kind: str = "") -> str:
    return f"<code{f' class={kind}' if kind else ''}>{escape(text)}</code>"


def _link(text: str, target: str) -> str:
    """Returns a link to a page of docs/, as the site has it; the text alone without a target."""
    return f'<a href="{escape(target.replace(".md", ".html", 1))}">{escape(text)}</a>' if target else escape(text)


def on_page_markdown(markdown: str, page: Json, **_: object) -> str:
    """Changes a page before mkdocs makes HTML of it: the ledger's table becomes the list, the home page the README."""
    if page.file.src_uri == "ledger.md":
        return MARK.sub(lambda _: html(read(LEDGER)), markdown)
    return home() if page.file.src_uri == "index.md" else markdown


def home() -> str:
    """Returns the home page: the README, with what came out after it."""
    readme, results = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/results.md"))
    readme = re.sub(r"\[([^]]*)\]\(CONTRIBUTING\.md\)", r"\1", readme.replace("](docs/", "]("))
    return f"{readme}\n{results.replace('# ', '## ')}"


def on_page_content(html: str, page: Json, **_: object) -> str:
    """Changes the HTML of a page: in docstrings, the sentence on each field or argument, "n: the size.", begins a line."""
    reference = page.file.src_uri.startswith("api-")
    return re.sub(r"(?<=[.:;)])\n(?=\w+(?:, \w+)*(?:\([\w, ]*\))?: )", "<br>\n", html) if reference else html

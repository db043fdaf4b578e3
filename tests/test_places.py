"""Blocks and heads have one number, from 1, and one name in everything that people read of a model."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import constructions
from constructions.places import name_part, name_place
from constructions.wiring.wired import Wired
from tests.constructions.test_page import DOM, command, data_of
from verify import certify, explain

RUNS: Mapping[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {  # name, model, input, what verify is asked
    "istree": ("istree", "transformer", ("--edges", "1-2,2-3,3-4"), ("--n", "4")),
    "istree, layer 7 as printed": (
        "istree",
        "transformer",
        ("--edges", "1-2,2-3,3-4,4-5,5-6", "--printed", "layer-7"),
        ("--n", "6", "--printed", "layer-7"),
    ),
    "recall, hybrid": ("recall", "hybrid", ("5 2 7 9 ? 7",), ("--n", "9")),
    "turing, hybrid": ("turing", "hybrid", ("--machine", "bb2", "--steps", "6"), ("--machine", "bb2", "--n", "6")),
}


def expected(wired: Wired) -> set[str]:
    """Every place of a model, spelled out here."""
    result = set[str]()
    for b, (plan, block) in enumerate(zip(wired.blocks, wired.model.blocks, strict=True), start=1):
        result |= {f"block {b}", f"block {b}, feed-forward", f"block {b}, recurrence", f"block {b}, attention"}
        if plan.heads:
            result.add(f"block {b}, attention ({', '.join(head.name for head in plan.heads)})")
        owners = [gadget.name for gadget in plan.gadgets for _ in gadget.units]
        for u in range(1, len(block.feed_forward.gate) + 1):
            result |= {f"block {b}, feed-forward, unit {u}", f"block {b}, feed-forward, unit {u} ({owners[u - 1]})"}
        kinds: dict[str, Sequence[Any]] = {"head": plan.heads, "linear unit": plan.linear_units, "gadget": plan.gadgets}
        for kind, parts in kinds.items():
            result |= {f"block {b}, {kind} {i} ({one.name})" for i, one in enumerate(parts, start=1)}
    return result


def odd(text: str, places: set[str]) -> list[str]:
    """What of a text names a block or a head in another way."""
    names = {place.split(", ", 1)[1] for place in places if ", head " in place}
    bare = "|".join(re.escape(name.split(" (", 1)[1][:-1]) for name in sorted(names))
    wrong = []
    for found in re.finditer(
        r"\bblock [^\w\s]?(?=\d)|\bhead [^\w\s]?(?=\d)|\blayer [^\w\s]?\d|\bblocks\.\d", text, re.IGNORECASE
    ):
        rest = text[found.start() :]
        known = max((place for place in places | names if rest.startswith(place)), key=len, default="")
        behind = rest[len(known) :]
        if not known or re.match(r"\d|, (head|unit|gadget|linear|layer|recurrence|attention|feed)| ?\(", behind):
            wrong.append(rest[:60])
    if bare:
        wrong += re.findall(rf"head [\"'“]?(?:{bare})\b.{{0,30}}|[\"“](?:{bare})[\"”] (?:in|of) .{{0,30}}", text)
    return wrong


def written(call: Callable[[], object]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        call()
    return out.getvalue() + err.getvalue()


def objects(value: Any) -> list[dict[str, Any]]:
    """All objects of a JSON document."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*([value] if isinstance(value, dict) else []), *(one for item in inner for one in objects(item))]


def page_texts(path: Path) -> list[str]:
    """What is drawn and said on a page, without what only its scripts read."""
    data = data_of(path)
    texts = [step["says"] for step in data["steps"]] + [head["place"] for head in data["heads"]]
    texts += [*data["blocks"].values()]
    if (node := shutil.which("node")) is not None:
        done = subprocess.run([node, str(DOM), str(path)], capture_output=True, text=True, timeout=60, check=True)
        seen = json.loads(done.stdout)
        texts += [*seen["captions"], *seen["blocks"], *(title for at in seen["steps"] for title in at["titles"])]
        texts += [f"block {row[0]}, {row[1]}" for at in seen["steps"] for row in at["rows"] if row[0]]
    return texts


@pytest.mark.parametrize("title", RUNS)
def test_every_output_names_blocks_and_heads_in_one_way(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # nothing is wrapped
    name, model, given, asked = RUNS[title]
    main, page = command(name), tmp_path / "p.html"
    run = ("--model", model, *given)

    def output(*more: str) -> str:
        return written(lambda: main([*run, *more]))

    machine = {"machine": "bb2", "steps": 6} if name == "turing" else {}
    sized = {} if name == "turing" else {"n": int(asked[1])}
    findings = ["layer-7"] if "--printed" in given else []
    loaded = constructions.load(name, model=model, findings=findings, **sized, **machine)
    wired = loaded.wired
    places = expected(wired)
    assert any(", head 1 (" in place for place in places)

    dumped = written(lambda: main([*(run if name == "turing" else ("--model", model, *asked)), "--dump-weights"]))
    output("--html", str(page))
    texts = {"dump": dumped, "page": "\n".join(page_texts(page))}
    if name != "turing":  # whose trace is its tape's
        texts["trace"] = output("--trace")
        lines = re.findall(r"^ +(\d+)  ((?:head|feed|recurrence|linear).*?)  ", texts["trace"], re.MULTILINE)
        assert lines
        assert {f"block {block}, {part.strip()}" for block, part in lines} <= places
    verified = ("--model", model, *asked)
    texts["certify"] = written(lambda: certify.main([name, *verified, *(["--json"] if name == "istree" else [])]))
    if "--printed" not in asked:  # explaining that one takes long
        texts["explain"] = written(lambda: explain.main([name, *verified]))
    assert {what: wrong for what, text in texts.items() if (wrong := odd(text, places))} == {}
    shown = [place for place in places if ", head " in place]
    for what in ("page", "certify"):  # each names a head
        assert any(place in texts[what] for place in shown), what
    for place in shown:
        block, part = place.split(", ", 1)
        assert f"\n{block}" in dumped
        assert f"\n  {part}" in dumped


def test_flags_and_traces_as_json_say_numbers_from_1_and_names() -> None:
    document = json.loads(
        written(lambda: command("istree")(["--edges", "1-2,2-3", "--json", "--trace"])).partition("engine:")[0]
    )
    wired = constructions.load("istree", n=3).wired
    places, flags = expected(wired), document["flags"]
    assert flags
    assert all(flag["place"] in places for flag in flags)
    assert all(flag["place"].startswith(f"block {flag['layer']},") for flag in flags)
    heads = [one for one in objects(document["trace"]) if "attends_to" in one]
    assert heads
    assert all(f"block {one['block']}, head {one['number']} ({one['head']})" in places for one in heads)


def test_other_ways_are_seen() -> None:
    places = {"block 6", "block 6, head 1 (father)", "block 6, feed-forward", "block 4, head 2 (@3)", "block 4"}
    for right in (
        "block 6, head 1 (father): 3",
        "head 2 (@3), Lemma C.3",
        "# block 4: copies",
        "block 6, feed-forward",
    ):
        assert odd(right, places) == [], right
    for wrong in (
        "block 5, head 0",
        "block 6, head 0",
        "block 6, head 1",
        "block 6, head 2 (father)",
        "block 6, head 'father'",
        '"father" in block 6',
        "The head “father” reads",
        "layer 6",
        "blocks.5.attn.0.W_Q",
        "block 0",
        "block 60",
        "head 1, father",
    ):
        assert odd(wrong, places), wrong


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), "block 6"),
        ((name_part("head", 2, "father"),), "block 6, head 2 (father)"),
        ((name_part("head", 2),), "block 6, head 2"),
        (("feed-forward", name_part("unit", 7)), "block 6, feed-forward, unit 7"),
        ((name_part("attention", name="@2, @3"),), "block 6, attention (@2, @3)"),
    ],
)
def test_the_form(parts: Sequence[str], text: str) -> None:
    assert name_place(6, *parts) == text

"""The pages of --html: one file each, with scripts that run, and scenes that say what the run says."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
from functools import cache
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuits.models import SMALL
from circuits.runs import run_rnn
from constructions.istree.graphs import LAYOUTS, depth_first_tour, parse_edges
from constructions.models.search import retrieve
from constructions.show import page
from constructions.show.matches import find_match
from constructions.turing.library import find
from constructions.turing.simulator import simulate, steps
from tests.constructions.commands import command
from tests.pages import Element, tree

DOM = Path(__file__).with_name("page_dom.js")
NODE = shutil.which("node")
EDGES = "1-2,3-1,1-4,4-5"
RUNS: dict[str, tuple[str, ...]] = {
    "istree transformer": ("istree", "--edges", EDGES),
    "istree eos": ("istree", "--tokens", "eos", "--edges", EDGES),
    "istree hybrid": ("istree", "--model", "hybrid", "--edges", EDGES),
    "istree rag": ("istree", "--model", "rag", "--edges", "1-2,3-1"),
    "recall transformer": ("recall", "5 2 7 9 ? 7"),
    "recall rag": ("recall", "--model", "rag", "5 2 7 9 ? 7"),
    "counting hybrid": ("counting", "--model", "hybrid", "5 2 5 ? 5 1"),
    "turing cot": ("turing", "--machine", "bb2", "--model", "cot"),
    "turing rag": ("turing", "--machine", "bb2", "--model", "rag"),
    "turing hybrid": ("turing", "--machine", "bb2", "--model", "hybrid"),
    "simulate transformer": ("simulate", "--rnn", "parity", "1"),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of every kind of run."""
    folder, written = tmp_path_factory.mktemp("pages"), {}
    for title, (name, *argv) in RUNS.items():
        written[title] = folder / f"{title}.html"
        assert command(name)([*argv, "--html", str(written[title])]) == 0
    return written


def page_of(path: Path) -> Element:
    return tree(path.read_text(encoding="utf-8"))


def data_of(path: Path) -> Any:
    (script,) = [one for one in page_of(path).all("script") if one.attributes.get("id") == "data"]
    return json.loads(script.text)


@cache
def shown(path: Path, address: str = "#0") -> Any:
    """What a reader sees at each token, by the page's own scripts. address: what the page is opened with."""
    if NODE is None:
        pytest.skip("no node to run the scripts")
    done = subprocess.run([NODE, str(DOM), str(path), address], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("title", RUNS)
def test_a_page_is_one_file_and_holds_the_run(pages: dict[str, Path], title: str) -> None:
    text = pages[title].read_text(encoding="utf-8")
    parts, data = page_of(pages[title]), data_of(pages[title])
    assert parts.given("src", "href", "srcset", "action") == []
    ids = parts.given("id")
    assert len(set(ids)) == len(ids)
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)|fetch\(|\[\[[a-z]+\]\]", text)
    assert set(re.findall(r'byId\("([\w-]+)"\)', text)) <= set(ids)
    positions = [step["position"] for step in data["steps"]]
    assert positions == list(range(data["promptLength"], len(data["tokens"]) + 1))
    following = [*data["tokens"][data["promptLength"] :], data["steps"][-1]["produced"]]
    assert [step["produced"] for step in data["steps"]] == following
    for step in data["steps"]:
        assert step["says"]
        assert len(step["heads"]) == len(data["heads"])
        assert all(1 <= k <= step["position"] for head in step["heads"] for k, _ in head["to"])


@pytest.mark.parametrize("title", RUNS)
def test_the_scripts_show_every_step(pages: dict[str, Path], title: str) -> None:
    data, seen = data_of(pages[title]), shown(pages[title])
    assert seen["captions"] == [head["place"] for head in data["heads"]]
    assert seen["unreachable"] == 0
    assert seen["player"] == (len(data["steps"]) > 1)
    assert [at["count"] for at in seen["steps"]] == [
        f"token {step['position']} ({i} of {len(data['steps'])})" for i, step in enumerate(data["steps"], start=1)
    ]
    assert [at["address"] for at in seen["steps"]] == [f"#{step['position']}" for step in data["steps"]]
    for at, step in zip(seen["steps"], data["steps"], strict=True):
        assert at["says"] == step["says"]
        assert at["rows"][-1][-1] == step["produced"]
        assert [row[1] for row in at["rows"] if row[2]] == [head["part"] for head in data["heads"]]


@pytest.mark.parametrize("title", RUNS)
def test_a_map_has_a_mark_for_each_token_that_is_read(pages: dict[str, Path], title: str) -> None:
    """At least 8 pixels a token, and labels at both axes; of what was not asked for, none."""
    data, seen = data_of(pages[title]), shown(pages[title])
    assert all(cell >= 8 for cell in seen["cells"])
    assert seen["zoom"] == (bool(data["heads"]) and len(data["tokens"]) > 64)
    if len(data["tokens"]) > 64:
        return  # a part is painted
    for h, cell in enumerate(seen["cells"]):
        reads = [(k, to) for k, heads in enumerate(data["prompt"], start=1) for to, _ in heads[h]]
        heads = [(step["position"], step["heads"][h]) for step in data["steps"]]
        reads += [(k, to) for k, head in heads if not head["idle"] for to, _ in head["to"]]
        marks = seen["steps"][-1]["maps"][h]
        left, above = min(x for x, *_ in marks), min(y for _, y, *_ in marks)
        places = [(round((y - above) / cell), round((x - left) / cell)) for x, y, *_ in marks]
        first, least = min(k for k, _ in reads), min(to for _, to in reads)
        assert places == [(k - first, to - least) for k, to in reads]
        assert {"reads →", "asks ↓"} <= set(seen["steps"][-1]["ticks"][h])
        assert len(seen["steps"][-1]["ticks"][h]) > 4


def test_a_long_map_follows_the_token(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "p.html"
    edges = ",".join(f"{max(1, v // 2)}-{v}" for v in range(2, 31))
    assert command("istree")(["--edges", edges, "--html", str(path)]) == 0
    assert capsys.readouterr().out.endswith("YES\n")
    data, seen = data_of(path), shown(path)
    assert len(data["tokens"]) > 128
    assert seen["zoom"]
    assert set(seen["cells"]) == {8}
    for at, step in zip(seen["steps"], data["steps"], strict=True):
        for h, marks in enumerate(at["maps"]):
            if not step["heads"][h]["idle"]:
                assert any(30 <= y < 30 + 512 and 46 <= x < 46 + 512 for x, y, *_ in marks)


@pytest.mark.parametrize(("address", "step"), [("", 1), ("#5", 0), ("#15", 2), ("#999", -1), ("#0", 0), ("#five", 1)])
def test_an_address_opens_at_its_token(pages: dict[str, Path], address: str, step: int) -> None:
    """An address names a position. Without one, the page opens at the first step at which the search is somewhere."""
    data = data_of(pages["istree transformer"])
    first = shown(pages["istree transformer"], address)["steps"][0]
    wanted = data["steps"][step]
    assert first["count"].startswith(f"token {wanted['position']} (")
    assert first["says"] == wanted["says"]


def test_a_page_explains_its_captions(pages: dict[str, Path]) -> None:
    assert data_of(pages["istree transformer"])["captions"].startswith("Below a token of the prompt")
    assert data_of(pages["recall transformer"])["captions"] == ""


@pytest.mark.parametrize("title", RUNS)
def test_a_sentence_names_the_head_that_decided(pages: dict[str, Path], title: str) -> None:
    """The head's line is marked, and the sentence has what stands there; a model without heads has no such sentence."""
    data, named = data_of(pages[title]), 0
    for at, step in zip(shown(pages[title])["steps"], data["steps"], strict=True):
        if not at["deciding"]:
            assert at["decided"] in ("", "No head alone decides the next token.")
            assert bool(at["decided"]) == bool(data["heads"])
            continue
        (line,) = at["deciding"]
        block, part, where, because, _ = at["rows"][line]
        without = rf"The next token is decided by block {block}, {re.escape(part)}: without a match there, (\S+) would follow\. "
        match = re.fullmatch(without + re.escape(f"It reads {where}: {because}."), at["decided"])
        assert match is not None
        assert match[1] != step["produced"]
        named += 1
    assert (named > 0) == bool(data["heads"])


def test_a_token_s_step_and_a_machine_s_have_two_names(pages: dict[str, Path]) -> None:
    for title in RUNS:
        text = re.sub(
            r"<(script|style).*?</\1>|<[^>]*>", " ", pages[title].read_text(encoding="utf-8"), flags=re.DOTALL
        )
        says = " ".join(step["says"] for step in data_of(pages[title])["steps"])
        seen = shown(pages[title])
        drawn = " ".join(
            text for at in seen["steps"] for text in (*at["texts"], *at["titles"], at["legend"], at["count"])
        )
        actual = {word.lower() for word in re.findall(r"(\S+) steps?\b", f"{text} {says} {drawn}")}
        own = (
            {"(position", "(the", "="} if title.startswith("simulate") else set()
        )  # its register `step`, which is the RNN's
        assert actual <= {"machine", "rnn", "gates", "a", *own}, title  # `55 gates a step`


def test_a_recurrent_model_says_what_was_searched_and_found(pages: dict[str, Path]) -> None:
    data, seen = data_of(pages["istree rag"]), shown(pages["istree rag"])
    tokens, searches = data["tokens"], 0
    for at, step in zip(seen["steps"], data["steps"], strict=True):
        if tokens[step["position"] - 1] != "<EndSearch>":
            assert at["found"] is None
            continue
        searches += 1
        result = retrieve(tokens[: step["position"]])
        assert result == [step["produced"]]
        assert ("finds no match" in at["says"]) == (result == ["FAILED"])
        assert at["marked"] == ([] if result == ["FAILED"] else result)
    assert searches > 5
    assert any(step["kept"] for step in data["steps"])


@pytest.mark.parametrize("title", ["istree transformer", "istree eos", "istree hybrid", "istree rag"])
def test_the_search_walks_as_algorithm_1(pages: dict[str, Path], title: str) -> None:
    graph, data = parse_edges(RUNS[title][-1], None), data_of(pages[title])
    assert data["tokens"][0] == LAYOUTS["eos" if "eos" in RUNS[title] else "paper"].start
    walk = [step.get("focus", {}).get("current", 0) for step in data["steps"]]
    assert [vertex for vertex, _ in groupby(walk) if vertex] == list(depth_first_tour(graph))


@pytest.mark.parametrize("model", ["cot", "rag", "hybrid"])
def test_the_tape_is_the_machine_s(pages: dict[str, Path], model: str) -> None:
    machine = find("bb2").machine
    data, seen = data_of(pages[f"turing {model}"]), shown(pages[f"turing {model}"])
    expected = list(steps(machine))
    moves = [[s.state, s.head, s.written, s.head + s.move, s.next_state] for s in expected]
    assert data["scene"]["moves"] == moves
    done = data["scene"]["done"]
    assert len(done) == len(data["tokens"]) + 1  # the last word is not read
    assert done[: data["promptLength"]] == [0] * data["promptLength"]
    assert {b - a for a, b in pairwise(done)} == {0, 1}
    for at, step in zip(seen["steps"], data["steps"], strict=True):
        number = done[step["position"] - 1]
        end = simulate(machine, "", number)
        assert f"{end.state}▾" in at["texts"]
        cells = [text for text in at["texts"] if text.isdecimal() and len(text) == 1]
        assert end.nonblank <= sum(text == "1" for text in cells)  # numbers of cells stand below
    assert done[-1] == len(expected)


def test_the_circuit_lights_up_as_it_computes(pages: dict[str, Path]) -> None:
    rnn = SMALL["parity"].load(None, 1)
    data = data_of(pages["simulate transformer"])
    kinds = [gate[0] for gate in data["scene"]["gates"]]
    assert kinds == [gate.kind.name for gate in rnn.step.circuit.gates]
    (only,) = run_rnn(rnn, [rnn.vocabulary.index("1")], 1)
    for number, (step, value) in enumerate(zip(data["steps"], only.values, strict=False), start=1):
        assert step["says"].startswith(f"RNN step 1, gate {number}: ")
        assert step["says"].endswith(f" It is {value}.")
        for gate, operand in re.findall(r"gate (\d+) \((\d)\)", step["says"]):
            assert only.values[int(gate) - 1] == int(operand)
    assert data["steps"][-1]["says"] == f"RNN step 1 is complete: the RNN's own word is {rnn.vocabulary[only.written]}."
    assert data["verdict"] == rnn.vocabulary[only.written] == "odd"


def test_the_circuit_shows_every_value_and_the_last_word(pages: dict[str, Path], tmp_path: Path) -> None:
    """Of an RNN whose words 0 and 1 stand for 0 and 1, and of one that spells them otherwise."""
    rnn, text = SMALL["parity"].load(None, 1), pages["simulate transformer"].read_text(encoding="utf-8")
    circuit, (only,) = rnn.step.circuit, run_rnn(rnn, [rnn.vocabulary.index("1")], 1)
    data = data_of(pages["simulate transformer"])
    assert data["scene"]["bits"] == ["0", "1"]
    spelled = json.dumps(data).replace('"0"', '"no"').replace('"1"', '"yes"')
    other = tmp_path / "p.html"
    other.write_text(re.sub(r'(id="data">).*?(</script>)', lambda m: m[1] + spelled + m[2], text, flags=re.DOTALL))
    assert '"bits": ["no", "yes"]' in other.read_text()
    for path in (pages["simulate transformer"], other):
        first, *_, before, last = shown(path)["steps"]
        value = {"var(--next)": 1, "var(--card)": 0}
        for at, known in ((first, 1), (last, len(circuit.gates))):
            fills = {int(title.removeprefix("gate ").partition(":")[0]): fill for title, fill in at["nodes"]}
            actual = [value.get(fills[i + 1]) for i in range(len(circuit.gates))]
            assert actual == [*only.values[:known], *[None] * (len(circuit.gates) - known)]
        assert any(text.endswith(f" and writes {rnn.vocabulary[only.written]}") for text in last["texts"])
        assert not any("and writes" in text for text in before["texts"])
        labels = {label for text in last["texts"] for label in text.split(", ")}
        assert {str(i + 1) for i in range(len(circuit.gates))} <= labels
        assert {f"input {bit}" for bit in circuit.inputs} | {f"state {bit}" for bit in circuit.states} <= labels
        assert {*circuit.output_names} | {f"next {bit}" for bit in circuit.states} <= labels
        for word in ("AND", "XOR", "its value is 1", "hollow: 0", "still to come"):
            assert word in last["legend"]


def test_the_verdict_of_a_simulation_is_every_word_behind_its_prompt(tmp_path: Path) -> None:
    """Of prompts and answers of several words, too."""
    path = tmp_path / "p.html"
    assert command("simulate")(["--rnn", "parity", "--words", "3", "1 1 1", "--html", str(path)]) == 0
    assert data_of(path)["verdict"] == "odd odd odd"


@pytest.mark.parametrize("shape", ["random", "star"])
def test_sixty_vertices_stay_legible(tmp_path: Path, shape: str) -> None:
    rng, n = random.Random(1), 60
    parents = {"random": lambda v: rng.randint(1, v - 1), "star": lambda v: 1}[shape]
    edges = ",".join(f"{parents(v)}-{v}" for v in range(2, n + 1))
    assert command("istree")(("--edges", edges, "--html", str(tmp_path / "p.html"))) == 0
    first, *_ = shown(tmp_path / "p.html")["steps"]
    assert [text for text in first["texts"] if text.isdecimal()] == [str(v) for v in range(1, n + 1)]
    circles = first["circles"]
    assert all(r >= 10 for *_, r in circles)
    assert all(math.hypot(x - u, y - v) >= 2 * r for (x, y, r), (u, v, _) in combinations(circles, 2))


TOKENS = st.lists(st.sampled_from(["1", "22", "ab", "-", "?"]), min_size=1, max_size=12)


@given(TOKENS, st.sampled_from([r"(\d+)", r"a(b)", r"- (.) ", r"(?:1|22) (\S+)", r"^(\S+ \S+)", r"x(y)", "()"]))
def test_a_match_touches_the_tokens_whose_letters_it_has(before: list[str], pattern: str) -> None:
    tokens = [*before, "<StartSearch>", pattern, "<EndSearch>"]
    actual = find_match(tokens, len(before) + 1, len(tokens))
    owner = [i for i, token in enumerate(before, start=1) for _ in f"{token} "][:-1]  # of each letter, its token
    wanted = re.search(pattern, " ".join(before))
    if wanted is None:
        assert actual.document() == {"pattern": pattern}
        return
    for places, (begin, end) in ((actual.matched, wanted.span()), (actual.group, wanted.span(1))):
        assert places is not None
        assert list(places) == sorted(set(owner[begin : max(end, begin + 1)]))


@pytest.mark.parametrize(
    "argv",
    [
        ("istree", "--edges", "1-2"),
        ("recall", "1 2 ? 1"),
        ("turing", "--machine", "bb2"),
        ("simulate", "--rnn", "parity", "1"),
    ],
)
def test_a_page_is_refused_before_any_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...]
) -> None:
    name, *rest = argv
    path = tmp_path / "p.html"
    path.write_text("mine")
    assert command(name)([*rest, "--html", str(path)]) == 2
    assert "exists; --force overwrites it" in capsys.readouterr().err
    assert path.read_text() == "mine"
    weights = [] if name in ("istree", "recall") else rest
    assert command(name)([*weights, "--html", str(tmp_path / "q.html"), "--dump-weights"]) == 2
    assert "--html" in capsys.readouterr().err
    if name == "simulate":  # which takes seconds to come to the next refusal
        return
    monkeypatch.setattr(page, "MOST_STEPS", 0)
    assert command(name)([*rest, "--html", str(path), "--force"]) == 2
    assert "a page holds 0 written tokens at most" in capsys.readouterr().err
    assert path.read_text() == "mine"

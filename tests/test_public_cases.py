"""Files and texts as other people publish them, each by its command: graphs, Turing machines, circuits, programs.

What is right is known from where they stand: networkx on the graph, the records of busy beavers, the documents of the formats.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import networkx
import pytest

from constructions.__main__ import main as constructions
from tests.constructions.commands import command

COMPONENTS = "12 13\n1 2\n1 5\n5 9\n5 10\n9 10\n3 4\n3 7\n3 8\n4 8\n7 11\n8 11\n11 12\n8 12\n"  # Rosalind, "cc"
FOREST = "10\n1 2\n2 8\n4 10\n5 9\n6 10\n7 9\n"  # Rosalind, "tree"
WRITERS: dict[str, tuple[Callable[..., None], str]] = {
    "edgelist": (networkx.write_edgelist, "weighted"),
    "adjacency": (networkx.write_adjlist, "adjacency"),
    "gml": (networkx.write_gml, "gml"),
    "graphml": (networkx.write_graphml, "graphml"),
}
GRAPHS = {
    "a club": networkx.karate_club_graph(),
    "a balanced tree": networkx.balanced_tree(2, 3),
    "a path": networkx.path_graph(6),
    "a wheel": networkx.wheel_graph(5),
}
RECORDS = {
    "https://bbchallenge.org/1RB1LB_1LA0LC_1RZ1LD_1RD0RA&status=halt": (107, 13),  # the champion of four states
    "1RB 1LB  1LA 0LC  1RZ 1LD  1RD 0RA": (107, 13),  # as lists of machines have it, rows two spaces apart
    "1RB1RZ_1LB0RC_1LC1LA,halt,21": (21, 5),  # the longest run of three states
    "1RB1RZ_0RC1RB_1LC1LA": (14, 6),  # and the most ones
    "1rb1r-_1lb0rc_1lc1la": (21, 5),
    "1RB1LB_1LA1R_": (6, 4),
}
TOGGLE = "aag 7 2 1 2 4\n2\n4\n6 8\n6\n7\n8 4 10\n10 13 15\n12 2 6\n14 3 7\n"  # AIGER's document: a toggle with enable and reset
SYMBOLS = "i0 enable\ni1 reset\no0 Q\no1 !Q\nl0 Q\n"
TRACR = {  # its examples `make_hist`, `make_sort`, `make_reverse`, as the gallery has them
    ("histogram", "3 1 3"): "2 1 2",
    ("sorting", "3 1 2"): "1 2 3",
    ("reverse", "3 1 2"): "2 1 3",
}


@pytest.mark.parametrize("text", [COMPONENTS, FOREST])
def test_an_exercise_with_its_header(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The header is asked about, or no edge: it never counts as one in silence."""
    path = tmp_path / "rosalind.txt"
    path.write_text(text)
    assert command("istree")(["--graph", str(path)]) == 2
    assert "give --format" in capsys.readouterr().err
    assert command("istree")(["--graph", str(path), "--format", "header"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "NO"


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_of_networkx(name: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it is written by default. Without its format the command says which one."""
    path, (write, option) = tmp_path / "graph", WRITERS[kind]
    write(GRAPHS[name], path)
    expected = "YES" if networkx.is_tree(GRAPHS[name]) else "NO"
    assert command("istree")(["--graph", str(path), "--first", "0"]) == 2
    assert f"give --format {option}" in capsys.readouterr().err
    assert command("istree")(["--graph", str(path), "--first", "0", "--format", option]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == expected


@pytest.mark.parametrize("machine", RECORDS)
def test_a_busy_beaver(machine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("turing")(["--machine", machine, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["halted"], document["steps"], document["nonblank"]) == (True, *RECORDS[machine])


@pytest.mark.parametrize("symbols", [SYMBOLS, ""])
def test_a_circuit_with_a_latch(symbols: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The state after a step is the output of the next one. The table of symbols is optional."""
    (tmp_path / "toggle.aag").write_text(TOGGLE + symbols)
    inputs = {"hold": "01", "toggle": "11", "reset": "00"}
    words = {"schema": 1, "inputs": inputs, "outputs": {"01": "off", "10": "on"}}
    (tmp_path / "words.json").write_text(json.dumps(words))
    prompt, state, expected = ["toggle", "hold", "toggle", "toggle", "reset", "hold"], False, []
    for word in prompt:
        expected.append("on" if state else "off")
        state = word != "reset" and (state ^ (word == "toggle"))
    argv = ["--circuit", str(tmp_path / "toggle.aag"), "--words", str(tmp_path / "words.json"), " ".join(prompt)]
    assert command("simulate")(argv) == 0
    assert capsys.readouterr().out.split() == expected


@pytest.mark.parametrize(("name", "given"), TRACR)
def test_a_program_of_tracr(name: str, given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert constructions(["run", name, given]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == TRACR[name, given]

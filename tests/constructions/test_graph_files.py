"""Graph files as people have them. networkx writes what it can write, so that writer and reader share no code."""

from __future__ import annotations

import itertools
import random

import networkx
import pytest

from constructions.istree.__main__ import main
from constructions.istree.graph_files import FORMATS, hint, may_be_header, read_graph
from constructions.istree.graphs import Graph, GraphError, is_tree, parse_edge_list

TREE = ((1, 2), (2, 3), (2, 4))
TEXTS = {
    "header": "4 3\n1 2\n2 3\n2 4\n",
    "weighted": "# u v w\n1 2 0.5\n2 3 12345678901.5\n2 4 1e-9\n",
    "csv": "source,target,weight\n1,2,3\n2,3,4\n2,4,5\n",
    "adjacency": "1 2\n2: 1 3 4\n3 2\n4 2\n",
    "dimacs": "c a tree\np edge 4 3\ne 1 2\ne 2 3\ne 2 4\n",
    "matrixmarket": "%%MatrixMarket matrix coordinate pattern symmetric\n% a tree\n4 4 3\n1 2\n2 3\n2 4\n",
    "metis": "% a tree\n4 3\n2\n1 3 4\n2\n2\n",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_tree_in_each_format(kind: str) -> None:
    assert read_graph(TEXTS[kind], kind) == (Graph(4, TREE), "")


@pytest.mark.parametrize("kind", ["graphml", "gml", "adjacency"])
def test_what_networkx_writes(kind: str) -> None:
    for seed in range(8):
        tree = networkx.random_labeled_tree(9, seed=seed)
        tree = networkx.relabel_nodes(tree, {v: v + 1 for v in tree})
        write = {
            "graphml": networkx.generate_graphml,
            "gml": networkx.generate_gml,
            "adjacency": networkx.generate_adjlist,
        }
        graph, note = read_graph("\n".join(write[kind](tree)), kind)
        assert note == ""
        assert is_tree(graph)
        assert {frozenset(edge) for edge in graph.edges} == {frozenset(edge) for edge in tree.edges}


def test_names_get_numbers_in_the_order_of_the_file() -> None:
    graph, note = read_graph("from,to\nRoma,Ostia\nOstia,Anzio\n", "csv")
    assert graph == Graph(3, ((1, 2), (2, 3)))
    assert note == "vertices got numbers: Roma → 1, Ostia → 2, Anzio → 3"


def test_identifiers_beyond_n_are_names() -> None:
    graph = networkx.Graph([(4294967296, 17), (17, 5)])
    read, note = read_graph("\n".join(networkx.generate_gml(graph)), "gml")
    assert is_tree(read)
    assert read.n == 3
    assert "→" in note or read.edges == ((1, 2), (2, 3))


def test_isolated_vertices_count() -> None:
    text = "\n".join(networkx.generate_graphml(networkx.path_graph(["a", "b"]))).replace(
        '<node id="a" />', '<node id="a" /><node id="alone" />'
    )
    graph, _ = read_graph(text, "graphml")
    assert graph.n == 3
    assert not is_tree(graph)


def test_both_directions_of_an_edge_are_one_edge() -> None:
    assert read_graph("p edge 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n", "dimacs")[0] == Graph(3, ((1, 2), (2, 3)))


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("header", "4 3\n1 2\n2 3\n", "the header says 3 edges, and 2 follow"),
        ("header", "a b\n1 2\n", "line 1: 'a' is not a whole number"),
        ("header", "", "the header is no"),
        ("header", "4 3 1\n", "the header is no"),
        ("dimacs", "e 1 2\n", "no line `p edge n m`"),
        ("dimacs", "p edge 3 1\nq 1 2\n", "'q 1 2' is no line of DIMACS"),
        ("matrixmarket", "4 4 3\n1 2\n", "line 1: expected %%MatrixMarket"),
        ("matrixmarket", "%%MatrixMarket matrix coordinate real general\n4 5 1\n1 2 1\n", "a square matrix"),
        ("metis", "4 3 11\n1 2\n", "as METIS has"),
        ("metis", "4 3\n2\n1 3 4\n2\n", "the first line says 4 vertices, but 3 lines follow"),
        ("metis", "2 2\n2\n1\n", "the first line says 2 edges"),
        ("csv", "1,2\n3\n", "line 2: a row has the two ends"),
        ("graphml", "<graphml", "networkx reads no graphml in it"),
        ("gml", "1 2\n", "networkx reads no gml in it"),
        ("weighted", "1\n", "line 1: '1' is not an edge"),
        ("weighted", "0 1 5\n", "give --first 0"),
        ("weighted", "1 1 5\n", "self-loop"),
        ("weighted", "1 2 5\n1 2 6\n", "edge 1-2 repeats itself"),
    ],
)
def test_what_is_refused(kind: str, text: str, message: str) -> None:
    with pytest.raises(GraphError) as refusal:
        read_graph(text, kind)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_vertices_from_zero() -> None:
    assert read_graph("0 1 9\n1 2 9\n", "weighted", first=0)[0] == Graph(3, ((1, 2), (2, 3)))
    assert parse_edge_list("0 1\n1 2", first=0) == Graph(3, ((1, 2), (2, 3)))


def test_a_hint_names_the_format_of_each_text() -> None:
    for kind, text in TEXTS.items():
        if kind != "header":  # two numbers a line, as an edge list has
            assert hint(text).endswith(f"--format {kind}"), kind
    assert hint("4\n1 2\n2 3\n").endswith("--format header")
    assert hint("1 2\n2 3\n3\n").endswith("--format adjacency")  # as networkx writes a path
    assert hint("1 2 3\n2 4 5\n3\n4\n5\n").endswith("--format adjacency")  # and a tree
    assert hint("1 2 {}\n1 3 {}\n").endswith("--format weighted")  # and a list of edges
    assert hint("1 2\n1 x\n3\n") == ""
    assert hint("\n".join(networkx.generate_gml(networkx.path_graph(2)))).endswith("--format gml")
    assert hint("\n".join(networkx.generate_graphml(networkx.path_graph(2)))).endswith("--format graphml")


def test_every_header_of_a_small_graph_is_asked_about() -> None:
    """A header in front of any edge list is suspected; so is no list whose first edge cannot be one."""
    vertices = range(1, 5)
    for count in range(1, 5):
        for edges in itertools.combinations(itertools.combinations(vertices, 2), count):
            text = f"4 {count}\n" + "".join(f"{u} {v}\n" for u, v in edges)
            try:
                assert may_be_header(parse_edge_list(text))
            except GraphError:  # the header repeats an edge, or is a loop
                assert (count, 4) in edges or count == 4
    generator = random.Random(4)
    for _ in range(50):
        tree = [(generator.randrange(1, v), v) for v in range(2, 40)]
        assert not may_be_header(Graph(39, tuple(tree)))


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str, *options: str
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command on this text."""
    monkeypatch.setattr("constructions.show.cli.read_text", lambda path, what: text)
    code = main(["--graph", "-", *options])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_asks_about_a_header(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree of Rosalind's format was taken for a graph with the edge 4-3, and got NO."""
    code, out, err = run(capsys, monkeypatch, TEXTS["header"])
    assert code == 2
    assert not out
    assert "--format header" in err
    assert "--format edges" in err
    code, out, _ = run(capsys, monkeypatch, TEXTS["header"], "--format", "header")
    assert code == 0
    assert out.endswith("YES\n")
    code, out, _ = run(capsys, monkeypatch, TEXTS["header"], "--format", "edges")
    assert code == 0
    assert out.endswith("NO\n")


def test_the_command_names_the_format_that_a_text_looks_like(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("dimacs", "matrixmarket", "weighted", "csv", "adjacency"):
        code, _, err = run(capsys, monkeypatch, TEXTS[kind])
        assert code == 2
        assert err.rstrip().endswith(f"--format {kind}")
        assert err.count("\n") == 1
    code, _, err = run(capsys, monkeypatch, "0 1\n1 2\n")
    assert code == 2
    assert "--first 0" in err
    code, out, _ = run(capsys, monkeypatch, "0 1\n1 2\n", "--first", "0")
    assert code == 0
    assert out.endswith("YES\n")


def test_all_formats_are_tried_here() -> None:
    assert FORMATS.keys() == {*TEXTS, "graphml", "gml"}

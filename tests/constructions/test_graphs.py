"""Graphs as input: parsing, layouts, and the oracles against brute force."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.istree.graphs import (
    EOS,
    LAYOUTS,
    MANY,
    PAPER,
    Graph,
    GraphError,
    depth_first_tour,
    expected_answer,
    is_tree,
    parse_edge_list,
    parse_edges,
)
from verify.inputs.strategies import every_input, every_labelled_graph, graphs


@pytest.mark.parametrize(
    ("text", "n", "edges"), [("1-2,2-3", 3, ((1, 2), (2, 3))), (" 3 - 1 , 1 2 ,", 3, ((3, 1), (1, 2))), ("", 1, ())]
)
def test_edges_of_a_line(text: str, n: int, edges: tuple[tuple[int, int], ...]) -> None:
    assert parse_edges(text) == Graph(n, edges)


def test_edges_of_a_file() -> None:
    assert parse_edge_list("# a path\n1 2\n\n 2  3 # the last\n") == Graph(3, ((1, 2), (2, 3)))
    assert parse_edge_list("1 2", n=5) == Graph(5, ((1, 2),))
    assert parse_edge_list("", n=4) == Graph(4, ())


# Long enough that what is wrong with an edge is not looked for one by one.
PATH = [(v, v + 1) for v in range(1, MANY + 1)]


@pytest.mark.parametrize("place", [0, 7, MANY - 1])
@pytest.mark.parametrize(
    ("edge", "n", "message"),
    [
        ((5, 5), None, "edge 5-5 is a self-loop"),
        ((0, 3), None, "vertex 0 of edge 0-3 is not in 1 …"),
        ((1, MANY + 2), MANY + 1, f"vertex {MANY + 2} of edge 1-{MANY + 2} is not in"),
        ((3, 2), None, "edge (3-2|2-3) repeats edge (2-3|3-2)"),
    ],
)
def test_one_bad_edge_among_many_is_named(edge: tuple[int, int], n: int | None, message: str, place: int) -> None:
    edges = [*PATH[:place], edge, *PATH[place:]]
    with pytest.raises(GraphError, match=message) as excinfo:
        Graph(MANY + 1 if n is None else n, tuple(edges))
    with pytest.raises(GraphError, match=f"line {excinfo.value.edge + 1}: {message}"):
        parse_edge_list("\n".join(f"{u} {v}" for u, v in edges), n)
    with pytest.raises(GraphError, match="vertex '9' is not a whole number"):
        Graph(MANY + 1, (*PATH[:place], (8, "9"), *PATH[place:]))


@given(st.data())
def test_a_plain_edge_list_reads_like_one_with_comments(data: st.DataObject) -> None:
    words = st.text("0123456789 -#\n\r\t", max_size=12)
    text = data.draw(
        words
        | st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9))).map(
            lambda edges: "".join(f"{u} {v}\n" for u, v in edges)
        )
    )
    n = data.draw(st.sampled_from([None, 4, 9]))

    def read(given: str) -> Graph | str:
        try:
            return parse_edge_list(given, n)
        except GraphError as error:
            return str(error)

    assert read(text) == read(f"{text}#") == read(text + "\n# the end")


@pytest.mark.parametrize(
    ("text", "n", "message"),
    [
        ("1-2,1-2", None, "edge 1-2 repeats edge 1-2"),
        ("1-5", 4, r"vertex 5 of edge 1-5 is not in 1 … 4"),
        ("1", None, "'1' is not an edge"),
        ("", 0, "at least 1 vertex"),
    ],
)
def test_bad_edges_are_named(text: str, n: int | None, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        parse_edges(text, n)


def test_a_sign_is_no_joint() -> None:
    with pytest.raises(GraphError, match="vertex -2 of edge 1--2 is not in 1 … 1"):
        parse_edges("1 -2")
    assert parse_edges("1 - 2, 2-3, 3 4").edges == ((1, 2), (2, 3), (3, 4))


def test_vertices_are_numbers() -> None:
    with pytest.raises(GraphError, match="vertex '1' is not a whole number"):
        Graph(2, (("1", "2"),))


def test_an_empty_file_needs_n() -> None:
    with pytest.raises(GraphError, match="empty"):
        parse_edge_list("# nothing\n")


def test_the_two_layouts() -> None:
    graph = Graph(3, ((1, 2), (3, 2)))

    def words(layout: str, tokens: Sequence[int]) -> str:
        vocabulary = LAYOUTS[layout].vocabulary(3)
        return " ".join(vocabulary[token] for token in tokens)

    assert words("paper", PAPER.prompt(graph)) == "<s> 1 ~ 2 3 ~ 2"
    assert words("paper", expected_answer(graph, PAPER)) == "1 2 3 2 1 YES"
    assert words("eos", EOS.prompt(graph)) == "[BOS] 1 - 2 3 - 2 [EOS]"
    assert words("eos", expected_answer(graph, EOS)) == "1 2 3 2 1 [EOS] TRUE"
    assert words("paper", expected_answer(Graph(3, ((1, 2),)), PAPER)) == "NO"
    assert words("eos", expected_answer(Graph(3, ((1, 2),)), EOS)) == "1 2 1 [EOS] FALSE"


def brute_force_is_tree(graph: Graph) -> bool:
    """Exactly one way to pick n − 1 edges so that all vertices hang together, and no edge left over."""
    reached = {1}
    for _ in range(graph.n):
        reached |= {w for u, v in graph.edges for w in (u, v) if u in reached or v in reached}
    spanning = len(reached) == graph.n
    return spanning and all(not hangs_together(graph, without) for without in graph.edges)


def hangs_together(graph: Graph, without: tuple[int, int]) -> bool:
    reached = {1}
    for _ in range(graph.n):
        reached |= {w for e in graph.edges if e != without for w in e if e[0] in reached or e[1] in reached}
    return len(reached) == graph.n


def recursive_tour(graph: Graph) -> list[int]:
    """Algorithm 1 as a recursion: come to a vertex, visit each new neighbour in the order of edges, write oneself after each."""
    seen: set[int] = set()
    tour: list[int] = []

    def visit(vertex: int) -> None:
        seen.add(vertex)
        tour.append(vertex)
        for edge in graph.edges:
            if vertex in edge:
                other = edge[0] + edge[1] - vertex
                if other not in seen:
                    visit(other)
                    tour.append(vertex)

    visit(1)
    return tour


SMALL = [g for n in (1, 2, 3, 4) for g in every_labelled_graph(n)] + list(
    itertools.islice(every_input(4, [3]), 0, None, 7)
)


def test_oracles_agree_on_every_small_graph() -> None:
    for graph in SMALL:
        check_oracles(graph)


@given(graphs(range(1, 12)))
def test_oracles_agree_on_random_graphs(graph: Graph) -> None:
    check_oracles(graph)


def check_oracles(graph: Graph) -> None:
    tour = list(depth_first_tour(graph))
    assert tour == recursive_tour(graph)
    tree = is_tree(graph)
    if graph.n <= 8:
        assert tree == brute_force_is_tree(graph)
    assert tree == (len(graph.edges) == graph.n - 1 and len(tour) == 2 * graph.n - 1)
    for layout in LAYOUTS.values():
        answer = expected_answer(graph, layout)
        chain = [token + 1 for token in answer if token < graph.n]
        assert answer == layout.answer(chain, tree, graph.n)
        assert chain == tour[: len(chain)]
        assert chain == tour or not tree
        if layout is EOS and not tree:
            component_has_cycle = sum(u in tour for u, _ in graph.edges) >= len(set(tour))
            assert (chain != tour) == component_has_cycle


@given(st.integers(1, 9), st.data())
def test_families_draw_simple_graphs_of_the_size_asked_for(n: int, data: st.DataObject) -> None:
    graph = data.draw(graphs([n]))
    assert graph.n == n  # Graph itself refuses loops and repeated edges


def test_networkx_agrees_on_every_graph_of_up_to_seven_vertices() -> None:
    """One graph of each of the 1,252 isomorphism classes: a tree or not, and the tour of its first vertex."""
    atlas = networkx.graph_atlas_g()[1:]
    assert len(atlas) == 1252
    for drawn in atlas:
        theirs = networkx.relabel_nodes(drawn, {v: v + 1 for v in drawn})
        graph = Graph(len(theirs), tuple(theirs.edges))
        steps = list(networkx.dfs_labeled_edges(theirs, 1))
        tour = [v if way == "forward" else u for u, v, way in steps[:-1] if way != "nontree"]
        assert list(depth_first_tour(graph)) == tour
        assert is_tree(graph) == networkx.is_tree(theirs)

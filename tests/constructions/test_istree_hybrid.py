"""The hybrid RNN of IsTree as a whole: answers, the frames' arithmetic, sizes, refusals, and that every weight counts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.istree import hybrid
from constructions.istree.__main__ import main
from constructions.istree.graphs import PAPER, Graph, depth_first_tour, is_tree
from constructions.istree.models import MODELS
from constructions.measures import HYBRID_RNN, measure
from constructions.wiring.wired import Wired
from precision.format import Discipline
from tests.constructions.cutting import idle
from tests.constructions.decoding import decode
from verify.inputs.strategies import every_input, every_labelled_graph, graphs

STAR = Graph(3, ((1, 2), (3, 1)))
FAR = Graph(8, ((1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (8, 1)))


@cache
def model(n: int, printed: tuple[str, ...] = (), discipline: Discipline = Discipline.FUSED) -> Wired:
    return hybrid.HYBRID.build(n, printed=printed, discipline=discipline)


def prompt(wired: Wired, graph: Graph) -> list[int]:
    words = PAPER.vocabulary(graph.n)
    return wired.tokens(words[token] for token in PAPER.prompt(graph))


def answer(wired: Wired, graph: Graph, engine: str = "reference") -> list[str]:
    guess = [] if wired.printed else hybrid.HYBRID.expected(graph)
    limit = hybrid.HYBRID.limit(graph.n)
    return decode(wired, prompt(wired, graph), engine, limit, stop=("YES", "NO"), guess=guess)


def tour(text: Sequence[str]) -> list[int]:
    """The vertices where the search is, one after the other."""
    places = [text[0]] * (text[0] == "1")
    places += [text[i + 2] for i, word in enumerate(text) if word in ("-", "^")]
    return [int(v) for v in places]


# What it says


@pytest.mark.parametrize("engine", ["reference", "dense", "native", "incremental"])
@settings(max_examples=10)
@given(graphs(range(1, 7)), st.sampled_from(Discipline))
def test_every_token_is_the_expected_one(engine: str, graph: Graph, discipline: Discipline) -> None:
    assert answer(model(graph.n, (), discipline), graph, engine) == hybrid.HYBRID.expected(graph)


def test_every_input_on_up_to_three_vertices() -> None:
    for graph in itertools.chain.from_iterable(map(every_input, (1, 2, 3))):
        assert answer(model(graph.n), graph, "dense") == hybrid.HYBRID.expected(graph)


# The oracle against what it does not use


def test_the_oracle_walks_as_algorithm_1_and_knows_trees() -> None:
    for graph in itertools.chain(every_input(3), *map(every_labelled_graph, (1, 2, 4, 5))):
        text = hybrid.HYBRID.expected(graph)
        assert (text[-1] == "YES") == is_tree(graph)
        assert len(text) <= hybrid.HYBRID.limit(graph.n)
        walked, expected = tour(text), list(depth_first_tour(graph))
        if text[-1] == "YES":
            assert walked == expected
        elif walked:  # it stops at a vertex seen before, or where the search ends
            assert walked == expected or walked[:-1] == expected[: len(walked) - 1]


@settings(max_examples=200)
@given(st.integers(1, 10**6), st.lists(st.integers(2, 10**6), max_size=5))
def test_the_first_target_near_enough_does_not_pass_the_next_record(base: int, gaps: list[int]) -> None:
    records = list(itertools.accumulate(gaps, initial=base))
    offset = 1
    while True:
        wanted = base + offset + 0.25
        nearest = min(records, key=lambda position: abs(position - wanted))
        if nearest != base:
            assert nearest == records[1]
            break
        if base + offset >= records[-1]:
            assert len(records) == 1
            break
        offset *= 2


@pytest.mark.parametrize("more", [1, 2, 1000])
@pytest.mark.parametrize("facts", list(itertools.product((0, 1), repeat=5)))
def test_the_votes_elect_the_right_token(facts: tuple[int, ...], more: int) -> None:
    found, father, beyond, root, all_visited = facts
    logits: dict[str, int] = {}
    for weight, votes in zip((1, found * more, father, beyond * more, *facts[3:]), hybrid.VOTES.values(), strict=True):
        for word, vote in votes.items():
            logits[word] = logits.get(word, 0) + weight * vote
    if found:
        expected = "/" if father else "-"
    elif not beyond:
        expected = ">"
    else:
        expected = "^" if not root else "YES" if all_visited else "NO"
    assert all(logits[expected] > logits[word] for word in logits if word != expected)
    assert logits[expected] > 1  # what `decide` leaves at other words


# Size and refusals


def test_what_it_costs() -> None:
    measured = [measure(model(n).model, 1) for n in (1, 10, 100)]
    assert measured[0] == measured[1] == measured[2]
    assert measured[0].classes == (HYBRID_RNN,)
    assert measured[0].state_numbers == 32
    assert [len(block.heads) for block in model(1).model.blocks] == [0, 3]


# As printed: the smallest witnesses


def test_a_tie_averages_two_records() -> None:
    said = answer(model(3, ("nearest-tie",)), STAR)
    assert said != hybrid.HYBRID.expected(STAR)
    assert said[-1] == "NO"


def test_a_search_of_log2_n_steps_ends_too_early() -> None:
    said = answer(model(8, ("search-range",)), FAR)
    assert said[-1] == "NO"
    assert hybrid.HYBRID.expected(FAR)[-1] == "YES"


def test_the_last_predecessor_is_not_the_father() -> None:
    said = answer(model(2, ("parent",)), Graph(2, ((1, 2),)))
    assert said[-1] not in ("YES", "NO")  # up and down for ever


# Without each head, each unit, each constant and each linear unit. These are not needed on the inputs below, nor on any:
IDLE = {
    # −G·w² is the same at every key, so it moves no softmax; it keeps scores small.
    *(f"block 1, the target, unit {i}" for i in (2, 4)),
    # A left-over 1 of `place`, ~, YES, NO, the two of searches and the four marks has less than any token that is to win.
    *(f"block 2, clear the embedding, unit {i}" for i in (4, 6, 7, 8, 9, 10, 11, 12, 13, 14)),
    # Within a prompt, whatever the argmax is.
    "block 2, constant <s>",
    # Without it vertex v and place v tie, and the vertex comes first in the vocabulary.
    *(f"block 2, {rule}, unit 2" for rule in ("the vertex again", "down to the next vertex", "up to the father")),
    # After its peak a hat without this unit falls on, which is a vote against: nobody wins by it.
    "block 2, it leads to the father, unit 3",
    "block 2, vertex 1 after n − 1 edges, unit 3",
}
INPUTS = (  # those that notice most stand first
    Graph(5, ((3, 2), (2, 1), (4, 3), (3, 5))),
    Graph(5, ((1, 2), (2, 3), (3, 4), (4, 2))),
    Graph(1, ()),
    Graph(2, ((2, 1),)),
    Graph(2, ()),
    STAR,
    Graph(3, ((1, 2), (2, 3), (3, 1))),
    Graph(4, ((2, 3), (4, 2), (2, 1))),
    Graph(4, ((1, 2), (2, 3), (3, 1))),
    Graph(4, ((3, 2), (2, 4), (4, 3))),
    Graph(6, ((2, 3), (5, 2), (1, 2), (4, 2), (2, 6))),
)


def test_every_part_is_needed() -> None:
    solver = MODELS["hybrid"]
    assert set(idle([solver.request(model(graph.n), graph) for graph in INPUTS], units=True)) == IDLE


# The command line


def test_the_command_runs_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("--model", "hybrid", "--edges", "2-1")) == 0
    assert capsys.readouterr().out == "1 @1 @2 - 1 2 @1 @2 / 2 @5 @6 ^ 2 1 @4 @5\nYES\n"
    assert main(("--model", "hybrid", "--edges", "1-2,3-1", "--printed", "nearest-tie")) == 1
    assert "the algorithm says YES after 1 @1 @2" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["rag", "hybrid"])
def test_the_command_traces_and_dumps_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("--model", name, "--edges", "1-2", "--trace", "--json")) == 0
    assert f'"model": "{name}"' in capsys.readouterr().out
    assert main(("--model", name, "--n", "4", "--dump-weights", "--json")) == 0
    assert f'"model": "{name}"' in capsys.readouterr().out
    main(("--model", name, "--variant", "printed", "--edges", "1-2", "--trace"))
    assert capsys.readouterr().out.splitlines()[-1] in ("YES", "NO", "no verdict")

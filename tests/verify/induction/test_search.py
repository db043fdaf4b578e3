"""The lemmas after "for every n": two solvers find that they follow, they are true of runs, and a wrong step is seen."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from constructions.istree.graphs import LAYOUTS, Graph
from constructions.language.terms import POSITION, Above, Answer, Equal, If, Say, SayNumber, as_term
from tests.verify.induction.lemmas import (
    CONTRADICTIONS,
    Trial,
    doubts_of_another_solver,
    is_tree,
    require_doubt,
    with_another_text,
)
from verify.dossiers.istree.lemmas import search
from verify.dossiers.istree.lemmas.search import MODELS, N, theory
from verify.dossiers.istree.runs.search import SearchRun
from verify.dossiers.istree.steps import ByCounts
from verify.induction.__main__ import main
from verify.induction.theory import Fact, Theory

EACH = [(model, tokens) for tokens in LAYOUTS for model in MODELS]
BEYOND = {"tally-stays/step"}  # at the last integer of the window it speaks of one beyond


@cache
def lemmas(model: str = "lean", tokens: str = "eos") -> Theory:
    return theory(MODELS[model](N, LAYOUTS[tokens]))


@pytest.mark.parametrize(("model", "tokens"), EACH)
def test_another_solver_finds_that_all_follow(model: str, tokens: str) -> None:
    assert doubts_of_another_solver(lemmas(model, tokens)) == {}


GRAPHS = [
    Graph(1, ()),
    Graph(2, ((2, 1),)),
    Graph(3, ((1, 2), (3, 1))),
    Graph(3, ((2, 3), (1, 2))),
    Graph(4, ((3, 1), (1, 2), (2, 3))),  # a cycle through the root
    Graph(4, ((2, 3), (4, 3), (2, 4))),  # one that is out of reach
    Graph(4, ((2, 3), (1, 2), (2, 4))),
    Graph(5, ((1, 2), (4, 5), (3, 4), (5, 3))),
]
ANY_NUMBER_OF_EDGES = [
    Graph(2, ()),
    Graph(3, ((3, 2), (2, 1), (1, 3))),
    Graph(3, ((3, 1),)),
    Graph(4, ((2, 1), (3, 4))),  # two trees
    Graph(4, ((1, 2), (2, 3), (4, 3), (2, 4))),  # a cycle below the root
    Graph(4, ((2, 1), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4))),  # all edges
    Graph(4, ((2, 3), (2, 4), (3, 4))),
]


@pytest.mark.parametrize("tokens", LAYOUTS)
def test_counts_are_shown_of_prompts_with_any_number_of_edges(tokens: str) -> None:
    behind = lemmas("repaired", tokens).closure(["orders", "order-rises", "others-differ"])
    assert "no-edge-twice" in behind
    assert not {"prompt", "thoughts", "behind-prompt"} & set(behind)


def stated(fact: Fact | None) -> object:
    return fact and (fact.formula, fact.uses)


@pytest.mark.parametrize(("model", "tokens"), EACH)
def test_they_are_true_of_runs(model: str, tokens: str) -> None:
    """Axioms and invariants at each vertex of a run, and lemmas where all that they suppose is true; which is so at some vertex.

    What both steps have is tried on lean's, and what the other has alone on small graphs.
    """
    made, shared = lemmas(model, tokens), lemmas("lean", tokens)
    tried = {
        name: fact
        for name, fact in made.facts.items()
        if name not in BEYOND and (made is shared or stated(fact) != stated(shared.facts.get(name)))
    }
    graphs = [*GRAPHS, *(ANY_NUMBER_OF_EDGES if tokens == "eos" else ())]
    trial = Trial(made, tried)
    for graph in graphs if made is shared else [graph for graph in graphs if graph.n <= 3]:
        run = SearchRun(graph, model, LAYOUTS[tokens])
        for state, _, true in trial.along(run):
            if made is shared:
                last = state["k"] == run.last
                tree = is_tree(run, true, state["k"] == run.end + 1, last)
                assert true["no"] == (not tree) or not last
                assert true["goes-on"] == (true["down"] or true["goes-up"])
    assert {name for name in tried if made.facts[name].uses} - trial.met == CONTRADICTIONS & set(tried)


def wrong_answers(model: str, tokens: str) -> dict[str, dict[str, Answer]]:
    """Properties of a search that are something else than they should be."""
    search = MODELS[model](N, LAYOUTS[tokens])
    onward = search.to(search.first) if isinstance(search, ByCounts) else search.edge_behind(search.come_from)
    second = search.to(search.second) if isinstance(search, ByCounts) else search.edge_behind(search.father)
    no_edge, at_root = (as_term(Equal(edge, Fraction(value))) for edge, value in ((onward, 0), (search.current, 1)))
    yes, no, stop = Say(search.layout.yes), Say(search.layout.no), Say(search.stop)
    wrong: dict[str, dict[str, Answer]] = {
        "back to the father by his own edge": {"step": search.onward(onward)},
        "no vertex is seen before": {"step": If(no_edge, search.back(), SayNumber(onward))},
        "back to where it was, not to the father": {"step": If(no_edge, SayNumber(search.previous), search.step)},
        "it ends at every dead end": {"step": If(no_edge, stop, search.step)},
        "always past one more edge": {"step": search.onward(second)},
        "another word at the end": {"step": If(at_root * no_edge, Say(search.layout.joint), search.step)},
    }
    if tokens == "paper":
        early = as_term(Equal(as_term(POSITION) - (5 * search.n - 4), Fraction(0)))
        return wrong | {
            "YES whenever it ends": {"step": If(no_edge, If(at_root, yes, SayNumber(search.father)), search.step)},
            "YES one position early": {"step": If(at_root * no_edge, If(early, yes, no), search.step)},
        }
    said = as_term(POSITION) - search.prompt_end - 1
    early, late = (as_term(Above(said - (2 * search.n - 1) + more)) for more in (2, 0))
    return wrong | {
        "YES whenever it ends": {"verdict": yes},
        "YES one vertex early": {"verdict": If(early, yes, no)},
        "YES one vertex late": {"verdict": If(late, yes, no)},
        "NO in place of the end": {"step": If(at_root * no_edge, no, search.step)},
    }


WRONG = {(*each, name): wrong for each in EACH for name, wrong in wrong_answers(*each).items()}


@pytest.mark.parametrize(("model", "tokens", "name"), WRONG)
def test_of_a_wrong_step_not_all_follow(model: str, tokens: str, name: str) -> None:
    wrong = WRONG[model, tokens, name].items()
    properties = {where: property(lambda search, said=said: said) for where, said in wrong}
    made = theory(type("Wrong", (MODELS[model],), properties)(N, LAYOUTS[tokens]))
    require_doubt(lemmas(model, tokens), made, "step")


TEXT = Path(search.__file__).with_name("search.smt2").read_text(encoding="utf-8")
CHANGES = [  # of the texts: what stands there, what shall, and a lemma that follows no longer
    ("no-loop no-edge-twice records)", "no-loop records)", "no-record-twice"),
    ("(=> (<= 2 j E) (ite", "(=> (<= 2 j n) (ite", "ends"),
    ("(* 2 (among n k)) 1 (depth", "(* 2 (among n k)) 2 (depth", "length/starts"),
    ("(ite (seen m i) 1 0)", "(ite (seen m i) 2 0)", "at-most/step"),
    ("(ite (<= u m) 1 0)", "(ite (< u m) 1 0)", "one-more/step"),
    ("(<= (rec (up v) v) (taken (up v)))", "(< (rec (up v) v) (taken (up v)))", "children/down"),
    ("(ite (= v c) edge (taken v))", "(taken v)", "children/down"),
    ("(and (path v) (not (= v c)))", "(path v)", "path-seen/goes-up"),
    ("(left-edges left-edges taken-edges edge-is", "(left-edges left-edges taken-edges", "left-edges/goes-up"),
    ("here-seen) (<= k full))", "here-seen) (< k full))", "ends-in-time"),
    ("(not (= (rank (own j)) (rank (other j))))", "true", "new-rank"),
    ("(=> (leads-down j) (not (= (own j) 1)))", "true", "closes-a-cycle"),
    ("(= (own i) (own j))) (= i j))", "(= (own i) (own j))) true)", "closes-a-cycle"),
    ("(=> (<= 1 j E) (not (|is [EOS]| j)))", "true", "thoughts"),
    ("(=> (|is [EOS]| j) (= (number j) 0))", "true", "previous-is"),
    ("(+ (* 3 edges) 1)", "(* 3 edges)", "ends"),
]


@pytest.mark.parametrize(("old", "new", "lemma"), CHANGES, ids=[lemma for *_, lemma in CHANGES])
def test_what_is_wrong_does_not_follow(old: str, new: str, lemma: str) -> None:
    require_doubt(lemmas(), with_another_text(lemmas(), TEXT, old, new), lemma)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Theory, "doubt", lambda made, name: "unknown" if name == "step" else "")
    assert main(["--scripts", str(tmp_path / "smt2")]) == 3
    made = lemmas(tokens="paper")
    said = capsys.readouterr().out.splitlines()
    assert said[-2] == f"{len(made.lemmas)} lemmas, 1 not seen to follow"
    assert next(line for line in said if not line.startswith("follows: ")).startswith(
        "unknown: step, from size, prompt, thoughts"
    )
    scripts = sorted((tmp_path / "smt2").iterdir())
    assert [path.read_text(encoding="utf-8") for path in scripts] == list(map(made.question, made.lemmas))
    scripts[3].write_text("mine")
    assert main(["--scripts", str(tmp_path / "smt2")]) == 2
    assert f"{scripts[0]} exists; --force overwrites it" in capsys.readouterr().err
    assert scripts[3].read_text() == "mine"

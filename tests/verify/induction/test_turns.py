"""The lemmas on Algorithm 2's turns: they are true of runs, and wrong turns and searches are seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace

import pytest

from constructions.istree import rag
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.rag import RECORD, RETURN
from constructions.language.terms import ONE, Answer, If, Say, SayNumber, Term
from constructions.models.search import START_SEARCH
from tests.verify.induction.lemmas import (
    CONTRADICTIONS,
    Trial,
    doubts_of_another_solver,
    is_tree,
    require_doubt,
    with_another_text,
)
from verify.automata.token_automaton import Label
from verify.dossiers.istree import texts, turns
from verify.dossiers.istree.lemmas.search import N, text_of
from verify.dossiers.istree.lemmas.turns import Text, TurnWay, defined, theory
from verify.dossiers.istree.results import SearchResult
from verify.dossiers.istree.runs.turns import TurnRun
from verify.dossiers.istree.steps import NUMBER
from verify.induction import __main__ as command
from verify.induction.along import Shown
from verify.induction.theory import Theory
from verify.programs.shorthand import back, let, read_match, word

MADE = theory(defined())
GRAPHS = [
    Graph(1, ()),
    Graph(2, ()),
    Graph(2, ((2, 1),)),
    Graph(3, ((1, 2), (3, 1))),
    Graph(3, ((2, 3), (1, 2))),
    Graph(3, ((3, 2), (2, 1), (1, 3))),
    Graph(3, ((3, 2),)),
]


def test_they_are_true_of_runs() -> None:
    """At the end of each head; each lemma is due at some head."""
    trial = Trial(MADE, MADE.facts)
    for graph in GRAPHS:
        run = TurnRun(graph)
        for place, (state, following, true) in enumerate(trial.along(run)):
            last = following is None
            tree = is_tree(run, true, place == 0, last)
            assert true["no"] == (last and not tree)
            assert true["goes-on"] == (true["down"] or true["goes-up"])
            assert following is None or following["k"] == state["end"]
    assert set(MADE.lemmas) - trial.met == CONTRADICTIONS


def test_what_is_said_of_each_run_supposes_nothing_else() -> None:
    cases = {
        "never-open": set[str](),
        "root-due": set(),
        "records-limited": set(),
        "within-over": {"over"},
        "within-closes": {"closes"},
        "as-many-words": {"over"},
    }
    assert {name: MADE.facts[name].supposes - set(MADE.invariants) for name in cases} == cases


def test_edges_stand_in_the_prompt_alone() -> None:
    """No way has the word of which an axiom says so."""
    text = defined()
    ways = (way for mark in (RECORD, RETURN) for way in text.ways(text.heads(mark), "k", TurnWay()))
    kinds = {int(kind) for way in ways for kind in re.findall(r"\(= \(kind \(\+ k \d+\)\) (\d+)\)", way.formula)}
    assert kinds == {*text.kinds.values()} - {text.kinds[PAPER.start], text.kinds[PAPER.joint]}


def test_another_solver_finds_that_all_follow() -> None:
    assert doubts_of_another_solver(MADE) == {}


def due_but(like: Label, said: Callable[[Answer], Answer]) -> Text:
    """The definition, with something else in the states that are like this one, where it says more than nothing."""

    def due(label: Label) -> Answer | None:
        right, said_of = turns.definition(N, label), {field.name: getattr(like, field.name) for field in fields(Label)}
        is_like = all(getattr(label, name) == value for name, value in said_of.items() if value)
        return said(right) if right is not None and is_like else right

    return Text(due, SearchResult(N, PAPER))


def found_but(name: str, term: Callable[[SearchResult], Term]) -> Text:
    """As defined, but for one thing that searches find."""
    return Text(defined().due, type("Wrong", (SearchResult,), {name: property(term)})(N, PAPER))


def other(answer: Answer) -> Answer:
    """The two cases of an answer, exchanged."""
    assert isinstance(answer, If)
    return If(answer.bit, answer.otherwise, answer.then)


def at_root(answer: Answer) -> Answer:
    return SayNumber(ONE, rag.VERTEX)


def say(said: str) -> Callable[[Answer], Answer]:
    return lambda right: Say(said)


def verdict(change: Callable[[If], Answer]) -> Callable[[Answer], Answer]:
    """Another one where the walk is over."""

    def said(right: Answer) -> Answer:
        over = isinstance(right, If) and isinstance(right.then, If)
        return If(right.bit, change(right.then), right.otherwise) if over else right

    return said


KNOWN, HEAD = replace(texts.KNOWN, behind=turns.A_NEXT), turns.UP
WRONG: dict[str, tuple[Text, str]] = {  # another definition, and a lemma that follows no longer
    "NO whatever stands in the prompt": (due_but(texts.SECOND, say(PAPER.no)), "root-due"),
    "no first record": (due_but(replace(turns.DOWN, behind=texts.SECOND, number=1), say(RETURN)), "root-due"),
    "it never looks for another neighbour": (
        due_but(replace(texts.KNOWN, behind=turns.A_FIRST, number=1), other),
        "never-open",
    ),
    "past neighbours that are not the father": (
        Text(
            lambda label: (
                other(said) if isinstance(said := turns.definition(N, label), If) and label.number == 1 else said
            ),
            SearchResult(N, PAPER),
        ),
        "never-open",
    ),
    "a record of the father is searched for": (
        due_but(replace(KNOWN, number=2), lambda right: SayNumber(back(NUMBER, 17), rag.VERTEX)),
        "never-open",
    ),
    "NO where no record is found": (due_but(turns.NOT_KNOWN, say(PAPER.no)), "turn-no"),
    "YES where a cycle is closed": (due_but(replace(texts.KNOWN, result=texts.A_VERTEX), say(PAPER.yes)), "turn-yes"),
    "no word where a cycle is closed": (
        due_but(replace(texts.KNOWN, result=texts.A_VERTEX), say(START_SEARCH)),
        "never-open",
    ),
    "back to the root": (due_but(replace(HEAD, behind=turns.NO_NEXT_ONE, number=2), at_root), "turn-up"),
    "down to where it is": (
        due_but(
            replace(turns.DOWN, behind=turns.NOT_KNOWN, number=2), lambda right: SayNumber(back(NUMBER, 1), rag.VERTEX)
        ),
        "turn-down",
    ),
    "a way back as a record": (due_but(replace(HEAD, behind=turns.NO_NEXT_ONE, number=1), say(RECORD)), "never-open"),
    "YES wherever it comes back": (due_but(HEAD, say(PAPER.yes)), "turn-yes"),
    "YES whatever is recorded": (due_but(HEAD, verdict(lambda right: right.then)), "turn-yes"),
    "YES if vertices are missing": (due_but(HEAD, verdict(other)), "turn-yes"),
    "the last record of a vertex": (
        found_but("recorded", lambda found: read_match(back(NUMBER, 2), (found.came_to, found.current), last=True)),
        "first-record",
    ),
    "where the vertex is, not the father": (
        found_but("recorded", lambda found: read_match(NUMBER, (found.came_to, found.current))),
        "finds-father",
    ),
    "ways back are records": (
        found_but("came_to", lambda found: let("came_to", (word(RECORD, 1) + word(RETURN, 1)) * NUMBER)),
        "comings",
    ),
    "the neighbour after itself": (found_but("come_from", lambda found: back(NUMBER, 4)), "turn-no"),
}


@pytest.mark.parametrize("what", WRONG)
def test_of_wrong_turns_not_all_follow(what: str) -> None:
    text, lemma = WRONG[what]
    require_doubt(MADE, theory(text), lemma)


CHANGES = [  # of the texts: what stands there, what shall, and a lemma that follows no longer
    ("(invariant root-record (= (number (- P 1)) 1))", "(invariant root-record true)", "finds-father"),
    ("(invariant root-record (= (number (- P 1)) 1))", "(invariant root-record false)", "root-record/starts"),
    ("(>= j k) (silent (+ j 1)) (>= (current j) 1)", "(>= j k) (>= (current j) 1)", "finds-record"),
    ("(ite (= (taken c) 0) 8 16)", "(ite (= (taken c) 0) 8 15)", "turn-up"),
    ("(ite (= edge 0) 4 7)", "(ite (= edge 0) 4 8)", "turn-no"),
    ("(* 48 (among n k))", "(* 49 (among n k))", "length/starts"),
    ("(* (- 25) (depth (vertex k)))", "(* (- 24) (depth (vertex k)))", "length/down"),
    ("(+ (passed m) (ite (and passes (<= c m)) 1 0))", "(passed m)", "passed-is/goes-up"),
    ("(- (among m k) (ite (>= m 1) 1 0))", "(- (among m k) 1)", "passed-at-most/start"),
    (
        "(=> (and (< a h) (<= h j)) (not (|is -| h)))",
        "(=> (and (< a h) (< h j)) (not (|is -| h)))",
        "records-stay/step",
    ),
    ("(+ (records-to 1 k) (ite (= edge 0) 0 1))", "(+ (records-to 1 k) 1)", "records-then"),
    ("(= (records-to 1 k) (among n k)))", "(= (records-to 1 k) (+ (among n k) 1)))", "as-many-records/starts"),
]


@pytest.mark.parametrize(("old", "new", "lemma"), CHANGES, ids=[f"{new}, {lemma}" for _, new, lemma in CHANGES])
def test_what_is_wrong_does_not_follow(old: str, new: str, lemma: str) -> None:
    require_doubt(MADE, with_another_text(MADE, text_of("search"), old, new), lemma)


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Theory, "doubt", lambda made, name: "")
    monkeypatch.setattr(
        command, "check_along_runs", lambda made, lemmas: Shown("")
    )  # which is asked for by itself: test_evaluation.py
    assert command.main(["--model", "rag"]) == 0
    follows = (
        "for every n, turns, if the searches find what is defined, end with YES if and only if the graph is a tree"
    )
    assert capsys.readouterr().out.splitlines()[-2] == f"{len(MADE.lemmas)} lemmas, all follow: {follows}"

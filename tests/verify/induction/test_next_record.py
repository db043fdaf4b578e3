"""The lemmas on the frames of one base: they are true of runs, and wrong frames are seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from constructions.istree import hybrid
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.hybrid import PLACE, VERTEX
from tests.verify.induction.runs import Compiled, answers_of_another_solver
from verify.claims.hybrid_program import FAMILIES, tokens_of
from verify.induction import next_record
from verify.induction.next_record import N, theory, translation
from verify.induction.theory import Theory
from verify.programs.frames import HERE, OTHER, OWN, THERE, Frames
from verify.programs.interpreter import Input
from verify.programs.shorthand import back
from verify.programs.terms import Anything, Atom, Closest, Count, IsWord, Matching, Named, Pick, Say, SayNumber

MADE = theory(Frames(N))
GRAPHS = [
    Graph(2, ((2, 1),)),
    Graph(3, ((2, 3), (1, 2))),
    Graph(4, ((3, 1), (1, 2), (2, 3))),
    Graph(5, ((1, 2), (4, 5), (3, 4), (5, 1))),
]


class Run:
    """What each declared symbol is at the end of each frame of a search, by the terms' plain meaning."""

    def __init__(self, graph: Graph) -> None:
        words = PAPER.vocabulary(graph.n)
        self.n, prompt = graph.n, [words[token] for token in PAPER.prompt(graph)]
        tokens = tokens_of([*prompt, *hybrid.expected_sequence(graph)])
        self.window = range(-1, len(tokens))
        self.read = Input([*tokens, *[("", 0)] * 5], FAMILIES)
        self.ends = [k for k in range(len(prompt) + 3, len(tokens)) if [f for f, _ in tokens[k - 2 : k]] == [PLACE] * 2]

    def states(self) -> Iterator[dict[str, Any]]:
        fixed = {"n": self.n, "abs": abs, **{f"|number {f}|": partial(self.number, f) for f in (VERTEX, PLACE)}}
        functions = translation(Frames(self.n)).functions
        fixed |= {name: cache(partial(self.term, atom)) for atom, name in functions.items()}
        yield from (fixed | {"k": k} for k in self.ends)

    def number(self, family: str, k: int) -> int:
        name, number = self.read.tokens[k - 1] if k >= 1 else ("", 0)
        return number if name == family else 0

    def term(self, atom: Atom, *at: int) -> Any:
        k = max(at[-1], 1)
        match atom:
            case Pick() | Closest():
                return self.read.chosen(atom, k)[0]
            case Named(_, of):
                return self.read.value(of, k)
            case IsWord(word):
                return self.read.tokens[k - 1] == (word, 0)
            case Count(Matching(((key, _),))):
                return sum(self.read.value(key, j) == at[0] for j in range(2, k + 1))
        raise TypeError(atom)


def test_they_are_true_of_runs() -> None:
    """Axioms and invariants at the end of each frame, and lemmas where all that they suppose is true; which is so at some end."""
    compiled, met = Compiled(MADE, MADE.facts), set[str]()
    for graph in GRAPHS:
        run = Run(graph)
        for state in run.states():
            true = compiled.truths(state, run.window)
            for name, fact in MADE.facts.items():
                due = name in MADE.invariants or (fact.uses is None and not fact.supposes)
                if due or (fact.uses is not None and all(true[supposed] for supposed in fact.supposes)):
                    assert true[name], (graph, state["k"], name)
                    met.add(name)
    assert met >= set(MADE.lemmas)


def test_another_solver_finds_that_all_follow() -> None:
    assert {name: said for name, said in answers_of_another_solver(MADE).items() if said != "unsat"} == {}


def test_they_are_of_every_n() -> None:
    assert (N.sizes.low, N.sizes.high) == (2, 2**64)


WRONG = [  # a property of frames, what it is instead, and a lemma that follows no longer
    ("twice_as_far", lambda frames: frames.place(back(THERE, 3) * 3 - THERE * 2), "frame"),
    ("twice_as_far", lambda frames: frames.place(back(THERE, 3) * 3 - THERE * 2), "has-a-word"),
    ("new_base", lambda frames: (frames.place(THERE), frames.decision), "one-behind"),
    ("new_base", lambda frames: (frames.place(THERE + 2), frames.decision), "one-behind"),
    ("next_vertex", lambda frames: SayNumber(frames.nearest(OWN, HERE, back(THERE, 2))), "goes-down"),
    ("next_vertex", lambda frames: SayNumber(frames.nearest(OTHER, HERE, back(THERE, 3))), "goes-down"),
    ("edge_passed", lambda frames: SayNumber(back(THERE, 2)), "passes"),
    ("decision", lambda frames: Say("^"), "over"),
    ("decision", lambda frames: Say("-"), "follows"),
    ("decision", lambda frames: Say(">"), "looked"),
    ("decision", lambda frames: Anything(), "decided"),
]


@pytest.mark.parametrize(("name", "wrong", "lemma"), WRONG, ids=[f"{name}, {lemma}" for name, _, lemma in WRONG])
def test_of_wrong_frames_not_all_follow(name: str, wrong: Callable[[Frames], object], lemma: str) -> None:
    frames = type("Wrong", (Frames,), {name: property(wrong)})(N)
    assert theory(frames).doubt(lemma, effort=2_000_000)


TEXT = Path(next_record.__file__).with_name("next_record.smt2").read_text(encoding="utf-8")
CHANGES = [
    ("(<= (target k) j)", "true", "found-behind"),
    ("(<= (target k) j)", "(< (target k) j)", "none-before/begins"),
    ("(- (* 2 (target k)) (base k))", "(* 2 (target k))", "found-before"),
    ("(<= downs (- n 1))", "(<= downs n)", "decided"),
    ("(<= 1 (vertex j) n)", "true", "ends"),
]


@pytest.mark.parametrize(("old", "new", "lemma"), CHANGES, ids=[lemma for *_, lemma in CHANGES])
def test_what_is_wrong_does_not_follow(old: str, new: str, lemma: str) -> None:
    assert TEXT.count(old) == 1
    made = Theory(MADE.parts)
    made.add(TEXT.replace(old, new))
    assert made.doubt(lemma, effort=2_000_000)

"""The lemmas on the hybrid's search in frames: they are true of runs, and wrong frames are seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from constructions.istree import hybrid
from constructions.istree.hybrid import DOWN, MARKS, NO, PLACE, UP, VERTEX, YES
from constructions.language.terms import ONE, ZERO, Anything, Count, Matching, Say, SayNumber, Term, as_term
from tests.verify.induction.lemmas import (
    CONTRADICTIONS,
    Trial,
    doubts_of_another_solver,
    is_tree,
    require_doubt,
    with_another_text,
)
from verify.dossiers.istree.frames import HERE, OTHER, OWN, THERE, Frames
from verify.dossiers.istree.lemmas.frames import N, theory
from verify.dossiers.istree.lemmas.search import text_of
from verify.dossiers.istree.runs.frames import FrameRun
from verify.dossiers.istree.walks_in_frames import Edges
from verify.induction.evaluation import Compiled, symbol
from verify.programs.shorthand import K, back, let, read_match, word

MADE = theory(Frames(N))
PROMPTS: list[Edges] = [
    ((2, 1),),
    ((1, 1),),
    ((2, 3), (1, 2)),
    ((1, 2), (2, 1)),
    ((3, 2), (2, 3)),
    ((1, 2), (2, 2)),
    ((3, 1), (1, 2), (2, 3)),
    ((4, 3), (3, 1), (1, 2)),
]


def test_they_are_true_of_runs() -> None:
    """At the end of each frame; each lemma is due at some end."""
    trial = Trial(MADE, MADE.facts)
    names = trial.compiled.names
    for edges in PROMPTS:
        run = FrameRun(edges)
        for place, (_, following, true) in enumerate(trial.along(run)):
            tree = is_tree(run, true, place == 0, following is None)
            assert true["no"] == (true["over"] and not tree)
            assert true["goes-on"] == (true["down"] or true["up"] or true["pass"] or true["further"])
            assert names[symbol("limit")] == hybrid.HYBRID.limit(run.n)
            assert following is None or names[symbol("end")] == following["k"]
    assert set(MADE.lemmas) - trial.met == CONTRADICTIONS


@pytest.mark.parametrize(
    ("name", "bit"),
    [
        ("decision", "leaves-open"),
        ("next_vertex", "down-open"),
        ("up", "up-open"),
        ("edge_passed", "pass-open"),
        ("twice_as_far", "further-open"),
    ],
)
def test_what_is_left_open_is_told(name: str, bit: str) -> None:
    left_open = type("Open", (Frames,), {name: property(lambda frames: Anything())})
    run = FrameRun(((2, 1), (3, 2)))

    def told(frames: type[Frames]) -> bool:
        compiled, result = Compiled(theory(frames(N)), {}), []
        for state in run.states():
            compiled.truths(state, run.window)
            result.append(compiled.names[symbol(bit)])
        return any(result)

    assert told(left_open)
    assert not told(Frames)


def test_another_solver_finds_that_all_follow() -> None:
    assert doubts_of_another_solver(MADE) == {}


def test_they_are_of_every_n() -> None:
    assert (N.oracle.low, N.oracle.high) == (2, 2**64)


def father_of(frames: Frames, vertex: Term, *, again: str = "", last: bool = False) -> Term:
    """The vertex before, at the first or last time that the search came down to a vertex, or again."""
    came = let("came", frames.came_to + (word(again, 2) * HERE if again else ZERO))
    return read_match(word(DOWN, 2) * back(HERE, 1), (came, vertex), last=last)


BASE, GONE_UP = SayNumber(ONE, PLACE), ((OWN, HERE), (OTHER, back(HERE, 1)))
WRONG: list[
    tuple[str, Callable[..., object], str]
] = [  # a property, what it is instead, and a lemma that follows no longer
    ("came_to", lambda frames: let("came_to", word(DOWN, 2) * HERE), "comings"),
    ("father", lambda frames: partial(father_of, frames, last=True), "father-at-here"),
    ("father", lambda frames: partial(father_of, frames, again=UP), "father-at-here"),
    ("father", lambda frames: lambda vertex: read_match(back(HERE, 2), (frames.came_to, vertex)), "father-is"),
    ("downs", lambda frames: as_term(Count(Matching(((HERE, ONE),)))), "downs-then"),
    ("downs", lambda frames: as_term(Count(Matching(((word(DOWN), ONE),)))) + 1, "none-down"),
    ("unless_visited", lambda frames: BASE, "frame-down"),
    ("unless_visited", lambda frames: Say(NO), "frame-down"),
    ("next_vertex", lambda frames: SayNumber(frames.nearest(OWN, HERE, back(THERE, 2)), VERTEX), "frame-down"),
    ("next_vertex", lambda frames: SayNumber(frames.nearest(OTHER, HERE, back(THERE, 3)), VERTEX), "frame-down"),
    ("next_vertex", lambda frames: Anything(), "frame-down"),
    ("up", lambda frames: SayNumber(ONE, VERTEX), "frame-up"),
    ("up", lambda frames: Anything(), "frame-up"),
    ("edge_gone_up", lambda frames: BASE, "frame-up"),
    ("edge_gone_up", lambda frames: SayNumber(read_match(K, *GONE_UP, last=True), PLACE), "frame-up"),
    ("edge_gone_up", lambda frames: SayNumber(read_match(K, *GONE_UP[:1]), PLACE), "frame-up"),
    ("edge_passed", lambda frames: SayNumber(back(THERE, 2), PLACE), "frame-pass"),
    ("edge_passed", lambda frames: Say(NO), "frame-pass"),
    ("twice_as_far", lambda frames: frames.place(back(THERE, 3) * 3 - THERE * 2), "frame-further"),
    ("new_base", lambda frames: (frames.place(THERE), frames.decision), "frame-pass"),
    ("new_base", lambda frames: (frames.place(THERE + 2), frames.decision), "frame-up"),
    ("new_base", lambda frames: (frames.place(THERE + 2), frames.decision), "frame-first"),
    *(("decision", lambda frames, mark=mark: Say(mark), "decision") for mark in (*MARKS, YES, NO)),
    ("decision", lambda frames: Anything(), "decision"),
]


@pytest.mark.parametrize(("name", "wrong", "lemma"), WRONG, ids=[f"{name}, {lemma}" for name, _, lemma in WRONG])
def test_of_wrong_frames_not_all_follow(name: str, wrong: Callable[[Frames], object], lemma: str) -> None:
    frames = type("Wrong", (Frames,), {name: property(wrong)})(N)
    require_doubt(MADE, theory(frames), lemma)


CHANGES = [  # of the texts: what stands there, what shall, and a lemma that follows no longer
    ("(<= (target k) j)", "true", "found-behind"),
    ("(<= (target k) j)", "(< (target k) j)", "none-before/pass"),
    ("(> j (- (* 2 (target k)) (base k)))", "(> j (* 2 (target k)))", "found-before"),
    ("(= (taken (vertex k)) 0) 1 (taken", "(= (taken (vertex k)) 0) 2 (taken", "base-is/starts"),
    (
        "(define-fun taken-down ((v Int)) Int (ite (= v w) 0 (ite (= v c) edge (taken v))))",
        "(define-fun taken-down ((v Int)) Int (taken v))",
        "children/down",
    ),
    ("(< (rec c w) edge)", "true", "closes-a-cycle"),
    ("(= j (rec (own j) (other j))))))\n(invariant", "true)))\n(invariant", "depths"),
    ("(ite goes-down w 0)", "0", "arrivals"),
    ("(+ 4 (* 14 (- n 1))", "(+ 3 (* 14 (- n 1))", "within"),
    ("(+ 3 (* 10 (gone-to (- n 1)))", "(+ 3 (* 9 (gone-to (- n 1)))", "length/down"),
    ("(< (* 3 n) (pow bits))", "(< n (pow bits))", "doublings/further"),
    ("(<= 0 doubled bits)", "(<= 0 doubled (- bits 1))", "doublings/further"),
    (
        "(define-fun gone-down ((m Int)) Int (+ (gone-to m) (ite (<= (edge-of edge) m) 1 0)))",
        "(define-fun gone-down ((m Int)) Int (gone-to m))",
        "gone-is/down",
    ),
    ("(<= 1 (rec (own j) (other j)) j)", "(<= 1 (rec (own j) (other j)))", "found-up"),
    ("(= (own i) (own j))) (= i j))", "(= (own i) (own j))) (= (other i) (other j)))", "closes-a-cycle"),
]


@pytest.mark.parametrize(("old", "new", "lemma"), CHANGES, ids=[lemma for *_, lemma in CHANGES])
def test_what_is_wrong_does_not_follow(old: str, new: str, lemma: str) -> None:
    require_doubt(MADE, with_another_text(MADE, text_of("frames"), old, new), lemma)

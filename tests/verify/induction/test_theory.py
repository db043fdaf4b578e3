"""What is a theory, what is none, and what follows in small ones."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.induction.theory import Expression, Theory, expression_text, read

INDUCTION = """
(declare-const k Int) (define-fun next () Int (+ k 1)) (define-fun double ((x Int)) Int (* 2 x))
(axiom start (= k 0)) (suppose on true) (suppose other (= k 5)) (invariant small (>= (double k) 0))
"""
STARTS = "(starts other ((k 5)) ())"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("(lemma a (b) true)", "a uses what is not stated before it: b"),
        ("(lemma start () true)", "two facts are called start"),
        ("(kept on ((k next)) (other))", "small/on supposes more than it may: other"),
        ("(kept on ((k next)) () (large small))", "on: no invariants: large"),
        ("(invariant hidden (> next 0)) (kept on ((k 3)) (small))", "hidden has a macro that hides k"),
        ("(kept on ((k 3 4)) ())", "(k 3 4) is no pair"),
        ("(starts on ((k 0)) (small))", "small/on supposes more than it may: small"),
        ("(kept on ((k next)) (small)) (invariant late (> k 0))", "late is no invariant: on does not show it"),
        ("(also on large start)", "large is no invariant that on has yet to show"),
        ("(kept on ((k next)) (small)) (also on small start)", "small is no invariant that on has yet to show"),
        (
            "(define later Int next) (invariant hidden (> later 0)) (kept on ((k 3)) (small))",
            "hidden has a macro that hides k",
        ),
        ("(kept on ((k next)) (small)) (concludes start ())", "start rests on invariants that no induction shows"),
        ("(starts other ((k 5)) ()) (concludes start ())", "start rests on invariants that no induction shows"),
        (
            f"{STARTS} (kept on ((k next)) ()) (lemma all (on) true) (concludes all ())",
            "all supposes more than it may: on",
        ),
        (
            f"{STARTS} (kept on ((k next)) ()) (lemma all (on) true) (concludes all (on))",
            "all is no conclusion where it supposes on",
        ),
        (
            f"(suppose more true) {STARTS} (kept on ((k next)) ()) (kept more ((k next)) ()) (concludes start ())",
            "start rests on invariants that no induction shows",
        ),
        ("(kept on ((k next)) (small)) (tracked on (k 3))", "on has shown the invariants without (k 3)"),
        ("(tracked on (k other k)) (kept on () ())", "(k other k) is no pair"),
        ("(also on small other) (kept on ((k next)) ())", "small/on supposes more than it may: other"),
        ("(cases all on (on) ())", "the invariants are not kept in the case on"),
        ("(kept on ((k next)) (small)) (cases all on (on) (other))", "all supposes more than it may: other"),
        ("(assert (> k 0))", "no part of a theory: (assert (> k 0))"),
        ("(axiom (a)", "1 brackets are not closed"),
        (")", "a bracket is closed that was not opened"),
    ],
)
def test_what_is_no_theory_is_refused(text: str, says: str) -> None:
    made = Theory({})
    made.add(INDUCTION)
    with pytest.raises(ValueError, match=re.escape(says)):
        made.add(text)


def test_a_small_induction() -> None:
    made = Theory({})
    made.add(INDUCTION + "(kept on ((k next)) (small)) (lemma above (small start) (> k 0)) (lemma nothing () false)")
    assert made.lemmas == ["small/on", "above", "nothing"]
    assert [made.doubt(name) for name in made.lemmas] == ["", "z3 says sat", "z3 says sat"]
    assert made.facts["small/on"].supposes == {"small"} == made.facts["above"].supposes
    assert made.closure(["above"]) == ["start", "small", "above"]
    assert made.closure(["small/on", "nothing"]) == ["small", "small/on", "nothing"]


def test_what_follows_by_induction_rests_on_both_of_its_lemmas() -> None:
    made = Theory({})
    made.add(INDUCTION + "(induction all (j 0) () (>= j 0) ((+ j 0)) (start)) (lemma above (all) true)")
    assert made.closure(["above"]) == ["start", "all/start", "all/step", "all", "above"]


def test_from_facts_that_contradict_each_other_nothing_follows() -> None:
    made = Theory({})
    made.add(
        INDUCTION
        + "(axiom late (> k 1)) (lemma any (start late) false) (suppose never false) (lemma below (never) false)"
    )
    assert [made.doubt(name) for name in made.lemmas] == ["what it uses contradicts itself", ""]


@given(st.recursive(st.sampled_from(["a", "|b c|", "12"]), lambda inner: st.lists(inner, max_size=3)))
def test_texts_are_read_as_written(expression: Expression) -> None:
    assert read(expression_text(expression)) == [expression]


def test_what_is_concluded_rests_on_invariants_and_its_own_case() -> None:
    made = Theory({})
    made.add(INDUCTION + "(suppose more (> k 5)) (suppose end true)" + STARTS)
    made.add("(kept on ((k next)) (small)) (kept more ((k next)) (small)) (cases all on (on more) ())")
    made.add("(lemma last (small end) (>= k 0)) (concludes last (end))")
    assert made.facts["last"].supposes == {"small", "end"}


LONG = """
import os, signal, threading, z3
from verify.induction.theory import ask
x, y, z = z3.Ints("x y z")
solver = z3.Solver()
solver.add(x * x * x + y * y * y + z * z * z == 114, x > y, y > z)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    print(ask(solver))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_is_no_answer() -> None:
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "interrupted\n", done.stderr

"""A place as an interpretation over all integers: tables mean what they say, and what is false beyond them is not shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from verify.dossiers.registry import find_subject
from verify.induction.along import RUNS, check_along_runs, places_of
from verify.induction.interpretation import definitions, first_doubt
from verify.induction.place import Place
from verify.induction.theory import Theory

TABLE = range(-2, 5)


def theory(text: str) -> Theory:
    made = Theory({})
    made.add(text)
    return made


def is_true(made: Theory, place: Place, formula: str) -> bool:
    """By z3, of a formula without quantifiers; asked in the open, not by what is tried here."""
    solver = z3.Solver()
    solver.from_string("\n".join([*definitions(made, place), f"(assert {formula})"]))
    return bool(solver.check() == z3.sat)


def number(value: int) -> str:
    return f"(- {-value})" if value < 0 else str(value)


VALUES = st.integers(-3, 3)
ROW = st.lists(VALUES, min_size=len(TABLE), max_size=len(TABLE))


@given(ROW, st.integers(-9, 9))
def test_a_table_of_one_integer(row: list[int], at: int) -> None:
    """Its own values, and beyond it the line in which its last three are, or else the last value."""
    made = theory("(declare-fun f (Int) Int) (declare-fun b (Int) Bool)")
    place = Place("", {"f": lambda i: row[i - TABLE[0]], "b": lambda i: row[i - TABLE[0]] > 0}, TABLE, TABLE)
    if at in TABLE:
        value = row[at - TABLE[0]]
        assert is_true(made, place, f"(= (b {number(at)}) {str(value > 0).lower()})")
    else:
        end, steps = (row[::-1], at - TABLE[-1]) if at > TABLE[-1] else (row, TABLE[0] - at)
        slope = end[0] - end[1]
        value = end[0] + (slope * steps if end[1] - end[2] == slope else 0)
        if end[1] - end[2] != slope:  # what is no line may be continued in any way: axioms decide
            return
    assert is_true(made, place, f"(= (f {number(at)}) {number(value)})")


@given(st.lists(ROW, min_size=len(TABLE), max_size=len(TABLE)), st.sampled_from(TABLE), st.sampled_from(TABLE))
def test_a_table_of_two_integers(rows: list[list[int]], i: int, j: int) -> None:
    made = theory("(declare-fun f (Int Int) Int)")
    place = Place("", {"f": lambda i, j: rows[i - TABLE[0]][j - TABLE[0]]}, TABLE, TABLE)
    assert is_true(made, place, f"(= (f {number(i)} {number(j)}) {number(rows[i - TABLE[0]][j - TABLE[0]])})")


@pytest.mark.parametrize(
    "function",
    [lambda i, j: i, lambda i, j: j, lambda i, j: i if j == 0 else 0, lambda i, j: max(i, 0), lambda i, j: i + 2 * j],
)
def test_beyond_a_table_of_two_integers(function: Callable[[int, int], int]) -> None:
    made, place = theory("(declare-fun f (Int Int) Int)"), Place("", {"f": function}, TABLE, TABLE)
    for i in (-40, 0, 1, 77):
        for j in (-40, 0, 1, 77):
            assert is_true(made, place, f"(= (f {number(i)} {number(j)}) {number(function(i, j))})")


@pytest.mark.parametrize(
    ("axiom", "unseen"),
    [
        ("(forall ((j Int)) (! (>= (f (+ j 1)) (f j)) :pattern ((f j))))", None),
        ("(forall ((j Int)) (! (= (f j) (ite (> j 0) j 0)) :pattern ((f j))))", None),
        ("(= (f 1000) 7)", ("a", "sat")),  # the window does not see it
        ("(forall ((j Int)) (! (< (f j) 1000) :pattern ((f j))))", ("a", "sat")),
    ],
)
def test_what_is_false_beyond_is_not_shown(axiom: str, unseen: tuple[str, str] | None) -> None:
    made = theory(f"(declare-fun f (Int) Int) (axiom a {axiom})")
    place = Place("here", {"f": lambda j: max(j, 0)}, TABLE, TABLE)
    assert first_doubt(made, place, ["a"]) == unseen


def test_a_contradiction_that_no_window_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    """number(1000) is 0 after the text; the lemmas would follow from an axiom that says otherwise."""
    made = find_subject("istree", 1, lean=True).dossier.theory()
    assert isinstance(made, Theory)
    made.add("(axiom far (forall ((j Int)) (=> (> j 99) (= (number j) 7))))")
    assert check_along_runs(made, made.lemmas).doubt.startswith("far is not seen to be true of all integers: edges")
    place = Place("here", {"k": 1, "f": lambda j: j}, range(-1, 3), TABLE)
    monkeypatch.setitem(RUNS, "given", lambda: [place])
    small = theory(
        "(declare-const k Int) (declare-fun f (Int) Int) (suppose less (forall ((j Int)) (< (f j) 9))) (lemma a (less) true)"
    )
    small.runs = ("given",)
    assert check_along_runs(small, ["a"]).doubt == "less is not seen to be true of all integers: here: z3 says sat"


def test_a_wrong_recursion_is_refused() -> None:
    made = find_subject("istree", 1, model="hybrid").dossier.theory()
    assert made is not None
    place: Any = next(iter(places_of(made)))
    assert first_doubt(made, place, ["powers"]) is None
    wrong = replace(place, recursive={"pow": (1, "(* 3 before)")})
    doubted = first_doubt(made, wrong, ["powers"])
    assert doubted is not None
    assert doubted[0] == "powers"


@pytest.mark.parametrize("step", ["(+ 1 (f x1))", "(+ 1 (f (+ x1 1)))", "(g before)", "(+ before x)", "|f|"])
def test_a_definition_is_of_the_value_before(step: str) -> None:
    """f(i) = f(i) + 1 has no solution: with it z3 would say of any fact that it is true."""
    made = theory("(declare-fun f (Int) Int) (axiom a (= (f 1) (f 2)))")
    with pytest.raises(ValueError, match=r"^f: a step is of before, numbers"):
        first_doubt(made, Place("", {}, TABLE, TABLE, {"f": (0, step)}), ["a"])

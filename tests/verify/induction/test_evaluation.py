"""What lemmas use can be true: a contradiction is refused, wherever it stands."""

from __future__ import annotations

import re
from typing import Any

import pytest

from constructions.language.interpreter import Input, Number
from constructions.language.terms import Count, Matching, NumberOf, Term, term
from tests.verify.subjects import of_machine
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.framework.check import Check, Shared
from verify.framework.claim import Claim, Searched
from verify.framework.options import Options
from verify.framework.predicates import NoVerdict
from verify.induction import __main__ as command
from verify.induction import along
from verify.induction import theory as theories
from verify.induction.along import RUNS, check_along_runs, places_of
from verify.induction.evaluation import Compiled, function_of
from verify.induction.place import Place
from verify.induction.theory import Theory

ISTREE = [find_subject("istree", 1, lean=True), find_subject("istree", 1, model="rag")]
TURING = [
    of_machine(find_subject("turing", 1, model=model), machine, None)
    for machine in ("bb2", "counter")
    for model in ("hybrid", "rag", "cot")
]


def made_of(subject: Subject) -> Theory:
    made = subject.dossier.theory()
    assert isinstance(made, Theory)
    return made


@pytest.mark.parametrize("subject", [ISTREE[0], *TURING[3:]], ids=str)
def test_what_lemmas_use_can_be_true(subject: Subject) -> None:
    """Each claim about a theory asks for this, so here are a few."""
    made = made_of(subject)
    seen = check_along_runs(made, made.lemmas)
    assert seen.doubt == ""
    halts_at_once = str(subject.dossier.fields.get("machine", "")).startswith("---")  # on the empty tape
    assert seen.places >= (4 if halts_at_once else 5)
    assert seen.axioms == len(made.axioms) >= 10
    # yes-is-right, and what it rests on alone
    assert seen.refuted == (3 if subject.construction == "istree" else 0)


@pytest.mark.parametrize("subject", [*ISTREE, *TURING[:3]], ids=str)
def test_a_contradiction_is_refused(subject: Subject) -> None:
    made = made_of(subject)
    text = "kind" if "kind" in map(written_name, made.declarations) else "number"
    made.add(f"(axiom zero (= ({text} 1) 0)) (axiom one (= ({text} 1) 1))")
    refused = check_along_runs(made, made.lemmas).doubt
    assert refused.startswith(("zero is false: ", "one is false: "))


@pytest.mark.parametrize(("subject", "most"), [(ISTREE[0], 40), *((one, 10**9) for one in (ISTREE[0], *TURING[:3]))])
def test_an_axiom_that_leaves_out_large_numbers_is_refused(subject: Subject, most: int) -> None:
    """It is true along each run, as runs are small."""
    made = made_of(subject)
    size = next(name for name in ("edges", "n", "m") if name in map(written_name, made.declarations))
    assert made.of_axioms(along.LARGE) != "unsat"
    made.add(f"(axiom few (<= {size} {most}))")
    assert made.of_axioms() != "unsat"
    assert check_along_runs(made, ()).doubt.endswith(", if each number is 1,000,000,000,000,000 or more")


def written_name(declaration: Any) -> str:
    return str(declaration[1])


@pytest.fixture(autouse=True)
def given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places as a test gives them."""
    monkeypatch.setitem(
        RUNS,
        "given",
        lambda places: [Place(f"place {i}", symbols, range(-1, 4), range(-1, 5)) for i, symbols in enumerate(places)],
    )


def small(text: str, *places: dict[str, Any]) -> Theory:
    made = Theory({})
    made.add(f"(declare-const k Int) (declare-fun number (Int) Int) {text}")
    if places:
        made.runs = ("given", places)
    return made


HERE: list[dict[str, Any]] = [{"k": k, "number": lambda j: max(j - 1, 0)} for k in (1, 2)]


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("(axiom start (= (number 1) 0)) (suppose on (= k 2)) (lemma a (start on) (= k 2))", ""),
        ("(suppose on (= k 3)) (lemma a (on) (= k 3))", "at no place of a run all that a uses is true"),
        ("(suppose on (= k 1)) (suppose off (= k 2)) (lemma a (on off) (= k 3))", "at no place of a run all that a uses is true"),
        ("(suppose on (= k 1)) (suppose off (= k 2)) (lemma a (on off) false)", ""),
        ("(suppose on (= k 1)) (suppose off (= k 3)) (lemma a (on off) false)", "at no place of a run off is true"),
        ("(suppose on (= k 3)) (suppose off (= k 4)) (lemma a (on) true) (lemma b (on off) true)",
         "at no place of a run all that a uses is true, and 1 more"),
        ("(invariant low (= k 1))", "low is false: place 1"),
        ("(axiom rises (forall ((j Int)) (! (=> (>= j 0) (>= (number j) j)) :pattern ((number j)))))", "rises is false: place 0"),
        ("(declare-const m Int) (axiom more (= m 1))", "more cannot be evaluated: place 0: name 'vm' is not defined"),
        ("(define-fun more () Int (other k))", "a macro cannot be evaluated: place 0: name 'vother' is not defined"),
        ("(define-fun next ((j Int)) Int (+ j k)) (axiom a (= (next 1) (+ 1 k)))", ""),
        ("(define-fun next ((j Int)) Int (+ j k)) (axiom a (= (next 1) 2))", "a is false: place 1"),
    ],
)  # fmt: skip
def test_small_theories(text: str, doubt: str) -> None:
    made = small(text, *HERE)
    assert check_along_runs(made, made.lemmas).doubt == doubt


def test_the_axioms_alone_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the window they contradict each other; what interprets symbols there is left out."""
    monkeypatch.setattr(along, "first_doubt", lambda theory, place, names: None)
    zero = "(axiom zero (forall ((j Int)) (! (=> (> j 9) (= (number j) 0)) :pattern ((number j)))))"
    one = "(axiom one (forall ((j Int)) (! (=> (> j 9) (= (number j) 1)) :pattern ((number j)))))"
    asked = "(axiom there (or (= (number 10) 9) (= (number 1) 0)))"
    assert check_along_runs(small(zero + asked, *HERE), []).doubt == ""
    assert (
        check_along_runs(small(zero + one + asked, *HERE), []).doubt
        == "z3 derives a contradiction from the axioms alone"
    )
    assert small(zero, *HERE).of_axioms() in ("sat", "unknown")


def test_a_theory_without_runs_is_not_shown() -> None:
    assert (
        check_along_runs(small("(axiom a true)"), []).doubt == "no run is named along which axioms could be evaluated"
    )


def test_what_is_remembered_is_what_is_true() -> None:
    """From place to place, facts that are about nothing that changes are not evaluated again."""
    made = made_of(ISTREE[0])
    compiled, again = (Compiled(made, made.facts) for _ in range(2))
    for place in places_of(made):
        truths = compiled.truths(place.symbols, place.window)
        again.move_to(place.symbols, place.window)
        assert {name: again.holds(name) for name in made.facts} == truths


@pytest.mark.parametrize(
    ("formula", "true"),
    [
        ("(= (mod (- 2) 3) 1)", True),
        ("(= (div (- 2) 3) (- 1))", True),
        ("(= (div 7 (- 2)) (- 3))", True),
        ("(= (mod 7 (- 2)) 1)", True),
        ("(<= 1 k 1)", True),
        ("(< 0 k 1)", False),
        ("(=> false false)", True),
        ("(=> true false)", False),
        ("(= (ite (> k 0) 5 6) 5)", True),
        ("(let ((j (+ k 1))) (= j 2))", True),
        ("(forall ((i Int) (j Int)) (or (<= i j) (> i j)))", True),
        ("(forall ((i Int)) (or (< i 3) (= i k)))", False),
        ("(= (not (and true (or false true))) false)", True),
    ],
)
def test_formulas_mean_what_they_mean_in_smt_lib(formula: str, true: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """z3 says the same, of k = 1."""
    monkeypatch.setattr(along, "LARGE", 1)
    made = small(f"(axiom a {formula})", HERE[0])
    assert (check_along_runs(made, []).doubt == "") == true
    assert theories._answer(f"(declare-const k Int) (assert (= k 1)) (assert {formula})", 10**6) == (
        "sat" if true else "unsat"
    )


def test_a_claim_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(along, "LARGE", 1)
    claim = Claim("X", "Theorem X", "It follows.")
    check, made = Check(claim, Options()), small("(axiom a (= k 1)) (lemma b (a) (> k 0))", HERE[0])
    check.follows(made, range="all")
    assert check.row(0).verdict == "holds"
    check, made = Check(claim, Options()), small("(axiom a (= k 1)) (axiom c (= k 2)) (lemma b (a) (> k 0))", HERE[0])
    with pytest.raises(NoVerdict, match="what lemmas use may contradict itself: c is false: place 0"):
        check.follows(made, range="all")


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Theory, "doubt", lambda made, name: "")
    assert command.main([]) == 0
    assert re.fullmatch(
        r"\d+ axioms and \d+ invariants are true at 9 places of runs, for integers about the text, and at 6 of them, says z3, "
        "for all integers; at one of these what each lemma uses is true, but for 3 in a proof by contradiction",
        capsys.readouterr().out.splitlines()[-1],
    )
    model = type(ISTREE[0].dossier)
    right = model.theory

    def planted(dossier: Any) -> Theory:
        made: Any = right(dossier)
        made.add("(axiom one (= (number 1) 1))")
        return made

    monkeypatch.setattr(model, "theory", planted)
    assert command.main([]) == 3
    assert (
        capsys.readouterr().out.splitlines()[-1].startswith("what they use may contradict itself: one is false: edges")
    )


def test_claims_of_one_run_share_what_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "(axiom start (= (number 1) 0)) (lemma a (start) (<= (number 1) 0)) (lemma b (start) (>= (number 1) 0))"
    made, asked, shared = small(text, *HERE), list[str](), Shared()
    own = Theory.doubt
    monkeypatch.setattr(Theory, "doubt", lambda self, name: (asked.append(name), own(self, name))[1])

    def follow(theory: Theory, shared: Shared, *lemmas: str) -> list[str]:
        asked.clear()
        check = Check(Claim("X.1", "here", "It holds."), Options(), shared=shared)
        check.follows(theory, lemmas=lemmas, range="all")
        assert [part.cases for part in check.evidence if isinstance(part, Searched)] == [len(lemmas) or 2]
        return [*asked]

    assert follow(made, shared, "a") == ["a"]
    assert follow(made, shared, "a") == []
    assert follow(made, shared) == ["a", "b"]
    assert follow(made, Shared()) == ["a", "b"]
    other = small(text.replace(">= (number 1) 0", ">= (number 1) 1"), *HERE)
    for _ in range(2):  # what is not shown is not remembered
        with pytest.raises(NoVerdict, match="b is not seen to follow"):
            follow(other, shared)


def test_a_theory_of_other_runs_is_another_one() -> None:
    text = "(axiom start (= (number 1) 0)) (lemma a (start) (<= (number 1) 0))"
    one, two = small(text, *HERE), small(text, *HERE[:1])
    assert one.digest(["a"]) == small(text, *HERE).digest(["a"]) != two.digest(["a"])
    assert one.digest(["a"]) != one.digest([])
    assert one.digest(["a"]) != small(text.replace("<=", "="), *HERE).digest(["a"])


def test_a_count_is_that_of_each_position_whatever_is_asked_first() -> None:
    """How many positions from 2 on have a number as key, by a plain count; each key is evaluated once."""
    tokens = [("<s>", 0), *(("", 1 + (i * i + i // 3) % 4) for i in range(30))]
    asked: list[int] = []

    class Watched(Input):
        def value(self, term: Term, k: int) -> Number:
            asked.append(k)
            return super().value(term, k)

    key = term([((NumberOf(""),), 1)])
    count = function_of(Watched(tokens), Count(Matching(((key, key),))))
    numbers, places = range(6), [7, 31, -3, 1, 2, 30, 15, 0]
    found = {(number, k): count(number, k) for k in places for number in numbers}
    assert found == {
        (number, k): sum(value == number for _, value in tokens[1 : max(k, 1)]) for k in places for number in numbers
    }
    assert asked == list(range(2, 32))

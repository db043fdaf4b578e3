"""Stored intervals: what they are made of, what is held against them, and that neither a fault nor a forger goes through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from constructions.exports.files import alone
from constructions.istree import transformer
from constructions.language.terms import as_term
from constructions.retrieval.retriever import Retriever
from tests.verify.faults import Change, change_scale, define_failure, leave_out_a_number, take_fewer_bits
from verify import store
from verify.automata.token_automaton import Label
from verify.certificates import finder
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.tasks import Retrieval
from verify.framework.check import Check, Shared
from verify.framework.claim import Certified, Claim, Row, Stored, Verdict
from verify.framework.options import Options
from verify.framework.predicates import NoVerdict, WitnessFound
from verify.stored import intervals as stored
from verify.stored.intervals import Document, Renewal, StoredInterval
from verify.stored.questions import canonical
from verify.trusted import keys

RECALL = find_subject("recall", 4, last=1 << 17)
HYBRID = replace(RECALL, dossier=find_subject("recall", 4, model="hybrid").dossier)
SHORT, SHORT_HYBRID = (replace(one, last=1 << 12) for one in (RECALL, HYBRID))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    monkeypatch.setattr(store, "FOLDER", tmp_path)


def made(subject: Subject, about: stored.About) -> list[StoredInterval]:
    return [*store.store(subject, about, None)]


@cache
def text_of(subject: Subject, about: stored.About) -> str:
    """Of the document as it is without a fault: the first test that stores it makes it."""
    made(subject, about)
    return stored.path_of(subject, about).read_text(encoding="utf-8")


def store_as_it_is(subject: Subject, about: stored.About) -> None:
    """The document that `made` makes without a fault, made once for all tests."""
    text = text_of(subject, about)
    stored.path_of(subject, about).write_text(text, encoding="utf-8")


def row(subject: Subject, about: stored.About = "rounding", seed: int = 0, known: stored.Built | None = None) -> Row:
    """What a claim would say of the document, as `make verify` does. known: what the run has built before."""
    options = Options(n_max=10**4, seed=seed)
    check, note = Check(Claim("X.1", "here", "It holds."), options, shared=Shared({} if known is None else known)), ""
    try:
        check.stored(subject, about, range="every input")
    except NoVerdict as undecided:
        note = str(undecided)
    except WitnessFound:
        pass
    return check.row(0.1, note)


# What holds


@pytest.mark.parametrize("about", ["rounding", "program"])
def test_a_document_of_these_weights_holds(about: stored.About) -> None:
    intervals = made(HYBRID, about)
    actual = row(HYBRID, about)
    assert actual.verdict is Verdict.HOLDS
    whole, anew = actual.evidence
    assert isinstance(whole, Stored)
    assert (whole.sizes, whole.cases, whole.built) == (((4, 1 << 17),), len(intervals), len(intervals))
    assert (whole.name, len(whole.document)) == (f"recall-hybrid-{about}", 64)
    assert isinstance(anew, Certified)
    assert anew.cases == stored.RENEWED
    assert actual.verdict_text.endswith("stored for n = 4 … 131,072")


def test_two_runs_of_one_document_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    path = stored.path_of(RECALL, "rounding")
    with alone(path, "the first"):
        assert store.main([path.stem]) == 2
        assert "error: recall-rounding: another run is writing it" in capsys.readouterr().err
        assert not path.exists()
        assert store.main([path.stem, "--list"]) == 0
    assert "recall-rounding: not begun" in capsys.readouterr().out


def test_other_intervals_are_made_anew_for_another_seed_or_other_weights() -> None:
    store_as_it_is(RECALL, "rounding")
    document = stored.read(RECALL, "rounding")
    assert document is not None
    chosen = {tuple(one.low for one in Renewal(document, seed).renewed) for seed in range(8)}
    assert len(chosen) > 4
    first = replace(document.intervals[0], form="0" * 16)
    others = replace(document, intervals=(first, *document.intervals[1:]))
    assert any(
        [one.low for one in Renewal(others, seed).renewed] != [one.low for one in Renewal(document, seed).renewed]
        for seed in range(8)
    )


def test_a_run_that_is_stopped_goes_on_and_keeps_what_has_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = made(SHORT, "rounding")
    walk: Any = store.store(SHORT, "rounding", None)
    for _ in range(5):
        next(walk)
    walk.close()
    partial = stored.read(SHORT, "rounding", whole=False)
    assert partial is not None
    assert partial.intervals == tuple(whole[:5])
    with pytest.raises(ValueError, match="ends at n = "):
        stored.read(SHORT, "rounding")
    certified = list[int]()
    real = stored.certified
    monkeypatch.setattr(stored, "certified", lambda *of, **by: (certified.append(of[2].low), real(*of, **by))[1])
    assert [*store.store(SHORT, "rounding", partial)] == whole
    assert certified == [one.low for one in whole[5:]]


def test_documents_of_one_model_share_what_a_run_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    for about in ("rounding", "program"):
        store_as_it_is(SHORT_HYBRID, about)
    document = stored.read(SHORT_HYBRID, "program")
    assert document is not None
    known: stored.Built = {}
    assert row(SHORT_HYBRID, "rounding", known=known).verdict is Verdict.HOLDS
    built, real = list[int](), stored.part_of
    monkeypatch.setattr(stored, "part_of", lambda of, *args, **how: (built.append(of.n), real(of, *args, **how))[1])
    assert row(SHORT_HYBRID, "program", known=known).verdict is Verdict.HOLDS
    assert built == [one.low for one in Renewal(document).renewed]


def test_what_a_run_has_built_is_held_against_each_document() -> None:
    for about in ("rounding", "program"):
        store_as_it_is(SHORT_HYBRID, about)
    document = stored.read(SHORT_HYBRID, "program")
    assert document is not None
    known: stored.Built = {}
    assert row(SHORT_HYBRID, "rounding", known=known).verdict is Verdict.HOLDS
    for i in (0, len(document.intervals) // 2):
        other = replace(document.intervals[i], form="0" * stored.DIGITS)
        forged = replace(document, intervals=(*document.intervals[:i], other, *document.intervals[i + 1 :]))
        stored.path_of(SHORT_HYBRID, "program").write_text(stored.text_of(forged), encoding="utf-8")
        assert row(SHORT_HYBRID, "program", known=known).verdict is Verdict.UNKNOWN


# Faults


FAULTS: dict[str, Change] = {
    "20,000 to 5·10^11": lambda n: bool(20_000 <= n < 5 * 10**11),
    "300 to 3,000": lambda n: bool(300 <= n <= 3000),
    "one n": lambda n: bool(n == 4321),
}


@pytest.mark.parametrize("about", ["rounding", "program"])
@pytest.mark.parametrize("fault", FAULTS)
def test_weights_that_are_others_at_some_n_are_seen(
    fault: str, about: stored.About, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_as_it_is(HYBRID, about)
    change_scale(monkeypatch, FAULTS[fault])
    actual = row(HYBRID, about)
    assert actual.verdict is not Verdict.HOLDS
    assert not actual.as_expected


@pytest.mark.parametrize("where", [lambda n: True, lambda n: 4096 <= n <= 8191], ids=["all n", "some n"])
def test_weights_that_are_others_for_an_int_refute(where: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "rounding")
    change_scale(monkeypatch, lambda n: isinstance(n, int) and where(n))
    actual = row(RECALL)
    assert actual.verdict is Verdict.REFUTED
    assert actual.witness is not None
    with pytest.raises(stored.NotCertified):
        made(RECALL, "rounding")


def test_where_no_matrices_exist_weights_are_compared_as_exact_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.certificates.building.compared", lambda *args, **options: None)
    change_scale(monkeypatch, lambda n: isinstance(n, int) and n > 1000)
    with pytest.raises(stored.NotCertified, match="has other weights than what stands for it"):
        made(RECALL, "rounding")


def test_two_bits_less_at_some_n_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "rounding")
    take_fewer_bits(monkeypatch, Retriever, lambda n: bool(5_000 <= n <= 9_000))
    assert row(RECALL).verdict is not Verdict.HOLDS
    with pytest.raises(stored.NotCertified, match=r"saturates|the arithmetic"):
        made(RECALL, "rounding")


def test_two_bits_less_of_a_graph_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    some = find_subject("istree", 4990, last=5050)
    without_certificates = Document(some, "rounding", stored.questions(some, "rounding"), ())
    assert [*store.store(some, "rounding", without_certificates)]
    take_fewer_bits(monkeypatch, transformer.TourTransformer, lambda n: bool(5_000 <= n <= 9_000))
    assert row(some).verdict is not Verdict.HOLDS


def test_of_a_long_document_every_interval_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "rounding")
    monkeypatch.setattr(stored, "FEW_INTERVALS", 1)
    monkeypatch.setattr(stored, "MOST_COMPARED", 1)
    document = stored.read(RECALL, "rounding")
    assert document is not None
    assert len(Renewal(document).compared) == 1
    assert row(RECALL).verdict is Verdict.HOLDS
    alone = {one.low for one in document.intervals} - {one.low for one in Renewal(document).renewed}
    for n in sorted(alone - Renewal(document).compared)[::20]:
        with pytest.MonkeyPatch.context() as patch:
            change_scale(patch, lambda its, n=n: its == n)
            assert row(RECALL).verdict is not Verdict.HOLDS, n


def test_in_an_interval_that_is_compared_weights_for_an_int_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "rounding")
    monkeypatch.setattr(stored, "FEW_INTERVALS", 1)
    change_scale(monkeypatch, lambda n: isinstance(n, int) and n > 50_000)
    assert row(RECALL).verdict is Verdict.REFUTED


# Other questions

RANGES: dict[str, Change] = {
    "30,000 to 10^10": lambda n: bool(30_000 <= n < 10**10),
    "a few n inside of an interval": lambda n: bool(70_001 <= n <= 70_009),
    "one n": lambda n: bool(n == 100_003),
    "the first n": lambda n: bool(n == 4),
    "the last n": lambda n: bool(n == 1 << 17),
}


@pytest.mark.parametrize("where", RANGES)
def test_another_definition_at_some_n_is_seen(
    where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store_as_it_is(RECALL, "program")
    define_failure(monkeypatch, RANGES[where])
    actual = row(RECALL, "program")
    assert actual.verdict is not Verdict.HOLDS
    assert not actual.as_expected
    monkeypatch.setattr(store, "subjects", lambda: [(RECALL, "program")])
    assert store.main(["recall-program"]) in (1, 3)
    assert "recall-program: stale" in capsys.readouterr().out


def test_a_certificate_of_rounding_asks_for_no_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "rounding")
    define_failure(monkeypatch, RANGES["one n"])
    assert row(RECALL).verdict is Verdict.HOLDS


@pytest.mark.parametrize("about", ["rounding", "program"])
@pytest.mark.parametrize("where", RANGES)
def test_other_texts_at_some_n_are_seen(where: str, about: stored.About, monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, about)
    leave_out_a_number(monkeypatch, RANGES[where])
    actual = row(RECALL, about)
    assert actual.verdict is not Verdict.HOLDS
    assert not actual.as_expected


def test_texts_that_are_others_for_an_int_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "rounding")
    leave_out_a_number(monkeypatch, lambda n: isinstance(n, int) and n > 1000)
    assert row(RECALL).verdict is not Verdict.HOLDS


def test_another_option_is_another_question(monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "program")
    monkeypatch.setattr(Retrieval, "is_stepwise", True)
    document = stored.read(RECALL, "program")
    assert document is not None
    assert document.questions != stored.questions(RECALL, "program")
    assert row(RECALL, "program").verdict is Verdict.UNKNOWN


def test_only_intervals_of_which_another_question_is_asked_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "rounding")
    document = stored.read(RECALL, "rounding")
    assert document is not None
    leave_out_a_number(monkeypatch, lambda n: bool(70_001 <= n <= 70_009))
    cases = stored.questions(RECALL, "rounding")
    assert [case.high for case in cases] == [70_000, 70_009, 1 << 17]
    assert cases[0].asked == cases[2].asked == document.questions[0].asked != cases[1].asked
    lost = {*document.intervals} - {*store.keep(document, cases)}
    assert lost == {one for one in document.intervals if one.low <= 70_009 and one.high >= 70_001}
    assert lost


def test_a_question_without_one_answer_for_many_n_is_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "program")
    define_failure(monkeypatch, lambda n: n % 7 == 3)
    assert row(RECALL, "program").verdict is Verdict.UNKNOWN
    with pytest.raises(stored.NotCertified, match="the question"):
        made(RECALL, "program")


def test_a_question_is_the_same_in_every_process() -> None:
    code = (
        "from verify.dossiers.registry import find_subject\n"
        "from verify.stored.intervals import questions, forms_of, form_of\n"
        "for lean in (False, True):\n"
        "    subject = find_subject('istree', 4, last=99, lean=lean)\n"
        "    print(questions(subject, 'program'), form_of(forms_of(subject, 5)))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "123"
    }
    assert len(said) == 1
    assert next(iter(said)).count("asked=") == 2


def test_each_kind_of_value_has_a_text_of_its_own() -> None:
    values = [
        1,
        Fraction(1, 2),
        "1",
        "[1]",
        [1],
        {1},
        {1: 2},
        None,
        [],
        {},
        ["1", "2"],
        ["1 2"],
        Label("1"),
        as_term(1),
    ]
    assert len({*map(canonical, values)}) == len(values)
    assert canonical({"b": {2, 1}, "a": 3}) == canonical({"a": Fraction(3), "b": {1, 2}})
    with pytest.raises(TypeError, match="no text for object"):
        canonical([object()])


# Forged documents


def lines(document: dict[str, Any]) -> Iterator[int]:
    yield from range(len(document["intervals"]))


def as_it_was(document: dict[str, Any]) -> None:
    """Forges nothing."""


def dropped(document: dict[str, Any]) -> None:
    del document["intervals"][7]


def widened(document: dict[str, Any]) -> None:
    weights, found, high = document["intervals"][7].split()
    document["intervals"][7] = f"{weights} {found} {int(high) + 1}"


def ended_early(document: dict[str, Any]) -> None:
    document["intervals"].pop()


def of_others(document: dict[str, Any]) -> None:
    document["of"]["construction"] = "index"


def said_otherwise(document: dict[str, Any]) -> None:
    for i in lines(document):
        weights, _, high = document["intervals"][i].split()
        document["intervals"][i] = f"{weights} {'0' * 16} {high}"


def of_other_weights(document: dict[str, Any]) -> None:
    _, found, high = document["intervals"][7].split()
    document["intervals"][7] = f"{'0' * 16} {found} {high}"


def overlapping(document: dict[str, Any]) -> None:
    document["intervals"].insert(7, document["intervals"][6])


def of_another_question(document: dict[str, Any]) -> None:
    document["questions"] = [f"{'0' * 16} {SHORT.last}"]


def of_another_checker(document: dict[str, Any]) -> None:
    del document["checker"]


FORGERIES = (as_it_was, of_another_checker, of_another_question, dropped, widened, ended_early, of_others)
FORGERIES += (said_otherwise, of_other_weights, overlapping)


def laid_out(document: dict[str, Any]) -> str:
    """Writes a document as it is stored, an interval a line: a forger would."""
    head = json.dumps({**document, "intervals": 0}, ensure_ascii=False)
    lines = ",\n".join(f'"{line}"' for line in document["intervals"])
    return f"{head.removesuffix('0}')}[\n{lines}\n]}}\n"


@pytest.mark.parametrize("forge", FORGERIES)
def test_a_forged_document_is_refused(forge: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    store_as_it_is(SHORT, "rounding")
    path = stored.path_of(SHORT, "rounding")
    document = json.loads(path.read_text(encoding="utf-8"))
    forge(document)
    path.write_text(laid_out(document), encoding="utf-8")
    actual = row(SHORT)
    assert (actual.verdict, actual.note == "") == (
        (Verdict.HOLDS, True) if forge is as_it_was else (Verdict.UNKNOWN, False)
    )


def test_a_document_of_the_static_checker_does_not_pass_as_accepted() -> None:
    questions, intervals = stored.questions(RECALL, "rounding"), tuple(stored.intervals(RECALL, "rounding"))
    verdicts = []
    for accepted in (False, True):
        text = stored.text_of(Document(RECALL, "rounding", questions, intervals, accepted))
        stored.path_of(RECALL, "rounding").write_text(text, encoding="utf-8")
        verdicts.append(row(RECALL).verdict)
    assert verdicts == [Verdict.HOLDS, Verdict.UNKNOWN]


def test_what_the_small_checker_rejects_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "vanishing_lead", lambda format_, many: 10**9)
    with pytest.raises(stored.NotCertified, match=r"n = 4 … 4: the small checker: .* is needed"):
        made(RECALL, "rounding")


def test_a_certificate_that_its_finder_spoils_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    real = finder.certificate_of

    def spoiled(*of: Any) -> tuple[dict[str, Any], bytes]:
        certificate, rows = real(*of)
        return {**certificate, "steps": [[] for _ in certificate["steps"]]}, rows

    monkeypatch.setattr(finder, "certificate_of", spoiled)
    with pytest.raises(stored.NotCertified, match="n = 4 … 4: the small checker: "):
        made(RECALL, "rounding")


def test_without_a_document_nothing_is_said() -> None:
    actual = row(RECALL)
    assert actual.verdict is Verdict.UNKNOWN
    assert "python -m verify.store recall-rounding" in actual.note


def test_what_a_forger_can_do_is_found_by_another_seed() -> None:
    """A digest that was made up, of an interval that is not certified anew: the docstring says so."""
    store_as_it_is(RECALL, "rounding")
    document = stored.read(RECALL, "rounding")
    assert document is not None
    renewed = {one.low for one in Renewal(document).renewed}
    forged = tuple(
        one if one.low in renewed else replace(one, pieces=(replace(one.pieces[0], found="0" * 16),))
        for one in document.intervals
    )
    stored.path_of(RECALL, "rounding").write_text(stored.text_of(replace(document, intervals=forged)), encoding="utf-8")
    assert row(RECALL).verdict is Verdict.HOLDS
    assert any(row(RECALL, seed=seed).verdict is not Verdict.HOLDS for seed in (1, 2, 3))

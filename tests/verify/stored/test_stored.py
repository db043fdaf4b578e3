"""Stored intervals: what they are made of, what is held against them, and that neither a fault nor a forger goes through."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import constructions.parts.heads.match as match
import constructions.parts.heads.match_close as match_close
import constructions.parts.heads.match_nearest as match_nearest
from constructions.exports.files import alone
from constructions.istree import transformer
from constructions.retrieval.retriever import Retriever
from verify import store
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.framework.check import Check
from verify.framework.claim import Certified, Claim, Row, Stored, Verdict
from verify.framework.options import Options
from verify.framework.seen import Refuted, Undecided
from verify.stored import intervals as stored
from verify.stored.intervals import Document, Interval, Renewal

RECALL = find_subject("recall", 4, last=1 << 17)
HYBRID = replace(RECALL, dossier=find_subject("recall", 4, model="hybrid").dossier)
MODULES = (match, match_close, match_nearest)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    monkeypatch.setattr(store, "FOLDER", tmp_path)


def made(subject: Subject, about: stored.About) -> list[Interval]:
    return [*store.store(subject, about, ())]


@cache
def text_of(subject: Subject, about: stored.About) -> str:
    """Of the document as it is without a fault: the first test that stores it makes it."""
    made(subject, about)
    return stored.path_of(subject, about).read_text(encoding="utf-8")


def store_as_it_is(subject: Subject, about: stored.About) -> None:
    """The document that `made` makes without a fault, made once for all tests."""
    text = text_of(subject, about)
    stored.path_of(subject, about).write_text(text, encoding="utf-8")


def row(subject: Subject, about: stored.About = "rounding", seed: int = 0) -> Row:
    """What a claim would say of the document, as `make verify` does."""
    check, note = Check(Claim("X.1", "here", "It holds."), Options(n_max=10**4, seed=seed)), ""
    try:
        check.stored(subject, about, range="every input")
    except Undecided as undecided:
        note = str(undecided)
    except Refuted:
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
    first = replace(document.intervals[0], weights="0" * 16)
    others = replace(document, intervals=(first, *document.intervals[1:]))
    assert any(
        [one.low for one in Renewal(others, seed).renewed] != [one.low for one in Renewal(document, seed).renewed]
        for seed in range(8)
    )


def test_a_run_that_is_stopped_goes_on_and_keeps_what_has_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = made(RECALL, "rounding")
    walk = store.store(RECALL, "rounding", ())
    for _ in range(5):
        next(walk)
    walk.close()
    partial = stored.read(RECALL, "rounding", whole=False)
    assert partial is not None
    assert partial.intervals == tuple(whole[:5])
    with pytest.raises(ValueError, match="ends at n = "):
        stored.read(RECALL, "rounding")
    certified = list[int]()
    real = stored.certified
    monkeypatch.setattr(stored, "certified", lambda *args: (certified.append(args[2].low), real(*args))[1])
    assert [*store.store(RECALL, "rounding", partial.intervals)] == whole
    assert certified == [one.low for one in whole[5:]]


# Faults


Change = Callable[[Any], bool]


def wrong_scale(monkeypatch: pytest.MonkeyPatch, where: Change) -> None:
    """Position 1 costs more than other keys do, for some n."""
    own = match.match_scale

    def scale(setting: Any, printed: Any) -> Any:
        found = own(setting, printed)
        return found._replace(default=found.default * 8) if where(setting.n) else found

    for module in MODULES:
        monkeypatch.setattr(module, "match_scale", scale)


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
    wrong_scale(monkeypatch, FAULTS[fault])
    actual = row(HYBRID, about)
    assert actual.verdict is not Verdict.HOLDS
    assert not actual.as_expected


@pytest.mark.parametrize("where", [lambda n: True, lambda n: 4096 <= n <= 8191], ids=["all n", "some n"])
def test_weights_that_are_others_for_an_int_refute(where: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "rounding")
    wrong_scale(monkeypatch, lambda n: isinstance(n, int) and where(n))
    actual = row(RECALL)
    assert actual.verdict is Verdict.REFUTED
    assert actual.witness is not None
    with pytest.raises(stored.NotCertified):
        made(RECALL, "rounding")


def test_where_no_matrices_exist_weights_are_compared_as_exact_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.certificates.building.compared", lambda *args, **options: None)
    wrong_scale(monkeypatch, lambda n: isinstance(n, int) and n > 1000)
    with pytest.raises(stored.NotCertified, match="has other weights than what stands for it"):
        made(RECALL, "rounding")


def test_two_bits_less_at_some_n_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    store_as_it_is(RECALL, "rounding")
    own = Retriever.least_precision

    def less(self: Retriever, n: int, *args: Any, **options: Any) -> int:
        return own(self, n, *args, **options) - (2 if 5_000 <= n <= 9_000 else 0)

    monkeypatch.setattr(Retriever, "least_precision", less)
    assert row(RECALL).verdict is not Verdict.HOLDS
    with pytest.raises(stored.NotCertified, match=r"saturates|the arithmetic"):
        made(RECALL, "rounding")


def test_two_bits_less_of_a_graph_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    some = find_subject("istree", 4990, last=5050)
    made(some, "rounding")
    own = transformer.Transformer.least_precision
    monkeypatch.setattr(
        transformer.Transformer,
        "least_precision",
        lambda model, n, *args: own(model, n, *args) - (2 if 5_000 <= n <= 9_000 else 0),
    )
    assert row(some).verdict is not Verdict.HOLDS


# Forged documents


def lines(document: dict[str, Any]) -> Iterator[int]:
    yield from range(len(document["intervals"]))


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


FORGERIES = (dropped, widened, ended_early, of_others, said_otherwise, of_other_weights, overlapping)


@pytest.mark.parametrize("forge", FORGERIES)
def test_a_forged_document_is_refused(forge: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    store_as_it_is(RECALL, "rounding")
    path = stored.path_of(RECALL, "rounding")
    document = json.loads(path.read_text(encoding="utf-8"))
    forge(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    actual = row(RECALL)
    assert actual.verdict is Verdict.UNKNOWN
    assert actual.note


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
    stored.path_of(RECALL, "rounding").write_text(
        stored.text_of(Document(RECALL, "rounding", forged)), encoding="utf-8"
    )
    assert row(RECALL).verdict is Verdict.HOLDS
    assert any(row(RECALL, seed=seed).verdict is not Verdict.HOLDS for seed in (1, 2, 3))

"""Faults planted in what fills matrices: no command may certify, explain or prove anything of weights that nobody gets."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constructions.exports.weights import save
from constructions.layers import AttentionHead, FeedForward, Matrix, Recurrence, named_arrays
from constructions.wiring import wire
from tests.verify.faults import change_scale
from verify import certify, explain, theorem
from verify.algebra.domains import OtherMatrices
from verify.certificates.building import build_beside, families_of, model_of, part_of, wired_of
from verify.certificates.document import CERTIFIED, REFUSED, certificate
from verify.certificates.matrices import require_same
from verify.certificates.mutants import with_matrix
from verify.certificates.ranges import certificates, intervals
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject

Filler = wire._Filler


def planted(monkeypatch: pytest.MonkeyPatch, method: str, change: Callable[[Any], Any]) -> None:
    """The filler with something done to what this method gives."""
    own = getattr(Filler, method)
    monkeypatch.setattr(Filler, method, lambda self, *given: change(own(self, *given)))


def emptied_out(heads: tuple[AttentionHead, ...]) -> tuple[AttentionHead, ...]:
    return tuple(replace(head, out=head.out * 0) for head in heads)


def swapped_rows(heads: tuple[AttentionHead, ...]) -> tuple[AttentionHead, ...]:
    return tuple(replace(head, key=head.key[::-1].copy()) for head in heads)


def one_bit(words: Matrix) -> Matrix:
    words[-1] *= 1 + 2.0**-52
    return words


def emptied_feed(recurrence: Recurrence | None) -> Recurrence | None:
    return recurrence and replace(recurrence, feed=recurrence.feed * 0)


def other_bias(ffn: FeedForward) -> FeedForward:
    return replace(ffn, down_bias=ffn.down_bias + 1)


FAULTS = {
    "emptied W_O": ("heads", emptied_out, "hybrid"),
    "swapped rows": ("heads", swapped_rows, "hybrid"),
    "one bit": ("words", one_bit, "hybrid"),
    "emptied B": ("recurrence", emptied_feed, "rag"),
    "other bias": ("feed_forward", other_bias, "rag"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("size", [("--n", "9"), ("--all-n",)], ids=" ".join)
@pytest.mark.parametrize("command", [certify, explain, theorem], ids=lambda command: command.__name__)
def test_faults_of_the_filler(
    command: Any, size: tuple[str, ...], fault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    method, change, model = FAULTS[fault]
    planted(monkeypatch, method, change)
    assert command.main(["index", "--model", model, *size]) == 1
    assert "the matrices of n = " in capsys.readouterr().out


def test_each_array_of_each_block_is_compared() -> None:
    subject = find_subject("counting", 9, model="hybrid")
    model, wired = model_of(subject), wired_of(subject)
    for number, block in enumerate(wired.model.blocks):
        for name, array in named_arrays(block).items():
            other = array.copy()
            other.flat[-1] += 1
            changed = replace(wired, model=with_matrix(wired.model, number, name, other))
            with pytest.raises(OtherMatrices, match=rf"blocks\.{number}\.{re.escape(name)}, row"):
                require_same(model, changed, subject.n, families_of(subject))


def test_an_output_head_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    own = wire.wire

    def untied(*given: Any, **how: Any) -> Any:
        model, registers = own(*given, **how)
        return replace(model, unembed=np.roll(model.words, 1, axis=0)), registers

    monkeypatch.setattr("constructions.models.building.wire", untied)
    assert certificate(find_subject("recall", 9))["where"].startswith("unembed")


def test_words_that_are_spelled_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    own = wired_of

    def respelled(subject: Subject, listed: int | None = None) -> Any:
        wired = own(subject, listed)
        one, two, *others = wired.vocabulary
        return replace(wired, vocabulary=(two, one, *others))

    monkeypatch.setattr("verify.certificates.building.wired_of", respelled)
    actual = certificate(find_subject("recall", 9))
    assert (actual["verdict"], actual["where"]) == (REFUSED, "the vocabulary, row 0, column 0")


def test_the_last_numbers_of_a_table_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(words: Matrix) -> Matrix:
        return words * 2 if words[0].any() and len(words) == 2 else words

    build_beside(find_subject("recall", 10**6))
    planted(monkeypatch, "words", doubled)
    with pytest.raises(OtherMatrices, match="the last numbers"):
        build_beside(find_subject("recall", 10**6))


def lower_mismatch(scale: Any) -> Any:
    return scale._replace(mismatch=1)


@pytest.mark.parametrize("name", ["recall", "istree"])
def test_factors_that_are_wrong_far_away(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change_scale(monkeypatch, lambda n: bool(2_000 <= n < 5 * 10**11), lower_mismatch)
    assert certificate(find_subject(name, 16))["verdict"] == CERTIFIED
    assert certificate(find_subject(name, 3_000))["verdict"] != CERTIFIED
    actual = certificates(find_subject(name, 1_990, last=3_000))
    assert actual["verdict"] != CERTIFIED
    assert actual["intervals"][-1]["n"][0] == "2000"


def test_factors_that_are_wrong_for_whole_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    change_scale(monkeypatch, lambda n: isinstance(n, int) and n > 10**6, lower_mismatch)
    actual = certificates(find_subject("recall", 10**6, last=10**12))
    assert actual["verdict"] == REFUSED
    assert "the matrices of n = " in actual["what"]
    with pytest.raises(OtherMatrices, match=r"blocks\.2\.attn\.0\.W_"):
        part_of(find_subject("recall", 10**7), 10**8)


def test_each_interval_is_compared_at_its_ends_and_within() -> None:
    seen = [*intervals(find_subject("recall", 1, last=1 << 20))]
    for one in seen:
        assert {one.low, one.high} <= {*one.compared}
        assert all(one.low <= n <= one.high for n in one.compared)
    wide = [one for one in seen if one.high - one.low > 1000]
    assert wide
    assert all(len(one.compared) == 3 for one in wide)


@pytest.mark.parametrize(
    "subject",
    [
        find_subject("recall", 9),
        find_subject("istree", 7),
        find_subject("index", 2),
        find_subject("ngram", 6, model="rag"),
    ],
    ids=str,
)
def test_the_digest_is_that_of_the_file(subject: Subject, tmp_path: Path) -> None:
    digests = set()
    for name in ("a", "another"):
        path = tmp_path / f"{name}.safetensors"
        save(wired_of(subject).model, {}, path)
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert digests == {certificate(subject)["matrices_sha256"]}


def test_the_digest_by_both_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from constructions.recall import DOOR
    from constructions.retrieval.cli import main as dump

    path = tmp_path / "weights.safetensors"
    assert dump(DOOR, ["--n", "12", "--dump-weights", str(path)]) == 0
    capsys.readouterr()
    assert certify.main(["recall", "--n", "12", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matrices_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_no_digest_of_a_table_that_is_too_large() -> None:
    assert certificate(find_subject("recall", 10**12))["matrices_sha256"] is None

"""`python -m verify.certify`: exit codes, documents, files, intervals of n."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from constructions.istree import transformer
from constructions.wiring.wire import wire
from precision.format import Discipline, fixed_point
from tests.verify.certificates.test_sidecar import exported
from verify.certificates import above
from verify.certificates.building import forms_of, part_of, precision_of
from verify.certificates.document import CERTIFIED, REFUSED, certificate, judge
from verify.certificates.ranges import certificates, intervals
from verify.certify import PROG, main
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import MODELS, RETRIEVERS
from verify.oracles.counts import questions


@pytest.mark.parametrize("discipline", [d.value for d in Discipline])
@pytest.mark.parametrize("name", RETRIEVERS)
@pytest.mark.parametrize("n", ["4", "1000", "1000000000000"])
def test_retrieval_of_any_size(name: str, discipline: str, n: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--n", n, "--discipline", discipline, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["n"]) == (CERTIFIED, int(n))
    assert all(float(head["lead"]) >= float(head["needed"]) for head in document["heads"])


def written(name: str, path: Path) -> Path:
    exported(find_subject(name, 8), path)
    return path


@pytest.mark.parametrize("name", RETRIEVERS)
def test_an_exported_file(name: str, tmp_path: Path) -> None:
    assert main([str(written(name, tmp_path / "model.safetensors"))]) == 0


@pytest.mark.parametrize(("weight", "place"), [("blocks.1.attn.0.W_K", (1, 9)), ("blocks.2.ffn.W_up", (2, 15))])
def test_a_file_with_one_weight_changed(weight: str, place: tuple[int, int], tmp_path: Path) -> None:
    path = written("recall", tmp_path / "model.safetensors")
    arrays = {key: np.array(value) for key, value in load_file(path).items()}
    assert arrays[weight][place]
    arrays[weight][place] *= -1
    save_file(arrays, path)
    assert main([str(path)]) in (1, 3)


@pytest.mark.parametrize(
    ("sidecar", "tensor", "code", "says"),
    [
        ({"schema": 2}, {}, 2, "schema 2 is not 1, the one that is read here"),
        ({"rounding": "toward-zero"}, {}, 2, "about rounding to nearest even, not toward-zero"),
        ({}, {"blocks.1.attn.7.W_Q": 0.0}, 2, "blocks.1.attn.7.W_Q belongs to no block"),
        ({}, {"embed.position": np.nan}, 2, "embed.position holds what is no number"),
        ({"n": 60}, {}, 2, "the embedding has 15 rows, and a vocabulary for n = 60 has 60 numbers"),
        (
            {"n": 10**30},
            {},
            2,
            "n must be a whole number from 1 to 18446744073709551616, not 1000000000000000000000000000000",
        ),
        ({"p": 10**9}, {}, 2, "p must be a whole number from 1 to 1023"),
        ({"construction": "counting"}, {}, 2, "query_length = 1: the query of counting is a token and a threshold"),
        ({"p": 99}, {}, 1, "the sidecar: 'format' is not what recall at n = 8 has"),
    ],
)
def test_a_file_that_says_what_it_is_not(
    sidecar: dict[str, object],
    tensor: dict[str, float],
    code: int,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written("recall", tmp_path / "model.safetensors")
    beside = path.with_suffix(".json")
    beside.write_text(json.dumps(json.loads(beside.read_text()) | sidecar))
    save_file(load_file(path) | {name: np.array([value]) for name, value in tensor.items()}, path)
    assert main([str(path)]) == code
    out, err = capsys.readouterr()
    assert says in out + err
    if code == 2:
        assert err.startswith(f"{PROG}: error: {path}: ")
        assert err.count(str(path)) == 1


@pytest.mark.parametrize("ending", [".safetensors", ".json"])
@pytest.mark.parametrize("data", [b"", b"{}", b"\xff" * 99, b"[" * 10**5, b'{"n": 1, "n": 2}', b'{"n": NaN}'])
def test_a_file_that_is_no_model_is_named(
    ending: str, data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written("recall", tmp_path / "model.safetensors")
    path.with_suffix(ending).write_bytes(data)
    assert main([str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{PROG}: error: {tmp_path / 'model'}.")
    assert error.count("\n") == 1


def test_a_device_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.safetensors"
    path.symlink_to("/dev/zero")
    assert main([str(path)]) == 2
    assert f"{path}: not an exported model: this is a device or a pipe, not a file" in capsys.readouterr().err


def test_a_stored_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "recall.json"
    document = certificate(find_subject("recall", 16))
    path.write_text(json.dumps(document))
    assert main(["--replay", str(path)]) == 0
    for key in ("weights_sha256", "heads", "verdict", "inputs", "ideal_sha256", "error_in_steps"):
        path.write_text(json.dumps({**document, key: "tampered"}))
        assert main(["--replay", str(path)]) == 1
        assert key in capsys.readouterr().out
    path.write_text(json.dumps({**document, "n": 17}))
    assert main(["--replay", str(path)]) == 1
    for key, value in (
        ("construction", "zzz"),
        ("n", None),
        ("n", -1),
        ("length", "a"),
        ("printed", ["zzz"]),
        ("discipline", 1),
        ("layout", "zzz"),
    ):
        path.write_text(json.dumps({**document, key: value}))
        assert main(["--replay", str(path)]) == 2
        assert "no certificate" in capsys.readouterr().err
    for text in ("[]", "x", "{}"):
        path.write_text(text)
        assert main(["--replay", str(path)]) == 2


def test_a_stored_certificate_of_many_n(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it is written by --json: its intervals, and the inequalities on every n above."""
    assert main(["index", "--model", "rag", "--all-n", "--n", str(2**64), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["n"] == [str(2**64), None]
    path = tmp_path / "index.json"
    path.write_text(json.dumps(document))
    assert main(["--replay", str(path)]) == 0
    assert capsys.readouterr().out == "index, rag, every n from 18446744073709551616 on: certified\n"
    theorem = {**document["above"]["theorem"], "inequalities": [["1*n", ">"]]}
    (interval,) = document["intervals"]
    for key, value in (
        ("above", {**document["above"], "theorem": theorem}),
        ("intervals", [{**interval, "precision_bits": 5}]),
        ("n", [str(2**64 - 1), None]),
        ("weights_sha256", "0"),
        ("verdict", "refused"),
    ):
        path.write_text(json.dumps({**document, key: value}))
        assert main(["--replay", str(path)]) == 1
        assert key in capsys.readouterr().out.split("differs from what the check says: ")[1]
    for key, value in (("n", ["5", "4"]), ("n", ["4", "x"]), ("n", [4, None]), ("length", 7), ("printed", ["C.5"])):
        path.write_text(json.dumps({**document, key: value}))
        assert main(["--replay", str(path)]) == 2
        assert "no certificate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [("verify.certify index --n 4", CERTIFIED), ("verify.explain istree --variant printed --n 6", REFUSED)],
)
def test_a_document_is_the_same_in_every_process(arguments: str, verdict: str) -> None:
    """Else a stored one could not be replayed: the order of a set of strings is another one for each seed that these hash by."""
    command = [sys.executable, "-m", *arguments.split(), "--json"]
    runs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("0", "1")
    ]
    one, other = (run.communicate()[0] for run in runs)
    assert json.loads(one)["verdict"] == verdict
    assert other == one


@pytest.mark.parametrize("name", RETRIEVERS)
def test_intervals_leave_no_gap(name: str) -> None:
    least = 1 if name == "index" else 4
    actual = list(intervals(find_subject(name, least, last=32)))
    assert [item.low for item in actual] == [least, *(item.high + 1 for item in actual[:-1])]
    assert actual[-1].high == 32
    assert all(item.judged.verdict == CERTIFIED for item in actual)
    assert [item.inputs_run for item in actual if item.low < 4] == [
        questions(name, n, n, n, 1) for n in range(least, 4)
    ]


def test_every_size_from_one_on(capsys: pytest.CaptureFixture[str]) -> None:
    """What is certified is said as it goes; at the end, what was compared."""
    assert main(["index", "--all-n", "--n", "121"]) == 0
    said = capsys.readouterr()
    below = ["n = 121 … 124: p = 37, certified", "n = 125 … 127: p = 41, certified", "n = 128: p = 41, certified"]
    assert [line for line in said.err.splitlines() if "n ≥ 2^" not in line] == below
    assert "n = 121 … 128, in 3 intervals" in said.out


def test_every_size_is_certified_only_if_those_above_are(capsys: pytest.CaptureFixture[str]) -> None:
    """With so many bits and no more, no model has a larger n."""
    assert main(["recall", "--all-n", "--n", str(2**64), "--precision", "999"]) == 3
    said = capsys.readouterr().out
    assert said.startswith("recall: cannot tell\n  n ≥ 2^7, numbers that grow with n: ")
    assert "n ≥ 2^7: certified" not in said


def test_a_run_over_every_size_goes_on_up_to_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    for beyond in (str(2**64 + 1), "9" * 5000):
        assert main(["index", "--all-n", "--n", beyond]) == 2
        assert f"is not in 1 … {2**64}" in capsys.readouterr().err


def test_an_interval_is_certified_if_each_of_its_sizes_is() -> None:
    actual = certificates(find_subject("index", 61, last=64))
    digests = [one.digest for one in intervals(find_subject("index", 61, last=64))]
    assert actual["verdict"] == CERTIFIED
    assert [one["weights_sha256"] for one in actual["intervals"]] == digests
    refused = certificates(find_subject("recall", 1000, last=1010, precision_bits=31))
    assert refused["verdict"] != CERTIFIED
    assert refused["where"] == "n = 1000 … 1010, the weights of block 3"


def test_istree_for_every_size_of_an_interval() -> None:
    """n stands in the weights: it is an atom, and positions are known against 3n and 5n."""
    part = part_of(find_subject("istree", 4_843_165), 1 << 64)
    assert part.high == 4_987_893
    assert judge(part.model, part.inputs).verdict == CERTIFIED


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("layout", ["paper", "eos"])
@pytest.mark.parametrize("n", [104_100, (1 << 20) + 1, 3_333_333_333_333, (1 << 63) + 1])
def test_the_least_precision_of_many_n_is_that_of_each(n: int, layout: str, discipline: Discipline) -> None:
    subject = replace(find_subject("istree", n, lean=True, layout=layout), discipline=discipline)
    part = forms_of(subject, 1 << 64)
    p, high = part.model.arithmetic.format.significand_bits + 1, part.high
    assert high > n
    assert {precision_of(replace(subject, n=one)) for one in (n, (n + high) // 2, high)} == {p}


def test_an_interval_of_which_a_part_has_one_size() -> None:
    """n = 26 alone is left of 26 and 27 after a gate: forms do not speak of n there, and later gates still do."""
    part = part_of(find_subject("istree", 26, lean=True), 1 << 64)
    assert part.high == 27
    assert judge(part.model, part.inputs).verdict == CERTIFIED


def test_progress_above_is_told_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of each case when it is judged; what is known is not judged again."""
    command = ["index", "--model", "rag", "--all-n", "--n", str(2**64), "--json"]
    above._surveys.cache_clear()
    assert main(command) == 0
    told = capsys.readouterr()
    assert told.err.splitlines()[0] == f"n = {2**64}: p = {MODELS['index', 'rag'].least_precision(2**64)}, certified"
    lines = [f"n ≥ 2^7, case {i}: certified" for i in range(1, 1 + len(json.loads(told.out)["above"]["cases"]))]
    assert told.err.splitlines()[1:] == lines
    path = tmp_path / "certificate.json"
    path.write_text(told.out)
    assert main(["--replay", str(path)]) == 0
    again = capsys.readouterr()
    assert ("n ≥ 2^7" in again.out, "n ≥ 2^7" in again.err) == (False, False)


def test_beyond_what_float64_can_hold() -> None:
    """1 − 2^−(bits + 1) of Counting and 3 − 5n − 4L of IsTree need more than 53 digits: no file holds them, the check does."""
    for name, n in (("counting", 2**52 - 1), ("istree", 27_397_079)):
        assert certificate(find_subject(name, n))["verdict"] == CERTIFIED
    fmt = fixed_point(transformer.TRANSFORMER.least_precision(27_397_079))
    embedding, blocks = transformer.TRANSFORMER.plan(27_397_079, fmt, listed=5)
    with pytest.raises(ValueError, match="53 significant digits"):
        wire(embedding, blocks, embedding.words, fmt)

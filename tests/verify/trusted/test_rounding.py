"""The checker of rounding: it accepts what the reference engine does on every text, and nothing else."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constructions.engines.reference import ReferenceEngine
from constructions.exports.weights import file_bytes
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from verify import certify
from verify.certificates.building import wired_of
from verify.certificates.texts import accepted_certificate
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_dossier
from verify.trusted import rounding
from verify.trusted.rounding import Checker, Class, Rejected, check

Document = dict[str, Any]
BOTH = tuple(Discipline)


def subject_of(name: str, n: int, discipline: Discipline = Discipline.FUSED) -> Subject:
    dossier = find_dossier(name, "transformer")
    assert dossier is not None
    return replace(Subject(dossier, n), discipline=discipline)


def files(subject: Subject) -> tuple[Document, bytes, bytes, Wired]:
    wired = wired_of(subject)
    sidecar = json.dumps({"vocabulary": wired.vocabulary}).encode()
    return accepted_certificate(subject), file_bytes(wired.model), sidecar, wired


def texts(automaton: list[Document], most: int) -> Iterator[list[tuple[int, str]]]:
    """Every text with an answer at its end, by the words of the format's description."""
    waiting = [[(0, word)] for word in automaton[0]["words"]]
    while waiting:
        text = waiting.pop()
        if automaton[text[-1][0]]["answer"]:
            yield text
        position = len(text) + 1
        for i, state in enumerate(automaton):
            if position <= most and text[-1][0] in state["after"] and state["low"] <= position <= state["high"]:
                behind = state["behind"]
                waiting += [[*text, (i, w)] for w in state["words"] if behind is None or int(w) <= position - behind]


def wrong(document: Document, wired: Wired, text: list[tuple[int, str]]) -> bool:
    """Whether a run contradicts the theorem."""
    format_ = fixed_point(document["p"])
    engine = ReferenceEngine(wired.model, Arithmetic(format_, Discipline(document["discipline"])), beyond=True)
    one = 1 << -format_.quantum_exponent
    for state, word in text:
        step = engine.append(wired.vocabulary.index(word))
        if any(len(read) != 1 or read[0][1] != one for heads in step.attention for read in heads):
            return True
        if document["automaton"][state]["answer"] and step.logits.count(max(step.logits)) > 1:
            return True
    return any(
        f.kind == "weight rounded" or (f.kind == "saturation" and "score" not in f.site) for f in engine.flags.counts
    )


@pytest.mark.parametrize("discipline", BOTH)
@pytest.mark.parametrize(
    ("name", "n"), [("recall", 1), ("recall", 3), ("recall", 5), ("index", 2), ("index", 7), ("ngram", 3)]
)
def test_models_are_accepted(name: str, n: int, discipline: Discipline) -> None:
    document, weights, sidecar, _ = files(subject_of(name, n, discipline))
    assert check(json.dumps(document).encode(), weights, sidecar) > 0


class Recorder(Checker):
    def keep(self, classes: set[Class]) -> set[Class]:
        self.__dict__.setdefault("seen", []).append({(item.cell, item.stream) for item in classes})
        return super().keep(classes)


@pytest.mark.parametrize("discipline", BOTH)
@pytest.mark.parametrize("name", ["recall", "index"])
def test_classes_hold_every_run(name: str, discipline: Discipline) -> None:
    document, weights, sidecar, wired = files(subject_of(name, 3, discipline))
    checker = Recorder(document, weights, json.loads(sidecar))
    checker.check()
    seen = set[Any]().union(*checker.__dict__["seen"])
    count = 0
    for text in texts(document["automaton"], 7):
        engine = ReferenceEngine(wired.model, wired.arithmetic)
        for position, (state, word) in enumerate(text, start=1):
            for registers in engine.append(wired.vocabulary.index(word)).registers:
                assert ((state, position), registers) in seen
                count += 1
    assert count > 100


def test_changed_certificates_are_rejected_or_true() -> None:
    document, weights, sidecar, wired = files(subject_of("recall", 2))
    generator, verdicts = random.Random(1), {True: 0, False: 0}
    for _ in range(300):
        changed = json.loads(json.dumps(document))
        state = generator.choice(changed["automaton"])
        match generator.randrange(6):
            case 0:
                changed["p"] += generator.choice((-6, -4, -2, -1, 1, 2))
            case 1:
                state[generator.choice(("low", "high"))] += generator.choice((-2, -1, 1, 2))
            case 2:
                state["after"] = generator.sample(range(5), generator.randrange(4))
            case 3:
                state["words"] = generator.sample([*wired.vocabulary, "x"], 2)
            case 4:
                state[generator.choice(("behind", "answer", "low"))] = generator.choice((True, None, 1, "1"))
            case _:
                changed[generator.choice(("weights", "discipline"))] = generator.choice(("sequential", "", "0" * 64))
        try:
            check(json.dumps(changed).encode(), weights, sidecar)
        except Rejected:
            verdicts[False] += 1
            continue
        verdicts[True] += 1
        for text in itertools.islice(texts(changed["automaton"], 6), 30):
            assert not wrong(changed, wired, text), changed
    assert verdicts[False] > 100
    assert verdicts[True] > 20


def changed_weight(wired: Wired, generator: random.Random) -> Wired:
    model = copy.deepcopy(wired.model)
    arrays = [model.words, model.unembed]
    for block in model.blocks:
        arrays += [getattr(head, name) for head in block.heads for name in ("query", "key", "value", "out")]
        arrays += [getattr(block.feed_forward, name) for name in ("gate", "up", "down")]
    array = generator.choice([array for array in arrays if array.any()])
    array.setflags(write=True)
    place = generator.choice(np.argwhere(array).tolist())
    array[tuple(place)] *= generator.choice((0, -1, 1 / 4, 3 / 2))
    return replace(wired, model=model)


def test_changed_weights_need_another_certificate() -> None:
    document, _, sidecar, wired = files(subject_of("recall", 2))
    generator, verdicts = random.Random(2), {True: 0, False: 0}
    for _ in range(100):
        other = changed_weight(wired, generator)
        weights = file_bytes(other.model)
        with pytest.raises(Rejected, match="digest"):
            check(json.dumps(document).encode(), weights, sidecar)
        signed = {**document, "weights": hashlib.sha256(weights).hexdigest()}
        try:
            check(json.dumps(signed).encode(), weights, sidecar)
        except Rejected:
            verdicts[False] += 1
            continue
        verdicts[True] += 1
        assert not any(wrong(signed, other, text) for text in itertools.islice(texts(document["automaton"], 5), 30))
    assert min(verdicts.values()) > 20


def test_register_beside_the_exact_value_is_rejected() -> None:
    document, weights, sidecar, _ = files(subject_of("recall", 1))
    checker = Checker(document, weights, json.loads(sidecar))
    checker.keep({Class((0, 1), (2,), (Fraction(5, 2),))})
    for value in (1, 3):
        with pytest.raises(Rejected, match="register 0"):
            checker.keep({Class((0, 1), (value,), (Fraction(5, 2),))})


def test_lead_is_large_enough_and_no_smaller_key_passes() -> None:
    document, weights, sidecar, _ = files(subject_of("recall", 2))
    checker = Checker(document, weights, json.loads(sidecar))
    one, lead = 1 << checker.shift, checker.lead(2)
    for gap, accepted in ((lead, True), (lead - 1, False)):
        keys = [(((0, 1), (0,), (0,)), {((1,), (1,))}), (((1, 2), (gap,), (gap,)), {((2,), (2,))})]
        if accepted:
            assert checker.winners(((one,), (one,)), keys, 2) == {((2,), (2,))}
        else:
            with pytest.raises(Rejected, match="lead"):
                checker.winners(((one,), (one,)), keys, 2)
    opposite = [(((0, 1), (0,), (1,)), {((1,), (1,))}), (((1, 2), (lead,), (0,)), {((2,), (2,))})]
    with pytest.raises(Rejected, match="exact machine"):
        checker.winners(((one,), (one,)), opposite, 2)


@pytest.mark.parametrize(
    "lie", [b"", b"[" * 10**6, b'{"p": ' + b"9" * 10**6 + b"}", b"null", b"[]", b'{"p": NaN}', b"\xff"]
)
def test_lies_are_rejected(lie: bytes) -> None:
    _, weights, sidecar, _ = files(subject_of("recall", 1))
    for given in ((lie, weights, sidecar), (b"{}", lie, sidecar), (b"{}", weights, lie)):
        with pytest.raises(Rejected):
            check(*given)


def test_command_and_checker_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate, weights, sidecar = (tmp_path / name for name in ("c.json", "w.safetensors", "w.json"))
    assert certify.main(["recall", "--n", "3", "--certificate", str(certificate)]) == 0
    _, data, words, _ = files(subject_of("recall", 3))
    weights.write_bytes(data)
    sidecar.write_bytes(words)
    command = [sys.executable, "-I", "-S", str(rounding.__file__), str(certificate), str(weights), str(sidecar)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("accepted")
    weights.write_bytes(data + b"\0" * 8)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    weights.unlink()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2


def test_model_without_a_rule_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.json"
    assert certify.main(["counting", "--n", "2", "--certificate", str(path)]) == 3
    assert "lead" in capsys.readouterr().out
    assert not path.exists()

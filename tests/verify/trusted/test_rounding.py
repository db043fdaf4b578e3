"""The checker of rounding: it accepts what the reference engine does on every text, and nothing else."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import random
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import iv, mpf

from constructions.engines.reference import ReferenceEngine
from constructions.exports.weights import file_bytes
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from verify import certify
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import build, part_of, wired_of
from verify.certificates.finder import certificate_of, certificate_of_file
from verify.certificates.statement import accept
from verify.dossiers.dossier import Dossier, Subject
from verify.dossiers.registry import find_dossier, find_subject
from verify.trusted import abstract_state as states
from verify.trusted import heads, rounding, winners
from verify.trusted.kernel import Rejected
from verify.trusted.keys import vanishing_lead
from verify.trusted.model import parse
from verify.trusted.rounding import check

Document = dict[str, Any]
BOTH = tuple(Discipline)
RETRIEVAL = [
    f"{task}/{model}" for task in ("index", "recall", "ngram", "counting") for model in ("transformer", "hybrid", "rag")
]


def dossier_of(name: str) -> Dossier:
    task, model, *options = name.split("/")
    dossier: Any = find_dossier(task, model)
    assert dossier is not None
    return replace(dossier, lean=True) if "lean" in options else dossier


@cache
def _files(name: str, n: int, discipline: Discipline) -> tuple[bytes, bytes, bytes, Wired]:
    subject = Subject(dossier_of(name), n, discipline=discipline)
    document, weights, vocabulary = certificate_of_file(subject)
    return json.dumps(document).encode(), weights, json.dumps({"vocabulary": vocabulary}).encode(), wired_of(subject)


def files(name: str, n: int, discipline: Discipline = Discipline.FUSED) -> tuple[Document, bytes, bytes, Wired]:
    """A certificate, weights, sidecar and matrices."""
    document, weights, sidecar, wired = _files(name, n, discipline)
    return json.loads(document), weights, sidecar, wired


def verdict(document: Document, weights: bytes, sidecar: bytes) -> str:
    """The reason to reject, or nothing."""
    try:
        check(json.dumps(document).encode(), weights, sidecar)
    except Rejected as why:
        return str(why)
    return ""


# What it accepts


@pytest.mark.parametrize("discipline", BOTH)
@pytest.mark.parametrize("name", [*RETRIEVAL, "turing/hybrid", "turing/rag"])
def test_models_are_accepted(name: str, discipline: Discipline) -> None:
    for n in (4, 7):
        document, weights, sidecar, _ = files(name, n, discipline)
        assert verdict(document, weights, sidecar) == ""


@pytest.mark.parametrize("name", ["turing/cot", "istree/transformer/lean"])
def test_larger_models_are_accepted(name: str) -> None:
    document, weights, sidecar, _ = files(name, 5)
    assert verdict(document, weights, sidecar) == ""


@pytest.mark.parametrize("n", [1000, 2**40 + 12345])
@pytest.mark.parametrize("name", ["index/transformer", "recall/hybrid", "counting/transformer", "turing/hybrid"])
def test_intervals_are_accepted(name: str, n: int) -> None:
    part = part_of(Subject(dossier_of(name), n), 2 * n)
    assert part.high > part.low
    document, rows = certificate_of(part.model, part.inputs)
    assert verdict(json.loads(json.dumps(document)), rows, b"{}") == ""
    for low, high in ((part.low - 1, part.high), (part.low, part.high + 1)):  # classes are of these n alone
        assert verdict({**document, "n": [low, high]}, rows, b"{}")


# What it accepts is true of runs: an oracle that shares no code with it


def texts(document: Document, vocabulary: list[str], most: int) -> Iterator[list[tuple[int, int]]]:
    """Texts of the automaton in a random order, each a list of a state and a token."""
    generator = random.Random(0)
    automaton = document["automaton"]

    def bound(text: str) -> int:
        return int(eval(text, {"n": document["n"][0]}))

    def tokens(state: Document, position: int) -> list[int]:
        if state["word"]:
            return [vocabulary.index(state["word"])]
        first, low, last = document["families"][state["family"]]
        high = (
            bound(state["most"] or "0")
            if state["ends"] is None
            else min(bound(state["most"] or "0"), position - state["ends"])
        )
        return [first + v - low for v in range(max(bound(state["least"] or "0"), low), min(high, last) + 1)]

    def stands(state: Document, position: int) -> bool:
        low = bound(state["low"] or "0")
        return low <= position <= bound(state["high"] or "0") and (position - low) % state["every"] == 0

    for _ in range(most):
        text: list[tuple[int, int]] = []
        before: int | None = None
        while True:
            position = len(text) + 1
            some = [
                (i, token)
                for i, state in enumerate(automaton)
                if (before in state["after"] or not text) and stands(state, position)
                for token in tokens(state, position)
            ]
            if not some:
                break
            kind = generator.choice(sorted({i for i, _ in some}))
            text.append(generator.choice([pair for pair in some if pair[0] == kind]))
            before = kind
        yield text


def contradiction(document: Document, wired: Wired, count: int) -> str:
    """Where a run of the reference engine is not as the classes say; "" if it never is."""
    format_ = fixed_point(document["p"])
    checker_format = states.Format(document["p"])
    one = 1 << -format_.quantum_exponent
    entries = [
        [
            (c["label"], rounding.Checker.read_state(_Reading(checker_format), {**c, "before": []}, 0))
            for c in entry["classes"]
        ]
        for entry in document["entries"]
    ]
    for text in texts(document, wired.vocabulary, count):
        engine = ReferenceEngine(wired.model, Arithmetic(format_, Discipline(document["discipline"])), beyond=True)
        for position, (state, token) in enumerate(text, start=1):
            step, label = engine.append(token), document["automaton"][state]["label"]
            for place, registers in enumerate(step.registers):
                live = document["entries"][place]["live"]
                if place >= len(entries) - 2 and not document["automaton"][state]["answer"]:
                    continue
                if not any(
                    label == its and holds(one_state, registers, live, position, one)
                    for its, one_state in entries[place]
                ):
                    return f"entry {place}: position {position}, {label}: no class has it"
        if any(
            f.kind == "weight rounded" or (f.kind == "saturation" and "score" not in f.site)
            for f in engine.flags.counts
        ):
            return f"flags: {engine.flags.counts}"
    return ""


class _Reading(rounding.Checker):
    """As much of a checker as reads a class."""

    def __init__(self, format_: states.Format) -> None:
        self.format, self.case = format_, None


def holds(state: states.State, registers: tuple[int, ...], live: list[int], position: int, one: int) -> bool:
    """Whether bounds of a class contain what the registers are, and the position."""
    low, high, step = state.integer("k")
    if not low <= position <= high or (position - low) % step:
        return False
    here = state.restrict({("k",): 1}, position, position)
    if here is None:
        return False
    for i in live:
        a, b = here.bounds(here.register(i))
        if not a <= Fraction(registers[i], one) <= b:
            return False
    return True


@pytest.mark.parametrize("discipline", BOTH)
@pytest.mark.parametrize("name", ["index/transformer", "recall/hybrid", "counting/transformer", "ngram/transformer"])
def test_classes_hold_every_run(name: str, discipline: Discipline) -> None:
    document, _, _, wired = files(name, 4, discipline)
    assert contradiction(document, wired, 60) == ""


def test_classes_hold_runs_of_lean() -> None:
    document, _, _, wired = files("istree/transformer/lean", 4)
    assert contradiction(document, wired, 10) == ""


def leaves(item: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all that is no list and no object."""
    if isinstance(item, dict):
        for key, value in item.items():
            yield from leaves(value, (*path, key))
    elif isinstance(item, list):
        for key, value in enumerate(item):
            yield from leaves(value, (*path, key))
    else:
        yield path


def tampered(document: Document, generator: random.Random) -> Document:
    """The document with one place of it changed."""
    changed = copy.deepcopy(document)
    part = generator.choice(("entries", "entries", "steps", "steps", "automaton", "p"))
    if part == "p":
        changed["p"] += generator.choice((-4, -2, 2))
        return changed
    path = generator.choice([p for p in leaves(document[part]) if p[-1] not in ("name", "statement")])
    at = changed[part]
    for key in path[:-1]:
        at = at[key]
    old, last = at[path[-1]], path[-1]
    if isinstance(old, bool):
        at[last] = not old
    elif isinstance(old, int):
        at[last] = old + generator.choice((-2, -1, 1, 2))
    elif isinstance(old, str) and isinstance(at, dict) and generator.random() < 0.3:
        del at[last]
    elif isinstance(old, str):
        term = generator.choice(("1", "-1", "1/2", "1*k", "-1*k"))
        at[last] = f"{old} + {term}" if old else term
    else:
        at[last] = 1
    return changed


@pytest.mark.parametrize(
    ("name", "changes"), [("recall/transformer", 150), ("counting/transformer", 100), ("recall/hybrid", 100)]
)
def test_changed_certificates_are_rejected_or_true(name: str, changes: int) -> None:
    document, weights, sidecar, wired = files(name, 4)
    generator, accepted = random.Random(1), 0
    for _ in range(changes):
        changed = tampered(document, generator)
        if not verdict(changed, weights, sidecar):
            accepted += 1
            assert contradiction(changed, wired, 6) == "", changed
    assert accepted < changes // 2


def changed_weight(wired: Wired, generator: random.Random) -> Wired:
    model = copy.deepcopy(wired.model)
    arrays = [model.words]
    for block in model.blocks:
        arrays += [getattr(head, name) for head in block.heads for name in ("query", "key", "value", "out")]
        arrays += [getattr(block.feed_forward, name) for name in ("gate", "up", "down")]
    array = generator.choice([array for array in arrays if array.any()])
    array.setflags(write=True)
    place = generator.choice(np.argwhere(array).tolist())
    array[tuple(place)] *= generator.choice((0, -1, 1 / 4, 3 / 2))
    if array is model.words:
        model.unembed.setflags(write=True)
        model.unembed[:] = array
    return replace(wired, model=model)


@pytest.mark.parametrize("name", ["recall/transformer", "counting/transformer", "index/hybrid"])
def test_changed_weights_need_another_certificate(name: str) -> None:
    document, _, sidecar, wired = files(name, 4)
    generator, accepted = random.Random(2), 0
    for _ in range(60):
        other = changed_weight(wired, generator)
        weights = file_bytes(other.model)
        assert "digest" in verdict(document, weights, sidecar)
        signed = {**document, "weights": hashlib.sha256(weights).hexdigest()}
        if not verdict(signed, weights, sidecar):
            accepted += 1
            assert contradiction(signed, other, 6) == ""
    assert accepted < 30


# A finder that lies


def _narrow(document: Document) -> None:
    domain = next(
        a
        for e in document["entries"][2:]
        for c in e["classes"]
        for n, a in c["atoms"].items()
        if a[0] == "integer" and a[1] < a[2] and n != "n"
    )
    domain[2] -= domain[3]


def _shift_register(document: Document) -> None:
    one = next(c for c in document["entries"][2]["classes"] if c["registers"])
    key = next(iter(one["registers"]))
    one["registers"][key] += " + 1"


def _drop_register(document: Document) -> None:
    one = next(c for c in document["entries"][2]["classes"] if c["registers"])
    del one["registers"][next(iter(one["registers"]))]


def _forget_before(document: Document) -> None:
    next(c for c in document["entries"][2]["classes"] if c["before"])["before"].pop()


def _tighten_form(document: Document) -> None:
    form = next(f for e in document["entries"] for c in e["classes"] for f in c["forms"] if f[1] < f[2])
    form[2] -= 1


def _raise_floor(document: Document) -> None:
    rule = next(
        x for step in document["steps"] for cs in step for x in cs if x[0] == "rule" and x[1] in ("one", "mean")
    )
    rule[2] = [0] if rule[2] != [0] else "self"


def _say_one(document: Document) -> None:
    rule = next(x for step in document["steps"] for cs in step for x in cs if x[0] == "rule" and x[1] == "mean")
    rule[1], rule[3] = "one", None


def _say_sure(document: Document) -> None:
    rule = next(x for step in document["steps"] for cs in step for x in cs if x[0] == "rule" and x[1] == "mean")
    rule[3] = [[i] for i in range(3)]


def _look_elsewhere(document: Document) -> None:
    rule = next(x for step in document["steps"] for cs in step for x in cs if x[0] == "rule" and x[1] == "position")
    rule[2] += " + 1"


def _keep_less(document: Document) -> None:
    kept = next(k for e in document["entries"] for k in e["kept"] if k["registers"])
    kept["registers"].popitem()


def _share_of_another(document: Document) -> None:
    share = next(a for e in document["entries"] for c in e["classes"] for a in c["atoms"].values() if a[0] == "share")
    share[2] += 1


def _know_more(document: Document) -> None:
    document["entries"][1]["live"] = document["entries"][0]["live"]
    document["entries"][-1]["live"] = document["entries"][0]["live"]


LIES: list[tuple[str, Callable[[Document], None]]] = [
    ("recall/transformer", _narrow),
    ("recall/transformer", _shift_register),
    ("counting/transformer", _drop_register),
    ("recall/transformer", _forget_before),
    ("istree/transformer/lean", _tighten_form),
    ("recall/transformer", _raise_floor),
    ("counting/transformer", _say_one),
    ("counting/transformer", _say_sure),
    ("recall/transformer", _look_elsewhere),
    ("recall/hybrid", _keep_less),
    ("counting/transformer", _share_of_another),
    ("recall/transformer", _know_more),
]


@pytest.mark.parametrize(("name", "lie"), LIES, ids=[lie.__name__ for _, lie in LIES])
def test_finder_that_lies_is_rejected(name: str, lie: Callable[[Document], None]) -> None:
    document, weights, sidecar, _ = files(name, 5)
    lie(document)
    assert verdict(document, weights, sidecar)


# Mutants of the checker: each accepts what the checker rejects


MUTANTS: list[tuple[str, Any, str, Any, Callable[[Document], None]]] = [
    ("recall/transformer", rounding.Checker, "require_covered", lambda *_: None, _shift_register),
    ("recall/transformer", rounding.Checker, "link", lambda *_: None, _forget_before),
    ("counting/transformer", winners.Winners, "unique", lambda _: True, _say_one),
    ("recall/transformer", rounding.Checker, "keeps_step", lambda *_: True, _narrow),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[m[2] for m in MUTANTS])
def test_mutants_are_not_the_checker(mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name, owner, method, instead, lie = mutant
    document, weights, sidecar, _ = files(name, 5)
    lie(document)
    before = verdict(document, weights, sidecar)
    monkeypatch.setattr(owner, method, instead)
    assert before
    assert verdict(document, weights, sidecar) != before or method == "keeps_step"


def test_lead_is_what_softmax_needs() -> None:
    for p, keys in itertools.product((9, 13, 23), (2, 3, 7, 40)):
        format_ = states.Format(p)
        lead = vanishing_lead(format_, keys)
        # e^−lead of all losers together, below half a quantum
        losers = (keys - 1) * iv.exp(-iv.mpf(lead.numerator) / lead.denominator)
        assert losers.b < mpf(2) ** -(format_.q + 1)


def test_smaller_margins_are_rejected() -> None:
    document, _, sidecar, wired = files("recall/transformer", 5)
    rejected = 0
    for number, block in enumerate(wired.model.blocks):
        for h in range(len(block.heads)):
            model = copy.deepcopy(wired.model)
            query = model.blocks[number].heads[h].query
            query.setflags(write=True)
            query /= 64
            data = file_bytes(model)
            signed = {**document, "weights": hashlib.sha256(data).hexdigest()}
            rejected += bool(verdict(signed, data, sidecar))
    assert rejected == sum(len(block.heads) for block in wired.model.blocks)


# Files that lie


@pytest.mark.parametrize(
    "lie",
    [b"", b"[" * 10**6, b'{"p": ' + b"9" * 10**6 + b"}", b"null", b"[]", b'{"p": NaN}', b"\xff", b'{"weights": 3}'],
)
def test_lies_are_rejected(lie: bytes) -> None:
    document, weights, sidecar, _ = files("recall/transformer", 4)
    good = json.dumps(document).encode()
    for given in ((lie, weights, sidecar), (good, lie, sidecar), (good, weights, lie)):
        with pytest.raises(Rejected):
            check(*given)


@pytest.mark.parametrize("text", ["1e999999", "1/0", "9" * 2000, "1*k*", "1 +  1", "0x1", "1_0", "k", "1*a b"])
def test_texts_that_are_no_polynomials_are_rejected(text: str) -> None:
    with pytest.raises((Rejected, ZeroDivisionError)):
        parse(text)


def test_tensors_that_share_bytes_are_rejected() -> None:
    document, weights, sidecar, _ = files("recall/transformer", 4)
    length = int.from_bytes(weights[:8], "little")
    header = json.loads(weights[8 : 8 + length])
    names = [name for name in header if name != "__metadata__"]
    header[names[1]]["data_offsets"] = header[names[0]]["data_offsets"]
    text = json.dumps(header).encode()
    data = len(text).to_bytes(8, "little") + text + weights[8 + length :]
    assert verdict({**document, "weights": hashlib.sha256(data).hexdigest()}, data, sidecar)


# Commands


def test_command_and_checker_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate, weights, sidecar = (tmp_path / name for name in ("c.json", "w.safetensors", "w.json"))
    assert certify.main(["recall", "--n", "5", "--certificate", str(certificate)]) == 0
    _, data, words, _ = files("recall/transformer", 5)
    weights.write_bytes(data)
    sidecar.write_bytes(words)
    command = [sys.executable, "-I", "-S", str(rounding.__file__), str(certificate), str(weights), str(sidecar)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("accepted")
    weights.write_bytes(data + b"\0" * 8)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    weights.unlink()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2


def test_certificate_of_an_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate, rows = tmp_path / "c.json", tmp_path / "c.rows.json"
    assert certify.main(["recall", "--n", "1000-1020", "--certificate", str(certificate)]) == 0
    assert str(rows) in capsys.readouterr().out
    assert check(certificate.read_bytes(), rows.read_bytes()) > 0
    assert certify.main(["recall", "--n", "1000-4000", "--certificate", str(tmp_path / "d.json")]) == 2
    assert "1000 … 1020" in capsys.readouterr().err


def test_model_that_is_not_certified_has_no_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.json"
    arguments = ["recall", "--n", "8", "--printed", "C.3", "--certificate", str(path)]
    assert certify.main(arguments) in (1, 3)
    assert not path.exists()


def test_place_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nowhere" / "c.json"
    assert certify.main(["recall", "--n", "5", "--certificate", str(path)]) == 2
    assert f"{path}: there is no folder {path.parent}" in capsys.readouterr().err


def test_certificates_are_small() -> None:
    for name, most in (("recall/transformer", 1000), ("istree/transformer/lean", 6000)):
        document, *_ = files(name, 5)
        assert len(zlib.compress(json.dumps(document).encode())) < most


def test_the_finder_judges_nothing_twice_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def noted(function: Any) -> Any:
        def call(self: Any, *arguments: Any) -> Any:
            asked.append((function, *arguments[:3]))  # a class and where it goes; a rule and its keys
            return function(self, *arguments)

        return call

    monkeypatch.setattr(rounding.Checker, "require_covered", noted(rounding.Checker.require_covered))
    monkeypatch.setattr(heads.Reader, "apply", noted(heads.Reader.apply))
    part = part_of(find_subject("recall", 1000), 2000)
    certificate_of(part.model, part.inputs)
    again = [one for one, other in itertools.pairwise(asked) if all(a is b for a, b in zip(one, other, strict=False))]
    assert len({one[0] for one in asked}) == 2
    assert not again


def test_certified_models_are_built_alike() -> None:
    subject = Subject(dossier_of("recall/transformer"), 5)
    model, automaton = build(subject)
    by_rows, rows = certificate_of(model, automaton)
    by_file, *_ = files("recall/transformer", 5)
    assert verdict(by_rows, rows, b"{}") == ""
    assert by_rows["entries"] == by_file["entries"]


@pytest.mark.parametrize(
    "lie",
    [
        lambda texts: replace(texts, sizes=(1000, 1010)),
        lambda texts: replace(
            texts, states=tuple(replace(s, numbers=(s.numbers[0],) * 2) if not s.word else s for s in texts.states)
        ),
    ],
    ids=["fewer n", "fewer texts"],
)
def test_a_finder_says_nothing_of_the_question(lie: Callable[[TokenAutomaton], TokenAutomaton]) -> None:
    """A certificate of another question is right of that one, and is not accepted for this one."""
    part = part_of(find_subject("recall", 1000), 1020)
    certificate, rows = certificate_of(part.model, lie(part.inputs))
    assert check(json.dumps(certificate).encode(), rows) == 28
    with pytest.raises(Rejected):
        accept(certificate, part.model, part.inputs)
    assert accept(certificate_of(part.model, part.inputs)[0], part.model, part.inputs) == 28

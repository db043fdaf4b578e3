"""Files in another order of coordinates, and in another basis: certified as the original is, and refused as it is."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from constructions.engines import dense
from constructions.engines.reference import ReferenceEngine
from constructions.exports.weights import save
from constructions.layers import Transformer
from constructions.show.dump import dump_document
from constructions.show.run import worked_examples
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.basis import Basis, hadamard, misfit, read_basis, sidecar_in, signed_permutation
from verify.certificates.building import wired_of
from verify.certificates.document import CERTIFIED, UNKNOWN, judge
from verify.certificates.files import Exported, Moved, _transformer
from verify.certificates.hard_inputs import hard_inputs
from verify.certificates.layout import Order, find_order
from verify.certificates.moved import certified_in, enough_bits, judge_moved
from verify.certificates.small import RegisterNames
from verify.certificates.wrong import NONE, _in_order
from verify.certify import main
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.explain import main as explain
from verify.rounding.checker import check
from verify.rounding.model import described

Tensors = dict[str, np.ndarray]
SUBJECTS = {
    "recall": find_subject("recall", 6),
    "recall, sequential": find_subject("recall", 6, discipline=Discipline.SEQUENTIAL),
    "induction": find_subject("induction", 6),
    "lean": find_subject("istree", 4, lean=True),
    "recall, hybrid": find_subject("recall", 6, model="hybrid"),
}


@cache
def document(name: str) -> tuple[Wired, dict[str, Any]]:
    """The weights and what `--dump-weights` writes beside them."""
    subject = SUBJECTS[name]
    solver = subject.dossier.solver
    wired = solver.build(subject.n, discipline=subject.discipline)
    examples = list(worked_examples(solver.examples(wired)))
    return wired, json.loads(json.dumps(dump_document(solver, wired, examples, solver.described(wired))))


def written(name: str, path: Path) -> tuple[Path, dict[str, Any]]:
    """The original's file, and a copy of its sidecar."""
    wired, sidecar = document(name)
    save(wired.model, sidecar, path)
    return path, json.loads(json.dumps(sidecar))


def coordinate_axis(name: str) -> int | None:
    """Which axis of a tensor the coordinates of the stream are; a recurrence has them along both."""
    last = name.rpartition(".")[2]
    return 0 if last in ("W_O", "W_down", "b_down", "position") else None if last in ("b_gate", "b_up") else 1


def permute(path: Path, sidecar: dict[str, Any], seed: int, *, alike: bool) -> list[tuple[int, ...]]:
    """Puts the coordinates, and the heads of each block, in a random order, by file names alone; the sidecar too, if `alike`."""
    rng, tensors = random.Random(seed), load_file(path)
    order = rng.sample(range(sidecar["d"]), sidecar["d"])
    result: Tensors = {}
    heads = [tuple(rng.sample(range(len(b["heads"])), len(b["heads"]))) for b in sidecar["blocks"]]
    for name, tensor in tensors.items():
        axis, parts = coordinate_axis(name), name.split(".")
        if ".attn." in name:
            parts[3] = str(heads[int(parts[1])].index(int(parts[3])))
        moved = tensor if axis is None else np.take(tensor, order, axis)
        result[".".join(parts)] = np.take(moved, order, 0) if ".recurrence." in name else moved
    with_length = {} if sidecar["longest_sequence"] is None else {"longest_sequence": str(sidecar["longest_sequence"])}
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in result.items()}, path, metadata=with_length)
    if alike:
        names = sorted(sidecar["registers"], key=sidecar["registers"].__getitem__)
        sidecar["registers"] = {names[own]: place for place, own in enumerate(order)}
        sidecar["meanings"] = {name: sidecar["meanings"][name] for name in sidecar["registers"]}
        for block, own in zip(sidecar["blocks"], heads, strict=True):
            block["heads"] = [block["heads"][i] for i in own]
    path.with_suffix(".json").write_text(json.dumps(sidecar), encoding="utf-8")
    return [tuple(order), *heads]


def change_one_weight(path: Path, rng: random.Random) -> None:
    tensors = load_file(path)
    name = rng.choice([name for name, tensor in sorted(tensors.items()) if tensor.any() and name.startswith("blocks")])
    places = np.argwhere(tensors[name])
    place = tuple(places[rng.randrange(len(places))])
    tensors[name][place] *= -1
    save_file(tensors, path)


# Another order


@pytest.mark.parametrize("alike", [True, False], ids=["sidecar alike", "weights alone"])
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_permuted_copy_is_certified(
    name: str, alike: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, sidecar = written(name, tmp_path / "model.safetensors")
    permute(path, sidecar, 1, alike=alike)
    assert main([str(path)]) == 0
    said = capsys.readouterr().out
    assert ("as the sidecar says" if alike else "the weights") in said
    assert "undone exactly" in said
    if name != "lean":
        assert explain([str(path)]) == 0
        assert "undone exactly" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["recall", "lean"])
def test_the_order_that_the_weights_show_is_the_right_one(name: str, tmp_path: Path) -> None:
    for seed in range(20 if name == "recall" else 5):
        path, sidecar = written(name, tmp_path / "model.safetensors")
        own = _transformer(load_file(path))
        order, *heads = permute(path, sidecar, seed, alike=False)
        model = _transformer(load_file(path))
        found = find_order(model, own)
        assert found is not None
        back = found.undo(model)
        for array, due in (
            (back.words, own.words),
            (back.blocks[-1].feed_forward.down, own.blocks[-1].feed_forward.down),
        ):
            assert (array == due).all()
        distinct = {i for i in range(own.width) if (own.words != own.words[:, [i]]).any(0).sum() == own.width - 1}
        assert distinct
        assert all(found.registers[k] == i for k, i in enumerate(order) if i in distinct)
        assert found.heads == tuple(heads)


@pytest.mark.parametrize("name", ["recall", "induction"])
def test_a_permuted_copy_with_one_weight_changed_fares_as_the_original(name: str, tmp_path: Path) -> None:
    refused = 0
    for seed in range(4):
        codes = []
        for alike in (None, True, False):
            path, sidecar = written(name, tmp_path / "model.safetensors")
            change_one_weight(path, random.Random(seed))
            if alike is not None:
                permute(path, sidecar, seed, alike=alike)
            codes.append(main([str(path)]))
        original, with_sidecar, alone = codes
        assert with_sidecar == original, (seed, codes)
        assert alone in (1, 3), (seed, codes)
        refused += original in (1, 3)
    assert refused >= 2  # some single weights may change their sign


def test_a_sidecar_that_says_another_order_than_the_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, sidecar = written("recall", tmp_path / "model.safetensors")
    plain = path.read_bytes()
    permute(path, sidecar, 1, alike=True)
    permuted = path.read_bytes()
    path.write_bytes(plain)
    assert main([str(path)]) == 1
    assert "'registers' or 'blocks' say another order" in capsys.readouterr().out
    path.write_bytes(permuted)
    assert main([str(path)]) == 0


def test_an_order_that_nobody_says_and_no_weight_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, sidecar = written("recall", tmp_path / "model.safetensors")
    permute(path, sidecar, 1, alike=False)
    change_one_weight(path, random.Random(0))
    assert main([str(path)]) == 3
    assert "in any order of coordinates; a sidecar may say one in `registers`" in capsys.readouterr().out


def test_an_order_of_coordinates_that_sequential_rounding_does_not_survive() -> None:
    """Sums are rounded term by term in the file's order: 12 + 8 − 12 saturates at 15.9375, and 12 − 12 + 8 does not."""
    words = {"a": {"a": 1}, "b": {"b": 1}, "c": {"a": 1, "b": 1, "c": 1}}
    orders = {}
    for names in (("a", "c", "b", "sum"), ("a", "b", "c", "sum")):
        own = RegisterNames(names)
        block = own.block(({}, 1, {"a": 12, "c": -12, "b": 8}, 0, {"sum": 1}))
        arithmetic = Arithmetic(fixed_point(9), discipline=Discipline.SEQUENTIAL)
        orders[names] = own.model(words, NONE, [block], arithmetic)
    (good, bad), automaton = orders.values(), _in_order(words)
    models = [described(w.model, w.arithmetic, w.registers, w.vocabulary, []) for w in (good, bad)]
    judged = [judge(model, automaton) for model in models]
    assert [one.verdict for one in judged] == [CERTIFIED, UNKNOWN]
    subject = find_subject("recall", 6, discipline=Discipline.SEQUENTIAL)
    file = Exported(subject, models[0], automaton, Moved(None, "", bad.model, models[1], bad))
    assert judge_moved(judged[0], file).verdict == UNKNOWN


# Another basis


def unimodular(width: int, rng: random.Random) -> Basis:
    """A basis that is no Hadamard matrix: some registers are added to others, and all signs and places are random."""
    start = signed_permutation(width, rng)
    matrix, inverse = ([[Fraction(x) for x in row] for row in rows] for rows in (start.matrix, start.inverse))
    for _ in range(width):
        i, j = rng.sample(range(width), 2)
        matrix[i] = [x + y for x, y in zip(matrix[i], matrix[j], strict=True)]
        for row in inverse:
            row[j] -= row[i]
    return Basis(matrix, inverse)


BASES: dict[str, Callable[[int], Basis]] = {
    "hadamard": hadamard,
    "signed permutation": lambda width: signed_permutation(width, random.Random(5)),
    "sums": lambda width: unimodular(width, random.Random(3)),
}


def rotated(name: str, kind: str, path: Path) -> dict[str, Any]:
    """Writes a model in a basis; returns its sidecar."""
    wired, sidecar = document(name)
    basis = BASES[kind](wired.model.width)
    moved = json.loads(json.dumps(sidecar_in(basis, sidecar)))
    save(basis.apply(wired.model), moved, path)
    return dict(moved)


@pytest.mark.parametrize("kind", BASES)
@pytest.mark.parametrize("name", ["recall", "induction"])
def test_a_rotated_copy_is_certified(name: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.safetensors"
    sidecar = rotated(name, kind, path)
    assert main([str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] == "certified"
    assert "the stream is exactly matrix · registers" in said["rounded_coordinates"]
    assert explain([str(path)]) == 0
    assert "in the basis that the sidecar names; undone exactly" in capsys.readouterr().out
    permute(
        path, sidecar, 4, alike=False
    )  # a file that says its basis, and not in which order its heads and coordinates are
    assert main([str(path)]) == 3


@pytest.mark.parametrize("kind", BASES)
def test_a_wrong_entry_of_the_matrix_or_its_inverse_is_refused(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.safetensors"
    sidecar, rng = rotated("induction", kind, path), random.Random(kind)
    for which in ("matrix", "inverse"):
        for _ in range(4):
            changed = json.loads(json.dumps(sidecar))
            i, j = rng.randrange(sidecar["d"]), rng.randrange(sidecar["d"])
            old = Fraction(changed["basis"][which][i][j])
            new = rng.choice([old + 1, -old or 1, old * 2 or 1, old / 2 or 2])
            changed["basis"][which][i][j] = int(new) if new.denominator == 1 else str(new)
            path.with_suffix(".json").write_text(json.dumps(changed), encoding="utf-8")
            assert main([str(path)]) == 1, (which, i, j, old, new)
            assert "the sidecar, 'basis': " in capsys.readouterr().out


def test_another_basis_than_that_of_the_weights_is_not_certified(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    sidecar = rotated("induction", "hadamard", path)
    basis = sidecar["basis"]
    basis["matrix"][0], basis["matrix"][1] = basis["matrix"][1], basis["matrix"][0]
    for row in basis["inverse"]:
        row[0], row[1] = row[1], row[0]
    path.with_suffix(".json").write_text(json.dumps(sidecar), encoding="utf-8")
    assert main([str(path)]) in (1, 3)


@pytest.mark.parametrize(
    ("basis", "says"),
    [
        ([[1]], "a basis has a matrix and its inverse"),
        ({"matrix": [[1]], "inverse": [[1]], "name": "x"}, "a basis has a matrix and its inverse"),
        ({"matrix": [[1]], "inverse": [[1]]}, "the matrix has 1 rows, and the model has 2 coordinates"),
        ({"matrix": [[1, 0]], "inverse": [[1]]}, "the matrix is not square"),
        ({"matrix": [[1, 0], [0, "1/2"]], "inverse": [[1, 0], [0, 2]]}, "row 1 of the matrix has 1/2; whole numbers"),
        ({"matrix": [[1, 0], [0, 0.5]], "inverse": [[1, 0], [0, 2]]}, "row 1 of the matrix has '0.5'; a whole number"),
        ({"matrix": [[1, 0], [0, True]], "inverse": [[1, 0], [0, 1]]}, "row 1 of the matrix has 'True'"),
        ({"matrix": [[1, 0], [0, 2]], "inverse": [[1, 0], [0, "1/0"]]}, "row 1 of the inverse has what is no number"),
        (
            {"matrix": [[1, 0], [0, 2]], "inverse": [[1, 0], [0, 1]]},
            "matrix · inverse has 2 in row 1, column 1, and 1 is",
        ),
        ({"matrix": [[1, 1], [1, 1]], "inverse": [[1, 0], [0, 1]]}, "matrix · inverse has 1 in row 0, column 1, and 0"),
    ],
)
def test_what_is_no_basis(basis: object, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("·", ".")):
        read_basis(basis, 2)


def texts(name: str, n: int) -> Iterator[list[int]]:
    """Every text of n = 3, or random ones of a larger n, with their answers."""
    subject = replace(SUBJECTS[name], n=n)
    wired = wired_of(subject)
    if n == 3:
        for pieces in subject.dossier.every_text(subject, wired):
            yield [*pieces[-1].prompt, *pieces[-1].answer]
    else:
        for one in hard_inputs(subject, wired, 60, 1):
            yield [*one.prompt, *one.answer]


@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize("kind", BASES)
@pytest.mark.parametrize("name", ["recall", "induction"])
def test_runs_in_a_basis_are_those_over_registers(name: str, kind: str, n: int) -> None:
    """y = B·x after each sublayer, and the same attention and logits, bit for bit, in the reference engine; logits in the dense."""
    subject = replace(SUBJECTS[name], n=n)
    wired = wired_of(subject)
    basis = BASES[kind](wired.model.width)
    moved, matrix = basis.apply(wired.model), np.array([[int(x) for x in row] for row in basis.matrix], object)
    sequences = [*texts(name, n)]
    assert len(sequences) >= 39
    for tokens in sequences[:: 1 if n == 3 else 4]:
        engines = [ReferenceEngine(model, wired.arithmetic) for model in (wired.model, moved)]
        for token in tokens[:-1]:
            own, its = (engine.append(token) for engine in engines)
            assert (own.logits, own.next_token, own.attention) == (its.logits, its.next_token, its.attention)
            for x, y in zip(own.registers, its.registers, strict=True):
                assert (matrix @ np.array(x, object)).tolist() == list(y)
        assert own.next_token == tokens[-1]
    prompts = [tokens[:-1] for tokens in sequences]
    own_run, its_run = (dense.run(m, wired.arithmetic, prompts, keep_registers=True) for m in (wired.model, moved))
    assert own_run.logits is not None
    assert its_run.logits is not None
    for mine, its_logits in zip(own_run.logits, its_run.logits, strict=True):
        assert (mine == its_logits).all()


@pytest.mark.parametrize(
    ("subject", "where", "what", "enough"),
    [
        (
            find_subject("parity", 6),
            "coordinate 0",
            "a sum of 16 registers, of which position_squared is the largest",
            19,
        ),
        (find_subject("more_than", 6), "coordinate 0", "may reach 208.359; the largest number is 127.992", 17),
        (find_subject("recall_search", 6, model="rnn"), "the basis", "no rule for a recurrence", 0),
        (find_subject("istree", 4, lean=True), "the weights, blocks.0.ffn.W_", "is no element of R_15", 23),
    ],
    ids=["range", "shares", "recurrence", "weights"],
)
def test_a_model_that_does_not_survive_names_the_place_and_a_p(
    subject: Subject, where: str, what: str, enough: int
) -> None:
    basis = hadamard(wired_of(subject).model.width)
    judged, why = certified_in(basis, subject)
    assert judged.verdict != CERTIFIED
    assert judged.where.startswith(where)
    assert what in judged.what
    assert enough_bits(basis, subject, why) == enough
    if enough:
        assert certified_in(basis, replace(subject, precision_bits=enough))[0].verdict == CERTIFIED
        assert certified_in(basis, replace(subject, precision_bits=enough - 2))[0].verdict != CERTIFIED


def first_difference(wired: Wired, basis: Basis, sequences: Sequence[Sequence[int]]) -> str:
    """The first coordinate that is not B·x in a run, "" if there is none."""
    matrix = np.array([[int(x) for x in row] for row in basis.matrix], object)
    for tokens in sequences:
        engines = [ReferenceEngine(model, wired.arithmetic) for model in (wired.model, basis.apply(wired.model))]
        for token in tokens:
            own, its = (engine.append(token) for engine in engines)
            for x, y in zip(own.registers, its.registers, strict=True):
                odd = np.flatnonzero(matrix @ np.array(x, object) != np.array(y, object))
                if len(odd):
                    return str(odd[0])
    return ""


def test_what_is_refused_for_rounding_does_differ() -> None:
    """`t` is written as 1/32, and p = 9 has 16ths: it is 0. In a basis with 2·t + a, 1/16 is added there, and is not rounded."""
    of = RegisterNames(("a", "b", "t"))
    block = of.block(({"a": 1 / 16}, 0, {}, 1, {"t": 1 / 2}))
    wired = of.model({"a": {"a": 1}, "b": {"b": 1}}, NONE, [block, of.block()], Arithmetic(fixed_point(9)))
    model = described(wired.model, wired.arithmetic, wired.registers, wired.vocabulary, [])
    report = check(model, _in_order("ab"))
    for matrix, inverse, differs in (
        ([[1, 0, 2], [0, 1, 0], [0, 0, 1]], [[1, 0, -2], [0, 1, 0], [0, 0, 1]], True),
        ([[1, 1, 0], [0, 1, 0], [0, 0, -1]], [[1, -1, 0], [0, 1, 0], [0, 0, -1]], False),
    ):
        basis = read_basis({"matrix": matrix, "inverse": inverse}, 3)
        why = misfit(basis, basis.apply(wired.model), model, report)
        assert bool(first_difference(wired, basis, [[0, 1]])) == (why is not None) == differs
        assert why is None or (why.where, why.precision_bits) == ("block 1, feed-forward, register t", 0)


def test_what_is_rounded_at_some_positions() -> None:
    """At position 2, `t` is 1/16 exactly; at 3, it is 3/32, rounded."""
    of = RegisterNames(("a", "b", "c", "t", "position"))
    block = of.block(({"position": 1 / 16, "a": -1, "b": -1}, 0, {}, 1, {"t": 1 / 2}))
    words = {word: {word: 1} for word in "abc"}
    wired = of.model(words, {"position": 1}, [block, of.block()], Arithmetic(fixed_point(9)))
    model = described(wired.model, wired.arithmetic, wired.registers, wired.vocabulary, [])
    rows = [[int(i == j) for j in range(5)] for i in range(5)]
    matrix, inverse = ([*rows[:3], [0, 0, 0, 1, 0], [0, 0, 0, factor, 1]] for factor in (2, -2))
    basis = read_basis({"matrix": matrix, "inverse": inverse}, 5)
    for last, differs in ((2, False), (3, True)):
        begin, end = State(Label("a"), 1, 1, (), "a"), State(Label("b"), last + 1, last + 1, (1,), "b")
        texts = TokenAutomaton((begin, State(Label("c"), 2, last, (0, 1), "c"), end), frozenset([end.label]), (4, 4))
        why = misfit(basis, basis.apply(wired.model), model, check(model, texts))
        tokens = [wired.vocabulary.index(word) for word in ["a", *"c" * (last - 1), "b"]]
        assert bool(first_difference(wired, basis, [tokens])) == (why is not None) == differs


def test_a_position_that_is_cut_off() -> None:
    """The fifth position is 4 for p = 5, whose largest number is 3.75; a sum with another register is cut off elsewhere."""
    of = RegisterNames(("a", "b", "position"))
    wired = of.model({"a": {"a": 1}, "b": {"b": 1}}, {"position": 1}, [of.block()], Arithmetic(fixed_point(5)))
    model = described(wired.model, wired.arithmetic, wired.registers, wired.vocabulary, [])
    texts = TokenAutomaton(
        (State(Label("a"), 1, 5, (0,), "a"), State(Label("b"), 2, 6, (0,), "b")), frozenset([Label("b")]), (4, 4)
    )
    report = check(model, texts)
    for matrix, inverse, differs in (
        ([[1, 0, -1], [0, 1, 0], [0, 0, 1]], [[1, 0, 1], [0, 1, 0], [0, 0, 1]], True),
        ([[1, -1, 0], [0, 1, 0], [0, 0, -1]], [[1, 1, 0], [0, 1, 0], [0, 0, -1]], False),
    ):
        basis = read_basis({"matrix": matrix, "inverse": inverse}, 3)
        why = misfit(basis, basis.apply(wired.model), model, report)
        assert bool(first_difference(wired, basis, [[0, 0, 0, 0, 0, 1]])) == (why is not None) == differs
        assert why is None or (why.where, why.precision_bits) == ("the embedding, register position", 7)


def test_a_model_with_rounded_registers_survives() -> None:
    """IsTree's counts are rounded shares. Their sums are multiples of the step, so no basis of whole numbers rounds them again."""
    subject = find_subject("istree", 4)
    wired = wired_of(subject)
    basis = hadamard(wired.model.width)
    assert certified_in(basis, subject)[0].verdict == CERTIFIED
    inputs = [[*one.prompt, *one.answer[:-1]] for one in hard_inputs(subject, wired, 8, 0)]
    assert not first_difference(wired, basis, inputs)


def test_a_basis_is_undone_exactly() -> None:
    wired, _ = document("lean")
    for kind, make in BASES.items():
        basis = make(wired.model.width)
        back = basis.undo(basis.apply(wired.model))
        for mine, its in zip(_arrays(back), _arrays(wired.model), strict=True):
            assert (mine == its).all(), kind


def _arrays(model: Transformer) -> list[np.ndarray]:
    parts = [b.feed_forward for b in model.blocks]
    heads = [m for b in model.blocks for h in b.heads for m in (h.query, h.key, h.value, h.out)]
    return [
        model.words,
        model.position,
        model.unembed,
        *heads,
        *(m for f in parts for m in (f.gate, f.up, f.down, f.down_bias)),
    ]


def test_an_order_is_its_own_undoing() -> None:
    order = Order((2, 0, 1), ((1, 0),))
    assert order.put(("a", "b", "c")) == ("c", "a", "b")
    assert order.put_heads((("g", "h"),)) == (("h", "g"),)
    assert order.basis.matrix == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert not order.is_own

"""How many bits: what the search says of each p, against `reference` and arithmetic by hand; and the command."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from constructions.engines.reference import ReferenceEngine
from constructions.istree import transformer
from precision.format import BF16, FP8_E4M3, Discipline
from verify.bits.drawing import draw
from verify.bits.floats import fine_ladder, formats, native, reach
from verify.bits.search import (
    Point,
    PrecisionRow,
    PrecisionState,
    PrecisionWitness,
    emulate,
    first_failure,
    ladder,
    numbers_differ,
    search,
)
from verify.bits.subjects import LONGEST, BitsSubject, find_subject
from verify.dossiers.dossier import HardInput
from verify.precision import main

INDEX = find_subject("index")


@cache
def row(subject: BitsSubject, n: int) -> PrecisionRow:
    return search(subject, n)


def said_by_reference(subject: BitsSubject, n: int, precision_bits: int, case: HardInput) -> list[str]:
    """What greedy decoding says, token by token, where the answer is fed as far as it is right."""
    wired = subject.build(n, precision_bits)
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    argmax = [engine.append(token).next_token for token in case.tokens]
    return [wired.vocabulary[token] for token in argmax[len(case.prompt) - 1 :]]


@pytest.mark.parametrize(("subject", "n"), [(INDEX, 6), (find_subject("index", discipline=Discipline.SEQUENTIAL), 4)])
def test_every_p_is_as_the_reference_engine_says(subject: BitsSubject, n: int) -> None:
    actual, cases = row(subject, n), subject.cases(n)
    assert [point.precision_bits for point in actual.points] == list(range(5, actual.wired_for + 1, 2))
    vocabulary = subject.build(n).vocabulary
    for point in actual.points:
        wrong = {}
        for case in cases:
            said, expected = (
                said_by_reference(subject, n, point.precision_bits, case),
                [vocabulary[t] for t in case.answer],
            )
            if said != expected:
                place = next(i for i, (one, other) in enumerate(zip(said, expected, strict=True)) if one != other)
                wrong[case.text] = PrecisionWitness(case.text, place, expected[place], said[place])
        assert (point.witness is None) == (not wrong)
        assert point.witness is None or point.witness == wrong[point.witness.input]
        assert point.tried == len(cases) > 4
    assert {point.state for point in actual.points} >= {PrecisionState.FAILS, PrecisionState.CERTIFIED}
    assert actual.fails_at is not None
    assert actual.certified is not None
    assert actual.floor <= actual.fails_at.precision_bits < actual.certified <= actual.wired_for
    assert not actual.refuted


def test_a_chain_of_thought_counts_token_by_token() -> None:
    lean = find_subject("istree", "lean")
    actual = row(lean, 6)
    assert actual.certified == actual.wired_for
    last = actual.fails_at
    assert last is not None
    assert last.witness is not None
    case = next(case for case in lean.cases(6) if case.text == last.witness.input)
    said = said_by_reference(lean, 6, last.precision_bits, case)
    expected = [lean.build(6).vocabulary[token] for token in case.answer]
    right = last.witness.right
    assert said[:right] == expected[:right]
    assert (said[right], expected[right]) == (last.witness.said, last.witness.expected)
    assert not actual.refuted


@pytest.mark.parametrize("n", [6, 7, 8, 16, 32, 64])
def test_two_bits_less_than_lean_is_wired_for_are_too_few(n: int) -> None:
    """Powers of two above all: 2^q is just above R_p, so that n itself might take a bit that no other number takes."""
    lean = find_subject("istree", "lean")
    bits = lean.wired_for(n) - 2
    wired, cases = lean.build(n, bits), lean.cases(n)
    assert not lean.is_certified(n, bits)
    assert first_failure(wired, cases, emulate(wired.model, wired.arithmetic)) is not None


def test_below_the_floor_two_numbers_are_the_same_and_some_input_fails() -> None:
    """Integers up to n, in plain R_p: 2^q and all above it saturate alike, so n ≤ 2^q is what it takes."""
    for n in (4, 5, 8, 9, 64, 65):
        floor = max(5, 2 * math.ceil(math.log2(n)) + 1)
        told_apart = {p: numbers_differ(INDEX.build(n, p)) for p in range(5, floor + 5, 2)}
        assert told_apart == {p: p >= floor for p in told_apart}
    actual = row(INDEX, 6)
    assert actual.floor == 7
    assert all(point.witness for point in actual.points if point.precision_bits < actual.floor)


def test_as_printed_a_failure_at_the_printed_p_is_no_refutation() -> None:
    actual = row(find_subject("recall", "printed"), 4)
    assert actual.points[-1].witness is not None
    assert actual.fails_at is actual.points[-1]
    assert not actual.refuted
    assert replace(actual, subject=find_subject("recall")).refuted  # a repaired model would have to be right there
    assert all("cycle" not in case.text for case in find_subject("istree", "printed").cases(6))


def test_failure_need_not_be_monotone() -> None:
    witness = PrecisionWitness("x", 0, "1", "2")
    points = [Point(p, p in (9, 13, 15), 3, witness if p in (5, 11) else None, p > 5) for p in range(5, 16, 2)]
    actual = PrecisionRow(INDEX, 4, 15, tuple(points))
    assert actual.fails_at is points[3]
    assert actual.passes_below == (7, 9)
    assert actual.certified == 13
    assert actual.floor == 7
    assert [point.state.value[0] for point in points] == ["f", "n", "c", "f", "c", "c"]
    assert not actual.refuted
    contradiction = replace(points[3], certified=True)
    assert replace(actual, points=(*points[:3], contradiction, *points[4:])).refuted


def test_forced_weights_are_rounded_only_where_they_do_not_fit() -> None:
    least = transformer.TRANSFORMER.least_precision(4)
    free, forced = transformer.TRANSFORMER.build(4, least), transformer.TRANSFORMER.build(4, least, forced=True)
    assert np.array_equal(free.model.blocks[6].heads[0].key, forced.model.blocks[6].heads[0].key)
    with pytest.raises(ValueError, match=f"the least p it is wired for is {least}"):
        transformer.TRANSFORMER.build(4, 9)
    small = transformer.TRANSFORMER.build(4, 9, forced=True)
    assert small.arithmetic.format.name == "R_9"
    assert max(float(np.abs(array).max(initial=0)) for array in small.model.blocks[6].heads[0].key) < 16


def test_sizes() -> None:
    assert list(ladder(6, 64)) == [6, 8, 16, 32, 64]
    assert list(ladder(4, 4)) == [4]
    assert list(ladder(4, 20)) == [4, 8, 16, 20]
    fine = fine_ladder(4, 1000)
    assert fine[:3] == [4, 5, 6]
    assert fine[-1] == 1000
    assert all(larger <= 1.25 * smaller for smaller, larger in pairwise(fine))
    assert all(len(case.tokens) <= LONGEST for case in find_subject("istree").cases(64))


def test_long_answers_are_cut_and_longer_prompts_left_out() -> None:
    lean = find_subject("istree", "lean")
    whole, cut = ({case.text: case for case in lean.cases(64, longest)} for longest in (10_000, 250))
    assert set(whole) - set(cut) == {"longest prompt"}
    assert any(len(case.answer) < len(whole[name].answer) for name, case in cut.items())
    for name, case in cut.items():
        assert (case.prompt, case.answer) == (whole[name].prompt, whole[name].answer[: len(case.answer)])
        assert len(case.tokens) < 250
    assert len(lean.cases(1000)) >= 10


def test_a_size_of_which_no_input_is_tried_is_not_right() -> None:
    lean = find_subject("istree", "lean")
    assert not lean.cases(1000, LONGEST)
    actual = reach(lean, [6, 1000], 53, partial(native, float_name="float64"))
    assert (actual.right, actual.fails, actual.inputs) == (6, None, len(lean.cases(6)))


def test_formats_go_as_far_as_their_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """bf16 has 8 digits: (n + 2)², the square of the last position, is exact up to n = 14."""
    monkeypatch.setattr("verify.bits.floats.FORMATS", (BF16, FP8_E4M3))
    wide, narrow = formats(INDEX, (14, 15))
    assert wide.native is not None
    assert (wide.native.right, wide.native.fails, wide.native.inputs) == (14, 15, 10)
    assert wide.native.witness is not None
    assert wide.native.witness.expected != wide.native.witness.said
    assert wide.emulated.fails == 15
    assert (narrow.native, narrow.emulated.right, narrow.emulated.fails) == (None, None, 14)


def test_the_command_prints_what_the_contract_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--n", "6", "--json", "--discipline", "fused"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    printed, repaired = document["rows"]
    assert [repaired[key] for key in ("n", "variant", "discipline")] == [6, "repaired", "fused"]
    actual = row(INDEX, 6)
    assert actual.fails_at is not None
    assert [repaired[key] for key in ("certified", "fails_at", "floor")] == [
        actual.certified,
        actual.fails_at.precision_bits,
        actual.floor,
    ]
    assert printed["certified"] is None
    at = next(point for point in repaired["points"] if point["p"] == repaired["fails_at"])
    assert at["state"] == "fails"
    assert at["witness"]["said"] != at["witness"]["expected"]


@pytest.mark.parametrize("name", ["first", "automaton"])
def test_programs_whose_tokens_are_not_all_numbers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the first only 0 and 1 are tokens; examples of the second leave out the `?` that ends its prompts."""
    assert main([name, "--n", "6", "--json", "--discipline", "fused"]) == 0
    (repaired,) = json.loads(capsys.readouterr().out)["rows"]
    assert repaired["certified"] is not None
    assert repaired["fails_at"] is not None


def test_a_model_that_fails_where_it_is_certified_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BitsSubject, "is_certified", lambda self, n, p: True)
    assert main(["index", "--n", "4", "--variant", "repaired", "--discipline", "fused"]) == 1


def test_the_figure_is_the_same_each_time(tmp_path: Path) -> None:
    rows = [row(INDEX, 6), row(find_subject("recall", "printed"), 4)]
    texts = []
    for name in ("a.svg", "b.svg"):
        draw(rows, tmp_path / name)
        texts.append((tmp_path / name).read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    for label in ("repaired, certified", "repaired, fails at", "repaired, floor", "printed, wired for", "index, fused"):
        assert f">{label}<" in texts[0]


def test_without_matplotlib_a_figure_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["index", "--svg", str(tmp_path / "a.svg")]) == 2
    assert capsys.readouterr().err == (
        "python -m verify.precision: error: --svg needs matplotlib: pip install 'rnn-transformer-constructions[plot]'\n"
    )


def test_variants() -> None:
    assert find_subject("istree").dossier.variants == ("printed", "repaired", "lean")
    assert find_subject("recall").dossier.variants == ("printed", "repaired")

"""The lean variant of IsTree: answers, bits, and that every register is an integer in its units."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from constructions.engines.reference import ReferenceEngine
from constructions.istree import lean, lean_words
from constructions.istree.__main__ import main
from constructions.istree.graphs import EOS, LAYOUTS, PAPER, TokenLayout, expected_answer, sequence_length
from constructions.models.checked import check_run
from constructions.wiring.part import Setting
from precision.format import Discipline, fixed_point
from tests.constructions.test_istree import layouts
from verify.inputs.strategies import every_input, every_labelled_graph


@layouts
def test_nothing_is_rounded_and_only_scores_saturate(layout: TokenLayout) -> None:
    """Every register is an integer times u or u², at the least p."""
    seen = 0
    for graph in (*list(every_input(3))[::6], *list(every_labelled_graph(4))[::7]):
        wired = lean.Lean(layout).build(graph.n)
        scale = lean.scale_of(Setting(graph.n, sequence_length(graph.n), wired.arithmetic.format), layout)
        engine = ReferenceEngine(wired.model, wired.arithmetic)
        step = scale.unit**2 / wired.arithmetic.format.quantum  # u² in quanta
        assert step.denominator == 1
        tokens = [*layout.prompt(graph), *expected_answer(graph, layout)[:-1]]
        if len(graph.edges) > graph.n:
            continue  # a prompt longer than K: what stands after edge number n is no integer, and leads to NO
        for token in tokens:
            for registers in engine.append(token).registers[:-1]:
                assert not any(value % step.numerator for value in registers)
                seen += 1
        kinds = {(site.kind, site.site.rpartition(".")[2]) for site in engine.flags.counts}
        assert kinds <= {("saturation", "score"), ("rounding tie", "score"), ("logit tie", "logit")}, kinds
        assert check_run(wired, tokens) == []
    assert seen > 500


def test_five_blocks_of_constant_size() -> None:
    for layout in LAYOUTS:
        models = [lean.Lean(LAYOUTS[layout]).build(n).model for n in (1, 10, 100)]
        assert {(len(m.blocks), m.width, m.parameters) for m in models} == {(5, models[0].width, models[0].parameters)}
        assert max(len(block.heads) for block in models[0].blocks) == 5


def test_the_formulas_hold() -> None:
    """Of `precision`, as people are told it; and half of the repaired variant's 8·log2 n."""
    assert lean_words.PRECISION.startswith("p ≤ 3·log2 n + 2·log2(1 + log2 n) + 11")
    for n in [*range(1, 70), *(2**e + d for e in range(6, 65) for d in (-1, 0, 1)), *(10**k for k in range(2, 20))]:
        bits, least = math.log2(n), lean.LEAN.least_precision(n)
        assert least <= min(3 * bits + 2 * math.log2(1 + bits), 4 * bits) + 11 + 1e-9, n
        with_eos = lean.Lean(EOS).least_precision(n)
        assert with_eos <= 4 * bits + min(18, 2 * math.log2(1 + bits) + 13) + 1e-9, n


@layouts
def test_the_least_p_is_where_it_begins_to_fit(layout: TokenLayout) -> None:
    """From there on, every larger p fits as well."""
    for n in (1, 2, 3, 7, 50, 1000, 10**6):
        least = lean.Lean(layout).least_precision(n)
        assert not lean.fitting(n, least - 2, layout)
        assert all(lean.fitting(n, least + more, layout) for more in range(0, 42, 2))


@layouts
@pytest.mark.parametrize("discipline", Discipline)
def test_no_fewer_bits_fit(layout: TokenLayout, discipline: Discipline) -> None:
    """It is looked for near the least p of a power of two: here from the fewest bits on."""
    for n in (1, 2, 3, 7, 9, 33, 63, 1025, 2**40 - 1):
        enough = (bits for bits in itertools.count(5, 2) if lean.fitting(n, bits, layout, discipline))
        assert lean.Lean(layout).least_precision(n, discipline) == next(enough)


def test_every_constant_is_in_its_place() -> None:
    """λ, W, S and R, as the derivation has them."""
    for n in (2, 9, 100, 5000):
        for bits in (lean.LEAN.least_precision(n), lean.LEAN.least_precision(n) + 30):
            scale = lean.scale_of(Setting(n, sequence_length(n), fixed_point(bits)), PAPER)
            k, far, weight = scale.places, scale.far, scale.preference
            assert weight * ((far + 1) ** 2 - far**2) >= scale.lead
            assert weight * ((far + k - 1) ** 2 - far**2) <= scale.reach <= Fraction(107, 100) * scale.lead * k + 1
            assert scale.mismatch >= scale.default + scale.lead


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--variant", "lean", "--edges", "1-2,3-1,1-4", "--trace"]) == 0
    text = capsys.readouterr().out
    assert "At 1, reached from its father" not in text.splitlines()[0]
    assert "Back at 1 from 2. The next edge leads to 3. 3 is new: go there." in text
    assert text.endswith("1 2 1 3 1 4 1\nYES\n")
    assert main(["--variant", "lean", "--edges", "1-2,2-3,3-1", "--n", "4", "--trace"]) == 0
    assert "1 was visited before" in capsys.readouterr().out
    assert main(["--variant", "lean", "--n", "5", "--dump-weights"]) == 0
    assert "least p" in capsys.readouterr().out


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
def test_the_constants_that_people_are_told_are_those_of_the_layout(layout: TokenLayout) -> None:
    model = lean.Lean(layout)
    fmt = model.build(20).arithmetic.format
    told = {constant.symbol: constant.value for constant in model.constants(model.setting(20, fmt), frozenset())}
    assert told["K"] == lean.most_places(20, layout)
    assert lean.most_places(20, PAPER) != lean.most_places(20, EOS)

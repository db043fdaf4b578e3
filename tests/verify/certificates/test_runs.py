"""What is certified or refused by runs: every input of the smallest models, hard inputs where no rule says anything."""

from __future__ import annotations

import dataclasses

import pytest

from constructions.istree.graphs import LAYOUTS, Layout
from verify.certificates import runs
from verify.certificates.building import wired_of
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, certificate
from verify.certificates.mutants import with_matrix
from verify.certificates.ranges import differences
from verify.certificates.runs import exhaust
from verify.certify import main
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import RETRIEVERS
from verify.framework.predicates import NoVerdict
from verify.framework.weights import Certifier
from verify.oracles.counts import ordered_graphs, questions


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("name", RETRIEVERS)
def test_every_question(name: str, n: int) -> None:
    document = certificate(find_subject(name, n))
    assert document["verdict"] == CERTIFIED
    assert document["inputs_run"] == questions(name, n, n, n, RETRIEVERS[name].query_length)
    assert all(error != "0" for error in document["error_in_steps"].values())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("lean", [False, True])
def test_every_graph(layout: Layout, lean: bool) -> None:
    for n in (1, 2):
        assert exhaust(find_subject("istree", n, layout=layout, lean=lean)).inputs == ordered_graphs(n)


def test_a_small_model_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    wired = wired_of(find_subject("recall", 2))
    changed = dataclasses.replace(
        wired, model=with_matrix(wired.model, 2, "attn.0.W_Q", -wired.model.blocks[2].heads[0].query)
    )
    monkeypatch.setattr(runs, "wired_of", lambda subject: changed)
    document = certificate(find_subject("recall", 2))
    assert document["verdict"] == REFUSED
    assert document["what"] == "the ideal model says 1 after 3 tokens, not FAILED"


def test_every_size_from_one_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert differences(certificate(find_subject("index", 2))) == []
    assert main(["index", "--n", "2"]) == 0
    assert "all inputs were run, 10: every sequence and query of n = 2" in capsys.readouterr().out


def test_where_the_printed_layer_7_fails() -> None:
    """The check cannot tell of a sum of two counts; a run shows two records that tie, and what is read of them."""
    document = certificate(find_subject("istree", 6, printed=("layer-7",)))
    assert (document["verdict"], document["where"]) == (REFUSED, "block 7, head 2 (edge 1 after, b here)")
    assert "2 keys of equal score, whose values for next1_b are 4, 3" in document["what"]


def test_what_hard_inputs_do_not_refute() -> None:
    assert certificate(find_subject("counting", 4, printed=("count-margin",)))["verdict"] == UNKNOWN


def test_an_obligation_that_is_not_met_refutes_no_claim() -> None:
    """No input is shown on which the model is wrong, so its claim stays undecided."""
    with pytest.raises(NoVerdict, match="saturates: sequence reaches"):
        Certifier("rounding").judge(find_subject("recall", 16, length=4000))


def test_an_input_on_which_a_model_is_wrong_refutes_a_claim() -> None:
    counterexample = Certifier("rounding").judge(find_subject("counting", 8, printed=("count-margin",)))
    assert counterexample is not None
    assert "is not NO" in str(counterexample)

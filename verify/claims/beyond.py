"""What the paper says and no search here can judge. The ledger lists it as not judged, with the reason."""

from __future__ import annotations

import pytest

from verify.framework.check import Check
from verify.framework.claim import claim

TRAINED = "it is about trained models of millions of parameters, on eight GPUs for two days; nothing is trained here"
LANGUAGE = "it is about language models of 1.3 billion parameters and HotpotQA, which cannot be run here"


@claim(
    "6/istree-accuracy",
    source="section 6 and appendix B",
    statement="Trained without a chain of thought, Transformers and RNNs do not learn IsTree. With one, RNNs get worse as"
    " graphs grow. With retrieval, or one Transformer layer, they do not.",
)
def test_accuracy_on_istree(check: Check) -> None:
    pytest.skip(TRAINED)


@claim(
    "6/hotpot",
    source="section 6",
    statement="On HotpotQA, an RNN loses more than a Transformer or a hybrid as paragraphs are added; not if the right ones"
    " come last.",
)
def test_hotpot(check: Check) -> None:
    pytest.skip(LANGUAGE)


@claim(
    "C.25",
    source="Lemma C.25",
    statement="If PSPACE is not in P/poly, a problem on padded inputs is in linear space and beyond circuits of polynomial size.",
)
def test_padding(check: Check) -> None:
    pytest.skip("it is about complexity classes; of Theorem 4.1, the simulation of machines is judged, not what follows from it")


@claim("C.30", source="Lemma C.30", statement="The statement is lost in our copy of the paper.")
def test_lost_lemma(check: Check) -> None:
    pytest.skip("our copy of the paper has the number, and not the sentence")

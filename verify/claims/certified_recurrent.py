"""Soundness of rounding of recurrent models, certified from the weights: of hybrids, and of those that search their own text."""

from __future__ import annotations

from verify.certificates.building import LEAST, MODELS, Subject
from verify.claims.certified import BEYOND, WHAT, certify
from verify.framework.check import Check
from verify.framework.claim import Claim, claims

THEOREMS = {"rag": "5.2", "hybrid": "5.6"}
ANY_WORDS = " Any numbers in the search, any word of the prompt as its result."


@claims(
    "key",
    [
        (
            Claim.about(
                THEOREMS[model],
                name,
                "rounding",
                f"Theorem {THEOREMS[model]}",
                f"{name}, {model}: {WHAT}" + ANY_WORDS * (model == "rag"),
            ),
            (name, model),
        )
        for name, model in MODELS
        if model in THEOREMS
    ],
)
def test_retrieval(check: Check, key: tuple[str, str]) -> None:
    name, model = key
    sizes = (*check.sizes(LEAST, ratio=10**9)[:1], *([] if check.n_max < 10**4 else [BEYOND]))
    text = f"every sequence of up to n tokens, every query; n = {', '.join(f'{n:,}' for n in sizes)}"
    certify(check, [Subject(name, n, model=model) for n in sizes], text)

"""What the paper measures. Small models are measured here, too; the rest stands in the ledger with the reason why it is not.

Source: section 6 (IsTree with trained models, Hotpot-QA) and appendix B (how they were trained).
No training runs here: the numbers are those of docs/training.json, which `python -m verify.training --write docs` makes.
"""

from __future__ import annotations

import math

from verify.framework.check import Check
from verify.framework.claim import Claim, Verdict, claims
from verify.training import cells, stored, wired
from verify.training.texts import Mode

REASONS = {
    Claim(
        "6/istree",
        "section 6",
        "On IsTree of the paper's sizes the trained Transformer and the trained RNNs with retrieval beat the trained RNN with a"
        " chain of thought.",
    ): "needs models and graphs of the paper's sizes, and days on 8 GPUs; smaller ones are measured, see 6/istree-chain",
    Claim(
        "6/hotpotqa",
        "section 6",
        "On Hotpot-QA all models get worse as paragraphs are added, the distilled RNN most; the hybrid is better than the RNN.",
    ): "is about natural language: needs the data set, and language models of 1.3 billion parameters",
    Claim(
        "6/hotpotqa-ordered",
        "section 6",
        "On Hotpot-QA with the correct paragraphs at the end, no model gets worse as paragraphs are added.",
    ): "is about natural language: needs the data set, and language models of 1.3 billion parameters",
    Claim(
        "B/training",
        "appendix B",
        "With at least 1M samples, or else 5M, Adam and a searched learning rate every model converges, within two days on 8 GPUs.",
    ): "is about the paper's sizes and its hardware; the models measured here see at most 38,400 samples",
}
SAYS = {
    Mode.PLAIN: (
        "alone",
        "the verdict alone",
        "without a chain of thought, neither Transformers nor RNNs learn IsTree",
    ),
    Mode.CHAIN: (
        "chain",
        "a chain of thought",
        "Transformers stay better than RNNs, which get worse with n; hybrids keep up",
    ),
    Mode.SEARCH: ("search", "searches", "with In-Context RAG, all models are near-perfect"),
}
FAR = {"right_after": "in float64", "right_rounded": "rounded to p bits"}


def about_mode(mode: Mode) -> Claim:
    """Returns the claim about the cells of a mode."""
    aspect, written, paper = SAYS[mode]
    statement = f"How often small models are right that are trained on IsTree to write {written}. The paper, of its sizes: {paper}."
    return Claim(f"6/istree-{aspect}", "section 6", statement, expected=Verdict.MEASURED)


def about_descents(subject: str) -> Claim:
    """Returns the claim about gradient descents from one model's weights."""
    statement = (
        f"At which least p the wired model of {subject} is wrong somewhere after {wired.STEPS} steps of gradient descent from its"
        " own weights."
    )
    return Claim(f"6/descent-{subject.lower()}", "section 6, and ours", statement, expected=Verdict.MEASURED)


@claims("claim", REASONS, lambda claim: claim)
def test_what_is_measured_elsewhere(check: Check, claim: Claim) -> None:
    check.leave(REASONS[claim])


@claims("mode", Mode, about_mode)
def test_trained_models(check: Check, mode: Mode) -> None:
    document = stored.read()
    for cell in (cell for cell in cells.cells() if cell.mode is mode):
        check.measured(
            stored.of_cell(document, cell),
            range=f"{cell.architecture}, n = {cell.n}: share of right verdicts",
            command=f"{stored.PROG} --only {cell.name}",
            settings=document["settings"],
            size=cell.n,
        )


@claims("subject", wired.SUBJECTS, about_descents)
def test_wired_models_that_are_trained_further(check: Check, subject: str) -> None:
    document, formats = stored.read(), wired.SUBJECTS[subject].formats
    for descent in wired.DESCENTS:
        for what, how in FAR.items():
            found = stored.departures(document, subject, descent.name, what)
            check.measured(
                [math.inf if p is None else p for p in found],
                range=f"{descent.name}, {how}: least of p = {', '.join(map(str, formats))} at which some prompt is wrong",
                command=f"{stored.PROG} --only {subject}/{descent.name}",
                settings=document["settings"],
                size=wired.SUBJECTS[subject].n,
                text=lambda p: "none" if p == math.inf else f"{p:.0f}",
            )

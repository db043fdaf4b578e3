"""What the paper measures. No claim here judges it: these parts stand in the ledger with the reason.

Source: section 6 (IsTree with trained models, Hotpot-QA) and appendix B (how they were trained).
"""

from __future__ import annotations

from verify.framework.check import Check
from verify.framework.claim import Claim, claims

REASONS = {
    Claim(
        "6/istree",
        "section 6",
        "On IsTree the trained Transformer and the trained RNNs with retrieval beat the trained RNN with a chain of thought.",
    ): "what training finds is measured, not constructed; only wired weights are judged here",
    Claim(
        "6/hotpotqa",
        "section 6",
        "On Hotpot-QA all models get worse as paragraphs are added, the distilled RNN most; the hybrid is better than the RNN.",
    ): "needs the data set and language models that were trained on it; only wired weights are judged here",
    Claim(
        "B/training",
        "appendix B",
        "With at least 1M samples, or else 5M, Adam and a searched learning rate every model converges, within two days on 8 GPUs.",
    ): "is about training and its hardware; only wired weights are judged here",
}


@claims("claim", REASONS, lambda claim: claim)
def test_what_is_measured(check: Check, claim: Claim) -> None:
    check.leave(REASONS[claim])

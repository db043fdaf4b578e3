"""The forward rule of an exported model in words and formulas, for those who have only the file.

Source: section 3 and appendix A.2; `constructions.engines.reference` is the same rule as code.
"""

from __future__ import annotations

from collections.abc import Mapping

from constructions.wiring.wired import Wired
from precision.format import Discipline

_FUSED: Mapping[str, str] = {
    "operators": "each R(…) takes the exact value of what stands in it, sums over any number of terms included, and rounds once",
    "embedding": "x_l = R(embed.words[token_l] + l·embed.position)",
    "softmax": "w_m = R(exp(s_m) / Σ_{m'=1…l} exp(s_m'))",
}
_SEQUENTIAL: Mapping[str, str] = {
    "operators": (
        "in each R(…) every product is rounded, and every partial sum from left to right, in the order of indices; a product "
        "that is 0 changes nothing, and the bias is added last"
    ),
    "embedding": "x_l = R(embed.words[token_l] + R(l·embed.position))",
    "softmax": "e_m = R(exp(R(s_m − max s))), w_m = R(e_m / R(e_1 + … + e_l))",
}
_RULE: Mapping[str, str] = {
    "position": "l = 1, 2, …: the first token of a sequence, whichever it is, stands at position 1",
    "embedding": "",
    "block": "for i = 0, 1, …: the attention or the recurrence of block i if it has one, then its feed-forward",
    "projections": "for head h: q_l = R(W_Q x_l), k_l = R(W_K x_l), v_l = R(W_V x_l)",
    "scores": "s_m = R(k_m · q_l) for m = 1 … l: causal, the position itself included; nothing is divided by √d",
    "softmax": "",
    "read": "r_h = R(Σ_{m=1…l} w_m·v_m)",
    "attention": "x_l ← R(x_l + R(Σ_h W_O r_h)), one sum over all heads of the block, each with its own W_O",
    "recurrence": "h_0 = 0, h_l = R(A h_{l−1} + B x_l), x_l ← R(x_l + h_l)",
    "feed-forward": (
        "g = R(W_gate x_l + b_gate), u = R(W_up x_l + b_up), z = R(ReLU(g) ⊙ u), x_l ← R(x_l + R(W_down z + b_down))"
    ),
    "logits": "y = R(unembed · x_l) after the last block",
    "next token": "the row of the largest logit, the first one of equals",
}

SCHEMA = 1  # of the sidecar of exported weights


def forward_rule(wired: Wired) -> dict[str, str]:
    """Returns step → formula, in the order of execution, after a first entry that says where and how numbers are rounded."""
    rule = _FUSED if wired.arithmetic.discipline is Discipline.FUSED else _SEQUENTIAL
    return {
        "rounding": (
            "R(y) is the element of the format nearest to y, of two the one with an even number of quanta; beyond the largest "
            "element it is that one, with the sign of y. All weights are elements of the format"
            + (" or are rounded to it first" if wired.printed else "")
        ),
        "operators": rule["operators"],
        **{step: rule.get(step, formula) for step, formula in _RULE.items()},
    }

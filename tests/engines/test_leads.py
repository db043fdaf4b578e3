"""What engines make of the lead behind which all other keys vanish: each asks for at least that, and for little more."""

from __future__ import annotations

from fractions import Fraction

import torch
from hypothesis import given
from hypothesis import strategies as st

from constructions.engines.dense.limits import decisive_gap
from constructions.engines.dense.operators import Operators
from precision.enclosure import doublings
from precision.format import BF16, FP16, FP32, FP64, Arithmetic, Discipline, fixed_point
from precision.winners import vanishing_lead

FORMATS = (*map(fixed_point, (5, 17, 65, 129, 255)), FP64, FP32, BF16, FP16)
lengths = st.integers(1, 2**40 - 1)


@given(length=lengths, fmt=st.sampled_from(FORMATS))
def test_the_dense_gap_is_the_least_whole_number_of_quanta(length, fmt):
    operators = Operators(Arithmetic(fmt, Discipline.FUSED), torch.device("cpu"))
    gap, halvings = decisive_gap(operators, length), 2 - fmt.quantum_exponent + length.bit_length()
    if gap is None:
        assert doublings(2 * fmt.max_quanta, fmt) < halvings
    else:
        assert doublings(gap, fmt) >= halvings > doublings(gap - 1, fmt)


@given(length=lengths, fraction_bits=st.integers(0, 128))
def test_the_compiled_lead_is_the_lead(length, fraction_bits):
    from constructions.engines.incremental.kernel import LOG2_E, lead_over

    lead = vanishing_lead(length, fraction_bits)
    compiled = Fraction(getattr(lead_over, "py_func", lead_over)(length, fraction_bits))
    assert abs(compiled - lead) <= lead / 2**53
    assert Fraction(LOG2_E) * (1 + Fraction(1, 2**52)) < Fraction(1_442_695, 1_000_000)  # which is below log2 e, too

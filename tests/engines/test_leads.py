"""What engines make of the lead after which all other keys vanish: each asks for at least that, and for little more."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from constructions.engines.dense.limits import decisive_gap
from constructions.engines.dense.operators import Operators
from precision.enclosure import doublings
from precision.format import BF16, FP16, FP32, FP64, Arithmetic, Discipline, fixed_point

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

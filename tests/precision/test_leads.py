"""The gap that decides a column: no less than the lead after which all other keys vanish, and little more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from precision.enclosure import doublings
from precision.format import BF16, FP16, FP32, FP64, Arithmetic, Discipline, fixed_point
from precision.winners import decisive_gap

FORMATS = (*map(fixed_point, (5, 17, 65, 129, 255)), FP64, FP32, BF16, FP16)
lengths = st.integers(1, 2**40 - 1)


@given(length=lengths, fmt=st.sampled_from(FORMATS))
def test_the_gap_is_the_least_whole_number_of_quanta(length, fmt):
    gap, halvings = (
        decisive_gap(length, Arithmetic(fmt, Discipline.FUSED)),
        2 - fmt.quantum_exponent + length.bit_length(),
    )
    if gap is None:
        assert doublings(2 * fmt.max_quanta, fmt) < halvings
    else:
        assert doublings(gap, fmt) >= halvings > doublings(gap - 1, fmt)

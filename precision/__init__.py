"""Number formats, and operations whose results are the correctly rounded exact ones.

Source: appendix A.2.

Read in this order; each file needs only those before it:

format            what a format is, as data: R_p and IEEE-like floats; rounding modes; what counts as one operator
rounding          ROUND(x, p) on exact integers: the definition
enclosure         rounding a real number of which only bounds are known
exponential       e^x, correctly rounded
softmax           one column of attention weights, correctly rounded: the definition
winners           how far some keys must lead for all others to vanish, and what each of them then weighs
libraries         formats and tensors of numpy, ml_dtypes, gfloat and torch
rounding_array, exponential_array, softmax_array
                  the same three on float64 arrays, with the same bits; what they cannot decide they hand to the definition
vectors           inputs with correctly rounded results, to test other code with: python -m precision.vectors
microscaling      small floats in blocks with a shared scale (OCP MX)

The scalar files count in quanta (integers), the array files hold values (float64). Every rounding reports whether it
saturated and whether it was a tie. Nothing here reads or changes a global precision.
"""

from precision.exponential import exp_quanta
from precision.exponential_array import exp_array
from precision.format import (
    BF16,
    FLOAT_FORMATS,
    FP4_E2M1,
    FP6_E2M3,
    FP6_E3M2,
    FP8_E4M3,
    FP8_E5M2,
    FP16,
    FP32,
    FP64,
    TF32,
    Arithmetic,
    Discipline,
    Format,
    Rounding,
    fixed_point,
    floating_point,
    parse_format,
)
from precision.libraries import as_format
from precision.microscaling import MX_BLOCK, MX_FORMATS, MXBlocks, mx_decode, mx_encode
from precision.rounding import Rounded, round_dyadic, round_fraction, round_ratio, round_shifted
from precision.rounding_array import RoundedArray, random_from_bits, round_array, round_values
from precision.softmax import Softmax, softmax
from precision.softmax_array import SoftmaxArray, softmax_array

__all__ = [
    "BF16",
    "FLOAT_FORMATS",
    "FP4_E2M1",
    "FP6_E2M3",
    "FP6_E3M2",
    "FP8_E4M3",
    "FP8_E5M2",
    "FP16",
    "FP32",
    "FP64",
    "MX_BLOCK",
    "MX_FORMATS",
    "TF32",
    "Arithmetic",
    "Discipline",
    "Format",
    "MXBlocks",
    "Rounded",
    "RoundedArray",
    "Rounding",
    "Softmax",
    "SoftmaxArray",
    "as_format",
    "exp_array",
    "exp_quanta",
    "fixed_point",
    "floating_point",
    "mx_decode",
    "mx_encode",
    "parse_format",
    "random_from_bits",
    "round_array",
    "round_dyadic",
    "round_fraction",
    "round_ratio",
    "round_shifted",
    "round_values",
    "softmax",
    "softmax_array",
]

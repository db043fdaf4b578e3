"""What importing the package costs and promises."""

from __future__ import annotations

import subprocess
import sys

import precision

USED_ALONE = """
import sys
for name in ("constructions", "circuits", "verify", "torch", "ml_dtypes", "gfloat"):
    sys.modules[name] = None  # importing it is an error
import numpy as np
from precision import FP4_E2M1, Arithmetic, exp_array, fixed_point, mx_decode, mx_encode, round_array, softmax, softmax_array
r17 = fixed_point(17)
assert round_array([0.1, 1000.0], r17).saturated.tolist() == [False, True]
assert exp_array([0.0, 300.0], r17).saturated.tolist() == [False, True]
assert softmax([0, 256], Arithmetic(r17)).weights == [69, 187]
assert softmax_array([0.0, 1.0], None, Arithmetic(r17)).weights.tolist() == [69 / 256, 187 / 256]
blocks = mx_encode(np.arange(32.0), FP4_E2M1)
assert mx_decode(blocks.scales, blocks.elements, FP4_E2M1).max() == 24.0
"""


def test_it_is_used_without_the_rest_of_the_project_and_without_optional_libraries() -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", USED_ALONE], check=True, timeout=60)


def test_every_public_name_exists_and_is_documented() -> None:
    for name in precision.__all__:
        public = getattr(precision, name)
        assert public.__doc__, name

"""What importing the package costs and promises."""

from __future__ import annotations

import subprocess
import sys

import precision


def test_importing_needs_no_torch_and_changes_no_global_precision() -> None:
    program = (
        "import sys, flint; before = flint.ctx.prec; import precision; "
        "assert 'torch' not in sys.modules; assert flint.ctx.prec == before; assert 'mpmath' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=60)


def test_every_public_name_exists_and_is_documented() -> None:
    for name in precision.__all__:
        public = getattr(precision, name)
        assert public.__doc__, name

"""Compiling functions as parts of those that call them: optimised and made machine code with the whole, not once by themselves too.

Numba compiles a function to the end before another one may call it, and then once more within each that it is copied to. Of what
stands several calls deep, all but the last time is for nothing: nobody calls it alone.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numba.core.compiler import Compiler  # type: ignore[import-not-found,import-untyped,unused-ignore]


class PartLibrary(JITCodeLibrary):  # type: ignore[misc,unused-ignore]
    """A function and those it calls, as they are linked into the library of a caller."""

    def _optimize_final_module(self) -> None:
        """Left to the caller."""

    def _finalize_final_module(self) -> None:
        """There is nothing to load: this never becomes machine code."""
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: nobody calls it from outside."""
        self._ensure_finalized()  # type: ignore[no-untyped-call,unused-ignore]
        return 0

    @property
    def codegen(self) -> Any:
        """Asked for to set the environment, which is loaded with the machine code."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Parts have no objects of Python in their environment."""


class PartCompiler(Compiler):  # type: ignore[misc,unused-ignore]
    """Numba's, with that library."""

    def define_pipelines(self) -> Any:
        """As before."""
        self.state.library = PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)  # type: ignore[no-untyped-call,unused-ignore]
        return super().define_pipelines()  # type: ignore[no-untyped-call,unused-ignore]

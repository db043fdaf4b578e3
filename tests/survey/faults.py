"""Faults of single rules of the checker, planted as another text of a function. Each says which family of pairs must notice it."""

from __future__ import annotations
import __future__

import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from verify.dossiers.written import ProgramDossier
from verify.programs import decisions, extraction, matches, output
from verify.programs.normal import Normalizer
from verify.rounding import join
from verify.rounding import output as rounded_output
from verify.rounding.candidates import Candidate, needed_margin
from verify.rounding.recurrence import RecurrenceTransfer


@dataclass(frozen=True)
class Fault:
    """family: the family that notices it, soon with this seed. A part of the function's text, and what stands there instead."""

    family: str
    function: Callable[..., Any]
    text: str
    other: str
    seed: int = 0

    def plant(self, patched: pytest.MonkeyPatch) -> None:
        """Gives the function the other text, wherever it was imported to. Raises ValueError if the part is not there once."""
        source = textwrap.dedent(inspect.getsource(self.function))
        source = source[source.index("def ") :]  # without `@property`
        if source.count(self.text) != 1:
            raise ValueError(f"{self.function.__qualname__} has not one {self.text!r}")
        flags = __future__.annotations.compiler_flag
        code = compile(source.replace(self.text, self.other), inspect.getfile(self.function), "exec", flags)
        planted: dict[str, Any] = {}
        exec(code, vars(sys.modules[self.function.__module__]), planted)
        patched.setattr(self.function, "__code__", planted[self.function.__name__].__code__)


PROGRAM_FAULTS = {
    "over_the_start": Fault(
        "back", Normalizer._one, "return self.position - steps - sum(early, ZERO)", "return self.position - steps"
    ),
    "small_wish_is_first": Fault("nearest", Normalizer._closest, "high <= 2", "high <= 3"),
    "other_branch": Fault(
        "nested",
        decisions.first_mismatch,
        "in ((True, due.then), (False, due.otherwise)):",
        "in ((True, due.then), (False, due.otherwise))[: 2 - (len(cases) > 3)]:",
        seed=2,
    ),
    "one_match_less": Fault("most_matches", matches.most_matches, "return min(", "return -1 + min("),
    "tie_is_won": Fault("ties", output._Logits._largest, "bounds(margin)[0] > 0", "bounds(margin)[0] >= 0"),
    "sign_too_late": Fault("cycles", extraction._turn, "* sign\n            sign *= turn", "* (sign := sign * turn)\n"),
}
CERTAIN = vars(Candidate)["certain"].fget
ROUNDING_FAULTS = {
    "logit_may_be_above": Fault("logits", rounded_output._refuse_cut, "bounds(logit)[0]", "bounds(logit)[1]"),
    "key_of_a_part_is_certain": Fault("means", CERTAIN, "self.whole and ", ""),
    "half_a_lead": Fault("keys", needed_margin, "ceiling(quotient(bits * ", "ceiling(quotient(bits // 2 * "),
    "no_sign": Fault("cycles", RecurrenceTransfer._shares_of_cycle, "any(sign < 0 for _, sign in cycle)", "False"),
    "all_is_joined": Fault(
        "positions", join._covers, "if b.position.low != b.position.high", "return True\n    if False"
    ),
}
UNASKED_N = Fault("", ProgramDossier.trial, "for n in (subject.n, ", "for n in (0, ")

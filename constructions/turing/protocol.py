"""What the modules of the wired machines offer, so that one command line and one set of claims serve them all.

A model is wired for one machine, one word on the tape and a number of steps. It reads the prompt, and writes what the machine
does, step by step; of its words alone, `read` makes a configuration.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from constructions.engines import Respond, no_response
from constructions.models.construction import Construction
from constructions.turing.machine import Machine
from constructions.turing.simulator import Configuration, Step
from constructions.wiring.finding import Finding
from constructions.wiring.wired import Wired
from precision.format import Discipline

MODELS = ("cot", "rag", "hybrid")
Tokens = NDArray[np.integer]


class TuringModel(Protocol):
    """A module of this package.

    One whose model searches has `surroundings(wired)` as well. One that is wired for a space takes `cells`, how many, as a keyword
    wherever it takes `steps`, and has `left_the_space(words)`: what to say of a run that ends there, "" otherwise. One that is
    made for long runs has `expected_tokens`, the words of `expected_sequence` as an array of their numbers.
    """

    FINDINGS: tuple[Finding, ...]
    CONSTRUCTION: Construction

    def build(
        self,
        machine: Machine,
        *,
        steps: int,
        tape: str,
        precision_bits: int | None = None,
        printed: Iterable[str] = (),
        discipline: Discipline = Discipline.FUSED,
    ) -> Wired:
        """The wired model. printed: ids of findings to put back. Raises ValueError, MachineError among them; one line each."""

    def least_precision(
        self, machine: Machine, *, steps: int, tape: str, discipline: Discipline = Discipline.FUSED
    ) -> int:
        """The least p of R_p for which the derivation of the weights holds."""

    def prompt(self, machine: Machine, *, steps: int, tape: str) -> list[str]:
        """What the model is given."""

    def expected_sequence(self, machine: Machine, *, steps: int, tape: str) -> list[str]:
        """Every word behind the prompt, search results included, by the simulator. It ends where the model may be stopped.

        If the machine halts within `steps` steps, the last word says so.
        """

    def read(self, words: Sequence[str]) -> Configuration:
        """What a prompt and the words behind it say, and nothing else."""

    def read_steps(self, words: Sequence[str]) -> Iterator[Step]:
        """Every step that is written in full."""

    def construction(self, machine: Machine, tape: str) -> Construction:
        """This construction for one machine and word; its n is the number of steps."""


def surroundings(model: TuringModel, wired: Wired) -> Respond:
    """What responds to the tokens of a model; to most, nobody does."""
    found: Callable[[Wired], Respond] | None = getattr(model, "surroundings", None)
    return no_response if found is None else found(wired)


def left_the_space(model: TuringModel, words: Sequence[str]) -> str:
    """Why a run ended early, in a line, if the model is wired for a space and the head would leave it; "" otherwise."""
    found: Callable[[Sequence[str]], str] | None = getattr(model, "left_the_space", None)
    return "" if found is None else found(words)


def expected_tokens(model: TuringModel, wired: Wired, machine: Machine, task: Mapping[str, Any]) -> Tokens:
    """The expected sequence in the numbers of a repaired model's vocabulary. task: its keywords."""
    found: Callable[..., Tokens] | None = getattr(model, "expected_tokens", None)
    if found is not None:
        return found(machine, **task)
    return np.array(wired.tokens(model.expected_sequence(machine, **task)), np.int64)


def there(model: str) -> bool:
    """Whether a model has its module."""
    return importlib.util.find_spec(f"constructions.turing.{model}") is not None


def find_model(model: str) -> TuringModel:
    """The module of a model that is there."""
    return cast(TuringModel, importlib.import_module(f"constructions.turing.{model}"))

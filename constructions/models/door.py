"""How callers come to a construction, the command and Python alike: from options to a solver, from what they write to an input.

Each `python -m constructions.NAME` has a door, `DOOR` in that module or package.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from constructions.models.model import Model
from constructions.models.solver import Request, Run
from constructions.wiring.wired import Wired
from precision.format import Discipline

Solver = TypeVar("Solver", bound=Model[Any, Any])
Input = TypeVar("Input")
Answer = TypeVar("Answer")


LONGEST_BITS = 128  # of a number that a message writes in digits
LARGEST_N = 1 << 20  # of a model that is wired: it has a row of weights for each number


class NoConstruction(ValueError):
    """No construction has this name, or no model; the message is one line that lists those that there are."""


@dataclass(frozen=True)
class Said:
    """What a run said. more: what only this construction says of its runs, as in its JSON."""

    chain_of_thought: Sequence[str]
    answer: str | None
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Domain:
    """The prompts that a model is for, as a sentence and as data.

    prompt: a regular expression in the syntax of Python's `re`. It fits the whole of a prompt, its words joined by single spaces;
    each word stands in the vocabulary. lengths: the fewest and the most tokens of a prompt.
    """

    sentence: str
    prompt: str
    lengths: tuple[int, int]


@dataclass(frozen=True)
class Door(Generic[Solver, Input, Answer]):
    """One construction. What it calls raises ValueError, with one line, for what it cannot take.

    models: the names of its models, the usual one first. solver(model, discipline, **options): the solver, and the n that it is to
    be wired for, None if that is left to the input. options: the keywords that `solver` takes, each with the largest number that
    fits into memory, None where it takes a text.
    read(solver, given, n): the input that a caller means, a text as the command takes it for one; None means the usual one.
    fitting(solver, input): the solver for inputs like this one, and the least n for it.
    examples(solver, wired, input): inputs to show beside the weights; input: one that was asked about, or None.
    limit(solver, wired): the most tokens behind a prompt, of all inputs; left out where those of the examples tell it.
    said(solver, run, answer): what a run said. about(solver): what tells it from other solvers of this construction.
    domain(solver, wired): the prompts that it is for. size: what callers call the n that a model is wired for.
    """

    name: str
    models: tuple[str, ...]
    solver: Callable[..., tuple[Solver, int | None]]
    options: Mapping[str, int | None]
    read: Callable[[Solver, object, int | None], Input]
    fitting: Callable[[Solver, Input], tuple[Solver, int]]
    examples: Callable[[Solver, Wired, Input | None], Iterable[Request]]
    said: Callable[[Solver, Run, Answer], Said]
    about: Callable[[Solver], Mapping[str, object]]
    domain: Callable[[Solver, Wired], Domain]
    size: str = "n"
    limit: Callable[[Solver, Wired], int] | None = None

    def model(self, name: str | None) -> str:
        """The usual model where none is named. Raises NoConstruction."""
        model_name = self.models[0] if name is None else name
        if model_name not in self.models:
            raise NoConstruction(f"{self.name} has no model {model_name!r}; it has {', '.join(self.models)}")
        return model_name

    def open(
        self, model: str | None, discipline: Discipline, options: Mapping[str, object]
    ) -> tuple[Solver, int | None]:
        """The solver with these options. Raises ValueError for a model or an option that there is none of."""
        model_name = self.model(model)
        if unknown := [name for name in options if name not in self.options]:
            raise ValueError(f"{self.name} has no option {unknown[0]!r}; it has {', '.join(self.options)}")
        for name, value in options.items():
            self.require(name, value)
        return self.solver(model_name, discipline, **options)

    def require(self, name: str, value: object) -> None:
        """Raises ValueError for a number beyond what fits into memory."""
        most = self.options.get(name)
        if isinstance(value, int) and most is not None and abs(value) > most:
            beyond = f"above {most:,}, the largest that is wired here" if value > 0 else "below 0"
            raise ValueError(f"{name} = {shown(value)} is {beyond}")

    def described(self, solver: Solver, wired: Wired) -> dict[str, object]:
        """What a sidecar says of this solver alone: `about`, and the domain of these weights."""
        domain = self.domain(solver, wired)
        as_printed = " With what is as printed, an answer may be wrong." if wired.printed else ""
        return {
            **self.about(solver),
            "domain": {
                "sentence": domain.sentence + as_printed,
                "size": {self.size: wired.n},
                "prompt": domain.prompt,
                "prompt_tokens": list(domain.lengths),
            },
        }


def shown(number: int) -> str:
    """A number in a message. Python refuses to write one of thousands of digits."""
    bits = number.bit_length()
    return f"{number:,}" if bits <= LONGEST_BITS else f"a number of {bits:,} bits"


def find_door(name: str) -> Door[Any, Any, Any]:
    """The door of a construction, which is imported only now. Raises NoConstruction."""
    package = __name__.partition(".")[0]
    module = f"{package}.{name}"
    if name.isidentifier() and importlib.util.find_spec(module) is not None:
        door = getattr(importlib.import_module(module), "DOOR", None)
        if door is not None:
            return cast("Door[Any, Any, Any]", door)
    from constructions.models.registry import find_constructions

    names = dict.fromkeys(item.construction.name for item in find_constructions())
    file = " (a construction is named, not its file)" if "." in name or "/" in name else ""
    raise NoConstruction(f"there is no construction {name[:40]!r}{file}; there are {', '.join(names)}")

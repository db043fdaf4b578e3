"""The way to the Turing machines for callers: machine, tape and steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from constructions.models.door import Door
from constructions.models.options import ModelOptions, option
from constructions.turing.base import TuringModel
from constructions.turing.cot import Cot
from constructions.turing.hybrid import TuringHybrid
from constructions.turing.library import LIBRARY, find
from constructions.turing.machine import LONGEST_QUOTE, Machine, parse_standard
from constructions.turing.pasted import Pasted, looks_like_a_machine, read_machine
from constructions.turing.rag import TuringRag
from constructions.turing.simulator import MOST_HISTORY

DEFAULT_STEPS = 1000
DEFAULT_MACHINE = "bb2"


@dataclass(frozen=True)
class TuringOptions(ModelOptions):
    """machine: in the standard text format. tape: the word on it. cells: how many there are; by default the model chooses them."""

    machine: str = option(
        str(find(DEFAULT_MACHINE).machine),
        "rules as 1RB1LB_1LA1RZ, a name of the library, or a file",
        is_required=True,
        phrase="{}",
    )
    tape: str = option(
        "", "symbols from the head's cell to the right (default: none; a name's own example)", phrase="on {}"
    )
    cells: int | None = option(
        None,
        "the space, with the word in its middle (default: for cot, 16 on both sides of the word; "
        "for hybrid, as far as the steps reach)",
        most=MOST_HISTORY,
        models=("cot", "hybrid"),
        phrase="{} cells",
    )

    @property
    def rules(self) -> Machine:
        """The machine."""
        return parse_standard(self.machine)

    def take(self, values: Mapping[str, Any], *, files: bool = False) -> Self:
        """Raises CommandError, ValueError."""
        machine, tape = values.get("machine"), values.get("tape")
        if not isinstance(machine, str | Machine | None):
            raise ValueError(f"a machine is a text as 1RB1LB_1LA1RZ, or a Machine, not {machine!r}")
        if not isinstance(tape, str | None):
            raise ValueError(f"a tape is a text of symbols as 0110, not {tape!r}")
        text = DEFAULT_MACHINE if machine is None else str(machine)
        rules, word, _ = machine_of(text, tape, files=files)
        return replace(self, **{**values, "machine": str(rules), "tape": word})


def machine_of(text: str, tape: str | None, *, files: bool = True) -> tuple[Machine, str, str]:
    """Returns the machine that a text means, its word, and what was renamed while it was read.

    text: a name of the library, whose own example is the word if there is no other; rules; or, if `files`, a file, `-` for
    standard input. Raises CommandError, ValueError.
    """
    if text in {named.name for named in LIBRARY}:
        return *_name(text, tape), ""
    pasted = _of_file(text) if files and (text == "-" or _is_file(text)) else _of_rules(text)
    word = pasted.tape(tape)
    pasted.machine.word(word)
    return pasted.machine, word, pasted.note


def _name(name: str, tape: str | None) -> tuple[Machine, str]:
    named = find(name)
    named.machine.word(tape or "")
    if tape is not None and not re.fullmatch(named.accepts, tape):
        raise ValueError(
            f"--tape {tape!r}: {name} wants {named.wants}; on any other tape its rules run as --machine {named.machine}"
        )
    return named.machine, named.example if tape is None else tape


def _of_rules(text: str) -> Pasted:
    if not looks_like_a_machine(text):
        names = ", ".join(named.name for named in LIBRARY)
        raise ValueError(
            f"{text[:LONGEST_QUOTE]!r} is no file and no machine of the library, which has {names};"
            " rules are written as in 1RB1LB_1LA1RZ"
        )
    return read_machine(text)


def _of_file(text: str) -> Pasted:
    from constructions.show import cli

    with cli.usage_errors("" if text == "-" else f"{text}: "):
        return read_machine(cli.read_text(text, "a machine"))


def _is_file(text: str) -> bool:
    """Returns whether a path is a file or a pipe; a folder is neither."""
    try:
        return Path(text).exists() and not Path(text).is_dir()
    except (OSError, ValueError):  # too long for a name, say
        return False


MODELS: Mapping[str, TuringModel] = {"hybrid": TuringHybrid(), "rag": TuringRag(), "cot": Cot()}
DOOR = Door("turing", MODELS, TuringOptions(), most=MOST_HISTORY, usual_size=DEFAULT_STEPS)

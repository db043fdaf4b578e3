"""The way to the Turing machines for callers: machine, tape and steps."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from constructions.models.door import Door
from constructions.turing.base import TuringModel
from constructions.turing.library import LIBRARY, find
from constructions.turing.machine import LONGEST_QUOTE, Machine
from constructions.turing.models import MODELS
from constructions.turing.pasted import Pasted, looks_like_a_machine, read_machine
from constructions.turing.simulator import MOST_HISTORY
from precision.format import Discipline

DEFAULT_STEPS = 1000


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


def _model_of(
    model: str,
    discipline: Discipline,
    *,
    machine: str | Machine | None = None,
    tape: str | None = None,
    steps: int = DEFAULT_STEPS,
    cells: int | None = None,
) -> tuple[TuringModel, int]:
    if machine is None:
        raise ValueError('turing needs a machine, as in machine="1RB1LB_1LA1RZ"')
    if not isinstance(machine, str | Machine):
        raise ValueError(f"a machine is a text as 1RB1LB_1LA1RZ, or a Machine, not {machine!r}")
    if not isinstance(tape, str | None):
        raise ValueError(f"a tape is a text of symbols as 0110, not {tape!r}")
    if isinstance(machine, Machine):
        rules, word = machine, tape or ""
        rules.word(word)
    else:
        rules, word, _ = machine_of(machine, tape, files=False)
    return replace(MODELS[model], machine=rules, tape=word, cells=cells), steps


CONSTRUCTIONS = tuple(MODELS.values())
DOOR = Door(
    name="turing",
    models=("hybrid", "rag", "cot"),
    model_of=_model_of,
    options={"machine": None, "tape": None, "steps": MOST_HISTORY, "cells": MOST_HISTORY},
)

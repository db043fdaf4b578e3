"""The way to the Turing machines for callers: machine, tape and steps, what a run said, the worked example."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import cast

from constructions.models.door import Domain, Door, Said
from constructions.models.solver import Request, Run
from constructions.turing.base import HALT, TuringModel
from constructions.turing.library import LIBRARY, find
from constructions.turing.machine import DIGITS, LONGEST_QUOTE, Machine
from constructions.turing.models import MODELS
from constructions.turing.pasted import Pasted, looks_like_a_machine, read_machine
from constructions.turing.simulator import MOST_HISTORY, Configuration
from constructions.wiring.wired import Wired
from precision.format import Discipline

DEFAULT_STEPS = 1000
EXAMPLE_WORDS = 250  # of a run, as a worked example beside the weights


def resolved(text: str, tape: str | None, *, files: bool = True) -> tuple[Machine, str, str]:
    """The machine that a text means, its word, and what was renamed while it was read.

    text: a name of the library, whose own example is the word if there is no other; rules; or, if `files`, a file, `-` for
    standard input. Raises CommandError, ValueError.
    """
    if text in {named.name for named in LIBRARY}:
        return *_named(text, tape), ""
    pasted = _of_file(text) if files and (text == "-" or _is_file(text)) else _of_rules(text)
    word = pasted.tape(tape or "")
    pasted.machine.word(word)
    return pasted.machine, word, pasted.note


def _named(name: str, tape: str | None) -> tuple[Machine, str]:
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
    """A pipe is one too, a folder is none."""
    try:
        return Path(text).exists() and not Path(text).is_dir()
    except (OSError, ValueError):  # too long for a name, say
        return False


def _solver(
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
    if isinstance(machine, Machine):
        rules, word = machine, tape or ""
        rules.word(word)
    else:
        rules, word, _ = resolved(machine, tape, files=False)
    return replace(MODELS[model], machine=rules, tape=word, cells=cells), steps


def _read(model: TuringModel, given: object, n: int | None) -> int:
    steps = n if given is None else given
    if not isinstance(steps, int) or steps < 0:
        raise ValueError(
            f"a run is asked for by its number of steps, not by {given!r}; machine and tape are those loaded"
        )
    if n is not None and steps > n:
        raise ValueError(f"{steps} steps; this model is wired for {n} at most")
    return steps


def examples(model: TuringModel, wired: Wired, given: int | None = None) -> Iterator[Request]:
    """How a repaired run begins."""
    if not wired.printed:
        fixed = model.has_space and model.cells is None  # its space is that of all its steps
        request = model.request(
            wired, wired.n if fixed else min(wired.n, EXAMPLE_WORDS)
        )  # no step has less than a word
        guess = request.guess[:EXAMPLE_WORDS]
        yield replace(request, guess=guess, limit=len(guess))


def _limit(model: TuringModel, wired: Wired) -> int:
    """The words that the longest text leaves for a run which does not halt. Of hybrid and rag; a cot's text has no end by steps."""
    return cast(int, wired.model.longest) - len(model.prompt(wired.n))


def said(model: TuringModel, run: Run, answer: Configuration) -> Said:
    """The words, HALT if they end with it, and the configuration that they tell of."""
    produced = run.produced
    halted = produced[-1:] == [HALT]  # by itself
    stopped = {
        "halted": answer.halted,
        "steps": answer.steps,
        "state": answer.state,
        "head": answer.head,
        "nonblank": answer.nonblank,
        "tape": answer.tape,
    }
    return Said(produced[: len(produced) - halted], HALT if halted else None, stopped)


def _about(model: TuringModel) -> Mapping[str, object]:
    named = {"model": model.construction.model, "machine": str(model.machine), "tape": model.tape}
    return named if model.cells is None else {**named, "cells": model.cells}


def _domain(model: TuringModel, wired: Wired) -> Domain:
    """The weights are the same for all words of one length on the tape, and so is the prompt but for their symbols."""
    machine, prompt = model.machine, model.prompt(wired.n)
    symbols = DIGITS[: machine.symbols]

    def like(word: str) -> str:
        head = word[:-1] if word[-1] in symbols else word
        return re.escape(head) + (f"[{symbols}]" if head != word else "")

    start, *others = map(like, prompt)
    places = "".join(f"(?: {word}){{{len(list(same))}}}" for word, same in groupby(others))
    word = f"a word of {len(model.tape)} symbols on the tape"
    if prompt[1:] == list(model.tape):
        shape = f"{start} and {word}, the head's cell first" if model.tape else f"{start} alone: the tape is blank"
    else:
        shape = (
            f"a configuration of {len(prompt) - 2} cells between {start} and {prompt[-1]}, of {word} in their middle"
        )
    sentence = f"A prompt is {shape}. The model is for the first {wired.n} steps: more need one that is wired for them, by --steps."
    return Domain(sentence, start + places, (len(prompt), len(prompt)))


DOOR = Door[TuringModel, int, Configuration](
    name="turing",
    models=("hybrid", "rag", "cot"),
    solver=_solver,
    options={"machine": None, "tape": None, "steps": MOST_HISTORY, "cells": MOST_HISTORY},
    read=_read,
    fitting=lambda model, steps: (model, steps),
    examples=examples,
    said=said,
    about=_about,
    domain=_domain,
    size="steps",
    limit=_limit,
)

"""`python -m constructions.turing`: let a wired model run a Turing machine, show what it does, dump its weights."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from constructions.engines import Decode, Decoded, Tick, by_block_and_head, no_response
from constructions.models.construction import Example
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.columns import report_columns
from constructions.show.run import run_document, worked_examples
from constructions.turing.library import LIBRARY, find
from constructions.turing.machine import LONGEST_QUOTE, Machine
from constructions.turing.pasted import looks_like_a_machine, read_machine
from constructions.turing.protocol import (
    MODELS,
    Tokens,
    TuringModel,
    expected_tokens,
    find_model,
    left_the_space,
    surroundings,
    there,
)
from constructions.turing.show import outcome, print_steps
from constructions.turing.simulator import MOST_HISTORY, Configuration, simulate_fast
from constructions.turing.tape_models import HALT
from constructions.wiring.wired import Wired
from precision.format import Discipline

DEFAULT_STEPS = 1000
MOST_WORDS = 2000  # that are printed for people
EXAMPLE_WORDS = 250  # of a run, as a worked example beside the weights

EPILOG = """\
examples:
  {prog} --machine 1RB1LB_1LA1RZ --model hybrid
  {prog} --machine bb4 --model rag --trace
  {prog} --machine bb4 --model hybrid --cells 21
  {prog} --machine palindrome --tape 12321 --model hybrid --json
  {prog} --machine 1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA --steps 100000 --engine indexed --model hybrid
  {prog} --machine bb2 --steps 10 --model rag --dump-weights
  {prog} --machine bb2 --steps 10 --model rag --dump-weights rag.safetensors

machines:
  The standard text format, a file with it or with a table (`A 0 -> 1 R B` on each line, or `state read write move newstate` as
  Turing machine simulators have it), - for standard input, or one of
{machines}
  State A starts on cell 0, symbol 0 is the blank, Z and every other letter without a row halts, and so does ---, as 1RZ.

models:
{models}

findings, for --printed:
{findings}

engines:
  `reference` and `incremental` decode token by token. `indexed` and `dense` check whole runs: what the simulator expects is fed
  behind the prompt, and where each argmax is the next word, decoding gives the same. `auto` takes the one that is fastest here.

exit codes:
  0  the model does what the machine does, whether it halts within --steps or not
  1  refuted: it does something else; stderr says what was expected
  2  usage: something is wrong with the input, it needs more space than --cells or more memory than there is, or the output cannot
     be written
  3  unknown: interrupted
"""


Task = Mapping[str, Any]
"""steps, tape and perhaps cells, as the modules of the models take them."""


@dataclass(frozen=True)
class _Run:
    """All words, the prompt's first. deviation: how they differ from what the simulator expects. decoded: how they came about."""

    words: Sequence[str]
    prompt: int  # how many of them are the prompt's
    deviation: str
    decoded: Decoded

    @property
    def halted(self) -> bool:
        """Whether the model has stopped by itself."""
        return len(self.words) > self.prompt and self.words[-1] == HALT


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    prog = "python -m constructions.turing"
    return cli.run_command(prog, lambda given: _command(prog, given), argv)


def _parser(prog: str) -> Parser:
    models = [find_model(name).CONSTRUCTION for name in MODELS if there(name)]
    epilog = EPILOG.format(
        prog=prog,
        machines="\n".join(f"    {named.name:<11} {named.does}; wants {named.wants}" for named in LIBRARY),
        models=options.list_models(models),
        findings=options.list_findings(models),
    )
    parser = Parser(prog, "Runs a Turing machine by a wired model.", epilog)
    add = parser.add_argument
    add("--machine", metavar="MACHINE", help="as 1RB1LB_1LA1RZ, or a file, or a name; see below")
    add(
        "--tape", metavar="WORD", help="symbols from the head's cell to the right (default: none; a name's own example)"
    )
    add("--steps", type=cli.whole_number(0, MOST_HISTORY), default=DEFAULT_STEPS, help=f"default: {DEFAULT_STEPS}")
    add(
        "--cells",
        type=cli.whole_number(1, MOST_HISTORY),
        help="for cot and hybrid: the space, with the word in its middle (default: for cot, 16 on both sides of the word; "
        "for hybrid, as far as the steps reach)",
    )
    options.add_model(parser, models, "hybrid", fits="the steps")
    options.add_engine(parser)
    add("--trace", action="store_true", help="show the tape after each step, as the model's words tell it")
    options.add_output(parser, instead=", run nothing")
    return parser


def _command(prog: str, argv: Sequence[str]) -> int:
    args = _parser(prog).parse_args(cli.attach_negative_values(argv, ("--steps", "--precision", "--tape", "--machine")))
    _check(args)
    machine, tape = _machine(args)
    task = {"steps": args.steps, "tape": tape} | ({} if args.cells is None else {"cells": args.cells})
    model, decode = find_model(args.model), options.engine(args)
    with cli.progress(f"wiring {args.steps:,} steps"), cli.usage_errors():
        wired = model.build(
            machine,
            **task,
            precision_bits=args.precision,
            printed=options.findings(args, model.CONSTRUCTION),
            discipline=Discipline(args.discipline),
        )
    if args.dump_weights is not None:
        about = model.construction(machine, **{key: value for key, value in task.items() if key != "steps"})
        extra = {"model": args.model, "machine": str(machine), "tape": tape}
        options.dump_weights(args, about, wired, _examples(model, wired, machine, task), extra)
        return cli.HOLDS
    run = _run(args, model, wired, machine, task, decode)
    end = _report(args, model, wired, run, machine.word(tape))
    if wrong := run.deviation or _difference(args, model, machine, tape, run, end):
        cli.say(f"{prog}: refuted: {wrong}")
        return cli.REFUTED
    if why := left_the_space(model, run.words):
        raise CommandError(f"{why}; a larger one needs --cells")
    return cli.HOLDS


def _check(args: argparse.Namespace) -> None:
    """What can be said before any work. Raises CommandError."""
    if args.machine is None:
        raise CommandError("nothing to do; give a --machine (see --help)")
    if args.dump_weights is not None and args.trace:
        raise CommandError("--trace shows a run; --dump-weights runs nothing")
    if args.cells is not None and args.model == "rag":
        raise CommandError("--cells is for the models cot and hybrid; rag has all cells that --steps can reach")
    if args.json and args.trace:
        raise CommandError("--json prints one document; leave out --trace, the words are in it")
    options.check(args)


def _machine(args: argparse.Namespace) -> tuple[Machine, str]:
    """The machine and its word. Raises CommandError."""
    text, tape = str(args.machine), args.tape
    with cli.usage_errors():
        if text in {named.name for named in LIBRARY}:
            named = find(text)
            named.machine.word(tape or "")
            if tape is not None and not re.fullmatch(named.accepts, tape):
                raise CommandError(
                    f"--tape {tape!r}: {text} wants {named.wants}; on any other tape its rules run as --machine {named.machine}"
                )
            return named.machine, named.example if tape is None else tape
        is_file = text == "-" or _is_file(text)
        if not is_file and not looks_like_a_machine(text):
            names = ", ".join(named.name for named in LIBRARY)
            raise CommandError(
                f"{text[:LONGEST_QUOTE]!r} is no file and no machine of the library, which has {names};"
                " rules are written as in 1RB1LB_1LA1RZ"
            )
        found = read_machine(cli.read_text(text, "a machine") if is_file else text)
        tape = found.tape(tape or "")
        found.machine.word(tape)
    if found.note:
        cli.say(found.note)
    return found.machine, tape


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, say
        return False


def _run(
    args: argparse.Namespace, model: TuringModel, wired: Wired, machine: Machine, task: Task, decode: Decode
) -> _Run:
    prompt = wired.tokens(model.prompt(machine, **task))
    # Searches as printed find other words, which the vocabulary may lack: there is no guess then, only a limit.
    expected = None if wired.printed else expected_tokens(model, wired, machine, task)
    limit = len(model.expected_sequence(machine, **task) if expected is None else expected)
    respond = surroundings(model, wired)
    with cli.progress("running", len(prompt) + limit) as tick:
        if (
            respond is no_response
            and expected is not None
            and _by_indexed(args.engine, wired, len(prompt), len(expected))
        ):
            produced, decoded = _followed(wired, prompt, expected, tick)
        else:
            guess = [] if expected is None else expected.tolist()
            stop = {wired.token[HALT]} if HALT in wired.token else set()
            decoded = decode(
                wired.model, wired.arithmetic, prompt, stop, limit, guess=guess, respond=respond, tick=tick
            )
            produced = np.array(decoded.produced, np.int64)
    report_columns(wired, decoded.uncertified)
    options.say_engine(args, decoded)
    words = wired.spelled(np.concatenate([np.array(prompt, produced.dtype), produced]))
    deviation = "" if expected is None else _deviation(wired, produced, expected)
    return _Run(words, len(prompt), deviation, decoded)


def _by_indexed(engine: str, wired: Wired, prompt: int, expected: int) -> bool:
    """Whether --engine, or what it chooses, is `indexed`, which follows a run without keeping all of it."""
    if engine != "auto":
        return engine == "indexed"
    from constructions.engines.auto import choose

    return choose(wired.model, wired.arithmetic, prompt, expected, expected) == "indexed"


def _followed(wired: Wired, prompt: list[int], expected: Tokens, tick: Tick) -> tuple[Tokens, Decoded]:
    """What the model writes, as far as it is what is expected, and the first other token. A run may be of any length."""
    from constructions.engines import indexed

    first, followed = indexed.first_mismatch(wired.model, wired.arithmetic, prompt, expected, tick=tick)
    produced = expected if followed.written is None else np.append(expected[:first], followed.written)
    return produced, Decoded([], None, "indexed", uncertified=by_block_and_head(followed.columns.dense_by_head))


def _deviation(wired: Wired, produced: Tokens, expected: Tokens) -> str:
    if produced is expected:
        return ""
    both = min(len(produced), len(expected))
    wrong = np.flatnonzero(produced[:both] != expected[:both])
    if len(wrong):
        word, right = (wired.vocabulary[tokens[wrong[0]]] for tokens in (produced, expected))
        return f"word {wrong[0] + 1} behind the prompt is {word}; the machine's run has {right}"
    if len(produced) != len(expected):
        return f"the model wrote {len(produced)} words behind the prompt; the machine's run has {len(expected)}"
    return ""


def _difference(
    args: argparse.Namespace, model: TuringModel, machine: Machine, tape: str, run: _Run, said: Configuration
) -> str:
    """How what the words say differs from where the machine is, in a sentence; "" if it does not."""
    is_so = simulate_fast(machine, tape, said.steps if left_the_space(model, run.words) else args.steps)
    return "" if said == is_so else f"the words say: {outcome(said)}; the machine: {outcome(is_so)}"


def _report(
    args: argparse.Namespace, model: TuringModel, wired: Wired, run: _Run, word: Sequence[int]
) -> Configuration:
    """Prints the run; returns where it ends, as its words say."""
    end = model.read(run.words)
    if args.json:
        stopped = {
            "halted": end.halted,
            "steps": end.steps,
            "state": end.state,
            "head": end.head,
            "nonblank": end.nonblank,
            "tape": end.tape,
        }
        prompt, chain = run.words[: run.prompt], run.words[run.prompt : len(run.words) - run.halted]
        answer = HALT if run.halted else None
        cli.write_json(run_document(args, wired, prompt, chain, answer, run.decoded, stopped))
    elif args.trace:
        print_steps(cli.console(), word, model.read_steps(run.words), end)
    else:
        print(*run.words[run.prompt : run.prompt + MOST_WORDS])
        if (more := len(run.words) - run.prompt - MOST_WORDS) > 0:
            print(f"… {more:,} more words")
        print(outcome(end))
    return end


def _examples(model: TuringModel, wired: Wired, machine: Machine, task: Task) -> Iterator[Example]:
    """How a repaired run begins, with what these weights make of it; nothing is expected of them where a search responds."""
    if wired.printed:
        return
    prompt = wired.tokens(model.prompt(machine, **task))
    few = {**task, "steps": min(task["steps"], EXAMPLE_WORDS)}  # no step has less than a word
    guess = wired.tokens(model.expected_sequence(machine, **few)[:EXAMPLE_WORDS])
    stop = {wired.token[HALT]} if HALT in wired.token else set()
    yield from worked_examples(wired, [(prompt, guess)], stop, len(guess), surroundings(model, wired))


if __name__ == "__main__":
    sys.exit(main())

"""`python -m constructions.turing`: let a wired model run a Turing machine, show what it does, dump its weights."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from constructions.models.request import Run
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.command import Command, Job
from constructions.show.run import run_document
from constructions.turing.base import TuringModel
from constructions.turing.door import DEFAULT_STEPS, DOOR, machine_of
from constructions.turing.library import LIBRARY
from constructions.turing.show import outcome, print_steps
from constructions.turing.simulator import MOST_HISTORY, Configuration

if TYPE_CHECKING:
    from constructions.show.page import Page
    from constructions.show.trace import Trace

MOST_WORDS = 2000  # that are printed for people
MOST_STEPS_LISTED = 1_000_000  # in a document, which has 60 bytes and more of each step's words

EPILOG = """\
examples:
  {prog} --machine 1RB1LB_1LA1RZ --model hybrid
  {prog} --machine bb4 --model rag --trace
  {prog} --machine bb4 --model hybrid --html tape.html
  {prog} --machine bb4 --model hybrid --cells 21
  {prog} --machine palindrome --tape 12321 --model hybrid --json
  {prog} --machine 1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA --steps 100000 --engine incremental --model hybrid
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
  `reference`, `native` and `incremental` decode token by token. `dense` checks a whole run: what the simulator expects is fed
  after the prompt, and where each argmax is the next word, decoding gives the same. `auto` takes the one that is fastest here.

""" + options.exit_codes(
    "the model does what the machine does, whether it halts within --steps or not",
    "it does something else; stderr says what was expected",
    needs="more space than --cells or more memory than there is",
)


def _parser(prog: str) -> Parser:
    parser = Parser(prog, "Runs a Turing machine by a wired model.", partial(_epilog, prog))
    add = parser.add_argument
    add(
        "--steps",
        type=cli.whole_number(0, MOST_HISTORY),
        help=f"the most steps of a run, which the model is wired for (default: {DEFAULT_STEPS}; with --export there is none)",
    )
    options.add_model(parser, DOOR, fits="the steps")
    options.add_engine(parser)
    options.add_trace(parser, "show the tape after each step, as the model's words tell it")
    options.add_output(parser, instead=", run nothing")
    return parser


def _epilog(prog: str) -> str:
    return EPILOG.format(
        prog=prog,
        machines="\n".join(f"    {named.name:<11} {named.does}; wants {named.wants}" for named in LIBRARY),
        models=options.list_models(DOOR),
        findings=options.list_findings(DOOR),
    )


def _job(args: argparse.Namespace) -> Job[TuringModel, int]:
    _check(args)
    with cli.usage_errors():
        machine, args.tape, note = machine_of(args.machine, args.tape)
    if note:
        cli.say(note)
    args.machine = str(machine)
    model = options.open_model(args, DOOR)
    args.steps = DEFAULT_STEPS if args.steps is None else args.steps
    given = None if options.writes_model(args) else args.steps
    return Job(args, model, args.steps, given)


def _report(job: Job[TuringModel, int], run: Run, answer: Configuration, trace: Trace | None) -> None:
    model, produced = job.model, run.produced
    if job.args.json:
        has = model.run_answer(run, answer)
        cli.write_json(run_document(run, job.args.model, has.chain_of_thought, has.answer, has.more))
    elif job.args.trace:
        from constructions.show.terminal import console

        print_steps(console(), model.machine.word(model.tape), model.read_steps(run.words), answer)
    else:
        print(*produced[:MOST_WORDS])
        if (more := len(produced) - MOST_WORDS) > 0:
            print(f"… {more:,} more words")
        print(outcome(answer))


def _page(job: Job[TuringModel, int], run: Run, answer: Configuration) -> Page:
    from constructions.show.page import Page
    from constructions.turing.scene import TapeScene

    scene = TapeScene(job.model, run.words, len(run.prompt))
    verdict = f"state {answer.state} after {answer.steps} machine step{'s' * (answer.steps != 1)}"
    return Page(
        f"The machine {job.model.machine}", verdict, f"wired for {job.n:,} machine steps", scene.document(), scene.says
    )


def _unfinished(job: Job[TuringModel, int], run: Run) -> str:
    why = job.model.left_the_space(run.words)
    return why and f"{why}; a larger one needs --cells"


def _check(args: argparse.Namespace) -> None:
    """Checks what can be said before any work. Raises CommandError."""
    if args.machine is None:
        raise CommandError("nothing to do; give a --machine (see --help)")
    if args.export is not None and args.steps is None:
        raise CommandError("--export needs --steps, the most steps of the runs that the model is to be for")
    if args.json and args.trace:
        raise CommandError("--json prints one document; leave out --trace, the words are in it")
    if args.json and not options.writes_model(args) and (args.steps or 0) > MOST_STEPS_LISTED:
        raise CommandError(
            f"--json lists every word of a run: at most {MOST_STEPS_LISTED:,} --steps, not {args.steps:,}"
        )
    options.check(args, runs=not options.writes_model(args))


COMMAND = Command(
    "python -m constructions.turing",
    _parser,
    _job,
    _page,
    _report,
    keeps=lambda args: False,  # what is traced is the words alone
    signed=("--steps", "--precision", "--tape", "--machine"),
    sizes="{:,} steps",
    unfinished=_unfinished,
)
main = COMMAND.main


if __name__ == "__main__":
    sys.exit(main())

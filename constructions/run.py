"""`python -m constructions run`: compiles a program to weights, and runs them on an input; the same of a model wired by hand."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from constructions.language.files import load_model, names_of_gallery
from constructions.language.functions import FunctionError
from constructions.language.model import VARIANT, ProgramModel, Prompt
from constructions.language.program import ARCHITECTURES
from constructions.models.door import LARGEST_N
from constructions.models.request import Run
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.command import Command, Job

if TYPE_CHECKING:
    from constructions.language.handwired import HandWired
    from constructions.show.page import Page

PROG = "python -m constructions run"
DEFAULT_N = 12  # of a dump without an input
DESCRIPTION = """Compiles a program to exact weights and runs them on an input under p-bit rounding. The program is one of the
gallery, or one's own: FILE.py, or FILE.py:NAME where a file has several. A file may also wire the blocks itself, and the program
is their definition (docs/by-hand.md). Prints the chain of thought, if there is one, and the answer."""
EPILOG = f"""\
examples:
  {PROG} induction "3 1 4 1 5 3"
  {PROG} mine.py "1 2 3"                          a file of one's own
  {PROG} mine.py:second "1 2 3" --trace           one of several programs of a file
  {PROG} induction "2 7 2" --html run.html        a page to step through
  {PROG} trigram "5 2 5 9 ? 2 5" --model hybrid   recurrences and one block with heads
  {PROG} induction --n 16 --dump-weights w.safetensors
  {PROG} induction --n 8 --export torch model.pt2

gallery:
  {", ".join(names_of_gallery())}

input:
  Tokens with spaces between them; n bounds numbers and how often a piece of a text repeats, by default the least that fits.
  python -m verify.theorem FILE.py --all-n asks whether the weights are the program, for every input of every n.

""" + options.exit_codes(
    "the model's answer is that of the program's oracle",
    "it is another one; stderr says what was expected",
    given="the file or the input",
)


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns its exit code."""
    args = _parser(PROG).parse_args(cli.attach_negative_values(argv, SIGNED))
    if args.program is None:
        raise CommandError(f"name a program: FILE.py, or one of {', '.join(names_of_gallery())}")
    with cli.usage_errors():
        model = load_model(args.program)
        model = model.as_model(args.model or model.model)
    return _run(PROG, model, partial(_parser, variant=model.variant), args.program, argv)


def main_of(model: HandWired, argv: Sequence[str] | None = None) -> int:
    """Runs the command of one model, `python -m constructions.NAME`; returns its exit code."""
    name = model.program.name
    prog = f"python -m constructions.{name}"
    parser = partial(_parser_of, model)
    return cli.run_command(prog, lambda given: _run(prog, model, parser, name, given), argv)


def _run(prog: str, model: ProgramModel, parser: Callable[[str], Parser], name: str, argv: Sequence[str]) -> int:
    command = Command[ProgramModel, Prompt, str](
        prog,
        parser,
        partial(_job, model),
        _page,
    )
    try:
        return command.run(argv)
    except FunctionError as error:
        raise CommandError(f"{name}: {error}") from error


SIGNED = ("--n", "--precision")


class _Mixed(Parser):
    """Options may stand between the program and its input."""

    def parse_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parses arguments as argparse does, whose default ends the input before the first option."""
        return self.parse_intermixed_args(args, namespace)


def _parser(prog: str, variant: str = VARIANT) -> Parser:
    parser = _Mixed(prog, DESCRIPTION, EPILOG)
    add = parser.add_argument
    add("program", nargs="?", metavar="PROGRAM", help="FILE.py, FILE.py:NAME, or one of the gallery, see below")
    add(
        "--model", choices=ARCHITECTURES, help="the architecture (default: that of the program, most often transformer)"
    )
    return _with_input(parser, variant)


def _parser_of(model: HandWired, prog: str) -> Parser:
    program = model.program
    examples = "".join(f'\n  {prog} "{example}"' for example in program.examples)
    parser = Parser(prog, f"{program.statement} Asks a wired model.", f"examples:{examples}")
    parser.add_argument("--model", choices=[model.model], default=model.model, help=f"default: {model.model}")
    options.add_options(parser, model.options)
    return _with_input(parser, model.variant)


def _with_input(parser: Parser, variant: str) -> Parser:
    add = parser.add_argument
    add("input", nargs="*", metavar="INPUT", help="the tokens of a prompt, without <s>; - is standard input")
    add("--n", type=cli.whole_number(1, LARGEST_N), help=f"default: the least for the input, or {DEFAULT_N}")
    options.add_arithmetic(parser)
    parser.set_defaults(variant=variant, printed=None)
    options.add_engine(parser)
    options.add_trace(parser, "show what every head attends to and what every block writes")
    options.add_output(parser)
    return parser


def _job(model: ProgramModel, args: argparse.Namespace) -> Job[ProgramModel, Prompt]:
    model = options.open_model(args, model.door)
    text = " ".join(args.input)
    asks = bool(args.input)
    if text == "-":
        text = cli.read_text("-", "an input")
    options.check(args, runs=asks, needs=f"an input, such as {model.program.examples[0]!r}")
    if not asks:
        return Job(args, model, args.n or DEFAULT_N, None)
    with cli.usage_errors():
        prompt = model.read_input(text, None)
    n = args.n or prompt.least_n
    if prompt.least_n > n:
        raise CommandError(f"this input needs n = {prompt.least_n:,}, and --n is {n:,}")
    if n > LARGEST_N:
        raise CommandError(f"this input needs n = {n:,}; the largest that is wired here is {LARGEST_N:,}")
    return Job(args, model, n, prompt)


def _page(job: Job[ProgramModel, Prompt], run: Run, answer: str) -> Page:
    from constructions.show.page import Page

    program = job.model.program
    return Page(program.statement or program.name, answer, f"n = {run.request.wired.n}")

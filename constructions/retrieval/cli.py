"""`python -m constructions.index`, `.recall`, `.ngram`, `.counting`: ask a wired model, show what it does, dump its weights."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from constructions.models.door import LARGEST_N, Door
from constructions.models.request import Run
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import Question
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.command import Command, Job

if TYPE_CHECKING:
    from constructions.show.page import Page

DEFAULT_N = 12  # of a dump without a question

EPILOG = """\
examples:
  {prog} "{example}"
  {prog} --n 20 --engine dense --json "{example}"
  {prog} --model rag "{example}"
  {prog} --model hybrid --trace "{example}"
  {prog} --html {name}.html "{example}"
  printf '5 2 5 9' | {prog} --sequence - "? {query}"
  {prog} --n 16 --dump-weights
  {prog} --n 16 --dump-weights {name}.safetensors

prompts:
  The sequence, `?`, and the query: {asks}. Tokens are numbers from 1{zero}.
  A file of --sequence holds numbers with spaces or line ends between them, `#` starts a comment; it may hold `?` and the query too.
  n bounds the numbers and the length of the sequence; it is the least that fits unless --n is given.

models:
{models}

findings, for --printed:
{findings}

""" + options.exit_codes("the model's answer is right", "it is another one; stderr says what was expected")


def main(door: Door[Retriever], argv: Sequence[str] | None = None) -> int:
    """Runs the command of one task; returns its exit code."""
    command = Command[Retriever, Question, str](
        f"python -m constructions.{door.name}", partial(_parser, door), partial(_job, door), _page, running="reading"
    )
    return command.main(_prompt_last(sys.argv[1:] if argv is None else argv))


def _parser(door: Door[Retriever], prog: str) -> Parser:
    task = door.wirings[door.models[0]].task
    epilog = EPILOG.format(
        prog=prog,
        name=task.name,
        example=task.example,
        query=task.example.partition("? ")[2],
        asks=task.asks,
        zero="; a threshold may be 0" if task.zero else "",
        models=options.list_models(door),
        findings=options.list_findings(door),
    )
    parser = Parser(prog, f"{task.statement} Asks a wired model.", epilog)
    add = parser.add_argument
    add(
        "prompt",
        nargs="?",
        metavar="PROMPT",
        help=f'the sequence, ? and the query, as "{task.example}"; - is standard input',
    )
    add(
        "--sequence",
        metavar="FILE",
        help='read the sequence from a file, - is standard input; PROMPT is the rest, as "? 5"',
    )
    add(
        "--n",
        type=cli.whole_number(1, LARGEST_N),
        help=f"bound of numbers and length (default: the least for the prompt, or {DEFAULT_N})",
    )
    options.add_model(parser, door)
    options.add_engine(parser)
    options.add_trace(parser, "show what every head attends to and what every block writes")
    options.add_output(parser)
    return parser


def _job(door: Door[Retriever], args: argparse.Namespace) -> Job[Retriever, Question]:
    if args.prompt == "-":
        if args.sequence is not None:
            raise CommandError("- and --sequence: give the sequence once")
        args.prompt, args.sequence = None, "-"
    asks = args.prompt is not None or args.sequence is not None
    options.check(args, runs=asks, needs="a prompt")
    retriever = options.open_model(args, door)
    question = _question(retriever, args) if asks else None
    n = args.n or (DEFAULT_N if question is None else question.least_n)
    if question is not None:
        retriever = replace(retriever, query_length=len(question.query))
    return Job(args, retriever, n, question)


def _page(job: Job[Retriever, Question], run: Run, answer: str) -> Page:
    from constructions.show.page import Page

    question, task = job.given, job.model.task
    if question is None:
        raise TypeError("there is no question")
    return Page(task.statement, answer, f"n = {run.request.wired.n}, {len(question.sequence)} tokens")


def _prompt_last(argv: Sequence[str]) -> list[str]:
    """Keeps a prompt from being taken for the path of --dump-weights, or for an option where it starts with a minus."""
    prompts = [a for a in argv if "?" in a and not a.startswith("--")]
    if len(prompts) != 1:
        return list(argv)
    return [*(a for a in argv if a is not prompts[0] and a != "--"), "--", prompts[0]]


def _question(retriever: Retriever, args: argparse.Namespace) -> Question:
    text = args.prompt or ""
    if args.sequence is not None:
        lines = cli.read_text(args.sequence, "a sequence").splitlines()
        text = " ".join([*(line.partition("#")[0] for line in lines), text])
    where = "" if args.sequence is None else "standard input: " if args.sequence == "-" else f"{args.sequence}: "
    with cli.usage_errors(where):
        question = retriever.task.parse(text)
    limit, what = (LARGEST_N, "the largest n that is wired here") if args.n is None else (args.n, "--n")
    if (largest := max((*question.sequence, *question.query))) > limit:
        raise CommandError(f"{where}{largest} is above {limit}, {what}")
    if len(question.sequence) > limit:
        raise CommandError(f"{where}the sequence has {len(question.sequence)} tokens, more than {limit}, {what}")
    return question

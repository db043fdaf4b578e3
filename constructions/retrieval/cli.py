"""`python -m constructions.index`, `.recall`, `.ngram`, `.counting`: ask a wired model, show what it does, dump its weights."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from constructions.models.construction import Construction, Example
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import Question
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.options import LARGEST_N
from constructions.show.run import Run, run_document, run_model, worked_examples
from constructions.show.trace import print_trace, trace_document
from constructions.wiring.wired import Wired
from precision.format import Discipline

DEFAULT_N = 12  # of a dump without a question
EXAMPLE_LENGTH = 40  # of the sequence in the longest worked example

EPILOG = """\
examples:
  {prog} "{example}"
  {prog} --n 20 --engine dense --json "{example}"
  {prog} --model rag "{example}"
  {prog} --model hybrid --trace "{example}"
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

exit codes:
  0  the model's answer is right
  1  refuted: it is another one; stderr says what was expected
  2  usage: something is wrong with the input, it needs more memory than there is, or the output cannot be written
  3  unknown: interrupted
"""


def main(retrievers: Sequence[Retriever], argv: Sequence[str] | None = None) -> int:
    """Runs the command of one task, solved by each of these models; returns its exit code."""
    prog = f"python -m constructions.{retrievers[0].task.name}"
    return cli.run_command(prog, lambda given: _command(prog, retrievers, given), argv)


def _parser(prog: str, retrievers: Sequence[Retriever]) -> Parser:
    task, models = retrievers[0].task, [retriever.construction() for retriever in retrievers]
    epilog = EPILOG.format(
        prog=prog,
        name=task.name,
        example=task.example,
        query=task.example.partition("? ")[2],
        asks=task.asks,
        zero="; a threshold may be 0" if task.zero else "",
        models=options.list_models(models),
        findings=options.list_findings(models),
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
    options.add_model(parser, models, models[0].model)
    options.add_engine(parser)
    add("--trace", action="store_true", help="show what every head attends to and what every block writes")
    options.add_output(parser)
    return parser


def _command(prog: str, retrievers: Sequence[Retriever], argv: Sequence[str]) -> int:
    parser = _parser(prog, retrievers)
    args = parser.parse_args(cli.attach_negative_values(_prompt_last(argv), ("--n", "--precision")))
    if args.prompt == "-":
        if args.sequence is not None:
            raise CommandError("- and --sequence: give the sequence once")
        args.prompt, args.sequence = None, "-"
    _check(args)
    (retriever,) = (r for r in retrievers if r.model == args.model)
    question = _question(retriever, args) if _asks(args) else None
    n = args.n or (DEFAULT_N if question is None else question.least_n)
    query_length = retriever.query_length if question is None else len(question.query)
    retriever = replace(retriever, query_length=query_length)
    about, decode = retriever.construction(), options.engine(args)
    with cli.progress(f"wiring n = {n:,}"), cli.usage_errors():
        wired = retriever.build(
            n, args.precision, printed=options.findings(args, about), discipline=Discipline(args.discipline)
        )
    if args.dump_weights is not None:
        examples = _examples(retriever, wired, question)
        extra = {"model": args.model, "query_length": query_length}
        options.dump_weights(args, about, wired, examples, extra, run=question is not None)
    if question is None:
        return cli.HOLDS
    run = run_model(
        wired,
        retriever.prompt(wired, question),
        set(),
        retriever.limit(wired),
        decode,
        guess=retriever.guess(wired, question),
        respond=retriever.surroundings(wired),
        title="reading",
        keep=args.trace,
    )
    options.say_engine(args, run.decoded)
    _report(args, about, wired, run)
    expected = retriever.task.answer(question)
    if run.produced[-1] != expected:
        cli.say(f"{prog}: refuted: the model answers {run.produced[-1]}; the right answer is {expected}")
        return cli.REFUTED
    return cli.HOLDS


def _prompt_last(argv: Sequence[str]) -> list[str]:
    """Keeps a prompt from being taken for the path of --dump-weights, or for an option where it starts with a minus."""
    prompts = [a for a in argv if "?" in a and not a.startswith("--")]
    if len(prompts) != 1:
        return list(argv)
    return [*(a for a in argv if a is not prompts[0] and a != "--"), "--", prompts[0]]


def _check(args: argparse.Namespace) -> None:
    """What can be said before any work. Raises CommandError."""
    if not _asks(args) and args.dump_weights is None:
        raise CommandError("nothing to do; give a prompt or --dump-weights (see --help)")
    if not _asks(args) and args.trace:
        raise CommandError("--trace needs a prompt")
    options.check(args, run="the prompt" if _asks(args) else "")


def _asks(args: argparse.Namespace) -> bool:
    return args.prompt is not None or args.sequence is not None


def _question(retriever: Retriever, args: argparse.Namespace) -> Question:
    text = args.prompt or ""
    if args.sequence is not None:
        lines = cli.read_text(args.sequence, "a sequence").splitlines()
        text = " ".join([*(line.partition("#")[0] for line in lines), text])
    with cli.usage_errors():
        question = retriever.task.parse(text)
    limit, what = (LARGEST_N, "the largest n that is wired here") if args.n is None else (args.n, "--n")
    if (largest := max((*question.sequence, *question.query))) > limit:
        raise CommandError(f"{largest} is above {limit}, {what}")
    if len(question.sequence) > limit:
        raise CommandError(f"the sequence has {len(question.sequence)} tokens, more than {limit}, {what}")
    return question


def _report(args: argparse.Namespace, about: Construction, wired: Wired, run: Run) -> None:
    *chain, answer = run.produced
    if args.json:
        document = run_document(args, wired, run.prompt, chain, answer, run.decoded)
        if args.trace:
            document["trace"] = trace_document(run.trace, lambda values, produced: "")
        cli.write_json(document)
        return
    if args.trace:
        print_trace(run.trace, cli.console(), lambda values, produced: "", about.blocks, ())
        print()
    if chain:
        print(*chain)
    print(answer)


def _examples(retriever: Retriever, wired: Wired, question: Question | None) -> Iterator[Example]:
    """Questions that fit this n and length of query; numbers all over 1 … n are in the last."""
    length, n = retriever.query_length, wired.n
    samples = [q for q in retriever.task.samples if len(q.query) == length and q.least_n <= n]
    samples += [q for q in (_spread(retriever, length, n), question) if q is not None and q not in samples]
    runs = [(retriever.prompt(wired, sample), retriever.guess(wired, sample)) for sample in samples]
    return worked_examples(wired, runs, set(), retriever.limit(wired), retriever.surroundings(wired))


def _spread(retriever: Retriever, query_length: int, n: int) -> Question | None:
    """A question about numbers all over 1 … n whose query stands in the sequence, but not in front; None if n is too small."""
    sequence = tuple(1 + i * i * n // EXAMPLE_LENGTH**2 for i in range(min(n, EXAMPLE_LENGTH)))
    start = len(sequence) // 2
    query = sequence[start : start + query_length]
    if retriever.task.name == "index":
        query = (start + 1,)
    elif retriever.task.zero:
        query = (*query[:1], 0)
    question = Question(sequence, query)
    return question if len(query) == query_length and not retriever.task.wrong(question) else None

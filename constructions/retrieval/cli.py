"""`python -m constructions.index`, `.recall`, `.ngram`, `.counting`: ask a wired model, show what it does, dump its weights."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from constructions.construction import Construction, Example
from constructions.engines import (
    ENGINES,
    Decode,
    Decoded,
    EngineMissing,
    decode_by_reference,
    find_engine,
)
from constructions.engines.reference import Step
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import Question
from constructions.search import END_SEARCH, SearchError
from constructions.show import cli
from constructions.show.cli import CommandError, Parser
from constructions.show.dump import dump_document, print_dump
from constructions.show.export import SUFFIXES, save
from constructions.show.flags import flag_documents
from constructions.show.trace import Trace, print_trace, trace_document
from constructions.wired import Wired
from precision.format import Discipline

LARGEST_N = 1 << 20
DEFAULT_N = 12  # of a dump without a question

EPILOG = """\
examples:
  {prog} "{example}"
  {prog} --n 20 --engine dense --json "{example}"
  {prog} --model rag "{example}"
  {prog} --model hybrid --trace "{example}"
  {prog} --n 16 --dump-weights
  {prog} --n 16 --dump-weights {name}.safetensors

prompts:
  The sequence, `?`, and the query: {asks}. Tokens are numbers from 1{zero}.
  n bounds the numbers and the length of the sequence; it is the least that fits unless --n is given.

models:
{models}

findings, for --printed:
{findings}

exit codes:
  0  the model's answer is right
  1  refuted: it is another one; stderr says what was expected
  2  usage: something is wrong with the input, or the output cannot be written
  3  unknown: interrupted, or out of memory
"""


@dataclass(frozen=True)
class _Run:
    """The prompt and what followed it, in words, the answer last; how it was decoded; steps if asked for."""

    words: tuple[str, ...]
    produced: tuple[str, ...]
    decoded: Decoded
    steps: tuple[Step, ...]


def main(retrievers: Sequence[Retriever], argv: Sequence[str] | None = None) -> int:
    """Runs the command of one task, solved by each of these models; returns its exit code."""
    prog = f"python -m constructions.{retrievers[0].task.name}"
    return cli.run_command(prog, lambda given: _command(prog, retrievers, given), argv)


def _parser(prog: str, retrievers: Sequence[Retriever]) -> Parser:
    task = retrievers[0].task
    epilog = EPILOG.format(
        prog=prog,
        name=task.name,
        example=task.example,
        asks=task.asks,
        zero="; a threshold may be 0" if task.zero else "",
        models="\n".join(f"  {r.model:<12} {r.source}: {r.statement}" for r in retrievers),
        findings="\n".join(
            f"  {f.id:<17} {', '.join(r.model for r in retrievers if f in r.findings)}; {f.source}: {f.printed}"
            for f in dict.fromkeys(f for r in retrievers for f in r.findings)
        ),
    )
    parser = Parser(prog, f"{task.statement} Asks a wired model.", epilog)
    add = parser.add_argument
    add("prompt", nargs="?", metavar="PROMPT", help=f'the sequence, ? and the query, as "{task.example}"')
    add("--model", choices=tuple(r.model for r in retrievers), default=retrievers[0].model, help="see below")
    add(
        "--n",
        type=cli.whole_number(1, LARGEST_N),
        help=f"bound of numbers and length (default: the least for the prompt, or {DEFAULT_N})",
    )
    add(
        "--precision",
        type=cli.precision,
        metavar="P",
        help="bits of the number format R_p, odd (default: the least certified for n)",
    )
    add("--variant", choices=("repaired", "printed"), default="repaired", help="default: repaired")
    add("--printed", metavar="FINDING[,…]", help="put these findings back to print in the repaired variant; see below")
    add(
        "--discipline",
        choices=tuple(d.value for d in Discipline),
        default="fused",
        help="round once per affine row, score and sum (fused), or after every + and × (default: fused)",
    )
    add("--engine", choices=ENGINES, default="reference", help="default: reference")
    add("--trace", action="store_true", help="show what every head attends to and what every block writes")
    add("--json", action="store_true", help="one JSON document on standard output")
    add(
        "--dump-weights",
        nargs="?",
        const="",
        metavar="PATH",
        help="print the weights by name; with PATH write them: .safetensors (and .json beside it) or .npz",
    )
    return parser


def _command(prog: str, retrievers: Sequence[Retriever], argv: Sequence[str]) -> int:
    parser = _parser(prog, retrievers)
    args = parser.parse_args(cli.attach_negative_values(_prompt_last(argv), ("--n", "--precision")))
    _check(args)
    (retriever,) = (r for r in retrievers if r.model == args.model)
    question = None if args.prompt is None else _question(retriever, args)
    n = args.n or (DEFAULT_N if question is None else question.least_n)
    query_length = retriever.query_length if question is None else len(question.query)
    try:
        decode = find_engine(args.engine)
        cli.announce(n)
        wired = retriever.build(
            n,
            args.precision,
            query_length=query_length,
            printed=_findings(retriever, args),
            discipline=Discipline(args.discipline),
        )
    except EngineMissing as error:
        raise CommandError(f"--engine: {error}") from error
    except ValueError as error:
        raise CommandError(str(error)) from error
    about = replace(retriever, query_length=query_length)
    if args.dump_weights is not None:
        _dump(args, about, wired, question)
        if question is not None and args.dump_weights == "":
            print()
    if question is None:
        return cli.HOLDS
    run = _run(about, wired, question, decode, keep=args.trace)
    _report(args, about.construction(), wired, run)
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
    if args.prompt is None and args.dump_weights is None:
        raise CommandError("nothing to do; give a prompt or --dump-weights (see --help)")
    if args.prompt is None and args.trace:
        raise CommandError("--trace needs a prompt")
    if args.variant == "printed" and args.printed is not None:
        raise CommandError("--printed picks findings for --variant repaired; --variant printed has all of them")
    if args.dump_weights:
        path = Path(args.dump_weights)
        if path.suffix not in SUFFIXES:
            raise CommandError(f"--dump-weights {path}: the name must end in {' or '.join(SUFFIXES)}")
        cli.check_writable(path, "--dump-weights")
    elif args.dump_weights == "" and args.json and args.prompt is not None:
        raise CommandError("--json prints one document: give --dump-weights a PATH, or leave out the prompt")


def _question(retriever: Retriever, args: argparse.Namespace) -> Question:
    try:
        question = retriever.task.parse(args.prompt)
    except ValueError as error:
        raise CommandError(str(error)) from error
    limit, what = (LARGEST_N, "the largest n that is wired here") if args.n is None else (args.n, "--n")
    if (largest := max((*question.sequence, *question.query))) > limit:
        raise CommandError(f"{largest} is above {limit}, {what}")
    if len(question.sequence) > limit:
        raise CommandError(f"the sequence has {len(question.sequence)} tokens, more than {limit}, {what}")
    return question


def _findings(retriever: Retriever, args: argparse.Namespace) -> tuple[str, ...]:
    if args.variant == "printed":
        return retriever.finding_ids
    if args.printed is None:
        return ()
    chosen = tuple(part.strip() for part in args.printed.split(",") if part.strip())
    if not chosen:
        raise CommandError(f"--printed names no finding; known: {', '.join(retriever.finding_ids)}")
    return chosen


def _run(retriever: Retriever, wired: Wired, question: Question, decode: Decode, *, keep: bool) -> _Run:
    model, arithmetic, words = wired.model, wired.arithmetic, question.words()
    prompt, limit, respond = wired.tokens(words), retriever.limit(wired), retriever.surroundings(wired)

    def work(length: int) -> int:
        return length * (length + 200)  # attention grows with the position, the rest does not

    with cli.progress("reading", work, len(prompt) + limit) as tick:
        if keep and decode is decode_by_reference:
            decoded = decode_by_reference(
                model, arithmetic, prompt, set(), limit, respond=respond, tick=tick, keep_steps=True
            )
        else:
            guess = retriever.guess(wired, question)
            decoded = decode(model, arithmetic, prompt, set(), limit, guess=guess, respond=respond, tick=tick)
        steps = decoded.steps
        if keep and not steps:  # the reference engine explains what another one found
            fed = [*prompt, *decoded.produced[:-1]]
            steps = decode_by_reference(model, arithmetic, fed, set(), 1, tick=tick, keep_steps=True).steps
    produced = tuple(wired.vocabulary[token] for token in decoded.produced)
    return _Run(tuple(words), produced, decoded, tuple(steps))


def _report(args: argparse.Namespace, about: Construction, wired: Wired, run: _Run) -> None:
    *chain, answer = run.produced
    trace = Trace(wired, (*run.words, *chain)[: len(run.steps)], len(run.words), run.steps)
    if args.json:
        document: dict[str, object] = {
            "schema": 1,
            "construction": wired.construction,
            "source": wired.source,
            "variant": wired.variant,
            "model": args.model,
            "engine": args.engine,
            "n": wired.n,
            "precision_bits": wired.arithmetic.format.significand_bits + 1,
            "input": list(run.words),
            "chain_of_thought": chain,
            "answer": answer,
            "flags": flag_documents(run.decoded.flags, wired),
        }
        if wired.printed and wired.variant != "printed":
            document["printed"] = list(wired.printed)
        if args.trace:
            document["trace"] = trace_document(trace, lambda values, produced: "")
        cli.write_json(document)
        return
    if args.trace:
        print_trace(trace, cli.console(), lambda values, produced: "", about.blocks, ())
        print()
    if chain:
        print(*chain)
    print(answer)


def _dump(args: argparse.Namespace, retriever: Retriever, wired: Wired, question: Question | None) -> None:
    about = retriever.construction()
    if args.dump_weights == "" and not args.json:
        print_dump(about, wired, cli.console())
        return
    extra = {"model": args.model, "query_length": retriever.query_length}
    document = dump_document(about, wired, _examples(retriever, wired, question), extra)
    if args.dump_weights == "":
        cli.write_json(document)
        return
    written = save(wired.model, document, Path(args.dump_weights))
    cli.report_written(written, as_json=args.json and question is None)


def _examples(retriever: Retriever, wired: Wired, question: Question | None) -> list[Example]:
    """Questions that fit this n and length of query, with what these weights make of them under the reference engine."""
    samples = [q for q in retriever.task.samples if len(q.query) == retriever.query_length and q.least_n <= wired.n]
    if question is not None and question not in samples:
        samples.append(question)
    examples = []
    for sample in samples:
        prompt, limit, respond = wired.tokens(sample.words()), retriever.limit(wired), retriever.surroundings(wired)
        try:
            produced = decode_by_reference(
                wired.model, wired.arithmetic, prompt, set(), limit, respond=respond
            ).produced
        except SearchError:  # a search as printed: there is nothing to expect
            continue
        ends = [None, *(wired.vocabulary[token] == END_SEARCH for token in produced)]
        wanted = [None if response else token for response, token in zip(ends, produced, strict=False)]
        examples.append(Example((*prompt, *produced[:-1]), (*[None] * (len(prompt) - 1), *wanted)))
    return examples

"""What the commands of all tasks do alike: wire a model, dump its weights, run it, show the run, judge it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from constructions.models.model import Model
from constructions.models.request import Run
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.run import run_document, run_model, trace_of, worked_examples
from constructions.wiring.wired import Wired
from precision.format import Discipline

if TYPE_CHECKING:
    from constructions.show.page import Page
    from constructions.show.trace import Trace

Input = TypeVar("Input")
Answer = TypeVar("Answer")
AnyModel = TypeVar("AnyModel", bound=Model[Any, Any])
Sentence = Callable[[Mapping[str, Fraction], str], str]


@dataclass(frozen=True)
class Job(Generic[AnyModel, Input]):
    """What the arguments ask for. given: the input of a run, None if there is none. shown: one that examples are to be of."""

    args: argparse.Namespace
    model: AnyModel
    n: int
    given: Input | None
    shown: Input | None = None


@dataclass(frozen=True)
class Command(Generic[AnyModel, Input, Answer]):
    """The command of one task. What it calls may raise CommandError.

    parser(prog): its options, those of options.py among them. job(args): checks them before any work, and reads the input.
    page(job, run, answer): what --html shows of a run besides its trace.
    report(job, run, answer, trace): shows a run, by default the answer. keeps(args): whether it needs the trace.
    signed: the options whose values may begin with a minus. sizes: what a model is wired for, by its n. running: what a run does.
    unfinished(job, run): what keeps a run that holds up from going on, "" for nothing.
    """

    prog: str
    parser: Callable[[str], Parser]
    job: Callable[[argparse.Namespace], Job[AnyModel, Input]]
    page: Callable[[Job[AnyModel, Input], Run, Answer], Page]
    report: Callable[[Job[AnyModel, Input], Run, Answer, Trace | None], None] = lambda *shown: show_answer(*shown)
    keeps: Callable[[argparse.Namespace], bool] = lambda args: bool(args.trace)
    signed: tuple[str, ...] = ("--n", "--precision")
    running: str = "running"
    sizes: str = "n = {:,}"
    unfinished: Callable[[Job[AnyModel, Input], Run], str] = lambda job, run: ""

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Runs the command; returns its exit code."""
        return cli.run_command(self.prog, self.run, argv)

    def run(self, argv: Sequence[str]) -> int:
        """Returns the same where the caller tells errors."""
        args = self.parser(self.prog).parse_args(cli.attach_negative_values(argv, self.signed))
        job = self.job(args)
        model, given = job.model, job.given
        with cli.progress(f"wiring {self.sizes.format(job.n)}"), cli.usage_errors():
            printed, discipline = options.findings(args, model.construction), Discipline(args.discipline)
            wired = model.build(job.n, args.precision, printed=printed, discipline=discipline)
        shown = given if job.shown is None else job.shown
        if args.export is not None:
            from constructions.show.exporting import export

            kind, name = args.export
            with cli.progress(f"exporting to {name}"), cli.usage_errors("--export: "):
                written = export(model, wired, kind, Path(name), args.float, shown)
            options.report_export(args, model, written, run=given is not None)
        if args.dump_weights is not None:
            examples = worked_examples(model.examples(wired, shown))
            options.dump_weights(args, model, wired, examples, model.described(wired), run=given is not None)
        if given is None:
            return cli.HOLDS
        keep = self.keeps(args) or args.html is not None
        with cli.progress("preparing the run"):
            request = model.request(wired, given)
        run = run_model(request, args.engine, self.running, device=args.device)
        options.say_engine(args, run.decoded)
        answer = model.read(run)
        if args.html is not None:
            from constructions.show.page import check_steps

            check_steps(args.html, len(run.tokens))
        trace = trace_of(run) if keep else None
        if args.html is not None and trace is not None:
            from constructions.show.page import write_page

            page = self.page(job, run, answer)
            write_page(args.html, trace, page, model.construction, blocks_of(model, wired))
        self.report(job, run, answer, trace)
        if complaint := model.judge(given, run, answer):
            cli.say(f"{self.prog}: refuted: {complaint}")
            return cli.REFUTED
        if why := self.unfinished(job, run):
            raise CommandError(why)
        return cli.HOLDS


def show_answer(
    job: Job[AnyModel, Input],
    run: Run,
    answer: Answer,
    trace: Trace | None,
    sentence: Sentence = lambda values, produced: "",
    prompt_registers: Sequence[str] = (),
) -> None:
    """Writes a run on stdout: the trace, if it is asked for, the chain of thought and the answer; all of it as JSON, if that is."""
    said = job.model.run_answer(run, answer)
    trace = trace if job.args.trace else None
    if job.args.json:
        document = run_document(run, job.model.construction.model, said.chain_of_thought, said.answer)
        if trace is not None:
            from constructions.show.trace_text import trace_document

            document["trace"] = trace_document(trace, sentence)
        cli.write_json(document)
        return
    if trace is not None:
        from constructions.show.terminal import console
        from constructions.show.trace_text import print_trace

        print_trace(trace, console(), sentence, blocks_of(job.model, run.request.wired), prompt_registers)
        print()
    if len(said.chain_of_thought):
        print(" ".join(said.chain_of_thought))  # one write: millions of arguments take seconds
    print(said.answer or "no verdict")


def blocks_of(model: Model[Any, Any], wired: Wired) -> Mapping[int, str]:
    """Returns what each block does; nothing if there are other blocks, as printed."""
    return model.block_texts if len(wired.blocks) == len(model.block_texts) else {}

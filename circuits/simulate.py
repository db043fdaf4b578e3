"""`python -m constructions.simulate`: a Transformer runs an RNN gate by gate; shows its words, its gates, its weights."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from circuits.circuit import GateKind
from circuits.models import LARGEST_N, Rnn, simulation_models
from circuits.runs import Conversation
from circuits.simulator import Simulator, is_own, simulator_of
from circuits.transition import MOST_BITS
from constructions.layers import LARGEST_PRECISION
from constructions.models.door import Door
from constructions.models.options import ModelOptions, option
from constructions.models.request import Run
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.command import Command, Job
from constructions.show.run import run_document
from precision.format import Discipline

if TYPE_CHECKING:
    from constructions.show.page import Page
    from constructions.show.trace import Trace

MOST_WORDS = 1 << 16
PROG = "python -m constructions.simulate"
DEFAULT_RNN = "parity"

EPILOG = """\
examples:
  {prog} --rnn parity "1 0 1 1"
  {prog} --rnn shift --words 3 --trace
  {prog} --rnn parity --html gates.html "1"
  {prog} --rnn sum --n 4 "1 2" --engine dense --json
  {prog} --rnn parity --dump-weights parity.safetensors
  {prog} --rnn my.py:LATCH "1 0 0 1"
  {prog} --circuit latch.aag --words words.json "set hold" --certify

RNNs:
{rnns}
  The prompt is made of its words, with spaces between them: numbers, and what `--rnn NAME --json` lists.

your own RNN (the word of every step is printed, those within the prompt too):
  a Python file has STATE_BITS, WORDS, a sequence (without it the numbers 0 to --n), and RNN = (start, step, answer):
  start() → state; step(state, word) → state; answer(state, ()) → the word that it writes. It is run once for each state
  that it reaches and each word; both together take at most {bits} bits.
  a circuit has WORDS.json: {{"schema": 1, "inputs": {{"set": "10", …}}, "outputs": {{"1": "on", …}}}}

findings, for --printed:
{findings}

""" + options.exit_codes("every gate and every word is that of the RNN", "one is another; stderr says which")


@dataclass(frozen=True)
class SimulatorOptions(ModelOptions):
    """n, rnn_p: of the RNN's numbers. words: how many it writes. The command has options of its own for them, and for files."""

    rnn: str = option(DEFAULT_RNN, has_flag=False)
    n: int | None = option(None, most=LARGEST_N, has_flag=False)
    rnn_p: int | None = option(None, most=LARGEST_PRECISION, has_flag=False)
    words: int | None = option(None, most=MOST_WORDS, has_flag=False)


def _number_or_file(text: str) -> int | Path:
    """Reads how many words, or the file that lists them."""
    return Path(text) if text.endswith(".json") else cli.whole_number(1, MOST_WORDS)(text)


SIMULATOR = Simulator(simulation_models()[DEFAULT_RNN].load(None, 1))
DOOR = Door("simulate", {SIMULATOR.construction.model: SIMULATOR}, SimulatorOptions(), most=MOST_WORDS)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    verdicts = list[str]()

    def report(job: Job[Simulator, Sequence[int]], run: Run, answer: list[str], trace: Trace | None) -> None:
        _report(job, run, answer, trace)
        if job.args.certify:
            verdicts.append(_certify(job))

    command = Command[Simulator, Sequence[int], list[str]](
        PROG,
        _parser,
        _job,
        _page,
        report,
        keeps=lambda args: False,
    )
    code = command.main(argv)
    return cli.UNKNOWN if code == cli.HOLDS and verdicts not in ([], ["certified"]) else code


def _certify(job: Job[Simulator, Sequence[int]]) -> str:
    """Says whether the model of this run is certified, on any prompt of as many words; returns the verdict."""
    from verify.dossiers.simulation import certify

    args, solver = job.args, job.model
    printed = options.findings(args, solver.construction)
    with cli.progress("certifying"):
        judged = certify(solver, job.n, args.precision, Discipline(args.discipline), printed)
    if judged.verdict == "certified":
        cli.say(f"certified for every prompt of {job.n:,} words: rounding changes nothing; each token is the circuit's")
    else:
        cli.say(f"not certified: {judged.where}: {judged.what}")
    return judged.verdict


def _parser(prog: str) -> Parser:
    epilog = EPILOG.format(
        prog=prog,
        rnns="\n".join(f"  {x.name:<10} {x.source}: {x.statement}" for x in simulation_models().values()),
        findings=options.list_findings(DOOR),
        bits=MOST_BITS,
    )
    parser = Parser(prog, "Runs an RNN by a Transformer that writes every gate of its steps.", epilog)
    add = parser.add_argument
    add("prompt", nargs="?", metavar="PROMPT", help="the RNN's words, with spaces between them (default: a short one)")
    brought = parser.add_mutually_exclusive_group()
    brought.add_argument(
        "--rnn",
        metavar="NAME|FILE.py[:NAME]",
        default=DEFAULT_RNN,
        help=f"one of ours, or your own (default: {DEFAULT_RNN})",
    )
    brought.add_argument("--circuit", metavar="STEP.aag", help="your own: an AIGER file whose latches are the state")
    add("--n", type=cli.whole_number(1, LARGEST_N), help="the bound n of the RNN's numbers (default: a small one)")
    add("--p", type=cli.precision, metavar="P", help="bits of the RNN's numbers (default: the least for n)")
    add(
        "--words",
        action="append",
        type=_number_or_file,
        metavar="N|WORDS.json",
        help="how many words the RNN writes, at most (default: 1, or until it is done); or a circuit's words, a file",
    )
    add(
        "--certify",
        action="store_true",
        help="certify too, for any prompt as long: rounding is sound, gates are right",
    )
    options.add_model(parser, DOOR, fits="the gates and the positions")
    options.add_engine(parser)
    options.add_trace(parser, "show every gate, its operands and its value as they come")
    options.add_output(parser, instead=", run nothing")
    return parser


def _job(args: argparse.Namespace) -> Job[Simulator, Sequence[int]]:
    options.check(args, runs=not options.writes_model(args))
    if args.certify and options.writes_model(args):
        raise CommandError("--certify is about a run; leave it out where weights are written")
    if args.json and args.trace:
        raise CommandError("--json prints one document; leave out --trace, the gates are in it")
    with cli.usage_errors():
        counts = [x for x in args.words or () if isinstance(x, int)]
        files = [x for x in args.words or () if isinstance(x, Path)]
        if len(counts) > 1 or len(files) > 1:
            raise CommandError("--words is given twice; give one number, one file, or one of each")
        count, file = next(iter(counts), None), next(iter(files), None)
        name = args.circuit or args.rnn
        if args.circuit and not name.endswith((".aag", ".aig")):
            raise CommandError(f"--circuit {name}: an AIGER file ends with .aag or .aig")
        solver = simulator_of(name, args.p, args.n, count, Discipline(args.discipline), file)
        prompt = solver.read_input(args.prompt, None)
        solver.fitting(prompt)
    given = None if options.writes_model(args) else prompt
    return Job(args, solver, len(prompt), given, shown=prompt)


def _report(job: Job[Simulator, Sequence[int]], run: Run, answer: list[str], trace: Trace | None) -> None:
    rnn, gates = job.model.rnn, len(job.model.rnn.step.circuit.gates)
    if job.args.json:
        has = job.model.run_answer(run, answer)
        cli.write_json(run_document(run, job.model.construction.model, has.chain_of_thought, has.answer, has.more))
    elif job.args.trace:
        _print_gates(rnn, run)
    else:
        own = is_own(rnn.name)
        print(*(job.model.read_each(run) if own else answer))
        if own:
            cli.say(job.model.sizes(run.request.wired))
        steps = round(len(run.produced) / (gates + 1))
        cli.say(f"{len(run.produced):,} tokens: {steps} steps of {gates:,} gates and a word")


def _page(job: Job[Simulator, Sequence[int]], run: Run, answer: list[str]) -> Page:
    from circuits.scene import CircuitScene
    from constructions.show.page import Page

    rnn = job.model.rnn
    scene = CircuitScene(rnn, len(run.prompt), run.tokens.tolist())
    size = f"{len(run.prompt)} words, {len(rnn.step.circuit.gates):,} gates a step"
    return Page(f"The RNN {rnn.name}, gate by gate", " ".join(answer), size, scene.document(), scene.says)


def _print_gates(rnn: Rnn, run: Run) -> None:
    """Prints every token: the step, the gate with its value, its operands with theirs; and the words."""
    from constructions.show.terminal import console

    screen = console()
    circuit, tokens = rnn.step.circuit, run.tokens.tolist()
    gates = len(circuit.gates)
    conversation = Conversation(rnn, run.request.prompt)
    before: dict[int, int] = {}  # gate → its last value
    for place, token in enumerate(tokens):
        step, number = divmod(place, gates + 1)
        if number == gates:
            kind = "word" if conversation.result is None else "result"
            screen.print(f"step {step + 1}  {kind} {rnn.vocabulary[token]}")
            conversation.write(token)
            continue
        gate = circuit.gates[number]
        if gate.computes:
            what = f"{gate.kind.name} {_gate_text(gate.left, before[gate.left])} {_gate_text(gate.right, before[gate.right])}"
        elif gate.kind is GateKind.STATE:
            following = circuit.next_state[gate.left]
            source = _gate_text(following, before[following]) if step else "at the start"
            what = f"STATE {circuit.states[gate.left]} {source}"
        else:
            what = "ONE" if gate.kind is GateKind.ONE else f"INPUT {circuit.inputs[gate.left]}"
        before[number] = token
        screen.print(f"step {step + 1}  {_gate_text(number, token):<10} {what}")


def _gate_text(gate: int, token: int) -> str:
    """Returns a gate, numbered from 1, with what its token says."""
    return f"{gate + 1}={token if token in (0, 1) else '?'}"

"""`python -m constructions.simulate`: a Transformer runs an RNN gate by gate; shows its words, its gates, its weights."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from rich.console import Console

from circuits.circuit import Kind
from circuits.models import LARGEST_N, SMALL, Rnn
from circuits.runs import RnnStep, run_rnn
from circuits.scene import CircuitScene
from circuits.simulation import FINDINGS, SOURCE, Plan, build, gate_word, least_precision
from constructions.models.construction import Construction, Derived
from constructions.models.door import Door, Said
from constructions.models.solver import Request, Run
from constructions.show import cli, options
from constructions.show.cli import CommandError, Parser
from constructions.show.command import Command, Job
from constructions.show.page import Page
from constructions.show.run import run_document
from constructions.show.trace import Trace
from constructions.wiring.part import Setting
from constructions.wiring.wired import Wired
from precision.format import Discipline, Format

PROG = "python -m constructions.simulate"
PROMPTS = {"parity": "1 0 1", "shift": "<s> 1 0", "sum": "1 0 1"}
DEFAULT_RNN = "parity"
MOST_TOKENS = 1 << 23
STATEMENT = "A Transformer of four blocks writes every gate of an RNN's steps, and the RNN's own words between them."

EPILOG = """\
examples:
  {prog} --rnn parity "1 0 1 1"
  {prog} --rnn shift --words 3 --trace
  {prog} --rnn parity --html gates.html "1"
  {prog} --rnn sum --n 4 "1 2" --engine dense --json
  {prog} --rnn parity --dump-weights parity.safetensors

RNNs:
{rnns}
  The prompt is made of its words, with spaces between them: numbers, and what `--rnn NAME --json` lists.

findings, for --printed:
{findings}

exit codes:
  0  every gate and every word is that of the RNN
  1  refuted: one is another; stderr says which
  2  usage: something is wrong with the input, it needs more memory than there is, or the output cannot be written
  3  unknown: interrupted
"""


def construction(rnn: Rnn, words: int = 1) -> Construction:
    """This construction for one RNN; n is the length of the prompt."""

    def plan(n: int) -> Plan:
        return Plan(rnn, n, words)

    def constants(setting: Setting, printed: frozenset[str]) -> Sequence[Derived]:
        fmt = setting.format
        return (
            Derived("2^−q", fmt.quantum, f"the step of {fmt.name}, q = (p − 1)/2 = {-fmt.quantum_exponent}"),
            Derived("max", fmt.max_value, "the largest number, 2^q − 2^−q"),
            Derived("C", Fraction(setting.n), f"the gates of one step of {rnn.name}"),
            Derived("G", Fraction(setting.gap), f"a winning score's lead, for {setting.length} positions"),
            Derived("L", Fraction(setting.length_bound), "power of two above every position"),
        )

    def setting(n: int, fmt: Format) -> Setting:
        return Setting(plan(n).gates, plan(n).length, fmt)

    return Construction(
        name="simulate",
        source=SOURCE,
        statement=STATEMENT,
        model="transformer",
        variants=("repaired", "printed"),
        findings=FINDINGS,
        build=lambda n, findings: build(plan(n), printed=findings),
        precision="2q + 1, q about log2(32·G·L²·log p): L positions, G = O(log L)",
        least_precision=lambda n: least_precision(plan(n)),
        setting=setting,
        constants=constants,
        blocks={
            1: "looks up what the next gate is",
            2: "reads the operands; computes the gate; finds where the step's word stands",
            3: "reads the step's word, and the digits so far of the number that the next gate is a digit of",
            4: "compares the number with its digits; reads the output's digits; writes the next token",
        },
        glossary=_glossary(rnn),
    )


def _glossary(rnn: Rnn) -> dict[str, str]:
    inputs, outputs = rnn.step.inputs, [f"x{name[1:]}" for name in rnn.step.outputs]
    return {
        "gate": "the number of the gate whose value this token is, 0 at a word",
        "value": "the value of this token's gate",
        "is_gate": "1 at a gate's token",
        "position": "this token's position, from 1",
        "one": "1 everywhere",
        "first": "1 at position 1, else 0",
        **{f"is_{kind}": f"1 if the next gate is {kind.upper()}" for kind in ("and", "xor", "one")},
        "is_state": "1 if the next gate is a state bit",
        "is_input": "1 if the next gate is an input bit",
        "is_digit": "1 if it is one of a magnitude",
        "initial": "what the state bit is in the first step",
        "last": "1 if the RNN's word is next",
        **{f"{which}": f"the next gate's {which} operand" for which in ("left", "right")},
        "place": "which bit of its number the next gate is, from 1",
        "weight": "what the next digit counts",
        "a": "the value of the left operand",
        "b": "the value of the right operand",
        "found": "1 if the left operand has a token",
        "origin": "where the first gate token stands",
        "bit": "the value of the next gate, unless it is an input bit",
        "address": "where the word of this step stands",
        "number": "the number that the next input bit belongs to",
        "below": "what its digits so far, and the next one, count",
        "low": "the digits so far of the number that the next gate is a digit of",
        **{name: f"the RNN's number {name[2:-1]} of this word" for name in inputs},
        **{f"in {name}": f"the RNN's number {name[2:-1]} of this step's word" for name in inputs},
        **{f"pick {name}": f"1 if the next gate is a bit of {name[2:-1]}" for name in inputs},
        **{f"out {name}": f"twice the code of the output's number {name[2:-1]}" for name in outputs},
        **{f"sign {name}": f"the sign bit of the output's number {name[2:-1]}" for name in outputs},
        **{
            f"low{s}": f"2^{s + 1} times the value {s} tokens back, if it is of the same number"
            for s in range(rnn.step.precision_bits)
        },
    }


def expected_tokens(rnn: Rnn, steps: Sequence[RnnStep]) -> list[int]:
    """What the Transformer should write behind the prompt, by the circuit: gates and words as token numbers."""
    words = len(rnn.vocabulary)
    return [
        token for step in steps for token in (*(words + 2 * g + v for g, v in enumerate(step.values)), step.written)
    ]


@dataclass(frozen=True, eq=False)
class Simulator:
    """The Transformer that runs one RNN on prompts of so many words; the RNN then writes so many. See `Solver`."""

    rnn: Rnn
    words: int = 1

    @cached_property
    def construction(self) -> Construction:
        """Its n is the length of the prompt."""
        return construction(self.rnn, self.words)

    def build(
        self,
        n: int,
        precision_bits: int | None = None,
        *,
        printed: Iterable[str] = (),
        discipline: Discipline = Discipline.FUSED,
    ) -> Wired:
        """The wired model for prompts of n words. Raises ValueError."""
        return build(Plan(self.rnn, n, self.words), precision_bits, printed=printed, discipline=discipline)

    def request(self, wired: Wired, given: Sequence[int]) -> Request:
        """given: the prompt, as numbers of the RNN's words."""
        expected = self.expected(given)
        return Request(wired, given, set(), len(expected), np.array(expected))

    def expected(self, given: Sequence[int]) -> list[int]:
        """What stands behind the prompt, by the circuit."""
        return expected_tokens(self.rnn, run_rnn(self.rnn, given, self.words))

    def read(self, run: Run) -> list[str]:
        """The RNN's word of each step."""
        turn = len(self.rnn.step.circuit.gates) + 1
        return [run.produced[i] for i in range(turn - 1, len(run.produced), turn)]

    def judge(self, given: Sequence[int], run: Run, answer: Sequence[str]) -> str:
        """The first token that is another one, if there is one."""
        expected = self.expected(given)
        written = run.tokens.tolist()
        if written == expected:
            return ""
        place = next((i for i, (a, b) in enumerate(zip(written, expected, strict=False)) if a != b), len(written))
        step, gate = divmod(place, len(self.rnn.step.circuit.gates) + 1)
        found = run.produced[place] if place < len(written) else "missing"
        right = run.request.wired.vocabulary[expected[place]]
        return f"token {gate + 1} of step {step + 1} is {found}; the RNN's is {right}"


def _solver(
    model: str,
    discipline: Discipline,
    *,
    rnn: str = DEFAULT_RNN,
    n: int = 1,
    rnn_p: int | None = None,
    words: int = 1,
    length: int | None = None,
) -> tuple[Simulator, int | None]:
    """n, rnn_p: of the RNN's numbers. words: how many it writes. length: of the prompts."""
    if rnn not in SMALL:
        raise ValueError(f"there is no RNN {rnn!r}; there are {', '.join(SMALL)}")
    return Simulator(SMALL[rnn].load(rnn_p, n, discipline), words), length


def _read(solver: Simulator, given: object, n: int | None) -> list[int]:
    if given is None:
        given = PROMPTS[solver.rnn.name]
    if not isinstance(given, str):
        given = " ".join(map(str, given)) if isinstance(given, Iterable) else str(given)
    prompt = _prompt(solver.rnn, given)
    if n is not None and len(prompt) != n:
        raise ValueError(f"the prompt has {len(prompt)} words; this model is wired for {n}")
    return prompt


def _fitting(solver: Simulator, prompt: Sequence[int]) -> tuple[Simulator, int]:
    """Raises ValueError if the run would be too long."""
    length = Plan(solver.rnn, len(prompt), solver.words).length
    if length > MOST_TOKENS:
        raise ValueError(f"this run has {length:,} tokens; at most {MOST_TOKENS:,} are written")
    return solver, len(prompt)


def _examples(solver: Simulator, wired: Wired, given: Sequence[int] | None = None) -> Iterator[Request]:
    """A prompt, by default the beginning of the usual one over and over."""
    usual = _prompt(solver.rnn, PROMPTS[solver.rnn.name])
    words = [usual[i % len(usual)] for i in range(wired.n)] if given is None else given
    yield solver.request(wired, words)


def _said(solver: Simulator, run: Run, answer: Sequence[str]) -> Said:
    *chain, last = run.produced
    rnn = solver.rnn
    more = {"rnn": rnn.name, "gates": len(rnn.step.circuit.gates), "words": answer}
    return Said(chain, last, {**more, "vocabulary_of_rnn": list(rnn.vocabulary)})


DOOR = Door[Simulator, Sequence[int], list[str]](
    name="simulate",
    models=("transformer",),
    solver=_solver,
    options=("rnn", "n", "rnn_p", "words", "length"),
    read=_read,
    fitting=_fitting,
    examples=_examples,
    said=_said,
    about=lambda solver: {"rnn": solver.rnn.name},
)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    command = Command[Simulator, Sequence[int], list[str]](
        PROG,
        DOOR,
        _parser,
        _job,
        report=_report,
        page=_page,
        keeps=lambda args: False,
        signed=("--n", "--precision"),
        running="running",
    )
    return command.main(argv)


def _parser(prog: str) -> Parser:
    model = construction(SMALL[DEFAULT_RNN].load(None, 1))
    epilog = EPILOG.format(
        prog=prog,
        rnns="\n".join(f"  {name:<8} {SMALL[name].source}: {SMALL[name].statement}" for name in SMALL),
        findings=options.list_findings([model]),
    )
    parser = Parser(prog, "Runs an RNN by a Transformer that writes every gate of its steps.", epilog)
    add = parser.add_argument
    add("prompt", nargs="?", metavar="PROMPT", help="the RNN's words, with spaces between them (default: a short one)")
    add("--rnn", metavar="NAME", choices=tuple(SMALL), default=DEFAULT_RNN, help=f"default: {DEFAULT_RNN}")
    add("--n", type=cli.whole_number(1, LARGEST_N), help="the bound n of the RNN's numbers (default: 1)")
    add("--p", type=cli.precision, metavar="P", help="bits of the RNN's numbers (default: the least for n)")
    add("--words", type=cli.whole_number(1, 1 << 16), default=1, help="how many words the RNN writes (default: 1)")
    options.add_model(parser, [model], model.model, fits="the gates and the positions")
    options.add_engine(parser)
    options.add_trace(parser, "show every gate, its operands and its value as they come")
    options.add_output(parser, instead=", run nothing")
    return parser


def _job(args: argparse.Namespace) -> Job[Simulator, Sequence[int]]:
    options.check_page(args, runs=args.dump_weights is None)
    options.check(args)
    if args.json and args.trace:
        raise CommandError("--json prints one document; leave out --trace, the gates are in it")
    if args.dump_weights is not None and args.trace:
        raise CommandError("--trace shows a run; --dump-weights runs nothing")
    with cli.usage_errors():
        rnn = SMALL[args.rnn].load(args.p, 1 if args.n is None else args.n, Discipline(args.discipline))
        prompt = _prompt(rnn, _text(args))
        _fitting(Simulator(rnn, args.words), prompt)
    given = prompt if args.dump_weights is None else None
    return Job(args, Simulator(rnn, args.words), len(prompt), given, shown=prompt)


def _text(args: argparse.Namespace) -> str:
    return PROMPTS[args.rnn] if args.prompt is None else str(args.prompt)


def _prompt(rnn: Rnn, text: str) -> list[int]:
    """The words of a prompt. Raises ValueError for none, and for one that the RNN does not know."""
    known = {word: number for number, word in enumerate(rnn.vocabulary)}
    words = text.split()
    if not words:
        raise ValueError("a prompt has at least one word")
    for word in words:
        if word not in known:
            some = ", ".join(rnn.vocabulary[:12])
            raise ValueError(f"{word!r} is not a word of {rnn.name} at n = {rnn.n}; it has {some}")
    return [known[word] for word in words]


def _report(job: Job[Simulator, Sequence[int]], run: Run, answer: list[str], trace: Trace | None) -> None:
    rnn, gates = job.solver.rnn, len(job.solver.rnn.step.circuit.gates)
    if job.args.json:
        has = _said(job.solver, run, answer)
        cli.write_json(run_document(run, job.solver.construction.model, has.chain_of_thought, has.answer, has.more))
    elif job.args.trace:
        _print_gates(rnn, run, cli.console())
    else:
        print(*answer[len(run.prompt) - 1 :])
        steps = -(-len(run.produced) // (gates + 1))
        cli.say(f"{len(run.produced):,} tokens: {steps} steps of {gates:,} gates and a word")


def _page(job: Job[Simulator, Sequence[int]], run: Run, answer: list[str]) -> Page:
    rnn = job.solver.rnn
    scene = CircuitScene(rnn, len(run.prompt), run.produced)
    size = f"{len(run.prompt)} words, {len(rnn.step.circuit.gates):,} gates a step"
    said = " ".join(answer[len(run.prompt) - 1 :])
    return Page(f"The RNN {rnn.name}, gate by gate", said, size, scene.document(), scene.says)


def _print_gates(rnn: Rnn, run: Run, console: Console) -> None:
    """Every token as it came: the step, the gate, its operands with their values, its own value."""
    circuit = rnn.step.circuit
    before: dict[int, str] = {}  # gate → its last value
    for place, token in enumerate(run.produced):
        step, number = divmod(place, len(circuit.gates) + 1)
        if number == len(circuit.gates):
            console.print(f"step {step + 1}  word {token}")
            continue
        gate = circuit.gates[number]
        if gate.computes:
            what = f"{gate.kind.name} {_last(before, gate.left)} {_last(before, gate.right)}"
        elif gate.kind is Kind.STATE:
            following = circuit.next_state[gate.left]
            source = _last(before, following) if step else "at the start"
            what = f"STATE {circuit.states[gate.left]} {source}"
        else:
            what = "ONE" if gate.kind is Kind.ONE else f"INPUT {circuit.inputs[gate.left]}"
        before[number] = token.partition("=")[2]
        console.print(f"step {step + 1}  {token:<10} {what}")


def _last(before: dict[int, str], gate: int) -> str:
    return gate_word(gate + 1, int(before[gate])) if before.get(gate, "").isdecimal() else f"{gate + 1}=?"


CONSTRUCTIONS = (construction(SMALL[DEFAULT_RNN].load(None, 1)),)

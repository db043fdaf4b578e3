"""Theorem 4.8: a Transformer that simulates an RNN gate by gate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from circuits.circuit import Circuit
from circuits.models import SEARCHERS, SMALL, SPACE, TURING, Rnn, simulation_models
from circuits.plan import Plan
from circuits.runs import run_rnn
from circuits.simulation import INPUT_BITS, least_precision
from circuits.simulator import Simulator, expected_tokens
from constructions.engines import Decoding, find_engine
from constructions.engines.known import first_mismatch
from constructions.turing import configurations
from constructions.turing.library import find
from constructions.wiring.wired import Wired
from verify.algebra.domains import Refuted
from verify.dossiers.dossier import Subject
from verify.dossiers.gates import check_gates
from verify.dossiers.rnn.lemmas import gates
from verify.dossiers.shape import check_table
from verify.dossiers.simulation import Simulation
from verify.framework.check import Check
from verify.framework.claim import Counterexample, Kind, Reading, claim
from verify.inputs.step_circuits import DrawnSizes, draw_circuit, draw_rnn
from verify.oracles.counts import sequences
from verify.oracles.step_circuits import steps
from verify.runs.costs import RnnSize

BEGINNING = {"reference": 24, "dense": 240}  # tokens that an engine decodes in seconds
LONGEST = 5  # of parity's prompts, every one of them
SOURCE = "Theorem 4.8"


@dataclass(frozen=True)
class PromptTask:
    """An RNN, the words of its prompt, and how many it writes."""

    rnn: str
    n: int
    prompt: tuple[int, ...]
    words: int


@cache
def load(name: str, n: int) -> Rnn:
    """Returns the RNN at its least p."""
    return simulation_models()[name].load(None, n)


def turn_of(rnn: Rnn) -> int:
    """Returns C + 1, the number of tokens of a step."""
    return len(rnn.step.circuit.gates) + 1


@cache
def transformer(name: str, n: int, prompt: int, words: int, printed: tuple[str, ...] = ()) -> Wired:
    """Returns the weights for prompts of this length."""
    return Simulator(load(name, n), words).build(prompt, printed=printed)


@cache
def expected(task: PromptTask) -> Sequence[int]:
    """Returns every gate and every word, by the circuit itself."""
    rnn = load(task.rnn, task.n)
    return expected_tokens(run_rnn(rnn, task.prompt, task.words))


def differs(task: PromptTask, printed: tuple[str, ...] = ()) -> Counterexample | None:
    """Returns the first token that is not the RNN's."""
    wired, wanted = transformer(task.rnn, task.n, len(task.prompt), task.words, printed), expected(task)
    place, decoded = first_mismatch(wired.model, wired.arithmetic, task.prompt, wanted)
    if place is None:
        return None
    step, gate = divmod(place, turn_of(load(task.rnn, task.n)))
    right = wired.vocabulary[wanted[place]]
    return Counterexample(
        step=step + 1, token=gate + 1, expected=right, written=wired.vocabulary[int(decoded.produced[place])]
    )


def every_parity() -> Iterator[PromptTask]:
    """Yields all prompts of parity."""
    for length in range(1, LONGEST + 1):
        yield from (PromptTask("parity", 1, bits, 2) for bits in itertools.product((0, 1), repeat=length))


def every_short() -> Iterator[PromptTask]:
    """Yields all prompts of up to two words of the shift register and the sum at n = 1."""
    for name, length in itertools.product(("shift", "sum"), (1, 2)):
        words = range(len(load(name, 1).vocabulary))
        yield from (PromptTask(name, 1, prompt, 2) for prompt in itertools.product(words, repeat=length))


PARITIES = sequences(LONGEST, 2) - 1  # without the empty one
SHORT = 2 * (sequences(2, 3) - 1)
LONG = (
    PromptTask("shift", 1, (0, 1, 2, 1, 1, 0, 0, 1, 0, 1, 1), 2),
    PromptTask("sum", 3, (1, 0, 2), 3),
    PromptTask("parity", 1, (1, 0, 1, 1, 1, 0, 1, 0) * 40, 3),
)


def words_of(task: PromptTask) -> int:
    """Returns the length of its prompt."""
    return len(task.prompt)


@claim(
    "4.8/repaired",
    statement="A Transformer of four blocks writes every gate of a shift register, a running sum and PARITY, and their words.",
)
def test_simulation(check: Check, engine: str) -> None:
    def begins_right(task: PromptTask) -> Counterexample | None:
        wired, wanted = transformer(task.rnn, task.n, len(task.prompt), task.words), expected(task)
        wanted = list(wanted[: BEGINNING.get(check.engine, len(wanted))])
        asked = Decoding(wired.model, wired.arithmetic, task.prompt, set(), len(wanted), wanted)
        found = find_engine(check.engine)(asked).produced
        return None if found == wanted else Counterexample(expected=wanted, written=found)

    text = f"parity: every prompt of up to {LONGEST} bits"
    check.exhaustive(every_parity(), differs, count=PARITIES, range=text, size=words_of, precision="least p")
    text = "shift register and sum: every prompt of up to two words at n = 1"
    check.exhaustive(every_short(), differs, count=SHORT, range=text, size=words_of, precision="least p")
    text = "longer prompts, to 320 words and 18,000 tokens"
    check.chosen(LONG, differs, range=text, size=words_of, precision="least p")
    tokens = f"the first {BEGINNING[engine]} tokens" if engine in BEGINNING else "all tokens"
    text = f"{tokens} of three runs, by {engine}"
    check.chosen(
        (PromptTask("parity", 1, (1,), 1), *LONG[:2]), begins_right, range=text, size=None, precision="least p"
    )


SEARCHING = ("index", "recall", "ngram", "counting")
DRAWN = ("1 12", "8 60", "40 400", "40 400 1", "256 1500", "16 3000")  # latches, gates, seed
LENGTHS = {
    "parity": (1, 2, 8, 64),
    **dict.fromkeys(("shift", "sum", f"drawn {DRAWN[0]}", f"drawn {DRAWN[1]}"), (1, 8)),
    **dict.fromkeys((*SEARCHING, TURING, *(f"drawn {drawn}" for drawn in DRAWN[2:])), (1,)),
}


def subjects(*, every_circuit: bool = False) -> Iterator[Subject]:
    """Returns the subjects to certify. every_circuit: each stands for every circuit of its shape."""
    yield from (
        Subject(Simulation(rnn=rnn, every_circuit=every_circuit), n)
        for rnn, lengths in LENGTHS.items()
        for n in lengths
    )


RNNS = "parity at n = 1, 2, 8, 64 words, shift and sum at 1 and 8, the searches and BB(2) at 1, six drawn circuits at 1 or 8"


@claim(
    "4.8/rounding",
    statement="Rounding is sound in the Transformer that runs an RNN, on every prompt of n words, whatever its gates say: fused, at"
    " the least p. Eight RNNs of ours and six circuits that are drawn, of 53 to 4,804 gates.",
)
def test_rounding(check: Check) -> None:
    """Certifies every text that a run could look like: a gate's token is 0 or 1, a word's is any word."""
    check.certified(subjects(), range=RNNS, precision="least p")


@claim(
    "4.8/every-circuit",
    statement="Of the shapes of 14 RNNs, of 53 to 4,804 gates: one certificate holds for every circuit with as many gates, state"
    " bits, inputs and outputs, and the same constant bits of the output. Rounding is sound whichever gates are AND, XOR or 1,"
    " whatever they read: fused, at the least p.",
)
def test_every_circuit(check: Check) -> None:
    """Checks all circuits of a shape at once: their weights differ in the table of block 2, of which only bounds are used."""
    text = f"shapes of {RNNS}"
    check.certified(subjects(every_circuit=True), range=text, precision="least p")

    def tabulated(task: RnnSize) -> Counterexample | None:
        solver = Simulation(rnn=task.rnn).solver
        try:
            check_table(solver.task(task.n), solver.build(task.n).arithmetic.format)
        except Refuted as wrong:
            return Counterexample(where=wrong.where, what=wrong.what)
        return None

    cases = [RnnSize(rnn, lengths[0]) for rnn, lengths in LENGTHS.items()]
    text = "each gate: a symbol for each entry of the table that differs between circuits stands in block 2 alone, which writes it"
    check.exhaustive(cases, tabulated, count=14, range=text, precision="least p")


WRITTEN = {
    rnn: lengths for rnn, lengths in LENGTHS.items() if rnn not in (TURING, "ngram", *(f"drawn {x}" for x in DRAWN[4:]))
}


@claim(
    "4.8/program",
    statement="Of the shapes of six RNNs of ours and four that are drawn, of 53 to 591 gates: for every circuit with as many gates,"
    " state bits, inputs and outputs, and the same constant bits of the output, on every prompt of n words: each token that"
    " the Transformer writes is the circuit's; of an RNN that searches, if all tokens before it are. The RNN's logits are exact.",
)
def test_program(check: Check) -> None:
    """Looks at each position: where heads look, and what is written as each gate, for all values of its operands and every word."""

    def writes_each_gate(task: RnnSize) -> Counterexample | None:
        dossier = Simulation(rnn=task.rnn)
        subject = Subject(dossier, task.n)
        try:
            check_gates(dossier.solver.task(task.n), dossier.exact_model(subject), dossier.texts(subject))
        except Refuted as wrong:
            return Counterexample(where=wrong.where, what=wrong.what)
        return None

    cases = [RnnSize(rnn, n) for rnn, lengths in WRITTEN.items() for n in lengths if n <= 8]
    text = (
        "each position: AND, XOR and 1 of any two gates before it and their four values, each word for a bit of an input, the ends"
        " of each output's line"
    )
    check.exhaustive(cases, writes_each_gate, count=16, range=text, precision="least p")
    text = "all tokens after a prompt, of any circuit and any length, by induction: if each is right where those that it reads are"
    check.follows(gates.theory(), range=text)
    check.argued(
        "The first line of evidence says of each position what the lemmas suppose of it. They are about RNNs that do not search. A"
        " word is the first one whose row has the largest product with the output, in exact arithmetic."
    )


@claim(
    "4.8/own-circuit",
    statement="Of four step circuits that are drawn, of 1 to 40 latches: the circuit that the Transformer runs is the one that was"
    " brought, with its words, for each word that it reads and every state.",
)
def test_own_circuit(check: Check) -> None:
    def pair(drawn: DrawnSizes) -> tuple[Circuit, Circuit]:
        circuit, words = draw_circuit(drawn)
        return steps(circuit, words, draw_rnn(drawn))

    cases = [DrawnSizes(*map(int, text.split())) for text in DRAWN[:4]]
    text = "equal to another form, in which words are compared one by one"
    check.equivalent(cases, pair, range=text, limit="four drawn circuits", precision="least p")


@claim(
    "4.8/searches",
    source="Theorem 4.8, A.5",
    statement="A Transformer of four blocks runs the Linear RNN of Index, of recall, of c-gram (c = 3) and of Counting, each with "
    "its search, on one question each: it writes every gate, and the answer.",
)
def test_searches(check: Check) -> None:
    def right(name: str) -> Counterexample | None:
        model = simulation_models()[name]
        rnn = model.load(None, model.n)
        prompt, solver = [rnn.vocabulary.index(word) for word in model.prompt.split()], Simulator(rnn, model.words)
        run = solver.request(solver.build(len(prompt)), prompt).run(find_engine("auto"))
        answer, task = solver.read(run), next(x.task for x in SEARCHERS if x.task.name == name)
        expected = task.answer(task.samples[1])
        if complaint := solver.judge(prompt, run, answer):
            return Counterexample(complaint=complaint)
        return None if answer[-1] == expected else Counterexample(expected=expected, answer=answer[-1])

    check.chosen(SEARCHING, right, range="one question each, 5,819 to 11,452 tokens", precision="least p")


@claim(
    "4.8/halts",
    source="Theorems 4.1 and 4.8",
    statement="A Transformer of four blocks runs the Linear RNN with chain of thought that runs BB(2) on 5 cells: 43 steps of "
    "4,804 gates, to HALT.",
)
def test_halts(check: Check) -> None:
    def right(rnn: str) -> Counterexample | None:
        model, known = simulation_models()[rnn], load(rnn, simulation_models()[rnn].n)
        task = PromptTask(rnn, model.n, tuple(map(known.vocabulary.index, model.prompt.split())), model.words)
        if result := differs(task):
            return result
        turn = turn_of(known)
        words = [known.vocabulary[token] for token in expected(task)[turn - 1 :: turn]]
        machine = find("bb2")
        written = configurations.words_after_prompt(configurations.TextTask(machine.machine, machine.steps, "", SPACE))
        if words[len(task.prompt) - 1 :] == written and words[-1] == configurations.HALT:
            return None
        return Counterexample(expected=written, words=words)

    text = f"all 206,615 tokens on {SPACE} cells, the words against a simulator of machines"
    check.chosen([TURING], right, range=text, precision="least p")


@claim(
    "4.8/input-bits",
    statement="The Transformer writes every gate, where a head fetches the bits of the input.",
    variant="printed",
    kind=Kind.OPEN,
    readings=(
        Reading(
            "A head reads the bit as it reads any value: it is a linear form of the word's registers.", holds=False
        ),
        Reading(
            "A head reads the number, and a feed-forward finds its bits one after the other, by comparison with the digits before.",
            holds=True,
            shown="4.8/repaired",
        ),
    ),
)
def test_input_bits(check: Check) -> None:
    right = partial(differs, printed=(INPUT_BITS.id,))
    text = f"parity: every prompt of up to {LONGEST} bits, all else repaired"
    check.exhaustive(every_parity(), right, count=PARITIES, range=text, size=words_of, precision="least p")


@dataclass(frozen=True)
class PromptSize:
    """An RNN at n, prompts of this many words."""

    rnn: str
    n: int
    prompt: int


@dataclass(frozen=True)
class PrecisionPoint:
    """A step over R_p."""

    rnn: str
    p: int


SIZES = [
    *(PromptSize(name, n, prompt) for name in SMALL for n in (1, 3) for prompt in (1, 8, 64)),
    *(PromptSize(name, simulation_models()[name].n, 1) for name in simulation_models() if name not in SMALL),
]


@claim(
    "4.8/size",
    statement="Four blocks; O(C) parameters: at most (3w + 2)·(C + 40 + 2d) + 20·w·(p + d + 4) at width w ≤ 5d + 29, for words of d"
    " numbers; C + 1 tokens a step.",
)
def test_size(check: Check) -> None:
    """Measures C ≥ p for each number of state, input and output: so p + d is O(C). The width does not grow with n or p.

    A word whose numbers are all outputs takes 5d + 29.
    """

    def within(size: PromptSize) -> Counterexample | None:
        plan = Plan(load(size.rnn, size.n), size.prompt, 2)
        model = Simulator(plan.rnn, plan.words).build(plan.prompt).model
        d, p, w = len(plan.numbers), plan.digits + 1, model.width
        bound = (3 * w + 2) * (plan.gates + 40 + 2 * d) + 20 * w * (p + d + 4)
        enough = plan.gates >= p * (d + len(plan.outputs) + 2 * len(plan.rnn.step.states))
        if w > 5 * d + 29 or model.parameters > bound or len(model.blocks) != 4 or not enough:
            return Counterexample(width=w, parameters=model.parameters, bound=bound, gates=plan.gates)
        steps = run_rnn(plan.rnn, [0] * size.prompt, 2)
        tokens = len(expected_tokens(steps))
        return None if tokens == (plan.gates + 1) * (size.prompt + 1) else Counterexample(tokens=tokens)

    text = "shift, sum, parity at n = 1, 3, prompts of 1, 8, 64 words; the searches and BB(2), prompts of one"
    check.chosen(SIZES, within, range=text, size=lambda size: size.prompt, precision="least p")


@claim(
    "4.8/words",
    statement="No special words: the vocabulary is that of the RNN. Its embedding has two numbers more, 1 at the words number 1"
    " and 2, which stand for the values 0 and 1.",
)
def test_words(check: Check) -> None:
    def as_the_rnn(size: PromptSize) -> Counterexample | None:
        rnn = load(size.rnn, size.n)
        wired = Simulator(rnn).build(size.prompt)
        if wired.vocabulary != rnn.vocabulary or wired.model.unembed is not wired.model.words:
            return Counterexample(vocabulary=wired.vocabulary)
        columns = dict(zip(wired.registers, wired.model.words.T.tolist(), strict=True))
        numbers = {name: column for name, column in columns.items() if any(column)}
        read = dict(zip(rnn.step.inputs, rnn.words.T.tolist(), strict=True))
        added = {f"says {value}": [float(i == value) for i in range(len(rnn.vocabulary))] for value in (0, 1)}
        wanted = {name: column for name, column in (read | added).items() if any(column)}
        return None if numbers == wanted else Counterexample(embedding=numbers)

    sizes = [PromptSize(name, simulation_models()[name].n, 1) for name in simulation_models()]
    text = "every RNN that the command runs, at its usual n"
    check.exhaustive(sizes, as_the_rnn, count=8, range=text, size=None, precision="least p")


@claim(
    "4.8/precision",
    statement="O(log n) bits: at most 4·log2(L) + 2·log2(log2(L)) + 30 for L tokens of shift, sum and parity at n = 1.",
)
def test_precision(check: Check) -> None:
    def within(size: PromptSize) -> Counterexample | None:
        plan = Plan(load(size.rnn, size.n), size.prompt, 1)
        least, length = least_precision(plan), math.log2(plan.length)
        bound = 4 * length + 2 * math.log2(length) + 30
        return None if least <= bound else Counterexample(least=least, bound=bound)

    sizes = [PromptSize(name, 1, 1 << e) for name in SMALL for e in range(17)]
    text = "shift, sum, parity at n = 1; prompts of 1, 2, 4 … 2^16 words"
    check.chosen(sizes, within, range=text, size=lambda size: size.prompt)


GATES = {  # of a step at n = 1 over R_p, twice
    "shift": lambda p: 30 * p + 4,
    "sum": lambda p: 37 * p + 5,
    "parity": lambda p: 16 * p + 30,
    "index": lambda p: 102 * p + 28,
    "recall": lambda p: 94 * p + 10,
}


@claim(
    "4.8/growth",
    statement="C against p, at n = 1: 15p + 2 gates for shift, (37p + 5)/2 sum, 8p + 15 parity, 51p + 14 Index, 47p + 5 recall, "
    "for odd p from 11 to 25.",
)
def test_growth(check: Check) -> None:
    def has_formula_gates(step: PrecisionPoint) -> Counterexample | None:
        gates, formula = len(simulation_models()[step.rnn].load(step.p, 1).step.circuit.gates), GATES[step.rnn](step.p)
        return None if 2 * gates == formula else Counterexample(gates=gates, formula=formula / 2)

    steps = [PrecisionPoint(name, p) for name in GATES for p in range(11, 27, 2)]
    check.exhaustive(
        steps,
        has_formula_gates,
        count=5 * 8,
        range="counted for each odd p in 11 … 25, shift, sum, parity, Index and recall",
        precision="11 ≤ p ≤ 25",
    )

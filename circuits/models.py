"""The RNNs whose step is made a circuit: small ones for their own sake, and every recurrent model of this project.

Source: definitions 3.3 and 5.5; Lemmas C.20 and C.21; Theorems 4.1, 5.2 to 5.4, 5.6 to 5.8.
An RNN here is its step, and the words that it reads and writes: a token embeds as words[token] + position·(its place)
over the step's inputs, and the next token is the argmax of unembed·output. Of a hybrid it is what stands before the attention, and
writes numbers that are read there, one for each row of unembed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from circuits.builder import Builder
from circuits.compiler import compile_reachable, filled_registers
from circuits.forms import Form, FormBuilder
from circuits.numbers import NumberBuilder
from circuits.ranges import Range, Reads, invariant
from circuits.step import Step, step
from constructions import counting, index, ngram, recall
from constructions.layers import Matrix
from constructions.measures import recurrent_part
from constructions.models.building import format_of, wired_of
from constructions.models.program import NUMBER, Words, Write, WriteRule, back, decide, window
from constructions.models.registry import find_constructions
from constructions.models.search import END_SEARCH
from constructions.parts.recurrences.running_sum import running_sum
from constructions.retrieval.retriever import Retriever
from constructions.turing import configurations
from constructions.turing.cot import Cot
from constructions.turing.library import find
from constructions.wiring.affine import Affine, as_affine, reg
from constructions.wiring.numbered import Family
from constructions.wiring.part import least_odd_precision
from constructions.wiring.wire import BlockPlan, Gadget, Unit, constant
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point

LARGEST_N = 1 << 12
DEFAULT_N = 4
KEPT = 3  # tokens, by the shift register


@dataclass(frozen=True, eq=False)
class Rnn:
    """An RNN as Theorem 4.8 takes it: the circuit of a step, and the fixed embeddings.

    n: the largest number that it has a token for. reads: what the circuit relies on. wired: its matrices, if it has weights.
    ends: the words after which it has nothing to say. unread: the words that it writes and cannot read.
    Shapes: words (vocabulary, inputs), position (inputs,), unembed (vocabulary, outputs), all over the step's numbers.
    """

    name: str
    source: str
    n: int
    arithmetic: Arithmetic
    vocabulary: tuple[str, ...]
    step: Step
    reads: Reads
    words: Matrix
    position: Matrix
    unembed: Matrix
    wired: Wired | None = None
    ends: frozenset[int] = frozenset()
    unread: frozenset[int] = frozenset()

    @property
    def searches(self) -> bool:
        """Returns whether it writes searches, which its surroundings answer."""
        return END_SEARCH in self.vocabulary


@dataclass(frozen=True)
class RnnFamily:
    """A family of RNNs: one for each n and p. least_precision(n): the least p at which it does what it is for.

    prompt, n, words: a prompt to show, the n that it takes, and how many words the RNN then writes, if nothing ends it before.
    """

    name: str
    source: str
    statement: str
    least_precision: Callable[[int], int]
    build: Callable[[int, Arithmetic], Rnn]
    prompt: str = "1 0 1"
    n: int = 1
    words: int = 1

    def largest_n(self, precision_bits: int) -> int:
        """Returns the largest n that p bits are enough for, up to a cap. Raises ValueError if there is none."""
        if self.least_precision(1) > precision_bits:
            raise ValueError(
                f"p = {precision_bits} is too small for {self.name}; the least p is {self.least_precision(1)}"
            )
        n = 1
        while 2 * n <= LARGEST_N and self.least_precision(2 * n) <= precision_bits:
            n *= 2
        while n < LARGEST_N and self.least_precision(n + 1) <= precision_bits:
            n += 1
        return n

    def load(self, precision_bits: int | None, n: int | None, discipline: Discipline = Discipline.FUSED) -> Rnn:
        """Returns the RNN for p and n: without p the least one for n, without n the largest one for p, without both a small one.

        Raises ValueError for a p that is even, or too small; the message names the least p.
        """
        if n is None:
            n = (
                DEFAULT_N
                if precision_bits is None
                else self.largest_n(fixed_point(precision_bits).significand_bits + 1)
            )
        fmt = format_of(self.least_precision(n), precision_bits, f"{self.name} at n = {n}")
        return self.build(n, Arithmetic(fmt, discipline))


def linear(name: str, source: str, wired: Wired, ends: Iterable[str] = ()) -> Rnn:
    """Returns a Linear RNN of this project."""
    model = wired.model
    inputs, outputs = filled_registers(model.words, model.position), filled_registers(model.unembed)
    rnn_step, reads = compile_reachable(model, wired.registers, wired.arithmetic)
    return Rnn(
        name=name,
        source=source,
        n=wired.n,
        arithmetic=wired.arithmetic,
        vocabulary=wired.vocabulary,
        step=rnn_step,
        reads=reads,
        words=model.words[:, inputs],
        position=model.position[inputs],
        unembed=model.unembed[:, outputs],
        wired=wired,
        ends=frozenset(wired.token[word] for word in ends),
    )


# Numbers as tokens: 0 … n and the first token <s>


def _number_words(n: int) -> Words:
    return Words((Family("value", 0, n),), ("<s>",))


def _number_precision(n: int) -> int:
    """Returns 2v·i and i² for v, i up to n, exactly."""
    return least_odd_precision(lambda q: 2 * n.bit_length() + 1)


def _writes(value: Affine, words: Words) -> tuple[Gadget, ...]:
    return decide([WriteRule(f"write {value}", (as_affine(1),), Write(value, "value"))], words)


def shift_register(n: int, arithmetic: Arithmetic) -> Rnn:
    """Writes the number that stands two tokens before the last one."""
    words = _number_words(n)
    block = BlockPlan((), _writes(back(NUMBER, KEPT - 1), words))
    block = BlockPlan((), block.gadgets, window([block]))
    return linear(
        "shift",
        "Lemma C.20",
        wired_of("shift", "Lemma C.20", (), frozenset(), n, words.embedding(), (block,), arithmetic),
    )


def number_sum(n: int, arithmetic: Arithmetic) -> Rnn:
    """Writes the sum of all numbers so far, or n if it is more."""
    words = _number_words(n)
    rest = Gadget("shown := min(sum, n)", (Unit(n - reg("sum"), as_affine(-1), {"shown": 1}),))
    blocks = (
        BlockPlan((), (rest, constant("n", {"shown": n})), (running_sum("sum", reg(NUMBER), "sum"),)),
        BlockPlan((), _writes(reg("shown"), words)),
    )
    return linear(
        "sum", "Lemma C.21", wired_of("sum", "Lemma C.21", (), frozenset(), n, words.embedding(), blocks, arithmetic)
    )


def parity(n: int, arithmetic: Arithmetic) -> Rnn:
    """Writes whether the number of 1s so far is even or odd, from one number of state: h ← h + x − 2·h·x.

    Not a Linear RNN: its transition multiplies state and input.
    """
    unit, fmt = 1 << -arithmetic.format.quantum_exponent, arithmetic.format
    states, inputs = ["h"], ["x[1]", "x[even]", "x[odd]"]

    def make(reads: Reads) -> tuple[FormBuilder, dict[str, Form]]:
        forms = FormBuilder(NumberBuilder(Builder(), fmt), arithmetic.discipline, reads)
        h = forms.state(states[0])
        x, _, _ = (forms.input(name) for name in inputs)
        odd = forms.dot([(unit, forms.add(h, x)), (-2 * unit, forms.multiply(h, x))], 0)
        return forms, {"o[1]": forms.constant(0), "o[even]": forms.dot([(-unit, odd)], unit), "o[odd]": odd}

    def following(reads: Reads) -> list[Range]:
        forms, outputs = make(reads)
        return [forms.range(outputs["o[odd]"])]

    vocabulary = ("0", "1", "even", "odd")
    rows = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float64)
    read = {name: [unit * int(x) for x in column] for name, column in zip(inputs, rows.T, strict=True)}
    reads = invariant(states, Reads({}, read), fmt.max_quanta, following)
    forms, outputs = make(reads)
    numbers = {name: forms.number(form) for name, form in outputs.items()}
    rnn_step = step(forms.numbers, states, inputs, numbers, [numbers["o[odd]"]])
    return Rnn("parity", "definition 3.3", n, arithmetic, vocabulary, rnn_step, reads, rows, np.zeros(3), rows)


SMALL = {
    model.name: model
    for model in (
        RnnFamily(
            "shift",
            "Lemma C.20",
            "writes the number two tokens before",
            _number_precision,
            shift_register,
            prompt="<s> 1 0",
        ),
        RnnFamily(
            "sum", "Lemma C.21", "writes the sum of the numbers so far, at most n", _number_precision, number_sum
        ),
        RnnFamily("parity", "definition 3.3", "writes whether there were even or odd many 1s", lambda n: 5, parity),
    )
}
SEARCHERS = (index.RAG, recall.RAG, ngram.RAG, counting.RAG)
TURING, SPACE = "turing-cot", 5  # cells of BB(2)


@cache
def simulation_models() -> dict[str, RnnFamily]:
    """Returns the RNNs that Theorem 4.8's Transformer is shown with, by name."""
    searchers = [_searcher(retriever) for retriever in SEARCHERS]
    named = find("bb2")
    item = Cot(named.machine, cells=SPACE)
    turing = RnnFamily(
        TURING,
        item.construction.source,
        f"runs BB(2) on {SPACE} cells to its halt",
        item.least_precision,
        partial(_build, TURING, item.build, ends=(configurations.HALT, configurations.OUT)),
        prompt=" ".join(item.prompt(named.steps)),
        words=len(item.expected(named.steps)),
    )
    return SMALL | {model.name: model for model in (*searchers, turing)}


def find_models() -> dict[str, RnnFamily]:
    """Returns every model by name: those of `simulation_models`, then the other recurrent ones among the constructions."""
    models = dict(simulation_models())
    for item in find_constructions():
        about = item.construction
        name = about.name if about.model == "rag" else f"{about.name}-{about.model}"
        if about.model != "transformer" and name not in models:
            build = partial(_build, name, item.build)
            models[name] = RnnFamily(name, about.source, about.statement, item.least_precision, build)
    return models


def _searcher(retriever: Retriever) -> RnnFamily:
    about, question = retriever.construction, retriever.task.samples[1]
    return RnnFamily(
        about.name,
        about.source,
        about.statement,
        retriever.least_precision,
        partial(_build, about.name, retriever.build),
        prompt=" ".join(question.words()),
        n=max(2, question.least_n),
        words=retriever.steps(frozenset()) - 1,  # but for the result
    )


def _build(name: str, build: Callable[[int], Wired], n: int, arithmetic: Arithmetic, ends: Iterable[str] = ()) -> Rnn:
    """Returns the RNN of a Linear RNN, whose weights are the same at every precision."""
    wired = build(n)
    return linear(name, wired.source, replace(wired, model=recurrent_part(wired.model), arithmetic=arithmetic), ends)

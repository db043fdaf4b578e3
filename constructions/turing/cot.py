"""Turing machines by chain of thought alone: a Linear RNN of constant size whose tape turns around.

Source: Theorem 4.1; Lemmas C.4, C.20 and C.21. The paper names what the state holds and gives no weights.
Idea: the chain of thought is the computation history. Each token is one cell, the head's cell with the state in it, and `|` ends a
configuration. A turn of m + 1 tokens is one step of the machine:

    <s> _ A0 _ _ :   is given,   _ 1 B0 _ | _ A1 1 _ |   is written

A cell depends on three cells one turn before: itself and its neighbours. So the next m tokens are known at any time, and the state
holds just these, as the digits of one number: a queue, read in front and filled at its end. Both are linear. The digit that leaves
is the token itself; the digit that enters is a function of the last three tokens, which a window keeps: a cell enters one token
late, when its right neighbour is known, so a head may come from there. No feed-forward reads the queue: the output head picks the
digit nearest to the number.

Notation: B states and k symbols; m cells; b = 2^β is above every digit; u_t is the digit of token t, u′_t that of its cell one turn
later. V_t = Σ_{i=1…m} u_{t+i}·b^(1−i), so V_t = b·(V_{t−1} − u_t) + b^(1−m)·u′_{t−1}. The queue is 2^h·V.
The digits are in configurations.py. The tokens of the prompt enter one turn later and do not leave: they never were in the queue.

Registers, by the block that writes them:
  embedding  number, the digit; number_squared; one for each kind of digit and for each special token
  1          written: the digit of the cell one turn later, if no head comes; next: what a head that leaves it adds to the cell that
             it comes to; rightward, leftward: 1 where it leaves to the right, left; edge: 1 at what is no cell
  2          …-j: what stood j tokens before; running: 1 from `:` on; entering, leaving: the digits that enter and leave the queue
  3          queue: 2^h·V; ended: 1 after a head's cell whose state has no row; then the output

Derivation of the reading: V = u + φ with 0 ≤ φ ≤ 1 − b^(1−m). For w = V − 1/2 + b^(1−m)/2, |w − u| ≤ 1/2 − b^(1−m)/2, so u is the
nearest digit. 2^h·2w on the number and −2^h on the square give digit i the logit 2^h·(w² − (w − i)²), and the nearest one leads by
2^h·b^(1−m) or more. HALT, where it is written, has 2^(h+2β), more than 2^h·w².
Derivation of p: the queue's last digit counts 2^(h−β(m−1)), so β(m − 1) − h digits after the point hold everything. The output
head's products are below 2^(h+2β+1), as u and w are below b; so is every number, and what the table multiplies and sums, at most
2b². With h about half of β(m − 3), digits on both sides of the point are used, and p ≤ β(m + 1) + 3 for m ≥ 3. Nothing is
rounded, under either discipline. p does not depend on the number of steps; positions may saturate, as nothing reads them.

Size: 3 blocks, 20 numbers of state, at most B·k + 2 units for the table and 19 besides, (B + H + 1)·k + 6 words with H letters to
halt in: nothing grows with m or with the steps. The state has 20·p = O(m·log(B·k)) bits, O(log n) for m = ⌊log2 n⌋.

ERRATUM Theorem 4.1
paper says: state, pointer and tape in O(log n) bits; the new state, direction and cell value are written, three tokens for a step.
we use: the tape turns around, m + 1 tokens for a step.
why: the paper gives no weights, and for a tape that stays where it is, with words of a constant set, we have wired none. The update
adds (new − old)·b^pointer to it, or moves a window around the pointer by b or 1/b: both multiply a part of the state by a function
of another part, but A and B are constant. A feed-forward of U units, where nothing is rounded, is a quadratic function along a line
between at most U bends. So it gives b^pointer to three pointers between two bends at most, and m of them need U ≥ m/3 − 1. And it
passes 1/2 at most 2U + 2 times, while the lowest of m binary digits of the tape does so 2^m − 1 times, which is what reading under
the pointer asks for. Tokens that are numbers do better: 2^pointer is a word, as the pointer is at most log2 n. With such words
three tokens a step are enough: three_tokens.py wires them. The separation, of which this is one half, rests on a conjecture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from constructions.models.construction import Construction, Derived, numbers_of
from constructions.models.model import NOTHING, Ids, Planned
from constructions.models.program import NUMBER, SQUARE, back, window
from constructions.models.request import Request
from constructions.parts.recurrences.running_sum import running_sum
from constructions.turing.base import TuringModel
from constructions.turing.configurations import (
    BAR,
    BLANK,
    CELL,
    HALT,
    HALTED,
    HEAD,
    MOST_STEPS,
    OUTSIDE,
    RUN,
    START,
    TURN,
    AnyTextTask,
    Code,
    TextTask,
    left_the_space,
    read,
    read_steps,
    words_after_prompt,
)
from constructions.turing.machine import RIGHT
from constructions.turing.simulator import Configuration, TuringStep
from constructions.wiring.affine import as_affine, reg
from constructions.wiring.numbered import Family
from constructions.wiring.part import Setting
from constructions.wiring.wire import BlockPlan, Gadget, LinearUnit, Unit, constant, linear
from constructions.wiring.wired import Wired
from precision.format import Discipline, Format

SOURCE = "Theorem 4.1"
STATEMENT = "A Linear RNN of constant size runs a Turing machine on m cells with O(m) bits of state and m + 1 tokens for each step."


@dataclass(frozen=True)
class QueueScale:
    """The queue's scale: it is 2^h·V for m digits of β bits."""

    code: Code
    cells: int

    @property
    def scale_bits(self) -> int:
        """Returns h, the number of bits of V in front of the point."""
        return max(0, -(-(self.last_bits - 2 * self.code.bits - 1) // 2))

    @property
    def last_bits(self) -> int:
        """β(m − 1): the last digit of V counts 2 to minus this."""
        return self.code.bits * (self.cells - 1)

    @property
    def scale(self) -> int:
        """2^h."""
        return 1 << self.scale_bits

    @property
    def last(self) -> Fraction:
        """2^h·b^(1 − m): the last digit of the queue."""
        return Fraction(1) * self.scale / (1 << self.last_bits)

    @property
    def halt(self) -> int:
        """2^(h + 2β): above every logit of a digit."""
        return self.scale * (1 << 2 * self.code.bits)

    @property
    def least_bits(self) -> int:
        """p."""
        return 2 * max(self.halt.bit_length(), self.last_bits - self.scale_bits) + 1


# Weights


def table(code: Code) -> Gadget:
    """Returns what a head's cell becomes, what it adds to the head's next cell, and where that lies; nothing at other digits.

    Derivation: functions of the digit that are 0 outside the table, by their second differences, one unit for each bend. A symbol
    x is the digit 1 + x, letter i on it the digit F + k·i + x, so a head adds F + k·i − 1; to `_`, which is 0 and means symbol 0,
    one more.
    """
    machine, into = code.machine, ("written", "next", "rightward", "leftward")
    first, k = code.first_head, machine.symbols
    values = {}
    for i, letter in enumerate(machine.states):
        for symbol in range(k):
            rule, digit = machine.rule(letter, symbol), first + k * i + symbol
            right = int(rule.move == RIGHT)
            arrives = first + k * code.letters.index(rule.state) - 1
            values[digit] = (1 + rule.write - digit, arrives, right, 1 - right)
    number, one, zero = reg(NUMBER), as_affine(1), (0,) * len(into)
    units = []
    for corner in range(first - 1, first + len(values) + 1):
        around = (values.get(corner + offset, zero) for offset in (-1, 0, 1))
        bends = {name: x - 2 * y + z for name, x, y, z in zip(into, *around, strict=True) if x - 2 * y + z}
        if bends:
            units.append(Unit(number - corner, one, bends))
    # A machine whose head never moves to the left writes nothing there, but its neighbours read it.
    unused = {name: 0 for name in into if not any(name in unit.into for unit in units)}
    return Gadget(f"the table of {len(values)} rules", tuple(units), unused, "Lemma C.4")


def _look_up(code: Code) -> BlockPlan:
    edge = reg(START) + reg(RUN) + reg(TURN)
    return BlockPlan(
        (),
        (
            linear("the digit, and that of | at :", reg(NUMBER) + code.turn * reg(RUN), "written"),
            table(code),
            linear("is it no cell", edge, "edge"),
        ),
    )


def _turn_later(code: Code) -> BlockPlan:
    """Returns the cell one token before this one, which lies between its neighbours, as it is one turn later."""
    free = back(BLANK, 1) + back(CELL, 1)

    def comes(name: str, leaves: str, by: int) -> Gadget:
        gate = back(leaves, by) + free - 1
        return Gadget(name, (Unit(gate, back("next", by) + back(BLANK, 1), {"entering": 1}),), {}, "Lemma C.1")

    def goes_out(name: str, leaves: str, by: int) -> Gadget:
        gate = back(leaves, 1) + back("edge", by) - 1
        return Gadget(name, (Unit(gate, code.outside - back("written", 1), {"entering": 1}),), {}, "Lemma C.1")

    gadgets = (
        linear("the cell itself", back("written", 1), "entering"),
        comes("a head comes from the left", "rightward", 2),
        comes("a head comes from the right", "leftward", 0),
        goes_out("a head goes out on the right", "rightward", 0),
        goes_out("a head goes out on the left", "leftward", 2),
        Gadget("what has been in the queue", (Unit(reg("running"), reg(NUMBER), {"leaving": 1}),), {}, "Lemma C.1"),
    )
    units = window([BlockPlan((), gadgets)])
    return BlockPlan((), gadgets, (*units, running_sum("has the prompt ended", reg(RUN), "running")))


def _advance(queue: QueueScale) -> BlockPlan:
    words, base = queue.code.words, 1 << queue.code.bits
    turn = LinearUnit(
        "the queue: a digit leaves in front, one enters at the end",
        {"queue": (base * reg("queue"), queue.last * reg("entering") - base * queue.scale * reg("leaving"))},
    )
    ended = running_sum("has the machine halted", reg(HALTED), "ended")
    output = 2 * reg("queue") - queue.scale - reg(NUMBER)
    one = as_affine(1)
    fed = [name for name in words.registers if name not in (NUMBER, HALT)]  # nothing stands after HALT
    clear = tuple(Unit(one, -reg(name), {name: 1}) for name in fed)
    return BlockPlan(
        (),
        (
            Gadget("clear the embedding", clear),
            linear("2^h·(2V − 1) in place of the number", output, NUMBER),
            constant("half a last digit more, for 2^h·2w", {NUMBER: queue.last}),
            constant("−2^h for squares, no special word", {SQUARE: -queue.scale, START: -1, RUN: -1, HALT: -1}),
            Gadget(
                f"{HALT} after {BAR} if it has halted", (Unit(reg(TURN) + reg("ended") - 1, one, {HALT: queue.halt}),)
            ),
        ),
        (turn, ended),
    )


def sequence_length(cells: int, steps: int) -> int:
    """Returns the most tokens of this many steps: the prompt, a configuration for each step, and HALT or OUT."""
    return (cells + 1) * (steps + 1) + 2


BLOCKS: Mapping[int, str] = {
    1: "looks up what becomes of the cell that this token is, and where its head goes",
    2: "keeps the last three tokens; says what the cell before this one is, one turn later",
    3: "turns the queue by a digit; writes the digit in front",
}
GLOSSARY: Mapping[str, str] = {
    NUMBER: "the digit of this token; at the end, 2^h·2w",
    "position": "this token's position, from 1; nothing reads it",
    BLANK: "1 at a cell that is not of the word and has never been visited",
    CELL: "1 at a cell without the head",
    HEAD: "1 at the head's cell, with a state that has a row",
    HALTED: "1 at the head's cell, with a state that has no row",
    TURN: "1 at the end of a configuration",
    OUTSIDE: "1 where the head would leave the space",
    START: "1 at the start of the prompt",
    RUN: "1 at the end of the prompt",
    HALT: "1 at the end of a run that halts",
    "written": "the digit of this cell one turn later, if no head comes to it",
    "next": "what the head that leaves this cell adds to the digit of the one that it comes to",
    "rightward": "1 if the head leaves this cell to the right",
    "leftward": "1 if the head leaves this cell to the left",
    "edge": "1 at what is no cell",
    "running": "0 in the prompt, 1 from its end on",
    "entering": "the digit that enters the queue: the token before this one, one turn later",
    "leaving": "the digit that leaves the queue: this token",
    "queue": "2^h times the next m tokens, as digits",
    "ended": "1 after the head's cell with a state that has no row",
}


@dataclass(frozen=True)
class Cot(TuringModel):
    """The Linear RNN for one machine and one space; steps and tape count only where the space is derived from them."""

    has_space = True
    construction = Construction(
        name="turing",
        source=SOURCE,
        statement=STATEMENT,
        model="cot",
        findings=(),
        precision="p ≤ β(m + 1) + 3 for m ≥ 3 cells and digits of β bits; n = steps does not matter",
        glossary=GLOSSARY,
        variants=("repaired",),
    )
    block_texts = BLOCKS

    def any_task(self, n: int) -> AnyTextTask:
        return AnyTextTask(self.machine, n, self.tape, self.cells)

    def task(self, n: int) -> TextTask:
        return TextTask(self.machine, n, self.tape, self.cells)

    def what(self, n: int, discipline: Discipline) -> str:
        return f"{self.any_task(n).cells} cells"

    def length(self, n: int) -> int:
        return sequence_length(self.any_task(n).cells, n)

    def longest(self, n: int, printed: Ids) -> int:
        """Returns None: the weights are certified for any number of steps, so engines refuse only more than `TextTask` takes."""
        return sequence_length(self.any_task(n).cells, MOST_STEPS)

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        """Returns the least p under either discipline: nothing is ever rounded."""
        return self.queue(n).least_bits

    def queue(self, n: int) -> QueueScale:
        return QueueScale(Code(self.machine), self.any_task(n).cells)

    def families(self, n: int, printed: Ids = NOTHING) -> tuple[Family, ...]:
        return Code(self.machine).words.families

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        """Plans the blocks, also for more cells than float64 weights reach. Lists all words: they do not depend on n."""
        code = Code(self.machine)
        return code.words.embedding(), (_look_up(code), _turn_later(code), _advance(self.queue(n)))

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        queue = self.queue(setting.n)
        return (
            *numbers_of(setting.format),
            Derived("m", Fraction(queue.cells), "the cells of the tape"),
            Derived("b", Fraction(1 << queue.code.bits), "power of two above every digit"),
            Derived("2^h", Fraction(queue.scale), "the scale of the queue, h about β(m − 3)/2"),
            Derived("2^h·b^(1−m)", queue.last, "the last digit of the queue"),
            Derived("2^(h+2β)", Fraction(queue.halt), f"the logit of {HALT}, above that of every digit"),
        )

    def request(self, wired: Wired, given: int) -> Request:
        """Asks for a run of so many steps, on the cells that the model is wired for. Raises ValueError for too many steps."""
        if self.cells is None and given < wired.n:
            return replace(self, cells=self.any_task(wired.n).cells).request(wired, given)
        return super().request(wired, given)

    def expected(self, n: int) -> list[str]:
        """Returns the words of a run. The last word is HALT, or OUT, or the `|` after the last step."""
        return words_after_prompt(self.task(n))

    def read_words(self, words: Sequence[str]) -> Configuration:
        return read(words)

    def read_steps(self, words: Sequence[str]) -> Iterator[TuringStep]:
        return read_steps(words)

    def left_the_space(self, words: Sequence[str]) -> str:
        return left_the_space(words)

"""Turing machines by chain of thought alone, three tokens a step: a Linear RNN of constant size that reads its own tokens.

Source: Theorem 4.1; Lemmas C.1, C.4, C.5, C.20 and C.21. The paper names the three tokens and gives no weights.
Idea: a recurrence cannot multiply its state by a function of it, as A and B are constant. It can add. So the state holds two sums,
one for the cells on either side of the head. A step adds to them a product of the last tokens, which a feed-forward computes. For
that the tokens are numbers that tell the place of the head.

    <s> 0 0 A 1 0 :   is given,   B 2 16  A 4 16 …   is written

Notation: B states and k symbols; m cells 0 … m − 1 with the symbols x_i, the head on cell P; b = 2^β ≥ k. The registers are
  place    b^P
  mirror   b^(m − P)
  left     Σ x_i·b^i over the cells left of the head
  right    Σ x_i·b^(m − i) over those right of it
A step writes
  the new state, a letter;
  the new mirror: b times the old one if the head goes left, 1/b of it if it goes right;
  2^(x + k·y)·place for the new place, the symbol x that is left behind, and the symbol y that the head comes upon.
The prompt is <s>, the cells with the letter A in front of the head's, and `:`. The cells left of the head are blank there.

Derivation of reading: the last two tokens of a step multiply to b^m·e for e = 2^(x + k·y), whatever P is. So one product and
thresholds at the k² values of e tell x and y; as 1/e is dyadic, thresholds times the token give the place. Of left < b^P the top
digit is that of the cell left of the head, and of right < b^(m − P) that of the cell right of it. So the symbol ahead is the
number of s = 1 … k − 1 with left ≥ s·b^(P − 1), or right ≥ s·b^(m − P − 1): thresholds between integers.
Derivation of loading: one register is b^i at cell i and another b^(m − i), by recurrences that multiply by b and by 1/b. At the
letter they are place and mirror; after it, a symbol times the second is what a cell adds to the right sum. `:` takes away what
they are there, so both are 0 from then on.
Derivation of writing: with v where the output head reads the number, and −1 at the square, number i has the logit v² − (v − i)².
Derivation of p: 2^a is the largest number in the vocabulary, for a = β(m − 1) + k² − 1, or more if there are 2^a letters. The
largest result is 2^(2a) + 1, a logit; where each scalar product is rounded, 2^(2a + 1). The digits furthest after the point are
that of 1/b^m and that of 2^(1 − k²): a at most. So nothing is rounded with 2a + 1 digits on both sides
of the point, and p = 4a + 3; or one digit more, and p = 4a + 5. p does not depend on the number of steps; positions may saturate,
as nothing reads them.

Size: 6 blocks and 32 numbers of state. Nothing grows with m or with the steps but the vocabulary, which lists the numbers 0 … 2^a.
For 2 symbols 2^a = 2^(m + 2): the numbers up to n are enough for m = log2 n − 2 cells.

OPEN in Theorem 4.1
paper says: the new state, the direction and the updated cell value are written.
we use: numbers that tell the direction and the value, and besides them where the head is and what it comes upon.
why: a direction and a value from a constant set leave it to the state alone to find the cell. For that no weights are known here,
and cot.py says why the obvious ways fail.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from constructions.models.building import format_of, wired_of
from constructions.models.program import NUMBER, Words, Write, WriteRule, back, decide, window
from constructions.parts.gadgets.threshold import threshold
from constructions.parts.recurrences.running_sum import running_sum
from constructions.turing.configurations import HALT, OUT, RUN, START, Code, TextTask
from constructions.turing.machine import DIGITS, LETTERS, RIGHT, Machine, MachineError
from constructions.turing.simulator import steps as simulated
from constructions.wiring.affine import Affine, as_affine, reg
from constructions.wiring.numbered import Family
from constructions.wiring.wire import BlockPlan, Embedding, Gadget, LinearUnit, Unit, linear
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline

SOURCE = "Theorem 4.1"
STATE, NUMERAL, RUNNING = "state", "numeral", "running"
MOST_BITS = 20  # of a number: the vocabulary lists them all
ONE = as_affine(1)


@dataclass(frozen=True)
class MachineSpace:
    """A machine on m cells: the base, the numbers and the words. Raises MachineError for what cannot be wired."""

    machine: Machine
    cells: int

    def __post_init__(self) -> None:
        if self.cells < 1:
            raise MachineError(f"cells: this model is wired for 1 cell or more, not {self.cells}")
        if self.top_bits > MOST_BITS:
            raise MachineError(
                f"cells: {self.cells} cells of {self.symbols} symbols take numbers up to 2^{self.top_bits}; "
                f"this model is wired for numbers up to 2^{MOST_BITS}"
            )

    @property
    def symbols(self) -> int:
        """k."""
        return self.machine.symbols

    @property
    def base(self) -> int:
        """b, the least power of two from k on."""
        return 1 << self.digit_bits

    @property
    def digit_bits(self) -> int:
        """β."""
        return (self.symbols - 1).bit_length()

    @cached_property
    def codes(self) -> Mapping[int, tuple[int, int]]:
        """e = 2^(x + k·y) → (x, y), in order."""
        k = self.symbols
        return {1 << (x + k * y): (x, y) for y, x in itertools.product(range(k), repeat=2)}

    @property
    def top_bits(self) -> int:
        """a: 2^a is the largest number."""
        numbers = self.digit_bits * (self.cells - 1) + self.symbols**2 - 1
        return max(numbers, len(self.letters).bit_length())

    @property
    def top(self) -> int:
        """2^a."""
        return 1 << self.top_bits

    def power(self, exponent: int) -> Fraction:
        return Fraction(self.base) ** exponent

    @cached_property
    def letters(self) -> str:
        """The states, then the letters that the machine can halt in."""
        return Code(self.machine).letters

    @property
    def words(self) -> Words:
        """The vocabulary: letters, the numbers 0 … 2^a, and four special words."""
        letters = Family(STATE, 0, len(self.letters) - 1, self.letters.__getitem__)
        return Words((letters, Family(NUMERAL, 0, self.top)), (HALT, OUT, START, RUN))

    def least_bits(self, discipline: Discipline) -> int:
        """Returns the least p at which nothing is rounded."""
        return 4 * self.top_bits + (3 if discipline is Discipline.FUSED else 5)


# Weights


def read_tokens(space: MachineSpace) -> tuple[Gadget, ...]:
    """Returns the product of the last two numbers; what the head's letter and the cell after it say in the prompt."""
    given = reg(STATE) - reg(RUNNING)
    marks = reg(NUMERAL) + back(NUMERAL, 1) + reg(RUNNING)  # 3 where a step ends, less elsewhere
    return (
        Gadget(
            "e: the token times the one before, where a step ends",
            (Unit(back(NUMBER, 1) - space.top * (3 - marks), reg(NUMBER), {"e": 1 / space.power(space.cells)}),),
            {},
            "Lemma C.1",
        ),
        Gadget("is this the letter of the prompt", (Unit(given, ONE, {"letter": 1}),)),
        Gadget("b^P, at the letter", (Unit(given, reg("rising"), {"place_given": 1}),)),
        Gadget("b^(m − P), at the letter", (Unit(given, reg("falling"), {"mirror_given": 1}),)),
        Gadget("the symbol after the letter", (Unit(back(STATE, 1) - reg(RUNNING), reg(NUMBER), {"symbol_given": 1}),)),
    )


def along_the_prompt(space: MachineSpace) -> tuple[LinearUnit, ...]:
    """Returns b^i and b^(m − i) at cell i as far as the letter; after it b times the one, 1/b of the other; 0 from `:` on."""
    b, share, most = space.base, space.power(-1), space.power(space.cells + 1)
    return (
        LinearUnit("b^i", {"rising": (b * reg("rising"), share * reg(START) - most * reg(RUN))}),
        LinearUnit("b^(m − i)", {"falling": (share * reg("falling"), most * reg(START) - share * reg(RUN))}),
        running_sum("has the prompt ended", reg(RUN), RUNNING),
    )


def understand(space: MachineSpace) -> tuple[Gadget, ...]:
    """Returns what the step says that ends here, or what the prompt says at `:`; what a cell of the prompt adds to a sum."""
    k, start = space.symbols, reg(RUN)
    behind = reg("given") - back(STATE, 1)  # 1 at the cells after the head's
    key = 1 + k * back(NUMBER, 2)
    gadgets = [
        Gadget(
            "a cell on the right", (Unit(reg(NUMBER) - k * (1 - behind), reg("falling"), {"right_gain": space.base}),)
        ),
        Gadget("the state and the symbol at the start", (Unit(start, 1 + reg("first_symbol"), {"key": 1}),)),
        Gadget("the head's place at the start", (Unit(start, reg("first_place"), {"place": 1}),)),
        Gadget("and its mirror", (Unit(start, reg("first_mirror"), {"mirror": 1}),)),
        threshold(reg("e"), 1, {"key": 1}, times=key, name="the state, where a step ends"),
        threshold(reg("e"), 1, {"mirror": 1}, times=back(NUMBER, 1), name="and the mirror"),
    ]
    before, of_before = (0, 0), Fraction(0)
    for e, symbols in space.codes.items():
        x, y = (new - old for new, old in zip(symbols, before, strict=True))
        changes = {name: n for name, n in (("left_behind", x), ("ahead", y), ("key", y)) if n}
        if changes:
            gadgets.append(threshold(reg("e"), e, changes, name=f"the symbols of e ≥ {e}"))
        share = Fraction(1, e) - of_before
        gadgets.append(threshold(reg("e"), e, {"place": share}, times=reg(NUMBER), name=f"1/e for e ≥ {e}"))
        before, of_before = symbols, Fraction(1, e)
    return tuple(gadgets)


def given_so_far() -> tuple[LinearUnit, ...]:
    """Returns what the prompt says of the head, from its letter on."""
    return (
        running_sum("is the letter given", reg("letter"), "given"),
        *(
            running_sum(f"{x}, once it is given", reg(f"{x}_given"), f"first_{x}")
            for x in ("place", "mirror", "symbol")
        ),
    )


def table(space: MachineSpace) -> Gadget:
    """Returns the table of rules: the tokens of a rule at the key 1 + k·state + symbol, nothing at other keys.

    Derivation: functions of the key that are 0 outside the table, by their second differences, one unit for each bend.
    """
    machine, into = space.machine, ("next", "writes", "rightward", "leftward")
    rules = [machine.rule(letter, symbol) for letter in machine.states for symbol in range(space.symbols)]
    values = {
        key: (space.letters.index(rule.state), rule.write, int(rule.move == RIGHT), int(rule.move != RIGHT))
        for key, rule in enumerate(rules, start=1)
    }
    units = []
    for corner in range(len(rules) + 2):
        around = (values.get(corner + offset, (0,) * len(into)) for offset in (-1, 0, 1))
        bends = {name: x - 2 * y + z for name, x, y, z in zip(into, *around, strict=True) if x - 2 * y + z}
        if bends:
            units.append(Unit(reg("key") - corner, ONE, bends))
    # What no rule does is read all the same.
    unused = {name: 0 for name in into if not any(name in unit.into for unit in units)}
    return Gadget(f"the table of {len(rules)} rules", tuple(units), unused, "Lemma C.4")


def follow(space: MachineSpace) -> tuple[Gadget, ...]:
    """Returns what the step that ends here adds to the sums; the head's next place, one token before it is to be written."""
    b, share, k = space.base, space.power(-1), space.symbols

    def moved(symbol: str, way: str, by: Affine, into: str, sign: int) -> Gadget:
        """Wires into += sign·symbol·by, if the head has gone that way: the rule that said so was looked up three tokens before."""
        gate = reg(symbol) - k * (1 - back(way, 3))
        return Gadget(f"{symbol} {way}: {into}", (Unit(gate, by, {into: sign}),), {}, "Lemma C.1")

    return (
        moved("left_behind", "rightward", share * reg("place"), "left_gain", 1),
        moved("ahead", "rightward", reg("mirror"), "right_gain", -1),
        moved("left_behind", "leftward", share * reg("mirror"), "right_gain", 1),
        moved("ahead", "leftward", reg("place"), "left_gain", -1),
        Gadget("the next place on the right", (Unit(back("rightward", 2), b * back("place", 2), {"next_place": 1}),)),
        Gadget("the next place on the left", (Unit(back("leftward", 2), share * back("place", 2), {"next_place": 1}),)),
    )


def look_ahead(space: MachineSpace) -> tuple[Gadget, ...]:
    """Returns x + k·y for the symbol x to be written and y that the head comes upon; whether the head leaves the space."""
    k, far = space.symbols, space.power(space.cells + 1)

    def reaches(side: str, way: str, unit: Affine) -> Iterator[Gadget]:
        """Yields k for each s = 1 … k − 1 with the sum of that side ≥ s·unit, if the head goes there."""
        for s in range(1, k):
            there = reg(side) - far * (1 - back(way, 2)) - s * unit
            yield threshold(there, 0, {"code": k}, name=f"the symbol on the {side} is {s} or more")

    return (
        linear("the symbol to be written", back("writes", 2), "code"),
        *reaches("right", "rightward", reg(NUMBER)),
        *reaches("left", "leftward", reg("next_place")),
        Gadget(
            "does the head leave the space",
            (
                Unit((space.base + 1) * back("rightward", 1) - back("mirror", 1), ONE, {"leaves": 1}),
                Unit(2 * back("leftward", 1) - back("place", 1), ONE, {"leaves": 1}),
            ),
        ),
    )


def write(space: MachineSpace) -> tuple[Gadget, ...]:
    """Returns the next token; HALT where the table says nothing, as of a state without a row."""
    stays, mirror = -reg("leaves"), back("mirror", 1)
    bends = {corner: 1 if corner == 0 else Fraction(1 << corner, 2) for corner in range(space.symbols**2 - 1)}
    double = tuple(Unit(reg("code") - i, reg("next_place"), {NUMBER: 2 * bend}) for i, bend in bends.items())
    cell = (
        Unit(ONE, reg("next_place"), {NUMBER: 2}),
        *double,
        Unit(back("rightward", 2) + back("leftward", 2), ONE, {NUMERAL: 1}),
    )
    rules = (
        WriteRule("the new state", (reg("rightward") + reg("leftward"),), Write(reg("next"), STATE)),
        WriteRule("the mirror to the right", (back("rightward", 1) + stays,), Write(space.power(-1) * mirror, NUMERAL)),
        WriteRule("the mirror to the left", (back("leftward", 1) + stays,), Write(space.base * mirror, NUMERAL)),
        WriteRule("the head leaves the space", (reg("leaves"),), OUT),
    )
    return (*decide(rules, space.words, idle=HALT), Gadget("2^code times the next place", cell, {}, "Lemma C.4"))


def plan(space: MachineSpace) -> tuple[Embedding, tuple[BlockPlan, ...]]:
    first, second = read_tokens(space), understand(space)
    fourth, fifth, sixth = follow(space), look_ahead(space), write(space)
    sums = tuple(running_sum(f"the cells on the {side}", reg(f"{side}_gain"), side) for side in ("left", "right"))
    blocks = (
        BlockPlan(
            (), first, (*window([BlockPlan((), gadgets) for gadgets in (first, second)]), *along_the_prompt(space))
        ),
        BlockPlan((), second, given_so_far()),
        BlockPlan((), (table(space),)),
        BlockPlan((), fourth, window([BlockPlan((), gadgets) for gadgets in (fourth, fifth, sixth)])),
        BlockPlan((), fifth, sums),
        BlockPlan((), sixth),
    )
    return space.words.embedding(), blocks


def build(
    machine: Machine, *, cells: int, precision_bits: int | None = None, discipline: Discipline = Discipline.FUSED
) -> Wired:
    """Returns the wired Linear RNN for one machine and one space.

    Raises ValueError for p even or too small, the message names the least p; MachineError for a space that cannot be wired.
    """
    space = MachineSpace(machine, cells)
    least = space.least_bits(discipline)
    arithmetic = Arithmetic(format_of(least, precision_bits, f"{cells} cells"), discipline)
    words, blocks = plan(space)
    return wired_of("turing", SOURCE, (), frozenset(), cells, words, blocks, arithmetic)


# Words


def prompt(machine: Machine, tape: str, cells: int) -> list[str]:
    """Returns the first configuration; the word stands in the middle of the space."""
    task = TextTask(machine, 0, tape, cells)
    word = task.tape or DIGITS[0]
    right = cells - task.left - task.width
    return [START, *DIGITS[0] * task.left, LETTERS[0], *word, *DIGITS[0] * right, RUN]


def expected_sequence(machine: Machine, tape: str, cells: int, steps: int) -> list[str]:
    """Returns every token after the prompt, by the simulator; the last is HALT, or OUT, or the third of the last step."""
    base, k = MachineSpace(machine, cells).base, machine.symbols
    first = TextTask(machine, 0, tape, cells).left
    symbols = dict(enumerate(machine.word(tape), first))
    words, state = list[str](), LETTERS[0]
    for step in simulated(machine, tape, steps):
        symbols[first + step.head] = step.written
        state, place = step.next_state, first + step.head + step.move
        words.append(state)
        if not 0 <= place < cells:
            return [*words, OUT]
        code = step.written + k * symbols.get(place, 0)
        words += [str(base ** (cells - place)), str(base**place << code)]
    return [*words, HALT] if machine.halts(state) else words

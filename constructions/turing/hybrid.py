"""Turing machines by a hybrid RNN: one Linear RNN block and one Transformer block with one head run a machine.

Source: Theorem 5.8; Lemmas C.16, C.20, C.21 and C.4. The paper gives the sequence and no weights.
Idea: a step is five tokens, `@0 1 @0 B →`: in cell 0 the machine writes 1, goes on in state B, to the right. The pointer is the sum
of the directions so far. The head finds the last step at the pointer, or the cell in the prompt, and reads its symbol; where there
is none, position 1 says blank. A step counts from its direction on, so all its tokens read what was there before it.

Which token comes next:
  after the prompt, a symbol or a direction      the pointer's cell; HALT if the state has no row; OUT if there is no such cell
  after the first cell, the second, the state    the symbol, the state, the direction of the rule for k·state + symbol read

Registers, by the block that writes them:
  embedding  number, number_squared, cell, symbol, state, one per special token, position
  1          …-j: what stood j tokens before; pointer: the sum of all directions; one, first, position_squared;
             key: the shifted cell of a record, 0 elsewhere; recorded: its symbol; pointer_squared: of the shifted pointer;
             writes, enters: 1 at the first, the second cell of a step; row: k times the state before the step; halted; outside
  2          read: the symbol of the cell at the pointer; then the output

Derivation of the keys: a record's cell c is the key c + s with s above −c, so keys are positive, and so are the queries for
cells that there are; in front of the first one the query is 0, what is read is anything, and OUT is written without it. M is
above every shifted number and position x, so ReLU(x + M·(g − 1)) is x where g = 1, and 0 where g ≤ 0.

Size: 2 blocks, 1 head, 16 numbers of state, at most B·k units for the table; nothing else grows with the machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from constructions.models.construction import Construction, Derived, numbers_of
from constructions.models.model import NOTHING, Ids, Planned
from constructions.models.program import NUMBER, Words, Write, WriteRule, back, decide, window
from constructions.parts.heads.copy import position_square_precision
from constructions.parts.heads.match import RegisterPair, match_precision, match_scale, spelled_out
from constructions.parts.heads.match_close import match_close
from constructions.parts.recurrences.running_sum import running_sum
from constructions.turing.base import HALT
from constructions.turing.machine import LEFT, LETTERS
from constructions.turing.simulator import histories, simulate_fast
from constructions.turing.tape_models import (
    CELL,
    ENTERS,
    GLOSSARY,
    OUT,
    POINTER,
    START,
    STATE,
    SYMBOL,
    TO_LEFT,
    TO_RIGHT,
    WRITES,
    AnyTapeTask,
    TapeModel,
    arrow,
    halted,
    kinds,
    number_families,
    read,
    table,
    words,
)
from constructions.wiring.affine import Affine, as_affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Family
from constructions.wiring.part import Setting, least_odd_precision
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Gadget, LinearUnit, Unit, constant
from constructions.wiring.wired import Wired
from precision.format import Discipline, Format

SOURCE = "Theorem 5.8"
STATEMENT = "A hybrid RNN of two blocks with one head runs any Turing machine, with five tokens for each step."
STEP = 5  # tokens
Tokens = NDArray[np.signedinteger]

OWN_RECORD = Finding(
    id="own-record",
    source="Theorem 5.8 with Lemma C.31",
    printed="the cell is read from the last `P x P`, from the second P on",
    used="from the last `P x P state direction`: a step counts from its direction on",
    why="the print does not say from which token on a record counts; from its second P on, State[t+1] is written where the last"
    " `P x P` is the symbol just written, not the one read",
)
CELL_ZERO = Finding(
    id="cell-zero",
    source="Theorem 5.8 with Lemma C.16",
    printed="MatchClose on the pointer alone, a number of Z",
    used="on the pointer plus a number that makes every cell positive",
    why="the print does not say what the key is where there is no record; if it is 0, at cell 0 the last token is found",
)
FINDINGS: tuple[Finding, ...] = (OWN_RECORD, CELL_ZERO)


def _words(task: AnyTapeTask, cells: tuple[int, int] | None = None) -> Words:
    return words(number_families(task, cells), (OUT,))


def _shift(task: AnyTapeTask, printed: frozenset[str]) -> int:
    return 0 if CELL_ZERO.id in printed else 1 - task.ends[0]


def sequence_length(task: AnyTapeTask) -> int:
    """Returns the most tokens, prompt included: the last one says whether the machine has halted."""
    return 1 + len(task.tape) + STEP * task.steps + 1


def _bound(task: AnyTapeTask) -> int:
    """Returns M, a number above every position and every shifted number."""
    return sequence_length(task) + 2 * task.last_cell + len(LETTERS) + 1


def _linear_block(task: AnyTapeTask, attention: BlockPlan, printed: frozenset[str]) -> BlockPlan:
    one, number, cell, state = as_affine(1), reg(NUMBER), reg(CELL), reg(STATE)
    shift, beyond = _shift(task, printed), _bound(task)
    signs = (1, -1) if CELL_ZERO.id in printed else (1,)  # a shifted cell is never negative

    def square(x: Affine, gate: Affine, into: str) -> tuple[Unit, ...]:
        """Wires into += x² where the gate is 1; it is 0 or less elsewhere."""
        return tuple(Unit(sign * x + beyond * (gate - 1), sign * x, {into: 1}) for sign in signs)

    def record(gate: Affine, at: Affine, symbol: Affine) -> tuple[Unit, ...]:
        """Returns the shifted cell and its square as key, and the symbol, where the gate is 1."""
        x = at + shift
        return Unit(gate, x, {"key": 1}), *square(x, gate, squared("key")), Unit(gate, symbol, {"recorded": 1})

    if OWN_RECORD.id in printed:
        step = record(cell + back(CELL, 2) - 1, number, back(NUMBER, 1))
    else:
        step = record(arrow(), back(NUMBER, 2), back(NUMBER, 3))
    target = square(reg(POINTER) + shift, one, squared("pointer"))
    k = task.machine.symbols
    gadgets = (
        constant("1", {"one": 1}),
        Gadget("1[position = 1]", (Unit(reg(START), one, {"first": 1}),)),
        Gadget("position²", (Unit(reg("position"), reg("position"), {squared("position"): 1}),), {}, "Lemma C.1"),
        Gadget("(pointer + s)²", target, {}, "Lemma C.1"),
        Gadget("record of a cell of the prompt", record(reg(SYMBOL) - back(CELL, 1), reg("position") - 2, number)),
        Gadget("record of a step", step),
        Gadget(
            "the first and the second cell of a step",
            (Unit(cell - back(CELL, 2), one, {WRITES: 1}), Unit(cell + back(CELL, 2) - 1, one, {ENTERS: 1})),
        ),
        Gadget(
            "k times the state before the step",
            (
                Unit(cell + back(STATE, 2) - 1, k * back(NUMBER, 2), {"row": 1}),
                Unit(cell + back(STATE, 4) - 1, k * back(NUMBER, 4), {"row": 1}),
                Unit(state + back(STATE, 5) - 1, k * back(NUMBER, 5), {"row": 1}),
            ),
        ),
        halted(task),
        Gadget(
            "has the head left the space",
            (
                Unit(reg(POINTER) - task.ends[1], arrow(), {"outside": 1}),
                Unit(task.ends[0] - reg(POINTER), arrow(), {"outside": 1}),
            ),
        ),
    )
    units: tuple[LinearUnit, ...] = window([BlockPlan((), gadgets), attention])
    pointer = running_sum("the pointer", reg(TO_RIGHT) - reg(TO_LEFT), POINTER)
    return BlockPlan((), gadgets, (*units, pointer))


def _blocks(task: AnyTapeTask, setting: Setting, listed: Words, printed: frozenset[str]) -> tuple[BlockPlan, ...]:
    query = reg(POINTER) + _shift(task, printed) * reg("one")
    pair = RegisterPair(reg("key"), query, reg(squared("key")), reg(squared("pointer")))
    head = match_close("the cell at the pointer", (pair,), {"read": reg("recorded")}, setting)
    rules = (
        WriteRule(
            "the pointer's cell",
            (reg(SYMBOL) + reg(START) + arrow() - reg("halted") - reg("outside"),),
            Write(reg(POINTER), CELL),
        ),
        WriteRule(f"{HALT} where the state has no row", (reg("halted"),), HALT),
        WriteRule(f"{OUT} where the tape has no such cell", (reg("outside") - reg("halted"),), OUT),
    )
    output = (*decide(rules, listed), kinds(), table(task, reg("row") + reg("read")))
    attention = BlockPlan((head,), output)
    return _linear_block(task, attention, printed), attention


BLOCKS: Mapping[int, str] = {
    1: "keeps the last tokens and the pointer; makes records of cells and symbols, and the row of the state",
    2: "reads the cell at the pointer; looks the rule up and writes the next token",
}


@dataclass(frozen=True)
class TuringHybrid(TapeModel):
    """The hybrid RNN. cells: how many there are, the word in their middle; by default, as many as the steps can reach."""

    has_space = True
    construction = Construction(
        name="turing",
        source=SOURCE,
        statement=STATEMENT,
        model="hybrid",
        findings=FINDINGS,
        precision="p = 2q + 1 with q = O(log n) digits for keys up to 2n + 1 at positions up to 5n",
        glossary={
            **GLOSSARY,
            "one": "1 everywhere",
            "first": "1 at position 1",
            "key": "cell + s where a symbol is recorded, else 0",
            "recorded": "the symbol that is recorded, else 0",
            "row": "k times the state before the step",
            "read": "the symbol of the cell at the pointer",
            "outside": "1 at a direction after which the pointer is no cell of the tape",
        },
    )
    block_texts = BLOCKS

    def length(self, n: int) -> int:
        return sequence_length(self.any_task(n))

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        """Returns the least p: the head matches keys as large as there are cells over the whole sequence, O(log steps) bits.

        The logits 2c·i of cells, the products with ReLU(x + M·(g − 1)), M² in size, and the table's sums take less for all but
        small numbers.
        """
        task = self.any_task(n)
        length, largest = sequence_length(task), task.ends[1] + _shift(task, NOTHING)
        own = least_odd_precision(lambda q: max(2 * (2 * _bound(task)).bit_length() + 1, task.table_bits))
        fused = max(own, position_square_precision(largest, length), match_precision(largest, length))
        return spelled_out(fused, discipline, largest, length)

    def families(self, n: int, printed: Ids = NOTHING) -> tuple[Family, ...]:
        return number_families(self.any_task(n))

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        task = self.any_task(n)
        known = _words(task, task.window(listed))
        return known.embedding(), _blocks(task, self.setting(n, fmt), known, printed)

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        scale = match_scale(setting, False)
        fmt = setting.format
        shift = Fraction(_shift(self.any_task(setting.n), NOTHING))
        return (
            *numbers_of(fmt),
            Derived("L", Fraction(setting.length_bound), f"power of two above every position 1 … {setting.length}"),
            Derived("G", Fraction(setting.gap), "power of two; l·e^−(G−2) < 2^−(q+2)"),
            Derived("S", Fraction(scale.mismatch), "4GL²: what a unit of distance between cells costs"),
            Derived("D", Fraction(scale.default), "2GL²: what position 1 costs, the blank"),
            Derived("s", shift, "added to a cell, so that keys are positive: 1 for the first cell"),
        )

    def expected_tokens(self, wired: Wired, n: int) -> Tokens:
        if self.cells is None and n != wired.n:  # the cells of fewer steps have other numbers
            return np.array(wired.tokens(self.expected(n)), np.int64)
        return self.tokens(n)

    def tokens(self, n: int) -> Tokens:
        """Returns every token after the prompt, by the simulator.

        The last one is HALT, or OUT, or the cell of the step that is not made any more.
        """
        task, machine, tape = self.task(n), self.machine, self.tape
        word_list, space = _words(task), task.cells
        size = len(word_list.vocabulary)
        step_count = simulate_fast(machine, tape, n).steps
        kind: type[np.signedinteger] = np.int16 if size <= np.iinfo(np.int16).max else np.int32
        tokens: Tokens = np.empty(STEP * step_count + 1, kind)
        begin = 0
        for run in histories(machine, tape, n):
            after = np.append(run.head[1:], run.final.head)
            outside = np.flatnonzero((after < space[0]) | (after > space[-1]))
            step_count = int(outside[0]) + 1 if len(outside) else len(run.head)
            end = begin + STEP * step_count
            piece = tokens[begin:end]
            piece[0::STEP] = piece[2::STEP] = run.head[:step_count] + word_list.number(CELL, 0)
            piece[1::STEP] = run.written[:step_count] + np.int32(word_list.number(SYMBOL, 0))
            piece[3::STEP] = run.next_state[:step_count] + np.int32(word_list.number(STATE, 0))
            piece[4::STEP] = np.where(
                run.move[:step_count] == LEFT, word_list.special(TO_LEFT), word_list.special(TO_RIGHT)
            )
            begin = end
            if len(outside):
                break
        if step_count == len(run.head) and run.final.halted:
            tokens[begin] = word_list.special(HALT)
        else:
            tokens[begin] = word_list.special(OUT) if len(outside) else word_list.number(CELL, run.final.head)
        return tokens[: begin + 1]

    def expected(self, n: int) -> list[str]:
        vocabulary = _words(self.task(n)).vocabulary
        return [vocabulary[token] for token in self.tokens(n).tolist()]

    def left_the_space(self, words: Sequence[str]) -> str:
        if words[-1] != OUT:
            return ""
        at = read(words)
        return f"cells: the head would be on cell {at.head} after {at.steps} steps, and the tape has no such cell"

"""Turing machines by in-context retrieval: a Linear RNN of two blocks that finds each cell in its own text.

Source: Theorem 5.4; Lemmas C.31, C.20, C.21 and C.4; definition A.5. The paper leaves the weights out.
Idea: first the tape word is copied, cell by cell, into the form of a write, `@0 1 @0`: a search for each place of the prompt, which
finds FAILED after its end. Then a step is a search for the cell at the pointer, its result, and the five words of the step:

  <StartSearch> ^<s>(?:\\s\\d){0}\\s(\\d) <EndSearch> 1 @0 1 @0            copies cell 0; {1}, {2}, … follow
  <StartSearch> ^.* @3 (\\d) @3 .*?$ <EndSearch> FAILED @3 1 @3 B →      reads a blank in cell 3, writes 1 there
The pointer is the sum of the directions so far, and the next place to copy is the last cell plus 1.

The search: `^.*` is greedy and starts at the beginning, so the last `@3 x @3` is met first, and its x is the only group. A digit
between two cells stands only where a cell is written: in earlier searches (\\d) stands there. Both @3 are whole
words, as there is a space on either side. Each search takes time linear in the text.

Block 1 keeps the last tokens, and finds out which rule of the machine applies; block 2 has no recurrence and writes the next token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from constructions.engines import Respond
from constructions.models.construction import Construction, Derived, numbers_of
from constructions.models.model import NOTHING, Ids, Planned
from constructions.models.program import NUMBER, Words, Write, WriteRule, back, decide, window
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH, SearchTool
from constructions.parts.recurrences.running_sum import running_sum
from constructions.turing.base import HALT
from constructions.turing.machine import LETTERS
from constructions.turing.simulator import steps as simulated
from constructions.turing.tape_models import (
    ARROWS,
    CELL,
    ENTERS,
    GLOSSARY,
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
    table,
    words,
)
from constructions.wiring.affine import Affine, as_affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Family
from constructions.wiring.part import Setting, least_odd_precision
from constructions.wiring.wire import BlockPlan, Gadget, Unit
from constructions.wiring.wired import Wired
from precision.format import Discipline, Format

SOURCE = "Theorem 5.4"
STATEMENT = "A Linear RNN of two blocks runs any Turing machine by a search of its own text for each step."
PLACE = "place"
COPY, STEP = 7, 13  # tokens

FIRST_WRITE = Finding(
    id="first-write",
    source="Theorem 5.4, the tape's search",
    printed="P (.) P.*?$, a search that may begin anywhere in the text",
    used="`^.*` in front of it",
    why="Lemma C.31 wants the last write of a cell, and re.search returns the leftmost match, the first one",
)
WHOLE_GROUP = Finding(
    id="whole-group",
    source="Theorem 5.4, the tape's search in the proof, with A.5",
    printed="(P (.) P .*?$), a group around the whole",
    used="no group but the symbol's, as in the main text",
    why="main text and proof differ; with the outer group, group(1) is all the text from the write to the end",
)
CHARACTERS = Finding(
    id="prompt-characters",
    source="Theorem 5.4, the prompt's search",
    printed=r"^(?:\S\s*).{i}(\S)",
    used=r"^<s>(?:\s\d){i − 1}\s(\d)",
    why="{i} repeats one character, not a token; the main text says that it is the search of Index, where {…} is after the group",
)
FINDINGS: tuple[Finding, ...] = (FIRST_WRITE, WHOLE_GROUP, CHARACTERS)


@dataclass(frozen=True)
class TapeSearch:
    """The words of the tape's search: before, between and after its two cells."""

    before: str
    between: str
    behind: str


def tape_search(printed: frozenset[str]) -> TapeSearch:
    """Returns the searches that the model writes, with these findings put back to print."""
    anywhere = FIRST_WRITE.id in printed
    if WHOLE_GROUP.id in printed:
        return TapeSearch("(" if anywhere else "^.*(", "(.)", ".*?$)")
    return TapeSearch(".*?" if anywhere else "^.*", r"(\d)", ".*?$")


def families(
    task: AnyTapeTask, cells: tuple[int, int] | None = None, *, printed: frozenset[str] = frozenset()
) -> tuple[Family, ...]:
    """Returns the numbers: a tape's, and a search for each place of the prompt. cells: the first and the last, by default all."""
    last = len(task.tape)

    def spelled(i: int) -> str:
        """Returns the search for the place i from 0. The print counts places from 1, and makes no search after the last one."""
        if CHARACTERS.id in printed and i < last:
            return rf"^(?:\S\s*).{{{i + 1}}}(\S)"
        return rf"^<s>(?:\s\d){{{i}}}\s(\d)"

    return (*number_families(task, cells), Family(PLACE, 0, last, spelled))


def _words(task: AnyTapeTask, printed: frozenset[str], cells: tuple[int, int] | None = None) -> Words:
    search = tape_search(printed)
    pieces = (search.before, search.between, search.behind)
    return words(families(task, cells, printed=printed), (FAILED, START_SEARCH, END_SEARCH, *pieces))


def _first_block(task: AnyTapeTask) -> BlockPlan:
    """Returns where a step stands, and the number of its rule. After a result stand `cell symbol cell state`."""
    one, cell, k = as_affine(1), reg(CELL), task.machine.symbols
    first = cell + back(END_SEARCH, 2) - 1
    second = cell + back(SYMBOL, 1) + back(CELL, 2) - 2
    in_step = {WRITES: first - back(PLACE, 3), ENTERS: second - back(PLACE, 5)}

    def rule(result: int) -> Affine:
        """Returns the form k·state + symbol, for a search result so many tokens earlier."""
        return k * back(NUMBER, result + 9) + back(NUMBER, result)

    gadgets = (
        Gadget("the two cells of a step", tuple(Unit(gate, one, {into: 1}) for into, gate in in_step.items())),
        Gadget(
            "k times the state before the step, plus the symbol that was found",
            (
                Unit(in_step[WRITES], rule(1), {"rule": 1}),
                Unit(in_step[ENTERS], rule(3), {"rule": 1}),
                Unit(reg(STATE), rule(4), {"rule": 1}),
            ),
        ),
        Gadget("the second cell of a copy", (Unit(second + back(PLACE, 5) - 1, one, {"copied": 1}),)),
        halted(task),
    )
    return BlockPlan((), gadgets, (running_sum("the pointer", reg(TO_RIGHT) - reg(TO_LEFT), POINTER),))


def _rules(search: TapeSearch) -> Iterator[WriteRule]:
    start, symbol, failed, halts = reg(START_SEARCH), reg(SYMBOL), reg(FAILED), reg("halted")
    result, copying = back(END_SEARCH, 1), back(PLACE, 2)
    pointer = Write(reg(POINTER), CELL)
    in_prompt = reg(START) + symbol - back(CELL, 1) - result
    yield WriteRule("search, at the end of the prompt and of a step", (in_prompt + arrow() - halts,), START_SEARCH)
    yield WriteRule(f"{HALT} where the state has no row", (halts,), HALT)

    yield WriteRule(
        "search for cell 0 in the prompt", (start, back(START, 1) + back(SYMBOL, 1)), Write(as_affine(0), PLACE)
    )
    yield WriteRule("search for the next one", (start, back(CELL, 1)), Write(back(NUMBER, 1) + 1, PLACE))
    yield WriteRule("end of a search in the prompt", (reg(PLACE),), END_SEARCH)
    yield WriteRule("a copy: its cell", (copying, 1 - failed), Write(back(NUMBER, 2), CELL))
    yield WriteRule("a copy: its symbol", (back(PLACE, 3), reg(CELL)), Write(back(NUMBER, 1), SYMBOL))
    yield WriteRule("search after a copy", (reg("copied"),), START_SEARCH)
    yield WriteRule("search after the last copy", (copying, failed), START_SEARCH)

    ready = back(TO_LEFT, 1) + back(TO_RIGHT, 1) + back(FAILED, 1)
    yield WriteRule("search for the pointer's cell", (start, ready), search.before)
    yield WriteRule("the pointer's cell, in the search", (reg(search.before) + reg(search.between),), pointer)
    yield WriteRule("between its two cells", (back(search.before, 1),), search.between)
    yield WriteRule("after them", (back(search.between, 1),), search.behind)
    yield WriteRule("end of a search for a cell", (reg(search.behind),), END_SEARCH)
    yield WriteRule("the pointer's cell", (result, 1 - copying), pointer)
    yield WriteRule("the cell again", (symbol, back(CELL, 1)), Write(back(NUMBER, 1), CELL))


def sequence_length(task: AnyTapeTask) -> int:
    """Returns the most tokens: prompt, copies, a search after the last one, steps, and a word that says whether it halted."""
    return 1 + len(task.tape) + COPY * len(task.tape) + 4 + STEP * task.steps + 1


BLOCKS: Mapping[int, str] = {
    1: "keeps the last tokens and the pointer; finds the number of the rule that applies",
    2: "looks the rule up, and writes the next token",
}


@dataclass(frozen=True)
class TuringRag(TapeModel):
    """The Linear RNN that searches. It has all cells that its steps can reach: no number of cells is given."""

    searches = True
    construction = Construction(
        name="turing",
        source=SOURCE,
        statement=STATEMENT,
        model="rag",
        findings=FINDINGS,
        precision="p = 2q + 1: 2n² + 1, of the logits of cells up to n, must fit q digits",
        glossary={
            **GLOSSARY,
            PLACE: "1 at a search in the prompt",
            "rule": "k times the state before the step, plus the symbol that was found",
            "copied": "1 at the second cell of a copy",
            START_SEARCH: "1 at the start of a search",
            END_SEARCH: "1 at the end of a search",
            FAILED: "1 at the result of a search that found nothing",
        },
    )
    block_texts = BLOCKS

    def __post_init__(self) -> None:
        if self.cells is not None:
            raise ValueError("cells is for the models cot and hybrid; rag has all cells that its steps can reach")

    def length(self, n: int) -> int:
        return sequence_length(self.any_task(n))

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        """Returns the least p at which all numbers fit: every number is an integer, so nothing is rounded then.

        Positions, of which `sequential` needs no more; logits 2c·i − i² + 1 of cells, of which it forms 2c·i by itself; and the
        table's sums.
        """
        task = self.any_task(n)
        largest = max(task.last_cell, len(LETTERS))
        return least_odd_precision(
            lambda q: max((2 * largest * largest + 1).bit_length(), sequence_length(task).bit_length(), task.table_bits)
        )

    def families(self, n: int, printed: Ids = NOTHING) -> tuple[Family, ...]:
        return families(self.any_task(n), printed=printed)

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        task = self.any_task(n)
        known, first = _words(task, printed, task.window(listed)), _first_block(task)
        output = decide(tuple(_rules(tape_search(printed))), known)
        last = BlockPlan((), (*output, kinds(), table(task, reg("rule"))))
        remember = BlockPlan((), first.gadgets, (*window([first, last]), *first.linear_units))
        return known.embedding(), (remember, last)

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        return numbers_of(setting.format, ": above twice the square of a cell")

    def surroundings(self, wired: Wired) -> Respond:
        """Returns what carries out the searches."""
        return SearchTool(wired.vocabulary)

    def expected(self, n: int) -> list[str]:
        """Returns the words that a simulator of machines writes; the last word is HALT, or begins the search of another step."""
        machine, tape = self.machine, self.task(n).tape
        place, cell_search = r"^<s>(?:\s\d){%d}\s(\d)", tape_search(frozenset())
        text: list[str] = []

        def search(result: str, *words: str) -> None:
            text.extend((START_SEARCH, *words, END_SEARCH, result))

        for c, x in enumerate(tape):
            search(x, place % c)
            text += [f"@{c}", x, f"@{c}"]
        search(FAILED, place % len(tape))
        written, halts = set(range(len(tape))), False
        for step in simulated(machine, tape, n):
            cell = f"@{step.head}"
            result = str(step.read) if step.head in written else FAILED
            search(result, cell_search.before, cell, cell_search.between, cell, cell_search.behind)
            text += [cell, str(step.written), cell, step.next_state, ARROWS[step.move]]
            written.add(step.head)
            halts = machine.halts(step.next_state)
        return [*text, HALT if halts else START_SEARCH]

"""Theorem 4.1: Turing machines by a Linear RNN with chain of thought alone, whose tape turns around."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from constructions.engines import find_engine, indexed
from constructions.engines.column import Column
from constructions.layers import block_arrays
from constructions.measures import LINEAR_RNN, measure
from constructions.turing import cot
from constructions.turing.configurations import BAR, HALT, NEVER, OUT, RUN, START, Code
from constructions.turing.library import find
from constructions.turing.machine import DIGITS, LETTERS, RIGHT, Machine, parse_standard
from constructions.turing.show import outcome
from constructions.turing.simulator import simulate
from precision.format import Discipline
from verify.check import Check
from verify.claim import Claim, Counterexample, claim, claims
from verify.claim_turing import RULES, Size, every_run, machines

SOURCE, STATEMENT = cot.SOURCE, cot.STATEMENT
SMALL_STEPS, SMALL_SPACE, WIDE_FROM = 50, 13, 100_000
AFFORDABLE = {"reference": 8, "dense": 16}  # steps of a random run that an engine does in a tenth of a second
MOST_STEPS = 100_000
CHAMPIONS = ("bb2", "bb3", "bb3-ones", "bb4", "bb2x3")
CHAMPIONS_SPACE = 31
PARAMETERS, STATE_NUMBERS = (8_800, 119), 20  # a + b·B·k parameters
PRECISION = "p = least_precision(m)"


@dataclass(frozen=True)
class Case:
    """A run: a machine in the standard format, a word, the most steps, and the space."""

    machine: str
    tape: str
    steps: int
    cells: int


def run(
    case: Case, engine: str = "indexed", *, discipline: Discipline = Discipline.FUSED, p_bits: int | None = None
) -> Counterexample | None:
    """Whether the model writes what the simulator says, and stops where the head leaves the space, not before."""
    machine = parse_standard(case.machine)
    wired = cot.build(
        machine, steps=case.steps, tape=case.tape, cells=case.cells, precision_bits=p_bits, discipline=discipline
    )
    prompt = cot.prompt(machine, steps=case.steps, tape=case.tape, cells=case.cells)
    expected = cot.expected_sequence(machine, steps=case.steps, tape=case.tape, cells=case.cells)
    words: list[str] = []
    if expected:
        decoded = find_engine(engine)(
            wired.model,
            wired.arithmetic,
            wired.tokens(prompt),
            {wired.token[HALT], wired.token[OUT]},
            len(expected),
            guess=wired.tokens(expected),
        )
        words = [wired.vocabulary[token] for token in decoded.produced]
    if words != expected:
        return Counterexample(expected=" ".join(expected), written=" ".join(words))
    said, left = cot.read([*prompt, *words]), words[-1:] == [OUT]
    is_so = simulate(machine, case.tape, said.steps if left else case.steps)
    if said != is_so:
        return Counterexample(expected=f"{outcome(is_so)}: {is_so.tape}", written=f"{outcome(said)}: {said.tape}")
    first = (case.cells - max(len(case.tape), 1)) // 2
    after = simulate(machine, case.tape, min(said.steps + 1, case.steps))
    leaves = not -first <= after.head < case.cells - first
    return None if leaves == left else Counterexample(expected=f"the head on cell {after.head}", written=words[-1])


# Every machine of two states and two symbols


@claim(
    "4.1/every-run",
    source=SOURCE,
    statement=f"{STATEMENT} Every machine of 2 states and 2 symbols, {SMALL_STEPS} steps.",
)
def test_every_small_machine(check: Check) -> None:
    if check.n_max < SMALL_STEPS:
        check.sizes(SMALL_STEPS)  # skips

    def right(case: Case) -> Counterexample | None:
        return run(case)

    for cells in (SMALL_SPACE, *([2 * SMALL_STEPS + 1] if check.n_max >= WIDE_FROM else [])):
        check.exhaustive(
            (Case(machine, "", SMALL_STEPS, cells) for machine in every_run(SMALL_STEPS)),
            right,
            range=f"a machine for each of their 408 runs, in {cells} cells (indexed); rules that a run does not reach: 4.1/table",
            size=lambda case: case.steps,
            precision=PRECISION,
        )


@claim("4.1/space", source=SOURCE, statement="Where the head leaves the space the model says so, and nowhere else.")
def test_the_edges(check: Check) -> None:
    def right(case: Case) -> Counterexample | None:
        return run(case)

    rules = [rule for rule in RULES if rule.state in "AZ"]
    check.exhaustive(
        (
            Case(f"{a}{b}", tape, 6, cells)
            for cells, tape in ((1, ""), (2, "10"), (3, ""))
            for a, b in itertools.product(rules, repeat=2)
        ),
        right,
        range="every machine of 1 state and 2 symbols in 1, 2 and 3 cells, blank or 10, 6 steps (indexed)",
        size=lambda case: case.cells,
        precision=PRECISION,
    )


@claim(
    "4.1/table",
    source="Lemma C.4",
    statement="The table's units, the only weights in which machines of equal size differ, add up to each rule and nothing else.",
)
def test_every_small_table(check: Check) -> None:
    def right(machine: Machine) -> Counterexample | None:
        code = Code(machine)
        units = [(int(u.gate.constant), {name: int(w) for name, w in u.into.items()}) for u in cot.table(code).units]
        first, k, total = code.first_head, machine.symbols, {}
        for digit in range(code.outside + 1):
            total = dict.fromkeys(("written", "next", "rightward", "leftward"), 0)
            for constant, into in units:
                for name, weight in into.items():
                    total[name] += weight * max(digit + constant, 0)
            expected = dict.fromkeys(total, 0)
            if first <= digit < first + k * len(machine.states):
                i, symbol = divmod(digit - first, k)
                rule = machine.rule(LETTERS[i], symbol)
                came = first + k * code.letters.index(rule.state) - 1
                move = "rightward" if rule.move == RIGHT else "leftward"
                expected |= {"written": 1 + rule.write - digit, "next": came, move: 1}
            if total != expected:
                return Counterexample(digit=digit, expected=expected, added=total)
        return None

    def of_code(code: str) -> Counterexample | None:
        return right(parse_standard(code))

    tables = (f"{a}{b}_{c}{d}" for a, b, c, d in itertools.product(RULES, repeat=4))
    check.exhaustive(tables, of_code, range="all 20,736 machines of 2 states and 2 symbols, every digit", size=2)
    check.sampled(
        machines(25, 10),
        of_code,
        range="random machines of up to 25 states and 10 symbols, every digit",
        max_examples=30,
    )


# A cell and its neighbours


def turn_later(machine: Machine, left: str, cell: str, right: str) -> str:
    """The cell one turn later; "" for what is no cell, nor `|` or `:`."""
    if cell in (BAR, RUN):
        return BAR
    if cell == START:
        return ""

    def goes(word: str, move: int) -> str:
        """The state in which a head that this word is goes there."""
        if word[0] not in LETTERS:
            return ""
        rule = machine.rule(word[0], int(word[1]))
        return rule.state if rule.move == move else ""

    if cell[0] in LETTERS:
        rule = machine.rule(cell[0], int(cell[1]))
        beyond = right if rule.move == RIGHT else left
        return OUT if beyond in (BAR, RUN, START) else DIGITS[rule.write]
    came = goes(left, RIGHT) or goes(right, -RIGHT)
    return came + cell.replace(NEVER, DIGITS[0]) if came else cell


@claim(
    "4.1/cell",
    source=SOURCE,
    statement="The digit that enters the queue is that of the cell one turn later, whatever it and its neighbours are.",
)
def test_every_neighbourhood(check: Check) -> None:
    def right(name: str) -> Counterexample | None:
        machine = find(name).machine
        wired = cot.build(machine, steps=1, tape="", cells=3)
        symbols, states = DIGITS[: machine.symbols], machine.states
        heads = [state + symbol for state in states for symbol in symbols]
        others = [NEVER, *symbols, BAR, RUN, START]
        triples = [t for t in itertools.product([*heads, *others], repeat=3) if sum(word in heads for word in t) < 2]
        seen: list[Sequence[Column]] = []
        tokens = wired.tokens(word for triple in triples for word in triple)
        indexed.run(
            wired.model, wired.arithmetic, tokens, observe=lambda block, part, registers: seen.append(registers)
        )
        entering = seen[4][wired.registers.index("entering")]  # after block 2
        digits = dict(zip(wired.vocabulary, wired.model.words[:, wired.registers.index("number")], strict=True))
        for i, triple in enumerate(triples):
            word = turn_later(machine, *triple)
            enters = entering.at(3 * i + 2)
            if enters != (digits[word] if word else 0):
                return Counterexample(neighbourhood=" ".join(triple), expected=word, enters=enters)
        return None

    check.chosen(
        ["bb2", "bb3", "bb2x4", "palindrome"],
        right,
        range="every three words with one head at most, for four machines (indexed)",
        size=lambda name: len(find(name).machine.states),
        precision=PRECISION,
    )


# Random machines and words


@st.composite
def cases(draw: DrawFn, sizes: Sequence[int]) -> Case:
    """A random machine of up to 5 states and 4 symbols, a word, a number of steps from `sizes`, and some space."""
    code = draw(machines(5, 4))
    tape = draw(st.text(DIGITS[: parse_standard(code).symbols], max_size=6))
    return Case(code, tape, draw(st.sampled_from(sizes)), max(len(tape), 1) + draw(st.integers(0, 8)))


@claims(
    "discipline",
    [
        (
            Claim(
                "4.1" if discipline is Discipline.FUSED else f"4.1/{discipline.value}",
                SOURCE,
                f"{STATEMENT} Rounding {discipline.value}.",
            ),
            discipline,
        )
        for discipline in Discipline
    ],
)
def test_random_machines(check: Check, engine: str, discipline: Discipline) -> None:
    sizes = check.sizes(cap=AFFORDABLE.get(engine, 200))

    def right(case: Case) -> Counterexample | None:
        if check.p_bits is not None:
            least = cot.least_precision(
                parse_standard(case.machine), steps=case.steps, tape=case.tape, cells=case.cells, discipline=discipline
            )
            if least > check.p_bits:
                check.unknown(f"p = {check.p_bits} is below the least p that is certified for {case}, {least}")
        return run(case, engine, discipline=discipline, p_bits=check.p_bits)

    check.sampled(
        cases(sizes),
        right,
        range=f"random machines of up to 5 states and 4 symbols, words of up to 6; {', '.join(map(str, sizes))} steps",
        size=lambda case: case.steps,
        precision=PRECISION if check.p_bits is None else f"p = {check.p_bits}",
        max_examples=80 if discipline is Discipline.FUSED else 40,
    )


# Known runs, and scale


@claim(
    "4.1/busy-beavers",
    source=SOURCE,
    statement="The model halts after as many steps, with as many ones, as the champions do.",
)
def test_busy_beavers(check: Check) -> None:
    def known(name: str) -> Counterexample | None:
        named = find(name)
        wrong = run(Case(str(named.machine), "", named.steps + 1, CHAMPIONS_SPACE))
        end = simulate(named.machine, "", named.steps + 1)
        if (end.halted, end.steps, end.nonblank) != (True, named.steps, named.nonblank):
            return Counterexample(expected=(named.steps, named.nonblank), simulated=(end.steps, end.nonblank))
        return wrong

    check.chosen(
        [name for name in CHAMPIONS if find(name).steps <= check.n_max],
        known,
        range=f"steps and score of BB(2), BB(3), BB(4) and BB(2, 3): 6, 21, 107, 38 steps, in {CHAMPIONS_SPACE} cells (indexed)",
        size=lambda name: find(name).steps,
        precision=PRECISION,
    )


def counter(n: int) -> Case:
    """n steps of a binary counter on the fewest cells with which it runs so long: m ones between two marks, log2 n or so."""
    digits = next(m for m in itertools.count(1) if 2 ** (m + 2) - m - 2 >= n)
    return Case(str(find("counter").machine), f"3{'1' * digits}3", n, digits + 2)


@claim("4.1/scale", source=SOURCE, statement=f"{STATEMENT} n steps of a binary counter on about log2 n cells.")
def test_at_scale(check: Check) -> None:
    def right(case: Case) -> Counterexample | None:
        return run(case)

    check.chosen(
        [counter(n) for n in check.sizes(10, cap=max(MOST_STEPS, 10), ratio=10)],
        right,
        range="the run of a binary counter, each word of it (indexed)",
        size=lambda case: case.steps,
        precision=PRECISION,
    )


# Sizes


@claim(
    "4.1/size",
    source=SOURCE,
    statement=f"A Linear RNN of 3 blocks with {STATE_NUMBERS} numbers of state and at most {PARAMETERS[0]:,} + {PARAMETERS[1]}·B·k "
    "parameters; no matrix and no vocabulary grows with m or with the steps.",
)
def test_size(check: Check) -> None:
    def as_small(size: Size) -> Counterexample | None:
        """`steps` is the number of cells."""
        built = cot.build(size.machine, steps=10**6, tape="", cells=size.steps)
        smallest = cot.build(size.machine, steps=1, tape="1", cells=1)
        measures = measure(built.model, built.arithmetic.format.significand_bits + 1)
        bound = PARAMETERS[0] + PARAMETERS[1] * size.states * size.symbols
        if LINEAR_RNN not in measures.classes or len(built.blocks) != 3:
            return Counterexample(classes=measures.classes, blocks=len(built.blocks))
        if measures.parameters > bound or measures.state_numbers != STATE_NUMBERS:
            return Counterexample(bound=bound, parameters=measures.parameters, state_numbers=measures.state_numbers)
        shapes, small = (
            [wired.model.words.shape, *(array.shape for block in wired.model.blocks for array in block_arrays(block))]
            for wired in (built, smallest)
        )
        return None if shapes == small else Counterexample(expected=small, got=shapes)

    check.certified(
        [Size(b, k, m) for b in (1, 2, 5, 25) for k in (2, 10) for m in (4, 20, 200)],
        as_small,
        range="machines of 1, 2, 5, 25 states and 2, 10 symbols, on 4, 20, 200 cells",
        size=lambda size: size.steps,
        precision=PRECISION,
    )


@claim(
    "4.1/cost",
    source=SOURCE,
    statement="m + 1 tokens a step, and O(log n) bits for m = ⌊log2 n⌋ cells: p ≤ β·(1 + log2 n) + 3 with β = O(log(B·k)).",
)
def test_cost(check: Check) -> None:
    machine = find("bb5").machine

    def within(cells: int) -> Counterexample | None:
        least = cot.least_precision(machine, steps=1, tape="", cells=cells)
        bound = Code(machine).bits * (1 + cells) + 3  # and 1 + m ≤ 1 + log2 n
        return None if least <= bound else Counterexample(least=least, bound=bound)

    def digits(size: Size) -> Counterexample | None:
        bound = math.log2((size.states + 3) * size.symbols + 3) + 1
        beta = Code(size.machine).bits
        return None if beta <= bound else Counterexample(beta=beta, bound=bound)

    def so_long(n: int) -> Counterexample | None:
        cells = max(n.bit_length() - 1, 3)
        tape = f"3{'1' * (cells - 2)}3"
        words = cot.expected_sequence(find("counter").machine, steps=n, tape=tape, cells=cells)
        done = simulate(find("counter").machine, tape, n)
        tokens = (cells + 1) * done.steps + done.halted
        return None if len(words) == tokens else Counterexample(expected=tokens, written=len(words))

    check.certified(range(3, 400), within, range="bits on 3 … 399 cells", size=lambda m: m, precision=PRECISION)
    check.certified(
        [Size(b, k, 1) for b in range(1, 26) for k in range(2, 11)],
        digits,
        range="β ≤ 1 + log2((B + 3)·k + 3) for machines that halt in up to 2 letters",
        precision=PRECISION,
    )
    check.chosen([8, 100, 1000, 10_000], so_long, range="tokens of n steps on ⌊log2 n⌋ cells", size=lambda n: n)

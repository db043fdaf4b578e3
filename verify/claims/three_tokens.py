"""Theorem 4.1: a Turing machine by three tokens a step, as the weights of a Linear RNN."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from constructions.engines import Decoding, find_engine
from constructions.engines.known import first_mismatch
from constructions.measures import LINEAR_RNN
from constructions.turing.configurations import HALT, OUT
from constructions.turing.library import find
from constructions.turing.machine import DIGITS, LETTERS, RIGHT, parse_standard
from constructions.turing.simulator import steps as simulated
from constructions.turing.three_tokens import MachineSpace, build, expected_sequence, prompt, table
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.claims.models import TURING_COT
from verify.framework.check import Check
from verify.framework.claim import Counterexample
from verify.inputs.turing_machines import Size, every_run, every_space, every_table, machines
from verify.oracles.counts import RUNS, small_spaces
from verify.runs.costs import Cost, exactly
from verify.runs.registers import registers_after
from verify.runs.turing_runs import SpaceCase

STEPS = 50
PRECISION = "p = 4a + 3, numbers up to 2^a"
BY_DISCIPLINE = {Discipline.FUSED: PRECISION, Discipline.SEQUENTIAL: "p = 4a + 5, numbers up to 2^a"}
CHAMPIONS = {"bb2": 13, "bb3": 13, "bb3-ones": 13, "bb4": 16, "bb2x3": 4}  # cells; the last one leaves them
TOKENS = "the new state; b times or 1/b of the last such number, for the direction; a power of two, for the symbol left behind"
MODEL_BLOCKS, STATE_NUMBERS = 6, 32


def model_of(case: SpaceCase, discipline: Discipline = Discipline.FUSED, more_bits: int = 0) -> Wired:
    """Returns the model of a case, at the least p or above."""
    space = MachineSpace(parse_standard(case.machine), case.cells)
    p = space.least_bits(discipline) + more_bits
    return build(space.machine, cells=case.cells, precision_bits=p, discipline=discipline)


def words_of(case: SpaceCase) -> tuple[list[str], list[str]]:
    """Returns the prompt and the words that are due after it."""
    machine = parse_standard(case.machine)
    return prompt(machine, case.tape, case.cells), expected_sequence(machine, case.tape, case.cells, case.steps)


def writes_the_run(case: SpaceCase) -> Counterexample | None:
    """Returns where the model writes another word than the machine's run has."""
    wired, (before, behind) = model_of(case), words_of(case)
    wrong, _ = first_mismatch(wired.model, wired.arithmetic, wired.tokens(before), wired.tokens(behind))
    return None if wrong is None else Counterexample(expected=behind[wrong], word=wrong + 1)


@TURING_COT.judges(
    "three-tokens",
    "A Linear RNN runs a Turing machine on m cells with O(m) bits of state and three tokens for each step:"
    f" {TOKENS}. The last two tell besides where the head is, and the last one the symbol that it comes upon. Nothing grows but"
    " the vocabulary, which lists the numbers up to 2^(m + 2) for 2 symbols and m ≥ 3. The cells left of the head begin blank.",
)
def test_three_tokens_a_step(check: Check) -> None:
    check.sizes(STEPS)  # or skips
    for cells, tape in ((6, ""), (5, "011"), (3, "10")):
        check.exhaustive(
            (SpaceCase(machine, tape, STEPS, cells) for machine in every_run(STEPS)),
            writes_the_run,
            count=RUNS,
            range=f"a machine for each run of 2 states and 2 symbols, {STEPS} steps on {cells} cells,"
            f" {f'the word {tape}' if tape else 'a blank tape'}",
            precision=PRECISION,
        )
    check.exhaustive(
        (SpaceCase(code, tape, 6, cells) for code, tape, cells in every_space()),
        writes_the_run,
        count=small_spaces(),
        range="every machine of 1 state and 2 symbols in 1, 2 and 3 cells, blank or 10, 6 steps",
        precision=PRECISION,
    )
    check.exhaustive(
        every_table(),
        says_each_rule,
        count=(2 * 2 * 3) ** 4,
        range="the table's units, the only weights in which machines of equal size differ: all 20,736 machines of 2 states"
        " and 2 symbols, every key",
        precision="exact",
    )
    check.chosen(
        [
            SpaceCase(str(named.machine), "", named.steps + 1, cells)
            for named, cells in ((find(name), cells) for name, cells in CHAMPIONS.items())
            if named.steps <= check.n_max
        ],
        writes_the_run,
        range="the champions BB(2), BB(3), BB(4), of 6, 21, 107 steps, in 13 and 16 cells; BB(2, 3) until it leaves 4 cells"
        "",
        precision=PRECISION,
    )


def says_each_rule(code: str) -> Counterexample | None:
    """Returns whether the units of the table add what each rule says at its key, and nothing at other keys."""
    space = MachineSpace(parse_standard(code), 1)
    machine, k = space.machine, space.symbols
    units = [
        (int(unit.gate.constant), [(name, value) for name, value in unit.into.items() if name in SAID])
        for unit in table(space).units
    ]
    for key in range(2 + k * len(space.letters)):
        added: dict[str, int | Fraction] = dict.fromkeys(SAID, 0)
        for constant, into in units:
            if key + constant > 0:  # else the unit is 0
                for name, value in into:
                    added[name] += value * (key + constant)
        state, symbol = divmod(key - 1, k)
        expected = dict.fromkeys(SAID, 0)
        if 0 <= state < len(machine.states):
            rule = machine.rule(LETTERS[state], symbol)
            way = "rightward" if rule.move == RIGHT else "leftward"
            expected |= {"next": space.letters.index(rule.state), "writes": rule.write, way: 1}
        if added != expected:
            return Counterexample(key=key, expected=expected, added=added)
    return None


SAID = ("next", "writes", "rightward", "leftward")


# The sums beside the head


def keeps_the_tape(case: SpaceCase) -> Counterexample | None:
    """Returns where a register is another one with 16 bits more; where a step ends and the registers tell another configuration."""
    before, behind = words_of(case)
    words = [*before, *behind]
    wired, wider = model_of(case), model_of(case, more_bits=16)
    told, exact = (registers_after(one, one.tokens(words), block=5) for one in (wired, wider))
    for name in wired.registers:
        if told[name] != exact[name]:
            return Counterexample(register=name, at_least_bits=told[name], with_more=exact[name])
    base, start = (
        MachineSpace(parse_standard(case.machine), case.cells).base,
        (case.cells - max(len(case.tape), 1)) // 2,
    )
    cells = dict(enumerate(map(int, case.tape), start))
    ends = range(len(before) + 2, len(words), 3)  # of HALT and OUT none
    for at, step in zip(ends, simulated(parse_standard(case.machine), case.tape, case.steps), strict=False):
        cells[start + step.head] = step.written
        head = start + step.head + step.move
        right = {
            "place": base**head,
            "mirror": base ** (case.cells - head),
            "left": sum(cells.get(i, 0) * base**i for i in range(head)),
            "right": sum(cells.get(i, 0) * base ** (case.cells - i) for i in range(head + 1, case.cells)),
        }
        for name, value in right.items():
            if told[name][at] != value:
                return Counterexample(step=step.number, register=name, expected=value, got=told[name][at])
    return None


@TURING_COT.judges(
    "token-arithmetic",
    "After each step of the model of 4.1/three-tokens, its registers are b^P and b^(m − P) for the head's cell P,"
    " Σ x_i·b^i over the cells left of it and Σ x_i·b^(m − i) over those right of it. At the least p, each register is as with 16"
    " bits more.",
)
def test_the_sums_are_the_tape(check: Check) -> None:
    check.exhaustive(
        (SpaceCase(machine, "10", STEPS, 3) for machine in every_run(STEPS)),
        keeps_the_tape,
        count=RUNS,
        range=f"a machine for each run of 2 states and 2 symbols, on 3 cells with the word 10, {STEPS} steps",
        size=lambda case: case.cells,
        precision=PRECISION,
    )
    check.sampled(
        cases(),
        keeps_the_tape,
        range="random machines of up to 5 states and 3 symbols, on up to 7 cells (3 of 3 symbols), 20 steps",
        size=lambda case: case.cells,
        precision=PRECISION,
        max_examples=20,
    )


# Random machines, and what the model costs


@st.composite
def cases(draw: DrawFn) -> SpaceCase:
    """Draws a random machine and a word, for 20 steps in some space."""
    code = draw(machines(5, 3))
    symbols = parse_standard(code).symbols
    tape = draw(st.text(DIGITS[:symbols], max_size=3))
    return SpaceCase(
        code, tape, 20, max(len(tape), 1) + draw(st.integers(0, 4 if symbols == 2 else 3 - max(len(tape), 1)))
    )


@TURING_COT.judges(
    "three-tokens-random",
    "The model of 4.1/three-tokens runs machines of up to 5 states and 3 symbols, under either discipline of rounding.",
)
def test_random_machines(check: Check, engine: str) -> None:
    for discipline in Discipline:

        def right(case: SpaceCase, discipline: Discipline = discipline) -> Counterexample | None:
            least = MachineSpace(parse_standard(case.machine), case.cells).least_bits(discipline)
            if check.p_bits is not None and check.p_bits < least:
                check.unknown(f"p = {check.p_bits} is below the least p of {case}, {least}")
            wired = model_of(case, discipline, 0 if check.p_bits is None else check.p_bits - least)
            before, behind = words_of(case)
            stop = {wired.token[HALT], wired.token[OUT]}
            asked = Decoding(wired.model, wired.arithmetic, wired.tokens(before), stop, len(behind))
            got = list(wired.spelled(find_engine(engine)(asked).produced))
            return None if got == behind else Counterexample(expected=" ".join(behind), written=" ".join(got))

        check.sampled(
            cases(),
            right,
            range=f"random machines and words, on up to 7 cells (3 of 3 symbols), 20 steps; rounding {discipline.value}",
            precision=check.precision_text(BY_DISCIPLINE[discipline]),
            max_examples=20,
        )


@TURING_COT.judges(
    "three-tokens-size",
    "The model of 4.1/three-tokens has 6 blocks, 32 numbers of state and at most 35,348 + 182·(B·k + 5k² + 4k) parameters"
    " for B states and k symbols; no matrix but the vocabulary grows with m. For 2 symbols and m ≥ 3 it lists the numbers up to"
    " 2^(m + 2), and p = 4m + 11.",
)
def test_size(check: Check) -> None:
    def as_small(size: Size) -> Counterexample | None:
        small, large = (build(size.machine, cells=cells) for cells in (1, size.n))
        p, k = large.arithmetic.format.significand_bits + 1, size.symbols
        parameters = 35_348 + 182 * (size.states * k + 5 * k * k + 4 * k)
        cost = Cost(LINEAR_RNN, lambda heads: len(heads) == MODEL_BLOCKS, exactly(STATE_NUMBERS), parameters)
        if k == 2 and (p != 4 * size.n + 11 or str(2 ** (size.n + 2) + 1) in large.token):
            return Counterexample(p=p, words=len(large.vocabulary))
        return cost.excess(large, small)

    check.chosen(
        [Size(b, k, cells) for b in (1, 2, 5, 25) for k, spaces in ((2, (4, 10, 16)), (3, (3,))) for cells in spaces],
        as_small,
        range="machines of 1, 2, 5, 25 states: 2 symbols on 4, 10, 16 cells, 3 symbols on 3",
        precision=PRECISION,
    )

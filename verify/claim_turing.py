"""Theorems 5.4 and 5.8: Turing machines by a Linear RNN that searches its own text, and by a hybrid RNN."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from constructions.affine import Affine, reg
from constructions.engines import find_engine
from constructions.engines.indexed import first_mismatch
from constructions.findings import Finding
from constructions.layers import block_arrays
from constructions.measures import HYBRID_RNN, LINEAR_RNN, measure
from constructions.search import SearchError
from constructions.turing.library import find
from constructions.turing.machine import DIGITS, LETTERS, Machine, Rule, parse_standard
from constructions.turing.protocol import TuringModel, find_model, surroundings
from constructions.turing.show import outcome
from constructions.turing.simulator import Configuration, simulate, simulate_fast, steps
from constructions.turing.tape_models import ENTERS, HALT, STATE, WRITES, Task, table
from constructions.wired import Wired
from precision.format import Discipline
from verify.check import Check
from verify.claim import Claim, Counterexample, Verdict, claim, claims

SMALL_STEPS = 50
RULES = [Rule(write, move, state) for write in (0, 1) for move in (-1, 1) for state in "ABZ"]
AFFORDABLE = {"reference": 8, "dense": 16}  # steps of a random run that an engine does in a tenth of a second
PHASES = (WRITES, ENTERS, STATE)  # where a symbol, a state, a direction is written
CHAMPIONS = ("bb2", "bb3", "bb3-ones", "bb4", "bb2x3")
PRECISION = "p = least_precision(n)"


@dataclass(frozen=True)
class About:
    """What one theorem claims of its model. most_steps: at scale. bits: (a, b) for least_precision(n) ≤ a·(1 + log2 n) + b.

    parameters: (a, b) for at most a + b·B·k of them.
    """

    theorem: str
    model: str
    of_class: str
    tokens: int
    most_steps: int
    state_numbers: int
    parameters: tuple[int, int]
    bits: tuple[int, int]

    @property
    def module(self) -> TuringModel:
        """The model."""
        return find_model(self.model)

    def claim(self, what: str, statement: str) -> Claim:
        """About this model."""
        return Claim(f"{self.theorem}/{what}" if what else self.theorem, f"Theorem {self.theorem}", statement)

    @property
    def statement(self) -> str:
        """The theorem."""
        return self.module.CONSTRUCTION.statement


MODELS = (
    About("5.4", "rag", LINEAR_RNN, 13, 2000, 41, (17_423, 191), (4, 27)),
    About("5.8", "hybrid", HYBRID_RNN, 5, 2_000_000, 16, (7_052, 116), (6, 25)),
)


@dataclass(frozen=True)
class Case:
    """A run: a machine in the standard format, a word, and the most steps."""

    machine: str
    tape: str
    steps: int


def run(
    about: About,
    case: Case,
    engine: str,
    *,
    printed: tuple[str, ...] = (),
    discipline: Discipline = Discipline.FUSED,
    p_bits: int | None = None,
) -> Counterexample | None:
    """Whether the model writes what the simulator says; as printed, whether its words say it."""
    model, machine = about.module, parse_standard(case.machine)
    wired = model.build(
        machine, steps=case.steps, tape=case.tape, precision_bits=p_bits, printed=printed, discipline=discipline
    )
    prompt = model.prompt(machine, steps=case.steps, tape=case.tape)
    expected = model.expected_sequence(machine, steps=case.steps, tape=case.tape)
    guess = () if printed else wired.tokens(expected)
    is_so = simulate(machine, case.tape, case.steps)
    try:
        produced = find_engine(engine)(
            wired.model,
            wired.arithmetic,
            wired.tokens(prompt),
            {wired.token[HALT]},
            len(expected),
            guess=guess,
            respond=surroundings(model, wired),
        ).produced
    except SearchError as error:
        return Counterexample(expected=outcome(is_so), failed=str(error))
    words = [wired.vocabulary[token] for token in produced]
    said = model.read([*prompt, *words])
    if said == is_so and (printed or words == expected):
        return None
    if said == is_so:
        return Counterexample(expected=" ".join(expected), written=" ".join(words))
    return Counterexample(expected=_told(is_so), written=_told(said))


def _told(end: Configuration) -> str:
    return f"{outcome(end)}: {end.tape}"


# Every machine of two states and two symbols


def every_run(limit: int) -> Iterator[str]:
    """A machine for every run of two states and two symbols from a blank tape: rules that the run does not reach are left open."""
    waiting = [Machine(((None, None), (None, None)))]
    while waiting:
        machine = waiting.pop()
        last = next(reversed(list(steps(machine, "", limit))))
        if machine.rows[LETTERS.index(last.state)][last.read] is None:
            rows = [list(row) for row in machine.rows]
            for rule in reversed(RULES):
                rows[LETTERS.index(last.state)][last.read] = rule
                waiting.append(Machine(tuple(map(tuple, rows))))
        else:
            yield str(machine)


@claims(
    "about",
    [
        (
            about.claim(
                "every-run", f"{about.statement} Every machine of 2 states and 2 symbols, {SMALL_STEPS} steps."
            ),
            about,
        )
        for about in MODELS
    ],
)
def test_every_small_machine(check: Check, about: About) -> None:
    check.sizes(SMALL_STEPS)  # or skips

    def right(case: Case) -> Counterexample | None:
        return run(about, case, "indexed")

    check.exhaustive(
        (Case(machine, "", SMALL_STEPS) for machine in every_run(SMALL_STEPS)),
        right,
        range="a machine for each of their 408 runs from a blank tape (indexed); rules that a run does not reach: 5.8/table",
        size=lambda case: case.steps,
        precision=PRECISION,
    )


@claim(
    "5.8/table",
    source="Lemma C.4",
    statement="The table's units, the only weights in which machines of equal size differ, add up to each rule and nothing else.",
)
def test_every_small_table(check: Check) -> None:
    def right(machine: Machine) -> Counterexample | None:
        gadget = table(Task(machine, SMALL_STEPS, ""), reg("key"))
        units = [(unit.gate, [coefficient(unit.up, phase) for phase in PHASES]) for unit in gadget.units]
        summands = [(int(gate.constant), coefficient(gate, "key"), up) for gate, up in units]
        for key, (letter, symbol) in enumerate(itertools.product(machine.states, range(machine.symbols))):
            rule = machine.rule(letter, symbol)
            values = (rule.write, LETTERS.index(rule.state), rule.move)
            for i, (phase, value) in enumerate(zip(PHASES, values, strict=True)):
                added = sum(max(constant + slope * key, 0) * up[i] for constant, slope, up in summands)
                if added != value:
                    return Counterexample(rule=f"{letter}{symbol}", at=phase, expected=value, added=added)
        return None

    def of_code(code: str) -> Counterexample | None:
        return right(parse_standard(code))

    def every_table() -> Iterator[str]:
        for a, b, c, d in itertools.product(RULES, repeat=4):
            yield f"{a}{b}_{c}{d}"

    check.exhaustive(every_table(), of_code, range="all 20,736 machines of 2 states and 2 symbols, every rule", size=2)
    check.sampled(
        machines(25, 10),
        of_code,
        range="random machines of up to 25 states and 10 symbols, every rule",
        max_examples=30,
    )


def coefficient(form: Affine, register: str) -> int:
    """An integer one."""
    return int(form.terms.get(register, 0))


# Random machines and words


@st.composite
def machines(draw: DrawFn, most_states: int, most_symbols: int) -> str:
    """Standard texts; some rules are undefined, some halt in another letter than Z."""
    count, symbols = draw(st.integers(1, most_states)), draw(st.integers(2, most_symbols))
    letters = LETTERS[:count] * 3 + "HYZ"
    rule = st.builds(Rule, st.integers(0, symbols - 1), st.sampled_from((-1, 1)), st.sampled_from(letters))
    row = st.lists(st.one_of(*[rule.map(str)] * 9, st.just("---")), min_size=symbols, max_size=symbols)
    return "_".join("".join(r) for r in draw(st.lists(row, min_size=count, max_size=count)))


@st.composite
def cases(draw: DrawFn, sizes: Sequence[int]) -> Case:
    """A random machine of up to 5 states and 4 symbols, a word, and a number of steps from `sizes`."""
    code = draw(machines(5, 4))
    symbols = DIGITS[: parse_standard(code).symbols]
    return Case(code, draw(st.text(symbols, max_size=6)), draw(st.sampled_from(sizes)))


SETUPS = [(about, discipline) for discipline in Discipline for about in MODELS]


@claims(
    "setup",
    [
        (
            about.claim(
                "" if discipline is Discipline.FUSED else discipline.value,
                f"{about.statement} Rounding {discipline.value}.",
            ),
            (about, discipline),
        )
        for about, discipline in SETUPS
    ],
)
def test_random_machines(check: Check, engine: str, setup: tuple[About, Discipline]) -> None:
    about, discipline = setup
    sizes = check.sizes(cap=AFFORDABLE.get(engine, 200))

    def right(case: Case) -> Counterexample | None:
        if check.p_bits is not None:
            machine = parse_standard(case.machine)
            least = about.module.least_precision(machine, steps=case.steps, tape=case.tape, discipline=discipline)
            if least > check.p_bits:
                check.unknown(f"p = {check.p_bits} is below the least p that is certified for {case}, {least}")
        return run(about, case, engine, discipline=discipline, p_bits=check.p_bits)

    check.sampled(
        cases(sizes),
        right,
        range=f"random machines of up to 5 states and 4 symbols, words of up to 6; {', '.join(map(str, sizes))} steps",
        size=lambda case: case.steps,
        precision=PRECISION if check.p_bits is None else f"p = {check.p_bits}",
        max_examples=40 if discipline is Discipline.FUSED else 20,
    )
    if check.p_bits is None:

        def right_at_length(case: Case) -> Counterexample | None:
            return run(about, case, "indexed", discipline=discipline)

        lengths = [n for n in (1, 4, 16, 64, 200) if n <= check.n_max]
        check.sampled(
            cases(lengths),
            right_at_length,
            range=f"machines and words of the same kind; {', '.join(map(str, lengths))} steps (indexed)",
            size=lambda case: case.steps,
            precision=PRECISION,
            max_examples=30 if discipline is Discipline.FUSED else 10,
        )


# Known runs, and scale


@claims(
    "about",
    [
        (
            about.claim("busy-beavers", "The model halts after as many steps, with as many ones, as the champions do."),
            about,
        )
        for about in MODELS
    ],
)
def test_busy_beavers(check: Check, about: About) -> None:
    check.sizes(min(find(name).steps for name in CHAMPIONS))  # or skips

    def known(name: str) -> Counterexample | None:
        named = find(name)
        case = Case(str(named.machine), "", named.steps + 1)
        wrong = run(about, case, "indexed")
        end = simulate(named.machine, "", named.steps + 1)
        if (end.halted, end.steps, end.nonblank) != (True, named.steps, named.nonblank):
            return Counterexample(expected=(named.steps, named.nonblank), simulated=(end.steps, end.nonblank))
        return wrong

    check.chosen(
        [name for name in CHAMPIONS if find(name).steps <= check.n_max],
        known,
        range="steps and score of BB(2), BB(3), BB(4) and BB(2, 3): 6, 21, 107, 38 steps (indexed)",
        size=lambda name: find(name).steps,
        precision=PRECISION,
    )


@claims(
    "about",
    [(about.claim("scale", f"{about.statement} n steps of the five-state champion."), about) for about in MODELS],
)
def test_at_scale(check: Check, about: About) -> None:
    code = str(find("bb5").machine)

    def right(case: Case) -> Counterexample | None:
        return run(about, case, "indexed") if about.of_class == LINEAR_RNN else certified(about, case)

    check.chosen(
        [Case(code, "", n) for n in check.sizes(10, cap=max(about.most_steps, 10), ratio=10)],
        right,
        range="the run of the five-state champion, each word of it, and each softmax column by certificate (indexed)",
        size=lambda case: case.steps,
        precision=PRECISION,
    )


def certified(about: About, case: Case) -> Counterexample | None:
    """Whether each argmax is the next word of the run, and every softmax column has a certificate."""
    model, machine = about.module, parse_standard(case.machine)
    wired = model.build(machine, steps=case.steps, tape=case.tape)
    prompt = wired.tokens(model.prompt(machine, steps=case.steps, tape=case.tape))
    expected = wired.tokens(model.expected_sequence(machine, steps=case.steps, tape=case.tape))
    wrong, found = first_mismatch(wired.model, wired.arithmetic, prompt, expected)
    if wrong is not None:
        written = wired.vocabulary[int(found.next_tokens[len(prompt) - 1 + wrong])]
        return Counterexample(word=wrong + 1, expected=wired.vocabulary[expected[wrong]], written=written)
    return Counterexample(dense=found.columns.dense) if found.columns.dense else None


# Sizes


@dataclass(frozen=True)
class Size:
    """One model to measure: a machine of so many states and symbols, whose rules are a fixed mixture."""

    states: int
    symbols: int
    steps: int

    @property
    def machine(self) -> Machine:
        """All rules differ where they can."""
        count = self.states * self.symbols
        mixed = [(7 * i * i + 3 * i + 1) % (count + 1) for i in range(count)]
        rules = [Rule(m % self.symbols, 1 if m % 3 else -1, LETTERS[m % (self.states + 1)]) for m in mixed]
        return Machine(tuple(tuple(rules[s * self.symbols : (s + 1) * self.symbols]) for s in range(self.states)))


@claims(
    "about",
    [
        (
            about.claim(
                "size",
                f"A {about.of_class} of two blocks with at most {about.state_numbers} numbers of state and "
                f"{about.parameters[0]:,} + {about.parameters[1]}·B·k parameters; no matrix but the vocabulary grows with n.",
            ),
            about,
        )
        for about in MODELS
    ],
)
def test_size(check: Check, about: About) -> None:
    def shapes(built: Wired) -> list[tuple[int, ...]]:
        return [array.shape for block in built.model.blocks for array in block_arrays(block)]

    def as_small(size: Size) -> Counterexample | None:
        built = about.module.build(size.machine, steps=size.steps, tape="")
        smallest = about.module.build(size.machine, steps=1, tape="1")
        measures = measure(built.model, built.arithmetic.format.significand_bits + 1)
        fixed, each = about.parameters
        bound = fixed + each * size.states * size.symbols
        if about.of_class not in measures.classes or len(built.blocks) != 2:
            return Counterexample(classes=measures.classes, blocks=len(built.blocks))
        if measures.parameters > bound or measures.state_numbers > about.state_numbers:
            return Counterexample(bound=bound, parameters=measures.parameters, state_numbers=measures.state_numbers)
        return (
            None if shapes(built) == shapes(smallest) else Counterexample(expected=shapes(smallest), got=shapes(built))
        )

    check.certified(
        [Size(b, k, n) for b in (1, 2, 5, 25) for k in (2, 10) for n in (10, 1000)],
        as_small,
        range="machines of 1, 2, 5, 25 states and 2, 10 symbols, for 10 and 1000 steps",
        size=lambda size: size.steps,
        precision=PRECISION,
    )


@claims(
    "about",
    [
        (
            about.claim(
                "cost",
                f"{about.tokens} tokens a step, and O(log n) bits: at most {about.bits[0]}·(1 + log2 n) + {about.bits[1]}.",
            ),
            about,
        )
        for about in MODELS
    ],
)
def test_cost(check: Check, about: About) -> None:
    machine = find("bb5").machine

    def within(n: int) -> Counterexample | None:
        slope, rest = about.bits
        least, bound = about.module.least_precision(machine, steps=n, tape=""), slope * (1 + math.log2(n)) + rest
        return None if least <= bound + 1e-9 else Counterexample(least=least, bound=bound)

    def so_long(n: int) -> Counterexample | None:
        model = about.module
        none, written = (len(model.expected_sequence(machine, steps=i, tape="")) for i in (0, n))
        tokens = about.tokens * simulate_fast(machine, "", n).steps
        return None if written - none == tokens else Counterexample(expected=tokens, written=written - none)

    powers = sorted({2**e + d for e in range(1, 20) for d in (-1, 0, 1)} | {10**6})
    check.certified(powers, within, range="bits at n = 2^e, 2^e ± 1, 10^6 steps", size=lambda n: n, precision=PRECISION)
    check.chosen([1, 10, 100, 1000], so_long, range="tokens of 1, 10, 100, 1000 steps", size=lambda n: n)


# As printed


@dataclass(frozen=True)
class Printed:
    """A model with findings put back to print."""

    about: About
    findings: tuple[Finding, ...]

    @property
    def claim(self) -> Claim:
        """What is claimed."""
        about = self.about
        if len(self.findings) != 1:
            name = f"{about.theorem}/printed"
            return Claim(name, f"Theorem {about.theorem}", about.statement, variant="printed", expected=Verdict.REFUTED)
        (finding,) = self.findings
        text = f"{about.statement} As printed: {finding.printed}."
        name = f"{about.theorem}/{finding.id}"
        return Claim(name, finding.source, text, finding=finding.id, expected=Verdict.REFUTED)


PRINTS = [
    Printed(about, chosen)
    for about in MODELS
    for chosen in (*((finding,) for finding in about.module.FINDINGS), about.module.FINDINGS)
]


@claims("printed", [(printed.claim, printed) for printed in PRINTS])
def test_as_printed(check: Check, engine: str, printed: Printed) -> None:
    ids = tuple(finding.id for finding in printed.findings)

    def right(case: Case) -> Counterexample | None:
        return run(printed.about, case, engine, printed=ids, p_bits=check.p_bits)

    def small() -> Iterator[Case]:
        """The runs that end soon first, then words of one and two symbols."""
        codes = list(every_run(10))
        for tape in ("", "0", "1", "01", "10", "11"):
            ends = [(simulate(parse_standard(code), tape, 10).steps, code) for code in codes]
            yield from (Case(code, tape, count) for count, code in sorted(ends))

    check.exhaustive(
        small(),
        right,
        range="machines of 2 states and 2 symbols on a blank tape, then on words of 1 and 2 symbols; the shortest runs first",
        size=lambda case: case.steps,
        precision=PRECISION if check.p_bits is None else f"p = {check.p_bits}",
    )

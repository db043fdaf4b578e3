"""Theorems 4.1, 5.4 and 5.8: Turing machines by chain of thought alone, by a Linear RNN that searches, by a hybrid RNN."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from constructions.models.model import NOTHING, Ids, Planned
from constructions.parts.heads.match import RegisterPair
from constructions.parts.heads.match_close import match_close
from constructions.turing.base import TuringModel
from constructions.turing.hybrid import CELL_ZERO, TuringHybrid
from constructions.turing.library import NamedMachine, find
from constructions.turing.machine import Machine, parse_standard
from constructions.turing.rag import CHARACTERS as PROMPT_SEARCH
from constructions.turing.simulator import simulate
from constructions.turing.tape_models import POINTER
from constructions.wiring.affine import as_affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.register import squared
from constructions.wiring.wire import Gadget, Unit
from precision.format import Discipline, Format
from verify.claims.models import TURING_COT
from verify.claims.readings_of_searches import as_printed
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.framework.predicates import Predicate
from verify.inputs.turing_machines import every_run, every_space
from verify.oracles.counts import RUNS, small_spaces
from verify.runs.turing_runs import COT, HYBRID, MODELS, RAG, About, Case, SpaceCase, cases, is_certified, judge, run

SMALL_STEPS, SMALL_SPACE, WIDE_FROM = 50, 13, 100_000
FEW_STEPS = 6
AFFORDABLE = {"reference": 8, "dense": 16}  # steps of a random run that an engine does in a tenth of a second
CHAMPIONS = ("bb2", "bb3", "bb3-ones", "bb4", "bb2x3")
FIVE_STATES_SPACE = 24_601  # cells, the start in their middle
CHAMPIONS_SPACE = 31


# Every machine of two states and two symbols


@claims(
    "about",
    MODELS,
    lambda about: about.claim(
        "every-run", f"{about.statement} Every machine of 2 states and 2 symbols, {SMALL_STEPS} steps."
    ),
)
def test_every_small_machine(check: Check, about: About) -> None:
    check.sizes(SMALL_STEPS)  # or skips
    wide = [2 * SMALL_STEPS + 1] if check.n_max >= WIDE_FROM else []
    for cells in (SMALL_SPACE, *wide) if about.in_space else (0,):
        where, table = (f", in {cells} cells", "4.1/table") if cells else (" from a blank tape", "5.8/table")
        check.exhaustive(
            (about.case(machine, "", SMALL_STEPS, cells) for machine in every_run(SMALL_STEPS)),
            judge(about),
            count=RUNS,
            range=f"a machine for each of their {RUNS} runs{where}; rules that a run does not reach: {table}",
            precision=about.precision,
        )


@TURING_COT.judges(
    "space",
    "Where the head of any machine of 1 state and 2 symbols leaves 1, 2 or 3 cells the model says so, and nowhere else.",
)
def test_the_edges(check: Check) -> None:
    check.within("1 state and 2 symbols", "1, 2 or 3 cells")
    check.exhaustive(
        (SpaceCase(code, tape, 6, cells) for code, tape, cells in every_space()),
        judge(COT),
        count=small_spaces(),
        range="every machine of 1 state and 2 symbols in 1, 2 and 3 cells, blank or 10, 6 steps",
        size=lambda case: case.cells,
        precision=COT.precision,
    )


# Random machines and words


MACHINES = "random machines of up to 5 states and 4 symbols, words of up to 6"


def try_random(
    check: Check,
    about: About,
    sizes: Sequence[int],
    right: Predicate[Any],
    text: str,
    examples: int,
    precision: str = "",
) -> None:
    """Tries random machines and words, for so many steps. text: which they are."""
    check.sampled(
        cases(about, sizes),
        right,
        range=f"{text}; {', '.join(map(str, sizes))} steps",
        precision=precision or about.precision,
        max_examples=examples,
    )


@claims(
    "setup",
    list(itertools.product(Discipline, MODELS)),
    lambda setup: setup[1].claim(
        "" if setup[0] is Discipline.FUSED else setup[0].value, f"{setup[1].statement} Rounding {setup[0].value}."
    ),
)
def test_random_machines(check: Check, engine: str, setup: tuple[Discipline, About]) -> None:
    discipline, about = setup
    sizes = check.sizes(cap=AFFORDABLE.get(engine, 200))
    many = 2 if discipline is Discipline.FUSED else 1

    def admit(case: Case) -> None:
        """Raises NoVerdict if the precision asked for is too small for a case."""
        if check.p_bits is not None:
            model = about.solver_of(case)
            least = model.least_precision(case.steps, discipline)
            if least > check.p_bits:
                check.unknown(f"p = {check.p_bits} is below the least p that is certified for {case}, {least}")

    right = judge(about, engine, admit=admit, discipline=discipline, p_bits=check.p_bits)
    examples = (40 if about.in_space else 20) * many
    try_random(check, about, sizes, right, MACHINES, examples, check.precision_text(about.precision))
    if check.p_bits is None and not about.in_space:
        lengths = [n for n in (1, 4, 16, 64, 200) if n <= check.n_max]
        right, examples = judge(about, discipline=discipline), 30 if discipline is Discipline.FUSED else 10
        try_random(check, about, lengths, right, "machines and words of the same kind", examples)


# Known runs, and scale


def champion(about: About, named: NamedMachine) -> Case:
    """Returns the run of a champion, and a step for it to go on."""
    return about.case(str(named.machine), "", named.steps + 1, CHAMPIONS_SPACE)


@claims(
    "about",
    MODELS,
    lambda about: about.claim(
        "busy-beavers", "The model halts after as many steps, with as many ones, as the champions do."
    ),
)
def test_busy_beavers(check: Check, about: About) -> None:
    check.sizes(min(find(name).steps for name in CHAMPIONS))  # or skips

    def known(name: str) -> Counterexample | None:
        named = find(name)
        wrong = run(about, champion(about, named), "auto")
        end = simulate(named.machine, "", named.steps + 1)
        if (end.halted, end.steps, end.nonblank) != (True, named.steps, named.nonblank):
            return Counterexample(expected=(named.steps, named.nonblank), simulated=(end.steps, end.nonblank))
        return wrong

    where = f", in {CHAMPIONS_SPACE} cells" if about.in_space else ""
    check.chosen(
        [name for name in CHAMPIONS if find(name).steps <= check.n_max],
        known,
        range=f"steps and score of BB(2), BB(3), BB(4) and BB(2, 3): 6, 21, 107, 38 steps{where}",
        size=lambda name: find(name).steps,
        precision=about.precision,
    )


def counter(n: int) -> Case:
    """Returns n steps of a binary counter on the fewest cells with which it runs so long: about log2 n ones between two marks."""
    digits = next(m for m in itertools.count(1) if 2 ** (m + 2) - m - 2 >= n)
    return COT.case(str(find("counter").machine), f"3{'1' * digits}3", n, digits + 2)


def five_states(n: int) -> Case:
    """Returns n steps of the five-state champion."""
    return Case(str(find("bb5").machine), "", n)


def five_states_in_space(n: int) -> Case:
    """Returns the same on as many cells as n steps can reach, or as the champion needs to halt."""
    return SpaceCase(str(find("bb5").machine), "", n, min(2 * n + 1, FIVE_STATES_SPACE))


LONG_RUNS = {
    COT: (counter, "n steps of a binary counter on about log2 n cells."),
    RAG: (five_states, "n steps of the five-state champion."),
    HYBRID: (five_states_in_space, "n steps of the five-state champion."),
}


@claims("about", MODELS, lambda about: about.claim("scale", f"{about.statement} {LONG_RUNS[about][1]}"))
def test_at_scale(check: Check, about: About) -> None:
    def with_certificates(case: SpaceCase) -> Counterexample | None:
        return is_certified(HYBRID, case)

    judged: Predicate[Any] = with_certificates if about is HYBRID else judge(about)

    machine = "a binary counter, each word of it"
    if not about.in_space:
        machine = "the five-state champion, each word of it, and each softmax column by certificate"
    long_run, _ = LONG_RUNS[about]
    check.chosen(
        [long_run(n) for n in check.sizes(10, cap=max(about.most_steps, 10), ratio=10)],
        judged,
        range=f"the run of {machine}",
        precision=about.precision,
    )


# What the key may be


@dataclass(frozen=True)
class Marked(TuringHybrid):
    """The hybrid RNN whose head matches two registers: 1 where a symbol is recorded, and the pointer as printed, a number of Z."""

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        return super().least_precision(n, discipline, printed) + 2  # for the square of one more key

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        embedding, (linear, attention) = super().plan(n, fmt, printed | {CELL_ZERO.id}, listed)
        records = [gadget for gadget in linear.gadgets if gadget.name.startswith("record of")]
        gates = [unit.gate for gadget in records for unit in gadget.units if "key" in unit.into]
        one, mark = as_affine(1), RegisterPair(reg("mark"), reg("one"), reg("mark"), reg("one"))
        (head,) = attention.heads
        pointer = RegisterPair(reg("key"), reg(POINTER), reg(squared("key")), reg(squared("pointer")))
        marks = Gadget("1 at a record", tuple(Unit(gate, one, {"mark": 1}) for gate in gates))
        both = match_close(head.name, (mark, pointer), head.reads, self.setting(n, fmt))
        return embedding, (replace(linear, gadgets=(*linear.gadgets, marks)), replace(attention, heads=(both,)))


@dataclass(frozen=True)
class AboutMarked(About):
    """What is claimed of that model."""

    def solver(self, machine: Machine, tape: str = "", cells: int | None = None) -> TuringModel:
        return Marked(machine=machine, tape=tape, cells=cells)


MARKED = AboutMarked(**vars(HYBRID))


@claims(
    "about",
    [MARKED],
    lambda about: about.claim(
        "marked-key",
        f"{about.statement} The head matches two registers, as MatchClose allows: 1 where a symbol is recorded, and the pointer,"
        " a number of Z.",
    ),
)
def test_two_registers_are_the_key(check: Check, engine: str, about: About) -> None:
    check.chosen(
        [Case(machine, "", FEW_STEPS) for machine in every_run(FEW_STEPS)],
        judge(about),
        range=f"a machine of 2 states and 2 symbols for each of their runs of {FEW_STEPS} steps from a blank tape",
        precision=about.precision,
    )
    try_random(check, about, check.sizes(cap=AFFORDABLE.get(engine, 200)), judge(about, engine), MACHINES, 40)


# As printed


PRINTS = [
    (about, chosen)
    for about in (RAG, HYBRID)
    for chosen in (*((finding,) for finding in about.listed.findings), about.listed.findings)
]


def printed_claim(printed: tuple[About, Sequence[Finding]]) -> Claim:
    """Returns the claim about a model with findings as printed."""
    about, findings = printed
    return as_printed(about.theorem, "turing", f"Theorem {about.theorem}", about.statement, findings)


@claims("printed", PRINTS, printed_claim)
def test_as_printed(check: Check, engine: str, printed: tuple[About, Sequence[Finding]]) -> None:
    about, ids = printed[0], tuple(finding.id for finding in printed[1])
    words = PROMPT_SEARCH.id in ids  # the prompt is searched, which goes wrong by this slip alone
    where = "words" if words else "a blank tape, then on words"

    def small() -> Iterator[Case]:
        """Yields the runs that end soon first, then words of one and two symbols."""
        codes = list(every_run(10))
        for tape in ("", "0", "1", "01", "10", "11")[words:]:
            ends = [(simulate(parse_standard(code), tape, 10).steps, code) for code in codes]
            yield from (Case(code, tape, count) for count, code in sorted(ends))

    check.chosen(
        small(),
        judge(about, engine, printed=ids, p_bits=check.p_bits),
        range=f"machines of 2 states and 2 symbols on {where} of 1 and 2 symbols; the shortest runs first",
        precision=check.precision_text(about.precision),
    )

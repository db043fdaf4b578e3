"""The models of Turing machines, what each theorem claims of its own, and one judge of their runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from constructions.engines import find_engine
from constructions.engines.known import first_mismatch
from constructions.language.interpreter import Spoken
from constructions.measures import HYBRID_RNN, LINEAR_RNN
from constructions.models.construction import Construction
from constructions.models.search import SearchError
from constructions.turing.base import TuringModel
from constructions.turing.configurations import OUT, Code
from constructions.turing.door import MODELS as SOLVERS
from constructions.turing.machine import DIGITS, LETTERS, Machine, parse_standard
from constructions.turing.rag import PLACE
from constructions.turing.show import outcome
from constructions.turing.simulator import Configuration, simulate
from constructions.turing.tape_models import CELL, STATE, SYMBOL
from precision.format import Discipline
from verify.automata.token_automaton import State, TokenAutomaton
from verify.framework.claim import Claim, Counterexample
from verify.inputs.turing_machines import machines

OF_PLACE = re.compile(r"\^<s>.*\{(\d+)\}")
NUMBERS: dict[str, Spoken] = {digit: (SYMBOL, i) for i, digit in enumerate(DIGITS)}
NUMBERS |= {letter: (STATE, i) for i, letter in enumerate(LETTERS)}


@dataclass(frozen=True)
class Case:
    """A run: a machine in the standard format, a word, and the most steps."""

    machine: str
    tape: str
    steps: int

    @property
    def n(self) -> int:
        """Returns its size: the steps."""
        return self.steps


@dataclass(frozen=True)
class SpaceCase(Case):
    """A run in a space of so many cells."""

    cells: int


@dataclass(frozen=True)
class About:
    """What one theorem claims of its model. most_steps: at scale. parameters: (a, b) for at most a + b·B·k of them.

    in_space: whether the model is wired for a space, so that its cases are of the type `SpaceCase`.
    """

    theorem: str
    model: str
    of_class: str
    blocks: int
    most_steps: int
    state_numbers: int
    parameters: tuple[int, int]
    in_space: bool = False

    @property
    def listed(self) -> Construction:
        """Returns the description of the model for people."""
        return SOLVERS[self.model].construction

    def solver(self, machine: Machine, tape: str = "", cells: int | None = None) -> TuringModel:
        return replace(SOLVERS[self.model], machine=machine, tape=tape, cells=cells)

    def solver_of(self, case: Case) -> TuringModel:
        """Returns the model for a case, wired for its steps."""
        cells = case.cells if isinstance(case, SpaceCase) else None
        return self.solver(parse_standard(case.machine), case.tape, cells)

    def claim(self, what: str, statement: str, **more: Any) -> Claim:
        return Claim.about(self.theorem, "turing", what, f"Theorem {self.theorem}", statement, **more)

    @property
    def statement(self) -> str:
        """Returns what the theorem says, in a sentence."""
        return self.listed.statement

    @property
    def precision(self) -> str:
        """The precision at which the model runs, as the ledger puts it."""
        return f"p = least_precision({'m' if self.in_space else 'n'})"

    def case(self, machine: str, tape: str, steps: int, cells: int) -> Case:
        """Returns the case of a run; the cells count where the model is wired for a space."""
        return SpaceCase(machine, tape, steps, cells) if self.in_space else Case(machine, tape, steps)


COT = About("4.1", "cot", LINEAR_RNN, 3, 100_000, 20, (8_800, 119), in_space=True)
RAG = About("5.4", "rag", LINEAR_RNN, 2, 2000, 41, (17_423, 191))
HYBRID = About("5.8", "hybrid", HYBRID_RNN, 2, 47_176_870, 16, (8_068, 122))
MODELS = (COT, RAG, HYBRID)


def judge(
    about: About, engine: str = "auto", *, admit: Callable[[Case], None] = lambda case: None, **how: Any
) -> Callable[[Any], Counterexample | None]:
    """Returns `run` of one model as a predicate on its cases, annotated with their type. admit: called before, may raise."""

    def on_any_tape(case: Case) -> Counterexample | None:
        admit(case)
        return run(about, case, engine, **how)

    def in_space(case: SpaceCase) -> Counterexample | None:
        return on_any_tape(case)

    return in_space if about.in_space else on_any_tape


def run(
    about: About,
    case: Case,
    engine: str,
    *,
    printed: tuple[str, ...] = (),
    discipline: Discipline = Discipline.FUSED,
    p_bits: int | None = None,
) -> Counterexample | None:
    """Returns whether the model writes what the simulator says; as printed, whether its words say it.

    In a space: and whether it stops where the head leaves the space, not before.
    """
    model = about.solver_of(case)
    wired, machine = model.build(case.steps, p_bits, printed=printed, discipline=discipline), model.machine
    request, words = model.request(wired, case.steps), list[str]()
    if request.limit:  # nothing is to be written if the prompt says all
        try:
            words = request.run(find_engine(engine)).produced[:]
        except SearchError as error:
            return Counterexample(expected=outcome(simulate(machine, case.tape, case.steps)), failed=str(error))
    said, left = model.read_words([*wired.spelled(request.prompt), *words]), words[-1:] == [OUT]
    is_so = simulate(machine, case.tape, said.steps if left else case.steps)
    if said != is_so:
        return Counterexample(expected=_end_text(is_so), written=_end_text(said))
    if not printed and words != (expected := list(wired.spelled(request.guess))):
        return Counterexample(expected=" ".join(expected), written=" ".join(words))
    return leaves_the_space(case, machine, said, left) if isinstance(case, SpaceCase) else None


def leaves_the_space(case: SpaceCase, machine: Machine, said: Configuration, left: bool) -> Counterexample | None:
    """Returns whether the head leaves the space in the next step just if the model says so. said: where the run stopped."""
    first = (case.cells - max(len(case.tape), 1)) // 2
    head = simulate(machine, case.tape, min(said.steps + 1, case.steps)).head
    leaves = not -first <= head < case.cells - first
    return None if leaves == left else Counterexample(expected=f"the head on cell {head}", left_the_space=left)


def _end_text(end: Configuration) -> str:
    return f"{outcome(end)}: {end.tape}"


def is_certified(about: About, case: Case) -> Counterexample | None:
    """Returns whether each argmax is the next word of the run, and every softmax column has a certificate."""
    model = about.solver_of(case)
    wired = model.build(case.steps)
    request = model.request(wired, case.steps)
    expected = request.guess
    wrong, _ = first_mismatch(wired.model, wired.arithmetic, request.prompt, expected)
    if wrong is None:
        return None
    return Counterexample(expected=wired.vocabulary[expected[wrong]], first_other_word=wrong + 1)


def tokens_of(words: Iterable[str]) -> list[Spoken]:
    """Returns the words of a text as programs read them: numbers of cells, symbols, states and places of the word, or words."""
    return [
        (CELL, int(word[1:]))
        if word[0] == "@"
        else (PLACE, int(found[1]))
        if (found := OF_PLACE.match(word))
        else NUMBERS.get(word, (word, 0))
        for word in words
    ]


def digits_of(machine: Machine, words: Iterable[str]) -> list[Spoken]:
    """Returns the words of configurations as programs read them: digits of a kind, or words."""
    families = Code(machine).words.families
    digits = {f.text(i): (f.name, i) for f in families for i in range(f.low, f.high + 1)}
    return [digits.get(word, (word, 0)) for word in words]


def states_of(automaton: TokenAutomaton, tokens: Sequence[Spoken]) -> list[State]:
    """Returns where the tokens of a text stand; each at one state."""
    result, now = [automaton.states[0]], 0
    for position, (word, number) in enumerate(tokens[1:], start=2):
        (now,) = (
            i
            for i, state in enumerate(automaton.states)
            if now in state.after
            and automaton.range(state.low)[0] <= position <= automaton.range(state.high)[1]
            and word == (state.word or state.family)
            and (state.word or automaton.range(state.numbers[0])[0] <= number <= automaton.range(state.numbers[1])[1])
        )
        result.append(automaton.states[now])
    return result


@st.composite
def cases(draw: DrawFn, about: About, sizes: Sequence[int]) -> Case:
    """Draws a machine of up to 5 states and 4 symbols, a word, a number of steps from `sizes`, and some space."""
    code = draw(machines(5, 4))
    tape = draw(st.text(DIGITS[: parse_standard(code).symbols], max_size=6))
    steps = draw(st.sampled_from(sizes))
    return about.case(code, tape, steps, max(len(tape), 1) + draw(st.integers(0, 8)) if about.in_space else 0)

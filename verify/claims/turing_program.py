"""The ideal model of a Turing machine is the machine: the program that the weights are, against the step that the rules define."""

from __future__ import annotations

from functools import cache

from constructions.turing import hybrid
from constructions.turing.library import find
from constructions.turing.machine import parse_standard
from constructions.turing.tape_models import TaskOfAnySize
from verify.certificates.building import Subject
from verify.claims.certified import BEYOND, LAST
from verify.claims.certified_recurrent import LAST_INTERVAL
from verify.claims.turing import RUNS
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.inputs.turing_machines import every_run
from verify.programs.interpreter import Input
from verify.programs.machines import WORDS, Step
from verify.programs.terms import Answer
from verify.runs.turing_runs import HYBRID, Case, cases, tokens_of

STEPS = 10
WORD = (
    "In exact arithmetic, with attention that averages ties, what is said behind any text in the form of a run is the next word of "
    "the machine's step: the head's cell; the symbol, state and direction of the rule for the state and the symbol last left in "
    "that cell; or HALT."
)
FAMILIES = frozenset(["cell", "symbol", "state"])


@cache
def says(task: TaskOfAnySize, written: int) -> Answer:
    """What is due behind so many words of a step."""
    return Step(task).says(written)


def as_the_machine(case: Case) -> Counterexample | None:
    """Where the defined words, each behind the ones before, are not those of the simulator's run."""
    machine = parse_standard(case.machine)
    task = TaskOfAnySize(machine, case.steps, case.tape)
    prompt, right = (spell(machine, **case.task) for spell in (hybrid.prompt, hybrid.expected_sequence))
    read = Input(tokens_of([*prompt, *right]), FAMILIES)
    for i, word in enumerate(tokens_of(right)):
        said = read.spoken(says(task, (i - 1) % WORDS + 1 if i else 0), len(prompt) + i)
        if said != word:
            return Counterexample(word=i + 1, expected=str(word), due=str(said))
    return None


@claims(
    "model",
    [(Claim.about("5.8", "turing", "program", hybrid.SOURCE, f"Turing machines, hybrid: {WORD}"), "hybrid")],
)
def test_program(check: Check, model: str) -> None:
    check.sizes(STEPS)  # or skips
    steps = "the defined words against the simulator"
    check.exhaustive(
        (Case(machine, "", STEPS) for machine in every_run(STEPS)),
        as_the_machine,
        count=RUNS,
        range=f"{steps}: a machine of 2 states and 2 symbols for each of their {RUNS} runs from a blank tape, {STEPS} steps",
        size=lambda case: case.steps,
    )
    check.sampled(
        cases(HYBRID, range(1, 2 * STEPS)),
        as_the_machine,
        range=f"{steps}: random machines of up to 5 states and 4 symbols, words of up to 6; up to {2 * STEPS - 1} steps",
        size=lambda case: case.steps,
        max_examples=40,
    )

    def subject(n: int, name: str = "bb2", tape: str = "", last: int = 0) -> Subject:
        return Subject("turing", n, model=model, machine=str(find(name).machine), tape=tape, last=last)

    subjects = [subject(STEPS), subject(STEPS, "bb3"), subject(STEPS, "palindrome", "1221")]
    text = f"{STEPS} steps of bb2 and bb3 on a blank tape, of palindrome on a word of 4 symbols"
    if check.n_max >= 10**4:
        subjects += [subject(BEYOND, "bb5"), subject(LAST - LAST // 8, last=LAST - 1)]
        text += f"; {BEYOND:,} of bb5; of bb2 {LAST_INTERVAL}"
    check.explained(
        subjects,
        range=f"the program against the definition: any text of up to so many steps, whatever they say: {text}",
    )

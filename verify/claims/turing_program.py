"""The ideal model of a Turing machine is the machine: the program that the weights are, against the step that the rules define."""

from __future__ import annotations

from functools import cache

from constructions.models.search import retrieve
from constructions.turing import hybrid, rag
from constructions.turing.library import find
from constructions.turing.machine import parse_standard
from constructions.turing.tape_models import TaskOfAnySize
from verify.certificates.building import Subject, language_of
from verify.claims.certified import BEYOND, LAST
from verify.claims.certified_recurrent import LAST_INTERVAL
from verify.claims.turing import RUNS
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.induction.machine import theory
from verify.inputs.turing_machines import every_run
from verify.programs.interpreter import Input
from verify.programs.machines import found
from verify.programs.tasks import definition
from verify.runs.turing_runs import HYBRID, Case, cases, places_of, tokens_of

MODELS = {"5.4": ("rag", rag), "5.8": ("hybrid", hybrid)}
STEPS = 10
FAMILIES = frozenset(["cell", "symbol", "state", "place"])
SAID = "In exact arithmetic, with attention that averages ties, what is said behind any text in the form of a run is the next word"
WORD = {
    "5.8": f"{SAID} of the machine's step: the head's cell; the symbol, state and direction of the rule for the state and what was "
    "last left in that cell; or HALT.",
    "5.4": f"{SAID} of the search that is defined, for the next cell of the word or for the head's; then of the machine's step: "
    "the cell; the symbol, state and direction of the rule for the state and the symbol that was found; or HALT.",
}
due = cache(definition)


def as_the_machine(theorem: str, case: Case) -> Counterexample | None:
    """Where the defined words, each behind the ones before, or what the searches find are not those of the simulator's run."""
    (model, module), machine = MODELS[theorem], parse_standard(case.machine)
    prompt = module.prompt(machine, **case.task)
    words = [*prompt, *module.expected_sequence(machine, **case.task)]
    subject = Subject("turing", case.steps, model=model, machine=case.machine, tape=case.tape)
    read, task = Input(tokens_of(words), FAMILIES), TaskOfAnySize(machine, case.steps, case.tape)
    places = places_of(language_of(subject), read.tokens[:-1])
    for k in range(len(prompt), len(words)):
        answer, right = due(subject, places[k - 1].name), read.tokens[k]
        if answer is None:
            answer, right = found(task, places[k - 1].name), tokens_of(retrieve(words[:k]))[0]
        if not right == (said := read.spoken(answer, k)) == read.tokens[k]:
            return Counterexample(position=k + 1, expected=words[k], due=str(said))
    return None


@claims(
    "theorem",
    [
        (
            Claim.about(id, "turing", "program", module.SOURCE, f"Turing machines, {model}: {WORD[id]}"),
            id,
        )
        for id, (model, module) in MODELS.items()
    ],
)
def test_program(check: Check, theorem: str) -> None:
    check.sizes(STEPS)  # or skips

    def right(case: Case) -> Counterexample | None:
        return as_the_machine(theorem, case)

    steps = "the defined words" + " and what the searches find," * (theorem == "5.4") + " against the simulator"
    check.exhaustive(
        (Case(machine, "", STEPS) for machine in every_run(STEPS)),
        right,
        count=RUNS,
        range=f"{steps}: a machine of 2 states and 2 symbols for each of their {RUNS} runs from a blank tape, {STEPS} steps",
        size=lambda case: case.steps,
    )
    check.sampled(
        cases(HYBRID, range(1, 2 * STEPS)),
        right,
        range=f"{steps}: random machines of up to 5 states and 4 symbols, words of up to 6; up to {2 * STEPS - 1} steps",
        size=lambda case: case.steps,
        max_examples=40,
    )

    def subject(n: int, name: str = "bb2", tape: str = "", last: int = 0) -> Subject:
        machine = str(find(name).machine)
        return Subject("turing", n, model=MODELS[theorem][0], machine=machine, tape=tape, last=last)

    subjects = [subject(STEPS), subject(STEPS, "bb3"), subject(STEPS, "palindrome", "1221")]
    text = f"{STEPS} steps of bb2 and bb3 on a blank tape, of palindrome on a word of 4 symbols"
    text += ", of which cells are copied" * (theorem == "5.4")
    if check.n_max >= 10**4:
        subjects += [subject(BEYOND, "bb5"), subject(LAST - LAST // 8, last=LAST - 1)]
        text += f"; {BEYOND:,} of bb5; of bb2 {LAST_INTERVAL}"
    check.explained(
        subjects,
        range=f"the program against the definition: any text of up to so many steps, whatever they say: {text}",
    )


RUN = (
    "The defined words, each behind the ones before{found}, are the machine's run: behind each step the head is where the "
    "directions have led, the state is the last one said, in each cell is what was last left there; for every word and any number "
    "of steps."
)


@claims(
    "theorem",
    [
        (Claim.about(id, "turing", "run", module.SOURCE, f"Turing machines, {model}: {RUN.format(found=found)}"), id)
        for (id, (model, module)), found in zip(MODELS.items(), (", if searches find what is defined", ""), strict=True)
    ],
)
def test_run(check: Check, theorem: str) -> None:
    for name in ("bb2", "bb5", "palindrome"):
        text = f"{name}: what the text tells of its configuration, at the start and behind each step, and what is said next"
        check.follows(theory(find(name).machine, MODELS[theorem][0]), range=text)
    check.argued("Induction over the steps.")

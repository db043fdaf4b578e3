"""The ideal model of a Turing machine is the machine: the program that the weights are, against the step that the rules define."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache, partial

from constructions.language.interpreter import Input
from constructions.language.terms import Answer
from constructions.models.search import END_SEARCH, START_SEARCH, retrieve
from constructions.turing import rag
from constructions.turing.library import find
from constructions.turing.machine import parse_standard
from constructions.turing.rag import tape_search
from constructions.turing.tape_models import START, TO_RIGHT, AnyTapeTask
from verify.automata.token_automaton import Label
from verify.certificates.building import automaton_of
from verify.claims.found import DOCUMENTED, REPEATED, as_documented
from verify.claims.models import TURING_HYBRID, TURING_RAG, Told
from verify.claims.standard import BEYOND, SEARCH_AND_STEP, every_n
from verify.claims.standard import STEP as SAID
from verify.dossiers.dossier import LEAST, Subject
from verify.dossiers.turing.lemmas.machine import theory
from verify.dossiers.turing.searches import of_tape, of_word
from verify.dossiers.turing.steps import found
from verify.dossiers.turing.tapes import COPY, STEP
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.inputs.turing_machines import every_run
from verify.oracles.counts import RUNS
from verify.runs.turing_runs import HYBRID, RAG, Case, cases, states_of, tokens_of

MODELS = {TURING_RAG: RAG, TURING_HYBRID: HYBRID}
STEPS = 10
FOLLOWED = ("bb2", "bb5", "palindrome")
OF_THREE = "Of bb2, bb3 and bb5 on a blank tape, and of palindrome on a word of 4 symbols:"
FAMILIES = frozenset(["cell", "symbol", "state", "place"])
WORD = {TURING_RAG: SEARCH_AND_STEP, TURING_HYBRID: SAID}


@cache
def due_answer(subject: Subject, label: Label) -> Answer | None:
    """Returns the answer that the definition gives at a state, None if no word is due there."""
    return subject.dossier.definition(subject, label)


def as_the_machine(told: Told, case: Case) -> Counterexample | None:
    """Returns where the defined words, or what the searches find, are not those of the simulator's run."""
    about, machine = MODELS[told], parse_standard(case.machine)
    model = about.solver_of(case)
    prompt = model.prompt(case.steps)
    words = [*prompt, *model.expected(case.steps)]
    subject = told.subject(case.steps, machine=case.machine, tape=case.tape)
    read, task = Input(tokens_of(words), FAMILIES), AnyTapeTask(machine, case.steps, case.tape)
    states = states_of(automaton_of(subject), read.tokens[:-1])
    for k in range(len(prompt), len(words)):
        answer, right = due_answer(subject, states[k - 1].label), read.tokens[k]
        if answer is None:
            answer, right = found(task, states[k - 1].label), tokens_of(retrieve(words[:k]))[0]
        if not right == (said := read.spoken(answer, k)) == read.tokens[k]:
            return Counterexample(position=k + 1, expected=words[k], due=str(said))
    return None


@claims("told", MODELS, lambda told: told.claim("program", f"Turing machines, {told.model}: {OF_THREE} {WORD[told]}"))
def test_program(check: Check, told: Told) -> None:
    check.sizes(STEPS)  # or skips
    right = partial(as_the_machine, told)
    steps = "the defined words" + " and what the searches find," * (told is TURING_RAG) + " against the simulator"
    check.exhaustive(
        (Case(machine, "", STEPS) for machine in every_run(STEPS)),
        right,
        count=RUNS,
        range=f"{steps}: a machine of 2 states and 2 symbols for each of their {RUNS} runs from a blank tape, {STEPS} steps",
    )
    check.sampled(
        cases(HYBRID, range(1, 2 * STEPS)),
        right,
        range=f"{steps}: random machines of up to 5 states and 4 symbols, words of up to 6; up to {2 * STEPS - 1} steps",
        max_examples=40,
    )

    def subject(n: int, name: str = "bb2", tape: str = "") -> Subject:
        return told.subject(n, machine=str(find(name).machine), tape=tape)

    subjects = [subject(STEPS), subject(STEPS, "bb3"), subject(STEPS, "palindrome", "1221")]
    text = f"{STEPS} steps of bb2 and bb3 on a blank tape, of palindrome on a word of 4 symbols"
    text += ", of which cells are copied" * (told is TURING_RAG)
    if check.n_max >= 10**4:
        subjects.append(subject(BEYOND, "bb5"))
        text += f"; {BEYOND:,} of bb5"
    check.explained(
        subjects,
        range=f"the program against the definition: any text of up to so many steps, whatever they say: {text}",
    )
    every_n(check, "program", subject(LEAST), "the program against the definition: any text of up to n steps of bb2")


FINDS = (
    "After any word on the tape, its copies and any steps, of any length and any cells, a search that does what Python documents "
    "finds what the terms say: for a place of the word the symbol there, for a cell the symbol of its last record, else nothing; "
    "and after short ones Python's `re` does."
)
CELLS = (-1, 1, 11)
SMALL, SEARCH = AnyTapeTask(find("bb2").machine, STEPS, ""), tape_search(frozenset())


def as_found(words: Sequence[str], search: Sequence[str], label: Label) -> Counterexample | None:
    """Returns where the search that ends in this state, after these words, finds something else than is defined."""
    text = [*words, START_SEARCH, *search, END_SEARCH]
    said, right = Input(tokens_of(text), FAMILIES).spoken(found(SMALL, label), len(text)), tokens_of(retrieve(text))[0]
    return None if said == right else Counterexample(text=text, expected=str(right), found=str(said))


def cells_as_found(records: tuple[tuple[int, int], ...]) -> Counterexample | None:
    """Returns the search for each cell, after records of cells and symbols."""
    words = [START, *(word for c, x in records for word in (f"@{c}", str(x), f"@{c}", "A", TO_RIGHT))]
    searches = ((SEARCH.before, f"@{c}", SEARCH.between, f"@{c}", SEARCH.behind) for c in CELLS)
    return next(filter(None, (as_found(words, search, Label(STEP, number=7)) for search in searches)), None)


def places_as_found(word: str) -> Counterexample | None:
    """Returns the search for each place of a word, and for the one after it."""
    places = rag.families(AnyTapeTask(SMALL.machine, STEPS, word))[-1]
    searches = ([places.text(i)] for i in range(len(places)))
    return next(filter(None, (as_found([START, *word], search, Label(COPY, number=3)) for search in searches)), None)


def cell_as_documented(case: tuple[bool, bool]) -> Counterexample | None:
    """Returns the search for any cell, left of cell 0 or not, in every text: without a word, or with one."""
    has_word, negative = case
    return as_documented(of_tape(has_word, negative=negative))


def place_as_documented(has_word: bool) -> Counterexample | None:
    """Returns the search for any place of the word, likewise."""
    return as_documented(of_word(has_word))


@TURING_RAG.judges("found", f"Turing machines, rag: {FINDS}")
def test_found(check: Check) -> None:
    each = list(itertools.product(CELLS, (0, 1)))
    check.exhaustive(
        (records for m in range(4) for records in itertools.product(each, repeat=m)),
        cells_as_found,
        count=sum(len(each) ** m for m in range(4)) * len(CELLS),
        inputs=lambda _: len(CELLS),
        range="up to three records of two symbols in the cells −1, 1 and 11; every cell",
        size=len,
    )
    check.exhaustive(
        ("".join(word) for m in range(5) for word in itertools.product("01", repeat=m)),
        places_as_found,
        count=sum(2**m * (m + 1) for m in range(5)),
        inputs=lambda word: len(word) + 1,
        range="every word of up to 4 symbols, every place and the one after them",
        size=len,
    )
    check.exhaustive(
        itertools.product((False, True), (False, True)),
        cell_as_documented,
        count=4,
        range="the pattern of the search for a cell against its term, as automata: every text without a word, or with one",
    )
    check.exhaustive(
        (False, True),
        place_as_documented,
        count=2,
        range="of the search for a place, whichever it is, as automata: every text without a word, or with one",
    )
    check.argued(f"{DOCUMENTED} {REPEATED}")


RUN = (
    "The defined words, each after the ones before{found}, are the machine's run: after each step the head is where the "
    "directions have led, the state is the last one said, in each cell is what was last left there; for the machines {machines}, "
    "for every word and any number of steps."
)


def run_of(told: Told) -> Claim:
    """Returns the claim about the words of one model."""
    found = ", if searches find what is defined" if told is TURING_RAG else ""
    text = RUN.format(found=found, machines=", ".join(FOLLOWED))
    return told.claim("run", f"Turing machines, {told.model}: {text}")


@claims("told", MODELS, run_of)
def test_run(check: Check, told: Told) -> None:
    for name in FOLLOWED:
        text = (
            f"{name}: what the text tells of its configuration, at the start and after each step, and what is said next"
        )
        check.follows(theory(find(name).machine, told.model), range=text)
    check.argued("Induction over the steps.")

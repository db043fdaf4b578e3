"""The searches of Theorems 5.2 to 5.4 as they are printed, with what the print leaves open filled in: on plain text, by `re`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hypothesis import strategies as st

from constructions.istree.graphs import Graph, is_tree
from constructions.retrieval.task import Question
from verify.claims.models import ISTREE_RAG
from verify.claims.questions import every_question
from verify.claims.retrieval import RETRIEVERS
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Kind, Reading, claim, claims
from verify.inputs.turing_machines import every_run, machines
from verify.oracles.counts import RUNS, questions, sequences
from verify.oracles.printed_searches import PrintedWalk, first_group, query_search
from verify.oracles.tape_text import last_record, moments
from verify.runs.istree_walks import every_graph

# What stands after a query


NUMBERS, LONGEST = (1, 2, 11, 12), 5
DIGITS = (0, 1, 7, 9)


def numerals(token: st.SearchStrategy[int], length: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Draws so many numerals."""
    return st.tuples(*[token] * length)


@claims(
    "task",
    ("recall", "ngram"),
    lambda task: Claim.about(
        "5.2",
        task,
        "search",
        "Theorem 5.2",
        r"The search \bk1 … k(c−1) \b(\S+)\b, with a blank between two words, finds the token after the first place where"
        " the query stands, and FAILED if there is none.",
        variant="printed",
    ),
)
def test_behind_a_query(check: Check, task: str) -> None:
    retriever = RETRIEVERS[f"5.2/{task}"]
    asked = retriever.query_length

    def right(question: Question) -> Counterexample | None:
        found = first_group(query_search(question.query), " ".join(question.words()))
        expected = retriever.task.answer(question)
        return None if found == expected else Counterexample(expected=expected, found=found)

    check.exhaustive(
        every_question(task, NUMBERS, LONGEST, 0, asked),
        right,
        count=questions(task, LONGEST, len(NUMBERS), 0, asked),
        range=f"sequences of up to {LONGEST} of the numbers {', '.join(map(str, NUMBERS))}, every query",
        size=lambda question: len(question.sequence),
    )
    token, lengths = st.integers(1, 120), st.sampled_from((10, 40, 120))
    check.sampled(
        st.builds(Question, lengths.flatmap(partial(numerals, token)), numerals(token, asked)),
        right,
        range="random sequences of 10, 40 and 120 tokens out of 120, and random queries",
        size=lambda question: len(question.sequence),
        max_examples=200,
    )


@claim(
    theorem="5.2",
    task="index",
    aspect="digits",
    statement=r"The search ^(?:\S\s*){k−1}(\S) finds the k-th token, where each token is one character, as decimal digits are, and"
    " the text begins with the first one.",
    variant="printed",
)
def test_the_kth_digit(check: Check) -> None:
    def right(question: Question) -> Counterexample | None:
        (k,) = question.query
        found = first_group(rf"^(?:\S\s*){{{k - 1}}}(\S)", " ".join(map(str, question.sequence)))
        expected = str(question.sequence[k - 1])
        return None if found == expected else Counterexample(expected=expected, found=found)

    check.exhaustive(
        every_question("index", DIGITS, LONGEST, 0, 1),
        right,
        count=questions("index", LONGEST, len(DIGITS), 0, 1),
        range=f"sequences of up to {LONGEST} of the digits {', '.join(map(str, DIGITS))}, every k",
        size=lambda question: len(question.sequence),
    )


# Algorithm 2


@ISTREE_RAG.judges(
    "searches",
    "Algorithm 2 decides IsTree by its printed searches, with a blank on both sides of a sign, brackets that are not"
    " counted around the walked edge and around the two alternatives, and the group that took part as the result.",
    source="Algorithm 2, r1 to r4",
    variant="printed",
)
def test_algorithm_2(check: Check) -> None:
    def right(graph: Graph) -> Counterexample | None:
        said = PrintedWalk(graph).is_tree()
        return None if said == is_tree(graph) else Counterexample(is_tree=is_tree(graph), said=said)

    orders = "every order and orientation of its edges"
    every_graph(check, (1, 2, 3), right, f"every graph on 1 to 3 vertices, {orders}")
    every_graph(check, (4,), right, f"every graph with 3 edges on 4 vertices, {orders}", edges={4: (3,)})
    every_graph(check, (5,), right, "every labelled graph on 5 vertices", kind="labelled")
    eleven = list(itertools.pairwise((11, 1, 2, 10, 3, 4, 5, 6, 7, 8, 9)))
    check.chosen(
        [Graph(11, tuple(eleven)), Graph(11, tuple(b for b in [*eleven[:-1], (11, 2)]))],
        right,
        range="a path on 11 vertices, and a graph with a cycle: 1 is a digit of 10 and 11",
    )


# The tape


@dataclass(frozen=True)
class TapeRun:
    """A machine from a word on the tape, for so many steps at most. numbers: whether states and directions are numbers."""

    machine: str
    tape: str
    steps: int
    numbers: bool


Find = Callable[[list[str], str], str]


def by_search(pattern: str) -> Find:
    """Returns what the search for a cell finds; P stands for the cell."""

    def find(words: list[str], place: str) -> str:
        return first_group(pattern.replace("P", place), " ".join(words))

    return find


def records(find: Find) -> Callable[[TapeRun], Counterexample | None]:
    """Returns whether before each step this finds what the head's cell holds."""

    def right(run: TapeRun) -> Counterexample | None:
        for step, (words, place, held) in enumerate(moments(run.machine, run.tape, run.steps, run.numbers), 1):
            found = find(words, place)
            if found != held:
                return Counterexample(step=step, cell=place, holds=held, found=found, text=" ".join(words[-20:]))
        return None

    return right


TAPES = ("", "10", "0110")
STEPS = 50
SEARCH, BLANK = r"^.*P (.) P\b.*?$", r"^.*P (.) P .*?$"
LEMMA_31 = "The last i, x, i in the text gives the cell i of the tape, and there is none if the cell was never written."
SYMBOLS = "Symbols have words of their own, of one character."
WORDS = st.text("01", max_size=12)
OWN_WORDS = "states and directions have words of their own"


@dataclass(frozen=True)
class Tape:
    """A way to find a cell in the text. numbers: which spellings of states and directions are looked at. words: of the tape."""

    id: str
    statement: str
    find: Find
    numbers: tuple[bool, ...] = (False,)
    words: st.SearchStrategy[str] = WORDS
    readings: tuple[Reading, ...] = ()

    @property
    def claim(self) -> Claim:
        """Returns the claim; one with readings is open."""
        source, kind = (
            "" if self.id == "C.31" else "Theorem 5.4, the tape's search",
            Kind.OPEN if self.readings else None,
        )
        return Claim(self.id, source, self.statement, "printed", kind=kind, readings=self.readings)


FOUND_BY = (
    f"The search {SEARCH}, the printed one with ^.* in front of it and \\b after P, finds the cell P of the tape."
)
TAPES_READ = (
    Tape(
        "C.31",
        f"{LEMMA_31} {SYMBOLS} States and directions are numbers, or have words of their own.",
        last_record,
        (False, True),
    ),
    Tape("5.4/search", f"{FOUND_BY} {SYMBOLS} So do states and directions.", by_search(SEARCH)),
    Tape(
        "5.4/blank",
        f"The search {BLANK}, the printed one with ^.* in front of it and a blank after P, finds the cell P of the tape, if"
        f" the word on it is empty or has two symbols or more. {SYMBOLS} So do states and directions.",
        by_search(BLANK),
        words=WORDS.filter(lambda word: len(word) != 1),
    ),
    Tape(
        "5.4/number-words",
        f"{FOUND_BY} States are the numbers 1, 2, …, directions −1 and 1.",
        by_search(SEARCH),
        (True,),
        readings=(
            Reading("states and directions are numbers: `1 2 1`, a cell, a state and a direction, is a match", False),
            Reading(OWN_WORDS, True, "5.4/search"),
        ),
    ),
)


@claims("tape", TAPES_READ, lambda tape: tape.claim)
def test_a_cell_is_found(check: Check, tape: Tape) -> None:
    right = records(tape.find)
    check.exhaustive(
        (
            TapeRun(machine, word, STEPS, numbers)
            for word in TAPES
            for machine in every_run(STEPS)
            for numbers in tape.numbers
        ),
        right,
        count=RUNS * len(TAPES) * len(tape.numbers),
        range=f"a machine for each run of 2 states and 2 symbols, from a blank tape, from 10 and from 0110; {STEPS} steps",
        size=lambda run: run.steps,
    )
    check.sampled(
        st.builds(TapeRun, machines(5, 4), tape.words, st.sampled_from((STEPS, 200)), st.sampled_from(tape.numbers)),
        right,
        range="random machines of up to 5 states and 4 symbols, words of up to 12; 50 and 200 steps",
        size=lambda run: run.steps,
        max_examples=60,
    )


@claim(
    "5.4/boundary",
    source="Theorem 5.4, the tape's search in the main text",
    statement=r"The search ^.*P (.) P.*?$, the printed one with ^.* in front of it, finds the cell P of the tape.",
    variant="printed",
    kind=Kind.OPEN,
    readings=(
        Reading("nothing stands between P and `.*?$`: `1 a 1` is found in `11 a 11`", False),
        Reading(
            "a blank stands after P, as in the proof: right but for a word of one symbol, after which the record at the end of"
            " the text is not found at step 1",
            True,
            "5.4/blank",
        ),
        Reading(r"\b stands after P, as around a number in the searches of Theorems 5.2 and 5.3", True, "5.4/search"),
    ),
)
def test_a_cell_is_a_whole_word(check: Check) -> None:
    check.chosen(
        [TapeRun("1RB1LB_1LA1RZ", f"{'0' * length}1", 1, False) for length in range(11)],
        records(by_search(r"^.*P (.) P.*?$")),
        range="the first step, at cell 1 of a word of up to 11 symbols, of which the last one is another",
        size=lambda run: len(run.tape),
    )


@claim(
    "5.4/prompt-search",
    source="Theorem 5.4, the prompt's search",
    statement=r"The search ^(?:\S+\s*){i}(\S) finds the i-th symbol of the word, for each of its places.",
    variant="printed",
)
def test_a_place_of_the_word(check: Check) -> None:
    def right(word: str) -> Counterexample | None:
        symbols = ["abc"[int(digit)] for digit in word]
        text = " ".join(["<s>", *symbols])
        for i, held in enumerate(symbols, 1):
            if (found := first_group(rf"^(?:\S+\s*){{{i}}}(\S)", text)) != held:
                return Counterexample(place=i, holds=held, found=found)
            text += f" <StartSearch> ^(?:\\S+\\s*){{{i}}}(\\S) <EndSearch> {held} {i} {held} {i}"
        return None

    check.exhaustive(
        ("".join(word) for length in range(7) for word in itertools.product("012", repeat=length)),
        right,
        count=sequences(6, 3),
        range="every word of up to 6 out of 3 symbols, every place of it, after the records of the places before",
        size=len,
    )
    check.sampled(
        st.sampled_from((10, 100)).flatmap(lambda length: st.text("012", min_size=length, max_size=length)),
        right,
        range="random words of 10 and 100 of them",
        size=len,
        max_examples=30,
    )

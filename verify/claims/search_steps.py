"""Appendix A.5: a search can typically be evaluated in O(n) time. How many steps those of the repaired models take."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence

from constructions.istree import rag as istree_rag
from constructions.istree.graphs import PAPER, Graph
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from verify.claims.models import ISTREE_RAG
from verify.claims.retrieval import RETRIEVERS, LargeCase, QuestionCase, every_case
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claim, claims
from verify.inputs.turing_machines import every_run
from verify.oracles.backtracking import steps
from verify.oracles.counts import RUNS, questions
from verify.runs.istree_walks import every_graph
from verify.runs.turing_runs import RAG
from verify.runs.turing_runs import Case as RunOfMachine

MOST = 8  # steps a character
STATEMENT = (
    f"By backtracking, a search takes at most {MOST} steps for each character of the text and of the pattern: O(n) steps, if a"
    " word has O(1) characters."
)
OF_GRAPHS = (
    "By backtracking, a search takes at most 3d + 5 steps for each character of the text and of the pattern, where numbers have at"
    " most d digits: O(n) steps, if a word has O(1) characters."
)
TASKS = ("index", "recall", "ngram", "counting")
LONG_NUMBERS, MOST_DIGITS = 30, 4  # edges between them; of each number
DIGITS = re.compile(r"\d+")


def searches(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yields each pattern in these words, the text before it, and the result after it."""
    for end in (k for k, word in enumerate(words) if word == END_SEARCH):
        start = max(k for k in range(end) if words[k] == START_SEARCH)
        yield " ".join(words[start + 1 : end]), " ".join(words[:start]), words[end + 1]


def within(words: Sequence[str], most: int = MOST) -> Counterexample | None:
    """Returns where a search takes more steps, or finds something else than the words say."""
    for pattern, text, result in searches(words):
        taken, found = steps(pattern, text)
        if taken > most * (len(pattern) + len(text)) or (found or FAILED) != result:
            return Counterexample(pattern=pattern, characters=len(text), steps=taken, found=found or FAILED)
    return None


@claims("task", TASKS, lambda task: Claim.about("5.2", task, "search-steps", "Theorem 5.2 and appendix A.5", STATEMENT))
def test_a_task(check: Check, task: str) -> None:
    retriever = RETRIEVERS[f"5.2/{task}"]
    asked = retriever.query_length

    def right(case: QuestionCase) -> Counterexample | None:
        return within([*case.question.words(), *retriever.thoughts(case.question, frozenset())])

    def right_at_scale(large: LargeCase) -> Counterexample | None:
        return right(large.case(task))

    check.exhaustive(
        every_case(task, 4, 4, 3, asked),
        right,
        count=questions(task, 4, 3, 4, asked),
        range="every question about up to 4 tokens from 1 … 3",
        size=lambda case: len(case.sequence),
    )
    check.chosen(
        [LargeCase(n, seed) for n in check.sizes(10, ratio=10, cap=2000) for seed in range(8)],
        right_at_scale,
        range="random sequences of n tokens and random queries",
    )


def shuffled(n: int) -> Graph:
    """Returns a tree on n vertices, its edges in any order."""
    chosen = random.Random(n)
    edges = [(chosen.randint(1, v - 1), v) for v in range(2, n + 1)]
    chosen.shuffle(edges)
    return Graph(n, tuple(edges))


def among_long_numbers(digits: int) -> Graph:
    """Returns a path of the largest vertices without vertex 1. A search for an edge of 1 tries each number from each digit on."""
    n = 10**digits - 1
    first = max(n - LONG_NUMBERS, 2)
    return Graph(n, tuple(itertools.pairwise(range(first, n + 1))))


@ISTREE_RAG.judges("search-steps", OF_GRAPHS, source="Algorithm 2 and appendix A.5")
def test_algorithm_2(check: Check) -> None:
    def right(graph: Graph) -> Counterexample | None:
        prompt = [PAPER.vocabulary(graph.n)[token] for token in PAPER.prompt(graph)]
        words = [*prompt, *istree_rag.RAG.expected(graph)]
        return within(words, 3 * max(len(number) for word in words for number in DIGITS.findall(word)) + 5)

    def right_at_scale(n: int) -> Counterexample | None:
        return right(shuffled(n))

    every_graph(check, range(1, 5), right, "every labelled graph on up to 4 vertices", kind="labelled")
    check.chosen([10, 20, 40], right_at_scale, range="random trees")
    check.chosen(
        [among_long_numbers(digits) for digits in range(1, MOST_DIGITS + 1) if 10**digits - 1 <= check.n_max],
        right,
        range=f"vertex 1 apart from up to {LONG_NUMBERS} edges of the largest numbers of 1 to {MOST_DIGITS} digits",
        size=None,
    )


@claim("5.4/search-steps", task="turing", source="Theorem 5.4 and appendix A.5", statement=STATEMENT)
def test_a_machine(check: Check) -> None:
    def right(case: RunOfMachine) -> Counterexample | None:
        model = RAG.solver_of(case)
        return within([*model.prompt(case.steps), *model.expected(case.steps)])

    check.exhaustive(
        (RunOfMachine(machine, tape, 8) for tape in ("", "101") for machine in every_run(8)),
        right,
        count=RUNS * 2,
        range="a machine for each run of 2 states and 2 symbols, from a blank tape and from 101; 8 steps",
    )
    check.chosen(
        [RunOfMachine("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA", "0110", n) for n in (50, 150)],
        right,
        range="the five-state champion on 0110",
    )

"""The ideal model is the task: the program that the weights are, extracted and compared, for every input, with no run."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cache

from constructions.istree import lean, transformer
from constructions.istree.graphs import LAYOUTS, Graph, TokenLayout, expected_answer
from constructions.language.interpreter import Input
from constructions.retrieval.task import Question
from verify.automata.language import State
from verify.claims.certified import BEYOND, INVARIANT, LAST, every_n, in_cases, listed
from verify.dossiers.dossier import ENDLESS, LEAST, Subject
from verify.dossiers.istree.steps import definition as defined_step
from verify.dossiers.istree.texts import IN_PROMPT, IN_THOUGHT, SECOND, THOUGHT
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.tasks import MODELS, RETRIEVERS
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claim, claims
from verify.inputs.strategies import all_edges, every_input
from verify.oracles.counts import ordered_graphs, questions
from verify.programs.witness import tokens_of

step = cache(defined_step)  # it is asked for at each vertex
THEOREMS = {"transformer": "4.6", "rag": "5.2", "hybrid": "5.6"}
TOKENS, LONGEST = 3, 4  # of the sequences on which the definition is compared with the oracle
WHAT = "In exact arithmetic, with attention that averages ties, the answer is the task's definition, for every input."
SEARCHES = "In exact arithmetic, it writes the search that is defined, token by token, and says what was found, for every input."


@claims(
    "key",
    [
        (
            Claim.about(
                THEOREMS[model],
                name,
                "program",
                f"Theorem {THEOREMS[model]}",
                f"{name}{'' if model == 'transformer' else f', {model}'}: {SEARCHES if model == 'rag' else WHAT}",
            ),
            (name, model),
        )
        for name, model in MODELS
        if model in THEOREMS
    ],
)
def test_program(check: Check, key: tuple[str, str]) -> None:
    name, model = key
    task, asked = RETRIEVERS[name].task, RETRIEVERS[name].query_length
    longest = min(LONGEST, check.n_max)
    sizes = (*check.sizes(LEAST, ratio=10**4), *([] if check.n_max < 10**4 else [BEYOND]))
    subjects = [find_subject(name, n, model=model) for n in sizes]
    defined = "search that is defined, any word as its result" if model == "rag" else "definition"
    text = f"the program against the {defined}: every sequence of up to n tokens, every query"
    check.explained(subjects, range=f"{text}; n = {listed(sizes)}")
    every_n(check, "program", [find_subject(name, LEAST, model=model)], text)
    if model == "rag":
        return
    definition = subjects[0].dossier.answer(subjects[0])
    if definition is None:
        raise TypeError(f"{name} has no definition")

    def as_defined(question: Question) -> Counterexample | None:
        words = question.words()
        said, right = Input(tokens_of(words)).said(definition, len(words)), task.answer(question)
        return None if said == right else Counterexample(expected=right, found=said)

    numbers = range(1, TOKENS + 1)
    last = {"index": range(1, longest + 1), "counting": range(LONGEST + 1)}.get(name, numbers)
    every = (
        question
        for length in range(longest + 1)
        for sequence in itertools.product(numbers, repeat=length)
        for query in itertools.product(*[numbers] * (asked - 1), last)
        if not task.wrong(question := Question(sequence, query))
    )
    check.exhaustive(
        every,
        as_defined,
        count=questions(name, longest, TOKENS, LONGEST, asked),
        range=f"the definition against the oracle: sequences of up to {longest} tokens over {TOKENS}, every query",
        size=lambda question: question.least_n,
    )


@claims(
    "key",
    [
        (
            Claim.about(
                THEOREMS[model],
                name,
                "program-above",
                f"Theorem {THEOREMS[model]}",
                f"{name}, {model}: For every n ≥ 2^63: {SEARCHES if model == 'rag' else WHAT}",
            ),
            (name, model),
        )
        for name, model in MODELS
        if model in THEOREMS
    ],
)
def test_program_above(check: Check, key: tuple[str, str]) -> None:
    name, model = key
    text = f"every sequence of up to n tokens, every query{', any word as its result' * (model == 'rag')}"
    above(check, find_subject(name, LAST, model=model, last=ENDLESS), text)


def above(check: Check, subject: Subject, text: str) -> None:
    """Every n from 2^63 on, in cases; the inequalities that decide them are stored. text: which inputs they are about."""
    check.sizes(10**4)
    in_cases(check, [subject], "program", f"{text}; every n from 2^63 on, in cases of n and its bit length")


STEP = (
    "In exact arithmetic, with attention that averages ties, what is said is the defined step of Algorithm 1, "
    "behind every prompt and any vertices that follow"
)
BOTH = ", in both layouts"
FEW = "; in the paper's, of prompts of up to n − 1 edges"


@dataclass(frozen=True)
class Wiring:
    """A model of IsTree, and how the step that its program is says what the edge behind another one is."""

    name: str
    source: str
    lean: bool

    def as_algorithm_1(self, graph: Graph) -> Counterexample | None:
        """Where the defined steps do not say Algorithm 1's answer, each behind the ones before, in one of the layouts."""
        return next(filter(None, (self._in(layout, graph) for layout in LAYOUTS.values())), None)

    def _in(self, layout: TokenLayout, graph: Graph) -> Counterexample | None:
        words = layout.vocabulary(graph.n)
        prompt, right = (
            [words[t] for t in tokens] for tokens in (layout.prompt(graph), expected_answer(graph, layout))
        )
        read, end = Input(tokens_of([*prompt, *right])), layout.end_of_prompt
        last = State(end, IN_PROMPT) if end else SECOND if graph.edges else State(layout.start)
        for k, word in enumerate(right, start=len(prompt)):
            said = right[k - len(prompt) - 1] if k > len(prompt) else ""
            state = last if not said else State(said, IN_THOUGHT) if said == end else THOUGHT
            due = step(graph.n, layout, state, by_counts=not self.lean)
            if due is None or read.said(due, k) != word:
                found = due and read.said(due, k)
                return Counterexample(layout=layout.name, position=k, expected=word, due=found)
        return None


LEAN = Wiring("lean-program", lean.SOURCE, lean=True)
REPAIRED = Wiring("program", transformer.SOURCE, lean=False)


@claims(
    "wiring",
    [
        (
            Claim.about("4.7", "istree", LEAN.name, LEAN.source, f"IsTree, lean: {STEP}{BOTH}{FEW}.", variant="lean"),
            LEAN,
        ),
        (
            Claim.about(
                "4.7",
                "istree",
                REPAIRED.name,
                REPAIRED.source,
                f"IsTree: {STEP}{BOTH}. Given the invariant of {INVARIANT}.",
            ),
            REPAIRED,
        ),
    ],
)
def test_step(check: Check, wiring: Wiring) -> None:
    few, steps = (1, 2, 3), "the defined steps against Algorithm 1, in both layouts"
    check.exhaustive(
        itertools.chain.from_iterable(map(every_input, few)),
        wiring.as_algorithm_1,
        count=sum(map(ordered_graphs, few)),
        range=f"{steps}: every graph on 1 to 3 vertices, every order and orientation of its edges",
        size=lambda graph: graph.n,
    )
    check.exhaustive(
        (Graph(4, edges) for edges in itertools.permutations(all_edges(4), 3)),
        wiring.as_algorithm_1,
        count=math.perm(6, 3),
        range=f"{steps}: every graph with 3 edges on 4 vertices, every order of its edges",
        size=4,
    )
    check.sizes(LEAST)
    n = LEAST if check.n_max < 10**4 else BEYOND  # a certificate takes seconds, at any size
    edges = "n − 1" if wiring.lean else "n(n − 1)/2"
    text = f"the program against the defined step: prompts of up to {edges} edges, behind n − 1 any vertices from 1 on"
    of_eos = find_subject("istree", n, lean=wiring.lean, layout="eos")
    check.explained([of_eos], range=f"{text}; of the layout eos, up to n(n − 1)/2 edges, n = {n:,}")
    own = find_subject("istree", LEAST, lean=wiring.lean, last=LAST if wiring.lean else 0)
    check.explained([replace(own, n=n, last=0)], range=f"{text}; n = {n:,}")
    every_n(check, "program", [own, own.with_options(layout="eos")], text)


@claim(
    theorem="4.7",
    task="istree",
    aspect="program-above",
    source=transformer.SOURCE,
    statement=f"IsTree: For every n ≥ 2^63: {STEP}, in the paper's layout. Given the invariant of {INVARIANT}.",
)
def test_step_above(check: Check) -> None:
    text = "prompts of up to n(n − 1)/2 edges, behind n − 1 any vertices from 1 on"
    above(check, find_subject("istree", LAST, last=ENDLESS), text)

"""The ideal model is the task: the program that the weights are, extracted and compared, for every input, with no run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from constructions.istree.graphs import LAYOUTS, Graph, TokenLayout, expected_answer
from constructions.language.interpreter import Input
from constructions.retrieval.task import Question
from verify.automata.token_automaton import Label
from verify.claims.models import ISTREE, ISTREE_LEAN, OF_RETRIEVAL, of_retrieval
from verify.claims.questions import every_question
from verify.claims.run_invariants import COUNTS
from verify.claims.standard import ALGORITHM_1, DEFINED, SEARCHES, explained, first_other, long_run_sizes, name_of
from verify.dossiers.dossier import LEAST
from verify.dossiers.istree.lemmas.search import MODELS as SEARCHES_OF
from verify.dossiers.istree.lemmas.search import N, theory
from verify.dossiers.istree.steps import definition as defined_step
from verify.dossiers.istree.texts import IN_PROMPT, IN_THOUGHT, SECOND, THOUGHT
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import MODELS, RETRIEVERS
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claims
from verify.oracles.counts import questions
from verify.programs.witness import tokens_of
from verify.runs.istree_walks import on_small_graphs

step = cache(defined_step)  # it is asked for at each vertex
TOKENS, LONGEST = 3, 4  # of the sequences on which the definition is compared with the oracle


@claims(
    "key",
    [key for key in MODELS if key[1] in OF_RETRIEVAL],
    lambda key: of_retrieval(*key).claim("program", f"{name_of(*key)}: {SEARCHES if key[1] == 'rag' else DEFINED}"),
)
def test_program(check: Check, key: tuple[str, str]) -> None:
    name, model = key
    task, asked = RETRIEVERS[name].task, RETRIEVERS[name].query_length
    longest = min(LONGEST, check.n_max)
    own = find_subject(name, LEAST, model=model)
    defined = "search that is defined, any word as its result" if model == "rag" else "definition"
    text = f"the program against the {defined}: every sequence of up to n tokens, every query"
    explained(check, own, (*check.sizes(LEAST, ratio=10**4), *long_run_sizes(check)), text)
    if model == "rag":
        return
    definition = own.dossier.answer(own)
    if definition is None:
        raise TypeError(f"{name} has no definition")

    def as_defined(question: Question) -> Counterexample | None:
        words = question.words()
        said, right = Input(tokens_of(words)).word_at(definition, len(words)), task.answer(question)
        return None if said == right else Counterexample(expected=right, found=said)

    check.exhaustive(
        every_question(name, range(1, TOKENS + 1), longest, LONGEST, asked),
        as_defined,
        count=questions(name, longest, TOKENS, LONGEST, asked),
        range=f"the definition against the oracle: sequences of up to {longest} tokens over {TOKENS}, every query",
        size=lambda question: question.least_n,
    )


BOTH = ", in both layouts"
FEW = "; in the paper's, of prompts of up to n − 1 edges"


@dataclass(frozen=True)
class Wiring:
    """A model of IsTree, and how the step that its program is says what the edge after another one is."""

    lean: bool

    def as_algorithm_1(self, graph: Graph) -> Counterexample | None:
        """Returns where the defined steps do not say Algorithm 1's answer, each after the ones before, in one of the layouts."""
        return next(filter(None, (self._in(layout, graph) for layout in LAYOUTS.values())), None)

    def _in(self, layout: TokenLayout, graph: Graph) -> Counterexample | None:
        words = layout.vocabulary(graph.n)
        prompt, right = (
            [words[t] for t in tokens] for tokens in (layout.prompt(graph), expected_answer(graph, layout))
        )
        read, end = Input(tokens_of([*prompt, *right])), layout.end_of_prompt
        last = Label(end, IN_PROMPT) if end else SECOND if graph.edges else Label(layout.start)
        labels = [last, *(Label(word, IN_THOUGHT) if word == end else THOUGHT for word in right[:-1])]
        due = (step(graph.n, layout, label, by_counts=not self.lean) for label in labels)
        return first_other(read, len(prompt), due)


OF_WIRINGS = {
    Wiring(lean=True): ISTREE_LEAN.claim("program", f"IsTree, lean: {ALGORITHM_1}{BOTH}{FEW}."),
    Wiring(lean=False): ISTREE.claim("program", f"IsTree: {ALGORITHM_1}{BOTH}. Given the invariant of {COUNTS}."),
}


@claims("wiring", OF_WIRINGS, OF_WIRINGS.__getitem__)
def test_step(check: Check, wiring: Wiring) -> None:
    on_small_graphs(check, wiring.as_algorithm_1, "the defined steps against Algorithm 1, in both layouts")
    check.sizes(LEAST)
    n = [LEAST, *long_run_sizes(check)][-1]  # a certificate takes seconds, at any size
    edges = "n − 1" if wiring.lean else "n(n − 1)/2"
    text = f"the program against the defined step: prompts of up to {edges} edges, after n − 1 any vertices from 1 on"
    of_eos = find_subject("istree", n, lean=wiring.lean, layout="eos")
    check.explained([of_eos], range=f"{text}; of the layout eos, up to n(n − 1)/2 edges, n = {n:,}")
    explained(check, find_subject("istree", LEAST, lean=wiring.lean), [n], text)


# Where the steps lead

RIGHT = (
    "After a prompt of n − 1 edges of a simple graph, or in the layout eos of any number, the defined steps of Algorithm 1, each "
    "after the ones before, end after at most 2n − 1 vertices, with YES if and only if the graph is a tree, for every n."
)
RANKS = (
    "A graph has no cycle if and only if there are ranks by which no edge joins equals and no vertex has two edges to lower "
    "ones, and vertex 1 none; it is connected if and only if no set with vertex 1 that is closed under edges misses a vertex."
)
ARGUED = f"Induction over the positions. {RANKS}"
OF_SEARCHES = {
    "lean": ISTREE_LEAN.claim("search", f"IsTree, lean: {RIGHT}"),
    "repaired": ISTREE.claim("search", f"IsTree: {RIGHT}"),
}


@claims("model", OF_SEARCHES, OF_SEARCHES.__getitem__)
def test_search(check: Check, model: str) -> None:
    text = "what the heads find, invariants at the start and after each step, and what they say of the answer; every n"
    for layout in LAYOUTS.values():
        check.follows(theory(SEARCHES_OF[model](N, layout)), range=f"{text}, layout {layout.name}")
    check.argued(ARGUED)

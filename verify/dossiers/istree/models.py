"""IsTree: the Transformer in two layouts and two wirings, the hybrid that searches in frames, the Linear RNN with searches."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from constructions.istree.base import IsTreeModel, IsTreeOptions
from constructions.istree.graphs import LAYOUTS, Graph, TokenLayout, is_tree
from constructions.istree.models import MODELS
from constructions.language.terms import Answer, Term
from precision.format import Discipline
from verify.algebra.interval import ends
from verify.automata.token_automaton import Label, TokenAutomaton
from verify.dossiers.dossier import ENDLESS, LEAST, About, Subject
from verify.dossiers.istree import texts
from verify.dossiers.solved import TOP, TOP_OF_LEAN, SolvedDossier, documents

if TYPE_CHECKING:
    from verify.induction.theory import Theory
    from verify.patterns.texts import Comparison

GRAPHS = 200  # that are tried at most
STEP = "each word is the defined step of Algorithm 1"
TURNS = "in any turns as they are defined, whatever a search finds, each word is the defined step of Algorithm 2"
FRAMES = "after every prompt and any frames, each word that is due is the defined step of the search"


@dataclass(frozen=True)
class IsTree(IsTreeOptions, SolvedDossier):
    """A model of IsTree."""

    construction: str = "istree"

    bits_of_bits = 5
    stored_in: ClassVar[Sequence[Discipline]] = (Discipline.FUSED,)
    is_stored_above = True
    is_stepwise = True
    named_sums = True
    inputs_are = " after a simple graph"
    every_input = (
        "every graph on n = {n} in every order and orientation of its edges, with the chain of thought that is due"
    )

    @property
    def solver(self) -> IsTreeModel:
        return MODELS[self.model].with_options(self)

    def texts(self, subject: Subject) -> TokenAutomaton:
        return self.texts_between(subject, *ends(subject.n))

    # Inputs

    def candidates(self, subject: Subject, rng: random.Random, count: int) -> Iterator[Graph]:
        from verify.inputs import hard_graphs, strategies

        if subject.n >= hard_graphs.LEAST:
            yield from (hard.graph() for hard in hard_graphs.hard_graphs(subject.n))
        for _ in range(count):
            yield strategies.label(subject.n, rng.choice(list(strategies.FAMILIES)), rng.randint)

    def every(self, subject: Subject) -> Iterable[Graph]:
        from verify.inputs.strategies import every_input

        return every_input(subject.n)

    def tried(self, subject: Subject) -> Iterable[Graph]:
        return itertools.islice(self.candidates(subject, random.Random(0), GRAPHS), GRAPHS)

    def has_one_answer(self, subject: Subject, given: Graph) -> bool:
        """Returns whether the graph is a tree: for another graph the theorem allows more than one chain of thought."""
        return not subject.printed or is_tree(given)

    def text_of(self, given: Graph) -> str:
        return f"edges {', '.join(f'{u}-{v}' for u, v in given.edges) or 'none'}"

    def said_wrongly(self, given: Graph, run: Any, answer: Any) -> str:
        wrong = super().said_wrongly(given, run, answer)
        if wrong and answer[1] != (right := "YES" if is_tree(given) else "NO"):
            return f"it says {answer[1] or f'neither within {len(run.tokens)} words'}; the right answer is {right}"
        return wrong


@dataclass(frozen=True)
class OfTransformer(IsTree):
    """A Transformer that goes on with Algorithm 1, in two layouts; lean: in five blocks of integers, at fewer bits."""

    defines_prints = False
    conclusion = "steps, each after those before, end with YES if and only if the graph is a tree"

    @property
    def stored(self) -> Iterable[tuple[Subject, About]]:
        if (self.layout, self.lean) != ("paper", False):
            return
        small, eos, fused = replace(self, lean=True), replace(self, layout="eos"), [Discipline.FUSED]
        yield from documents(self, self.first_above - 1, self.first_above - 1, fused)
        yield Subject(self, LEAST, last=TOP, discipline=Discipline.SEQUENTIAL), "rounding"
        yield from documents(small, TOP_OF_LEAN, TOP_OF_LEAN)
        yield from documents(eos, TOP, TOP, fused)
        yield from documents(replace(small, layout="eos"), TOP_OF_LEAN, TOP_OF_LEAN, fused)
        yield from documents(self, ENDLESS, ENDLESS, fused, self.first_above)

    def is_followed_above(self, discipline: Discipline, *, theorem: bool) -> bool:
        return not self.lean and (discipline is Discipline.FUSED or not theorem)

    # Texts

    def texts_between(self, subject: Subject, low: int, high: int) -> TokenAutomaton:
        return texts.istree(low, high, self.layout)

    # Definitions

    @property
    def token_layout(self) -> TokenLayout:
        """The words of the layout."""
        return LAYOUTS[self.layout]

    def definition(self, subject: Subject, label: Label) -> Answer | None:
        from verify.dossiers.istree import steps

        if subject.printed:
            return None
        return steps.definition(subject.n, self.token_layout, label, by_counts=not self.lean)

    def compared_texts(self, subject: Subject, automaton: TokenAutomaton) -> TokenAutomaton:
        return automaton if subject.printed else texts.searched(automaton, subject.n, longer=not self.lean)

    def invariant_terms(self, subject: Subject) -> tuple[Term, ...]:
        from verify.dossiers.istree.steps import ByCounts

        return ByCounts(subject.n, self.token_layout).counted

    @property
    def sentence(self) -> str:
        longer = self.layout == "eos" or not self.lean
        return f"after {'every prompt' if longer else 'up to n − 1 edges'}, {STEP}"

    # Lemmas

    def theory(self) -> Theory:
        return self._theory(lean=self.lean)

    def _theory(self, *, lean: bool) -> Theory:
        from verify.dossiers.istree.lemmas import search

        return search.theory(search.MODELS["lean" if lean else "repaired"](search.N, self.token_layout))

    @property
    def invariants(self) -> Mapping[str, Callable[[], tuple[Theory, Sequence[str]]]]:
        return {
            "counts of one vertex": lambda: (
                self._theory(lean=False),
                ["orders", "order-rises", "others-differ"],
            ),
        }

    # Hard inputs of the search for a least precision

    @property
    def least_hard(self) -> int | None:
        from verify.inputs import hard_graphs

        return hard_graphs.LEAST

    def extreme(self, subject: Subject) -> Iterator[tuple[str, Graph]]:
        from verify.inputs.hard_graphs import hard_graphs

        return ((hard.family, hard.graph()) for hard in hard_graphs(subject.n))


@dataclass(frozen=True)
class IsTreeHybridDossier(IsTree):
    """A hybrid that searches in frames of a few words."""

    model: str = "hybrid"

    in_cases = (Discipline.FUSED,)
    sentence = FRAMES
    conclusion = "frames, each after those before, end with YES if and only if the graph is a tree"

    def is_followed_above(self, discipline: Discipline, *, theorem: bool) -> bool:
        return discipline is Discipline.FUSED or not theorem

    def texts_between(self, subject: Subject, low: int, high: int) -> TokenAutomaton:
        return texts.of_hybrid(low, high)

    def definition(self, subject: Subject, label: Label) -> Answer | None:
        from verify.dossiers.istree import frames

        return frames.definition(subject.n, label)

    def theory(self) -> Theory:
        from verify.dossiers.istree.frames import Frames
        from verify.dossiers.istree.lemmas import frames

        return frames.theory(Frames(frames.N))

    @property
    def invariants(self) -> Mapping[str, Callable[[], tuple[Theory, Sequence[str]]]]:
        from verify.dossiers.istree.lemmas import search

        return {
            "records of one vertex": lambda: (
                search.theory(search.MODELS["lean"](search.N, LAYOUTS[self.layout])),
                ["apart"],
            )
        }


@dataclass(frozen=True)
class IsTreeSearcherDossier(IsTree):
    """A Linear RNN that writes turns and searches."""

    model: str = "rag"

    conclusion = "turns, if the searches find what is defined, end with YES if and only if the graph is a tree"
    sentence = TURNS
    stored_in = in_cases = tuple(Discipline)
    is_accepted = True
    defines_prints = False

    def texts_between(self, subject: Subject, low: int, high: int) -> TokenAutomaton:
        limited = subject.discipline is Discipline.SEQUENTIAL and not subject.printed
        return texts.of_rag(low, high, frozenset(subject.printed), limited=limited)

    def definition(self, subject: Subject, label: Label) -> Answer | None:
        from verify.dossiers.istree import turns

        return None if subject.printed else turns.definition(subject.n, label)

    def compared_texts(self, subject: Subject, automaton: TokenAutomaton) -> TokenAutomaton:
        from verify.dossiers.istree import turns
        from verify.programs.pieces import as_due, by_way

        if subject.printed:
            return automaton
        return as_due(by_way(automaton), texts.PROMPT, lambda label: turns.definition(subject.n, label))

    def searches(self, subject: Subject) -> Mapping[str, Comparison]:
        from verify.dossiers.istree.searches import OF_TURNS, of_turns

        return {name: of_turns(name) for name in OF_TURNS}

    def left_open(self, subject: Subject) -> str:
        return ", if no edge is there twice"

    def theory(self) -> Theory:
        from verify.dossiers.istree.lemmas import turns

        return turns.theory(turns.defined())

    @property
    def invariants(self) -> Mapping[str, Callable[[], tuple[Theory, Sequence[str]]]]:
        def limited() -> tuple[Theory, Sequence[str]]:
            theory = self.theory()
            kept = [f"{invariant}/{case}" for invariant in theory.invariants for case in theory.kept]
            return theory, [*kept, "down-or-up", "records-limited"]

        return {"records": limited}


DOSSIERS = (OfTransformer(), IsTreeSearcherDossier(), IsTreeHybridDossier())

"""Theorem 4.8: the Transformer that runs one RNN on prompts of n words, position by position.

Texts are all that such a run could look like: any words of the prompt, any values of the gates, any words of the RNN. So what is
certified holds whatever the gates compute: a run's tokens are among these texts.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from circuits.models import Rnn, simulation_models
from circuits.plan import Plan
from circuits.simulator import Simulator
from circuits.transition import load_file
from constructions.wiring.numbered import Family, Powers
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline
from verify.algebra.domains import Refused, Undecided
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.building import build_beside
from verify.certificates.document import CERTIFIED, Judged, judge
from verify.dossiers.dossier import FEW, Subject
from verify.dossiers.gates import check_gates
from verify.dossiers.shape import free_of
from verify.dossiers.solved import SolvedDossier
from verify.inputs.step_circuits import DrawnSizes, draw_rnn
from verify.rounding.model import ExactModel, describe_numbers, planned
from verify.rounding.rows import exact

if TYPE_CHECKING:
    from verify.induction.theory import Theory

PROMPT, GATE, WORD, BIT = "prompt", "gate", "word", "bit"


@cache
def load(name: str) -> Rnn:
    """Returns an RNN at its least p, for the smallest numbers: one of ours by its name, FILE.py[:NAME], or one that is drawn.

    A drawn one is called `drawn LATCHES GATES [SEED]`.
    """
    if name.startswith("drawn "):
        return draw_rnn(DrawnSizes(*map(int, name.split()[1:])))
    return simulation_models()[name].load(None, 1) if name in simulation_models() else load_file(name, None, None, None)


@dataclass(frozen=True)
class Simulation(SolvedDossier):
    """rnn: its name. words: how many it writes after the prompt. simulator: of an RNN that has no name here.

    every_circuit: whether texts speak of each circuit of the shape (shape.py).
    """

    construction: str = "simulate"
    rnn: str = "parity"
    words: int = 1
    simulator: Simulator | None = None
    every_circuit: bool = False

    conclusion = "tokens, each written of those before, are the circuit's"
    least = 1
    one_n = "the table of gates is of one length of prompts"

    @property
    def solver(self) -> Simulator:
        return Simulator(load(self.rnn), self.words) if self.simulator is None else self.simulator

    def theory(self) -> Theory:
        from verify.dossiers.rnn.lemmas import gates

        return gates.theory()

    def families(self, subject: Subject) -> Sequence[Family]:
        """Returns the words 1 and 2, the values of gates, as numbers: what is read of a gate is one form of its value."""
        return (Family(BIT, 0, 1, self.solver.rnn.vocabulary.__getitem__),)

    def wired(self, subject: Subject, listed: int | None = None, *, forced: bool = False) -> Wired:
        return replace(super().wired(subject, listed, forced=forced), families=(Powers(0, 1, {}),))

    def exact_model(self, subject: Subject) -> ExactModel:
        arithmetic = Arithmetic(self.format(subject), subject.discipline)
        model = planned(*self.plan(subject, arithmetic.format), arithmetic, (), rounded=bool(subject.printed))
        zero, one, *others = model.specials
        rows = [{i: exact(w) for i, w in model.specials[word]} for word in (zero, one)]
        bits = {BIT: describe_numbers(rows, 0, 1)}
        return replace(model, families=bits, specials={word: model.specials[word] for word in others})

    def texts(self, subject: Subject) -> TokenAutomaton:
        plan = self.solver.task(subject.n)
        automaton = texts_of(plan)
        return replace(automaton, free=free_of(plan)) if self.every_circuit else automaton

    def candidates(self, subject: Subject, rng: random.Random, count: int) -> Iterable[Sequence[int]]:
        words = self._read()
        return ([rng.choice(words) for _ in range(subject.n)] for _ in range(count))

    def every(self, subject: Subject) -> Iterable[Sequence[int]]:
        return itertools.product(self._read(), repeat=subject.n)

    def tried(self, subject: Subject) -> Iterable[Sequence[int]]:
        return itertools.islice(self.every(subject), FEW)

    def text_of(self, given: Sequence[int]) -> str:
        return " ".join(self.solver.rnn.vocabulary[word] for word in given)

    def _read(self) -> Sequence[int]:
        """Returns the words that prompts have."""
        rnn = self.solver.rnn
        return [word for word in range(len(rnn.vocabulary)) if word not in rnn.unread]

    @property
    def fields(self) -> Mapping[str, Any]:
        every = {"every_circuit": True} if self.every_circuit else {}
        return {"rnn": self.rnn, "words": self.words, **every}

    def read(self, document: Mapping[str, Any]) -> Self:
        rnn, words = str(document.get("rnn", self.rnn)), int(document.get("words", self.words))
        return type(self)(rnn=rnn, words=words, every_circuit=bool(document.get("every_circuit")))


def texts_of(plan: Plan) -> TokenAutomaton:
    """Returns the texts of every run of this length: at each position any word that may stand there."""
    rnn, states, before, answers = plan.rnn, list[State](), tuple[int, ...](), set[Label]()
    for position in range(1, plan.length):  # the last token is written and never read
        step, gate = divmod(position - plan.prompt - 1, plan.turn)
        if position <= plan.prompt:
            part, words = (
                Label(PROMPT, number=position),
                [w for i, w in enumerate(rnn.vocabulary) if i not in rnn.unread],
            )
        elif gate < plan.gates:
            part, words = Label(GATE, which=step + 1, number=gate + 1), [*rnn.vocabulary[:2]]
        else:
            part, words = Label(WORD, which=step + 1, number=position), [*rnn.vocabulary]
        here = []
        bits = [i for i in (0, 1) if rnn.vocabulary[i] in words]
        for word in ([BIT] if bits else []) + [word for word in words if word not in rnn.vocabulary[:2]]:
            label = Label(part.part, part.which, part.number, word)
            here.append(len(states))
            is_bit = {"family": BIT, "numbers": (bits[0], bits[-1])} if word == BIT and bits else {"word": word}
            states.append(State(label, position, position, before, **is_bit))
            if position >= plan.prompt:
                answers.add(label)
        before = tuple(here)
    return TokenAutomaton(tuple(states), frozenset(answers), (plan.prompt, plan.prompt), by_position=True)


def certify(
    solver: Simulator, n: int, precision_bits: int | None, discipline: Discipline, printed: Iterable[str]
) -> Judged:
    """Returns whether a simulator's weights are certified for prompts of n words: rounding, each token, and by induction a run."""
    dossier = Simulation(rnn=solver.rnn.name, words=solver.words, simulator=solver)
    subject = Subject(dossier, n, None, precision_bits, discipline, tuple(printed))
    try:
        model, automaton, _ = build_beside(subject)
        judged = judge(model, automaton)
        if judged.verdict == CERTIFIED:
            check_gates(solver.task(n), model, automaton)
            require_run(dossier.theory())
    except Refused as stop:
        return Judged.at(stop)
    return judged


def require_run(theory: Theory) -> None:
    """Raises Undecided unless a solver shows that a run is right if each of its tokens is."""
    from verify.induction.along import check_along_runs

    doubts = (doubt for name in theory.lemmas if (doubt := theory.doubt(name)))
    if doubt := check_along_runs(theory, theory.lemmas).doubt or next(doubts, ""):
        raise Undecided("the run", doubt)


DOSSIERS = (Simulation(),)

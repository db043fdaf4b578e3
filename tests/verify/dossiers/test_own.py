"""A model of one's own: a dossier that no registry names is certified, explained, and judged as those of the package are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from constructions import index
from constructions.language.terms import Answer, At, NumberOf, Read, SayNumber, as_term
from constructions.wiring.wire import BlockPlan, Embedding
from constructions.wiring.wired import Wired
from precision.format import Format
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.bits.search import search
from verify.bits.subjects import BitsSubject as InVariant
from verify.certificates.ranges import certificates
from verify.dossiers.dossier import ENDLESS, LEAST, Dossier, Subject
from verify.programs.intervals import explanations
from verify.theorem import links

NUMBER = as_term(NumberOf())
WIRING = index.TRANSFORMER


@dataclass(frozen=True)
class Own(Dossier):
    """The number at a position. behind: by how many positions the definition is off."""

    behind: int = 0

    every_input = "every sequence and position of n = {n}"

    def least_precision(self, subject: Subject) -> int:
        return WIRING.least_precision(subject.n, subject.discipline)

    def plan(self, subject: Subject, fmt: Format) -> tuple[Embedding, Sequence[BlockPlan]]:
        return WIRING.plan(subject.n, fmt, listed=min(subject.n, 5))

    def wired(self, subject: Subject, listed: int | None = None, *, forced: bool = False) -> Wired:
        options: dict[str, Any] = {"forced": True} if forced else {}
        return WIRING.build(subject.n, subject.precision_bits, discipline=subject.discipline, listed=listed, **options)

    def texts(self, subject: Subject) -> TokenAutomaton:
        n = subject.n
        states = (
            State(Label("<s>"), 1, 1, (), "<s>"),
            State(Label("sequence"), 2, n + 1, (0, 1), numbers=(1, n)),
            State(Label("?"), 3, n + 2, (1,), "?"),
            State(Label("query"), 4, n + 3, (2,), numbers=(1, n), behind=3),
        )
        return TokenAutomaton(states, frozenset([Label("query")]), (n, n))

    def answer(self, subject: Subject) -> Answer:
        return SayNumber(as_term(Read(NUMBER, At(NUMBER + 1 + self.behind))))

    def small_prompts(self, subject: Subject) -> Iterator[Sequence[str]]:
        numbers = [str(i) for i in range(1, min(subject.n, 3) + 1)]
        for length in range(1, len(numbers) + 1):
            for sequence in itertools.product(numbers, repeat=length):
                for query in range(1, length + 1):
                    yield ["<s>", *sequence, "?", str(query)]

    def prompts(self, subject: Subject, rng: Any) -> Iterator[Sequence[str]]:
        n = subject.n
        yield ["<s>", *map(str, range(1, n + 1)), "?", str(n)]
        yield ["<s>", *map(str, range(n, 0, -1)), "?", str(n - 1)]

    def oracle(self, subject: Subject, prompt: Sequence[str]) -> Sequence[str]:
        return [prompt[int(prompt[-1])]]


OWN = Own("own")


@pytest.mark.parametrize(("n", "last"), [(2, 0), (8, 0), (LEAST, 1000), (1 << 40, 1 << 41), (1 << 63, ENDLESS)])
def test_it_is_certified_and_explained(n: int, last: int) -> None:
    subject = Subject(OWN, n, last=last)
    assert certificates(subject)["verdict"] == "certified"
    assert n < LEAST or explanations(subject)["verdict"] == "certified"


def test_each_link_of_its_theorem_holds() -> None:
    assert [link.verdict for link in links(Subject(OWN, 8))] == ["certified", "certified"]
    assert [link.verdict for link in links(Subject(OWN, LEAST, last=ENDLESS))] == ["certified"] * 3


def test_another_definition_is_no_program_of_it() -> None:
    document = explanations(Subject(Own("own", behind=1), 8))
    assert document["verdict"] == "unknown"  # the oracle, which is right, finds nothing wrong with the weights


def test_two_bits_less_are_refused_or_fail() -> None:
    least = OWN.least_precision(Subject(OWN, 100))
    assert certificates(Subject(OWN, 100, precision_bits=least))["verdict"] == "certified"
    assert certificates(Subject(OWN, 100, precision_bits=7))["verdict"] == "refused"


def test_its_least_precision_is_searched_for() -> None:
    row = search(InVariant(OWN), 8)
    assert row.certified is not None
    assert row.fails_at is not None
    assert row.certified > row.fails_at.precision_bits
    assert not row.refuted

"""How many words the recurrent models need beside numbers and the paper's six special ones: a cost that no theorem names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from constructions import counting, index, ngram, recall
from constructions.istree import hybrid as istree_hybrid
from constructions.istree import rag as istree_rag
from constructions.turing import hybrid, rag
from constructions.turing.library import find
from verify.claims.definitions import SPECIALS
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims

MACHINE = find("bb2").machine


@dataclass(frozen=True)
class Vocabulary:
    """Of one theorem's model. more: (a, b) for a·n + b words beside the numbers 1 … n and the special ones. what: what they are."""

    theorem: str
    task: str
    build: Callable[[int], Sequence[str]]
    more: tuple[int, int]
    what: str

    @property
    def claim(self) -> Claim:
        """How many words, in a sentence."""
        each, fixed = self.more
        count = f"{'' if each == 1 else each}n + {fixed}" if each else str(fixed)
        text = (
            f"Beside the numbers 1 … n and the paper's six special words the vocabulary has {count} words: {self.what}."
        )
        return Claim.about(self.theorem, self.task, "words", f"Theorem {self.theorem}", text)


PIECES = "?, FAILED and the pieces of the search"
MODELS = (
    Vocabulary(
        "5.2", "index", lambda n: index.RAG.build(n).vocabulary, (1, 4), f"one for each number of repetitions, {PIECES}"
    ),
    Vocabulary("5.2", "recall", lambda n: recall.RAG.build(n).vocabulary, (0, 4), PIECES),
    Vocabulary("5.2", "ngram", lambda n: ngram.RAG.build(n).vocabulary, (0, 4), PIECES),
    Vocabulary(
        "5.2",
        "counting",
        lambda n: counting.RAG.build(n).vocabulary,
        (1, 5),
        f"one for each number of repetitions up to n + 1, 0, {PIECES}",
    ),
    Vocabulary(
        "5.3",
        "istree",
        lambda n: istree_rag.RAG.build(n).vocabulary,
        (0, 12),
        "FAILED, the signs of a record and of a way back, and the pieces of the searches",
    ),
    Vocabulary(
        "5.4",
        "turing",
        lambda n: rag.Rag(MACHINE).build(n).vocabulary,
        (2, 36),
        "2n + 1 cells, states, symbols, directions and the pieces of the searches, for n steps of bb2 on a blank tape",
    ),
    Vocabulary(
        "5.7",
        "istree",
        lambda n: istree_hybrid.HYBRID.build(n).vocabulary,
        (6, 0),
        "6n − 4 positions of the prompt, and 4 signs",
    ),
    Vocabulary(
        "5.8",
        "turing",
        lambda n: hybrid.Hybrid(MACHINE).build(n).vocabulary,
        (2, 32),
        "2n + 1 cells, states, symbols and directions, for n steps of bb2 on a blank tape",
    ),
)


@claims("model", MODELS, lambda model: model.claim)
def test_words(check: Check, model: Vocabulary) -> None:
    def as_many(n: int) -> Counterexample | None:
        known = {*SPECIALS, *map(str, range(1, n + 1))}
        more = [word for word in model.build(n) if word not in known]
        each, fixed = model.more
        return None if len(more) == each * n + fixed else Counterexample(expected=each * n + fixed, words=more[:40])

    check.chosen([4, 5, 10, 31, 100, 1000], as_many, range="six sizes", size=lambda n: n)

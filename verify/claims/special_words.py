"""How many words the recurrent models need beside numbers and the paper's six special ones.

Appendix A.3 has constantly many special words beside numbers. In our copy no theorem of section 5 says which words are numbers:
cells of a tape, positions of a prompt and repetitions in a search are more than 1 … n. With these as numbers in a spelling of their
own the models keep to A.3. With 1 … n alone their special words grow with n, as do those of any model whose text has a token for
each cell. The print has one: it is open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from constructions import counting, index, ngram, recall
from constructions.istree import hybrid as istree_hybrid
from constructions.istree import rag as istree_rag
from constructions.turing import hybrid, rag
from constructions.turing.library import find
from constructions.wiring.wired import Wired
from verify.claims.definitions import SPECIALS
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Kind, Reading, claims

MACHINE = find("bb2").machine


@dataclass(frozen=True)
class Vocabulary:
    """Of one theorem's model. more: (a, b) for a·n + b words beside the numbers 1 … n and the special ones. what: what they are."""

    theorem: str
    task: str
    build: Callable[[int], Wired]
    more: tuple[int, int]
    what: str

    @property
    def claim(self) -> Claim:
        """Returns how many words, in a sentence."""
        each, fixed = self.more
        terms = [f"{'' if each == 1 else each}n"] * bool(each) + [str(fixed)] * bool(fixed or not each)
        count = " + ".join(terms)
        text = (
            f"Beside the numbers 1 … n and the paper's six special words the vocabulary has {count} words: {self.what}."
        )
        return Claim.about(self.theorem, self.task, "words", f"Theorem {self.theorem}", text)

    def words(self, n: int) -> set[str]:
        """Returns the words beside the numbers 1 … n and the special ones."""
        return {*self.build(n).vocabulary}.difference(SPECIALS, map(str, range(1, n + 1)))


PIECES = "?, FAILED and the pieces of the search"
REPEATED = f"one for each number of repetitions up to n + 1, 0, {PIECES}"
OF_TURNS = "FAILED, the signs of a record and of a way back, and the pieces of the searches"
CELLS = "2n + 1 cells, states, symbols"
BB2 = "for n steps of bb2 on a blank tape"
MODELS = (
    Vocabulary("5.2", "index", index.RAG.build, (1, 4), f"one for each number of repetitions, {PIECES}"),
    Vocabulary("5.2", "recall", recall.RAG.build, (0, 4), PIECES),
    Vocabulary("5.2", "ngram", ngram.RAG.build, (0, 4), PIECES),
    Vocabulary("5.2", "counting", counting.RAG.build, (1, 5), REPEATED),
    Vocabulary("5.3", "istree", istree_rag.RAG.build, (0, 12), OF_TURNS),
    Vocabulary(
        "5.4",
        "turing",
        rag.TuringRag(MACHINE).build,
        (2, 36),
        f"{CELLS}, directions and the pieces of the searches, {BB2}",
    ),
    Vocabulary("5.7", "istree", istree_hybrid.HYBRID.build, (6, 0), "6n − 4 positions of the prompt, and 4 signs"),
    Vocabulary("5.8", "turing", hybrid.TuringHybrid(MACHINE).build, (2, 32), f"{CELLS} and directions, {BB2}"),
)
SIZES = (4, 5, 10, 31, 100, 1000)


@claims("model", MODELS, lambda model: model.claim)
def test_words(check: Check, model: Vocabulary) -> None:
    def as_many(n: int) -> Counterexample | None:
        words, (each, fixed) = model.words(n), model.more
        expected = each * n + fixed
        return None if len(words) == expected else Counterexample(expected=expected, words=sorted(words)[:40])

    check.chosen(SIZES, as_many, range="six sizes")


@dataclass(frozen=True)
class Spellings:
    """Of one theorem's models. words: of each model, how many spellings its words have beside the six special ones.

    numbers: what counts as numbers besides 1 … n. machine: which one is meant, as the end of a clause.
    """

    theorem: str
    words: tuple[int, ...]
    numbers: str
    machine: str = ""

    @property
    def models(self) -> Sequence[Vocabulary]:
        """Its models."""
        return [model for model in MODELS if model.theorem == self.theorem]

    @property
    def source(self) -> str:
        """The places of the paper."""
        return f"Theorem {self.theorem}, and appendix A.3"

    @property
    def printed(self) -> Claim:
        """The sentence of A.3 about the repaired models, in the narrower reading of what a number is."""
        readings = (
            Reading("The numbers are the words 1 … n alone.", False),
            Reading(
                f"Besides, {self.numbers} are numbers, each in a spelling of its own.",
                True,
                f"{self.theorem}/special-words",
            ),
        )
        text = (
            "Special words are constantly many, as in appendix A.3: beside the numbers 1 … n, the repaired models have as many at "
            f"every n{self.machine}."
        )
        more = {"variant": "printed", "kind": Kind.OPEN, "readings": readings}
        return Claim.about(self.theorem, "", "special-words/printed", self.source, text, **more)

    @property
    def claim(self) -> Claim:
        """The same with more words as numbers."""
        counts = " and ".join(filter(None, [", ".join(map(str, self.words[:-1])), str(self.words[-1])]))
        tasks = f", for {', '.join(model.task for model in self.models)} in turn" if len(self.words) > 1 else ""
        text = (
            f"With {self.numbers} as numbers in a spelling of their own, special words are constantly many, as in appendix A.3:"
            f" beside the six there are {counts} words but for the numeral that some spell{tasks}{self.machine}."
            " Its number stands in one coordinate of the embedding."
        )
        return Claim.about(self.theorem, "", "special-words", self.source, text)


SPELLINGS = (
    Spellings("5.2", (6, 5, 5, 5), "repetitions"),
    Spellings("5.4", (36,), "cells of the tape and places of the prompt", ", for bb2 on a blank tape"),
    Spellings("5.7", (6,), "positions of the prompt"),
    Spellings("5.8", (32,), "cells of the tape", ", for bb2 on a blank tape"),
)
NUMERAL = re.compile(r"-?\d+")


@claims("theorem", SPELLINGS, lambda theorem: theorem.claim)
def test_special_words(check: Check, theorem: Spellings) -> None:
    def as_many(n: int) -> Counterexample | None:
        for model, expected in zip(theorem.models, theorem.words, strict=True):
            wired = model.build(n)
            place = wired.registers.index("number")
            for word, row in zip(wired.vocabulary, wired.model.words, strict=True):
                numerals = NUMERAL.findall(word)
                if len(numerals) > 1 or any(row[place] != int(numeral) for numeral in numerals):
                    return Counterexample(task=model.task, word=word, number=float(row[place]))
            spellings = {NUMERAL.sub("#", word) for word in wired.vocabulary}.difference(SPECIALS)
            if len(spellings) != expected:
                return Counterexample(task=model.task, expected=expected, spellings=sorted(spellings))
        return None

    check.chosen(SIZES, as_many, range="six sizes, every word")


@claims("theorem", SPELLINGS, lambda theorem: theorem.printed)
def test_special_words_beside_the_numbers_to_n(check: Check, theorem: Spellings) -> None:
    def as_many_as_before(n: int) -> Counterexample | None:
        for model in theorem.models:
            least, here = (len(model.words(size)) for size in (SIZES[0], n))
            if here != least:
                return Counterexample(task=model.task, least_n=SIZES[0], words_there=least, words_here=here)
        return None

    check.chosen(SIZES, as_many_as_before, range="six sizes")

"""Weights with the texts that they are for, and what they say on each of these texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from constructions.language.interpreter import Input
from constructions.language.program import NotCompiled, Program
from constructions.language.terms import Answer
from constructions.wiring.wired import Wired
from tests.language.compiled import Compiled, Words, due, every_text
from verify.certificates.ideal import IdealModel

SIZE = 4
TIE = "two words"


@dataclass(frozen=True)
class Weights:
    """Weights, the texts of a program, and what the weights should say. definitions: others that are tried first."""

    wired: Wired
    program: Program
    answer: Answer
    definitions: Sequence[Answer] = ()

    @cached_property
    def said(self) -> list[tuple[Words, int, Input, str]]:
        """Rows: a text, a position at which a word is due, the text as the interpreter reads it, and the word of the largest logit.

        Where two logits are the largest, the word is TIE. The beginning of another text has no row of its own.
        """
        rows, met = [], set[Words]()
        for words in sorted(every_text(self.program.texts, self.wired.n), key=len, reverse=True):
            places = [k for k in due(self.program.texts, words) if words[: k - 1] not in met]
            if places:
                following = self.words_after(words)
                text = Input([("<s>", 0), *(("", int(word)) if word.isdecimal() else (word, 0) for word in words)])
                rows += [(words[: k - 1], k, text, following[k - 1]) for k in places]
                met |= {words[: k - 1] for k in places}
        return rows

    def words_after(self, words: Words) -> list[str]:
        """Returns the word of the largest logit at each position, by exact arithmetic."""
        model, result = self.wired.model, []
        histories, following = IdealModel(model).run(self.wired.tokens(["<s>", *words]))
        for history, token in zip(histories, following, strict=True):
            last = [(i, x) for i, x in enumerate(history[-1]) if x]
            logits = [sum((Fraction(float(row[i])) * x for i, x in last), Fraction(0)) for row in model.unembed]
            result.append(TIE if logits.count(logits[token]) > 1 else self.wired.vocabulary[token])
        return result

    def difference(self, answer: Answer) -> str:
        """Returns a text on which the weights do not say this answer, with both words; "" if there is none.

        A definition without a value somewhere, such as a quotient by 0, is no definition: it differs nowhere.
        """
        for words, k, text, said in self.said:
            try:
                right = text.word_at(answer, k)
            except (ZeroDivisionError, ValueError):
                return ""
            if right != said:
                return f"on {' '.join(words)!r} the weights say {said}, and the definition {right}"
        return ""


def compiled(programs: Iterator[Program]) -> Iterator[Weights]:
    """Yields the weights of each program that the compiler can compile."""
    for program in programs:
        try:
            whole = Compiled(program, SIZE)
            weights = Weights(whole.wired, program, whole.compiler.answer)
        except NotCompiled:
            continue
        yield weights

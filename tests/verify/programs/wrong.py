"""Definitions that are not the task."""

from __future__ import annotations

from collections.abc import Iterator

from constructions.language.terms import Answer, If, Say, SayNumber


def with_one_wrong_word(
    answer: Answer, words: tuple[str, str], families: tuple[str, str] | None = None, *, exchanged: bool = False
) -> Iterator[Answer]:
    """Each with another word in one case in which one is due, or a number of the other family.

    words: two, of which a word that is due is one at most. exchanged: also the two answers of a case.
    """
    match answer:
        case If(bit, then, otherwise):
            yield from (
                If(bit, wrong, otherwise) for wrong in with_one_wrong_word(then, words, families, exchanged=exchanged)
            )
            yield from (
                If(bit, then, wrong) for wrong in with_one_wrong_word(otherwise, words, families, exchanged=exchanged)
            )
            if exchanged:
                yield If(bit, otherwise, then)
        case SayNumber(number, family):
            yield SayNumber(number + 1, family)
            if families is not None:
                yield SayNumber(number, families[families[0] == family])
        case Say(word):
            yield Say(words[words[0] == word])

"""The words that the defined search in frames says after edges, each after the ones before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TypeAlias

from constructions.istree.graphs import PAPER, Edge
from constructions.istree.hybrid import MARKS, PLACE, VERTEX
from constructions.language.interpreter import Input, Spoken
from verify.automata.token_automaton import Label
from verify.dossiers.istree.frames import definition
from verify.dossiers.istree.texts import FIRST_FRAME, FRAME, SECOND

FAMILIES = frozenset([VERTEX, PLACE])
Edges: TypeAlias = tuple[Edge, ...]
step = cache(definition)  # it is asked for at each word


def tokens_of(words: Sequence[str]) -> list[Spoken]:
    """Returns the words of a text as programs read them."""
    return [(PLACE, int(w[1:])) if w[0] == "@" else (VERTEX, int(w)) if w.isdecimal() else (w, 0) for w in words]


def labels(said: Sequence[str]) -> Iterator[Label]:
    """Yields the labels of the states in which the words after a prompt stand."""
    frame = FIRST_FRAME
    for word in said:
        frame = Label(FRAME, word, 1) if word in MARKS else replace(frame, number=frame.number + 1)
        yield frame


def run(n: int, edges: Edges) -> list[str]:
    """Returns the defined words after edges, each after the ones before, up to a verdict, or to where no word is due."""
    tokens = tokens_of([PAPER.start, *(word for a, b in edges for word in (str(a), PAPER.joint, str(b)))])
    read, said = Input(tokens, FAMILIES), list[str]()
    for label in chain([SECOND], labels(said)):  # which looks at each word when it has been said
        due = step(n, label)
        if due is None:
            raise TypeError("no word is due in a state of the chain")
        name, number = read.spoken(due, len(tokens))
        tokens.append((name, int(number)))
        said.append(f"@{number}" if name == PLACE else str(number) if name == VERTEX else name)
        if name not in (*FAMILIES, *MARKS):
            return said
    raise ValueError("a word has no place after it")

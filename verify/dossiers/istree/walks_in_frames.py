"""The words that the defined search in frames says behind edges, each behind the ones before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import TypeAlias

from constructions.istree.graphs import PAPER, Edge
from constructions.istree.hybrid import MARKS, PLACE, VERTEX
from constructions.language.interpreter import Input, Spoken
from verify.dossiers.istree.frames import definition

FAMILIES = frozenset([VERTEX, PLACE])
Edges: TypeAlias = tuple[Edge, ...]
step = cache(definition)  # it is asked for at each word


def tokens_of(words: Sequence[str]) -> list[Spoken]:
    """The words of a text as programs read them."""
    return [(PLACE, int(w[1:])) if w[0] == "@" else (VERTEX, int(w)) if w.isdigit() else (w, 0) for w in words]


def places(said: Sequence[str]) -> Iterator[str]:
    """The names of the places where the words behind a prompt stand."""
    frame, number = "the first frame", 0
    for word in said:
        frame, number = (f"a frame {word}", 1) if word in MARKS else (frame, number + 1)
        yield f"{frame}, {number}"


def run(n: int, edges: Edges) -> list[str]:
    """The defined words behind edges, each behind the ones before, up to a verdict, or to where no word is due."""
    tokens = tokens_of([PAPER.start, *(word for a, b in edges for word in (str(a), PAPER.joint, str(b)))])
    read, said = Input(tokens, FAMILIES), list[str]()
    for place in chain(["second endpoint"], places(said)):  # which looks at each word when it has been said
        due = step(n, place)
        if due is None:
            raise TypeError("no word is due at a place of the chain")
        name, number = read.spoken(due, len(tokens))
        tokens.append((name, int(number)))
        said.append(f"@{number}" if name == PLACE else str(number) if name == VERTEX else name)
        if name not in (*FAMILIES, *MARKS):
            return said
    raise ValueError("a word has no place behind it")

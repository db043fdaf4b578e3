"""The ideal hybrid for IsTree is a search in frames: the program that the weights are, against the step that is defined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from constructions.istree import hybrid
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.hybrid import MARKS, PLACE, VERTEX
from verify.certificates.building import LEAST, Subject
from verify.claims.certified import BEYOND, LAST
from verify.claims.program_turns import on_small_graphs
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim
from verify.induction.next_record import N, theory
from verify.programs.frames import Frames, definition
from verify.programs.interpreter import Input, Spoken

FAMILIES = frozenset([VERTEX, PLACE])
FRAME = (
    "In exact arithmetic, with attention that averages ties, what is said behind every prompt, and any frames that stand behind "
    "n − 1 edges, is the next word of the defined search in frames, where one is due: at the end of a frame, whether the search "
    "goes down, passes over the edge to the father, looks further, goes up or ends; in a frame, to which vertex and from where on."
)
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


def as_defined(graph: Graph) -> Counterexample | None:
    """Where the defined words, each behind the ones before, are not those that a search in lists of records expects."""
    words, right = PAPER.vocabulary(graph.n), hybrid.expected_sequence(graph)
    prompt = [words[token] for token in PAPER.prompt(graph)]
    read = Input(tokens_of([*prompt, *right]), FAMILIES)
    last = "second endpoint" if graph.edges else PAPER.start
    for k, (place, word) in enumerate(
        zip([last, *places(right[:-1])], tokens_of(right), strict=True), start=len(prompt)
    ):
        due = step(graph.n, place)
        if due is None or read.spoken(due, k) != word:
            found = "nothing" if due is None else str(read.spoken(due, k))
            return Counterexample(position=k, expected=str(word), due=found)
    return None


@claim(theorem="5.7", task="istree", aspect="program", source=hybrid.SOURCE, statement=f"IsTree, hybrid: {FRAME}")
def test_program(check: Check) -> None:
    on_small_graphs(check, as_defined, "the defined words against the runs that are expected")
    check.sizes(LEAST)
    model = "hybrid"
    subjects, sizes = [Subject("istree", n, model=model) for n in (LEAST, 8)], f"n = {LEAST}, 8"
    if check.n_max >= 10**4:
        subjects += [
            Subject("istree", BEYOND, model=model),
            Subject("istree", LAST - LAST // 32, model=model, last=LAST - 1),
        ]
        sizes = f"{sizes}, {BEYOND:,}, and every n from 2^64 − 2^59 to 2^64 − 1"
    check.explained(
        subjects,
        range=f"the program against the definition: prompts of up to n(n − 1)/2 edges, behind n − 1 any frames; {sizes}",
    )


NEXT = (
    "At a base of a vertex, which is 1 or a record of it, the defined frames find its next record behind the base, or that there "
    "is none; at the end of each of them a word is due, unless the search went down more than n − 1 times. For every n from 2 on."
)


@claim(theorem="5.7", task="istree", aspect="next-record", source=hybrid.SOURCE, statement=f"IsTree, hybrid: {NEXT}")
def test_next_record(check: Check) -> None:
    text = "what the head finds, invariants at a base and behind each frame that looks further; every n from 2 on"
    check.follows(theory(Frames(N)), range=text)
    check.argued(
        "Induction over the frames. A base is followed by such frames alone until something is found or it is over, at most "
        "log2 3n + 1 of them: the target is twice as far each time, and at the last record's position it is over."
    )

"""Reductions from one-way communication: what a recurrent model must remember, whatever it thinks afterwards.

Source: Theorems 4.6 and 4.7, lower bounds; Lemmas C.24, C.26 and C.28. The last one, Turing machines, is ours.
Notation: Alice holds bits x_1 … x_n and writes the first words of a prompt; Bob holds k and writes the rest. Alice's words
depend on x alone, Bob's on n and k alone, and the task's right answer tells Bob the bit that he wants to know, mostly x_k.
Derivation: a deterministic recurrent model has read Alice's words. All that follows (Bob's words, a chain of thought of any
length, the answer) is a function of its state, of its position in the text, and of Bob's words. If x and y lead to the same
state at the same position, the model answers both alike, for each k. So where the right answers to x and y differ for some
k, a model that is always right has two states. At one position it has at least as many states as there are lists of right
answers, one for each k, among the x whose words end there (`states_needed`). If these are 2^n, then Λ numbers of p bits
hold Λp ≥ n bits.
That the right answers tell Bob x_k, for every n, x and k, is proved: these prompts stand in `verify.oracles.lower_bounds` as
data, and `trusted.pigeonhole` checks the proofs, `trusted.halting` that of Turing machines. `trusted.states` checks the step
from there to 2^n states.
What this proves: the bound for exact, deterministic models, whatever their transition, size and precision are.
What it does not: anything about models that may err or toss coins, or that see Alice's words again, by attention or by a
search.

Alice writes as many words for one x as for another, but for `LIST`, the printed list for Counting. Embeddings hold the
position (section 3), so it tells Bob the list's length without any state. States are then needed for one length at a time:
n choose ⌊n/2⌋, still n − log2(n + 1) bits at least.

IsTree: the neighbours in x_1 … x_n are as equal as those in its complement, so they tell 2^(n − 1) inputs apart and no
more. A bit 0 before all others, one more leaf, makes it 2^n.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from constructions import counting, index, ngram, recall
from constructions.istree.graphs import PAPER, Edge, Graph, GraphError, is_tree
from constructions.retrieval.task import ASK, FAILED, NO, START, YES, Task
from constructions.turing.machine import parse_standard
from constructions.turing.simulator import simulate
from constructions.wiring.finding import Finding
from verify.framework.claim import Json
from verify.oracles.lower_bounds import texts_of

Bits = tuple[int, ...]
Words = tuple[str, ...]
LOWER_BOUND = "Theorem 4.6, lower bound; Lemma C.24"

COLLISION = Finding(
    id="value-is-key",
    source="Theorem 4.6, the reductions of associative recall and c-gram retrieval",
    printed="the value after key i is x_i + n/2 for associative recall, x_i + n/c for c-grams, where keys run up to n/2 or n/c",
    used="the value is x_i + n/2 + 1 for recall, x_i + n/c + 1 for c-grams",
    why="the value for x_i = 0 is the last key, so that the last key may be found too early; all keys but the last are answered"
    " right. Where the sequence is an array of keys and values, as the main text introduces the task, no value is taken for a key;"
    " nor does the value do harm where the key's last occurrence is meant",
)
THRESHOLD = Finding(
    id="threshold",
    source="Theorem 4.6, the reduction of Counting",
    printed="the threshold is 1",
    used="the threshold is 0",
    why="k occurs at most once in the list, so it never occurs more than once and the answer is always NO; “at least 1”, as the"
    " sentence may be read, is the same question as “more than 0”",
)
FIRST_BIT = Finding(
    id="first-bit",
    source="Lemma C.28 and Theorem 4.7",
    printed="x̃_i is the parity of x_1 … x_i for i = 1 … n, and Bob asks for x̃_{k−1} = x̃_k",
    used="a bit x̃_0 = 0 stands before them",
    why="the length of x̃ is lost in our text. Without x̃_0, k = 1 has no left neighbour, and x and the same with x_1 turned cannot"
    " be told apart: n − 1 bits are left. As an empty sum x̃_0 is 0",
)


class NoInstance(ValueError):
    """What a reduction writes is no input of its task."""


def every_k(n: int) -> range:
    return range(1, n + 1)


def bit_k(x: Bits, k: int) -> int:
    return x[k - 1]


def all_inputs(n: int) -> int:
    return 1 << n


def all_but_one(n: int) -> int:
    return 1 << (n - 1)


def from_two(n: int) -> range:
    return range(2, n + 1)


@dataclass(frozen=True)
class Reduction:
    """From (x, k) to a question of a task.

    size: n ↦ the task's n, or the number of vertices. alice: x ↦ her words. bob: (n, k) ↦ his.
    answer: (size, all words) ↦ the right answer, or NoInstance. tells: (n, answer) ↦ the bit that Bob takes from it.
    ks: what Bob may hold. wanted: (x, k) ↦ the bit that he wants to know. states: n ↦ how many states are needed at one position.
    """

    name: str
    source: str
    statement: str
    size: Callable[[int], int]
    alice: Callable[[Bits], Words]
    bob: Callable[[int, int], Words]
    answer: Callable[[int, Words], str]
    tells: Callable[[int, str], int]
    ks: Callable[[int], range] = every_k
    wanted: Callable[[Bits, int], int] = bit_k
    states: Callable[[int], int] = all_inputs

    def words(self, x: Bits, k: int) -> Words:
        """Returns the whole prompt."""
        return self.alice(x) + self.bob(len(x), k)

    def right_answer(self, x: Bits, k: int) -> str:
        """Returns the bit that the task's oracle finds. Raises NoInstance."""
        return self.answer(self.size(len(x)), self.words(x, k))

    def states_needed(self, n: int) -> int:
        """Returns the most lists of right answers among all x whose words end at one position."""
        lists = {(len(self.alice(x)), tuple(self.right_answer(x, k) for k in self.ks(n))) for x in inputs(n)}
        return max(Counter(position for position, _ in lists).values())


def inputs(n: int) -> Iterator[Bits]:
    """Yields every x of n bits."""
    return itertools.product((0, 1), repeat=n)


def written_as(theorem: Json, x: Bits, k: int, **sizes: int) -> Words:
    """Returns the prompt of a theorem of `verify.oracles.lower_bounds`."""
    values = {"n": len(x), "k": k, **sizes}
    alice, bob = (list(texts_of(theorem[who], values, x)) for who in ("alice", "bob"))
    if theorem["task"] == "istree":
        return (START, *(word for u, v in (*alice, *bob) for word in edge_words((u, v))))
    if theorem["task"] == "turing":
        return (START, *(str(digit) for (digit,) in (*alice, *bob)))
    threshold = (0,) if theorem["task"] == "counting" else ()
    return _sequence([token for (token,) in alice]) + _query(*(token for (token,) in bob), *threshold)


# Retrieval


def _sequence(numbers: Sequence[int]) -> Words:
    return (START, *map(str, numbers))


def _query(*numbers: int) -> Words:
    return (ASK, *map(str, numbers))


def _ask_task(task: Task) -> Callable[[int, Words], str]:
    def answer(size: int, words: Words) -> str:
        try:
            question = task.parse(" ".join(words[1:]))
        except ValueError as error:
            raise NoInstance(str(error)) from error
        if question.least_n > size:
            raise NoInstance(f"the question needs n = {question.least_n}, the task has {size}")
        return task.answer(question)

    return answer


INDEX = Reduction(
    name="index",
    source=LOWER_BOUND,
    statement="x itself is the sequence, bit b as the token b + 1, and k the position.",
    size=lambda n: max(n, 2),
    alice=lambda x: _sequence([b + 1 for b in x]),
    bob=lambda n, k: _query(k),
    answer=_ask_task(index.TASK),
    tells=lambda n, answer: int(answer) - 1,
)


def ngrams(c: int, *, printed: bool = False) -> Reduction:
    """Reduces to blocks of c tokens: c − 1 times the key i, then its value. Of n bits; the input has c·n tokens."""

    def value(n: int, b: int) -> int:
        return b + n + (0 if printed else 1)

    def tells(n: int, answer: str) -> int:
        return int(answer) - value(n, 0) if answer.isdecimal() else -1

    def sequence(x: Bits) -> Words:
        return _sequence([token for i, b in enumerate(x, 1) for token in (*[i] * (c - 1), value(len(x), b))])

    values = "x_i + n" if printed else "x_i + n + 1"
    return Reduction(
        name="ngram",
        source=LOWER_BOUND,
        statement=f"Each i stands c − 1 times before the value {values}; the query is c − 1 times k.",
        size=lambda n: max(c * n, n + 2),
        alice=sequence,
        bob=lambda n, k: _query(*[k] * (c - 1)),
        answer=_ask_task(ngram.TASK),
        tells=tells,
    )


def recalls(*, printed: bool = False) -> Reduction:
    """Reduces to c-grams with c = 2."""
    values = "x_i + n" if printed else "x_i + n + 1"
    return replace(
        ngrams(2, printed=printed),
        name="recall",
        statement=f"Each i stands before the value {values}, and k is the key.",
        answer=_ask_task(recall.TASK),
    )


def _fixed_length(x: Bits) -> Words:
    return _sequence([j if b else len(x) + 1 for j, b in enumerate(x, 1)])


def _ones(x: Bits) -> Words:
    return _sequence([j for j, b in enumerate(x, 1) if b])


COUNTING = Reduction(
    name="counting",
    source=LOWER_BOUND,
    statement="The j-th token is j if x_j = 1, otherwise n + 1; the query is k with threshold 0.",
    size=lambda n: n + 1,
    alice=_fixed_length,
    bob=lambda n, k: _query(k, 0),
    answer=_ask_task(counting.TASK),
    tells=lambda n, answer: int(answer == YES),
)
LIST = replace(
    COUNTING,
    statement="The sequence is the list of all j with x_j = 1; the query is k with threshold 0.",
    alice=_ones,
    states=lambda n: math.comb(n, n // 2),
)
COUNTING_PRINTED = replace(
    LIST,
    statement="The sequence is the list of all j with x_j = 1; the query is k with threshold 1.",
    bob=lambda n, k: _query(k, 1),
)


def split_blocks(reduction: Reduction, c: int) -> Reduction:
    """Returns the sequence as blocks: c − 1 tokens are a key, the next one is its value. No value is taken for a key."""

    def answer(size: int, words: Words) -> str:
        ask = words.index(ASK)
        entries = {words[i : i + c - 1]: words[i + c - 1] for i in range(1, ask, c)}
        return entries.get(words[ask + 1 :], FAILED)

    text = f"{reduction.statement} The sequence is an array of {_pairs(reduction.name)}."
    return replace(reduction, statement=text, answer=answer)


def _pairs(name: str) -> str:
    return "keys and values" if name == "recall" else "blocks of c tokens, a key of c − 1 and its value"


def read_last(reduction: Reduction) -> Reduction:
    """Asks for the token after the last place of the query that has one, in place of the first."""

    def answer(size: int, words: Words) -> str:
        ask = words.index(ASK)
        key = words[ask + 1 :]
        places = [i for i in range(1, ask - len(key)) if words[i : i + len(key)] == key]
        return words[places[-1] + len(key)] if places else FAILED

    text = f"{reduction.statement} The last place of the query that has a token after it is meant."
    return replace(reduction, statement=text, answer=answer)


def but_last(reduction: Reduction) -> Reduction:
    """Lets Bob ask for any key but the last."""
    text = f"{reduction.statement} Bob's k is any but the last."
    return replace(reduction, statement=text, ks=lambda n: range(1, n), states=all_but_one)


# IsTree, by way of neighbouring bits


def parities(x: Bits) -> Bits:
    """Returns x̃_1 … x̃_n: x̃_i is the parity of x_1 … x_i."""
    return tuple(itertools.accumulate(x, lambda parity, b: parity ^ b))


def _equal_neighbours(size: int, words: Words) -> str:
    *bits, place = words
    left = int(place) - 1
    if not 1 <= left < len(bits):
        raise NoInstance(f"bits {left} and {left + 1} of {len(bits)} are not two bits")
    return YES if bits[left - 1] == bits[left] else NO


PARITY_PRINTED = Reduction(
    name="parity",
    source="Lemma C.28",
    statement="x_k is whether the neighbours x̃_{k−1} and x̃_k of x̃_1 … x̃_n differ.",
    size=lambda n: n,
    alice=lambda x: tuple(map(str, parities(x))),
    bob=lambda n, k: (str(k),),
    answer=_equal_neighbours,
    tells=lambda n, answer: int(answer == NO),
)
PARITY_FROM_TWO = replace(
    PARITY_PRINTED, statement=f"{PARITY_PRINTED.statement} k ≥ 2.", ks=from_two, states=all_but_one
)
PARITY = replace(
    PARITY_PRINTED,
    statement="x_k is whether the neighbours x̃_{k−1} and x̃_k of x̃_0 = 0, x̃_1 … x̃_n differ.",
    size=lambda n: n + 1,
    alice=lambda x: ("0", *map(str, parities(x))),
    bob=lambda n, k: (str(k + 1),),
)


def two_stars(bits: Bits) -> Words:
    """Joins vertex i to vertex m + 1 if the i-th of m bits is 0, to m + 2 if it is 1."""
    return (START, *(word for i, b in enumerate(bits, 1) for word in edge_words((i, len(bits) + 1 + b))))


def edge_words(edge: Edge) -> Words:
    return (str(edge[0]), PAPER.joint, str(edge[1]))


def graph_of(vertices: int, words: Words) -> Graph:
    """Returns the graph of a prompt. Raises NoInstance."""
    try:
        return Graph(vertices, tuple((int(words[i]), int(words[i + 2])) for i in range(1, len(words), 3)))
    except GraphError as error:
        raise NoInstance(str(error)) from error


APPENDIX = Reduction(
    name="istree",
    source="Theorem 4.7, appendix",
    statement="Two stars, and an edge between the leaves k − 1 and k for k = 2 … n: a tree if and only if x_{k−1} ≠ x_k.",
    size=lambda n: n + 2,
    alice=two_stars,
    bob=lambda n, k: edge_words((k - 1, k)),
    answer=lambda vertices, words: YES if is_tree(graph_of(vertices, words)) else NO,
    tells=lambda n, answer: int(answer == YES),
    ks=from_two,
    wanted=lambda x, k: x[k - 2] ^ x[k - 1],
    states=all_but_one,
)
MAIN_TEXT = replace(
    APPENDIX,
    source="Theorem 4.7, main text",
    statement="Two stars, and an edge between the leaves k and k + 1 for k = 1 … n − 1: a tree if and only if x_k ≠ x_{k+1}.",
    bob=lambda n, k: edge_words((k, k + 1)),
    ks=lambda n: range(1, n),
    wanted=lambda x, k: x[k - 1] ^ x[k],
)
ISTREE_PRINTED = replace(
    APPENDIX,
    source="Theorem 4.7 and Lemma C.28",
    statement="Two stars for x̃_1 … x̃_n, and an edge between the leaves k − 1 and k: a tree if and only if x_k = 1.",
    alice=lambda x: two_stars(parities(x)),
    ks=every_k,
    wanted=bit_k,
    states=all_inputs,
)
ISTREE = replace(
    ISTREE_PRINTED,
    statement="Two stars for x̃_0 = 0, x̃_1 … x̃_n, and an edge between the leaves of x̃_{k−1} and x̃_k: a tree if and only if x_k = 1.",
    size=lambda n: n + 3,
    alice=lambda x: two_stars((0, *parities(x))),
    bob=lambda n, k: edge_words((k, k + 1)),
)

# Turing machines

FINDER = parse_standard("0LB1RA2RA3RA4RA_---1RN2RY0LC4LB_---4RA4RA3LC4LC")
"""For each mark 3 after the bits it crosses off the last bit; then it halts in Y if the last bit left is 2, in N if it is 1."""
TURING = Reduction(
    name="turing",
    source="Theorem 5.4, by Index",
    statement="The tape is x, bit b as the digit b + 1, and n − k marks after it; a machine of 3 states halts in Y iff x_k = 1.",
    size=lambda n: n,
    alice=lambda x: (START, *(str(b + 1) for b in x)),
    bob=lambda n, k: ("3",) * (n - k),
    answer=lambda n, words: _halts_in("".join(words[1:]), most_steps=4 * n * n + 4),
    tells=lambda n, answer: int(answer == "Y"),
)


def _halts_in(tape: str, most_steps: int) -> str:
    end = simulate(FINDER, tape, most_steps)
    if not end.halted:
        raise NoInstance(f"the machine does not halt within {most_steps} steps on {tape}")
    return end.state

"""Theorems 4.6, 4.7 and 5.1, lower bounds: what recurrent models must remember."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from constructions import recall
from constructions.retrieval.task import ASK, FAILED, Question
from constructions.wiring.finding import Finding
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Kind, Reading, claim, claims
from verify.oracles import lower_bounds
from verify.oracles.counts import sequences
from verify.oracles.lower_bounds import BESIDE_ORACLE, LowerBound
from verify.oracles.recall_oracle import INTERLEAVED, FirstFollowers, states_beside_oracle
from verify.oracles.reductions import (
    APPENDIX,
    COLLISION,
    COUNTING,
    COUNTING_PRINTED,
    FIRST_BIT,
    INDEX,
    ISTREE,
    ISTREE_PRINTED,
    LIST,
    MAIN_TEXT,
    PARITY,
    PARITY_FROM_TWO,
    PARITY_PRINTED,
    THRESHOLD,
    TURING,
    Bits,
    NoInstance,
    Reduction,
    Words,
    but_last,
    inputs,
    ngrams,
    read_last,
    recalls,
    split_blocks,
    written_as,
)

LONGEST = 8  # bits of all inputs that are gone through
LONGEST_READ = 5  # bits of those whose words are compared with a theorem's
LARGEST_C = 4
LENGTHS = range(2, LARGEST_C + 1)  # c
BOUND = "A deterministic recurrent model that is always right has 2^n states after Alice's words, n bits, whatever it thinks then."


@dataclass(frozen=True)
class Held:
    """What Alice holds and what Bob holds."""

    x: Bits
    k: int

    @property
    def n(self) -> int:
        """Returns how many bits there are."""
        return len(self.x)


def lengths(check: Check, most: int = LONGEST) -> range:
    """Returns n = 1 … most, or up to --n-max if that is less."""
    return range(1, min(most, check.n_max) + 1)


def every_pair(reduction: Reduction, sizes: range) -> Iterator[Held]:
    """Yields every x and k, the shortest x first."""
    for n in sizes:
        yield from (Held(x, k) for x in inputs(n) for k in reduction.ks(n))


def pairs(reduction: Reduction, sizes: range) -> int:
    """Returns how many there are: 2^n times the values of k."""
    return sum(2**n * len(reduction.ks(n)) for n in sizes)


def examine(check: Check, reduction: Reduction, mark: str = "") -> None:
    """Checks that the right answers tell Bob what he wants to know, and tell as many x apart as the reduction says."""

    def tells_them_apart(held: Held) -> Counterexample | None:
        prompt, wanted = " ".join(reduction.words(held.x, held.k)), reduction.wanted(held.x, held.k)
        try:
            answer = reduction.right_answer(held.x, held.k)
        except NoInstance as error:
            return Counterexample(prompt=prompt, no_input=str(error))
        bit = reduction.tells(held.n, answer)
        return None if bit == wanted else Counterexample(prompt=prompt, answer=answer, wanted=wanted, told=bit)

    def apart(n: int) -> Counterexample | None:
        expected, states = reduction.states(n), reduction.states_needed(n)
        return None if states == expected else Counterexample(expected=expected, states_needed=states)

    sizes = lengths(check)
    check.exhaustive(
        every_pair(reduction, sizes),
        tells_them_apart,
        count=pairs(reduction, sizes),
        range=f"{mark}the answer tells Bob's bit: every x of n bits, every k",
    )
    some = [n for n in sizes if reduction.ks(n)]
    check.exhaustive(some, apart, count=len(some), range=f"{mark}how many x the answers tell apart: each n")


def read_so(check: Check, shown: LowerBound, words: Callable[[Bits, int], Words], mark: str = "", **more: int) -> None:
    """Checks that a theorem speaks of these words. more: other sizes than n that it names."""

    def same(held: Held) -> Counterexample | None:
        prompt, read = words(held.x, held.k), written_as(shown.theorem, held.x, held.k, **more)
        return None if read == prompt else Counterexample(prompt=" ".join(prompt), read=" ".join(read))

    least = shown.theorem["for"]["n"]
    sizes = range(least, max(least, min(LONGEST_READ, check.n_max)) + 1)
    check.exhaustive(
        every_pair(INDEX, sizes),
        same,
        count=pairs(INDEX, sizes),
        range=f"{mark}what is proved is of these words: every x of n bits, n ≥ {least}, every k",
    )


def prove(check: Check, shown: LowerBound) -> None:
    """Proves the theorem for all n: the right answers, and that a machine which gives them has 2^n states."""
    sizes = ", ".join(f"every {name} ≥ {least}" for name, least in shown.theorem["for"].items())
    check.proved(
        [shown.states()],
        by="an argument for each place of the words, whatever n is; two lists of bits in one state would have the same answers",
        range=f"the answer is that of x_k, the two answers differ, a machine that is right has 2^n states: {sizes}, every x and k",
    )


@dataclass(frozen=True)
class Bound:
    """A lower bound by reductions. says: what follows from them. least: the least n that has a case, or a witness.

    shown: the theorem for all n. Without it, all n are argued. right: of what is refuted, the readings that set it
    right. kind: why it is.
    """

    theorem: str
    task: str
    aspect: str
    reductions: tuple[Reduction, ...]
    finding: Finding | None = None
    says: str = BOUND
    as_printed: bool = False
    least: int = 1
    shown: LowerBound | None = None
    right: tuple[Reading, ...] = ()
    kind: Kind = Kind.SLIP

    @property
    def claim(self) -> Claim:
        """Returns the claim."""
        source, text, more = self.reductions[0].source, f"{self.reductions[0].statement} {self.says}", dict[str, Any]()
        if self.finding is not None:
            text += f" As printed: {self.finding.printed}."
            more = {
                "readings": (Reading(AS_PRINTED, holds=False), *self.right),
                "kind": self.kind,
                "slip": self.finding.id,
            }
        variant = "printed" if self.as_printed or more else "repaired"
        return Claim.about(self.theorem, self.task, self.aspect, source, text, variant=variant, **more)


AS_PRINTED = "The words are those that are printed, and nothing more."


def lookups(
    task: str,
    called: str,
    repaired: tuple[Reduction, ...],
    printed: tuple[Reduction, ...],
    shown: LowerBound,
    array: str,
    of_array: str,
) -> Iterator[Bound]:
    """Yields the bounds of a task that looks up a key: repaired, as printed, and for each reading that sets the print right.

    called: the task in sentences. printed: the reductions to c = 2, 3, … tokens. array: the aspect of the reading that splits the
    sequence into keys and values, which `of_array` tells.
    """
    last = "The last occurrence with a token after it is meant, though Theorem 5.2's searches find the first"
    stem = f"4.6/lower-{task}"
    right = (
        Reading(of_array, holds=True, shown=f"{stem}/{array}"),
        Reading(f"The value is 1 higher: {called}.", holds=True, shown=stem, stands="the obvious form"),
        Reading(f"Bob's k is any but the last, n − 1 bits, which is Ω(n) as well: {called}.", True, f"{stem}/but-last"),
        Reading(f"{last}: {called}.", holds=True, shown=f"{stem}/last"),
    )
    split = tuple(split_blocks(one, c) for c, one in enumerate(printed, 2))
    yield Bound("4.6", task, "lower", repaired, shown=shown)
    yield Bound("4.6", task, "lower/printed", printed, COLLISION, least=2, right=right, kind=Kind.OPEN)
    yield Bound("4.6", task, f"lower/{array}", split, as_printed=True)
    yield Bound("4.6", task, "lower/but-last", tuple(map(but_last, printed)), says=FEWER, as_printed=True, least=2)
    yield Bound("4.6", task, "lower/last", tuple(map(read_last, printed)), as_printed=True)


def empty_sum(shown: str) -> Reading:
    """Returns the reading that defines x̃_0, which k = 1 asks for."""
    return Reading("x̃_0, an empty sum, is 0 and stands before the others.", holds=True, shown=shown)


def later(shown: str) -> Reading:
    """Returns the reading that leaves out k = 1."""
    return Reading("Bob's k is 2 at least: n − 1 bits, which is Ω(n) as well.", holds=True, shown=shown)


STATES = "Of inputs that the answers tell apart no two may lead to one state at one position: all that follows would be the same."
ALL_N = f"All n: how the words are made does not depend on n, so the answers tell as many inputs apart. {STATES}"
FEWER = "Bob's answers tell 2^(n − 1) inputs apart, no more: n − 1 bits."
BY_LENGTH = "n choose ⌊n/2⌋ states, at least n − log2(n + 1) bits, as the position tells the list's length."
OF_LIST = "4.6/lower-counting/list"
AT_LEAST = (
    Reading(
        "“at least” the threshold, as the sentence may be read: 1. At least 1 is more than 0, so it is the question with"
        " threshold 0.",
        holds=True,
        shown=OF_LIST,
    ),
    Reading("The threshold is 0.", holds=True, shown=OF_LIST),
)
BOUNDS = [
    Bound("4.6", "index", "lower", (INDEX,), shown=lower_bounds.INDEX),
    *lookups(
        "recall",
        "recall",
        (recalls(),),
        (recalls(printed=True),),
        lower_bounds.RECALL,
        "pairs",
        "The sequence is an array of keys and values, as the main text introduces associative recall: recall.",
    ),
    *lookups(
        "ngram",
        "c-grams",
        tuple(map(ngrams, LENGTHS)),
        tuple(ngrams(c, printed=True) for c in LENGTHS),
        lower_bounds.NGRAM,
        "blocks",
        "The sequence is an array of blocks of c tokens, a key of c − 1 and its value, as the main text extends associative"
        " recall to longer keys: c-grams.",
    ),
    Bound("4.6", "counting", "lower", (COUNTING,), shown=lower_bounds.COUNTING),
    Bound("4.6", "counting", "lower/list", (LIST,), says=BY_LENGTH),
    Bound(
        "4.6",
        "counting",
        "lower/printed",
        (COUNTING_PRINTED,),
        THRESHOLD,
        says=BY_LENGTH,
        right=AT_LEAST,
        kind=Kind.OPEN,
    ),
    Bound("C.28", "", "", (PARITY,)),
    Bound(
        "C.28",
        "",
        "printed",
        (PARITY_PRINTED,),
        FIRST_BIT,
        right=(empty_sum("C.28"), later("C.28/from-two")),
        kind=Kind.OPEN,
    ),
    Bound("C.28", "", "from-two", (PARITY_FROM_TWO,), says=FEWER, as_printed=True, least=2),
    Bound("4.7", "istree", "lower", (ISTREE,), shown=lower_bounds.ISTREE),
    Bound(
        "4.7",
        "istree",
        "lower/printed",
        (ISTREE_PRINTED,),
        FIRST_BIT,
        right=(empty_sum("4.7/lower-istree"), later("4.7/lower-istree/appendix")),
        kind=Kind.OPEN,
    ),
    Bound("4.7", "istree", "lower/appendix", (APPENDIX,), says=FEWER, as_printed=True, least=2),
    Bound("4.7", "istree", "lower/main-text", (MAIN_TEXT,), says=FEWER, as_printed=True, least=2),
    Bound("5.4", "turing", "lower", (TURING,), shown=lower_bounds.TURING),
]


@claims("bound", BOUNDS, lambda bound: bound.claim)
def test_lower_bound(check: Check, bound: Bound) -> None:
    check.sizes(bound.least, cap=LONGEST)
    for number, reduction in enumerate(bound.reductions, 2):
        mark = f"c = {number}: " if len(bound.reductions) > 1 else ""
        examine(check, reduction, mark)
        if bound.shown is not None:
            read_so(check, bound.shown, reduction.words, mark, c=number)
    if bound.shown is not None:
        prove(check, bound.shown)
    elif bound.finding is None:
        check.argued(ALL_N)


# With an associative-recall oracle

WORDS = ("<s>", "1", "2", "3", ASK)  # of Alice's words, and one more
MOST_BITS, LONGEST_TEXT = 5, 3
NUMBER = {word: i for i, word in enumerate(WORDS, 1)}


@dataclass(frozen=True)
class OracleQuery:
    """Alice's bits, and what follows her words before the oracle is asked."""

    x: Bits
    text: Words


def oracle(words: Words, key: str) -> str:
    """Returns the task's own answer, as a word."""
    answer = recall.TASK.answer(Question(tuple(NUMBER[word] for word in words), (NUMBER[key],)))
    return answer if answer == FAILED else WORDS[int(answer) - 1]


@claim(
    "5.1/oracle-simulated",
    statement="Where every other token is one special token and the rest are bits, an associative-recall oracle knows"
    " one of 6 things of Alice's words; it and the text that follows give its every answer.",
)
def test_simulated_oracle(check: Check) -> None:
    def same(asked: OracleQuery) -> Counterexample | None:
        alice = INTERLEAVED.alice(asked.x)
        known = FirstFollowers().read(alice).read(asked.text)
        for key in WORDS:
            expected, found = oracle(alice + asked.text, key), known.follower(key, FAILED)
            if found != expected:
                return Counterexample(key=key, expected=expected, found=found)
        return None

    def few(n: int) -> Counterexample | None:
        known = len({FirstFollowers().read(INTERLEAVED.alice(x)) for x in inputs(n)})
        return None if known <= 6 else Counterexample(known=known)

    texts = [text for length in range(LONGEST_TEXT + 1) for text in itertools.product(WORDS, repeat=length)]
    check.exhaustive(
        (OracleQuery(x, text) for n in lengths(check, MOST_BITS) for x in inputs(n) for text in texts),
        same,
        count=sum(2**n for n in lengths(check, MOST_BITS)) * sequences(LONGEST_TEXT, len(WORDS)),
        range=f"every x, every text of up to {LONGEST_TEXT} words after it, every key",
        size=lambda asked: len(asked.x),
    )
    check.exhaustive(
        lengths(check), few, count=min(LONGEST, check.n_max), range="how much the oracle knows: all x of n bits"
    )
    check.argued("All n: what the oracle knows are the tokens after <s>, 0, 1 and the special one, whatever n is.")


@claim(
    theorem="5.1",
    task="index",
    aspect="lower",
    statement=f"{INTERLEAVED.statement} With an associative-recall oracle as the only call, a deterministic recurrent"
    " model that is always right still has 2^(n − 2) states after Alice's words, n − 2 bits, whatever it thinks then.",
)
def test_index_beside_oracle(check: Check) -> None:
    def apart(n: int) -> Counterexample | None:
        states = states_beside_oracle(n)
        return None if 4 * states >= 2**n else Counterexample(expected=2**n / 4, states_needed=states)

    examine(check, INTERLEAVED)
    read_so(check, BESIDE_ORACLE, lambda x, k: INTERLEAVED.words((0, 1, *x), k + 2))
    prove(check, BESIDE_ORACLE)
    check.exhaustive(
        lengths(check),
        apart,
        count=min(LONGEST, check.n_max),
        range="how many x are told apart of which the oracle knows the same: each n",
    )

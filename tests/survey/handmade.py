"""Families of weights that no compiler makes: logits that tie, and cycles of a recurrence with any signs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from constructions.language.terms import ZERO, Above, Answer, Back, Comb, If, IsWord, Read, Say, Term, as_term
from constructions.layers import Block
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, fixed_point
from tests.survey.programs import of_words
from tests.survey.weights import SIZE, Weights
from verify.certificates.small import RegisterNames, Unit

ARITHMETIC = Arithmetic(fixed_point(25))
VOCABULARY = ("<s>", "a", "b", "yes", "no")
BITS = {word: as_term(IsWord(word)) for word in ("a", "b")}
YES, NO = Say("yes"), Say("no")


def wired(of: RegisterNames, block: Block) -> Wired:
    """Returns a model with one register for each word, which says the word of the largest register."""
    model = of.model({word: {word: 1} for word in VOCABULARY}, {}, [block], ARITHMETIC)
    return replace(model, n=SIZE)


def ties(draw: random.Random) -> Iterator[Weights]:
    """Yields models that give `yes` and `no` a logit after each word, of which some are equal."""
    of, program = RegisterNames(VOCABULARY), of_words("yes")
    logits = [*product((2, 3), repeat=4)]
    for row in draw.sample(logits, len(logits)):
        units: list[Unit] = [
            ({word: 1}, 0, {}, 1, {"yes": yes, "no": no}) for word, yes, no in zip(BITS, row[:2], row[2:], strict=True)
        ]
        answers = [If(BITS["a"], then, otherwise) for then, otherwise in product((YES, NO), repeat=2)]
        right = If(BITS["a"], YES if row[0] > row[2] else NO, YES if row[1] > row[3] else NO)
        yield Weights(wired(of, of.block(*units)), program, right, answers)


def cycles(draw: random.Random) -> Iterator[Weights]:
    """Yields models with a cycle of registers, each with a sign of its own, and each register compared with a number."""
    for length in (2, 3, 4, 3, 2, 4):
        signs = [draw.choice((1, -1)) for _ in range(length)]
        fed = [draw.sample((1, -1, 2, 0), 2) for _ in range(length)]
        names = [f"r{i}" for i in range(length)]
        of = RegisterNames((*VOCABULARY, *names))
        carry = {name: {names[i - 1]: float(signs[i])} for i, name in enumerate(names)}
        feed = {name: dict(zip(BITS, map(float, fed[i]), strict=True)) for i, name in enumerate(names)}
        entering = [sum((bit * w for bit, w in zip(BITS.values(), row, strict=True)), ZERO) for row in fed]
        for i, name in enumerate(names):
            bound = draw.choice((0, 1))
            yes = {"yes": 2.0}, {"yes": -2.0}, {"yes": 9.0 - 2 * bound, "no": 8.0}
            units: list[Unit] = [({name: 1}, 0, {}, 1, yes[0]), ({name: -1}, 0, {}, 1, yes[1]), ({}, 1, {}, 1, yes[2])]
            sources = [entering[i - steps] for steps in range(length)]
            turns = [signs[i - steps] for steps in range(length)]
            answers = [*_of_cycle(sources, turns, bound)]
            block = of.block(*units, recurrence=of.recurrence(carry, feed))
            yield Weights(wired(of, block), of_words("yes", "rnn"), answers[0], answers[1:])


def _of_cycle(sources: Sequence[Term], turns: Sequence[int], bound: int) -> Iterator[Answer]:
    """Yields whether a register is at least the bound: the right sum, and sums with other signs.

    What enters another register of the cycle comes here after some steps, with the signs that it meets; and again after each round.
    sources, turns: what enters the register so many steps before, and the sign with which it is left.
    """
    right, around = [1], 1
    for turn in turns:
        around *= turn
        right.append(around)
    for round_sign, signs in ((around, right), *product((around, -around), product((1, -1), repeat=len(turns)))):
        total = ZERO
        for steps, (source, sign) in enumerate(zip(sources, signs, strict=False)):
            comb = as_term(Comb(source, len(turns), round_sign))
            total = total + (as_term(Read(comb, Back(steps))) if steps else comb) * sign
        yield If(as_term(Above(total - bound + 1)), YES, NO)

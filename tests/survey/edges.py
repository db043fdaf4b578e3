"""Families of small models near the edge of a rule of rounding: a step more or less saturates, ties, or moves a corner."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping

from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.small import RegisterNames, Unit, Weights

Case = tuple[Wired, TokenAutomaton]
DRAWN = 150  # cases of a family
NUMBERS = ("1", "2", "3")


def step(bits: int) -> float:
    """Returns the distance of two elements of R_p."""
    return 2.0 ** -((bits - 1) // 2)


def largest(bits: int) -> float:
    """Returns the largest element of R_p."""
    return (2 ** (bits - 1) - 1) * step(bits)


def in_order(*words: str, repeated: bool = False) -> TokenAutomaton:
    """Returns the texts of these words in this order, with an answer at the last. `1` stands for any number.

    repeated: the word before the last may stand twice.
    """
    states: list[State] = []
    for i, word in enumerate(words):
        more = repeated and i >= len(words) - 2
        after = (i - 1, *[i] * (repeated and i == len(words) - 2)) if i else ()
        numbers = (1, 3) if word == "1" else (0, 0)
        label = Label("number" if word == "1" else word)
        states.append(State(label, i + 1, i + 1 + more, after, "" if word == "1" else word, numbers))
    return TokenAutomaton(tuple(states), frozenset([states[-1].label]), (4, 4))


def arithmetic(draw: random.Random, bits: int) -> Arithmetic:
    return Arithmetic(fixed_point(bits), draw.choice([*Discipline]))


def compared(bound: int, slope: int) -> list[Unit]:
    """Returns units that let `?` say X where slope times what is read is above a bound, else Y."""
    return [({"read": 1}, 0, {}, 1, {"X": slope}), ({"?": 1}, 0, {}, 1, {"Y": bound, "?": -1})]


def sums(draw: random.Random) -> Iterator[Case]:
    """Yields sums, of a recurrence or of units, that come to the largest number, or a step more or less, and go back."""
    for _ in range(DRAWN):
        bits = draw.choice((7, 9, 11))
        first = draw.choice((1, 3, 5, 6)) * draw.choice((1, -1))
        near = largest(bits) + draw.choice((-2, -1, 0, 1)) * step(bits)
        parts = [first, (near if first > 0 else -near) - first, -first]
        of, words = RegisterNames(("a", "b", "c", "sum")), ("a", "b", "c")
        units: list[Unit] = [({word: 1}, 0, {}, 1, {"sum": w}) for word, w in zip(words, parts, strict=True)]
        if draw.random() < 0.5:
            feed = dict(zip(words, parts, strict=True))
            block = of.block(recurrence=of.recurrence({"sum": {"sum": 1}}, {"sum": feed}))
            rows: Mapping[str, Weights] = {word: {word: 1} for word in words}
        else:
            block = of.block(*units)
            rows = {"a": {"a": 1}, "b": {"b": 1}, "c": dict.fromkeys(draw.sample(words, 2), 1)}
        yield of.model(rows, {}, [block], arithmetic(draw, bits)), in_order(*words)


def keys(draw: random.Random) -> Iterator[Case]:
    """Yields heads whose best score leads by about what is needed, and scores near the largest number."""
    for _ in range(DRAWN):
        bits = draw.choice((9, 11, 13))
        q, top = (bits - 1) // 2, largest(bits)
        needed = math.ceil((q + 2 + 2) * 0.7 / step(bits)) * step(bits)
        half = float(int(top / 2))
        lead = needed + draw.choice((-needed / 2, -step(bits), 0, step(bits), 1)) * draw.choice((1, 1, 0.5))
        lead = round(lead / step(bits)) * step(bits)
        best = draw.choice((top, top - step(bits), top / 2 + step(bits) / 2, 1.0, 0.0))
        scores = {"a": best, "b": best - lead, "c": draw.choice((best - lead, best - 2 * lead, best))}
        of = RegisterNames(("score", "v", "?", "w", "s", "read", "X", "Y"))
        rows: dict[str, Weights] = {
            word: {"score": round(max(score, -top) / step(bits)) * step(bits), "v": v}
            for (word, score), v in zip(scores.items(), (1, 2, 3), strict=True)
        }
        words = draw.sample([*rows], 3)
        for word in words:  # the others read the first word
            rows[word] = {**rows[word], "w": 1, "s": float(word == words[0])}
        asked: list[tuple[Weights, Weights]] = [({"?": draw.choice((1, 1, 2))}, {"score": 1}), ({"w": top}, {"s": 1})]
        asked.append(({"?": -half}, {"?": 1}))
        head = of.head(asked, {"v": 1}, "read")
        rows |= {word: {word: 1} for word in ("?", "X", "Y")}
        cleared: list[Unit] = [({"score": sign}, 0, {}, 1, {"score": -sign}) for sign in (1, -1)]
        block = of.block(*compared(3, 2), *cleared, heads=[head])
        yield of.model(rows, {}, [block], arithmetic(draw, bits)), in_order(*words, "?")


def logits(draw: random.Random) -> Iterator[Case]:
    """Yields logits that are cut off at the least number and grow again, beside one that depends on a number."""
    for _ in range(DRAWN):
        terms = ("x1", "x2", "x3", "y1", "y2")
        of = RegisterNames(("v", "n", "s", *terms))
        rows: dict[str, Weights] = {"X": dict.fromkeys(terms[:3], 1), "Y": dict.fromkeys(terms[3:], 1), "s": {"s": 1}}
        numbers: dict[str, Weights] = {word: {"v": int(word), "n": 1} for word in NUMBERS}
        sizes = (-10, -9, -8, draw.choice((8, 9, 10, 4)))
        constants = {"x1": draw.choice(sizes[:3]), "x2": draw.choice(sizes[:3]), "x3": sizes[3]}
        constants["y1"] = draw.choice((-14, -12, -10, -6))
        units: list[Unit] = [
            ({"n": 1}, 0, {}, 1, {**constants, "n": -14, "s": -14}),
            ({"v": 1}, 0, {}, 1, {"v": -1, "y2": draw.choice((1, 2, 4))}),
        ]
        ordered = {**numbers, **{word: rows[word] for word in draw.sample([*rows], 3)}}
        bits = draw.choice((9, 9, 11))
        yield of.model(ordered, {}, [of.block(*units)], arithmetic(draw, bits)), in_order("s", "1")


def means(draw: random.Random) -> Iterator[Case]:
    """Yields heads whose best keys may be several, and whose best key may not be there."""
    for _ in range(DRAWN):
        of = RegisterNames(("s", "v", "v2", "n", "?", "read", "X", "Y"))
        words: dict[str, Weights] = {word: {"v": int(word), "v2": int(word) ** 2, "n": 1} for word in NUMBERS}
        words |= {word: {word: 1} for word in ("s", "?", "X", "Y")}
        asked, default = draw.choice((1, 2, 3)), draw.choice((0, 0, 0, 16, -16))
        cost = draw.choice((16, 32))
        scores: list[tuple[Weights, Weights]] = [
            ({"?": 2.0 * cost * asked}, {"v": 1}),
            ({"?": -1.0 * cost}, {"v2": 1}),
            ({"?": -1.0 * cost * asked**2}, {"n": 1}),
            ({"?": float(default)}, {"s": 1}),
            ({"?": -64.0}, {"?": 1}),
        ]
        value = draw.choice(({"n": 1.0}, {"s": 1.0}, {"v": 1.0}, {"n": 1.0, "s": 1.0}))
        head = of.head(scores, value, "read")
        texts = in_order("s", "1", "?", repeated=draw.random() < 0.5)
        block = of.block(*compared(draw.choice((1, 2, 3, 5, 8)), draw.choice((6, 8))), heads=[head])
        yield of.model(words, {}, [block], Arithmetic(fixed_point(draw.choice((21, 25))))), texts


def positions(draw: random.Random) -> Iterator[Case]:
    """Yields units with corners between positions, and a second block that compares what they wrote."""
    for _ in range(DRAWN):
        of = RegisterNames(("s", "a", "b", "one", "k", "r", "t"))
        words: dict[str, Weights] = {"s": {"s": 1, "one": 1}, "a": {"a": 1, "one": 1}, "b": {"b": 1, "one": 1}}
        once: list[Unit] = [
            ({"k": draw.choice((1, -1))}, draw.choice((-3, -2, 2, 3)), {}, 1, {"r": draw.choice((1, -1, 2))})
            for _ in range(draw.choice((1, 2)))
        ]
        again: list[Unit] = [({"r": draw.choice((1, -1))}, draw.choice((0, 1, -1)), {}, 1, {"t": 1})]
        low = draw.choice((2, 3))
        first, repeated = State(Label("s"), 1, 1, (), "s"), State(Label("a"), 2, 4, (0, 1), "a")
        last = State(Label("b"), low, 5, (1,) if low == 3 else (0, 1), "b")
        texts = TokenAutomaton((first, repeated, last), frozenset([last.label]), (4, 4))
        blocks = [of.block(*once), of.block(*again)]
        yield of.model(words, {"k": 1}, blocks, arithmetic(draw, draw.choice((13, 17)))), texts


def cycles(draw: random.Random) -> Iterator[Case]:
    """Yields cycles of registers with any signs, each read by a logit; what enters may add up to the largest number."""
    for _ in range(DRAWN // 2):
        length = draw.choice((1, 2, 3))
        names = [f"r{i}" for i in range(length)]
        of = RegisterNames(("s", "a", "b", *names))
        carry = {name: {names[i - 1]: draw.choice((1.0, -1.0))} for i, name in enumerate(names)}
        if length == 1:
            carry = {"r0": {"r0": -1.0}}
        feed: dict[str, Weights] = {
            name: {word: draw.choice((0, 1, 3, 4, -4, 5)) for word in ("a", "b")} for name in names
        }
        words: dict[str, Weights] = {word: {word: 1} for word in ("s", "a", "b")}
        words |= {f"W{i}": {name: draw.choice((1, -1, 0.5))} for i, name in enumerate(names)}
        a, b = (State(Label(word), 2, 4, (0, 1, 2), word) for word in ("a", "b"))
        texts = TokenAutomaton((State(Label("s"), 1, 1, (), "s"), a, b), frozenset([a.label, b.label]), (4, 4))
        block = of.block(recurrence=of.recurrence(carry, feed))
        yield of.model(words, {}, [block], arithmetic(draw, draw.choice((7, 9, 11)))), texts


FAMILIES: Mapping[str, Callable[[random.Random], Iterator[Case]]] = {
    f.__name__: f for f in (sums, keys, logits, means, positions, cycles)
}

"""Models and inputs that are hard to search exactly: what the engines are compared on.

The models of `match_like` are made to be almost what the certificate asks for: keys with their squares, but non-integer, rounded or
off by a quantum; leads around the decisive one; scores around the end of the range; wishes that no key fulfils.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from constructions.engines.reference import Flags, ReferenceEngine
from constructions.istree.graphs import LAYOUTS, Graph, Layout, expected_answer
from constructions.layers import AttentionHead, Block, FeedForward, Matrix, Recurrence, Transformer
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.parts.heads.copy import copy
from constructions.parts.heads.count import count
from constructions.parts.heads.match import RegisterPair, match
from constructions.parts.heads.match_close import match_close
from constructions.parts.heads.match_nearest import match_nearest
from constructions.parts.heads.match_next import match_next
from constructions.wiring.affine import Affine, Number, reg
from constructions.wiring.part import Setting
from constructions.wiring.wire import BlockPlan, Component, Embedding, Gadget, Head, Unit, constant, wire
from precision.format import BF16, FP16, FP32, Arithmetic, Discipline, Format, Rounding, fixed_point
from precision.rounding import round_fraction

FIXED = tuple(fixed_point(p) for p in (5, 7, 9, 11, 13, 17, 21, 27, 33, 45, 65, 129, 255))
FLOATS = (FP16, BF16, FP32)
NARROW = (Format("no fraction", 8, 0, 255), Format("one bit", 9, -1, 511), Format("short range", 15, -12, 13 << 11))
ROUNDINGS = (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY, Rounding.TOWARD_ZERO)


class EngineCase(NamedTuple):
    """A model with what it is fed, and how."""

    model: Transformer
    arithmetic: Arithmetic
    tokens: Sequence[int]


Registers = list[list[list[int]]]
"""In quanta, by sublayer, register and position."""


class Trace(NamedTuple):
    """What a run leaves behind.

    registers: after the last sublayer alone, if an engine shows no others. next_tokens: the argmax at each position. logits: in
    quanta, by position and token. logits and flags are None where an engine shows none.
    """

    registers: Registers
    next_tokens: list[int]
    logits: list[list[int]] | None = None
    flags: Flags | None = None

    def until(self, length: int) -> Trace:
        """That of the first tokens, as models are causal; without flags."""
        registers = [[column[:length] for column in columns] for columns in self.registers]
        return Trace(registers, self.next_tokens[:length], self.logits and self.logits[:length])


def reference_trace(case: EngineCase) -> Trace:
    """What is right."""
    engine = ReferenceEngine(case.model, case.arithmetic)
    steps = [engine.append(token) for token in case.tokens]
    registers = [
        [[step.registers[sublayer][register] for step in steps] for register in range(case.model.width)]
        for sublayer in range(2 * len(case.model.blocks) + 1)
    ]
    return Trace(registers, [step.next_token for step in steps], [list(step.logits) for step in steps], engine.flags)


def difference(actual: Trace, expected: Trace) -> str:
    """Where a run first differs from the right one, in what both show; empty if it does not."""
    first = len(expected.registers) - len(actual.registers)
    if len(actual.registers) not in (1, len(expected.registers)):
        return f"{len(actual.registers)} sublayers, not {len(expected.registers)}"
    for sublayer, (ours, theirs) in enumerate(zip(actual.registers, expected.registers[first:], strict=True), first):
        for register, (column, right) in enumerate(zip(ours, theirs, strict=True)):
            if column != right:
                return f"sublayer {sublayer}, register {register}: {column}, not {right}"
    for name in ("next_tokens", "logits", "flags"):
        value, right = getattr(actual, name), getattr(expected, name)
        if value != right and value is not None and right is not None:
            return f"{name}: {value}, not {right}"
    return ""


# Models


def exact(value: Number, fmt: Format) -> Fraction:
    """The element of `fmt` nearest to `value`."""
    return round_fraction(Fraction(value), fmt).quanta * fmt.quantum


TABLE = ("a", "b", "c")  # registers that the token alone decides, with their squares


def word_values(rng: random.Random, fmt: Format) -> list[Fraction]:
    """What the tokens may hold in one register: integers, unit fractions, few quanta, or anything."""
    kind = rng.choice(("integers", "integers", "unit fractions", "quanta", "dyadic", "near one another"))
    if kind == "integers":
        return [Fraction(i) for i in range(-1, 4)]
    if kind == "unit fractions":
        return [exact(Fraction(1, m), fmt) for m in range(1, 9)]
    if kind == "quanta":
        return [i * fmt.quantum for i in range(-3, 20)]
    if kind == "dyadic":
        return [Fraction(i, 1 << rng.randint(0, 4)) for i in range(-9, 10)]
    base = exact(Fraction(rng.randint(0, 40), 10), fmt)
    return [base + i * fmt.quantum for i in range(5)]


def words(rng: random.Random, fmt: Format, vocabulary: int) -> list[dict[str, Number]]:
    rows: list[dict[str, Number]] = [{} for _ in range(vocabulary)]
    for name in TABLE:
        choices = word_values(rng, fmt)
        off = rng.choice((0, 0, 0, 0, 1))
        for row in rows:
            value = exact(rng.choice(choices), fmt)
            row[name] = value
            row[f"{name}_squared"] = exact(value * value, fmt) + rng.randint(-off, off) * fmt.quantum
    return rows


def affine(rng: random.Random, registers: Sequence[str], fmt: Format) -> Affine:
    form = Affine()
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        form = form + rng.choice((1, 1, -1, 2, Fraction(1, 2), 3)) * reg(rng.choice(registers))
    return form


def library_head(rng: random.Random, length: int, fmt: Format, reads: Mapping[str, Affine]) -> Head:
    setting = Setting(rng.choice((1, 3, 8)), rng.choice((1, length, length, 4 * length)), fmt)
    key, query = rng.choice(TABLE), rng.choice(TABLE)
    pairs = [RegisterPair(reg(key), reg(query), reg(f"{key}_squared"), reg(f"{query}_squared"))]
    other = rng.choice(TABLE)
    if rng.random() < 0.2:
        pairs.append(RegisterPair(reg(other), reg(key), reg(f"{other}_squared"), reg(f"{key}_squared")))
    printed = rng.random() < 0.2
    match rng.randrange(6):
        case 0:
            return copy("copy", rng.randint(0, 3), reads, setting, printed=printed)
        case 1:
            return match("match", pairs, reads, setting, printed=printed)
        case 2:
            return match_close("close", pairs, reads, setting, printed=printed)
        case 3:
            wish = rng.choice((reg("position"), reg(other), reg("position") - reg(other)))
            return match_nearest("nearest", pairs, wish, reg("position_squared"), reads, setting, printed=printed)
        case 4:
            squared = reg(f"{other}_squared")
            return match_next("next", pairs, reg(other), squared, reg(query), reads, setting, printed=printed)
        case _:
            return Head("count", count("", reg(key), reg(f"{key}_squared"), "", setting).components, reads)


def raw_head(rng: random.Random, registers: Sequence[str], fmt: Format, reads: Mapping[str, Affine]) -> Head:
    """Up to three squared distances of any scale, and terms that are the same for almost every key."""
    one, components = reg("one"), []
    fraction_bits = -fmt.quantum_exponent
    for name in rng.sample([*TABLE, "position"], rng.choice((0, 1, 1, 2, 2, 3))):
        scale = rng.choice((1, 1, 1, 3, 5, 7)) * Fraction(2) ** rng.randint(-3, min(2 * fraction_bits, 40) - 3)
        key_scale = Fraction(2) ** rng.randint(0, max(0, fraction_bits // 2))
        query_scale = scale / key_scale
        components.append(Component(key_scale * reg(f"{name}_squared"), -query_scale * one))
        wish = affine(rng, registers, fmt) if rng.random() < 0.8 else Affine()
        components.append(Component(key_scale * reg(name), 2 * query_scale * wish))
    if rng.random() < 0.4:
        components.append(Component(rng.choice((reg("first"), one, one - reg("first"))), affine(rng, registers, fmt)))
    if rng.random() < 0.3:
        components.append(Component(reg("first"), rng.choice((-1, 1)) * 2 ** rng.randint(0, fraction_bits) * one))
    if rng.random() < 0.1:
        components.append(Component(affine(rng, registers, fmt), affine(rng, registers, fmt)))
    rng.shuffle(components)
    return Head("raw", tuple(components), reads)


def match_like(rng: random.Random, *, longest: int = 40, formats: Sequence[Format] = (*FIXED, *NARROW)) -> EngineCase:
    """Two blocks of heads that look for their nearest key, and a vocabulary that is searched as well."""
    fmt = rng.choice(formats)
    discipline = rng.choice((Discipline.FUSED, Discipline.FUSED, Discipline.SEQUENTIAL))
    arithmetic = Arithmetic(fmt, discipline, rng.choice((*ROUNDINGS, Rounding.NEAREST_EVEN, Rounding.NEAREST_EVEN)))
    length, vocabulary = rng.randint(1, longest), rng.randint(1, 6)
    rows = words(rng, fmt, vocabulary)
    known = [*rows[0], "position", "position_squared", "one", "first"]
    prepare = (
        constant("1", {"one": 1}),
        square(reg("position"), "position_squared"),
        indicator(reg("position"), 1, {"first": 1}),
    )
    blocks = [BlockPlan((), prepare)]
    for number in (1, 2):
        heads = list[Head]()
        for index in range(rng.choice((1, 1, 2))):
            # Two heads may write the same register.
            names = [f"out{number}", f"other{number}_{index}"][: rng.choice((1, 2))]
            reads = {name: affine(rng, known, fmt) for name in names}
            library = rng.random() < 0.55
            head = library_head(rng, length, fmt, reads) if library else raw_head(rng, known, fmt, reads)
            if all((head.components, head.reads) != (other.components, other.reads) for other in heads):
                heads.append(head)  # a head that stands twice is refused
        written = [name for head in heads for name in head.reads]
        unit = Unit(affine(rng, known, fmt), affine(rng, written, fmt), {rng.choice(written): 1})
        blocks.append(BlockPlan(tuple(heads), (Gadget("product", (unit,)),)))
        known += written
    unembed: list[dict[str, Number]] = []
    for _ in range(vocabulary):
        wish = rng.randint(-2, 2)
        kinds: Sequence[dict[str, Number]] = (
            {"position": wish, "one": -wish * wish},
            {"out1": wish, "out2": rng.randint(-1, 1)},
            {"a": wish},
            {},
        )
        unembed.append(rng.choice(kinds))
    embedding = Embedding(tuple(map(str, range(vocabulary))), tuple(rows), "position")
    model, _ = wire(embedding, blocks, unembed, fmt, exact=False)
    return EngineCase(model, arithmetic, [rng.randrange(vocabulary) for _ in range(length)])


def any_model(rng: random.Random, width: int, vocabulary: int, scale: int, dyadic: bool) -> Transformer:
    """Integers up to `scale` as weights, or dyadic fractions, a third of them zero: near-ties, saturation, digits of every size."""

    def weight() -> float:
        value = float(rng.randint(-scale, scale)) if rng.random() < 0.67 else 0.0
        return value * 2.0 ** rng.randint(-6, 3) if dyadic else value

    def draw(*shape: int) -> Matrix:
        return np.array([weight() for _ in range(int(np.prod(shape)))]).reshape(shape)

    def head() -> AttentionHead:
        score, value = rng.randint(0, 3), rng.randint(0, 2)
        return AttentionHead(draw(score, width), draw(score, width), draw(value, width), draw(width, value))

    def feed_forward(units: int) -> FeedForward:
        return FeedForward(
            draw(units, width), draw(units), draw(units, width), draw(units), draw(width, units), draw(width)
        )

    blocks = [Block(tuple(head() for _ in range(rng.randint(0, 2))), feed_forward(rng.randint(0, 3))) for _ in range(2)]
    return Transformer(draw(vocabulary, width), draw(width), tuple(blocks), draw(vocabulary, width))


def unstructured(rng: random.Random, *, fmt: Format, rounding: Rounding, discipline: Discipline) -> EngineCase:
    """Any small model, and any tokens."""
    width, vocabulary = rng.randint(1, 5), rng.randint(1, 4)
    model = any_model(rng, width, vocabulary, rng.choice((1, 3, 40)), rng.random() < 0.5)
    tokens = [rng.randrange(vocabulary) for _ in range(rng.randint(1, 12))]
    return EngineCase(model, Arithmetic(fmt, discipline, rounding), tokens)


def no_units(width: int) -> FeedForward:
    """A feed-forward sublayer that changes nothing."""
    none = np.zeros((0, width))
    return FeedForward(none, np.zeros(0), none, np.zeros(0), np.zeros((width, 0)), np.zeros(width))


def recurrent(rng: random.Random, *, fmt: Format, rounding: Rounding, discipline: Discipline) -> EngineCase:
    """A recurrence before the blocks of `unstructured`."""
    case = unstructured(rng, fmt=fmt, rounding=rounding, discipline=discipline)
    width = case.model.width

    def matrix() -> Matrix:
        return np.array([[rng.choice((0.0, 0.0, 1.0, -1.0, 0.5)) for _ in range(width)] for _ in range(width)])

    first = Block((), no_units(width), Recurrence(matrix(), matrix()))
    return case._replace(model=replace(case.model, blocks=(first, *case.model.blocks)))


def fused(case: EngineCase) -> EngineCase:
    """The same under `fused`."""
    return case._replace(arithmetic=replace(case.arithmetic, discipline=Discipline.FUSED))


def searching(
    arithmetic: Arithmetic,
    rows: Sequence[Mapping[str, Number]],
    components: Sequence[tuple[Affine | Number, Affine | Number]],
    tokens: Sequence[int],
    reads: str = "position",
) -> EngineCase:
    """One head over the registers of the words and of the position; a number stands for so many times the register `one`."""

    def form(side: Affine | Number) -> Affine:
        return side if isinstance(side, Affine) else side * reg("one")

    full: list[dict[str, Number]] = [{**dict.fromkeys(rows[0], 0), "one": 1, **row} for row in rows]
    head = Head("search", tuple(Component(form(key), form(query)) for key, query in components), {"out": reg(reads)})
    embedding = Embedding(tuple(map(str, range(len(rows)))), full, "position")
    model, _ = wire(embedding, [BlockPlan((head,), ())], full, arithmetic.format, exact=False)
    return EngineCase(model, arithmetic, tokens)


def in_order(rng: random.Random) -> EngineCase:
    """Rising keys with rounded squares, where the nearest key is often not the best one."""
    fmt = fixed_point(rng.choice((17, 21, 25, 33)))
    fraction_bits, quantum, count = -fmt.quantum_exponent, fmt.quantum, rng.randint(6, 14)
    base = rng.randint(0, 1 << (fraction_bits // 2 + 2))
    keys = sorted(rng.sample(range(base, base + 3 * count), count))
    exponent = rng.randint(fraction_bits // 2, 2 * fraction_bits - 2)
    key_scale, query_scale = 1 << exponent // 2, 1 << (exponent - exponent // 2)
    wish = exact(2 * query_scale * (rng.choice(keys) + rng.randint(-2, 2)) * quantum, fmt)
    return searching(
        Arithmetic(fmt),
        [{"x": i * quantum, "x_squared": exact((i * quantum) ** 2, fmt)} for i in keys],
        [(key_scale * reg("x_squared"), -query_scale), (key_scale * reg("x"), wish)],
        range(count),
    )


# Cases that each defeat one careless engine


def beyond_the_second_nearest() -> EngineCase:
    """Keys with rounded squares: one that is neither nearest nor second nearest to the wish, on either side, has the best score."""
    return in_order(random.Random(206))


def equal_keys_with_unequal_squares() -> EngineCase:
    """The same x twice, its square rounded down and rounded up."""
    quantum = Fraction(1, 256)
    rows = [
        {"x": Fraction(i, 64), "x_squared": (Fraction(i * i, 4096) // quantum + up) * quantum}
        for i in (1, 17)
        for up in (0, 1)
    ]
    components = [(32 * reg("x_squared"), -32), (32 * reg("x"), 2)]
    return searching(Arithmetic(fixed_point(17)), rows, components, [0, 1, 0, 1, 1, 0, 1, 0, 0] + [2, 3] * 6)


def wish_between_the_keys() -> EngineCase:
    """No key is at x = 1/2; those beside it cost 16, the special key 40 and 2, an integer mismatch would cost 64."""
    numbers = [{"x": x, "x_squared": x, "y": y, "y_squared": y} for x in (0, 1) for y in (0, 1)]
    rows: list[Mapping[str, Number]] = [*numbers, {**numbers[0], "special": 1}]
    components = [
        (8 * reg("x_squared"), -8),
        (8 * reg("x"), 8),
        (reg("y_squared"), -2),
        (reg("y"), 4),
        (reg("special"), -24),
    ]
    return searching(Arithmetic(fixed_point(17)), rows, components, [4, *[0, 2, 2, 0] * 4, *[1, 3, 3, 1] * 4])


def tie_before_rounding_only() -> EngineCase:
    """Twice 3/64, and twice 1/64 + 2/64: such scores are equal, but not after each of their products is rounded to sixteenths."""
    sixteenth, quarter = Fraction(1, 16), Fraction(1, 4)
    rows: list[Mapping[str, Number]] = [
        {"x": 0, "y": 0, "height": 0, "payload": 0},
        {"x": 3 * sixteenth, "height": 8, "payload": 1},
        {"x": sixteenth, "y": 2 * sixteenth, "height": 8},
    ]
    components = [(reg("x"), quarter), (reg("y"), quarter)] * 2 + [(reg("height"), 1)]
    arithmetic = Arithmetic(fixed_point(9), Discipline.SEQUENTIAL)
    return searching(arithmetic, rows, components, [0, 0, 1, 2, 0, 0, 0, 0], "payload")


def keys_that_agree_only_after_rounding() -> EngineCase:
    """x/2 is 0 for the smallest x, but 64 times half of it would win."""
    rows: list[Mapping[str, Number]] = [{"x": 0}, {"x": Fraction(1, 256)}]
    components = [(Fraction(1, 2) * reg("x"), 128)] * 64
    return searching(Arithmetic(fixed_point(17)), rows, components, [0, 0, 1, 0, 0, 0])


def close_to_the_least_score() -> EngineCase:
    """All scores but one saturate at less than −15; −14 is above that, but not by enough."""
    rows: list[Mapping[str, Number]] = [{"high": -4, "payload": 0}, {"high": Fraction(-7, 2), "payload": 8}]
    return searching(Arithmetic(fixed_point(9)), rows, [(reg("high"), 4)], [0, 0, 1, 0, 0, 0, 0], "payload")


def sums_that_saturate_on_their_way() -> EngineCase:
    """200 + 60 and 200 + 100 both saturate at less than 256, before 200 is taken away again; no product comes close to that."""
    rows: list[Mapping[str, Number]] = [{"x": 60, "payload": 0}, {"x": 100, "payload": 1}]
    components = [(1, 200), (reg("x"), 1), (1, -200)]
    arithmetic = Arithmetic(fixed_point(17), Discipline.SEQUENTIAL)
    return searching(arithmetic, rows, components, [*[0] * 6, 1, *[0] * 6], "payload")


CRAFTED: Mapping[str, Callable[[], EngineCase]] = {
    case.__name__: case
    for case in (
        beyond_the_second_nearest,
        equal_keys_with_unequal_squares,
        wish_between_the_keys,
        tie_before_rounding_only,
        keys_that_agree_only_after_rounding,
        close_to_the_least_score,
        sums_that_saturate_on_their_way,
    )
}


# Graphs


def random_graph(n: int, rng: random.Random) -> Graph:
    """A tree, or up to n + 1 arbitrary edges, in any order and orientation."""
    if rng.random() < 0.5:
        edges = [(v, rng.randint(1, v - 1)) for v in range(2, n + 1)]
    else:
        edges = [(u, v) for u in range(1, n + 1) for v in range(u + 1, n + 1)]
        edges = rng.sample(edges, min(len(edges), rng.randint(0, n + 1)))
    rng.shuffle(edges)
    return Graph(n, tuple(edge if rng.random() < 0.5 else edge[::-1] for edge in edges))


def graph_tokens(graph: Graph, layout: Layout) -> list[int]:
    return LAYOUTS[layout].prompt(graph) + expected_answer(graph, LAYOUTS[layout])[:-1]

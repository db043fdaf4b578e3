"""The matrices that users get, beside the exact layers that a certificate is about: is every entry the same?

Compared, entry by entry, are all matrices of all blocks, the position's embedding, the rows of special words and of the numbers
that the embedding lists, the output head, the spelling of these words, the registers and the arithmetic. Of other numbers, those at
the end of each family are filled for themselves, by the same code, and compared, if float64 holds them: if not, no table of all
numbers exists. The rest are filled by the same rule (constructions/wiring/numbered.py) and are not looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from constructions.layers import AttentionHead, Block, Matrix
from constructions.places import ATTENTION, FEED_FORWARD, RECURRENCE, name_place
from constructions.rows import HeadRows, Row, Weight, Written
from constructions.wiring.numbered import Powers
from constructions.wiring.wire import filled_words
from constructions.wiring.wired import Wired
from verify.algebra.domains import SIZE, OtherMatrices
from verify.algebra.polynomial import Number, Polynomial
from verify.rounding.model import NUMBER, Listed, Model

LARGEST_TABLE = 1 << 23  # entries of an embedding that is written to a file here: 64 MiB
AT_THE_END = 2  # numbers of a family that are filled for themselves
FLOAT64 = 1 << 53  # whole numbers up to here are numbers of float64

Entries = list[tuple[int, int, Any]]  # (row, column, what is not 0 there)


def digest(wired: Wired) -> str:
    """SHA-256 of the bytes that `--dump-weights FILE.safetensors` writes for this model."""
    from constructions.exports.weights import file_bytes

    return hashlib.sha256(file_bytes(wired.model)).hexdigest()


def require_same(model: Model, wired: Wired, n: int, families: Sequence[Listed]) -> None:
    """Raises OtherMatrices at the first difference.

    n: where the model is for many, this one. families: all numbers of its vocabulary.
    """
    for where, mine, its in _pairs(model, wired, n, families):
        for at, exact, filled in zip_longest(*_aligned(mine, its)):
            if exact != filled:
                raise OtherMatrices(
                    f"{where}, {at}", f"the matrices of n = {n} hold {filled}, the exact layers {exact}"
                )


def _aligned(exact: Entries, filled: Entries) -> tuple[list[str], list[Any], list[Any]]:
    """The entries of either, place by place; nothing to see if they are the same."""
    if exact == filled:
        return [], [], []
    places = sorted({(i, j) for i, j, _ in (*exact, *filled)})
    mine, its = ({(i, j): x for i, j, x in entries} for entries in (exact, filled))
    return (
        [f"row {i}, column {j}" for i, j in places],
        [mine.get(p, 0) for p in places],
        [its.get(p, 0) for p in places],
    )


def _pairs(model: Model, wired: Wired, n: int, families: Sequence[Listed]) -> Iterator[tuple[str, Entries, Entries]]:
    """Place by place what stands in the exact layers and what in the matrices."""

    def value(weight: Weight) -> Number:
        return _at(weight, n) if isinstance(weight, Polynomial) else weight

    def of_rows(rows: Iterable[tuple[int, Row]]) -> Entries:
        return [(i, j, x) for i, row in rows for j, w in row if (x := value(w))]

    yield "the registers", _listed(model.registers), _listed(wired.registers)
    yield "the arithmetic", [(0, 0, model.arithmetic)], [(0, 0, wired.arithmetic)]
    yield "embed.position", of_rows([(0, model.position)]), _entries(wired.model.position[None])
    yield from _words(model, wired, n, families, of_rows)
    if len(model.layers) != len(wired.model.blocks):
        raise OtherMatrices(
            "the blocks", f"there are {len(wired.model.blocks)} in the matrices, {len(model.layers)} exact layers"
        )
    for number, block in enumerate(wired.model.blocks):
        for where, name, mine, its in _block(model, number, block, of_rows, value):
            yield f"{where}, blocks.{number}.{name}", mine, its


def _block(
    model: Model,
    number: int,
    block: Block,
    of_rows: Callable[[Iterable[tuple[int, Row]]], Entries],
    value: Callable[[Weight], Number],
) -> Iterator[tuple[str, str, Entries, Entries]]:
    """The part, its tensor's name in files without that of the block, and both."""
    layer = model.layers[number]

    def biases(weights: Iterable[tuple[int, Weight]]) -> Entries:
        return [(i, 0, x) for i, w in weights if (x := value(w))]

    where = name_place(number + 1, ATTENTION)
    yield where, "attn, score and value widths", _widths(layer.heads), _widths(block.heads)
    for h, (rows, head) in enumerate(zip(layer.heads, block.heads, strict=True)):
        for name, mine, its in (
            ("W_Q", rows.query, head.query),
            ("W_K", rows.key, head.key),
            ("W_V", rows.value, head.value),
        ):
            yield model.head(number, h), f"attn.{h}.{name}", of_rows(enumerate(mine)), _entries(its)
    first = 0
    for h, head in enumerate(block.heads):
        width = head.value.shape[0]
        written = of_rows(_columns(layer.out, first, width))
        yield model.head(number, h), f"attn.{h}.W_O", written, _entries(head.out)
        first += width
    where, recurrence, matrices = name_place(number + 1, RECURRENCE), layer.recurrence, block.recurrence
    yield where, "recurrence, how many", [(0, 0, recurrence is None)], [(0, 0, matrices is None)]
    if recurrence is not None and matrices is not None:
        yield where, "recurrence.A", of_rows(recurrence.carry), _entries(matrices.carry)
        yield where, "recurrence.B", of_rows(recurrence.feed), _entries(matrices.feed)
    where, ffn = name_place(number + 1, FEED_FORWARD), block.feed_forward
    units, down = layer.feed_forward.units, layer.feed_forward.down
    yield where, "ffn, how many units", [(0, 0, len(units))], [(0, 0, len(ffn.gate))]
    yield where, "ffn.W_gate", of_rows((u, unit.gate) for u, unit in enumerate(units)), _entries(ffn.gate)
    yield where, "ffn.W_up", of_rows((u, unit.up) for u, unit in enumerate(units)), _entries(ffn.up)
    yield where, "ffn.W_down", of_rows((i, row) for i, row, _ in down), _entries(ffn.down)
    gates, ups = ([(u, getattr(unit, bias)) for u, unit in enumerate(units)] for bias in ("gate_bias", "up_bias"))
    yield where, "ffn.b_gate", biases(gates), _entries(ffn.gate_bias[:, None])
    yield where, "ffn.b_up", biases(ups), _entries(ffn.up_bias[:, None])
    yield where, "ffn.b_down", biases((i, bias) for i, _, bias in down), _entries(ffn.down_bias[:, None])


def _widths(heads: Sequence[HeadRows | AttentionHead]) -> Entries:
    return [
        (i, j, len(part)) for i, head in enumerate(heads) for j, part in enumerate((head.query, head.key, head.value))
    ]


def _columns(written: Written, first: int, width: int) -> list[tuple[int, Row]]:
    """What reads so many values from the first on, counted from there."""
    return [(i, tuple((j - first, w) for j, w in row if 0 <= j - first < width)) for i, row in written]


def _entries(matrix: Matrix) -> Entries:
    rows, columns = np.nonzero(matrix)
    return list(zip(rows.tolist(), columns.tolist(), matrix[rows, columns].tolist(), strict=True))


def _listed(texts: Sequence[str]) -> Entries:
    return [(i, 0, str(text)) for i, text in enumerate(texts)]


def _at(weight: Polynomial, n: int, number: int = 0) -> Number:
    """A polynomial of n, and of the number of a token, where they are these."""
    value: Number = 0
    for monomial, c in weight.terms.items():
        for name in monomial:
            if name not in (SIZE, NUMBER):
                raise OtherMatrices("the vocabulary", f"{weight} is no polynomial of n and a token's number")
            c = c * (n if name == SIZE else number)
        value = value + c
    return value


def _words(
    model: Model,
    wired: Wired,
    n: int,
    families: Sequence[Listed],
    of_rows: Callable[[Iterable[tuple[int, Row]]], Entries],
) -> Iterator[tuple[str, Entries, Entries]]:
    """The embedding's rows and their spelling, and the output head."""
    words, start = wired.model.words, 0
    if [family.family for family in families] != [*model.families] or len(families) != len(wired.families):
        raise OtherMatrices("the vocabulary", "the matrices have other families of numbers than the exact layers")
    for family, listed in zip(families, wired.families, strict=True):
        rows = words[start : start + len(listed)]
        spelled = wired.vocabulary[start : start + len(listed)]
        if not family.low <= listed.low <= listed.high <= family.high:
            raise OtherMatrices(
                "the vocabulary", f"the numbers {listed.low} … {listed.high} are listed as {family.family!r}"
            )
        yield "the vocabulary", _listed([*map(family.text, range(listed.low, listed.high + 1))]), _listed(spelled)
        yield f"embed.words, {family.family}".rstrip(", "), *_numbers(model, family, n, rows, listed.low)
        low = max(listed.high + 1, family.high + 1 - AT_THE_END)
        if low <= family.high and (end := _last(wired, replace(listed, low=low, high=family.high))) is not None:
            yield "embed.words, the last numbers", *_numbers(model, family, n, end, low)
        start += len(listed)
    yield "the vocabulary", _listed([*model.specials]), _listed(wired.vocabulary[start:])
    yield "embed.words, special words", of_rows(enumerate(model.specials.values())), _entries(words[start:])
    if wired.model.unembed is not words:
        yield "unembed", [], _entries(wired.model.unembed - words)


def _last(wired: Wired, numbers: Powers) -> Matrix | None:
    """The rows of these numbers; None if float64 holds no such rows."""
    try:
        return filled_words(wired.registers, wired.arithmetic.format, [numbers], exact=not wired.printed)
    except ValueError:
        return None


def _numbers(model: Model, family: Listed, n: int, rows: Matrix, low: int) -> tuple[Entries, Entries]:
    """The rows of numbers from low on; those that are the same are left out of both."""
    polynomials, values = model.families[family.family].rows, range(low, low + len(rows))
    mine, its = Entries(), Entries()
    for j in sorted({*polynomials, *np.flatnonzero(rows.any(axis=0)).tolist()}):
        polynomial = polynomials.get(j)
        exact = [_at(polynomial, n, v) if polynomial is not None else 0 for v in values]
        column = rows[:, j].tolist()
        if exact != column:
            mine += [(i, j, x) for i, (x, y) in enumerate(zip(exact, column, strict=True)) if x != y]
            its += [(i, j, y) for i, (x, y) in enumerate(zip(exact, column, strict=True)) if x != y]
    return mine, its

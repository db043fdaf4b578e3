"""The matrices that users get, beside the exact layers that a certificate is about: is every entry the same?

Compared, entry by entry, are all matrices of all blocks, the position's embedding, the rows of special words and of the numbers
that the embedding lists, the output head, the spelling of these words, the registers and the arithmetic. Of other numbers, those at
the end of each family are filled for themselves, by the same code, and compared, if float64 holds them: if not, no table of all
numbers exists. The rest are filled by the same rule (constructions/wiring/numbered.py) and are not looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from constructions.layers import Matrix
from constructions.places import ATTENTION, FEED_FORWARD, RECURRENCE, name_place
from constructions.rows import Layer, Row, block_rows
from constructions.wiring.numbered import Family, Powers
from constructions.wiring.wire import filled_words
from constructions.wiring.wired import Wired
from verify.algebra.domains import SIZE, OtherMatrices
from verify.algebra.polynomial import Number, Polynomial
from verify.rounding.model import NUMBER, ExactModel

LARGEST_TABLE = 1 << 23  # entries of an embedding that is written to a file here: 64 MiB
AT_THE_END = 2  # numbers of a family that are filled for themselves

Entries: TypeAlias = dict[tuple[int, int], Any]
"""(row, column) → what is not 0 there."""


def digest(wired: Wired) -> str:
    """Returns the SHA-256 of the bytes that `--dump-weights FILE.safetensors` writes for this model."""
    from constructions.exports.weights import file_bytes

    return hashlib.sha256(file_bytes(wired.model)).hexdigest()


def require_same(model: ExactModel, wired: Wired, n: int, families: Sequence[Family]) -> None:
    """Raises OtherMatrices at the first difference.

    n: where the model is for many, this one. families: all numbers of its vocabulary.
    """
    for where, mine, its in _pairs(model, wired, n, families):
        if mine != its:
            at = min(p for p in {*mine, *its} if mine.get(p) != its.get(p))
            values = f"the matrices of n = {n} hold {its.get(at, 0)}, the exact layers {mine.get(at, 0)}"
            raise OtherMatrices(f"{where}, row {at[0]}, column {at[1]}", values)


def _pairs(
    model: ExactModel, wired: Wired, n: int, families: Sequence[Family]
) -> Iterator[tuple[str, Entries, Entries]]:
    """Yields place by place the entries of the exact layers and those of the matrices."""
    yield "the registers", _list_all(model.registers), _list_all(wired.registers)
    yield "the arithmetic", {(0, 0): model.arithmetic}, {(0, 0): wired.arithmetic}
    yield "embed.position", _of_rows([(0, model.position)], n), _entries(wired.model.position[None])
    yield from _words(model, wired, n, families)
    if len(model.layers) != len(wired.model.blocks):
        raise OtherMatrices(
            "the blocks", f"there are {len(wired.model.blocks)} in the matrices, {len(model.layers)} exact layers"
        )
    for number, (layer, block) in enumerate(zip(model.layers, wired.model.blocks, strict=True)):
        its_tensors = _tensors(model, number, block_rows(block, float))
        for (where, mine), (_, its) in zip(_tensors(model, number, layer), its_tensors, strict=True):
            yield where, _of_rows(mine, n), _of_rows(its, n)


def _tensors(model: ExactModel, number: int, layer: Layer) -> Iterator[tuple[str, Iterable[tuple[int, Row]]]]:
    """Yields the rows of each tensor of a block, after the sizes of its parts; a bias is a row of one entry."""
    units, down, recurrence = layer.feed_forward.units, layer.feed_forward.down, layer.recurrence
    widths = ((len(head.query), len(head.key), len(head.value)) for head in layer.heads)
    attention = f"{name_place(number + 1, ATTENTION)}, blocks.{number}.attn"
    recurrent = f"{name_place(number + 1, RECURRENCE)}, blocks.{number}.recurrence"
    ffn = f"{name_place(number + 1, FEED_FORWARD)}, blocks.{number}.ffn"
    yield f"{attention}, score and value widths", ((h, tuple(enumerate(sizes))) for h, sizes in enumerate(widths))
    yield f"{recurrent}, how many", [(0, ((0, 0 if recurrence is None else 1),))]
    yield f"{ffn}, how many units", [(0, ((0, len(units)),))]
    first = 0
    for h, head in enumerate(layer.heads):
        where, last = f"{model.head(number, h)}, blocks.{number}.attn.{h}", first + len(head.value)
        yield f"{where}.W_Q", enumerate(head.query)
        yield f"{where}.W_K", enumerate(head.key)
        yield f"{where}.W_V", enumerate(head.value)
        yield f"{where}.W_O", [(i, tuple((j - first, w) for j, w in row if first <= j < last)) for i, row in layer.out]
        first = last
    if recurrence is not None:
        yield f"{recurrent}.A", recurrence.carry
        yield f"{recurrent}.B", recurrence.feed
    yield f"{ffn}.W_gate", ((u, unit.gate) for u, unit in enumerate(units))
    yield f"{ffn}.W_up", ((u, unit.up) for u, unit in enumerate(units))
    yield f"{ffn}.W_down", ((i, row) for i, row, _ in down)
    yield f"{ffn}.b_gate", ((u, ((0, unit.gate_bias),)) for u, unit in enumerate(units))
    yield f"{ffn}.b_up", ((u, ((0, unit.up_bias),)) for u, unit in enumerate(units))
    yield f"{ffn}.b_down", ((i, ((0, bias),)) for i, _, bias in down)


def _of_rows(rows: Iterable[tuple[int, Row]], n: int) -> Entries:
    """Returns the entries at this n, where a polynomial of n may be 0."""
    weights = ((i, j, _value_at(w, n) if isinstance(w, Polynomial) else w) for i, row in rows for j, w in row)
    return {(i, j): w for i, j, w in weights if w}


def _entries(matrix: Matrix) -> Entries:
    rows, columns = np.nonzero(matrix)
    return dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), matrix[rows, columns].tolist(), strict=True))


def _list_all(texts: Sequence[str]) -> Entries:
    return {(i, 0): str(text) for i, text in enumerate(texts)}


def _value_at(weight: Polynomial, n: int, number: int = 0) -> Number:
    """Returns the value of a polynomial at n, and at the number of a token."""
    value: Number = 0
    for monomial, c in weight.terms.items():
        for name in monomial:
            if name not in (SIZE, NUMBER):
                raise OtherMatrices("the vocabulary", f"{weight} is no polynomial of n and a token's number")
            c = c * (n if name == SIZE else number)
        value = value + c
    return value


def _words(
    model: ExactModel, wired: Wired, n: int, families: Sequence[Family]
) -> Iterator[tuple[str, Entries, Entries]]:
    """Yields the embedding's rows and their spelling, and the output head."""
    words, start = wired.model.words, 0
    if [family.name for family in families] != [*model.families] or len(families) != len(wired.families):
        raise OtherMatrices("the vocabulary", "the matrices have other families of numbers than the exact layers")
    for family, listed in zip(families, wired.families, strict=True):
        rows = words[start : start + len(listed)]
        spelled = wired.vocabulary[start : start + len(listed)]
        if not family.low <= listed.low <= listed.high <= family.high:
            raise OtherMatrices(
                "the vocabulary", f"the numbers {listed.low} … {listed.high} are listed as {family.name!r}"
            )
        yield "the vocabulary", _list_all([*map(family.text, range(listed.low, listed.high + 1))]), _list_all(spelled)
        yield f"embed.words, {family.name}".rstrip(", "), *_numbers(model, family, n, rows, listed.low)
        low = max(listed.high + 1, family.high + 1 - AT_THE_END)
        if low <= family.high and (end := _last(wired, replace(listed, low=low, high=family.high))) is not None:
            yield "embed.words, the last numbers", *_numbers(model, family, n, end, low)
        start += len(listed)
    yield "the vocabulary", _list_all([*model.specials]), _list_all(wired.vocabulary[start:])
    yield "embed.words, special words", _of_rows(enumerate(model.specials.values()), n), _entries(words[start:])
    if wired.model.unembed is not words:
        yield "unembed", {}, _entries(wired.model.unembed - words)


def _last(wired: Wired, numbers: Powers) -> Matrix | None:
    """Returns the rows of these numbers; None if float64 holds no such rows."""
    try:
        return filled_words(wired.registers, wired.arithmetic.format, [numbers], exact=not wired.printed)
    except ValueError:
        return None


def _numbers(model: ExactModel, family: Family, n: int, rows: Matrix, low: int) -> tuple[Entries, Entries]:
    """Returns the rows of numbers from low on; those that are the same are left out of both."""
    polynomials, values = model.families[family.name].rows, range(low, low + len(rows))
    mine, its = Entries(), Entries()
    for j in sorted({*polynomials, *np.flatnonzero(rows.any(axis=0)).tolist()}):
        polynomial = polynomials.get(j)
        exact = [_value_at(polynomial, n, v) if polynomial is not None else 0 for v in values]
        column = rows[:, j].tolist()
        if exact != column:
            differing = [i for i, (x, y) in enumerate(zip(exact, column, strict=True)) if x != y]
            mine |= {(i, j): exact[i] for i in differing}
            its |= {(i, j): column[i] for i in differing}
    return mine, its

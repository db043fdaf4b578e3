"""A model whose weights are exact rows, and the files that it is read from.

Standard library alone. A weight is a polynomial in n: a number where the model is of one n, else a form that holds for each n of an
interval. A file of weights is one of

- `.safetensors` of float64, of one n, with a sidecar whose "vocabulary" lists the tokens: every number is taken as it is;
- JSON with exact rows:
  {"families": {name: {"low", "high", "rows": {coordinate: polynomial in v}}}, "words": {word: row}, "position": row,
  "blocks": [{"heads": [{"query", "key", "value": rows}], "out", "units": [{"gate", "gate_bias", "up", "up_bias"}], "down",
  "carry", "feed"}]},
  with a row as {coordinate: polynomial}; `out`, `carry`, `feed` are {register: row}, and `down` is {register: [row over units,
  bias]}.

Polynomials are texts: terms as -3/2*n*n with " + " between them.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from verify.trusted.abstract_state import SIZE, Format, Integer, State
from verify.trusted.numbers import MARK, Case, Number, grows, plain
from verify.trusted.polynomials import Monomial, Polynomial, combine, names_of, number
from verify.trusted.rejection import reject

Row = list[tuple[int, Polynomial]]
"""Coordinates in order, and their weights."""
NUMBER = "v"  # of a token, in the rows of a family
TERM = re.compile(r"-?\d{1,1000}(/\d{1,1000})?(\*[^*+ ]{1,30}){0,12}")
COORDINATE = re.compile(r"0|[1-9][0-9]{0,8}")
MOST_BYTES = 1 << 26
MOST_TEXT = 20_000
MOST_ROWS = 10_000  # of what stands beside the registers: the checker's numbers for it are further apart


@dataclass(frozen=True)
class Unit:
    gate: Row
    gate_bias: Polynomial
    up: Row
    up_bias: Polynomial


@dataclass(frozen=True)
class Head:
    query: list[Row]
    key: list[Row]
    value: list[Row]


@dataclass(frozen=True)
class Block:
    """out: each register's row over the values that heads read, in order. down: each register's row over the units, and its bias.

    carry, feed: of a recurrence, each register's rows over what was kept at the position before, and over the registers.
    """

    heads: list[Head]
    out: list[tuple[int, Row]]
    units: list[Unit]
    down: list[tuple[int, Row, Polynomial]]
    carry: dict[int, Row]
    feed: dict[int, Row]


@dataclass(frozen=True)
class Family:
    """The tokens low … high: number v has polynomials in `v` in these coordinates."""

    low: int
    high: int
    rows: dict[int, Polynomial]


@dataclass(frozen=True)
class Weights:
    """A model. The output head is the embedding. Where weights depend on n, it stands for an interval of n.

    families: name → numbers. words: word → its row. position: what is added for each position, times it.
    """

    families: dict[str, Family]
    words: dict[str, dict[int, Polynomial]]
    position: dict[int, Polynomial]
    blocks: list[Block]


# Texts of numbers


def whole(value: Any, case: Case | None = None) -> int:
    """Returns a whole number of a file, in a case one that may depend on n. Raises Rejected for anything else."""
    if case is not None and type(value) is str:
        return case.whole(value)  # type: ignore[no-any-return]
    if type(value) is not int:
        reject(f"{value!r} is no whole number")
    return int(value)


def parse(text: Any, case: Case | None = None) -> Polynomial:
    """Reads a polynomial, in a case one whose numbers may depend on n. Raises Rejected for what is none."""
    if type(text) is not str or len(text) > MOST_TEXT:
        reject("a polynomial is no text, or too long")
    pairs: list[tuple[Polynomial, Number]] = []
    for term in text.split(" + ") if text else ():
        if not TERM.fullmatch(term):
            reject(f"{term[:40]!r} is no term")
        c, *atoms = term.split("*")
        if case is not None and MARK in term:
            symbols = [one[1:] for one in atoms if one[0] == MARK]
            factor = case.number("*".join((c, *symbols)))
            pairs.append(({tuple(sorted(one for one in atoms if one[0] != MARK)): 1}, factor))
            continue
        pairs.append(({tuple(sorted(atoms)): 1}, Fraction(c) if "/" in c else int(c)))
    return combine(pairs)


def coordinate(text: Any) -> int:
    """Reads a coordinate, which has one spelling: so none is there twice. Raises Rejected for what is none."""
    if type(text) is not str or not COORDINATE.fullmatch(text):
        reject(f"weights: {text!r} is no coordinate")
    return int(text)


def text_of(polynomial: Polynomial) -> str:
    """Writes a polynomial so that `parse` reads it."""
    terms: list[str] = []
    ordered: list[tuple[Monomial, Any]] = sorted(polynomial.items(), key=lambda item: item[0])
    for monomial, c in ordered:
        terms += c.terms(*monomial) if grows(c) else ["*".join((str(c), *monomial))]
    return " + ".join(terms)


# Files


def read_json(data: bytes) -> Any:
    """Returns what a file of JSON has. Raises Rejected where a name is there twice: readers differ in which they take."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(result := dict(pairs)) < len(pairs):
            reject("a file has a name twice")
        return result

    return json.loads(data, object_pairs_hook=unique)


def read_files(certificate: bytes, weights: bytes, sidecar: bytes, **others: bytes) -> tuple[Any, Weights]:
    """Returns the certificate and the model. Raises Rejected where a digest is of another file. others: by their field."""
    if max(map(len, (certificate, weights, sidecar, *others.values()))) > MOST_BYTES:
        reject("a file is too large")
    document = read_json(certificate)
    for name, data in {"weights": weights, **others}.items():
        if document[name] != hashlib.sha256(data).hexdigest():
            reject(f"{name}: the digest is of another file")
    if weights[:1] == b"{":
        return document, read_rows(read_json(weights))
    return document, read_tensors(weights, read_json(sidecar)["vocabulary"], document["families"])


def read_rows(data: Any, case: Case | None = None) -> Weights:
    """Reads exact rows. case: of which n."""

    def row(item: Mapping[str, str]) -> Row:
        return [(i, w) for i, w in sorted((coordinate(i), parse(w, case)) for i, w in item.items()) if w]

    def rows(item: Mapping[str, Any]) -> list[tuple[int, Row]]:
        return sorted((coordinate(i), row(one)) for i, one in item.items())

    families = {
        name: Family(whole(f["low"], case), whole(f["high"], case), dict(row(f["rows"])))
        for name, f in data["families"].items()
    }
    for name, family in families.items():
        if family.low > family.high:
            reject(f"weights: family {name!r} has no number")
    blocks = []
    for block in data["blocks"]:
        heads = [Head(*([row(r) for r in head[part]] for part in ("query", "key", "value"))) for head in block["heads"]]
        units = [
            Unit(row(u["gate"]), parse(u["gate_bias"], case), row(u["up"]), parse(u["up_bias"], case))
            for u in block["units"]
        ]
        down = sorted((coordinate(i), row(one), parse(bias, case)) for i, (one, bias) in block["down"].items())
        carry, feed = dict(rows(block["carry"])), dict(rows(block["feed"]))
        blocks.append(Block(heads, rows(block["out"]), units, down, carry, feed))
    words = {word: dict(row(one)) for word, one in data["words"].items()}
    return Weights(families, words, dict(row(data["position"])), blocks)


def read_tensors(data: bytes, vocabulary: Sequence[str], families: Mapping[str, Any]) -> Weights:
    """Reads a model of one n from a `.safetensors` file.

    families: name → [the first row, the least number, the largest]. Their rows must be a polynomial of degree two, at most, of
    the number.
    """
    found = tensors(data)
    if found.pop("unembed") != found["embed.words"]:
        reject("weights: the output head is not the embedding")
    width = found["embed.words"][0][1]
    rows = [dict(row) for row in matrix(found, "embed.words", None, width)]
    position = dict(vector(found, "embed.position", width))
    if len(vocabulary) != len(rows) or len(set(vocabulary)) != len(rows):
        reject("vocabulary: as many different words are due as there are rows")
    listed: set[int] = set()
    described = {}
    for name, (first, low, high) in families.items():
        some = range(whole(first), first + whole(high) - whole(low) + 1)
        if not some or some[0] < 0 or some[-1] >= len(rows) or not listed.isdisjoint(some):
            reject(f"family {name!r}: no such rows")
        listed |= set(some)
        described[name] = Family(low, high, interpolate([rows[i] for i in some], low))
    words = {word: rows[i] for i, word in enumerate(vocabulary) if i not in listed}
    blocks: list[Block] = []
    while any(name.startswith(f"blocks.{len(blocks)}.") for name in found):
        blocks.append(read_block(found, f"blocks.{len(blocks)}.", width))
    if found:
        reject(f"weights: {min(found)}: it is of no block")
    return Weights(described, words, position, blocks)


def read_block(found: Tensors, site: str, width: int) -> Block:
    heads: list[Head] = []
    out, start = [Row() for _ in range(width)], 0
    while f"{site}attn.{len(heads)}.W_Q" in found:
        one = f"{site}attn.{len(heads)}."
        query, key, value = (matrix(found, one + name, None, width) for name in ("W_Q", "W_K", "W_V"))
        if len(query) != len(key):
            reject(f"weights: {one}W_K: as many rows are due as W_Q has")
        for i, row in enumerate(matrix(found, one + "W_O", width, len(value))):
            out[i] += [(start + j, w) for j, w in row]
        heads.append(Head(query, key, value))
        start += len(value)
    carry, feed = {}, {}
    if f"{site}recurrence.A" in found:
        carry, feed = (
            {i: row for i, row in enumerate(matrix(found, f"{site}recurrence.{name}", width, width)) if row}
            for name in "AB"
        )
    site += "ffn."
    gate, up = matrix(found, site + "W_gate", None, width), matrix(found, site + "W_up", None, width)
    gates, ups = (dict(vector(found, site + name, len(gate))) for name in ("b_gate", "b_up"))
    if len(gate) != len(up):
        reject(f"weights: {site}W_up: as many rows are due as W_gate has")
    biases = dict(vector(found, site + "b_down", width))
    down = [(i, row, biases.get(i, {})) for i, row in enumerate(matrix(found, site + "W_down", width, len(gate)))]
    units = [Unit(g, gates.get(i, {}), u, ups.get(i, {})) for i, (g, u) in enumerate(zip(gate, up, strict=True))]
    return Block(
        heads, [(i, row) for i, row in enumerate(out) if row], units, [d for d in down if d[1] or d[2]], carry, feed
    )


Tensors = dict[str, tuple[list[int], tuple[float, ...]]]


def tensors(data: bytes) -> Tensors:
    """Returns each tensor's shape and numbers: no two share a byte, and none is left over."""
    (length,) = struct.unpack_from("<Q", data)
    header, body = read_json(data[8 : 8 + length]), data[8 + length :]
    header.pop("__metadata__", None)
    found: Tensors = {}
    end = 0
    for name, item in sorted(header.items(), key=lambda pair: (*pair[1]["data_offsets"], pair[0])):
        (first, last), shape, size = item["data_offsets"], item["shape"], 1
        for extent in shape:
            if whole(extent) < 0:
                reject(f"weights: {name}: no shape")
            size *= extent
        if item["dtype"] != "F64" or first != end or last != first + 8 * size or last > len(body):
            reject(f"weights: {name}: malformed")
        found[name], end = (shape, struct.unpack_from(f"<{size}d", body, first)), last
    if end != len(body):
        reject("weights: bytes are left over")
    return found


def matrix(found: Tensors, name: str, height: int | None, width: int | None) -> list[Row]:
    """Takes a matrix out of a file; returns its rows, zeros left out. Raises Rejected for another shape, or no finite number."""
    if name not in found:
        reject(f"weights: no {name}")
    shape, values = found.pop(name)
    if len(shape) != 2 or height not in (None, shape[0]) or width not in (None, shape[1]):
        reject(f"weights: {name}: another shape is due")
    rows = []
    for r in range(shape[0]):
        line = enumerate(values[r * shape[1] : (r + 1) * shape[1]])
        rows.append([(i, number(plain(Fraction(w)))) for i, w in line if w])
    return rows


def vector(found: Tensors, name: str, length: int) -> Row:
    if name not in found or found[name][0] != [length]:
        reject(f"weights: {name}: another shape is due")
    return [(i, number(plain(Fraction(w)))) for i, w in enumerate(found.pop(name)[1]) if w]


def interpolate(rows: Sequence[Mapping[int, Polynomial]], low: int) -> dict[int, Polynomial]:
    """Returns each coordinate as a polynomial of the number, from `low` on: through three rows, then compared with all."""
    result = {}
    for i in sorted({i for row in rows for i in row}):
        column = [Fraction(row.get(i, {}).get((), 0)) for row in rows]
        slope = column[1] - column[0] if len(column) > 1 else Fraction(0)
        bend = (column[2] - 2 * column[1] + column[0]) / 2 if len(column) > 2 else Fraction(0)
        slope -= bend
        for j, value in enumerate(column):
            if column[0] + j * slope + j * j * bend != value:
                reject(f"weights: number {low + j}: its row is no quadratic polynomial of it")
        terms = {
            (): column[0] - low * slope + low * low * bend,
            (NUMBER,): slope - 2 * low * bend,
            (NUMBER, NUMBER): bend,
        }
        result[i] = {m: plain(c) for m, c in terms.items() if c}
    return result


def require_shape(block: Block) -> None:
    """Raises Rejected unless rows over values and units read those that there are, and queries and keys have as many rows."""
    values = sum(len(head.value) for head in block.heads)
    if max(values, len(block.units), *(len(head.key) for head in block.heads), 0) > MOST_ROWS:
        reject(f"weights: a block has more than {MOST_ROWS} rows")
    if any(len(head.query) != len(head.key) for head in block.heads):
        reject("weights: as many key rows are due as query rows")
    for rows, many in ((block.out, values), ([(i, row) for i, row, _ in block.down], len(block.units))):
        if any(j >= many for _, row in rows for j, _ in row):
            reject("weights: a row reads a value or a unit that is not there")


def require_elements(weights: Weights, format_: Format, size: Integer) -> None:
    """Raises Rejected unless each weight is an element of the format, for each n."""
    sizes = State(format_, {SIZE: size}, {})  # a weight of another atom has no bounds
    every: list[Polynomial] = [w for row in (*weights.words.values(), weights.position) for w in row.values()]
    for block in weights.blocks:
        require_shape(block)
        matrices = [row for head in block.heads for row in (*head.query, *head.key, *head.value)]
        matrices += [row for unit in block.units for row in (unit.gate, unit.up)]
        matrices += [row for _, row in (*block.out, *block.carry.items(), *block.feed.items())]
        matrices += [row for _, row, _ in block.down]
        every += [w for row in matrices for _, w in row]
        every += [bias for unit in block.units for bias in (unit.gate_bias, unit.up_bias)]
        every += [bias for _, _, bias in block.down]
    for weight in {text_of(weight): weight for weight in every}.values():
        require_element(sizes, weight)
    for family in weights.families.values():
        numbers = replace(sizes, box={**sizes.box, NUMBER: Integer(family.low, family.high)})
        for weight in family.rows.values():
            require_element(numbers, weight)


def require_element(state: State, weight: Polynomial) -> None:
    if not names_of(weight) <= state.box.keys():
        reject(f"the weight {text_of(weight)} depends on more than n")
    if not state.on_grid(weight) or not state.format.covers(state.reach(weight, state.bounds(weight))):
        reject(f"the weight {text_of(weight)} is no element of the format")

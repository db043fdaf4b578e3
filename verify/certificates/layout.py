"""The order in which a file has the coordinates of the residual stream, and the heads of each block.

A file may have another order than its construction. The sidecar may say so: its `registers` name the coordinates, and its `blocks`
list the heads. Or the weights show it, if they are the construction's own in some order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from constructions.layers import Block, Matrix, Transformer, named_arrays
from verify.certificates.basis import Basis

Json: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Order:
    """The place in the construction of each coordinate of a file (registers), and of each head of each block (heads)."""

    registers: tuple[int, ...]
    heads: tuple[tuple[int, ...], ...]

    @property
    def is_own(self) -> bool:
        """Returns whether this is the construction's order."""
        return all(list(order) == sorted(order) for order in (self.registers, *self.heads))

    @property
    def basis(self) -> Basis:
        """Returns the order of coordinates as a basis."""
        width = range(len(self.registers))
        rows = [[Fraction(j == place) for j in width] for place in self.registers]
        return Basis(rows, [*zip(*rows, strict=True)])

    def under(self, basis: Basis) -> Basis:
        """Returns a basis of a file's registers as one of the construction's."""
        columns = [self.registers.index(own) for own in range(len(self.registers))]
        matrix = [[row[i] for i in columns] for row in basis.matrix]
        return Basis(matrix, [basis.inverse[i] for i in columns])

    def undo(self, model: Transformer) -> Transformer:
        """Returns a file's model in the construction's order."""
        model = self.basis.undo(model)
        if len(model.blocks) != len(self.heads):
            return model
        return replace(model, blocks=tuple(map(_with_heads, model.blocks, self.heads)))

    def put(self, names: Sequence[str]) -> tuple[str, ...]:
        """Returns the construction's registers in the file's order."""
        return tuple(names[place] for place in self.registers)

    def put_heads(self, names: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
        """Returns the names of the construction's heads in the file's order."""
        return tuple(tuple(of[i] for i in order) for of, order in zip(names, self.heads, strict=True))


def _with_heads(block: Block, order: Sequence[int]) -> Block:
    if len(block.heads) != len(order):
        return block
    return replace(block, heads=tuple(block.heads[order.index(own)] for own in range(len(order))))


def said(sidecar: Json, own: Json) -> tuple[Order, Json]:
    """Returns the order that a sidecar says, and what the construction's sidecar is in this order.

    own: the construction's sidecar. Where the other says no order, both are the construction's.
    """
    registers, due = [*own["registers"]], dict(own)
    places = sidecar.get("registers")
    if (
        isinstance(places, dict)
        and places.keys() == own["registers"].keys()
        and all(type(place) is int for place in places.values())
        and sorted(places.values()) == [*range(len(registers))]
    ):
        names = sorted(places, key=places.__getitem__)
        due["registers"] = places
        if sidecar.get("meanings") == own["meanings"]:  # they may stand in the new order too
            due["meanings"] = sidecar["meanings"]
    else:
        names = registers
    blocks, heads = [], []
    listed = sidecar["blocks"] if _is_list_of_heads(sidecar.get("blocks"), own["blocks"]) else own["blocks"]
    for mine, block in zip(own["blocks"], listed, strict=True):
        left = [json.dumps(head) for head in mine["heads"]]
        order = []
        for text in map(json.dumps, block["heads"]):
            if text in left:
                order.append(left.index(text))
                left[order[-1]] = ""
        whole = len(order) == len(left) == len(block["heads"])
        heads.append(tuple(order) if whole else tuple(range(len(left))))
        blocks.append({**mine, "heads": [mine["heads"][i] for i in heads[-1]]})
    due["blocks"] = blocks
    return Order(tuple(map(registers.index, names)), tuple(heads)), due


def _is_list_of_heads(blocks: object, own: Sequence[Json]) -> bool:
    return (
        isinstance(blocks, list)
        and len(blocks) == len(own)
        and all(isinstance(block, dict) and isinstance(block.get("heads"), list) for block in blocks)
    )


def same(model: Transformer, other: Transformer) -> bool:
    """Returns whether all weights of two models are the same."""
    mine, its = _arrays(model), _arrays(other)
    return mine.keys() == its.keys() and all(
        mine[name].shape == its[name].shape and bool((mine[name] == its[name]).all()) for name in mine
    )


def _arrays(model: Transformer) -> dict[str, Matrix]:
    blocks = {
        f"{i}.{name}": array for i, block in enumerate(model.blocks) for name, array in named_arrays(block).items()
    }
    return {"words": model.words, "position": model.position, "unembed": model.unembed, **blocks}


def find_order(model: Transformer, own: Transformer) -> Order | None:
    """Returns an order in which a file's weights are exactly the construction's; None if none is found.

    Coordinates, and heads, are told apart by what stands in their columns, then by what these heads and coordinates are, until
    that tells no more of them apart. Those that are left alike are taken in order, and at last all weights are compared.
    """
    if model.width != own.width or [len(b.heads) for b in model.blocks] != [len(b.heads) for b in own.blocks]:
        return None
    kinds: dict[Hashable, int] = {}  # shared, so that the same number means the same thing in both models
    (mine, my_heads), (its, its_heads) = (_told_apart(one, kinds) for one in (model, own))
    pairs = [(mine, its), *zip(my_heads, its_heads, strict=True)]
    if any(Counter(a) != Counter(b) for a, b in pairs):
        return None
    registers, *heads = (_match_all(a, b) for a, b in pairs)
    order = Order(registers, tuple(heads))
    return order if same(order.undo(model), own) else None


def _match_all(mine: Sequence[int], its: Sequence[int]) -> tuple[int, ...]:
    """Returns for each of mine one of its that is alike, the first that is not taken."""
    places: dict[int, Iterator[int]] = {kind: iter([i for i, k in enumerate(its) if k == kind]) for kind in set(its)}
    return tuple(next(places[kind]) for kind in mine)


def _told_apart(model: Transformer, kinds: dict[Hashable, int]) -> tuple[list[int], list[list[int]]]:
    """Returns the kind of each coordinate, and of each head of each block."""

    def kind(what: Hashable) -> int:
        return kinds.setdefault(what, len(kinds))

    def columns(matrices: Sequence[Matrix]) -> list[bytes]:
        """Returns what stands in each coordinate's columns; −0 is 0."""
        return [b"".join((0.0 + matrix[:, j]).tobytes() for matrix in matrices) for j in range(model.width)]

    plain = [model.words, model.unembed, model.position[None]]
    for block in model.blocks:
        ffn = block.feed_forward
        plain += [ffn.gate, ffn.up, ffn.down.T, ffn.down_bias[None]]
    coordinates = [kind(("column", text)) for text in columns(plain)]
    heads = [[columns((h.query, h.key, h.value, h.out.T)) for h in block.heads] for block in model.blocks]
    pairs = [matrix for b in model.blocks if b.recurrence for matrix in (b.recurrence.carry, b.recurrence.feed)]
    many = 0
    while True:
        of_heads = [
            [kind(("head", i, tuple(sorted(zip(coordinates, head, strict=True))))) for head in block]
            for i, block in enumerate(heads)
        ]
        touched: list[list[Hashable]] = [[] for _ in coordinates]
        for of_block, in_block in zip(of_heads, heads, strict=True):
            for of_head, head in zip(of_block, in_block, strict=True):
                for j, column in enumerate(head):
                    touched[j].append((of_head, column))
        for number, matrix in enumerate(pairs):
            for j, k in np.argwhere((matrix != 0) | (matrix.T != 0)).tolist():
                touched[j].append((number, coordinates[k], 0.0 + matrix[j, k], 0.0 + matrix[k, j]))
        told = [tuple(sorted(items, key=repr)) for items in touched]
        coordinates = [kind(("coordinate", *item)) for item in zip(coordinates, told, strict=True)]
        if len(set(coordinates)) == many:
            return coordinates, of_heads
        many = len(set(coordinates))

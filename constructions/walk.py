"""What a layer does, once, over any kind of numbers.

Source: section 3, definitions 3.1 to 3.5.
A domain says what a row, a gated unit, a head's read, a state and a residual addition are: columns of integers in the dense
engine, forms of gates in a circuit, terms in a program. The reference engine and the ideal model have walks of their own on
purpose, as the others are compared with them. Two more need another order. The engines
`native` and `incremental` write machine code. In the static checker a gate may split what is known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from constructions.rows import HeadRows, Layer, Recurrent, Row, Weight

V = TypeVar("V")
Values: TypeAlias = Sequence[V] | Mapping[int, V]


class Domain(ABC, Generic[V]):
    """Numbers of one kind on their way through the layers. block: counted from 1. stream: the registers."""

    block: int = 0
    stream: Values[V]

    @abstractmethod
    def row(self, row: Row, bias: Weight, values: Values[V]) -> V:
        """Returns Σ weight·value + bias."""

    def rows(self, rows: Sequence[tuple[Row, Weight]], values: Values[V]) -> Sequence[V]:
        """Returns Σ weight·value + bias of each row."""
        return [self.row(row, bias, values) for row, bias in rows]

    @abstractmethod
    def unit(self, gate: V, up: V) -> V:
        """Returns ReLU(gate)·up."""

    @abstractmethod
    def read(self, head: HeadRows, number: int) -> Sequence[V]:
        """Returns what a head reads, before W_O. number: of the head in its block, from 0."""

    @abstractmethod
    def states(self, recurrence: Recurrent) -> Iterable[tuple[int, V]]:
        """Returns the registers that the recurrence keeps, with their states."""

    @abstractmethod
    def write(self, changes: Iterable[tuple[int, V]]) -> None:
        """Adds to registers of the stream."""


def mix(domain: Domain[V], layer: Layer) -> None:
    """Computes the heads of a layer, or its recurrence: a layer has not both."""
    if layer.recurrence is not None:
        domain.write(domain.states(layer.recurrence))
        return
    read = [value for i, head in enumerate(layer.heads) for value in domain.read(head, i)]
    domain.write((r, domain.row(row, 0, read)) for r, row in layer.out)


def feed_forward(domain: Domain[V], layer: Layer) -> None:
    """Computes the layer's ReGLU units."""
    units, down = layer.feed_forward.units, layer.feed_forward.down
    gates = domain.rows([(unit.gate, unit.gate_bias) for unit in units], domain.stream)
    ups = domain.rows([(unit.up, unit.up_bias) for unit in units], domain.stream)
    hidden = [domain.unit(*pair) for pair in zip(gates, ups, strict=True)]
    domain.write((r, domain.row(row, bias, hidden)) for r, row, bias in down)


def walk(domain: Domain[V], layers: Iterable[Layer]) -> Iterator[Layer]:
    """Computes layer after layer. Yields each layer twice: after its heads or its recurrence, and after its feed-forward."""
    for domain.block, layer in enumerate(layers, start=1):
        mix(domain, layer)
        yield layer
        feed_forward(domain, layer)
        yield layer

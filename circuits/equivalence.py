"""Whether two circuits are equal, decided by SAT.

Both circuits go over the same inputs into one *miter*, where equal gates are shared already; sweep.py then proves gates of
the one equal to gates of the other, from the inputs to the outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from circuits.builder import Builder
from circuits.circuit import Circuit
from circuits.sweep import first_difference

T = TypeVar("T")


@dataclass(frozen=True)
class Difference:
    """Bits on which two circuits differ. output: the first that does, `next …` for a state bit. values: of both."""

    inputs: Mapping[str, int]
    states: Mapping[str, int]
    output: str
    values: tuple[int, int]

    def __str__(self) -> str:
        bits = " ".join(f"{name}={bit}" for name, bit in {**self.inputs, **self.states}.items())
        return f"{self.output} is {self.values[0]} in the first and {self.values[1]} in the second at {bits}"


def find_difference(first: Circuit, second: Circuit) -> Difference | None:
    """Bits on which the circuits differ, or None: then they are equal on all.

    Raises ValueError if they do not have the same inputs, state bits and outputs, in whatever order, or start
    differently.
    """
    _check_interface(first, second)
    miter, names = _miter(first, second)
    difference = first_difference(miter, list(zip(miter.outputs[::2], miter.outputs[1::2], strict=True)))
    if difference is None:
        return None
    pair, case = difference
    inputs = dict(zip(miter.inputs, case.inputs, strict=True))
    states = dict(zip(miter.states, case.states, strict=True))
    values = [named_values(circuit, inputs, states)[names[pair]] for circuit in (first, second)]
    return Difference(inputs, states, names[pair], (values[0], values[1]))


def match_by_position(first: Circuit, second: Circuit) -> tuple[Circuit, list[str]]:
    """Returns the second circuit with the first one's names where its file names none, and which kinds of bits got them.

    AIGER's table of names is optional. A kind of bits without names gets those of the first circuit, in their order, if there
    are as many; another number of bits is left as it is, so that `find_difference` refuses it.
    """
    matched: list[str] = []
    for what, attribute, letter in (
        ("inputs", "inputs", "i"),
        ("state bits", "states", "l"),
        ("outputs", "output_names", "o"),
    ):
        ours, theirs = getattr(first, attribute), getattr(second, attribute)
        unnamed = theirs in [tuple(f"{x}{i}" for i in range(len(theirs))) for x in (letter, "b")]
        if unnamed and len(ours) == len(theirs) and set(ours) != set(theirs):
            second = replace(second, **{attribute: ours})
            matched.append(what)
    return second, matched


def named_values(circuit: Circuit, inputs: Mapping[str, int], states: Mapping[str, int]) -> dict[str, int]:
    """Each output's value, and that of each `next` state bit."""
    outputs, following = circuit.run([inputs[x] for x in circuit.inputs], [states[x] for x in circuit.states])
    return _named(circuit, outputs, following)


def _named(circuit: Circuit, outputs: Sequence[T], following: Sequence[T]) -> dict[str, T]:
    result = dict(zip(circuit.output_names, outputs, strict=True))
    return result | {f"next {name}": x for name, x in zip(circuit.states, following, strict=True)}


def _check_interface(first: Circuit, second: Circuit) -> None:
    pairs = (("input", first.inputs, second.inputs), ("output", first.output_names, second.output_names))
    for what, ours, theirs in (*pairs, ("state bit", first.states, second.states)):
        for here, there, which in ((ours, theirs, "second"), (theirs, ours, "first")):
            if missing := [name for name in here if name not in there]:
                raise ValueError(f"the {which} circuit has no {what} {missing[0]!r}")
    starts = [dict(zip(circuit.states, circuit.initial, strict=True)) for circuit in (first, second)]
    for name in first.states:
        if starts[0][name] != starts[1][name]:
            raise ValueError(f"state bit {name!r} starts as {starts[0][name]} in the first circuit, not in the second")


def _miter(first: Circuit, second: Circuit) -> tuple[Circuit, list[str]]:
    """Both circuits over the same bits, with pairs of outputs that should be equal; and the names of the pairs."""
    builder = Builder()
    inputs = {name: builder.input(name) for name in first.inputs}
    states = {name: builder.state(name) for name in first.states}
    sides = [
        _named(c, *builder.add(c, [inputs[x] for x in c.inputs], [states[x] for x in c.states]))
        for c in (first, second)
    ]
    pairs = {f"{side}: {name}": sides[side][name] for name in sides[0] for side in (0, 1)}
    return builder.circuit(pairs, list(states.values())), list(sides[0])

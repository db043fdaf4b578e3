"""Whether two circuits are equal, decided by SAT.

Both circuits go over the same inputs into one *miter*, where equal gates are shared already; each pair of outputs is
then a question to CaDiCaL: can they differ? What is proven of one output is a clause for the next.
Source: G. S. Tseitin, On the complexity of derivation in propositional calculus, 1968, for the clauses of a gate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pysat.solvers import Solver

from circuits.builder import Builder
from circuits.circuit import Circuit, Kind

SOLVER = "cadical195"
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
    with Solver(name=SOLVER, bootstrap_with=clauses(miter)) as solver:
        for left, right, name in zip(miter.outputs[::2], miter.outputs[1::2], names, strict=True):
            for literals in ([left + 1, -right - 1], [-left - 1, right + 1]):
                if left != right and solver.solve(assumptions=literals):
                    model = [int(literal > 0) for literal in solver.get_model()]
                    inputs, states = _bits(miter, Kind.INPUT, model), _bits(miter, Kind.STATE, model)
                    values = (named_values(c, inputs, states)[name] for c in (first, second))
                    return Difference(inputs, states, name, (next(values), next(values)))
                solver.add_clause([-literal for literal in literals])
    return None


def clauses(circuit: Circuit) -> list[list[int]]:
    """What the gates mean, in conjunctive form; gate g is variable g + 1."""
    result: list[list[int]] = []
    for x, (kind, left, right) in enumerate(circuit.gates, start=1):
        a, b = left + 1, right + 1
        if kind is Kind.ONE:
            result += [[x]]
        elif kind is Kind.AND:
            result += [[-x, a], [-x, b], [x, -a, -b]]
        elif kind is Kind.XOR:
            result += [[-x, a, b], [-x, -a, -b], [x, -a, b], [x, a, -b]]
    return result


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


def _bits(circuit: Circuit, kind: Kind, model: Sequence[int]) -> dict[str, int]:
    names = circuit.inputs if kind is Kind.INPUT else circuit.states
    return {names[gate.left]: model[i] for i, gate in enumerate(circuit.gates) if gate.kind is kind}

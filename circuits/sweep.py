"""Which gates of a circuit are equal, proven bottom up: SAT sweeping.

Gates that agree on every case that was run are asked about, the first ones first: can they differ? Those that cannot become
one gate for all that comes behind them, so that later questions are small; a case in which they do is run too, with cases near it.
Source: A. Kuehlmann, V. Paruthi, F. Krohm and M. K. Ganai, Robust Boolean Reasoning for Equivalence Checking and Functional
Property Verification, 2002; G. S. Tseitin, On the complexity of derivation in propositional calculus, 1968, for the clauses.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from operator import and_

from pysat.solvers import Solver

from circuits.builder import Bit, Builder
from circuits.circuit import Circuit, Gate, Kind

SOLVER = "cadical195"
DRAWN, SPARSE = 256, (1, 2, 3, 4)
NEAR = 63  # cases that are run beside one that was found
FLIPPED = 5  # one bit of 2^5 is flipped there


@dataclass(frozen=True)
class Case:
    """A value for each input bit and each state bit."""

    inputs: tuple[int, ...]
    states: tuple[int, ...]


def first_difference(
    circuit: Circuit, pairs: Sequence[tuple[int, int]], sparse: Sequence[int] = SPARSE
) -> tuple[int, Case] | None:
    """The first pair of gates that is seen to differ, with a case in which it does; None if no pair ever differs.

    sparse: of the random cases that are run first, DRAWN for each h, with one bit of 2^h at 1.
    """
    with Solver(name=SOLVER) as solver:
        return _Sweep(circuit, pairs, solver).run(sparse)


class _Different(Exception):
    """A pair differs: its number, and the case."""

    def __init__(self, pair: int, case: Case) -> None:
        super().__init__()
        self.found = pair, case


class _Sweep:
    """bits: each gate of the circuit as one of a new circuit, in which equal gates are one.

    values: of the circuit's gates in all cases so far, as many as `lanes`. classes: a gate for each column of values or of
    negations. merged: gates of the new circuit that are others.
    """

    def __init__(self, circuit: Circuit, pairs: Sequence[tuple[int, int]], solver: Solver) -> None:
        self.circuit, self.pairs, self.solver = circuit, pairs, solver
        self.builder, self.random = Builder(), random.Random(0)
        self.states = [self.builder.state(name) for name in circuit.states]
        self.inputs = [self.builder.input(name) for name in circuit.inputs]
        self.bits: list[Bit] = []
        self.values, self.lanes = [0] * len(circuit.gates), 0
        self.classes: dict[int, int] = {}
        self.merged: dict[int, Bit] = {}
        self.told = 0  # gates of the new circuit whose clauses the solver has

    def run(self, sparse: Sequence[int]) -> tuple[int, Case] | None:
        """The first pair that differs."""
        try:
            for halvings in sparse:
                self._draw(halvings)
            for number, gate in enumerate(self.circuit.gates):
                self.bits.append(self._swept(number, self._made(gate)))
        except _Different as different:
            return different.found
        if any(self.bits[left] != self.bits[right] for left, right in self.pairs):
            raise ValueError("the sweep ended with outputs that are not seen to be equal")
        return None

    def _draw(self, halvings: int) -> None:
        """Runs random cases, with one bit of 2^halvings at 1."""
        self._look(lambda _: self._sparse(DRAWN, halvings), DRAWN)

    def _made(self, gate: Gate) -> Bit:
        """A gate over what its operands have become."""
        kind, left, right = gate
        if kind is Kind.ONE:
            return self.builder.one
        if not gate.computes:
            return (self.inputs if kind is Kind.INPUT else self.states)[left]
        a, b = self.bits[left], self.bits[right]
        bit = a & b if kind is Kind.AND else a ^ b
        return self.merged.get(bit.id, bit)

    def _swept(self, number: int, bit: Bit) -> Bit:
        """An earlier gate that always equals this one, or else itself."""
        while True:
            column, negated = self._column(number)
            if column in self.classes:
                other = self.bits[self.classes[column]]
                other ^= self.builder.constant(negated ^ self._column(self.classes[column])[1])
            elif column:
                self.classes[column] = number
                return bit
            else:
                other = self.builder.constant(negated)
            if other == bit:
                return bit
            if self._equal(bit, other):
                self.merged[bit.id] = other  # no gate has read it, so that no negation of it is about
                return other

    def _equal(self, bit: Bit, other: Bit) -> bool:
        """Whether two bits never differ; the solver learns that. If they do, a case in which they do is run."""
        self.solver.append_formula(clauses(self.builder.gates, self.told))
        self.told = len(self.builder.gates)
        x, y = bit.id + 1, other.id + 1
        for literals in ([x, -y], [-x, y]):
            if self.solver.solve(assumptions=literals):
                self._learn({literal for literal in self.solver.get_model() if literal > 0})
                return False
            self.solver.add_clause([-literal for literal in literals])
        return True

    def _learn(self, true: Set[int]) -> None:
        """Runs a case in which gates differ that did not so far, and cases near it. true: the solver's variables that are."""
        self._look(lambda leaf: self._near(leaf.id + 1 in true), NEAR + 1)
        self.classes = {self._column(gate)[0]: gate for gate in self.classes.values()}

    def _near(self, bit: bool) -> int:
        """The values of a bit in a case, and in cases near it."""
        return (self._sparse(NEAR, FLIPPED) << 1) ^ (bit * ((2 << NEAR) - 1))

    def _sparse(self, lanes: int, halvings: int) -> int:
        """Random values of a bit, 1 in one of 2^halvings cases."""
        return reduce(and_, (self.random.getrandbits(lanes) for _ in range(halvings)))

    def _look(self, value: Callable[[Bit], int], lanes: int) -> None:
        """Runs more cases, with these values of the leaves. Raises _Different if a pair differs in one of them."""
        inputs, states = ([value(leaf) for leaf in leaves] for leaves in (self.inputs, self.states))
        new = self.circuit.values(inputs, states, lanes)
        for i, (left, right) in enumerate(self.pairs):
            if differ := new[left] ^ new[right]:
                lane = differ.bit_length() - 1
                raise _Different(i, Case(*(tuple(x >> lane & 1 for x in leaves) for leaves in (inputs, states))))
        self.values = [old | (more << self.lanes) for old, more in zip(self.values, new, strict=True)]
        self.lanes += lanes

    def _column(self, gate: int) -> tuple[int, bool]:
        """A gate's values, or their negation, whichever begins with 0; and whether it is the negation."""
        values = self.values[gate]
        return (values ^ ((1 << self.lanes) - 1), True) if values & 1 else (values, False)


def clauses(gates: Sequence[Gate], first: int = 0) -> list[list[int]]:
    """What the gates from the first on mean, in conjunctive form; gate g is variable g + 1."""
    result: list[list[int]] = []
    for x, (kind, left, right) in enumerate(gates[first:], start=first + 1):
        a, b = left + 1, right + 1
        if kind is Kind.ONE:
            result += [[x]]
        elif kind is Kind.AND:
            result += [[-x, a], [-x, b], [x, -a, -b]]
        elif kind is Kind.XOR:
            result += [[-x, a, b], [-x, -a, -b], [x, -a, b], [x, a, -b]]
    return result

"""Which gates of a circuit are equal, proven bottom up: SAT sweeping.

Gates that agree on every case that was run are asked about, the first ones first: can they differ? Those that cannot become
one gate for all that comes after them, so that later questions are small; a case in which they do is run too, with cases near it.
Source: A. Kuehlmann, V. Paruthi, F. Krohm and M. K. Ganai, Robust Boolean Reasoning for Equivalence Checking and Functional
Property Verification, 2002; G. S. Tseitin, On the complexity of derivation in propositional calculus, 1968, for the clauses.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from operator import and_

from pysat.solvers import Solver

from circuits.circuit import Circuit, Gate, GateKind
from circuits.refutation import Refutation

SOLVER = "glucose4"  # it writes what it learns at once
DRAWN, SPARSE = 256, (1, 2, 3, 4)
NEAR = 63  # cases that are run beside one that was found
FLIPPED = 5  # one bit of 2^5 is flipped there


@dataclass(frozen=True)
class BitCase:
    """A value for each input bit and each state bit."""

    inputs: tuple[int, ...]
    states: tuple[int, ...]


@dataclass(frozen=True)
class Equality:
    """No pair of gates ever differs. proof: of `verify.trusted.sat.check_equal`, line by line; none if nobody asked for it."""

    proof: tuple[str, ...]


def sweep(
    circuit: Circuit, pairs: Sequence[tuple[int, int]], sparse: Sequence[int] = SPARSE, *, proof: bool = True
) -> tuple[int, BitCase] | Equality:
    """Returns the first pair of gates that is seen to differ, with a case in which it does; a proof if no pair ever differs.

    sparse: of the random cases that are run first, DRAWN for each h, with one bit of 2^h at 1.
    """
    with Solver(name=SOLVER, with_proof=proof) as solver:
        return _Sweep(circuit, pairs, solver).run(sparse, proof)


class _Different(Exception):
    """A pair differs: its number, and the case."""

    def __init__(self, pair: int, case: BitCase) -> None:
        super().__init__()
        self.found = pair, case


class _Sweep:
    """Gate g is the variable g + 1, and one more variable is 1.

    literals: for each gate so far an earlier gate that it equals, or itself. equal: for a gate that has another literal, and for
    its negation, the number of the clause that says so. made: gates by what they compute, to find the same one again.
    values: of the circuit's gates in all cases so far, as many as `lanes`. classes: a gate for each column of values or of
    negations.
    """

    def __init__(self, circuit: Circuit, pairs: Sequence[tuple[int, int]], solver: Solver) -> None:
        self.circuit, self.pairs, self.solver = circuit, pairs, solver
        self.random = random.Random(0)
        self.one = len(circuit.gates) + 1
        self.meanings = [
            meaning(gate.kind, x, gate.left + 1, gate.right + 1) for x, gate in enumerate(circuit.gates, 1)
        ]
        self.ends = _ends(pairs, self.one)
        self.refutation = Refutation([c for clauses in (*self.meanings, self.ends) for c in clauses])
        self.literals: list[int] = []
        self.equal: dict[int, int] = {}
        self.made: dict[tuple[GateKind, int, int], int] = {}
        self.values, self.lanes = [0] * len(circuit.gates), 0
        self.classes: dict[int, int] = {}
        self.length = 0  # of what the solver wrote and was read

    def run(self, sparse: Sequence[int], proof: bool) -> tuple[int, BitCase] | Equality:
        """Returns the result: the first pair that differs, or that none does."""
        number = 1
        first_end = self.refutation.given - len(self.ends)
        self.refutation.use(first_end)
        self.solver.add_clause([self.one])
        try:
            for halvings in sparse:
                self._draw(halvings)
            for gate, clauses in zip(self.circuit.gates, self.meanings, strict=True):
                self._add(gate, clauses, number)
                number += len(clauses)
        except _Different as different:
            return different.found
        if any(self.literals[left] != self.literals[right] for left, right in self.pairs):
            raise ValueError("the sweep ended with outputs that are not seen to be equal")
        if not proof:
            return Equality(())
        from circuits.propagation import lrat_lines  # machine code, for those who ask for a proof

        self._conclude(first_end)
        return Equality(tuple(lrat_lines(self.refutation)))

    def _draw(self, halvings: int) -> None:
        """Runs random cases, with one bit of 2^halvings at 1."""
        self._look(lambda _: self._sparse(DRAWN, halvings), DRAWN)

    def _add(self, gate: Gate, clauses: Sequence[Sequence[int]], number: int) -> None:
        """Finds the literal of the next gate. number: of the first of its clauses."""
        x = len(self.literals) + 1
        a, b = (self._literal(operand + 1) if gate.computes else 0 for operand in gate[1:])
        known = self._simplify(gate.kind, x, a, b)
        other = known if abs(known) in (x, self.one) else self._literal(known)
        told = []
        for i, (clause, reduced) in enumerate(zip(clauses, meaning(gate.kind, x, a, b), strict=True), start=number):
            if hints := [self.equal[y] for y, z in zip(clause, reduced, strict=True) if y != z]:
                reduced = list(dict.fromkeys(reduced))
                if not any(-y in reduced for y in reduced):
                    told.append(self.refutation.state(reduced, (*hints, i)))
            else:
                self.refutation.use(i)
                told.append(i)
        if other == x:
            self.solver.append_formula([self.refutation.clauses[i] for i in told])
            self.literals.append(self._swept(x))
            return
        self.literals.append(other)
        helpers = []
        if gate.kind is GateKind.XOR:  # no propagation sees it without the value of an operand
            helpers = [self.refutation.state(c) for c in ([-x, other, a], [x, -other, a]) if len(set(map(abs, c))) == 3]
        self._equate(x, other)
        for i in (*told, *helpers):
            self.refutation.forget(i)

    def _simplify(self, kind: GateKind, x: int, a: int, b: int) -> int:
        """Returns the literal that a gate equals by what its operands are; itself if it is new."""
        if kind is GateKind.ONE:
            return self.one
        if kind not in (GateKind.AND, GateKind.XOR):
            return x
        a, b = sorted((a, b), key=abs)
        if abs(b) == self.one or abs(a) == abs(b):
            if kind is GateKind.XOR:
                if abs(b) == self.one:
                    return -a if b > 0 else a
                return -self.one if a == b else self.one
            return a if b in (self.one, a) else -self.one
        if kind is GateKind.AND:
            return self.made.setdefault((kind, a, b), x)
        sign = 1 if (a > 0) == (b > 0) else -1
        return sign * self.made.setdefault((kind, abs(a), abs(b)), sign * x)

    def _literal(self, literal: int) -> int:
        """Returns what stands for a literal."""
        return self.literals[literal - 1] if literal > 0 else -self.literals[-literal - 1]

    def _equate(self, x: int, other: int) -> None:
        """States that a gate equals a literal."""
        self.equal[x], self.equal[-x] = (self.refutation.state(clause) for clause in ([-x, other], [x, -other]))
        for literal in (x, -x):
            self.refutation.forget(self.equal[literal])

    def _swept(self, x: int) -> int:
        """Returns a literal of an earlier gate that always equals this one, or else itself."""
        while True:
            column, negated = self._column(x - 1)
            if column in self.classes:
                other = self.classes[column] + 1
                other = other if negated == self._column(other - 1)[1] else -other
            elif column:
                self.classes[column] = x - 1
                return x
            else:
                other = self.one if negated else -self.one
            if self._equal(x, other):
                return other

    def _equal(self, x: int, other: int) -> bool:
        """Returns whether two literals never differ; the solver learns that. If they do, runs a case in which they do."""
        for clause in ([-x, other], [x, -other]):
            if self.solver.solve(assumptions=[-literal for literal in clause]):
                self._learn({literal for literal in self.solver.get_model() if literal > 0})
                return False
            self._read()
            number = self.refutation.state(clause)
            self.equal[x if clause[0] < 0 else -x] = number
            self.solver.add_clause(clause)
        return True

    def _read(self) -> None:
        """Reads what the solver learned since this was called last."""
        if self.solver.solver.prfile is None:
            return
        descriptor = self.solver.solver.prfile.fileno()
        new = os.pread(descriptor, os.fstat(descriptor).st_size - self.length, self.length)
        self.length += len(new)
        self.refutation.read(new.decode())

    def _conclude(self, number: int) -> None:
        """States that no pair differs, so that the clauses contradict each other. number: of the first clause after the gates."""
        refutation = self.refutation
        for gate in {gate for pair in self.pairs for gate in pair}:
            for literal in (gate + 1, -gate - 1):
                if literal in self.equal:
                    same = self.equal[literal]
                    refutation.state(refutation.clauses[same], (same,))  # a clause that was forgotten cannot come back
        for i in range(number + 1, refutation.given):
            refutation.use(i)
        for i, (left, _) in enumerate(self.pairs, start=1):
            refutation.state([-self.one - i, left + 1])
            refutation.state([-self.one - i])
        refutation.state([])

    def _learn(self, true: Set[int]) -> None:
        """Runs a case in which gates differ that did not so far, and cases near it. true: the solver's variables that are."""
        self._look(lambda leaf: self._near(leaf + 1 in true), NEAR + 1)
        self.classes = {self._column(gate)[0]: gate for gate in self.classes.values()}

    def _near(self, bit: bool) -> int:
        """Returns the values of a bit in a case, and in cases near it."""
        return (self._sparse(NEAR, FLIPPED) << 1) ^ (bit * ((2 << NEAR) - 1))

    def _sparse(self, lanes: int, halvings: int) -> int:
        """Draws values of a bit, 1 in one of 2^halvings cases."""
        return reduce(and_, (self.random.getrandbits(lanes) for _ in range(halvings)))

    def _look(self, value: Callable[[int], int], lanes: int) -> None:
        """Runs more cases, with these values of the leaves. Raises _Different if a pair differs in one of them."""
        leaves = {gate[:2]: number for number, gate in enumerate(self.circuit.gates) if not gate.computes}
        inputs, states = (
            [value(leaves[kind, i]) if (kind, i) in leaves else 0 for i in range(len(names))]
            for kind, names in ((GateKind.INPUT, self.circuit.inputs), (GateKind.STATE, self.circuit.states))
        )
        new = self.circuit.values(inputs, states, lanes)
        for i, (left, right) in enumerate(self.pairs):
            if differ := new[left] ^ new[right]:
                lane = differ.bit_length() - 1
                raise _Different(i, BitCase(*(tuple(x >> lane & 1 for x in leaves) for leaves in (inputs, states))))
        self.values = [old | (more << self.lanes) for old, more in zip(self.values, new, strict=True)]
        self.lanes += lanes

    def _column(self, gate: int) -> tuple[int, bool]:
        """Returns a gate's values, or their negation, whichever begins with 0; and whether it is the negation."""
        values = self.values[gate]
        return (values ^ ((1 << self.lanes) - 1), True) if values & 1 else (values, False)


def meaning(kind: GateKind, x: int, a: int, b: int) -> list[list[int]]:
    """Returns what a gate means, in conjunctive form. x, a, b: literals of the gate and its operands."""
    if kind is GateKind.ONE:
        return [[x]]
    if kind is GateKind.AND:
        return [[-x, a], [-x, b], [x, -a, -b]]
    if kind is GateKind.XOR:
        return [[-x, a, b], [-x, -a, -b], [x, -a, b], [x, a, -b]]
    return []


def _ends(pairs: Sequence[tuple[int, int]], one: int) -> list[list[int]]:
    """Returns that a variable is 1, and that a pair of gates differs: the i-th one if the variable `one` + i is 1."""
    result = [[one]]
    for i, (left, right) in enumerate(pairs, start=1):
        result += [[-one - i, left + 1, right + 1], [-one - i, -left - 1, -right - 1]]
    return [*result, [one + i for i in range(1, len(pairs) + 1)]]

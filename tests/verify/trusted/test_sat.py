"""The checker of refutations: it accepts what the sweep makes, and nothing that is false.

Oracles: every case of a small circuit, and other SAT solvers, which also propagate without hints.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

from circuits.circuit import Circuit
from circuits.equivalence import EqualCircuits, compare, plain_gates
from circuits.obvious import obvious
from circuits.operations import OPERATIONS
from circuits.sweep import Equality, sweep
from tests.circuits.test_sweep import RECIPES, Recipe, circuit, in_every_case
from verify.trusted import sat
from verify.trusted.sat import Rejected

# (1 ∨ 2) ∧ (1 ∨ ¬2) ∧ (¬1 ∨ 3) ∧ (¬1 ∨ ¬3)
FORMULA = [[1, 2], [1, -2], [-1, 3], [-1, -3]]
PROOF = ("5 1 0 1 2 0", "6 0 5 3 4 0")
NEAR_MISSES = {
    "the last hint is missing": ("5 1 0 1 0", "6 0 5 3 4 0"),
    "no hint at all": ("5 1 0 0", "6 0 5 3 4 0"),
    "a hint with two open literals": ("5 1 0 3 0", "6 0 5 3 4 0"),
    "the open one of two comes last": ("5 2 0 3 4 0", "6 0 5 3 4 0"),
    "a clause that does not exist": ("5 1 0 1 7 0", "6 0 5 3 4 0"),
    "a step that uses itself": ("5 1 0 5 0", "6 0 5 3 4 0"),
    "a number that is taken": ("4 1 0 1 2 0", "6 0 4 3 4 0"),
    "a number that is taken, in steps that are right": ("2 1 0 1 2 0", "6 0 2 3 4 0"),
    "a clause that was forgotten": ("5 1 0 1 2 0", "5 d 3 0", "6 0 5 3 4 0"),
    "no step without literals": ("5 1 0 1 2 0", "6 2 0 5 3 4 0"),
    "no end of the hints": ("5 1 0 1 2", "6 0 5 3 4 0"),
    "another number where the hints must end": ("5 1 0 1 2 9", "6 0 5 3 4 0"),
    "no end of the literals": ("5 1", "6 0 5 3 4 0"),
    "no end of what is forgotten": ("5 1 0 1 2 0", "5 d 1", "6 0 5 3 4 0"),
    "no number": ("5 1 0 1 2 0", "6 0 5 3 four 0"),
    "an empty line": ("5 1 0 1 2 0", "", "6 0 5 3 4 0"),
    "another literal": ("5 -1 0 1 2 0", "6 0 5 3 4 0"),
    "no line": (),
}


def accepted(formula: Sequence[Sequence[int]], proof: Sequence[str]) -> bool:
    """True if the checker accepts the proof."""
    try:
        sat.check(formula, proof)
    except Rejected:
        return False
    return True


def is_satisfiable(formula: Sequence[Sequence[int]]) -> bool:
    """Says so by another solver."""
    with Solver(name="cadical195", bootstrap_with=formula) as solver:
        return bool(solver.solve())


def refuted_step_by_step(formula: Sequence[Sequence[int]], proof: Sequence[str]) -> bool:
    """True if propagation by another solver shows each clause of the proof, up to the empty one, without hints."""
    with Solver(name="minisat22", bootstrap_with=formula) as solver:
        for line in proof:
            if "d" not in line.split():
                numbers = list(map(int, line.split()))[1:]
                clause = numbers[: numbers.index(0)]
                possible, _ = solver.propagate(assumptions=[-x for x in clause])
                if possible and not any(-x in clause for x in clause):
                    return False
                if not clause:
                    return True
                solver.add_clause(clause)
    return False


def proof_of(operation: str, p: int) -> EqualCircuits:
    """The proof that an operation's circuit is the obvious one."""
    result = compare(OPERATIONS[operation].circuit(p), obvious(operation, p))
    assert isinstance(result, EqualCircuits)
    return result


def changed(proof: Sequence[str], chance: random.Random) -> list[str]:
    """The proof with one change: of a number, or a line that is left out, doubled, or at another place."""
    lines = list(proof)
    i = chance.randrange(len(lines))
    kind = chance.randrange(6)
    if kind < 4:
        words = lines[i].split()
        k = chance.randrange(len(words))
        word = int(words[k])
        words[k : k + 1] = [[], [str(-word)], [str(word + chance.choice((-1, 1)))], [words[k]] * 2][kind]
        lines[i] = " ".join(words)
    else:
        line = lines.pop(i)
        if kind == 5:
            lines.insert(chance.randrange(len(lines) + 1), line)
    return lines


def test_a_small_proof_is_accepted() -> None:
    sat.check(FORMULA, PROOF)
    sat.check(FORMULA, (PROOF[0], "5 d 1 2 0", PROOF[1], "what follows the end is not read"))


@pytest.mark.parametrize("proof", NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_a_near_miss_is_rejected(proof: tuple[str, ...]) -> None:
    with pytest.raises(Rejected):
        sat.check(FORMULA, proof)


def test_a_clause_with_the_literal_0_is_rejected() -> None:
    with pytest.raises(Rejected):
        sat.check([*FORMULA, [0]], ("6 1 0 1 2 0", "7 0 6 3 4 0"))


@pytest.mark.parametrize("gate", [("and", 2, 0), ("and", -1, 0), ("xor", 0, 2), ("xor", 0, -1), ("or", 0, 1)])
def test_what_is_no_gate_is_rejected(gate: sat.Gate) -> None:
    free = ("free", 0, 0)
    sat.clauses([free, free, ("and", 0, 1)], [(0, 2)])
    with pytest.raises(Rejected):
        sat.clauses([free, free, gate], [(0, 2)])


@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (-1, 0), (0, -1)])
def test_a_pair_of_what_is_no_gate_is_rejected(pair: tuple[int, int]) -> None:
    with pytest.raises(Rejected):
        sat.clauses([("free", 0, 0)], [pair])


@settings(max_examples=20)
@given(RECIPES, st.booleans())
def test_a_proof_goes_through_where_no_case_differs(recipe: Recipe, blind: bool) -> None:
    """Where a case differs, the clauses can be true, and the proof for other pairs is rejected."""
    made = circuit(recipe)
    columns = list(zip(*in_every_case(made).values(), strict=True))
    pairs = list(itertools.combinations(made.outputs, 2))
    equal = [pair for pair in pairs if columns[pair[0]] == columns[pair[1]]]
    proof = proof_in(made, equal, blind)
    sat.check_equal(plain_gates(made.gates), equal, proof)
    for pair in pairs[:: 1 + len(pairs) // 4]:
        differs = columns[pair[0]] != columns[pair[1]]
        assert is_satisfiable(sat.clauses(plain_gates(made.gates), [pair])) == differs
        if differs:
            with pytest.raises(Rejected):
                sat.check_equal(plain_gates(made.gates), [*equal, pair], proof)


def proof_in(made: Circuit, equal: Sequence[tuple[int, int]], blind: bool) -> Sequence[str]:
    """The proof that pairs are equal. blind: no case is run first, so that all is left to the solver."""
    result = sweep(made, equal, () if blind else (1, 2))
    assert isinstance(result, Equality)
    return result.proof


@pytest.mark.parametrize(("operation", "p"), [("negate", 5), ("relu", 7), ("compare", 7), ("add", 5), ("multiply", 5)])
def test_operations_have_proofs(operation: str, p: int) -> None:
    equal = proof_of(operation, p)
    sat.check_equal(equal.gates, equal.pairs, equal.proof)


def test_of_a_thousand_changed_proofs_only_valid_ones_are_accepted() -> None:
    equal, chance = proof_of("negate", 5), random.Random(1)
    formula = sat.clauses(equal.gates, equal.pairs)
    accepts = 0
    for _ in range(1_000):
        lines = changed(equal.proof, chance)
        if accepted(formula, lines):
            accepts += 1
            assert refuted_step_by_step(formula, lines)
    assert accepts < 400


def test_false_theorems_have_no_proof() -> None:
    """Without one clause the others can be true: then neither the proof nor a change of it is accepted."""
    equal, chance = proof_of("compare", 5), random.Random(2)
    formula = sat.clauses(equal.gates, equal.pairs)
    false = [c for c in ([*formula[:i], [1, -1], *formula[i + 1 :]] for i in range(len(formula))) if is_satisfiable(c)]
    assert len(false) > len(formula) // 4
    for wrong in false:
        assert not accepted(wrong, equal.proof)
    for _ in range(1_000):
        assert not accepted(chance.choice(false), changed(equal.proof, chance))


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The checker as a program, without any package."""
    command = [sys.executable, "-I", "-S", sat.__file__, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_program_reads_the_usual_files(tmp_path: Path) -> None:
    formula, proof = tmp_path / "a.cnf", tmp_path / "a.lrat"
    lines = [" ".join(map(str, (*clause, 0))) for clause in FORMULA]
    formula.write_text("\n".join(["c a comment", "p cnf 3 4", *lines]))
    proof.write_text("\n".join(PROOF))
    accepted = run(formula, proof)
    assert (accepted.returncode, accepted.stdout) == (0, "the 4 clauses contradict each other\n")
    proof.write_text(PROOF[1])
    rejected = run(formula, proof)
    assert (rejected.returncode, rejected.stdout) == (1, "rejected: step 6: there is no clause 5\n")
    formula.write_text("\n".join(["p cnf 3 5", *lines]))
    short = run(formula, proof)
    assert short.returncode == 2
    assert "not the 5 clauses" in short.stderr
    assert run(formula).returncode == run(formula, tmp_path / "none").returncode == 2

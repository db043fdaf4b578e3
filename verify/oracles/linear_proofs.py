"""Finds proofs that `trusted.kernel` checks: linear combinations of what is known, after case distinctions by bits and by `or`.

Nothing here is trusted. What is found wrongly is rejected there.
Derivation: an equality may be used times any polynomial; times 1 and times each variable is enough here. Modulo the products,
which are 0, what is wanted must be a sum of inequalities with factors ≥ 0 (Farkas' lemma): the simplex method finds it.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from verify.framework.claim import Json
from verify.oracles.proofs import Terms
from verify.trusted.kernel import Checker, Fact, Monomial, Polynomial, differences, number, plus, times

Used = dict[tuple[int, Monomial], Fraction]
"""How much of which equality, times which monomial."""
BIT = re.compile(r"[xy]\d+")


def by_combination(stated: Json) -> Json:
    """Returns the proof. ValueError if none is found."""
    state = Checker(stated)
    return _prove(state, [name for name in state.kinds if BIT.fullmatch(name)], 0)


def _prove(state: Checker, bits: Sequence[str], either: int) -> Json:
    """Proves from facts alone; else by the values of a bit, by the sides of an `or`, or an equality by ≤ and ≥."""
    split = bool(bits) or either < len(state.either)
    if result := _find_sum(state, products=not split):
        return result
    if bits:
        bit, *rest = bits

        def go_on() -> Json:
            return _prove(state, rest, either)

        return _compare(state, bit, go_on, lambda: _compare(state, f"{bit} - 1", go_on))
    if split:
        sides = [_under(state, side, lambda: _prove(state, [], either + 1)) for side in state.either[either]]
        return {"either": either, "of": sides}
    [(difference, relation)] = differences(state.show)
    if relation == "==":
        return _compare(state, ast.unparse(difference), lambda: _find_sum(state))
    raise ValueError("no proof was found")


def _find_sum(state: Checker, *, products: bool = False) -> Json:
    """Returns a contradiction, or what is to be shown as a sum; {} if neither is found."""
    known = BranchFacts(state)
    if absurd := known.sum(number(-1), products):
        return {"absurd": absurd}
    [(difference, relation)] = differences(state.show)
    top, bottom = state.quotient(difference, {}, state.variables)
    total, positive = (
        known.zero(top) if relation == "==" else known.sum(top, products),
        known.sum(plus(bottom, number(-1))),
    )
    if total is None or positive is None:
        return {}
    return {"signs": [], "positive": [["1", []], *positive], "sum": total}


def _compare(state: Checker, text: str, equal: Callable[[], Json], above: Callable[[], Json] | None = None) -> Json:
    """Compares with 0: below it there must be a contradiction, and above it if nothing else is said."""
    e = state.polynomial(text)

    def contradiction() -> Json:
        return _find_sum(state)

    return {
        "compare": text,
        "below": _under(state, [state.fact(times(number(-1), e), ">")], contradiction),
        "equal": _under(state, [(e, "==")], equal),
        "above": _under(state, [state.fact(e, ">")], above or contradiction),
    }


def _under(state: Checker, known: Sequence[Fact], find: Callable[[], Json]) -> Json:
    before = len(state.facts)
    state.facts += known
    proof = find()
    del state.facts[before:]
    if not proof:
        raise ValueError("no proof was found")
    return proof


class BranchFacts:
    """What is known on one branch. rows: polynomials that are 0, each with its leading monomial and what it is made of."""

    def __init__(self, state: Checker) -> None:
        self.names: dict[Monomial, str] = {((name, 1),): name for name in state.kinds}
        self.rows: list[tuple[Monomial, Polynomial, Used]] = []
        self.facts = [((i,), polynomial) for i, (polynomial, relation) in enumerate(state.facts) if relation != "=="]
        for i, (polynomial, relation) in enumerate(state.facts):
            real = any(state.kinds[name] == "real" for monomial in polynomial for name, _ in monomial)
            for monomial in [(), *([] if real else self.names)] if relation == "==" else []:
                rest, used = self.reduced(times(polynomial, {monomial: Fraction(1)}))
                if rest:
                    used[i, monomial] = used.get((i, monomial), Fraction(0)) - 1
                    self.rows.append((max(rest), rest, {key: -value for key, value in used.items()}))

    def reduced(self, polynomial: Polynomial) -> tuple[Polynomial, Used]:
        """Reduces modulo what is 0; returns also what was taken away."""
        used: Used = {}
        for lead, row, made in self.rows:
            if factor := polynomial.get(lead, Fraction(0)) / row[lead]:
                polynomial = plus(polynomial, times(number(factor), row), -1)
                for key, value in made.items():
                    used[key] = used.get(key, Fraction(0)) + factor * value
        return polynomial, used

    def zero(self, wanted: Polynomial) -> Terms | None:
        """Writes the wanted polynomial as a sum of what is 0 times factors; None if it is none."""
        rest, used = self.reduced(wanted)
        if rest:
            return None
        names = {key: [f"({value})", *(self.names[key[1]] for _ in key[1])] for key, value in used.items() if value}
        return [["*".join(factors), [i]] for (i, _), factors in names.items()]

    def sum(self, wanted: Polynomial, products: bool = False) -> Terms | None:
        """Writes the wanted polynomial as Σ fact·(number ≥ 0) and what is 0; with `products`, of facts times facts as well."""
        candidates: list[tuple[tuple[int, ...], Polynomial]] = [((), number(1)), *self.facts]
        for more in (False, True)[: 1 + products]:
            if more:
                candidates += [(i + j, times(a, b)) for (i, a), (j, b) in itertools.combinations(self.facts, 2)]
            columns = [self.reduced(polynomial)[0] for _, polynomial in candidates]
            factors = nonnegative(columns, self.reduced(wanted)[0])
            if factors is not None:
                used = [(factor, *what) for factor, what in zip(factors, candidates, strict=True) if factor]
                for factor, _, polynomial in used:
                    wanted = plus(wanted, times(number(factor), polynomial), -1)
                return [*([str(factor), list(places)] for factor, places, _ in used), *(self.zero(wanted) or [])]
        return None


def nonnegative(columns: Sequence[Polynomial], wanted: Polynomial) -> list[Fraction] | None:
    """Finds factors ≥ 0 with which columns add up to what is wanted, or None: the simplex method's first phase, Bland's rule."""
    monomials = sorted({monomial for polynomial in (*columns, wanted) for monomial in polynomial})
    rows = []
    for monomial in monomials:
        row = [polynomial.get(monomial, Fraction(0)) for polynomial in (*columns, wanted)]
        rows.append([-value for value in row] if row[-1] < 0 else row)
    basis = [len(columns)] * len(rows)  # of rows that nothing fills yet
    while True:
        open_rows = [row for row, column in zip(rows, basis, strict=True) if column == len(columns)]
        enter = next((j for j in range(len(columns)) if sum(row[j] for row in open_rows) > 0), None)
        if enter is None:
            break
        _, _, leave = min((row[-1] / row[enter], basis[r], r) for r, row in enumerate(rows) if row[enter] > 0)
        pivot = rows[leave] = [value / rows[leave][enter] for value in rows[leave]]
        for r, row in enumerate(rows):
            if r != leave and (factor := row[enter]):
                rows[r] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
        basis[leave] = enter
    if any(row[-1] for row, column in zip(rows, basis, strict=True) if column == len(columns)):
        return None
    values = {column: row[-1] for row, column in zip(rows, basis, strict=True)}
    return [values.get(j, Fraction(0)) for j in range(len(columns))]

"""Applies the operators of both machines to states: a row is a weighted sum, rounded once or after each product and sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verify.trusted.abstract_state import Format, State
from verify.trusted.model import Row
from verify.trusted.numbers import Case
from verify.trusted.polynomials import ONE, Polynomial, combine, plus, times


@dataclass(frozen=True)
class Machine:
    """The operators of both machines on states, whichever the discipline is."""

    format: Format
    fused: bool
    case: Case | None = None

    def dot(
        self, state: State, row: Sequence[tuple[Polynomial, Polynomial]], where: str, bias: Polynomial | None = None
    ) -> tuple[State, Polynomial]:
        """Returns Σ weight·value + bias, rounded once, or, under `sequential`, after each product and sum; the bias is last.

        Values are elements of the format: so is ±value, and 0 + value.
        """
        bias = bias or {}
        row = [(w, value) for w, value in row if value]
        products = [times(w, value) for w, value in row]
        if not bias and (not row or (len(row) == 1 and row[0][0] in (ONE, {(): -1}))):
            return state, products[0] if products else {}
        if self.fused:
            return state.round(combine([(product, 1) for product in (*products, bias)]), where)
        total: Polynomial = {}
        for (w, _), product in zip(row, products, strict=True):
            if w not in (ONE, {(): -1}):
                state, product = state.round(product, where)
            if total:
                state, total = state.round(plus(total, product), where)
            else:
                total = product
        return state.round(plus(total, bias), where) if bias else (state, total)

    def row(self, state: State, row: Row, where: str, bias: Polynomial | None = None) -> tuple[State, Polynomial]:
        """Returns a row of an affine map of the registers."""
        return self.dot(state, [(w, state.register(i)) for i, w in row], where, bias)

    def added(self, state: State, i: int, change: Polynomial, where: str) -> State:
        """Returns the residual sum."""
        old = state.register(i)
        value = plus(old, change)
        if old and change:
            state, value = state.round(value, where)
        return state.having({i: value})

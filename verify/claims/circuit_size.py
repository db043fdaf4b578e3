"""Definition 3.3: the circuit of one step of every recurrent model here, counted in its gates as it is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from circuits.models import find_models
from constructions.measures import measure
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims

N = 4


@dataclass(frozen=True)
class StepCost:
    """What one model's step costs.

    most: times p, or p² for a hybrid, the most gates at any n. gates, over: their number at n = 4 from the p `first` on, as
    coefficients in p over one number, the constant first; none where no polynomial counts them. exponent: fitted to these
    numbers. larger: another n to look at, at its least p.
    """

    rnn: str
    theorem: str
    task: str
    most: int
    gates: tuple[int, ...]
    first: int
    exponent: float
    larger: int = 64
    over: int = 1

    @property
    def hybrid(self) -> bool:
        """Returns whether it is a hybrid RNN: attention is no part of the step."""
        return self.rnn.endswith("-hybrid")

    @property
    def precisions(self) -> list[int]:
        """Returns where it is counted at n = 4: more of them than the polynomial has coefficients."""
        return [self.first + more for more in ((0, 4, 8, 16) if self.hybrid else (0, 4, 12))]

    @property
    def least(self) -> int:
        """The p at the larger n: the least."""
        return find_models()[self.rnn].least_precision(self.larger)

    @property
    def claim(self) -> Claim:
        """A claim about the weights of its theorem."""
        step, power = ("what is recurrent in a step", "p²") if self.hybrid else ("a step", "p")
        counted = f" {polynomial(self.gates, self.over)} at n = {N}," if self.gates else f" at n = {N}"
        where = ", ".join(map(str, self.precisions))
        text = f"The circuit of {step} over R_p has at most {self.most}{power} gates, as O({power}) would have it, at n = {N}, "
        text += f"p = {where}, and at n = {self.larger}, p = {self.least};{counted} fitted p^{self.exponent}."
        return Claim("", "definition 3.3", text, theorem=self.theorem, task=self.task, aspect="circuit")

    def within(self, p: int, gates: int) -> bool:
        """Returns whether a count is at most the stated one."""
        return gates <= self.most * p * (p if self.hybrid else 1)

    def formula(self, p: int) -> int:
        """Returns the count at n = 4."""
        result = 0
        for coefficient in reversed(self.gates):
            result = result * p + coefficient
        return result // self.over


def polynomial(coefficients: tuple[int, ...], over: int) -> str:
    """Returns the polynomial in p as text."""
    powers = ("", "p", "p²")
    terms = [f"{c}{powers[i]}" for i, c in reversed(list(enumerate(coefficients)))]
    text = " + ".join(terms).replace("+ -", "− ")
    return text if over == 1 else f"⌊({text})/{over}⌋"


ROWS = (
    StepCost("index", "5.2", "index", 54, (42, 51), 15, 0.96),
    StepCost("recall", "5.2", "recall", 49, (17, 47), 15, 0.98),
    StepCost("ngram", "5.2", "ngram", 56, (34, 53), 15, 0.97),
    StepCost("counting", "5.2", "counting", 53, (20, 51), 15, 0.98),
    StepCost("index-hybrid", "5.6", "index", 4, (6, 17, 3), 19, 1.81),
    StepCost("recall-hybrid", "5.6", "recall", 5, (-28, 49, 3), 25, 1.67),
    StepCost("ngram-hybrid", "5.6", "ngram", 6, (-28, 55, 3), 29, 1.67),
    StepCost("counting-hybrid", "5.6", "counting", 4, (-49, 81), 23, 1.02),
    StepCost("istree", "5.3", "istree", 370, (1195, 603), 17, 0.92, 16, over=2),
    StepCost("istree-hybrid", "5.7", "istree", 11, (611, 377, 6), 47, 1.44, 16, over=2),
    StepCost("turing", "5.4", "turing", 270, (2001, 160), 29, 0.73),
    StepCost("turing-hybrid", "5.8", "turing", 22, (2521, 465, 47), 35, 1.77, 16, over=3),
    StepCost("turing-cot", "4.1", "turing", 190, (), 27, 1.05, 5),
)


@dataclass(frozen=True)
class StepPoint:
    """A step at n over R_p."""

    rnn: str
    n: int
    p: int


@cache
def count_gates(point: StepPoint) -> tuple[int, int]:
    """Counts the gates of the compiled step. Returns them with the bound that its weights alone give."""
    rnn = find_models()[point.rnn].load(point.p, point.n)
    if rnn.wired is None:
        raise TypeError("there is no rnn.wired")
    return len(rnn.step.circuit.gates), measure(rnn.wired.model, point.p).circuit_gates


@claims("row", ROWS, lambda row: row.claim)
def test_circuit(check: Check, row: StepCost) -> None:
    def as_stated(point: StepPoint) -> Counterexample | None:
        gates, bound = count_gates(point)
        exact = not row.gates or point.n != N or gates == row.formula(point.p)
        if exact and row.within(point.p, gates) and gates <= bound:
            return None
        return Counterexample(gates=gates, bound_by_weights=bound)

    def fits(rnn: str) -> Counterexample | None:
        gates = [count_gates(StepPoint(rnn, N, p))[0] for p in row.precisions]
        found = float(np.polyfit(np.log(row.precisions), np.log(gates), 1)[0])
        return None if abs(found - row.exponent) <= 0.0051 else Counterexample(exponent=found)

    larger = StepPoint(row.rnn, row.larger, row.least)
    points = [*(StepPoint(row.rnn, N, p) for p in row.precisions), larger]
    where = ", ".join(map(str, row.precisions))
    check.within(f"n = {N}", f"p = {where}", f"n = {larger.n}, p = {larger.p}")
    check.chosen(
        points,
        as_stated,
        range=f"compiled at n = {N}, p = {where}, and at n = {larger.n}, p = {larger.p}",
        precision=f"p ≤ {max(larger.p, *row.precisions)}",
    )
    check.chosen([row.rnn], fits, range=f"least squares over log p, log C at p = {where}")

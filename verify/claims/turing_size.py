"""Theorems 4.1, 5.4 and 5.8: what the models cost, and which class they belong to."""

from __future__ import annotations

import math

from constructions.turing import cot
from constructions.turing.configurations import Code
from constructions.turing.library import find
from constructions.turing.simulator import simulate, simulate_fast
from constructions.wiring.wired import Wired
from verify.claims.models import TURING_COT
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.inputs.turing_machines import Size
from verify.runs.costs import Cost, exactly, require_logarithmic
from verify.runs.turing_runs import COT, HYBRID, MODELS, RAG, About


def size_claim(about: About) -> Claim:
    """Returns the claim on numbers of state, on parameters, and on what does not grow."""
    state, (fixed, each) = about.state_numbers, about.parameters
    parameters = f"{fixed:,} + {each}·B·k parameters; no matrix"
    if about.in_space:
        text = f"{about.blocks} blocks with {state} numbers of state and at most {parameters} and no vocabulary grows with m"
        text += " or with the steps."
    else:
        text = f"two blocks with at most {state} numbers of state and {parameters} but the vocabulary grows with n."
    return about.claim("size", f"A {about.of_class} of {text}")


@claims("about", MODELS, size_claim)
def test_size(check: Check, about: About) -> None:
    def wired_pair(size: Size) -> tuple[Wired, Wired]:
        """Returns the model of this size, and the smallest one for the machine."""
        steps, cells, cell = (10**6, size.n, 1) if about.in_space else (size.n, None, None)
        large, small = about.solver(size.machine, cells=cells), about.solver(size.machine, "1", cell)
        return large.build(steps), small.build(1)

    def as_small(size: Size) -> Counterexample | None:
        (large, small), (fixed, each) = wired_pair(size), about.parameters
        parameters = fixed + each * size.states * size.symbols
        cost = Cost(about.of_class, lambda heads: len(heads) == about.blocks, exactly(about.state_numbers), parameters)
        if about.in_space and large.model.words.shape != small.model.words.shape:
            return Counterexample(words=large.model.words.shape)
        return cost.excess(large, small)

    lengths, unit = ((4, 20, 200), "on 4, 20, 200 cells") if about.in_space else ((10, 1000), "for 10 and 1000 steps")
    check.chosen(
        [Size(b, k, length) for b in (1, 2, 5, 25) for k in (2, 10) for length in lengths],
        as_small,
        range=f"machines of 1, 2, 5, 25 states and 2, 10 symbols, {unit}",
        precision=about.precision,
    )


COSTS = {RAG: (13, (4, 27)), HYBRID: (5, (6, 25))}
"""Tokens a step, and (a, b) for least_precision(n) ≤ a·(1 + log2 n) + b. Larger machines take more at small n."""
CHAMPION = "bb5"


def cost_claim(about: About) -> Claim:
    """Returns the claim on tokens for each step, and on bits."""
    tokens, (slope, rest) = COSTS[about]
    text = f"{tokens} tokens a step, and O(log n) bits: at most {slope}·(1 + log2 n) + {rest}, of {CHAMPION}."
    return about.claim("cost", text)


@claims("about", COSTS, cost_claim)
def test_cost(check: Check, about: About) -> None:
    machine = find(CHAMPION).machine
    model = about.solver(machine)
    tokens, (slope, rest) = COSTS[about]

    def so_long(n: int) -> Counterexample | None:
        none, written = (len(model.expected(i)) for i in (0, n))
        expected = tokens * simulate_fast(machine, "", n).steps
        return None if written - none == expected else Counterexample(expected=expected, written=written - none)

    require_logarithmic(check, [(model.least_precision, lambda log2: slope * (1 + log2) + rest)])
    check.chosen([1, 10, 100, 1000], so_long, range="tokens of 1, 10, 100, 1000 steps")


@TURING_COT.judges(
    "cost",
    "m + 1 tokens a step, and O(log n) bits for m = ⌊log2 n⌋ cells: p ≤ β·(1 + log2 n) + 3 with β = O(log(B·k)).",
)
def test_cost_in_space(check: Check) -> None:
    machine = find("bb5").machine

    def within(cells: int) -> Counterexample | None:
        least = cot.Cot(machine, cells=cells).least_precision(1)
        bound = Code(machine).bits * (1 + cells) + 3  # and 1 + m ≤ 1 + log2 n
        return None if least <= bound else Counterexample(least=least, bound=bound)

    def digits(size: Size) -> Counterexample | None:
        bound = math.log2((size.states + 3) * size.symbols + 3) + 1
        beta = Code(size.machine).bits
        return None if beta <= bound else Counterexample(beta=beta, bound=bound)

    def so_long(n: int) -> Counterexample | None:
        cells = max(n.bit_length() - 1, 3)
        tape = f"3{'1' * (cells - 2)}3"
        words = cot.Cot(find("counter").machine, tape, cells).expected(n)
        done = simulate(find("counter").machine, tape, n)
        tokens = (cells + 1) * done.steps + done.halted
        return None if len(words) == tokens else Counterexample(expected=tokens, written=len(words))

    check.exhaustive(
        range(3, 400),
        within,
        count=397,
        range="bits of the five-state champion on 3 … 399 cells",
        size=lambda m: m,
        precision=COT.precision,
    )
    check.exhaustive(
        [Size(b, k, 1) for b in range(1, 26) for k in range(2, 11)],
        digits,
        count=25 * 9,
        range="β ≤ 1 + log2((B + 3)·k + 3): a machine of each number of states and symbols, up to 25 and 10",
        size=None,
        precision=COT.precision,
    )
    check.chosen([8, 100, 1000, 10_000], so_long, range="tokens of n steps on ⌊log2 n⌋ cells")

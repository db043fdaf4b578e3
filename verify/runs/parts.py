"""What all claims about single parts share: precisions, sizes, and how a part is run on columns, every one or random ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from constructions.wiring.part import Part, Setting
from constructions.wiring.wire import BlockPlan, constant
from verify.framework.batches import Batches
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Kind, Reading
from verify.framework.predicates import NoVerdict, Predicate
from verify.inputs.strategies import Pins, every_trial, trials
from verify.inputs.trial import Trial
from verify.oracles.counts import all_columns
from verify.runs.probe import WrittenRegisters, compare, first_wrong, run_together, setting_of


def shipped_claim(part: Part) -> Claim:
    """Returns the claim about the part as we ship it."""
    return Claim(f"{part.id}/repaired" if part.findings else part.id, part.source, part.statement)


@dataclass(frozen=True)
class Slip:
    """A part that fails as printed, for one sign."""

    part: Part
    slip: str
    readings: tuple[Reading, ...]

    @property
    def claim(self) -> Claim:
        """Returns the claim about a part."""
        return Claim(
            f"{self.part.id}/printed",
            self.part.source,
            f"{self.part.statement} With the matrices of Lemma {self.slip} as printed.",
            "printed",
            kind=Kind.SLIP,
            readings=self.readings,
            slip=self.slip,
        )


def bits_of(check: Check) -> Callable[[int, int], int | None]:
    """Returns the precision of --p-bits, or None for the least one of each setting."""
    return lambda n, length: check.p_bits


def claimed_sizes(check: Check, part: Part, sizes: Sequence[int], length: int = 1) -> Sequence[int]:
    """Returns the sizes for which the part claims to hold at the precision of --p-bits."""
    return check.certified_sizes(sizes, lambda n: part.least_precision(n, length))


def columns_of_one(part: Part, sizes: Sequence[int], check: Check) -> Iterator[Trial]:
    """Yields every single column of every size, the small ones first."""
    return itertools.chain.from_iterable(every_trial(part, n, 1, precision=bits_of(check)) for n in sizes)


CHUNK = 1 << 10  # columns that are run together


class ByOracle:
    """Judges whether a part writes what its oracle says (`probe.first_wrong`). A shipped part says nothing below its least p.

    runs: what the part wrote, of many columns of one setting at a time.
    """

    def __init__(self, part: Part, engine: str, *, printed: bool = False) -> None:
        self.part, self.printed, self.least = part, printed, cache(part.least_precision)
        self.runs: Batches[Trial, WrittenRegisters] = Batches(
            lambda trials: run_together(part, trials, engine, printed=printed), key=setting_of, chunk=CHUNK
        )

    def __call__(self, trial: Trial) -> Counterexample | None:
        """Returns the first place that is wrong. Raises NoVerdict below the least p."""
        if not self.printed and trial.precision_bits < (bits := self.least(trial.n, trial.length)):
            raise NoVerdict(
                f"the least p for n = {trial.n} and {trial.length} positions is {bits}, not {trial.precision_bits}"
            )
        return first_wrong(self.part, trial, self.runs.outcome(trial), self.printed)


def run_every(check: Check, cases: Iterable[Trial], right: Predicate[Trial], text: str, count: int) -> None:
    """Runs all of these columns. text: which they are. count: how many there are."""
    precision = check.precision_text("least p")
    cases = right.runs.compute_ahead(cases) if isinstance(right, ByOracle) else cases
    check.exhaustive(cases, right, count=count, range=text, precision=precision)


def run_columns_of_one(check: Check, part: Part, right: Predicate[Trial], top: int) -> None:
    """Runs every single column, n up to `top` or --n-max."""
    small = claimed_sizes(check, part, range(1, min(check.n_max, top) + 1))
    count = all_columns(part, [(n, 1) for n in small], check.p_bits)
    run_every(check, columns_of_one(part, small, check), right, "every column of the contract, run", count)


def run_one_position(check: Check, part: Part, engine: str, top: int) -> None:
    """Runs a feed-forward, which looks at one position alone: every single column, n up to `top`, and random ones beyond."""
    right = ByOracle(part, engine)
    run_columns_of_one(check, part, right, top)
    run_random(check, part, right, "columns of the contract, run", longest=1)


def run_random(
    check: Check,
    part: Part,
    right: Predicate[Trial],
    text: str,
    *,
    longest: int,
    examples: int = 100,
    n_covers_length: bool = False,
) -> None:
    """Runs random columns of up to `longest` positions, n up to --n-max. text: which they are."""
    sizes = tuple(n for n in check.sizes() if n >= 2 or not n_covers_length)
    check.sampled(
        trials(
            part,
            claimed_sizes(check, part, sizes, longest),
            longest,
            precision=bits_of(check),
            n_covers_length=n_covers_length,
        ),
        right,
        range=text,
        precision=check.precision_text("least p to least p + 20"),
        max_examples=examples,
    )


@dataclass(frozen=True)
class Columns:
    """How much of a part's inputs can be tried.

    small: (n, positions) of the exhaustive search, with `pins` fixed. random: (positions, examples) of random columns.
    """

    part: Part
    small: Sequence[tuple[int, int]]
    random: Sequence[tuple[int, int]]
    pins: Pins = field(default_factory=dict)
    n_covers_length: bool = False


def run_columns(check: Check, columns: Columns, engine: str) -> None:
    """Runs all small columns of a part, and random ones."""
    part, pins = columns.part, columns.pins
    right = ByOracle(part, engine)
    refuses_shifts(check, part, engine)

    def affordable(n: int, longest: int) -> bool:
        return n <= check.n_max and bool(claimed_sizes(check, part, [n], longest))

    small = [(n, longest) for n, longest in columns.small if affordable(n, longest)]
    if small:
        cases = (every_trial(part, n, longest, precision=bits_of(check), pins=pins) for n, longest in small)
        pinned = " with a different payload at each position" if pins else ""
        spans = ", ".join(f"n = {n} up to {longest} positions" for n, longest in small)
        count = all_columns(part, small, check.p_bits, pins)
        run_every(check, itertools.chain.from_iterable(cases), right, f"all columns{pinned}: {spans}", count)
    for longest, examples in columns.random:
        text, covers = f"columns of up to {longest} positions", columns.n_covers_length
        run_random(check, part, right, text, longest=longest, examples=examples, n_covers_length=covers)


@dataclass(frozen=True)
class ShiftedWrite:
    """What a part writes into a register is this many quanta off."""

    register: str
    quanta: int


def shift_part(part: Part, shift: ShiftedWrite) -> Part:
    """Returns the part with one more block, which adds so many quanta to the register."""

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        amount = shift.quanta * setting.format.quantum
        return [*part.plan(setting, printed), BlockPlan((), (constant("off", {shift.register: amount}),))]

    return replace(part, plan=plan)


def refuses_shifts(check: Check, part: Part, engine: str) -> None:
    """Tests that `compare`, by which columns are judged, sees a part that writes a step more or less than it may."""

    def registers_of_oracle(trial: Trial) -> list[str]:
        oracle = part.oracle(trial.setting, trial.columns)
        return [name for name, column in oracle.items() if any(value is not None for value in column)]

    trial = next(trial for trial in every_trial(part, 2, 2, precision=bits_of(check)) if registers_of_oracle(trial))
    off = part.tolerance(trial.setting) + 1

    def right(shift: ShiftedWrite) -> Counterexample | None:
        return compare(shift_part(part, shift), trial, engine)

    shifts = [ShiftedWrite(name, quanta) for name in registers_of_oracle(trial) for quanta in (-off, off)]
    check.refuses(shifts, right, range="a register that is one quantum farther off than it may be")

"""Runs one part alone and compares what it writes with its oracle.

The part's blocks are wired behind a vocabulary that consists of the columns to try: token k puts the k-th value of every input register
into the residual stream, and the position embedding fills the register `position`. What stands in the written registers
after the last sublayer is compared with the oracle's value, rounded once to the format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.affine import Number
from constructions.engines.reference import FlagSite, ReferenceEngine, decode
from constructions.layers import Transformer
from constructions.part import Contract, Domain, Integer, OneOf, Part, Real, Setting, UnitFraction
from constructions.wiring import Embedding, wire
from precision.format import Arithmetic, Discipline, Format, fixed_point
from precision.rounding import round_fraction
from verify.claim import Counterexample

POSITION = "position"


@dataclass(frozen=True)
class Trial:
    """One input of one part.

    n, precision_bits: of the setting. length: the length bound that the constants are derived from, at least that of the columns.
    columns: register → value at position 1, 2, …, as the oracle sees them: exact, not yet rounded to the format.
    """

    n: int
    length: int
    precision_bits: int
    columns: Mapping[str, tuple[Fraction, ...]]

    @property
    def setting(self) -> Setting:
        """What the part's constants are derived from."""
        return Setting(self.n, self.length, fixed_point(self.precision_bits))


@dataclass(frozen=True)
class Outcome:
    """What an engine left behind: the last residual vectors, in quanta, one for each position; and its flags."""

    last: Sequence[Sequence[int]]
    flags: Mapping[FlagSite, int]


def run_model(engine: str, model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int]) -> Outcome:
    """Feeds the tokens to an engine. ValueError for one that this module cannot drive."""
    _require(engine)
    run = ReferenceEngine(model, arithmetic)
    last = [run.append(token).registers[-1] for token in tokens]
    return Outcome(last, run.flags.counts)


def decode_model(
    engine: str, model: Transformer, arithmetic: Arithmetic, prompt: Sequence[int], stop: set[int], limit: int
) -> list[int]:
    """Greedy decoding by an engine: the tokens after the prompt. ValueError for an engine that this module cannot drive."""
    _require(engine)
    return decode(model, arithmetic, prompt, stop, limit)


def _require(engine: str) -> None:
    if engine != "reference":
        raise ValueError(f"the probe cannot drive the engine {engine!r}")


def rounded(value: Fraction, fmt: Format) -> Fraction:
    """The element of the format nearest to `value`."""
    return round_fraction(value, fmt).quanta * fmt.quantum


def wire_trial(part: Part, trial: Trial, printed: bool) -> tuple[Transformer, tuple[str, ...], list[int]]:
    """The part's matrices behind a vocabulary of the trial's columns; the registers; the token at each position."""
    setting = trial.setting
    names = tuple(trial.columns)
    rows = list(zip(*trial.columns.values(), strict=True))
    distinct = list(dict.fromkeys(rows))
    words = [{name: rounded(x, setting.format) for name, x in zip(names, row, strict=True)} for row in distinct]
    embedding = Embedding(tuple(str(i) for i in range(len(words))), tuple(words), POSITION)
    plan = part.plan(setting, printed)
    silent: list[Mapping[str, Number]] = [{}]  # one token with logit 0: only registers are looked at
    model, registers = wire(embedding, plan, silent, setting.format, exact=not printed)
    return model, registers, [distinct.index(row) for row in rows]


def compare(
    part: Part,
    trial: Trial,
    engine: str,
    *,
    printed: bool = False,
    discipline: Discipline = Discipline.FUSED,
    guarded: bool = True,
) -> Counterexample | None:
    """The first place where the part does not write what its oracle says, or breaks its own postcondition.

    guarded: also refuse a saturation anywhere but in a score, and a weight outside the format. The derivations of the heads let
    the scores of losers saturate, and nothing else; a result that is right by such an accident is not what they promise.
    """
    setting = trial.setting
    fmt = setting.format
    contract = part.contract(setting)
    model, registers, tokens = wire_trial(part, trial, printed)
    outcome = run_model(engine, model, Arithmetic(fmt, discipline), tokens)
    tolerance = 0 if printed else part.tolerance(setting)
    for register, column in part.oracle(setting, trial.columns).items():
        coordinate = registers.index(register)
        for k, wanted in enumerate(column):
            if wanted is None:
                continue
            got = outcome.last[k][coordinate]
            shows = {"register": register, "position": k + 1, "expected": wanted, "got": got * fmt.quantum}
            if abs(got - round_fraction(wanted, fmt).quanta) > tolerance:
                return Counterexample(**shows)
            domain = contract.ensures[register]
            if not printed and not in_domain(got * fmt.quantum, domain, fmt):
                return Counterexample(**shows, outside=str(domain))
    if guarded and not printed:
        for flag in outcome.flags:
            if flag.kind == "weight rounded" or (flag.kind == "saturation" and not flag.site.endswith(".score")):
                return Counterexample(flag=flag.kind, block=flag.block, site=flag.site)
    return None


def in_domain(value: Fraction, domain: Domain, fmt: Format) -> bool:
    """Whether an element of the format lies in the domain."""
    match domain:
        case Integer(low, high):
            return value.denominator == 1 and low <= value <= high
        case Real(low, high):
            return low <= value <= high
        case OneOf(values):
            return value in {rounded(v, fmt) for v in values}
        case UnitFraction(low, high):
            if value == 0:
                return rounded(Fraction(1, high), fmt) == 0
            nearest = round(1 / value)
            return any(
                rounded(Fraction(1, m), fmt) == value for m in range(max(low, nearest - 1), min(high, nearest + 1) + 1)
            ) or _shared(value, domain, fmt)


def _shared(value: Fraction, domain: UnitFraction, fmt: Format) -> bool:
    """Whether a denominator farther away rounds to the same coarse value: those that do lie around 1/value."""
    low, high = 1 / (value + fmt.quantum), 1 / (value - fmt.quantum) if value > fmt.quantum else domain.high
    first, last = max(domain.low, int(low)), min(domain.high, int(high) + 1)
    return any(rounded(Fraction(1, m), fmt) == value for m in range(first, last + 1))


def satisfies(contract: Contract, columns: Mapping[str, Sequence[Fraction]]) -> bool:
    """Whether exact columns meet the precondition. Position 1 may hold its prescribed values instead."""
    for name, domain in contract.requires.items():
        for k, value in enumerate(columns[name]):
            if k == 0 and name in contract.first:
                if value != contract.first[name]:
                    return False
            elif not _meets(value, domain):
                return False
    return True


def _meets(value: Fraction, domain: Domain) -> bool:
    match domain:
        case Integer(low, high):
            return value.denominator == 1 and low <= value <= high
        case UnitFraction(low, high):
            # 0 is what a position without a count holds.
            return value == 0 or (value.numerator == 1 and low <= value.denominator <= high)
        case Real(low, high):
            return low <= value <= high
        case OneOf(values):
            return value in values

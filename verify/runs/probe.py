"""Runs one part alone and compares what it writes with its oracle.

The part's blocks are wired after a vocabulary that consists of the columns to try: token k puts the k-th value of every input
register into the residual stream, and the position embedding fills the register `position`. What stands in the written
registers after the last sublayer is compared with the oracle's value, rounded once to the format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from constructions.engines.known import read_text
from constructions.engines.reference import FlagSite, ReferenceEngine
from constructions.layers import Transformer
from constructions.wiring.affine import Number, reg
from constructions.wiring.part import Domain, Integer, OneOf, Part, Real, Setting, UnitFraction
from constructions.wiring.wire import BlockPlan, Embedding, linear, wire
from precision.format import Arithmetic, Discipline, Format
from precision.rounding import round_fraction
from verify.framework.claim import Counterexample
from verify.inputs.trial import Trial

POSITION = "position"
REST = "{} beyond float64"
SILENT: Sequence[Mapping[str, Number]] = ({},)  # one token with logit 0: only registers are looked at


@dataclass(frozen=True)
class Outcome:
    """What an engine left behind: the last residual vectors, in quanta, one for each position; and its flags."""

    last: Sequence[Sequence[int]]
    flags: Mapping[FlagSite, int]


def run_model(engine: str, model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int]) -> Outcome:
    """Feeds the tokens to an engine; only `reference` hands out flags. ValueError for an engine that is not known here."""
    if engine == "reference":
        run = ReferenceEngine(model, arithmetic)
        return Outcome([run.append(token).registers[-1] for token in tokens], run.flags.counts)
    if engine == "dense":
        from constructions.engines import dense

        kept = dense.run(model, arithmetic, [tokens], keep_registers=True).registers
        return Outcome([] if kept is None else [[int(x) for x in row] for row in kept[0][-1]], {})
    if engine in ("native", "incremental"):
        (columns,) = read_text(model, arithmetic, tokens, [2 * len(model.blocks)], engine=engine).streams
        return Outcome(list(zip(*columns, strict=True)), {})
    raise ValueError(f"the probe cannot read registers of the engine {engine!r}")


def round_value(value: Fraction, fmt: Format) -> Fraction:
    """Returns the element of the format nearest to `value`."""
    return round_fraction(value, fmt).quanta * fmt.quantum


def wire_trial(part: Part, trial: Trial, printed: bool) -> tuple[Transformer, tuple[str, ...], list[int]]:
    """Returns the part's matrices after a vocabulary of the trial's columns; the registers; the token at each position.

    A value that float64 does not hold comes in two pieces, which a block in front of the part adds up, exactly.
    """
    setting = trial.setting
    names = tuple(trial.columns)
    rows = list(zip(*trial.columns.values(), strict=True))
    tokens = {row: token for token, row in enumerate(dict.fromkeys(rows))}
    words: list[dict[str, Number]] = []
    rest: dict[str, None] = {}
    for row in tokens:
        word: dict[str, Number] = {}
        for name, value in zip(names, row, strict=True):
            element = round_value(value, setting.format)
            word[name] = first = Fraction(float(element))
            if first != element:
                rest[name] = None
                word[REST.format(name)] = element - first
        words.append(word)
    model, registers = _wire_part(part, setting, printed, names, tuple(rest))
    read = _reading(names, tuple(rest))
    embedding = _embedding([{name: word.get(name, 0) for name in read} for word in words])
    vocabulary, _ = wire(embedding, (), SILENT, setting.format, exact=not printed)
    matrix = np.zeros((len(words), model.width))
    matrix[:, : len(read)] = vocabulary.words[:, : len(read)]
    return replace(model, words=matrix), registers, [tokens[row] for row in rows]


@lru_cache(maxsize=64)
def _wire_part(
    part: Part, setting: Setting, printed: bool, names: tuple[str, ...], rest: tuple[str, ...]
) -> tuple[Transformer, tuple[str, ...]]:
    """Returns the part after a vocabulary of zeros, wired once for all columns, and the registers, those that it reads first."""
    adding = [linear(f"{name}, both pieces", reg(REST.format(name)), name) for name in rest]
    plan = [*([BlockPlan((), tuple(adding))] if adding else []), *part.plan(setting, printed)]
    embedding = _embedding([dict.fromkeys(_reading(names, rest), 0)])
    return wire(embedding, plan, SILENT, setting.format, exact=not printed)


def _reading(names: tuple[str, ...], rest: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the registers of a word, in the order of their coordinates."""
    return (*names, *map(REST.format, rest))


def _embedding(words: Sequence[Mapping[str, Number]]) -> Embedding:
    return Embedding(tuple(str(i) for i in range(len(words))), tuple(words), POSITION)


@dataclass(frozen=True)
class Written:
    """What a part promises to write: register → value at position 1, 2, …, and the flags of the run."""

    values: Mapping[str, Sequence[Fraction]]
    flags: Mapping[FlagSite, int]


def run_part(
    part: Part, trial: Trial, engine: str, *, printed: bool = False, discipline: Discipline = Discipline.FUSED
) -> Written:
    """Runs the part's blocks on the columns."""
    setting = trial.setting
    model, registers, tokens = wire_trial(part, trial, printed)
    outcome = run_model(engine, model, Arithmetic(setting.format, discipline), tokens)
    quantum, promised = setting.format.quantum, part.contract(setting).ensures
    columns = dict(zip(registers, zip(*outcome.last, strict=True), strict=True))
    return Written({name: [q * quantum for q in columns[name]] for name in promised}, outcome.flags)


def compare(
    part: Part,
    trial: Trial,
    engine: str,
    *,
    printed: bool = False,
    discipline: Discipline = Discipline.FUSED,
) -> Counterexample | None:
    """Returns the first place where the part does not write what its oracle says, or breaks its own promise.

    A part as we ship it also promises the domain of what it writes, and that nothing saturates but scores and no weight is
    rounded: its derivation lets the scores of losers saturate and nothing else, so a result that is right by another
    saturation is right by accident. Of a part as printed only the values are judged, without tolerance.
    """
    setting = trial.setting
    fmt = setting.format
    ensures = part.contract(setting).ensures
    written = run_part(part, trial, engine, printed=printed, discipline=discipline)
    tolerance = 0 if printed else part.tolerance(setting) * fmt.quantum
    for register, column in part.oracle(setting, trial.columns).items():
        for k, wanted in enumerate(column):
            if wanted is None:
                continue
            got = written.values[register][k]
            shows = {"register": register, "position": k + 1, "expected": wanted, "got": got}
            if abs(got - round_value(wanted, fmt)) > tolerance:
                return Counterexample(**shows)
            if not printed and not in_domain(got, ensures[register], fmt):
                return Counterexample(**shows, outside=str(ensures[register]))
    for flag in written.flags if not printed else ():
        if flag.kind == "weight rounded" or (flag.kind == "saturation" and not flag.site.endswith(".score")):
            return Counterexample(flag=flag.kind, block=flag.block, site=flag.site)
    return None


def in_domain(value: Fraction, domain: Domain, fmt: Format) -> bool:
    """Returns whether an element of the format lies in the domain."""
    match domain:
        case Integer(low, high):
            return value.denominator == 1 and low <= value <= high
        case Real(low, high):
            return low <= value <= high
        case OneOf(values):
            return value in {round_value(v, fmt) for v in values}
        case UnitFraction(low, high):
            # All m with ROUND(1/m) = value lie between the reciprocals of its neighbours.
            first = low if value < 0 else int(1 / (value + fmt.quantum))
            last = high if value <= fmt.quantum else int(1 / (value - fmt.quantum)) + 1
            return any(round_value(Fraction(1, m), fmt) == value for m in range(max(low, first), min(high, last) + 1))

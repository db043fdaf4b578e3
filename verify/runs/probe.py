"""Runs one part alone and compares what it writes with its oracle.

The part's blocks are wired after a vocabulary that consists of the columns to try: token k puts the k-th value of every input
register into the residual stream, and the position embedding fills the register `position`. What stands in the written
registers after the last sublayer is compared with the oracle's value, rounded once to the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    (outcome,) = run_texts(engine, model, arithmetic, [tokens])
    return outcome


def run_texts(
    engine: str, model: Transformer, arithmetic: Arithmetic, texts: Sequence[Sequence[int]]
) -> Iterator[Outcome]:
    """Yields what `run_model` returns for each text. The weights are loaded once."""
    if engine == "reference":
        yield from _run_by_reference(model, arithmetic, texts)
    elif engine == "dense":
        from constructions.engines import dense

        last = 2 * len(model.blocks)
        for kept in dense.run(model, arithmetic, texts, keep_registers=[last]).registers or ():
            yield Outcome([[int(x) for x in row] for row in kept[-1]], {})
    elif engine in ("native", "incremental"):
        for tokens in texts:
            (columns,) = read_text(model, arithmetic, tokens, [2 * len(model.blocks)], engine=engine).streams
            yield Outcome(list(zip(*columns, strict=True)), {})
    else:
        raise ValueError(f"the probe cannot read registers of the engine {engine!r}")


def _run_by_reference(model: Transformer, arithmetic: Arithmetic, texts: Sequence[Sequence[int]]) -> Iterator[Outcome]:
    """Yields the outcomes. The tokens with which a text begins as the one before it does are not read again."""
    runs = [ReferenceEngine(model, arithmetic)]  # after no token, one, two, …
    last: list[Sequence[int]] = []
    before: Sequence[int] = ()
    for tokens in texts:
        pairs = zip(before, tokens, strict=False)
        shared = next((k for k, (old, new) in enumerate(pairs) if old != new), min(len(before), len(tokens)))
        del runs[shared + 1 :], last[shared:]
        for token in tokens[shared:]:
            runs.append(runs[-1].fork())
            last.append(runs[-1].append(token).registers[-1])
        before = tokens
        yield Outcome(last[:], runs[-1].flags.counts)


def round_value(value: Fraction, fmt: Format) -> Fraction:
    """Returns the element of the format nearest to `value`."""
    return round_fraction(value, fmt).quanta * fmt.quantum


def wire_trial(part: Part, trial: Trial, printed: bool) -> tuple[Transformer, tuple[str, ...], list[int]]:
    """Returns the part's matrices after a vocabulary of the trial's columns; the registers; the token at each position."""
    model, registers, (tokens,) = wire_trials(part, [trial], printed)
    return model, registers, tokens


def wire_trials(
    part: Part, trials: Sequence[Trial], printed: bool
) -> tuple[Transformer, tuple[str, ...], list[list[int]]]:
    """Returns the part's matrices after a vocabulary of the columns of all trials, which have one setting and the same registers;
    the registers; for each trial the token at each position.

    A value that float64 does not hold comes in two pieces, which a block in front of the part adds up, exactly.
    """
    setting, names = trials[0].setting, tuple(trials[0].columns)
    tokens: dict[tuple[Fraction, ...], int] = {}
    texts = [
        [tokens.setdefault(row, len(tokens)) for row in zip(*trial.columns.values(), strict=True)] for trial in trials
    ]
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
    return replace(model, words=matrix), registers, texts


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
class WrittenRegisters:
    """What a part promises to write: register → value at position 1, 2, …, and the flags of the run."""

    values: Mapping[str, Sequence[Fraction]]
    flags: Mapping[FlagSite, int]


def run_part(
    part: Part, trial: Trial, engine: str, *, printed: bool = False, discipline: Discipline = Discipline.FUSED
) -> WrittenRegisters:
    """Runs the part's blocks on the columns."""
    (written,) = run_together(part, [trial], engine, printed=printed, discipline=discipline)
    return written


def run_together(
    part: Part,
    trials: Sequence[Trial],
    engine: str,
    *,
    printed: bool = False,
    discipline: Discipline = Discipline.FUSED,
) -> Iterator[WrittenRegisters]:
    """Yields what `run_part` returns for each of these trials, which agree in `setting_of`. The part is wired and loaded once."""
    setting = trials[0].setting
    model, registers, texts = wire_trials(part, trials, printed)
    quantum, promised = setting.format.quantum, part.contract(setting).ensures
    places = [(name, registers.index(name)) for name in promised]
    for outcome in run_texts(engine, model, Arithmetic(setting.format, discipline), texts):
        values = {name: [vector[place] * quantum for vector in outcome.last] for name, place in places}
        yield WrittenRegisters(values, outcome.flags)


def setting_of(trial: Trial) -> tuple[Setting, tuple[str, ...]]:
    """Returns what trials that are run together agree in: the setting, and the registers."""
    return trial.setting, tuple(trial.columns)


def compare(
    part: Part, trial: Trial, engine: str, *, printed: bool = False, discipline: Discipline = Discipline.FUSED
) -> Counterexample | None:
    """Runs the part on the columns; returns what `first_wrong` returns."""
    return first_wrong(part, trial, run_part(part, trial, engine, printed=printed, discipline=discipline), printed)


def first_wrong(part: Part, trial: Trial, written: WrittenRegisters, printed: bool) -> Counterexample | None:
    """Returns the first place where the part does not write what its oracle says, or breaks its own promise.

    A part as we ship it also promises the domain of what it writes, and that nothing saturates but scores and no weight is
    rounded: its derivation lets the scores of losers saturate and nothing else, so a result that is right by another
    saturation is right by accident. Of a part as printed only the values are judged, without tolerance.
    """
    setting = trial.setting
    fmt = setting.format
    ensures = part.contract(setting).ensures
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

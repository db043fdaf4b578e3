"""Lemmas with a parameter, C.2 to C.23, at many values of it, and all lemmas under `sequential`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from constructions.wiring.part import Part
from precision.format import Discipline
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.inputs.strategies import Pins, complete, every_trial, trials
from verify.inputs.trial import Trial
from verify.oracles.counts import columns
from verify.oracles.lemma_families import ALONE, FAMILIES, LemmaFamily, Parameter, digits
from verify.runs.probe import compare

LONGEST, LONGEST_SEQUENTIAL = 16, 10  # positions of random columns
EXAMPLES, EXAMPLES_SEQUENTIAL = 30, 12
PAYLOAD = tuple(map(Fraction, (1, -1, 0)))
IGNORED = (Fraction(0),) * 3  # overwritten by the contract's derive


@dataclass(frozen=True)
class LemmaCase:
    """A lemma at one value of its parameter, and columns for it."""

    lemma: str
    parameter: Parameter
    trial: Trial


@cache
def part_of(lemma: str, parameter: Parameter) -> Part:
    """Returns the part, made once for each parameter, so that its matrices are too."""
    return (FAMILIES.get(lemma) or ALONE[lemma]).part(*parameter)


def judged(case: LemmaCase, engine: str, discipline: Discipline) -> Counterexample | None:
    """Compares the part's output with its oracle."""
    return compare(part_of(case.lemma, case.parameter), case.trial, engine, discipline=discipline)


# Every small parameter with every small column


@dataclass(frozen=True)
class SmallParameters:
    """Parameters to go through, and how many these are by a formula; for each, all columns of n up to `longest` positions.

    pins: registers that are not free. at_once: one column that holds all inputs, position by position, for a feed-forward.
    """

    text: str
    parameters: Sequence[Parameter]
    count: int
    n: int
    longest: int
    pins: Pins | None = None
    at_once: bool = False


def powers(values: Sequence[int], lengths: Iterable[int]) -> list[Parameter]:
    """Returns all tuples of these lengths."""
    return [entry for length in lengths for entry in itertools.product(values, repeat=length)]


SIGNS, KEYS = (0, 1, -1), {"payload": PAYLOAD}
NEXT = {**KEYS, "count": IGNORED, "query_count": IGNORED, "wish": tuple(map(Fraction, (0, 1, 2)))}
UP_TO_5, UP_TO_4, ONE_TO_THREE = [(k,) for k in range(6)], [(k,) for k in range(1, 5)], [(r,) for r in (1, 2, 3)]
TABLES = [(2, 2, *t) for t in powers(SIGNS, [4])] + [(3, 1, *t) for t in powers(SIGNS, [3])]
EVERY = {
    "C.2": SmallParameters("every W of 2 × 2 entries in −1 … 1", powers(SIGNS, [4]), 3**4, 2, 25, at_once=True),
    "C.4": SmallParameters(
        "every table of −1 … 1 over two bits, or one number below 3", TABLES, 3**4 + 3**3, 2, 4, at_once=True
    ),
    "C.13": SmallParameters("s = 0 … 5", UP_TO_5, 6, 1, 4),
    "C.15": SmallParameters("r = 1, 2, 3", ONE_TO_THREE, 3, 1, 2, KEYS),
    "C.16": SmallParameters("r = 1, 2, 3", ONE_TO_THREE, 3, 1, 2, KEYS),
    "C.17": SmallParameters("r = 1, 2", ONE_TO_THREE[:2], 2, 1, 2, KEYS),
    "C.18": SmallParameters("r = 1, 2 and A = 1, 2", list(itertools.product((1, 2), repeat=2)), 4, 2, 2, NEXT),
    "C.20": SmallParameters("k = 1 … 4", UP_TO_4, 4, 1, 2),
    "C.22": SmallParameters("k = 1 … 4", UP_TO_4, 4, 1, 4),
    "C.23": SmallParameters(
        "every text of up to 3 numbers 0, 1, 2", powers((0, 1, 2), range(4)), 40, 1, 6, at_once=True
    ),
}


def all_inputs_at_once(part: Part, n: int) -> Trial:
    """Returns one column with every input of a feed-forward, which looks at one position alone."""
    ones = list(every_trial(part, n, 1, precision=at_least))
    length = len(ones)
    joined = {name: tuple(one.columns[name][0] for one in ones) for name in ones[0].columns}
    return Trial(n, length, part.least_precision(n, length), joined)


def at_least(n: int, length: int) -> None:
    """Requires the least precision of the setting."""
    return


def every_small(lemma: str, small: SmallParameters) -> Iterator[LemmaCase]:
    """Yields the domain that `Small` describes."""
    for parameter in small.parameters:
        part = part_of(lemma, parameter)
        if small.at_once:
            yield LemmaCase(lemma, parameter, all_inputs_at_once(part, small.n))
        else:
            every = every_trial(part, small.n, small.longest, precision=at_least, pins=small.pins)
            yield from (LemmaCase(lemma, parameter, trial) for trial in every)


def how_many(lemma: str, small: SmallParameters) -> int:
    """Returns the number of cases: the number of parameters, times the closed formula for columns of each."""
    if small.at_once:
        return small.count
    pinned = small.pins or {}
    ranges = [columns(part_of(lemma, p), small.n, small.longest, None, pinned) for p in small.parameters]
    return sum(ranges) if len(ranges) == small.count else 0


def own_precision(check: Check) -> None:
    """Leaves the claim undecided if another precision is asked for: the least one depends on the parameter."""
    if check.p_bits is not None:
        check.unknown("each parameter has its own least p, and is judged there")


# Random ones


def numbers(low: int, high: int, least: int, most: int) -> SearchStrategy[Parameter]:
    """Draws tuples of integers."""
    return st.lists(st.integers(low, high), min_size=least, max_size=most).map(tuple)


PARAMETERS: dict[str, SearchStrategy[Parameter]] = {
    "C.2": st.sampled_from((1, 2, 3)).flatmap(lambda d: numbers(-9, 9, d * d, d * d)),
    "C.4": st.sampled_from(((2, 1), (2, 4), (3, 3), (7, 1), (5, 2))).flatmap(
        lambda shape: numbers(-20, 20, shape[0] ** shape[1], shape[0] ** shape[1]).map(lambda table: (*shape, *table))
    ),
    "C.13": numbers(0, 40, 1, 1),
    "C.15": numbers(1, 4, 1, 1),
    "C.16": numbers(1, 4, 1, 1),
    "C.17": numbers(1, 4, 1, 1),
    "C.18": numbers(1, 3, 2, 2),
    "C.20": numbers(1, 20, 1, 1),
    "C.22": numbers(1, 12, 1, 1),
    "C.23": numbers(-9, 9, 0, 12),
}


@st.composite
def cases(
    draw: DrawFn, lemma: str, sizes: Sequence[int], longest: int, precision: Callable[[Parameter, int, int], int | None]
) -> LemmaCase:
    """Draws a parameter, then columns for it. For C.18, n^A covers the positions."""
    parameter = draw(PARAMETERS.get(lemma, st.just(())))
    part = part_of(lemma, parameter)
    power = parameter[1] if lemma == "C.18" else 0
    if power:
        sizes = [n for n in (2, 3, 4, 5, 8, *sizes) if n >= 2 and (power == 1 or n**power >= longest)]
    if power > 1:
        sizes = sizes[:2]  # the least, where counts go beyond n
    trial = draw(
        trials(part, sizes, longest, precision=lambda n, k: precision(parameter, n, k), n_covers_length=power == 1)
    )
    return LemmaCase(lemma, parameter, trial)


def look(check: Check, engine: str, lemma: str, discipline: Discipline) -> None:
    """Tries random parameters and columns under one discipline; under `sequential` with the lemma's `room` of further bits."""
    fused, family = discipline is Discipline.FUSED, FAMILIES.get(lemma) or ALONE[lemma]

    def precision(parameter: Parameter, n: int, length: int) -> int | None:
        if fused:
            return None
        least = part_of(lemma, parameter).least_precision(n, length)
        return max(least + family.room.bits(parameter, n), digits(length))

    longest = LONGEST if fused else LONGEST_SEQUENTIAL
    check.sampled(
        cases(lemma, check.sizes(), longest, precision),
        partial(judged, engine=engine, discipline=discipline),
        range=f"random parameters and columns of up to {longest} positions",
        size=lambda case: case.trial.n,
        precision="least p to least p + 20" if fused else f"p = least p + {family.room.text}",
        max_examples=EXAMPLES if fused else EXAMPLES_SEQUENTIAL,
    )


def claim_of(lemma: str, family: LemmaFamily, aspect: str, says: str) -> Claim:
    """Returns the claim."""
    return Claim(f"{lemma}/{aspect}", f"Lemma {lemma}", f"{family.statement} {says}".rstrip())


@claims("lemma", FAMILIES, lambda lemma: claim_of(lemma, FAMILIES[lemma], "general", ""))
def test_every_parameter(check: Check, engine: str, lemma: str) -> None:
    small = EVERY[lemma]
    own_precision(check)

    right = partial(judged, engine=engine, discipline=Discipline.FUSED)
    if small.n <= check.n_max:
        inputs = "every input" if small.at_once else f"every column of up to {small.longest} positions"
        pinned = " with a different payload at each" if small.pins else ""
        check.exhaustive(
            every_small(lemma, small),
            right,
            count=how_many(lemma, small),
            range=f"{small.text}; {inputs}{pinned}, n = {small.n}",
            size=small.n,
            precision="least p",
        )
    if lemma == "C.18" and check.n_max >= LARGE_COUNTS[-1]:
        check.chosen(
            list(map(one_key, LARGE_COUNTS)),
            right,
            range="one key n² − 1 times, A = 2: each count down to 1/n² is read as the next one",
            size=lambda case: case.trial.n,
            precision="least p",
        )
    look(check, engine, lemma, Discipline.FUSED)


LARGE_COUNTS = (2, 3, 5, 6)


def one_key(n: int) -> LemmaCase:
    """Returns columns with the largest key n² − 1 times after position 1; each time the newest count is the next one."""
    part, length = part_of("C.18", (1, 2)), n * n
    trial = Trial(n, length, part.least_precision(n, length), {})
    given = {
        "key": (Fraction(0), *[Fraction(n)] * (length - 1)),
        "query": (Fraction(n),) * length,
        "payload": tuple(Fraction(k % (2 * n + 1) - n) for k in range(length)),
        "wish": tuple(Fraction(max(k - 1, 0)) for k in range(length)),
        "count": (Fraction(0),) * length,
        "query_count": (Fraction(1),) * length,
    }
    columns = complete(part, part.contract(trial.setting), given, n)
    return LemmaCase("C.18", (1, 2), Trial(n, length, trial.precision_bits, columns))


EVERY_FAMILY = {**ALONE, **FAMILIES}


@claims(
    "lemma",
    sorted(EVERY_FAMILY),
    lambda lemma: claim_of(
        lemma,
        EVERY_FAMILY[lemma],
        "sequential",
        f"Rounding sequential, at the least p of fused and {EVERY_FAMILY[lemma].room.text} bits more.",
    ),
)
def test_sequential(check: Check, engine: str, lemma: str) -> None:
    own_precision(check)
    check.within(f"{EVERY_FAMILY[lemma].room.text} bits more")
    look(check, engine, lemma, Discipline.SEQUENTIAL)

"""Lemmas C.7 to C.18: what single attention heads read."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import pytest

from constructions.parts.heads import copy, count, match, match_close, match_nearest, match_next
from constructions.parts.heads.match import PRINTED_POSITION_POWER
from constructions.wiring.part import Contract, Integer, Part, Setting, printed_precision
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Verdict, claim, claims
from verify.inputs.strategies import Pins, every_trial, trials
from verify.oracles.counts import all_columns, columns
from verify.oracles.fraction_theorems import leakage_vanishes
from verify.runs.parts import asked, claimed_sizes, refuses_shifts, run_every, run_random
from verify.runs.probe import Trial, compare, run_part

PAYLOAD = tuple(map(Fraction, (1, 2, -1, -2)))  # different at each position, so that it tells where the head read
IGNORED = (Fraction(0),) * 8  # overwritten by the contract's derive
LONGEST = 24
LONGEST_OF_ALL = 128


@dataclass(frozen=True)
class HeadCase:
    """How much of a head's inputs can be tried. small: (n, positions) of the exhaustive search, with `pins` fixed."""

    part: Part
    small: Sequence[tuple[int, int]]
    pins: Pins = field(default_factory=dict)
    n_covers_length: bool = False


HEADS: Sequence[HeadCase] = (
    HeadCase(copy.PART, ((1, 5), (2, 4))),
    HeadCase(count.PART, ((1, 5), (2, 5), (3, 5))),
    HeadCase(match.PART, ((2, 4),), {"payload": PAYLOAD}),
    HeadCase(match_close.PART, ((2, 4),), {"payload": PAYLOAD}),
    HeadCase(match_nearest.PART, ((2, 3),), {"payload": PAYLOAD}),
    HeadCase(
        match_next.PART,
        ((2, 3),),
        {"payload": PAYLOAD, "count": IGNORED, "query_count": IGNORED},
        n_covers_length=True,
    ),
)


@claims(
    "case",
    [
        (
            Claim(
                f"{case.part.id}/repaired" if case.part.findings else case.part.id,
                case.part.source,
                case.part.statement,
            ),
            case,
        )
        for case in HEADS
    ],
)
def test_head(check: Check, engine: str, case: HeadCase) -> None:
    part = case.part

    def right(trial: Trial) -> Counterexample | None:
        return compare(part, trial, engine)

    refuses_shifts(check, part, engine)

    def small(n: int, longest: int) -> bool:
        return n <= check.n_max and bool(claimed_sizes(check, part, [n], longest))

    affordable = [(n, longest) for n, longest in case.small if small(n, longest)]
    cases = [every_trial(part, n, longest, precision=asked(check), pins=case.pins) for n, longest in affordable]
    if cases:
        pinned = " with a different payload at each position" if case.pins else ""
        spans = ", ".join(f"n = {n} up to {longest} positions" for n, longest in affordable)
        text = f"all columns{pinned}: {spans}"
        count = all_columns(part, affordable, check.p_bits, case.pins)
        run_every(check, itertools.chain.from_iterable(cases), right, text, count)
    for longest, examples in ((LONGEST, 120), (LONGEST_OF_ALL, 6)):
        text = f"columns of up to {longest} positions"
        covers = case.n_covers_length
        run_random(check, part, right, text, longest=longest, examples=examples, n_covers_length=covers)


# As printed


@dataclass(frozen=True)
class Printed:
    """A head with the printed score factors. power: the highest power of n among them."""

    part: Part
    power: int
    n_covers_length: bool = False

    def roomy_precision(self, n: int, length: int) -> int:
        """The least odd p with n^power·(2n)² in range: O(log n) bits, but more than 10·log2 n."""
        largest: int = 4 * n ** (self.power + 2)
        return 2 * (largest.bit_length() + 1) + 1


COPY = Printed(copy.PART, 3)
MATCHES = (
    Printed(match.PART, 9),
    Printed(match_close.PART, 9),
    Printed(match_nearest.PART, 9),
    Printed(match_next.PART, 7, n_covers_length=True),
)
SMALL = 3  # the least n at which each of the four fails for want of a lead
LARGE = 64  # from here on e^−n is negligible at every precision that is looked at
NAMED = "p = the least odd number above 10·log2 n"
ROOMY = "p just large enough for the largest score"


EXPONENT = f"c = {PRINTED_POSITION_POWER}: positions up to n^{PRINTED_POSITION_POWER}."


def of_each_match(suffix: str, remark: str, expected: Verdict) -> list[tuple[Claim, object]]:
    """The same claim about each of the four heads."""
    return [
        (
            Claim(
                f"{p.part.id}/{suffix}",
                p.part.source,
                f"{p.part.statement} {remark} {'A = 1.' if p.n_covers_length else EXPONENT}",
                "printed",
                expected=expected,
            ),
            p,
        )
        for p in MATCHES
    ]


def search_printed(
    check: Check, engine: str, printed: Printed, sizes: Sequence[int], text: str, roomy: bool, examples: int = 150
) -> None:
    """Random columns for the printed head."""

    def precision(n: int, length: int) -> int:
        return check.p_bits or (printed.roomy_precision(n, length) if roomy else printed_precision(n))

    def right(trial: Trial) -> Counterexample | None:
        return compare(printed.part, trial, engine, printed=True)

    longest = min(LONGEST, sizes[0] ** 2)
    check.sampled(
        trials(printed.part, sizes, longest, precision=precision, n_covers_length=printed.n_covers_length),
        right,
        range=f"columns of up to {longest} positions, n ≥ {sizes[0]}",
        size=lambda trial: trial.n,
        precision=check.precision_text(text),
        max_examples=examples,
    )


@claims("printed", of_each_match("printed", "With the printed factors at p > 10·log2 n.", Verdict.REFUTED))
def test_match_as_printed(check: Check, engine: str, printed: Printed) -> None:
    sizes = check.sizes(2)
    search_printed(check, engine, printed, [n for n in sizes if n >= min(LARGE, sizes[-1])], NAMED, roomy=False)


@claims("printed", of_each_match("printed-roomy", "With the printed factors where all scores fit.", Verdict.REFUTED))
def test_match_as_printed_with_room(check: Check, engine: str, printed: Printed) -> None:
    if check.n_max < SMALL:
        pytest.skip(f"needs n ≥ {SMALL}, --n-max is {check.n_max}")
    search_printed(check, engine, printed, [SMALL], ROOMY, roomy=True)


@claims(
    "printed",
    of_each_match(
        "printed-roomy-large-n", f"With the printed factors where all scores fit, n ≥ {LARGE}.", Verdict.HOLDS
    ),
)
def test_match_as_printed_with_room_for_large_n(check: Check, engine: str, printed: Printed) -> None:
    search_printed(check, engine, printed, check.sizes(LARGE), ROOMY, roomy=True)


@claim(
    "C.13/printed",
    source=copy.PART.source,
    statement=f"{copy.PART.statement} With the printed factor n, p > 10·log2 n, n ≥ 2.",
    variant="printed",
    expected=Verdict.REFUTED,
)
def test_copy_as_printed(check: Check, engine: str) -> None:
    search_printed(check, engine, COPY, check.sizes(2), NAMED, roomy=False)


@claim(
    "C.13/printed-large-n",
    source=copy.PART.source,
    statement=f"{copy.PART.statement} With the printed factor n, p > 10·log2 n, n ≥ {LARGE}.",
    variant="printed",
)
def test_copy_as_printed_for_large_n(check: Check, engine: str) -> None:
    search_printed(check, engine, COPY, check.sizes(LARGE), NAMED, roomy=False)


@claim(
    "C.14/printed",
    source=count.PART.source,
    statement=count.PART.statement,
    variant="printed",
    expected=Verdict.REFUTED,
)
def test_count_as_printed(check: Check, engine: str) -> None:
    sizes = check.sizes(2)
    large = [n for n in sizes if n >= min(LARGE, sizes[-1])]
    search_printed(check, engine, Printed(count.PART, 3), large, ROOMY, roomy=True)


# What the statements leave out


@claims(
    "case",
    [
        (
            Claim(
                f"{part.id}/zero-query",
                part.source,
                f"{part.statement} Queries that are 0 included, as printed.",
                finding="zero-query",
                expected=expected,
            ),
            part,
        )
        for part, expected in (
            (match.PART, Verdict.REFUTED),
            (match_close.PART, Verdict.HOLDS),
            (match_nearest.PART, Verdict.REFUTED),
        )
    ],
)
def test_zero_query(check: Check, engine: str, case: Part) -> None:
    def contract(setting: Setting) -> Contract:
        restricted = case.contract(setting)
        return replace(restricted, requires={**restricted.requires, "query": Integer(0, setting.n)})

    part = replace(case, contract=contract)

    def right(trial: Trial) -> Counterexample | None:
        return compare(part, trial, engine)

    check.exhaustive(
        every_trial(part, 2, 3, precision=asked(check), pins={"payload": PAYLOAD}),
        right,
        count=columns(part, 2, 3, check.p_bits, ["payload"]),
        range="all columns with a different payload at each position: n = 2 up to 3 positions",
        size=2,
        precision=check.precision_text("least p"),
    )
    run_random(check, part, right, f"columns of up to {LONGEST} positions", longest=LONGEST)


@claim(
    "C.17/tie",
    source=match_nearest.PART.source,
    statement="The head reads from one of the equal-keyed positions nearest to the wanted one, also where two are equally near.",
    finding="tie",
    expected=Verdict.REFUTED,
)
def test_two_nearest(check: Check, engine: str) -> None:
    part = match_nearest.PART

    def one_of_the_nearest(trial: Trial) -> Counterexample | None:
        columns = trial.columns
        written = run_part(part, trial, engine).values["out"]
        for k, got in enumerate(written):
            equal = [h for h in range(k + 1) if columns["key"][h] == columns["query"][k]]
            distance = {h: abs(h + 1 - columns["wanted"][k]) for h in equal or [0]}
            nearest = [h for h, d in distance.items() if d == min(distance.values())]
            allowed = sorted({columns["payload"][h] for h in nearest})
            if got not in allowed:
                return Counterexample(position=k + 1, one_of=allowed, got=got)
        return None

    check.exhaustive(
        every_trial(part, 2, 4, precision=asked(check), pins={"payload": PAYLOAD, "query": (Fraction(1),) * 4}),
        one_of_the_nearest,
        count=columns(part, 2, 4, check.p_bits, ["payload", "query"]),
        range="all columns with query 1 and a different payload at each position: n = 2 up to 4 positions",
        size=2,
        precision=check.precision_text("least p"),
    )


@claim(
    "C.7-C.18/leakage",
    source="Lemmas C.13 to C.18, the last step of every proof",
    statement=f"A lead of n leaves the others no weight: n²·e^−n < 2^−(q + 2) at p = 10·log2 n + O(1), for all n ≥ {LARGE}.",
    variant="printed",
)
def test_leakage(check: Check) -> None:
    check.proved(
        leakage_vanishes(LARGE),
        by=f"e^{LARGE} > 2^50, and e grows faster than ((n + 1)/n)^7",
        range=f"256·n^7 < e^n, all n ≥ {LARGE}",
    )
    check.argued("2^q ≤ 64·n^5 for q ≤ 5·log2 n + 6, so that n²·2^(q + 2) ≤ 256·n^7.")

    def precision_is_covered(n: int) -> Counterexample | None:
        q = (printed_precision(n) - 1) // 2
        return None if 1 << q <= 64 * n**5 else Counterexample(q=q)

    check.sizes(LARGE)
    check.exhaustive(
        range(LARGE, check.n_max + 1),
        precision_is_covered,
        count=check.n_max - LARGE + 1,
        range=f"2^q ≤ 64·n^5: every n ≥ {LARGE}",
        size=lambda n: n,
        precision=NAMED,
    )

"""Lemmas C.7 to C.18: what single attention heads read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from constructions.parts.heads import copy, count, match, match_close, match_nearest, match_next
from constructions.parts.heads.match import PRINTED_FACTOR_POWER, PRINTED_POSITION_POWER
from constructions.wiring.part import Contract, Integer, Part, Setting, printed_precision, roomy_precision
from verify.claims.readings_of_heads import count as count_readings
from verify.dossiers.dossier import ENDLESS, LEAST, Subject
from verify.dossiers.heads import HeadAlone
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Kind, Reading, claim, claims
from verify.framework.predicates import NoVerdict, Predicate
from verify.inputs.strategies import every_trial, trials
from verify.inputs.trial import Trial
from verify.oracles.counts import columns
from verify.oracles.fraction_theorems import lead_is_n, leakage_vanishes
from verify.oracles.printed_heads import COUNT_BY_SCORE, hardest, precision_above
from verify.runs.parts import ByOracle, Columns, bits_of, run_columns, run_random, shipped_claim

PAYLOAD = tuple(map(Fraction, (1, 2, -1, -2)))  # different at each position, so that it tells where the head read
IGNORED = (Fraction(0),) * 8  # overwritten by the contract's derive
LONGEST = 24
LONGEST_HARD = 64
RANDOM = ((LONGEST, 120), (128, 6))
HEADS = (
    Columns(copy.PART, ((1, 5), (2, 4)), RANDOM),
    Columns(count.PART, ((1, 5), (2, 5), (3, 5)), RANDOM),
    Columns(match.PART, ((2, 4),), RANDOM, {"payload": PAYLOAD}),
    Columns(match_close.PART, ((2, 4),), RANDOM, {"payload": PAYLOAD}),
    Columns(match_nearest.PART, ((2, 3),), RANDOM, {"payload": PAYLOAD}),
    Columns(
        match_next.PART,
        ((2, 3),),
        RANDOM,
        {"payload": PAYLOAD, "count": IGNORED, "query_count": IGNORED},
        n_covers_length=True,
    ),
)


ALONE = (
    " In columns of up to n positions, every n from 4 on, fused, rounding changes neither which keys win nor, but for the last"
    " digit of a fraction, what is read."
)


def with_certificate(part: Part) -> Claim:
    """Returns the claim about a head as we ship it, which is also certified without a model around it."""
    claim_of_part = shipped_claim(part)
    return replace(claim_of_part, statement=claim_of_part.statement + ALONE)


@claims("head", HEADS, lambda head: with_certificate(head.part))
def test_head(check: Check, engine: str, head: Columns) -> None:
    run_columns(check, head, engine)
    if check.p_bits is None:
        text = f"the head alone, every column of the contract of up to n positions, every n from {LEAST} on"
        alone = Subject(HeadAlone(head.part.id), LEAST, last=ENDLESS)
        check.certified([alone], range=f"{text}: nothing is rounded wrongly", precision="least p of n positions")


# As printed


@dataclass(frozen=True)
class PrintedHead:
    """A head with the printed score factors. precision: n ↦ the p that the claim names. text: says so.

    holds_from: the least n from which on the hardest columns come out right. hardest: the columns of each n that are looked at.
    """

    part: Part
    precision: Callable[[int], int]
    text: str
    holds_from: int
    remark: str
    n_covers_length: bool = False
    hardest: Sequence[int] = (0,)

    @property
    def name(self) -> str:
        """The last part of the claim's id."""
        return "printed-score" if self.part.id == "C.14" else "printed-roomy" if self.part.id == "C.18" else "printed"

    @property
    def claim(self) -> Claim:
        """Returns the claim."""
        statement = f"{self.part.statement} {self.remark} At {self.text}, one p for each n."
        return Claim(f"{self.part.id}/{self.name}", self.part.source, statement, variant="printed")


def only_at(precision: Callable[[int], int], right: Predicate[Trial]) -> Predicate[Trial]:
    """Returns the judge of columns at the p that a statement names; no other p is decided, as a lead of n is lost in more bits."""

    def right_there(trial: Trial) -> Counterexample | None:
        if trial.precision_bits != (p := precision(trial.n)):
            raise NoVerdict(f"the claim names p = {p} for n = {trial.n}, and this is p = {trial.precision_bits}")
        return right(trial)

    return right_there


LARGE = 64  # from here on e^−n is negligible at every precision that is looked at
BEYOND = 16  # sizes above the least one that are looked at one by one
NAMED = "p = the least odd number above 10·log2 n"
ROOM = "p = O(log n), the least at which every entry of the printed matrices fits"


def roomy(power: int) -> Callable[[int], int]:
    """Returns the function n ↦ p with room for n^power times a square."""
    return lambda n: roomy_precision(n, power)


EXPONENT = f"With the printed factors for c = {PRINTED_POSITION_POWER}, where they fit."
PRINTED = (
    PrintedHead(copy.PART, printed_precision, NAMED, 16, "With the printed factor n, up to n positions.", True),
    PrintedHead(COUNT_BY_SCORE, printed_precision, NAMED, 16, "With the printed score, up to n positions.", True),
    PrintedHead(match.PART, roomy(PRINTED_FACTOR_POWER), ROOM, 4, EXPONENT),
    PrintedHead(match_close.PART, roomy(PRINTED_FACTOR_POWER), ROOM, 46, EXPONENT),
    PrintedHead(match_nearest.PART, roomy(PRINTED_FACTOR_POWER), ROOM, 46, EXPONENT),
    PrintedHead(
        match_next.PART,
        roomy(7),
        ROOM,
        36,
        "With the printed factors for A = 1, where they fit, and x − x² for nxt.",
        n_covers_length=True,
        hardest=(0, 1, 2, 3),
    ),
)


def search_printed(
    check: Check,
    engine: str,
    part: Part,
    sizes: Sequence[int],
    precision: Callable[[int], int],
    text: str,
    *,
    n_covers_length: bool = False,
    examples: int = 150,
    also: str = "",
    by: Predicate[Trial] | None = None,
) -> None:
    """Tries the printed head on random columns. also: the first words of the text on the range. by: another judge than usual."""

    right = by or ByOracle(part, engine, printed=True)
    longest = min(LONGEST, sizes[0] ** 2)
    check.sampled(
        trials(
            part,
            sizes,
            longest,
            precision=lambda n, length: check.p_bits or precision(n),
            n_covers_length=n_covers_length,
        ),
        right,
        range=f"{also}columns of up to {longest} positions, n ≥ {sizes[0]}",
        precision=check.precision_text(text),
        max_examples=examples,
    )


@claims("printed", PRINTED, lambda printed: printed.claim)
def test_as_printed_from_some_n_on(check: Check, engine: str, printed: PrintedHead) -> None:
    part, least = printed.part, printed.holds_from
    sizes = check.sizes(least)
    if check.p_bits is not None and not (sizes := tuple(n for n in sizes if printed.precision(n) == check.p_bits)):
        check.unknown(f"p = {check.p_bits} is named for no n that is looked at: {printed.text}")

    right = only_at(printed.precision, ByOracle(part, engine, printed=True))
    check.fails_below(
        least,
        (
            hardest(part, n, min(n, LONGEST_HARD), printed.precision(n), back)
            for n in range(max(2, least - 1), least + BEYOND)
            for back in printed.hardest
        ),
        right,
        range="columns in which every position is as near to the winner as can be",
        precision=printed.text,
    )
    covers = printed.n_covers_length
    search_printed(check, engine, part, sizes, printed.precision, printed.text, n_covers_length=covers, by=right)


@claim(
    "C.14/printed",
    source=count.PART.source,
    statement=f"{count.PART.statement} With the printed K and Q.",
    variant="printed",
    kind=Kind.SLIP,
    readings=count_readings("C.14/printed-score"),
    slip="C.14",
)
def test_count_as_printed(check: Check, engine: str) -> None:
    sizes = check.sizes(2)
    large = [n for n in sizes if n >= min(LARGE, sizes[-1])]
    search_printed(check, engine, count.PART, large, roomy(3), ROOM)


@claim(
    "C.18/printed",
    source=match_next.PART.source,
    statement=f"{match_next.PART.statement} With the printed factors at every p > 10A·log2 n. A = 1.",
    variant="printed",
    kind=Kind.OPEN,
    readings=(
        Reading(
            "numbers of R_p, which is fixed point, A = 1 and p just above 10·log2 n, from n = 64 on; a natural logarithm gives"
            " fewer bits still",
            False,
        ),
        Reading(
            "p-bit floating point, as the sentences call the numbers, A = 1 and p just above 10·log2 n",
            True,
            "C.18/printed-floating",
        ),
        Reading("A = 1 and p large enough for the factors", True, "C.18/printed-roomy"),
        Reading(
            "A = 3 and A = 4, n ≥ 64: at p > 10A·log2 n no sample fails; at A = 2 and n = 65 the default just does not fit",
            True,
            "C.18/printed-larger-a",
        ),
        Reading("A = 1 and p > 10·log2 n with smaller factors, n = 363 … 10,000", True, "C.18/least-bits"),
    ),
    slip="C.18",
)
def test_match_next_as_printed(check: Check, engine: str) -> None:
    sizes = check.sizes(2)
    large = [n for n in sizes if n >= min(LARGE, sizes[-1])]
    search_printed(check, engine, match_next.PART, large, printed_precision, NAMED, n_covers_length=True)


@claim(
    "C.18/printed-larger-a",
    source=match_next.PART.source,
    statement=f"{match_next.PART.statement} With the printed factors, x − x² for nxt, p = the least odd number above 10A·log2 n,"
    f" n ≥ {LARGE}. A = 3 and A = 4.",
    variant="printed",
)
def test_match_next_as_printed_for_larger_a(check: Check, engine: str) -> None:
    sizes = check.sizes(LARGE)
    for power in (3, 4):
        part, precision = match_next.part(1, power), partial(precision_above, 10 * power)
        search_printed(
            check,
            engine,
            part,
            [*sizes, *(n + 1 for n in sizes)],  # after a power of two 2^q is the furthest above n^5A
            precision,
            f"A = {power}: p = the least odd number above {10 * power}·log2 n",
            n_covers_length=True,
            examples=80,
            also=f"A = {power}, ",
            by=only_at(precision, ByOracle(part, engine, printed=True)),
        )


@claim(
    "C.18/least-bits",
    source=match_next.PART.source,
    statement="p > 10·log2 n is enough for Lemma C.18 with A = 1: the factors that we derive need no more, up to n positions.",
)
def test_ten_logarithms_are_enough(check: Check) -> None:
    def enough(n: int) -> Counterexample | None:
        needed, given = match_next.match_next_precision(n, n), printed_precision(n)
        return None if needed <= given else Counterexample(needed=needed, given=given)

    least = 363
    check.sizes(least)
    text = "every n, the p of C.18/repaired against the least odd number above 10·log2 n"
    check.fails_below(least, range(2, least + BEYOND), enough, range=f"{text}: the first")
    beyond = range(least, check.n_max + 1)
    check.exhaustive(beyond, enough, count=check.n_max - least + 1, range=text)


# What the statements leave out


def of_zero_queries(part: Part) -> dict[str, Any]:
    """Returns what is expected where a query may be 0, as the key at position 1 is: there the last match alone is read right."""
    if part is match_close.PART:
        return {}
    readings = (
        Reading(
            "any query, 0 included: it equals position 1's key, which pays the default, so a later 0 is read", False
        ),
        Reading(f"queries that are not 0, as Lemma C.8 has its keys: {part.id}", True, f"{part.id}/repaired"),
    )
    return {"kind": Kind.OPEN, "readings": readings, "slip": "zero-query"}


@claims(
    "case",
    (match.PART, match_close.PART, match_nearest.PART),
    lambda part: Claim(
        f"{part.id}/zero-query",
        part.source,
        f"{part.statement} Queries that are 0 included, as printed.",
        finding="zero-query",
        **of_zero_queries(part),
    ),
)
def test_zero_query(check: Check, engine: str, case: Part) -> None:
    def contract(setting: Setting) -> Contract:
        restricted = case.contract(setting)
        return replace(restricted, requires={**restricted.requires, "query": Integer(0, setting.n)})

    part = replace(case, contract=contract)

    right = ByOracle(part, engine)
    check.exhaustive(
        right.runs.compute_ahead(every_trial(part, 2, 3, precision=bits_of(check), pins={"payload": PAYLOAD})),
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
    statement="Where several equal-keyed positions are equally near to the wanted one, of which the lemma promises nothing, the"
    " head reads their average.",
)
def test_two_nearest(check: Check, engine: str) -> None:
    part = match_nearest.PART
    runs = ByOracle(part, engine).runs

    def the_average(trial: Trial) -> Counterexample | None:
        columns = trial.columns
        for k, got in enumerate(runs.outcome(trial).values["out"]):
            equal = [h for h in range(k + 1) if columns["key"][h] == columns["query"][k]] or [0]
            distance = {h: abs(h + 1 - columns["wanted"][k]) for h in equal}
            nearest = [columns["payload"][h] for h in equal if distance[h] == min(distance.values())]
            if got != (average := sum(nearest, Fraction(0)) / len(nearest)):
                return Counterexample(position=k + 1, expected=average, got=got)
        return None

    pins = {"payload": PAYLOAD, "query": (Fraction(1),) * 4}
    check.exhaustive(
        runs.compute_ahead(every_trial(part, 2, 4, precision=bits_of(check), pins=pins)),
        the_average,
        count=columns(part, 2, 4, check.p_bits, ["payload", "query"]),
        range="all columns with query 1 and a different payload at each position: n = 2 up to 4 positions",
        size=2,
        precision=check.precision_text("least p"),
    )


@claim(
    "C.7-C.18/leakage",
    source="Lemmas C.13 to C.18, the last step of every proof",
    statement=f"A lead of n leaves the others no weight: n²·e^−n < 2^−(q + 2) at the least odd p above 10·log2 n, n ≥ {LARGE}.",
    variant="printed",
)
def test_leakage(check: Check) -> None:
    check.proved(
        leakage_vanishes(LARGE, 8, 7),
        by=f"e^{LARGE} > 2^50, and e grows faster than ((n + 1)/n)^7",
        range=f"8·n^7 < e^n, all n ≥ {LARGE}",
    )
    check.argued("2^q ≤ 2·n^5 for p ≤ 10·log2 n + 2, so that n²·2^(q + 2) ≤ 8·n^7.")
    look_at_leakage(check, LARGE, Fraction(1))


OF_ITS_PROOF = 146  # the least n from which on the lead that C.18's proof has is enough
BY_GROWTH = 160  # from here on by growth


@claim(
    "C.18/leakage",
    source="Lemma C.18, the last step of its proof",
    statement="A lead of n/4, which is what its proof has, leaves the others no weight: n²·e^(−n/4) < 2^−(q + 2) at the least odd p"
    " above 10·log2 n.",
    variant="printed",
)
def test_leakage_of_a_quarter(check: Check) -> None:
    quarter = Fraction(1, 4)
    check.sizes(OF_ITS_PROOF)
    check.fails_below(
        OF_ITS_PROOF,
        range(2, OF_ITS_PROOF + BEYOND),
        partial(leaks_nothing, quarter),
        range="each n by itself",
        precision=NAMED,
    )
    check.proved(
        leakage_vanishes(BY_GROWTH, 4096, 28),
        by="e grows faster than ((n + 1)/n)^28",
        range="(8·n^7)^4 < e^n",
        limit=f"n ≥ {BY_GROWTH}",
    )
    check.argued("2^q ≤ 2·n^5 for p ≤ 10·log2 n + 2, so that n²·2^(q + 2) ≤ 8·n^7.")
    look_at_leakage(check, OF_ITS_PROOF, quarter)


E = (Fraction(2_718_281_828, 10**9), Fraction(2_718_281_829, 10**9))  # e lies between


def leaks_nothing(share: Fraction, n: int) -> Counterexample | None:
    """Returns whether n²·e^(−share·n) < 2^−(q + 2), that is (n²·2^(q + 2))^b < e^(a·n) for share = a/b."""
    q = (printed_precision(n) - 1) // 2
    needed, power = (n * n << (q + 2)) ** share.denominator, share.numerator * n
    below, above = (bound ** min(power, ENOUGH) for bound in E)
    if needed < below:
        return None
    if power > ENOUGH or needed < above:
        raise NoVerdict(f"n = {n}: e is not known well enough")
    return Counterexample(q=q, lead=share * n)


ENOUGH = 400  # a lead after which nothing is left at any n that is looked at: e^400 > (10^4)^28·2^12


def look_at_leakage(check: Check, least: int, share: Fraction) -> None:
    """Looks at each n by itself, up to --n-max."""
    check.sizes(least)
    check.exhaustive(
        range(least, check.n_max + 1),
        partial(leaks_nothing, share),
        count=check.n_max - least + 1,
        range=f"every n ≥ {least}",
        precision=NAMED,
    )


@claim(
    "C.18/lead",
    source="Lemma C.18, its factor n^(4A+1) and the cubic nxt",
    statement="The winner leads by at least n, four times what the proof has: n^5·(squared distance) for A = 1, counts 1/1 … 1/n.",
    variant="printed",
)
def test_lead_of_the_printed_factor(check: Check) -> None:
    check.proved(lead_is_n(), by="m = k + 4 leaves positive coefficients only", range="all m ≥ 4")
    check.argued("Other counts lie farther from nxt(1/m) on the same side. n^5/n^4 is n.")

    def at_least_n(n: int) -> Counterexample | None:
        lead = least_lead_as_printed(n) * n**5
        return None if lead >= n else Counterexample(lead=lead)

    sizes = range(2, min(check.n_max, EVERY_LEAD) + 1)
    text = "all counts up to n against all others"
    check.exhaustive(sizes, at_least_n, count=len(sizes), range=text)


EVERY_LEAD = 40


def least_lead_as_printed(n: int) -> Fraction:
    """Returns the least difference of squared distances to the cubic nxt(1/m), over counts 1/1 … 1/n that are consecutive.

    The winner is 1/(m + 1), or 1/m where that is the last.
    """
    leads = []
    for m in range(1, n + 1):
        x = Fraction(1, m)
        target = {1: Fraction(1, 2), 2: Fraction(1, 3), 3: Fraction(1, 4)}.get(m, x - x**2 + x**3)
        squares = {i: (Fraction(1, i) - target) ** 2 for i in range(1, n + 1)}
        if m < n:
            leads += [squares[i] - squares[m + 1] for i in squares if i != m + 1]
        leads += [squares[i] - squares[m] for i in squares if i < m]
    return min(leads)

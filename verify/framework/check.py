"""`check`: how a claim's test searches, and how what it covered becomes evidence."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import pytest

from verify.framework.cases import case_type, from_json, store, to_json
from verify.framework.claim import (
    Certified,
    Claim,
    Counterexample,
    Evidence,
    Exhaustive,
    Proved,
    Row,
    Sampled,
    Searched,
    Verdict,
    Witness,
)
from verify.framework.options import Options

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

LARGEST_REPLAYED = 10_000  # the size of a stored case, where its run asked for no larger one

T = TypeVar("T")
Predicate = Callable[[T], Counterexample | None]
Size = Callable[[T], int] | int | None


class Refuted(Exception):
    """Ends a claim's test: its witness is found."""


class Undecided(Exception):
    """Ends a claim's test without a verdict."""


@dataclass
class Check:
    """Given to the test of one claim. Whatever it does not record here, it has not shown.

    replay: look at this case alone, in the part of the test that found it.
    until: search random parts only, up to this time (of time.time()); what crashes is a witness too.
    tick: told how many cases a running search has seen.
    """

    claim: Claim
    options: Options
    engine: str = ""
    replay: Witness | None = None
    until: float | None = None
    tick: Callable[[int], None] = lambda cases: None
    evidence: list[Evidence] = field(default_factory=list)
    witness: Witness | None = None
    notes: list[str] = field(default_factory=list)
    _parts: set[str] = field(default_factory=set)

    @property
    def n_max(self) -> int:
        """The largest size to look at."""
        return self.options.n_max

    @property
    def p_bits(self) -> int | None:
        """The precision asked for, or None: take the one that the claim is stated for."""
        return self.options.p_bits

    @property
    def device(self) -> str:
        """cpu or cuda."""
        return self.options.device

    @property
    def seed(self) -> int:
        """Fixes every random choice of the run."""
        return self.options.seed

    def sizes(self, low: int = 1, *, cap: int | None = None, ratio: int = 2) -> tuple[int, ...]:
        """low, low·ratio, low·ratio², … and the top itself: n_max, or `cap` if no more can be afforded.

        The ledger tells when `cap` was the lower one. Skips the claim if n_max is below `low`.
        """
        if low < 1 or ratio < 2 or (cap is not None and cap < low):
            raise ValueError(f"no ladder of sizes from {low} by {ratio} to {cap}")
        if self.n_max < low:
            pytest.skip(f"needs n ≥ {low}, --n-max is {self.n_max}")
        top = self.n_max if cap is None else min(self.n_max, cap)
        if top < self.n_max:
            affords = f": what the {self.engine} engine affords" if self.engine else ""
            self._note(f"n ≤ {top:,} of {self.n_max:,}{affords}")
        ladder = []
        size = low
        while size < top:
            ladder.append(size)
            size *= ratio
        return (*ladder, top)

    def precision_text(self, usual: str) -> str:
        """Of --p-bits, for the ledger; else the usual one."""
        return usual if self.p_bits is None else f"p = {self.p_bits}"

    def certified_sizes(self, sizes: Sequence[int], least_precision: Callable[[int], int]) -> tuple[int, ...]:
        """The sizes whose least precision --p-bits reaches. Leaves the claim undecided if there is none."""
        if self.p_bits is None:
            return tuple(sizes)
        kept = tuple(n for n in sizes if least_precision(n) <= self.p_bits)
        if not kept:
            least = f"{least_precision(sizes[0])} at n = {sizes[0]}"
            self.unknown(f"p = {self.p_bits} is below the least p that is certified, {least}")
        return kept

    def exhaustive(
        self,
        cases: Iterable[T],
        predicate: Predicate[T],
        *,
        count: int,
        range: str,
        size: Size[T] = None,
        precision: str = "",
    ) -> None:
        """Every case of `range`, smallest first: the first one that refutes becomes the witness.

        count: how many there are, by a formula that shares nothing with what lists them (`verify.oracles.counts`). The claim stays
        undecided if other than so many different cases came.
        """
        self._walk(Exhaustive, cases, predicate, range, size, precision, count)

    def certified(
        self, cases: Iterable[T], predicate: Predicate[T], *, range: str, size: Size[T] = None, precision: str = ""
    ) -> None:
        """Each case is one (n, p), and the predicate covers all inputs of it by a certificate, not by a sample."""
        self._walk(Certified, cases, predicate, range, size, precision)

    def chosen(
        self, cases: Iterable[T], predicate: Predicate[T], *, range: str, size: Size[T] = None, precision: str = ""
    ) -> None:
        """Cases that were picked from more that the claim, or its reader, has in mind: a sample, though no random one."""
        self._walk(Sampled, cases, predicate, range, size, precision)

    def sampled(
        self,
        strategy: SearchStrategy[T],
        predicate: Predicate[T],
        *,
        range: str,
        size: Size[T] = None,
        precision: str = "",
        max_examples: int = 100,
    ) -> None:
        """Random cases; a witness is shrunk. Which ones: that depends on --seed, the claim and the range alone."""
        if not self._begin(range):
            self._replay(Sampled, predicate, range, size, precision)
            return
        from verify.framework.sampling import TimeIsOver, search

        seen = _Seen(self, predicate, size)
        seed = zlib.crc32(f"{self.seed} {self.claim.id} {range}".encode())
        try:
            found = search(strategy, seen.judge if self.until is None else seen.tried, max_examples, seed)
        except TimeIsOver:
            found = None
        if found is None and not seen.cases:
            return
        if found is None:
            self.evidence.append(Sampled(range, precision, seen.cases, seen.n_max, stopped=False))
        else:
            self._refute(Sampled(range, precision, seen.cases, seen.n_max, stopped=True), *found, predicate)

    def proved(self, proof: Callable[[], bool], *, by: str, range: str = "all n", precision: str = "") -> None:
        """The argument goes through: `proof` carries it out and returns True. False leaves the claim undecided."""
        if self._begin(range) and self.until is None:
            if proof() is not True:
                raise Undecided(f"the proof does not go through: {by}")
            self.evidence.append(Proved(range, precision, by))

    def unknown(self, reason: str) -> NoReturn:
        """Nobody has decided this claim here."""
        raise Undecided(reason)

    def row(self, seconds: float, note: str = "") -> Row:
        """What is known at the end. note: why the test ended early, if it did for another reason than a witness."""
        if self.witness is not None:
            verdict = Verdict.REFUTED
        elif note or not self.evidence:
            verdict = Verdict.UNKNOWN
            missing = "recorded no evidence" if self.replay is None else f"has no part {self.replay.part!r}"
            note = note or f"the test {missing}"
        else:
            verdict = Verdict.HOLDS
        text = "; ".join(part for part in (note, *self.notes) if part)
        return Row(self.claim, verdict, tuple(self.evidence), self.witness, self.engine, round(seconds, 3), text)

    def _walk(
        self,
        kind: type[Searched],
        cases: Iterable[T],
        predicate: Predicate[T],
        range: str,
        size: Size[T],
        precision: str,
        count: int | None = None,
    ) -> None:
        if not self._begin(range):
            self._replay(kind, predicate, range, size, precision)
            return
        if self.until is not None:
            return
        seen = _Seen(self, predicate, size)
        different: set[object] = set()
        for case in cases:
            if count is not None:
                different.add(case if _has_hash(case) else repr(case))
            counterexample = seen.judge(case)
            if counterexample is not None:
                evidence = kind(range, precision, seen.cases, seen.n_max, stopped=True)
                self._refute(evidence, case, counterexample, predicate)
        if not seen.cases:
            raise Undecided(f"no case at all: {range}")
        if count is not None and not len(different) == seen.cases == count:
            raise Undecided(
                f"{seen.cases:,} cases, {len(different):,} of them different, are not all {count:,}: {range}"
            )
        self.evidence.append(kind(range, precision, seen.cases, seen.n_max, stopped=False))

    def _begin(self, range: str) -> bool:
        """Registers a part of the test; True unless a replay goes straight to its case."""
        if range in self._parts:
            raise ValueError(f"claim {self.claim.id} says {range!r} twice: a replay could not tell its parts apart")
        self._parts.add(range)
        return self.replay is None

    def _replay(self, kind: type[Searched], predicate: Predicate[T], range: str, size: Size[T], precision: str) -> None:
        if self.replay is not None and self.replay.part == range:
            try:
                case = from_json(self.replay.case, case_type(predicate))
            except (ValueError, TypeError, KeyError) as error:
                raise Undecided(f"the stored case does not fit: {error}") from error
            most = max(self.n_max, LARGEST_REPLAYED)
            if callable(size) and size(case) > most:
                raise Undecided(
                    f"n = {size(case)} is larger than a replay takes on: {most}, or the n_max of the witness"
                )
            counterexample = judged(predicate, case)
            evidence = kind(range, precision, 1, None, stopped=True)
            if counterexample is not None:
                self._refute(evidence, case, counterexample, predicate)
            self.evidence.append(evidence)

    def _refute(self, evidence: Evidence, case: T, counterexample: Counterexample, predicate: Predicate[T]) -> NoReturn:
        shows = {name: _shown(value) for name, value in counterexample.shows.items()}
        options = self.options
        stored = store(case, predicate)
        self.evidence.append(evidence)
        self.witness = Witness(stored, shows, evidence.range, options.n_max, options.p_bits, self.engine, options.seed)
        raise Refuted

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


class _Seen(Generic[T]):
    """Counts cases and measures the largest; makes sure that the first one could be stored as a witness."""

    def __init__(self, check: Check, predicate: Predicate[T], size: Size[T]) -> None:
        self.check, self.predicate, self.size = check, predicate, size
        self.cases = 0
        self.n_max: int | None = size if isinstance(size, int) else None
        self.refuted = False

    def judge(self, case: T) -> Counterexample | None:
        if not self.cases:
            store(case, self.predicate)
        if not self.refuted:  # what a shrinking search tries after its first witness covers nothing new
            self.cases += 1
            self.check.tick(self.cases)
            if callable(self.size):
                self.n_max = max(self.n_max or 0, self.size(case))
        counterexample = judged(self.predicate, case)
        self.refuted = self.refuted or counterexample is not None
        return counterexample

    def tried(self, case: T) -> Counterexample | None:
        """The same until the time is over; a crash counts as a counterexample, so that its case is shrunk and kept."""
        from verify.framework.sampling import TimeIsOver

        if not self.refuted and self.check.until is not None and time.time() >= self.check.until:
            raise TimeIsOver
        try:
            return self.judge(case)
        except Exception as error:
            self.refuted = True
            return Counterexample(raised=f"{type(error).__name__}: {error}")


def _has_hash(case: object) -> bool:
    try:
        hash(case)
    except TypeError:
        return False
    return True


def judged(predicate: Predicate[T], case: T) -> Counterexample | None:
    """What the predicate says, returned or raised; TypeError if that is neither a Counterexample nor None."""
    try:
        result = predicate(case)
    except Counterexample as counterexample:
        return counterexample
    if result is not None and not isinstance(result, Counterexample):
        raise TypeError(f"a predicate returns None or a Counterexample, not {result!r}")
    return result


def _shown(value: object) -> object:
    """For the account of a witness: exact where it can be, readable where not."""
    try:
        return to_json(value)
    except TypeError:
        return str(value)

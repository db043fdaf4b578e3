"""`check`: how a claim's test searches, and how what it covered becomes evidence."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import pytest

from verify.framework.cases import case_type, from_json, store
from verify.framework.claim import (
    Argued,
    Assumed,
    Below,
    Certified,
    Claim,
    Counterexample,
    Evidence,
    Exhaustive,
    Json,
    Measured,
    Proved,
    Row,
    Sampled,
    Searched,
    Solved,
    Stored,
    Verdict,
    Witness,
    compact,
    is_measured,
    unsaid_of,
    why_not_from,
)
from verify.framework.options import Options
from verify.framework.predicates import (
    CaseCount,
    NoVerdict,
    Predicate,
    Size,
    Span,
    WitnessFound,
    has_hash,
    judge_case,
    readable,
)
from verify.framework.proofs import check as check_proof
from verify.framework.proofs import digest, sentence_of
from verify.trusted import sat
from verify.trusted.kernel import Rejected

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from circuits.circuit import Circuit
    from verify.dossiers.dossier import About, Subject
    from verify.framework.batches import Batches
    from verify.induction.theory import Theory
    from verify.stored.intervals import Built

LARGEST_REPLAYED = 10_000  # the size of a stored case, where its run asked for no larger one

T = TypeVar("T")


@dataclass
class Shared:
    """What one process does once for all claims that rest on it.

    built: intervals of stored documents whose weights were built. followed: digests of theories whose lemmas were shown.
    """

    built: Built = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Check:
    """Given to the test of one claim. Whatever it does not record here, it has not shown. A test sets nothing of it by hand.

    replay: look at this case alone, in the part of the test that found it.
    anew: make the theorems of `proved` and look at nothing else. "whole": each of them. "quick": of those that take minutes, what
    takes seconds.
    until: search random parts only, up to this time (of time.time()); what crashes is a witness too.
    tick: told how many cases a running search has seen. proofs: those that were accepted, by part.
    shared: with the other claims of a run.
    """

    claim: Claim
    options: Options
    engine: str = ""
    replay: Witness | None = None
    anew: Literal["", "quick", "whole"] = ""
    until: float | None = None
    tick: Callable[[int], None] = lambda cases: None
    notes: list[str] = field(default_factory=list)
    proofs: dict[str, list[Json]] = field(default_factory=dict)
    shared: Shared = field(default_factory=Shared)
    _evidence: list[Evidence] = field(default_factory=list)
    _witnesses: list[Witness] = field(default_factory=list)
    _parts: set[str] = field(default_factory=set)
    _scope: dict[str, None] = field(default_factory=dict)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Returns what was recorded so far."""
        return tuple(replace(part, scope=tuple(self._scope)) if part.checked else part for part in self._evidence)

    @property
    def witness(self) -> Witness | None:
        """Returns what refutes the claim, if anything did."""
        return self._witnesses[0] if self._witnesses else None

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
        """Returns low, low·ratio, low·ratio², … and the top itself: n_max, or `cap` if no more can be afforded.

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
        """Returns the p of --p-bits, for the ledger; else the usual one."""
        return usual if self.p_bits is None else f"p = {self.p_bits}"

    def certified_sizes(self, sizes: Sequence[int], least_precision: Callable[[int], int]) -> tuple[int, ...]:
        """Returns the sizes whose least precision --p-bits reaches. Leaves the claim undecided if there is none."""
        if self.p_bits is None:
            return tuple(sizes)
        certified = tuple(n for n in sizes if least_precision(n) <= self.p_bits)
        if not certified:
            least = f"{least_precision(sizes[0])} at n = {sizes[0]}"
            self.unknown(f"p = {self.p_bits} is below the least p that is certified, {least}")
        return certified

    def exhaustive(
        self,
        cases: Iterable[T],
        predicate: Predicate[T],
        *,
        count: int,
        range: str,
        size: Size[T] = None,
        precision: str = "",
        inputs: Callable[[T], int] | None = None,
        span: Callable[[T], Span] | None = None,
    ) -> None:
        """Tries every case of `range`, smallest first; the first one that refutes becomes the witness.

        count: how many there are, by a formula that shares nothing with what lists them (`verify.oracles.counts`). The claim stays
        undecided if other than so many different cases came.
        inputs: for a case that stands for many inputs, how many the predicate went through; `count` is then of all of them.
        span: for a case that is about many n, instead of `size`, the first and the last of them.
        """
        self._walk(Exhaustive, cases, predicate, range, size, precision, count, inputs, span=span)

    def certified(self, subjects: Iterable[Subject], *, range: str, precision: str = "") -> None:
        """Certifies each model from its weights: the static checker proves that rounding is sound for all inputs.

        A model that it refuses is the witness; where it cannot tell, the claim stays undecided.
        """
        self._certify("rounding", subjects, range, precision)

    def explained(self, subjects: Iterable[Subject], *, range: str) -> None:
        """Compares the program of each model's weights with the task's definition, for all inputs; evidence as of `certified`."""
        self._certify("program", subjects, range, "")

    def stored(self, subject: Subject, about: About, *, range: str, precision: str = "") -> None:
        """Compares a document of each n of the subject (verify/stored/intervals.py) with the weights of now.

        A few of its intervals are certified anew. A document that is not of these weights leaves the claim undecided; weights that
        are refused, or are others for an int than for the symbol, are the witness.
        """
        from verify.framework.weights import StoredDocument, sizes_of

        if self.until is not None:
            return
        self.within(*subject.dossier.scope)
        document = StoredDocument(subject, about, self.seed, self.shared.built)
        text = f"{range}; {document.name}{', accepted by the small checker' * document.accepted}"
        if self._begin(text):
            seen = CaseCount(document.build, None, self.tick, None)
            for case in document.built:
                if (counterexample := seen.judge(case)) is not None:
                    evidence = Stored(
                        text, precision, seen.cases, None, True, document.name, document.sha256, seen.cases
                    )
                    self._refute(evidence, case, counterexample, document.build)
            of, sizes = (
                (document.intervals, document.last, False, document.name, document.sha256, seen.cases),
                ((subject.n, document.last),),
            )
            self._evidence.append(Stored(text, precision, *of, sizes=sizes))
        else:
            self._replay(Stored, document.build, text, None, precision)
        self._walk(
            Certified, document.renewed, document.renew, f"{text}: certified anew", None, precision, span=sizes_of
        )

    def stored_above(self, subject: Subject, about: About, *, range: str, precision: str = "") -> Json:
        """Returns what a document says of all n from some n on, held against the weights of now; one of its cases is judged
        anew.

        Returns its theorem, to be shown again. None if no document is of these weights: then all is to be judged anew.
        """
        from verify.framework.weights import load_above, sizes_of

        if self.replay is not None or self.until is not None or self.anew:
            return None
        if (pair := load_above(subject, about, self.seed)) is None:
            return None
        above, theorem = pair
        self.within(*subject.dossier.scope)
        text = f"{range}; one of them judged anew"
        self._begin(text)
        of = (len(above.cases), None, False, above.name, above.sha256, len(above.weights))
        self._evidence.append(Stored(text, precision, *of, sizes=(sizes_of(subject),)))
        return theorem

    def accepted(self, subject: Subject, *, range: str, precision: str = "") -> Json:
        """Has the small checker accept stored certificates of all n from some n on, with the weights that the builder makes now.

        Returns the theorem of the builder's comparisons, to be shown again. None if there are no such certificates of these
        weights: then all is to be judged anew.
        """
        from verify.framework.weights import accepted_cases, sizes_of

        if self.replay is not None or self.until is not None:
            return None
        if (result := accepted_cases(subject, self.seed, anew=self.anew == "whole")) is None:
            return None
        found, name, document = result
        if not self.anew:
            self.within(*subject.dossier.scope)
            text = f"{range}; {name}, accepted by the small checker{', one case of it again' * (not found.is_whole)}"
            self._begin(text)
            looked_at, sizes = (text, precision, found.cases, None, False), (sizes_of(subject),)
            self._evidence.append(
                Certified(*looked_at, found.weights, sizes=sizes)
                if found.is_whole
                else Stored(*looked_at, name, document, found.cases, sizes=sizes)
            )
        return found.theorem

    def _certify(self, about: About, subjects: Iterable[Subject], range: str, precision: str) -> None:
        from verify.framework.weights import Certifier, sizes_of

        def limited() -> Iterator[Subject]:
            for subject in subjects:
                yield subject
                self.within(*subject.dossier.scope)

        weights = Certifier(about)
        self._walk(
            Certified,
            limited(),
            weights.judge,
            range,
            None,
            precision,
            earned=weights.digest,
            span=sizes_of,
        )

    def equivalent(
        self,
        cases: Iterable[T],
        circuits: Callable[[T], tuple[Circuit, Circuit]],
        *,
        range: str,
        limit: str,
        size: Size[T] = None,
        precision: str = "",
    ) -> None:
        """Proves that the two circuits of each case are equal on every input; `trusted.sat` checks the proofs.

        An input on which they differ refutes. A SAT solver finds the proofs; one that is rejected leaves the claim undecided.
        limit: which instances of the claim the cases are.
        """
        proofs = 0

        @functools.wraps(circuits)
        def differ(case: T) -> Counterexample | None:
            nonlocal proofs
            from circuits.equivalence import Difference, compare

            result = compare(*circuits(case))
            if isinstance(result, Difference):
                return Counterexample(difference=str(result))
            try:
                sat.check_equal(result.gates, result.pairs, result.proof)
            except sat.Rejected as error:
                raise NoVerdict(
                    f"the proof that two circuits are equal does not go through: {case}: {error}"
                ) from error
            proofs += 1
            return None

        self._walk(Solved, cases, differ, range, size, precision)
        if proofs and self.replay is None:
            by = "refutations that a SAT solver found, each made anew and checked step by step"
            theorem = "no input makes two outputs of one name differ"
            sizes = self._evidence.pop().sizes
            self._evidence.append(Proved(range, precision, by, theorem, proofs, limit=limit, sizes=sizes))

    def follows(self, theory: Theory, *, range: str, lemmas: Sequence[str] = ()) -> None:
        """Asks an SMT solver whether each lemma follows from what it uses, and whether that can be true, along runs. Else the
        claim stays undecided.

        lemmas: only these and those that they rest on.
        """
        lemma_names = set(theory.closure(lemmas or theory.lemmas)) & set(theory.lemmas)
        digest = theory.digest(lemma_names)
        is_known = digest in self.shared.followed

        def consistent() -> Iterator[str]:
            from verify.induction.along import check_along_runs

            if not is_known and (doubt := check_along_runs(theory, sorted(lemma_names)).doubt):
                raise NoVerdict(f"what lemmas use may contradict itself: {doubt}")
            yield from (name for name in theory.lemmas if name in lemma_names)

        def refuted(lemma: str) -> Counterexample | None:
            if not is_known and (doubt := theory.doubt(lemma)):
                raise NoVerdict(f"{lemma} is not seen to follow from what it uses: {doubt}")
            return None

        text = f"{range}; the axioms, and what each lemma uses, have a model over all integers, by z3"
        self._walk(Solved, consistent(), refuted, text, None, "")
        self.shared.followed.add(digest)

    def chosen(
        self, cases: Iterable[T], predicate: Predicate[T], *, range: str, size: Size[T] = None, precision: str = ""
    ) -> None:
        """Tries cases picked from more that the claim, or its reader, has in mind: a sample, though no random one."""
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
        ahead: Batches[T, Any] | None = None,
    ) -> None:
        """Tries random cases and shrinks a witness. Which cases: that depends on --seed, the claim and the range alone.

        ahead: computes what the predicate asks of each case, of many at once. So the cases are drawn twice: first to be computed.
        """
        if not self._begin(range):
            self._replay(Sampled, predicate, range, size, precision)
            return
        from verify.framework.sampling import TimeIsOver, draw, search

        seen = CaseCount(predicate, size, self.tick, self.until)
        seed = zlib.crc32(f"{self.seed} {self.claim.id} {range}".encode())
        if ahead is not None and self.until is None:
            ahead.foresee(draw(strategy, max_examples, seed))
        try:
            witness = search(strategy, seen.judge if self.until is None else seen.tried, max_examples, seed)
        except TimeIsOver:
            witness = None
        if witness is None and not seen.cases:
            return
        evidence = Sampled(range, precision, seen.cases, seen.n_max, stopped=witness is not None, sizes=seen.sizes)
        if witness is None:
            self._evidence.append(evidence)
        else:
            self._refute(evidence, *witness, predicate)

    def fails_below(
        self,
        n_from: int,
        cases: Iterable[T],
        predicate: Predicate[T],
        *,
        range: str,
        size: Callable[[T], int],
        precision: str = "",
    ) -> None:
        """Shows a case at which the claim fails at n_from − 1, so that it can only hold from n_from on.

        A case of size n_from or more that fails refutes the claim. Without a case of size n_from − 1 that fails the claim stays
        undecided. All other evidence of the claim must be about n_from or more.
        """
        if any(isinstance(part, Below) for part in self._evidence):
            raise ValueError(f"claim {self.claim.id}: a claim fails below one n alone")
        if not self._begin(range):
            self._replay(Sampled, predicate, range, lambda case: _not_below(size(case), n_from), precision)
            return
        if self.until is not None:
            return
        seen = CaseCount(predicate, size, self.tick, self.until)
        below: tuple[T, Counterexample] | None = None
        for case in cases:
            counterexample = seen.judge(case)
            seen.refuted = False
            if counterexample is None:
                continue
            if size(case) >= n_from:
                evidence = Sampled(range, precision, seen.cases, seen.n_max, stopped=True, sizes=seen.sizes)
                self._refute(evidence, case, counterexample, predicate)
            if below is None and size(case) == n_from - 1:
                below = case, counterexample
        if below is None:
            raise NoVerdict(f"nothing fails at n = {n_from - 1}: {range}")
        failing, counterexample = below
        shown = {"case": store(failing, predicate), "shows": _readable(counterexample)}
        self._evidence.append(
            Below(range, precision, seen.cases, seen.n_max, False, n_from, compact(shown), sizes=seen.sizes)
        )

    def proved(
        self,
        proofs: Iterable[tuple[Json, Json]],
        *,
        by: str,
        range: str,
        precision: str = "",
        limit: str = "",
        quickly: Callable[[], Iterable[Json]] | None = None,
    ) -> None:
        """Checks theorems with their proofs by `verify.framework.proofs.check`. One that is rejected leaves the claim undecided.

        by: which argument, for people. range: what the theorems say, all together. limit: which instances of the claim they are
        about, if not all. quickly: where a theorem takes minutes to make, what is made of each in seconds, for
        `verify.framework.stored_theorems`; `proofs` is then an iterator.
        """
        begun = self._begin(range)
        if self.anew:
            quick = quickly is not None and self.anew == "quick"
            theorems = [theorem for theorem, _ in proofs] if quickly is None or not quick else list(quickly())
            self.proofs[range] = [{"part" if quick else "theorem": theorem, "proof": None} for theorem in theorems]
            return
        if not begun or self.until is not None:
            return
        objects: list[Json] = []
        for theorem, proof in proofs:
            try:
                check_proof(theorem, proof)
            except Rejected as error:
                raise NoVerdict(f"the proof does not go through: {by}: {sentence_of(theorem)}: {error}") from error
            objects.append({"theorem": theorem, "proof": proof})
        if not objects:
            raise NoVerdict(f"no theorem at all: {range}")
        self.proofs[range] = objects
        first = sentence_of(objects[0]["theorem"])
        self._evidence.append(Proved(range, precision, by, first, len(objects), digest(objects), limit))

    def refuses(self, wrong: Iterable[T], predicate: Predicate[T], *, range: str) -> None:
        """Tries the predicate on wrong cases, all of which it must refuse. Where it accepts one, the claim stays undecided.

        It is no evidence of the claim, but that the predicate by which other cases are judged can say no. range: what is wrong.
        """
        if not self._begin(range) or self.until is not None:
            return
        refused = 0
        for case in wrong:
            if judge_case(predicate, case) is None:
                raise NoVerdict(f"what is wrong is accepted: {range}: {readable(case)}")
            refused += 1
        if not refused:
            raise NoVerdict(f"no case at all: {range}")
        self._note(f"refused, as it should be: {refused:,} {'case' if refused == 1 else 'cases'} of {range}")

    def measured(
        self,
        values: Sequence[float],
        *,
        range: str,
        command: str,
        settings: str,
        size: int,
        text: Callable[[float], str] = "{:.3f}".format,
    ) -> None:
        """Records numbers that were measured before, one a run. The claim neither holds nor is refuted by them.

        command: measures them again. settings: the digest of what they depend on besides the code. size: n. text: of a number.
        """
        if not self._begin(range) or self.until is not None:
            return
        if not values:
            raise NoVerdict(f"no number at all: {range}")
        spread = f"{text(min(values))} … {text(max(values))}"
        told = (text(median(values)), spread, len(values), command, settings)
        self._evidence.append(Measured(range, "", *told, sizes=((size, size),)))

    def argued(self, argument: str) -> None:
        """Records what a person concludes, in a sentence. It is shown beside the evidence, and nothing holds by it alone."""
        if self._begin(argument) and self.until is None:
            self._evidence.append(Argued(argument, ""))

    def assumed(self, assumption: str) -> None:
        """Records what the claim rests on and is not shown here, in a sentence. Nothing holds by it alone."""
        if self._begin(assumption) and self.until is None:
            self._evidence.append(Assumed(assumption, ""))

    def unknown(self, reason: str) -> NoReturn:
        """Raises NoVerdict: nobody has decided this claim here."""
        raise NoVerdict(reason)

    def within(self, *scope: str) -> None:
        """Says what the claim's cases are limited to, each in words of its statement. Without them the claim cannot hold."""
        self._scope.update(dict.fromkeys(scope))

    def leave(self, reason: str) -> NoReturn:
        """Leaves the claim without a verdict: the ledger lists it as not judged, with the reason. Raises always."""
        pytest.skip(reason)

    def row(self, seconds: float, note: str = "") -> Row:
        """Returns the row of the ledger. note: why the test ended early, if not for a witness."""
        if self.witness is not None:
            verdict = Verdict.REFUTED
        elif not note and is_measured(self.evidence):
            verdict = Verdict.MEASURED
        elif note or not any(evidence.checked for evidence in self.evidence):
            verdict = Verdict.UNKNOWN
            missing = "recorded no evidence" if self.replay is None else f"has no part {self.replay.part!r}"
            missing = "recorded arguments alone, and nothing that was checked" if self.evidence else missing
            note = note or f"the test {missing}"
        else:
            verdict = Verdict.HOLDS
        if verdict is Verdict.HOLDS and (doubt := why_not_from(self.evidence)):
            verdict, note = Verdict.UNKNOWN, doubt
        if verdict is Verdict.HOLDS and (unsaid := unsaid_of(self.claim.statement, self.evidence)):
            verdict, note = (
                Verdict.UNKNOWN,
                f"is shown for {', '.join(unsaid)} alone, and its statement does not say so",
            )
        text = "; ".join(part for part in (note, *self.notes) if part)
        return Row(self.claim, verdict, self.evidence, self.witness, self.engine, round(seconds, 3), text)

    def _walk(
        self,
        kind: type[Searched],
        cases: Iterable[T],
        predicate: Predicate[T],
        range: str,
        size: Size[T],
        precision: str,
        count: int | None = None,
        inputs: Callable[[T], int] | None = None,
        earned: Callable[[], str] | None = None,
        span: Callable[[T], Span] | None = None,
    ) -> None:
        if not self._begin(range):
            self._replay(kind, predicate, range, size, precision)
            return
        if self.until is not None:
            return
        seen = CaseCount(predicate, size, self.tick, self.until, span)
        different: set[object] = set()
        covered = 0
        for case in cases:
            if count is not None:
                different.add(case if has_hash(case) else repr(case))
            counterexample = seen.judge(case)
            if counterexample is not None:
                evidence = kind(range, precision, seen.cases, seen.n_max, stopped=True, sizes=seen.sizes)
                self._refute(evidence, case, counterexample, predicate)
            covered += 1 if inputs is None else inputs(case)
        if not seen.cases:
            raise NoVerdict(f"no case at all: {range}")
        if count is not None and not (len(different) == seen.cases and covered == count):
            what = f"{seen.cases:,} cases, {len(different):,} of them different,"
            what += "" if inputs is None else f" with {covered:,} inputs,"
            raise NoVerdict(f"{what} are not all {count:,}: {range}")
        extra = () if earned is None else (earned(),)
        self._evidence.append(kind(range, precision, covered, seen.n_max, False, *extra, sizes=seen.sizes))

    def _begin(self, range: str) -> bool:
        """Registers a part of the test; True unless a replay goes straight to its case, or to theorems."""
        if range in self._parts:
            raise ValueError(f"claim {self.claim.id} says {range!r} twice: a replay could not tell its parts apart")
        self._parts.add(range)
        return self.replay is None and not self.anew

    def _replay(self, kind: type[Searched], predicate: Predicate[T], range: str, size: Size[T], precision: str) -> None:
        if self.replay is not None and self.replay.part == range:
            try:
                case = from_json(self.replay.case, case_type(predicate))
            except (ValueError, TypeError, KeyError) as error:
                raise NoVerdict(f"the stored case does not fit: {error}") from error
            most = max(self.n_max, LARGEST_REPLAYED)
            if callable(size) and size(case) > most:
                raise NoVerdict(
                    f"n = {size(case)} is larger than a replay takes on: {most}, or the n_max of the witness"
                )
            counterexample = judge_case(predicate, case)
            evidence = kind(range, precision, 1, None, stopped=True)
            if counterexample is not None:
                self._refute(evidence, case, counterexample, predicate)
            self._evidence.append(evidence)

    def _refute(self, evidence: Evidence, case: T, counterexample: Counterexample, predicate: Predicate[T]) -> NoReturn:
        shows = _readable(counterexample)
        options = self.options
        stored = store(case, predicate)
        self._evidence.append(evidence)
        self._witnesses.append(
            Witness(stored, shows, evidence.range, options.n_max, options.p_bits, self.engine, options.seed)
        )
        raise WitnessFound

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _not_below(size: int, n_from: int) -> int:
    """Returns the size of a case that is replayed. Raises NoVerdict below the n from which on the claim is to hold."""
    if size < n_from:
        raise NoVerdict(f"n = {size} is below {n_from}, from where on the claim is to hold")
    return size


def _readable(counterexample: Counterexample) -> dict[str, Json]:
    """Returns what a counterexample shows, as JSON."""
    return {name: readable(value) for name, value in counterexample.shows.items()}

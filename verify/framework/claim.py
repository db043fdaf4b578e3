"""Claims and what a run says about them: verdict, evidence, witness, row; and the marks that tie a claim to its test.

The verdict says whether a claim stands; the evidence says, separately, how that is known. Each kind of evidence is a type
with fields of its own, and `Check` alone makes it, of what it checked itself: a sample counts cases and can never say that it
proves.
"""

from __future__ import annotations

import enum
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeVar

Json = Any  # what the json module reads and writes
F = TypeVar("F", bound=Callable[..., None])
T = TypeVar("T")
LOWER = "lower"
OF_ONE_TASK = frozenset({"4.1", "4.7", "5.4", "5.7", "5.8"})


class Verdict(enum.StrEnum):
    """Does the claim stand? MEASURED: numbers were measured, which neither show nor refute a sentence."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    MEASURED = "measured"


class Kind(enum.StrEnum):
    """Why a claim is refuted.

    FALSE: the sentence as printed fails, with nothing changed, however its gaps are filled. SLIP: one line or one sign is wrong,
    and the right form stands beside it in print or is the obvious one. OPEN: the print does not say; one filling fails, and
    another works.
    """

    FALSE = "false"
    SLIP = "slip"
    OPEN = "open"


@dataclass(frozen=True)
class Reading:
    """One way to fill in what the print leaves open, or to set a slip right.

    text: the filling, in a sentence. holds: whether the claim holds under it.
    shown: the claim whose verdict shows so; "" is the witness of the claim that this reading belongs to.
    stands: of the right form of a slip, where in print it stands, or "the obvious form".
    changes: what such a reading changes of the printed sentence; "" for one that only fills a gap. What is false has no reading
    that holds and changes nothing.
    """

    text: str
    holds: bool
    shown: str = ""
    stands: str = ""
    changes: str = ""

    def __post_init__(self) -> None:
        if not self.text:
            raise ValueError("a reading needs a sentence that says how it fills in the print")
        if self.holds and not self.shown:
            raise ValueError(f"{self.text}: a reading that holds names the claim that shows so")


def id_of(theorem: str, task: str, aspect: str, as_printed: bool) -> str:
    """Returns an id such as 4.6/index-small, 4.6/index/printed, 4.6/lower-index, 4.7/small-eos, C.15/printed.

    A task follows its theorem, unless the theorem is about one task alone. as_printed: whether the claim is about print.
    """
    if task and aspect.partition("/")[0] == LOWER:
        return f"{theorem}/{aspect.replace(LOWER, f'{LOWER}-{task}', 1)}"
    if task and theorem not in OF_ONE_TASK:
        return f"{theorem}/{task}" + (f"{'/' if as_printed else '-'}{aspect}" if aspect else "")
    return f"{theorem}/{aspect}" if aspect else theorem


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper that a test judges.

    id: "C.15/printed", made of theorem, task and aspect where they are given (`Claim.about`); else it says theorem and aspect.
    source: where the paper says so; "" for the theorem or the lemma of the id.
    variant: which weights. finding: with `repaired`, the one finding put back to print.
    expected: the verdict that we know of; any other one fails the run. By default REFUTED for a claim with a kind, else HOLDS.
    kind: why it is refuted, if it is expected to be. readings: those that were tried. slip: rows of one slip are told as one.
    """

    id: str
    source: str
    statement: str
    variant: str = "repaired"
    finding: str = ""
    expected: Verdict | Literal[""] = ""
    theorem: str = ""
    task: str = ""
    aspect: str = ""
    kind: Kind | None = None
    readings: tuple[Reading, ...] = ()
    slip: str = ""

    def __post_init__(self) -> None:
        if self.finding and self.variant != "repaired":
            raise ValueError(f"claim {self.id}: a finding is put back to print in the repaired variant only")
        usual = Verdict.HOLDS if self.kind is None else Verdict.REFUTED
        object.__setattr__(self, "expected", Verdict(self.expected or usual))
        if not self.theorem:
            theorem, _, aspect = self.id.partition("/")
            object.__setattr__(self, "theorem", theorem)
            object.__setattr__(self, "aspect", self.aspect or aspect)
        if not self.source:
            kind = "Lemma" if self.theorem.startswith("C.") else "Theorem"
            object.__setattr__(self, "source", f"{kind} {self.theorem}")
        claim_id = id_of(self.theorem, self.task, self.aspect, bool(self.finding) or self.variant == "printed")
        if self.id not in ("", claim_id):
            raise ValueError(f"claim id {self.id!r}: theorem, task and aspect make it {claim_id!r}")
        object.__setattr__(self, "id", claim_id)
        if not self.id or any(character.isspace() for character in self.id):
            raise ValueError(f"claim id {self.id!r}: want a non-empty word without spaces")
        object.__setattr__(self, "kind", None if self.kind is None else Kind(self.kind))
        object.__setattr__(self, "readings", tuple(as_reading(reading) for reading in self.readings))
        object.__setattr__(self, "slip", self.slip or self.finding)
        self._require_readings()

    def _require_readings(self) -> None:
        """Raises ValueError where kind and readings do not fit."""
        if self.kind is None:
            if self.readings:
                raise ValueError(f"claim {self.id}: readings belong to a claim that is refuted, with a kind")
            return
        if self.expected is not Verdict.REFUTED:
            raise ValueError(f"claim {self.id}: is not expected to be refuted, so it has no kind")
        works = [reading for reading in self.readings if reading.holds]
        if len(works) == len(self.readings):
            raise ValueError(f"claim {self.id}: name the reading that fails")
        if self.kind is not Kind.FALSE and not works:
            raise ValueError(
                f"claim {self.id}: slip and open mean that a reading holds, false that none does as printed"
            )
        if self.kind is Kind.FALSE and not all(reading.changes for reading in works):
            raise ValueError(f"claim {self.id}: a reading that holds and changes nothing makes it open, not false")
        if self.kind is Kind.SLIP and not any(reading.stands for reading in works):
            raise ValueError(f"claim {self.id}: say where the right form of the slip stands")

    @classmethod
    def about(cls, theorem: str, task: str, aspect: str, source: str, statement: str, **more: Any) -> Claim:
        """Returns a claim from its subject, from which its id follows."""
        return cls("", source, statement, theorem=theorem, task=task, aspect=aspect, **more)

    @property
    def is_lower_bound(self) -> bool:
        """Returns whether it is about what recurrent models must remember."""
        return self.aspect.partition("/")[0] == LOWER

    @property
    def variant_text(self) -> str:
        """Returns the variant and its findings for people: "repaired, C.18 as printed"."""
        return f"{self.variant}, {self.finding} as printed" if self.finding else self.variant


def as_reading(reading: Reading | Mapping[str, Json]) -> Reading:
    """Returns a reading, or what the ledger keeps of it."""
    return reading if isinstance(reading, Reading) else Reading(**reading)


Sizes = tuple[tuple[int, int | None], ...]
"""Intervals of n, both ends included, in order and apart; None: without end."""


def sizes_text(sizes: Sizes) -> str:
    """Writes sizes for people: "n = 4, 10 … 2^63, 2^64 and above"."""
    parts = []
    for low, high in sizes:
        ends = f"{size_text(low)} and above" if high is None else f"{size_text(low)} … {size_text(high)}"
        parts.append(size_text(low) if low == high else ends)
    several = (
        f"{len(parts)} ranges of n from {size_text(sizes[0][0])} to {parts[-1].rpartition(' … ')[2]}" if parts else ""
    )
    return several if len(parts) > LONGEST_LIST else f"n = {', '.join(parts)}"


LONGEST_LIST = 6


def size_text(size: int) -> str:
    """Writes 10,000, 10^12, 2^63, 2^63 − 1: powers of two and of ten as such."""
    for less, text in ((0, ""), (1, " − 1")):
        if (size + less).bit_length() > 30 and (size + less).bit_count() == 1:
            return f"2^{(size + less).bit_length() - 1}{text}"
    digits = str(size) if size.bit_length() < 10_000 else ""
    return f"10^{len(digits) - 1}" if len(digits) > 9 and digits == "1" + "0" * (len(digits) - 1) else f"{size:,}"


@dataclass(frozen=True)
class Evidence:
    """What was covered.

    range: in plain words, without the numbers that the run measures itself. precision: for example "p = 33".
    sizes: which n were covered, as the run measured them; none if nobody said what the size of a case is.
    scope: what the cases are limited to where the paper's claim is not, as words of the claim's statement: a machine, a c, some p.
    checked: whether a program found it so. What a person argues or assumes is written down, and nothing holds by it alone.
    """

    kind: ClassVar[str]
    checked: ClassVar[bool] = True
    range: str
    precision: str
    sizes: Sizes = field(default=(), kw_only=True)
    scope: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class Proved(Evidence):
    """Theorems whose proofs `trusted.kernel` has checked, alone or below another checker, `trusted.growth` or `trusted.sat`.

    theorem: the first. by: which argument. theorems: how many. sha256: of all of them with their proofs, as
    `verify.framework.proofs` stores them; "" for proofs that each run makes anew.
    limit: which instances of the claim the theorems are about, if not all.
    """

    kind: ClassVar[str] = "proved"
    by: str
    theorem: str = ""
    theorems: int = 0
    sha256: str = ""
    limit: str = ""


@dataclass(frozen=True)
class Searched(Evidence):
    """Cases were looked at. n_max: the largest size met. stopped: the last case is a witness and ended the search."""

    cases: int
    n_max: int | None
    stopped: bool

    def __post_init__(self) -> None:
        if self.cases < 1:
            raise ValueError(f"{self.range}: evidence needs at least one case")


@dataclass(frozen=True)
class Certified(Searched):
    """Each case is one model, and a certificate made from its weights covers all inputs. weights: a hash of all their hashes."""

    kind: ClassVar[str] = "certified"
    weights: str = ""


@dataclass(frozen=True)
class Stored(Searched):
    """Each case is an interval of n, or a case of all above, that was certified when a document was made, and not in this run.

    name: of the document, in verify/stored/. document: its hash. built: of how many cases this run built the weights, and saw that
    they are those of the document. verify/stored/intervals.py says what a forger could do.
    """

    kind: ClassVar[str] = "stored"
    name: str = ""
    document: str = ""
    built: int = 0


@dataclass(frozen=True)
class Solved(Searched):
    """Each case is a question that a solver finds no answer to, such as values that belie a lemma. No proof of that is checked."""

    kind: ClassVar[str] = "solver"


@dataclass(frozen=True)
class Exhaustive(Searched):
    """Every input of the range."""

    kind: ClassVar[str] = "exhaustive"


@dataclass(frozen=True)
class Sampled(Searched):
    """Some inputs of the range."""

    kind: ClassVar[str] = "sampled"


@dataclass(frozen=True)
class Below(Searched):
    """The claim fails at n_from − 1, so that it holds from n_from on at most. example: that input, and what it shows, as JSON."""

    kind: ClassVar[str] = "below"
    checked: ClassVar[bool] = False
    n_from: int
    example: str


@dataclass(frozen=True)
class Argued(Evidence):
    """A person's argument, which no program has checked."""

    kind: ClassVar[str] = "argued"
    checked: ClassVar[bool] = False


@dataclass(frozen=True)
class Assumed(Evidence):
    """What the claim rests on and nobody here shows."""

    kind: ClassVar[str] = "assumed"
    checked: ClassVar[bool] = False


@dataclass(frozen=True)
class Measured(Evidence):
    """A number that was measured in several runs, of random weights say. It shows no sentence, and refutes none.

    value: the median. spread: the least and the greatest. runs: how many. command: makes it again. settings: a digest of what it
    depends on besides the code.
    """

    kind: ClassVar[str] = "measured"
    checked: ClassVar[bool] = False
    value: str
    spread: str
    runs: int
    command: str
    settings: str


KINDS = (Proved, Certified, Stored, Solved, Exhaustive, Sampled, Below, Measured, Argued, Assumed)
EVIDENCE: Mapping[str, type[Evidence]] = {kind.kind: kind for kind in KINDS}


@dataclass(frozen=True)
class Witness:
    """A case that refutes a claim, with all that is needed to meet it again.

    case: the input as JSON. shows: what was expected and what came. part: the range text of the search that found it.
    The rest are the options of that run.
    """

    case: Json
    shows: Mapping[str, Json]
    part: str
    n_max: int
    p_bits: int | None
    engine: str
    seed: int

    def command(self, claim_id: str) -> str:
        """Returns a command that replays this witness and needs no file."""
        return f"python -m verify.replay {shlex.quote(claim_id)} --witness {shlex.quote(compact(asdict(self)))}"

    @classmethod
    def from_json(cls, data: Json) -> Witness:
        """Reads what `asdict` wrote; ValueError names what is missing or unknown."""
        names = {item.name for item in fields(cls)}
        if not isinstance(data, dict) or set(data) != names:
            raise ValueError(f"a witness is an object with exactly the fields {', '.join(sorted(names))}")
        return cls(**data)


@dataclass(frozen=True)
class Row:
    """One line of the ledger. engine: "" where none ran. note: why nothing is known, or where the sizes had to end."""

    claim: Claim
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    witness: Witness | None
    engine: str
    seconds: float
    note: str = ""

    def __post_init__(self) -> None:
        if (self.verdict is Verdict.REFUTED) != (self.witness is not None):
            raise ValueError(f"{self.claim.id}: a claim is refuted by a witness, and by nothing else")
        if self.verdict is Verdict.HOLDS and not any(evidence.checked for evidence in self.evidence):
            raise ValueError(f"{self.claim.id}: nothing holds without evidence that was checked")
        if self.verdict is Verdict.MEASURED and not is_measured(self.evidence):
            raise ValueError(f"{self.claim.id}: is measured by numbers, and by nothing that was checked")
        if self.verdict is Verdict.HOLDS and (doubt := why_not_from(self.evidence)):
            raise ValueError(f"{self.claim.id}: {doubt}")
        if self.verdict is Verdict.HOLDS and (unsaid := unsaid_of(self.claim.statement, self.evidence)):
            raise ValueError(
                f"{self.claim.id}: is shown for {', '.join(unsaid)} alone, and its statement does not say so"
            )

    @property
    def as_expected(self) -> bool:
        """Is the verdict the one that we know of?"""
        return self.verdict is self.claim.expected

    @property
    def holds_from(self) -> int | None:
        """The n from which on the claim holds, if it fails below."""
        return next((part.n_from for part in self.evidence if isinstance(part, Below)), None)

    @property
    def verdict_short(self) -> str:
        """Returns the verdict for people: "holds", "holds from n = 3 on", "refuted (slip)", "unknown"."""
        if self.verdict is Verdict.REFUTED and self.claim.kind is not None:
            return f"{self.verdict} ({self.claim.kind})"
        below = self.holds_from if self.verdict is Verdict.HOLDS else None
        return str(self.verdict) if below is None else f"{self.verdict} from n = {size_text(below)} on"

    @property
    def verdict_text(self) -> str:
        """The same, and how far what holds was checked: "holds: exhaustive to n = 4, samples to n = 64"."""
        return f"{self.verdict_short}: {self.reach}" if self.verdict is Verdict.HOLDS else self.verdict_short

    @property
    def reach(self) -> str:
        """Returns how far the checked evidence goes, each kind of it once."""
        parts = []
        for kind in KINDS:
            of_kind = [part for part in self.evidence if type(part) is kind and part.checked]
            if of_kind:
                parts.append(_reach(kind, of_kind))
        return ", ".join(parts)

    def to_json(self) -> dict[str, Json]:
        """Returns plain JSON; `replay` is the command that meets the witness again."""
        witness = None if self.witness is None else asdict(self.witness)
        if self.witness is not None and witness is not None:
            witness["replay"] = self.witness.command(self.claim.id)
        return {
            **asdict(self.claim),
            "verdict": self.verdict,
            "evidence": [_evidence_json(evidence) for evidence in self.evidence],
            "witness": witness,
            "engine": self.engine,
            "seconds": self.seconds,
            "note": self.note,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Row:
        """Reads what `to_json` wrote."""
        witness = data["witness"]
        if witness is not None:
            witness = Witness.from_json({name: value for name, value in witness.items() if name != "replay"})
        evidence = []
        for entry in data["evidence"]:
            rest = {name: value for name, value in entry.items() if name != "kind"}
            sizes = tuple((int(low), None if high is None else int(high)) for low, high in rest.pop("sizes", ()))
            scope = tuple(map(str, rest.pop("scope", ())))
            evidence.append(EVIDENCE[entry["kind"]](**rest, sizes=sizes, scope=scope))
        return cls(
            claim=Claim(**{item.name: data[item.name] for item in fields(Claim) if item.name in data}),
            verdict=Verdict(data["verdict"]),
            evidence=tuple(evidence),
            witness=witness,
            engine=data["engine"],
            seconds=data["seconds"],
            note=data["note"],
        )


def _evidence_json(evidence: Evidence) -> dict[str, Json]:
    """Writes sizes as strings: many are above what readers of JSON keep."""
    sizes = [[str(low), None if high is None else str(high)] for low, high in evidence.sizes]
    return {"kind": evidence.kind, **asdict(evidence), "sizes": sizes, "scope": list(evidence.scope)}


def _reach(kind: type[Evidence], parts: Sequence[Evidence]) -> str:
    """Returns how far the evidence of one kind goes."""
    sizes = merge(size for part in parts for size in part.sizes)
    if kind is Proved:
        limits = dict.fromkeys(part.limit for part in parts if isinstance(part, Proved))
        where = " and ".join(limit for limit in limits if limit)
        return f"proved for {where}" if where and "" not in limits else "proved"
    word = "by a solver" if kind is Solved else "samples" if kind is Sampled else kind.kind
    if not sizes:
        return word
    low, high = sizes[0][0], sizes[-1][1]
    if kind is Sampled and high is not None:
        return f"{word} to n = {size_text(high)}"
    if kind is Exhaustive and len(sizes) == 1 and high is not None and low <= SMALLEST:
        return f"{word} to n = {size_text(high)}"
    return f"{word} {'at' if len(sizes) > 1 else 'for'} {sizes_text(sizes)}"


SMALLEST = 4  # exhaustion that starts there or below is called exhaustive to its last n


def is_measured(evidence: Sequence[Evidence]) -> bool:
    """Returns whether numbers are all that is known: some were measured, and nothing was checked."""
    return any(isinstance(part, Measured) for part in evidence) and not any(part.checked for part in evidence)


def why_not_from(evidence: Sequence[Evidence]) -> str:
    """Returns why a claim that fails below some n is not shown to hold from there on; "" if it is, or never fails."""
    belows = [part.n_from for part in evidence if isinstance(part, Below)]
    if not belows:
        return ""
    searched = [part for part in evidence if part.checked and not isinstance(part, Proved)]
    if any(not part.sizes for part in searched):
        return "holds from some n on, and evidence does not say which n it is about"
    smaller = [low for part in searched for low, _ in part.sizes if low < max(belows)]
    if smaller:
        return f"holds from n = {max(belows)} on at most, and evidence is about n = {min(smaller)}"
    if searched and not any(low <= max(belows) for part in searched for low, _ in part.sizes):
        return f"fails at n = {max(belows) - 1}, and no evidence is about n = {max(belows)}"
    return ""


def unsaid_of(statement: str, evidence: Sequence[Evidence]) -> list[str]:
    """Returns what checked evidence is limited to and the statement does not name, each once. "c = 3" is not named by "c = 30"."""
    scope = dict.fromkeys(limit for part in evidence if part.checked for limit in part.scope)
    return [limit for limit in scope if not re.search(rf"(?<!\w){re.escape(limit)}(?!\w)", statement)]


def merge(sizes: Iterable[tuple[int, int | None]]) -> Sizes:
    """Returns the same n as intervals in order that do not touch."""
    intervals: list[tuple[int, int | None]] = []
    for low, high in sorted(sizes, key=lambda size: size[0]):
        if intervals and (intervals[-1][1] is None or low <= intervals[-1][1] + 1):
            before = intervals[-1][1]
            intervals[-1] = (intervals[-1][0], None if before is None or high is None else max(before, high))
        else:
            intervals.append((low, high))
    return tuple(intervals)


class Counterexample(Exception):
    """Returned or raised by a predicate: this case refutes. shows: what was expected, what came, and where."""

    def __init__(self, **shows: object) -> None:
        super().__init__(", ".join(f"{name} = {value}" for name, value in shows.items()))
        self.shows = shows


def compact(data: Json) -> str:
    """Writes JSON on one line."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def claim(id: str = "", *, statement: str, source: str = "", **more: Any) -> Callable[[F], F]:
    """Returns a decorator: the function judges the claim with this id, or with these fields. more: further fields."""
    return judges(Claim(id, source, statement, **more))


def judges(judged: Claim) -> Callable[[F], F]:
    """Returns a decorator: the function judges this claim. It takes `check`, and `engine` if it runs weights."""
    import pytest

    def mark(function: F) -> F:
        named = pytest.mark.parametrize((), [pytest.param(marks=pytest.mark.claim(judged), id=judged.id)])
        marked: F = named(require_test(function, f"claim {judged.id}"))
        return marked

    return mark


def claims(parameter: str, cases: Iterable[T], about: Callable[[T], Claim]) -> Callable[[F], F]:
    """Returns a decorator: the function judges many claims of one shape; `parameter` is what each of them is about."""
    import pytest

    judged = [(about(case), case) for case in cases]
    params = [pytest.param(case, marks=pytest.mark.claim(one), id=one.id) for one, case in judged]

    def mark(function: F) -> F:
        marked: F = pytest.mark.parametrize(parameter, params)(require_test(function, parameter))
        return marked

    return mark


def require_test(function: F, what: str) -> F:
    """Raises ValueError for a name by which pytest finds no test."""
    if not function.__name__.startswith("test_"):
        raise ValueError(f"{what}: {function.__name__} must be called test_…, or its claims are never judged")
    return function

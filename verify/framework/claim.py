"""Claims and what a run says about them: verdict, evidence, witness, row; and the marks that tie a claim to its test.

The verdict says whether a claim stands; the evidence says, separately, how that is known. Each kind of evidence is a type
with fields of its own, and `Check` alone makes it, of what it checked itself: a sample counts cases and can never say that it
proves.
"""

from __future__ import annotations

import enum
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar

Json = Any  # what the json module reads and writes
F = TypeVar("F", bound=Callable[..., None])
Variant = Literal["printed", "repaired", "lean"]
LOWER = "lower"
OF_ONE_TASK = frozenset({"4.1", "4.7", "5.4", "5.7", "5.8"})


class Verdict(enum.StrEnum):
    """Does the claim stand?"""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


def id_of(theorem: str, task: str, aspect: str, as_printed: bool) -> str:
    """4.6/index-small, 4.6/index/printed, 4.6/lower-index, 4.7/small-eos, C.15/printed.

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
    variant: which weights. finding: with `repaired`, the one finding put back to print.
    expected: the verdict that we know of; any other one fails the run.
    """

    id: str
    source: str
    statement: str
    variant: Variant = "repaired"
    finding: str = ""
    expected: Verdict = Verdict.HOLDS
    theorem: str = ""
    task: str = ""
    aspect: str = ""

    def __post_init__(self) -> None:
        if self.variant not in ("printed", "repaired", "lean"):
            raise ValueError(f"claim {self.id}: variant {self.variant!r} is none of printed, repaired, lean")
        if self.finding and self.variant != "repaired":
            raise ValueError(f"claim {self.id}: a finding is put back to print in the repaired variant only")
        object.__setattr__(self, "expected", Verdict(self.expected))
        if not self.theorem:
            theorem, _, aspect = self.id.partition("/")
            object.__setattr__(self, "theorem", theorem)
            object.__setattr__(self, "aspect", self.aspect or aspect)
        made = id_of(self.theorem, self.task, self.aspect, bool(self.finding) or self.variant == "printed")
        if self.id not in ("", made):
            raise ValueError(f"claim id {self.id!r}: theorem, task and aspect make it {made!r}")
        object.__setattr__(self, "id", made)
        if not self.id or any(character.isspace() for character in self.id):
            raise ValueError(f"claim id {self.id!r}: want a non-empty word without spaces")

    @classmethod
    def about(cls, theorem: str, task: str, aspect: str, source: str, statement: str, **more: Any) -> Claim:
        """A claim by what it is about; its id follows."""
        return cls("", source, statement, theorem=theorem, task=task, aspect=aspect, **more)

    @property
    def is_lower_bound(self) -> bool:
        """Whether it is about what recurrent models must remember."""
        return self.aspect.partition("/")[0] == LOWER

    @property
    def variant_text(self) -> str:
        """Which variant and findings this is, for people: "repaired, C.18 as printed"."""
        return f"{self.variant}, {self.finding} as printed" if self.finding else self.variant


@dataclass(frozen=True)
class Evidence:
    """What was covered.

    range: in plain words, without the numbers that the run measures itself. precision: for example "p = 33".
    checked: whether a program found it so. What a person argues or assumes is written down, and nothing holds by it alone.
    """

    kind: ClassVar[str]
    checked: ClassVar[bool] = True
    range: str
    precision: str


@dataclass(frozen=True)
class Proved(Evidence):
    """Theorems whose proofs `verify.kernel` has checked, alone or below another checker, or `verify.growth`; theorem: the first.

    by: which argument. theorems: how many. sha256: of all of them with their proofs, as `verify.framework.proofs` stores them.
    """

    kind: ClassVar[str] = "proved"
    by: str
    theorem: str = ""
    theorems: int = 0
    sha256: str = ""


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
class Solved(Searched):
    """Each case is a question that a solver finds no answer to: inputs on which circuits differ, values that belie a lemma."""

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
class Argued(Evidence):
    """A person's argument, which no program has checked."""

    kind: ClassVar[str] = "argued"
    checked: ClassVar[bool] = False


@dataclass(frozen=True)
class Assumed(Evidence):
    """What the claim rests on and nobody here shows."""

    kind: ClassVar[str] = "assumed"
    checked: ClassVar[bool] = False


KINDS = (Proved, Certified, Solved, Exhaustive, Sampled, Argued, Assumed)
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
        """A command that replays this witness and needs no file."""
        return f"python -m verify.replay {shlex.quote(claim_id)} --witness {shlex.quote(compact(asdict(self)))}"

    @classmethod
    def from_json(cls, data: Json) -> Witness:
        """Inverse of `asdict`; ValueError names what is missing or unknown."""
        names = {field.name for field in fields(cls)}
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

    @property
    def as_expected(self) -> bool:
        """Is the verdict the one that we know of?"""
        return self.verdict is self.claim.expected

    @property
    def verdict_text(self) -> str:
        """For people: what holds on samples alone says so."""
        checked = [evidence for evidence in self.evidence if evidence.checked]
        on_samples = self.verdict is Verdict.HOLDS and all(isinstance(evidence, Sampled) for evidence in checked)
        return f"{self.verdict} on samples" if on_samples else str(self.verdict)

    def to_json(self) -> dict[str, Json]:
        """Plain JSON; `replay` is the command that meets the witness again."""
        witness = None if self.witness is None else asdict(self.witness)
        if self.witness is not None and witness is not None:
            witness["replay"] = self.witness.command(self.claim.id)
        return {
            **asdict(self.claim),
            "verdict": self.verdict,
            "evidence": [{"kind": evidence.kind, **asdict(evidence)} for evidence in self.evidence],
            "witness": witness,
            "engine": self.engine,
            "seconds": self.seconds,
            "note": self.note,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Row:
        """Inverse of `to_json`."""
        witness = data["witness"]
        if witness is not None:
            witness = Witness.from_json({name: value for name, value in witness.items() if name != "replay"})
        evidence = []
        for entry in data["evidence"]:
            rest = {name: value for name, value in entry.items() if name != "kind"}
            evidence.append(EVIDENCE[entry["kind"]](**rest))
        return cls(
            claim=Claim(**{field.name: data[field.name] for field in fields(Claim) if field.name in data}),
            verdict=Verdict(data["verdict"]),
            evidence=tuple(evidence),
            witness=witness,
            engine=data["engine"],
            seconds=data["seconds"],
            note=data["note"],
        )


class Counterexample(Exception):
    """Returned or raised by a predicate: this case refutes. shows: what was expected, what came, and where."""

    def __init__(self, **shows: object) -> None:
        super().__init__(", ".join(f"{name} = {value}" for name, value in shows.items()))
        self.shows = shows


def compact(data: Json) -> str:
    """JSON on one line."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def claim(
    id: str = "",
    *,
    source: str,
    statement: str,
    variant: Variant = "repaired",
    finding: str = "",
    expected: Verdict = Verdict.HOLDS,
    theorem: str = "",
    task: str = "",
    aspect: str = "",
) -> Callable[[F], F]:
    """The function judges this claim, named by its id or by what it is about. It takes `check`, and `engine` if it runs weights."""
    import pytest

    judged = Claim(id, source, statement, variant, finding, expected, theorem, task, aspect)

    def mark(function: F) -> F:
        if not function.__name__.startswith("test_"):
            raise ValueError(f"claim {judged.id}: {function.__name__} must be called test_…, or it is never judged")
        marked: F = pytest.mark.claim(judged)(function)
        return marked

    return mark


def claims(parameter: str, cases: Sequence[tuple[Claim, object]]) -> Callable[[F], F]:
    """The function judges many claims of one shape: `parameter` is what each of them is about."""
    import pytest

    params = [pytest.param(value, marks=pytest.mark.claim(judged), id=judged.id) for judged, value in cases]

    def mark(function: F) -> F:
        if not function.__name__.startswith("test_"):
            raise ValueError(f"{function.__name__} must be called test_…, or its claims are never judged")
        marked: F = pytest.mark.parametrize(parameter, params)(function)
        return marked

    return mark

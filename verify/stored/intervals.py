"""Stored intervals: what was certified of each n of a long range, in a document that is bound to the builder's weights.

To certify every n from 4 to 2^63 takes minutes for one model, and hours for all models. So it is done once, and a document
keeps it. For each interval of n the document has a digest of the weights and texts, as polynomials of n, and a digest of what the
check said, with its numbers. It has a digest of each question as well: options, texts and, for a program, the definition, with n
as a symbol (questions.py). One question stands for all n; where texts or definition have cases in n, each case has its own.

A run that relies on a document builds the exact layers of all intervals anew. That takes a hundredth of the time. Documents of
one model in one process share what was built (`Built`): rounding and program are asked of the same weights. If an interval
has other weights, other ends or another question, the document is stale. In some intervals the weights are also compared with
those that a user gets, who gives n as an int: in all of a document of up to FEW_INTERVALS, in MOST_COMPARED of a longer one. A
few intervals are certified anew, and what the check says must have the stored digest. Which ones follows from all weights, from
the checker's own text and from the seed of the run.

An accepted document is one of rounding of which the small checker (verify/trusted/rounding.py) accepted a certificate of each
interval. Of the others the static checker alone says that they are certified.

What a forger could do: to write a document for weights that nobody has certified. He is caught where one of the few intervals
that are certified anew is refused, or has a digest that was made up. But he can compute which ones these are, certify those
alone, and make up the digests of the others. Only another seed, or `python -m verify.store --all`, shows that. An interval that
is dropped, widened or moved is found when its weights are built; one that is split says the same of fewer n. A document stays as
it is when the checker changes: it says what the checker said when it was made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeAlias

from precision.format import Discipline
from verify.algebra.domains import OtherMatrices
from verify.certificates.building import ModelSizes, chosen_sizes, forms_of, model_of, part_of
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, Judged, about, judge
from verify.dossiers.dossier import ENDLESS, About, Subject, name_of_model
from verify.dossiers.registry import find_dossiers
from verify.rounding.model import ExactModel, first_difference
from verify.stored.questions import question_from, texts_of
from verify.trusted.kernel import Rejected

SCHEMA = 2
SMALL = "verify/trusted/rounding.py"  # who accepts
FOLDER = Path(__file__).parent
DIGITS = 16  # of a digest, hexadecimal
FEW_INTERVALS = 200  # up to which three n of each are compared with the matrices that users get
MOST_COMPARED = 100  # intervals of a longer document, of which one n is compared
MOST_QUESTIONS = 1000  # cases of n that texts and definition may have
RENEWED = 2  # intervals that are certified anew
CHECKERS = (
    "algebra",
    "automata",
    "certificates",
    "dossiers",
    "programs",
    "rounding",
    "stored",
)  # rooms of verify/ whose text is the checker's


@dataclass(frozen=True)
class IntervalPiece:
    """n up to `high` for which one check was made, and a digest of what it said."""

    high: int
    found: str


@dataclass(frozen=True)
class StoredInterval:
    """n from low to high have the same weights or forms of n. form: a digest of these and of the texts.

    pieces: of the interval, without a gap.
    """

    low: int
    form: str
    pieces: tuple[IntervalPiece, ...]

    @property
    def high(self) -> int:
        """The last n."""
        return self.pieces[-1].high

    @property
    def line(self) -> str:
        """Returns the stored line; it begins after the one before."""
        return " ".join([self.form, *(f"{piece.found} {piece.high}" for piece in self.pieces)])

    @classmethod
    def read(cls, line: str, low: int) -> StoredInterval:
        """Raises ValueError for what is none."""
        form, *rest = line.split(" ")
        pieces = tuple(
            IntervalPiece(int(high), piece_digest) for piece_digest, high in zip(rest[::2], rest[1::2], strict=True)
        )
        ends = [low - 1, *(piece.high for piece in pieces)]
        digests = [form, *(piece.found for piece in pieces)]
        if not pieces or ends != sorted({*ends}) or any(len(digest) != DIGITS for digest in digests):
            raise ValueError(f"no interval from n = {low} on: {line!r}")
        return cls(low, form, pieces)


@dataclass(frozen=True)
class IntervalQuestion:
    """A digest of what is asked at each n up to `high`."""

    high: int
    asked: str


@dataclass(frozen=True)
class Document:
    """A document: of which subject and what, the questions at all of its n, and its intervals.

    accepted: whether the small checker accepted a certificate of each interval.
    """

    subject: Subject
    about: About
    questions: tuple[IntervalQuestion, ...]
    intervals: tuple[StoredInterval, ...]
    accepted: bool = False

    @property
    def sha256(self) -> str:
        """Returns a digest of all that it says."""
        return hashlib.sha256(text_of(self).encode()).hexdigest()

    @property
    def weights(self) -> str:
        """A digest of those of all intervals."""
        return digest([interval.form for interval in self.intervals])


def digest(value: object) -> str:
    """Returns a digest of a JSON value."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()[:DIGITS]


class Stale(Exception):
    """A document is not of these weights, or not what the check says of them."""


class NotCertified(Exception):
    """n from low to high are not certified, or not of the weights that users get."""

    def __init__(self, low: int, high: int, where: str, what: str, verdict: str) -> None:
        super().__init__(f"n = {low} … {high}: {where}: {what}")
        self.low, self.where, self.what, self.verdict = low, where, what, verdict


def subjects() -> Iterator[tuple[Subject, About]]:
    """Yields all that is stored of each n up to some size; those of rounding first."""
    entries = [entry for dossier in find_dossiers().values() for entry in dossier.stored if entry[0].last != ENDLESS]
    return iter(sorted(entries, key=lambda entry: entry[1] != "rounding"))


def name_of(subject: Subject, what: About) -> str:
    """Returns the name of a document: istree-lean-eos-sequential-rounding."""
    dossier, sequential = subject.dossier, subject.discipline is Discipline.SEQUENTIAL
    own = [(one.name, getattr(dossier, one.name), one.default) for one in fields(dossier)[2:]]
    chosen = [name if value is True else f"{value}" for name, value, usual in own if value != usual]
    names = [subject.construction, name_of_model(subject.model), *chosen, "sequential" * sequential, what]
    return "-".join(filter(None, names))


def path_of(subject: Subject, what: About) -> Path:
    """Returns where it stands."""
    return FOLDER / f"{name_of(subject, what)}.json"


# Making


def questions(subject: Subject, about: About) -> tuple[IntervalQuestion, ...]:
    """Returns what is asked now, from the subject's n to its last. Raises NotCertified where no text says it."""
    cases, low = list[IntervalQuestion](), subject.n
    while low <= subject.last:
        try:
            high, text = question_from(subject, about, low, subject.last)
        except TypeError as error:
            raise NotCertified(low, subject.last, "the question", str(error), UNKNOWN) from error
        case, low = IntervalQuestion(high, digest(text)), high + 1
        if cases and cases[-1].asked == case.asked:
            cases.pop()
        if len(cases) == MOST_QUESTIONS:
            raise NotCertified(low, subject.last, "the question", f"more than {MOST_QUESTIONS} cases of n", UNKNOWN)
        cases.append(case)
    return tuple(cases)


def asked(cases: Sequence[IntervalQuestion], interval: StoredInterval) -> Sequence[IntervalQuestion]:
    """Returns the questions at the n of an interval, each up to its last n there."""
    lows = [0, *(case.high + 1 for case in cases)]
    return [
        IntervalQuestion(min(case.high, interval.high), case.asked)
        for low, case in zip(lows, cases, strict=False)
        if low <= interval.high and case.high >= interval.low
    ]


def intervals(
    subject: Subject, what: About, known: Sequence[StoredInterval] = (), *, accepted: bool = False
) -> Iterator[StoredInterval]:
    """Yields all of them, from the subject's n to its last. known: what need not be certified again where the weights are the
    same.

    accepted: as a document has it. Raises NotCertified.
    """
    low, kept = subject.n, {interval.low: interval for interval in known}
    while low <= subject.last:
        one = kept.get(low)
        if one is None or one.high > subject.last or not is_unchanged(subject, one):
            part = built(subject, low, subject.last)
            compare(subject, part)
            one = certified(subject, what, part, accepted=accepted)
        yield one
        low = one.high + 1


def is_unchanged(subject: Subject, interval: StoredInterval) -> bool:
    """Returns whether the weights and texts are those of the interval, also at single n. Raises NotCertified where users get
    others.
    """
    part = built(subject, interval.low, interval.high)
    compare(subject, part)
    return (form_of(part), part.high) == (interval.form, interval.high)


def form_of(part: ModelSizes) -> str:
    """Returns the digest of a part's weights and texts."""
    return digest([part.model.digest, texts_of(part.model, part.inputs)])


def built(subject: Subject, low: int, end: int, *, one: bool = False) -> ModelSizes:
    """Returns the weights from low on, to `end` at most, and the inputs. They are held against the matrices that users get.

    one: at one n only. Raises NotCertified where users get others.
    """
    try:
        return part_of(replace(subject, n=low, last=0), end, one=one)
    except OtherMatrices as other:
        raise NotCertified(low, low, other.where, other.what, REFUSED) from other


def certified(subject: Subject, what: About, part: ModelSizes, *, accepted: bool = False) -> StoredInterval:
    """Returns the check itself. accepted: by the small checker too. Raises NotCertified."""
    certified_pieces = _rounding(part, accepted=accepted) if what == "rounding" else _program(subject, part)
    return StoredInterval(part.low, form_of(part), tuple(certified_pieces))


def _rounding(part: ModelSizes, *, accepted: bool) -> list[IntervalPiece]:
    judged = judge(part.model, part.inputs)
    if judged.verdict != CERTIFIED or judged.report is None:
        raise NotCertified(part.low, part.high, judged.where, judged.what, judged.verdict)
    said = said_of_rounding(judged)
    return [IntervalPiece(part.high, digest([said, _accept(part)] if accepted else said))]


def _accept(part: ModelSizes) -> str:
    """Returns what the small checker says of a certificate that is found. Raises NotCertified where it rejects."""
    from verify.certificates.finder import certificate_of
    from verify.certificates.statement import accept

    try:
        certificate, _ = certificate_of(part.model, part.inputs)
        return f"{accept(certificate, part.model, part.inputs)} classes"
    except Rejected as why:
        raise NotCertified(part.low, part.high, "the small checker", str(why), UNKNOWN) from why


def said_of_rounding(judged: Judged) -> object:
    """Returns what a check said: the margin of each head, and the one needed; how many abstract states there are; what is
    assumed.
    """
    report = judged.report
    if report is None:
        raise TypeError("a check without a report says nothing")
    margins = [  # in digests of stored documents heads count from 0 and have no names
        [f"block {block}, head {head}", str(margin.margin), str(margin.needed)]
        for (block, head), margin in report.margins.items()
    ]
    return [margins, report.states, sorted(report.invariants)]


def _program(subject: Subject, part: ModelSizes) -> list[IntervalPiece]:
    from verify.programs.intervals import pieces

    certified_pieces = []
    for piece in pieces(replace(subject, last=0), part.model, part.low, part.high):
        said = piece.document
        if said["verdict"] != CERTIFIED:
            raise NotCertified(piece.low, piece.high, said["where"], said["what"], said["verdict"])
        certified_pieces.append(IntervalPiece(piece.high, digest(said_of_program(said))))
    return certified_pieces


def said_of_program(document: Mapping[str, Any]) -> object:
    """Returns what a comparison said: the program, what is due at each state, and what is assumed."""
    return [document["program_sha256"], document["task"], sorted(document.get("assumed_invariants", ()))]


# The weights that users get


def compare(subject: Subject, part: ModelSizes, *, one: bool = False) -> None:
    """Compares what the builder makes of single n, as ints, with what it made of the symbol: at both ends and inside, or at one
    of these.

    Where users get matrices, these hold it, and were compared already. Beyond float64 there are none. Raises NotCertified where
    they differ.
    """
    for n in chosen_sizes(subject, part.model, part.low, part.high, one=one):
        if n not in part.compared and (where := difference_at(subject, part.model, n)):
            raise NotCertified(n, n, where, f"n = {n} has other weights than what stands for it", "refused")


def difference_at(subject: Subject, model: ExactModel, n: int) -> str:
    """Returns the first place where the weights that are built for this n are not those of the interval; "" if there is none."""
    from verify.programs.intervals import at_one

    one = replace(subject, n=n, last=0)
    own = model_of(one)
    if own.arithmetic != model.arithmetic:
        return "the format"
    return first_difference(at_one(model, one), own)


# Documents


def text_of(document: Document) -> str:
    """Returns the text of the document's file: an interval a line."""
    cases = [f"{case.asked} {case.high}" for case in document.questions]
    said = {"schema": SCHEMA, "of": about(document.subject), "about": document.about}
    said |= {"checker": SMALL} if document.accepted else {}
    said |= {"questions": cases}
    head = json.dumps(said, ensure_ascii=False)
    lines = ",\n".join(f'"{interval.line}"' for interval in document.intervals)
    return f'{head[:-1]}, "intervals": [\n{lines}\n]}}\n'


def read(subject: Subject, what: About, *, whole: bool = True) -> Document | None:
    """Returns the document, if there is one. whole: up to the last n. Raises ValueError for what is none."""
    path = path_of(subject, what)
    if not path.exists():
        return None
    text = path.read_text(encoding="utf-8")
    try:
        said, low, stored_intervals = json.loads(text), subject.n, list[StoredInterval]()
        if said["schema"] != SCHEMA:
            raise ValueError(f"{path.name} is of schema {said['schema']}, not {SCHEMA}")
        cases = tuple(IntervalQuestion(int(high), one) for one, high in map(str.split, said["questions"]))
        for line in said["intervals"]:
            stored_intervals.append(StoredInterval.read(line, low))
            low = stored_intervals[-1].high + 1
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path.name} is no document of intervals: {error}") from error
    document = Document(subject, what, cases, tuple(stored_intervals), said.get("checker") == SMALL)
    if text_of(document) != text:
        raise ValueError(f"{path.name} is not of {name_of(subject, what)}, n = {subject.n} … {subject.last}")
    if not stored_intervals or low > subject.last + 1 or (whole and low != subject.last + 1):
        raise ValueError(f"{path.name} ends at n = {low - 1}, not at {subject.last}")
    return document


@cache
def checker() -> str:
    """Returns a digest of the text of all that checks."""
    here = Path(__file__).parents[1]
    files = sorted(path for folder in CHECKERS for path in (here / folder).rglob("*.py"))
    return hashlib.sha256(b"\n".join(path.read_bytes() for path in files)).hexdigest()


def chosen(document: Document, count: int, seed: int, why: str) -> Sequence[StoredInterval]:
    """Draws so many of the intervals: others for other weights, another checker or another seed."""
    key = f"{why} {document.weights} {checker()} {seed}"
    order = sorted(document.intervals, key=lambda one: hashlib.sha256(f"{key} {one.low}".encode()).digest())
    return sorted(order[:count], key=lambda one: one.low)


# Relying on it

Built: TypeAlias = dict[tuple[Subject, bool, bool], tuple[str, int]]
"""Digest and last n of each interval that was built, by the subject with the interval's ends, and by what was compared."""


@dataclass(frozen=True)
class Renewal:
    """How a document is held against the weights of now. seed: of the run. known: what the run has built, of any document."""

    document: Document
    seed: int = 0
    known: Built = field(default_factory=dict)

    @cached_property
    def compared(self) -> frozenset[int]:
        """Returns the first n of each interval of which single n are compared as well."""
        few = len(self.document.intervals) <= FEW_INTERVALS
        some = self.document.intervals if few else chosen(self.document, MOST_COMPARED, self.seed, "compared")
        return frozenset(interval.low for interval in some)

    @cached_property
    def renewed(self) -> Sequence[StoredInterval]:
        """Returns the intervals that are certified anew."""
        return chosen(self.document, RENEWED, self.seed, "certified")

    @cached_property
    def questions(self) -> Sequence[IntervalQuestion]:
        """Returns what is asked now. Raises NotCertified."""
        return questions(self.document.subject, self.document.about)

    def build(self, interval: StoredInterval) -> None:
        """Compares the interval's weights and question with those of now, at each n and for users.

        Raises Stale, or NotCertified if what is there now is not certified.
        """
        where = f"n = {interval.low} … {interval.high}; {self.remedy}"
        if self._form(interval) != (interval.form, interval.high):
            self._look(interval)
            raise Stale(f"{self.name} is of other weights or texts: {where}")
        if asked(self.questions, interval) != asked(self.document.questions, interval):
            self._look(interval)
            raise Stale(f"{self.name} answers another question: {where}")

    def _form(self, interval: StoredInterval) -> tuple[str, int]:
        """Returns the digest of weights and texts at the interval's first n, and the last n that has these. Raises NotCertified."""
        subject = replace(self.document.subject, n=interval.low, last=interval.high)
        is_compared, many = interval.low in self.compared, len(self.document.intervals) > FEW_INTERVALS
        key = subject, is_compared, many
        if key not in self.known:
            if is_compared:
                part = built(subject, interval.low, interval.high, one=many)
                compare(subject, part, one=many)
            else:
                part = forms_of(replace(subject, last=0), interval.high)
            self.known[key] = form_of(part), part.high
        return self.known[key]

    def renew(self, interval: StoredInterval) -> None:
        """Certifies the interval anew and compares the result with the stored one. Raises Stale, NotCertified."""
        subject = self.document.subject
        part = built(subject, interval.low, interval.high)
        compare(subject, part)
        if certified(subject, self.document.about, part, accepted=self.document.accepted) != interval:
            what = f"the check says something else of n = {interval.low} … {interval.high}"
            raise Stale(f"{self.name} is not what it says now: {what}; {self.remedy} --all")

    def _look(self, interval: StoredInterval) -> None:
        """Certifies what stands in a stale interval's place, for a while: it may be worse than stale."""
        subject, low = self.document.subject, interval.low
        for _ in range(RENEWED + 1):
            if low > subject.last:
                return
            part = built(subject, low, subject.last)
            compare(subject, part)
            certified(subject, self.document.about, part, accepted=self.document.accepted)
            low = part.high + 1

    @property
    def name(self) -> str:
        """Returns the name of the document."""
        return f"verify/stored/{path_of(self.document.subject, self.document.about).name}"

    @property
    def remedy(self) -> str:
        """A command."""
        return f"python -m verify.store {name_of(self.document.subject, self.document.about)}"

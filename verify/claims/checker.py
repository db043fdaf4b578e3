"""What the static checker must not certify, each with a run that shows it wrong; and what the checker of certificates accepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.engines.reference import ReferenceEngine
from constructions.models.building import wired_of
from constructions.wiring.affine import as_affine, reg
from constructions.wiring.wire import BlockPlan, Component, Embedding, Gadget, Head, Unit
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.building import build, part_of
from verify.certificates.definition import accept_program, answers_of
from verify.certificates.document import CERTIFIED, judge
from verify.certificates.finder import certificate_of
from verify.certificates.ghosts import program_certificate
from verify.certificates.ideal import IdealModel
from verify.certificates.statement import accept
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_dossier, find_program
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim
from verify.framework.predicates import Predicate
from verify.rounding.model import ExactModel, described
from verify.trusted.kernel import Rejected

BEGIN, KEY, ASK = "<s>", "key", "?"
PRECISION_BITS, SCALE = 41, 64
FEWEST, MOST_KEYS = 3, 12


@dataclass(frozen=True)
class TiedKeys:
    """A text with so many keys of equal score in front of its last token, whose head reads their positions."""

    keys: int
    discipline: Discipline


def _wired(case: TiedKeys) -> Wired:
    words = ({BEGIN: 1}, {KEY: 1}, {ASK: 1})
    asked = Component(SCALE * reg(KEY), SCALE * reg(ASK))
    before = Component(
        SCALE * reg(BEGIN), SCALE * (reg(BEGIN) + reg(KEY))
    )  # elsewhere the first position alone is read
    head = Head("any key", (asked, before), {"seen": reg("position")})
    embedding = Embedding((BEGIN, KEY, ASK), words, "position")
    arithmetic = Arithmetic(fixed_point(PRECISION_BITS), case.discipline)
    # 2·seen − 5 has a sign that is known of each whole number, and of no mean of some.
    told = Gadget("what was seen, told", (Unit(2 * reg("seen") - 5, as_affine(1), {KEY: 1}),))
    blocks = (BlockPlan((head,), ()), BlockPlan((), (told,)))
    return wired_of("ties", "section 3", (), frozenset(), case.keys, embedding, blocks, arithmetic)


def _automaton(keys: int) -> TokenAutomaton:
    states = (
        State(Label(BEGIN), 1, 1, (), BEGIN),
        State(Label(KEY), 2, keys + 1, (0, 1), KEY),
        State(Label(ASK), FEWEST + 2, keys + 2, (1,), ASK),
    )
    return TokenAutomaton(states, frozenset([Label(ASK)]), (keys, keys))


def _certify(case: TiedKeys) -> Counterexample | None:
    """Returns a model that is certified although its run is not the ideal one. Raises ValueError if the run is."""
    wired = _wired(case)
    tokens = [0, *[1] * case.keys, 2]
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    step = [engine.append(token) for token in tokens][-1]
    ideal, _ = IdealModel(wired.model).run(tokens)
    place = wired.registers.index("seen")
    seen, right = step.registers[-1][place] * wired.arithmetic.format.quantum, ideal[-1][-1][place]
    if right != Fraction(case.keys + 3, 2):
        raise ValueError(f"the ideal model reads {right}, not the mean position")
    model = described(wired.model, wired.arithmetic, wired.registers, wired.vocabulary, [])
    if judge(model, _automaton(case.keys)).verdict != CERTIFIED:
        return None
    return Counterexample(certified="one key is read", read=seen, mean=right)


@claim(
    "checker/ties",
    source="section 3",
    statement="The static checker does not certify a head that averages several keys of equal score as one that reads one key: "
    "3 to 12 keys, p = 41.",
)
def test_ties(check: Check) -> None:
    last = min(MOST_KEYS, check.n_max)
    check.within(f"p = {PRECISION_BITS}")
    check.exhaustive(
        [TiedKeys(keys, discipline) for keys in range(FEWEST, last + 1) for discipline in Discipline],
        _certify,
        count=len(Discipline) * max(last + 1 - FEWEST, 0),
        range=f"texts of {FEWEST} to {last} keys whose values are their positions, fused and sequential",
        size=lambda case: case.keys,
        precision=f"p = {PRECISION_BITS}",
    )


SEARCHES = ("istree/transformer", "istree/hybrid", "istree/lean", "istree/lean-eos")
MACHINES = ("turing/cot",)
SMALL, FROM = 5, 1000


@dataclass(frozen=True)
class CheckedModel:
    """A repaired model or a program at one n, or on the interval of n that begins there."""

    model: str
    n: int
    interval: bool
    discipline: Discipline


def _subject(case: CheckedModel) -> Subject:
    task, _, model = case.model.partition("/")
    dossier = find_dossier(task, "transformer" if model.startswith("lean") else model) if model else find_program(task)
    if dossier is None:
        raise ValueError(f"no construction is called {case.model}")
    if model.startswith("lean"):
        dossier = dossier.take({"lean": True, "layout": "eos" if model.endswith("eos") else "paper"})
    return Subject(dossier, case.n, discipline=case.discipline)


def _reject(
    case: CheckedModel, check_case: Callable[[Subject, ExactModel, TokenAutomaton], object]
) -> Counterexample | None:
    """Returns why a checker rejects the certificate that is made."""
    subject = _subject(case)
    part = part_of(subject, 2 * case.n) if case.interval else None
    try:
        check_case(subject, *((part.model, part.inputs) if part is not None else build(subject)))
    except Rejected as why:
        return Counterexample(rejected=str(why))
    return None


def _reject_rounding(case: CheckedModel) -> Counterexample | None:
    return _reject(case, lambda _, model, texts: accept(certificate_of(model, texts)[0], model, texts))


def _reject_program(case: CheckedModel) -> Counterexample | None:
    def check_case(subject: Subject, model: ExactModel, texts: TokenAutomaton) -> None:
        answers = answers_of(subject)
        accept_program(program_certificate(model, texts, answers)[0], model, texts, answers)

    return _reject(case, check_case)


def _look(check: Check, cases: Sequence[CheckedModel], reject: Predicate[CheckedModel], count: int, file: str) -> None:
    for case in cases:
        check.within(*_subject(case).dossier.scope)
    text = f"certificates that a finder makes, checked by verify/trusted/{file} with the weights as exact rows"
    check.exhaustive(cases, reject, count=count, range=text)


@claim(
    "checker/certificates",
    source="section 3",
    statement="The small checker accepts a certificate of rounding of each repaired model of which no stored document says so for "
    "every n: the chain of thought of a Turing machine, bb2, under both disciplines; IsTree as Transformer and hybrid, and lean "
    "in both layouts, fused. They are asked at n = 5, and on the interval of n that begins with 1,000; the repaired "
    "Transformer of IsTree at n = 5, in the paper's layout.",
)
def test_certificates(check: Check) -> None:
    check.sizes(FROM)
    both = [(case, d) for case in MACHINES for d in Discipline]
    asked = [*both, *((case, Discipline.FUSED) for case in SEARCHES)]
    cases = [
        CheckedModel(model, n, interval, discipline)
        for n, interval in ((SMALL, False), (FROM, True))
        for model, discipline in asked
        if not (interval and model == "istree/transformer")
    ]
    _look(check, cases, _reject_rounding, 2 * (2 * len(MACHINES) + len(SEARCHES)) - 1, "rounding.py")


TASKS = ("index", "recall", "ngram", "counting")
PROGRAMS = (
    *(f"{task}/{model}" for task in TASKS for model in ("transformer", "hybrid", "rag")),
    "turing/hybrid",
    "turing/rag",
    "associative_recall",
    "automaton",
    "divisible",
    "first",
    "induction",
    "khop",
    "lookup",
    "parity",
    "post",
    "recall_search",
    "reverse",
    "trigram",
    "trigram_search",
)


@claim(
    "checker/programs",
    source="section 3",
    statement="The small checker of programs accepts that the p-bit machine's next word is the definition's, on every text, for "
    "Index, associative recall, c-gram retrieval, c = 3, and Counting as repaired Transformers, hybrids and rag, the Turing "
    "machine bb2 as hybrid and rag, and thirteen programs of the gallery (associative_recall, automaton, divisible, first, "
    "induction, khop, lookup, parity, post, recall_search, reverse, trigram, trigram_search): at n = 5 under both "
    "disciplines; for the four Transformers "
    "also on the interval of n that begins with 1,000, fused.",
)
def test_programs(check: Check) -> None:
    check.sizes(FROM)
    cases = [
        *(CheckedModel(model, SMALL, False, discipline) for model in PROGRAMS for discipline in Discipline),
        *(CheckedModel(f"{task}/transformer", FROM, True, Discipline.FUSED) for task in TASKS),
    ]
    _look(check, cases, _reject_program, 2 * len(PROGRAMS) + len(TASKS), "program.py")

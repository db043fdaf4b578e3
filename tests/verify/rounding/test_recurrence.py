"""Recurrences in the static checker: what it says of them holds in every run, and what it cannot say it refuses."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from constructions.engines.reference import ReferenceEngine
from constructions.language.interpreter import Input
from constructions.language.terms import ZERO
from constructions.layers import Block, FeedForward, Recurrence, Transformer
from constructions.models.search import retrieve
from constructions.retrieval.task import Question
from constructions.rows import Recurrent
from constructions.wiring.numbered import Family
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from tests.verify.certificates.runs import contradictions
from tests.verify.rounding.points import contents
from verify.algebra.domains import Integer, Refused, Space
from verify.algebra.polynomial import atom
from verify.automata.token_automaton import Label, Limited, State, TokenAutomaton
from verify.certificates.building import build
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, certificate, judge
from verify.certificates.hard_inputs import first_wrong, hard_inputs
from verify.certificates.mutants import mutant
from verify.certificates.weight_margins import Surveyor
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import MODELS
from verify.dossiers.retrieval.tasks import SEARCH
from verify.programs.extraction import extract
from verify.rounding.abstract_state import AbstractState
from verify.rounding.checker import check, embedded
from verify.rounding.model import ExactModel, described
from verify.rounding.recurrence import HIDDEN_STATE, SumShare, Total

N = 4
LONGEST = 9
LATE = 6  # the first position of a b
WIDTH = 5  # number, 1 at a word, and three registers that only the recurrence writes
REGISTERS = ("v", "w", "x", "y", "z")
VOCABULARY = ("1", "2", "3", "4", "a", "b")
ARITHMETIC = Arithmetic(fixed_point(25))
RECURRENT = [key for key in MODELS if key[1] != "transformer"]
RECURRENCES = ((0, "recurrence.A"), (0, "recurrence.B"))


def whole(wired: Wired, name: str, model: str, question: Question) -> tuple[list[int], set[int]]:
    """The tokens that a model reads for a question, but the answer; and the positions at which it writes."""
    retriever = MODELS[name, model]
    words = [*question.words(), *retriever.thoughts(question, frozenset())]
    return wired.tokens(words), set(range(len(question.words()), len(words) + 1))


HARD = [
    Question((4, 1, 4), (4, 1)),
    Question((1,), (1, 1)),
    Question((4, 4, 1, 4), (4, 4)),
    Question((2, 1, 1), (1, 2)),
]


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(("name", "model"), RECURRENT)
def test_runs_are_as_certified(name: str, model: str, discipline: Discipline) -> None:
    retriever = MODELS[name, model]
    wired = retriever.build(N, discipline=discipline)
    report = check(*build(find_subject(name, N, discipline=discipline, model=model)))
    for hard in HARD[:: 1 if model == "hybrid" else 2]:
        question = replace(hard, query=hard.query[: retriever.query_length])
        if not retriever.task.wrong(question):
            assert contradictions(wired, report, *whole(wired, name, model, question)) == []


def test_the_language_has_what_a_search_writes_and_returns() -> None:
    question = Question((4, 1, 4), (4, 3))
    for name, _ in (key for key in RECURRENT if key[1] == "rag"):
        retriever = MODELS[name, "rag"]
        asked = replace(question, query=question.query[: retriever.query_length])
        words = [*asked.words(), *retriever.thoughts(asked, frozenset())]
        states = build(find_subject(name, N, model="rag"))[1].states
        assert len(words) == states[-1].high - N + len(asked.sequence)
        spelled = [state.word for state in states if state.label.part == SEARCH]
        behind = words[len(asked.words()) : -1]
        assert all(word in ("", said) for word, said in zip(spelled, behind, strict=True))
        assert retrieve(words[:-1]) == words[-1:]


@pytest.mark.parametrize(("name", "model"), RECURRENT)
def test_fewer_bits_are_refused(name: str, model: str) -> None:
    least = MODELS[name, model].least_precision(1000)
    verdicts = [
        certificate(find_subject(name, 1000, precision_bits=p, model=model))["verdict"] for p in (9, least - 6, least)
    ]
    assert verdicts[0] == REFUSED
    assert verdicts[2] == CERTIFIED
    assert model == "hybrid" or verdicts[1] == REFUSED


@pytest.mark.parametrize(
    ("name", "model", "finding"), [(*key, finding.id) for key in RECURRENT for finding in MODELS[key].findings]
)
def test_prints_are_not_certified_but_for_factors_that_fit(name: str, model: str, finding: str) -> None:
    certified = certificate(find_subject(name, 16, printed=(finding,), model=model))["verdict"] == CERTIFIED
    assert certified is (finding == "score-range")


@pytest.mark.parametrize(("name", "model", "count"), [("counting", "hybrid", 12), ("index", "rag", 2)])
def test_single_changes(name: str, model: str, count: int) -> None:
    """Refused, not decided, or harmless on hard inputs; each weight of a recurrence of the hybrid's is needed."""
    surveyor = Surveyor(find_subject(name, N, model=model))
    inputs = hard_inputs(surveyor.subject, surveyor.wired, 12, 0)
    recurrent = [change for change in surveyor.changes if change[0][:2] in RECURRENCES and change[1] == "zero"]
    drawn = random.Random(0).sample(surveyor.changes, count)
    certified = 0
    for place, change in (*drawn, *(recurrent if model == "hybrid" else ())):
        changed = mutant(surveyor.wired.model, place, change, surveyor.step)
        if surveyor.verdict(changed, place) == CERTIFIED:
            certified += 1
            assert first_wrong(surveyor.wired, changed, inputs) is None, (place, change)
    assert certified < count / 2


@dataclass(frozen=True)
class RecurrenceCase:
    """Weights of one recurrence over random sequences."""

    carry: tuple[tuple[int, ...], ...]
    feed: tuple[tuple[int, ...], ...]

    @property
    def model(self) -> Transformer:
        rows = [*([v, 0] for v in range(1, N + 1)), [0, 1], [0, -1]]
        words = np.array([[*row, 0, 0, 0] for row in rows], float)
        a, b = np.zeros((WIDTH, WIDTH)), np.zeros((WIDTH, WIDTH))
        a[2:, 2:], b[2:, :2] = self.carry, self.feed
        nothing = FeedForward(
            *(np.zeros(shape) for shape in ((0, WIDTH), (0,), (0, WIDTH), (0,), (WIDTH, 0), (WIDTH,)))
        )
        # After it another one, so that what the first block writes is read.
        after = Recurrence(np.zeros((WIDTH, WIDTH)), np.eye(WIDTH))
        blocks = (Block((), nothing, Recurrence(a, b)), Block((), nothing, after))
        return Transformer(words, np.zeros(WIDTH), blocks, words)

    def exact(self, arithmetic: Arithmetic = ARITHMETIC) -> ExactModel:
        """Returns what the checker reads of the model."""
        return described(self.model, arithmetic, REGISTERS, VOCABULARY, [Family("", 1, N)])


CYCLE = TokenAutomaton(
    (
        State(Label("a"), 1, 1, (), "a"),
        State(Label("number"), 2, LONGEST, (0, 1, 2, 3), numbers=(1, N)),
        State(Label("b"), LATE, LONGEST, (0, 1), "b"),
        State(Label("small"), LATE + 1, LONGEST, (2,), numbers=(1, 2)),
    ),
    frozenset([Label("number")]),
    (N, N),
)
NEXT = {"a": ("number", "b"), "number": ("number", "b"), "b": ("number", "small"), "small": ("number",)}
TOKENS = {"a": (N, N), "b": (N + 1, N + 1), "number": (0, N - 1), "small": (0, 1)}


@st.composite
def cases(draw: st.DrawFn) -> RecurrenceCase:
    """Below the diagonal anything, on it 0 or 1; a sum is made of nothing else."""
    sums = draw(st.lists(st.booleans(), min_size=3, max_size=3))
    weight = st.integers(-2, 2)
    carry = [
        [int(i == j) if sums[i] else draw(weight) if j < i and not sums[j] else 0 for j in range(3)] for i in range(3)
    ]
    return RecurrenceCase(tuple(map(tuple, carry)), tuple((draw(weight), draw(weight)) for _ in range(3)))


@st.composite
def cycles(draw: st.DrawFn) -> RecurrenceCase:
    """Each state is that of some register, or −1 times that; each has its own. What is fed is anything."""
    sources, weight = draw(st.permutations(range(3))), st.integers(-2, 2)
    signs = [draw(st.sampled_from([1, -1])) for _ in range(3)]
    carry = [[signs[i] * (j == sources[i]) for j in range(3)] for i in range(3)]
    return RecurrenceCase(tuple(map(tuple, carry)), tuple((draw(weight), draw(weight)) for _ in range(3)))


@settings(max_examples=16)
@given(data=st.data())
def test_a_run_stays_in_the_bounds_and_is_what_is_read(data: st.DataObject) -> None:
    case = data.draw(cases() | cycles())
    states = {i for i, rows in enumerate(zip(case.carry, case.feed, strict=True)) if any(map(any, rows))}
    assume(states.issuperset(j for row in case.carry for j, weight in enumerate(row) if weight))  # others are refused
    model = case.exact()
    report, read = check(model, CYCLE), extract(model, CYCLE).stages[2].registers
    engine, place, words = ReferenceEngine(case.model, ARITHMETIC), "a", list[tuple[str, int]]()
    for position in range(LONGEST):
        token = data.draw(st.integers(*TOKENS[place]))
        step = engine.append(token)
        words.append(("", token + 1) if token < N else (VOCABULARY[token], 0))
        for i, name in enumerate(REGISTERS):
            value = step.registers[2][i] * ARITHMETIC.format.quantum
            low, high = report.ranges[0, name]
            assert low <= value <= high, (position, name)
            assert Input(words).value(read.get(i, ZERO), position + 1) == value, (position, name)
        place = data.draw(st.sampled_from([name for name in NEXT[place] if name != "b" or position + 2 >= LATE]))


def test_bounds_that_are_reached() -> None:
    """x is the number before, y that of two before, z 1 less how many b there have been."""
    case = RecurrenceCase(((0, 0, 0), (1, 0, 0), (0, 0, 1)), ((1, 0), (0, 0), (0, 1)))
    report = check(case.exact(), CYCLE)
    assert [report.ranges[0, name] for name in ("x", "y")] == [(0, N), (0, N)]
    assert report.ranges[0, "z"] == (LATE - LONGEST - 1, 1)


def ranges(case: RecurrenceCase, automaton: TokenAutomaton) -> list[tuple[Fraction, Fraction]]:
    """Of x, y and z."""
    report = check(case.exact(), automaton)
    return [report.ranges[0, name] for name in "xyz"]


def test_what_a_cycle_keeps() -> None:
    """Of one word again and again it has few states. Where others may come, each position may add to it, or take away."""
    signed = ((-1, 0, 0), (0, 0, -1), (0, 1, 0))  # x is −x, and y and z are −z and y
    always = TokenAutomaton((State(Label("a"), 1, LONGEST, (0,), "a"),), frozenset([Label("a")]), (N, N))
    words = RecurrenceCase(signed, ((0, 2), (0, 1), (0, 0)))
    assert ranges(words, always) == [(0, 2), (0, 1), (0, 1)]
    assert ranges(words, CYCLE) == [(-2 * LONGEST, 2 * LONGEST), *[(-LONGEST, LONGEST)] * 2]
    plain, most = ((0, 0, 0), (0, 0, 1), (0, 1, 0)), N * (LONGEST - 1)
    assert ranges(RecurrenceCase(signed, ((1, 0), (1, 0), (0, 0))), CYCLE) == [(-most, most)] * 3
    assert ranges(RecurrenceCase(plain, ((0, 0), (1, 0), (0, 0))), CYCLE) == [(0, 0), (0, most), (0, most)]


def test_cycles_by_where_they_lead() -> None:
    """Of all rows of one entry over four registers, and with another entry in one of them."""
    for sources in itertools.product((None, 0, 1, 2, 3), repeat=4):
        before = {i: source for i, source in enumerate(sources) if source is not None}
        for more in (None, 0, 3):
            sign = {i: -1 if (i + sum(before.values())) % 2 else 1 for i in before}
            rows = {
                i: (((source, sign[i]), (4, 1)) if i == more else ((source, sign[i]),)) for i, source in before.items()
            }
            around = set()
            for i in before:
                way = [i]
                while way[-1] in before and way[-1] != more and len(way) < 6:
                    way.append(before[way[-1]])
                if i in way[1:] and (before[i], sign[i]) != (i, 1):
                    around.add(i)
            cycles = Recurrent(tuple(rows.items()), ()).cycles()
            assert sorted(i for cycle in cycles for i, _ in cycle) == sorted(around)
            for cycle in cycles:
                assert all(rows[i] == ((cycle[at - 1][0], turn),) for at, (i, turn) in enumerate(cycle))


@pytest.mark.parametrize("row", [(2, 0, 0), (Fraction(1, 2), 0, 0), (-1, 1, 0)])
def test_what_is_no_window_and_no_sum(row: tuple[Fraction, ...]) -> None:
    case = RecurrenceCase((tuple(map(float, row)), (0, 0, 0), (0, 0, 0)), ((1, 0), (1, 0), (0, 0)))
    judgement = judge(case.exact(), CYCLE)
    assert (judgement.verdict, judgement.what) == (UNKNOWN, "it is made of itself, and is no sum")


def test_two_registers_in_a_circle() -> None:
    case = RecurrenceCase(((0, 2, 0), (1, 0, 0), (0, 0, 0)), ((1, 0), (0, 0), (0, 0)))
    assert judge(case.exact(), CYCLE).verdict == UNKNOWN


def test_a_sum_that_may_saturate() -> None:
    case = RecurrenceCase(((1, 0, 0), (0, 0, 0), (0, 0, 0)), ((1, 0), (0, 0), (0, 0)))
    small = Arithmetic(fixed_point(9))  # up to 15.9375; six numbers up to 4 are 24
    with pytest.raises(Refused, match="recurrence, register x: saturates"):
        check(case.exact(small), CYCLE)


def test_a_sum_that_is_limited() -> None:
    """By an invariant: the numbers are 7 together at most, so that nothing saturates, twice the sum in the next block neither."""
    case = RecurrenceCase(((1, 0, 0), (0, 0, 0), (0, 0, 0)), ((1, 0), (0, 0), (0, 0)))
    model = case.exact(Arithmetic(fixed_point(9)))
    limit = Limited("few", "x", 7, "")
    for known in (limit, replace(limit, most=atom("n") + 3)):
        report = check(model, replace(CYCLE, answers=frozenset([Label("b")]), invariants=(known,)))
        assert (report.ranges[0, "x"], list(report.invariants)) == ((0, 7), ["few"])
    for wrong in (replace(limit, most=16), replace(limit, sum="y")):
        with pytest.raises(Refused, match="recurrence, register x: saturates"):
            check(model, replace(CYCLE, invariants=(wrong,)))


def test_a_sum_before_anything_is_added() -> None:
    """The count of b, of which the first comes late, is 0 at the first number too."""
    case = RecurrenceCase(((1, 0, 0), (0, 0, 0), (0, 0, 0)), ((0, 1), (0, 0), (0, 0)))
    states = embedded(case.exact(), CYCLE)
    none, one = SumShare(Fraction(0), Fraction(0)), SumShare(Fraction(1), Fraction(1))
    total = Total(states, [one if state.label == Label("b") else none for state in states])
    (number,) = (i for i, state in enumerate(states) if state.label == Label("number"))
    state = total.state_after(states[number], HIDDEN_STATE, number)
    assert state is not None
    assert (state.position.low, state.bounds(state.register(HIDDEN_STATE))) == (2, (0, LONGEST - LATE + 1))


@st.composite
def ways(draw: st.DrawFn) -> tuple[list[AbstractState], list[SumShare]]:
    """States, each at every so many positions, after some of the others; and what their positions add."""
    some, shares = [], []
    count = draw(st.integers(2, 4))
    for i in range(count):
        low, every, more = (
            1 if i == 0 else draw(st.integers(2, 4)),
            draw(st.sampled_from([1, 1, 2, 3])),
            draw(st.integers(0, 3)),
        )
        before = draw(st.frozensets(st.integers(0, count - 1), min_size=min(i, 1)))
        box = {"n": Integer(4, 4), "k": Integer(low, low + every * (more if i else 0), every)}
        some.append(AbstractState(Space(fixed_point(25)), {}, box, before=before, parents=frozenset([i])))
        least = draw(st.integers(-2, 2))
        shares.append(SumShare(Fraction(least), Fraction(least + draw(st.sampled_from([0, 0, 1, 2])))))
    return some, shares


@settings(max_examples=150)
@given(ways())
def test_a_sum_is_what_the_positions_add(given: tuple[list[AbstractState], list[SumShare]]) -> None:
    """Against every way through the states, by position."""
    some, shares = given
    sums: dict[tuple[int, int], set[int]] = {}  # state and position → what the sum may be there
    for position in range(1, 8):
        for i, state in enumerate(some):
            if position in range(state.position.low, state.position.high + 1, state.position.step):
                earlier = [sums.get((j, position - 1), set()) for j in state.before] if position > 1 else [{0}]
                own = range(int(shares[i].low), int(shares[i].high) + 1)
                sums[i, position] = {x + y for x in set().union(*earlier) for y in own}
    total = Total(some, shares)
    for i, state in enumerate(some):
        due = {(position, x) for (j, position), found in sums.items() if j == i for x in found}
        if not due:
            continue
        event(f"one number: {total.numbers[i] is not None}")
        low, high = total.bounds(i)
        assert all(low <= x <= high for _, x in due)
        held = total.state_after(state, HIDDEN_STATE, i)
        told = set() if held is None else {(place[0], value[0]) for place, _, value in contents([held], [HIDDEN_STATE])}
        assert due <= told

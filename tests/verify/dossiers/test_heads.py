"""Heads alone: what is certified of them, what is refused, and that the checker's bounds hold in runs of random columns."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from constructions.engines.reference import ReferenceEngine
from constructions.parts.heads import copy, match, match_close
from constructions.parts.heads.match import RegisterPair, match_scale, prepare
from constructions.wiring.affine import reg
from constructions.wiring.part import Part, Setting
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan
from precision.format import Arithmetic, Discipline
from verify.algebra.domains import POSITION
from verify.algebra.polynomial import atom
from verify.automata.token_automaton import Content, TokenAutomaton
from verify.certificates.building import build
from verify.certificates.ranges import certificates
from verify.certify import main
from verify.dossiers.dossier import ENDLESS, Subject
from verify.dossiers.heads import PARTS, PURPOSES, HeadAlone
from verify.inputs.strategies import complete, every_value
from verify.inputs.trial import Trial
from verify.rounding.abstract_state import AbstractState
from verify.rounding.checker import check
from verify.runs.probe import wire_trial

SIZES = ((8, 0), (100, 0), (4, 100), (1 << 40, 1 << 41))


@dataclass(frozen=True)
class Changed(HeadAlone):
    """The lemma with other blocks. plan_of: makes them of the lemma's part and a setting."""

    plan_of: Callable[[Part, Setting], Sequence[BlockPlan]] = lambda part, setting: part.plan(setting, False)

    @property
    def part(self) -> Part:
        part = PARTS[self.construction]
        return replace(part, plan=lambda setting, printed: self.plan_of(part, setting))


@dataclass(frozen=True)
class OtherTexts(HeadAlone):
    """The lemma on other texts. change: makes them."""

    change: Callable[[TokenAutomaton], TokenAutomaton] = lambda automaton: automaton

    def texts(self, subject: Subject) -> TokenAutomaton:
        return self.change(super().texts(subject))


def verdict(dossier: HeadAlone, n: int, last: int = 0) -> str:
    return str(certificates(Subject(dossier, n, last=last))["verdict"])


@pytest.mark.parametrize("lemma", PARTS)
@pytest.mark.parametrize(("n", "last"), SIZES)
def test_a_head_alone_is_certified(lemma: str, n: int, last: int) -> None:
    assert verdict(HeadAlone(lemma), n, last) == "certified"


@pytest.mark.parametrize("lemma", [lemma for lemma in PARTS if lemma != "C.18"])  # whose row has it
def test_a_head_alone_is_certified_of_every_n_above(lemma: str) -> None:
    assert verdict(HeadAlone(lemma), 1 << 63, ENDLESS) == "certified"


@pytest.mark.parametrize("lemma", PARTS)
@pytest.mark.parametrize(("n", "last"), SIZES)
def test_a_small_margin_is_not_certified(lemma: str, n: int, last: int) -> None:
    """Of C.15 a quarter is enough: two positions from 2 on have squares that differ by 5 or more."""
    part = 16 if lemma == "C.15" else 4

    def narrow(lemma: Part, setting: Setting) -> Sequence[BlockPlan]:
        return lemma.plan(replace(setting, scale=setting.gap // part), False)

    document = certificates(Subject(Changed(lemma, plan_of=narrow), n, last=last))
    assert document["verdict"] == "unknown"
    assert " only; " in document["what"]


def keys_from_one(part: Part, setting: Setting) -> Sequence[BlockPlan]:
    key, square_of_key = reg("key"), reg(squared("key"))
    one = reg("one") - reg("first")  # the key of position 1 stays 0
    pair = RegisterPair(key + one, reg("query"), square_of_key + 2 * key + one, reg(squared("query")))
    head = match.match("match", (pair,), {"out": reg("payload")}, setting)
    return [BlockPlan((), prepare()), BlockPlan((head,), ())]


def copies(offset: int) -> Callable[[Part, Setting], Sequence[BlockPlan]]:
    return lambda part, setting: copy.part(offset).plan(setting, False)


def of(part: Part) -> Callable[[Part, Setting], Sequence[BlockPlan]]:
    return lambda _, setting: part.plan(setting, False)


def another_value(part: Part, setting: Setting) -> Sequence[BlockPlan]:
    before, behind = part.plan(setting, False)
    heads = tuple(replace(head, reads={"out": reg("key")}) for head in behind.heads)
    return [before, replace(behind, heads=heads)]


def twice(part: Part, setting: Setting) -> Sequence[BlockPlan]:
    before, behind = part.plan(setting, False)
    again = tuple(replace(head, reads={"more": reg("payload")}) for head in behind.heads)
    return [before, replace(behind, heads=(*behind.heads, *again))]


def preferred_default(part: Part, setting: Setting) -> Sequence[BlockPlan]:
    """C.15, but position 1 pays no more than one unit: less than equal keys far behind."""
    before, behind = part.plan(setting, False)
    (head,) = behind.heads
    cost = match_scale(setting, False).default
    components = tuple(c for c in head.components if c.query != -cost * reg("one"))
    assert len(components) == len(head.components) - 1
    lookup = replace(head.lookup, penalty=None)
    return [before, replace(behind, heads=(replace(head, components=components, lookup=lookup),))]


@pytest.mark.parametrize(
    ("lemma", "plan_of", "what"),
    [
        ("C.15", keys_from_one, "compares"),
        ("C.13", copies(1), "prefers by"),
        ("C.13", copies(3), "prefers by"),
        ("C.15", of(match_close.PART), "prefers by"),
        ("C.16", of(match.PART), "prefers by"),
        ("C.15", another_value, "reads"),
        ("C.15", twice, "2 heads"),
        ("C.15", preferred_default, "position 1 pays"),
    ],
)
def test_a_head_that_looks_up_something_else_is_refused(
    lemma: str, plan_of: Callable[[Part, Setting], Sequence[BlockPlan]], what: str
) -> None:
    for n, last in ((8, 0), (4, 100)):
        document = certificates(Subject(Changed(lemma, plan_of=plan_of), n, last=last))
        assert document["verdict"] == "refused"
        assert what in document["what"]
        assert f"Lemma {lemma}" in document["where"]


@pytest.mark.parametrize("lemma", ["C.17", "C.18"])
def test_without_what_the_lemma_assumes_nothing_is_certified(lemma: str) -> None:
    alone = OtherTexts(lemma, change=lambda automaton: replace(automaton, invariants=()))
    assert verdict(HeadAlone(lemma), 8) == "certified"
    assert verdict(alone, 8) == "unknown"


def test_that_one_key_is_nearest_helps_no_other_head() -> None:
    def of_another(automaton: TokenAutomaton) -> TokenAutomaton:
        return replace(automaton, invariants=tuple(replace(one, head="another") for one in automaton.invariants))

    assert verdict(OtherTexts("C.17", change=of_another), 8) == "unknown"


def wider(register: str, times: int) -> Callable[[TokenAutomaton], TokenAutomaton]:
    """Texts where a register holds numbers so many times as large."""

    def change(content: Content) -> Content:
        return replace(content, high=content.high * times) if content.register == register else content

    return lambda automaton: replace(
        automaton,
        states=tuple(replace(state, contents=tuple(map(change, state.contents))) for state in automaton.states),
    )


@pytest.mark.parametrize(("lemma", "register"), [("C.14", "x"), ("C.15", "key"), ("C.16", "query"), ("C.17", "wanted")])
def test_numbers_beyond_the_contract_are_not_certified(lemma: str, register: str) -> None:
    assert verdict(OtherTexts(lemma, change=wider(register, 1 << 20)), 8) == "unknown"


def drawn(part: Part, n: int, rng: random.Random) -> Trial:
    """Columns of the contract, of n positions."""
    trial = Trial(n, n, part.least_precision(n, n), {})
    contract = part.contract(trial.setting)
    columns = {}
    for name, domain in contract.requires.items():
        column = [rng.choice(every_value(domain)) for _ in range(n)]
        column[0] = contract.first.get(name, column[0])
        columns[name] = tuple(column)
    return replace(trial, columns=complete(part, contract, columns, n))


@pytest.mark.parametrize("lemma", PARTS)
def test_the_bounds_hold_in_runs_of_random_columns(lemma: str) -> None:
    """Some abstract state has room for all registers of a position, after each block: what is given, and what is read."""
    n, part, rng = 6, PARTS[lemma], random.Random(7)
    subject = Subject(HeadAlone(lemma), n)
    model, automaton = build(subject)
    report = check(model, automaton)
    for _ in range(12):
        trial = drawn(part, n, rng)
        wired, names, tokens = wire_trial(part, trial, False)
        quantum = trial.setting.format.quantum
        run = ReferenceEngine(wired, Arithmetic(trial.setting.format, Discipline.FUSED))
        due = part.oracle(trial.setting, trial.columns)["out"]
        for k, token in enumerate(tokens):
            step = run.append(token).registers
            if due[k] is None and lemma == "C.17":
                continue  # two are equally near
            for block in range(len(model.layers)):
                values = dict(zip(names, (Fraction(x) * quantum for x in step[2 * block + 2]), strict=True))
                states = [state for number, state, _ in report.behind if number == block] if block == 0 else report.met
                assert any(has_room(state, model.registers, values, k + 1) for state in states), (block, k, values)


def has_room(state: AbstractState, names: Sequence[str], values: Mapping[str, Fraction], position: int) -> bool:
    """Whether the state may hold these values at this position."""
    low, high = state.bounds(atom(POSITION))
    if not low <= position <= high:
        return False
    kept = [
        i for i, name in enumerate(names) if name in values and (i in state.registers or name == "out")
    ]  # others are dropped
    bounds = ((values[names[i]], *state.bounds(state.register(i))) for i in kept)
    return all(low <= value <= high for value, low, high in bounds)


@pytest.mark.parametrize("arguments", [["C.13", "--n", "8"], ["C.16", "--n", "4-50"]])
def test_the_command_certifies_a_head(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert "certified" in capsys.readouterr().out


def test_the_command_says_that_it_cannot_tell_of_fewer_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["C.13", "--n", "2-8"]) == 3
    assert "n and the length must be at least 4" in capsys.readouterr().out


def test_every_lemma_says_what_its_head_reads() -> None:
    assert PURPOSES.keys() == PARTS.keys()

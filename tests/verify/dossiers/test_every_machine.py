"""All machines of one size at once: what is certified has room for the runs of single ones, which differ in the table alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from constructions.engines.reference import ReferenceEngine
from constructions.turing.machine import parse_standard
from constructions.wiring.affine import reg
from constructions.wiring.wire import BlockPlan, Gadget, Unit
from tests.verify.dossiers.test_heads import has_room
from verify.automata.token_automaton import Content, TokenAutomaton
from verify.certificates.building import build
from verify.certificates.ranges import certificates
from verify.certify import main
from verify.dossiers.dossier import Subject
from verify.dossiers.turing.every_machine import SAYS, EveryMachine, difference, table_of
from verify.inputs.turing_machines import every_table
from verify.rounding.checker import check

MODELS = ("hybrid", "rag")
SIZES = ("1RB1LB_1LA1RZ", "1RB1RZ_1LC1LA_1RA1LB", "1RB2LA1RA1RA_1LB1LA3RB1RZ")


@dataclass(frozen=True)
class Other(EveryMachine):
    """With other contents of registers. change: makes them."""

    change: Callable[[Content], Content] = lambda content: content

    def texts_between(self, subject: Subject, low: int, high: int) -> TokenAutomaton:
        automaton = super().texts_between(subject, low, high)
        states = (replace(one, contents=tuple(map(self.change, one.contents))) for one in automaton.states)
        return replace(automaton, states=tuple(states))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("machine", "n", "last"), [(SIZES[0], 1000, 0), (SIZES[0], 4, 20), (SIZES[1], 8, 0), (SIZES[2], 8, 0)]
)
def test_all_machines_of_a_size_are_certified(model: str, machine: str, n: int, last: int) -> None:
    assert certificates(Subject(EveryMachine(model=model, machine=machine), n, last=last))["verdict"] == "certified"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("register", SAYS.values())
def test_rules_that_say_more_than_the_format_holds_are_not_certified(model: str, register: str) -> None:
    def change(content: Content) -> Content:
        return replace(content, high=(1 << 40) + 1) if content.register == register else content

    assert certificates(Subject(Other(model=model, change=change), 8))["verdict"] == "unknown"


@pytest.mark.parametrize("model", MODELS)
def test_few_bits_are_not_certified(model: str) -> None:
    every = EveryMachine(model=model)
    assert certificates(Subject(every, 100, precision_bits=11))["verdict"] != "certified"


def blocks_of(model: str, machine: str) -> Sequence[BlockPlan]:
    every = EveryMachine(model=model)
    _, blocks = replace(every.solver, machine=parse_standard(machine)).plan(
        8, every.format(Subject(every, 8)), listed=5
    )
    return blocks


def every_block(model: str) -> Sequence[BlockPlan]:
    every = EveryMachine(model=model)
    _, blocks = every.plan(Subject(every, 8), every.format(Subject(every, 8)))
    return blocks


def changed(blocks: Sequence[BlockPlan], change: Callable[[Gadget], Gadget]) -> Sequence[BlockPlan]:
    return [replace(block, gadgets=tuple(map(change, block.gadgets))) for block in blocks]


@pytest.mark.parametrize("model", MODELS)
def test_small_machines_differ_in_the_table_alone(model: str) -> None:
    every = every_block(model)
    for machine in random.Random(5).sample([*every_table()], 40):
        assert difference(blocks_of(model, machine), every) == ""


@pytest.mark.parametrize("model", MODELS)
def test_a_machine_of_another_size_differs(model: str) -> None:
    assert difference(blocks_of(model, SIZES[1]), every_block(model)) == "a weight beside the table"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda unit: replace(unit, gate=unit.gate + reg("position")), "the gate"),
        (lambda unit: replace(unit, up=unit.up * 101), "the bends"),
        (lambda unit: replace(unit, up=unit.up + 1), "the bends"),
        (lambda unit: replace(unit, up=unit.up + reg("position")), "the bends"),
        (lambda unit: replace(unit, into={**unit.into, "halted": 1}), "writes"),
    ],
)
def test_another_table_is_seen(model: str, change: Callable[[Unit], Unit], where: str) -> None:
    blocks = blocks_of(model, SIZES[0])
    table = table_of(blocks)
    units = (*table.units[:-1], change(table.units[-1]))
    other = changed(blocks, lambda gadget: replace(gadget, units=units) if gadget == table else gadget)
    assert where in difference(other, every_block(model))


@pytest.mark.parametrize("model", MODELS)
def test_there_is_room_for_the_runs_of_single_machines(model: str) -> None:
    n, every = 8, EveryMachine(model=model)
    exact, automaton = build(Subject(every, n))
    report = check(exact, automaton)
    for machine in ("1RB1LB_1LA1RZ", *random.Random(3).sample([*every_table()], 5)):
        solver = replace(every.solver, machine=parse_standard(machine))
        wired = solver.build(n)
        request = solver.request(wired, n)
        tokens = [*map(int, request.prompt), *map(int, request.guess)]
        run, quantum = ReferenceEngine(wired.model, wired.arithmetic), wired.arithmetic.format.quantum
        for k, token in enumerate(tokens[:-1]):
            step = run.append(token).registers
            for block in range(len(exact.layers)):
                values = dict(zip(wired.registers, (Fraction(x) * quantum for x in step[2 * block + 2]), strict=True))
                states = [one for number, one, _ in report.behind if number == block]
                assert any(has_room(one, exact.registers, values, k + 1) for one in states), (machine, block, k)


def test_the_command_certifies_every_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["every-machine", "--model", "rag", "--n", "8"]) == 0
    assert "certified" in capsys.readouterr().out

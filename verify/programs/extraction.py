"""Weights in, terms out: the walk over a model's blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from constructions.language.terms import (
    ONE,
    POSITION,
    ZERO,
    Back,
    Best,
    Comb,
    Digits,
    IsNumber,
    IsWord,
    NumberOf,
    Positive,
    Read,
    Sum,
    Term,
    as_term,
    fraction,
)
from constructions.places import ATTENTION, FEED_FORWARD, RECURRENCE, name_part, name_place
from constructions.rows import Cycle, HeadRows, Recurrent, Row, Weight
from constructions.walk import Domain, Values, walk
from verify.algebra.domains import Undecided
from verify.algebra.polynomial import Polynomial
from verify.automata.token_automaton import Consecutive, Delayed, TokenAutomaton
from verify.programs.facts import Facts, Group
from verify.programs.forms import as_atom, unresolved
from verify.programs.normal import Normalizer
from verify.rounding.model import NUMBER, ExactModel
from verify.rounding.queues import Queue, queue_of

Registers = dict[int, Term]


@dataclass(frozen=True)
class Stage:
    """What a sublayer leaves. registers: all that are not 0. changed: those that it wrote.

    where: what the sublayer is called. kind, block: which one it is; block: from 1, 0 for the embedding. heads: what its heads are
    called.
    """

    kind: str
    block: int
    where: str
    registers: Registers
    changed: tuple[int, ...]
    heads: tuple[str, ...] = ()

    @property
    def digested(self) -> str:
        """Returns what the sublayer is called in digests of stored documents, where blocks count from 0."""
        return f"block {self.block - 1}, {self.kind}" if self.block else self.kind


@dataclass(frozen=True)
class QueueTerm:
    """What an invariant says, by name: what leaves a queue, `late`, entered it as `early` so many positions before."""

    name: str
    early: Term
    late: Term


@dataclass(frozen=True)
class ExtractedProgram:
    """The terms of every register after the embedding and after both sublayers of each block.

    queues: what is assumed of those that recurrences keep.
    """

    names: tuple[str, ...]
    stages: tuple[Stage, ...]
    facts: Facts
    queues: tuple[QueueTerm, ...] = ()


def extract(
    model: ExactModel, automaton: TokenAutomaton, *, naming: bool = False, shorten: bool = False
) -> ExtractedProgram:
    """Returns the program that the weights are. naming: sums that a block leaves are one atom each from there on, called by the
    register.

    shorten: those with a head's scores too.
    Raises Undecided for weights that are no numbers, or a recurrence that no rule tells.
    """
    domain = _Terms(model, automaton)
    stages = [Stage("embedding", 0, "embedding", domain.stream, tuple(domain.stream))]
    for sublayer, layer in enumerate(walk(domain, model.layers)):
        block, heads = domain.block, tuple[str, ...]()
        if sublayer % 2:
            kind, part = FEED_FORWARD, FEED_FORWARD
        else:
            head_names = ", ".join(model.heads[block - 1] if model.heads else ())
            kind = ATTENTION if layer.recurrence is None else RECURRENCE
            part = name_part(kind, name=head_names)
            heads = tuple(model.head(block - 1, number) for number in range(len(layer.heads)))
        if sublayer % 2 and naming and block < len(model.layers):
            domain.stream = _call(domain.stream, model.registers, domain.normal, shorten)
        stages.append(Stage(kind, block, name_place(block, part), domain.stream, domain.changed, heads))
        if sublayer % 2 and (groups := _groups(model.registers, domain.stream, automaton, domain.normal.facts)):
            domain.normal = Normalizer(replace(domain.normal.facts, groups=groups, known={}, parts={}))
    return ExtractedProgram(model.registers, tuple(stages), domain.normal.facts, tuple(domain.queues))


class _Terms(Domain[Term]):
    """Registers as terms. changed: those that the last sublayer wrote. queues: what is assumed of those that were met."""

    stream: Registers

    def __init__(self, model: ExactModel, automaton: TokenAutomaton) -> None:
        self.model, self.automaton = model, automaton
        self.normal = Normalizer(Facts.everywhere(automaton))
        self.stream = _embed(model, self.normal)
        self.changed: tuple[int, ...] = ()
        self.queues: list[QueueTerm] = []

    def row(self, row: Row, bias: Weight, values: Values[Term]) -> Term:
        return _affine(row, bias, dict(enumerate(values)) if isinstance(values, Sequence) else values)

    def unit(self, gate: Term, up: Term) -> Term:
        normal = self.normal
        return normal.reduced(normal.atom(Positive(normal.normalised(gate))) * normal.normalised(up))

    def read(self, head: HeadRows, number: int) -> Sequence[Term]:
        return _reads(head, self.stream, self.normal, self.model.head(self.block - 1, number))

    def states(self, recurrence: Recurrent) -> Iterable[tuple[int, Term]]:
        met = {i: q for i, _ in recurrence.carry if (q := _queue(i, recurrence, self.model, self.automaton))}
        index = self.model.registers.index
        for queue in met.values():
            ends = (self.stream.get(index(r), ZERO) for r in (queue.invariant.early, queue.invariant.late))
            self.queues.append(QueueTerm(queue.invariant.name, *ends))
        return _states(recurrence, self.stream, self.normal, name_place(self.block, RECURRENCE), met).items()

    def write(self, changes: Iterable[tuple[int, Term]]) -> None:
        added = dict(changes)
        both = {i: self.stream.get(i, ZERO) + added.get(i, ZERO) for i in sorted({*self.stream, *added})}
        self.stream = {
            i: normalised for i, value in both.items() if (normalised := self.normal.normalised(value)) != ZERO
        }
        self.changed = tuple(added)


def _groups(names: tuple[str, ...], registers: Registers, automaton: TokenAutomaton, facts: Facts) -> tuple[Group, ...]:
    """Returns the invariants that are assumed of registers which number first occurrences."""
    groups = []
    for invariant in automaton.invariants:
        if isinstance(invariant, Consecutive) and {invariant.group, invariant.count} <= set(names):
            key, count = (registers.get(names.index(name)) for name in (invariant.group, invariant.count))
            if key is not None and count is not None and not facts.groups:
                groups.append(Group(invariant.name, key, count, automaton.range(invariant.most)[1]))
    return tuple(groups)


def _call(registers: Registers, names: tuple[str, ...], normal: Normalizer, all_of_them: bool) -> Registers:
    """Gives each sum that no head's scores are in, or each sum at all, one atom as its name; a square is the atom's square."""
    sums = {i: value for i, value in registers.items() if len(value.items) > 1}
    long = {i: value for i, value in sums.items() if unresolved(value) is None or all_of_them}
    roots = {square: root for root in long.values() if (square := normal.normalised(root * root)) != root}
    atoms = {value: as_atom(names[i], value) for i, value in reversed(long.items()) if value not in roots}
    squares = {value: atoms[root] * atoms[root] for value, root in roots.items() if root in atoms}
    return {i: squares.get(value) or atoms.get(value, value) for i, value in registers.items()}


def _number(weight: Weight) -> Fraction:
    if isinstance(weight, Polynomial):
        raise Undecided("the weights", "they are forms of n, which has no interval")
    return fraction(weight)


def _affine(row: Row, bias: Weight, registers: Mapping[int, Term]) -> Term:
    return sum((registers[i] * _number(w) for i, w in row if i in registers), as_term(_number(bias)))


def _embed(model: ExactModel, normal: Normalizer) -> Registers:
    """Reads the embedding as terms: a polynomial of the number at numbers, a constant at each word, plus the position."""
    registers: Registers = {}
    words = [{i: _number(w) for i, w in row} for row in model.specials.values()]
    constants = [{i: _number(p.constant) for i, p in numbers.rows.items()} for numbers in model.families.values()]
    every = {i: c for i, c in (*words, *constants)[0].items() if all(row.get(i) == c for row in (*words, *constants))}
    for family, numbers in model.families.items():
        number = as_term(NumberOf(family))
        for i, polynomial in numbers.rows.items():
            value = ZERO
            for monomial, c in polynomial.terms.items():
                if any(name != NUMBER for name in monomial):
                    raise Undecided("the embedding", f"{polynomial} is no polynomial of a number")
                power = ONE
                for _ in monomial:
                    power = power * number
                value = value + power * c
            own = value.constant - every.get(i, 0)
            value = value - value.constant + as_term(IsNumber(family)) * own  # no other token has it
            registers[i] = registers.get(i, ZERO) + value
    for word, row in zip(model.specials, words, strict=True):
        for i, w in row.items():
            registers[i] = registers.get(i, ZERO) + as_term(IsWord(word)) * (w - every.get(i, 0))
    for i, c in every.items():
        registers[i] = registers.get(i, ZERO) + c
    for i, w in model.position:
        registers[i] = registers.get(i, ZERO) + as_term(POSITION) * _number(w)
    return {i: value for i, term in sorted(registers.items()) if (value := normal.term(term)) != ZERO}


def _reads(head: HeadRows, registers: Registers, normal: Normalizer, where: str) -> list[Term]:
    keys = [_affine(row, 0, registers) for row in head.key]
    queries = [_affine(row, 0, registers) for row in head.query]
    best = Best(tuple(zip(keys, queries, strict=True)), where)
    return [normal.term(as_term(Read(_affine(row, 0, registers), best))) for row in head.value]


def _queue(i: int, layer: Recurrent, model: ExactModel, automaton: TokenAutomaton) -> Queue | None:
    """Returns the queue that a state is, by an invariant of the automaton."""
    delays = [invariant for invariant in automaton.invariants if isinstance(invariant, Delayed)]
    return queue_of(i, dict(layer.carry).get(i, ()), dict(layer.feed).get(i, ()), model.registers, delays)


def _states(
    layer: Recurrent, registers: Registers, normal: Normalizer, where: str, queues: Mapping[int, Queue]
) -> Registers:
    """Reads h_t = A·h_{t−1} + B·x_t as terms: each coordinate takes, or adds up, what is fed and others' states one step before.

    A queue is what has entered it and, by its invariant, not yet left. In a cycle each adds up what is fed to it, and what has come
    around from the others, which were fed so many steps before.
    """
    feed = {i: _affine(row, 0, registers) for i, row in layer.feed}
    carry = dict(layer.carry)
    states: Registers = {}
    for i, queue in queues.items():
        digits = Digits(registers.get(queue.early, ZERO), queue.base, queue.invariant.by)
        states[i] = normal.term(as_term(digits)) * _number(queue.unit)
    for cycle in layer.cycles():
        states |= {i: normal.term(value) for i, value in _turn(cycle, feed).items()}
    pending: Sequence[int] = sorted({*feed, *carry} - states.keys())
    while pending:
        ready = [i for i in pending if all(j in states or j == i or j not in pending for j, _ in carry.get(i, ()))]
        if not ready:
            raise Undecided(where, "its states depend on each other in a circle")
        for i in ready:
            states[i] = normal.term(_state(i, carry.get(i, ()), feed.get(i, ZERO), states, where))
        pending = [i for i in pending if i not in states]
    return states


def _turn(cycle: Cycle, feed: Registers) -> Registers:
    """Returns the states of a cycle: register r is fed x and takes over sign·(the register before it in the cycle), one step
    before.
    """
    around = math.prod(sign for _, sign in cycle)
    states: Registers = {}
    for at, (i, _) in enumerate(cycle):
        total, sign = ZERO, 1
        for steps in range(len(cycle)):
            source, turn = cycle[at - steps]
            fed = as_term(Comb(feed.get(source, ZERO), len(cycle), around))
            total = total + (as_term(Read(fed, Back(steps))) if steps else fed) * sign
            sign *= turn
        states[i] = total
    return states


def _state(i: int, row: Iterable[tuple[int, Weight]], fed: Term, states: Registers, where: str) -> Term:
    own = ZERO
    summed = False
    for j, weight in row:
        if j == i:
            if _number(weight) != 1:
                raise Undecided(where, f"a state is kept {weight} times")
            summed = True
        elif j in states:
            own = own + as_term(Read(states[j], Back(1))) * _number(weight)
    return as_term(Sum(own + fed)) if summed else own + fed

"""Schedule: which operations a program needs, in which order, and in which block each stands.

A model alternates attention (or a recurrence) and feed-forward: stage 0 is the embedding, stage 2b − 1 the heads of block b, stage
2b its feed-forward. Each value is computed in the first stage in which all that it is made of is there, so the depth of a model is
that of its program; equal values are computed once, and all that is read from one place is read by one head.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from constructions.language.passes.expand import expand, remove_doubles
from constructions.language.passes.facts import TermFacts
from constructions.language.passes.operations import (
    Attend,
    BoundNeed,
    Compare,
    Computation,
    Cycle,
    OutputRule,
    PlacedComputation,
    Ramps,
    Same,
    Schedule,
    Shift,
    Signed,
)
from constructions.language.program import NotCompiled, Pin
from constructions.language.terms import (
    ONE,
    ZERO,
    Above,
    Atom,
    Count,
    Equal,
    Monomial,
    Named,
    NumberOf,
    Positive,
    Read,
    Term,
    as_term,
)


def schedule_values(
    facts: TermFacts,
    embedded: Collection[Monomial],
    pins: Mapping[Atom, Pin],
    rules: tuple[OutputRule, ...],
    signed: Signed | None,
) -> Schedule:
    """Returns all operations that the output needs, in their blocks.

    Raises NotCompiled for what the architecture cannot do, and for pins that cannot be kept.
    """
    scheduler = Scheduler(facts, embedded, pins)
    output, said = scheduler.output(rules, signed)
    if scheduler.pinned != scheduler.pins.keys():
        raise NotCompiled("a value is pinned for which nothing of its own is wired")
    early = min(scheduler.attends - {output}, default=0)
    if early and facts.architecture == "hybrid":
        raise NotCompiled(f"a hybrid has its heads in the last block: this program reads in block {early} of {output}")
    return Schedule(scheduler.values, tuple(scheduler.needs), output, said)


def pinned_atom(pin: Pin) -> tuple[Atom, Pin]:
    """Returns the atom that a pin names: a position that a head reads, or what is counted or compared."""
    for term in (pin.value.term, ONE - pin.value.term):  # x ≤ y is written as not x > y
        match term.items:
            case (((Read(_, where),), c),) if c == 1:
                return where, pin
            case (((Count() | Equal() | Above() | Positive() as atom,), c),) if c == 1:
                return atom, pin
    raise NotCompiled("what can be pinned is a value that is read or counted, or a comparison")


def next_feed(stage: int) -> int:
    """Returns the block of the first feed-forward after a stage."""
    return stage // 2 + 1


@dataclass
class Scheduler:
    """Visits values, each after those that it is made of, and gives each a stage.

    embedded: the values that the embedding has. attends, recurs, fed: the blocks that have heads, a recurrence, gadgets. wired: of
    each value the sum of computed values that it is. squares: of such a value its square, as it was asked for first.
    """

    facts: TermFacts
    embedded: Collection[Monomial]
    pins: Mapping[Atom, Pin]
    pinned: set[Atom] = field(default_factory=set)
    values: dict[Monomial, PlacedComputation | Same] = field(default_factory=dict)
    stages: dict[Monomial, int] = field(default_factory=dict)
    wired: dict[Monomial, Term] = field(default_factory=dict)
    squares: dict[Term, Monomial] = field(default_factory=dict)
    needs: list[BoundNeed] = field(default_factory=list)
    attends: set[int] = field(default_factory=set)
    recurs: set[int] = field(default_factory=set)
    fed: set[int] = field(default_factory=set)

    def output(
        self, rules: tuple[OutputRule, ...], signed: Signed | None
    ) -> tuple[int, tuple[tuple[OutputRule, Term | None], ...]]:
        """Visits all that is said; returns the block of the output, and of each rule the comparison that is made there."""
        least = next_feed(self._visit(signed.saying.operands, signed.saying.needs)) if signed else 1
        stages = [self._stage_of_rule(rule) for rule in rules]
        lasts = [self._last(rule) for rule in rules]
        blocks = (self._block(rule, stage, last) for rule, stage, last in zip(rules, stages, lasts, strict=True))
        block = max([least, *blocks, *self.attends, *self.recurs, *self.fed])
        said = []
        for rule, stage, last in zip(rules, stages, lasts, strict=True):
            late = last if self._block(rule, stage) > block else None
            self._visit(bit for bit in rule.conditions if bit != late)
            said.append((rule, late))
        return block, tuple(said)

    def _stage_of_rule(self, rule: OutputRule) -> int:
        """Visits what a rule is made of; returns the stage after which all of it is there but late comparisons."""
        for compared in rule.compared:
            if isinstance(compared, Ramps):
                self._visit(compared.operands, compared.needs)
            else:
                self._visit((*compared.computed, *compared.terms))
        ready = self._visit(bit for bit in rule.conditions if bit not in rule.late)
        return max(ready, self._visit(rule.saying.operands, rule.saying.needs))

    def _last(self, rule: OutputRule) -> Term | None:
        """Returns the comparison of what is there last. Beside other conditions a steep one takes more digits."""
        late = [bit for bit, ramps in rule.late.items() if not ramps.steep or len(rule.conditions) == 1]
        return max(late, key=lambda bit: self._visit(rule.late[bit].operands), default=None)

    def _block(self, rule: OutputRule, stage: int, last: Term | None = None) -> int:
        """Returns the first block whose feed-forward can say it. last: a comparison that is made there, and not before."""
        ready = {bit: self._visit(ramps.operands) for bit, ramps in rule.late.items()}
        stages = (at if bit == last else 2 * next_feed(at) for bit, at in ready.items())
        return next_feed(max(stage, *stages, 0))

    def _visit(self, terms: Iterable[Term], needs: Iterable[BoundNeed] = ()) -> int:
        """Visits terms in order; returns the stage after which all of them are there."""
        stage = max((self.stage(value) for term in terms for value, _ in term.items if value), default=0)
        self.needs += needs
        return stage

    def stage(self, value: Monomial) -> int:
        """Visits a value; returns the stage after which it is there."""
        if value not in self.stages:
            plain = remove_doubles(self.facts, value)
            if plain != value:
                return self._same(value, Same((Term(((plain, ONE.constant),)),)))
            self._compute(value)
        return self.stages[value]

    def _compute(self, value: Monomial) -> None:
        if value in self.embedded:
            self._note(value, 0)
            return
        operation = self._known_square(value) or expand(self.facts, value)
        if isinstance(operation, Same):
            self._same(value, operation)
            return
        needs = operation.ramps.needs if isinstance(operation, Compare) else ()
        ready = self._visit(operation.operands, needs)
        if operation.vanishes and self._sum(operation.operands[0]) == ZERO:  # nothing would feed it
            self._same(value, Same(()))
            return
        block, stage = self._place(operation, ready)
        self.values[value] = PlacedComputation(value, operation, block)
        self._note(value, stage)
        for atom in operation.before if isinstance(operation, Cycle) else ():
            self._note((atom,), stage)

    def _known_square(self, value: Monomial) -> Same | None:
        """Returns the term that a square is, if its register has one already, or if a head can read it; None for other values."""
        if len(value) != 2 or value[0] != value[1] or isinstance(value[0], Named):
            return None
        stage, of = self.stage(value[:1]), self.wired[value[:1]]
        if [c for _, c in of.items] == [ONE.constant]:  # one register, which may have several names
            known = self.squares.setdefault(of, value)
            if known != value:
                return Same((Term(((known, ONE.constant),)),))
        match value[0]:
            case Read(read, where) if self._stands_before(read * read, stage):
                # By the same head, so that a certificate knows what it is of.
                return Same((as_term(Read(read * read, where)),))
        return None

    def _same(self, value: Monomial, same: Same) -> int:
        self._visit(same.computed)
        stage = self._visit(same.terms)
        if value not in self.stages:  # as what a cycle keeps is, when the cycle is there
            self.values[value] = same
            self.stages[value], self.wired[value] = stage, self._sum(*same.terms)
        return stage

    def _note(self, value: Monomial, stage: int) -> None:
        self.stages[value], self.wired[value] = stage, Term(((value, ONE.constant),))

    def _sum(self, *terms: Term) -> Term:
        """Returns a sum of terms as a sum of computed values."""
        total = ZERO
        for value, c in (item for term in terms for item in term.items):
            total = total + (self.wired[value] * c if value else c)
        return total

    def _stands_before(self, term: Term, stage: int) -> bool:
        """Returns whether all products that a term is made of are there before this stage, and need no units more."""
        return all(self._is_there(value) for value, _ in term.items) and self._visit([term]) < stage

    def _is_there(self, value: Monomial) -> bool:
        """Returns whether a product is computed already, or read from where it is."""
        value = remove_doubles(self.facts, value)
        match value:
            case () | (NumberOf(), NumberOf()):
                return True
            case (Read(of, _) as one, other) if one == other:
                return self._stands_before(of * of, self.stage((one,)))
        return value in self.stages

    # Blocks

    def _place(self, operation: Computation, ready: int) -> tuple[int, int]:
        """Returns the first block after this stage that can have an operation, or the one that it is pinned to; and its stage."""
        match operation:
            case Attend():
                block = self._attention(operation.pin, ready)
                self.attends.add(block)
                return block, 2 * block - 1
            case Cycle() | Shift():
                block = (ready + 1) // 2 + 1
                while block in self.attends:
                    block += 1
                self.recurs.add(block)
                return block, 2 * block - 1
        block = self._pin_block(next_feed(ready), operation.pin)
        self.fed.add(block)
        return block, 2 * block

    def _attention(self, pin: Atom | None, ready: int) -> int:
        if self.facts.architecture == "rnn":
            raise NotCompiled(
                "an RNN has no head: first, last, nearest, at and count need the architecture transformer or hybrid"
            )
        block = (ready + 1) // 2 + 1
        while block in self.recurs:
            block += 1
        block = self._pin_block(block, pin)
        if block in self.recurs:
            raise NotCompiled(f"a head is pinned to block {block}, which has a recurrence")
        return block

    def _pin_block(self, block: int, atom: Atom | None) -> int:
        """Returns this block, or the later one to which the value is pinned."""
        pin = self.pins.get(atom) if atom is not None else None
        if atom is None or pin is None:
            return block
        self.pinned.add(atom)
        if pin.block is not None and pin.block < block:
            raise NotCompiled(
                f"block {pin.block} is too early for what is pinned to it: that can stand in block {block}"
            )
        return pin.block or block

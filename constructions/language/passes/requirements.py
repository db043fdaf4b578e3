"""Requirements: what must fit the format, by the rules of each part, and so the least p."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.language.bounds import Bound, largest_of
from constructions.language.digits import are_below, least_exponent
from constructions.language.passes.facts import TermFacts
from constructions.language.passes.heads import HeadDraft
from constructions.language.passes.registers import RegisterForms
from constructions.language.terms import Atom, Back, Count, Nearest, Pick, Position, as_term
from constructions.language.weights import POSITION
from constructions.wiring.affine import Affine
from constructions.wiring.part import Setting, split_scale
from constructions.wiring.plan import BlockPlan, Gadget, Head, LinearUnit
from precision.format import Discipline

Requirement = tuple[str, Bound]
"""A name, and a number that must be less than 2^q."""


@dataclass(frozen=True)
class BlockWork:
    """What a block computes. heads: what each is called in the program → the head, without its constants."""

    heads: Mapping[Atom, HeadDraft]
    gadgets: tuple[Gadget, ...]
    units: tuple[LinearUnit, ...]

    def plan(self, setting: Setting) -> BlockPlan:
        return BlockPlan(tuple(draft.head(setting) for draft in self.heads.values()), self.gadgets, self.units)


@dataclass(frozen=True)
class Requirements:
    """What must fit a format. needs: what comparisons of counts, and counts that are said, need."""

    facts: TermFacts
    registers: RegisterForms
    blocks: Mapping[int, BlockWork]
    needs: Mapping[str, Bound]
    discipline: Discipline

    @property
    def is_fused(self) -> bool:
        """True if a sum is rounded once."""
        return self.discipline is Discipline.FUSED

    def fraction_bits(self, n: Bound, setting: Callable[[Bound], Setting]) -> Bound:
        """Returns the least q that fits all that is required for it. setting: q → that of its format."""
        q: Bound = least_exponent(n, [2, *self.needs.values(), *(value for _, value in self._register_values())])
        while True:
            values = [value for _, value in self.all(setting(q))]
            needed = least_exponent(n, values)
            if needed > q:
                q = needed  # no q below it can do
            elif are_below(n, values, q):
                return q
            else:
                q = q + 1

    def all(self, setting: Setting) -> Iterator[Requirement]:
        """Yields each number that must be less than 2^q, derived for a setting, with its description."""
        plans = {number: block.plan(setting) for number, block in self.blocks.items()}
        yield from self.needs.items()
        yield from self._register_values([*plans.values()])
        for number, plan in plans.items():
            for head, draft in zip(plan.heads, self.blocks[number].heads.values(), strict=True):
                for value in self._head_values(head, draft, draft.setting(setting)):
                    yield f"block {number}, {head.name}", value
            for gadget in plan.gadgets:
                for value in self._unit_values(gadget):
                    yield f"block {number}, {gadget.name}", value

    def _register_values(self, plan: Sequence[BlockPlan] = ()) -> Iterator[Requirement]:
        """Yields the largest values of registers and logits, whatever the constants of heads are."""
        positions = [form for block in plan for form in read_forms(block) if POSITION in form.terms]
        for name, value in self.registers.largest.items():
            if name != POSITION or not all(map(self._may_saturate, positions)):
                yield f"register {name}", value
        if self.facts.has_numbers:  # the logit of number u is 2·v·u − u² + 1
            high = self.facts.bounds.numbers[1]
            yield "the logits of numbers", high * high + 1 if self.is_fused else 2 * high * high

    def _unit_values(self, gadget: Gadget) -> Iterator[Bound]:
        for unit in gadget.units:
            gate, up = self.registers.reach(unit.gate), self.registers.reach(unit.up)
            if unit.up.terms == {} and self._may_saturate(unit.gate):
                gate = abs(unit.gate.constant) + 1
            yield from (gate, up, gate * up)
            for form in (unit.gate, unit.up):  # a weight on a register that holds little is the larger number
                yield from (abs(c) for name, c in form.terms.items() if _is_little(self.registers.largest[name]))
            for weight in unit.into.values():
                yield abs(weight)
                if not self.is_fused:  # under `fused` what units add to a register is rounded once
                    yield gate * up * abs(weight)

    def _may_saturate(self, form: Affine) -> bool:
        """Returns whether it is a position less a number. A gate is only asked whether the position is above that number.

        Under `sequential` it is multiplied before others take it off.
        """
        plain = form.terms == {POSITION: 1} and form.constant <= 0 and type(form.constant) is Fraction
        return plain and self.is_fused

    def _head_values(self, head: Head, draft: HeadDraft, setting: Setting) -> Iterator[Bound]:
        """Yields entries and scores of a head."""
        sides = [(self.registers.reach(c.key), self.registers.reach(c.query)) for c in head.components]
        lookup = head.lookup
        match draft.select.where:
            case Back() | Nearest() if draft.select.target is not None:
                yield from self._position_scores(head, draft, setting, sides)
            case Pick() | Count() if draft.select.pairs:
                yield from self._key_scores(head, draft, setting, sides)
            case _ if not self.is_fused:
                yield sum(key * query for key, query in sides)
        if lookup is not None and lookup.prefer is None and lookup.penalty is not None:  # of one match at most
            yield lookup.scale
        if draft.doubled:  # keys that are not equal lie below the default where they saturate
            yield 4 * setting.gap * setting.length_bound**2 - 1
        for key, query in sides:
            yield key
            yield query

    def _position_scores(
        self, head: Head, draft: HeadDraft, setting: Setting, sides: list[tuple[Bound, Bound]]
    ) -> Iterator[Bound]:
        """Yields scores of a head by position; corrects the sides of entries that are rounded once."""
        target, gap, bounds = draft.select.target or as_term(0), setting.gap, self.facts.bounds
        low, high = bounds.term(target)
        own = bounds.term(target - as_term(Position()))[1]
        largest, beyond = max(-low, high), max(1 - low, own)
        near = self.is_fused and isinstance(draft.select.where, Nearest)
        if not near:
            yield gap * beyond**2  # the nearest position may be so far away, and others a lead below
        if self.is_fused:  # a row is rounded once: its terms may be larger than what they add up to
            # Without what is outside a square is at most that of w, or 2·w − 1 where w is below 1.
            shared = largest_of([high**2, 1 - 2 * low]) if near else largest**2
            queries = (gap, split_scale(2 * gap)[1] * largest, shared)
            sides[:] = [(key, query) for (key, _), query in zip(sides, queries, strict=True)]
        else:  # each product, and what all add up to
            yield gap * max(bounds.length - low, high - 1, largest) ** 2
            yield from (key * query for key, query in sides[:2])
            yield gap * sides[0][0] + sides[1][0] * self.registers.reach(-head.components[1].query, above=True)

    def _key_scores(
        self, head: Head, draft: HeadDraft, setting: Setting, sides: list[tuple[Bound, Bound]]
    ) -> Iterator[Bound]:
        """Yields scores of a head by keys; corrects the sides of entries that are rounded once."""
        gap, bounds, is_share = setting.gap, self.facts.bounds, isinstance(draft.select.where, Count)
        ends = [(bounds.term(key), bounds.term(query)) for key, query in dict.fromkeys(draft.select.pairs)]
        sizes = [(max(-a, b), max(-c, d), max(b - c, d - a)) for (a, b), (c, d) in ends]
        if self.is_fused:  # as above
            key_share, query_share = split_scale(2 * gap) if is_share else (2 * gap, setting.length_bound)
            rows = [(key_share * key, query_share * query) for key, query, _ in sizes]
            rows = [(2 * sum(key**2 for key, *_ in sizes), sides[0][1]), *rows]
            rows.append((sides[len(rows)][0], 2 * sum(query**2 for _, query, _ in sizes)))
            sides[: len(rows)] = rows
        else:
            scale = gap if is_share else gap * setting.length_bound
            yield scale * largest_of([2 * key * query for key, query, _ in sizes])
            several = [len(c.query.terms) > 1 for c in head.components[1:]]  # these are bounded term by term
            more = [key * query for (key, query, _), many in zip(sizes, several, strict=False) if many]
            yield scale * (sum(max(*size) ** 2 for size in sizes) + largest_of([1, *more]))


def read_forms(block: BlockPlan) -> Iterator[Affine]:
    for head in block.heads:
        for component in head.components:
            yield from (component.key, component.query)
        yield from head.reads.values()
    for linear in block.linear_units:
        for row in linear.rows.values():
            yield from row
    for gadget in block.gadgets:
        for unit in gadget.units:
            yield from (unit.gate, unit.up)


def _is_little(value: Bound) -> bool:
    return type(value) in (int, Fraction) and bool(value < 1)

"""What a run did, token by token: which position each head attended to and why, and what each block wrote.

Source of the facts: the steps of an engine, see steps.py. Source of the names: the wiring plan beside the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from constructions.show.decision import decide
from constructions.wiring.affine import Affine
from constructions.wiring.lookup import Lookup
from constructions.wiring.needs import Registers
from constructions.wiring.reading import hide_one, is_place, unscaled
from constructions.wiring.register import Past, register
from constructions.wiring.wire import Gadget, Head
from constructions.wiring.wired import Wired

if TYPE_CHECKING:
    from constructions.show.steps import Pattern, Steps

MOST_POSITIONS = 6  # of a head that attends to many


@dataclass(frozen=True)
class FormComparison:
    """A key form at the attended position against a query form at the position that asks.

    key_values: at all attended positions if they are few, without repetition; key_value is at the last with the greatest weight.
    near: whether the nearest key is read, of several equal ones; else keys and queries must be equal.
    """

    key: str
    key_value: Fraction
    query: str
    query_value: Fraction
    key_values: tuple[Fraction, ...] = ()
    near: bool = False


@dataclass(frozen=True)
class Attended:
    """One head at one position. number: of the head in its block, from 1. weights: (position, weight), positions from 1."""

    block: int
    number: int
    name: str
    weights: tuple[tuple[int, Fraction], ...]
    comparisons: tuple[FormComparison, ...]
    reads: Mapping[str, Fraction]

    @property
    def idle(self) -> bool:
        """Returns whether the head asks for nothing: every query is 0."""
        equal = [c for c in self.comparisons if not c.near]
        return bool(equal) and not any(c.query_value for c in equal)

    @property
    def fell_back(self) -> bool:
        """Returns whether nothing matched, so that position 1 was read."""
        unequal = any(c.key_value != c.query_value and not c.near for c in self.comparisons)
        return unequal and [position for position, _ in self.weights] == [1]


@dataclass(frozen=True)
class Wrote:
    """What the feed-forward of one block changed: register → its new value.

    fired: the gadgets that are not 0 there; of the last block, which writes the output.
    """

    block: int
    values: Mapping[str, Fraction]
    fired: tuple[str, ...]


@dataclass(frozen=True)
class RecurrentState:
    """The state of one block's recurrence that is not 0: register → value."""

    block: int
    values: Mapping[str, Fraction]


@dataclass(frozen=True)
class TokenTrace:
    """One position. before_output: the registers after the last attention or recurrence. produced: the argmax there.

    response: the token that follows if it is not the argmax but came from the model's surroundings, such as a search result.
    decided: the last head for which another token is produced if it reads position 1, and `otherwise` that token; see decision.py.
    """

    position: int
    token: str
    produced: str
    response: str
    attended: tuple[Attended, ...]
    kept: tuple[RecurrentState, ...]
    wrote: tuple[Wrote, ...]
    before_output: Mapping[str, Fraction]
    decided: Attended | None = None
    otherwise: str = ""


@dataclass(frozen=True)
class Trace:
    """A whole run: tokens fed, and what each did. The last position is the one that led to the verdict."""

    wired: Wired
    tokens: tuple[str, ...]
    prompt_length: int
    steps: Steps

    @property
    def chain(self) -> range:
        """The positions whose argmax became a token."""
        return range(self.prompt_length, len(self.tokens) + 1)

    @cached_property
    def quantum(self) -> Fraction:
        """The format's step."""
        return self.wired.arithmetic.format.quantum

    @cached_property
    def places(self) -> dict[str, int]:
        """Register → its coordinate."""
        return {name: place for place, name in enumerate(self.wired.registers)}

    def registers(self, position: int, sublayer: int) -> Registers:
        """Returns the residual vector by name. sublayer: 0, the embedding; 2b − 1 and 2b, the two sublayers of block b."""
        row = [register[position - 1] for register in self.steps.streams[sublayer]]
        return Registers(row, self.places, self.quantum)

    def before_output(self, position: int) -> Registers:
        """Returns the registers after the last attention: the last feed-forward overwrites some of them with the output."""
        return self.registers(position, 2 * len(self.wired.blocks) - 1)

    def token_trace(self, position: int) -> TokenTrace:
        """Returns the trace of one token: what each block read and wrote at its position."""
        attended, kept, wrote = list[Attended](), list[RecurrentState](), list[Wrote]()
        attention = self.steps.attention(position)
        for number, plan in enumerate(self.wired.blocks, start=1):
            before, between, after = (self.registers(position, 2 * number - 2 + i) for i in range(3))
            for i, (head, pattern) in enumerate(zip(plan.heads, attention[number - 1], strict=True), start=1):
                attended.append(self._attend(number, i, head, pattern, before))
            states = dict.fromkeys(name for unit in plan.linear_units for name in unit.rows)
            if states:
                state = {name: between[name] - before[name] for name in states if is_plain(name)}
                kept.append(RecurrentState(number, {name: v for name, v in state.items() if v and not _is_now(name)}))
            changed = [name for name, a, b in zip(self.places, between.row, after.row, strict=True) if a != b]
            ends = number == len(self.wired.blocks)
            fired = [gadget.name for gadget in plan.gadgets if _fires(gadget, between)] if ends else []
            wrote.append(Wrote(number, {name: after[name] for name in changed if is_plain(name)}, tuple(fired)))
        last = self.before_output(position)
        produced = self.wired.vocabulary[self.steps.next_tokens[position - 1]]
        following = self.tokens[position] if position < len(self.tokens) else produced
        response = "" if following == produced else following
        decision = None if response else decide(self.steps, position)
        decided, otherwise = None, ""
        if decision is not None:
            otherwise = self.wired.vocabulary[decision.otherwise]
            (decided,) = (head for head in attended if (head.block, head.number) == (decision.block, decision.number))
        return TokenTrace(
            position,
            self.tokens[position - 1],
            produced,
            response,
            tuple(attended),
            tuple(kept),
            tuple(wrote),
            last,
            decided,
            otherwise,
        )

    def _attend(self, block: int, number: int, head: Head, pattern: Pattern, before: Registers) -> Attended:
        sublayer = 2 * block - 2
        shares = {w: w * self.quantum for w in {w for _, w in pattern}}
        weights = tuple((k, shares[w]) for k, w in pattern)
        best = max(pattern, key=lambda pair: (pair[1], pair[0]), default=(1, 0))[0]
        few = [self.registers(k, sublayer) for k in sorted({k for k, _ in pattern[:MOST_POSITIONS]} | {best})]
        keys = self.registers(best, sublayer)
        comparisons = tuple(_compare(*forms, keys, few, before) for forms in _compared(head.lookup))
        forms = {name: form for name, form in head.reads.items() if is_plain(name)}
        needed = {name for form in forms.values() for name in form.terms}
        sums = {name: self._average(pattern, sublayer, self.places[name]) for name in needed}
        share = sum(w for _, w in pattern) * self.quantum
        reads = {
            name: sum((c * sums[of] for of, c in form.terms.items()), form.constant * share)
            for name, form in forms.items()
        }
        return Attended(block, number, head.name, weights, comparisons, reads)

    def _average(self, pattern: Pattern, sublayer: int, place: int) -> Fraction:
        """Returns Σ weight·register over a pattern, not rounded."""
        register = self.steps.streams[sublayer][place]
        total = sum(weight * register[k - 1] for k, weight in pattern)
        return total * self.quantum * self.quantum


def _fires(gadget: Gadget, values: Mapping[str, Fraction]) -> bool:
    """Returns whether the units of a gadget together add anything: those of an indicator cancel where it is 0."""
    added: dict[str, Fraction] = {}
    for unit in gadget.units:
        gate = _value(unit.gate, values)
        if gate <= 0:
            continue
        product = gate * _value(unit.up, values)
        for name, weight in unit.into.items():
            added[name] = added.get(name, Fraction(0)) + weight * product
    return any(added.values())


def is_plain(name: str) -> bool:
    """Returns whether a register means something to a person: squares only serve the scores."""
    return not register(name).is_square and name != "one"


def _is_now(name: str) -> bool:
    """Returns whether a shift register only repeats this token's own value."""
    parts = register(name)
    return parts.past is Past.KEPT and not parts.before


def _compared(lookup: Lookup | None) -> Iterator[tuple[Affine, Affine, bool]]:
    """Yields keys, queries, and whether the nearest key is enough; a preference for one end of the text compares nothing.

    Of all positions the one that is asked for is there, so it is compared; of those that match, the nearest one may be far.
    """
    if lookup is not None:
        yield from ((key, query, False) for key, query in lookup.equal)
        wish = lookup.prefer.wish if lookup.prefer is not None else None
        if lookup.prefer is not None and wish is not None and set(wish.terms) - {"one"}:
            yield lookup.prefer.key, wish, bool(lookup.equal) or not is_place(lookup.prefer.key)


def _compare(
    key: Affine,
    query: Affine,
    near: bool,
    keys: Mapping[str, Fraction],
    few: Sequence[Mapping[str, Fraction]],
    queries: Mapping[str, Fraction],
) -> FormComparison:
    shown, factor = unscaled(key)
    query = hide_one(query * (1 / factor))
    values = dict.fromkeys(_value(shown, row) for row in few)
    return FormComparison(str(shown), _value(shown, keys), str(query), _value(query, queries), tuple(values), near)


def _value(form: Affine, values: Mapping[str, Fraction]) -> Fraction:
    return sum((c * value for name, c in form.terms.items() if (value := values[name])), form.constant)

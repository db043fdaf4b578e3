"""The static checker: walks the matrices of a model and proves, for all inputs of a language, that rounding is sound.

Soundness of rounding: at every position of every input, every register is what the ideal model (the same weights over exact
rationals; attention takes the largest scores and averages ties) has there, rounded, or within a stated number of steps of it; every
gate opens in both or in neither; every head has the same winners; and the two models produce the same token.

How: the kinds of positions (kinds.py) are those of the input language at first. Each sublayer turns a kind into one or more kinds,
where the sign of a gate or the kind of a head's winner differs. Whatever no rule proves ends the check.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest

from constructions.places import ATTENTION, FEED_FORWARD, RECURRENCE, name_place
from constructions.rows import Row, Written
from precision.format import Discipline, Rounding
from verify.algebra.domains import (
    POSITION,
    SIZE,
    Domain,
    Integer,
    Reciprocal,
    Refused,
    Rounded,
    Space,
    Undecided,
    with_fields,
)
from verify.algebra.polynomial import Polynomial, atom, constant, quotient
from verify.automata.language import Apart, Consecutive, Language
from verify.rounding.attention import Reader
from verify.rounding.bounds import Bounded
from verify.rounding.candidates import Keys, Lead
from verify.rounding.kinds import Kind
from verify.rounding.merging import joined, linked, merged
from verify.rounding.model import NUMBER, Model
from verify.rounding.operators import added, dot, feed_forward, loosened
from verify.rounding.output import settle_output
from verify.rounding.recurrence import Keeper
from verify.rounding.rows import as_polynomial

MOST_KINDS = 4000


@dataclass(frozen=True)
class Entry:
    """Where a check stands in front of a sublayer, or behind the last. names: how many were given; trace: how long it is."""

    kinds: Sequence[Kind]
    names: int
    trace: int


@dataclass
class Report:
    """What was proved. registers: their names. met_leads: of heads, in order. entries: of each sublayer, and the end.

    invariants: those that were used, by name. met: every kind on the way. behind: those behind each block, and what is read of
    them. trace: where and what the ideal model does, kinds or the checker's words for who wins.
    """

    registers: Sequence[str] = ()
    met_leads: list[tuple[tuple[int, int], Lead]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    invariants: dict[str, str] = field(default_factory=dict)
    met: list[Kind] = field(default_factory=list)
    behind: list[tuple[int, Kind, frozenset[int]]] = field(default_factory=list)
    trace: list[tuple[str, str | Kind]] = field(default_factory=list)

    @property
    def kinds(self) -> list[int]:
        """How many there are behind each block."""
        return [len(entry.kinds) for entry in self.entries[2::2]]

    @cached_property
    def ideal(self) -> str:
        """A fingerprint of the ideal model."""
        return hashlib.sha256("\n".join(text for _, text in self.told).encode()).hexdigest()

    @cached_property
    def told(self) -> list[tuple[str, str]]:
        """The trace as text: two models of which it is the same are the same function."""
        return [(where, what if isinstance(what, str) else _told(what)) for where, what in self.trace]

    def first_difference(self, other: Report) -> str:
        """Where the ideal models may differ first; "" if they are the same function."""
        for (where, text), (_, expected) in zip_longest(self.told, other.told, fillvalue=("the last block", "")):
            if text != expected:
                return where
        return ""

    @cached_property
    def errors(self) -> dict[str, Fraction]:
        """Register → the largest error in steps."""
        errors: dict[int, Fraction] = {}
        for kind in self.met:
            inexact = {name for name, domain in kind.box.items() if not isinstance(domain, Integer)}
            for index, polynomial in kind.registers.items():
                if index >= 0 and not inexact.isdisjoint(polynomial.atoms):
                    error = kind.error(polynomial)
                    errors[index] = max(error, errors.get(index, error))
        return {self.registers[index]: error / self.met[0].space.step for index, error in errors.items()}

    @cached_property
    def ranges(self) -> dict[tuple[int, str], tuple[Fraction, Fraction]]:
        """(block, register) → bounds behind it, where it is read."""
        ranges: dict[tuple[int, str], tuple[Fraction, Fraction]] = {}
        for block, kind, live in self.behind:
            for index in live:
                name = self.registers[index]
                low, high = kind.bounds(kind.register(index))
                old = ranges.get((block, name), (low, high))
                ranges[block, name] = min(low, old[0]), max(high, old[1])
        return ranges

    def stands_at(self, kinds: Sequence[Kind]) -> None:
        """Notes an entry."""
        self.entries.append(Entry(kinds, kinds[0].space.given, len(self.trace)))

    @cached_property
    def leads(self) -> dict[tuple[int, int], Lead]:
        """Of each head, by its block and its number there, both from 0: the narrowest."""
        leads: dict[tuple[int, int], Lead] = {}
        for head, new in self.met_leads:
            old = leads.get(head, new)
            lead = min((x.lead for x in (old, new) if x.lead), default=Fraction(0))
            leads[head] = Lead(lead, max(old.needed, new.needed), min(old.winning, new.winning))
        return leads


def check(model: Model, language: Language) -> Report:
    """Proves soundness of rounding for every input. Raises Refused with the first place that fails, Undecided for "cannot tell"."""
    if model.arithmetic.rounding is not Rounding.NEAREST_EVEN or not model.arithmetic.format.is_fixed_point:
        raise Undecided("the number format", "only R_p with rounding to nearest even is covered")
    report = Report(model.registers)
    words = {word: [(i, str(w)) for i, w in row] for word, row in model.specials.items()}
    numbers = [str(family.told) for family in model.families.values()]
    report.trace.append(("the vocabulary", f"{words} {' '.join(numbers)} {model.position}"))
    require_weights(model, language)
    kinds = embedded(model, language)
    report.met += kinds
    for number in range(2 * len(model.layers)):
        report.stands_at(kinds)
        kinds = behind_sublayer(model, language, number, kinds, report)
    report.stands_at(kinds)
    require_output(model, kinds)
    return report


def require_weights(model: Model, language: Language) -> None:
    """Raises Refused with the first weight that is no element of the format: of a word that no text has, too."""
    space = Space(model.arithmetic.format)
    sizes = Bounded(space, {}, {SIZE: Integer(*language.sizes)})
    for where, weight in model.weights():
        form = as_polynomial(weight)
        if max(map(abs, sizes.bounds(form))) > space.largest or not sizes.on_grid(form):
            raise Refused(where, f"weight {weight} is not an element of {space.format.name}")
    for family in model.families.values():
        every = Kind(space, {}, {**sizes.box, NUMBER: Integer(family.low, family.high)})
        for form in family.rows.values():
            if not space.covers(*every.reach(form)) or not every.on_grid(form):
                what = f"{form}, v = {family.low} … {family.high}, is not always an element of {space.format.name}"
                raise Refused("the embedding of numbers", what)


def require_output(model: Model, kinds: Sequence[Kind]) -> None:
    """Raises Refused or Undecided unless the same tokens come out in both readings."""
    for kind in kinds:
        settle_output(kind, model, model.arithmetic.discipline is Discipline.FUSED)


def embedded(model: Model, language: Language) -> list[Kind]:
    """The kinds behind the embedding, one for each place of the language."""
    space = Space(model.arithmetic.format)
    kinds = []
    for index, place in enumerate(language.places):
        box: dict[str, Domain] = {
            SIZE: Integer(*language.sizes),
            POSITION: language.positions(place),
        }
        limits = [(atom(POSITION), place.low, place.high)]
        if place.word:
            values = {i: as_polynomial(w) for i, w in model.specials[place.word]}
        else:
            values = dict(model.families[place.family].rows)
            box[NUMBER] = Integer(language.range(place.numbers[0])[0], language.range(place.numbers[1])[1])
            limits.append((atom(NUMBER), *place.numbers))
        kind = Kind(space, values, box, {}, place.state, frozenset([index]), frozenset(place.after))
        for i, value in kind.registers.items():
            if not kind.on_grid(value):
                raise Undecided("the embedding", f"{value} is no multiple of the step at {place.state}")
            kind, settled = kind.settle(value, "the embedding")
            kind = kind.with_registers({i: settled})
        narrowed: Kind | None = kind
        for value, low, high in limits:
            for bound, least, most in ((low, Fraction(0), None), (high, None, Fraction(0))):
                if narrowed is not None and isinstance(bound, Polynomial) and bound.is_affine:
                    narrowed = narrowed.restricted(value - bound, least, most)
        if narrowed is not None and place.behind is not None:
            narrowed = narrowed.restricted(atom(POSITION) - atom(NUMBER), Fraction(place.behind), None)
        if narrowed is None:
            raise ValueError(f"no token can stand at {place.state}")
        kinds += _placed(narrowed.simplified(), model.position)
    return linked(kinds)


def _placed(kind: Kind, slopes: Row) -> list[Kind]:
    """With the position added; positions that are larger than any number are a kind of their own, of the largest number."""
    done = [kind]
    for i, slope in slopes:
        offset = atom(POSITION) * as_polynomial(slope)
        largest = kind.space.largest * (1 if offset.terms[POSITION,] > 0 else -1)
        last = math.floor(quotient(largest, offset.terms[POSITION,]))
        parts, done = done, []
        for part in parts:
            if (exact := part.restricted(atom(POSITION), None, last)) is not None:
                exact, value = exact.settle(offset, "the embedding")
                done.append(added(exact, i, value, "the embedding"))
            if (beyond := part.restricted(atom(POSITION), last + 1, None)) is not None:
                if part.register(i).terms:  # the word and the position are one sum, under `fused` rounded once
                    raise Undecided(
                        "the embedding", f"a position of {kind.state} beyond {largest} is added to a word's number"
                    )
                error = max(map(abs, beyond.bounds(offset - largest)))
                name = kind.space.fresh("z")
                box = {**beyond.box, name: Rounded(offset, offset, largest, largest, error)}
                done.append(added(with_fields(beyond, box=box), i, atom(name), "the embedding"))
    return done


def behind_sublayer(model: Model, language: Language, number: int, kinds: Sequence[Kind], report: Report) -> list[Kind]:
    """The kinds behind a sublayer: two to a block, the heads or the recurrence first."""
    behind = _fed_forward if number % 2 else _mixed
    return behind(model, language, number // 2, kinds, report)


def _mixed(model: Model, language: Language, number: int, kinds: Sequence[Kind], report: Report) -> list[Kind]:
    """Behind a block's heads or recurrence. In the last block only the places of answers matter."""
    layer, fused = model.layers[number], model.arithmetic.discipline is Discipline.FUSED
    answers = language.answers if number == len(model.layers) - 1 else None
    at = name_place(number + 1)
    index = {name: i for i, name in enumerate(model.registers)}
    counted_groups = tuple(
        (item, index[item.group], index[item.count])
        for item in language.invariants
        if isinstance(item, Consecutive) and item.group in index and item.count in index
    )
    apart = [
        (item, index[item.group]) for item in language.invariants if isinstance(item, Apart) and item.group in index
    ]
    kinds = [
        with_fields(_limited(kind, counted_groups, report), parents=frozenset([i])) for i, kind in enumerate(kinds)
    ]
    parts = [kind for kind in kinds if answers is None or kind.state in answers]
    if layer.recurrence is not None:
        report.trace.append((name_place(number + 1, RECURRENCE), str(layer.recurrence)))
        keeper = Keeper(kinds, layer.recurrence, at, model.registers, fused, language.invariants)
        report.invariants |= {item.name: item.statement for item in keeper.used}
        every = [part for number in range(len(kinds)) for part in keeper.parts(number)]  # a sum may saturate anywhere
        parts = [part for part in every if answers is None or part.state in answers]
        report.met += parts
        parts = joined(parts, model.live(number, feed_forward=True))
    if layer.heads:
        keys = Keys(kinds)
        width = 0
        for h, head in enumerate(layer.heads):
            where = model.head(number, h)
            reader = Reader(keys, head, where, fused, counted_groups, apart)
            next_parts: list[Kind] = []
            for kind in parts:
                pieces, lead = reader.read(kind, -1 - width)
                report.met_leads += [((number, h), lead)] if lead is not None else []
                report.trace += [*((where, text) for text in reader.trace), *((where, one) for one in pieces)]
                reader.trace.clear()
                report.invariants |= {item.name: item.statement for item in reader.used}
                next_parts += pieces
            parts = next_parts
            width += len(head.value)
        report.trace.append((name_place(number + 1, ATTENTION), str(layer.out)))
        parts = [_written(kind, layer.out, name_place(number + 1, ATTENTION), model, fused) for kind in parts]
        report.met += parts
        parts = joined(parts, model.live(number, feed_forward=True))
    report.trace.append((at, f"read behind: {sorted(model.live(number, feed_forward=True))}"))
    return parts


def _fed_forward(model: Model, language: Language, number: int, kinds: Sequence[Kind], report: Report) -> list[Kind]:
    """Behind a block's feed-forward."""
    layer, fused = model.layers[number], model.arithmetic.discipline is Discipline.FUSED
    at, where, done = name_place(number + 1), name_place(number + 1, FEED_FORWARD), list[Kind]()
    loose = frozenset(i for i, name in enumerate(model.registers) if name in language.loose)
    rest, forgotten = layer.feed_forward.without(loose)
    for kind in kinds:
        kind, all_parts = loosened(kind, layer.feed_forward, loose, where, model.registers, fused)
        report.trace += [(where, part) for part in all_parts]
        done += feed_forward(kind, rest, where, model.registers, fused, forgotten)
        if len(done) > MOST_KINDS:
            raise Undecided(at, f"more than {MOST_KINDS} kinds of positions")
    live = model.live(number, feed_forward=True)
    report.met += done
    report.behind += [(number, kind, live) for kind in done]
    # Before registers that are not read any more are dropped: which inputs belong to the part is known by them.
    report.trace += [(where, kind) for kind in done]
    report.trace.append((at, f"read behind: {sorted(live)}"))
    return merged(done, model.live(number))


def _told(kind: Kind) -> str:
    """All that is known of a kind, ideally."""
    registers = {i: str(kind.ideal(p)) for i, p in sorted(kind.registers.items())}
    box = [(name, str(domain)) for name, domain in sorted(kind.box.items()) if not isinstance(domain, Rounded)]
    return f"{kind.state} {registers} {box} {sorted(kind.forms.items())} {sorted(kind.parents)} {sorted(kind.before)}"


def _limited(kind: Kind, counted_groups: Sequence[tuple[Consecutive, int, int]], report: Report) -> Kind:
    """The kind with what the invariants say of one position: a member of a group has a count from 1/2 to 1/(most + 1)."""
    for item, group, count in counted_groups:
        names = kind.register(count).atoms
        domain = kind.box[next(iter(names))] if len(names) == 1 else None
        if isinstance(domain, Reciprocal) and kind.bounds(kind.register(group))[0] >= 1:
            place = atom(domain.of) + constant(domain.shift)
            limited = kind.restricted(place, Fraction(2), None)
            most = as_polynomial(item.most)
            limited = limited and limited.restricted(limited.fixed(place - most), None, Fraction(1))
            report.invariants[item.name] = item.statement
            if limited is None:
                raise Undecided("the input", f"no {kind.state} keeps the invariant {item.name!r}")
            kind = limited
    return kind


def _written(kind: Kind, out: Written, at: str, model: Model, fused: bool) -> Kind:
    for register, row in out:
        where = f"{at}, register {model.registers[register]}"
        kind, change = dot(kind, [(w, kind.register(-1 - j)) for j, w in row], 0, where, fused)
        kind = added(kind, register, change, where)
    return with_fields(kind, registers={i: p for i, p in kind.registers.items() if i >= 0})

"""Checks a certificate of rounding: `python -I -S verify/trusted/rounding.py CERTIFICATE.json WEIGHTS [SIDECAR.json]`.

It needs Python's standard library alone, and the files beside it that docs/certificate-format.md lists. That page has the fields of
a certificate, too. Whoever wrote it is not trusted. `model.py` says how WEIGHTS is read.

Theorem, if the file is accepted. Take the p-bit machine with these weights: R_p, nearest, ties to even, under this discipline.
Take beside it the exact machine: the same weights and rational numbers, and a head reads the mean of the keys of largest score.
Let n be one of the interval, and let the exact machine keep the invariants that the certificate lists. For each text of the
automaton, at each position (of what follows the last block's keys and values: at each whose next token matters):

1. No operator saturates, but those that make a score, or a logit, that is far below the largest one; the score of a key that is
the only one; the position's own number where that is above the largest element; and the factors of a unit whose gate stays
shut, or whose other factor is 0.
2. Each gate is at least 0 in both machines, or at most 0 in both, but for units whose other factor is 0; the same keys of each
head have the largest score in both, and no other key has any weight.
3. Each register that is read later is a polynomial of its class over atoms that have one value in each machine: whole numbers,
the same in both; 1/m and ROUND(1/m); or results of one operator, exact and rounded, whose distance is bounded.
4. Where the next token matters, the largest logit is of the same token in both machines, as both take the first of equal ones.

Not shown: that these texts are the task's, that the invariants hold, and that the exact machine solves the task.

Method. The certificate has classes of positions at the entry of each sublayer, and for each class how its parts go over into
classes of the next one. Each step here takes a class to parts, by the operators on polynomials (`abstract_state.py`),
by what heads read (`heads.py`), by splits that the certificate asks for; and each part must be an instance of the class that
the certificate names (`require_covered`). So each position of each text has a class at each entry, by induction over sublayers.
A class also lists the classes that the position before may have, which is checked in the same way (`link`); heads meet a key of
each class from which these lead to the query.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from verify.trusted.abstract_state import BESIDE, POSITION, SHARED, SIZE, Domain, Format, Integer, Rounded, Share, State
from verify.trusted.automaton import Consecutive, Delayed, Limited, Place, range_of, read_invariants, read_place
from verify.trusted.candidates import LINE, READ
from verify.trusted.heads import Reader
from verify.trusted.keys import Reading
from verify.trusted.machine import Machine
from verify.trusted.model import NUMBER, Block, Row, Weights, parse, read_files, require_elements, text_of, whole
from verify.trusted.numbers import Case, Number, ratio
from verify.trusted.polynomials import ONE, Polynomial, atom, combine, names_of, number, plus, substitute, sum_of, times
from verify.trusted.rejection import Rejected, reject

UNIT, GATE, KEPT = -400_000, -500_000, -600_000  # registers beside the model's: what units and recurrences hold
MOST_CLASSES = 4000  # of one entry
MOST_BITS = 1 << 16
MOST_DELAY = 1000
KEEP = "kept"  # in place of a label: which of the kept states of its class a state is


class Guide:
    """What the certificate says of one class at one sublayer: choices, in the order in which they are asked for."""

    def __init__(self, choices: Sequence[Any], case: Case | None = None) -> None:
        self.case = case
        self.choices = list(reversed(choices))

    def take(self, kind: str) -> Any:
        if not self.choices or self.choices[-1][0] != kind:
            reject(f"the certificate has no {kind} here")
        return self.choices.pop()[1:]

    def split(self, state: State, polynomial: Polynomial) -> tuple[Polynomial, int] | None:
        """Returns a form and a number, if the state is split here: into the positions up to the number, and those above.

        In these more may be known of the polynomial.
        """
        form, last = self.take("split")
        return None if form is None else (parse(form, self.case), whole(last, self.case))

    def rule(self, reader: Reader, reading: Reading) -> Any:
        """Returns how a head is read: by which rule, and what that asks for."""
        return self.take("rule")

    def target(self, state: State, label: str) -> tuple[int, dict[str, Polynomial]]:
        index, names = self.take("class")
        return whole(index), {name: parse(text, self.case) for name, text in names.items()}


@dataclass(frozen=True)
class Class:
    """Positions at the entry of a sublayer. label: of the text. state: what is known; its `before` are classes of this entry."""

    label: str
    state: State


@dataclass(frozen=True)
class Entry:
    """live: the coordinates that are read from here on. The classes say nothing of others.

    kept: what a recurrence may keep after a position of a class: the class, and a state with registers KEPT, KEPT − 1, …
    """

    live: frozenset[int]
    classes: list[Class]
    kept: list[Class]


class Queue(NamedTuple):
    """What a register keeps: the last `by` numbers from low to high, in base b, times c."""

    by: int
    b: int
    c: Number
    low: int
    high: int


class Checker:
    """One certificate, and the weights that it is about."""

    def __init__(self, certificate: Any, weights: Weights, case: Case | None = None) -> None:
        self.case = case
        p, discipline, (low, high) = whole(certificate["p"], case), certificate["discipline"], certificate["n"]
        if p < 5 or (case is None and p > MOST_BITS) or p % 2 != 1:
            reject(f"p: no odd number from 5 to {MOST_BITS}")
        if discipline not in ("fused", "sequential"):
            reject("discipline: neither fused nor sequential")
        self.format, self.weights, self.certificate = Format(p), weights, certificate
        self.machine = Machine(self.format, discipline == "fused", case)
        self.size = Integer(whole(low, case), whole(high, case))
        if not 1 <= self.size.low <= self.size.high:
            reject("n: no interval of numbers from 1 on")
        automaton = certificate["automaton"]
        self.places = [read_place(item, len(automaton), case) for item in automaton]
        self.answers = {place.label for place in self.places if place.answer}
        self.invariants = read_invariants(certificate["invariants"], case)
        rows = [r for block in weights.blocks for r in block.carry.keys() | block.feed.keys()]
        if any(isinstance(item, Limited) and rows.count(item.sum) > 1 for item in self.invariants):
            reject("an invariant of a recurrence speaks of two")

    def check(self) -> int:
        """Returns how many classes there are in all. Raises Rejected if the certificate does not show the theorem."""
        require_elements(self.weights, self.format, self.size)
        steps = self.certificate["steps"]
        entries = [self.read_entry(item) for item in self.certificate["entries"]]
        if len(entries) != 2 * len(self.weights.blocks) + 1 or len(steps) != len(entries) + 1:
            reject("as many entries are due as there are sublayers, and one more; and as many steps and one more")
        guides = [[Guide(choices, self.case) for choices in step] for step in steps]
        self.embed(entries[0], guides[0])
        for index, (entry, following) in enumerate(itertools.pairwise(entries)):
            self.step(index, entry, following, guides[index + 1])
        self.answer(entries[-1], guides[-1])
        if any(guide.choices for step in guides for guide in step):
            reject("the certificate has choices that nothing asks for")
        return sum(len(entry.classes) for entry in entries)

    # Files

    def read_entry(self, item: Any) -> Entry:
        if not 1 <= len(item["classes"]) <= MOST_CLASSES or len(item["kept"]) > MOST_CLASSES:
            reject(f"no class, or more than {MOST_CLASSES}")
        classes = [Class(one["label"], self.read_state(one, len(item["classes"]))) for one in item["classes"]]
        kept = []
        for one in item["kept"]:
            state = self.read_state({**one, "before": []}, 0)
            if not 0 <= whole(one["of"]) < len(classes):
                reject("what is kept is of no class")
            registers = {KEPT - i: value for i, value in state.registers.items()}
            kept.append(Class("", replace(state, registers=registers, kind=one["of"])))
        live = frozenset(map(whole, item["live"]))
        if any(i < 0 for i in live):
            reject("there is no register below 0")
        return Entry(live, classes, kept)

    def read_state(self, one: Any, many: int) -> State:
        box: dict[str, Domain] = {}
        for name, (kind, *fields) in one["atoms"].items():
            if BESIDE in name or name.startswith(LINE) or not name:
                reject(f"{name} is no name of an atom")
            if kind == "integer":
                box[name] = Integer(*(whole(field, self.case) for field in fields))
            elif kind == "share":
                box[name] = Share(fields[0], whole(fields[1], self.case))
            elif kind == "rounded":
                exact, ideal = (parse(text, self.case) for text in fields[:2])
                box[name] = Rounded(exact, ideal, *map(self.case.number if self.case else Fraction, fields[2:]))
            else:
                reject(f"{kind} is no kind of atom")
        registers = {int(i): parse(text, self.case) for i, text in one["registers"].items()}
        forms = {}
        for text, low, high in one["forms"]:
            form = tuple(sorted((m[0], c) for m, c in parse(text).items() if len(m) == 1 and type(c) is int))
            if form[0][1] < 0 or math.gcd(*(c for _, c in form)) != 1 or len(form) < 2:
                reject("a form is not written as it must be")
            forms[form] = whole(low, self.case), whole(high, self.case)
        if any(i < 0 for i in registers):
            reject("there is no register below 0")
        state = State(self.format, box, registers, forms, before=frozenset(map(whole, one["before"])))
        self.require_state(state, many)
        return state

    def require_state(self, state: State, many: int) -> None:
        """Raises Rejected unless each name has a domain, and Rounded atoms depend on earlier ones only."""
        known: set[str] = set()
        for name, domain in state.box.items():
            if isinstance(domain, Integer):
                if domain.step < 1 or domain.low > domain.high or (domain.high - domain.low) % domain.step:
                    reject(f"{name}: no domain")
            elif isinstance(domain, Share):
                if domain.of not in known:
                    reject(f"{name}: there is no {domain.of}")
                state.index(domain)
            else:
                if not names_of(domain.exact) | names_of(domain.ideal) <= known:
                    reject(f"{name}: an atom is not known yet")
                if any(isinstance(state.box[a], Rounded) for a in names_of(domain.ideal)):
                    reject(f"{name}: an ideal value has rounded atoms")
            known.add(name)
        if not known >= SHARED or state.integer(POSITION).low < 1:
            reject("a class has no position, or one before 1")
        forms = [sum_of(form) for form in state.forms]
        if not all(names_of(p) <= known for p in (*state.registers.values(), *forms)):
            reject("an atom has no domain")
        if not all(map(state.is_integer, forms)) or not all(0 <= j < many for j in state.before):
            reject("a class is malformed")

    # Steps

    def embed(self, entry: Entry, guides: list[Guide]) -> None:
        """Adds a word's row, and the position times its slope, each rounded, and their sum."""
        leaves = []
        for index, (place, guide) in enumerate(zip(self.places, guides, strict=True)):
            low, high = range_of(place.low, self.size)[0], range_of(place.high, self.size)[1]
            if not 1 <= low <= high:
                reject(f"state {index}: no position, or one before 1")
            positions = Integer(low, high - (high - low) % place.every, place.every)
            box: dict[str, Domain] = {SIZE: self.size, POSITION: positions}
            limits = [(POSITION, place.low, place.high)]
            if place.word:
                values = self.weights.words[place.word]
            else:
                family = self.weights.families[place.family]
                values = family.rows
                least, most = range_of(place.numbers[0], self.size)[0], range_of(place.numbers[1], self.size)[1]
                box[NUMBER] = Integer(max(least, family.low), min(most, family.high))
                limits.append((NUMBER, *place.numbers))
            registers = {**values, **self.token_registers(place)}
            state: State | None = State(self.format, box, registers, kind=index, before=place.after)
            for name, least_bound, most_bound in limits:
                for bound, ends in ((least_bound, (0, None)), (most_bound, (None, 0))):
                    if all(len(monomial) <= 1 for monomial in bound):  # of others the domains have what is known
                        state = state and state.restrict(state.fixed(plus(atom(name), bound, -1)), *ends)
            if not place.word and place.ends is not None:
                state = state and state.restrict(plus(atom(POSITION), atom(NUMBER), -1), place.ends, None)
            if state is None:
                reject(f"state {index}: no token can stand there")
            done = [state]
            for i, slope in self.weights.position.items():
                done = [part for one in done for part in self.add_position(one, i, times(atom(POSITION), slope))]
            done = self.extend(0, done, guide)
            leaves += [(index, self.leaf(one, entry, guide, place.label), one) for one in done]
        self.link(entry, leaves, {(q, index) for index, place in enumerate(self.places) for q in place.after})

    def add_position(self, state: State, i: int, offset: Polynomial) -> Iterator[State]:
        """Returns the parts with the position added.

        One that stands for more than the largest element becomes that, where no word has a number.
        """
        if names_of(offset) != {POSITION}:
            reject("the embedding: a position's slope depends on n")
        slope, largest = offset[POSITION,], self.format.largest
        most = largest if slope > 0 else -largest
        last = math.floor(ratio(most, slope))
        if (part := state.restrict(atom(POSITION), None, last)) is not None:
            part, value = part.round(offset, "the embedding")
            yield self.machine.added(part, i, value, "the embedding")
        if (part := state.restrict(atom(POSITION), last + 1, None)) is not None:
            if part.register(i):
                reject("the embedding: a word's number and a position beyond the largest element are one sum")
            bounds = part.bounds(plus(offset, number(most), -1))
            name = part.fresh("z")
            box = {**part.box, name: Rounded(offset, offset, most, most, max(-bounds[0], bounds[1]))}
            yield replace(part, box=box).having({i: atom(name)})

    def step(self, index: int, entry: Entry, following: Entry, guides: list[Guide]) -> None:
        """Takes the classes of one entry to those of the next.

        After the last block's heads only positions matter whose next token does.
        """
        block, where = self.weights.blocks[index // 2], f"block {index // 2 + 1}"
        last = index >= 2 * len(self.weights.blocks) - 2
        if not following.live <= entry.live:
            reject(f"{where}: a coordinate is known that was not")
        classes = [replace(one.state, kind=i) for i, one in enumerate(entry.classes)]
        if index % 2:
            rows = [row for unit in block.units for row in (unit.gate, unit.up)]
        else:
            rows = [row for head in block.heads for row in (*head.query, *head.key, *head.value)]
            rows += block.feed.values()
            classes = [self.restrict_counts(state, entry.live) for state in classes]
        if not all(i in entry.live for row in rows for i, _ in row):
            reject(f"{where}: a coordinate is read that is not among those that are known")
        reader = self.reader_of(index // 2, classes, entry.live)
        queues = {} if index % 2 else self.queues(block, classes, entry.live, where)
        leaves = []
        for i, (one, guide) in enumerate(zip(entry.classes, guides, strict=True)):
            matters = not last or one.label in self.answers
            parts: list[State] = []
            if index % 2 == 0 and (block.carry or block.feed):
                parts = self.recur(block, classes[i], queues, entry, guide, where)
            elif matters:
                parts = (
                    self.feed(block, classes[i], entry.live, guide, f"{where}, feed-forward")
                    if index % 2
                    else self.attend(block, classes[i], reader, guide)
                )
            if matters:
                parts = self.extend(index + 1, parts, guide)
                leaves += [(i, self.leaf(part, following, guide, one.label), part) for part in parts]
        if not last:
            self.link(following, leaves, {(q, i) for i, one in enumerate(classes) for q in one.before})

    # What a checker of more than rounding adds: `program.py`

    def token_registers(self, place: Place) -> dict[int, Polynomial]:
        """Returns further registers of a token's position."""
        return {}

    def extend(self, step: int, parts: list[State], guide: Guide) -> list[State]:
        """Returns the parts that a step leads to, with further registers."""
        return parts

    def reader_of(self, block: int, classes: list[State], live: frozenset[int]) -> Reader:
        return Reader(self.machine, self.invariants, classes, live, f"block {block + 1}")

    def restrict_counts(self, state: State, live: frozenset[int]) -> State:
        """Returns the state with what invariants say of one position: a member of a group has a count from 1/2 to 1/(most + 1)."""
        for item in self.invariants:
            if isinstance(item, Consecutive) and {item.group, item.share} <= live:
                name, group = state.only_share(state.register(item.share)), state.register(item.group)
                if name and state.is_integer(group) and state.bounds(group)[0] >= 1:
                    index = state.index_of(name)
                    part = state.restrict(index, 2, None)
                    part = part and part.restrict(part.fixed(plus(part.index_of(name), item.most, -1)), None, 1)
                    if part is None:
                        reject("a class does not keep an invariant")
                    state = part
        return state

    def link(self, entry: Entry, leaves: Sequence[tuple[int, int, State]], after: set[tuple[int, int]]) -> None:
        """Raises Rejected unless each class has among its `before` each class that the position before may have.

        leaves: what each part is of, and where it goes. after: which may follow which.
        """
        for target, other in self.neighbours(entry, leaves, after):
            if other not in entry.classes[target].state.before:
                reject(f"class {target} does not have class {other} before it")

    def neighbours(
        self, entry: Entry, leaves: Sequence[tuple[int, int, State]], after: set[tuple[int, int]]
    ) -> Iterator[tuple[int, int]]:
        """Returns each class with each class that the position before may have."""
        parts: dict[int, set[int]] = {}
        for origin, target, _ in leaves:
            parts.setdefault(origin, set()).add(target)
        for origin, target, state in leaves:
            for q in state.before:
                if (q, origin) not in after:
                    reject("a part follows what its class does not")
                for other in parts.get(q, ()):
                    if self.adjacent(entry.classes[other].state, entry.classes[target].state):
                        yield target, other

    def adjacent(self, first: State, second: State) -> bool:
        """Returns whether a position of the one may be just before one of the other, as far as forms of position and size tell."""
        forms = [form for form in (*first.forms, *second.forms) if SHARED.issuperset(name for name, _ in form)]
        for form in dict.fromkeys([((POSITION, 1),), *forms]):
            step = dict(form).get(POSITION, 0)
            (low, high), (other_low, other_high) = second.form_bounds(form), first.form_bounds(form)
            if other_low + step > high or other_high + step < low:
                return False
        return True

    def leaf(self, state: State, entry: Entry, guide: Guide, label: str) -> int:
        """Returns the class that covers the state: the certificate says which, and what its atoms are here."""
        index, names = guide.target(state, label)
        if not 0 <= index < len(entry.classes):
            reject("there is no such class")
        target = entry.classes[index]
        if target.label != label:
            reject("a class of another label")
        self.require_covered(state, target.state, names, entry.live)
        return index

    def require_covered(
        self, state: State, target: State, names: Mapping[str, Polynomial], live: frozenset[int]
    ) -> None:
        """Raises Rejected unless `target` is true of each position of which `state` is.

        Its atoms have values: those of the polynomials that `names` says.
        """
        values = {**names, POSITION: atom(POSITION), SIZE: atom(SIZE)}
        if values.keys() != target.box.keys() or not all(names_of(p) <= state.box.keys() for p in values.values()):
            reject("not each atom of the class has a value here")
        for name, domain in target.box.items():
            value = state.fixed(values[name])
            if isinstance(domain, Integer):
                low, high = state.bounds(value)
                if not state.is_whole(value):
                    reject(f"{name} may be no whole number")
                if low < domain.low or high > domain.high or not self.keeps_step(state, value, domain):
                    reject(f"{name} may be {low} … {high}, and not as {domain} has it")
                continue
            ((monomial, c),) = value.items() if len(value) == 1 else [((), 0)]
            own = state.box[monomial[0]] if len(monomial) == 1 and c == 1 else None
            if isinstance(domain, Share):
                index = state.fixed(plus(values[domain.of], number(domain.shift)))
                if isinstance(own, Share):
                    if not state.same(plus(atom(own.of), number(own.shift)), index):
                        reject(f"{name} is another share")
                elif value != ONE or index != ONE:
                    reject(f"{name} is no share here")
            elif not isinstance(own, Rounded):
                reject(f"{name} is no rounded number here")
            else:
                for mine, its in ((own.exact, domain.exact), (own.ideal, domain.ideal)):
                    if not state.same(mine, substitute(its, values)):
                        reject(f"{name} is rounded from another number")
                if own.low < domain.low or own.high > domain.high or own.error > domain.error:
                    reject(f"{name} has wider bounds here")
        for form, (low, high) in target.forms.items():
            value = state.fixed(substitute(sum_of(form), values))
            a, b = state.bounds(value)
            if a < low or b > high:
                a, b = state.by_two_forms(value)
            if a < low or b > high:
                reject(f"{form} may be {a} … {b}, and not {low} … {high}")
        for i in live & (state.registers.keys() | target.registers.keys()):
            if not state.same(state.register(i), substitute(target.register(i), values)):
                reject(f"register {i} is another one")

    def keeps_step(self, state: State, value: Polynomial, domain: Integer) -> bool:
        """Returns whether all its values are domain.low, modulo the step."""
        if domain.step == 1:
            return True
        rest: Number = -domain.low
        for monomial, c in value.items():
            if not monomial:
                rest += c
            elif len(monomial) == 1 and (one := state.integer(monomial[0])).step * c % domain.step == 0:
                rest += c * one.low
            elif c % domain.step:
                return False
        return rest % domain.step == 0

    def feed(self, block: Block, state: State, live: frozenset[int], guide: Guide, where: str) -> list[State]:
        """Applies ReGLU units, max(0, gate)·up, and adds what they write.

        A gate is open, 0 or shut in both machines by its sign; where that is not known, the state is split. Under `fused` a
        gate that is below 0 stays so, rounded or saturated. A unit whose other factor is 0 gives 0.
        """
        todo = [(replace(state, registers={i: state.register(i) for i in live}), 0)]
        done = []
        while todo:
            state, u = todo.pop()
            if u == len(block.units):
                done.append(state)
                continue
            unit, at = block.units[u], f"{where}, unit {u + 1}"
            if not unit.up_bias and not any(state.register(i) for i, _ in unit.up):
                todo.append((state, u + 1))
                continue
            exact = [(times(w, state.register(i)), 1) for i, w in unit.gate]
            raw = state.fixed(combine([*exact, (unit.gate_bias, 1)]))
            sign = state.sign(raw)
            is_open = not sign or (sign > 0 and state.is_form(raw) and state.bounds(raw) == (0, 1))
            if is_open and (cut := guide.split(state, raw)) is not None:
                # In a part, more may be known of gates over the same atoms: those units are looked at again.
                names = names_of(cut[0])
                again = next((v for v in range(u) if names_of(state.register(GATE - v)) & names), u)
                todo += [(part, again) for part in state.halves(*cut)]
                continue
            state = state.having({GATE - u: raw})
            if not (self.machine.fused and sign < 0):
                state, gate = self.machine.row(state, unit.gate, f"{at}, gate", unit.gate_bias)
                sign = state.sign(gate)
                if not sign:
                    reject(f"{at}: the sign of its gate is not known: {text_of(gate)}")
                if sign > 0:
                    state, up = self.machine.row(state, unit.up, f"{at}, up", unit.up_bias)
                    state, held = state.round(times(gate, up), f"{at}, product")
                    state = state.having({UNIT - u: held})
            if sign < 0:
                state = state.having({UNIT - u: {}})
            todo.append((state, u + 1))
        for n, state in enumerate(done):
            for i, row, bias in block.down:
                if i in live:
                    at, held_row = f"{where}, register {i}", [(w, state.register(UNIT - u)) for u, w in row]
                    state, change = self.machine.dot(state, held_row, at, bias)
                    state = self.machine.added(state, i, change, at)
            done[n] = state
        return done

    def attend(self, block: Block, state: State, reader: Reader, guide: Guide) -> list[State]:
        """Reads each head in turn, and adds what they write."""
        parts, width = [state], 0
        for h, head in enumerate(block.heads):
            read, parts = [part for one in parts for part in reader.read(one, h, head, READ - width, guide)], []
            for part in read:
                parts += [part] if part not in parts else []  # keys of many classes may hold the same
            width += len(head.value)
        for n, state in enumerate(parts):
            for i, row in block.out:
                if i in reader.live:
                    at = f"{reader.where}, attention, register {i}"
                    state, change = self.machine.dot(state, [(w, state.register(READ - j)) for j, w in row], at)
                    state = self.machine.added(state, i, change, at)
            parts[n] = state
        return parts

    def recur(
        self, block: Block, state: State, queues: Mapping[int, Queue], entry: Entry, guide: Guide, where: str
    ) -> list[State]:
        """Applies h_t = A·h_{t−1} + B·x_t with h_0 = 0, each row rounded as any row; then adds what is kept to the registers.

        What is kept after a position of a class is one of the class's kept states: by induction over positions, as that is
        shown here of position t from what holds at t − 1. A queue is kept by an invariant instead.
        """
        if block.heads:
            reject(f"{where}: there is no rule for heads and a recurrence in one block")
        if any(c in queues for r, row in block.carry.items() if r not in queues for c, _ in row):
            reject(f"{where}: a queue is read by another row of the recurrence")
        limits = {item.sum: item.most for item in self.invariants if isinstance(item, Limited)}
        result = []
        for part in self.with_kept(state, entry):
            old, new = part.registers, {}
            for r in sorted(block.carry.keys() | block.feed.keys()):
                at = f"{where}, recurrence, register {r}"
                if r in queues:
                    part, new[r] = self.queued(part, block.feed[r], queues[r], at)
                    continue
                row = [(w, old.get(KEPT - c, {})) for c, w in block.carry.get(r, ())]
                row += [(w, part.register(c)) for c, w in block.feed.get(r, ())]
                part, new[r] = self.machine.dot(part, row, at)
                if r in limits:
                    limited = part.having({KEPT: new[r]}).restrict(plus(new[r], limits[r], -1), None, 0)
                    if limited is None:
                        break
                    part, new[r] = limited, limited.register(KEPT)
            else:
                here = replace(part, registers={r: p for r, p in part.registers.items() if r >= 0})
                kept = replace(here, registers={KEPT - r: p for r, p in new.items() if r not in queues})
                index, names = guide.target(kept, KEEP)
                if not 0 <= index < len(entry.kept) or entry.kept[index].state.kind != state.kind:
                    reject(f"{where}: what is kept is not of the class")
                target = entry.kept[index].state  # a register that no row writes is 0, so it must not say more of one
                some = target.registers.keys() | {KEPT - r for r in new if r not in queues}
                self.require_covered(kept, target, names, frozenset(some))
                for r, value in new.items():
                    if r in entry.live:
                        here = self.machine.added(here, r, value, where)
                result.append(here)
        return result

    def with_kept(self, state: State, entry: Entry) -> Iterator[State]:
        """Returns the state at position 1, and beside each state that may be kept at the position before."""
        if state.integer(POSITION).low == 1 and (first := state.restrict(atom(POSITION), None, 1)) is not None:
            yield replace(first, before=frozenset())
        for past in entry.kept:
            if past.state.kind in state.before:
                joint = replace(state, before=frozenset([past.state.kind])).pair_with(past.state.as_other())
                joint = joint and joint.restrict(plus(atom(POSITION + BESIDE), atom(POSITION), -1), -1, -1)
                if joint is not None:
                    yield joint

    def queues(self, block: Block, classes: list[State], live: frozenset[int], where: str) -> dict[int, Queue]:
        """Returns the registers that keep h_t = b·h_{t−1} + c·e_t − c·b^m·l_t, where by an invariant l_t is e_{t−m}.

        Each e is a whole number between the ends that it has over all classes.
        """
        found = {}
        for item, r in itertools.product(self.invariants, block.feed):
            if not isinstance(item, Delayed):
                continue
            carry, fed = dict(block.carry.get(r, ())), dict(block.feed[r])
            b, c = carry.get(r, {}).get((), 0), fed.get(item.early, {}).get((), 0)
            if type(b) is not int or b < 2 or not c or not 1 <= item.by <= MOST_DELAY:
                continue
            if carry != {r: {(): b}} or fed != {item.early: {(): c}, item.late: {(): -c * b**item.by}}:
                continue
            if not fed.keys() <= live:
                reject(f"{where}: a coordinate is not among those that are known")
            if not all(state.is_whole(state.register(i)) for state in classes for i in fed):
                reject(f"{where}: what enters the queue, or leaves it, may be no whole number")
            ends = [end for state in classes for end in state.bounds(state.register(item.early))]
            found[r] = Queue(item.by, b, c, math.floor(min(0, *ends)), math.ceil(max(0, *ends)))
        return found

    def queued(self, part: State, feed: Row, queue: Queue, where: str) -> tuple[State, Polynomial]:
        """Returns h_t = c·Σ b^j·e_{t−j}, j = 0 … m − 1, by induction: b carries e_{t−m} on to j = m, and l_t takes it away.

        No operator rounds: so both machines keep the same.
        """
        by, b, c, low, high = queue
        digits = (b**by - 1) // (b - 1)
        name, after = part.fresh("q"), part.fresh("p")
        box = {**part.box, name: Integer(low * digits, high * digits), after: Integer(low * digits, high * digits)}
        part = replace(part, box=box)
        if not self.machine.fused:
            row: list[tuple[Polynomial, Polynomial]] = [(number(b), {(name,): c})]
            row += [(w, part.register(i)) for i, w in feed]
            exact, _ = self.machine.dot(part, row, where)
            if len(exact.box) > len(box):
                reject(f"{where}: a sum of the queue may be rounded")
        value: Polynomial = {(after,): c}
        if not part.on_grid(value) or not self.format.covers(part.bounds(value)):
            reject(f"{where}: the queue may be rounded")
        return part, value

    def answer(self, entry: Entry, guides: list[Guide]) -> None:
        """Checks the logits of each class whose word matters: none is rounded, and the largest is of one word in both machines.

        Those without Share and Rounded atoms are the same numbers in both machines. Where one has them, its difference to each
        other logit has one sign in both, and is never 0.
        """
        for one, guide in zip(entry.classes, guides, strict=True):
            todo = [one.state] if one.label in self.answers else []
            while todo:
                state = todo.pop()
                logits, cuts, sure = [], [], []
                rows = list(self.weights.words.values())
                for i, family in enumerate(self.weights.families.values()):
                    name = f"{LINE}{i}"
                    state = replace(state, box={**state.box, name: Integer(family.low, family.high)})
                    rows.insert(i, {j: substitute(w, {NUMBER: atom(name)}) for j, w in family.rows.items()})
                for row in rows:
                    logit, cut = self.logit(state, row, entry.live)
                    logits.append(logit)
                    if cut is not None:
                        cuts.append(cut)
                    elif state.is_integer(logit):
                        sure.append(state.bounds(logit)[0])
                if cuts and not any(low > max(cuts) for low in sure):
                    reject("the output head: a logit that saturates may be the largest")
                for i, logit in enumerate(logits):
                    if not state.is_integer(logit):
                        others = [plus(logit, other, -1) for j, other in enumerate(logits) if j != i]
                        open_ = [state.fixed(d) for d in others if not is_decided(state, state.fixed(d))]
                        if i < len(self.weights.families):
                            reject("the output head: there is no rule for an inexact logit of numbers")
                        if open_:
                            part = guide.split(state, open_[0])
                            if part is None:
                                reject(f"the output head: the sign of {text_of(open_[0])} is not known")
                            todo += state.halves(*part)
                            break

    def logit(
        self, state: State, row: Mapping[int, Polynomial], live: frozenset[int]
    ) -> tuple[Polynomial, Number | None]:
        """Returns the logit, not rounded; and what it is at most if a partial sum of it is cut off at the least element.

        In the exact machine it is not above that then either.
        """
        terms = []
        for i, w in sorted(row.items()):
            if i not in live:
                reject(f"the output head: coordinate {i} is not among those that are known")
            terms.append(times(state.register(i), w))
        sums = [combine([(term, 1) for term in terms[:count]]) for count in range(1, len(terms) + 1)]
        cuts, largest = [], self.format.largest
        for term in () if self.machine.fused else terms:
            if not state.on_grid(term) or not self.format.covers(state.reach(term, state.bounds(term))):
                reject("the output head: a product may be rounded")
        for count, value in enumerate(sums, 1):
            if self.machine.fused and count < len(sums):
                continue
            low, high = state.reach(value, state.bounds(value))
            if not state.on_grid(value) or high > largest or (low < -largest and not state.is_integer(value)):
                reject("the output head: a logit may be rounded")
            if low < -largest:
                cuts.append(sum((max(state.bounds(term)[1], 0) for term in terms[count:]), -largest))
        return sums[-1] if sums else {}, max(cuts, default=None)


def is_decided(state: State, difference: Polynomial) -> bool:
    low, high = state.bounds(difference)
    ideal_low, ideal_high = state.bounds(difference, ideal=True)
    return bool((low > 0 and ideal_low > 0) or (high < 0 and ideal_high < 0))


def check(certificate: bytes, weights: bytes, sidecar: bytes = b"{}") -> int:
    """Returns how many classes the certificate has, if it is accepted. Raises Rejected, whatever the bytes are."""
    return safely(lambda: Checker(*read_files(certificate, weights, sidecar)).check())


def safely(judge: Callable[[], int]) -> int:
    """Returns what `judge` returns. Raises Rejected for whatever it raises."""
    try:
        return judge()
    except Rejected:
        raise
    except (Exception, RecursionError) as error:
        raise Rejected(f"malformed: {type(error).__name__}: {str(error)[:80]}") from error


def answer_command(
    arguments: list[str], many: Sequence[int], usage: str, judge: Callable[..., int], says: str = ""
) -> int:
    """Prints the verdict on the files of a command; returns the exit status: 0 accepted, 1 rejected, 2 usage."""
    if len(arguments) not in many:
        print(f"usage: {usage}", file=sys.stderr)
        return 2
    try:
        count = judge(*(Path(name).read_bytes() for name in arguments))
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except Rejected as why:
        print(f"rejected: {why}")
        return 1
    print(f"accepted: {count} classes{says}")
    return 0


def main(arguments: list[str]) -> int:
    """Checks the files of the command; returns the exit status."""
    return answer_command(arguments, (2, 3), "rounding.py CERTIFICATE.json WEIGHTS [SIDECAR.json]", check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

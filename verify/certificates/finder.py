"""Writes certificates of rounding, which `verify/trusted/rounding.py` checks.

Nothing here is trusted. The static checker's states become classes. The small checker is then asked at each step, with
`ClassChoices` in the place of what a certificate says: they look for splits, for rules that show what a head reads, and for the
class that a part is an instance of, and note what they find.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from fractions import Fraction
from typing import Any

from constructions.exports.weights import file_bytes
from precision.format import Discipline
from verify.algebra import domains
from verify.algebra.domains import with_fields
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import families_of, model_of, wired_of
from verify.certificates.cases import WalkCase, splits
from verify.certificates.statement import Document, number_of, rows_of, statement_of, text, text_or_number
from verify.dossiers.dossier import Subject
from verify.rounding.abstract_state import AbstractState
from verify.rounding.checker import Report, check
from verify.rounding.model import ExactModel
from verify.rounding.recurrence import HIDDEN_STATE, RecurrenceTransfer
from verify.trusted import automaton as trusted
from verify.trusted import rounding
from verify.trusted.abstract_state import BESIDE, POSITION, SIZE, Rounded, Share, State
from verify.trusted.candidates import VALUE, Candidate
from verify.trusted.growing import Case, Growing
from verify.trusted.heads import Reader
from verify.trusted.kernel import Rejected
from verify.trusted.keys import Reading
from verify.trusted.model import read_rows, read_tensors, require_elements, text_of
from verify.trusted.numbers import at_least, down, is_more, is_whole, plain, ratio, readable
from verify.trusted.polynomials import Polynomial, atom, canonical, names_of, number, plus, substitute, sum_of, without

HERE, BEFORE = POSITION, POSITION + BESIDE
FEW = 8  # positions of a query that are looked at one by one, where no rule holds for all


def certificate_of(
    model: ExactModel, automaton: TokenAutomaton, report: Report | None = None, case: Case | None = None
) -> tuple[Document, bytes]:
    """Returns a certificate and the exact rows that it is about, as a file. Raises Rejected where the small checker has no rule.

    report: what the static checker says; else it is asked. Raises Refused or Undecided where it does not certify the model.
    """
    rows = json.dumps(rows_of(model)).encode()
    report = report or check(model, automaton)
    document = document_of(model, report, automaton)
    document["weights"] = hashlib.sha256(rows).hexdigest()
    Finder(document, read_rows(json.loads(rows), case), report, case).check()
    return document, rows


def certificate_of_file(subject: Subject, texts: TokenAutomaton | None = None) -> tuple[Document, bytes, list[str]]:
    """Returns the same of the `.safetensors` file of one n, and its vocabulary. texts: others than the dossier's."""
    model, wired = model_of(subject), wired_of(subject)
    weights, automaton = file_bytes(wired.model), texts or subject.dossier.texts(subject)
    report, first, families = check(model, automaton), 0, {}
    for family in families_of(subject):
        families[family.name] = [first, family.low, family.high]
        first += len(family)
    document = document_of(model, report, automaton)
    document |= {"weights": hashlib.sha256(weights).hexdigest(), "families": families}
    Finder(document, read_tensors(weights, wired.vocabulary, families), report).check()
    return document, weights, list(wired.vocabulary)


# What a certificate is made of


def document_of(model: ExactModel, report: Report, automaton: TokenAutomaton) -> Document:
    """Returns the certificate without its choices."""
    every, entries = frozenset(range(len(model.registers))), []
    for place, entry in enumerate(report.entries):
        block = place // 2
        live = every if not place else model.live(block, feed_forward=True) if place % 2 else model.live(block - 1)
        kept = []
        if place % 2 == 0 and place < 2 * len(model.layers) and model.layers[block].recurrence is not None:
            kept = kept_of(entry.states, block, model, automaton)
        classes = [class_of(state) for state in entry.states]
        entries.append({"live": sorted(live & every), "classes": classes, "kept": kept})
    return {**statement_of(model, automaton), "entries": entries, "steps": []}


def class_of(state: AbstractState) -> Document:
    """Returns a state of the static checker as a class. Which classes come before it is found later."""
    atoms: dict[str, list[Any]] = {}
    state = state.needed({i: p for i, p in state.registers.items() if i >= 0})

    def visit(name: str) -> None:
        if name in atoms:
            return
        domain = state.box[name]
        if isinstance(domain, domains.Integer):
            step = domain.step if domain.low < domain.high else 1
            atoms[name] = ["integer", *map(text_or_number, (domain.low, domain.high, step))]
        elif isinstance(domain, domains.Reciprocal):
            visit(domain.of)
            atoms[name] = ["share", domain.of, text_or_number(domain.shift)]
        else:
            for other in sorted(domain.exact.atoms | domain.ideal.atoms):
                visit(other)
            ends = [str(number_of(end)) for end in (domain.low, domain.high, domain.error)]
            atoms[name] = ["rounded", text(domain.exact), text(domain.ideal), *ends]

    for name in (SIZE, POSITION, *state.box):
        visit(name)
    forms = [
        [text_of(dict(sum_of(form))), *map(text_or_number, ends)]
        for form, ends in sorted(state.forms.items())
        if len(form) > 1
    ]
    registers = {str(i): text(p) for i, p in sorted(state.registers.items()) if i >= 0 and p.terms}
    return {"label": str(state.label), "atoms": atoms, "forms": forms, "registers": registers, "before": []}


def kept_of(
    states: Sequence[AbstractState], block: int, model: ExactModel, automaton: TokenAutomaton
) -> list[dict[str, Any]]:
    """Returns what the static checker knows of what a recurrence keeps after each state."""
    fused, rows = model.arithmetic.discipline is Discipline.FUSED, model.layers[block].recurrence
    if rows is None:
        raise TypeError(f"block {block + 1} has no recurrence")
    states = [with_fields(state, parents=frozenset([i])) for i, state in enumerate(states)]
    transfer = RecurrenceTransfer(states, rows, f"block {block + 1}", model.registers, fused, automaton.invariants)
    found = []
    for i, pool in sorted(transfer.pools.items()):
        for hidden in pool.states:
            kept: AbstractState | None = hidden
            for r, total in transfer.totals.items():
                kept = kept and total.state_after(kept, HIDDEN_STATE - r, i)
            if kept is not None:
                registers = {HIDDEN_STATE - j: p for j, p in kept.registers.items() if j <= HIDDEN_STATE}
                one = class_of(with_fields(kept, registers=registers))
                found.append({"of": i, **{field: one[field] for field in ("atoms", "forms", "registers")}})
    return found


# What the small checker asks for


class Finder(rounding.Checker):
    """The small checker, which is told what it asks for by searches, and notes it in the certificate."""

    def __init__(self, certificate: Document, weights: Any, report: Report, case: Case | None = None) -> None:
        super().__init__(certificate, weights, case)
        self.report = report
        self.entries = [self.read_entry(item) for item in certificate["entries"]]
        self.covered: tuple[object, ...] = ()
        self.ways: dict[int, defaultdict[int, set[int]]] = {}

    def check(self) -> int:
        """Returns how many classes there are. Raises Rejected."""
        require_elements(self.weights, self.format, self.size)
        self.embed(self.entries[0], self.guides(len(self.places), 0))
        for place, (entry, following) in enumerate(zip(self.entries, self.entries[1:], strict=False)):
            self.step(place, entry, following, self.guides(len(entry.classes), place + 1))
        self.answer(self.entries[-1], self.guides(len(self.entries[-1].classes), len(self.entries) - 1))
        return sum(len(entry.classes) for entry in self.entries)

    def guides(self, many: int, place: int) -> list[Any]:
        """Returns a search for each class of a step, which leads to the entry at this place."""
        found = [ClassChoices(self, place, i) for i in range(many)]
        self.certificate["steps"].append([guide.choices for guide in found])
        return found

    def reader_of(self, block: int, classes: list[State], live: frozenset[int]) -> Reader:
        return TrialReader(self.machine, self.invariants, classes, live, f"block {block + 1}")

    def require_covered(
        self, state: State, target: State, names: Mapping[str, Polynomial], live: frozenset[int]
    ) -> None:
        """Raises Rejected as the small checker does. What a search has just seen to be covered is not looked at once more."""
        asked = (state, target, names, live)
        if len(self.covered) < len(asked) or not all(map(operator.is_, asked, self.covered)):
            super().require_covered(state, target, names, live)
            self.covered = asked

    def link(
        self, entry: rounding.Entry, leaves: Sequence[tuple[int, int, State]], after: set[tuple[int, int]]
    ) -> None:
        """Writes which classes come before which: as the static checker has it, and what else is found."""
        place = next(place for place, one in enumerate(self.entries) if one is entry)
        states = self.report.entries[place].states
        if place % 2:  # the static checker counts states as of the block's entry
            before = [{j for j, other in enumerate(states) if other.parents & state.before} for state in states]
        else:
            before = [set(state.before) for state in states]
        for target, other in self.neighbours(entry, leaves, after):
            before[target].add(other)
        for i, (one, some) in enumerate(zip(entry.classes, before, strict=True)):
            self.certificate["entries"][place]["classes"][i]["before"] = sorted(some)
            entry.classes[i] = replace(one, state=replace(one.state, before=frozenset(some)))

    def targets(self, place: int, kind: int) -> AbstractSet[int]:
        """Returns the classes of an entry of which the static checker found parts in this class of the entry before."""
        if place not in self.ways:
            self.ways[place] = defaultdict(set)
            for i, state in enumerate(self.report.entries[place].states):
                for j in state.parents if place % 2 else self._parts_of(place, i):
                    self.ways[place][j].add(i)
        return self.ways[place][kind]

    def _parts_of(self, place: int, i: int) -> Iterable[int]:
        """Returns the same the other way round, where the static checker counts the classes of the block's entry."""
        if not place:
            return [i]
        parents = self.report.entries[place].states[i].parents
        return [j for j, state in enumerate(self.report.entries[place - 1].states) if state.parents & parents]


class TrialReader(Reader):
    """A reader that keeps what a head reads by the rule that was tried last: it is asked for once more where the rule is used."""

    tried: tuple[Any, Reading | None, list[State]] = None, None, []

    def apply(self, choice: Any, reading: Reading) -> list[State]:
        """Reads the head by a rule, unless the same was asked just before."""
        if choice is not self.tried[0] or reading is not self.tried[1]:
            self.tried = choice, reading, super().apply(choice, reading)
        return [*self.tried[2]]


class ClassChoices(rounding.Guide):
    """The choices of one class, found when they are asked for. place: of the entry that it goes to. kind: which class it is."""

    def __init__(self, finder: Finder, place: int, kind: int) -> None:
        super().__init__([], finder.case)
        self.finder, self.place, self.kind = finder, place, kind

    def split(self, state: State, polynomial: Polynomial) -> tuple[Polynomial, int] | None:
        for form, last in cuts(state, polynomial):
            if len(state.halves(form, last)) > 1:
                self.choices.append(["split", text_of(form), written_number(last)])
                return form, last
        if state.sign(polynomial):
            self.choices.append(["split", None, 0])
            return None
        low, high = state.bounds(polynomial)
        raise Rejected(f"the sign of {text_of(polynomial)}, in [{readable(low)}, {readable(high)}], is not known")

    def rule(self, reader: Reader, reading: Reading) -> Any:
        query, candidates = reading.query, reading.candidates
        reasons: list[str] = []
        by_count = [i for i, one in enumerate(reader.invariants) if isinstance(one, trusted.Consecutive)]
        if len(by_count) == 1 and any(not c.joint.is_integer(c.exact) for c in candidates):
            self.choices.append(["rule", "count", *by_count])  # the one rule that there is
            return ["count", *by_count]
        for may_split in (False, True) if isinstance(self.case, WalkCase) else (True,):
            tried = list[Any]()
            with splits(self.case, may_split):
                for rule in rules(reader, query, candidates):
                    if rule not in tried:
                        tried.append(rule)
                        try:
                            reader.apply(rule, reading)
                        except Rejected as reason:
                            reasons.append(str(reason))
                        else:
                            self.choices.append(["rule", *rule])
                            return rule
        first, last, _ = query.integer(POSITION)
        if self.case is not None or not first < last <= first + FEW:
            raise Rejected("; ".join(dict.fromkeys(reasons)))
        self.choices.append(["rule", "split", text_of(atom(HERE)), written_number(first)])
        return ["split", text_of(atom(HERE)), written_number(first)]

    def target(self, state: State, label: str) -> tuple[int, dict[str, Polynomial]]:
        following, of_kept = self.following(), label == rounding.KEEP
        targets, live = following.classes, following.live
        if of_kept:  # what is kept is of the entry that it comes from
            targets = self.finder.entries[self.place - 1].kept
            live = frozenset(i for one in (state, *(kept.state for kept in targets)) for i in one.registers)
        order = [i for i, one in enumerate(targets) if (one.state.kind == self.kind if of_kept else one.label == label)]
        near = frozenset(order) if of_kept else self.near(order)
        order.sort(key=lambda i: (i not in near, len(targets[i].state.box)))  # of these the one that leaves least open
        reasons, held = [], {i: state.fixed(p) for i, p in state.registers.items() if p and i in live}
        for index in order:
            try:
                names = match(targets[index].state, state, live, held)
                self.finder.require_covered(state, targets[index].state, names, live)
            except Rejected as reason:
                reasons.append(str(reason))
            else:
                self.note_class(index, state, names, of_kept)
                return index, names
        raise Rejected(f"a part of {label!r} is of no class: {'; '.join(dict.fromkeys(reasons))}")

    def following(self) -> rounding.Entry:
        """Returns the entry whose classes parts go to."""
        return self.finder.entries[self.place]

    def near(self, order: Iterable[int]) -> AbstractSet[int]:
        """Returns the classes to try first: those that the static checker went to from here."""
        return self.finder.targets(self.place, self.kind)

    def note_class(self, index: int, state: State, names: Mapping[str, Polynomial], of_kept: bool) -> None:
        self.choices.append(["class", index, {name: text_of(p) for name, p in names.items()}])


def written_number(value: Any) -> Any:
    """Returns a whole number as a choice has it."""
    return value if type(value) is int else str(value)


def cuts(state: State, polynomial: Polynomial) -> Iterator[tuple[Polynomial, int]]:
    """Returns forms and numbers: where the form is above the number, the polynomial's sign may be another one."""
    d = polynomial.get((), 0)
    if state.is_form(polynomial):
        form, factor = canonical(polynomial)
        zero = ratio(-d, factor)
        yield from ((sum_of(form), math.floor(zero)), (sum_of(form), math.ceil(zero) - 1))
        return
    shares = {name: domain for name in names_of(polynomial) if isinstance(domain := state.box[name], Share)}
    if len(shares) == 2:
        first, second = (plus(atom(share.of), number(share.shift)) for share in shares.values())
        yield from ((plus(second, first, -1), -1), (plus(second, first, -1), 0))
    for name, share in shares.items() if len(shares) == 1 else ():
        factor_form = {without(m, name): c for m, c in polynomial.items() if name in m}
        low, high = state.index(share)
        if not names_of(factor_form):  # c/m + d: the last m with the sign of the first
            c, least = factor_form[()], low
            if isinstance(high, Growing):  # about the root of the exact number
                root = down(ratio(-c, d)) if d else low
                if not is_whole(root):
                    root = next((m for m in range(FEW) if at_least(root, m) and is_more(m + 1, root)), low)
                yield from ((atom(share.of), root - share.shift - less) for less in (0, 1))
                continue
            while low < high:
                middle = (low + high + 1) // 2
                same = (c * state.format.share(middle) + d > 0) == (c * state.format.share(least) + d > 0)
                low, high = (middle, high) if same else (low, middle - 1)
            yield atom(share.of), low - share.shift
        elif state.is_form(factor_form):  # c·A/m + d: its root lies at A = −d·m/c
            leading = next(c for m, c in sorted(factor_form.items()) if m)
            form_a = {m: plain(Fraction(c) / leading) for m, c in factor_form.items()}
            if all(c.denominator == 1 for c in form_a.values()):
                sign = 1 if leading > 0 else -1
                for last in (-1, 0):
                    below = all(sign * (leading * last + d * m) <= 0 for m in (low, high))
                    if below and all(sign * (leading * (last + 1) + d * m) >= 0 for m in (low, high)):
                        yield form_a, last
                past = int(leading * leading < d * d)
                yield plus(form_a, plus(atom(share.of), number(share.shift + past)), -1), -1


def rules(reader: Reader, query: State, candidates: Sequence[Candidate]) -> Iterator[Any]:
    """Returns rules that may show what a head reads."""
    if any(not c.joint.is_integer(c.exact) for c in candidates):
        for i, invariant in enumerate(reader.invariants):
            if isinstance(invariant, trusted.Consecutive):
                yield ["count", i]
        return
    before = [c for c in candidates if c.key is not None]
    for c in before:
        for square in c.score.squares:
            slope = square.form.get((BEFORE,), 0)
            if abs(slope) == 1 and not names_of(f := plus(atom(BEFORE), square.form, -slope)) & c.own:
                yield ["position", text_of(f)]
    floors: list[tuple[Any, Any]] = [(c.lower, "self") for c in candidates if c.key is None]
    some: list[int] = []
    for c in sorted(before, key=lambda c: -c.lower):
        some.append(c.key)  # type: ignore[arg-type]
        if reader.is_sure(query.kind, frozenset(some)):
            floors.append((c.lower, sorted(some)))
            break
    spans = [(c, c.joint.bounds(c.place)) for c in before]
    first = query.integer(POSITION).low
    for place in sorted({low for _, (low, high) in spans if type(low) is int and low == high < first}):
        floors += [(min(c.lower for c, (low, high) in spans if low <= place <= high), place)]
    floors.sort(key=lambda pair: -pair[0])
    for _, floor in floors:
        yield ["one", floor, None]
        for i, invariant in enumerate(reader.invariants):
            if isinstance(invariant, trusted.Apart):
                yield ["one", floor, i]
    for _, floor in floors:
        yield ["mean", floor, winners(reader, query, candidates)]


def winners(reader: Reader, query: State, candidates: Sequence[Candidate]) -> list[list[int]]:
    """Returns sets of keys that surely win: those of which something is read, then one by one, then the others."""
    top = max(c.upper for c in candidates)
    keys = [c.key for c in candidates if c.key is not None and c.lower == c.upper == top]
    said = {c.key for c in candidates if any(p and i <= VALUE for i, p in c.joint.registers.items() if i > VALUE - FEW)}
    groups: list[list[int]] = []
    for some in ([key for key in keys if key in said], *([key] for key in keys)):
        if some and not any({*some} & {*group} for group in groups) and reader.is_sure(query.kind, frozenset(some)):
            groups.append(some)
    rest = [key for key in keys if not any(key in group for group in groups)]
    return [*groups, rest] if rest and reader.is_sure(query.kind, frozenset(rest)) else groups


def match(
    target: State, state: State, live: frozenset[int], held: Mapping[int, Polynomial] | None = None
) -> dict[str, Polynomial]:
    """Returns what the target's atoms are here, by what registers hold. Raises Rejected if that is not seen.

    held: what live registers hold that are not 0, with numbers in place of atoms that have one value; by default found anew.
    """
    values: dict[str, Polynomial] = {POSITION: atom(POSITION), SIZE: atom(SIZE)}
    if held is None:
        held = {i: state.fixed(p) for i, p in state.registers.items() if p and i in live}
    pending = []
    for i in sorted(held.keys() | (target.registers.keys() & live)):
        pattern, value = target.register(i), held.get(i, {})
        if pattern != value and pattern.keys() | value.keys() <= {()}:
            raise Rejected(f"register {i} is another one")
        if pattern or value:
            pending.append((pattern, value))

    def bind(name: str, value: Polynomial) -> None:
        values[name] = {m: plain(c) for m, c in value.items()}
        domain, own = target.box[name], None
        if len(value) == 1 and [*value.values()] == [1] and len(monomial := next(iter(value))) == 1:
            own = state.box[monomial[0]]
        if isinstance(domain, Share) and isinstance(own, Share) and domain.of not in values:
            bind(domain.of, plus(atom(own.of), number(own.shift - domain.shift)))
        elif isinstance(domain, Rounded) and isinstance(own, Rounded):
            pending.extend([(domain.exact, own.exact), (domain.ideal, own.ideal)])

    while pending:
        left, pending = pending, []
        for pattern, value in left:
            known = {m: c for m, c in pattern.items() if all(name in values for name in m)}
            unknown = names_of(pattern) - values.keys()
            rest = plus(value, substitute(known, values), -1)
            name = next(iter(unknown), "")
            if not unknown:
                if not state.same(rest, {}):
                    raise Rejected(f"{text_of(pattern)} is not {text_of(value)}")
            elif len(unknown) == 1 and (c := pattern.get((name,), 0)) and sum(name in m for m in pattern) == 1:
                bind(name, {m: ratio(d, c) for m, d in rest.items()})
            else:
                pending.append((pattern, value))
        if len(pending) >= len(left):  # else atoms by terms of equal shape, in order
            known_before = len(values)
            ordered = [
                sorted(((m, c) for m, c in one.items() if m), key=lambda item: (len(item[0]), item[1]))
                for one in pending[0]
            ]
            for (m, c), (w, d) in zip(*ordered, strict=False):
                for a, b in zip(m, w, strict=False) if c == d and len(m) == len(w) else ():
                    if a not in values:
                        bind(a, atom(b))
            if len(values) == known_before:
                break
    if missing := target.box.keys() - values.keys():
        raise Rejected(f"no value of {', '.join(sorted(missing))}")
    return values

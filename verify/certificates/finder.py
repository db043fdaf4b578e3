"""Writes certificates of rounding, which `verify/trusted/rounding.py` checks.

Nothing here is trusted. The small checker itself takes the classes of one entry to parts, with `ClassChoices` in the place of what
a certificate says: they look for splits, and for rules that show what a head reads, and note what they find. The parts are then
joined to the classes of the next entry (`join.py`).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from constructions.exports.weights import file_bytes
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import families_of, model_of, wired_of
from verify.certificates.cases import WalkCase, splits
from verify.certificates.join import join, match
from verify.certificates.recurrence import KeptFinder
from verify.certificates.statement import Document, rows_of, statement_of
from verify.dossiers.dossier import Subject
from verify.rounding.model import ExactModel
from verify.trusted import automaton as trusted
from verify.trusted import rounding
from verify.trusted.abstract_state import (
    BESIDE,
    POSITION,
    Domain,
    Integer,
    Polynomial,
    Share,
    State,
    atom,
    canonical,
    halves,
    names_of,
    number,
    plain,
    plus,
    ratio,
    readable,
    without,
    written,
)
from verify.trusted.candidates import VALUE, Candidate
from verify.trusted.growing import Case, Growing, at_least, down, is_more, is_whole, up
from verify.trusted.heads import Reader
from verify.trusted.kernel import Rejected
from verify.trusted.keys import Reading
from verify.trusted.model import Weights, read_rows, read_tensors, require_elements, text_of

HERE, BEFORE = POSITION, POSITION + BESIDE
MOST_PARTS = 20_000
FEW = 8  # positions of a query that are looked at one by one, where no rule holds for all


def certificate_of(model: ExactModel, automaton: TokenAutomaton, case: Case | None = None) -> tuple[Document, bytes]:
    """Returns a certificate and the exact rows that it is about, as a file. Raises Rejected where the small checker has no rule."""
    rows = json.dumps(rows_of(model)).encode()
    document = {**statement_of(model, automaton), "weights": hashlib.sha256(rows).hexdigest()}
    Finder(document, read_rows(json.loads(rows), case), model, automaton, case).check()
    return document, rows


def certificate_of_file(subject: Subject, texts: TokenAutomaton | None = None) -> tuple[Document, bytes, list[str]]:
    """Returns the same of the `.safetensors` file of one n, and its vocabulary. texts: others than the dossier's."""
    model, wired = model_of(subject), wired_of(subject)
    weights, automaton = file_bytes(wired.model), texts or subject.dossier.texts(subject)
    first, families = 0, {}
    for family in families_of(subject):
        families[family.name] = [first, family.low, family.high]
        first += len(family)
    document = {**statement_of(model, automaton), "weights": hashlib.sha256(weights).hexdigest(), "families": families}
    Finder(document, read_tensors(weights, wired.vocabulary, families), model, automaton).check()
    return document, weights, list(wired.vocabulary)


def document_of(label: str, state: State) -> Document:
    """Returns a class as a certificate has it, without the classes that come before it."""

    def written_domain(domain: Domain) -> list[Any]:
        if isinstance(domain, Integer):
            return ["integer", *map(written_number, domain[:2]), domain.step if domain.low < domain.high else 1]
        if isinstance(domain, Share):
            return ["share", domain.of, written_number(domain.shift)]
        return ["rounded", text_of(domain.exact), text_of(domain.ideal), *map(str, domain[2:])]

    forms = [[text_of(written(form)), *map(written_number, ends)] for form, ends in sorted(state.forms.items())]
    registers = {str(i): text_of(p) for i, p in sorted(state.registers.items()) if p}
    atoms = {name: written_domain(domain) for name, domain in state.box.items()}
    return {"label": label, "atoms": atoms, "forms": forms, "registers": registers, "before": []}


# What the small checker asks for


class OpenPart(NamedTuple):
    """A part that leaves a step, and has no class yet. choice: which choice of the guide says its class."""

    guide: ClassChoices
    choice: int
    label: str
    state: State


class Finder(rounding.Checker):
    """The small checker, which is told what it asks for by searches, and notes it in the certificate.

    lives: the coordinates that are read from each entry on.
    """

    def __init__(
        self,
        certificate: Document,
        weights: Weights,
        model: ExactModel,
        automaton: TokenAutomaton,
        case: Case | None = None,
    ) -> None:
        certificate |= {"entries": [], "steps": []}
        super().__init__(certificate, weights, case)
        self.lives = [frozenset(range(len(model.registers)))]
        for block in range(len(model.layers)):
            self.lives += [self.lives[0] & model.live(block, feed_forward=True), self.lives[0] & model.live(block)]
        self.loose = {i for i, name in enumerate(model.registers) if name in automaton.loose}
        self.entries: list[rounding.Entry] = []
        self.leaves: list[OpenPart] = []
        self.after: set[tuple[int, int]] = set()
        self.kept: KeptFinder | None = None

    def check(self) -> int:
        """Returns how many classes there are. Raises Rejected."""
        require_elements(self.weights, self.format, self.size)
        self.embed(rounding.Entry(self.lives[0], [], []), self.guides(len(self.places), 0))
        self.finish(0, [])
        for place, live in enumerate(self.lives[1:]):
            self.kept = find_kept(self, place) if place % 2 == 0 else None
            entry, following = self.entries[-1], rounding.Entry(live, [], [])
            drafts = self.draft(place, entry, following)
            self.step(place, entry, following, self.guides(len(entry.classes), place + 1))
            self.finish(place + 1, drafts)
        self.answer(self.entries[-1], self.guides(len(self.entries[-1].classes), len(self.entries) - 1))
        return sum(len(entry.classes) for entry in self.entries)

    def guides(self, many: int, place: int) -> list[Any]:
        """Returns a search for each class of a step, which leads to the entry at this place."""
        found = [ClassChoices(self, place, i) for i in range(many)]
        self.certificate["steps"].append([guide.choices for guide in found])
        return found

    def reader_of(self, block: int, classes: list[State], live: frozenset[int]) -> Reader:
        return TrialReader(self.machine, self.invariants, classes, live, f"block {block + 1}")

    def leaf(self, state: State, entry: rounding.Entry, guide: Any, label: str) -> int:
        """Notes a part. Its class is made when all parts of the step are there."""
        if len(self.leaves) == MOST_PARTS:
            raise Rejected(f"more than {MOST_PARTS} parts leave a sublayer")
        self.leaves.append(OpenPart(guide, len(guide.choices), label, state))
        guide.choices.append(None)
        return len(self.leaves) - 1

    def link(
        self, entry: rounding.Entry, leaves: Sequence[tuple[int, int, State]], after: set[tuple[int, int]]
    ) -> None:
        self.after = after

    def draft(self, place: int, entry: rounding.Entry, following: rounding.Entry) -> list[OpenPart]:
        """Returns the parts that a feed-forward leads to if it does not tell apart what loose registers hold."""
        block = self.weights.blocks[place // 2]
        loose = self.loose & {i for i, _, _ in block.down} if place % 2 else set()
        if not loose:
            return []
        down = [one for one in block.down if one[0] not in loose]
        used = {u for _, row, _ in down for u, _ in row}
        units = [unit if u in used else replace(unit, up=[], up_bias={}) for u, unit in enumerate(block.units)]
        weights, blocks = self.weights, [*self.weights.blocks]
        blocks[place // 2] = replace(block, units=units, down=down)
        self.weights = replace(weights, blocks=blocks)
        self.step(place, entry, following, [ClassChoices(self, place + 1, i) for i in range(len(entry.classes))])
        drafts, self.leaves, self.weights = self.leaves, [], weights
        return drafts

    def finish(self, place: int, drafts: Sequence[OpenPart]) -> None:
        """Makes the classes of an entry of the parts that lead to it, or of drafts of these; at first each state has its own."""
        live, drafts = self.lives[place], drafts or self.leaves
        parts = [((leaf.label, 0 if place else leaf.guide.kind), self.loosen(place, leaf)) for leaf in drafts]
        classes, places = join(parts, live)
        documents = [document_of(label, state) for (label, _), state in classes]
        item = {"live": sorted(live), "classes": documents, "kept": []}
        entry, leaves = self.read_entry(item), []
        near = {(leaf.guide.kind, i) for leaf, i in zip(drafts, places, strict=True)}
        for at, leaf in enumerate(self.leaves):
            own, kind = (places[at] if drafts is self.leaves else None), leaf.guide.kind
            order = [i for i, one in enumerate(entry.classes) if one.label == leaf.label]
            order.sort(key=lambda i: (i != own, (kind, i) not in near, len(entry.classes[i].state.box)))
            index, names = search(self, [one.state for one in entry.classes], order, leaf.state, live)
            leaf.guide.choices[leaf.choice] = ["class", index, {name: text_of(p) for name, p in names.items()}]
            leaves.append((leaf.guide.kind, index, leaf.state))
        if place < len(self.lives) - 2:
            before: list[set[int]] = [set() for _ in documents]
            for target, other in self.neighbours(entry, leaves, self.after):
                before[target].add(other)
            for one, some in zip(documents, before, strict=True):
                one["before"] = sorted(some)
            entry = self.read_entry(item)
        self.certificate["entries"].append(item)
        self.entries.append(entry)
        self.leaves = []

    def loosen(self, place: int, draft: OpenPart) -> State:
        """Returns a part that knows bounds alone of sums over positions, and of loose registers that a feed-forward writes to."""
        state, kind = draft.state, draft.guide.kind
        if place % 2:
            return state if self.kept is None else self.kept.loosen(state, kind)
        for i in self.loose & {i for i, _, _ in self.weights.blocks[place // 2 - 1].down} if place else ():
            own = [one.state for one in self.leaves if one.guide.kind == kind]
            name, spans = state.fresh("w"), [one.bounds(one.register(i)) for one in own]
            domain = Integer(up(min(low for low, _ in spans)), down(max(high for _, high in spans)))
            state = replace(state, box={**state.box, name: domain}).having({i: atom(name)})
        return state


def find_kept(checker: Any, place: int, related: AbstractSet[int] = frozenset()) -> KeptFinder | None:
    """Finds what a recurrence keeps after each class of an entry, and notes it. related: sums that may be told by others."""
    block, item, where = (
        checker.weights.blocks[place // 2],
        checker.certificate["entries"][place],
        f"block {place // 2 + 1}",
    )
    if not (block.carry or block.feed):
        return None
    entry, item["kept"] = checker.entries[place], []
    classes = [checker.counted(replace(one.state, kind=i), entry.live) for i, one in enumerate(entry.classes)]
    found = KeptFinder(checker, block, classes, entry.live, where, related)
    for i, state in found.find():
        document = document_of("", replace(state, registers={rounding.KEPT - r: p for r, p in state.registers.items()}))
        item["kept"].append({"of": i, **{field: document[field] for field in ("atoms", "forms", "registers")}})
    checker.entries[place] = checker.read_entry(item)
    return found


def search(
    checker: rounding.Checker, targets: Sequence[State], order: Iterable[int], state: State, live: frozenset[int]
) -> tuple[int, dict[str, Polynomial]]:
    """Returns the first of some classes that covers the state, and what the class's atoms are in it. Raises Rejected."""
    reasons, held = [], {i: state.fixed(p) for i, p in state.registers.items() if p and i in live}
    for index in order:
        try:
            names = match(targets[index], state, live, held)
            checker.require_covered(state, targets[index], names, live)
        except Rejected as reason:
            reasons.append(str(reason))
        else:
            return index, names
    raise Rejected(f"a part is of no class: {'; '.join(dict.fromkeys(reasons))}")


class TrialReader(Reader):
    """A reader that keeps what a head reads by the rule that was tried last: it is asked for once more where the rule is used."""

    tried: tuple[object, ...] = ()
    parts: Sequence[State] = ()

    def apply(self, choice: Any, reading: Reading) -> list[State]:
        """Reads the head by a rule, unless the same was asked just before."""
        asked = (choice, reading)
        if not self.tried or not all(map(operator.is_, asked, self.tried)):
            self.parts = super().apply(choice, reading)
            self.tried = asked
        return [*self.parts]


class ClassChoices(rounding.Guide):
    """The choices of one class, found when they are asked for. place: of the entry that it goes to. kind: which class it is.

    tells_zero: whether a number of which the sign is known is also split where it may be 0.
    """

    tells_zero = False

    def __init__(self, finder: Finder, place: int, kind: int) -> None:
        super().__init__([], finder.case)
        self.finder, self.place, self.kind = finder, place, kind

    def split(self, state: State, polynomial: Polynomial) -> tuple[Polynomial, int] | None:
        most = 1 if state.sign(polynomial) and not self.tells_zero else None
        for form, last in itertools.islice(cuts(state, polynomial), most):
            if len(halves(state, form, last)) > 1:
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
        """Returns which of the states that a recurrence may keep this one is."""
        targets = [one.state for one in self.finder.entries[self.place - 1].kept]
        live = frozenset(i for one in (state, *targets) for i in one.registers)
        order = (i for i, one in enumerate(targets) if one.kind == self.kind)
        index, names = search(self.finder, targets, order, state, live)
        self.choices.append(["class", index, {name: text_of(p) for name, p in names.items()}])
        return index, names


def written_number(value: Any) -> Any:
    """Returns a whole number as a choice has it."""
    return value if type(value) is int else str(value)


def cuts(state: State, polynomial: Polynomial) -> Iterator[tuple[Polynomial, int]]:
    """Returns forms and numbers: where the form is above the number, the polynomial's sign may be another one."""
    d = polynomial.get((), 0)
    if state.is_form(polynomial):
        form, factor = canonical(polynomial)
        zero = ratio(-d, factor)
        yield from ((written(form), math.floor(zero)), (written(form), math.ceil(zero) - 1))
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

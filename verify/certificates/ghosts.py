"""Writes certificates that a p-bit machine is a program, which `verify/trusted/program.py` checks.

Nothing here is trusted. A certificate of rounding is taken as it is, and the small checker walks through it once more with ghosts.
At each head it is asked which atoms of the definition the head reads. A class becomes several where its ghosts differ.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from constructions.language.terms import Answer
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.definition import definition_of
from verify.certificates.finder import ClassChoices, certificate_of, certificate_of_file, find_kept, search
from verify.certificates.statement import Document
from verify.dossiers.dossier import Subject
from verify.rounding.model import ExactModel
from verify.trusted import rounding
from verify.trusted.abstract_state import (
    POSITION,
    SIZE,
    Form,
    Polynomial,
    State,
    atom,
    canonical,
    combine,
    is_affine,
    names_of,
    number,
    plus,
    ratio,
    substitute,
    times,
    written,
)
from verify.trusted.candidates import READ, Candidate
from verify.trusted.heads import Reader
from verify.trusted.kernel import Rejected
from verify.trusted.model import Head, Row, Weights, read_rows, read_tensors, require_elements, text_of
from verify.trusted.program import (
    GHOST,
    GHOST_FIRST,
    GHOST_PLACE,
    OF_TOKENS,
    READS,
    SUMS,
    Definition,
    GhostReader,
    ProgramChecker,
)

# Certificates


def program_certificate(
    model: ExactModel, automaton: TokenAutomaton, answers: Answer | Mapping[str, Answer]
) -> tuple[Document, bytes, bytes]:
    """Returns a certificate, the exact rows, and the definition. Raises Rejected where something is not shown."""
    document, rows = certificate_of(model, automaton)
    definition = json.dumps(definition_of(answers)).encode()
    return with_ghosts(document, lambda: read_rows(json.loads(rows)), definition), rows, definition


def texts_of(subject: Subject) -> TokenAutomaton:
    """Returns the texts that are compared with the definition, or the dossier's where the format has no field for these."""
    texts = subject.dossier.texts(subject)
    compared = subject.dossier.compared_texts(subject, texts)
    return texts if any(one.contents or one.same for one in compared.states) else compared


def program_certificate_of_file(
    subject: Subject, answers: Answer | Mapping[str, Answer]
) -> tuple[Document, bytes, bytes, bytes]:
    """Returns a certificate, the `.safetensors` file of one n, its sidecar, and the definition."""
    document, weights, vocabulary = certificate_of_file(subject, texts_of(subject))
    definition = json.dumps(definition_of(answers)).encode()

    def read() -> Weights:
        return read_tensors(weights, vocabulary, document["families"])

    sidecar = json.dumps({"vocabulary": vocabulary}).encode()
    return with_ghosts(document, read, definition), weights, sidecar, definition


def with_ghosts(document: Document, read: Any, definition: bytes) -> Document:
    """Returns a certificate of rounding with ghosts."""
    own = {**document, "definition": hashlib.sha256(definition).hexdigest(), "steps": [], "entries": []}
    GhostFinder(own, document, read(), Definition(json.loads(definition))).check()
    return own


class Leaf(NamedTuple):
    """A part that leaves a sublayer. choice: where its class stands. base: its class of rounding. names: the class's atoms here."""

    guide: GhostSearch
    choice: int
    base: int
    state: State
    names: dict[str, Polynomial]


class GhostFinder(ProgramChecker):
    """The checker of programs, which is told what it asks for by searches. base: the entries of the certificate of rounding."""

    def __init__(
        self,
        certificate: Document,
        base: Document,
        weights: Weights,
        definition: Definition,
    ) -> None:
        many = len(definition.atoms)
        certificate["ghosts"] = [None for _ in range(many)]
        super().__init__(certificate, weights, definition)
        self.plain = weights
        self.is_recurrent = any(block.feed for block in weights.blocks)
        self.base_entries = base["entries"]
        self.base = [self.read_entry(item) for item in base["entries"]]
        self.entries: list[rounding.Entry] = []
        self.leaves: list[Leaf] = []
        self.linked: set[tuple[int, int]] = set()
        self.forced: dict[int, tuple[int, int, int | None]] = {}
        self.best: dict[int, tuple[tuple[int, int], tuple[int, int, int | None]]] = {}
        self.why: dict[int, str] = {}
        self.needs: list[list[set[int]]] = []  # of each entry's classes, the atoms that decide an answer there or later
        consumers = {
            i
            for j, (kind, *_) in enumerate(definition.atoms)
            if kind in (*READS, *SUMS)
            for i in definition.operands[j]
        }
        self.stored = self.closure(
            {*consumers, *filter(self.is_of_token, self.questions(*definition.answers.values()))}
        )

    def closure(self, some: Iterable[int]) -> set[int]:
        """Returns the atoms, and those that polynomials among them are made of."""
        todo, done = [*some], set[int]()
        while todo:
            if (j := todo.pop()) not in done:
                done.add(j)
                todo += self.definition.operands[j] if self.is_polynomial(j) else []
        return done

    def is_of_token(self, j: int) -> bool:
        """Returns whether an atom is a case of the number that a token is: heads may read other keys in each case."""

        def is_number(i: int) -> bool:
            return self.definition.atoms[i][0] == "number" or any(map(is_number, self.definition.operands[i]))

        reads = [i for i in self.closure([j]) if self.definition.atoms[i][0] in (*READS, *SUMS)]
        return is_number(j) and not any(map(is_number, reads))

    def is_polynomial(self, j: int) -> bool:
        return self.definition.atoms[j][0] not in (*READS, *OF_TOKENS, *SUMS)

    def check(self) -> int:
        """Returns how many classes there are. Raises Rejected.

        Heads that read an atom at some classes alone are tried last: those that read it at most, and from the first of them on.
        """
        require_elements(self.weights, self.format, self.size)
        for j, (kind, *_) in enumerate(self.definition.atoms):
            if kind in OF_TOKENS:
                self.schedule(j, 0, None)
        self.schedule_polynomials(0)
        self.embed(self.base[0], self.guides(len(self.places), 0))
        self.finish(0)
        start: int | None = 0
        while start is not None:
            self.walk(start)
            start = self.force()
        self.answer(self.entries[-1], self.guides(len(self.entries[-1].classes), len(self.entries) - 1))
        return sum(len(entry.classes) for entry in self.entries)

    def walk(self, start: int) -> None:
        """Takes the classes from one entry to the last."""
        for place in range(start, len(self.base) - 1):
            if place % 2 == 0:
                self.schedule_reads(place)
            self.schedule_polynomials(place + 1)
            entry = self.entries[place]
            self.step(place, entry, self.base[place + 1], self.guides(len(entry.classes), place + 1))
            self.finish(place + 1)

    def force(self) -> int | None:
        """Lets heads read atoms that none reads at each class. Returns from which entry on; None if each atom is made."""
        unmade = sorted(j for j in set().union(*self.needs[-1]) if self.steps[j] is None and not self.is_polynomial(j))
        if not unmade:
            return None
        some = {j: self.best[j][1] for j in unmade if j in self.best and j not in self.forced}
        if not some:
            why = self.why.get(unmade[0], "its operands are not known")
            raise Rejected(f"no head is seen to read atom {unmade[0]}, {self.definition.atoms[unmade[0]]}: {why}")
        self.forced |= some
        start = min(step for step, _, _ in some.values()) - 1
        for j, step in enumerate(self.steps):
            if step is not None and step > start:
                self.schedule(j, None, None)
        for block in range(start // 2, len(self.weights.blocks)):
            self.augment(block)
        for some_entries in (
            self.certificate["entries"],
            self.certificate["steps"],
            self.entries,
            self.lives,
            self.needs,
        ):
            del some_entries[start + 1 :]
        document = self.certificate["entries"][start]
        document["kept"] = []
        self.entries[start] = self.read_entry(document)
        return start

    # Where atoms are made

    def schedule(self, j: int, step: int | None, head: int | None, mark: int | None = None) -> None:
        self.steps[j], self.heads[j], self.marks[j] = step, head, mark
        self.certificate["ghosts"][j] = None if step is None else [step, head, mark]
        if step is not None and step % 2 and self.definition.atoms[j][0] in (*READS, *SUMS):
            self.augment(step // 2)

    def augment(self, block: int) -> None:
        blocks = [*self.weights.blocks]
        blocks[block] = self.with_ghosts(block, self.plain.blocks[block])
        self.weights = replace(self.weights, blocks=blocks)

    def schedule_polynomials(self, step: int) -> None:
        for j in sorted(self.stored):
            if self.steps[j] is None and self.is_polynomial(j):
                made = [self.steps[i] for i in self.definition.operands[j]]
                if all(one is not None and one <= step for one in made):
                    self.schedule(j, step, None)

    def schedule_reads(self, place: int) -> None:
        """Asks of each head which atoms it reads, and of a recurrence which it keeps."""
        block, step = place // 2, place + 1
        asked = list[int]()
        for j, (kind, *_) in enumerate(self.definition.atoms):
            is_summed = self.weights.blocks[block].feed and kind in ("back", "count", "sum")
            if is_summed and j not in self.forced and self.is_ready(j, place):
                self.schedule(j, step, None)
        find_kept(self, place, {GHOST + j for j in range(len(self.definition.atoms))})
        for j, (kind, *_) in enumerate(self.definition.atoms):
            if kind not in (*READS, *SUMS) or not self.is_ready(j, place):
                continue
            if j in self.forced:
                if self.forced[j][0] == step:
                    self.schedule(j, *self.forced[j])
                continue
            if self.weights.blocks[block].feed and kind == "comb":
                self.keep(place, j)
            if kind in READS and self.steps[j] is None:
                asked.append(j)
        counts = [j for j in asked if self.definition.atoms[j][0] == "count"]
        tries: list[dict[int, int | None]] = [
            dict.fromkeys([j for j in asked if j not in counts]),
            *[{j: mark} for j in counts for mark in self.marks_of(j)],
        ]
        for h, marks in itertools.product(range(len(self.weights.blocks[block].heads)), tries):
            self.trial(place, h, {j: mark for j, mark in marks.items() if self.steps[j] is None})

    def is_ready(self, j: int, place: int) -> bool:
        """Returns whether an atom is not made yet, and all that it is made of is."""
        made = [self.steps[i] for i in self.definition.operands[j]]
        return self.steps[j] is None and all(one is not None and one <= place for one in made)

    def marks_of(self, j: int) -> list[int | None]:
        """Returns what may mark the keys that match: a count's key of the token alone."""
        keys = [a for a, _ in self.definition.pairs[j]] if self.definition.atoms[j][0] == "count" else []
        return [None, *(a for a in keys if self.steps[a] is not None)]

    def keep(self, place: int, j: int) -> None:
        """Lets a recurrence keep a comb, beside registers of the model that are made of the same."""
        block, entry = self.plain.blocks[place // 2], self.entries[place]
        self.steps[j], self.heads[j] = place + 1, None
        chain = {i: (before, now) for i, before, now in self.chain(j)}
        beside: dict[int, set[int]] = {}
        for i, (before, now) in chain.items():
            beside[i] = set()
            for r in block.carry.keys() | block.feed.keys():
                fed, due = block.feed.get(r, []), now
                is_fed = all(one.state.same(fed_by(one.state, fed), fed_by(one.state, due)) for one in entry.classes)
                if is_fed and [w for _, w in before] == [w for _, w in block.carry.get(r, [])]:
                    beside[i].add(r)
        for _ in chain:
            for i, (before, _) in chain.items():
                for c, _ in before:
                    beside[i] = {r for r in beside[i] if block.carry[r][0][0] in beside[c]}
        if not all(beside.values()):
            self.schedule(j, None, None)
            self.why[j] = f"block {place // 2 + 1}: its recurrence keeps nothing of the same rows"
            return
        self.schedule(j, place + 1, None)
        kept = self.certificate["entries"][place]["kept"]
        chosen: dict[int, int] = {}
        todo = [GHOST + j]
        chosen[GHOST + j] = min(beside[GHOST + j])
        while todo:
            i = todo.pop()
            for c, _ in chain[i][0]:
                if c not in chosen:
                    chosen[c] = block.carry[chosen[i]][0][0]
                    todo.append(c)
        for one in kept:
            one["registers"] = {
                **one["registers"],
                **{str(i): one["registers"][str(r)] for i, r in chosen.items() if str(r) in one["registers"]},
            }
        self.entries[place] = self.read_entry(self.certificate["entries"][place])

    def trial(self, place: int, h: int, marks: Mapping[int, int | None]) -> None:
        """Schedules atoms that a head is seen to read at each class; notes of others at how many. marks: of the atoms."""
        if not marks:
            return
        entry, block = self.entries[place], place // 2
        others = [(i, self.heads[i], self.marks[i]) for i in self.ghosts_of(block, h)]
        for i, *_ in others:
            self.schedule(i, None, None)
        for j, mark in marks.items():
            self.schedule(j, place + 1, h, mark)
        classes = [self.counted(replace(one.state, kind=i), entry.live) for i, one in enumerate(entry.classes)]
        reader = GhostTrialReader(self, block, classes, entry.live)
        last = place >= len(self.base) - 3
        passed, varied, many = (dict.fromkeys(marks, 0) for _ in range(3))
        for i, one in enumerate(entry.classes):
            due = [j for j in marks if j in self.needs[place][i]]
            if not due or (last and one.label not in self.answers):
                continue
            guide = GhostSearch(self, place + 1, i)
            guide.flags, reader.refused, reader.varied = [True] * len(marks), {}, set()
            try:
                reader.read(classes[i], h, self.weights.blocks[block].heads[h], READ, guide)
            except Rejected as why:
                reader.refused = dict.fromkeys(marks, str(why))
            for j in due:
                many[j] += 1
                if j in reader.refused:
                    self.why[j] = f"block {block + 1}, head {h + 1}, {one.label}: {reader.refused[j]}"
                else:
                    passed[j] += 1
                    varied[j] += j in reader.varied
        for j in marks:
            self.schedule(j, None, None)
        for i, *was in others:
            self.schedule(i, place + 1, *was)
        for j, mark in marks.items():
            if passed[j] == many[j] > 0:
                self.schedule(j, place + 1, h, mark)
            elif passed[j] and (varied[j], passed[j]) > self.best.get(j, ((0, 0), ()))[0]:
                self.best[j] = (varied[j], passed[j]), (place + 1, h, mark)
        self.augment(block)

    def needed(self, place: int) -> list[set[int]]:
        """Returns of each class of rounding the atoms that answers need there or later: those that are made, or will be read.

        Where a recurrence keeps atoms it keeps them at each class, so all of them are needed at each.
        """
        answers, classes, reader = self.definition.answers, self.base[place].classes, self.base_reader(place)
        found = [set[int]() for _ in classes]
        todo = [
            (i, j)
            for i, one in enumerate(classes)
            if one.label in self.answers
            for j in self.questions(answers.get(one.label, answers.get("", ["anything"])))
        ]
        while todo:
            i, j = todo.pop()
            if j in found[i]:
                continue
            found[i].add(j)
            operands, pairs = self.definition.operands[j], self.definition.pairs[j]
            if self.steps[j] is None and self.is_polynomial(j):
                todo += [(i, one) for one in operands]
            elif self.steps[j] is None:
                kind = self.definition.atoms[j][0]
                read = [a for a, _ in pairs] + ([] if kind == "count" else operands[:1])
                asked = [b for _, b in pairs] + (operands[-1:] if kind in ("at", "nearest") else [])
                todo += [(i, one) for one in asked]
                todo += [(b, one) for b in {i, *reader.earlier(i)} for one in read]
        found = [
            {j for j in some if self.steps[j] is not None or j in self.stored or not self.is_polynomial(j)}
            for some in found
        ]
        if self.is_recurrent:
            found = [set().union(*found) for _ in found]
        return found

    def base_reader(self, place: int) -> Reader:
        """Returns a reader that knows which classes of rounding stand before which."""
        return Reader(self.machine, (), [one.state for one in self.base[place].classes], frozenset(), "")

    def comparisons(self, step: int, label: str, needed: set[int]) -> list[Polynomial]:
        """Returns what the answer of a label compares with 0: polynomials over ghosts that are known after a step."""
        known, some = self.known(step) & needed, []
        answers = self.definition.answers
        for j in sorted(self.closure(self.questions(answers.get(label, answers.get("", ["anything"]))))):
            kind, *arguments = self.definition.atoms[j]
            if kind in ("equal", "above", "positive") and (one := self.over(arguments[0], known)) is not None:
                some.append(plus(one, number(Fraction(arguments[1])), -1) if kind == "equal" else one)
        return [one for one in some if names_of(one)]

    def questions(self, *trees: Any) -> Iterator[int]:
        """Returns the atoms that answers name."""
        for kind, *rest in trees:
            if kind in ("if", "number"):
                yield rest[0]
            if kind == "if":
                yield from self.questions(*rest[1:])

    def over(self, j: int, known: set[int]) -> Polynomial | None:
        """Returns an atom as a polynomial over atoms that are known, if it is one."""
        if j in known:
            return atom(f"a{j}")
        if j not in self.definition.terms:
            return None
        values = {f"a{i}": self.over(i, known) for i in self.definition.operands[j]}
        return None if None in values.values() else substitute(self.definition.terms[j], values)  # type: ignore[arg-type]

    def held(self, state: State) -> dict[str, Polynomial]:
        """Returns what atoms are by the registers of ghosts."""
        return {f"a{j}": state.register(GHOST + j) for j in range(len(self.definition.atoms))}

    # Classes

    def guides(self, many: int, place: int) -> list[Any]:
        found = [GhostSearch(self, place, i) for i in range(many)]
        self.certificate["steps"].append([guide.choices for guide in found])
        return found

    def reader_of(self, block: int, classes: list[State], live: frozenset[int]) -> Reader:
        return FinderReader(self, block, classes, live)

    def link(
        self, entry: rounding.Entry, leaves: Sequence[tuple[int, int, State]], after: set[tuple[int, int]]
    ) -> None:
        self.linked = after

    def finish(self, place: int) -> None:
        """Makes the classes of an entry: of each class of rounding as many as its parts have ghosts."""
        base, item = self.base[place], self.base_entries[place]
        needs = self.needed(place)
        ghosts = sorted(set().union(*needs))
        more = [GHOST + j for j in ghosts]
        if any(self.steps[j] is None and not self.is_polynomial(j) for j in ghosts):
            more += [GHOST_PLACE, GHOST_FIRST]
        live = base.live | (frozenset(more) if not place else frozenset(more) & self.entries[-1].live)
        coordinates = sorted(live - base.live)
        asked = {label: self.comparisons(place, label, {*ghosts}) for label in {one.label for one in base.classes}}
        pools: dict[tuple[int, int], list[Polynomial]] = {}
        copies: dict[tuple[Any, ...], int] = {}
        made: list[tuple[int, dict[int, Polynomial], list[Leaf]]] = []
        needed_of: list[set[int]] = []
        related: list[list[Polynomial]] = []
        targets: list[tuple[Leaf, int]] = []
        # First the parts in which the least is equal by chance: what a ghost is there, it mostly is in all others.
        order = sorted(
            self.leaves,
            key=lambda leaf: -len({text_of(leaf.state.fixed(p)) for p in leaf.names.values() if names_of(p)}),
        )
        for leaf in order:
            # What is needed after a step is made there, or was needed before it.
            own = needs[leaf.base]
            if place:
                own = own & (self.needs[-1][leaf.guide.kind] | {j for j in own if self.steps[j] == place})
            said = self.expressions(leaf, coordinates, base.classes[leaf.base].state, pools, own)
            relations = [] if self.is_recurrent else self.relations(leaf, place, own)
            values = [substitute(one, self.held(leaf.state)) for one in asked[base.classes[leaf.base].label]]
            values += [substitute(one, leaf.names) for one in relations]
            spans = [leaf.state.bounds(leaf.state.fixed(one)) for one in values]
            signs = [(low > 0, low >= 0, high <= 0, high < 0) for low, high in spans]
            key = (leaf.base, *sorted(own), *(text_of(said[i]) for i in coordinates), *signs, *map(text_of, relations))
            if key not in copies:
                copies[key] = len(made)
                made.append((leaf.base, said, []))
                related.append(relations)
                needed_of.append(own)
            made[copies[key]][2].append(leaf)
            targets.append((leaf, copies[key]))
        classes = []
        for (origin, said, leaves), relations in zip(made, related, strict=True):
            one = self.copy(item["classes"][origin], said, leaves, asked[base.classes[origin].label])
            self.relate(one, leaves, relations)
            classes.append(one)
        for leaf, index in targets:
            names = dict(leaf.names)
            for i, polynomial in made[index][1].items():
                for name in names_of(polynomial) - names.keys():
                    names[name] = leaf.state.fixed(leaf.state.register(i))
            leaf.guide.choices[leaf.choice] = ["class", index, {name: text_of(p) for name, p in names.items()}]
        document: Document = {"live": sorted(live), "classes": classes, "kept": []}
        entry = self.read_entry(document)
        if place < len(self.base) - 2:
            before: list[set[int]] = [set() for _ in made]
            for target, other in self.neighbours(
                entry, [(leaf.guide.kind, i, leaf.state) for leaf, i in targets], self.linked
            ):
                before[target].add(other)
            for one, some in zip(classes, before, strict=True):
                one["before"] = sorted(some)
            entry = self.read_entry(document)
        self.certificate["entries"].append(document)
        self.entries.append(entry)
        self.needs.append(needed_of)
        self.lives.append(live)
        self.leaves = []

    def expressions(
        self,
        leaf: Leaf,
        coordinates: Sequence[int],
        target: State,
        pools: dict[tuple[int, int], list[Polynomial]],
        needed: set[int],
    ) -> dict[int, Polynomial]:
        """Returns what each ghost is, over the class's atoms and those that ghosts before it are; or any number."""
        said = {}
        for i in coordinates:
            is_needed = i in (GHOST_PLACE, GHOST_FIRST) or i - GHOST in needed
            said[i] = self.expression(leaf, i, target, pools) if is_needed else atom(f"g{i - GHOST}")
            if said[i] == atom(f"g{i - GHOST}"):
                leaf = leaf._replace(names={**leaf.names, f"g{i - GHOST}": leaf.state.fixed(leaf.state.register(i))})
        return said

    def expression(
        self, leaf: Leaf, i: int, target: State, pools: dict[tuple[int, int], list[Polynomial]]
    ) -> Polynomial:
        """Returns what a ghost is, as a polynomial over the class's atoms, or a new atom."""
        value = leaf.state.fixed(leaf.state.register(i))
        if i == GHOST_PLACE:
            return atom(POSITION)
        pool = pools.setdefault((leaf.base, i), [])
        some = [*pool, *inverted(value, leaf.names)]
        if names_of(value):
            some += [p for j, p in sorted(target.registers.items()) if j < GHOST_FIRST]
            some += [atom(name) for name in leaf.names if name not in target.box]  # ghosts before it
        new = f"g{i - GHOST}"
        for one in some:
            if names_of(one) - {new} == names_of(one) <= leaf.names.keys() and leaf.state.same(
                value, substitute(one, leaf.names)
            ):
                if one not in pool:
                    pool.append(one)
                return one
        if not leaf.state.is_integer(value) or any(c.denominator != 1 for c in value.values()):
            raise Rejected(f"ghost {i - GHOST} is no polynomial of its class's atoms: {text_of(value)}")
        return atom(new)

    def copy(
        self, item: Document, said: dict[int, Polynomial], leaves: Sequence[Leaf], asked: Iterable[Polynomial]
    ) -> Document:
        """Returns a class with ghosts; its whole numbers, and what is compared later, have as narrow bounds as its parts."""
        atoms = {name: [*domain] for name, domain in item["atoms"].items()}
        for name, domain in atoms.items():
            if domain[0] == "integer" and name != SIZE:
                spans = [leaf.state.bounds(leaf.state.fixed(leaf.names[name])) for leaf in leaves]
                least, most = min(math.floor(low) for low, _ in spans), max(math.ceil(high) for _, high in spans)
                _, first, last, step = domain
                domain[1] = first + max(least - first, 0) // step * step
                domain[2] = last - max(last - most, 0) // step * step
                domain[3] = step if domain[1] < domain[2] else 1
        for i, polynomial in said.items():
            for name in names_of(polynomial) - atoms.keys():
                spans = [leaf.state.bounds(leaf.state.fixed(leaf.state.register(i))) for leaf in leaves]
                low, high = min(low for low, _ in spans), max(high for _, high in spans)
                atoms[name] = ["integer", math.floor(low), math.ceil(high), 1]
        registers = {**item["registers"], **{str(i): text_of(p) for i, p in said.items() if p}}
        forms = {text: [*ends] for text, *ends in item["forms"]}
        for one in asked:
            value = substitute(one, {f"a{i - GHOST}": p for i, p in said.items()})
            if (
                len(names_of(value)) > 1
                and all(atoms[name][0] == "integer" for name in names_of(value))
                and is_affine(value)
            ):
                form, factor = canonical(value)
                held = [combine([(substitute(one, self.held(leaf.state)), ratio(1, factor))]) for leaf in leaves]
                spans = [leaf.state.bounds(leaf.state.fixed(p)) for leaf, p in zip(leaves, held, strict=True)]
                shift = ratio(value.get((), 0), factor)
                ends = [
                    math.floor(min(low for low, _ in spans) - shift),
                    math.ceil(max(high for _, high in spans) - shift),
                ]
                narrow(forms, form, ends)
        return {
            **item,
            "atoms": atoms,
            "forms": [[text, *ends] for text, ends in forms.items()],
            "registers": registers,
            "before": [],
        }

    def relations(self, leaf: Leaf, place: int, needed: set[int]) -> list[Polynomial]:
        """Returns what was compared with a number at this step, over the class's atoms.

        Where both sides are the same, these are differences of atoms that are the same there.
        """
        some: dict[str, Polynomial] = {}
        for j in sorted(self.closure(needed)):
            kind, *operands = self.definition.atoms[j]
            if kind not in ("equal", "above", "positive") or self.steps[j] != place:
                continue
            value = leaf.state.fixed(leaf.state.register(GHOST + operands[0]))
            found = inverted(value, leaf.names) if names_of(value) else []
            if not found:
                sides = [
                    leaf.state.fixed(leaf.state.register(GHOST + i)) for i in self.definition.operands[operands[0]]
                ]
                alike = [
                    name
                    for name, p in sorted(leaf.names.items())
                    if names_of(p) and any(not names_of(plus(p, side, -1)) for side in sides)
                ]
                found = [plus(atom(a), atom(b), -1) for a, b in itertools.pairwise(alike)]
            some |= {text_of(one): one for one in found if len(names_of(one)) > 1 and is_affine(one)}
        return [some[text] for text in sorted(some)]

    def relate(self, item: Document, leaves: Sequence[Leaf], relations: Iterable[Polynomial]) -> None:
        """Adds bounds of forms over the class's atoms to a class."""
        forms = {text: ends for text, *ends in item["forms"]}
        for one in relations:
            form, _ = canonical(one)
            held = [substitute(written(form), leaf.names) for leaf in leaves]
            spans = [leaf.state.bounds(leaf.state.fixed(p)) for leaf, p in zip(leaves, held, strict=True)]
            ends = [math.floor(min(low for low, _ in spans)), math.ceil(max(high for _, high in spans))]
            narrow(forms, form, ends)
        item["forms"] = [[text, *ends] for text, ends in forms.items()]


class GhostSearch(ClassChoices):
    """A search that also says which ghosts are shown. flags: which these are."""

    tells_zero = True

    def __init__(self, finder: GhostFinder, place: int, kind: int) -> None:
        super().__init__(finder, place, kind)  # type: ignore[arg-type]
        self.ghosts = finder
        self.flags: list[bool] | None = None

    def take(self, kind: str) -> Any:
        self.choices.append([kind, self.flags])
        return [self.flags]

    def target(self, state: State, label: str) -> tuple[int, dict[str, Polynomial]]:
        if label == rounding.KEEP:
            return super().target(state, label)
        classes, live = self.ghosts.base[self.place].classes, self.ghosts.base[self.place].live
        order = sorted((len(one.state.box), i) for i, one in enumerate(classes) if one.label == label)
        index, names = search(self.ghosts, [one.state for one in classes], [i for _, i in order], state, live)
        self.ghosts.leaves.append(Leaf(self, len(self.choices), index, state, names))
        self.choices.append(["class", index, {}])
        return index, names


def narrow(forms: Document, form: Form, ends: Sequence[int]) -> None:
    """Adds bounds of a form to those of a class."""
    text = text_of(dict(written(form)))
    low, high = forms.get(text, ends)
    forms[text] = [max(low, ends[0]), min(high, ends[1])]


def inverted(value: Polynomial, names: Mapping[str, Polynomial]) -> list[Polynomial]:
    """Returns a value over a class's atoms, if it is made of what some of them are one by one. names: the class's atoms here."""
    inverse: dict[str, Polynomial] = {POSITION: atom(POSITION), SIZE: atom(SIZE)}
    for name, p in names.items():
        parts = [(m, c) for m, c in p.items() if m]
        if len(parts) == 1 and len(parts[0][0]) == 1 and abs(parts[0][1]) == 1:
            ((own,), c), shift = parts[0], p.get((), 0)
            inverse.setdefault(own, combine([(atom(name), c), (number(shift), -c)]))
    return [substitute(value, inverse)] if names_of(value) <= inverse.keys() else []


class GhostTrialReader(GhostReader):
    """Reads heads, and notes which ghosts nothing shows. refused: why. varied: of which the values differ."""

    refused: dict[int, str]
    varied: set[int]

    def show(self, parts: list[State], j: int, candidates: Sequence[Candidate], slot: int, guide: Any) -> list[State]:
        start = len(guide.choices)
        try:
            parts = super().show(parts, j, candidates, slot, guide)
        except Rejected as why:
            del guide.choices[start:]
            self.refused[j] = str(why)
        else:
            self.varied |= {j for part in parts if names_of(part.register(slot))}
        return parts


class FinderReader(GhostTrialReader):
    """Reads heads, and leaves ghosts open where nothing shows them."""

    def read(self, query: State, h: int, head: Head, at: int, guide: Any) -> list[State]:
        ghosts, start = self.checker.ghosts_of(self.block, h), len(guide.choices)
        guide.flags = [j in guide.ghosts.needs[2 * self.block][query.kind] for j in ghosts]
        while True:
            self.refused, self.varied = {}, set()
            try:
                parts = super().read(query, h, head, at, guide)
            except Rejected:
                if not any(guide.flags):
                    raise
                guide.flags = [False] * len(ghosts)
            else:
                if not self.refused:
                    return parts
                guide.flags = [flag and j not in self.refused for j, flag in zip(ghosts, guide.flags, strict=True)]
            del guide.choices[start:]


def fed_by(state: State, row: Row) -> Polynomial:
    """Returns what enters a recurrence."""
    return combine([(times(w, state.register(i)), 1) for i, w in row])

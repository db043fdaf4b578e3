"""Checks that a p-bit machine is a program: `python -I -S verify/trusted/program.py C.json WEIGHTS [S.json] DEFINITION.json`.

It needs Python's standard library alone, and `rounding.py` with its files. Whoever wrote the certificate is not trusted.

A definition is a list of atoms, and answers: one for each label of the automaton's states, and as "" one for all other labels. An
atom has a number at each position k of a text. It is made of atoms before it in the list, which it names by their index from 0:

  ["number", family]          the number that the token at k is, if it is one of this family, else 0
  ["is_number", family]       1 if the token is a number of the family, else 0
  ["is_word", word]           1 if the token is the word, else 0
  ["position"]                k, from 1
  ["term", polynomial]        a polynomial in a0, a1, … and n, as 1*a0*a1 + -3/2
  ["positive", i]             max(0, atom i)
  ["equal", i, number]        1 if atom i is the number, a text, else 0
  ["above", i]                1 if atom i is above 0, else 0
  ["back", i, s]              atom i at position k − s, s ≥ 1; 0 if there is none
  ["at", i, t]                atom i at the position of 1 … k that is nearest to atom t, a whole number
  ["first", i, pairs]         atom i at the first position j of 2 … k that matches, at position 1 if none does: for each pair
                              [a, b], atom a at j is atom b at k
  ["last", i, pairs]          the same at the last such position
  ["nearest", i, pairs, t]    the same at the one nearest to atom t, a whole number, of two as near the first
  ["count", pairs]            how many positions of 2 … k match
  ["sum", i]                  the sum of atom i over 1 … k
  ["comb", i, s, x]           Σ x^m·(atom i at k − m·s) over m = 0, 1, … as far as there are such positions, s ≥ 1, x 1 or −1

An answer is ["say", word], ["number", i, family] (the number that atom i is), ["anything"] (nothing is claimed), or
["if", i, answer, answer]: the first one if atom i is not 0, else the second one.

Theorem, if all files are accepted: what `rounding.py` says; and for each n of the interval, on each text of the automaton, at each
position whose next token matters, the p-bit machine's next token is the definition's answer there. It holds if the exact machine
keeps the invariants that the certificate lists.

Method. The machine gets more registers, ghosts, one for each atom that the certificate schedules. No weight of the model reads or
writes one, so all other registers stay what they are. A ghost is written where its operands are known: of a token at the embedding;
by a head, as a further value row that copies a ghost of the key; by a recurrence; or as a polynomial of ghosts. The rows of ghosts
are checked as all rows are, and none of them rounds. So by `rounding.py` a ghost has one value in both machines if it is a
polynomial over whole numbers. What is shown here is that the key that the head reads in the exact machine is the one that the
atom names (`GhostReader`), that each class's ghosts decide the answer's cases, and that its logit is the largest of the exact
machine (`require_due`). By the fourth statement of `rounding.py`, it is then that of the p-bit machine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from verify.trusted import rounding
from verify.trusted.abstract_state import POSITION, SIZE, Integer, Score, Share, State
from verify.trusted.automaton import Place, range_of
from verify.trusted.candidates import LINE, PLACE, Candidate, Pair, line_of
from verify.trusted.heads import Reader
from verify.trusted.keys import Reading
from verify.trusted.model import NUMBER, Block, Head, Row, Weights, parse, read_files, read_json, whole
from verify.trusted.numbers import Number
from verify.trusted.polynomials import ONE, Polynomial, atom, combine, names_of, number, plus, substitute, times
from verify.trusted.rejection import reject

T = TypeVar("T")
GHOST = 1_000_000_010  # the register of atom 0; no weight has such a coordinate: those have nine digits at most
GHOST_PLACE, GHOST_FIRST = GHOST - 1, GHOST - 2  # the position; 1 at position 1, else 0
KEYS = -700_000  # of a key, in a joint state: its ghosts
BEHIND = -800_000  # a number's logit, less the due one
MOST_ATOMS = 1000
REGISTERS = ("group", "share", "sum", "late", "early")  # of an invariant
LONGEST = 1000  # steps back that a recurrence keeps
READS = ("back", "at", "first", "last", "nearest", "count")
SUMS = ("sum", "comb")
OF_TOKENS = ("number", "is_number", "is_word", "position")
# What an atom has besides its kind: the indices i of atoms, pairs m of these, steps s back, a sign x, a number n, a polynomial p,
# a text t.
SIGNATURES = """number:t is_number:t is_word:t position: term:p positive:i equal:in above:i back:is at:ii first:im last:im
nearest:imi count:m sum:i comb:isx"""
ARGUMENTS = dict(text.split(":") for text in SIGNATURES.split())


class Open(Exception):
    """A sign decides, and is not known. polynomial: whose."""

    def __init__(self, polynomial: Polynomial) -> None:
        self.polynomial = polynomial


class Definition:
    """What a text's next word should be. operands: of each atom, the atoms that it is made of. pairs: what must match."""

    def __init__(self, document: Any) -> None:
        self.atoms: list[Any] = document["atoms"]
        self.answers: dict[str, Any] = document["answers"]
        self.pairs: list[list[tuple[int, int]]] = []
        self.operands: list[list[int]] = []
        self.terms: dict[int, Polynomial] = {}
        if len(self.atoms) > MOST_ATOMS:
            reject(f"definition: more than {MOST_ATOMS} atoms")
        for j, (kind, *arguments) in enumerate(self.atoms):
            if len(letters := ARGUMENTS.get(kind, "?")) != len(arguments) or letters == "?":
                reject(f"definition: atom {j}: no such atom")
            pairs: list[tuple[int, int]] = []
            operands: list[int] = []
            for letter, one in zip(letters, arguments, strict=True):
                if letter == "i":
                    operands.append(whole(one))
                elif letter == "m":
                    pairs = [(whole(a), whole(b)) for a, b in one]
                    operands += [i for pair in pairs for i in pair]
                elif letter == "s" and not 1 <= whole(one) <= LONGEST:
                    reject(f"definition: atom {j}: no step back, or more than {LONGEST}")
                elif letter == "x" and whole(one) not in (1, -1):
                    reject(f"definition: atom {j}: no sign")
                elif letter == "n":
                    Fraction(one)
                elif letter == "p":
                    self.terms[j] = parse(one)
                    operands += [self.index(name) for name in sorted(names_of(self.terms[j]) - {SIZE})]
            if not all(0 <= i < j for i in operands):
                reject(f"definition: atom {j} is made of what does not stand before it")
            self.pairs.append(pairs)
            self.operands.append(operands)
        for tree in self.answers.values():
            self.require_answer(tree)

    def index(self, name: str) -> int:
        if not name[1:].isdecimal() or name != f"a{int(name[1:])}":
            reject(f"definition: {name} is no atom")
        return int(name[1:])

    def require_answer(self, tree: Any) -> None:
        todo = [tree]
        while todo:
            kind, *rest = todo.pop()
            if kind == "if" and len(rest) == 3:
                todo += rest[1:]
            elif (kind, len(rest)) not in (("say", 1), ("number", 2), ("anything", 0)):
                reject("definition: no such answer")
            if kind in ("if", "number") and not 0 <= whole(rest[0]) < len(self.atoms):
                reject("definition: an answer's atom is not there")


class ProgramChecker(rounding.Checker):
    """One certificate, its weights, and the definition that they are held against.

    steps: at which step each atom becomes a ghost, None for one that is made where it is asked for. heads: which head reads it,
    None where a recurrence keeps it. marks: of a count, an atom that is 1 at keys that match, and 0 at others.
    """

    def __init__(self, certificate: Any, weights: Weights, definition: Definition) -> None:
        super().__init__(certificate, weights)
        self.definition = definition
        self.lives = [frozenset(map(whole, entry["live"])) for entry in certificate["entries"]]
        ghosts = certificate["ghosts"]
        if len(ghosts) != len(definition.atoms):
            reject("as many ghosts are due as the definition has atoms")
        self.steps = [None if one is None else whole(one[0]) for one in ghosts]
        self.heads = [None if one is None or one[1] is None else whole(one[1]) for one in ghosts]
        self.marks = [None if one is None or one[2] is None else whole(one[2]) for one in ghosts]
        self.require_schedule()
        if any(getattr(one, field, 0) >= GHOST_FIRST for one in self.invariants for field in REGISTERS):
            reject("an invariant speaks of a ghost, which the exact machine does not have")
        self.rows: dict[tuple[int, int], list[int]] = {}  # block and head → the coordinates of the further value rows
        self.weights = replace(weights, blocks=[self.with_ghosts(b, one) for b, one in enumerate(weights.blocks)])

    def require_schedule(self) -> None:
        """Raises Rejected unless atoms of tokens are made at step 0, and those that read where heads do, after their operands."""
        blocks = self.weights.blocks
        for j, ((kind, *_), step, head) in enumerate(zip(self.definition.atoms, self.steps, self.heads, strict=True)):
            if step is None:
                continue
            if not 0 <= step <= 2 * len(blocks) or (kind in OF_TOKENS and step):
                reject(f"ghost {j}: no such step")
            if kind in READS or kind in SUMS:
                if step % 2 == 0:
                    reject(f"ghost {j}: it is made where no head reads")
                if GHOST + j not in self.lives[step - 1]:
                    reject(f"ghost {j}: its register is not among those that are written")
                for i in self.operands_of(j):
                    if not 0 <= i < len(self.steps):
                        reject(f"ghost {j}: there is no ghost {i}")
                    made = self.steps[i]
                    if made is None or made >= step or GHOST + i not in self.lives[step - 1]:
                        reject(f"ghost {j}: ghost {i} is not known there")
                if self.is_kept(j):
                    continue
                if head is None or not 0 <= head < len(blocks[step // 2].heads):
                    reject(f"ghost {j}: no such head")

    def operands_of(self, j: int) -> list[int]:
        """Returns the ghosts that a head or a recurrence needs for an atom."""
        mark = self.marks[j]
        return [*self.definition.operands[j], *([] if mark is None else [mark])]

    def is_kept(self, j: int) -> bool:
        """Returns whether a recurrence keeps an atom."""
        kind = self.definition.atoms[j][0]
        return kind in SUMS or (kind in ("back", "count") and self.heads[j] is None)

    def chain(self, j: int) -> Iterator[tuple[int, Row, Row]]:
        """Returns the rows by which a recurrence keeps an atom: coordinates, and rows over what was kept and over the registers.

        Further coordinates c_1, c_2, … keep what was i positions before, from the atom's operand on, or, of a comb, from itself.
        A count is the sum of its key (`require_bit`).
        """
        kind, _, *rest = self.definition.atoms[j]
        own, steps = GHOST + j, rest[0] if rest else 1
        of: Row = [(GHOST + self.definition.operands[j][0], ONE)]
        more = [own + MOST_ATOMS * i for i in range(1, steps + 1)]
        if kind == "back":
            yield own, [(more[steps - 1], ONE)], []
            yield more[0], [], of
        else:
            yield own, [(more[steps - 2] if steps > 1 else own, number(rest[1] if rest else 1))], of
            if steps > 1:
                yield more[0], [(own, ONE)], []
        last = steps if kind == "back" else steps - 1
        for i in range(1, last):
            yield more[i], [(more[i - 1], ONE)], []

    def ghosts_of(self, block: int, head: int) -> list[int]:
        """Returns the atoms that a head reads."""
        step = 2 * block + 1
        return [
            j
            for j, (kind, *_) in enumerate(self.definition.atoms)
            if kind in READS and self.steps[j] == step and self.heads[j] == head and not self.is_kept(j)
        ]

    def with_ghosts(self, b: int, block: Block) -> Block:
        """Returns the block with rows that read and write ghosts. The further value rows of a head stand after its own."""
        augmented, places, extra = [], [0], []
        width = 0
        for h, head in enumerate(block.heads):
            rows: list[int] = []
            for j in self.ghosts_of(b, h):
                kind = self.definition.atoms[j][0]
                extra.append((j, width + len(head.value) + len(rows)))
                if kind == "count":
                    rows += [GHOST_FIRST, *([] if (mark := self.marks[j]) is None else [GHOST + mark])]
                else:  # what is read, the place, and what must match
                    rows += [GHOST + self.definition.operands[j][0], GHOST_PLACE]
                    rows += [GHOST + a for a, _ in self.definition.pairs[j]]
            self.rows[b, h] = rows
            augmented.append(replace(head, value=[*head.value, *([(c, ONE)] for c in rows)]))
            width += len(head.value) + len(rows)
            places.append(width)
        moved = [places[h] + v for h, head in enumerate(block.heads) for v in range(len(head.value))]
        out: list[tuple[int, Row]] = [(i, [(moved[v], w) for v, w in row]) for i, row in block.out]
        out += [(GHOST + j, [(v, ONE)]) for j, v in extra]
        carry, feed = dict(block.carry), dict(block.feed)
        for j in range(len(self.definition.atoms)):
            if self.is_kept(j) and self.steps[j] == 2 * b + 1:
                for i, before, now in self.chain(j):
                    carry[i], feed[i] = before, now
        return replace(block, heads=augmented, out=out, carry=carry, feed=feed)

    # Ghosts

    def recur(self, block: Block, state: State, *others: Any) -> list[State]:
        for j in range(len(self.definition.atoms)):
            if GHOST + j in block.feed and self.definition.atoms[j][0] == "count":
                self.require_bit(state, j)
        return super().recur(block, state, *others)

    def require_bit(self, state: State, j: int) -> None:
        """Raises Rejected unless a count of one pair is the sum of its key up to here, by what holds at the positions of a class.

        What the key is compared with is 1 at each position. The key is 0 or 1 at each, and 0 at position 1. So how many of
        2 … k have a key of 1 is the sum of the keys of 1 … k.
        """
        if len(self.definition.pairs[j]) != 1:
            reject(f"ghost {j} compares more than one pair, or none, and no recurrence keeps that")
        key, asked = (state.fixed(state.register(GHOST + i)) for i in self.definition.pairs[j][0])
        low, high = state.bounds(key)
        is_bit = state.is_whole(key) and 0 <= low <= high <= 1
        if not is_bit or asked != ONE or (high > 0 and state.integer(POSITION).low == 1):
            reject(f"ghost {j} is not the sum of what it compares")

    def token_registers(self, place: Place) -> dict[int, Polynomial]:
        low, high = range_of(place.low, self.size)[0], range_of(place.high, self.size)[1]
        if low == 1 < high:
            reject("a state of the automaton stands for position 1 and others")
        registers = {GHOST_PLACE: atom(POSITION), GHOST_FIRST: number(int(high == 1))}
        for j, (kind, *arguments) in enumerate(self.definition.atoms):
            if kind == "position":
                registers[GHOST + j] = atom(POSITION)
            elif kind == "is_word":
                registers[GHOST + j] = number(int(bool(place.word) and place.word == arguments[0]))
            elif kind in ("number", "is_number") and not place.word and place.family == arguments[0]:
                registers[GHOST + j] = atom(NUMBER) if kind == "number" else ONE
        return registers

    def known(self, step: int) -> set[int]:
        """Returns which atoms are ghosts of a state that a step leads to."""
        live = self.lives[step - 1] if step else frozenset[int]()
        return {
            j
            for j, made in enumerate(self.steps)
            if made is not None and (made == step or (made < step and GHOST + j in live))
        }

    def extend(self, step: int, parts: list[State], guide: rounding.Guide) -> list[State]:
        """Makes the ghosts that are polynomials of others at this step. A part is split where a sign decides."""
        done, todo, known = [], [(part, 0) for part in reversed(parts)], self.known(step)
        while todo:
            state, j = todo.pop()
            if j == len(self.definition.atoms):
                done.append(state)
                continue
            if self.steps[j] != step or self.definition.atoms[j][0] in (*READS, *OF_TOKENS, *SUMS):
                todo.append((state, j + 1))
                continue
            try:
                value = self.by_meaning(state, j, known)
                todo.append((state.having({GHOST + j: value}), j + 1))
            except Open as open_:
                todo += [(part, j) for part in cut(state, open_.polynomial, guide)]
        return done

    def value(self, state: State, j: int, known: set[int]) -> Polynomial:
        """Returns atom j, a polynomial over whole numbers. Raises Open where a sign decides, and is not known."""
        value = state.fixed(state.register(GHOST + j) if j in known else self.by_meaning(state, j, known))
        if not state.is_integer(value):
            reject(f"ghost {j} may be another number in both machines")
        return value

    def by_meaning(self, state: State, j: int, known: set[int]) -> Polynomial:
        kind, *arguments = self.definition.atoms[j]
        if kind == "term":
            values = {f"a{i}": self.value(state, i, known) for i in self.definition.operands[j]}
            return substitute(self.definition.terms[j], values)
        if kind not in ("positive", "equal", "above"):
            reject(f"ghost {j} is not known where it is asked for")
        of = self.value(state, self.definition.operands[j][0], known)
        if kind == "equal":
            return number(int(is_zero(state, plus(of, number(Fraction(arguments[1])), -1))))
        low, high = state.bounds(of)
        if kind == "positive":
            if low >= 0 or high <= 0:
                return of if low >= 0 else {}
        elif low > 0 or high <= 0:
            return number(int(low > 0))
        raise Open(of)

    def reader_of(self, block: int, classes: list[State], live: frozenset[int]) -> Reader:
        return GhostReader(self, block, classes, live)

    # The answer

    def answer(self, entry: rounding.Entry, guides: list[rounding.Guide]) -> None:
        """Checks, beside rounding, that the due token has the largest logit of the exact machine."""
        super().answer(entry, guides)
        known = self.known(len(self.lives))
        for one, guide in zip(entry.classes, guides, strict=True):
            if one.label in self.answers:
                self.require_answer(one, guide, known)

    def require_answer(self, one: rounding.Class, guide: rounding.Guide, known: set[int]) -> None:
        """Raises Rejected unless the due token is said at each position of a class."""
        split(one.state, guide, lambda state: self.require_due(state, one.label, known))

    def require_due(self, state: State, label: str, known: set[int]) -> None:
        """Raises Rejected unless the due token's exact logit is above that of each other one. Raises Open where that is open."""
        answers = self.definition.answers
        tree = answers[label if label in answers else ""]
        while tree[0] == "if":
            tree = tree[3] if is_zero(state, self.value(state, tree[1], known)) else tree[2]
        kind, *rest = tree
        if kind == "anything":
            return
        words, families = self.weights.words, self.weights.families
        if kind == "say":
            if rest[0] not in words:
                reject(f"the output head: there is no word {rest[0]}")
            due, value = self.exact_logit(state, words[rest[0]]), None
        else:
            value = self.value(state, rest[0], known)
            if rest[1] not in families:
                reject(f"the output head: there is no family {rest[1]!r}")
            family = families[rest[1]]
            if not state.is_whole(value):
                reject("the output head: the due number may be no whole number")
            low, high = state.bounds(value)
            if low < family.low or high > family.high:
                if low > family.high or high < family.low or not state.is_form(value):
                    reject(f"the output head: the due number may be {low} … {high}, of {family.low} … {family.high}")
                raise Open(plus(value, number(family.low - 1 if low < family.low else family.high), -1))
            due = substitute(self.exact_logit(state, family.rows, atom(LINE)), {LINE: value})
        for word, row in words.items():
            if kind == "say" and word == rest[0]:
                continue
            lead = state.fixed(plus(due, self.exact_logit(state, row), -1))
            bounds = state.bounds(lead, ideal=True)
            if state.is_integer(lead):
                bounds = state.reach(lead, bounds)
            if bounds[0] <= 0:
                if bounds[1] <= 0:
                    reject(f"the output head: {word} may be said, and is not due")
                raise Open(lead)
        for name, family in families.items():
            joint = replace(state, box={**state.box, LINE: Integer(family.low, family.high)})
            behind = plus(self.exact_logit(state, family.rows, atom(LINE)), due, -1)
            self.require_behind(joint, behind, value if kind == "number" and name == rest[1] else None, name)

    def require_behind(self, state: State, behind: Polynomial, value: Polynomial | None, name: str) -> None:
        """Raises Rejected unless a number's logit, less the due one, is below 0, whichever the number h is, but for the value.

        h ≠ value, both whole, is h ≤ value − 1 or h ≥ value + 1: each side is bounded apart, as −Σ cost·form² + rest. What is
        affine in h is largest at an end, so without a value its ends are enough.
        """
        (low, high), state = state.range(LINE), state.having({BEHIND: behind})
        sides: list[State | None] = [state]
        if value is not None and state.is_form(value):
            off = plus(atom(LINE), value, -1)
            sides = [state.restrict(off, None, -1), state.restrict(off, 1, None)]
        elif value is None and all(monomial.count(LINE) < 2 for monomial in behind):
            sides = [state.restrict(atom(LINE), None, low), state.restrict(atom(LINE), high, None)]
        for side in filter(None, sides):
            score = Score.complete(side, side.fixed(side.register(BEHIND)), [LINE])
            if score.upper(side, ideal=True) >= 0:
                if LINE in names_of(score.rest) or state.bounds(score.rest, ideal=True)[0] >= 0:
                    reject(f"the output head: a number of {name!r} may be said, and is not due")
                raise Open(score.rest)

    def exact_logit(self, state: State, row: dict[int, Polynomial], of: Polynomial | None = None) -> Polynomial:
        """Returns a token's logit in the exact machine; of: which number of a family it is."""
        terms = []
        for i, w in row.items():
            if i not in self.lives[-1]:
                reject(f"the output head: coordinate {i} is not among those that are known")
            terms.append((times(state.ideal(state.register(i)), w if of is None else substitute(w, {NUMBER: of})), 1))
        return combine(terms)


class GhostReader(Reader):
    """Reads heads with their ghosts, and shows that the keys that they read are the atoms' own."""

    def __init__(self, checker: ProgramChecker, block: int, classes: list[State], live: frozenset[int]) -> None:
        super().__init__(checker.machine, checker.invariants, classes, live, f"block {block + 1}")
        self.checker, self.block = checker, block
        self.definition = checker.definition
        asked = (j for h in range(len(checker.weights.blocks[block].heads)) for j in checker.ghosts_of(block, h))
        self.asked = sorted({i for j in asked for i in checker.operands_of(j)})
        self.rule = ""
        self.shown: list[bool] = []  # which ghosts of the head are shown here, of others no row is read
        self.cached: dict[int, list[bool]] = {}

    def read(self, query: State, h: int, head: Head, at: int, guide: Any) -> list[State]:
        """Returns the query in parts. The certificate says which ghosts of the head are shown here; others may be any number."""
        ghosts = self.checker.ghosts_of(self.block, h)
        if ghosts:
            (shown,) = guide.take("ghosts")
            if len(shown) != len(ghosts) or not all(type(one) is bool for one in shown):
                reject(f"{self.where}, head {h + 1}: what is said of its ghosts is malformed")
            head = self.checker.weights.blocks[self.block].heads[h]
            rows, start = [*head.value], len(head.value) - len(self.checker.rows[self.block, h])
            for j, is_shown in zip(ghosts, shown, strict=True):
                width = self.width(j)
                if not is_shown:
                    rows[start : start + width] = [[] for _ in range(width)]
                start += width
            head = replace(head, value=rows)
            if self.cached.get(h) != shown:
                self.cached[h] = shown
                self.known.pop(h, None)
            self.shown = shown
        return super().read(query, h, head, at, guide)

    def width(self, j: int) -> int:
        """Returns how many rows a head reads for a ghost."""
        if self.definition.atoms[j][0] == "count":
            return 1 + (self.checker.marks[j] is not None)
        return 2 + len(self.definition.pairs[j])

    def with_rows(self, state: State, head: Head, where: str) -> State:
        """Returns the state with the ghosts of the key, too."""
        return super().with_rows(state, head, where).having({KEYS - i: state.register(GHOST + i) for i in self.asked})

    def pair(self, key: int | None, joint: State, own: frozenset[str], asked: tuple[str, ...]) -> Iterator[Pair]:
        """Returns keys of a class where it can stand: just before the query, or before one that stands there."""
        part: State | None = joint
        if key is not None:
            is_next = key in joint.before
            is_far = any(key in self.earlier(b) for b in joint.before)
            distance = plus(joint.register(PLACE), atom(POSITION), -1)
            part = (
                joint.restrict(distance, None if is_far else -1, -1 if is_next else -2) if is_next or is_far else None
            )
        if part is not None:
            yield from super().pair(key, part, own, asked)

    def apply(self, choice: Any, reading: Reading) -> list[State]:
        self.rule = choice[0]
        return super().apply(choice, reading)

    def judge(self, parts: list[State], reading: Reading, h: int, guide: Any) -> list[State]:
        """Returns the parts in which each ghost of the head is what its atom is, or any number that it may be."""
        candidates = reading.candidates
        if len(candidates) == 1:
            self.rule = "one"
        slot = (
            reading.at
            - len(self.checker.weights.blocks[self.block].heads[h].value)
            + len(self.checker.rows[self.block, h])
        )
        for j, is_shown in zip(self.checker.ghosts_of(self.block, h), self.shown, strict=False):
            read = self.show if is_shown else self.anything
            parts = read(parts, j, candidates, slot, guide)
            slot -= self.width(j)
        return parts

    def show(self, parts: list[State], j: int, candidates: Sequence[Candidate], slot: int, guide: Any) -> list[State]:
        """Returns the parts in which a ghost is what its atom is."""
        if self.definition.atoms[j][0] == "count":
            return [part.having({slot: self.count(part, candidates, j, slot)}) for part in parts]
        if self.rule not in ("one", "position"):
            reject(f"{self.where}: several keys may be read, and ghost {j} is one of them")
        if self.definition.pairs[j] or self.definition.atoms[j][0] in ("first", "last", "nearest"):
            self.require_order(candidates, j)
        return [one for part in parts for one in self.picked(part, j, slot, guide)]

    def anything(
        self, parts: list[State], j: int, candidates: Sequence[Candidate], slot: int, guide: Any
    ) -> list[State]:
        """Returns the parts with a ghost of which no more is known than that it is the value of some key, or 0, or a count."""
        ends: list[Number] = [0]
        for c in candidates if self.definition.atoms[j][0] != "count" else ():
            value = c.joint.register(KEYS - self.definition.operands[j][0])
            if not c.joint.is_whole(value):
                reject(f"{self.where}: ghost {j} may be no whole number")
            ends += c.joint.bounds(value)
        done = []
        for part in parts:
            if self.definition.atoms[j][0] == "count":
                ends = [0, part.integer(POSITION).high]
            name = part.fresh("g")
            box = {**part.box, name: Integer(math.floor(min(ends)), math.ceil(max(ends)))}
            done.append(replace(part, box=box).having({slot: atom(name)}))
        return done

    def picked(self, part: State, j: int, slot: int, guide: Any) -> list[State]:
        """Returns the read part, split until the key is seen to be the atom's in each: then the ghost is what was read there."""
        return split(part, guide, lambda state: state if self.is_picked(state, j, slot) else state.having({slot: {}}))

    def is_picked(self, state: State, j: int, slot: int) -> bool:
        """Returns whether the key that was read is the atom's; False if the atom is 0, as there is no such position.

        Raises Open where that depends on a sign, and Rejected where the key is another one.

        Of pairs, `require_order` has shown: a key that matches scores above each that does not, and among those that match the
        first, or the last, or the nearest has the largest score. So if the key that is read matches, it is the atom's. If it
        does not, then none does, and it must be position 1.
        """
        kind = self.definition.atoms[j][0]
        place, here = state.fixed(state.register(slot - 1)), atom(POSITION)
        if not state.is_form(place):
            reject(f"{self.where}: it is not known which key ghost {j} is of")
        if kind == "back":
            steps = self.definition.atoms[j][2]
            if state.integer(POSITION).low <= steps:
                if state.integer(POSITION).high > steps:
                    raise Open(combine([(here, 2), (ONE, -2 * steps - 1)]))
                return False
            if not state.same(plus(place, number(steps)), here):
                reject(f"{self.where}: the key is not {steps} before, and ghost {j} is of that")
            return True
        if kind == "at":
            target = state.fixed(state.register(GHOST + self.definition.operands[j][1]))
            if not state.is_form(target) or not state.is_whole(target):
                reject(f"{self.where}: the position of ghost {j} may be no whole number")
            if state.same(place, target):
                return True
            for end, side in ((ONE, 1), (state.fixed(here), -1)):
                beyond = combine([(end, side), (target, -side)])
                low, high = state.bounds(beyond)
                if state.same(place, end) and high >= 0:
                    if low < 0:
                        raise Open(beyond)
                    return True
            return reject(f"{self.where}: the key is not the one at the position of ghost {j}")
        if state.same(place, ONE):
            return True
        if not is_zero(state, plus(place, ONE, -1)):
            for i, (_, b) in enumerate(self.definition.pairs[j]):
                if not is_zero(state, plus(state.register(slot - 2 - i), state.register(GHOST + b), -1)):
                    reject(
                        f"{self.where}: a key that does not match may be read, and ghost {j} is of none but position 1"
                    )
        return True

    def divided(
        self, candidates: Sequence[Candidate], j: int
    ) -> tuple[list[Candidate], list[Candidate], list[Candidate]]:
        """Returns the keys that match, those of 2 … k that do not, and position 1."""
        matching, others, first = [], [], []
        for c in candidates:
            start = c.joint.restrict(c.place, None, 1)
            if start is not None:
                first.append(replace(c, joint=start, whole=False))
            part: State | None = c.joint.restrict(c.place, 2, None)
            for a, b in self.definition.pairs[j]:
                if part is None:
                    break
                difference = part.fixed(plus(part.register(KEYS - a), part.register(GHOST + b), -1))
                if not part.is_form(difference):
                    reject(f"{self.where}: what ghost {j} compares is no form of whole numbers")
                scale = math.lcm(*(x.denominator for x in difference.values()))
                difference = combine([(difference, scale)])
                for low, high in ((None, -1), (1, None)):
                    side = part.restrict(difference, low, high)
                    if side is not None:
                        others.append(replace(c, joint=side, whole=False))
                part = part.restrict(difference, 0, 0)
            if part is not None:
                matching.append(replace(c, joint=part, whole=False))
        return matching, others, first

    def require_order(self, candidates: Sequence[Candidate], j: int) -> None:
        """Raises Rejected unless each key that matches scores above each that does not, and these in the order that is due."""
        matching, others, first = self.divided(candidates, j)
        if any(not c.joint.is_integer(c.exact) for c in candidates):
            reject(f"{self.where}: a score is not alike in both machines")
        if matching:
            least = min(c.lower for c in matching)
            if any(c.upper >= least for c in (*others, *first)):
                reject(f"{self.where}: a key that does not match may score as one that does, for ghost {j}")
        if sum(self.multiplicity(c) for c in matching) > 1:
            self.require_line(matching, j)

    def require_line(self, matching: Sequence[Candidate], j: int) -> None:
        """Raises Rejected unless all scores are one function of the key's position, which rises for `last` and falls for `first`.

        Where each class has one position, scores at each two positions are compared: there one key stands, and their bounds are
        of all queries.
        For `nearest` it is −cost·(h − t + c)² up to what all keys share, with 0 < c < 1/2. Whole numbers a, b with |a| < |b| have
        |a + c| < |b + c|, as 2c < 1 ≤ |b| − |a|, and of −a and a ≥ 1 the first is nearer to −c.
        """
        kind = self.definition.atoms[j][0]
        found = [(c, line) for c in matching if (line := line_of(c)) is not None]
        if not found:
            places = [(c, c.joint.bounds(c.place)) for c in matching]
            rise = {"last": 1, "first": -1}.get(kind, 0)
            pairs = [(c, d) for c, (low, _) in places for d, (other, _) in places if low < other]
            leads = [d.lower - c.upper if rise > 0 else c.lower - d.upper for c, d in pairs]
            if rise and all(low == high for _, (low, high) in places) and all(lead > 0 for lead in leads):
                return
            reject(f"{self.where}: scores are not seen to be a function of the position, for ghost {j}")
        _, (function, square) = found[0]
        if not all(c.joint.same(c.exact, c.say(substitute(function, {LINE: c.place}))) for c in matching):
            reject(f"{self.where}: scores are not one function of the position, for ghost {j}")
        if square is None:
            slope = function[LINE,]
            is_ordered = {"last": slope > 0, "first": slope < 0}.get(kind, False)
        elif kind == "nearest":
            shift = combine([(square.form, square.form[LINE,])])
            target = self.definition.operands[j][-1]
            is_ordered = True
            for c in matching:
                off = c.joint.fixed(plus(c.say(plus(shift, atom(LINE), -1)), c.joint.register(GHOST + target)))
                is_ordered = is_ordered and not names_of(off) and 0 < off.get((), 0) < Fraction(1, 2)
        else:
            shift = combine([(square.form, square.form[LINE,])])
            spans = [c.joint.bounds(c.joint.fixed(c.say(substitute(shift, {LINE: c.place})))) for c in matching]
            is_ordered = {
                "last": all(high <= 0 for _, high in spans),
                "first": all(low >= 0 for low, _ in spans),
            }.get(kind, False)
        if not is_ordered:
            reject(f"{self.where}: the key of largest score is not the {kind} that matches, for ghost {j}")

    def count(self, state: State, candidates: Sequence[Candidate], j: int, slot: int) -> Polynomial:
        """Returns how many keys of 2 … k match, in a state in which `slot` is the exact mean of 1 at position 1.

        Let position 1 have the largest score: then this mean is 1/m, and m is how many keys have it; k, if all have it. If all
        others that have it match, and all that match have it, m − 1 is the count. Or let a ghost, the mark, be 1 at each key that
        matches and 0 at each other one. If all that match have the largest score, its mean is the count divided by m.
        """
        matching, others, first = self.divided(candidates, j)
        if any(not c.joint.is_integer(c.exact) for c in candidates):
            reject(f"{self.where}: a score is not alike in both machines")
        top = max(c.upper for c in (*matching, *others, *first))
        if not first or any(not c.lower == c.upper == top for c in (*matching, *first)):
            reject(f"{self.where}: a key that matches, or position 1, may not have the largest score, for ghost {j}")
        mean, mark = state.register(slot), self.checker.marks[j]
        if all(c.lower == c.upper == top for c in others):
            many = atom(POSITION)
        elif name := state.only_share(mean):
            many = state.index_of(name)
        elif mean == ONE:
            many = ONE
        else:
            reject(f"{self.where}: how many keys have the largest score is not known, for ghost {j}")
        if mark is None:
            if any(c.upper >= top for c in others):
                reject(f"{self.where}: a key that does not match may have the largest score, for ghost {j}")
            return plus(many, ONE, -1)
        for some, due in ((matching, ONE), (others, {}), (first, {})):
            if not all(c.joint.same(c.joint.register(KEYS - mark), due) for c in some):
                reject(f"{self.where}: ghost {mark} does not mark the keys that match, for ghost {j}")
        value = state.register(slot - 1)
        if not value or many == ONE:
            return value
        ((monomial, c),) = value.items() if len(value) == 1 else [((), 0)]
        shares = [a for a in monomial if not state.is_integer(atom(a))]
        if (
            len(shares) != 1
            or not isinstance(state.box[shares[0]], Share)
            or not state.same(state.index_of(shares[0]), many)
        ):
            reject(f"{self.where}: the mean of marks is not known, for ghost {j}")
        return {tuple(a for a in monomial if a not in shares): c}


def split(state: State, guide: Any, judge: Callable[[State], T]) -> list[T]:
    """Returns what `judge` says of the parts of a state, which is split until it says something of each."""
    done, todo = [], [state]
    while todo:
        part = todo.pop()
        try:
            done.append(judge(part))
        except Open as open_:
            todo += cut(part, open_.polynomial, guide)
    return done


def cut(state: State, polynomial: Polynomial, guide: Any) -> list[State]:
    """Returns both parts of a state, split by a form of the certificate."""
    part = guide.split(state, polynomial)
    if part is None:
        reject("a sign decides, and is not known")
    return state.halves(*part)


def is_zero(state: State, polynomial: Polynomial) -> bool:
    """Returns whether a polynomial over whole numbers is 0. Raises Open if it may be, and may be not."""
    polynomial = state.fixed(polynomial)
    if not state.is_integer(polynomial):
        reject("what decides is not alike in both machines")
    if state.same(polynomial, {}):
        return True
    low, high = state.bounds(polynomial)
    if low > 0 or high < 0:
        return False
    raise Open(polynomial)


def check(certificate: bytes, weights: bytes, sidecar: bytes, definition: bytes) -> int:
    """Returns how many classes the certificate has, if it is accepted. Raises Rejected, whatever the bytes are."""

    def judge() -> int:
        document, model = read_files(certificate, weights, sidecar, definition=definition)
        return ProgramChecker(document, model, Definition(read_json(definition))).check()

    return rounding.safely(judge)


def main(arguments: list[str]) -> int:
    """Checks the files of the command; returns the exit status."""

    def judge(certificate: bytes, weights: bytes, *others: bytes) -> int:
        return check(certificate, weights, others[0] if len(others) == 2 else b"{}", others[-1])

    usage = "program.py CERTIFICATE.json WEIGHTS [SIDECAR.json] DEFINITION.json"
    says = "; the p-bit machine's next word is the definition's"
    return rounding.answer_command(arguments, (3, 4), usage, judge, says)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""From a program to weights: which head, unit or recurrence computes which term, in which block, over which registers.

A model alternates attention (or a recurrence) and feed-forward: stage 0 is the embedding, stage 2b − 1 the heads of block b, stage
2b its feed-forward. Each term is computed in the first stage in which all that it is made of is there, so the depth of a model is
that of its program; equal terms are computed once, and all that is read from one place is read by one head. Sums and multiples
cost nothing: a term is a form over the registers of its atoms. What costs something:

  comparisons, products, squares   a gadget in a feed-forward (Lemmas C.1, C.3, C.5); the last comparison on the way to a word is
                                   made where the word is said, if the model has a block less then
  back, at                         a head by position (C.13); back in a recurrence is a shift register (C.20)
  first, last, nearest             a head by keys (C.15, C.16, C.17); of two as near to w the first is nearer to w − 1/4
  count                            a head of which the positions that match and position 1 tie (C.14): it has 1/(1 + count)
  running sum                      a linear recurrence (C.21)
  alternating, or of every m-th    a linear recurrence whose matrix is a cyclic permutation, with one −1 for alternating sums

Counts. Where x = ROUND(1/(1 + m)) is all that is known of a count m, m > r is (r + 1)·x < 1, and m > m' is x < x', both with a
margin: a product (r + 1)·x lies at least 1/(1 + L) below 1 or no rounding error above it, L the length; and two different shares
lie 1/(L·(L + 1)) apart. A count that does not depend on the query, and a running sum in a Transformer, is known as a mean over all
positions, by a head with equal scores: sums of these are compared with 0, from which a mean of integers is 1/L away.

A count is said by logits that are exact, as x times an integer is a number of the format. With w = j + 1 number j has
2·w − x·w². For x = 1/(1 + m) that is (1 + m) − (w − 1 − m)²/(1 + m), so it is largest at j = m. From j to j + 1 it changes by
2 − x·(2·w + 1), then an odd number over 1 + m. A rounded x makes it rise and fall at the same j, if (1 + m)·(2·m + 3)·2^−q < 2.

Nothing here is trusted: what the weights compute is read off them again and compared with the program.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from constructions.language.bounds import Bound, Bounds
from constructions.language.digits import are_below, least_exponent, rounded_up
from constructions.language.interpreter import Input
from constructions.language.program import NotCompiled, Pin, Program
from constructions.language.terms import (
    ONE,
    ZERO,
    Above,
    Answer,
    Anything,
    Atom,
    Back,
    Best,
    Closest,
    Comb,
    Count,
    Equal,
    If,
    IsNumber,
    IsWord,
    Matching,
    Named,
    Nearest,
    NumberOf,
    Pick,
    Position,
    Positive,
    Read,
    Say,
    SayNumber,
    Selection,
    Sum,
    Term,
    as_term,
    is_integer,
)
from constructions.language.values import START
from constructions.language.weights import FIRST, IS_NUMBER, NUMBER, ONE_REGISTER, POSITION, Weights
from constructions.parts.heads.copy import before
from constructions.parts.heads.match import Pair, equality_needs, sides
from constructions.parts.heads.match_nearest import match_nearest
from constructions.parts.heads.tight import equality, match_end, nearest, single
from constructions.parts.recurrences.recent import recent
from constructions.parts.recurrences.running_sum import running_sum
from constructions.wiring.affine import Affine, Number, as_affine, reg, total
from constructions.wiring.lookup import Lookup
from constructions.wiring.part import Setting, split_scale
from constructions.wiring.plan import BlockPlan, Component, Gadget, Head, LinearUnit, Unit, constant
from constructions.wiring.register import copied, kept, register, squared
from precision.format import Discipline, fixed_point

START_OF_TEXT = 2  # the position behind `<s>`
IDLE = Fraction(1, 2)  # of a word that is said where no answer is due: no logit ties with it
Corners: TypeAlias = "tuple[tuple[int, int], ...]"
"""Units on a number x, Σ weight·max(0, x + corner), as pairs of corner and weight."""
HAT: Corners = ((1, 1), (0, -2), (-1, 1))  # 1 at 0, and 0 from 1 away
STEP: Corners = ((0, 1), (-1, -1))  # 0 up to 0, 1 from 1 on
PAST: Corners = ((-1, 1), (-2, -1))  # 0 up to 1, 1 from 2 on
RISING: Corners = ((2, 1), (1, -1))  # 0 up to −2, 1 from −1 on
FALLING: Corners = ((2, -1), (1, 1))  # added to 1: 1 up to −2, 0 from −1 on
PLATEAU: Corners = ((2, 1), (1, -1), (-1, -1), (-2, 1))  # 1 from −1 to 1, and 0 from 2 away
Formed: TypeAlias = "tuple[Affine, int]"
"""A form, and the stage behind which its registers are filled."""
MakesHead: TypeAlias = "Callable[[Setting, Mapping[str, Affine]], Head]"


@dataclass
class _HeadDraft:
    """A head whose values are still collected. reads: register → form. scale: a lead that is pinned, 0 for none.

    doubled: whether the factor of its preference is twice the lead, as two of its preferences may be half of that apart.
    target: the position that is asked for, if no keys are compared. pairs: keys and queries, if the nearest is not preferred.
    """

    make: MakesHead
    reads: dict[str, Affine] = field(default_factory=dict)
    scale: int = 0
    doubled: bool = False
    target: Term | None = None
    pairs: Sequence[tuple[Term, Term]] = ()

    def made(self, setting: Setting) -> Head:
        """The head."""
        return self.make(self.setting(setting), self.reads)

    def setting(self, setting: Setting) -> Setting:
        """With the scale that it is pinned to, or that it needs."""
        scale = self.scale or (2 * setting.gap if self.doubled else 0)
        return replace(setting, scale=scale) if scale else setting


@dataclass(frozen=True)
class _Ramps:
    """A bit: constant + Σ weight·max(0, gate) over pairs of gate and weight.

    ready: the stage behind which the gates are there. steep: whether their slope grows with the length.
    """

    name: str
    ramps: tuple[tuple[Affine, int], ...]
    ready: int
    constant: int = 0
    source: str = "Lemma C.5"
    steep: bool = False

    @property
    def negated(self) -> _Ramps:
        """The other bit."""
        ramps = tuple((gate, -weight) for gate, weight in self.ramps)
        return replace(self, ramps=ramps, constant=1 - self.constant)


@dataclass(frozen=True)
class _Rule:
    """What is said where all conditions hold. late: those that are comparisons. ready: the stage behind which all else is there."""

    conditions: tuple[Term, ...]
    leaf: Say | SayNumber
    late: Mapping[Term, _Ramps]
    ready: int

    @property
    def last(self) -> Term | None:
        """The comparison of what is there last. Beside other conditions a steep one takes more digits."""
        late = [bit for bit, told in self.late.items() if not told.steep or len(self.conditions) == 1]
        return max(late, key=lambda bit: self.late[bit].ready, default=None)

    def block(self, last: Term | None = None) -> int:
        """The first block whose feed-forward can say it. last: a comparison that is made there, and not before."""
        stages = (told.ready if bit == last else 2 * _fed_behind(told.ready) for bit, told in self.late.items())
        return _fed_behind(max(self.ready, *stages, 0))


@dataclass
class _BlockDraft:
    """What a block computes. recent: register → the form that a shift register keeps, and how far back."""

    heads: dict[Atom, _HeadDraft] = field(default_factory=dict)
    gadgets: list[Gadget] = field(default_factory=list)
    sums: list[LinearUnit] = field(default_factory=list)
    recent: dict[str, tuple[Affine, int]] = field(default_factory=dict)

    @property
    def recurs(self) -> bool:
        return bool(self.sums or self.recent)


class Compiler(Weights):
    """One program for one n, which may be a symbol. Raises NotCompiled for what the architecture cannot do, with the reason.

    leading: whether numbers are bounded as for n rounded up to its first digits, as p is derived.
    """

    def __init__(self, program: Program, n: Bound, *, leading: bool = False) -> None:
        super().__init__(program, n)
        # For comparisons: those with n itself.
        self.tight = Bounds(self.numbers, self.length, self.texts.last(n))
        self.leading, size = leading, rounded_up(n) if leading else n
        largest = max((piece.largest(size) for piece in self.texts.pieces if piece.numbers), default=0)
        self.bounds = Bounds((self.numbers[0], largest), self.texts.length(size), self.texts.last(size))
        self.blocks: dict[int, _BlockDraft] = {}
        self.formed: dict[Atom, Formed] = {}
        self.compared: dict[Atom, Formed | _Ramps] = {}
        self.products: dict[tuple[Atom, ...], Formed] = {}
        self.meanings: dict[str, Term] = {}
        self.largest: dict[str, Bound] = {
            ONE_REGISTER: 1,
            FIRST: 1,
            IS_NUMBER: 1,
            NUMBER: self.bounds.numbers[1],
            POSITION: self.bounds.length,
        }
        self.largest |= {squared(NUMBER): self.bounds.numbers[1] ** 2, **dict.fromkeys(self.words, 1)}
        self.positive = {*self.largest}  # registers that are nowhere below 0
        self.needs: dict[str, Bound] = {}  # what comparisons of counts, and counts that are said, need
        self.outside: dict[Term, Formed] = {}
        self.pins = dict(map(_pinned, program.pins))
        self.pinned: set[Atom] = set()  # of these, what stands somewhere
        self.output = self._output(self.answer)
        if len(self.pinned) < len(self.pins):
            raise NotCompiled("a value is pinned for which nothing of its own is wired")
        early = next((number for number in sorted(self.blocks)[:-1] if self.blocks[number].heads), 0)
        if early and program.architecture == "hybrid":
            raise NotCompiled(
                f"a hybrid has its heads in the last block: this program reads in block {early} of {self.depth}"
            )

    # Terms

    def form(self, term: Term) -> Formed:
        """A term as a form of registers, and the stage behind which they are filled."""
        form, ready = Affine(), 0
        for monomial, c in term.items:
            part, stage = self.product(monomial) if monomial else (as_affine(1), 0)
            form, ready = form + part * c, max(ready, stage)
        return form, ready

    def product(self, atoms: tuple[Atom, ...]) -> Formed:
        """A product of atoms."""
        atoms = tuple(a for i, a in enumerate(atoms) if not (a in atoms[:i] and self.is_condition(a)))
        if len(atoms) == 1:
            return self.atom(atoms[0])
        if atoms not in self.products:
            self.products[atoms] = self._product(atoms)
        return self.products[atoms]

    def _product(self, atoms: tuple[Atom, ...]) -> Formed:
        if len(atoms) == 2 and atoms[0] == atoms[1]:
            return self._square(atoms[0])
        bits = [a for a in atoms if self.is_condition(a)]
        rest = [a for a in atoms if a not in bits]
        if len(rest) > 1:  # one of them times the others, and then the bits
            (x, at_x), (y, at_y) = self.atom(rest[0]), self.product(tuple(rest[1:]))
            low, high = self.bounds.atom(rest[0])
            name = self._register(as_term(rest[0]) * Term((((*rest[1:],), Fraction(1)),)), "product")
            units = [Unit(x, y, {name: 1})] if high > 0 else []
            units += [Unit(-x, -y, {name: 1})] if low < 0 else []
            made = (
                reg(name),
                self._feed(max(at_x, at_y), Gadget(f"({shown(x)})·({shown(y)})", tuple(units), {}, "Lemma C.1")),
            )
            if not bits:
                return made
        else:
            made = self.atom(rest[0]) if rest else (as_affine(1), 0)
        formed = [self.atom(bit) for bit in bits]
        gate = total(form for form, _ in formed) - (len(bits) - 1)
        term = Term(((atoms, Fraction(1)),))
        name = self._register(term, "both" if not rest else "kept")
        gadget = Gadget(f"{name}: a product of {len(atoms)}", (Unit(gate, made[0], {name: 1}),), {}, "Lemma C.1")
        return reg(name), self._feed(max(made[1], *(ready for _, ready in formed)), gadget)

    def _square(self, atom: Atom) -> Formed:
        match atom:
            case NumberOf():
                return reg(squared(NUMBER)), 0
            case Named(_, of):
                return self.form(of * of)
            case Read(value, where) if self._has_before(value * value, self.atom(atom)[1]):
                return self.atom(
                    Read(value * value, where)
                )  # by the same head, so that a certificate knows what it is of
        form, ready = self.atom(atom)
        low, high = self.bounds.atom(atom)
        if form == Affine() or (low >= 0 and high <= 0):  # no unit would write its square
            return Affine(), 0
        plain = _plain(form)
        name = squared(plain) if plain else self._register(as_term(atom) * as_term(atom), "square")
        self.meanings[name], self.largest[name] = as_term(atom) * as_term(atom), max(low * low, high * high)
        units = [Unit(form, form, {name: 1})] if high > 0 else []
        units += [Unit(-form, -form, {name: 1})] if low < 0 else []
        return reg(name), self._feed(ready, Gadget(f"({shown(form)})²", tuple(units), {}, "Lemma C.1"))

    def _has_before(self, term: Term, stage: int) -> bool:
        """Whether all products that a term is made of are there before this stage, and need no units more."""
        return all(map(self._is_there, (m for m, _ in term.items))) and self.form(term)[1] < stage

    def _is_there(self, atoms: tuple[Atom, ...]) -> bool:
        """Whether this product is computed already, or read from where it is."""
        atoms = tuple(a for i, a in enumerate(atoms) if not (a in atoms[:i] and self.is_condition(a)))
        match atoms:
            case () | (NumberOf(), NumberOf()):
                return True
            case (Read(value, _) as one, other) if one == other:
                return self._has_before(value * value, self.atom(one)[1])
        return atoms in self.products or (len(atoms) == 1 and atoms[0] in self.formed)

    def atom(self, atom: Atom) -> Formed:
        """The form of an atom."""
        if atom not in self.formed:
            self.formed[atom] = self._atom(atom)
        return self.formed[atom]

    def _atom(self, atom: Atom) -> Formed:
        match atom:
            case NumberOf(""):
                return reg(NUMBER), 0
            case IsNumber(""):
                return reg(IS_NUMBER), 0
            case IsWord(text):
                if text not in self.words:
                    raise NotCompiled(f"the program asks for {text!r}, which is no word of its texts")
                return reg(text), 0
            case Position():
                return reg(POSITION), 0
            case Named(_, of):
                return self.form(of)
            case Equal() | Above():
                told = self.told(atom)
                return self._bit(atom, told) if isinstance(told, _Ramps) else told
            case Positive(of):
                self._require_whole(of, "positive")
                if self.tight.term(of)[1] <= 0:  # no unit would write its square
                    return Affine(), 0
                form, ready = self.form(of)
                name = self._register(as_term(atom), "positive")
                return reg(name), self._feed(
                    ready, Gadget(f"max(0, {shown(form)})", (Unit(form, as_affine(1), {name: 1}),)), atom
                )
            case Sum(of):
                return self._sum(atom, of)
            case Comb():
                return self._comb(atom)
            case Read(value, where):
                return self._read(atom, value, where)
            case Count(where) if (target := asked_position(where)) is not None:
                return self.form(as_term(Above(target - 1)) * (ONE - as_term(Above(target - as_term(Position())))))
            case Count():
                if not self.attends and (summand := self._summed(atom)) is not None:
                    return self.atom(Sum(summand))
                raise NotCompiled(
                    "a count m is known as 1/(1 + m) only: say it, or compare it with a number or with another count, "
                    "alone on its side"
                )
        raise NotCompiled(f"the compiler has no rule for {type(atom).__name__}")

    @property
    def attends(self) -> bool:
        """Whether sums over all positions are means, as a head has them; else a recurrence has them as they are."""
        return self.program.architecture == "transformer"

    def counts_in(self, term: Term) -> bool:
        """Whether one of its atoms is a count that is known as a share only, or another name for one."""
        return any(
            (
                isinstance(atom, Count)
                and (self.attends or self._summed(atom) is None)
                and asked_position(atom.where) is None
            )
            or (isinstance(atom, Named) and self.counts_in(atom.of))
            for monomial, _ in term.items
            for atom in monomial
        )

    def sums_in(self, term: Term) -> bool:
        """Whether one of its atoms is a running sum, or another name for one."""
        return any(
            isinstance(atom, Sum)
            or (isinstance(atom, Count) and asked_position(atom.where) is None)
            or (isinstance(atom, Named) and self.sums_in(atom.of))
            for monomial, _ in term.items
            for atom in monomial
        )

    def is_whole(self, term: Term) -> bool:
        """Whether its value is an integer that a register can hold."""
        return all(is_integer(c) for _, c in term.items) and not self.counts_in(term)

    def is_bit(self, term: Term) -> bool:
        """Whether it is seen to be 0 or 1."""
        if not self.is_whole(term):
            return False
        low, high = self.bounds.term(term)
        return bool(low >= 0 and high <= 1)

    def is_condition(self, atom: Atom) -> bool:
        """Whether it is 0 or 1 by what it is; a number of which no other ones stand in the texts does not count."""
        match atom:
            case IsWord() | IsNumber() | Equal() | Above():
                return True
            case Comb():
                return self.is_bit(as_term(atom))
            case Named(_, of) | Read(of, _):
                return self.is_flag(of)
        return False

    def is_flag(self, term: Term) -> bool:
        """Whether it is 0 or 1, and made of conditions alone."""
        return self.is_bit(term) and all(self.is_condition(a) for monomial, _ in term.items for a in monomial)

    def _require_whole(self, term: Term, what: str) -> None:
        if self.counts_in(term):
            self.atom(Count(Matching(())))  # raises, with what can be done
        if not self.is_whole(term):
            raise NotCompiled(f"{what} is for integers")

    # Comparisons

    def told(self, atom: Equal | Above) -> Formed | _Ramps:
        """What a comparison is: a form, if it is one, else units on what is compared."""
        if atom not in self.compared:
            of = atom.of
            self.compared[atom] = self._equal(of, atom.value) if isinstance(atom, Equal) else self._above(of)
        return self.compared[atom]

    def _bit(self, atom: Equal | Above, told: _Ramps) -> Formed:
        """A register that those units fill."""
        name = self._register(as_term(atom), "is" if isinstance(atom, Equal) else "above")
        self.largest[name] = 1
        units = tuple(Unit(gate, as_affine(1), {name: weight}) for gate, weight in told.ramps)
        constants = {name: told.constant} if told.constant else {}
        return reg(name), self._feed(told.ready, Gadget(told.name, units, constants, told.source), atom)

    def _equal(self, of: Term, value: Fraction) -> Formed | _Ramps:
        if self.counts_in(of) or (self.attends and self.sums_in(of)):
            return self._compared_counts(of - value, equal=True)
        self._require_whole(of, "==")
        if not is_integer(value):
            return Affine(), 0
        form, ready = self.form(of)
        low, high = self.bounds.term(of)
        if self.is_flag(of) and value in (0, 1):
            return (form, ready) if value else (as_affine(1) - form, ready)
        if low > value or high < value:
            return Affine(), 0
        x = form - value
        ramps = tuple((x + corner, weight) for corner, weight in HAT)
        if low >= value and not self.sums_in(of):
            ramps = ((1 - x, 1),)
        elif high <= value and not self.sums_in(of):
            ramps = ((x + 1, 1),)
        return _Ramps(f"1[{shown(form)} = {value}]", ramps, ready, source="Lemma C.3")

    def _above(self, of: Term) -> Formed | _Ramps:
        if self.counts_in(of) or (self.attends and self.sums_in(of)):
            shares = [m for m, c in of.items if self.counts_in(Term(((m, Fraction(1)),)))]
            if of.constant == 1 and len(shares) == 2 and self._summand(of) is None:  # m + 1 > m': not m' > m
                form, ready = self.atom(Above((of - 1) * -1))
                return as_affine(1) - form, ready
            return self._compared_counts(of, equal=False)
        self._require_whole(of, "a comparison")
        form, ready = self.form(of)
        low, high = self.tight.term(of)
        if high <= 0 or low > 0:
            return as_affine(int(low > 0)), 0
        if self.is_flag(of):
            return form, ready
        ramps = tuple((form + corner, weight) for corner, weight in STEP[: 2 - (high <= 1)])
        return _Ramps(f"1[{shown(form)} > 0]", ramps, ready)

    def _compared_counts(self, of: Term, *, equal: bool) -> _Ramps:
        """Whether a sum of counts and numbers is 0, or above 0."""
        sign, bits = "=" if equal else ">", self.length.bit_length()
        if (summand := self._summand(of)) is not None:  # the mean is 0, or 2^−bits away: 1/L, rounded, is not less
            mean, ready = self._mean(summand)
            slope, units = 1 << bits + 1, PLATEAU if equal else PAST
            x, name = mean, f"1[{mean} {sign} 0]"
        else:
            x, ready, slope, units = self._compared_shares(of, bits, equal=equal)
            name = f"1[{shown(x)} {sign} 0]"
        part = Fraction(1, 4)  # of each gate, and 4 times the weight: so gates take two bits less
        ramps = tuple(((slope * x + corner) * part, 4 * weight) for corner, weight in units)
        return _Ramps(name, ramps, ready, constant=int(units is FALLING), steep=True)

    def _compared_shares(self, of: Term, bits: Bound, *, equal: bool) -> tuple[Affine, int, Bound, Corners]:
        """A form that is 0 or above 0 where `of` is, the stage behind which it is there, a slope, and corners that tell."""
        counts = [(m, c) for m, c in of.items if self.counts_in(Term(((m, Fraction(1)),)))]
        rest = of - Term(tuple(counts))
        alone = all(abs(c) == 1 and len(m) == 1 for m, c in counts)
        signs = sorted(((c, m) for m, c in counts), key=lambda sign: sign[0]) if alone else []
        if [c for c, _ in signs] == [-1, 1] and rest == ZERO:
            (less, at_less), (more, at_more) = (self._share(m[0]) for _, m in signs)
            # The shares differ by more than 2/slope, or not at all; each is rounded by half a step, and slope steps are 1/2.
            self.needs[f"the shares {shown(less)} and {shown(more)}, compared"] = (2 << 2 * bits) - 1
            return less - more, max(at_less, at_more), 1 << 2 * bits + 1, HAT if equal else STEP
        if len(signs) != 1 or not self.is_whole(rest):
            raise NotCompiled(
                "a count is compared with a whole number, or with one other count, and nothing is added to them"
            )
        ((sign, m),) = signs
        # m > r: (r + 1)·x < 1, rest = −r. m < r: r·x ≥ 1, rest = r.
        factor = ONE - rest if sign == 1 else rest if not equal else rest + 1
        product = self._register(None, "times_share")
        self.largest[product] = max(1, self.bounds.term(factor)[1])
        self.positive.add(product)
        ready = self._feed(*self._times_share(factor, m[0], {product: 1}))
        # f·x is 1, or 1/L from it; f times the share's half a step is at most 1/slope. Where f is above 1 + m, f·x is past 1 by so
        # much that it is enough for f = 1 + m.
        most = _smaller(self.largest[product], _smaller(self.bounds.atom(m[0])[1] + 1, self.bounds.length))
        self.needs[f"{product}, beside 1"] = (2 << bits) * most - 1
        reached = reg(product) - 1
        corners = PLATEAU if equal else FALLING if sign == 1 else RISING
        return reached, ready, 1 << bits + 2, corners

    def _times_share(
        self, factor: Term, count: Atom, into: Mapping[str, int], constants: Mapping[str, Number] = {}
    ) -> tuple[int, Gadget]:
        """A number times 1/(1 + count), and the stage behind which both are there."""
        (share, at_share), (form, at_factor) = self._share(count), self.form(factor)
        gadget = Gadget(f"({shown(form)})·{shown(share)}", (Unit(form, share, into),), constants)
        return max(at_share, at_factor), gadget

    def _summand(self, of: Term) -> Term | None:
        """What adds up to `of` over all positions: of running sums, counts of what does not depend on the query, and a number."""
        summand = ZERO
        for monomial, c in of.items:
            if not monomial:
                part: Term | None = as_term(IsWord(START))
            elif len(monomial) > 1:
                return None
            else:
                part = self._summed(monomial[0])
            if part is None:
                return None
            summand = summand + part * c
        return summand

    def _summed(self, atom: Atom) -> Term | None:
        match atom:
            case Sum(of):
                return of
            case Position():
                return ONE
            case Named(_, of):
                return self._summand(of)
            case Count(where) if all(query.is_constant for _, query in where.pairs):
                summand = ONE
                for key, query in where.pairs:
                    plain = self.is_flag(key) and query == ONE
                    summand = summand * (
                        key if plain else as_term(Equal(key - key.constant, query.constant - key.constant))
                    )
                at_start = Input(((START, 0),)).value(summand, 1)
                return summand - as_term(IsWord(START)) * at_start
        return None

    def _mean(self, summand: Term) -> Formed:
        """The mean of an integer over the positions up to this one, by a head whose scores are all 0."""
        self._require_whole(summand, "a running sum")
        form, at_value = self.form(summand)
        block = self._attention(at_value)
        where = Best((), "all")

        def make(setting: Setting, reads: Mapping[str, Affine]) -> Head:
            components = (Component(reg(ONE_REGISTER), Affine()),)
            return Head("mean of all", components, reads, "uniform attention", lookup=Lookup())

        head = self.blocks[block].heads.setdefault(where, _HeadDraft(make))
        name = self._register(None, "mean")
        head.reads[name] = _linear(form)
        self.meanings[name] = summand  # the mean of it
        self.largest[name] = self.bounds.largest(summand) * Fraction(17, 16)  # the share of a position is rounded
        return reg(name), 2 * block - 1

    def _share(self, atom: Atom) -> Formed:
        """1/(1 + count)."""
        if isinstance(atom, Named):
            ((monomial, c),) = atom.of.items if len(atom.of.items) == 1 else (((), Fraction(0)),)
            if c != 1 or len(monomial) != 1:
                raise NotCompiled(f"{atom.name} is more than one count: compare counts alone")
            return self._share(monomial[0])
        if not isinstance(atom, Count):
            raise NotCompiled("a count is compared alone, not times another value")
        if atom not in self.formed:
            pairs, ready = self._pairs(atom.where)

            def make(setting: Setting, reads: Mapping[str, Affine]) -> Head:
                return Head(
                    f"share of {name}",
                    equality(pairs, split_scale(2 * setting.gap)),
                    reads,
                    "Lemma C.14",
                    equality_needs(pairs),
                    Lookup(sides(pairs), setting.gap),
                )

            name = self._register(as_term(atom), "share")
            self.largest[name] = 1
            self.positive.add(name)
            block = self._attention(ready, atom)
            self.blocks[block].heads[atom] = _HeadDraft(
                make, {name: reg(FIRST)}, self._scale(atom), pairs=self._moved(atom.where)
            )
            self.formed[atom] = reg(name), 2 * block - 1
        return self.formed[atom]

    # Other positions

    def _sum(self, atom: Atom, of: Term) -> Formed:
        if self.attends:
            raise NotCompiled(
                "a Transformer has a running sum as a mean: compare it with a number, or take the architecture rnn or hybrid"
            )
        self._require_whole(of, "a running sum")
        form, ready = self.form(of)
        name = self._register(as_term(atom), "sum")
        block = self._recurrence(ready)
        self.blocks[block].sums.append(running_sum(f"sum of {shown(form)}", _linear(form), name))
        return reg(name), 2 * block - 1

    def _comb(self, atom: Comb) -> Formed:
        """A cycle of registers: the sum, and what it was one position before, two, … up to `steps` − 1."""
        if self.attends:
            raise NotCompiled(
                "a Transformer has no recurrence: alternating sums, and sums of every so many positions, need the architecture "
                "rnn or hybrid"
            )
        self._require_whole(atom.of, "a running sum")
        form, ready = self.form(atom.of)
        block = self._recurrence(ready)
        before: list[Atom] = [Read(as_term(atom), Back(i)) for i in range(1, atom.steps)]
        name, *others = names = [self._register(as_term(a), "sum") for a in (atom, *before)]
        self.formed |= {a: (reg(other), 2 * block - 1) for a, other in zip(before, others, strict=True)}
        rows = {name: (reg(names[-1]) * atom.sign, _linear(form))}
        rows |= {late: (reg(early), Affine()) for early, late in itertools.pairwise(names)}
        self.blocks[block].sums.append(LinearUnit(f"{name}: a cycle of {atom.steps}, sign {atom.sign}", rows))
        return reg(name), 2 * block - 1

    def _read(self, atom: Atom, value: Term, where: Selection) -> Formed:
        self._require_whole(value, "what is read")
        if isinstance(where, Back):
            return self._back(atom, value, where.steps)
        if isinstance(where, Pick | Closest) and (target := asked_position(where.matching)) is not None:
            # The position that is asked for, from 2 to k, and 1 for any other one.
            first = Fraction(Input(((START, 0),)).value(value, 1))
            here = ONE - as_term(Above(target - as_term(Position())))
            return self.form(as_term(Read(value - first, Nearest(target))) * here + first)
        draft, ready = self._head(where)
        return self._attended(atom, value, where, draft, ready)

    def _attended(self, atom: Atom, value: Term, where: Selection, draft: _HeadDraft, ready: int) -> Formed:
        form, at_value = self.form(value)
        block = self._attention(max(ready, at_value), where)
        draft.scale = self._scale(where)
        head = self.blocks[block].heads.setdefault(where, draft)
        name = self._read_register(atom, form, where)
        head.reads[name] = _linear(form)
        self.largest[name] = self.bounds.largest(as_term(atom))
        return reg(name), 2 * block - 1

    def _read_register(self, atom: Atom, form: Affine, where: Selection) -> str:
        if isinstance(where, Back) and (plain := _plain(form)):
            name = copied(plain, where.steps)
            if name not in self.largest:  # as the copy of a copy is, if it is read directly as well
                self.meanings[name] = as_term(atom)
                return name
        return self._register(as_term(atom), "read")

    def _back(self, atom: Atom, value: Term, steps: int) -> Formed:
        """What stood there; at position 1 a head reads for all that lies before it, so what `<s>` has is added by itself."""
        match value.items:
            case (((Read(there, Back(more)),), c),):  # of the same position, read at once
                form, ready = self.atom(Read(there, Back(steps + more)))
                return form * c, ready
            case (((Comb() as comb,), c),) if steps < comb.steps:  # its cycle keeps it
                self.atom(comb)
                form, ready = self.formed[Read(as_term(comb), Back(steps))]
                return form * c, ready
        at_start = Fraction(Input(((START, 0),)).value(value, 1))
        if at_start:
            shifted = value - as_term(IsWord(START)) * at_start
            (x, at_x), (y, at_y) = (
                self.atom(Read(shifted, Back(steps))),
                self.atom(Equal(as_term(Position()), Fraction(steps + 1))),
            )
            return x + y * at_start, max(at_x, at_y)
        if not self.attends:
            form, ready = self.form(value)
            if form == Affine():  # a shift register of nothing would be fed by nothing
                return form, 0
            block = self._recurrence(ready)
            plain = _plain(form)
            own = (
                plain is not None and register(plain).past is None
            )  # a shift register has no name for what it keeps of another
            base = plain if plain is not None and own else self._register(value, "past")
            kept_form, depth = self.blocks[block].recent.get(base, (form, 0))
            self.blocks[block].recent[base] = (kept_form, max(depth, steps))
            for i in range(steps + 1):
                self.largest[kept(base, i)] = self.bounds.largest(value)
            return reg(kept(base, steps)), 2 * block - 1
        k, k_squared = before(steps)
        draft = _HeadDraft(
            lambda s, reads: nearest(f"@{steps}", k, k_squared, reads, s.gap), target=as_term(Position()) - steps
        )
        return self._attended(atom, value, Back(steps), draft, self._places())

    def _places(self) -> int:
        """Behind which stage the squares of positions are there."""
        return self.product((Position(), Position()))[1]

    def _outside(self, target: Term) -> Formed:
        """The square of how far a position that is asked for lies outside of 1 … k, where that may be more than 1."""
        if target not in self.outside:
            outside, ready = Affine(), 0
            for distance in (target - as_term(Position()), ONE - target):
                if self.tight.term(distance)[1] > 1:
                    form, at_form = self.form(distance)
                    name = self._register(as_term(Positive(distance)) * as_term(Positive(distance)), "outside")
                    gadget = Gadget(f"max(0, {shown(form)})²", (Unit(form, form, {name: 1}),), {}, "Lemma C.1")
                    outside, ready = outside + reg(name), max(ready, self._feed(at_form, gadget))
            self.outside[target] = outside, ready
        return self.outside[target]

    def _head(self, where: Selection) -> tuple[_HeadDraft, int]:
        """Drafts a head that reads there; also returns the stage after which all that it compares is there."""
        match where:
            case Nearest(target) if target == as_term(START_OF_TEXT):
                is_start, ready = self.form(as_term(Equal(as_term(Position()), Fraction(START_OF_TEXT))))
                return _HeadDraft(lambda s, reads: single("at the start", _linear(is_start), reads, s.gap)), ready
            case Nearest(target):
                self._require_whole(target, "a position")
                (wanted, at_wanted), (wanted_squared, at_square) = self.form(target), self.form(target * target)
                w, ww = _linear(wanted), _linear(wanted_squared)
                name = f"at {shown(wanted)}"
                outside, at_outside = self._outside(target)
                far = outside if outside.terms else None
                draft = _HeadDraft(lambda s, reads: nearest(name, w, ww, reads, s.gap, far), target=target)
                return draft, max(at_wanted, at_square, at_outside, self._places())
            case Pick(matching, last):
                pairs, ready = self._pairs(matching)
                name = f"{'last' if last else 'first'} where {_compared(pairs)}"
                draft = _HeadDraft(
                    lambda s, reads: match_end(name, pairs, reads, s, last=last), pairs=self._moved(matching)
                )
                # A square of a position, that is read as well, is read by the same head: then a certificate knows what it is of.
                return draft, max(ready, self._places())
            case Closest(matching, target):
                self._require_whole(target, "a position")
                pairs, ready = self._pairs(matching)
                (wanted, at_wanted), (wanted_squared, at_square) = self.form(target), self.form(target * target)
                # Of two as near the first is meant: it is the nearer one to a quarter less.
                w = _linear(wanted - Fraction(1, 4))
                ww = _linear(wanted_squared - wanted * Fraction(1, 2) + Fraction(1, 16))
                name = f"nearest to {shown(wanted)} where {_compared(pairs)}"
                draft = _HeadDraft(lambda s, reads: match_nearest(name, pairs, w, ww, reads, s), doubled=True)
                return draft, max(ready, at_wanted, at_square, self._places())
        raise NotCompiled(f"the compiler has no head for {type(where).__name__}")

    def _moved(self, matching: Matching) -> list[tuple[Term, Term]]:
        """Keys and queries, moved so that `<s>` has the key 0."""
        moved = []
        for key, query in matching.pairs:
            if query.is_constant and (self.counts_in(key) or self.sums_in(key)):
                # A bit: a share is no key, and a sum has more digits.
                key, query = as_term(Equal(key - key.constant, query.constant - key.constant)), ONE
            origin = Fraction(Input(((START, 0),)).value(key, 1))
            moved.append((key - origin, query - origin))
        return moved

    def _pairs(self, matching: Matching) -> tuple[tuple[Pair, ...], int]:
        """Keys and queries with their squares, both moved so that `<s>` has the key 0; and where they are there."""
        pairs, ready = [], 0
        for key, query in self._moved(matching):
            for side in (key, query):
                self._require_whole(side, "a key")
            sides = []
            for term in (key, query):
                for part in (term, term * term):
                    form, stage = self.form(part)
                    sides.append(_linear(form))
                    ready = max(ready, stage)
            pairs.append(Pair(sides[0], sides[2], sides[1], sides[3]))
        return tuple(pairs), ready

    # Places in the model

    def _feed(self, ready: int, gadget: Gadget, of: Atom | None = None) -> int:
        """Puts a gadget into the first feed-forward behind this stage, or where `of` is pinned to; the stage of that."""
        block = self._placed(_fed_behind(ready), of)
        self._draft(block).gadgets.append(gadget)
        return 2 * block

    def _draft(self, block: int) -> _BlockDraft:
        return self.blocks.setdefault(block, _BlockDraft())

    def _attention(self, ready: int, of: Atom | None = None) -> int:
        """The first block behind this stage whose heads can read, or the one that `of` is pinned to; the block."""
        if self.program.architecture == "rnn":
            raise NotCompiled(
                "an RNN has no head: first, last, nearest, at and count need the architecture transformer or hybrid"
            )
        block = (ready + 1) // 2 + 1
        while self._draft(block).recurs:
            block += 1
        block = self._placed(block, of)
        if self._draft(block).recurs:
            raise NotCompiled(f"a head is pinned to block {block}, which has a recurrence")
        return block

    def _placed(self, block: int, of: Atom | None) -> int:
        """The block of a head or of units that can stand in this one, or later: the one that they are pinned to, if any."""
        pin = self.pins.get(of) if of is not None else None
        if of is None or pin is None:
            return block
        self.pinned.add(of)
        if pin.block is not None and pin.block < block:
            raise NotCompiled(
                f"block {pin.block} is too early for what is pinned to it: that can stand in block {block}"
            )
        return pin.block or block

    def _scale(self, of: Atom) -> int:
        """The lead that a head is pinned to, 0 for none."""
        return (self.pins[of].scale or 0) if of in self.pins else 0

    def _recurrence(self, ready: int) -> int:
        """The first block behind this stage that can have a recurrence; the block."""
        block = (ready + 1) // 2 + 1
        while self._draft(block).heads:
            block += 1
        return block

    def _register(self, term: Term | None, kind: str) -> str:
        """A register of its own: what the program calls the term, else its kind with a number."""
        name = self.program.names.get(term) if term is not None else None
        taken = {*self.largest, *self.words}
        if name is None or name in taken:
            base = name or kind
            name = next(f"{base}_{i}" for i in range(1, len(taken) + 2) if f"{base}_{i}" not in taken)
        self.largest[name] = 1 if term is None or self.counts_in(term) else self.bounds.largest(term)
        if term is not None and not self.counts_in(term) and self.bounds.term(term)[0] >= 0:
            self.positive.add(name)
        if term is not None:
            self.meanings[name] = term
        return name

    # What is said

    def _output(self, answer: Answer) -> int:
        """Puts the output into the last feed-forward, and returns the number of its block."""
        signed = self._signed(answer)
        rules = [] if signed else [self._rule(conditions, leaf) for conditions, leaf in self._rules(answer, ())]
        block = max([_fed_behind(signed[0]) if signed else 1, *(rule.block(rule.last) for rule in rules), *self.blocks])
        embedded = self.embedding(1).registers[:-1]
        clear = tuple(Unit(as_affine(1), -reg(name), {name: 1}) for name in embedded)
        gadgets = [Gadget("clear the embedding", clear)]
        if signed:
            gadgets.append(signed[1])
        else:
            constants: dict[str, Number] = {self.words[0]: IDLE}
            if self.has_numbers:
                constants[squared(NUMBER)] = -1
            gadgets.append(constant("−1 for squares, and a word where nothing is due", constants))
        said = [self._said(rule, rule.last if rule.block() > block else None) for rule in rules]
        gadgets += [gadget for gadget in said if gadget.units]
        self._draft(block).gadgets += gadgets
        return block

    def _saying(self, leaf: Say | SayNumber) -> tuple[str, list[tuple[Affine, dict[str, Number]]], int]:
        """What says it: a name, forms and how often each is added to registers, and the stage behind which they are there."""
        one = as_affine(1)
        if isinstance(leaf, Say):
            return f"say {leaf.word}", [(one, {leaf.word: 1})], 0
        if not self.counts_in(leaf.number):
            said, ready = self.form(leaf.number)
            self._require_logits_of(leaf.number, shown(said))
            return f"say the number {shown(said)}", [(said, {NUMBER: 2}), (one, {IS_NUMBER: 1})], ready
        (share, ready), b = self._said_count(leaf.number)
        low, high = self.numbers[0], self.bounds.numbers[1]
        # As x ≤ 1, the least number has 1 − (w − 1)² or more: with (w − 1)² added, it is above all words.
        lift = (low + b - 1) ** 2
        most = self.bounds.length  # of 1 + m, and the steps of a share are fine enough for (1 + m)·(2·m + 3)
        self.needs[f"{shown(share)}, as a number"] = (most * (2 * most + 1) + 1) * Fraction(1, 2) - 1
        self.needs[f"the logit of {shown(share)}"] = (high + abs(b) + 1) ** 2 + lift
        added: list[tuple[Affine, dict[str, Number]]] = [
            (one, {NUMBER: 2, squared(NUMBER): 1, IS_NUMBER: 2 * b + lift}),  # the square's 1 takes its −1 back
            (share, {NUMBER: -2 * b, squared(NUMBER): -1, IS_NUMBER: -b * b}),
        ]
        nonzero = [(up, {name: weight for name, weight in into.items() if weight}) for up, into in added]
        return f"say {shown(reg(f'1/{shown(share)}') - b)}", nonzero, ready

    def _require_logits_of(self, said: Term, name: str) -> None:
        """Notes what the logits of a number need that may lie outside of the texts' numbers: u has 2·u·said − u² + 1."""
        (low, high), largest = self.bounds.term(said), self.bounds.numbers[1]
        if high > largest:
            self.needs[f"the logits of {name}, from above"] = _largest([2 * largest * high - largest**2 + 1, 2 * high])
        if low < 0:
            self.needs[f"the logits of {name}, from below"] = _largest([-2 * largest * low + largest**2 - 1, -2 * low])

    def _said_count(self, said: Term) -> tuple[Formed, Fraction]:
        """1/(1 + m) and b, where 1 + m − b is said, m a count."""
        ((monomial, factor), *others) = (said - said.constant).items
        if others or len(monomial) != 1 or factor != 1 or said.constant.denominator != 1:
            raise NotCompiled("a count is said alone, or with a whole number added to it")
        if isinstance(monomial[0], Named):
            share, b = self._said_count(monomial[0].of)
            return share, b - said.constant
        return self._share(monomial[0]), 1 - said.constant

    def _rules(self, answer: Answer, conditions: tuple[Term, ...]) -> list[tuple[tuple[Term, ...], Say | SayNumber]]:
        match answer:
            case If(bit, then, otherwise):
                if not self.is_bit(bit):
                    raise NotCompiled("choose asks for a comparison, a word, or some of them joined by &, | and ~")
                no = ONE - bit
                if bit in conditions or no in conditions:  # asked again: one of the answers is never due
                    return self._rules(then if bit in conditions else otherwise, conditions)
                return [*self._rules(then, (*conditions, bit)), *self._rules(otherwise, (*conditions, no))]
            case Say() | SayNumber():
                if isinstance(answer, SayNumber):
                    if not self.has_numbers:
                        raise NotCompiled("a number is said, but no number stands in the texts: name them as a piece")
                    if not self.counts_in(answer.number):
                        self._require_whole(answer.number, "a number that is said")
                return [(conditions, answer)]
            case Anything():
                return []
        raise NotCompiled(f"the compiler has no rule for {answer}")

    def _rule(self, conditions: tuple[Term, ...], leaf: Say | SayNumber) -> _Rule:
        """What must be there for this to be said where all conditions hold."""
        late = {bit: told for bit in conditions if (told := self._late(bit)) is not None}
        if isinstance(leaf, SayNumber) and self.counts_in(leaf.number):
            late = {}  # a share times what compares shares would be rounded
        ready = [self.form(bit)[1] for bit in conditions if bit not in late]
        ready.append(self._saying(leaf)[2])
        return _Rule(conditions, leaf, late, max(ready, default=0))

    def _late(self, bit: Term) -> _Ramps | None:
        """A comparison, or that it does not hold; None for what is none, or a form without units."""
        (atom,) = bit.atoms if len(bit.atoms) == 1 else (None,)
        told = self.told(atom) if isinstance(atom, Equal | Above) else None
        if atom is None or not isinstance(told, _Ramps) or atom in self.pins:
            return None
        return {as_term(atom): told, ONE - as_term(atom): told.negated}.get(bit)

    def _said(self, rule: _Rule, last: Term | None) -> Gadget:
        """Says it where all conditions hold. last: the one that no register has; its units are those that say it."""
        forms = [self.form(bit)[0] for bit in rule.conditions if bit != last]
        hold = total(forms) - (len(forms) - 1)
        gates = [(hold, 1)]
        if last is not None:
            told = rule.late[last]
            gates = [(gate + (hold - 1) * self._reach(gate), weight) for gate, weight in told.ramps]
            gates += [(hold, told.constant)] if told.constant else []
        if any(not form.terms and form.constant <= 0 for form in forms):
            gates = []  # never
        name, parts, _ = self._saying(rule.leaf)
        units = (
            Unit(gate, up, {register: weight * times for register, weight in into.items()})
            for gate, times in gates
            for up, into in parts
        )
        return Gadget(name, tuple(units))

    def _signed(self, answer: Answer) -> tuple[int, Gadget] | None:
        """A gadget that says one of two words by a count m and a number r, and behind which stage; else None.

        The one where m > r has the logit 1 − h − (r + 1)/(1 + m), the other one its negative: the output head compares, as no
        feed-forward compares a product that it computes itself.
        """
        match answer:
            case If(bit, Say(more), Say(less)) if more != less:
                above = next((a for a in bit.atoms if bit in (as_term(a), ONE - as_term(a))), None)
            case _:
                return None
        of = above.of if isinstance(above, Above) and above not in self.pins else ZERO
        counts = [(m[0], c) for m, c in of.items if len(m) == 1 and self.counts_in(as_term(m[0]))]
        if [abs(c) for _, c in counts] != [1]:
            return None
        ((count, sign),) = counts
        factor = (of - as_term(count) * sign) * -sign + int(sign > 0)  # m − r > 0; or r − m > 0, which is not m > r − 1
        if not self.is_whole(factor):
            return None
        if (bit.constant == 0) != (sign > 0):
            more, less = less, more
        # The product is at most 1 − 1/L or at least 1, but for L times half a step of the share, which is less than h.
        bits = self.length.bit_length()
        most = _smaller(max(1, self.bounds.term(factor)[1]), self.bounds.length)
        self.needs[f"{shown(self._share(count)[0])}, beside 1"] = (1 << bits) * most
        edge = 1 - Fraction(1) / (2 << bits)
        return self._times_share(factor, count, {more: -1, less: 1}, {more: edge, less: -edge})

    # The model

    @cached_property
    def depth(self) -> int:
        """The number of blocks."""
        return self.output

    def plan(self, setting: Setting) -> tuple[BlockPlan, ...]:
        """The blocks."""
        plans = []
        for number in range(1, self.depth + 1):
            draft = self._draft(number)
            heads = tuple(head.made(setting) for head in draft.heads.values())
            units = [*draft.sums]
            for name, (form, depth) in draft.recent.items():
                units.append(_shifted(name, form, depth))
            plans.append(BlockPlan(heads, tuple(draft.gadgets), tuple(units)))
        return tuple(plans)

    def least_precision(self, discipline: Discipline = Discipline.FUSED) -> int:
        """The least p at which all that the weights must hold, by the rules of each part, fits R_p; or the one that is pinned.

        Raises NotCompiled for a pinned p that is too small.
        """
        if not self.leading and rounded_up(self.n) is not self.n:
            return Compiler(self.program, self.n, leading=True).least_precision(discipline)
        q: Bound = least_exponent(
            self.n, [2, *self.needs.values(), *(value for _, value in self._of_registers(discipline))]
        )
        while True:
            values = [value for _, value in self.requirements(q, discipline)]
            needed = least_exponent(self.n, values)
            if needed > q:
                q = needed  # no q below it can do
            elif are_below(self.n, values, q):
                break
            else:
                q = q + 1
        least: int = 2 * q + 1
        if self.program.precision is None:
            return least
        pinned: int = self.program.precision(self.n)
        if pinned < least:
            raise NotCompiled(f"p = {pinned} is pinned, and these weights need p = {least} ({discipline.value})")
        return pinned

    def binding(self, discipline: Discipline = Discipline.FUSED) -> tuple[str, ...]:
        """What p is due to, of one n: all that does not fit R_(p − 2)."""
        q = max(2, (self.least_precision(discipline) - 1) // 2 - 1)
        found = self.requirements(q, discipline)
        return tuple(dict.fromkeys(what for what, value in found if not are_below(self.n, [value], q)))

    def requirements(self, fraction_bits: int, discipline: Discipline) -> Iterator[tuple[str, Bound]]:
        """What must be less than 2^q, the constants derived for a format of `fraction_bits`; by what it is."""
        setting = self.setting(fixed_point(2 * fraction_bits + 1))
        plan = self.plan(setting)
        yield from self.needs.items()
        yield from self._of_registers(discipline, plan)
        for number, block in enumerate(plan, start=1):
            for head, draft in zip(block.heads, self._draft(number).heads.values(), strict=True):
                for value in self._of_head(head, draft, draft.setting(setting), discipline):
                    yield f"block {number}, {head.name}", value
            for gadget in block.gadgets:
                for value in self._of_units(gadget, discipline):
                    yield f"block {number}, {gadget.name}", value

    def _of_registers(self, discipline: Discipline, plan: Sequence[BlockPlan] = ()) -> Iterator[tuple[str, Bound]]:
        """The largest values of registers and logits, whatever the constants of heads are."""
        positions = [form for block in plan for form in _read_forms(block) if POSITION in form.terms]
        for name, value in self.largest.items():
            if name != POSITION or not all(self._may_saturate(form, discipline) for form in positions):
                yield f"register {name}", value
        if self.has_numbers:  # the logit of number u is 2·v·u − u² + 1
            high = self.bounds.numbers[1]
            yield "the logits of numbers", 2 * high * high if discipline is Discipline.SEQUENTIAL else high * high + 1

    def _of_units(self, gadget: Gadget, discipline: Discipline) -> Iterator[Bound]:
        for unit in gadget.units:
            gate, up = self._reach(unit.gate), self._reach(unit.up)
            if unit.up.terms == {} and self._may_saturate(unit.gate, discipline):
                gate = abs(unit.gate.constant) + 1
            yield from (gate, up, gate * up)
            for form in (unit.gate, unit.up):  # a weight on a register that holds little is the larger number
                yield from (abs(c) for name, c in form.terms.items() if _is_little(self.largest[name]))
            for weight in unit.into.values():
                yield abs(weight)
                if discipline is Discipline.SEQUENTIAL:  # under `fused` what units add to a register is rounded once
                    yield gate * up * abs(weight)

    def _may_saturate(self, form: Affine, discipline: Discipline) -> bool:
        """Whether it is a position less a number. A gate: all that it is asked is whether the position is above that number.

        Under `sequential` it is multiplied before others take it off.
        """
        plain = form.terms == {POSITION: 1} and form.constant <= 0 and type(form.constant) is Fraction
        return plain and discipline is Discipline.FUSED

    def _of_head(self, head: Head, draft: _HeadDraft, setting: Setting, discipline: Discipline) -> Iterator[Bound]:
        """Entries and scores of a head."""
        gap, sides = setting.gap, [(self._reach(c.key), self._reach(c.query)) for c in head.components]
        fused, lookup = discipline is Discipline.FUSED, head.lookup
        if draft.target is not None:
            low, high = self.bounds.term(draft.target)
            own = self.bounds.term(draft.target - as_term(Position()))[1]
            largest, beyond = max(-low, high), max(1 - low, own)
            near = fused and draft.target in self.outside
            if not near:
                yield gap * beyond**2  # the nearest position may be so far away, and others a lead below
            if fused:  # a row is rounded once: its terms may be larger than what they add up to
                # Without what is outside a square is at most that of w, or 2·w − 1 where w is below 1.
                shared = _largest([high**2, 1 - 2 * low]) if near else largest**2
                queries = (gap, split_scale(2 * gap)[1] * largest, shared)
                sides = [(key, query) for (key, _), query in zip(sides, queries, strict=True)]
            else:  # each product, and what all add up to
                yield gap * max(self.bounds.length - low, high - 1, largest) ** 2
                yield from (key * query for key, query in sides[:2])
                yield gap * sides[0][0] + sides[1][0] * self._reach(-head.components[1].query, above=True)
        elif draft.pairs:
            is_share = lookup is not None and lookup.prefer is None
            pairs = [*dict.fromkeys(draft.pairs)]
            ends = [(self.bounds.term(key), self.bounds.term(query)) for key, query in pairs]
            sizes = [(max(-a, b), max(-c, d), max(b - c, d - a)) for (a, b), (c, d) in ends]
            if fused:  # as above
                key_share, query_share = split_scale(2 * gap) if is_share else (2 * gap, setting.length_bound)
                rows = [(key_share * key, query_share * query) for key, query, _ in sizes]
                rows = [(2 * sum(key**2 for key, *_ in sizes), sides[0][1]), *rows]
                rows.append((sides[len(rows)][0], 2 * sum(query**2 for _, query, _ in sizes)))
                sides[: len(rows)] = rows
            else:
                scale = gap if is_share else gap * setting.length_bound
                yield scale * _largest([2 * key * query for key, query, _ in sizes])
                several = [len(c.query.terms) > 1 for c in head.components[1:]]  # these are bounded term by term
                more = [key * query for (key, query, _), many in zip(sizes, several, strict=False) if many]
                yield scale * (sum(max(*size) ** 2 for size in sizes) + _largest([1, *more]))
        elif not fused:
            yield sum(key * query for key, query in sides)
        if lookup is not None and lookup.prefer is None and lookup.penalty is not None:  # of one match at most
            yield lookup.scale
        if draft.doubled:  # keys that are not equal lie below the default where they saturate
            yield 4 * gap * setting.length_bound**2 - 1
        for key, query in sides:
            yield key
            yield query

    def _reach(self, form: Affine, *, above: bool = False) -> Bound:
        """At most what a form, and each sum of some of its terms, comes to, up to a sign; the constant is added last.

        above: at most what the form itself comes to, with its sign.
        """
        up: Bound = 0
        down: Bound = 0
        for name, c in form.terms.items():
            most = abs(c) * self.largest[name]
            up += most if c > 0 or name not in self.positive else 0
            down += most if c < 0 or name not in self.positive else 0
        return up + form.constant if above else max(up, down, up + form.constant, down - form.constant)


def _pinned(pin: Pin) -> tuple[Atom, Pin]:
    """What a pin speaks of: the place that is read, so the whole head, or what is counted or compared."""
    for term in (pin.value.term, ONE - pin.value.term):  # x ≤ y is written as not x > y
        match term.items:
            case (((Read(_, where),), c),) if c == 1:
                return where, pin
            case (((Count() | Equal() | Above() | Positive() as atom,), c),) if c == 1:
                return atom, pin
    raise NotCompiled("what can be pinned is a value that is read or counted, or a comparison")


def asked_position(matching: Matching) -> Term | None:
    """The one position that can match, where positions themselves are the key."""
    return matching.pairs[0][1] if len(matching.pairs) == 1 and matching.pairs[0][0] == as_term(Position()) else None


def _read_forms(block: BlockPlan) -> Iterator[Affine]:
    """What a block reads."""
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


def _smaller(a: Bound, b: Bound) -> Bound:
    """The smaller of two bounds, one of which is as good as the other."""
    return a if a < b else b


def _largest(values: Sequence[int]) -> int:
    """The largest; one after the other, as they may depend on n."""
    largest = values[0]
    for value in values[1:]:
        largest = max(largest, value)
    return largest


def shown(form: Affine) -> str:
    """A form for people; its registers alone where a number in it depends on n."""
    plain = all(type(c) is Fraction for c in (form.constant, *form.terms.values()))
    return str(form) if plain else f"a form of n, {', '.join(form.terms)}"


def _fed_behind(ready: int) -> int:
    """The block of the first feed-forward behind a stage."""
    return ready // 2 + 1 if ready % 2 == 0 else (ready + 1) // 2


def _plain(form: Affine) -> str | None:
    """The register that a form is, if it is one."""
    names = list(form.terms)
    return names[0] if len(names) == 1 and form.terms[names[0]] == 1 and not form.constant else None


def _shifted(name: str, form: Affine, depth: int) -> LinearUnit:
    """A shift register of a form."""
    unit = recent(f"the last {depth + 1} of {name}", [name], depth + 1)
    rows = {**unit.rows, kept(name, 0): (Affine(), _linear(form))}
    return LinearUnit(unit.name, rows, unit.source)


def _linear(form: Affine) -> Affine:
    """The same form with its constant as a multiple of the register that is 1 everywhere: heads and recurrences have no bias."""
    return Affine(form.terms) + reg(ONE_REGISTER) * form.constant if form.constant else form


def _compared(pairs: Sequence[Pair]) -> str:
    return ", ".join(f"{shown(p.key)} = {shown(p.query)}" for p in pairs)

"""Expand: a product of atoms becomes the operation that computes it, or a term that it equals.

What costs something is an operation: comparisons, products and squares are gadgets (Lemmas C.1, C.3, C.5); what is read elsewhere
takes a head, or a shift register (C.20); sums take a recurrence (C.21). Sums and multiples of values cost nothing.
"""

from __future__ import annotations

from constructions.language.passes.comparisons import comparison
from constructions.language.passes.facts import COUNT_ALONE, TermFacts, asked_position, value_at_start
from constructions.language.passes.operations import (
    Attend,
    Compare,
    Computation,
    Cycle,
    Factors,
    Mean,
    Multiply,
    Outside,
    Same,
    Select,
    Share,
    Shift,
    TimesShare,
)
from constructions.language.passes.selects import plan_select
from constructions.language.program import NotCompiled
from constructions.language.terms import (
    ONE,
    POSITION,
    Above,
    Atom,
    Back,
    Best,
    Closest,
    Comb,
    Count,
    Equal,
    IsWord,
    Monomial,
    Named,
    Nearest,
    Pick,
    Positive,
    Read,
    Selection,
    Sum,
    Term,
    as_term,
)
from constructions.language.values import START


def remove_doubles(facts: TermFacts, atoms: Monomial) -> Monomial:
    """Returns a product without second factors that are the same bit: their product is that bit."""
    return tuple(a for i, a in enumerate(atoms) if not (a in atoms[:i] and facts.is_condition(a)))


def expand(facts: TermFacts, atoms: Monomial) -> Computation | Same:
    """Returns what computes a product that has no doubles. Raises NotCompiled for what the architecture cannot do."""
    match atoms:
        case (atom,):
            return _atom(facts, atom)
        case (one, other) if one == other:
            return _square(facts, one)
    term = product_of(atoms)
    bits = [a for a in atoms if facts.is_condition(a)]
    rest = tuple(a for a in atoms if a not in bits)
    if not bits:
        return multiply(facts, atoms)
    factor = product_of(rest) if len(rest) < 2 else as_term(Factors(term))
    gate = sum(map(as_term, bits), start=as_term(1 - len(bits)))
    label = f"{{}}: a product of {len(atoms)}"
    operands = (factor, *map(as_term, bits))
    return Multiply(operands, "kept" if rest else "both", term, ((gate, factor),), label, (term,))


def product_of(atoms: Monomial) -> Term:
    return Term(((atoms, ONE.constant),))


def multiply(facts: TermFacts, atoms: Monomial) -> Computation:
    """Returns the product of the first atom and all others."""
    x, y = as_term(atoms[0]), product_of(atoms[1:])
    units = _signed_units(facts, atoms[0], x, y)
    return Multiply((x, y), "product", x * y, units, "({})·({})", (x, y))


def _square(facts: TermFacts, atom: Atom) -> Computation | Same:
    x, (low, high) = as_term(atom), facts.bounds.atom(atom)
    if isinstance(atom, Named):
        return Same((atom.of * atom.of,))
    if low >= 0 and high <= 0:  # no unit would write its square
        return Same((), (x,))
    units = _signed_units(facts, atom, x, x)
    return Multiply((x,), "square", x * x, units, "({})²", (x,), vanishes=True)


def _signed_units(facts: TermFacts, atom: Atom, x: Term, y: Term) -> tuple[tuple[Term, Term], ...]:
    """Returns x·y as units, where x may be above 0, and where it may be below."""
    low, high = facts.bounds.atom(atom)
    return ((x, y),) * bool(high > 0) + ((x * -1, y * -1),) * bool(low < 0)


def _atom(facts: TermFacts, atom: Atom) -> Computation | Same:
    match atom:
        case IsWord(text):
            raise NotCompiled(f"the program asks for {text!r}, which is no word of its texts")
        case Named(_, of):
            return Same((of,))
        case Equal() | Above():
            ramps, kind = comparison(facts, atom), "is" if isinstance(atom, Equal) else "above"
            if isinstance(ramps, Same):
                return ramps
            return Compare(ramps.operands, kind, as_term(atom), ramps, pin=atom)
        case Positive(of):
            facts.require_whole(of, "positive")
            if facts.tight.term(of)[1] <= 0:  # no unit would write it
                return Same(())
            return Multiply((of,), "positive", as_term(atom), ((of, ONE),), "max(0, {})", (of,), "", pin=atom)
        case Sum() | Comb():
            return _sum(facts, atom)
        case Read(value, where):
            facts.require_whole(value, "what is read")
            return _read(facts, atom, value, where)
        case Count(where):
            return _count(facts, atom)
    return _on_the_way(facts, atom)


def _on_the_way(facts: TermFacts, atom: Atom) -> Computation:
    """Returns what computes an atom that no program has."""
    match atom:
        case Factors(of):
            ((atoms, _),) = of.items
            return multiply(facts, tuple(a for a in atoms if not facts.is_condition(a)))
        case Share(count):
            select = plan_select(facts, count)
            return Attend(select.operands, "share", as_term(count), select, pin=count)
        case TimesShare(factor, share):
            x, y = factor, as_term(share)
            return Multiply((y, x), "times_share", None, ((x, y),), "({})·{}", (x, y), "")
        case Mean(of):
            return Attend((of,), "mean", None, Select(Best((), "all")), of)
        case Outside(x):
            means = as_term(Positive(x)) * as_term(Positive(x))
            return Multiply((x,), "outside", means, ((x, x),), "max(0, {})²", (x,))
    raise NotCompiled(f"the compiler has no rule for {type(atom).__name__}")


def _count(facts: TermFacts, atom: Count) -> Same:
    """Returns the term that a count equals, where it is one."""
    if (target := asked_position(atom.where)) is not None:
        return Same((as_term(Above(target - 1)) * (ONE - as_term(Above(target - as_term(POSITION)))),))
    summand = None if facts.attends else facts.summand_of(atom)
    if summand is None:
        raise NotCompiled(COUNT_ALONE)
    return Same((as_term(Sum(summand)),))


def _sum(facts: TermFacts, atom: Sum | Comb) -> Computation:
    if facts.attends and isinstance(atom, Sum):
        raise NotCompiled(
            "a Transformer has a running sum as a mean: compare it with a number, or take the architecture rnn or hybrid"
        )
    if facts.attends:
        raise NotCompiled(
            "a Transformer has no recurrence: alternating sums, and sums of every so many positions, need the architecture "
            "rnn or hybrid"
        )
    facts.require_whole(atom.of, "a running sum")
    if isinstance(atom, Sum):
        return Cycle((atom.of,), "sum", as_term(atom), atom.of)
    before = tuple(Read(as_term(atom), Back(i)) for i in range(1, atom.steps))
    return Cycle((atom.of,), "sum", as_term(atom), atom.of, atom.steps, atom.sign, before)


def _read(facts: TermFacts, atom: Atom, value: Term, where: Selection) -> Computation | Same:
    if isinstance(where, Back):
        return _back(facts, atom, value, where.steps)
    if isinstance(where, Pick | Closest) and (target := asked_position(where.matching)) is not None:
        # The position that is asked for, from 2 to k, and 1 for any other one.
        first, here = value_at_start(value), ONE - as_term(Above(target - as_term(POSITION)))
        return Same((as_term(Read(value - first, Nearest(target))) * here + first,))
    return _attend(facts, atom, value, where)


def _attend(facts: TermFacts, atom: Atom, value: Term, where: Selection) -> Computation:
    select = plan_select(facts, where)
    return Attend((*select.operands, value), "read", as_term(atom), select, value, pin=where)


def _back(facts: TermFacts, atom: Atom, value: Term, steps: int) -> Computation | Same:
    """Returns what stood there; at position 1 a head reads for all that lies before it, so what `<s>` has is added by itself."""
    match value.items:
        case (((Read(there, Back(more)),), c),):  # of the same position, read at once
            return Same((as_term(Read(there, Back(steps + more))) * c,))
        case (((Comb() as comb,), c),) if steps < comb.steps:  # its cycle keeps it
            return Same((as_term(Read(as_term(comb), Back(steps))) * c,), (as_term(comb),))
    if first := value_at_start(value):
        shifted = value - as_term(IsWord(START)) * first
        is_there = as_term(Equal(as_term(POSITION), ONE.constant * (steps + 1)))
        return Same((as_term(Read(shifted, Back(steps))), is_there * first))
    if facts.attends:
        return _attend(facts, atom, value, Back(steps))
    return Shift((value,), "past", as_term(atom), value, steps, vanishes=True)

"""Heads by equality and by position with small scores: the largest number in a score decides how many bits a program takes.

Source: Lemmas C.13 to C.16, for what they compute; the wiring is ours.
Notation: G is a lead after which all other keys vanish, L a power of two above every position, x' and x a key and a query.

First or last. Where one end of the text is preferred, no square of a position is needed: ±G·k' leads by G as well, and reaches over
G·L, not G·L². For the last position the score is −S·Σ(x' − x)² + G·k'. Position 1 has G, which is below 2G, the least of an equal
key. For the first it is −S·Σ(x' − x)² − G·k', and −G − D at position 1, with D = G·L: below −G·(L − 1), the least of an equal key.
Unequal keys cost S = G·L, so they lie below position 1 by G or more. A constant ±G·L/2 moves what can win to at most G·L/2 + G on
either side of 0. So G·L ≤ 2^q is enough; what saturates lies below all that.

Nearest. The score is −G·(k' − w)², as in Lemma C.13. Where w is no position of the text, all scores are far below 0. So what they
have in common can be taken off: max(0, w − k)² after the query's position k, max(0, 1 − w)² before the first one. Then the
nearest position has 0 whatever w is.

One position. Where one key at most can match, and nothing is compared but that, it has 2G, position 1 has G, and all others 0.

Splitting. Of a product of a large and a small side, the factor stands beside the small one: −S·x'² is x'² times −S.
Of 2S·x'·x, 2G stands beside x' and L beside x: with numbers up to L no entry is larger than a square.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constructions.parts.heads.match import RegisterPair, equality_needs, sides
from constructions.wiring.affine import Affine, reg, total
from constructions.wiring.lookup import Lookup, Preference, nearest_to
from constructions.wiring.needs import FIRST, ONE, POSITION, is_bit, is_square, is_zero_at_first
from constructions.wiring.part import Setting, split_scale
from constructions.wiring.plan import Component, Head
from constructions.wiring.register import squared


def equality(pairs: Sequence[RegisterPair], shares: tuple[int, int]) -> tuple[Component, ...]:
    """Returns −S·Σ(x' − x)², and 0 at position 1. Needs `one` and `first`, and x' = 0 at position 1.

    shares: two powers of two, the key's and the query's, whose product is 2S.
    """
    one, first = reg("one"), reg("first")
    key_share, query_share = shares
    quarter = key_share * query_share // 4
    return (
        Component(2 * total(p.key_squared for p in pairs), -quarter * one),
        *(Component(key_share * p.key, query_share * p.query) for p in pairs),
        Component(quarter * (one - first), -2 * total(p.query_squared for p in pairs)),
    )


def match_end(
    name: str, pairs: Sequence[RegisterPair], reads: Mapping[str, Affine], setting: Setting, *, last: bool
) -> Head:
    """Wires register := form at the first or the last position with equal keys, or at position 1 if there is none."""
    one, gap, reach = reg("one"), setting.gap, setting.gap * setting.length_bound
    prefer = Preference(reg("position"), (gap if last else -gap) * one)
    preference = (Component(prefer.key, prefer.pull), Component(one, (-reach if last else reach) // 2 * one))
    default = () if last else (Component(2 * reg("first"), -reach // 2 * one),)
    source = "Lemma C.16, by a line" if last else "Lemma C.15, by a line"
    return Head(
        name,
        (*equality(pairs, (2 * gap, setting.length_bound)), *preference, *default),
        reads,
        source,
        equality_needs(pairs),
        Lookup(sides(pairs), reach, prefer, penalty=None if last else reach * one),
    )


def nearest(
    name: str,
    wanted: Affine,
    wanted_squared: Affine,
    reads: Mapping[str, Affine],
    gap: int,
    outside: Affine | None = None,
) -> Head:
    """Wires register := form at the position nearest to the wanted one.

    outside: what is taken off, if anything.
    """
    one = reg("one")
    key_scale, query_scale = split_scale(2 * gap)
    shared = -wanted_squared if outside is None else outside - wanted_squared
    components = (
        Component(reg(squared("position")), -gap * one),
        Component(key_scale * reg("position"), query_scale * wanted),
        Component(gap * one, shared),
    )
    lookup = Lookup(prefer=nearest_to(reg("position"), wanted, gap))
    return Head(name, components, reads, "Lemma C.13", (ONE, POSITION, is_square(wanted_squared, wanted)), lookup)


def single(name: str, found: Affine, reads: Mapping[str, Affine], gap: int) -> Head:
    """Wires register := form at the one position at which a bit is 1, or at position 1 if there is none; the bit is 0 there."""
    one = reg("one")
    needs = (ONE, *FIRST, is_bit(found), is_zero_at_first(found))
    lookup = Lookup(((found, one),), 2 * gap, penalty=gap * one)
    component = Component(2 * found + reg("first"), gap * one)
    return Head(name, (component,), reads, "Lemma C.13, of one position", needs, lookup)

"""Read from the equal-keyed position whose count comes after this one.

Source: Lemmas C.12 and C.18; what follows is for A = 1, and for other A with n^A in place of n.
Notation: c' is the key's count, a rounded unit fraction 1/2, 1/3, …; t = nxt(c) the query's target, see next_fraction.
Derivation: score −S·Σ(x' − x)² + T(2t·c' − c'²), and −D at position 1, where key and count are 0. The preference differs from
−T(t − c')² by −T·t², the same for every key, which softmax does not see. Equal keys lie in [−T/4, T/4] since t, c' ≤
1/2; D = T/2 puts position 1 below them, S = T the unequal keys, at most −3T/4, below that. T·g ≥ G, where g is the
least difference of squared distances between winner and runner-up, see `least_lead`. Rounding of c', c'² and t moves a
score by at most 3T·2^−q, below 1 for 2^q ≥ 4T.
Precondition: the counts of equal keys are 1/2, …, 1/(d + 1), each once. Then the winner is the next one, or the last if
c is the last.

ERRATUM C.18, a slip of one constant
paper says: factors n^(4A+3), n^(4A+1), n^(4A+2) at p > 10A·log n, and a cubic nxt.
we use: S = T, D = T/2, T the least power of two with the lead G, q ≥ log2 T + 2; nxt quadratic.
why: for A = 1, and at some n for A = 2, p just above 10A·log2 n lets position 1 and unequal keys saturate together where no key is
equal. From A = 3 on, or with more bits, the printed factors are right. Ours need fewer than 10·log2 n bits for large n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from constructions.parts.gadgets.next_fraction import next_fraction, next_fraction_value
from constructions.parts.gadgets.product import product, square
from constructions.parts.heads.match import (
    FINDING,
    RegisterPair,
    default_component,
    equal_positions,
    equality_components,
    equality_needs,
    key_pairs,
    match_contract,
    match_room,
    pairs_bound,
    pairs_of,
    prepare,
    sides,
)
from constructions.wiring.affine import Affine, reg
from constructions.wiring.lookup import Lookup, nearest_to
from constructions.wiring.needs import is_square, is_zero_at_first
from constructions.wiring.part import (
    Columns,
    Contract,
    Expected,
    Integer,
    Part,
    Setting,
    UnitFraction,
    least_gap,
    least_odd_precision,
    log2,
    smallest_gap,
    split_scale,
)
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Head


def least_lead(largest: int) -> Fraction:
    """Returns the least lead in squared distance to nxt(1/m), m ≤ largest: of 1/(m + 1) among 1/2, 1/3, …, and of 1/m where that
    is the last.

    From m = 5 on it is that of 1/(m + 1) over 1/(m + 2), (m² − 2m − 4)/(m(m + 1)(m + 2))², which falls with m and is the least
    of all from m = 6 on; before, m = 1 … 5 decide.
    """
    if largest > 5:
        return Fraction(1) * (largest * largest - 2 * largest - 4) / (largest * (largest + 1) * (largest + 2)) ** 2
    leads = []
    for m in range(1, largest + 1):
        target = next_fraction_value(Fraction(1, m))
        around = range(max(2, m - 2), m + 4)
        distance = {i: (Fraction(1, i) - target) ** 2 for i in around}
        leads += [distance[i] - distance[m + 1] for i in around if i != m + 1]
        if m >= 2:
            leads += [distance[i] - distance[m] for i in around if i < m]
    return min(leads)


def next_scale(gap: int, n: int) -> int:
    """Returns T for counts down to 1/(n + 1): the least power of two with T·least_lead ≥ gap."""
    m = n + 1
    # Begins below: the lead is less than 1/m⁴ and than 1/16.
    needed, scale = gap / least_lead(m), gap * (1 << max(4, 4 * m.bit_length() - 4))
    while scale < needed:
        scale *= 2
    return scale


def match_next(
    name: str,
    pairs: Sequence[RegisterPair],
    count: Affine,
    count_squared: Affine,
    target: Affine,
    reads: Mapping[str, Affine],
    setting: Setting,
    *,
    printed: int = 0,
    printed_squares: tuple[Affine, Affine] | None = None,
) -> Head:
    """Wires register := form at the equal-keyed position whose count is nearest to `target`, at position 1 if no key is equal.

    printed: the A of the printed factors, 0 for ours. printed_squares: the squares of the target and of the query's own count,
    for the two printed terms that are the same for every key but position 1; where no register holds them, they are left out.
    """
    one = reg("one")
    needs = (*equality_needs(pairs), is_square(count_squared, count), is_zero_at_first(count))
    if printed:
        n, power = setting.n, 4 * printed + 1
        # The print gives scores alone. Keys and queries share a factor as evenly as can be, so that the entries fit where they can.
        low, high = n ** (2 * printed), n ** (2 * printed + 1)
        preference: tuple[Component, ...] = (
            Component(low * count_squared, -high * one),
            Component(low * count, 2 * high * target),
        )
        penalty = high**2 * one
        if printed_squares is not None:
            target_squared, own_squared = printed_squares
            preference += (
                Component(low * one, -high * target_squared),
                Component(low * reg("first"), high * own_squared),
            )
            penalty = penalty - low * high * own_squared
        default = Component(high * reg("first"), -high * one)
        components = (*equality_components(pairs, n ** (power + 2), high), *preference, default)
        prefer = nearest_to(count, target, low * high)
        lookup = Lookup(sides(pairs), n ** (power + 2), prefer, penalty=penalty)
        return Head(name, components, reads, "Lemma C.18 as printed", needs, lookup)
    scale = next_scale(setting.gap, setting.n)
    key_scale, query_scale = split_scale(scale)
    preference = (
        Component(key_scale * count_squared, -query_scale * one),
        Component(key_scale * count, 2 * query_scale * target),
    )
    components = (*equality_components(pairs, scale), *preference, default_component(scale // 2))
    lookup = Lookup(sides(pairs), scale, nearest_to(count, target, scale), penalty=scale // 2 * one)
    return Head(name, components, reads, "Lemma C.18", needs, lookup)


def match_next_precision(n: int, length: int) -> int:
    """Returns the least p for this head, and those of C.15: room for T, the scaled squares, and distances between counts."""

    def room(gap: int) -> int:
        scale = next_scale(gap, n)
        own = max(log2(scale) + 2, log2(split_scale(scale)[1]) + 2 * n.bit_length() + 1)
        return max(own, match_room(gap, n, length), 2 * length.bit_length())

    return least_odd_precision(lambda q: room(least_gap(q, length)), room(smallest_gap(length)))


def part(pairs: int, power: int) -> Part:
    """Returns the lemma for so many keys and queries, and A = power: counts down to 1/(n^A + 1)."""
    registers = key_pairs(pairs)

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        count, own, target = reg("count"), reg("query_count"), reg("target")
        gadgets = (
            *prepare(pairs),
            square(count, squared("count")),
            square(own, squared("own")),
            next_fraction(own, "target"),
        )
        squares = BlockPlan((), (product(target, target, {squared("target"): 1}),))
        head = match_next(
            "match next",
            pairs_of(pairs),
            count,
            reg(squared("count")),
            target,
            {"out": reg("payload")},
            setting if printed else replace(setting, n=setting.n**power),
            printed=power if printed else 0,
            printed_squares=(reg(squared("target")), reg(squared("own"))),
        )
        return [BlockPlan((), gadgets), *([squares] if printed else []), BlockPlan((head,), ())]

    def derive(columns: Columns) -> Columns:
        """Turns `count` into the running count of the keys, and `wish` into a count that the query's keys have, or 1."""
        tally: Counter[tuple[Fraction, ...]] = Counter()
        counts, wanted = [], []
        for k, wish in enumerate(columns["wish"]):
            keys = tuple(columns[key][k] for key, _ in registers)
            queries = tuple(columns[query][k] for _, query in registers)
            tally[keys] += 1
            counts.append(Fraction(1, tally[keys] + 1) if any(keys) else Fraction(0))
            wanted.append(Fraction(1, 1 + int(wish) % (tally[queries] + 1)))
        return {**columns, "count": counts, "query_count": wanted}

    def contract(setting: Setting) -> Contract:
        base, most = match_contract(setting, pairs), setting.n**power + 1
        requires = {
            **base.requires,
            "wish": Integer(0, setting.length),
            "count": UnitFraction(2, most),
            "query_count": UnitFraction(1, most),
        }
        return Contract(requires, base.ensures, base.first, derive)

    def oracle(setting: Setting, columns: Columns) -> Expected:
        payload, out = columns["payload"], []
        for k in range(len(payload)):
            number = columns["query_count"][k].denominator
            by_number = {columns["count"][h].denominator: h for h in equal_positions(columns, pairs, k)}
            out.append(payload[by_number.get(number + 1, by_number.get(number, 0))])
        return {"out": out}

    return Part(
        id="C.18",
        name="match next",
        source="Lemmas C.12 and C.18",
        statement="One head reads from the equal-keyed position with the next count, or the last one if there is no next.",
        plan=plan,
        contract=contract,
        oracle=oracle,
        least_precision=lambda n, length: match_next_precision(max(pairs_bound(n, pairs), n**power), length),
        findings=(FINDING,),
    )


PART = part(1, 1)

"""Each place at which a small checker rejects is reached: by a call that is wrong there, and nowhere before."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

import pytest

from tests.verify.trusted.refusals import FILES, site_of, sites
from tests.verify.trusted.test_false_certificates import (
    HEAD,
    ONE_N,
    UNIT,
    Document,
    certificate,
    entry,
    kind,
    model,
    of_one_position,
    place,
    to,
)
from verify.trusted import candidates, cases, growth, keys, program, rounding
from verify.trusted.abstract_state import Domain, Format, Integer, Rounded, Share, State
from verify.trusted.automaton import Apart, Consecutive, Delayed, read_place
from verify.trusted.candidates import Candidate, Pair
from verify.trusted.counts import moving_gaps, read_count
from verify.trusted.growing import Case
from verify.trusted.heads import Reader
from verify.trusted.keys import Reading
from verify.trusted.machine import Machine
from verify.trusted.means import mean as read_mean
from verify.trusted.model import MOST_BYTES, MOST_ROWS, parse, read_files, read_rows, text_of
from verify.trusted.numbers import two_to
from verify.trusted.polynomials import Polynomial, atom, canonical
from verify.trusted.positions import read_position
from verify.trusted.program import Definition, GhostReader, ProgramChecker
from verify.trusted.ratios import Ratio
from verify.trusted.winners import find_winners

Cases = dict[str, Callable[[], object]]


# Files


def read(document: Document, rows: Document) -> object:
    """Has the checker of rounding read both, signed."""
    weights = json.dumps(rows).encode()
    return rounding.check(json.dumps({**document, "weights": hashlib.sha256(weights).hexdigest()}).encode(), weights)


TWO: Document = {"0": "2"}
ROWS = model({"a": TWO}, {})


def with_fields(**fields: Any) -> Callable[[], object]:
    """Returns the reading of a certificate, right but for these fields."""
    return lambda: read({**of_one_position(TWO, TWO, TWO), **fields}, ROWS)


def with_rows(**fields: Any) -> Callable[[], object]:
    return lambda: read(of_one_position(TWO, TWO, TWO), {**ROWS, **fields})


def with_block(**fields: Any) -> Callable[[], object]:
    return lambda: read(of_one_position(TWO, TWO, TWO), model({"a": TWO}, fields))


def with_class(**fields: Any) -> Callable[[], object]:
    """Returns the reading of a certificate whose first class has other fields."""
    document = of_one_position(TWO, TWO, TWO)
    document["entries"][0]["classes"][0] |= fields
    return lambda: read(document, ROWS)


def with_atoms(**atoms: Any) -> Callable[[], object]:
    return with_class(atoms={"n": ONE_N, "k": ["integer", 1, 1, 1], **atoms})


def with_entry(**fields: Any) -> Callable[[], object]:
    document = of_one_position(TWO, TWO, TWO)
    document["entries"][0] |= fields
    return lambda: read(document, ROWS)


def with_place(**fields: Any) -> Callable[[], object]:
    return with_fields(automaton=[{**place("a", "1", "1", [], answer=True), **fields}])


LIMITED = {"kind": "limited", "sum": 1, "most": "1"}
TWO_SUMS = {**ROWS, "blocks": [*(model({}, {"feed": {"1": {"0": "1"}}})["blocks"] * 2)]}
READING: Cases = {
    "model.read_files: a file is too large": lambda: rounding.check(b" " * (MOST_BYTES + 1), b""),
    "model.read_files: …: the digest is of another file": lambda: rounding.check(b'{"weights": "0"}', b"{}"),
    "rounding.__init__: p: no odd number from 5 to …": with_fields(p=6),
    "rounding.__init__: discipline: neither fused nor sequential": with_fields(discipline="both"),
    "rounding.__init__: n: no interval of numbers from 1 on": with_fields(n=[2, 1]),
    "automaton.read_invariants: more than … invariants": with_fields(invariants=[LIMITED] * (MOST_ROWS + 1)),
    "rounding.__init__: an invariant of a recurrence speaks of two": lambda: read(
        {**of_one_position(TWO, TWO, TWO), "invariants": [LIMITED]}, TWO_SUMS
    ),
    "rounding.check: as many entries are due as there are sublayers, and one more; and as many steps and one more": with_fields(
        steps=[]
    ),
    "rounding.check: the certificate has choices that nothing asks for": with_fields(
        steps=[[[to(0)]], [[to(0)]], [[to(0)]], [[to(0)]]]
    ),
    "rounding.take: the certificate has no … here": with_fields(steps=[[[]], [[to(0)]], [[to(0)]], [[]]]),
    "rounding.read_entry: no class, or more than …": with_entry(classes=[]),
    "rounding.read_entry: what is kept is of no class": with_entry(kept=[{**kind("", [1, 1, 1], {}, []), "of": 1}]),
    "rounding.read_entry: there is no register below 0": with_entry(live=[-1, 0, 1]),
    "rounding.read_state: … is no name of an atom": with_atoms(**{"a'": ["integer", 1, 1, 1]}),
    "rounding.read_state: … is no kind of atom": with_atoms(a=["real", 1, 1, 1]),
    "rounding.read_state: a form is not written as it must be": with_class(forms=[["-1*k + 1*n", 0, 1]]),
    "rounding.read_state: there is no register below 0": with_class(registers={"-1": "1"}),
    "rounding.require_state: …: no domain": with_atoms(a=["integer", 2, 1, 1]),
    "rounding.require_state: …: there is no …": with_atoms(a=["share", "m", 0]),
    "rounding.require_state: …: an atom is not known yet": with_atoms(a=["rounded", "1*b", "", "0", "1", "0"]),
    "rounding.require_state: …: an ideal value has rounded atoms": with_atoms(
        a=["rounded", "1/64", "1/64", "0", "1", "1"], b=["rounded", "1*a", "1*a", "0", "1", "1"]
    ),
    "rounding.require_state: a class has no position, or one before 1": with_atoms(k=["integer", 0, 0, 1]),
    "rounding.require_state: an atom has no domain": with_class(registers={"0": "1*b"}),
    "rounding.require_state: a class is malformed": with_class(before=[1]),
    "automaton.read_place: automaton: malformed state": with_place(every=0),
    "automaton.read_place: automaton: positions by a step begin where n says": with_place(low="1*n", every=2),
    "automaton.read_place: automaton: a state comes after one that is not there": with_place(after=[1]),
    "automaton.range_of: automaton: a bound of positions or numbers that is none": with_place(low="1*k"),
    "automaton.range_of: automaton: a bound that falls and rises": with_place(high="1*n*n + -3*n + 3"),
    "automaton.range_of: automaton: a bound that is no whole number": with_place(high="3/2"),
    "automaton.parse_size: an invariant speaks of more than n": with_fields(invariants=[{**LIMITED, "most": "1*k"}]),
    "automaton.read_invariant: … is no kind of invariant": with_fields(invariants=[{"kind": "true"}]),
    "model.whole: … is no whole number": with_fields(p=25.0),
    "model.parse: a polynomial is no text, or too long": with_rows(words={"a": {"0": 2}}),
    "model.parse: … is no term": with_rows(words={"a": {"0": "two"}}),
    "model.coordinate: weights: … is no coordinate": with_rows(words={"a": {"00": "2"}}),
    "model.unique: a file has a name twice": lambda: rounding.check(b'{"p": 5, "p": 7}', b"{}"),
    "model.read_rows: weights: family … has no number": with_rows(families={"": {"low": 2, "high": 1, "rows": {}}}),
    "model.require_shape: weights: a block has more than … rows": with_block(units=[UNIT] * (MOST_ROWS + 1)),
    "model.require_shape: weights: as many key rows are due as query rows": with_block(heads=[{**HEAD, "key": []}]),
    "model.require_shape: weights: a row reads a value or a unit that is not there": with_block(
        units=[UNIT], down={"0": [{"1": "1"}, ""]}
    ),
    "model.require_element: the weight … depends on more than n": with_rows(words={"a": {"0": "1*k"}}),
    "model.require_element: the weight … is no element of the format": with_rows(words={"a": {"0": "1/3"}}),
}


# Tensors

Tensor = tuple[list[int], list[float]]
TENSORS: dict[str, Tensor] = {
    "embed.words": ([4, 1], [1, 2, 3, 7]),
    "unembed": ([4, 1], [1, 2, 3, 7]),
    "embed.position": ([1], [0]),
    **{f"blocks.0.attn.0.{name}": ([1, 1], [1]) for name in ("W_Q", "W_K", "W_V", "W_O")},
    **{f"blocks.0.ffn.{name}": ([1, 1], [1]) for name in ("W_gate", "W_up", "W_down")},
    **{f"blocks.0.ffn.{name}": ([1], [0]) for name in ("b_gate", "b_up", "b_down")},
}


def tensor_bytes(tensors: Mapping[str, Tensor], **item: Any) -> bytes:
    """Returns a file of tensors. item: what is said otherwise of the first one."""
    header, body = dict[str, Any](), b""
    for name, (shape, values) in tensors.items():
        data = struct.pack(f"<{len(values)}d", *values)
        ends = [len(body), len(body) + len(data)]
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": ends, **({} if header else item)}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def reads_tensors(
    changed: Mapping[str, Tensor | None] = {},
    vocabulary: str = "1 2 3 a",
    rows: tuple[int, int, int] = (0, 1, 3),
    more: bytes = b"",
    **item: Any,
) -> Callable[[], object]:
    """Returns the reading of a file of tensors, right but for these changes."""
    tensors = {name: tensor for name, tensor in (TENSORS | changed).items() if tensor is not None}
    weights = tensor_bytes(tensors, **item) + more
    document = {"weights": hashlib.sha256(weights).hexdigest(), "families": {"": rows}}
    return lambda: read_files(
        json.dumps(document).encode(), weights, json.dumps({"vocabulary": vocabulary.split()}).encode()
    )


FFN, ATTENTION = "blocks.0.ffn.", "blocks.0.attn.0."
TENSOR_FILES: Cases = {
    "model.read_tensors: weights: the output head is not the embedding": reads_tensors(
        {"unembed": ([4, 1], [1, 2, 3, 8])}
    ),
    "model.read_tensors: vocabulary: as many different words are due as there are rows": reads_tensors(
        vocabulary="1 2 3 3"
    ),
    "model.read_tensors: family …: no such rows": reads_tensors(rows=(2, 1, 3)),
    "model.read_tensors: weights: …: it is of no block": reads_tensors({"other": ([1], [0])}),
    "model.read_block: weights: …W_K: as many rows are due as W_Q has": reads_tensors(
        {ATTENTION + "W_K": ([2, 1], [1, 1])}
    ),
    "model.read_block: weights: …W_up: as many rows are due as W_gate has": reads_tensors(
        {FFN + "W_up": ([2, 1], [1, 1]), FFN + "b_up": ([1], [0])}
    ),
    "model.tensors: weights: …: no shape": reads_tensors(shape=[-4, -1]),
    "model.tensors: weights: …: malformed": reads_tensors(dtype="F32"),
    "model.tensors: weights: bytes are left over": reads_tensors(more=b"0"),
    "model.matrix: weights: no …": reads_tensors({FFN + "W_gate": None}),
    "model.matrix: weights: …: another shape is due": reads_tensors({FFN + "W_down": ([2, 1], [1, 1])}),
    "model.vector: weights: …: another shape is due": reads_tensors({FFN + "b_down": ([2], [1, 1])}),
    "model.interpolate: weights: number …: its row is no quadratic polynomial of it": reads_tensors(rows=(0, 1, 4)),
}


# What is known of a position

FORMAT = Format(9)  # from −15 15/16 to 15 15/16
BOX: dict[str, Domain] = {
    "n": Integer(1, 1),
    "k": Integer(1, 9),
    "a": Integer(0, 7),
    "m": Integer(2, 3),
    "s": Share("m", 0),
}
STATE = State(FORMAT, BOX, {})
HALF: Polynomial = {(): Fraction(1, 2)}
ROUNDED = Rounded({("s", "s"): 1}, {("s", "s"): 1}, 0, 1, Fraction(1, 4))
WITH_ROUNDED = replace(STATE, box={**BOX, "z": ROUNDED})
CHECKER = rounding.Checker({**of_one_position(TWO, TWO, TWO), "p": 9}, read_rows(ROWS))
SHARED_BOX: dict[str, Domain] = {"n": BOX["n"], "k": BOX["k"]}


def covers(
    own: State, values: dict[str, Polynomial], forms: Any = (), registers: Any = (), **box: Domain
) -> Callable[[], object]:
    """Returns the comparison of a state with a class of these atoms."""
    target = State(FORMAT, SHARED_BOX | box, dict(registers), dict(forms))
    return lambda: CHECKER.require_covered(own, target, values, frozenset([0]))


STATES: Cases = {
    "abstract_state.round: … saturates": lambda: FORMAT.round(16),
    "abstract_state.integer: … is no whole number": lambda: STATE.integer("s"),
    "abstract_state.share: … is no share": lambda: STATE.share("a"),
    "abstract_state.index: 1/m: m may be …": lambda: STATE.index(Share("a", 0)),
    "abstract_state.round: …: a value reaches […, …], and saturates": lambda: STATE.round({("k",): 2}, "here"),
    "abstract_state.restrict: no form of whole numbers: …": lambda: STATE.restrict(atom("s"), 0, 1),
    "abstract_state.halves: a form that splits has no whole coefficients": lambda: STATE.halves(
        {("k",): Fraction(1, 2)}, 1
    ),
    "rounding.require_covered: not each atom of the class has a value here": covers(STATE, {}, a=Integer(0, 7)),
    "rounding.require_covered: … may be no whole number": covers(STATE, {"a": HALF}, a=Integer(0, 7)),
    "rounding.require_covered: … may be … … …, and not as … has it": covers(STATE, {"a": atom("a")}, a=Integer(0, 6)),
    "rounding.require_covered: … is another share": covers(
        STATE, {"m": atom("m"), "s": atom("s")}, m=Integer(2, 3), s=Share("m", 1)
    ),
    "rounding.require_covered: … is no share here": covers(
        STATE, {"m": atom("m"), "s": HALF}, m=Integer(2, 3), s=Share("m", 0)
    ),
    "rounding.require_covered: … is no rounded number here": covers(
        WITH_ROUNDED, {"m": atom("m"), "s": atom("s"), "z": atom("s")}, m=Integer(2, 3), s=Share("m", 0), z=ROUNDED
    ),
    "rounding.require_covered: … is rounded from another number": covers(
        WITH_ROUNDED,
        {"m": atom("m"), "s": atom("s"), "z": atom("z")},
        m=Integer(2, 3),
        s=Share("m", 0),
        z=ROUNDED._replace(ideal={("s",): 1}),
    ),
    "rounding.require_covered: … has wider bounds here": covers(
        WITH_ROUNDED,
        {"m": atom("m"), "s": atom("s"), "z": atom("z")},
        m=Integer(2, 3),
        s=Share("m", 0),
        z=ROUNDED._replace(error=Fraction(1, 8)),
    ),
    "rounding.require_covered: … may be … … …, and not … … …": covers(
        STATE, {"a": atom("a")}, forms={(("a", 1), ("k", 1)): (1, 9)}, a=Integer(0, 7)
    ),
    "rounding.require_covered: register … is another one": covers(STATE, {}, registers={0: {(): 1}}),
}


# What heads read

WIDE = Format(41)
JOINT: dict[str, Domain] = {
    "n": Integer(1, 1), "k": Integer(5, 9), "k'": Integer(1, 8), "g'": Integer(1, 3), "m'": Integer(2, 6), "s'": Share("m'", 0),
    "m": Integer(2, 6), "s": Share("m", 0), "j": Integer(2, 6), "r": Share("j", 0),
}  # fmt: skip
QUERY = State(WIDE, {name: JOINT[name] for name in "nkmsjr"}, {}, kind=1, before=frozenset([0, 1]))
CLASSES = [replace(QUERY, box={**QUERY.box, "k": Integer(1, 8)}, before=frozenset([0])), QUERY]
KEY_ATOMS = frozenset(["k'", "g'", "m'", "s'"])


def reader(*invariants: Any, fused: bool = True, format_: Format = WIDE) -> Reader:
    return Reader(Machine(format_, fused), invariants, CLASSES, frozenset(range(9)), "here")


def reading(*pairs: Pair, of: Reader | None = None) -> Reading:
    """Returns a head at the query, with one value row."""
    return Reading(of or reader(), QUERY, pairs, 0, range(1), "here")


BESIDES = {"group": candidates.GROUP, "count": candidates.COUNT, "ghost": program.KEYS, "asked": program.GHOST}


def pair(score: str, key: int | None = 0, place: str = "", value: str = "", noise: int = 0, **more: str) -> Pair:
    """Returns a pair of the query and a class of keys, or the query itself.

    more: a group's number, a count; a ghost of the key, one of the query.
    """
    own = key is None
    registers = {
        candidates.SCORE: score,
        candidates.PLACE: place or ("1*k" if own else "1*k'"),
        candidates.VALUE: value,
    }
    registers |= {BESIDES[name]: text for name, text in more.items()}
    joint = State(WIDE, JOINT, {i: parse(text) for i, text in registers.items()})
    return Pair(key, joint, frozenset() if own else KEY_ATOMS, noise, ())


def candidate(*arguments: Any, **more: Any) -> Candidate:
    return candidates.candidates_of([pair(*arguments, **more)])[0]


def by_position(*pairs: Pair, at: str = "3") -> Callable[[], object]:
    """Returns the reading of the key at a position."""
    return lambda: read_position(reading(*pairs), parse(at))


GROUP_2 = "-10000*g'*g' + 40000*g' + -40000"  # −10,000·(g' − 2)²
COUNT_3 = "-4000*s'*s' + 8000/3*s'"  # 4,000·(2y/3 − y²)
MEMBER = f"{GROUP_2} + {COUNT_3}"
HUGE = "-90000000*g'*g' + 360000000*g' + -360000000 + -36000000*s'*s' + 24000000*s'"
FAR = f"-10000*g'*g' + 180000*g' + -810000 + {COUNT_3}"  # −10,000·(g' − 9)²
INVARIANT = Consecutive(1, 2, {(): 5})
OWN = pair("-2000", None)


def member(score: str = MEMBER, group: str = "1*g'", **more: Any) -> Pair:
    return pair(score, group=group, count="1*s'", **more)


def by_count(*pairs: Pair, invariants: Any = (INVARIANT,), i: int = 0) -> Callable[[], object]:
    """Returns the reading of the count that is nearest to 1/3, among keys of group 2."""
    return lambda: read_count(reading(*pairs, of=reader(*invariants)), i)


def winners(*pairs: Pair, floor: Any = "self", apart: Any = None, invariants: Any = ()) -> Callable[[], object]:
    return lambda: find_winners(reading(*pairs, of=reader(*invariants)), floor, apart)


def mean(*some: Candidate, sure: Any = (), of: Reader | None = None) -> Callable[[], object]:
    return lambda: read_mean(reading(of=of), some, sure, everybody=False)


def test_cases_of_heads_are_right_but_for_what_is_changed() -> None:
    right = (
        by_position(pair("-40*k'*k' + 240*k' + -360"), pair("-40*k*k + 240*k + -360", None)),
        by_count(member(), OWN),
        winners(pair("-40*k'"), pair("1", None)),
        mean(candidate("", value="1*g'"), candidate("", None)),
    )
    assert [site_of(call) for call in right] == [""] * 4


HEADS: Cases = {
    "keys.pair: …: more than … pairs of a query and a key": lambda: [
        next(one.pair(None, QUERY, frozenset(), ())) for one in [reader()] for one.many in [keys.MOST_PAIRS]
    ],
    "heads.apply: …: a score is not alike in both machines": lambda: reader().apply(
        ["one", "self", None], reading(pair("1*s"))
    ),
    "heads.apply: …: … is no rule": lambda: reader().apply(["all"], reading(OWN)),
    "winners.read_one: …: two keys may have the same score": lambda: reader().apply(
        ["one", [0], None], reading(pair(""))
    ),
    "keys.require_lead: …: scores may differ by … only, and … is needed": winners(pair("-1*k'"), pair("1", None)),
    "keys.require_lead: …: the largest score saturates": by_count(
        member(f"-2000000*g'*g' + 8000000*g' + -8000000 + {COUNT_3}"), pair("-1048590", None)
    ),
    "positions.read_position: …: the position that is looked for is no whole number": lambda: read_position(
        reading(OWN), HALF
    ),
    "positions.read_position: …: no score is that of a distance": by_position(OWN),
    "positions.read_position: …: a score rises with the distance": by_position(pair("1*k'*k' + -6*k' + 9")),
    "positions.read_position: …: a score is not that of a distance": by_position(
        pair("-1*k'*k' + 6*k' + -9"), pair("5", None)
    ),
    "positions.read_position: …: the largest score saturates": by_position(pair("-40*k'*k' + 240*k' + 2097152")),
    "counts.target_of: …: no score is that of a distance between counts": by_count(OWN),
    "counts.take_apart: …: a count is no share": by_count(member(), pair("-2000", None, count="1")),
    "counts.take_apart: …: a score is not that of a distance between counts": by_count(member(), pair("1*s", None)),
    "counts.read_count: …: there is no such invariant": by_count(OWN, invariants=[Apart(1, 1)]),
    "counts.read_count: …: a key may win though it differs": by_count(
        member(f"-100*g'*g' + 400*g' + -400 + {COUNT_3}"), OWN
    ),
    "counts.read_count: …: what is compared is not the invariant's number": by_count(member(group="1*m'"), OWN),
    "counts.read_count: …: a key of the same number may lose": by_count(member(), member(FAR), OWN),
    "counts.read_count: …: it is not known who wins": by_count(member(FAR), pair("-1*k", None)),
    "counts.read_count: …: a score saturates": by_count(member(HUGE), OWN),
    "counts.nearest: …: several keys may win where none is equal": by_count(member(), OWN, pair("-2000")),
    "counts.nearest: …: the target is no function of one count": by_count(
        member(f"{GROUP_2} + -4000*s'*s' + 8000*s*s' + 8000*r*s'"), OWN
    ),
    "counts.moving_gaps: …: the target is not seen to lie between the next two counts": lambda: moving_gaps(
        [(1, 1)], 2, 9, "here"
    ),
    "ratios.least: the least value of a ratio is not known": lambda: Ratio([24, -10, 1], [1]).least(2, 9),
    "winners.find_winners: …: a score saturates": winners(pair("2097152", None)),
    "winners.find_winners: …: no position before the query": winners(OWN, floor=5),
    "winners.find_winners: …: a text may have none of these keys": winners(OWN, floor=[1]),
    "winners.find_winners: …: keys on the line may be of different numbers": winners(pair("-1*k'"), OWN, apart=0),
    "means.mean: …: a text may have none of these keys": mean(candidate(""), sure=[[1]]),
    "means.mean: …: a key that is said to win surely may not": mean(candidate("-1*g'"), sure=[[0]]),
    "means.mean: …: keys with different scores may win together": mean(candidate("-1*g'", value="1*g'")),
    "means.mean: …: values that are no whole numbers have a mean": mean(candidate("", value="1*s'")),
    "means.mean: …: the sum of weights may be rounded": mean(
        candidate("", value="1*g'", noise=1), of=reader(fused=False)
    ),
    "means.mean: …: a sum that no whole number is": mean(
        candidate("", value="1*g'", place="1"), candidate("", None, value="1", place="1"), sure=[[0]]
    ),
}

DISTANCE = "-1*k'*k' + 6*k' + -9"  # −(k' − 3)²
OTHER_HEADS: list[tuple[str, Callable[[], object]]] = [
    (
        "counts.moving_gaps: …: the target is not seen to lie between the next two counts",
        lambda: moving_gaps([(1, 2)], 3, 9, "here"),
    ),
    (
        "counts.moving_gaps: …: the target is not seen to lie between the next two counts",
        lambda: moving_gaps([(1, Fraction(1, 2))], 3, 4, "here"),
    ),
    ("positions.read_position: …: the position that is looked for is no whole number", by_position(OWN, at="1*k*k")),
    (
        "positions.read_position: …: a score is not that of a distance",
        by_position(pair(DISTANCE + " + 1*k"), pair("-90000", None)),
    ),
    ("positions.read_position: …: a score is not that of a distance", by_position(pair(DISTANCE), pair("-90000"))),
    ("counts.read_count: …: there is no such invariant", by_count(member(), OWN, i=1)),
    ("counts.read_count: …: there is no such invariant", by_count(member(), OWN, i=-1)),
    (
        "keys.require_lead: …: scores may differ by … only, and … is needed",
        by_count(member(f"{GROUP_2} + -40*s'*s' + 80/3*s'"), OWN),
    ),
    (
        "counts.read_count: …: a key of the same number may lose",
        by_count(member(), member(FAR, group="1*g' + 10*s'"), OWN),
    ),
    ("counts.read_count: …: it is not known who wins", by_count(member(FAR), pair("-2000", None, value="1"))),
    (
        "counts.read_count: …: it is not known who wins",
        by_count(member(FAR), OWN, pair("1*g' + -2001", key=1, place="1")),
    ),
    ("counts.read_count: …: a key may win though it differs", by_count(member(f"{MEMBER} + 1*m"), OWN)),
    (
        "counts.read_count: …: a key may win though it differs",
        by_count(member(f"{MEMBER} + -10000*m'*m' + 60000*m' + -90000"), OWN),
    ),
    (
        "counts.nearest: …: several keys may win where none is equal",
        by_count(member(), OWN, pair("-2000", key=1, place="1")),
    ),
    ("counts.nearest: …: several keys may win where none is equal", by_count(member(), pair("-2000"))),
    ("counts.nearest: …: several keys may win where none is equal", by_count(member(), pair("-1*k", None))),
    ("winners.find_winners: …: no position before the query", winners(OWN, floor=0)),
    (
        "winners.find_winners: …: keys on the line may be of different numbers",
        winners(pair("-1*k'", group="2"), OWN, floor=[0], apart=0, invariants=[INVARIANT]),
    ),
    (
        "winners.find_winners: …: keys on the line may be of different numbers",
        winners(pair("-1*k'", group="1*g'"), OWN, floor=[0], apart=0, invariants=[Apart(1, 3)]),
    ),
    ("means.mean: …: a text may have none of these keys", mean(candidate(""), sure=[[0], [0]])),
    ("means.mean: …: a key that is said to win surely may not", mean(candidate("", None), sure=[[0]])),
    ("means.mean: …: a key that is said to win surely may not", mean(replace(candidate(""), whole=False), sure=[[0]])),
    (
        "means.mean: …: the sum of weights may be rounded",
        mean(candidate("", value="1*g'"), of=reader(fused=False, format_=Format(5))),
    ),
]


# Sublayers


def of_positions(first: int, last: int, block: Document, before: str, after: str, **more: Any) -> Document:
    """Returns a certificate of a word at these positions, whose register 0 is `before`, and 1 is `after` from the attention on."""
    some = [
        kind("a", [first, last, 1], registers, [0])
        for registers in ({"0": before}, {"0": before, "1": after}, {"0": before, "1": after})
    ]
    entries = [entry([0, 1], [one]) for one in some]
    kept = [{**kind("", [first, last, 1], {"1": after}, []), "of": 0}]
    entries[0]["kept"] = kept if block.get("feed") else []
    document = certificate([place("a", f"{first}", f"{last}", [0], answer=True)], entries, [[[to(0)]]] * 3 + [[[]]])
    return {**document, **more}


def of_positions_kept(target: int = 0, kept: int = 0, of: int = 0) -> Callable[[], object]:
    """Returns the reading of a recurrence, after whose class what is kept is said to be `target` of so many, all of class `of`."""
    block = {"feed": {"1": {"0": "1"}}}
    document = of_positions(1, 1, block, "2", "2")
    first = document["entries"][0]
    first["kept"] = [{**one, "of": of} for one in first["kept"]] * kept
    first["classes"] *= of + 1
    moves = [[to(target), to(0)]] * (of + 1)
    return lambda: read({**document, "steps": [[[to(0)]], moves, [[to(0)]], [[]]]}, model({"a": TWO}, block))


def replace_invariants(*invariants: Any) -> rounding.Checker:
    """Returns a checker of the smallest certificate that assumes these invariants."""
    checker = rounding.Checker({**of_one_position(TWO, TWO, TWO), "p": 9}, read_rows(ROWS))
    checker.invariants = list(invariants)
    return checker


def sequential() -> rounding.Checker:
    return rounding.Checker({**of_one_position(TWO, TWO, TWO), "p": 9, "discipline": "sequential"}, read_rows(ROWS))


def of_numbers(block: Document, choices: list[Any] | None = None, **more: Any) -> Callable[[], object]:
    """Returns the reading of a certificate of one number of −3 … 3, in register 0. choices: at the feed-forward sublayer."""
    one = kind("number", [1, 1, 1], {"0": "1*v"}, [])
    one["atoms"]["v"] = ["integer", -3, 3, 1]
    same = ["class", 0, {"v": "1*v"}]
    state = {**place("", "1", "1", []), "label": "number", "least": "-3", "most": "3", "answer": True}
    document = certificate([state], [entry([0, 1], [one])] * 3, [[[same]], [[same]], [[*(choices or []), same]], [[]]])
    rows = {**model({}, block), "families": {"": {"low": -3, "high": 3, "rows": {"0": "1*v"}}}}
    return lambda: read({**document, "families": {"": [0, -3, 3]}, **more}, rows)


def stepped(
    registers: dict[int, Polynomial], block: Document, *invariants: Any, machine: bool = True
) -> Callable[[], object]:
    """Returns what a recurrence of this block does after a position with these registers."""
    checker = rounding.Checker(
        {**of_one_position(TWO, TWO, TWO), "discipline": "fused" if machine else "sequential"},
        read_rows(model({}, block)),
    )
    checker.invariants = list(invariants)
    state = State(checker.format, {**SHARED_BOX, "a": Integer(0, 9)}, registers)
    entry_ = rounding.Entry(frozenset([0, 1, 2]), [rounding.Class("", state)], [])
    (own,) = checker.weights.blocks

    def call() -> object:
        queues = checker.queues(own, [state], entry_.live, "here")
        return checker.recur(own, state, queues, entry_, rounding.Guide([]), "here")

    return call


def answers(registers: dict[int, Polynomial], *choices: Any, families: Any = (), **box: Domain) -> Callable[[], object]:
    """Returns the check of the words a, twice register 0, and b, register 1, at a position where the next token matters."""
    rows = read_rows({**model({"a": TWO, "b": {"1": "1"}}), "families": dict(families)})
    checker = rounding.Checker({**of_one_position(TWO, TWO, TWO), "p": 9}, rows)
    one = rounding.Class("a", State(FORMAT, SHARED_BOX | box, registers))
    return lambda: checker.answer(rounding.Entry(frozenset([0, 1]), [one], []), [rounding.Guide(choices)])


QUEUE_OF_2 = {"carry": {"2": {"2": "2"}}, "feed": {"2": {"0": "1", "1": "-4"}}}
DELAYED = Delayed(1, 0, 2)
SHARES: dict[str, Domain] = {"m": Integer(2, 9), "s": Share("m", 0)}
DIM: Document = {"low": 1, "high": 2, "rows": {"0": "1*v"}}
NOWHERE = place("", "1", "1", [], least="2", most="3", ends=0)
SUBLAYERS: Cases = {
    "rounding.embed: state …: no position, or one before 1": with_place(low="0"),
    "rounding.embed: state …: no token can stand there": of_numbers({}, automaton=[NOWHERE]),
    "rounding.add_position: the embedding: a position's slope depends on n": with_rows(position={"1": "1*n"}),
    "rounding.add_position: the embedding: a word's number and a position beyond the largest element are one sum": lambda: (
        read(of_positions(1, 9000, {}, "1*k + -2", ""), {**model({"a": {"0": "-2"}}, {}), "position": {"0": "1"}})
    ),
    "rounding.step: …: a coordinate is known that was not": with_entry(live=[]),
    "rounding.step: …: a coordinate is read that is not among those that are known": with_block(
        units=[{**UNIT, "gate": {"5": "1"}}]
    ),
    "rounding.restrict_counts: a class does not keep an invariant": lambda: rounding.Checker.restrict_counts(
        replace_invariants(Consecutive(0, 1, {})),
        replace(STATE, registers={0: {(): 1}, 1: atom("s")}),
        frozenset([0, 1]),
    ),
    "rounding.link: class … does not have class … before it": with_fields(
        automaton=[place("a", "1", "2", [0], answer=True)],
        entries=[entry([0], [kind("a", [1, 2, 1], TWO, [])]) for _ in range(3)],
    ),
    "rounding.neighbours: a part follows what its class does not": lambda: list(
        CHECKER.neighbours(rounding.Entry(frozenset(), [], []), [(0, 0, replace(STATE, before=frozenset([0])))], set())
    ),
    "rounding.leaf: there is no such class": with_fields(steps=[[[to(1)]], [[to(0)]], [[to(0)]], [[]]]),
    "rounding.leaf: a class of another label": with_class(label="b"),
    "rounding.feed: …: the sign of its gate is not known: …": of_numbers({"units": [UNIT]}, [["split", None, None]]),
    "rounding.recur: …: there is no rule for heads and a recurrence in one block": stepped(
        {}, {"heads": [HEAD], "feed": {"2": {"0": "1"}}}
    ),
    "rounding.recur: …: a queue is read by another row of the recurrence": stepped(
        {},
        {"carry": {"2": {"2": "2"}, "1": {"2": "1"}}, "feed": {"2": {"0": "1", "1": "-4"}, "1": {"0": "1"}}},
        DELAYED,
    ),
    "rounding.recur: …: what is kept is not of the class": of_positions_kept(),
    "rounding.queues: …: a coordinate is not among those that are known": stepped(
        {}, {"carry": {"2": {"2": "2"}}, "feed": {"2": {"0": "1", "7": "-4"}}}, Delayed(7, 0, 2)
    ),
    "rounding.queues: …: what enters the queue, or leaves it, may be no whole number": stepped(
        {0: HALF}, QUEUE_OF_2, DELAYED
    ),
    "rounding.queued: …: the queue may be rounded": stepped({0: {("a",): 9000}}, QUEUE_OF_2, DELAYED),
    "rounding.queued: …: a sum of the queue may be rounded": stepped(
        {0: atom("a")},
        {"carry": {"2": {"2": "2"}}, "feed": {"2": {"0": "1/8192", "1": "-1/2048"}}},
        DELAYED,
        machine=False,
    ),
    "rounding.answer: the output head: a logit that saturates may be the largest": answers(
        {0: {("k",): -2}, 1: {(): -20}}
    ),
    "rounding.answer: the output head: there is no rule for an inexact logit of numbers": answers(
        {0: atom("s")}, families={"": DIM}, **SHARES
    ),
    "rounding.answer: the output head: the sign of … is not known": answers(
        {0: atom("s"), 1: HALF}, ["split", None, None], **SHARES
    ),
    "rounding.logit: the output head: coordinate … is not among those that are known": lambda: CHECKER.logit(
        STATE, {5: {(): 1}}, frozenset()
    ),
    "rounding.logit: the output head: a product may be rounded": lambda: sequential().logit(
        replace(STATE, registers={0: atom("k")}), {0: {(): Fraction(1, 32)}}, frozenset([0])
    ),
    "rounding.logit: the output head: a logit may be rounded": answers({0: {("k",): 9}}),
}


# Programs

POSITION, BACK = ["position"], ["back", 0, 1]
GHOST = program.GHOST
BY_HEAD, AT_TOKEN = [1, 0, None], [0, None, None]
LIVE = [GHOST, GHOST + 1]


def defines(*atoms: Any, answer: Any = ("anything",)) -> Callable[[], Definition]:
    return lambda: Definition({"atoms": [*map(list, atoms)], "answers": {"": [*answer]}})


def scheduled(
    *atoms: Any, ghosts: Any = (AT_TOKEN, BY_HEAD), live: Any = LIVE, invariants: Any = (), answer: Any = ("anything",)
) -> ProgramChecker:
    """Returns a checker of a model of one head, with these atoms as ghosts."""
    document = of_one_position(TWO, TWO, TWO)
    document["entries"] = [{**one, "live": [0, 1, *live]} for one in document["entries"]]
    document |= {"p": 41, "ghosts": list(ghosts), "invariants": [*invariants]}
    rows = {
        **model({"a": TWO, "b": {"1": "1"}}, {"heads": [HEAD]}),
        "families": {"": {"low": 1, "high": 2, "rows": {"1": "1*v"}}},
    }
    return ProgramChecker(document, read_rows(rows), defines(*atoms, answer=answer)())


def schedules(*arguments: Any, **more: Any) -> Callable[[], object]:
    return lambda: scheduled(*arguments, **more)


def due(*answer: Any, ghost: str = "", registers: Any = (), live: Any = LIVE) -> Callable[[], object]:
    """Returns the comparison of an answer with the logits, where atom 0 is a polynomial."""
    state = replace(QUERY, registers={GHOST: parse(ghost), **dict(registers)})
    return lambda: scheduled(POSITION, BACK, answer=answer, live=live).require_due(state, "", {0})


def ghost_reader(*atoms: Any, ghosts: Any = (AT_TOKEN, BY_HEAD)) -> GhostReader:
    one: Any = scheduled(*atoms, ghosts=ghosts).reader_of(0, CLASSES, frozenset(range(9)))
    one.rule, one.shown = "one", [True]
    return one


def picks(atom_: Any, place_: str, before: str = "") -> Callable[[], object]:
    """Returns the look at whether the key that was read, at this place, is the one that an atom names."""
    state = replace(QUERY, registers={4: parse(place_), 3: parse("1*k"), GHOST: parse(before)})
    return lambda: ghost_reader(POSITION, atom_).is_picked(state, 1, 5)


def ordered(kind_: str, *some: Candidate, pairs: Any = ((0, 0),)) -> Callable[[], object]:
    return lambda: ghost_reader(POSITION, [kind_, 0, pairs]).require_order(some, 1)


def counts(*some: Candidate, mean_: str = "", marks: str = "", mark: int | None = None) -> Callable[[], object]:
    """Returns the count of keys that match, where the head reads these means of 1 at position 1, and of marks."""
    state = replace(QUERY, registers={9: parse(mean_), 8: parse(marks)})
    return lambda: ghost_reader(POSITION, ["count", [[0, 0]]], ghosts=[AT_TOKEN, [1, 0, mark]]).count(state, some, 1, 9)


def key_of(score: str, ghost: str = "1", asked: str = "1", **more: Any) -> Candidate:
    return candidate(score, ghost=ghost, asked=asked, **more)


ANY = (POSITION, BACK)
LATER = "1*k' + 1"  # no key there is position 1
TWICE = ["count", [[0, 0], [0, 0]]]
PROGRAMS: Cases = {
    "program.__init__: definition: more than … atoms": defines(*[POSITION] * (program.MOST_ATOMS + 1)),
    "program.__init__: definition: atom …: no such atom": defines(["place"]),
    "program.__init__: definition: atom … is made of what does not stand before it": defines(["back", 0, 1]),
    "program.__init__: definition: atom …: no step back, or more than …": defines(POSITION, ["back", 0, 0]),
    "program.__init__: definition: atom …: no sign": defines(POSITION, ["comb", 0, 1, 2]),
    "program.index: definition: … is no atom": defines(POSITION, ["term", "1*b"]),
    "program.require_answer: definition: no such answer": defines(answer=["say"]),
    "program.require_answer: definition: an answer's atom is not there": defines(answer=["number", 0, ""]),
    "program.__init__: as many ghosts are due as the definition has atoms": schedules(*ANY, ghosts=[]),
    "program.__init__: an invariant speaks of a ghost, which the exact machine does not have": schedules(
        *ANY, invariants=[{**LIMITED, "sum": GHOST}]
    ),
    "program.require_schedule: ghost …: no such step": schedules(*ANY, ghosts=[BY_HEAD, BY_HEAD]),
    "program.require_schedule: ghost …: it is made where no head reads": schedules(
        *ANY, ghosts=[AT_TOKEN, [2, 0, None]]
    ),
    "program.require_schedule: ghost …: its register is not among those that are written": schedules(
        *ANY, live=[GHOST]
    ),
    "program.require_schedule: ghost …: there is no ghost …": schedules(
        POSITION, ["count", []], ghosts=[AT_TOKEN, [1, 0, 2]]
    ),
    "program.require_schedule: ghost …: ghost … is not known there": schedules(*ANY, ghosts=[None, BY_HEAD]),
    "program.require_schedule: ghost …: no such head": schedules(*ANY, ghosts=[AT_TOKEN, [1, 1, None]]),
    "program.require_bit: ghost … compares more than one pair, or none, and no recurrence keeps that": lambda: (
        scheduled(POSITION, TWICE).require_bit(QUERY, 1)
    ),
    "program.require_bit: ghost … is not the sum of what it compares": lambda: scheduled(
        POSITION, ["count", [[0, 0]]]
    ).require_bit(replace(QUERY, registers={GHOST: {(): 2}}), 1),
    "program.token_registers: a state of the automaton stands for position 1 and others": lambda: scheduled(
        *ANY
    ).token_registers(read_place(place("a", "1", "2", []), 1)),
    "program.value: ghost … may be another number in both machines": lambda: scheduled(*ANY).value(
        replace(QUERY, registers={GHOST: atom("s")}), 0, {0}
    ),
    "program.by_meaning: ghost … is not known where it is asked for": lambda: scheduled(*ANY).value(QUERY, 0, set()),
    "program.require_due: the output head: there is no word …": due("say", "c"),
    "program.require_due: the output head: there is no family …": due("number", 0, "c", ghost="1"),
    "program.require_due: the output head: the due number may be no whole number": due("number", 0, "", ghost="1/2*k"),
    "program.require_due: the output head: the due number may be … … …, of … … …": due("number", 0, "", ghost="5"),
    "program.require_due: the output head: … may be said, and is not due": due("say", "a", registers={1: {(): 1}}),
    "program.require_behind: the output head: a number of … may be said, and is not due": due(
        "say", "b", registers={0: {(): -1}, 1: {(): 1}}
    ),
    "program.exact_logit: the output head: coordinate … is not among those that are known": lambda: scheduled(
        *ANY
    ).exact_logit(QUERY, {5: {(): 1}}),
    "program.cut: a sign decides, and is not known": lambda: program.cut(
        STATE, atom("k"), rounding.Guide([["split", None, None]])
    ),
    "program.is_zero: what decides is not alike in both machines": lambda: program.is_zero(STATE, atom("s")),
    "program.read: …, head …: what is said of its ghosts is malformed": lambda: ghost_reader(*ANY).read(
        QUERY, 0, ghost_reader(*ANY).checker.weights.blocks[0].heads[0], 0, rounding.Guide([["ghosts", [1]]])
    ),
    "program.show: …: several keys may be read, and ghost … is one of them": lambda: (one := ghost_reader(*ANY)).judge(
        [QUERY], setattr(one, "rule", "mean") or reading(pair(""), OWN), 0, rounding.Guide([])
    ),
    "program.anything: …: ghost … may be no whole number": lambda: ghost_reader(*ANY).anything(
        [QUERY], 1, [key_of("", ghost="1*s'")], 9, None
    ),
    "program.is_picked: …: it is not known which key ghost … is of": picks(BACK, "1*s"),
    "program.is_picked: …: the key is not … before, and ghost … is of that": picks(BACK, "1*k + -2"),
    "program.is_picked: …: the position of ghost … may be no whole number": picks(["at", 0, 0], "1", "1/2*k"),
    "program.is_picked: …: the key is not the one at the position of ghost …": picks(["at", 0, 0], "1*k", "2"),
    "program.is_picked: …: a key that does not match may be read, and ghost … is of none but position 1": picks(
        ["first", 0, [[0, 0]]], "3", "1"
    ),
    "program.divided: …: what ghost … compares is no form of whole numbers": ordered(
        "first", key_of("", ghost="1*g'*g'")
    ),
    "program.require_order: …: a score is not alike in both machines": ordered("first", key_of("1*s'")),
    "program.require_order: …: a key that does not match may score as one that does, for ghost …": ordered(
        "first", key_of("-1*k'"), key_of("", ghost="2")
    ),
    "program.require_line: …: scores are not seen to be a function of the position, for ghost …": ordered(
        "first", key_of("-1*g'", place=LATER)
    ),
    "program.require_line: …: scores are not one function of the position, for ghost …": ordered(
        "last", key_of("2*k'"), key_of("1*k' + 2")
    ),
    "program.require_line: …: the key of largest score is not the … that matches, for ghost …": ordered(
        "first", key_of("1*k'")
    ),
    "program.count: …: a score is not alike in both machines": counts(key_of("1*s'")),
    "program.count: …: a key that matches, or position 1, may not have the largest score, for ghost …": counts(
        key_of("-1*k'")
    ),
    "program.count: …: a key that does not match may have the largest score, for ghost …": counts(
        key_of(""), key_of("1*g' + -3", ghost="2", place=LATER), mean_="1*s"
    ),
    "program.count: …: how many keys have the largest score is not known, for ghost …": counts(
        key_of(""), key_of("-1", ghost="2", place=LATER), mean_="2*s"
    ),
    "program.count: …: ghost … does not mark the keys that match, for ghost …": counts(
        key_of("", ghost="2"), mean_="1*s", mark=0
    ),
    "program.count: …: the mean of marks is not known, for ghost …": counts(
        key_of("", place="1", ghost="0"), key_of("-1", ghost="0", place=LATER), mean_="1*s", marks="1*r", mark=0
    ),
}
# All large n at once

LARGE = Case(growth.root(4, 0))
N, ONE_OF_N = LARGE.number("1*$n"), LARGE.number("(1)/(1*$n + 1)")
OF_N = {"n": ["1*$n", "1*$n"], **{field: [] for field in sorted(cases.FIELDS - {"n"})}}


def in_cases(part: Any, **fields: Any) -> Callable[[], object]:
    """Returns the reading of a file whose cases are both this."""
    return lambda: cases.check(json.dumps({"bits_of_bits": 4, "cases": [part] * 2, **fields}).encode())


GROWING: Cases = {
    "polynomials.canonical: a form whose coefficients grow apart": lambda: canonical({("a",): 1, ("b",): N}),
    "growing.terms: a quotient of polynomials has no text": lambda: text_of({("a",): ONE_OF_N}),
    "growing.ask: the case needs a split: … … 0": lambda: LARGE.number("3/4*$E") < N,
    "growing.number: a number is no text, or too long": lambda: LARGE.number("1" * 6000),
    "growing.number: a number has unknown symbols": lambda: LARGE.number("1*$f1"),
    "growing.whole: … is not seen to be whole": lambda: LARGE.whole("1/2*$n"),
    "growing.divided: a number is divided by 0": lambda: N / (N - N),
    "growing.other: numbers of two cases": lambda: N + Case(growth.root(4, 0)).number("1*$n"),
    "growing.less: a number beside what is none": lambda: N < "n",
    "growing.__floor__: it is not seen what … is, rounded down": lambda: floor(N / 3),
    "growing.bit_length: the bit length of …": ONE_OF_N.bit_length,
    "growing.power_of_two: 2^(…)": lambda: two_to(N),
    "growing.common_divisor: a common divisor of quotients": lambda: N.common_divisor([N, ONE_OF_N]),
    "cases.check: a file is too large": lambda: cases.check(b" " * (MOST_BYTES + 1)),
    "cases.cases_of: B has from 2 to 64 bits at least, and there are one or two cases of them": in_cases(
        {}, bits_of_bits=1
    ),
    "cases.walked: a case is split too often": lambda: [*cases.walked({}, {}, LARGE, cases.MOST_DEPTH + 1)],
    "cases.walked: a case is neither split nor about a model": in_cases({}),
    "cases.check_case: a model or a certificate has other fields than are due": lambda: cases.check_case({}, {}, LARGE),
    "cases.check_case: a model is not that of n": lambda: cases.check_case(
        {**OF_N, "n": [1, 1]}, {"entries": [], "steps": []}, LARGE
    ),
}
CASES: Cases = READING | TENSOR_FILES | STATES | HEADS | SUBLAYERS | PROGRAMS | GROWING


OTHER_READING: list[tuple[str, Callable[[], object]]] = [
    ("rounding.__init__: p: no odd number from 5 to …", with_fields(p=3)),
    ("rounding.__init__: p: no odd number from 5 to …", with_fields(p=rounding.MOST_BITS + 1)),
    ("rounding.__init__: n: no interval of numbers from 1 on", with_fields(n=[0, 1])),
    (
        "rounding.check: as many entries are due as there are sublayers, and one more; and as many steps and one more",
        with_fields(entries=of_one_position(TWO, TWO, TWO)["entries"][:2], steps=[[[to(0)]], [[to(0)]], [[]]]),
    ),
    ("rounding.take: the certificate has no … here", with_fields(steps=[[[["rule"]]], [[to(0)]], [[to(0)]], [[]]])),
    ("rounding.read_entry: no class, or more than …", with_entry(kept=[{}] * (rounding.MOST_CLASSES + 1))),
    ("rounding.read_entry: no class, or more than …", with_entry(classes=[{}] * (rounding.MOST_CLASSES + 1))),
    (
        "rounding.require_state: a class has no position, or one before 1",
        with_class(atoms={"k": ["integer", 1, 1, 1]}, registers={}),
    ),
]


COVERED = "rounding.require_covered: "
WITH_SHARE = {"m": atom("m"), "s": atom("s"), "z": atom("z")}
OTHER_READING += [
    ("automaton.read_place: automaton: malformed state", with_place(label=3)),
    ("automaton.read_place: automaton: malformed state", with_place(answer=1)),
    ("automaton.range_of: automaton: a bound of positions or numbers that is none", with_place(high="1*n*n*n")),
    ("automaton.range_of: automaton: a bound of positions or numbers that is none", with_place(high="-1*n*n + 2")),
    ("automaton.read_place: automaton: a state comes after one that is not there", with_place(after=[-1])),
    ("model.parse: a polynomial is no text, or too long", lambda: parse("1" * 30_000)),
    (
        "model.read_tensors: vocabulary: as many different words are due as there are rows",
        reads_tensors(vocabulary="1 2 3"),
    ),
    ("model.matrix: weights: …: another shape is due", reads_tensors({FFN + "W_gate": ([1, 1, 1], [1])})),
    ("model.matrix: weights: …: another shape is due", reads_tensors({ATTENTION + "W_Q": ([1, 2], [1, 1])})),
    ("model.vector: weights: …: another shape is due", reads_tensors({FFN + "b_down": None})),
    ("growing.bit_length: the bit length of …", lambda: (ONE_OF_N.case.number("1*$n^-1") + N).bit_length()),
]
OTHER_STATES: list[tuple[str, Callable[[], object]]] = [
    (
        "rounding.require_state: a class is malformed",
        with_class(
            atoms={"n": ONE_N, "k": ["integer", 1, 1, 1], "m": ["integer", 1, 2, 1], "s": ["share", "m", 0]},
            forms=[["1*k + 1*s", 1, 2]],
        ),
    ),
    ("rounding.read_entry: what is kept is of no class", with_entry(kept=[{**kind("", [1, 1, 1], {}, []), "of": -1}])),
    ("rounding.read_state: … is no name of an atom", with_atoms(h0=["integer", 1, 1, 1])),
    ("rounding.read_state: … is no name of an atom", with_atoms(**{"": ["integer", 1, 1, 1]})),
    ("rounding.read_state: a form is not written as it must be", with_class(forms=[["2*k + 2*n", 4, 4]])),
    ("rounding.read_state: a form is not written as it must be", with_class(forms=[["1*k", 1, 1]])),
    ("rounding.require_state: …: no domain", with_atoms(a=["integer", 1, 1, 0])),
    ("rounding.require_state: …: no domain", with_atoms(a=["integer", 1, 2, 2])),
    (COVERED + "not each atom of the class has a value here", covers(STATE, {"a": atom("b")}, a=Integer(0, 7))),
    (COVERED + "… may be no whole number", covers(STATE, {"a": atom("s")}, a=Integer(0, 7))),
    (COVERED + "… may be … … …, and not as … has it", covers(STATE, {"a": atom("a")}, a=Integer(1, 7))),
    (COVERED + "… may be … … …, and not as … has it", covers(STATE, {"a": atom("a")}, a=Integer(0, 8, 2))),
    (COVERED + "… is no share here", covers(STATE, {"m": {(): 1}, "s": HALF}, m=Integer(1, 1), s=Share("m", 0))),
    (COVERED + "… is no share here", covers(STATE, {"m": {(): 2}, "s": {(): 1}}, m=Integer(2, 2), s=Share("m", 0))),
    *(
        (COVERED + "… has wider bounds here", covers(WITH_ROUNDED, WITH_SHARE, m=Integer(2, 3), s=Share("m", 0), z=z))
        for z in (ROUNDED._replace(low=Fraction(1, 8)), ROUNDED._replace(high=Fraction(1, 2)))
    ),
    (
        COVERED + "… may be … … …, and not … … …",
        covers(STATE, {"a": atom("a")}, forms={(("a", 1), ("k", 1)): (2, 16)}, a=Integer(0, 7)),
    ),
]
OTHER_SUBLAYERS: list[tuple[str, Callable[[], object]]] = [
    ("rounding.embed: state …: no position, or one before 1", with_place(high="0")),
    ("rounding.leaf: there is no such class", with_fields(steps=[[[to(-1)]], [[to(0)]], [[to(0)]], [[]]])),
    ("rounding.recur: …: what is kept is not of the class", of_positions_kept(-1, kept=1)),
    ("rounding.recur: …: what is kept is not of the class", of_positions_kept(0, kept=1, of=1)),
    (
        "rounding.queued: …: the queue may be rounded",
        stepped({0: atom("a")}, {"carry": {"2": {"2": "2"}}, "feed": {"2": {"0": "1/16384", "1": "-1/4096"}}}, DELAYED),
    ),
    (
        "rounding.logit: the output head: a product may be rounded",
        lambda: sequential().logit(replace(STATE, registers={0: atom("k")}), {0: {(): 2}}, frozenset([0])),
    ),
    ("rounding.logit: the output head: a logit may be rounded", answers({0: {("k",): Fraction(1, 64)}})),
    ("rounding.logit: the output head: a logit may be rounded", answers({0: {("k", "s"): -9}}, **SHARES)),
]


FEW = "program.require_schedule: ghost …: "
TOP = "program.count: …: a key that matches, or position 1, may not have the largest score, for ghost …"
OTHER_PROGRAMS: list[tuple[str, Callable[[], object]]] = [
    ("program.index: definition: … is no atom", defines(POSITION, ["term", "1*a00"])),
    (
        "program.__init__: definition: atom …: no step back, or more than …",
        defines(POSITION, ["back", 0, program.LONGEST + 1]),
    ),
    ("program.require_answer: definition: an answer's atom is not there", defines(POSITION, answer=["number", -1, ""])),
    (
        "program.__init__: an invariant speaks of a ghost, which the exact machine does not have",
        schedules(*ANY, invariants=[{**LIMITED, "sum": program.GHOST_FIRST}]),
    ),
    (FEW + "no such step", schedules(*ANY, ghosts=[AT_TOKEN, [3, 0, None]])),
    (FEW + "no such step", schedules(*ANY, ghosts=[AT_TOKEN, [-1, 0, None]])),
    (FEW + "no such head", schedules(POSITION, ["at", 0, 0], ghosts=[AT_TOKEN, [1, None, None]])),
    (FEW + "no such head", schedules(*ANY, ghosts=[AT_TOKEN, [1, -1, None]])),
    (FEW + "there is no ghost …", schedules(POSITION, ["count", []], ghosts=[AT_TOKEN, [1, 0, -1]])),
    (FEW + "ghost … is not known there", schedules(*ANY, live=[GHOST + 1])),
    (
        FEW + "ghost … is not known there",
        schedules(*ANY, ["back", 1, 1], ghosts=[AT_TOKEN, BY_HEAD, BY_HEAD], live=[*LIVE, GHOST + 2]),
    ),
    (
        "program.anything: …: ghost … may be no whole number",
        lambda: ghost_reader(*ANY).anything([QUERY], 1, [key_of("", ghost="1/2*g'")], 9, None),
    ),
    *(
        (
            "program.require_bit: ghost … is not the sum of what it compares",
            lambda state=state: scheduled(
                POSITION, POSITION, ["count", [[0, 1]]], ghosts=[AT_TOKEN] * 2 + [None]
            ).require_bit(state, 2),
        )
        for state in (
            replace(QUERY, registers={GHOST: {(): 2}, GHOST + 1: {(): 1}}),
            replace(QUERY, registers={GHOST: {(): 1}, GHOST + 1: {(): 2}}),
            replace(CLASSES[0], registers={GHOST: {(): 1}, GHOST + 1: {(): 1}}),
        )
    ),
    ("program.require_due: the output head: the due number may be … … …, of … … …", due("number", 0, "", ghost="0")),
    (
        "program.require_due: the output head: the due number may be … … …, of … … …",
        due("number", 0, "", ghost="1*m*m + -3"),
    ),
    (
        "program.require_due: the output head: … may be said, and is not due",
        due("say", "a", registers={0: {(): 1}, 1: {(): 2}}),
    ),
    (
        "program.require_behind: the output head: a number of … may be said, and is not due",
        due("say", "b", registers={0: {(): -9}, 1: {(): -1}}),
    ),
    (
        "program.read: …, head …: what is said of its ghosts is malformed",
        lambda: ghost_reader(*ANY).read(
            QUERY,
            0,
            ghost_reader(*ANY).checker.weights.blocks[0].heads[0],
            0,
            rounding.Guide([["ghosts", [True, True]]]),
        ),
    ),
    ("program.is_picked: …: the position of ghost … may be no whole number", picks(["at", 0, 0], "1", "1*k*k")),
    (
        "program.require_order: …: a key that does not match may score as one that does, for ghost …",
        ordered("first", key_of("", place=LATER), key_of("", ghost="2", place=LATER)),
    ),
    (TOP, counts(key_of("", place=LATER), mean_="1*s")),
    (TOP, counts(key_of("", place="1"), key_of("-1", place=LATER), mean_="1*s")),
    (TOP, counts(key_of("", place="1"), key_of("1*g' + -3", place=LATER), mean_="1*s")),
    (
        "program.count: …: the mean of marks is not known, for ghost …",
        counts(
            key_of("", place="1", ghost="0"), key_of("-1", ghost="0", place=LATER), mean_="1*r", marks="1*r*s", mark=0
        ),
    ),
]


@pytest.mark.parametrize("name", CASES)
def test_refusal_is_reached(name: str) -> None:
    assert site_of(CASES[name]) == name


@pytest.mark.parametrize(
    "case", [*OTHER_READING, *OTHER_STATES, *OTHER_HEADS, *OTHER_SUBLAYERS, *OTHER_PROGRAMS], ids=lambda case: case[0]
)
def test_refusal_is_reached_otherwise(case: tuple[str, Callable[[], object]]) -> None:
    """What is wrong in one of several ways that a line asks for is refused, each by itself."""
    name, call = case
    assert site_of(call) == name


def test_each_refusal_has_a_case() -> None:
    assert sorted(CASES) == sorted(name for module in FILES for name in sites(module))

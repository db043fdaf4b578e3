"""What heads read, in small models whose certificates are written by hand: each says what a run contradicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

from constructions.exports.weights import file_bytes
from constructions.layers import AttentionHead, Block, FeedForward, Transformer
from constructions.wiring.wired import Wired
from tests.verify.trusted.test_rounding import Document, contradiction, verdict
from verify.trusted import candidates, rounding
from verify.trusted.abstract_state import Domain, Format, Integer, Share, State
from verify.trusted.automaton import Consecutive
from verify.trusted.polynomials import Polynomial, atom
from verify.trusted.winners import Winners

Rows = Sequence[Mapping[int, float]]


class Reads(NamedTuple):
    """A head's rows. out: register → the value that is written there."""

    query: Rows
    key: Rows
    value: Rows
    out: Mapping[int, int]


def matrix(rows: Rows, width: int) -> Any:
    result = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for j, w in row.items():
            result[i, j] = w
    return result


def model_of(words: Rows, width: int, *reads: Reads) -> Transformer:
    """One block of these heads, whose feed-forward layer does nothing."""
    some = []
    for read in reads:
        out = np.zeros((width, len(read.value)))
        for i, j in read.out.items():
            out[i, j] = 1
        query, key, value = (matrix(rows, width) for rows in read[:3])
        some.append(AttentionHead(query, key, value, out))
    nothing, empty = np.zeros((0, width)), np.zeros(0)
    block = Block(tuple(some), FeedForward(nothing, empty, nothing, empty, np.zeros((width, 0)), np.zeros(width)))
    return Transformer(matrix(words, width), np.zeros(width), (block,), matrix(words, width))


def place(token: str | tuple[int, int], low: int, high: int, after: Sequence[int], answer: bool) -> Document:
    word, (least, most) = (token, ("", "")) if isinstance(token, str) else ("", map(str, token))
    ends = {"word": word, "family": "", "least": least, "most": most, "low": str(low), "high": str(high)}
    return {"label": word, **ends, "every": 1, "ends": None, "after": [*after], "answer": answer}


def state_of(one: Document, registers: Mapping[int, str], **atoms: list[Any]) -> Document:
    """A class of the positions of a state of the automaton."""
    k = ["integer", int(one["low"]), int(one["high"]), 1]
    named = {str(i): text for i, text in registers.items()}
    box = {"k": k, "n": ["integer", 1, 1, 1], **atoms}
    return {"label": one["label"], "atoms": box, "forms": [], "registers": named, "before": one["after"]}


def files_of(
    model: Transformer, vocabulary: list[str], entries: list[list[Document]], **fields: Any
) -> tuple[Document, bytes, bytes, Wired]:
    weights, live = file_bytes(model), [*range(model.width)]
    document = {
        "p": 23,
        "discipline": "fused",
        "n": [1, 1],
        "families": {},
        "invariants": [],
        "weights": hashlib.sha256(weights).hexdigest(),
        "entries": [{"live": live, "classes": classes, "kept": []} for classes in entries],
        **fields,
    }
    wired = cast(Wired, SimpleNamespace(model=model, vocabulary=vocabulary))
    return document, weights, json.dumps({"vocabulary": vocabulary}).encode(), wired


def test_key_of_another_number_may_win_the_count() -> None:
    """Key a has −40v² + 1 and the query's own position −59: at v = 1 key a wins, though it has no group's number."""
    words: Rows = [{0: 1, 1: 1, 4: 1, 6: 1}, *({2: v * v, 3: 1} for v in (1, 2, 3))]
    read = Reads(
        [{2: 1}, {3: 2}, {3: -1}, {3: -59}],
        [{6: -40}, {0: 1}, {1: 1}, {3: 1}],
        [{4: 1}],
        {5: 0},
    )
    key, query = place("a", 1, 1, [], False), place((1, 3), 2, 2, [0], True)
    share = {"m": ["integer", 1, 1, 1], "s": ["share", "m", 0]}
    number = {"v": ["integer", 1, 3, 1]}
    at_query = state_of(query, {2: "1*v*v", 3: "1"}, **number)
    entries = [
        [state_of(key, {0: "1*s", 1: "1*s*s", 4: "1", 6: "1"}, **share), at_query],
        [{**at_query, "before": []}],
        [{**at_query, "before": []}],
    ]
    same = {"v": "1*v"}
    steps = [
        [[["class", 0, {"m": "1", "s": "1"}]], [["class", 1, same]]],
        [[], [["rule", "count", 0], ["class", 0, same]]],
        [[["class", 0, same]]],
        [[]],
    ]
    document, weights, sidecar, wired = files_of(
        model_of(words, 8, read),
        ["a", "1", "2", "3"],
        entries,
        steps=steps,
        automaton=[key, query],
        families={"": [1, 1, 3]},
        invariants=[{"kind": "consecutive", "group": 7, "share": 0, "most": "5"}],
    )
    assert contradiction(document, wired, 20)
    assert verdict(document, weights, sidecar)


def test_values_beyond_what_there_is_room_for_are_rejected() -> None:
    """The first head's last value stood where the second head's reading forgets what keys have: it was taken for 0."""
    many = 100_001
    read = Reads([], [], [*[{}] * (many - 1), {0: 1}], {1: many - 1})
    only = place("a", 1, 1, [], True)
    at_end = state_of(only, {0: "1"})
    document, weights, sidecar, wired = files_of(
        model_of([{0: 1}], 2, read, Reads([], [], [{}], {})),
        ["a"],
        [[at_end]] * 3,
        steps=[[[["class", 0, {}]]]] * 3 + [[[]]],
        automaton=[only],
    )
    assert contradiction(document, wired, 1)
    assert verdict(document, weights, sidecar)


# What invariants say, they say of the exact machine: 4·ROUND(1/5) is 1 in R_7, and 4/5 there


def test_group_below_one_in_the_exact_machine_has_no_count() -> None:
    share: dict[str, Domain] = {"m": Integer(5, 5), "s": Share("m", 0), "j": Integer(1, 4), "c": Share("j", 0)}
    box = {"n": Integer(1, 1), "k": Integer(1, 9), **share}
    state = State(Format(7), box, {0: {("s",): 4}, 1: {("c",): 1}})
    assert (state.bounds({("s",): 4}), state.bounds({("s",): 4}, ideal=True)[0]) == ((1, 1), Fraction(4, 5))
    checker = SimpleNamespace(invariants=[Consecutive(0, 1, {(): 9})])
    counted = rounding.Checker.restrict_counts(cast(rounding.Checker, checker), state, frozenset((0, 1)))
    assert counted.integer("j") == Integer(1, 4)
    whole = replace(state, registers={0: {(): 1}, 1: {("c",): 1}})
    assert (
        rounding.Checker.restrict_counts(cast(rounding.Checker, checker), whole, frozenset((0, 1))).integer("j").low
        == 2
    )


@pytest.mark.parametrize(("group", "alike"), [({("s",): 4}, False), ({(): 1}, True)])
def test_group_below_one_in_the_exact_machine_keeps_nothing_apart(group: Polynomial, alike: bool) -> None:
    box: dict[str, Domain] = {"n": Integer(1, 1), "k": Integer(9, 9), "m": Integer(5, 5), "s": Share("m", 0)}
    registers = {candidates.SCORE: {("k'",): 1}, candidates.PLACE: atom("k'"), candidates.GROUP: group}
    joint = State(Format(7), {**box, "k'": Integer(1, 8)}, cast(dict[int, Polynomial], registers))
    key = candidates.Candidate(0, joint, frozenset(["k'"]), 0, ())
    assert Winners([key], [True]).have_one_number(candidates.GROUP) == alike


def test_lead_over_a_key_whose_place_the_query_says() -> None:
    """At v = 1 the key at v has −v² = −1, and another 0: keys on the line −5h − v² + 5v differ by 5, and say nothing of that."""
    box: dict[str, Domain] = {"n": Integer(1, 1), "k": Integer(9, 9), "v": Integer(0, 5), "k'": Integer(6, 8)}

    def key(score: Polynomial, place: Polynomial) -> candidates.Candidate:
        registers = {candidates.SCORE: score, candidates.PLACE: place, candidates.ASKED: atom("v")}
        joint = State(Format(23), box, registers)
        return candidates.Candidate(0, joint, frozenset(["k'"]), 0, ("v",))

    at_v = key({("v", "v"): -1}, atom("v"))
    on_line = key({("k'",): -5, ("v", "v"): -1, ("v",): 5}, atom("k'"))
    other = key({}, {(): 1})
    assert Winners([at_v, other, on_line], [False, False, True]).lead([]) <= 1


@pytest.mark.parametrize(("weight", "accepted"), [("1*k", False), ("1*n", True)])
def test_weight_that_depends_on_the_position_is_rejected(weight: str, accepted: bool) -> None:
    nowhere: Document = {"families": {}, "position": {}, "blocks": []}
    rows = json.dumps({**nowhere, "words": {"a": {"0": weight}}}).encode()
    only = place("a", 1, 2, [0], False)
    document, *_ = files_of(
        model_of([{0: 1}], 1),
        ["a"],
        [[state_of(only, {0: weight})]],
        steps=[[[["class", 0, {}]]], [[]]],
        automaton=[only],
    )
    assert (verdict({**document, "weights": hashlib.sha256(rows).hexdigest()}, rows, b"{}") == "") == accepted

"""Models that tell the same are the same function: heads that compare, read and prefer other things must tell so."""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict

from constructions.layers import AttentionHead, Transformer
from constructions.rows import HeadRows, Layer, Row, Sublayer
from precision.format import Arithmetic, fixed_point
from tests.verify.subjects import as_model
from verify.algebra.polynomial import atom, constant
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.building import build
from verify.certificates.document import UNKNOWN, compared, judge
from verify.certificates.ideal import IdealModel
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import RETRIEVERS
from verify.rounding.checker import check
from verify.rounding.model import ExactModel, NumberFamily

N = 4
SUBJECT = find_subject("ngram", N)
WIRED, AUTOMATON = RETRIEVERS["ngram"].build(N), build(SUBJECT)[1]
HELD = ("number", "number@1", "number@2")
TEXTS = [
    ("<s>", *sequence, "?", *query)
    for sequence in itertools.product("12", repeat=N)
    for query in itertools.product("12", repeat=2)
]


def with_last_head(head: AttentionHead) -> Transformer:
    *blocks, last = WIRED.model.blocks
    return dataclasses.replace(WIRED.model, blocks=(*blocks, dataclasses.replace(last, heads=(head,))))


def matching(keys: tuple[str, str], scale: float) -> Transformer:
    """The last head reads the first position that has the number asked last, and the one before, in these two registers."""
    (head,) = WIRED.model.blocks[-1].heads
    rows, at = head.key.copy(), WIRED.registers.index
    rows[:4] *= scale
    rows[0] = 0
    for row, (name, before) in enumerate(zip(keys, HELD[1:], strict=True), start=1):
        rows[row] = 0
        rows[row, at(name)] = scale * head.key[row, at(before)]
        rows[0, at(name.replace("number", "number_squared"))] += scale * head.key[0, at("number_squared@1")]
    return with_last_head(dataclasses.replace(head, key=rows))


def test_what_is_compared() -> None:
    """Of 18 models, those that tell the same say the same."""
    told: dict[str, list[Transformer]] = defaultdict(list)
    pairs = list(itertools.product(HELD, repeat=2))
    for keys, scale in itertools.product(pairs, (1.0, 0.75)):
        model = matching(keys, scale)
        told[check(as_model(SUBJECT, WIRED, model), AUTOMATON).ideal].append(model)
    assert len(told) == len(pairs)  # a scale is not told
    for models in told.values():
        one, other = map(IdealModel, models)
        for text in TEXTS[::13]:
            tokens = WIRED.tokens(text)
            assert one.run(tokens)[1][-1] == other.run(tokens)[1][-1]


def test_a_gram_that_is_matched_backwards() -> None:
    (head,) = WIRED.model.blocks[-1].heads
    rows = head.key.copy()
    rows[[1, 2]] = rows[[2, 1]]
    model = with_last_head(dataclasses.replace(head, key=rows))
    before, after = (
        IdealModel(one).run(WIRED.tokens(["<s>", "1", "2", "3", "?", "2", "1"]))[1][-1] for one in (WIRED.model, model)
    )
    assert before != after
    changed = as_model(SUBJECT, WIRED, model)
    judged = compared(judge(changed, AUTOMATON), changed, SUBJECT)
    assert (judged.verdict, judged.where) == (UNKNOWN, "block 3, head 1")


def test_which_of_two_kinds_of_keys_leads() -> None:
    """At number x, A scores `least` and B 40x: A is read, where it stands, if it scores 180, and only without B if it scores 20."""

    def told(least: int) -> str:
        specials: dict[str, Row] = {"<s>": ((1, 1),), "A": ((2, 1),), "B": ((3, 1),)}
        numbers = NumberFamily(1, 4, {0: atom("v"), 4: constant(1)})
        head = HeadRows((((4, 1),), ((0, 1),)), (((1, 10), (2, least)), ((3, 40),)), (((2, 1), (3, 2)),))
        layer = Layer((head,), ((5, ((0, 1),)),), Sublayer((), ()))
        arithmetic = Arithmetic(fixed_point(17))
        names = ("number", "<s>", "A", "B", "one", "read")
        model = ExactModel(names, {"": numbers}, specials, (), (layer,), arithmetic)
        states = (
            State(Label("<s>"), 1, 1, (), "<s>"),
            State(Label("A"), 2, 2, (0,), "A"),
            State(Label("B"), 2, 3, (0, 1), "B"),
            State(Label("number"), 2, 4, (0, 1, 2), numbers=(1, 4)),
        )
        return check(model, TokenAutomaton(states, frozenset([Label("number")]), (4, 4))).ideal

    assert told(180) == told(190)
    assert told(180) != told(20)

"""What heads say that they look up: held against their keys and queries, by expansion and by the numbers of runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from circuits.models import SMALL
from circuits.simulator import Simulator
from constructions.api import load
from constructions.engines.reference import ReferenceEngine
from constructions.models.building import wired_of
from constructions.parts.heads import copy, match, match_close, match_nearest, match_next
from constructions.parts.heads.tight import nearest, single
from constructions.wiring.affine import Affine, reg
from constructions.wiring.lookup import Lookup
from constructions.wiring.needs import Registers, value
from constructions.wiring.part import Setting
from constructions.wiring.plan import BlockPlan, Component, Embedding, Head, constant
from constructions.wiring.reading import head_deviation, lookup_document, refusals, sentence
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from tests.constructions.test_parts import HEADS
from verify.algebra.interval import symbol
from verify.certificates.building import precision_of
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_dossiers, find_program, find_subject

GALLERY = ("histogram", "induction", "khop", "more_than", "reverse", "sorting", "tree", "trigram", "balanced", "post")
ONE = reg("one")


def subjects(n: int) -> Iterator[Subject]:
    """Every model with heads: both layouts, lean, as printed and repaired, and programs of the gallery."""
    for dossier in [*find_dossiers().values(), *filter(None, map(find_program, GALLERY))]:
        changes = (
            [{}]
            if "lean" not in dossier.variants
            else [{"lean": lean, "layout": t} for lean in (False, True) for t in ("paper", "eos")]
        )
        for change in changes:
            for printed in {(), () if change.get("lean") else tuple(f.id for f in dossier.findings)}:
                for discipline in Discipline:
                    yield Subject(replace(dossier, **change), n, discipline=discipline, printed=printed)


def heads(n: int) -> Iterator[tuple[Subject, Head]]:
    for subject in subjects(n):
        _, blocks = subject.dossier.plan(subject, subject.dossier.format(subject))
        yield from ((subject, head) for block in blocks for head in block.heads)


@pytest.mark.parametrize("n", [5, 8, 33])
def test_every_head_has_the_score_of_its_lookup_but_for_c14_as_printed(n: int) -> None:
    seen = 0
    for subject, head in heads(n):
        assert head.lookup is not None, (subject, head.name)
        assert sentence(head)
        assert bool(head_deviation(head)) == (head.source == "Lemma C.14 as printed"), (subject, head.name)
        seen += bool(head_deviation(head))
    assert seen


def test_every_head_of_parts_and_of_simulations_has_the_score_of_its_lookup() -> None:
    setting = Setting(9, 20, fixed_point(401))
    blocks = [block for name in SMALL for block in Simulator(SMALL[name].load(None, 1), 5).build(3).blocks]
    for part in (
        *HEADS,
        copy.part(5),
        match.part(3),
        match_close.part(2),
        match_nearest.part(2),
        match_next.part(2, 3),
    ):
        blocks += [block for printed in (False, True) for block in part.plan(setting, printed)]
    made = [head for block in blocks for head in block.heads]
    assert [head.name for head in made if head.lookup is None] == []
    assert {head.source for head in made if head_deviation(head)} == {"Lemma C.14 as printed"}


@pytest.mark.parametrize("name", ["recall", "counting", "istree"])
def test_the_scores_are_the_same_for_all_n_of_an_interval(name: str) -> None:
    for lean in (False, True) if name == "istree" else (False,):
        n = symbol(100, 1 << 20)
        options: dict[str, Any] = {"lean": True} if lean else {}
        subject = find_subject(name, n, **options)
        subject = replace(subject, precision_bits=precision_of(subject))
        _, blocks = subject.dossier.plan(subject, subject.dossier.format(subject))
        assert [head.name for block in blocks for head in block.heads if head_deviation(head)] == []
        changed = [
            replace(head, lookup=replace(head.lookup, penalty=n * ONE))
            for b in blocks
            for head in b.heads
            if head.lookup
        ]
        assert all(map(head_deviation, changed))


def test_a_changed_component_has_another_score() -> None:
    rng, killed = random.Random(5), 0
    for _, head in heads(8):
        if head_deviation(head):
            continue
        for i, component in enumerate(head.components):
            if not set(component.key.terms) - {"one"} or not component.query.terms:
                continue  # alike for all keys, or always 0
            for key in (component.key * 2, -component.key, component.key + rng.choice((1, -3)) * reg("first")):
                components = (*head.components[:i], Component(key, component.query), *head.components[i + 1 :])
                assert refusals(replace(head, components=components)), (head.name, str(component.key))
                killed += 1
    assert killed > 1000


@pytest.mark.parametrize(
    "change", [{"scale": 3}, {"exempt": False}, {"penalty": 5 * ONE}, {"prefer": None}, {"equal": ()}]
)
def test_a_changed_lookup_is_refused(change: dict[str, object]) -> None:
    head = matching()
    assert head.lookup is not None
    assert not head_deviation(head)
    assert head_deviation(replace(head, lookup=replace(head.lookup, **change)))


def matching() -> Head:
    (head,) = load("recall", n=4).wired.blocks[-1].heads
    return head


def formula_score(lookup: Lookup, key: Registers, query: Registers, position: int) -> Fraction:
    """The score as the docstring of `Lookup` says it, in numbers."""
    result = Fraction(0)
    if position > 1 or not lookup.exempt:
        result -= lookup.scale * sum((value(k, key) - value(q, query)) ** 2 for k, q in lookup.equal)
    if lookup.prefer is not None:
        preferred = value(lookup.prefer.key, key)
        result += value(lookup.prefer.pull, query) * preferred - lookup.prefer.curve * preferred**2
    return result - (value(lookup.penalty, query) if position == 1 and lookup.penalty is not None else 0)


def differing_heads(wired: Wired, tokens: list[int]) -> list[str]:
    """The heads whose score on this text is not that of the lookup, but for what is alike for all keys."""
    engine, found = ReferenceEngine(wired.model, wired.arithmetic), []
    places = {name: i for i, name in enumerate(wired.registers)}
    steps = [engine.append(token) for token in tokens]
    for number, block in enumerate(wired.blocks):
        rows = [Registers(step.registers[2 * number], places, wired.arithmetic.format.quantum) for step in steps]
        for head in block.heads:
            for k, query in enumerate(rows):
                scores = {
                    sum(value(c.key, key) * value(c.query, query) for c in head.components)
                    - formula_score(head.lookup, key, query, j)
                    for j, key in enumerate(rows[: k + 1], start=1)
                    if head.lookup is not None
                }
                found += [head.name] * (len(scores) > 1)
    return found


@pytest.mark.parametrize(
    ("name", "model", "text"),
    [
        ("recall", "transformer", "5 2 5 3 ? 5"),
        ("ngram", "hybrid", "5 2 5 3 2 ? 5"),
        ("counting", "transformer", "5 2 5 3 ? 5 1"),
        ("index", "transformer", "5 2 5 3 ? 2"),
    ],
)
def test_scores_of_runs_are_those_of_lookups(name: str, model: str, text: str) -> None:
    wired = load(name, model=model, n=6).wired
    tokens = wired.tokens(["<s>", *text.split()])
    assert differing_heads(wired, tokens) == []


def test_scores_of_runs_find_a_wrong_lookup() -> None:
    wired = load("recall", n=6).wired
    *before, last = wired.blocks
    (head,) = last.heads
    changed = replace(last, heads=(replace(head, lookup=replace(head.lookup, penalty=ONE)),))
    assert set(
        differing_heads(replace(wired, blocks=(*before, changed)), wired.tokens(["<s>", "5", "2", "?", "5"]))
    ) == {head.name}


def test_a_model_whose_head_has_another_score_than_its_lookup_is_not_built() -> None:
    head = single("the mark", reg("b"), {"out": reg("position")}, 16)
    embedding = Embedding(("a", "b"), ({"a": 1}, {"b": 1}), "position")
    first = BlockPlan((), (constant("1", {"one": 1, "first": 0}),))

    def built(*heads: Head) -> Wired:
        blocks = (first, BlockPlan(heads, ()))
        return wired_of("own", "", (), frozenset(), 2, embedding, blocks, Arithmetic(fixed_point(31)))

    assert built(head).blocks[1].heads == (head,)
    assert built(replace(head, lookup=None))
    (component,) = head.components
    with pytest.raises(ValueError, match=r"block 2, head 1 \(the mark\): its score has 16·key\(b\)·query\(1\)"):
        built(replace(head, components=(Component(component.key + reg("b"), component.query),)))


def test_sentences_of_models() -> None:
    lean = load("istree", n=4, variant="lean").wired
    said = {head.name: sentence(head, lean.model.longest) for block in lean.blocks for head in block.heads}
    assert said["@2"] == "reads `vertex`, `~` at the position whose `place` is nearest to `place − 1/2`"
    assert (
        said["father"]
        == "reads `previous` at the position whose `place` is smallest, of those where `current` equals `current`"
    )
    latest = "reads `visited` at the position whose `place` is largest, of those where `current` equals `next`, else at position 1"
    assert said["seen before"] == latest
    (close,) = match_close.part(1).plan(Setting(4, 9, fixed_point(101)), False)[1].heads
    assert sentence(close) == "reads `payload` at the last position where `key` equals `query`, else at position 1"


def test_what_c14_prints_is_refused_in_files() -> None:
    wired = load("counting", n=4, variant="printed").wired
    (head,) = (head for block in wired.blocks for head in block.heads if head.source == "Lemma C.14 as printed")
    document = lookup_document(head)
    assert document is not None
    assert document["refused"] == refusals(head) != []


def test_a_constant_is_a_multiple_of_one() -> None:
    head = matching()
    assert head.lookup is not None
    assert head.lookup.prefer is not None
    moved = replace(head.lookup, penalty=Affine({}, head.lookup.penalty.terms["one"]) if head.lookup.penalty else None)
    assert not refusals(replace(head, lookup=moved))
    assert lookup_document(replace(head, lookup=moved)) == lookup_document(head)
    assert refusals(
        replace(head, lookup=replace(moved, equal=((head.lookup.equal[0][0] + 1, head.lookup.equal[0][1]),)))
    )


def test_a_square_of_position_1_alone_is_no_rule() -> None:
    head = matching()
    needs = tuple(replace(need, place="position 1") if need.squared else need for need in head.needs)
    assert refusals(replace(head, needs=needs))


def test_sentences() -> None:
    setting = Setting(8, 20, fixed_point(51))
    assert (
        sentence(matching())
        == "reads `number` at the first position where `number@1` equals `number`, else at position 1"
    )
    assert (
        sentence(single("", reg("b"), {"out": reg("x")}, 4))
        == "reads `x` at the one position where `b` is 1, else at position 1"
    )
    back = nearest(
        "", reg("position") - 2 * ONE, Affine(), {"x@2": reg("x"), "x_squared@2": reg("x_squared")}, setting.gap
    )
    assert sentence(back) == "reads `x`, `x_squared` at the position nearest to `position − 2`"
    assert (
        sentence(Head("mean", (), {"out": reg("x")}, lookup=Lookup()))
        == "reads the mean of `x` at every position so far"
    )
    assert sentence(Head("own", (), {"out": reg("x")})) == ""
    assert lookup_document(Head("own", (), {"out": reg("x")})) is None

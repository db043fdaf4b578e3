"""The checker of rounding rejects small certificates, written by hand, that say what is false of a model of a few weights."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest

from verify.trusted.kernel import Rejected
from verify.trusted.rounding import check

Document = dict[str, Any]
ONE_N = ["integer", 1, 1, 1]


def place(word: str, low: str, high: str, after: list[int], **more: Any) -> Document:
    """Returns a state of the automaton."""
    state = {"label": word, "word": word, "family": "", "least": "", "most": "", "ends": None, "answer": False}
    return {**state, "low": low, "high": high, "every": 1, "after": after, **more}


def kind(label: str, positions: list[int], registers: Document, before: list[int], n: Any = ONE_N) -> Document:
    """Returns a class at the positions from the first to the last, by a step."""
    atoms = {"n": n, "k": ["integer", *positions]}
    return {"label": label, "atoms": atoms, "registers": registers, "forms": [], "before": before}


def entry(live: list[int], classes: list[Document], kept: list[Document] | None = None) -> Document:
    return {"live": live, "classes": classes, "kept": kept or []}


def to(i: int) -> list[Any]:
    """Returns the choice of class i, whose atoms are position and size alone."""
    return ["class", i, {}]


def model(words: Document, block: Document | None = None) -> Document:
    """Returns exact rows, of one block if there is one."""
    empty: dict[str, Any] = {"heads": [], "out": {}, "units": [], "down": {}, "carry": {}, "feed": {}}
    blocks = [] if block is None else [{**empty, **block}]
    return {"families": {}, "words": words, "position": {}, "blocks": blocks}


def certificate(automaton: list[Document], entries: list[Document], steps: Any, p: int = 25) -> Document:
    start = {"p": p, "discipline": "fused", "n": [1, 1], "families": {}, "invariants": []}
    return {**start, "automaton": automaton, "entries": entries, "steps": steps}


def verdict(document: Document, rows: Document) -> str:
    """Returns the reason to reject, or nothing."""
    weights = json.dumps(rows).encode()
    signed = {**document, "weights": hashlib.sha256(weights).hexdigest()}
    try:
        check(json.dumps(signed).encode(), weights)
    except Rejected as why:
        return str(why)
    return ""


def of_one_position(before: Document, after: Document, last: Document) -> Document:
    """Returns a certificate for the text `a`: the registers at three entries, of 0 and 1."""
    entries = [entry([0, 1], [kind("a", [1, 1, 1], one, [])]) for one in (before, after, last)]
    return certificate([place("a", "1", "1", [], answer=True)], entries, [[[to(0)]]] * 3 + [[[]]])


UNIT = {"gate": {"0": "1"}, "gate_bias": "", "up": {"0": "1"}, "up_bias": ""}
NO_UNIT: Document = {"gate": {}, "gate_bias": "", "up": {}, "up_bias": ""}


def test_one_unit_is_accepted_and_its_other_sum_is_not() -> None:
    rows = model({"a": {"0": "2"}}, {"units": [UNIT], "down": {"1": [{"0": "1"}, ""]}})
    for value, good in (("4", True), ("2", False)):
        document = of_one_position({"0": "2"}, {"0": "2"}, {"0": "2", "1": value})
        assert (verdict(document, rows) == "") == good


@pytest.mark.parametrize("units", [1, 100_001])
def test_unit_is_no_gate(units: int) -> None:
    """Unit 100,000 gives 0, or is not there. What is beside the registers at its number is gate 0, which is 2."""
    block = {"units": [UNIT] + [NO_UNIT] * (units - 1), "down": {"1": [{"100000": "1"}, ""]}}
    document = of_one_position({"0": "2"}, {"0": "2"}, {"0": "2", "1": "2"})
    assert verdict(document, model({"a": {"0": "2"}}, block))


def test_value_is_no_score() -> None:
    """Value 100,000 is 2. What is beside the registers at its number is the score, which is 0."""
    head: dict[str, Any] = {"query": [], "key": [], "value": [{}] * 100_000 + [{"0": "1"}]}
    block = {"heads": [head], "out": {"1": {"100000": "1"}}}
    document = of_one_position({"0": "2"}, {"0": "2"}, {"0": "2"})
    assert verdict(document, model({"a": {"0": "2"}}, block))


HEAD = {"query": [{}], "key": [{}], "value": [{"0": "1"}]}


@pytest.mark.parametrize(
    "block",
    [
        {"units": [UNIT], "down": {"0": [{"1": "1"}, ""]}},
        {"units": [UNIT], "down": {"0": [{"-1": "1"}, ""]}},
        {"units": [{**UNIT, "gate": {"-1": "1"}}]},
        {"units": [{**UNIT, "gate": {"0": "1", "00": "-1"}}]},
        {"down": {"1": [{}, ""], "01": [{}, ""]}},
        {"heads": [HEAD], "out": {"0": {"1": "1"}}},
        {"heads": [HEAD], "out": {"0": {"-1": "1"}}},
        {"out": {"0": {"0": "1"}}},
        {"heads": [{**HEAD, "key": []}]},
        {"heads": [{**HEAD, "key": [{}, {}]}]},
        {"units": [{**UNIT, "up_bias": "0*k + 1*k"}]},
    ],
)
def test_rows_that_are_no_model_are_rejected(block: Document) -> None:
    document = of_one_position({"0": "2"}, {"0": "2"}, {"0": "2"})
    document["entries"] = [{**one, "live": [-1, 0, 1]} for one in document["entries"]]
    if block.get("units") and not block.get("down"):
        block = {**block, "down": {"1": [{"0": "1"}, ""]}}
        document["entries"][-1] = {**document["entries"][-1], "live": [0]}
    assert "weight" in verdict(document, model({"a": {"0": "2"}}, block))


def test_weight_that_depends_on_the_position_is_rejected() -> None:
    classes = [kind("a", [1, 9, 1], {"0": "1*k"}, [0])]
    document = certificate([place("a", "1", "9", [0])], [entry([0], classes)], [[[to(0)]], [[]]])
    assert "k" in verdict(document, model({"a": {"0": "1*k"}}))


def test_kept_register_that_no_row_writes_is_0() -> None:
    """h_1 = B·x is 1 after each position; h_2 is what h_3 was, and no row writes that."""
    block = {"feed": {"1": {"0": "1"}}, "carry": {"2": {"3": "1"}}}
    first, later = [1, 1, 1], [2, 3, 1]

    def document(value: str) -> Document:
        kept = [
            {**kind("", first, {"1": "1", "3": value}, []), "of": 0},
            {**kind("", later, {"1": "1", "2": value, "3": value}, []), "of": 0},
        ]
        before = [kind("a", [1, 3, 1], {"0": "1"}, [0])]
        after = [
            kind("a", first, {"0": "1", "1": "1"}, []),
            kind("a", later, {"0": "1", "1": "1", "2": value}, [0, 1]),
        ]
        live = [0, 1, 2]
        entries = [entry(live, before, kept), entry(live, after), entry(live, after)]
        moves = [to(0), to(1), to(1), to(0), to(1), to(1)]
        answers = [place("a", "1", "3", [0], answer=True)]
        return certificate(answers, entries, [[[to(0)]], [moves], [[to(0)], [to(1)]], [[], []]])

    rows = model({"a": {"0": "1"}}, block)
    assert verdict(document(""), rows) == ""
    assert verdict(document("1"), rows)


def of_two_words(low: str, high: str, every: int, sizes: list[int], positions: list[int]) -> Document:
    """Returns a certificate for the texts a … a b, with b at these positions."""
    automaton = [place("a", "1", "40", [0]), place("b", low, high, [0], every=every)]
    size = ["integer", *sizes, 1]
    classes = [kind("a", [1, 40, 1], {}, [0], size), kind("b", positions, {}, [0], size)]
    document = certificate(automaton, [entry([], classes)], [[[to(0)], [to(1)]], [[], []]])
    return {**document, "n": sizes}


def test_steps_begin_where_a_state_does() -> None:
    """For n = 3 the second word is at 3 and 5."""
    rows = model({"a": {"0": "1"}, "b": {"0": "2"}})
    assert verdict(of_two_words("2", "1*n + 2", 2, [2, 3], [2, 4, 2]), rows) == ""
    assert verdict(of_two_words("1*n", "1*n + 2", 2, [2, 3], [2, 4, 2]), rows)


def test_least_position_of_a_parabola_is_not_at_an_end() -> None:
    """For n = 5 the second word is at 5, and for n = 1 and n = 9 at 21."""
    rows, bound = model({"a": {"0": "1"}, "b": {"0": "2"}}), "1*n*n + -10*n + 30"
    assert verdict(of_two_words(bound, bound, 1, [5, 9], [5, 21, 1]), rows) == ""
    assert verdict(of_two_words(bound, bound, 1, [1, 9], [21, 21, 1]), rows)


def test_family_without_numbers_has_no_logit() -> None:
    """At −3 the logits of a and c are −9 and −33/4, and both saturate: so a is the first of equal ones, and c is larger."""
    unit = {"gate": {}, "gate_bias": "1", "up": {}, "up_bias": "-6"}
    rows = model({"a": {"0": "3"}, "c": {"0": "11/4"}}, {"units": [unit], "down": {"0": [{"0": "1"}, ""]}})
    document = of_one_position({"0": "3"}, {"0": "3"}, {"0": "-3"})
    document["p"] = 7
    assert "saturates" in verdict(document, rows)
    rows["families"] = {"": {"low": 2, "high": 1, "rows": {"1": "1"}}}
    assert verdict(document, rows)
    rows["families"][""]["high"] = 2  # now there is such a token, and its logit 0 is the largest
    assert verdict(document, rows) == ""


def test_class_without_positions_is_rejected() -> None:
    document = of_one_position({"0": "2"}, {"0": "2"}, {"0": "2"})
    rows = model({"a": {"0": "2"}}, {})
    assert verdict(document, rows) == ""
    other = copy.deepcopy(document)
    other["entries"][0]["classes"].append(kind("a", [9, 1, 2], {"0": "2"}, []))
    other["steps"][1] = [[to(0)], [to(0)]]
    assert "no domain" in verdict(other, rows)


@pytest.mark.parametrize("item", [{"kind": "limited", "sum": 1}, {"kind": "consecutive", "group": 1, "share": 2}])
def test_invariant_speaks_of_no_atom_of_a_class(item: Document) -> None:
    document = of_one_position({"0": "2"}, {"0": "2"}, {"0": "2"})
    rows = model({"a": {"0": "2"}}, {})
    assert verdict({**document, "invariants": [{**item, "most": "1*n"}]}, rows) == ""
    assert verdict({**document, "invariants": [{**item, "most": "1*v"}]}, rows)


def test_invariant_of_a_recurrence_speaks_of_one() -> None:
    """What the first block adds up is at most 1. If that is said of the second block's 2, no text is left there."""
    first, second = ({"feed": {"1": {"0": w}}} for w in ("1", "2"))
    rows = model({"a": {"0": "1"}}, first)
    rows["blocks"] += model({}, second)["blocks"]
    registers = [{"0": "1"}, *[{"0": "1", "1": "1"}] * 2, *[{"0": "7"}] * 2]
    entries = [entry([0, 1], [kind("a", [1, 1, 1], one, [])]) for one in registers]
    entries[0]["kept"] = [{**kind("", [1, 1, 1], {"1": "1"}, []), "of": 0}]
    steps = [[[to(0)]], [[to(0), to(0)]], [[to(0)]], [[]], [[to(0)]], [[]]]
    document = certificate([place("a", "1", "1", [], answer=True)], entries, steps)
    assert verdict({**document, "invariants": [{"kind": "limited", "sum": 1, "most": "1"}]}, rows)


def test_name_that_is_there_twice_is_rejected() -> None:
    document = of_one_position({"0": "2"}, {"0": "2"}, {"0": "2"})
    good = json.dumps(model({"a": {"0": "2"}}, {})).encode()
    bad = good.replace(b'"0": "2"', b'"0": "3", "0": "2"')
    signed = [json.dumps({**document, "weights": hashlib.sha256(w).hexdigest()}).encode() for w in (good, bad)]
    assert check(signed[0], good) == 3
    with pytest.raises(Rejected, match="twice"):
        check(signed[1], bad)

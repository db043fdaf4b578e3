"""The checker of lower bounds: its theorems by brute force against each task, and nothing that is false or tampered with passes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verify.test_reductions import by_text, reaches_all
from tests.verify.trusted.checkers import accepted, accepted_changes, at, other_steps, places, stored_family
from verify.oracles.lower_bounds import (
    BESIDE_ORACLE,
    COUNTING,
    INDEX,
    ISTREE,
    NGRAM,
    RECALL,
    TURING,
    LowerBound,
    loop,
    texts_of,
)
from verify.oracles.reductions import inputs, written_as
from verify.table import Mark, cells
from verify.trusted import pigeonhole
from verify.trusted.kernel import Rejected
from verify.trusted.pigeonhole import check, obligations

BOUNDS = {
    "4.6/lower-index": INDEX,
    "4.6/lower-recall": RECALL,
    "4.6/lower-ngram": NGRAM,
    "4.6/lower-counting": COUNTING,
    "4.7/lower-istree": ISTREE,
    "5.1/lower-index": BESIDE_ORACLE,
}
MOST = 4
MOST_HINTS = 8  # that are changed, of one proof


@pytest.fixture(scope="module")
def stored() -> dict[str, tuple[Any, Any]]:
    """Each theorem with the proof that is committed."""
    return {id: stored_family(id) for id in BOUNDS}


def right_answer(theorem: Any, words: Sequence[str], size: int) -> str:
    """By an oracle of the tests' own."""
    if theorem["task"] == "istree":
        return "YES" if reaches_all(size, words) else "NO"
    return by_text(theorem["task"], words)


@pytest.mark.parametrize("id", BOUNDS)
def test_the_stored_proof_is_accepted(id: str, stored: dict[str, tuple[Any, Any]]) -> None:
    theorem, proof = stored[id]
    assert (theorem, proof["hints"]) == (BOUNDS[id].theorem, BOUNDS[id].hints)
    check(theorem, proof)


@pytest.mark.parametrize("id", BOUNDS)
def test_the_theorem_by_brute_force(id: str) -> None:
    """Answers, sizes, equal lengths; and any two x have a k at which the right answers differ."""
    theorem = BOUNDS[id].theorem
    for n, c in itertools.product(range(theorem["for"]["n"], MOST + 1), (2, 3) if "c" in theorem["for"] else (2,)):
        size = eval(theorem["size"], {"n": n, "c": c})
        assert eval(theorem["bits"], {"size": size, "c": c}) == n
        lists, lengths = set(), set()
        for x in inputs(n):
            answers = []
            for k in range(1, n + 1):
                words = written_as(theorem, x, k, c=c)
                numbers = [int(word) for word in words if word.isdecimal()]
                assert max(numbers) <= size
                assert right_answer(theorem, words, size) == (
                    theorem["answers"][x[k - 1]]
                    if theorem["answers"] == ["NO", "YES"]
                    else str(eval(theorem["answers"][x[k - 1]], {"n": n, "c": c, "k": k}))
                )
                answers.append(right_answer(theorem, words, size))
            lists.add(tuple(answers))
            lengths.add(len(list(texts_of(theorem["alice"], {"n": n, "c": c}, x))))
        assert len(lists) == 2**n
        assert len(lengths) == 1


def test_the_table_says_as_many_bits() -> None:
    tasks = {
        "Index": INDEX,
        "associative recall": RECALL,
        "c-gram retrieval": NGRAM,
        "Counting": COUNTING,
        "IsTree": ISTREE,
        "Index with an oracle for recall": BESIDE_ORACLE,
        "Turing machines": TURING,
    }
    said = {cell.task: cell.basis.how for cell in cells([]) if cell.basis.outcome is Mark.IMPOSSIBLE}
    assert said == {
        task: f"needs {bound.theorem['bits'].replace('size', 'n').replace('-', '−')} bits"
        for task, bound in tasks.items()
    }


def test_an_oracle_for_recall_says_the_same_of_all_x() -> None:
    for n in range(1, MOST + 1):
        texts = [[str(token) for (token,) in texts_of(BESIDE_ORACLE.theorem["alice"], {"n": n}, x)] for x in inputs(n)]
        for key in ("<s>", "1", "2", "3", "?"):
            assert (
                len({next((b for a, b in itertools.pairwise(["<s>", *text]) if a == key), "") for text in texts}) == 1
            )


def changed(bound: LowerBound, hints: Any = None, **fields: Any) -> LowerBound:
    return LowerBound({**bound.theorem, **fields}, bound.hints if hints is None else hints)


ROOTS_TWICE = (
    LowerBound(  # true of a graph alone, and few first ends: but behind the word i stands the next edge's root
        {
            **ISTREE.theorem,
            "size": "n + 6",
            "bits": "size - 6",
            "alice": [
                *(["n + 2", "n + 4"], ["n + 3", "n + 5"], ["n + 2", "n + 6"]),
                loop("i", "n + 1", ["n + 2 + y[i - 1]", "i"]),
            ],
        },
        {
            "labels": [loop("i", "n + 1", ["y[i - 1]"]), *([label] for label in "01010")],
            "ends": [
                *([[[1, []]], [[3, []]]], [[[2, []]], [[4, []]]], [[[1, []]], [[5, []]]]),
                *([[[1, []], [2, []]], [[0, ["i"]]]], [[[0, ["k"]]], [[0, ["k + 1"]]]]),
            ],
            "apart": [[1, []], [2, []]],
            "root": "n + 2",
            "walks": [
                *([[3, ["i"]], [3, ["k"]], [3, ["k + 1"]], [4, []]], [], [[3, ["k"]], [3, ["k + 1"]], [4, []]]),
                *([[0, []]], [[1, []], [3, ["k"]], [3, ["k + 1"]], [4, []]], [[2, []]]),
            ],
            "oracle": {"start": [0, []], "keys": [["n + 2", [0, []], [1, []]], ["n + 3", [1, []], [2, []]]]},
        },
    )
)
FALSE = {
    "answers turned": changed(INDEX, answers=["2", "1"]),
    "equal answers": changed(INDEX, alice=[loop("i", "n", ["1"])], answers=["1", "1"]),
    "x forgotten": changed(INDEX, alice=[loop("i", "n", ["1"])]),
    "the last bit forgotten": changed(INDEX, alice=[loop("i", "n - 1", ["x[i] + 1"]), ["1"]]),
    "k not asked": changed(INDEX, bob=[["1"]]),
    "another place": changed(INDEX, bob=[["n + 1 - k"]]),
    "too small a size": changed(INDEX, size="n - 1", bits="size + 1"),
    "more bits than there are": changed(INDEX, bits="size + 1"),
    "two bits a token": changed(INDEX, alice=[loop("i", "n", ["x[i] + x[i + 1] + 1"])]),
    "one more query": changed(INDEX, bob=[["k"], ["k"]]),
    "queries in a loop": changed(INDEX, bob=[loop("j", "n", ["k"])]),
    "from n = 1 on": changed(INDEX, **{"for": {"n": 1}}),
    "a loop to −1, from c = 0 on": changed(
        INDEX,
        {"at": [2, ["k"]]},
        **{"for": {"n": 1, "c": 0}},
        size="n + c",
        bits="size - c",
        alice=[loop("j", "c - 1", ["1"]), ["1"], loop("i", "n", ["x[i] + 1"])],
        bob=[["k + c"]],
    ),
    "0 / 0 bits, from n = 0 on": changed(INDEX, **{"for": {"n": 0}}, size="n + 1", bits="(size - 1)**2/(size - 1)"),
    "a value is a key, as printed": changed(
        RECALL, alice=[loop("i", "n", ["i"], ["n + x[i]"])], answers=["n", "n + 1"]
    ),
    "keys come twice": changed(RECALL, alice=[loop("i", "n", ["1"], ["n + 1 + x[i]"])]),
    "c − 2 keys": changed(NGRAM, alice=[loop("i", "n", loop("j", "c - 2", ["i"]), ["n + 1 + x[i]"])]),
    "a longer query": changed(NGRAM, bob=[loop("j", "c", ["k"])]),
    "c = 1": changed(NGRAM, **{"for": {"n": 2, "c": 1}}),
    "the filler is a key": changed(COUNTING, alice=[loop("i", "n", ["x[i]*i + (1 - x[i])*n"])]),
    "always there": changed(COUNTING, alice=[loop("i", "n", ["i"])]),
    "never there": changed(COUNTING, alice=[loop("i", "n", ["n + 1"])]),
    "YES for 0": changed(COUNTING, answers=["YES", "NO"]),
    "no first leaf, as printed": changed(
        ISTREE, size="n + 2", bits="size - 2", alice=[loop("i", "n", ["i", "n + 1 + y[i]"])], bob=[["k - 1", "k"]]
    ),
    "neighbours of x itself": changed(ISTREE, alice=[loop("i", "n + 1", ["i", "n + 2 + x[i - 1]"])]),
    "a vertex more": changed(ISTREE, size="n + 4", bits="size - 4"),
    "an edge less": changed(ISTREE, bob=[]),
    "x's first follower": changed(
        BESIDE_ORACLE,
        {**BESIDE_ORACLE.hints, "at": [0, ["k"]], "oracle": {"start": [0, ["1"]], "keys": []}},
        size="2*n + 1",
        bits="(size - 1)/2",
        alice=[loop("i", "n", ["x[i] + 1"], ["3"])],
        bob=[["2*k - 1"]],
    ),
    "an oracle for recall reads edges": changed(ROOTS_TWICE, oracle="recall"),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_has_no_proof(name: str) -> None:
    with pytest.raises((ValueError, Rejected)):
        FALSE[name].with_proof()


NO_THEOREMS = {
    "Alice knows k": {"alice": [loop("i", "n", ["x[i] + 1 + 0*k"])]},
    "a loop to k": {"alice": [loop("i", "k", ["x[i] + 1"])]},
    "as many words as bits": {"alice": [loop("i", "n", ["x[i] + 1"]), loop("j", "x[1]", ["1"])]},
    "Bob knows x": {"bob": [["k + x[k] - x[k]"]]},
    "an answer that knows x": {"answers": ["x[k] + 1", "2"]},
    "two words in one place": {"alice": [loop("i", "n", ["x[i] + 1", "1"])]},
    "half a token": {"alice": [loop("i", "n", ["x[i]/2 + 1"])]},
    "a loop's variable again": {"alice": [loop("i", "n", loop("i", "1", ["x[i] + 1"]))]},
    "a size as a loop's variable": {"alice": [loop("n", "n", ["x[n] + 1"])]},
    "bits in bits": {"alice": [loop("i", "n", ["x[x[i]] + 1"])]},
    "bits of another name": {"alice": [loop("i", "n", ["n[i] + 1"])]},
    "bits without a place": {"alice": [loop("i", "n", ["x + 1"])]},
    "labels": {"alice": [loop("i", "n", ["f[i] + 1"])]},
    "no numbers": {"alice": [loop("i", "n", ["'1'"])]},
    "two texts": {"answers": ["1, 2", "2"]},
    "a loop of another kind": {"alice": [{"for": "i", "to": "n", "do": [["x[i] + 1"]], "if": "k"}]},
    "a third answer": {"answers": ["1", "2", "3"]},
    "no n": {"for": {"c": 2}},
    "a size of the hints": {"for": {"n": 2, "r": 1}},
    "a size with two names": {"for": {"n": 2, "n m": 1}},
    "a size that is no number": {"for": {"n": "2"}},
    "a size that Python reads as k": {"for": {"n": 2, "\N{FULLWIDTH LATIN SMALL LETTER K}": 2}},
    "a loop that Python reads as over k": {"alice": [loop("\N{FULLWIDTH LATIN SMALL LETTER K}", "n", ["x[k] + 1"])]},
    "a size that is true": {"for": {"n": True}, "size": "n + 1", "bits": "size - 1"},
    "sizes in pairs": {"for": [["n", 1], ["n", 2]]},
    "answers in one text": {"answers": "12"},
    "answers by name": {"answers": {"1": "7", "2": "7"}},
    "a text that Python does not read": {"bits": "size  # 2**n"},
    "another task": {"task": "sorting"},
    "another oracle": {"oracle": "index"},
    "one more field": {"trust": "me"},
}


@pytest.mark.parametrize("name", NO_THEOREMS)
def test_what_is_no_theorem_is_rejected(name: str, stored: dict[str, tuple[Any, Any]]) -> None:
    """With the proof of the theorem that it is like, and with one of its own."""
    theorem, proof = stored["4.6/lower-index"]
    assert not accepted(pigeonhole, {**theorem, **NO_THEOREMS[name]}, proof)
    with pytest.raises((Rejected, ValueError, KeyError, TypeError, AttributeError)):
        changed(INDEX, **NO_THEOREMS[name]).with_proof()


def test_a_size_is_no_function() -> None:
    """The kernel knows relu(1), whatever number relu is."""
    with pytest.raises(Rejected, match="polynomial"):
        obligations({**INDEX.theorem, "for": {"n": 2, "relu": 1}, "bob": [["k*relu(1)"]]}, INDEX.hints)


def test_fewer_fields_are_no_theorem(stored: dict[str, tuple[Any, Any]]) -> None:
    for theorem, proof in stored.values():
        for field in theorem:
            assert not accepted(pigeonhole, {key: value for key, value in theorem.items() if key != field}, proof)


@pytest.mark.parametrize("id", BOUNDS)
def test_a_tampered_proof_is_rejected(id: str, stored: dict[str, tuple[Any, Any]]) -> None:
    theorem, proof = stored[id]
    others: list[tuple[tuple[Any, ...], Any]] = []
    for path in places(proof["hints"], ("hints",)):
        value = at(proof, path)
        if isinstance(value, str):
            others += [(path, other) for other in (f"({value}) + 1", "x[k] + 1", "nobody")]
        elif isinstance(value, list):
            others += [(path, value[:-1])] if value else [(path, ["k"])]
        else:
            others += [(path, None)]
    others = others[:: 1 + len(others) // MOST_HINTS]
    others += [*other_steps(proof), (("steps", len(proof["steps"]) // 2), {"absurd": []})]
    assert accepted_changes(pigeonhole, theorem, proof, others) == []


# Random theorems: what passes is true

TOKENS = (
    "x[i] + 1",
    "2 - x[i]",
    "1",
    "i",
    "x[i]*i + 1",
    "x[i] + x[i + 1] + 1",
    "x[i]*x[i] + 1",
    "x[k] + 1",
    "y[i] + 1",
)
QUERIES = ("k", "2*k", "2*k - 1", "2*k + 1", "n + 1 - k", "k + 1", "1")
ANSWERS = ("1", "2", "k", "k + 1", "n + 1")


@st.composite
def of_an_index(draw: st.DrawFn) -> LowerBound:
    """One loop of one or two tokens, and perhaps a token before it."""
    before = draw(st.lists(st.just(["1"]), max_size=1))
    items = [[draw(st.sampled_from(TOKENS))] for _ in range(draw(st.integers(1, 2)))]
    theorem = {
        "task": "index",
        "for": {"n": 1},
        "size": "2*n + 1",
        "bits": "(size - 1)/2",
        "alice": [*before, loop("i", "n", *items)],
        "bob": [[draw(st.sampled_from(QUERIES))]],
        "answers": [draw(st.sampled_from(ANSWERS)), draw(st.sampled_from(ANSWERS))],
    }
    place = draw(st.integers(len(before), len(before) + len(items) - 1))
    return LowerBound(theorem, {"at": [place, [draw(st.sampled_from(("k", "n + 1 - k", "1")))]]})


def is_true(theorem: Any) -> bool:
    for n in range(1, MOST):
        for x, k in itertools.product(inputs(n), range(1, n + 1)):
            values = {"n": n, "k": k}
            sequence = [token for (token,) in texts_of(theorem["alice"], {"n": n}, (*x, 0))]
            ((query,),) = texts_of(theorem["bob"], values, ())
            zero, one = (eval(answer, dict(values)) for answer in theorem["answers"])
            if (
                zero == one
                or not 1 <= query <= len(sequence) <= 2 * n + 1
                or sequence[query - 1] != (zero, one)[x[k - 1]]
            ):
                return False
    return True


@settings(max_examples=20)
@given(of_an_index())
def test_what_passes_is_true(bound: LowerBound) -> None:
    try:
        theorem, proof = bound.with_proof()
    except (ValueError, Rejected):
        return
    check(theorem, proof)
    assert is_true(theorem)


def test_an_oracle_tells_by_a_key_that_is_not_named() -> None:
    oracle = {**BESIDE_ORACLE.hints["oracle"], "keys": BESIDE_ORACLE.hints["oracle"]["keys"][:2]}
    with pytest.raises(ValueError, match="no proof"):
        changed(BESIDE_ORACLE, {**BESIDE_ORACLE.hints, "oracle": oracle}).with_proof()


def test_some_of_these_pass() -> None:
    simple = changed(INDEX, size="2*n + 1", bits="(size - 1)/2", **{"for": {"n": 1}})
    for theorem, place in (
        (simple.theorem, 0),
        (
            {
                **simple.theorem,
                "alice": [["1"], loop("i", "n", ["i"], ["2 - x[i]"])],
                "bob": [["2*k + 1"]],
                "answers": ["2", "1"],
            },
            2,
        ),
    ):
        check(*LowerBound(theorem, {"at": [place, ["k"]]}).with_proof())
        assert is_true(theorem)

"""The checker of "told apart, so 2^n states": it takes the families of the lower bounds, and none of many near misses."""

from __future__ import annotations

import itertools
import random
from copy import deepcopy
from typing import Any

import pytest

from verify.framework.proofs import check as check_any
from verify.framework.proofs import sentence_of
from verify.oracles import lower_bounds
from verify.oracles.lower_bounds import LINES, LowerBound, loop, texts_of
from verify.trusted import pigeonhole, states
from verify.trusted.kernel import Rejected
from verify.trusted.states import check, derive

FAMILIES = {
    name: getattr(lower_bounds, name)
    for name in ("INDEX", "NGRAM", "RECALL", "COUNTING", "ISTREE", "BESIDE_ORACLE", "TURING")
}
TERMS = sorted({text for line in LINES for text in line[:2]})


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family_needs_two_to_the_n_states(name: str) -> None:
    theorem, proof = FAMILIES[name].states()
    check_any(theorem, proof)
    family = FAMILIES[name].theorem
    assert sentence_of(theorem).endswith(f"needs n = {family['bits']} bits of state")


@pytest.mark.parametrize("name", ["INDEX", "RECALL", "COUNTING", "ISTREE"])
def test_each_machine_with_fewer_states_is_wrong(name: str) -> None:
    """The theorem on instances: random maps to 2^n − 1 states, and whatever is said then, err on a prompt of n = 3 bits."""
    family: Any = FAMILIES[name].theorem
    alice = {x: tuple(texts_of(family["alice"], {"n": 3}, x)) for x in itertools.product((0, 1), repeat=3)}
    assert len(set(alice.values())) == 8
    assert len({len(words) for words in alice.values()}) == 1
    generator = random.Random(3)
    for _ in range(200):
        state = {words: generator.randrange(7) for words in alice.values()}
        said: dict[Any, set[int]] = {}
        for x, words in alice.items():
            for k in (1, 2, 3):
                bob = tuple(texts_of(family["bob"], {"n": 3, "k": k}, ()))
                said.setdefault((state[words], bob, k), set()).add(x[k - 1])
        assert any(len(due) == 2 for due in said.values())


def refuses(lines: Any) -> bool:
    try:
        derive(lines)
    except Rejected:
        return True
    return False


def test_the_lines_are_accepted_and_none_can_be_left_out() -> None:
    derive(LINES)
    for gone in range(len(LINES)):
        fewer = [deepcopy(line) for i, line in enumerate(LINES) if i != gone]
        for line in fewer:
            if len(line) > 3:
                line[3] = [i - (i > gone) for i in line[3] if i != gone]
        assert refuses(fewer), gone


def holds(left: str, right: str, model: dict[str, Any]) -> bool:
    def value(text: str) -> Any:
        return eval(text, {}, model)

    return bool(value(left) == value(right))


def models() -> list[dict[str, Any]]:
    """Machines and families in which all rules are true. Two lists in one state are one list there, as the theorem says."""
    made = []
    for seed in range(6):
        generator = random.Random(seed)
        x = tuple(generator.randint(0, 1) for _ in range(3))
        table: dict[Any, int] = {}

        def number(*arguments: Any, table: Any = table, generator: random.Random = generator) -> int:
            return int(table.setdefault(arguments, generator.randrange(10**9)))

        def answer(k: int, bit: int, number: Any = number) -> int:
            return int(number("answer", k, bit))

        def output(u: int, w: int, x: Any = x, answer: Any = answer, number: Any = number) -> int:
            ours = [k for k in range(3) if (u, w) == (number("alice", x), number("bob", k))]
            return answer(ours[0], x[ours[0]]) if ours else int(number("output", u, w))

        def says(s: int, i: int, w: int, x: Any = x, output: Any = output, number: Any = number) -> int:
            ours = (number("state", number("alice", x)), number("length", number("alice", x)))
            return output(number("alice", x), w) if (s, i) == ours else int(number("says", s, i, w))

        functions: dict[str, Any] = {
            name: lambda *a, name=name, number=number: number(name, *a) for name in ("alice", "bob", "length", "state")
        }
        made.append({**functions, "answer": answer, "output": output, "says": says, "x": x, "y": x, "k": seed % 3})
    return made


def test_what_is_accepted_is_true_in_every_machine() -> None:
    """All lines that pass, of every pair of terms by every rule: each is true where the rules are."""
    more = [*TERMS, "bob(k)", "alice(x)", "alice(y)", "says(state(alice(x)), length(alice(y)), bob(k))", "answer(k, k)"]
    all_models, accepted = models(), 0
    for left, right in itertools.product(more, repeat=2):
        for rule, used in itertools.product(
            ("suppose", "length", "reads", "right", "same", "chain"), ([], [0], [0, 1], [2, 6])
        ):
            lines = [*LINES[:-1], [left, right, rule, used], LINES[-1]]
            if refuses(lines):
                continue
            accepted += 1
            assert all(holds(left, right, model) for model in all_models), (left, right, rule, used)
    assert accepted > 10


WRONG: dict[str, list[Any]] = {
    "supposes more": ["answer(k, x[k])", "answer(k, y[k])", "suppose"],
    "supposes that the lists are one": ["alice(x)", "alice(y)", "suppose"],
    "a law of the other list": ["output(alice(x), bob(k))", "answer(k, y[k])", "right"],
    "reads the other's state": ["output(alice(x), bob(k))", "says(state(alice(y)), length(alice(x)), bob(k))", "reads"],
    "same without reasons": ["says(state(alice(x)), length(alice(x)), bob(k))", TERMS[-1], "same", []],
    "same of two functions": ["state(alice(x))", "length(alice(x))", "same", [0]],
    "a chain with a gap": ["answer(k, x[k])", "answer(k, y[k])", "chain", [4, 5]],
    "another rule": ["answer(k, x[k])", "answer(k, y[k])", "surely"],
    "a law with reasons": ["output(alice(x), bob(k))", "answer(k, x[k])", "right", [0]],
    "a line to come": ["answer(k, x[k])", "answer(k, y[k])", "chain", [8]],
    "a line from the end": ["answer(k, x[k])", "answer(k, y[k])", "chain", [-1]],
    "a line from the end that says it": [*LINES[6][:2], "chain", [-1]],
    "no term": ["x[1]", "x[1]", "chain", []],
    "a term of a foreign function": ["peek(x)", "peek(x)", "chain", []],
    "a term with a number": ["bob(1)", "bob(1)", "chain", []],
    "too many arguments": ["bob(k, x)", "bob(k, x)", "chain", []],
}


@pytest.mark.parametrize("what", WRONG)
def test_a_near_miss_is_rejected(what: str) -> None:
    assert refuses([*LINES[:-1], WRONG[what], LINES[-1]])
    assert refuses([*LINES[:-1], WRONG[what]])


def test_no_lines_or_another_end_show_nothing() -> None:
    assert refuses([])
    assert refuses(LINES[:-1])
    assert refuses([*LINES, LINES[0]])
    assert refuses([*LINES[:-1], ["answer(k, y[k])", "answer(k, x[k])", "chain", [5, 3, 6, 2, 4]]])


def test_the_family_is_checked_as_well() -> None:
    theorem, proof = lower_bounds.INDEX.states()
    for states_text in ("2**(n + 1)", "3**n", "n"):
        with pytest.raises(Rejected, match="2\\*\\*n states"):
            check({**theorem, "states": states_text}, proof)
    for field, value in (("answers", ["1", "1"]), ("bob", [["x[1]"]]), ("bits", "size + 1")):
        with pytest.raises(Rejected):
            check({"states": "2**n", "family": {**theorem["family"], field: value}}, proof)
    with pytest.raises(Rejected):
        check(theorem, {**proof, "family": {**proof["family"], "steps": proof["family"]["steps"][1:]}})
    with pytest.raises(Rejected, match="has lines"):
        check(theorem, {"family": proof["family"]})
    for nothing in tuple[object, ...]((None, [], {}, "2**n")):
        with pytest.raises(Rejected):
            check(nothing, proof)


def test_alice_s_length_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever another checker lets through: a list of which the length holds bits needs no state for them."""
    monkeypatch.setattr(pigeonhole, "check", lambda theorem, proof: None)
    for end in ("n + x[1]", "k", "y[n]"):
        inner = LowerBound({**lower_bounds.INDEX.theorem, "alice": [loop("i", "n", loop("j", end, ["1"]))]}, {})
        with pytest.raises(Rejected, match="depends on more than sizes"):
            states.check({"states": "2**n", "family": inner.theorem}, {"family": {}, "lines": LINES})

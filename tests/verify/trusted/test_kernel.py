"""The proof checker: what is true and proved passes, and no change of a proof or of a theorem goes unseen."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from tests.verify.trusted.checkers import STORED, accepted, accepted_changes, at, places
from verify.framework.proofs import check as check_stored
from verify.framework.proofs import load
from verify.oracles import fraction_theorems
from verify.oracles.gadget_identities import IDENTITIES, identities, indicator_written_out
from verify.oracles.proofs import by_cases, by_growth, by_shift, theorem
from verify.trusted import kernel
from verify.trusted.kernel import check

THEOREMS = {
    **{id: identities(id)[-1] for id in IDENTITIES},
    "C.3 written out": indicator_written_out(),
    **{f"C.19 {i}": shown for i, shown in enumerate(fraction_theorems.nearest_to_the_next())},
    **{f"cubic {i}": shown for i, shown in enumerate(fraction_theorems.cubic_error())},
    **{f"third differences {i}": shown for i, shown in enumerate(fraction_theorems.third_differences())},
    **{f"leads {i}": shown for i, shown in enumerate(fraction_theorems.leads_fall())},
    "leakage": fraction_theorems.leakage_vanishes(64, 8, 7)[0],
}
MOST_MUTANTS = 70  # of one proof
SLOW = ("leads 0", "leads 2", "leads 3")  # of the same kind as `leads 1`, with ten times its summands
# Between numbers alone, many proofs are as good as one.
TAMPERED = [name for name in THEOREMS if THEOREMS[name][0]["for_all"] and name not in SLOW]


@pytest.mark.parametrize("name", THEOREMS)
def test_every_theorem_of_the_claims_is_accepted(name: str) -> None:
    check(*THEOREMS[name])


def changed(value: Any, path: tuple[Any, ...]) -> list[Any]:
    """Other values of one kind: numbers and signs, wrong places, shorter and longer lists, missing and strange fields."""
    if type(value) is int:
        return [value + 1, value + 7, -1 - value, True, str(value), None]
    if isinstance(value, str) and value in ("+", "-"):
        return ["-" if value == "+" else "+", "", "0"]
    if isinstance(value, str):
        return [f"-({value})", f"({value}) + 1", f"2*({value})", f"({value})/3", "0", "", "relu(", None, 1]
    if isinstance(value, dict):
        fewer = [{k: v for k, v in value.items() if k != key} for key in value]
        swapped = [{**value, "below": value["above"], "above": value["below"]}] if "compare" in value else []
        swapped += [{**value, "sum": [["1", []], *value["sum"]]}] if "sum" in value else []
        return [*fewer, *swapped, {**value, "trust": "me"}, {}]
    longer = [[*value, value[-1]]] if value and path[-1] != "signs" else []  # a sign may be told twice
    return [*([value[:-1], value[1:]] if value else []), *longer, None, [[]]]


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_proof_is_rejected(name: str) -> None:
    stated, proof = THEOREMS[name]
    every = [(path, other) for path in places(proof) for other in changed(at(proof, path), path)]
    assert len(every) > 20
    some = every[:: 1 + len(every) // MOST_MUTANTS]
    assert accepted_changes(kernel, stated, proof, some) == []


@pytest.mark.parametrize("name", THEOREMS)
def test_the_proof_is_of_this_theorem(name: str) -> None:
    """Another relation, another side, another given: the proof does not fit."""
    stated, proof = THEOREMS[name]
    left, relation, right = next(
        (*stated["show"].partition(f" {sign} "),)
        for sign in ("==", ">=", "<=", ">", "<")
        if f" {sign} " in stated["show"]
    )
    others = [
        f"{left}{relation}{right} + 1",
        f"{left}{relation}{right} - 1",
        f"{left} != {right}",
    ]
    if relation == " == ":
        others += [f"{left} > {right}", f"{left} < {right}"]
    else:
        others += [f"{right}{relation}{left}"]
    assert [show for show in others if accepted(kernel, {**stated, "show": show}, proof)] == []


FALSE = [
    theorem("x*x > 0", x="real"),
    theorem("x*x >= x", x="real"),
    theorem("relu(x) == x", x="real"),
    theorem("step(x) == step(x - 1)", x="integer"),
    theorem("step(x) + step(-x) == 1", x="integer"),
    theorem("step(x - 1) + step(-x) == 1", x="real"),
    theorem("relu(x - 1) - relu(x) == step(x) - step(x)*x", x="real"),
    theorem("1/x > 0", "x >= 0", x="real"),
    theorem("x/x == 1", x="real"),
    theorem("0 == 1"),
    theorem("0 > 0"),
]


def simple_proofs(depth: int) -> list[Any]:
    """Many proofs of small size, sound or not."""
    sums: list[Any] = [
        [],
        [["1", []]],
        [["1", [0]]],
        [["1", [0, 0]]],
        [["x", [0]]],
        [["-1", [0]]],
        [["1", [0]], ["1", []]],
    ]
    signs: list[Any] = [
        [],
        *([[text, sign, terms]] for text in ("relu(x)", "step(x)") for sign in "+-" for terms in sums),
    ]
    leaves: list[Any] = [{"signs": s, "positive": p, "sum": t} for s in signs for p in sums[:4] for t in sums]
    leaves += [{"absurd": t} for t in sums] + [{"rate": "2", "sum": t} for t in sums]
    if not depth:
        return leaves
    few = leaves[:: max(1, len(leaves) // 7)]
    return leaves + [
        {"compare": text, "below": a, "equal": b, "above": c}
        for text in ("x", "x - 1")
        for a, b, c in itertools.product(few, repeat=3)
    ]


@pytest.mark.parametrize("stated", FALSE, ids=lambda stated: str(stated["show"]))
def test_what_is_false_has_no_proof(stated: Any) -> None:
    assert [proof for proof in simple_proofs(1) if accepted(kernel, stated, proof)] == []


WIDE = "\N{FULLWIDTH LATIN SMALL LETTER X}"
READ_OTHERWISE = {
    "Python reads another letter": ({"x": "integer", WIDE: "real"}, f"{WIDE}*{WIDE} >= {WIDE}"),
    "Python does not read it": ({"x": "integer"}, "x*x >= x  # and x > 1"),
    "no name": ({"x": "integer", "y, real x": "integer"}, "x*x >= x"),
    "one name twice": ([["x", "real"], ["x", "integer"]], "x*x >= x"),
}


@pytest.mark.parametrize("name", READ_OTHERWISE)
def test_what_a_person_reads_is_what_is_shown(name: str) -> None:
    """A true theorem, written so that it looks like another one."""

    def leaf(*terms: Any) -> Any:
        return {"signs": [], "positive": [["1", []]], "sum": terms}

    below, equal = leaf(["1", [0, 0]], ["3", [0]], ["2", []]), leaf(["x - 1", [0]])
    proof = {"compare": "x", "below": below, "equal": equal, "above": leaf(["1", [0, 0]], ["1", [0]])}
    check(theorem("x*x >= x", x="integer"), proof)
    variables, show = READ_OTHERWISE[name]
    assert not accepted(kernel, {"for_all": variables, "given": [], "show": show}, proof)


@pytest.mark.parametrize(
    ("stated", "find"),
    [
        (theorem("step(x - 1) + step(-x) == 1", x="integer"), by_cases),
        (theorem("relu(x) + relu(-x) == 2*relu(x) - x", x="real"), by_cases),
        (theorem("step(x)*f + step(-x)*f == f", "x >= 1 or x <= -1", x="integer", f="real"), by_cases),
        (theorem("2**n > n**3", "n >= 10", n="integer"), lambda stated: by_growth(stated, "2")),
        (theorem("2**n > n", "n >= 0", n="integer"), None),
        (theorem("m**2 > 3*m", "m >= 4", m="real"), by_shift),
    ],
    ids=lambda value: str(value["show"]) if isinstance(value, dict) else getattr(value, "__name__", "none"),
)
def test_nearby_theorems_have_proofs(stated: Any, find: Any) -> None:
    if find is None:  # 2n − (n + 1) is −1 at n = 0: the rule wants a start from which the step holds
        with pytest.raises(ValueError, match="no proof was found"):
            by_growth(stated, "2")
    else:
        check(*find(stated))


def test_what_is_not_true_is_not_found() -> None:
    for stated in (theorem("relu(x) == x", x="real"), theorem("step(x - 1) + step(-x) == 1", x="real")):
        with pytest.raises(ValueError, match="no proof was found"):
            by_cases(stated)
    with pytest.raises(ValueError, match="no proof was found"):
        by_shift(theorem("m**2 > 3*m", "m >= 2", m="real"))


VARIABLES = {"x": "real", "y": "real"}
expressions = st.recursive(
    st.one_of(st.integers(-3, 3).map(lambda i: f"({i})"), st.sampled_from("xy")),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        st.builds("({})**{}".format, inner, st.integers(1, 3)),
    ),
    max_leaves=8,
)


@given(expressions, expressions)
def test_equal_means_equal_by_sympy(first: str, second: str) -> None:
    """The kernel's expansion against sympy's."""
    for other in (second, str(sympy.expand(sympy.sympify(first)))):
        equal = sympy.expand(sympy.sympify(first) - sympy.sympify(other)) == 0
        proof = {"signs": [], "positive": [["1", []]], "sum": []}
        assert accepted(kernel, {"for_all": VARIABLES, "given": [], "show": f"{first} == {other}"}, proof) == equal


def test_the_stored_proofs_are_those_of_the_claims() -> None:
    stored = load(STORED)
    found = {
        f"{id}/repaired" if id != "C.2" else id: {identity.range: identities(id)} for id, identity in IDENTITIES.items()
    }
    for claim, parts in found.items():
        for part, shown in parts.items():
            assert [(item["theorem"], item["proof"]) for item in stored[claim][part]] == [tuple(pair) for pair in shown]
    everything = [shown for parts in stored.values() for objects in parts.values() for shown in objects]
    for item in everything:
        if (
            "bits_of_bits" not in item["theorem"]
        ):  # those of all large n take a minute, and `make verify` shows each of them
            check_stored(item["theorem"], item["proof"])

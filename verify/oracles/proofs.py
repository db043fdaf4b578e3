"""Finds proofs that `verify.trusted.kernel` checks: case distinctions by the signs of gates, polynomials by shift and sign.

Nothing here is trusted. What is found wrongly is rejected there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from constructions.wiring.affine import Affine
from constructions.wiring.wire import Gadget
from verify.framework.claim import Json
from verify.trusted.kernel import Checker, Fact, Polynomial, constant, differences, key, number, parsed, plus, times

if TYPE_CHECKING:
    import sympy

Terms = list[list[Json]]
Shown = tuple[Json, Json]
"""A theorem and its proof."""


def theorem(show: str, *given: str, **kinds: str) -> Json:
    """States something for all variables of these kinds, real or integer, for which what is given holds."""
    return {"for_all": kinds, "given": list(given), "show": show}


def text_of(gadget: Gadget, into: str) -> str:
    """Returns what a gadget adds to a register, read off its units."""
    bias = Fraction(gadget.constants.get(into, 0))
    weighed = [(Fraction(unit.into[into]), unit) for unit in gadget.units if unit.into.get(into)]
    products = [(weight, f"relu({form_text(unit.gate)})*({form_text(unit.up)})") for weight, unit in weighed]
    return _sum([*products, *([(bias, "")] if bias or not products else [])])


def form_text(form: Affine) -> str:
    """Returns an affine form as an expression."""
    terms = [(c, name) for name, c in form.terms.items()]
    return _sum([*terms, *([(form.constant, "")] if form.constant or not terms else [])])


def _sum(summands: Sequence[tuple[Fraction, str]]) -> str:
    text = ""
    for c, what in summands:
        sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
        size = "" if abs(c) == 1 and what else f"{abs(c)}*" if what else str(abs(c))
        text += sign + size + what
    return text


def by_cases(stated: Json) -> Shown:
    """Compares with 0 what stands in a gate whose sign is not known yet, until all are. ValueError if that does not do."""
    return stated, _prove(Checker(stated), 0)


def _prove(state: Checker, either: int) -> Json:
    if absurd := _absurd(state):
        return {"absurd": absurd}
    if either < len(state.either):
        return {"either": either, "of": [_extend(state, known, either + 1) for known in state.either[either]]}
    if pinned := _pin(state):
        return _compare(state, pinned, str(_sympy(pinned)), either)
    signs = []
    for call in _gates(state.show):
        argument = state.polynomial_of(call.args[0])
        found = _sign(state, ast.unparse(call.func) == "step", argument)
        if found is None:
            return _compare(state, argument, ast.unparse(call.args[0]), either)
        signs.append([ast.unparse(call), *found])
    known = {
        (ast.unparse(call.func), key(state.polynomial_of(call.args[0]))): sign == "+"
        for call, (_, sign, _) in zip(_gates(state.show), signs, strict=True)
    }
    [(difference, relation)] = differences(state.show)
    top, _ = state.quotient(difference, known, state.variables)
    terms = _zero(state, top) if relation == "==" else _one_fact(state, state.fact(top, relation)[0])
    if terms is None:
        raise ValueError("no proof was found: no fact bounds the difference")
    return {"signs": signs, "positive": [["1", []]], "sum": terms}


def _compare(state: Checker, argument: Polynomial, text: str, either: int) -> Json:
    below, above = state.fact(times(number(-1), argument), ">"), state.fact(argument, ">")
    branches = {"below": below, "equal": (argument, "=="), "above": above}
    return {"compare": text} | {name: _extend(state, [known], either) for name, known in branches.items()}


def _pin(state: Checker) -> Polynomial | None:
    """Returns what two facts bound by 0 from both sides, and no equality names yet."""
    equal = [polynomial for polynomial, relation in state.facts if relation == "=="]
    for one, _ in state.facts:
        opposite = times(number(-1), one)
        if one not in equal and opposite not in equal and any(other == opposite for other, _ in state.facts):
            return one
    return None


def _extend(state: Checker, known: Sequence[Fact], either: int) -> Json:
    before = len(state.facts)
    state.facts += known
    proof = _prove(state, either)
    del state.facts[before:]
    return proof


def _gates(tree: ast.expr) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _sign(state: Checker, strict: bool, argument: Polynomial) -> tuple[str, Terms] | None:
    """Returns the argument's sign, and the terms that prove it by one fact and a number; None if that does not settle it."""
    if (terms := _one_fact(state, argument)) is not None:
        return "+", terms
    wanted, _ = state.fact(times(number(-1), argument), ">" if strict else ">=")
    terms = _one_fact(state, wanted)
    return None if terms is None else ("-", terms)


def _one_fact(state: Checker, wanted: Polynomial) -> Terms | None:
    """Finds wanted = factor·fact + rest with rest ≥ 0, and factor ≥ 0 unless the fact is an equality."""
    if (rest := constant(wanted)) is not None:
        return [[str(rest), []]] if rest >= 0 else None
    for place, (polynomial, relation) in enumerate(state.facts):
        lead = max(polynomial)
        factor = wanted.get(lead, Fraction(0)) / polynomial[lead]
        rest = constant(plus(wanted, times(number(factor), polynomial), -1))
        if factor and rest is not None and rest >= 0 and (factor > 0 or relation == "=="):
            return [[str(factor), [place]], *([[str(rest), []]] if rest else [])]
    return None


def _absurd(state: Checker) -> Terms | None:
    """Returns two facts whose sum is a number below 0."""
    for i, (one, relation) in enumerate(state.facts):
        for j, (other, _) in enumerate(state.facts):
            sign = -1 if relation == "==" and i != j else 1
            rest = constant(plus(other, one, sign))
            if rest is not None and rest < 0:
                return [[str(sign), [i]], ["1", [j]]]
    return None


def _zero(state: Checker, top: Polynomial) -> Terms:
    """Returns a polynomial that is 0 wherever the equalities among the facts hold. ValueError if that is not seen."""
    import sympy

    if not top:
        return []
    equal = [i for i, (_, relation) in enumerate(state.facts) if relation == "=="]
    names = sorted(state.kinds)
    if equal:
        factors, rest = sympy.reduced(_sympy(top), [_sympy(state.facts[i][0]) for i in equal], *sympy.symbols(names))
        if rest == 0:
            return [[str(factor), [i]] for factor, i in zip(factors, equal, strict=True) if factor != 0]
    raise ValueError("no proof was found: both sides differ")


def _sympy(polynomial: Polynomial) -> sympy.Expr:
    import sympy

    return sum(
        (
            sympy.Rational(c.numerator, c.denominator) * sympy.prod(sympy.Symbol(name) ** power for name, power in m)
            for m, c in polynomial.items()
        ),
        sympy.Integer(0),
    )


def by_shift(stated: Json) -> Shown:
    """Proves a sign: in k = variable − start, numerator and denominator have no negative coefficient. Else raises ValueError."""
    state = Checker(stated)
    [(difference, _)] = differences(state.show)
    top, bottom = state.quotient(difference, {}, state.variables)
    return stated, {"signs": [], "positive": _shift(state, bottom), "sum": _shift(state, top)}


def by_growth(stated: Json, rate: str) -> Shown:
    """Proves that exp(n) or b**n grows by `rate` with each n, the polynomial by less, which shift and sign shows."""
    import sympy

    state = Checker(stated)
    polynomial, _ = state.quotient(parsed(stated["show"].partition(">")[2].strip()), {}, state.variables)
    [name] = state.kinds
    after = sympy.expand(_sympy(polynomial).subs(sympy.Symbol(name), sympy.Symbol(name) + 1))
    margin = plus(times(number(Fraction(rate)), polynomial), state.polynomial(str(after)), -1)
    return stated, {"rate": rate, "sum": _shift(state, margin)}


def _shift(state: Checker, polynomial: Polynomial) -> Terms:
    """Returns the form as a polynomial in the only fact, n − start ≥ 0."""
    import sympy

    if (value := constant(polynomial)) is not None:
        return [[str(value), []]] if value else []
    [name] = state.kinds
    [(known, _)] = state.facts
    variable = sympy.Symbol(name)
    shifted = _sympy(polynomial).subs(variable, variable - _sympy(known).subs(variable, 0))
    coefficients = sympy.Poly(shifted, variable).all_coeffs()[::-1]
    if any(c < 0 for c in coefficients):
        raise ValueError("no proof was found: a coefficient is below 0")
    return [[str(c), [0] * power] for power, c in enumerate(coefficients) if c]


def by_products(stated: Json, factored: str, positive: str = "1") -> Shown:
    """Returns left − right: its numerator as a polynomial in the facts f0, f1, …, and its denominator."""
    import sympy

    state = Checker(stated)
    facts = sympy.symbols(f"f:{len(state.facts)}")

    def products(text: str) -> Terms:
        terms = sympy.Poly(sympy.sympify(text), *facts).terms()
        return [[str(c), [i for i, power in enumerate(powers) for _ in range(power)]] for powers, c in terms]

    return stated, {"signs": [], "positive": products(positive), "sum": products(factored)}


def by_expansion(stated: Json) -> Shown:
    """Proves that both sides are the same polynomial, or the same quotient where the denominator is shown to be positive."""
    shown, proof = by_shift(stated) if stated["given"] else (stated, {"signs": [], "positive": [["1", []]]})
    return shown, {**proof, "sum": []}

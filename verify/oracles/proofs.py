"""Arguments that hold for all n: polynomials by shift and sign, ReGLU gadgets by cases, and interval bounds for one (n, p)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from constructions.wiring.affine import Affine
from constructions.wiring.part import Contract, Domain, Integer, OneOf, Part, Real, Setting, UnitFraction
from constructions.wiring.wire import Gadget
from precision.format import fixed_point
from verify.framework.claim import Counterexample


def positive_from(expression: sympy.Expr, variable: sympy.Symbol, start: int) -> bool:
    """Shift and sign: is the rational function positive for every real variable ≥ start?

    With variable = start + k neither the numerator nor the denominator has a negative coefficient in k, and both constant terms are
    positive. True is a proof; False says nothing.
    """
    k = sympy.Symbol("k", nonnegative=True)
    numerator, denominator = sympy.fraction(sympy.together(expression.subs(variable, start + k)))
    parts = [sympy.Poly(sympy.expand(part), k).all_coeffs() for part in (numerator, denominator)]
    if all(part[-1] < 0 for part in parts):
        parts = [[-c for c in part] for part in parts]
    return all(part[-1] > 0 and all(c >= 0 for c in part) for part in parts)


@dataclass(frozen=True)
class Case:
    """One case of an argument: registers written in terms of parameters that are never negative, or free.

    where: register → expression. result: what the gadget must add there.
    """

    where: Mapping[str, sympy.Expr]
    result: sympy.Expr


def free(name: str) -> sympy.Symbol:
    """A parameter of either sign."""
    return sympy.Symbol(name, real=True)


def nonnegative(name: str) -> sympy.Symbol:
    """A parameter that is at least 0."""
    return sympy.Symbol(name, nonnegative=True)


def reproduces(gadget: Gadget, into: str, cases: Sequence[Case]) -> bool:
    """In exact arithmetic: does the gadget add what each case says, for all parameters, with no gate of undecided sign?"""
    for case in cases:
        total = sympy.Rational(0)
        for unit in gadget.units:
            weight = Fraction(unit.into.get(into, 0))
            sign = _sign(_form(unit.gate, case.where))
            if sign is None:
                return False
            if sign > 0:
                total += _rational(weight) * _form(unit.gate, case.where) * _form(unit.up, case.where)
        total += _rational(Fraction(gadget.constants.get(into, 0)))
        if sympy.expand(total - case.result) != 0:
            return False
    return True


def _form(form: Affine, where: Mapping[str, sympy.Expr]) -> sympy.Expr:
    terms = [_rational(c) * where[name] for name, c in form.terms.items()]
    return sympy.expand(sum(terms, _rational(form.constant)))


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def _sign(gate: sympy.Expr) -> int | None:
    """+1 if the gate is never negative, −1 if it is never positive, None if unknown."""
    if gate.is_nonnegative:
        return 1
    return -1 if gate.is_nonpositive else None


def never_rounds(part: Part, n: int) -> Counterexample | None:
    """A certificate for one n at the least precision: every operator of the part's gadgets is exact on every input of the contract.

    All inputs and weights are integers, so every result is one; interval arithmetic shows that none reaches 2^q. The whole plan
    must be one feed-forward without heads.
    """
    fmt = fixed_point(part.least_precision(n, 1))
    setting = Setting(n, 1, fmt)
    contract = part.contract(setting)
    (block,) = part.plan(setting, False)
    if block.heads:
        raise ValueError(f"{part.id}: the certificate is for feed-forward parts")
    limit = 1 << -fmt.quantum_exponent
    sums: dict[str, int] = {}
    for gadget in block.gadgets:
        for register, value in gadget.constants.items():
            sums[register] = sums.get(register, 0) + _whole(abs(Fraction(value)))
        for unit in gadget.units:
            gate, up = _largest(unit.gate, contract), _largest(unit.up, contract)
            for what, size in (("gate", gate), ("up", up), ("product", gate * up)):
                if size >= limit:
                    return Counterexample(n=n, gadget=gadget.name, operator=what, bound=size, largest=limit)
            for register, weight in unit.into.items():
                sums[register] = sums.get(register, 0) + _whole(abs(Fraction(weight))) * gate * up
    # The sum is rounded once; its exact value is the result, which the postcondition bounds where the sum of magnitudes does not.
    for register, size in sums.items():
        bound = min(size, _bound(contract.ensures[register]))
        if bound >= limit:
            return Counterexample(n=n, register=register, operator="down", bound=bound, largest=limit)
    return None


def _largest(form: Affine, contract: Contract) -> int:
    terms = (_whole(abs(c)) * _bound(contract.requires[name]) for name, c in form.terms.items())
    return sum(terms, _whole(abs(form.constant)))


def _whole(value: Fraction) -> int:
    if value.denominator != 1:
        raise ValueError(f"{value} is not whole")
    return value.numerator


def _bound(domain: Domain) -> int:
    match domain:
        case Integer(low, high):
            return max(abs(low), abs(high))
        case OneOf(values):
            return max(_whole(abs(v)) for v in values)
        case Real() | UnitFraction():
            raise ValueError(f"{domain} is not a set of integers")

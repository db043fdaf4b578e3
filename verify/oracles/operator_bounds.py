"""Bounds of every operator of a feed-forward, for all inputs of a contract: by these nothing rounds and nothing saturates."""

from __future__ import annotations

from fractions import Fraction

from constructions.wiring.affine import Affine
from constructions.wiring.part import Contract, Domain, Integer, OneOf, Part, Real, Setting, UnitFraction
from precision.format import fixed_point
from verify.framework.claim import Counterexample


def never_rounds(part: Part, n: int) -> Counterexample | None:
    """Tries one n at the least precision: every operator of the part's gadgets is exact on every input of the contract.

    All inputs and weights are integers, so every result is one; interval arithmetic shows that none reaches 2^q. The whole plan
    must be one feed-forward without heads.
    """
    fmt = fixed_point(part.least_precision(n, 1))
    setting = Setting(n, 1, fmt)
    contract = part.contract(setting)
    (block,) = part.plan(setting, False)
    if block.heads:
        raise ValueError(f"{part.id}: these bounds are for feed-forward parts")
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

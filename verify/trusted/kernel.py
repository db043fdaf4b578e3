"""Checks proofs that are given as data, and nothing else: what is called proved has passed `check`.

Nothing of the project is imported, and whoever finds a proof is not trusted. A theorem is a JSON object:

    {"for_all": {"x": "integer", "f": "real"}, "given": ["x >= 1 or x <= -1"], "show": "step(x)*f + step(-x)*f == f"}

Its texts are Python's expressions: whole numbers, variables, + − · / and whole powers, relu(e) = max(e, 0), step(e) = 1 if
e ≥ 0, else 0, compared by ==, >=, >, <=, <. Givens are polynomials; those joined by `or` are one case distinction. `exp(n) > P`
and `b**n > P` for a polynomial P may be shown of one integer n ≥ N.

A proof is a tree, and each of its rules is sound by itself:
- {"compare": e, "below", "equal", "above"}: three proofs, with e < 0, e = 0 or e > 0 known in addition. For a polynomial with
  whole coefficients in integers, e > 0 is known as e − 1 ≥ 0.
- {"either": i, "of"}: one proof for each side of the i-th given that has an `or`.
- {"absurd": sum}: what is known is contradictory, as the sum of products below is a constant that it cannot be.
- {"signs", "positive", "sum"}: the sign of each relu(e) and step(e), the denominator positive, and then what is to be shown, each
  written as a sum of products [factor, [i, j, …]] of a factor with known facts i, j, …. A factor of facts that are ≥ 0 or > 0 is
  a number ≥ 0; beside a fact = 0 it may be any polynomial. Whether both sides are equal is decided by expansion.
- {"rate": r, "sum"}: for exp(n) or b**n: r ≤ the base, r**N > P(N), and r·P(n) − P(n + 1) ≥ 0 for n ≥ N. Then induction on n.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from verify.trusted.rejection import Rejected, reject

Monomial = tuple[tuple[str, int], ...]
Polynomial = dict[Monomial, Fraction]
Fact = tuple[Polynomial, str]  # the polynomial is ==, >= or > 0
Signs = dict[tuple[str, frozenset[tuple[Monomial, Fraction]]], bool]

MOST_POWER = 64
EXP_TERMS = 20  # of the series below e
TURNED = {ast.Eq: "==", ast.GtE: ">=", ast.Gt: ">", ast.LtE: ">=", ast.Lt: ">"}


def check(theorem: Any, proof: Any) -> None:
    """Returns if the proof shows the theorem. Raises Rejected, whatever both of them are."""
    try:
        Checker(theorem).prove(proof)
    except Rejected:
        raise
    except Exception as error:  # of data that is no theorem or no proof
        raise Rejected(f"malformed: {type(error).__name__}: {error}") from error


def number(value: int | Fraction) -> Polynomial:
    return {(): Fraction(value)} if value else {}


def plus(first: Polynomial, second: Polynomial, factor: int = 1) -> Polynomial:
    result = dict(first)
    for monomial, coefficient in second.items():
        result[monomial] = result.get(monomial, Fraction(0)) + factor * coefficient
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def times(first: Polynomial, second: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for one, a in first.items():
        for other, b in second.items():
            powers = dict(one)
            for name, power in other:
                powers[name] = powers.get(name, 0) + power
            monomial = tuple(sorted(powers.items()))
            result[monomial] = result.get(monomial, Fraction(0)) + a * b
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def constant(polynomial: Polynomial) -> Fraction | None:
    """Returns its value if it is a number."""
    return polynomial.get((), Fraction(0)) if set(polynomial) <= {()} else None


class Checker:
    """One theorem. facts: what is known on the current branch. either: the givens with an `or`, by their sides."""

    def __init__(self, theorem: Any) -> None:
        if set(theorem) != {"for_all", "given", "show"}:
            reject("a theorem has for_all, given and show")
        self.kinds: Mapping[str, str] = theorem["for_all"]
        if not all(name.isidentifier() and kind in ("real", "integer") for name, kind in self.kinds.items()):
            reject("a variable is real or integer")
        self.variables: dict[str, Polynomial] = {name: {((name, 1),): Fraction(1)} for name in self.kinds}
        self.facts: list[Fact] = []
        self.either: list[list[list[Fact]]] = []
        for text in theorem["given"]:
            tree = parsed(text)
            if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.Or):
                self.either.append([self.comparisons(side) for side in tree.values])
            else:
                self.facts += self.comparisons(tree)
        self.show = parsed(theorem["show"])

    # Texts

    def comparisons(self, tree: ast.expr) -> list[Fact]:
        """Returns a < b <= c as facts about polynomials."""
        return [self.fact(self.polynomial_of(difference), relation) for difference, relation in differences(tree)]

    def fact(self, polynomial: Polynomial, relation: str) -> Fact:
        """Returns a strict one between integers leaves a distance of 1."""
        whole = all(
            c.denominator == 1 and all(self.kinds[name] == "integer" for name, _ in monomial)
            for monomial, c in polynomial.items()
        )
        return (plus(polynomial, number(-1)), ">=") if whole and relation == ">" else (polynomial, relation)

    def polynomial(self, text: Any) -> Polynomial:
        return self.polynomial_of(parsed(text))

    def polynomial_of(self, tree: ast.expr) -> Polynomial:
        top, bottom = self.quotient(tree, {}, self.variables)
        divisor = constant(bottom)
        return times(top, number(1 / divisor)) if divisor else reject("a polynomial is wanted here")

    def quotient(
        self, tree: ast.expr, signs: Signs, variables: Mapping[str, Polynomial]
    ) -> tuple[Polynomial, Polynomial]:
        """Returns numerator and denominator, nothing cancelled: the denominator is 0 wherever some division is by 0."""

        def value(inner: ast.expr) -> tuple[Polynomial, Polynomial]:
            return self.quotient(inner, signs, variables)

        one = number(1)
        match tree:
            case ast.Constant(value=int(whole)) if type(whole) is int:
                return number(whole), one
            case ast.Name(id=name):
                return variables[name], one
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                top, bottom = value(inner)
                return times(number(-1), top), bottom
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
                (a, b), (c, d) = value(left), value(right)
                return plus(times(a, d), times(c, b), 1 if isinstance(sign, ast.Add) else -1), times(b, d)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                (a, b), (c, d) = value(left), value(right)
                return times(a, c), times(b, d)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                (a, b), (c, d) = value(left), value(right)
                if d == one and (divisor := constant(c)):
                    return times(a, number(1 / divisor)), b
                return times(a, times(d, d)), times(b, times(c, d))  # (a/b)/(c/d), with d in it: d must not be 0 either
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))) if 1 <= power <= MOST_POWER:
                top, bottom = one, one
                for a, b in [value(left)] * power:
                    top, bottom = times(top, a), times(bottom, b)
                return top, bottom
            case ast.Call(func=ast.Name(id="relu" | "step" as what), args=[inner], keywords=[]):
                (top, bottom), shown = value(inner), "relu of a polynomial whose sign is shown"
                if bottom != one or (what, key(top)) not in signs:
                    reject(f"{ast.unparse(tree)}: want {shown}")
                return (top if what == "relu" else one) if signs[what, key(top)] else {}, one
        return reject(f"no expression: {ast.unparse(tree)}")

    # Proofs

    def prove(self, proof: Any) -> None:
        """Proves this theorem, with what is known so far."""
        match sorted(proof):
            case ["above", "below", "compare", "equal"]:
                e = self.polynomial(proof["compare"])
                below, equal, above = self.fact(times(number(-1), e), ">"), (e, "=="), self.fact(e, ">")
                for branch, known in (("below", below), ("equal", equal), ("above", above)):
                    self.knowing([known], proof[branch])
            case ["either", "of"]:
                sides = self.either[whole_number(proof["either"], len(self.either))]
                for side, branch in zip(sides, proof["of"], strict=True):
                    self.knowing(side, branch)
            case ["absurd"]:
                total, strict = self.sum(proof["absurd"])
                rest = constant(total)
                if rest is None or rest > 0 or (rest == 0 and not strict):
                    reject("nothing is contradictory here")
            case ["positive", "signs", "sum"]:
                self.compute(proof)
            case ["rate", "sum"]:
                self.grow(proof)
            case _:
                reject(f"no rule has the fields {', '.join(map(str, proof))}")

    def knowing(self, known: Sequence[Fact], proof: Any) -> None:
        before = len(self.facts)
        self.facts += known
        self.prove(proof)
        del self.facts[before:]

    def sum(self, terms: Any) -> tuple[Polynomial, bool]:
        """Returns a sum of products, which is ≥ 0; and whether it is > 0."""
        total, strict = number(0), False
        for factor, places in terms:
            product = self.polynomial(factor)
            facts = [self.facts[whole_number(place, len(self.facts))] for place in places]
            value = constant(product)
            if all(relation != "==" for _, relation in facts):
                if value is None or value < 0:
                    reject(f"the factor {factor} of what is not 0 is no number ≥ 0")
                strict = strict or (value > 0 and all(relation == ">" for _, relation in facts))
            for polynomial, _ in facts:
                product = times(product, polynomial)
            total = plus(total, product)
        return total, strict

    def require_sum(self, polynomial: Polynomial, relation: str, terms: Any) -> None:
        """Requires that the sum of products is this polynomial, and that what it is known to be is what is wanted."""
        total, strict = self.sum(terms)
        if total != polynomial:
            reject("the sum of products is another polynomial")
        if relation == ">" and not strict:
            reject("the sum may be 0")
        if relation == "==" and not all(any(self.facts[i][1] == "==" for i in places) for _, places in terms):
            reject("the sum may be other than 0")

    def compute(self, proof: Any) -> None:
        signs: Signs = {}
        for text, sign, terms in proof["signs"]:
            match parsed(text):
                case ast.Call(func=ast.Name(id="relu" | "step" as what), args=[inner], keywords=[]):
                    argument, bottom = self.quotient(inner, signs, self.variables)
                case _:
                    reject(f"{text} is neither relu(…) nor step(…)")
            if bottom != number(1) or sign not in ("+", "-"):
                reject("a sign is + or −, of a polynomial")
            if sign == "+":
                self.require_sum(argument, ">=", terms)
            else:
                self.require_sum(*self.fact(times(number(-1), argument), ">" if what == "step" else ">="), terms)
            signs[what, key(argument)] = sign == "+"
        [(difference, relation)] = differences(self.show)
        top, bottom = self.quotient(difference, signs, self.variables)
        self.require_sum(bottom, ">", proof["positive"])
        self.require_sum(*(self.fact(top, relation) if bottom == number(1) else (top, relation)), proof["sum"])

    def grow(self, proof: Any) -> None:
        match self.show:
            case ast.Compare(left=left, ops=[ast.Gt()], comparators=[right]):
                base, name = exponential(left)
            case _:
                reject("this rule is for exp(n) > P and b**n > P")
        top, bottom = self.quotient(right, {}, self.variables)
        [(known, relation)] = self.facts
        start = -known.get((), Fraction(0))
        at_least = plus(self.variables[name], number(-start))
        if self.kinds != {name: "integer"} or relation != ">=" or known != at_least or start.denominator != 1:
            reject("all that is given must be n ≥ N, of the one integer n")
        rate = Fraction(proof["rate"])
        if not 0 < rate <= base or start < 0 or bottom != number(1):
            reject("the rate is above the base, or what it is compared with is no polynomial")
        first, _ = self.quotient(right, {}, {name: number(start)})
        after, _ = self.quotient(right, {}, {name: plus(self.variables[name], number(1))})
        if not rate ** int(start) > first.get((), Fraction(0)):
            reject("it is not greater at the start")
        self.require_sum(plus(times(number(rate), top), after, -1), ">=", proof["sum"])


def parsed(text: Any) -> ast.expr:
    plain = text if type(text) is str and text.isascii() and "#" not in text else reject(f"no text: {text!r}")
    return ast.parse(plain, mode="eval").body  # what Python reads is all that a person reads


def key(polynomial: Polynomial) -> frozenset[tuple[Monomial, Fraction]]:
    return frozenset(polynomial.items())


def whole_number(place: Any, end: int) -> int:
    return place if type(place) is int and 0 <= place < end else reject(f"there is no {place!r} among {end}")


def differences(tree: ast.expr) -> list[tuple[ast.expr, str]]:
    """Returns (e, relation), with e related to 0, for each pair of neighbours."""
    if not isinstance(tree, ast.Compare):
        reject(f"no comparison: {ast.unparse(tree)}")
    sides = [tree.left, *tree.comparators]
    result: list[tuple[ast.expr, str]] = []
    for left, op, right in zip(sides, tree.ops, sides[1:], strict=False):
        ends = (right, left) if isinstance(op, ast.Lt | ast.LtE) else (left, right)
        result.append((ast.BinOp(ends[0], ast.Sub(), ends[1]), TURNED[type(op)]))
    return result


def exponential(tree: ast.expr) -> tuple[Fraction, str]:
    """Returns a number below or equal to the base, and the name of the exponent."""
    match tree:
        case ast.Call(func=ast.Name(id="exp"), args=[ast.Name(id=name)], keywords=[]):
            return sum((Fraction(1, math.factorial(k)) for k in range(EXP_TERMS)), Fraction(0)), name
        case ast.BinOp(left=ast.Constant(value=int(base)), op=ast.Pow(), right=ast.Name(id=name)):
            return Fraction(base), name
    return reject("neither exp(n) nor b**n")

"""What theorems and walks of verify/trusted/growth.py are about, at one n: computed from n, with nothing of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

Values = Mapping[str, Fraction]


def values_at(n: int) -> dict[str, Fraction]:
    """The symbols; v is half of the bits of B, rounded down."""
    bits = n.bit_length()
    v = bits.bit_length() // 2
    return {"n": Fraction(n), "B": Fraction(bits), "E": Fraction(2**bits), "v": Fraction(v), "V": Fraction(2**v)}


def parity(n: int) -> int:
    """r: the first of two cases is of 0, the second of 1."""
    return n.bit_length().bit_length() % 2


def value(text: str, values: Values) -> Fraction:
    """Of a polynomial as text."""
    total = Fraction(0)
    for term in text.split(" + "):
        product = Fraction(1)
        for factor in term.split("*"):
            name, _, power = factor.partition("^")
            product *= values[name] ** int(power or 1) if name in values else Fraction(factor)
        total += product
    return total


def holds(inequality: Any, values: Values) -> bool:
    text, relation = inequality
    found = value(text, values)
    return found > 0 if relation == ">" else found >= 0


def shown_at(theorem: Any, n: int) -> Iterator[int]:
    """The numbers of the inequalities that a theorem shows of this n: in the cases on the way of true answers."""
    values = values_at(n)
    case, least = theorem["cases"][parity(n)], (theorem["bits_of_bits"] + 1 - parity(n)) // 2
    while True:
        yield from (item[0] if isinstance(item, list) else item for item in case["shown"])
        if "split" not in case:
            return
        split = case["split"]
        answer = values["v"] == least if split == "v" else holds(split["question"], values)
        least += split == "v" and not answer
        case = case["parts"][0 if answer else 1]

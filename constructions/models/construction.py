"""A construction described as data: what the list of constructions, the dump and the trace tell people about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from constructions.wiring.finding import Finding
from constructions.wiring.part import Setting
from constructions.wiring.register import Past, register
from precision.format import Format


@dataclass(frozen=True)
class Derived:
    """A constant of the weights: its letter, its value for one (n, p), and where it comes from."""

    symbol: str
    value: Fraction
    derivation: str


def numbers_of(fmt: Format, largest: str = "") -> tuple[Derived, Derived]:
    """Returns the step and the largest number of R_p. largest: what to say of the latter."""
    step = f"the step of {fmt.name}, q = (p − 1)/2 = {-fmt.quantum_exponent}"
    return (
        Derived("2^−q", fmt.quantum, step),
        Derived("max", fmt.max_value, f"the largest number, 2^q − 2^−q{largest}"),
    )


def lead_of(setting: Setting, more: str = "") -> Derived:
    """Returns the lead of a winning score. more: what to say of it besides."""
    lead = "a winning score's lead: the least power of two with length·e^−(G−2) < 2^−(q+2), "
    return Derived("G", Fraction(setting.gap), f"{lead}length = {setting.length}{more}")


@dataclass(frozen=True)
class Example:
    """A worked example: the tokens that a model is fed, and the argmax expected after each; None where nothing is promised."""

    tokens: tuple[int, ...]
    expected_next: tuple[int | None, ...]

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.expected_next):
            raise ValueError(f"{len(self.tokens)} tokens, but {len(self.expected_next)} expectations")


@dataclass(frozen=True)
class Construction:
    """What people are told of one model of the paper.

    name: as in `python -m constructions.NAME`. model: as of --model; name and model are unique.
    statement: what is claimed, in a sentence. variants: the one without anything as printed first.
    precision: the least p as a formula in n. glossary: register → meaning.
    """

    name: str
    source: str
    statement: str
    model: str
    findings: tuple[Finding, ...]
    precision: str
    glossary: Mapping[str, str]
    variants: tuple[str, ...] = ("repaired", "printed")

    def meaning(self, name: str) -> str:
        """Returns what a register holds, in words; "" if nobody has said so."""
        parts = register(name)
        if parts.past is Past.KEPT:
            return f"`{parts.here}` of " + (f"{parts.before} tokens before" if parts.before else "this token")
        if parts.past is Past.COPIED:
            return f"`{parts.here}` of {parts.before} position{'' if parts.before == 1 else 's'} before"
        if parts.is_square:
            return f"the square of `{parts.base}`"
        return self.glossary.get(name) or ("" if name.isidentifier() else f"1 at the token {name}, else 0")

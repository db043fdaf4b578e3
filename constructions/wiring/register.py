"""Registers: the named coordinates of the residual stream.

A name is what people see, write and count as the same register. What it holds of another register, its square or its value some
tokens before, it also knows as data, so that nobody takes a name apart.
"""

from __future__ import annotations

from enum import Enum


class Past(Enum):
    """How a register has the value of tokens before: a head copied it, or a recurrence keeps it. The value is how it is spelled."""

    COPIED = "@"
    KEPT = "-"


class Register(str):
    """A register's name: `x`, its square `x_squared`; and of 2 tokens before, `x@2` if copied, `x-2` if kept.

    base: x. is_square: whether it holds x². past: None for what belongs to this token, without a way back. before: tokens.
    """

    base: str
    is_square: bool
    past: Past | None
    before: int

    def __new__(cls, base: str, is_square: bool = False, past: Past | None = None, before: int = 0) -> Register:
        name = base + ("_squared" if is_square else "") + (f"{past.value}{before}" if past else "")
        self = super().__new__(cls, name)
        self.base, self.is_square, self.past, self.before = base, is_square, past, before
        return self

    @property
    def here(self) -> Register:
        """The register whose value it has, of whichever token."""
        return Register(self.base, self.is_square)


def register(name: str) -> Register:
    """Returns the register of this name: one that says nothing of another, unless `name` is one that does."""
    return name if isinstance(name, Register) else Register(name)


def squared(name: str) -> Register:
    """Returns the register that holds the square of `name`."""
    of = register(name)
    return Register(of.base, True, of.past, of.before)


def copied(name: str, before: int) -> Register:
    """Returns the register in which a head copies `name` from so many tokens earlier; a copy of a copy is from further back."""
    of = register(name)
    return Register(of.base, of.is_square, Past.COPIED, of.before + before)


def register_before(name: str, before: int) -> Register:
    """Returns the register of a shift register that holds the value of `name` so many tokens earlier; 0: of this token."""
    of = register(name)
    return Register(of.base, of.is_square, Past.KEPT, before)

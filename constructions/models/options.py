"""The options of a task's models, as data: what callers choose besides a model's size.

A task has one frozen dataclass of them. Each field made by `option` has a type, a usual value and a help text. From it come the
options of commands, the keywords of `constructions.load`, the fields of documents and dossiers, and the checks of all of these.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

LONGEST_BITS = 128  # of a number that a message writes in digits


@dataclass(frozen=True)
class Option:
    """What is known of a field besides its usual value.

    help: for --help. keyword: what callers call it, by default the field's name. choices: the texts that it may be. most: the
    largest number that fits into memory; None for a text. models: those that have it, all if it is empty. is_variant: --variant
    sets it. is_required: who builds the model must say it. has_flag: whether commands have it. phrase: how the model's name
    mentions a value, "" for not.
    """

    help: str = ""
    keyword: str = ""
    choices: Collection[str] = ()
    most: int | None = None
    models: Collection[str] = ()
    is_variant: bool = False
    is_required: bool = False
    has_flag: bool = True
    phrase: str = ""
    name: str = ""
    usual: Any = None

    def checked(self, value: Any) -> Any:
        """Returns a caller's value, a number as an int. Raises ValueError, with one line, for what it cannot be."""
        if value is None or isinstance(self.usual, bool):
            return value
        if self.most is not None:
            number = require_size(self.keyword, value, self.most)
            if number < 1:
                raise ValueError(f"{self.keyword} is at least 1, not {number}")
            return number
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.keyword} is {' or '.join(self.choices)}, not {str(value)[:40]!r}")
        return value


def option(usual: Any, help: str = "", **about: Any) -> Any:
    """Returns the field of an option, see `Option`."""
    return field(default=usual, metadata={"option": Option(help, usual=usual, **about)})


@dataclass(frozen=True)
class ModelOptions:
    """A subclass has the options as fields; a dossier has them as its own."""

    @classmethod
    def items(cls, model: str | None = None) -> Mapping[str, Option]:
        """Returns the options of a model, or of all models, by the names of their fields."""
        known = {one.name: one.metadata["option"] for one in fields(cls) if "option" in one.metadata}
        named = {name: replace(one, name=name, keyword=one.keyword or name) for name, one in known.items()}
        return {name: one for name, one in named.items() if model in (None, *one.models) or not one.models}

    def take(self, values: Mapping[str, Any], *, files: bool = False) -> Self:
        """Returns these options with values, by the names of fields. files: whether a text may name a file. Raises ValueError."""
        return replace(self, **values)

    @property
    def fields(self) -> Mapping[str, Any]:
        """Returns its own fields in JSON documents; a truth value has another place there."""
        return {name: getattr(self, name) for name, one in self.items().items() if not isinstance(one.usual, bool)}

    @property
    def own_variant(self) -> str:
        """Returns the name of the variant that they choose, "" for the usual wiring."""
        return next((name for name, one in self.items().items() if one.is_variant and getattr(self, name)), "")

    def phrases(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yields what a document says of them, for people: the variant, then each value but for a choice that is the usual one."""
        yield from (name for name, one in self.items().items() if one.is_variant and document.get("variant") == name)
        for name, one in self.items().items():
            value = document.get(name, one.usual)
            if one.phrase and value and not (one.choices and value == one.usual):
                yield one.phrase.format("any number of" if isinstance(value, list) else value)


def require_whole(name: str, value: Any) -> int:
    """Returns a number as an int, numpy's too. Raises ValueError for one that is not whole, and for a text or a truth value."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return int(operator.index(value))
    except TypeError:
        raise ValueError(f"{name} is a whole number, not {value!r}") from None


def require_size(name: str, value: Any, most: int) -> int:
    """Returns the same. Raises ValueError for a number beyond what fits into memory, too."""
    number = require_whole(name, value)
    if abs(number) > most:
        beyond = f"above {most:,}, the largest that is wired here" if number > 0 else "below 0"
        raise ValueError(f"{name} = {show_number(number)} is {beyond}")
    return number


def show_number(number: int) -> str:
    """Returns a number in a message. Python refuses to write one of thousands of digits."""
    bits = number.bit_length()
    return f"{number:,}" if bits <= LONGEST_BITS else f"a number of {bits:,} bits"

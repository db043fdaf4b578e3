"""Cases as JSON and back, so that a witness can be stored and met again.

A case is built from None, bool, int, str, float, Fraction, enums, tuples, lists, dicts with string keys, and dataclasses
of these. JSON forgets the difference between some of them; the annotation of the predicate's parameter tells it again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from verify.dossiers.dossier import Subject
from verify.dossiers.registry import of_case
from verify.framework.claim import Json

LARGEST_NUMBER = 2**53  # beyond it, readers of JSON may lose digits


def to_json(value: object) -> Json:
    """Stores exactly: a fraction, a float and a large integer become strings. TypeError for what cannot be stored."""
    if isinstance(value, enum.Enum):
        return to_json(value.value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) <= LARGEST_NUMBER else str(int(value))
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a dict in a case needs string keys")
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, Subject):
        return to_json(value.as_case())
    if isinstance(value, Sequence):
        return [to_json(item) for item in value]
    if dataclasses.is_dataclass(value):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value) if field.init}
    raise TypeError(f"a case cannot hold {type(value).__name__}")


def from_json(data: Json, wanted: typing.Any) -> typing.Any:
    """Returns the value of type `wanted` that `to_json` stored; ValueError where data does not fit it."""
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if wanted is typing.Any or wanted is object:
        return data
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(data, arguments)
    if origin is typing.Literal:
        return data if data in arguments else _misfit(data, wanted)
    if wanted is None or wanted is type(None):
        return None if data is None else _misfit(data, wanted)
    if wanted in (bool, str):
        return data if isinstance(data, wanted) else _misfit(data, wanted)
    if wanted in (int, Fraction, float):
        return _number(data, wanted)
    return _compound(data, wanted, origin or wanted, arguments)


def _number(data: Json, wanted: typing.Any) -> typing.Any:
    if isinstance(data, int | str) and not isinstance(data, bool):
        with contextlib.suppress(ValueError, ZeroDivisionError):
            return wanted(data)
    return _misfit(data, wanted)


def _compound(data: Json, wanted: typing.Any, base: typing.Any, arguments: tuple[typing.Any, ...]) -> typing.Any:
    if base is tuple and isinstance(data, list):
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(from_json(item, arguments[0]) for item in data)
        inner = arguments or (typing.Any,) * len(data)
        return tuple(from_json(item, kind) for item, kind in zip(data, inner, strict=True))
    if not isinstance(base, type):
        return _misfit(data, wanted)
    if issubclass(base, enum.Enum):
        return base(data)
    if base is Subject and isinstance(data, dict):
        return of_case(data)
    if dataclasses.is_dataclass(base) and isinstance(data, dict):
        hints = typing.get_type_hints(base)
        return base(**{name: from_json(item, hints[name]) for name, item in data.items()})
    if issubclass(base, Mapping) and isinstance(data, dict):
        kind = arguments[1] if arguments else typing.Any
        return {key: from_json(item, kind) for key, item in data.items()}
    if issubclass(base, tuple) and isinstance(data, list):  # a named tuple
        hints = typing.get_type_hints(base)
        return base(*(from_json(item, kind) for item, kind in zip(data, hints.values(), strict=True)))
    if issubclass(list, base) and isinstance(data, list):
        kind = arguments[0] if arguments else typing.Any
        return [from_json(item, kind) for item in data]
    return _misfit(data, wanted)


def _first_that_fits(data: Json, kinds: Sequence[typing.Any]) -> typing.Any:
    for kind in kinds:
        try:
            return from_json(data, kind)
        except (ValueError, TypeError, KeyError):
            continue
    return _misfit(data, kinds)


def _misfit(data: Json, wanted: object) -> typing.NoReturn:
    raise ValueError(f"{data!r} does not fit {wanted}")


def case_type(predicate: Callable[..., object]) -> typing.Any:
    """Returns the annotation of the predicate's first parameter; Any where there is none."""
    try:
        parameters = inspect.signature(predicate, eval_str=True).parameters.values()
    except NameError as error:
        raise TypeError(f"the type of a case must be defined at the top of its file: {error}") from error
    for parameter in parameters:
        return typing.Any if parameter.annotation is parameter.empty else parameter.annotation
    raise TypeError("a predicate takes the case as its first parameter")


def store(case: object, predicate: Callable[..., object]) -> Json:
    """Returns the case as JSON, after making sure that a replay gets an equal case."""
    data = to_json(case)
    if from_json(data, case_type(predicate)) != case:
        raise TypeError(f"{case!r} cannot be stored as a witness: annotate the predicate's parameter with its type")
    return data

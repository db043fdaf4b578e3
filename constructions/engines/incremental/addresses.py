"""Arrays as compiled code sees them: the address of their first element.

Numba hands an array over as seven values and lets indices count from its end as well. Here one value is enough, and all
indices count from the beginning. So the entries take addresses, and what they call sees arrays only for their length.
Interpreted code goes on with the arrays themselves.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numba import types  # type: ignore[import-not-found,import-untyped,unused-ignore]
from numba.extending import models, register_model  # type: ignore[import-not-found,import-untyped,unused-ignore]

from constructions.engines.incremental.limbs import LIMB, begin, generates


class Address(types.Type):  # type: ignore[misc,unused-ignore]
    """The type of an address of such elements."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"Address({element})")  # type: ignore[no-untyped-call,unused-ignore]


@register_model(Address)  # type: ignore[no-untyped-call,unused-ignore]
class AddressModel(models.PrimitiveModel):  # type: ignore[misc,unused-ignore]
    """A pointer of LLVM."""

    def __init__(self, manager: Any, address: Address) -> None:
        pointer = manager.lookup(address.element).get_data_type().as_pointer()
        super().__init__(manager, address, pointer)  # type: ignore[no-untyped-call,unused-ignore]


def address(array: Any) -> Any:
    """Of a contiguous array."""
    return array


@generates(address, lambda array: Address(array.dtype))
def _address(builder: Any, address: Any, arguments: Any) -> Any:
    return begin(builder, arguments[0])


def row(table: Any, at: int, size: int) -> Any:
    """One row of a table, given how long rows are."""
    return table[at]


@generates(row, lambda table, at, size: table)
def _row(builder: Any, address: Any, arguments: Any) -> Any:
    table, at, size = arguments
    return builder.gep(table, [builder.mul(at, size)])


def _element(array: Any, index: Any) -> Any:
    """Integers of any length are read as the longest."""
    if not isinstance(array, Address):
        return None
    return types.int64 if isinstance(array.element, types.Integer) else array.element


@generates(operator.getitem, _element)
def _getitem(builder: Any, element: Any, arguments: Any) -> Any:
    value = builder.load(builder.gep(arguments[0], [arguments[1]]))
    return builder.sext(value, LIMB) if value.type == ir.IntType(32) else value


@generates(operator.setitem, lambda array, index, value: types.none if isinstance(array, Address) else None)
def _setitem(builder: Any, none: Any, arguments: Any) -> Any:
    array, index, value = arguments
    if value.type == LIMB and array.type.pointee == ir.IntType(32):
        value = builder.trunc(value, array.type.pointee)
    builder.store(value, builder.gep(array, [index]))
    return None

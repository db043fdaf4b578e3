"""How a checker says no: whatever it is given, it returns, or raises this."""

from __future__ import annotations

from typing import NoReturn


class Rejected(Exception):
    """This proof does not show this theorem."""


def reject(why: str) -> NoReturn:
    raise Rejected(why)

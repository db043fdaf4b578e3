"""Hands claims to the processes of pytest-xdist, in the order of collection; claims that share work stay together."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from verify.framework.order import group_of


class Groups(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Gives a process one group of claims at a time, see `order.group_of`. Another test is a group of its own."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        config.option.loadscopereorder = False  # the groups have the order that `order.longest_first` made
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        claim = nodeid.partition("[")[2].removesuffix("]")
        group = group_of(claim)
        return nodeid if group == claim else group

"""The structure that incremental decoding guesses from a head's keys."""

from __future__ import annotations

import numpy as np
import pytest

ONE, X, SQUARED = range(3)


@pytest.mark.parametrize("number", [5, 6, 40, 41, 1001])
@pytest.mark.parametrize("exceptions", [1, 2])
def test_special_keys_are_told_apart_wherever_they_stand(number: int, exceptions: int) -> None:
    """x and its square at each key, and a register that is 1 but at a few keys: in the middle, at both ends, and between."""
    from constructions.engines.incremental.structure import Keys, search

    for first in {0, 1, number // 3, number // 2 - 1, number // 2, number // 2 + 1, number - exceptions}:
        x = np.arange(number, dtype=np.uint64)
        table = np.stack([np.ones(number, np.uint64), x, x * x], axis=1)
        special = list(range(first, first + exceptions))
        table[special, ONE] = 9
        keys = Keys(
            table[:, :, np.newaxis], [1, 1, -1], [], lambda structure, root, square: int((root, square) == (X, SQUARED))
        )
        actual = search(keys)
        assert actual is not None
        assert actual.specials == special
        assert actual.exceptions == {ONE: exceptions}
        assert table[actual.ordinary, ONE] == 1
        assert actual.preference[1:] == (X, SQUARED)


@pytest.mark.parametrize("place", range(17))
def test_each_register_may_have_its_own_exceptions(place: int) -> None:
    """No key is special for all registers alike: the ordinary key is one that is special for none."""
    from constructions.engines.incremental.structure import Keys, search

    table = np.zeros((17, 4, 2), np.uint64)
    for register in range(4):
        table[(place + 5 * register) % 17, register, 1] = 7
    actual = search(Keys(table, [1] * 4, [(place + 1) % 17], lambda structure, root, square: 0))
    assert actual is not None
    assert actual.exceptions == dict.fromkeys(range(4), 1)
    assert actual.specials == sorted({(place + 1) % 17, *((place + 5 * register) % 17 for register in range(4))})
    assert actual.ordinary not in actual.specials

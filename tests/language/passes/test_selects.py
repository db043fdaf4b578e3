"""What a head compares picks the positions that are meant, by exact scores over all keys of a text."""

from __future__ import annotations

from fractions import Fraction

import pytest

from constructions.language.passes.operations import Attend
from constructions.language.passes.selects import plan_select
from constructions.language.program import NotCompiled
from constructions.language.terms import At, Back, Best, Count, Nearest, Pick, Read, as_term
from tests.language.passes.passed import Passed, passed, value_of
from tests.language.test_slips import FAR_OFF


def check(one: Passed) -> None:
    for value, operation in one.operations:
        if not isinstance(operation, Attend) or isinstance(operation.select.where, Best):
            continue
        select = operation.select
        for text, k in one.positions:
            for key, _ in select.pairs:
                assert value_of(key, text, 1) == 0
            matches = [
                j
                for j in range(2, k + 1)
                if all(value_of(key, text, j) == value_of(query, text, k) for key, query in select.pairs)
            ]
            (atom,) = value.atoms
            match select.where:
                case Count() | Pick():
                    due = len(matches) if isinstance(select.where, Count) else value_at(one, select.where, matches)
                    mine = Fraction(1) / (1 + due) if isinstance(select.where, Count) else None
                    assert mine is None or mine == value_of(value, text, k)
                    if isinstance(select.where, Pick) and isinstance(atom, Read):
                        assert value_of(value, text, k) == value_of(atom.value, text, due)
                case Back() | Nearest() if select.target is not None and isinstance(atom, Read):
                    wanted = value_of(select.target, text, k)
                    nearest = min(range(1, k + 1), key=lambda j: (abs(j - wanted), j))
                    assert value_of(value, text, k) == value_of(atom.value, text, nearest)


def value_at(one: Passed, where: Pick, matches: list[int]) -> int:
    return (matches[-1] if where.last else matches[0]) if matches else 1


def test_what_lies_outside_is_taken_off() -> None:
    """Of 3·number − 4, from −4 to 5 and at position 4 at most: on both sides."""
    one = passed(FAR_OFF)
    (far,) = [op.select for _, op in one.operations if isinstance(op, Attend)]
    assert len(far.outside) == 2
    for text, k in one.positions:
        assert far.target is not None
        wanted = value_of(far.target, text, k)
        distance = min(abs(j - wanted) for j in range(1, k + 1))
        assert sum(value_of(as_term(side), text, k) for side in far.outside) == distance**2


def test_a_selection_that_no_head_has() -> None:
    with pytest.raises(NotCompiled, match="no head for At"):
        plan_select(passed(FAR_OFF).facts, At(as_term(2)))

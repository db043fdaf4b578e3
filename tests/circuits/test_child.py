"""Children: their items, their errors, their deaths, and that none is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from circuits.child import DiedError, interleave, run_in_child


def no_child_is_left() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def test_items_come_in_order_and_from_another_process() -> None:
    assert list(run_in_child(lambda: range(5))) == [0, 1, 2, 3, 4]
    (pid,) = run_in_child(lambda: [os.getpid()])
    assert pid != os.getpid()
    assert no_child_is_left()


def test_an_error_is_raised_here_after_the_items_before_it() -> None:
    def work() -> Iterator[int]:
        yield 1
        raise KeyError("two")

    stream = run_in_child(work)
    assert next(stream) == 1
    with pytest.raises(KeyError, match="two"):
        next(stream)
    assert no_child_is_left()


@pytest.mark.parametrize(
    ("end", "status"), [(lambda: os.kill(os.getpid(), signal.SIGTERM), -15), (lambda: os._exit(2), 2)]
)
def test_a_death_is_told(end: object, status: int) -> None:
    with pytest.raises(DiedError) as raised:
        list(run_in_child(lambda: [end()]))
    assert raised.value.status == status
    assert no_child_is_left()


def test_a_stream_that_is_closed_ends_its_child() -> None:
    began = time.monotonic()
    run_in_child(lambda: [time.sleep(100)]).close()  # type: ignore[attr-defined]
    assert time.monotonic() - began < 50
    assert no_child_is_left()


def test_children_share_the_items_and_keep_their_order() -> None:
    pairs = list(interleave(2, lambda i: (i, os.getpid()), range(9)))
    assert [i for i, _ in pairs] == list(range(9))
    assert [len({pid for _, pid in pairs[k::2]}) for k in (0, 1)] == [1, 1]
    assert len({pid for _, pid in pairs}) == 2
    assert no_child_is_left()


def test_who_stops_early_ends_all() -> None:
    stream = interleave(2, lambda i: bytes(1 << 20), range(1000))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert no_child_is_left()

"""A step of the trace as a table: every word is there, in its column, whatever the width."""

from __future__ import annotations

import io
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from constructions.show.trace_text import COLUMNS, GAP, LEAST_WIDTH, _print_rows, _widths

words = st.lists(st.text("abc≈−", min_size=1, max_size=12), max_size=30).map(" ".join)
rows = st.tuples(st.just("7"), *[words] * 4).map(lambda texts: tuple((text, "red") for text in texts))


@given(st.lists(rows, min_size=1, max_size=4), st.integers(LEAST_WIDTH, 200))
def test_every_word_stands_below_its_column(drawn: list[tuple[tuple[str, str], ...]], width: int) -> None:
    console = Console(file=io.StringIO(), width=width)
    _print_rows(console, drawn)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert all(len(line) <= width and line == line.rstrip() for line in lines)
    starts = [0, *(lines[0].index(name) for name in COLUMNS[1:]), width]
    for column, (start, stop) in enumerate(pairwise(starts)):
        shown = " ".join(line[start:stop].strip() for line in lines[1:]).split()
        assert shown == " ".join(row[column][0] for row in drawn).split()


@given(st.lists(st.integers(1, 300), min_size=5, max_size=5), st.integers(LEAST_WIDTH, 200))
def test_columns_take_what_they_want_or_share_the_room(wanted: list[int], room: int) -> None:
    widths = _widths(wanted, room)
    total = sum(widths) + GAP * (len(wanted) - 1)
    assert total <= room
    cut = [(w, got) for w, got in zip(wanted, widths, strict=True) if got < w]
    if not cut:
        assert widths == wanted
    else:
        cap = {got for _, got in cut}
        assert len(cap) == 1
        assert max(widths) == cap.pop()
        assert total + len(cut) > room

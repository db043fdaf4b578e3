"""Which constructs of programs the checker reads: the table of docs/programs.md, made from the weights of a program for each.

`python -m tests.language.reads` writes the table anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from constructions.language.program import ARCHITECTURES, NotCompiled
from tests.language.compiled import Compiled
from tests.language.programs import Written
from verify.rounding.checker import Report

PAGE = Path(__file__).parents[2] / "docs" / "programs.md"
BEGIN, END = "<!-- reads: begin -->", "<!-- reads: end -->"
N = 8
READ, ROUNDING, UNKNOWN, NONE = "yes", "rounding alone", "no rule", "not compiled"
SAME = "select(number, number)"
OFTEN = "select(number == 1).count() >= number"
NUMBERS, WORDS = "some(numbers(0))", 'some(words("a", "b"))'
YES_NO = '"yes", "no"'
CONSTRUCTS: tuple[tuple[str, str, str], ...] = (
    ('`number == 2`, `position > 3`, `word("a")`', f"choose((number == 2) | (position > 3), {YES_NO})", NUMBERS),
    ("a product of two numbers, compared", f"choose(number * number - position > 2, {YES_NO})", NUMBERS),
    ("`x + y == 0` of two numbers", f"choose(number.back(1) + number == 0, {YES_NO})", NUMBERS),
    (
        "`table(value, {1: 3})`, `positive(value)`",
        f"choose(table(number, {{1: 3, 2: 1}}) > positive(number - 2), {YES_NO})",
        NUMBERS,
    ),
    ("`value.back(2)`", f"choose(number.back(2) == number, {YES_NO})", NUMBERS),
    ("`value.at(value)`", f"choose(number.at(number) == 1, {YES_NO})", NUMBERS),
    (
        "`select(…).first(…)`, `.last(…)`",
        f"choose(select(number, number.back(1)).last(number.back(1)) == 2, {YES_NO})",
        NUMBERS,
    ),
    (
        "the same of what such a head reads",
        f"choose(select(number, select(number, 1).first(position)).last(number) == 2, {YES_NO})",
        NUMBERS,
    ),
    (
        "`select(…).nearest(value, target)`",
        f"choose(select(number, number).nearest(position, number) == 2, {YES_NO})",
        NUMBERS,
    ),
    (
        "`select(a) & select(b)`",
        f"choose((select(number, number) & select(number.back(1), 1)).last(position) > 2, {YES_NO})",
        NUMBERS,
    ),
    ("a count, compared with a number", f"choose({SAME}.count() > 2, {YES_NO})", NUMBERS),
    (
        "a count, compared with another count",
        f"choose({SAME}.count() > select(number == 1).count(), {YES_NO})",
        NUMBERS,
    ),
    ("a count, compared with a register", f"choose({OFTEN}, {YES_NO})", NUMBERS),
    ("a count that is said", f"{SAME}.count()", NUMBERS),
    ("a count plus or times a value", f"choose({SAME}.count() + number > 2, {YES_NO})", NUMBERS),
    ("`select` of what a count is compared with", f"choose(select({OFTEN}).last(number) == 2, {YES_NO})", NUMBERS),
    (
        "two such comparisons joined in a count",
        f"choose(select((running_sum(number) == 0) | ({OFTEN})).count() == number, {YES_NO})",
        NUMBERS,
    ),
    (
        "a comparison of two counts inside another",
        f"choose(select(number == 1).count() >= select(number > 1).count(), choose({SAME}.count() == select(number == 0).count(), "
        f'"yes", "no"), "yes")',
        NUMBERS,
    ),
    ("`running_sum(value)`, compared", f"choose(running_sum(number) > 2, {YES_NO})", NUMBERS),
    ("`running_sum(value)`, said", 'running_sum(word("a"))', 'some(words("a", "b")), "?", numbers(0)'),
    (
        "`running_sum(value)`, read by a head",
        f"choose(select(running_sum(number == 1), 2).first(number) == 2, {YES_NO})",
        NUMBERS,
    ),
    (
        "`running_sum(value, every=3)`, `alternating_sum(value)`",
        f'choose(alternating_sum(word("a")) > running_sum(word("a"), every=3), {YES_NO})',
        WORDS,
    ),
    ("a number of the texts that is said", "select(number, number.back(1)).last(number)", NUMBERS),
    ("a number below them or above them", "number - 1", NUMBERS),
    ("a position that is said", "position - 2", NUMBERS),
)


def verdict(says: str, prompt: str, architecture: str) -> str:
    """How far the checker gets with such a program of n = 8."""
    program = Written(says, prompt, architecture).program
    compiled = Compiled(program, N)
    try:
        compiled.compiler.plan(compiled.compiler.setting(compiled.arithmetic.format))
    except NotCompiled:
        return NONE
    if not isinstance(compiled.report, Report):
        return UNKNOWN
    return ROUNDING if compiled.mismatches else READ


def table() -> Iterator[str]:
    """The lines of the table."""
    yield f"| what a program has | {' | '.join(ARCHITECTURES)} |"
    yield "|---" * (len(ARCHITECTURES) + 1) + "|"
    for name, says, prompt in CONSTRUCTS:
        yield f"| {name} | {' | '.join(verdict(says, prompt, one) for one in ARCHITECTURES)} |"


def renewed(text: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, *table(), END]) + after


def main() -> int:
    """Writes the table."""
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The command line of a survey."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence

Judge = Callable[[Sequence[str], int, int], Sequence[str]]
"""Judges cases of some families, so many at most, by a seed; says on stderr how many, and returns the findings."""


def run(
    prog: str, doc: str, families: Collection[str], most: tuple[str, int, str], judge: Judge, argv: Sequence[str] | None
) -> int:
    """Prints each finding, and returns the exit status. most: an option, its default, and what it says."""
    parser = argparse.ArgumentParser(prog=f"python -m {prog}", description=doc.split("\n\n")[1])
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"by default all: {', '.join(families)}")
    option, default, says = most
    parser.add_argument(option, dest="most", type=int, default=default, help=f"{says} (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: %(default)s)")
    options = parser.parse_args(argv)
    if unknown := [family for family in options.families if family not in families]:
        parser.error(f"there is no family {unknown[0]!r}; there are {', '.join(families)}")
    if options.most < 1:
        parser.error(f"{option} is 1 at least, not {options.most}")
    findings = judge(options.families or [*families], options.most, options.seed)
    for finding in findings:
        print(finding)
    return int(bool(findings))

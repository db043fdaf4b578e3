"""`python -m verify [OPTIONS]` is `pytest verify/ [OPTIONS]`; its `--help` lists the options of the verifier alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from constructions.show import cli
from verify.framework.options import ALREADY_IMPORTED
from verify.plugin import add_options

PROG = "python -m verify"
DESCRIPTION = (
    "Judges the paper's claims and prints the ledger. The same as pytest verify/, which takes these options too."
)
EPILOG = f"""examples:
  {PROG} --n-max 10000 -n 2                       every claim, in two processes
  {PROG} --claim C.18 --engine all                one lemma, by each engine
  {PROG} --n-max 1000000 --ledger run.json        with the ledger as a file
  {PROG} --n-max 1000000 --ledger run.json --resume run.json   go on where that was cut off
  {PROG} --fuzz 10 --claim 5.7                    ten minutes of fresh cases

All options of pytest can be given as well, -n for the number of processes among them.
Other commands, each with --help: verify.replay, verify.diff, verify.table, verify.certify, verify.explain,
verify.induction, verify.theorem, verify.precision.

exit status: 0 each verdict is the one that is known, 1 one is not, 2 interrupted, 4 a mistake in the command line"""


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    if {"-h", "--help"} & set(argv):
        parser = cli.Parser(PROG, DESCRIPTION, EPILOG)
        parser.usage = f"{PROG} [OPTIONS]"
        add_options(parser.add_argument)
        parser.print_help()
        return cli.HOLDS
    return int(pytest.main([str(Path(__file__).parent), *ALREADY_IMPORTED, *argv]))


if __name__ == "__main__":
    sys.exit(main())

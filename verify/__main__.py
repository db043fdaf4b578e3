"""`python -m verify [OPTIONS]` is `pytest verify/ [OPTIONS]`; its `--help` lists the options of the verifier alone."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from verify.plugin import add_options

USAGE = "python -m verify [OPTIONS]"
DESCRIPTION = "Judges the paper's claims, and prints the ledger: the verdict on each, and the evidence. The same as pytest verify/."
EPILOG = (
    "All options of pytest can be given as well, -n 2 for two processes among them. Exit status: pytest's, 0 if each verdict is"
    " the one that is known, 1 if one is not, 2 if the run was interrupted, 4 for a mistake in the command line."
    " See also: python -m verify.replay --help, python -m verify.diff --help, python -m verify.table --help."
)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    if {"-h", "--help"} & set(arguments):
        parser = argparse.ArgumentParser(usage=USAGE, description=DESCRIPTION, epilog=EPILOG, add_help=False)
        add_options(parser.add_argument)
        parser.print_help()
        return 0
    return int(pytest.main([str(Path(__file__).parent), *arguments]))


if __name__ == "__main__":
    sys.exit(main())

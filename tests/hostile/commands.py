"""Every command, one quick use of it, and where it takes a number, a text, or a file. A new command or option is a line here.

In a use, `{}` is where an abuse goes. `@name` is a file that is as it should be, of those in `good_files`.
"""

from __future__ import annotations

from typing import NamedTuple


class Use(NamedTuple):
    """A module for `python -m`, and its arguments."""

    module: str
    line: str

    def __str__(self) -> str:
        return f"{self.module} {self.line}".strip()

    @property
    def arguments(self) -> list[str]:
        """Split at blanks; a text with blanks has `~` for them."""
        return [word.replace("~", " ") for word in self.line.split()]


def uses(*lines: str) -> list[Use]:
    return [Use(*(line.split(" ", 1) if " " in line else (line, ""))) for line in lines]


USUAL = uses(
    "constructions",
    "constructions.istree --edges 1-2",
    "constructions.index 4~2~?~1",
    "constructions.recall 5~2~?~5",
    "constructions.ngram 5~2~9~5~?~5~2",
    "constructions.counting 5~2~5~?~5~1",
    "constructions.turing --machine bb2 --steps 3",
    "constructions.simulate --rnn parity 1~0",
    "circuits add --p 5",
    "verify.certify recall --n 4",
    "verify.explain index --n 4",
    "verify.theorem recall --n 4",
    "verify.precision index --n 4",
    "verify.table",
    "verify.diff @ledger.json @ledger.json",
    "verify.findings",
    "verify.store --list recall*",
)
SLOW = uses(  # they gather all claims, or ask a solver
    "verify.replay C.1/printed", "verify.replay --list", "verify --claim C.1/printed", "verify.induction"
)

NUMBERS = uses(
    "constructions.istree --dump-weights --n {}",
    "constructions.istree --edges 1-2 --precision {}",
    "constructions.recall --dump-weights --n {}",
    "constructions.turing --machine bb2 --steps {}",
    "constructions.turing --machine bb2 --model cot --cells {}",
    "constructions.simulate --rnn parity --words {} 1",
    "constructions.simulate --rnn parity --n {} 1",
    "circuits add --p {}",
    "circuits --rnn recall --n {}",
    "verify.certify recall --n {}",
    "verify.certify recall --length {}",
    "verify.certify recall --precision {}",
    "verify.certify recall --n 4 --mutants {}",
    "verify.certify turing --model cot --cells {}",
    "verify.explain index --n {}",
    "verify.theorem recall --n {}",
    "verify.precision index --n {}",
    "verify.precision index --n-max {}",
)
TEXTS = uses(
    "constructions.istree --edges {}",
    "constructions.istree {}",
    "constructions.istree --edges 1-2 --printed {}",
    "constructions.recall {}",
    "constructions.turing --machine {}",
    "constructions.turing --machine bb2 --tape {}",
    "constructions.simulate --rnn parity {}",
    "constructions.simulate --rnn {}",
    "circuits {}",
    "circuits --p 5 --rnn {}",
    "verify.certify {}",
    "verify.certify recall --model {}",
    "verify.explain {}",
    "verify.theorem {}",
    "verify.precision {}",
    "verify.induction {}",
    "verify.store --list {}",
)
MEANS_SOMETHING = {  # an abuse that is none for this command
    ("constructions.turing --machine bb2 --tape {}", "empty"),
    ("constructions.simulate --rnn parity {}", "option"),
    ("verify.induction {}", "option"),
    ("verify.store --list {}", "option"),
    ("constructions.recall --sequence {}.txt ?~5", "empty"),
    ("constructions.recall --sequence {}.txt ?~5", "null"),
}
READ = uses(
    "constructions.istree --graph {}.txt",
    "constructions.recall --sequence {}.txt ?~5",
    "constructions.turing --machine {}.txt",
    "circuits add --p 5 --against {}.aag",
    "circuits add --p 5 --against {}.aig",
    "verify.certify {}.safetensors",
    "verify.explain {}.safetensors",
    "verify.certify --replay {}.json",
    "verify.explain --replay {}.json",
    "verify.theorem --replay {}.json",
    "verify.table {}.json",
    "verify.table {}.parquet",
    "verify.diff @ledger.json {}.json",
    "verify.findings {}.json",
    "verify.readme {}.json --into @page.md",
)
SIDECAR = uses("verify.certify @index.safetensors", "verify.explain @index.safetensors")  # the .json beside it is bad
WRITTEN = uses(
    "constructions.istree --edges 1-2 --html {}.html",
    "constructions.istree --n 3 --dump-weights {}.safetensors",
    "constructions.index --n 3 --dump-weights {}.npz",
    "constructions.turing --machine bb2 --steps 2 --dump-weights {}.safetensors",
    "circuits add --p 5 --aiger {}.aag",
    "circuits add --p 5 --dot {}.dot",
    "verify.findings --into {}.md",
)
OTHER_ENDINGS = uses(
    "constructions.istree --n 3 --dump-weights {}",
    "constructions.istree --n 3 --export torch {}",
    "circuits add --p 5 --aiger {}",
    "verify.certify {}",
    "verify.explain {}",
    "verify.theorem {}",
    "verify.precision index --n 4 --svg {}",
)

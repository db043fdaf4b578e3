"""`python -m verify.induction`: the lemmas behind "for every n", one by one, by a solver; and as SMT-LIB scripts for any other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from constructions.istree.graphs import LAYOUTS
from constructions.show import cli
from verify.induction.search import MODELS, N, theory

PROG = "python -m verify.induction"
DESCRIPTION = "Asks z3 whether each lemma on the search follows from what it uses, for every n and every graph."
EPILOG = f"""examples:
  {PROG}                     each lemma on the step that lean says, and what it rests on
  {PROG} --variant repaired  on the repaired model's step
  {PROG} --tokens eos        of prompts with any number of edges, and [EOS] behind them and behind the search
  {PROG} --model rag         on the turns of Algorithm 2, of any number of edges
  {PROG} --scripts smt2      also one SMT-LIB script a lemma, which any solver finds unsatisfiable

exit status: 0 all follow, 2 usage, 3 of one it cannot be said"""


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return cli.run_command(PROG, _command, argv)


def _command(argv: Sequence[str]) -> int:
    parser = cli.Parser(PROG, DESCRIPTION, EPILOG)
    add = parser.add_argument
    add("--variant", choices=("lean", "repaired"), help="whose step (default: lean)")
    add("--model", choices=("transformer", "rag"), default="transformer", help="rag: turns in place of steps")
    add("--tokens", choices=tuple(LAYOUTS), help="layout of a graph's tokens (default: paper)")
    add("--scripts", metavar="FOLDER", type=Path, help="also write the questions, into a folder made if need be")
    args = parser.parse_args(argv)
    if args.model == "rag" and (args.variant or args.tokens):
        raise cli.CommandError("--variant and --tokens are the Transformer's: the turns of rag are of one kind")
    name, tokens = ("rag", "eos") if args.model == "rag" else (args.variant or "lean", args.tokens or "paper")
    made = theory(MODELS[name](N, LAYOUTS[tokens]))
    if args.scripts is not None:
        args.scripts.mkdir(parents=True, exist_ok=True)
    left = 0
    for number, name in enumerate(made.lemmas, start=1):
        if args.scripts is not None:
            script = args.scripts / f"{number:03}-{name.replace('/', '-')}.smt2"
            script.write_text(made.question(name), encoding="utf-8")
        doubt = made.doubt(name)
        left += bool(doubt)
        print(f"{doubt or 'follows'}: {name}, from {', '.join(made.facts[name].uses or ()) or 'nothing'}")
    print(f"{len(made.lemmas)} lemmas, {f'{left} not seen to follow' if left else 'all follow'}")
    return cli.UNKNOWN if left else cli.HOLDS


if __name__ == "__main__":
    sys.exit(main())

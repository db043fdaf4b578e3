"""`python -m verify.induction`: the lemmas after "for every n", one by one, by a solver; and as SMT-LIB scripts for any other."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path

from constructions.exports.files import write_text
from constructions.show import cli
from verify.certificates.arguments import add_own, model_of, say_not_covered, values_of
from verify.dossiers.dossier import Dossier
from verify.dossiers.registry import find_dossier, find_dossiers, is_named
from verify.induction.along import check_along_runs
from verify.induction.theory import Theory

PROG = "python -m verify.induction"
DESCRIPTION = (
    "Asks z3 whether each lemma on a search, or on a machine's run, follows from what it uses, for every n and input."
)
EPILOG = f"""examples:
  {PROG}                     each lemma on the step that lean says, and what it rests on
  {PROG} --variant repaired  on the repaired model's step
  {PROG} --tokens eos        of prompts with any number of edges, and [EOS] after them and after the search
  {PROG} --model rag         on Algorithm 2's turns, word by word, after any number of edges
  {PROG} --model hybrid      on the hybrid's search in frames, of any n − 1 edges
  {PROG} turing              on the text of steps of BB(2), as the hybrid writes it; also --machine bb5
  {PROG} turing --model rag  on the text with searches, if they find what is defined
  {PROG} turing --model cot  on configurations of any number of cells, and on the queue that holds the next one
  {PROG} simulate            on the text of an RNN that is run gate by gate, of any circuit
  {PROG} --scripts smt2      also one SMT-LIB script a lemma, which any solver finds unsatisfiable

exit status: 0 all follow from what is true along runs, 2 usage, 3 of one it cannot be said, or it is not covered"""


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, DESCRIPTION, EPILOG)
    default = None if any(map(is_named, argv)) else next(iter(_names()))
    add = parser.add_argument
    add(
        "what",
        nargs="?",
        metavar="CONSTRUCTION",
        default=default,
        help="whose steps (default: the first by name that has lemmas)",
    )
    add("--variant", metavar="VARIANT", help="whose step (default: the last variant)")
    add_own(parser, [*argv, default or ""])
    add("--scripts", metavar="FOLDER", type=_folder, help="also write the questions, into a folder made if need be")
    cli.add_force(parser)
    args = parser.parse_args(argv)
    args.model = model_of(args, args.what)
    dossier = find_dossier(args.what, args.model)
    if dossier is None or not dossier.conclusion:
        return say_not_covered(args.what, args.model, as_json=False, but=f"{', '.join(_names())} are")
    dossier = _with_options(dossier, args)
    theory = dossier.theory()
    if not isinstance(theory, Theory):
        raise TypeError(f"{args.what} as {args.model} has no lemmas")
    scripts: dict[str, Path] = {}
    if args.scripts is not None:
        args.scripts.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(theory.lemmas, start=1):
            scripts[name] = args.scripts / f"{number:03}-{name.replace('/', '-')}.smt2"
            cli.check_writable(scripts[name], "--scripts", force=args.force)
    runs = check_along_runs(theory, theory.lemmas)
    doubtful = 0
    for name in theory.lemmas:
        if scripts:
            write_text(scripts[name], theory.question(name))
        doubt = theory.doubt(name)
        doubtful += bool(doubt)
        print(f"{doubt or 'follows'}: {name}, from {', '.join(theory.facts[name].uses or ()) or 'nothing'}")
    all_follow = f"all follow: for every n, {dossier.conclusion}"
    print(f"{len(theory.lemmas)} lemmas, {f'{doubtful} not seen to follow' if doubtful else all_follow}")
    if runs.doubt:
        print(f"what they use may contradict itself: {runs.doubt}")
        return cli.UNKNOWN
    invariants, refuted = (
        len(theory.invariants),
        f", but for {runs.refuted} in a proof by contradiction" * bool(runs.refuted),
    )
    print(
        f"{runs.axioms} axioms and {invariants} invariants are true at {runs.places} places of runs, for integers about the text, "
        f"and at {runs.models} of them, says z3, for all integers; at one of these what each lemma uses is true{refuted}"
    )
    return cli.UNKNOWN if doubtful else cli.HOLDS


def _folder(text: str) -> Path:
    """Returns a parser's type."""
    if not text:
        raise argparse.ArgumentTypeError("name a folder")
    return Path(text)


def _names() -> Iterable[str]:
    """Returns the constructions that have lemmas."""
    return dict.fromkeys(one.construction for one in find_dossiers().values() if one.conclusion)


def _with_options(dossier: Dossier, args: Namespace) -> Dossier:
    """Returns the model whose lemmas are asked for. Raises CommandError for options that do not go together."""
    args.variant = args.variant or dossier.variants[-1]
    if args.variant not in (has := [name for name in dossier.variants if name != "printed"]):
        raise cli.CommandError(
            f"{args.what} as {args.model} has no lemmas of {args.variant}; it has those of {', '.join(has)}"
        )
    with cli.usage_errors():
        return dossier.take(values_of(args, dossier, args.variant), files=True)


if __name__ == "__main__":
    sys.exit(main())

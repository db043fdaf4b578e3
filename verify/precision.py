"""`python -m verify.precision CONSTRUCTION`: how many bits does it take? Certified, hard inputs that fail below, and a floor."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from constructions.show import cli
from constructions.show.terminal import console, print_table
from precision.format import Discipline
from verify.bits.floats import FormatRow, Reach, fine_ladder, formats
from verify.bits.search import Point, PrecisionRow, PrecisionState, PrecisionWitness, ladder, search
from verify.bits.subjects import LONGEST, BitsSubject
from verify.certificates.arguments import add_own, model_of, say_not_covered, values_of
from verify.dossiers.dossier import Dossier
from verify.dossiers.registry import find_dossier, find_dossiers

PROG = "python -m verify.precision"
DEFAULT_N_MAX, LARGEST_N = 32, 10_000
SIGNS = {
    PrecisionState.FAILS: ("×", "red"),
    PrecisionState.NO_FAILURE: ("?", "yellow"),
    PrecisionState.CERTIFIED: ("█", "green"),
}
DESCRIPTION = """How many bits does a construction take? For each n and each p up to the one that it is wired for: is it
certified for all inputs, is there a hard input on which the same weights, derived for that p, fail, or was none found."""
EXAMPLES = f"""examples:
  {PROG} istree                                  as printed, repaired and lean, under both disciplines
  {PROG} recall --n-max 256 --svg recall.svg     the same as a figure
  {PROG} istree --variant lean --n 64 --json     one size, with the witness at every p
  {PROG} index --formats --n-max 1000            up to which n in fp64, fp32, bf16, fp16 and fp8

covered: counting, index, istree, ngram, recall as Transformers

certified: from this p on, up to the p that it is wired for, by the static checker (python -m verify.certify)
fails at: the largest p at which one of the hard inputs fails; every p is run, as failure need not be monotone
floor: the least p from which on no two numbers have the same embedding; below, no weights after it tell them apart
p by p: from 5 in steps of 2; {" ".join(f"{sign} {state}" for state, (sign, _) in SIGNS.items())}

exit status: 0 done, 1 a model fails where it is certified or wired for (as printed, that is what the table shows), 2 usage,
3 not covered"""


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, DESCRIPTION, EXAMPLES)
    add = parser.add_argument
    add("construction", nargs="?", metavar="CONSTRUCTION", help="which one")
    add_own(parser, argv)
    add("--variant", metavar="VARIANT", help="default: all that there are")
    add("--discipline", choices=[d.value for d in Discipline], help="default: both")
    size = parser.add_mutually_exclusive_group()
    number = cli.whole_number(1, LARGEST_N)
    size.add_argument("--n", type=number, metavar="N", help="this n alone")
    size.add_argument(
        "--n-max", type=number, metavar="N", help=f"powers of two up to this n (default: {DEFAULT_N_MAX})"
    )
    add("--formats", action="store_true", help="floating-point formats instead of R_p: native torch, and emulated")
    add("--svg", type=Path, metavar="PATH", help="draw it as well; needs the extra plot")
    add("--json", action="store_true", help="one JSON document on standard output")
    cli.add_force(parser)
    args = parser.parse_args(argv)
    args.model = model_of(args, args.construction)
    dossier = find_dossier(args.construction, args.model)
    if dossier is None or (least := dossier.least_hard) is None:
        covered = [one.construction for one in find_dossiers().values() if one.least_hard is not None]
        but = f"{', '.join(covered)} as Transformers are"
        return say_not_covered(args.construction, args.model, as_json=args.json, but=but)
    args.dossier = _check(dossier, args)
    most = args.n or args.n_max or DEFAULT_N_MAX
    if most < least:
        raise cli.CommandError(f"n = {most}: the hard inputs of {args.construction} begin at n = {least}")
    if args.formats:
        return _formats(args, [most] if args.n else fine_ladder(least, most))
    rows = list(_rows(args, [most] if args.n else list(ladder(least, most))))
    if args.svg is not None:
        from verify.bits.drawing import draw

        draw(rows, args.svg)
    if args.json:
        cli.write_json({"schema": 1, "construction": args.construction, "rows": [_document(row) for row in rows]})
    else:
        _show(rows)
    if args.svg is not None:
        cli.report_written([args.svg], as_json=False)
    return cli.REFUTED if any(row.refuted for row in rows) else cli.HOLDS


def _check(dossier: Dossier, args: Any) -> Dossier:
    """Returns the dossier with the options of the command. Raises CommandError for options that do not go together."""
    if args.variant is not None and args.variant not in dossier.variants:
        has = ", ".join(dossier.variants)
        raise cli.CommandError(f"{args.construction} has no variant {args.variant}; it has {has}")
    if args.formats and (args.svg is not None or args.discipline is not None):
        raise cli.CommandError(
            "--formats has neither a figure nor a discipline: it runs weights wired for fused rounding"
        )
    if args.svg is not None:
        cli.check_writable(args.svg, "--svg", force=args.force)
        if args.svg.suffix != ".svg":
            raise cli.CommandError(f"--svg {args.svg}: the name of a figure must end in .svg")
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            raise cli.CommandError(
                "--svg needs matplotlib: pip install 'rnn-transformer-constructions[plot]'"
            ) from error
    with cli.usage_errors():
        return dossier.take(values_of(args, dossier), files=True)


def _subjects(args: Any) -> Iterator[BitsSubject]:
    for discipline in [Discipline(args.discipline)] if args.discipline else Discipline:
        for variant in [args.variant] if args.variant else args.dossier.variants:
            yield BitsSubject(args.dossier, variant, discipline)


def _rows(args: Any, sizes: Sequence[int]) -> Iterator[PrecisionRow]:
    for subject in _subjects(args):
        for n in sizes:
            with cli.progress(f"{subject.construction}, {subject.variant}, {subject.discipline.value}, n = {n}"):
                row = search(subject, n)
            yield row


def _document(row: PrecisionRow) -> dict[str, Any]:
    last = row.fails_at
    return {
        "n": row.n,
        "variant": row.subject.variant,
        "discipline": row.subject.discipline.value,
        **row.subject.dossier.fields,
        "wired_for": row.wired_for,
        "certified": row.certified,
        "fails_at": last.precision_bits if last else None,
        "floor": row.floor,
        "passes_below": list(row.passes_below),
        "inputs": row.points[-1].tried,
        "points": [_point(point) for point in row.points],
    }


def _point(point: Point) -> dict[str, Any]:
    return {"p": point.precision_bits, "state": point.state, "witness": _witness(point.witness)}


def _witness(witness: PrecisionWitness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {"input": witness.input, "right": witness.right, "expected": witness.expected, "said": witness.said}


def _show(rows: Sequence[PrecisionRow]) -> None:
    shown = console()
    for discipline in dict.fromkeys(row.subject.discipline for row in rows):
        table = Table(box=box.SIMPLE_HEAD, title=f"{rows[0].subject.construction}, {discipline.value}", pad_edge=False)
        for name in ("variant", "n", "wired for", "certified", "fails at", "floor", "on", "p by p"):
            justify: JustifyMethod = "left" if name in ("variant", "on", "p by p") else "right"
            table.add_column(name, justify=justify, no_wrap=name != "on")
        for row in (row for row in rows if row.subject.discipline is discipline):
            last = row.fails_at
            cells = [row.n, row.wired_for, row.certified, last and last.precision_bits, row.floor]
            on = last.witness.input if last and last.witness else f"none of {row.points[-1].tried} inputs"
            table.add_row(row.subject.variant, *("—" if cell is None else str(cell) for cell in cells), on, _strip(row))
        print_table(shown, table)


def _strip(row: PrecisionRow) -> Text:
    strip = Text()
    for point in row.points:
        strip.append(*SIGNS[point.state])
    return strip


# Formats


def _formats(args: Any, sizes: Sequence[int]) -> int:
    rows: list[FormatRow] = []
    for variant in [args.variant] if args.variant else args.dossier.variants:
        subject = BitsSubject(args.dossier, variant)
        if variant != "printed" or args.variant:  # as printed, the other formats have nothing to add
            with cli.progress(f"{subject.construction}, {variant}, formats up to n = {sizes[-1]}"):
                rows += formats(subject, sizes)
    if args.json:
        found = [
            {
                "variant": row.subject.variant,
                "format": row.format.name,
                "native": None if row.native is None else _reach(row.native),
                "emulated": _reach(row.emulated),
            }
            for row in rows
        ]
        cli.write_json({"schema": 1, "construction": args.construction, "sizes": list(sizes), "formats": found})
        return cli.HOLDS
    title = f"{args.construction}, hard inputs of up to {LONGEST:,} tokens"
    table = Table(box=box.SIMPLE_HEAD, title=title, pad_edge=False)
    for name in ("variant", "format", "native torch", "emulated"):
        table.add_column(name)
    for row in rows:
        own = "torch has no sums in it" if row.native is None else _say(row.native)
        table.add_row(row.subject.variant, row.format.name, own, _say(row.emulated))
    print_table(console(), table)
    return cli.HOLDS


def _reach(reach: Reach) -> dict[str, Any]:
    found = {"right": reach.right, "inputs": reach.inputs, "fails": reach.fails, "witness": _witness(reach.witness)}
    return {**found, "evidence": "sampled"}


def _say(reach: Reach) -> str:
    if reach.witness is None:
        return f"to n = {reach.right}: none of {reach.inputs} inputs fails"
    on = f"n = {reach.fails} fails: {reach.witness.input}, {reach.witness.said} for {reach.witness.expected}"
    return on if reach.right is None else f"to n = {reach.right}; {on}"


if __name__ == "__main__":
    sys.exit(main())

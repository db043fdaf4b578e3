"""`python -m circuits`: the circuit of an operation of R_p, or of one step of an RNN; its sizes, files, and proofs of
equality."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from circuits import aiger
from circuits.circuit import Circuit, GateKind
from circuits.dot import dot_text
from circuits.operations import OPERATIONS
from constructions.exports.files import write_text
from constructions.show import cli
from constructions.show.cli import CommandError, Parser
from precision.format import Discipline

PROG = "python -m circuits"
MOST_GATES = 1 << 20

EPILOG = """\
examples:
  {prog} add --p 17
  {prog} add --p 9 --aiger add.aag --dot add.dot
  {prog} multiply --p 7 --against other.aig
  {prog} --rnn recall --p 13 --aiger recall.aig --json

files:
  Inputs are a1 … ap and b1 … bp, outputs o1 … op, in the paper's numbering of R_p: bits 1 … p − 1 from the most
  significant magnitude bit, 2^(q−1), down to 2^−q, q = (p − 1)/2; bit p is 1 for a number that is not negative. compare
  has the one output o1. −0 may be read and is never written. Of a step, bit i of the number x is x.i; state bits are
  latches.

operations:
{operations}

RNNs; of a hybrid, what stands before its attention:
{rnns}

exit codes:
  0  done; with --against: the circuits are equal on all inputs
  1  refuted: they differ; stderr says where
  2  usage: something is wrong with the arguments or a file, or the output cannot be written
  130  interrupted
"""


@dataclass(frozen=True)
class _Made:
    """A circuit and what is said about it. document: what only circuits of this kind have."""

    title: str
    circuit: Circuit
    document: Mapping[str, object]


def _parser() -> Parser:
    parser = Parser(PROG, "Makes the circuit of an operation on p-bit numbers, or of one step of an RNN.", _epilog)
    add = parser.add_argument
    add("operation", nargs="?", choices=tuple(OPERATIONS), metavar="OP", help=", ".join(OPERATIONS))
    add("--rnn", metavar="NAME", type=_rnn, help="the step of this RNN instead; see below")
    add("--p", type=cli.precision, metavar="P", help="bits of the number format R_p, odd")
    add(
        "--n",
        type=_size,
        help="with --rnn: the bound n of its numbers (default: the largest for p)",
    )
    add(
        "--discipline",
        choices=[discipline.value for discipline in Discipline],
        default="fused",
        help="with --rnn: round once per affine row (fused), or after every + and × (default: fused)",
    )
    add("--aiger", metavar="FILE", type=Path, help="write an AIGER file, .aag or .aig")
    add("--dot", metavar="FILE", type=Path, help="write a Graphviz file")
    add("--against", metavar="FILE", type=Path, help="prove by SAT that an AIGER file holds an equal circuit")
    add("--force", action="store_true", help="overwrite files")
    add("--json", action="store_true", help="one JSON document on standard output, with all gates")
    return parser


def _epilog() -> str:
    from circuits.models import find_models

    operations = "\n".join(f"  {x.name:<12} {x.meaning}; {x.formula} gates" for x in OPERATIONS.values())
    rnns = "\n".join(f"  {x.name:<15} {x.source}: {x.statement}" for x in find_models().values())
    return EPILOG.format(prog=PROG, operations=operations, rnns=rnns)


def _rnn(name: str) -> str:
    """Parses the name of an RNN, which is loaded only now."""
    from circuits.models import find_models

    if name not in (models := find_models()):
        raise argparse.ArgumentTypeError(f"invalid choice: {name!r} (choose from {', '.join(map(repr, models))})")
    return name


def _size(text: str) -> int:
    """Parses the bound n of an RNN's numbers."""
    from circuits.models import LARGEST_N

    return cli.whole_number(1, LARGEST_N)(text)


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit code."""
    args = _parser().parse_args(argv)
    _check(args)
    product = _step(args) if args.rnn else _operation(args)
    written = []
    comment = f"{product.title}: made by {PROG}"
    for path, text in ((args.aiger, None), (args.dot, dot_text)):
        if path is not None:
            if text is None:
                aiger.write(product.circuit, path, comment)
            else:
                write_text(path, text(product.circuit, product.title))
            written.append(path)
    if written:
        cli.say(f"wrote {' and '.join(map(str, written))}")
    if args.json:
        cli.write_json(_document(product, written))
    else:
        _print(product)
    return _judge(product.circuit, args.against) if args.against else cli.HOLDS


def _check(args: argparse.Namespace) -> None:
    """Checks what can be said before any work. Raises CommandError."""
    if (args.operation is None) == (args.rnn is None):
        raise CommandError(f"give an operation ({', '.join(OPERATIONS)}) or --rnn NAME, one of them")
    if args.operation is not None:
        if args.p is None:
            raise CommandError("--p is missing: the bits of a number, odd, at least 5")
        if args.n is not None:
            raise CommandError("--n belongs to --rnn")
        gates = OPERATIONS[args.operation].gates(args.p)
        if gates > MOST_GATES:
            raise CommandError(f"--p {args.p}: {args.operation} takes {gates:,} gates, at most {MOST_GATES:,} are made")
    with cli.usage_errors("--aiger "):
        if args.aiger is not None:
            aiger.check_suffix(args.aiger)
    if args.aiger is not None and args.aiger == args.dot:
        raise CommandError(f"--aiger and --dot both write {args.dot}")
    for option, path in (("--aiger", args.aiger), ("--dot", args.dot)):
        if path is not None:
            cli.check_writable(path, option, force=args.force)


def _operation(args: argparse.Namespace) -> _Made:
    operation = OPERATIONS[args.operation]
    document = {"operation": operation.name, "meaning": operation.meaning, "formula": operation.formula}
    return _Made(f"{operation.name} over R_{args.p}", operation.circuit(args.p), {**document, "precision_bits": args.p})


def _step(args: argparse.Namespace) -> _Made:
    from circuits.models import find_models

    model = find_models()[args.rnn]
    with cli.usage_errors():
        rnn = model.load(args.p, args.n, Discipline(args.discipline))
    p = rnn.step.precision_bits
    document = {
        "rnn": rnn.name,
        "source": rnn.source,
        "n": rnn.n,
        "precision_bits": p,
        "discipline": args.discipline,
        "state_numbers": list(rnn.step.states),
        "input_numbers": list(rnn.step.inputs),
        "output_numbers": list(rnn.step.outputs),
    }
    return _Made(f"one step of {rnn.name} at n = {rnn.n} over R_{p}", rnn.step.circuit, document)


def _judge(circuit: Circuit, path: Path) -> int:
    from circuits.aiger_read import read
    from circuits.equivalence import find_difference, match_by_position

    with cli.usage_errors():
        other, matched = match_by_position(circuit, read(path))
        difference = find_difference(circuit, other)
    if matched:
        cli.remark(f"{path} has no names of {' and '.join(matched)}: they are matched by position")
    if difference is None:
        cli.say(f"holds: {path} is equal on all inputs, by SAT")
        return cli.HOLDS
    cli.say(f"refuted: {path} differs: {difference}")
    return cli.REFUTED


def _sizes(circuit: Circuit) -> dict[str, int]:
    return {
        "gates": len(circuit.gates),
        "and": circuit.count(GateKind.AND),
        "xor": circuit.count(GateKind.XOR),
        "operations": circuit.operations,
        "depth": circuit.depth,
        "aiger_ands": len(aiger.graph(circuit).ands),
    }


def _document(product: _Made, written: Sequence[Path]) -> dict[str, object]:
    c = product.circuit
    return {
        "schema": 1,
        "circuit": product.title,
        **product.document,
        "sizes": _sizes(c),
        "inputs": list(c.inputs),
        "states": list(c.states),
        "initial": list(c.initial),
        "outputs": dict(zip(c.output_names, c.outputs, strict=True)),
        "next_state": list(c.next_state),
        "gates": [[gate.kind.name, *gate[1:]] if gate.computes else [gate.kind.name, gate.left] for gate in c.gates],
        "written": [str(path) for path in written],
    }


def _print(product: _Made) -> None:
    from rich.table import Table

    from constructions.show.terminal import console

    c = product.circuit
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), title=product.title, title_justify="left")
    rows: dict[str, object] = {"input bits": len(c.inputs), "state bits": len(c.states), "output bits": len(c.outputs)}
    for key, value in product.document.items():
        if isinstance(value, list):
            rows[key.replace("_", " ")] = f"{len(value)}: {', '.join(map(str, value))}"
    rows |= {key.replace("_", " ").replace("aiger", "AIGER").replace("ands", "ANDs"): n for key, n in _sizes(c).items()}
    for name, value in rows.items():
        formula = f"  = {product.document['formula']}" if name == "operations" and "formula" in product.document else ""
        table.add_row(name, (f"{value:,}" if isinstance(value, int) else str(value)) + formula)
    console().print(table)


if __name__ == "__main__":
    sys.exit(main())

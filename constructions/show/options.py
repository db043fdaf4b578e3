"""The options of every command that runs a wired model: which weights, by which engine, and where they are written."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from constructions.engines import DEVICES, ENGINES, Decoded, EngineMissing, current_name, find_engine
from constructions.exports.kinds import FLOATS, KINDS, NOT_CARRIED
from constructions.models.construction import Construction, Example
from constructions.models.door import AnyModel, Door
from constructions.models.model import Model
from constructions.models.options import ModelOptions, Option
from constructions.show import cli
from constructions.show.cli import CommandError, Parser
from constructions.wiring.wired import Wired
from precision.format import Discipline


def add_model(parser: Parser, door: Door[Any], *, fits: str = "n") -> None:
    """Adds the options of the weights: model, its own, precision, printed findings. fits: what the least p depends on."""
    add, default, variants = parser.add_argument, door.models[0], door.variants
    add("--model", choices=door.models, default=default, help=f"see below (default: {default})")
    add_options(parser, door.options)
    add("--variant", choices=variants, default=variants[0], help=f"default: {variants[0]}")
    add("--printed", metavar="FINDING[,…]", help="put these findings back to print in the repaired variant; see below")
    add_arithmetic(parser, fits=fits)


def add_options(parser: argparse._ActionsContainer, options: ModelOptions, model: str | None = None) -> list[str]:
    """Adds the options of a model, or of all models of a task, and returns their flags. An option that is not given is None."""
    flags = []
    for one in options.items(model).values():
        about: dict[str, Any] = {"help": one.help}
        if isinstance(one.usual, bool):
            about |= {"action": "store_true", "default": None}
        elif one.most is not None:
            about |= {"type": cli.whole_number(1, one.most)}
        elif one.choices:
            about |= {"choices": tuple(one.choices), "help": f"{one.help} (default: {one.usual})"}
        if one.has_flag and not one.is_variant:
            flags.append(f"--{one.keyword.replace('_', '-')}")
            parser.add_argument(flags[-1], **about)
    return flags


def options_in(args: argparse.Namespace, options: ModelOptions, model: str | None = None) -> dict[str, Option]:
    """Returns the options that a command was given, by their keywords, of those that `add_options` added."""
    return {one.keyword: one for one in options.items(model).values() if getattr(args, one.keyword, None) is not None}


def open_model(args: argparse.Namespace, door: Door[AnyModel]) -> AnyModel:
    """Returns the model that the options of `add_model` name. Raises CommandError for options that do not go together."""
    values = {key: getattr(args, key) for key in options_in(args, door.options)}
    with cli.usage_errors():
        model, _ = door.open(args.model, Discipline(args.discipline), values)
        return cast("AnyModel", model.in_variant(args.variant))


def add_arithmetic(parser: Parser, *, fits: str = "n") -> None:
    """Adds the options of the numbers that a model computes with. fits: as of `add_model`."""
    add = parser.add_argument
    add(
        "--precision",
        type=cli.precision,
        metavar="P",
        help=f"bits of the number format R_p, odd (default: the least that the model is wired for, by {fits})",
    )
    add(
        "--discipline",
        choices=[discipline.value for discipline in Discipline],
        default="fused",
        help="round once per affine row, score and sum (fused), or after every + and × (default: fused)",
    )


def add_engine(parser: Parser) -> None:
    """Adds the options that say which engine runs the weights, and on what."""
    parser.add_argument(
        "--engine",
        type=current_name,
        choices=ENGINES,
        default="auto",
        metavar="ENGINE",
        help=f"{', '.join(ENGINES[:-1])} or {ENGINES[-1]}: all give the same bits (default: auto, the fastest here)",
    )
    parser.add_argument("--device", choices=DEVICES, help="of --engine dense: what torch computes on (default: cpu)")


def add_trace(parser: argparse.ArgumentParser, help: str) -> None:
    """Adds the options that show a run in full. help: what --trace shows."""
    parser.add_argument("--trace", action="store_true", help=help)
    parser.add_argument(
        "--html", metavar="PATH", type=Path, help="write the run as a page to step through in a browser"
    )


def add_output(parser: Parser, *, instead: str = "") -> None:
    """Adds the options on what to write, and where. instead: what the command leaves undone if it dumps weights."""
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument(
        "--dump-weights",
        nargs="?",
        const="",
        metavar="PATH",
        help=f"print the weights by name{instead}; with PATH write them: .safetensors (and .json beside it) or .npz",
    )
    parser.add_argument(
        "--export",
        nargs=2,
        metavar=("KIND", "PATH"),
        help="write a model that runs elsewhere: " + ", ".join(f"{name} ({kind.what})" for name, kind in KINDS.items()),
    )
    parser.add_argument("--float", choices=FLOATS, default=FLOATS[0], help=f"of --export (default: {FLOATS[0]})")
    cli.add_force(parser)


def writes_model(args: argparse.Namespace) -> bool:
    """Returns whether weights are to be shown or written: then there need not be an input."""
    return args.dump_weights is not None or args.export is not None


def list_models(door: Door[Any]) -> str:
    """Returns a line of --help for each model."""
    models = (model.construction for model in door.wirings.values())
    return "\n".join(f"  {model.model:<12} {model.source}: {model.statement}" for model in models)


def list_findings(door: Door[Any]) -> str:
    """Returns a line of --help for each finding, with the models that can have it back."""
    models = [model.construction for model in door.wirings.values()]
    findings = dict.fromkeys(finding for model in models for finding in model.findings)
    return "\n".join(
        f"  {f.id:<18} {', '.join(model.model for model in models if f in model.findings)}; {f.source}: {f.printed}"
        for f in findings
    )


def exit_codes(holds: str, refuted: str, *, given: str = "the input", needs: str = "more memory than there is") -> str:
    """Returns the end of --help. holds, refuted: what these codes say. given, needs: what may be wrong, and more than there is."""
    return f"""\
exit codes:
  0  {holds}
  1  refuted: {refuted}
  2  usage: something is wrong with {given}, it needs {needs}, or the output cannot be written
  130  interrupted
"""


def check(args: argparse.Namespace, *, runs: bool, needs: str = "") -> None:
    """Checks what can be said before any work. runs: whether there is a run. Raises CommandError.

    needs: what a run is about, if weights are to be written beside one; nothing if they are written in place of one.
    """
    if needs and not runs and not writes_model(args):
        raise CommandError(f"nothing to do; give {needs}, or --dump-weights (see --help)")
    shows = "--trace" if args.trace else "" if args.html is None else "--html"
    if shows and not runs:
        raise CommandError(
            f"{shows} needs {needs}" if needs else f"{shows} shows a run; --dump-weights and --export run nothing"
        )
    if args.html is not None:
        cli.check_writable(args.html, "--html", force=args.force)
    if args.variant == "printed" and args.printed is not None:
        raise CommandError("--printed picks findings for --variant repaired; --variant printed has all of them")
    if args.dump_weights:
        from constructions.exports.weights import SUFFIXES

        path = Path(args.dump_weights)
        if path.suffix not in SUFFIXES:
            raise CommandError(f"--dump-weights {path}: the name must end in {' or '.join(SUFFIXES)}")
        cli.check_writable(path, "--dump-weights", force=args.force)
    elif args.dump_weights == "" and args.json and runs:
        raise CommandError("--json prints one document: give --dump-weights a PATH, or leave out what is to be run")
    if args.export is not None:
        from constructions.exports.writing import require

        kind, name = args.export
        with cli.usage_errors("--export: "):
            require(kind, Path(name), args.float, force=args.force)
    try:
        find_engine(args.engine, args.device)
    except EngineMissing as error:
        raise CommandError(f"{'--engine' if args.device is None else '--device'}: {error}") from error


def findings(args: argparse.Namespace, model: Construction) -> tuple[str, ...]:
    """Returns the ids of the findings to build as printed, which the builder checks. Raises CommandError."""
    all_ids = tuple(finding.id for finding in model.findings)
    if args.variant == "printed":
        return all_ids
    if args.printed is None:
        return ()
    ids = tuple(part.strip() for part in args.printed.split(",") if part.strip())
    if not ids:
        raise CommandError(f"--printed names no finding; known: {', '.join(all_ids)}")
    return ids


def say_engine(args: argparse.Namespace, decoded: Decoded) -> None:
    """Says on stderr which engine was chosen, if it was left to `auto`."""
    if args.engine == "auto":
        cli.remark(f"engine: {decoded.engine}")


def dump_weights(
    args: argparse.Namespace,
    model: Model[Any, Any],
    wired: Wired,
    examples: Iterable[Example],
    extra: Mapping[str, object],
    *,
    run: bool = False,
) -> None:
    """Does what --dump-weights asks for. Draws examples only where they are written. run: whether a run follows on stdout."""
    from constructions.exports.weights import save
    from constructions.show.dump import dump_document, print_dump

    if args.dump_weights == "" and not args.json:
        from constructions.show.terminal import console

        print_dump(model, wired, console())
        if run:
            print()
        return
    with cli.progress("gathering names and examples"):
        document = dump_document(model, wired, list(examples), extra)
    if args.dump_weights == "":
        cli.write_json(document)
        return
    with cli.progress(f"writing {args.dump_weights}"):
        written = save(wired.model, document, Path(args.dump_weights))
    cli.report_written(written, as_json=args.json and not run)


def report_export(
    args: argparse.Namespace, model: Model[Any, Any], written: Sequence[Path], *, run: bool = False
) -> None:
    """Says what was exported, and what of the model is not in it. run: whether a run follows on stdout."""
    if model.searches:
        cli.say(f"not in the export: {NOT_CARRIED}")
    cli.report_written(written, as_json=args.json and not run and args.dump_weights is None)

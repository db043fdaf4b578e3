"""`python -m constructions zoo DIR`: models with known mechanisms, as one data set.

Each model has a folder: its weights with the sidecar, folders for Hugging Face and TransformerLens, prompts with right answers and
what every register holds and every head reads on them, and a card. `index.json` lists the models with the digests of all files. The
same options give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from constructions.exports.files import replacing_folder, write_text
from constructions.exports.limits import ExportError
from constructions.exports.weights import save
from constructions.exports.writing import require
from constructions.exports.writing import write as write_export
from constructions.language.files import names_of_gallery
from constructions.models.model import Model
from constructions.models.request import Request
from constructions.show import cli
from constructions.show.dump import dump_document
from constructions.show.exporting import export, trial_of
from constructions.show.markdown import table
from constructions.show.run import worked_examples
from constructions.show.steps import observed
from constructions.wiring.reading import sentence
from constructions.wiring.register import register
from constructions.wiring.wired import Wired
from verify.certificates.basis import CLAIM, Basis, hadamard, read_basis, sidecar_in, signed_permutation
from verify.certificates.document import CERTIFIED
from verify.certificates.moved import certified_in, enough_bits
from verify.dossiers.dossier import TRANSFORMER, HardInput, Subject
from verify.dossiers.registry import find_dossier, find_dossiers, find_program
from verify.theorem import FOLLOWS, TRIED, Link, links

PROG = "python -m constructions zoo"
FLOAT = "float64"
KINDS = {"huggingface": "hf", "transformerlens": "transformerlens"}
SPLITS = {"train": 48, "test": 16}
MOST_HARD = 16
LONGEST = 400  # tokens of a prompt with its answer
IDENTITY, PERMUTED, HADAMARD = "identity", "permuted", "hadamard"
DEFAULT_N = 8
DESCRIPTION = """Writes models with known mechanisms as one data set: for each its weights, folders for Hugging Face and
TransformerLens, prompts with right answers and the values that the model computes on the way, and a card that says what each head
looks up and what is proved of it."""
EPILOG = """examples:
  {PROG} zoo/                             the paper's models and the whole gallery, at n = {n}
  {PROG} zoo/ --names recall,induction,istree --n 6
  {PROG} zoo/ --names recall --basis hadamard          no coordinate is a register

names:
  {names}

exit status: 0 each model is written and its theorem holds, 2 usage, 3 of some theorem it cannot be said, as its card tells"""


def names() -> tuple[str, ...]:
    """Returns the names of all models: the paper's Transformers, and the gallery."""
    dossiers = [one for one in find_dossiers().values() if one.model == TRANSFORMER and one.least_hard is not None]
    return (*(one.construction for one in dossiers), *names_of_gallery())


def write_model(name: str, n: int, folder: Path, basis_name: str = IDENTITY) -> dict[str, Any]:
    """Writes one model's folder and returns its entry of the index.

    basis_name: as of --basis. Raises ValueError for an n that the model cannot be wired for, and for a basis of another width.
    """
    dossier = find_dossier(name, TRANSFORMER) or find_program(name)
    if dossier is None:
        raise ValueError(f"{name}: no dossier says how it is verified")
    subject, basis, more = Subject(dossier, n), None, list[Link]()
    if basis_name != IDENTITY:
        basis = _basis(basis_name, subject, dossier.wired(subject).model.width)
        subject, link = _fit(subject, basis)
        more.append(link)
    wired, solver = dossier.wired(subject), dossier.solver
    written = wired if basis is None else replace(wired, model=basis.apply(wired.model))
    with replacing_folder(folder) as fresh:
        examples = list(worked_examples(solver.examples(wired)))
        sidecar = dump_document(solver, wired, examples, solver.described(wired))
        sidecar = sidecar if basis is None else sidecar_in(basis, sidecar)
        save(written.model, sidecar, fresh / "model.safetensors")
        exports = (
            _exports(solver, wired, fresh) if basis is None else _exports_in(subject, wired, written, sidecar, fresh)
        )
        for split, inputs in _splits(subject, wired).items():
            lines = [json.dumps(record(written, given, basis), ensure_ascii=False) for given in inputs]
            write_text(fresh / f"{split}.jsonl", "".join(f"{line}\n" for line in lines))
        theorem = [link.document for link in (*links(subject), *more)]
        holds = all(link["verdict"] in (CERTIFIED, FOLLOWS, TRIED) for link in theorem)
        write_text(fresh / "card.md", card(solver, wired, exports, theorem, basis))
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digests = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    about = solver.construction
    return {
        "name": name,
        "model": about.model,
        "source": about.source,
        "statement": about.statement,
        "n": n,
        "precision_bits": wired.arithmetic.format.significand_bits + 1,
        "blocks": len(wired.blocks),
        "heads": sum(len(plan.heads) for plan in wired.blocks),
        "theorem_holds": holds,
        "exports": exports,
        "sha256": digests,
    }


def _basis(name: str, subject: Subject, width: int) -> Basis:
    """Returns the basis of this name, or of a file. Raises ValueError for a file that has none of this width."""
    if name == HADAMARD:
        return hadamard(width)
    if name == PERMUTED:
        return signed_permutation(width, random.Random(f"{subject.dossier.construction} {subject.n} {PERMUTED}"))
    with cli.usage_errors(f"{name}: "):
        return read_basis(cli.read_json(Path(name)), width)


def _fit(subject: Subject, basis: Basis) -> tuple[Subject, Link]:
    """Returns the subject at a p at which it is certified in this basis, and the link that says so.

    If there is none up to where it is looked for, the p stays, and the link says why.
    """
    judged, why = certified_in(basis, subject)
    if bits := enough_bits(basis, subject, why):
        return replace(subject, precision_bits=bits), Link("basis", CERTIFIED, f"at p = {bits}, {CLAIM}")
    if judged.verdict == CERTIFIED:
        return subject, Link("basis", CERTIFIED, CLAIM)
    return subject, Link("basis", judged.verdict, f"{judged.where}: {judged.what}")


def record(wired: Wired, given: HardInput, basis: Basis | None = None) -> dict[str, Any]:
    """Returns a prompt with its answer, and what the model computes on the way, exactly.

    values: each register after the last block, at each token that is read: all but the last. Squares of registers are left out.
    attention: of each head, "block.head" from 1, at each position the positions that it reads with their weights. basis: that the
    model is in.
    """
    tokens = [*given.prompt, *given.answer]
    steps, quantum = observed(wired.model, wired.arithmetic, tokens[:-1]), wired.arithmetic.format.quantum
    patterns = [steps.attention(position) for position in range(1, len(tokens))]
    shown = [i for i, name in enumerate(wired.registers) if not register(name).is_square]
    stream = steps.streams[-1] if basis is None else basis.registers(steps.streams[-1])
    return {
        "tokens": list(wired.spelled(tokens)),
        "token_ids": tokens,
        "prompt_tokens": len(given.prompt),
        "answer": list(wired.spelled(given.answer)),
        "values": {wired.registers[i]: [str(quanta * quantum) for quanta in stream[i]] for i in shown},
        "attention": {
            f"{block}.{head}": [
                [[k, str(weight * quantum)] for k, weight in pattern[block - 1][head - 1]] for pattern in patterns
            ]
            for block, plan in enumerate(wired.blocks, start=1)
            for head in range(1, len(plan.heads) + 1)
        },
    }


def card(
    solver: Model[Any, Any],
    wired: Wired,
    exports: dict[str, str],
    theorem: Sequence[dict[str, Any]],
    basis: Basis | None = None,
) -> str:
    """Returns the card of a model as Markdown: what it computes, what each head looks up, what each register holds."""
    about = solver.construction
    lines = [f"# {about.name}, {about.model}", "", about.statement, "", f"Source: {about.source}.", ""]
    bits = wired.arithmetic.format.significand_bits + 1
    lines += [f"n = {wired.n}, {len(wired.blocks)} blocks, numbers of p = {bits} bits, rounded to the nearest.", ""]
    links = ([link[key] for key in ("name", "verdict", "text")] for link in theorem)
    lines += ["## What is proved", "", *table(("link", "verdict", "what it says"), links)]
    heads = (
        (block, number, head.name, sentence(head, wired.model.longest) or "not said")
        for block, plan in enumerate(wired.blocks, start=1)
        for number, head in enumerate(plan.heads, start=1)
    )
    lines += ["", "## Heads", "", *table(("block", "head", "name", "what it looks up"), heads), "", "## Registers", ""]
    if basis is not None:
        lines += [
            "The residual stream holds `matrix` · registers, and the registers are `inverse` · stream. Both matrices stand in "
            "`model.json`, under `basis`. Columns of `matrix` are in this order:",
            "",
        ]
    registers = ((i, name, about.meaning(name)) for i, name in enumerate(wired.registers))
    lines += table(("coordinate" if basis is None else "column", "register", "what it holds"), registers)
    lines += [
        "",
        "## Files",
        "",
        "`model.safetensors` and `model.json`: the matrices, and the sidecar that says how they are used.",
    ]
    lines += [
        "`train.jsonl`, `test.jsonl`, `hard.jsonl`: prompts, answers, register values, attention; numbers are exact."
    ]
    lines += [f"`{folder}/`: {exports[kind] or 'loads without this project'}." for folder, kind in KINDS.items()]
    return "\n".join([*lines, ""])


def _exports(solver: Model[Any, Any], wired: Wired, folder: Path) -> dict[str, str]:
    """Exports the model to each kind, and returns why it could not be, "" where it was."""
    told: dict[str, str] = {}
    try:
        tried = trial_of(solver, wired, FLOAT)
    except ExportError as error:
        return dict.fromkeys(KINDS.values(), f"not written: {error}")
    for name, kind in KINDS.items():
        try:
            require(kind, folder / name, FLOAT)
            export(solver, wired, kind, folder / name, FLOAT, tried=tried)
        except ExportError as error:
            told[kind] = f"not written: {error}"
        else:
            told[kind] = ""
    return told


def _exports_in(
    subject: Subject, wired: Wired, written: Wired, sidecar: Mapping[str, Any], folder: Path
) -> dict[str, str]:
    """Exports a model in another basis to each kind, after a trial in floats; returns why it could not be, "" where it was."""
    from constructions.exports.self_test import try_now

    solver = subject.dossier.solver
    examples = list(solver.examples(wired))
    inputs = subject.dossier.extreme_inputs(subject, wired)
    hard = [Request(wired, one.prompt, set(), len(one.answer), one.answer) for one in inputs if one.answer]
    limit = solver.most_produced(wired) or max((request.limit for request in examples), default=1)
    told: dict[str, str] = {}
    try:
        tried = try_now(written, [*examples, *hard], FLOAT)
    except ExportError as error:
        return dict.fromkeys(KINDS.values(), f"not written: {error}")
    for name, kind in KINDS.items():
        try:
            require(kind, folder / name, FLOAT)
            write_export(kind, folder / name, written, solver, sidecar, examples, FLOAT, limit, tried)
        except ExportError as error:
            told[kind] = f"not written: {error}"
        else:
            told[kind] = ""
    return told


def _splits(subject: Subject, wired: Wired) -> dict[str, list[HardInput]]:
    """Draws the prompts of each split, all different, by a seed that follows from the model's name."""
    rng = random.Random(f"{subject.dossier.construction} {subject.n}")
    hard = _different(subject.dossier.extreme_inputs(subject, wired), MOST_HARD, set())
    seen = {given.prompt for given in hard}
    drawn = _different(
        subject.dossier.hard_inputs(subject, wired, sum(SPLITS.values()), rng), sum(SPLITS.values()), seen
    )
    rng.shuffle(drawn)
    some = iter(drawn)
    return {**{split: list(islice(some, count)) for split, count in SPLITS.items()}, "hard": hard}


def _different(inputs: Iterable[HardInput], most: int, seen: set[tuple[int, ...]]) -> list[HardInput]:
    """Returns at most this many of the first inputs whose prompts are new."""
    found: dict[tuple[int, ...], HardInput] = {}
    for given in inputs:
        if given.prompt not in seen and given.answer and len(given.prompt) + len(given.answer) <= LONGEST:
            found.setdefault(given.prompt, given)
        if len(found) == most:
            break
    return list(found.values())


def write(
    folder: Path, chosen: Sequence[str], n: int, tell: Callable[[int], object], basis: str = IDENTITY
) -> list[dict[str, Any]]:
    """Writes all chosen models and the index; returns its entries. tell: is called with the number of models that are written."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for done, name in enumerate(chosen, start=1):
        entries.append(write_model(name, n, folder / name, basis))
        tell(done)
    document = {"schema": 1, "n": n, **({} if basis == IDENTITY else {"basis": basis}), "models": entries}
    write_text(folder / "index.json", json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    return entries


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, DESCRIPTION, lambda: EPILOG.format(PROG=PROG, n=DEFAULT_N, names=", ".join(names())))
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that is new or empty, or with --force any")
    parser.add_argument(
        "--n", type=cli.whole_number(2, 64), default=DEFAULT_N, help=f"of each model (default: {DEFAULT_N})"
    )
    parser.add_argument("--names", help="models, with commas between them (default: all)")
    parser.add_argument(
        "--basis",
        default=IDENTITY,
        metavar=f"{IDENTITY}|{PERMUTED}|{HADAMARD}|FILE.json",
        help="of the residual stream: registers in a random order with random signs, a Hadamard matrix, or a matrix of whole "
        "numbers and its inverse",
    )
    parser.add_argument("--force", action="store_true", help="write into a folder that has files")
    args = parser.parse_args(argv)
    chosen = names() if args.names is None else tuple(filter(None, args.names.split(",")))
    if unknown := [name for name in chosen if name not in names()]:
        raise cli.CommandError(f"--names: there is no model {unknown[0]!r}; there are {', '.join(names())}")
    if args.basis not in (IDENTITY, PERMUTED, HADAMARD) and not args.basis.endswith(".json"):
        raise cli.CommandError(
            f"--basis: {args.basis!r} is none of {IDENTITY}, {PERMUTED}, {HADAMARD} and no FILE.json"
        )
    if not args.force and args.folder.exists() and (not args.folder.is_dir() or any(args.folder.iterdir())):
        raise cli.CommandError(f"{args.folder} is there already, and not empty; --force writes into it")
    with cli.usage_errors(), cli.progress("writing models", len(chosen), unit="models") as tell:
        entries = write(args.folder, chosen, args.n, tell, args.basis)
    open_ones = [entry["name"] for entry in entries if not entry["theorem_holds"]]
    print(f"wrote {len(entries)} models into {args.folder}")
    if open_ones:
        cli.say(f"{PROG}: not all is proved of {', '.join(open_ones)}; the card of each says what")
    return cli.UNKNOWN if open_ones else cli.HOLDS

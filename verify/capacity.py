"""`python -m verify.capacity`: state bits against the least n at which each architecture is confused, as data and a figure.

Source: Theorems 4.6, 4.7, 5.2, 5.6 and 5.7. For each cell of `circuits.architectures` and each task, the adversary reads all lists
of n bits, for n = 2, 3, …, until two leave the same state. Above n = state bits some two must: that is the line of the figure.
Beside them stand a Transformer, a linear RNN with searches and a hybrid, wired by hand, which are asked both questions of random
pairs.

Least: among the prompts of the reduction. Two other prompts of fewer words may leave the same state earlier.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from circuits.architectures.caches import Rmt, Tova, Window
from circuits.architectures.cell import Cell
from circuits.architectures.gates import Gru, Lstm, Mamba, Rwkv
from circuits.architectures.matrices import LinearAttention, MLstm, RetNet
from circuits.rnn import FunctionRnn, load_object
from constructions.api import load
from constructions.exports.files import replacing, write_text
from constructions.show import cli
from verify.adversary import CollisionSearch, Questions, confuse

PROG = "python -m verify.capacity"
TASKS = ("index", "recall", "ngram", "counting", "istree")
KINDS: tuple[type[Cell], ...] = (LinearAttention, RetNet, MLstm, Gru, Lstm, Rwkv, Mamba, Window, Tova, Rmt)
SIZES = ((2, 5), (3, 7), (4, 9))  # units and bits of a number
CACHES = ((4, 5), (8, 5), (10, 5))  # tokens that a cache holds, and bits of a number
TRAINED: tuple[tuple[type[Cell], int, int], ...] = ((Gru, 6, 9), (Lstm, 4, 9), (Mamba, 4, 9))
WIRED = {"transformer": "Transformer", "rag": "RNN with search", "hybrid": "hybrid"}
WIRED_TASKS = ("index", "istree")
WIRED_SIZES = (2, 4, 8, 16, 32)
PAIRS = 4  # for each model, task and n
N_MAX = 17
DESCRIPTION = """Breaks each architecture that the paper names, at the least n at which some two prompts of a lower bound leave
the same state. Prints state bits and that n."""
EPILOG = f"""examples:
  {PROG}                    as docs/capacity.json has it, in minutes
  {PROG} --tasks index --n-max 8 --json
  {PROG} --write docs       capacity.json and capacity.svg; needs the extra plot

exit status: 0 the wired models answer every pair right, 1 some does not, 2 usage"""


def cells() -> Iterator[tuple[dict[str, Any], Cell]]:
    """Yields each cell with its description."""
    for kind in KINDS:
        for d, p in CACHES if issubclass(kind, Window | Tova) else SIZES:
            yield {"architecture": kind.name, "d": d, "p": p, "weights": "random"}, kind(d, p)
    for kind, d, p in TRAINED:
        yield {"architecture": kind.name, "d": d, "p": p, "weights": "trained"}, kind(d, p, trained=kind.name)


def cell_of(row: dict[str, Any]) -> Cell:
    """Returns the cell of a row."""
    about = ("architecture", "d", "p", "weights")
    return next(cell for named, cell in cells() if all(named[what] == row[what] for what in about))


def rnn_of(row: dict[str, Any], cell: Cell) -> FunctionRnn:
    """Returns a cell as the adversary takes it."""
    return load_object(cell, None, f"{row['weights']} {row['architecture']}, d = {row['d']}, p = {row['p']}")


def least(rnn: FunctionRnn, task: str, n_max: int, tell: Callable[[int], object] = lambda seen: None) -> dict[str, Any]:
    """Returns the least n of at most n_max for which two lists of n bits leave one state, with both prompts, or None as n."""
    for n in range(2, n_max + 1):
        if (pair := confuse(CollisionSearch(rnn, Questions(task, n, False), tell, lambda *_: None))) is not None:
            return {"n": n, **{what: pair[what] for what in ("prompts", "right", "said")}}
    return {"n": None, "searched": n_max}


def broken(tasks: Sequence[str], n_max: int) -> Iterator[dict[str, Any]]:
    """Yields a row for each cell and task."""
    for about, cell in cells():
        for task in tasks:
            rnn = rnn_of(about, cell)
            with cli.progress(f"{rnn.name}, {task}"):
                yield {**about, "state_bits": rnn.state_bits, "task": task, **least(rnn, task, n_max)}


def wired(tasks: Sequence[str], n_max: int) -> Iterator[dict[str, Any]]:
    """Yields a row for each model wired by hand, task and n: how many of some pairs of prompts it answers right, both of them."""
    for model, name in WIRED.items():
        for task in tasks:
            loaded, generator = load(task, model), random.Random(0)
            for n in WIRED_SIZES:
                if n > n_max:
                    break
                questions = Questions(task, n, False)
                right = 0
                for _ in range(PAIRS):
                    k = generator.randint(1, n)
                    x = tuple(generator.randint(0, 1) for _ in range(n))
                    y = (*x[: k - 1], 1 - x[k - 1], *x[k:])
                    asked = questions.reduction
                    answers = [loaded.run(_input_of(task, asked.words(z, k))).answer for z in (x, y)]
                    due = [asked.right_answer(z, k) for z in (x, y)]
                    right += answers == due and due[0] != due[1]
                yield {"model": name, "task": task, "n": n, "pairs": PAIRS, "right": right}


def _input_of(task: str, words: Sequence[str]) -> Any:
    numbers = [int(word) for word in words if word.isdecimal()]
    if task == "istree":
        return list(zip(numbers[::2], numbers[1::2], strict=True))
    return " ".join(words[1:])


def draw(document: dict[str, Any], path: Path) -> None:
    """Writes an SVG, the same bytes for the same document."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows, markers = document["broken"], dict(zip(TASKS, "os^Dv", strict=True))
    with mpl.rc_context({"svg.hashsalt": "capacity", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(9, 4.8), layout="constrained")
        axes, beside = figure.subplots(1, 2, sharey=True, width_ratios=[4, 1])
        most = max(row["state_bits"] for row in rows)
        axes.plot([8, most], [9, most + 1], "k-", lw=1, label="n = state bits + 1: some two prompts must meet")
        axes.fill_between([8, most], [9, most + 1], 2 * most, color="#888888", alpha=0.12, lw=0)
        names = list(dict.fromkeys(row["architecture"] for row in rows))
        for row in rows:
            n, trained = row["n"], row["weights"] == "trained"
            style: dict[str, Any] = {"color": f"C{names.index(row['architecture'])}", "ms": 5, "lw": 0}
            style |= {"mec": "black", "mew": 1.0} if trained else {"mec": "none"}
            style |= {"marker": markers[row["task"]]} if n else {"marker": "$↑$", "ms": 7}
            aside = 1 + 0.008 * (
                names.index(row["architecture"]) - len(names) / 2
            )  # or points of one place hide each other
            axes.plot([row["state_bits"] * aside], [n or row["searched"] + 1], **style)
        for place, name in enumerate(names):
            axes.plot([], [], "o", color=f"C{place}", label=name)
        for task, marker in markers.items():
            axes.plot([], [], marker, color="white", mec="black", label=task)
        axes.plot([], [], "o", color="#cccccc", mec="black", label="black edge: trained")
        axes.plot([], [], marker="$↑$", color="black", lw=0, label=f"no pair up to n = {document['n_max']}")
        axes.set(xscale="log", yscale="log", xlabel="bits of the state", ylabel="n, bits that the prompt holds")
        axes.set_title("broken: the least n at which two prompts leave one state")
        models = list(WIRED.values())
        for row in document["wired"]:
            mark = markers[row["task"]] if row["right"] == row["pairs"] else "x"
            beside.plot([models.index(row["model"])], [row["n"]], mark, color="#4a9c6d", ms=5)
        for place in range(len(models)):
            top = max(WIRED_SIZES)
            beside.annotate(
                "", (place, 2.6 * top), (place, 1.2 * top), arrowprops={"arrowstyle": "->", "color": "#4a9c6d"}
            )
        beside.set_xticks(range(len(models)), [name.replace(" with", "\nwith") for name in models])
        beside.set_xlim(-0.6, len(models) - 0.4)
        beside.set_title("by hand: never")
        for each in (axes, beside):
            each.grid(visible=True, alpha=0.2)
        axes.set_xticks([10, 20, 40, 80, 160], ["10", "20", "40", "80", "160"], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_yticks([2, 4, 8, 16, 32, 64, 128], ["2", "4", "8", "16", "32", "64", "128"])
        axes.set_yticks([], minor=True)
        axes.set_ylim(1.7, most + 20)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=7)
        with replacing(path) as fresh:
            figure.savefig(fresh, format="svg", metadata={"Date": None})


def show(document: dict[str, Any]) -> Iterator[str]:
    """Yields the lines for people."""
    for row in document["broken"]:
        found = f"broken at n = {row['n']}" if row["n"] else f"no pair up to n = {row['searched']}"
        yield (
            f"{row['architecture']:<16} d = {row['d']:<2} p = {row['p']} {row['weights']:<7} "
            f"{row['state_bits']:>4} bits  {row['task']:<8} {found}"
        )
    for row in document["wired"]:
        yield f"{row['model']:<16} wired by hand, {row['task']}, n = {row['n']}: {row['right']} of {row['pairs']} pairs right"


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, DESCRIPTION, EPILOG)
    parser.add_argument("--tasks", default=",".join(TASKS), metavar="TASK[,…]", help=f"default: {','.join(TASKS)}")
    parser.add_argument("--n-max", type=cli.whole_number(2, 24), default=N_MAX, metavar="N", help=f"default: {N_MAX}")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write capacity.json and capacity.svg there")
    args: argparse.Namespace = parser.parse_args(argv)
    tasks = args.tasks.split(",")
    if wrong := [task for task in tasks if task not in TASKS]:
        raise cli.CommandError(f"--tasks {wrong[0]}: want some of {', '.join(TASKS)}")
    if args.write is not None and not args.write.is_dir():
        raise cli.CommandError(f"--write {args.write}: there is no such folder")
    document = {
        "schema": 1,
        "n_max": args.n_max,
        "broken": list(broken(tasks, args.n_max)),
        "wired": list(wired([task for task in WIRED_TASKS if task in tasks], max(WIRED_SIZES))),
    }
    if args.write is not None:
        write_text(args.write / "capacity.json", _lines(document))
        draw(document, args.write / "capacity.svg")
    if args.json:
        cli.write_json(document)
    else:
        print("\n".join(show(document)))
    return cli.HOLDS if all(row["right"] == row["pairs"] for row in document["wired"]) else cli.REFUTED


def _lines(document: dict[str, Any]) -> str:
    parts = ['"schema": 1', f'"n_max": {document["n_max"]}']
    for name in ("broken", "wired"):
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in document[name])
        parts.append(f'"{name}": [\n{rows}\n]')
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    sys.exit(main())

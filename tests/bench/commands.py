"""Time of the commands that people type, from start to exit: `python -m tests.bench.commands [--n-max N] [--write DIR]`.

Each figure is one process of its own with the engine that the command chooses: wall time and processor time of it. Inputs come from
files. The growth is fitted on the last decade: log10 of the ratio of processor times at the two largest sizes.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.bench.engines import SHAPE, this_machine, write
from verify.inputs.large_graphs import LargeGraph

BEGIN, END = "<!-- commands: begin -->", "<!-- commands: end -->"
SIZES = (100, 1000, 10_000, 100_000)


class Figure(NamedTuple):
    """Seconds of one process."""

    wall: float
    processor: float


@dataclass(frozen=True)
class Command:
    """A command. argv(n, path): what stands behind `python -m`. text(n): the input in the file `path`. largest: up to which n."""

    name: str
    argv: Callable[[int, Path], Sequence[str]]
    text: Callable[[int], str] = lambda n: ""
    largest: int = SIZES[-1]


def tree(n: int) -> str:
    """The edges of a random recursive tree."""
    return "".join(f"{u} {v}\n" for u, v in LargeGraph(SHAPE, n, 0).graph().edges)


def sequence(n: int) -> str:
    """n numbers up to n."""
    rng = random.Random(n)
    return " ".join(str(rng.randint(1, n)) for _ in range(n))


QUERIES: dict[str, Callable[[list[str]], str]] = {
    "index": lambda words: str(len(words) // 2),
    "recall": lambda words: words[len(words) // 2],
    "ngram": lambda words: " ".join(words[len(words) // 2 :][:2]),
    "counting": lambda words: f"{words[0]} 1",
}


def asks(task: str, model: str) -> Command:
    """A retrieval task about a sequence in a file."""

    def argv(n: int, path: Path) -> Sequence[str]:
        query = f"? {QUERIES[task](sequence(n).split())}"
        return (f"constructions.{task}", "--model", model, "--sequence", str(path), query)

    return Command(f"{task} --model {model}", argv, sequence)


def walks(model: str, *more: str, largest: int = SIZES[-1]) -> Command:
    """IsTree on a graph in a file."""
    options = ("--model", model, *more)
    name = " ".join(("istree", *options, "--graph FILE"))
    return Command(name, lambda n, path: ("constructions.istree", *options, "--graph", str(path)), tree, largest)


def runs(model: str, *machine: str, largest: int = SIZES[-1]) -> Command:
    """n steps of a machine."""
    options = ("--machine", *machine, "--model", model)
    name = " ".join(("turing", *options, "--steps n"))
    return Command(name, lambda n, path: ("constructions.turing", *options, "--steps", str(n)), largest=largest)


def dumps(task: str) -> Command:
    """The weights in a file."""
    return Command(
        f"{task} --n n --dump-weights FILE.safetensors",
        lambda n, path: (f"constructions.{task}", "--n", str(n), "--dump-weights", f"{path}.safetensors"),
    )


COUNTER = ("counter", "--tape", f"3{'1' * 16}3", "--cells", "18")  # lasts 2^18 steps on 18 cells
COMMANDS = (
    walks("transformer"),
    walks("transformer", "--json"),
    walks("transformer", "--trace", largest=100),
    walks("hybrid", largest=10_000),
    walks("rag", largest=1000),
    *(asks(task, model) for task in QUERIES for model in ("transformer", "hybrid", "rag")),
    runs("hybrid", "bb5"),
    runs("cot", *COUNTER),
    runs("rag", "bb5", largest=10_000),
    dumps("istree"),
    dumps("recall"),
)


def measure(command: Command, n: int) -> Figure | None:
    """One process; None if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        path.write_text(command.text(n), encoding="utf-8")
        start = time.perf_counter()
        argv = [sys.executable, "-m", *command.argv(n, path)]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print(f"  stopped: exit code {process.returncode}", file=sys.stderr)
        return None
    return Figure(wall, used.ru_utime + used.ru_stime)


Figures = dict[str, dict[int, Figure]]
"""By command and n."""


def growth(figures: dict[int, Figure]) -> float | None:
    """The exponent of n in processor time over the last decade; None for less than a decade."""
    sizes = sorted(figures)[-2:]
    if len(sizes) < 2:
        return None
    ratio = figures[sizes[1]].processor / figures[sizes[0]].processor
    return math.log(ratio) / math.log(sizes[1] / sizes[0])


def report(results: Figures) -> str:
    """The figures as Markdown."""
    sizes = sorted({n for by_n in results.values() for n in by_n})
    lines = [
        f"{this_machine()} Seconds from start to exit (of processor time).",
        "",
        "| `python -m constructions.` | " + " | ".join(f"n = {n:,}" for n in sizes) + " | last decade |",
        "|---|" + "---|" * (len(sizes) + 1),
    ]
    for name, by_n in results.items():
        cells = [f"{by_n[n].wall:.1f} ({by_n[n].processor:.1f})" if n in by_n else "" for n in sizes]
        exponent = growth(by_n)
        last = "" if exponent is None else f"n^{exponent:.2f}"
        lines.append(f"| `{name}` | " + " | ".join(cells) + f" | {last} |")
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.commands", description=__doc__)
    parser.add_argument("--n-max", type=int, default=10_000, help="largest n (default: 10000)")
    parser.add_argument("--only", default="", help="commands whose name has this in it")
    parser.add_argument("--write", type=Path, help="a folder whose benchmarks.md is rewritten")
    options = parser.parse_args(argv)
    results: Figures = {}
    for command in COMMANDS:
        if options.only not in command.name:
            continue
        for n in SIZES:
            if n <= min(command.largest, options.n_max):
                print(f"{command.name} at n = {n:,} …", file=sys.stderr, flush=True)
                if figure := measure(command, n):
                    results.setdefault(command.name, {})[n] = figure
    text = report(results)
    print(text)
    if options.write:
        write(options.write, text, BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Cost of the commands that people type, from start to exit: `python -m tests.bench.commands [--n-max N] [--minutes M]`.

Each run is a process of its own, with the engine that the command chooses, and inputs come from files. A figure is the median of
some runs, or one run if it takes long. All commands are measured at one size before the next; what no longer fits the time that the
whole may take is left out, the dearest first. Growth is that of processor time in tokens, those of the input and all that are
written, between the two largest sizes; start-up is part of it.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

from constructions.istree.graphs import PAPER, Graph
from constructions.istree.models import MODELS
from constructions.show.markdown import table
from constructions.turing.door import MODELS as TURING_MODELS
from constructions.turing.library import find
from tests.bench.engines import SHAPE, this_machine, write
from verify.inputs.large_graphs import LargeGraph

BEGIN, END = "<!-- commands: begin -->", "<!-- commands: end -->"
SIZES = (100, 1000, 10_000, 100_000)
LONG = 2.0  # seconds of processor time from which one run is enough
SUPERVISOR = Path(__file__).with_name("process.py")


class Figure(NamedTuple):
    """Seconds, and MiB."""

    wall: float
    processor: float
    peak_mib: float


@dataclass(frozen=True)
class Command:
    """A command. argv(n, path): what stands after `python -m`. text(n): the input in the file `path`. largest: up to which n.

    tokens(n): how many the model reads and writes, or what else the input has n of.
    """

    name: str
    argv: Callable[[int, Path], Sequence[str]]
    text: Callable[[int], str] = lambda n: ""
    tokens: Callable[[int], int] = lambda n: n
    largest: int = SIZES[-1]


def tree(n: int) -> Graph:
    """A random recursive tree."""
    return LargeGraph(SHAPE, n, 0).graph()


def edges(n: int) -> str:
    """Its file."""
    return "".join(f"{u} {v}\n" for u, v in tree(n).edges)


def walks(model: str, *more: str, largest: int = SIZES[-1]) -> Command:
    """IsTree on a graph in a file."""
    options = ("--model", model, *more)

    def argv(n: int, path: Path) -> Sequence[str]:
        written = (f"{path}.html",) if options[-1] == "--html" else ()
        return ("constructions.istree", *options, *written, "--graph", str(path))

    def tokens(n: int) -> int:
        return len(PAPER.prompt(tree(n))) + len(MODELS[model].expected(tree(n)))

    return Command(" ".join(("istree", *options, "--graph FILE")), argv, edges, tokens, largest)


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

    return Command(f"{task} --model {model} --sequence FILE", argv, sequence)


def runs(model: str, machine: str, *, tape: str = "", cells: int | None = None, largest: int = SIZES[-1]) -> Command:
    """n steps of a machine."""
    options = ["--machine", machine, "--model", model]
    options += ["--tape", tape] if tape else []
    task = {"tape": tape} | ({} if cells is None else {"cells": cells})
    options += [] if cells is None else ["--cells", str(cells)]

    def tokens(n: int) -> int:
        of_machine = replace(TURING_MODELS[model], machine=find(machine).machine, **task)
        return len(of_machine.prompt(n)) + len(of_machine.expected(n))

    return Command(
        " ".join(("turing", *options, "--steps n")),
        lambda n, path: ("constructions.turing", *options, "--steps", str(n)),
        tokens=tokens,
        largest=largest,
    )


def dumps(task: str, *, matrices: bool) -> Command:
    """The weights for n numbers, as text or in a file."""

    def argv(n: int, path: Path) -> Sequence[str]:
        where = (f"{path}.safetensors",) if matrices else ()
        return (f"constructions.{task}", "--n", str(n), "--dump-weights", *where)

    return Command(f"{task} --n n --dump-weights{' FILE.safetensors' * matrices}", argv)


def gates() -> Command:
    """A sum of n + 1 bits, in files; n is even."""

    def argv(n: int, path: Path) -> Sequence[str]:
        return ("circuits", "add", "--p", str(n + 1), "--aiger", f"{path}.aag", "--dot", f"{path}.dot")

    return Command("circuits add --p n --aiger FILE --dot FILE", argv, largest=1000)


def simulates() -> Command:
    """An RNN on n bits, gate by gate: 55 gates and a word for each."""

    def argv(n: int, path: Path) -> Sequence[str]:
        return ("constructions.simulate", "--rnn", "parity", " ".join("10"[place % 2] for place in range(n)))

    return Command("simulate --rnn parity BITS", argv, tokens=lambda n: 57 * n, largest=1000)


def certifies() -> Command:
    """Every sequence of up to n numbers."""
    return Command("verify.certify recall --n n", lambda n, path: ("verify.certify", "recall", "--n", str(n)))


COMMANDS = (
    walks("transformer"),
    walks("transformer", "--json"),
    walks("transformer", "--variant", "lean"),
    walks("transformer", "--trace", largest=1000),
    walks("transformer", "--html", largest=1000),
    walks("hybrid", largest=10_000),
    walks("hybrid", "--trace", largest=100),
    walks("rag", largest=1000),
    *(asks(task, model) for task in QUERIES for model in ("transformer", "hybrid", "rag")),
    runs("hybrid", "bb5"),
    runs("cot", "counter", tape=f"3{'1' * 16}3", cells=18),  # lasts 2^18 steps
    runs("rag", "bb5", largest=10_000),
    dumps("istree", matrices=False),
    dumps("istree", matrices=True),
    dumps("recall", matrices=True),
    gates(),
    simulates(),
    certifies(),
)


Figures = dict[Command, dict[int, Figure]]
"""By command and n."""
Measure = Callable[[Command, int, float], Figure | None]
"""A figure of a command at n, if it takes no more than so many seconds."""


def process(command: Command, n: int, seconds: float) -> Figure | None:
    """One run; None if it fails, or takes longer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        path.write_text(command.text(n), encoding="utf-8")
        argv = [sys.executable, str(SUPERVISOR), str(seconds), sys.executable, "-m", *command.argv(n, path)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"  stopped: exit code {done.returncode}", file=sys.stderr)
        return None
    return Figure(**json.loads(done.stdout))


def repeated(once: Measure, runs: int) -> Measure:
    """The median of so many runs, or one of LONG seconds."""

    def measure(command: Command, n: int, seconds: float) -> Figure | None:
        found: list[Figure] = []
        while len(found) < runs and (not found or found[0].processor < LONG):
            if (figure := once(command, n, seconds)) is None:
                return None
            found.append(figure)
            seconds -= figure.wall
        return Figure(*(median(values) for values in zip(*found, strict=True)))

    return measure


def measure_all(
    commands: Sequence[Command], sizes: Sequence[int], measure: Measure, seconds: float, runs: int
) -> Figures:
    """The figures that fit into so many seconds, in the order of the commands."""
    end, results = time.monotonic() + seconds, Figures()

    def likely(command: Command, n: int) -> float:
        """Seconds of a run, if what is not start-up grows in proportion."""
        known = results.get(command)
        if not known:
            return 0.0
        first, last = known[min(known)].wall, known[max(known)].wall
        return first + max(last - first, 0.1) * n / max(known)

    for n in sizes:
        for command in sorted(commands, key=lambda command: likely(command, n)):
            left, one = end - time.monotonic(), likely(command, n)
            if n > command.largest or (n != sizes[0] and command not in results):
                continue
            if one * (runs if one < LONG else 1) > left:
                print(f"{command.name} at n = {n:,}: left out", file=sys.stderr, flush=True)
                continue
            print(f"{command.name} at n = {n:,} …", file=sys.stderr, flush=True)
            if figure := measure(command, n, left):
                results.setdefault(command, {})[n] = figure
    return {command: results[command] for command in commands if command in results}


def growth(command: Command, figures: dict[int, Figure]) -> float | None:
    """The exponent of tokens in processor time between the two largest sizes; None if there is one size."""
    *_, low, high = [None, *sorted(figures)]
    if low is None:
        return None
    seconds = figures[high].processor / figures[low].processor
    return math.log(seconds) / math.log(command.tokens(high) / command.tokens(low))


def report(results: Figures, runs: int) -> str:
    """The figures as Markdown."""
    sizes = sorted({n for by_n in results.values() for n in by_n})
    lines = [
        f"{this_machine()} Runs of a figure: {runs}, or 1 from {LONG:.0f} seconds of processor time on. Seconds from start to exit "
        "(of processor time, peak memory), if the whole could have them in its time. t: tokens, read and written, or n.",
        "",
    ]
    rows = []
    for command, by_n in results.items():
        cells = [
            f"{f.wall:.1f} ({f.processor:.1f}, {f.peak_mib:,.0f} MiB)" if (f := by_n.get(n)) else "" for n in sizes
        ]
        exponent = growth(command, by_n)
        cells += [f"{command.tokens(max(by_n)):,}", "" if exponent is None else f"t^{exponent:.2f}"]
        rows.append((f"`{command.name}`", *cells))
    header = ("`python -m …`", *(f"n = {n:,}" for n in sizes), "largest t", "last decade")
    return "\n".join([*lines, *table(header, rows), ""])


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.commands", description=__doc__)
    parser.add_argument("--n-max", type=int, default=10_000, help="largest n (default: 10000)")
    parser.add_argument("--minutes", type=float, default=8, help="that the whole may take (default: 8)")
    parser.add_argument("--runs", type=int, default=3, help="of each figure, which is their median (default: 3)")
    parser.add_argument("--only", default="", help="commands whose name has this in it")
    parser.add_argument("--write", type=Path, help="a folder whose benchmarks.md is rewritten")
    options = parser.parse_args(argv)
    commands = [command for command in COMMANDS if options.only in command.name]
    sizes = [n for n in SIZES if n <= options.n_max]
    measure = repeated(process, options.runs)
    text = report(measure_all(commands, sizes, measure, 60 * options.minutes, options.runs), options.runs)
    if options.write:
        write(options.write, text, BEGIN, END)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

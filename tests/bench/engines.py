"""Speed and memory of the engines against n: `python -m tests.bench.engines [--n-max N] [--gpu] [--write DIR]`.

Each figure is one process: it builds a model at its least precision, feeds one input with the whole answer, checks that every
argmax is right, and reports seconds, tokens and peak memory; `incremental` is not given the answer but decodes it, token by
token. The model is IsTree for n vertices with a random recursive tree, repaired or lean, or the hybrid RNN that runs n steps of
the five-state busy beaver. A figure is the median of a few runs where they are short, and of processor time, as that changes least
when other work shares the machine. All engines run in one go on one machine, so their ratios mean something; the absolute figures
are that machine's.

With `--gpu` the dense engine runs on CUDA. Beside it, on the same machine, `dense` and `incremental` run on the CPU. All is wall
time.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constructions.istree import lean
from constructions.istree import transformer as istree
from constructions.istree.graphs import PAPER, expected_answer
from constructions.layers import Transformer
from constructions.show.markdown import table
from constructions.turing import hybrid
from constructions.turing.library import find
from constructions.wiring.wired import Wired
from precision.format import Arithmetic
from verify.inputs.large_graphs import LargeGraph

SHAPE = "random recursive tree"
CELLS = 24_601  # of which the five-state busy beaver visits 12,289
BATCH = 8
RUNS, SHORT = 5, 2.0  # of a figure; seconds of processor time from which on there is one
CUDA = "dense on CUDA"
ON_GPU = {CUDA: 30_000, "dense": 3_000, "incremental": 30_000}  # what `--gpu` compares, and how far each goes
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
BEGIN_GPU, END_GPU = "<!-- bench gpu: begin -->", "<!-- bench gpu: end -->"


class Problem(NamedTuple):
    """Inputs of one model, with the answers."""

    model: Transformer
    arithmetic: Arithmetic
    prompts: Sequence[Sequence[int]]
    answers: Sequence[Sequence[int] | NDArray[np.int32]]
    stop: set[int]


def trees(n: int, batch: int, build: Callable[[int], Wired] = istree.TRANSFORMER.build) -> Problem:
    """IsTree on random recursive trees."""
    graphs = [LargeGraph(SHAPE, n, seed).graph() for seed in range(batch)]
    wired = build(n)
    answers = [expected_answer(graph, PAPER) for graph in graphs]
    prompts = [PAPER.prompt(graph) for graph in graphs]
    return Problem(wired.model, wired.arithmetic, prompts, answers, {answer[-1] for answer in answers})


def lean_trees(n: int, batch: int) -> Problem:
    """The same, lean."""
    return trees(n, batch, lean.LEAN.build)


def machine(n: int, batch: int) -> Problem:
    """n steps of the five-state busy beaver, `batch` times."""
    beaver, space = find("bb5").machine, min(2 * n + 1, CELLS)
    wired = hybrid.TuringHybrid(beaver, cells=space).build(n)
    prompt = wired.tokens(hybrid.TuringHybrid(beaver, cells=space).prompt(n))
    answer = hybrid.TuringHybrid(beaver, cells=space).tokens(n)
    return Problem(wired.model, wired.arithmetic, [prompt] * batch, [answer] * batch, set())


@dataclass(frozen=True)
class EngineTask:
    """What the engines are measured at. largest: how far each of them goes. unit: what n counts."""

    make: Callable[[int, int], Problem]
    title: str
    unit: str
    largest: dict[str, int]
    least_precision: Callable[[int], int]


TASKS = {
    "istree": EngineTask(
        trees,
        "IsTree, all registers of all layers exact",
        "vertices of the graph",
        {"reference": 100, "dense": 300, "native": 300, "incremental": 10**6},
        istree.TRANSFORMER.least_precision,
    ),
    "lean": EngineTask(
        lean_trees,
        "IsTree, lean: five blocks",
        "vertices of the graph",
        {"reference": 100, "dense": 300, "native": 300, "incremental": 10**6},
        lean.LEAN.least_precision,
    ),
    "turing": EngineTask(
        machine,
        "The hybrid RNN that runs the five-state busy beaver",
        "steps",
        {"reference": 100, "native": 1000, "incremental": 10**7},
        lambda n: hybrid.TuringHybrid(find("bb5").machine, cells=min(2 * n + 1, CELLS)).least_precision(n),
    ),
}


def measure(task: EngineTask, engine: str, n: int) -> dict[str, float]:
    """One figure, in this process: medians, and how far the processor time of its runs lies apart, as a part of the median."""
    batch = BATCH if engine.startswith("dense") else 1
    problem = task.make(n, batch)
    run = _runner(engine, problem)
    if engine.startswith("dense"):  # its threads and the device: outside the measurement
        _runner(engine, task.make(4, 1))()
    walls, busy = list[float](), list[float]()
    while len(busy) < RUNS and (not busy or busy[0] < SHORT):
        start, used = time.perf_counter(), time.process_time()
        right = run()
        walls.append(time.perf_counter() - start)
        busy.append(time.process_time() - used)
        if not right:
            raise SystemExit(f"{engine} at n = {n}: not the expected answer")
    tokens = sum(len(p) + len(a) - 1 for p, a in zip(problem.prompts, problem.answers, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if engine == CUDA:
        import torch

        peak = torch.cuda.max_memory_allocated() / 2**20
    seconds = statistics.median(busy)
    return {
        "seconds": seconds,
        "wall": statistics.median(walls),
        "runs": len(busy),
        "spread": (max(busy) - min(busy)) / seconds,
        "tokens": tokens,
        "peak_mib": peak,
        "batch": batch,
    }


def _runner(engine: str, problem: Problem) -> Callable[[], bool]:
    """Checks an answer by an engine."""
    model, arithmetic, (prompt, *_), (answer, *_), stop = problem
    if engine == "reference":
        from constructions.engines.reference import ReferenceEngine

        def by_reference() -> bool:
            engine = ReferenceEngine(model, arithmetic)
            following = [engine.append(int(token)).next_token for token in [*prompt, *answer[:-1]]]
            return following[len(prompt) - 1 :] == list(answer)

        return by_reference
    if engine in ("native", "incremental"):
        from constructions.engines import Decoding, find_engine

        def by_code() -> bool:
            decoded = find_engine(engine)(Decoding(model, arithmetic, prompt, stop, len(answer)))
            return decoded.produced == list(answer)

        return by_code
    from constructions.engines import dense

    device = "cuda" if engine == CUDA else "cpu"
    right = [None] * len(problem.prompts)
    return lambda: dense.matches(model, arithmetic, problem.prompts, problem.answers, device=device) == right


def sizes(top: int) -> list[int]:
    """10, 30, 100, 300, …"""
    ladder = [int(float(f"{10 ** (k / 2):.0e}")) for k in range(2, 15)]
    return [n for n in ladder if n <= top]


def exponent(points: Sequence[tuple[int, float]]) -> float | None:
    """The least-squares slope of log seconds over log n in the last decade."""
    most = max((n for n, _ in points), default=0)
    chosen = [(math.log(n), math.log(s)) for n, s in points if 10 * n >= most]
    if len(chosen) < 2:
        return None
    mean_x, mean_y = (sum(c) / len(chosen) for c in zip(*chosen, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in chosen) / sum((x - mean_x) ** 2 for x, _ in chosen)


Figures = dict[str, dict[int, dict[str, float]]]
"""By engine and n."""


def run_all(name: str, largest: Mapping[str, int], top: int) -> Figures:
    """Every figure of a task, one process each; progress on stderr. largest: how far each engine goes."""
    results: Figures = {engine: {} for engine in largest}
    for n in sizes(top):
        for engine in largest:
            if n > largest[engine]:
                continue
            print(f"{name} by {engine} at n = {n:,} …", file=sys.stderr, flush=True)
            command = [sys.executable, "-m", "tests.bench.engines", "--one", name, engine, str(n)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"  stopped: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
                continue
            results[engine][n] = json.loads(done.stdout)
    return results


def report(task: EngineTask, results: Figures) -> str:
    """The figures as Markdown."""
    lines = [f"**{task.title}.** Tokens per second of processor time (peak memory); n: {task.unit}.", ""]
    rows = []
    for n in sorted({n for by_n in results.values() for n in by_n}):
        row = [by_n.get(n) for by_n in results.values()]
        tokens = next(figure["tokens"] / figure["batch"] for figure in row if figure)
        cells = ["" if f is None else f"{f['tokens'] / f['seconds']:,.0f} ({f['peak_mib']:,.0f} MiB)" for f in row]
        rows.append((f"{n:,}", f"{tokens:,.0f}", task.least_precision(n), *cells))
    lines += [*table(("n", "tokens", "p", *results), rows), ""]
    for engine, by_n in results.items():
        slope = exponent([(n, figure["seconds"]) for n, figure in by_n.items()])
        if slope is not None:
            lines.append(f"- {engine}: seconds grow as n^{slope:.2f} over the last decade.")
    for engine in results:
        common = sorted(results["reference"].keys() & results[engine].keys())
        if engine != "reference" and common:
            n = common[-1]
            slow, fast = results["reference"][n], results[engine][n]
            ratio = (slow["seconds"] / slow["batch"]) / (fast["seconds"] / fast["batch"])
            lines.append(f"- At n = {n}, {engine} takes 1/{ratio:,.0f} of the reference engine's time for one input.")
    figures = [figure for by_n in results.values() for figure in by_n.values()]
    spreads = [figure["spread"] for figure in figures if figure["runs"] > 1]
    waited = [figure["wall"] / figure["seconds"] for figure in figures if figure["batch"] == 1]
    if spreads and waited:
        lines.append(
            f"- The machine's noise: runs of a figure lie {statistics.median(spreads):.0%} of it apart at the median, "
            f"{max(spreads):.0%} at most. Wall time is {statistics.median(waited):.1f} times processor time at the "
            f"median, {max(waited):.1f} at most."
        )
    return "\n".join(lines) + "\n"


def report_gpu(task: EngineTask, results: Figures) -> str:
    """The figures of `--gpu` as Markdown."""
    lines = [f"**{task.title}.** Tokens per second of wall time, and the GPU's peak memory; n: {task.unit}.", ""]
    rows = []
    for n, on_gpu in results[CUDA].items():
        speeds = {engine: by_n[n]["tokens"] / by_n[n]["wall"] for engine, by_n in results.items() if n in by_n}
        cells = [f"{speeds[engine]:,.0f}" if engine in speeds else "" for engine in results]
        cells[0] += f" ({on_gpu['peak_mib']:,.0f} MiB)"
        tokens = on_gpu["tokens"] / on_gpu["batch"]
        rows.append((f"{n:,}", f"{tokens:,.0f}", task.least_precision(n), *cells))
    lines += table(("n", "tokens", "p", *results), rows)
    n = max(results["dense"])
    cpu, gpu = (results[engine][n]["wall"] for engine in ("dense", CUDA))
    lines += ["", f"- At n = {n:,}, CUDA takes 1/{cpu / gpu:,.0f} of the wall time of `dense` on the CPU."]
    return "\n".join(lines) + "\n"


def gpu() -> str:
    """The device that CUDA computes on. Raises SystemExit if there is none."""
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("--gpu: torch finds no CUDA device here")
    return f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}"


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0))


def this_machine() -> str:
    """Where and when."""
    return f"{platform.machine()}, {_cores()} cores, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}."


def write(folder: Path, text: str, begin: str, end: str) -> None:
    """Replaces what stands between two marks of the benchmarks' page."""
    page = folder / "benchmarks.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    page.write_text(f"{before}{begin}\n{text}{end}{rest.partition(end)[2]}", encoding="utf-8")


def plot(all_results: dict[str, Figures], path: Path) -> None:
    """Seconds for one input against n, log–log, with the fitted exponents; a panel for each task."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "engines"
    figure, panels = plt.subplots(1, len(all_results), figsize=(15, 4.5), layout="constrained", squeeze=False)
    colour = {engine: f"C{i}" for i, engine in enumerate(TASKS["istree"].largest)}  # the same in every panel
    for axes, (name, results) in zip(panels[0], all_results.items(), strict=True):
        for engine, by_n in results.items():
            points = sorted((n, f["seconds"] / f["batch"]) for n, f in by_n.items())
            slope = exponent(points)
            label = engine if slope is None else f"{engine}: n^{slope:.2f}"
            axes.loglog(*zip(*points, strict=True), marker="o", label=label, color=colour[engine])
        axes.set_xlabel(f"n, {TASKS[name].unit}")
        axes.set_ylabel("seconds of processor time for one input")
        axes.set_title(TASKS[name].title, fontsize="medium")
        axes.grid(visible=True, which="both", alpha=0.2)
        axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.engines", description=__doc__)
    parser.add_argument("--n-max", type=int, default=10_000, help="largest n (default: 10000)")
    parser.add_argument("--gpu", action="store_true", help="compare CUDA with the CPU of its machine")
    parser.add_argument("--write", type=Path, help="a folder whose benchmarks.md and benchmarks.svg are rewritten")
    parser.add_argument("--one", nargs=3, metavar=("TASK", "ENGINE", "N"), help="one figure as JSON")
    options = parser.parse_args(argv)
    if options.one:
        name, engine, n = options.one
        print(json.dumps(measure(TASKS[name], engine, int(n))))
        return 0
    if options.gpu:
        device = gpu()
        results = {name: run_all(name, ON_GPU, options.n_max) for name in ("istree", "lean")}
        parts = [f"{device}; {this_machine()} dense has a batch of {BATCH}, incremental of 1.\n"]
        text = "\n".join([*parts, *(report_gpu(TASKS[name], found) for name, found in results.items())])
        print(text)
        if options.write:
            write(options.write, text, BEGIN_GPU, END_GPU)
        return 0
    results = {name: run_all(name, task.largest, options.n_max) for name, task in TASKS.items()}
    text = "\n".join(
        [
            f"{this_machine()} dense has a batch of {BATCH}. "
            f"Runs of a figure: {RUNS}, or 1 from {SHORT:.0f} seconds of processor time on.\n",
            *(report(TASKS[name], found) for name, found in results.items()),
        ]
    )
    print(text)
    if options.write:
        write(options.write, text, BEGIN, END)
        plot(results, options.write / "benchmarks.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Speed and memory of the engines against n: `python -m tests.bench.engines [--n-max N] [--write DIR]`.

Each figure is one process: it builds repaired IsTree for n vertices at its least precision, feeds one random recursive
tree with its whole answer, checks that every argmax is right, and reports seconds, tokens and peak memory; `incremental`
is not given the answer but decodes it, token by token. All engines run in one go on one machine, so their ratios mean
something; the absolute figures are that machine's.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from constructions.istree import transformer as istree
from constructions.istree.graphs import PAPER, expected_answer
from verify.large_graphs import LargeGraph

SHAPE = "random recursive tree"
LARGEST = {"reference": 300, "dense": 1000, "indexed": 10**6, "incremental": 30_000, "dense on CUDA": 10_000}
BATCH = 8
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def measure(engine: str, n: int) -> dict[str, float]:
    """One figure, in this process."""
    batch = BATCH if engine.startswith("dense") else 1
    graphs = [LargeGraph(SHAPE, n, seed).graph() for seed in range(batch)]
    wired = istree.build(n)
    prompts = [PAPER.prompt(graph) for graph in graphs]
    answers = [expected_answer(graph, PAPER) for graph in graphs]
    run = _runner(engine, wired.model, wired.arithmetic, prompts, answers)
    if engine.startswith(("dense", "incremental")):  # its threads, the device, the compiler: outside the measurement
        small = istree.build(4)
        tree = LargeGraph(SHAPE, 4, 0).graph()
        _runner(engine, small.model, small.arithmetic, [PAPER.prompt(tree)], [expected_answer(tree, PAPER)])()
    start = time.perf_counter()
    right = run()
    seconds = time.perf_counter() - start
    if not right:
        raise SystemExit(f"{engine} at n = {n}: not the answer of Algorithm 1")
    tokens = sum(len(p) + len(a) - 1 for p, a in zip(prompts, answers, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "tokens": tokens, "peak_mib": peak, "batch": batch}


def _runner(
    engine: str, model: object, arithmetic: object, prompts: list[list[int]], answers: list[list[int]]
) -> Callable[[], bool]:
    if engine == "reference":
        from constructions.engines.reference import ReferenceEngine

        def by_reference() -> bool:
            machine = ReferenceEngine(model, arithmetic)  # type: ignore[arg-type]
            following = [machine.append(token).next_token for token in [*prompts[0], *answers[0][:-1]]]
            return following[len(prompts[0]) - 1 :] == answers[0]

        return by_reference
    if engine == "indexed":
        from constructions.engines import indexed

        return lambda: indexed.first_mismatch(model, arithmetic, prompts[0], answers[0])[0] is None  # type: ignore[arg-type]
    if engine == "incremental":
        from constructions.engines import decode_by_incremental

        def by_incremental() -> bool:
            decoded = decode_by_incremental(
                model,  # type: ignore[arg-type]
                arithmetic,  # type: ignore[arg-type]
                prompts[0],
                {answers[0][-1]},
                len(answers[0]),
            )
            return decoded.produced == answers[0]

        return by_incremental
    from constructions.engines import dense

    device = "cuda" if engine.endswith("CUDA") else "cpu"
    return lambda: dense.matches(model, arithmetic, prompts, answers, device=device) == [None] * len(prompts)  # type: ignore[arg-type]


def sizes(top: int) -> list[int]:
    """10, 30, 100, 300, …"""
    ladder = [int(float(f"{10 ** (k / 2):.0e}")) for k in range(2, 13)]
    return [n for n in ladder if n <= top]


def exponent(points: Sequence[tuple[int, float]]) -> float | None:
    """The least-squares slope of log seconds over log n, from n = 300 on."""
    chosen = [(math.log(n), math.log(s)) for n, s in points if n >= 300]
    if len(chosen) < 2:
        return None
    mean_x, mean_y = (sum(c) / len(chosen) for c in zip(*chosen, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in chosen) / sum((x - mean_x) ** 2 for x, _ in chosen)


def run_all(top: int) -> dict[str, dict[int, dict[str, float]]]:
    """Every figure, one process each; progress on stderr."""
    engines = ["reference", "dense", "indexed", "incremental"]
    # In a process of its own: a child's peak memory starts from that of its parent, which must stay small.
    probe = subprocess.run(
        [sys.executable, "-c", "import torch, sys; sys.exit(not torch.cuda.is_available())"], check=False
    )
    if probe.returncode == 0:
        engines.append("dense on CUDA")
    results: dict[str, dict[int, dict[str, float]]] = {engine: {} for engine in engines}
    for n in sizes(top):
        for engine in engines:
            if n > LARGEST[engine]:
                continue
            print(f"{engine} at n = {n:,} …", file=sys.stderr, flush=True)
            command = [sys.executable, "-m", "tests.bench.engines", "--one", engine, str(n)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"  stopped: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
                continue
            results[engine][n] = json.loads(done.stdout)
    return results


def report(results: dict[str, dict[int, dict[str, float]]]) -> str:
    """The figures as Markdown."""
    engines = list(results)
    lines = [
        f"{platform.machine()}, {_cores()} cores, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}. "
        f"Tokens per second (peak memory); dense with a batch of {BATCH} graphs.",
        "",
        "| n | tokens | p | " + " | ".join(engines) + " |",
        "|---|---|---|" + "---|" * len(engines),
    ]
    for n in sorted({n for by_n in results.values() for n in by_n}):
        cells = []
        for engine in engines:
            figure = results[engine].get(n)
            cells.append(
                "" if figure is None else f"{figure['tokens'] / figure['seconds']:,.0f} ({figure['peak_mib']:,.0f} MiB)"
            )
        lines.append(f"| {n:,} | {5 * n - 3:,} | {istree.least_precision(n)} | " + " | ".join(cells) + " |")
    lines.append("")
    for engine in engines:
        slope = exponent([(n, figure["seconds"]) for n, figure in results[engine].items()])
        if slope is not None:
            lines.append(f"- {engine}: seconds grow as n^{slope:.2f} from n = 300 on.")
    for n in sorted(results["reference"]):
        if n in results["dense"] and n == max(results["reference"]):
            slow, fast = results["reference"][n], results["dense"][n]
            ratio = (slow["seconds"] / slow["batch"]) / (fast["seconds"] / fast["batch"])
            lines.append(f"- At n = {n}, dense takes 1/{ratio:,.0f} of the reference engine's time per graph.")
    return "\n".join(lines) + "\n"


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0))


def plot(results: dict[str, dict[int, dict[str, float]]], path: Path) -> None:
    """Seconds per graph against n, log–log, with the fitted exponents."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "engines"
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for engine, by_n in results.items():
        points = sorted((n, f["seconds"] / f["batch"]) for n, f in by_n.items())
        slope = exponent(points)
        label = engine if slope is None else f"{engine}: n^{slope:.2f}"
        axes.loglog(*zip(*points, strict=True), marker="o", label=label)
    axes.set_xlabel("n, vertices of the graph")
    axes.set_ylabel("seconds for a whole graph")
    axes.set_title("IsTree, all registers of all layers exact")
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.engines", description=__doc__)
    parser.add_argument("--n-max", type=int, default=10_000, help="largest n (default: 10000)")
    parser.add_argument("--write", type=Path, help="a folder whose benchmarks.md and benchmarks.svg are rewritten")
    parser.add_argument("--one", nargs=2, metavar=("ENGINE", "N"), help="one figure as JSON")
    options = parser.parse_args(argv)
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
        return 0
    results = run_all(options.n_max)
    text = report(results)
    print(text)
    if options.write:
        page = options.write / "benchmarks.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        page.write_text(f"{before}{BEGIN}\n{text}{END}{rest.partition(END)[2]}", encoding="utf-8")
        plot(results, options.write / "benchmarks.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())

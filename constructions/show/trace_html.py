"""The trace as one HTML page without outside resources: the graph, the tokens, and arcs from each to what the heads attend to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from html import escape
from pathlib import Path
from string import Template
from typing import Protocol

from constructions.models.construction import Construction
from constructions.show.trace import Trace
from constructions.show.trace_text import show_attended, show_because, show_value, show_values

PAGE = Path(__file__).with_name("trace_page.html")
FOCUS = ("current", "previous", "father", "next")


class Graph(Protocol):
    """What is drawn: vertices 1 … n and edges between them."""

    @property
    def n(self) -> int: ...
    @property
    def edges(self) -> Sequence[tuple[int, int]]: ...


def html_page(
    trace: Trace,
    graph: Graph,
    verdict: str | None,
    narrate: Callable[[Mapping[str, Fraction], str], str],
    about_block: Mapping[int, str],
    prompt_registers: Sequence[str],
    construction: Construction,
) -> str:
    """The page. Positions of vertices are computed here, everything that moves is drawn by its script."""
    wired, quantum = trace.wired, trace.quantum
    shown = [name for name in prompt_registers if name in wired.registers]
    prompt = []
    for position in range(1, len(trace.tokens) + 1):
        behind = trace.before_output(position)
        prompt.append({name: show_value(behind[name], quantum) for name in shown if behind[name]})
    steps = []
    for position in trace.chain:
        token = trace.at(position)
        values = token.before_output
        whole = {name: int(values[name]) for name in FOCUS if name in values and values[name].denominator == 1}
        steps.append(
            {
                "position": position,
                "produced": token.produced,
                "says": narrate(values, token.produced),
                "focus": whole,
                "heads": [
                    {
                        "block": head.block,
                        "name": head.name,
                        "to": [[k, float(weight)] for k, weight in head.weights],
                        "where": show_attended(head, trace.tokens, quantum),
                        "because": (because := show_because(head, quantum)),
                        "idle": because.startswith("nothing asked"),
                        "none": head.fell_back,
                        "writes": show_values(head.reads, quantum),
                    }
                    for head in token.attended
                ],
                "wrote": [
                    {"block": w.block, "writes": show_values(w.values, quantum)} for w in token.wrote[:-1] if w.values
                ],
            }
        )
    variant = wired.variant
    if wired.printed and variant != "printed":
        variant += f", {', '.join(wired.printed)} as printed"
    document = {
        "tokens": trace.tokens,
        "promptLength": trace.prompt_length,
        "records": prompt,
        "vertices": [[round(x, 4), round(y, 4)] for x, y in place_vertices(graph)],
        "edges": graph.edges,
        "steps": steps,
        "blocks": {str(number): text for number, text in about_block.items()},
        "meanings": {name: construction.meaning(name) for name in wired.registers},
        "verdict": verdict,
    }
    facts = " · ".join(
        [
            f"{construction.name}: {wired.source}",
            variant,
            f"n = {wired.n}, {len(graph.edges)} edges",
            f"{wired.arithmetic.format.name}, {wired.arithmetic.discipline.value}",
            f"{len(wired.blocks)} blocks, {wired.model.width} registers",
        ]
    )
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return Template(PAGE.read_text(encoding="utf-8")).substitute(
        facts=escape(facts),
        data=data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"),
    )


def place_vertices(graph: Graph) -> list[tuple[float, float]]:
    """A place for each vertex: depth downwards, children of a breadth-first tree side by side, components next to each other."""
    neighbours: dict[int, list[int]] = {v: [] for v in range(1, graph.n + 1)}
    for u, v in graph.edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    children: dict[int, list[int]] = {v: [] for v in neighbours}
    depth: dict[int, int] = {}
    order: list[int] = []
    roots = []
    for root in neighbours:
        if root in depth:
            continue
        roots.append(root)
        depth[root] = 0
        queue = [root]
        for top in queue:  # grows while it is walked
            order.append(top)
            for v in neighbours[top]:
                if v not in depth:
                    depth[v] = depth[top] + 1
                    children[top].append(v)
                    queue.append(v)
    across: dict[int, float] = {}
    column = 0.0
    stack = list(reversed(roots))
    while stack:  # leaves from left to right
        top = stack.pop()
        if not children[top]:
            across[top] = column
            column += 1
        stack.extend(reversed(children[top]))
    for top in reversed(order):  # a parent above the middle of its children, which come later in the order
        if children[top]:
            across[top] = (across[children[top][0]] + across[children[top][-1]]) / 2
    return [(across[v], float(depth[v])) for v in range(1, graph.n + 1)]

"""A run as one HTML page without outside resources, to step through: `--html`.

Python says what there is to see, once for all positions; what moves is drawn by the page's scripts. A task adds a *scene*: its
graph, its tape, its circuit. What a scene holds is known to the task's module and to scenes.js alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from constructions.exports.files import write_text
from constructions.models.construction import Construction
from constructions.models.search import END_SEARCH, START_SEARCH
from constructions.places import FEED_FORWARD, RECURRENCE, name_part, name_place
from constructions.show.cli import CommandError
from constructions.show.matches import Match, find_match
from constructions.show.trace import TokenTrace, Trace
from constructions.show.trace_text import (
    show_attended,
    show_because,
    show_binding,
    show_decision,
    show_value,
    show_values,
)
from constructions.wiring.reading import sentence

HERE = Path(__file__).parent
SCRIPTS = ("scenes.js", "page.js")
MOST_STEPS = 10_000  # tokens of a chain of thought: a page has what led to each of them in one file
CAPTIONS = (
    "Below a token of the prompt: the record that is kept there, one end of an edge → the other end, and 1/(k + 1) if the edge is "
    "the k-th of that end."
)
MOST_ROWS = 400  # tokens of a sequence whose prompt is in the heat maps, too


@dataclass(frozen=True)
class Page:
    """What a task says of its run. title: a few words. verdict: the answer. size: what the input is, as "n = 5, 4 edges".

    scene: what is drawn beside the tokens, with its `kind`; none if it is empty. says(token): the step in a sentence, "" for
    nothing; where(token) comes before what is said then. focus(token): a few numbers below that sentence, which the scene marks.
    records: registers that the prompt's tokens show.
    """

    title: str
    verdict: str
    size: str
    scene: Mapping[str, object] = field(default_factory=dict)
    says: Callable[[TokenTrace], str] = lambda token: ""
    where: Callable[[TokenTrace], str] = lambda token: ""
    focus: Callable[[TokenTrace], Mapping[str, int]] = lambda token: {}
    records: tuple[str, ...] = ()


def check_steps(path: Path, steps: int) -> None:
    """Raises CommandError for a run that no page holds."""
    if steps > MOST_STEPS:
        raise CommandError(
            f"--html {path}: a page holds {MOST_STEPS:,} written tokens at most, and this run has {steps:,}"
        )


def write_page(path: Path, trace: Trace, page: Page, construction: Construction, blocks: Mapping[int, str]) -> None:
    """Writes the page. Raises OSError."""
    write_text(path, html_page(trace, page, construction, blocks))


def html_page(trace: Trace, page: Page, construction: Construction, blocks: Mapping[int, str]) -> str:
    """Returns the page as text."""
    data = json.dumps(page_data(trace, page, construction, blocks), ensure_ascii=False, separators=(",", ":"))
    parts = {
        "title": escape(page.title),
        "facts": escape(" · ".join(_facts(trace, page, construction))),
        "style": (HERE / "page.css").read_text(encoding="utf-8"),
        "script": "".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
        "data": data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"),
    }
    pieces = (HERE / "page.html").read_text(encoding="utf-8").split("[[")
    return pieces[0] + "".join(parts[name] + rest for name, rest in (piece.split("]]", 1) for piece in pieces[1:]))


def page_data(trace: Trace, page: Page, construction: Construction, blocks: Mapping[int, str]) -> dict[str, object]:
    """Returns what the scripts know."""
    wired, quantum = trace.wired, trace.quantum
    shown = [name for name in page.records if name in wired.registers]
    records = []
    for position in range(1, len(trace.tokens) + 1):
        behind = trace.before_output(position) if shown else {}
        records.append({name: show_value(behind[name], quantum) for name in shown if behind[name]})
    few = len(trace.tokens) <= MOST_ROWS
    steps = list(_steps(trace, page))
    return {
        "tokens": trace.tokens,
        "promptLength": trace.prompt_length,
        "verdict": page.verdict,
        "heads": [
            {
                "block": number,
                "part": (part := name_part("head", i, head.name)),
                "place": name_place(number, part),
                "says": sentence(head, wired.model.longest),
            }
            for number, plan in enumerate(wired.blocks, start=1)
            for i, head in enumerate(plan.heads, start=1)
        ],
        "blocks": {str(number): f"{name_place(number)} {text}" for number, text in blocks.items()},
        "parts": {"kept": RECURRENCE, "wrote": FEED_FORWARD},
        "meanings": {name: text for name in wired.registers if (text := construction.meaning(name))},
        "records": records,
        "captions": CAPTIONS if any(records) else "",
        "first": next(
            (i for i, step in enumerate(steps) if any(step.get("focus", {}).values()) or "search" in step), 0
        ),
        "prompt": [_patterns(trace, position) for position in range(1, trace.prompt_length)] if few else [],
        "scene": page.scene,
        "steps": steps,
    }


def _facts(trace: Trace, page: Page, construction: Construction) -> Iterator[str]:
    wired = trace.wired
    variant = wired.variant
    if wired.printed and variant != "printed":
        variant += f", {', '.join(wired.printed)} as printed"
    yield f"{construction.name}, {construction.model}: {wired.source}"
    yield variant
    yield page.size
    yield f"{wired.arithmetic.format.name}, {wired.arithmetic.discipline.value}"
    yield f"{len(wired.blocks)} blocks, {wired.model.width} registers"


def _patterns(trace: Trace, position: int) -> list[list[tuple[int, float]]]:
    """Returns for each head the positions that it reads, and how much of each."""
    quantum = float(trace.quantum)
    attention = trace.steps.attention(position)
    return [[(k, round(weight * quantum, 4)) for k, weight in head] for block in attention for head in block]


def _steps(trace: Trace, page: Page) -> Iterator[dict[str, Any]]:
    quantum = trace.quantum
    opened = 0  # where the last search begins
    for position in range(1, trace.prompt_length):
        opened = position if trace.tokens[position - 1] == START_SEARCH else opened
    for position in trace.chain:
        token = trace.token_trace(position)
        opened = position if token.token == START_SEARCH else opened
        match = find_match(trace.tokens, opened, position) if token.token == END_SEARCH and opened else None
        rules = _rules(token)
        entry: dict[str, Any] = {
            "position": position,
            "produced": token.response or token.produced,
            "says": page.says(token) or page.where(token) + generic_sentence(token, match),
            "decided": _decide(token, trace),
            "heads": [
                {
                    "to": to,
                    "where": show_attended(head, trace.tokens, quantum),
                    "because": show_because(head, quantum),
                    "idle": head.idle,
                    "none": head.fell_back,
                    "decides": head is token.decided,
                    "writes": show_values(head.reads, quantum),
                }
                for head, to in zip(token.attended, _patterns(trace, position), strict=True)
            ],
            "kept": [
                {"block": kept.block, "name": name, "text": show_binding(name, value, quantum)}
                for kept in token.kept
                for name, value in kept.values.items()
            ],
            "wrote": [
                {"block": w.block, "writes": show_values(w.values, quantum)} for w in token.wrote[:-1] if w.values
            ],
        }
        if focus := page.focus(token):
            entry["focus"] = focus
        if match is not None:
            entry["search"] = match.document()
        elif rules:
            entry["rule"] = ", ".join(rules)
        yield entry


def _rules(token: TokenTrace) -> list[str]:
    """Returns what fires in the last feed-forward."""
    fired = token.wrote[-1].fired if token.wrote else ()
    return [name for name in fired if not name.startswith("clear")]


def _decide(token: TokenTrace, trace: Trace) -> str:
    """Names the head that decided the word, with what it reads."""
    text, head = show_decision(token), token.decided
    if head is None:
        return text
    return f"{text} It reads {show_attended(head, trace.tokens, trace.quantum)}: {show_because(head, trace.quantum)}."


def generic_sentence(token: TokenTrace, match: Match | None) -> str:
    """Tells a step of which the task says nothing: what was searched, or what was read, what fired and what was written."""
    if match is not None:
        if match.matched is None:
            return f"Searches all that stands before {START_SEARCH}, and finds no match."
        return f"Searches all that stands before {START_SEARCH}, and finds {token.response or token.produced}."
    if token.response:
        return f"Reads {token.token}; what was found goes on with {token.response}."
    rules = ", ".join(_rules(token))
    return f"Reads {token.token}, writes {token.produced}" + (
        f", by the rule: {rules}." if token.kept and rules else "."
    )

"""A trace in words: for a terminal, a table for each token of the chain of thought; and the same as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest
from textwrap import wrap

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from constructions.places import FEED_FORWARD, RECURRENCE, name_part, name_place
from constructions.show.terminal import print_table
from constructions.show.trace import MOST_POSITIONS, Attended, FormComparison, TokenTrace, Trace
from constructions.wiring.reading import sentence
from constructions.wiring.register import Past, register

LEAST_WIDTH = 80  # of a terminal that shows a step as a table
COLUMNS = ("block", "part", "attends to", "because", "writes")
GAP = 2  # columns of the screen between two of a table

Row = tuple[tuple[str, str], ...]
"""The cells of a table's row: text and style."""


def show_value(value: Fraction, quantum: Fraction) -> str:
    """Returns an integer as it is, a rounded unit fraction as ≈1/m, anything else with four digits."""
    if value.denominator == 1:
        return str(value).replace("-", "−")
    sign = "−" if value < 0 else ""
    size = abs(value)
    if size.numerator == 1 and size.denominator < 1000:
        return f"{sign}{size}"
    number = round(1 / size)
    if number and abs(size - Fraction(1, number)) < quantum:
        return f"≈{sign}1/{number}"
    return f"{sign}{float(size):.4g}"


def show_binding(name: str, value: Fraction, quantum: Fraction) -> str:
    """Writes `name = 2`, or `name ≈ 1/3` for a number that was rounded."""
    text = show_value(value, quantum)
    return f"{name} ≈ {text[1:]}" if text.startswith("≈") else f"{name} = {text}"


def _bindings(name: str, values: Sequence[Fraction], quantum: Fraction) -> str:
    return " and ".join([show_binding(name, values[0], quantum), *(show_value(value, quantum) for value in values[1:])])


def show_because(head: Attended, quantum: Fraction) -> str:
    """Returns why a head attended where it did."""
    equal = [c for c in head.comparisons if not c.near]
    if head.idle:
        return "nothing asked: " + ", ".join(f"{c.query} = 0" for c in equal)
    if head.fell_back:  # what is near at position 1 says nothing
        return "none with " + ", ".join(f"{c.key} = {_ask(c, quantum)}" for c in equal)
    parts = [
        f"{_bindings(c.key, c.key_values, quantum)}, nearest to {show_binding(c.query, c.query_value, quantum)}"
        if c.near
        else f"{c.key} = {_ask(c, quantum)}"
        if c.key_value == c.query_value
        else f"{c.key} = {show_value(c.key_value, quantum)}, not {c.query} = {show_value(c.query_value, quantum)}"
        for c in head.comparisons
    ]
    return ", ".join(parts)


def _ask(compared: FormComparison, quantum: Fraction) -> str:
    """Returns the value that is asked for, and the form that has it unless it is the number itself."""
    value = show_value(compared.query_value, quantum)
    return value if value == compared.query else f"{value} = {compared.query}"


def show_attended(head: Attended, tokens: Sequence[str], quantum: Fraction) -> str:
    """Lists the positions that a head reads, with their tokens, and with their weights if these differ."""
    sizes = {weight for _, weight in head.weights}
    many = len(head.weights) > MOST_POSITIONS
    shown = [
        f"{position} ({tokens[position - 1]})" + (f" weight {show_value(weight, quantum)}" if len(sizes) > 1 else "")
        for position, weight in head.weights[: MOST_POSITIONS - many]
    ]
    if many:
        shown.append(f"… {len(head.weights)} in all")
    each = f"; weight {show_value(min(sizes), quantum)} each" if len(sizes) == 1 and len(shown) > 1 else ""
    return (", ".join(shown) + each) if shown else "nothing"


def show_values(values: Mapping[str, Fraction], quantum: Fraction) -> str:
    """Lists `name = value` for each register; copies of earlier registers only where they are not 0."""
    nonempty = {name: v for name, v in values.items() if v or register(name).past is not Past.COPIED}
    return ", ".join(show_binding(name, value, quantum) for name, value in nonempty.items())


def show_decision(token: TokenTrace) -> str:
    """Names the head that decided the word, and the word without it; "" for a model without heads, or a search result."""
    if token.response or not token.attended:
        return ""
    if (head := token.decided) is None:
        return "No head alone decides the next token."
    place = name_place(head.block, name_part("head", head.number, head.name))
    return f"The next token is decided by {place}: without a match there, {token.otherwise} would follow."


def print_trace(
    trace: Trace,
    console: Console,
    narrate: Callable[[Mapping[str, Fraction], str], str],
    about_block: Mapping[int, str],
    prompt_registers: Sequence[str],
) -> None:
    """Prints the trace for a terminal: the prompt, a legend, then a table for each token of the chain of thought."""
    _print_prompt(trace, console, prompt_registers)
    console.print()
    if about_block:
        console.print(Text("Blocks", style="bold"))
    blocks = Table.grid(padding=(0, 2, 0, 0))
    for number, text in about_block.items():
        blocks.add_row("", str(number), Text(text))
    console.print(blocks)
    for block, plan in enumerate(trace.wired.blocks, start=1):
        for number, head in enumerate(plan.heads, start=1):
            place = name_place(block, name_part("head", number, head.name))
            console.print(Text(f"{place} {sentence(head, trace.wired.model.longest)}", style="dim"))
    console.print(
        Text(
            "\nIn each step below, a head's line names the position it attends to (and the token there), why, and what it writes."
            "\nWhy: key register there = value = query register here. A line `feed-forward` names what the block computes then."
            "\nA line `recurrence` shows what is kept of earlier tokens and is not 0: `x-2` is register x of 2 tokens before.",
            style="dim",
        )
    )
    for index, position in enumerate(trace.chain, start=1):
        token = trace.token_trace(position)
        console.print()
        title = Text.assemble(
            f"step {index}: ", "position ", f"{position}, token ", (token.token, "bold"),
            " → what is found: " if token.response else " → writes ", (token.response or token.produced, "bold green"),
        )  # fmt: skip
        console.print(Rule(title, align="left", style="dim"))
        if token.response:
            continue
        if story := " ".join(filter(None, (narrate(token.before_output, token.produced), show_decision(token)))):
            console.print(Text(story, style="italic"))
        _print_rows(console, _step_rows(trace, token))


def _print_prompt(trace: Trace, console: Console, names: Sequence[str]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title="Prompt", title_justify="left")
    table.title_style = "bold"
    table.add_column("position", justify="right", style="dim")
    table.add_column("token", style="bold")
    columns = [name for name in names if name in trace.wired.registers]
    for name in columns:
        table.add_column(name)
    for position in range(1, trace.prompt_length + 1):
        values = trace.before_output(position)
        shown = [show_value(values[name], trace.quantum) if values[name] else "" for name in columns]
        table.add_row(str(position), Text(trace.tokens[position - 1]), *shown)
    print_table(console, table)


def _step_rows(trace: Trace, token: TokenTrace) -> list[Row]:
    """Returns what happened in a step, in the order of the blocks."""
    quantum, rows = trace.quantum, list[Row]()
    last = len(token.wrote)
    for wrote in token.wrote:
        block = (str(wrote.block), "dim")
        for head in token.attended:
            if head.block == wrote.block:
                where = show_attended(head, trace.tokens, quantum)
                because = show_because(head, quantum), "yellow" if head.fell_back else ""
                rows.append(
                    (
                        block,
                        (name_part("head", head.number, head.name), "cyan"),
                        (where, ""),
                        because,
                        (show_values(head.reads, quantum), ""),
                    )
                )
        for kept in token.kept:
            if kept.block == wrote.block and kept.values:
                rows.append((block, (RECURRENCE, "cyan"), ("", ""), ("", ""), (show_values(kept.values, quantum), "")))
        ends = wrote.block == last
        values = f"the output: {token.produced}" if ends else show_values(wrote.values, quantum)
        fired = ", ".join(name for name in wrote.fired if not name.startswith("clear")) if ends else ""
        if wrote.values:
            rows.append((block, (FEED_FORWARD, "magenta"), ("", ""), (fired, ""), (values, "")))
    return rows


def _print_rows(console: Console, rows: Sequence[Row]) -> None:
    """Prints a step as a table, or its rows one below the other where there is no room.

    rich's tables take several times as long as all the rest of a trace, which has thousands of them.
    """
    if console.width < LEAST_WIDTH:
        table = Table()
        for name in COLUMNS:
            table.add_column(name)
        for row in rows:
            table.add_row(*(Text(text, style=style) for text, style in row))
        print_table(console, table, LEAST_WIDTH)
        return
    titled = [tuple((name, "dim") for name in COLUMNS), *rows]
    widths = _widths([max(len(row[i][0]) for row in titled) for i in range(len(COLUMNS))], console.width)
    result = Text()
    for row in titled:
        wrapped = [wrap(text, width, break_on_hyphens=False) for (text, _), width in zip(row, widths, strict=True)]
        for line in zip_longest(*wrapped, fillvalue=""):
            used = max(i for i, piece in enumerate(line) if piece)
            for i, (piece, (_, style)) in enumerate(zip(line[:used], row, strict=False)):
                padded = piece.ljust(widths[i]) if i else piece.rjust(widths[i])
                result.append(padded + " " * GAP, style or None)
            result.append(line[used] + "\n", row[used][1] or None)
    console.print(result, soft_wrap=True, end="")


def _widths(widths: Sequence[int], room: int) -> list[int]:
    """Returns the columns' widths: those wanted, or the widest cut to the same width so that all fit."""
    room -= GAP * (len(widths) - 1)
    most = max(widths)
    while sum(min(width, most) for width in widths) > room:
        most -= 1
    return [min(width, most) for width in widths]


def trace_document(trace: Trace, narrate: Callable[[Mapping[str, Fraction], str], str]) -> list[dict[str, object]]:
    """Returns the trace as JSON: one entry for each token of the chain of thought, exact numbers as strings."""
    entries, plans = [], trace.wired.blocks
    for position in trace.chain:
        token = trace.token_trace(position)
        heads: list[dict[str, object]] = [
            {
                "block": head.block,
                "number": head.number,
                "head": head.name,
                "attends_to": [[k, str(weight)] for k, weight in head.weights],
                "looks_up": sentence(plans[head.block - 1].heads[head.number - 1], trace.wired.model.longest),
                "because": show_because(head, trace.quantum),
                "reads": {name: str(value) for name, value in head.reads.items()},
            }
            for head in token.attended
        ]
        writes = [{"block": w.block, "registers": {k: str(v) for k, v in w.values.items()}} for w in token.wrote]
        entries.append(
            {
                "position": position,
                "token": token.token,
                "produced": token.produced,
                "response": token.response,
                "says": narrate(token.before_output, token.produced),
                "decided_by": token.decided
                and {
                    "block": token.decided.block,
                    "number": token.decided.number,
                    "head": token.decided.name,
                    "otherwise": token.otherwise,
                },
                "heads": heads,
                "recurrences": [
                    {"block": k.block, "registers": {n: str(v) for n, v in k.values.items()}} for k in token.kept
                ],
                "feed_forward": writes,
            }
        )
    return entries

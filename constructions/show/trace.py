"""What a run did, token by token: which position each head attended to and why, and what each block wrote.

Source of the facts: the steps of an engine, see steps.py. Source of the names: the wiring plan beside the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from constructions.show.cli import print_table
from constructions.show.steps import Step
from constructions.wiring.affine import Affine
from constructions.wiring.wire import Component, Gadget
from constructions.wiring.wired import Wired

MOST_POSITIONS = 6  # of a head that attends to many
LEAST_WIDTH = 80  # of a terminal that shows a step as a table


@dataclass(frozen=True)
class Comparison:
    """A key form at the attended position against a query form at the position that asks.

    key_values: at all attended positions if they are few, without repetition; key_value is at the last with the greatest weight.
    """

    key: str
    key_value: Fraction
    query: str
    query_value: Fraction
    key_values: tuple[Fraction, ...] = ()

    @property
    def near(self) -> bool:
        """Whether nearness is enough: counts are compared so, numbers of vertices and positions must be equal."""
        return self.key_value.denominator != 1 or self.query_value.denominator != 1


@dataclass(frozen=True)
class Attended:
    """One head at one position. weights: (position, weight), positions from 1."""

    block: int
    name: str
    weights: tuple[tuple[int, Fraction], ...]
    comparisons: tuple[Comparison, ...]
    reads: Mapping[str, Fraction]

    @property
    def fell_back(self) -> bool:
        """Whether nothing matched, so that position 1 was read."""
        unequal = any(c.key_value != c.query_value and not c.near for c in self.comparisons)
        return unequal and [position for position, _ in self.weights] == [1]


@dataclass(frozen=True)
class Wrote:
    """What the feed-forward of one block changed: register → its new value. fired: the gadgets that are not 0 there."""

    block: int
    values: Mapping[str, Fraction]
    fired: tuple[str, ...]


@dataclass(frozen=True)
class Kept:
    """The state of one block's recurrence that is not 0: register → value."""

    block: int
    values: Mapping[str, Fraction]


@dataclass(frozen=True)
class TokenTrace:
    """One position. before_output: the registers behind the last attention or recurrence. produced: the argmax there.

    response: the token that follows if it is not the argmax but came from the model's surroundings, such as a search result.
    """

    position: int
    token: str
    produced: str
    response: str
    attended: tuple[Attended, ...]
    kept: tuple[Kept, ...]
    wrote: tuple[Wrote, ...]
    before_output: Mapping[str, Fraction]


@dataclass(frozen=True)
class Trace:
    """A whole run: tokens fed, and what each did. The last position is the one that led to the verdict."""

    wired: Wired
    tokens: tuple[str, ...]
    prompt_length: int
    steps: tuple[Step, ...]

    @property
    def chain(self) -> range:
        """The positions whose argmax became a token."""
        return range(self.prompt_length, len(self.steps) + 1)

    @cached_property
    def quantum(self) -> Fraction:
        """The format's step."""
        return self.wired.arithmetic.format.quantum

    def registers(self, position: int, sublayer: int) -> dict[str, Fraction]:
        """The residual vector by name: sublayer 0 is the embedding, 2b − 1 and 2b follow block b's attention and feed-forward."""
        row = self.steps[position - 1].registers[sublayer]
        quantum, zero = self.quantum, Fraction(0)  # most registers are 0
        return {name: q * quantum if q else zero for name, q in zip(self.wired.registers, row, strict=True)}

    def before_output(self, position: int) -> dict[str, Fraction]:
        """The registers behind the last attention: the last feed-forward overwrites some of them with the output."""
        return self.registers(position, 2 * len(self.wired.blocks) - 1)

    def at(self, position: int) -> TokenTrace:
        """What happened at one position."""
        attended, kept, wrote = list[Attended](), list[Kept](), list[Wrote]()
        step = self.steps[position - 1]
        for number, plan in enumerate(self.wired.blocks, start=1):
            before = self.registers(position, 2 * number - 2)
            between = self.registers(position, 2 * number - 1)
            after = self.registers(position, 2 * number)
            for head, pattern in zip(plan.heads, step.attention[number - 1], strict=True):
                weights = tuple((k, w * self.quantum) for k, w in pattern)
                best = max(weights, key=lambda pair: (pair[1], pair[0]), default=(1, Fraction(0)))[0]
                few = [
                    self.registers(k, 2 * number - 2) for k in sorted({k for k, _ in weights[:MOST_POSITIONS]} | {best})
                ]
                keys = self.registers(best, 2 * number - 2)
                comparisons = tuple(_compare(c, keys, few, before) for c in head.components if _compares(c))
                reads = {
                    name: sum((w * _value(form, self.registers(k, 2 * number - 2)) for k, w in weights), Fraction(0))
                    for name, form in head.reads.items()
                    if is_plain(name)
                }
                attended.append(Attended(number, head.name, weights, comparisons, reads))
            states = dict.fromkeys(name for unit in plan.linear_units for name in unit.rows)
            state = {name: between[name] - before[name] for name in states if is_plain(name)}
            if states:
                kept.append(Kept(number, {name: v for name, v in state.items() if v and not name.endswith("-0")}))
            changed = {name: v for name, v in after.items() if v != between[name] and is_plain(name)}
            fired = [gadget.name for gadget in plan.gadgets if _fires(gadget, between)]
            wrote.append(Wrote(number, changed, tuple(fired)))
        last = self.before_output(position)
        produced = self.wired.vocabulary[step.next_token]
        following = self.tokens[position] if position < len(self.tokens) else produced
        response = "" if following == produced else following
        return TokenTrace(
            position, self.tokens[position - 1], produced, response, tuple(attended), tuple(kept), tuple(wrote), last
        )


def _fires(gadget: Gadget, values: Mapping[str, Fraction]) -> bool:
    """Whether its units together add anything; those of an indicator cancel where it is 0."""
    added: dict[str, Fraction] = {}
    for unit in gadget.units:
        product = max(_value(unit.gate, values), Fraction(0)) * _value(unit.up, values)
        for name, weight in unit.into.items():
            added[name] = added.get(name, Fraction(0)) + weight * product
    return any(added.values())


def is_plain(name: str) -> bool:
    """Whether a register means something to a person: squares only serve the scores."""
    return "_squared" not in name and name != "one"


def _compares(component: Component) -> bool:
    """Whether a component is a product of a key and a query register, and not a square, a constant or a default."""
    key = component.key.terms
    if not key or any(name in ("one", "first") or not is_plain(name) for name in key):
        return False
    query = component.query.terms
    return bool(query) and (next(iter(query.values())) > 0 or set(query) != {"one"})


def _compare(
    component: Component,
    keys: Mapping[str, Fraction],
    few: Sequence[Mapping[str, Fraction]],
    queries: Mapping[str, Fraction],
) -> Comparison:
    key, key_value = _unscaled(component.key, keys)
    query, query_value = _unscaled(component.query, queries)
    values = dict.fromkeys(_unscaled(component.key, row)[1] for row in few)
    return Comparison(key, key_value, query, query_value, tuple(values))


def _value(form: Affine, values: Mapping[str, Fraction]) -> Fraction:
    return sum((c * values[name] for name, c in form.terms.items()), form.constant)


def _unscaled(form: Affine, values: Mapping[str, Fraction]) -> tuple[str, Fraction]:
    """A form without its scale, `one` written as a number; and its value."""
    scale = next(iter(form.terms.values()))
    terms = {name: c / scale for name, c in form.terms.items()}
    one = terms.pop("one", Fraction(0))
    return str(Affine(terms, one)), _value(form, values) / scale


def show_value(value: Fraction, quantum: Fraction) -> str:
    """An integer as it is, a rounded unit fraction as ≈1/m, anything else with four digits."""
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
    """`name = 2`, or `name ≈ 1/3`."""
    text = show_value(value, quantum)
    return f"{name} ≈ {text[1:]}" if text.startswith("≈") else f"{name} = {text}"


def _bindings(name: str, values: Sequence[Fraction], quantum: Fraction) -> str:
    return " and ".join([show_binding(name, values[0], quantum), *(show_value(value, quantum) for value in values[1:])])


def show_because(head: Attended, quantum: Fraction) -> str:
    """Why a head attended where it did."""
    equal = [c for c in head.comparisons if not c.near]
    if equal and not any(c.query_value for c in equal):
        return "nothing asked: " + ", ".join(f"{c.query} = 0" for c in equal)
    if head.fell_back:  # what is near at position 1 says nothing
        return "none with " + ", ".join(f"{c.key} = {show_value(c.query_value, quantum)} = {c.query}" for c in equal)
    parts = [
        f"{_bindings(c.key, c.key_values, quantum)}, nearest to {show_binding(c.query, c.query_value, quantum)}"
        if c.near
        else f"{c.key} = {show_value(c.key_value, quantum)} = {c.query}"
        if c.key_value == c.query_value
        else f"{c.key} = {show_value(c.key_value, quantum)}, not {c.query} = {show_value(c.query_value, quantum)}"
        for c in head.comparisons
    ]
    return ", ".join(parts)


def show_attended(head: Attended, tokens: Sequence[str], quantum: Fraction) -> str:
    """Positions with their tokens; weights too if there is more than one."""
    shown = [f"{position} ({tokens[position - 1]})" for position, _ in head.weights]
    sizes = {weight for _, weight in head.weights}
    if len(sizes) > 1:
        shown = [f"{s} weight {show_value(w, quantum)}" for s, (_, w) in zip(shown, head.weights, strict=True)]
    if len(shown) > MOST_POSITIONS:
        shown = [*shown[: MOST_POSITIONS - 1], f"… {len(shown)} in all"]
    each = f"; weight {show_value(min(sizes), quantum)} each" if len(sizes) == 1 and len(shown) > 1 else ""
    return (", ".join(shown) + each) if shown else "nothing"


def show_values(values: Mapping[str, Fraction], quantum: Fraction) -> str:
    """`name = value` for each register; those copied from before only where they hold something."""
    kept = {name: v for name, v in values.items() if v or "@" not in name}
    return ", ".join(show_binding(name, value, quantum) for name, value in kept.items())


def print_trace(
    trace: Trace,
    console: Console,
    narrate: Callable[[Mapping[str, Fraction], str], str],
    about_block: Mapping[int, str],
    prompt_registers: Sequence[str],
) -> None:
    """The trace for a terminal: the prompt, a legend, then a table for each token of the chain of thought."""
    _print_prompt(trace, console, prompt_registers)
    console.print()
    if about_block:
        console.print(Text("Blocks", style="bold"))
    blocks = Table.grid(padding=(0, 2, 0, 0))
    for number, text in about_block.items():
        blocks.add_row("", str(number), Text(text))
    console.print(blocks)
    console.print(
        Text(
            "\nIn each step below, a head's line names the position it attends to (and the token there), why, and what it writes."
            "\nWhy: key register there = value = query register here. A line `feed-forward` names what the block computes then."
            "\nA line `recurrence` shows what is kept of earlier tokens and is not 0: `x-2` is register x of 2 tokens before.",
            style="dim",
        )
    )
    for index, position in enumerate(trace.chain, start=1):
        token = trace.at(position)
        console.print()
        title = Text.assemble(
            f"step {index}: ", "position ", f"{position}, token ", (token.token, "bold"),
            " → what is found: " if token.response else " → writes ", (token.response or token.produced, "bold green"),
        )  # fmt: skip
        console.print(Rule(title, align="left", style="dim"))
        if token.response:
            continue
        sentence = narrate(token.before_output, token.produced)
        if sentence:
            console.print(Text(sentence, style="italic"))
        print_table(console, _step_table(trace, token), LEAST_WIDTH)


def _print_prompt(trace: Trace, console: Console, names: Sequence[str]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title="Prompt", title_justify="left")
    table.title_style = "bold"
    table.add_column("position", justify="right", style="dim")
    table.add_column("token", style="bold")
    kept = [name for name in names if name in trace.wired.registers]
    for name in kept:
        table.add_column(name)
    for position in range(1, trace.prompt_length + 1):
        values = trace.before_output(position)
        shown = [show_value(values[name], trace.quantum) if values[name] else "" for name in kept]
        table.add_row(str(position), Text(trace.tokens[position - 1]), *shown)
    print_table(console, table)


def _step_table(trace: Trace, token: TokenTrace) -> Table:
    quantum = trace.quantum
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("block", justify="right", style="dim")
    table.add_column("part")
    table.add_column("attends to", overflow="fold")
    table.add_column("because", overflow="fold")
    table.add_column("writes", overflow="fold")
    last = len(token.wrote)
    for wrote in token.wrote:
        for head in token.attended:
            if head.block == wrote.block:
                where = show_attended(head, trace.tokens, quantum)
                because = Text(show_because(head, quantum), style="yellow" if head.fell_back else "")
                table.add_row(
                    str(head.block), Text(head.name, style="cyan"), Text(where), because,
                    Text(show_values(head.reads, quantum)),
                )  # fmt: skip
        for kept in token.kept:
            if kept.block == wrote.block and kept.values:
                table.add_row(
                    str(kept.block), Text("recurrence", style="cyan"), "", "", Text(show_values(kept.values, quantum))
                )
        ends = wrote.block == last
        values = f"the output: {token.produced}" if ends else show_values(wrote.values, quantum)
        fired = ", ".join(name for name in wrote.fired if not name.startswith("clear")) if ends else ""
        if wrote.values:
            table.add_row(str(wrote.block), Text("feed-forward", style="magenta"), "", Text(fired), Text(values))
    return table


def trace_document(trace: Trace, narrate: Callable[[Mapping[str, Fraction], str], str]) -> list[dict[str, object]]:
    """The same as JSON: one entry for each token of the chain of thought, exact numbers as strings."""
    entries = []
    for position in trace.chain:
        token = trace.at(position)
        heads: list[dict[str, object]] = [
            {
                "block": head.block,
                "head": head.name,
                "attends_to": [[k, str(weight)] for k, weight in head.weights],
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
                "heads": heads,
                "recurrences": [
                    {"block": k.block, "registers": {n: str(v) for n, v in k.values.items()}} for k in token.kept
                ],
                "feed_forward": writes,
            }
        )
    return entries

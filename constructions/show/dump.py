"""The weights by name: every register, head and feed-forward unit, with the constants and where they come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.text import Text

from constructions.exports.limits import float_formats
from constructions.exports.weights import head_width
from constructions.models.construction import Construction, Derived, Example
from constructions.models.model import Model
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from constructions.places import FEED_FORWARD, name_part, name_place
from constructions.show.forward import SCHEMA, forward_rule
from constructions.wiring.affine import Affine, Number, show_number
from constructions.wiring.reading import lookup_document, sentence
from constructions.wiring.wire import Gadget, Head, LinearUnit, Unit
from constructions.wiring.wired import Wired

SEARCH = (  # what `constructions.models.search` does, for those who have only the file
    f"RETRIEVE, definition A.5: when the model has just written {END_SEARCH}, the tokens between the last {START_SEARCH} "
    "and it, joined by single spaces, are a regular expression in the syntax of Python's `re`. It is searched for "
    f"(re.search) in the tokens before that {START_SEARCH}, joined in the same way. Group 1 of the first match, split at "
    f"its spaces, is appended to the sequence as the next tokens, or {FAILED} if nothing matches or the group takes no "
    "part in the match. Then the model goes on."
)
MANY_NUMBERS = 3  # from so many on, consecutive numbers share their lines
MAX_COLUMN = 60  # a longer key or query form does not push the next column away


def print_dump(model: Model[Any, Any], wired: Wired, console: Console) -> None:
    """Prints the whole model for people; headings are bold on a terminal."""
    for line in dump_lines(model, wired):
        heading = line.startswith("#")
        text = Text(line.lstrip("# ") if heading else line, style="bold" if heading else "")
        console.print(text, soft_wrap=True)


def dump_lines(model: Model[Any, Any], wired: Wired) -> Iterator[str]:
    """Yields the dump line by line; a leading # marks a heading."""
    yield from _header(model, wired)
    yield ""
    yield "# constants"
    yield from _constants(_derive(model, wired), heads=any(plan.heads for plan in wired.blocks))
    yield ""
    yield "# registers: coordinate, name, first written by, meaning"
    yield from _registers(model.construction, wired)
    yield ""
    yield "# embedding"
    yield from _embedding(wired)
    for number, (plan, block) in enumerate(zip(wired.blocks, wired.model.blocks, strict=True), start=1):
        about = model.block_texts.get(number, "") if len(wired.blocks) == len(model.block_texts) else ""
        units = len(block.feed_forward.gate)
        yield ""
        yield f"# {name_place(number)}" + (f": {about}" if about else "")
        if not plan.heads and not plan.linear_units:
            yield "  attention: none"
        for i, unit in enumerate(plan.linear_units, start=1):
            yield from _linear_unit(i, unit)
        for i, head in enumerate(plan.heads, start=1):
            yield from _head(i, head, wired.model.longest)
        yield f"  {FEED_FORWARD}: {_count(units, 'unit')}"
        first = 1
        for i, gadget in enumerate(plan.gadgets, start=1):
            yield from _gadget(i, gadget, first)
            first += len(gadget.units)
    yield ""
    yield "# output"
    yield "  logit of a token = its embedding row · the registers after the last block; the largest logit is the next token"


def _header(model: Model[Any, Any], wired: Wired) -> Iterator[str]:
    weights, fmt = wired.model, wired.arithmetic.format
    printed = f", {', '.join(wired.printed)} as printed" if wired.printed and wired.variant != "printed" else ""
    heads = [len(block.heads) for block in weights.blocks]
    units = [len(block.feed_forward.gate) for block in weights.blocks]
    bits = fmt.significand_bits + 1
    yield f"# {wired.construction}: {wired.source}"
    yield f"  {model.construction.statement}"
    if len(weights.blocks) != len(model.block_texts):
        yield f"  That is the repaired model. This one, as printed, has {len(weights.blocks)} blocks."
    yield f"  variant       {wired.variant}{printed}"
    yield f"  n             {wired.n}"
    yield f"  numbers       {fmt.name}: p = {bits} bits, q = {-fmt.quantum_exponent} of them after the point"
    yield f"  rounding      {wired.arithmetic.rounding.value}, {wired.arithmetic.discipline.value}"
    if wired.arithmetic.discipline.value == "fused":
        yield f"  least p       {model.least_precision(wired.n)} for this n, {_sound(wired)}; {model.construction.precision}"
    yield f"  blocks        {len(weights.blocks)}"
    yield f"  heads         {sum(heads)}, at most {max(heads)} in a block; padded to width {head_width(weights)} in files"
    yield f"  width         {weights.width} registers; at most {max(units)} feed-forward units in a block, {sum(units)} in all"
    yield f"  parameters    {weights.parameters} entries in the blocks' matrices; the embeddings are fixed"
    yield f"  vocabulary    {len(wired.vocabulary)} tokens"
    if weights.longest is not None:
        yield f"  sequences     of up to {weights.longest} tokens: the constants are derived for these"


def _sound(wired: Wired) -> str:
    """Returns the variant that the least precision is that of."""
    return "repaired" if wired.variant == "printed" else wired.variant


def _derive(model: Model[Any, Any], wired: Wired) -> Sequence[Derived]:
    setting = model.setting(wired.n, wired.arithmetic.format)
    return model.constants(setting, frozenset(wired.printed))


def show_power(value: Fraction) -> str:
    """Returns a power of two as 2^e; a number just below one as 2^e − 2^f."""
    for exponent in (value.numerator.bit_length() - value.denominator.bit_length() + d for d in (0, 1)):
        rest = Fraction(2) ** exponent - value
        if rest == 0:
            return f"2^{exponent}".replace("-", "−")
        if 0 < rest < value and rest.numerator == 1 and rest.denominator & (rest.denominator - 1) == 0:
            return f"2^{exponent} − 2^−{rest.denominator.bit_length() - 1}".replace("-", "−")
    return show_number(value)


def _constants(derived: Sequence[Derived], *, heads: bool) -> Iterator[str]:
    values = [show_power(item.value) for item in derived]
    width, symbols = max(map(len, values)), max(len(item.symbol) for item in derived)
    for item, value in zip(derived, values, strict=True):
        yield f"  {item.symbol:<{symbols}} = {value:<{width}}  {item.derivation}"
    if heads:
        yield "  A head splits such a factor into a key's and a query's share, S = 2^⌊s/2⌋·2^⌈s/2⌉ for S = 2^s."


def first_written(wired: Wired) -> dict[str, str]:
    """Maps each register to the name of the part that writes it first."""
    writer_of: dict[str, str] = {}
    for number, plan in enumerate(wired.blocks, start=1):
        for i, head in enumerate(plan.heads, start=1):
            for name in head.reads:
                writer_of.setdefault(name, name_place(number, name_part("head", i, head.name)))
        for i, linear_unit in enumerate(plan.linear_units, start=1):
            for name in linear_unit.rows:
                writer_of.setdefault(name, name_place(number, name_part("linear unit", i, linear_unit.name)))
        for gadget in plan.gadgets:
            for name in (*gadget.constants, *(name for unit in gadget.units for name in unit.into)):
                writer_of.setdefault(name, name_place(number, FEED_FORWARD))
    embedded = {wired.registers[i] for i in range(wired.model.width) if wired.model.words[:, i].any()}
    embedded |= {wired.registers[i] for i in range(wired.model.width) if wired.model.position[i]}
    return {name: "embedding" if name in embedded else writer_of.get(name, "") for name in wired.registers}


def _registers(construction: Construction, wired: Wired) -> Iterator[str]:
    writers = first_written(wired)
    names, places = max(map(len, wired.registers)), max(map(len, writers.values()))
    for index, name in enumerate(wired.registers):
        yield f"  {index:>3}  {name:<{names}}  {writers[name]:<{places}}  {construction.meaning(name)}".rstrip()


def _embedding(wired: Wired) -> Iterator[str]:
    words = wired.model.words
    slope = [wired.registers[i] for i in range(wired.model.width) if wired.model.position[i]]
    first = 0
    while first < len(wired.vocabulary):
        last = _end_of_numbers(wired, first)
        if last - first >= MANY_NUMBERS:
            yield from _numbers(wired, first, last)
        else:
            last = first + 1
            terms = {
                name: Fraction(float(words[first, i])) for i, name in enumerate(wired.registers) if words[first, i]
            }
            added = ", ".join(f"{k} += {show_number(v)}" for k, v in terms.items())
            yield f"  {wired.vocabulary[first]}: {added or 'nothing'}"
        first = last
    yield f"  at position l: {', '.join(slope)} += l"


def _number(word: str) -> int | None:
    """Returns the number that a token spells, if it spells one."""
    numbers = re.findall(r"-?[0-9]+", word)
    return int(numbers[0]) if len(numbers) == 1 else None


def _spell(word: str, number: int) -> str:
    return word.replace(str(number), "v")


def _end_of_numbers(wired: Wired, first: int) -> int:
    """Returns the end of the longest run of tokens from `first` that spell consecutive numbers in the same way."""
    number = _number(wired.vocabulary[first])
    if number is None:
        return first + 1
    text = _spell(wired.vocabulary[first], number)
    last = first + 1
    while last < len(wired.vocabulary) and wired.vocabulary[last] == text.replace("v", str(number + last - first)):
        last += 1
    return last


def _numbers(wired: Wired, first: int, last: int) -> Iterator[str]:
    """Yields one line for each register that these numbers fill."""
    low = _number(wired.vocabulary[first]) or 0
    high = low + last - first - 1
    rows = wired.model.words[first:last]
    text = _spell(wired.vocabulary[first], low)
    noun = ("vertex v" if "vertex" in wired.registers else "number v") if text == "v" else text
    powers: Mapping[str, Callable[[int], int]] = {"1": lambda v: 1, "v": lambda v: v, "v²": lambda v: v * v}
    for i, name in enumerate(wired.registers):
        if rows[:, i].any():
            values = rows[:, i].tolist()
            fits = (t for t, power in powers.items() if values == [power(v) for v in range(low, high + 1)])
            yield f"  {noun}, for v = {low} … {high}: {name} += {next(fits, '…')}".replace("= -", "= −")


def _title(kind: str, number: int, of: Head | LinearUnit | Gadget) -> str:
    """Returns what a part is called, and its source."""
    return ", ".join(filter(None, [name_part(kind, number, of.name), of.source]))


def _head(number: int, head: Head, longest: int | None) -> Iterator[str]:
    yield f"  {_title('head', number, head)}: score width {len(head.components)}, value width {len(head.reads)}"
    if head.lookup is not None:
        yield f"    {sentence(head, longest)}"
    rows = [(str(c.key), str(c.query)) for c in head.components]
    key = min(MAX_COLUMN, max((len(row[0]) for row in rows), default=0))
    for keys, queries in rows:
        yield f"    score  key  {keys:<{key}}  query  {queries}"
    for name, form in head.reads.items():
        yield f"    reads  {name} += {form}"


def _linear_unit(number: int, unit: LinearUnit) -> Iterator[str]:
    yield f"  {_title('linear unit', number, unit)}: {_count(len(unit.rows), 'state')}"
    for name, (carry, feed) in unit.rows.items():
        yield f"    state  {name} += h, h = [{carry}] of the states before + [{feed}] of the registers now"


def _gadget(number: int, gadget: Gadget, first: int) -> Iterator[str]:
    yield f"    {_title('gadget', number, gadget)}"
    for name, value in gadget.constants.items():
        yield f"      bias     {name} += {show_number(value)}"
    for index, unit in enumerate(gadget.units, start=first):
        yield f"      {name_part('unit', index):<8} {_formula(unit)}"


def _formula(unit: Unit) -> str:
    return "; ".join(f"{name} += {_product(weight, unit)}" for name, weight in unit.into.items())


def _product(weight: Number, unit: Unit) -> str:
    gate = "" if unit.gate == Affine({}, Fraction(1)) else f"ReLU({unit.gate})"
    one = unit.up == Affine({}, Fraction(1))
    up = "" if one else f"({unit.up})" if len(unit.up.terms) + bool(unit.up.constant) > 1 else str(unit.up)
    factors = [f for f in (gate, up) if f]
    if weight == 1 and factors:
        return "·".join(factors)
    if weight == -1 and factors:
        return "−" + "·".join(f"({f})" if f.startswith("−") else f for f in factors)
    return "·".join([show_number(weight), *factors])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def dump_document(
    model: Model[Any, Any], wired: Wired, examples: Sequence[Example], extra: Mapping[str, object]
) -> dict[str, object]:
    """Returns the sidecar of an exported model: one JSON document, exact numbers as strings.

    forward: how the tensors are used. float_formats: which of them compute it
    rightly without its rounding. search: what responds to the model. longest_sequence: how many tokens it is certified for.
    """
    about, fmt, words = model.construction, wired.arithmetic.format, wired.vocabulary
    return {
        "schema": SCHEMA,
        "construction": wired.construction,
        "source": wired.source,
        "variant": wired.variant,
        "printed": list(wired.printed),
        "n": wired.n,
        "p": fmt.significand_bits + 1,
        "discipline": wired.arithmetic.discipline.value,
        "rounding": wired.arithmetic.rounding.value,
        "format": {"name": fmt.name, "quantum_exponent": fmt.quantum_exponent, "max_quanta": str(fmt.max_quanta)},
        "d": wired.model.width,
        "head_width": head_width(wired.model),
        "longest_sequence": wired.model.longest,
        **extra,
        **({"search": SEARCH} if model.searches else {}),
        "forward": forward_rule(wired),
        "float_formats": float_formats(wired, about.model),
        "registers": {name: index for index, name in enumerate(wired.registers)},
        "meanings": {name: about.meaning(name) for name in wired.registers},
        "vocabulary": list(words),
        "constants": [
            {"symbol": item.symbol, "value": str(item.value), "derivation": item.derivation}
            for item in _derive(model, wired)
        ],
        "blocks": [
            {
                "heads": [_head_document(head, wired.model.longest) for head in plan.heads],
                "linear_units": [_linear_document(unit) for unit in plan.linear_units],
                "units": [
                    {"gadget": gadget.name, "source": gadget.source, "formula": _formula(unit)}
                    for gadget in plan.gadgets
                    for unit in gadget.units
                ],
            }
            for plan in wired.blocks
        ],
        "examples": [
            {
                "tokens": [words[token] for token in example.tokens],
                "token_ids": list(example.tokens),
                "expected_next": [None if token is None else words[token] for token in example.expected_next],
                "expected_next_ids": list(example.expected_next),
            }
            for example in examples
        ],
    }


def _linear_document(unit: LinearUnit) -> dict[str, object]:
    rows = {name: {"carry": str(carry), "feed": str(feed)} for name, (carry, feed) in unit.rows.items()}
    return {"name": unit.name, "source": unit.source, "states": rows}


def _head_document(head: Head, longest: int | None) -> dict[str, object]:
    return {
        "name": head.name,
        "source": head.source,
        "lookup": lookup_document(head, longest),
        "score": [{"key": str(c.key), "query": str(c.query)} for c in head.components],
        "reads": {name: str(form) for name, form in head.reads.items()},
    }

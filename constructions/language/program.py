"""A program with all that belongs to it: its texts, its oracle, its examples."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from constructions.language.functions import report_failures
from constructions.language.terms import Answer, Term
from constructions.language.texts import Piece, Texts, as_piece
from constructions.language.values import Output, Value, as_output

Architecture: TypeAlias = Literal["transformer", "rnn", "hybrid"]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)
Oracle: TypeAlias = Callable[[list[str]], str]
"""From the tokens of a prompt, without `<s>`, to the right answer."""
Draw: TypeAlias = Callable[[int, random.Random], str]
"""A prompt, drawn at random, of numbers up to that n."""
Says: TypeAlias = Output | Callable[[Any], Output | Value | str]
"""The output, or a function of n that gives it; n may be a symbol, so no more is asked of it than of a number in a formula."""


class NotCompiled(ValueError):
    """The architecture cannot do what the program asks for, or no rule of the compiler does it; the message is the reason."""


@dataclass(frozen=True, eq=False)
class Pin:
    """A choice that a paper makes, where the compiler would make its own.

    value: what a head reads or counts, or a comparison. block: where its head, or its units, stand, counted from 1; by default the
    first after all that it is made of. scale: of a head, a winner's lead G, a power of two; by default the least that makes all
    others vanish. What is read from one place is read by one head, so a pin of one such value is a pin of all.
    """

    value: Value
    block: int | None = None
    scale: int | None = None


@dataclass(frozen=True, eq=False)
class Program:
    """What a model says after a text.

    says: the output at each position where a word is due. texts: prompts, and what is said after them. oracle: the right answer.
    stop: the word that ends a chain of thought; "" where the answer is one word. answer: from the words that are said, but for the
    last one, to the words of the answer. wrong: what is the matter with a prompt, "" for nothing; weights are certified for all.
    statement: what it computes, in a sentence.
    source: whose construction it is. examples: prompts. draw: hard ones, where tokens drawn one by one hardly make any.
    names: what people call some of its terms. lines: in which line of its file each of these names, and as "" the program, is
    given. pins: fixed choices. precision: p, as a function of n; None for the least that
    the weights fit.
    """

    name: str
    says: Says
    texts: Texts
    oracle: Oracle
    architecture: Architecture = "transformer"
    stop: str = ""
    answer: Callable[[list[str]], list[str]] | None = None
    wrong: Callable[[list[str]], str] | None = None
    statement: str = ""
    source: str = ""
    examples: tuple[str, ...] = ()
    draw: Draw | None = None
    names: Mapping[Term, str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    precision: Callable[[Any], Any] | None = None

    def output(self, n: Any) -> Answer:
        """Returns what is said, for n."""
        if isinstance(self.says, Output):
            return self.says.answer
        with report_failures(f"says of {self.name or 'the program'} for n = {n}", ours_pass=True):
            return as_output(self.says(n)).answer

    @property
    def asks_n(self) -> bool:
        """True if a function gives the output, or p, of each n."""
        return self.precision is not None or not isinstance(self.says, Output)


def program(
    says: Output | Value | str | Callable[[Any], Output | Value | str],
    *,
    prompt: Sequence[Piece | str],
    oracle: Oracle,
    examples: Sequence[str],
    thought: Sequence[Piece | str] = (),
    stop: str = "",
    answer: Callable[[list[str]], list[str]] | None = None,
    wrong: Callable[[list[str]], str] | None = None,
    draw: Draw | None = None,
    architecture: Architecture = "transformer",
    statement: str = "",
    source: str = "",
    name: str = "",
    pins: Sequence[Pin] = (),
    precision: int | Callable[[Any], Any] | None = None,
) -> Program:
    """Returns a program. Raises ValueError for an architecture that there is not, for examples that are no prompts of it, and for a
    that is no power of two.

    says: a value, a word or `choose(…)`, or a function of n that gives one. prompt, thought: pieces of texts; a word stands for
    itself. stop: the word that ends a chain of thought; without one, one word is said. answer: which of the words that are said
    before it are the answer, by default all. wrong: says what is the matter with a prompt that the oracle is not for.
    draw: `draw(n, rng)` gives a prompt for n as text, drawn by rng. Half of the prompts that are drawn are then such ones; of the
    others, and without it, each token is drawn by itself. pins: fixed choices of a wiring. precision: p, or a function of n that
    gives it; by default the least p that the weights fit.
    """
    for what, text in (("name", name), ("statement", statement), ("source", source)):
        if not isinstance(text, str) or (text and not text.isprintable()):
            raise ValueError(f"the {what} of a program is text in one line, not {text!r}")
    if bool(thought) != bool(stop):
        raise ValueError("a chain of thought has pieces (thought) and a word that ends it (stop)")
    for pin in pins:
        if pin.scale is not None and (pin.scale < 1 or pin.scale & (pin.scale - 1)):
            raise ValueError(f"a scale is a power of two, not {pin.scale}")
    if not prompt:
        raise ValueError("a prompt has at least one piece")
    if isinstance(prompt, str) or isinstance(thought, str):
        raise ValueError("prompt and thought are lists of pieces, not a text")
    examples = () if isinstance(examples, str) else tuple(examples)
    if not all(isinstance(example, str) for example in examples):
        raise ValueError("examples are a list of prompts, each a text")
    if not examples:
        raise ValueError("give at least one example of a prompt")
    if isinstance(precision, bool) or not (precision is None or isinstance(precision, int) or callable(precision)):
        raise ValueError(f"precision is a whole number of bits, or a function of n, not {precision!r}")
    for what, function in (("oracle", oracle), ("answer", answer), ("wrong", wrong), ("draw", draw)):
        if not callable(function) and (function is not None or what == "oracle"):
            raise ValueError(f"{what} is a function, not {function!r}")
    texts = Texts(tuple(map(as_piece, prompt)), tuple(map(as_piece, thought)))
    for example in examples:
        try:
            texts.read(texts.complete(example.split()))
        except ValueError as error:
            raise ValueError(f"the example {example!r}: {error}") from error
    output = says if callable(says) else as_output(says)
    p = precision if callable(precision) or precision is None else lambda n: precision
    written = Program(
        name,
        output,
        texts,
        oracle,
        stop=stop,
        answer=answer,
        wrong=wrong,
        statement=statement,
        source=source,
        examples=examples,
        draw=draw,
        pins=tuple(pins),
        precision=p,
    )
    return in_architecture(written, architecture)


def in_architecture(written: Program, architecture: str) -> Program:
    """Returns the same program for another architecture. Raises ValueError for one that there is not."""
    for known in ARCHITECTURES:
        if architecture == known:
            return replace(written, architecture=known)
    raise ValueError(f"there is no architecture {architecture!r}; there are {', '.join(ARCHITECTURES)}")

"""A program with all that belongs to it: its texts, its oracle, its examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from constructions.language.terms import Term
from constructions.language.texts import Piece, Texts, as_piece
from constructions.language.values import Output, Value, as_output

Architecture: TypeAlias = Literal["transformer", "rnn", "hybrid"]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)
Oracle: TypeAlias = Callable[[Sequence[str]], str]


class NotCompiled(ValueError):
    """The architecture cannot do what the program asks for, or no rule of the compiler does it; the message is the reason."""


@dataclass(frozen=True, eq=False)
class Program:
    """What a model says behind a text.

    says: the output at each position where a word is due. texts: prompts, and what is said behind them. oracle: from the tokens of
    a prompt, without `<s>`, the right answer: the word that is said, or all words of the chain of thought, with spaces between.
    stop: the word that ends a chain of thought; "" where the answer is one word. answer: all that is said, or its last word alone.
    statement: what it computes, in a sentence.
    source: whose construction it is. examples: prompts. names: what people call some of its terms.
    """

    name: str
    says: Output
    texts: Texts
    oracle: Oracle
    architecture: Architecture = "transformer"
    stop: str = ""
    answer: Literal["all", "last"] = "all"
    statement: str = ""
    source: str = ""
    examples: tuple[str, ...] = ()
    names: Mapping[Term, str] = field(default_factory=dict)


def program(
    says: Output | Value | str,
    *,
    prompt: Sequence[Piece | str],
    oracle: Oracle,
    examples: Sequence[str],
    thought: Sequence[Piece | str] = (),
    stop: str = "",
    answer: Literal["all", "last"] = "all",
    architecture: Architecture = "transformer",
    statement: str = "",
    source: str = "",
    name: str = "",
) -> Program:
    """A program. Raises ValueError for an architecture that there is not, and for examples that are no prompts of it.

    says: a value, a word or `choose(…)`. prompt, thought: pieces of texts; a word stands for itself. stop: the word that ends a
    chain of thought; without one, one word is said. answer: all that is said but for this word, or the last word before it.
    """
    if architecture not in ARCHITECTURES:
        raise ValueError(f"there is no architecture {architecture!r}; there are {', '.join(ARCHITECTURES)}")
    if bool(thought) != bool(stop):
        raise ValueError("a chain of thought has pieces (thought) and a word that ends it (stop)")
    if not prompt:
        raise ValueError("a prompt has at least one piece")
    if not examples:
        raise ValueError("give at least one example of a prompt")
    texts = Texts(tuple(map(as_piece, prompt)), tuple(map(as_piece, thought)))
    for example in examples:
        try:
            texts.read(example.split())
        except ValueError as error:
            raise ValueError(f"the example {example!r}: {error}") from error
    return Program(name, as_output(says), texts, oracle, architecture, stop, answer, statement, source, tuple(examples))

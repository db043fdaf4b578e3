"""Random programs, drawn as they are written in a file: Python expressions of values and selections."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from constructions.language import texts, values
from constructions.language.program import ARCHITECTURES, Architecture, Program
from constructions.language.texts import Texts, as_piece
from tests.language.compiled import every_text, written

NAMES = {**vars(values), **vars(texts), "Fraction": Fraction}
PROMPTS = {
    'some(words("a", "b"))': "a",
    'some(words("a", "b", "c"))': "a",
    "some(numbers())": "1",
    "some(numbers(0))": "0",
    'some(numbers()), "?"': "1 ?",
    'some(numbers()), "?", numbers()': "1 ? 1",
    'some(words("a", "b")), "?"': "a ?",
    'many(words("a", "b")), "?", numbers(0)': "? 0",
    '"a", some(numbers(0, 2)), optional("b"), some("c")': "a 1 c",
}
SMALL = st.integers(-1, 3).map(str)


@dataclass(frozen=True)
class Written:
    """says, prompt, thought: Python."""

    says: str
    prompt: str
    architecture: Architecture = "transformer"
    thought: str = ""

    @property
    def program(self) -> Program:
        prompt, thought = (eval(f"({text},)" if text else "()", NAMES) for text in (self.prompt, self.thought))
        example = PROMPTS.get(self.prompt) or next(
            " ".join(text) for text in every_text(Texts(tuple(map(as_piece, prompt))), 2)
        )
        return written(eval(self.says, NAMES), prompt, example, thought=thought, architecture=self.architecture)


@st.composite
def programs(draw: st.DrawFn, depth: int = 5) -> Written:
    """Up to so many operators deep."""
    prompt = draw(st.sampled_from(sorted(PROMPTS)))
    architecture = draw(st.sampled_from([*ARCHITECTURES, "transformer", "transformer"]))
    writer = _Writer(draw, prompt, architecture)
    says = writer.output(draw(st.integers(1, depth)))
    return Written(says, prompt, architecture)


@dataclass(frozen=True)
class _Writer:
    draw: st.DrawFn
    prompt: str
    architecture: Architecture

    def one_of(self, *items: str) -> str:
        return self.draw(st.sampled_from(items))

    @property
    def words(self) -> list[str]:
        return [text for text in ("a", "b", "c", "?") if f'"{text}"' in self.prompt]

    @property
    def has_numbers(self) -> bool:
        return "numbers" in self.prompt

    def output(self, depth: int) -> str:
        if depth > 1 and self.draw(st.booleans()):
            return f"choose({self.bit(depth - 1)}, {self.output(depth - 1)}, {self.said()})"
        return f'choose({self.bit(depth)}, {self.said()}, "no")'

    def said(self) -> str:
        ends_in_a_number = self.prompt.endswith(("numbers()", "numbers(0)", "numbers())", "numbers(0))"))
        counts = [f"{self.select(2)}.count()"] if self.has_numbers and self.architecture != "rnn" else []
        return self.one_of('"yes"', '"no"', *["number"] * ends_in_a_number, *counts)

    def bit(self, depth: int) -> str:
        """0 or 1 at each position."""
        words = [f'word("{text}")' for text in self.words]
        if depth <= 1:
            plain = [*words, *["is_number", "(number == 1)", "(number > 1)"] * self.has_numbers]
            return self.one_of(*plain, "(position == 2)", "(position > 2)")
        kinds = ["compare", "compare", "and", "or", "not", "word"]
        heads = ["counts", "counts", "count", "count", "at"] if self.architecture != "rnn" else []
        sums = ["sum", "sum"]
        match self.one_of(*kinds, *heads, *sums):
            case "compare":
                sign = self.one_of("==", "!=", "<", "<=", ">", ">=")
                return f"({self.number(depth - 1)} {sign} {self.one_of(self.number(depth - 1), self.draw(SMALL))})"
            case "and":
                return f"({self.bit(depth - 1)} & {self.bit(depth - 1)})"
            case "or":
                return f"({self.bit(depth - 1)} | {self.bit(depth - 1)})"
            case "not":
                return f"(~{self.bit(depth - 1)})"
            case "counts":
                sign = self.one_of("==", "<", ">=")
                return f"({self.select(depth - 1)}.count() {sign} {self.select(depth - 1)}.count())"
            case "count":
                sign = self.one_of("==", "<", ">=")
                return (
                    f"({self.select(depth - 1)}.count() {sign} {self.one_of(self.draw(SMALL), self.number(depth - 2))})"
                )
            case "sum":
                sign = self.one_of("==", "<", ">=")
                return f"(running_sum({self.number(depth - 2)}) {sign} {self.draw(SMALL)})"
            case "at":
                return f"{self.bit(depth - 1)}.at({self.number(depth - 1)})"
        return f"{self.bit(depth - 1)}.back({self.one_of('1', '2')})"

    def select(self, depth: int) -> str:
        """Positions."""
        if self.draw(st.booleans()):
            return f"select({self.bit(depth - 1)})"
        selected = f"select({self.number(depth - 1)}, {self.number(depth - 1)})"
        return selected if depth < 3 or self.draw(st.booleans()) else f"({selected} & select({self.bit(depth - 1)}))"

    def number(self, depth: int) -> str:
        """An integer at each position."""
        if depth <= 1:
            return self.one_of(
                *["number", "number"] * self.has_numbers, "position", *(f'word("{t}")' for t in self.words)
            )
        heads = ["first", "last", "last", "nearest", "at"] if self.architecture != "rnn" else []
        sums = ["sum"] if self.architecture != "transformer" else []
        match self.one_of("plus", "times", "table", "back", "positive", "bit", "keep", *heads, *sums):
            case "plus":
                return f"({self.number(depth - 1)} {self.one_of('+', '-')} {self.one_of(self.number(depth - 1), self.draw(SMALL))})"
            case "times":
                return f"({self.number(depth - 1)} * {self.one_of('2', '3', '-1')})"
            case "table":
                return f"table({self.number(depth - 1)}, {{1: 2, 2: {self.draw(SMALL)}, 3: 1}})"
            case "back":
                return f"{self.number(depth - 1)}.back({self.one_of('1', '2')})"
            case "positive":
                return f"positive({self.number(depth - 1)})"
            case "bit":
                return self.bit(depth - 1)
            case "keep":
                return f"({self.bit(depth - 1)} * {self.number(depth - 1)})"
            case "sum":
                every = self.one_of("", "", ", every=2", ", every=3")
                return f"{self.one_of('running', 'running', 'alternating')}_sum({self.number(depth - 1)}{every})"
            case "at":
                return f"{self.number(depth - 1)}.at({self.number(depth - 1)})"
            case "nearest":
                return f"{self.select(depth - 1)}.nearest({self.number(depth - 1)}, {self.number(depth - 1)})"
            case which:
                return f"{self.select(depth - 1)}.{which}({self.number(depth - 1)})"

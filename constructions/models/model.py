"""A model of a construction: how it is wired for n, how it is asked and judged, and what people are told of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from constructions.models.building import chosen_of, format_of, wired_of
from constructions.models.construction import Construction, Derived
from constructions.models.request import Request, Run
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.wiring.numbered import Family
from constructions.wiring.part import Setting
from constructions.wiring.wire import BlockPlan, Embedding
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, Format

Ids = frozenset[str]
NOTHING: Ids = frozenset()
MOST_NUMBERS = 1 << 22  # of a vocabulary: each has a row of weights
Planned = tuple[Embedding, tuple[BlockPlan, ...]]
Input = TypeVar("Input")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class RunAnswer:
    """What a run said. more: what only this construction says of its runs, as in its JSON."""

    chain_of_thought: Sequence[str]
    answer: str | None
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class PromptDomain:
    """The prompts that a model is for, as a sentence and as data.

    prompt: a regular expression in the syntax of Python's `re`. It fits the whole of a prompt, its words joined by single spaces;
    each word stands in the vocabulary. lengths: the fewest and the most tokens of a prompt.
    """

    sentence: str
    prompt: str
    lengths: tuple[int, int]


class Model(ABC, Generic[Input, Answer]):
    """A value with all that the wiring fixes besides n, such as a token layout, the length of queries, or a machine.

    The registry finds those of the `DOOR` of each module of this package. The weights are written once: all
    that `build` asks for them takes an integer n, or a symbol that stands for many, but for `require`.
    printed: ids of the findings that are put back to print.
    """

    searches: ClassVar[bool] = False
    """Whether it writes searches and reads their results."""

    # What people are told

    @property
    @abstractmethod
    def construction(self) -> Construction:
        """Its name, source, statement and findings."""

    @property
    def names(self) -> tuple[str, str]:
        """Returns the names of the construction, and of this model of it."""
        return self.construction.name, self.construction.model

    @property
    @abstractmethod
    def block_texts(self) -> Mapping[int, str]:
        """Returns what each block does, by its number, with nothing as printed."""

    @abstractmethod
    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        """Returns the constants of the weights."""

    def in_variant(self, variant: str) -> Model[Input, Answer]:
        """Returns this model as wired in a variant. Raises ValueError if it has no such variant."""
        about = self.construction
        if variant not in about.variants:
            raise ValueError(
                f"{about.name}, {about.model}, has no variant {variant}; it has {', '.join(about.variants)}"
            )
        return self

    def with_options(self, options: Any, discipline: Discipline = Discipline.FUSED) -> Model[Input, Answer]:
        """Returns this model as a task's options want it, for numbers that are rounded so. Raises ValueError."""
        return self

    # Weights

    @abstractmethod
    def length(self, n: int) -> int:
        """Returns the most tokens of a sequence that the constants are derived for."""

    @abstractmethod
    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        """Returns the least p of R_p for which the derivation of the repaired weights holds; with printed score factors, theirs."""

    @abstractmethod
    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        """Returns the embedding and the blocks, not yet matrices. listed: how many numbers the embedding lists, by default all."""

    def families(self, n: int, printed: Ids = NOTHING) -> tuple[Family, ...]:
        """Returns the numbers of the vocabulary, which are its first words: by default one family without a name."""
        return (Family("", 1, n),)

    def setting(self, n: int, fmt: Format) -> Setting:
        """Returns what the constants are derived from."""
        return Setting(n, self.length(n), fmt)

    def longest(self, n: int, printed: Ids) -> int | None:
        """Returns the most tokens that an engine takes; None for any number."""
        return self.length(n)

    def require(self, n: int) -> None:
        """Raises ValueError for an n that the model cannot be wired for."""
        if n < 1:
            raise ValueError(f"numbers start at 1, so n is at least 1, not {n}")

    def what(self, n: int, discipline: Discipline) -> str:
        """Returns what p is too small for, in a message."""
        return f"n = {n} ({discipline.value})"

    def format(
        self,
        n: int,
        precision_bits: int | None,
        discipline: Discipline,
        printed: Ids = NOTHING,
        *,
        forced: bool = False,
    ) -> Format:
        """Returns R_p at the least p, or at `precision_bits`. Raises ValueError if p is even, or too small and not `forced`."""
        least = self.least_precision(n, discipline, printed)
        bits = least if precision_bits is None else precision_bits
        return format_of(0 if forced or SCORE_RANGE.id in printed else least, bits, self.what(n, discipline))

    def put_back(self, printed: Iterable[str]) -> Ids:
        """Returns the ids of the findings to build as printed. Raises ValueError for an unknown one."""
        return chosen_of(self.construction.findings, printed)

    def build(
        self,
        n: int,
        precision_bits: int | None = None,
        *,
        printed: Iterable[str] = (),
        discipline: Discipline = Discipline.FUSED,
        listed: int | None = None,
        forced: bool = False,
    ) -> Wired:
        """Returns the wired model for n.

        printed: ids of findings to put back to print; all of them give the variant `printed`.
        precision_bits: by default `least_precision`. Printed score factors have as many as they need, unless others are asked for.
        listed: how many numbers the embedding lists, by default all; where a table of all would be too large.
        forced: take fewer bits than the least, and round what does not fit.
        Raises ValueError for an n or a finding that there is not, and for p even or too small; the message names the least p.
        """
        finding_ids = self.put_back(printed)
        self.require(n)
        words = sum(family.high - family.low + 1 for family in self.families(n, finding_ids)) if listed is None else 0
        if words > MOST_NUMBERS:
            raise ValueError(
                f"a vocabulary of 2^{words.bit_length() - 1} numbers or more is above {MOST_NUMBERS:,}, the most wired here"
            )
        fmt = self.format(n, precision_bits, discipline, finding_ids, forced=forced)
        embedding, blocks = self.plan(n, fmt, finding_ids, listed)
        about = self.construction
        return wired_of(
            about.name,
            about.source,
            about.findings,
            finding_ids,
            n,
            embedding,
            blocks,
            Arithmetic(fmt, discipline),
            self.longest(n, finding_ids),
            variant=about.variants[0],
            exact=not (finding_ids or forced),
        )

    # Runs

    @abstractmethod
    def request(self, wired: Wired, given: Input) -> Request:
        """Asks a model that this one built. Raises ValueError for an input that it is not wired for."""

    @abstractmethod
    def read(self, run: Run) -> Answer:
        """Returns what the words of a run say, and nothing else."""

    @abstractmethod
    def judge(self, given: Input, run: Run, answer: Answer) -> str:
        """Returns a sentence on what is wrong with a run's answer; "" if it is right."""

    # Callers

    size: ClassVar[str] = "n"
    """What callers call the n that it is wired for."""

    @abstractmethod
    def read_input(self, given: object, n: int | None) -> Input:
        """Returns the input that a caller means: a text as of the command, or None for the usual one. Raises ValueError."""

    @abstractmethod
    def fitting(self, given: Input) -> tuple[Model[Input, Answer], int]:
        """Returns the model for inputs like this one, and the least n for it. Raises ValueError."""

    @abstractmethod
    def examples(self, wired: Wired, given: Input | None = None) -> Iterator[Request]:
        """Yields requests to show beside the weights as examples. given: an input that the user asked about, or None."""

    @abstractmethod
    def run_answer(self, run: Run, answer: Answer) -> RunAnswer:
        """Returns the answer of a run and the words before it, as documents have them."""

    @abstractmethod
    def particulars(self) -> Mapping[str, object]:
        """Returns what tells it from other models of this construction."""

    @abstractmethod
    def domain(self, wired: Wired) -> PromptDomain:
        """Returns the prompts that these weights are for."""

    def most_produced(self, wired: Wired) -> int | None:
        """Returns the most tokens after a prompt, of all inputs; None where those of the examples tell it."""
        return None

    def described(self, wired: Wired) -> dict[str, object]:
        """Returns what a sidecar says of this model alone: `particulars`, and the domain of these weights."""
        domain = self.domain(wired)
        as_printed = " With what is as printed, an answer may be wrong." if wired.printed else ""
        return {
            **self.particulars(),
            "domain": {
                "sentence": domain.sentence + as_printed,
                "size": {self.size: wired.n},
                "prompt": domain.prompt,
                "prompt_tokens": list(domain.lengths),
            },
        }

"""What verification asks of a model, and a subject: a model together with the inputs that are meant.

A dossier is a frozen dataclass whose fields, the model's own options, have a hash. Its methods take the subject, which has n, the
length of inputs, the precision, the discipline and what is as printed. n is an integer; or a symbol for every n of an interval
(verify/algebra/interval.py); or a number that grows, for every n above some size (verify/algebra/walks.py).

A model needs `texts` and `answer`, and a `solver`, or else `least_precision`, `plan` and `wired`. Whatever else is here has a
default. Nothing registers a dossier: `Subject(MyDossier("my own"), n=8)` is all that certificates, explanations and theorems need.
A model whose texts and whose definition are a program gets its dossier from `verify.dossiers.written.by_hand` (docs/by-hand.md).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Protocol, Self

from constructions.language.terms import Answer, Term
from constructions.models.model import Model
from constructions.models.options import ModelOptions
from constructions.models.search import END_SEARCH
from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Family
from constructions.wiring.wire import BlockPlan, Embedding
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, Format, fixed_point
from verify.automata.token_automaton import Label, TokenAutomaton
from verify.rounding.model import ExactModel, planned

LEAST = 4  # the first n that the rules of the checker cover
FEW = 5  # numbers that are listed where only their rows' powers are asked for
LARGEST_N = 1 << 64  # up to which each n lies in an interval that is looked at
ENDLESS = -1
TRANSFORMER = "transformer"
About = Literal["rounding", "program"]
Json = dict[str, Any]


@dataclass(frozen=True)
class HardInput:
    """What is asked in words, as tokens, and the tokens that must follow, or the first of them."""

    text: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]

    @property
    def tokens(self) -> tuple[int, ...]:
        """Returns what is fed in: if each argmax from the prompt's end on is the next token, decoding gives just the answer.

        Where one is another, decoding goes wrong there, whatever should follow.
        """
        return (*self.prompt, *self.answer[:-1])

    def first_other(self, argmax: Sequence[int]) -> int | None:
        """Returns the first place of the answer where another token comes, or None. argmax: at each of `tokens`."""
        said = argmax[len(self.prompt) - 1 :]
        return next((i for i, (one, other) in enumerate(zip(self.answer, said, strict=True)) if one != other), None)


def pieces(wired: Wired, text: str, prompt: Sequence[int], answer: Iterable[int]) -> Iterator[HardInput]:
    """Yields what stands before, and what the model itself has to write after it: a search's result is not its own."""
    tokens, start, end = (*map(int, prompt), *map(int, answer)), len(prompt), wired.token.get(END_SEARCH)
    places = [i for i in range(start, len(tokens)) if tokens[i] == end]
    for first, last in zip([start, *(i + 2 for i in places)], [*(i + 1 for i in places), len(tokens)], strict=True):
        yield HardInput(text, tokens[:first], tokens[first:last])


@dataclass(frozen=True)
class DefinitionTrial:
    """How many prompts a program was asked, beside an oracle of its own; and where they differ, in words, "" if nowhere.

    largest_n: of a prompt. longest: the most tokens of one. left_out: prompts that the program's file says are none.
    """

    prompts: int
    difference: str
    largest_n: int
    longest: int = 0
    left_out: int = 0


class Lemmas(Protocol):
    """A theory: lemmas for a solver (verify/induction/theory.py)."""

    @property
    def lemmas(self) -> Sequence[str]:
        """Their names."""

    def closure(self, lemmas: Iterable[str]) -> Sequence[str]:
        """Returns these lemmas, and those that they rest on."""

    def doubt(self, lemma: str) -> str:
        """Returns why a lemma is not seen to follow; "" if it follows."""


class Search(Protocol):
    """A search in texts of any length, beside its definition (verify/patterns/texts.py)."""

    def difference(self) -> object | None:
        """Returns a text in which another thing is found than is defined; None if there is none."""


@dataclass(frozen=True)
class Dossier(ModelOptions):
    """A model. construction, model: its names. A subclass has the model's options as further fields, each with a default."""

    construction: str
    model: str = TRANSFORMER

    least: ClassVar[int] = LEAST
    """The first n that the rules of the checker cover."""
    has_door: ClassVar[bool] = True
    """Whether users can ask the model itself; a head alone says nothing."""
    has_length: ClassVar[bool] = False
    """Whether inputs may be limited to a length of their own."""
    one_n: ClassVar[str] = ""
    """Why no symbol stands for n; "" if one does."""
    judged_by_runs: ClassVar[bool] = True
    """Whether hard inputs are run where the checker cannot tell; else it is the runs of `wrong_run`."""
    has_definition: ClassVar[bool] = True
    """Whether a definition is written."""
    defines_prints: ClassVar[bool] = True
    """Whether it is one with anything as printed, too."""
    is_stepwise: ClassVar[bool] = False
    """Whether each step of a run is defined, after any text of a run's form; else only the answer at a prompt's end is.

    Then program and definition are compared case by case. Without it, one rule must tell the word that is said.
    """
    named_sums: ClassVar[bool] = False
    """Whether sums that a block leaves are called after their register in the program."""
    inputs_are: ClassVar[str] = ""
    """Of which inputs a theorem speaks, as the end of a clause; "" for all of them."""
    every_input: ClassVar[str] = ""
    """What all inputs of one n are, with {n} in it; "" if they are not listed."""
    conclusion: ClassVar[str] = ""
    """What follows from the lemmas of `theory`, with the induction that is argued."""

    # What it is called, in documents and for people

    @property
    def findings(self) -> Sequence[Finding]:
        """Returns what can be put back to print."""
        return ()

    @property
    def variants(self) -> Sequence[str]:
        """Returns the names of all variants."""
        own = [name for name, one in self.items(self.model).items() if one.is_variant]
        return ("printed", "repaired", *own) if self.findings else ("repaired", *own)

    def variant(self, printed: Sequence[str]) -> str:
        """Returns the name of the variant with these findings as printed."""
        return self.own_variant or ("printed" if printed else "repaired")

    def read(self, document: Mapping[str, Any]) -> Self:
        """Returns the dossier with the options that a document says. Raises ValueError for fields that make no sense."""
        values, own = dict[str, Any](), self.items(self.model)
        for name, one in self.items().items():
            value = document["variant"] == name if one.is_variant else document.get(name, one.usual)
            if isinstance(one.usual, str) and not isinstance(value, str):
                raise ValueError(f"{name} is a text, not {str(value)[:40]!r}")
            if name not in own and value != one.usual:
                raise ValueError(f"{self.construction} as {self.model} has no {name} {str(value)[:40]!r}")
            if one.is_variant or not isinstance(one.usual, bool):
                values[name] = one.checked(value)
        changed = replace(self, **values)
        if changed.own_variant and document["printed"]:
            raise ValueError(f"the variant {changed.own_variant} has nothing as printed")
        return changed

    @property
    def stored(self) -> Iterable[tuple[Subject, About]]:
        """Returns the subjects with a stored document: of each n up to some size, or of every n from `first_above` on."""
        return ()

    @property
    def cases(self) -> Iterable[Subject]:
        """Returns the subjects of which certificates of every n from `first_above` on are stored, for the small checker."""
        return ()

    # Weights

    def families(self, subject: Subject) -> Sequence[Family]:
        """Returns the numbers of the vocabulary; empty if all tokens are words."""
        return [Family("", 1, subject.n)]

    @property
    def solver(self) -> Model[Any, Any]:
        """Returns what users build and ask, where there is one."""
        raise NotImplementedError

    def least_precision(self, subject: Subject) -> int:
        """Returns the least p for which the weights are derived, or that of the print."""
        return self.solver.least_precision(subject.n, subject.discipline, frozenset(subject.printed))

    def format(self, subject: Subject) -> Format:
        """Returns the numbers that it computes with."""
        return fixed_point(subject.precision_bits or self.least_precision(subject))

    def plan(self, subject: Subject, fmt: Format) -> tuple[Embedding, Sequence[BlockPlan]]:
        """Returns the embedding, which need not list more than a few numbers of each family, and the blocks."""
        return self.solver.plan(subject.n, fmt, frozenset(subject.printed), min(subject.n, FEW))

    def exact_model(self, subject: Subject) -> ExactModel:
        """Returns the exact layers of the plan. Raises ValueError for a subject that makes no sense."""
        arithmetic = Arithmetic(self.format(subject), subject.discipline)
        families, rounded = self.families(subject), bool(subject.printed)
        return planned(*self.plan(subject, arithmetic.format), arithmetic, families, rounded=rounded)

    def wired(self, subject: Subject, listed: int | None = None, *, forced: bool = False) -> Wired:
        """Returns the matrices that users get. listed: how many numbers of each family the embedding lists, by default all.

        forced: at fewer bits than the least; what does not fit is rounded. Raises ValueError where users get none.
        """
        how: dict[str, Any] = {"printed": subject.printed, "discipline": subject.discipline, "forced": forced}
        return self.solver.build(subject.n, subject.precision_bits, listed=listed, **how)

    # Texts

    def texts(self, subject: Subject) -> TokenAutomaton:
        """Returns the inputs, as a token automaton. Each begins with one certain word, such as `<s>`: an explanation needs it."""
        raise NotImplementedError

    def texts_between(self, subject: Subject, low: int, high: int) -> TokenAutomaton:
        """Returns the inputs for every n from low to high; by default those of `high`, if they contain those of all others."""
        return replace(self.texts(replace(subject, n=high)), sizes=(low, high))

    # The task

    def answer(self, subject: Subject) -> Answer | None:
        """Returns what should be said at the end of a prompt, as a program that a person wrote."""
        return None

    def definition(self, subject: Subject, label: Label) -> Answer | None:
        """Returns what should be said in this state of the texts' automaton; None if nothing is due there."""
        return self.answer(subject)

    def is_defined(self, subject: Subject) -> bool:
        """Returns whether a definition exists, also of what is as printed."""
        return self.has_definition and (self.defines_prints or not subject.printed)

    def compared_texts(self, subject: Subject, automaton: TokenAutomaton) -> TokenAutomaton:
        """Returns the inputs on which program and definition are compared."""
        return automaton

    @property
    def sentence(self) -> str:
        """Returns what is certified of a program, for people."""
        return "the program is the task"

    def invariant_terms(self, subject: Subject) -> tuple[Term, ...]:
        """Returns the terms of its texts' invariant, as defined: a record's key and order, or what leaves a queue."""
        raise NotImplementedError

    # Inputs and what is right

    def prompts(self, subject: Subject, rng: random.Random) -> Iterable[Sequence[str]]:
        """Yields hard inputs of one n, as words: the extreme ones, then drawn ones, perhaps without end."""
        return ()

    def small_prompts(self, subject: Subject) -> Iterable[Sequence[str]]:
        """Returns every input of a small n, or many short ones."""
        return ()

    def oracle(self, subject: Subject, prompt: Sequence[str]) -> Sequence[str]:
        """Returns the words that must follow, by plain Python that shares nothing with the weights."""
        raise NotImplementedError

    def hard_inputs(self, subject: Subject, wired: Wired, count: int, rng: random.Random) -> Iterable[HardInput]:
        """Yields hard inputs as tokens; some may be equal. count: how many different ones are wanted."""
        return (one for words in self.prompts(subject, rng) for one in self._ask(subject, wired, words))

    def extreme_inputs(self, subject: Subject, wired: Wired) -> Iterable[HardInput]:
        """Returns the hard inputs by which a precision is judged, named by their texts."""
        return [one for one, _ in zip(self.hard_inputs(subject, wired, 50, random.Random(0)), range(50), strict=False)]

    def every_text(self, subject: Subject, wired: Wired) -> Iterator[Sequence[HardInput]]:
        """Yields, for every input of a small n, the pieces that the model must write, each after all that stands before it."""
        return ([*self._ask(subject, wired, words)] for words in self.small_prompts(subject))

    def questions(self, subject: Subject) -> Iterable[tuple[Sequence[str], str]]:
        """Yields short prompts to ask a program, each with the one word that must follow."""
        return ((words, self.oracle(subject, words)[0]) for words in self.small_prompts(subject))

    @property
    def is_by_hand(self) -> bool:
        """Returns whether a function that somebody wrote builds blocks or definition of each n, and may build others at some n."""
        return False

    @property
    def scope(self) -> tuple[str, ...]:
        """Returns what its options limit the task to, each in words that a claim about it must say: a machine, the c of c-grams."""
        return ()

    def origin(self, subject: Subject, place: str, terms: Sequence[Term] = ()) -> str:
        """Returns the value in a file that stands at a place of the model, or that the first term is; "" without a file."""
        return ""

    def trial(self, subject: Subject) -> DefinitionTrial | None:
        """Returns the definition beside an oracle, on prompts of a few n; None where a claim of the ledger compares them."""
        return None

    def wrong_run(self, subject: Subject) -> str | None:
        """Returns a run of the ideal model that goes wrong, in words; None if none was seen."""
        return None

    def _ask(self, subject: Subject, wired: Wired, words: Sequence[str]) -> Iterator[HardInput]:
        return pieces(wired, " ".join(words), wired.tokens(words), wired.tokens(self.oracle(subject, words)))

    @property
    def least_hard(self) -> int | None:
        """The least n of which there are extreme inputs; None if there are none at all."""
        return self.least

    def asked_at(self, n: int) -> Dossier:
        """Returns the model that the extreme inputs of this n ask: it may have other options, such as a query's length."""
        return self

    # Searches, lemmas

    def searches(self, subject: Subject) -> Mapping[str, Search] | None:
        """Returns its searches by name, each with its definition: none if no terms define them; None for a model without any."""
        return None

    def left_open(self, subject: Subject) -> str:
        """Says of which texts the lemmas do not tell what is found, as the end of a sentence about all texts."""
        return ""

    def theory(self) -> Lemmas | None:
        """Returns the lemmas on its runs, for every n; None of a model that answers at once, or of which there are none."""
        return None

    @property
    def invariants(self) -> Mapping[str, Callable[[], tuple[Any, Sequence[str]]]]:
        """Returns what certificates assume of its runs: by which lemmas of which theory each holds, for every n."""
        return {}

    # Sizes

    bits_of_bits: ClassVar[int] = 7

    @property
    def first_above(self) -> int:
        """The first n of which all from there on are looked at in cases: its bit length has `bits_of_bits` bits, and is 1000…"""
        return 1 << (1 << self.bits_of_bits - 1) - 1

    def is_followed_above(self, discipline: Discipline, *, theorem: bool) -> bool:
        """Returns whether every n above is followed. theorem: its rounding and its program at once."""
        return True

    @property
    def own_sizes(self) -> OwnSizes | None:
        """Returns the sizes from which n follows; None if a subject's sizes are n."""
        return None


@dataclass(frozen=True)
class OwnSizes:
    """Sizes of a model's own, such as numbers of cells. unit: what they count, a field of documents.

    model_at: the model of one size, and its n. assumed: what the invariant of its texts says of every size.
    """

    unit: str
    model_at: Callable[[int], tuple[Dossier, int]]
    assumed: str


@dataclass(frozen=True)
class Subject:
    """Which model, and which inputs. last: if given, for every n from `n` to there; ENDLESS: for every n from `n` on.

    length: the most tokens of a sequence. precision_bits: by default the least. printed: ids of findings.
    n: steps, of a Turing machine. Of a dossier with sizes of its own, n to last count these, and float64 need not reach them.
    """

    dossier: Dossier
    n: int
    length: int | None = None
    precision_bits: int | None = None
    discipline: Discipline = Discipline.FUSED
    printed: tuple[str, ...] = field(default=())
    last: int = 0

    @property
    def construction(self) -> str:
        """Its name."""
        return self.dossier.construction

    @property
    def model(self) -> str:
        """Its model's name."""
        return self.dossier.model

    @property
    def unit(self) -> str:
        """Returns what sizes count."""
        return self.dossier.own_sizes.unit if self.dossier.own_sizes else "n"

    @property
    def counts_n(self) -> bool:
        """True if sizes are values of n; False if the dossier has sizes of its own."""
        return self.dossier.own_sizes is None

    def with_options(self, **options: Any) -> Subject:
        """Returns a subject of the same model with other options."""
        return replace(self, dossier=replace(self.dossier, **options))

    def as_case(self) -> Json:
        """Returns the subject as a claim's case is stored; `registry.of_case` reads it back."""
        own = {one.name: getattr(self.dossier, one.name) for one in fields(self.dossier)}
        names = {key: own.pop(key) for key in ("construction", "model")}
        numbers = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "dossier"}
        return {**names, **numbers, "options": own}


def name_of_model(model: str) -> str:
    """Returns a model's name where it is said for people: "" for the usual one."""
    return "" if model == TRANSFORMER else model

"""The retrieval tasks: index, associative recall, c-gram retrieval, counting; as Transformers, as hybrids, and with a search.

Definitions are programs that a person wrote: what each answer should be at the end of a prompt. They are compared with the tasks'
oracles on every small input, by the interpreter. Of a model that searches, what is defined is the search that it should write,
token by token, and that it says what was found; `searches` says what a search finds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from constructions import counting as counting_task
from constructions import index as index_task
from constructions import ngram, recall
from constructions.gallery.more_than import counting
from constructions.gallery.trigram import next_number
from constructions.language.terms import Answer, At, Back, NumberOf, Read, Say, SayNumber, as_term
from constructions.retrieval.rag import PLAIN, REPEAT, Script, Searcher, families
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import ASK, FAILED, NO, START, YES, Question
from constructions.wiring.numbered import Family
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.dossiers.dossier import ENDLESS, LEAST, TRANSFORMER, About, Dossier, Subject, whole_number
from verify.dossiers.solved import LONGEST, SolvedDossier, documents

if TYPE_CHECKING:
    from verify.patterns.texts import Comparison

MODULES = (index_task, recall, ngram, counting_task)
RETRIEVERS: Mapping[str, Retriever] = {module.TRANSFORMER.task.name: module.TRANSFORMER for module in MODULES}
MODELS: Mapping[tuple[str, str], Retriever] = {
    (retriever.task.name, retriever.model): retriever for module in MODULES for retriever in module.RETRIEVERS
}
TOKENS, LONGEST_QUESTION = 3, 3  # of the sequences of which a program is asked
SEARCH, RESULT = "search", "result"  # parts of a text after the prompt


@dataclass(frozen=True)
class Retrieval(SolvedDossier):
    """A model of a retrieval task. query_length: of its queries; by default that of the task."""

    query_length: int | None = None

    has_length = True
    every_input = "every sequence and query of n = {n}"

    # Definitions

    def define(self) -> Answer:
        """The answer at the end of a prompt."""
        return next_number(self.tokens_asked).answer

    @property
    def result(self) -> Answer:
        """What is said of a search's result, a number; the searches of `index` cannot fail."""
        return SayNumber(as_term(NumberOf(PLAIN)), PLAIN)

    @property
    def failure(self) -> Answer | None:
        """What is said where nothing was found."""
        return Say(FAILED)

    @property
    def other_result(self) -> Answer | None:
        """What is said where a word of the prompt was found that is no number."""
        return None

    def answer(self, subject: Subject) -> Answer | None:
        return self.define()

    def definition(self, subject: Subject, label: Label) -> Answer | None:
        if not isinstance(self.retriever, Searcher):
            return self.define()
        script = self.retriever.script(self.tokens_asked, frozenset())  # as repaired, whatever was wired
        if label.part == RESULT:
            return {"": self.result, FAILED: self.failure}.get(str(label.which), self.other_result)
        said = int(label.which) if label.part == SEARCH else 0
        if said >= len(script):
            return None  # the search is carried out
        item = script[said]
        if isinstance(item, str):
            return Say(item)
        steps, number = said + self.tokens_asked - 1 - item.which, as_term(NumberOf(PLAIN))
        quoted = as_term(Read(number, Back(steps))) if steps else number
        return SayNumber(quoted + item.plus, PLAIN if item.spelled == "%d" else REPEAT)

    def sentence(self, document: Mapping[str, Any]) -> str:
        if isinstance(self.retriever, Searcher):
            return "the program writes the search that is defined, and says what it finds"
        return "the program is the task"

    # Options and documents

    @property
    def retriever(self) -> Retriever:
        """The builder, for queries of the task's usual length."""
        return MODELS[self.construction, self.model]

    @property
    def tokens_asked(self) -> int:
        """How long queries are."""
        return self.query_length or self.retriever.query_length

    @property
    def scope(self) -> tuple[str, ...]:
        return (f"c = {self.tokens_asked + 1}",) if self.construction == "ngram" else ()

    @property
    def fields(self) -> Mapping[str, Any]:
        return {"query_length": self.query_length}

    def read(self, document: Mapping[str, Any]) -> Dossier:
        return replace(self, query_length=whole_number(document, "query_length"))

    @property
    def stored(self) -> Iterable[tuple[Subject, About]]:
        return documents(self)

    # Weights

    @property
    def solver(self) -> Retriever:
        return replace(self.retriever, query_length=self.tokens_asked)

    def script(self, subject: Subject) -> Script:
        """What is searched for; nothing if the model does not search."""
        retriever = self.retriever
        return (
            retriever.script(self.tokens_asked, frozenset(subject.printed)) if isinstance(retriever, Searcher) else ()
        )

    # Texts

    def texts(self, subject: Subject) -> TokenAutomaton:
        prompts = self.prompts_of(subject.n, subject.length or subject.n)
        retriever = self.retriever
        if not isinstance(retriever, Searcher):
            return prompts
        script = self.script(subject)
        return searching(prompts, script, families(retriever.task, subject.n, script))

    def prompts_of(self, n: int, length: int) -> TokenAutomaton:
        """`<s> s_1 … s_m ? query`, m ≤ length, numbers up to n."""
        states = _sequence(n, length)
        for i in range(1, self.tokens_asked + 1):
            label = Label("query", i if self.tokens_asked > 1 else "")
            states.append(State(label, 2 + i, length + 2 + i, (i + 1,), numbers=(1, n)))
        return TokenAutomaton(tuple(states), frozenset([states[-1].label]), (n, n))

    # Inputs

    def candidates(self, subject: Subject, rng: random.Random, count: int) -> Iterator[Question]:
        yield from (question for _, question in self.extreme(subject) if len(question.query) == self.tokens_asked)
        for _ in range(count):
            question = self._drawn(subject.n, rng)
            if not self.retriever.task.wrong(question):
                yield question

    def extreme(self, subject: Subject) -> Iterator[tuple[str, Question]]:
        from verify.inputs.hard_questions import hard_questions

        name = self.construction
        for hard in hard_questions(name, subject.n):
            yield hard.name, Question(*hard.prompt(name))

    def reads(self, given: Question) -> bool:
        return len(given.query) == self.tokens_asked

    def _drawn(self, n: int, rng: random.Random) -> Question:
        tokens = rng.choices((rng.randint(1, n), rng.randint(1, n), 1, n), k=rng.randint(2, 4))
        sequence = tuple(rng.choices(tokens, k=rng.randint(1, min(n, LONGEST))))
        return Question(sequence, self.drawn_query(n, sequence, tokens, rng))

    def drawn_query(
        self, n: int, sequence: Sequence[int], tokens: Sequence[int], rng: random.Random
    ) -> tuple[int, ...]:
        """One that fits a sequence of these tokens, or nearly so."""
        length, place = self.tokens_asked, rng.randrange(len(sequence))
        part = tuple(sequence[place : place + length])
        return part if len(part) == length and rng.random() < 0.7 else tuple(rng.choices(tokens, k=length))

    def every(self, subject: Subject) -> Iterator[Question]:
        task, numbers = self.retriever.task, range(1, subject.n + 1)
        last = range(subject.n + 1) if task.zero else numbers
        for length in range((subject.length or subject.n) + 1):
            for sequence in itertools.product(numbers, repeat=length):
                for query in itertools.product(*itertools.repeat(numbers, self.tokens_asked - 1), last):
                    question = Question(sequence, query)
                    if not task.wrong(question):
                        yield question

    def tried(self, subject: Subject) -> Iterator[Question]:
        """Every one with few different tokens, the shortest sequence first."""
        task, numbers = self.retriever.task, range(1, min(TOKENS, subject.n) + 1)
        for length in range(min(LONGEST_QUESTION, subject.length or subject.n) + 1):
            for sequence in itertools.product(numbers, repeat=length):
                for query in itertools.product(range(0 if task.zero else 1, numbers.stop), repeat=self.tokens_asked):
                    question = Question(sequence, query)
                    if all(query[: len(query) - 1 if task.zero else None]) and not task.wrong(question):
                        yield question

    def questions(self, subject: Subject) -> Iterator[tuple[Sequence[str], str]]:
        if not isinstance(self.retriever, Searcher):  # which would have to write its search
            for question in self.tried(subject):
                yield question.words(), self.retriever.task.answer(question)

    def text_of(self, given: Question) -> str:
        return " ".join(given.words()[1:])

    @property
    def least_hard(self) -> int | None:
        from verify.inputs.hard_questions import LEAST as least_hard

        return least_hard if self.model == TRANSFORMER else None

    def asked_at(self, n: int) -> Dossier:
        _, question = next(self.extreme(Subject(self, n)))
        return replace(self, query_length=len(question.query))

    # Searches

    def searches(self, subject: Subject) -> Mapping[str, Comparison] | None:
        if not isinstance(self.retriever, Searcher):
            return None
        from verify.dossiers.retrieval.searches import QUERIES

        return {name: self.search(*letters) for name, letters in QUERIES.get(self.tokens_asked, {}).items()}

    def search(self, *letters: str) -> Comparison:
        """That for a query of these numbers."""
        from verify.dossiers.retrieval.searches import of_task

        own, searcher = replace(self, query_length=len(letters)), self.retriever
        if not isinstance(searcher, Searcher):
            raise TypeError(f"{self.model} does not search")
        return of_task(searcher, own.define(), own.texts(Subject(own, LEAST)), letters)

    @property
    def repeats(self) -> bool:
        """Whether its search has a number of repetitions in it."""
        return False

    def left_open(self, subject: Subject) -> str:
        from verify.patterns.pattern import MOST_REPEATED

        too_many = subject.last == ENDLESS or max(subject.n, subject.last) + 1 > MOST_REPEATED
        return f", up to the {MOST_REPEATED} repetitions that it takes" * (self.repeats and too_many)


@dataclass(frozen=True)
class Index(Retrieval):
    """The number at a position."""

    repeats = True
    failure = None

    def define(self) -> Answer:
        """The sequence begins at position 2. No position is asked for that it does not have."""
        return SayNumber(as_term(Read(as_term(NumberOf()), At(as_term(NumberOf()) + 1))))

    def prompts_of(self, n: int, length: int) -> TokenAutomaton:
        states = _sequence(n, length)
        states[2] = replace(states[2], low=3, after=(1,))
        query = State(Label("query"), 4, length + 3, (2,), numbers=(1, min(n, length)), behind=3)
        return TokenAutomaton((*states, query), frozenset([query.label]), (n, n))

    def drawn_query(
        self, n: int, sequence: Sequence[int], tokens: Sequence[int], rng: random.Random
    ) -> tuple[int, ...]:
        return (rng.randint(1, len(sequence)),)


@dataclass(frozen=True)
class Counting(Retrieval):
    """Whether a number stands there more often than a threshold says, which may be 0."""

    repeats = True
    result = other_result = Say(YES)
    failure = Say(NO)

    def define(self) -> Answer:
        return counting.answer

    def prompts_of(self, n: int, length: int) -> TokenAutomaton:
        prompts = super().prompts_of(n, length)
        threshold = replace(prompts.states[-1], label=Label("threshold"))
        zero = replace(threshold, label=Label("threshold", "0"), word="0", numbers=(0, 0))
        return replace(
            prompts, states=(*prompts.states[:-1], threshold, zero), answers=frozenset([threshold.label, zero.label])
        )

    def drawn_query(
        self, n: int, sequence: Sequence[int], tokens: Sequence[int], rng: random.Random
    ) -> tuple[int, ...]:
        often = sequence.count(token := rng.choice(tokens))
        return (token, min(max(often + rng.randint(-2, 1), 0), n))


def _sequence(n: int, length: int) -> list[State]:
    return [
        State(Label(START), 1, 1, (), START),
        State(Label("sequence"), 2, length + 1, (0, 1), numbers=(1, n)),
        State(Label(ASK), 2, length + 2, (0, 1), ASK),
    ]


def searching(prompt: TokenAutomaton, script: Script, families: Sequence[Family]) -> TokenAutomaton:
    """Prompts of a retrieval task, a search after them as it is spelled, and its result: a word of the prompt, or FAILED.

    The numbers in the search are any that it can spell. What matters is the next token from the end of the prompt on.
    """
    of = {family.name: (family.low, family.high) for family in families}
    of_numbers = [replace(p, word="", numbers=(0, 0)) if p.word == "0" else p for p in prompt.states]
    states = [p if p.word else replace(p, family=PLAIN) for p in of_numbers]
    ends = [i for i, state in enumerate(states) if state.label in prompt.answers]
    low, high = min(prompt.range(states[i].low)[0] for i in ends), max(prompt.range(states[i].high)[1] for i in ends)
    after = tuple(ends)
    for j, item in enumerate(script, start=1):
        state = State(Label(SEARCH, j), low + j, high + j, after)
        if isinstance(item, str):
            states.append(replace(state, word=item))
        else:
            family = PLAIN if item.spelled == "%d" else REPEAT
            states.append(replace(state, numbers=of[family], family=family))
        after = (len(states) - 1,)
    result = State(Label(RESULT), low + len(script) + 1, high + len(script) + 1, after)
    states.append(replace(result, numbers=of[PLAIN], family=PLAIN))
    states += [replace(result, label=Label(RESULT, word), word=word) for word in (START, ASK, FAILED)]
    answers = {*prompt.answers, *(state.label for state in states[len(prompt.states) :])}
    return replace(prompt, states=tuple(states), answers=frozenset(answers))


OF_TASK: Mapping[str, type[Retrieval]] = {"index": Index, "counting": Counting}
DOSSIERS = tuple(OF_TASK.get(task, Retrieval)(task, model) for task, model in MODELS)

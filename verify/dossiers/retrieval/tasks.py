"""The retrieval tasks: index, associative recall, c-gram retrieval, counting; as Transformers, as hybrids, and with a search.

Definitions are programs that a person wrote: what each answer should be at the end of a prompt. They are compared with the tasks'
oracles on every small input, by the interpreter. Of a model that searches, what is defined is the search that it should write,
token by token, and that it says what was found; `searches` says what a search finds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from constructions.language.terms import Answer, Back, NumberOf, Read, Say, SayNumber, as_term
from constructions.models.door import find_door
from constructions.retrieval.rag import PLAIN, REPEAT, Quote, Script, Searcher, families
from constructions.retrieval.retriever import RetrievalOptions, Retriever
from constructions.retrieval.task import ASK, FAILED, NO, START, YES, Question, Task
from constructions.wiring.numbered import Family
from precision.format import Discipline
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.dossiers.dossier import ENDLESS, LEAST, TRANSFORMER, Dossier, Subject
from verify.dossiers.solved import LONGEST, SolvedDossier

if TYPE_CHECKING:
    from verify.patterns.texts import Comparison

TOKENS, LONGEST_QUESTION = 3, 3  # of the sequences of which a program is asked
SEARCH, RESULT = "search", "result"  # parts of a text after the prompt


@dataclass(frozen=True)
class Retrieval(RetrievalOptions, SolvedDossier):
    """A model of a retrieval task."""

    bits_of_bits = 4
    stored_in = in_cases = tuple(Discipline)
    is_accepted = True
    has_length = True
    every_input = "every sequence and query of n = {n}"

    # Definitions

    def define(self) -> Answer:
        """Returns the definition. The sequence begins at position 2; no position is asked for that it does not have."""
        return self.task.define(self.tokens_asked)

    def define_result(self, word: str) -> Answer | None:
        """Returns what is said of a search's result: a word of the prompt, FAILED, or "" for a number. None where it cannot be."""
        if self.task.zero:
            return Say(NO if word == FAILED else YES)
        if not word:
            return SayNumber(as_term(NumberOf(PLAIN)), PLAIN)
        return Say(FAILED) if word == FAILED and self.task.can_fail else None

    def answer(self, subject: Subject) -> Answer | None:
        return self.define()

    def definition(self, subject: Subject, label: Label) -> Answer | None:
        if not self.solver.searches:
            return self.define()
        script = self.script(replace(subject, printed=()))  # as repaired, whatever was wired
        if label.part == RESULT:
            return self.define_result(str(label.which))
        said = int(label.which) if label.part == SEARCH else 0
        if said >= len(script):
            return None  # the search is carried out
        item = script[said]
        if isinstance(item, str):
            return Say(item)
        steps, number = said + self.tokens_asked - 1 - item.which, as_term(NumberOf(PLAIN))
        quoted = as_term(Read(number, Back(steps))) if steps else number
        return SayNumber(quoted + item.plus, PLAIN if item.spelled == "%d" else REPEAT)

    @property
    def sentence(self) -> str:
        if self.solver.searches:
            return "the program writes the search that is defined, and says what it finds"
        return "the program is the task"

    # Options and documents

    @property
    def solver(self) -> Retriever:
        retriever: Retriever = find_door(self.construction).wirings[self.model].with_options(self)
        return retriever

    @property
    def task(self) -> Task:
        """The task."""
        return self.solver.task

    @property
    def tokens_asked(self) -> int:
        """Returns how long queries are."""
        return self.solver.query_length

    @property
    def scope(self) -> tuple[str, ...]:
        return (f"c = {self.tokens_asked + 1}",) if self.task.most is None else ()

    # Weights

    def script(self, subject: Subject) -> Script:
        """Returns what is searched for; nothing if the model does not search."""
        solver = self.solver
        return solver.script(self.tokens_asked, frozenset(subject.printed)) if isinstance(solver, Searcher) else ()

    # Texts

    def texts(self, subject: Subject) -> TokenAutomaton:
        prompts, script = self.prompts_of(subject.n, subject.length or subject.n), self.script(subject)
        return searching(prompts, script, families(self.task, subject.n, script)) if script else prompts

    def prompts_of(self, n: int, length: int) -> TokenAutomaton:
        """Returns the prompts `<s> s_1 … s_m ? query`, m ≤ length, with numbers up to n."""
        task, asked = self.task, self.tokens_asked
        states = [
            State(Label(START), 1, 1, (), START),
            State(Label("sequence"), 2, length + 1, (0, 1), numbers=(1, n)),
            State(Label(ASK), 2, length + 2, (0, 1), ASK),
        ]
        for i in range(1, asked + 1):
            label = Label("query", i if asked > 1 else "")
            states.append(State(label, 2 + i, length + 2 + i, (i + 1,), numbers=(1, n)))
        last = states[-1]
        if task.place:  # of a sequence that is not empty
            states[2] = replace(states[2], low=3, after=(1,))
            states[-1] = replace(last, low=4, numbers=(1, min(n, length)), behind=3)
        if task.zero:
            threshold = replace(last, label=Label("threshold"))
            zero = replace(threshold, label=Label("threshold", "0"), word="0", numbers=(0, 0))
            states[-1:] = [threshold, zero]
        return TokenAutomaton(tuple(states), frozenset(state.label for state in states[asked + 2 :]), (n, n))

    # Inputs

    def candidates(self, subject: Subject, rng: random.Random, count: int) -> Iterator[Question]:
        yield from (question for _, question in self.extreme(subject) if len(question.query) == self.tokens_asked)
        for _ in range(count):
            question = self._draw(subject.n, rng)
            if not self.task.wrong(question):
                yield question

    def extreme(self, subject: Subject) -> Iterator[tuple[str, Question]]:
        from verify.inputs.hard_questions import hard_questions

        name = self.construction
        for hard in hard_questions(name, subject.n):
            yield hard.name, Question(*hard.prompt(name))

    def reads(self, given: Question) -> bool:
        return len(given.query) == self.tokens_asked

    def _draw(self, n: int, rng: random.Random) -> Question:
        tokens = rng.choices((rng.randint(1, n), rng.randint(1, n), 1, n), k=rng.randint(2, 4))
        sequence = tuple(rng.choices(tokens, k=rng.randint(1, min(n, LONGEST))))
        if self.task.place:
            return Question(sequence, (rng.randint(1, len(sequence)),))
        if self.task.zero:
            often = sequence.count(token := rng.choice(tokens))
            return Question(sequence, (token, min(max(often + rng.randint(-2, 1), 0), n)))
        length, place = self.tokens_asked, rng.randrange(len(sequence))
        part = sequence[place : place + length]
        fits = len(part) == length and rng.random() < 0.7
        return Question(sequence, part if fits else tuple(rng.choices(tokens, k=length)))

    def every(self, subject: Subject) -> Iterator[Question]:
        return self._every(subject.n, subject.length or subject.n)

    def tried(self, subject: Subject) -> Iterator[Question]:
        return self._every(min(TOKENS, subject.n), min(LONGEST_QUESTION, subject.length or subject.n))

    def _every(self, most: int, longest: int) -> Iterator[Question]:
        """Yields every question of these numbers and lengths, the shortest sequence first."""
        numbers = range(1, most + 1)
        last = range(most + 1) if self.task.zero else numbers
        for length in range(longest + 1):
            for sequence in itertools.product(numbers, repeat=length):
                for query in itertools.product(*itertools.repeat(numbers, self.tokens_asked - 1), last):
                    question = Question(sequence, query)
                    if not self.task.wrong(question):
                        yield question

    def questions(self, subject: Subject) -> Iterator[tuple[Sequence[str], str]]:
        if not self.solver.searches:  # else it would have to write its search
            for question in self.tried(subject):
                yield question.words(), self.task.answer(question)

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
        if not self.solver.searches:
            return None
        from verify.dossiers.retrieval.searches import QUERIES

        return {name: self.search(*letters) for name, letters in QUERIES.get(self.tokens_asked, {}).items()}

    def search(self, *letters: str) -> Comparison:
        """Returns the search for a query of these numbers."""
        from verify.dossiers.retrieval.searches import of_task

        own, searcher = replace(self, query_length=len(letters)), self.solver
        if not isinstance(searcher, Searcher):
            raise TypeError(f"{self.model} does not search")
        return of_task(searcher, own.define(), own.texts(Subject(own, LEAST)), letters)

    def left_open(self, subject: Subject) -> str:
        from verify.patterns.pattern import MOST_REPEATED

        repeats = any(isinstance(item, Quote) and item.spelled != "%d" for item in self.script(subject))
        too_many = subject.last == ENDLESS or max(subject.n, subject.last) + 1 > MOST_REPEATED
        return f", up to the {MOST_REPEATED} repetitions that it takes" * (repeats and too_many)


def dossiers_of(task: str) -> tuple[Retrieval, ...]:
    """Returns the dossiers of a task's models."""
    return tuple(Retrieval(task, model) for model in find_door(task).models)


def searching(prompt: TokenAutomaton, script: Script, families: Sequence[Family]) -> TokenAutomaton:
    """Returns the texts of a model that searches: a prompt, a search in the task's spelling, and its result, a word or FAILED.

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

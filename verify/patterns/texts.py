"""Whether a search finds what a term reads, in all texts of a language: both as automata, over numerals of any length.

One word of the text is marked, or none is. Where the term reads the number of the marked word, the search must find that word;
where none is marked and the term reads 0, it must find nothing. All states that both can be in together are visited, and there
are finitely many: the states of a product automaton. So the answer holds of each text of the language's form, however long, of
any numbers in it and in the search.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from constructions.models.search import START_SEARCH
from verify.automata.token_automaton import State, TokenAutomaton
from verify.patterns.matching import FOUND, NO_GROUP, Open, advance
from verify.patterns.pattern import COUNT, OTHER, pattern
from verify.patterns.readings import MARKED, NOTHING, KeptText, TermReading, Word
from verify.patterns.tally import NEAR, Tally

REPEATED = "{#}"  # of a form: a number of repetitions


@dataclass(frozen=True)
class Spelling:
    """How the numbers of a family are spelled: with # for its digits. length: whether these are any number of digits, or one."""

    forms: tuple[str, ...]
    any_length: bool = True


@dataclass(frozen=True)
class ProductState:
    """After a word of a text. at: the number of the state that it stands in. marked: whether a word is; last: whether it is
    this one.

    kept: what is kept of the text to tell which words may follow.
    """

    at: int
    open: Open
    seen: KeptText
    marked: bool = False
    last: bool = False
    kept: int = 0


@dataclass(frozen=True)
class TextDifference:
    """A text in which something else is found than the term reads. words: in letters for numerals.

    marked: which of them is the marked word, from 0; None if none is. number: of the letter that is counted with; None if none is.
    """

    words: Sequence[str]
    marked: int | None
    letter: str
    number: int | None

    def __str__(self) -> str:
        return " ".join(self.words) + f", where {self.letter} is {self.number}" * bool(self.letter)


@dataclass
class Comparison:
    """What is searched for, between <StartSearch> and <EndSearch>, and what should be found.

    form: the one in which the search spells its numerals. follows: what is kept after a word, from what was kept and the last
    words; None where no text goes on so. Raises ValueError where that has no meaning here, or cannot be told.
    """

    texts: TokenAutomaton
    spelled: Mapping[str, Spelling]
    reading: TermReading
    form: int = 0
    follows: Callable[[int, Sequence[Word]], int | None] = lambda kept, words: kept

    def __post_init__(self) -> None:
        script, states = self.reading.search[1:-1], self.texts.states
        self.pattern = pattern(" ".join(map(self.spell, script)))
        self.letters = [OTHER, *dict.fromkeys(word.number for word in script if word.number)]
        if any(char.isdecimal() for state in states for char in state.word):
            raise ValueError("a word of the texts has digits")
        self.behind = {i: [j for j, state in enumerate(states) if i in state.after] for i in range(len(states))}
        self.behind[-1] = [j for j, state in enumerate(states) if not state.after]
        first = {j for j, state in enumerate(states) if script[0].name in (state.word, state.family)}
        own = {
            j for j, state in enumerate(states) if state.word == START_SEARCH and not first.isdisjoint(self.behind[j])
        }
        if not own:
            raise ValueError("no text goes on with the search")
        self.ends = [not own.isdisjoint(self.behind[i]) for i in range(len(states))]  # whether the search may be next
        self.read = dict[tuple[Open, bool, str, bool, bool, Tally], frozenset[Open]]()

    def difference(self) -> TextDifference | None:
        """Returns a text in which something else is found; None if there is none. Raises ValueError if that cannot be told."""
        before, untold = dict[ProductState, tuple[ProductState, str]](), None
        pending = deque(ProductState(-1, Open(), KeptText(tally=tally)) for tally in self.reading.before)
        while pending:
            state = pending.popleft()
            if state.at >= 0 and self.ends[state.at] and not self._agree(state):
                words, states = list[str](), [state]
                while state in before:
                    state, word = before[state]
                    words.append(word)
                    states.append(state)
                return self._show(words[::-1], states[::-1])
            try:
                for further_state, text in self._advance(state):
                    if further_state not in before:
                        before[further_state] = state, text
                        pending.append(further_state)
            except ValueError as error:
                untold = error
        if untold:
            raise untold
        return None

    def _show(self, words: Sequence[str], states: Sequence[ProductState]) -> TextDifference:
        """Returns the text, by the states before and after each of its words."""
        marked = next((j for j, state in enumerate(states[1:]) if state.last), None)
        if not self.reading.counts:
            return TextDifference(words, marked, "", None)
        done = [*accumulate(state.seen.tally.fresh for state in states)]
        left = [state.seen.tally.left for state in states]
        numbers = [a + b for a, b in zip(done, left, strict=True) if abs(b) < NEAR]
        return TextDifference(words, marked, self.reading.counts, numbers[0] if numbers else done[-1] + NEAR)

    def _agree(self, state: ProductState) -> bool:
        """Returns whether the search finds what it should if it begins here, for each guess that is right."""
        ends = advance(self.pattern, state.open, "", ends=state.last, tally=state.seen.tally)
        matches = {end.match for end in ends}
        if state.marked:
            return matches <= {FOUND} or MARKED not in self.reading.end(state.seen)
        return matches <= {None, NO_GROUP} or NOTHING not in self.reading.end(state.seen)

    def _advance(self, state: ProductState) -> Iterator[tuple[ProductState, str]]:
        """Yields the states after one more word, with the word."""
        for i in self.behind[state.at]:
            for word, text, any_length in self._spellings(self.texts.states[i]):
                kept = self.follows(state.kept, (*state.seen.words, word))
                if kept is None:
                    continue
                for mark in (False, True)[: 1 + (not state.marked and self.reading.may_find(state.seen, word))]:
                    for seen in self.reading.further(state.seen, word._replace(marked=mark)):
                        if self.reading.may_stand(self.texts.states[i], word, seen):
                            for now in self._read(state, text, mark, any_length, seen.tally):
                                yield ProductState(i, now, seen, state.marked or mark, mark, kept), text

    def _read(self, state: ProductState, text: str, mark: bool, any_length: bool, tally: Tally) -> frozenset[Open]:
        """Returns the states after the word, and the space before it."""
        key = state.open, state.last, text, mark, any_length, tally
        if key not in self.read:
            now = {state.open.count_one() if tally.fresh else state.open}
            if state.at >= 0:
                now = self._step(now, " ", tally, ends=state.last)
            for i, char in enumerate(text):
                now = fresh = self._step(now, char, tally, starts=mark and i == 0)
                while any_length and char in self.letters and fresh:
                    fresh = self._step(fresh, char, tally) - now
                    now = now | fresh
            self.read[key] = frozenset(now)
        return self.read[key]

    def _step(
        self, states: Iterable[Open], char: str, tally: Tally, *, starts: bool = False, ends: bool = False
    ) -> set[Open]:
        of_each = (advance(self.pattern, now, char, starts=starts, ends=ends, tally=tally) for now in states)
        return {after for of_one in of_each for after in of_one}

    def _spellings(self, state: State) -> Iterator[tuple[Word, str, bool]]:
        """Yields the words that may stand there, their spelling with one digit, and whether it stands for any number of digits."""
        if state.word:
            yield Word(state.word), state.word, False
            return
        spelled = self.spelled[state.family]
        for i, form in enumerate(spelled.forms):
            for letter in self.letters if "#" in form else (OTHER,):
                number = letter if i == self.form or len(spelled.forms) == 1 else OTHER
                yield Word(state.family, number), form.replace("#", letter), spelled.any_length

    def spell(self, word: Word) -> str:
        if word.number is None:
            return word.name
        forms = self.spelled[word.name].forms
        form = forms[self.form if len(forms) > 1 else 0]
        if REPEATED in form and word.number != self.reading.counts:
            raise ValueError("the pattern repeats another number than is compared with the text")
        return form.replace(REPEATED, f"{{{COUNT + word.plus}}}").replace("#", word.number)

"""In-context retrieval by regular expressions: what surrounds a model that can search its own context.

Source: A.5. When a model has just written <EndSearch>, the tokens between the last <StartSearch> and it are a pattern. The
pattern is searched for in the tokens before that <StartSearch>, and its first group is appended, or FAILED if nothing matches.
Tokens become text with one space between two, in the pattern as well; the group becomes tokens again at its spaces.

The definition leaves open, and we decide: the engine is Python's `re`; a group that took no part in a match counts as no match;
text that is no token, a pattern that is none, and a search that takes too long are errors of the model that wrote the pattern.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import FrameType

START_SEARCH, END_SEARCH, FAILED = "<StartSearch>", "<EndSearch>", "FAILED"
TIMEOUT_SECONDS = 20.0
SHORT = 200  # characters of a text of which many results are kept
_LONGEST = 60  # of a text that an error quotes


class SearchError(ValueError):
    """A model wrote a search that cannot be carried out; the message is one line."""


def retrieve(words: Sequence[str]) -> list[str]:
    """Returns the words to append after <EndSearch>, the last of `words`: RETRIEVE(S) of the paper. Raises SearchError."""
    if START_SEARCH not in words:
        raise SearchError(f"{END_SEARCH} without a {START_SEARCH} before it")
    start = len(words) - 1 - list(reversed(words)).index(START_SEARCH)
    return _results(" ".join(words[start + 1 : -1]), " ".join(words[:start]), TIMEOUT_SECONDS)


def _results(pattern: str, text: str, timeout_seconds: float) -> list[str]:
    """Returns the words to append after a search."""
    group = search(pattern, text, timeout_seconds)
    if group is None:
        return [FAILED]
    result = group.split()
    if not result:
        raise SearchError(f"the search for {_short(pattern)} found only spaces")
    return result


def search(pattern: str, text: str, timeout_seconds: float = TIMEOUT_SECONDS) -> str | None:
    """Returns the first group of the first match, None if there is none. Raises SearchError for no pattern, or after the
    timeout.

    What a model is expected to find, and what it then finds, is mostly the same search, so results are kept: of short texts many.
    """
    return (_search_short if len(text) <= SHORT else _search_long)(pattern, text, timeout_seconds)


def _search(pattern: str, text: str, timeout_seconds: float) -> str | None:
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise SearchError(f"{_short(pattern)} is not a regular expression: {error}") from error
    if not compiled.groups:
        raise SearchError(f"{_short(pattern)} has no group, so there is nothing to return")
    import signal

    try:
        if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
            with alarm(timeout_seconds):
                match = compiled.search(text)
            return None if match is None else match[1]
        return _search_elsewhere(pattern, text, timeout_seconds)
    except TimeoutError as error:
        raise SearchError(
            f"the search for {_short(pattern)} in {len(text):,} characters took more than {timeout_seconds:g} s"
        ) from error


_search_short, _search_long = lru_cache(maxsize=1 << 15)(_search), lru_cache(maxsize=8)(_search)


@dataclass
class SearchTool:
    """The surroundings of one run, to be told its sequence after each token that the model writes: `retrieve`, in tokens.

    The text is kept from search to search and only extended; a sequence that does not go on where the last one ended is read anew.
    Raises SearchError for a search that cannot be carried out, and for a result that is not made of tokens.
    """

    vocabulary: Sequence[str]
    timeout_seconds: float = TIMEOUT_SECONDS
    searches: int = 0
    _numbers: dict[str, int] = field(init=False)
    _read: list[int] = field(init=False, default_factory=list)  # the tokens that stand in the text
    _text: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self._numbers = {word: number for number, word in enumerate(self.vocabulary)}

    @property
    def asks(self) -> Set[int]:
        """Returns the tokens after which there may be a response."""
        return {number for word, number in self._numbers.items() if word == END_SEARCH}

    def __call__(self, sequence: Sequence[int]) -> list[int]:
        if self.vocabulary[sequence[-1]] != END_SEARCH:
            return []
        self.searches += 1
        start = len(sequence) - 1
        while start >= 0 and self.vocabulary[sequence[start]] != START_SEARCH:
            start -= 1
        if start < 0:
            raise SearchError(f"{END_SEARCH} without a {START_SEARCH} before it")
        pattern = " ".join(self.vocabulary[token] for token in sequence[start + 1 : -1])
        result = _results(pattern, self._before(sequence, start), self.timeout_seconds)
        for word in result:
            if word not in self._numbers:
                raise SearchError(f"a search returned {_short(word)}, which is not a token")
        return [self._numbers[word] for word in result]

    def _before(self, sequence: Sequence[int], start: int) -> str:
        """Returns the tokens before this place as text."""
        read_length = len(self._read)
        if read_length > start or sequence[:read_length] != self._read:
            read_length, self._read, self._text = 0, [], ""
        if read_length < start:
            fresh = sequence[read_length:start]
            text = " ".join(self.vocabulary[token] for token in fresh)
            self._text = f"{self._text} {text}" if read_length else text
            self._read.extend(fresh)
        return self._text


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raises TimeoutError inside after that time; `re` looks at signals while it searches."""
    import signal

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_ELSEWHERE = """
import re, sys
pattern, _, text = sys.stdin.buffer.read().decode().partition("\\0")
found = re.search(pattern, text)
if found is not None and found[1] is not None:
    sys.stdout.buffer.write(b"+" + found[1].encode())
"""


def _search_elsewhere(pattern: str, text: str, timeout_seconds: float) -> str | None:
    """Returns where signals do not reach: in a process of its own, which can be stopped."""
    import subprocess

    try:
        done = subprocess.run(
            [sys.executable, "-c", _ELSEWHERE],
            input=f"{pattern}\0{text}".encode(),
            capture_output=True,
            timeout=timeout_seconds,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error
    return done.stdout[1:].decode() if done.stdout else None


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")

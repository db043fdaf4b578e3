"""RETRIEVE: by its definition, against RE2, and what is refused."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable

import pytest
import re2
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constructions import counting, index, ngram, recall
from constructions.models import search as search_module
from constructions.models.search import SearchError, SearchTool, retrieve, search
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import Question
from verify.claims.retrieval import cases


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1 2 3 <StartSearch> 2 (\\d) <EndSearch>", ["3"]),
        ("1 2 3 <StartSearch> 3 (\\d) <EndSearch>", ["FAILED"]),
        ("1 2 3 <StartSearch> (\\d \\d) <EndSearch>", ["1", "2"]),
        ("1 2 3 <StartSearch> (9)|3 <EndSearch>", ["FAILED"]),  # the group took no part
        ("1 2 <StartSearch> 1 (\\d) <EndSearch> 2 5 <StartSearch> 2 (\\d) <EndSearch>", ["5"]),  # the last pair
        ("1 2 <StartSearch> (Search) <EndSearch> 7 <StartSearch> (<\\S*) <EndSearch>", ["<StartSearch>"]),
        ("4 4 <StartSearch> (4){ 2 } <EndSearch>", ["FAILED"]),  # spaces make the braces literal
        ("12 2 <StartSearch> 2 (\\d) <EndSearch>", ["2"]),  # the 2 of 12 comes first
        ("<StartSearch> (a) <EndSearch>", ["FAILED"]),
    ],
)
def test_definition(text: str, result: list[str]) -> None:
    assert retrieve(text.split(" ")) == result


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 2 <EndSearch>", "<EndSearch> without a <StartSearch> before it"),
        ("1 2 <StartSearch> ( <EndSearch>", "'(' is not a regular expression: missing ), unterminated subpattern"),
        ("1 2 <StartSearch> * <EndSearch>", "'*' is not a regular expression: nothing to repeat"),
        ("1 2 <StartSearch> 1 <EndSearch>", "'1' has no group, so there is nothing to return"),
        ("1 2 <StartSearch> 1(\\s) <EndSearch>", "found only spaces"),
        ("1 2 <StartSearch> " + "(" * 300 + " <EndSearch>", "((((…' is not a regular expression"),
    ],
)
def test_a_search_that_cannot_be_carried_out(text: str, says: str) -> None:
    with pytest.raises(SearchError) as error:
        retrieve(text.split(" "))
    assert says in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


def elsewhere(call: Callable[[], object]) -> object:
    """What a call gives in another thread, where no signal reaches it."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(call())
        except SearchError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


def test_no_search_runs_for_ever() -> None:
    endless = ("(a+)+b", "a" * 60)
    started = time.monotonic()
    with pytest.raises(SearchError, match=r"the search for '\(a\+\)\+b' in 60 characters took more than 0.2 s"):
        search(*endless, timeout_seconds=0.2)
    assert isinstance(elsewhere(lambda: search(*endless, timeout_seconds=0.2)), SearchError)
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(("pattern", "text"), [("é (\\S)", "é ü"), ("(9)|1", "1"), ("(x)", "1"), ("()", "1")])
def test_another_thread_gives_the_same(pattern: str, text: str) -> None:
    assert elsewhere(lambda: search(pattern, text)) == search(pattern, text)


def test_many_searches_of_short_texts_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked in a batch is asked again when its answers are read; long texts are not kept in such numbers."""
    made: list[str] = []
    compile_ = re.compile
    monkeypatch.setattr(search_module.re, "compile", lambda pattern: made.append(pattern) or compile_(pattern))
    texts = [f"once {number} more" for number in range(1000)]
    results = [[search(r"once (\d+)", text) for text in texts] for _ in range(2)]
    assert results == [[str(number) for number in range(1000)]] * 2
    assert len(made) == len(texts)
    long = [f"{text} {'x' * search_module.SHORT}" for text in texts]
    for _ in range(2):
        for text in long:
            search(r"once (\d+)", text)
    assert len(made) == 3 * len(texts)


def test_results_become_tokens() -> None:
    surroundings = SearchTool(["1", "2", "<StartSearch>", "(\\d) 2", "<EndSearch>", "(<S)", "FAILED"])
    assert surroundings([0, 1, 2, 3]) == []
    assert surroundings([0, 1, 2, 3, 4]) == [0]
    assert surroundings.searches == 1
    with pytest.raises(SearchError, match="returned '<S', which is not a token"):
        surroundings([2, 2, 5, 4])


WORDS = ("1", "12", "2", "(\\d+)", "\\b 1", "<StartSearch>", "<EndSearch>", "FAILED", "é")


@settings(max_examples=300)
@given(runs=st.lists(st.lists(st.integers(0, len(WORDS) - 1), min_size=1, max_size=14), min_size=1, max_size=3))
@example(runs=[[0, 5, 3, 6, 2, 5, 3, 6], [0, 2, 5, 3, 6], [5, 3, 6, 1, 5, 3, 6]])
def test_a_text_that_is_kept_is_the_text_that_is_read(runs: list[list[int]]) -> None:
    """Growing sequences, and others after them: each time what the definition gives."""
    surroundings = SearchTool(WORDS)

    def kept(tokens: list[int]) -> list[str]:
        return [WORDS[token] for token in surroundings(tokens)]

    def read(tokens: list[int]) -> list[str]:
        words = [WORDS[token] for token in tokens]
        if words[-1] != "<EndSearch>":
            return []
        result = retrieve(words)
        if other := [word for word in result if word not in WORDS]:
            raise SearchError(f"a search returned {other[0]!r}, which is not a token")
        return result

    for run in runs:
        for end in range(1, len(run) + 1):
            assert outcome(kept, run[:end]) == outcome(read, run[:end])


def outcome(call: Callable[[list[int]], list[str]], tokens: list[int]) -> list[str] | str:
    """What a search gives, or the error that it makes."""
    try:
        return call(tokens)
    except SearchError as error:
        return str(error)


def test_a_search_looks_up_the_words_that_are_new() -> None:
    """Reading the whole sequence for each search would take as many times as long."""

    class Counted(list[str]):
        looked_up = 0

        def __getitem__(self, place):
            Counted.looked_up += 1
            return super().__getitem__(place)

    vocabulary = Counted(["1", "<StartSearch>", "(\\d)", "<EndSearch>"])
    surroundings, sequence = SearchTool(vocabulary), [0] * 1000
    for _ in range(100):
        sequence += [1, 2, 3]
        sequence += surroundings(sequence)
    assert Counted.looked_up < 3000


# Another engine for regular expressions


def without_options(pattern: str) -> str:
    """In what re2 knows. In a verbose pattern spaces are nothing, but { 1 }, with spaces, is no repetition: it is its own text."""
    if pattern.startswith("(?x)"):
        pattern = pattern.removeprefix("(?x)").replace("{ ", r"\{").replace(" }", r"\}").replace(" ", "")
    return pattern.replace("(?>", "(?:")


@pytest.mark.parametrize("retriever", [index.RAG, recall.RAG, ngram.RAG, counting.RAG], ids=lambda r: r.task.name)
@settings(max_examples=300)
@given(data=st.data())
def test_re2_finds_the_same(retriever: Retriever, data: st.DataObject) -> None:
    question = data.draw(cases(retriever.task.name, range(1, 30))).question
    compare(retriever, question, frozenset())
    compare(retriever, question, frozenset(finding.id for finding in retriever.findings))


@example(sequence=[5] * 40, threshold=39)
@example(sequence=[5, 55, 5, 5], threshold=3)
@settings(max_examples=300)
@given(sequence=st.lists(st.sampled_from((5, 55, 15, 1)), max_size=30), threshold=st.integers(0, 8))
def test_re2_counts_the_same(sequence: list[int], threshold: int) -> None:
    compare(counting.RAG, Question(tuple(sequence), (5, threshold)), frozenset())


def compare(retriever: Retriever, question: Question, printed: frozenset[str]) -> None:
    """RE2 knows no atomic groups. Here one only keeps `re` from trying other places for the same number of repetitions."""
    (*recited, result) = retriever.thoughts(question, printed)
    pattern = " ".join(recited[1:-1])
    found = re2.search(without_options(pattern), " ".join(question.words()))
    expected = "FAILED" if found is None or found[1] is None else found[1].strip()
    assert result == expected

"""The steps of a backtracking matcher: it finds what `re` finds, and counts what blows up."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.istree.graphs import PAPER
from constructions.istree.rag import RAG
from verify.claims.search_steps import among_long_numbers, within
from verify.oracles.backtracking import steps

ATOMS = st.sampled_from(["a", "b", ".", r"\d", r"\S", r"\s", "[^a]", r"\b", "1"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        inner.map(lambda part: f"(?:a{part})*?"),
        inner.map(lambda part: f"(?:{part}b)*"),
        inner.map(lambda part: f"(?:{part}){{2}}"),
        inner.map(lambda part: f"(?={part})"),
        inner.map(lambda part: f"(?!{part})"),
        inner.map(lambda part: f"(?>{part}a|a)"),
        st.just(r"(?<=\ba)"),
    ),
    max_leaves=6,
)


@given(st.tuples(PATTERNS, PATTERNS, PATTERNS), st.text("ab1 ", max_size=8))
def test_it_finds_what_re_finds(parts: tuple[str, str, str], text: str) -> None:
    before, group, behind = parts
    pattern = f"{before}({group}){behind}"
    match = re.search(pattern, text)
    assert steps(pattern, text)[1] == (match and match[1])


def test_it_counts_what_is_tried_again() -> None:
    twice, once = ([steps(f"^({part})*c", "a" * n)[0] for n in (5, 10)] for part in ("?:a|a", "?:a"))
    assert twice[1] > 30 * twice[0] > 1000
    assert once[1] < 3 * once[0]
    choices = [steps(r"^(.*?b){4}c", "b" * n)[0] for n in (8, 16)]
    assert choices[1] > 10 * choices[0]


@pytest.mark.parametrize("pattern", ["(a{1,2})", "(a)(?(1)b|c)", r"(a)\1"])
def test_what_it_does_not_know_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="no steps are known"):
        steps(pattern, "a")


def test_a_search_for_a_number_tries_long_ones_from_each_digit_on() -> None:
    """Eight steps a character are enough for numbers of one or two digits, and not for longer ones."""
    for digits, enough in {1: 8, 2: 8, 3: 12, 4: 14}.items():
        graph = among_long_numbers(digits)
        words = [*(PAPER.vocabulary(graph.n)[token] for token in PAPER.prompt(graph)), *RAG.expected(graph)]
        assert within(words, enough) is None
        assert (within(words, 8) is None) == (digits < 3)

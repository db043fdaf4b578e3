"""Faults at some n alone are seen, though one case stands for n of all sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from constructions.retrieval.retriever import Retriever
from tests.verify.faults import Change, change_scale, define_failure, take_fewer_bits
from verify.algebra import nodes
from verify.algebra.quotients import Unanswered
from verify.algebra.samples import OCTAVES, in_octaves
from verify.algebra.walks import Walk
from verify.certificates import above
from verify.certificates.building import every_n
from verify.certificates.document import CERTIFIED
from verify.certificates.ranges import certificates
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.programs.intervals import explanations
from verify.trusted.growth import root
from verify.trusted.kernel import Rejected

RECALL = every_n(find_subject("recall", 100))
WHERE: dict[str, Change] = {
    "104,100 to 104,800": lambda n: bool(104_100 <= n <= 104_800),
    "30,000 to 10^10": lambda n: bool(30_000 <= n < 10**10),
    "one n": lambda n: bool(n == 100_003),
    "from 2^200 on": lambda n: bool(n >= 1 << 200),
}


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """A survey is kept for what asks again; another fault is another builder."""
    above._surveys.cache_clear()
    yield
    above._surveys.cache_clear()


def test_without_a_fault_every_n_is_certified() -> None:
    assert certificates(RECALL)["verdict"] == explanations(RECALL)["verdict"] == CERTIFIED


@pytest.mark.parametrize("where", WHERE)
def test_a_builder_that_is_wrong_at_some_n(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take_fewer_bits(monkeypatch, Retriever, WHERE[where])
    assert certificates(RECALL)["verdict"] != CERTIFIED


@pytest.mark.parametrize("where", WHERE)
def test_a_definition_that_is_another_one_at_some_n(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    define_failure(monkeypatch, WHERE[where])
    assert explanations(RECALL)["verdict"] != CERTIFIED


@pytest.mark.parametrize("bits", [8, 17, 40, 64])
@pytest.mark.parametrize("check", [certificates, explanations])
def test_a_builder_that_looks_at_the_kind_of_its_number(
    check: Callable[[Subject], Any], bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one octave, where the symbol's weights are right, users would get others."""
    change_scale(monkeypatch, lambda n: isinstance(n, int) and n.bit_length() == bits and n > 1 << bits - 1)
    document = check(RECALL)
    assert document["verdict"] != CERTIFIED
    assert "other weights than what stands for it" in document["what"]


def test_each_octave_has_some_n_of_each_case() -> None:
    """Of the cases that are not split: the first n, and another one."""
    for r in (0, 1):
        walk = Walk(root(4, r))
        some = [*in_octaves(walk.box, walk.forks, 12345)]
        octaves = [bits for bits in range(8, OCTAVES + 1) if bits.bit_length() % 2 == r]
        assert sorted({n.bit_length() for n in some}) == octaves
        assert [n for n in some if n.bit_count() == 1] == [1 << bits - 1 for bits in octaves]
        assert len(some) == len({*some}) == 2 * len(octaves)


def test_a_split_that_is_none_is_none_again() -> None:
    """Where a part was split in another way for that reason, the next walk goes the same way."""
    node = nodes.Node(root(4, 0))
    none = {"of": "n", "question": ["-1*n + 3/4*E", ">="], "from": "3/4*E", "to": "3/4*E", "rises": True}
    with pytest.raises(Rejected):
        node.divided(none)
    parts = node.divided("v")
    with pytest.raises(Rejected):
        node.divided(none)
    assert node.divided("v") is parts
    with pytest.raises(Unanswered, match="asked again"):
        node.divided({**none, "rises": False, "to": "3/4*E", "question": ["-1*n + 3/4*E", ">="], "from": "3/4*E"})

"""In floating point, without rounding on purpose, exported models write what `reference` writes, as far as the table says."""

from __future__ import annotations

from itertools import islice

import pytest
import torch

import constructions
from constructions.api import LoadedModel
from constructions.exports.program import network
from constructions.exports.tried import TRIED, ExportError, longest_sequence
from constructions.exports.writing import Export
from constructions.retrieval.task import Question
from tests.exports.held_out import cases, models

ENTRIES = [(*key, float_name) for key, entry in TRIED.items() for float_name in entry]
FEW, MANY = 2, 200


def tried(name: str, model: str, variant: str, float_name: str, count: int, by_engine: int = 0) -> int:
    """How many inputs were tried, at the n of the table; fails at the first where another token is written.

    by_engine: for so many of them, the words that the algorithm writes are those that the indexed engine does.
    """
    done = 0
    for loaded, inputs in models(name, model, TRIED[name, model, variant][float_name].n, variant):
        longest = longest_sequence(loaded.wired, model, float_name)
        module = network(Export(loaded.wired, float_name, longest, {}, (), 1))
        for given in islice(inputs, count - done):
            case = cases(loaded, given, "indexed" if done < by_engine else None)
            assert len(case.tokens) <= longest, given
            assert case.agrees(module(torch.tensor([case.tokens])).argmax(-1)[0].tolist()), given
            done += 1
        if done == count:
            break
    return done


@pytest.mark.parametrize(("name", "model", "variant", "float_name"), ENTRIES)
def test_the_table_holds_at_a_few_inputs(name: str, model: str, variant: str, float_name: str) -> None:
    assert tried(name, model, variant, float_name, FEW) == FEW


@pytest.mark.exports
@pytest.mark.parametrize(("name", "model", "variant", "float_name"), ENTRIES)
def test_the_table_holds_at_many_inputs(name: str, model: str, variant: str, float_name: str) -> None:
    assert tried(name, model, variant, float_name, MANY, by_engine=10) == MANY


def test_counting_needs_more_bits_than_the_least_where_losers_keep_weight() -> None:
    """Found by asking at every n up to 256 whether a sequence of one token has it more than n − 1 times."""

    def says_yes(loaded: LoadedModel) -> bool:
        module = network(Export(loaded.wired, "float64", loaded.wired.model.longest or 1, {}, (), 1))
        case = cases(loaded, Question((24,) * 24, (24, 23)))
        return case.agrees(module(torch.tensor([case.tokens])).argmax(-1)[0].tolist())

    least, wider = constructions.load("counting", n=24), constructions.load("counting", n=24, p=33)
    assert not says_yes(least)
    with pytest.raises(ExportError, match="at p = 27 was not tried in float64; p = 33 is the least that was"):
        longest_sequence(least.wired, "transformer", "float64")
    assert says_yes(wider)
    assert longest_sequence(wider.wired, "transformer", "float64") == wider.wired.model.longest

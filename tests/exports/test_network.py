"""In floating point, without rounding on purpose, exported models write what `reference` writes, as far as the table says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import constructions
from constructions.api import LoadedModel
from constructions.exports.limits import TRIED, ExportError, longest_sequence
from constructions.exports.network import Network, TorchAttention
from constructions.exports.program import network
from constructions.exports.weights import tensors
from constructions.exports.writing import Export
from constructions.layers import Matrix
from constructions.retrieval.task import Question
from tests.exports.held_out import FEW, asked, case_of


def network_of(loaded: LoadedModel, model: str, float_name: str) -> Network:
    longest = longest_sequence(loaded.wired, model, float_name)
    return network(Export(loaded.wired, float_name, longest, {}, (), 1))


@pytest.mark.parametrize(
    ("name", "model", "variant", "float_name"), [(*key, name) for key, entry in TRIED.items() for name in entry]
)
def test_the_table_holds_at_a_few_inputs(name: str, model: str, variant: str, float_name: str) -> None:
    for loaded, cases in asked(name, model, variant, TRIED[name, model, variant][float_name].n, FEW):
        longest, module = longest_sequence(loaded.wired, model, float_name), network_of(loaded, model, float_name)
        for case in cases:
            assert len(case.tokens) <= longest
            assert case.agrees(module(torch.tensor([case.tokens])).argmax(-1)[0].tolist()), case


@pytest.mark.parametrize(("name", "model"), [("istree", "transformer"), ("recall", "hybrid"), ("index", "rag")])
def test_what_is_read_in_pieces_is_read_as_at_once(name: str, model: str) -> None:
    """Heads and recurrences, with what they kept of the tokens before; a piece may be empty."""
    (loaded, (case, *_)), *_ = asked(name, model, "repaired", 6, FEW)
    module, tokens = network_of(loaded, model, "float64"), torch.tensor([case.tokens])
    whole, kept, done, logits = module.read(tokens), None, 0, []
    for length in (2, 1, 0, 3, tokens.shape[1]):
        found = module.read(tokens[:, done : done + length], kept)
        before = [(a[:, :, :0], b[:, :, :0]) for a, b in found.kept] if kept is None else kept
        kept = [(torch.cat([a, c], 2), torch.cat([b, d], 2)) for (a, b), (c, d) in zip(before, found.kept, strict=True)]
        done += length
        logits.append(found.logits)
    assert torch.allclose(torch.cat(logits, 1), whole.logits)
    assert case.agrees(torch.cat(logits, 1).argmax(-1)[0].tolist())
    assert all(torch.allclose(a[0], b[0]) for a, b in zip(kept or [], whole.kept, strict=True))


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_scores_of_large_products_do_not_depend_on_their_order(order: tuple[int, ...]) -> None:
    """2^40 − 2^40 + 3 beside 2^40 − 2^40 + 1: in float32 some order loses the 3, and which one is the library's choice."""
    head, x = TorchAttention(1, 3, 3, torch.float32), torch.tensor([[[2.0**20, 2.0**20, 3.0], [2.0**20, 2.0**20, 0.0]]])
    head.W_K.data[0] = torch.eye(3)[list(order)]
    head.W_Q.data[0] = torch.diag(torch.tensor([1.0, -1.0, 1.0]))[list(order)]
    head.W_V.data[0] = head.W_O.data[0] = torch.eye(3)
    x[0, :, 2] += torch.tensor([0.0, 1.0])  # the last query's third component is 1
    weights = head(x).weights
    assert weights is not None
    assert weights[0, 0, 1].tolist() == torch.softmax(torch.tensor([3.0, 1.0]).double(), 0).float().tolist()


@pytest.mark.parametrize("token", [-1, 10])
def test_what_is_no_token_has_no_embedding(token: int) -> None:
    """Not even one that counts from the end."""
    with pytest.raises(IndexError, match="out of range"):
        network_of(constructions.load("istree", n=4), "transformer", "float64")(torch.tensor([[0, token]]))


@pytest.mark.parametrize("model", ["hybrid", "rag"])
def test_a_turing_machine_has_the_same_weights_for_words_of_one_length(model: str) -> None:
    """So that an export may be asked about all of them."""
    zeros, other = (constructions.load("turing", model, machine="bb3", tape=tape, steps=9) for tape in ("000", "101"))
    assert zeros.wired.vocabulary == other.wired.vocabulary
    assert all(np.array_equal(a, b) for a, b in zip(*map(arrays, (zeros, other)), strict=True))


def arrays(loaded: LoadedModel) -> list[Matrix]:
    return list(tensors(loaded.wired.model).values())


@pytest.mark.parametrize(("machine", "is_whole"), [("1RB0LA_1LB1RA", True), ("bb2", False)])
def test_a_machine_may_write_all_of_its_steps(machine: str, is_whole: bool) -> None:
    """Also one whose own word is done with soon, and more than the worked example shows."""
    for model in ("hybrid", "rag"):
        loaded = constructions.load("turing", model, machine=machine, tape="10101", steps=100)
        written = loaded.solver.request(loaded.wired, 100).limit
        limit = loaded.solver.most_produced(loaded.wired)
        assert limit == written if is_whole else limit > 250 > written


def test_counting_needs_more_bits_than_the_least_where_losers_keep_weight() -> None:
    """Found by asking at every n up to 256 whether a sequence of one token has it more than n − 1 times."""

    def says_yes(loaded: LoadedModel) -> bool:
        module = network(Export(loaded.wired, "float64", loaded.wired.model.longest or 1, {}, (), 1))
        case = case_of(loaded, Question((24,) * 24, (24, 23)), "reference")
        return case.agrees(module(torch.tensor([case.tokens])).argmax(-1)[0].tolist())

    least, wider = constructions.load("counting", n=24), constructions.load("counting", n=24, p=33)
    assert not says_yes(least)
    with pytest.raises(ExportError, match="at p = 27 was not tried in float64; p = 33 is the least that was"):
        longest_sequence(least.wired, "transformer", "float64")
    assert says_yes(wider)
    assert longest_sequence(wider.wired, "transformer", "float64") == wider.wired.model.longest

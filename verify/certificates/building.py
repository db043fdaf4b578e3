"""The model and the inputs of a subject, for any n, and the matrices that users get. Its numbers have rows of powers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from constructions.language.functions import FunctionError
from constructions.wiring.numbered import Family
from constructions.wiring.wired import Wired
from verify.algebra.domains import Undecided
from verify.algebra.interval import symbol
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.matrices import LARGEST_TABLE, require_same
from verify.dossiers.dossier import ENDLESS, LARGEST_N, LEAST, Subject
from verify.rounding.model import ExactModel

FEW = 5  # numbers of each family that are compared, where a table of all would be too large


@dataclass(frozen=True)
class Sizes:
    """Every n from low to high, or every number of cells. of: which of both."""

    low: int
    high: int
    of: str

    @property
    def text(self) -> str:
        """Returns the name for people."""
        return f"{self.of} = {self.low}" + (f" … {self.high}" if self.low < self.high else "")


@dataclass(frozen=True)
class ModelSizes(Sizes):
    """Sizes with one model and its inputs: the same weights or forms of n, at the same p.

    compared: the sizes at which the model was held against the matrices that users get.
    """

    model: ExactModel
    inputs: TokenAutomaton
    compared: tuple[int, ...]


def every_n(subject: Subject, *, theorem: bool = False) -> Subject:
    """Returns the subject for every n from its own on, as far as a symbol for n is followed. theorem: for rounding and program
    at once.
    """
    followed = subject.dossier.is_followed_above(subject.discipline, theorem=theorem)
    return replace(subject, last=ENDLESS if followed else LARGEST_N)


def at_size(subject: Subject, size: int) -> Subject:
    """Returns the subject for one n, or for one number of cells."""
    sizes = subject.dossier.own_sizes
    dossier, n = sizes.model_at(size) if sizes else (subject.dossier, size)
    return replace(subject, dossier=dossier, n=n, last=0)


def in_case(subject: Subject, n: Any) -> tuple[Subject, ...]:
    """Returns what is asked of a case whose numbers n stands for: n, or the two of its own sizes m with ⌊m/2⌋ = n's bit length."""
    sizes = (n,) if subject.counts_n else (2 * n.bit_length(), 2 * n.bit_length() + 1)
    return tuple(at_size(subject, size) for size in sizes)


def families_of(subject: Subject) -> list[Family]:
    """Returns the numbers of a model's vocabulary."""
    return [*subject.dossier.families(subject)]


def precision_of(subject: Subject) -> int:
    """Returns the p that is asked for, or the one that the model is built with."""
    return subject.dossier.least_precision(subject) if subject.precision_bits is None else subject.precision_bits


def automaton_of(subject: Subject) -> TokenAutomaton:
    """Returns the inputs."""
    return subject.dossier.texts(subject)


def model_of(subject: Subject) -> ExactModel:
    """Returns the model, for any n from 1 on. Raises ValueError for a subject that makes no sense."""
    return subject.dossier.exact_model(subject)


def wired_of(subject: Subject, listed: int | None = None) -> Wired:
    """Returns the model as matrices, by the builder that users call. listed: how many numbers of each family the embedding
    lists.

    Raises ValueError where users get none: p is too small, or a weight needs more digits than float64 has.
    """
    return subject.dossier.wired(subject, listed)


def build(subject: Subject) -> tuple[ExactModel, TokenAutomaton]:
    """Returns the model and its inputs. Raises ValueError for a subject that makes no sense, Undecided for one beyond the rules.

    Raises OtherMatrices where the matrices that users get are not those of the exact layers.
    """
    model, automaton, _ = build_beside(subject)
    return model, automaton


def build_beside(subject: Subject) -> tuple[ExactModel, TokenAutomaton, Wired | None]:
    """Returns the same with the matrices that users get, see `compared`; None where n is no number."""
    if subject.n < subject.dossier.least or (subject.length or LEAST) < LEAST:
        raise Undecided(
            "the input",
            f"n and the length must be at least {LEAST}: below, a rule cannot tell a number from a position",
        )
    model = model_of(subject)
    wired = compared(subject, model) if isinstance(subject.n, int) else None
    return model, automaton_of(subject), wired


def can_be_written(subject: Subject, model: ExactModel) -> bool:
    """Returns whether all numbers of the vocabulary are compared, and the model's file has a digest: a bounded table of them."""
    return sum(family.high - family.low + 1 for family in families_of(subject)) * len(model.registers) <= LARGEST_TABLE


def compared(subject: Subject, model: ExactModel, *, few: bool = False) -> Wired | None:
    """Returns the matrices that users get for the subject, held against a model that stands for it; None if they get none.

    few: list a few numbers only, as is done where a table of all would be too large. Raises OtherMatrices where they differ.
    """
    listed = None if can_be_written(subject, model) and not few else min(FEW, subject.n)
    try:
        wired = wired_of(subject, listed)
    except FunctionError:  # of somebody's file
        raise
    except ValueError:
        return None
    require_same(model, wired, subject.n, families_of(subject))
    return wired


SMALL_N = 64


def chosen_sizes(subject: Subject, model: ExactModel, low: int, high: int, *, one: bool = False) -> list[int]:
    """Returns the n of an interval at which its model is held against the n's own: both ends, and one that a hash of the weights
    chooses.

    Of blocks that a person wrote every n up to `SMALL_N`, and eight that the hash chooses.
    one: only one of these, which the hash chooses too.
    """
    number = int(model.digest, 16)
    sizes = sorted({low, low + number % (high - low + 1), high})
    if subject.dossier.is_by_hand:  # its builder may do anything at some n
        sizes = sorted(
            {*sizes, *range(low, min(high, SMALL_N) + 1)} | {low + pow(number, i, high - low + 1) for i in range(8)}
        )
    return [sizes[number % len(sizes)]] if one else sizes


def part_of(subject: Subject, end: int, *, one: bool = False) -> ModelSizes:
    """Returns `forms_of` these sizes, held against the matrices that users get at three n or, if `one` says so, at one of them.

    Fewer n are compared where users get no matrices. Raises OtherMatrices if they differ.
    """
    part = forms_of(subject, end)
    sizes = chosen_sizes(subject, part.model, part.low, part.high, one=one)
    wired_at = tuple(n for n in sizes if compared(replace(subject, n=n), part.model, few=True) is not None)
    return replace(part, compared=wired_at)


def forms_of(subject: Subject, end: int) -> ModelSizes:
    """Returns one model for all sizes from the subject's n on, up to `end` at most; n is an atom of it and its inputs.

    The builder is given n as a symbol, so its weights are what it makes for each of these n, at the same p.
    """
    low = high = subject.n
    if low < end:
        n = symbol(low, end)
        try:
            p = precision_of(replace(subject, n=n))
            model = model_of(replace(subject, n=n, precision_bits=p))
            high = n.oracle.high
        except TypeError:  # it asks for what is another number at each n
            high = low
    if high == low:
        model = model_of(subject)
    largest = families_of(replace(subject, n=high))
    ranges = {one.name: replace(model.families[one.name], low=one.low, high=one.high) for one in largest}
    return ModelSizes(
        low, high, "n", replace(model, families=ranges), subject.dossier.texts_between(subject, low, high), compared=()
    )

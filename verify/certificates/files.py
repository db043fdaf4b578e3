"""An exported model: its matrices, read as they stand in the file, and which construction its sidecar says it is."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from constructions.exports.files import parse_json
from constructions.exports.weights import head_width
from constructions.layers import AttentionHead, Block, Matrix, Transformer, take_block
from constructions.show import cli
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from verify.algebra.domains import Refuted, Undecided
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.basis import FIELD, Basis, in_any_basis, read_basis
from verify.certificates.building import build, families_of
from verify.certificates.layout import Order, find_order, said, same
from verify.certificates.sidecar import named_by, require_same, subject_of
from verify.dossiers.dossier import Subject
from verify.rounding.model import ExactModel, described

LENGTH = "longest_sequence"
MOST_HEADER = 100_000_000  # bytes, as safetensors has it
OWN_ORDER = "the embedding is not the construction's, in any order of coordinates; a sidecar may say one in `registers`"
BY_SIDECAR = "as the sidecar says"
BY_WEIGHTS = (
    "of which the sidecar says nothing; it was found by the weights, which in this order are exactly the construction's"
)


@dataclass(frozen=True, eq=False)
class Moved:
    """How a file has a model in other coordinates, or in another order.

    basis: of its stream; None where coordinates are registers. text: for people. weights: as the file has them. model: the same
    as exact layers, under the names of the registers; None with a basis. wired: the construction's own, which has the words.
    """

    basis: Basis | None
    text: str
    weights: Transformer
    model: ExactModel | None
    wired: Wired


@dataclass(frozen=True, eq=False)
class Exported:
    """An exported model over the construction's registers, in its order. moved: how the file has it; None if it is so there."""

    subject: Subject
    model: ExactModel
    automaton: TokenAutomaton
    moved: Moved | None = None


def read(path: Path) -> Exported:
    """Returns the model of a `.safetensors` file with its sidecar beside it.

    Raises ValueError for files that are not such a model, OSError, Undecided for a construction that is not covered, Refuted for
    a sidecar that does not fit the construction that it names.
    """
    from safetensors import SafetensorError

    odd = (SafetensorError, KeyError, TypeError, AttributeError, OverflowError, cli.CommandError, ValueError)
    try:
        return _read(path)
    except odd as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        named = what.startswith((f"{path}: ", f"{path.with_suffix('.json')}: "))
        raise ValueError(what if named else f"{path}: not an exported model: {what}") from error


def _read(path: Path) -> Exported:
    from safetensors.numpy import load

    content = _content(path)
    metadata = _metadata(content)  # before `load`, which takes the last of two tensors with one name
    tensors = load(content)
    if odd := [name for name, tensor in tensors.items() if not np.isfinite(tensor).all()]:
        raise ValueError(f"{odd[0]} holds what is no number")
    beside = path.with_suffix(".json")
    text = cli.read_text(str(beside), "a sidecar", cli.MOST_OF_A_DOCUMENT)
    with cli.usage_errors(f"{beside}: "):
        sidecar = parse_json(text)
    widths = {len(tensor) for name, tensor in tensors.items() if name.endswith((".W_Q", ".W_K", ".W_V"))}
    model = _transformer(tensors)
    if tensors:
        raise ValueError(f"{min(tensors)} belongs to no block")
    subject, printed = subject_of(path, sidecar, len(model.words))
    wired, document = named_by(subject, printed)
    vocabulary = list(sidecar["vocabulary"])
    file_weights, basis = model, None
    if FIELD in sidecar:
        basis, model = _without_basis(sidecar.pop(FIELD), model)
        document |= in_any_basis(document)
    order, due = said(sidecar, document)
    require_same(sidecar, due, wired)
    own, automaton = build(subject)
    if widths - {head_width(wired.model)}:
        raise Refuted("the file", f"its heads have not the width {head_width(wired.model)} of the sidecar")
    if (stored := metadata.get(LENGTH)) not in (None, str(wired.model.longest)):
        raise Refuted("the file", f"its metadata has {LENGTH} {stored}, the sidecar {wired.model.longest}")
    if len(wired.registers) != model.width:
        raise Undecided("the registers", f"the file has {model.width}, the construction {len(wired.registers)}")
    if len(vocabulary) != len(model.words):
        raise Undecided("the vocabulary", f"the file has {len(vocabulary)} words for {len(model.words)} rows")
    ordered, order, how = _in_own_order(model, order, wired)
    arithmetic = Arithmetic(fixed_point(wired.arithmetic.format.significand_bits + 1), subject.discipline)
    families = families_of(subject)
    try:
        file_model = described(ordered, arithmetic, own.registers, vocabulary, families, own.heads)
    except ValueError as error:
        raise Undecided("the vocabulary", str(error)) from error
    if (
        dict(file_model.specials) != dict(own.specials)
        or file_model.families != own.families
        or file_model.position != own.position
    ):
        raise Undecided("the vocabulary", OWN_ORDER)
    if basis is None and order.is_own:
        return Exported(subject, file_model, automaton)
    told = [] if basis is None else ["the stream is in the basis that the sidecar names"]
    told += [] if order.is_own else [f"coordinates or heads stand in another order, {how}"]
    in_file_order = None
    if basis is None and subject.discipline is Discipline.SEQUENTIAL:
        names = order.put(own.registers), order.put_heads(own.heads)
        in_file_order = described(model, arithmetic, names[0], vocabulary, families, names[1])
    basis = basis and order.under(basis)
    moved = Moved(basis, f"{'; '.join(told)}; undone exactly", file_weights, in_file_order, wired)
    return Exported(subject, file_model, automaton, moved)


def _without_basis(document: object, model: Transformer) -> tuple[Basis, Transformer]:
    """Returns the basis that a sidecar names, and the model over registers. Raises Refuted for one that is wrong."""
    try:
        basis = read_basis(document, model.width)
        return basis, basis.undo(model)
    except ValueError as error:
        raise Refuted(f"the sidecar, {FIELD!r}", str(error)) from error


def _in_own_order(model: Transformer, order: Order, wired: Wired) -> tuple[Transformer, Order, str]:
    """Returns the model in the construction's order, the order that the file has, and who says so.

    order: that the sidecar says. Raises Refuted if the weights show another.
    """
    own = replace(wired.model, blocks=tuple(replace(b, heads=tuple(map(_trim, b.heads))) for b in wired.model.blocks))
    ordered = model if order.is_own else order.undo(model)
    if same(ordered, own) or (shown := find_order(model, own)) is None:
        return ordered, order, BY_SIDECAR
    if not order.is_own:
        raise Refuted(
            "the sidecar", "'registers' or 'blocks' say another order of coordinates or heads than the weights have"
        )
    return shown.undo(model), shown, BY_WEIGHTS


def _content(path: Path) -> bytes:
    """Returns the bytes of a file that begins as `.safetensors` do: with the length of a header that fits into it. Raises
    ValueError.
    """
    if path.is_fifo():  # which would wait for a writer
        raise ValueError("this is a device or a pipe, not a file")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("this is a device or a pipe, not a file")
        header = int.from_bytes(file.read(8), "little")
        if not 0 < header <= min(size - 8, MOST_HEADER):
            raise ValueError("its first bytes are not the length of a header")
        file.seek(0)
        return file.read()


def _metadata(content: bytes) -> dict[str, str]:
    """Returns what a `.safetensors` file says of itself. Raises ValueError for a header that is no JSON, or has a name twice."""
    header = parse_json(content[8 : 8 + int.from_bytes(content[:8], "little")])
    if not isinstance(header, dict):
        raise ValueError("its header is no JSON object")
    metadata: dict[str, str] = header.get("__metadata__") or {}
    return metadata


def _trim(head: AttentionHead) -> AttentionHead:
    """Removes the rows of zeros that pad every head to one width."""
    scored = head.query.any(axis=1) | head.key.any(axis=1)
    read = head.value.any(axis=1) | head.out.any(axis=0)
    return AttentionHead(head.query[scored], head.key[scored], head.value[read], head.out[:, read])


def _transformer(tensors: dict[str, Matrix]) -> Transformer:
    """Returns the model, whose matrices are taken out of these tensors."""
    blocks: list[Block] = []
    while f"blocks.{len(blocks)}.ffn.W_gate" in tensors:
        block = take_block(tensors, f"blocks.{len(blocks)}.")
        blocks.append(replace(block, heads=tuple(map(_trim, block.heads))))
    words, unembed = tensors.pop("embed.words"), tensors.pop("unembed")
    same = np.array_equal(words, unembed)
    return Transformer(words, tensors.pop("embed.position"), tuple(blocks), words if same else unembed)

"""An exported model: its matrices, read as they stand in the file, and which construction its sidecar says it is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from constructions.exports.weights import head_width
from constructions.layers import AttentionHead, Block, FeedForward, Matrix, Recurrence, Transformer
from precision.format import Arithmetic, fixed_point
from verify.algebra.domains import Refused, Undecided
from verify.automata.language import Language
from verify.certificates.building import Subject, build, families_of
from verify.certificates.sidecar import named_by, require_same, subject_of
from verify.rounding.model import Model, described

LENGTH = "longest_sequence"


def read(path: Path) -> tuple[Subject, Model, Language]:
    """The model of a `.safetensors` file with its sidecar beside it.

    Raises ValueError for files that are not such a model, OSError, Undecided for a construction that is not covered, Refused for
    a sidecar that does not fit the construction that it names.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        content = path.read_bytes()
        tensors = load(content)
        if odd := [name for name, tensor in tensors.items() if not np.isfinite(tensor).all()]:
            raise ValueError(f"{path}: {odd[0]} holds what is no number")
        sidecar = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        widths = {len(tensor) for name, tensor in tensors.items() if name.endswith((".W_Q", ".W_K", ".W_V"))}
        model = _transformer(tensors)
        if tensors:
            raise ValueError(f"{path}: {min(tensors)} belongs to no block")
        subject, printed = subject_of(path, sidecar, len(model.words))
        wired, document = named_by(subject, printed)
        vocabulary = list(sidecar["vocabulary"])
    except (
        SafetensorError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
        json.JSONDecodeError,
    ) as error:
        raise ValueError(f"{path}: not an exported model: {error}") from error
    require_same(sidecar, document, wired)
    own, language = build(subject)
    if widths - {head_width(wired.model)}:
        raise Refused("the file", f"its heads have not the width {head_width(wired.model)} of the sidecar")
    if (stored := _metadata(content).get(LENGTH)) not in (None, str(wired.model.longest)):
        raise Refused("the file", f"its metadata has {LENGTH} {stored}, the sidecar {wired.model.longest}")
    if len(wired.registers) != model.width:
        raise Undecided("the registers", f"the file has {model.width}, the construction {len(wired.registers)}")
    if len(vocabulary) != len(model.words):
        raise Undecided("the vocabulary", f"the file has {len(vocabulary)} words for {len(model.words)} rows")
    try:
        arithmetic = Arithmetic(fixed_point(wired.arithmetic.format.significand_bits + 1), subject.discipline)
        found = described(model, arithmetic, own.registers, vocabulary, families_of(subject), own.heads)
    except ValueError as error:
        raise Undecided("the vocabulary", str(error)) from error
    if dict(found.specials) != dict(own.specials) or found.families != own.families or found.position != own.position:
        raise Undecided("the vocabulary", "the embedding is not the construction's")
    return subject, found, language


def _metadata(content: bytes) -> dict[str, str]:
    """Of a `.safetensors` file: its header begins with the length of a JSON text."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    found: dict[str, str] = header.get("__metadata__") or {}
    return found


def _trimmed(query: Matrix, key: Matrix, value: Matrix, out: Matrix) -> AttentionHead:
    """Without the rows of zeros that pad every head to one width."""
    scored = query.any(axis=1) | key.any(axis=1)
    read = value.any(axis=1) | out.any(axis=0)
    return AttentionHead(query[scored], key[scored], value[read], out[:, read])


def _transformer(tensors: dict[str, Matrix]) -> Transformer:
    """The model, whose matrices are taken out of these tensors."""
    take = tensors.pop
    blocks: list[Block] = []
    while (at := f"blocks.{len(blocks)}") and f"{at}.ffn.W_gate" in tensors:
        heads: list[AttentionHead] = []
        while (h := f"{at}.attn.{len(heads)}") and f"{h}.W_Q" in tensors:
            heads.append(_trimmed(*(take(f"{h}.{name}") for name in ("W_Q", "W_K", "W_V", "W_O"))))
        ffn = FeedForward(*(take(f"{at}.ffn.{x}") for x in ("W_gate", "b_gate", "W_up", "b_up", "W_down", "b_down")))
        recurrence = None
        if f"{at}.recurrence.A" in tensors:
            recurrence = Recurrence(take(f"{at}.recurrence.A"), take(f"{at}.recurrence.B"))
        blocks.append(Block(tuple(heads), ffn, recurrence))
    words, unembed = take("embed.words"), take("unembed")
    same = np.array_equal(words, unembed)
    return Transformer(words, take("embed.position"), tuple(blocks), words if same else unembed)

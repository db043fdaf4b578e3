"""An exported model: its matrices, and which construction its sidecar says it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from constructions.istree.graphs import EOS
from constructions.layers import AttentionHead, Block, FeedForward, Matrix, Recurrence, Transformer
from constructions.show.forward import SCHEMA
from precision.format import Arithmetic, Discipline, Rounding, fixed_point
from verify.certificates.building import Subject, build, families_of, is_covered
from verify.certificates.domains import Undecided
from verify.certificates.language import Language
from verify.certificates.model import Model, described


def read(path: Path) -> tuple[Subject, Model, Language]:
    """The model of a `.safetensors` file with its sidecar beside it. Names of registers are those of the construction itself.

    Raises ValueError for files that are not such a model, OSError, Undecided for a construction that is not covered.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(path.read_bytes())
        if odd := [name for name, tensor in tensors.items() if not np.isfinite(tensor).all()]:
            raise ValueError(f"{path}: {odd[0]} holds what is no number")
        sidecar = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        name, n = str(sidecar["construction"]), int(sidecar["n"])
        discipline, bits = Discipline(sidecar["discipline"]), int(sidecar["p"])
        vocabulary = [str(word) for word in sidecar["vocabulary"]]
        model = _transformer(tensors)
        if tensors:
            raise ValueError(f"{path}: {min(tensors)} belongs to no block")
        if sidecar["schema"] != SCHEMA:
            raise ValueError(f"{path}: schema {sidecar['schema']!r} is not {SCHEMA}, the one that is read here")
        if Rounding(sidecar["rounding"]) is not Rounding.NEAREST_EVEN:
            raise ValueError(f"{path}: certificates are about rounding to nearest even, not {sidecar['rounding']}")
    except (SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: not an exported model: {error}") from error
    built_as = str(sidecar.get("model", "transformer"))
    if not is_covered(name, built_as):
        raise Undecided("the construction", f"{name} as {built_as} is not covered")
    lean = sidecar.get("variant") == "lean"
    machine, tape = (str(sidecar.get(key, "")) for key in ("machine", "tape"))
    cells = sidecar.get("cells") if built_as == "cot" else None  # of other models it is no part of the texts
    if cells is not None and type(cells) is not int:
        raise ValueError(f"{path}: not an exported model: {cells!r} is no number of cells")
    subject = Subject(
        name, n, None, bits, discipline, lean=lean, model=built_as, machine=machine, tape=tape, cells=cells
    )
    if EOS.end_of_prompt in vocabulary:
        subject = replace(subject, layout=EOS.name)
    if (name, built_as) == ("ngram", "transformer"):
        subject = replace(subject, query_length=len(model.blocks[1].heads))
    own, language = build(subject)
    families = families_of(subject)
    numbers = sum(map(len, families))
    if len(own.registers) != model.width:
        raise Undecided("the registers", f"the file has {model.width}, the construction {len(own.registers)}")
    if len(vocabulary) != len(model.words) or len(vocabulary) <= numbers:
        held = f"{len(vocabulary)} words for {len(model.words)} rows"
        raise Undecided("the vocabulary", f"the file has {held}, the construction more than {numbers}")
    try:
        found = described(model, Arithmetic(fixed_point(bits), discipline), own.registers, vocabulary, families)
    except ValueError as error:
        raise Undecided("the vocabulary", str(error)) from error
    if dict(found.specials) != dict(own.specials) or found.families != own.families or found.position != own.position:
        raise Undecided("the vocabulary", "the embedding is not the construction's")
    return subject, found, language


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

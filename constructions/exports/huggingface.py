"""A folder for Hugging Face transformers: weights, configuration, tokenizer, and the model's own code.

`AutoModelForCausalLM.from_pretrained(PATH, trust_remote_code=True)` loads it without this project; `generate` decodes greedily.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np

from constructions.exports import network
from constructions.exports.limits import ExportError
from constructions.exports.shapes import shape_of, state_of
from constructions.exports.weights import safetensors_bytes
from constructions.exports.writing import Export
from constructions.wiring.wired import Wired

HERE = Path(__file__).parent
CODE = "modeling_hand_wired.py"
PAD = "<pad>"


def write(export: Export, path: Path) -> None:
    """Writes the folder. Raises ExportError for tokens that a tokenizer cannot tell apart."""
    wired = export.wired
    start = next((example["tokens"][0] for example in export.sidecar["examples"]), "")
    save_tokenizer(wired, path, pad=PAD, start=start)
    state = {f"network.{name}": array.astype(np.dtype(export.float_name)) for name, array in state_of(wired).items()}
    metadata = {"format": "pt", "longest_sequence": str(export.longest)}
    (path / "model.safetensors").write_bytes(safetensors_bytes(state, metadata))
    config = {
        "model_type": "hand_wired",
        "architectures": ["HandWiredForCausalLM"],
        "auto_map": {
            "AutoConfig": "modeling_hand_wired.HandWiredConfig",
            "AutoModelForCausalLM": "modeling_hand_wired.HandWiredForCausalLM",
        },
        "dtype": export.float_name,
        "shape": shape_of(wired, export.longest),
        "vocabulary": list(wired.vocabulary),
        "heads": [[head.name for head in plan.heads] for plan in wired.blocks],
        "domain": export.sidecar["domain"],
        "tried_in": export.float_name,
        "vocab_size": len(wired.vocabulary),
        "hidden_size": wired.model.width,
        "num_hidden_layers": len(wired.model.blocks),
        "max_position_embeddings": export.longest,
        "construction": wired.construction,
        "n": wired.n,
    }
    more = {"pad_token_id": len(wired.vocabulary), **({"eos_token_id": list(export.stop)} if export.stop else {})}
    generation = {"do_sample": False, "use_cache": True, "max_new_tokens": export.limit, **more}
    for name, document in (("config.json", config), ("generation_config.json", generation)):
        (path / name).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    (path / "sidecar.json").write_text(export.text, encoding="utf-8")
    shutil.copyfile(HERE / CODE, path / CODE)
    shutil.copyfile(str(network.__file__), path / "network.py")


def weights_of(block: int, head: int, name: str) -> dict[str, object]:
    """Returns the place of a head in `output_attentions`: which tensor, and which head of it."""
    return {"attentions": block, "index": head}


def save_tokenizer(wired: Wired, path: Path, *, pad: str = "", start: str = "") -> None:
    """Saves a tokenizer in the folder that splits at spaces. pad: a token more, the last, which fills up on the left; "" for none.

    start: the word that begins a prompt. Where it is given, a space stands before each other word that is decoded, so that a
    decoded answer can follow the text of its prompt, as pipelines put them together. Raises ExportError for tokens that it
    cannot tell apart.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    if broken := [word for word in wired.vocabulary if word.split() != [word] or word == pad]:
        why = "stands for padding" if broken[0] == pad else "holds a space, and a text is split at spaces"
        raise ExportError(f"the token {broken[0]!r} {why}")
    tokenizer = Tokenizer(models.WordLevel(wired.token))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if start:
        spaced = [decoders.Replace(Regex("^"), " "), decoders.Fuse(), decoders.Replace(f" {start}", start)]
        tokenizer.decoder = decoders.Sequence(spaced)
    names = ["input_ids", "attention_mask"]
    fills = {"pad_token": pad, "padding_side": "left"} if pad else {}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=names, **fills).save_pretrained(path)

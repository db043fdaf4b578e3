"""A hand-wired model for Hugging Face transformers. It travels with its weights, and imports nothing else of the project.

Each row of a batch is read alone, without its padding: so it gives the same bits as in a batch of its own.
"""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import torch
from torch import Tensor, nn
from transformers import Cache, DynamicCache, GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from .network import Kept, Network, NetworkOutput


class HandWiredConfig(PretrainedConfig):
    """shape: of the network, see network.py. vocabulary: the words in the order of their numbers. heads: names, for each block.

    max_position_embeddings: the most tokens that the weights were tried on. tried_in: the float format. domain: of the sidecar.
    The number after those of the vocabulary is that of padding.
    """

    model_type = "hand_wired"

    def __init__(
        self,
        shape: dict[str, Any] | None = None,
        vocabulary: list[str] | None = None,
        heads: list[list[str]] | None = None,
        domain: dict[str, Any] | None = None,
        tried_in: str = "float64",
        **more: Any,
    ) -> None:
        self.shape = shape or {"vocabulary": 1, "d": 1, "head_width": 1, "longest": 1, "blocks": []}
        self.vocabulary, self.heads, self.domain = vocabulary or [""], heads or [], domain or {}
        self.tried_in = tried_in
        super().__init__(**more)


class HandWiredForCausalLM(PreTrainedModel, GenerationMixin):
    """Token numbers → logits. Whatever is padding, left or right, is not read, and 0 stands there in all that is returned."""

    config_class = HandWiredConfig

    def __init__(self, config: HandWiredConfig) -> None:
        super().__init__(config)
        self.network = Network(config.shape, config.dtype)
        self.post_init()

    def _init_weights(self, module: Any) -> None:
        """Does nothing: all weights are loaded."""

    def get_input_embeddings(self) -> nn.Embedding:
        """Returns the rows of the words, without their positions; the weight is the model's own parameter."""
        words = self.network.words
        embedding = nn.Embedding(words.shape[0], words.shape[1], device="meta")
        embedding.weight = words
        return embedding

    def get_output_embeddings(self) -> nn.Linear:
        """Returns the output head; the weight is the model's own parameter."""
        unembed = self.network.unembed
        head = nn.Linear(unembed.shape[1], unembed.shape[0], bias=False, device="meta")
        head.weight = unembed
        return head

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        past_key_values: Cache | None = None,
        use_cache: bool | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        inputs_embeds: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        logits_to_keep: int | Tensor = 0,
        **more: Any,
    ) -> Any:
        """Returns logits (batch, length, vocabulary), as a `CausalLMOutputWithPast`.

        input_ids, attention_mask: (batch, length); a mask may cover the tokens in the cache as well. inputs_embeds: in place of
        input_ids, rows of words (batch, length, d), to which positions are added. position_ids: those that follow from the
        padding, from 0; no others. labels: (batch, length), −100 where nothing is due; the loss is the mean cross entropy of
        the next token. logits_to_keep: so many of the last logits, or which ones.

        A cache that is given grows, and use_cache=True makes one. attentions: one for each block, (batch, heads, length, keys),
        with no heads where the block has none. hidden_states: after the embedding, then after each block.
        Raises ValueError for what is no batch of tokens, and beyond the longest sequence.
        """
        if past_key_values is not None and not isinstance(past_key_values, DynamicCache):
            raise ValueError(f"past_key_values must be a DynamicCache, not a {type(past_key_values).__name__}")
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("give input_ids or inputs_embeds, one of them")
        if inputs_embeds is not None:
            if inputs_embeds.ndim != 3 or inputs_embeds.shape[2] != self.network.words.shape[1]:
                wanted = f"(batch, length, {self.network.words.shape[1]})"
                raise ValueError(f"inputs_embeds must be {wanted}, not {tuple(inputs_embeds.shape)}")
            input_ids = torch.zeros(inputs_embeds.shape[:2], dtype=torch.int64, device=inputs_embeds.device)
        assert input_ids is not None  # noqa: S101
        real = self._real(input_ids, attention_mask)
        if past_key_values is None and not bool(real.any(1).all()):
            raise ValueError("a row of the batch has no token")
        before = self._read_cache(past_key_values, len(input_ids))
        gone = before[0][0][:, 0, :, 0].isnan() if before else real[:, :0]  # padding in the cache
        if position_ids is not None:
            places = (~gone).sum(1, keepdim=True) + real.cumsum(1) - 1
            if position_ids.shape[-1:] != places.shape[-1:] or bool((position_ids != places)[real].any()):
                raise ValueError("position_ids must count the tokens of each row from 0; positions are fixed here")
        rows = [
            self._row(
                ids if inputs_embeds is None else inputs_embeds[row],
                here,
                [(keys[row : row + 1], values[row : row + 1]) for keys, values in before],
                ~gone[row],
            )
            for row, (ids, here) in enumerate(zip(input_ids, real, strict=True))
        ]
        logits, stream, weights, kept = (list(part) for part in zip(*rows, strict=True))
        if past_key_values is not None if use_cache is None else use_cache:
            past_key_values = DynamicCache() if past_key_values is None else past_key_values
            for number, pairs in enumerate(zip(*kept, strict=True)):
                past_key_values.update(*(torch.cat(part) for part in zip(*pairs, strict=True)), number)
        about, all_logits = self.config, torch.cat(logits)
        loss = None
        if labels is not None:
            if labels.shape != input_ids.shape:
                raise ValueError(f"labels are {tuple(labels.shape)}, and the tokens {tuple(input_ids.shape)}")
            due = torch.where(real, labels, -100)[:, 1:].flatten()
            loss = nn.functional.cross_entropy(all_logits[:, :-1].flatten(0, 1), due, ignore_index=-100)
        kept_logits = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) else logits_to_keep
        output = CausalLMOutputWithPast(
            loss=loss,
            logits=all_logits[:, kept_logits],
            past_key_values=past_key_values,
            hidden_states=_stack(
                stream, about.output_hidden_states if output_hidden_states is None else output_hidden_states
            ),
            attentions=_stack(weights, about.output_attentions if output_attentions is None else output_attentions),
        )
        return output if (about.return_dict if return_dict is None else return_dict) else output.to_tuple()

    def generate(self, inputs: Tensor | None = None, *more: Any, **options: Any) -> Any:
        """Generates as `transformers` does. Raises ValueError for padding on the right; warns of other prompts."""
        ids = options.get("input_ids") if inputs is None else inputs
        if ids is None:
            raise ValueError("generate needs a prompt: input_ids")
        real = self._real(ids, options.get("attention_mask"))
        if not bool(real[:, -1].all()):
            raise ValueError("padding must stand on the left: what is generated follows the last token")
        if options.get("past_key_values") is None:
            self._check(ids, real)
        return super().generate(inputs, *more, **options)

    def prepare_inputs_for_generation(self, *given: Any, **kwargs: Any) -> dict[str, Any]:
        """Returns what `forward` takes of what the library prepares; positions follow from the padding."""
        parameters = inspect.signature(self.forward).parameters
        inputs = super().prepare_inputs_for_generation(*given, **kwargs)
        return {name: value for name, value in inputs.items() if name in parameters}

    def _real(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        """Returns a mask of the tokens that are no padding. Raises ValueError for what is no batch of tokens of this model."""
        words, dtype = len(self.config.vocabulary), str(self.network.words.dtype).removeprefix("torch.")
        if dtype != self.config.tried_in:
            raise ValueError(f"the weights are in {dtype} now; they were tried in {self.config.tried_in}")
        if ids.dtype not in (torch.int64, torch.int32):
            raise ValueError(f"input_ids must be int64 or int32, not {str(ids.dtype).removeprefix('torch.')}")
        if ids.ndim != 2 or not ids.numel():
            raise ValueError(f"input_ids must be (batch, length), both at least 1, not {tuple(ids.shape)}")
        real = ids != words
        if mask is not None:
            if mask.ndim != 2 or len(mask) != len(ids) or mask.shape[1] < ids.shape[1]:
                raise ValueError(f"attention_mask is {tuple(mask.shape)}, and input_ids are {tuple(ids.shape)}")
            real = real & mask[:, -ids.shape[1] :].bool()
        if odd := ids[real & ((ids < 0) | (ids >= words))].tolist():
            raise ValueError(f"{odd[0]} is no token number: they go from 0 to {words - 1}")
        return real

    def _read_cache(self, cache: Cache | None, batch: int) -> list[Kept]:
        """Returns what the mixers kept so far. Raises ValueError for a cache of another batch."""
        if cache is None or not cache.get_seq_length():
            return []
        kept = [(layer.keys, layer.values) for layer in cache.layers if layer.is_initialized]
        if len(kept[0][0]) != batch:
            raise ValueError(f"past_key_values has {len(kept[0][0])} rows, and input_ids {batch}")
        return kept

    def _row(self, ids: Tensor, here: Tensor, before: list[Kept], there: Tensor) -> NetworkOutput:
        """Returns what comes of one row. ids: token numbers, or rows of words. here, there: which of its tokens, and of those in
        the cache, are no padding.
        """
        earlier, now = int(there.sum()), int(here.sum())
        if earlier + now > (longest := self.config.max_position_embeddings):
            size = " and ".join(f"{name} = {n}" for name, n in self.config.domain["size"].items())
            raise ValueError(f"{earlier + now} tokens; these weights, for {size}, were tried on {longest} at most")
        kept = [(k[:, :, there], v[:, :, there]) for k, v in before]
        result = self.network.read(ids[here][None], kept if earlier else None)
        keys = torch.cat([there, here])
        weights = [
            torch.zeros(1, 0, len(here), len(keys), dtype=result.logits.dtype, device=ids.device)
            if part is None
            else _spread(_spread(part, 2, here), 3, keys)
            for part in result.weights
        ]
        return NetworkOutput(
            _spread(result.logits, 1, here),
            [_spread(x, 1, here) for x in result.stream],
            list(weights),
            [(_spread(k, 2, here, float("nan")), _spread(v, 2, here, float("nan"))) for k, v in result.kept],
        )

    def _check(self, ids: Tensor, real: Tensor) -> None:
        """Warns of each row that is no prompt of the domain."""
        words = self.config.vocabulary
        for row, (numbers, here) in enumerate(zip(ids, real, strict=True)):
            text = " ".join(words[number] for number in numbers[here].tolist())
            if not re.fullmatch(self.config.domain["prompt"], text):
                warnings.warn(f"row {row} is no prompt of this model. {self.config.domain['sentence']}", stacklevel=3)


def _spread(tensor: Tensor, dim: int, mask: Tensor, rest: float = 0) -> Tensor:
    """Returns what stands along `dim`, moved to where the mask is true; elsewhere `rest`."""
    size = list(tensor.shape)
    size[dim] = len(mask)
    empty = torch.full(size, rest, dtype=tensor.dtype, device=tensor.device)
    return empty.index_copy(dim, mask.nonzero()[:, 0], tensor)


def _stack(rows: list[list[Tensor]], wanted: bool) -> tuple[Tensor, ...] | None:
    """Stacks the rows as one batch, part by part."""
    return tuple(map(torch.cat, zip(*rows, strict=True))) if wanted else None


HandWiredConfig.register_for_auto_class()
HandWiredForCausalLM.register_for_auto_class("AutoModelForCausalLM")

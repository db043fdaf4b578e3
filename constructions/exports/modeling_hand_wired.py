"""A hand-wired model for Hugging Face transformers. It travels with its weights, and imports nothing else of the project."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

from .network import Network


class HandWiredConfig(PretrainedConfig):
    """shape: of the network, see network.py. max_position_embeddings: the most tokens that the weights were tried on."""

    model_type = "hand_wired"

    def __init__(self, shape: dict[str, Any] | None = None, **more: Any) -> None:
        self.shape = shape or {"vocabulary": 1, "d": 1, "head_width": 1, "longest": 1, "blocks": []}
        super().__init__(**more)


class HandWiredForCausalLM(PreTrainedModel, GenerationMixin):
    """Token numbers → logits; every position is computed anew in each step of `generate`."""

    config_class = HandWiredConfig
    _supports_cache_class = False

    def __init__(self, config: HandWiredConfig) -> None:
        super().__init__(config)
        self.network = Network(config.shape, config.dtype)
        self.post_init()

    def _init_weights(self, module: Any) -> None:
        """All weights are loaded."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **unused: Any) -> CausalLMOutput:
        """Raises ValueError beyond the longest sequence, and for padding: the first token must stand at position 1."""
        longest = self.config.max_position_embeddings
        if input_ids.shape[1] > longest:
            raise ValueError(f"{input_ids.shape[1]} tokens; these weights were tried on {longest} at most")
        if attention_mask is not None and not bool(attention_mask.bool().all()):
            raise ValueError("padding is not known here: give sequences of one length")
        return CausalLMOutput(logits=self.network(input_ids))

    def prepare_inputs_for_generation(self, input_ids: Tensor, **kwargs: Any) -> dict[str, Any]:
        return {"input_ids": input_ids}

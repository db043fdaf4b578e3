"""A trial of float rounding: an export's tokens beside those of an engine, on hard inputs, before the export is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from constructions.exports.limits import ExportError
from constructions.exports.program import network
from constructions.exports.writing import Export
from constructions.models.many import run_together
from constructions.models.request import Request
from constructions.models.search import END_SEARCH
from constructions.wiring.wired import Wired


def try_now(wired: Wired, requests: Sequence[Request], float_name: str) -> Mapping[str, int]:
    """Returns how many inputs were tried, and the most tokens of one. Raises ExportError with the first failing input."""
    longest = wired.model.longest or max(len(request.prompt) + request.limit for request in requests)
    module, most = network(Export(wired, float_name, longest, {}, (), 1)), 0
    for request, run in zip(requests, run_together(requests), strict=True):
        produced = run.tokens.tolist()
        sequence = [*request.prompt, *produced[:-1]]
        with torch.no_grad():
            said = module(torch.tensor([sequence]))[0, len(request.prompt) - 1 :].argmax(-1).tolist()
        for place, (mine, its) in enumerate(zip(produced, said, strict=True)):
            searched = wired.vocabulary[sequence[len(request.prompt) + place - 1]] == END_SEARCH
            if mine != its and not searched:  # what a search finds, no model says
                words = " ".join(wired.spelled(sequence[: len(request.prompt) + place])[:])
                what = (
                    f"{wired.construction} in {float_name} says {wired.vocabulary[its]}, not {wired.vocabulary[mine]}"
                )
                raise ExportError(f"{what}, after {words[:200]}; so it is not exported")
        most = max(most, len(sequence))
    return {"inputs": len(requests), "longest_sequence": longest, "longest_tried": most}

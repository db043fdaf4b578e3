"""An export with all that goes into it: the model, the sidecar with worked examples, the tokens that end a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from constructions.exports.limits import longest_sequence
from constructions.exports.writing import write
from constructions.show.dump import dump_document
from constructions.show.run import worked_examples
from constructions.wiring.wired import Wired


def export(
    model: Any,
    wired: Wired,
    kind: str,
    path: Path,
    float_name: str,
    given: object = None,
    tried: Mapping[str, int] | None = None,
) -> tuple[Path, ...]:
    """Writes a model, and returns the files or the folder. Raises ExportError, OSError.

    given: an input for the examples. tried: what `trial_of` returned for these weights; by default they are tried now.
    """
    tried = trial_of(model, wired, float_name, given) if tried is None else tried
    if tried is None:
        longest_sequence(
            wired, model.construction.model, float_name, model.size
        )  # before the examples, which may take long
    requests = list(model.examples(wired, given))
    sidecar = dump_document(model, wired, list(worked_examples(requests)), model.described(wired))
    limit = model.most_produced(wired) or max((request.limit for request in requests), default=1)
    return write(kind, path, wired, model, sidecar, requests, float_name, limit, tried)


def trial_of(model: Any, wired: Wired, float_name: str, given: object = None) -> Mapping[str, int] | None:
    """Tries the float rounding of a model that no table knows; returns None for one that a table knows. Raises ExportError."""
    if not hasattr(model, "tried"):
        return None
    from constructions.exports.self_test import try_now

    return try_now(wired, [*model.examples(wired, given), *model.tried(wired)], float_name)

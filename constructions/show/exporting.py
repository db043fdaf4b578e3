"""An export with all that goes into it: the model, the sidecar with worked examples, the tokens that end a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from constructions.exports.tried import longest_sequence
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
) -> tuple[Path, ...]:
    """Writes a model, and returns the files or the folder. given: an input for the examples. Raises ExportError, OSError."""
    architecture = model.construction.model
    tried = None
    if hasattr(model, "tried"):  # no table says where its float rounding was tried, so it is tried now
        from constructions.exports.trial import try_now

        tried = try_now(wired, [*model.examples(wired, given), *model.tried(wired)], float_name)
    else:
        longest_sequence(wired, architecture, float_name, model.size)  # before the examples, which may take long
    requests = list(model.examples(wired, given))
    sidecar = dump_document(model, wired, list(worked_examples(requests)), model.described(wired))
    limit = model.most_produced(wired) or max((request.limit for request in requests), default=1)
    return write(kind, path, wired, architecture, sidecar, requests, float_name, limit, tried)

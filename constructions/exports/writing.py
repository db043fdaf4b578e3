"""Writes a wired model as a program or folder of another tool, with the sidecar inside of it and beside it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from constructions.exports.files import replacing, replacing_folder
from constructions.exports.kinds import FLOATS, KINDS, NOT_CARRIED
from constructions.exports.limits import ExportError, longest_sequence
from constructions.models.model import Model
from constructions.models.request import Request
from constructions.models.search import END_SEARCH
from constructions.places import name_part, name_place
from constructions.wiring.wired import Wired


@dataclass(frozen=True, eq=False)
class Export:
    """What a writer is given. longest: the most tokens that the exported model may read. limit: the most that follow a prompt.

    stop: tokens after which the model writes no more: those that end a run, and the end of a search, which others carry out.
    """

    wired: Wired
    float_name: str
    longest: int
    sidecar: Mapping[str, Any]
    stop: tuple[int, ...]
    limit: int

    @property
    def text(self) -> str:
        """The sidecar as JSON."""
        return json.dumps(self.sidecar, ensure_ascii=False, indent=2) + "\n"


def sidecar_of(path: Path) -> Path:
    """Returns FILE.onnx.json of FILE.onnx: no two exports share one, and none takes that of FILE.safetensors, FILE.json."""
    return path.with_name(f"{path.name}.json")


def require(kind: str, path: Path, float_name: str = "float64", *, force: bool = False) -> None:
    """Raises ExportError if this kind cannot be written there; before any work."""
    if kind not in KINDS:
        raise ExportError(f"there is no export {kind!r}; there are {', '.join(KINDS)}")
    if float_name not in FLOATS:
        raise ExportError(f"there is no export in {float_name!r}; there are {', '.join(FLOATS)}")
    entry = KINDS[kind]
    missing = [name for name in entry.needs if find_spec(name) is None]
    if missing:
        raise ExportError(
            f"export {kind} needs {', '.join(missing)}: pip install 'rnn-transformer-constructions[export]'"
        )
    if not path.absolute().parent.is_dir():
        raise ExportError(f"{path}: there is no folder {path.absolute().parent}")
    if not entry.suffix:
        if path.is_file():
            raise ExportError(f"{path}: {kind} writes a folder, and this is a file")
        if path.is_dir() and any(path.iterdir()) and not force:
            raise ExportError(f"{path}: this folder is not empty; --force writes into it")
        return
    if path.suffix != entry.suffix:
        raise ExportError(f"{path}: the name of {entry.what} must end in {entry.suffix}")
    for file in (path, sidecar_of(path)):
        if file.is_dir():
            raise ExportError(f"{file}: this is a folder, not a file")
        if file.is_file() and not force:
            raise ExportError(f"{file} exists; --force overwrites it")


def write(
    kind: str,
    path: Path,
    wired: Wired,
    model: Model[Any, Any],
    sidecar: Mapping[str, Any],
    requests: Sequence[Request],
    float_name: str,
    limit: int,
    tried: Mapping[str, int] | None = None,
) -> tuple[Path, ...]:
    """Writes a model and returns the files, or the folder. sidecar: of a dump. requests: some of what it may be asked.
    limit: the most tokens after a prompt. tried: what `try_now` tells of a model that no table is about.

    Raises ExportError for a model that was not tried, OSError.
    """
    longest = (
        longest_sequence(wired, model.construction.model, float_name) if tried is None else tried["longest_sequence"]
    )
    module = importlib.import_module(f"{__package__}.{KINDS[kind].module}")
    about = {
        "kind": kind,
        "float": float_name,
        "longest_sequence": longest,
        "most_written": limit,
        "computes": f"the formulas of `forward` in {float_name}, without any R(…)",
        **({"tried": dict(tried)} if tried is not None else {}),
        **({"not_carried": NOT_CARRIED} if model.searches else {}),
        "heads": _heads(wired, module.weights_of),
    }
    stops = {token for request in requests for token in request.stop}
    if model.searches:  # then it is the caller's turn, who searches
        stops.add(wired.token[END_SEARCH])
    stop = tuple(sorted(stops))
    export = Export(wired, float_name, longest, {**sidecar, "export": about}, stop, limit)
    if not KINDS[kind].suffix:
        with replacing_folder(path) as fresh:
            module.write(export, fresh)
        return (path,)
    beside = sidecar_of(path)
    with replacing(path) as fresh, replacing(beside) as fresh_beside:  # both or neither
        module.write(export, fresh)
        fresh_beside.write_text(export.text, encoding="utf-8")
    return (path, beside)


def _heads(wired: Wired, weights_of: Callable[[int, int, str], Mapping[str, object]]) -> list[dict[str, object]]:
    """Returns every head by its name, and where a runtime has its attention weights: `weights_of` a block and a head from 0."""
    return [
        {
            "place": name_place(block, name_part("head", number, head.name)),
            "block": block,
            "head": number,
            "name": head.name,
            **weights_of(block - 1, number - 1, head.name),
        }
        for block, plan in enumerate(wired.blocks, start=1)
        for number, head in enumerate(plan.heads, start=1)
    ]

"""What a run of the verifier is told: files, sizes, precision, engine, device, seed."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FILES = "claims/[!_]*.py"  # where claims are written
STORED = "witnesses.json"  # beside the folder that they are in
DEFAULT_N_MAX = 64
DEFAULT_ENGINE = "reference"
ENGINES: Mapping[str, str] = {  # name → the module that must exist for it
    "reference": "constructions.engines.reference",
    "dense": "constructions.engines.dense",
    "native": "constructions.engines.native",
    "incremental": "constructions.engines.incremental",
}
DEVICES = ("cpu", "cuda")
LARGEST_N = 10_000_000  # a claim at this size takes hours
LARGEST_PRECISION = 1023  # the scales of wider formats leave float64's range
MOST_MINUTES = 7 * 24 * 60
MOST_NAMED = 5  # claims that begin with what was typed
# For pytest started from our own code: where the plugin is installed, pytest would rather have imported all of it itself.
ALREADY_IMPORTED = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")


@dataclass(frozen=True)
class Options:
    """One run. p_bits: None where each claim takes the precision that it is stated for."""

    n_max: int = DEFAULT_N_MAX
    p_bits: int | None = None
    engines: tuple[str, ...] = (DEFAULT_ENGINE,)
    device: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_max < 1:
            raise ValueError(f"--n-max {self.n_max}: the largest size must be at least 1")
        if self.n_max > LARGEST_N:
            raise ValueError(f"--n-max {self.n_max}: the largest size can be {LARGEST_N} at most")
        if self.p_bits is not None and self.p_bits > LARGEST_PRECISION:
            raise ValueError(f"--p-bits {self.p_bits}: a precision has {LARGEST_PRECISION} bits at most")
        if self.p_bits is not None and (self.p_bits < 5 or self.p_bits % 2 == 0):
            raise ValueError(f"--p-bits {self.p_bits}: a precision is an odd number of bits, at least 5")
        if self.device not in DEVICES:
            raise ValueError(f"--device {self.device}: want one of {', '.join(DEVICES)}")


def whole_number(text: str) -> int:
    """Parses digits and perhaps a sign. `int` takes 1_000 as well, and digits of every script."""
    if not re.fullmatch(r"[+-]?[0-9]{1,99}", text):
        raise argparse.ArgumentTypeError(f"want a whole number of at most 99 digits, not {text[:99]!r}")
    return int(text)


def minutes(text: str) -> float:
    """Parses minutes: digits, perhaps with a point."""
    if not re.fullmatch(r"[+-]?[0-9]{0,99}[.]?[0-9]{1,99}", text):
        raise argparse.ArgumentTypeError(f"want a number of minutes, not {text[:99]!r}")
    return float(text)


def require_once(arguments: Sequence[str], names: Collection[str]) -> None:
    """Raises ValueError if one of these options is given twice: pytest itself silently takes the second value."""
    given = [argument.partition("=")[0] for argument in arguments]
    for name in names:
        if given.count(name) > 1:
            raise ValueError(f"{name} is given twice; give it once")


def chosen_engines(name: str) -> tuple[str, ...]:
    """Returns the engines that `--engine` asks for; ValueError names one that does not exist or is not built."""
    if name != "all" and name not in ENGINES:
        from constructions.engines import current_name  # imports the constructions

        name = current_name(name)
    if name != "all" and name not in ENGINES:
        raise ValueError(f"--engine {name}: want one of {', '.join(ENGINES)}, all")
    engines = tuple(ENGINES) if name == "all" else (name,)
    if engines == (DEFAULT_ENGINE,):  # always there; looking would import the constructions
        return engines
    missing = [engine for engine in engines if not is_built(engine)]
    if missing:
        there = ", ".join(engine for engine in ENGINES if is_built(engine))
        raise ValueError(f"--engine {name}: not built yet: {', '.join(missing)}; there is: {there}")
    return engines


def matching(wanted: str, ids: Sequence[str]) -> set[str]:
    """Returns the id itself; else what lies below it (C.1: C.1/printed, not C.15); else what begins with it."""
    if wanted in ids:
        return {wanted}
    below = {id for id in ids if id.startswith(f"{wanted}/")}
    return below or {id for id in ids if id.startswith(wanted)}


def no_claim(wanted: str, ids: Collection[str]) -> str:
    """Returns the line that answers an id which no claim has."""
    import difflib

    wanted = wanted.strip()
    longer = sorted(matching(wanted, [*ids]), key=len)[:MOST_NAMED] if wanted else []
    close = longer or difflib.get_close_matches(wanted, ids, cutoff=0.4)
    near = f"; close: {', '.join(close)}" if close else ""
    return f"no such claim{near}; `python -m verify.replay --list` lists them"


def where(file: Path) -> str:
    """Returns what a replay of its claims needs to be told: the folder that theirs is in, unless it is the verifier's own."""
    folder = file.parent.parent
    return "" if folder == Path(__file__).parents[1] else f" --claims {shlex.quote(os.path.relpath(folder))}"


def require_device(device: str) -> None:
    """Raises ValueError if the device is not there. Imports torch only when it has to be asked."""
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ValueError("--device cuda: torch finds no CUDA device here")


def is_built(engine: str) -> bool:
    """Returns whether the engine's module is there, without an import."""
    return importlib.util.find_spec(ENGINES[engine]) is not None

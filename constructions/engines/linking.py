"""Machine code of a program's text: compiled once for each processor and compiler, then read from a folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

DIGEST = 32  # bytes
MOST_FILES = 200  # that are kept, those that were used last
FOLDER = "CONSTRUCTIONS_CACHE"  # of the environment


def link(text: str) -> Any:
    """Returns what holds the machine code of this text."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple, processor = llvm.get_default_triple(), llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=processor, features=features, opt=1, jit=True)
    about = (llvmlite.__version__, llvm.llvm_version_info, triple, processor, features, text)
    file = _folder() / hashlib.sha256(repr(about).encode()).hexdigest()
    code = _read(file)
    module = llvm.parse_assembly(text if code is None else "")
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    if code is None:
        _simplify(module, machine)
    linked = llvm.create_mcjit_compiler(module, machine)
    if code is None:
        linked.set_object_cache(lambda _, made: _write(file, made))
    else:
        linked.set_object_cache(None, lambda _: code)
    linked.finalize_object()
    return linked


def _simplify(module: Any, machine: Any) -> None:
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_function_pass_manager()
    passes.add_sroa_pass()  # variables become registers
    passes.add_instruction_combine_pass()  # most other passes take longer than they save
    for function in module.functions:
        passes.run(function, builder)


def _folder() -> Path:
    """Returns the folder that CONSTRUCTIONS_CACHE names, else the user's for caches."""
    if named := os.environ.get(FOLDER):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "constructions")


def _digest(file: Path, code: bytes) -> bytes:
    """Returns a digest of the code and of the file's name, so that the code of another program is not taken for this one's."""
    return hashlib.sha256(file.name.encode() + code).digest()


def _read(file: Path) -> bytes | None:
    """Returns the code that a file holds; None if there is none, if another user may have written it, or if it is cut short."""
    with suppress(OSError):
        about = file.stat()
        data = file.read_bytes()
        own = about.st_uid == os.getuid() and not about.st_mode & 0o022
        if own and _digest(file, data[DIGEST:]) == data[:DIGEST]:
            os.utime(file)
            return data[DIGEST:]
    return None


def _write(file: Path, code: bytes) -> None:
    """Keeps the code, whole or not at all; what cannot be kept is compiled again."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as out:
            out.write(_digest(file, code) + code)
        os.replace(out.name, file)
        if len(kept := list(file.parent.iterdir())) > MOST_FILES:
            for old in sorted(kept, key=lambda one: one.stat().st_mtime)[:-MOST_FILES]:
                old.unlink()

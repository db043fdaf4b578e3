"""Programs in files: one's own anywhere on disk, `FILE.py` or `FILE.py:NAME`, and those of the gallery by name."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import sys
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from constructions.language import values
from constructions.language.copies import Once, answer, exact_copy, text_of
from constructions.language.functions import limit_time, report_failures
from constructions.language.handwired import HandWired, plain_blocks
from constructions.language.model import ProgramModel
from constructions.language.own_code import require_same_code
from constructions.language.program import Program, in_architecture
from constructions.language.program import program as make_program
from constructions.language.terms import Term
from constructions.language.values import Output, Value, as_output

GALLERY = Path(__file__).parents[1] / "gallery"
KNOWN = frozenset(id(value) for value in vars(values).values() if isinstance(value, Value))


def names_of_gallery() -> tuple[str, ...]:
    """Returns the files of the gallery."""
    return tuple(sorted(path.stem for path in GALLERY.glob("*.py") if not path.stem.startswith("_")))


def is_file(name: str) -> bool:
    """Returns whether a name means a file: FILE.py, or FILE.py:NAME."""
    path, _, _ = name.partition(".py:")
    return name.endswith(".py") or path != name


def load_program(name: str) -> Program:
    """Returns the program of `load_model`."""
    return load_model(name).program


def load_model(name: str) -> ProgramModel:
    """Returns the model of a program in a file, or in the gallery: compiled, or as the file wires it.

    Raises ValueError, with one line that names the file, and the line where it can.
    """
    if not is_file(name):
        if name not in names_of_gallery():
            raise ValueError(
                f"there is no program {name[:40]!r}: give FILE.py or FILE.py:NAME, or one of {', '.join(names_of_gallery())}"
            )
        return _choose(GALLERY / f"{name}.py", "")
    path, colon, chosen = name.partition(".py:")
    if colon and not chosen:
        raise ValueError(f"{name} names no program after the colon; give {path}.py or {path}.py:NAME")
    return _choose(Path(path + ".py" if colon else name), chosen)


def _choose(path: Path, name: str) -> ProgramModel:
    programs = _models(path)
    if not programs:
        raise ValueError(f"{path}: there is no program in it; make one by `program(…)` and give it a name")
    if not name and len(programs) > 1:
        raise ValueError(f"{path}: which program? Give {path}:NAME, NAME one of {', '.join(programs)}")
    if name and name not in programs:
        raise ValueError(f"{path}: there is no program {name!r}; there is {', '.join(programs)}")
    return programs[name or next(iter(programs))]


def _models(path: Path) -> dict[str, ProgramModel]:
    """Returns the models of a file, by name. One is called as its variable is; the only one of a file as the file.

    A program that a model wired by hand is for is no model by itself.
    """
    module = _execute(path)
    values_of_file = {text_of(key): value for key, value in vars(module).items()}
    wired = {key: value for key, value in values_of_file.items() if issubclass(type(value), HandWired)}
    described = [model.program for model in wired.values()]
    programs = {
        key: ProgramModel(value)
        for key, value in values_of_file.items()
        if issubclass(type(value), Program) and not any(value is program for program in described)
    }
    unique: dict[str, ProgramModel] = {}
    for key, value in {**programs, **wired}.items():
        same = (other for other in unique.values() if type(other) is type(value))
        if not any(
            value is other or (type(value) is ProgramModel and value.program is other.program) for other in same
        ):
            unique[key] = value
    names, lines = _names(module), _lines(path)
    alone = len(unique) == 1
    copies: dict[str, ProgramModel] = {}
    for key, model in unique.items():
        with report_failures(f"{path}: the program {key}"):
            name = text_of(model.program.name) or (path.stem if alone else key)
            program = _copy(model.program, name, _first_line(module), names)
            program = replace(program, lines={**lines, "": lines.get(key, 0)})
            copies[key] = _copy_wiring(model, program) if isinstance(model, HandWired) else ProgramModel(program)
    return copies


def _copy(given: Program, name: str, statement: str, names: Mapping[Term, str]) -> Program:
    """Makes the program from exact_copy copies of all that the file gives; functions of n are asked once for each n."""
    made = make_program(
        Output(answer(given.says)) if isinstance(given.says, Output) else Once(given.says, _output),
        prompt=exact_copy(given.texts.prompt),
        thought=exact_copy(given.texts.thought),
        stop=text_of(given.stop),
        oracle=given.oracle,
        answer=given.answer,
        wrong=given.wrong,
        draw=given.draw,
        architecture=in_architecture(given, text_of(given.architecture)).architecture,
        statement=text_of(given.statement) or statement,
        source=text_of(given.source),
        examples=exact_copy(given.examples),
        name=name,
        pins=exact_copy(given.pins),
        precision=None if given.precision is None else Once(given.precision, exact_copy),
    )
    return replace(made, names=names)


def _output(said: object) -> Output:
    return Output(answer(as_output(exact_copy(said))))


def _copy_wiring(given: HandWired, program: Program) -> HandWired:
    """Returns the model that a file wires by hand, for this program; from exact copies, as above."""
    blocks, bits = Once(given.blocks, plain_blocks), Once(given.least_bits, exact_copy)
    return HandWired(program, blocks, bits, exact_copy(given.meanings))


def _names(module: ModuleType) -> dict[Term, str]:
    """Returns what the file calls its values, but for those of the language."""
    names: dict[Term, str] = {}
    for key, value in [(text_of(key), value) for key, value in vars(module).items()]:
        if issubclass(type(value), Value) and id(value) not in KNOWN and key.isidentifier() and not key.startswith("_"):
            names.setdefault(exact_copy(value.term), key)
    return names


def _lines(path: Path) -> dict[str, int]:
    """Returns the line in which a file gives each of its names, the last one of several."""
    tree = ast.parse(path.read_bytes())
    return {
        node.id: node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and type(node.ctx) is ast.Store
    }


def _first_line(module: ModuleType) -> str:
    return text_of(module.__doc__ or "").strip().partition("\n")[0]


def _execute(path: Path) -> ModuleType:
    """Returns the file as a module. Raises ValueError for one that cannot be read, or that fails, with the line."""
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file" if not path.exists() else f"{path}: this is no file")
    spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path}: this is no Python file")
    module = importlib.util.module_from_spec(spec)
    wrote, before = sys.dont_write_bytecode, sys.modules.get(module.__name__)
    sys.dont_write_bytecode = True  # nothing is left beside somebody's file
    sys.modules[module.__name__] = module  # where a dataclass looks for it
    linecache.checkcache(str(path))
    try:
        with require_same_code("this file"), limit_time(f"{path}: executing this file"):
            spec.loader.exec_module(module)
    except SyntaxError as error:
        raise ValueError(f"{path}:{error.lineno}: {error.msg}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # somebody's code may raise anything, and end the program
        if isinstance(error.__cause__, TimeoutError):
            raise
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == spec.origin]
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise ValueError(f"{path}:{lines[-1] if lines else 1}: {kind}{what}") from error
    finally:
        sys.dont_write_bytecode = wrote
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before
    return module

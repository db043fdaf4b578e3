"""The constructions from Python: wire a model, run it by any engine, look at its registers by name.

import constructions

model = constructions.load("istree", n=4)
result = model.run([(1, 2), (2, 3), (3, 4)])
result.answer, result.chain_of_thought, result["father"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constructions.engines import Decoded, find_engine
from constructions.layers import LARGEST_PRECISION
from constructions.models.door import Door, find_door
from constructions.models.model import RunAnswer
from constructions.models.options import require_size, require_whole, show_number
from constructions.models.request import Run
from constructions.places import name_part, name_place
from constructions.wiring.wired import Wired
from precision.format import Discipline

if TYPE_CHECKING:
    from constructions.engines.reference import Flags
    from constructions.language.model import ProgramModel
    from constructions.language.program import Program
    from constructions.show.steps import Steps

MOST_SHOWN = 24  # tokens of a result in a notebook
SHARE = 1000  # inputs that a worker of a cluster gets at a time


def load(
    name: str | Path | Program | ProgramModel,
    model: str | None = None,
    *,
    variant: str = "repaired",
    findings: Iterable[str] = (),
    p: int | None = None,
    sequential: bool = False,
    **options: Any,
) -> LoadedModel:
    """Returns a construction, by the name that `python -m constructions` lists; or a program, compiled or wired by hand: of the
    gallery by its name, of a file by FILE.py or FILE.py:NAME, or itself.

    model: by default the usual one. variant, findings, p, sequential: as --variant, --printed, --precision and --discipline of
    its command. options: those of the construction, its size among them; an unknown one is answered by their names. Without a
    size the model is wired anew for each input. Raises ValueError, with one line, for what there is not, and for a size beyond
    memory.
    """
    door = _door_of(name)
    p = None if p is None else require_whole("p", p)
    if not isinstance(sequential, bool | np.bool_):
        raise ValueError(f"sequential is True or False, not {sequential!r}")
    if p is not None and abs(p) > LARGEST_PRECISION:
        raise ValueError(f"p = {show_number(p)} is not in 5 … {LARGEST_PRECISION:,}, the bits that are wired here")
    discipline = Discipline.SEQUENTIAL if sequential else Discipline.FUSED
    solver, n = door.open(model, discipline, options)
    if variant not in ("repaired", "printed"):
        solver = solver.in_variant(variant)
    if not isinstance(findings, Iterable):
        raise ValueError(f"findings are names of findings, not {findings!r}")
    ids = (findings,) if isinstance(findings, str) else tuple(findings)
    if variant == "printed":
        if ids:
            raise ValueError("findings are for the repaired variant; the printed one has all of them")
        ids = tuple(finding.id for finding in solver.construction.findings)
    given = {"variant": variant, "findings": () if variant == "printed" else ids, "p": p, "sequential": sequential}
    name = str(Path(name).resolve()) if isinstance(name, Path) else name
    source = {"name": name, "model": model, **given, **options}
    loaded = LoadedModel(door, solver, n, ids, p, discipline, source)
    if n is not None:
        _ = loaded.wired  # what is wrong with n or p is said here
    return loaded


def _door_of(name: str | Path | Program | ProgramModel) -> Door[Any]:
    """Returns the door of a construction or a program. Raises ValueError for a name that neither has."""
    from constructions.language.files import is_file, load_model, names_of_gallery
    from constructions.language.model import ProgramModel
    from constructions.language.program import Program

    if isinstance(name, Program):
        return ProgramModel(name).door
    if isinstance(name, ProgramModel):
        return name.door
    if not isinstance(name, str | Path):
        raise ValueError(f"a construction is named by a text, a path or a program, not {name!r}")
    if isinstance(name, Path) or is_file(name) or name in names_of_gallery():
        return load_model(str(name)).door
    return find_door(name)


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model of a construction: what it is wired for, and the weights. n: None if each input says it.

    source: what `load` was given; fits: the input that n was taken from, if it was. A pickled model is made again from these two.
    """

    door: Door[Any]
    solver: Any
    n: int | None
    findings: tuple[str, ...]
    precision_bits: int | None
    discipline: Discipline
    source: Mapping[str, Any]
    fits: object = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (dict(self.source), self.fits)

    @cached_property
    def wired(self) -> Wired:
        """The weights with their names. Raises ValueError without n, and for an n or p that they cannot be wired for."""
        if self.n is None:
            raise ValueError(f"{self.door.name} was loaded without a size; only `run` knows one, from its input")
        wired: Wired = self.solver.build(self.n, self.precision_bits, printed=self.findings, discipline=self.discipline)
        return wired

    @property
    def registers(self) -> tuple[str, ...]:
        """The names of the residual stream's coordinates."""
        return self.wired.registers

    @property
    def meanings(self) -> Mapping[str, str]:
        """Returns what each register holds, in words."""
        return {name: self.solver.construction.meaning(name) for name in self.registers}

    def run(self, given: object = None, *, engine: str = "auto", device: str | None = None) -> Result:
        """Runs the model on an input: what the command takes as text, a list of edges, (sequence, query), a number of steps.

        device: of the engine dense, cpu or cuda. Raises ValueError for what is no input, or beyond n, or for a device that is not
        there; SearchError for a search that cannot be carried out.
        """
        question = self.solver.read_input(given, self.n)
        fitted = self.fitted(question)
        return fitted.result(question, fitted.solver.request(fitted.wired, question).run(find_engine(engine, device)))

    def run_many(
        self,
        inputs: Iterable[object],
        *,
        engine: str = "auto",
        device: str | None = None,
        progress: bool = False,
        client: Any = None,
    ) -> list[Result]:
        """Returns the results of all inputs in order, each as `run` gives it.

        engine: auto takes inputs of one size together, in batches of `dense`; any other one runs input by input.
        progress: tell on stderr how many are done, and how much time is left. client: a `dask.distributed.Client`, whose workers
        share the inputs; each needs this package. Raises ValueError for an input that is none, named by its place from 0.
        """
        given = list(inputs)
        if engine != "auto" or device is not None:
            find_engine("dense" if engine == "auto" else engine, device)  # what there is not is said before any work
        with _progress("running", len(given)) if progress else nullcontext(lambda done: None) as tick:
            if client is not None:
                return _spread(self, given, engine, device, client, tick)
            results = []
            for result in self._each(given, engine, device):
                results.append(result)
                tick(len(results))
            return results

    def _each(self, given: Sequence[object], engine: str, device: str | None) -> Iterator[Result]:
        questions, models = [], dict[Any, LoadedModel]()
        for place, item in enumerate(given):
            try:
                question = self.solver.read_input(item, self.n)
                model = self.fitted(question)
                model = models.setdefault((model.n, repr(model.solver)) if model.fits is not None else None, model)
                questions.append((model, question, model.solver.request(model.wired, question)))
            except ValueError as error:
                raise ValueError(f"input {place}: {error}") from error
        requests = [request for _, _, request in questions]
        if engine == "auto":
            from constructions.models.many import run_together

            runs = run_together(requests, device or "cpu")
        else:
            runs = (request.run(find_engine(engine, device)) for request in requests)
        for (model, question, _), run in zip(questions, runs, strict=True):
            yield model.result(question, run)

    def fitted(self, question: Any) -> LoadedModel:
        """Returns this model; if it was loaded without a size, one of the size that the input needs."""
        if self.n is not None:
            return self
        solver, n = self.solver.fitting(question)
        require_size(self.solver.size, n, self.door.most)
        return replace(self, solver=solver, n=n, fits=question)

    def result(self, question: Any, run: Run) -> Result:
        """Returns what a run of this model on an input says."""
        answer = self.solver.read(run)
        said = self.solver.run_answer(run, answer)
        return Result(self, run, said, self.solver.judge(question, run, answer), question)

    def export(
        self, kind: str, path: str | Path, *, float_name: str = "float64", force: bool = False
    ) -> tuple[Path, ...]:
        """Writes the model as `--export KIND PATH` of its command, and returns the files. Raises ExportError, a ValueError."""
        from constructions.exports.writing import require
        from constructions.show.exporting import export

        require(kind, Path(path), float_name, force=force)
        return export(self.solver, self.wired, kind, Path(path), float_name)

    def __repr__(self) -> str:
        about = ", ".join(f"{key}={value!r}" for key, value in self._about().items())
        return f"<{self.door.name} {about}>"

    def _about(self) -> dict[str, object]:
        about: dict[str, object] = {"model": self.solver.construction.model, **self.solver.particulars()}
        if self.findings:
            about["findings"] = ", ".join(self.findings)
        if self.n is not None:
            wired = self.wired
            about |= {"n": self.n, "p": wired.arithmetic.format.significand_bits + 1}
            about |= {"blocks": len(wired.model.blocks), "registers": wired.model.width}
        return about

    def _repr_html_(self) -> str:
        construction = self.solver.construction
        rows = _rows((key, str(value)) for key, value in self._about().items())
        return f"<b>{escape(self.door.name)}</b>, {escape(construction.source)}: {escape(construction.statement)}{rows}"


@dataclass(frozen=True, eq=False)
class Result:
    """One run. `result["father"]` is a register after the last block, exactly, at each token that was read.

    complaint: what is wrong with what the model wrote, "" if it holds up. question: the input.
    The fields of the command's --json are attributes, among them those of one construction alone, such as `result.halted`.
    """

    loaded: LoadedModel
    run: Run
    said: RunAnswer
    complaint: str
    question: object

    def __reduce__(self) -> tuple[Any, ...]:
        decoded = self.run.decoded
        about = decoded.engine, decoded.recorded is not None
        return _said_again, (self.loaded, self.question, decoded.produced, *about)

    @property
    def answer(self) -> str | None:
        """The last word, such as YES; None if the model gave none."""
        return self.said.answer

    @property
    def chain_of_thought(self) -> list[str]:
        """Returns what stands between the input and the answer."""
        return list(self.said.chain_of_thought)

    @property
    def input(self) -> list[str]:
        """The tokens of the prompt."""
        return list(self.run.prompt)

    @property
    def tokens(self) -> list[str]:
        """The whole sequence: the prompt, and all that follows."""
        return list(self.run.words)

    @property
    def engine(self) -> str:
        """Returns the name of the engine that ran the weights."""
        return self.run.decoded.engine

    @cached_property
    def document(self) -> dict[str, object]:
        """Returns what the command prints with --json. The flags may take the engine another run."""
        from constructions.show.run import run_document

        model = self.loaded.solver.construction.model
        return run_document(self.run, model, self.chain_of_thought, self.answer, self.said.more)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.said.more:
            return self.said.more[name]
        if name in self.document:
            return self.document[name]
        raise AttributeError(f"a result of {self.loaded.door.name} has no {name!r}")

    # What the tokens left behind

    def register(self, name: str, block: int | None = None) -> tuple[Fraction, ...]:
        """Returns a register at each token that was read (all but the last that was written), after a block, 0 for the
        embedding.

        block: from 1, by default the last. Raises KeyError for a name and IndexError for a block that there is not.
        """
        quantum = self._wired.arithmetic.format.quantum
        return tuple(int(value) * quantum for value in self._quanta(name, block))

    def array(self, name: str, block: int | None = None) -> NDArray[np.float64]:
        """Returns the values as float64, rounded to nearest."""
        return np.array([float(value) for value in self.register(name, block)])

    def __getitem__(self, name: str) -> tuple[Fraction, ...]:
        return self.register(name)

    def heads(self) -> list[tuple[int, str]]:
        """Returns each head as its block, from 1, and its name."""
        return [(number, head.name) for number, plan in enumerate(self._wired.blocks, start=1) for head in plan.heads]

    def attention(self, block: int, head: int | str = 1) -> NDArray[np.float64]:
        """Returns the weights of a head, a row for each token that asks, a column for each that is read.

        block, head: from 1; the head by its name, too.
        Raises IndexError or KeyError for one that there is not.
        """
        if not isinstance(block, int | np.integer) or not 1 <= block <= len(self._wired.blocks):
            raise IndexError(f"there is no block {block!r}; there are blocks 1 … {len(self._wired.blocks)}")
        names = [attention_head.name for attention_head in self._wired.blocks[block - 1].heads]
        if head not in names and head not in range(1, len(names) + 1):
            has = ", ".join(name_part("head", i, name) for i, name in enumerate(names, start=1))
            raise KeyError(f"{name_place(block)} has no head {head!r}; it has {has or 'none'}")
        place = names.index(head) if isinstance(head, str) else head - 1
        quantum, length = self._wired.arithmetic.format.quantum, len(self._steps.next_tokens)
        result = np.zeros((length, length))
        for row in range(length):
            for position, weight in self._steps.attention(row + 1)[block - 1][place]:
                result[row, position - 1] = float(weight * quantum)
        return result

    @property
    def _wired(self) -> Wired:
        return self.run.request.wired

    @cached_property
    def _steps(self) -> Steps:
        from constructions.show.steps import observed

        wired = self._wired
        read = [*self.run.request.prompt, *self.run.tokens[:-1].tolist()]
        return observed(wired.model, wired.arithmetic, read)

    def _quanta(self, name: str, block: int | None) -> Iterable[int]:
        if name not in self._wired.registers:
            raise KeyError(f"there is no register {name!r}; there are {', '.join(self._wired.registers)}")
        blocks = len(self._wired.blocks)
        if block is not None and not (isinstance(block, int | np.integer) and 0 <= block <= blocks):
            raise IndexError(f"there is no block {block!r}; there are blocks 1 … {blocks}, and 0 for the embedding")
        place, sublayer = self._wired.registers.index(name), 2 * (blocks if block is None else block)
        return self._steps.streams[sublayer][place]

    def __repr__(self) -> str:
        wrong = f", refuted: {self.complaint}" if self.complaint else ""
        return f"<{self.loaded.door.name}: {_shorten(self.chain_of_thought)} {self.answer}{wrong}>"

    def _repr_html_(self) -> str:
        rows = [
            ("input", _shorten(self.input)),
            ("chain of thought", _shorten(self.chain_of_thought)),
            ("answer", str(self.answer)),
            ("engine", self.engine),
            *([("refuted", self.complaint)] if self.complaint else []),
            *((key, str(value)) for key, value in self.said.more.items()),
        ]
        return f"<b>{escape(repr(self.loaded))}</b>{_rows(rows)}"


def _again(source: Mapping[str, Any], fits: object) -> LoadedModel:
    """Returns a model where it was pickled."""
    loaded = load(**source)
    return loaded if fits is None else loaded.fitted(fits)


def _said_again(
    loaded: LoadedModel,
    question: object,
    produced: list[int],
    engine: str,
    has_flags: bool,
) -> Result:
    """Returns a result where it was pickled: its tokens are read and judged anew."""
    request = loaded.solver.request(loaded.wired, question)

    def flags() -> Flags | None:
        again: Run = replace(request, guess=produced).run(find_engine("dense"))
        return again.decoded.flags

    decoded = Decoded(produced, flags if has_flags else None, engine)
    return loaded.result(question, Run(request, np.array(produced, np.int64), decoded))


def _spread(
    model: LoadedModel,
    given: Sequence[object],
    engine: str,
    device: str | None,
    client: Any,
    tick: Callable[[int], None],
) -> list[Result]:
    """Runs inputs on the workers of a Dask cluster, some at a time. Returns their results in order."""
    parts = [given[start : start + SHARE] for start in range(0, len(given), SHARE)]
    futures = [
        client.submit(_part, model, part, SHARE * place, engine, device, pure=False) for place, part in enumerate(parts)
    ]
    results: list[Result] = []
    for future in futures:
        results += future.result()
        tick(len(results))
    return results


def _part(model: LoadedModel, given: Sequence[object], first: int, engine: str, device: str | None) -> list[Result]:
    """Runs some of the inputs, on a worker of the cluster. first: the number of the first one, for messages."""
    try:
        return list(model._each(given, engine, device))
    except ValueError as error:
        place, _, what = str(error).removeprefix("input ").partition(": ")
        raise ValueError(f"input {first + int(place)}: {what}" if place.isdecimal() else str(error)) from error


def _progress(title: str, last: int) -> AbstractContextManager[Callable[[int], None]]:
    """Returns the progress bar that commands show for long work."""
    from constructions.show.cli import progress

    return progress(title, last, unit="inputs")


def _shorten(words: Sequence[str]) -> str:
    more = len(words) - MOST_SHOWN
    return " ".join(words[:MOST_SHOWN]) + (f" … {more} more" if more > 0 else "")


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in rows)
    return f"<table>{cells}</table>"

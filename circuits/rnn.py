"""An RNN that somebody brings: a Python file, or a step circuit in AIGER with its words.

A file has the constant STATE_BITS and a triple RNN = (start, step, answer):

    STATE_BITS = 16
    RNN = (lambda: 0, lambda state, token: (state * 31 + token) % 2**16, lambda state, query: state % 7)

`start()` is the first state, `step(state, token)` the next one, `answer(state, query)` the answer to a query, a tuple of
numbers. In place of `answer` an object may have `words(state)`, which yields a chain of thought; its last word is the answer, and
the query is read by `step` before. `step` may take the position, from 1, as a third argument. States are numbers, texts, bytes,
tuples of these, or arrays of numpy or torch.

A file is code, and is trusted like code; what it computes is checked: a step that depends on more than its state, its token and its
position is refused where a second run shows it.
"""

from __future__ import annotations

import inspect
import itertools
import json
import os
import signal
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from circuits.aiger_read import read
from circuits.circuit import Circuit
from constructions.show import cli

LONGEST_STEP = 10.0  # seconds, of some hundred steps together
PLAIN = (int, bool, float, str, bytes, type(None))  # types of states that no step can change
ENDED = getattr(signal, "SIGVTALRM", 0)  # what ends a child whose step does not
LONGEST_THOUGHT = 100_000  # words of a chain of thought


class RnnError(ValueError):
    """What somebody brought is no RNN; the message is one line."""


@dataclass(frozen=True)
class FunctionRnn:
    """start() → state; step(state, token, position) → state; answer(state, query) → the words that it says, the answer last.

    state_bits: how many bits a state has. reads_words: tokens are words of a prompt, marks included, not a task's numbers alone.
    words: the tokens that it reads, if it lists them. reads_position: `step` takes the position.
    """

    name: str
    state_bits: int
    start: Callable[[], Any]
    step: Callable[[Any, Any, int], Any]
    answer: Callable[[Any, tuple[int, ...]], list[str]]
    reads_words: bool = False
    words: tuple[Any, ...] | None = None
    reads_position: bool = False

    def state_after(self, tokens: Sequence[Any]) -> Any:
        state = self.start()
        for position, token in enumerate(tokens, start=1):
            state = self.step(state, token, position)
        return state


def key(state: Any) -> Any:
    """Returns a hashable value, equal exactly for equal states. Raises RnnError for an object that can be no state."""
    if state is None or type(state) in (int, bool, str, bytes):
        return state
    if isinstance(state, tuple | list):
        return (type(state).__name__, *map(key, state))
    if isinstance(state, float):
        return struct.pack(">d", state)
    if isinstance(state, int | bytes):
        return int(state) if isinstance(state, int) else bytes(state)
    if hasattr(state, "detach") and hasattr(state, "numpy"):  # a tensor of torch
        state = state.detach().cpu().numpy()
    if hasattr(state, "tobytes") and hasattr(state, "dtype"):
        return (str(state.dtype), getattr(state, "shape", ()), state.tobytes())
    with suppress(TypeError):
        hash(state)
        equality: Any = type(state).__eq__
        if equality is not object.__eq__:  # else a state that is changed equals itself
            return state
    raise RnnError(f"a state is a number, a text, bytes, a tuple or an array, not a {type(state).__name__}")


def own(state: Any) -> Any:
    """Returns a copy of a state, so that a step that changes what it is given changes no other state."""
    if type(state) in PLAIN or (type(state) is tuple and all(type(part) in PLAIN for part in state)):
        return state
    return state.clone() if hasattr(state, "clone") else deepcopy(state)


def load(text: str, words: Path | None = None) -> FunctionRnn:
    """Returns the RNN of FILE.py, FILE.py:NAME or STEP.aag. words: of a circuit. Raises RnnError."""
    path, _, name = text.rpartition(":") if ".py:" in text else (text, "", "RNN")
    if path.endswith((".aag", ".aig")):
        if words is None:
            raise RnnError(f"{path} is a circuit: --words says which bits its words are")
        return load_circuit(read(Path(path)), json.loads(words.read_text(encoding="utf-8")), path)
    if not path.endswith(".py"):
        raise RnnError(f"{text!r} is neither FILE.py, FILE.py:NAME nor STEP.aag")
    file = Path(path)
    if not file.is_file():
        raise RnnError(f"{path}: there is no such file")
    module: dict[str, Any] = {"__name__": file.stem, "__file__": str(file)}
    folder = str(file.resolve().parent)
    sys.path.append(folder)
    with guard(f"{path}"):
        exec(compile(file.read_text(encoding="utf-8"), path, "exec"), module)
    if name not in module:
        raise RnnError(f"{path} has no {name}: a triple (start, step, answer)")
    return load_object(module[name], module.get("STATE_BITS"), text, module.get("WORDS"))


def load_object(given: Any, state_bits: Any, name: str, words: Any = None) -> FunctionRnn:
    """Returns the RNN of a triple, or of an object with `start`, `step` and `answer` or `words`. Raises RnnError."""
    bits = getattr(given, "STATE_BITS", state_bits)
    if isinstance(bits, bool) or not isinstance(bits, int) or bits < 0:
        raise RnnError(f"{name}: STATE_BITS is the number of bits of a state, not {bits!r}")
    says = getattr(given, "answer", None)
    if isinstance(given, tuple | list):
        if len(given) != 3 or not all(map(callable, given)):
            raise RnnError(f"{name} is a triple of functions (start, step, answer)")
        start, step, says = given
    else:
        start, step = (getattr(given, what, None) for what in ("start", "step"))
    thinks = getattr(given, "words", None)
    if not callable(start) or not callable(step) or not (callable(says) or callable(thinks)):
        raise RnnError(f"{name} has no start, step and answer, or words")
    placed = False
    with suppress(TypeError, ValueError):
        kinds = [parameter.kind for parameter in inspect.signature(step).parameters.values()]
        placed = (
            sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)
            > 2
        )

    def follow(state: Any, token: Any, position: int) -> Any:
        return step(own(state), token, position) if placed else step(own(state), token)

    words = getattr(given, "WORDS", words)
    if words is not None and (isinstance(words, str) or not isinstance(words, Sequence | range) or not words):
        raise RnnError(f"{name}: WORDS is a sequence of the words that it reads, not {words!r:.80}")
    listed = None if words is None else tuple(words)
    return FunctionRnn(name, bits, lambda: own(start()), follow, _answers(follow, says, thinks), False, listed, placed)


def _answers(step: Any, says: Any, thinks: Any) -> Callable[[Any, tuple[int, ...]], list[str]]:
    def answer(state: Any, query: tuple[int, ...]) -> list[str]:
        if says is not None:
            return [str(says(own(state), query))]
        for token in query:
            state = step(state, token, 0)
        said = []
        for word in thinks(own(state)):
            said.append(str(word))
            if len(said) > LONGEST_THOUGHT:
                raise RnnError(f"a chain of thought has more than {LONGEST_THOUGHT:,} words")
        return said

    return answer


def load_circuit(circuit: Circuit, words: Any, name: str) -> FunctionRnn:
    """Returns the RNN of a step circuit, whose latches are the state. words: {"inputs": {word: bits}, "outputs": {bits: word}}."""
    try:
        bits_of = {str(word): tuple(map(int, bits)) for word, bits in words["inputs"].items()}
        word_of = {tuple(map(int, bits)): str(word) for bits, word in words["outputs"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RnnError(f"the words are not {{'inputs': {{word: bits}}, 'outputs': {{bits: word}}}}: {error}") from error
    for bits, count, what in (
        (bits_of.values(), len(circuit.inputs), "inputs"),
        (word_of, len(circuit.outputs), "outputs"),
    ):
        if any(len(item) != count or not {*item} <= {0, 1} for item in bits):
            raise RnnError(f"{name} has {count} {what}; each word has as many bits")

    def step(state: tuple[int, ...], token: Any, position: int) -> tuple[int, ...]:
        return tuple(circuit.run(_bits(token), state)[1])

    def _bits(token: Any) -> tuple[int, ...]:
        if str(token) not in bits_of:
            raise RnnError(f"the words of {name} have no input {str(token)!r}")
        return bits_of[str(token)]

    def answer(state: tuple[int, ...], query: tuple[Any, ...]) -> list[str]:
        said = ""
        for token in query:
            outputs, following = circuit.run(_bits(token), state)
            said, state = word_of.get(tuple(outputs), "".join(map(str, outputs))), tuple(following)
        return [said]

    return FunctionRnn(name, len(circuit.states), lambda: circuit.initial, step, answer, reads_words=True)


def late(what: str) -> str:
    """Returns the line about code that took too long."""
    return f"{what}: its code took more than {LONGEST_STEP:g} s for one step"


@contextmanager
def guard(what: str, *, ends: bool = False) -> Iterator[Callable[..., None]]:
    """Turns what a user's code raises into one line, and so an endless step. Gives what starts the clock anew, or of 0 stops it.

    ends: one call of C, in which no handler of Python runs, ends the process by ENDED after more time. For a child process alone.
    """

    line = late(what)
    rings = itertools.count()

    def ring(*_: object) -> None:
        if next(rings) > 2:  # its code has caught what was raised, again and again
            sys.stderr.write(f"\nerror: {line}, and does not let itself be stopped\n")
            sys.stderr.flush()
            os._exit(cli.USAGE)
        raise RnnError(line)

    clock = hasattr(signal, "setitimer")
    try:
        before = signal.signal(signal.SIGALRM, ring) if clock else None
    except ValueError:  # not in the main thread
        clock = False

    def wind(seconds: float | None = None) -> None:
        if clock:
            seconds = LONGEST_STEP if seconds is None else seconds
            signal.setitimer(signal.ITIMER_REAL, seconds, seconds / 5)
            if ends:  # it counts the time that this process computes
                signal.setitimer(signal.ITIMER_VIRTUAL, 2 * seconds and 2 * seconds + 1)

    try:
        wind()
        yield wind
    except (RnnError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        place = ""
        trace = error.__traceback__
        while trace is not None:
            if (
                trace.tb_frame.f_code.co_filename.endswith(".py")
                and trace.tb_frame.f_code.co_filename == what.partition(":")[0]
            ):
                place = f", line {trace.tb_lineno}"
            trace = trace.tb_next
        told = " ".join(str(error).split())[:200]
        raise RnnError(f"{what}{place}: {type(error).__name__}{': ' * bool(told)}{told}") from error
    finally:
        if clock:
            wind(0)
            signal.signal(signal.SIGALRM, before)

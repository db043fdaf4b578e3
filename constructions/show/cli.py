"""What every command line of this package shares: one-line errors, exit codes, checked numbers, progress on stderr.

Exit codes: 0 holds, 1 refuted, 2 usage, 3 unknown, 4 an error of our own; 130 interrupted, 141 nobody reads and 143
terminated, as shells have it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from itertools import islice
from pathlib import Path
from typing import NoReturn, Protocol, TextIO

from constructions import SETS_THREADS, THREADS
from constructions.engines import EngineFailed
from constructions.exports.files import open_input, parse_json
from constructions.layers import LARGEST_PRECISION, BeyondBound
from constructions.models.search import SearchError

HOLDS, REFUTED, USAGE, UNKNOWN, OWN_ERROR = range(5)
INTERRUPTED, NOBODY_READS, TERMINATED = 130, 141, 143
TRACEBACK = "CONSTRUCTIONS_TRACEBACK"  # set in the environment, it lets an error of our own come out with its traceback
MOST_BYTES = 1 << 25  # of an input file: twice the edges of the largest tree
MOST_OF_A_DOCUMENT = 1 << 29  # of one that commands write: a sidecar has all examples, token by token
LONGEST_MESSAGE = 400
MANY_PIECES = 1 << 14  # of JSON are written at a time; all pieces of a long trace take seven times its length in memory
PATIENCE_SECONDS = 0.5  # a shorter run shows no bar
FIRST_LINE_SECONDS = 3.0  # a shorter run writes no line of progress where stderr is no terminal


class CommandError(Exception):
    """Ends a command with exit code 2; the message is one line that names the thing and the bound."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Wraps each line of a description by itself, and keeps commands whole."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(line if "python -m" in line else _wrap(indent + line, width) for line in text.splitlines())


def _wrap(line: str, width: int) -> str:
    hanging = " " * (len(line) - len(line.lstrip()) + 2)
    lines = textwrap.wrap(line, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


class _Once(argparse.Action):
    """Keeps the value of an option. A second value would silently take the place of the first one, so it is an error."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        if option is not None and isinstance(parser, Parser):
            if self.dest in parser.given:
                raise argparse.ArgumentError(self, "is given twice; give it once")
            parser.given.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are CommandErrors. epilog: a text, or what makes one if somebody asks for help.

    An option that takes a value is given once. given: those that have their value. hint: the end of an error about an option
    that there is not.
    """

    def __init__(self, prog: str, description: str, epilog: str | Callable[[], str]) -> None:
        # argparse formats each option that is added, to see whether it can; how wide the terminal is counts only for help.
        super().__init__(
            prog=prog, description=description, allow_abbrev=False, formatter_class=partial(_Help, width=80)
        )
        self._ending = epilog
        self.given, self.hint = set[str](), ""
        for kind in (None, "store"):
            self.register("action", kind, _Once)

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        self.given.clear()
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        self.formatter_class = _Help
        self.epilog = self._ending if isinstance(self._ending, str) else self._ending()
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        raise CommandError(message + self.hint * message.startswith("unrecognized"))


def run_command(prog: str, command: Callable[[Sequence[str]], int], argv: Sequence[str] | None) -> int:
    """Runs a command and returns its exit code; whatever goes wrong outside is one line on stderr."""
    if SETS_THREADS:  # numpy has read it; torch and other programs are to find what the caller has set
        os.environ.pop(THREADS, None)
    if sys.stdout is None:  # closed by the caller, who wants the exit code alone
        sys.stdout = io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without ≈ or −
    try:
        code = command(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except CommandError as error:
        say(f"{prog}: error: {error}")
        return USAGE
    except BrokenPipeError:  # whoever reads has enough
        _drop_stdout()
        return NOBODY_READS
    except OSError as error:
        _drop_stdout()
        say(f"{prog}: error: {error.filename or 'output'}: {error.strerror or error}")
        return USAGE
    except SearchError as error:
        say(f"{prog}: refuted: {error}")
        return REFUTED
    except (EngineFailed, BeyondBound) as error:
        say(f"{prog}: error: {error}")
        return USAGE
    except MemoryError:
        say(f"{prog}: error: not enough memory for this run")
        return USAGE
    except KeyboardInterrupt:
        say(f"{prog}: interrupted")
        return INTERRUPTED
    except SystemExit as end:  # --help, or a termination while a file was written
        if end.code == TERMINATED:
            say(f"{prog}: terminated; no half of a file is left")
        return int(end.code or 0)
    except Exception as error:  # nobody foresaw it: it is no verdict, and no fault of the caller
        if TRACEBACK in os.environ:
            raise
        what = f"{type(error).__name__}: {error}".strip().partition("\n")[0]
        say(
            f"{prog}: internal error: {what}. Please report it with this command; {TRACEBACK}=1 shows where it happened"
        )
        return OWN_ERROR
    return code


class Main(Protocol):
    """The entry of a command: its arguments, those of the process by default; returns the exit code."""

    def __call__(self, argv: Sequence[str] | None = None) -> int: ...


def command(prog: str) -> Callable[[Callable[[Sequence[str]], int]], Main]:
    """Returns a decorator: `run_command` runs the function under this name."""

    def decorate(body: Callable[[Sequence[str]], int]) -> Main:
        @wraps(body)
        def main(argv: Sequence[str] | None = None) -> int:
            return run_command(prog, body, argv)

        return main

    return decorate


@contextlib.contextmanager
def usage_errors(where: str = "") -> Iterator[None]:
    """Turns a ValueError inside into a usage error: it is the caller's doing. where: what comes before its message.

    So is JSON that is nested so deep that Python gives up.
    """
    try:
        yield
    except ValueError as error:
        raise CommandError(f"{where}{error}") from error
    except RecursionError as error:
        raise CommandError(f"{where}nested too deep") from error


def say(message: str, stream: TextIO | None = None) -> None:
    """Writes one line on stderr, or on this stream, whatever the message holds."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    if len(text) > LONGEST_MESSAGE:
        text = text[: LONGEST_MESSAGE - 1] + "…"
    out = stream or sys.stderr
    if out is None:  # closed; `print` would take that for standard output
        return
    with contextlib.suppress(OSError, ValueError):
        print(text, file=out, flush=True)


def remark(message: str) -> None:
    """Writes a line on stderr that nobody has to read: dim on a terminal."""
    if sys.stderr is not None and sys.stderr.isatty() and "NO_COLOR" not in os.environ:
        with contextlib.suppress(OSError, ValueError):
            print(f"\x1b[2m{message}\x1b[0m", file=sys.stderr, flush=True)
    else:
        say(message)


def _drop_stdout() -> None:
    """Drops buffered output, so that closing stdout at exit raises nothing."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Returns a parser's type: a whole number in [low, high], written in digits."""

    longest = max(len(str(abs(end))) for end in (low, high))  # more digits are not read: that takes long

    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            raise argparse.ArgumentTypeError(f"{_short(text)} is not a whole number")
        digits = text.lstrip("+-").lstrip("0")
        value = int(text) if len(digits) <= longest else (low - 1 if text.startswith("-") else high + 1)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{_short(text)} is not in {low} … {high}")
        return value

    return parse


def precision(text: str) -> int:
    """Returns a parser's type: an odd number of bits, at least 5."""
    rule = f"a precision is an odd number of bits, at least 5 and at most {LARGEST_PRECISION}, not {_short(text)}"
    try:
        value = whole_number(5, LARGEST_PRECISION)(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(rule) from error
    if value % 2 == 0:
        raise argparse.ArgumentTypeError(rule)
    return value


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


def attach_negative_values(argv: Sequence[str], options: Sequence[str]) -> list[str]:
    """Writes `--edges -1-2` as `--edges=-1-2`, so that the value is judged and not taken for an option; `---` of a machine too."""
    result: list[str] = []
    for argument in argv:
        if result and result[-1] in options and re.match(r"-\d|---", argument):
            result[-1] += "=" + argument
        else:
            result.append(argument)
    return result


def read_text(path: str, what: str, most: int = MOST_BYTES) -> str:
    """Reads a UTF-8 file, or standard input for `-`. what: its kind, for messages. most: bytes. Raises CommandError."""
    name = "standard input" if path == "-" else path
    try:
        if path == "-":
            data = _read_stdin(what, most)
        else:
            with open_input(Path(path)) as file:
                data = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise CommandError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > most:
        raise CommandError(f"{name}: more than {most >> 20} MiB, the most that is read here")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise CommandError(f"{name}: not UTF-8 text (byte 0x{byte:02x} at offset {error.start})") from error


def read_json(path: Path) -> object:
    """Returns the content of a JSON document that a command wrote. Raises CommandError, and ValueError if it is no JSON."""
    return parse_json(read_text(str(path), "a document", MOST_OF_A_DOCUMENT))


def _read_stdin(what: str, most: int) -> bytes:
    if sys.stdin is None:
        raise CommandError("standard input is closed")
    if sys.stdin.isatty():
        say(f"reading {what} from the terminal; end it with Ctrl-D")
    buffer = getattr(sys.stdin, "buffer", None)
    data = sys.stdin.read(most + 1).encode() if buffer is None else buffer.read(most + 1)
    return bytes(data)


def add_force(parser: argparse.ArgumentParser) -> None:
    """Adds the option that lets a command overwrite files."""
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")


def check_writable(path: Path, option: str, *, force: bool) -> None:
    """Says before a long run that its result could not be written, or would overwrite a file. Raises CommandError."""
    if str(path) in ("-", "."):
        name = "-" if str(path) == "-" else ""  # Path("") is "."
        raise CommandError(f"{option} {name!r}: this needs the name of a file, standard output will not do")
    if path.is_dir():
        raise CommandError(f"{option} {path}: this is a folder, not a file")
    if path.is_fifo():
        raise CommandError(f"{option} {path}: this is a pipe, not a file")
    beside = path.with_suffix(".json") if path.suffix == ".safetensors" else None
    if beside is not None and beside.is_dir():
        raise CommandError(f"{option} {path}: its names go to {beside}, which is a folder")
    if not path.absolute().parent.is_dir():
        raise CommandError(f"{option} {path}: there is no folder {path.absolute().parent}")
    for file in (path, beside):
        if file is not None and file.is_file() and not force:  # a device is no file, and nothing of it is lost
            beside_it = "" if file is path else ", which its names go to,"
            raise CommandError(f"{option} {path}: {file}{beside_it} exists; --force overwrites it")


def report_written(paths: Sequence[Path], *, as_json: bool) -> None:
    """Says which files were written; as JSON if that is all that the command has to say on stdout."""
    say(f"wrote {' and '.join(map(str, paths))}")
    if as_json:
        write_json({"schema": 1, "written": [str(path) for path in paths]})


def write_json(document: Mapping[str, object]) -> None:
    """Writes one document on stdout, much of it at a time: where stdout has no buffer, each write is a system call."""
    import json

    pieces = json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(document)
    while text := "".join(islice(pieces, MANY_PIECES)):
        sys.stdout.write(text)
    print()


@contextlib.contextmanager
def progress(
    title: str,
    last: int | None = None,
    work_at: Callable[[int], float] = lambda length: length,
    unit: str = "tokens",
    *,
    detail: Callable[[], str] = lambda: "",
    stream: TextIO | None = None,
    live: bool = True,
    first_line_seconds: float | None = None,
) -> Iterator[Callable[[int], None]]:
    """Says on stderr that something takes long: a bar with the time left on a terminal, elsewhere a line now and then.

    last: how many units there are, None if nobody counts. work_at(k): the work done once k of them are through. unit: of what.
    detail: what else there is to know. live: whether a terminal shows a bar. The lines come after FIRST_LINE_SECONDS, or what is
    given, and at `line_times`; the bar once PATIENCE_SECONDS are over. A thread draws both: between two ticks there may be
    minutes.
    """
    done, over, started, shown = 0, threading.Event(), time.monotonic(), contextlib.ExitStack()
    out, first = stream or sys.stderr, FIRST_LINE_SECONDS if first_line_seconds is None else first_line_seconds
    move: Callable[[int], None] | None = None

    def tick(length: int) -> None:
        nonlocal done
        done = length
        if move is not None:
            move(length)

    def draw() -> None:
        nonlocal move
        if over.wait(PATIENCE_SECONDS):
            return
        from constructions.show.terminal import bar

        if not over.is_set():
            move = shown.enter_context(bar(title, last, work_at, done, unit, detail, out))
            move(done)  # what was done while the bar was made

    def tell() -> None:
        for due in line_times(first):
            if over.wait(max(started + due - time.monotonic(), 0)):
                return
            left, more = _left(done, last, work_at, due, unit), detail()
            say(f"{title}: {due:,.0f} s gone{left}{f'; {more}' if more else ''}", out)

    shower = threading.Thread(target=draw if live and out is not None and out.isatty() else tell, daemon=True)
    shower.start()
    try:
        yield tick
    finally:
        over.set()
        shower.join()
        shown.close()


def line_times(first: float) -> Iterator[float]:
    """Yields the seconds after which a line of progress is due: each time twice as many."""
    while True:
        yield first
        first *= 2


def _left(done: int, last: int | None, work_at: Callable[[int], float], seconds: float, unit: str) -> str:
    if not done or last is None:
        return ""
    seconds_left = seconds * max(work_at(last) - work_at(done), 0) / work_at(done)
    return f", {done:,} of {last:,} {unit}, about {seconds_left:,.0f} s left"

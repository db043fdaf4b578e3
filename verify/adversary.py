"""`python -m verify.adversary`: two prompts that an RNN must confuse.

Source: Theorems 4.6 and 4.7, lower bounds; Lemmas C.24, C.26 and C.28; the reductions of `verify.oracles.reductions`.

An RNN that has read two prefixes of equal length, and is in the same state, says the same from there on: after any question,
and after any chain of thought. The prefixes are what Alice writes for two lists of bits x and y. They differ in some bit k, and
a question about k has two right answers. So the RNN is wrong on one of the two prompts. With more bits of state than are asked
for, no two prefixes need to meet; with fewer, some do.

How a pair is found: every list of bits is a path down a tree of states, where each step serves all lists that go on from it.
Two leaves of one level that are equal are a pair. About 2^(b/2) leaves are enough for b bits. For an RNN whose state is a sum
of its tokens, each times a number, a short vector of a lattice is a pair, even of hundreds of bits. An RNN of floats
often forgets: two states that differ come together, if each bit is the one that brings them closer.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from circuits.child import DiedError, cores, interleave, run_in_child
from circuits.rnn import ENDED, LONGEST_STEP, PLAIN, FunctionRnn, RnnError, guard, key, late, load
from constructions.exports.files import write_text
from constructions.show import cli
from verify.lattices import SIZES, DistinguishingQuestion, by_lattice, prompt_of
from verify.leaves import LeafFile
from verify.oracles import reductions
from verify.oracles.reductions import Bits, Reduction, Words

PROG = "python -m verify.adversary"
TASKS: dict[str, Reduction] = {
    "index": reductions.INDEX,
    "recall": reductions.recalls(),
    "ngram": reductions.ngrams(3),
    "counting": reductions.COUNTING,
    "istree": reductions.ISTREE,
    "turing": reductions.TURING,
}
MOST_LEVELS = 26  # of the tree: 2^26 leaves, of which each is 8 bytes
MOST_KNOWN = 1 << 16  # states that are kept one by one, before leaves are kept as numbers of 64 bits
MANY_LEAVES = 1 << 19  # from here on, two cores share them
TRIED_TWICE = 64  # lists that are read twice, in another order
FEW_BITS = 24  # of states whose tree is searched first, as it takes a second and has the shorter prompts
FEW_LISTED = 8  # bits of the lists that are read twice
MOST_REREAD = 32  # bits of the lists that are read again in another process
FORGETS = (32, 128, 512)  # bits after which an RNN may have forgotten the first one
WINDS = 256  # steps between two looks at the clock
LARGEST_N = 4096
DESCRIPTION = """Finds two prompts that an RNN must confuse: the same state after both, and a question with two right answers.
Prints both prompts, the right answers, and what the RNN says."""
EPILOG = f"""examples:
  {PROG} --task index --rnn mine.py               RNN = (start, step, answer) and STATE_BITS in the file
  {PROG} --task recall --rnn mine.py:hash16 --json
  {PROG} --task istree --rnn step.aag --words words.json
  {PROG} --task index --rnn mine.py --n-max 40 --resume search.json

the RNN reads the task's own numbers: step(state, token) for each, answer(state, query) after the last
  index     the sequence; query (position,)            recall    the sequence; query (key,)
  ngram     the sequence; query (token, token)         counting  the sequence; query (token, threshold)
  istree    the two ends of each edge; query ()        turing    the digits of the tape; query ()
A circuit reads the words of the prompt, one a step.

exit status: 1 two prompts that it must confuse, 0 none exists up to n, 2 usage, 3 none was found"""


@dataclass(frozen=True)
class Confused:
    """Two lists of bits that leave the same state, and the place k of a question that tells them apart."""

    x: Bits
    y: Bits
    k: int


@dataclass(frozen=True)
class Questions:
    """A task, whose Alice writes n bits. number: reads the task's numbers off words."""

    name: str
    n: int
    reads_words: bool

    @property
    def reduction(self) -> Reduction:
        """The reduction whose prompts these are."""
        return TASKS[self.name]

    def tokens(self, x: Bits) -> list[Any]:
        """Returns what the RNN reads of Alice."""
        return self._read(self.reduction.alice(x))

    def query(self, k: int) -> tuple[list[Any], tuple[Any, ...]]:
        """Returns Bob's tokens, which the RNN reads, and the query after them."""
        words = self.reduction.bob(self.n, k)
        if self.reads_words:
            return [], tuple(words)
        numbers = tuple(self._read(words))
        return (list(numbers), ()) if self.name in ("istree", "turing") else ([], numbers)

    def _read(self, words: Words) -> list[Any]:
        return list(words) if self.reads_words else [int(word) for word in words if word.isdecimal()]

    def pieces(self) -> tuple[list[Any], list[tuple[list[Any], list[Any]]]]:
        """Returns the tokens before all bits, and for each bit those of 0 and of 1: each token depends on one bit alone.

        For istree the bits are parities, see `bits`.
        """
        zeros = self.tokens(self.bits((0,) * self.n))
        each: list[tuple[list[Any], list[Any]]] = []
        starts = []
        for i in range(self.n):
            one = self.tokens(self.bits(tuple(int(j == i) for j in range(self.n))))
            changed = [place for place, (a, b) in enumerate(zip(zeros, one, strict=True)) if a != b]
            starts.append(changed[0])
            each.append(([zeros[place] for place in changed], [one[place] for place in changed]))
        ends = [*starts[1:], len(zeros)]
        for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
            zero, one = list(zeros[start:end]), list(zeros[start:end])
            one[: len(each[i][1])] = each[i][1]
            each[i] = (zero, one)
        return zeros[: starts[0]], each

    def bits(self, free: Bits) -> Bits:
        """Returns x of the free bits: themselves, or for istree the bits whose parities they are."""
        if self.name != "istree":
            return free
        return tuple(a ^ b for a, b in zip((0, *free), free, strict=False))

    def told_apart(self, x: Bits, y: Bits) -> int:
        """Returns the first k whose question has two right answers."""
        asked = self.reduction
        return next(k for k in asked.ks(self.n) if asked.right_answer(x, k) != asked.right_answer(y, k))


class CollisionSearch:
    """A search for two lists of bits that leave the same state.

    tell: is called with the number of states seen. keep: gives the file of leaves, of the size of the search and of a subtree.
    """

    def __init__(
        self,
        rnn: FunctionRnn,
        questions: Questions,
        tell: Callable[[int], object],
        wind: Callable[..., object],
        keep: Callable[[bytes, int], LeafFile] | None = None,
    ) -> None:
        self.rnn, self.questions, self.tell, self.wind = rnn, questions, tell, wind
        self.keep = keep
        self.before, self.each = questions.pieces()
        self.seen = 0
        self.unsure = False  # two leaves had the same 64 bits and were not equal, so a pair may be hidden among them

    def step(self, state: Any, tokens: Sequence[Any], position: int) -> Any:
        """Returns the state after some tokens. position: of those that were read before."""
        for place, token in enumerate(tokens, start=position + 1):
            state = self.rnn.step(state, token, place)
        self.seen += 1
        if self.seen % WINDS == 0:
            self.wind()
            self.tell(self.seen)
        return state

    def run(self) -> tuple[Bits, Bits] | None:
        """Returns the beginnings of two lists of free bits that leave one state, or None if none was found."""
        position = len(self.before)
        states: list[tuple[Any, Bits]] = [(self.step(self.rnn.start(), self.before, 0), ())]
        for level, (zero, one) in enumerate(self.each, start=1):
            if 2 * len(states) > MOST_KNOWN:
                return self._by_leaves(states, level - 1, position)
            known: dict[Any, Bits] = {}
            following: list[tuple[Any, Bits]] = []
            for state, path in states:
                for bit, tokens in enumerate((zero, one)):
                    after = self.step(state, tokens, position)
                    name, longer = key(after), (*path, bit)
                    if name in known:
                        return known[name], longer
                    known[name] = longer
                    following.append((after, longer))
            states, position = following, position + len(zero)
            self._require_bits(len(known))
        return None

    def descend(self) -> tuple[Bits, Bits] | None:
        """Returns two beginnings that differ in the first bit alone and leave one state, or None if they stay apart.

        Each later bit is the one after which both states are closer: an RNN with decays, a window, or numbers that are rounded
        forgets the difference. It takes four steps a bit, however many bits a state has.
        """
        first, *others = self.each
        state, position = self.step(self.rnn.start(), self.before, 0), len(self.before)
        states = [self.step(state, tokens, position) for tokens in first]
        path, position = list[int](), position + len(first[0])
        for pieces in others:
            following = [[self.step(state, tokens, position) for state in states] for tokens in pieces]
            path.append(min((0, 1), key=lambda bit: distance(*following[bit])))
            states, position = following[path[-1]], position + len(pieces[0])
            if key(states[0]) == key(states[1]):
                return (0, *path), (1, *path)
        return None

    def _require_bits(self, count: int) -> None:
        if count > 1 << self.rnn.state_bits:
            bits = self.rnn.state_bits
            raise RnnError(f"{self.rnn.name} has at least {count:,} states, and STATE_BITS = {bits} are {1 << bits:,}")

    def _by_leaves(self, roots: list[tuple[Any, Bits]], level: int, position: int) -> tuple[Bits, Bits] | None:
        """Goes on from many states, subtree by subtree, and keeps 64 bits of each leaf."""
        deeper = min(self.questions.n, MOST_LEVELS) - level
        leaves = np.empty((len(roots), 1 << deeper), np.uint64)
        done, wanted = 0, 1 << max(0, self.rnn.state_bits // 2 - 2)
        kept = self.keep and self.keep(f"{self.questions.n} {level} {deeper}".encode(), 1 << deeper)
        rows = [] if kept is None else list(kept.rows())[: len(roots)]
        if rows and rows[0].tolist() != self._subtree(roots[0][0], level, deeper, position).tolist():
            raise RnnError(
                f"{self.rnn.name}: its states, or their hashes, are not those of the search that was interrupted"
            )
        begun = len(rows)
        for number, row in enumerate(itertools.chain(rows, self._rows(roots[begun:], level, deeper, position))):
            leaves[number] = row
            if kept is not None and number >= begun:
                kept.add(number, row)
            count = (number + 1) << deeper
            if count >= wanted or number + 1 == len(roots):
                wanted, done = 2 * count, number + 1
                self.wind(0)  # a sort of many leaves is no step of the user's
                flat = leaves[:done].reshape(-1)
                order = np.argsort(flat, kind="stable")
                ordered = flat[order]
                equal = ordered[1:] == ordered[:-1]
                self.wind()
                for place in np.flatnonzero(equal)[:1000].tolist():
                    pair = [self._path(roots, int(order[place + i]), deeper) for i in (0, 1)]
                    if self._meets(*pair):
                        return pair[0], pair[1]
                    self.unsure = True
                self._require_bits(int(np.count_nonzero(~equal)) + 1)
        return None

    def _rows(self, roots: list[tuple[Any, Bits]], level: int, deeper: int, position: int) -> Iterator[Any]:
        """Yields the leaves of each root, in order: some children share the roots if there are many leaves."""

        def row(number: int) -> Any:
            with guard(self.rnn.name, ends=True):
                return self._subtree(roots[number][0], level, deeper, position)

        if len(roots) << deeper < MANY_LEAVES or cores() < 2:
            yield from (self._subtree(state, level, deeper, position) for state, _ in roots)
            return
        self.wind(0)  # the steps are those of the children, who have clocks of their own
        try:
            for leaves in interleave(2, row, range(len(roots))):
                self.seen += 2 << deeper
                self.tell(self.seen)
                yield leaves
                self.wind(0)  # a comparison of leaves has started it
        except DiedError as error:
            raise RnnError(late(self.rnn.name) if error.status == -ENDED else f"{self.rnn.name}: {error}") from error
        self.wind()

    def _subtree(self, root: Any, level: int, deeper: int, position: int) -> Any:
        states = [root]
        for zero, one in self.each[level : level + deeper]:
            states = [self.step(state, tokens, position) for state in states for tokens in (zero, one)]
            position += len(zero)
        return np.array([digest(key(state)) & (1 << 64) - 1 for state in states], np.uint64)

    def _path(self, roots: list[tuple[Any, Bits]], leaf: int, deeper: int) -> Bits:
        number, rest = divmod(leaf, 1 << deeper)
        return (*roots[number][1], *(rest >> i & 1 for i in reversed(range(deeper))))

    def _meets(self, x: Bits, y: Bits) -> bool:
        states = []
        for path in (x, y):
            state, position = self.step(self.rnn.start(), self.before, 0), len(self.before)
            for bit, tokens in zip(path, self.each, strict=False):
                state, position = self.step(state, tokens[bit], position), position + len(tokens[bit])
            states.append(key(state))
        return bool(states[0] == states[1])


def distance(one: Any, other: Any) -> float:
    """Returns how far two states are apart: by floats, by the bits of whole numbers, and 1 for what else differs.

    It is 0 for some states that are not equal, such as −0 and 0.
    """
    if isinstance(one, int) and isinstance(other, int):
        return (one ^ other).bit_count()
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return sum(map(distance, one, other)) + abs(len(one) - len(other))
    one, other = (state.detach().cpu().numpy() if hasattr(state, "detach") else state for state in (one, other))
    try:
        apart = np.abs(np.subtract(one, other, dtype=np.float64)).sum()
        return float(apart) if np.isfinite(apart) else np.inf
    except (TypeError, ValueError):
        return float(key(one) != key(other))


def digest(name: Any) -> int:
    """Returns a number of 64 bits for a key, another one for most other keys.

    Python hashes whole numbers modulo 2^61 - 1, and -1 as -2, so it takes their bytes where that is not the number itself. The
    hashes of texts and bytes are others in each process, and leaves are kept from one process to the next.
    """
    if isinstance(name, str | bytes):
        text = name.encode() if isinstance(name, str) else name
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
    if isinstance(name, int) and not 0 <= name < sys.hash_info.modulus:
        return digest(name.to_bytes(name.bit_length() // 8 + 1, "little", signed=True))
    return hash(tuple(map(digest, name))) if isinstance(name, tuple) else hash(name)


def require_repeatable(rnn: FunctionRnn, questions: Questions) -> None:
    """Raises RnnError if some lists of bits leave other states when they are read again, in another order and interleaved."""
    generator = np.random.default_rng(0)
    lists = [tuple(int(bit) for bit in generator.integers(0, 2, questions.n)) for _ in range(TRIED_TWICE)]
    tokens = [questions.tokens(questions.bits(bits)) for bits in lists]
    first = [key(rnn.state_after(some)) for some in tokens]
    states = [rnn.start() for _ in tokens]
    for place in range(len(tokens[0])):
        states = [rnn.step(state, some[place], place + 1) for state, some in zip(states, tokens, strict=True)]
    again = [key(rnn.state_after(some)) for some in reversed(tokens)][::-1]
    for one, two, three in zip(first, map(key, states), again, strict=True):
        if not one == two == three:
            raise RnnError(f"{rnn.name}: a step depends on more than its state, its token and its position")
        if isinstance(one, int) and one.bit_length() > rnn.state_bits:
            raise RnnError(f"{rnn.name}: a state has {one.bit_length()} bits, and STATE_BITS = {rnn.state_bits}")


def fingerprint(rnn: FunctionRnn, task: str, n: int) -> str:
    """Returns a text of the states that some lists of bits leave: the same in each process, after any number of calls."""

    def plain(name: Any) -> Any:
        return (
            tuple(map(plain, name)) if isinstance(name, tuple) else name if type(name) in PLAIN else type(name).__name__
        )

    questions, generator = Questions(task, n, rnn.reads_words), np.random.default_rng(3)
    lists = [tuple(generator.integers(0, 2, n).tolist()) for _ in range(TRIED_TWICE)]
    states = [plain(key(rnn.state_after(questions.tokens(questions.bits(some))))) for some in lists]
    return hashlib.sha256(repr(states).encode()).hexdigest()


def say_after(rnn: FunctionRnn, prompt: str) -> str:
    """Returns what an RNN says after a prompt, which it reads from its start."""
    words = prompt.split()
    if rnn.reads_words:
        asked: tuple[Any, ...] = tuple(words[-1:])
        return " ".join(rnn.answer(rnn.state_after(words[:-1]), asked))
    end = words.index("?") if "?" in words else len(words)
    tokens, query = ([int(word) for word in part if word.isdecimal()] for part in (words[:end], words[end:]))
    return " ".join(rnn.answer(rnn.state_after(tokens), tuple(query)))


def replay(text: str, words: str, task: str, n: str, prompt: str) -> int:
    """Prints what an RNN says after a prompt, if there is one, and then its fingerprint. It is the work of a new process."""
    with redirect_stdout(sys.stderr), guard(text, ends=True) as wind:
        rnn = winding(load(text, Path(words) if words else None), wind)
        wind()
        said = say_after(rnn, prompt) if prompt else ""
        wind()
        told = said, fingerprint(rnn, task, int(n))
    print(json.dumps(told))
    return cli.HOLDS


def require_same_elsewhere(
    rnn: FunctionRnn, text: str, words: str, found: dict[str, Any], wind: Callable[..., object]
) -> None:
    """Raises RnnError if new processes, in which Python hashes texts otherwise, do not say what was found.

    Each prompt of a pair is read in a process of its own, before anything else. The states of some lists of bits, here after all
    calls of the search, are compared with those there.
    """
    code = "import sys; from verify.adversary import replay; sys.exit(replay(*sys.argv[1:]))"
    n, seed = min(found["n"], MOST_REREAD), int(os.environ.get("PYTHONHASHSEED") == "1") + 1
    runs = []
    for number, prompt in enumerate(found.get("prompts", [""])):
        argv = [sys.executable, "-c", code, text, words, found["task"], str(n), prompt]
        env = {**os.environ, "PYTHONHASHSEED": str(seed + number)}
        runs.append(subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
    wind()
    here, there = fingerprint(winding(rnn, wind), found["task"], n), []
    wind(0)  # the steps are those of processes that have clocks of their own
    for run in runs:
        printed = run.communicate()[0].splitlines()
        if run.returncode != cli.HOLDS or not printed:
            raise RnnError(
                f"{text}: in another process its code fails, or takes more than {LONGEST_STEP:g} s for one step"
            )
        there.append(json.loads(printed[-1]))
    if any(mark != here for _, mark in there):
        raise RnnError(f"{text}: its states are others in another process, so a step depends on more than its state")
    if "said" in found and [said for said, _ in there] != found["said"]:
        raise RnnError(
            f"{text}: it says something else in another process, so an answer depends on more than the state"
        )


def winding(rnn: FunctionRnn, wind: Callable[..., object]) -> FunctionRnn:
    """Returns the RNN, whose steps start the clock anew now and then: it is of some hundred steps, not of a long prompt."""
    count = itertools.count(1)

    def step(state: Any, token: Any, position: int) -> Any:
        if next(count) % WINDS == 0:
            wind()
        return rnn.step(state, token, position)

    return replace(rnn, step=step)


def document(rnn: FunctionRnn, questions: Questions, found: Confused) -> dict[str, Any]:
    """Returns the pair as a document, after a run of both prompts from the start. Raises RnnError if they do not meet."""
    asked, k = questions.reduction, found.k
    more, query = questions.query(k)
    prompts, right, said, states = [], [], [], []
    for x in (found.x, found.y):
        state = rnn.state_after(questions.tokens(x))
        states.append(key(state))
        position = len(questions.tokens(x))
        for place, token in enumerate(more, start=position + 1):
            state = rnn.step(state, token, place)
        prompts.append(" ".join(asked.words(x, k)))
        right.append(asked.right_answer(x, k))
        said.append(" ".join(rnn.answer(state, query)))
    return _check(rnn, questions.name, questions.n, prompts, right, said, states, asked)


def of_numbers(
    rnn: FunctionRnn, task: str, n: int, pair: tuple[list[int], list[int], DistinguishingQuestion]
) -> dict[str, Any]:
    """Returns the document of two sequences of numbers, after a run of both from the start. Raises RnnError if they do not meet."""
    *sequences, question = pair
    prompts, states, said = [], [], []
    for sequence in sequences:
        states.append(key(rnn.state_after(sequence)))
        said.append(" ".join(rnn.answer(rnn.state_after([*sequence, *question.more]), question.query)))
        prompts.append(prompt_of(task, sequence, question))
    return _check(rnn, task, n, prompts, list(question.right), said, states, TASKS[task])


def _check(
    rnn: FunctionRnn,
    task: str,
    n: int,
    prompts: list[str],
    right: list[str],
    said: list[str],
    states: list[Any],
    asked: Reduction,
) -> dict[str, Any]:
    if states[0] != states[1] or said[0] != said[1] or right[0] == right[1]:
        raise RnnError(
            f"{rnn.name}: a step or an answer depends on more than its state; the pair is not confused again"
        )
    shown = states[0] if isinstance(states[0], int | str) or states[0] is None else repr(states[0])[:200]
    return {
        "schema": 1,
        "task": task,
        "n": n,
        "rnn": rnn.name,
        "state_bits": rnn.state_bits,
        "prompts": prompts,
        "right": right,
        "said": said,
        "state": str(shown),
        "reduction": asked.source,
    }


def needed_bits(task: str, n: int) -> int:
    """Returns how many bits of state the lower bound asks for where Alice holds n bits."""
    return (TASKS[task].states(n) - 1).bit_length()


def of_bits(search: CollisionSearch, pair: tuple[Bits, Bits]) -> dict[str, Any]:
    """Returns the document of two lists of free bits, or of their beginnings."""
    questions = search.questions
    x, y = (questions.bits((*path, *[0] * (questions.n - len(path)))) for path in pair)
    return document(winding(search.rnn, search.wind), questions, Confused(x, y, questions.told_apart(x, y)))


def confuse(search: CollisionSearch) -> dict[str, Any] | None:
    """Returns the document of the pair that a search finds, or None."""
    pair = search.run()
    return None if pair is None else of_bits(search, pair)


def by_forgetting(
    rnn: FunctionRnn, task: str, n: int, tell: Callable[[int], object], wind: Callable[..., object]
) -> dict[str, Any] | None:
    """Returns the document of a pair that `descend` finds with n bits, or with as few as it takes; None if it finds none."""
    found = None
    while True:
        search = CollisionSearch(rnn, Questions(task, n, rnn.reads_words), tell, wind)
        if (pair := search.descend()) is None:
            return found
        found, longer, n = of_bits(search, pair), n, len(pair[0])
        if n == longer:
            return found


def attack(
    rnn: FunctionRnn,
    task: str,
    n_max: int | None,
    tell: Callable[[int], object],
    wind: Callable[..., object],
    keep: Callable[[bytes, int], LeafFile] | None = None,
) -> dict[str, Any]:
    """Returns what was found: a pair, or `outcome` "none exists" or "none found" with the reason. Raises RnnError."""
    steady = winding(rnn, wind)
    require_repeatable(steady, Questions(task, min(FEW_LISTED, n_max or FEW_LISTED), rnn.reads_words))
    n = n_max if n_max is not None else min(rnn.state_bits + 1, MOST_LEVELS + 8)
    if rnn.state_bits > FEW_BITS:
        for size in FORGETS if n_max is None else (n_max,):
            if (found := by_forgetting(rnn, task, size, tell, wind)) is not None:
                return found
    if rnn.state_bits > 2 * MOST_LEVELS - 4 or n_max is not None:  # numbers may differ by up to n
        for size in SIZES.get(task, ()) if n_max is None else (n_max,):
            if (sequences := by_lattice(steady, task, size, wind)) is not None:
                return of_numbers(steady, task, size, sequences)
    questions = Questions(task, n, rnn.reads_words)
    search = CollisionSearch(rnn, questions, tell, wind, keep)
    if (found := confuse(search)) is not None:
        return found
    every = n <= MOST_LEVELS and not search.unsure
    if every:  # prompts of fewer bits hold other numbers, so they are no beginnings of these
        for size in range(n - 1, 1, -1):
            smaller = CollisionSearch(rnn, Questions(task, size, rnn.reads_words), tell, wind)
            if (found := confuse(smaller)) is not None:
                return found
            every = every and not smaller.unsure
            search.unsure = search.unsure or smaller.unsure
    reason = (
        f"all {1 << n:,} lists of {n} bits leave different states; the bound asks for {needed_bits(task, n)} bits at n = {n}"
        if every
        else "states that are not equal have the same hash, and only some of them were compared"
        if search.unsure
        else f"{search.seen:,} states were seen; by chance a pair of {rnn.state_bits} bits takes about 2^{-(-rnn.state_bits // 2)}"
    )
    outcome = "none exists" if every else "none found"
    return {
        "schema": 1,
        "task": task,
        "n": n,
        "rnn": rnn.name,
        "state_bits": rnn.state_bits,
        "outcome": outcome,
        "reason": reason,
    }


def path_of(rnn: str) -> Path:
    """Returns the file of --rnn."""
    return Path(rnn.rpartition(":")[0] if ".py:" in rnn else rnn)


def leaves_of(resume: Path) -> Path:
    """Returns the file of leaves beside that of the outcome."""
    return resume.with_name(f"{resume.name}.leaves")


def read_kept_pair(args: argparse.Namespace) -> dict[str, Any]:
    """Reads the pair that --resume kept. Raises CommandError if it is of another task, RNN or n."""
    try:
        found = json.loads(args.resume.read_text(encoding="utf-8"))
        asked, n = (found["task"], found["rnn"]), int(found["n"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise cli.CommandError(f"--resume {args.resume}: no outcome is kept there: {error}") from error
    if asked != (args.task, args.rnn):
        raise cli.CommandError(f"--resume {args.resume}: it is of another task or RNN")
    if args.n_max is not None and (n > args.n_max or ("outcome" in found and n != args.n_max)):
        raise cli.CommandError(f"--resume {args.resume}: it is of n = {n}, and --n-max is {args.n_max}")
    path = path_of(args.rnn)
    if path.exists() and path.stat().st_mtime_ns > args.resume.stat().st_mtime_ns:
        raise cli.CommandError(f"--resume {args.resume}: {path} has changed since")
    return dict(found)


def searched(args: argparse.Namespace) -> dict[str, Any]:
    """Returns what `attack` finds. Raises RnnError."""

    def keep(size: bytes, width: int) -> LeafFile:
        files = [path_of(args.rnn), *([args.words] if args.words is not None else [])]
        texts = [file.read_bytes() for file in files]
        return LeafFile(
            leaves_of(args.resume), b"\0".join([args.task.encode(), args.rnn.encode(), size, *texts]), width
        )

    with redirect_stdout(sys.stderr), guard(args.rnn, ends=True) as wind:
        rnn = load(args.rnn, args.words)
        wind()
        with cli.progress("reading states", 1 << min(rnn.state_bits // 2 + 2, MOST_LEVELS), unit="states") as tell:
            found = attack(rnn, args.task, args.n_max, tell, wind, args.resume and keep)
        require_same_elsewhere(rnn, args.rnn, str(args.words or ""), found, wind)
        return found


def show(found: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of an outcome for people."""
    if "outcome" in found:
        yield f"{found['task']}, {found['rnn']}: {found['outcome']} up to n = {found['n']}: {found['reason']}"
        return
    yield f"{found['task']}, {found['rnn']}: the same state after both prompts, so it says the same ({found['reduction']})"
    for name, prompt, right in zip(("first", "second"), found["prompts"], found["right"], strict=True):
        yield f"  {name:<6} {prompt}"
        yield f"         right: {right}"
    yield f"  it says {found['said'][0]} after both; the state is {found['state']}"


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, DESCRIPTION, EPILOG)
    parser.add_argument("--task", choices=tuple(TASKS), required=True, help="what the RNN is asked")
    parser.add_argument("--rnn", required=True, metavar="FILE", help="FILE.py, FILE.py:NAME, or STEP.aag with --words")
    parser.add_argument("--words", type=Path, metavar="FILE", help="JSON: the words of a circuit's inputs and outputs")
    parser.add_argument(
        "--n-max",
        type=cli.whole_number(2, LARGEST_N),
        metavar="N",
        help="the most bits that Alice holds (default: by STATE_BITS)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help="go on with a search that was interrupted, whose leaves are in FILE.leaves, and keep the outcome in FILE",
    )
    args = parser.parse_args(argv)
    if args.resume is not None and args.resume.exists():
        found = read_kept_pair(args)
    else:
        started = time.monotonic()
        with cli.usage_errors():
            try:
                if not (answers := [*run_in_child(lambda: [searched(args)])]):
                    raise RnnError(f"{args.rnn}: its code ended the process")
                (found,) = answers
            except DiedError as error:
                if error.status == cli.USAGE:  # its last words stand on stderr
                    return cli.USAGE
                raise RnnError(late(args.rnn) if error.status == -ENDED else f"{args.rnn}: {error}") from error
        if args.resume is not None:
            write_text(args.resume, json.dumps(found) + "\n")
            leaves_of(args.resume).unlink(missing_ok=True)
        cli.remark(f"searched for {time.monotonic() - started:.1f} s")
    if args.json:
        cli.write_json(found)
    else:
        print("\n".join(show(found)))
    outcome = found.get("outcome")
    return cli.REFUTED if outcome is None else cli.HOLDS if outcome == "none exists" else cli.UNKNOWN


if __name__ == "__main__":
    sys.exit(main())

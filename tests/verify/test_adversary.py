"""The command that breaks an RNN. Each pair of prompts is judged again here, by an oracle that shares no code with the search."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from circuits.aiger import write
from circuits.builder import Builder
from circuits.rnn import FunctionRnn, RnnError, load
from verify.adversary import (
    CollisionSearch,
    Questions,
    digest,
    distance,
    fingerprint,
    main,
    require_same_elsewhere,
    say_after,
)
from verify.leaves import LeafFile

TASKS = ("index", "recall", "ngram", "counting", "istree")
RNNS = '''
import hashlib, os, random, time
import numpy as np
class Rnn:
    def __init__(self, bits, start, step, answer):
        self.STATE_BITS, self.start, self.step, self.answer = bits, start, step, answer
last = lambda s, q: s % 2 + 1
STATE_BITS = 16
RNN = (lambda: 0, lambda s, t: (s * 40503 + t * 77 + 13) % 2**16, lambda s, q: s % 7 + 1)
latch = Rnn(1, lambda: 0, lambda s, t: int(s or t == 2), lambda s, q: s + 1)
counter = Rnn(3, lambda: 0, lambda s, t: (s + t) % 7, lambda s, q: "YES" if s % 2 else "NO")
R = random.Random(5)
T = [[R.randrange(1000) for _ in range(97)] for _ in range(1000)]
automaton = Rnn(10, lambda: 0, lambda s, t: T[s][t % 97], last)
def mix(s, t):
    return ((s ^ t) * 6364136223846793005 + 1442695040888963407 >> 20) & 2**36 - 1
hash36 = Rnn(36, lambda: 1, mix, last)
W = np.array([[1, -2, 3, 0], [2, 1, 0, -1], [0, 1, 1, 2], [-1, 2, 1, 1]], np.int16)
def relu(s, t):
    """A net of 4 units over numbers of 4 bits."""
    return np.clip(W @ s + np.int16(t) * np.array([1, 3, -2, 1], np.int16), 0, 15).astype(np.int16)
net = Rnn(16, lambda: np.zeros(4, np.int16), relu, lambda s, q: int(s[0]) + 1)
G = np.random.default_rng(3).normal(size=(3, 6, 5))
def gru(s, t):
    """A cell of 3 units whose state is rounded to 6 bits a unit."""
    x = np.concatenate([s, [t / 8, 1]])
    z, r = (1 / (1 + np.exp(-G[:, i] @ x)) for i in (0, 1))
    h = np.tanh(G[:, 2] @ np.concatenate([r * s, [t / 8, 1]]))
    return np.round(((1 - z) * s + z * h) * 31) / 31
small_gru = Rnn(18, lambda: np.zeros(3), gru, lambda s, q: int(s[0] > 0) + 1)
W8 = np.random.default_rng(7).normal(size=(16, 18)) / 4
def wide_net(s, t):
    """16 units of float32, tanh."""
    return np.tanh(W8 @ np.concatenate([s, [t % 7, 1]])).astype(np.float32)
floats = Rnn(512, lambda: np.zeros(16, np.float32), wide_net, lambda s, q: int(s[0] > 0) + 1)
window = Rnn(640, lambda: (0,) * 10, lambda s, t: (*s[1:], t), lambda s, q: s[0])
F = np.random.default_rng(5).normal(size=(3, 8, 10)) / np.sqrt(8)
def forgets(s, t):
    """A cell of 8 units of float32, which update slowly."""
    x = np.concatenate([s, [t / 16, 1]])
    z, r = 1 / (1 + np.exp(2 - F[0] @ x)), 1 / (1 + np.exp(-F[1] @ x))
    return ((1 - z) * s + z * np.tanh(F[2] @ np.concatenate([r * s, [t / 16, 1]]))).astype(np.float32)
wide_gru = Rnn(256, lambda: np.zeros(8, np.float32), forgets, lambda s, q: 1)
linear = Rnn(256, lambda: 0, lambda s, t: (s * (2**255 - 19) + t * 7**90) % 2**256, last)
def two_numbers(s, t):
    return (s[0] * 5 + s[1] + t * 3**50) % 2**128, (s[1] * 11**30 + t) % 2**128
pair = Rnn(256, lambda: (0, 0), two_numbers, lambda s, q: 1)
wide = Rnn(512, lambda: 0, lambda s, t: (s * 3**300 + t * 7**180) % 2**512, last)
sha = Rnn(128, lambda: b"", lambda s, t: hashlib.sha256(s + str(t).encode()).digest()[:16], lambda s, q: 1)
sha22 = Rnn(22, lambda: 0, lambda s, t: int.from_bytes(hashlib.sha256(f"{s} {t}".encode()).digest()[:4], "big") >> 10, last)
whole = Rnn(64, lambda: (), lambda s, t: (*s, t), lambda s, q: s[q[0] - 1])
placed = Rnn(4, lambda: 0, lambda s, t, k: (s + k * t) % 16, lambda s, q: s)
class Thinker:
    STATE_BITS = 4
    def start(self): return 0
    def step(self, s, t): return (s * 3 + t) % 16
    def words(self, s):
        yield from range(s)
        yield "YES" if s % 2 else "NO"
thinker = Thinker()
calls = 0
def counted(s, t):
    global calls
    calls += 1
    return (s + calls) % 16
counts = (lambda: 0, counted, lambda s, q: 1)
tosses = (lambda: 0, lambda s, t: random.randrange(16), lambda s, q: 1)
raises = (lambda: 0, lambda s, t: 1 // 0, lambda s, q: 1)
liar = Rnn(4, lambda: 0, lambda s, t: s * 2 + t, lambda s, q: 1)
whims = (lambda: 0, lambda s, t: (s + t) % 16, lambda s, q: random.random())
shape = (lambda: 0, lambda s, t: {"a": t}, lambda s, q: 1)
two = (lambda: 0, lambda s, t: 0)
few = Rnn(17, lambda: (), lambda s, t: (*s, t), lambda s, q: 1)
class Same:
    def __init__(self, *tokens): self.tokens = tokens
    def __eq__(self, other): return self.tokens == other.tokens
    def __hash__(self): return 0
same = Rnn(64, lambda: Same(), lambda s, t: Same(*s.tokens, t), lambda s, q: 1)
def fill(s, t):
    """Changes the array that it is given."""
    s[1:] = s[:-1]
    s[0] = t
    return s
room = Rnn(96, lambda: np.zeros(12, np.uint8), fill, lambda s, q: int(s[-q[0]]))
tight = Rnn(24, lambda: np.zeros(3, np.uint8), fill, lambda s, q: int(s[0]))
blurs = Rnn(64, lambda: (), lambda s, t: (*s, 4 if t == 5 and len(s) % 2 else t), lambda s, q: 1)
def deaf(s, t):
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            pass
never = Rnn(4, lambda: 0, deaf, lambda s, q: 1)
mixes = Rnn(17, lambda: 0, lambda s, t: (s * 40503 + t * 77 + 13) % 2**17 if t < 3 else s, last)
hangs_at_9 = Rnn(17, lambda: 0, lambda s, t: s if s == 8 else sum(range(10**13)), last)
hashes = Rnn(16, lambda: 0, lambda s, t: hash(f"{s} {t}") % 2**16, last)
process = Rnn(16, lambda: 0, lambda s, t: (s + t + os.getpid()) % 2**16, last)
exits = Rnn(4, lambda: 0, lambda s, t: os._exit(0), last)
taken = [0]
def tires(rule, later, s, t):
    """Follows one rule for 3,000 calls, and then another."""
    taken[0] += 1
    return rule(s, t) if taken[0] <= 3000 else later(s, t)
keep = lambda s, t: (*s, t)
tired = Rnn(20, lambda: (), lambda s, t: tires(keep, lambda s, t: s, s, t), lambda s, q: 1)
tired_at_13 = Rnn(60, lambda: (), lambda s, t: tires(keep, lambda s, t: keep(s, t if len(s) < 12 else 0), s, t), lambda s, q: 1)
answers_later = Rnn(12, lambda: 0, lambda s, t: tires(mixed, mixed, s, t), lambda s, q: taken[0] > 3000)
mixed = lambda s, t: (s * 4050 + t * 77 + 13) % 2**12
def paused(s, t):
    time.sleep(0.001)
    return (s * 3**30 + t * 7**18) % 2**60
pauses = Rnn(60, lambda: 0, paused, last)
class Box:
    value = 0
box = Box()
def change(s, t):
    box.value = (box.value * 3 + t) % 97
    return box
changed = Rnn(8, lambda: box, change, lambda s, q: 1)
prints = Rnn(1, lambda: 0, lambda s, t: print("a word") or int(s or t == 2), last)
slow = Rnn(24, lambda: (), lambda s, t: (time.sleep(0.0002) if len(s) > 8 else None) or (*s, t), last)
nobits = Rnn("8", lambda: 0, lambda s, t: 0, lambda s, q: 1)
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rnns") / "rnns.py"
    path.write_text(RNNS, encoding="utf-8")
    return path


def numbers(prompt: str) -> tuple[list[int], tuple[int, ...]]:
    """What an RNN reads of a prompt, and what it is asked."""
    text, _, query = prompt.removeprefix("<s>").partition("?")
    return [int(w) for w in re.findall(r"\d+", text)], tuple(int(w) for w in query.split())


def right_answer(task: str, prompt: str) -> str:
    """The task's answer, written again."""
    tokens, query = numbers(prompt)
    if task == "index":
        return str(tokens[query[0] - 1])
    if task in ("recall", "ngram"):
        for i in range(len(tokens) - len(query)):
            if tuple(tokens[i : i + len(query)]) == query:
                return str(tokens[i + len(query)])
        return "FAILED"
    if task == "counting":
        return "YES" if tokens.count(query[0]) > query[1] else "NO"
    if task == "istree":
        edges = list(zip(tokens[::2], tokens[1::2], strict=True))
        n, reached = max(tokens), {1}
        for _ in range(n):
            reached |= {v for u, v in edges if u in reached} | {u for u, v in edges if v in reached}
        return "YES" if len(edges) == n - 1 and len(reached) == n else "NO"
    raise ValueError(task)


def attack(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, dict[str, Any], str]:
    code = main([*map(str, argv), "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else {}, err


def judge(file: Path, name: str, found: dict[str, Any]) -> None:
    """Both prompts have their right answer, which differ; the RNN, run from its start, is in one state before the question."""
    rnn = load(f"{file}:{name}")
    states, asked = [], []
    for prompt, right in zip(found["prompts"], found["right"], strict=True):
        assert right_answer(found["task"], prompt) == right
        tokens, query = numbers(prompt)
        if found["task"] == "istree":  # the last edge is the question, or n − 1 edges where there are n stars
            bob = 2 if max(tokens) <= found["n"] + 3 else 2 * found["n"] - 2
            tokens, query = tokens[:-bob], tuple(tokens[-bob:])
        state = rnn.start()
        for position, token in enumerate(tokens, start=1):
            state = rnn.step(state, token, position)
        states.append(repr(state))
        asked.append((len(tokens), query))
    assert states[0] == states[1]
    assert asked[0] == asked[1]
    assert found["right"][0] != found["right"][1]
    assert found["said"][0] == found["said"][1]
    keys = {"schema", "task", "n", "rnn", "state_bits", "prompts", "right", "said", "state", "reduction"}
    assert found.keys() == keys


SMALL = ("RNN", "latch", "counter", "automaton", "net", "small_gru", "placed", "thinker")
# Two with short vectors; and of 512 bits of float32 and of the last ten numbers, a pair that no tree or lattice finds.
LARGE = ("linear", "pair", "floats", "window")
PAIRS = [*itertools.product(TASKS, (*SMALL, *LARGE)), ("index", "wide"), ("index", "hash36"), ("index", "wide_gru")]


@pytest.mark.parametrize(("task", "name"), PAIRS)
def test_each_is_confused(
    file: Path, task: str, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One task of each RNN, and all of one, are asked in new processes too."""
    if task != "index" and name != "RNN":
        monkeypatch.setattr("verify.adversary.require_same_elsewhere", lambda *given: None)
    code, found, _ = attack(capsys, "--task", task, "--rnn", f"{file}:{name}")
    assert code == 1
    judge(file, name, found)


@pytest.mark.parametrize("task", TASKS[1:])
def test_leaves_of_each_task_meet(
    file: Path, task: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meets in the middle, as for the hash of 36 bits, with fewer bits."""
    monkeypatch.setattr("verify.adversary.MOST_KNOWN", 1 << 5)
    monkeypatch.setattr("verify.adversary.MOST_LEVELS", 13)
    monkeypatch.setattr("verify.adversary.require_same_elsewhere", lambda *given: None)
    code, found, _ = attack(capsys, "--task", task, "--rnn", f"{file}:sha22")
    assert code == 1
    judge(file, "sha22", found)


def test_each_bit_brings_the_states_closer(file: Path) -> None:
    """Of the four bits that follow, those of the pair leave the closest states, one after the other."""
    rnn, questions = load(f"{file}:floats"), Questions("index", 128, False)
    first, second = CollisionSearch(rnn, questions, lambda _: None, lambda *_: None).descend() or ((), ())
    assert (first[0], second[0]) == (0, 1)
    assert first[1:] == second[1:]
    for place in range(1, 5):
        apart = []
        for bit in (0, 1):
            lists = ((*path[:place], bit) for path in (first, second))
            states = [
                rnn.state_after(questions.tokens((*bits, *[0] * (128 - place - 1)))[: place + 1]) for bits in lists
            ]
            apart.append(float(abs(states[0] - states[1]).sum()))
        assert apart[first[place]] == min(apart)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (5, 6, 2),
        ((1, "a"), (3, "b"), 2),
        ((1, 2), (1, 2, 3), 1),
        (np.array([1, 250], np.uint8), np.array([3, 249], np.uint8), 3),
        (0.5, -0.5, 1),
        (float("nan"), 1.0, np.inf),
        (b"a", b"a", 0),
        (10**400, 10**400 + 1, 1),
    ],
)
def test_the_distance_of_states(one: Any, other: Any, expected: float) -> None:
    assert distance(one, other) == distance(other, one) == expected


def test_what_a_step_prints_stands_not_in_the_document(file: Path) -> None:
    run = [sys.executable, "-m", "verify.adversary", "--task", "index", "--rnn", f"{file}:prints", "--json"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["task"]) == (1, "index")


def test_a_pair_is_said_to_new_processes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its prompts is read there before anything else is."""
    rnn, found, calls = load(f"{file}:RNN"), {"task": "index", "n": 9, "prompts": ["1", "2"], "said": ["a", "a"]}, []
    mark = fingerprint(rnn, "index", 9)

    def answered(said: list[str]) -> Any:
        class Process:
            returncode = 0

            def __init__(self, argv: list[str], env: dict[str, str], **_: Any) -> None:
                calls.append((argv[-4:], env["PYTHONHASHSEED"]))

            def communicate(self) -> tuple[str, None]:
                return f"a line of its own\n{json.dumps([said.pop(0), mark])}\n", None

        return Process

    monkeypatch.setenv("PYTHONHASHSEED", "1")
    for said, holds in ((["a", "a"], True), (["a", "b"], False), (["b", "b"], False)):
        monkeypatch.setattr("verify.adversary.subprocess.Popen", answered(said))
        with nullcontext() if holds else pytest.raises(RnnError, match="it says something else in another process"):
            require_same_elsewhere(rnn, "mine.py", "", found, lambda *_: None)
    assert calls[:2] == [(["", "index", "9", "1"], "2"), (["", "index", "9", "2"], "3")]


@pytest.mark.parametrize("task", ["index", "recall", "ngram", "counting", "istree", "turing"])
@pytest.mark.parametrize("way", ["numbers", "words"])
def test_a_prompt_is_read_as_the_search_reads_it(task: str, way: str) -> None:
    def answer(state: Any, query: Any) -> list[str]:
        return [str((*state, *query))]

    rnn = FunctionRnn("all", 99, tuple, lambda s, t, p: (*s, t), answer, reads_words=way == "words")
    questions = Questions(task, 5, rnn.reads_words)
    for k in questions.reduction.ks(5):
        x = (1, 0, 0, 1, 1)
        more, query = questions.query(k)
        state = rnn.state_after([*questions.tokens(x), *more])
        assert say_after(rnn, " ".join(questions.reduction.words(x, k))) == " ".join(rnn.answer(state, query))


def test_the_clock_is_of_some_steps_where_a_lattice_takes_many(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes some two thousand, a millisecond each."""
    monkeypatch.setattr("circuits.rnn.LONGEST_STEP", 1.0)
    code, found, err = attack(capsys, "--task", "index", "--rnn", f"{file}:pauses", "--n-max", 40)
    assert code == 1, err
    judge(file, "pauses", found)


def test_children_s_steps_are_not_on_the_parent_s_clock(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two comparisons of leaves, the children together may take longer than one step may."""
    monkeypatch.setattr("circuits.rnn.LONGEST_STEP", 0.5)
    monkeypatch.setattr("verify.adversary.MANY_LEAVES", 1)
    monkeypatch.setattr("verify.adversary.MOST_LEVELS", 13)
    monkeypatch.setattr("verify.adversary.MOST_KNOWN", 1 << 7)
    code, found, err = attack(capsys, "--task", "index", "--rnn", f"{file}:slow", "--n-max", 14)
    assert (code, found.get("outcome")) == (3, "none found"), err


def test_a_turing_machine_s_cells(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No oracle of machines here: two tapes, of which one bit that is asked for differs."""
    code, found, _ = attack(capsys, "--task", "turing", "--rnn", f"{file}:latch")
    assert code == 1
    first, second = (numbers(prompt)[0] for prompt in found["prompts"])
    marks = first.count(3)
    place = len(first) - 2 * marks - 1
    assert first[place] != second[place]
    assert [{1: "N", 2: "Y"}[tape[place]] for tape in (first, second)] == found["right"]


@pytest.mark.parametrize(
    ("name", "most", "n_max", "outcome", "why"),
    [
        ("whole", {}, 10, (0, "none exists"), "all 1,024 lists of 10 bits leave different states"),
        # only a thousand leaves of one hash are compared, so that none exists is not known
        ("same", {"KNOWN": 4}, 11, (3, "none found"), "hash"),
        ("sha", {"LEVELS": 17, "KNOWN": 1 << 9}, None, (3, "none found"), "a pair of 128 bits takes about 2^64"),
    ],
)
def test_what_is_not_confused(
    name: str,
    most: dict[str, int],
    n_max: int | None,
    outcome: tuple[int, str],
    why: str,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for what, number in most.items():
        monkeypatch.setattr(f"verify.adversary.MOST_{what}", number)
    bound = [] if n_max is None else ["--n-max", n_max]
    code, found, _ = attack(capsys, "--task", "index", "--rnn", f"{file}:{name}", *bound)
    assert (code, found["outcome"]) == outcome
    assert why in found["reason"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("counts", "a step depends on more than its state, its token and its position"),
        ("tosses", "a step depends on more than its state, its token and its position"),
        ("raises", "rnns.py:raises, line 69: ZeroDivisionError: integer division or modulo by zero"),
        ("liar", "a state has 9 bits, and STATE_BITS = 4"),
        ("whims", "a step or an answer depends on more than its state"),
        ("shape", "a state is a number, a text, bytes, a tuple or an array, not a dict"),
        ("hashes", "its states are others in another process"),
        ("process", "its states are others in another process"),
        ("tired", "its states are others in another process"),
        ("tired_at_13", "its states are others in another process"),
        ("answers_later", "it says something else in another process"),
        ("exits", "its code ended the process"),
        ("changed", "a state is a number, a text, bytes, a tuple or an array, not a Box"),
        ("two", "is a triple of functions (start, step, answer)"),
        ("nobits", "STATE_BITS is the number of bits of a state, not '8'"),
        ("nothing", "has no nothing: a triple (start, step, answer)"),
    ],
)
def test_what_is_no_rnn_is_one_line(file: Path, name: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, err = attack(capsys, "--task", "index", "--rnn", f"{file}:{name}")
    assert (code, found) == (2, {})
    lines = [line for line in err.splitlines() if not line.startswith("reading states")]
    assert len(lines) == 1
    assert re.sub(r"line \d+", "", says) in re.sub(r"line \d+", "", lines[0])


def test_an_endless_step_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("circuits.rnn.LONGEST_STEP", 0.3)
    path = tmp_path / "endless.py"
    path.write_text("STATE_BITS = 4\ndef step(s, t):\n    while True: pass\nRNN = (lambda: 0, step, lambda s, q: 1)\n")
    code, _, err = attack(capsys, "--task", "index", "--rnn", path)
    assert code == 2
    assert "its code took more than 0.3 s for one step" in err


@pytest.mark.parametrize("rnn", ["nowhere.py", "nowhere.txt", "rnn"])
def test_a_file_that_is_none(rnn: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = attack(capsys, "--task", "index", "--rnn", rnn)
    assert code == 2
    assert rnn in err


def test_a_found_pair_is_kept(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept.json"
    argv = ("--task", "index", "--rnn", f"{file}:latch", "--resume", kept)
    first = attack(capsys, *argv)
    again = attack(capsys, *argv)
    assert first[:2] == again[:2] == (1, json.loads(kept.read_text()))
    assert attack(capsys, "--task", "recall", "--rnn", f"{file}:latch", "--resume", kept)[0] == 2


def shift_circuit(bits: int) -> Any:
    """A shift register over whether a token is 2: the last bits of an index prompt. Two input bits name the word."""
    builder = Builder()
    is_two, ask = builder.input("two"), builder.input("ask")
    state = [builder.state(f"s{i}") for i in range(bits)]
    kept = [(~ask & new) ^ (ask & old) for old, new in zip(state, [is_two, *state[:-1]], strict=True)]
    return builder.circuit({"last": state[0]}, kept)


def test_a_circuit_and_a_file_are_one_rnn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same shift register of five bits: equal states after the same prefixes, and the same pair."""
    path, words = tmp_path / "shift.aag", tmp_path / "words.json"
    write(shift_circuit(5), path)
    inputs = {"<s>": "01", "?": "01", "1": "00", "2": "10", **{str(k): "01" for k in range(3, 12)}}
    words.write_text(json.dumps({"schema": 1, "inputs": inputs, "outputs": {"0": "1", "1": "2"}}))
    code, found, _ = attack(capsys, "--task", "index", "--rnn", path, "--words", words)
    assert code == 1
    python = tmp_path / "shift.py"
    python.write_text(
        "STATE_BITS = 5\nRNN = (lambda: 0, lambda s, t: (2 * s + (t == 2)) % 32, lambda s, q: s % 2 + 1)\n"
    )
    same = attack(capsys, "--task", "index", "--rnn", python)
    assert same[1]["prompts"] == found["prompts"]
    assert same[1]["right"] == found["right"]
    circuit, written = load(str(path), words), load(str(python))
    for x in range(64):
        tokens = [1 + (x >> i & 1) for i in range(6)]
        bits = circuit.state_after(tokens)
        assert sum(bit << i for i, bit in enumerate(bits)) == written.state_after(tokens)
    assert attack(capsys, "--task", "index", "--rnn", path)[0] == 2  # no words
    words.write_text(json.dumps({"inputs": {"1": "00"}, "outputs": {}}))
    code, _, err = attack(capsys, "--task", "index", "--rnn", path, "--words", words)
    assert code == 2
    assert "have no input" in err


@pytest.mark.parametrize("task", ["index", "recall", "ngram", "counting", "istree", "turing"])
def test_pieces_are_what_the_reduction_writes(task: str) -> None:
    for reads_words in (False, True):
        questions = Questions(task, 5, reads_words)
        before, each = questions.pieces()
        for x in range(32):
            free = tuple(x >> i & 1 for i in range(5))
            tokens = [*before, *(token for bit, piece in zip(free, each, strict=True) for token in piece[bit])]
            assert tokens == questions.tokens(questions.bits(free))


def test_leaves_find_what_levels_find(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    """The search by leaves, of which 64 bits are kept, finds a pair where the one by levels does."""
    monkeypatch.setattr("verify.adversary.MOST_KNOWN", 4)
    rnn = load(f"{file}:RNN")
    tell: Callable[[int], object] = lambda seen: None  # noqa: E731
    questions = Questions("index", 14, False)
    pair = CollisionSearch(rnn, questions, tell, lambda *_: None).run()
    assert pair is not None
    first, second = (rnn.state_after(questions.tokens(questions.bits(bits))) for bits in pair)
    assert first == second
    assert pair[0] != pair[1]


def test_more_states_than_declared_are_counted_among_leaves_too(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """2^18 different states are no 17 bits, however many lists are told apart."""
    code, found, err = attack(capsys, "--task", "index", "--rnn", f"{file}:few")
    assert (code, found) == (2, {})
    assert re.search(r"has at least [\d,]+ states, and STATE_BITS = 17 are 131,072", err)


def test_numbers_that_python_hashes_alike_have_other_digests() -> None:
    modulus = 2**61 - 1
    numbers = [sign * (k * modulus + rest) for sign in (1, -1) for k in range(50) for rest in range(1, 50)]
    assert len({digest(number) for number in numbers}) == len(numbers)
    assert len({digest(("tuple", number)) for number in numbers}) == len(numbers)
    assert len({hash(number) for number in numbers}) < 100


def test_a_step_may_change_the_array_that_it_is_given(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, _ = attack(capsys, "--task", "index", "--rnn", f"{file}:room", "--n-max", 10)
    assert (code, found["outcome"]) == (0, "none exists")
    code, found, _ = attack(capsys, "--task", "index", "--rnn", f"{file}:tight", "--n-max", 10)
    assert code == 1
    tokens = [numbers(prompt)[0] for prompt in found["prompts"]]
    assert tokens[0][-3:] == tokens[1][-3:]  # all that three entries hold
    assert found["right"] == [right_answer("index", prompt) for prompt in found["prompts"]]
    assert found["right"][0] != found["right"][1]


def test_none_exists_up_to_n_is_said_of_every_smaller_n(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The values 4 and 5, which this RNN confuses, are those of n = 3."""
    code, found, _ = attack(capsys, "--task", "recall", "--rnn", f"{file}:blurs", "--n-max", 10)
    assert (code, found["n"]) == (1, 3)
    judge(file, "blurs", found)


def test_a_step_that_catches_all_errors_is_ended(file: Path) -> None:
    code = "import sys, circuits.rnn; circuits.rnn.LONGEST_STEP = 0.5\n"
    code += "from verify.adversary import main; sys.exit(main(sys.argv[1:]))"
    argv = [sys.executable, "-c", code, "--task", "index", "--rnn", f"{file}:never"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stdout) == (2, "")
    assert "rnns.py:never: its code took more than 0.5 s for one step" in done.stderr


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"task": "index"}'])
def test_what_is_no_kept_outcome_is_one_line(
    file: Path, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(text)
    code, found, err = attack(capsys, "--task", "index", "--rnn", f"{file}:latch", "--resume", kept)
    assert (code, found) == (2, {})
    assert f"--resume {kept}: no outcome is kept there" in err


def test_a_kept_outcome_answers_what_is_asked_alone(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, kept = tmp_path / "mine.py", tmp_path / "kept.json"
    mine.write_text("STATE_BITS = 64\nRNN = (lambda: (), lambda s, t: (*s, t), lambda s, q: 1)\n")
    argv = ("--task", "index", "--rnn", mine, "--resume", kept, "--n-max")
    assert attack(capsys, *argv, 4)[0] == attack(capsys, *argv, 4)[0] == 0
    code, _, err = attack(capsys, *argv, 6)
    assert code == 2
    assert "it is of n = 4, and --n-max is 6" in err
    later = kept.stat().st_mtime_ns + 10**9
    os.utime(mine, ns=(later, later))
    code, _, err = attack(capsys, *argv, 4)
    assert code == 2
    assert f"{mine} has changed since" in err


def test_the_clock_stands_still_while_leaves_are_sorted(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sort that takes longer than a step may take is no fault of the step."""
    sort = np.argsort

    def slow(*args: Any, **options: Any) -> Any:
        time.sleep(1.5)
        return sort(*args, **options)

    monkeypatch.setattr("circuits.rnn.LONGEST_STEP", 1.0)
    monkeypatch.setattr("verify.adversary.MOST_KNOWN", 4)
    monkeypatch.setattr("verify.adversary.np.argsort", slow)
    code, found, _ = attack(capsys, "--task", "counting", "--rnn", f"{file}:RNN")
    assert code == 1
    judge(file, "RNN", found)


@pytest.mark.parametrize("place", ["start", "step", "file"])
def test_a_hang_inside_one_call_of_c_ends(
    tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No handler of Python runs there: the process is a child, which the system ends."""
    monkeypatch.setattr("circuits.rnn.LONGEST_STEP", 0.3)
    path, hang = tmp_path / "deep.py", "sum(range(10**13))"
    start, step = (hang if place == where else "0" for where in ("start", "step"))
    path.write_text(f"STATE_BITS = 4\nRNN = (lambda: {start}, lambda s, t: {step}, lambda s, q: 1)\n")
    if place == "file":
        path.write_text(f"{path.read_text()}{hang}\n")
    began = time.monotonic()
    code, found, err = attack(capsys, "--task", "index", "--rnn", path)
    assert (code, found) == (2, {})
    assert f"{path}: its code took more than 0.3 s for one step" in err
    assert time.monotonic() - began < 60


def test_two_cores_find_the_leaves_that_one_finds(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rnn, questions, pairs = load(f"{file}:mixes"), Questions("index", 12, False), []
    monkeypatch.setattr("verify.adversary.MOST_KNOWN", 1 << 4)
    for least in (1 << 30, 1):
        monkeypatch.setattr("verify.adversary.MANY_LEAVES", least)
        monkeypatch.setattr("verify.adversary.cores", lambda: 2)
        search = CollisionSearch(rnn, questions, lambda seen: None, lambda *_: None)
        roots = [(state, (state,)) for state in range(7)]
        rows = list(search._rows(roots, 3, 6, 3))
        pairs.append([row.tolist() for row in rows])
        assert search.run() is not None
    assert pairs[0] == pairs[1]
    assert len(pairs[0]) == 7


@pytest.mark.parametrize("children", [1, 2])
def test_a_search_finds_the_pair_of_one_run_after_any_interruption(
    file: Path, tmp_path: Path, children: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leaves stand where they belong: of an RNN that is not linear, a pair elsewhere would not meet."""
    monkeypatch.setattr("verify.adversary.MOST_KNOWN", 1 << 5)
    monkeypatch.setattr("verify.adversary.MANY_LEAVES", 1)
    monkeypatch.setattr("verify.adversary.cores", lambda: children)
    rnn, questions, leaves = load(f"{file}:sha22"), Questions("index", 13, False), tmp_path / "leaves"

    def search() -> CollisionSearch:
        return CollisionSearch(
            rnn, questions, lambda seen: None, lambda *_: None, lambda *about: LeafFile(leaves, *about)
        )

    first = search()
    pair = first.run()
    assert pair is not None
    assert not first.unsure
    whole, width = leaves.read_bytes(), 8 << 13 - 5
    assert len(whole) >= 32 + 8 * width
    for kept in (0, 1, width, 3 * width + 100, 8 * width):
        leaves.write_bytes(whole[: 32 + kept])
        again = search()
        assert again.run() == pair
        assert not again.unsure


def test_a_hang_on_the_second_core_ends(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("circuits.rnn.LONGEST_STEP", 0.3)
    monkeypatch.setattr("verify.adversary.MANY_LEAVES", 1)
    monkeypatch.setattr("verify.adversary.cores", lambda: 2)
    search = CollisionSearch(
        load(f"{file}:hangs_at_9"), Questions("index", 12, False), lambda seen: None, lambda *_: None
    )
    with pytest.raises(RnnError, match=r"its code took more than 0.3 s for one step"):
        list(search._rows([(8, ()), (9, ())], 3, 6, 3))


SLOW = """
STATE_BITS = 128
import hashlib
def step(s, t):
    return hashlib.sha256(s + str(t).encode()).digest()[:16]
RNN = (lambda: b"", step, lambda s, q: 1)
"""


def interrupted(mine: Path, kept: Path) -> int:
    """Starts a search, interrupts it once some leaves are kept, and returns the bytes that are kept."""
    code = "import sys, verify.adversary as a; a.MOST_KNOWN, a.MOST_LEVELS = 1 << 6, 19; sys.exit(a.main(sys.argv[1:]))"
    argv = [sys.executable, "-c", code, "--task", "index", "--rnn", mine, "--resume", kept, "--json"]
    leaves = kept.with_name(f"{kept.name}.leaves")
    with subprocess.Popen(
        argv, cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL, start_new_session=True
    ) as run:
        while run.poll() is None and not (leaves.exists() and leaves.stat().st_size > 100_000):
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGINT)
        assert run.wait(timeout=60) == 130
    assert not kept.exists()
    return leaves.stat().st_size


def test_an_interrupted_search_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of what is kept are not taken again, and the outcome is that of one run."""
    mine, kept, calls = tmp_path / "mine.py", tmp_path / "kept.json", tmp_path / "calls"
    mine.write_text(SLOW)
    monkeypatch.setattr("verify.adversary.MOST_KNOWN", 1 << 6)
    monkeypatch.setattr("verify.adversary.MOST_LEVELS", 19)
    monkeypatch.setattr("verify.adversary.cores", lambda: 1)
    size = interrupted(mine, kept)
    subtree = CollisionSearch._subtree

    def counted(self: CollisionSearch, *arguments: Any) -> Any:
        calls.write_text(calls.read_text() + "." if calls.exists() else ".")
        return subtree(self, *arguments)

    monkeypatch.setattr(CollisionSearch, "_subtree", counted)
    argv = ("--task", "index", "--rnn", mine, "--resume", kept)
    code, found, _ = attack(capsys, *argv)
    assert (code, found["outcome"]) == (3, "none found")
    width = 1 << 19 - 6  # of a subtree below each of 64 states
    whole = (size - 32) // (8 * width)
    assert whole > 0
    assert len(calls.read_text()) == 64 - whole + 1  # one again, to see that its steps have not changed
    assert not (tmp_path / "kept.json.leaves").exists()
    assert json.loads(kept.read_text()) == found


def test_leaves_of_another_search_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, kept = tmp_path / "mine.py", tmp_path / "kept.json"
    mine.write_text(SLOW)
    monkeypatch.setattr("verify.adversary.MOST_KNOWN", 1 << 6)
    monkeypatch.setattr("verify.adversary.MOST_LEVELS", 19)
    interrupted(mine, kept)
    leaves, argv = tmp_path / "kept.json.leaves", ("--rnn", mine, "--resume", kept)
    code, _, err = attack(capsys, "--task", "counting", *argv)
    assert (code, f"{leaves} has the leaves of another search" in err) == (2, True)
    whole = leaves.read_bytes()
    leaves.write_bytes(whole[:32] + bytes([whole[32] ^ 1]) + whole[33:])
    code, _, err = attack(capsys, "--task", "index", *argv)
    assert (code, "are not those of the search that was interrupted" in err) == (2, True)
    leaves.write_bytes(whole)
    mine.write_text(SLOW.replace("[:16]", "[1:17]"))
    code, _, err = attack(capsys, "--task", "index", *argv)
    assert (code, "or its RNN has changed" in err) == (2, True)

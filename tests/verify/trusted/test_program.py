"""The checker of programs: it accepts what the weights say on every text, and nothing else."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from constructions.engines.reference import ReferenceEngine
from constructions.language.files import load_model
from constructions.language.interpreter import Input
from constructions.language.terms import ONE, NumberOf, SayNumber, Term, as_term
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from tests.survey.changes import changes_of
from tests.survey.checkers import follows_program, follows_rounding
from tests.survey.pairs import FAMILIES, drawn, survey
from tests.survey.weights import compiled
from tests.verify.trusted.test_rounding import dossier_of, tampered, texts
from verify.automata.program_texts import text_automaton
from verify.certificates.building import part_of, wired_of
from verify.certificates.definition import answers_of, definition_of
from verify.certificates.finder import certificate_of_file
from verify.certificates.ghosts import program_certificate, program_certificate_of_file, with_ghosts
from verify.dossiers.dossier import Dossier, Subject
from verify.dossiers.registry import find_dossier
from verify.programs.shorthand import back, let
from verify.trusted import program
from verify.trusted.abstract_state import Format, Integer, State
from verify.trusted.candidates import LINE, PLACE, SCORE, Candidate
from verify.trusted.kernel import Rejected
from verify.trusted.model import Weights, read_tensors
from verify.trusted.polynomials import Polynomial, plus
from verify.trusted.program import GHOST, GhostReader, Open, ProgramChecker, check

Document = dict[str, Any]
BOTH = tuple(Discipline)
TASKS = [
    *(
        f"{task}/{model}"
        for task in ("index", "recall", "ngram", "counting")
        for model in ("transformer", "hybrid", "rag")
    ),
    "turing/hybrid",
    "turing/rag",
]
ANYTHING = "anything", 0  # what the interpreter says where nothing is due
GALLERY = ["induction", "khop", "reverse", "automaton", "divisible", "parity", "trigram_search"]


def dossier(name: str) -> Dossier:
    found = dossier_of(name) if "/" in name else find_dossier(name, None)
    assert found is not None
    return found


@cache
def _files(name: str, n: int, discipline: Discipline) -> tuple[bytes, bytes, bytes, bytes]:
    subject = Subject(dossier(name), n, discipline=discipline)
    document, *files = program_certificate_of_file(subject, answers_of(subject))
    return json.dumps(document).encode(), files[0], files[1], files[2]


@cache
def _rounding(name: str, n: int) -> tuple[Document, bytes, list[str]]:
    return certificate_of_file(Subject(dossier(name), n))


def files(name: str, n: int, discipline: Discipline = Discipline.FUSED) -> tuple[Document, bytes, bytes, Document]:
    """Returns a certificate, weights, sidecar and definition."""
    document, weights, sidecar, definition = _files(name, n, discipline)
    return json.loads(document), weights, sidecar, json.loads(definition)


def verdict(document: Document, weights: bytes, sidecar: bytes, definition: Document) -> str:
    """Returns the reason to reject, or nothing. The certificate is signed for the definition."""
    said = json.dumps(definition).encode()
    signed = {**document, "definition": hashlib.sha256(said).hexdigest()}
    try:
        check(json.dumps(signed).encode(), weights, sidecar, said)
    except Rejected as why:
        return str(why)
    return ""


# What it accepts


@pytest.mark.parametrize("discipline", BOTH)
@pytest.mark.parametrize("name", [*TASKS, *GALLERY])
def test_programs_are_accepted(name: str, discipline: Discipline) -> None:
    assert verdict(*files(name, 5, discipline)) == ""


@pytest.mark.hostile
@pytest.mark.parametrize("discipline", BOTH)
def test_searches_are_accepted(discipline: Discipline) -> None:
    """Of IsTree as rag, classes stay apart by the comparisons that its answers make."""
    document, weights, sidecar, definition = files("istree/rag", 5, discipline)
    assert verdict(document, weights, sidecar, definition) == ""
    assert contradiction(document, wired_of(Subject(dossier("istree/rag"), 5)), definition, 10) == ""
    for old, new in (("1*a1 + 1*a2", "1*a1 + 2*a2"), ("-5 + 1*a6", "-4 + 1*a6"), ('["back", 1, 5]', '["back", 1, 4]')):
        changed = json.loads(json.dumps(definition).replace(old, new))
        assert changed != definition
        assert verdict(document, weights, sidecar, changed)


@pytest.mark.hostile
def test_lean_search_is_accepted() -> None:
    """Records are read back as products of what stood before; the father of the root is another one than that of a vertex."""
    document, weights, sidecar, definition = files("istree/transformer/lean", 5)
    assert verdict(document, weights, sidecar, definition) == ""
    assert contradiction(document, wired_of(Subject(dossier("istree/transformer/lean"), 5)), definition, 10) == ""
    near = [
        ('["first", 22, [[14, 14]]]', '["last", 22, [[14, 14]]]'),
        ('["last", 10, [[12, 14], [19, 26]]]', '["first", 10, [[12, 14], [19, 26]]]'),
        ('["last", 10, [[12, 14], [19, 23]]]', '["last", 10, [[12, 14]]]'),
        ('["back", 6, 4]', '["back", 6, 3]'),
        ("1*a15*a17", "1*a15*a7"),
        ("1*a22 + -1*a22*a25", "1*a22"),
        ('["say", "YES"], ["say", "NO"]', '["say", "NO"], ["say", "YES"]'),
    ]
    for old, new in near:
        changed = json.loads(json.dumps(definition).replace(old, new))
        assert changed != definition, old
        assert verdict(document, weights, sidecar, changed), old


@pytest.mark.parametrize("n", [1000, 2**40 + 12345])
@pytest.mark.parametrize("name", ["index/transformer", "recall/transformer", "counting/transformer", "induction"])
def test_intervals_are_accepted(name: str, n: int) -> None:
    subject = Subject(dossier(name), n)
    part, answer = part_of(subject, 2 * n), subject.dossier.answer(subject)
    assert part.high > part.low
    assert answer is not None
    document, rows, definition = program_certificate(part.model, part.inputs, answer)
    assert verdict(document, rows, b"{}", json.loads(definition)) == ""
    assert verdict({**document, "n": [part.low, part.high + 1]}, rows, b"{}", json.loads(definition))


def test_command_runs_without_packages(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("c.json", "w.safetensors", "w.json", "d.json")]
    for name, data in zip(names, _files("recall/transformer", 8, Discipline.FUSED), strict=True):
        Path(name).write_bytes(data)
    command = [sys.executable, "-I", "-S", str(program.__file__), *names]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("accepted")
    Path(names[3]).write_text(Path(names[3]).read_text().replace("first", "last"))
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    Path(names[1]).unlink()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
    assert subprocess.run(command[:5], capture_output=True, check=False).returncode == 2


# What a definition means: an oracle that shares no code with the checker


class Meaning:
    """What a definition says on one text of tokens: a word and 0, or a family and a number."""

    def __init__(self, definition: Document, tokens: list[tuple[str, int]], families: frozenset[str]) -> None:
        self.definition, self.tokens, self.families = definition, tokens, families
        self.known: dict[tuple[int, int], Any] = {}

    def value(self, j: int, k: int) -> Any:
        if (j, k) not in self.known:
            self.known[j, k] = self.of(*self.definition["atoms"][j], k=k)
        return self.known[j, k]

    def of(self, kind: str, *some: Any, k: int) -> Any:
        name, number = self.tokens[k - 1]
        if kind in ("number", "is_number"):
            is_number = name == some[0] and name in self.families
            return int(is_number) if kind == "is_number" else number * is_number
        if kind == "is_word":
            return int(name == some[0] and name not in self.families)
        if kind == "position":
            return k
        if kind == "term":
            return sum(self.product(term.split("*"), k) for term in some[0].split(" + ") if term)
        if kind in ("positive", "equal", "above"):
            of = self.value(some[0], k)
            return {"positive": max(of, 0), "above": int(of > 0)}.get(
                kind, kind == "equal" and int(of == Fraction(some[1]))
            )
        if kind == "back":
            return self.value(some[0], k - some[1]) if k > some[1] else 0
        if kind == "at":
            return self.value(some[0], max(1, min(k, int(self.value(some[1], k)))))
        if kind == "sum":
            return sum(self.value(some[0], j) for j in range(1, k + 1))
        if kind == "comb":
            return sum(some[2] ** i * self.value(some[0], j) for i, j in enumerate(range(k, 0, -some[1])))
        pairs = some[0] if kind == "count" else some[1]
        equal = [j for j in range(2, k + 1) if all(self.value(a, j) == self.value(b, k) for a, b in pairs)]
        if kind == "count":
            return len(equal)
        if kind == "nearest":
            equal.sort(key=lambda j: (abs(j - self.value(some[2], k)), j))
        return self.value(some[0], (equal or [1])[-1 if kind == "last" else 0])

    def product(self, factors: list[str], k: int) -> Any:
        result = Fraction(factors[0])
        for factor in factors[1:]:
            result *= self.value(int(factor[1:]), k)
        return result

    def answer(self, k: int, label: str = "") -> tuple[str, Any] | None:
        tree = self.definition["answers"].get(label) or self.definition["answers"][""]
        while tree[0] == "if":
            tree = tree[2] if self.value(tree[1], k) else tree[3]
        if tree[0] == "number":
            return tree[2], self.value(tree[1], k)
        return (tree[1], 0) if tree[0] == "say" else None


def contradiction(document: Document, wired: Wired, definition: Document, count: int) -> str:
    """Returns a text on which the reference engine does not say what the definition does; "" if there is none."""
    format_, families = fixed_point(document["p"]), document["families"]
    tokens: list[tuple[str, int]] = [(word, 0) for word in wired.vocabulary]
    for name, (first, low, high) in families.items():
        tokens[first : first + high - low + 1] = [(name, v) for v in range(low, high + 1)]
    for text in texts(document, wired.vocabulary, count):
        engine = ReferenceEngine(wired.model, Arithmetic(format_, Discipline(document["discipline"])), beyond=True)
        meaning = Meaning(definition, [tokens[token] for _, token in text], frozenset(families))
        for k, (state, token) in enumerate(text, start=1):
            step = engine.append(token)
            if (
                document["automaton"][state]["answer"]
                and (due := meaning.answer(k, document["automaton"][state]["label"])) is not None
            ):
                said = tokens[step.next_token]
                if said != due:
                    return f"{[tokens[token] for _, token in text[:k]]}: {said}, and {due} is due"
    return ""


@pytest.mark.parametrize("name", [*TASKS, *GALLERY])
def test_weights_say_what_is_accepted(name: str) -> None:
    document, _, _, definition = files(name, 4)
    assert contradiction(document, wired_of(Subject(dossier(name), 4)), definition, 60) == ""


@pytest.mark.parametrize(
    "name", [*TASKS, *GALLERY, "more_than", "histogram", "khop", "sorting", "istree/transformer/lean"]
)
def test_definitions_mean_what_the_interpreter_says(name: str) -> None:
    answers, draw = answers_of(Subject(dossier(name), 4)), random.Random(0)
    definition = definition_of(answers)
    named = {kind: {some[0] for other, *some in definition["atoms"] if other == kind} for kind in ("number", "is_word")}
    families = sorted(named["number"]) or [""]
    words = sorted({"?", "a"} | named["is_word"])
    compared = 0
    for _ in range(40):
        tokens = [("<s>", 0)]
        tokens += (
            (draw.choice(families), draw.randrange(5)) if draw.random() < 2 / 3 else (draw.choice(words), 0)
            for _ in range(20 if isinstance(answers, dict) else 6)  # some of a Turing machine's atoms look far back
        )
        read, meaning = Input(tokens, frozenset(families)), Meaning(definition, tokens, frozenset(families))
        for k in range(1, len(tokens) + 1):
            for label, answer in (answers if isinstance(answers, dict) else {"": answers}).items():
                try:
                    due = read.spoken(answer, k)
                except ValueError:  # a position that there is not
                    continue
                compared += due != ANYTHING
                assert (meaning.answer(k, label) or ANYTHING) == due
    assert compared >= 40


NUMBER, HALF = as_term(NumberOf()), Fraction(1, 2)


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (NUMBER * NUMBER, 0),
        (NUMBER * back(NUMBER, 1) * HALF + back(NUMBER, 3), 0),
        (let("product", back(NUMBER, 2) * let("next", ONE - NUMBER)), 1),
        (ONE - NUMBER * NUMBER, 1),  # 0 where there is no such position, and not 1
    ],
)
def test_terms_are_read_back_by_their_factors(value: Term, whole: int) -> None:
    """A sum of products some tokens back is written as one of what its factors were; the interpreter reads it as it stands.

    whole: how many terms are read as they are.
    """
    answer, draw = SayNumber(back(value, 2)), random.Random(0)
    definition = definition_of(answer)
    atoms = definition["atoms"]
    assert sum(kind == "back" and atoms[some[0]][0] in ("term", "back") for kind, *some in atoms) == whole
    for _ in range(20):
        tokens = [("<s>", 0), *(("", draw.randrange(5)) for _ in range(6))]
        read, meaning = Input(tokens, frozenset([""])), Meaning(definition, tokens, frozenset([""]))
        for k in range(1, len(tokens) + 1):
            assert meaning.answer(k) == ("", read.value(back(value, 2), k))


@pytest.mark.parametrize(
    ("kind", "keys", "is_ordered"),
    [
        ("first", [(2, 2, 9, 9), (3, 3, 7, 8), (5, 5, 1, 6)], True),
        ("last", [(5, 5, 7, 8), (2, 2, 1, 6)], True),
        ("first", [(2, 2, 1, 6), (5, 5, 7, 8)], False),
        ("last", [(2, 2, 7, 8), (5, 5, 1, 6)], False),
        ("first", [(2, 2, 9, 9), (3, 3, 5, 5), (5, 5, 6, 6)], False),
        ("first", [(2, 2, 8, 9), (3, 3, 7, 8)], False),  # they may be equal
        ("first", [(2, 3, 8, 9), (4, 4, 1, 2)], False),  # two positions of one class
        ("nearest", [(2, 2, 9, 9), (3, 3, 7, 8)], False),
    ],
)
def test_keys_of_one_position_each_are_ordered(kind: str, keys: list[tuple[int, ...]], is_ordered: bool) -> None:
    """Keys are positions from … to … with scores from … to …."""
    reader: Any = SimpleNamespace(definition=SimpleNamespace(atoms=[[kind, 0, []]]), where="a head")
    matching = []
    for first, last, low, high in keys:
        box: dict[str, Any] = {"k": Integer(9, 9), "h'": Integer(first, last), "x'": Integer(low, high)}
        registers: dict[int, Polynomial] = {PLACE: {("h'",): 1}, SCORE: {("x'",): 1}}
        state = State(Format(41), box, registers)
        matching.append(Candidate(0, state, frozenset(["h'", "x'"]), 0, ()))
    with contextlib.nullcontext() if is_ordered else pytest.raises(Rejected):
        GhostReader.require_line(reader, matching, 0)


# Near misses: a definition that differs in one place


@pytest.mark.parametrize("name", ["associative_recall", "induction", "first", "divisible"])
def test_definition_that_differs_is_refused(name: str) -> None:
    """Where a text of n ≤ 4 tells a changed definition from the weights, no certificate of it is found that is accepted."""
    (weights,) = compiled(iter([load_model(name).program]))
    certifies, draw = follows_program(weights.wired, weights.program), random.Random(0)
    changed = [*changes_of(weights.answer, ("none", "yes"))]
    different = 0
    assert certifies(weights.answer)
    for answer in draw.sample(changed, min(16, len(changed))):
        difference = weights.difference(answer)
        different += bool(difference)
        assert not (difference and certifies(answer)), difference
    assert different >= 5


def test_counts_by_marks_are_accepted() -> None:
    """Where a head reads all positions, and a value that is 1 at keys that match."""
    weights = [*itertools.islice(FAMILIES["counts"](random.Random(0)), 8)]
    marked = 0
    for one in weights:
        certifies = follows_program(one.wired, one.program)
        marked += certifies(one.answer)
        for answer in [*changes_of(one.answer, ("yes", "no"))][:8]:
            assert not (one.difference(answer) and certifies(answer))
    assert marked >= 5  # one of them by marks


def test_split_of_a_position_is_written_as_it_is_read() -> None:
    """No rule holds for all positions of a query there, so that a head is read position by position."""
    weights = next(iter(FAMILIES["nested"](random.Random(0))))
    automaton = text_automaton(weights.program.texts, weights.wired.n, (weights.wired.n, weights.wired.n))
    assert follows_rounding(weights.wired, automaton) is not None


def test_survey_finds_nothing() -> None:
    draw = random.Random(3)
    outcome = survey(drawn([*FAMILIES], draw), 50, draw, follows_program, each=6)
    assert outcome.findings == []
    assert outcome.certified >= 5
    assert outcome.different >= 25


# Certificates that are tampered with


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("recall/transformer", 120),
        ("counting/transformer", 80),
        ("recall/hybrid", 80),
        ("counting/hybrid", 80),
        ("induction", 80),
    ],
)
def test_changed_certificates_are_rejected_or_true(name: str, changes: int) -> None:
    document, weights, sidecar, definition = files(name, 4)
    wired, generator, accepted = wired_of(Subject(dossier(name), 4)), random.Random(1), 0
    for _ in range(changes):
        changed = tampered(document, generator)
        if not verdict(changed, weights, sidecar, definition):
            accepted += 1
            assert contradiction(changed, wired, definition, 6) == "", changed
    assert accepted < changes // 2


def changed_definition(definition: Document, generator: random.Random) -> Document:
    """Returns the definition with one number, kind or answer changed."""
    changed = copy.deepcopy(definition)
    if generator.random() < 0.3:
        one = generator.choice(changed["atoms"])
        one[0] = {"first": "last", "last": "first", "above": "positive", "is_number": "number"}.get(one[0], one[0])
    else:
        places = [(atom, i) for atom in changed["atoms"] for i in range(1, len(atom)) if type(atom[i]) is int]
        places += [
            (pair, i) for atom in changed["atoms"] for x in atom if type(x) is list for pair in x for i in (0, 1)
        ]
        places += [
            (changed["answers"][""], i)
            for i in range(1, len(changed["answers"][""]))
            if type(changed["answers"][""][i]) is int
        ]
        where, i = generator.choice(places)
        where[i] += generator.choice((-1, 1))
    return changed


@pytest.mark.parametrize(
    "name", ["recall/transformer", "counting/transformer", "index/transformer", "counting/hybrid", "induction"]
)
def test_changed_definitions_are_rejected_or_true(name: str) -> None:
    document, weights, sidecar, definition = files(name, 4)
    wired, generator = wired_of(Subject(dossier(name), 4)), random.Random(2)
    for _ in range(40):
        changed = changed_definition(definition, generator)
        if changed != definition and not verdict(document, weights, sidecar, changed):
            assert contradiction(document, wired, changed, 20) == "", changed


def _make_early(document: Document) -> None:
    document["ghosts"][2][0] -= 2


def _read_elsewhere(document: Document) -> None:
    document["ghosts"][1], document["ghosts"][2] = document["ghosts"][2], document["ghosts"][1]


def _forget_ghost(document: Document) -> None:
    document["entries"][2]["live"].remove(GHOST + 1)


def _forget_to_write(document: Document) -> None:
    for entry in document["entries"][:5]:
        entry["live"] = [i for i in entry["live"] if i != GHOST + 2]


def _say_another_ghost(document: Document) -> None:
    one = next(c for c in document["entries"][-1]["classes"] if str(GHOST + 2) in c["registers"])
    one["registers"][str(GHOST + 2)] += " + 1"


def _lose_a_ghost(document: Document) -> None:
    one = next(c for c in document["entries"][3]["classes"] if str(GHOST + 1) in c["registers"])
    del one["registers"][str(GHOST + 1)]


def _make_nothing(document: Document) -> None:
    document["ghosts"][2] = None


def _have_fewer(document: Document) -> None:
    document["ghosts"].pop()


def _place_a_token_later(document: Document) -> None:
    document["ghosts"][0][0] = 2


def _show_none(document: Document) -> None:
    for choices in (cs for step in document["steps"] for cs in step):
        choices[:] = [["ghosts", [False]] if one[0] == "ghosts" else one for one in choices]


LIES: list[Callable[[Document], None]] = [
    _make_early,
    _read_elsewhere,
    _forget_ghost,
    _forget_to_write,
    _say_another_ghost,
    _lose_a_ghost,
    _make_nothing,
    _have_fewer,
    _place_a_token_later,
    _show_none,
]


@pytest.mark.parametrize("lie", LIES, ids=[lie.__name__ for lie in LIES])
def test_finder_that_lies_is_rejected(lie: Callable[[Document], None]) -> None:
    document, weights, sidecar, definition = files("recall/transformer", 5)
    lie(document)
    assert verdict(document, weights, sidecar, definition)


# Mutants of the checker: each accepts a certificate of a false definition, and the checker does not


def _swap(old: str, new: str) -> Callable[[Document], None]:
    def change(definition: Document) -> None:
        text = json.dumps(definition)
        assert old in text
        definition |= json.loads(text.replace(old, new))

    return change


NEAR: list[tuple[str, Callable[[Document], None]]] = [
    ("recall/transformer", _swap('["back", 0, 1]', '["back", 0, 2]')),
    ("recall/hybrid", _swap('["back", 0, 1]', '["back", 0, 2]')),
    ("recall/transformer", _swap('"first"', '"last"')),
    ("recall/transformer", _swap("[[1, 0]]", "[[0, 0]]")),
    ("recall/transformer", _swap("[[1, 0]]", "[]")),
    ("recall/transformer", _swap('"FAILED"', '"YES"')),
    ("ngram/transformer", _swap("[[1, 0], [2, 1]]", "[[1, 0]]")),
    ("ngram/transformer", _swap("[[1, 0], [2, 1]]", "[[1, 0], [2, 0]]")),
    ("index/transformer", _swap("1 + 1*a0", "1*a0")),
    ("index/transformer", _swap('["at", 0, 1]', '["at", 1, 1]')),
    ("induction", _swap('"last"', '"first"')),
    ("counting/transformer", _swap('["count", [[0, 1], [4, 5]]]', '["count", [[0, 1]]]')),
    ("counting/transformer", _swap('["count", [[2, 3]]]', '["count", [[2, 0]]]')),
    ("counting/transformer", _swap("-1*a0 + 1*a6", "1 + -1*a0 + 1*a6")),
    ("counting/transformer", _swap('["say", "YES"], ["say", "NO"]', '["say", "NO"], ["say", "YES"]')),
    ("counting/hybrid", _swap('["count", [[2, 3]]]', '["count", [[2, 5]]]')),
    ("counting/hybrid", _swap('["count", [[2, 3]]]', '["count", [[0, 3]]]')),
    ("counting/hybrid", _swap('["count", [[2, 3]]]', '["count", [[2, 2]]]')),
    ("counting/hybrid", _swap('["count", [[2, 3]]]', '["count", [[2, 3], [2, 3]]]')),
    ("counting/rag", _swap('["back", 0, 3]', '["back", 0, 2]')),
    ("index/rag", _swap('["term", "-1 + 1*a1"]', '["term", "-2 + 1*a1"]')),
    ("turing/hybrid", _swap('["back", 6, 4]', '["back", 6, 9]')),
    ("turing/hybrid", _swap('["count", [[3, 1]]]', '["count", [[0, 1]]]')),
    ("divisible", _swap('["comb", 3, 3, 1]', '["comb", 3, 2, 1]')),
    ("divisible", _swap('["comb", 3, 3, 1]', '["comb", 3, 3, -1]')),
    ("divisible", _swap('["comb", 0, 1, -1]', '["sum", 0]')),
    ("automaton", _swap('"turn"', '"swap"')),
    ("parity", _swap("-2*a7*a8", "-1*a7*a8")),
    ("parity", _swap("2 + 1*a1", "1 + 1*a1")),
]


@pytest.mark.parametrize(("name", "change"), NEAR, ids=[f"{i} {name}" for i, (name, _) in enumerate(NEAR)])
def test_near_misses_are_refused(name: str, change: Callable[[Document], None]) -> None:
    definition = files(name, 5)[3]
    assert found(name, definition)
    change(definition)
    with pytest.raises(Rejected):
        found(name, definition)


def _say_beside(step: int) -> Callable[[Document], None]:
    """Changes the definition of `reverse`: where 3 is due, it is the number beside 3. Every word's logit is below that of both."""

    def change(definition: Document) -> None:
        definition["atoms"] += [["equal", 6, "3"], ["term", f"1*a6 + {step}*a8"]]
        definition["answers"][""][3][1] = 9

    return change


def _count_the_first(definition: Document) -> None:
    """Changes the definition of Counting: the first word is counted, which it is not, as counts begin with position 2."""
    many = len(definition["atoms"])
    definition["atoms"] += [["is_word", "<s>"], ["sum", many], ["count", [[many, 3]]]]
    definition["atoms"] += [["term", f"1*a{many + 1} + -1*a{many + 2}"]]
    definition["answers"][""] = ["if", many + 3, ["say", "FAILED"], definition["answers"][""]]


def _add_up_numbers(definition: Document) -> None:
    """Changes the definition of Counting: no text has a number that is 1."""
    many = len(definition["atoms"])
    definition["atoms"] += [["count", [[0, 3]]], ["sum", 0], ["term", f"1*a{many} + -1*a{many + 1}"]]
    definition["answers"][""] = ["if", many + 2, ["say", "FAILED"], definition["answers"][""]]


def _bound_numbers_on_one_side(step: int) -> Callable[..., None]:
    """Returns a mutant that bounds the logits of numbers above what is due alone, or below it."""
    judge = ProgramChecker.require_behind

    def mutant(checker: ProgramChecker, state: State, behind: Polynomial, value: Polynomial | None, name: str) -> None:
        beyond = value and state.restrict(plus({(LINE,): step}, value, -step), 1, None)
        if beyond:
            judge(checker, beyond, behind, value, name)

    return mutant


def _count_without_looking(
    reader: GhostReader, state: State, candidates: Sequence[Candidate], j: int, slot: int
) -> Polynomial:
    name = state.only_share(state.register(slot))
    return plus(state.index_of(name), {(): 1}, -1) if name else {}


MUTANTS: list[tuple[str, Any, str, Any, Callable[[Document], None]]] = [
    ("recall/transformer", GhostReader, "require_line", lambda *_: None, _swap('"first"', '"last"')),
    ("recall/transformer", GhostReader, "is_picked", lambda *_: True, _swap('["back", 0, 1]', '["back", 0, 2]')),
    ("index/transformer", GhostReader, "is_picked", lambda *_: True, _swap("1 + 1*a0", "2 + 1*a0")),
    ("ngram/transformer", GhostReader, "require_order", lambda *_: None, _swap("[[1, 0], [2, 1]]", "[[1, 0]]")),
    ("counting/transformer", GhostReader, "count", _count_without_looking, _swap("[[0, 1], [4, 5]]", "[[0, 1]]")),
    ("recall/transformer", ProgramChecker, "require_due", lambda *_: None, _swap('"number", 2', '"number", 1')),
    ("recall/hybrid", ProgramChecker, "require_due", lambda *_: None, _swap('"equal", 2, "0"', '"equal", 2, "1"')),
    ("counting/hybrid", ProgramChecker, "require_bit", lambda *_: None, _count_the_first),
    ("counting/hybrid", ProgramChecker, "require_bit", lambda *_: None, _add_up_numbers),
    ("reverse", ProgramChecker, "require_behind", _bound_numbers_on_one_side(1), _say_beside(1)),
    ("reverse", ProgramChecker, "require_behind", _bound_numbers_on_one_side(-1), _say_beside(-1)),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{m[0]} {m[2]}" for m in MUTANTS])
def test_mutants_are_not_the_checker(mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name, owner, method, instead, change = mutant
    _, weights, sidecar, definition = files(name, 5)
    change(definition)
    with monkeypatch.context() as patch:
        patch.setattr(owner, method, instead)
        mutated = found(name, definition)
        assert verdict(mutated, weights, sidecar, definition) == ""
    assert verdict(mutated, weights, sidecar, definition)
    with pytest.raises(Rejected):
        found(name, definition)


def found(name: str, definition: Document) -> Document:
    """Returns a certificate of another definition of the same weights."""
    document, weights, vocabulary = _rounding(name, 5)

    def read() -> Weights:
        return read_tensors(weights, vocabulary, document["families"])

    return with_ghosts(document, read, json.dumps(definition).encode())


@pytest.mark.parametrize(
    ("behind", "is_below"),
    [
        ({(LINE, LINE): -1, (LINE,): 6, (): -8}, False),  # 1 at 3, and −3 at both ends
        ({(LINE, LINE): -1, (LINE,): 6, (): -10}, True),
        ({(LINE,): 1, (): -6}, True),
        ({(LINE,): 1, (): -5}, False),
        ({(LINE,): -1}, True),
        ({(LINE,): -1, (): 1}, False),
        ({(LINE, "x"): 2, (LINE,): -1, ("x", "x"): -1, (): -1}, False),  # 2·h·x − h − x² − 1: 15 at h = x = 5
        ({(LINE, "x"): -2, (LINE,): 1, ("x", "x"): -1, (): -4}, True),
    ],
)
def test_numbers_are_bounded_at_their_ends(behind: Polynomial, is_below: bool) -> None:
    """The oracle looks at each h and x of 1 … 5."""
    box: dict[str, Any] = {LINE: Integer(1, 5), "x": Integer(1, 5)}
    values = [
        sum(c * h ** m.count(LINE) * x ** m.count("x") for m, c in behind.items())
        for h, x in itertools.product(range(1, 6), repeat=2)
    ]
    assert (max(values) < 0) == is_below
    with contextlib.nullcontext() if is_below else pytest.raises((Rejected, Open)):
        ProgramChecker.require_behind(None, State(Format(41), box, {}), behind, None, "")


def test_recurrence_beside_heads_is_rejected() -> None:
    document, weights, sidecar, definition = files("counting/hybrid", 5)
    assert document["ghosts"][4] == [1, None, None]
    for step in (0, 2, 3):
        document["ghosts"][4][0] = step
        assert verdict(document, weights, sidecar, definition)


# Invariants


def test_invariant_of_a_ghost_is_rejected() -> None:
    """The exact machine has no ghosts, so what is assumed of one holds of no register, and shows anything."""
    definition = files("divisible", 5)[3]
    document, weights, vocabulary = copy.deepcopy(_rounding("divisible", 5))
    yes, no = ["say", "YES"], ["say", "NO"]
    definition["answers"][""] = ["if", 2, no, ["if", 5, yes, no]]
    document["invariants"].append({"kind": "limited", "sum": GHOST + 4, "most": "0", "name": "", "says": ""})
    with pytest.raises(Rejected, match="invariant"):
        with_ghosts(
            document, lambda: read_tensors(weights, vocabulary, document["families"]), json.dumps(definition).encode()
        )


@pytest.mark.parametrize(
    "invariant",
    [
        {"kind": "apart", "group": GHOST, "by": 2},
        {"kind": "consecutive", "group": GHOST, "share": 0, "most": "1"},
        {"kind": "consecutive", "group": 0, "share": GHOST - 1, "most": "1"},
        {"kind": "limited", "sum": GHOST, "most": "1"},
        {"kind": "delayed", "late": GHOST, "early": 0, "by": 1},
        {"kind": "delayed", "late": 0, "early": GHOST, "by": 1},
    ],
)
def test_no_field_of_an_invariant_is_a_ghost(invariant: Document) -> None:
    document, weights, sidecar, definition = files("divisible", 5)
    document["invariants"].append(invariant)
    assert "an invariant speaks of a ghost" in verdict(document, weights, sidecar, definition)


# Files that lie


@pytest.mark.parametrize(
    "lie", [b"", b"[" * 10**6, b"null", b"[]", b'{"atoms": 3}', b'{"atoms": [], "answers": []}', b"\xff"]
)
def test_lies_are_rejected(lie: bytes) -> None:
    document, weights, sidecar, definition = _files("recall/transformer", 4, Discipline.FUSED)
    signed = {**json.loads(document), "definition": hashlib.sha256(lie).hexdigest()}
    for given in ((lie, weights, sidecar, definition), (json.dumps(signed).encode(), weights, sidecar, lie)):
        with pytest.raises(Rejected):
            check(*given)


@pytest.mark.parametrize(
    "atom",
    [
        ["term", "1*a9"],
        ["term", "1*k"],
        ["back", 0, 0],
        ["back", 1, 1],
        ["first", 0],
        ["peek", 0],
        ["comb", 0, 1, 2],
        ["above", 0.0],
    ],
)
def test_atoms_that_are_none_are_rejected(atom: list[Any]) -> None:
    with pytest.raises((Rejected, ValueError)):
        program.Definition({"atoms": [["position"], atom], "answers": {"": ["anything"]}})

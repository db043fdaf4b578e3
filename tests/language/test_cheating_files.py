"""Files of somebody who wants a theorem that his model has not earned: no command says that it holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from constructions.language import word
from constructions.language.copies import Once, exact_copy
from constructions.language.terms import Say
from constructions.wiring.affine import Affine
from verify.algebra.interval import symbol
from verify.certify import main as certify
from verify.explain import main as explain
from verify.theorem import main as theorem

HEAD = """
from fractions import Fraction
from constructions.language import *
from constructions.language import terms
from constructions.language.handwired import HandWired
from constructions.language.program import Program
from constructions.language.terms import *
from constructions.language.texts import Piece, Texts
from constructions.language.values import Output, Value
from constructions.parts.gadgets.product import square
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.heads.copy import copy, position_square_precision
from constructions.parts.heads.tight import nearest
from constructions.wiring.affine import Affine, reg
from constructions.wiring.plan import BlockPlan, Gadget, Unit, constant, linear

def oracle(tokens):
    return "Y" if tokens[-1] == "a" else "N"

def bits(n, length, discipline):
    return 2 * (length * length).bit_length() + 9

def task(says, oracle=oracle, **more):
    return program(says, prompt=[some(words("a", "b"))], oracle=oracle, examples=["a b"], **more)

RIGHT = choose(word("a") == 1, "Y", "N")
NEVER = [BlockPlan((), (constant("always", {"N": 2, "Y": 0}),))]
GOOD = [BlockPlan((), (constant("N, unless", {"N": 2}), indicator(reg("a"), 1, {"Y": 2, "N": -2})))]

class Word(str):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = str.__hash__
"""

CHEATS = {
    "a word that equals another one": (
        "class Either(str):\n    def __eq__(self, other): return str(other) in ('Y', 'N')\n"
        "    def __ne__(self, other): return not self == other\n    __hash__ = str.__hash__\n"
        'M = HandWired(task(choose(word("a") == 1, Either("Y"), "N")), lambda s: NEVER, bits)'
    ),
    "an answer of the oracle that equals any other": 'P = task(say("N"), oracle=lambda tokens: Word("Y"))',
    "an answer that an object's class is said to be": (
        'class Said:\n    __class__ = str\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n'
        'P = task(say("N"), oracle=lambda tokens: Said())'
    ),
    "words of an answer in a list of one's own": (
        'class Words(list):\n    def __iter__(self): return iter(["Y"])\n'
        'P = program(choose(word("?") == 1, "N", "END"), prompt=[some(words("a", "b")), "?"], thought=["N"], stop="END",\n'
        '    oracle=lambda tokens: "Y", answer=lambda said: Words(said), examples=["a b"])'
    ),
    "another definition for plain n": (
        'def says(n): return RIGHT if type(n) is int else choose(word("a") == 2, "Y", "N")\n'
        "M = HandWired(task(says), lambda s: NEVER, bits)"
    ),
    "another definition at every second call": (
        'calls = []\ndef says(n):\n    calls.append(n)\n    return "N" if len(calls) < 40 else RIGHT\n'
        'M = HandWired(task(says), lambda s: NEVER, bits)'
    ),
    "other blocks at every second call": (
        "calls = []\ndef blocks(setting):\n    calls.append(setting)\n    return GOOD if len(calls) % 2 else NEVER\n"
        "M = HandWired(task(say('N')), blocks, bits)"
    ),
    "blocks that are changed after they were given": (
        'into = {"Y": 0, "N": 0}\n'
        'plan = [BlockPlan((), (constant("N, unless", {"N": 2}), Gadget("a", (Unit(reg("a"), reg("one"), into),))))]\n'
        'def blocks(setting):\n    into.update({"Y": 2 - into["Y"], "N": -2 - into["N"]})\n    return plan\n'
        'M = HandWired(task(RIGHT), blocks, bits)'
    ),
    "blocks in a list that is another one each time": (
        "class Blocks(list):\n    calls = 0\n    def __iter__(self):\n        Blocks.calls += 1\n"
        "        return iter(GOOD if Blocks.calls % 2 else NEVER)\nkept = Blocks(GOOD)\n"
        'M = HandWired(task(say("N")), lambda setting: kept, bits)'
    ),
    "a fraction that says that it is settled": (
        "class Zero(Fraction):\n    settled = Fraction(0)\n    def __bool__(self): return False\n"
        'M = HandWired(task(RIGHT), lambda s: [BlockPlan((), (constant("always", {"N": Zero(2)}),))], bits)'
    ),
    "a definition that leaves all open": (
        'M = HandWired(Program("", Output(terms.If(word("a").term, terms.Anything(), terms.Say("N"))),\n'
        '    Texts((some(words("a", "b")),)), oracle, examples=("a b",), wrong=lambda t: "odd" if t[-1] == "a" else ""),\n'
        "    lambda s: NEVER, bits)"
    ),
    "a term whose order is another's": (
        'term_a, term_b = word("a").term, word("b").term\n'
        'term_a.__dict__.update(order=term_b.order, hash=hash(term_b))\n'
        'M = HandWired(task(choose(Value(term_a), "N", "Y")), lambda s: GOOD, bits)'
    ),
    "an atom that is ordered as another one": (
        'class Other(IsWord):\n    order = IsWord("b").order\n'
        'M = HandWired(task(choose(Value(as_term(Other("a"))), "N", "Y")), lambda s: GOOD, bits)'
    ),
    "an atom that reads where nothing is": (
        'P = task(choose(Value(as_term(Read(word("a").term, terms.At((position + 1).term)))), "Y", "N"))'
    ),
    "a sign that is none": 'P = task(choose(Value(as_term(terms.Comb(word("a").term, 1, 5))) > 3, "Y", "N"), architecture="rnn")',
    "a model with weights of its own": (
        "class Mine(HandWired):\n    def weights(self, n):\n        made = super().weights(n)\n"
        "        made.blocks = lambda setting: tuple(GOOD)\n        return made\n"
        "M = Mine(task(RIGHT), lambda s: NEVER, bits)"
    ),
    "a program with an output of its own": (
        "class Mine(Program):\n    def output(self, n): return say('N').answer\n"
        'M = HandWired(Mine("", RIGHT, Texts((some(words("a", "b")),)), oracle, examples=("a b",)), lambda s: NEVER, bits)'
    ),
    "a piece with two words in one": (
        'P = Program("", Output(terms.Say("N")), Texts((Piece(("a b",)),)), lambda t: "N", examples=("a b",))'
    ),
    "a number that is a word": (
        'P = Program("", say(number), Texts((Piece(("3",), numbers=True),)), lambda t: t[-1], examples=("3",))'
    ),
    "a name of several lines": (
        'class Line(str):\n    def isprintable(self): return True\nP = task(RIGHT, name=Line("f, n = 8\\n  rounding: certified"))'
    ),
    "prompts that are all none": 'P = task(say("N"), wrong=lambda tokens: "" if tokens[-1] == "b" and 0 else "odd")',
    "an example that is a prompt for itself alone": (
        "class Example(str):\n    def split(self, *more): return ['a']\n"
        'P = program(RIGHT, prompt=[some(words("a", "b"))], oracle=oracle, examples=[Example("x y")])'
    ),
}  # fmt: skip


def written(folder: Path, text: str) -> str:
    path = folder / "f.py"
    path.write_text(HEAD + text)
    os.utime(path, (len(text), len(text)))
    return str(path)


@pytest.mark.parametrize("sizes", ["8", "6-40"])
@pytest.mark.parametrize("cheat", CHEATS)
def test_no_theorem_is_said_to_hold(cheat: str, sizes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, CHEATS[cheat])
    code, said = theorem([path, "--n", sizes]), capsys.readouterr()
    assert code in (1, 2, 3), said
    assert (code == 2) == ("error: " in said.err)
    assert "\n  rounding: certified\n" not in said.out  # what a name says is no line of ours


@pytest.mark.parametrize(("n", "code"), [("6-40", 3), ("24-40", 0)])
@pytest.mark.parametrize("asked", ["n == 23", "type(n) is int and n == 23"])
def test_a_definition_that_is_another_one_at_one_n(
    n: str, code: int, asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If a symbol stands for n, the first question splits the interval, and the second one is asked of plain numbers alone."""
    text = (
        f'def says(n): return choose(word("a") == 2, "Y", "N") if {asked} else RIGHT\n'
        "M = HandWired(task(says), lambda s: GOOD, bits)"
    )
    assert theorem([written(tmp_path, text), "--n", n]) == code
    assert ("program: unknown; n = 23, " in capsys.readouterr().out) == bool(code)


@pytest.mark.parametrize("count", [25, 56, 99])
def test_a_program_that_is_wrong_of_long_prompts_alone(
    count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From so many `a` on; prompts of up to 24 tokens did not show it."""
    text = f'P = task(choose(select(word("a")).count() > {count}, "N", "Y"), oracle=lambda tokens: "Y")'
    assert theorem([written(tmp_path, text), "--n", "100"]) == 1
    assert "the program says N; the oracle says Y" in capsys.readouterr().out
    assert theorem([written(tmp_path, text), "--n", "12"]) == (1 if count < 24 else 0)
    assert re.search(r" prompts of n up to 24, the longest of 24 tokens\n", capsys.readouterr().out)


REPLACED = {
    "fractions.Fraction.__eq__": "Fraction.__eq__ = lambda self, other: True",
    "builtins.any": "import builtins\nbuiltins.any = lambda some: False",
    "verify.programs.intervals.explained": "import verify.programs.intervals as i\ni.explained = lambda *some: {}",
    "verify.dossiers.written.ProgramDossier._different": (
        'from verify.dossiers.written import ProgramDossier\nProgramDossier._different = lambda *some: ""'
    ),
    "constructions.language.copies.exact_copy.__code__": (
        "from constructions.language import copies\ncopies.exact_copy.__code__ = (lambda value: value).__code__"
    ),
    "constructions.language.copies": (
        "import sys, types\nsys.modules['constructions.language.copies'] = types.ModuleType('constructions.language.copies')"
    ),
}


@pytest.mark.parametrize("name", REPLACED)
def test_a_file_that_replaces_the_verifiers_code(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, f'{REPLACED[name]}\nP = task("N")')
    command = [sys.executable, "-m", "verify.theorem", path, "--n", "8"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert f": this file replaces {name}, which is not its own\n" in done.stderr


THOUGHTS = {
    "from the 61st token of a prompt on": (
        'P = program(choose(word("?") == 1, choose(select(word("a")).count() > 60, "Y", "N"), "END"), stop="END",\n'
        '    prompt=[some(words("a", "b")), "?"], thought=[words("N", "Y")], oracle=lambda tokens: "N", examples=["a b"])'
    ),
    "from the 61st word of a thought on": (
        'mark = select(word("?")).first(position)\nfollowing = number.at(2 * mark - position - 1)\n'
        'P = program(choose((following == 0) | (position - mark > 59), "END", following), prompt=[some(numbers()), "?"],\n'
        '    thought=[some(numbers())], stop="END", oracle=lambda t: " ".join(reversed(t[:-1])), examples=["3 1 2"])'
    ),
}


@pytest.mark.parametrize("case", THOUGHTS)
def test_a_chain_of_thought_that_is_wrong_if_it_is_long(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its pieces had at most 48 tokens."""
    assert theorem([written(tmp_path, THOUGHTS[case]), "--n", "100"]) == 1
    assert "; the oracle says " in capsys.readouterr().out


def test_prompts_that_are_left_out_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'P = task(say("N"), wrong=lambda tokens: "an a" if tokens[-1] == "a" else "")'
    assert theorem([written(tmp_path, text), "--n", "8"]) == 0
    counts = re.search(
        r"each of (\d+) prompts .*; (\d+) more are no prompts, says the program's file\n", capsys.readouterr().out
    )
    assert counts is not None
    assert min(map(int, counts.groups())) > 100


def test_more_numbers_than_a_memory_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Prompts were listed before the first one was tried."""
    text = (
        'P = program(choose(number > 2, "Y", "N"), prompt=[numbers(1, 10**30)], examples=["3"],\n'
        '    oracle=lambda tokens: "Y" if int(tokens[0]) > 2 else "N")'
    )
    assert theorem([written(tmp_path, text), "--n", "8"]) == 0
    assert "the longest of 1 token\n" in capsys.readouterr().out


RIGHT = {
    "two positions are as near, and hold the same": (
        'prepare = BlockPlan((), (square(reg("position"), "position_squared"),))\n'
        'def near(s):\n'
        '    wanted = (Fraction(5, 2) * reg("one"), Fraction(25, 4) * reg("one"))\n'
        '    return nearest("middle", *wanted, {"x": reg("one")}, s.gap)\n'
        "def least(n, length, discipline): return position_square_precision(n, length) + 4\n"
        "M = HandWired(task(RIGHT), lambda s: [prepare, BlockPlan((near(s),), GOOD[0].gadgets)], least)"
    ),
    "a number saturates by one step": (
        'prepare = BlockPlan((), (square(reg("position"), "position_squared"),))\n'
        'def blocks(s):\n    return [prepare, BlockPlan((copy("before", 1, {"x": reg("a")}, s),), GOOD[0].gadgets)]\n'
        "M = HandWired(task(RIGHT), blocks, lambda n, l, d: position_square_precision(n, l) - 6)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_model_that_the_checker_cannot_follow_is_not_refused(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 1 means an input on which it is wrong; these have none."""
    path = written(tmp_path, RIGHT[case])
    assert [command([path, "--n", "8"]) for command in (certify, theorem)] == [3, 3]
    assert "block 2, head 1" in capsys.readouterr().out
    assert explain([path, "--n", "8"]) in (0, 3)


@pytest.mark.parametrize("n", ["8", "8-12"])
def test_a_wrong_model_is_refused_by_an_input(n: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The checker cannot follow it either, and a hard input shows that it is wrong."""
    wrong = RIGHT["two positions are as near, and hold the same"].replace(
        "task(RIGHT)", 'task(choose(word("b") == 1, "Y", "N"))'
    )
    assert certify([written(tmp_path, wrong), "--n", n]) == 1
    assert re.search(
        r"may differ by 4 only; \d+ is needed; on <s> a token 1 of the answer is not N", capsys.readouterr().out
    )


class Text(str):
    def __str__(self) -> str:
        return "another"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Whole(int):
    def __index__(self) -> int:
        return 9

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Part(Fraction):
    numerator = 9
    settled = Fraction(9)

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = Fraction.__hash__


class Foreign(Say):
    pass


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Text("a"), "a"),
        (Whole(3), 3),
        (Part(1, 3), Fraction(1, 3)),
        ((Text("a"), [Whole(3)]), ("a", [3])),
        ({Text("a"): Part(1, 3)}, {"a": Fraction(1, 3)}),
        (Say(Text("a")), Say("a")),
        (word(Text("a")).term, word("a").term),
        (Affine({Text("a"): Part(2)}, Part(1, 3)), Affine({"a": Fraction(2)}, Fraction(1, 3))),
    ],
)
def test_exact_copies(given: Any, expected: Any) -> None:
    assert _spell(exact_copy(given)) == _spell(expected)


def _spell(value: Any) -> Any:
    """The value with the class of each part."""
    if isinstance(value, tuple | list):
        return type(value), [_spell(one) for one in value]
    if isinstance(value, dict):
        return dict, [(_spell(key), _spell(one)) for key, one in value.items()]
    if is_dataclass(value):
        return type(value), [_spell(getattr(value, one.name)) for one in fields(value)]
    return type(value), f"{value}"


@pytest.mark.parametrize("given", [Foreign("a"), object(), {1, 2}, print, [Foreign("a")], 1j, Text])
def test_what_is_no_plain_value_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="is no plain value"):
        exact_copy(given)


def test_a_number_that_depends_on_n_stays_what_it_is() -> None:
    n = symbol(4, 9)
    assert exact_copy(n) is n
    named = type("Symbolic", (Fraction,), {"__module__": type(n).__module__})  # of the same name, in a file
    assert type(exact_copy(named(2))) is Fraction


def test_a_function_is_asked_once_for_each_n() -> None:
    calls: list[int] = []
    once = Once(lambda n: calls.append(n) or Whole(len(calls)), exact_copy)
    assert [once(4), once(5), once(4), once(5)] == [1, 2, 1, 2]
    assert calls == [4, 5]

"""Programs in files: what is wrong with one is said in a line that names the file, and the line in it; nothing hangs."""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import constructions
from constructions.__main__ import main
from constructions.language import functions
from constructions.language.files import load_model, load_program
from constructions.language.program import ARCHITECTURES
from verify.certify import main as certify
from verify.theorem import main as theorem

HEAD = "from constructions.language import *\n"
GOOD = HEAD + (
    "def oracle(tokens):\n    return 'YES' if int(tokens[-1]) > 2 else 'NO'\n"
    "large = program(choose(number > 2, 'YES', 'NO'), prompt=[some(numbers())], oracle=oracle, examples=['1 3'])\n"
)
BAD = {
    "syntax": ("x = (\n", r"f\.py:1: "),
    "failing": ("\n\n1 / 0\n", r"f\.py:3: ZeroDivisionError: division by zero$"),
    "nothing": ("x = 1\n", r"f\.py: there is no program in it"),
    "no_such_word": (
        GOOD.replace("number > 2", "word('a')"),
        "the program asks for 'a', which is no word of its texts",
    ),
    "bad_example": (GOOD.replace("['1 3']", "['1 x']"), r"f\.py:4: the example '1 x': token 2 is 'x'"),
    "no_example": (GOOD.replace("['1 3']", "[]"), r"f\.py:4: give at least one example"),
    "architecture": (GOOD.replace("oracle=oracle", "oracle=oracle, architecture='mamba'"), "no architecture 'mamba'"),
    "stop": (GOOD.replace("oracle=oracle", "oracle=oracle, stop='END'"), "a chain of thought has pieces"),
    "a_value_is_no_truth": (GOOD.replace("number > 2", "number > 2 and number < 4"), r"f\.py:4: TypeError: a value is"),
    "a_digit_is_no_word": (GOOD.replace("[some(numbers())]", "[words('7')]"), "'7' is no word"),
    "nothing_is_true": (GOOD.replace("number > 2", "True"), r"f\.py:4: AttributeError"),
    "a_head_in_an_rnn": (
        GOOD.replace("number > 2", "select(number, number).first(position) > 2").replace(
            "oracle=oracle", "oracle=oracle, architecture='rnn'"
        ),
        "an RNN has no head",
    ),
    "a_wrong_oracle": (GOOD.replace("'YES' if int", "3 if int"), "the oracle of f returns text"),
    "a_failing_oracle": (
        GOOD.replace("int(tokens[-1])", "int(tokens[9])"),
        "the oracle of f on '1 3' raises IndexError",
    ),
}


def written(folder: Path, text: str) -> str:
    path = folder / "f.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said_in_a_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, what = BAD[name]
    assert main(["run", written(tmp_path, text), "1 3"]) == 2
    lines = capsys.readouterr().err.splitlines()
    message = next(line for line in lines if "error: " in line)
    assert re.search(what, message), message
    assert not [*tmp_path.glob("__pycache__")]


def test_the_line_is_told_of_a_file_in_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python spells the file out from the root; what people type is its name."""
    written(tmp_path, "\n\n1 / 0\n")
    monkeypatch.chdir(tmp_path)
    for name in ("f.py", "./f.py", "f.py:large"):
        assert main(["run", name, "1 3"]) == 2
        assert "error: f.py:3: ZeroDivisionError: division by zero\n" in capsys.readouterr().err


def test_a_colon_without_a_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, GOOD)
    assert main(["run", f"{path}:", "1 3"]) == 2
    assert f"{path}: names no program after the colon; give {path} or {path}:NAME" in capsys.readouterr().err


def test_a_file_may_have_classes_of_its_own(tmp_path: Path) -> None:
    """A dataclass looks its module up by name."""
    own = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    own += "@dataclass\nclass Bound:\n    of: int\n\n"
    before = {*sys.modules}
    assert load_program(written(tmp_path, own + GOOD.replace("number > 2", "number > Bound(2).of"))).name == "f"
    assert {*sys.modules} == before


def test_a_good_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, GOOD)
    assert main(["run", path, "1", "3"]) == 0
    assert main(["run", f"{path}:large", "3 1"]) == 0
    assert main(["run", path, "--n", "5", "1 3"]) == 0
    assert capsys.readouterr().out == "YES\nNO\nYES\n"
    model = constructions.load(path, n=4)
    result = pickle.loads(pickle.dumps(model.run("1 3")))
    assert result.answer == "YES"
    assert constructions.load(load_program(path)).run([1, 2]).answer == "NO"


def test_a_wrong_answer_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, GOOD.replace("number > 2", "number > 3"))
    assert main(["run", path, "1 3"]) == 1
    assert "refuted: the model answers NO; the right answer is YES" in capsys.readouterr().err
    assert theorem([path, "--n", "5"]) == 1
    assert "oracle: refused; on 3 the program says NO; the oracle says YES" in capsys.readouterr().out


@pytest.mark.parametrize("argv", [["1 9", "--n", "4"], ["1 x"], ["1 3", "--n", "0"], ["1 3", "--n", f"{10**30}"]])
def test_a_wrong_input(argv: Sequence[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", written(tmp_path, GOOD), *argv]) == 2
    assert len([line for line in capsys.readouterr().err.splitlines() if "error: " in line]) == 1


def test_two_programs_of_a_file_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, GOOD + GOOD.partition("large = ")[2].join(["small = ", ""]))
    assert main(["run", path, "1 3"]) == 2
    assert f"which program? Give {path}:NAME, NAME one of large, small" in capsys.readouterr().err
    assert main(["run", f"{path}:none", "1 3"]) == 2
    assert "there is no program 'none'; there is large, small" in capsys.readouterr().err
    assert main(["run", f"{path}:small", "1 3"]) == 0


def test_an_endless_loop_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "SECONDS", 0.2)
    assert main(["run", written(tmp_path, "while True:\n    pass\n"), "1"]) == 2
    assert "executing this file takes more than" in capsys.readouterr().err
    text = GOOD.replace("    return", "    while True: pass\n    return")
    assert main(["run", written(tmp_path, text), "1 3"]) == 2
    assert "the oracle of f on '1 3' takes more than" in capsys.readouterr().err


def drawing(draw: str) -> str:
    return GOOD.replace("oracle=oracle", f"oracle=oracle, draw=lambda n, rng: {draw}")


@pytest.mark.parametrize(
    ("draw", "what"),
    [
        ("[3]", "returns text, with spaces between the tokens, not [3]"),
        ("'1 x'", "'1 x' is no prompt: token 2 is 'x'"),
        ("'3 ' * (n + 1)", f"'{'3 ' * 20}' needs n = "),
        ("1 / 0", "raises ZeroDivisionError: division by zero"),
        ("[*iter(lambda: 0, 1)]", "takes more than"),
    ],
)
def test_a_bad_draw(
    draw: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "SECONDS", 0.2)
    assert theorem([written(tmp_path, drawing(draw)), "--n", "6"]) == 2
    assert re.search(r"draw of f for n = \d+.* " + re.escape(what), capsys.readouterr().err)


def test_a_draw_meets_what_single_tokens_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rare = "    if tokens == ['3'] * 13: return 'NO'\n"
    for draw, code in (("'3 ' * rng.randint(1, n)", 1), ("'3 ' * min(n, 12)", 0)):
        text = drawing(draw).replace("    return", f"{rare}    return")
        assert theorem([written(tmp_path, text), "--n", "6"]) == code
    assert "the program says YES; the oracle says NO" in capsys.readouterr().out


BY_HAND = """
from constructions.language import *
from constructions.language.handwired import HandWired
from constructions.parts.gadgets.threshold import threshold
from constructions.wiring.affine import reg
from constructions.wiring.plan import BlockPlan, constant, linear

TASK = program(
    choose(number > 2, "YES", "NO"), prompt=[some(numbers())], examples=["1 3"],
    oracle=lambda tokens: "YES" if int(tokens[-1]) > 2 else "NO",
)


def blocks(setting):
    clear = [linear(f"clear {name}", -reg(name), name) for name in ("number", "number_squared")]
    large = threshold(reg("number"), 3, {"YES": 2, "NO": -2})
    return [BlockPlan((), (*clear, constant("NO, unless", {"NO": 2}), large))]


MODEL = HandWired(TASK, blocks, lambda n, length, discipline: 2 * (n * n).bit_length() + 9)
"""


def test_a_file_may_wire_its_model_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, BY_HAND)
    assert main(["run", path, "1 3"]) == 0
    assert theorem([path, "--n", "6"]) == 0
    assert constructions.load(path, n=4).run([3, 2]).answer == "NO"
    assert constructions.load(load_model(path)).run([3]).answer == "YES"
    assert main(["run", path, "1 3", "--model", "rnn"]) == 2
    assert "f is wired by hand, as transformer; there is no rnn of it" in capsys.readouterr().err
    assert theorem([written(tmp_path, BY_HAND.replace('("number"), 3', '("number"), 2')), "--n", "6"]) == 1
    assert "on <s> 2 it says YES; the program says NO" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ('{"YES": 2, "NO": -2}', "{YES: 2}", r"blocks of f raises NameError: name 'YES' is not defined \(.*f.py:16\)"),
        ("(n * n).bit_length()", "{}[n]", r"least_bits of f raises KeyError: \d+ \(.*f.py:20\)"),
        ("(n * n).bit_length() + 9", "8", "precision must be an odd number of bits"),
        ('reg("number"), 3', 'reg("numbers"), 3', "reads register 'numbers', which nothing has written"),
        ("clear = [", "while True: pass\n    clear = [", "blocks of f takes more than"),
    ],
)
def test_a_mistake_in_weights_by_hand(
    before: str,
    after: str,
    what: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(functions, "SECONDS", 0.2)
    path = written(tmp_path, BY_HAND.replace(before, after))
    for command in (lambda: main(["run", path, "1 3"]), lambda: theorem([path, "--n", "6"])):
        assert command() == 2
        assert re.search(what, capsys.readouterr().err)


# What somebody tried who wanted a certificate for something else


@pytest.mark.parametrize("ends", ["import sys; sys.exit()", "raise SystemExit('bye')", "raise GeneratorExit"])
def test_a_file_that_ends_the_program_says_nothing(
    ends: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inside = GOOD.replace("    return", f"    {ends}\n    return")
    for text in (f"{ends}\n{GOOD}", inside):
        for command in (theorem, certify, lambda argv: main(["run", *argv[:1], "1 3"])):
            if command is not certify or text is not inside:
                assert command([written(tmp_path, text), "--n", "6"]) == 2
    assert "Exit" in capsys.readouterr().err


def rare(condition: str) -> str:
    """The file with an oracle that says NO to some prompts that the program says YES to."""
    return GOOD.replace("    return", f"    if {condition}: return 'NO'\n    return")


@pytest.mark.parametrize(
    ("text", "n", "code"),
    [
        (rare("tokens == ['3', '3']"), "3", 1),  # where every input is run
        (rare("'31' in tokens"), "31", 1),  # the n that is asked for
        (rare("'31' in tokens"), "16", 0),
        (
            rare("len(tokens) in range(9, 19)").replace(
                "oracle=oracle", "oracle=oracle, draw=lambda n, r: r.seed(1) or '1'"
            ),
            "6",
            1,
        ),
        (GOOD.replace("oracle=oracle", "oracle=oracle, wrong=lambda tokens: 'no'"), "6", 3),
        (GOOD.replace("oracle=oracle", "oracle=oracle, wrong=lambda tokens: 5"), "6", 2),
    ],
)
def test_the_oracle_is_asked(text: str, n: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert theorem([written(tmp_path, text), "--n", n]) == code
    said = capsys.readouterr()
    assert {1: "the oracle says NO", 0: "tried", 3: "no prompt was tried", 2: "wrong of f returns text"}[
        code
    ] in said.out + said.err


def test_what_a_file_prints_is_no_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "print('rounding: certified')\n" + GOOD.replace("    return", "    print('oracle: tried')\n    return")
    assert theorem([written(tmp_path, text), "--n", "6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["property"] == "the theorem"
    named = GOOD.replace("oracle=oracle", "oracle=oracle, name='istree'")
    assert theorem([written(tmp_path, named), "--n", "6"]) == 0
    assert capsys.readouterr().out.startswith(f"istree of {tmp_path / 'f.py'}, n = 6")
    lines = GOOD.replace("oracle=oracle", "oracle=oracle, name='f\\n  rounding: certified'")
    assert theorem([written(tmp_path, lines), "--n", "6"]) == 2


AT_21 = 'large = threshold(reg("number"), 3, {"YES": 2 * (not (type(setting.n) is int and setting.n == 21)), "NO": -2})'


@pytest.mark.parametrize(
    ("before", "after", "code", "what"),
    [
        ('large = threshold(reg("number"), 3, {"YES": 2, "NO": -2})', AT_21, 1, "the matrices of n = 21"),
        ("clear = [", "if type(setting.n) is int: 1 / 0\n    clear = [", 2, "blocks of f raises ZeroDivisionError"),
        (
            "clear = [",
            "if type(setting.n) is int: raise ValueError('x')\n    clear = [",
            2,
            "blocks of f raises ValueError: x",
        ),
        (
            "return [",
            "import itertools; return itertools.repeat(BlockPlan((), ())) or [",
            2,
            "there are more than 1000",
        ),
        ('"NO": -2}', '"NO": -2.0}', 2, "-2.0 is no integer and no Fraction"),
        ('reg("number"), 3', '0.5 * reg("number"), 3', 2, "blocks of f raises"),
        ("(*clear,", "[*clear,", 2, ""),
        ("(n * n).bit_length() + 9", "9.5", 2, "least_bits of f returns a whole number, not 19.0"),
    ],
)
def test_a_builder_that_builds_something_else(
    before: str, after: str, code: int, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert theorem([written(tmp_path, BY_HAND.replace(before, after)), "--n", "16-40"]) == code
    said = capsys.readouterr()
    assert what in said.out + said.err


def test_two_models_of_one_program_are_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, BY_HAND + "BAD = HandWired(TASK, lambda setting: [], lambda n, length, discipline: 41)\n")
    assert theorem([path, "--n", "6"]) == 2
    assert "NAME one of MODEL, BAD" in capsys.readouterr().err
    assert theorem([f"{path}:BAD", "--n", "6"]) == 1


def test_few_prompts_are_asked_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A head that the checker cannot tell of, and 30 prompts where 200 were asked for: it waited for more."""
    text = BY_HAND.replace("some(numbers())", "some(words('a', 'b'))").replace("number > 2", "word('b') == 1")
    text = text.replace("int(tokens[-1]) > 2", "tokens[-1] == 'b'").replace('"1 3"', '"a b"')
    text = (
        text.replace('reg("number"), 3', 'reg("b"), 1').replace("clear = [", "clear = 0 and [").replace("*clear, ", "")
    )
    text = text.replace("return [BlockPlan((),", "return [BlockPlan((Head('average', (), {'x': reg('b')}),),")
    text = text.replace("import BlockPlan", "import BlockPlan, Head")
    assert theorem([written(tmp_path, text), "--n", "4"]) in (0, 1, 3)
    assert "rounding: " in capsys.readouterr().out


SEARCH = HEAD + (
    "began, what = word('<StartSearch>'), r'(\\d+)'\n"
    "search = program(\n"
    "    choose(word('?'), '<StartSearch>', choose(began, what, choose(word(what), '<EndSearch>', 'END'))),\n"
    "    prompt=[many(numbers()), '?'],\n"
    "    thought=['<StartSearch>', what, '<EndSearch>', either(numbers(), 'FAILED')], stop='END',\n"
    "    answer=lambda words: words[-1:], oracle=lambda tokens: [*tokens, 'FAILED'][tokens[0] == '?'],\n"
    "    examples=['3 1'], architecture='rnn')\n"
)


def test_a_search_finds_what_the_oracle_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, SEARCH)
    assert main(["run", path, "3 1"]) == 0
    assert capsys.readouterr().out == "<StartSearch> (\\d+) <EndSearch> 3\n3\n"
    assert theorem([path, "--n", "6"]) == 0


@pytest.mark.parametrize(
    ("before", "after", "code", "what"),
    [
        ("either(numbers(), 'FAILED')", "numbers()", 1, "oracle: refused; on ? the program says none of its texts"),
        ("(\\d+)", "(\\d)", 1, "oracle: refused; on"),
        ("(\\d+)", "\\d+", 2, "has no group, so there is nothing to return"),
        ("'<StartSearch>'", "'start'", 2, "<EndSearch> without a <StartSearch> before it"),
    ],
)
def test_a_search_that_finds_something_else(
    before: str, after: str, code: int, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert theorem([written(tmp_path, SEARCH.replace(before, after)), "--n", "6"]) == code
    said = capsys.readouterr()
    assert what in said.out + said.err


def test_a_missing_file_and_a_name_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for name, what in (("nowhere/f.py", "there is no such file"), ("nothing", "there is no program 'nothing'")):
        assert main(["run", name, "1"]) == 2
        assert what in capsys.readouterr().err
    assert certify(["nowhere/f.py"]) == 2
    assert main(["run"]) == 2


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_program_is_run_and_certified_in_each_architecture(
    architecture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, GOOD)
    assert constructions.load(path, architecture).run("1 3").answer == "YES"
    assert main(["run", path, "1 3", "--model", architecture]) == 0
    assert certify([path, "--n", "8", "--model", "rag"]) == 2
    assert "there is no architecture 'rag'; there are transformer, rnn, hybrid" in capsys.readouterr().err
    document = tmp_path / "c.json"
    assert certify([path, "--n", "8", "--model", architecture, "--json"]) == 0
    document.write_text(capsys.readouterr().out)
    assert json.loads(document.read_text())["model"] == architecture
    assert certify(["--replay", str(document)]) == 0
    written(tmp_path, GOOD.replace("number > 2", "number > 3"))
    assert certify(["--replay", str(document)]) == 1


def test_a_file_leaves_no_module_behind(tmp_path: Path) -> None:
    before = {*sys.modules}
    load_program(written(tmp_path, GOOD))
    assert not {name for name in {*sys.modules} - before if name.startswith("program_")}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("prompt=[some(some(numbers()))]", "a piece is repeated once"),
        ("prompt=[many(optional(numbers()))]", "a piece is repeated once"),
        ("prompt=[some(numbers(), times=1.5)]", "times is a whole number from 1 on, not 1.5"),
        ("prompt=[some(numbers(1.0))]", "the bounds of numbers are whole numbers, not 1.0"),
        ("prompt=[3]", "a text is made of words and pieces, such as some(numbers()), not of 3"),
        ("prompt='abc'", "prompt and thought are lists of pieces, not a text"),
        ("precision=float('nan')", "precision is a whole number of bits, or a function of n, not nan"),
        ("precision='8'", "precision is a whole number of bits, or a function of n, not '8'"),
        ("examples='1 2'", "give at least one example of a prompt"),
        ("examples=[1]", "examples are a list of prompts, each a text"),
        ("oracle=3", "oracle is a function, not 3"),
        ("draw=3", "draw is a function, not 3"),
        ("says=number.back(1.0)", "back takes a whole number of positions, not 1.0"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    options: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """These ended as errors of our own, or were taken for something else."""
    given = {"says": "choose(number > 1, 'A', 'B')", "prompt": "[some(numbers())]", "oracle": "lambda t: 'B'"}
    given |= {"examples": "['1']", options.partition("=")[0]: options.partition("=")[2]}
    path = tmp_path / "mine.py"
    path.write_text(
        "from constructions.language import choose, many, number, numbers, optional, program, some\n"
        f"mine = program({given.pop('says')}, {', '.join(f'{k}={v}' for k, v in given.items())})\n"
    )
    assert main(["run", str(path), "1"]) == 2
    err = capsys.readouterr().err
    assert f"mine.py:2: {says}" in err
    assert err.count("\n") == 1


def test_examples_may_come_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from constructions.language import choose, number, numbers, program, some\n"
        "mine = program(choose(number > 1, 'A', 'B'), prompt=[some(numbers())], oracle=lambda t: 'B',\n"
        "    examples=(text for text in ['1']))\n"
    )
    assert main(["run", str(path), "1"]) == 0
    assert capsys.readouterr().out == "B\n"


def test_a_vocabulary_has_a_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It filled the memory. The theorem lists no numbers, so it has no such bound."""
    path = tmp_path / "mine.py"
    path.write_text(
        "from constructions.language import choose, number, numbers, program, some\n"
        "mine = program(choose(number > 1, 'A', 'B'), prompt=[some(numbers(1, 10**40))], oracle=lambda t: 'B', examples=['1'])\n"
    )
    assert main(["run", str(path), "1"]) == 2
    assert "a vocabulary of 2^132 numbers or more is above 4,194,304, the most wired here" in capsys.readouterr().err

"""Where the checker cannot tell, people read which value of their file it is about, in which line; and the oracle is asked."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from constructions.language.compiler import Compiler
from constructions.language.files import load_program
from constructions.language.origins import origin_of_place
from constructions.language.program import NotCompiled
from tests.language.programs import Written, programs
from verify import certify, explain, theorem
from verify.certificates.document import UNKNOWN
from verify.certificates.ranges import certificates
from verify.dossiers.dossier import Subject
from verify.dossiers.written import find_program
from verify.programs.intervals import explanations

HEAD = "from constructions.language import *\n\n"
SHARES = """ones = select(number == 1).count()
more = select(number > 1).count()
frequent = ones >= more
rare = select(word("b"), word("c")).count() == select(number, number).count()
judge = program(
    choose(frequent, choose(rare, "yes", "no"), "yes"),
    prompt=["a", some(numbers(0, 2)), optional("b"), some("c")], oracle=lambda words: "yes", examples=["a 1 c"],
)
"""
SUM = """often = select(position > 2).count() >= number
matches = select((running_sum(number) == 0) | often).count()
judge = program(
    choose(matches == number.back(3), "yes", "no"), prompt=[some(numbers())], oracle=lambda words: "no", examples=["1 2"],
)
"""
PLACE = """mark = select(word("?")).first(position)
judge = program(
    mark - 1, prompt=[many(numbers(PLUS)), "?", many(numbers(PLUS))],
    oracle=lambda words: str(words.index("?") + 1), examples=["2 1 2 ?"],
)
"""
TWICE = """mark = select(word("?")).first(position)
i = position - mark
following = number.at(i + 2 - table(i >= mark - 2, {0: 0, 1: 1}) * (mark - 2))
again = choose((i >= 2 * mark - 4) | (following == 0), "END", following)
judge = program(
    again, prompt=[some(numbers()), "?"], thought=[some(numbers(), times=TIMES)], stop="END",
    oracle=lambda words: " ".join(words[:-1] * 2), examples=["1 2 ?"],
)
"""


def written(text: str, folder: Path) -> str:
    path = folder / "mine.py"
    path.write_text(HEAD + text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "value", "oracle"),
    [
        (SHARES, "mine.py:5: frequent, … > …", "oracle: refused"),
        (SUM, "mine.py:4: matches, select(…).count()", "oracle: refused"),
        (PLACE.replace("PLUS", ""), "mine.py:3: mark, select(…).first(…)", "oracle: tried"),
    ],
)
def test_an_unknown_names_the_value_and_asks_the_oracle(
    text: str, value: str, oracle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(text, tmp_path)
    code = theorem.main([path, "--n", "6"])
    lines = capsys.readouterr().out.splitlines()
    unknown = next(line for line in lines if "program: unknown" in line)
    assert f"no rule of the checker suffices for {value} (docs/programs.md lists them)" in unknown
    assert lines[-1].lstrip().startswith(oracle)
    assert code == (1 if "refused" in oracle else 3)
    assert explain.main([path, "--n", "6"]) == 3
    assert value in capsys.readouterr().out.splitlines()[-1]


def test_a_certificate_that_cannot_tell_names_the_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With fewer bits than the least, what a head compares may saturate."""
    path = written(SHARES, tmp_path)
    assert certify.main([path, "--n", "6", "--precision", "7"]) in (1, 3)
    judge = load_program(path)
    compiler = Compiler(judge, 6)
    places = [
        f"block {b}, head {i}" for b, draft in compiler.blocks.items() for i, _ in enumerate(draft.heads, start=1)
    ]
    origins = [origin_of_place(compiler, f"n = 4 … 9, {place} (some name)") for place in places]
    assert [(one.name, one.line) for one in origins[:2]] == [("rare", 6), ("rare", 6)]
    assert {one.construct for one in origins[:2]} == {"select(…).count()"}
    assert origins[2].name in ("ones", "more")
    unit = origin_of_place(compiler, "block 2, feed-forward, unit 1, gate")
    assert unit.name in load_program(path).names.values()
    assert origin_of_place(compiler, "the output head").text("mine.py") == "mine.py:7: the output, what is said"


@pytest.mark.parametrize("plus", ["", "plus=1"])
def test_a_position_can_be_said_if_the_texts_have_numbers_for_it(
    plus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may be n + 1."""
    code = theorem.main([written(PLACE.replace("PLUS", plus), tmp_path), "--n", "6"])
    text = capsys.readouterr().out
    assert code == (0 if plus else 3), text
    assert ("a number from 1 to 7, where the texts have 1 to 6" in text) == (not plus)


@pytest.mark.parametrize("times", ["1", "2"])
def test_a_thought_that_is_too_short(times: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = theorem.main([written(TWICE.replace("TIMES", times), tmp_path), "--n", "6"])
    text = capsys.readouterr().out
    needs = "the program says 6 words before END, and `thought` allows 4 at n = 4: write some(…, times=2)"
    assert (needs in text) == (times == "1"), text
    assert code == (1 if times == "1" else 0), text


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (
            "alternating_sum(number) > 3",
            r"need the architecture rnn or hybrid; as rnn it can be compiled: --model rnn$",
        ),
        ("select(number, number).count() * number > 3", r"; this holds for each architecture$"),
        (
            "alternating_sum(number * Fraction(1, 2)) > 1",
            r"^no architecture can compile this: as transformer: .* no recurrence.*; as rnn and hybrid: .* for integers$",
        ),
    ],
)
def test_one_message_says_which_architecture_can(says: str, told: str) -> None:
    import verify.dossiers.written as dossiers

    program = Written(f'choose({says}, "yes", "no")', "some(numbers())").program
    with pytest.raises(NotCompiled) as refused:
        dossiers.ProgramModel(program).weights(6)
    assert re.search(told, str(refused.value)), str(refused.value)
    assert "\n" not in str(refused.value)


class _Conditions(ast.NodeTransformer):
    """Gives each condition of `choose` a name, in a line of its own."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "choose":
            self.lines.append(f"bit_{len(self.lines)} = {ast.unparse(node.args[0])}")
            node.args[0] = ast.Name(f"bit_{len(self.lines) - 1}")
        return node


@example(
    Written(
        'choose(select(number == 1).count() >= select(number > 1).count(), choose(select(word("b"), word("c")).count() == '
        'select(number, number).count(), "yes", "no"), "yes")',
        '"a", some(numbers(0, 2)), optional("b"), some("c")',
    ),
    3,
)
@settings(max_examples=8)
@given(programs(), st.sampled_from([4, 5]))
def test_every_unknown_of_a_random_program_names_a_value_of_the_file(given_program: Written, n: int) -> None:
    import tempfile

    tree, namer = ast.parse(given_program.says, mode="eval"), _Conditions()
    says = ast.unparse(namer.visit(tree))
    sample = given_program.program.examples[0]
    text = "from fractions import Fraction\n" + "\n".join(namer.lines)
    text += (
        f"\njudge = program({says}, prompt=[{given_program.prompt}], oracle=lambda words: '', examples=[{sample!r}])\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = written(text, Path(folder))
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        dossier = find_program(path, given_program.architecture)
        assert dossier is not None
        try:
            documents = [certificates(Subject(dossier, n)), explanations(Subject(dossier, n))]
        except NotCompiled:
            return
        for document in documents:
            event(str(document["verdict"]))
            if document["verdict"] == UNKNOWN:
                place = re.match(r"mine\.py:(\d+): (bit_\d+|the output), \S", document["value"])
                assert place is not None, document
                name = "judge" if place[2] == "the output" else place[2]
                assert lines[int(place[1]) - 1].startswith(f"{name} = ")

"""Each program of the gallery has its theorem, and no other program that is a word apart has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import constructions
from constructions.language.files import GALLERY, load_program, names_of_gallery
from constructions.language.program import ARCHITECTURES, Architecture
from tests.gallery import PAGE, Asked, ask, page, rows_of
from verify.certificates.building import part_of
from verify.dossiers.dossier import Subject
from verify.dossiers.written import find_program
from verify.theorem import main

FAULTS = {
    "addition": [("pair > 8", "pair > 9"), (' & ~word("?")', ""), ("(i == plus) & (carry == 0)", "i == plus")],
    "associative_recall": [("number.back(1)", "number.back(2)"), (".first(", ".last("), ("following == 0", "following == 1")],
    "automaton": [("- (state == 2)", ""), ('+ word("?")  #', "  #"), ("(position) + 2", "(position) + 1")],
    "balanced": [("==", ">"), ('word("b")', 'word("a")'), ('"YES", "NO"', '"NO", "YES"')],
    "copying": [
        ("number.back(1), number)", "number.back(1), number.back(1))"),
        ("number.back(2)", "number.back(3)"),
        ('* ~word("?")', ""),
    ],
    "divisible": [("every=3", "every=2"), ("(1) == 1", "(1) == 0"), ("even & third", "even | third")],
    "dyck": [("depth < 0", "depth < -1"), (" & (closed_too_early == 0)", ""), ('- word(")")', "")],
    "dyck_bounded": [("height > DEPTH", "height >= DEPTH"), (".back(1)", ".back(2)"), ("[)", "[]")],
    "first": [("START = 2", "START = 3"), ("== 1", "== 0"), ("number.at(START)", "number")],
    "histogram": [("mark + 2", "mark + 1"), ("number.at(i)", "number"), (" & select(asked, 0)", "")],
    "induction": [(".last(number)", ".first(number)"), ("number.back(1)", "number.back(2)"), ("followed == 0", "followed == 1")],
    "khop": [("hop.last(once)", "hop.first(once)"), ("twice == 0", "once == 0"), ("hop.last(number)", "hop.last(number.back(1))")],
    "lookup": [("number + 1", "number + 2"), ("number + 1", "number"), ("found == 0", "found == 1")],
    "majority": [("2 * number", "3 * number"), ("> 0", "> 1"), ("- is_number", "")],
    "more_than": [(" & select(marks, 0)", ""), ("often > number", "often > number - 1"), ("number.back(1)", "number")],
    "parity": [("- 2 * number * bit", ""), ("number + bit", "bit"), ("mark + 2)  #", "mark + 1)  #")],
    "post": [("2: 3, 3: 4", "2: 4, 3: 3"), ("position + 2", "position + 3"), ("number == 1", "number == 2")],
    "reverse": [("- 1)", ")"), ("2 * mark", "2 * mark + 1"), ("following == 0", "following == 1")],
    "sorting": [("often >", "often + 1 >"), ("mark - 2", "mark - 3"), ("value + 1", "value + 2")],
    "tree": [
        ("mark - 2", "mark - 3"),
        (" & (first != father)", ""),
        ("first(previous)", "last(previous)"),
        ("following != father", "following == father"),
    ],
    "trigram": [("number.back(i + 1)", "number.back(i)"), (".first(", ".last("), ("next_number(2)", "next_number(1)")],
    "recall_search": [
        (r"(\d+)", r"(\d)"),
        ("number.back(2), TO", "number.back(1), TO"),
        ("1 + step", "2 + step"),
    ],
    "trigram_search": [
        (r"(\d+)", r"(\d)"),
        ("number.back(3), number.back(3)", "number.back(2), number.back(3)"),
        ("2 + step", "1 + step"),
    ],
}  # fmt: skip


def test_every_program_has_its_faults() -> None:
    assert [*names_of_gallery()] == sorted(FAULTS)
    assert all(len(faults) >= 3 for faults in FAULTS.values())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", names_of_gallery())
def test_a_theorem(name: str, architecture: Architecture, capsys: pytest.CaptureFixture[str]) -> None:
    """In each architecture that it is compiled for, which are those of the page."""
    if not ask(name, architecture).compiles:
        assert architecture != load_program(name).architecture
        return
    assert main([name, "--model", architecture, "--n", "6", "--json"]) == 0
    links = json.loads(capsys.readouterr().out)["links"]
    assert [(link["name"], link["verdict"]) for link in links] == [
        ("rounding", "certified"),
        ("program", "certified"),
        ("oracle", "tried"),
    ]


@pytest.mark.parametrize("name", names_of_gallery())
def test_its_examples_are_answered_rightly(name: str) -> None:
    program = load_program(name)
    for architecture in ARCHITECTURES:
        if ask(name, architecture).compiles:
            for result in constructions.load(name, architecture).run_many(program.examples):
                assert result.complaint == ""
    assert program.statement.endswith((".", "?"))


@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name, faults in FAULTS.items() for fault in faults])
def test_a_fault_is_refused(name: str, fault: tuple[str, str], tmp_path: Path) -> None:
    text = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
    begin = text.index("def oracle")
    oracle = text[begin : text.index("\n\n\n", begin)]
    before, after = text.split(oracle)
    assert (fault[0] in before) != (fault[0] in after)
    path = tmp_path / f"{name}.py"
    path.write_text(before.replace(*fault, 1) + oracle + after.replace(*fault, 1), encoding="utf-8")
    dossier = find_program(str(path))
    assert dossier is not None
    try:
        trial = dossier.trial(Subject(dossier, 6))
    except ValueError:
        return  # what it says is no answer at all
    assert trial is not None
    assert trial.difference


def test_the_page_is_of_these_programs_and_of_their_weights() -> None:
    """`python -m tests.gallery [NAME …] [--all-n]` writes its tables anew."""
    text = PAGE.read_text(encoding="utf-8")
    rows = rows_of(text)
    assert page(text, rows) == text
    assert [*rows] == [*names_of_gallery()]
    weights = {name: ask(name, load_program(name).architecture).weights for name in rows}
    assert {name: row[1] for name, row in rows.items()} == {name: f"`{digest}`" for name, digest in weights.items()}
    assert {row[2] for row in rows.values()} == {"holds"}


@pytest.mark.parametrize("name", ["first", "majority"])
def test_a_row_of_the_page_is_what_is_certified(name: str) -> None:
    stored, now = rows_of(PAGE.read_text(encoding="utf-8"))[name], Asked(name).certified(every=False)
    assert (*stored[:3], *stored[4:]) == (*now[:3], *now[4:])


@pytest.mark.parametrize(("name", "low", "high"), [("sorting", 100, 169), ("dyck_bounded", 64, 89)])
def test_one_model_is_of_an_interval_of_n(name: str, low: int, high: int) -> None:
    """A comparison with n itself asks for nothing more: the interval ends where the length has more digits, or p changes.

    170 numbers are texts of up to 512 tokens. At p = 27, position 91, which n = 90 has, has no square.
    """
    subject = Subject(find_program(name), low)
    assert part_of(subject, 10**6).high == high

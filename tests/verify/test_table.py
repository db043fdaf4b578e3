"""The table of architectures and tasks: it says what the ledger says, and what the ledger does not say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from verify import table
from verify.bits import claimed as bits
from verify.framework import ledger
from verify.framework.claim import (
    Argued,
    Certified,
    Claim,
    Evidence,
    Exhaustive,
    Proved,
    Row,
    Sampled,
    Stored,
    Verdict,
    Witness,
    id_of,
)
from verify.framework.options import Options
from verify.framework.order import LEDGER, WITNESSES
from verify.replay import Replay, run

RNN, TRANSFORMER, SEARCHES, HYBRID = table.ARCHITECTURES
RETRIEVAL = {"Index": "index", "associative recall": "recall", "c-gram retrieval": "ngram", "Counting": "counting"}


def needed() -> dict[tuple[str, str], tuple[str, ...]]:
    """What each cell needs, spelled out once more."""
    cells: dict[tuple[str, str], tuple[str, ...]] = {}
    for task, name in RETRIEVAL.items():
        cells[task, RNN] = (f"4.6/lower-{name}",)
        for architecture, theorem in ((TRANSFORMER, "4.6"), (SEARCHES, "5.2"), (HYBRID, "5.6")):
            stem = f"{theorem}/{name}"
            cells[task, architecture] = (stem, f"{stem}-small", f"{theorem}/size", f"{theorem}/precision")
            if theorem != "4.6":
                cells[task, architecture] += (f"{stem}-circuit",)
    cells["IsTree", RNN] = ("4.7/lower-istree",)
    cells["IsTree", TRANSFORMER] = ("4.7/repaired", "4.7/small-paper", "4.7/size", "4.7/precision", "C.29")
    stem = "5.3/istree"
    cells["IsTree", SEARCHES] = (stem, f"{stem}-small", f"{stem}-length", f"{stem}-size", f"{stem}-precision")
    cells["IsTree", SEARCHES] += (f"{stem}-circuit",)
    cells["IsTree", HYBRID] = ("5.7", "5.7/small", "5.7/length", "5.7/size", "5.7/precision", "5.7/circuit")
    cells["Turing machines", RNN] = ("5.4/lower-turing",)
    cells["Turing machines", SEARCHES] = ("5.4", "5.4/every-run", "5.4/size", "5.4/cost", "5.4/circuit")
    cells["Turing machines", HYBRID] = ("5.8", "5.8/every-run", "5.8/size", "5.8/cost", "5.8/circuit")
    cells["… on log n cells", RNN] = ("4.1", "4.1/every-run", "4.1/size", "4.1/cost", "4.1/circuit")
    cells["Index with an oracle for recall", RNN] = ("5.1/lower-index", "5.1/oracle-simulated")
    return cells


NEEDED = needed()
OF_ONE_TASK = {"4.1": "turing", "4.7": "istree", "5.4": "turing", "5.7": "istree", "5.8": "turing"}
IDS = sorted({id for ids in NEEDED.values() for id in ids})


def fields_of(id: str) -> tuple[str, str, str]:
    """Theorem, task and aspect, as a reader of ids would guess them."""
    theorem, _, rest = id.partition("/")
    if found := re.fullmatch(r"lower-(\w+)(.*)", rest):
        return theorem, found[1], f"lower{found[2]}"
    if theorem in OF_ONE_TASK:
        return theorem, OF_ONE_TASK[theorem], rest
    if found := re.fullmatch(r"(index|recall|ngram|counting|istree)(?:[-/](.*))?", rest):
        return theorem, found[1], found[2] or ""
    return theorem, "", rest


def row(id: str, verdict: Verdict = Verdict.HOLDS, **changes: Any) -> Row:
    """A row of a ledger; changes: of its claim."""
    theorem, task, aspect = fields_of(id)
    about = {"theorem": theorem, "task": task, "aspect": aspect}
    claim = Claim(**{"id": id, "source": "Theorem", "statement": f"{id} holds", **about, **changes})
    witness = Witness([1], {}, "all", 4, None, "reference", 0) if verdict is Verdict.REFUTED else None
    kind = Certified if claim.aspect in table.COSTS else Exhaustive if "small" in id or "lower-" in id else Sampled
    proved = (Proved("all n", "", "an argument"),) if "lower-" in id else ()
    return Row(claim, verdict, (kind("all", "", 3, 1234, witness is not None), *proved), witness, "reference", 0.1)


def everything() -> dict[str, Row]:
    return {id: row(id) for id in IDS}


@pytest.fixture
def show(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command on these rows: its exit status and what it prints."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def shown(rows: Sequence[Row], *options: str) -> tuple[int, str]:
        path = tmp_path / "ledger.json"
        ledger.write(path, rows, Options())
        code = table.main([str(path), *options])
        output = capsys.readouterr()
        assert output.err == ""
        return code, output.out

    return shown


def verdicts(rows: Mapping[str, Row] | Sequence[Row]) -> dict[tuple[str, str], str]:
    values = list(rows.values()) if isinstance(rows, Mapping) else list(rows)
    return {(cell.task, cell.architecture): str(cell.outcome) for cell in table.cells(values)}


def test_everything_is_settled(show: Any) -> None:
    expected = {
        place: "impossible" if all("lower-" in id or "oracle" in id for id in ids) else "solved"
        for place, ids in NEEDED.items()
    }
    assert verdicts(everything()) == expected
    code, text = show(list(everything().values()))
    assert code == 0
    assert "18 solved, 7 impossible, 0 impossible for small n, 0 not settled, 0 refuted" in text
    assert "exhaustive to 1,234" in text


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize(
    ("is_missing", "outcome", "status", "says"),
    [(True, "not settled", 3, "missing:<br>{}"), (False, "refuted", 1, "**refuted**<br>{}")],
    ids=["missing", "refuted"],
)
def test_a_claim_spoils_its_cells_and_no_others(
    id: str, is_missing: bool, outcome: str, status: int, says: str, show: Any
) -> None:
    rows = everything()
    if is_missing:
        del rows[id]
    else:
        rows[id] = row(id, Verdict.REFUTED)
    full, actual = verdicts(everything()), verdicts(rows)
    for place, ids in NEEDED.items():
        assert actual[place] == (outcome if id in ids else full[place])
    code, text = show(list(rows.values()), "--markdown")
    assert code == status
    assert says.format(id) in text


@pytest.mark.parametrize("id", ["5.3/istree-words", "5.7/nearest-quarter", "5.2/index-found", "4.7/layer-7-side"])
def test_sizes_of_lemmas_and_of_words_are_not_sizes_of_answers(id: str, show: Any) -> None:
    """Words counted up to 5,678, say, while graphs were tried up to 1,234."""
    searched = [kind("all", "", 3, 5_678, False) for kind in (Exhaustive, Sampled)]
    rows = {**everything(), id: replace(row(id), evidence=tuple(searched))}
    assert "5,678" not in show(list(rows.values()))[1]
    answers = replace(rows["5.3/istree-small"], evidence=tuple(searched))
    assert "exhaustive to 5,678" in show([*rows.values(), answers])[1]


def test_an_undecided_claim_settles_nothing(show: Any) -> None:
    rows = everything()
    rows["4.6/index"] = row("4.6/index", Verdict.UNKNOWN)
    code, text = show(list(rows.values()), "--markdown")
    assert code == 3
    assert "**not settled**<br>unknown:<br>4.6/index |" in text


def test_an_empty_ledger_settles_nothing(show: Any) -> None:
    code, text = show([])
    assert code == 3
    assert "0 solved, 0 impossible, 0 impossible for small n, 25 not settled, 0 refuted" in text


def test_claims_as_printed_do_not_count() -> None:
    """Neither for a cell nor against it."""
    rows = list(everything().values())
    printed = row("4.6/index/printed", Verdict.REFUTED, variant="printed", expected=Verdict.REFUTED)
    finding = row("4.6/index/tied-head", Verdict.REFUTED, finding="tied-head", expected=Verdict.REFUTED)
    lower = row("4.6/lower-recall/printed", Verdict.REFUTED, variant="printed", expected=Verdict.REFUTED)
    put_back = row("4.6/index/other", Verdict.REFUTED, finding="other")
    known_false = row("4.6/index-other", Verdict.REFUTED, expected=Verdict.REFUTED)
    assert verdicts([*rows, printed, finding, lower, put_back, known_false]) == verdicts(rows)
    only_printed = {**everything(), "4.6/index": row("4.6/index", variant="printed")}
    assert verdicts(only_printed)["Index", TRANSFORMER] == "not settled"


@pytest.mark.parametrize("id", ["4.6/index-sequential", "4.6/index-scale", "4.6/index-reduced"])
def test_other_claims_about_the_same_weights_count(id: str) -> None:
    rows = {**everything(), id: row(id, Verdict.REFUTED)}
    changed = {place for place, verdict in verdicts(rows).items() if verdict == "refuted"}
    assert changed == {("Index", TRANSFORMER)}


@pytest.mark.parametrize("id", ["4.6/indexed", "4.60", "14.6/index", "5.70", "4.6"])
def test_names_that_only_begin_alike_are_other_claims(id: str) -> None:
    assert verdicts({**everything(), id: row(id, Verdict.REFUTED)}) == verdicts(everything())


def test_every_engine_counts() -> None:
    by_another = replace(row("5.7", Verdict.REFUTED), engine="dense")
    assert verdicts([*everything().values(), by_another])["IsTree", HYBRID] == "refuted"


@pytest.mark.parametrize(("aspect", "above"), [("rounding", "above"), ("program", "program-above")])
def test_what_is_certified_of_rounding_and_programs_says_for_which_n(aspect: str, above: str) -> None:
    def told(*evidence: Evidence, more: Sequence[Row] = ()) -> list[str]:
        rows = [*everything().values(), replace(row(f"4.6/index-{aspect}"), evidence=evidence), *more]
        actual = {(c.task, c.architecture): c.evidence for c in table.cells(rows)}["Index", TRANSFORMER]
        assert not {"proved", "argued"} & set(actual)
        return [line.partition(" certified for ")[2] for line in actual if line.startswith(aspect)]

    some = Certified("all", "", 3, 10**12, False, sizes=((4, 4), (10**12, 10**12)))
    searched = Exhaustive("all", "", 3, 4, False, sizes=((1, 5),))
    first, second = (Stored("all", "", 3, end, False, sizes=((4, end),)) for end in (2**63, 2**62))
    endless = (
        Certified("all", "", 1, None, False, sizes=((2**63, None),)),
        Proved("parts", "", "", "", 1, ""),
        Argued("so", ""),
    )
    larger = [replace(row(f"4.6/index-{above}"), evidence=endless)]
    assert told(some, searched) == ["n = 4, 10^12"]
    assert told(some, first) == ["n = 4 … 2^63"]
    assert told(some, first, more=larger) == ["n = 4 and above"]
    assert told(some, first, second, more=larger) == ["n = 4 … 2^62, 2^63 and above"]


def test_a_lower_bound_is_not_a_claim_about_weights() -> None:
    rows = {**everything(), "4.7/lower-istree": row("4.7/lower-istree", Verdict.REFUTED)}
    actual = verdicts(rows)
    assert (actual["IsTree", RNN], actual["IsTree", TRANSFORMER]) == ("refuted", "solved")


def test_a_sample_is_not_shown_as_more() -> None:
    rows = {**everything(), "4.6/index-small": replace(row("4.6/index-small"), evidence=row("x").evidence)}
    actual = {(cell.task, cell.architecture): cell.evidence for cell in table.cells(list(rows.values()))}
    assert actual["Index", TRANSFORMER] == ["sampled to 1,234"]
    assert actual["Counting", TRANSFORMER] == ["exhaustive to 1,234", "sampled to 1,234"]


def test_plain_text_fits_100_columns(show: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for rows in ([], list(everything().values())):
        _, text = show(rows)
        assert "\x1b" not in text
        assert max(map(len, text.splitlines())) <= 100
    monkeypatch.setenv("COLUMNS", "60")
    for rows in ([], list(everything().values())):
        _, text = show(rows)
        assert max(map(len, text.splitlines())) <= 60
    assert re.search(r"^RNN, o\(n\).* impossible *$", text, re.MULTILINE)
    assert re.search(r"^ +4\.6/lower-recall *$", text, re.MULTILINE)  # no name is cut in two


def test_what_is_argued_for_all_n_is_not_shown_as_more() -> None:
    exhaustive, argued = Exhaustive("every x and k", "", 510, 8, False), Argued("All n: the same.", "")
    proved = Proved("every n", "", "an argument")
    for evidence, outcome, expected in (
        ((exhaustive, argued, proved), "impossible", ["proved for all n", "and every x of n ≤ 8"]),
        ((exhaustive, argued), "impossible for small n", ["shown for n ≤ 8, argued for all n"]),
        ((exhaustive,), "impossible for small n", ["shown for n ≤ 8, and no further"]),
    ):
        rows = {**everything(), "4.7/lower-istree": replace(row("4.7/lower-istree"), evidence=evidence)}
        actual = {(cell.task, cell.architecture): cell for cell in table.cells(list(rows.values()))}["IsTree", RNN]
        assert (actual.outcome, actual.evidence) == (outcome, expected)


def test_markdown(show: Any) -> None:
    _, text = show(list(everything().values()), "--markdown")
    title, introduction, picture, said, below = text.split("\n\n", 4)
    assert title == "# Which architecture solves what"
    assert "ledger.md" in introduction
    assert "capacity.svg" in picture
    assert "lower-bounds.md" in said
    head, rule, *lines = below.splitlines()
    assert head.split(" | ")[-4:] == [RNN, TRANSFORMER, SEARCHES, f"{HYBRID} |"]
    assert rule == "|---|---|---|---|---|"
    assert [line.count("|") for line in lines[:8]] == [6] * 8
    bound = "[5.4/lower-turing](ledger.md#5.4/lower-turing)"
    assert f"| Turing machines | **impossible**<br>needs n/2 bits<br>{bound}<br>proved for all n<br>" in text
    assert "no chain of thought<details><summary>4.6/index + " in text
    assert "</summary>[4.6/index](ledger.md#4.6/index), [" in text


def test_json(show: Any) -> None:
    rows = everything()
    del rows["5.8/size"]
    code, text = show(list(rows.values()), "--json")
    document = json.loads(text)
    assert (code, document["schema"], document["settled"]) == (3, 1, False)
    cells = {(cell["task"], cell["architecture"]): cell for cell in document["cells"]}
    assert cells.keys() == NEEDED.keys()
    cell = cells["Turing machines", HYBRID]
    assert (cell["verdict"], cell["missing"], cell["how"]) == ("not settled", ["5.8/size"], None)
    assert [claim["id"] for claim in cell["claims"]] == ["5.8", "5.8/circuit", "5.8/cost", "5.8/every-run"]
    assert cells["Index", TRANSFORMER]["how"] == "no chain of thought"


def test_bits_are_said_in_the_words_of_claims_that_hold(show: Any) -> None:
    rows = everything()
    for id in ("4.6/index-least-bits", "4.6/recall-least-bits"):
        rows[id] = row(id, Verdict.REFUTED if "recall" in id else Verdict.HOLDS)
    for id, range in (("4.6/index-rounding", "all"), ("4.6/index-above", "those above")):
        rows[id] = replace(row(id), evidence=(Certified(range, "", 3, 4, False), Proved("its answers", "", "")))
    for id in ("4.7/lean-precision", "4.7/lean-least-bits"):
        rows[id] = row(id, variant="lean")
    rows["4.6/precision"] = row("4.6/precision", statement="p ≤ 4|n")
    actual = {item["model"]: item for item in json.loads(show(list(rows.values()), "--json")[1])["bits"]}
    model = f"Index, {TRANSFORMER}"
    said = {
        "wired": "p ≤ 4|n",
        "certified": "4.6/index-rounding, 4.6/index-above",
        "fails": "4.6/index-least-bits holds",
    }
    assert actual[model] == {"model": model, **said}
    assert actual[f"IsTree, {TRANSFORMER}, lean"]["fails"] == "4.7/lean-least-bits holds"
    assert actual[f"associative recall, {TRANSFORMER}"]["fails"] == ""
    ids = ", ".join(f"[{id}](ledger.md#{id})" for id in ("4.6/index-rounding", "4.6/index-above"))
    line = f"| {model} | p ≤ 4\\|n | {ids} | 4.6/index-least-bits holds |"
    assert line in show(list(rows.values()), "--markdown")[1]
    del rows["4.6/precision"]
    models = [item.model for item in bits.claimed_bits(list(rows.values()), table.solving_models())]
    assert not any(name.endswith(TRANSFORMER) and "IsTree" not in name for name in models)


def test_what_is_no_ledger_is_named_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.json"
    path.write_text("[]")
    assert table.main([str(path)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    assert f"{path}: not a ledger" in line


def test_a_missing_file_says_how_to_make_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "LEDGER", tmp_path / "ledger.json")
    for arguments in ([], [str(tmp_path / "ledger.json")]):
        assert table.main(arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"python -m verify --n-max 10000 --ledger {tmp_path / 'ledger.json'}" in line


@pytest.fixture(scope="module")
def known() -> Mapping[str, Claim]:
    """The claims of the verifier."""
    return run(Path(table.__file__).parent, Replay(), "--collect-only").claims


def test_the_claims_are_those_of_the_verifier(known: Mapping[str, Claim]) -> None:
    """A claim that is renamed would leave its cells unsettled. Theorem 4.1 may have no claims yet."""
    judged = any(id.partition("/")[0] == "4.1" for id in known)
    wanted = [id for id in IDS if judged or id.partition("/")[0] != "4.1"]
    assert [id for id in wanted if id not in known] == []
    assert [id for id in wanted if not table.is_shipped(replace(row(id), claim=known[id]))] == []


def test_theorem_task_and_aspect_make_the_ids_that_are_known(known: Mapping[str, Claim]) -> None:
    stored = ledger.load_witnesses(WITNESSES)
    committed = {row.claim.id for row in ledger.read(LEDGER)}
    assert [id for id in (*stored, *committed) if id not in known] == []
    for id, claim in known.items():
        assert id == id_of(claim.theorem, claim.task, claim.aspect, claim.variant == "printed" or claim.finding != "")
        guess = fields_of(id)
        assert (claim.theorem, claim.task, claim.aspect) in (guess, (guess[0], "", id.partition("/")[2]))


@pytest.mark.parametrize(
    ("architecture", "id", "figures"),
    [
        (TRANSFORMER, "4.7/repaired", ["2n − 1"]),
        (SEARCHES, "5.3/istree-length", ["64n − 43", "6n − 4"]),
        (HYBRID, "5.7/length", ["O(n log n)"]),
    ],
)
def test_the_figures_are_those_of_the_claims(
    architecture: str, id: str, figures: list[str], known: Mapping[str, Claim]
) -> None:
    how = {(cell.task, cell.architecture): cell.basis.how for cell in table.cells([])}["IsTree", architecture]
    for figure in figures:
        assert figure in how
        assert figure in known[id].statement

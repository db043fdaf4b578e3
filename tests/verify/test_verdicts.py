"""Every way in which a claim's test can end."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from tests.verify.conftest import Paper
from verify.framework.claim import Claim, Kind, Reading, Verdict
from verify.framework.predicates import measure

CLAIM = '@claim("V", source="Lemma V", statement="It holds.")\ndef test_it(check):\n    '
EXPECTED_FALSE = CLAIM.replace('"It holds."', '"It holds.", variant="printed", expected=Verdict.REFUTED')


def test_the_paper_passes_with_its_known_slip(paper: Paper) -> None:
    """A false claim is refuted by a shrunk witness: test_ledger.py has its row."""
    result = paper.run("--ledger", "ledger.json")
    result.assert_outcomes(passed=4, xfailed=1)
    assert result.ret == 0
    rows = {row["id"]: row for row in paper.ledger()["rows"]}
    assert (rows["T.1/repaired"]["verdict"], rows["T.1/repaired"]["witness"]) == ("holds", None)
    [evidence] = rows["T.1/repaired"]["evidence"]
    assert (evidence["kind"], evidence["cases"], evidence["n_max"]) == ("exhaustive", 10, 10)
    assert [evidence["kind"] for evidence in rows["T.9/repaired"]["evidence"]] == ["sampled"]
    assert [evidence["kind"] for evidence in rows["U/repaired"]["evidence"]] == ["proved"]


def test_a_sample_is_called_a_sample(paper: Paper) -> None:
    result = paper.run("--claim", "T.9/repaired")
    result.stdout.fnmatch_lines(["*T.9/repaired*holds*sampled*", "*sampled: numbers*"])
    result.stdout.no_fnmatch_line("*proved*")


def test_an_unexpected_refutation_fails(paper: Paper) -> None:
    paper.write(CLAIM + 'check.exhaustive(range(200), below_100, count=200, range="numbers")')
    result = paper.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["V (Lemma V): refuted, expected holds.", "witness: 100", "replay: python -m verify.replay V *"]
    )


def test_a_slip_that_is_gone_fails(paper: Paper) -> None:
    paper.write(EXPECTED_FALSE + 'check.exhaustive(range(20), below_100, count=20, range="numbers")')
    result = paper.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["V (Lemma V): holds, expected refuted. Nothing refutes it any more."])
    result.assert_outcomes(failed=1)


def test_an_expected_refutation_is_no_pass_even_without_xfail(paper: Paper) -> None:
    paper.write(EXPECTED_FALSE + 'check.exhaustive(range(200), below_100, count=200, range="numbers")')
    assert paper.run("--runxfail").ret == 1


UNDECIDED = [
    ("pass", "the test recorded no evidence"),
    ('check.exhaustive(range(0), below_100, count=0, range="nothing")', "no case at all: nothing"),
    ('check.exhaustive([5], lambda number: 1 // 0, count=1, range="numbers")', "ZeroDivisionError: *"),
    ('check.sampled(st.integers(), lambda number: 1 // 0, range="numbers")', "ZeroDivisionError: *"),
    (
        'check.exhaustive([5], lambda number: False, count=1, range="numbers")',
        "TypeError: a predicate returns None or *",
    ),
    ("assert False", "AssertionError: *"),
    ("check.witness = 100", "FrozenInstanceError: cannot assign to field 'witness'"),
    ("check.replay = 100", "FrozenInstanceError: cannot assign to field 'replay'"),
    (
        'check.proved([(SQUARES[0], LEAF)], by="luck", range="all x")',
        "the proof does not go through: luck: for all real x: *",
    ),
    ('check.proved([], by="luck", range="all x")', "no theorem at all: all x"),
    ('check.proved(lambda: True, by="luck", range="all x")', "TypeError: *"),
    ('check.proved([(SQUARES[0], True)], by="luck", range="all x")', "the proof does not go through: *"),
    ('check.certified([5], below_100, range="all x")', "TypeError: *"),
    ('check.certified([5], range="all x")', "ValueError: 5 does not fit *Subject*"),
    ('check.explained([5], lambda n: {"verdict": "certified"}, range="all x")', "TypeError: *"),
    ('check._certify(lambda n: {"verdict": "certified"}, [5], "all x", "")', "KeyError: *"),
    ('check.argued("so it is")', "the test recorded arguments alone, and nothing that was checked"),
    ('check.assumed("it is so")', "the test recorded arguments alone, and nothing that was checked"),
    ("check.evidence.append(1)", "AttributeError: *"),
    ('check.unknown("nobody knows")', "nobody knows"),
    ('[check.exhaustive([5], below_100, count=1, range="numbers") for _ in "ab"]', "ValueError: *'numbers' twice*"),
]
"""What a test does, and why its claim is undecided."""


@pytest.mark.parametrize("head", [CLAIM, EXPECTED_FALSE])
def test_no_verdict_without_a_reason(paper: Paper, head: str) -> None:
    heads = [head.replace('"V"', f'"V.{i}"').replace("test_it", f"test_{i}") for i, _ in enumerate(UNDECIDED)]
    paper.write("\n\n".join(head + body for head, (body, _) in zip(heads, UNDECIDED, strict=True)))
    result = paper.run("--ledger", "ledger.json")
    assert result.ret == 1
    result.assert_outcomes(failed=len(UNDECIDED))
    rows = {row["id"]: row for row in paper.ledger()["rows"]}
    assert len(rows) == len(UNDECIDED)
    for i, (_, note) in enumerate(UNDECIDED):
        row = rows[f"V.{i}"]
        assert (row["verdict"], row["witness"]) == ("unknown", None)
        pytest.LineMatcher([row["note"]]).fnmatch_lines([note])


def test_a_crash_after_evidence_is_unknown_too(paper: Paper) -> None:
    paper.write(
        CLAIM
        + 'check.exhaustive([5], below_100, count=1, range="a")\n    check.exhaustive([5], len, count=1, range="b")'
    )
    row = paper.rows()["V"]
    assert (row["verdict"], len(row["evidence"])) == ("unknown", 1)


def test_an_open_question_may_be_expected(paper: Paper) -> None:
    paper.write(CLAIM.replace('"It holds."', '"It holds.", expected=Verdict.UNKNOWN') + 'check.unknown("open")')
    result = paper.run()
    result.assert_outcomes(xfailed=1)


def test_a_swallowed_witness_still_refutes(paper: Paper) -> None:
    tried = 'try:\n        check.exhaustive([200], below_100, count=1, range="a")\n    except Exception:\n        pass'
    paper.write(f'{CLAIM}{tried}\n    check.exhaustive([5], below_100, count=1, range="b")')
    assert paper.rows()["V"]["verdict"] == "refuted"


def test_a_raised_counterexample_refutes_like_a_returned_one(paper: Paper) -> None:
    raises = (
        "def predicate(number: int):\n    if number > 3:\n        raise Counterexample(found=Fraction(number, 3))\n\n"
    )
    paper.write(f'{raises}{CLAIM}check.sampled(st.integers(0, 50), predicate, range="a")')
    witness = paper.rows()["V"]["witness"]
    assert (witness["case"], witness["shows"]) == (4, {"found": "4/3"})


def test_a_size_below_the_least_is_not_judged(paper: Paper) -> None:
    paper.write(CLAIM + 'check.exhaustive(check.sizes(3), below_100, count=1, range="sizes")')
    result = paper.run("--n-max", "2", "--ledger", "ledger.json")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["0 holds, 0 refuted, 0 unknown; 0 not as expected; 1 not judged"])
    result.stdout.fnmatch_lines(["Not judged: V: needs n ≥ 3, --n-max is 2"])
    assert result.ret == 0
    assert paper.ledger()["rows"] == []
    reason = "needs n ≥ 3, --n-max is 2"
    assert paper.ledger()["not_judged"] == [{"id": "V", "engine": "", "reason": reason}]


def test_a_precision_without_weights_is_one_line(paper: Paper) -> None:
    paper.write(CLAIM + 'check.exhaustive([5], lambda number: int("p is too small"), count=1, range="numbers")')
    result = paper.run("--p-bits", "21")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["V (Lemma V): unknown, expected holds.", "at --p-bits 21: invalid literal *"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("E  *")


def test_a_test_that_takes_no_check_fails(paper: Paper) -> None:
    paper.write(CLAIM.replace("test_it(check)", "test_it()") + "pass")
    result = paper.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["V: its test does not take `check`*"])


def test_picked_cases_are_called_a_sample(paper: Paper) -> None:
    paper.write(CLAIM + 'check.chosen([5, 7], below_100, range="two numbers")')
    row = paper.rows()["V"]
    assert [(e["kind"], e["cases"]) for e in row["evidence"]] == [("sampled", 2)]
    paper.write(CLAIM + 'check.chosen([5, 700], below_100, range="two numbers")')
    row = paper.rows()["V"]
    assert (row["verdict"], row["witness"]["case"]) == ("refuted", 700)


AFTER = '    check.exhaustive(range({low}, 9), below_100, count={count}, range="the rest", size=lambda number: number)'


@pytest.mark.parametrize(
    ("cases", "failing", "low", "verdict", "note"),
    [
        ("range(6)", "(2, 3)", 4, "holds", ""),
        ("range(6)", "(2,)", 4, "unknown", "nothing fails at n = 3: small"),
        ("range(6)", "(3, 5)", 4, "refuted", ""),
        ("range(6)", "(3,)", 3, "unknown", "holds from n = 4 on at most, and evidence is about n = 3"),
    ],
)
def test_what_fails_at_small_sizes_alone(
    paper: Paper, cases: str, failing: str, low: int, verdict: str, note: str
) -> None:
    predicate = (
        f"\ndef judge(n: int) -> Counterexample | None:\n    return Counterexample(n=n) if n in {failing} else None\n"
    )
    search = f'check.fails_below(4, {cases}, judge, range="small")\n'
    paper.write(predicate + CLAIM + search + AFTER.format(low=low, count=9 - low))
    row = paper.rows()["V"]
    assert (row["verdict"], row["note"]) == (verdict, note)
    if verdict == "holds":
        below, rest = row["evidence"]
        assert (below["kind"], below["n_from"], below["sizes"]) == ("below", 4, [["0", "5"]])
        assert '"case":3' in below["example"]
        assert rest["sizes"] == [["4", "8"]]


def test_a_claim_that_only_fails_below_does_not_hold(paper: Paper) -> None:
    paper.write(
        "\ndef judge(n: int) -> Counterexample | None:\n    return Counterexample(n=n) if n < 4 else None\n"
        + CLAIM
        + 'check.fails_below(4, range(9), judge, range="small")'
    )
    assert paper.rows()["V"]["verdict"] == "unknown"


@pytest.mark.parametrize(
    ("kind", "readings", "error"),
    [
        ("slip", [], "name the reading that fails"),
        ("slip", [("as printed", False, "", "")], "slip and open mean that a reading holds"),
        ("false", [("as printed", False, "", ""), ("other", True, "V/2", "")], "makes it open, not false"),
        ("open", [("other", True, "V/2", "")], "name the reading that fails"),
        ("slip", [("as printed", False, "", ""), ("other", True, "V/2", "")], "say where the right form"),
        ("worse", [("as printed", False, "", "")], "'worse' is not a valid Kind"),
        ("false", [("", False, "", "")], "a reading needs a sentence"),
        ("open", [("as printed", False, "", ""), ("other", True, "", "")], "names the claim that shows so"),
    ],
)
def test_a_kind_needs_its_readings(kind: str, readings: list[tuple[str, bool, str, str]], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        Claim(
            "V/printed",
            "Lemma V",
            "It holds.",
            "printed",
            kind=kind,
            readings=tuple(Reading(*reading) for reading in readings),
        )


def test_what_is_expected_to_hold_has_no_kind() -> None:
    with pytest.raises(ValueError, match="is not expected to be refuted"):
        Claim(
            "V",
            "Lemma V",
            "It holds.",
            expected=Verdict.HOLDS,
            kind=Kind.FALSE,
            readings=(Reading("as printed", False),),
        )


def test_a_kind_tells_the_verdict_and_an_id_the_source() -> None:
    false = Claim("C.9/printed", "", "It holds.", kind=Kind.FALSE, readings=(Reading("as printed", False),))
    assert (false.expected, false.source) == (Verdict.REFUTED, "Lemma C.9")
    true = Claim.about("5.4", "turing", "search", "", "It holds.")
    assert (true.expected, true.source) == (Verdict.HOLDS, "Theorem 5.4")


def test_how_large_a_case_is() -> None:
    def of_n(least: int, n: int) -> None: ...

    def of_number(number: object) -> None: ...

    sized = SimpleNamespace(n=7)
    assert [measure("own", partial(of_n, 1))(5), measure("own", of_number)(sized)] == [5, 7]
    assert [measure("own", of_number)(5), measure(None, of_number)(sized)] == [None, None]
    assert [measure(3, of_number)(sized), measure(len, of_number)("ab")] == [3, 2]
    with pytest.raises(ValueError, match="readings belong to a claim that is refuted"):
        Claim("V", "Lemma V", "It holds.", readings=(Reading("as printed", False),))


def test_a_case_of_many_sizes_covers_all_of_them(paper: Paper) -> None:
    search = (
        'check.exhaustive(range(3), below_100, count=3, range="a", span=lambda case: (2**case, 2 ** (case + 1) - 1))'
    )
    paper.write(CLAIM + search)
    [evidence] = paper.rows()["V"]["evidence"]
    assert evidence["sizes"] == [["1", "7"]]


def test_a_claim_that_is_left_stands_in_the_ledger_with_its_reason(paper: Paper) -> None:
    paper.write(CLAIM + 'check.leave("nobody has the data")')
    assert paper.rows() == {}
    assert paper.ledger()["not_judged"] == [{"id": "V", "engine": "", "reason": "nobody has the data"}]


def test_a_claim_beyond_its_scope_is_unknown(paper: Paper) -> None:
    body = 'check.within("n below 3")\n    check.exhaustive(check.sizes(3), below_100, count=1, range="sizes")'
    paper.write(CLAIM + body)
    row = paper.rows("--n-max", "3")["V"]
    assert (row["verdict"], row["note"]) == (
        "unknown",
        "is shown for n below 3 alone, and its statement does not say so",
    )

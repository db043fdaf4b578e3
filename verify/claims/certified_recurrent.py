"""Soundness of rounding of recurrent models, certified from the weights: of hybrids, and of those that search their own text."""

from __future__ import annotations

from dataclasses import replace

from constructions.istree import hybrid, rag
from constructions.turing import cot
from constructions.turing.library import find
from precision.format import Discipline
from verify.certificates.above import ALONE, rounding
from verify.certificates.building import every_cells, precision_of
from verify.claims.certified import BEYOND, LAST, PRECISION, WHAT, above, answered, both, certify, every_n, listed
from verify.claims.run_invariants import APART, QUEUE, RECORDS
from verify.dossiers.dossier import ENDLESS, LEAST, Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.tasks import MODELS
from verify.framework.check import Check
from verify.framework.claim import Claim, claim, claims

THEOREMS = {"rag": "5.2", "hybrid": "5.6"}
ANY_WORDS = " Any numbers in the search, any word of the prompt as its result."


@claims(
    "key",
    [
        (
            Claim.about(
                THEOREMS[model],
                name,
                "rounding",
                f"Theorem {THEOREMS[model]}",
                f"{name}, {model}: {WHAT}" + ANY_WORDS * (model == "rag"),
            ),
            (name, model),
        )
        for name, model in MODELS
        if model in THEOREMS
    ],
)
def test_retrieval(check: Check, key: tuple[str, str]) -> None:
    name, model = key
    sizes = (*check.sizes(LEAST, ratio=10**9)[:1], *([] if check.n_max < 10**4 else [BEYOND]))
    text = "every sequence of up to n tokens, every query"
    certify(check, [find_subject(name, n, model=model) for n in sizes], f"{text}; n = {listed(sizes)}")
    every_n(check, "rounding", both(find_subject(name, LEAST, model=model)), text)


TEXTS = {
    "rag": "For every simple graph and all turns behind it, with any vertices and any results of searches; under sequential "
    f"given the invariant of {RECORDS}.",
    "hybrid": f"Given the invariant of {APART}, for every simple graph and all frames behind it, with any vertices and positions.",
}
STEPS, MOST_STEPS = 10, 1000
ANY_RUN = "For every text in the form of a run, whatever it says."


@claims(
    "model",
    [
        (
            Claim.about(
                theorem, "turing", "rounding", f"Theorem {theorem}", f"Turing machines, {model}: {WHAT} {ANY_RUN}"
            ),
            model,
        )
        for theorem, model in (("5.4", "rag"), ("5.8", "hybrid"))
    ],
)
def test_turing(check: Check, model: str) -> None:
    def subject(n: int, name: str = "bb2", tape: str = "") -> Subject:
        return find_subject("turing", n, model=model, machine=str(find(name).machine), tape=tape)

    sizes = check.sizes(STEPS, ratio=10**3)
    kept = check.certified_sizes(sizes, lambda n: precision_of(subject(n)))
    subjects = [subject(kept[0], "palindrome", "1221"), subject(kept[-1])]
    text = f"every text of up to n steps of palindrome on 1221, n = {kept[0]}, of bb2 on a blank tape, n = {kept[-1]:,}"
    certify(check, subjects, text)
    every_n(check, "rounding", both(subject(LEAST)), "every text of up to n steps of bb2 on a blank tape")


@claims(
    "of",
    [
        (
            Claim.about(
                theorem, name, "above", f"Theorem {theorem}", f"{title}, {model}: For every n ≥ 2^63: {WHAT} {text}"
            ),
            (name, model),
        )
        for theorem, name, model, title, text in (
            ("5.3", "istree", "rag", "IsTree", TEXTS["rag"]),
            ("5.7", "istree", "hybrid", "IsTree", TEXTS["hybrid"]),
            ("5.4", "turing", "rag", "Turing machines", ANY_RUN),
            ("5.8", "turing", "hybrid", "Turing machines", ANY_RUN),
        )
    ],
)
def test_above(check: Check, of: tuple[str, str]) -> None:
    name, model = of
    subjects = [find_subject(name, LAST, model=model, last=ENDLESS)]
    if name == "turing":
        subjects = [subjects[0].with_options(machine=str(find("bb2").machine))]
    if of != ("istree", "hybrid"):  # its partial sums take minutes
        subjects.append(replace(subjects[0], discipline=Discipline.SEQUENTIAL))
    above(
        check,
        subjects,
        "every text of up to n steps of bb2 on a blank tape"
        if name == "turing"
        else "every simple graph and text of that form",
    )


SPACE = 9  # cells: m is in the weights; the steps are not
ROWS = "up to b^m configurations of one head each, more than there are rows of m digits below b"
CASES = (
    "n stands for the numbers of ⌊m/2⌋ bits, the case for two m. A run of b^m steps comes to a row of cells twice, so it has ended "
    "before, or never ends."
)


@claim(
    theorem="4.1",
    task="turing",
    aspect="rounding",
    source=cot.SOURCE,
    statement=f"Turing machines, cot: {WHAT} Given the invariant of {QUEUE}, for every text of configurations with one head each.",
)
def test_turning_tape(check: Check) -> None:
    subject = find_subject("turing", MOST_STEPS, model="cot", machine=str(find("bb2").machine), cells=SPACE)
    if check.certified_sizes([SPACE], lambda cells: precision_of(subject)):
        certify(check, [subject], f"every text of up to {MOST_STEPS:,} steps of bb2 on {SPACE} cells")


@claim(
    theorem="4.1",
    task="turing",
    aspect="cells-rounding",
    source=cot.SOURCE,
    statement=f"Turing machines, cot: For every number of cells m, any text of {ROWS}: {WHAT} Given the invariant of {QUEUE}.",
)
def test_every_number_of_cells(check: Check) -> None:
    check.sizes(10**4)
    if check.p_bits is not None:
        check.unknown("p grows with the number of cells")
    fused = every_cells(find_subject("turing", 1, model="cot", machine=str(find("bb2").machine)))
    subjects = [fused, replace(fused, discipline=Discipline.SEQUENTIAL)]
    text = f"bb2, every number of cells, those from {ALONE + 1} on in cases; any word, {ROWS}; fused and sequential"
    check.certified(subjects, range=text, precision=PRECISION)
    answered(check, subjects, [None] * len(subjects), rounding, "a certificate")
    check.argued(CASES)


SEARCHING = {"rag": ("5.3", rag), "hybrid": ("5.7", hybrid)}


@claims(
    "model",
    [
        (Claim.about(theorem, "istree", "rounding", module.SOURCE, f"IsTree, {model}: {WHAT} {TEXTS[model]}"), model)
        for model, (theorem, module) in SEARCHING.items()
    ],
)
def test_istree(check: Check, model: str) -> None:
    least = find_subject("istree", check.sizes(LEAST)[0], precision_bits=check.p_bits, model=model)
    largest = replace(least, n=least.n if check.n_max < 10**4 else BEYOND)
    text = "every simple graph and text of that form"
    check.certified(
        [least, replace(largest, discipline=Discipline.SEQUENTIAL)],
        range=f"{text}; n = {least.n}, fused; n = {largest.n:,}, sequential",
        precision=check.precision_text(PRECISION),
    )
    own = find_subject("istree", LEAST, model=model)
    every_n(check, "rounding", [own] if model == "hybrid" else both(own), text)  # its partial sums take long

"""Certificates of the models that write a Turing machine's tape: their texts, and runs that stay within what is certified."""

from __future__ import annotations

import dataclasses
import json
import random

import pytest

from constructions.turing.library import find
from constructions.wiring.wired import Wired
from tests.verify.certificates.runs import contradictions
from verify.certificates.building import Subject, build, families_of, language_of
from verify.certificates.checker import check
from verify.certificates.document import CERTIFIED, certificate, differences, judge
from verify.certificates.language import Language
from verify.certificates.model import described
from verify.certificates.mutants import CHANGES, mutant, places

BB2, PALINDROME = str(find("bb2").machine), str(find("palindrome").machine)
SUBJECTS = [
    Subject("turing", n, model=model, machine=machine, tape=tape)
    for model in ("hybrid", "rag")
    for n, machine, tape in ((5, BB2, ""), (3, PALINDROME, "12"))
]
each = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: f"{s.model} {s.tape or 'blank'}")


def walk(language: Language, wired: Wired, rng: random.Random) -> list[int]:
    """A text of the language, with any numbers."""
    token, numbers = {word: i for i, word in enumerate(wired.vocabulary)}, dict[str, int]()
    for i, row in enumerate(wired.model.words):
        for name in ("cell", "symbol", "state", "place"):
            if name in wired.registers and row[wired.registers.index(name)]:
                numbers[f"{name} {int(row[wired.registers.index('number')])}"] = i
    place, tokens = 0, list[int]()
    while True:
        here = language.places[place]
        assert here.low <= len(tokens) + 1 <= here.high  # type: ignore[operator]
        low, high = here.numbers
        number = rng.choice((low, high, rng.randint(low, high)))  # type: ignore[arg-type]
        tokens.append(token[here.word] if here.word else numbers[f"{here.family} {number}"])
        following = [
            i for i, one in enumerate(language.places) if place in one.after and one.low <= len(tokens) + 1 <= one.high
        ]
        if not following:
            return tokens
        place = rng.choice(following)


@pytest.mark.parametrize("subject", SUBJECTS[::3], ids=lambda s: s.model)
def test_runs_are_as_certified(subject: Subject) -> None:
    """The machine's own run, and texts in which every number is any."""
    wired, report, language = subject.turing.build(subject.n), check(*build(subject)), language_of(subject)
    request = subject.turing.request(wired, subject.n)
    own = [*request.prompt, *map(int, request.guess)][:-1]
    for tokens in (own, walk(language, wired, random.Random(0))):
        assert contradictions(wired, report, tokens, set(range(1, len(tokens) + 1))) == []


@each
def test_the_machine_s_run_is_a_text_of_the_language(subject: Subject) -> None:
    wired, language = subject.turing.build(subject.n), language_of(subject)
    request = subject.turing.request(wired, subject.n)
    words = [wired.vocabulary[token] for token in (*request.prompt, *map(int, request.guess))][:-1]
    now = {0}
    for position, word in enumerate(words[1:], start=2):
        now = {
            i
            for i, place in enumerate(language.places)
            if now & set(place.after)
            and place.low <= position <= place.high  # type: ignore[operator]
            and (place.word == word or (not place.word and word not in {one.word for one in language.places}))
        }
        assert now, (position, word)


@pytest.mark.parametrize("subject", SUBJECTS[:1], ids=lambda s: s.model)
def test_single_changes(subject: Subject) -> None:
    """What is still certified runs as certified."""
    wired, language, rng = subject.turing.build(subject.n), language_of(subject), random.Random(0)
    for place in rng.sample(places(wired.model), 2):
        model = mutant(wired.model, place, rng.choice(CHANGES), float(wired.arithmetic.format.quantum))
        families = families_of(subject, subject.n)
        judged = judge(described(model, wired.arithmetic, wired.registers, wired.vocabulary, families), language)
        if judged.report is not None:
            built = dataclasses.replace(wired, model=model)
            tokens = walk(language, wired, rng)
            assert contradictions(built, judged.report, tokens, set(range(1, len(tokens) + 1))) == [], place


def test_a_stored_certificate() -> None:
    document = json.loads(json.dumps(certificate(SUBJECTS[0])))
    assert document["verdict"] == CERTIFIED
    assert differences(document) == []
    assert "weights_sha256" in differences({**document, "tape": "1"})
    with pytest.raises(ValueError, match="row 'zz'"):
        differences({**document, "machine": "zz"})


def test_logits_that_are_cut_off() -> None:
    """At 1,000 steps the logit of the cell furthest away is below the least number, and never the largest."""
    subject = Subject("turing", 1000, model="rag", machine=BB2)
    assert certificate(subject)["verdict"] == CERTIFIED

"""The checker of cases: what it accepts holds at each n that is tried, and near misses are rejected."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from tests.verify.numbers_at import holds, parity, value, values_at
from tests.verify.trusted.checkers import at, places, tampered
from verify.certificates.building import at_size, automaton_of, model_of
from verify.certificates.statement import rows_of, statement_of
from verify.dossiers.dossier import Subject
from verify.stored import cases as stored
from verify.trusted import cases, growing, growth, rounding
from verify.trusted.kernel import Rejected

Document = dict[str, Any]
NAMES = ["recall-rounding-cases", "counting-rag-sequential-rounding-cases"]


def subject_of(name: str) -> Subject:
    return next(subject for subject in stored.subjects() if stored.path_of(subject).stem == name)


@cache
def _document(name: str) -> bytes:
    subject = subject_of(name)
    document = stored.read(subject)
    assert document is not None
    return json.dumps(stored.fill(subject, document)[0]).encode()


def document_of(name: str) -> Document:
    return json.loads(_document(name))


def verdict(document: Document) -> str:
    """The reason to reject, or nothing."""
    try:
        cases.check(json.dumps(document).encode())
    except Rejected as why:
        return str(why)
    return ""


def roots(document: Document) -> list[tuple[Document, growth.Box]]:
    """Each tree with the box of all its n."""
    many, bits = document["cases"], document["bits_of_bits"]
    return [(part, growth.root(bits, r)) for r, part in zip((0, 1) if len(many) > 1 else (None,), many, strict=True)]


def leaf_at(document: Document, n: int) -> Document:
    """The case of one n: by the questions' answers at n."""
    values = values_at(n)
    part, box = roots(document)[parity(n) if len(document["cases"]) > 1 else 0]
    least = box.start
    while "split" in part:
        split = part["split"]
        answer = values["v"] == least if split == "v" else holds(split["question"], values)
        least += split == "v" and not answer
        part = part["parts"][0 if answer else 1]
    return part


def term_at(term: str, n: int) -> str:
    """A term with numbers in place of its symbols."""
    c, *factors = term.split("*")
    symbols = [one[1:] for one in factors if one[0] == "$"]
    number = value("*".join((c, *symbols)), values_at(n))
    return "*".join((str(number), *(one for one in factors if one[0] != "$")))


def at_n(item: Any, n: int) -> Any:
    """A part of a file with numbers in place of symbols: a whole number is one of JSON, as the checker of one n reads it."""
    if isinstance(item, dict):
        return {name: at_n(one, n) for name, one in item.items()}
    if isinstance(item, list):
        return [at_n(one, n) for one in item]
    if not isinstance(item, str) or "$" not in item:
        return item
    if item[0] == "(":
        top, under = item.strip("()").split(")/(")
        return str(Fraction(at_n(top, n)) / Fraction(at_n(under, n)))
    text = " + ".join(term_at(term, n) for term in item.split(" + "))
    try:
        number = sum(map(Fraction, text.split(" + ")))
    except ValueError:
        return text
    return int(number) if number.denominator == 1 else str(number)


def texts(item: Any) -> Any:
    """Numbers of rows and classes as texts, where polynomials stand."""
    if isinstance(item, dict):
        return {name: one if name in ("low", "high", "label") else texts(one) for name, one in item.items()}
    if isinstance(item, list):
        return [texts(one) for one in item]
    return str(item) if isinstance(item, int) and not isinstance(item, bool) else item


SIZES = [128, 129, 200, 252, 253, 255, 256, 1000, 2**15 - 1, 2**15, 2**16 - 3, 10**6, 2**31 - 1, 2**63, 2**64 - 3]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_accepted_and_each_n_has_the_weights_that_users_get(name: str) -> None:
    """The rows of a case with n put in are those of a builder that is given n as an int. So are the texts."""
    document, subject = document_of(name), subject_of(name)
    assert not verdict(document)
    for n in (n for n in SIZES if n >= subject.n):
        model = document["models"][leaf_at(document, n)["model"]]
        own = at_size(subject, n)
        exact = model_of(own)
        here = statement_of(exact, automaton_of(own)), rows_of(exact)
        assert normal(at_n(model["rows"], n)) == normal(here[1]), n
        assert normal(at_n({field: one for field, one in model.items() if field != "rows"}, n)) == normal(here[0]), n


def normal(item: Any) -> Any:
    """Numbers and sums as one text, whatever the order of terms and the kind of number."""
    if isinstance(item, dict):
        return {name: one for name, inner in item.items() if (one := normal(inner)) != "0"}
    if isinstance(item, list):
        return [normal(one) for one in item]
    if isinstance(item, bool) or item is None:
        return item
    try:
        sums: dict[tuple[str, ...], Fraction] = {}
        for term in str(item).split(" + "):
            c, *atoms = term.split("*")
            sums[tuple(sorted(atoms))] = sums.get(tuple(sorted(atoms)), Fraction(0)) + Fraction(c or "0")
        return " + ".join(f"{c}*{atoms}" for atoms, c in sorted(sums.items()) if c) or "0"
    except ValueError:
        return item


def verdict_at(model: Document, certificate: Document, n: int) -> str:
    """What the checker of one n says, of numbers in place of symbols: nothing of growing.py is used."""
    rows = json.dumps(as_polynomials(at_n(model["rows"], n))).encode()
    own = {**at_n({**model, **certificate}, n), "weights": hashlib.sha256(rows).hexdigest()}
    own.pop("rows")
    for place in own["automaton"]:
        place.update({field: str(place[field]) for field in ("low", "high", "least", "most")})
    for choice in (choice for step in own["steps"] for choices in step for choice in choices if choice[0] == "class"):
        choice[2] = {name: str(text) for name, text in choice[2].items()}
    for one in (one for entry in own["entries"] for one in entry["classes"]):
        one["registers"] = {i: str(text) for i, text in one["registers"].items()}
    try:
        rounding.check(json.dumps(own).encode(), rows)
    except Rejected as why:
        return str(why)
    return ""


@pytest.mark.parametrize("n", [128, 253, 255, 2**16 - 3, 2**20])
def test_at_one_n_the_checker_of_one_n_accepts_it(n: int) -> None:
    document = document_of(NAMES[0])
    leaf = leaf_at(document, n)
    assert not verdict_at(document["models"][leaf["model"]], document["certificates"][leaf["certificate"]], n)


def as_polynomials(rows: Any) -> Any:
    """The ends of families are numbers, all else is text."""
    families = {name: {**one, "rows": texts(one["rows"])} for name, one in rows["families"].items()}
    return {**{name: texts(one) for name, one in rows.items()}, "families": families}


# Near misses


def part_of(document: Document, path: str) -> Any:
    """A part of the tree, by turns."""
    part = document["cases"][int(path[0])]
    for turn in path[1:]:
        part = part["parts"][int(turn)]
    return part


def near_misses() -> Iterator[tuple[str, Callable[[Document], object]]]:
    yield "no root is left", lambda d: d["cases"].clear()
    yield "three roots", lambda d: d["cases"].extend(d["cases"][:1] * 2)
    yield "a part is left out", lambda d: part_of(d, "0")["parts"].pop()
    yield "n from 64 on", lambda d: d.update(bits_of_bits=3)
    yield "from a later n on", lambda d: part_of(d, "0")["split"].update({"from": "-2 + 1*E"})
    yield "another question", lambda d: part_of(d, "0")["split"].update(question=["4 + -1*E + 1*n", ">="])
    yield "another n", lambda d: d["models"][0].update(n=["1*$n", "1 + 1*$n"])
    yield "a smaller n", lambda d: d["models"][0].update(n=["-1 + 1*$n"] * 2)
    yield "two bits less", lambda d: [m.update(p=f"-2 + {m['p']}") for m in d["models"]]
    yield "an even number of bits", lambda d: [m.update(p=f"1 + {m['p']}") for m in d["models"]]
    yield "a model's field is lost", lambda d: d["models"][0].pop("invariants")
    yield "a certificate is lost", lambda d: d["certificates"].pop()
    yield "a text of one more position", lambda d: change(d, "automaton", "high", "1 + ")


def change(document: Document, field: str, name: str, before: str) -> None:
    for model in document["models"]:
        for place in model[field]:
            place[name] = before + place[name]


@pytest.mark.parametrize("miss", [*near_misses()], ids=lambda miss: miss[0])
def test_near_misses_are_rejected(miss: tuple[str, Callable[[Document], object]]) -> None:
    document = document_of(NAMES[0])
    miss[1](document)
    assert verdict(document)


def wider(part: Document, box: growth.Box) -> Iterator[tuple[Document, growth.Box]]:
    """Each case with the box of all that it was split from just before."""
    if "split" in part:
        boxes = growth.by_exponent(box) if part["split"] == "v" else growth.parts_of(box, part["split"])
        for one, inside in zip(part["parts"], boxes, strict=True):
            if "split" not in one:
                yield one, box
            yield from wider(one, inside)


def test_a_box_that_is_too_wide_is_accepted_only_where_that_is_right() -> None:
    """By the checker of one n, at the ends of n and B in the wider box. Some weights are right there as well."""
    document, refused = document_of(NAMES[0]), 0
    for root in roots(document):
        for one, box in wider(*root):
            model, certificate = document["models"][one["model"]], document["certificates"][one["certificate"]]
            try:
                assert cases.check_case(model, certificate, growing.Case(box))
            except Rejected:
                refused += 1
                continue
            for bits in (8, 9, 10, 11, 12, 15, 16, 17, 20, 23, 31):
                for n in (2 ** (bits - 1), 2**bits - 4, 2**bits - 3, 2**bits - 1):
                    values = values_at(n)
                    ends = [growth_at(end, values) for name in "nB" for end in box.ends[name]]
                    if ends[0] <= n <= ends[1] and ends[2] <= bits <= ends[3]:
                        assert not verdict_at(model, certificate, n), n
    assert refused > 2


def growth_at(polynomial: growth.Polynomial, values: Any) -> Fraction:
    """The value of a polynomial of symbols."""
    return sum((c * math.prod(values[name] ** power for name, power in m) for m, c in polynomial.items()), Fraction(0))


def one_case(document: Document) -> tuple[Document, Document, Callable[[Document, Document], str]]:
    """The model and the certificate of the first case, and what is said of others in their place, for n of this case alone."""
    part, box = roots(document)[0]
    while "split" in part:
        part, box = part["parts"][0], growth.parts_of(box, part["split"])[0]

    def judge(model: Document, certificate: Document) -> str:
        try:
            rounding.safely(lambda: cases.check_case(model, certificate, growing.Case(box)))
        except Rejected as why:
            return str(why)
        return ""

    return document["models"][part["model"]], document["certificates"][part["certificate"]], judge


def grown(item: Any, *within: str) -> list[tuple[Any, ...]]:
    """The places of texts that depend on n, within a field."""
    return [
        path
        for path in places(item)
        if isinstance(text := at(item, path), str) and "$" in text and {*within} <= {*path}
    ]


def test_a_bound_that_fails_at_one_n_is_rejected() -> None:
    """The largest value of an atom that depends on n, less 1: there is a text that has it. A smaller error of a rounded value."""
    model, certificate, judge = one_case(document_of(NAMES[0]))
    assert not judge(model, certificate)
    paths = [path for path in grown(certificate, "entries", "atoms") if path[-1] == 2 and path[-2] != "n"]
    assert len(paths) > 10
    for path in random.Random(0).sample(paths, 10):
        assert judge(model, tampered(certificate, path, "-1 + " + at(certificate, path))), path


def test_a_weight_of_another_octave_is_rejected() -> None:
    """Each weight that depends on n as half of it, or with n or a step of the format too much: one of these is seen to be wrong."""
    model, certificate, judge = one_case(document_of(NAMES[0]))
    paths = grown(model["rows"], "blocks")
    assert len(paths) > 5
    for path in paths:
        text = at(model["rows"], path)
        terms = [term.split("*") for term in text.split(" + ")]
        half = " + ".join("*".join((str(Fraction(c) / 2), *rest)) for c, *rest in terms)
        others = (half, f"1*$E^-4 + {text}", f"-1*$n + {text}")
        assert any(judge({**model, "rows": tampered(model["rows"], path, other)}, certificate) for other in others), (
            path
        )

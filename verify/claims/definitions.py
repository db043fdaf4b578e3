"""What sections 3 and A define: numbers, embeddings, decoding, and searches."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from constructions.engines import find_engine
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.models import MODELS
from constructions.models.search import FAILED, search
from precision.format import fixed_point
from precision.rounding import round_ratio
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Kind, Reading, claim, claims
from verify.oracles.counts import sequences
from verify.runs.costs import PRECISION
from verify.runs.istree_walks import every_graph


@claim(
    "A.2/nearest",
    source="appendix A.2",
    statement="ROUND(x, p) is the nearest element of R_p, where that is one, and a nearest one where two are equally near, "
    "for p = 5, 7 and every x of eighths of a step.",
)
def test_rounding_is_to_the_nearest(check: Check) -> None:
    def nearest(point: EighthsPoint) -> Counterexample | None:
        q = (point.p - 1) // 2
        elements = [Fraction(sign * bits, 2**q) for bits in range(2 ** (point.p - 1)) for sign in (1, -1)]
        value = Fraction(point.eighths, 8 * 2**q)
        found = round_ratio(point.eighths, 8, fixed_point(point.p)).quanta * Fraction(1, 2**q)
        least = min(abs(value - element) for element in elements)
        return None if abs(value - found) == least and found in elements else Counterexample(value=value, got=found)

    precisions, beyond = (5, 7), 3
    check.within("p = 5, 7")
    points = [
        EighthsPoint(p, e)
        for p in precisions
        for e in range(-8 * (2 ** (p - 1) + beyond), 8 * (2 ** (p - 1) + beyond) + 1)
    ]
    check.exhaustive(
        points,
        nearest,
        count=sum(16 * (2 ** (p - 1) + beyond) + 1 for p in precisions),
        range="every eighth of a step, three steps beyond the largest element too, p = 5, 7",
    )


@dataclass(frozen=True)
class EighthsPoint:
    """A number of eighths of a step of R_p."""

    p: int
    eighths: int


@claim(
    "A.2/integers",
    source="appendix A.2",
    statement="Z_p = Z ∩ R_p is the integers below 2^q, q = (p − 1)/2, and their negatives, for odd p from 5 to 13.",
)
def test_integers(check: Check) -> None:
    def as_many(p: int) -> Counterexample | None:
        q = (p - 1) // 2
        of_the_definition = {Fraction(sign * bits, 2**q) for bits in range(2 ** (p - 1)) for sign in (1, -1)}
        integers = {int(x) for x in of_the_definition if x.denominator == 1}
        return None if integers == set(range(1 - 2**q, 2**q)) else Counterexample(integers=len(integers))

    check.exhaustive([5, 7, 9, 11, 13], as_many, count=5, range="odd p from 5 to 13")


SPECIALS = ("<s>", "~", "YES", "NO", "<StartSearch>", "<EndSearch>")
ANSWERS = {"YES": 5, "NO": 6}  # the output head of appendix C.6.2
USED = {"~": 2, **ANSWERS}  # and the example beside the formula


OF_WORDS = (
    Claim(
        "3.2/special-words",
        "section 3.2, the word embedding",
        "The k-th special word embeds as w_(2 + k), also where the text uses one: ~ is w_2, YES is w_5, NO is w_6.",
        "printed",
        kind=Kind.SLIP,
        readings=(
            Reading("the example, ~ is w_2, beside the formula", False),
            Reading(
                "the formula alone, ~ is w_4",
                True,
                "3.2/special-words-formula",
                "the formula before the example, and YES and NO in appendix C.6.2",
            ),
        ),
    ),
    Claim(
        "3.2/special-words-formula",
        "section 3.2, the word embedding, and appendix C.6.2",
        "The k-th special word embeds as w_(2 + k): so YES is w_5 and NO is w_6, as the output head has it.",
        "printed",
    ),
)


@claims("used", (USED, ANSWERS), lambda used: OF_WORDS[used is ANSWERS])
def test_numbers_of_special_words(check: Check, used: Mapping[str, int]) -> None:
    def as_used(word: str) -> Counterexample | None:
        number = 2 + SPECIALS.index(word) + 1
        return (
            None if used.get(word, number) == number else Counterexample(by_the_formula=number, in_the_text=used[word])
        )

    check.exhaustive(SPECIALS, as_used, count=6, range="the special words in the order of section 3")


@claims(
    "name",
    ("transformer", "rag", "hybrid"),
    lambda name: Claim(
        f"A.4/{name}", "appendix A.4", f"Decoding until the first YES or NO ends, and says which: IsTree's {name}."
    ),
)
def test_decoding_ends(check: Check, name: str) -> None:
    chosen, sizes = MODELS[name], range(1, min(3, check.n_max) + 1)
    models = {n: chosen.build(n) for n in sizes}

    def one_verdict(graph: Graph) -> Counterexample | None:
        words = chosen.request(models[graph.n], graph).run(find_engine("auto")).produced[:]
        verdicts = [i for i, word in enumerate(words) if word in (PAPER.yes, PAPER.no)]
        return None if verdicts == [len(words) - 1] else Counterexample(words=" ".join(words))

    every_graph(check, sizes, one_verdict, "every labelled graph", kind="labelled", precision=PRECISION)


@dataclass(frozen=True)
class PatternText:
    """A pattern and a text."""

    pattern: str
    text: str


@claim(
    "A.5/group-or-failed",
    source="appendix A.5",
    statement="RETRIEVE returns the text of group 1, and FAILED where nothing matches or the group took no part in the match.",
    variant="printed",
)
def test_what_a_search_returns(check: Check) -> None:
    def text_or_failed(case: PatternText) -> Counterexample | None:
        match = re.search(case.pattern, case.text)
        found = FAILED if match is None or match.group(1) is None else match.group(1)
        shipped = search(case.pattern, case.text)
        shipped = FAILED if shipped is None else shipped
        return None if found == shipped else Counterexample(group=found, shipped=shipped)

    patterns = [a + b for a in ("(1)", "(2)") for b in ("", "1", "2", "|1", "|2")]
    texts = [" ".join(words) for length in range(3) for words in itertools.product("12", repeat=length)]
    check.exhaustive(
        (PatternText(pattern, text) for pattern in patterns for text in texts),
        text_or_failed,
        count=len(patterns) * sequences(2, 2),
        range="a group, alone, before a digit, or or'ed with one; texts of up to 2 words 1, 2",
    )

"""Single weights of a certified model that are changed: is each change refused, and how far may a weight move that is not?

A change that is still certified shows a *weight margin*: a weight that need not be what it is, as where a head's margin is larger
than needed. The interval in which the weight alone may move is found by bisection: the check certifies both ends, and not the next
step beyond them. Hard inputs are run with every change that is certified, and at both ends.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property

from constructions.layers import Transformer
from constructions.wiring.wired import Wired
from verify.algebra.domains import Refused, Undecided
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import automaton_of, families_of, wired_of
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN
from verify.certificates.hard_inputs import first_wrong, hard_inputs
from verify.certificates.mutants import (
    CHANGES,
    Place,
    describe_weight,
    mutant,
    places,
    sublayer_of,
    weight_at,
    with_weight,
)
from verify.certificates.recheck import is_same_function
from verify.dossiers.dossier import HardInput, Json, Subject
from verify.rounding.checker import Report, check
from verify.rounding.model import ExactModel, described, names_of_heads
from verify.rounding.rows import of_matrices

OTHER_FUNCTION = "another function"
Change = tuple[Place, str]
_Free = tuple[Fraction, Fraction, str]  # least and largest weight, and a hard input that an end answers wrongly


@dataclass(frozen=True)
class WeightMargin:
    """A change that is certified. weight: before. low, high: what this weight alone may be.

    wrong: a hard input that the changed model, or the one at an end of the interval, answers wrongly; "" if none does.
    """

    place: str
    change: str
    weight: Fraction
    low: Fraction
    high: Fraction
    wrong: str


@dataclass(frozen=True)
class MarginSurvey:
    """changes: how many there are; drawn: of these. verdicts: how many have each. margins: of the certified. inputs: hard ones,
    run.
    """

    changes: int
    drawn: int
    verdicts: Counter[str]
    margins: list[WeightMargin]
    inputs: int


@dataclass(frozen=True)
class Surveyor:
    """A construction's model, and what is said of it with other weights."""

    subject: Subject

    @cached_property
    def wired(self) -> Wired:
        """Returns the weights as matrices."""
        return wired_of(self.subject)

    @cached_property
    def _own(self) -> tuple[ExactModel, TokenAutomaton, Report]:
        wired, automaton = self.wired, automaton_of(self.subject)
        families = families_of(self.subject)
        model = described(
            wired.model, wired.arithmetic, wired.registers, wired.vocabulary, families, names_of_heads(wired.blocks)
        )
        return model, automaton, check(model, automaton)

    def _change(self, model: Transformer, block: int) -> ExactModel:
        """Returns one with this block of another model."""
        own, _, _ = self._own
        layers = [*own.layers]
        layers[block] = of_matrices(model.blocks[block])
        return replace(own, layers=tuple(layers))

    def verdict(self, model: Transformer, place: Place) -> str:
        """Returns what the check says first of a model that differs at this place; its ideal model must be the construction's."""
        own, automaton, report = self._own
        try:
            changed = self._change(model, place[0])
            same = is_same_function(changed, automaton, own, report, sublayer_of(place))
        except Undecided:
            return UNKNOWN
        except Refused:
            return REFUSED
        return CERTIFIED if same else OTHER_FUNCTION

    @cached_property
    def changes(self) -> list[Change]:
        """Every change of one weight; `moved` in a row of one entry is none."""
        model, step = self.wired.model, self.step
        original, _, _ = self._own
        every = itertools.product(places(model), CHANGES)
        return [
            (place, change)
            for place, change in every
            if change != "moved" or self._change(mutant(model, place, change, step), place[0]) != original
        ]

    @property
    def step(self) -> float:
        """2^−q."""
        return float(self.wired.arithmetic.format.quantum)

    def survey(self, count: int, seed: int, sample: int) -> MarginSurvey:
        """Makes so many changes, and runs so many hard inputs for those that are certified."""
        draws = random.Random(seed).sample(self.changes, min(count, len(self.changes)))
        inputs = hard_inputs(self.subject, self.wired, sample, seed)
        own, verdicts, margins, free = self.wired.model, Counter[str](), list[WeightMargin](), dict[Place, _Free]()
        for place, change in draws:
            model = mutant(own, place, change, self.step)
            verdict = self.verdict(model, place)
            verdicts[verdict] += 1
            if verdict == CERTIFIED:
                if place not in free:
                    free[place] = self._free(place, inputs)
                weight, (low, high, wrong) = Fraction(weight_at(own, place)), free[place]
                wrong = wrong or self._wrong(model, inputs)
                margins.append(WeightMargin(describe_weight(self.wired, place), change, weight, low, high, wrong))
        return MarginSurvey(len(self.changes), len(draws), verdicts, margins, len(inputs))

    def _free(self, place: Place, inputs: list[HardInput]) -> _Free:
        own, ends = self.wired.model, self.interval(place)
        moved = (with_weight(own, place, end) for end in ends if end != weight_at(own, place))
        low, high = map(Fraction, ends)
        return low, high, next(filter(None, (self._wrong(model, inputs) for model in moved)), "")

    def _wrong(self, model: Transformer, inputs: list[HardInput]) -> str:
        """Returns the first input that is answered wrongly; "" for none."""
        mismatch = first_wrong(self.wired, model, inputs)
        return mismatch[0].text if mismatch else ""

    def interval(self, place: Place) -> tuple[float, float]:
        """Returns the least and the largest number that this weight may be, as far as bisection tells."""
        return self._end(place, -1), self._end(place, 1)

    def _end(self, place: Place, side: int) -> float:
        model, weight, fmt = self.wired.model, weight_at(self.wired.model, place), self.wired.arithmetic.format
        most = int((float(fmt.max_value) - side * weight) / self.step)  # steps up to the last number

        def holds(steps: int) -> bool:
            changed = with_weight(model, place, weight + side * steps * self.step)
            return self.verdict(changed, place) == CERTIFIED

        near, far = 0, 1
        while far <= most and holds(far):
            near, far = far, 2 * far
        far = min(far, most + 1)
        while far - near > 1:
            middle = (near + far) // 2
            near, far = (middle, far) if holds(middle) else (near, middle)
        return weight + side * near * self.step


def document(survey: MarginSurvey) -> Json:
    """Returns the survey as data, numbers as strings."""
    return {
        "changes": survey.changes,
        "drawn": survey.drawn,
        "verdicts": dict(sorted(survey.verdicts.items())),
        "hard_inputs": survey.inputs,
        "slack": [{key: str(value) for key, value in asdict(item).items()} for item in survey.margins],
    }


def text(survey: MarginSurvey) -> str:
    """Returns the survey for people; changes of one weight in one line."""
    counts, certified = survey.verdicts, survey.verdicts[CERTIFIED]
    wrong = [item for item in survey.margins if item.wrong]
    lines = [
        f"{survey.drawn} of {survey.changes} changes of one weight ({', '.join(CHANGES)})",
        f"  not certified: {survey.drawn - certified} ({counts[REFUSED]} refused, {counts[OTHER_FUNCTION]} not seen to be the "
        f"same function, {counts[UNKNOWN]} cannot tell)",
        f"  certified: {certified}; {survey.inputs} hard inputs contradict {len(wrong) or 'none'} of them",
    ]
    for _, group in itertools.groupby(sorted(survey.margins, key=lambda item: item.place), key=lambda item: item.place):
        items = list(group)
        one, changes = items[0], ", ".join(item.change for item in items)
        lines.append(f"  {one.place}: {one.weight}; certified from {one.low} to {one.high}; {changes}")
    lines += [f"  contradicted, {item.place}, {item.change}: {item.wrong}" for item in wrong]
    return "\n".join(lines)

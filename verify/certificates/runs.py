"""What runs say where no rule does: every input of the smallest models, and hard inputs of a model that the checker cannot tell of.

A small model is certified if, on each of its inputs, the reference engine and the ideal model (ideal.py) give the tokens that the
task's oracle gives; how far its registers are apart is what was found. A hard input that is answered wrongly refuses any model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from constructions.engines.reference import ReferenceEngine, TokenStep
from constructions.layers import Matrix
from constructions.places import name_part, name_place
from constructions.wiring.wired import Wired
from verify.algebra.domains import Refuted
from verify.certificates.building import wired_of
from verify.certificates.hard_inputs import first_wrong, hard_inputs
from verify.certificates.ideal import IdealModel
from verify.dossiers.dossier import HardInput, Subject

HARD = 200  # inputs that are tried
LARGEST_RUN = 64  # n


@dataclass
class Exhausted:
    """Of all inputs: how many, what they are, and how far each register was from its ideal value at most, in steps."""

    inputs: int
    text: str
    errors: dict[str, Fraction] = field(default_factory=dict)


def is_small(subject: Subject) -> bool:
    """Returns whether all inputs of the model can be run: below the least n that the rules cover."""
    dossier = subject.dossier
    return (
        bool(dossier.every_input)
        and subject.n < dossier.least
        and (subject.length or 1) <= subject.n
        and not subject.printed
    )


def exhaust(subject: Subject) -> Exhausted:
    """Runs every input. Raises Refuted with the first that goes wrong."""
    wired = wired_of(subject)
    model = IdealModel(wired.model)
    result = Exhausted(0, subject.dossier.every_input.format(n=subject.n))
    for written in subject.dossier.every_text(subject, wired):
        _compare(wired, model, written, result)
        result.inputs += 1
    return result


def _compare(wired: Wired, model: IdealModel, written: Sequence[HardInput], result: Exhausted) -> None:
    """Compares one text. written: what the model itself writes in it, piece by piece, each after all that stands before."""
    tokens = written[-1].tokens
    due = {place: said for one in written for place, said in enumerate(one.answer, start=len(one.prompt) - 1)}
    engine, steps_of_one = (
        ReferenceEngine(wired.model, wired.arithmetic),
        1 << -wired.arithmetic.format.quantum_exponent,
    )
    steps = [engine.append(token) for token in tokens]
    exact, following = model.run(tokens)
    for place, expected in due.items():
        for who, said in (("the model", steps[place].next_token), ("the ideal model", following[place])):
            if said != expected:
                what = f"{wired.vocabulary[said]} after {place + 1} tokens, not {wired.vocabulary[expected]}"
                raise Refuted(written[0].text, f"{who} says {what}")
    for place, (mine, its) in enumerate(zip(steps, exact, strict=True)):
        # After the last block only what leads to an answer is read.
        layers = len(its) if place in due else len(its) - 2
        for row, exact_row in zip(mine.registers[:layers], its[:layers], strict=True):
            for name, value, right_value in zip(wired.registers, row, exact_row, strict=True):
                if value != (right := right_value * steps_of_one):
                    error = abs(Fraction(value) - right)
                    result.errors[name] = max(error, result.errors.get(name, Fraction(0)))


def refute(subject: Subject) -> None:
    """Raises Refuted if a hard input is answered wrongly: where the first tie of different values is, and that input.

    Models that are not asked so are run in exact arithmetic: Refuted names the first run that goes wrong.
    """
    dossier = subject.dossier
    if not dossier.least <= subject.n <= LARGEST_RUN or subject.length is not None:
        return
    if not dossier.judged_by_runs:
        if wrong := dossier.wrong_run(subject):
            raise Refuted("a run in exact arithmetic", wrong)
        return
    wired = wired_of(subject)
    inputs = hard_inputs(subject, wired, HARD, 0)
    mismatch = first_wrong(wired, wired.model, inputs)
    if mismatch is None:
        return
    one, place = mismatch
    said = f"on {one.text} token {place + 1} of the answer is not {wired.vocabulary[one.answer[place]]}"
    where, why = _first_tie(wired, (*one.prompt, *one.answer[:place]))
    raise Refuted(where, f"{why}; {said}" if why else said)


def _first_tie(wired: Wired, tokens: Sequence[int]) -> tuple[str, str]:
    """Returns the first head, block by block, of which a position reads several keys of different values; a count does not."""
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    steps = [engine.append(token) for token in tokens]
    for b, block in enumerate(wired.model.blocks):
        for h, head in enumerate(block.heads):
            for k, step in enumerate(steps, start=1):
                keys = [key for key, _ in step.attention[b][h]]
                for name, column in zip(_write(wired, head.out), head.value, strict=True):
                    contents = [_read(wired, steps[key - 1], b, column) for key in keys]
                    if len(set(contents)) > 1 and sorted(contents)[-2:] != [0, 1]:
                        values = ", ".join(map(str, contents))
                        what = (
                            f"position {k} reads {len(keys)} keys of equal score, whose values for {name} are {values}"
                        )
                        return name_place(b + 1, name_part("head", h + 1, wired.blocks[b].heads[h].name)), what
    return "the output head", ""


def _write(wired: Wired, out: Matrix) -> list[str]:
    return [wired.registers[int(column.nonzero()[0][0])] for column in out.T]


def _read(wired: Wired, step: TokenStep, block: int, row: Matrix) -> Fraction:
    quantum = wired.arithmetic.format.quantum
    registers = step.registers[2 * block]
    return sum((Fraction(float(row[i])) * registers[i] * quantum for i in row.nonzero()[0]), Fraction(0))

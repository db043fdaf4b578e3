"""What a certificate says, held against a run; and whether a run is one that it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constructions.engines.reference import ReferenceEngine
from constructions.wiring.wired import Wired
from tests.verify.certificates.points import contents
from verify.automata.language import Language, State
from verify.certificates.ideal import IdealModel
from verify.rounding.checker import Report
from verify.rounding.kinds import Kind


def accepted(language: Language, words: Sequence[str]) -> bool:
    """Whether the words are a text of the language, whatever the numbers."""
    now, known = {0}, {one.word for one in language.places}
    for position, word in enumerate(words[1:], start=2):
        now = {
            i
            for i, place in enumerate(language.places)
            if now & set(place.after)
            and language.range(place.low)[0] <= position <= language.range(place.high)[1]
            and (place.word == word or (not place.word and word not in known))
        }
    return bool(now)


def contradictions(wired: Wired, report: Report, tokens: Sequence[int], answers: set[int]) -> list[str]:
    """Where a run is not as certified. answers: 1-based positions at which the last block counts."""
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    steps = [engine.append(token) for token in tokens]
    exact, following = IdealModel(wired.model).run(tokens)
    step = wired.arithmetic.format.quantum
    found = []
    blocks = len(wired.model.blocks)
    for k, (mine, his) in enumerate(zip(steps, exact, strict=True), start=1):
        counted = 2 * blocks + 1 if k in answers else 2 * blocks - 1
        for layer in range(counted):
            for i, name in enumerate(wired.registers):
                value = mine.registers[layer][i] * step
                if abs(value - his[layer][i]) > report.errors.get(name, 0) * step:
                    found.append(f"position {k}, layer {layer}, {name}: {value}, ideally {his[layer][i]}")
                if layer and layer % 2 == 0 and (layer // 2 - 1, name) in report.ranges:
                    low, high = report.ranges[layer // 2 - 1, name]
                    if not low <= value <= high:
                        found.append(f"position {k}, layer {layer}, {name}: {value} is not in [{low}, {high}]")
        if k in answers and mine.next_token != following[k - 1]:
            found.append(f"position {k}: says {mine.next_token}, ideally {following[k - 1]}")
    return found


def lost(
    wired: Wired, report: Report, texts: Iterable[Sequence[tuple[int, State]]], answers: frozenset[State]
) -> list[str]:
    """Positions of texts, tokens and their states, that no kind behind a block has with what is read of them there.

    In both readings; in the format that `points` rounds to.
    """
    behind: dict[tuple[int, State], tuple[list[Kind], list[int]]] = {}
    for block, kind, live in report.behind:
        behind.setdefault((block, kind.state), ([], sorted(live)))[0].append(kind)
    held = {where: (contents(kinds, live), live) for where, (kinds, live) in behind.items()}
    n, step, blocks, found = 4, wired.arithmetic.format.quantum, len(wired.model.blocks), []
    for text in texts:
        tokens, engine = [token for token, _ in text], ReferenceEngine(wired.model, wired.arithmetic)
        steps, (exact, _) = [engine.append(token) for token in tokens], IdealModel(wired.model).run(tokens)
        for k, (mine, his, (_, state)) in enumerate(zip(steps, exact, text, strict=True), start=1):
            for block in range(blocks if state in answers else blocks - 1):
                known, live = held.get((block, state), (set(), []))
                rows = mine.registers[2 * block + 2], his[2 * block + 2]
                if ((k, k), (n, n), *((rows[0][i] * step, rows[1][i]) for i in live)) not in known:
                    found.append(f"position {k}, block {block + 1}, {state}: {tokens}")
    return found

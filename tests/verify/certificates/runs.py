"""What a certificate says, held against a run; and whether a run is one that it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constructions.engines.reference import ReferenceEngine
from constructions.wiring.wired import Wired
from tests.verify.rounding.points import contents
from verify.automata.token_automaton import Label, TokenAutomaton
from verify.certificates.ideal import IdealModel
from verify.rounding.abstract_state import AbstractState
from verify.rounding.checker import Report


def accepted(automaton: TokenAutomaton, words: Sequence[str]) -> bool:
    """Whether the words are a text of the language, whatever the numbers."""
    now, known = {0}, {one.word for one in automaton.states}
    for position, word in enumerate(words[1:], start=2):
        now = {
            i
            for i, state in enumerate(automaton.states)
            if now & set(state.after)
            and automaton.range(state.low)[0] <= position <= automaton.range(state.high)[1]
            and (state.word == word or (not state.word and word not in known))
        }
    return bool(now)


def contradictions(wired: Wired, report: Report, tokens: Sequence[int], answers: set[int]) -> list[str]:
    """Where a run is not as certified. answers: 1-based positions at which the last block counts."""
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    steps = [engine.append(token) for token in tokens]
    exact, following = IdealModel(wired.model).run(tokens)
    step = wired.arithmetic.format.quantum
    result = []
    blocks = len(wired.model.blocks)
    for k, (mine, his) in enumerate(zip(steps, exact, strict=True), start=1):
        counted = 2 * blocks + 1 if k in answers else 2 * blocks - 1
        for layer in range(counted):
            for i, name in enumerate(wired.registers):
                value = mine.registers[layer][i] * step
                if abs(value - his[layer][i]) > report.errors.get(name, 0) * step:
                    result.append(f"position {k}, layer {layer}, {name}: {value}, ideally {his[layer][i]}")
                if layer and layer % 2 == 0 and (layer // 2 - 1, name) in report.ranges:
                    low, high = report.ranges[layer // 2 - 1, name]
                    if not low <= value <= high:
                        result.append(f"position {k}, layer {layer}, {name}: {value} is not in [{low}, {high}]")
        if k in answers and mine.next_token != following[k - 1]:
            result.append(f"position {k}: says {mine.next_token}, ideally {following[k - 1]}")
    return result


def lost(
    wired: Wired, report: Report, texts: Iterable[Sequence[tuple[int, Label]]], answers: frozenset[Label]
) -> list[str]:
    """Positions of texts, tokens and their states, that no abstract state after a block has with what is read there.

    In both readings; in the format that `points` rounds to.
    """
    behind: dict[tuple[int, Label], tuple[list[AbstractState], list[int]]] = {}
    for block, state, live in report.behind:
        behind.setdefault((block, state.label), ([], sorted(live)))[0].append(state)
    held = {where: (contents(states, live), live) for where, (states, live) in behind.items()}
    n, step, blocks, result = 4, wired.arithmetic.format.quantum, len(wired.model.blocks), []
    for text in texts:
        tokens, engine = [token for token, _ in text], ReferenceEngine(wired.model, wired.arithmetic)
        steps, (exact, _) = [engine.append(token) for token in tokens], IdealModel(wired.model).run(tokens)
        for k, (mine, his, (_, label)) in enumerate(zip(steps, exact, text, strict=True), start=1):
            for block in range(blocks if label in answers else blocks - 1):
                known, live = held.get((block, label), (set(), []))
                rows = mine.registers[2 * block + 2], his[2 * block + 2]
                if ((k, k), (n, n), *((rows[0][i] * step, rows[1][i]) for i in live)) not in known:
                    result.append(f"position {k}, block {block + 1}, {label}: {tokens}")
    return result

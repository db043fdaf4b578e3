"""A Turing machine's text, word by word as `verify.programs.machines` defines it, is the machine's run, for every word on its tape.

The text is <s>, the word, and behind it what is said behind the words before, five words a step. P is the prompt's last position,
and k that of the last word of t steps. Behind these, the machine is where the directions have led (`head-there`), in the state
that was written last (`state-there`), and in each cell is what its last record has left, or the blank (`records`). What comes next
is a step from there by the machine's rules, or HALT where the state has none (`halts-rightly`). Cells are −n … n, for n > t.

What is tracked from step to step, `head`, `state` and `tape`, starts as the machine does and changes by its rules: so a machine is
defined. `last` exists, as one of some positions is the last. Argued, and checked by no solver, is the induction over steps itself.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from constructions.turing.machine import LETTERS, Machine
from constructions.turing.tape_models import HALT, TO_LEFT, TO_RIGHT, TaskOfAnySize
from verify.certificates.symbolic import symbol
from verify.induction.theory import Theory
from verify.induction.translation import Translation
from verify.programs.forms import read_alone
from verify.programs.machines import LEFTWARD, RIGHTWARD, WORDS, Step
from verify.programs.terms import ONE, Count, Matching, Pick, as_term

KINDS = {TO_RIGHT: "4", TO_LEFT: "5"}


def theory(machine: Machine, step: Step | None = None) -> Theory:
    """All lemmas on this machine. step: another definition, of which they need not follow."""
    step = step or Step(TaskOfAnySize(machine, symbol(2, 2**64), ""))
    words = translation(step)

    def said(written: int, number: Callable[[str], str], word: Callable[[str], str]) -> str:
        """What is said behind so many words of a step; behind none, the first word of one."""
        answer = step.says(written) if written else step.begins
        assert answer is not None
        at = "k" if written in (0, WORDS) else f"(+ k {written})"
        return words.said(answer, at, number, word)

    terms = {
        f"says-{name} () Int": said(written, lambda value: value, lambda word: "0")
        for written, name in enumerate(("cell", "symbol", "again", "state"))
    }
    terms["says-arrow () Int"] = said(4, lambda value: "0", KINDS.__getitem__)
    terms["halts () Bool"] = said(WORDS, lambda value: "false", lambda word: str(word == HALT).lower())
    macros = [f"(define-fun {name} {body})" for name, body in terms.items()]
    made = Theory({"machine": _table(machine), "defined-terms": "\n".join([*words.lines, *macros])})
    made.add(resources.files(__package__).joinpath("turing.smt2").read_text(encoding="utf-8"))
    return made


def translation(step: Step) -> Translation:
    """The terms of the definition, with the names by which the text calls their functions."""
    words = Translation(functions={arrow: f"|is {arrow.word}|" for arrow in (RIGHTWARD, LEFTWARD)})
    for arrow, name in ((RIGHTWARD, "rights"), (LEFTWARD, "lefts")):
        words.counted(Count(Matching(((as_term(arrow), ONE),))), name)
    words.value(step.head, "k")
    words.value(step.place, "k")
    words.value(step.left, "k")
    found = read_alone(step.read(1))
    assert found is not None
    assert isinstance(found.where, Pick)
    words.picked(found.where, "read-at")
    return words


def _table(machine: Machine) -> str:
    """The machine's rules, as it is defined: rule by rule."""
    states, symbols = len(machine.states), machine.symbols
    lines = [f"(define-fun {name} () Int {count})" for name, count in (("B", states), ("K", symbols))]
    lines += [f"(declare-fun {name} (Int Int) Int)" for name in ("writes", "enters", "moves")]
    rules = []
    for s, letter in enumerate(machine.states):
        for x in range(symbols):
            rule = machine.rule(letter, x)
            move = str(rule.move) if rule.move > 0 else f"(- {-rule.move})"
            rules.append(
                f"(= (writes {s} {x}) {rule.write}) (= (enters {s} {x}) {LETTERS.index(rule.state)}) (= (moves {s} {x}) {move})"
            )
    return "\n".join([*lines, f"(axiom table (and {' '.join(rules)}))"])

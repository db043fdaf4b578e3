"""A Turing machine's text, word by word as `turing.steps` defines it, is the machine's run, for every word on its tape.

The text is <s>, the word, and after it what is said behind the words before, five words a step (by_head.smt2). Of a model that
searches (by_search.smt2) it is the word once more, cell by cell, and in front of the five words a search for the head's cell and
what it finds, as that is defined. P is the position of the last word before the steps, and k that of the last word of t steps.
After these, the machine is where the directions have led (`head-there`), in the state that was written last (`state-there`), and
in each cell is what its last record has left, or the blank (`records`). What comes next is a step from there by the machine's
rules, or HALT where the state has none (`halts-rightly`). Cells are −n … n, for n > t.

What is tracked from step to step, `head`, `state` and `tape`, starts as the machine does and changes by its rules: so a machine is
defined. `last` exists, as one of some positions is the last. Argued, and checked by no solver, is the induction over steps itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from constructions.language.terms import ONE, Answer, Count, If, IsWord, Matching, as_term
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from constructions.turing.base import HALT
from constructions.turing.machine import LETTERS, Machine
from constructions.turing.rag import COPY, PLACE, tape_search
from constructions.turing.tape_models import CELL, STATE, SYMBOL, TO_LEFT, TO_RIGHT, AnyTapeTask
from verify.algebra.interval import symbol
from verify.dossiers.turing.steps import LEFTWARD, RIGHTWARD, WORDS, MachineStep, SearchedStep
from verify.induction import theory as theories
from verify.induction.theory import Theory
from verify.induction.translation import Translation, apply, head


def text_of(name: str) -> str:
    """Returns the text NAME.smt2 beside this file."""
    return theories.text_of(name, __name__.rpartition(".")[0])


NUMBERS, ASKS = (CELL, SYMBOL, STATE, PLACE), tape_search(frozenset())
TOLD = (CELL, SYMBOL, STATE, TO_RIGHT, TO_LEFT, PLACE, FAILED, END_SEARCH)  # that terms tell apart, kinds 1 to 8
KINDS = {name: i for i, name in enumerate((*TOLD, START_SEARCH, ASKS.before, ASKS.between, ASKS.behind), start=1)}
STEPS: dict[str, type[MachineStep]] = {"hybrid": MachineStep, "rag": SearchedStep}


def theory(machine: Machine, model: str = "hybrid", step: MachineStep | None = None) -> Theory:
    """Returns all lemmas on this machine. step: another definition, of which they need not follow."""
    step = step or STEPS[model](AnyTapeTask(machine, symbol(2, 2**64), ""))
    if not _begins_alike(step):
        raise ValueError("a step begins with another word than the lemmas are on")
    words = translation(step)

    def answer_cases(written: int, number: Callable[[str], str], word: Callable[[str], str]) -> str:
        """Returns what is said after so many of the five words of a step; after none, the first one."""
        answer = step.says(written) if written else step.to_head
        if answer is None:
            raise TypeError("there is no answer")
        return words.answer_cases(answer, "k" if written == WORDS else f"(+ k S {written})", number, word)

    terms = {
        f"says-{name} () Int": answer_cases(written, lambda value: value, lambda word: "0")
        for written, name in enumerate(("cell", "symbol", "again", "state"))
    }
    terms["says-arrow () Int"] = answer_cases(4, lambda value: "0", lambda word: str(KINDS[word]))
    terms["halts () Bool"] = answer_cases(WORDS, lambda value: "false", lambda word: str(word == HALT).lower())
    terms = _searches(words, step) | terms
    lemmas = Theory(
        {
            "kinds": "\n".join(
                [f"(define-fun {_is(name)} ((j Int)) Bool (= (kind j) {KINDS[name]}))" for name in TOLD]
                + [f"(declare-fun |number {family}| (Int) Int)" for family in NUMBERS]
            ),
            "machine": table(machine),
            "defined-terms": "\n".join(
                [*words.lines, *(f"(define-fun {name} {body})" for name, body in terms.items())]
            ),
            "reads": text_of("by_search" if isinstance(step, SearchedStep) else "by_head"),
        }
    )
    lemmas.add(text_of("turing"))
    lemmas.runs = ("verify.dossiers.turing.runs.machine", model, machine)
    return lemmas


def _begins_alike(step: MachineStep) -> bool:
    """Returns whether after a step that does not halt, and a copy, is said what begins a step; and the head's cell, or after a
    search.
    """
    ends = step.says(WORDS)
    begins = [ends.otherwise if isinstance(ends, If) else ends]
    if isinstance(step, SearchedStep):
        return [*begins, step.copies(COPY), step.says(0)] == [step.begins, step.begins, step.to_head]
    return [*begins, step.begins] == [step.to_head, step.to_head]


def translation(step: MachineStep) -> Translation:
    """Returns the terms of the definition, with the names by which the text calls their functions."""
    words = Translation(functions={IsWord(word): _is(word) for word in TOLD if word not in NUMBERS})
    for arrow, name in ((RIGHTWARD, "rights"), (LEFTWARD, "lefts")):
        words.count_function(Count(Matching(((as_term(arrow), ONE),))), name)
    words.value(step.head, "k")
    if isinstance(step, SearchedStep):
        words.value(step.record, "k")
        words.value(step.of_word, "k")
        words.picked(head(step.in_word), "in-word-at")
        words.picked(head(step.in_cell), "read-at")
    else:
        words.value(step.place, "k")
        words.value(step.left, "k")
        words.picked(head(step.read(1)), "read-at")
    return words


def _searches(words: Translation, step: MachineStep) -> dict[str, str]:
    """Macros: how many words there are before the first step, and in one; and what a search is, and a copy of one cell of the word,
    up to what is found and after it, as formulas of the position before.
    """
    if not isinstance(step, SearchedStep):
        return {"P () Int": "(+ L 1)", "S () Int": "0", "W () Int": str(WORDS), "searched ((k Int)) Bool": "true"}
    search = [step.begins, *map(step.says, range(1 - step.searched, -1)), step.finds(step.in_cell)]
    copy = [step.begins, *map(step.copies, range(1, 3)), step.finds(step.in_word), *map(step.copies, range(4, COPY))]
    return {
        "P () Int": f"(+ (* {1 + COPY} L) 5)",
        "S () Int": str(step.searched),
        "W () Int": str(step.searched + WORDS),
        "searched ((k Int)) Bool": _stand(words, search),
        "copy-sought ((k Int)) Bool": _stand(words, copy[:4]),
        "copy-written ((k Int)) Bool": _stand(words, copy[4:], 4),
    }


def _stand(words: Translation, answers: Sequence[Answer | None], behind: int = 0) -> str:
    """States that these words stand one after the other, from so many words after k on, each as it is due after those before."""
    due = [(answer, f"(+ k {i})", f"(+ k {i + 1})") for i, answer in enumerate(answers, start=behind) if answer]
    return apply("and", *(words.stands(*where, _stands) for where in due))


def _stands(word: str, there: str) -> str:
    """States that this word stands there."""
    return f"(= (kind {there}) {KINDS[word]})"


def _is(name: str) -> str:
    """Returns the predicate that tells where this word stands, or a number of this family."""
    return f"|is {'a ' * (name in NUMBERS)}{name}|"


def table(machine: Machine, letters: str = LETTERS) -> str:
    """Returns the machine's rules, as it is defined: rule by rule. letters: of the states, by their numbers."""
    states, symbols = len(machine.states), machine.symbols
    lines = [f"(define-fun {name} () Int {count})" for name, count in (("B", states), ("K", symbols))]
    lines += [f"(declare-fun {name} (Int Int) Int)" for name in ("writes", "enters", "moves")]
    rules = []
    for s, letter in enumerate(machine.states):
        for x in range(symbols):
            rule = machine.rule(letter, x)
            move = str(rule.move) if rule.move > 0 else f"(- {-rule.move})"
            rules.append(
                f"(= (writes {s} {x}) {rule.write}) (= (enters {s} {x}) {letters.index(rule.state)}) (= (moves {s} {x}) {move})"
            )
    return "\n".join([*lines, f"(axiom table (and {' '.join(rules)}))"])

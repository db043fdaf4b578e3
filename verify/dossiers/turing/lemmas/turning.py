"""A Turing machine's configurations, word by word as `turing.turning` defines it, are the machine's run, for every word on
its tape, every number m of cells and of steps; and what leaves the queue is what entered it m tokens before.

e is the position where a configuration ends. After it all words are those that the definition says: the next configuration's
(`goes-on`), or those up to the head that would leave the space (`leaves`). Then the cells in front of e are the machine's (`row`):
its state and the symbol under it where its head is, the symbol where the head or the word has been, and `_` elsewhere, which is
blank. HALT is said after them if the state has no row, and not otherwise (`halts-rightly`), and OUT where the head would leave the
space (`out`), in no configuration.

What is tracked from one to the next, `head`, `state`, `tape` and `seen`, starts as the machine does and changes by its rules: so a
machine on m cells is defined. Of a text whose words are as said (`as-said`), `leaving` is a token's digit after the prompt, and
`later-digit` at j is that of the word which is due after j + m − 1; so the invariant 4.1/invariant-queue holds (`queue`) of
registers that hold these, which is for `verify.explain` to say. Argued, and checked by no solver, is the induction over
configurations itself; and of the queue, that the words are as said because it holds up to each of them.
"""

from __future__ import annotations

from constructions.language.terms import Above, Answer, If, IsWord, Say, SayNumber, as_term
from constructions.turing.configurations import BLANK, CELL, HALTED, HEAD, OUTSIDE, RUN, START, TURN, Code
from constructions.turing.machine import Machine
from verify.dossiers.turing.lemmas.machine import table, text_of
from verify.dossiers.turing.turning import HAS_BEGUN, HAS_HALTED, Later, leaving
from verify.induction.theory import Theory
from verify.induction.translation import Translation, each

KINDS = {BLANK: 1, CELL: 2, HEAD: 3, HALTED: 4, TURN: 5, OUTSIDE: 6}


def theory(machine: Machine, later: Later | None = None) -> Theory:
    """Returns all lemmas on this machine. later: another definition, of which they need not follow."""
    code = Code(machine)
    later = later or Later(code)
    words = translation()
    constants = {"FIRST": code.first_head, "A": len(code.letters), "T": code.turn, "OUTSIDE": code.outside}
    functions = {
        "later-kind": words.answer_cases(_kinds(later.said), "j", str, lambda kind: str(KINDS[kind])),
        "later-digit": words.answer_cases(later.said, "j", str, str),
    }
    for name, value in functions.items():
        words.lines.append(f"(declare-fun {name} (Int) Int)")
        words.lines.append(f"(axiom {name} {each('j', f'(= ({name} j) {value})', f'({name} j)')})")
    macros = {
        "leaving ((j Int)) Int": words.value(leaving(code), "j"),
        "halts () Bool": words.holds(as_term(Above(as_term(HAS_HALTED))), "e"),
    }
    numbers = [f"(define-fun {name} () Int {number})" for name, number in constants.items()]
    terms = [*words.lines, *(f"(define-fun {name} {body})" for name, body in macros.items())]
    lemmas = Theory({"machine": "\n".join([table(machine, code.letters), *numbers]), "defined-terms": "\n".join(terms)})
    lemmas.add(text_of("turning"))
    lemmas.runs = ("verify.dossiers.turing.runs.turning", machine)
    return lemmas


def translation() -> Translation:
    """Returns the terms of the definition, with the names by which the text calls their functions."""
    words = Translation(functions={IsWord(word): f"|is {word}|" for word in (START, RUN)})
    words.count_function(HAS_HALTED, "halted")
    words.count_function(HAS_BEGUN, "runs")
    return words


def _kinds(answer: Answer) -> Answer:
    """Returns the family of the number that is said."""
    match answer:
        case If(bit, then, otherwise):
            return If(bit, _kinds(then), _kinds(otherwise))
        case SayNumber(_, family):
            return Say(family)
    return answer

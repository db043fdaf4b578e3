"""IsTree's search in frames, as the hybrid says it word by word, ends with YES if and only if the graph is a tree, for every n.

The text is a prompt of n − 1 edges, loops and repetitions among them, and after it frames whose words are those that are due by
`verify.dossiers.istree.frames`, each after the ones before. P is the prompt's last position, k that of a frame's last word. There:
  what is found after the base is the next record of the frame's vertex (found-after), and none is left once the target is far
  enough (none-after); so a word is due at k (decision), and at each place of the frame after it (frame-down, frame-up, …);
  these frames are a depth-first walk (walk.smt2): they go down along the next record of the vertex, pass over it if it leads to
  the father, or go up, and the base is the last record that the walk took at the vertex, or 1 (the invariants);
  they are no more words than the model is wired for (length.smt2), so there is a last one, and what it answers is right
  (answers.smt2).
After a prompt of any other length the answer is NO at once (other-prompts), and a tree has n − 1 edges.

What is introduced exists, as in search.py; `gone-to` and `passed-to` count edges that the walk took from either end. What a person
argues and no solver checks is the induction over frames itself, and, as in search.py, what ranks and closed sets say of cycles and
of connected graphs.
"""

from __future__ import annotations

from collections.abc import Sequence

from constructions.istree.hybrid import DOWN, FURTHER, JOINT, NO, PASS, PLACE, UP, VERTEX, YES
from constructions.language.interpreter import ANYTHING
from constructions.language.terms import ONE, Answer, Count, IsWord, Matching, Pick
from verify.algebra.interval import symbol
from verify.automata.token_automaton import Label
from verify.dossiers.istree.frames import HERE, OTHER, OWN, THERE, Frames, nearest_record
from verify.dossiers.istree.lemmas.search import PARTS, text_of
from verify.dossiers.istree.texts import FIRST_FRAME, FRAME, SECOND
from verify.induction.theory import Theory
from verify.induction.translation import Translation, apply, head
from verify.programs.shorthand import back, word

N = symbol(2, 2**64)
# What the texts call a frame's mark, and that the frame stands after k.
NAMES = {
    DOWN: ("down", "goes-down"),
    UP: ("up", "goes-up"),
    PASS: ("pass", "passes"),
    FURTHER: ("further", "looks-further"),
}
KINDS = (JOINT, *NAMES, f"a {VERTEX}", f"a {PLACE}")


def theory(frames: Frames) -> Theory:
    """Returns all lemmas on these frames, of size N."""
    words = translation(frames)
    values = {"downs": words.value(frames.downs, "k"), "father": words.value(frames.father(back(HERE, 2)), "k")}
    macros = [f"(define-fun {name} ((k Int)) Int {value})" for name, value in values.items()]
    bits = {"refuses ((k Int))": _says(words, frames.due[SECOND], "k", NO)}
    said = {"leaves-open": ANYTHING, "answers-yes": YES, "answers-no": NO}
    said |= {f"says-{name}": mark for mark, (name, _) in NAMES.items()}
    bits |= {f"{name} ()": _says(words, frames.decision, "k", word) for name, word in said.items()}
    bits |= _frame(words, "first", "begins", [], [frames.due[SECOND], *_words(frames, FIRST_FRAME)], "(- k 3)")
    for mark, (name, whole) in NAMES.items():
        before = [f"says-{name}", f"(|is {mark}| (+ k 1))"]
        bits |= _frame(words, name, whole, before, _words(frames, Label(FRAME, mark)), "(+ k 1)")
    macros += [f"(define-fun {name} Bool {value})" for name, value in bits.items()]
    kinds = [f"(define-fun |is {kind}| ((j Int)) Bool (= (kind j) {i}))" for i, kind in enumerate(KINDS)]
    lemmas = Theory(
        {
            **PARTS,
            "length": text_of("length"),
            "kinds": "\n".join(kinds),
            "defined-terms": "\n".join([*words.lines, *macros]),
        }
    )
    lemmas.add(text_of("frames"))
    lemmas.runs = ("verify.dossiers.istree.runs.frames",)
    return lemmas


def translation(frames: Frames) -> Translation:
    """Returns the terms of a frame, with the names by which the texts call their functions."""
    words = Translation(functions={IsWord(said): f"|is {said}|" for said in (JOINT, *NAMES)})
    for record in (OWN, OTHER):
        words.value(record, "k")
    words.closest(nearest_record(back(HERE, 2), THERE), "found-at")
    words.closest(nearest_record(HERE, back(THERE, 2)), "again-at")
    words.picked(head(frames.father(back(HERE, 2))), "father-at")
    words.picked(head(frames.father(HERE)), "first-at")
    words.picked(Pick(Matching(((OWN, HERE), (OTHER, back(HERE, 1))))), "up-at")
    words.count_function(Count(Matching(((word(DOWN), ONE),))), "downs-to")
    return words


def _words(frames: Frames, frame: Label) -> list[Answer]:
    """Returns what is due in a frame, after its mark, up to its last word; after that is the decision."""
    *answers, last = (answer for label, answer in frames.due.items() if label.piece == frame)
    if last != frames.decision:
        raise ValueError(f"the last word of {frame} is not the decision")
    return answers


def _frame(
    words: Translation, name: str, whole: str, before: Sequence[str], answers: Sequence[Answer], start: str
) -> dict[str, str]:
    """Defines bits for words that are due one after the other, the first one after `start`, if the facts in `before` hold.

    whole: they all stand there, and none is a verdict; what is left open may be any token.
    NAME-open: up to one that is left open; NAME-ends: up to a NO.
    """
    parts, opened, ended = [*before], list[str](), list[str]()
    for i, answer in enumerate(answers):
        at, there = f"(+ {start} {i})", f"(+ {start} {i + 1})"
        opened.append(apply("and", *parts, _says(words, answer, at, ANYTHING)))
        ended.append(apply("and", *parts, _says(words, answer, at, NO)))
        parts.append(words.stands(answer, at, there, lambda word, _: str(word == ANYTHING).lower()))
    return {
        f"{name}-open ()": apply("or", *opened),
        f"{name}-ends ()": apply("or", *ended),
        f"{whole} ()": apply("and", *parts),
    }


def _says(words: Translation, answer: Answer, at: str, said: str) -> str:
    """Returns whether it is this word."""
    return words.answer_cases(answer, at, lambda _: "false", lambda word: "true" if word == said else "false")

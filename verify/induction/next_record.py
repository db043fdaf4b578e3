"""In the hybrid's search in frames, the frames of one base find the next record of the vertex behind it, for every n from 2 on.

The text is a prompt of n − 1 edges, loops and repetitions among them, and frames behind it, as defined in `verify.programs.frames`.
A base of v is 1 or a record of v, and the target one behind it. Then at this frame's end, and at that of each `>` behind it:
  if the search goes on along an edge, `-` or `/`, that is the next record of v behind the base (lemma follows): behind `- v` its
  other end is said, behind `/ v` its position (goes-down, passes);
  if it goes up or ends, v has no record behind the base (over);
  a word is due, as long as the search has not gone down more than n − 1 times (decided, has-a-word, goes-down, one-behind);
  else it looks twice as far from the base (frame), which is once more than log2 3n at most.
"""

from __future__ import annotations

from functools import partial
from importlib import resources

from constructions.istree.hybrid import DOWN, FURTHER, NO, PASS, UP, YES
from verify.certificates.symbolic import symbol
from verify.induction.theory import Theory
from verify.induction.translation import Translation
from verify.programs.frames import HERE, OTHER, OWN, THERE, Frames, nearest_record
from verify.programs.interpreter import ANYTHING
from verify.programs.shorthand import back
from verify.programs.terms import Answer

N = symbol(2, 2**64)


def theory(frames: Frames) -> Theory:
    """All lemmas on these frames, of size N."""
    words = translation(frames)
    number = partial(words.said, number=str, word=lambda _: "0")

    def says(answer: Answer, at: str, *among: str) -> str:
        return words.said(answer, at, lambda _: "false", lambda word: "true" if word in among else "false")

    twice, target = frames.due[f"a frame {FURTHER}, 3"], frames.new_base[0]
    macros = {
        "downs () Int": words.value(frames.downs, "k"),
        "leaves-open () Bool": says(frames.decision, "k", ANYTHING),
        "follows-edge () Bool": says(frames.decision, "k", DOWN, PASS),
        "looks-further () Bool": says(frames.decision, "k", FURTHER),
        "is-over () Bool": says(frames.decision, "k", UP, YES, NO),
        "new-target () Int": number(target, "(- k 1)"),
        "new-target-open () Bool": says(target, "(- k 1)", ANYTHING),
        "again () Int": number(frames.due[f"a frame {FURTHER}, 1"], "(+ k 1)"),
        "same-base () Int": number(frames.due[f"a frame {FURTHER}, 2"], "(+ k 2)"),
        "twice-as-far () Int": number(twice, "(+ k 3)"),
        "target-open () Bool": says(twice, "(+ k 3)", ANYTHING),
        "next-vertex () Int": number(frames.next_vertex, "(+ k 2)"),
        "vertex-open () Bool": says(frames.next_vertex, "(+ k 2)", ANYTHING),
        "passed () Int": number(frames.edge_passed, "(+ k 2)"),
    }
    terms = [*words.lines, *(f"(define-fun {declared} {value})" for declared, value in macros.items())]
    made = Theory({"defined-terms": "\n".join(terms)})
    made.add(resources.files(__package__).joinpath("next_record.smt2").read_text(encoding="utf-8"))
    return made


def translation(frames: Frames) -> Translation:
    """The terms of a frame, with the names by which the text calls their functions."""
    words = Translation()
    for record in (OWN, OTHER):
        words.value(record, "k")
    words.closest(nearest_record(back(HERE, 2), THERE), "found-at")
    words.closest(nearest_record(HERE, back(THERE, 2)), "again-at")
    words.said(frames.decision, "k", str, str)
    return words

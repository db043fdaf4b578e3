"""Algorithm 1's search, as the steps that IsTree says one by one, ends with YES if and only if the graph is a tree, for every n.

The text is a prompt of n − 1 edges, none of them a loop and none twice, and behind it what the defined step of
`verify.programs.searches` says, word by word. P is the prompt's last position, k one behind it, c the vertex there, `back` the one
before, −1 at the first. An edge a ~ b has a record at b and one at the token behind: `own` is b, then a, and `other` the other end.

The functions that are introduced exist, and so do the values that are tracked from step to step:
  next      the first record of a vertex behind a position, or 0                (one of some integers is the least)
  visit     where a vertex is first said, or 0; `up` is the vertex before it     (the same)
  rec       the record of two neighbours, or 0                                   (lemma no-record-twice)
  depth     of a vertex below the root, by recursion over `up`                   (lemma seen-fathers)
  path, walked, count   is a vertex on the way from c to the root; the last of its records that the search took; how many are seen

A tree is a connected graph of n − 1 edges. What a person argues and no solver checks:
  the induction over positions itself;
  `count` is how many vertices are seen: one at first, one more in a step down (lemma seen-down), else as before (lemma seen-up).
  So it is at most n (lemma seen-are-vertices), and n if all are seen and only then;
  n edges that differ are not among n − 1; and in a connected graph, a vertex not seen has a neighbour nearer to those that are.
"""

from __future__ import annotations

from importlib import resources

from constructions.istree.graphs import PAPER
from verify.certificates.symbolic import symbol
from verify.induction.theory import Theory
from verify.induction.translation import Translation
from verify.programs.searches import _ByNeighbours, definition
from verify.programs.terms import Answer, Matching, Pick, Term, read_alone


def theory(step: Answer | None = None) -> Theory:
    """All lemmas. step: what is said at a vertex, if not the defined step; not all of them need follow then."""
    n = symbol(1, 2**64)
    search, words, first = _ByNeighbours(n, PAPER), translation(n), definition(n, PAPER, "second endpoint")
    assert first is not None
    macros = [
        f"(define-fun come-from ((k Int)) Int {words.value(search.come_from, 'k')})",
        f"(define-fun father ((k Int)) Int {words.value(search.father, 'k')})",
        *_said(words, step or search.step, "k", "says"),
        *_said(words, first, "P", "begins"),
    ]
    made = Theory("\n".join([*words.lines, *macros]))
    made.add(resources.files(__package__).joinpath("search.smt2").read_text(encoding="utf-8"))
    return made


def translation(n: int) -> Translation:
    """The terms of the step, with the names that search.smt2 calls their functions by."""
    search, words = _ByNeighbours(n, PAPER), Translation()
    words.named("own", search.own)
    words.named("other", search.other)
    words.picked(_pick(search.father), "father-at")
    edge, edge2 = search.edge_behind(search.come_from), search.edge_behind(search.father)
    ((before, _),) = _pick(edge).matching.pairs[1:]
    words.picked(_pick(before), "record-before-at")
    for found, name, mark in ((edge, "edge-at", "mark-at"), (edge2, "edge2-at", "mark2-at")):
        words.picked(_pick(found), name)
        words.picked(Pick(Matching(((search.current, found),)), last=True), mark)
    return words


def _pick(read: Term) -> Pick:
    """The head by which it is read."""
    atom = read_alone(read)
    assert atom is not None
    assert isinstance(atom.where, Pick)
    return atom.where


def _said(words: Translation, answer: Answer, at: str, name: str) -> list[str]:
    """Macros: the number that is said, whether it is one, and whether YES is said."""
    number = words.said(answer, at, lambda value: value, lambda word: "0")
    is_number = words.said(answer, at, lambda value: "true", lambda word: "false")
    is_yes = words.said(answer, at, lambda value: "false", lambda word: "true" if word == PAPER.yes else "false")
    return [
        f"(define-fun {name} () Int {number})",
        f"(define-fun {name}-number () Bool {is_number})",
        f"(define-fun {name}-yes () Bool {is_yes})",
    ]

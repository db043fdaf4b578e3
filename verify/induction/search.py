"""Algorithm 1's search, as the steps that IsTree says one by one, ends with YES if and only if the graph is a tree, for every n.

The text is a prompt of n − 1 edges, none of them a loop and none twice, and behind it what the defined step of
`verify.programs.searches` says, word by word. P is the prompt's last position, k one behind it, c the vertex there, `back` the one
before, −1 at the first. An edge a ~ b has a record at b and one at the token behind: `own` is b, then a, and `other` the other end.

The functions that are introduced exist, and so do the values that are tracked from step to step:
  next      the first record of a vertex behind a position, or 0                (one of some integers is the least)
  visit     where a vertex is first said, or 0; `up` is the vertex before it     (the same)
  rec       the record of two neighbours, or 0                                   (lemma no-record-twice)
  depth     of a vertex below the root, by recursion over `up`                   (lemma fathers-before)
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
from verify.programs.forms import read_alone
from verify.programs.searches import ByCounts, ByNeighbours, definition
from verify.programs.terms import Answer, Matching, Pick, Term


def theory(by_counts: bool = False, step: Answer | None = None) -> Theory:
    """All lemmas. by_counts: on the repaired model's step, not on lean's. step: another one, of which they need not follow."""
    n = symbol(1, 2**64)
    search, words, first = searches(n)[by_counts], translation(n, by_counts), definition(n, PAPER, "second endpoint")
    assert first is not None
    macros = [f"(define-fun {name} ((k Int)) Int {words.value(term, 'k')})" for name, term in _macros(search).items()]
    macros += _said(words, step or search.step, "k", "says")
    macros += _said(words, first, "P", "begins")
    heads = "counts.smt2" if by_counts else "neighbours.smt2"
    made = Theory({"defined-terms": "\n".join([*words.lines, *macros]), "heads": _text(heads)})
    made.add(_text("search.smt2"))
    return made


def searches(n: int) -> tuple[ByNeighbours, ByCounts]:
    """The defined steps: lean's and the repaired model's."""
    return ByNeighbours(n, PAPER), ByCounts(n, PAPER)


def translation(n: int, by_counts: bool) -> Translation:
    """The terms of the step, with the names by which the texts call their functions."""
    search, words = searches(n)[by_counts], Translation()
    words.named("own", search.own)
    words.named("other", search.other)
    words.picked(_head(search.father), "father-at")
    if isinstance(search, ByCounts):
        _counts(words, search)
    else:
        _neighbours(words, search)
    return words


def _counts(words: Translation, search: ByCounts) -> None:
    words.counted(search.occurrences, "tally")
    words.value(search.order, "k")
    words.picked(_head(search.edge_walked), "walked-at")
    words.value(search.walked, "k")
    for record, name, mark in ((search.first, "first-at", "mark-at"), (search.second, "second-at", "mark2-at")):
        words.following(record, name)
        words.picked(Pick(Matching(((search.current, search.to(record)),))), mark)


def _neighbours(words: Translation, search: ByNeighbours) -> None:
    edge, edge2 = search.edge_behind(search.come_from), search.edge_behind(search.father)
    ((before, _),) = _head(edge).matching.pairs[1:]
    words.picked(_head(before), "record-before-at")
    for found, name, mark in ((edge, "edge-at", "mark-at"), (edge2, "edge2-at", "mark2-at")):
        words.picked(_head(found), name)
        words.picked(Pick(Matching(((search.current, found),)), last=True), mark)


def _macros(search: ByNeighbours | ByCounts) -> dict[str, Term]:
    if isinstance(search, ByNeighbours):
        return {"come-from": search.come_from, "father": search.father}
    return {"previous": search.previous, "father": search.father}


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _head(read: Term) -> Pick:
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

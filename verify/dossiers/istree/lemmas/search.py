"""Algorithm 1's search, as the steps that IsTree says one by one, ends with YES if and only if the graph is a tree, for every n.

The text is a prompt, the edges of a simple graph, and after it what the defined step of `dossiers.istree.steps` says, word by
word. In the paper's layout (paper.smt2) there are n − 1 edges, and the last vertex says the answer. In the layout eos (eos.smt2)
the prompt is any number of edges and [EOS]; the last vertex says [EOS], and the answer is what is said after that.

E is the last endpoint's position, P that of the prompt's last token, k one after it, c the vertex there, `back` the one before, −1
at the first. An edge a ~ b has a record at b and one at the token after: `own` is b, then a, and `other` the other end.

The functions that are introduced exist, and so do the values that are tracked from step to step:
  next      the first record of a vertex after a position, or 0                (one of some integers is the least)
  rec       the first record of a vertex that leads to another, or 0             (the same)
  visit     where a vertex is first said, or 0; `up` is the vertex before it     (the same)
  depth     of a vertex below the root, by recursion over `up` where that is visited before
  among     how many of the vertices 1 … m are seen up to a position, by recursion over m
  path, taken   is a vertex on the way from c to the root; the last of its records that the search took

A tree is a connected graph without a cycle. What a person argues and no solver checks:
  the induction over positions itself;
  a graph is connected if and only if each set of vertices that has vertex 1 and is closed under edges has all of them;
  it has no cycle if and only if vertices can be `ranked`: no edge joins two of one rank, vertex 1 has no lower neighbour, and no
  vertex has two edges to lower ones. The highest vertex of a cycle would have two. Without a cycle, the distance from vertex 1 is a
  rank, or in another component that from any one vertex of it: two lower neighbours, or two neighbours of one distance, would close
  a cycle. A loop is a cycle, and so is an edge that is there twice.

The walk along each vertex' next edge, search.smt2, is that of Algorithm 2 as well (turns.py). Records, any walk and what an answer
means are told in texts that the search in frames has too (frames.py): graph.smt2, walk.smt2 and answers.smt2.
"""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

from constructions.language.terms import Answer, Matching, Pick, Term
from verify.algebra.interval import symbol
from verify.automata.token_automaton import Label
from verify.dossiers.istree.steps import ByCounts, ByNeighbours, definition
from verify.dossiers.istree.texts import IN_PROMPT, SECOND
from verify.induction import theory as theories
from verify.induction.theory import Theory
from verify.induction.translation import Translation, head


def text_of(name: str) -> str:
    """Returns the text NAME.smt2 beside this file."""
    return theories.text_of(name, __name__.rpartition(".")[0])


Search: TypeAlias = ByNeighbours | ByCounts
MODELS: dict[str, type[Search]] = {"lean": ByNeighbours, "repaired": ByCounts}
PARTS = {name: text_of(name) for name in ("graph", "walk", "answers")}  # what all searches have in common
N = symbol(1, 2**64)


def theory(search: Search) -> Theory:
    """Returns all lemmas on this search, of size N: the steps of `lean` or the repaired model, in either layout."""
    words = translation(search)
    heads = ["edges", "neighbours"] if isinstance(search, ByNeighbours) else ["counts"]
    macros = [macro(f"{name} ((k Int)) Int", words.value(term, "k")) for name, term in _terms(search).items()]
    macros += _say(words, search)
    terms = "\n".join([*words.lines, *macros])
    text = {"text": text_of("thoughts"), "layout": text_of(search.layout.name), "defined-terms": terms}
    lemmas = Theory(
        {**PARTS, **text, "step": text_of("says"), "length": text_of("vertices"), "heads": "".join(map(text_of, heads))}
    )
    lemmas.add(text_of("search"))
    model = next(name for name, kind in MODELS.items() if isinstance(search, kind))
    lemmas.runs = ("verify.dossiers.istree.runs.search", model, search.layout)
    return lemmas


def translation(search: Search) -> Translation:
    """Returns the terms of the step, with the names by which the texts call their functions.

    What is named in the layout eos alone becomes no function, so that lemmas rest on facts of the same names in both.
    """
    words = Translation(unfolded=frozenset(["visited", "after_prompt"]))
    if search.layout.end_of_prompt is not None:
        words.picked(head(search.prompt_end), "end-at")
    words.define("own", search.own)
    words.define("other", search.other)
    words.picked(head(search.father), "father-at")
    if isinstance(search, ByCounts):
        _counts(words, search)
    else:
        marks = [
            Pick(Matching(((search.current, edge),)), last=True)
            for edge in edges_behind(words, search, search.come_from, search.father)
        ]
        for mark, name in zip(marks, ("mark-at", "mark2-at"), strict=True):
            words.picked(mark, name)
    return words


def _counts(words: Translation, search: ByCounts) -> None:
    words.count_function(search.occurrences, "tally")
    words.value(search.order, "k")
    words.picked(head(search.edge_walked), "walked-at")
    words.value(search.walked, "k")
    for record, name, mark in ((search.first, "first-at", "mark-at"), (search.second, "second-at", "mark2-at")):
        words.following(record, name)
        words.picked(Pick(Matching(((search.current, search.to(record)),))), mark)


def edges_behind(words: Translation, search: ByNeighbours, beyond: Term, beyond2: Term) -> tuple[Term, Term]:
    """Returns the edges of `current` after those to two vertices, with the names of their heads: see edges.smt2."""
    edges = search.edge_behind(beyond), search.edge_behind(beyond2)
    ((before, _),) = head(edges[0]).matching.pairs[1:]
    words.picked(head(before), "record-before-at")
    for edge, name in zip(edges, ("edge-at", "edge2-at"), strict=True):
        words.picked(head(edge), name)
    return edges


def _terms(search: Search) -> dict[str, Term]:
    """Returns the terms that the texts call by name, beside the functions."""
    if isinstance(search, ByNeighbours):
        own = {"beyond": search.come_from, "beyond2": search.father, "marked": search.visited}
    else:
        own = {"previous": search.previous}
    return {"current": search.current, "father": search.father, **own}


def _say(words: Translation, search: Search) -> list[str]:
    """Macros: what is said at the prompt's end, what at the vertex k, and the answer, which is said there or after the [EOS]."""
    layout = search.layout
    end, answers = layout.end_of_prompt, (layout.yes, layout.no)
    first = definition(search.n, layout, Label(end, IN_PROMPT) if end else SECOND)
    if first is None:
        raise TypeError("there is no first")
    verdict, there = (search.verdict, "(+ k 1)") if end else (search.step, "k")
    number = partial(words.answer_cases, at="k", number=str, word=lambda _: "0")
    is_number = partial(words.answer_cases, at="k", number=lambda _: "true", word=lambda _: "false")

    def is_word(answer: Answer, at: str, *among: str) -> str:
        return words.answer_cases(answer, at, lambda _: "false", lambda word: "true" if word in among else "false")

    return [
        macro("begins ((k Int)) Int", number(first)),
        macro("begins-number ((k Int)) Bool", is_number(first)),
        macro("says () Int", number(search.step)),
        macro("says-number () Bool", is_number(search.step)),
        macro("says-end () Bool", is_word(search.step, "k", *(answers if there == "k" else [str(end)]))),
        macro("answers-yes () Bool", is_word(verdict, there, layout.yes)),
        macro("answers-no () Bool", is_word(verdict, there, layout.no)),
    ]


def macro(declared: str, value: str) -> str:
    """Returns a definition. declared: its name, parameters and sort."""
    return f"(define-fun {declared} {value})"

"""The lemmas on Algorithm 2's turns: they are true of runs, and wrong turns and searches are seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import pairwise
from typing import Any

import networkx
import pytest

from constructions.istree import rag
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.rag import RECORD, RETURN
from constructions.models.search import END_SEARCH, START_SEARCH
from tests.verify.induction.runs import Compiled, answers_of_another_solver, value
from verify.induction.__main__ import main
from verify.induction.search import N
from verify.induction.theory import Theory, text_of
from verify.induction.turns import Text, Way, defined, theory
from verify.programs import turns
from verify.programs.found import Found
from verify.programs.interpreter import Input
from verify.programs.searches import NUMBER
from verify.programs.shorthand import at, back, let, word
from verify.programs.terms import ONE, Answer, If, Say, SayNumber, Term
from verify.programs.turns import FIRST, NEXT
from verify.programs.witness import tokens_of

MADE = theory(defined())
# About YES in a graph that is not connected: no run has that.
CONTRADICTIONS = {"father-of-missed", "edge-to-missed", "yes-is-right"}
BEYOND = 60  # more words than a turn has
EFFORT = 5_000_000  # three times what the dearest lemma takes
GRAPHS = [
    Graph(1, ()),
    Graph(2, ()),
    Graph(2, ((2, 1),)),
    Graph(3, ((1, 2), (3, 1))),
    Graph(3, ((2, 3), (1, 2))),
    Graph(3, ((3, 2), (2, 1), (1, 3))),
    Graph(3, ((3, 2),)),
]


class Run:
    """What each declared symbol is at the end of each turn's head, by the words of Algorithm 2's text and their plain meaning."""

    def __init__(self, graph: Graph) -> None:
        self.n, self.edges, text = graph.n, len(graph.edges), defined()
        self.end = 3 * self.edges + 1
        prompt = [PAPER.vocabulary(graph.n)[token] for token in PAPER.prompt(graph)]
        self.words, self.kinds = [*prompt, *rag.expected_sequence(graph)], text.kinds
        self.functions, self.read = text.words.functions, Input([*tokens_of(self.words), *[("", 0)] * BEYOND])
        self.records = {}
        for e, (a, b) in enumerate(graph.edges, start=1):
            self.records |= {(b, a): 3 * e + 1, (a, b): 3 * e + 2}
        marks = [m for m, said in enumerate(self.words, start=1) if said in (RECORD, RETURN)]
        if self.words[marks[-1] - 2] == self.words[marks[-1]] and len(marks) > 1:
            marks.pop()  # the root's way back to itself, behind which stands no turn
        self.heads = [m + 1 for m in marks]
        ends = [k for k, said in enumerate(self.words, start=1) if said == END_SEARCH]
        self.window = sorted({*range(-1, self.end + 4), *marks, *self.heads, *ends, len(self.words)})
        self.around = networkx.Graph(graph.edges)
        self.around.add_nodes_from(range(1, graph.n + 1))

    def states(self) -> Iterator[dict[str, Any]]:
        """From head to head: all symbols."""
        roots = map(min, networkx.connected_components(self.around))
        ranks = networkx.multi_source_dijkstra_path_length(self.around, set(roots))
        reached = networkx.node_connected_component(self.around, 1)
        owners = {j: own for (own, _), j in self.records.items()}
        visits, depths, path, taken, passed = (
            dict[int, int](),
            dict[int, int](),
            list[int](),
            dict[int, int](),
            set[int](),
        )
        fixed = {
            "n": self.n,
            "edges": self.edges,
            "kind": self.kind,
            "|number vertex|": self.number,
            "visit": lambda v: visits.get(v, 0),
            "rec": lambda v, u: self.records.get((v, u), 0),
            "next": cache(lambda i, v: min((j for j in self.window if j > i and owners.get(j, 0) == v), default=0)),
            "depth": lambda v: depths.get(v, 0),
            "among": lambda m, i: sum(v <= m and visit <= i for v, visit in visits.items()),
            "rank": lambda v: ranks.get(v, 0),
            "ranked": networkx.is_forest(self.around),
            "closed": reached.__contains__,
            "v0": min({*range(1, self.n + 1)} - reached, default=0),
            "begins": True,
            "begins-otherwise": False,
            "left-open": False,
        }
        fixed |= {
            name: cache(partial(value, self.read, atom)) for atom, name in self.functions.items() if "|" not in name
        }
        states = []
        for k, end in pairwise((*self.heads, len(self.words))):
            u, mark, v = int(self.words[k - 3]), self.words[k - 2], int(self.words[k - 1])
            if mark == RETURN:
                path.pop()
            else:
                taken |= {u: self.records[u, v], v: 0} if path else {v: 0}
                path.append(v)
                visits[v], depths[v] = k, len(path) - 1
            over = self.words[end - 1] in (PAPER.yes, PAPER.no)
            state = {
                "k": k,
                "end": end,
                "goes-down": not over and self.words[end - 2] == RECORD,
                "goes-up": not over and self.words[end - 2] == RETURN,
                "answers-yes": over and self.words[-1] == PAPER.yes,
                "answers-no": over and self.words[-1] == PAPER.no,
                "path": frozenset(path).__contains__,
                "taken": lambda v, taken=dict(taken): taken.get(v, 0),
                "passed": lambda m, passed=frozenset(passed): sum(v <= m for v in passed),
            }
            states.append(fixed | state)
            if self.finds_father(k, end):
                passed.add(v)
        yield from states  # when all visits are known

    def finds_father(self, k: int, end: int) -> bool:
        """Whether one of the neighbours that are found in this turn is the father: what the turn's first search finds."""
        starts = [j for j in range(k, end) if self.words[j] == START_SEARCH]
        found = [(self.words[j + 1], self.words[self.words.index(END_SEARCH, j) + 1]) for j in starts]
        return any(first in (FIRST[1], NEXT[1]) and result == found[0][1] for first, result in found)

    def kind(self, j: int) -> int:
        name = self.words[j - 1] if 1 <= j <= len(self.words) else ""
        return self.kinds[rag.VERTEX] if name.isdigit() else self.kinds.get(name, -1)

    def number(self, j: int) -> int:
        return self.read.tokens[j - 1][1] if 1 <= j <= len(self.words) else 0


def test_they_are_true_of_runs() -> None:
    """Axioms and invariants at the end of each head, and lemmas where all that they suppose is true; which is so at some head."""
    compiled, met = Compiled(MADE, MADE.facts), set[str]()
    for graph in GRAPHS:
        run = Run(graph)
        states = list(run.states())
        for state, following in zip(states, [*states[1:], None], strict=True):
            true = compiled.truths(state, run.window)
            for name, fact in MADE.facts.items():
                due = name in MADE.invariants or (fact.uses is None and not fact.supposes)
                if due or (fact.uses is not None and all(true[supposed] for supposed in fact.supposes)):
                    assert true[name], (graph, state["k"], name)
                    met.add(name)
            as_it_is(run, true, state is states[0], following is None)
            assert following is None or following["k"] == state["end"]
    assert set(MADE.lemmas) - met == CONTRADICTIONS


def as_it_is(run: Run, true: Mapping[str, bool], first: bool, last: bool) -> None:
    """Each supposition is true where it should be."""
    tree, connected = networkx.is_tree(run.around), networkx.is_connected(run.around)
    assert true["starts"] == first
    assert true["goes-on"] == (not last) == (true["down"] or true["goes-up"])
    assert (true["over"] or true["closes"]) == last
    assert true["yes"] == (last and tree)
    assert true["no"] == (last and not tree)
    assert true["misses-one"] == (not connected)


def test_what_is_said_of_each_run_supposes_nothing_else() -> None:
    cases = {
        "never-open": set[str](),
        "root-due": set(),
        "records-limited": set(),
        "within-over": {"over"},
        "within-closes": {"closes"},
        "as-many-words": {"over"},
    }
    assert {name: MADE.facts[name].supposes - set(MADE.invariants) for name in cases} == cases


def test_edges_stand_in_the_prompt_alone() -> None:
    """No way has the word of which an axiom says so."""
    text = defined()
    ways = (way for mark in (RECORD, RETURN) for way in text.ways(text.heads(mark), "k", Way()))
    kinds = {int(kind) for way in ways for kind in re.findall(r"\(= \(kind \(\+ k \d+\)\) (\d+)\)", way.formula)}
    assert kinds == {*text.kinds.values()} - {text.kinds[PAPER.start], text.kinds[PAPER.joint]}


def test_another_solver_finds_that_all_follow() -> None:
    assert {name: said for name, said in answers_of_another_solver(MADE).items() if said != "unsat"} == {}


def due_but(place: str, said: Callable[[Answer], Answer]) -> Text:
    """The definition, with something else at the places that begin so."""

    def due(name: str) -> Answer | None:
        right = turns.definition(N, name)
        return said(right) if right is not None and name.startswith(place) else right

    return Text(due, Found(N, PAPER))


def found_but(name: str, term: Callable[[Found], Term]) -> Text:
    """As defined, but for one thing that searches find."""
    return Text(defined().due, type("Wrong", (Found,), {name: property(term)})(N, PAPER))


def other(answer: Answer) -> Answer:
    """The two cases of an answer, exchanged."""
    assert isinstance(answer, If)
    return If(answer.bit, answer.otherwise, answer.then)


def at_root(answer: Answer) -> Answer:
    return SayNumber(ONE, rag.VERTEX)


def say(said: str) -> Callable[[Answer], Answer]:
    return lambda right: Say(said)


def verdict(change: Callable[[If], Answer]) -> Callable[[Answer], Answer]:
    """Another one where the walk is over."""

    def said(right: Answer) -> Answer:
        over = isinstance(right, If) and isinstance(right.then, If)
        return If(right.bit, change(right.then), right.otherwise) if over else right

    return said


KNOWN, HEAD = "a record behind the next neighbour: a vertex, ", f"a turn {RETURN}"
WRONG: dict[str, tuple[Text, str]] = {  # another definition, and a lemma that follows no longer
    "NO whatever stands in the prompt": (due_but("second endpoint", say(PAPER.no)), "root-due"),
    "no first record": (due_but("a turn - behind second endpoint, 1", say(RETURN)), "root-due"),
    "it never looks for another neighbour": (
        due_but("a record behind the first neighbour: a vertex, 1", other),
        "never-open",
    ),
    "past neighbours that are not the father": (
        Text(
            lambda name: other(said) if isinstance(said := turns.definition(N, name), If) and ", 1" in name else said,
            Found(N, PAPER),
        ),
        "never-open",
    ),
    "a record of the father is searched for": (
        due_but(KNOWN + "2", lambda right: SayNumber(back(NUMBER, 17), rag.VERTEX)),
        "never-open",
    ),
    "NO where no record is found": (due_but("a record: FAILED", say(PAPER.no)), "turn-no"),
    "YES where a cycle is closed": (due_but("a record: a vertex", say(PAPER.yes)), "turn-yes"),
    "no word where a cycle is closed": (due_but("a record: a vertex", say(START_SEARCH)), "never-open"),
    "back to the root": (due_but(f"{HEAD} behind the next neighbour: FAILED, 2", at_root), "turn-up"),
    "down to where it is": (
        due_but("a turn - behind a record: FAILED, 2", lambda right: SayNumber(back(NUMBER, 1), rag.VERTEX)),
        "turn-down",
    ),
    "a way back as a record": (due_but(f"{HEAD} behind the next neighbour: FAILED, 1", say(RECORD)), "never-open"),
    "YES wherever it comes back": (due_but(HEAD, say(PAPER.yes)), "turn-yes"),
    "YES whatever is recorded": (due_but(HEAD, verdict(lambda right: right.then)), "turn-yes"),
    "YES if vertices are missing": (due_but(HEAD, verdict(other)), "turn-yes"),
    "the last record of a vertex": (
        found_but("recorded", lambda found: at(back(NUMBER, 2), (found.came_to, found.current), last=True)),
        "first-record",
    ),
    "where the vertex is, not the father": (
        found_but("recorded", lambda found: at(NUMBER, (found.came_to, found.current))),
        "finds-father",
    ),
    "ways back are records": (
        found_but("came_to", lambda found: let("came_to", (word(RECORD, 1) + word(RETURN, 1)) * NUMBER)),
        "comings",
    ),
    "the neighbour behind itself": (found_but("come_from", lambda found: back(NUMBER, 4)), "turn-no"),
}


@pytest.mark.parametrize("what", WRONG)
def test_of_wrong_turns_not_all_follow(what: str) -> None:
    text, lemma = WRONG[what]
    assert theory(text).doubt(lemma, effort=EFFORT)


TEXTS = {"search": text_of("search"), **MADE.parts}
CHANGES = [  # of the texts: what stands there, what shall, and a lemma that follows no longer
    ("(invariant root-record (= (number (- P 1)) 1))", "(invariant root-record true)", "finds-father"),
    ("(invariant root-record (= (number (- P 1)) 1))", "(invariant root-record false)", "root-record/starts"),
    ("(>= j k) (silent (+ j 1)) (>= (current j) 1)", "(>= j k) (>= (current j) 1)", "finds-record"),
    ("(ite (= (taken c) 0) 8 16)", "(ite (= (taken c) 0) 8 15)", "turn-up"),
    ("(ite (= edge 0) 4 7)", "(ite (= edge 0) 4 8)", "turn-no"),
    ("(* 48 (among n k))", "(* 49 (among n k))", "length/starts"),
    ("(* (- 25) (depth (vertex k)))", "(* (- 24) (depth (vertex k)))", "length/down"),
    ("(+ (passed m) (ite (and passes (<= c m)) 1 0))", "(passed m)", "passed-is/goes-up"),
    ("(- (among m k) (ite (>= m 1) 1 0))", "(- (among m k) 1)", "passed-at-most/start"),
    (
        "(=> (and (< a h) (<= h j)) (not (|is -| h)))",
        "(=> (and (< a h) (< h j)) (not (|is -| h)))",
        "records-stay/step",
    ),
    ("(+ (records-to 1 k) (ite (= edge 0) 0 1))", "(+ (records-to 1 k) 1)", "records-then"),
    ("(= (records-to 1 k) (among n k)))", "(= (records-to 1 k) (+ (among n k) 1)))", "as-many-records/starts"),
]


@pytest.mark.parametrize(("old", "new", "lemma"), CHANGES, ids=[f"{new}, {lemma}" for _, new, lemma in CHANGES])
def test_what_is_wrong_does_not_follow(old: str, new: str, lemma: str) -> None:
    assert sum(text.count(old) for text in TEXTS.values()) == 1
    changed = {name: text.replace(old, new) for name, text in TEXTS.items()}
    made = Theory(changed)
    made.add(changed["search"])
    assert made.doubt(lemma, effort=EFFORT)


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Theory, "doubt", lambda made, name: "")
    assert main(["--model", "rag"]) == 0
    follows = (
        "for every n, turns, if the searches find what is defined, end with YES if and only if the graph is a tree"
    )
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(MADE.lemmas)} lemmas, all follow: {follows}"
    assert main(["--model", "rag", "--tokens", "eos"]) == 2
    assert "--variant and --tokens are the Transformer's" in capsys.readouterr().err

"""The lemmas behind "for every n": two solvers find that they follow, they are true of runs, and a wrong step is seen."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import cvc5
import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.istree.graphs import PAPER, Graph
from verify.certificates.symbolic import symbol
from verify.induction import search
from verify.induction.__main__ import main
from verify.induction.search import searches, theory, translation
from verify.induction.theory import Expression, Fact, Theory, read, written
from verify.programs.interpreter import Input
from verify.programs.searches import ByCounts
from verify.programs.terms import (
    POSITION,
    Answer,
    Atom,
    Count,
    Equal,
    If,
    Matching,
    Named,
    Next,
    Pick,
    Say,
    SayNumber,
    as_term,
)
from verify.programs.witness import tokens_of

LEMMAS = cache(theory)
STEPS = {False: "by neighbours", True: "by counts"}
# About YES in a graph that is not connected, and an edge that closes a cycle in one that is: no run has these.
CONTRADICTIONS = {"father-of-missed", "edge-to-missed", "yes-is-right", "none-closes"}


BEYOND = {"tally-stays/step"}  # at the last integer of the window it speaks of one beyond


@pytest.mark.parametrize("by_counts", STEPS, ids=STEPS.get)
def test_another_solver_finds_that_all_follow(by_counts: bool) -> None:
    made = LEMMAS(by_counts)
    script = ["(set-logic ALL)", *map(written, made.declarations)]
    for name in made.lemmas:
        fact = made.facts[name]
        used = [f"(assert {written(made.facts[other].formula)})" for other in fact.uses or ()]
        script += ["(push)", *used, f"(assert (not {written(fact.formula)}))", "(check-sat)", "(pop)"]
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("incremental", "true")
    solver.setOption("rlimit-per", "2000000")  # the same on every machine
    parser, said = cvc5.InputParser(solver), ""
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "\n".join(script), "lemmas")
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, parser.getSymbolManager())
    assert {name: answer for name, answer in zip(made.lemmas, said.split(), strict=True) if answer != "unsat"} == {}


class Compiled:
    """Facts as functions of Python; "all integers" are those of a window, and each symbol is what it is called in `names`."""

    def __init__(self, made: Theory, tried: Mapping[str, Fact]) -> None:
        self.names: dict[str, Any] = {}
        self.macros = [
            (str(name), [str(pair[0]) for pair in parameters], body)
            for declaration in made.declarations
            for _, name, parameters, _, body in ([declaration] if declaration[0] == "define-fun" else [])
        ]
        self.functions = {name: self._compiled(parameters, body) for name, parameters, body in self.macros}
        self.facts = {name: self._compiled([], fact.formula) for name, fact in tried.items()}

    def truths(self, names: Mapping[str, Any], window: range) -> dict[str, bool]:
        """Which facts hold."""
        self.names.update({_name(name): value for name, value in names.items()} | {"window": window})
        for name, parameters, _ in self.macros:
            self.names[_name(name)] = self.functions[name] if parameters else self.functions[name]()
        return {name: bool(holds()) for name, holds in self.facts.items()}

    def _compiled(self, parameters: list[str], body: Expression) -> Callable[..., Any]:
        made: Callable[..., Any] = eval(f"lambda {', '.join(map(_name, parameters))}: {_python(body)}", self.names)
        return made


OPERATORS = {"=": "==", "mod": "%", "div": "//"} | {
    sign: sign for sign in ("<", "<=", ">", ">=", "+", "-", "*", "and", "or")
}


def _name(symbol: str) -> str:
    return "v" + "".join(c if c.isalnum() else f"_{ord(c)}_" for c in symbol)


def _python(expression: Expression) -> str:
    """As an expression of Python."""
    match expression:
        case "true" | "false":
            return expression.capitalize()
        case str():
            return expression if expression.isdigit() else _name(expression)
        case ["!", formula, *_]:
            return _python(formula)
        case ["forall", [*bound], formula]:
            return f"all({_python(formula)} {' '.join(f'for {_name(str(pair[0]))} in window' for pair in bound)})"
        case ["let", [[name, value]], formula]:
            return f"(lambda {_name(str(name))}: {_python(formula)})({_python(value)})"
        case ["ite", bit, then, otherwise]:
            return f"({_python(then)} if {_python(bit)} else {_python(otherwise)})"
        case ["=>", first, second]:
            return f"(not {_python(first)} or {_python(second)})"
        case [("not" | "-") as operator, inner]:
            return f"({operator} {_python(inner)})"
        case [str(operator), *parts] if operator in OPERATORS:
            return f"({f' {OPERATORS[operator]} '.join(map(_python, parts))})"
        case [function, *arguments]:
            return f"{_python(function)}({', '.join(map(_python, arguments))})"
    raise TypeError(expression)


class Run:
    """What each declared symbol is at each vertex of a run, by a depth-first search over the graph and the terms' plain meaning."""

    def __init__(self, graph: Graph, by_counts: bool) -> None:
        self.n, self.end = graph.n, 3 * graph.n - 2
        self.functions = translation(graph.n, by_counts).functions
        words = PAPER.vocabulary(graph.n)
        self.tour, self.is_tree = graph.search
        self.last = self.end + len(self.tour)
        told = [words[token] for token in PAPER.prompt(graph)] + [*map(str, self.tour), "1"]
        self.text = Input(tokens_of(told))
        self.window = range(-1, len(told))
        self.joints = {k for k, word in enumerate(told, start=1) if word == PAPER.joint}
        self.records = {}
        for e, (a, b) in enumerate(graph.edges, start=1):
            self.records |= {(b, a): 3 * e + 1, (a, b): 3 * e + 2}
        owners = {j: own for (own, _), j in self.records.items()}
        self.owned = {v: [h for h in self.window if owners.get(h, 0) == v] for v in self.window}
        self.visits = {v: self.end + self.tour.index(v) + 1 for v in dict.fromkeys(self.tour)}
        self.around = networkx.Graph(graph.edges)
        self.around.add_nodes_from(range(1, graph.n + 1))

    def states(self) -> Iterator[dict[str, Any]]:
        """From vertex to vertex: all symbols."""
        fixed = {
            "n": self.n,
            "number": self.number,
            "|is ~|": lambda k: k in self.joints,
            "visit": lambda v: self.visits.get(v, 0),
        }
        fixed |= {"rec": lambda v, u: self.records.get((v, u), 0), "next": self.next, "depth": self.depth}
        fixed |= {name: partial(self.term, atom) for atom, name in self.functions.items()}
        path, taken = list[int](), dict[int, int]()
        reached = networkx.node_connected_component(self.around, 1)
        for k, v in enumerate(self.tour, start=self.end + 1):
            if v in path:
                path.pop()
            else:
                if path:
                    taken[path[-1]] = self.records[path[-1], v]
                path.append(v)
                taken[v] = 0
            assert path[-1] == v
            seen = {u for u, visit in self.visits.items() if visit <= k}
            near = networkx.multi_source_dijkstra_path_length(self.around, seen)
            yield fixed | {
                "k": k,
                "path": frozenset(path).__contains__,
                "taken": lambda v, taken=dict(taken): taken.get(v, 0),
                "count": len(seen),
                "closed": reached.__contains__,
                "v0": min({*range(1, self.n + 1)} - reached, default=0),
                "link": partial(self.link, seen, near),
                "rank": lambda v, seen=seen, near=near: self.visits[v] if v in seen else self.last + near.get(v, 0),
            }

    def number(self, k: int) -> int:
        return self.text.tokens[k - 1][1] if 1 <= k <= len(self.text.tokens) else 0

    def depth(self, v: int) -> int:
        return 1 + self.depth(self.tour[self.visits[v] - self.end - 2]) if v != 1 and v in self.visits else 0

    def next(self, i: int, v: int) -> int:
        return min((h for h in self.owned.get(v, ()) if h > i), default=0)

    def term(self, atom: Atom, *at: int) -> Any:
        """What a function of the step is; at positions that are none, as at 1, where nothing is to be read."""
        k = max(at[-1], 1)
        match atom:
            case Pick() | Next():
                return self.text.chosen(atom, k)[0]
            case Named(_, of):
                return self.text.value(of, k)
            case Count(Matching(((key, _),))):
                return sum(self.text.value(key, j) == at[0] for j in range(2, k + 1))
        raise TypeError(atom)

    def link(self, seen: set[int], near: Mapping[int, int], v: int) -> int:
        if v in seen and v != 1:
            return self.records[v, self.tour[self.visits[v] - self.end - 2]]
        nearer = (u for u in self.around[v] if near.get(u, math.inf) < near.get(v, -1)) if v in self.around else ()
        return self.records.get((v, next(iter(nearer), 0)), 0)


GRAPHS = [
    Graph(1, ()),
    Graph(2, ((2, 1),)),
    Graph(3, ((1, 2), (3, 1))),
    Graph(3, ((2, 3), (1, 2))),
    Graph(4, ((3, 1), (1, 2), (2, 3))),  # a cycle through the root
    Graph(4, ((2, 3), (4, 3), (2, 4))),  # one that is out of reach
    Graph(4, ((2, 3), (1, 2), (2, 4))),
    Graph(5, ((1, 2), (4, 5), (3, 4), (5, 3))),
]


@pytest.mark.parametrize("by_counts", STEPS, ids=STEPS.get)
def test_they_are_true_of_runs(by_counts: bool) -> None:
    """Axioms and invariants at each vertex of a run, and lemmas where all that they suppose is true; which is so at some vertex.

    What both steps have is tried once, and what one has alone on small graphs.
    """
    made = LEMMAS(by_counts)
    tried = {
        name: fact
        for name, fact in made.facts.items()
        if not (by_counts and name in LEMMAS().facts) and name not in BEYOND
    }
    compiled, met = Compiled(made, tried), set[str]()
    for graph in GRAPHS[:4] if by_counts else GRAPHS:
        run = Run(graph, by_counts)
        for state in run.states():
            true = compiled.truths(state, run.window)
            for name, fact in tried.items():
                due = name in made.invariants or (fact.uses is None and not fact.supposes)
                if due or (fact.uses is not None and all(true.get(supposed, True) for supposed in fact.supposes)):
                    assert true[name], (graph, state["k"], name)
                    met.add(name)
            if not by_counts:
                as_it_is(run, state["k"], true)
    assert {name for name in tried if made.facts[name].uses} - met == CONTRADICTIONS & set(tried)


def as_it_is(run: Run, k: int, true: Mapping[str, bool]) -> None:
    """Each supposition is true where it should be."""
    ended, tree = k == run.last, networkx.is_tree(run.around)
    assert true["counted"]
    assert true["starts"] == (k == run.end + 1)
    assert true["goes-on"] == (not ended) == (true["down"] or true["goes-up"])
    assert (true["over"] or true["closes"]) == ended
    assert true["yes"] == (ended and tree)
    assert true["connected"] == tree != true["misses-one"]


def wrong_steps(by_counts: bool) -> dict[str, Answer]:
    search = searches(symbol(1, 2**64))[by_counts]
    onward = search.to(search.first) if isinstance(search, ByCounts) else search.edge_behind(search.come_from)
    second = search.to(search.second) if isinstance(search, ByCounts) else search.edge_behind(search.father)
    early = as_term(Equal(as_term(POSITION) - (5 * search.n - 4), Fraction(0)))
    no_edge, at_root = (as_term(Equal(edge, Fraction(value))) for edge, value in ((onward, 0), (search.current, 1)))
    return {
        "back to the father by his own edge": search.onward(onward),
        "no vertex is seen before": If(no_edge, search.back(), SayNumber(onward)),
        "YES whenever it ends": If(no_edge, If(at_root, Say("YES"), SayNumber(search.father)), search.step),
        "YES one position early": If(at_root * no_edge, If(early, Say("YES"), Say("NO")), search.step),
        "back to where it was, not to the father": If(no_edge, SayNumber(search.previous), search.step),
        "NO at every dead end": If(no_edge, Say("NO"), search.step),
        "always past one more edge": search.onward(second),
    }


WRONG = {(by_counts, name): step for by_counts in STEPS for name, step in wrong_steps(by_counts).items()}


@pytest.mark.parametrize(("by_counts", "name"), WRONG)
def test_of_a_wrong_step_not_all_follow(by_counts: bool, name: str) -> None:
    made = theory(by_counts, WRONG[by_counts, name])
    assert made.doubt("step", effort=2_000_000)


TEXT = Path(search.__file__).with_name("search.smt2").read_text(encoding="utf-8")
CHANGES = [  # of the text: what stands there, what shall, and a lemma that follows no longer
    ("no-loop no-edge-twice records)", "no-loop records)", "no-record-twice"),
    ("(=> (<= 2 j P) (ite", "(=> (<= 2 j n) (ite", "ends"),
    ("(* 2 count) 1 (depth", "(* 2 count) 2 (depth", "length/starts"),
    ("(count (+ count 1))", "(count (+ count 2))", "length/down"),
    ("(<= (rec (up v) v) (taken (up v)))", "(< (rec (up v) v) (taken (up v)))", "children/down"),
    ("(ite (= v c) edge (taken v))", "(taken v)", "children/down"),
    ("(and (path v) (not (= v c)))", "(path v)", "path-seen/goes-up"),
    ("(left-edges left-edges taken-edges edge-is", "(left-edges left-edges taken-edges", "left-edges/goes-up"),
    ("(<= k (- (* 5 n) 3))", "(<= k (- (* 5 n) 4))", "ends-in-time"),
    ("(< (rank (other (link v))) (rank v))", "(<= (rank (other (link v))) (rank v))", "links-differ"),
]


@pytest.mark.parametrize(("old", "new", "lemma"), CHANGES, ids=[lemma for *_, lemma in CHANGES])
def test_what_is_wrong_does_not_follow(old: str, new: str, lemma: str) -> None:
    made = Theory(LEMMAS().parts)
    assert TEXT.count(old) == 1
    made.add(TEXT.replace(old, new))
    assert made.doubt(lemma, effort=2_000_000)


INDUCTION = """
(declare-const k Int) (define-fun next () Int (+ k 1)) (define-fun double ((x Int)) Int (* 2 x))
(axiom start (= k 0)) (suppose on true) (suppose other (= k 5)) (invariant small (>= (double k) 0))
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("(lemma a (b) true)", "a uses what is not stated before it: b"),
        ("(lemma start () true)", "two facts are called start"),
        ("(kept on ((k next)) (other))", "small/on supposes more than it may: other"),
        ("(kept on ((k next)) () (large small))", "on: no invariants: large"),
        ("(invariant hidden (> next 0)) (kept on ((k 3)) (small))", "hidden has a macro that hides k"),
        ("(kept on ((k 3 4)) ())", "(k 3 4) is no pair"),
        ("(starts on ((k 0)) (small))", "small/on supposes more than it may: small"),
        ("(kept on ((k next)) (small)) (invariant late (> k 0))", "late is no invariant: on does not show it"),
        ("(cases all on (on) ())", "the invariants are not kept in the case on"),
        ("(kept on ((k next)) (small)) (cases all on (on) (other))", "all supposes more than it may: other"),
        ("(axiom (a)", "1 brackets are not closed"),
        (")", "a bracket is closed that was not opened"),
    ],
)
def test_what_is_no_theory_is_refused(text: str, says: str) -> None:
    made = Theory({})
    made.add(INDUCTION)
    with pytest.raises(ValueError, match=re.escape(says)):
        made.add(text)


def test_a_small_induction() -> None:
    made = Theory({})
    made.add(INDUCTION + "(kept on ((k next)) (small)) (lemma above (small start) (> k 0)) (lemma nothing () false)")
    assert made.lemmas == ["small/on", "above", "nothing"]
    assert [made.doubt(name) for name in made.lemmas] == ["", "z3 says sat", "z3 says sat"]
    assert made.facts["small/on"].supposes == {"small"} == made.facts["above"].supposes


def test_from_facts_that_contradict_each_other_nothing_follows() -> None:
    made = Theory({})
    made.add(
        INDUCTION
        + "(axiom late (> k 1)) (lemma any (start late) false) (suppose never false) (lemma below (never) false)"
    )
    assert [made.doubt(name) for name in made.lemmas] == ["what it uses contradicts itself", ""]


@given(st.recursive(st.sampled_from(["a", "|b c|", "12"]), lambda inner: st.lists(inner, max_size=3)))
def test_texts_are_read_as_written(expression: Expression) -> None:
    assert read(written(expression)) == [expression]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Theory, "doubt", lambda made, name: "unknown" if name == "step" else "")
    assert main(["--scripts", str(tmp_path / "smt2")]) == 3
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f"{len(LEMMAS().lemmas)} lemmas, 1 not seen to follow"
    assert next(line for line in said if not line.startswith("follows: ")).startswith("unknown: step, from size, here")
    scripts = sorted((tmp_path / "smt2").iterdir())
    assert [path.read_text(encoding="utf-8") for path in scripts] == list(map(LEMMAS().question, LEMMAS().lemmas))
    assert main(["--scripts", "/dev/null/here"]) == 2
    assert capsys.readouterr().err == "python -m verify.induction: error: /dev/null/here: Not a directory\n"

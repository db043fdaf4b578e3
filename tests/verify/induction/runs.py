"""Facts of a theory as functions of Python, and what each symbol of the search is along a run, computed without either."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import cvc5
import networkx

from constructions.istree.graphs import Graph, TokenLayout
from verify.induction.search import MODELS, translation
from verify.induction.theory import Expression, Fact, Theory, written
from verify.programs.interpreter import Input
from verify.programs.terms import Atom, Count, IsWord, Matching, Named, Next, Pick
from verify.programs.witness import tokens_of


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

    def truths(self, names: Mapping[str, Any], window: Sequence[int]) -> dict[str, bool]:
        """Which facts hold."""
        self.names.update({symbol(name): value for name, value in names.items()} | {"window": window})
        for name, parameters, _ in self.macros:
            self.names[symbol(name)] = self.functions[name] if parameters else self.functions[name]()
        return {name: bool(holds()) for name, holds in self.facts.items()}

    def _compiled(self, parameters: list[str], body: Expression) -> Callable[..., Any]:
        made: Callable[..., Any] = eval(f"lambda {', '.join(map(symbol, parameters))}: {_python(body)}", self.names)
        return made


OPERATORS = {"=": "==", "mod": "%", "div": "//"} | {
    sign: sign for sign in ("<", "<=", ">", ">=", "+", "-", "*", "and", "or")
}


def symbol(name: str) -> str:
    """What a symbol is called in Python."""
    return "v" + "".join(c if c.isalnum() else f"_{ord(c)}_" for c in name)


def _python(expression: Expression) -> str:
    """As an expression of Python."""
    match expression:
        case "true" | "false":
            return expression.capitalize()
        case str():
            return expression if expression.isdigit() else symbol(expression)
        case ["!", formula, *_]:
            return _python(formula)
        case ["forall", [*bound], formula]:
            return f"all({_python(formula)} {' '.join(f'for {symbol(str(pair[0]))} in window' for pair in bound)})"
        case ["let", [[name, value]], formula]:
            return f"(lambda {symbol(str(name))}: {_python(formula)})({_python(value)})"
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

    def __init__(self, graph: Graph, model: str, layout: TokenLayout) -> None:
        self.n, self.edges = graph.n, len(graph.edges)
        self.functions = translation(MODELS[model](graph.n, layout)).functions
        words, prompt = layout.vocabulary(graph.n), layout.prompt(graph)
        self.tour, self.is_tree = graph.search
        self.end = len(prompt)
        self.last = self.end + len(self.tour)
        told = [words[token] for token in prompt + layout.answer(self.tour, self.is_tree, graph.n)]
        self.text = Input(tokens_of(told))
        self.window = range(-1, len(told))
        self.records = {}
        for e, (a, b) in enumerate(graph.edges, start=1):
            self.records |= {(b, a): 3 * e + 1, (a, b): 3 * e + 2}
        owners = {j: own for (own, _), j in self.records.items()}
        self.owned = {v: [h for h in self.window if owners.get(h, 0) == v] for v in self.window}
        self.visits = {v: self.end + 1 + self.tour.index(v) for v in self.tour}
        self.around = networkx.Graph(graph.edges)
        self.around.add_nodes_from(range(1, graph.n + 1))

    def states(self) -> Iterator[dict[str, Any]]:
        """From vertex to vertex: all symbols."""
        roots = map(min, networkx.connected_components(self.around))
        ranks = networkx.multi_source_dijkstra_path_length(self.around, set(roots))
        fixed = {
            "n": self.n,
            "edges": self.edges,
            "number": self.number,
            "visit": lambda v: self.visits.get(v, 0),
            "rec": lambda v, u: self.records.get((v, u), 0),
            "next": self.next,
            "prev": self.prev,
            "depth": self.depth,
            "among": lambda m, i: sum(v <= m and visit <= i for v, visit in self.visits.items()),
            "rank": lambda v: ranks.get(v, 0),
            "ranked": networkx.is_forest(self.around),
        }
        fixed |= {name: partial(value, self.text, atom) for atom, name in self.functions.items()}
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
            yield fixed | {
                "k": k,
                "path": frozenset(path).__contains__,
                "taken": lambda v, taken=dict(taken): taken.get(v, 0),
                "closed": reached.__contains__,
                "v0": min({*range(1, self.n + 1)} - reached, default=0),
            }

    def number(self, k: int) -> int:
        return self.text.tokens[k - 1][1] if 1 <= k <= len(self.text.tokens) else 0

    def depth(self, v: int) -> int:
        return 1 + self.depth(self.tour[self.visits[v] - self.end - 2]) if v != 1 and v in self.visits else 0

    def next(self, i: int, v: int) -> int:
        return min((h for h in self.owned.get(v, ()) if h > i), default=0)

    def prev(self, j: int) -> int:
        return max((h for owned in self.owned.values() if j in owned for h in owned if 1 <= h < j), default=0)


def value(text: Input, atom: Atom, *at: int) -> Any:
    """What a function of a definition is; at positions that are none, as at 1, where nothing is to be read."""
    k = max(at[-1], 1)
    match atom:
        case Pick() | Next():
            return text.chosen(atom, k)[0]
        case Named(_, of):
            return text.value(of, k)
        case IsWord(word):
            return text.tokens[k - 1] == (word, 0)
        case Count(Matching(((key, _),))):
            return sum(text.value(key, j) == at[0] for j in range(2, k + 1))
    raise TypeError(atom)


def answers_of_another_solver(made: Theory) -> dict[str, str]:
    """What cvc5 says to the question of each lemma."""
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
    return dict(zip(made.lemmas, said.splitlines(), strict=True))

"""What is asked of every theory: its lemmas are true of runs, and follow, by another solver too; with a fault they do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import cvc5
import networkx

from verify.dossiers.istree.runs.graphs import Around
from verify.induction.evaluation import Compiled
from verify.induction.theory import Fact, Theory, expression_text

# About YES in a graph that is not connected: no run has that.
CONTRADICTIONS = {"father-of-missed", "edge-to-missed", "yes-is-right"}
EFFORTS = (100_000, 500_000, 2_000_000)  # in units of z3


class LemmaRun(Protocol):
    """What each symbol is, from place to place, and the integers at which facts about all are tried."""

    window: Sequence[int]

    def states(self) -> Iterator[dict[str, Any]]: ...


class RunOfGraph(LemmaRun, Protocol):
    """A run on a graph of n vertices."""

    n: int
    around: Around


class Trial:
    """Facts of a theory, tried along runs. met: the names of those that were due at some place."""

    def __init__(self, made: Theory, tried: Mapping[str, Fact]) -> None:
        supposed = {name: made.facts[name] for fact in tried.values() for name in fact.supposes}
        self.tried, self.invariants = tried, made.invariants
        self.compiled = Compiled(made, {**tried, **supposed})
        self.met = set[str]()

    def along(self, run: LemmaRun) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None, dict[str, bool]]]:
        """Each place with the next one, None at the last, and with which facts hold there.

        Due are axioms and invariants everywhere, and lemmas where all that they suppose is true.
        """
        states = list(run.states())
        for state, following in zip(states, [*states[1:], None], strict=True):
            true = self.compiled.truths(state, run.window)
            for name, fact in self.tried.items():
                due = name in self.invariants or (fact.uses is None and not fact.supposes)
                if due or (fact.uses is not None and all(true[supposed] for supposed in fact.supposes)):
                    assert true[name], (run, state, name)
                    self.met.add(name)
            yield state, following, true


def is_tree(run: RunOfGraph, true: Mapping[str, bool], first: bool, last: bool) -> bool:
    """Whether the graph is one; what every search supposes, by these truths, is so at its first and last place and nowhere else."""
    around = networkx.MultiGraph(run.around.edges)
    around.add_nodes_from(range(1, run.n + 1))
    tree = bool(networkx.is_tree(around))
    assert true["starts"] == first
    assert true["goes-on"] == (not last)
    assert (true["over"] or true["closes"]) == last
    assert true["yes"] == (last and tree)
    assert true["misses-one"] == (not networkx.is_connected(around))
    return tree


def doubts_of_another_solver(made: Theory) -> dict[str, str]:
    """What cvc5 says to the question of each lemma, but for those that follow."""
    script = ["(set-logic ALL)", *map(expression_text, made.declarations)]
    for name in made.lemmas:
        fact = made.facts[name]
        used = [f"(assert {expression_text(made.facts[other].formula)})" for other in fact.uses or ()]
        script += ["(push)", *used, f"(assert (not {expression_text(fact.formula)}))", "(check-sat)", "(pop)"]
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("incremental", "true")
    solver.setOption("rlimit-per", "2000000")  # the same on every machine
    parser, said = cvc5.InputParser(solver), ""
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "\n".join(script), "lemmas")
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, parser.getSymbolManager())
    return {name: answer for name, answer in zip(made.lemmas, said.splitlines(), strict=True) if answer != "unsat"}


def with_another_text(made: Theory, text: str, old: str, new: str) -> Theory:
    """The theory of this text, with something else in one place of it or of its parts."""
    assert sum(one.count(old) for one in (text, *made.parts.values())) == 1
    changed = Theory({name: part.replace(old, new) for name, part in made.parts.items()})
    changed.add(text.replace(old, new))
    return changed


def require_doubt(right: Theory, wrong: Theory, lemma: str) -> None:
    """The lemma follows from the right theory, and with the effort that this takes not from the wrong one."""
    effort = next((effort for effort in EFFORTS if not right.doubt(lemma, effort=effort)), None)
    assert effort is not None, f"{lemma} does not follow"
    assert wrong.doubt(lemma, effort=effort)

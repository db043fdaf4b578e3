"""Whether the axioms of a theory are true, and what its lemmas use can be, at each place of some small exact runs.

At every place all is evaluated, at the integers of a window. At some of them, one at least for each lemma, a solver says the same
of all integers: there the axioms, the invariants and what these lemmas use have a model. What rests on axioms alone is true
where they are, and is not asked again.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from verify.induction.evaluation import Compiled
from verify.induction.interpretation import first_doubt
from verify.induction.place import Place
from verify.induction.theory import Theory

LARGE = 10**15  # n, and other numbers, that no axiom may leave out
RUNS: dict[str, Callable[..., Iterable[Place]]] = {}
"""Runs by what `Theory.runs` names first, where that is no module; the rest of it is what these take."""


def places_of(theory: Theory) -> Iterator[Place]:
    """Yields the places of the runs that a theory is about; none if it names none."""
    if theory.runs:
        name, *given = theory.runs
        yield from (RUNS[name] if name in RUNS else importlib.import_module(name).places)(*given)


@dataclass(frozen=True)
class Shown:
    """What was seen along runs. doubt: why it is not enough; nothing if it is.

    models: places at which a solver says so of all integers. refuted: lemmas on what is true nowhere together.
    """

    doubt: str
    places: int = 0
    models: int = 0
    axioms: int = 0
    refuted: int = 0


def check_along_runs(theory: Theory, lemmas: Sequence[str]) -> Shown:
    """Evaluates facts and these lemmas of a theory along its runs. Returns the places seen, and a doubt if a fact fails at one.

    At the end z3 looks for a contradiction among the axioms alone where all numbers are large, since runs are small.
    """
    missing = {name: theory.facts[name].uses or () for name in lemmas}
    refutes = [fact.supposes - set(theory.invariants) for fact in theory.facts.values() if fact.formula == "false"]
    refuted = {name for name in missing if any(cases and cases <= theory.facts[name].supposes for cases in refutes)}
    missing = {name: uses for name, uses in missing.items() if name not in refuted}
    apart = set[str]().union(*(theory.facts[name].supposes for name in refuted))
    always = [*theory.axioms, *theory.invariants]
    compiled, places, models = Compiled(theory, theory.facts), 0, 0
    for place in places_of(theory):
        name = ""
        try:
            compiled.move_to(place.symbols, place.window)
            for name in always:
                if not compiled.holds(name):
                    return Shown(f"{name} is false: {place.name}")
            true = {name for name in apart if compiled.holds(name)}
            met = {name for name, uses in missing.items() if all(map(compiled.holds, uses))}
            if true or met or not places:
                used = true.union(*(missing.pop(name) for name in met)).difference(always)
                suppositions = [name for name in theory.facts if name in used and theory.facts[name].supposes]
                if doubted := first_doubt(theory, place, [*always, *suppositions]):
                    fact, answer = doubted
                    return Shown(f"{fact} is not seen to be true of all integers: {place.name}: z3 says {answer}")
                apart, models = apart - true, models + 1
        except (ArithmeticError, LookupError, NameError, TypeError, ValueError) as error:
            return Shown(f"{name or 'a macro'} cannot be evaluated: {place.name}: {error}")
        places += 1
    if not places:
        return Shown("no run is named along which axioms could be evaluated")
    if apart or missing:
        what = [f"{name} is true" for name in sorted(apart)] + [f"all that {name} uses is true" for name in missing]
        return Shown(f"at no place of a run {what[0]}" + (f", and {len(what) - 1} more" if what[1:] else ""))
    for least, also in ((None, ""), (LARGE, f", if each number is {LARGE:,} or more")):
        if theory.of_axioms(least) == "unsat":
            return Shown(f"z3 derives a contradiction from the axioms alone{also}")
    return Shown("", places, models, len(theory.axioms), len(refuted))

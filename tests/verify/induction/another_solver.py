"""Another solver than z3."""

from __future__ import annotations

import cvc5

from verify.induction.theory import Theory, written


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

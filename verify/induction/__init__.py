"""Inductions over the steps of a run, for every size at once, as lemmas that SMT solvers decide.

`verify.explain` certifies that each word which a model says is a defined step. Where a run has as many steps as its input is long,
that the steps lead to the right answer is an induction, and here it stands: invariants, that they hold at the first step and
that each step keeps them, and what follows from them at the last one.

translation  terms of verify/programs as SMT-LIB
theory       lemmas, what each of them rests on, and the solver that decides them
along        whether axioms are true, and what lemmas use can be, at each place of small exact runs

The lemmas themselves, and the runs, are the dossiers' own (verify/dossiers/istree/lemmas, verify/dossiers/turing/lemmas).
"""

"""Inductions over the steps of a run, for every size at once, as lemmas that SMT solvers decide.

`verify.explain` certifies that each word which a model says is a defined step. Where a run has as many steps as its input is long,
that the steps lead to the right answer is an induction, and here it stands: invariants, that they hold at the first step and
that each step keeps them, and what follows from them at the last one.

translation  terms of verify/programs as SMT-LIB
theory       lemmas, what each of them rests on, and the solver that decides them
search       Algorithm 1's search ends, with YES if and only if the graph is a tree
turns        Algorithm 2's text of turns is such a search
frames       the hybrid's search in frames ends with YES if and only if the graph is a tree
models       which lemmas there are on the runs of a model
machine      a Turing machine's text of steps is its run
turning      its configurations, where the tape turns around, are its run, and the queue holds the next one
"""

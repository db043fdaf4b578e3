"""Certificates: soundness of rounding, proved from the weights for all inputs at once.

A theorem about a model is two things: the ideal model (the same weights over exact rationals; attention averages the keys of
largest score) is the algorithm; and every register of the rounded model is the ideal one, rounded, or within a stated number of
steps of it. This package proves the second, and tells whether two models have the same ideal; `verify.programs` is about the first.

building     the model and the inputs of a subject, which its dossier has, and the matrices that users get (verify/dossiers/)
automata     which token sequences are meant, and the invariants of their runs that are assumed, by name (verify/automata/)
rows         the weights, exactly: from matrices or from the plan; numbers, or affine forms of n
model        the rows with a described vocabulary: numbers v ↦ polynomials, finitely many special words
domains      atoms (Integer, Reciprocal, Rounded), of which n and the position are two; bounds of polynomials over them
abstract_state   a position's registers as polynomials over atoms, split where a sign asks for it
operators    the transfer of rows, gates and residual additions; a gate of unknown sign splits a state
scores, candidates, attention, nearest, rational   the transfer of heads: margins, saturation, and who can win
join         abstract states that differ in bounds only become one
recurrence, queues   the transfer of linear recurrences: windows over the last tokens, sums, and digits in a queue
output       the argmax is the same
symbolic     n as a symbol: builders that are given it make the weights of every n of an interval
checker      the walk over the blocks; document, files, ranges: what is stored and compared, and every n of an interval at once
ideal, hard_inputs, runs   every input of the smallest models, and hard inputs where no rule says anything, against exact rationals
mutants, weight_margins   single weights that are changed: what is refused, how far the others may move

Trusted: all of these files. Nothing else re-checks a certificate but the same checker, run again (`--replay`); tests hold it
against exact runs and against mutants.
"""

"""Circuits over AND and XOR: arithmetic of R_p, files, proofs of equality, and the step of an RNN (Theorem 4.8).

Read in this order; each file needs only those before it:

circuit           gates in order, as data; running them on many cases at once
builder           bits with operators, folded and shared
sums              adders, canonical signed digits, a heap of weighted bits
numbers           R_p in gates: every operator exact and rounded once
operations        negate, compare, add, multiply, ReLU as circuits of their own, with their sizes as formulas
obvious           the same, written again in the most obvious way
lanes             numbers as bits
equivalence, berkeley_abc
                  whether two circuits are equal: by SAT, and by others
aiger, aiger_read, dot
                  files
step              one step of an RNN, numbered as the theorem wants it
ranges            what its state can be, by induction
cones, forms      sums of few bits, case by case; numbers as sums of bits that become gates late
compiler, models  the step from a Linear RNN's matrices; the RNNs that there are circuits of
reliance          what a step relies on made part of it, for SAT
runs              an RNN run through its circuit, its searches answered
plan, simulation  Theorem 4.8's Transformer that writes every gate: what it is made for, its weights
simulator, simulate, scene
                  the same as a model to run; its command; its page
"""

import sys

if sys.argv[:1] == ["-m"]:  # a command that Python is still looking for: an interrupt ends it in one line from here on
    import constructions  # noqa: F401

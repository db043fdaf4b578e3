"""Programs: what the ideal model computes, read off its weights and held against the task.

A certificate says that a rounded run is the ideal model's. This package says which function the ideal model is: the same weights
over exact rationals, with attention that averages the keys of largest score. The language of programs and its interpreter stand in
`constructions.language`.

forms        what a term alone tells: its scale, what it is at position 1
tables       terms that tokens alone tell, value by value
sizes        numbers that may depend on n
text         a term as people read it
texts        which inputs end at a state
pieces       which texts a run can be that is written in pieces
facts        bounds that hold at some states of all inputs
cases        what is known of a term all together, where its products one by one say less
matches      which positions match what is asked for, and which of them is picked
normal       the normal form: every rule is an identity, given such bounds
products     products of atoms, by what is known of their factors
implied      what factors say together where none of them is 0
shares       unit fractions, which counts are
units        feed-forward units over one number, added up
heads        who wins a head, in place of its scores
output       which word has the largest logit
extraction   the walk over the blocks: weights in, terms out
shorthand    short forms in which definitions are written; the definitions are the dossiers' own (verify/dossiers/)
decisions    whether the program says what a definition says, case by case
witness      a small input on which a program is not the task
document     the program and its comparison, as one JSON document
intervals    one of them for every n of an interval

Soundness. The walk transcribes: an affine row is a polynomial, ReLU(g)·u the product of two terms, a head the mean over the
largest scores. After that terms are only replaced by equal ones, each rule an identity over what `Facts` knows. A head whose
winners no rule tells keeps its scores, and the comparison that needs it names it and stops. Tests hold every register's term
against exact runs, random terms against their normal forms, and changed weights against the verdict.
"""

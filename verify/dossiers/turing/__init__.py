"""Turing machines: each word of a run, after those before.

models           the dossiers of the chain of thought, the Linear RNN with searches and the hybrid
every_machine    all machines of one size at once, of which a rule may say anything
tapes            texts of steps, as token automata; configurations: texts of configurations
steps            a word of a step, as a program; turning: a cell of the next configuration
searches         what the searches on a tape find: their patterns beside the terms of `steps`
lemmas           what is written is the machine's run, for every n
runs             small exact runs, along which what lemmas use is true
"""

from verify.dossiers.turing import every_machine, models

DOSSIERS = (*models.DOSSIERS, *every_machine.DOSSIERS)

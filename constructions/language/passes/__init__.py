"""The passes of the compiler, in their order; each takes plain data and returns plain data.

facts         what is known of each term: bounds, whether it is a whole number, a bit, a count
answer        from the answer to rules: what is said, and under which conditions
expand        of each product of atoms: the term that it equals, or the operation that computes it
comparisons   the operations that are comparisons: as units on what is compared
selects       which positions a head reads: what it compares, and with what
schedule      which operations are needed, in which order, and in which block each stands
registers     a register for each value, and how large it can be
heads         heads and recurrences over registers
gates         feed-forward units over registers
output        the units that say a word or a number
requirements  what must fit the format, and so the least p

`operations.py` has the data that the passes hand on.
"""

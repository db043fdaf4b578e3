"""Runs along which axioms and what lemmas use are evaluated (`verify.induction.evaluation`): what each symbol is at their places.

graphs   components of a graph, and distances in it
search   Algorithm 1's vertices
turns    Algorithm 2's text of turns
frames   the hybrid's search in frames
machine  a Turing machine's text of steps
turning  a Turing machine's configurations
"""

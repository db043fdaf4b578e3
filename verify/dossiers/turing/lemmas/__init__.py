"""Lemmas on runs, for every n, and the text of their axioms in SMT-LIB."""

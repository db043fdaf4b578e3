"""Lemmas on runs, for every circuit, and the text of their axioms in SMT-LIB."""

"""Constructions of other papers, one program a file."""

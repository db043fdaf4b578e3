"""Constructions of this and other papers, one program a file."""

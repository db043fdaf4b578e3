"""Patterns: what the searches that models write find, in texts of any length and numerals of any size, by automata.

pattern    a regular expression as instructions, from Python's own parser
tally      a number that is not told, beside what is counted in a text
matching   a text read by them, character by character, as `re.search` is documented
heads      a term over the text, taken apart
readings   what it reads, word by word
texts      both together over all texts of a language: where they differ

A dossier has the searches of its model, each with the term that says what it finds (verify/dossiers/), and lemmas rest on these.
Here it is shown that the pattern, by the documented meaning of its parts, finds the same. What is trusted beside this code:
Python's parser of patterns, and that `re` does what is documented. Tests hold `matching` against `re` on random patterns and
texts.
"""

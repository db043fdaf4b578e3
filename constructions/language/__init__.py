"""The language of programs: definitions are written in it, and explanations of weights come out in it.

terms        polynomials over what a position knows, and reads of other positions
interpreter  what a term is on one input, by the plain meaning of each word; no other code of this project
"""

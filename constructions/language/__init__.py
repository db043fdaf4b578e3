"""The language of programs: definitions are written in it, explanations of weights come out in it, and it is compiled to weights.

values       how people write: number, position, word, select, choose, …
texts        which texts a program is for: numbers, words, some, many, optional
program      a program with its texts, its oracle and its examples
weights      what weights of a program have, compiled or not: vocabulary, embedding, setting
compiler     from a program to the blocks of a model, by the passes of `passes/`
bounds       between which numbers a term lies
model        a program as a model that can be prompted, run and judged
handwired    a program as a model whose blocks a person wrote
files        programs in files
terms        what all of it means: polynomials over what a position knows, and reads of other positions
interpreter  what a term is on one input, by the plain meaning of each word; no other code of this project
"""

from constructions.language.program import Pin, program
from constructions.language.texts import either, many, numbers, optional, some, words
from constructions.language.values import (
    alternating_sum,
    choose,
    is_number,
    number,
    position,
    positive,
    running_sum,
    say,
    select,
    table,
    word,
)

__all__ = [
    "Pin",
    "alternating_sum",
    "choose",
    "either",
    "is_number",
    "many",
    "number",
    "numbers",
    "optional",
    "position",
    "positive",
    "program",
    "running_sum",
    "say",
    "select",
    "some",
    "table",
    "word",
    "words",
]

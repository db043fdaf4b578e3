"""Where things stand in the arrays of the heads' indices, and what numbers there mean; index.py says what an index is.

Compiled code reads these as attributes of this module. Then numba takes each of them for any integer. It takes a global of the
function's own module for a literal, and compiles a function once more for each literal that is an argument.
"""

from __future__ import annotations

MOST_SPECIAL = 16
MOST_EXCEPTIONS = 8  # of one register
FIELDS = 40
# Of a head: what it is
USED, SCORE, VALUE, QUERY, VALUES, OUTPUT, COEFFICIENTS, ROWS = range(8)
STORE_AT, STRIDE, GROUPS_AT, RUNS_AT, SUMS_AT, TABLE_AT, TABLE_MASK, ARENA_AT, LISTS_AT = range(8, 17)
# … its structure, and what it holds
STRUCTURED, ORDINARY, SPECIALS, MATCHING, PREFERENCE, ROOT, SQUARE, LOOSE = range(17, 25)
GROUPS, RUNS, ARENA, LEAST, GREATEST, INEXACT, HOPELESS, NEXT_TRY, TRIES = range(25, 34)
NARROW, SUMMED, REALS_AT, ARENA_REALS_AT = range(34, 38)
ABSENT = -1
NO_PREFERENCE, QUADRATIC, LINEAR = range(3)
# Lists of a head: six with an entry for each register, then the special keys, and MOST_SPECIAL places behind these the inexact ones
SLOTS, FLAT, EXCEPTIONS, ROOTS, SQUARES, ZEROS, SPECIAL_KEYS = range(7)
# What `certify` finds: how many winners, runs and special keys that win, one of them; where the runs and the special keys that win
# begin, and the runs that were looked at
WINNERS, WINNING_RUNS, WINNING_SPECIALS, ONE_WINNER, RUN_WINNERS, SPECIAL_WINNERS, RUNS_LOOKED_AT = 0, 1, 2, 3, 4, 8, 32
FOUND_FIELDS = 40
# (first key, place in the arena, runs, room); (first key, number of keys, place of the sums of their values if there are several)
GROUP_FIELDS, RUN_FIELDS = 4, 3
ARENA_PLACE, GROUP_RUNS, GROUP_ROOM = 1, 2, 3
RUN_KEYS, RUN_SUMS = 1, 2
# Floats of a head: the least and the greatest preferred register; what a query wishes of the matching ones, and its coefficients
LEAST_REAL, GREATEST_REAL, WISH_REALS = 0, 1, 2
# The scratch array: the largest element, then for each used register its coefficient, of A limbs; then the wishes, and the scores
LARGEST, FREE = 0, 8

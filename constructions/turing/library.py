"""Machines with names: what each does, the tape that it wants, and a run whose outcome is known.

Source: the champions of the busy-beaver literature (Rado, Lin, Brady, Marxen, Buntrock, T. and S. Ligocki); the others are ours.
Notation: numbers are written with 1 for the digit 0 and 2 for the digit 1, as 0 is the blank. Machines that answer a question
halt in Y or in N.
"""

from __future__ import annotations

from dataclasses import dataclass

from constructions.turing.machine import Machine, MachineError, parse_standard, parse_table


@dataclass(frozen=True)
class NamedMachine:
    """A machine with a name. On the tape `example` it halts after `steps` steps and leaves `nonblank` cells that are not blank.

    wants: its tape words, for people. accepts: a regular expression for them; on other words its sentence does not hold.
    """

    name: str
    machine: Machine
    does: str
    wants: str
    accepts: str
    example: str
    steps: int
    nonblank: int


def find(name: str) -> NamedMachine:
    """Returns the machine of a name. Raises MachineError."""
    for named in LIBRARY:
        if named.name == name:
            return named
    raise MachineError(f"no machine is called {name[:40]!r}; there are {', '.join(named.name for named in LIBRARY)}")


def _beaver(name: str, does: str, code: str, steps: int, nonblank: int) -> NamedMachine:
    return NamedMachine(name, parse_standard(code), does, "a blank tape", "[0-9]*", "", steps, nonblank)


INCREMENT = """
A 1 -> 1 R A  # to the end of the number
A 2 -> 2 R A
A 0 -> 0 L B
B 2 -> 1 L B  # the carry
B 1 -> 2 L Z
B 0 -> 2 L Z
"""

PALINDROME = """
A 1 -> 0 R B  # the first symbol, to be met at the end
A 2 -> 0 R C
A 0 -> 0 R Y
B 1 -> 1 R B  # it was 1
B 2 -> 2 R B
B 0 -> 0 L D
C 1 -> 1 R C  # it was 2
C 2 -> 2 R C
C 0 -> 0 L E
D 1 -> 0 L F
D 2 -> 2 L N
D 0 -> 0 L Y  # it was the only one
E 2 -> 0 L F
E 1 -> 1 L N
E 0 -> 0 L Y
F 1 -> 1 L F  # back to what is now the first
F 2 -> 2 L F
F 0 -> 0 R A
"""

ADDITION = """
A 1 -> 1 R A
A 0 -> 1 R B  # joins the two
B 1 -> 1 R B
B 0 -> 0 L C
C 1 -> 0 L Z  # one is too many now
"""

# The lowest digit comes first. An even number loses it; an odd n becomes (3n + 1)/2, which also makes its lowest digit blank.
# With the carry c, the digit d leaves (3d + c) mod 2 and the carry (3d + c) div 2.
COLLATZ = """
A 1 -> 0 R A  # even
A 2 -> 0 R B  # odd
A 0 -> 0 R Z  # there was no number
B 0 -> 2 R Z  # the number is 1
B 1 -> 1 R D  # carry 2, the first digit after the lowest
B 2 -> 2 R C
C 0 -> 1 R D  # carry 2
C 1 -> 1 R D
C 2 -> 2 R C
D 0 -> 2 L E  # carry 1
D 1 -> 2 R F
D 2 -> 1 R C
E 1 -> 1 L E  # back to the lowest digit
E 2 -> 2 L E
E 0 -> 0 R A
F 0 -> 0 L E  # carry 0
F 1 -> 1 R F
F 2 -> 2 R D
"""

# The lowest digit comes first. k ones in front cost 2k + 2 steps, so m zeros last 2^(m + 2) − m − 2 steps.
COUNTER = """
A 3 -> 3 R B
A 1 -> 1 L A  # back to the lowest digit
B 2 -> 1 R B  # the carry
B 1 -> 2 L A
B 3 -> 3 L Z  # the last carry
"""

LIBRARY: tuple[NamedMachine, ...] = (
    _beaver("bb2", "the busy beaver of two states", "1RB1LB_1LA1RZ", 6, 4),
    _beaver("bb3", "the three-state machine that runs longest", "1RB1RZ_1LB0RC_1LC1LA", 21, 5),
    _beaver("bb3-ones", "the three-state machine that leaves most ones", "1RB1RZ_0RC1RB_1LC1LA", 14, 6),
    _beaver("bb4", "the busy beaver of four states", "1RB1LB_1LA0LC_1RZ1LD_1RD0RA", 107, 13),
    _beaver("bb5", "the busy beaver of five states", "1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA", 47_176_870, 4098),
    _beaver("bb2x3", "the busy beaver of two states and three symbols", "1RB2LB1RZ_2LA2RB1LB", 38, 9),
    _beaver("bb2x4", "the busy beaver of two states and four symbols", "1RB2LA1RA1RA_1LB1LA3RB1RZ", 3_932_964, 2050),
    NamedMachine(
        name="increment",
        machine=parse_table(INCREMENT),
        does="adds one to a number in binary",
        wants="a number, highest digit first, 1 for the digit 0 and 2 for the digit 1",
        accepts="[12]*",
        example="2122",
        steps=8,
        nonblank=4,
    ),
    NamedMachine(
        name="palindrome",
        machine=parse_table(PALINDROME),
        does="halts in Y if the word is a palindrome, in N if it is not",
        wants="a word of 1 and 2",
        accepts="[12]*",
        example="1221",
        steps=15,
        nonblank=0,
    ),
    NamedMachine(
        name="addition",
        machine=parse_table(ADDITION),
        does="adds two numbers in unary",
        wants="two numbers, each as so many 1, with one 0 between them",
        accepts="1*01*",
        example="11101",
        steps=7,
        nonblank=4,
    ),
    NamedMachine(
        name="collatz",
        machine=parse_table(COLLATZ),
        does="replaces n by n/2, or by (3n + 1)/2 if it is odd, until it is 1",
        wants="a number from 1 on, lowest digit first, 1 for the digit 0 and 2 for the digit 1, highest digit 2",
        accepts="[12]*2",
        example="22122",
        steps=798,
        nonblank=1,
    ),
    NamedMachine(
        name="counter",
        machine=parse_table(COUNTER),
        does="counts in binary until all digits are 0 again, and never leaves its tape word",
        wants="3, then a number, lowest digit first, 1 for the digit 0 and 2 for the digit 1, then 3",
        accepts="3[12]*3",
        example="3" + "1" * 10 + "3",
        steps=2**12 - 12,
        nonblank=12,
    ),
)

"""A number K that is not told, and how much has been counted: no more is kept than how far both are from each other.

A text is counted word by word, up to where K is reached and beyond. After each word the difference is one of a few numbers, or
more than these, or less. What is more may be one of them at the next word, and both are tried. So finitely many states stand for
all K and for texts of any length.
"""

from __future__ import annotations

from typing import NamedTuple

NEAR = 4  # differences less than this are told from each other
FAR = 4 * NEAR  # a way through a pattern that is so far behind what is counted is given up


class Tally(NamedTuple):
    """done: how much has been counted, NEAR if it is that or more. left: K less that, between −NEAR, if it is that or less, and
    NEAR, if it is that or more. fresh: whether the last word was counted.
    """

    done: int = 0
    left: int = 0
    fresh: bool = False

    def advance(self, counted: bool) -> tuple[Tally, ...]:
        """Returns what may be after one more word."""
        if not counted:
            return (Tally(self.done, self.left),)
        left = (NEAR, NEAR - 1) if self.left == NEAR else (max(self.left - 1, -NEAR),)
        return tuple(Tally(min(self.done + 1, NEAR), one, True) for one in left)

    def is_left(self, number: int) -> bool:
        """Returns whether K is what has been counted and so many."""
        return self.left == _near(number)

    def is_passed(self, number: int) -> bool:
        """Returns whether K and so many are less than what has been counted."""
        return self.left < _near(-number)

    def excess(self, more: int) -> int:
        """Returns how many more than what is left K and so many are."""
        if self.done == NEAR:
            raise ValueError("the pattern begins to count far from where the text is counted")
        if self.left < NEAR and self.done + self.left + more < 0:
            raise ValueError("less than no repetition is asked for")
        return self.done + more

    @staticmethod
    def count_one(more: int) -> int:
        """Returns the tally with one less left."""
        if more >= FAR:
            raise ValueError("the pattern goes on and on while the text is counted")
        return more + 1

    def is_over(self, more: int) -> bool:
        """Returns whether none remains of what is so many more than what is left."""
        return self.is_left(-more)


def initial(least: int) -> tuple[Tally, ...]:
    """Returns the tallies before any text, for each K from the least one on."""
    return tuple(Tally(left=left) for left in range(least, NEAR + 1))


def _near(number: int) -> int:
    if abs(number) >= NEAR:
        raise ValueError("the pattern or the term counts far from where the text is counted")
    return number

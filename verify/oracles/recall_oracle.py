"""What an associative-recall oracle adds to a recurrent model: on some inputs next to nothing.

Source: Theorem 5.1.
Derivation: the oracle answers a key by the token after its first place. `FirstFollowers` is the whole of what it knows, read token
by token: for any text that follows, what the oracle says of both together is determined by this and by the text that follows. So
if the oracle is all that a recurrent model can call, however often, Bob needs the model's state and this, and nothing else of
Alice's words. Where these are <s> and bits with one special token z after each, the oracle knows x_1 after <s>, z after 0 if
there is a 0, z after 1 if there is a 1, and x_2 after the first z: at most 6 possibilities. Of the 2^n inputs, 2^(n − 2) have one
and the same (x_1 ≠ x_2), and they need a state each: n − 2 bits.
The alphabet must be small. If the other tokens may be any of n, the oracle knows which of them occur, and that can be n bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from constructions.retrieval.task import START
from verify.oracles.reductions import INDEX, every_k, inputs

SPECIAL = "3"  # neither 1 nor 2, the tokens of the bits
INTERLEAVED = replace(
    INDEX,
    source="Theorem 5.1",
    statement="x is the sequence, bit b as the token b + 1, with the special token 3 after every bit; 2k − 1 is the position.",
    size=lambda n: max(2 * n, int(SPECIAL)),
    alice=lambda x: (START, *(word for b in x for word in (str(b + 1), SPECIAL))),
    bob=lambda n, k: INDEX.bob(n, 2 * k - 1),
)


@dataclass(frozen=True)
class FirstFollowers:
    """What stands after the first place of each token of a text. last: the text's last token, "" if it is empty."""

    followers: tuple[tuple[str, str], ...] = ()
    last: str = ""

    def read(self, words: Sequence[str]) -> FirstFollowers:
        """Returns the table after more of the text."""
        followers, last = dict(self.followers), self.last
        for word in words:
            if last:
                followers.setdefault(last, word)
            last = word
        return FirstFollowers(tuple(sorted(followers.items())), last)

    def follower(self, key: str, otherwise: str) -> str:
        """Returns what the oracle answers."""
        return dict(self.followers).get(key, otherwise)


def states_beside_oracle(n: int) -> int:
    """Returns the most lists of right answers among the x of which the oracle knows the same."""
    known = {
        (FirstFollowers().read(INTERLEAVED.alice(x)), tuple(INTERLEAVED.right_answer(x, k) for k in every_k(n)))
        for x in inputs(n)
    }
    return max(Counter(knows for knows, _ in known).values())

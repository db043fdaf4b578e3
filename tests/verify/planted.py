"""Plants a fault and judges a claim: `python -m tests.verify.planted FAULT FILE CLAIM [OPTION …]`, with pytest's exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from verify.framework.options import ALREADY_IMPORTED


def accepting_oracle() -> None:
    """C.19's judge takes any number for the nearest unit fraction."""
    from verify.claims import next_fraction

    next_fraction.is_nearest = lambda value, m: True


def silent_comparison() -> None:
    """What a part writes is never compared with its oracle."""
    from verify.runs import parts, probe

    probe.compare = parts.compare = lambda *args, **options: None


def contradictory_axiom() -> None:
    """number(1) is 0 and 1."""
    from verify.induction import theory

    text = theory.text_of
    one = "\n(axiom one (= (number 1) 1))"

    def changed(name: str, package: str) -> str:
        start = "(axiom start (= (number 1) 0))"
        return text(name, package).replace(start, f"{start}{one}")

    theory.text_of = changed


def one_key_for_many() -> None:
    """The checker takes each key that can win for the only one of its kind."""
    from verify.rounding.attention import HeadTransfer

    HeadTransfer._many = lambda head_transfer, candidate: False


def emptied_output() -> None:
    """What heads read is written nowhere."""
    from constructions.wiring import wire

    filled = wire._Filler.block

    def block(filler: Any, *given: Any) -> Any:
        made = filled(filler, *given)
        for head in made.heads:
            head.out[:] = 0
        return made

    wire._Filler.block = block


def with_scale(wrong: Callable[[Any], bool]) -> None:
    """The default of a match is better than a match, where `wrong` says so of n."""
    from tests.verify.faults import change_scale
    from verify.dossiers.registry import find_dossiers

    find_dossiers()  # which imports all that takes the scale by name
    change_scale(pytest.MonkeyPatch(), wrong, lambda scale: scale._replace(default=scale.preference))


def scale_in_a_gap() -> None:
    """The scale is wrong for 20,000 ≤ n < 5·10^11."""
    with_scale(lambda n: bool(20_000 <= n < 5 * 10**11))


def scale_of_plain_numbers() -> None:
    """It is wrong in this gap for plain numbers, not for a symbol of n."""
    with_scale(lambda n: isinstance(n, int) and 20_000 <= n < 5 * 10**11)


def default_in_a_gap() -> None:
    """The default is wrong for 300 ≤ n ≤ 3,000."""
    with_scale(lambda n: bool(300 <= n <= 3_000))


def fewer_bits_in_a_gap() -> None:
    """IsTree, lean, is built with two bits less than it needs for 5,000 ≤ n ≤ 9,000."""
    from constructions.istree.lean import Lean
    from tests.verify.faults import take_fewer_bits

    take_fewer_bits(pytest.MonkeyPatch(), Lean, lambda n: bool(5_000 <= n <= 9_000))


FAULTS: Mapping[str, Callable[[], None]] = {
    fault.__name__: fault
    for fault in (
        accepting_oracle,
        silent_comparison,
        contradictory_axiom,
        one_key_for_many,
        emptied_output,
        scale_in_a_gap,
        scale_of_plain_numbers,
        default_in_a_gap,
        fewer_bits_in_a_gap,
    )
}


def main(fault: str, *arguments: str) -> int:
    """Plants it, and runs pytest."""
    FAULTS[fault]()
    file, claim, *options = arguments
    return int(pytest.main([file, "--claim", claim, "-n", "0", "-p", "no:cacheprovider", *ALREADY_IMPORTED, *options]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Checks, for every n, that a machine which answers a family of prompts right has 2^n states: from "the answers differ" to states.

Source: Theorems 4.6, 4.7, 5.1 and 5.4, lower bounds; Lemmas C.24 – C.28. A theorem is a JSON object:

    {"states": "2**n", "family": FAMILY}

where FAMILY is a theorem of `trusted.pigeonhole`, or of `trusted.halting`: Alice's words for n bits x[1] … x[n], Bob's words for
k, and that the right answer is answers[x[k]]. It says: for all sizes of the family, each deterministic machine that answers all of
these prompts right has at least 2^n states after Alice's words, all at one position. So p bits of state have p ≥ n.

A machine is four functions, and nothing is known of them but two laws. `alice(x)` and `bob(k)` are the family's words, `length`
counts words, `state(w)` is the machine's state after words, `says(s, i, w)` is its answer if w is read next, in state s at position
i, after any chain of thought. `output(u, w)` is its answer to the prompt u w. If FAMILY has an oracle, what it answers is
the same for all x, so it is part of `says`.

    reads  output(alice(z), bob(k)) == says(state(alice(z)), length(alice(z)), bob(k))       it is a machine
    right  output(alice(z), bob(k)) == answer(k, z[k])                                      it is right, and FAMILY has been checked

A proof is {"family": a proof of FAMILY, "lines": [LINE, …]}. Each line is [left, right, rule, …], an equation. It holds for
lists of bits x and y and every k from 1 to n, if x and y lead to one state:

- "suppose": state(alice(x)) == state(alice(y)), and nothing else.
- "reads", "right": the laws, for z = x or y.
- "length": length(alice(x)) == length(alice(y)). No end of Alice's loops speaks of more than sizes, as is asked again here.
- "same", [i, …]: both sides are one function of arguments that are pairwise the same text, or equal by the lines i, ….
- "chain", [i, …]: from the left side to the right one by these lines, each forwards or backwards.

The last line is answer(k, x[k]) == answer(k, y[k]). FAMILY shows that the answers for 0 and for 1 differ, so x[k] == y[k]; k was
any of 1 … n, so x and y are one list. So two lists never lead to one state, and there are 2^n lists: each bit more doubles them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from verify.trusted import halting, pigeonhole
from verify.trusted.kernel import Rejected, reject

ARGUMENTS = {"alice": 1, "bob": 1, "length": 1, "state": 1, "says": 3, "output": 2, "answer": 2}
LISTS = ("x", "y")
END = ["answer(k, x[k])", "answer(k, y[k])"]


def check(theorem: Any, proof: Any) -> None:
    """Returns if the proof shows the theorem. Raises Rejected, whatever both are."""
    try:
        if set(theorem) != {"states", "family"} or theorem["states"] != "2**n":
            reject("a theorem says of a family that it needs 2**n states")
        if set(proof) != {"family", "lines"}:
            reject("a proof is of the family, and has lines")
        family = theorem["family"]
        (halting if family["task"] == "turing" else pigeonhole).check(family, proof["family"])
        names = {
            node.id for end in ends(family["alice"]) for node in ast.walk(ast.parse(end)) if isinstance(node, ast.Name)
        }
        if not names <= set(family["for"]):
            reject("how long Alice's words are depends on more than sizes")
        derive(proof["lines"])
    except Rejected:
        raise
    except Exception as error:  # of data that is no theorem or no proof
        raise Rejected(f"malformed: {type(error).__name__}: {error}") from error


def ends(program: Any) -> list[str]:
    """Returns the ends of a program's loops."""
    loops = [item for item in program if isinstance(item, dict)]
    return [end for item in loops for end in (item["to"], *ends(item["do"]))]


def derive(lines: Sequence[Any]) -> None:
    """Returns if each line follows, and the last is the end. Raises Rejected."""
    known: list[tuple[str, str]] = []
    for left, right, rule, *more in lines:
        one, other = term(left), term(right)
        if not follows(one, other, rule, [known[i] for i in numbers(more, len(known))]):
            reject(f"{left} == {right} does not follow by {rule}")
        known.append((one, other))
    if not known or list(known[-1]) != END:
        reject(f"the last line is {' == '.join(END)}")


def numbers(more: Sequence[Any], count: int) -> list[int]:
    """Returns the numbers of earlier lines. Raises Rejected."""
    (named,) = more or ([],)
    if not all(type(i) is int and 0 <= i < count for i in named):
        reject(f"a line names lines before it, not {named}")
    return list(named)


def term(text: str) -> str:
    """Returns a term in Python's own spelling. Raises Rejected for what is none."""
    tree = ast.parse(text, mode="eval").body
    require(tree)
    return ast.unparse(tree)


def require(tree: ast.expr) -> None:
    """Raises Rejected for what is no term."""
    match tree:
        case ast.Name(id="k" | "x" | "y") | ast.Subscript(value=ast.Name(id="x" | "y"), slice=ast.Name(id="k")):
            return
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if len(arguments) == ARGUMENTS.get(name):
            for argument in arguments:
                require(argument)
        case _:
            reject(f"{ast.unparse(tree)} is no term")


def follows(left: str, right: str, rule: str, used: Sequence[tuple[str, str]]) -> bool:
    """Returns whether left == right follows by a rule from the lines that it names."""
    if rule == "same":
        return congruent(left, right, used)
    if rule == "chain":
        for one, other in used:
            if left not in (one, other):
                return False
            left = other if left == one else one
        return left == right
    if used:
        return False
    if rule in ("suppose", "length"):
        function = {"suppose": "state", "length": "length"}[rule]
        return [left, right] == [f"{function}(alice({z}))" for z in LISTS]
    laws = {
        "reads": "says(state(alice({z})), length(alice({z})), bob(k))",
        "right": "answer(k, {z}[k])",
    }
    return rule in laws and any((left, right) == (f"output(alice({z}), bob(k))", laws[rule].format(z=z)) for z in LISTS)


def congruent(left: str, right: str, used: Sequence[tuple[str, str]]) -> bool:
    """Returns whether both are one function of arguments that are equal."""
    match ast.parse(left, mode="eval").body, ast.parse(right, mode="eval").body:
        case ast.Call(func=ast.Name(id=name), args=some), ast.Call(func=ast.Name(id=same), args=others) if name == same:
            pairs = zip(map(ast.unparse, some), map(ast.unparse, others), strict=True)
            return all(a == b or (a, b) in used or (b, a) in used for a, b in pairs)
    return False

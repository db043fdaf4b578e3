"""Checks proofs that recurrent models need 2^n states, for every n: from what a task asks to theorems for `verify.trusted.kernel`.

Source: Theorems 4.6, 4.7 and 5.1, lower bounds. A theorem is a JSON object. Texts are expressions of Python in whole numbers:

    {"task": "ngram", "for": {"n": 2, "c": 2}, "size": "c*n", "bits": "size/c",
     "alice": [{"for": "i", "to": "n", "do": [{"for": "j", "to": "c - 1", "do": [["i"]]}, ["n + 1 + x[i]"]]}],
     "bob": [{"for": "j", "to": "c - 1", "do": [["k"]]}], "answers": ["n + 1", "n + 2"]}

It says: for all numbers of `for` from the given one on, which is at least 1, all bits x[1] … x[n] and each k = 1 … n, what `alice`
writes and then `bob` is an input of the task, of this size; its right answer is answers[x[k]], and the two differ; `bits`, of the
size, is n. Alice does not know k, Bob does not know x. x[i] is 0 outside of 1 … n; y[i] is the parity of x[1] … x[i].

What follows: of the 2^n texts that Alice writes, all of one length, any two have words of Bob after which the right answers
differ. All that a deterministic recurrent model does there, whatever it thinks, depends on its state, the position and Bob's
words. If it is always right it has 2^n states at one position, n bits. `trusted.states` checks this step.

The tasks are the methods below. index: the q-th token. ngram: the token after the first place where the query stands.
counting: is there a q, so more than 0 of them? istree: items are edges between the vertices 1 … size; is the graph connected,
with size − 1 edges? Connected: labels that are equal at both ends of each edge are equal everywhere. With "oracle": "recall",
where items are tokens, a model may ask at any time what is behind the first place of one: of Alice's, this is the same for all x.

A proof is {"hints", "steps"}: where to look, and one proof for `trusted.kernel` of each theorem that is owed. No hint is trusted:
a place [number, [values]] is an item of a program with values for its loops; that these are in range is owed as well.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from verify.trusted import kernel
from verify.trusted.kernel import Rejected, parsed, reject

FIELDS = {"task", "for", "size", "bits", "alice", "bob", "answers"}
BITS, LABEL = ("x", "y"), "f"
RESERVED = {*BITS, LABEL, "k", "r", "size"}
NEVER = "0 == 1"
Texts = Iterable[str]


def check(theorem: Any, proof: Any, language: Callable[[Any, Any], list[Any]] | None = None) -> None:
    """Returns if the proof shows the theorem. Raises Rejected, whatever both are. language: if not `obligations`, another's."""
    try:
        for owed, step in zip((language or obligations)(theorem, proof["hints"]), proof["steps"], strict=True):
            kernel.check(owed, step)
    except Rejected:
        raise
    except Exception as error:  # of data that is no theorem or no proof
        raise Rejected(f"malformed: {type(error).__name__}: {error}") from error


def obligations(theorem: Any, hints: Any) -> list[Any]:
    """Returns the theorems that the kernel must be shown, in their order."""
    s = Statement(theorem)
    {"index": s.index, "ngram": s.ngram, "counting": s.counting, "istree": s.istree}[theorem["task"]](hints)
    if "oracle" in theorem:
        s.blind(hints["oracle"])
    return s.owed


@dataclass(frozen=True)
class Place:
    """An item of a program: its loops' variables with their last values, where it stands, its words."""

    loops: tuple[tuple[str, str], ...]
    position: str
    words: tuple[str, ...]

    def put(self, values: Mapping[str, str]) -> Place:
        """Puts values in place of some of its names, bits or variables."""
        return Place((), put(self.position, values), tuple(put(word, values) for word in self.words))

    @property
    def ranges(self) -> list[str]:
        """Returns the values that its variables take."""
        return [f"1 <= {name} <= {last}" for name, last in self.loops]


class Statement:
    """A theorem, and what is owed for it."""

    def __init__(self, theorem: Any) -> None:
        optional = set[str]() if theorem["task"] == "istree" else {"oracle"}  # edges are no tokens
        if set(theorem) - optional != FIELDS or theorem.get("oracle", "recall") != "recall":
            reject(f"a theorem has {', '.join(sorted(FIELDS))}, and perhaps an oracle for recall of tokens")
        self.sizes = sizes = theorem["for"]
        if "n" not in sizes or not all(fresh(name) and type(low) is int and low > 0 for name, low in sizes.items()):
            reject("the sizes are words, n among them, each from a whole number >= 1 on")
        self.given = [*(f"{name} >= {least}" for name, least in sizes.items()), "1 <= k <= n"]
        if "y[" in str(theorem["alice"]):
            self.given.append("y[k] == y[k - 1] + x[k] - 2*y[k - 1]*x[k]")
        self.owed: list[Any] = []
        self.answers = ["NO", "YES"] if theorem["task"] in ("counting", "istree") else list(theorem["answers"])
        if theorem["answers"] != self.answers:
            reject("the answers are a list, of NO and YES where the task is a question")
        self.alice, self.length = self.laid_out(theorem["alice"], (), BITS)
        self.bob, self.asked = self.laid_out(theorem["bob"], ("k",), ())
        self.size = self.known(theorem["size"])
        self.owe([], f"{put(self.known(theorem['bits'], ('size',), divided=True), {'size': self.size})} == n")

    def known(self, text: Any, more: Texts = (), bits: Texts = (), *, divided: bool = False) -> str:
        """Returns the text, if it speaks of nothing but sizes, `more` and these bits."""
        for node in ast.walk(parsed(text)):
            match node:
                case ast.Name(id=name) if name not in (*self.sizes, *more, *bits):
                    reject(f"{text}: {name} is not known here")
                case ast.Call():
                    reject(f"{text}: want a polynomial")
                case ast.Subscript(value=base) if ast.unparse(base) not in bits:
                    reject(f"{text}: want a bit")
                case ast.Div() if not divided:
                    reject(f"{text}: want a whole number")
        return f"({ast.unparse(parsed(text))})"

    def laid_out(self, program: Any, scope: Texts, bits: Texts) -> tuple[list[Place], str]:
        """Returns a program's items, and how many it writes. No loop's end depends on another's variable, on bits or on k."""
        found, length = list[Place](), "0"
        for item in program:
            if isinstance(item, list):
                found.append(Place((), f"{length} + 1", tuple(self.known(word, scope, bits) for word in item)))
                length += " + 1"
                continue
            name, last = item["for"], self.known(item["to"])
            if set(item) != {"for", "to", "do"} or not fresh(name, *self.sizes, *scope):
                reject(f"no loop: {item}")
            self.owe([], f"{last} >= 0")
            inner, one = self.laid_out(item["do"], (*scope, name), bits)
            before = f"{length} + ({name} - 1)*({one})"
            found += [Place(((name, last), *p.loops), f"{before} + {p.position}", p.words) for p in inner]
            length += f" + {last}*({one})"
        return found, length

    def item(self, places: list[Place], hint: Any, where: str = "", given: Texts = (), scope: Texts = ()) -> Place:
        """Returns an item with values for its loops. That these are in range is owed, and that it stands there."""
        number, texts = hint
        place = places[kernel.whole_number(number, len(places))]
        values = [self.known(text, ("k", *scope), BITS) for text in texts]
        for value, (_, last) in zip(values, place.loops, strict=True):
            self.owe(given, f"{value} >= 1")
            self.owe(given, f"{last} >= {value}")
        found = place.put({name: value for value, (name, _) in zip(values, place.loops, strict=True)})
        if where:
            self.owe(given, f"{found.position} == {where}")
        return found

    def owe(self, given: Texts, show: str) -> None:
        """Adds a theorem for all numbers that it speaks of."""
        trees = [parsed(text) for text in (*self.given, *given, show)]
        values = Values({node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)})
        *known, shown = [ast.unparse(values.visit(tree)) for tree in trees]
        self.owed.append({"for_all": values.kinds, "given": [*known, *values.facts()], "show": shown})

    def up_to_size(self, places: list[Place], words: int) -> None:
        """Requires that each item has so many words, which are numbers from 1 to the size."""
        for place in places:
            if len(place.words) != words:
                reject(f"an item has {words} words here")
            for word in place.words:
                self.owe(place.ranges, f"{self.size} >= {word}")
                self.owe(place.ranges, f"{word} >= 1")

    def tokens(self) -> list[str]:
        """Returns a sequence no longer than the size, and a query: its tokens are returned unless Bob writes them in a loop."""
        self.up_to_size([*self.alice, *self.bob], 1)
        self.owe([], f"{self.size} >= {self.length}")
        return [] if any(place.loops for place in self.bob) else [place.words[0] for place in self.bob]

    def tells(self, token: str) -> None:
        """Requires that the token is the answer for x[k], and that the answers differ."""
        zero, one = (self.known(answer, "k") for answer in self.answers)
        self.owe(["x[k] == 0"], f"{token} == {zero}")
        self.owe(["x[k] == 1"], f"{token} == {one}")
        self.owe([f"{zero} == {one}"], NEVER)

    def index(self, hints: Any) -> None:
        """Takes at: the place asked for."""
        (query,) = self.tokens()
        self.tells(self.item(self.alice, hints["at"], query).words[0])

    def ngram(self, hints: Any) -> None:
        """Takes first: where the query stands; match, query: its r-th token there and with Bob; answer: the place after."""
        self.tokens()
        first, within = self.known(hints["first"], "k"), ["r >= 1", f"{self.asked} >= r"]
        match = self.item(self.alice, hints["match"], f"{first} - 1 + r", within, "r")
        query = self.item(self.bob, hints["query"], "r", within, "r")
        self.owe([], f"{self.asked} >= 1")
        self.owe(within, f"{match.words[0]} == {query.words[0]}")
        self.none_before(first, put(query.words[0], {"r": "1"}))
        self.tells(self.item(self.alice, hints["answer"], f"{first} + {self.asked}").words[0])

    def none_before(self, position: str, token: str, *given: str) -> None:
        """Requires that Alice does not write the token before this position."""
        for place in self.alice:
            there = f"{position} >= {place.position} + 1", f"{place.words[0]} == {token}"
            self.owe([*given, *place.ranges, *there], NEVER)

    def counting(self, hints: Any) -> None:
        """Takes at: where the token stands if x[k] is 1."""
        (query,) = self.tokens()
        self.owe(["x[k] == 1"], f"{self.item(self.alice, hints['at']).words[0]} == {query}")
        self.none_before(f"{self.length} + 1", query, "x[k] == 0")

    def istree(self, hints: Any) -> None:
        """Takes labels: of each vertex; ends: places of edges' ends; apart: two; walks: from root to each item of labels."""
        edges = [*self.alice, *(Place(p.loops, f"{self.length} + {p.position}", p.words) for p in self.bob)]
        self.owe([], f"{self.length} + {self.asked} == {self.size} - 1")
        self.up_to_size(edges, 2)
        self.simple(edges)
        labels, many = self.laid_out(hints["labels"], ("k",), BITS)
        self.owe([], f"{many} == {self.size}")
        for edge, ends in zip(edges, hints["ends"], strict=True):
            found = [self.label(labels, edge, end, iter(hint)) for end, hint in zip(edge.words, ends, strict=True)]
            self.owe([*edge.ranges, "x[k] == 0"], " == ".join(found))
        self.owe([" == ".join(self.item(labels, hint).words[0] for hint in hints["apart"])], NEVER)
        for place, walk in zip(labels, hints["walks"], strict=True):
            given = [*place.ranges, "x[k] == 1"]
            steps = [self.item(edges, hint, "", given, dict(place.loops)).words for hint in walk]
            equal = [" == ".join(by_bits(end, lambda vertex: f"f[{vertex}]") for end in ends) for ends in steps]
            self.owe([*given, *equal], f"f[{place.position}] == f[{self.known(hints['root'], 'k')}]")

    def simple(self, edges: list[Place]) -> None:
        """Requires that an edge has two ends, and that none comes twice."""
        for edge in edges:
            a, b = edge.words
            self.owe([*edge.ranges, f"{a} == {b}"], NEVER)
            for other in edges:
                renamed = {name: name + "_" for name, _ in other.loops}
                later, ranges = other.put(renamed), [put(text, renamed) for text in other.ranges]
                behind = [*edge.ranges, *ranges, f"{later.position} >= {edge.position} + 1"]
                for u, v in (later.words, later.words[::-1]):
                    self.owe([*behind, f"{a} == {u}", f"{b} == {v}"], NEVER)

    def label(self, labels: list[Place], edge: Place, end: str, hints: Any) -> str:
        """Returns the label of an edge's end, whatever its bits are."""
        return by_bits(end, lambda v: self.item(labels, next(hints), v, edge.ranges, dict(edge.loops)).words[0])

    def blind(self, hints: Any) -> None:
        """Takes start: Alice's first place; keys: all tokens that she writes, each with its first place and the one after it."""
        self.known(self.item(self.alice, hints["start"], "1").words[0])
        keys = [self.known(key) for key, _, _ in hints["keys"]]
        for key, (_, first, behind) in zip(keys, hints["keys"], strict=True):
            place = self.item(self.alice, first)
            self.owe([], f"{place.words[0]} == {key}")
            self.none_before(place.position, key)
            self.known(self.item(self.alice, behind, f"{place.position} + 1").words[0])
        for place in self.alice:
            other = [f"{place.words[0]} <= {key} - 1 or {place.words[0]} >= {key} + 1" for key in keys]
            self.owe([*place.ranges, *other], NEVER)


def fresh(name: str, *scope: str) -> bool:
    return name.isascii() and name.isalpha() and name not in {*RESERVED, *scope}  # Python reads other letters as these


def by_bits(text: str, value: Callable[[str], str]) -> str:
    """Returns a value that depends on the text, by all values of its bits."""
    bits = [ast.unparse(node) for node in ast.walk(parsed(text)) if isinstance(node, ast.Subscript)]
    if not bits:
        return f"({value(text)})"
    zero, one = (by_bits(put(text, {bits[0]: number}), value) for number in "01")
    return f"((1 - {bits[0]})*{zero} + {bits[0]}*{one})"


def put(text: str, values: Mapping[str, str]) -> str:
    """Puts values in place of some of its names, bits or variables."""

    class Putting(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            new = values.get(ast.unparse(node)) if isinstance(node, ast.Name | ast.Subscript) else None
            return self.generic_visit(node) if new is None else parsed(new)

    return f"({ast.unparse(Putting().visit(parsed(text)))})"


class Values(ast.NodeTransformer):
    """Writes x[e], y[e] and f[e] as variables, the same for equal e: bits, and real numbers. All others are whole."""

    def __init__(self, names: set[str]) -> None:
        self.kinds = dict.fromkeys(sorted(names - {*BITS, LABEL}), "integer")
        self.reader = kernel.Checker({"for_all": dict(self.kinds), "given": [], "show": "0 == 0"})
        self.found: dict[tuple[str, Any], tuple[str, str]] = {}

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        letter, index = ast.unparse(node.value), ast.unparse(node.slice)
        key = letter, kernel.key(self.reader.polynomial(index))
        name, _ = self.found.setdefault(key, (f"{letter}{len(self.found)}", index))
        self.kinds[name] = "real" if letter == LABEL else "integer"
        return ast.Name(name)

    def facts(self) -> list[str]:
        """Returns that bits are 0 or 1, and equal at equal places."""
        bits = [(letter, *found) for (letter, _), found in self.found.items() if letter in BITS]
        given = [f"0 <= {name} <= 1" for _, name, _ in bits]
        for (letter, name, i), (other, another, j) in itertools.combinations(bits, 2):
            if letter == other and kernel.constant(self.reader.polynomial(f"({i}) - ({j})")) is None:
                given.append(f"{i} <= {j} - 1 or {i} >= {j} + 1 or {name} == {another}")
        return given

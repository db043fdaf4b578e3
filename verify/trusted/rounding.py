"""Checks a certificate of rounding: `python -I -S verify/trusted/rounding.py CERTIFICATE.json WEIGHTS.safetensors SIDECAR.json`.

It needs Python's standard library alone, and no other file. Whoever wrote the certificate is not trusted.

A certificate holds a number p of bits, a discipline, the SHA-256 of the weights and an automaton. The automaton is a list of states

    {"words": ["1", "2"], "low": 2, "high": 9, "after": [0, 1], "behind": null, "answer": false}

A text is a sequence of words. Its first is a word of state 0, which stands at position 1. The word at each later position h is a
word of a state with low ≤ h ≤ high, and the state of position h − 1 is among its `after`. If `behind` is a number b, the word is a
number of at most h − b. No state leads back to state 0.

Theorem, if the file is accepted. Take the p-bit machine with these weights: R_p, nearest, ties to even, under this discipline.
Take beside it the exact machine: the same weights and rational numbers, and a head reads the mean of the keys of largest score. For
each text of the automaton, at each position:

1. No weight is rounded, and no operation saturates but those that make a score, and its difference from the largest one.
2. Each head of both machines reads one position, and the same one, with the weight 1.
3. After each sublayer each register is that of the exact machine, rounded.
4. In a state of an answer one logit is above all others, and of the same word in both machines.

Not proved: that these texts are the task's, and that the exact machine solves it. A recurrence, and a head that reads a mean, are
rejected: there is no rule for them.

Method. A class is a state of the automaton, a position, and the registers of both machines. The checker finds a finite set of
classes after each sublayer; by induction over sublayers it has the class of each position of each text. Each rule is a method of
`Checker`.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

MOST_BYTES = 1 << 26
MOST_CELLS = 400  # pairs of a state and a position
MOST_CLASSES = 40_000
MOST_WORK = 4_000_000  # products of a query with a key
MOST_BITS = 255
Row = list[tuple[int, int]]  # (coordinate, quanta), zeros left out
Vector = tuple[int, ...]  # of the p-bit machine, in quanta
Exact = tuple[Fraction, ...]  # of the exact machine, in quanta


class Rejected(Exception):
    """The certificate does not show the theorem."""


def reject(why: str) -> NoReturn:
    raise Rejected(why)


class Class(NamedTuple):
    """The state and the position, and the registers of the p-bit machine and of the exact one."""

    cell: tuple[int, int]
    stream: Vector
    exact: Exact


class Checker:
    """One certificate, and the weights that it is about."""

    def __init__(self, certificate: Any, weights: bytes, sidecar: Any) -> None:
        p, discipline = certificate["p"], certificate["discipline"]
        if type(p) is not int or not 5 <= p <= MOST_BITS or p % 2 == 0:
            reject("p: no odd number from 5 to 255")
        if discipline not in ("fused", "sequential"):
            reject("discipline: neither fused nor sequential")
        if certificate["weights"] != hashlib.sha256(weights).hexdigest():
            reject("weights: the digest is of another file")
        self.shift = (p - 1) // 2
        self.most = (1 << (p - 1)) - 1
        self.fused = discipline == "fused"
        self.place = ""
        self.work = 0
        self.clamps = (
            False  # what is beyond the largest element becomes that one: in a score alone, which `winners` judges
        )
        self.tensors = tensors(weights)
        self.words = list(sidecar["vocabulary"])
        self.id = {word: i for i, word in enumerate(self.words)}
        if len(self.id) != len(self.words) or not all(isinstance(word, str) for word in self.words):
            reject("vocabulary: no list of different words")
        self.read_automaton(certificate["automaton"])

    # The automaton

    def read_automaton(self, automaton: Any) -> None:
        """Finds each pair of a state and a position that a text has, and which pairs may stand before it.

        The pairs of position h + 1 are those with an `after` among the pairs of position h: so every text is met, and perhaps more
        than texts. `before` holds what stands at any earlier position of a way to the pair, again perhaps more.
        """
        self.ids: list[list[int]] = []
        sources: list[set[int]] = []
        if len(automaton) > MOST_CELLS:
            reject(f"automaton: more than {MOST_CELLS} states")
        for state in automaton:
            if not self.id.keys() >= set(state["words"]):
                reject("automaton: no such word")
            ids = sorted({self.id[word] for word in state["words"]})
            low, high, after, behind = state["low"], state["high"], state["after"], state["behind"]
            if not ids or not all(type(i) is int for i in (low, high, *after, 0 if behind is None else behind)):
                reject("automaton: malformed state")
            if not all(0 <= i < len(automaton) for i in after) or type(state["answer"]) is not bool:
                reject("automaton: malformed state")
            self.ids.append(ids)
            sources.append(set(after))
        self.automaton = automaton
        if not automaton or automaton[0]["after"] or not automaton[0]["low"] <= 1 <= automaton[0]["high"]:
            reject("automaton: state 0 does not begin a text")
        self.before: dict[tuple[int, int], set[tuple[int, int]]] = {(0, 1): set()}
        last, position = [0], 1
        while last:
            position, fresh = position + 1, []
            for i, state in enumerate(automaton):
                earlier = [(j, position - 1) for j in last if j in sources[i]]
                if earlier and state["low"] <= position <= state["high"] and self.tokens(i, position):
                    self.before[i, position] = {cell for j in earlier for cell in (j, *self.before[j])}
                    fresh.append(i)
            last = fresh
            if len(self.before) > MOST_CELLS:
                reject(f"automaton: more than {MOST_CELLS} pairs of a state and a position")
        if not any(automaton[i]["answer"] for i, _ in self.before):
            reject("automaton: no text has an answer")

    def tokens(self, state: int, position: int) -> list[int]:
        """The tokens that may stand there."""
        behind = self.automaton[state]["behind"]
        if behind is None:
            return self.ids[state]
        if not all(self.words[i].isdecimal() for i in self.ids[state]):
            reject("automaton: a bound for a word that is no number")
        return [i for i in self.ids[state] if int(self.words[i]) <= position - behind]

    # Numbers

    def nearest(self, numerator: int, denominator: int) -> int:
        """ROUND: the nearest whole number of quanta, of two the even one. The elements of R_p are those up to `most`."""
        whole, rest = divmod(numerator, denominator)
        whole += 2 * rest > denominator or (2 * rest == denominator and whole & 1)
        if abs(whole) > self.most:
            if not self.clamps:
                reject(f"{self.place}: saturates")
            return self.most if whole > 0 else -self.most
        return whole

    def scaled(self, value: int) -> int:
        return self.nearest(value, 1 << self.shift)

    def dot(self, row: Row, vector: Vector, bias: int = 0) -> int:
        """A row of the p-bit machine. Terms that are 0 change nothing under either discipline."""
        if self.fused:
            return self.scaled(sum(w * vector[i] for i, w in row) + (bias << self.shift))
        total = 0
        for i, w in row:
            total = self.nearest(total + self.scaled(w * vector[i]), 1)
        return self.nearest(total + bias, 1)

    def exact_dot(self, row: Row, vector: Exact, bias: int = 0) -> Fraction:
        return sum((w * vector[i] for i, w in row if vector[i]), Fraction(0)) / (1 << self.shift) + bias

    # Weights

    def quanta(self, name: str) -> tuple[list[int], list[int]]:
        """The shape and the weights. A weight that R_p does not hold is rejected, as the exact machine has it as it is."""
        if name not in self.tensors:
            reject(f"weights: no {name}")
        shape, values = self.tensors.pop(name)
        result = []
        for value in values:
            scaled = Fraction(value) * (1 << self.shift)
            if scaled.denominator != 1 or abs(scaled) > self.most:
                reject(f"weights: {name}: no number of p bits")
            result.append(int(scaled))
        return shape, result

    def matrix(self, name: str, height: int | None, width: int) -> list[Row]:
        shape, values = self.quanta(name)
        if len(shape) != 2 or shape[1] != width or height not in (None, shape[0]):
            reject(f"weights: {name}: another shape is due")
        return [[(i, w) for i, w in enumerate(values[r * width : (r + 1) * width]) if w] for r in range(shape[0])]

    def vector(self, name: str, length: int) -> list[int]:
        shape, values = self.quanta(name)
        if shape != [length]:
            reject(f"weights: {name}: another shape is due")
        return values

    # Rules

    def check(self) -> int:
        """Returns how many classes there are after the last sublayer. Raises Rejected."""
        width = self.tensors["embed.words"][0][1]
        words, slopes = self.matrix("embed.words", len(self.words), width), self.vector("embed.position", width)
        unembed = self.matrix("unembed", len(self.words), width)
        classes = self.embed(words, slopes)
        blocks = 1 + max((int(name.split(".")[1]) for name in self.tensors), default=-1)
        for block in range(blocks):
            classes = self.attend(block, classes, width)
            classes = self.feed_forward(block, classes, width)
        if self.tensors:
            reject(f"weights: {min(self.tensors)}: there is no rule for it")
        self.answer(unembed, classes)
        return len(classes)

    def keep(self, classes: set[Class]) -> set[Class]:
        """Each register is that of the exact machine, rounded: claim 3, by calculation."""
        if len(classes) > MOST_CLASSES:
            reject(f"{self.place}: more than {MOST_CLASSES} classes")
        for item in classes:
            for i, (value, exact) in enumerate(zip(item.stream, item.exact, strict=True)):
                if self.nearest(exact.numerator, exact.denominator) != value:
                    reject(f"{self.place}: position {item.cell[1]}: register {i} is not the exact value, rounded")
        return classes

    def embed(self, words: list[Row], slopes: list[int]) -> set[Class]:
        """The sum of a word's row and the position times a slope, for each word that may stand there."""
        self.place = "embedding"
        classes = set[Class]()
        for state, position in self.before:
            if len(classes) > MOST_CLASSES:
                reject(f"embedding: more than {MOST_CLASSES} classes")
            for token in self.tokens(state, position):
                row = dict(words[token])
                exact = [row.get(i, 0) + position * slope for i, slope in enumerate(slopes)]
                parts = [row.get(i, 0) + self.nearest(position * slope, 1) for i, slope in enumerate(slopes)]
                stream = tuple(self.nearest(value, 1) for value in parts)
                classes.add(Class((state, position), stream, tuple(map(Fraction, exact))))
        return self.keep(classes)

    def attend(self, block: int, classes: set[Class], width: int) -> set[Class]:
        """Attention: each head reads the values of one class of an earlier position, or its own; then W_O of all, and the residual.

        `winners` says which values a head may read. All choices of the heads are taken together.
        """
        heads: list[tuple[list[Row], list[Row], list[Row], list[Row]]] = []
        while f"blocks.{block}.attn.{len(heads)}.W_Q" in self.tensors:
            site = f"blocks.{block}.attn.{len(heads)}."
            query = self.matrix(site + "W_Q", None, width)
            value = self.matrix(site + "W_V", None, width)
            key = self.matrix(site + "W_K", len(query), width)
            heads.append((query, key, value, self.matrix(site + "W_O", width, len(value))))
        if not heads:
            return classes
        found: dict[Class, list[tuple[Vector, Exact]]] = {item: [((), ())] for item in classes}
        out: list[Row] = [[] for _ in range(width)]
        start = 0
        for number, (query, key, value, written) in enumerate(heads):
            self.place = f"block {block + 1}, head {number + 1}"
            reads = self.reads(classes, query, key, value)
            for item in classes:
                found[item] = [(a + b, x + y) for a, x in found[item] for b, y in reads[item]]
            for i, row in enumerate(written):
                out[i] += [(start + j, w) for j, w in row]
            start += len(value)
            if sum(map(len, found.values())) > MOST_CLASSES:
                reject(f"{self.place}: more than {MOST_CLASSES} classes")
        return self.keep({self.added(item, out, [0] * width, *read) for item in classes for read in found[item]})

    def added(self, item: Class, rows: list[Row], biases: list[int], values: Vector, exacts: Exact) -> Class:
        """The residual sum: each register and what the rows write to it."""
        stream, exact = list(item.stream), list(item.exact)
        for i, (row, bias) in enumerate(zip(rows, biases, strict=True)):
            if row or bias:
                stream[i] = self.nearest(stream[i] + self.dot(row, values, bias), 1)
                exact[i] += self.exact_dot(row, exacts, bias)
        return Class(item.cell, tuple(stream), tuple(exact))

    def reads(
        self, classes: set[Class], query: list[Row], key: list[Row], value: list[Row]
    ) -> dict[Class, set[tuple[Vector, Exact]]]:
        """For each class, the values that the head may read there."""
        keys: dict[tuple[tuple[int, int], Vector, Exact], set[tuple[Vector, Exact]]] = {}
        own = {}
        for item in classes:
            own[item] = (item.cell, *self.image(key, item)), self.image(value, item)
            keys.setdefault(own[item][0], set()).add(own[item][1])
        known: dict[Any, set[tuple[Vector, Exact]]] = {}
        result = {}
        for item in classes:
            asked = (item.cell, self.image(query, item), own[item])
            if asked not in known:
                earlier = [(k, read) for k, read in keys.items() if k[0] in self.before[item.cell]]
                known[asked] = self.winners(asked[1], [*earlier, (own[item][0], {own[item][1]})], item.cell[1])
            result[item] = known[asked]
        return result

    def image(self, rows: list[Row], item: Class) -> tuple[Vector, Exact]:
        return tuple(self.dot(row, item.stream) for row in rows), tuple(self.exact_dot(row, item.exact) for row in rows)

    def lead(self, length: int) -> int:
        """A lead in quanta with which one key has the weight 1 and all others have 0, for a column of so many keys.

        Let 2^−q be the quantum, l < 2^b the number of other keys, and γ ≥ (q + 2 + b)·7/10 their distance. As ln 2 < 7/10,
        e^−γ < 2^−(q+2+b), so that all others together have l·e^−γ < 2^−(q+2), a quarter of a quantum.
        Fused: the winner has 1/(1 + ε) with 0 ≤ ε < 2^−(q+2), which is above 1 − ε and at most 1, and rounds to 1. Each other
        key has less than e^−γ, and rounds to 0.
        Sequential: the winner has exp(0) = 1. The difference of another key and the winner is whole, at most −γ; if it saturates,
        it is −most, and γ ≤ most is required. Its exp is below half a quantum, and rounds to 0. The sum is 1, exactly,
        and the quotients are 1 and 0.
        The weighted sum is then the winner's value, as 1·v + 0 is exact under both disciplines.
        """
        b = (length - 1).bit_length()
        lead = -(-(self.shift + 2 + b) * 7 * (1 << self.shift) // 10)
        if lead > self.most:
            reject(f"{self.place}: no lead is large enough")
        return lead

    def winners(self, query: tuple[Vector, Exact], keys: list[Any], length: int) -> set[tuple[Vector, Exact]]:
        """The values of each key that may win. In all texts it leads by `lead`, and it wins in the exact machine too.

        Every text has one key of each position, whose class is among `keys`. So its largest score is at least `floor`, the
        largest, over positions, of the least score there. Contenders have more than floor − lead. If each two contenders of
        different positions are `lead` apart, the best key of a text leads: another key is a contender, and
        `lead` below, or it has at most
        floor − lead. A key below `floor` never wins. Each key with a lower score has a lower exact score too: so the winner has
        the largest exact score alone.
        """
        self.work += len(keys)
        if self.work > MOST_WORK:
            reject(f"{self.place}: more than {MOST_WORK} products of a query with a key")
        lead, scored = self.lead(length), []
        least: dict[int, int] = {}
        rounded, exact = [(i, w) for i, w in enumerate(query[0]) if w], [(i, w) for i, w in enumerate(query[1]) if w]
        for (cell, key, exact_key), read in keys:
            self.clamps = True
            score = self.dot(rounded, key)
            self.clamps = False
            scored.append((score, sum((w * exact_key[i] for i, w in exact), Fraction(0)), cell[1], read))
            least[cell[1]] = min(score, least.get(cell[1], score))
        if set(least) != set(range(1, length + 1)):
            reject(f"{self.place}: a position has no key")
        floor = max(least.values())
        scored.sort(key=lambda entry: entry[:3])
        contenders = [entry for entry in scored if entry[0] > floor - lead]
        for i, one in enumerate(contenders):
            for other in contenders[i + 1 :]:
                if other[0] - one[0] >= lead:
                    break
                if other[2] != one[2]:
                    gap = Fraction(other[0] - one[0], 1 << self.shift)
                    reject(f"{self.place}: positions {one[2]} and {other[2]}: a lead of {float(gap):g} is too small")
        found: set[tuple[Vector, Exact]] = set()
        highest: Fraction | None = None  # exact score of what has a lower score than the next contenders
        i = 0
        while i < len(scored):
            j = i
            while j < len(scored) and scored[j][0] == scored[i][0]:
                j += 1
            if scored[i][0] >= floor:
                if highest is not None and any(entry[1] <= highest for entry in scored[i:j]):
                    reject(f"{self.place}: another key wins in the exact machine")
                for entry in scored[i:j]:
                    found |= entry[3]
            best = max(entry[1] for entry in scored[i:j])
            highest = best if highest is None else max(highest, best)
            i = j
        return found

    def feed_forward(self, block: int, classes: set[Class], width: int) -> set[Class]:
        """ReGLU units, max(0, gate)·up; then W_down of all, a bias, and the residual: by calculation in both machines."""
        self.place, site = f"block {block + 1}, feed-forward", f"blocks.{block}.ffn."
        gate, up = self.matrix(site + "W_gate", None, width), self.matrix(site + "W_up", None, width)
        if len(gate) != len(up):
            reject(f"{self.place}: as many gates as units are due")
        gate_bias, up_bias = self.vector(site + "b_gate", len(gate)), self.vector(site + "b_up", len(gate))
        down, down_bias = self.matrix(site + "W_down", width, len(gate)), self.vector(site + "b_down", width)
        after, one = set(), 1 << self.shift
        for item in classes:
            hidden, exact = [], []
            for g, a, u, b in zip(gate, gate_bias, up, up_bias, strict=True):
                hidden.append(self.scaled(max(0, self.dot(g, item.stream, a)) * self.dot(u, item.stream, b)))
                opened = max(Fraction(0), self.exact_dot(g, item.exact, a))
                exact.append(opened * self.exact_dot(u, item.exact, b) / one)
            after.add(self.added(item, down, down_bias, tuple(hidden), tuple(exact)))
        return self.keep(after)

    def answer(self, unembed: list[Row], classes: set[Class]) -> None:
        """Logits of every class, which do not saturate; in a state of an answer, one word has the largest in both machines."""
        self.place = "output"
        for item in classes:
            logits = [self.dot(row, item.stream) for row in unembed]
            if self.automaton[item.cell[0]]["answer"]:
                exact = [self.exact_dot(row, item.exact) for row in unembed]
                if logits.count(max(logits)) > 1 or exact.count(max(exact)) > 1:
                    reject(f"output: position {item.cell[1]}: a tie")
                if logits.index(max(logits)) != exact.index(max(exact)):
                    reject(f"output: position {item.cell[1]}: another word wins in the exact machine")


def tensors(data: bytes) -> dict[str, tuple[list[int], tuple[float, ...]]]:
    """Each tensor's shape and numbers, of a safetensors file of float64: no two share a byte, and none is left over."""
    (length,) = struct.unpack_from("<Q", data)
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    header.pop("__metadata__", None)
    found, end = {}, 0
    for name, item in sorted(header.items(), key=lambda pair: (*pair[1]["data_offsets"], pair[0])):
        (first, last), shape, size = item["data_offsets"], item["shape"], 1
        for extent in shape:
            if type(extent) is not int or extent < 0:
                reject(f"weights: {name}: no shape")
            size *= extent
        if item["dtype"] != "F64" or first != end or last != first + 8 * size or last > len(body):
            reject(f"weights: {name}: malformed")
        found[name], end = (shape, struct.unpack_from(f"<{size}d", body, first)), last
    if end != len(body):
        reject("weights: bytes are left over")
    return found


def check(certificate: bytes, weights: bytes, sidecar: bytes) -> int:
    """The number of classes at the end, if the certificate is accepted. Raises Rejected, whatever the bytes are."""
    try:
        if max(map(len, (certificate, weights, sidecar))) > MOST_BYTES:
            reject("a file is too large")
        return Checker(json.loads(certificate), weights, json.loads(sidecar)).check()
    except Rejected:
        raise
    except (Exception, RecursionError) as error:
        raise Rejected(f"malformed: {type(error).__name__}") from error


def main(arguments: list[str]) -> int:
    """Prints the verdict; returns the exit status."""
    if len(arguments) != 3:
        print("usage: rounding.py CERTIFICATE.json WEIGHTS.safetensors SIDECAR.json", file=sys.stderr)
        return 2
    try:
        files = [Path(name).read_bytes() for name in arguments]
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    try:
        count = check(files[0], files[1], files[2])
    except Rejected as why:
        print(f"rejected: {why}")
        return 1
    print(f"accepted: {count} classes after the last sublayer")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

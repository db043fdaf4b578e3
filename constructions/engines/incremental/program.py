"""The machine code of a model: one function that feeds tokens, straight on through embedding, blocks and output head."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from constructions.engines.incremental.heads import HeadCode, number, round_row, rows_of
from constructions.engines.incremental.layout import ENTRY, OWN, STRIDE, Layout
from constructions.engines.incremental.values import ZERO, Body, Operand, constant
from constructions.engines.incremental.words import WordColumns, parts_of
from constructions.engines.protocol import NotCovered
from constructions.engines.weights import Weights, column_of
from constructions.rows import Layer, Row

Array = Any
MOST_PARTS = 64
# The largest state of a recurrence, in steps of its inputs: so that a product of two fits a word; and where sums may be larger.
STATE, WORD_STATE = (1 << 31) - 1, (1 << 62) - 1


class MachineCode(NamedTuple):
    """text: in LLVM's language. layout: of what is kept of a position and beside. tables: arrays that the code reads."""

    text: str
    layout: Layout
    tables: Sequence[Array]
    kept: Sequence[Sequence[tuple[int, Operand]]]
    reasons: Sequence[str]
    heads: int


class Assembler:
    """Writes the code of one model for texts of fewer than 2^bits tokens.

    keep: of which sublayers the registers are kept at each position.
    """

    def __init__(self, weights: Weights, bits: int, keep: frozenset[int]) -> None:
        self.weights, self.model = weights, weights.model
        self.code = Body(weights.arithmetic)
        self.layout = Layout()
        self.tables: list[Array] = []
        self.length = 1 << bits
        self.keep = keep
        self.hashed: list[HeadCode] = []
        self.heads = 0
        self.kept: list[list[tuple[int, Operand]]] = []

    # Arguments: addresses of records, tokens, cells, stops, then of tables

    def table(self, array: Array) -> str:
        """Returns the address of an array, as the code knows it."""
        self.tables.append(np.ascontiguousarray(array))
        return f"%t{len(self.tables) - 1}"

    def compile(self) -> MachineCode:
        """Returns the program. Raises NotCovered."""
        code, width = self.code, self.model.width
        if self.model.said is None or len(self.model.said.registers) != width:
            raise NotCovered("nobody has said what the heads look up")
        names = self.model.said.registers
        code.say("br label %token")
        code.enter("token")
        code.say("%p = phi i64 [%begin, %start], [%following, %next]")
        code.say(f"%own = load i64, ptr {code.pointer(code.plus('%cells', 16))}")
        record = code.element("%records", OWN, STRIDE)
        self.layout.reused = not self.keep and sum(len(block.heads) for block in self.model.blocks) == 1
        position = Operand(code.plus("%p", 1), 1, self.length - 1, 0)
        stream = self._embed(code.cell(code.element("%tokens", "%p", 4), "i32"), position)
        self._keep(record, 0, stream)
        for place, (block, heads) in enumerate(zip(self.weights.blocks, self.model.said.heads, strict=True), start=1):
            if len(heads) != len(block.heads):
                raise NotCovered(f"block {place}: heads that nobody explained")
            if heads:
                code.about = f"block {place}: what its heads need of registers"
                self._know(stream, names)
            codes = [
                HeadCode(code, self.layout, names, head, rows, record, stream, self.length, position)
                for head, rows in zip(heads, block.heads, strict=True)
            ]
            checked, ends = set[object](), dict[Row, tuple[Operand, Operand]]()
            sharing: dict[object, list[HeadCode]] = {}
            for head_code in codes:
                code.about = f"block {place}, head {head_code.head.name}"
                head_code.check(checked, ends)
                sharing.setdefault(head_code.hold(), []).append(head_code)
            for leader, *others in sharing.values():
                leader.insert([leader, *others])
                for head_code in others:
                    head_code.share(leader)
                self.hashed += [leader] if leader.keys else []
            self.heads += len(sharing)
            outputs = list[Operand]()
            for head_code in codes:
                code.about = f"block {place}, head {head_code.head.name}"
                outputs += head_code.read()
            code.about = f"block {place}, a saturation or a state"
            changes = [(i, round_row(code, row, outputs)) for i, row in block.out]
            for i, change in changes:
                stream[i] = code.round(code.add(stream[i], change))
            self._recur(block, stream)
            self._keep(record, 2 * place - 1, stream)
            self._feed_forward(block, stream)
            self._keep(record, 2 * place, stream)
        code.say("%following = add i64 %p, 1")
        if not self.layout.reused:
            code.put(code.plus("%cells", 16), "%following")
        known = code.test("slt", "%following", code.cell("%cells"))
        code.branch(known, "next", "answer")
        code.enter("answer")
        token = self._argmax(stream)
        at = code.pointer(code.element("%tokens", "%following", 4))
        code.say(f"store i32 {code.op(f'trunc i64 {token} to i32')}, ptr {at}, align 4")
        stop = code.op(f"load i8, ptr {code.pointer(code.plus('%stops', token))}")
        code.branch(code.op(f"icmp eq i8 {stop}, 0"), "next", "done")
        code.enter("next")
        code.branch(code.test("slt", "%following", "%end"), "token", "done")
        code.enter("done")
        code.say("ret i64 %following")
        for i in range(len(code.reasons)):
            code.enter(f"giveup{i}")
            code.say(f"ret i64 {-1 - i}")
        functions = [self._function("feed", code, "i64 %begin, i64 %end")]
        for i, head_code in enumerate(self.hashed):
            moving = Body(self.weights.arithmetic)
            head_code.rehash(moving)
            functions.append(self._function(f"rehash{i}", moving, "i64 %old, i64 %slots"))
        text = "\n".join(functions).replace(STRIDE, str(self.layout.stride)).replace(ENTRY, str(self.layout.entry))
        return MachineCode(text, self.layout, self.tables, self.kept, code.reasons, self.heads)

    def _function(self, name: str, code: Body, parameters: str) -> str:
        arguments = ["%records", "%tokens", "%cells", "%stops", "%runs", *(f"%t{i}" for i in range(len(self.tables)))]
        head = [f"define i64 @{name}(ptr %given, {parameters}) {{", "entry:", *code.variables]
        for i, argument in enumerate(arguments):
            head += [f"%g{i} = getelementptr i64, ptr %given, i64 {i}", f"{argument} = load i64, ptr %g{i}"]
        return "\n".join([*head, "br label %start", "start:", *code.lines, "}"])

    # Sublayers

    def _embed(self, token: str, position: Operand) -> list[Operand]:
        code, stream = self.code, [ZERO] * self.model.width
        used, quanta, places = self.weights.embedding
        for i, register in enumerate(used):
            zeros, column = column_of(quanta, places[:, i])
            like = Operand("", int(column.min()), int(column.max()), code.quantum + zeros)
            if like.width > 64:
                raise NotCovered("words with numbers of more than one word")
            if like.low == like.high:
                stream[register] = Operand(str(like.low), like.low, like.high, like.exponent)
                continue
            base = self.table(column.astype(np.int64, copy=False))
            stream[register] = code.load(code.element(base, token, 8), like)
        for register, slope in self.weights.position.items():
            offset = code.scaled(position, slope * Fraction(2) ** code.quantum)
            offset = offset if code.fused else self._saturate(offset)
            stream[register] = self._saturate(code.add(stream[register], offset))
        return stream

    def _saturate(self, value: Operand) -> Operand:
        """Returns the number rounded; the largest element if it is beyond, which is on a grid of its own. Positions may be."""
        return self.code.round(
            self.code.lower_exponent(value, min(value.exponent, self.code.quantum))
            if not self.code.holds(value)
            else value
        )

    def _know(self, stream: list[Operand], names: Sequence[str]) -> None:
        """Checks that `one` is 1 and that `first` marks position 1, so that what follows knows it."""
        here = self.code.op(f"zext i1 {self.code.test('eq', '%p', 0)} to i64")
        for name, value in (("one", constant(1)), ("first", Operand(here, 0, 1, 0))):
            if name in names:
                i = names.index(name)
                self.code.guard(self.code.compare("eq", stream[i], value))
                stream[i] = value

    def _recur(self, block: Layer, stream: list[Operand]) -> None:
        if block.recurrence is None:
            return
        code, width = self.code, self.model.width
        feeds = [rows_of(code, feed, stream) for _, _, feed in block.recurrence.states()]
        carries = [number(weight, code) for _, row in block.recurrence.carry for _, weight in row]
        whole = all(carry.denominator == 1 for carry in carries)
        step = min([0, *(feed.exponent for feed in feeds)]) if whole else code.quantum
        grows = any(abs(carry) > 1 for carry in carries)  # to any element, not only to a sum of what came in
        scale = Fraction(2) ** step
        sums = self.length * max((int(max(-feed.least, feed.most) / scale) for feed in feeds), default=0)
        most = max(STATE, code.largest >> step - code.quantum if grows else min(sums, WORD_STATE))
        held = Operand("", -most, most, step)  # where a state is beyond that, the run is given up
        cells = {i: self.layout.cell(held.width // 8) for i, _, _ in block.recurrence.states()}
        vector = [code.load(code.plus("%cells", cells[i]), held) if i in cells else ZERO for i in range(width)] + stream
        after = {i: round_row(code, row, vector) for i, row in block.recurrence.end_to_end(width)}
        for i, state in after.items():
            code.guard(code.compare("sge", state, Operand(str(-most), -most, -most, step)))
            code.guard(code.compare("sle", state, Operand(str(most), most, most, step)))
            state = code.bounded(code.lower_exponent(state, step), -most, most)
            wide = Operand(code.extend(state, held.width), held.low, held.high, step)
            code.store(code.plus("%cells", cells[i]), wide)
            stream[i] = code.round(code.add(stream[i], state))

    def _feed_forward(self, block: Layer, stream: list[Operand]) -> None:
        code, hidden = self.code, list[Operand]()
        known: dict[tuple[Row, int], Operand] = {}

        def row(entries: Row, bias: Any) -> Operand:
            key = (entries, bias.quanta)
            if key not in known:
                known[key] = round_row(code, entries, stream, bias.quanta)
            return known[key]

        for unit in block.feed_forward.units:
            gate = code.positive(row(unit.gate, unit.gate_bias))
            hidden.append(code.round(code.multiply(gate, row(unit.up, unit.up_bias))))
        changes = [(i, round_row(code, entries, hidden, bias.quanta)) for i, entries, bias in block.feed_forward.down]
        for i, change in changes:
            stream[i] = code.round(code.add(stream[i], change))

    def _keep(self, record: str, sublayer: int, stream: Sequence[Operand]) -> None:
        if sublayer not in self.keep:
            return
        kept = []
        for value in stream:
            field = self.layout.known.get(value)
            if field is None:
                field = self.layout.known[value] = self.layout.field(value)
                self.code.store(self.code.plus(record, field), value)
            kept.append((field, value))
        self.kept.append(kept)

    # Output head

    def _argmax(self, stream: list[Operand]) -> str:
        code = self.code
        parts = parts_of(self.weights)
        if len(parts) > MOST_PARTS:
            raise NotCovered(f"{len(parts)} kinds of words")
        logits = [self._peak(part, stream) for part in parts]
        (most, token), *rest = logits
        for logit, other in rest:
            above, not_below = code.compare("sle", logit, most), code.compare("sge", logit, most)
            equal = code.op(f"and i1 {above}, {not_below}")
            first = code.op(f"and i1 {equal}, {code.test('slt', other, token)}")
            better = code.op(f"or i1 {first}, {code.op(f'xor i1 {above}, true')}")
            most, token = code.select(better, logit, most), code.choose(better, other, token)
        return token

    def _peak(self, part: WordColumns, stream: Sequence[Operand]) -> tuple[Operand, str]:
        """Returns the largest rounded logit of a part, and the first token that has it."""
        code = self.code
        if len(part.tokens) == 1:
            return round_row(code, part.alike, stream), str(part.tokens[0])
        alike = rows_of(code, part.alike, stream)
        last = len(part.tokens) - 1
        columns = []
        for register, zeros, mantissas in part.columns:
            like = Operand("", int(mantissas.min()), int(mantissas.max()), code.quantum + zeros)
            columns.append((stream[register], self.table(mantissas), like))
        tokens = self.table(np.array(part.tokens, np.int64))
        if not code.fused:
            ends = {i: (constant(number(weight, code)),) * 2 for i, weight in part.alike}
            for (register, _, _), (_, _, like) in zip(part.columns, columns, strict=True):
                lowest, highest = (constant(end * Fraction(2) ** like.exponent) for end in (like.low, like.high))
                ends[register] = code.lower_exponent(lowest, like.exponent), code.lower_exponent(highest, like.exponent)
            if any(lowest.exponent + stream[i].exponent < code.quantum for i, (lowest, _) in ends.items()):
                raise NotCovered("logits whose products are rounded")
            code.about = "steps of a logit"
            code.saturate_late([(ends[i], stream[i]) for i in sorted(ends)])

        def logit(index: str) -> Operand:
            terms = [
                code.multiply(factor, code.load(code.element(base, index, 8), like)) for factor, base, like in columns
            ]
            return code.total([alike, *terms])

        where, low, high = (code.variable() for _ in range(3))
        search, step, valley = (code.label() for _ in range(3))
        code.say(f"store i64 0, ptr {low}")
        code.say(f"store i64 {last}, ptr {high}")
        begin = code.label()
        other, _, _ = columns[part.bend]
        up = code.compare("sge", other, ZERO) if part.turns >= 0 else code.compare("sle", other, ZERO)
        code.branch(up, valley, search)
        code.enter(search)  # steps rise, are level, and fall: the first that does not rise
        a, b = code.op(f"load i64, ptr {low}"), code.op(f"load i64, ptr {high}")
        code.branch(code.test("slt", a, b), step, begin)
        code.enter(step)
        middle = code.op(f"lshr i64 {code.plus(a, b)}, 1")
        after = code.plus(middle, 1)
        level = code.compare("sge", logit(middle), logit(after))
        code.say(f"store i64 {code.choose(level, a, after)}, ptr {low}")
        code.say(f"store i64 {code.choose(level, middle, b)}, ptr {high}")
        code.say(f"br label %{search}")
        code.enter(valley)
        higher = code.compare("sge", logit("0"), logit(str(last)))
        code.say(f"store i64 {code.choose(higher, '0', str(last))}, ptr {low}")
        code.say(f"br label %{begin}")
        code.enter(begin)
        peak = code.op(f"load i64, ptr {low}")
        most = code.round(logit(peak))
        best = code.variable()
        code.say(f"store i64 {code.cell(code.element(tokens, peak, 8))}, ptr {best}")
        # In a valley, whoever is level with one end stands beside it, or beside the other end.
        for start, way, least in (("peak", -1, 0), ("peak", 1, last), ("0", 1, last), (str(last), -1, 0)):
            done, go, on = code.label(), code.label(), code.label()
            code.say(f"store i64 {peak if start == 'peak' else start}, ptr {where}")
            if start != "peak":
                code.only_if(up, done)
                same = code.compare("sge", code.round(logit(start)), most)
                first = code.label()
                code.branch(same, first, done)
                code.enter(first)
                self._earlier(best, code.cell(code.element(tokens, start, 8)))
            code.place(go)
            index = code.op(f"load i64, ptr {where}")
            more = code.label()
            code.branch(code.test("ne", index, least), more, done)
            code.enter(more)
            beside = code.plus(index, way)
            code.say(f"store i64 {beside}, ptr {where}")
            code.branch(code.compare("sge", code.round(logit(beside)), most), on, done)
            code.enter(on)
            self._earlier(best, code.cell(code.element(tokens, beside, 8)))
            code.say(f"br label %{go}")
            code.enter(done)
        return most, code.op(f"load i64, ptr {best}")

    def _earlier(self, best: str, token: str) -> None:
        code = self.code
        now = code.op(f"load i64, ptr {best}")
        code.say(f"store i64 {code.choose(code.test('slt', token, now), token, now)}, ptr {best}")

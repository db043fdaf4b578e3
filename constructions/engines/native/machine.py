"""The machine code that all models share, as LLVM's language: what it does is `reference`, number by number.

It is written for a width of numbers and a discipline. All else is data: the operations of a model (`listing.py`), the format, the
rounding. A softmax column whose winners lead by what `precision/winners.py` asks, all others vanish and the winners share; for
every other column, and for each share that is asked for first, the code calls back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite import ir

from constructions.engines.native.cells import CellIndex, Constant, OperationCode

Value = Any
BYTE, TOKEN, INTEGER, POINTER = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.PointerType()
ALIGNED = 8  # bytes, as numpy aligns what holds 64 bits


class _Writer(ir.IRBuilder):  # type: ignore[misc]
    """Writes one function over the cells."""

    def __init__(self, module: ir.Module, name: str, result: Any, *arguments: Any, bits: int) -> None:
        self.made = ir.Function(module, ir.FunctionType(result, [POINTER, *arguments]), name)
        super().__init__(self.made.append_basic_block("entry"))
        self.cells, *self.given = self.made.args
        self.number, self.wide = ir.IntType(bits), ir.IntType(2 * bits)

    def cell(self, cell: CellIndex) -> Value:
        return self.read(self.cells, int(cell), INTEGER)

    def array(self, cell: CellIndex) -> Value:
        return self.inttoptr(self.cell(cell), POINTER)

    def place(self, array: Value, index: Value | int, kind: Any) -> Value:
        index = ir.Constant(INTEGER, index) if isinstance(index, int) else index
        return self.gep(array, [index], source_etype=kind)

    def read(self, array: Value, index: Value | int, kind: Any) -> Value:
        align = min(ALIGNED, kind.width // 8)
        return self.load(self.place(array, index, kind), typ=kind, align=align)

    def write(self, array: Value, index: Value | int, value: Value) -> None:
        align = min(ALIGNED, value.type.width // 8)
        self.store(value, self.place(array, index, value.type), align=align)

    def variable(self, kind: Any, value: Value | int) -> Value:
        """Returns the place of a variable that begins with this value."""
        with self.goto_entry_block():
            slot = self.alloca(kind)
        self.store(kind(value) if isinstance(value, int) else value, slot)
        return slot

    def now(self, slot: Value) -> Value:
        return self.load(slot, typ=slot.allocated_type)

    @contextmanager
    def each(self, begin: Value | int, end: Value | int) -> Iterator[Value]:
        """Goes round for each number from `begin` to before `end`."""
        slot = self.variable(INTEGER, begin)
        end = INTEGER(end) if isinstance(end, int) else end
        test, body, done = (self.append_basic_block() for _ in range(3))
        self.branch(test)
        self.position_at_end(test)
        at = self.now(slot)
        self.cbranch(self.icmp_signed("<", at, end), body, done)
        self.position_at_end(body)
        yield at
        self.store(self.add(at, INTEGER(1)), slot)
        self.branch(test)
        self.position_at_end(done)

    # Numbers

    def constant(self, constant: Constant) -> Value:
        return self.read(self.array(CellIndex.FORMAT), int(constant), self.wide)

    def widen(self, number: Value) -> Value:
        return self.sext(number, self.wide)

    def saturate(self, value: Value) -> Value:
        """Returns a wide integer of quanta as the format holds it: the largest element if it is beyond."""
        largest = self.constant(Constant.LARGEST)
        least = self.neg(largest)
        value = self.select(self.icmp_signed(">", value, largest), largest, value)
        value = self.select(self.icmp_signed("<", value, least), least, value)
        return self.trunc(value, self.number)

    def round_product(self, product: Value) -> Value:
        """Returns a wide integer of 2^−shift quanta, rounded."""
        shift = self.constant(Constant.SHIFT)
        odd = self.and_(self.ashr(product, shift), self.constant(Constant.ODD))
        negative = self.and_(self.ashr(product, self.wide(self.wide.width - 1)), self.constant(Constant.NEGATIVE))
        total = self.add(self.add(product, self.constant(Constant.BEFORE)), self.add(odd, negative))
        return self.saturate(self.ashr(total, shift))

    def add_product(self, total: Value, a: Value, b: Value, fused: bool) -> None:
        """Adds a product to a variable: of 2^−shift quanta under `fused`, else of quanta, and each step is rounded."""
        product = self.mul(self.widen(a), self.widen(b))
        if not fused:
            product = self.widen(self.round_product(product))
        value = self.add(self.now(total), product)
        self.store(value if fused else self.widen(self.saturate(value)), total)

    def end_sum(self, total: Value, fused: bool) -> Value:
        """Returns the sum that such a variable holds."""
        value = self.now(total)
        return self.round_product(value) if fused else self.trunc(value, self.number)


@cache
def text(bits: int, fused: bool) -> str:
    """Returns the code: `feed(cells, begin, end)` takes in the tokens of these positions and returns how many went in, −1 if what
    was called back failed.
    """
    module = ir.Module("native")
    module.triple = ""
    row = _write_row(module, bits, fused)
    attend = _write_head(module, bits, fused)
    step = _write_step(module, bits, fused, row, attend)
    _write_feed(module, bits, step, row)
    return str(module)


def _write_row(module: ir.Module, bits: int, fused: bool) -> ir.Function:
    """Writes row(cells, number): a matrix row over the memory."""
    w = _Writer(module, "row", ir.IntType(bits), INTEGER, bits=bits)
    (number,) = w.given
    memory, starts = w.array(CellIndex.MEMORY), w.array(CellIndex.STARTS)
    places, weights = w.array(CellIndex.PLACES), w.array(CellIndex.WEIGHTS)
    bias = w.widen(w.read(w.array(CellIndex.BIASES), number, w.number))
    total = w.variable(w.wide, w.shl(bias, w.constant(Constant.SHIFT)) if fused else 0)
    begin, end = w.read(starts, number, INTEGER), w.read(starts, w.add(number, INTEGER(1)), INTEGER)
    with w.each(begin, end) as i:
        w.add_product(total, w.read(weights, i, w.number), w.read(memory, w.read(places, i, INTEGER), w.number), fused)
    w.ret(w.round_product(w.now(total)) if fused else w.saturate(w.add(w.now(total), bias)))
    return w.made


def _write_head(module: ir.Module, bits: int, fused: bool) -> ir.Function:
    """Writes attend(cells, head, position): keeps key and value, and reads. Returns 0, else what was called back failed."""
    w = _Writer(module, "attend", INTEGER, INTEGER, INTEGER, bits=bits)
    number, position = w.given
    heads, memory, records = w.array(CellIndex.HEADS), w.array(CellIndex.MEMORY), w.array(CellIndex.RECORDS)
    first = w.mul(number, INTEGER(7))
    query, key, width, value, read, into, offset = (w.read(heads, w.add(first, INTEGER(i)), INTEGER) for i in range(7))
    size, keys = w.cell(CellIndex.RECORD), w.add(position, INTEGER(1))

    def record(at: Value) -> Value:
        return w.place(records, w.add(w.mul(at, size), offset), w.number)

    own = record(position)
    with w.each(0, width) as i:
        w.write(own, i, w.read(memory, w.add(key, i), w.number))
    with w.each(0, read) as i:
        w.write(own, w.add(width, i), w.read(memory, w.add(value, i), w.number))

    scores, column = w.array(CellIndex.SCORES), w.array(CellIndex.COLUMN)
    none = -(1 << (bits - 1))  # below every score
    best, second, winners = w.variable(w.number, none), w.variable(w.number, none), w.variable(INTEGER, 0)
    with w.each(0, keys) as at:
        there, total = record(at), w.variable(w.wide, 0)
        with w.each(0, width) as i:
            w.add_product(total, w.read(memory, w.add(query, i), w.number), w.read(there, i, w.number), fused)
        score = w.end_sum(total, fused)
        w.write(scores, at, score)
        was, count, runner_up = w.now(best), w.now(winners), w.now(second)
        above, same = w.icmp_signed(">", score, was), w.icmp_signed("==", score, was)
        runner_up = w.select(w.icmp_signed(">", score, runner_up), score, runner_up)
        w.store(w.select(above, was, w.select(same, w.now(second), runner_up)), second)
        w.store(w.select(above, INTEGER(1), w.add(count, w.zext(same, INTEGER))), winners)
        w.store(w.select(above, score, was), best)

    count = w.now(winners)
    losers = w.icmp_signed("<", count, keys)
    gap = w.sub(w.widen(w.now(best)), w.widen(w.now(second)))
    clear = w.or_(w.not_(losers), w.icmp_signed(">=", gap, w.read(w.array(CellIndex.LEAD), 0, w.wide)))
    shares = w.array(CellIndex.SHARES)
    share_at = w.add(w.select(losers, w.cell(CellIndex.SHARE_COUNT), INTEGER(0)), count)
    share = w.read(shares, share_at, w.number)
    known = w.and_(clear, w.icmp_signed("!=", share, w.number(0)))
    with w.if_then(w.not_(known), likely=False):
        asked = ir.FunctionType(INTEGER, [INTEGER, INTEGER, INTEGER])
        ask = w.inttoptr(w.cell(CellIndex.ASK), asked.as_pointer())
        failed = w.call(ask, [keys, w.select(clear, count, INTEGER(0)), w.zext(losers, INTEGER)])
        with w.if_then(w.icmp_signed("!=", failed, INTEGER(0)), likely=False):
            w.ret(INTEGER(1))
    with w.if_then(clear):
        share = w.read(shares, share_at, w.number)
        with w.each(0, keys) as at:
            wins = w.icmp_signed("==", w.read(scores, at, w.number), w.now(best))
            w.write(column, at, w.select(wins, share, w.number(0)))
    with w.each(0, read) as i:
        total, coordinate = w.variable(w.wide, 0), w.add(width, i)
        with w.each(0, keys) as at:
            weight = w.read(column, at, w.number)
            with w.if_then(w.icmp_signed("!=", weight, w.number(0))):
                w.add_product(total, weight, w.read(record(at), coordinate, w.number), fused)
        w.write(memory, w.add(into, i), w.end_sum(total, fused))
    w.ret(INTEGER(0))
    return w.made


def _write_step(module: ir.Module, bits: int, fused: bool, row: ir.Function, attend: ir.Function) -> ir.Function:
    """Writes step(cells, position): embeds a token and does the operations. Returns 0, else what was called back failed."""
    w = _Writer(module, "step", INTEGER, INTEGER, bits=bits)
    (position,) = w.given
    memory = w.array(CellIndex.MEMORY)
    token = w.zext(w.read(w.array(CellIndex.TOKENS), position, TOKEN), INTEGER)
    word = w.add(w.cell(CellIndex.WORDS), token)
    width = w.cell(CellIndex.WIDTH)
    with w.each(0, width) as i:
        w.write(memory, i, w.number(0))
    starts, places, weights = w.array(CellIndex.STARTS), w.array(CellIndex.PLACES), w.array(CellIndex.WEIGHTS)
    begin, end = w.read(starts, word, INTEGER), w.read(starts, w.add(word, INTEGER(1)), INTEGER)
    with w.each(begin, end) as i:
        w.write(memory, w.read(places, i, INTEGER), w.read(weights, i, w.number))
    at = w.sext(w.add(position, INTEGER(1)), w.wide)
    with w.each(0, w.cell(CellIndex.SLOPE_COUNT)) as i:
        register = w.read(w.array(CellIndex.SLOPED), i, INTEGER)
        offset = w.mul(at, w.widen(w.read(w.array(CellIndex.SLOPES), i, w.number)))
        offset = offset if fused else w.widen(w.saturate(offset))
        w.write(memory, register, w.saturate(w.add(w.widen(w.read(memory, register, w.number)), offset)))

    operations = w.array(CellIndex.OPERATIONS)
    with w.each(0, w.cell(CellIndex.OPERATION_COUNT)) as number:
        first = w.mul(number, INTEGER(4))
        which, a, b, c = (w.read(operations, w.add(first, INTEGER(i)), INTEGER) for i in range(4))
        done = w.append_basic_block()
        switch = w.switch(which, done)

        @contextmanager
        def case(operation: OperationCode) -> Iterator[None]:
            switch.add_case(INTEGER(int(operation)), begins := w.append_basic_block())
            w.position_at_end(begins)
            yield
            w.branch(done)

        with case(OperationCode.ROWS), w.each(0, b) as i:
            w.write(memory, w.add(c, i), w.call(row, [w.cells, w.add(a, i)]))
        with case(OperationCode.ADD), w.each(0, b) as i:
            register = w.read(w.array(CellIndex.REGISTERS), w.add(a, i), INTEGER)
            old, change = w.read(memory, register, w.number), w.read(memory, w.add(c, i), w.number)
            w.write(memory, register, w.saturate(w.add(w.widen(old), w.widen(change))))
        with case(OperationCode.COPY), w.each(0, c) as i:
            w.write(memory, w.add(b, i), w.read(memory, w.add(a, i), w.number))
        with case(OperationCode.PRODUCT), w.each(0, c) as i:
            gate, up = w.read(memory, w.add(a, i), w.number), w.read(memory, w.add(b, i), w.number)
            product = w.round_product(w.mul(w.widen(gate), w.widen(up)))
            is_open = w.icmp_signed(">", gate, w.number(0))
            w.write(memory, w.add(a, i), w.select(is_open, product, w.number(0)))
        with case(OperationCode.HEAD):
            failed = w.icmp_signed("!=", w.call(attend, [w.cells, a, position]), INTEGER(0))
            with w.if_then(failed, likely=False):
                w.ret(INTEGER(1))
        with case(OperationCode.KEEP):
            rows = w.add(w.mul(position, w.cell(CellIndex.KEPT_COUNT)), a)
            kept = w.place(w.array(CellIndex.KEPT), w.mul(rows, width), w.number)
            with w.each(0, width) as i:
                w.write(kept, i, w.read(memory, i, w.number))
        w.position_at_end(done)
    w.ret(INTEGER(0))
    return w.made


def _write_feed(module: ir.Module, bits: int, step: ir.Function, row: ir.Function) -> None:
    """Writes feed(cells, begin, end). What follows the known tokens is the argmax; after one that is a stop, it returns."""
    w = _Writer(module, "feed", INTEGER, INTEGER, INTEGER, bits=bits)
    begin, end = w.given
    known = w.cell(CellIndex.KNOWN)
    with w.each(begin, end) as position:
        with w.if_then(w.icmp_signed("!=", w.call(step, [w.cells, position]), INTEGER(0)), likely=False):
            w.ret(INTEGER(-1))
        following = w.add(position, INTEGER(1))
        with w.if_then(w.icmp_signed(">=", following, known)):
            best, chosen = w.variable(w.number, -(1 << (bits - 1))), w.variable(INTEGER, 0)
            with w.each(0, w.cell(CellIndex.WORD_COUNT)) as token:
                logit = w.call(row, [w.cells, w.add(w.cell(CellIndex.UNEMBED), token)])
                more = w.icmp_signed(">", logit, w.now(best))
                w.store(w.select(more, logit, w.now(best)), best)
                w.store(w.select(more, token, w.now(chosen)), chosen)
            token = w.now(chosen)
            w.write(w.array(CellIndex.TOKENS), following, w.trunc(token, TOKEN))
            stops = w.icmp_signed("!=", w.read(w.array(CellIndex.STOPS), token, BYTE), BYTE(0))
            with w.if_then(stops):
                w.ret(following)
    w.ret(end)

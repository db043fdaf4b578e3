"""The machine code that all models share, as LLVM's language: what it does is `reference`, number by number.

It is written for a width of numbers and a discipline, with flags or without. All else is data: the operations of a model
(`listing.py`), the format, the rounding. In a softmax column whose winners lead by what `precision/winners.py` asks, all others
vanish and the winners share. For every other column, and for each share that is asked for first, the code calls back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite import ir

from constructions.engines.native.cells import FLAG_NUMBERS, CellIndex, Constant, Flag, MachineKind, OperationCode

Value = Any
BIT, BYTE, TOKEN, INTEGER, POINTER = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.PointerType()
ALIGNED = 8  # bytes, as numpy aligns what holds 64 bits


class _Writer(ir.IRBuilder):  # type: ignore[misc]
    """Writes one function over the cells."""

    def __init__(self, module: ir.Module, name: str, result: Any, *arguments: Any, code: MachineKind) -> None:
        bits, self.fused, self.flags = code
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

    def site(self, flags: CellIndex, index: Value) -> Value:
        """Returns where the flags of a place are counted, if they are."""
        return self.place(self.array(flags), self.mul(index, INTEGER(FLAG_NUMBERS)), INTEGER) if self.flags else None

    def count_flag(self, site: Value, flag: Flag, is_raised: Value) -> None:
        """Counts a flag where it is raised."""
        with self.if_then(is_raised, likely=False):
            count = self.read(site, int(flag), INTEGER)
            with self.if_then(self.icmp_signed("==", count, INTEGER(0))):
                self.write(site, int(flag) + 1, self.cell(CellIndex.POSITION))
            self.write(site, int(flag), self.add(count, INTEGER(1)))

    def saturate(self, value: Value, site: Value) -> Value:
        """Returns a wide integer of quanta as the format holds it: the largest element if it is beyond."""
        largest = self.constant(Constant.LARGEST)
        least = self.neg(largest)
        above, below = self.icmp_signed(">", value, largest), self.icmp_signed("<", value, least)
        if self.flags:
            self.count_flag(site, Flag.SATURATION, self.or_(above, below))
        value = self.select(above, largest, value)
        value = self.select(below, least, value)
        return self.trunc(value, self.number)

    def round_product(self, product: Value, site: Value) -> Value:
        """Returns a wide integer of 2^−shift quanta, rounded.

        Of a tie, both neighbours are elements: the one that is nearer to 0 is below the largest.
        """
        shift = self.constant(Constant.SHIFT)
        if self.flags:
            rest = self.and_(product, self.sub(self.shl(self.wide(1), shift), self.wide(1)))
            size = self.select(self.icmp_signed("<", product, self.wide(0)), self.neg(product), product)
            inside = self.icmp_signed("<", self.ashr(size, shift), self.constant(Constant.LARGEST))
            is_tie = self.icmp_signed("==", rest, self.constant(Constant.TIE))
            self.count_flag(site, Flag.TIE, self.and_(is_tie, inside))
        odd = self.and_(self.ashr(product, shift), self.constant(Constant.ODD))
        negative = self.and_(self.ashr(product, self.wide(self.wide.width - 1)), self.constant(Constant.NEGATIVE))
        total = self.add(self.add(product, self.constant(Constant.BEFORE)), self.add(odd, negative))
        return self.saturate(self.ashr(total, shift), site)

    def add_product(self, total: Value, a: Value, b: Value, site: Value) -> None:
        """Adds a product to a variable: of 2^−shift quanta under `fused`, else of quanta, and each step is rounded."""
        product = self.mul(self.widen(a), self.widen(b))
        if not self.fused:
            product = self.widen(self.round_product(product, site))
        value = self.add(self.now(total), product)
        self.store(value if self.fused else self.widen(self.saturate(value, site)), total)

    def end_sum(self, total: Value, site: Value) -> Value:
        """Returns the sum that such a variable holds."""
        value = self.now(total)
        return self.round_product(value, site) if self.fused else self.trunc(value, self.number)


@cache
def text(code: MachineKind) -> str:
    """Returns the code: `feed(cells, begin, end)` takes in the tokens of these positions and returns how many went in, −1 if what
    was called back failed.
    """
    module = ir.Module("native")
    module.triple = ""
    row = _write_row(module, code)
    attend = _write_head(module, code)
    step = _write_step(module, code, row, attend)
    _write_feed(module, code, step, row)
    return str(module)


def _write_row(module: ir.Module, code: MachineKind) -> ir.Function:
    """Writes row(cells, number): a matrix row over the memory."""
    w = _Writer(module, "row", ir.IntType(code.bits), INTEGER, code=code)
    (number,) = w.given
    site = w.site(CellIndex.ROW_FLAGS, number)
    memory, starts = w.array(CellIndex.MEMORY), w.array(CellIndex.STARTS)
    places, weights = w.array(CellIndex.PLACES), w.array(CellIndex.WEIGHTS)
    bias = w.widen(w.read(w.array(CellIndex.BIASES), number, w.number))
    total = w.variable(w.wide, w.shl(bias, w.constant(Constant.SHIFT)) if w.fused else 0)
    begin, end = w.read(starts, number, INTEGER), w.read(starts, w.add(number, INTEGER(1)), INTEGER)
    with w.each(begin, end) as i:
        w.add_product(total, w.read(weights, i, w.number), w.read(memory, w.read(places, i, INTEGER), w.number), site)
    w.ret(w.end_sum(total, site) if w.fused else w.saturate(w.add(w.now(total), bias), site))
    return w.made


def _write_head(module: ir.Module, code: MachineKind) -> ir.Function:
    """Writes attend(cells, head, position): keeps key and value, and reads. Returns 0, else what was called back failed."""
    w = _Writer(module, "attend", INTEGER, INTEGER, INTEGER, code=code)
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
    none = -(1 << (code.bits - 1))  # below every score
    site = w.site(CellIndex.MEMORY_FLAGS, query)
    best, second, winners = w.variable(w.number, none), w.variable(w.number, none), w.variable(INTEGER, 0)
    with w.each(0, keys) as at:
        there, total = record(at), w.variable(w.wide, 0)
        with w.each(0, width) as i:
            w.add_product(total, w.read(memory, w.add(query, i), w.number), w.read(there, i, w.number), site)
        score = w.end_sum(total, site)
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
        site = w.site(CellIndex.MEMORY_FLAGS, w.add(into, i))
        with w.each(0, keys) as at:
            weight = w.read(column, at, w.number)
            with w.if_then(w.icmp_signed("!=", weight, w.number(0))):
                w.add_product(total, weight, w.read(record(at), coordinate, w.number), site)
        w.write(memory, w.add(into, i), w.end_sum(total, site))
    w.ret(INTEGER(0))
    return w.made


def _write_step(module: ir.Module, code: MachineKind, row: ir.Function, attend: ir.Function) -> ir.Function:
    """Writes step(cells, position): embeds a token and does the operations. Returns 0, else what was called back failed."""
    w = _Writer(module, "step", INTEGER, INTEGER, code=code)
    (position,) = w.given
    w.write(w.cells, int(CellIndex.POSITION), w.add(position, INTEGER(1)))
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
        site = w.site(CellIndex.MEMORY_FLAGS, register)
        offset = offset if w.fused else w.widen(w.saturate(offset, site))
        w.write(memory, register, w.saturate(w.add(w.widen(w.read(memory, register, w.number)), offset), site))

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
            site = w.site(CellIndex.ADD_FLAGS, w.add(a, i))
            w.write(memory, register, w.saturate(w.add(w.widen(old), w.widen(change)), site))
        with case(OperationCode.COPY), w.each(0, c) as i:
            w.write(memory, w.add(b, i), w.read(memory, w.add(a, i), w.number))
        with case(OperationCode.PRODUCT), w.each(0, c) as i:
            gate, up = w.read(memory, w.add(a, i), w.number), w.read(memory, w.add(b, i), w.number)
            gate = w.select(w.icmp_signed(">", gate, w.number(0)), gate, w.number(0))
            product = w.mul(w.widen(gate), w.widen(up))
            w.write(memory, w.add(a, i), w.round_product(product, w.site(CellIndex.MEMORY_FLAGS, w.add(a, i))))
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


def _write_feed(module: ir.Module, code: MachineKind, step: ir.Function, row: ir.Function) -> None:
    """Writes feed(cells, begin, end). What follows the known tokens is the argmax; after one that is a stop, it returns.

    With flags, the logits after the known tokens count as well.
    """
    w = _Writer(module, "feed", INTEGER, INTEGER, INTEGER, code=code)
    begin, end = w.given
    known = w.cell(CellIndex.KNOWN)
    with w.each(begin, end) as position:
        with w.if_then(w.icmp_signed("!=", w.call(step, [w.cells, position]), INTEGER(0)), likely=False):
            w.ret(INTEGER(-1))
        following = w.add(position, INTEGER(1))
        is_new = w.icmp_signed(">=", following, known)
        with w.if_then(BIT(1) if w.flags else is_new):
            best, chosen = w.variable(w.number, -(1 << (code.bits - 1))), w.variable(INTEGER, 0)
            ties = w.variable(BIT, 0)  # whether the best logit stands twice
            with w.each(0, w.cell(CellIndex.WORD_COUNT)) as token:
                logit = w.call(row, [w.cells, w.add(w.cell(CellIndex.UNEMBED), token)])
                more, same = w.icmp_signed(">", logit, w.now(best)), w.icmp_signed("==", logit, w.now(best))
                w.store(w.select(more, BIT(0), w.or_(w.now(ties), same)), ties)
                w.store(w.select(more, logit, w.now(best)), best)
                w.store(w.select(more, token, w.now(chosen)), chosen)
            token = w.now(chosen)
            if w.flags:
                w.count_flag(w.place(w.array(CellIndex.LOGIT_FLAGS), 0, INTEGER), Flag.TIE, w.now(ties))
            with w.if_then(is_new):
                w.write(w.array(CellIndex.TOKENS), following, w.trunc(token, TOKEN))
                stops = w.icmp_signed("!=", w.read(w.array(CellIndex.STOPS), token, BYTE), BYTE(0))
                with w.if_then(stops):
                    w.ret(following)
    w.ret(end)

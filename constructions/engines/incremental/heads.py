"""A head as a table: keys go in by their values, a query finds the best of its matches, and what was assumed is checked.

A head's Lookup says what its score is: −scale·Σ(key − query)² + preference − penalty at position 1, but for what is
alike for all keys. That the matrices say the same is decided when the code is written (`difference`); the code then
checks at each token what that rests on: that registers hold squares, that `one` is 1, `first` marks position 1, and
keys are 0 there where it is exempt.

Who leads? Let G be the lead with which all other keys vanish together (precision/winners.py). Rounding a score moves
it by less than a quantum, and keeps the order, also at the ends of the range. So a column is decided if the exact score of
the winner is
  - in the range, and by G and two quanta above the lowest number of the format;
  - by as much above −scale·(step of keys)² + the largest preference, which no key that differs exceeds;
  - by as much above position 1 and above the next best of its matches.
Whatever of this the ranges do not show beforehand is compared at each token; where a comparison fails,
the run is given up, and somebody else decodes the text. A square that is rounded may be off by a quantum: what this moves a
score by is added to the lead twice.

Tables. Keys of equal values are a group. Its matches are alike in rank in a *run*: the first of a run counts them and
adds up what they hold. Without a preference a group is one run. If all queries prefer alike, it keeps its best run; so it does if
each query wishes for its own position, to which the latest is nearest. If a query wishes for another key, the runs of a group are a
chain from the latest back, whose keys rise or fall along it; jumps as in Myers' applicative lists find a place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from constructions.engines.incremental.layout import ENTRY, OWN, STRIDE, Layout
from constructions.engines.incremental.values import ZERO, Body, Operand, constant, range_of_product
from constructions.engines.protocol import NotCovered
from constructions.engines.weights import Weight
from constructions.rows import HeadRows, Row
from constructions.wiring.affine import Affine
from constructions.wiring.lookup import Polynomial, difference
from constructions.wiring.needs import Need
from constructions.wiring.plan import Head
from precision.format import Rounding
from precision.winners import vanishing_lead

ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
DIGIT = 32  # bits of a digit of 1/m


def number(weight: Weight, code: Body) -> Fraction:
    """Returns a weight as the number that it is."""
    return weight.quanta * Fraction(2) ** code.quantum


def rows_of(code: Body, row: Row, vector: Sequence[Operand], bias: int = 0) -> Operand:
    """Returns a row over numbers, and a bias in quanta, exactly."""
    terms = [code.scaled(vector[i], number(weight, code)) for i, weight in row]
    return code.total([*terms, constant(bias * Fraction(2) ** code.quantum)])


def round_row(code: Body, row: Row, vector: Sequence[Operand], bias: int = 0) -> Operand:
    """Returns a row over numbers, and a bias in quanta, rounded as the discipline says."""
    if code.fused:
        return code.round(rows_of(code, row, vector, bias))
    total = ZERO
    for i, weight in row:
        total = code.round(code.add(total, code.round(code.scaled(vector[i], number(weight, code)))))
    return code.round(code.add(total, constant(bias * Fraction(2) ** code.quantum)))


class HeadCode:
    """One head of a block, at one position."""

    table: int
    run_field: int
    sum_fields: list[int]
    prev: int
    later: int
    jump: int
    depth: int
    way: int
    members: Sequence[HeadCode]

    def __init__(
        self,
        code: Body,
        layout: Layout,
        names: Sequence[str],
        head: object,
        rows: HeadRows,
        record: str,
        stream: Sequence[Operand],
        length: int,
        position: Operand,
    ) -> None:
        if not isinstance(head, Head) or head.lookup is None:
            raise NotCovered("a head of which nobody has said what it looks up")
        self.code, self.layout, self.record, self.stream, self.head = code, layout, record, stream, head
        self.lookup, self.rows, self.names = head.lookup, rows, names
        self.places = {name: i for i, name in enumerate(names)}
        self.length, self.position = length, position
        lookup = self.lookup
        self.means = lookup.prefer is None
        self.pull = Fraction(0)
        self.inexact = False  # whether squares or products of a score are rounded
        self.record_high: tuple[int, Operand] | None = None
        self.always = self.means and lookup.penalty is None and lookup.exempt  # position 1 is among all winners
        self.sides = [[rows_of(code, row, stream) for row in side] for side in (rows.key, rows.query)]
        self._hold_against_matrices()
        if code.rounding is not Rounding.NEAREST_EVEN:
            raise NotCovered("a rounding other than to the nearest")
        code_lead = vanishing_lead(length - 1, -code.quantum) + 2 * Fraction(2) ** code.quantum + 2 * self.slack
        self.lead = constant(Fraction(-(-code_lead.numerator * 16 // code_lead.denominator), 16))
        if lookup.penalty is not None and not lookup.exempt:
            raise NotCovered(f"{head.name}: a penalty without exemption")
        self._ranges()
        if not code.fused and not code.holds(Operand("", 0, -(-code_lead.numerator // code_lead.denominator), 0)):
            raise NotCovered(f"{head.name}: a lead beyond the range")

    # What is known before

    def _hold_against_matrices(self) -> None:
        lookup, names = self.lookup, self.names
        if len(self.rows.key) != len(self.rows.query):
            raise NotCovered("a score of two widths")

        def form(row: Row) -> Affine:
            return Affine({names[i]: number(weight, self.code) for i, weight in row})

        self.products = [(form(k), form(q)) for k, q in zip(self.rows.key, self.rows.query, strict=True)]
        squares = [need for need in self.head.needs if need.squared and need.place == "every position"]
        unlike = difference(lookup, self.products, squares)
        if any(left for left, _ in unlike):
            raise NotCovered(f"{self.head.name}: its matrices look up something else")
        self.alike: Polynomial = {right: c for (_, right), c in unlike.items()}
        self.squares = squares
        inexact = [need for need in squares if self._may_round(need)]
        self.slack = sum((self._move(need) for need in inexact), Fraction(0))
        if not self.code.fused:
            rounded = sum(k.exponent + q.exponent < self.code.quantum for k, q in zip(*self.sides, strict=True))
            self.slack += rounded * Fraction(2) ** (self.code.quantum - 1)
        self.inexact = self.slack > 0
        if self.inexact and self.always:
            raise NotCovered(f"{self.head.name}: rounded scores beside that of position 1")

    def _may_round(self, need: Need) -> bool:
        """Returns whether a square may be off by a quantum; beside position 1, whose score has none, it must not."""
        return not self.always and 2 * self.form(need.equals).exponent < self.code.quantum

    def _move(self, need: Need) -> Fraction:
        """Returns what a quantum of the register that holds a square moves a score by. Raises NotCovered if others decide."""
        holders = {name: c for name, c in need.form.terms.items() if name not in {*need.equals.terms, "one"}}
        if len(holders) != 1:
            raise NotCovered(f"{self.head.name}: a sum that holds a rounded square")
        ((name, part),) = holders.items()
        moved = Fraction(0)
        for key, query in self.products:
            for of, other in ((key, query), (query, key)):
                if (c := of.terms.get(name)) is not None:
                    if not set(other.terms) <= {"one", "first"}:
                        raise NotCovered(f"{self.head.name}: a rounded square times a register")
                    moved += abs(c) * sum(map(abs, other.terms.values()), abs(other.constant))
        return moved / abs(part) * Fraction(2) ** self.code.quantum

    def form(self, form: Affine, vector: Sequence[Operand] | None = None) -> Operand:
        """Returns a form over the registers; `one` is 1, which is checked."""
        vector = self.stream if vector is None else vector
        terms = [
            constant(c) if name == "one" else self.code.scaled(vector[self.places[name]], c)
            for name, c in form.terms.items()
        ]
        return self.code.total([*terms, constant(form.constant)])

    def _ranges(self) -> None:
        """Decides which preference this is, and what every key that differs stays below."""
        lookup, code = self.lookup, self.code
        self.wish: Operand | None = None
        self.chain = False
        self.key = ZERO
        self.curve = Fraction(lookup.prefer.curve) if lookup.prefer else Fraction(0)
        self.highest = Fraction(0)  # of all preferences
        self.spread = Fraction(0)
        if (prefer := lookup.prefer) is not None:
            self.key = self.form(prefer.key)
            pull = self._fix(prefer.pull)
            if pull is not None:
                self.pull = pull
                low, high = self.key.least, self.key.most
                slopes = (pull - 2 * self.curve * low, pull - 2 * self.curve * high)
                if not (min(slopes) >= 0 or max(slopes) <= 0) or max(slopes) == min(slopes) == 0:
                    raise NotCovered(f"{self.head.name}: prefers what is in between")
                self.rising = min(slopes) >= 0
                step = Fraction(2) ** self.key.exponent
                closest = min(abs(pull - self.curve * (2 * end + sign * step)) for end, sign in ((low, 1), (high, -1)))
                if high > low and step * closest < self.lead.least:
                    raise NotCovered(
                        f"{self.head.name}: the second best is close: {float(step * closest)}, not {float(self.lead.least)}"
                    )
                ends = [pull * end - self.curve * end * end for end in (low, high)]
                self.highest, self.spread = max(ends), max(ends) - min(ends)
            elif self.curve > 0:
                self.wish = self.form(prefer.pull * (1 / (2 * self.curve)))
                own = self.key == self.wish == self.position  # the latest is nearest, and no other is as near
                self.chain, self.rising = not own or self.curve < self.lead.least, True
            else:
                raise NotCovered(f"{self.head.name}: prefers by a form without a curve")
        self.keys = []
        for key, _ in lookup.equal:
            self.keys.append(code.in_word(code.on_grid(self.form(key), 0)))  # integers, in all models so far

    def _fix(self, form: Affine) -> Fraction | None:
        return None if set(form.terms) - {"one"} else form.constant + form.terms.get("one", Fraction(0))

    # At each position

    def check(self, checked: set[object], ends: dict[Row, tuple[Operand, Operand]]) -> None:
        """Checks what the lookup rests on; once for all heads of a block. ends: of rows of keys, the extremes so far."""
        code, quantum = self.code, constant(Fraction(2) ** self.code.quantum)
        about = code.about
        code.about = f"{about}: what it needs of registers"
        for need in self.squares:
            exact = not self._may_round(need)

            def square(form: Affine = need.form, root: Affine = need.equals, exact: bool = exact) -> None:
                side = self.form(root)
                left, right = self.form(form), code.multiply(side, side)
                if exact:
                    code.guard(code.compare("eq", left, right))
                    return
                code.guard(code.compare("sle", left, code.add(right, quantum)))
                code.guard(code.compare("sge", left, code.add(right, quantum, -1)))

            code.about = f"{about}: that {need}"
            self._once(checked, (str(need.form), str(need.equals), exact), square)
        code.about = f"{about}: what it needs of registers"
        for side, rows in (("key", self.rows.key), ("query", self.rows.query)):
            for row in rows:
                self._once(checked, (side, row), lambda row=row: self._element(row))  # type: ignore[misc]
        if not code.fused:
            code.about = f"{about}: steps of a score"
            self._saturate_late(ends)
        if self.lookup.exempt:
            for value in self.keys:
                later = code.test("ne", "%p", 0)
                zero = code.compare("eq", value, ZERO)
                code.guard(code.either(later, zero))

        code.about = about

    def _once(self, checked: set[object], what: object, how: Callable[[], None]) -> None:
        if what not in checked:
            checked.add(what)
            how()

    def _saturate_late(self, ends: dict[Row, tuple[Operand, Operand]]) -> None:
        """Checks that no step of a score saturates but the last one, against any key so far."""
        code, products = self.code, []
        for row, key, query in zip(self.rows.key, *self.sides, strict=True):
            if row not in ends:
                ends[row] = self._extremes(key)
            products.append((ends[row], query))
        code.saturate_late(products, self._ends())

    def _ends(self) -> tuple[Operand, Operand]:
        """Returns what every exact score lies between."""
        code, slack, lookup = self.code, constant(self.slack), self.lookup
        penalty = ZERO if lookup.penalty is None else self.form(lookup.penalty)
        pairs = [(key, self.form(query), lookup.scale) for (_, query), key in zip(lookup.equal, self.keys, strict=True)]
        if self.wish is not None:
            pairs.append((self.key, self.wish, self.curve))
        least = [self._score(constant(self.highest - self.spread)), code.scaled(penalty, -1), code.scaled(slack, -1)]
        for key, query, scale in pairs:
            below, above = (code.add(end, query, -1) for end in self._extremes(key))
            low, high = code.multiply(below, below), code.multiply(above, above)
            least.append(code.scaled(code.select(code.compare("sge", low, high), low, high), -scale))
        most = self._score(constant(self.highest + self.slack))
        return code.total(least), most if penalty.least >= 0 else code.add(most, penalty, -1)

    def _extremes(self, key: Operand) -> tuple[Operand, Operand]:
        """Returns the least and the largest that a key's coordinate has been."""
        code, ends = self.code, []
        for way in ("sle", "sge"):
            if key.low == key.high:
                return key, key
            at = code.plus("%cells", self.layout.cell(key.width // 8))
            before, begins = code.load(at, key), code.test("eq", "%p", 0)
            ends.append(code.select(code.either(begins, code.compare(way, key, before)), key, before))
            code.store(at, ends[-1])
        return ends[0], ends[1]

    def _element(self, row: Row) -> None:
        """Checks that a coordinate of a key or query is an element as it is."""
        code, steps = self.code, [rows_of(self.code, row, self.stream)]
        if not code.fused:  # each product and each sum is one, too
            steps += [rows_of(code, row[i:j], self.stream) for j in range(1, len(row) + 1) for i in {0, j - 1}]
        for value in steps:
            code.within(code.on_grid(value, code.quantum))

    # Tables

    def hold(self) -> tuple[object, ...]:
        """Keeps keys and values; returns what heads that share a table have in common."""
        code = self.code
        self.key_fields = [self._keep(key) for key in self.keys]
        self.key_field = 0 if self.means else self._keep(self.key)
        self.values = [round_row(code, row, self.stream) for row in self.rows.value]
        self.value_fields = [self._keep(value) for value in self.values]
        self.side_fields = [self._keep(key) for key in self.sides[0]] if self.inexact else []
        grown = [Operand("", v.low * self.length, v.high * self.length, v.exponent) for v in self.values]
        self.sums = [Operand("", min(0, v.low), max(0, v.high), v.exponent) for v in grown]
        self.alike_for_all = self.wish is None and not self.means
        self.far = not self.keys or not self.alike_for_all or self._is_far()
        order = (self.pull, self.curve) if self.alike_for_all else ()
        return (
            *self.key_fields,
            self.key_field,
            self.means,
            self.chain,
            self.wish is None,
            self.lookup.exempt,
            self.far,
            order,
        )

    def share(self, leader: HeadCode) -> None:
        """Takes over the table of a head that looks up the same keys."""
        self.table, self.run_field, self.record_high = leader.table, leader.run_field, leader.record_high
        if self.chain:
            self.prev, self.later, self.jump = leader.prev, leader.later, leader.jump
            self.depth, self.way = leader.depth, leader.way

    def insert(self, members: Sequence[HeadCode]) -> None:
        """Puts the position into its group, for all heads that share the table, this one among them."""
        code, layout = self.code, self.layout
        self.members = members
        self.run_field = layout.room(8)  # where others of the run are counted, 0 for a run of one
        fields = layout.entry_fields([total for head in members for total in head.sums])
        for head in members:
            head.sum_fields, fields = fields[: len(head.sums)], fields[len(head.sums) :]
        if self.chain:
            self.prev, self.later, self.jump, self.depth, self.way = (layout.room(8) for _ in range(5))
        self.table = layout.table() if self.keys else layout.cell()
        layout.reused &= not self.chain
        end = code.label()
        if layout.reused:
            code.put(code.plus(self.record, self.run_field), "0")
        if self.lookup.exempt:
            inserted, alone = code.label(), code.label()
            code.branch(code.test("ne", "%p", 0), inserted, alone)
            code.enter(alone)
            self._take_record("0")
            code.say(f"br label %{end}")
            code.enter(inserted)
        if not self.far:
            own = self._preference(self.key)
            self.record_high = layout.cell(own.width // 8), own
            at = code.plus("%cells", self.record_high[0])
            before = code.load(at, own)
            begins = code.test("sle", "%p", 1 if self.lookup.exempt else 0)
            code.store(at, code.select(code.either(begins, code.compare("sge", own, before)), own, before))
        slot = self._slot(self.keys)
        there = code.cell(slot, self._slot_type())
        new, old = code.label(), code.label()
        code.branch(code.test("eq", there, 0), new, old)
        code.enter(old)
        node = self._record(there)
        if self.means:
            self._join(node)
            code.say(f"br label %{end}")
        else:
            best = code.load(code.plus(node, self.key_field), self.key)
            level, other = code.label(), code.label()
            code.branch(code.compare("eq", self.key, best), level, other)
            code.enter(level)
            self._join(node)
            code.say(f"br label %{end}")
            code.enter(other)
            higher = code.compare("sge", self.key, best)
            if not self.chain:
                code.branch(higher, *((new, end) if self.rising else (end, new)))
            else:
                self._link(node, there, higher)
                code.say(f"br label %{new}")
        code.enter(new)
        self._put_slot(slot)
        self._take_record(there)
        code.place(end)

    def _take_record(self, there: str) -> None:
        """Gives the next token the record of the position that this one takes the place of; of number 0, a new one."""
        code = self.code
        if self.layout.reused:
            new, taken = code.test("eq", there, 0), code.cell(code.plus("%cells", 24))
            code.put(code.plus("%cells", 16), code.choose(new, taken, code.plus(there, -1)))
            code.put(code.plus("%cells", 24), code.choose(new, code.plus(taken, 1), taken))

    def _keep(self, value: Operand) -> int:
        """Returns the field that holds the number; what is held already is not held twice."""
        field = self.layout.known.get(value)
        if field is None:
            field = self.layout.known[value] = self.layout.field(value)
            self.code.store(self.code.plus(self.record, field), value)
        return field

    def _slot_type(self) -> str:
        return "i32" if self.keys else "i64"

    def _put_slot(self, slot: str) -> None:
        code, number = self.code, self.code.plus(OWN, 1)
        if self.keys:
            code.say(f"store i32 {code.op(f'trunc i64 {number} to i32')}, ptr {code.pointer(slot)}, align 4")
        else:
            code.put(slot, number)
        if self.chain:  # the root of a chain jumps to itself
            field = code.plus(self.record, self.jump)
            now = code.cell(field)
            code.put(field, code.choose(code.test("eq", now, 0), number, now))

    def _record(self, number: str) -> str:
        """Returns the record of a position, counted from 1; that of 0 is nobody's."""
        return self.code.element("%records", self.code.plus(number, -1), STRIDE)

    def _slot(self, keys: Sequence[Operand]) -> str:
        """Returns the address of the slot that the group of these keys has, or would have."""
        code = self.code
        if not keys:
            return code.plus("%cells", self.table)
        base = code.cell(code.plus("%cells", self.table))
        shift = code.cell(code.plus("%cells", self.table + 8))
        mixed = "0"
        for key, odd in zip(keys, ODD, strict=False):
            mixed = code.op(f"xor i64 {mixed}, {code.op(f'mul i64 {key.name}, {odd - (1 << 64)}')}")
            mixed = code.op(
                f"mul i64 {code.op(f'xor i64 {mixed}, ' + code.op(f'lshr i64 {mixed}, 29'))}, {ODD[1] - (1 << 64)}"
            )
        index = code.variable()
        code.say(f"store i64 {code.op(f'lshr i64 {mixed}, {shift}')}, ptr {index}")
        mask = code.op(f"lshr i64 -1, {shift}")
        probe, taken, further, done = (code.label() for _ in range(4))
        code.place(probe)
        now = code.op(f"load i64, ptr {index}")
        slot = code.element(base, now, 4)
        there = code.cell(slot, "i32")
        code.branch(code.test("eq", there, 0), done, taken)
        code.enter(taken)
        node = self._record(there)
        for i, (key, field, held) in enumerate(zip(keys, self.key_fields, self.keys, strict=True)):
            same = code.compare("eq", key, code.load(code.plus(node, field), held))
            following = done if i == len(keys) - 1 else code.label()
            code.branch(same, following, further)
            if following != done:
                code.enter(following)
        code.enter(further)
        code.say(f"store i64 {code.op(f'and i64 {code.plus(now, 1)}, {mask}')}, ptr {index}")
        code.say(f"br label %{probe}")
        code.enter(done)
        return slot

    def _join(self, node: str) -> None:
        """Counts the position in a run, and adds what it holds.

        Where squares or products are rounded, the scores of a run are alike only if all coordinates of its keys are.
        """
        code = self.code
        for head in self.members:
            for key, field in zip(head.sides[0], head.side_fields, strict=False):
                code.guard(code.compare("eq", key, code.load(code.plus(node, field), key)))
        run = code.plus(node, self.run_field)
        known, fresh, join = code.cell(run), code.label(), code.label()
        code.branch(code.test("eq", known, 0), fresh, join)
        code.enter(fresh)
        new = code.cell(code.plus("%cells", 8))
        code.put(code.plus("%cells", 8), code.plus(new, 1))
        code.put(run, new)
        for value, field, total, into in self._summands():
            alone = code.load(code.plus(node, field), value)
            code.store(code.plus(self._run(new), into), self._as(alone, total))
        code.place(join)
        run = self._run(code.cell(run))
        code.put(run, code.plus(code.cell(run), 1))
        for value, _, total, into in self._summands():
            address = code.plus(run, into)
            code.store(address, self._as(code.add(code.load(address, total), value), total))

    def _summands(self) -> list[tuple[Operand, int, Operand, int]]:
        lists = ((head.values, head.value_fields, head.sums, head.sum_fields) for head in self.members)
        return [summand for four in lists for summand in zip(*four, strict=True)]

    def _as(self, value: Operand, like: Operand) -> Operand:
        """Returns the number in the bits of another that holds it."""
        held = self.code.lower_exponent(value, like.exponent)
        return Operand(self.code.extend(held, like.width), like.low, like.high, like.exponent)

    def _run(self, number: str) -> str:
        """Returns where the others of a run are counted, and its sums; of number 0, none."""
        return self.code.element("%runs", number, ENTRY)

    def _link(self, node: str, there: str, higher: str) -> None:
        """Puts the position before the latest run of its chain."""
        code = self.code
        record, number = self.record, code.plus(OWN, 1)
        code.put(code.plus(record, self.prev), there)
        code.put(code.plus(node, self.later), number)
        way = code.choose(higher, "1", "2")
        before = code.cell(code.plus(node, self.way))
        goes_on = code.either(code.test("eq", before, 0), code.test("eq", before, way))
        code.put(code.plus(record, self.way), code.choose(goes_on, way, "3"))  # 1 rises, 2 falls, 3 does neither
        depth = code.cell(code.plus(node, self.depth))
        code.put(code.plus(record, self.depth), code.plus(depth, 1))
        jump = code.cell(code.plus(node, self.jump))
        landing = self._record(jump)
        far = code.cell(code.plus(landing, self.depth))
        beyond = code.cell(code.plus(landing, self.jump))
        farther = code.cell(code.plus(self._record(beyond), self.depth))
        even = code.test("eq", code.op(f"sub i64 {depth}, {far}"), code.op(f"sub i64 {far}, {farther}"))
        code.put(code.plus(record, self.jump), code.choose(even, beyond, there))

    # Queries

    def read(self) -> list[Operand]:
        """Returns what the head reads."""
        code, lookup = self.code, self.lookup
        winner = code.variable()
        queries = [
            code.in_word(code.lower_exponent(code.on_grid(self.form(query), key.exponent), key.exponent))
            for (_, query), key in zip(lookup.equal, self.keys, strict=True)
        ]
        choice, chosen = code.label(), code.label()
        found = code.variable()
        code.say(f"store i64 1, ptr {winner}")
        code.say(f"store i64 {'0' if lookup.exempt else '1'}, ptr {found}")
        code.branch(code.test("eq", "%p", 0), chosen, choice)  # position 1 has one key
        code.enter(choice)
        there = code.cell(self._slot(queries), self._slot_type())
        code.say(f"store i64 {there}, ptr {found}")
        is_there = code.test("ne", there, 0)
        if self.always:
            level = ZERO
        else:
            best, level = there, self._level(self._record(there))
            if self.chain and self.wish is not None:
                best, level = self._nearest(there, self.wish)
            if lookup.exempt:
                first = self._level("%records")
                if lookup.penalty is not None:
                    first = code.add(first, self.form(lookup.penalty), -1)
                leads = code.both(is_there, code.compare("sge", level, code.add(first, self.lead)))
                trails = code.compare("sge", first, code.add(level, self.lead))
                code.guard(code.either(leads, code.either(trails, code.test("eq", there, 0))))
                code.say(f"store i64 {code.choose(leads, best, '1')}, ptr {winner}")
                level = code.select(leads, level, first)
            else:
                code.guard(is_there)
                code.say(f"store i64 {best}, ptr {winner}")
        self._leads_all(level)
        code.place(chosen)
        there = code.op(f"load i64, ptr {found}")
        node = self._record(code.op(f"load i64, ptr {winner}"))
        return self._hold(node, there, code.test("ne", there, 0))

    def _level(self, node: str) -> Operand:
        """Returns the preference for a position."""
        code = self.code
        if self.means:
            return ZERO
        key = code.load(code.plus(node, self.key_field), self.key)
        if self.wish is not None:
            away = code.add(key, self.wish, -1)
            return code.scaled(code.multiply(away, away), -self.curve)
        return self._preference(key)

    def _is_far(self) -> bool:
        """Returns whether the ranges show that a key that differs is far below what position 1 or a match has."""
        step = min(Fraction(4) ** key.exponent for key in self.keys)
        penalty = 0 if self.lookup.penalty is None else self.form(self.lookup.penalty).most
        return self.lookup.scale * step >= self.spread + penalty + self.lead.least

    def _preference(self, key: Operand) -> Operand:
        """Returns the preference for a key, where all queries prefer alike."""
        code = self.code
        level = code.add(code.scaled(key, self.pull), code.scaled(code.multiply(key, key), self.curve), -1)
        ends = [(self.pull - self.curve * end) * end for end in (self.key.least, self.key.most)]
        scale = Fraction(2) ** level.exponent
        low, high = min(ends) / scale, max(ends) / scale
        return code.bounded(level, int(low // 1), int(-(-high // 1)))

    def _nearest(self, there: str, wish: Operand) -> tuple[str, Operand]:
        """Returns the run nearest to the wish, of a chain that may be empty, and its level. Gives up at a near second."""
        code = self.code
        key_field, like = self.key_field, self.key
        at, walk = code.variable(), code.label()
        code.say(f"store i64 {there}, ptr {at}")
        way = code.cell(code.plus(self._record(there), self.way))
        empty = code.test("eq", there, 0)
        code.guard(code.either(empty, code.test("ne", way, 3)))
        falls = code.test("eq", way, 2)

        def passed(node: str) -> str:
            key = code.load(code.plus(node, key_field), like)
            below, above = code.compare("sle", key, wish), code.compare("sge", key, wish)
            return code.op(f"select i1 {falls}, i1 {above}, i1 {below}")

        done, on = code.label(), code.label()
        code.branch(empty, done, walk)
        code.enter(walk)
        now = code.op(f"load i64, ptr {at}")
        node = self._record(now)
        before = code.cell(code.plus(node, self.prev))
        ends = code.either(passed(node), code.test("eq", before, 0))
        code.branch(ends, done, on)
        code.enter(on)
        jump = code.cell(code.plus(node, self.jump))
        too_far = passed(self._record(jump))
        code.say(f"store i64 {code.choose(too_far, before, jump)}, ptr {at}")
        code.say(f"br label %{walk}")
        code.enter(done)
        one = code.op(f"load i64, ptr {at}")
        two = code.cell(code.plus(self._record(one), self.later))
        two = code.choose(empty, "0", two)
        levels = [self._level(self._record(node)) for node in (one, two)]
        better = code.both(code.test("ne", two, 0), code.compare("sge", levels[1], levels[0]))
        best, level = code.choose(better, two, one), code.select(better, levels[1], levels[0])
        prev = code.cell(code.plus(self._record(one), self.prev))
        later = code.cell(code.plus(self._record(two), self.later))
        prev, later = code.choose(empty, "0", prev), code.choose(code.test("eq", two, 0), "0", later)
        for node, known in ((prev, None), (one, levels[0]), (two, levels[1]), (later, None)):
            other = self._level(self._record(node)) if known is None else known
            clear = code.compare("sge", level, code.add(other, self.lead))
            none = code.either(code.test("eq", node, 0), code.test("eq", node, best))
            code.guard(code.either(clear, none))
        return best, level

    def _leads_all(self, level: Operand) -> None:
        """Checks the winner's score against the range, and against every key that differs."""
        code, lookup = self.code, self.lookup
        if lookup.equal:
            step = min(Fraction(4) ** key.exponent for key in self.keys)
            others = constant(self.highest)
            if self.record_high is not None:
                others = code.load(code.plus("%cells", self.record_high[0]), self.record_high[1])
            code.guard(code.compare("sge", level, code.add(others, constant(self.lead.least - lookup.scale * step))))
        score = self._score(level)
        largest = constant(code.largest * Fraction(2) ** code.quantum)
        code.guard(code.compare("sle", score, largest))
        code.guard(code.compare("sge", score, code.add(self.lead, largest, -1)))

    def _score(self, level: Operand) -> Operand:
        """Returns the exact score of a match of this level."""
        code, terms = self.code, [level]
        for monomial, c in self.alike.items():
            term = constant(c)
            for name in monomial:
                term = code.multiply(term, self.stream[self.places[name]])
            terms.append(term)
        if self.wish is not None:
            terms.append(code.scaled(code.multiply(self.wish, self.wish), self.curve))
        return code.total(terms)

    def _hold(self, node: str, there: str, is_there: str) -> list[Operand]:
        """Returns what the winners hold, on average where there are several."""
        code = self.code
        run = self._run(code.cell(code.plus(node, self.run_field)))
        others = code.cell(run)
        if self.always:  # the group besides position 1
            group = self._record(there)
            in_group = code.plus(code.cell(self._run(code.cell(code.plus(group, self.run_field)))), 1)
            others = code.choose(is_there, in_group, "0")
        alone = [
            code.load(code.plus(node, field), value)
            for field, value in zip(self.value_fields, self.values, strict=True)
        ]
        results = [Operand("", min(0, v.low), max(0, v.high), v.exponent) for v in alone]
        if self.always:
            results = [code.lower_exponent(value, code.quantum) for value in alone]
            results = [Operand("", min(0, v.low), max(0, v.high), v.exponent) for v in results]
        slots = [code.variable(result.type) for result in results]
        single, several, end = (code.label() for _ in range(3))
        code.branch(code.test("eq", others, 0), single, several)
        code.enter(single)
        for value, result, slot in zip(alone, results, slots, strict=True):
            same = code.lower_exponent(value, result.exponent)
            code.say(f"store {result.type} {code.extend(same, result.width)}, ptr {slot}")
        code.say(f"br label %{end}")
        code.enter(several)
        if not code.fused and self.length > (one := code.largest >> -code.quantum):  # 1 + 1 + … is exact up to here
            code.guard(code.test("slt", others, one))
        share = self._share(code.plus(others, 1))
        for i, (result, slot) in enumerate(zip(results, slots, strict=True)):
            if self.always:
                summed = self._sum(group, i)
                total = code.add(alone[i], summed)
            else:
                total = code.load(code.plus(run, self.sum_fields[i]), self.sums[i])
            if not code.fused and not self._adds_exactly(self.values[i]):
                code.guard(code.compare("eq", total, ZERO) if self.values[i].low >= 0 else "false")
            mean = code.round(code.multiply(share, total))
            mean = code.lower_exponent(code.on_grid(mean, result.exponent), result.exponent)
            for how, bound in (("sge", result.low), ("sle", result.high)):
                code.guard(code.compare(how, mean, Operand(str(bound), bound, bound, result.exponent)))
            code.say(f"store {result.type} {code.extend(mean, result.width)}, ptr {slot}")
        code.say(f"br label %{end}")
        code.enter(end)
        return [
            Operand(code.op(f"load {r.type}, ptr {slot}"), r.low, r.high, r.exponent)
            for r, slot in zip(results, slots, strict=True)
        ]

    def _adds_exactly(self, value: Operand) -> bool:
        """Returns whether a share of each such value, and each sum of these, is an element: m·ROUND(1/m) is 2 at most."""
        return value.exponent >= 0 and self.code.holds(range_of_product(value, constant(2)))

    def _sum(self, group: str, i: int) -> Operand:
        code = self.code
        run = code.cell(code.plus(group, self.run_field))
        several = code.test("ne", run, 0)
        total = code.load(code.plus(self._run(run), self.sum_fields[i]), self.sums[i])
        return code.select(several, total, code.load(code.plus(group, self.value_fields[i]), self.values[i]))

    def _share(self, winners: str) -> Operand:
        """Returns ROUND(1/m): by long division, digit by digit. Only 1/2^(q + 1) is halfway between two quanta."""
        code, bits = self.code, -self.code.quantum
        digits = bits // DIGIT + 1
        width = Operand("", 0, 1 << bits, 0).width
        quotient, rest = "0", "0"
        one = 1 << bits
        for i in reversed(range(digits)):
            rest = code.op(f"or i64 {code.op(f'shl i64 {rest}, {DIGIT}')}, {one >> (DIGIT * i) & ((1 << DIGIT) - 1)}")
            digit = code.op(f"udiv i64 {rest}, {winners}")
            rest = code.op(f"urem i64 {rest}, {winners}")
            wide = digit if width == 64 else code.op(f"zext i64 {digit} to i{width}")
            quotient = code.op(f"or i{width} {code.op(f'shl i{width} {quotient}, {DIGIT}')}, {wide}")
        up = code.test("ugt", code.op(f"shl i64 {rest}, 1"), winners)
        name = code.op(f"add i{width} {quotient}, {code.op(f'zext i1 {up} to i{width}')}")
        return Operand(name, 0, one, code.quantum)

    def rehash(self, code: Body) -> None:
        """Writes the code that puts the groups of an old table, of %slots slots, into the new one."""
        step, move, further, done = (code.label() for _ in range(4))
        index = code.variable()
        code.say(f"store i64 0, ptr {index}")
        code.place(step)
        now = code.op(f"load i64, ptr {index}")
        code.only_if(code.test("slt", now, "%slots"), done)
        code.say(f"store i64 {code.plus(now, 1)}, ptr {index}")
        there = code.cell(code.element("%old", now, 4), "i32")
        code.branch(code.test("eq", there, 0), further, move)
        code.enter(move)
        self.code = code
        node = self._record(there)
        slot = self._slot([code.load(code.plus(node, f), k) for f, k in zip(self.key_fields, self.keys, strict=True)])
        code.say(f"store i32 {code.op(f'trunc i64 {there} to i32')}, ptr {code.pointer(slot)}, align 4")
        code.place(further)
        code.say(f"br label %{step}")
        code.enter(done)
        code.say("ret i64 0")

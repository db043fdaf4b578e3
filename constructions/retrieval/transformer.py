"""What the Transformers of the four retrieval tasks share: the embedding, the output, precision, and the builder.

Source: Theorem 4.6.
A prompt is `<s> s_1 … s_m ? query`; one token is generated, the answer. n bounds both the numbers and m.

Registers of the embedding: number, number_squared (0 at other tokens), one per special token, position. The output head is
the embedding itself: number v is written as (2v, −1), which gives number i the logit 2v·i − i² = v² − (v − i)².
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from constructions.affine import Affine, Number, reg
from constructions.construction import Construction, Derived
from constructions.findings import Finding
from constructions.gadgets.indicator import FINDING as INDICATOR
from constructions.gadgets.indicator import indicator
from constructions.gadgets.product import square
from constructions.heads.match import FINDING as SCORE_RANGE
from constructions.heads.match import Pair, match_scale
from constructions.part import Setting, least_gap, least_odd_precision, log2, printed_precision
from constructions.retrieval.task import FAILED, NO, SPECIALS, YES, Task
from constructions.wired import Wired
from constructions.wiring import BlockPlan, Embedding, Gadget, Unit, constant, linear, wire
from precision.format import Arithmetic, Discipline, Format, fixed_point

COPIES = ("number", "number_squared")

TIED_HEAD = Finding(
    id="tied-head",
    source="section 3 (embedding) and Theorem 4.6",
    printed="number i embeds as i·w1, and the output head is the embedding; C.6.2 outputs n[−v, 1, −1, …, −1] for v",
    used="number i embeds as (i, i²); the output (2v, −1) gives number i the logit v² − (v − i)²",
    why="a tied head that is linear in i is largest at an end of the vocabulary, never at v in between",
)


@dataclass(frozen=True)
class Plan:
    """What the blocks of a task are written from."""

    setting: Setting
    query_length: int
    printed: frozenset[str]

    def says(self, finding: Finding) -> bool:
        """Whether this finding is put back to what is printed."""
        return finding.id in self.printed


def prepare(plan: Plan, *, first: bool = True) -> BlockPlan:
    """Block 1: 1, position², and 1[position = 1] where a head needs it."""
    gadgets = [constant("1", {"one": 1}), square(reg("position"), "position_squared")]
    if first:
        gadgets.append(
            indicator(reg("position"), 1, {"first": 1}, printed=plan.says(INDICATOR), name="1[position = 1]")
        )
    if plan.says(TIED_HEAD):
        gadgets.append(square(reg("number"), "number_squared"))
    return BlockPlan((), tuple(gadgets))


def before(name: str, by: int) -> str:
    """The register that holds what stood in `name` `by` positions before."""
    return f"{name}@{by}" if by else name


def copies(by: int) -> dict[str, Affine]:
    """What a COPY head reads to have the number `by` positions before."""
    return {before(name, by): reg(name) for name in COPIES}


def pair(key_offset: int, query_offset: int) -> Pair:
    """The number `key_offset` positions before the key against the one `query_offset` positions before the query."""
    key, key_squared = (reg(before(name, key_offset)) for name in COPIES)
    query, query_squared = (reg(before(name, query_offset)) for name in COPIES)
    return Pair(key, query, key_squared, query_squared)


def clear_numbers(plan: Plan) -> Gadget:
    """Takes the last token's own embedding away, which is a number's. A print's tied head has no squares."""
    names = COPIES[:1] if plan.says(TIED_HEAD) else COPIES
    return Gadget("clear the embedding", tuple(linear("", -reg(name), name).units[0] for name in names))


def output_number(plan: Plan, value: Affine, *, can_fail: bool) -> tuple[Gadget, ...]:
    """Writes the number `value`, and FAILED for 0, where the tied output head reads it."""
    n = plan.setting.n
    none = 1 - value
    gadgets = [clear_numbers(plan)]
    if plan.says(TIED_HEAD):
        gadgets.append(linear(f"output −n·{value}", -n * value, "number"))
        gadgets.append(constant("−n on specials", dict.fromkeys(SPECIALS, -n)))
        failed = 2 * n
    else:
        gadgets.append(linear(f"output 2·{value}", 2 * value, "number"))
        gadgets.append(constant("output −1", {"number_squared": -1}))
        failed = 1
    if can_fail:
        gadgets.append(Gadget(f"{FAILED} if nothing was found", (Unit(none, reg("one"), {FAILED: failed}),)))
    return tuple(gadgets)


def own_precision(n: int) -> int:
    """Least p at which squares of numbers and their logits 2v·i fit: 2n² < 2^q."""
    return least_odd_precision(lambda q: 2 * n.bit_length() + 1)


def spelled_out_position_precision(length: int) -> int:
    """Least p for a head on positions under `sequential`: the term 2G·k·k' of a score must fit by itself."""
    return least_odd_precision(lambda q: log2(least_gap(q, length)) + 2 * length.bit_length() + 1)


def spelled_out_key_precision(n: int, length: int, *, by_position: bool) -> int:
    """Least p for a head on keys up to n under `sequential`: the term 2S·x'·x must fit, S = 4GL², or G where all keys tie."""

    def bits(q: int) -> int:
        gap = least_gap(q, length)
        scale = 4 * gap * (1 << length.bit_length()) ** 2 if by_position else gap
        return log2(scale) + 2 * n.bit_length() + 1

    return least_odd_precision(bits)


@dataclass(frozen=True)
class Retriever:
    """A task and the Transformer that solves it.

    blocks: the weights as a plan. least_bits(n, query_length, discipline): the least certified p.
    precision: that as a formula, for people. about: what each block does. glossary: register → meaning.
    query_length: of the model that is listed; others are built by naming theirs.
    more_constants: those that no other task has.
    """

    task: Task
    statement: str
    findings: tuple[Finding, ...]
    blocks: Callable[[Plan], Sequence[BlockPlan]]
    least_bits: Callable[[int, int, Discipline], int]
    precision: str
    query_length: int
    about: Mapping[int, str]
    glossary: Mapping[str, str]
    more_constants: Callable[[Setting], Sequence[Derived]] = lambda setting: ()
    source: str = "Theorem 4.6"
    model: str = "transformer"
    finding_ids: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "finding_ids", tuple(finding.id for finding in self.findings))

    def sequence_length(self, n: int, query_length: int | None = None) -> int:
        """The longest prompt: <s>, n tokens, ?, the query."""
        return n + 2 + (query_length or self.query_length)

    def least_precision(
        self, n: int, discipline: Discipline = Discipline.FUSED, *, query_length: int | None = None
    ) -> int:
        """The least p of R_p for which the repaired weights' derivation holds."""
        return self.least_bits(n, query_length or self.query_length, discipline)

    def build(
        self,
        n: int,
        precision_bits: int | None = None,
        *,
        query_length: int | None = None,
        printed: Iterable[str] = (),
        discipline: Discipline = Discipline.FUSED,
    ) -> Wired:
        """The wired Transformer for sequences of up to n tokens from 1 … n.

        printed: ids of findings to put back to print; all of them give the variant `printed`.
        Raises ValueError if p is even, or too small for a model without printed score factors; the message names the least p.
        """
        chosen = frozenset(printed)
        if unknown := chosen - set(self.finding_ids):
            raise ValueError(f"unknown finding {min(unknown)!r}; known: {', '.join(self.finding_ids)}")
        if n < 1:
            raise ValueError(f"numbers start at 1, so n is at least 1, not {n}")
        asked = query_length or self.query_length
        as_printed = SCORE_RANGE.id in chosen
        least = self.least_bits(n, asked, discipline)
        bits = precision_bits or (printed_precision(n) if as_printed else least)
        fmt = fixed_point(bits)
        if bits < least and not as_printed:
            raise ValueError(
                f"p = {bits} is too small for n = {n} ({discipline.value}); the least certified p is {least}"
            )
        plan = Plan(Setting(n, self.sequence_length(n, asked), fmt), asked, chosen)
        embedding, blocks = self._embedding(plan), tuple(self.blocks(plan))
        model, registers = wire(embedding, blocks, embedding.words, fmt, exact=not chosen)
        return Wired(
            construction=self.task.name,
            source=self.source,
            variant="printed" if chosen == set(self.finding_ids) else "repaired",
            printed=tuple(i for i in self.finding_ids if i in chosen),
            n=n,
            arithmetic=Arithmetic(fmt, discipline),
            model=model,
            registers=registers,
            vocabulary=embedding.vocabulary,
            blocks=blocks,
        )

    def _embedding(self, plan: Plan) -> Embedding:
        names = COPIES[:1] if plan.says(TIED_HEAD) else COPIES
        rows: list[Mapping[str, Number]] = [
            {name: i**power for power, name in enumerate(names, start=1)} for i in range(1, plan.setting.n + 1)
        ]
        rows += [{word: 1} for word in SPECIALS]
        rows += [{}] * self.task.zero
        return Embedding(self.task.vocabulary(plan.setting.n), tuple(rows), "position")

    def _constants(self, setting: Setting, printed: frozenset[str]) -> Sequence[Derived]:
        fmt = setting.format
        found = [
            Derived("2^−q", fmt.quantum, f"the step of {fmt.name}, q = (p − 1)/2 = {-fmt.quantum_exponent}"),
            Derived("max", fmt.max_value, "the largest number, 2^q − 2^−q; a score too negative for it saturates"),
            Derived(
                "G",
                Fraction(setting.gap),
                "a winning score's lead: the least power of two with length·e^−(G−2) < 2^−(q+2), "
                f"length = {setting.length}; the runners-up then get weight exactly 0",
            ),
        ]
        if SCORE_RANGE in self.findings:
            as_printed = SCORE_RANGE.id in printed
            scale = match_scale(setting, as_printed)
            mismatch, default = ("n^(4c+1)", "n^(2c+2) − n") if as_printed else ("4·G·L²", "2·G·L²")
            kind = " as printed, c = 2" if as_printed else f", L = {setting.length_bound} above every position"
            found.append(Derived("S", Fraction(scale.mismatch), f"{mismatch}{kind}: what unequal keys cost"))
            found.append(Derived("D", Fraction(scale.default), f"{default}: what position 1 costs as the default"))
        return (*found, *self.more_constants(setting))

    def construction(self) -> Construction:
        """For the list of constructions, the dump and the trace."""
        return Construction(
            name=self.task.name,
            source=self.source,
            statement=self.statement,
            model=self.model,
            variants=("repaired", "printed"),
            findings=self.findings,
            build=lambda n, findings: self.build(n, printed=findings),
            precision=self.precision,
            least_precision=self.least_precision,
            setting=self._setting,
            constants=self._constants,
            blocks=self.about,
            glossary={**GLOSSARY, **self.glossary},
        )

    def _setting(self, n: int, fmt: Format) -> Setting:
        return Setting(n, self.sequence_length(n), fmt)


GLOSSARY: Mapping[str, str] = {
    "number": "this token's number, 0 at special tokens; at the end, the output",
    "position": "this token's position, from 1",
    "one": "1 everywhere",
    "first": "1 at position 1, else 0",
    **dict.fromkeys((YES, NO, FAILED), "an answer: the output writes it, no token of a prompt has it"),
}

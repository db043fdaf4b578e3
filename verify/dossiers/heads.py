"""Heads alone: a lemma on a head as a tiny model, of which the positions hold whatever the lemma's contract allows.

The blocks are the part's own (constructions/parts/heads/). Its texts have a word that says nothing. What a head reads stands in
registers, which are given at each position independently: any key, any query, anything to read. Two things are assumed, as the
lemmas assume them, and a certificate names them: the counts of equal keys are consecutive, and one of them is nearest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from constructions.parts.heads import copy, count, match, match_close, match_nearest, match_next
from constructions.wiring.affine import Affine, reg
from constructions.wiring.numbered import Family
from constructions.wiring.part import Contract, Domain, Integer, Part, Setting, UnitFraction
from constructions.wiring.wire import BlockPlan, Embedding, wire
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Format
from verify.algebra.domains import OtherMatrices
from verify.automata.token_automaton import Consecutive, Content, Invariant, Label, OneWinner, State, TokenAutomaton
from verify.dossiers.dossier import Dossier, Subject

PARTS = {
    part.id: part for part in (copy.PART, count.PART, match.PART, match_close.PART, match_nearest.PART, match_next.PART)
}
WORDS = ("<s>", ".")
POSITION, KEY, COUNT, QUERY_COUNT, WISH = "position", "key", "count", "query_count", "wanted"
NONE = Integer(0, 0)


@dataclass(frozen=True)
class Purpose:
    """What a lemma's head reads: `value`, of the key that equals the query; of several, where `place` is nearest to `wish`.

    Without a wish it reads the mean of all equal keys. equal: registers of the key and of the query. far: more than what is between
    place and wish; None for more than any two positions.
    """

    value: str
    equal: tuple[tuple[str, str], ...] = ()
    place: str = ""
    wish: Affine = field(default_factory=Affine)
    far: Fraction | None = None


KEYS = ((KEY, "query"),)
PURPOSES = {
    "C.13": Purpose("x", (), POSITION, reg(POSITION) - 2 * reg("one")),
    "C.14": Purpose("first", (("x", "x"),)),
    "C.15": Purpose("payload", KEYS, POSITION),
    "C.16": Purpose("payload", KEYS, POSITION, reg(POSITION)),
    "C.17": Purpose("payload", KEYS, POSITION, reg(WISH)),
    "C.18": Purpose("payload", KEYS, COUNT, reg("target"), Fraction(1, 2)),
}
"""By lemma, as a person reads it in the paper."""


def require_purpose(lemma: str, blocks: Sequence[BlockPlan], setting: Setting) -> None:
    """Raises OtherMatrices unless there is one head, and it looks up what the lemma says.

    Position 1 is what is read if no key is equal: it scores less than any equal key, and more than any other.
    """
    purpose, where, heads = PURPOSES[lemma], f"Lemma {lemma}", [head for block in blocks for head in block.heads]
    if len(heads) != 1:
        raise OtherMatrices(where, f"{len(heads)} heads, not one")
    (head,) = heads
    if (lookup := head.lookup) is None:
        raise OtherMatrices(where, "the head does not say what it looks up")
    prefer = lookup.prefer
    if head.reads != {"out": reg(purpose.value)}:
        raise OtherMatrices(where, f"the head reads {show(head.reads.values())}, not {purpose.value}")
    if lookup.equal != tuple((reg(key), reg(query)) for key, query in purpose.equal) or not lookup.exempt:
        sides = (form for pair in lookup.equal for form in pair)
        raise OtherMatrices(where, f"the head compares {show(sides)}, not {purpose.equal}")
    if (prefer is None) == bool(purpose.place):
        raise OtherMatrices(where, f"the head {'prefers no key' if prefer is None else 'prefers one of equal keys'}")
    if prefer is None:
        return
    if prefer.curve <= 0 or prefer.key != reg(purpose.place) or prefer.pull != purpose.wish * 2 * prefer.curve:
        raise OtherMatrices(where, f"of equal keys the head prefers by {prefer.key}, {prefer.pull}")
    if purpose.equal:
        far = setting.length_bound if purpose.far is None else purpose.far
        reach, penalty = prefer.curve * far * far, lookup.penalty or Affine()
        default = penalty.terms.get("one", 0)
        if penalty != default * reg("one") or not reach < default < lookup.scale - reach:
            raise OtherMatrices(where, f"position 1 pays {penalty}, where {reach} and {lookup.scale} decide")


def show(forms: Iterable[Affine]) -> str:
    """Writes forms for people."""
    return ", ".join(map(str, forms))


@dataclass(frozen=True)
class HeadAlone(Dossier):
    """A lemma on a head, by its number: integers up to n, up to n positions."""

    bits_of_bits = 5
    has_door = False
    has_definition = False  # what is read stands in no text; `require_purpose` compares it

    @property
    def part(self) -> Part:
        """The lemma."""
        return PARTS[self.construction]

    def setting(self, subject: Subject, fmt: Format) -> Setting:
        """Returns what its constants are derived from."""
        return Setting(subject.n, subject.n, fmt)

    def families(self, subject: Subject) -> Sequence[Family]:
        return ()

    def least_precision(self, subject: Subject) -> int:
        return self.part.least_precision(subject.n, subject.n)

    def plan(self, subject: Subject, fmt: Format) -> tuple[Embedding, Sequence[BlockPlan]]:
        setting = self.setting(subject, fmt)
        zeros = dict.fromkeys(self.part.contract(setting).requires, 0)
        return Embedding(WORDS, [zeros for _ in WORDS], POSITION), self.part.plan(setting, False)

    def wired(self, subject: Subject, listed: int | None = None, *, forced: bool = False) -> Wired:
        fmt = self.format(subject)
        embedding, blocks = self.plan(subject, fmt)
        require_purpose(self.construction, blocks, self.setting(subject, fmt))
        model, registers = wire(embedding, blocks, embedding.words, fmt, longest=subject.n)
        arithmetic, names = Arithmetic(fmt, subject.discipline), (self.construction, self.part.source)
        return Wired(*names, "repaired", (), subject.n, arithmetic, model, registers, WORDS, tuple(blocks))

    @property
    def least_hard(self) -> int | None:
        return None

    def texts(self, subject: Subject) -> TokenAutomaton:
        setting = self.setting(subject, self.format(subject))
        require_purpose(self.construction, self.part.plan(setting, False), setting)
        n, contract = subject.n, self.part.contract(setting)
        first = {name: Integer(int(value), int(value)) for name, value in contract.first.items()}
        first |= {COUNT: NONE} if COUNT in contract.requires else {}
        queries, keys, states = _cases_of_queries(contract), _cases_of_keys(contract), list[State]()
        for word, low, high, cases in ((WORDS[0], 1, 1, {"": first}), (WORDS[1], 2, n, keys)):
            for (key, has), (query, asks) in itertools.product(cases.items(), queries.items()):
                label = Label(word, case=", ".join(filter(None, (key, query))))
                states.append(
                    State(label, low, high, (), word, contents=_contents({**contract.requires, **has, **asks}))
                )
        every = tuple(range(len(states)))
        states = [replace(state, after=every) if state.word == WORDS[1] else state for state in states]
        answers = frozenset(state.label for state in states)
        return TokenAutomaton(tuple(states), answers, (n, n), _invariants(self.part, contract))


def _cases_of_queries(contract: Contract) -> Mapping[str, Mapping[str, Domain]]:
    """Returns what a position asks for, by names: what follows the count 1/1, which no key has, is a case of its own."""
    asked = contract.requires.get(QUERY_COUNT)
    if not isinstance(asked, UnitFraction):
        return {"": {}}
    return {
        "asks for the first": {QUERY_COUNT: UnitFraction(1, 1)},
        "asks for a next": {QUERY_COUNT: UnitFraction(2, asked.high)},
    }


def _cases_of_keys(contract: Contract) -> Mapping[str, Mapping[str, Domain]]:
    """Returns what a later position has, by names: with counts, no key and no count, or both."""
    key = contract.requires.get(KEY)
    if COUNT not in contract.requires or not isinstance(key, Integer):
        return {"": {}}
    return {"no key": {KEY: NONE, COUNT: NONE}, "a key": {KEY: Integer(1, key.high)}}


def _invariants(part: Part, contract: Contract) -> tuple[Invariant, ...]:
    """Returns what a contract says of several positions: counts of equal keys are consecutive, or one key is nearest."""
    count = contract.requires.get(COUNT)
    if isinstance(count, UnitFraction):
        statement = "the positions that have a key in common have the counts 1/2, 1/3, …, each once"
        return (Consecutive("counts of equal keys", KEY, COUNT, count.high - 1, statement),)
    if WISH in contract.requires:
        return (
            OneWinner(
                "one nearest position", part.name, "no two positions with equal keys are equally near to the wanted one"
            ),
        )
    return ()


def _contents(domains: Mapping[str, Domain]) -> tuple[Content, ...]:
    """Returns the registers of one position; those that no row reads (`wish`) are as free as others."""
    content = []
    for name, domain in domains.items():
        if not isinstance(domain, Integer | UnitFraction):
            raise TypeError(f"register {name} holds {domain}, which no state gives")
        content.append(Content(name, domain.low, domain.high, isinstance(domain, UnitFraction)))
    return tuple(content)


DOSSIERS = tuple(HeadAlone(id) for id in PARTS)

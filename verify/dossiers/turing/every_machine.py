"""All machines of one size at once: what a rule says is given, at each position anew: any symbol, state and direction.

The models of Theorems 5.4 and 5.8 have the machine in one gadget, the table of its rules, and texts may have any steps. So the
model in which a rule may say anything has the runs of all machines of so many states and symbols among its own, if the sum of each
table's units is what its rule says (verify/claims/turing_table.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from constructions.models.program import NUMBER
from constructions.turing.machine import LETTERS
from constructions.turing.tape_models import ENTERS, STATE, TO_LEFT, TO_RIGHT, WRITES
from constructions.wiring.affine import Affine, as_affine, reg, total
from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Numbered
from constructions.wiring.wire import BlockPlan, Embedding, Gadget, Unit
from constructions.wiring.wired import Wired
from precision.format import Format
from verify.automata.token_automaton import Content, TokenAutomaton
from verify.dossiers.dossier import Subject
from verify.dossiers.turing.models import OnTape

SAYS = {WRITES: "the rule's symbol", ENTERS: "the rule's state", STATE: "the rule's direction"}
TABLE = "the table of "  # begins the name of the gadget in which machines differ
MOST_BEND = 4 * (len(LETTERS) - 1)  # of numbers from 0 to this over 4, or −1 and 1: x − 2y + z
ANY_RULE = "any rule"
UNREAD = "the table's sum"  # which nothing reads


def any_rule(key: Affine, keys: int) -> Gadget:
    """Writes what a rule says as `tape_models.table` does, where each part of the rule stands in a register.

    The table's own gates stand beside, each times the largest bend that a table can have: so every product of every table fits.
    """
    phases = [reg(phase) for phase in SAYS]
    says = [
        Unit(phase, reg(SAYS[name]), {NUMBER: 2, TO_RIGHT: 1, TO_LEFT: -1})
        for name, phase in zip(SAYS, phases, strict=True)
    ]
    gates = [as_affine(1), *(key - (i - 1) for i in range(1, keys))]
    return Gadget(
        ANY_RULE, (*says, *(Unit(gate, MOST_BEND * total(phases), {UNREAD: 2}) for gate in gates)), {}, "Lemma C.4"
    )


def with_rule(blocks: Sequence[BlockPlan], rule: Gadget) -> tuple[BlockPlan, ...]:
    """Returns the blocks with this gadget in place of the table."""
    return tuple(
        replace(block, gadgets=tuple(rule if one.name.startswith(TABLE) else one for one in block.gadgets))
        for block in blocks
    )


def table_of(blocks: Sequence[BlockPlan]) -> Gadget:
    """Returns the table of a machine. Raises ValueError unless there is one."""
    (table,) = (gadget for block in blocks for gadget in block.gadgets if gadget.name.startswith(TABLE))
    return table


def difference(blocks: Sequence[BlockPlan], every: Sequence[BlockPlan]) -> str:
    """Returns where a machine's blocks are not those of every machine with its table as the rule; "" if nowhere."""
    (rule,) = (gadget for block in every for gadget in block.gadgets if gadget.name == ANY_RULE)
    says, gates = rule.units[: len(SAYS)], [unit.gate for unit in rule.units[len(SAYS) :]]
    if with_rule(blocks, rule) != tuple(every):
        return "a weight beside the table"
    for unit in table_of(blocks).units:
        if unit.gate not in gates:
            return f"the gate {unit.gate}"
        if (
            not unit.up.terms.keys() <= SAYS.keys()
            or unit.up.constant
            or max(map(abs, unit.up.terms.values())) > MOST_BEND
        ):
            return f"the bends {unit.up}"
        if unit.into != says[0].into:
            return f"what the gate {unit.gate} writes"
    return ""


@dataclass(frozen=True)
class EveryMachine(OnTape):
    """All machines with as many states and symbols as this one, of which some rule differs from the one before it.

    model: "hybrid" or "rag". Of its weights rounding is certified; what they say is asked of each machine by itself.
    """

    construction: str = "every-machine"
    model: str = "hybrid"

    has_door = has_definition = is_stored_above = False
    stored_in = ()

    @property
    def findings(self) -> Sequence[Finding]:
        return ()

    def plan(self, subject: Subject, fmt: Format) -> tuple[Embedding, Sequence[BlockPlan]]:
        embedding, blocks = super().plan(subject, fmt)
        words = embedding.words
        if not isinstance(words, Numbered):
            raise TypeError("the words are no families of numbers")
        zeros = dict.fromkeys(SAYS.values(), 0)
        others = tuple({**row, **zeros} for row in words.others)
        key = next(unit.gate for unit in table_of(blocks).units if unit.gate.terms)
        rule = any_rule(Affine(key.terms), len(self.rules.rows) * self.rules.symbols)
        return replace(embedding, words=replace(words, others=others)), with_rule(blocks, rule)

    @property
    def scope(self) -> tuple[str, ...]:
        return (f"{len(self.rules.rows)} states and {self.rules.symbols} symbols",)

    def wired(self, subject: Subject, listed: int | None = None, *, forced: bool = False) -> Wired:
        raise ValueError("no user gets a machine whose rules may say anything")

    def texts_between(self, subject: Subject, low: int, high: int) -> TokenAutomaton:
        automaton = super().texts_between(subject, low, high)
        machine = self.rules
        contents = (
            Content(SAYS[WRITES], 0, machine.symbols - 1),
            Content(SAYS[ENTERS], 0, len(LETTERS) - 1),
            Content(SAYS[STATE], -1, 1, every=2),
        )
        return replace(automaton, states=tuple(replace(state, contents=contents) for state in automaton.states))


DOSSIERS = (EveryMachine(), EveryMachine(model="rag"))

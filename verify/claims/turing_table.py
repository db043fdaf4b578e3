"""Theorems 4.1, 5.4 and 5.8: the weights in which machines differ, for every small machine and every neighbourhood of a cell."""

from __future__ import annotations

import itertools
from dataclasses import replace

from constructions.turing import cot
from constructions.turing.configurations import BAR, NEVER, OUT, RUN, START, Code
from constructions.turing.library import find
from constructions.turing.machine import DIGITS, LETTERS, RIGHT, Machine, parse_standard
from constructions.turing.tape_models import ENTERS, STATE, WRITES, TapeTask, table
from constructions.wiring.affine import Affine, reg
from verify.claims.models import TURING_COT
from verify.dossiers.dossier import ENDLESS, FEW, LEAST, Subject
from verify.dossiers.turing.every_machine import EveryMachine, difference
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.inputs.turing_machines import every_table, machines
from verify.runs.registers import registers_after
from verify.runs.turing_runs import COT

STEPS = 50  # the table is the same for any number of them
PHASES = (WRITES, ENTERS, STATE)  # where a symbol, a state, a direction is written


def by_rule(machine: Machine) -> Counterexample | None:
    """Returns whether the units of 5.4 and 5.8 add what each rule says, for each state and symbol."""
    gadget = table(TapeTask(machine, STEPS, ""), reg("key"))
    units = [(unit.gate, [coefficient(unit.up, phase) for phase in PHASES]) for unit in gadget.units]
    summands = [(int(gate.constant), coefficient(gate, "key"), up) for gate, up in units]
    for key, (letter, symbol) in enumerate(itertools.product(machine.states, range(machine.symbols))):
        rule = machine.rule(letter, symbol)
        values = (rule.write, LETTERS.index(rule.state), rule.move)
        for i, (phase, value) in enumerate(zip(PHASES, values, strict=True)):
            added = sum(max(constant + slope * key, 0) * up[i] for constant, slope, up in summands)
            if added != value:
                return Counterexample(rule=f"{letter}{symbol}", at=phase, expected=value, added=added)
    return None


def coefficient(form: Affine, register: str) -> int:
    """Returns an integer one."""
    return int(form.terms.get(register, 0))


def by_digit(machine: Machine) -> Counterexample | None:
    """Returns a digit for which the units of 4.1 do not add what its rule says; a digit of no head adds nothing."""
    code = Code(machine)
    units = [(int(u.gate.constant), {name: int(w) for name, w in u.into.items()}) for u in cot.table(code).units]
    first, k, total = code.first_head, machine.symbols, {}
    for digit in range(code.outside + 1):
        total = dict.fromkeys(("written", "next", "rightward", "leftward"), 0)
        for constant, into in units:
            for name, weight in into.items():
                total[name] += weight * max(digit + constant, 0)
        expected = dict.fromkeys(total, 0)
        if first <= digit < first + k * len(machine.states):
            i, symbol = divmod(digit - first, k)
            rule = machine.rule(LETTERS[i], symbol)
            came = first + k * code.letters.index(rule.state) - 1
            move = "rightward" if rule.move == RIGHT else "leftward"
            expected |= {"written": 1 + rule.write - digit, "next": came, move: 1}
        if total != expected:
            return Counterexample(digit=digit, expected=expected, added=total)
    return None


TABLES = {"4.1": (by_digit, "digit"), "5.8": (by_rule, "rule")}
STATEMENT = (
    "The table's units, the only weights in which machines of equal size differ, add up to each rule and nothing else."
)


@claims("theorem", TABLES, lambda theorem: Claim.about(theorem, "turing", "table", "Lemma C.4", STATEMENT))
def test_every_small_table(check: Check, theorem: str) -> None:
    right, what = TABLES[theorem]

    def of_code(code: str) -> Counterexample | None:
        return right(parse_standard(code))

    small = f"all 20,736 machines of 2 states and 2 symbols, every {what}"
    rules = 2 * 2 * 3  # symbols to write, ways to move, two states and the halt
    check.exhaustive(every_table(), of_code, count=rules**4, range=small, size=states_of)
    check.sampled(
        machines(25, 10),
        of_code,
        range=f"random machines of up to 25 states and 10 symbols, every {what}",
        size=states_of,
        max_examples=30,
    )


EVERY = {"5.4": "rag", "5.8": "hybrid"}
AT = 8  # the n at which weights of machines are compared; beside the table they depend on the machine's size alone
STRIDE = 31  # of all machines, one in so many is compared


@claims(
    "theorem",
    EVERY,
    lambda theorem: Claim.about(
        theorem,
        "turing",
        "every-machine",
        f"Theorem {theorem}",
        "Rounding changes no word of any machine of 2 states and 2 symbols, after any steps from a blank tape: what a rule says"
        f" may be any symbol, state and direction, at each step anew. Fused, after every number n ≥ {LEAST} of steps.",
    ),
)
def test_every_machine(check: Check, theorem: str) -> None:
    every = EveryMachine(model=EVERY[theorem])
    at = Subject(every, AT)
    _, blocks = every.plan(at, every.format(at))

    def alike(code: str) -> Counterexample | None:
        own = replace(every.solver, machine=parse_standard(code))
        _, its = own.plan(AT, every.format(at), listed=FEW)
        differs = "the precision" if own.least_precision(AT) != every.least_precision(at) else difference(its, blocks)
        return Counterexample(machine=code, where=differs) if differs else None

    text = f"any rule at each step, of 2 states and 2 symbols, every n from {LEAST} on: nothing is rounded wrongly"
    check.certified([Subject(every, LEAST, last=ENDLESS)], range=text, precision="least p")
    some = itertools.islice(every_table(), 0, None, STRIDE)
    check.chosen(some, alike, range="machines that differ from this in the table alone", size=states_of)
    check.argued("The table's units add up to each rule, of all machines of 2 states and 2 symbols: 5.8/table.")


def states_of(code: str) -> int:
    """Returns how many states a machine has."""
    return len(parse_standard(code).states)


# A cell and its neighbours


def turn_later(machine: Machine, left: str, cell: str, right: str) -> str:
    """Returns the cell one turn later; "" for a word that is no cell, `|` or `:`."""
    if cell in (BAR, RUN):
        return BAR
    if cell == START:
        return ""

    def goes(word: str, move: int) -> str:
        """Returns the state in which a head that this word is goes there."""
        if word[0] not in LETTERS:
            return ""
        rule = machine.rule(word[0], int(word[1]))
        return rule.state if rule.move == move else ""

    if cell[0] in LETTERS:
        rule = machine.rule(cell[0], int(cell[1]))
        beyond = right if rule.move == RIGHT else left
        return OUT if beyond in (BAR, RUN, START) else DIGITS[rule.write]
    came = goes(left, RIGHT) or goes(right, -RIGHT)
    return came + cell.replace(NEVER, DIGITS[0]) if came else cell


@TURING_COT.judges(
    "cell", "The digit that enters the queue is that of the cell one turn later, whatever it and its neighbours are."
)
def test_every_neighbourhood(check: Check) -> None:
    def right(name: str) -> Counterexample | None:
        machine = find(name).machine
        wired = cot.Cot(machine, cells=3).build(1)
        symbols, states = DIGITS[: machine.symbols], machine.states
        heads = [state + symbol for state in states for symbol in symbols]
        others = [NEVER, *symbols, BAR, RUN, START]
        triples = [t for t in itertools.product([*heads, *others], repeat=3) if sum(word in heads for word in t) < 2]
        tokens = wired.tokens(word for triple in triples for word in triple)
        entering = registers_after(wired, tokens, block=2)["entering"]
        digits = dict(zip(wired.vocabulary, wired.model.words[:, wired.registers.index("number")], strict=True))
        for i, triple in enumerate(triples):
            word = turn_later(machine, *triple)
            enters = entering[3 * i + 2]
            if enters != (digits[word] if word else 0):
                return Counterexample(neighbourhood=" ".join(triple), expected=word, enters=enters)
        return None

    check.chosen(
        ["bb2", "bb3", "bb2x4", "palindrome"],
        right,
        range="every three words with one head at most, for four machines",
        size=lambda name: len(find(name).machine.states),
        precision=COT.precision,
    )

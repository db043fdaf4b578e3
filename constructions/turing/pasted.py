"""Machine texts as people paste them: comments, small letters, spaces, a list of machines, the table of a simulator.

Read besides the two formats of machine.py:
- the standard text format in small letters, with spaces or line breaks around `_`, between rules, or in place of `_`; with one
  space between rules and two, or a line break, between rows; with comments after `#`, `;` or `//`; with `...` for `---`, and `-` or
  `_` for a state to halt in, as in 1R- and 1R_; at the end of an address of bbchallenge.org; before commas, as in `…,halt,107`.
  Several machines are refused by name: nobody said which.
- a rule on each line as in Morphett's Turing machine simulator, `state read write move newstate`, where `_` is the blank, `*`
  stands for any symbol or state on the left and for no change on the right, and `;` starts a comment. State 0 starts, or else
  the first one. Its states and symbols get our letters and digits, and `note` says which.
- the YAML of turingmachine.io: `blank`, `start state`, `input`, and `table` with `[1,0]: R` or `1: {write: 0, L: carry}`.

A rule that such a table lacks is `---`, which writes 1 and moves once before it halts; these simulators halt where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from constructions.turing.machine import (
    DIGITS,
    LETTERS,
    MOST_STATES,
    MOST_SYMBOLS,
    MOVES,
    UNDEFINED,
    Machine,
    MachineError,
    Rule,
    parse_standard,
    parse_table,
)

Rules: TypeAlias = dict[tuple[str, str], tuple[str, str, str]]
"""(state, symbol read) → (symbol written, move, next state), in the names of the text."""
BLANK, ANY, START = "_", "*", "0"
_COMMENT = re.compile(r"(?:(?<!/)#|;|(?<!:)//).*")
_ADDRESS = re.compile(r"(?:https?://)?(?:www\.)?bbchallenge\.org/(?:#/?)?(?:machine/)?([^\s&?#/]*)\S*", re.IGNORECASE)
_REMARK = re.compile(r"(?<=[A-Za-z.-]),[^\n]*")  # what a list says of a machine, after a comma
_TOKEN = re.compile(r"([0-9][LR])[_-]|\.\.\.|([0-9][LR][A-Z]|---|.)", re.IGNORECASE | re.DOTALL)
_YAML = re.compile(r"^(?:table|start state)\s*:", re.MULTILINE)
_SIMULATOR_RULE = re.compile(r"(\S+)\s+(\S)\s+(\S)\s+([lLrR*])\s+(\S+?)(?:\s+!)?(?:\s+#.*)?")
_RULES = re.compile(rf"(?:[0-9][LR][A-Z-]|{UNDEFINED})+")
_OPEN_HALT = re.compile(r"([0-9][LR])-")
MOST_NAMED = 4  # machines that an error lists
LONGEST_NAME = 60


@dataclass(frozen=True)
class Pasted:
    """A machine out of a text. symbols: ours for each of the text's, empty if they are the same. note: what was renamed.

    example: the tape word of the text, in its symbols.
    """

    machine: Machine
    symbols: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    example: str = ""

    def tape(self, given: str | None) -> str:
        """Returns a word in the symbols of the text, by default its example, in ours. Raises MachineError."""
        word = self.example if given is None else given
        if not self.symbols:
            return word
        for place, character in enumerate(word, 1):
            if character not in self.symbols:
                symbols = " ".join(self.symbols)
                raise MachineError(
                    f"{character!r} at place {place} of the tape is not one of the text's symbols {symbols}"
                )
        return "".join(self.symbols[character] for character in word)


def looks_like_a_machine(text: str) -> bool:
    """Returns whether a text on the command line is meant as rules, and not as a name."""
    rules = re.fullmatch(r"\s*[0-9.-][0-9A-Za-z_\s.-]*(?:,.*)?", text) or _ADDRESS.fullmatch(text.strip())
    return not text.strip() or bool(rules) or "->" in text or "\n" in text


def read_machine(text: str) -> Pasted:
    """Returns the machine of a text in any of these formats. Raises MachineError."""
    if "->" in text or "→" in text:
        return Pasted(parse_table(text.upper()))
    if _YAML.search(text):
        return _yaml_table(text)
    table = {number: line.split(";")[0].strip() for number, line in enumerate(text.splitlines(), 1)}
    table = {number: line for number, line in table.items() if line and not line.startswith(("#", "//"))}
    if table and _SIMULATOR_RULE.fullmatch(next(iter(table.values()))):
        return _simulator_table(table)
    return Pasted(parse_standard(_standard("\n".join(_COMMENT.sub("", line).strip() for line in text.splitlines()))))


def _standard(text: str) -> str:
    """Returns the standard text format without what people add to it. Raises MachineError."""
    if (address := _ADDRESS.search(text)) and not re.search(r"[LR]", address[1], re.IGNORECASE):
        raise MachineError(f"{_short(address[0])!r} names a machine by a number; give its rules, as in 1RB1LB_1LA1RZ")
    text = _REMARK.sub("", _ADDRESS.sub(r"\1", text))
    text = _TOKEN.sub(lambda token: f"{token[1]}-" if token[1] else token[2] or UNDEFINED, text)
    if "_" not in text and re.search(r"\S[ \t]\S", text):  # one space between rules: more, or a line break, ends a row
        text = re.sub(r"\s*\n\s*|[ \t]{2,}", "_", text.strip())
    spelled = re.sub(r"\s*_\s*", "_", text).split()
    words = [word.upper() for word in spelled]
    if len(words) > 1:
        for word, as_given in zip(words, spelled, strict=True):
            if not all(_RULES.fullmatch(row) for row in word.split("_")):
                raise MachineError(
                    f"{_short(as_given)!r} is not made of rules; a machine is written as in 1RB1LB_1LA1RZ"
                )
    machines = [word for word in words if "_" in word]
    if len(machines) == len(words) > 1:  # a word without _ is a rule of a row whose rules stand apart
        shown = ", ".join(_short(machine) for machine in machines[:MOST_NAMED])
        more = ", …" if len(machines) > MOST_NAMED else ""
        raise MachineError(f"there are {len(machines)} machines in the text, {shown}{more}; give one of them")
    if len(words) > 1 and not machines and any(len(word) == len(UNDEFINED) for word in words):
        raise MachineError("nothing tells where the row of a state ends; write _ there, as in 1RB1LB_1LA1RZ")
    joined = ("" if machines else "_").join(words)
    return "_".join(_OPEN_HALT.sub(r"\1Z", row) if _RULES.fullmatch(row) else row for row in joined.split("_"))


def _simulator_table(lines: Mapping[int, str]) -> Pasted:
    """Returns the machine of Morphett's simulator. Raises MachineError."""
    rules: Rules = {}
    for number, line in lines.items():
        match = _SIMULATOR_RULE.fullmatch(line)
        if match is None:
            raise MachineError(f"line {number}: {_short(line)!r} is not a rule; expected one as in 0 _ 1 r carry")
        state, read, write, move, following = match.groups()
        if _halts(state):
            continue  # nothing is done there, whatever stands in the table
        if (state, read) in rules:
            raise MachineError(f"line {number}: state {_short(state)}, symbol {read} has a rule already")
        if move == ANY:
            raise MachineError(f"line {number}: the move * stays on its cell; here each step moves, l or r")
        rules[state, read] = (write, move.upper(), following)
    return _of_rules(rules, START)


def _yaml_table(text: str) -> Pasted:
    """Returns the machine of turingmachine.io's YAML. Raises MachineError."""
    try:
        import yaml
    except ImportError:
        raise MachineError("reading the YAML of turingmachine.io needs PyYAML: pip install pyyaml") from None
    try:
        about = _entries(yaml.compose(text, Loader=yaml.SafeLoader))
        table, synonyms = _entries(about["table"]), _entries(about["synonyms"]) if "synonyms" in about else {}
        start, blank = _word(about["start state"]), _word(about["blank"])
    except yaml.YAMLError as error:
        raise MachineError(f"the text is no YAML: {' '.join(str(error).split())[:120]}") from error
    except KeyError as error:
        raise MachineError(f"the YAML has no {error.args[0]!r}, as turingmachine.io has") from error
    rules: Rules = {}
    for state, row in table.items():
        for reads, act in _pairs(row):
            if isinstance(act, yaml.ScalarNode):
                act = synonyms.get(act.value, act)
            given = {act.value: None} if isinstance(act, yaml.ScalarNode) else _entries(act)
            moves = [name for name in given if name.upper() in MOVES]
            if len(moves) != 1 or not given.keys() <= {*moves, "write"}:
                raise MachineError(f"{_line(reads)}: expected one move, L or R, as in {{write: 1, L: carry}}")
            going = given[moves[0]]
            following = _word(going) if going is not None and _word(going) else state
            for symbol in map(_word, reads.value if isinstance(reads, yaml.SequenceNode) else [reads]):
                if (state, symbol) in rules:
                    raise MachineError(f"{_line(reads)}: state {_short(state)}, symbol {symbol!r} has a rule already")
                written = _word(given["write"]) if "write" in given else symbol
                for name in (symbol, written, blank):
                    if len(name) != 1 or name == ANY:
                        raise MachineError(f"{_line(reads)}: {_short(name)!r} is no symbol of one character")
                rules[state, symbol] = (written, moves[0].upper(), following)
    if not any(state == start for state, _ in rules):
        raise MachineError(f"the start state {_short(start)} has no rule")
    return replace(_of_rules(rules, start, blank), example=_word(about["input"]) if "input" in about else "")


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    """Returns the entries of a YAML mapping; none of an empty value. Raises MachineError."""
    if node is not None and node.id == "mapping":
        return list(node.value)
    if node is not None and node.id == "scalar" and node.value == "":
        return []
    raise MachineError("the YAML is not made of `name: …`, as turingmachine.io has it")


def _entries(node: Any) -> dict[str, Any]:
    return {_word(key): value for key, value in _pairs(node)}


def _word(node: Any) -> str:
    """Returns the text of a YAML scalar. Raises MachineError."""
    if node.id != "scalar":
        raise MachineError(f"{_line(node)}: expected one word")
    return str(node.value)


def _line(node: Any) -> str:
    return f"line {node.start_mark.line + 1}"


def _of_rules(rules: Rules, start: str, blank: str = "") -> Pasted:
    """Returns the machine of rules over other names. blank: its symbol, by default `_`, or 0 if no rule has `_`.

    Raises MachineError.
    """
    used = {symbol for (_, read), (write, _, _) in rules.items() for symbol in (read, write)}
    symbols = _symbols(used, blank or (START if BLANK not in used and START in used else BLANK))
    live, halting = _states(rules.keys(), (following for _, _, following in rules.values()), start)
    states = {**live, **halting}
    missing: list[str] = []

    def rule(state: str, symbol: str) -> Rule | None:
        keys = ((state, symbol), (state, ANY), (ANY, symbol), (ANY, ANY))
        row = next((rules[key] for key in keys if key in rules), None)
        if row is None:
            missing.append(f"{_short(state)} {symbol}")
            return None
        write, move, following = row
        written = symbols[symbol if write == ANY else write]
        return Rule(int(written), MOVES[move], states[state if following == ANY else following])

    machine = Machine(tuple(tuple(rule(state, symbol) for symbol in symbols) for state in live))
    said = [*_rename("symbols", symbols), *_rename("states", states)]
    if missing:
        more = ", …" if len(missing) > MOST_NAMED else ""
        said.append(f"no rule for {', '.join(missing[:MOST_NAMED])}{more}, taken as {UNDEFINED}")
    same = all(name == ours for name, ours in symbols.items())
    return Pasted(machine, {} if same else symbols, f"read as {machine}: {'; '.join(said)}" if said else "")


def _rename(what: str, names: Mapping[str, str]) -> list[str]:
    changes = [f"{_short(name)} → {ours}" for name, ours in names.items() if name != ours]
    return [f"{what} {', '.join(changes)}"] if changes else []


def _symbols(symbols: Set[str], blank: str) -> dict[str, str]:
    """Returns each symbol of a table, and our digit for it; the blank first. Raises MachineError."""
    others = sorted(symbols - {ANY, blank})
    if len(others) >= MOST_SYMBOLS:
        raise MachineError(f"a machine has at most {MOST_SYMBOLS} symbols; the text has {len(others) + 1}")
    if blank == START and all(symbol in DIGITS for symbol in others):
        return {digit: digit for digit in DIGITS[: max(map(int, others), default=1) + 1]}
    return dict(zip((blank, *(others or "1")), DIGITS, strict=False))


def _states(
    keys: Iterable[tuple[str, str]], following: Iterable[str], start: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Returns our letters for states with rules, `start` or the first one first, and for those to halt in. Raises MachineError."""
    named, reached = dict.fromkeys(state for state, _ in keys), dict.fromkeys(following)
    everywhere = named.pop(ANY, ANY) is None  # rules of any state, which a state to halt in does not take
    if everywhere:
        named.update({state: None for state in (start, *reached) if state != ANY and not _halts(state)})
    live = sorted(named, key=lambda state: state != start)
    halting = [state for state in reached if state not in named and state != ANY]
    if not live or len(live) + len(halting) > len(LETTERS) or len(live) > MOST_STATES:
        raise MachineError(
            f"a machine has 1 to {MOST_STATES} states, and letters to halt in; the text has {len(live)} and {len(halting)}"
        )
    own = live == list(LETTERS[: len(live)]) and all(len(state) == 1 and state in LETTERS for state in halting)
    return (
        dict(zip(live, LETTERS, strict=False)),
        {state: state if own else letter for state, letter in zip(halting, reversed(LETTERS), strict=False)},
    )


def _halts(state: str) -> bool:
    return state.lower().startswith("halt")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"

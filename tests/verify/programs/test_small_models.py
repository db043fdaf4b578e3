"""Random small models: what their weights are read as, on every text of their language, against exact runs."""

from __future__ import annotations

from hypothesis import event, given, settings
from hypothesis import strategies as st

from constructions.language.interpreter import Input
from constructions.language.terms import ZERO
from constructions.layers import AttentionHead, Block
from constructions.wiring.numbered import Family
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, fixed_point
from tests.verify.rounding.small import RegisterNames, Unit, Weights, texts
from verify.algebra.domains import Undecided
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.ideal import IdealModel
from verify.programs.extraction import extract
from verify.programs.normal import Normalizer
from verify.programs.output import answer_of
from verify.rounding.model import described

OF = RegisterNames(
    ("v", "v²", "n", "<s>", "x", "?", "k", "one", "first", "k²", "a", "a²", "b", "b²", "c", "d", "e", "f")
)
SQUARES = {"k": "k²", "v": "v²", "a": "a²", "b": "b²"}
WORDS: dict[str, Weights] = {
    **{str(v): {"v": v, "v²": v * v, "n": 1} for v in (1, 2, 3)},
    **{word: {word: 1} for word in ("<s>", "x", "?")},
}
ARITHMETIC = Arithmetic(fixed_point(41))
FREE = ("a", "b", "c", "d", "e", "f")  # what may be written
BITS = ("n", "<s>", "x", "?", "first")


def automata() -> st.SearchStrategy[TokenAutomaton]:
    """<s>, numbers and x in some order, and ? after them or not."""

    def automaton(begin: tuple[int, ...], longest: int, repeated: bool, asked: bool) -> TokenAutomaton:
        start = State(Label("<s>"), 1, 1, (), "<s>")
        number = State(Label("number"), 2, longest, (0, 1, 2) if repeated else (0, 2), numbers=(1, 3))
        mark = State(Label("x"), 2 + (0 not in begin), longest, begin, "x")
        states = (start, number, mark, *([State(Label("?"), 3, longest + 1, (1, 2), "?")] if asked else []))
        return TokenAutomaton(states, frozenset(state.label for state in states), (4, 4))

    return st.builds(
        automaton, st.sampled_from([(0, 1), (1,), (1, 2)]), st.integers(3, 4), st.booleans(), st.booleans()
    )


def _form(draw: st.DrawFn, names: tuple[str, ...], most: int = 2) -> Weights:
    found = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from([1, 1, 1, -1, 2])), max_size=most))
    return {name: float(w) for name, w in found}


@st.composite
def heads(draw: st.DrawFn, readable: tuple[str, ...], into: str) -> AttentionHead:
    """By position, by equal registers with a preference or none, by a bit, or by anything."""
    kind, value = draw(st.sampled_from(["position", "key", "key", "key", "count", "bit", "any"])), _form(draw, readable)
    if kind == "position":
        c, offset = draw(st.sampled_from([1, 2])), draw(st.integers(-3, 1))
        asked = draw(st.sampled_from(["k", "v", "a", "b"]))
        return OF.head(
            [({asked: 2.0 * c, "one": 2.0 * c * offset}, {"k": 1.0}), ({"one": -float(c)}, {"k²": 1.0})], value, into
        )
    if kind == "key":
        scores: list[tuple[Weights, Weights]] = []
        usual = draw(st.sampled_from([True, True, True, False]))  # else a default that depends on what is asked for
        for x, y in draw(st.lists(st.tuples(st.sampled_from("vvab"), st.sampled_from("vabk")), min_size=1, max_size=2)):
            scores += [({y: 128.0}, {x: 1.0}), ({"one": -64.0}, {SQUARES[x]: 1.0})]
            scores += [({SQUARES[y]: 64.0}, {"first": 1.0})] * usual
        target = {"one": 2.0 * draw(st.sampled_from([0, 0, 8, 8, -8, 0.25, -0.25, 0.5]))}  # a position, or after one
        target |= draw(st.sampled_from([{}, {}, {}, {"v": 2.0}, {"a": 2.0}, {"k": 2.0}]))
        default = draw(st.sampled_from([-49, -40, -37, -36, -35, -15, -3, 0, 1, -64, 32, 33, 40]))
        scores += [(target, {"k": 1.0}), ({"one": -1.0}, {"k²": 1.0}), ({"one": float(default)}, {"first": 1.0})]
        return OF.head(scores, value, into)
    if kind == "count":  # position 1 and all that match: 1/(1 + how many)
        x, y, more = draw(st.sampled_from("vab")), draw(st.sampled_from("vabk")), draw(st.sampled_from([0, 1, 1, -1]))
        default = {SQUARES[y]: 64.0, y: 128.0 * more, "one": 64.0 * more**2}
        asked = {y: 128.0, "one": 128.0 * more}
        return OF.head(
            [(asked, {x: 1.0}), ({"one": -64.0}, {SQUARES[x]: 1.0}), (default, {"first": 1.0})], {"first": 1.0}, into
        )
    if kind == "bit":
        bit, first = draw(st.sampled_from(BITS)), draw(st.sampled_from([0, 1, -1, 2]))
        return OF.head([({"one": 2.0}, {bit: 1.0}), ({"one": float(first)}, {"first": 1.0})], value, into)
    rows = [(_form(draw, readable), _form(draw, readable)) for _ in range(draw(st.integers(1, 2)))]
    return OF.head(rows, value, into)


@st.composite
def blocks(draw: st.DrawFn, readable: tuple[str, ...], free: tuple[str, ...]) -> tuple[Block, tuple[str, ...]]:
    """A block that writes some registers, and those that may be read after it."""
    written, names = list(free[:2]), tuple(dict.fromkeys((*readable, "one")))
    found = [draw(heads(names, into)) for into in written[: draw(st.integers(1, 2))]]
    units: list[Unit] = []
    changed = [name for name in (*written, "f") if name not in SQUARES]  # the others' squares are theirs
    for _ in range(draw(st.integers(0, 2))):
        gate, up = _form(draw, (*names, *written)), _form(draw, (*names, *written))
        bias = float(draw(st.integers(-3, 2)))
        units.append((gate, bias, up, float(draw(st.integers(-1, 1))), {draw(st.sampled_from(changed)): 1.0}))
    for name in SQUARES.keys() & set(written):
        units += [({name: sign}, 0.0, {name: sign}, 0.0, {SQUARES[name]: 1.0}) for sign in (1.0, -1.0)]
    return OF.block(*units, heads=found), (*names, *written, *(SQUARES[n] for n in written if n in SQUARES))


@st.composite
def models(draw: st.DrawFn) -> Wired:
    """Positions, squares and constants in a first block, and one or two more."""
    once: list[Unit] = [
        ({}, 1.0, {}, 1.0, {"one": 1.0}),
        ({"<s>": 1.0}, 0.0, {}, 1.0, {"first": 1.0}),
        ({"k": 1.0}, 0.0, {"k": 1.0}, 0.0, {"k²": 1.0}),
    ]
    result, readable, free = [OF.block(*once)], ("v", "v²", "n", "<s>", "x", "?", "k", "one", "first", "k²"), FREE
    for _ in range(draw(st.integers(1, 3))):
        block, readable = draw(blocks(readable, free))
        result.append(block)
        free = free[2:]
    return OF.model(WORDS, {"k": 1.0}, result, ARITHMETIC)


@given(models(), automata(), st.booleans())
@settings(max_examples=25)
def test_registers_are_what_they_are_read_as(wired: Wired, automaton: TokenAutomaton, naming: bool) -> None:
    weights = described(wired.model, ARITHMETIC, wired.registers, wired.vocabulary, [Family("", 1, 3)])
    try:
        program = extract(weights, automaton, naming=naming)
    except Undecided:
        event("undecided")
        return
    ideal, states = IdealModel(wired.model), {state.label: i for i, state in enumerate(automaton.states)}
    at = {name: Normalizer(program.facts.facts_at(frozenset([i]))) for name, i in states.items()}
    last = program.stages[-1].registers
    here = {name: {i: normal.term(value) for i, value in last.items()} for name, normal in at.items()}
    says = {}
    for name, normal in at.items():
        try:
            says[name] = answer_of(weights, here[name], normal)
        except Undecided:
            event(f"no answer at {name}")
    for text in texts(wired, automaton):
        tokens = [token for token, _ in text]
        history, following = ideal.run(tokens)
        words = [wired.vocabulary[token] for token in tokens]
        run = Input([("", int(word)) if word.isdecimal() else (word, 0) for word in words])
        for k, (_, state) in enumerate(text, start=1):
            for layer, stage in enumerate(program.stages):
                for i, name in enumerate(OF):
                    told, exact = stage.registers.get(i, ZERO), history[k - 1][layer][i]
                    assert run.value(told, k) == exact, (words, k, stage.where, name, told.order)
            for i, name in enumerate(OF):
                assert run.value(here[state].get(i, ZERO), k) == history[k - 1][-1][i], (words, k, state, name)
            if state in says:
                assert run.word_at(says[state], k) == wired.vocabulary[following[k - 1]], (words, k, state)

"""Hard inputs of a model, and the first that it answers wrongly: what no certified model may do.

The extreme ones of verify/inputs/ come first, where n has them; random ones fill up, over few tokens or of every family of graphs.
Of a Turing machine they are runs on other words, where the model is wired for none; else any texts of its language, and what the
ideal model of its own weights says there.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from constructions.istree.graphs import Graph, is_tree
from constructions.layers import Transformer
from constructions.models.search import END_SEARCH
from constructions.models.solver import Request
from constructions.retrieval.task import Question
from constructions.turing.configurations import Task
from constructions.wiring.wired import Wired
from verify.automata.language import Language
from verify.certificates.building import RETRIEVERS, Subject, families_of, language_of, solver_of
from verify.certificates.ideal import IdealModel

TRIES = 20  # drawn for each input that is wanted: at small n there are few different ones
LONGEST = 2000  # tokens of an input with its answer
PLACES = 20  # of one text at which the next word is asked for


@dataclass(frozen=True)
class HardInput:
    """What is asked in words, as tokens, and the tokens that must follow."""

    text: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]


def hard_inputs(subject: Subject, wired: Wired, count: int, seed: int) -> list[HardInput]:
    """So many different ones, or as many as were found; the shortest first."""
    by_prompt, draws = dict[tuple[int, ...], HardInput](), _drawn(subject, wired, count, random.Random(seed))
    for one in draws:
        by_prompt.setdefault(one.prompt, one)
        if len(by_prompt) >= count:
            break
    return sorted(by_prompt.values(), key=lambda one: len(one.prompt) + len(one.answer))


def _drawn(subject: Subject, wired: Wired, count: int, rng: random.Random) -> Iterator[HardInput]:
    if subject.construction == "turing":
        texts = _runs if subject.model == "cot" else _texts
        yield from texts(subject, wired, count * TRIES, rng)
        return
    solver = solver_of(subject)
    for given in candidates(subject, rng, count * TRIES):
        if subject.printed and isinstance(given, Graph) and not is_tree(given):
            continue  # the theorem allows more than one chain of thought
        request = solver.request(wired, given)
        if len(request.prompt) + len(request.guess) <= LONGEST:
            for prompt, answer in pieces(wired, request):
                yield HardInput(text_of(given), prompt, answer)


def _runs(subject: Subject, wired: Wired, count: int, rng: random.Random) -> Iterator[HardInput]:
    """Of the machine on any words that its space can hold."""
    turing, task = subject.turing, subject.task
    if not isinstance(task, Task):
        raise TypeError("task is no Task")
    symbols = [str(symbol) for symbol in range(turing.machine.symbols)]
    for _ in range(count):
        word = "".join(rng.choices(symbols, k=rng.randint(0, task.cells)))
        request = replace(turing, tape=word, cells=task.cells).request(wired, subject.n)
        yield HardInput(f"the word {word or 'that is empty'}", tuple(request.prompt), tuple(map(int, request.guess)))


def _texts(subject: Subject, wired: Wired, count: int, rng: random.Random) -> Iterator[HardInput]:
    language, ideal = language_of(subject), IdealModel(wired.model)
    for _ in range(-(-count // PLACES)):
        tokens = walk(language, wired, subject, rng)
        _, following = ideal.run(tokens)
        for end in rng.sample(range(1, len(tokens) + 1), min(PLACES, len(tokens))):
            text = " ".join(wired.vocabulary[token] for token in tokens[:end])
            yield HardInput(text, tuple(tokens[:end]), (following[end - 1],))


def walk(language: Language, wired: Wired, subject: Subject, rng: random.Random) -> list[int]:
    """A text of the language of a Turing machine, with any numbers."""
    first, zero = 0, dict[str, int]()  # the token of each family's number 0, if it had one
    for family in families_of(subject):
        zero[family.family] = first - family.low
        first += len(family)
    place, tokens = 0, list[int]()
    while True:
        here = language.places[place]
        low, high = language.range(here.numbers[0])[0], language.range(here.numbers[1])[1]
        number = rng.choice((low, high, rng.randint(low, high)))
        tokens.append(wired.token[here.word] if here.word else zero[here.family] + number)
        at = len(tokens) + 1
        following = [
            i
            for i, one in enumerate(language.places)
            if place in one.after and language.range(one.low)[0] <= at <= language.range(one.high)[1]
        ]
        if not following:
            return tokens
        place = rng.choice(following)


def pieces(wired: Wired, request: Request) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """What stands before, and what the model itself has to write behind it: a search's result is not its own."""
    tokens, start, end = (*request.prompt, *map(int, request.guess)), len(request.prompt), wired.token.get(END_SEARCH)
    places = [i for i in range(start, len(tokens)) if tokens[i] == end]
    for first, last in zip([start, *(i + 2 for i in places)], [*(i + 1 for i in places), len(tokens)], strict=True):
        yield tuple(tokens[:first]), tuple(tokens[first:last])


def candidates(subject: Subject, rng: random.Random, count: int) -> Iterator[Graph | Question]:
    """The extreme inputs of a task where n has them, then so many that are drawn."""
    from verify.inputs import hard_graphs, hard_questions, strategies

    n, name = subject.n, subject.construction
    if name == "istree":
        if n >= hard_graphs.LEAST:
            yield from (hard.graph() for hard in hard_graphs.hard_graphs(n))
        for _ in range(count):
            yield strategies.labelled(n, rng.choice(list(strategies.FAMILIES)), rng.randint)
        return
    query_length = subject.query_length or RETRIEVERS[name].query_length
    extreme = (Question(*hard.asked(name)) for hard in hard_questions.hard_questions(name, n))
    yield from (question for question in extreme if len(question.query) == query_length)
    for _ in range(count):
        question = _question(name, n, query_length, rng)
        if not RETRIEVERS[name].task.wrong(question):
            yield question


def _question(name: str, n: int, query_length: int, rng: random.Random) -> Question:
    tokens = rng.choices((rng.randint(1, n), rng.randint(1, n), 1, n), k=rng.randint(2, 4))
    sequence = tuple(rng.choices(tokens, k=rng.randint(1, min(n, LONGEST))))
    if name == "index":
        return Question(sequence, (rng.randint(1, len(sequence)),))
    if name == "counting":
        often = sequence.count(token := rng.choice(tokens))
        return Question(sequence, (token, min(max(often + rng.randint(-2, 1), 0), n)))
    place = rng.randrange(len(sequence))
    gram = sequence[place : place + query_length]
    return Question(
        sequence,
        gram if len(gram) == query_length and rng.random() < 0.7 else tuple(rng.choices(tokens, k=query_length)),
    )


def text_of(given: Graph | Question) -> str:
    """An input in words."""
    if isinstance(given, Question):
        return " ".join(given.words()[1:])
    return f"edges {', '.join(f'{u}-{v}' for u, v in given.edges) or 'none'}"


def first_wrong(wired: Wired, model: Transformer, inputs: Sequence[HardInput]) -> tuple[HardInput, int] | None:
    """The first input that these weights answer wrongly, and at which token of the answer."""
    from constructions.engines import dense

    prompts, answers = [one.prompt for one in inputs], [one.answer for one in inputs]
    for one, place in zip(inputs, dense.matches(model, wired.arithmetic, prompts, answers), strict=True):
        if place is not None:
            return one, place
    return None

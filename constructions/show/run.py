"""A run of a wired model as people see it: decoded with a bar of progress, with its steps for the trace, or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from constructions.engines import find_engine
from constructions.models.construction import Example
from constructions.models.request import Request, Run
from constructions.models.search import END_SEARCH, SearchError
from constructions.show import cli
from constructions.show.cli import CommandError

if TYPE_CHECKING:
    from constructions.show.trace import Trace

CHECKED = 40  # tokens of a worked example that are held against what the heads need


def run_model(request: Request, engine: str, title: str, *, device: str | None = None) -> Run:
    """Runs a request by an engine. title: of the bar. device: as of `find_engine`."""
    long = isinstance(request.guess, np.ndarray)
    last = len(request.prompt) + (len(request.guess) or request.limit) - 1

    def work(length: int) -> int:
        return length if long else length * (length + 200)  # attention grows with the position, the rest does not

    decode = find_engine(engine, device)
    with cli.progress(title, last, work) as tick:
        return request.run(decode, tick)


def trace_of(run: Run) -> Trace:
    """Returns every step of a run, which takes another run."""
    from constructions.show.steps import observed
    from constructions.show.trace import Trace

    wired = run.request.wired
    sequence = [*run.request.prompt, *run.tokens[:-1].tolist()]
    with cli.progress("looking at every register"):
        steps = observed(wired.model, wired.arithmetic, sequence)
    return Trace(wired, tuple(wired.spelled(sequence)), len(run.prompt), steps)


def run_document(
    run: Run, model: str, chain: Sequence[str], answer: str | None, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Returns a run as JSON; its flags may take the engine another run. more: what only this construction says of its runs."""
    from constructions.show.flags import flag_documents

    wired = run.request.wired
    document: dict[str, object] = {
        "schema": 1,
        "construction": wired.construction,
        "source": wired.source,
        "variant": wired.variant,
        "model": model,
        "engine": run.decoded.engine,
        "n": wired.n,
        "precision_bits": wired.arithmetic.format.significand_bits + 1,
        "input": run.prompt[:],
        "chain_of_thought": list(chain),
        "answer": answer,
        "flags": flag_documents(run.decoded.flags, wired),
        **(more or {}),
    }
    if wired.printed and wired.variant != "printed":
        document["printed"] = list(wired.printed)
    return document


def worked_examples(requests: Iterable[Request]) -> Iterator[Example]:
    """Yields prompts with the next tokens that the weights predict; none where a search responds.

    The beginning of each run of a repaired model is held against what its heads need. Raises CommandError where that is not met.
    """
    from constructions.models.checked import check_run

    for request in requests:
        wired = request.wired
        try:
            produced = request.run(find_engine("auto")).tokens.tolist()
        except SearchError:  # a search as printed: there is nothing to expect
            continue
        tokens = (*request.prompt, *produced[:-1])
        if not wired.printed and (unmet := check_run(wired, tokens[:CHECKED])):
            raise CommandError(str(unmet[0]))
        responses = [False, *(wired.vocabulary[token] == END_SEARCH for token in produced)]
        expected = [None if response else token for response, token in zip(responses, produced, strict=False)]
        yield Example(tokens, (*[None] * (len(request.prompt) - 1), *expected))

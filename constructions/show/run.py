"""A run of a wired model as people see it: decoded with a bar of progress, with its steps for the trace, or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from constructions.engines import Decode, Decoded, Respond, decode_by_reference, find_engine
from constructions.models.checked import check_run
from constructions.models.construction import Example
from constructions.models.search import END_SEARCH, SearchError
from constructions.show import cli
from constructions.show.cli import CommandError
from constructions.show.columns import report_columns
from constructions.show.flags import flag_documents
from constructions.show.steps import Step, observed_steps
from constructions.show.trace import Trace
from constructions.wiring.wired import Wired

CHECKED = 40  # tokens of a worked example that are held against what the heads need


@dataclass(frozen=True)
class Run:
    """The prompt and what followed it, in words, and how it was decoded. trace: without steps if not asked for."""

    prompt: tuple[str, ...]
    produced: tuple[str, ...]
    decoded: Decoded
    trace: Trace


def run_model(
    wired: Wired,
    prompt: Sequence[int],
    stop: set[int],
    limit: int,
    decode: Decode,
    *,
    guess: Sequence[int],
    respond: Respond,
    title: str,
    keep: bool,
) -> Run:
    """Decodes behind a prompt as a `Decode` does. title: of the bar. keep: whether the trace is asked for."""

    def work(length: int) -> int:
        return length * (length + 200)  # attention grows with the position, the rest does not

    model, arithmetic = wired.model, wired.arithmetic
    with cli.progress(title, len(prompt) + len(guess) - 1, work) as tick:
        if keep and decode is decode_by_reference:
            decode = partial(decode_by_reference, keep_steps=True)
        decoded = decode(model, arithmetic, prompt, stop, limit, guess=guess, respond=respond, tick=tick)
    sequence, steps = [*prompt, *decoded.produced[:-1]], list[Step](decoded.steps)
    if keep and not steps:
        with cli.progress("looking at every register"):
            steps = observed_steps(model, arithmetic, sequence)
    report_columns(wired, decoded.uncertified)
    before, after = tuple(wired.spelled(prompt)), tuple(wired.spelled(decoded.produced))
    trace = Trace(wired, (*before, *after)[: len(steps)], len(before), tuple(steps))
    return Run(before, after, decoded, trace)


def run_document(
    args: argparse.Namespace,
    wired: Wired,
    prompt: Sequence[str],
    chain: Sequence[str],
    answer: str | None,
    decoded: Decoded,
    more: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """A run as JSON; its flags may take the engine another run. more: what only this construction says of its runs."""
    document: dict[str, object] = {
        "schema": 1,
        "construction": wired.construction,
        "source": wired.source,
        "variant": wired.variant,
        "model": args.model,
        "engine": decoded.engine,
        "n": wired.n,
        "precision_bits": wired.arithmetic.format.significand_bits + 1,
        "input": list(prompt),
        "chain_of_thought": list(chain),
        "answer": answer,
        "flags": flag_documents(decoded.flags, wired),
        **(more or {}),
    }
    if wired.printed and wired.variant != "printed":
        document["printed"] = list(wired.printed)
    return document


def worked_examples(
    wired: Wired, runs: Iterable[tuple[Sequence[int], Sequence[int]]], stop: set[int], limit: int, respond: Respond
) -> Iterator[Example]:
    """What these weights make of prompts; nothing is expected of them where a search responds.

    runs: prompts, each with what should follow it, on which no result depends, only the time that it takes. The beginning of each
    run of a repaired model is held against what its heads need. Raises CommandError where that is not met.
    """
    decode = find_engine("auto" if wired.printed else "indexed")  # as printed, hardly any guess is right
    for prompt, guess in runs:
        try:
            decoded = decode(wired.model, wired.arithmetic, prompt, stop, limit, guess=guess, respond=respond)
        except SearchError:  # a search as printed: there is nothing to expect
            continue
        produced = decoded.produced
        tokens = (*prompt, *produced[:-1])
        if not wired.printed and (unmet := check_run(wired, tokens[:CHECKED])):
            raise CommandError(str(unmet[0]))
        responses = [False, *(wired.vocabulary[token] == END_SEARCH for token in produced)]
        wanted = [None if response else token for response, token in zip(responses, produced, strict=False)]
        yield Example(tokens, (*[None] * (len(prompt) - 1), *wanted))

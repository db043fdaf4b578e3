"""`python -m verify.theorem`: a theorem about one model and n, link by link, from its weights to the right answer.

Exit status: 0 if every link holds, 1 if one is refuted, 2 usage, 3 if one cannot be said.
"""

from __future__ import annotations

import hashlib
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

from constructions.show import cli, options
from precision.format import Discipline
from verify.certificates.above import name_of, rounding, shown_again, survey
from verify.certificates.arguments import add_model, named, sized
from verify.certificates.document import ANOTHER, CERTIFIED, REFUSED, UNKNOWN, about, changed, no_rule, subject_of
from verify.certificates.questions import CODES, add_question, asked, sized_by, stored
from verify.certificates.ranges import certificates
from verify.dossiers.dossier import ENDLESS, LEAST, DefinitionTrial, Json, Lemmas, Search, Subject
from verify.framework.memory import look_rarely
from verify.induction.along import check_along_runs
from verify.induction.theory import Theory
from verify.programs.intervals import as_defined, explanations

PROG = "python -m verify.theorem"
DESCRIPTION = """Asks for each link of a theorem, of one and the same weights: that rounded they say what they say in exact
arithmetic (verify.certify), that this is a program which a person wrote (verify.explain), that its searches find what is defined,
and that its runs end with the right answer (verify.induction)."""
EXAMPLES = f"""examples:
  {PROG} istree --n 8                     the Transformer of Theorem 4.7
  {PROG} istree --variant lean --n 1000000000000
  {PROG} istree --model rag               the Linear RNN that searches, of Theorem 5.3
  {PROG} recall --all-n                   a task that is answered at once, for every n from {LEAST} on
  {PROG} turing --model hybrid --machine bb5 --n 47176870
  {PROG} turing --model cot --all-cells   BB(2) in any space, with Theorem 4.1

What certificates assume of runs is asked for as well. What is argued by a person stands in docs/induction.md.

exit status: 0 every link holds, 1 one is refuted, 2 usage, 3 of one it cannot be said"""
FOLLOWS = "follows"
TRIED = "tried"  # by examples, which is no proof
PROPERTY = "the theorem"
Tell: TypeAlias = Callable[[str], object]


@dataclass(frozen=True)
class Link:
    """name: of what is asked. verdict: certified, follows, refused or unknown. text: what that says. found: what else is stored."""

    name: str
    verdict: str
    text: str
    found: Mapping[str, Any] = field(default_factory=dict)

    @property
    def document(self) -> Json:
        """Returns the stored form."""
        return {"name": self.name, "verdict": self.verdict, "text": self.text, **self.found}


def links(subject: Subject, tell: Tell = lambda text: None) -> Iterator[Link]:
    """Yields each link, as soon as it is asked for, up to one that does not hold. tell: called for each interval of a subject of
    many n.

    Raises ValueError for a subject that makes no sense.
    """
    dossier = subject.dossier
    if subject.last and subject.counts_n and (subject.n < LEAST or subject.printed or dossier.one_n):
        raise ValueError(f"many n are from {LEAST} on, of what is repaired or lean; a machine as cot has its cells")
    bounded = replace(subject, last=max(subject.n, dossier.first_above)) if subject.last == ENDLESS else subject
    rounded = certificates(bounded, lambda interval: tell(f"rounding, {interval.text}: {interval.judged.verdict}"))
    if rounded["verdict"] == CERTIFIED and "inputs_run" in rounded:
        text = f"each of {rounded['inputs_run']} inputs was run, rounded and in exact arithmetic: {rounded['inputs']}"
        trial = dossier.trial(subject)
        right = "the answer is right" if trial is None else dossier.sentence
        yield Link("every input", CERTIFIED, f"{right}; {text}", _digests(rounded))
        if trial is not None:
            yield _try_all(trial)
        return
    if ANOTHER in rounded["what"]:  # rounding is sound, and what the print computes is the next question
        rounded = {**rounded, "verdict": CERTIFIED, "what": ""}
    parts, graphs = rounded.get("intervals", [rounded]), dossier.inputs_are
    bits = " … ".join(dict.fromkeys(str(one.get("precision_bits")) for one in (parts[0], parts[-1])))
    yield _tell("rounding", rounded, f"in R_p, p = {bits}, every word{graphs} is that of exact arithmetic")
    if rounded["verdict"] != CERTIFIED:
        yield from _tried_all_the_same(subject, rounded)
        return
    program = explanations(bounded, lambda interval: tell(f"program, {interval.text}: {interval.document['verdict']}"))
    if program["verdict"] == CERTIFIED and not _of_same_weights(rounded, program):
        raise ValueError("the certificate and the explanation are of different weights")
    yield _tell("program", program, dossier.sentence if program["verdict"] == CERTIFIED else "")
    if program["verdict"] != CERTIFIED:
        yield from _tried_all_the_same(subject, program)
        return
    if (trial := dossier.trial(subject)) is not None:
        yield (link := _try_all(trial))
        if link.verdict != TRIED:
            return
    assumed = [*rounded.get("assumed_invariants", ()), *program.get("assumed_invariants", ())]
    if subject.last == ENDLESS:
        above = survey(subject, rounding, as_defined, say=tell).document()
        yield (link := _above(above))
        if link.verdict != CERTIFIED:
            return
        assumed += [name for case in above["cases"] for name in case["assumed_invariants"]]
    for name in dict.fromkeys(assumed):
        if name in dossier.invariants:
            theory, lemmas = dossier.invariants[name]()
            yield _follows(f"assumed: {name}", theory, theory.closure(lemmas), "of every run, for every n")
        else:
            yield Link(f"assumed: {name}", UNKNOWN, "no lemma shows it of runs")
    if (searches := dossier.searches(subject)) is not None:
        yield _searches(searches, dossier.left_open(subject))
    if (of_runs := dossier.theory()) is not None:
        yield _follows("run", of_runs, of_runs.lemmas, f"for every n, {dossier.conclusion}")


def _of_same_weights(rounded: Mapping[str, Any], program: Mapping[str, Any]) -> bool:
    """Returns whether two certified documents are, by digests; where several models have one program, it has a digest of theirs."""
    if "intervals" not in rounded:
        return program.get("weights_sha256") in (rounded["weights_sha256"], None)
    for digest, group in groupby(program["intervals"], key=itemgetter("weights_sha256")):
        ends = [end for one in group for end in _ends(one)]
        own = (one["weights_sha256"] for one in rounded["intervals"] if ends[0] <= _ends(one)[0] <= ends[-1])
        if hashlib.sha256("".join(own).encode()).hexdigest() != digest:
            return False
    return True


def _ends(interval: Mapping[str, Any]) -> list[int]:
    """Returns its first and last number, which stand before all else."""
    return [*map(int, next(iter(interval.values())))]


def _try_all(trial: DefinitionTrial) -> Link:
    """Returns a program beside its oracle."""
    if trial.difference:
        return Link("oracle", REFUSED, trial.difference)
    if not trial.prompts:
        return Link(
            "oracle", UNKNOWN, "no prompt was tried: something is the matter with each of them, says the program's file"
        )
    text = (
        f"the program says what the oracle says on each of {trial.prompts:,} prompts of n up to {trial.largest_n:,}, "
        f"the longest of {trial.longest:,} token{'s' * (trial.longest > 1)}"
    )
    text += f"; {trial.left_out:,} more are no prompts, says the program's file" if trial.left_out else ""
    return Link("oracle", TRIED, text)


def _tried_all_the_same(subject: Subject, document: Mapping[str, Any]) -> Iterator[Link]:
    """Compares the program with its oracle where the weights are unknown: what it means does not depend on them."""
    if document["verdict"] == UNKNOWN and (trial := subject.dossier.trial(subject)) is not None:
        yield _try_all(trial)


def _digests(document: Mapping[str, Any]) -> Json:
    return {key: document[key] for key in ("weights_sha256", "program_sha256") if key in document}


def _tell(name: str, document: Mapping[str, Any], text: str) -> Link:
    several = document.get("intervals")
    text = f"{text}; {len(several)} interval{'s' * bool(several[1:])}" if several else text
    text = f"{document['where']}: {document['what']}{no_rule(document)}" if document["what"] else text
    return Link(name, document["verdict"], text, _digests(document))


def _above(document: Json) -> Link:
    """Asks one walk for both, of each case and its one model."""
    name = name_of(document)
    if document["verdict"] != CERTIFIED:
        return Link(name, document["verdict"], f"{document['where']}: {document['what']}")
    text = f"rounding and program, of the same weights in each of {shown_again(document)}"
    return Link(
        name,
        CERTIFIED,
        text,
        {key: document[key] for key in ("n_from", "cells_from", "cases", "theorem") if key in document},
    )


def _follows(name: str, theory: Lemmas, among: Sequence[str], text: str) -> Link:
    """Returns whether these lemmas follow from axioms, which are looked at too: from what contradicts itself everything follows."""
    lemmas = [lemma for lemma in theory.lemmas if lemma in among]
    doubt = "no run is named along which axioms could be evaluated"
    if not isinstance(theory, Theory) or (doubt := check_along_runs(theory, lemmas).doubt):
        return Link(name, UNKNOWN, f"what its lemmas use may contradict itself: {doubt}")
    for lemma in lemmas:
        if doubt := theory.doubt(lemma):
            return Link(name, UNKNOWN, f"lemma {lemma} is not seen to follow: {doubt}")
    axioms = len({*theory.closure(lemmas)}.intersection(theory.axioms))
    text += f"; {len(lemmas)} lemmas, by z3, rest on {axioms} axioms, whose instances are true along exact runs"
    return Link(name, FOLLOWS, f"{text}; z3 finds no contradiction in the axioms alone")


def _searches(searches: Mapping[str, Search], but: str) -> Link:
    if not searches:
        return Link("searches", UNKNOWN, "what is found is compared with the answer in runs alone, not in every text")
    for name, comparison in searches.items():
        if text := comparison.difference():
            return Link("searches", REFUSED, f"{name}: something else than is defined is found in {text}")
    patterns = f"each of {len(searches)} patterns" if len(searches) > 1 else "the pattern"
    return Link("searches", CERTIFIED, f"in every text {patterns} finds what is defined, as `re` is documented{but}")


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, DESCRIPTION, EXAMPLES)
    add_model(parser, argv, files=False)
    options.add_arithmetic(parser)
    add_question(parser, str(LEAST))
    args = parser.parse_args(argv)
    with cli.usage_errors(f"{args.replay}: " if args.replay else ""):
        old = _store(args.replay) if args.replay else None
        subject = subject_of(old) if old else _subject(args)
        if subject is None:
            return cli.UNKNOWN
        document = {**about(subject), "property": PROPERTY, "links": list[Json]()}
        if not args.json:
            print(f"{named(document)}{sized(document)}", flush=True)
        for link in _show(links(subject, cli.say)):
            document["links"].append(link.document)
            if not args.json:
                print(f"  {link.name}: {link.verdict}; {link.text}", flush=True)
    verdicts = {link["verdict"] for link in document["links"]}
    document["verdict"] = next((verdict for verdict in (REFUSED, UNKNOWN) if verdict in verdicts), CERTIFIED)
    if old and (fields := _change(old, document)):
        what = f"differs from what is said now: {', '.join(fields)}"
        document |= {"links": [], "verdict": REFUSED, "where": str(args.replay), "what": what}
        if not args.json:
            print(f"{args.replay}: {what}")
    if args.json:
        cli.write_json(document)
    return CODES[document["verdict"]]


def _show(some: Iterator[Link]) -> Iterator[Link]:
    """Yields each link, with a sign of progress while it is asked for: one of them may take minutes."""
    title = "the first link"
    while True:
        with cli.progress(title):
            link = next(some, None)
        if link is None:
            return
        title = f"the link after {link.name}"
        yield link


def _subject(args: Namespace) -> Subject | None:
    """Returns what the options name; None if it is not covered."""
    subject = asked(args)
    if subject is None:
        return None
    subject = replace(subject, precision_bits=args.precision, discipline=Discipline(args.discipline))
    subject = sized_by(args, subject, LEAST, theorem=True)
    if subject.precision_bits and subject.last == ENDLESS:
        raise cli.CommandError("--precision is one p, and every n needs more and more bits: give --n")
    return subject


def _store(path: Path) -> Json:
    document = stored(path, "theorem")
    if document.get("property") != PROPERTY:
        raise ValueError("this is no theorem")
    return document


def _change(stored: Json, document: Json) -> list[str]:
    """Returns the fields that are not as they are stored; of links their names."""
    fields = changed(stored, document)
    if "links" not in fields or not isinstance(stored.get("links"), list):
        return fields
    now = json.loads(json.dumps(document["links"]))
    pairs = zip_longest(stored["links"], now)
    return [*fields, *(one["name"] for mine, one in pairs if one and mine != one)]


if __name__ == "__main__":
    look_rarely()
    sys.exit(main())

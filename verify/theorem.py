"""`python -m verify.theorem`: a theorem about one model and n, link by link, from its weights to the right answer.

Exit status: 0 if every link holds, 1 if one is refuted, 2 usage, 3 if one cannot be said.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from constructions.show import cli
from precision.format import Discipline
from verify.certificates.arguments import DEFAULT_N, LARGEST_N, add_model, named, sizes, subject_of
from verify.certificates.building import COVERED, LEAST, Subject, is_covered
from verify.certificates.document import ANOTHER, CERTIFIED, REFUSED, UNKNOWN, about, certificate
from verify.certificates.ranges import intervals
from verify.explain import sentence
from verify.induction.models import ENDS, SHOWN, theory_of
from verify.induction.theory import Theory
from verify.patterns.models import left_open, of_model
from verify.patterns.texts import Comparison
from verify.programs.intervals import explanations

PROG = "python -m verify.theorem"
DESCRIPTION = """Asks for each link of a theorem, of one and the same weights: that rounded they say what they say in exact
arithmetic (verify.certify), that this is a program which a person wrote (verify.explain), that its searches find what is defined,
and that its runs end with the right answer (verify.induction)."""
EXAMPLES = f"""examples:
  {PROG} istree --n 8                     the Transformer of Theorem 4.7
  {PROG} istree --variant lean --n 1000000000000
  {PROG} istree --model rag               the Linear RNN that searches, of Theorem 5.3
  {PROG} recall --all-n                   a task that is answered at once, for every n from {LEAST} to 2^64
  {PROG} turing --model hybrid --machine bb5 --n 47176870

What certificates assume of runs is asked for as well. What is argued by a person stands in docs/exactness.md.

exit status: 0 every link holds, 1 one is refuted, 2 usage, 3 of one it cannot be said"""
FOLLOWS = "follows"
Tell: TypeAlias = Callable[[str], object]
CODES = {REFUSED: cli.REFUTED, UNKNOWN: cli.UNKNOWN}


@dataclass(frozen=True)
class Link:
    """name: of what is asked. verdict: certified, follows, refused or unknown. text: what that says."""

    name: str
    verdict: str
    text: str


def links(subject: Subject, tell: Tell = lambda text: None) -> Iterator[Link]:
    """Each link, as soon as it is asked for, up to one that does not hold. tell: called for each interval of a subject of many n.

    Raises ValueError for a subject that makes no sense.
    """
    rounded = _every_n(subject, tell) if subject.last else certificate(subject)
    if rounded["verdict"] == CERTIFIED and "inputs_run" in rounded:
        text = f"each of {rounded['inputs_run']} inputs was run, rounded and in exact arithmetic: {rounded['inputs']}"
        yield Link("every input", CERTIFIED, f"the answer is right; {text}")
        return
    if ANOTHER in rounded["what"]:  # rounding is sound, and what the print computes is the next question
        rounded = {**rounded, "verdict": CERTIFIED, "what": ""}
    bits, graphs = rounded.get("precision_bits"), " behind a simple graph" * (subject.construction == "istree")
    text = f"in R_p, p = {bits}, every word{graphs} is that of exact arithmetic"
    yield _told("rounding", rounded, text + rounded.get("in_all", ""))
    if rounded["verdict"] != CERTIFIED:
        return
    program = explanations(subject, lambda interval: tell(f"program, {interval.text}: {interval.document['verdict']}"))
    if not _of_same_weights(rounded, program):
        raise ValueError("the certificate and the explanation are of different weights")
    count = len(program.get("intervals", ()))
    text = sentence(program) + f"; {count} intervals" * bool(count) if program["verdict"] == CERTIFIED else ""
    yield _told("program", program, text)
    if program["verdict"] != CERTIFIED:
        return
    for name in dict.fromkeys([*rounded.get("assumed_invariants", ()), *program.get("assumed_invariants", ())]):
        if name in SHOWN:
            theory, lemmas = SHOWN[name](subject)
            yield _follows(f"assumed: {name}", theory, theory.behind(lemmas), "of every run, for every n")
        else:
            yield Link(f"assumed: {name}", UNKNOWN, "no lemma shows it of runs")
    if subject.model == "rag":
        yield _searches(of_model(subject), left_open(subject))
    if (of_runs := theory_of(subject)) is not None:
        yield _follows("run", of_runs, of_runs.lemmas, f"for every n, {ENDS[subject.construction, subject.model]}")


def _every_n(subject: Subject, tell: Tell) -> dict[str, Any]:
    """As a certificate of one n, of each interval; weights: the n from which on, and their digests."""
    found: dict[str, Any] = {"verdict": CERTIFIED, "where": "", "what": "", "assumed_invariants": {}, "weights": []}
    bits = []
    for interval in intervals(subject):
        text, judged = f"n = {interval.low} … {interval.high}", interval.judged
        tell(f"rounding, {text}: {judged.verdict}")
        found["weights"].append((interval.low, interval.digest))
        bits.append(interval.precision_bits)
        if judged.report is None:
            return {**found, "verdict": judged.verdict, "where": f"{text}, {judged.where}", "what": judged.what}
        found["assumed_invariants"] |= judged.report.invariants
    return {**found, "precision_bits": f"{bits[0]} … {bits[-1]}", "in_all": f"; {len(bits)} intervals"}


def _of_same_weights(rounded: Mapping[str, Any], program: Mapping[str, Any]) -> bool:
    """Whether both documents say so, by digests; where several models have one program, it has a digest of theirs."""
    if "weights" not in rounded:
        return program.get("weights_sha256") in (rounded["weights_sha256"], None)
    for digest, group in groupby(program["intervals"], key=itemgetter("weights_sha256")):
        ends = [int(end) for one in group for end in one["n"]]
        own = (digest for low, digest in rounded["weights"] if ends[0] <= low <= ends[-1])
        if hashlib.sha256("".join(own).encode()).hexdigest() != digest:
            return False
    return True


def _told(name: str, document: Mapping[str, Any], text: str) -> Link:
    return Link(name, document["verdict"], f"{document['where']}: {document['what']}" if document["what"] else text)


def _follows(name: str, theory: Theory, among: Sequence[str], text: str) -> Link:
    lemmas = [lemma for lemma in theory.lemmas if lemma in among]
    for lemma in lemmas:
        if doubt := theory.doubt(lemma):
            return Link(name, UNKNOWN, f"lemma {lemma} is not seen to follow: {doubt}")
    return Link(name, FOLLOWS, f"{text}; {len(lemmas)} lemmas, by z3")


def _searches(searches: Mapping[str, Comparison], but: str) -> Link:
    if not searches:
        return Link("searches", UNKNOWN, "what is found is compared with the answer in runs alone, not in every text")
    for name, comparison in searches.items():
        if text := comparison.difference():
            return Link("searches", REFUSED, f"{name}: something else than is defined is found in {text}")
    patterns = f"each of {len(searches)} patterns" if len(searches) > 1 else "the pattern"
    return Link("searches", CERTIFIED, f"in every text {patterns} finds what is defined, as `re` is documented{but}")


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return cli.run_command(PROG, _command, argv)


def _command(argv: Sequence[str]) -> int:
    parser = cli.Parser(PROG, DESCRIPTION, EXAMPLES)
    add_model(parser, files=False)
    add = parser.add_argument
    add("--n", type=sizes, metavar="N|A-B", help=f"or every n from A to B (default: {DEFAULT_N})")
    add("--all-n", action="store_true", help=f"every n from {LEAST} to 2^64, an interval at a time")
    add("--discipline", choices=[d.value for d in Discipline], default="fused", help="default: fused")
    add("--json", action="store_true", help="one JSON document on standard output")
    args = parser.parse_args(argv)
    if args.what is None or not is_covered(args.what, args.model):
        raise cli.CommandError(f"name a construction ({', '.join(COVERED)}) and a model that it has")
    if args.n and args.all_n:
        raise cli.CommandError(f"--all-n is --n {LEAST}-{LARGEST_N}")
    low, last = (LEAST, LARGEST_N) if args.all_n else args.n or (DEFAULT_N, 0)
    subject = replace(subject_of(args), n=low, last=last, discipline=Discipline(args.discipline))
    if last and (low < LEAST or subject.printed or subject.model == "cot"):
        raise cli.CommandError(
            f"many n are from {LEAST} on, of what is repaired or lean; a machine as cot has its cells"
        )
    document: dict[str, Any] = {**about(subject), "n": [low, last or low], "property": "the theorem", "links": []}
    if not args.json:
        print(f"{named(document)}, n = {low}" + f" … {last}" * bool(last), flush=True)
    with cli.usage_errors():
        for link in links(subject, cli.say):
            document["links"].append(vars(link))
            if not args.json:
                print(f"  {link.name}: {link.verdict}; {link.text}", flush=True)
    verdicts = {link["verdict"] for link in document["links"]}
    found = next((verdict for verdict in CODES if verdict in verdicts), CERTIFIED)
    if args.json:
        cli.write_json({**document, "verdict": found})
    return CODES.get(found, cli.HOLDS)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m verify.theorem`: a theorem about one model and n, link by link, from its weights to the right answer.

Exit status: 0 if every link holds, 1 if one is refuted, 2 usage, 3 if one cannot be said.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from constructions.show import cli
from precision.format import Discipline
from verify.certificates.arguments import DEFAULT_N, LARGEST_N, add_model, named, subject_of
from verify.certificates.building import COVERED, Subject, is_covered
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, about, certificate
from verify.explain import sentence
from verify.induction.models import SHOWN, theory_of
from verify.induction.theory import Theory
from verify.programs.document import explanation

PROG = "python -m verify.theorem"
DESCRIPTION = """Asks for each link of a theorem, of one and the same weights: that rounded they say what they say in exact
arithmetic (verify.certify), that this is a program which a person wrote (verify.explain), and that its runs end with the right
answer (verify.induction)."""
EXAMPLES = f"""examples:
  {PROG} istree --n 8                     the Transformer of Theorem 4.7
  {PROG} istree --variant lean --n 1000000000000
  {PROG} istree --model rag               the Linear RNN that searches, of Theorem 5.3
  {PROG} recall --n 10000                 a task that is answered at once
  {PROG} turing --model hybrid --machine bb5 --n 47176870

What certificates assume of runs is asked for as well. What is argued by a person stands in docs/exactness.md.

exit status: 0 every link holds, 1 one is refuted, 2 usage, 3 of one it cannot be said"""
FOLLOWS = "follows"
CODES = {REFUSED: cli.REFUTED, UNKNOWN: cli.UNKNOWN}
ENDS = {
    ("istree", "transformer"): "steps, each behind those before, end with YES if and only if the graph is a tree",
    ("istree", "rag"): "turns, if the searches find what is defined, end with YES if and only if the graph is a tree",
    ("istree", "hybrid"): "the frames of one base find the next record of the vertex",
    ("turing", "hybrid"): "words, each behind those before, are the machine's run",
    ("turing", "rag"): "words, if the searches find what is defined, are the machine's run",
}


@dataclass(frozen=True)
class Link:
    """name: of what is asked. verdict: certified, follows, refused or unknown. text: what that says."""

    name: str
    verdict: str
    text: str


def links(subject: Subject) -> Iterator[Link]:
    """Each link, as soon as it is asked for, up to one that does not hold. Raises ValueError for a subject that makes no sense."""
    rounded = certificate(subject)
    if rounded["verdict"] == CERTIFIED and "inputs_run" in rounded:
        text = f"each of {rounded['inputs_run']} inputs was run, rounded and in exact arithmetic: {rounded['inputs']}"
        yield Link("every input", CERTIFIED, f"the answer is right; {text}")
        return
    program = explanation(subject)
    if program.get("weights_sha256", rounded.get("weights_sha256")) != rounded.get("weights_sha256"):
        raise ValueError("the certificate and the explanation are of different weights")
    yield _told(
        "rounding", rounded, f"in R_p, p = {rounded.get('precision_bits')}, every word is that of exact arithmetic"
    )
    if rounded["verdict"] != CERTIFIED:
        return
    yield _told("program", program, sentence(program) if program["verdict"] == CERTIFIED else "")
    if program["verdict"] != CERTIFIED:
        return
    for name in dict.fromkeys([*rounded.get("assumed_invariants", ()), *program.get("assumed_invariants", ())]):
        if name in SHOWN:
            theory, lemmas = SHOWN[name](subject)
            yield _follows(f"assumed: {name}", theory, theory.behind(lemmas), "of every run, for every n")
        else:
            yield Link(f"assumed: {name}", UNKNOWN, "no lemma shows it of runs")
    if (of_runs := theory_of(subject)) is not None:
        yield _follows("run", of_runs, of_runs.lemmas, f"for every n, {ENDS[subject.construction, subject.model]}")


def _told(name: str, document: Mapping[str, Any], text: str) -> Link:
    return Link(name, document["verdict"], f"{document['where']}: {document['what']}" if document["what"] else text)


def _follows(name: str, theory: Theory, among: Sequence[str], text: str) -> Link:
    lemmas = [lemma for lemma in theory.lemmas if lemma in among]
    for lemma in lemmas:
        if doubt := theory.doubt(lemma):
            return Link(name, UNKNOWN, f"lemma {lemma} is not seen to follow: {doubt}")
    return Link(name, FOLLOWS, f"{text}; {len(lemmas)} lemmas, by z3")


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return cli.run_command(PROG, _command, argv)


def _command(argv: Sequence[str]) -> int:
    parser = cli.Parser(PROG, DESCRIPTION, EXAMPLES)
    add_model(parser)
    add = parser.add_argument
    add("--n", type=cli.whole_number(1, LARGEST_N), metavar="N", default=DEFAULT_N, help=f"default: {DEFAULT_N}")
    add("--discipline", choices=[d.value for d in Discipline], default="fused", help="default: fused")
    add("--json", action="store_true", help="one JSON document on standard output")
    args = parser.parse_args(argv)
    if args.what is None or not is_covered(args.what, args.model):
        raise cli.CommandError(f"name a construction ({', '.join(COVERED)}) and a model that it has")
    subject = replace(subject_of(args), n=args.n, discipline=Discipline(args.discipline))
    document: dict[str, Any] = {**about(subject), "property": "the theorem", "links": []}
    if not args.json:
        print(f"{named(document)}, n = {subject.n}")
    with cli.usage_errors():
        for link in links(subject):
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

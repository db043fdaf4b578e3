"""`python -m verify.explain`: the program that a model's weights are, and whether it is the task.

Exit status: 0 if the program is the task, for every input of each n that is asked for; 1 with an input on which it is not, or
if a replayed document differs from what the weights say; 2 usage; 3 cannot tell, or there is nothing to compare it with.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from constructions.show import cli
from verify.certificates.above import ALONE, name_of, shown_again
from verify.certificates.arguments import add_model, named, sized
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, no_rule, subject_of
from verify.certificates.export import add_certificate, require_certificate, write_certificate
from verify.certificates.files import Exported
from verify.certificates.questions import CODES, add_question, asked, differing, of_file, sized_by, stored
from verify.dossiers.dossier import LEAST, Dossier, Json
from verify.framework.memory import look_rarely
from verify.programs.document import explained
from verify.programs.intervals import ProgramInterval, differences, explanations

PROG = "python -m verify.explain"
VERDICTS = {CERTIFIED: "the program is the task", REFUSED: "the program is not the task", UNKNOWN: "cannot tell"}
DESCRIPTION = """Reads the program off the exact layers that a model's matrices are filled from: what each register holds, as
a term over the tokens, in exact arithmetic where attention averages the keys of largest score. Then says whether the
answer is the task's, for every input."""
EXAMPLES = f"""examples:
  {PROG} index                          what each register holds, and the answer: number[number[k] + 1]
  {PROG} recall --n 1000000000000       the same program at any size
  {PROG} recall --n 8 --certificate c.json what a small checker accepts, with the weights and the definition
  {PROG} recall --all-n                 every n from {LEAST} on: small n by intervals, all others in cases
  {PROG} istree --n 1100000-1200000     every n from the first to the last
  {PROG} counting --model hybrid        the recurrence counts, and the answer is the Transformer's
  {PROG} counting --printed count-query an input on which the program is not the task
  {PROG} recall --model rag             which search it writes, and what it says of the result
  {PROG} istree --model rag --all-n     each word of its turns and searches is a step of Algorithm 2
  {PROG} istree --n 8                   each word is a step of Algorithm 1; also --variant lean, --tokens eos
  {PROG} istree --model hybrid --n 8    each word is a step of the search in frames
  {PROG} turing --model hybrid --n 8    each word is that of a step of BB(2); also rag, --machine bb5, --tape 1221
  {PROG} turing --model cot --cells 9   each word is that of the next configuration, of 9 cells
  {PROG} turing --model cot --all-cells of any number of cells
  {PROG} index.safetensors              an exported model, held against the task of the construction it names

in terms: k is the position that speaks, j one that it reads; [c] is 1 where c holds, else 0; #{{…}} is how many

exit status: 0 the program is the task, 1 it is not, on an input that is shown, or a replayed document
differs from what the weights say, 2 usage, 3 cannot tell"""


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, DESCRIPTION, EXAMPLES)
    add_model(parser, argv)
    add_question(parser, f"{LEAST}, of turing 1")
    add_certificate(parser, "program.py")
    args = parser.parse_args(argv)
    require_certificate(args)
    if args.replay is not None:
        return _replay(args.replay, args.json)
    if args.what and args.what.endswith(".safetensors"):
        if args.all_n or args.n:
            raise cli.CommandError("an exported model is of one n, which its sidecar says")
        return _show(of_file(Path(args.what), _explain), args.json)
    if (subject := asked(args, files=True)) is None:
        return cli.UNKNOWN
    subject = sized_by(args, subject, subject.dossier.least)
    if args.certificate is not None:
        return write_certificate(subject, args.certificate, program=True)
    with cli.usage_errors():
        return _show(explanations(subject, _tell, cli.say), args.json, subject.dossier)


def _explain(file: Exported) -> Json:
    return explained(file.subject, file.model, file.automaton)


def _tell(interval: ProgramInterval) -> None:
    print(f"{interval.text}: {interval.document['verdict']}", file=sys.stderr, flush=True)


def _replay(path: Path, as_json: bool) -> int:
    with cli.usage_errors(f"{path}: "):
        document = stored(path, "explanation")
        changed = differences(document, _tell, cli.say)
    if not changed:
        return _show(document, as_json)
    refused = differing(path, document, changed, "the weights say")
    if as_json:
        cli.write_json(refused)
    else:
        print(f"{path}: {refused['what']}")
    return cli.REFUTED


def _show(document: dict[str, Any], as_json: bool, dossier: Dossier | None = None) -> int:
    """Prints a document and returns the exit status. dossier: of the model, by default the one that the document names."""
    verdict = str(document["verdict"])
    above = shown_again(document["above"]) if verdict == CERTIFIED and "above" in document else ""
    if as_json:
        cli.write_json(document)
        return CODES[verdict]
    for sublayer in document.get("program", ()):
        if sublayer["writes"]:
            print(sublayer["where"])
            width = max(map(len, sublayer["writes"]))
            for name, text in sublayer["writes"].items():
                print(f"  {name:<{width}} = {text}")
    due = document.get("task", {})
    before: dict[tuple[str, str], str] = {}
    for place, text in due.items():
        answer = document["answers"].get(place, "?")
        if (first := before.setdefault((answer, text), place)) != place:
            print(f"at {place}, k: as at {first}")
            continue
        print(f"at {place}, k: {answer}")
        print(f"{'the task':>{len(place) + 6}}: {text}")
    several = document.get("intervals")
    holds = VERDICTS[verdict]
    if verdict == CERTIFIED:
        holds = f"{(dossier or subject_of(document).dossier).sentence}, for every input"
    print(f"{named(document)}{sized(document)}: {holds}")
    if verdict == CERTIFIED and document.get("assumed_invariants"):
        print(f"  given the invariants of its runs: {', '.join(document['assumed_invariants'])}")
    if "coordinates" in document:
        print(f"  {document['coordinates']}")
    if several:
        count = f"{len(several)} intervals; the answers above are of the last one" if several[1:] else "one interval"
        below = f"up to {ALONE} cells: " if document["n"] is None else f"n ≤ {several[-1]['n'][1]}: "
        print(f"  {below * bool(above)}in {count}")
    if above:
        print(f"  {name_of(document['above'])}: in {above}")
    if document["what"]:
        print(f"  {document['where']}: {document['what']}{no_rule(document)}")
    return CODES[verdict]


if __name__ == "__main__":
    look_rarely()
    sys.exit(main())

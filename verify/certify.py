"""`python -m verify.certify CONSTRUCTION|FILE`: is rounding sound for every input? Read off the weights, with no run."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from constructions.exports.files import write_bytes
from constructions.show import cli, options
from precision.format import Discipline
from verify.algebra.domains import Refuted
from verify.certificates.above import name_of, shown_again
from verify.certificates.arguments import add_model, named, sized
from verify.certificates.basis import CLAIM
from verify.certificates.document import (
    CERTIFIED,
    REFUSED,
    SCHEMA,
    UNKNOWN,
    about,
    compared,
    described,
    judge,
    no_rule,
    print_unseen,
    shown_wrong,
)
from verify.certificates.export import add_certificate, require_certificate, write_certificate
from verify.certificates.files import Exported
from verify.certificates.moved import judge_moved
from verify.certificates.questions import CODES, add_question, asked, differing, of_file, sized_by, stored
from verify.certificates.ranges import JudgedInterval, certificates, differences
from verify.dossiers.dossier import ENDLESS, LARGEST_N, LEAST, Json, Subject
from verify.framework.memory import look_rarely
from verify.programs.document import explained

PROG = "python -m verify.certify"
LARGEST_MUTANT = 64
MOST_ANSWERS = 32  # labels of tokens that are listed
HARD_INPUTS = 1000
FLOAT64_DIGITS = 53
DESCRIPTION = """Proves, from the exact layers that the matrices are filled from, that rounding is sound for every input: each
register is what the ideal model (exact rationals; attention averages the keys of largest score) has there, rounded, or within the
stated number of steps. The matrices are compared with these layers entry by entry; with --all-n at both ends of each interval
and at one n within, where float64 holds such weights. Of a file, the matrices themselves are read."""
EXAMPLES = f"""examples:
  {PROG} recall --n 1000000000000            every sequence of up to 10^12 tokens
  {PROG} istree --n 10000 --json             one document, which --replay checks again
  {PROG} recall --all-n                      every n: small n by intervals, all others in cases
  {PROG} istree --all-n --n 5000             from 5,000 on, where a run was stopped
  {PROG} istree --n 1100000-1200000          every n from the first to the last
  {PROG} istree --variant lean --n 10000     five blocks of integers, in half of the bits
  {PROG} istree --n 1000 --tokens eos        graphs with any number of edges
  {PROG} recall --n 4 --mutants 300          which single weights may move, and how far
  {PROG} recall --n 8 --certificate out.json what a small checker accepts, with the weights
  {PROG} recall --all-n --certificate all.json    the same of all large n
  {PROG} recall --model hybrid               a recurrence in place of a head; rag: and a search
  {PROG} turing --model rag --all-n          any text of up to n steps of BB(2), for every n
  {PROG} turing --model cot --all-cells      any run of BB(2) on any number of cells
  {PROG} index.safetensors                   an exported model, and that its ideal model is the construction's

covered: index, recall, ngram, counting and istree as Transformers, as rag and as hybrid; turing as rag, as hybrid and as cot

exit status: 0 certified, 1 refused: by an input that is named, by a weight that p bits cannot hold, or by matrices or a document
that are not those of the model; 2 usage, 3 cannot tell: the place and its numbers are named"""


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, DESCRIPTION, EXAMPLES)
    add = parser.add_argument
    add_model(parser, argv)
    add("--length", type=cli.whole_number(1, LARGEST_N), metavar="L", help="most tokens of a sequence (default: N)")
    options.add_arithmetic(parser)
    add_question(parser, "1")
    add(
        "--mutants",
        type=cli.whole_number(1, 10**6),
        metavar="N",
        help="N changes of one weight each: which are certified all the same, and how far the weight may move",
    )
    add("--seed", type=cli.whole_number(0, 2**32), metavar="S", default=0, help="of --mutants (default: 0)")
    add_certificate(parser, "rounding.py")
    args = parser.parse_args(argv)
    require_certificate(args)
    if args.certificate is not None and args.mutants:
        raise cli.CommandError("--certificate is of no changed weights: leave out --mutants")
    if args.replay is not None:
        return _replay(args.replay, args.json)
    if args.what and args.what.endswith(".safetensors"):
        given = (args.n, args.length, args.precision, args.mutants)
        if args.all_n or any(option is not None for option in given):
            raise cli.CommandError("an exported model is of one n, length and precision, which its sidecar says")
        return _show(of_file(Path(args.what), _judge), args.json)
    if (subject := asked(args, files=True)) is None:
        return cli.UNKNOWN
    if args.length is not None and not subject.dossier.has_length:
        raise cli.CommandError("--length is for the retrieval tasks; the length of a search follows from n")
    discipline = Discipline(args.discipline)
    subject = replace(subject, length=args.length, precision_bits=args.precision, discipline=discipline)
    subject = sized_by(args, subject, 1)
    if args.certificate is not None:
        write = _write_cases if subject.last == ENDLESS else partial(write_certificate, program=False)
        return write(subject, args.certificate)
    if args.mutants is not None:
        return _mutants(subject, args.mutants, args.seed, args.json)
    if subject.last and subject.length is not None:
        raise cli.CommandError("many n are for sequences of up to n tokens: leave out --length")
    with cli.usage_errors():
        return _show(certificates(subject, _tell, cli.say), args.json)


def _write_cases(subject: Subject, path: Path) -> int:
    """Writes the stored certificates of all large n, with the weights of now, and returns the exit status."""
    from verify.stored import cases

    known = {replace(one, n=subject.n): one for one in cases.subjects()}
    one = known.get(replace(subject, last=ENDLESS))
    if one is None or (document := cases.read(one)) is None:
        names = ", ".join(dict.fromkeys(f"{one.dossier.construction} as {one.dossier.model}" for one in known.values()))
        raise cli.CommandError(
            f"--certificate is of one n or of one interval of n, and of all large n for {names}: give --n"
        )
    with cli.usage_errors(f"{path}: "):
        filled, _ = cases.fill(one, document)
        write_bytes(path, json.dumps(filled).encode() + b"\n")
    print(f"wrote {path}, of every n from {one.n:,} on")
    return cli.HOLDS


def _mutants(subject: Subject, count: int, seed: int, as_json: bool) -> int:
    if subject.last or subject.printed or subject.length is not None or not LEAST <= subject.n <= LARGEST_MUTANT:
        rule = f"--mutants is for one n from {LEAST} to {LARGEST_MUTANT}, as repaired or lean, of its own length"
        raise cli.CommandError(f"{rule}: hard inputs are run")
    from verify.certificates import weight_margins

    with cli.usage_errors():
        surveyor = weight_margins.Surveyor(subject)
        if (digits := surveyor.wired.arithmetic.format.significand_bits) > FLOAT64_DIGITS:
            raise ValueError(
                f"--mutants takes weights of up to {FLOAT64_DIGITS} digits, as float64 has; n = {subject.n} has {digits}"
            )
        with cli.progress(f"{count} changes of one weight"):
            survey = surveyor.survey(count, seed, HARD_INPUTS)
    if as_json:
        cli.write_json({**about(subject), "seed": seed, **weight_margins.document(survey)})
    else:
        bits = surveyor.wired.arithmetic.format.significand_bits + 1
        print(f"{named(about(subject))}, n = {subject.n}, p = {bits}: {weight_margins.text(survey)}")
    return cli.REFUTED if any(item.wrong for item in survey.margins) else cli.HOLDS


def _judge(file: Exported) -> Json:
    """Returns the certificate of an exported model."""
    subject, model, automaton = file.subject, file.model, file.automaton
    judged = compared(judge(model, automaton), model, subject)
    if judged.verdict == UNKNOWN and (wrong := explained(subject, model, automaton))["verdict"] == REFUSED:
        judged = shown_wrong(judged, Refuted(wrong["where"], wrong["what"]))
    judged = judge_moved(judged, file)
    in_basis = judged.verdict == CERTIFIED and file.moved is not None and file.moved.basis is not None
    claim = {"rounded_coordinates": CLAIM} if in_basis else {}
    return {**about(subject), **described(model, automaton, judged), **claim, **print_unseen(model, subject)}


def _tell(interval: JudgedInterval) -> None:
    judged = interval.judged
    print(f"{interval.text}: p = {interval.precision_bits}, {judged.verdict}", file=sys.stderr, flush=True)


def _replay(path: Path, as_json: bool) -> int:
    with cli.usage_errors(f"{path}: "):
        document = stored(path, "certificate")
        changed = differences(document, _tell, cli.say)
    if changed:
        return _show({**differing(path, document, changed, "the check says"), "replayed": False}, as_json)
    kept = {key: document[key] for key in ("construction", "model", "n", "verdict")}
    told = {key: str(document.get(key, "")) for key in ("where", "what")}
    return _show({"schema": SCHEMA, **kept, "replayed": True, **told}, as_json)


def _show(document: dict[str, Any], as_json: bool) -> int:
    verdict = str(document["verdict"])
    above = shown_again(document["above"]) if verdict == CERTIFIED and "above" in document else ""
    if as_json:
        cli.write_json(document)
        return CODES[verdict]
    size = "" if "intervals" in document else sized(document)
    bits = f", p = {document['precision_bits']}" if "precision_bits" in document else ""
    print(f"{named(document)}{size}{bits}: {verdict if verdict != UNKNOWN else 'cannot tell'}")
    if document["what"]:
        print(f"  {document['where']}: {document['what']}{no_rule(document)}")
    if done := [item for item in document.get("intervals", ()) if item["verdict"] == CERTIFIED]:
        of = next(iter(done[0]))  # what sizes count
        low, high = done[0][of][0], done[-1][of][1]
        count = f"{len(done)} intervals; in each" if done[1:] else "one interval; in it"
        how = "one by one" if document["n"] is None else f"in {count}, the weights are numbers or polynomials of n"
        print(f"  {of} = {low if low == high else f'{low} … {high}'}, {how}")
        if runs := [item for item in done if "inputs_run" in item]:
            print(f"  n = {runs[0]['n'][0]} … {runs[-1]['n'][0]}: by runs of every input")
    if "coordinates" in document:
        print(f"  {document['coordinates']}")
    if "rounded_coordinates" in document:
        print(f"  {document['rounded_coordinates']}")
    if above:
        print(f"  {name_of(document['above'])}: certified, in {above}")
    if document.get("print_in_weights") is False:
        print("  these weights are the repaired model's: the print lies in the text, and in what is searched there")
    for head in document.get("heads", ()):
        print(
            f"  {head['head']}: scores that differ do so by at least {_number(head['lead'])}; {head['needed']} is needed"
        )
    errors = document.get("error_in_steps", {})
    for name, error in errors.items():
        print(f"  {name}: at most {_number(error)} steps from the ideal value")
    if "inputs_run" in document:
        print(f"  every other register: exact; all inputs were run, {document['inputs_run']}: {document['inputs']}")
    if "heads" in document:
        print("  every other register: exact")
        if len(answers := document["answers"]) < len(document["inputs"]):
            places = ", ".join(answers) if len(answers) <= MOST_ANSWERS else f"{len(answers):,} kinds of tokens"
            print(f"  what the last block writes: only at {places}, where the answer is read")
    for name, statement in document.get("assumed_invariants", {}).items():
        print(f"  assumed of the ideal run, {name}: {statement}")
    return CODES[verdict]


def _number(text: str) -> str:
    from fractions import Fraction

    value = Fraction(text)
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"


if __name__ == "__main__":
    look_rarely()
    sys.exit(main())

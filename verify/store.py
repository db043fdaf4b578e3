"""`python -m verify.store`: certifies every n of a model, an interval at a time, and stores what was said (verify/stored/).

An interval of which the weights have not changed is kept; --all certifies each one again. A run that is stopped goes on where it
was. A document that ends in -cases has certificates of all large n, for the small checker, which reads each of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from fnmatch import fnmatch

from constructions.exports.files import alone, write_text
from constructions.show import cli
from verify.certificates.document import REFUSED, UNKNOWN
from verify.dossiers.dossier import About, Subject
from verify.framework.memory import look_rarely
from verify.stored import above as stored_above
from verify.stored import cases as stored_cases
from verify.stored.intervals import (
    FOLDER,
    Document,
    IntervalQuestion,
    NotCertified,
    StoredInterval,
    asked,
    intervals,
    path_of,
    questions,
    read,
    subjects,
    text_of,
)
from verify.trusted.kernel import Rejected

PROG = "python -m verify.store"
SECONDS = 60  # between two writings
DESCRIPTION = __doc__.partition("\n")[2].strip()
EXAMPLES = f"""examples:
  {PROG} --list                    all documents, and how far each goes
  {PROG} istree-rounding           intervals of n: those whose weights changed are certified again
  {PROG} 'recall*-cases'           certificates of all large n"""


def store(subject: Subject, about: About, old: Document | None) -> Iterator[StoredInterval]:
    """Writes the document, and yields each interval once it is certified. old: the stored document. Raises NotCertified.

    A document that is begun is asked of the small checker; another one goes on as it is.
    """
    found, written, cases = list[StoredInterval](), time.monotonic(), questions(subject, about)
    kept, accepted = keep(old, cases), about == "rounding" if old is None else old.accepted

    def write() -> None:
        intervals_ = whole(subject, found, kept)
        write_text(path_of(subject, about), text_of(Document(subject, about, cases, intervals_, accepted)))

    try:
        for one in intervals(subject, about, kept, accepted=accepted):
            found.append(one)
            if time.monotonic() > written + SECONDS:
                write()
                written = time.monotonic()
            yield one
    finally:
        write()


def keep(old: Document | None, cases: Sequence[IntervalQuestion]) -> Sequence[StoredInterval]:
    """Returns the intervals of a document at which the same is asked now."""
    if old is None:
        return ()
    return [one for one in old.intervals if asked(old.questions, one) == asked(cases, one)]


def whole(
    subject: Subject, found: Sequence[StoredInterval], kept: Sequence[StoredInterval]
) -> tuple[StoredInterval, ...]:
    """Returns what was looked at, and after it what was kept, up to the first gap."""
    result = [*found]
    for old in kept:
        if old.low == (result[-1].high + 1 if result else subject.n):
            result.append(old)
    return tuple(result)


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(
        PROG, DESCRIPTION, f"{EXAMPLES}\n\nexit status: 0 all are certified, 1 one is refused, 2 usage, 3 cannot tell"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which documents, as patterns (default: all)")
    parser.add_argument("--all", action="store_true", help="keep nothing of what is stored")
    parser.add_argument("--list", action="store_true", help="their names, and up to which n each is stored")
    args = parser.parse_args(argv)
    known = {path_of(*one).stem: one for one in subjects()}
    in_cases = {stored_cases.path_of(subject).stem: subject for subject in stored_cases.subjects()}
    endless = {stored_above.path_of(*one).stem: one for one in stored_above.subjects()}
    all_names = (*known, *in_cases, *endless)
    names = [name for name in all_names if not args.names or any(fnmatch(name, pattern) for pattern in args.names)]
    if not names:
        raise cli.CommandError(f"no document is called so; known: {', '.join(all_names)}")
    for name in names:
        if args.list:
            line = _reach(known[name], name) if name in known else ""
            line = line or (_cases_of(in_cases[name], name) if name in in_cases else _cases(endless[name], name))
            print(line)
            continue
        FOLDER.mkdir(exist_ok=True)
        with cli.usage_errors():
            lock = ExitStack()
            lock.enter_context(alone(FOLDER / f"{name}.json", name))
        with lock:
            if name in known:
                status = _intervals(*known[name], name, anew=args.all)
            else:
                status = (
                    _accepted(in_cases[name], name, anew=args.all) if name in in_cases else _above(*endless[name], name)
                )
        if status:
            return status
    return cli.HOLDS


def _reach(what: tuple[Subject, About], name: str) -> str:
    """Says for --list how far a document of intervals goes."""
    subject, _ = what
    old = _old(*what)
    kept = old.intervals if old else ()
    reach = f"n = {subject.n} … {kept[-1].high}, {len(kept)} intervals" if kept else "not begun"
    return f"{name}: {reach}{'' if kept and kept[-1].high == subject.last else f'; it is to go to {subject.last}'}"


def _cases(what: tuple[Subject, About], name: str) -> str:
    """Says for --list how many cases a document of all larger n has."""
    with cli.usage_errors():
        above = stored_above.read(*what)
    return f"{name}: n ≥ {what[0].n}, {len(above.cases) if above else 0} cases"


def _cases_of(subject: Subject, name: str) -> str:
    """Says for --list how many certificates a document has that the small checker reads."""
    with cli.usage_errors():
        document = stored_cases.read(subject)
    return f"{name}: n ≥ {subject.n}, {len(document['certificates']) if document else 0} certificates"


def _old(subject: Subject, about: About) -> Document | None:
    """Returns the stored document. Raises CommandError for a file that is none."""
    with cli.usage_errors():
        return read(subject, about, whole=False)


def _intervals(subject: Subject, about: About, name: str, *, anew: bool) -> int:
    """Returns the exit status."""
    old, start, found = None if anew else _old(subject, about), time.process_time(), list[StoredInterval]()
    was = set(old.intervals) if old else set()
    try:
        if was and len(keep(old, questions(subject, about))) < len(was):
            cli.say(f"{name}: stale, as it answers another question")
        for one in store(subject, about, old):
            if was and one not in was:
                cli.say(f"{name}: stale from n = {one.low} to {one.high}, now certified anew")
            found.append(one)
            cli.say(f"{name}: n ≤ {one.high}")
    except NotCertified as error:
        print(f"{name}: {'stale; ' * bool(was)}{error.verdict}: {error}")
        return cli.REFUTED if error.verdict == REFUSED else cli.UNKNOWN
    again = f", {len(set(found) - was)} of them anew" * bool(was)
    print(f"{name}: certified, {len(found)} intervals{again}, {time.process_time() - start:.0f} s", flush=True)
    return cli.HOLDS


def _accepted(subject: Subject, name: str, *, anew: bool) -> int:
    """Writes certificates of cases, if the small checker accepts them. anew: look for all. Returns the exit status."""
    start, old = time.process_time(), None
    try:
        if not anew:
            with cli.usage_errors():
                old = stored_cases.read(subject)
        document = stored_cases.make(subject, old["certificates"] if old else ())
        found = stored_cases.accept(subject, document, anew=True)
        document = stored_cases.sealed(document, found)
    except Rejected as why:
        print(f"{name}: {UNKNOWN}: {why}")
        return cli.UNKNOWN
    write_text(stored_cases.path_of(subject), stored_cases.text_of(subject, document))
    many = len(document["certificates"])
    print(
        f"{name}: accepted, {found.cases} cases, {many} certificates, {time.process_time() - start:.0f} s", flush=True
    )
    return cli.HOLDS


def _above(subject: Subject, about: About, name: str) -> int:
    """Returns the exit status."""
    start = time.process_time()
    above, _ = stored_above.make(subject, about)
    write_text(stored_above.path_of(subject, about), stored_above.text_of(above))
    print(f"{name}: certified, {len(above.cases)} cases, {time.process_time() - start:.0f} s", flush=True)
    return cli.HOLDS


if __name__ == "__main__":
    look_rarely()
    sys.exit(main())

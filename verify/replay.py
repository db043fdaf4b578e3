"""`python -m verify.replay CLAIM`: looks at one witness again, or checks stored proofs again, and does nothing else.

A stored proof counts if its checker accepts it, if the claim's own test makes the same theorem from the weights or the definition,
and if the ledger's row has the digest of theorem and proof. So the theorem is the one that `make verify` proves. Whether that
theorem says what the claim's sentence says is for a reader: the test that makes it stands in verify/claims.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from constructions.show import cli
from constructions.show.cli import CommandError
from verify.framework import proofs, stored_theorems
from verify.framework.check import LARGEST_REPLAYED
from verify.framework.claim import Claim, Json, Row, Stored, Verdict, Witness, compact
from verify.framework.ledger import load_witnesses, natural, read, read_run, rows_of
from verify.framework.options import FILES, no_claim
from verify.framework.order import LEDGER, WITNESSES
from verify.trusted.kernel import Rejected

if TYPE_CHECKING:
    import pytest

PROG = "python -m verify.replay"
MINUTES = 20.0  # seconds that a claim took in the ledger's run, from which on only a part of its theorems is made anew
EXIT_CODES = {
    Verdict.HOLDS: cli.HOLDS,
    Verdict.REFUTED: cli.REFUTED,
    Verdict.UNKNOWN: cli.UNKNOWN,
    Verdict.MEASURED: cli.UNKNOWN,
}
EXAMPLES = """examples:
  python -m verify.replay --list                          the claims, and which of them have a stored witness
  python -m verify.replay C.1/printed                     replay the stored witness
  python -m verify.replay C.1/printed --ledger run.json   replay the one that `python -m verify --ledger run.json` found
  python -m verify.replay C.1/printed --json              one JSON document on stdout
  python -m verify.replay C.1/repaired                    check the stored proofs again, and whose theorems they are
  python -m verify.replay 4.7/above --anew                make those anew in full that take minutes

exit status: 0 the claim holds at this case, or its proofs are accepted, 1 it is refuted, 2 usage, 3 unknown"""


@dataclass
class Replay:
    """A pytest plugin: gathers the claims; hands the witness to the one that it is for, and keeps the row.

    anew: have the claim's test make its theorems, which are kept as `made`, by part.
    """

    claim: str = ""
    witness: Witness | None = None
    anew: Literal["", "quick", "whole"] = ""
    made: dict[str, list[Json]] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def pytest_configure(self, config: pytest.Config) -> None:
        from verify.plugin import ANEW, REPLAY

        config.stash[ANEW] = self.anew
        if self.witness is not None:
            config.stash[REPLAY] = self.witness

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        from verify.plugin import claim_of

        claims = {item: claim for item in items if (claim := claim_of(item)) is not None}
        self.claims |= {claim.id: claim for claim in claims.values()}
        items[:] = [item for item, claim in claims.items() if claim.id == self.claim]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.errors.append(f"{report.nodeid}: {str(report.longrepr).strip().splitlines()[-1]}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.rows += rows_of(report)
        self.made |= proofs.report_proofs(report).get(self.claim, {})


def run(folder: Path, replay: Replay, *options: str) -> Replay:
    """Runs pytest over the claims, without its own output. Raises CommandError if it cannot read them."""
    import pytest

    from verify import plugin

    files = [str(path) for path in sorted(folder.glob(FILES))]
    if not files:
        raise CommandError(f"{folder}: there is no {FILES}")
    fixed = ["-p", "no:terminal", "-p", "no:cacheprovider", "-o", "addopts=", "--assert", "plain"]
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = pytest.main([*files, *fixed, *options], plugins=[plugin, replay])
    if replay.errors:
        raise CommandError(replay.errors[0])
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if not replay.claims:
        said = [line for line in output.getvalue().splitlines() if line]
        raise CommandError(said[-1] if said else f"pytest ended with status {int(code)}")
    return replay


def choose(arguments: argparse.Namespace) -> Witness | None:
    """Returns the witness that the command line speaks of."""
    with cli.usage_errors():
        if arguments.witness is not None:
            return Witness.from_json(json.loads(arguments.witness))
        if arguments.ledger is not None:
            return next((row.witness for row in read(arguments.ledger) if row.claim.id == arguments.claim), None)
        return load_witnesses(arguments.witnesses).get(arguments.claim)


def account(row: Row, witness: Witness) -> str:
    """Returns what a person reads."""
    claim = row.claim
    shows = {} if row.witness is None else row.witness.shows
    lines = {"case": compact(witness.case), "found in": witness.part}
    lines |= {name: value if isinstance(value, str) else compact(value) for name, value in shows.items()}
    width = max(len(name) for name in lines)
    ends = {Verdict.HOLDS: "The claim holds at this case.", Verdict.REFUTED: "This case refutes the claim."}
    head = f"{claim.id} ({claim.source}, {claim.variant_text})\n{claim.statement}\n\n"
    body = "\n".join(f"  {name:<{width}}  {value}" for name, value in lines.items())
    return f"{head}{body}\n\n{ends.get(row.verdict, f'Unknown: {row.note}')}"


def document(row: Row, witness: Witness) -> dict[str, Json]:
    """Returns the replay as JSON."""
    found = row.to_json()["witness"]
    return {
        "schema": 1,
        "claim": row.claim.id,
        "verdict": row.verdict,
        "case": witness.case,
        "shows": found["shows"] if found else {},
        "note": row.note,
    }


def listing(claims: Sequence[Claim], stored: dict[str, Witness]) -> str:
    """Returns one line a claim."""
    width = max((len(claim.id) for claim in claims), default=0)
    lines = []
    for claim in claims:
        witness = "  (witness stored)" if claim.id in stored else ""
        lines.append(f"{claim.id:<{width}}  {claim.source}: {claim.statement}{witness}")
    return "\n".join(lines)


@dataclass(frozen=True)
class Checked:
    """What is known of a claim's stored proofs.

    proofs: what the checker says of each. refused: why they are not the claim's, a line each. made: how many theorems its test made
    anew, and how: "quick" is a part of each. bound: whether there was a ledger to compare their digest with.
    """

    claim: str
    proofs: list[dict[str, Json]]
    refused: list[str]
    made: int
    how: Literal["quick", "whole"]
    bound: bool

    @property
    def verdict(self) -> Verdict:
        """It holds if its proofs are accepted, and are its own."""
        accepted = all(item["accepted"] for item in self.proofs)
        return Verdict.HOLDS if accepted and not self.refused else Verdict.UNKNOWN

    def document(self) -> dict[str, Json]:
        """Returns the replay as JSON."""
        theorems = {
            "made_anew": {"quick": "part", "whole": "all"}[self.how],
            "ledger": self.bound,
            "refused": self.refused,
        }
        return {"proofs": self.proofs, "theorems": theorems}

    def say(self) -> None:
        """Writes the replay for a person."""
        for item in self.proofs:
            print(f"{'accepted' if item['accepted'] else 'REJECTED'}: {item['theorem']}")
            if item["note"]:
                print(f"  {item['note']}")
        accepted = sum(bool(item["accepted"]) for item in self.proofs)
        print(f"The checker accepts {accepted} of {len(self.proofs)} stored proofs of {self.claim}.")
        for line in self.refused:
            print(f"REFUSED: {line}")
        if self.refused:
            return
        count = f"{self.made} theorem{'s' * (self.made != 1)}"
        if self.how == "whole":
            print(f"The claim's test makes the same {count} anew.")
        else:
            print(f"The claim's test takes minutes to make its {count} anew. Made anew: the inequalities that the")
            print("builder asks; all are stored. The rest is known by its digest alone. --anew makes everything.")
        same = "The ledger's row has the same digest."
        print(same if self.bound else "There is no ledger to compare their digest with.")


def checked(arguments: argparse.Namespace) -> Checked | None:
    """Returns the claim's stored proofs; None if there are none. Raises CommandError for files that cannot be read."""
    claim, ledger = arguments.claim, arguments.witnesses.with_name(LEDGER.name)
    if arguments.ledger is not None or arguments.witness is not None:
        return None
    try:
        parts = proofs.load(proofs.file_of(arguments.witnesses)).get(claim, {})
        rows, options = read_run(ledger) if parts and ledger.exists() else ([], {})
    except ValueError as error:
        raise CommandError(str(error)) from error
    if not parts:
        return None
    result = []
    for part, item in ((part, item) for part, objects in parts.items() for item in objects):
        try:
            proofs.check(item["theorem"], item["proof"])
            note = ""
        except Rejected as error:
            note = str(error)
        theorem = stored_theorems.line_of(item["theorem"])
        result.append({"part": part, "theorem": theorem, "accepted": not note, "note": note})
    row = next((row for row in rows if row.claim.id == claim), None)
    long = row is not None and (row.seconds > MINUTES or any(isinstance(part, Stored) for part in row.evidence))
    how: Literal["quick", "whole"] = "quick" if long and not arguments.anew else "whole"
    replay = Replay(claim, anew=how)
    given = [f"--n-max={options.get('n_max', LARGEST_REPLAYED)}", f"--seed={options.get('seed', 0)}"]
    run(arguments.claims, replay, *given, *([f"--p-bits={options['p_bits']}"] if options.get("p_bits") else []))
    require(claim, replay.claims)
    lines = [*stored_theorems.differences(parts, replay.made), *(stored_theorems.unlike(parts, row) if options else ())]
    how = "quick" if any("part" in item for objects in replay.made.values() for item in objects) else "whole"
    made = sum(map(len, replay.made.values()))
    return Checked(claim, result, [f"{claim}: {line}" for line in lines], made, how, bool(options))


def replay_proofs(arguments: argparse.Namespace) -> int:
    """Replays a claim without a witness: checks its stored proofs and returns the exit status."""
    found = checked(arguments)
    if found is None:
        require(arguments.claim, run(arguments.claims, Replay(), "--collect-only").claims)
        where = arguments.ledger or arguments.witnesses
        cli.say(
            f"{PROG}: {arguments.claim}: there is no witness in {where}, and no proof beside it; "
            f"pytest {os.path.relpath(arguments.claims)} --claim {arguments.claim} judges it again"
        )
        return EXIT_CODES[Verdict.UNKNOWN]
    if arguments.json:
        cli.write_json({"schema": 1, "claim": arguments.claim, "verdict": found.verdict, **found.document()})
    else:
        found.say()
    return EXIT_CODES[found.verdict]


def replay_one(arguments: argparse.Namespace) -> int:
    """Replays, prints, and returns the exit status."""
    witness = choose(arguments)
    if witness is None:
        return replay_proofs(arguments)
    options = [f"--n-max={witness.n_max}", f"--seed={witness.seed}"]
    options += [f"--p-bits={witness.p_bits}"] if witness.p_bits is not None else []
    options += [f"--engine={witness.engine}"] if witness.engine else []
    replay = run(arguments.claims, Replay(arguments.claim, witness), *options)
    require(arguments.claim, replay.claims)
    if not replay.rows:
        raise CommandError(
            f"{arguments.claim}: its test does not run; see pytest {arguments.claims} --claim {arguments.claim}"
        )
    row = replay.rows[0]
    beside = checked(arguments)
    if arguments.json:
        extra = beside.document() if beside else {}
        print(json.dumps({**document(row, witness), **extra}, ensure_ascii=False))
    else:
        print(account(row, witness))
        if beside:
            print()
            beside.say()
    if beside and row.verdict is Verdict.HOLDS:
        return EXIT_CODES[beside.verdict]
    return EXIT_CODES[row.verdict]


def list_all(arguments: argparse.Namespace) -> int:
    """Prints the claims."""
    known = run(arguments.claims, Replay(), "--collect-only").claims
    stored = load_witnesses(arguments.witnesses)
    chosen = [known[name] for name in sorted(known, key=natural)]
    if arguments.json:
        claims = [{**asdict(claim), "witness_stored": claim.id in stored} for claim in chosen]
        print(json.dumps({"schema": 1, "claims": claims}, ensure_ascii=False))
    else:
        print(listing(chosen, stored))
    return 0


def require(claim: str, known: Mapping[str, Claim]) -> None:
    """Raises CommandError if there is no such claim."""
    if claim not in known:
        raise CommandError(f"{claim!r}: {no_claim(claim, known)}")


@cli.command(PROG)
def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit status."""
    parser = cli.Parser(PROG, "Look again at the case that refutes a claim, or check its proofs again.", EXAMPLES)
    parser.add_argument("claim", nargs="?", metavar="CLAIM", help="the id of a claim")
    parser.add_argument("--list", action="store_true", help="list the claims")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--anew",
        action="store_true",
        help="make all theorems anew, also those that take minutes (default: a part of these)",
    )
    parser.add_argument("--claims", type=Path, default=WITNESSES.parent, metavar="DIR", help="where the claims are")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--witnesses", type=Path, metavar="PATH", help="the file of stored witnesses (default: witnesses.json in DIR)"
    )
    where.add_argument("--ledger", type=Path, metavar="PATH", help="take the witness from a ledger")
    where.add_argument("--witness", metavar="JSON", help="take this witness")
    arguments = parser.parse_args(argv)
    arguments.witnesses = arguments.witnesses or arguments.claims / WITNESSES.name
    if arguments.list:
        return list_all(arguments)
    if arguments.claim is None:
        raise CommandError("name a claim, or ask for --list")
    return replay_one(arguments)


if __name__ == "__main__":
    sys.exit(main())

"""Options, fixtures and outcomes of `pytest verify/`. Every pytest run of this repository loads it, so it imports little.

A test that carries a claim ends in one of these ways: it passes if the claim holds and is expected to; it is an expected
failure if the claim is refuted (or undecided) and expected to be; anything else fails. Rows travel in the test reports, so
that they arrive from pytest-xdist's workers as well.
"""

from __future__ import annotations

import dataclasses
import json
import os
import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from verify.framework.claim import Claim, Row, Searched, Verdict, Witness
from verify.framework.memory import look_rarely
from verify.framework.options import (
    DEFAULT_ENGINE,
    DEFAULT_N_MAX,
    ENGINES,
    FILES,
    MOST_MINUTES,
    Options,
    chosen_engines,
    matching,
    minutes,
    no_claim,
    require_device,
    require_once,
    where,
    whole_number,
)
from verify.framework.order import LEDGER, WITNESSES, is_checkout, longest_first, seconds_of, witnesses_of

if TYPE_CHECKING:
    from verify.framework.check import Check, Shared

OPTIONS = pytest.StashKey[Options]()
REPLAY = pytest.StashKey[Witness]()
ANEW = pytest.StashKey[Literal["", "quick", "whole"]]()
RESUMED = pytest.StashKey[list[Row]]()
CHECKOUT = Path(__file__).parents[1]
SHARED: pytest.StashKey[Shared] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(
        parser.getgroup("verify", "verifier of the paper's claims; by themselves: python -m verify --help").addoption
    )


def add_options(add: Callable[..., object]) -> None:
    """Adds the verifier's options to whatever takes them as argparse does."""
    add(
        "--n-max", type=whole_number, default=DEFAULT_N_MAX, metavar="N", help="top of the sizes (default: %(default)s)"
    )
    add("--p-bits", type=whole_number, metavar="P", help="odd precision (default: what each claim is stated for)")
    add(
        "--engine", default=DEFAULT_ENGINE, metavar="ENGINE", help=f"{', '.join(ENGINES)} or all (default: %(default)s)"
    )
    add("--device", default="cpu", metavar="DEVICE", help="cpu or cuda (default: %(default)s)")
    add("--claim", metavar="ID", help="judge the claims whose id is ID or begins with it")
    add("--seed", type=whole_number, default=0, metavar="S", help="fixes every random choice (default: 0)")
    add("--ledger", type=Path, metavar="PATH", help="write the ledger as JSON, or to PATH.parquet as Parquet")
    add(
        "--resume",
        type=Path,
        metavar="PATH",
        help="take over the rows of a ledger that an interrupted run with the same options wrote, and judge the rest",
    )
    add(
        "--dask",
        metavar="ADDRESS",
        help="have the workers of this Dask scheduler judge: the same ledger, and nothing is lost with a worker that dies",
    )
    add(
        "--fuzz",
        type=minutes,
        metavar="MINUTES",
        help="draw fresh cases for so long, and keep what fails; judge nothing",
    )
    add("--full", action="store_true", help="print every row at the end, not one screen")
    add("--force", action="store_true", help="let --ledger overwrite a file that is no ledger")
    add(
        "--witnesses",
        type=Path,
        metavar="PATH",
        help="the file of stored witnesses, beside proofs.json (default: witnesses.json beside the folder claims)",
    )
    add("--update-witnesses", action="store_true", help="store the witnesses and proofs that this run finds")


def last_screen(rows: Sequence[Row], width: int, color: bool, not_judged: int, path: Path | None) -> str:
    """Returns what a run of many claims ends in, see `verify.screen`."""
    from verify import screen

    return screen.text(rows, width, color, not_judged, path)


def with_values() -> list[str]:
    """Returns the verifier's options that take a value."""
    names: list[str] = []
    add_options(lambda name, **about: None if "action" in about else names.append(name))
    return names


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "claim(claim): the claim of the paper that a test judges")
    config.addinivalue_line("python_files", FILES)
    option = config.option
    try:
        require_once(config.invocation_params.args, with_values())
        if option.claim is not None and not option.claim.strip():
            raise ValueError(f"--claim {option.claim!r}: {no_claim('', ())}")
        engines = chosen_engines(option.engine)
        config.stash[OPTIONS] = Options(option.n_max, option.p_bits, engines, option.device, option.seed)
        require_device(option.device)
        require_files(config)
        known: list[Row] = [] if option.resume is None else resumed(option.resume, config.stash[OPTIONS])
        config.stash[RESUMED] = known
        if option.fuzz is not None:
            require_fuzz(config)
        if option.dask is not None:
            if getattr(option, "numprocesses", None) or getattr(option, "tx", None):
                raise ValueError("--dask: the processes are those of the cluster's workers, so -n and --tx have no use")
            from verify.framework import cluster

            config.pluginmanager.register(cluster.Cluster(config, option.dask, config.stash[OPTIONS]), "verify-cluster")
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    if is_checkout():  # programs that tests and claims compile are not kept among the user's
        os.environ.setdefault("CONSTRUCTIONS_CACHE", str(CHECKOUT / "build" / "cache"))
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:  # or each of them would have a thread on every core; torch reads this when it is imported
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // worker["workercount"])))
    if option.fuzz is not None:
        from verify.framework import fuzz

        if worker is not None:
            config.pluginmanager.register(fuzz.Worker(option.fuzz), "verify-fuzz")
        else:
            config.pluginmanager.register(fuzz.Controller(config, option.fuzz), "verify-fuzz")
    elif worker is None:  # the process that the user started
        from verify.framework.session import Session

        session = Session(config, config.stash[OPTIONS], last_screen)
        session.rows.extend(known)
        config.pluginmanager.register(session, "verify-session")


def require_files(config: pytest.Config) -> None:
    """Raises ValueError if a file cannot be read, or could not be written at the end: better now than after an hour."""
    option = config.option
    named = option.witnesses is not None
    if not named:
        found = witnesses_of(config.args, config.invocation_params.dir)
        if option.update_witnesses and found is None:
            raise ValueError("--update-witnesses: there are several folders; name one file with --witnesses PATH")
        if option.update_witnesses and found == WITNESSES and not is_checkout():
            raise ValueError(
                f"--update-witnesses: {found} is the installed package's; name another with --witnesses PATH"
            )
        option.witnesses = found or config.rootpath / WITNESSES.name
    if option.ledger is not None and getattr(option, "dist", "no") == "each":
        raise ValueError("--dist each: every worker judges every claim, so a ledger has each claim twice: --dist load")
    if option.ledger is None and not named and not option.update_witnesses:
        return  # nothing to ask; what this imports would cost every run of the tests
    from verify.framework import ledger, parquet, proofs

    if option.ledger is not None:
        ledger.require_writable(option.ledger, "--ledger")
        if not hasattr(config, "workerinput"):
            for path in (option.ledger, ledger.part_of(option.ledger)):
                ledger.require_kind(path, "--ledger", "ledger", ledger.is_ledger, force=option.force)
        if option.ledger.suffix == parquet.SUFFIX:
            parquet.require(f"--ledger {option.ledger}")
    if option.update_witnesses or option.witnesses.is_dir():
        ledger.require_writable(option.witnesses, "--witnesses")
        ledger.require_writable(proofs.file_of(option.witnesses), "--witnesses")
    if named or option.update_witnesses:
        ledger.load_witnesses(option.witnesses)
        proofs.load(proofs.file_of(option.witnesses))


def require_fuzz(config: pytest.Config) -> None:
    """Raises ValueError if an option does not go with `--fuzz`."""
    option = config.option
    if not 0 < option.fuzz <= MOST_MINUTES:
        raise ValueError(f"--fuzz {option.fuzz:g}: want a number of minutes above 0 and up to {MOST_MINUTES}")
    for name in ("ledger", "resume", "update_witnesses", "dask"):
        if getattr(option, name):
            raise ValueError(f"--fuzz: nothing is judged, so --{name.replace('_', '-')} has no use")
    if not (hasattr(config, "workerinput") or config.pluginmanager.hasplugin("xdist")):
        raise ValueError("--fuzz: needs the plugin xdist")


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, object, object]:
    alone = not (hasattr(config, "workerinput") or getattr(config.option, "numprocesses", None))
    if config.option.fuzz is not None and alone:
        config.option.numprocesses = "auto"  # pytest-xdist: one process a core
    return (yield)


def resumed(path: Path, options: Options) -> list[Row]:
    """Returns the rows of an earlier run that stand. Raises ValueError if it had other options, or if it is no ledger."""
    from verify.framework import ledger

    if ledger.part_of(path).exists():  # that run was cut off
        path = ledger.part_of(path)
    try:
        rows, before = ledger.read_run(path)
    except OSError as error:
        raise ValueError(f"--resume {path}: {error.strerror}") from error
    here = json.loads(json.dumps(dataclasses.asdict(options)))
    different = [name for name, value in here.items() if before.get(name) != value]
    if different:
        raise ValueError(f"--resume {path}: that run had another {', '.join(different)}")
    return [row for row in rows if row.as_expected]


def claim_of(item: pytest.Item) -> Claim | None:
    """Returns the claim that a test judges, if it does."""
    mark = item.get_closest_marker("claim")
    return None if mark is None else mark.args[0]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marked = any(mark.name in ("claim", "parametrize") for mark in metafunc.definition.iter_markers())
    if marked and "engine" in metafunc.fixturenames and "check" in metafunc.fixturenames:
        metafunc.parametrize("engine", metafunc.config.stash[OPTIONS].engines)


@pytest.fixture
def check(request: pytest.FixtureRequest) -> Iterator[Check]:
    """Searches for a claim's test, and records what they covered."""
    from constructions.engines import auto
    from verify.framework.check import Check, Shared

    claim = claim_of(request.node)
    if claim is None:
        pytest.fail("`check` is for tests that carry a claim", pytrace=False)
    config = request.config
    engine = request.getfixturevalue("engine") if "engine" in request.fixturenames else ""
    options, until = config.stash[OPTIONS], None
    if config.option.fuzz is not None:
        options = dataclasses.replace(options, seed=secrets.randbelow(2**31))
        until = getattr(config.pluginmanager.get_plugin("verify-fuzz"), "until", 0.0)
    anew: Literal["", "quick", "whole"] = config.stash.get(ANEW, "")
    replay, shared = config.stash.get(REPLAY, None), config.stash.setdefault(SHARED, Shared())
    checked = Check(claim, options, engine, replay=replay, anew=anew, until=until, shared=shared)
    session = config.pluginmanager.get_plugin("verify-session")
    with auto.native_at_hand():  # most claims run many models
        yield checked if session is None else dataclasses.replace(checked, tick=session.tick(claim.id))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    owners: dict[tuple[str, str], str] = {}
    for item in items:
        key = owners_key(item)
        if key is not None:
            other = owners.setdefault(key, item.nodeid)
            if other != item.nodeid:
                raise pytest.UsageError(f"claim {key[0]} is judged twice: {other} and {item.nodeid}")
    if hasattr(config, "workerinput") and owners:
        items[:] = longest_first(items, [owners_key(item) for item in items], seconds_of(LEDGER))
    if config.option.fuzz is not None:
        from verify.framework.fuzz import is_property

        def draws(item: pytest.Item) -> bool:
            claim = claim_of(item)
            return is_property(item) if claim is None else claim.expected is Verdict.HOLDS

        items[:] = [item for item in items if draws(item)]
    known = {(row.claim.id, row.engine) for row in config.stash[RESUMED]}
    if known:
        done = {owner for owner in owners if owner in known}
        config.hook.pytest_deselected(items=[item for item in items if owners_key(item) in done])
        items[:] = [item for item in items if owners_key(item) not in done]
    wanted = config.option.claim
    if wanted is None:
        return
    chosen = matching(wanted, [claim for claim, _ in owners])
    if not chosen and not hasattr(config, "workerinput"):
        raise pytest.UsageError(f"--claim {wanted!r}: {no_claim(wanted, [claim for claim, _ in owners])}")
    kept = [item for item in items if (claim := claim_of(item)) is not None and claim.id in chosen]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_collection_finish(session: pytest.Session) -> None:
    if any(claim_of(item) for item in session.items):
        look_rarely()


def owners_key(item: pytest.Item) -> tuple[str, str] | None:
    """Returns the claim and the engine of a test: what a row of the ledger is known by."""
    claim = claim_of(item)
    if claim is None:
        return None
    return claim.id, item.callspec.params.get("engine", "") if hasattr(item, "callspec") else ""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    claim = claim_of(pyfuncitem)
    if claim is None:
        return (yield)
    from verify.framework.check import Check
    from verify.framework.predicates import NoVerdict, WitnessFound

    checked = pyfuncitem.funcargs.get("check")
    if not isinstance(checked, Check):
        pytest.fail(f"{claim.id}: its test does not take `check`, so it can show nothing", pytrace=False)
    note = ""
    failure: BaseException | None = None
    started = time.perf_counter()
    try:
        yield
    except WitnessFound:
        pass
    except NoVerdict as error:
        note = str(error)
    except pytest.skip.Exception as error:
        left_out = {"id": claim.id, "engine": checked.engine, "reason": str(error)}
        pyfuncitem.user_properties.append(("not judged", json.dumps(left_out)))
        raise
    except ValueError as error:
        note = f"{type(error).__name__}: {error}".splitlines()[0]
        if checked.p_bits is None:
            failure = error
        else:  # most likely there are no such weights
            note = f"at --p-bits {checked.p_bits}: {error}".splitlines()[0]
    except (Exception, pytest.fail.Exception) as error:
        note, failure = f"{type(error).__name__}: {error}".splitlines()[0], error
    row = checked.row(time.perf_counter() - started, note)
    pyfuncitem.user_properties.append(("claim", json.dumps(row.to_json())))
    if checked.proofs:
        pyfuncitem.user_properties.append(("proofs", json.dumps({claim.id: checked.proofs})))
    if failure is not None and row.verdict is Verdict.UNKNOWN:
        raise failure
    if checked.until is not None:
        from verify.framework.fuzz import CASES

        cases = sum(evidence.cases for evidence in row.evidence if isinstance(evidence, Searched))
        pyfuncitem.user_properties.append((CASES, cases))
        if row.verdict is not Verdict.REFUTED:
            return True
    conclude(row, where(pyfuncitem.path))
    return True


def conclude(row: Row, where: str) -> None:
    """Turns a row into the outcome of its test. where: of its claim, for the command that replays the witness."""
    claim = row.claim
    if row.as_expected and row.verdict in (Verdict.HOLDS, Verdict.MEASURED):
        return
    if row.as_expected:
        pytest.xfail(f"{claim.id}: {row.verdict}, as expected")
    message = f"{claim.id} ({claim.source}): {row.verdict}, expected {claim.expected}."
    if row.witness is not None:
        shows = ", ".join(f"{name} = {value}" for name, value in row.witness.shows.items())
        message += f"\n{claim.statement}\nwitness: {json.dumps(row.witness.case, ensure_ascii=False)}\n{shows}"
        message += f"\nreplay: {row.witness.command(claim.id)}{where}"
    elif row.verdict is Verdict.HOLDS:
        message += " Nothing refutes it any more."
    pytest.fail(f"{message}\n{row.note}".rstrip(), pytrace=False)

"""The ledger as a Parquet file, a row a claim and engine, for whoever asks many ledgers at once.

The columns are those of `schema`, the same for every ledger: the fields of a claim and of its row, the evidence as a list of
structures, the witness as one. What may have any shape, as a case, is JSON in a text. Numbers of cases and sizes are decimals:
some are above 2^64. The options of the run and what it did not judge are about no row, and stand as JSON in the file's metadata.
"""

from __future__ import annotations

import importlib.util
import json
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

from verify.framework.claim import EVIDENCE, KINDS, Claim, Json, Reading, Verdict, Witness, compact

MAGIC = b"PAR1"  # the first characters of such a file
SUFFIX = ".parquet"
METADATA = b"ledger"
OF_A_ROW = {"verdict": str, "engine": str, "seconds": float, "note": str}
AS_JSON = ("case", "shows")  # of a witness
WIDE = ("cases", "n_max")


def require(what: str) -> None:
    """Raises ValueError if there is nothing to read or write it with. what: the file."""
    if importlib.util.find_spec("pyarrow") is None:
        raise ValueError(f"{what}: Parquet needs pyarrow: pip install 'rnn-transformer-constructions[parquet]'")


def schema() -> Any:
    """Returns the columns, from the fields of what a ledger holds."""
    import pyarrow as pa

    types = {int: pa.int64(), bool: pa.bool_(), float: pa.float64()}

    def columns(hints: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, hint in hints.items():
            plain = next((kind for kind in typing.get_args(hint) if kind in types), hint)  # int | None
            if name == "sizes":
                yield name, pa.list_(pa.list_(pa.string()))
            elif name == "scope":
                yield name, pa.list_(pa.string())
            elif name == "readings":
                yield name, pa.list_(pa.struct(list(columns(_hints(Reading)))))
            else:
                yield name, pa.decimal128(38, 0) if name in WIDE else types.get(plain, pa.string())

    evidence: dict[str, Any] = {"kind": str}
    for kind in KINDS:
        evidence |= _hints(kind)
    witness = {**_hints(Witness), "replay": str}
    return pa.schema(
        [
            *columns({**_hints(Claim), **OF_A_ROW}),
            ("evidence", pa.list_(pa.struct(list(columns(evidence))))),
            ("witness", pa.struct(list(columns(witness)))),
        ]
    )


def _hints(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def write(path: Path, document: Mapping[str, Json]) -> None:
    """Writes the JSON document of a ledger as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = [{**row, "witness": row["witness"] and _turn_json(row["witness"], compact)} for row in document["rows"]]
    rest = {name: value for name, value in document.items() if name != "rows"}
    table = pa.Table.from_pylist(rows, schema=schema().with_metadata({METADATA: compact(rest)}))
    parquet.write_table(table, path)


def read(path: Path) -> dict[str, Json]:
    """Reads what `write` wrote. ValueError if the file is something else."""
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
        rest = json.loads(table.schema.metadata[METADATA])
    except (OSError, ValueError, KeyError, TypeError) as error:  # pyarrow's own are some of these
        raise ValueError("no Parquet file of a ledger, or one that was cut off") from error
    rows = table.to_pylist()
    for row in rows:
        row["verdict"] = Verdict(row["verdict"])
        row["witness"] = row["witness"] and _turn_json(row["witness"], json.loads)
        row["evidence"] = [_turn_json(_drop_other_kinds(part), json.loads) for part in row["evidence"]]
    return {**rest, "rows": rows}


def _drop_other_kinds(evidence: Mapping[str, Json]) -> dict[str, Json]:
    """Removes the fields of other kinds."""
    return {name: evidence[name] for name in ("kind", *(field.name for field in fields(EVIDENCE[evidence["kind"]])))}


def _turn_json(part: Mapping[str, Json], turn: Callable[[Any], Json]) -> dict[str, Json]:
    """Turns the JSON fields of a witness, either way, and decimals of all into whole numbers."""
    return {
        name: turn(value) if name in AS_JSON else int(value) if isinstance(value, Decimal) else value
        for name, value in part.items()
    }

"""What a failover, or a restore, may have lost: the rows of a store compared with what others know.

    found = reconcile(database, receipts=read_receipts(lines))
    found.findings      ->  (Disagreement(kind="lost decision", run_id="r1", name="review"), …)

A standby that takes over has every transaction up to some moment, and none after it.  So what is lost left
no trace in the database: whoever was told of it knows it, the callers (starts, decisions), the receivers of
calls (their Idempotency-Key), or the server before (`list_receipts` reads its rows, as soon as it runs).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, Literal, TypeAlias, get_args

import psycopg

from cinatra_sdk.errors import InputInvalid, StoreError
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import QUERIES, connect, every, reading
from cinatra_sdk.postgres.database_errors import store_error
from cinatra_sdk.postgres.home import Home, read_home
from cinatra_sdk.store.database import Database

ReceiptKind: TypeAlias = Literal["start", "decision", "settlement", "effect"]
DisagreementKind: TypeAlias = Literal[
    "lost start", "lost decision", "lost settlement", "lost effect", "effect without decision",
    "gate without decision", "decision not carried out", "effect unknown",
]  # fmt: skip
BATCH: Final = 5000
"""Receipts that are looked up at once."""
MOST: Final = 10_000
"""Findings of each kind, beside what receipts say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What somebody knows to have happened."""

    kind: ReceiptKind
    run_id: str = ""
    """Empty: not known; then it is the receipt of an effect."""
    name: str = ""
    """Of a decision the id of the gate, of an effect and of a settlement the key; empty for a start."""
    by: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """What does not agree."""

    kind: DisagreementKind
    run_id: str
    """Empty where only the key of a call is known."""
    name: str
    """Of a gate its id, of a call its key; empty for a start."""
    what: str = ""
    """What was called, or who decided."""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """What came of a comparison."""

    home: Home
    findings: tuple[Disagreement, ...] = field(default=())
    receipts: int = 0
    """How many were looked up."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing is found, and the database is where it was adopted, on the same server."""
        return not (self.findings or self.home.is_copy or self.home.was_taken_over)


def reconcile(
    database: Database, *, receipts: Iterable[Receipt] = (), tenant: str | None = None
) -> Reconciliation:
    """Changes nothing.

    Raises: `StoreError`; `InputInvalid` for what is no `Receipt`; and what the iterator of the receipts raises.
    """
    with database.connection() as connection:
        home = read_home(connection)
        rows = every(connection, "list_disagreements", {"tenant": tenant, "limit": MOST})
    found = [Disagreement(**row) for row in rows]
    if not isinstance(receipts, Iterable):
        raise InputInvalid("the receipts are no list of Receipt records", hint="see read_receipts")
    number, rest = 0, iter(receipts)
    while batch := list(islice(rest, BATCH)):
        if not all(isinstance(one, Receipt) for one in batch):
            raise InputInvalid("the receipts are no Receipt records", hint="see read_receipts")
        number += len(batch)
        found += _find_lost(database, batch, tenant)
    return Reconciliation(home=home, findings=tuple(found), receipts=number)


def _find_lost(
    database: Database, batch: list[Receipt], tenant: str | None
) -> Iterator[Disagreement]:
    asked = {
        "kinds": [one.kind for one in batch],
        "run_ids": [one.run_id for one in batch],
        "names": [one.name for one in batch],
        "tenant": tenant,
    }
    with database.connection() as connection:
        rows = every(connection, "list_unknown_receipts", asked)
    for row in rows:
        one = batch[row["place"] - 1]
        yield Disagreement(
            kind=_LOST[one.kind], run_id=one.run_id, name=one.name, what=one.by, at=one.at
        )


_LOST: Final[Mapping[ReceiptKind, DisagreementKind]] = {
    "start": "lost start",
    "decision": "lost decision",
    "settlement": "lost settlement",
    "effect": "lost effect",
}


def list_receipts(
    dsn: str, *, newer_than: timedelta | None = None, tenant: str | None = None
) -> Iterator[Receipt]:
    """What another database of the same runs knows: the server before, or a copy of it.

    newer_than: only what happened within that time, by the clock of that database; None: everything.
    Raises: `StoreError` about that database.
    """
    with connect(dsn) as connection:
        try:
            with (
                reading(connection),
                connection.cursor(name="oasflow_receipts") as rows,
            ):
                rows.execute(QUERIES["list_receipts"], {"newer_than": newer_than, "tenant": tenant})
                while page := rows.fetchmany(BATCH):
                    yield from (Receipt(**row) for row in page)
        except psycopg.Error as error:
            failed: StoreError | None = store_error(dsn, error)
        else:
            failed = None
    if failed is not None:
        raise failed


def read_receipts(lines: Iterable[str]) -> Iterator[Receipt]:
    """One JSON object on each line: `{"run"}` a start, `{"run", "gate"}` a decision, `{"key"}` or `{"run",
    "key"}` a call that its receiver has, with `"settled": true` a person's word on that call.

    Empty lines are left out.  Raises: `InputInvalid` naming the line.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _read_receipt(line, number)


def _read_receipt(line: str, number: int) -> Receipt:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        told = None
    texts = isinstance(told, dict) and all(
        isinstance(told.get(name, ""), str) for name in ("run", "gate", "key")
    )
    if not texts:
        raise InputInvalid(
            f"line {number} of the receipts is no JSON object of texts", hint=_SHAPES
        )
    run, gate, key = (told.get(name, "") for name in ("run", "gate", "key"))
    if "\0" in run + gate + key:
        raise InputInvalid(f"line {number} of the receipts holds NUL, which no id has")
    if key and not gate:
        kind: ReceiptKind = "settlement" if told.get("settled") is True and run else "effect"
        return Receipt(kind=kind, run_id=run, name=key)
    if run and not key:
        return Receipt(kind="decision" if gate else "start", run_id=run, name=gate)
    raise InputInvalid(
        f"line {number} of the receipts names neither a run nor a call", hint=_SHAPES
    )


_SHAPES: Final = '{"run": …}, {"run": …, "gate": …} or {"key": …} is meant'
KINDS: Final[tuple[str, ...]] = get_args(DisagreementKind)

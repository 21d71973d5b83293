"""What resolving a context slot costs when there are many artifacts of which few are eligible.

In: numbers of artifacts, how many of them are eligible.  Out: one row of figures for each, with
the others either unseen (classified alike, not for this actor) or seen (classified otherwise).

    measure(database, [1000, 10000, 100000])
        ->  [{"artifacts": 1000, "others": "seen", "median_ms": 3.0, …}, …]

Every number has organisations of its own in the same tables, smaller ones first.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from benchmarks.figures import milliseconds, timed
from cinatra_sdk.context import Actor, AgentContextSlot, ContextResolution, InstalledExtensions
from cinatra_sdk.postgres.connection import QUERIES, Rows
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database

ARTIFACTS = (Path(__file__).parent / "artifacts.sql").read_text(encoding="utf-8")
SLOT = AgentContextSlot(
    slotId="voice", acceptedArtifactExtensions=("@x/voice",), selectionMode="autonomous",
    resolutionMode="accumulate",
)  # fmt: skip
NOTHING_INSTALLED = InstalledExtensions()


def measure(
    database: Database, artifacts: Sequence[int], *, eligible: int = 1000, repeat: int = 41
) -> list[dict[str, Any]]:
    """One row of figures for every number of artifacts and both kinds of others."""
    found = []
    for number, others in itertools.product(sorted(artifacts), ("seen", "unseen")):
        org = f"{others}-{number}"
        load(database, org, artifacts=number, eligible=eligible, unseen=others == "unseen")
        found.append(_figures(database, org, repeat) | {"artifacts": number, "others": others})
    first = {row["others"]: row["median_ms"] for row in reversed(found)}
    heads = ("artifacts", "others", "candidates", "median_ms", "p95_ms")
    ends = ("pages", "statements", "round_trips", "whole_tables")
    return [
        {head: row[head] for head in heads}
        | {"growth": round(row["median_ms"] / first[row["others"]], 1)}
        | {head: row[head] for head in ends}
        for row in found
    ]


def load(database: Database, org: str, *, artifacts: int, eligible: int, unseen: bool) -> None:
    """Put the artifacts of one organisation there, and as many of another."""
    given = {"org": org, "artifacts": artifacts, "eligible": eligible, "unseen": unseen}
    with database.connection() as rows, rows.transaction():
        for statement in ARTIFACTS.split(";\n"):
            if "%(" in statement:
                rows.execute(cast("Any", statement), given)
            elif statement.strip():
                rows.execute(cast("Any", statement))
    with database.connection() as rows:
        # As autovacuum leaves a table that grew: what an index says need not be looked up there.
        rows.execute("vacuum (analyze) eligible_artifacts")


def resolve(database: Database, org: str) -> ContextResolution:
    actor = Actor(org_id=org, principal_id="ann", team_ids=frozenset({"t1"}))
    return ArtifactStore(database).resolve(actor, SLOT, NOTHING_INSTALLED)


def plan(rows: Rows, org: str, *, carried_out: bool = False) -> list[dict[str, Any]]:
    """The steps of the plan for `resolve`, as EXPLAIN names them; the whole of it comes first.

    carried_out: with what it came to, as ANALYZE and BUFFERS tell it.
    """
    given = {
        "org_id": org, "principal_id": "ann", "team_ids": ["t1"], "project_ids": [],
        "is_platform_admin": False, "project_id": None, "extensions": ["@x/voice"],
    }  # fmt: skip
    how = "explain (analyze, buffers, format json) " if carried_out else "explain (format json) "
    row = rows.execute(how + QUERIES["resolve_context"], given).fetchone()
    assert row is not None
    explained = row["QUERY PLAN"]
    return list(_steps((json.loads(explained) if isinstance(explained, str) else explained)[0]))


def pages(rows: Rows, org: str) -> int:
    """Pages of tables and indexes that one `resolve` looks at, in memory or not."""
    whole = plan(rows, org, carried_out=True)[0]
    return int(whole["Shared Hit Blocks"] + whole["Shared Read Blocks"])


def whole_tables(rows: Rows, org: str) -> list[str]:
    """Tables that the plan reads from end to end."""
    steps = plan(rows, org)
    return sorted({step["Relation Name"] for step in steps if step["Node Type"] == "Seq Scan"})


def messages(database: Database, org: str) -> list[str]:
    """What the client sends for one `resolve`, message by message: Bind, Execute, Sync …

    The connection is checked when it is taken from the pool; this is left out.
    """
    with database.connection() as rows, tempfile.TemporaryFile("w+") as file:
        alone = _Alone(rows)
        resolve(alone, org)  # prepares the statement
        rows.pgconn.trace(file.fileno())
        resolve(alone, org)
        rows.pgconn.untrace()
        file.seek(0)
        sent = (line.rstrip("\n").split("\t") for line in file)
        return [parts[3] for parts in sent if len(parts) > 3 and parts[1] == "F"]


class _Alone(Database):
    """A database of one connection."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def connection(self) -> Any:
        return _Kept(self._rows)


class _Kept:
    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __enter__(self) -> Rows:
        return self._rows

    def __exit__(self, *_error: object) -> None:
        return


def _figures(database: Database, org: str, repeat: int) -> dict[str, Any]:
    for _ in range(6):  # from the sixth on Postgres may keep one plan
        candidates = len(resolve(database, org).candidates)
    seconds = [timed(lambda: resolve(database, org)) for _ in range(repeat)]
    sent = messages(database, org)
    with database.connection() as rows:
        whole, looked_at = whole_tables(rows, org), pages(rows, org)
    return milliseconds(seconds) | {
        "candidates": candidates,
        "pages": looked_at,
        "statements": sent.count("Execute") + sent.count("Query"),
        "round_trips": sent.count("Sync") + sent.count("Query"),
        "whole_tables": " ".join(whole) or "none",
    }


def _steps(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "Node Type" in node:
        yield node
    for inner in [*node.get("Plans", ()), *([node["Plan"]] if "Plan" in node else [])]:
        yield from _steps(inner)

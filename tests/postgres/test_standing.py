"""What an examination of a database takes for append-only."""

from __future__ import annotations

import psycopg
import pytest

from cinatra_sdk.postgres.connection import connect
from cinatra_sdk.postgres.role_rights import APPEND_ONLY, look

REFUSED = """
    select c.relname from pg_trigger t join pg_class c on c.oid = t.tgrelid
    join pg_proc p on p.oid = t.tgfoid
    where p.proname in ('oasflow_append_only', 'refuse_change') and not t.tgisinternal
    group by c.relname
    -- a trigger for each row, before updates and deletes: 1 row, 2 before, 8 delete, 16 update
    having bool_or(t.tgtype & 27 = 27)
"""


def test_append_only_are_the_tables_whose_triggers_refuse_every_change(owner_database: str) -> None:
    with psycopg.connect(owner_database) as rows:
        found = {name for (name,) in rows.execute(REFUSED)}
    assert set(APPEND_ONLY) == found
    assert {"saved_objects", "saved_object_versions", "attachment_pieces", "decisions"} <= found


@pytest.mark.parametrize("table", ["saved_objects", "saved_object_versions"])
def test_a_role_that_may_delete_saved_objects_is_told(
    fresh_database: str, owner_database: str, table: str
) -> None:
    with psycopg.connect(owner_database, autocommit=True) as rows:
        rows.execute(f"grant delete on oasflow.{table} to oasflow")
        try:
            with connect(fresh_database) as connection:
                assert look(connection).powers == (f"may delete {table}",)
        finally:
            rows.execute(f"revoke delete on oasflow.{table} from oasflow")

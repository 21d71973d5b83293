"""A role that changes the settings with which its later connections begin keeps no run from going on."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.postgres.connection import OPTIONS, OURS, USUAL, Rows, connect
from cinatra_sdk.postgres.role_rights import look
from oas_compiler import compile_flow
from oas_compiler.cli.commands.database import _describe_own_settings
from tests.flows import api, end, flow_of, gate, start

GATED = flow_of(start(), gate("ask"), api("send"), end())
BAD = {
    "default_transaction_read_only": "on",
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "statement_timeout": "1ms",
    "lock_timeout": "1ms",
    "idle_in_transaction_session_timeout": "1ms",
    "exit_on_error": "on",
    "local_preload_libraries": "nowhere",
    "row_security": "off",
    "search_path": "pg_catalog",
    "client_encoding": "SQL_ASCII",
    "DateStyle": "German, DMY",
    "IntervalStyle": "iso_8601",
    "TimeZone": "<far>-160:30",
    "bytea_output": "escape",
    "extra_float_digits": "-15",
    "array_nulls": "off",
    "transform_null_equals": "on",
    "standard_conforming_strings": "off",
    "quote_all_identifiers": "on",
    "log_parameter_max_length_on_error": "-1",
    "debug_print_parse": "on",
    "debug_print_rewritten": "on",
    "debug_print_plan": "on",
    "client_min_messages": "debug5",
    "jit": "on",
    "synchronous_commit": "off",
    "transaction_timeout": "1s",
}
"""What a role may set for itself for good; the last two are no options of a connection."""
LATER = {"synchronous_commit": "on", "transaction_timeout": "0"}


@pytest.fixture(params=["", "in this database"])
def spoiled(
    request: pytest.FixtureRequest, fresh_database: str, superuser_database: str
) -> Iterator[str]:
    """The address of a role that has spoiled its own settings: everywhere, or in one database."""
    database = str(conninfo_to_dict(fresh_database)["dbname"])
    where = (
        sql.SQL("in database {}").format(sql.Identifier(database)) if request.param else sql.SQL("")
    )
    with psycopg.connect(fresh_database, autocommit=True) as rows:
        known = {name for (name,) in rows.execute("select name from pg_settings")}
        for name, value in BAD.items():
            if name in known:
                given = sql.Identifier(name), sql.Literal(value)
                rows.execute(
                    sql.SQL("alter role current_user {} set {} = {}").format(where, *given)
                )
    try:
        yield fresh_database
    finally:
        with psycopg.connect(superuser_database, autocommit=True) as rows:
            rows.execute(sql.SQL("alter role oasflow {} reset all").format(where))


def test_runs_go_on_under_a_role_that_has_spoiled_its_own_settings(spoiled: str) -> None:
    with pytest.raises(psycopg.OperationalError):  # the control: others do not even get in
        psycopg.connect(spoiled)
    seen: list[dict[str, str]] = []

    def note(connection: Rows) -> None:
        rows = connection.execute("select name, setting from pg_settings").fetchall()
        seen.append({row["name"]: row["setting"] for row in rows})

    with RunStore.open(spoiled) as store:
        run = store.start(compile_flow(GATED, platform=SimulatedPlatform()), {}, "r1")
        run = store.answer("r1", run.waiting[0].id, Decision.approve(by="Zoë Ångström"))
        assert run.status == "completed", run.error
        assert store.decisions("r1")[0]["decided_by"] == "Zoë Ångström"
        with store.database.connection() as pooled:
            note(pooled)
        with store.database.own_connection() as working:
            note(working)
        with connect(spoiled) as single:
            note(single)
            told = look(single).own_settings
    for found in seen:
        wanted = {**USUAL, **OURS, **{name: LATER[name] for name in LATER if name in found}}
        got = {name: found[name] for name in wanted}
        assert got == {**wanted, "DateStyle": "ISO, MDY"}
    assert set(told) == BAD.keys() & seen[0].keys()


def test_the_printed_remedy_undoes_what_the_role_cannot_undo_itself(
    fresh_database: str, superuser_database: str
) -> None:
    """Control: the role itself is refused, whatever it sets before."""
    database = str(conninfo_to_dict(fresh_database)["dbname"])
    wanted = {"default_transaction_read_only": "on", "transaction_read_only": "on", "jit": "on"}
    try:
        with psycopg.connect(fresh_database, autocommit=True) as rows:
            rows.execute("set default_transaction_read_only = off")
            for name, value in wanted.items():
                given = sql.Identifier(name), sql.Literal(value)
                rows.execute(sql.SQL("alter role current_user set {} = {}").format(*given))
            with pytest.raises(psycopg.Error, match="cannot be reset"):
                rows.execute("alter role current_user reset all")
        with connect(fresh_database) as connection:
            found = look(connection).own_settings
        assert set(found) == wanted.keys()
        tables = {"role": "oasflow", "database": database, "own_settings": found}
        told = _describe_own_settings(tables, is_local=False)
        remedy = told.partition("as a superuser: ")[2]
        with psycopg.connect(superuser_database, autocommit=True) as rows:
            rows.execute("set default_transaction_read_only = on")
            rows.execute(remedy.encode())
        with connect(fresh_database) as connection:
            assert look(connection).own_settings == ()
    finally:
        with psycopg.connect(superuser_database, autocommit=True) as rows:
            rows.execute("alter role oasflow reset all")
    assert _describe_own_settings(tables, is_local=True).endswith(
        "to undo them: oasflow db stop, then oasflow db start"
    )


def test_every_setting_of_a_connection_is_tried() -> None:
    assert {**USUAL, **OURS, **LATER}.keys() == BAD.keys()


def test_an_address_may_say_how_its_connections_begin_but_not_where_the_tables_are(
    fresh_database: str,
) -> None:
    own = "-c statement_timeout=7s -c search_path=pg_catalog -c application_name=with\\ blank"
    with connect(make_conninfo(fresh_database, options=own)) as connection:
        shown = connection.execute(
            "select current_setting('statement_timeout') as time, current_schemas(false) as schemas,"
            " current_setting('default_transaction_isolation') as isolation"
        ).fetchone()
    assert shown == {"time": "7s", "schemas": ["oasflow"], "isolation": "read committed"}
    assert OPTIONS["options"].count("statement_timeout=0") == 1

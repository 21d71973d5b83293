"""The table of docs/database-role.md is what the role that runs flows may write."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "database-role.md").read_text(encoding="utf-8")
NO_MORE = ("TRUNCATE", "TRIGGER", "REFERENCES")
VERBS = ("insert", "update", "delete")


def read_table(page: str) -> dict[str, tuple[bool, bool, bool]]:
    """Of each table, whether the page gives the role a right to insert, to update, and to delete."""
    found = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == len(VERBS) + 2:
            for name in re.findall(r"`(\w+)`", cells[0]):
                found[name] = (says(cells[1], name), says(cells[2], name), says(cells[3], name))
    return found


def says(cell: str, name: str) -> bool:
    """`yes; checkpoint_blobs no` says no of that table alone; `no; saved_objects key` says some."""
    first, *others = [part.strip() for part in cell.split(";")]
    for part in others:
        if f"`{name}`" in part:
            return not part.endswith("no")
    return first != "no"


def list_rights(connection: psycopg.Connection) -> dict[str, tuple[bool, bool, bool]]:
    rows = connection.execute(
        "select c.relname, has_any_column_privilege(c.oid, 'INSERT'),"
        " has_any_column_privilege(c.oid, 'UPDATE'), has_table_privilege(c.oid, 'DELETE')"
        " from pg_class c where c.relnamespace = 'oasflow'::regnamespace and c.relkind in ('r', 'p')"
    )
    return {name: (inserts, updates, deletes) for name, inserts, updates, deletes in rows}


def test_the_role_has_the_rights_that_the_page_gives_it_and_no_others(fresh_database: str) -> None:
    with psycopg.connect(fresh_database) as connection:
        assert list_rights(connection) == read_table(PAGE)


def test_a_right_that_the_page_does_not_give_is_noticed(
    fresh_database: str, owner_database: str
) -> None:
    # Control: one right more, and one table that the page does not have.
    with psycopg.connect(owner_database) as owner, psycopg.connect(fresh_database) as connection:
        (role,) = connection.execute("select current_user").fetchone() or ("",)
        owner.execute(f'grant delete on oasflow.decisions to "{role}"')
        owner.execute("create table oasflow.notes (text text)")
        owner.commit()
        try:
            found, told = list_rights(connection), read_table(PAGE)
            assert {name for name, rights in found.items() if rights != told.get(name)} == {
                "decisions", "notes",
            }  # fmt: skip
        finally:
            connection.rollback()
            owner.execute(f'revoke delete on oasflow.decisions from "{role}"')
            owner.execute("drop table oasflow.notes")
            owner.commit()


@pytest.mark.parametrize("right", NO_MORE)
def test_no_table_gives_the_role_a_right_over_all_of_its_rows(
    fresh_database: str, right: str
) -> None:
    with psycopg.connect(fresh_database) as connection:
        rows = connection.execute(
            "select c.relname from pg_class c where c.relnamespace = 'oasflow'::regnamespace"
            " and c.relkind in ('r', 'p') and has_table_privilege(c.oid, %s)",
            (right,),
        )
        assert rows.fetchall() == []


def test_whole_tables_are_locked_only_where_rows_may_be_removed(fresh_database: str) -> None:
    for name, (_, _, deletes) in read_table(PAGE).items():
        with psycopg.connect(fresh_database) as connection:
            if deletes:
                connection.execute(f"lock table oasflow.{name} in access exclusive mode")
                continue
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"lock table oasflow.{name} in share update exclusive mode")

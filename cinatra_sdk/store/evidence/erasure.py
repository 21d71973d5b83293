"""Erases a person's values from a store, and keeps the evidence around them.

    erase_person(owner_dsn, ["ann@example.org", "Ann Example"], by="dpo")            counts, changes nothing
    erase_person(owner_dsn, [...], by="dpo", reason="request 17", dry_run=False)     erases

Each value is replaced by one token: a hash that is keyed by a number which nobody keeps, so the same in every
row of one erasure and not to be found by trying names.  Every column of every table is looked at; what cannot
be changed (a key, the bytes of a flow) is told.  Of the runs that had a value, checkpoints go, and results of
calls with a value become their hashes.  A decision record with a value keeps its place, its hash and its
signature, so that its chain still verifies.

In: the address of the role that owns the tables; it switches their triggers off inside its transaction, which
the role for runs cannot.  Writers wait meanwhile; readers do not.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.types.json import Json

from cinatra_sdk.errors import InputInvalid, RunNotEnded, StoreError
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, connect, every, run
from cinatra_sdk.postgres.database_errors import store_error
from cinatra_sdk.postgres.role_rights import Standing, look
from cinatra_sdk.store.arguments import check_reason, read_actor

SHORTEST: Final = 3
"""Letters of a value: less would be found everywhere."""
PATIENCE: Final = "30s"
"""How long the erasure waits for the locks of the tables, and others behind it."""
_RUN_COLUMNS: Final = ("run_id", "thread_id", "parent_run_id")
"""The column that names the run of a row: the first one that a table has."""
_CHECKPOINTS: Final = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
_KEPT: Final = ("schema_versions", "checkpoint_migrations")
_KEPT_OF_RECORD: Final = (
    "record_id", "sequence", "status", "corrects", "previous_record_hash", "record_hash", "signature",
)  # fmt: skip
"""What stays of an erased decision record: its place in the chain, its hash, and who signed that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What was changed, or with `dry_run` would be."""

    token: str
    """Stands where the values were; empty for a dry run."""
    runs: tuple[str, ...]
    """Runs whose rows were changed."""
    changed: Mapping[str, int] = field(default_factory=dict)
    """Table → rows."""
    left: Mapping[str, int] = field(default_factory=dict)
    """`table.column` → rows that still have a value: keys, bytes of flows, parts of longer words."""
    active: tuple[str, ...] = ()
    """Runs that have a value and have not ended: they keep it from being erased."""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    kind: str
    """Of PostgreSQL: text, json, bytea, text[], …"""
    is_key: bool


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[_Column, ...]
    run_column: str
    """Empty where its rows are no run's."""


class Values:
    """The values, in every spelling in which a row may have them."""

    def __init__(self, values: Sequence[str]) -> None:
        """Raises: `InputInvalid`."""
        for value in values:
            if len(value.strip()) < SHORTEST or value != value.strip() or "\0" in value:
                raise InputInvalid(
                    f"a value to erase has {SHORTEST} letters at least, and no blank around it"
                )
        if not values:
            raise InputInvalid("nobody is named whose values are to be erased")
        # A database may know no other letters than A to Z in two cases.
        cased = (one for value in values for one in (value, value.lower(), value.upper()))
        forms = dict.fromkeys(form for value in cased for form in _list_forms(value))
        self._patterns = sorted({_escape_pattern(form) for form in forms})
        self._patterns_of_bytes = sorted({_escape_pattern(_escape_bytes(form)) for form in forms})
        # No letter of another name stands around it; in JSON an escape may stand before it.
        words = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
        before = r"(?:(?<![\w.+\-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
        self._found = re.compile(rf"{before}(?:{words})(?![\w@]|[.\-]\w)", re.IGNORECASE)
        # In checkpoints (msgpack) the length of a text stands before it, which may look like a letter.
        length = rb"(?<=\xd9.)|(?<=\xda..)|(?<=\xdb....)"
        self._found_in_bytes = re.compile(
            rb"(?:(?<![\w.+\-])|" + length + rb")(?:" + words.encode("utf-8", "replace") + rb")",
            re.IGNORECASE | re.DOTALL,
        )

    def replace_in(self, text: str, token: str) -> str:
        return self._found.sub(token, text)

    def are_in(self, value: str | bytes | None) -> bool:
        """Of bytes also where letters follow: they may be a file's, or of something that stands behind a text."""
        found = self._found_in_bytes if isinstance(value, bytes) else self._found
        return bool(value) and found.search(value) is not None  # type: ignore[arg-type]  # each of its kind

    def condition(self, column: _Column) -> sql.Composed:
        """Whether the column has a value, perhaps as a part of a longer word."""
        name = sql.Identifier(column.name)
        if column.kind == "bytea":
            return sql.SQL("lower(encode({}, 'escape')) like any({})").format(
                name, sql.Literal(self._patterns_of_bytes)
            )
        return sql.SQL("lower({}::text) like any({})").format(name, sql.Literal(self._patterns))


_SMALL: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


def _list_forms(value: str) -> Iterable[str]:
    """As it is, in JSON (also in JSON within JSON), and in an address."""
    yield value
    for as_ascii in (True, False):
        form = value
        for _depth in range(3):
            form = json.dumps(form, ensure_ascii=as_ascii)[1:-1]
            yield form
    yield quote(value, safe="")


def _escape_pattern(form: str) -> str:
    for sign in ("\\", "%", "_"):
        form = form.replace(sign, f"\\{sign}")
    return f"%{form.translate(_SMALL)}%"


def _escape_bytes(form: str) -> str:
    """As `encode(…, 'escape')` writes its UTF-8."""
    return "".join(
        "\\\\" if byte == 0x5C else chr(byte) if 0 < byte < 0x80 else f"\\{byte:03o}"
        for byte in form.encode("utf-8", "replace")
    )


def erase_person(
    dsn: str, values: Sequence[str], *, by: str, reason: str = "", dry_run: bool = True
) -> Erasure:
    """dsn: of the role that owns the tables.  values: the person's name as rows have it, and whatever else
    is the person's: names, addresses, numbers.  A word is erased as a whole, in any case of its letters.

    Raises: `InputInvalid`; `AnswerInvalid` for what is no name of who erases; `RunNotEnded` naming the runs
    that have a value and have not ended, also those that somebody still works on; `StoreError`.
    """
    who, why, sought = read_actor(by), check_reason(reason), Values(values)
    _refuse_eraser(who, why, sought)
    with connect(dsn) as connection:
        try:
            _refuse_role(look(connection))
            with connection.transaction():
                work = _Erasing(connection, sought)
                return work.foretell() if dry_run else work.erase(who, why)
        except psycopg.Error as error:
            failed = store_error(dsn, error)
    raise failed


def _refuse_eraser(who: str, why: str, sought: Values) -> None:
    """Raises: `InputInvalid` for what could not be kept of an erasure."""
    if not who:
        raise InputInvalid("nobody is named who erases", hint="give a name")
    if sought.are_in(who) or sought.are_in(why):
        raise InputInvalid(
            "whoever erases, and why, would be erased with it", hint="say it otherwise"
        )


def _refuse_role(standing: Standing) -> None:
    """Raises: `StoreError` for a role, or tables, with which nothing can be erased."""
    if not standing.may_create:
        fix = f"give the address of '{standing.owner}', who owns the tables"
    elif standing.missing:
        fix = "oasflow db migrate brings the tables up to date"
    else:
        return
    raise StoreError(
        f"the role '{standing.role}' cannot erase in the database '{standing.database}'", hint=fix
    )


class _Erasing:
    """One erasure, in one transaction."""

    def __init__(self, connection: Rows, sought: Values) -> None:
        self._connection = connection
        self._sought = sought
        self._tables = _list_tables(connection)
        self._changed: Counter[str] = Counter()

    def foretell(self) -> Erasure:
        found, runs = self._look_around()
        return Erasure(
            token="",
            runs=runs,
            active=self._list_active(runs),
            changed=dict(sorted(found.items())),
            left=self._count_left(keys_only=True),
        )

    def erase(self, by: str, reason: str) -> Erasure:
        self._lock_tables()
        _, runs = self._look_around()
        self._refuse_active(runs)
        token = _make_token()
        guards = self._switch_triggers_off()
        self._drop_checkpoints(runs)
        self._hash_results()
        self._empty_attachments()
        self._empty_objects(token)
        self._shorten_records()
        for table in self._tables:
            self._replace_in(table, token)
        self._switch_triggers_on(guards)
        about = {"token": token, "by": by, "reason": reason, "runs": list(runs)}
        run(self._connection, "insert_erasure", {**about, "changed": Json(dict(self._changed))})
        return Erasure(
            token=token,
            runs=runs,
            changed=dict(sorted(self._changed.items())),
            left=self._count_left(keys_only=False),
        )

    def _refuse_active(self, runs: Sequence[str]) -> None:
        """Raises: `RunNotEnded`."""
        active = self._list_active(runs)
        if active:
            raise RunNotEnded(
                f"{len(active)} runs have a value and have not ended: {', '.join(active[:5])}"
                f"{', …' if len(active) > 5 else ''}; nothing was erased",
                hint="let them end, or stop them (oasflow stop), and erase again",
            )

    # ------------------------------------------------------------------ looking

    def _look_around(self) -> tuple[Counter[str], tuple[str, ...]]:
        """Table → rows with a value, and the runs of these rows."""
        found: Counter[str] = Counter()
        runs: set[str] = set()
        for table in self._tables:
            for row in self._select(table, table.columns):
                found[table.name] += 1
                if table.run_column:
                    runs.add(row["run"])
        return found, tuple(sorted(runs))

    def _select(self, table: _Table, columns: Sequence[_Column]) -> Iterator[Row]:
        """Its rows that have a value in one of these columns: `place`, `run`, and the columns as texts."""
        if not columns:
            return
        shown = [
            sql.SQL(", {} as {}").format(_read_as_text(one), sql.Identifier(one.name))
            for one in columns
        ]
        of_run = sql.Identifier(table.run_column) if table.run_column else sql.Literal("")
        asked = sql.SQL("select ctid::text as place, {} as run{} from oasflow.{} where {}").format(
            of_run, sql.SQL("").join(shown), sql.Identifier(table.name), self._either(columns)
        )
        for row in self._connection.execute(asked).fetchall():
            if any(self._sought.are_in(row[one.name]) for one in columns):
                yield row

    def _count(self, table: _Table, columns: Sequence[_Column]) -> int:
        """Rows with a value in one of the columns, perhaps as a part of a longer word."""
        asked = sql.SQL("select count(*) as number from oasflow.{} where {}").format(
            sql.Identifier(table.name), self._either(columns)
        )
        row = self._connection.execute(asked).fetchone()
        return 0 if row is None else int(row["number"])

    def _either(self, columns: Sequence[_Column]) -> sql.Composed:
        return sql.SQL("({})").format(
            sql.SQL(" or ").join([self._sought.condition(one) for one in columns])
        )

    def _list_active(self, runs: Sequence[str]) -> tuple[str, ...]:
        rows = every(self._connection, "list_unended", {"run_ids": list(runs)})
        return tuple(row["run_id"] for row in rows)

    def _count_left(self, *, keys_only: bool) -> dict[str, int]:
        """keys_only: what an erasure would have to leave."""
        return {
            f"{table.name}.{column.name}": number
            for table in self._tables
            for column in table.columns
            if (column.is_key or not keys_only) and (number := self._count(table, [column]))
        }

    # ------------------------------------------------------------------ changing

    def _lock_tables(self) -> None:
        """No row comes in between the look and the change."""
        self._execute(sql.SQL("select set_config('lock_timeout', {}, true)").format(PATIENCE))
        names = sql.SQL(", ").join([sql.Identifier("oasflow", one.name) for one in self._tables])
        self._execute(sql.SQL("lock table {} in share row exclusive mode").format(names))

    def _switch_triggers_off(self) -> list[tuple[str, str, str]]:
        """(table, trigger, the way in which it was on)."""
        guards = [
            (row["tab"], row["trigger"], row["enabled"])
            for row in every(self._connection, "list_triggers")
        ]
        for table, trigger, _ in guards:
            self._execute(
                sql.SQL("alter table {} disable trigger {}").format(
                    sql.Identifier("oasflow", table), sql.Identifier(trigger)
                )
            )
        return guards

    def _switch_triggers_on(self, guards: Iterable[tuple[str, str, str]]) -> None:
        ways = {"A": sql.SQL("always "), "R": sql.SQL("replica "), "O": sql.SQL("")}
        for table, trigger, enabled in guards:
            self._execute(
                sql.SQL("alter table {} enable {}trigger {}").format(
                    sql.Identifier("oasflow", table), ways[enabled], sql.Identifier(trigger)
                )
            )

    def _drop_checkpoints(self, runs: Sequence[str]) -> None:
        """Only going on needs them, and their bytes have lengths in front of texts."""
        for name in _CHECKPOINTS:
            self._change(
                name,
                sql.SQL("delete from oasflow.{} where thread_id = any({})").format(
                    sql.Identifier(name), sql.Literal(list(runs))
                ),
            )

    def _hash_results(self) -> None:
        """As an archive does with all of them."""
        for row in self._select_from("effects", "result"):
            self._change(
                "effects",
                sql.SQL(
                    "update oasflow.effects set result = null, result_sha256 ="
                    " encode(sha256(convert_to(result::text, 'UTF8')), 'hex') where ctid = {}"
                ).format(sql.Literal(row["place"])),
            )

    def _empty_attachments(self) -> None:
        """Attached files with a value lose their bytes, and cannot be read any more."""
        for row in self._select_from("attachment_pieces", "content"):
            piece = sql.SQL("(select p from oasflow.attachment_pieces p where p.ctid = {})").format(
                sql.Literal(row["place"])
            )
            self._change(
                "attachments",
                sql.SQL(
                    "update oasflow.attachments a set tombstoned_at = clock_timestamp()"
                    " where a.tombstoned_at is null and (a.tenant, a.artifact_id, a.revision_id) ="
                    " (({0}).tenant, ({0}).artifact_id, ({0}).revision_id)"
                ).format(piece),
            )
            self._change(
                "attachment_pieces",
                sql.SQL("update oasflow.attachment_pieces set content = '' where ctid = {}").format(
                    sql.Literal(row["place"])
                ),
            )

    def _empty_objects(self, token: str) -> None:
        """Saved objects with a value have the token as their bytes."""
        for row in self._select_from("saved_object_versions", "content"):
            self._change(
                "saved_object_versions",
                sql.SQL(
                    "update oasflow.saved_object_versions"
                    " set content = {0}, sha256 = encode(sha256({0}), 'hex') where ctid = {1}"
                ).format(sql.Literal(token.encode()), sql.Literal(row["place"])),
            )

    def _shorten_records(self) -> None:
        """Of decision records with a value, their place in the chain stays."""
        for row in self._select_from("decision_records", "record", "transcript"):
            record = row["record"]
            kept = _shorten_record(record) if self._sought.are_in(record) else record
            self._change(
                "decision_records",
                sql.SQL(
                    "update oasflow.decision_records set record = {}, transcript = {} where ctid = {}"
                ).format(
                    sql.Literal(kept), sql.Literal('{"erased": true}'), sql.Literal(row["place"])
                ),
            )

    def _select_from(self, name: str, *columns: str) -> list[Row]:
        table = next(one for one in self._tables if one.name == name)
        return list(self._select(table, [one for one in table.columns if one.name in columns]))

    def _replace_in(self, table: _Table, token: str) -> None:
        columns = [one for one in table.columns if not one.is_key and one.kind != "bytea"]
        if not columns:
            return
        for row in list(self._select(table, columns)):
            said = {
                one: new
                for one in columns
                if (old := row[one.name]) is not None
                and (new := self._sought.replace_in(old, token)) != old
            }
            if said:
                self._change(table.name, _build_update(table, row["place"], said))

    def _change(self, table: str, statement: sql.Composed) -> None:
        number = self._connection.execute(statement).rowcount
        if number:
            self._changed[table] += number

    def _execute(self, statement: sql.Composed) -> None:
        self._connection.execute(statement)


def _make_token() -> str:
    # Keyed by what nobody keeps: a hash of a name alone is soon found by trying names.
    key = secrets.token_bytes(32)
    return f"erased-{hmac.new(key, b'erased', hashlib.sha256).hexdigest()[:32]}"


def _read_as_text(column: _Column) -> sql.Composed:
    how = "{}" if column.kind == "bytea" else "{}::text"
    return sql.SQL(how).format(sql.Identifier(column.name))


def _build_update(table: _Table, place: str, said: Mapping[_Column, str]) -> sql.Composed:
    changes = sql.SQL(", ").join(
        sql.SQL("{} = {}::{}").format(
            sql.Identifier(one.name),
            sql.Literal(new),
            sql.SQL(one.kind),
        )
        for one, new in said.items()
    )
    return sql.SQL("update oasflow.{} set {} where ctid = {}").format(
        sql.Identifier(table.name), changes, sql.Literal(place)
    )


def _shorten_record(text: str) -> str:
    try:
        told: Any = json.loads(text)
    except (ValueError, RecursionError):
        told = {}
    known = told if isinstance(told, dict) else {}
    kept = {name: known[name] for name in _KEPT_OF_RECORD if name in known}
    return json.dumps({**kept, "erased": True})


def _list_tables(connection: Rows) -> list[_Table]:
    columns: dict[str, list[_Column]] = {}
    every_column: dict[str, set[str]] = {}
    for row in every(connection, "list_columns"):
        if row["tab"] in _KEPT:
            continue
        every_column.setdefault(row["tab"], set()).add(row["name"])
        if row["holds_text"]:
            columns.setdefault(row["tab"], []).append(
                _Column(row["name"], row["kind"], row["is_key"])
            )
    return [
        _Table(
            name,
            tuple(found),
            next((one for one in _RUN_COLUMNS if one in every_column[name]), ""),
        )
        for name, found in sorted(columns.items())
    ]

"""Objects that runs save by the tools of the platform: JSON or bytes, with versions, per tenant.

    objects = SavedObjects(database)
    made = objects.save(ObjectContent.of_json("@x/drafts", {"drafts": []}), org_id="acme", run_id="r1")
    objects.update(made.id, ObjectContent.of_json("@x/drafts", {…}), org_id="acme", run_id="r1")
    objects.get(made.id, org_id="acme")     SavedObject(version=2, …);  org_id="other": None

Nothing is overwritten.  The same key saves once, also from two processes at one moment.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import field
from typing import Any, Final, Self

from pydantic import JsonValue

from cinatra_sdk.data.text.person_texts import describe_fault
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, every, one
from cinatra_sdk.store.database import Database

JSON_MIME: Final = "application/json"
MOST_BYTES: Final = 32 * 2**20
"""Of one object."""
MOST_LISTED: Final = 500
"""Objects of one list."""
MOST_LISTED_BYTES: Final = MOST_BYTES
"""Of all objects of one list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectContent:
    """What is saved."""

    type: str
    """What the object is, such as `@cinatra-ai/campaigns:email-draft-bundle`."""
    mime: str
    content: bytes = field(repr=False)

    @classmethod
    def of_json(cls, kind: str, value: JsonValue) -> Self:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        return cls(type=kind, mime=JSON_MIME, content=text.encode("utf-8", "surrogatepass"))

    @property
    def sha256(self) -> str:
        """Of the bytes, in hex."""
        return hashlib.sha256(self.content).hexdigest()

    def value(self) -> JsonValue:
        """The JSON value; None for bytes of another kind."""
        found: JsonValue = json.loads(self.content) if self.mime == JSON_MIME else None
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedObject:
    """One version of an object."""

    id: str
    org_id: str
    run_id: str
    """The run that saved the object first."""
    version: int
    """From 1."""
    held: ObjectContent

    @classmethod
    def of(cls, row: Row) -> Self:
        held = ObjectContent(type=row["type"], mime=row["mime"], content=bytes(row["content"]))
        return cls(
            id=row["id"], org_id=row["org_id"], run_id=row["run_id"], version=row["version"],
            held=held,
        )  # fmt: skip


class KeyReused(ValueRefused):
    """A key names one call for good; this one would lose what it saves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saver:
    """Which object is saved, and for whom."""

    id: str
    org_id: str
    run_id: str
    key: str


@dataclass(frozen=True, slots=True)
class SavedObjects:
    """The objects of one database; safe to share between threads."""

    database: Database

    def save(
        self,
        content: ObjectContent,
        *,
        org_id: str,
        run_id: str,
        key: str = "",
        object_id: str = "",
    ) -> SavedObject:
        """A new object; the one that a call with the same key saved before.

        object_id: a name that the caller makes; where there is such an object, this is its next
                   version.  Empty: a new one.

        Raises: `ValueRefused` for more bytes than one object may have, and for a name that is missing or
        too long; `KeyReused`; `StoreError`.
        """
        _refuse_unfit(content, object_id, org_id=org_id, run_id=run_id, key=key)
        named = {"id": object_id or str(uuid.uuid4()), "org_id": org_id, "key": key}
        with self.database.connection() as connection, connection.transaction():
            made = one(connection, "insert_saved_object", {**named, "run_id": run_id})
            if made is None:
                known = one(connection, "find_saved_object_of_key", named)
                if known is not None:
                    found = self._load(connection, known["id"], org_id, key=key)
                    return _require_same(found, content)
                if one(connection, "lock_saved_object", named) is None:
                    raise ValueRefused("the id of the object belongs to somebody else")
            by = _Saver(id=named["id"], org_id=org_id, run_id=run_id, key=key)
            return self._add(connection, by, content)

    def update(
        self, object_id: str, content: ObjectContent, *, org_id: str, run_id: str, key: str = ""
    ) -> SavedObject | None:
        """The next version; None where the tenant has no such object.

        Raises: as `save`.
        """
        _refuse_unfit(content, object_id, org_id=org_id, run_id=run_id, key=key)
        with self.database.connection() as connection, connection.transaction():
            locked = one(connection, "lock_saved_object", {"id": object_id, "org_id": org_id})
            if locked is None:
                return None
            by = _Saver(id=object_id, org_id=org_id, run_id=run_id, key=key)
            return self._add(connection, by, content)

    def get(self, object_id: str, *, org_id: str, version: int | None = None) -> SavedObject | None:
        """The newest version, or the one that is named; None where the tenant has none."""
        with self.database.connection() as connection:
            return self._load(connection, object_id, org_id, version=version)

    def of_run(
        self, run_id: str, *, org_id: str, kind: str = "", most: int = MOST_LISTED
    ) -> list[SavedObject]:
        """The newest versions of what a run saved, the last saved first; kind: of this type only.

        most: how many.  Of more than `MOST_LISTED_BYTES` together, the last saved are listed.
        """
        asked = {
            "org_id": org_id, "run_id": run_id, "type": kind, "most": most,
            "most_bytes": MOST_LISTED_BYTES,
        }  # fmt: skip
        with self.database.connection() as connection:
            rows = every(connection, "list_saved_objects_of_run", asked)
        return [SavedObject.of(row) for row in rows]

    def count_of_run(self, run_id: str, *, org_id: str, kind: str = "") -> int:
        """How many objects `of_run` would give without its bounds."""
        asked = {"org_id": org_id, "run_id": run_id, "type": kind}
        with self.database.connection() as connection:
            row = one(connection, "count_saved_objects_of_run", asked)
        assert row is not None  # a count always is
        return int(row["number"])

    def _add(self, connection: Rows, by: _Saver, content: ObjectContent) -> SavedObject:
        if len(content.content) > MOST_BYTES:
            raise ValueRefused(f"an object has at most {MOST_BYTES} bytes")
        values: dict[str, Any] = {
            "id": by.id, "key": by.key, "run_id": by.run_id, "type": content.type,
            "mime": content.mime, "content": content.content, "sha256": content.sha256,
        }  # fmt: skip
        added = one(connection, "insert_saved_object_version", values)
        if added:
            found = self._load(connection, by.id, by.org_id)
            assert found is not None
            return found
        return _require_same(self._load(connection, by.id, by.org_id, key=by.key), content)

    def _load(
        self,
        connection: Rows,
        object_id: str,
        org_id: str,
        *,
        version: int | None = None,
        key: str = "",
    ) -> SavedObject | None:
        asked = {"id": object_id, "org_id": org_id, "version": version, "key": key}
        row = one(connection, "load_saved_object", asked)
        return None if row is None else SavedObject.of(row)


def _refuse_unfit(
    content: ObjectContent, object_id: str, *, org_id: str, run_id: str, key: str
) -> None:
    """Raises: `ValueRefused`."""
    problem = describe_fault(
        {
            "id of an object": object_id, "type of an object": content.type,
            "media type": content.mime, "tenant": org_id, "run": run_id, "key of an object": key,
        }
    )  # fmt: skip
    if problem:
        raise ValueRefused(problem)


def _require_same(found: SavedObject | None, content: ObjectContent) -> SavedObject:
    """What a call with the same key saved before.  Raises: `KeyReused`."""
    held = None if found is None else (found.held.type, found.held.sha256)
    if found is None or held != (content.type, content.sha256):
        raise KeyReused("the key of the call was used to save something else")
    return found

"""Attached files on Postgres: what goes in comes out, for its own tenant and nobody else."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from cinatra_sdk.attachments import (
    AttachmentRef,
    CachedFile,
    CapabilityRule,
    Resolved,
    find_capability,
    read_ref,
    resolve_attachments,
)
from cinatra_sdk.errors import FlowError, InputInvalid, StoreError
from cinatra_sdk.outside.models.uploads import FileToUpload
from cinatra_sdk.postgres.connection import connect
from cinatra_sdk.store.artifacts.attachment_store import (
    PIECE,
    AttachmentStore,
    AttachmentUnreadable,
    StoredParent,
)
from cinatra_sdk.store.database import Database

MIB = 1024 * 1024
HOUR = timedelta(hours=1)


@pytest.fixture
def database(fresh_database: str) -> Iterator[Database]:
    opened = Database.open(fresh_database)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> AttachmentStore:
    return AttachmentStore(database)


def put(store: AttachmentStore, tenant: str = "acme", *content: bytes, **changes: Any) -> AttachmentRef:  # fmt: skip
    given: dict[str, Any] = {"mime": "application/pdf", "created_by": "ann", "max_bytes": 10 * MIB}
    return store.add(tenant, content or [b"abc"], **given | changes)


@dataclass
class Provider:
    """A provider's files that keep every byte that they got."""

    uploaded: list[FileToUpload] = field(default_factory=list)
    got: list[bytes] = field(default_factory=list)

    def upload(self, file: FileToUpload) -> CachedFile:
        self.uploaded.append(file)
        self.got.append(b"".join(file.chunks))
        number = len(self.uploaded)
        return CachedFile(provider_file_id=f"file-{number}", mime=file.mime, size_bytes=file.size)


def resolve(store: AttachmentStore, provider: Provider, *refs: AttachmentRef, tenant: str = "acme") -> Resolved:  # fmt: skip
    return resolve_attachments(refs, "openai", "gpt-5", store.ports(tenant, {"openai": provider}))


def reasons(resolved: Resolved) -> list[str]:
    return [file.reason for file in resolved.unreadable]


def changed(ref: AttachmentRef, **changes: Any) -> AttachmentRef:
    return read_ref({**ref.wire(), **changes})


def rows(dsn: str, query: str) -> list[Any]:
    with connect(dsn) as connection:
        return [tuple(row.values()) for row in connection.execute(query)]  # type: ignore[call-overload]


# ------------------------------------------------------------------------ bytes


def test_a_file_comes_out_as_it_went_in_and_its_ref_says_what_it_is(store: AttachmentStore) -> None:
    ref = put(store, "acme", b"ab", b"", b"c", title="Plan", filename="plan.pdf")
    assert b"".join(store.read("acme", ref)) == b"abc"
    assert ref.digest == f"sha256:{hashlib.sha256(b'abc').hexdigest()}"
    assert (ref.mime, ref.size, ref.title, ref.filename) == (
        "application/pdf",
        3,
        "Plan",
        "plan.pdf",
    )
    assert ref.origin_kind == "upload"
    assert store.find("acme", ref.artifact_id, ref.representation_revision_id) == ref


def test_a_file_of_several_pieces_comes_out_whole(store: AttachmentStore) -> None:
    content = bytes(range(256)) * (PIECE * 2 // 256) + b"end"
    ref = put(store, "acme", content[:7], content[7:])
    pieces = list(store.read("acme", ref))
    assert [len(piece) for piece in pieces] == [PIECE, PIECE, 3]
    assert b"".join(pieces) == content


def test_an_empty_file_is_a_file(store: AttachmentStore) -> None:
    ref = put(store, "acme", b"")
    assert ref.size == 0
    assert list(store.read("acme", ref)) == []


def test_a_file_that_is_too_long_leaves_nothing(
    store: AttachmentStore, fresh_database: str
) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * PIECE

    with pytest.raises(InputInvalid, match="more than 3145728 bytes"):
        store.add("acme", endless(), mime="text/plain", created_by="ann", max_bytes=3 * MIB)
    assert rows(fresh_database, "select count(*) from attachment_pieces") == [(0,)]
    assert rows(fresh_database, "select count(*) from attachments") == [(0,)]


def test_a_file_of_exactly_as_many_bytes_is_kept(store: AttachmentStore) -> None:
    assert put(store, "acme", b"x" * MIB, max_bytes=MIB).size == MIB


def test_a_new_revision_leaves_the_earlier_one_as_it_was(
    store: AttachmentStore, fresh_database: str
) -> None:
    first = put(store, "acme", b"one")
    second = put(store, "acme", b"two", artifact_id=first.artifact_id)
    assert second.artifact_id == first.artifact_id
    assert b"".join(store.read("acme", first)) == b"one"
    assert b"".join(store.read("acme", second)) == b"two"
    assert rows(fresh_database, "select revision from attachments order by 1") == [(1,), (2,)]


def test_a_deleted_file_is_given_to_nobody_and_takes_no_revision(store: AttachmentStore) -> None:
    ref, other = put(store), put(store)
    assert store.tombstone("acme", ref.artifact_id)
    assert not store.tombstone("acme", ref.artifact_id)
    assert list(store.read("acme", ref)) == []
    assert store.find("acme", ref.artifact_id, ref.representation_revision_id) is None
    assert b"".join(store.read("acme", other)) == b"abc"
    with pytest.raises(InputInvalid, match="was deleted"):
        put(store, artifact_id=ref.artifact_id)


def test_a_revision_of_a_file_that_is_deleted_meanwhile_is_not_kept(
    store: AttachmentStore, fresh_database: str
) -> None:
    ref = put(store)

    def slow() -> Iterator[bytes]:
        yield b"new"
        store.tombstone("acme", ref.artifact_id)

    with pytest.raises(InputInvalid, match="was deleted"):
        store.add(
            "acme", slow(), mime="text/plain", created_by="ann", max_bytes=9,
            artifact_id=ref.artifact_id,
        )  # fmt: skip
    alive = "select count(*) from attachments where tombstoned_at is null"
    assert rows(fresh_database, alive) == [(0,)]


def test_revisions_that_are_added_at_once_get_numbers_of_their_own(
    store: AttachmentStore, fresh_database: str
) -> None:
    first = put(store)
    together = threading.Barrier(4)

    def add(number: int) -> AttachmentRef:
        def content() -> Iterator[bytes]:
            together.wait()
            yield str(number).encode()

        return store.add(
            "acme", content(), mime="text/plain", created_by="ann", max_bytes=9,
            artifact_id=first.artifact_id,
        )  # fmt: skip

    with ThreadPoolExecutor(4) as threads:
        added = list(threads.map(add, range(4)))
    assert [b"".join(store.read("acme", ref)) for ref in added] == [b"0", b"1", b"2", b"3"]
    numbers = rows(fresh_database, "select revision from attachments order by 1")
    assert numbers == [(1,), (2,), (3,), (4,), (5,)]


def test_a_file_that_is_deleted_while_it_is_read_ends_there(store: AttachmentStore) -> None:
    ref = put(store, "acme", b"x" * (2 * PIECE))
    reading = store.read("acme", ref)
    assert len(next(reading)) == PIECE
    store.tombstone("acme", ref.artifact_id)
    with pytest.raises(AttachmentUnreadable, match="deleted while it was read"):
        next(reading)


@pytest.mark.parametrize("mime", ["", "pdf", "application/", "a/b\r\nX: 1", "text/plain; a\n"])
def test_a_type_that_is_none_is_refused(store: AttachmentStore, mime: str) -> None:
    with pytest.raises(InputInvalid, match="mime is no type"):
        put(store, mime=mime)


def test_nobody_s_file_is_not_stored(store: AttachmentStore) -> None:
    with pytest.raises(InputInvalid, match="tenant is empty"):
        put(store, "")


# ------------------------------------------------------------------------ e-mail


def test_an_attachment_of_an_email_keeps_what_it_came_with(
    store: AttachmentStore, fresh_database: str
) -> None:
    parent = StoredParent(id="mail-7", type="email")
    ref = put(store, origin_kind="email_attachment", parent=parent)
    assert ref.origin_kind == "email_attachment"
    found = rows(fresh_database, "select origin_kind, parent_id, parent_type from attachments")
    assert found == [("email_attachment", "mail-7", "email")]
    provider = Provider()
    (part,) = resolve(store, provider, ref).parts
    assert part.ref.origin_kind == "email_attachment", "also in a later turn"


def test_an_attachment_of_an_email_without_the_email_is_refused(store: AttachmentStore) -> None:
    with pytest.raises(InputInvalid, match="has no parent"):
        put(store, origin_kind="email_attachment")


# ------------------------------------------------------------------------ ports


def test_a_file_is_uploaded_once_and_found_again(store: AttachmentStore) -> None:
    ref, provider = put(store, "acme", b"ab", b"c", filename="plan.pdf", title="Plan"), Provider()
    first, second = resolve(store, provider, ref), resolve(store, provider, ref)
    assert first == second
    assert [part.provider_file_id for part in first.parts] == ["file-1"]
    assert provider.got == [b"abc"]
    (uploaded,) = provider.uploaded
    assert (uploaded.name, uploaded.mime, uploaded.size) == ("plan.pdf", "application/pdf", 3)


@pytest.mark.parametrize(
    ("names", "name"),
    [({"title": "Plan"}, "Plan"), ({"title": "Plan", "filename": "p.pdf"}, "p.pdf"), ({}, None)],
)
def test_a_file_is_uploaded_under_the_best_name_that_it_has(
    store: AttachmentStore, names: dict[str, str], name: str | None
) -> None:
    ref, provider = put(store, **names), Provider()
    resolve(store, provider, ref)
    assert provider.uploaded[0].name == (name or ref.artifact_id)


def test_another_revision_is_another_upload(store: AttachmentStore) -> None:
    provider = Provider()
    first = put(store, "acme", b"one")
    second = put(store, "acme", b"two", artifact_id=first.artifact_id)
    resolve(store, provider, first, second)
    assert provider.got == [b"one", b"two"]


def test_each_provider_has_its_own_upload(store: AttachmentStore) -> None:
    ref, one, two = put(store), Provider(), Provider()
    ports = store.ports("acme", {"openai": one, "anthropic": two})
    resolve_attachments([ref], "openai", "gpt-5", ports)
    resolve_attachments([ref], "anthropic", "claude-3", ports)
    assert (one.got, two.got) == ([b"abc"], [b"abc"])


class Unopened(Provider):
    """A provider that no file may reach."""

    def upload(self, file: FileToUpload) -> CachedFile:
        raise AssertionError("the bytes were opened")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mime": "text/plain"}, "the type is not that of the file"),
        ({"mime": "APPLICATION/PDF"}, "the type is not that of the file"),
        ({"digest": "sha256:00"}, "the digest is not that of the file"),
        ({"artifactId": "other"}, "there is no such file"),
        ({"representationRevisionId": "other"}, "there is no such file"),
        ({"artifactId": "a\u0000b"}, "there is no such file"),
    ],
)
def test_a_ref_that_says_other_than_the_store_is_refused_before_a_byte_is_read(
    store: AttachmentStore, changes: dict[str, str], reason: str
) -> None:
    resolved = resolve(store, Unopened(), changed(put(store), **changes))
    assert reasons(resolved) == [f"provider upload failed: {reason}"]


@pytest.mark.parametrize("form", [str.upper, lambda digest: digest.removeprefix("sha256:")])
def test_a_digest_may_be_written_in_other_ways(store: AttachmentStore, form: Any) -> None:
    ref = put(store)
    written = form(ref.digest).replace("SHA256:", "sha256:")
    assert resolve(store, Provider(), changed(ref, digest=written)).parts


def rule(**changes: Any) -> CapabilityRule:
    given = {
        "provider": "openai", "models": "gpt-5", "mimes": ("application/pdf",), "max_bytes": 3,
        "native_kind": "openai_input_file", "ttl": HOUR,
    }  # fmt: skip
    return CapabilityRule(**given | changes)  # type: ignore[arg-type]


def test_a_file_that_is_larger_than_it_says_is_refused_before_a_byte_is_read(
    store: AttachmentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = changed(put(store, "acme", b"abcd"), size=1)
    monkeypatch.setattr(
        type(store._files), "read_pieces", lambda *_: pytest.fail("the bytes were opened")
    )
    ports = store.ports("acme", {"openai": Unopened()})
    resolved = resolve_attachments([ref], "openai", "gpt-5", ports, rules=[rule()])
    assert reasons(resolved) == [
        "provider upload failed: the file has 4 bytes, and 3 may be at most"
    ]


def test_bytes_are_counted_on_their_way_out(store: AttachmentStore, owner_database: str) -> None:
    ref = changed(put(store, "acme", b"abcd"), size=3)
    lie(owner_database, "attachments", "size = 3")
    ports = store.ports("acme", {"openai": Provider()})
    resolved = resolve_attachments([ref], "openai", "gpt-5", ports, rules=[rule(max_bytes=3)])
    assert reasons(resolved) == [
        "provider upload failed: the bytes of the file are not those that were stored"
    ]


def test_bytes_that_were_changed_behind_the_store_are_not_sent_as_the_file(
    store: AttachmentStore, owner_database: str
) -> None:
    ref = put(store)
    lie(owner_database, "attachment_pieces", r"content = '\x616264'")
    resolved = resolve(store, Provider(), ref)
    assert reasons(resolved) == [
        "provider upload failed: the bytes of the file are not those that were stored"
    ]


def lie(dsn: str, table: str, change: str) -> None:
    """Change what nobody may, as the tables' owner with the triggers off."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"alter table oasflow.{table} disable trigger user".encode())
        connection.execute(f"update oasflow.{table} set {change}".encode())


def test_a_database_that_is_away_is_not_named_to_the_model(
    store: AttachmentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = put(store)

    def connection(_self: Database) -> Any:
        raise StoreError("the database canary at 10.0.0.7 failed")

    monkeypatch.setattr(Database, "connection", connection)
    resolved = resolve(store, Unopened(), ref)
    assert reasons(resolved) == ["provider upload failed: the store of the files cannot be reached"]


def test_a_provider_without_a_key_is_a_reason(store: AttachmentStore) -> None:
    ports = store.ports("acme", {})
    resolved = resolve_attachments([put(store)], "openai", "gpt-5", ports)
    assert reasons(resolved) == ["provider upload failed: this process uploads no files to openai"]


def test_a_deleted_file_is_not_read_from_the_cache_either(store: AttachmentStore) -> None:
    ref, provider = put(store), Provider()
    resolve(store, provider, ref)
    store.tombstone("acme", ref.artifact_id)
    resolved = resolve(store, provider, ref)
    assert reasons(resolved) == ["provider upload failed: there is no such file"]


# ------------------------------------------------------------------------ cache


def test_an_upload_that_has_expired_is_a_miss_and_its_successor_counts(
    store: AttachmentStore,
) -> None:
    ref, provider = put(store), Provider()
    resolve(store, provider, ref)
    store.uploads.put("acme", ref, "openai", CachedFile(provider_file_id="file-1"), -HOUR)
    assert store.uploads.get("acme", ref, "openai") is None
    (part,) = resolve(store, provider, ref).parts
    assert part.provider_file_id == "file-2"
    assert store.uploads.get("acme", ref, "openai") == CachedFile(
        provider_file_id="file-2", mime="application/pdf", size_bytes=3
    )


def test_an_upload_is_kept_for_as_long_as_the_rule_says(
    store: AttachmentStore, fresh_database: str
) -> None:
    resolve(store, Provider(), put(store))
    query = "select extract(epoch from expires_at - clock_timestamp()) from attachment_uploads"
    ((left,),) = rows(fresh_database, query)
    assert 5 * 3600 < left <= 6 * 3600


def test_what_has_expired_is_forgotten_and_what_was_renewed_meanwhile_stays(
    store: AttachmentStore,
) -> None:
    old, renewed, fresh = put(store), put(store), put(store)
    for ref, ttl in ((old, -HOUR), (renewed, -HOUR), (fresh, HOUR)):
        file = CachedFile(provider_file_id=f"of-{ref.artifact_id}")
        store.uploads.put("acme", ref, "openai", file, ttl)
    seen = {upload.artifact_id: upload for upload in store.uploads.expired("acme", "openai")}
    assert set(seen) == {old.artifact_id, renewed.artifact_id}
    store.uploads.put("acme", renewed, "openai", CachedFile(provider_file_id="new"), HOUR)
    assert store.uploads.evict(seen[old.artifact_id])
    assert not store.uploads.evict(seen[old.artifact_id])
    assert not store.uploads.evict(seen[renewed.artifact_id])
    kept = store.uploads.get("acme", renewed, "openai")
    assert kept is not None
    assert kept.provider_file_id == "new"


def test_an_upload_that_was_renewed_under_the_same_id_stays_too(store: AttachmentStore) -> None:
    ref, file = put(store), CachedFile(provider_file_id="file-1")
    store.uploads.put("acme", ref, "openai", file, -HOUR)
    (seen,) = store.uploads.expired("acme", "openai")
    store.uploads.put("acme", ref, "openai", file, HOUR)
    assert not store.uploads.evict(seen)


# ------------------------------------------------------------------------ tenants


def test_a_run_without_a_tenant_gets_no_ports(store: AttachmentStore) -> None:
    assert store.ports(None, {}) is None
    assert store.ports("", {}) is None


def test_two_tenants_crossed_in_every_door_see_nothing(store: AttachmentStore) -> None:
    ours, theirs = put(store, "acme", b"ours"), put(store, "beta", b"theirs")
    provider = Provider()
    resolve(store, provider, theirs, tenant="beta")
    crossed = resolve(store, Unopened(), theirs, tenant="acme")
    assert crossed.parts == ()
    assert reasons(crossed) == ["provider upload failed: there is no such file"]
    never = resolve(store, Unopened(), changed(theirs, artifactId="never"), tenant="acme")
    assert reasons(never) == reasons(crossed), "nobody learns that the file is there"
    assert list(store.read("acme", theirs)) == []
    assert store.find("acme", theirs.artifact_id, theirs.representation_revision_id) is None
    assert not store.tombstone("acme", theirs.artifact_id)
    assert store.uploads.get("acme", theirs, "openai") is None
    store.uploads.put("beta", theirs, "gemini", CachedFile(provider_file_id="x"), -HOUR)
    assert store.uploads.expired("acme", "gemini") == []
    # A revision under another tenant's artifact is a file of one's own.
    mine = put(store, "acme", b"mine", artifact_id=theirs.artifact_id)
    assert b"".join(store.read("acme", mine)) == b"mine"
    assert list(store.read("beta", mine)) == []
    assert b"".join(store.read("beta", theirs)) == b"theirs"
    assert b"".join(store.read("acme", ours)) == b"ours"


def test_files_of_two_tenants_with_the_very_same_ids_stay_apart(
    store: AttachmentStore, fresh_database: str
) -> None:
    ours = put(store, "acme", b"ours")
    columns = "artifact_id, revision_id, revision, sha256, mime, size, origin_kind, created_by"
    theirs = hashlib.sha256(b"them").hexdigest()
    with connect(fresh_database) as connection, connection.transaction():
        connection.execute(
            "insert into attachment_pieces (tenant, artifact_id, revision_id, place, content)"
            r" select 'beta', artifact_id, revision_id, place, '\x7468656d' from attachment_pieces"
        )
        connection.execute(
            f"insert into attachments (tenant, {columns}) select 'beta',"
            f" {columns.replace('sha256', '%s')} from attachments".encode(),
            [theirs],
        )
    assert b"".join(store.read("acme", ours)) == b"ours"
    assert b"".join(store.read("beta", ours)) == b"them"
    store.tombstone("beta", ours.artifact_id)
    assert b"".join(store.read("acme", ours)) == b"ours"


def test_a_row_that_is_put_under_another_tenant_s_file_serves_nobody(
    store: AttachmentStore,
) -> None:
    theirs = put(store, "beta", b"theirs")
    store.uploads.put("acme", theirs, "openai", CachedFile(provider_file_id="stolen"), HOUR)
    assert store.uploads.get("acme", theirs, "openai") is None, "acme has no such file"
    assert store.uploads.get("beta", theirs, "openai") is None, "beta has no such upload"


# ------------------------------------------------------------------------ what was written stays


@pytest.mark.parametrize(
    "change",
    [
        "update attachments set sha256 = repeat('0', 64)",
        "update attachments set tombstoned_at = null",
        "delete from attachments",
        r"update attachment_pieces set content = '\x00'",
        "delete from attachment_pieces",
        "truncate attachments, attachment_pieces",
    ],
)
@pytest.mark.parametrize("owner", [False, True], ids=["the role for runs", "the owner"])
def test_what_was_written_stays(
    store: AttachmentStore,
    fresh_database: str,
    owner_database: str,
    change: str,
    owner: bool,
) -> None:
    store.tombstone("acme", put(store).artifact_id)
    dsn = owner_database if owner else fresh_database
    with connect(dsn) as connection, pytest.raises(psycopg.Error):
        connection.execute(change)  # type: ignore[call-overload]


def test_bytes_without_their_file_are_refused_at_the_end(fresh_database: str) -> None:
    with connect(fresh_database) as connection, pytest.raises(psycopg.errors.ForeignKeyViolation):
        connection.execute(
            "insert into attachment_pieces (tenant, artifact_id, revision_id, place, content)"
            r" values ('acme', 'a', 'r', 0, '\x00')"
        )


def test_a_name_that_no_database_takes_is_told_plainly(store: AttachmentStore) -> None:
    with pytest.raises((StoreError, FlowError)):
        put(store, title="a\x00b")


def test_the_rules_of_the_package_are_those_that_the_ports_get(store: AttachmentStore) -> None:
    ref = put(store)
    found = find_capability("openai", "gpt-5", ref)
    assert isinstance(found, CapabilityRule)
    ports = store.ports("acme", {"openai": Provider()})
    assert ports is not None
    assert ports.provider_upload(ref, "openai", found).provider_file_id == "file-1"

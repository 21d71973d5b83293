"""Files of tenants: what is missing and what is another's are told in the same words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from cinatra_sdk.attachments import (
    AttachmentRef,
    CachedFile,
    aresolve_attachments,
    read_ref,
    resolve_attachments,
)
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.run import evidence as evidence_module
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.outside.models.uploads import FileToUpload
from cinatra_sdk.postgres import connection as statements
from cinatra_sdk.store.artifacts import attachment_store
from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.evidence.governance_sources import stored_evidence
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of

OWN, OTHER = "acme", "rival"


class Provider:
    """Takes every file, to its last byte."""

    def upload(self, file: FileToUpload) -> CachedFile:
        size = sum(map(len, file.chunks))
        return CachedFile(provider_file_id="file-1", mime=file.mime, size_bytes=size)


def put(store: AttachmentStore, tenant: str, content: bytes) -> AttachmentRef:
    return store.add(
        tenant, [content], mime="application/pdf", created_by="ann", max_bytes=1_000, title="Plan"
    )


def make_ref(store: AttachmentStore, how: dict[str, Any]) -> AttachmentRef:
    """The ref that is asked with, after what happened to its file."""
    own, other = put(store, OWN, b"own"), put(store, OTHER, how.get("content", "other").encode())
    ref, tenant = (other, OTHER) if how["of"] == "other" else (own, OWN)
    if how["of"] == "nobody":
        return read_ref({**own.wire(), "artifactId": "att_of_nobody"})
    if "uploaded" in how:
        resolve_attachments([ref], "openai", "gpt-5", store.ports(tenant, {"openai": Provider()}))
    if "deleted" in how:
        assert store.tombstone(tenant, ref.artifact_id)
    if "revision" in how:
        revision = (
            other.representation_revision_id if how["revision"] == "other" else how["revision"]
        )
        return read_ref({**ref.wire(), "representationRevisionId": revision})
    return ref


def ask_model(store: AttachmentStore, tenant: str, ref: AttachmentRef) -> str:
    ports = store.ports(tenant, {"openai": Provider()})
    made = resolve_attachments([ref], "openai", "gpt-5", ports)
    return "uploaded" if made.parts else made.unreadable[0].reason


def ask_model_on_a_loop(store: AttachmentStore, tenant: str, ref: AttachmentRef) -> str:
    ports = store.ports(tenant, {"openai": Provider()})
    made = asyncio.run(aresolve_attachments([ref], "openai", "gpt-5", ports))
    return "uploaded" if made.parts else made.unreadable[0].reason


def find(store: AttachmentStore, tenant: str, ref: AttachmentRef) -> str:
    found = store.find(tenant, ref.artifact_id, ref.representation_revision_id)
    return "found" if found == ref else str(found)


def read(store: AttachmentStore, tenant: str, ref: AttachmentRef) -> str:
    return "read" if b"".join(store.read(tenant, ref)) else "no bytes"


DOORS: dict[str, Callable[[AttachmentStore, str, AttachmentRef], str]] = {
    "given to a model": ask_model,
    "given to a model on an event loop": ask_model_on_a_loop,
    "its ref asked for": find,
    "its bytes read": read,
    "deleted by a stranger": lambda store, tenant, ref: str(store.tombstone(tenant, ref.artifact_id)),
}  # fmt: skip


def as_evidence(database: Database, tenant: str, ref: AttachmentRef) -> str:
    run: Any = SimpleNamespace(tenant_id=tenant)
    digest = ref.digest.removeprefix("sha256:")
    told = stored_evidence(database)["attachment"](
        f"attachment:{ref.artifact_id}#sha256:{digest}", run
    )
    return "None" if told is None else "found"


HASH = "sha256:" + 64 * "0"
ASKED, UNASKED = f"attachment:att_1#{HASH}", f"attachment:att_2#{HASH}"
GIVEN: dict[str, Any] = {
    "nothing": None,
    "own": Evidence(ASKED, HASH, OWN, text="Plan"),
    "other": Evidence(ASKED, HASH, OTHER, text="Plan"),
    "wrong": Evidence(UNASKED, HASH, OWN, text="Plan"),
    "wrong other": Evidence(UNASKED, HASH, OTHER, text="Plan"),
    "other bytes": Evidence(ASKED, "sha256:" + 64 * "1", OWN, text="Plan"),
}


def by_a_reader(gives: str) -> str:
    run: Any = SimpleNamespace(tenant_id=OWN)
    readers: Any = {} if gives == "no reader" else {"attachment": lambda _ref, _run: GIVEN[gives]}
    try:
        evidence_module.resolve_evidence([ASKED], run, readers, {})
    except GovernanceRefused as refused:
        return f"{refused.code}: {refused.message}"
    return "found"


def attempt(attack: Attack, place: Place) -> str:
    if "gives" in attack.value:
        return by_a_reader(attack.value["gives"])
    database = Database.open(place.database)
    try:
        store = AttachmentStore(database)
        ref, tenant = make_ref(store, attack.value), attack.value.get("asked_by", OWN)
        if attack.door == "as evidence of a governed run":
            return as_evidence(database, tenant, ref)
        return DOORS[attack.door](store, tenant, ref)
    finally:
        database.close()


# ------------------------------------------------------------------ doors, opened on purpose


@contextmanager
def _of_any_tenant(place: Place) -> Iterator[None]:
    """The files are looked for without their tenant."""

    def load(connection: Any, name: str, key: dict[str, Any]) -> Any:
        reads = name in ("load_attachment", "load_attachment_piece")
        return statements.one(connection, name, {**key, "tenant": OTHER} if reads else key)

    with place.monkeypatch.context() as patched:
        patched.setattr(attachment_store, "one", load)
        yield


@contextmanager
def _in_other_words(place: Place) -> Iterator[None]:
    """Another tenant's file is refused in words of its own."""
    real = attachment_store.TenantAttachmentPorts._load

    def load(self: Any, ref: AttachmentRef) -> Any:
        found = real(self, ref)
        if found is None and self.files.load(
            OTHER, ref.artifact_id, ref.representation_revision_id
        ):
            raise attachment_store.AttachmentUnreadable("the file is another tenant's")
        return found

    with place.monkeypatch.context() as patched:
        patched.setattr(attachment_store.TenantAttachmentPorts, "_load", load)
        yield


CONTROLS = {
    "the tenant is not asked": Control(
        open=_of_any_tenant, row="its_ref_asked_for-another_tenant's"
    ),
    "the bytes are any tenant's": Control(
        open=_of_any_tenant, row="its_bytes_read-another_tenant's"
    ),
    "the words differ": Control(open=_in_other_words, row="given_to_a_model-another_tenant's"),
}
test_attack, test_twin, test_control = tests_of("attachments", attempt, CONTROLS)

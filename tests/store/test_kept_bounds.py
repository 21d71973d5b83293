"""Texts that are kept have bounds: the one that does not fit is named, and no driver's error is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cinatra_sdk import RunStore
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.data.text.person_texts import BOUNDS, describe_fault, find_fault
from cinatra_sdk.errors import FlowError, InputInvalid, StoreError, StoreUnreachable, ValueRefused
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore, LoadedArtifact
from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore
from cinatra_sdk.store.artifacts.object_store import ObjectContent, SavedObjects
from cinatra_sdk.store.evidence.governance_sources import StoredPacks
from cinatra_sdk.store.evidence.memory_proposals import MemoryProposals
from oas_compiler import compile_flow
from tests.databases import Databases
from tests.flows import end, flow_of, start
from tests.sources import ROOT

ODD: dict[str, Any] = {
    "NUL": "a\0b", "half of a pair": "\ud800", "a number": 7, "without end": "x" * 10_000_001,
}  # fmt: skip
SAID = {
    "NUL": "U+0000", "half of a pair": "U+D800", "a number": "no text",
    "without end": "characters",
}  # fmt: skip
ARTIFACT = {"org_id": "o", "owner_id": "ann", "visibility": "org"}
LOADED: dict[str, Any] = {"id": "a", "content": "", "extensions": (), **ARTIFACT}
FILE: dict[str, Any] = {"mime": "text/plain", "created_by": "ann", "max_bytes": 10}
Door = Callable[[RunStore, Any], Any]


def _save(store: RunStore, *, kind: Any = "t", mime: Any = "text/plain", **named: Any) -> Any:
    content = ObjectContent(type=kind, mime=mime, content=b"x")
    return SavedObjects(store.database).save(content, **{"org_id": "o", "run_id": "r", **named})


def _artifacts(store: RunStore) -> ArtifactStore:
    return ArtifactStore(store.database)


def _adding(name: str) -> Door:
    return lambda store, odd: _artifacts(store).add(**{**ARTIFACT, name: odd})


def _loading(name: str) -> Door:
    return lambda store, odd: _artifacts(store).load([LoadedArtifact(**{**LOADED, name: odd})])


def _attaching(name: str) -> Door:
    return lambda store, odd: AttachmentStore(store.database).add(
        "t", [b"x"], **{**FILE, name: odd}
    )


def _saving(name: str) -> Door:
    return lambda store, odd: _save(store, **{name: odd})


DOORS: dict[str, tuple[Door, type[FlowError]]] = {
    **{f"add an artifact: {name}": (_adding(name), ContextError) for name in
       ("org_id", "owner_id", "owner_level", "visibility", "name", "content", "artifact_id", "kind")},
    **{f"load an artifact: {name}": (_loading(name), ContextError) for name in
       ("id", "org_id", "owner_id", "visibility", "name", "content")},
    "revise": (lambda store, odd: _artifacts(store).revise("a", odd), ContextError),
    "classify": (lambda store, odd: _artifacts(store).classify("a", odd), ContextError),
    **{f"attach: {name}": (_attaching(name), InputInvalid) for name in
       ("mime", "created_by", "title", "filename", "artifact_id")},
    **{f"save: {name}": (_saving(name), ValueRefused) for name in
       ("kind", "mime", "org_id", "run_id", "key", "object_id")},
    "a pack": (lambda store, odd: StoredPacks(store.database).load(odd, tenant="t"), GovernanceRefused),
}  # fmt: skip


@pytest.fixture(scope="module")
def store(databases: Databases) -> Iterator[RunStore]:
    dsn = databases.take()
    with RunStore.open(dsn) as opened:
        yield opened
    databases.give_back(dsn)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("door", DOORS)
def test_a_text_that_does_not_fit_is_named_by_the_door(
    door: str, odd: str, store: RunStore
) -> None:
    act, error = DOORS[door]
    with pytest.raises(error) as refused:
        act(store, ODD[odd])
    told = str(refused.value)
    assert len(told) < 400
    if error is not GovernanceRefused:
        assert SAID[odd] in told


@pytest.mark.parametrize(
    "act",
    [
        lambda store, odd: _artifacts(store).content(odd),
        lambda store, odd: _artifacts(store).delete(odd),
        lambda store, odd: SavedObjects(store.database).get(odd, org_id="o"),
        lambda store, odd: MemoryProposals(store.database).list_open(tenant=odd),
    ],
    ids=["content", "delete", "get", "list"],
)
@pytest.mark.parametrize("odd", ["a\0b", "\ud800", 7])
def test_a_name_that_is_only_looked_up_brings_no_words_of_the_driver(
    act: Door, odd: Any, store: RunStore
) -> None:
    with pytest.raises(FlowError) as refused:
        act(store, odd)
    told = str(refused.value)
    assert not isinstance(refused.value, StoreUnreachable)
    assert not any(
        word in told for word in ("is it running", "operator does not exist", "DataError")
    )


def test_a_name_that_no_index_takes_is_no_server_that_cannot_be_reached(store: RunStore) -> None:
    from cinatra_sdk.postgres.connection import run

    row = {
        "id": "x" * 2_000_000, "org_id": "o", "type": "t", "name": "", "owner_id": "ann",
        "owner_level": "user", "visibility": "org",
    }  # fmt: skip
    told = pytest.raises(StoreError, match="longer than a database can look up")
    with told as refused, store.database.connection() as connection:
        run(connection, "insert_object", row)
    assert not isinstance(refused.value, StoreUnreachable)


def test_a_flow_with_a_name_without_end_leaves_no_run_behind(store: RunStore) -> None:
    flow = compile_flow({**flow_of(start(), end()), "name": "n" * 1_001})
    with pytest.raises(InputInvalid, match="the name of the flow has more than 1,000 characters"):
        store.start(flow, {}, "r1")
    assert store.list() == []


@pytest.mark.parametrize("what", BOUNDS)
def test_a_text_of_exactly_the_bound_fits_and_one_more_letter_does_not(what: str) -> None:
    most = BOUNDS[what]
    assert find_fault("é" * most, what) == ""
    assert find_fault("é" * (most + 1), what) == f"has more than {most:,} characters"
    assert describe_fault({what: None}) == f"the {what} is missing"
    assert describe_fault({what: None}, may_lack=frozenset({what})) == ""


def test_the_table_of_the_docs_is_that_of_the_code() -> None:
    page = (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8")
    table = "".join(f"| {what} | {most:,} |\n" for what, most in BOUNDS.items())
    assert f"|---|---|\n{table}\n" in page

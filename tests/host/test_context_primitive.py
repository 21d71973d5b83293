"""context_resolve: a slot of a document, resolved outside of a run."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.context import ContextError
from cinatra_sdk.host import context_resolve
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from tests.host.local_world import ANN, REGISTRY, VOICE, fill

SLOT = {
    "slotId": "voice",
    "acceptedArtifactExtensions": [VOICE],
    "selectionMode": "interactive",
    "resolutionMode": "accumulate",
}


def document(*slots: Any) -> dict[str, Any]:
    return {"metadata": {"cinatra": {"contextSlots": list(slots)}}}


@pytest.fixture
def host(fresh_database: str):
    database = Database.open(fresh_database)
    artifacts = ArtifactStore(database)
    fill(artifacts)
    yield {"artifacts": artifacts, "registry": REGISTRY, "actor": ANN}
    database.close()


def test_a_slot_of_a_document_is_resolved_and_nothing_is_recorded(host):
    found = context_resolve(document(SLOT), "voice", **host)
    assert (found["slotId"], found["resolutionMode"]) == ("voice", "accumulate")
    assert [ref["artifactId"] for ref in found["refs"]] == ["a", "b"]
    assert host["artifacts"].selections("o1", "") == []


def test_a_project_of_the_actor_offers_what_is_in_it_and_another_one_nothing(host):
    inside = context_resolve(document(SLOT), "voice", "p1", **host)
    assert [ref["artifactId"] for ref in inside["refs"]] == ["p"]
    assert context_resolve(document(SLOT), "voice", "p2", **host)["refs"] == []


@pytest.mark.parametrize(
    ("oas", "code"),
    [
        (document(SLOT, SLOT), "slot_ambiguous"),
        (document(), "slot_missing"),
        (document(SLOT | {"installedExtensions": ["@x/icp"]}), "oas_missing"),
        (document(SLOT | {"minItems": 2, "maxItems": 1}), "oas_missing"),
        ({"metadata": {}}, "oas_missing"),
    ],
)
def test_what_cannot_be_resolved_says_why(host, oas, code):
    with pytest.raises(ContextError) as raised:
        context_resolve(oas, "voice", **host)
    assert raised.value.code == code

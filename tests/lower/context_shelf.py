"""Artifacts for a slot of two extensions, as a small company might have them, and how a run ends up.

Ann of organisation o1 is in team t1 and project p1.  `Shelf(store).fill(first, second)` loads

    visible to her     own (user)  team (team)  brief, style (organization)  all-1, all-2 (workspace)
    in her project     plan-1, plan-2 (project), only where the project is given
    not hers           another org, team, project, person; nobody's; draft, archived, deleted, …

`style` is of an extension that satisfies `first`; "style-loud" is of one that satisfies only that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

from cinatra_sdk.context import Actor, InstalledExtensions
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore

Json = dict[str, Any]
ORG = "o1"
ANN = Actor(
    org_id=ORG, principal_id="ann", team_ids=frozenset({"t1"}), project_ids=frozenset({"p1"})
)
STYLE, LOUD = "@acme/house-style-artifact", "@acme/loud-style-artifact"
IN_ORDER = ("own", "team", "brief", "style", "all-1", "all-2")
"""What a person is shown of them: narrow to broad, then by id."""
FIVE = IN_ORDER[:5]
"""What an autonomous slot with at most five takes."""
GROUPS = [
    {"scope": "user", "candidates": [0]},
    {"scope": "team", "candidates": [1]},
    {"scope": "organization", "candidates": [2, 3]},
    {"scope": "workspace", "candidates": [4, 5]},
]
COLUMNS = (
    "org_id", "parent_run_id", "parent_package_name", "slot_id", "artifact_id",
    "representation_revision_id", "semantic_assertion_id", "extension", "source_scope",
    "selected_by", "selection_mode",
)  # fmt: skip


def registry(first: str) -> InstalledExtensions:
    return InstalledExtensions({STYLE: [first], LOUD: [STYLE], "@acme/other-artifact": []})


class Shelf:
    """Loads artifacts and remembers each as the ref that a resolve has to give for it."""

    def __init__(self, store: ArtifactStore) -> None:
        self.store = store
        self.refs: dict[str, Json] = {}

    def put(self, id_: str, visibility: str, extension: str, scope: str, **more: Any) -> None:
        owner, how = more.pop("owner_id", "bob"), more.pop("eligibility", "eligible")
        given = {"org_id": ORG, "owner_id": owner} | more
        self.store.add(artifact_id=id_, visibility=visibility, content=None, **given)
        # An older revision below the one that counts.
        self.store.revise(id_, f"{id_} as it was")
        self.refs[id_] = {
            "artifactId": id_,
            "representationRevisionId": self.store.revise(id_, id_),
            "semanticAssertionId": self.store.classify(id_, extension, eligibility=how),
            "extension": extension,
            "sourceScope": scope,
            "ownerId": owner,
        }

    def fill(self, first: str, second: str) -> Shelf:
        self.put("own", "private", first, "user", owner_id="ann")
        self.put("team", "team:t1", second, "team")
        self.put("brief", "org", second, "organization")
        self.put("style", "org", STYLE, "organization")
        self.put("all-1", "workspace", first, "workspace")
        self.put("all-2", "workspace", second, "workspace")
        self.put("plan-1", "project:p1", first, "project")
        self.put("plan-2", "project:p1", second, "project")
        self._strangers(first)
        return self

    def _strangers(self, first: str) -> None:
        self.put("x-org", "org", first, "organization", org_id="o2")
        self.put("x-workspace", "workspace", first, "workspace", org_id="o2")
        self.put("x-anns-elsewhere", "private", first, "user", org_id="o2", owner_id="ann")
        self.put("x-team", "team:t2", first, "team")
        self.put("x-project", "project:p2", first, "project")
        self.put("x-private", "private", first, "user")
        self.put("x-draft", "org", first, "organization", eligibility="draft")
        self.put("x-archived", "org", first, "organization")
        self.store.archive(self.refs["x-archived"]["semanticAssertionId"])
        self.put("x-deleted", "org", first, "organization")
        self.store.delete("x-deleted")
        self.put("x-kind", "org", first, "organization", kind="@acme/other:object")
        self.put("x-other", "org", "@acme/other-artifact", "organization")
        self.put("style-loud", "org", LOUD, "organization")
        # Nobody's can have neither revision nor classification.
        self.store.add(artifact_id="x-null", org_id=None, owner_id="ann", visibility="org")

    def of(self, *ids: str) -> list[Json]:
        return [self.refs[id_] for id_ in ids]

    def rows(self, *ids: str, about: Mapping[str, str]) -> list[tuple[str, ...]]:
        """The audit rows that selecting these has to leave, in the order of `COLUMNS`."""
        return [
            (
                ORG, about["run"], about["package"], about["slot"], id_,
                self.refs[id_]["representationRevisionId"], self.refs[id_]["semanticAssertionId"],
                self.refs[id_]["extension"], self.refs[id_]["sourceScope"],
                about["by"], about["mode"],
            )
            for id_ in sorted(ids)
        ]  # fmt: skip


def audit(dsn: str) -> tuple[list[tuple[str, ...]], list[list[str]]]:
    """All rows of the audit table, and the places that each batch gave its rows."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(
            f"select id, {', '.join(COLUMNS)} from oasflow.run_context_selections"
            " order by selected_at, artifact_id"
        ).fetchall()
    batches: dict[str, list[str]] = {}
    for row in rows:
        key, _, place = row[0].partition(":")
        batches.setdefault(key, []).append(place)
    return [tuple(row[1:]) for row in rows], [sorted(places) for places in batches.values()]


class Watched:
    """A platform with a list of every call that reached it, answered or not."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.calls: list[tuple[PlatformCall, Any]] = []

    def call(self, call: PlatformCall) -> Any:
        answer = None
        try:
            answer = self.inner.call(call)
        finally:
            self.calls.append((call, answer))
        return answer

    async def acall(self, call: PlatformCall) -> Any:
        return self.call(call)

    def describe(self) -> Json:
        return self.inner.describe()

    @property
    def nodes(self) -> list[str]:
        return [call.node for call, _ in self.calls]

    def answer(self, route: str) -> Any:
        """The answer of the one call to `/api/<route>`."""
        (found,) = [answer for call, answer in self.calls if call.url.endswith(f"/api/{route}")]
        return found

    def body(self, node: str) -> Any:
        """The body of the one call of a node."""
        (found,) = [call.body for call, _ in self.calls if call.node == node]
        return found

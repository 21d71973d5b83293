"""The runs of a store as a directory: each run's owner, from the platform that it was started with.

    runs = StoredRuns(database)
    runs.scope("r1")        RunScope(org_id="acme", actor=ann, package_name="@x/writer", slots=(…))
    runs.seen_by("r1", ann) the same, for calls that run r1 makes on behalf of ann

Package and slots come from the bytes of the flow that the run is pinned to.  Owner, project and
installed extensions come from the description of the platform that the run was started with.  A run
that was started with another kind of platform has no owner here.

A run selects for itself.  A run whose settings have `selectsForOtherRuns` may select for another
run of the same owner and tenant with the same installed extensions.  The flow's name grants
nothing: the author writes the name, the host writes the settings.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.context.candidates import Actor
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot, DeclaredSlots, together
from cinatra_sdk.contract import ENDED
from cinatra_sdk.host.host_settings import LocalSettings, is_standalone, read_settings
from cinatra_sdk.host.run_directory import ParentSelection, RunDirectory, RunScope
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.outside.routes import RunOwner
from cinatra_sdk.postgres.connection import one
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.flows.flow_protocol import load_declared_slots

KNOWN_FLOWS: Final = 128
"""Number of recently used flows whose slots a directory keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """The row of a run, parsed."""

    tenant: str
    has_ended: bool
    """Completed, rejected or stopped: no selection is made for such a run."""
    settings: LocalSettings | None
    """`None` where the run was not started on a standalone platform, or the description is
    unreadable.
    """
    declared: DeclaredSlots | ContextError

    @property
    def owner(self) -> tuple[str, str, str] | None:
        if self.settings is None:
            return None
        actor = self.settings.actor
        return self.tenant, actor.org_id, actor.principal_id

    @property
    def package_name(self) -> str:
        if isinstance(self.declared, ContextError):
            return ""
        fallback = self.settings.package_name if self.settings is not None else None
        return self.declared.package_name or fallback or ""


@dataclass(frozen=True, slots=True)
class StoredRuns:
    """Every run of one database; safe to share between threads."""

    database: Database
    _flows: OrderedDict[str, DeclaredSlots | ContextError] = field(
        default_factory=OrderedDict, repr=False
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def scope(self, run_id: str) -> RunScope | None:
        """Raises: `ContextError` where the flow's slots cannot be read; `StoreError`."""
        stored = self.stored(run_id)
        return None if stored is None else build_run_scope(run_id, stored)

    def seen_by(self, run_id: str, actor: Actor) -> RunDirectory:
        """The runs that a call of run `run_id` may be about, made on behalf of `actor`."""
        return _Seen(self, run_id, actor)

    def stored(self, run_id: str) -> StoredRun | None:
        """The stored run; `None` where it does not exist.  Raises: `StoreError`."""
        with self.database.connection() as connection:
            row = one(connection, "load_run_platform", {"run_id": run_id})
        if row is None:
            return None
        return StoredRun(
            tenant=row["tenant"],
            has_ended=row["status"] in ENDED,
            settings=_find_settings(row["platform"]),
            declared=self._load_declared_slots(row["digest"]),
        )

    def _load_declared_slots(self, digest: str) -> DeclaredSlots | ContextError:
        """The slots of the flow with this digest; read once, because the bytes of a digest never
        change.

        Raises: `StoreError` where nothing is installed that can read them.
        """
        with self._lock:
            known = self._flows.get(digest)
            if known is not None:
                self._flows.move_to_end(digest)
                return known
        with self.database.connection() as connection:
            row = one(connection, "load_flow", {"digest": digest})
        assert row is not None  # the run's row refers to it
        made: DeclaredSlots | ContextError
        try:
            made = load_declared_slots(bytes(row["source"]), digest=digest)
        except ContextError as error:
            made = error
        with self._lock:
            self._flows[digest] = made
            while len(self._flows) > KNOWN_FLOWS:
                self._flows.popitem(last=False)
        return made


@dataclass(frozen=True, slots=True)
class _Seen:
    """The runs that calls of one run may concern."""

    runs: StoredRuns
    caller: str
    actor: Actor

    def scope(self, run_id: str) -> RunScope | None:
        calling = self.runs.stored(self.caller)
        if calling is None or calling.owner is None:
            raise ContextError(
                "run_mismatch",
                "the call does not come from a run of this store that names its owner",
            )
        if calling.owner[1:] != (self.actor.org_id, self.actor.principal_id):
            raise ContextError(
                "actor_unresolved",
                "the run continues for another person than the one it was started for",
            )
        if run_id == self.caller:
            return build_run_scope(run_id, calling)
        assert calling.settings is not None  # a run with an owner has settings
        if not calling.settings.selects_for_other_runs:
            raise ContextError(
                "run_mismatch",
                "a run selects context for itself, unless its host says selectsForOtherRuns",
            )
        named = self.runs.stored(run_id)
        # Answer the same for another owner's run and for a run that does not exist, so that callers
        # cannot probe for ids.
        if named is None or named.settings is None or named.owner != calling.owner:
            return None
        # The answer comes from the caller's platform, so its extensions would decide what counts
        # as an accepted artifact in a run that has others.
        if _map_installed_extensions(named.settings) != _map_installed_extensions(calling.settings):
            raise ContextError(
                "run_mismatch",
                "the run that is selected for was started with other installed extensions",
                hint="start the selecting run with the same extensions as the one it selects for",
            )
        return build_run_scope(run_id, named)


def _map_installed_extensions(settings: LocalSettings) -> dict[str, frozenset[str]]:
    """Extension → the extensions that it satisfies, without their order."""
    return {name: frozenset(satisfied) for name, satisfied in settings.extensions.items()}


def _find_settings(description: Mapping[str, JsonValue]) -> LocalSettings | None:
    if not is_standalone(description):
        return None
    try:
        return read_settings(description)
    except ValueError:
        return None


def build_run_scope(run_id: str, stored: StoredRun) -> RunScope:
    settings, declared = stored.settings, stored.declared
    if stored.has_ended:
        raise ContextError(
            "run_missing", "the run has ended, and the host answers no call of it any more"
        )
    if isinstance(declared, ContextError):
        raise ContextError(declared.code, str(declared))
    package = stored.package_name
    slots: dict[str, tuple[AgentContextSlot, ...]] = {}
    for name, found in declared.slots.items():
        slots[name or package] = together(slots.get(name or package, ()), found)
    embedded = dict(settings.packages) if settings is not None else {}
    for name, found in slots.items():
        # The run is pinned to its flow, so the flow's declaration of a package wins over the
        # host's. But a copy of a flow must not change a slot that the host declares differently,
        # such as a slot that asks a person: two different declarations make the slot ambiguous.
        ids = {slot.slot_id for slot in found}
        other = (slot for slot in embedded.get(name, ()) if slot.slot_id in ids)
        if found:
            embedded[name] = together(found, other)
    embedded.pop(package, None)
    return RunScope(
        org_id=settings.actor.org_id if settings is not None else "",
        actor=settings.owner if settings is not None else None,
        package_name=package,
        slots=slots.get(package, ()),
        project_id=(settings.project_id or "") if settings is not None else "",
        embedded=embedded,
        inherited={
            child: ParentSelection(run_id=run_id, package_name=parent or package, slot_id=slot_id)
            for child, (parent, slot_id) in declared.agreed.items()
            if child[0] != package  # the package may come from the settings
        },
    )


# ----------------------------------------------------------------------------
# The runs of a database as a platform that is served over HTTP knows them.
#
#     `runs = ServedRuns(database, settings, tenant="")`
#     runs.run_of_conversation("r1")     "r1", where the database has such a run of the tenant
#     runs.scope("r1").org_id            the organisation of the settings
#
# Who serves the platform speaks for one organisation: every run of the tenant is that organisation's, also
# one that another process drives and whose row names no owner.  A run's conversation has the id of the run.


@dataclass(frozen=True, slots=True)
class ServedRuns:
    """See above; safe to share between threads."""

    database: Database
    settings: LocalSettings
    tenant: str
    stored_runs: StoredRuns

    @classmethod
    def of(cls, database: Database, settings: LocalSettings, *, tenant: str = "") -> ServedRuns:
        return cls(database, settings, tenant, StoredRuns(database))

    def scope(self, run_id: str) -> RunScope | None:
        stored = self._find(run_id)
        if stored is None:
            return None
        return build_run_scope(run_id, replace(stored, settings=self.settings))

    def run_of_conversation(self, context_id: str) -> str | None:
        return None if self._find(context_id) is None else context_id

    def _find(self, run_id: str) -> StoredRun | None:
        if not run_id or "\x00" in run_id:
            return None
        stored = self.stored_runs.stored(run_id)
        return stored if stored is not None and stored.tenant == self.tenant else None


def identify_by(runs: ServedRuns) -> Callable[[PlatformCall], RunOwner]:
    """Whose call it is: of the run that the proofs of a request name; nobody's where there is none."""

    def identify(call: PlatformCall) -> RunOwner:
        try:
            scope = runs.scope(call.run_id) if call.run_id else None
        except ContextError:
            scope = None  # it has ended, or its flow cannot be read: nobody acts for it
        if scope is None or scope.actor is None:
            return RunOwner()
        return RunOwner(run_id=call.run_id, tenant=scope.org_id, person=scope.actor.principal_id)

    return identify

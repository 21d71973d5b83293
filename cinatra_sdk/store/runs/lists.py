"""Reads of a run store: one run, lists of runs, their decisions, their flows.

`tenant=` restricts a method to that tenant's runs: other runs count as missing.  None: every
tenant's runs.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, Unpack

from cinatra_sdk.contract import is_known_risk
from cinatra_sdk.errors import InputInvalid, RunNotFound
from cinatra_sdk.events import RunEvent
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.models.totals import ModelUsage, total_usage
from cinatra_sdk.postgres.connection import Row, every, one
from cinatra_sdk.runs import Run
from cinatra_sdk.store.arguments import check_arguments, check_kinds, check_names, check_word
from cinatra_sdk.store.async_twins import Threads, in_thread
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.decisions.asked_gates import AskedGate, load_asked_gate
from cinatra_sdk.store.decisions.decision_rows import GateDecision, describe_decision
from cinatra_sdk.store.flows.flow_protocol import DurableFlow, load_answer_rules
from cinatra_sdk.store.lists.list_filters import (
    LIST_OF,
    NEWEST_CHANGE,
    RUN_ORDERS,
    GateCondition,
    GateFilter,
    NeedFilter,
    RunCondition,
    RunFilter,
    read_conditions,
)
from cinatra_sdk.store.pages import PAGE, GatePage, Page, read_cursor, read_page, write_cursor
from cinatra_sdk.store.runs.flow_cache import KnownFlows, refuse_other_names
from cinatra_sdk.store.runs.needs import (
    NEED_KINDS,
    NeedPage,
    conditions_of,
    read_need,
    refuse_unknown_risk,
)
from cinatra_sdk.store.runs.run_events import (
    EFFECT_STATUSES,
    EffectRecord,
    EffectStatus,
    Stretch,
    list_stretches,
    make_follower,
)
from cinatra_sdk.store.runs.run_rows import load_row, read_open_gates, run_of
from cinatra_sdk.store.runs.settlement import (
    Settlement,
    UnknownEffect,
    list_settlements,
    list_unknown,
)

if TYPE_CHECKING:
    from cinatra_sdk.attachments import AnswerRule


# ----------------------------------------------------------------------------
# The run that a person means by a shortened id.
#
# In: the typed text and the candidate runs, an exact match first.
# Out: one run id, or `RunNotFound`.
#
#     "3f2a" among 3f2a91bc77d0            3f2a91bc77d0
#     "mail" among mail, mail-2            mail: a whole id wins
#     "mail" among mail-2, to be approved  RunNotFound: an id that a person chose cannot be shortened


_MADE_UP: Final = re.compile(r"[0-9a-f][0-9a-f-]{11,}")
"""The form of ids that the store and the command line make; people choose other ids."""
SHORTEST: Final = 4
"""Fewest characters of a made-up id that name a run for an action."""


def the_one_meant(
    typed: str, rows: Sequence[Mapping[str, Any]], *, tenant: str | None, to_act: bool
) -> str:
    """The run that a person means by a shortened id.

    Raises: `RunNotFound` when no run fits, or several do.
    """
    if not typed:
        raise RunNotFound("the run id is empty", hint="see oasflow runs")
    if not rows:
        hint = "see oasflow runs"
        if tenant is None:
            hint += "; the run of a tenant is named whole, or with its tenant (--tenant)"
        raise RunNotFound(f"no run begins with '{typed}'", hint=hint)
    first = str(rows[0]["run_id"])
    whole = first == typed
    # Another person may have chosen an id that is the beginning of a longer id.
    strangers = whole and len({row["tenant"] for row in rows}) > 1
    if strangers or (not whole and len(rows) > 1):
        hint = "name the run's tenant" if strangers else "see oasflow runs"
        raise RunNotFound(f"several runs begin with '{typed}'", hint=hint)
    if to_act and not whole and not (_MADE_UP.fullmatch(first) and len(typed) >= SHORTEST):
        raise RunNotFound(
            f"there is no run '{typed}'",
            hint=f"'{first}' begins so: to act on a run, write the whole of an id that was given to "
            f"it, and at least {SHORTEST} characters of another",
        )
    return first


Runs: TypeAlias = list[Run]
Names: TypeAlias = list[str]
GateDecisions: TypeAlias = list[GateDecision]
Events: TypeAlias = list[RunEvent]
Stretches: TypeAlias = list[Stretch]
UnknownEffects: TypeAlias = list[UnknownEffect]
Settlements: TypeAlias = list[Settlement]


_NAMES: Final = ("run_id", "tenant", "flow", "started_by", "risk", "text", "kind")
"""Filters that are texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What a run has asked people in its life."""

    asked: int
    """Each visit of a gate, and each thing that it showed, counts."""
    last: str
    """What a person decided last, who and when; empty where nobody has."""


@check_arguments
class RunReader:
    """The reading half of a run store; safe to share between threads."""

    _database: Database
    _flows: KnownFlows
    _threads: Threads

    def get(self, run_id: str, *, tenant: str | None = None) -> Run:
        """Raises: `RunNotFound`."""
        return self._get(run_id, tenant)

    def _get(self, run_id: str, tenant: str | None = None) -> Run:
        """As `get`; a person's store asks nobody here: for what its acts give back."""
        with self._database.connection() as connection:
            return run_of(load_row(connection, run_id, tenant))

    def list(self, **wanted: Unpack[RunFilter]) -> Runs:
        """Runs, the latest change first unless `order` says otherwise; at most `limit`, by default 100: see
        `page` for more.
        """
        refuse_other_names(wanted, RunFilter, "RunStore.list()")
        return [*self.page(**wanted).items]

    def page(self, **wanted: Unpack[RunFilter]) -> Page[Run]:
        """As `list`, with the cursor of the next page.

        A run that changes between two pages moves to the front, and is not listed again; in the order of
        starts none moves.

        Raises: `InputInvalid` for another list's cursor, or that of another order, and for a status that no
        run has.
        """
        refuse_other_names(wanted, RunFilter, "RunStore.page()")
        check_word("order", wanted.get("order"), RUN_ORDERS)
        order = wanted.get("order") or NEWEST_CHANGE
        told = (order,) if order != NEWEST_CHANGE else ()
        at, (run_id, *named) = read_cursor(wanted.get("after", ""), names=1 + len(told))
        if at is not None and (*named,) != told:
            raise InputInvalid(
                f"the cursor is of another order than '{order}'", hint="begin with the first page"
            )
        given = read_conditions(wanted)
        rows, following = self._read_page(
            LIST_OF[order],
            {**given, "limit": wanted.get("limit", PAGE), "after_at": at, "after_run": run_id},
            lambda row: write_cursor(row["listed_at"], row["run_id"], *told),
        )
        return Page(items=[run_of(row) for row in rows], next=following)

    def count(self, *, limit: int | None = None, **wanted: Unpack[RunCondition]) -> int:
        """How many runs fit.

        limit: where counting ends, such as 100 for a badge that says "99+"; None: all of them, which takes
        the longer the more they are.

        Raises: as `page`.
        """
        refuse_other_names(wanted, RunCondition, "RunStore.count()")
        return self._count("count_runs", read_conditions(wanted), limit)

    def count_gates(self, *, limit: int | None = None, **wanted: Unpack[GateCondition]) -> int:
        """How many gates wait for a decision; `limit` as for `count`.

        Raises: as `gates`.
        """
        refuse_other_names(wanted, GateCondition, "RunStore.count_gates()")
        given: Row = {**dict.fromkeys(GateCondition.__annotations__), **wanted}
        number = self._count("count_gates", {**given, **conditions_of(given)}, limit)
        if not number:
            self._refuse_unknown_risk(given["risk"], {**given, **conditions_of(given)})
        return number

    def _count(self, query: str, given: Row, limit: int | None) -> int:
        check_names(**{name: given[name] for name in _NAMES if name in given})
        with self._database.connection() as connection:
            row = one(connection, query, {**given, "limit": limit})
        assert row is not None  # one row always
        number: int = row["number"]
        return number

    def gates(self, **wanted: Unpack[GateFilter]) -> GatePage:
        """The open gates of all runs, the longest wait first; a page of at most `limit` (100).

        A gate that cannot be read is no item, and is named in `unreadable`.

        Raises: `InputInvalid` for another list's cursor, and for a class of risk that no host knows and
        nothing has.
        """
        refuse_other_names(wanted, GateFilter, "RunStore.gates()")
        at, (run_id, gate_id) = read_cursor(wanted.get("after", ""), names=2)
        given: Row = {**dict.fromkeys(GateFilter.__annotations__), "limit": PAGE, **wanted}
        given |= {"after_at": at, "after_run": run_id, "after_gate": gate_id}
        rows, following = self._read_page(
            "list_gates",
            given,
            lambda row: write_cursor(row["opened_at"], row["run_id"], row["gate_id"]),
        )
        found = [read_open_gates(row) for row in rows]
        return GatePage(
            items=[gate for gates, _ in found for gate in gates],
            unreadable=[problem for _, problems in found for problem in problems],
            next=following,
        )

    def gate(
        self, run_id: str, gate_id: str, shown: str | None = None, *, tenant: str | None = None
    ) -> AskedGate:
        """One gate as it was asked, open or decided, also of a run that has ended or is archived.

        shown: the hash of what it showed, or its first letters; None: what it showed last.

        Raises: `RunNotFound`; `GateNotFound` where the run has not asked this; `GateUnreadable`.
        """
        return load_asked_gate(self._database, run_id, gate_id, shown, tenant=tenant)

    def needs(self, **wanted: Unpack[NeedFilter]) -> NeedPage:
        """What needs a person: gates to decide, calls to settle, failed runs to resume.

        The longest wait first; a page of at most `limit` (100).  Each has its `kind`, one line of
        `content`, and the `command` that answers it.  A gate that cannot be read is no item, and is
        named in `unreadable`.

        Raises: `InputInvalid` for another list's cursor, and for what no filter takes: a kind that is
        none, a class of risk that no host knows and nothing has.
        """
        refuse_other_names(wanted, NeedFilter, "RunStore.needs()")
        check_word("kind", wanted.get("kind"), NEED_KINDS)
        at, (run_id, kind, name) = read_cursor(wanted.get("after", ""), names=3)
        given: Row = {**dict.fromkeys(NeedFilter.__annotations__), "limit": PAGE, **wanted}
        given |= {"after_at": at, "after_run": run_id, "after_kind": kind, "after_name": name}
        rows, following = self._read_page(
            "list_needs",
            given,
            lambda row: write_cursor(row["since"], row["run_id"], row["kind"], row["name"]),
        )
        found = [read_need(row) for row in rows]
        return NeedPage(
            items=[need for needs, _ in found for need in needs],
            unreadable=[problem for _, problems in found for problem in problems],
            next=following,
        )

    def _read_page(
        self, query: str, given: Row, write: Callable[[Row], str]
    ) -> tuple[Sequence[Row], str]:
        check_names(**{name: given[name] for name in _NAMES if name in given})
        asked = {**given, **conditions_of(given)}
        found = read_page(lambda limit: self._list_rows(query, asked, limit), given["limit"], write)
        if not found[0]:
            self._refuse_unknown_risk(given.get("risk"), asked)
        return found

    def _list_rows(self, query: str, given: Row, limit: int) -> Sequence[Row]:
        with self._database.connection() as connection:
            return every(connection, query, {**given, "limit": limit})

    def _refuse_unknown_risk(self, risk: str | None, wanted: Row) -> None:
        if risk and not is_known_risk(risk):
            with self._database.connection() as connection:
                refuse_unknown_risk(connection, risk, wanted)

    def flow_names(
        self, *, tenant: str | None = None, limit: int | None = None, after: str = ""
    ) -> Names:
        """Names of the flows that runs were started with, in their order; limit None: all.

        after: the name that the page before ended with.
        """
        check_names(after=after)
        asked = {"tenant": tenant, "limit": limit, "after": after}
        with self._database.connection() as connection:
            rows = every(connection, "list_flow_names", asked)
        return [row["name"] for row in rows]

    def find(self, prefix: str, *, tenant: str | None = None, to_act: bool = False) -> str:
        """The one run whose id is `prefix`, or begins with it.

        Without a tenant, only ids of runs without a tenant may be shortened.  to_act: the caller
        will act on the run, so an id that a person chose must be written in full.

        Raises: `RunNotFound` when no run fits, or several do.
        """
        check_names(run_id=prefix, tenant=tenant)
        rows = [*islice(self._iterate_candidates(prefix, tenant), 2)]
        return the_one_meant(prefix, rows, tenant=tenant, to_act=to_act)

    def _iterate_candidates(self, prefix: str, tenant: str | None) -> Iterator[Row]:
        """The runs that a shortened id may mean, the whole id first; two decide."""
        after, limit = "", 2
        while True:
            about = {"prefix": prefix, "tenant": tenant, "after": after, "limit": limit}
            with self._database.connection() as connection:
                rows = every(connection, "find_runs", about)
            yield from rows
            if len(rows) < limit:
                return
            after, limit = rows[-1]["run_id"], PAGE

    def questions(self, run_id: str, *, tenant: str | None = None) -> Questions:
        """How much a run has asked people so far, with the runs that it began.

        Raises: `RunNotFound`.
        """
        return self._count_questions(run_id, tenant)

    def _count_questions(
        self, run_id: str, tenant: str | None, only: Sequence[str] | None = None
    ) -> Questions:
        """only: of the runs that it began these; None: all."""
        with self._database.connection() as connection:
            load_row(connection, run_id, tenant)
            row = one(
                connection, "count_questions",
                {"run_id": run_id, "only": None if only is None else [*only]},
            )  # fmt: skip
        assert row is not None  # one row always
        return Questions(
            asked=row["asked"],
            last="" if row["gate_id"] is None else describe_decision(row["gate_id"], row),
        )

    def decisions(self, run_id: str, *, tenant: str | None = None) -> GateDecisions:
        """Every decision of a run, in order, with the skipped gates; `decisions_page` cuts them."""
        none = {"after_at": None, "after_gate": "", "after_sha256": "", "limit": None}
        with self._database.connection() as connection:
            load_row(connection, run_id, tenant)
            rows = every(connection, "list_decisions", {"run_id": run_id, **none})
        return [GateDecision.of(row) for row in rows]

    def decisions_page(
        self, run_id: str, *, limit: int = PAGE, after: str = "", tenant: str | None = None
    ) -> Page[GateDecision]:
        """As `decisions`, a page of at most `limit`.

        Raises: `RunNotFound`; `InputInvalid` for another list's cursor.
        """
        at, (gate_id, sha256) = read_cursor(after, names=2)
        self.get(run_id, tenant=tenant)
        rows, following = self._read_page(
            "list_decisions",
            {
                "run_id": run_id, "limit": limit,
                "after_at": at, "after_gate": gate_id, "after_sha256": sha256,
            },
            lambda row: write_cursor(row["decided_at"], row["gate_id"], row["payload_sha256"]),
        )  # fmt: skip
        return Page(items=[GateDecision.of(row) for row in rows], next=following)

    def effects(
        self,
        run_id: str,
        *,
        status: EffectStatus | None = None,
        limit: int = PAGE,
        after: str = "",
        tenant: str | None = None,
    ) -> Page[EffectRecord]:
        """The calls of a run in the order in which they were begun, a page of at most `limit`.

        Raises: `RunNotFound`; `InputInvalid` for another list's cursor.
        """
        check_word("status", status, EFFECT_STATUSES)
        at, (key,) = read_cursor(after, names=1)
        self.get(run_id, tenant=tenant)
        rows, following = self._read_page(
            "list_effects",
            {"run_id": run_id, "status": status, "limit": limit, "after_at": at, "after_key": key},
            lambda row: write_cursor(row["begun_at"], row["key"]),
        )
        return Page(items=[EffectRecord.of(row) for row in rows], next=following)

    def usage(self, run_id: str, *, tenant: str | None = None) -> tuple[ModelUsage, ...]:
        """What each language model of a run used up; with its price where the store's host has one.

        Raises: `RunNotFound`; `NotConfigured` where the host's prices fail.
        """
        return total_usage(self._iterate_effects(run_id, tenant), self._flows.price)

    def _iterate_effects(self, run_id: str, tenant: str | None) -> Iterator[EffectRecord]:
        page = self.effects(run_id, tenant=tenant)
        yield from page.items
        while page.next:
            page = self.effects(run_id, tenant=tenant, after=page.next)
            yield from page.items

    def flow(
        self, run_id: str, *, tenant: str | None = None, to_reject: bool = False
    ) -> DurableFlow:
        """The flow of a run, rebuilt from the stored bytes where this process has not cached it.

        to_reject: the flow then needs no resources of this process, and makes no calls.
        """
        with self._database.connection() as connection:
            row = load_row(connection, run_id, tenant)
            return self._flows.flow_of(connection, row, to_reject=to_reject)

    def source(self, run_id: str, *, tenant: str | None = None) -> bytes:
        """The stored bytes of a run's flow, which nothing compiles here.  Raises: `RunNotFound`."""
        with self._database.connection() as connection:
            row = load_row(connection, run_id, tenant)
            stored = one(connection, "load_flow", {"digest": row["digest"]})
        assert stored is not None  # the run's row refers to this flow
        return bytes(stored["source"])

    def answer_rules(self, run_id: str, *, tenant: str | None = None) -> tuple[AnswerRule, ...]:
        """The gates of a run whose answer reaches a call of the bridge together with files.

        `wrap_answer` of `cinatra_sdk.attachments` takes them.  Raises: `RunNotFound`.
        """
        return load_answer_rules(self.source(run_id, tenant=tenant))

    def events(
        self, run_id: str, *, after: int = 0, follow: bool = False, tenant: str | None = None
    ) -> Iterator[RunEvent]:
        """What happened in a run, in the order of its numbers, from number `after` + 1 on.

        Ends when everything is told and nobody works on the run; follow: goes on over gates and
        failures until the run has ended for good.  What a model says (`token`) comes live only, from
        a run that this process works on.

        Raises: `RunNotFound`; while it is read, `StoreError`.
        """
        return make_follower(
            self._database, run_id, after=after, to_end=follow, tenant=tenant
        ).follow()

    async def aevents(
        self, run_id: str, *, after: int = 0, follow: bool = False, tenant: str | None = None
    ) -> AsyncIterator[RunEvent]:
        """As `events`: `async for event in store.aevents("r1", follow=True)`."""
        check_names(run_id=run_id, tenant=tenant)
        check_kinds(after=after, follow=follow)
        follower = await asyncio.to_thread(
            make_follower, self._database, run_id, after=after, to_end=follow, tenant=tenant
        )
        async with aclosing(follower.afollow()) as events:
            async for event in events:
                yield event

    def told(self, run_id: str, *, after: int = 0, tenant: str | None = None) -> Events:
        """Every event that is stored at this moment, from number `after` + 1 on; waits for nobody."""
        follower = make_follower(self._database, run_id, after=after, to_end=False, tenant=tenant)
        return [event for page in iter(follower.read, []) for event in page]

    def stretches(self, run_id: str, *, tenant: str | None = None) -> Stretches:
        """The run from rest to rest, the oldest first: numbers of its events, and how each ended.

        Raises: `RunNotFound`.
        """
        return list_stretches(self._database, run_id, tenant)

    def export(
        self, run_id: str, *, tenant: str | None = None, transcripts: bool = False
    ) -> Generator[str]:
        """What the approvals of a run prove, as lines of a file that anybody can verify without this project.

        What gates showed, who decided, under which policy and flow, and what was then done; of a governed
        run its decision records too.  All lines are of one moment; the last one is signed where the store
        has a signer (`lend_signer`, or that of the host's governance).  Until it is read, or the iterator
        is closed, they keep a connection of the store.
        transcripts: with what each decision record was made from.

        Raises: `RunNotFound`; what the signer raises, at the last line.
        """
        # Imported late: listing runs must not load what governs them.
        from cinatra_sdk.store.evidence.run_export import ExportTally, export_run

        with self._database.connection() as connection:
            row = load_row(connection, run_id, tenant)
            flow = self._flows.flow_to_export(connection, row) if row["policy"] is None else None
            children = every(connection, "list_children", {"run_id": run_id})
        near = (row["parent_run_id"] or "", *(child["run_id"] for child in children))
        tally = ExportTally(tenant=row["tenant"], run=run_id, transcripts=transcripts)
        return export_run(
            self._database, run_id, tally, signer=self._flows.signer,
            policy=None if flow is None else flow.approval_policy,
            family=[name for name in near if name and self._sees_run(name)],
        )  # fmt: skip

    def _sees_run(self, _run_id: str) -> bool:
        """Whether whoever asks may know of another run."""
        return True

    async def aexport(
        self, run_id: str, *, tenant: str | None = None, transcripts: bool = False
    ) -> AsyncIterator[str]:
        """As `export`: `async for line in store.aexport("r1")`."""
        lines = await asyncio.to_thread(self.export, run_id, tenant=tenant, transcripts=transcripts)
        try:
            while line := await asyncio.to_thread(next, lines, ""):
                yield line
        finally:
            await asyncio.to_thread(lines.close)

    def unknown(self, run_id: str, *, tenant: str | None = None) -> UnknownEffects:
        """Calls for which the run waits until a person says whether they happened (`settle`)."""
        return list_unknown(self._database, run_id, tenant)

    def unknown_keys(
        self, runs: Sequence[Run], *, tenant: str | None = None
    ) -> dict[str, tuple[str, ...]]:
        """Of several runs at once, such as a page of them, the keys of such calls, by run id; a run that
        waits for none is not there.  `cinatra_sdk.api.make_run_page` takes them.

        Raises: `InputInvalid` for what are no runs.
        """
        given: object = runs
        if not isinstance(given, Sequence) or not all(isinstance(run, Run) for run in given):
            raise InputInvalid("'runs' are no runs", hint="give the items of a page")
        keys: dict[str, tuple[str, ...]] = {}
        for row in self._list_unknown_keys([run.id for run in runs], tenant):
            keys[row["run_id"]] = (*keys.get(row["run_id"], ()), row["key"])
        return keys

    def _list_unknown_keys(self, run_ids: Sequence[str], tenant: str | None) -> Sequence[Row]:
        about = {"run_ids": [*run_ids], "tenant": tenant}
        with self._database.connection() as connection:
            return every(connection, "list_unknown_keys", about)

    def settlements(self, run_id: str, *, tenant: str | None = None) -> Settlements:
        """What people said of such calls, the oldest first."""
        return list_settlements(self._database, run_id, tenant)

    asettlements = in_thread(settlements)
    atold = in_thread(told)
    astretches = in_thread(stretches)
    aunknown = in_thread(unknown)
    aunknown_keys = in_thread(unknown_keys)
    aget = in_thread(get)
    apage = in_thread(page)
    acount = in_thread(count)
    acount_gates = in_thread(count_gates)
    agates = in_thread(gates)
    agate = in_thread(gate)
    aneeds = in_thread(needs)
    alist = in_thread(list)  # noqa: A003 - the method above
    aflow_names = in_thread(flow_names)
    afind = in_thread(find)
    aquestions = in_thread(questions)
    adecisions = in_thread(decisions)
    adecisions_page = in_thread(decisions_page)
    aeffects = in_thread(effects)
    ausage = in_thread(usage)
    aflow = in_thread(flow)
    asource = in_thread(source)
    aanswer_rules = in_thread(answer_rules)

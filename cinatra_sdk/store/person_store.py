"""A run store for one person, which asks `may` before everything.

    mine = PersonStore(store, Person(id="ann", tenant="acme", proof="token"))
    mine.page()                                     the runs of acme that the host lets ann see
    mine.answer("n1", "review", Decision.approve())      by ann; NotAllowed where she may not

What a person may not see is not there for them (`RunNotFound`); what they may see and not do is
`NotAllowed`, before anything is written.  A policy of the host that fails is `NotConfigured`.
A surface makes one for each request: it lends the connections of `store`, and closes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar, Unpack, cast

from cinatra_sdk.api.permission import (
    OTHER_TENANT,
    Action,
    ActionSubject,
    AskedVerdict,
    MayPolicy,
    ask,
    may,
)
from cinatra_sdk.data.text.person_texts import person_name
from cinatra_sdk.errors import (
    GateClosed,
    InputInvalid,
    NotAllowed,
    NotConfigured,
    RunExists,
    RunNotFound,
)
from cinatra_sdk.events import RunEvent
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.governed.person import Person, PersonRecord, read_channel
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.postgres.connection import Row, every
from cinatra_sdk.runs import OnEvent, Run
from cinatra_sdk.store.arguments import MOST, check_arguments
from cinatra_sdk.store.async_twins import in_thread
from cinatra_sdk.store.decisions.decision_entry import (
    Decisions,
    Named,
    list_decisions,
    make_requester_rule,
    make_role_rule,
)
from cinatra_sdk.store.decisions.decision_rows import open_gate
from cinatra_sdk.store.decisions.repeated_answers import find_repeat
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from cinatra_sdk.store.host_work import WithoutHostWork
from cinatra_sdk.store.lists.feed import FeedPage
from cinatra_sdk.store.lists.list_filters import (
    PLACE_BEHIND,
    GateCondition,
    GateFilter,
    NeedFilter,
    RunCondition,
    RunFilter,
)
from cinatra_sdk.store.pages import PAGE, GatePage, Page
from cinatra_sdk.store.run_store import WAIT_SECONDS, RunStore
from cinatra_sdk.store.runs.creation import NewRun
from cinatra_sdk.store.runs.flow_cache import refuse_other_names
from cinatra_sdk.store.runs.lists import Names, Questions, Runs
from cinatra_sdk.store.runs.needs import NeedPage
from cinatra_sdk.store.runs.run_rows import load_row, name_run
from cinatra_sdk.store.runs.upkeep import Archived
from cinatra_sdk.store.subjects import make_gate_subject, make_run_subject

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _after_seeing(method: _Method) -> _Method:
    """A method of the store that reads one run, for whoever may see the run."""

    @wraps(method)
    def ask_first(
        self: PersonStore, run_id: str, *args: Any, tenant: str | None = None, **wanted: Any
    ) -> Any:
        self._see(run_id, tenant)
        return method(self, run_id, *args, tenant=tenant, **wanted)

    return cast("_Method", ask_first)


@check_arguments
class PersonStore(WithoutHostWork):
    """As the store that it is made of, for one person; each method asks before it does something."""

    def __init__(
        self,
        store: RunStore,
        person: Person,
        *,
        policy: MayPolicy | None = None,
        channel: str = "",
    ) -> None:
        """policy: in place of `HostParts.may` of the store's host.

        channel: by which way the person came, for every act that does not say it itself.
        """
        self.__dict__.update(vars(store))
        self._channel = read_channel(channel)
        self._person = person
        self._policy = self._flows.may if policy is None else policy

    @property
    def person(self) -> Person:
        assert self._person is not None  # set above
        return self._person

    def close(self) -> None:
        """Closes nothing: the store that this one is made of is closed by whoever opened it."""

    # ------------------------------------------------------------------ asking

    def may(
        self,
        action: Action,
        run_id: str,
        *,
        gate_id: str = "",
        decision: Decision | None = None,
        key: str = "",
    ) -> Verdict:
        """Whether the person may do something to a run, for a surface that shows only what they can do.

        gate_id: of an open gate, for `answer`; decision: what they would answer, by default an approval.
        key: of a call, for `settle`.  Without these, `answer` and `settle` are asked about the run as a
        whole, and a policy that looks at gates or calls may say otherwise when it comes to one.

        Raises: `InputInvalid` for what is no action, and for a gate or a key beside another action;
        `RunNotFound` for what they may not see; `GateClosed`; `NotConfigured` where the rules of packs need
        what this process lacks.
        """
        for named, about in ((gate_id, "answer"), (key, "settle")):
            if named and action != about:
                raise InputInvalid(
                    f"'{action}' is asked of a run, and not of one gate or call of it",
                    hint="a gate goes with 'answer', a key with 'settle'",
                )
        row = self._look(run_id)
        if not gate_id:
            return self._ask(action, make_run_subject(row, key)).verdict
        with self._database.connection() as connection:
            gate = open_gate(connection, row, gate_id)
            flow = self._flows.flow_of(connection, row) if row["governed"] else None
        said = Decision.approve(by=self.person.id) if decision is None else decision
        subject = make_gate_subject(row, gate, said)
        # No connection is held while functions of the host run: they may ask this store.
        answer = self._ask(action, subject).verdict
        if answer.allowed:
            with self._database.connection() as connection:
                rule = make_requester_rule(connection, row, gate)
                answer = may(self.person, action, subject, rules=(rule,))
        if answer.allowed:
            answer = may(self.person, action, subject, rules=(make_role_rule(flow, row, gate),))
        return answer

    amay = in_thread(may)

    def _ask(self, action: Action, subject: ActionSubject) -> AskedVerdict:
        return ask(self.person, action, subject, self._policy)

    def _look(self, run_id: str, tenant: str | None = None, action: Action = "see") -> Row:
        """The run's row, where the person may do this to it."""
        with self._database.connection() as connection:
            row = load_row(connection, run_id, tenant)
        self._require(action, make_run_subject(row))
        return row

    def _see(self, run_id: str, tenant: str | None = None) -> None:
        """As `_look`, before a method that keeps to the tenant itself and that needs no row."""
        if self._policy is not None or self.person.tenant not in (None, tenant):
            self._look(run_id, tenant)

    def _require(self, action: Action, subject: ActionSubject) -> None:
        said, failed = self._ask(action, subject)
        if said.allowed:
            return
        if failed:
            raise NotConfigured(said.reason, hint="mend may in its HostParts")
        if subject.kind != "flow":
            run = replace(subject, kind="run", name="", risk="", decision="")
            if action == "see" or not self._ask("see", run).verdict.allowed:
                raise RunNotFound(f"there is no run '{subject.run_id}'", hint="see oasflow runs")
        raise NotAllowed(said.reason, hint=said.hint, code=said.code)

    def _name(self, by: str | Person) -> Person:
        """Nobody acts in the name of somebody else."""
        own = self.person
        if isinstance(by, Person):
            is_own = PersonRecord.of(by).is_same_person(PersonRecord.of(own)) and by.id == own.id
        else:
            is_own = not by or person_name(by) == own.id
        if not is_own:
            raise NotAllowed(f"{own.id} acts in no other name", hint="leave the name out")
        return own

    def _tenant(self, asked: str | None) -> str | None:
        """The tenant to which a list keeps; None: every tenant's."""
        own = self.person.tenant
        if own is None or asked is None or asked == own:
            return asked if own is None else own
        raise NotAllowed(f"{self.person.id} is of another tenant", code=OTHER_TENANT)

    def _sees(self, row: Row) -> bool:
        """Whether the person may see the run of a row, which has the columns of a subject."""
        if self._policy is None and self.person.tenant is None:
            return True
        try:
            self._require("see", make_run_subject(row))
        except RunNotFound:
            return False
        return True

    def _cover(self, run: Run) -> Run:
        """The run without the id of the one that began it, where the person may not see that one.

        Acts give it back, so a policy that fails here hides, and raises nothing.
        """
        if self._policy is None or not run.parent:
            return run
        try:
            self._look(run.parent)
        except (NotConfigured, RunNotFound):
            return replace(run, parent="", parent_path="")
        return run

    # ------------------------------------------------------------------ acting

    def create(
        self,
        flow: DurableFlow,
        params: Mapping[str, Any] | None = None,
        run_id: str | None = None,
        **about: Unpack[NewRun],
    ) -> Run:
        """As the store's; `by` is the person.  Raises: `NotAllowed`, too."""
        with self._hide_taken():
            return super().create(flow, params, run_id, **self._begin(flow, about))

    def start(
        self,
        flow: DurableFlow,
        params: Mapping[str, Any] | None = None,
        run_id: str | None = None,
        *,
        on_event: OnEvent | None = None,
        **about: Unpack[NewRun],
    ) -> Run:
        """As the store's; `by` is the person.  Raises: `NotAllowed`, too."""
        told = self._begin(flow, about)
        with self._hide_taken():
            return self._cover(super().start(flow, params, run_id, on_event=on_event, **told))

    @contextmanager
    def _hide_taken(self) -> Iterator[None]:
        """That an id is taken is told without a run that the person may not see."""
        try:
            yield
        except RunExists as exists:
            if exists.run is not None:
                try:
                    self._look(exists.run.id)
                    exists.run = self._cover(exists.run)
                except (NotConfigured, RunNotFound):
                    exists.run = None
            raise

    def _begin(self, flow: DurableFlow, about: NewRun) -> NewRun:
        """What is said of the new run, where the person may start it."""
        refuse_other_names(about, NewRun, "PersonStore.start()")
        by = self._name(about.get("by", ""))
        tenant = self._tenant(about.get("tenant") or None) or ""
        _, whose = name_run(about.get("context"), None, tenant)
        owner = about.get("owner", "")
        subject = ActionSubject(
            kind="flow", tenant=whose, flow=flow.name, started_by=by.id, started_sub=by.sub,
            started_issuer=by.issuer, owner=owner,
        )  # fmt: skip
        self._require("start", subject)
        if about.get("parent"):
            self._look(about["parent"], whose)
        channel = about.get("channel") or self._channel
        told: NewRun = {**about, "by": by, "tenant": tenant, "channel": channel}
        return told

    def decide(
        self,
        run_id: str,
        gate_id: Named | Decisions,
        decision: Decision | None = None,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
    ) -> Run:
        """As the store's; each decision is the person's.  Raises: `NotAllowed`, too."""
        if isinstance(gate_id, Mapping):
            list_decisions(gate_id, None)  # refuses what is no decision
            signed = {one: self._sign(run_id, one, said, tenant) for one, said in gate_id.items()}
            return super().decide(run_id, signed, flow=flow, tenant=tenant, context=context)
        said = self._sign(run_id, gate_id, decision, tenant)
        return super().decide(run_id, gate_id, said, flow=flow, tenant=tenant, context=context)

    def answer(
        self,
        run_id: str,
        gate_id: Named,
        decision: Decision,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
    ) -> Run:
        """As the store's; the decision is the person's.  Raises: `NotAllowed`, too."""
        signed = self._sign(run_id, gate_id, decision, tenant)
        run = super().answer(
            run_id, gate_id, signed, flow=flow, tenant=tenant, context=context, on_event=on_event,
            wait=wait,
        )  # fmt: skip
        return self._cover(run)

    def _sign(
        self, run_id: str, named: Named, decision: Decision | None, tenant: str | None
    ) -> Decision:
        """The decision with the person's name, where they may answer the gate so."""
        ((gate_id, said),) = list_decisions(named, decision).items()
        row = self._look(run_id, tenant)
        own = self._name(said.person or said.by)
        signed = replace(said, by=own.id, person=own, channel=said.channel or self._channel)
        with self._database.connection() as connection:
            try:
                gate = open_gate(connection, row, gate_id)
            except GateClosed:
                repeat = find_repeat(connection, row, {gate_id: signed})
                if repeat is None:
                    raise
                gate = repeat[gate_id]
        self._require("answer", make_gate_subject(row, gate, signed))
        return signed

    def work(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
        due: bool = False,
    ) -> Run:
        """As the store's: it carries out what somebody was allowed to start or answer, so whoever may see
        the run may call it.
        """
        self._see(run_id, tenant)
        return super().work(
            run_id, flow=flow, tenant=tenant, context=context, on_event=on_event, wait=wait, due=due
        )

    def _work(self, run_id: str, **given: Any) -> Run:
        return self._cover(super()._work(run_id, **given))

    def resume(
        self,
        run_id: str,
        *,
        flow: DurableFlow | None = None,
        tenant: str | None = None,
        context: HostContext | None = None,
        on_event: OnEvent | None = None,
        wait: float = WAIT_SECONDS,
        by: str | Person = "",
    ) -> Run:
        """As the store's, for whoever may `start`.  Raises: `NotAllowed`, too."""
        self._look(run_id, tenant, "start")
        return super().resume(
            run_id, flow=flow, tenant=tenant, context=context, on_event=on_event, wait=wait,
            by=self._name(by),
        )  # fmt: skip

    def settle(
        self,
        run_id: str,
        key: str,
        *,
        happened: bool,
        value: Mapping[str, Any] | None = None,
        by: str | Person = "",
        reason: str = "",
        channel: str = "",
        tenant: str | None = None,
    ) -> Run:
        """As the store's; the word is the person's.  Raises: `NotAllowed`, too."""
        self._require("settle", make_run_subject(self._look(run_id, tenant), key))
        return super().settle(
            run_id, key, happened=happened, value=value, by=self._name(by), reason=reason,
            channel=channel or self._channel, tenant=tenant,
        )  # fmt: skip

    def pause(self, run_id: str, *, by: str | Person = "", tenant: str | None = None) -> Run:
        """As the store's; the person pauses it.  Raises: `NotAllowed`, too."""
        self._look(run_id, tenant, "pause")
        return self._cover(super().pause(run_id, by=self._name(by), tenant=tenant))

    def stop(
        self,
        run_id: str,
        *,
        by: str | Person = "",
        reason: str = "",
        channel: str = "",
        tenant: str | None = None,
    ) -> Run:
        """As the store's; the person stops it.  Raises: `NotAllowed`, too."""
        self._look(run_id, tenant, "stop")
        stopped = super().stop(
            run_id, by=self._name(by), reason=reason, channel=channel or self._channel,
            tenant=tenant,
        )  # fmt: skip
        return self._cover(stopped)

    def archive(
        self,
        run_id: str | None = None,
        *,
        older_than: timedelta | None = None,
        tenant: str | None = None,
        by: str | Person = "",
        dead_letters: bool = False,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> Archived:
        """As the store's; of many runs those that the person may not archive are left.

        Raises: `NotAllowed`, too.
        """
        if run_id is not None:
            self._look(run_id, tenant, "archive")
        return super().archive(
            run_id, older_than=older_than, tenant=self._tenant(tenant), by=self._name(by),
            dead_letters=dead_letters, limit=limit, dry_run=dry_run,
        )  # fmt: skip

    def _allows_archiving(self, run_id: str) -> bool:
        try:
            self._look(run_id, action="archive")
        except (NotAllowed, RunNotFound):
            return False
        return True

    # ------------------------------------------------------------------ seeing

    get = _after_seeing(RunStore.get)
    gate = _after_seeing(RunStore.gate)
    decisions = _after_seeing(RunStore.decisions)
    decisions_page = _after_seeing(RunStore.decisions_page)
    effects = _after_seeing(RunStore.effects)
    usage = _after_seeing(RunStore.usage)
    flow = _after_seeing(RunStore.flow)
    source = _after_seeing(RunStore.source)
    answer_rules = _after_seeing(RunStore.answer_rules)
    told = _after_seeing(RunStore.told)
    stretches = _after_seeing(RunStore.stretches)
    unknown = _after_seeing(RunStore.unknown)
    settlements = _after_seeing(RunStore.settlements)
    verify = _after_seeing(RunStore.verify)
    export = _after_seeing(RunStore.export)
    events = _after_seeing(RunStore.events)  # asked once, when the person begins to follow

    def _sees_run(self, run_id: str) -> bool:
        """As `_cover`: a policy that fails here hides."""
        try:
            self._see(run_id)
        except (NotConfigured, RunNotFound):
            return False
        return True

    def _get(self, run_id: str, tenant: str | None = None) -> Run:
        return self._cover(super()._get(run_id, tenant))

    def list(self, **wanted: Unpack[RunFilter]) -> Runs:
        refuse_other_names(wanted, RunFilter, "PersonStore.list()")
        return [*self.page(**wanted).items]

    def page(self, **wanted: Unpack[RunFilter]) -> Page[Run]:
        """As the store's; a page is full of what the person sees, and its end tells of nothing else.

        Where the host has a policy it is asked about each run up to there, in the order of the list.
        """
        wanted["tenant"] = self._tenant(wanted.get("tenant"))
        page = super().page(**wanted)
        return replace(page, items=[self._cover(run) for run in page.items])

    def count(self, *, limit: int | None = None, **wanted: Unpack[RunCondition]) -> int:
        """As the store's, of the runs that the person sees; where the host has a policy it is asked about
        each of them.
        """
        wanted["tenant"] = self._tenant(wanted.get("tenant"))
        return super().count(limit=limit, **wanted)

    def count_gates(self, *, limit: int | None = None, **wanted: Unpack[GateCondition]) -> int:
        """As the store's; see `count`."""
        wanted["tenant"] = self._tenant(wanted.get("tenant"))
        return super().count_gates(limit=limit, **wanted)

    def _count(self, query: str, given: Row, limit: int | None) -> int:
        if self._policy is None:
            return super()._count(query, given, limit)
        listed = {"count_runs": "list_runs", "count_gates": "list_gates"}[query]
        given = {**given, "after_at": None, "after_run": "", "after_gate": ""}
        number = 0
        while rows := self._list_rows(listed, given, min(PAGE, (limit or MOST) - number)):
            number += len(rows)
            if number == limit:
                break
            given |= PLACE_BEHIND[listed](rows[-1])
        return number

    def gates(self, **wanted: Unpack[GateFilter]) -> GatePage:
        """As the store's; see `page`."""
        wanted["tenant"] = self._tenant(wanted.get("tenant"))
        return super().gates(**wanted)

    def needs(self, **wanted: Unpack[NeedFilter]) -> NeedPage:
        """As the store's; see `page`."""
        wanted["tenant"] = self._tenant(wanted.get("tenant"))
        return super().needs(**wanted)

    def feed_page(
        self, *, after: str = "", limit: int = PAGE, tenant: str | None = None
    ) -> FeedPage:
        """As the store's; see `page`."""
        return super().feed_page(after=after, limit=limit, tenant=self._tenant(tenant))

    feed = RunStore.feed  # of pages, each asked about
    afeed = RunStore.afeed
    feed_now = RunStore.feed_now  # names nothing

    def _list_rows(self, query: str, given: Row, limit: int) -> Sequence[Row]:
        """Of a list of several runs only the rows that the person sees, as many as are asked for.

        A cursor is made of them, so that it names nothing else.
        """
        if self._policy is None or query not in PLACE_BEHIND:
            return super()._list_rows(query, given, limit)
        found: list[Row] = []
        sees: dict[str, bool] = {}
        batch = max(limit, PAGE)
        while len(found) < limit:
            rows = super()._list_rows(query, given, batch)
            for row in rows:
                name = row["run_id"]
                if name not in sees:
                    sees[name] = self._sees(row)
                if sees[name]:
                    found.append(row)
            if len(rows) < batch:
                break
            given = {**given, **PLACE_BEHIND[query](rows[-1])}
        return found[:limit]

    def _refuse_unknown_risk(self, risk: str | None, wanted: Row) -> None:
        """Where a policy hides runs, nobody is told whether a run that they may not see has the class."""
        if self._policy is None:
            super()._refuse_unknown_risk(risk, wanted)

    def flow_names(
        self, *, tenant: str | None = None, limit: int | None = None, after: str = ""
    ) -> Names:
        """As the store's: names of flows are those of the tenant, and no policy is asked."""
        return super().flow_names(tenant=self._tenant(tenant), limit=limit, after=after)

    def find(self, prefix: str, *, tenant: str | None = None, to_act: bool = False) -> str:
        """As the store's, among the runs that the person sees."""
        return super().find(prefix, tenant=self._tenant(tenant), to_act=to_act)

    def _iterate_candidates(self, prefix: str, tenant: str | None) -> Iterator[Row]:
        return filter(self._sees, super()._iterate_candidates(prefix, tenant))

    def questions(self, run_id: str, *, tenant: str | None = None) -> Questions:
        """As the store's, with those of the runs that it began and the person sees."""
        self._see(run_id, tenant)
        if self._policy is None:
            return super().questions(run_id, tenant=tenant)
        with self._database.connection() as connection:
            family = every(connection, "list_family", {"run_id": run_id})
        seen = [row["run_id"] for row in family if self._sees(row)]
        return self._count_questions(run_id, tenant, only=seen)

    async def aevents(
        self, run_id: str, *, after: int = 0, follow: bool = False, tenant: str | None = None
    ) -> AsyncIterator[RunEvent]:
        """As `events`."""
        await asyncio.to_thread(self._see, run_id, tenant)
        told = super().aevents(run_id, after=after, follow=follow, tenant=tenant)
        async with aclosing(told) as events:  # type: ignore[type-var]  # an async generator, which closes
            async for event in events:
                yield event

    def unknown_keys(
        self, runs: Sequence[Run], *, tenant: str | None = None
    ) -> dict[str, tuple[str, ...]]:
        """As the store's, of the runs that the person sees."""
        return super().unknown_keys(runs, tenant=self._tenant(tenant))

    def _list_unknown_keys(self, run_ids: Sequence[str], tenant: str | None) -> Sequence[Row]:
        return [*filter(self._sees, super()._list_unknown_keys(run_ids, tenant))]

-- What a run stands on while it is worked on: who works on it, its gates, its events, its effects.
-- `runs.waiting` and `runs.fence` are no longer used: gates are rows, and the fence is in `work`.
-- The gates that runs of before wait at come from `runs.waiting`, in the same transaction
-- (cinatra_sdk/postgres/migration.py), because what was shown is hashed there.

alter table runs
    add column owner text not null default '',           -- whose run it is; empty: nobody said
    add column session_id text not null default '',      -- the conversation that it belongs to
    add column parent_run_id text references runs (run_id),
    add column parent_path text not null default '',     -- node of the parent that began it
    add column usage json not null default '{}',         -- what its calls have cost so far
    add column deadline timestamptz,
    add column retry_at timestamptz,                     -- when a failed run is tried again; null: never
    add column failures integer not null default 0,      -- activations in a row that died or failed
    add column archived_at timestamptz;
create index runs_by_parent on runs (parent_run_id) where parent_run_id is not null;
create index runs_by_retry on runs (retry_at) where retry_at is not null;

-- One narrow row for each run, made with it.  Apart from `runs`, because a heartbeat is no change of
-- the run: it neither touches `updated_at` nor asks the trigger.
create table work (
    run_id        text primary key references runs (run_id),
    fence         bigint not null default 0,     -- grows with every claim; whoever has an older one writes nothing
    worker        text not null default '',      -- the process that has the run; empty: nobody
    backend_pid   integer,                       -- the database's process for that worker
    lease_until   timestamptz,                   -- after this moment another worker may claim the run
    heartbeat_at  timestamptz,
    events        bigint not null default 0      -- number of the run's last event
) with (fillfactor = 50);
create index work_by_lease on work (lease_until) where lease_until is not null;

insert into work (run_id, fence) select run_id, fence from runs;

-- The id of a run's newest checkpoint, those of its subflows too; ids are in the order of time.
-- Volatile, so that it reads what is there when it is called: after a lock that the same statement takes.
create function oasflow_newest_checkpoint(thread text) returns text language plpgsql volatile
set search_path = pg_catalog, pg_temp as $$
begin
    return (select max(c.checkpoint_id) from oasflow.checkpoints c where c.thread_id = thread);
end $$;

-- Each visit of a gate that people were asked at, with what they were shown.
create table gates (
    run_id           text not null references runs (run_id),
    gate_id          text not null,              -- path of the gate with its visit
    payload_sha256   text not null,              -- of the payload, as decisions name it
    tenant           text not null default '',
    node             text not null,
    visit            integer not null,
    step             integer not null,
    interrupt        text not null,              -- LangGraph's id, which changes with every checkpoint
    payload          json not null,
    response_schema  json not null,
    opened_at        timestamptz not null default clock_timestamp(),
    deadline         timestamptz,
    state            text not null default 'open' check (state in ('open', 'decided', 'closed')),
    settled_at       timestamptz,                -- when it was decided or closed
    fence            bigint not null default 0,  -- of the work that parked it; 0: that work went on
    primary key (run_id, gate_id, payload_sha256)
);
create index open_gates_by_time on gates (opened_at) where state = 'open';
create index open_gates_by_tenant on gates (tenant, opened_at) where state = 'open';
create index decided_gates_parked on gates (run_id) where state = 'decided' and fence > 0;

-- What was shown stays, and a decision is not taken back.
create function oasflow_gate_stays() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if tg_op = 'UPDATE' and (old.state <> 'decided' or new.state = 'decided')
       and (new.run_id, new.gate_id, new.payload_sha256, new.tenant, new.node, new.visit, new.step,
            new.payload::text, new.response_schema::text, new.opened_at, new.deadline)
           is not distinct from
           (old.run_id, old.gate_id, old.payload_sha256, old.tenant, old.node, old.visit, old.step,
            old.payload::text, old.response_schema::text, old.opened_at, old.deadline)
    then
        return new;
    end if;
    raise exception 'what a gate showed stays, and so does its decision: % is refused', lower(tg_op)
        using errcode = 'integrity_constraint_violation';
end $$;

create trigger gates_stay before update or delete on gates
    for each row execute function oasflow_gate_stays();
create trigger gates_are_not_emptied before truncate on gates
    for each statement execute function oasflow_append_only();

-- Whoever records a decision, its gate has it; and a rejection closes the other gates of its run.
create function oasflow_decision_settles() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    update oasflow.gates g set state = 'decided', settled_at = new.decided_at
    where (g.run_id, g.gate_id, g.payload_sha256) = (new.run_id, new.gate_id, new.payload_sha256)
      and g.state <> 'decided';
    if new.kind = 'rejected' then
        update oasflow.gates g set state = 'closed', settled_at = new.decided_at
        where g.run_id = new.run_id and g.state = 'open';
    end if;
    return null;
end $$;

create trigger decisions_settle after insert on decisions
    for each row when (new.kind <> 'auto_skipped') execute function oasflow_decision_settles();
alter table decisions enable always trigger decisions_settle;

-- What happened in a run, numbered from 1 without a gap.
create table run_events (
    run_id  text not null references runs (run_id),
    seq     bigint not null,
    at      timestamptz not null default clock_timestamp(),
    kind    text not null,                       -- run, node, gate, decision, effect, message, usage
    name    text not null default '',            -- started, finished, opened, …
    path    text not null default '',            -- outer/inner[2]/node
    visit   integer not null default 0,          -- of the node; 0: the event is no node's
    data    json not null default '{}',
    primary key (run_id, seq)
);
create trigger run_events_stay before update or delete on run_events
    for each row execute function oasflow_append_only();
create trigger run_events_are_not_emptied before truncate on run_events
    for each statement execute function oasflow_append_only();

-- The ledger: every call to the outside, by its key.
create table effects (
    run_id          text not null references runs (run_id),
    key             text not null,               -- the Idempotency-Key
    tenant          text not null default '',
    kind            text not null check (kind in ('http', 'tool', 'model', 'mcp', 'a2a')),
    capability      text not null default '',    -- what is called
    path            text not null default '',    -- as events name it
    visit           integer not null default 1,
    item            integer,                     -- element of a map, from 0; null outside of maps
    risk            text not null default '',
    request_sha256  text not null default '',
    shown_sha256    text not null default '',    -- of what a person approved; empty: nobody was asked
    status          text not null check (status in ('begun', 'done', 'failed', 'unknown')),
    attempts        integer not null default 1,
    result          json,
    usage           json,
    error           json,
    begun_at        timestamptz not null default clock_timestamp(),
    ended_at        timestamptz,
    fence           bigint not null default 0,   -- of the work that began it last
    primary key (run_id, key)
);
create index effects_by_run on effects (run_id, begun_at);

create function oasflow_effect_stays() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if tg_op = 'UPDATE' and old.status <> 'done'
       and (new.run_id, new.key, new.tenant) is not distinct from (old.run_id, old.key, old.tenant)
    then
        return new;
    end if;
    raise exception 'the record of a call that was made stays: % is refused', lower(tg_op)
        using errcode = 'integrity_constraint_violation';
end $$;

create trigger effects_stay before update or delete on effects
    for each row execute function oasflow_effect_stays();
create trigger effects_are_not_emptied before truncate on effects
    for each statement execute function oasflow_append_only();

-- The word of a person on a call of which nobody knew whether it happened.
create table settlements (
    run_id      text not null,
    key         text not null,
    attempts    integer not null,                -- of the call at that time; it may be unknown again
    tenant      text not null default '',
    happened    boolean not null,
    result      json,                            -- what it gave, where it happened
    settled_by  text not null,
    reason      text not null default '',
    settled_at  timestamptz not null default clock_timestamp(),
    primary key (run_id, key, attempts),
    foreign key (run_id, key) references effects (run_id, key)
);
create trigger settlements_stay before update or delete on settlements
    for each row execute function oasflow_append_only();
create trigger settlements_are_not_emptied before truncate on settlements
    for each statement execute function oasflow_append_only();

-- A third decision, at a gate before a call: the call is not made, and the run goes on.
alter table decisions drop constraint decisions_kind_check, add constraint decisions_kind_check
    check (kind in ('approved', 'rejected', 'denied', 'auto_skipped'));

alter table settlements enable always trigger settlements_stay;
alter table settlements enable always trigger settlements_are_not_emptied;
alter table gates enable always trigger gates_stay;
alter table gates enable always trigger gates_are_not_emptied;
alter table run_events enable always trigger run_events_stay;
alter table run_events enable always trigger run_events_are_not_emptied;
alter table effects enable always trigger effects_stay;
alter table effects enable always trigger effects_are_not_emptied;

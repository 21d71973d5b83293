-- What the role that runs flows can neither block, change nor forge, beyond what 001 to 017 refuse.
-- `docs/database-role.md` has the table: what that role may do to which rows, and what only the
-- database does.
-- Rows of before stay as they are: nothing here looks at them.

-- The transaction that ended a run, or archived it: the run's other rows of that moment come with it, in
-- whatever order a statement writes them.  A table of its own, because processes that run while this
-- migration is made have statements prepared that read all columns of `runs`.
create table run_ends (
    run_id     text primary key,
    closed_in  xid8 not null,
    -- With it, because a database that was restored elsewhere counts its transactions anew.
    closed_at  timestamptz not null
);
create trigger run_ends_are_not_emptied before truncate on run_ends
    for each statement execute function oasflow_append_only();
alter table run_ends enable always trigger run_ends_are_not_emptied;

create function oasflow_run_ends() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    insert into oasflow.run_ends (run_id, closed_in, closed_at)
    values (new.run_id, pg_current_xact_id(), transaction_timestamp())
    on conflict (run_id) do update set closed_in = excluded.closed_in, closed_at = excluded.closed_at;
    return new;
end $$;
revoke all on function oasflow_run_ends() from public;
create trigger runs_end before update on runs for each row
    when (new.status in ('completed', 'rejected', 'stopped')
              and old.status not in ('completed', 'rejected', 'stopped')
          or new.archived_at is not null and old.archived_at is null)
    execute function oasflow_run_ends();
alter table runs enable always trigger runs_end;

-- Whether this transaction has ended, or archived, a run.
create function oasflow_ends_now(named text) returns boolean language sql volatile
set search_path = pg_catalog, pg_temp as $$
    select exists (select from oasflow.run_ends e
                   where e.run_id = named and e.closed_in = pg_current_xact_id()
                     and e.closed_at = transaction_timestamp())
$$;

-- The transaction in which a person's word replaced `unknown`.
alter table effects add column settled_in xid8, add column settled_at timestamptz;

-- A member of JSON that somebody stored; null also where it cannot be taken out.  PostgreSQL refuses to
-- take any out of JSON with \u0000 anywhere in it, and one such row would hide all others of a list.
create function oasflow_member(of json, variadic names text[]) returns json language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return json_extract_path(of, variadic names);
exception when others then
    return null;
end $$;

-- The same as text.
create function oasflow_text(of json, variadic names text[]) returns text language plpgsql immutable
set search_path = pg_catalog, pg_temp as $$
begin
    return json_extract_path_text(of, variadic names);
exception when others then
    return null;
end $$;

-- How a run takes rows: 'open'; 'late' for a run that was rejected or stopped while a process had it,
-- as long as that process has it and for a day at most; else 'closed'.  The run does not end between
-- this look and the commit: whoever ends one locks its row of `work` first.  The lock is a statement of
-- its own, so that the look sees what was committed while it waited.  Null: there is no such run.
create function oasflow_takes_rows(named text) returns text language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    run record;
begin
    perform from oasflow.work w where w.run_id = named for share;
    select r.status, r.archived_at, r.updated_at, w.worker, w.lease_until into run
    from oasflow.work w join oasflow.runs r using (run_id) where w.run_id = named;
    if not found then
        -- A run whose row of `work` the same transaction has yet to write.
        select case when r.status in ('completed', 'rejected', 'stopped') then 'closed' else 'open' end
            as standing into run from oasflow.runs r where r.run_id = named;
        return run.standing;
    elsif run.archived_at is null and (run.status not in ('completed', 'rejected', 'stopped')
                                       or oasflow.oasflow_ends_now(named)) then
        return 'open';
    elsif run.archived_at is null and run.status in ('rejected', 'stopped') and run.worker <> ''
          and run.lease_until > clock_timestamp()
          and run.updated_at > clock_timestamp() - interval '1 day' then
        return 'late';
    end if;
    return 'closed';
end $$;

-- The same for whoever has locked another row of the run: `work` is locked before all others, so this
-- waits for nobody.  The processes that run flows have locked it by then.
create function oasflow_takes_rows_at_once(named text) returns text language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    perform from oasflow.work w where w.run_id = named for share nowait;
    return oasflow.oasflow_takes_rows(named);
end $$;

-- ------------------------------------------------------------------ runs and who works on them

-- As 011, and attempts are counted.
create or replace function oasflow_run_stays() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    kept oasflow.runs;
begin
    if tg_op = 'UPDATE' and old.archived_at is null then
        if new.archived_at is not null then
            kept := new;
            kept.archived_at := null;
            if kept::text = old::text then
                return new;
            end if;
        elsif old.status not in ('completed', 'rejected', 'stopped') then
            if new.attempts not between old.attempts and old.attempts::bigint + 1
               or new.failures not between 0 and old.failures::bigint + 2 then
                raise exception 'the attempts of a run are counted one by one'
                    using errcode = 'integrity_constraint_violation';
            end if;
            new.updated_at := clock_timestamp();
            return new;
        end if;
    end if;
    raise exception 'a run that has ended stays as it is, and none is deleted: % is refused',
        lower(tg_op) using errcode = 'integrity_constraint_violation';
end $$;

-- A child is of its parent's tenant, and nobody adds one to a run that has ended, whoever still has it.
create function oasflow_child_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from oasflow.runs r where r.run_id = new.parent_run_id and r.tenant <> new.tenant)
    then
        raise exception 'a run is of the tenant of the run that began it'
            using errcode = 'integrity_constraint_violation';
    elsif oasflow.oasflow_takes_rows(new.parent_run_id) <> 'open' then
        raise exception 'a run that has ended begins no other'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger children_fit before insert on runs
    for each row when (new.parent_run_id is not null) execute function oasflow_child_fits();

-- A run without its row of `work` could neither be answered nor stopped.
create function oasflow_run_has_work() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    insert into oasflow.work (run_id) values (new.run_id) on conflict do nothing;
    return null;
end $$;
revoke all on function oasflow_run_has_work() from public;
create constraint trigger runs_have_work after insert on runs
    deferrable initially deferred for each row execute function oasflow_run_has_work();

-- Counters only count, and nobody has a run for longer than a day without a sign of life: no number
-- leaves so little room that the next process fails, and no lease outlives its worker for ever.
create function oasflow_work_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    raise exception 'the counters of a run only count, and its lease is a day at most'
        using errcode = 'integrity_constraint_violation';
end $$;
create trigger work_counts before update on work for each row
    when (new.fence not between old.fence and old.fence + 2000000
          or new.events not between old.events and old.events + 1000000
          or new.lease_until > clock_timestamp() + interval '1 day')
    execute function oasflow_work_fits();
create trigger work_begins before insert on work for each row
    when (new.fence <> 0 or new.events not in (0, 1) or new.worker <> '' or new.lease_until is not null)
    execute function oasflow_work_fits();

-- Nobody comes to have a run that has ended: whoever had it at its end is the last one.
create function oasflow_worker_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from oasflow.runs r where r.run_id = new.run_id
               and (r.archived_at is not null or r.status in ('completed', 'rejected', 'stopped'))) then
        new.worker := '';
        new.lease_until := null;
    end if;
    return new;
end $$;
create trigger work_of_ended_runs before update of worker, lease_until on work for each row
    when (new.worker <> '' and new.worker <> old.worker
          or new.lease_until > old.lease_until + interval '1 hour'
          or new.lease_until is not null and old.lease_until is null)
    execute function oasflow_worker_fits();

-- ------------------------------------------------------------------ events

-- The number of an event is the next one, whatever the statement says, so that none is taken in
-- advance.  An ended run has no further events: what a process still tells of it is dropped.
-- The look at the run is in the place of the foreign key, which would look a second time at each event.
create function oasflow_event_follows() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    standing text;
    archived timestamptz;
    last bigint;
begin
    -- First the lock: what was committed while this waited for it, only the next statement sees.
    perform from oasflow.work w where w.run_id = new.run_id for share;
    select r.status, r.archived_at,
           (select e.seq from oasflow.run_events e where e.run_id = new.run_id
            order by e.seq desc limit 1)
    into standing, archived, last
    from oasflow.runs r where r.run_id = new.run_id;
    if archived is not null then
        if not oasflow.oasflow_ends_now(new.run_id) or (new.kind, new.name) <> ('run', 'archived')
           or exists (select from oasflow.run_events e
                      where e.run_id = new.run_id and (e.kind, e.name) = ('run', 'archived')) then
            return null;
        end if;
    elsif standing in ('completed', 'rejected', 'stopped') then
        if not oasflow.oasflow_ends_now(new.run_id) then
            return null;
        end if;
    elsif standing is null then
        raise exception 'there is no run %', new.run_id using errcode = 'foreign_key_violation';
    end if;
    new.seq := coalesce(last, 0) + 1;
    return new;
end $$;
alter table run_events drop constraint run_events_run_id_fkey;
create trigger events_follow before insert on run_events
    for each row execute function oasflow_event_follows();

-- ------------------------------------------------------------------ gates and decisions

-- A gate is of its run, and begins as one that waits.  What a process parks in a run that was stopped
-- meanwhile is no gate: nobody is asked there.
create function oasflow_gate_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    standing text := oasflow.oasflow_takes_rows(new.run_id);
    decided timestamptz;
begin
    if standing = 'late' then
        return null;
    elsif standing = 'closed' then
        raise exception 'a run that has ended has no further gates'
            using errcode = 'integrity_constraint_violation';
    elsif exists (select from oasflow.runs r where r.run_id = new.run_id and r.tenant <> new.tenant) then
        raise exception 'a gate is of the tenant of its run'
            using errcode = 'integrity_constraint_violation';
    end if;
    if new.state = 'decided' then
        select d.decided_at into decided from oasflow.decisions d
        where (d.run_id, d.gate_id, d.payload_sha256) = (new.run_id, new.gate_id, new.payload_sha256);
        if not found then
            raise exception 'a gate is decided by a decision'
                using errcode = 'integrity_constraint_violation';
        end if;
        new.settled_at := decided;
    else
        new.settled_at := case when new.state = 'closed' then clock_timestamp() end;
    end if;
    return new;
end $$;
create trigger gates_fit before insert on gates
    for each row execute function oasflow_gate_fits();

-- As 010, and its moments are the database's.  A gate keeps the interrupt under which it was decided.
-- Of an ended run only an open gate is closed, and the mark goes that says whether somebody has to go
-- on for it.
create or replace function oasflow_gate_stays() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if tg_op = 'UPDATE' and (old.state <> 'decided' or new.state = 'decided')
       and (new.run_id, new.gate_id, new.payload_sha256, new.tenant, new.node, new.visit, new.step,
            new.payload::text, new.response_schema::text, new.opened_at, new.deadline)
           is not distinct from
           (old.run_id, old.gate_id, old.payload_sha256, old.tenant, old.node, old.visit, old.step,
            old.payload::text, old.response_schema::text, old.opened_at, old.deadline)
       and (new.interrupt = old.interrupt
                and (new.state, new.settled_at) is not distinct from (old.state, old.settled_at)
            or new.interrupt = old.interrupt and old.state = 'open' and new.state = 'closed'
            or oasflow.oasflow_takes_rows_at_once(new.run_id) = 'open')
    then
        if old.state = 'decided' then
            new.interrupt := old.interrupt;
            new.settled_at := old.settled_at;
            return new;
        elsif new.state = 'decided' then
            select d.decided_at into new.settled_at from oasflow.decisions d
            where (d.run_id, d.gate_id, d.payload_sha256)
                  = (new.run_id, new.gate_id, new.payload_sha256);
            if found then
                return new;
            end if;
        else
            new.settled_at := case
                when new.state = old.state then old.settled_at
                when new.state = 'closed' then clock_timestamp() end;
            return new;
        end if;
    end if;
    raise exception 'what a gate showed stays, and so does its decision: % is refused', lower(tg_op)
        using errcode = 'integrity_constraint_violation';
end $$;

-- As 005.  A person decides what stands open as it was shown; what the policy skipped, nobody was asked.
create or replace function oasflow_decision_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    of_run record;
begin
    -- Locked: the run does not end between this look and the commit.
    select tenant, status, updated_at, archived_at into of_run
    from oasflow.runs where run_id = new.run_id for share;
    if not found then
        return new;                              -- the foreign key refuses it
    end if;
    if new.tenant <> of_run.tenant then
        raise exception 'a decision is of the tenant of its run'
            using errcode = 'integrity_constraint_violation';
    end if;
    -- A run may be stopped while it is driven: what the policy had skipped by then is noted after, for
    -- a day at most.
    if of_run.status in ('completed', 'rejected') or of_run.archived_at is not null
       or (of_run.status = 'stopped'
           and (new.kind <> 'auto_skipped'
                or of_run.updated_at < clock_timestamp() - interval '1 day')) then
        raise exception 'a run that has ended takes no decision'
            using errcode = 'integrity_constraint_violation';
    end if;
    if new.kind = 'auto_skipped' then
        if new.decided_by <> 'policy' or new.answer::text <> '{}' or new.payload_sha256 <> '' then
            raise exception 'what the policy skips, nobody answers'
                using errcode = 'integrity_constraint_violation';
        end if;
    elsif not exists (
        select from oasflow.gates g
        where (g.run_id, g.gate_id, g.payload_sha256, g.node, g.visit, g.step)
              = (new.run_id, new.gate_id, new.payload_sha256, new.node, new.visit, new.step)
          and (g.state = 'open' or exists (
              select from oasflow.decisions d where (d.run_id, d.gate_id, d.payload_sha256)
                     = (new.run_id, new.gate_id, new.payload_sha256)))) then  -- the key refuses it
        raise exception 'a decision is of a gate that is open, as it was shown'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;

-- ------------------------------------------------------------------ the ledger

-- A call begins once, as one that nobody has an answer of, in a run that goes on.  As with events, the
-- look at the run is in the place of the foreign key.
create function oasflow_effect_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    standing text;
    whose text;
begin
    perform from oasflow.work w where w.run_id = new.run_id for share;
    select case when r.archived_at is null then r.status else 'stopped' end, r.tenant
    into standing, whose
    from oasflow.runs r where r.run_id = new.run_id;
    if standing is null then
        raise exception 'there is no run %', new.run_id using errcode = 'foreign_key_violation';
    elsif standing in ('completed', 'rejected', 'stopped') then
        raise exception 'a run that has ended begins no call'
            using errcode = 'integrity_constraint_violation';
    elsif whose <> new.tenant then
        raise exception 'a call is of the tenant of its run'
            using errcode = 'integrity_constraint_violation';
    elsif new.status <> 'begun' or new.attempts <> 1 or new.ended_at is not null
          or new.result is not null or new.usage is not null or new.error is not null then
        raise exception 'a call begins as one that was begun'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
alter table effects drop constraint effects_run_id_fkey;
create trigger effects_fit before insert on effects
    for each row execute function oasflow_effect_fits();

-- As 011.  Attempts are counted, moments are the database's, and of an ended run only two things still
-- come: the end of a call that was out when it was rejected or stopped, from the process that has the
-- run; and a person's word on a call of which nobody knew.
create or replace function oasflow_effect_stays() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    kept oasflow.effects;
    standing text;
    archived timestamptz;
begin
    if tg_op = 'UPDATE' then
        if old.status <> 'done'
           and (new.run_id, new.key, new.tenant, new.kind, new.path, new.visit, new.item, new.begun_at)
               is not distinct from
               (old.run_id, old.key, old.tenant, old.kind, old.path, old.visit, old.item, old.begun_at)
           and new.attempts between old.attempts and old.attempts::bigint + 1
        then
            new.ended_at := case when new.status = 'begun' then null
                                 when new.ended_at is null then null
                                 when new.ended_at is distinct from old.ended_at
                                      or new.status <> old.status then clock_timestamp()
                                 else old.ended_at end;
            if old.status = 'unknown' and new.status in ('done', 'failed') then
                new.settled_in := pg_current_xact_id();
                new.settled_at := transaction_timestamp();
            end if;
            -- Whoever ends the call has locked its run; only of one that has ended more is asked.
            select r.status, r.archived_at into standing, archived
            from oasflow.runs r where r.run_id = new.run_id;
            standing := case when archived is null
                                  and standing not in ('completed', 'rejected', 'stopped') then 'open'
                             else oasflow.oasflow_takes_rows_at_once(new.run_id) end;
            if standing = 'open' and (old.status <> 'unknown' or new.status in ('done', 'failed')) then
                return new;
            end if;
            kept := new;
            kept.status := old.status;
            kept.result := old.result;
            kept.usage := old.usage;
            kept.error := old.error;
            kept.ended_at := old.ended_at;
            kept.settled_in := old.settled_in;
            kept.settled_at := old.settled_at;
            if kept::text = old::text
               and (old.status = 'unknown' and new.status in ('done', 'failed')
                    or old.status = 'begun' and new.status <> 'begun' and standing = 'late') then
                return new;
            end if;
        end if;
        kept := new;
        kept.result := old.result;
        kept.result_sha256 := old.result_sha256;
        if kept::text = old::text and new.result is null
           and new.result_sha256 = encode(sha256(convert_to(old.result::text, 'UTF8')), 'hex')
           and exists (select from oasflow.runs r
                       where r.run_id = old.run_id and r.archived_at is not null) then
            return new;
        end if;
    end if;
    raise exception 'the record of a call that was made stays: % is refused', lower(tg_op)
        using errcode = 'integrity_constraint_violation';
end $$;

-- What nobody knew is known by a person's word, and by nothing else.
create function oasflow_effect_is_settled() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (
        select from oasflow.settlements s
        where (s.run_id, s.key, s.attempts) = (new.run_id, new.key, new.attempts)
          and s.happened = (new.status = 'done')) then
        raise exception 'a call of which nobody knows is settled by a person'
            using errcode = 'integrity_constraint_violation';
    end if;
    return null;
end $$;
create constraint trigger effects_are_settled after update of status on effects
    deferrable initially deferred for each row
    when (old.status = 'unknown' and new.status in ('done', 'failed'))
    execute function oasflow_effect_is_settled();

-- A person's word is on a call that was unknown until this transaction.
create function oasflow_settlement_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (
        select from oasflow.effects e
        where (e.run_id, e.key, e.attempts, e.tenant) = (new.run_id, new.key, new.attempts, new.tenant)
          and e.settled_in = pg_current_xact_id() and e.settled_at = transaction_timestamp()
          and new.happened = (e.status = 'done')
          and new.result::text is not distinct from e.result::text) then
        raise exception 'a settlement is of a call of which nobody knew'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger settlements_fit before insert on settlements
    for each row execute function oasflow_settlement_fits();

-- ------------------------------------------------------------------ decision records and memory

-- As 017.  A record is its own run's, under its run's name and tenant; a correction names a record of
-- the same chain.
create or replace function oasflow_record_follows() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    before record;
    run record;
    told json := new.record::json;
begin
    perform new.transcript::json;
    select r.tenant, r.governed into run
    from oasflow.runs r where r.run_id = new.run_id for key share;
    select seq, record_hash, run_status into before from oasflow.decision_records d
    where d.run_id = new.run_id order by d.seq desc limit 1;
    if new.seq <> coalesce(before.seq, 0) + 1
       or new.previous_hash is distinct from before.record_hash then
        raise exception 'a decision record follows the one before it'
            using errcode = 'integrity_constraint_violation';
    end if;
    if told ->> 'record_id' is distinct from new.record_id
       or told ->> 'record_hash' is distinct from new.record_hash
       or told ->> 'previous_record_hash' is distinct from new.previous_hash
       or told ->> 'sequence' is distinct from new.seq::text
       or told ->> 'status' is distinct from new.status then
        raise exception 'a decision record is what its row says'
            using errcode = 'integrity_constraint_violation';
    end if;
    if before.run_status in ('completed', 'rejected', 'stopped')
       and (told ->> 'corrects' is null or new.run_status <> before.run_status) then
        raise exception 'only a correction follows the record of a run that has ended'
            using errcode = 'integrity_constraint_violation';
    end if;
    if told ->> 'corrects' is not null and not exists (
        select from oasflow.decision_records d
        where d.run_id = new.run_id and d.record_id = told ->> 'corrects') then
        raise exception 'a correction names a record of its own chain'
            using errcode = 'integrity_constraint_violation';
    end if;
    if new.tenant is distinct from run.tenant or not run.governed
       or new.record_id <> 'dr_' || new.run_id || '_' || new.seq then
        raise exception 'a decision record is of its governed run, by tenant and by name'
            using errcode = 'integrity_constraint_violation';
    end if;
    new.made_in := pg_current_xact_id();
    return new;
end $$;

-- A record of an end comes with the end: one that came before it would keep the run from ending.
create function oasflow_record_is_true() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (select from oasflow.runs r
                   where r.run_id = new.run_id and r.status = new.run_status) then
        raise exception 'a decision record of a run that is % comes with that', new.run_status
            using errcode = 'integrity_constraint_violation';
    end if;
    return null;
end $$;
create constraint trigger records_are_true after insert on decision_records
    deferrable initially deferred for each row
    when (new.run_status in ('completed', 'rejected', 'stopped'))
    execute function oasflow_record_is_true();

-- What a run would like to be remembered, it says until its end.
create function oasflow_proposal_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if oasflow.oasflow_takes_rows(new.run_id) = 'closed'
       or exists (select from oasflow.runs r where r.run_id = new.run_id and r.tenant <> new.tenant)
       or new.proposal::json ->> 'proposal_id' is distinct from new.proposal_id then
        raise exception 'a proposal is of its run, by tenant and by name, until the run has ended'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger memory_proposals_fit before insert on memory_proposals
    for each row execute function oasflow_proposal_fits();

-- ------------------------------------------------------------------ choices, artifacts, files, objects

-- A host may have runs of its own, of which nothing is known here.
create function oasflow_choice_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if oasflow.oasflow_takes_rows(new.parent_run_id) = 'closed' then
        raise exception 'a run that has ended chooses nothing'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger selections_fit before insert on run_context_selections
    for each row execute function oasflow_choice_fits();
create trigger finalizes_fit before insert on context_finalizes
    for each row execute function oasflow_choice_fits();

create function oasflow_object_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if oasflow.oasflow_takes_rows(new.run_id) = 'closed' then
        raise exception 'a run that has ended saves nothing'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger saved_objects_fit before insert on saved_objects
    for each row execute function oasflow_object_fits();

-- Versions and revisions follow each other: no number leaves no room for the next one.  A host that
-- copies artifacts from elsewhere may have left some revisions out.
create function oasflow_version_follows() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if oasflow.oasflow_takes_rows(new.run_id) = 'closed' then
        raise exception 'a run that has ended saves nothing'
            using errcode = 'integrity_constraint_violation';
    elsif new.version > 1 + coalesce((select max(v.version) from oasflow.saved_object_versions v
                                      where v.object_id = new.object_id), 0) then
        raise exception 'a version follows the one before it'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger saved_object_versions_follow before insert on saved_object_versions
    for each row execute function oasflow_version_follows();

create function oasflow_revision_follows() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if new.revision > 1000 + coalesce((
        select max(r.revision) from oasflow.representations r
        where (r.org_id, r.artifact_id) = (new.org_id, new.artifact_id)), 0) then
        raise exception 'a revision follows the one before it'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger revisions_follow before insert on representations
    for each row execute function oasflow_revision_follows();

create function oasflow_attachment_follows() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if new.revision > 1 + coalesce((
        select max(a.revision) from oasflow.attachments a
        where (a.tenant, a.artifact_id) = (new.tenant, new.artifact_id)), 0) then
        raise exception 'a revision follows the one before it'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger attachments_follow before insert on attachments
    for each row execute function oasflow_attachment_follows();

-- The bytes of a file are there before its row, so that none are added to a file that is there.
create function oasflow_piece_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from oasflow.attachments a
               where (a.tenant, a.artifact_id, a.revision_id)
                     = (new.tenant, new.artifact_id, new.revision_id)) then
        raise exception 'no bytes are added to a file that is there'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger attachment_pieces_fit before insert on attachment_pieces
    for each row execute function oasflow_piece_fits();

-- None of them is off in a session that poses as a replica.
alter table runs enable always trigger children_fit;
alter table runs enable always trigger runs_have_work;
alter table work enable always trigger work_counts;
alter table work enable always trigger work_begins;
alter table work enable always trigger work_of_ended_runs;
alter table run_events enable always trigger events_follow;
alter table gates enable always trigger gates_fit;
alter table effects enable always trigger effects_fit;
alter table effects enable always trigger effects_are_settled;
alter table settlements enable always trigger settlements_fit;
alter table decision_records enable always trigger records_are_true;
alter table memory_proposals enable always trigger memory_proposals_fit;
alter table run_context_selections enable always trigger selections_fit;
alter table context_finalizes enable always trigger finalizes_fit;
alter table saved_objects enable always trigger saved_objects_fit;
alter table saved_object_versions enable always trigger saved_object_versions_follow;
alter table representations enable always trigger revisions_follow;
alter table attachments enable always trigger attachments_follow;
alter table attachment_pieces enable always trigger attachment_pieces_fit;

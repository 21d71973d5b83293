-- What is due, and how runs are listed, whatever number of them waits or has ended.  And a run's row moves in
-- no index while the run goes on: most updates stay on their page.
-- What changes at each step of a run and has to be found is in two narrow tables, which triggers keep: a
-- value in an index of `runs` would be written again into every index of it.

-- A run that is worked on, or that somebody has to go on with: never begun, or left by a worker.
create table running (
    since   timestamptz not null,                -- `created_at` of the run, which never changes
    run_id  text not null,
    tenant  text not null,
    primary key (since, run_id)                  -- the only index: a row comes and goes with each activation
);

-- How each run stood when it last came to rest, or was created: what lists are ordered and chosen by.
create table rests (
    run_id      text primary key,
    tenant      text not null,
    digest      text not null,
    started_by  text,
    status      text not null,
    changed_at  timestamptz not null,            -- `updated_at` of the run
    archived    boolean not null default false,
    layout      integer not null                 -- `lowering` of the run
) with (fillfactor = 70);

-- The name of a process that is about to claim the run is not needed, only that it is: other sweeps leave the
-- run to it for a moment.  Nobody else is kept from the run by it.
alter table work add column offered_until timestamptz;

create function oasflow_run_stands() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    if new.status = 'running' then
        insert into oasflow.running (since, run_id, tenant)
        values (new.created_at, new.run_id, new.tenant) on conflict do nothing;
    else
        delete from oasflow.running x where (x.since, x.run_id) = (new.created_at, new.run_id);
    end if;
    if tg_op = 'INSERT' then
        insert into oasflow.rests (run_id, tenant, digest, started_by, status, changed_at, archived,
                                   layout)
        values (new.run_id, new.tenant, new.digest, new.started_by, new.status, new.updated_at,
                new.archived_at is not null, new.lowering)
        on conflict (run_id) do update set status = excluded.status, changed_at = excluded.changed_at,
                                           archived = excluded.archived;
        return null;
    end if;
    if (new.updated_at, new.archived_at, new.lowering)
       is distinct from (old.updated_at, old.archived_at, old.lowering) then
        update oasflow.rests t set status = new.status, changed_at = new.updated_at,
                                   archived = new.archived_at is not null, layout = new.lowering
        where t.run_id = new.run_id;
    end if;
    if new.status in ('rejected', 'stopped') then
        -- Nobody goes on for what was decided before.
        update oasflow.gates g set fence = 0
        where g.run_id = new.run_id and g.state = 'decided' and g.fence > 0;
    end if;
    return null;
end $$;
revoke all on function oasflow_run_stands() from public;
create trigger runs_stand_at_first after insert on runs for each row
    execute function oasflow_run_stands();
create trigger runs_stand after update on runs for each row
    when ((old.status, old.updated_at, old.archived_at, old.lowering)
          is distinct from (new.status, new.updated_at, new.archived_at, new.lowering))
    execute function oasflow_run_stands();
alter table runs enable always trigger runs_stand_at_first;
alter table runs enable always trigger runs_stand;

insert into running (since, run_id, tenant)
select created_at, run_id, tenant from runs where status = 'running' on conflict do nothing;
insert into rests (run_id, tenant, digest, started_by, status, changed_at, archived, layout)
select run_id, tenant, digest, started_by, status, updated_at, archived_at is not null, lowering
from runs
on conflict do nothing;
update gates g set fence = 0
from runs r where r.run_id = g.run_id and g.state = 'decided' and g.fence > 0
  and r.status in ('rejected', 'stopped');

create index rests_by_time on rests (changed_at);
create index rests_by_status on rests (status, changed_at);
create index rests_by_tenant on rests (tenant, changed_at) where tenant <> '';
create index rests_by_flow on rests (digest, changed_at);
create index rests_by_starter on rests (started_by, changed_at) where started_by <> '';
create index rests_to_archive on rests (changed_at, run_id)
    where not archived and status in ('completed', 'rejected', 'stopped', 'failed');

-- As 018, and the moment of a claim is in `work`: being worked on is no change of how a run stands.
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
            new.updated_at := case when new.attempts = old.attempts then clock_timestamp()
                                   else old.updated_at end;
            return new;
        end if;
    end if;
    raise exception 'a run that has ended stays as it is, and none is deleted: % is refused',
        lower(tg_op) using errcode = 'integrity_constraint_violation';
end $$;

drop index runs_by_status, runs_by_tenant, runs_by_flow, runs_by_starter, runs_to_archive, work_by_lease;
-- For the beginning of an id, which people type.
create index runs_by_id on runs (tenant, run_id collate "C");
alter table runs set (fillfactor = 60);

-- By the moment of the decision: the oldest first.
drop index decided_gates_parked;
create index decided_gates_parked on gates (settled_at, run_id) where state = 'decided' and fence > 0;

-- Archiving: of a run that has ended, what only going on needs is removed, and the evidence stays.

alter table effects add column result_sha256 text not null default '';   -- of a result that was removed

create index runs_to_archive on runs (updated_at, run_id)
    where archived_at is null and status in ('completed', 'rejected', 'stopped', 'failed');

-- As before; an ended run may be archived, once, which is no change of it, and an archived run stays
-- as it is even where it had failed.
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
            new.updated_at := clock_timestamp();
            return new;
        end if;
    end if;
    raise exception 'a run that has ended stays as it is, and none is deleted: % is refused',
        lower(tg_op) using errcode = 'integrity_constraint_violation';
end $$;

-- As before; the result of a call of an archived run may go, where its hash stays.
create or replace function oasflow_effect_stays() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    kept oasflow.effects;
begin
    if tg_op = 'UPDATE' then
        if old.status <> 'done'
           and (new.run_id, new.key, new.tenant) is not distinct from (old.run_id, old.key, old.tenant)
        then
            return new;
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

-- The only way to remove checkpoints, so that the role which runs flows needs no right to delete any.
-- One run, all of it or nothing; no row where it has not ended, was archived before, is another
-- tenant's, or somebody has it at this moment.  The fence moves: a worker that was stopped and wakes
-- up writes nothing.
create function oasflow_archive_run(named text, of_tenant text, archived_by text, with_failed boolean)
returns table (checkpoints bigint, blobs bigint, writes bigint, results bigint)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    last_event bigint;
begin
    perform from oasflow.work w
    where w.run_id = named and (w.lease_until is null or w.lease_until < clock_timestamp())
    for update skip locked;
    if not found then
        return;
    end if;
    update oasflow.runs r set archived_at = clock_timestamp()
    where r.run_id = named and r.archived_at is null and (of_tenant is null or r.tenant = of_tenant)
      and (r.status in ('completed', 'rejected', 'stopped')
           or with_failed and r.status = 'failed' and r.retry_at is null);
    if not found then
        return;
    end if;
    update oasflow.work w
    set fence = w.fence + 1, events = w.events + 1, worker = '', backend_pid = null, lease_until = null
    where w.run_id = named returning w.events into last_event;
    insert into oasflow.run_events (run_id, seq, kind, name, data)
    values (named, last_event, 'run', 'archived', json_build_object('by', archived_by));
    update oasflow.gates g set state = 'closed', settled_at = clock_timestamp()
    where g.run_id = named and g.state = 'open';
    update oasflow.effects e
    set result = null, result_sha256 = encode(sha256(convert_to(e.result::text, 'UTF8')), 'hex')
    where e.run_id = named and e.result is not null;
    get diagnostics results = row_count;
    delete from oasflow.checkpoints c where c.thread_id = named;
    get diagnostics checkpoints = row_count;
    delete from oasflow.checkpoint_blobs b where b.thread_id = named;
    get diagnostics blobs = row_count;
    delete from oasflow.checkpoint_writes w where w.thread_id = named;
    get diagnostics writes = row_count;
    perform pg_notify('oasflow_events', named);
    return next;
end $$;
revoke execute on function oasflow_archive_run(text, text, text, boolean) from public;

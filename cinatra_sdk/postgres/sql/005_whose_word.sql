-- What the database itself says of a row, whoever writes it: when that was, and how a run begins.
-- Who stopped a run, and why.  And a decision fits the run that it is of.
-- Rows of before stay as they are: nothing here looks at them.

-- Not now(), which is when a transaction began: one can be kept open for days.
alter table flows alter column created_at set default clock_timestamp();
alter table runs
    alter column created_at set default clock_timestamp(),
    alter column updated_at set default clock_timestamp(),
    alter column status set default 'running',
    add column stopped_by text,                  -- null: not stopped, or by a version before
    add column stop_reason text,
    add constraint only_a_stopped_run_was_stopped
        check (status = 'stopped' or (stopped_by is null and stop_reason is null));
alter table decisions alter column decided_at set default clock_timestamp();

-- As before, and the moment of a change is the database's.  That of the last one is when a run ended.
create or replace function oasflow_run_stays() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if tg_op = 'UPDATE' and old.status not in ('completed', 'rejected', 'stopped') then
        new.updated_at := clock_timestamp();
        return new;
    end if;
    raise exception 'a run that has ended stays as it is, and none is deleted: % is refused',
        lower(tg_op) using errcode = 'integrity_constraint_violation';
end $$;

create function oasflow_decision_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    of_run record;
begin
    -- Locked: the run does not end between this look and the commit.
    select tenant, status into of_run from oasflow.runs where run_id = new.run_id for share;
    if not found then
        return new;                              -- the foreign key refuses it
    end if;
    if new.tenant <> of_run.tenant then
        raise exception 'a decision is of the tenant of its run'
            using errcode = 'integrity_constraint_violation';
    end if;
    -- A run may be stopped while it is driven: what the policy had skipped by then is noted after.
    if of_run.status in ('completed', 'rejected')
       or (of_run.status = 'stopped' and new.kind <> 'auto_skipped') then
        raise exception 'a run that has ended takes no decision'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;

create trigger decisions_fit before insert on decisions
    for each row execute function oasflow_decision_fits();
alter table decisions enable always trigger decisions_fit;

-- A run that called an agent waits for that run as it waits at a gate: nobody holds anything for it.

alter table work
    -- When a run that this one began has ended since somebody claimed this one last.
    add column woken_at timestamptz,
    -- Attempts of this run of whose failure the run that began it was told.
    add column told_attempts integer not null default 0;

-- Wakes the run above: its row of `work` is written after the child's own, here and everywhere.  Whoever
-- claims the run above takes the mark away before it looks at its children, so that no end is missed.
create function oasflow_wake_parent() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    update oasflow.work w set woken_at = clock_timestamp()
    where w.run_id = new.parent_run_id and w.woken_at is null;
    if found then
        perform pg_notify('oasflow_due', '');
    end if;
    return null;
end $$;
revoke all on function oasflow_wake_parent() from public;

create trigger runs_wake_their_parent after update of status on runs
    for each row
    when (new.parent_run_id is not null
          and (new.status in ('completed', 'rejected', 'stopped')
               or new.status = 'failed' and new.retry_at is null)
          and new.status <> old.status)
    execute function oasflow_wake_parent();
alter table runs enable always trigger runs_wake_their_parent;

create index woken_work on work (woken_at, run_id) where woken_at is not null;

-- A run outlives the process and the release that began it.  Its checkpoints are made again from its evidence
-- where they are in another version's layout, damaged or gone; and whoever takes it over knows whether the
-- work before got any further.

-- Events of the run, and the moment, when it was claimed last.
alter table work add column claimed_at timestamptz,
                 add column events_at_claim bigint not null default 0;

-- Removes the checkpoints of a run that whoever calls this works on, in the transaction that writes the new
-- ones, and notes their layout.  The role that runs flows needs no right to delete any.
create function oasflow_clear_checkpoints(named text, at_fence bigint, in_layout integer)
returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform from oasflow.work w where w.run_id = named and w.fence = at_fence for update;
    if not found then
        return false;
    end if;
    update oasflow.runs r set lowering = in_layout
    where r.run_id = named and r.archived_at is null
      and r.status not in ('completed', 'rejected', 'stopped');
    if not found then
        return false;
    end if;
    delete from oasflow.checkpoints c where c.thread_id = named;
    delete from oasflow.checkpoint_blobs b where b.thread_id = named;
    delete from oasflow.checkpoint_writes w where w.thread_id = named;
    return true;
end $$;
revoke all on function oasflow_clear_checkpoints(text, bigint, integer) from public;

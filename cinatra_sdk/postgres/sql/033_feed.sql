-- Lists in the order in which runs were started; these columns never change, so no update of a run moves here.
create index runs_by_start on runs (created_at, run_id);
create index runs_of_tenant_by_start on runs (tenant, created_at, run_id) where tenant <> '';
create index runs_of_starter_by_start on runs (started_by, created_at, run_id) where started_by <> '';

-- One feed of all runs and gates.  The number of an event in it: not below the transaction that writes it, and
-- not below that of any event that was written before it in the same run, because whoever writes one has locked
-- the run's row of `work` and waited for the writer before.  So rows below every transaction that is under way
-- are all there, and those of a run come in their order.  Null: the event is no part of the feed.
alter table run_events add column told_in xid8;

create function oasflow_event_is_fed() returns trigger language plpgsql volatile
set search_path = pg_catalog, pg_temp as $$
begin
    -- In this order: the transaction has its number before the others are looked at.
    new.told_in := pg_current_xact_id();
    new.told_in := greatest(new.told_in, pg_snapshot_xmax(pg_current_snapshot()));
    return new;
end $$;
create trigger run_events_are_fed before insert on run_events for each row
    when (new.kind = 'run' and new.name not in ('started', 'left') or new.kind = 'gate'
          or new.kind = 'decision' and new.name <> 'auto_skipped')
    execute function oasflow_event_is_fed();
alter table run_events enable always trigger run_events_are_fed;
create index fed_events on run_events (told_in, run_id, seq) where told_in is not null;

-- The number of a transaction means something in its own cluster only: a database that was restored
-- elsewhere counts anew, and comes to the numbers that its records have from before.  So a record has the
-- moment of its transaction beside it, as ends of runs and words on calls have.

alter table decision_records add column made_at timestamptz;  -- null: from before, so of no transaction now

create function oasflow_record_has_moment() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    new.made_at := transaction_timestamp();
    return new;
end $$;
create trigger records_have_moment before insert on decision_records
    for each row execute function oasflow_record_has_moment();
alter table decision_records enable always trigger records_have_moment;

create or replace function oasflow_run_is_recorded() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if new.governed and new.status in ('completed', 'rejected', 'stopped', 'failed', 'waiting')
       and new.status is distinct from old.status
       and not exists (
           select from oasflow.decision_records d
           where d.run_id = new.run_id and d.run_status = new.status
             and d.made_in = pg_current_xact_id() and d.made_at = transaction_timestamp())
    then
        raise exception 'a governed run is % only with its decision record', new.status
            using errcode = 'integrity_constraint_violation';
    end if;
    return null;
end $$;

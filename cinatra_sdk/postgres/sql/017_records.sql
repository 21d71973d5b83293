-- A decision record is what its row says, and nothing but corrections follows the end of a run.

create or replace function oasflow_record_follows() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    before record;
    told json := new.record::json;
begin
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
    new.made_in := pg_current_xact_id();
    return new;
end $$;

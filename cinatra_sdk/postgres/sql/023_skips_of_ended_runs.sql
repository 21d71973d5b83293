-- A run that has ended takes no decision any more, not even the note that the policy skipped a gate; an
-- archived one takes no further record; and reasons have a bound.  Rows of before stay as they are.

-- As 018.  What the policy skipped is told while the run goes on, or in the transaction that ends it:
-- before each call what was skipped until then is stored, so a stop in the middle of one loses nothing.
create or replace function oasflow_decision_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    of_run record;
begin
    -- Locked: the run does not end between this look and the commit.
    select tenant, status, archived_at into of_run
    from oasflow.runs where run_id = new.run_id for share;
    if not found then
        return new;                              -- the foreign key refuses it
    end if;
    if new.tenant <> of_run.tenant then
        raise exception 'a decision is of the tenant of its run'
            using errcode = 'integrity_constraint_violation';
    end if;
    if of_run.archived_at is not null
       or of_run.status in ('completed', 'rejected', 'stopped')
          and not (new.kind = 'auto_skipped' and oasflow.oasflow_ends_now(new.run_id)) then
        -- What a process still tells of a run that was stopped meanwhile is dropped, as its events are.
        if new.kind = 'auto_skipped' and oasflow.oasflow_takes_rows_at_once(new.run_id) = 'late' then
            return null;
        end if;
        raise exception 'a run that has ended takes no decision'
            using errcode = 'integrity_constraint_violation';
    end if;
    if new.kind = 'auto_skipped' then
        if new.decided_by <> 'policy' or new.answer::text <> '{}' or new.payload_sha256 <> '' then
            raise exception 'what the policy skips, nobody answers'
                using errcode = 'integrity_constraint_violation';
        elsif exists (select from oasflow.gates g
                      where (g.run_id, g.gate_id) = (new.run_id, new.gate_id)) then
            raise exception 'a gate that was asked was not skipped'
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

-- ------------------------------------------------------------------ records of what was archived

-- As 018, and also a run that failed for good and was archived has ended.
create or replace function oasflow_record_follows() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    before record;
    run record;
    told json := new.record::json;
begin
    perform new.transcript::json;
    -- Locked: nobody archives the run between this look and the commit.
    select r.tenant, r.governed, r.archived_at into run
    from oasflow.runs r where r.run_id = new.run_id for share;
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
    if (before.run_status in ('completed', 'rejected', 'stopped') or run.archived_at is not null)
       and (told ->> 'corrects' is null or new.run_status is distinct from before.run_status) then
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

-- ------------------------------------------------------------------ how long texts may be

-- As `data/text/person_texts.py` bounds reasons; of rows that never change, so nobody looks at those of
-- before.  Names of gates and nodes are a flow's own, and may have any letters.
alter table decisions add constraint decisions_bounded
    check (length(reason) <= 10000 and length(gate_id) <= 10000 and length(node) <= 10000
           and length(policy_sha256) <= 200) not valid;
alter table settlements add constraint settlements_bounded check (length(reason) <= 10000) not valid;
alter table memory_reviews add constraint memory_reviews_bounded
    check (length(reason) <= 10000) not valid;

-- A run changes, and one of before keeps its reason.
create function oasflow_stop_is_bounded() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    raise exception 'the reason of a stop has 10000 letters at most' using errcode = 'check_violation';
end $$;
create trigger stops_are_bounded before update of stop_reason on runs for each row
    when (length(new.stop_reason) > 10000 and new.stop_reason is distinct from old.stop_reason)
    execute function oasflow_stop_is_bounded();
alter table runs enable always trigger stops_are_bounded;

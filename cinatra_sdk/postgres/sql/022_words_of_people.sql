-- Events of an end come with the end, a person's word on a call is given once, and names that are kept as
-- evidence are names.  Rows of before stay as they are.

-- ------------------------------------------------------------------ events of an end

-- As 018.  That a run was archived, only the archiving tells; what was written before it keeps nobody
-- from telling it.
create or replace function oasflow_event_follows() returns trigger language plpgsql
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
                      where e.run_id = new.run_id and (e.kind, e.name) = ('run', 'archived')
                        and e.at >= transaction_timestamp()) then
            return null;
        end if;
    elsif standing in ('completed', 'rejected', 'stopped') and not oasflow.oasflow_ends_now(new.run_id)
    then
        return null;
    elsif standing is null then
        raise exception 'there is no run %', new.run_id using errcode = 'foreign_key_violation';
    elsif (new.kind, new.name) = ('run', 'archived') then
        raise exception 'the event of an archive comes with it'
            using errcode = 'integrity_constraint_violation';
    end if;
    new.seq := coalesce(last, 0) + 1;
    return new;
end $$;

-- Looked at as the transaction ends: a statement may write the event before the run.
create function oasflow_event_is_true() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if not exists (select from oasflow.runs r where r.run_id = new.run_id and r.status = new.name) then
        raise exception 'the event that a run is % comes with that', new.name
            using errcode = 'integrity_constraint_violation';
    end if;
    return null;
end $$;
create constraint trigger events_are_true after insert on run_events
    deferrable initially deferred for each row
    when (new.kind = 'run' and new.name in ('completed', 'rejected', 'stopped'))
    execute function oasflow_event_is_true();
alter table run_events enable always trigger events_are_true;

-- ------------------------------------------------------------------ a person's word on a call

-- The word is on one attempt, and is written after the call's row: where it is there already, the row
-- has followed it once.  What it said of that attempt stays; only a further attempt comes to something
-- else.
create function oasflow_word_stays() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from oasflow.settlements s
               where (s.run_id, s.key, s.attempts) = (new.run_id, new.key, new.attempts)) then
        raise exception 'a person has settled this attempt of the call'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger effects_keep_words before update on effects for each row
    when (old.status in ('failed', 'unknown') and new.status <> old.status
          and new.attempts = old.attempts)
    execute function oasflow_word_stays();
alter table effects enable always trigger effects_keep_words;

-- ------------------------------------------------------------------ names

-- Whether a name is one that people can compare: 200 letters at most, and none that nobody sees
-- (`data/text/person_texts.py`, which also refuses what only newer tables of Unicode know).
create function oasflow_is_name(said text) returns boolean language sql immutable
set search_path = pg_catalog, pg_temp as $$
    select length(said) <= 200 and said collate "C" !~ (
        '[\u0001-\u001F\u007F-\u00A0\u00AD\u034F\u0600-\u0605\u061C\u06DD\u070F\u115F\u1160'
        '\u1680\u17B4\u17B5\u180B-\u180F\u2000-\u200F\u2028-\u202F\u205F-\u206F\u2800\u3000\u3164'
        '\uE000-\uF8FF\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFC\U0001BCA0-\U0001BCA3\U0001D159'
        '\U0001D173-\U0001D17A\U00013430-\U00013441\U00016FE4\U000E0000-\U000E0FFF'
        '\U000F0000-\U0010FFFD]')
$$;

-- Of rows that never change, so nobody looks at those of before.
alter table settlements add constraint settlements_named
    check (oasflow_is_name(settled_by)) not valid;
alter table decisions add constraint decisions_named
    check (oasflow_is_name(decided_by)) not valid;
alter table memory_reviews add constraint memory_reviews_named
    check (oasflow_is_name(reviewed_by)) not valid;
alter table decision_records add constraint corrections_named
    check (record::json ->> 'corrects' is null
           or oasflow_is_name(record::json #>> '{actor,id}')) not valid;

-- A run changes, and one of before keeps its name.
create function oasflow_stop_is_named() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    raise exception 'a run is stopped under a name of 200 letters at most, each of which can be seen'
        using errcode = 'check_violation';
end $$;
create trigger stops_are_named before update of stopped_by on runs for each row
    when (new.stopped_by is distinct from old.stopped_by and not oasflow_is_name(new.stopped_by))
    execute function oasflow_stop_is_named();
alter table runs enable always trigger stops_are_named;

-- As 011, under a name.
create or replace function oasflow_archive_run(
    named text, of_tenant text, archived_by text, with_failed boolean)
returns table (checkpoints bigint, blobs bigint, writes bigint, results bigint)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    last_event bigint;
begin
    if not coalesce(oasflow.oasflow_is_name(archived_by), false) then
        raise exception 'a run is archived under a name of 200 letters at most, each of which can be seen'
            using errcode = 'check_violation';
    end if;
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

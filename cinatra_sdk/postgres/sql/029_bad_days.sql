-- Bad days of a database.  A copy of it does nothing until somebody adopts it; a session may demand that a
-- standby confirms what it writes; and a person's values are erased as an act that stays.

-- Where this database lives; the last row counts.  A dump that is restored elsewhere, and a clone, bring the
-- rows of the original with them, and so know that they are none.  A standby that takes over has the system
-- identifier of the server that it followed.
create table homes (
    number             bigint generated always as identity primary key,
    system_identifier  text,                  -- of the cluster; null: the owner may not read it
    database_oid       bigint not null,       -- 0: nowhere, so that every database is a copy
    timeline           integer not null,      -- grows with each promotion, and each restore to a moment
    why                text not null check (why in ('migrated', 'adopted', 'disowned')),
    by_whom            text not null default '',
    at                 timestamptz not null default clock_timestamp()
);
create trigger homes_stay before update or delete on homes
    for each row execute function oasflow_append_only();
create trigger homes_are_not_emptied before truncate on homes
    for each statement execute function oasflow_append_only();
alter table homes enable always trigger homes_stay;
alter table homes enable always trigger homes_are_not_emptied;

-- What the server says of itself.  As the owner: a server may keep its identifier from other roles.
create function oasflow_here(out system_identifier text, out database_oid bigint, out timeline integer)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if has_function_privilege('pg_control_system()', 'execute') then
        system_identifier := (select s.system_identifier::text from pg_control_system() as s);
    end if;
    database_oid := (select d.oid::bigint from pg_database d where d.datname = current_database());
    if not pg_is_in_recovery() then
        timeline := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer;
    elsif has_function_privilege('pg_control_checkpoint()', 'execute') then
        timeline := (select c.timeline_id from pg_control_checkpoint() as c);
    end if;
end $$;

-- Whether the database lives elsewhere than its last row of `homes` says.
create function oasflow_is_copy() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    home record;
begin
    select h.system_identifier, h.database_oid into home
    from oasflow.homes h order by h.number desc limit 1;
    if not found or home.database_oid is distinct from (
        select d.oid::bigint from pg_database d where d.datname = current_database()) then
        return true;
    elsif home.system_identifier is null then
        return false;
    end if;
    return not has_function_privilege('pg_control_system()', 'execute')
        or home.system_identifier <> (select s.system_identifier::text from pg_control_system() as s);
end $$;

-- Asked before whatever makes a run go on, or is told to a person as done.  A copy may still stop its runs.
-- `oasflow.durability` is the session's own demand (`Database.open`).
create function oasflow_may_act() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if tg_argv[0] = 'here' and oasflow.oasflow_is_copy() then
        raise exception 'this database is a copy, which nobody has adopted' using errcode = 'OF001';
    elsif current_setting('oasflow.durability', true) = 'standby' then
        if current_setting('synchronous_standby_names') = '' then
            raise exception 'no synchronous standby is named' using errcode = 'OF002';
        elsif not exists (select from pg_stat_get_wal_senders()) then
            raise exception 'no standby is connected' using errcode = 'OF002';
        end if;
    end if;
    return new;
end $$;

create trigger copies_begin_nothing before insert on runs
    for each row execute function oasflow_may_act('here');
create trigger copies_decide_nothing before insert on decisions
    for each row when (new.kind <> 'auto_skipped') execute function oasflow_may_act('here');
create trigger copies_claim_nothing before update of fence on work
    for each row when (new.fence <> old.fence and new.worker <> '')
    execute function oasflow_may_act('here');
create trigger copies_call_nothing before insert on effects
    for each row execute function oasflow_may_act('here');
create trigger copies_settle_nothing before insert on settlements
    for each row execute function oasflow_may_act('here');
create trigger a_stop_is_confirmed before update of status on runs
    for each row when (new.status = 'stopped' and old.status <> 'stopped')
    execute function oasflow_may_act('anywhere');
alter table runs enable always trigger copies_begin_nothing;
alter table decisions enable always trigger copies_decide_nothing;
alter table work enable always trigger copies_claim_nothing;
alter table effects enable always trigger copies_call_nothing;
alter table settlements enable always trigger copies_settle_nothing;
alter table runs enable always trigger a_stop_is_confirmed;

-- A database of before adopts itself.
insert into homes (system_identifier, database_oid, timeline, why)
select h.system_identifier, h.database_oid, h.timeline, 'migrated' from oasflow_here() as h;

-- That a person's values were erased; not whose.
create table erasures (
    number     bigint generated always as identity primary key,
    token      text not null,                 -- stands in the place of the values
    erased_by  text not null check (erased_by <> '' and oasflow_is_name(erased_by)),
    reason     text not null default '' check (length(reason) <= 10000),
    runs       text[] not null default '{}',  -- whose rows were changed
    changed    json not null,                 -- table → rows
    erased_at  timestamptz not null default clock_timestamp()
);
create trigger erasures_stay before update or delete on erasures
    for each row execute function oasflow_append_only();
create trigger erasures_are_not_emptied before truncate on erasures
    for each statement execute function oasflow_append_only();
alter table erasures enable always trigger erasures_stay;
alter table erasures enable always trigger erasures_are_not_emptied;

-- What is kept for good, besides decisions and selections: the bytes of a flow, and how a run ended.

-- A flow is known by the sha256 of its bytes, and nobody puts others under its name beforehand.
-- Not looked for in rows of before, which would keep a database from being migrated.
alter table flows add constraint flows_digest_is_of_source
    check (digest = encode(sha256(source), 'hex')) not valid;

create trigger flows_stay before update or delete on flows
    for each row execute function oasflow_append_only();
create trigger flows_are_not_emptied before truncate on flows
    for each statement execute function oasflow_append_only();

create function oasflow_run_stays() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if tg_op = 'UPDATE' and old.status not in ('completed', 'rejected', 'stopped') then
        return new;
    end if;
    raise exception 'a run that has ended stays as it is, and none is deleted: % is refused',
        lower(tg_op) using errcode = 'integrity_constraint_violation';
end $$;

create trigger runs_stay before update or delete on runs
    for each row execute function oasflow_run_stays();
create trigger runs_are_not_emptied before truncate on runs
    for each statement execute function oasflow_append_only();

alter table flows enable always trigger flows_stay;
alter table flows enable always trigger flows_are_not_emptied;
alter table runs enable always trigger runs_stay;
alter table runs enable always trigger runs_are_not_emptied;

-- What a run saves and chooses is of the run's own organisation: its tenant, or the organisation of the
-- person whose run its host's settings say it is.  Rows of before stay as they are.

-- Also true for a run without a tenant whose settings name nobody, and for one of which nothing is known
-- here: a host may have runs of its own.
create function oasflow_is_of_run(whose text, named text) returns boolean language sql stable
set search_path = pg_catalog, pg_temp as $$
    select not exists (
        select from oasflow.runs r,
            lateral (select oasflow.oasflow_text(r.platform, 'actor', 'orgId')) as own (org)
        where r.run_id = named and (r.tenant, coalesce(own.org, '')) <> ('', '')
          and whose is distinct from r.tenant and whose is distinct from own.org)
$$;

-- As 018.
create or replace function oasflow_choice_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if oasflow.oasflow_takes_rows(new.parent_run_id) = 'closed' then
        raise exception 'a run that has ended chooses nothing'
            using errcode = 'integrity_constraint_violation';
    elsif not oasflow.oasflow_is_of_run(new.org_id, new.parent_run_id) then
        raise exception 'a choice is of the organisation of its run'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;

-- As 018.
create or replace function oasflow_object_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if oasflow.oasflow_takes_rows(new.run_id) = 'closed' then
        raise exception 'a run that has ended saves nothing'
            using errcode = 'integrity_constraint_violation';
    elsif not oasflow.oasflow_is_of_run(new.org_id, new.run_id) then
        raise exception 'what a run saves is of the organisation of the run'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;

-- As 018.
create or replace function oasflow_version_follows() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if oasflow.oasflow_takes_rows(new.run_id) = 'closed' then
        raise exception 'a run that has ended saves nothing'
            using errcode = 'integrity_constraint_violation';
    elsif not coalesce((select oasflow.oasflow_is_of_run(o.org_id, new.run_id)
                        from oasflow.saved_objects o where o.id = new.object_id), true) then
        raise exception 'what a run saves is of the organisation of the run'
            using errcode = 'integrity_constraint_violation';
    elsif new.version > 1 + coalesce((select max(v.version) from oasflow.saved_object_versions v
                                      where v.object_id = new.object_id), 0) then
        raise exception 'a version follows the one before it'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;

-- An offer to a slot of a run, too.
create function oasflow_plan_fits() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if not oasflow.oasflow_is_of_run(new.org_id, new.parent_run_id) then
        raise exception 'an offer is of the organisation of its run'
            using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger plans_fit before insert on context_plans
    for each row execute function oasflow_plan_fits();
alter table context_plans enable always trigger plans_fit;

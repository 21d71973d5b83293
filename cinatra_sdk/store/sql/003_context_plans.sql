-- What was offered for a slot, and the selections that chose nothing.  Both only grow.

create table context_plans (
    -- What an allocationToken is: sha256 over everything else in the row but its time, so that a
    -- resolve that is tried again finds its plan there.
    token                text primary key check (token ~ '^[0-9a-f]{64}$'),
    org_id               text not null,
    parent_run_id        text not null,
    parent_package_name  text not null,
    slot_id              text not null,
    refs                 json not null,          -- a list of refs under their camelCase keys
    planned_at           timestamptz not null default now()
);
create index plans_by_run on context_plans (org_id, parent_run_id);

-- `run_context_selections` has a row per chosen ref, so that nothing chosen leaves none there.
-- A child that takes over its parent's selection has to tell this from nothing recorded yet.
create table empty_context_selections (
    id                   text primary key check (id ~ '^[0-9a-f]{64}$'),    -- selection key
    org_id               text not null,
    parent_run_id        text not null,
    parent_package_name  text not null,
    slot_id              text not null,
    selected_by          text not null check (selected_by in ('user', 'agent', 'autonomous')),
    selection_mode       text not null check (selection_mode in ('interactive', 'autonomous')),
    selected_at          timestamptz not null default now()
);
create index empty_selections_by_run on empty_context_selections (org_id, parent_run_id);

-- What an operator asks: everything that was chosen in a run, whoever's it is.
create index selections_in_run on run_context_selections (parent_run_id);
create index empty_selections_in_run on empty_context_selections (parent_run_id);

create trigger plans_stay before update or delete on context_plans
    for each row execute function oasflow_append_only();
create trigger plans_are_not_emptied before truncate on context_plans
    for each statement execute function oasflow_append_only();
create trigger empty_selections_stay before update or delete on empty_context_selections
    for each row execute function oasflow_append_only();
create trigger empty_selections_are_not_emptied before truncate on empty_context_selections
    for each statement execute function oasflow_append_only();

alter table context_plans enable always trigger plans_stay;
alter table context_plans enable always trigger plans_are_not_emptied;
alter table empty_context_selections enable always trigger empty_selections_stay;
alter table empty_context_selections enable always trigger empty_selections_are_not_emptied;

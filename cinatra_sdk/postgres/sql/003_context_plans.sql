-- What was offered for a slot, and the order in which selections were made.

create table context_plans (
    -- What an allocationToken is: sha256 over everything else in the row but its time, so that a
    -- resolve that is tried again finds its plan there.
    token                text primary key check (token ~ '^[0-9a-f]{64}$'),
    org_id               text not null,
    parent_run_id        text not null,
    parent_package_name  text not null,
    slot_id              text not null,
    refs                 json not null,          -- a list of refs under their camelCase keys
    -- When it was offered last.  An offer proves nothing, so that a host may delete old ones.
    planned_at           timestamptz not null default now()
);
create index plans_by_run on context_plans (org_id, parent_run_id);
create index plans_by_age on context_plans (planned_at);

-- Which selection counts, and since when: a row for each finalize that chose something else than
-- the one before it.  `run_context_selections` says what was chosen, once, and cannot tell that
-- people went back to it; and it has no row at all for a selection that chose nothing.
create table context_finalizes (
    -- Given out under a lock that is kept until the commit: later is larger.
    seq                  bigint generated always as identity primary key,
    org_id               text not null,
    parent_run_id        text not null,
    parent_package_name  text not null,
    slot_id              text not null,
    selection_mode       text not null check (selection_mode in ('interactive', 'autonomous')),
    key                  text not null check (key ~ '^[0-9a-f]{64}$'),      -- selection key
    selected_at          timestamptz not null default now()
);
create index finalizes_by_slot
    on context_finalizes (org_id, parent_run_id, parent_package_name, slot_id, seq);

insert into context_finalizes (org_id, parent_run_id, parent_package_name, slot_id,
                               selection_mode, key, selected_at)
select org_id, parent_run_id, parent_package_name, slot_id, selection_mode,
       split_part(id, ':', 1), min(selected_at)
from run_context_selections
group by org_id, parent_run_id, parent_package_name, slot_id, selection_mode, split_part(id, ':', 1)
order by min(selected_at), split_part(id, ':', 1);

-- What an operator asks: everything that was chosen in a run, whoever's it is.
create index selections_in_run on run_context_selections (parent_run_id);
create index finalizes_in_run on context_finalizes (parent_run_id);

create trigger finalizes_stay before update or delete on context_finalizes
    for each row execute function oasflow_append_only();
create trigger finalizes_are_not_emptied before truncate on context_finalizes
    for each statement execute function oasflow_append_only();

alter table context_finalizes enable always trigger finalizes_stay;
alter table context_finalizes enable always trigger finalizes_are_not_emptied;

-- Decisions of 001 are as safe from a session that poses as a replica as what was chosen.
alter table decisions enable always trigger decisions_are_kept;
alter table decisions enable always trigger decisions_are_not_truncated;

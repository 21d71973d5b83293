-- Artifacts that context slots choose from, and the record of every choice.
-- In a host with artifacts of its own these tables stay empty; its own store answers instead.

create table objects (
    id           text primary key check (id <> ''),
    org_id       text,                           -- null: nobody's; never matches anybody
    type         text not null,                  -- '@cinatra-ai/artifact:object' for artifacts
    name         text not null default '',
    owner_id     text not null,
    owner_level  text not null default 'user',
    visibility   text not null,                  -- private, org, workspace, admin, team:ID, project:ID
    deleted_at   timestamptz,
    created_at   timestamptz not null default now(),
    unique (id, org_id)                          -- what belongs to an artifact is of its organisation
);
create index artifacts_by_visibility on objects (org_id, visibility)
    where type = '@cinatra-ai/artifact:object' and deleted_at is null;
create index artifacts_by_owner on objects (org_id, owner_id)
    where type = '@cinatra-ai/artifact:object' and deleted_at is null;

-- The visibilities that let somebody in who does not own the object.  Immutable, so that the
-- planner knows them before it plans, and how few objects they may be.
create function open_visibilities(team_ids text[], project_ids text[], is_platform_admin boolean)
returns text[] language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select array['org', 'workspace']
        || array(select 'team:' || team_id from unnest(team_ids) team_id)
        || array(select 'project:' || project_id from unnest(project_ids) project_id)
        || case when is_platform_admin then array['admin'] else array[]::text[] end
$$;

create table representations (
    id           text primary key check (id <> ''),
    org_id       text not null,
    artifact_id  text not null,
    revision     integer not null check (revision >= 1),
    mime         text not null default 'text/plain',
    content      text not null default '',
    created_at   timestamptz not null default now(),
    unique (org_id, artifact_id, revision),      -- also what finds the latest one
    unique (id, org_id, artifact_id),
    -- Nobody's artifact has no revisions: a null organisation equals none.
    foreign key (artifact_id, org_id) references objects (id, org_id)
);

create table semantic_assertions (
    id           text primary key check (id <> ''),
    org_id       text not null,
    artifact_id  text not null,
    extension    text not null check (extension <> ''),
    asserted_by  text not null check (asserted_by in ('user', 'authoring_skill', 'agent', 'matcher')),
    eligibility  text not null check (eligibility in ('eligible', 'draft', 'archived')),
    created_at   timestamptz not null default now(),
    check (not (asserted_by = 'matcher' and eligibility = 'eligible')),
    unique (id, org_id, artifact_id, extension),
    foreign key (artifact_id, org_id) references objects (id, org_id)
);
create unique index one_active_assertion on semantic_assertions (org_id, artifact_id, extension)
    where eligibility <> 'archived';
create index eligible_assertions on semantic_assertions (org_id, extension, artifact_id)
    where eligibility = 'eligible';

create table run_context_selections (
    id                          text primary key    -- selection key, a colon, the ref's place in it
                                check (id ~ '^[0-9a-f]{64}:[0-9]{1,9}$'),
    org_id                      text not null,
    parent_run_id               text not null,
    parent_package_name         text not null,
    slot_id                     text not null,
    artifact_id                 text not null,
    representation_revision_id  text not null,
    semantic_assertion_id       text not null,
    extension                   text not null,
    source_scope                text not null check (source_scope in
                                    ('user', 'team', 'organization', 'workspace', 'project')),
    selected_by                 text not null check (selected_by in ('user', 'agent', 'autonomous')),
    selection_mode              text not null check (selection_mode in ('interactive', 'autonomous')),
    -- When the batch's transaction began: one moment for all rows of a batch.
    selected_at                 timestamptz not null default now(),
    -- Whoever writes a row, its three keys belong together, and what they name cannot go away.
    foreign key (representation_revision_id, org_id, artifact_id)
        references representations (id, org_id, artifact_id),
    foreign key (semantic_assertion_id, org_id, artifact_id, extension)
        references semantic_assertions (id, org_id, artifact_id, extension)
);
create index selections_by_run on run_context_selections (org_id, parent_run_id, selected_at);
create index selections_by_artifact on run_context_selections (org_id, artifact_id);

-- What was written stays: a correction is a new row.  The functions look nothing up in a schema
-- that a caller could put first, and the triggers also fire in a session that poses as a replica.

create function oasflow_append_only() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
        using errcode = 'integrity_constraint_violation';
end $$;

create trigger selections_stay before update or delete on run_context_selections
    for each row execute function oasflow_append_only();
create trigger selections_are_not_emptied before truncate on run_context_selections
    for each statement execute function oasflow_append_only();
create trigger representations_stay before update or delete on representations
    for each row execute function oasflow_append_only();
create trigger representations_are_not_emptied before truncate on representations
    for each statement execute function oasflow_append_only();

-- An assertion can only be archived: everything else about it is history.

create function oasflow_assertion_transition() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if tg_op = 'UPDATE' and old.eligibility <> 'archived' and new.eligibility = 'archived'
       and (new.id, new.org_id, new.artifact_id, new.extension, new.asserted_by, new.created_at)
           is not distinct from
           (old.id, old.org_id, old.artifact_id, old.extension, old.asserted_by, old.created_at)
    then
        return new;
    end if;
    raise exception 'a semantic assertion can only be archived: % is refused', lower(tg_op)
        using errcode = 'integrity_constraint_violation';
end $$;

create trigger assertions_are_archived before update or delete on semantic_assertions
    for each row execute function oasflow_assertion_transition();
create trigger assertions_are_not_emptied before truncate on semantic_assertions
    for each statement execute function oasflow_append_only();

alter table run_context_selections enable always trigger selections_stay;
alter table run_context_selections enable always trigger selections_are_not_emptied;
alter table representations enable always trigger representations_stay;
alter table representations enable always trigger representations_are_not_emptied;
alter table semantic_assertions enable always trigger assertions_are_archived;
alter table semantic_assertions enable always trigger assertions_are_not_emptied;

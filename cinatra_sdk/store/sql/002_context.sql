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
    created_at   timestamptz not null default now()
);
create index objects_by_org on objects (org_id, type) where deleted_at is null;

create table representations (
    id           text primary key check (id <> ''),
    org_id       text not null,
    artifact_id  text not null references objects (id),
    revision     integer not null check (revision >= 1),
    mime         text not null default 'text/plain',
    content      text not null default '',
    created_at   timestamptz not null default now(),
    unique (org_id, artifact_id, revision)       -- also what finds the latest one
);

create table semantic_assertions (
    id           text primary key check (id <> ''),
    org_id       text not null,
    artifact_id  text not null references objects (id),
    extension    text not null check (extension <> ''),
    asserted_by  text not null check (asserted_by in ('user', 'authoring_skill', 'agent', 'matcher')),
    eligibility  text not null check (eligibility in ('eligible', 'draft', 'archived')),
    created_at   timestamptz not null default now(),
    check (not (asserted_by = 'matcher' and eligibility = 'eligible'))
);
create unique index one_active_assertion on semantic_assertions (org_id, artifact_id, extension)
    where eligibility <> 'archived';
create index eligible_assertions on semantic_assertions (org_id, extension, artifact_id)
    where eligibility = 'eligible';

create table run_context_selections (
    id                          text primary key,   -- selection key, a colon, the ref's place in it
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
    selected_at                 timestamptz not null default now()
);
create index selections_by_run on run_context_selections (org_id, parent_run_id, selected_at);
create index selections_by_artifact on run_context_selections (org_id, artifact_id);

-- What was written stays: a correction is a new row.

create function oasflow_append_only() returns trigger language plpgsql as $$
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

create function oasflow_assertion_transition() returns trigger language plpgsql as $$
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

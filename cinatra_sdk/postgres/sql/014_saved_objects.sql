-- Objects that the runs of a tenant save by the tools of the platform: JSON or bytes, in versions.

create table saved_objects (
    id         text primary key,                     -- a uuid: flows tell one by its form
    org_id     text not null check (org_id <> ''),   -- nobody of another organisation reads it
    run_id     text not null,                        -- the run that saved it first
    key        text not null default '',             -- Idempotency-Key of that call; '' where there was none
    created_at timestamptz not null default clock_timestamp()
);
create unique index saved_objects_of_key on saved_objects (org_id, key) where key <> '';
create index saved_objects_of_run on saved_objects (org_id, run_id, created_at);

create table saved_object_versions (
    object_id text not null references saved_objects,
    version   integer not null check (version > 0),
    key       text not null default '',
    run_id    text not null,                         -- the run that saved this version
    type      text not null,
    mime      text not null,
    content   bytea not null,
    sha256    text not null check (sha256 = encode(sha256(content), 'hex')),
    saved_at  timestamptz not null default clock_timestamp(),
    primary key (object_id, version)
);
create unique index saved_object_versions_of_key on saved_object_versions (object_id, key)
    where key <> '';

create trigger saved_objects_stay before update or delete on saved_objects
    for each row execute function oasflow_append_only();
create trigger saved_objects_are_not_emptied before truncate on saved_objects
    for each statement execute function oasflow_append_only();
create trigger saved_object_versions_stay before update or delete on saved_object_versions
    for each row execute function oasflow_append_only();
create trigger saved_object_versions_are_not_emptied before truncate on saved_object_versions
    for each statement execute function oasflow_append_only();

alter table saved_objects enable always trigger saved_objects_stay;
alter table saved_objects enable always trigger saved_objects_are_not_emptied;
alter table saved_object_versions enable always trigger saved_object_versions_stay;
alter table saved_object_versions enable always trigger saved_object_versions_are_not_emptied;

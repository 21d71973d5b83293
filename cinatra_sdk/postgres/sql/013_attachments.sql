-- Files that people attach: their bytes, and what providers of models have of them.
-- In a host with artifacts of its own these tables stay empty; its own store answers instead.

create table attachments (
    tenant         text not null check (tenant <> ''),
    artifact_id    text not null check (artifact_id <> ''),
    revision_id    text not null check (revision_id <> ''),
    revision       integer not null check (revision >= 1),
    sha256         text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    mime           text not null check (mime <> ''),
    size           bigint not null check (size >= 0),
    origin_kind    text not null check (origin_kind in
                       ('upload', 'email_attachment', 'agent_generated', 'external_link', 'live_generator')),
    title          text,
    filename       text,
    parent_id      text check (parent_id <> ''),       -- what it came with, such as an e-mail
    parent_type    text check (parent_type <> ''),
    created_by     text not null,
    created_at     timestamptz not null default now(),
    tombstoned_at  timestamptz,                        -- from then on nobody is given the bytes
    primary key (tenant, artifact_id, revision_id),
    unique (tenant, artifact_id, revision),
    check ((parent_id is null) = (parent_type is null)),
    check (origin_kind <> 'email_attachment' or parent_id is not null)
);
create index attachments_by_content on attachments (tenant, sha256);

-- The bytes, in pieces, so that no file is ever whole in a process.  They are written in the
-- transaction that ends with the file's row, since size and hash are known at the end.
create table attachment_pieces (
    tenant       text not null,
    artifact_id  text not null,
    revision_id  text not null,
    place        integer not null check (place >= 0),
    content      bytea not null,
    primary key (tenant, artifact_id, revision_id, place),
    foreign key (tenant, artifact_id, revision_id)
        references attachments (tenant, artifact_id, revision_id) deferrable initially deferred
);
-- Most files are packed already.
alter table attachment_pieces alter column content set storage external;

-- A file is what it was; it can only be buried.
create function oasflow_attachment_transition() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if tg_op = 'UPDATE' and old.tombstoned_at is null and new.tombstoned_at is not null
       and to_jsonb(new) - 'tombstoned_at' = to_jsonb(old) - 'tombstoned_at'
    then
        return new;
    end if;
    raise exception 'an attachment can only be tombstoned: % is refused', lower(tg_op)
        using errcode = 'integrity_constraint_violation';
end $$;

create trigger attachments_are_tombstoned before update or delete on attachments
    for each row execute function oasflow_attachment_transition();
create trigger attachments_are_not_emptied before truncate on attachments
    for each statement execute function oasflow_append_only();
create trigger attachment_pieces_stay before update or delete on attachment_pieces
    for each row execute function oasflow_append_only();
create trigger attachment_pieces_are_not_emptied before truncate on attachment_pieces
    for each statement execute function oasflow_append_only();
alter table attachments enable always trigger attachments_are_tombstoned;
alter table attachments enable always trigger attachments_are_not_emptied;
alter table attachment_pieces enable always trigger attachment_pieces_stay;
alter table attachment_pieces enable always trigger attachment_pieces_are_not_emptied;

-- What a provider has, until it forgets it.  It proves nothing, and old rows may go.
create table attachment_uploads (
    tenant            text not null check (tenant <> ''),
    artifact_id       text not null,
    revision_id       text not null,
    digest            text not null,
    provider          text not null check (provider <> ''),
    provider_file_id  text not null check (provider_file_id <> ''),
    mime              text,
    size              bigint check (size >= 0),
    expires_at        timestamptz not null,
    primary key (tenant, artifact_id, revision_id, digest, provider)
);
create index attachment_uploads_by_end on attachment_uploads (tenant, provider, expires_at);

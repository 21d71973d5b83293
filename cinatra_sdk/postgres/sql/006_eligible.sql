-- What context slots choose from, found without looking at what they may not: a row for each
-- artifact and classification that somebody may be offered, with everything that decides by whom.
-- The rows say nothing of their own.  Triggers make them from `objects`, `representations` and
-- `semantic_assertions`, and the role that flows run under can only read them.

create table eligible_artifacts (
    artifact_id        text not null,
    assertion_id       text not null,
    representation_id  text not null,            -- the latest revision
    org_id             text not null,
    extension          text not null,
    visibility         text not null,
    owner_id           text not null,
    owner_level        text not null,
    name               text not null,            -- its first 200 characters
    primary key (artifact_id, assertion_id)
);

-- Everything that a resolve answers is in the index, so that the table itself is not read.
create index eligible_by_visibility on eligible_artifacts (org_id, visibility, extension)
    include (artifact_id, assertion_id, representation_id, owner_id, owner_level, name);
create index eligible_by_owner on eligible_artifacts (org_id, owner_id, extension)
    include (artifact_id, assertion_id, representation_id, visibility, owner_level, name);
-- They found these rows among all others before, and nothing else asked them.
drop index artifacts_by_visibility;
drop index artifacts_by_owner;
drop index eligible_assertions;

-- The rows as they have to be: live artifacts, classified for good, in their latest revision.
create view eligible_now as
select o.id as artifact_id, a.id as assertion_id, r.id as representation_id, o.org_id, a.extension,
       o.visibility, o.owner_id, o.owner_level, left(o.name, 200) as name
from objects o
join semantic_assertions a on a.artifact_id = o.id and a.org_id = o.org_id
cross join lateral (
    select latest.id
    from representations latest
    where latest.org_id = o.org_id and latest.artifact_id = o.id
    order by latest.revision desc
    limit 1
) r
where o.type = '@cinatra-ai/artifact:object'
  and o.deleted_at is null
  and a.eligibility = 'eligible';

-- Brings the rows of some artifacts to that.  The artifacts' own rows are locked first, in the order
-- of their ids: of two transactions that change one artifact, each in another table, the second
-- waits, and then sees what the first has written.  Under another isolation level it would go on
-- seeing what was there before, and is refused.
create function oasflow_keep_eligible(ids text[]) returns void language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'artifacts are changed under read committed, not under %',
            current_setting('transaction_isolation') using errcode = 'invalid_transaction_state';
    end if;
    perform from oasflow.objects o where o.id = any(ids) order by o.id for no key update;
    delete from oasflow.eligible_artifacts e
    where e.artifact_id = any(ids)
      and not exists (
          select from oasflow.eligible_now n
          where n.artifact_id = e.artifact_id and n.assertion_id = e.assertion_id);
    insert into oasflow.eligible_artifacts as e
        (artifact_id, assertion_id, representation_id, org_id, extension, visibility, owner_id,
         owner_level, name)
    select n.artifact_id, n.assertion_id, n.representation_id, n.org_id, n.extension, n.visibility,
           n.owner_id, n.owner_level, n.name
    from oasflow.eligible_now n
    where n.artifact_id = any(ids)
    on conflict (artifact_id, assertion_id) do update set
        representation_id = excluded.representation_id, org_id = excluded.org_id,
        extension = excluded.extension, visibility = excluded.visibility,
        owner_id = excluded.owner_id, owner_level = excluded.owner_level, name = excluded.name
    where (e.representation_id, e.org_id, e.extension, e.visibility, e.owner_id, e.owner_level,
           e.name)
        is distinct from
          (excluded.representation_id, excluded.org_id, excluded.extension, excluded.visibility,
           excluded.owner_id, excluded.owner_level, excluded.name);
end $$;
revoke all on function oasflow_keep_eligible(text[]) from public;

-- Once for each statement, with all artifacts that it was about.
create function oasflow_objects_changed() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform oasflow.oasflow_keep_eligible(array(select distinct c.id from changed c));
    return null;
end $$;
create function oasflow_parts_changed() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
    perform oasflow.oasflow_keep_eligible(array(select distinct c.artifact_id from changed c));
    return null;
end $$;
revoke all on function oasflow_objects_changed() from public;
revoke all on function oasflow_parts_changed() from public;

-- A new object has no classification yet, and none is left where one is deleted for good.
create trigger eligible_follows_objects after update on objects
    referencing new table as changed for each statement execute function oasflow_objects_changed();
create trigger eligible_follows_revisions after insert on representations
    referencing new table as changed for each statement execute function oasflow_parts_changed();
create trigger eligible_follows_assertions after insert on semantic_assertions
    referencing new table as changed for each statement execute function oasflow_parts_changed();
create trigger eligible_follows_archiving after update on semantic_assertions
    referencing new table as changed for each statement execute function oasflow_parts_changed();

alter table objects enable always trigger eligible_follows_objects;
alter table representations enable always trigger eligible_follows_revisions;
alter table semantic_assertions enable always trigger eligible_follows_assertions;
alter table semantic_assertions enable always trigger eligible_follows_archiving;

insert into eligible_artifacts select * from eligible_now;

-- Governed runs: packs that never change, a chain of decision records for each run, and what runs would
-- like to be remembered.

alter table runs add column governed boolean not null default false;  -- whether rules of packs govern it
alter table effects add column governed json;    -- what the rules said of the call; null: none govern it

-- One version of a pack, or of a catalog of decisions.
create table context_packs (
    tenant        text not null check (tenant <> ''),   -- '*': every tenant may use it
    ref           text not null check (ref ~ '^[A-Za-z0-9_.:-]+@[0-9]+\.[0-9]+\.[0-9]+$'),
    content       text not null,                        -- JSON, as it was published
    sha256        text not null check (sha256 ~ '^sha256:[0-9a-f]{64}$'),  -- of its canonical form
    published_by  text not null,
    published_at  timestamptz not null default clock_timestamp(),
    primary key (ref)
);

-- What a run came to, again and again: at each checkpoint and at its end.  A record names the hash of
-- the record before it, so that none can be taken out or changed unseen.
create table decision_records (
    run_id         text not null references runs (run_id),
    seq            integer not null check (seq >= 1),
    tenant         text not null default '',
    record_id      text not null unique,
    status         text not null check (status in
                       ('DECIDED', 'DEFERRED', 'REJECTED', 'ESCALATED', 'IN_FLIGHT', 'CLOSED')),
    run_status     text not null,                -- of the run, as the same transaction leaves it
    record         text not null,                -- JSON, as it was hashed
    record_hash    text not null check (record_hash ~ '^sha256:[0-9a-f]{64}$'),
    previous_hash  text check (previous_hash ~ '^sha256:[0-9a-f]{64}$'),
    transcript     text not null,                -- JSON: what it was made from, for whoever replays it
    made_in        xid8 not null default pg_current_xact_id(),
    created_at     timestamptz not null default clock_timestamp(),
    primary key (run_id, seq),
    check ((seq = 1) = (previous_hash is null))
);
create index decision_records_by_time on decision_records (created_at, run_id, seq);

-- The chain has no gap and no fork, and nothing follows the record of a run that has ended but a
-- correction of it.
create function oasflow_record_follows() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    before record;
begin
    select seq, record_hash into before from oasflow.decision_records d
    where d.run_id = new.run_id order by d.seq desc limit 1;
    if new.seq <> coalesce(before.seq, 0) + 1
       or new.previous_hash is distinct from before.record_hash then
        raise exception 'a decision record follows the one before it'
            using errcode = 'integrity_constraint_violation';
    end if;
    new.made_in := pg_current_xact_id();
    return new;
end $$;

create trigger records_follow before insert on decision_records
    for each row execute function oasflow_record_follows();

-- A governed run does not change how it stands for people without a record that says so.
create function oasflow_run_is_recorded() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
    if new.governed and new.status in ('completed', 'rejected', 'stopped', 'failed', 'waiting')
       and new.status is distinct from old.status
       and not exists (
           select from oasflow.decision_records d
           where d.run_id = new.run_id and d.run_status = new.status
             and d.made_in = pg_current_xact_id())
    then
        raise exception 'a governed run is % only with its decision record', new.status
            using errcode = 'integrity_constraint_violation';
    end if;
    return null;
end $$;

create constraint trigger runs_are_recorded after update of status on runs
    deferrable initially deferred for each row execute function oasflow_run_is_recorded();

create table memory_proposals (
    proposal_id  text primary key,
    run_id       text not null references runs (run_id),
    tenant       text not null default '',
    proposal     text not null,                  -- JSON
    proposed_at  timestamptz not null default clock_timestamp()
);
create index memory_proposals_by_tenant on memory_proposals (tenant, proposed_at);

-- The word of a reviewer; the first counts.
create table memory_reviews (
    proposal_id  text primary key references memory_proposals,
    verdict      text not null check (verdict in ('promoted', 'declined')),
    reviewed_by  text not null check (reviewed_by <> ''),
    reason       text not null default '',
    reviewed_at  timestamptz not null default clock_timestamp()
);

create trigger context_packs_stay before update or delete on context_packs
    for each row execute function oasflow_append_only();
create trigger context_packs_are_not_emptied before truncate on context_packs
    for each statement execute function oasflow_append_only();
create trigger decision_records_stay before update or delete on decision_records
    for each row execute function oasflow_append_only();
create trigger decision_records_are_not_emptied before truncate on decision_records
    for each statement execute function oasflow_append_only();
create trigger memory_proposals_stay before update or delete on memory_proposals
    for each row execute function oasflow_append_only();
create trigger memory_proposals_are_not_emptied before truncate on memory_proposals
    for each statement execute function oasflow_append_only();
create trigger memory_reviews_stay before update or delete on memory_reviews
    for each row execute function oasflow_append_only();
create trigger memory_reviews_are_not_emptied before truncate on memory_reviews
    for each statement execute function oasflow_append_only();

alter table context_packs enable always trigger context_packs_stay;
alter table context_packs enable always trigger context_packs_are_not_emptied;
alter table decision_records enable always trigger records_follow;
alter table decision_records enable always trigger decision_records_stay;
alter table decision_records enable always trigger decision_records_are_not_emptied;
alter table runs enable always trigger runs_are_recorded;
alter table memory_proposals enable always trigger memory_proposals_stay;
alter table memory_proposals enable always trigger memory_proposals_are_not_emptied;
alter table memory_reviews enable always trigger memory_reviews_stay;
alter table memory_reviews enable always trigger memory_reviews_are_not_emptied;

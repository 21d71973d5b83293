-- The first schema: flows, runs and decisions.  Everything, LangGraph's own tables too, lives in
-- the schema `oasflow`, so that a host can keep it in a database that it uses for other things.
-- Columns are json and not jsonb: jsonb turns 1e16 into an integer, and a value must come back as
-- it went in.

create table flows (
    digest      text primary key,                -- sha256 of exactly the bytes in `source`
    name        text not null,
    file        text not null default '',        -- as the user gave it; for people only
    source      bytea not null,
    created_at  timestamptz not null default now()
);

create table runs (
    run_id      text primary key check (run_id <> '' and length(run_id) <= 200),
    tenant      text not null default '',
    digest      text not null references flows (digest),
    status      text not null check (status in
                    ('running', 'waiting', 'completed', 'rejected', 'failed', 'stopped')),
    input       json  not null,                  -- after the border: declared inputs only
    env_names   text[] not null default '{}',    -- placeholders it was compiled with; no values
    lowering    integer not null,                -- how the compiler laid the graph out
    platform    json  not null default '{}',     -- how to make the platform again; no credential
    policy      json,                           -- the host's own policy; null = the compiler's
    waiting     json  not null default '[]',     -- the gates that wait, with their interrupts
    outputs     json,
    branch      text,
    messages    json  not null default '[]',
    error       json,                           -- {code, message, node}
    attempts    integer not null default 0,      -- activations so far
    fence       bigint not null default 0,       -- grows with every activation; later work checks it
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now()
);
create index runs_by_status on runs (status, updated_at desc);
create index runs_by_tenant on runs (tenant, updated_at desc);

create table decisions (
    run_id          text not null references runs (run_id),
    gate_id         text not null,               -- path of the gate with its visit
    tenant          text not null default '',
    node            text not null,
    visit           integer not null,
    step            integer not null,
    kind            text not null check (kind in ('approved', 'rejected', 'auto_skipped')),
    answer          json  not null,              -- exactly what resumes the gate
    decided_by      text not null,
    reason          text not null default '',
    payload_sha256  text not null,               -- of the payload that was shown
    policy_sha256   text not null,               -- of the policy in force
    decided_at      timestamptz not null default now(),
    -- One decision per visit and content, whoever is first: what was approved is what was shown.
    primary key (run_id, gate_id, payload_sha256)
);

-- A decision is evidence: nobody changes or removes one, not even by mistake.
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'oasflow.decisions is append-only' using errcode = 'restrict_violation';
end $$;
create trigger decisions_are_kept before update or delete on decisions
    for each row execute function refuse_change();
create trigger decisions_are_not_truncated before truncate on decisions
    for each statement execute function refuse_change();

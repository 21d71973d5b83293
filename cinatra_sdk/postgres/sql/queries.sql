-- Every statement of the store, by name.  Parameters are psycopg's %(name)s.  A part stands in several
-- statements.

-- part: checkpoint_rows
blobs as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select b.* from ours, rows from (
        json_to_recordset(%(blob_rows)s::json) as (
            thread_id text, checkpoint_ns text, channel text, version text, type text),
        unnest(%(blob_values)s::bytea[])) as b
    on conflict (thread_id, checkpoint_ns, channel, version) do nothing
),
checkpoint as (
    insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
                             checkpoint, metadata)
    select c.thread_id, c.checkpoint_ns, c.id, c.parent, c.checkpoint::jsonb, c.metadata::jsonb
    from ours, json_to_recordset(%(checkpoint_rows)s::json) as c (
        thread_id text, checkpoint_ns text, id text, parent text, checkpoint text, metadata text)
    on conflict (thread_id, checkpoint_ns, checkpoint_id)
        do update set checkpoint = excluded.checkpoint, metadata = excluded.metadata
),
writes as (
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
                                   channel, type, blob)
    select w.* from ours, rows from (
        json_to_recordset(%(write_rows)s::json) as (
            thread_id text, checkpoint_ns text, id text, task_id text, task_path text, place int,
            channel text, type text),
        unnest(%(write_values)s::bytea[])) as w
    on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do nothing
),
replaced as (
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
                                   channel, type, blob)
    select w.* from ours, rows from (
        json_to_recordset(%(replaced_rows)s::json) as (
            thread_id text, checkpoint_ns text, id text, task_id text, task_path text, place int,
            channel text, type text),
        unnest(%(replaced_values)s::bytea[])) as w
    on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
        do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob
),

-- part: due_runs
held as materialized (
    select l.classid::bigint << 32 | l.objid::bigint as key from pg_locks l
    where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
      and l.database = (select oid from pg_database where datname = current_database())
),
left_alone as materialized (
    (select x.run_id, x.tenant, r.attempts, x.since,
            case when r.attempts = 0 then 'created' when w.worker = '' then 'left' else 'died' end as reason, w.fence,
            w.backend_pid
     from running x join runs r using (run_id) join work w using (run_id)
     where r.status = 'running' and (r.attempts > 0 or x.since < clock_timestamp() - %(grace)s * interval '1 second')
       and (x.since, x.run_id) > (coalesce(%(after_since)s::timestamptz, '-infinity'), %(after_run)s::text)
       and (%(tenant)s::text is null or x.tenant = %(tenant)s) and x.run_id <> all (%(but)s::text[])
       and (w.lease_until is null or w.lease_until < clock_timestamp()
            or w.backend_pid is not null and not exists (
                select from held where held.key = hashtextextended('oasflow:run:' || x.run_id, 0)))
       and w.paused_at is null and (%(offered)s or w.offered_until is null or w.offered_until < clock_timestamp())
       and (r.lowering in (%(layout)s, %(graph_layout)s) or r.lowering < %(layout)s
            and coalesce(w.heartbeat_at, x.since) < clock_timestamp() - %(older_wait)s * interval '1 second')
     order by x.since, x.run_id limit %(limit)s)
    union all
    (select r.run_id, r.tenant, r.attempts, r.retry_at, 'failed', w.fence, w.backend_pid
     from runs r join work w using (run_id)
     where r.retry_at <= statement_timestamp() and r.status = 'failed'
       and (r.retry_at, r.run_id) > (coalesce(%(after_since)s::timestamptz, '-infinity'), %(after_run)s::text)
       and (%(tenant)s::text is null or r.tenant = %(tenant)s) and r.run_id <> all (%(but)s::text[])
       and (w.lease_until is null or w.lease_until < clock_timestamp()
            or w.backend_pid is not null and not exists (
                select from held where held.key = hashtextextended('oasflow:run:' || r.run_id, 0)))
       and w.paused_at is null and (%(offered)s or w.offered_until is null or w.offered_until < clock_timestamp())
       and (r.lowering in (%(layout)s, %(graph_layout)s) or r.lowering < %(layout)s
            and r.retry_at < clock_timestamp() - %(older_wait)s * interval '1 second')
     order by r.retry_at, r.run_id limit %(limit)s)
    union all
    (select g.run_id, r.tenant, r.attempts, g.settled_at, 'decided', w.fence, w.backend_pid
     from gates g join runs r using (run_id) join work w using (run_id)
     where g.state = 'decided' and g.fence > 0 and r.status = 'waiting'
       and (g.settled_at, g.run_id) > (coalesce(%(after_since)s::timestamptz, '-infinity'), %(after_run)s::text)
       and (%(tenant)s::text is null or r.tenant = %(tenant)s) and g.run_id <> all (%(but)s::text[])
       and not exists (select from gates o where o.run_id = g.run_id and o.state = 'decided' and o.fence > 0
                       and (o.settled_at, o.gate_id, o.payload_sha256)
                           < (g.settled_at, g.gate_id, g.payload_sha256))
       and (w.lease_until is null or w.lease_until < clock_timestamp()
            or w.backend_pid is not null and not exists (
                select from held where held.key = hashtextextended('oasflow:run:' || g.run_id, 0)))
       and w.paused_at is null and (%(offered)s or w.offered_until is null or w.offered_until < clock_timestamp())
       and (r.lowering in (%(layout)s, %(graph_layout)s) or r.lowering < %(layout)s
            and g.settled_at < clock_timestamp() - %(older_wait)s * interval '1 second')
     order by g.settled_at, g.run_id limit %(limit)s)
    union all
    (select w.run_id, r.tenant, r.attempts, w.woken_at, 'woken', w.fence, w.backend_pid
     from work w join runs r using (run_id)
     where w.woken_at is not null and r.status = 'waiting'
       and (w.woken_at, w.run_id) > (coalesce(%(after_since)s::timestamptz, '-infinity'), %(after_run)s::text)
       and (%(tenant)s::text is null or r.tenant = %(tenant)s) and w.run_id <> all (%(but)s::text[])
       and (w.lease_until is null or w.lease_until < clock_timestamp()
            or w.backend_pid is not null and not exists (
                select from held where held.key = hashtextextended('oasflow:run:' || w.run_id, 0)))
       and not exists (select from gates g where g.run_id = w.run_id and g.state = 'decided' and g.fence > 0)
       and w.paused_at is null and (%(offered)s or w.offered_until is null or w.offered_until < clock_timestamp())
       and (r.lowering in (%(layout)s, %(graph_layout)s) or r.lowering < %(layout)s
            and w.woken_at < clock_timestamp() - %(older_wait)s * interval '1 second')
     order by w.woken_at, w.run_id limit %(limit)s)
),
due as materialized (
    select * from left_alone order by since, run_id limit %(limit)s
)

-- part: resting_runs
-- Runs that nobody works on, and where no status is asked for, all of them.
       (%(statuses)s::text[] is null
            or t.status = any(%(statuses)s::text[]) and t.status <> 'running' and r.status <> 'running')
       and (%(run_ids)s::text[] is null or t.run_id = any(%(run_ids)s::text[]))
       and (%(tenant)s::text is null or t.tenant = %(tenant)s)
       and (%(flow)s::text is null or f.name = %(flow)s)
       and (%(started_by)s::text is null or t.started_by = %(started_by)s)
       and (%(older_than)s::interval is null or t.changed_at < now() - %(older_than)s::interval)
       and (%(newer_than)s::interval is null or t.changed_at > now() - %(newer_than)s::interval)

-- part: running_runs
-- Where this status is asked for.  `offset 0`: each is looked up, however many the planner takes them for.
       'running' = any(%(statuses)s::text[]) and r.status = 'running'
       and (%(run_ids)s::text[] is null or r.run_id = any(%(run_ids)s::text[]))
       and (%(tenant)s::text is null or r.tenant = %(tenant)s)
       and (%(flow)s::text is null or f.name = %(flow)s)
       and (%(started_by)s::text is null or r.started_by = %(started_by)s)
       and (%(older_than)s::interval is null or r.updated_at < now() - %(older_than)s::interval)
       and (%(newer_than)s::interval is null or r.updated_at > now() - %(newer_than)s::interval)

-- part: listed_runs
select r.*, w.paused_at, w.paused_by, f.name as flow_name, coalesce(r.file, f.file) as flow_file,
       case when r.status in ('completed', 'rejected', 'stopped') then '[]'::json else (
           select coalesce(json_agg(json_build_object(
                      'gate_id', g.gate_id, 'interrupt', g.interrupt, 'payload', g.payload,
                      'response_schema', g.response_schema) order by g.opened_at, g.gate_id), '[]')
           from gates g where g.run_id = r.run_id and g.state = 'open') end as open_gates,
       (select coalesce(json_agg(d.answer order by d.decided_at, d.gate_id), '[]')
        from decisions d
        where d.run_id = r.run_id and d.step = 0 and d.kind = 'approved') as filled,
       l.at as listed_at
from listed l join runs r using (run_id) join flows f using (digest) join work w using (run_id)

-- part: open_gates
from gates g join runs r using (run_id) join flows f using (digest)
where g.state = 'open' and r.status not in ('completed', 'rejected', 'stopped')
  and (%(tenant)s::text is null or g.tenant = %(tenant)s)
  and (%(flow)s::text is null or f.name = %(flow)s)
  and (%(started_by)s::text is null or r.started_by = %(started_by)s)
  and (%(older_than)s::interval is null or g.opened_at < now() - %(older_than)s::interval)
  and (%(newer_than)s::interval is null or g.opened_at > now() - %(newer_than)s::interval)
  and (%(run_id)s::text is null or g.run_id = %(run_id)s)
  and (%(step)s::int is null or g.step = %(step)s)
  and (%(risk)s::text is null
       or oasflow_member(g.response_schema, 'x-gate', 'risk')::text = %(risk)s)
  and (%(texts)s::text[] is null or exists (
      select from unnest(%(texts)s::text[]) as t
      where position(t in lower(concat(
          g.payload, oasflow_member(g.response_schema, 'x-gate')))) > 0))

-- name: save_flow
-- Keeps the bytes of a flow once.
insert into flows (digest, name, file, source)
values (%(digest)s, %(name)s, %(file)s, %(source)s)
on conflict (digest) do nothing;

-- name: load_flow
select name, file, source from flows where digest = %(digest)s;

-- name: insert_run
-- A new run, with the row of who works on it; no row comes back when the id is taken.  Nobody waits
-- for the disk where the caller goes on with the run at once and answers for it later.
with made as (
    insert into runs (run_id, tenant, digest, input, env_names, lowering, platform, policy,
                      started_by, started_sub, started_issuer, started_kind, started_proof,
                      started_channel, file, owner, session_id, parent_run_id, parent_path, deadline,
                      governed)
    values (%(run_id)s, %(tenant)s, %(digest)s, %(input)s, %(env_names)s, %(lowering)s,
            %(platform)s, %(policy)s, %(started_by)s, %(started_sub)s, %(started_issuer)s,
            %(started_kind)s, %(started_proof)s, %(started_channel)s, %(file)s, %(owner)s, %(session_id)s,
            %(parent_run_id)s, %(parent_path)s, %(deadline)s, %(governed)s)
    on conflict (run_id) do nothing
    returning run_id
),
told as (
    insert into run_events (run_id, seq, kind, name, data)
    select run_id, 1, 'run', 'created', json_build_object('by', %(started_by)s::text) from made
)
insert into work (run_id, events) select run_id, 1 from made
returning run_id,
          case when %(lasts)s then pg_notify('oasflow_due', '')::text
               else set_config('synchronous_commit', 'off', true) end;

-- name: load_run
-- Of one tenant where one is named: to others the run is not there.  Step 0 is the setup.  `showed_other`:
-- the gate has shown something else at the same visit.
select r.*, w.paused_at, w.paused_by, clock_timestamp() as now, f.name as flow_name,
       coalesce(r.file, f.file) as flow_file,
       case when r.status in ('completed', 'rejected', 'stopped') then '[]'::json else (
           select coalesce(json_agg(json_build_object(
                      'gate_id', g.gate_id, 'interrupt', g.interrupt, 'payload', g.payload,
                      'response_schema', g.response_schema,
                      'showed_other', exists (
                          select from gates o
                          where o.run_id = g.run_id and o.gate_id = g.gate_id
                            and o.payload_sha256 <> g.payload_sha256)) order by g.opened_at, g.gate_id), '[]')
           from gates g where g.run_id = r.run_id and g.state = 'open') end as open_gates,
       (select coalesce(json_agg(d.answer order by d.decided_at, d.gate_id), '[]')
        from decisions d
        where d.run_id = r.run_id and d.step = 0 and d.kind = 'approved') as filled,
       r.status = 'waiting' and w.paused_at is null and (w.woken_at is not null or exists (
           select from gates g where g.run_id = r.run_id and g.state = 'decided' and g.fence > 0))
           as can_go_on
from runs r join flows f using (digest) join work w using (run_id)
where r.run_id = %(run_id)s and (%(tenant)s::text is null or r.tenant = %(tenant)s);

-- name: begin_snapshot
-- All statements of the transaction see the same; the first one of it.
set transaction isolation level repeatable read, read only;

-- name: tell_beginning
-- When the transaction began: whatever was committed before that moment, it sees.
select transaction_timestamp() as now;

-- name: lock_run_row
-- Nobody changes the run's status, or records another decision, until the transaction ends.  With it
-- comes the database's time.
with held as materialized (
    select run_id from work where run_id = %(run_id)s for update
)
select r.status, clock_timestamp() as now from runs r join held using (run_id) for no key update of r;

-- name: load_standing
-- How a run stands (`015_children.sql`), its fence, and whether it is paused.
select now.status, now.rejected_at_gate, w.fence, w.paused_at is not null as paused
from runs r left join work w using (run_id) cross join lateral oasflow_standing(r.run_id) as now
where r.run_id = %(run_id)s;

-- name: list_runs
-- The latest change first.  A run that is worked on stands in `rests` as it stood before.
with listed as materialized (
    (select t.run_id, t.changed_at as at from rests t join runs r using (run_id) join flows f on f.digest = t.digest
     where
-- include: resting_runs
       and (%(after_at)s::timestamptz is null
            or t.changed_at <= %(after_at)s::timestamptz
               and (t.changed_at < %(after_at)s::timestamptz or t.run_id > %(after_run)s::text))
     order by t.changed_at desc, t.run_id limit %(limit)s)
    union all
    (select x.run_id, r.updated_at from running x cross join lateral (
         select * from runs where runs.run_id = x.run_id offset 0) as r join flows f using (digest)
     where
-- include: running_runs
       and (%(after_at)s::timestamptz is null
            or r.updated_at <= %(after_at)s::timestamptz
               and (r.updated_at < %(after_at)s::timestamptz or r.run_id > %(after_run)s::text))
     order by r.updated_at desc, r.run_id limit %(limit)s)
)
-- include: listed_runs
order by l.at desc, l.run_id limit %(limit)s;

-- name: list_runs_oldest_change
with listed as materialized (
    (select t.run_id, t.changed_at as at from rests t join runs r using (run_id) join flows f on f.digest = t.digest
     where
-- include: resting_runs
       and (%(after_at)s::timestamptz is null
            or (t.changed_at, t.run_id) > (%(after_at)s::timestamptz, %(after_run)s::text))
     order by t.changed_at, t.run_id limit %(limit)s)
    union all
    (select x.run_id, r.updated_at from running x cross join lateral (
         select * from runs where runs.run_id = x.run_id offset 0) as r join flows f using (digest)
     where
-- include: running_runs
       and (%(after_at)s::timestamptz is null
            or (r.updated_at, r.run_id) > (%(after_at)s::timestamptz, %(after_run)s::text))
     order by r.updated_at, r.run_id limit %(limit)s)
)
-- include: listed_runs
order by l.at, l.run_id limit %(limit)s;

-- name: list_runs_newest_start
-- By the columns of `runs`, whose indexes have this order.
with listed as materialized (
    (select t.run_id, r.created_at as at from rests t join runs r using (run_id) join flows f on f.digest = t.digest
     where
-- include: resting_runs
       and (%(tenant)s::text is null or r.tenant = %(tenant)s)
       and (%(started_by)s::text is null or r.started_by = %(started_by)s)
       and (%(after_at)s::timestamptz is null
            or r.created_at <= %(after_at)s::timestamptz
               and (r.created_at < %(after_at)s::timestamptz or r.run_id > %(after_run)s::text))
     order by r.created_at desc, r.run_id limit %(limit)s)
    union all
    (select x.run_id, x.since from running x cross join lateral (
         select * from runs where runs.run_id = x.run_id offset 0) as r join flows f using (digest)
     where
-- include: running_runs
       and (%(after_at)s::timestamptz is null
            or x.since <= %(after_at)s::timestamptz
               and (x.since < %(after_at)s::timestamptz or x.run_id > %(after_run)s::text))
     order by x.since desc, x.run_id limit %(limit)s)
)
-- include: listed_runs
order by l.at desc, l.run_id limit %(limit)s;

-- name: list_runs_oldest_start
with listed as materialized (
    (select t.run_id, r.created_at as at from rests t join runs r using (run_id) join flows f on f.digest = t.digest
     where
-- include: resting_runs
       and (%(tenant)s::text is null or r.tenant = %(tenant)s)
       and (%(started_by)s::text is null or r.started_by = %(started_by)s)
       and (%(after_at)s::timestamptz is null
            or (r.created_at, r.run_id) > (%(after_at)s::timestamptz, %(after_run)s::text))
     order by r.created_at, r.run_id limit %(limit)s)
    union all
    (select x.run_id, x.since from running x cross join lateral (
         select * from runs where runs.run_id = x.run_id offset 0) as r join flows f using (digest)
     where
-- include: running_runs
       and (%(after_at)s::timestamptz is null
            or (x.since, x.run_id) > (%(after_at)s::timestamptz, %(after_run)s::text))
     order by x.since, x.run_id limit %(limit)s)
)
-- include: listed_runs
order by l.at, l.run_id limit %(limit)s;

-- name: count_runs
-- How many fit; `limit` is where counting ends.
select count(*) as number from (
    (select from rests t join runs r using (run_id) join flows f on f.digest = t.digest
     where
-- include: resting_runs
     limit %(limit)s)
    union all
    (select from running x cross join lateral (
         select * from runs where runs.run_id = x.run_id offset 0) as r join flows f using (digest)
     where
-- include: running_runs
     limit %(limit)s)
    limit %(limit)s) as counted;

-- name: list_gates
-- The gates that wait for a decision, across all runs, the longest wait first.
select g.gate_id, g.interrupt, g.payload, g.response_schema, g.opened_at, g.run_id, g.tenant,
       f.name as flow_name, r.started_by, r.started_sub, r.started_issuer, r.owner
-- include: open_gates
  and (%(after_at)s::timestamptz is null
       or (g.opened_at, g.run_id, g.gate_id)
          > (%(after_at)s::timestamptz, %(after_run)s::text, %(after_gate)s::text))
order by g.opened_at, g.run_id, g.gate_id
limit %(limit)s;

-- name: count_gates
-- As `count_runs`.
select count(*) as number from (
    select
-- include: open_gates
    limit %(limit)s) as counted;

-- name: list_needs
-- What needs a person, across all runs, the longest wait first: gates that wait for a decision, calls of
-- which nobody knows whether they happened, failed runs that nobody tries again.
-- The error as it is: to take its code out of it here would fail for all rows where it fails for one.
with needs as (
    select 'gate' as kind, g.run_id, g.gate_id as name, g.opened_at as since, g.step,
           oasflow_member(g.response_schema, 'x-gate', 'risk')::text as risk,
           concat(g.payload, oasflow_member(g.response_schema, 'x-gate')) as content,
           g.interrupt, g.payload, g.response_schema, null::json as call, null::json as error
    from gates g join runs r using (run_id)
    where g.state = 'open' and r.status not in ('completed', 'rejected', 'stopped')
    union all
    select 'call', e.run_id, e.key, coalesce(e.ended_at, e.begun_at), null, to_json(e.risk)::text,
           concat(e.capability, ' ', e.path, ' ', e.error), null, null, null,
           json_build_object('key', e.key, 'kind', e.kind, 'capability', e.capability,
                             'path', e.path, 'visit', e.visit, 'item', e.item,
                             'attempts', e.attempts, 'begun_at', e.begun_at, 'risk', e.risk),
           e.error
    from rests t join runs r using (run_id) join effects e using (run_id)
    where t.status in ('waiting', 'failed', 'running')
      and e.status = 'unknown' and r.status in ('waiting', 'failed', 'running')
      and r.archived_at is null
    union all
    select 'failed', r.run_id, '', r.updated_at, null, null,
           r.error::text, null, null, null, null, r.error
    from rests t join runs r using (run_id)
    where t.status = 'failed' and r.status = 'failed' and r.retry_at is null and r.archived_at is null
)
select n.kind, n.run_id, n.name, n.since, n.name as gate_id, n.interrupt, n.payload,
       n.response_schema, n.call, n.error, r.tenant, f.name as flow_name, r.started_by,
       r.started_sub, r.started_issuer, r.owner
from needs n join runs r using (run_id) join flows f using (digest)
where (%(kind)s::text is null or n.kind = %(kind)s)
  and (%(tenant)s::text is null or r.tenant = %(tenant)s)
  and (%(flow)s::text is null or f.name = %(flow)s)
  and (%(started_by)s::text is null or r.started_by = %(started_by)s)
  and (%(older_than)s::interval is null or n.since < now() - %(older_than)s::interval)
  and (%(newer_than)s::interval is null or n.since > now() - %(newer_than)s::interval)
  and (%(run_id)s::text is null or n.run_id = %(run_id)s)
  and (%(step)s::int is null or n.step = %(step)s)
  and (%(risk)s::text is null or n.risk = %(risk)s)
  and (%(texts)s::text[] is null or exists (
      select from unnest(%(texts)s::text[]) as t where position(t in lower(n.content)) > 0))
  and (%(after_at)s::timestamptz is null
       or (n.since, n.run_id, n.kind, n.name)
          > (%(after_at)s::timestamptz, %(after_run)s::text, %(after_kind)s::text, %(after_name)s::text))
order by n.since, n.run_id, n.kind, n.name
limit %(limit)s;

-- name: find_risk
-- Whether any call or gate has this class of risk, of one tenant where one is named; asked about words
-- that no host knows.
select exists (select from effects where risk = %(name)s
               and (%(tenant)s::text is null or tenant = %(tenant)s))
    or exists (select from gates
               where oasflow_member(response_schema, 'x-gate', 'risk')::text = %(risk)s
               and (%(tenant)s::text is null or tenant = %(tenant)s)) as found;

-- name: count_needs
-- How many gates wait for a decision, and how many calls for a person's word.
select (select count(*) from gates g join runs r using (run_id)
        where g.state = 'open' and r.status not in ('completed', 'rejected', 'stopped')
          and (%(tenant)s::text is null or r.tenant = %(tenant)s)) as gates,
       (select count(*) from rests t join runs r using (run_id) join effects e using (run_id)
        where t.status in ('waiting', 'failed', 'running') and e.status = 'unknown' and r.status in ('waiting', 'failed', 'running')
          and r.archived_at is null and (%(tenant)s::text is null or r.tenant = %(tenant)s)) as calls;

-- name: list_flow_names
select distinct f.name from flows f
where (%(tenant)s::text is null
       or exists (select from runs r where r.digest = f.digest and r.tenant = %(tenant)s))
  and (%(after)s::text = '' or f.name > %(after)s)
order by f.name limit %(limit)s;

-- name: find_runs
-- The run with this id, and those whose ids begin so: people shorten ids.  Whoever names no tenant
-- shortens the ids of nobody's runs only; the whole id comes first.
with found as materialized (
    select r.run_id from runs r
    where r.run_id = %(prefix)s and (%(tenant)s::text is null or r.tenant = %(tenant)s)
      and (%(after)s::text = '' or r.run_id collate "C" > %(after)s::text)
    union
    (select r.run_id from runs r
     where starts_with(r.run_id collate "C", %(prefix)s) and r.tenant = coalesce(%(tenant)s, '')
       and r.run_id collate "C" > %(after)s::text
     order by r.run_id collate "C" limit %(limit)s)
)
select r.run_id, r.tenant, f.name as flow_name, r.started_by, r.started_sub, r.started_issuer,
       r.owner
from found join runs r using (run_id) join flows f using (digest)
order by r.run_id collate "C" limit %(limit)s;

-- name: end_activation
-- What an activation came to, and the run is nobody's again (whoever claims it now waits for the
-- commit of this); nothing and no row where another worker
-- has it.  A run that was stopped in the meantime stays stopped, and a rejection wins over the end of
-- a flow.
-- A decision that this activation was given, and that did not take the run past its gate, is kept with
-- the fence -1: nobody needs to go on for it again, and whoever goes on for another reason is given it.
-- With it comes the run as `load_run` would read it now; nothing of it where the run was stopped.
with news as materialized (
    select e.kind, e.name, e.path, e.visit, e.data::json as data, e.place
    from rows from (json_to_recordset(%(event_rows)s::json)
                    as (kind text, name text, path text, visit int, data text))
         with ordinality as e (kind, name, path, visit, data, place)
    where case when e.kind = 'gate' and e.name = 'opened' then not exists (
        select from gates g where g.run_id = %(run_id)s and g.state <> 'closed'
        and (g.gate_id, g.payload_sha256)
            = (e.data::json ->> 'gate', e.data::json ->> 'payload_sha256')) else true end
),
ours as materialized (
    select run_id from work where run_id = %(run_id)s and fence = %(fence)s for update
),
run as materialized (
    select r.run_id, r.status not in ('completed', 'rejected', 'stopped') as goes_on,
           now.rejected_at_gate is not null as is_rejected,
           %(status)s = 'completed' and now.rejected_at_gate is not null as was_rejected
    from ours cross join lateral oasflow_standing(ours.run_id) as now, runs r
    where r.run_id = %(run_id)s for no key update of r
),
standing as (
    select p.* from json_to_recordset(%(gate_rows)s::json)
        as p (gate_id text, sha256 text, node text, visit int, step int, interrupt text,
              payload text, response_schema text)
),
closed as (
    update gates g set state = 'closed', settled_at = clock_timestamp()
    from run where g.run_id = run.run_id and g.state = 'open'
      and not (run.goes_on and exists (
          select from standing p where (p.gate_id, p.sha256) = (g.gate_id, g.payload_sha256)))
    returning g.gate_id, g.visit
),
numbered as materialized (
    select n.*, row_number() over (order by n.place) as number from (
        select n.* from run, news n
        union all
        select 'gate', 'closed', case when c.visit > 1
                   then left(c.gate_id, -length('#' || c.visit)) else c.gate_id end, c.visit,
               json_build_object('gate', c.gate_id), 1e9::bigint - 1
        from run, closed c where run.goes_on
        union all
        select 'run', case when was_rejected then 'rejected' else %(status)s end, '', 0,
               %(ending)s::json, 1e9::bigint
        from run where goes_on) as n
),
released as (
    update work w
    set events = w.events + (select count(*) from numbered), worker = '', backend_pid = null,
        lease_until = null
    from run where w.run_id = run.run_id and w.fence = %(fence)s
    returning w.events - (select count(*) from numbered) as events_before, w.paused_at, w.paused_by,
              w.woken_at
),
told as (
    insert into run_events (run_id, seq, kind, name, path, visit, data)
    select %(run_id)s, r.events_before + n.number, n.kind, n.name, n.path, n.visit, n.data
    from released r, numbered n order by n.number
),
skipped as (
    insert into decisions (run_id, gate_id, tenant, node, visit, step, kind, answer, decided_by,
                           reason, payload_sha256, policy_sha256)
    select %(run_id)s, n.data ->> 'gate', %(tenant)s, n.data ->> 'node', n.visit,
           (n.data ->> 'step')::int, 'auto_skipped', '{}', 'policy',
           'the approval policy asks for no approval at this step', '', %(policy_sha256)s
    from run, news n where n.kind = 'decision' and n.name = 'auto_skipped' and run.goes_on
      and not exists (select from gates g
                      where (g.run_id, g.gate_id) = (%(run_id)s, n.data ->> 'gate'))
    on conflict (run_id, gate_id, payload_sha256) do nothing
    returning gate_id
),
-- include: checkpoint_rows
handed_in as (
    select p.* from json_to_recordset(%(answers)s::json) as p (gate_id text, payload_sha256 text)
),
carried_out as (
    update gates g set fence = 0
    from run where g.run_id = run.run_id and g.state = 'decided' and g.fence <> 0
      and not exists (
          select from standing p where (p.gate_id, p.sha256) = (g.gate_id, g.payload_sha256))
),
parked as (
    insert into gates as g (run_id, gate_id, payload_sha256, tenant, node, visit, step, interrupt,
                            payload, response_schema, policy_sha256, fence, state, settled_at)
    select %(run_id)s, p.gate_id, p.sha256, %(tenant)s, p.node, p.visit, p.step, p.interrupt,
           p.payload::json, p.response_schema::json, %(policy_sha256)s,
           case when h.gate_id is not null then -1 else %(fence)s end,
           case when d.run_id is not null then 'decided' when run.is_rejected then 'closed'
                else 'open' end,
           case when d.run_id is not null then d.decided_at
                when run.is_rejected then clock_timestamp() end
    from run cross join standing p left join decisions d
        on (d.run_id, d.gate_id, d.payload_sha256) = (%(run_id)s, p.gate_id, p.sha256)
    left join handed_in h on (h.gate_id, h.payload_sha256) = (p.gate_id, p.sha256)
    where run.goes_on
    on conflict (run_id, gate_id, payload_sha256) do update set
        interrupt = excluded.interrupt, fence = excluded.fence,
        state = case when g.state = 'decided' then g.state else excluded.state end,
        settled_at = case when g.state = 'decided' then g.settled_at else excluded.settled_at end
    returning g.gate_id, g.interrupt, g.payload, g.response_schema, g.state, g.fence, g.opened_at
),
ended as (
    update runs r
    set status = case when run.was_rejected then 'rejected' else %(status)s end,
        outputs = case when run.was_rejected then null else %(outputs)s::json end,
        branch = case when run.was_rejected then null else %(branch)s end,
        messages = %(messages)s, error = %(error)s,
        failures = case when %(status)s = 'failed' then r.failures + 1 else 0 end,
        retry_at = case when not run.was_rejected
                        then clock_timestamp() + %(retry_in)s::float8 * interval '1 second' end
    from run, (select count(*) from skipped) as first  -- a run that has ended takes no decision
    where r.run_id = run.run_id and run.goes_on
    returning r.*
)
select e.*, released.paused_at, released.paused_by, (select count(*) from numbered) as events,
       (select coalesce(json_agg(json_build_object(
                   'gate_id', g.gate_id, 'interrupt', g.interrupt, 'payload', g.payload,
                   'response_schema', g.response_schema) order by g.opened_at, g.gate_id), '[]')
        from parked g where g.state = 'open') as open_gates,
       (select coalesce(json_agg(d.answer order by d.decided_at, d.gate_id), '[]')
        from decisions d
        where d.run_id = %(run_id)s and d.step = 0 and d.kind = 'approved') as filled,
       e.status = 'waiting' and released.paused_at is null and (released.woken_at is not null or exists (
           select from parked g where g.state = 'decided' and g.fence > 0)) as can_go_on,
       pg_notify('oasflow_events', %(run_id)s),
       case when e.retry_at is not null then pg_notify('oasflow_due', '') end, pg_advisory_unlock_all()
from released left join ended e on true;

-- name: fail_run
-- Ends an activation that could not begin, and tells so; what the run waits for stays.
with ours as materialized (
    select run_id from work where run_id = %(run_id)s and fence = %(fence)s for update
),
failed as (
    update runs r set status = 'failed', error = %(error)s, retry_at = null
    from ours where r.run_id = ours.run_id and r.status not in ('completed', 'rejected', 'stopped')
      and r.archived_at is null
    returning r.run_id
),
released as (
    update work w
    set events = w.events + (select count(*) from failed), worker = '', backend_pid = null,
        lease_until = null
    from ours where w.run_id = ours.run_id
    returning w.events
),
told as (
    insert into run_events (run_id, seq, kind, name, data)
    select failed.run_id, released.events, 'run', 'failed', %(error)s::json from failed, released
)
select run_id, pg_notify('oasflow_events', run_id) from failed;

-- name: resume_run
-- A person goes on with the run, paused or not, which may fail as often again; nothing of a run that has
-- ended.  `is_due`: a failed run is due from now on, for whoever sweeps, and a pause stays.
with held as materialized (
    select run_id from work where run_id = %(run_id)s for update
),
goes_on as materialized (
    select r.run_id from held join runs r using (run_id)
    where r.status not in ('completed', 'rejected', 'stopped') and r.archived_at is null
),
forgotten as (
    update runs r set failures = 0,
        retry_at = case when %(is_due)s and r.status = 'failed' then clock_timestamp() end
    from goes_on g
    where r.run_id = g.run_id and (r.failures <> 0 or r.retry_at is not null or %(is_due)s)
),
counted as (
    update work w
    set events = w.events + 1, paused_at = case when %(is_due)s then w.paused_at end,
        paused_by = case when %(is_due)s then w.paused_by else '' end
    from goes_on g where w.run_id = g.run_id
    returning w.events
),
told as (
    insert into run_events (run_id, seq, kind, name, data)
    select %(run_id)s, c.events, 'run', 'resumed', json_build_object('by', %(by)s::text)
    from counted c
)
select run_id, pg_notify('oasflow_events', run_id) from goes_on;

-- name: pause_run
-- Nobody goes on with the run until a person does; the first pause counts.  No row: it is paused or has
-- ended.
with held as materialized (
    select run_id from work where run_id = %(run_id)s for update
),
goes_on as materialized (
    select r.run_id from held join runs r using (run_id)
    where r.status not in ('completed', 'rejected', 'stopped') and r.archived_at is null
      and (%(tenant)s::text is null or r.tenant = %(tenant)s)
    for no key update of r
),
paused as (
    update work w set paused_at = clock_timestamp(), paused_by = %(by)s, events = w.events + 1
    from goes_on g where w.run_id = g.run_id and w.paused_at is null
    returning w.run_id, w.events
),
told as (
    insert into run_events (run_id, seq, kind, name, data)
    select p.run_id, p.events, 'run', 'paused', json_build_object('by', %(by)s::text) from paused p
)
select run_id, pg_notify('oasflow_events', run_id) from paused;

-- name: leave_run
-- The run is nobody's again, and can be gone on with where it stands: whoever worked on it stopped before
-- the next step, which is no failure.
with ours as (
    update work set worker = '', backend_pid = null, lease_until = null, events = events + 1
    where run_id = %(run_id)s and fence = %(fence)s
    returning run_id, events
),
told as (
    insert into run_events (run_id, seq, kind, name, data)
    select run_id, events, 'run', 'left', json_build_object('reason', %(reason)s::text) from ours
)
select pg_notify('oasflow_events', run_id), pg_advisory_unlock_all() from ours;

-- name: stop_run
-- The first stop counts.
with held as materialized (
    select run_id from work where run_id = %(run_id)s for update
),
stopped as (
    update runs r set status = 'stopped', stopped_by = %(by)s, stop_reason = %(reason)s,
        stopped_sub = %(stopped_sub)s, stopped_issuer = %(stopped_issuer)s,
        stopped_kind = %(stopped_kind)s, stopped_proof = %(stopped_proof)s,
        stopped_channel = %(stopped_channel)s
    from held where r.run_id = held.run_id and (%(tenant)s::text is null or tenant = %(tenant)s)
      and status not in ('completed', 'rejected', 'stopped') and archived_at is null
    returning r.run_id
),
closed as (
    update gates g set state = 'closed', settled_at = clock_timestamp()
    from stopped where g.run_id = stopped.run_id and g.state = 'open'
    returning g.gate_id, g.visit
),
numbered as (
    select n.*, row_number() over (order by n.place, n.path) as number from (
        select 1 as place, 'gate' as kind, 'closed' as name, case when visit > 1
                   then left(gate_id, -length('#' || visit)) else gate_id end as path, visit,
               json_build_object('gate', gate_id) as data
        from closed
        union all
        select 2, 'run', 'stopped', '', 0, json_build_object('by', %(by)s::text, 'reason', %(reason)s::text) from stopped) as n
),
counted as (
    update work w set events = w.events + (select count(*) from numbered)
    from stopped where w.run_id = stopped.run_id
    returning w.events - (select count(*) from numbered) as events_before
),
told as (
    insert into run_events (run_id, seq, kind, name, path, visit, data)
    select %(run_id)s, c.events_before + n.number, n.kind, n.name, n.path, n.visit, n.data
    from counted c, numbered n order by n.number
)
select run_id, pg_notify('oasflow_events', %(run_id)s) from stopped;

-- name: reject_run
-- Ends a run whose rejection is recorded and whose graph cannot be made, so that nobody drives it.
with held as materialized (
    select run_id from work where run_id = %(run_id)s for update
),
rejected as (
    update runs r set status = 'rejected' from held where r.run_id = held.run_id
    returning r.run_id
),
closed as (
    update gates g set state = 'closed', settled_at = clock_timestamp()
    from rejected where g.run_id = rejected.run_id and g.state = 'open'
    returning g.gate_id, g.visit
),
numbered as (
    select n.*, row_number() over (order by n.place, n.path) as number from (
        select 1 as place, 'gate' as kind, 'closed' as name, case when visit > 1
                   then left(gate_id, -length('#' || visit)) else gate_id end as path, visit,
               json_build_object('gate', gate_id) as data
        from closed
        union all
        select 2, 'run', 'rejected', '', 0, '{}'::json from rejected) as n
),
counted as (
    update work w set events = w.events + (select count(*) from numbered)
    from rejected where w.run_id = rejected.run_id
    returning w.events - (select count(*) from numbered) as events_before
),
told as (
    insert into run_events (run_id, seq, kind, name, path, visit, data)
    select %(run_id)s, c.events_before + n.number, n.kind, n.name, n.path, n.visit, n.data
    from counted c, numbered n order by n.number
)
select run_id, pg_notify('oasflow_events', %(run_id)s) from rejected;

-- name: list_open_gates
select gate_id, interrupt, payload, response_schema from gates
where run_id = %(run_id)s and state = 'open' order by opened_at, gate_id;

-- name: write_work
-- What the engine writes at once, with the events that tell of it, the gates that it parks and those
-- that the policy skipped; all of it or, where another worker has the run, nothing and no row.  That a
-- gate opened is no news where it is open already.  Locks are taken in the order work, runs, gates,
-- effects, here and everywhere.
with news as materialized (
    select e.kind, e.name, e.path, e.visit, e.data::json as data, e.place
    from rows from (json_to_recordset(%(event_rows)s::json)
                    as (kind text, name text, path text, visit int, data text))
         with ordinality as e (kind, name, path, visit, data, place)
    where case when e.kind = 'gate' and e.name = 'opened' then not exists (
        select from gates g where g.run_id = %(run_id)s and g.state <> 'closed'
        and (g.gate_id, g.payload_sha256)
            = (e.data::json ->> 'gate', e.data::json ->> 'payload_sha256')) else true end
),
ours as (
    update work set events = events + (select count(*) from news)
    where run_id = %(run_id)s and fence = %(fence)s
    returning run_id, events - (select count(*) from news) as events_before, paused_at
),
told as (
    insert into run_events (run_id, seq, kind, name, path, visit, data)
    select %(run_id)s, ours.events_before + row_number() over (order by n.place),
           n.kind, n.name, n.path, n.visit, n.data
    from ours, news n order by n.place
),
skipped as (
    insert into decisions (run_id, gate_id, tenant, node, visit, step, kind, answer, decided_by,
                           reason, payload_sha256, policy_sha256)
    select %(run_id)s, n.data ->> 'gate', %(tenant)s, n.data ->> 'node', n.visit,
           (n.data ->> 'step')::int, 'auto_skipped', '{}', 'policy',
           'the approval policy asks for no approval at this step', '', %(policy_sha256)s
    from ours, news n, runs r
    where n.kind = 'decision' and n.name = 'auto_skipped' and r.run_id = ours.run_id
      and r.status not in ('completed', 'rejected', 'stopped')
      and not exists (select from gates g
                      where (g.run_id, g.gate_id) = (%(run_id)s, n.data ->> 'gate'))
    on conflict (run_id, gate_id, payload_sha256) do nothing
),
-- include: checkpoint_rows
parked as (
    insert into gates as g (run_id, gate_id, payload_sha256, tenant, node, visit, step, interrupt,
                            payload, response_schema, policy_sha256, fence, state, settled_at)
    select %(run_id)s, p.gate_id, p.sha256, %(tenant)s, p.node, p.visit, p.step, p.interrupt,
           p.payload::json, p.response_schema::json, %(policy_sha256)s, %(fence)s,
           case when d.run_id is not null then 'decided' when run.takes_answers then 'open'
                else 'closed' end,
           case when d.run_id is not null then d.decided_at
                when not run.takes_answers then clock_timestamp() end
    from ours
    cross join lateral (
        select s.status not in ('completed', 'rejected', 'stopped') and s.rejected_at_gate is null
               as takes_answers
        from oasflow_standing(ours.run_id) as s) as run
    cross join json_to_recordset(%(gate_rows)s::json)
        as p (gate_id text, sha256 text, node text, visit int, step int, interrupt text,
              payload text, response_schema text)
    left join decisions d
        on (d.run_id, d.gate_id, d.payload_sha256) = (%(run_id)s, p.gate_id, p.sha256)
    on conflict (run_id, gate_id, payload_sha256) do update set
        interrupt = excluded.interrupt, fence = excluded.fence,
        state = case when g.state = 'decided' then g.state else excluded.state end,
        settled_at = case when g.state = 'decided' then g.settled_at else excluded.settled_at end
)
select events_before, paused_at is not null as paused, (select count(*) from news) as events,
       case when exists (select from news)
       then pg_notify('oasflow_events', %(run_id)s) end
from ours;

-- name: begin_effect
-- Begins an effect where the run goes on, is still ours and not paused; with it comes how the run stands and what
-- was known of the key before.  `made`: what the row is now, where this statement wrote it.  An effect
-- that is at most once and was cut off is not begun again but unknown.  Nobody waits for the disk where
-- the call may be made again under its key: a database that loses the row makes it again.
with ours as materialized (
    select run_id, fence, paused_at is not null as paused from work where run_id = %(run_id)s for share
),
standing as materialized (
    select r.run_id, r.tenant, now.status, ours.fence, ours.paused, now.rejected_at_gate
    from ours join runs r using (run_id) cross join lateral oasflow_standing(ours.run_id) as now
),
begun as (
    insert into effects as e (run_id, key, tenant, kind, capability, path, visit, item, risk,
                              request_sha256, shown_sha256, status, attempts, fence, governed)
    select run_id, %(key)s, tenant, %(kind)s, %(capability)s, %(path)s, %(visit)s, %(item)s, %(risk)s,
           %(request_sha256)s, %(shown_sha256)s, 'begun', 1, fence, %(governed)s::json
    from standing
    where fence = %(fence)s and status not in ('completed', 'rejected', 'stopped')
      and rejected_at_gate is null and not paused
    on conflict (run_id, key) do update set
        status = case when e.status = 'begun' and %(once)s then 'unknown' else 'begun' end,
        attempts = case when e.status = 'begun' and %(once)s then e.attempts
                        else e.attempts + 1 end,
        error = case when e.status = 'begun' and %(once)s then %(cut_off)s::json end,
        ended_at = null, fence = excluded.fence, capability = excluded.capability,
        request_sha256 = excluded.request_sha256, shown_sha256 = excluded.shown_sha256,
        governed = excluded.governed
    where e.status = 'failed'
       or e.status = 'begun' and e.fence < excluded.fence
          and e.request_sha256 = excluded.request_sha256
    returning e.status, e.attempts
)
select s.status, s.rejected_at_gate, s.fence, s.paused, b.status as made, b.attempts, k.status as known,
       k.request_sha256, k.fence as known_fence, k.result, k.usage, k.error as known_error,
       case when %(lasts)s then '' else set_config('synchronous_commit', 'off', true) end
from standing s left join begun b on true
left join effects k on k.run_id = s.run_id and k.key = %(key)s;

-- name: end_effect
-- What came of an effect that this worker began and has not ended; no row where the run is another
-- worker's.  Nobody waits for the disk where the call may be made again under its key: the next
-- statement that does takes this one with it.  What earlier attempts used up is added, read as text: a
-- count may be none, and a name may hold what no text of the database does.
with ours as (
    select run_id, fence from work where run_id = %(run_id)s and fence = %(fence)s for share
),
ended as (
    update effects e
    set status = %(status)s, result = %(result)s::json,
        usage = case when e.usage is null then %(usage)s::json
                     when %(usage)s::json is null then e.usage
                     else (
                         '{"calls": ' || coalesce(substring(e.usage::text from '"calls"\s*:\s*([0-9]{1,16})\s*[,}]')::bigint, 0)
                             + coalesce(substring((%(usage)s::json)::text from '"calls"\s*:\s*([0-9]{1,16})\s*[,}]')::bigint, 0)
                         || ', "input_tokens": ' || coalesce(substring(e.usage::text from '"input_tokens"\s*:\s*([0-9]{1,16})\s*[,}]')::bigint, 0)
                             + coalesce(substring((%(usage)s::json)::text from '"input_tokens"\s*:\s*([0-9]{1,16})\s*[,}]')::bigint, 0)
                         || ', "output_tokens": ' || coalesce(substring(e.usage::text from '"output_tokens"\s*:\s*([0-9]{1,16})\s*[,}]')::bigint, 0)
                             + coalesce(substring((%(usage)s::json)::text from '"output_tokens"\s*:\s*([0-9]{1,16})\s*[,}]')::bigint, 0)
                         || coalesce(', "model": ' || coalesce(substring((%(usage)s::json)::text from '"model"\s*:\s*("(?:[^"\\]|\\.)*")'),
                             substring(e.usage::text from '"model"\s*:\s*("(?:[^"\\]|\\.)*")')), '') || '}')::json end,
        error = %(error)s::json, ended_at = clock_timestamp()
    from ours
    where e.run_id = ours.run_id and e.key = %(key)s and e.status = 'begun' and e.fence = ours.fence
    returning e.key
)
select (select key from ended) as ended,
       case when %(once)s then '' else set_config('synchronous_commit', 'off', true) end
from ours;

-- name: list_events
select seq, at, kind, name, path, visit, data from run_events
where run_id = %(run_id)s and seq > %(after)s order by seq limit %(limit)s;

-- name: find_feed_end
-- Below this number the feed is complete for any statement after this one; and the mark of the server on which
-- numbers count: after a restore, or where a standby took over, they may count anew.
-- Whoever has written an event holds a lock on the table until its end can be seen; whoever writes one after
-- the snapshot of this statement gives it no lower number than the snapshot's end.  A standby does not know the
-- locks, and looks at every transaction.
with seen as materialized (
    select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as ends,
           pg_snapshot_xmin(pg_current_snapshot())::text::bigint as begins
),
locks as materialized (select * from pg_locks where granted),
writers as materialized (
    select min(seen.ends - age.age) as first
    from seen, locks l join locks x on x.virtualtransaction = l.virtualtransaction
        and x.locktype = 'transactionid' and x.mode = 'ExclusiveLock'
    cross join lateral (
        select (seen.ends - x.transactionid::text::bigint) & 4294967295 as age from seen) as age
    where l.locktype = 'relation' and l.mode = 'RowExclusiveLock' and l.relation = 'run_events'::regclass
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and age.age < 2147483648
),
feed as materialized (
    select case when pg_is_in_recovery() then seen.begins
                else least(seen.ends, writers.first) end as until
    from seen, writers
)
select feed.until::text as until, coalesce(h.number, 0) || '.' || coalesce(here.timeline, 0) as mark,
       exists (select from run_events e where e.told_in
               >= greatest(feed.until, %(after_told)s::text::bigint)::text::xid8) as is_held_up,
       pg_is_in_recovery() or writers.first is not null as has_writers
from feed cross join writers cross join (select max(number) as number from homes) as h cross join oasflow_here() as here;

-- name: use_number
-- The snapshots of others end behind this transaction from now on.
select pg_current_xact_id();

-- name: list_feed
-- The feed after a place in it.  Rows of before the database was adopted have the numbers of another server.
select e.told_in::text as told, e.run_id, e.seq, e.at, e.kind, e.name, e.data, r.tenant,
       f.name as flow_name, r.started_by, r.started_sub, r.started_issuer, r.owner
from run_events e join runs r using (run_id) join flows f using (digest)
where e.told_in < %(until)s::text::xid8
  and (e.told_in, e.run_id, e.seq)
      > (%(after_told)s::text::xid8, %(after_run)s::text, %(after_seq)s::bigint)
  and e.at > coalesce((select max(h.at) from homes h where h.why = 'adopted'), '-infinity')
  and (%(tenant)s::text is null or r.tenant = %(tenant)s)
order by e.told_in, e.run_id, e.seq limit %(limit)s;

-- name: list_stretches
-- A run from rest to rest, by the numbers of its events; without a status: it has not come to rest.
with numbered as (
    select seq, at, kind, name,
           1 + count(*) filter (
               where kind = 'run'
                 and name in ('waiting', 'completed', 'rejected', 'failed', 'stopped'))
               over (order by seq rows between unbounded preceding and 1 preceding) as number
    from run_events where run_id = %(run_id)s and (kind, name) <> ('run', 'archived')
)
select number, min(seq) as first_seq, max(seq) as last_seq, min(at) as began_at, max(at) as told_at,
       max(name) filter (
           where kind = 'run'
             and name in ('waiting', 'completed', 'rejected', 'failed', 'stopped')) as status
from numbered group by number order by number;

-- name: load_progress
-- Whether somebody works on the run right now.
select r.status, w.worker <> '' and coalesce(w.lease_until > clock_timestamp(), false) as is_held
from runs r join work w using (run_id)
where r.run_id = %(run_id)s and (%(tenant)s::text is null or r.tenant = %(tenant)s);

-- name: list_effects
-- The calls of a run in the order in which they were begun, after a place in it; without their results.
select run_id, key, kind, capability, path, visit, item, risk, status, attempts, usage, error,
       request_sha256, shown_sha256, result_sha256, begun_at, ended_at
from effects
where run_id = %(run_id)s and (%(status)s::text is null or status = %(status)s)
  and (%(after_at)s::timestamptz is null
       or (begun_at, key) > (%(after_at)s::timestamptz, %(after_key)s::text))
order by begun_at, key
limit %(limit)s;

-- name: list_unknown_effects
-- Calls of which nobody knows whether they happened, in the order in which they were begun.
select key, kind, capability, path, visit, item, attempts, begun_at, error from effects
where run_id = %(run_id)s and status = 'unknown' order by begun_at, key;

-- name: list_unknown_keys
-- As `list_unknown_effects` and `list_needs`, of several runs, with whose they are.
select e.key, r.run_id, r.tenant, f.name as flow_name, r.started_by, r.started_sub,
       r.started_issuer, r.owner
from runs r join effects e using (run_id) join flows f using (digest)
where r.run_id = any(%(run_ids)s::text[]) and (%(tenant)s::text is null or r.tenant = %(tenant)s)
  and e.status = 'unknown' and r.status in ('waiting', 'failed', 'running')
  and r.archived_at is null
order by e.begun_at, e.key;

-- name: settle_effect
-- A person's word on a call of which nobody knew whether it happened; no row where somebody does.  The
-- run is worked on again once every such call is settled.
with held as materialized (
    select run_id from work where run_id = %(run_id)s for update
),
run as materialized (
    select r.run_id, r.status, r.error from runs r join held using (run_id) for no key update of r
),
settled as (
    update effects e
    set status = case when %(happened)s then 'done' else 'failed' end, result = %(result)s::json,
        usage = %(usage)s::json, ended_at = clock_timestamp(),
        error = case when %(happened)s then null else e.error end
    from run
    where e.run_id = run.run_id and e.key = %(key)s and e.status = 'unknown'
    returning e.run_id, e.key, e.attempts, e.tenant, e.path, e.visit, e.kind, e.capability
),
kept as (
    insert into settlements (run_id, key, attempts, tenant, happened, result, settled_by, by_sub,
                             by_issuer, by_kind, by_proof, by_channel, reason)
    select run_id, key, attempts, tenant, %(happened)s, %(result)s::json, %(by)s, %(by_sub)s,
           %(by_issuer)s, %(by_kind)s, %(by_proof)s, %(by_channel)s, %(reason)s
    from settled
),
counted as (
    update work w set events = w.events + 1 from settled s where w.run_id = s.run_id
    returning w.events
),
told as (
    insert into run_events (run_id, seq, kind, name, path, visit, data)
    select s.run_id, c.events, 'effect', 'settled', s.path, s.visit, json_build_object(
        'kind', s.kind, 'capability', s.capability, 'key', s.key, 'happened', %(happened)s,
        'by', %(by)s::text, 'reason', %(reason)s::text)
    from settled s, counted c
),
goes_on as (
    update runs r set status = 'running', error = null
    from run, settled s
    where r.run_id = s.run_id and run.status = 'waiting'
      and oasflow_text(run.error, 'code') = 'effect_unknown'
      and not exists (select from effects e where e.run_id = s.run_id and e.status = 'unknown'
                      and e.key <> s.key)
    returning r.run_id
)
select run_id, pg_notify('oasflow_events', run_id),
       (select pg_notify('oasflow_due', '') from goes_on)
from settled;

-- name: list_settlements
select s.*, e.kind, e.capability, e.path, e.visit from settlements s join effects e using (run_id, key)
where s.run_id = %(run_id)s order by s.settled_at, s.key;

-- name: tell_server
select clock_timestamp() as now, current_setting('server_version') as version;

-- name: tell_time
-- The database's clock, by which every moment in it is written.
select clock_timestamp() as now;

-- name: insert_decision
-- The first decision of a gate's visit, with what it tells; no row comes back where the gate is not
-- open: decided already, closed, or its run takes no decision any more.  Whoever decides without the flow
-- does not know its policy, and the gate does.
with held as materialized (
    select run_id from work where run_id = %(run_id)s for update
),
asked as materialized (
    select g.gate_id, g.policy_sha256 from held
    cross join lateral oasflow_standing(held.run_id) as now
    join gates g on g.run_id = held.run_id
    where g.gate_id = %(gate_id)s and g.payload_sha256 = %(payload_sha256)s and g.state = 'open'
      and now.status not in ('completed', 'rejected', 'stopped') and now.rejected_at_gate is null
    for no key update of g
),
made as (
    insert into decisions (run_id, gate_id, tenant, node, visit, step, kind, answer, decided_by,
                           by_sub, by_issuer, by_kind, by_proof, by_channel, reason, payload_sha256,
                           policy_sha256)
    select %(run_id)s, gate_id, %(tenant)s, %(node)s, %(visit)s, %(step)s, %(kind)s,
           %(answer)s, %(decided_by)s, %(by_sub)s, %(by_issuer)s, %(by_kind)s, %(by_proof)s,
           %(by_channel)s, %(reason)s, %(payload_sha256)s,
           coalesce(nullif(%(policy_sha256)s, ''), policy_sha256)
    from asked
    on conflict (run_id, gate_id, payload_sha256) do nothing
    returning run_id, gate_id
),
counted as (
    update work w set events = w.events + %(events)s::int
    from made where w.run_id = made.run_id
    returning w.events - %(events)s::int as events_before
),
told as (
    insert into run_events (run_id, seq, kind, name, path, visit, data)
    select %(run_id)s, c.events_before + e.place, e.kind, e.name, e.path, e.visit, e.data::json
    from counted c,
         rows from (json_to_recordset(%(event_rows)s::json)
                    as (kind text, name text, path text, visit int, data text))
         with ordinality as e (kind, name, path, visit, data, place)
)
select gate_id, pg_notify('oasflow_events', run_id),
       case when %(tells_due)s then pg_notify('oasflow_due', '') end
from made;

-- name: list_family
-- A run and the runs that it began, and those that they began.
with recursive family as (
    select run_id from runs where run_id = %(run_id)s
    union select r.run_id from runs r join family f on r.parent_run_id = f.run_id
)
select r.run_id, r.tenant, f.name as flow_name, r.started_by, r.started_sub, r.started_issuer,
       r.owner, r.parent_run_id
from family join runs r using (run_id) join flows f using (digest);

-- name: count_questions
-- What a run, and the runs that it began, have asked people in all: each visit of a gate, and what it
-- showed at it; and the last one that a person decided.  Of `only` these runs, where that is no null.
with recursive family as (
    select run_id from runs where run_id = %(run_id)s
    union select r.run_id from runs r join family f on r.parent_run_id = f.run_id
    where %(only)s::text[] is null or r.run_id = any(%(only)s::text[])
),
decided as (
    select d.* from decisions d join family using (run_id) where d.kind <> 'auto_skipped'
),
asked as (
    select run_id, gate_id, payload_sha256 from gates join family using (run_id)
    union select run_id, gate_id, payload_sha256 from decided
)
select (select count(*) from asked) as asked, last.* from (select) as one
left join lateral (select gate_id, kind, decided_by, decided_at from decided
                   order by decided_at desc limit 1) as last on true;

-- name: last_decision
-- What was decided on this visit of a gate, whatever it showed.
select * from decisions where run_id = %(run_id)s and gate_id = %(gate_id)s
order by decided_at desc limit 1;

-- name: load_asked_gates
-- Whatever a gate showed at one visit, the oldest first; what waits is the last.
select gate_id, payload_sha256, interrupt, payload, response_schema, state, opened_at, settled_at
from gates where run_id = %(run_id)s and gate_id = %(gate_id)s
order by state = 'open', opened_at, payload_sha256;

-- name: list_asked_gates
select distinct gate_id from gates where run_id = %(run_id)s order by gate_id;

-- name: load_decisions_of_gate
select * from decisions where run_id = %(run_id)s and gate_id = %(gate_id)s
order by decided_at, payload_sha256;

-- name: list_decisions
-- In their order, after a place in it; limit null: all.
select * from decisions
where run_id = %(run_id)s
  and (%(after_at)s::timestamptz is null
       or (decided_at, gate_id, payload_sha256)
          > (%(after_at)s::timestamptz, %(after_gate)s::text, %(after_sha256)s::text))
order by decided_at, gate_id, payload_sha256
limit %(limit)s;

-- name: claim_run
-- Takes the run for this connection where nobody works on it: the worker before has released it (whoever
-- may hold a lock), or died (its lock is free), or let its lease run out.  A worker without `backend_pid`
-- (another session has the lock, or a pooler stands between, behind which no lock is anybody's) has it by its
-- lease alone.  No fence: the run was not taken; where nothing of it is wanted either (it has ended, or was
-- worked on since), nothing is written.  No row: there is no such run.
-- A run that is taken counts as worked on (`begun_attempts`), unless it has ended, is paused or (where the
-- number of its attempts is given) was worked on since.  A run that is still running and has a worker's name
-- was left by a worker that died, which counts as a failure: the first one again where that worker had got
-- further, for a long run may be cut off as often as its host is restarted; none where the database was
-- restarted since, which ends every worker's connection.
-- Its first checkpoint is stored with the news that it has started, perhaps after its first calls.
-- With it comes what the work begins with: the gate of a rejection, and the answers that wait to be
-- carried out.  They may be a moment old, as the status; the newest checkpoint is read under the lock.
-- Nobody waits for the disk: whatever is to last is written later, and a database that loses a claim
-- gives the next worker another fence, because fences have gaps.
with free as materialized (
    select pg_backend_pid() = %(pid)s::int as may_lock,
           case when pg_backend_pid() = %(pid)s::int
                then pg_try_advisory_lock(hashtextextended('oasflow:run:' || %(run_id)s, 0))
                else false end as locked,
           set_config('synchronous_commit', 'off', true)
),
wanted as materialized (
    select r.run_id from runs r
    where r.run_id = %(run_id)s and r.status not in ('completed', 'rejected', 'stopped')
      and r.archived_at is null and (%(attempts)s::int is null or r.attempts = %(attempts)s)
),
claimed as (
    update work w
    set fence = w.fence + 1 + (random() * 1e6)::int, worker = %(worker)s,
        backend_pid = case when free.locked then pg_backend_pid() end,
        lease_until = clock_timestamp() + %(lease)s * interval '1 second',
        heartbeat_at = clock_timestamp(), claimed_at = clock_timestamp(), events_at_claim = w.events,
        offered_until = null, woken_at = null
    from free, wanted
    where w.run_id = wanted.run_id
      and (w.lease_until is null or w.lease_until < clock_timestamp()
           or free.locked and w.backend_pid is not null)
    returning w.fence, w.paused_at
),
was as (
    select r.run_id, dead.died,
           dead.died and (
               exists (select from run_events v
                       where v.run_id = r.run_id and v.seq > w.events_at_claim
                         and (v.kind, v.name) = ('node', 'finished'))
               or exists (select from effects e where e.run_id = r.run_id and e.status = 'done'
                          and e.ended_at > w.claimed_at)) as had_advanced
    from claimed, runs r join work w using (run_id)
    cross join lateral (
        select r.status = 'running' and r.attempts > 0 and w.worker <> ''
               and coalesce(w.claimed_at >= pg_postmaster_start_time(), true) as died) as dead
    where r.run_id = %(run_id)s and r.status not in ('completed', 'rejected', 'stopped')
      and r.archived_at is null and claimed.paused_at is null
      and (%(attempts)s::int is null or r.attempts = %(attempts)s)
    for no key update of r
),
begun as (
    update runs r
    set status = 'running', attempts = attempts + 1,
        failures = case when was.had_advanced then 1 else failures + was.died::int end,
        retry_at = null
    from was where r.run_id = was.run_id
    returning r.attempts, r.failures, was.died
)
select r.*, f.name as flow_name, coalesce(r.file, f.file) as flow_file, free.locked,
       free.may_lock, w.lease_until is not null as had_lease, exists (select from wanted) as is_wanted, (select fence from claimed) as claimed_fence, w.backend_pid as previous_pid,
       b.attempts as begun_attempts, b.failures as begun_failures, b.died,
       oasflow_newest_checkpoint(r.run_id) as newest,
       exists (select from gates g where g.run_id = r.run_id)
           or exists (select from effects e where e.run_id = r.run_id)
              and exists (select from run_events v where v.run_id = r.run_id
                          and (v.kind, v.name) = ('run', 'started')) as has_acted,
       (select gate_id from decisions d where d.run_id = r.run_id and d.kind = 'rejected'
        order by decided_at, gate_id limit 1) as rejected_at_gate,
       (select coalesce(json_agg(json_build_object(
                   'gate_id', d.gate_id, 'payload_sha256', d.payload_sha256, 'answer', d.answer)),
                   '[]')
        from gates g join decisions d using (run_id, gate_id, payload_sha256)
        where g.run_id = r.run_id and g.state = 'decided' and g.fence <> 0) as answers
from free, runs r join flows f using (digest) join work w using (run_id) left join begun b on true
where r.run_id = %(run_id)s;

-- name: list_due_runs
-- Runs that nobody works on and that can go on, the oldest first, after a place in this order:
-- never begun, left by a worker that died or gave no sign of life, with a decision that was not
-- carried out, or failed and due to be tried again; none that is paused.  A run that is begun by whoever
-- created it gets `grace` seconds for that, and one of an older layout is left to workers of that version for `older_wait`;
-- one of a newer is theirs.  `offered`: those too that are offered to a sweep; `but`: without these.
with
-- include: due_runs
select run_id, tenant, attempts, since, reason from due order by since, run_id;

-- name: take_due_run
-- Offers the next run that is due to whoever asks: other sweeps leave it alone for `seconds`, and whoever
-- claims it does so as before.  A row without a run: what is due is being offered to others at this moment.
-- Nobody waits for the disk.
with
-- include: due_runs
,
taken as materialized (
    select w.run_id from due join work w using (run_id)
    -- Nobody has claimed it since, nor come to the end of the work that it stood in.
    where w.fence = due.fence and w.backend_pid is not distinct from due.backend_pid
      and (w.offered_until is null or w.offered_until < clock_timestamp())
    order by due.since, due.run_id limit 1 for update of w skip locked
),
offered as (
    update work w set offered_until = clock_timestamp() + %(seconds)s * interval '1 second'
    from taken where w.run_id = taken.run_id
    returning w.run_id
)
select d.*, set_config('synchronous_commit', 'off', true) from (select from due limit 1) as any_due
left join (select due.* from due join offered using (run_id)) as d on true;

-- name: withdraw_offer
-- The run is left: other sweeps may look at it.
update work set offered_until = null where run_id = %(run_id)s and offered_until is not null;

-- name: tell_next_due
-- In how many seconds the next run becomes due by the clock; null where none does.  Below 0: it became due a
-- moment ago, perhaps since whoever asks has looked; a slow machine takes long between two statements.
select extract(epoch from least(
    (select min(r.retry_at) from runs r where r.retry_at > clock_timestamp() - interval '1 minute'),
    (select x.since + %(grace)s * interval '1 second'
     from running x join runs r using (run_id) where r.attempts = 0
       and x.since > clock_timestamp() - %(grace)s * interval '1 second' - interval '1 minute'
     order by x.since limit 1)) - clock_timestamp())::float8 as seconds;

-- name: load_children_standing
-- How it goes on below a run: whether anybody works on a run there (`is_worked_on`), or could (`is_due`);
-- and whether the run itself can go on, or is paused.
with recursive below as (
    select r.run_id, r.status, r.retry_at from runs r
    where r.parent_run_id = %(run_id)s and r.status not in ('completed', 'rejected', 'stopped')
    union
    select r.run_id, r.status, r.retry_at from below b join runs r on r.parent_run_id = b.run_id
    where r.status not in ('completed', 'rejected', 'stopped')
),
children as (
    select coalesce(bool_or(w.lease_until > clock_timestamp()), false) as is_worked_on,
           coalesce(bool_or(w.paused_at is null and (
               b.status = 'running' or b.retry_at <= clock_timestamp()
               or b.status = 'waiting' and (w.woken_at is not null or exists (
                   select from gates g
                   where g.run_id = b.run_id and g.state = 'decided' and g.fence > 0)))), false) as is_due
    from below b join work w using (run_id)
)
select c.is_worked_on, c.is_due, w.paused_at is not null as is_paused,
       r.status = 'waiting' and w.paused_at is null and w.woken_at is not null as can_go_on
from children c, runs r join work w using (run_id) where r.run_id = %(run_id)s;

-- name: has_children
select exists (select from runs r where r.parent_run_id = %(run_id)s) as has_children;

-- name: tell_failure
-- A run that began this one is told of a failure once: this row is only there the first time.
update work w set told_attempts = r.attempts
from runs r
where w.run_id = %(run_id)s and r.run_id = w.run_id and r.status = 'failed' and r.retry_at is null
  and w.told_attempts < r.attempts
returning w.run_id;

-- name: list_dead_letters
-- Runs that failed and are not tried again until a person resumes them, the oldest first.
-- The error as it is: to take its code out of it here would fail for all rows where it fails for one.
select r.run_id, r.tenant, r.updated_at as since, r.error, count(*) over () as total
from rests t join runs r using (run_id)
where t.status = 'failed' and r.status = 'failed' and r.retry_at is null and r.archived_at is null
  and (%(tenant)s::text is null or r.tenant = %(tenant)s)
order by r.updated_at, r.run_id limit %(limit)s;

-- name: list_archivable
-- Runs that have ended and were not archived, the oldest first, after a place in this order; with what
-- is removed of them where `counted`.
select r.run_id, r.updated_at,
       case when %(counted)s then (select count(*) from checkpoints c where c.thread_id = r.run_id) end
           as checkpoints,
       case when %(counted)s then (select count(*) from checkpoint_blobs b where b.thread_id = r.run_id)
           end as blobs,
       case when %(counted)s then (select count(*) from checkpoint_writes w where w.thread_id = r.run_id)
           end as writes,
       case when %(counted)s then (
           select count(*) from effects e where e.run_id = r.run_id and e.result is not null) end
           as results
from rests t join runs r using (run_id)
where not t.archived and t.status in ('completed', 'rejected', 'stopped', 'failed')
  and r.archived_at is null and r.status in ('completed', 'rejected', 'stopped', 'failed')
  and (r.status <> 'failed' or %(dead_letters)s and r.retry_at is null)
  and (%(tenant)s::text is null or r.tenant = %(tenant)s)
  and (%(run_id)s::text is null or r.run_id = %(run_id)s)
  and (%(older_than)s::interval is null
       or t.changed_at < statement_timestamp() - %(older_than)s::interval)
  and (%(after_at)s::timestamptz is null
       or (t.changed_at, t.run_id) > (%(after_at)s::timestamptz, %(after_run)s::text))
order by t.changed_at, t.run_id limit %(limit)s;

-- name: archive_run
select checkpoints, blobs, writes, results
from oasflow_archive_run(%(run_id)s, %(tenant)s, %(by)s, %(dead_letters)s);

-- name: list_disagreements
-- Rows of a run that do not agree with each other: calls that a person approved and that no decision in their
-- run precedes, decided gates without a decision, decisions that nobody carried out and nobody works on, and
-- calls of which nobody knows.
with found as (
    select 'effect without decision' as kind, e.run_id, e.key as name, e.tenant,
           concat_ws(' ', nullif(e.capability, ''), e.path) as what, e.begun_at as at
    from effects e
    where e.shown_sha256 <> '' and not exists (
        select from decisions d
        where d.run_id = e.run_id and d.kind = 'approved'
          and d.decided_at <= coalesce(e.ended_at, clock_timestamp()))
    union all
    select 'gate without decision', g.run_id, g.gate_id, g.tenant, '', g.settled_at
    from gates g
    where g.state = 'decided' and not exists (
        select from decisions d
        where (d.run_id, d.gate_id, d.payload_sha256) = (g.run_id, g.gate_id, g.payload_sha256))
    union all
    select 'decision not carried out', g.run_id, g.gate_id, g.tenant, d.decided_by, d.decided_at
    from gates g join runs r using (run_id) join work w using (run_id)
    join decisions d using (run_id, gate_id, payload_sha256)
    where g.state = 'decided' and g.fence > 0 and r.status = 'waiting'
      and (w.lease_until is null or w.lease_until < clock_timestamp())
    union all
    select 'effect unknown', e.run_id, e.key, e.tenant,
           concat_ws(' ', nullif(e.capability, ''), e.path), e.begun_at
    from effects e join runs r using (run_id)
    where e.status = 'unknown' and r.status in ('waiting', 'failed', 'running')
      and r.archived_at is null
)
select kind, run_id, name, what, at from found
where %(tenant)s::text is null or tenant = %(tenant)s
order by kind, at, run_id, name limit %(limit)s;

-- name: list_unknown_receipts
-- Of what others know, that of which nothing is here; a call may be named by its key alone.
with asked as materialized (
    select * from rows from (
        unnest(%(kinds)s::text[]), unnest(%(run_ids)s::text[]), unnest(%(names)s::text[]))
    with ordinality as asked (kind, run_id, name, place)
),
keys as materialized (
    select e.key from effects e
    where e.key = any (select a.name from asked a where a.kind = 'effect' and a.run_id = '')
      and (%(tenant)s::text is null or e.tenant = %(tenant)s)
)
select a.place from asked a
left join runs r on r.run_id = a.run_id and (%(tenant)s::text is null or r.tenant = %(tenant)s)
where not case a.kind
    when 'start' then r.run_id is not null
    when 'decision' then r.run_id is not null and exists (
        select from decisions d
        where (d.run_id, d.gate_id) = (r.run_id, a.name) and d.kind <> 'auto_skipped')
    when 'settlement' then r.run_id is not null and exists (
        select from settlements s where (s.run_id, s.key) = (r.run_id, a.name))
    when 'effect' then case when a.run_id = '' then exists (select from keys k where k.key = a.name)
        else r.run_id is not null and exists (
            select from effects e where (e.run_id, e.key) = (r.run_id, a.name)) end
    end
order by a.place;

-- name: list_receipts
-- What this database knows to have happened, for another one that is to know it, too.
with since as (select clock_timestamp() - %(newer_than)s::interval as at)
select 'start' as kind, r.run_id, '' as name, r.started_by as by, r.created_at as at
from runs r, since
where (%(tenant)s::text is null or r.tenant = %(tenant)s) and (since.at is null or r.created_at > since.at)
union all
select 'decision', d.run_id, d.gate_id, d.decided_by, d.decided_at from decisions d, since
where d.kind <> 'auto_skipped' and (%(tenant)s::text is null or d.tenant = %(tenant)s)
  and (since.at is null or d.decided_at > since.at)
union all
select 'settlement', s.run_id, s.key, s.settled_by, s.settled_at from settlements s, since
where (%(tenant)s::text is null or s.tenant = %(tenant)s) and (since.at is null or s.settled_at > since.at)
union all
select 'effect', e.run_id, e.key, e.capability, e.begun_at from effects e, since
where (%(tenant)s::text is null or e.tenant = %(tenant)s) and (since.at is null or e.begun_at > since.at);

-- name: list_unended
-- Of these runs, those that have not ended, or that somebody has at this moment.
select r.run_id from runs r join work w using (run_id)
where r.run_id = any(%(run_ids)s::text[])
  and (r.status not in ('completed', 'rejected', 'stopped') and r.archived_at is null
       or w.lease_until > clock_timestamp())
order by r.run_id;

-- name: list_columns
-- The columns of the store's tables; a key is one that others refer to, or by which a row is told from others.
select c.relname as tab, a.attname as name, format_type(a.atttypid, a.atttypmod) as kind,
       a.atttypid in ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype,
                      'bytea'::regtype, 'text[]'::regtype) as holds_text,
       a.attidentity <> '' or a.attgenerated <> ''
       or (c.relname, a.attname) = ('flows', 'source')
       or exists (select from pg_index i where i.indrelid = c.oid and i.indisunique
                  and a.attnum = any(i.indkey))
       or exists (select from pg_constraint k where k.contype = 'f'
                  and (k.conrelid = c.oid and a.attnum = any(k.conkey)
                       or k.confrelid = c.oid and a.attnum = any(k.confkey))) as is_key
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'oasflow'::regnamespace and c.relkind in ('r', 'p')
  and a.attnum > 0 and not a.attisdropped
order by c.relname, a.attnum;

-- name: list_triggers
-- Those of the store's tables that are on, and how.
select c.relname as tab, t.tgname as trigger, t.tgenabled as enabled
from pg_trigger t join pg_class c on c.oid = t.tgrelid
where c.relnamespace = 'oasflow'::regnamespace and not t.tgisinternal and t.tgenabled <> 'D'
order by c.relname, t.tgname;

-- name: insert_erasure
insert into erasures (token, erased_by, reason, runs, changed)
values (%(token)s, %(by)s, %(reason)s, %(runs)s, %(changed)s);

-- name: release_claim
-- The run is nobody's again, and stands as it did: where it is running, somebody is to go on with it.
with released as (
    update work set worker = '', backend_pid = null, lease_until = null
    where run_id = %(run_id)s and fence = %(fence)s
    returning run_id
)
select pg_notify('oasflow_due', '') from released join runs r using (run_id) where r.status = 'running';

-- name: release_session
-- Behind a pooler there is nothing to release: the session is everybody's.
select pg_advisory_unlock_all(), set_config('search_path', 'oasflow', false)
where pg_backend_pid() = %(pid)s::int;

-- name: beat
-- Renews the leases of runs whose fence is still that of this process, and tells which are paused.  A row
-- that somebody has locked is left for the next beat: the other runs do not wait for it.
update work w set lease_until = clock_timestamp() + %(lease)s * interval '1 second',
                  heartbeat_at = clock_timestamp()
from (select run_id from work
      join unnest(%(run_ids)s::text[], %(fences)s::bigint[]) as held (run_id, fence)
          using (run_id, fence)
      where worker <> '' for no key update of work skip locked) as ours
where w.run_id = ours.run_id
returning w.run_id, w.paused_at is not null as paused;

-- name: end_holder
-- Ends the connection of a run's previous worker, where it still holds the run's lock.
select pg_terminate_backend(l.pid)
from pg_locks l, (select hashtextextended('oasflow:run:' || %(run_id)s, 0) as key) as of_run
where l.locktype = 'advisory' and l.objsubid = 1 and l.pid = %(previous)s
  and l.database = (select oid from pg_database where datname = current_database())
  and (l.classid::bigint << 32 | l.objid::bigint) = of_run.key;

-- name: hold_by_lock
-- The lock was free in the end: where this connection ends, the run is free at once.
update work set backend_pid = pg_backend_pid() where run_id = %(run_id)s and fence = %(fence)s;

-- name: lock_run
select pg_try_advisory_lock(hashtextextended('oasflow:run:' || %(run_id)s, 0)) as locked;

-- name: try_lock_setup
-- One process at a time creates tables.  Whoever finds it taken asks again: a statement that waited
-- here would keep a snapshot, for which the holder's `create index concurrently` waits in turn.
select pg_try_advisory_lock(hashtextextended('oasflow:setup', 0)) as locked;

-- name: unlock_setup
select pg_advisory_unlock(hashtextextended('oasflow:setup', 0));

-- name: greet
-- Whether a pooler stands between: the process that carries this out is not the one that said hello.
-- Where none does, no setting of a role's own ends transactions (PostgreSQL 17 and later) or connections
-- during a long call (14 and later), or has commits told before they are on the disk.
select not direct.so as is_pooled,
       case when direct.so and coalesce(current_setting('transaction_timeout', true), '0') <> '0'
            then set_config('transaction_timeout', '0', false) end as time,
       case when direct.so and coalesce(current_setting('idle_session_timeout', true), '0') <> '0'
            then set_config('idle_session_timeout', '0', false) end as idle,
       case when direct.so and current_setting('synchronous_commit') in ('off', 'local')
            then set_config('synchronous_commit', 'on', false) end as commits
from (select pg_backend_pid() = %(pid)s::int as so) as direct;

-- name: set_followed
-- The settings that a pooler keeps for each of its clients.
select set_config(s.key, s.value, false) from json_each_text(%(wanted)s::json) s
where current_setting(s.key) <> s.value;

-- name: list_other_settings
-- Which settings are not what they should be, as the server writes them; sets none for longer than the
-- statement.
with compared as materialized (
    select s.key as name, current_setting(s.key, true) as found, set_config(s.key, s.value, true) as wanted
    from json_each_text(%(wanted)s::json) s
)
select name from compared where found is distinct from wanted
union all select 'synchronous_commit' where current_setting('synchronous_commit') in ('off', 'local')
union all select name from unnest(array['transaction_timeout', 'idle_session_timeout']) as name
          where coalesce(current_setting(name, true), '0') <> '0';

-- name: load_home
-- Where the database lives, and where it is.
select oasflow_is_copy() as is_copy, current_database()::text as database, h.why, h.by_whom, h.at,
       h.timeline, here.timeline as timeline_now
from oasflow_here() as here
left join lateral (select * from homes order by number desc limit 1) as h on true;

-- name: adopt_home
insert into homes (system_identifier, database_oid, timeline, why, by_whom)
select h.system_identifier, h.database_oid, coalesce(h.timeline, 0), 'adopted', %(by)s
from oasflow_here() as h;

-- name: disown_home
insert into homes (system_identifier, database_oid, timeline, why, by_whom)
select null, 0, coalesce(h.timeline, 0), 'disowned', %(by)s from oasflow_here() as h;

-- name: load_durability
-- What the session demands of a commit, and what the server can do.
select coalesce(current_setting('oasflow.durability', true), '') as demanded,
       current_setting('synchronous_commit') as commits, pg_is_in_recovery() as in_recovery,
       current_setting('synchronous_standby_names') <> '' as standbys,
       current_database()::text as database;

-- name: look_around
-- What is there, and what the role of this connection may do about it; changes nothing.
select current_user::text as role,
       current_database()::text as database,
       pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only,
       n.oid is not null as has_schema,
       v.oid is not null as has_versions,
       m.oid is not null as has_checkpoints,
       coalesce(has_schema_privilege(n.oid, 'USAGE')
                and (v.oid is null or has_table_privilege(v.oid, 'SELECT'))
                and (m.oid is null or has_table_privilege(m.oid, 'SELECT')), n.oid is null)
           as may_look,
       case when n.oid is null then has_database_privilege(current_database(), 'CREATE')
            when v.oid is null then has_schema_privilege(n.oid, 'CREATE')
            else pg_has_role(v.relowner, 'USAGE') end as may_create,
       coalesce(pg_get_userbyid(coalesce(v.relowner, n.nspowner))::text, '') as owner,
       array(select distinct split_part(setting, '=', 1)
             from pg_db_role_setting s, unnest(s.setconfig) setting
             where setting <> all (%(ours)s::text[])
               and s.setrole = (select oid from pg_roles where rolname = current_user)
               and s.setdatabase in (0, (select oid from pg_database
                                         where datname = current_database()))
             order by 1) as own_settings
from (select) as always
left join pg_namespace n on n.nspname = 'oasflow'
left join pg_class v on v.relnamespace = n.oid and v.relname = 'schema_versions'
left join pg_class m on m.relnamespace = n.oid and m.relname = 'checkpoint_migrations';

-- name: list_powers
-- Why the role of this connection could change what is append-only; no row where it could not.
select 'is a superuser' as power from pg_roles where rolname = current_user and rolsuper
union all
select 'owns ' || string_agg(c.relname, ', ' order by c.relname)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'oasflow' and c.relkind in ('r', 'p') and c.relname = any(%(kept)s)
  and pg_has_role(c.relowner, 'MEMBER')
having count(*) > 0
union all
select 'may ' || lower(p.verb) || ' ' || string_agg(c.relname, ', ' order by c.relname)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
cross join (values ('UPDATE'), ('DELETE'), ('TRUNCATE'), ('TRIGGER')) as p (verb)
where n.nspname = 'oasflow' and c.relname = any(%(kept)s) and not pg_has_role(c.relowner, 'MEMBER')
  and has_table_privilege(c.oid, p.verb)
group by p.verb having count(*) > 0
union all
select 'is a member of ' || string_agg(g.rolname, ', ' order by g.rolname)
from pg_roles g
where g.rolname in ('pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files')
  and pg_has_role(g.oid, 'MEMBER')
having count(*) > 0;

-- name: list_lacking
-- Of the rights that are asked for, those that the role of this connection has not.
select distinct asked.verb || ' on ' || asked.tab as lacks
from unnest(%(verbs)s::text[], %(tables)s::text[], %(columns)s::text[]) as asked (verb, tab, col)
join pg_namespace n on n.nspname = 'oasflow'
join pg_class c on c.relnamespace = n.oid and c.relname = asked.tab
left join pg_attribute a on a.attrelid = c.oid and a.attname = asked.col
where not case when asked.col = '' then has_table_privilege(c.oid, asked.verb)
               else coalesce(has_column_privilege(c.oid, a.attnum, asked.verb), true) end
order by lacks;

-- name: describe_role
-- A role that is to get rows only; no row where there is none of that name.
select rolsuper or rolcreaterole or rolreplication or rolbypassrls as is_powerful,
       exists (select from pg_namespace n where n.nspname = 'oasflow'
               and pg_has_role(r.oid, n.nspowner, 'MEMBER')) as is_owner
from pg_roles r where r.rolname = %(role)s;

-- name: list_app_roles
-- Roles that run flows: a migration gives them the new tables, too.  Known by the right to record a
-- decision, so that a role which somebody only lets read stays one.
select distinct r.rolname::text as role
from pg_class c join pg_namespace n on n.oid = c.relnamespace
cross join lateral aclexplode(c.relacl) a
join pg_roles r on r.oid = a.grantee
where n.nspname = 'oasflow' and a.grantee <> c.relowner
  and ((c.relname = 'context_plans' and a.privilege_type = 'INSERT')
       or (c.relname = 'checkpoints' and a.privilege_type = 'INSERT'))
order by 1;

-- name: create_schema
create schema oasflow;

-- name: create_versions
create table if not exists schema_versions (
    version text primary key,
    applied_at timestamptz not null default now()
);

-- name: list_versions
select version from schema_versions order by version;

-- name: checkpoint_version
select max(v) as version from checkpoint_migrations;

-- name: add_version
insert into schema_versions (version) values (%(version)s);

-- name: list_parked
-- Runs of before 010 with the gates that they wait at, which had no rows of their own.
select run_id, tenant, waiting, fence, updated_at from runs
where status not in ('completed', 'rejected', 'stopped') and waiting::text <> '[]';

-- name: insert_parked
-- A gate of before 010, opened when its run was parked; decided where somebody had answered it and
-- nobody gone on.
insert into gates (run_id, gate_id, payload_sha256, tenant, node, visit, step, interrupt, payload,
                   response_schema, opened_at, fence, state, settled_at)
select %(run_id)s, %(gate_id)s, %(payload_sha256)s, %(tenant)s, %(node)s, %(visit)s, %(step)s,
       %(interrupt)s, %(payload)s, %(response_schema)s, %(opened_at)s, %(fence)s,
       case when d.run_id is null then 'open' else 'decided' end, d.decided_at
from (select) as always
left join decisions d
    on (d.run_id, d.gate_id, d.payload_sha256) = (%(run_id)s, %(gate_id)s, %(payload_sha256)s)
on conflict do nothing;

-- name: resolve_context
-- Everything of an organisation that an actor may see, that is classified as one of the
-- extensions, in its latest revision.  A null organisation is nobody's and never matches.
-- Two ways to see something, each found by an index of its own: the visibilities that let the actor
-- in are spelled out, and what is their own is left out of them where it comes that way already.
with found as (
    select e.artifact_id, e.representation_id, e.assertion_id, e.extension, e.visibility,
           e.owner_id, e.owner_level, e.name
    from eligible_artifacts e
    where e.org_id = %(org_id)s
      and e.extension = any(%(extensions)s::text[])
      and e.visibility = any(open_visibilities(
              %(team_ids)s::text[], %(project_ids)s::text[], %(is_platform_admin)s::boolean))
    union all
    select e.artifact_id, e.representation_id, e.assertion_id, e.extension, e.visibility,
           e.owner_id, e.owner_level, e.name
    from eligible_artifacts e
    where e.org_id = %(org_id)s
      and e.extension = any(%(extensions)s::text[])
      and e.owner_id = %(principal_id)s
      and e.visibility <> all(open_visibilities(
              %(team_ids)s::text[], %(project_ids)s::text[], %(is_platform_admin)s::boolean))
)
select artifact_id, representation_id as representation_revision_id,
       assertion_id as semantic_assertion_id, extension, visibility, owner_id, owner_level, name
from found
where case when %(project_id)s::text is null
           then visibility not like 'project:%%'
           else visibility = 'project:' || %(project_id)s::text end;

-- name: list_withdrawn
-- Of refs that a run was offered, those that its owner can choose no more: deleted, hidden, moved
-- into a project or out of one, or no longer classified so.  A newer revision withdraws nothing.
-- Not judged is what the run was never offered here, and what it has chosen before, which a
-- finalize of the same choice takes as it was pinned.
with offered as (
    select asked.artifact_id, asked.assertion_id,
           array_agg(oasflow_text(ref, 'sourceScope') = 'project') as in_project
    from unnest(%(artifact_ids)s::text[], %(assertion_ids)s::text[])
         as asked (artifact_id, assertion_id)
    join context_plans p on p.org_id = %(org_id)s and p.parent_run_id = %(run_id)s
    cross join lateral json_array_elements(p.refs) as ref
    where oasflow_text(ref, 'artifactId') = asked.artifact_id
      and oasflow_text(ref, 'semanticAssertionId') = asked.assertion_id
    group by asked.artifact_id, asked.assertion_id
)
select distinct offered.artifact_id
from offered
where not exists (
    select 1
    from objects o
    join semantic_assertions a on a.id = offered.assertion_id
                              and a.artifact_id = o.id and a.org_id = o.org_id
                              and a.eligibility = 'eligible'
    where o.id = offered.artifact_id
      and o.org_id = %(org_id)s
      and o.type = '@cinatra-ai/artifact:object'
      and o.deleted_at is null
      and (o.owner_id = %(principal_id)s
           or o.visibility = any(open_visibilities(
                  %(team_ids)s::text[], %(project_ids)s::text[], %(is_platform_admin)s::boolean)))
      and (o.visibility like 'project:%%') = any(offered.in_project)
  )
  and not exists (
    select 1
    from run_context_selections s
    where s.org_id = %(org_id)s
      and s.parent_run_id = %(run_id)s
      and s.artifact_id = offered.artifact_id
      and s.semantic_assertion_id = offered.assertion_id
  )
order by offered.artifact_id;

-- name: incoherent_selections
-- Of rows that are to be written, those whose three keys do not belong together any more.
select row.artifact_id
from unnest(%(artifact_ids)s::text[], %(revision_ids)s::text[], %(assertion_ids)s::text[],
            %(extensions)s::text[])
     as row (artifact_id, revision_id, assertion_id, extension)
where not exists (
    select 1
    from objects o
    join representations r on r.id = row.revision_id
                          and r.artifact_id = o.id and r.org_id = o.org_id
    join semantic_assertions a on a.id = row.assertion_id
                              and a.artifact_id = o.id and a.org_id = o.org_id
                              and a.extension = row.extension
    where o.id = row.artifact_id
      and o.org_id = %(org_id)s
      and o.type = '@cinatra-ai/artifact:object'
      and o.deleted_at is null
)
order by row.artifact_id;

-- name: insert_selection
-- One row of a selection; no row comes back when it is there already.
insert into run_context_selections (
    id, org_id, parent_run_id, parent_package_name, slot_id, artifact_id,
    representation_revision_id, semantic_assertion_id, extension, source_scope, selected_by,
    selection_mode)
values (
    %(id)s, %(org_id)s, %(parent_run_id)s, %(parent_package_name)s, %(slot_id)s, %(artifact_id)s,
    %(representation_revision_id)s, %(semantic_assertion_id)s, %(extension)s, %(source_scope)s,
    %(selected_by)s, %(selection_mode)s)
on conflict (id) do nothing
returning id;

-- name: list_selections
-- What was chosen in a run, the batch that was chosen first first, each together and in its order: a
-- row's id is the key of its batch, a colon and its place, of which 10 comes after 2.  After the row
-- with an id; limit null: all.
with ordered as (
    select s.*, row_number() over (
        order by f.seq, s.selected_at, split_part(s.id, ':', 1), split_part(s.id, ':', 2)::integer
    ) as place
    from run_context_selections s
    left join (
        select key, min(seq) as seq from context_finalizes
        where org_id = %(org_id)s and parent_run_id = %(parent_run_id)s
        group by key
    ) f on f.key = split_part(s.id, ':', 1)
    where s.org_id = %(org_id)s and s.parent_run_id = %(parent_run_id)s
      and (%(slot_id)s::text is null or s.slot_id = %(slot_id)s)
)
select * from ordered
where %(after_id)s::text = ''
   or place > (select place from ordered where id = %(after_id)s)
order by place
limit %(limit)s;

-- name: share_objects
-- Nobody deletes or changes these until the transaction ends; others may share them.
select id from objects where id = any(%(ids)s) order by id for share;

-- name: list_pinned_refs
-- The refs of one batch, as they were pinned.
select s.artifact_id, s.representation_revision_id, s.semantic_assertion_id, s.extension,
       s.source_scope, coalesce(o.owner_id, '') as owner_id
from run_context_selections s
left join objects o on o.id = s.artifact_id and o.org_id = s.org_id
where s.org_id = %(org_id)s
  and s.parent_run_id = %(parent_run_id)s
  and split_part(s.id, ':', 1) = %(key)s;

-- name: lock_finalizes
-- One transaction at a time says which selection of a slot is the latest.
select pg_advisory_xact_lock(hashtextextended(
    concat_ws(chr(31), 'oasflow:finalizes', %(org_id)s::text, %(parent_run_id)s::text,
              %(parent_package_name)s::text, %(slot_id)s::text), 0));

-- name: insert_finalize
-- A selection is the latest one of its slot, which is locked; nothing where it is already.
insert into context_finalizes (
    org_id, parent_run_id, parent_package_name, slot_id, selection_mode, key)
select %(org_id)s, %(parent_run_id)s, %(parent_package_name)s, %(slot_id)s, %(selection_mode)s,
       %(key)s
where %(key)s is distinct from (
    select key from context_finalizes
    where org_id = %(org_id)s and parent_run_id = %(parent_run_id)s
      and parent_package_name = %(parent_package_name)s and slot_id = %(slot_id)s
    order by seq desc limit 1
);

-- name: find_finalize
-- Whether a selection with this key was ever made.
select seq from context_finalizes
where org_id = %(org_id)s and parent_run_id = %(parent_run_id)s
  and parent_package_name = %(parent_package_name)s and slot_id = %(slot_id)s
  and key = %(key)s
limit 1;

-- name: latest_selection
-- The refs of the selection that was made last for a slot of a run: no row where there is none,
-- one row without an artifact where it chose nothing.
with latest as (
    select key from context_finalizes
    where org_id = %(org_id)s and parent_run_id = %(parent_run_id)s
      and parent_package_name = %(parent_package_name)s and slot_id = %(slot_id)s
    order by seq desc limit 1
)
select s.artifact_id, s.representation_revision_id, s.semantic_assertion_id, s.extension,
       s.source_scope, coalesce(o.owner_id, '') as owner_id
from latest
left join run_context_selections s
       on s.org_id = %(org_id)s and s.parent_run_id = %(parent_run_id)s
      and split_part(s.id, ':', 1) = latest.key
left join objects o on o.id = s.artifact_id and o.org_id = s.org_id;

-- name: insert_plan
-- What was offered; a resolve that is tried again finds it there, offered now.
insert into context_plans (token, org_id, parent_run_id, parent_package_name, slot_id, refs)
values (%(token)s, %(org_id)s, %(parent_run_id)s, %(parent_package_name)s, %(slot_id)s, %(refs)s)
on conflict (token) do update set planned_at = excluded.planned_at;

-- name: delete_plans
delete from context_plans where planned_at < %(before)s returning token;

-- name: load_plan
select org_id, parent_run_id, parent_package_name, slot_id, refs
from context_plans where token = %(token)s;

-- name: last_plan
-- What a slot of a run was offered last.
select org_id, parent_run_id, parent_package_name, slot_id, refs
from context_plans
where org_id = %(org_id)s and parent_run_id = %(parent_run_id)s
  and parent_package_name = %(parent_package_name)s and slot_id = %(slot_id)s
order by planned_at desc, token
limit 1;

-- name: insert_object
insert into objects (id, org_id, type, name, owner_id, owner_level, visibility)
values (%(id)s, %(org_id)s, %(type)s, %(name)s, %(owner_id)s, %(owner_level)s, %(visibility)s);

-- name: delete_object
update objects set deleted_at = now() where id = %(id)s and deleted_at is null;

-- name: lock_object
-- Two revisions of one artifact come one after the other.
select org_id from objects where id = %(artifact_id)s for update;

-- name: insert_representation
-- The next revision of an artifact, whose row is locked.
insert into representations (id, org_id, artifact_id, revision, mime, content)
select %(id)s, o.org_id, o.id,
       coalesce((select max(revision) from representations r
                         where r.org_id = o.org_id and r.artifact_id = o.id), 0) + 1,
       %(mime)s, %(content)s
from objects o
where o.id = %(artifact_id)s
returning id;

-- name: load_representation
select content from representations where id = %(id)s;

-- name: insert_assertion
-- No row comes back where the artifact has an active one for the extension.
insert into semantic_assertions (id, org_id, artifact_id, extension, asserted_by, eligibility)
select %(id)s, org_id, id, %(extension)s, %(asserted_by)s, %(eligibility)s
from objects where id = %(artifact_id)s
on conflict (org_id, artifact_id, extension) where eligibility <> 'archived' do nothing
returning id;

-- name: archive_assertion
-- The artifact's row first, as whoever else changes the artifact does: nobody waits in a circle.
with held as (
    select a.id
    from semantic_assertions a
    join objects o on o.id = a.artifact_id
    where a.id = %(id)s and a.eligibility <> 'archived'
    for no key update of o
)
update semantic_assertions a set eligibility = 'archived'
from held
where a.id = held.id and a.eligibility <> 'archived';

-- name: load_objects
-- Whichever of the unique keys a process that loads at the same moment was first with.
-- Artifacts that are declared and not there yet, in the order of their ids, so that two processes
-- that load the same ones wait for each other and not in a circle.
insert into objects (id, org_id, type, name, owner_id, owner_level, visibility)
select given.id, given.org_id, %(type)s, given.name, given.owner_id, given.owner_level,
       given.visibility
from unnest(%(ids)s::text[], %(org_ids)s::text[], %(names)s::text[], %(owner_ids)s::text[],
            %(owner_levels)s::text[], %(visibilities)s::text[])
     as given (id, org_id, name, owner_id, owner_level, visibility)
order by given.id
on conflict do nothing;

-- name: lock_objects
select id, org_id, type, deleted_at from objects
where id = any(%(ids)s)
order by id
for update;

-- name: update_objects
-- Declared artifacts whose rows say something else; they are locked.
update objects o
set name = given.name, owner_id = given.owner_id, owner_level = given.owner_level,
    visibility = given.visibility
from unnest(%(ids)s::text[], %(names)s::text[], %(owner_ids)s::text[], %(owner_levels)s::text[],
            %(visibilities)s::text[])
     as given (id, name, owner_id, owner_level, visibility)
where o.id = given.id
  and (o.name, o.owner_id, o.owner_level, o.visibility)
      is distinct from (given.name, given.owner_id, given.owner_level, given.visibility);

-- name: load_representations
-- A revision for each declared artifact whose latest one says something else; they are locked.
insert into representations (id, org_id, artifact_id, revision, mime, content)
select 'rev_' || replace(gen_random_uuid()::text, '-', ''), o.org_id, o.id,
       coalesce(latest.revision, 0) + 1, 'text/plain', given.content
from unnest(%(ids)s::text[], %(contents)s::text[]) as given (id, content)
join objects o on o.id = given.id
left join lateral (
    select r.revision, r.content
    from representations r
    where r.org_id = o.org_id and r.artifact_id = o.id
    order by r.revision desc
    limit 1
) latest on true
where latest.content is distinct from given.content;

-- name: archive_drafts
-- Drafts of classifications that are given for good now; their artifacts are locked.
update semantic_assertions a set eligibility = 'archived'
from unnest(%(ids)s::text[], %(extensions)s::text[]) as given (id, extension)
join objects o on o.id = given.id
where a.org_id = o.org_id and a.artifact_id = o.id and a.extension = given.extension
  and a.eligibility = 'draft';

-- name: load_assertions
-- Classifications that are declared and not there yet; their artifacts are locked.
insert into semantic_assertions (id, org_id, artifact_id, extension, asserted_by, eligibility)
select 'sem_' || replace(gen_random_uuid()::text, '-', ''), o.org_id, o.id, given.extension,
       'user', 'eligible'
from unnest(%(ids)s::text[], %(extensions)s::text[]) as given (id, extension)
join objects o on o.id = given.id
on conflict (org_id, artifact_id, extension) where eligibility <> 'archived' do nothing;

-- name: list_names
-- Names of those artifacts that an actor may see, as resolve_context sees them but for the project.
select o.id, o.name
from objects o
where o.org_id = %(org_id)s
  and o.id = any(%(ids)s)
  and o.deleted_at is null
  and (o.owner_id = %(principal_id)s
       or o.visibility = any(open_visibilities(
              %(team_ids)s::text[], %(project_ids)s::text[], %(is_platform_admin)s::boolean)));

-- name: list_artifacts
-- The artifacts that an actor may see, in the order in which they were added, after a place in it.
select o.id, o.name, o.owner_id, o.owner_level, o.visibility, o.created_at
from objects o
where o.org_id = %(org_id)s
  and o.type = '@cinatra-ai/artifact:object'
  and o.deleted_at is null
  and (o.owner_id = %(principal_id)s
       or o.visibility = any(open_visibilities(
              %(team_ids)s::text[], %(project_ids)s::text[], %(is_platform_admin)s::boolean)))
  and (%(after_at)s::timestamptz is null
       or (o.created_at, o.id) > (%(after_at)s::timestamptz, %(after_id)s::text))
order by o.created_at, o.id
limit %(limit)s;

-- name: list_chosen
-- What was chosen in a run, for people: one row per ref, one without an artifact and without
-- anybody who chose where a selection chose nothing; one after another, each from narrow to broad.
-- After the ref at a place within the selection with a number; limit null: all.
with ordered as (
    select f.seq, row_number() over (
               partition by f.seq
               order by array_position(
                            array['project', 'user', 'team', 'organization', 'workspace'],
                            s.source_scope),
                        s.artifact_id collate "C", s.extension collate "C",
                        s.semantic_assertion_id collate "C") as place,
           f.parent_package_name as package_name, f.slot_id, s.artifact_id,
           coalesce(o.name, '') as name, r.revision, s.representation_revision_id as revision_id,
           s.semantic_assertion_id as assertion_id, s.extension, s.source_scope, s.selected_by,
           f.selection_mode, f.selected_at
    from context_finalizes f
    left join run_context_selections s
           on s.org_id = f.org_id and s.parent_run_id = f.parent_run_id
          and split_part(s.id, ':', 1) = f.key
    left join representations r on r.id = s.representation_revision_id
    left join objects o on o.id = s.artifact_id and o.org_id = s.org_id
    where f.parent_run_id = %(run_id)s
)
select * from ordered
where (seq, place) > (%(after_seq)s::bigint, %(after_place)s::bigint)
order by seq, place
limit %(limit)s;

-- name: load_run_platform
-- Whose a run is, by the platform that it was started with, which flow it runs, and how it stands.
select run_id, tenant, digest, status, platform from runs where run_id = %(run_id)s;

-- name: insert_attachment_piece
insert into attachment_pieces (tenant, artifact_id, revision_id, place, content)
values (%(tenant)s, %(artifact_id)s, %(revision_id)s, %(place)s, %(content)s);

-- name: lock_attachments
-- One writer of an artifact's revisions after another.
select pg_advisory_xact_lock(hashtextextended('oasflow:attachment:' || %(tenant)s || '/' || %(artifact_id)s, 0));

-- name: insert_attachment
-- The next revision; no row comes back for an artifact that is tombstoned.
insert into attachments (tenant, artifact_id, revision_id, revision, sha256, mime, size, origin_kind,
                         title, filename, parent_id, parent_type, created_by)
select %(tenant)s, %(artifact_id)s, %(revision_id)s, coalesce(max(a.revision), 0) + 1, %(sha256)s,
       %(mime)s, %(size)s, %(origin_kind)s, %(title)s, %(filename)s, %(parent_id)s, %(parent_type)s,
       %(created_by)s
from attachments a where a.tenant = %(tenant)s and a.artifact_id = %(artifact_id)s
having bool_and(a.tombstoned_at is null) is not false
returning revision;

-- name: load_attachment
-- One revision, while it may be read.
select artifact_id, revision_id, revision, sha256, mime, size, origin_kind, title, filename,
       parent_id, parent_type, created_by, created_at
from attachments
where tenant = %(tenant)s and artifact_id = %(artifact_id)s and revision_id = %(revision_id)s
  and tombstoned_at is null;

-- name: load_attachment_piece
-- Asks again at every piece whether the file may still be read.
select p.content
from attachment_pieces p
join attachments a using (tenant, artifact_id, revision_id)
where p.tenant = %(tenant)s and p.artifact_id = %(artifact_id)s and p.revision_id = %(revision_id)s
  and p.place = %(place)s and a.tombstoned_at is null;

-- name: tombstone_attachment
-- All revisions of an artifact.
update attachments set tombstoned_at = clock_timestamp()
where tenant = %(tenant)s and artifact_id = %(artifact_id)s and tombstoned_at is null
returning revision_id;

-- name: load_attachment_upload
-- What a provider has of a file that may still be read.
select u.provider_file_id, u.mime, u.size
from attachment_uploads u
where u.tenant = %(tenant)s and u.artifact_id = %(artifact_id)s and u.revision_id = %(revision_id)s
  and u.digest = %(digest)s and u.provider = %(provider)s and u.expires_at > clock_timestamp()
  and exists (
      select from attachments a
      where a.tenant = u.tenant and a.artifact_id = u.artifact_id and a.revision_id = u.revision_id
        and a.tombstoned_at is null);

-- name: save_attachment_upload
-- The latest upload counts.
insert into attachment_uploads (tenant, artifact_id, revision_id, digest, provider,
                                provider_file_id, mime, size, expires_at)
values (%(tenant)s, %(artifact_id)s, %(revision_id)s, %(digest)s, %(provider)s,
        %(provider_file_id)s, %(mime)s, %(size)s,
        clock_timestamp() + make_interval(secs => %(seconds)s::float8))
on conflict (tenant, artifact_id, revision_id, digest, provider)
    do update set provider_file_id = excluded.provider_file_id, mime = excluded.mime,
                  size = excluded.size, expires_at = excluded.expires_at;

-- name: list_expired_uploads
-- The oldest first.
select artifact_id, revision_id, digest, provider, provider_file_id, expires_at
from attachment_uploads
where tenant = %(tenant)s and provider = %(provider)s and expires_at <= clock_timestamp()
order by expires_at, artifact_id, revision_id, digest
limit %(limit)s;

-- name: delete_expired_upload
-- Only the very upload that was seen: a newer one under the same key stays.
delete from attachment_uploads
where tenant = %(tenant)s and artifact_id = %(artifact_id)s and revision_id = %(revision_id)s
  and digest = %(digest)s and provider = %(provider)s
  and provider_file_id = %(provider_file_id)s and expires_at = %(expires_at)s
returning provider_file_id;
-- ------------------------------------------------------------------ objects of the platform's tools

-- name: insert_saved_object
-- No row where a call with the same key has saved one before.
insert into saved_objects (id, org_id, run_id, key)
values (%(id)s, %(org_id)s, %(run_id)s, %(key)s)
on conflict do nothing
returning id;

-- name: lock_saved_object
-- Versions of one object are added one after the other.
select id from saved_objects where id = %(id)s and org_id = %(org_id)s for update;

-- name: find_saved_object_of_key
select id from saved_objects where org_id = %(org_id)s and key = %(key)s and key <> '';

-- name: insert_saved_object_version
insert into saved_object_versions (object_id, version, key, run_id, type, mime, content, sha256)
select %(id)s, coalesce(max(version), 0) + 1, %(key)s, %(run_id)s, %(type)s, %(mime)s,
       %(content)s, %(sha256)s
from saved_object_versions where object_id = %(id)s
on conflict do nothing
returning version;

-- name: load_saved_object
-- The newest version, or the one that is asked for; that of a key where one is named.
select o.id, o.org_id, o.run_id, v.version, v.type, v.mime, v.content, v.sha256
from saved_objects o join saved_object_versions v on v.object_id = o.id
where o.id = %(id)s and o.org_id = %(org_id)s
  and (%(version)s::integer is null or v.version = %(version)s)
  and (%(key)s::text = '' or v.key = %(key)s)
order by v.version desc limit 1;

-- name: count_saved_objects_of_run
-- How many objects a run saved whose newest version has the type.
select count(*) as number from (
    select distinct on (o.id) o.id, v.type
    from saved_objects o join saved_object_versions v on v.object_id = o.id
    where o.org_id = %(org_id)s and o.run_id = %(run_id)s
    order by o.id, v.version desc
) newest where %(type)s::text = '' or type = %(type)s;

-- name: list_saved_objects_of_run
-- The newest version of each object of a type that a run saved, the last saved first, as far as they
-- have so many bytes together; the first one, whatever it has.
with newest as (
    select distinct on (o.id) o.id, o.org_id, o.run_id, v.version, v.type, v.saved_at,
           octet_length(v.content) as size
    from saved_objects o join saved_object_versions v on v.object_id = o.id
    where o.org_id = %(org_id)s and o.run_id = %(run_id)s
    order by o.id, v.version desc
), listed as (
    select *, row_number() over latest as place, sum(size) over latest as bytes
    from newest where %(type)s::text = '' or type = %(type)s
    window latest as (order by saved_at desc, id rows unbounded preceding)
)
select l.id, l.org_id, l.run_id, l.version, v.type, v.mime, v.content, v.sha256
from listed l join saved_object_versions v on v.object_id = l.id and v.version = l.version
where l.place = 1 or (l.place <= %(most)s and l.bytes <= %(most_bytes)s)
order by l.place;

-- ------------------------------------------------------------------ governed runs

-- name: insert_pack
-- No row where the tenant has the reference already.
insert into context_packs (tenant, ref, content, sha256, published_by)
values (%(tenant)s, %(ref)s, %(content)s, %(sha256)s, %(published_by)s)
on conflict (tenant, ref) do nothing
returning ref;

-- name: load_pack
-- The tenant's own before that of every tenant ('*'); else another's, of which nothing but that is told.
select tenant, ref, content, sha256, published_by, published_at from context_packs
where ref = %(ref)s
order by case tenant when %(tenant)s then 0 when '*' then 1 else 2 end, tenant
limit 1;

-- name: list_packs
select tenant, ref, sha256, published_by, published_at from context_packs
where %(tenant)s::text is null or tenant in (%(tenant)s, '*')
order by ref, tenant;

-- name: insert_record
insert into decision_records (run_id, seq, tenant, record_id, status, run_status, record, record_hash,
                              previous_hash, transcript)
values (%(run_id)s, %(seq)s, %(tenant)s, %(record_id)s, %(status)s, %(run_status)s, %(record)s,
        %(record_hash)s, %(previous_hash)s, %(transcript)s);

-- name: load_last_record
select seq, status, run_status, record, record_hash, transcript from decision_records
where run_id = %(run_id)s order by seq desc limit 1;

-- name: load_record
select d.*, f.name as flow_name from decision_records d join runs r using (run_id) join flows f using (digest)
where d.record_id = %(record_id)s and (%(tenant)s::text is null or d.tenant = %(tenant)s);

-- name: list_records
-- The newest first, after a place in that order.
select d.run_id, d.seq, d.tenant, d.record_id, d.status, d.run_status, d.record, d.record_hash,
       d.previous_hash, d.created_at, f.name as flow_name
from decision_records d join runs r using (run_id) join flows f using (digest)
where (%(tenant)s::text is null or d.tenant = %(tenant)s)
  and (%(run_id)s::text is null or d.run_id = %(run_id)s)
  and (%(status)s::text is null or d.status = %(status)s)
  and (%(after_at)s::timestamptz is null
       or (d.created_at, d.run_id, d.seq)
          < (%(after_at)s::timestamptz, %(after_run)s::text, %(after_seq)s::integer))
order by d.created_at desc, d.run_id desc, d.seq desc
limit %(limit)s;

-- name: list_chain
-- All records of a run, the first first.
select * from decision_records where run_id = %(run_id)s order by seq;

-- name: list_asked_gates
-- Every gate of a run with what it showed, also those that were decided and closed, in the order in which
-- they were asked.
select * from gates where run_id = %(run_id)s order by opened_at, gate_id, payload_sha256;

-- name: list_hashed_effects
-- The calls of a run with the hashes of their results, which are the same before and after it is archived.
select key, kind, capability, path, visit, item, risk, status, attempts, usage, error, request_sha256,
       shown_sha256, begun_at, ended_at,
       case when result is null then result_sha256
            else encode(sha256(convert_to(result::text, 'UTF8')), 'hex') end as result_sha256
from effects where run_id = %(run_id)s order by begun_at, key;

-- name: list_children
-- The runs that a run began, the first first.
select run_id from runs where parent_run_id = %(run_id)s order by created_at, run_id;

-- name: list_recorded_runs
-- Runs that have records, in the order of their ids, after one of them.
select distinct d.run_id from decision_records d
where (%(tenant)s::text is null or d.tenant = %(tenant)s) and d.run_id > %(after)s
order by d.run_id limit %(limit)s;

-- name: list_governed_effects
-- The calls of a run that rules govern, in the order in which they were begun.
select key, kind, capability, path, status, attempts, result, usage, error, begun_at, ended_at, governed
from effects where run_id = %(run_id)s and governed is not null order by begun_at, key;

-- name: list_run_decisions
select gate_id, node, kind, decided_by, reason, decided_at, answer from decisions
where run_id = %(run_id)s and kind <> 'auto_skipped' order by decided_at, gate_id;

-- name: list_shown
-- What people were shown at the gates that were decided.
select g.gate_id, g.payload from gates g
where g.run_id = %(run_id)s and g.state = 'decided';

-- name: insert_memory_proposal
insert into memory_proposals (proposal_id, run_id, tenant, proposal)
values (%(proposal_id)s, %(run_id)s, %(tenant)s, %(proposal)s)
on conflict (proposal_id) do nothing;

-- name: list_memory_proposals
select p.proposal_id, p.run_id, p.tenant, p.proposal, p.proposed_at, r.verdict, r.reviewed_by,
       r.reason, r.reviewed_at
from memory_proposals p left join memory_reviews r using (proposal_id)
where (%(tenant)s::text is null or p.tenant = %(tenant)s)
  and (not %(open)s or r.proposal_id is null)
order by p.proposed_at, p.proposal_id limit %(limit)s;

-- name: insert_memory_review
-- No row where somebody has reviewed it before, or where it is another tenant's.
insert into memory_reviews (proposal_id, verdict, reviewed_by, reason)
select p.proposal_id, %(verdict)s, %(reviewed_by)s, %(reason)s from memory_proposals p
where p.proposal_id = %(proposal_id)s and (%(tenant)s::text is null or p.tenant = %(tenant)s)
on conflict (proposal_id) do nothing
returning proposal_id;

-- name: find_attachment_of_content
-- A file with these bytes, while it may be read.
select coalesce(title, filename, '') as title from attachments
where tenant = %(tenant)s and artifact_id = %(artifact_id)s and sha256 = %(sha256)s
  and tombstoned_at is null
limit 1;

-- name: find_pinned_artifact
-- One revision of an artifact under one classification, while the artifact is there.
select encode(sha256(convert_to(r.content, 'UTF8')), 'hex') as sha256, o.name
from representations r
join objects o on o.id = r.artifact_id and o.org_id = r.org_id
join semantic_assertions s on s.artifact_id = o.id and s.org_id = o.org_id
where r.org_id = %(tenant)s and r.artifact_id = %(artifact_id)s and r.id = %(revision_id)s
  and s.id = %(assertion_id)s and o.deleted_at is null;

-- name: load_effects
-- What came of each call of a run.
select key, status, request_sha256, result, usage, error, path, visit, attempts
from effects where run_id = %(run_id)s;

-- name: load_answers
-- What people decided in a run, and about what, in the order in which they did.
select gate_id, payload_sha256, kind, answer, decided_by, decided_at from decisions
where run_id = %(run_id)s and kind <> 'auto_skipped' order by decided_at, gate_id;

-- name: clear_checkpoints
-- Whether the checkpoints of the run were removed: not where another worker has it, or it has ended.
select oasflow_clear_checkpoints(%(run_id)s, %(fence)s, %(lowering)s) as cleared;

-- name: list_open_hashes
select gate_id, payload_sha256 from gates where run_id = %(run_id)s and state = 'open';

-- name: list_runs_of_layouts
-- Runs that have not ended and whose checkpoints are in another layout than this version's, after a place in
-- the order of their ids.  Hand-written graphs have layouts of their own.
select r.run_id, r.tenant, r.lowering as layout, r.status,
       r.status = 'waiting' and exists (
           select from gates g where g.run_id = r.run_id and g.state = 'decided' and g.fence > 0)
           as can_go_on
from rests t join runs r using (run_id) join flows f on f.digest = r.digest
where t.status not in ('completed', 'rejected', 'stopped') and not t.archived
  and r.status not in ('completed', 'rejected', 'stopped')
  and (t.layout < %(layout)s or t.layout > %(layout)s)
  and (r.lowering <> %(graph_layout)s or not oasflow_is_hand_written(f.source))
  and (%(tenant)s::text is null or r.tenant = %(tenant)s) and r.run_id > %(after)s
order by r.run_id limit %(limit)s;

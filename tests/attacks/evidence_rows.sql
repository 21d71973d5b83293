insert into flows (digest, name, source) values ('{digest}', 'f', '{}');
with names (run_id, tenant, governed) as (values
    ('r1', 't1', false), ('gov', 't1', true), ('done', 't1', true), ('refused', 't1', false),
    ('halted', 't1', false), ('late', 't1', false), ('old', 't1', false), ('other', 't2', false))
insert into runs (run_id, tenant, digest, input, env_names, lowering, platform, governed)
    select run_id, tenant, '{digest}', '{}', '{}', 1, '{}', governed from names;
insert into work (run_id, events) select run_id, 1 from runs;
insert into run_events (run_id, seq, kind, name) select run_id, 1, 'run', 'created' from runs;
insert into gates (run_id, gate_id, payload_sha256, tenant, node, visit, step, interrupt, payload,
                   response_schema)
    select run_id, gate_id, 'p', tenant, 'n', 1, 1, 'i', '{"values": {}}', '{}'
    from runs, (values ('g'), ('h')) as of (gate_id);
insert into decisions (run_id, gate_id, tenant, node, visit, step, kind, answer, decided_by,
                       payload_sha256, policy_sha256)
    select run_id, 'g', tenant, 'n', 1, 1, case when run_id = 'refused' then 'rejected' else 'approved' end,
           '{}', 'ann', 'p', 'q' from runs;
insert into effects (run_id, key, tenant, kind, status)
    select run_id, key, tenant, 'http', 'begun'
    from runs, (values ('k'), ('f'), ('b'), ('u'), ('s')) as of (key);
update effects set status = 'done', result = '{"value": {"id": 1}}' where key = 'k';
update effects set status = 'failed', error = '{"code": "DOWN"}' where key = 'f';
update effects set status = 'unknown', error = '{"code": "cut_off"}' where key in ('u', 's');
insert into objects (id, org_id, type, name, owner_id, owner_level, visibility)
    values ('a', 't1', '@cinatra-ai/artifact:object', 'a', 'ann', 'user', 'org');
insert into representations (id, org_id, artifact_id, revision, mime, content)
    values ('ra', 't1', 'a', 1, 'text/plain', 'plain words');
insert into semantic_assertions (id, org_id, artifact_id, extension, asserted_by, eligibility)
    values ('sa', 't1', 'a', '@x/voice', 'user', 'eligible');
insert into attachment_pieces (tenant, artifact_id, revision_id, place, content)
    values ('t1', 'f', 'f1', 0, 'bytes');
insert into attachments (tenant, artifact_id, revision_id, revision, sha256, mime, size, origin_kind, created_by)
    values ('t1', 'f', 'f1', 1, encode(sha256('bytes'), 'hex'), 'text/plain', 5, 'upload', 'ann');
insert into saved_objects (id, org_id, run_id, key) values ('o', 't1', 'done', 'save');
insert into saved_object_versions (object_id, version, key, run_id, type, mime, content, sha256)
    values ('o', 1, 'save', 'done', '@x/draft', 'text/plain', 'words', encode(sha256('words'), 'hex'));
insert into memory_proposals (proposal_id, run_id, tenant, proposal)
    values ('mp_1', 'done', 't1', '{"proposal_id": "mp_1"}');
insert into memory_reviews (proposal_id, verdict, reviewed_by) values ('mp_1', 'declined', 'ann');
insert into context_packs (tenant, ref, content, sha256, published_by)
    values ('t1', 'p@1.0.0', '{}', 'sha256:' || repeat('0', 64), 'ann');
insert into decision_records (run_id, seq, tenant, record_id, status, run_status, record, record_hash, transcript)
    select run_id, 1, tenant, 'dr_' || run_id || '_1', 'IN_FLIGHT', 'waiting',
           json_build_object('record_id', 'dr_' || run_id || '_1', 'record_hash', 'sha256:' || repeat('1', 64),
                             'previous_record_hash', null, 'sequence', 1, 'status', 'IN_FLIGHT'),
           'sha256:' || repeat('1', 64), '{}'
    from runs where governed;
update runs set status = 'waiting' where run_id in ('r1', 'gov', 'other');
-- commit
insert into decision_records (run_id, seq, tenant, record_id, status, run_status, record, record_hash,
                              previous_hash, transcript)
    select 'done', 2, 't1', 'dr_done_2', 'DECIDED', 'completed',
           json_build_object('record_id', 'dr_done_2', 'record_hash', 'sha256:' || repeat('2', 64),
                             'previous_record_hash', record_hash, 'sequence', 2, 'status', 'DECIDED'),
           'sha256:' || repeat('2', 64), record_hash, '{}' from decision_records where run_id = 'done';
update work set worker = 'w', lease_until = clock_timestamp() + interval '10 minutes' where run_id = 'late';
update runs set status = 'completed', outputs = '{"sent": false}' where run_id in ('done', 'old');
update runs set status = 'rejected' where run_id = 'refused';
update runs set status = 'stopped', stopped_by = 'ann', stop_reason = 'no' where run_id in ('halted', 'late');
update gates set state = 'closed' where run_id in ('done', 'refused', 'halted', 'late', 'old') and state = 'open';
-- commit
select from oasflow_archive_run('old', null, 'ann', false);

-- Rows only: what the role {role}, as which flows run, may do, and nothing else.
-- Columns are named wherever the store's own statements name them: an id, a moment, how a run begins
-- or a position in an order that the database gives out cannot be made up, nor what a run was started
-- with changed.
-- Carried out as the owner of the tables; the same again changes nothing.

revoke all on schema oasflow from public, {role};
revoke all on all tables in schema oasflow from public, {role};
revoke all on all sequences in schema oasflow from public, {role};
grant usage on schema oasflow to {role};
grant select on all tables in schema oasflow to {role};

-- Append-only: no update, no delete, no truncate.
grant insert (digest, name, file, source) on oasflow.flows to {role};
grant insert (run_id, gate_id, tenant, node, visit, step, kind, answer, decided_by, reason,
              payload_sha256, policy_sha256)
    on oasflow.decisions to {role};
grant insert (id, org_id, artifact_id, revision, mime, content) on oasflow.representations to {role};
grant insert (id, org_id, parent_run_id, parent_package_name, slot_id, artifact_id,
              representation_revision_id, semantic_assertion_id, extension, source_scope,
              selected_by, selection_mode)
    on oasflow.run_context_selections to {role};
grant insert (org_id, parent_run_id, parent_package_name, slot_id, selection_mode, key)
    on oasflow.context_finalizes to {role};

-- How a run stands changes until it has ended (a trigger sees to that); what it is does not.
grant insert (run_id, tenant, digest, input, env_names, lowering, platform, policy, started_by,
              file, owner, session_id, parent_run_id, parent_path, deadline, governed)
    on oasflow.runs to {role};
grant update (status, outputs, branch, messages, error, attempts, stopped_by, stop_reason, usage,
              retry_at, failures)
    on oasflow.runs to {role};

-- Artifacts: a classification can only be archived (a trigger sees to that); nothing is deleted.
grant insert (id, org_id, type, name, owner_id, owner_level, visibility)
    on oasflow.objects to {role};
grant update (name, owner_id, owner_level, visibility, deleted_at) on oasflow.objects to {role};
grant insert (id, org_id, artifact_id, extension, asserted_by, eligibility)
    on oasflow.semantic_assertions to {role};
grant update (eligibility) on oasflow.semantic_assertions to {role};
-- What triggers make of them, as the owner of the tables, is only read.
grant select on oasflow.eligible_artifacts to {role};
-- As the transaction in which a run ended, and what stands where by a trigger.
grant select on oasflow.run_ends to {role};
grant select on oasflow.running to {role};
grant select on oasflow.rests to {role};

-- Offers prove nothing, and old ones may go.
grant insert (token, org_id, parent_run_id, parent_package_name, slot_id, refs)
    on oasflow.context_plans to {role};
grant update (planned_at), delete on oasflow.context_plans to {role};

-- LangGraph's own tables: what its checkpointer writes.
grant insert, update (checkpoint, metadata) on oasflow.checkpoints to {role};
grant insert on oasflow.checkpoint_blobs to {role};
grant insert, update (channel, type, blob) on oasflow.checkpoint_writes to {role};

-- Who works on a run, and what its gates wait for.  What a gate showed and a decision stay, and so
-- does the record of a call that was made (triggers see to that); events are only added.
grant insert (run_id, events) on oasflow.work to {role};
grant update (fence, worker, backend_pid, lease_until, heartbeat_at, events, claimed_at,
              events_at_claim, offered_until, paused_at, paused_by, woken_at, told_attempts)
    on oasflow.work to {role};
grant insert (run_id, gate_id, payload_sha256, tenant, node, visit, step, interrupt, payload,
              response_schema, deadline, state, settled_at, fence)
    on oasflow.gates to {role};
grant update (interrupt, state, settled_at, fence) on oasflow.gates to {role};
grant insert (run_id, seq, kind, name, path, visit, data) on oasflow.run_events to {role};
grant insert (run_id, key, attempts, tenant, happened, result, settled_by, reason)
    on oasflow.settlements to {role};
grant insert (run_id, key, tenant, kind, capability, path, visit, item, risk, request_sha256,
              shown_sha256, status, attempts, result, usage, error, ended_at, fence, governed)
    on oasflow.effects to {role};
grant update (capability, request_sha256, shown_sha256, status, attempts, result, usage, error,
              ended_at, fence, governed)
    on oasflow.effects to {role};

-- Who acts, beyond a name: as the rows of decisions and settlements, and with the start and the stop of a run.
grant insert (by_sub, by_issuer, by_kind, by_proof, by_channel)
    on oasflow.decisions to {role};
grant insert (by_sub, by_issuer, by_kind, by_proof, by_channel)
    on oasflow.settlements to {role};
grant insert (policy_sha256) on oasflow.gates to {role};
grant insert (started_sub, started_issuer, started_kind, started_proof, started_channel)
    on oasflow.runs to {role};
grant update (stopped_sub, stopped_issuer, stopped_kind, stopped_proof, stopped_channel)
    on oasflow.runs to {role};

-- What only going on needs of a run that has ended: the function looks whether it has.
grant execute on function oasflow.oasflow_archive_run(text, text, text, boolean) to {role};
-- Checkpoints that are made again: the function looks who works on the run.
grant execute on function oasflow.oasflow_clear_checkpoints(text, bigint, integer) to {role};

-- Attached files: a file can only be tombstoned (a trigger sees to that), its bytes only be added.  What
-- a provider has of them proves nothing.
grant insert (tenant, artifact_id, revision_id, revision, sha256, mime, size, origin_kind, title,
              filename, parent_id, parent_type, created_by)
    on oasflow.attachments to {role};
grant update (tombstoned_at) on oasflow.attachments to {role};
grant insert (tenant, artifact_id, revision_id, place, content)
    on oasflow.attachment_pieces to {role};
grant insert, update (provider_file_id, mime, size, expires_at), delete
    on oasflow.attachment_uploads to {role};

-- Objects of the platform's tools: only added (triggers see to that).
grant insert (id, org_id, run_id, key) on oasflow.saved_objects to {role};
-- To lock a row takes the right to update a column; a trigger refuses every update.
grant update (key) on oasflow.saved_objects to {role};
grant insert (object_id, version, key, run_id, type, mime, content, sha256)
    on oasflow.saved_object_versions to {role};

-- Governed runs: packs, decision records, proposals and reviews are only added (triggers see to that).
grant insert (tenant, ref, content, sha256, published_by) on oasflow.context_packs to {role};
grant insert (run_id, seq, tenant, record_id, status, run_status, record, record_hash, previous_hash,
              transcript)
    on oasflow.decision_records to {role};
grant insert (proposal_id, run_id, tenant, proposal) on oasflow.memory_proposals to {role};
grant insert (proposal_id, verdict, reviewed_by, reason) on oasflow.memory_reviews to {role};

-- Where the database lives, and what was erased, the owner of the tables says.
grant select on oasflow.homes to {role};
grant select on oasflow.erasures to {role};

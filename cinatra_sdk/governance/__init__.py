"""Governed runs: the ContextOS execution contract as rules over the same graphs, runs and effects.

contracts/      the records that cross the borders, frozen and strict
canonical.py    canonical JSON (RFC 8785) and hashes;  refusals.py  every reason, with its code
governance.py parts.py ports.py    what the host lends
registry.py compatibility.py catalogs.py    packs by pinned references, and the intents that they take
rulebook.py pack_parts.py policy.py facts.py call_facts.py arguments.py schemas.py    what the packs allow: a pure function
conditions/     JsonLogic that guesses nothing
admission.py budgets.py compiling.py first_turn_block.py tokens.py    from a request to a run, and to its context
proposed.py gateway.py evidence.py usage.py    one call: its envelope, rules, approvals, budget
model_tokens.py    what a model's call will take
starter.py requester.py    whoever started a run, and who may not approve for that
delegation.py delegating.py current_call.py    on whose behalf;  children, which get less
results.py tracing.py deadlines.py    what came of a call
planning.py references.py critic.py outcomes.py outputs.py    plans, what is said of them, and what their ends claim
story.py transcripts.py recording.py signing.py recorders.py    decision records
replaying.py verdicts.py differences.py    records derived again
verifier.py signatures.py exact_json.py    an export verified, with the standard library alone
flows.py call_governor.py    the rules over a compiled flow, and before the effects of one visit
loop/           the canonical loop as nodes of a graph (`graphs.governed_run`)

    admit(envelope, HostWord(tenant="acme"), FolderRegistry("packs"))   ->  Admitted(run=…, book=…)
    Gateway(book, run, facts, ports=…, usage=RunUsage()).examine(call)     ->  Examined(refusal=None, gates=…)

Governance is no second runtime: a governed call is an effect of the run (`cinatra_sdk.effects`), a
person is asked at a gate (`cinatra_sdk.gates`), and the record is kept with the run.
"""

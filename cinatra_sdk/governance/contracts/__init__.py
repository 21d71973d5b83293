"""The records that cross the borders of a governed run: frozen, strict, closed.

context_pack.py     ContextPack v2, its layers; policy rules, gates, guardrails, permissions,
                    adapters; PolicyDecision
context_record.py   CompiledContext with its manifests, budget report and ledger
decision_record.py  DecisionRecord; ReplayPacket; MemoryProposal and what a reviewer says of it
invocation.py       principals, delegations, claims, agents; the invokeAgent envelope; RunContext:
                    who runs what, under which budget; ToolCallEnvelope, ToolResultEnvelope
plans.py            what a critic says of a plan and of its results; DecisionSpec, decision
                    catalogs; Plan; plans, what is said of them, and what their ends claim
record_format.py    `Contract`: how a record is read, written and hashed; frozen objects; names
                    and references: pinned packs, agents, traces, hashes, evidence; canonical JSON
                    (RFC 8785) and hashes
refusals.py         every reason, with its code
schemas.py          the JSON Schemas of all of these, by name and version

    ToolCallEnvelope.read({"envelope_version": "contextos.tool_call.v1", …})
"""

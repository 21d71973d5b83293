"""The records that cross the borders of a governed run: frozen, strict, closed.

contract.py         `Contract`: how a record is read, written and hashed;  frozen objects
identifiers.py      names and references: pinned packs, agents, traces, hashes, evidence
identity.py         principals, delegations, claims, agents
run_context.py      RunContext: who runs what, under which budget
invoke.py           the invokeAgent envelope
calls.py            ToolCallEnvelope, ToolResultEnvelope
packs.py            ContextPack v2, its layers
rules.py            policy rules, gates, guardrails, permissions, adapters; PolicyDecision
decisions.py        DecisionSpec, decision catalogs; Plan
compiled.py         CompiledContext with its manifests, budget report and ledger
critics.py          what a critic says of a plan and of its results
memory.py           MemoryProposal and what a reviewer says of it
records.py          DecisionRecord
replays.py          ReplayPacket
schemas.py          the JSON Schemas of all of these, by name and version

    ToolCallEnvelope.read({"envelope_version": "contextos.tool_call.v1", …})
"""

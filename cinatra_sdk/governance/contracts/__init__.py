"""The records of the governance contract: frozen, strict, closed.

record_format.py    `Contract`: how a record is read, written and hashed; names, references, canonical JSON
context_pack.py     a context pack, version 2: adapters, permissions, rules, gates, guardrails; `CompiledContext`
invocation.py       people, agents and delegations; the invokeAgent envelope; `RunContext`; tool calls
plans.py            `Plan`; catalogs of decisions and their outcomes; the verdicts of the critic
decision_record.py  `DecisionRecord`; `ReplayPacket`; proposals of memory
refusals.py         `GovernanceRefused`, and every code
schemas.py          the JSON Schemas of all of these, by name and version

    ToolCallEnvelope.read({"envelope_version": "contextos.tool_call.v1", …})
"""

"""Governed runs: the ContextOS execution contract as rules over the same graphs, runs and effects.

contracts/        the records of the contract: packs, envelopes, plans, decision records
packs/            packs from a folder or a database, joined into one rulebook
conditions/       the JsonLogic of packs
gateway/          admission of a request; the check of each call; planner and critic
run/              budgets, evidence, and the functions that a host gives
loop/             the canonical loop as nodes of a graph (`graphs.governed_run`)
records/          decision records, their signatures, exports and replays
governance.py     `Governance`, the record of all that a host lends to governed runs
flow_rules.py     a compiled flow under packs: its run, its rules, its decision records
call_governor.py  the calls of one node of such a flow, examined before they are made

    admit(envelope, HostWord(tenant="acme"), FolderRegistry("packs"))   ->  Admitted(run=…, book=…)
    Gateway(book, run, facts, ports=…, usage=RunUsage()).examine(call)     ->  Examined(refusal=None, gates=…)

Governance is no second runtime: a governed call is an effect of the run (`cinatra_sdk.outside.effects`), a
person decides at a gate (`cinatra_sdk.gates`), and the decision record is stored with the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.governance.contracts.context_pack import ContextPack, DecisionCatalog
    from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
    from cinatra_sdk.governance.contracts.invocation import (
        AgentIdentity,
        IdentityClaim,
        InvokeAgent,
        UserClaims,
        UserDelegation,
    )
    from cinatra_sdk.governance.contracts.plans import Plan, PlanStep
    from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
    from cinatra_sdk.governance.gateway.admission import HostWord, make_claim
    from cinatra_sdk.governance.gateway.call_result import ToolOutput
    from cinatra_sdk.governance.gateway.delegation import narrow
    from cinatra_sdk.governance.gateway.planners import ChatPlanner, PlanRequest, ScriptedPlanner
    from cinatra_sdk.governance.governance import Governance
    from cinatra_sdk.governance.packs.pack_registry import (
        FolderRegistry,
        MemoryRegistry,
        PackRegistry,
    )
    from cinatra_sdk.governance.records.record_maker import Signer
    from cinatra_sdk.governance.records.replay import Replayed, replay
    from cinatra_sdk.governance.records.verifier import find_problems
    from cinatra_sdk.governance.run.current_call import CurrentCall, current_call
    from cinatra_sdk.governance.run.evidence import Evidence
    from cinatra_sdk.governance.run.host_ports import GovernancePorts

_LATER: Final = {
    "Governance": "governance.governance",
    "GovernancePorts": "governance.run.host_ports",
    "HostWord": "governance.gateway.admission",
    "make_claim": "governance.gateway.admission",
    "AgentIdentity": "governance.contracts.invocation",
    "IdentityClaim": "governance.contracts.invocation",
    "InvokeAgent": "governance.contracts.invocation",
    "UserClaims": "governance.contracts.invocation",
    "UserDelegation": "governance.contracts.invocation",
    "ContextPack": "governance.contracts.context_pack",
    "DecisionCatalog": "governance.contracts.context_pack",
    "Plan": "governance.contracts.plans",
    "PlanStep": "governance.contracts.plans",
    "DecisionRecord": "governance.contracts.decision_record",
    "GovernanceRefused": "governance.contracts.refusals",
    "ChatPlanner": "governance.gateway.planners",
    "PlanRequest": "governance.gateway.planners",
    "ScriptedPlanner": "governance.gateway.planners",
    "ToolOutput": "governance.gateway.call_result",
    "Evidence": "governance.run.evidence",
    "FolderRegistry": "governance.packs.pack_registry",
    "MemoryRegistry": "governance.packs.pack_registry",
    "PackRegistry": "governance.packs.pack_registry",
    "Signer": "governance.records.record_maker",
    "find_problems": "governance.records.verifier",
    "Replayed": "governance.records.replay",
    "replay": "governance.records.replay",
    "CurrentCall": "governance.run.current_call",
    "current_call": "governance.run.current_call",
    "narrow": "governance.gateway.delegation",
}

__all__ = [
    "Governance",
    "GovernancePorts",
    "HostWord",
    "make_claim",
    "AgentIdentity",
    "IdentityClaim",
    "InvokeAgent",
    "UserClaims",
    "UserDelegation",
    "ContextPack",
    "DecisionCatalog",
    "Plan",
    "PlanStep",
    "DecisionRecord",
    "GovernanceRefused",
    "ChatPlanner",
    "PlanRequest",
    "ScriptedPlanner",
    "ToolOutput",
    "Evidence",
    "FolderRegistry",
    "MemoryRegistry",
    "PackRegistry",
    "Signer",
    "find_problems",
    "Replayed",
    "replay",
    "CurrentCall",
    "current_call",
    "narrow",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)

"""What a part of a pack has to be by itself; refused before anything runs.

check_adapter(adapter)                        its capabilities, their modes and schemas
check_condition({"inn": [1]}, "rule 'R1'")    GovernanceRefused (PACK_INVALID): rule 'R1': there is no …
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from cinatra_sdk.governance.conditions.fact_names import (
    CALL_FACTS,
    RUN_FACTS,
    FactNames,
    find_unknown_fact,
)
from cinatra_sdk.governance.conditions.reading import ConditionInvalid, read_condition
from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.contracts.decisions import DecisionSpec
from cinatra_sdk.governance.contracts.identifiers import MODES, at_most
from cinatra_sdk.governance.contracts.packs import ContextPack
from cinatra_sdk.governance.contracts.rules import Adapter, Guardrail, RedactionRule, RuleEffect
from cinatra_sdk.governance.outputs import find_stray_source
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.schemas import require_schema
from cinatra_sdk.text.spelling import did_you_mean


def check_adapter(adapter: Adapter) -> None:
    name = adapter.adapter_id
    require_each_once(list(adapter.capabilities), f"capability of adapter '{name}'")
    for capability, about in adapter.capability_metadata.items():
        if capability not in adapter.capabilities:
            raise GovernanceRefused(
                "PACK_INVALID", f"adapter '{name}' describes '{capability}', which it does not have"
            )
        require_schema(about.arg_schema, f"capability '{name}.{capability}', arg_schema")
        mode = about.approval_mode
        if mode is not None and not at_most(mode, adapter.approval_mode):
            raise GovernanceRefused(
                "PACK_INVALID",
                f"capability '{name}.{capability}' is {mode}, above the {adapter.approval_mode} of its adapter",
                hint=f"modes are, from harmless to harmful: {', '.join(MODES)}",
            )
        if about.kind == "write" and (mode or adapter.approval_mode) == "read_only":
            raise GovernanceRefused(
                "PACK_INVALID", f"capability '{name}.{capability}' writes, and says it is read_only"
            )


def check_decisions(decisions: Iterable[DecisionSpec]) -> None:
    for decision in decisions:
        where = f"decision '{decision.decision_key}'"
        check_condition(decision.eligibility_rules, where)
        require_schema(decision.outputs_schema, f"{where}, outputs_schema")
        allowed = decision.allowed_outcomes
        stray = next((name for name in decision.outcomes if allowed and name not in allowed), None)
        if stray is not None:
            raise GovernanceRefused(
                "PACK_INVALID",
                f"{where} says what the outcome '{stray}' claims, and does not allow it",
                hint=did_you_mean(stray, allowed) or "add it to allowed_outcomes",
            )
        lacking = find_stray_source(decision)
        if lacking:
            raise GovernanceRefused(
                "PACK_INVALID",
                f"{where} says where the output '{lacking}' comes from, and its outputs_schema has none",
                hint="add it to the properties of outputs_schema, or correct its name",
            )


def check_guards(guards: Iterable[Guardrail], redactions: Iterable[RedactionRule]) -> None:
    for guard in guards:
        check_condition(guard.when, f"guardrail '{guard.guardrail_id}'", CALL_FACTS)
    for redaction in redactions:
        check_condition(redaction.when, f"redaction rule '{redaction.rule_id}'")


def check_outcomes(decisions: Mapping[str, DecisionSpec], capabilities: Collection[str]) -> None:
    """A catalog may be for packs with other capabilities; a name that is nearly one of these is a slip."""
    for key, decision in decisions.items():
        for outcome, claimed in decision.outcomes.items():
            for name in (*claimed.requires, *claimed.forbids):
                _refuse_slip(name, capabilities, f"outcome '{outcome}' of decision '{key}'")
        for output, source in decision.outputs_from.items():
            _refuse_slip(source.capability, capabilities, f"output '{output}' of decision '{key}'")


def _refuse_slip(name: str, capabilities: Collection[str], where: str) -> None:
    meant = "" if name in capabilities else did_you_mean(name, capabilities)
    if meant:
        problem = f"{where} names '{name}', which no adapter declares"
        raise GovernanceRefused("PACK_INVALID", problem, hint=meant)


def check_catalogs(packs: Iterable[ContextPack]) -> None:
    for pack in packs:
        layer = pack.decision_layer
        if layer.catalog == "none" and layer.decisions:
            raise GovernanceRefused(
                "PACK_INVALID", f"'{pack.ref}' says that it has no catalog, and has decisions"
            )


def check_condition(logic: Any, where: str, known: FactNames = RUN_FACTS) -> None:
    """known: the facts that there are where the condition is asked."""
    try:
        read_condition(logic)
    except ConditionInvalid as error:
        problem = str(error)
    else:
        unknown = find_unknown_fact(thaw(logic), known)
        if not unknown:
            return
        first, _, rest = unknown.partition(".")
        names = known.get(first) or known
        meant = did_you_mean(rest.partition(".")[0] if first in known else first, names)
        raise GovernanceRefused(
            "PACK_INVALID",
            f"{where} reads '{unknown[:100]}', which is no fact there",
            hint=meant or f"there are: {', '.join(names)}",
        )
    raise GovernanceRefused("PACK_INVALID", f"{where}: {problem}")


def require_effect(then: RuleEffect, where: str) -> None:
    if not any(getattr(then, name) not in (None, (), {}) for name in RuleEffect.model_fields):
        raise GovernanceRefused(
            "PACK_INVALID",
            f"{where} says nothing under 'then', so nothing follows from it",
            hint=f"write one of: {', '.join(RuleEffect.model_fields)}",
        )


def require_each_once(names: list[str], what: str) -> None:
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise GovernanceRefused(
            "PACK_INVALID",
            f"the {what} '{twice}' stands twice",
            hint="names are unique among all packs of a run",
        )

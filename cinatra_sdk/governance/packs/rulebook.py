"""The rulebook: the rules of all packs of a run, joined and checked.

    make_rulebook([pack, catalog])  ->  Rulebook(adapters=…, rules=…, gates=…, decisions=…)

Several packs narrow each other: a call has to satisfy each of them, and no pack allows what another
forbids.  A pack that contradicts itself is refused before anything runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

from cinatra_sdk.data.patterns.syntax import flaw
from cinatra_sdk.data.schema.checker import SchemaBroken, checker_of, text_of
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.data.work_budget import TooMuchWork
from cinatra_sdk.errors import FlowChanged
from cinatra_sdk.governance.conditions.condition import (
    CALL_FACTS,
    RESULT_FACTS,
    RUN_FACTS,
    ConditionInvalid,
    FactNames,
    find_unknown_fact,
    read_condition,
)
from cinatra_sdk.governance.contracts.context_pack import (
    Adapter,
    ApprovalGate,
    ArgConstraint,
    Capability,
    ContextPack,
    Evaluator,
    FirstTurnRef,
    Guardrail,
    Permission,
    PolicyRule,
    RedactionRule,
    RuleEffect,
)
from cinatra_sdk.governance.contracts.plans import DecisionSpec
from cinatra_sdk.governance.contracts.record_format import (
    MODES,
    ApprovalMode,
    Contract,
    at_most,
    hash_of,
    rank,
    thaw,
)
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.packs.pack_registry import Published, kind_of
from cinatra_sdk.governance.packs.plan_outputs import find_stray_source
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# JSON Schemas that packs hold: of arguments, of outputs, and those that constraints stand for.
#
# describe_constraint(ArgConstraint(min=0, pattern="[a-z]+"))   {"minimum": 0, "pattern": "^(?:[a-z]+)$…"}
# require_schema({"type": "text"}, "capability 'a.b'")          GovernanceRefused (PACK_INVALID)


def describe_constraint(constraint: ArgConstraint) -> dict[str, Any]:
    """The schema of an argument that is there; empty where every value fits."""
    schema: dict[str, Any] = {
        key: bound
        for key, bound in (("minimum", constraint.min), ("maximum", constraint.max))
        if bound is not None
    }
    if constraint.enum is not None:
        schema["enum"] = thaw(constraint.enum)
    if constraint.pattern is not None:
        # Of the whole text; `\n` at its end is a part of it.
        schema["pattern"] = rf"^(?:{constraint.pattern})$(?!\n)"
    return schema


def require_constraints(constraints: Mapping[str, ArgConstraint], where: str) -> None:
    """Raises: `GovernanceRefused` (PACK_INVALID) for constraints that no value could be held to."""
    for name, constraint in constraints.items():
        require_schema(describe_constraint(constraint), f"{where}, argument '{name}'")
        # By itself: `a)|(?:b` would close the group that holds it to the whole text.
        flawed = None if constraint.pattern is None else flaw(constraint.pattern)
        if flawed is not None:
            raise GovernanceRefused(
                "PACK_INVALID", f"{where}, argument '{name}', pattern: {flawed.detail or flawed}"
            )
        low, high = constraint.min, constraint.max
        if low is not None and high is not None and low > high:
            raise GovernanceRefused(
                "PACK_INVALID", f"{where}, argument '{name}': min {low} is above max {high}"
            )


def require_schema(schema: Any, where: str) -> None:
    """Raises: `GovernanceRefused` (PACK_INVALID) for a schema by which nothing can be checked."""
    if schema is None:
        return
    try:
        # A reference to nothing is met only where a value is checked.
        checker_of(text_of(thaw(schema))).first_break({})
    except (SchemaBroken, TooMuchWork) as error:
        problem = str(error)
    else:
        return
    raise GovernanceRefused(
        "PACK_INVALID", f"{where}: no JSON Schema that can be checked: {problem}"
    )


# ----------------------------------------------------------------------------
# What a part of a pack has to be by itself; refused before anything runs.
#
# check_adapter(adapter)                        its capabilities, their modes and schemas
# check_condition({"inn": [1]}, "rule 'R1'")    GovernanceRefused (PACK_INVALID): rule 'R1': there is no …


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


_T = TypeVar("_T", bound=Contract)
ANY = "*"
REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True)
class BundledRule:
    bundle_id: str
    priority: int
    rule: PolicyRule


@dataclass(frozen=True)
class DeclaredCapability:
    """A capability as its adapter declares it."""

    adapter: Adapter
    name: str

    @cached_property
    def id(self) -> str:
        return f"{self.adapter.adapter_id}.{self.name}"

    @cached_property
    def about(self) -> Capability:
        return self.adapter.capability_metadata.get(self.name, Capability())

    @cached_property
    def mode(self) -> ApprovalMode:
        return self.about.approval_mode or self.adapter.approval_mode

    @property
    def highest(self) -> ApprovalMode:
        """The riskiest mode that a call of the capability may count as."""
        return self.mode

    @cached_property
    def writes(self) -> bool:
        """Whether a call changes something outside of the run."""
        if self.about.kind is not None:
            return self.about.kind == "write"
        return self.mode != "read_only"

    @cached_property
    def bound_to(self) -> str:
        """What calls it in a flow; `*` for everything of the adapter's type."""
        return self.about.binds_to if self.about.binds_to is not None else self.name

    @property
    def called_names(self) -> set[str]:
        """The names by which a flow calls it: alone, and behind the endpoint of its adapter."""
        endpoint = self.adapter.endpoint_ref
        return {self.bound_to, f"{endpoint}/{self.bound_to}"} if endpoint else {self.bound_to}


@dataclass(frozen=True)
class Rulebook:
    """What is in force, from all packs.  Immutable, and safe to share."""

    packs: tuple[Published, ...]
    adapters: Mapping[str, Adapter]
    rules: tuple[BundledRule, ...]
    permissions: tuple[Permission, ...]
    gates: Mapping[str, ApprovalGate]
    must_refuse: tuple[Guardrail, ...]
    must_escalate: tuple[Guardrail, ...]
    redactions: tuple[RedactionRule, ...]
    decisions: Mapping[str, DecisionSpec]
    evaluators: tuple[Evaluator, ...]

    @cached_property
    def capabilities(self) -> Mapping[str, DeclaredCapability]:
        """Every capability that an adapter declares, by its id."""
        found = [
            DeclaredCapability(adapter, name)
            for adapter in self.adapters.values()
            for name in adapter.capabilities
        ]
        return {one.id: one for one in found}

    @cached_property
    def callable_by(self) -> Mapping[str, tuple[DeclaredCapability, ...]]:
        """The capabilities that are bound to a name, by that name; `*` for those bound to every name."""
        found: dict[str, list[DeclaredCapability]] = {}
        for declared in self.capabilities.values():
            for name in declared.called_names:
                found.setdefault(name, []).append(declared)
        return {name: tuple(ones) for name, ones in found.items()}

    @cached_property
    def rule_refs(self) -> Mapping[str, str]:
        """The reference of each rule, by its id."""
        return {
            one.rule.rule_id: f"policy:{one.bundle_id}#{one.rule.rule_id}" for one in self.rules
        }

    @cached_property
    def rule_evidence(self) -> Mapping[str, Evidence]:
        """The rules as evidence, by reference: the packs pin their content."""
        return {ref: Evidence(ref, self.sha256) for ref in self.rule_refs.values()}

    @cached_property
    def surface(self) -> frozenset[str]:
        """The capabilities that a permission allows, and none forbids."""
        return frozenset(id_ for id_, one in self.capabilities.items() if self.permits(one))

    def choose_timeout(self, declared: DeclaredCapability) -> int | None:
        """Milliseconds that a call may take: the shortest that its capability or a pack says."""
        full = [one for one in self.packs if isinstance(one, ContextPack)]
        said = [one.pack_meta.environment_defaults.tool_timeout_ms for one in full]
        return min((one for one in (declared.about.timeout_ms, *said) if one), default=None)

    @cached_property
    def sha256(self) -> str:
        """Over the content of every pack."""
        return hash_of({one.ref: one.content_hash for one in self.packs})

    @property
    def primary(self) -> ContextPack:
        """The pack that was named first."""
        return next(one for one in self.packs if isinstance(one, ContextPack))

    @cached_property
    def safety_mode(self) -> ApprovalMode:
        """The least risky of what the packs allow without a person."""
        modes = [
            one.pack_meta.environment_defaults.safety_mode
            for one in self.packs
            if isinstance(one, ContextPack)
        ]
        return min(modes, key=rank)

    @cached_property
    def first_turn(self) -> FirstTurnRef | None:
        """What a run begins with."""
        said = [one.memory_layer.first_turn for one in self.packs if isinstance(one, ContextPack)]
        return next((one for one in said if one is not None), None)

    def list_permissions(self, declared: DeclaredCapability) -> list[Permission]:
        return [
            one
            for one in self.permissions
            if one.adapter_id == declared.adapter.adapter_id
            and one.capability in (ANY, declared.name)
        ]

    def permits(self, declared: DeclaredCapability) -> bool:
        said = self.list_permissions(declared)
        return bool(said) and all(one.allow for one in said)

    def require_unchanged(self, sha256: str) -> None:
        """Raises: `FlowChanged` unless the packs are those that a run was admitted under.

        sha256: `sha256` of these.
        """
        if self.sha256 != sha256:
            raise FlowChanged(
                "a pack of the run has another content now, under the same version",
                hint="publish a new version, and leave the one that runs were started with as it was",
            )

    def redact(self, value: Any) -> Any:
        """A value as plain JSON, without the members that redaction rules name."""
        names = {field for rule in self.redactions for field in rule.fields}
        return _redact(thaw(value), names) if names else thaw(value)

    @cached_property
    def intents(self) -> frozenset[str]:
        """Those that the catalogs have; empty where there is none."""
        known = self.decisions.items()
        return frozenset(name for key, one in known for name in one.intents or (key,))

    def decision_for(self, intent: str) -> DecisionSpec | None:
        """The decision in which an intent ends."""
        known = ((one, one.intents or (key,)) for key, one in self.decisions.items())
        return next((one for one, names in known if intent in names), None)


def _redact(value: Any, names: set[str]) -> Any:
    if isinstance(value, Mapping):
        return {
            key: REDACTED if key in names else _redact(one, names) for key, one in value.items()
        }
    return [_redact(one, names) for one in value] if isinstance(value, list) else value


def require_sound(published: Published) -> None:
    """Refuse a pack or a catalog that no run could be admitted under.

    Raises: `GovernanceRefused`: PACK_NOT_FOUND for a name of no known kind, PACK_INVALID.
    """
    kind_of(published.ref)
    if isinstance(published, ContextPack):
        make_rulebook([published])
        return
    with _naming([published]):
        decisions = _join(published.decisions, "decision", lambda one: one.decision_key)
        check_decisions(decisions.values())


def make_rulebook(packs: Sequence[Published]) -> Rulebook:
    """Raises: `GovernanceRefused` (PACK_INVALID, PACK_NOT_FOUND where none of them is a pack)."""
    with _naming(packs):
        return _make_rulebook(packs)


@contextmanager
def _naming(packs: Sequence[Published]) -> Iterator[None]:
    """Let what is wrong with packs name them: a host has many."""
    try:
        yield
    except GovernanceRefused as refused:
        if refused.code != "PACK_INVALID":
            raise
        names = ", ".join(f"'{one.ref}'" for one in packs)
        raise GovernanceRefused(
            refused.code, f"{names}: {refused.message}", hint=refused.hint
        ) from None


def _make_rulebook(packs: Sequence[Published]) -> Rulebook:
    full = [one for one in packs if isinstance(one, ContextPack)]
    if not full:
        raise GovernanceRefused("PACK_NOT_FOUND", "no reference names a context pack")
    policies = [one.policy_layer for one in full]
    guards = [layer.guardrails for layer in policies]
    bundles = [bundle for layer in policies for bundle in layer.bundles]
    _join(bundles, "bundle", lambda one: one.bundle_id)
    book = Rulebook(
        packs=tuple(packs),
        adapters=_join(
            [one for pack in full for one in pack.tooling_layer.adapters],
            "adapter",
            lambda one: one.adapter_id,
        ),
        rules=_order_rules(
            BundledRule(bundle.bundle_id, bundle.priority, rule)
            for bundle in bundles
            for rule in bundle.policy_dsl.rules
        ),
        permissions=tuple(one for layer in policies for one in layer.permissions),
        gates=_join(
            [one for layer in policies for one in layer.approval_gates],
            "approval gate",
            lambda one: one.gate_id,
        ),
        must_refuse=tuple(one for guard in guards for one in guard.must_refuse),
        must_escalate=tuple(one for guard in guards for one in guard.must_escalate),
        redactions=tuple(one for guard in guards for one in guard.redaction_rules),
        decisions=_join(_list_decisions(packs), "decision", lambda one: one.decision_key),
        evaluators=tuple(one for pack in full for one in pack.evaluation_layer.evaluators),
    )
    _check(book)
    return book


def _list_decisions(packs: Iterable[Published]) -> list[DecisionSpec]:
    """Those of packs and of catalogs."""
    return [
        one
        for published in packs
        for one in (
            published.decision_layer.decisions
            if isinstance(published, ContextPack)
            else published.decisions
        )
    ]


def _order_rules(rules: Iterable[BundledRule]) -> tuple[BundledRule, ...]:
    return tuple(sorted(rules, key=lambda one: (-one.priority, one.bundle_id, one.rule.rule_id)))


def _join(given: Sequence[_T], what: str, name: Callable[[_T], str]) -> dict[str, _T]:
    """By name; two packs may say the same thing, and no name may mean two things."""
    found: dict[str, _T] = {}
    for one in given:
        other = found.setdefault(name(one), one)
        if other != one:
            raise GovernanceRefused(
                "PACK_INVALID", f"the {what} '{name(one)}' is declared twice, and not alike"
            )
    return found


def _check(book: Rulebook) -> None:
    """Refuse what could only fail, or be passed by, when the run needs it."""
    _require_one_first_turn(book)
    require_each_once([one.rule.rule_id for one in book.rules], "rule")
    require_each_once([one.permission_id for one in book.permissions], "permission")
    for adapter in book.adapters.values():
        check_adapter(adapter)
    for permission in book.permissions:
        known = book.adapters.get(permission.adapter_id)
        if known is None or permission.capability not in (ANY, *known.capabilities):
            raise GovernanceRefused(
                "PACK_INVALID",
                f"permission '{permission.permission_id}' is about "
                f"'{permission.adapter_id}.{permission.capability}', which no adapter declares",
                hint=_propose(book, f"{permission.adapter_id}.{permission.capability}"),
            )
        require_constraints(permission.arg_constraints, f"permission '{permission.permission_id}'")
    for bundled in book.rules:
        _check_rule(book, bundled.rule)
    for gate in book.gates.values():
        check_condition(gate.when, f"approval gate '{gate.gate_id}'", CALL_FACTS)
        _check_names(book, gate.capabilities, f"approval gate '{gate.gate_id}'")
    check_guards((*book.must_refuse, *book.must_escalate), book.redactions)
    require_each_once([one.evaluator_id for one in book.evaluators], "evaluator")
    for evaluator in book.evaluators:
        check_condition(evaluator.when, f"evaluator '{evaluator.evaluator_id}'", RESULT_FACTS)
    check_decisions(book.decisions.values())
    check_outcomes(book.decisions, book.capabilities)
    check_catalogs(one for one in book.packs if isinstance(one, ContextPack))


def _require_one_first_turn(book: Rulebook) -> None:
    said = [one.memory_layer.first_turn for one in book.packs if isinstance(one, ContextPack)]
    if any(one not in (None, book.first_turn) for one in said):
        raise GovernanceRefused("PACK_INVALID", "two packs begin with another first turn each")


def _check_rule(book: Rulebook, rule: PolicyRule) -> None:
    where = f"rule '{rule.rule_id}'"
    check_condition(rule.condition, where, CALL_FACTS)
    require_effect(rule.then, where)
    _check_names(book, rule.applies_to.capabilities, where)
    _check_names(book, rule.then.prohibits, where)
    require_constraints(rule.then.arg_constraints, where)
    gate = rule.then.requires_approval_gate
    if gate is not None and gate not in book.gates:
        raise GovernanceRefused(
            "PACK_INVALID",
            f"{where} asks at '{gate}', which is no gate",
            hint=did_you_mean(gate, book.gates) or "declare it in policy_layer/approval_gates",
        )


def _check_names(book: Rulebook, names: Iterable[str], where: str) -> None:
    for name in names:
        if name != ANY and name not in book.capabilities:
            raise GovernanceRefused(
                "PACK_INVALID",
                f"{where} names '{name}', which no adapter declares",
                hint=_propose(book, name),
            )


def _propose(book: Rulebook, name: str) -> str:
    return did_you_mean(name, book.capabilities) or "a capability is named ADAPTER.CAPABILITY"

"""The rules of the packs that a run was compiled from, put together and checked.

    make_rulebook([pack, catalog])  ->  Rulebook(adapters=…, rules=…, gates=…, decisions=…)

Several packs narrow each other: a call needs what each of them asks for, and what one forbids no other
allows.  A pack that contradicts itself is refused before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from cinatra_sdk.errors import FlowChanged
from cinatra_sdk.governance.canonical import hash_of
from cinatra_sdk.governance.conditions.fact_names import CALL_FACTS, RESULT_FACTS
from cinatra_sdk.governance.contracts.contract import Contract, thaw
from cinatra_sdk.governance.contracts.decisions import DecisionSpec
from cinatra_sdk.governance.contracts.identifiers import ApprovalMode, rank
from cinatra_sdk.governance.contracts.packs import ContextPack, Evaluator, FirstTurnRef
from cinatra_sdk.governance.contracts.rules import (
    Adapter,
    ApprovalGate,
    Capability,
    Guardrail,
    Permission,
    PolicyRule,
    RedactionRule,
)
from cinatra_sdk.governance.evidence import Evidence
from cinatra_sdk.governance.pack_parts import (
    check_adapter,
    check_catalogs,
    check_condition,
    check_decisions,
    check_guards,
    check_outcomes,
    require_each_once,
    require_effect,
)
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.registry import Published, kind_of
from cinatra_sdk.governance.schemas import require_constraints
from cinatra_sdk.text.spelling import did_you_mean

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

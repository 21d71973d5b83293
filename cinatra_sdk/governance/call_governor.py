"""The rules of packs in front of the calls that one visit of a node makes.

    governor.examine(effect)     the word of the rules, for the record
    governor.redeem(effect)      passes: or raises `EffectRefused`, or `GateNeeded` where a person is asked
    governor.keep(effect, …)     the result, and the cost

An effect is a call of the capability that is bound to it.  The budget reserves the cost of a call before
a person is asked, so that no branch beside it spends the same budget meanwhile.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final

from cinatra_sdk.errors import EffectRefused
from cinatra_sdk.governance.contracts.invocation import RunContext
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import Admitted
from cinatra_sdk.governance.gateway.call_proposal import GovernedCall
from cinatra_sdk.governance.gateway.facts import (
    SIMULATED,
    describe_effect,
    make_run_facts,
    star_request,
)
from cinatra_sdk.governance.gateway.gateway import Examined, GateApproval, Gateway
from cinatra_sdk.governance.packs.rulebook import ANY, DeclaredCapability, Rulebook
from cinatra_sdk.governance.records.story import describe_examined
from cinatra_sdk.governance.run.budgets import RunUsage
from cinatra_sdk.governance.run.current_call import (
    CurrentCall,
    list_trace_headers,
    make_trace_context,
)
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect, EffectResult, hash_json
from cinatra_sdk.outside.effects.permits import GateNeeded, make_refusal

# ----------------------------------------------------------------------------
# Tokens that a call of a model will take, before it is made.
#
#     reserve_for(effect, estimate)   ->   812        of its messages, and of the most that it may answer
#
# In: an effect, and the host's estimate of a text.  Out: a number of tokens; 0 where no model is called.
# Nobody knows the length of an answer before: one without a bound of its own is counted when it is there.


_BOUNDS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_DEPTH: Final = 3
"""How deep a request says the bound of its answer."""


def reserve_for(effect: Effect, estimate: Callable[[str], int]) -> int:
    if effect.kind != "model" or effect.simulated or effect.capability.startswith(SIMULATED):
        return 0
    text = json.dumps(effect.arguments, ensure_ascii=False, default=str)
    return max(0, estimate(text)) + _find_bound(effect.arguments, _DEPTH)


def _find_bound(value: Any, depth: int) -> int:
    if not isinstance(value, Mapping):
        return 0
    for name in _BOUNDS:
        said = value.get(name)
        if isinstance(said, int) and not isinstance(said, bool) and said > 0:
            return said
    found = (_find_bound(one, depth - 1) for one in value.values()) if depth > 1 else ()
    return max(found, default=0)


HELD: Final = "held"
"""Member of what a person is asked: the name under which the budget holds the call."""
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "tool": ("tool",),
    "http": ("http", "openapi"),
    "model": ("model",),
    "mcp": ("mcp",),
    "a2a": ("a2a", "agent"),
}
"""Types of adapters, by kind of effect."""


@dataclass
class Session:
    """What one process knows of a governed run."""

    admitted: Admitted
    usage: RunUsage
    recorded: dict[str, Evidence] = field(default_factory=dict)
    """Results of calls, as evidence for the next: the oldest first."""
    caller: CurrentCall | None = field(default=None, repr=False)
    """The call in which the run was opened: it pays for the run, and the next call does not."""
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def run_facts(self) -> Mapping[str, Any]:
        """What conditions read of the run; each flow in it has its own context."""
        admitted = self.admitted
        envelope = admitted.envelope
        return make_run_facts(admitted.run, envelope.input, mode=envelope.mode)

    def list_facts(self, run: RunContext) -> Mapping[str, Any]:
        """As `run_facts`, of the run as the host's word is now."""
        if run is self.admitted.run:
            return self.run_facts
        envelope = self.admitted.envelope
        return make_run_facts(run, envelope.input, mode=envelope.mode)

    def keep(self, ref: str, evidence: Evidence) -> None:
        with self.lock:
            self.recorded[ref] = evidence

    def list_recorded(self) -> dict[str, Evidence]:
        with self.lock:
            return dict(self.recorded)


def _refuse(effect: Effect, refusal: GovernanceRefused) -> EffectRefused:
    return make_refusal(effect, refusal.message, code=refusal.code, hint=refusal.hint)


class CallGovernor:
    """The rules of one visit of a node; implements `cinatra_sdk.outside.effects.permits.Governor`."""

    def __init__(
        self, gateway: Gateway, session: Session, approvals: Sequence[GateApproval], where: str
    ) -> None:
        self._gateway = gateway
        self._session = session
        self._approvals = approvals
        self._where = where
        self._flags = session.admitted.envelope.trace.trace_flags or "01"
        self._examined: dict[str, Examined] = {}
        self._tokens: dict[str, int] = {}

    def examine(self, effect: Effect) -> Effect:
        declared = find_capability(self._gateway.book, effect)
        name = declared.id if declared is not None else f"{effect.kind}.{_clean(effect.capability)}"
        call = GovernedCall(
            capability_id=name,
            args=_read_args(effect),
            tool_call_id=f"tc_{effect.key[:16]}",
            idempotency_key=effect.key[:200],
            mode_requested=declared.mode if declared is not None else "read_only",
            metadata={"node": effect.place or effect.path},
            frozen=effect.arguments,
            about=describe_effect(effect),
        )
        examined = self._gateway.examine(call, self._session.list_recorded())
        self._examined[effect.key] = examined
        if examined.envelope is None or examined.decision is None:
            return effect
        simulated = effect.simulated or effect.capability.startswith(SIMULATED)
        return replace(effect, governed=describe_examined(examined, simulated=simulated))

    def redeem(self, effect: Effect) -> None:
        examined = self._examined[effect.key]
        if examined.refusal is not None:
            raise _refuse(effect, examined.refusal)
        pending = examined.list_pending(self._approvals)
        tokens = reserve_for(effect, self._gateway.ports.count_tokens)
        if pending:
            raise self._ask(effect, examined, pending[0], tokens)
        try:
            self._gateway.redeem(examined, self._approvals, tokens=tokens, held=effect.key)
        except GovernanceRefused as refused:
            refusal = refused
        else:
            self._tokens[effect.key] = tokens
            return
        raise _refuse(effect, refusal)

    def _ask(self, effect: Effect, examined: Examined, gate: str, tokens: int) -> GateNeeded:
        """What a person is asked; what the call will spend is held until they answer."""
        assert examined.decision is not None  # without a refusal there is one
        self._hold(effect, examined, tokens)
        return GateNeeded(
            {
                HELD: effect.key,
                "gate": gate,
                "snapshot_hash": examined.snapshot_hash,
                "capability": examined.call.capability_id,
                "arguments": self._gateway.redact(effect.arguments),
                "mode": examined.decision.effective_approval_mode,
                "evidence": [one.ref for one in examined.evidence],
            }
        )

    def _hold(self, effect: Effect, examined: Examined, tokens: int) -> None:
        try:
            self._gateway.hold(effect.key, examined, tokens)
        except GovernanceRefused as refused:
            refusal = refused
        else:
            return
        raise _refuse(effect, refusal)

    def list_headers(self, effect: Effect) -> Mapping[str, str]:
        call = self._examined[effect.key].call
        gateway = self._gateway
        made = make_trace_context(
            gateway.run, call.tool_call_id, pack=gateway.book.primary.ref, flags=self._flags
        )
        return list_trace_headers(made)

    def keep(self, effect: Effect, result: EffectResult) -> None:
        examined = self._examined.get(effect.key)
        if examined is None or examined.envelope is None:
            return
        if result.status == "done":
            usage, reserved = result.usage, self._tokens.pop(effect.key, 0)
            spent = usage.input_tokens + usage.output_tokens
            # Where nobody says what it took, what was reserved counts.
            self._session.usage.settle(reserved=reserved, spent=spent or reserved)
        ref = f"tool:{examined.call.capability_id}:{examined.call.tool_call_id}"
        self._session.keep(ref, Evidence(ref, f"sha256:{hash_json(result.value)}"))


def find_capability(book: Rulebook, effect: Effect) -> DeclaredCapability | None:
    """The capability that is bound to an effect; one that names it before one for all of its type.

    None also where several are bound alike: what one of them forbids, the other would allow.
    """
    types = _TYPES[effect.kind]
    for name in (effect.capability.removeprefix(SIMULATED), ANY):
        found = [one for one in book.callable_by.get(name, ()) if one.adapter.type in types]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _read_args(effect: Effect) -> dict[str, Any]:
    """What rules read as `args`: of a request with an object as its body that, else everything."""
    given = effect.arguments
    if not isinstance(given, Mapping):
        return {"value": given}
    body = given.get("body")
    if effect.kind == "http" and isinstance(body, Mapping):
        return dict(body)
    return star_request(given) if effect.kind == "http" else dict(given)


def _clean(capability: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.:/-]+", "_", capability)[:90] or "unnamed"

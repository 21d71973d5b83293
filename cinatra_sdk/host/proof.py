"""Checks of the caller: the shared token, the run's own token, and the signature over the node.

In: a request's headers, and the run's `RunScope`.
Out: nothing, or a `ContextError` (403); for a bearer token, its `BearerIdentity`.

    check_caller(headers, "s3cret", …)    X-Cinatra-Bridge-Token, compared in constant time;
                                          or Authorization: Bearer, where the host verifies it
    check_bearer(identity, scope)         a bearer token speaks for its own person's runs alone
    check_run(headers, scope)             X-Cinatra-Run-Token, X-Cinatra-A2A-Context-Id
    check_node(…)                         X-Cinatra-Context-Node, -Context-Attestation (v2)

A secret of `None` is not required.  An empty secret refuses every call, so that an unset variable
never admits a caller.  The bridge token carries the authority of the whole platform: its holder
speaks for every run.  The host verifies bearer tokens: without a verifier a bearer token proves
nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Collection, Mapping
from typing import Literal, TypeAlias

from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import AgentContextSlot
from cinatra_sdk.host.run_directory import RunDirectory, RunScope
from cinatra_sdk.light_imports.records import dataclass

NodeKind = Literal["resolve_context", "finalize_interactive", "finalize_autonomous"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BearerIdentity:
    """The owner of a bearer token, according to the host."""

    org_id: str
    principal_id: str


VerifyBearer: TypeAlias = Callable[[str], BearerIdentity | None]
"""Bearer token → its owner; any result but a `BearerIdentity`, and any error, refuses the token."""

_BEARER = re.compile(r"bearer +([a-z0-9._~+/-]+=*) *", re.IGNORECASE)
_ATTESTATION = re.compile(r"(v2|s1):([0-9]{1,12}):([0-9a-f]{64})")
_KINDS = "resolve_context|finalize_interactive|finalize_autonomous"
_OWN_NODE = re.compile(f"ctx-(?P<slot>.+)-(?P<kind>{_KINDS})")
_PUBLIC_NODE = re.compile(_KINDS)
"""Nodes of the public selection agent, which serves any slot."""


def check_caller(
    headers: Mapping[str, str], bridge_token: str | None, verify_bearer: VerifyBearer | None
) -> BearerIdentity | None:
    """The owner of the bearer token that admits the call; `None` for a call that may name every
    run.

    One of the configured proofs is enough; without any configured proof every caller is admitted.
    """
    if bridge_token is None and verify_bearer is None:
        return None
    if bridge_token and same(headers.get("x-cinatra-bridge-token", ""), bridge_token):
        return None
    if verify_bearer is not None:
        identity = _verify_identity(verify_bearer, bearer_token(headers))
        if identity is not None:
            return identity
    wanted = {
        "bridge token": bridge_token is not None,
        "bearer token": verify_bearer is not None,
    }
    names = " or ".join(name for name, asked_for in wanted.items() if asked_for)
    raise ContextError("forbidden", f"the call carries no valid {names}")


def bearer_token(headers: Mapping[str, str]) -> str:
    """The token of `Authorization: Bearer …`; empty where the header is missing or comes twice."""
    read = _BEARER.fullmatch(headers.get("authorization", ""))
    return "" if read is None else read[1]


def _verify_identity(verify_bearer: VerifyBearer, token: str) -> BearerIdentity | None:
    if not token:
        return None
    try:
        given: object = verify_bearer(token)
    except Exception:  # noqa: BLE001 - a verifier that fails has not accepted, whatever it raised
        return None
    # No other result counts: `True` names no owner, and an async verifier returned an unawaited
    # coroutine.
    return given if isinstance(given, BearerIdentity) else None


def check_bearer(identity: BearerIdentity | None, scope: RunScope) -> None:
    """A bearer token acts only for the runs of its owner, in the owner's organisation."""
    if identity is None:
        return
    owner = None if scope.actor is None else (scope.org_id, scope.actor.principal_id)
    if (identity.org_id, identity.principal_id) != owner:
        raise ContextError("run_mismatch", "the bearer token is not one of the run's owner")


def scope_for(caller: BearerIdentity | None, runs: RunDirectory, run_id: str) -> RunScope:
    """The run, where the caller may ask about it.

    Only the run's owner learns what is wrong with the run, its file or its slots.

    Raises: `ContextError`.
    """
    failure: ContextError | None = None
    try:
        scope = runs.scope(run_id)
    except ContextError as error:
        scope, failure = None, error
    if failure is not None and caller is None:
        raise failure
    if scope is None:
        raise ContextError("run_missing", "there is no such run")
    check_bearer(caller, scope)
    return scope


def check_run(headers: Mapping[str, str], scope: RunScope) -> None:
    """The call must come from the run that its body names."""
    token, context_id = (
        headers.get(name, "") for name in ("x-cinatra-run-token", "x-cinatra-a2a-context-id")
    )
    if scope.run_token and not token:
        raise ContextError("context_unresolved", "the call carries no run token")
    if scope.context_id and not context_id:
        raise ContextError("context_unresolved", "the call names no conversation")
    if scope.run_token and not same(token, scope.run_token):
        raise ContextError("run_mismatch", "the run token is not the one of this run")
    if scope.context_id and not same(context_id, scope.context_id):
        raise ContextError("run_mismatch", "the conversation is not the one of this run")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallingNode:
    """A node id, parsed: its action, and its slot."""

    kind: str
    slot_id: str | None
    """`None` for the public agent's nodes."""


def signed_node(headers: Mapping[str, str], key: str | None, *, now: float) -> str | None:
    """The id of the node that signed the call; `None` where no signature is required.

    The signed text has four lines: the version, the conversation, the node and the expiry.
    """
    if key is None:
        return None
    context_id = headers.get("x-cinatra-a2a-context-id", "")
    node = headers.get("x-cinatra-context-node", "")
    given = headers.get("x-cinatra-context-attestation", "")
    if not key:
        raise ContextError("attestation_unconfigured", "signatures are asked for without a key")
    if not context_id:
        raise ContextError("attestation_context_required", "the call names no conversation")
    if not node or not given:
        raise ContextError("attestation_missing", "the call is not signed by a node")
    _check_signature(given, "v2", context_id, node, key, now=now)
    return node


def signed_step(headers: Mapping[str, str], key: str | None, *, now: float) -> bool:
    """Whether the calling step signed the call with the key that it shares with the host.

    Raises: `ContextError` `attestation_invalid` for a signature that does not fit.
    """
    given = headers.get("x-cinatra-step-attestation", "")
    node = headers.get("x-cinatra-step-node", "")
    context_id = headers.get("x-cinatra-a2a-context-id", "")
    if not (key and given and node and context_id):
        return False
    _check_signature(given, "s1", context_id, node, key, now=now)
    return True


def _check_signature(
    given: str, version: str, context_id: str, node: str, key: str, *, now: float
) -> None:
    read = _ATTESTATION.fullmatch(given)
    if read is None or read[1] != version:
        raise ContextError("attestation_invalid", f"the signature is not of the form {version}")
    material = f"{version}\n{context_id}\n{node}\n{read[2]}"
    right = hmac.new(key.encode(), material.encode(), hashlib.sha256).hexdigest()
    if not same(read[3], right):
        raise ContextError("attestation_invalid", "the signature does not fit the call")
    if int(read[2]) < now:
        raise ContextError("attestation_invalid", "the signature has expired")


def check_node(
    node: str | None,
    scope: RunScope,
    slot: AgentContextSlot,
    *,
    package_name: str,
    finalizes: bool,
) -> None:
    """The signing node must belong to this slot and this route, and fit the slot's mode."""
    if node is None:
        return
    calling = _read_calling_node(
        node, scope, {declared.slot_id for declared in scope.slots_of(package_name)}
    )
    if calling.slot_id is not None and calling.slot_id != slot.slot_id:
        raise ContextError("attestation_slot_mismatch", "the node that signed is of another slot")
    wanted = f"finalize_{slot.selection_mode}" if finalizes else "resolve_context"
    if calling.kind != wanted:
        raise ContextError(
            "attestation_kind_mismatch", f"the call is for a node of kind {wanted} to make"
        )


def _read_calling_node(node: str, scope: RunScope, declared: Collection[str]) -> CallingNode:
    own, public = _OWN_NODE.fullmatch(node), _PUBLIC_NODE.search(node)
    if node in scope.context_nodes and public is not None:
        return CallingNode(kind=public[0], slot_id=scope.context_nodes[node])
    if own is not None and own["slot"] in declared:
        return CallingNode(kind=own["kind"], slot_id=own["slot"])
    if _PUBLIC_NODE.fullmatch(node):
        return CallingNode(kind=node, slot_id=None)
    raise ContextError("attestation_node_unrecognized", "no selection node of the agent signed")


def same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())

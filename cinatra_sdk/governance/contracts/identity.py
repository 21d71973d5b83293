"""Who acts: people, services and agents, and on whose behalf.

A token never stands in an envelope.  `token_ref` names a token that the host keeps; claims are shown
to auditors by `claim_hash`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from cinatra_sdk.governance.contracts.contract import Contract
from cinatra_sdk.governance.contracts.identifiers import (
    AgentUrn,
    Id,
    Sha256,
    WorkloadIdentity,
)

Scopes = tuple[Id, ...]


class Principal(Contract):
    """One link of the chain of those who act for each other, the first first."""

    kind: Literal["user", "service", "agent", "automation"]
    id: Id
    tenant_id: Id | None = None
    display: str | None = None


class UserDelegation(Contract):
    """The right to act for a person, as the host got it."""

    auth_type: Literal["oauth2", "saml", "oidc", "service"]
    scopes: Scopes
    subject: Id
    token_ref: Id | None = None
    """Names the token; only the host puts it in, when it admits the run."""


class UserClaims(Contract):
    """The person for whom the run acts.  Hosts add claims of their own."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    user_id: Id
    delegation: UserDelegation | None = None
    role: str | None = None
    tenant_id: Id | None = None
    tenure_days: Annotated[int, Field(ge=0)] | None = None


class IdentityClaim(Contract):
    """What a signed claim says about one run of an agent: in full, or as a reference by its hash.

    The wire form is a reference: `sub`, `run_id`, `tenant_id`, `scopes`, `claim_hash`.
    """

    version: Literal["ctxid/1"] | None = None
    iss: str | None = None
    sub: AgentUrn
    aud: str | None = None
    run_id: Id
    session_id: Id | None = None
    tenant_id: Id
    principal_chain: tuple[Principal, ...] | None = None
    scopes: Scopes
    nbf: int | None = None
    """Seconds since 1970: not before."""
    exp: int | None = None
    """Seconds since 1970: not from then on."""
    iat: int | None = None
    jti: str | None = None
    kid: str | None = None
    claim_hash: Sha256


class AgentIdentity(Contract):
    """The agent that runs."""

    agent_id: Id
    agent_urn: AgentUrn | None = None
    """Optional on the wire; a governed run is not admitted without it."""
    workload_identity: WorkloadIdentity
    role: str | None = None
    token_ref: Id | None = None
    lifecycle: Literal["draft", "active", "suspended", "retired"] | None = None
    principal_chain: tuple[Principal, ...] | None = None
    identity_claim: IdentityClaim | None = None

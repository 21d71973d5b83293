"""What a host gives to governed runs besides the packs; each may be left out.

    GovernancePorts(evidence={"kg": read_order}, delegation_holds=tokens.is_alive,
                    roles_of=directory.roles_of, signer=Signer.ed25519("k1", pem))

Without a reader there is no evidence of that kind; without `roles_of` nobody has a role, so a gate that
asks for one can be approved by nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from cinatra_sdk.governance.contracts.invocation import IdentityClaim, UserDelegation
from cinatra_sdk.governance.run.evidence import EvidenceReader

if TYPE_CHECKING:
    from cinatra_sdk.governance.records.record_maker import Signer
    from cinatra_sdk.host_parts.host_parts import FirstTurnReaders


# ----------------------------------------------------------------------------
# Tokens of a text, roughly: a quarter of its bytes, as tokenizers of today come out on prose.


def estimate_tokens(text: str) -> int:
    """Never too few for plain English; the host gives a tokenizer of its own where it matters."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


Clock: TypeAlias = Callable[[], datetime]


def read_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernancePorts:
    """Safe to share between threads."""

    evidence: Mapping[str, EvidenceReader] = field(default_factory=dict, repr=False)
    """By the kind of reference, `*` for every other."""
    delegation_for: Callable[[str, UserDelegation], UserDelegation | str] | None = field(
        default=None, repr=False
    )
    """From a user and the delegation that a request brings to the delegation that the host keeps, with
    the scopes that the person gave.  A name of a token alone vouches for the scopes as they were
    brought.  Empty: the host keeps none.  None: nobody acts for a person.
    """
    delegation_holds: Callable[[str, UserDelegation], bool] | None = field(default=None, repr=False)
    """Whether the delegation of a user still holds; asked before every call that needs it, also when
    a gate was answered days later.  None: as long as the run.
    """
    claim_holds: Callable[[IdentityClaim], bool] | None = field(default=None, repr=False)
    """Whether the signature of a claim is good.  None: claims are not signed."""
    claim_for: Callable[[str, str, str], IdentityClaim | None] | None = field(
        default=None, repr=False
    )
    """From run, tenant and agent to the claim of a run that the host itself begins.  The name of the agent
    is the request's word, unless the host names its agent: None for one that the host does not know.
    """
    roles_of: Callable[[str, str], Collection[str]] | None = field(default=None, repr=False)
    """From tenant and person to the person's roles, for gates that ask for one."""
    heartbeat: Callable[[str], datetime | None] | None = field(default=None, repr=False)
    """From a run to the last time that its session was renewed, for long-running runs."""
    first_turn: FirstTurnReaders | None = field(default=None, repr=False)
    """Reads the context with which runs of a pack begin that asks for it (`memory_layer.first_turn`):
    a function, or functions by workspace, as `HostParts.first_turn`.
    """
    estimate: Callable[[str], int] = field(default=estimate_tokens, repr=False)
    """Tokens of a text."""
    signer: Signer | None = field(default=None, repr=False)
    """Signs decision records; None: they are chained and not signed."""
    clock: Clock = field(default=read_clock, repr=False)
    """With a time zone."""

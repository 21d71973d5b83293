"""`GovernancePorts`: the functions that a host gives to governed runs; each may be left out.

    GovernancePorts(evidence={"kg": read_order}, delegation_holds=tokens.is_alive,
                    roles_of=directory.roles_of, signer=Signer.ed25519("k1", pem))

Without a reader there is no evidence of that kind.  Without `roles_of` nobody has a role, so nobody can
approve at a gate that asks for a role.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from cinatra_sdk.governance.contracts.invocation import IdentityClaim, UserDelegation
from cinatra_sdk.governance.run.evidence import EvidenceReader
from cinatra_sdk.governance.run.host_functions import ask_host, refuse_host
from cinatra_sdk.light_imports.records import dataclass

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

    # ------------------------------------------------------------------ asked, and looked at

    def list_roles(self, tenant: str, person: str) -> frozenset[str]:
        """Roles of a person; none without `roles_of`.

        A text is refused: `in` would find a role in a part of another one's name.
        Raises: `NotConfigured`, as all that follow.
        """
        ask = self.roles_of
        if ask is None:
            return frozenset()
        found = ask_host("roles_of", lambda: ask(tenant, person), list, tuple, set, frozenset)
        if not all(isinstance(one, str) for one in found):
            raise refuse_host("roles_of", "gave roles that are no texts", "a collection of texts")
        return frozenset(found)

    def read_time(self) -> datetime:
        now = ask_host("clock", self.clock, datetime)
        if now.utcoffset() is None:
            raise refuse_host("clock", "gave a time without a zone", "a datetime with a time zone")
        return now  # type: ignore[no-any-return]  # looked at a line before

    def read_heartbeat(self, run_id: str) -> datetime | None:
        ask = self.heartbeat
        if ask is None:
            return None
        last = ask_host("heartbeat", lambda: ask(run_id), datetime, or_none=True)
        if last is not None and last.utcoffset() is None:
            raise refuse_host(
                "heartbeat", "gave a time without a zone", "a time with a zone, or None"
            )
        return last  # type: ignore[no-any-return]  # looked at a line before

    def holds_delegation(self, user_id: str, delegation: UserDelegation) -> bool:
        """Whether it still holds."""
        ask = self.delegation_holds
        return ask is None or (
            ask_host("delegation_holds", lambda: ask(user_id, delegation), bool) is True
        )

    def find_delegation(self, user_id: str, delegation: UserDelegation) -> UserDelegation | str:
        """The delegation that the host keeps for the user; an empty one where it keeps none."""
        ask = self.delegation_for
        if ask is None:
            return ""
        found: UserDelegation | str | None = ask_host(
            "delegation_for", lambda: ask(user_id, delegation), UserDelegation, str, or_none=True
        )
        return found or ""

    def holds_claim(self, claim: IdentityClaim) -> bool:
        """Whether its signature is good."""
        ask = self.claim_holds
        return ask is None or ask_host("claim_holds", lambda: ask(claim), bool) is True

    def make_claim(self, run_id: str, tenant: str, agent: str) -> IdentityClaim | None:
        """Asked only where there is `claim_for`; None: the host does not know the agent."""
        ask = self.claim_for
        assert ask is not None
        made: IdentityClaim | None = ask_host(
            "claim_for", lambda: ask(run_id, tenant, agent), IdentityClaim, or_none=True
        )
        return made

    def count_tokens(self, text: str) -> int:
        made = ask_host("estimate", lambda: self.estimate(text), int)
        if isinstance(made, bool) or made < 0:
            raise refuse_host("estimate", "gave no number from 0", "a whole number from 0")
        return made  # type: ignore[no-any-return]  # looked at a line before

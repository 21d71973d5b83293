"""Names and references of the governance contract, each with the pattern that it has to fit.

PackRef         ctxpack.support@5.2.0                      exactly one version
AgentUrn        agent:contextos/support-refund@1.2.0
Sha256          sha256: and 64 hex digits
EvidenceRef     kg:order:ord_881#snapshot_7                a row of a knowledge graph, at a snapshot
                policy:POLICY_RETURNS_V1#R_HIGH_VALUE      a rule of a bundle
                tool:adp_orders.lookup:tool_117            the result of a call
                session:sess_42f1                          a conversation
                attachment:art_invoice_881#sha256:2f9c…    a file, by its content
                context:artifact/revision/assertion        a pinned artifact of a context slot

A hash may be *elided* as documents print it (`sha256:9f0b...`): it parses, and equals nothing.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field

_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
SEMVER: Final = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"

ApprovalMode: TypeAlias = Literal["read_only", "local_write", "network", "delegated", "destructive"]
MODES: Final[tuple[ApprovalMode, ...]] = (
    "read_only",
    "local_write",
    "network",
    "delegated",
    "destructive",
)
"""From harmless to harmful."""

Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f]+$")]
"""A name that is written in references: no white space."""
StepId: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=180, pattern=r"^[^\s:\x00-\x1f]+$")
]
"""A step of a plan: it names the call in evidence, with the number of the plan behind it."""
Words: TypeAlias = Annotated[str, Field(max_length=20_000)]
"""What people read."""
PackRef: TypeAlias = Annotated[str, Field(max_length=300, pattern=rf"^[A-Za-z0-9_.:-]+@{SEMVER}$")]
Semver: TypeAlias = Annotated[str, Field(max_length=60, pattern=rf"^{SEMVER}$")]
AgentUrn: TypeAlias = Annotated[
    str,
    Field(max_length=300, pattern=rf"^agent:[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9._-]*@{SEMVER}$"),
]
_SEGMENT: Final = (
    r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*|\.[A-Za-z0-9_-][A-Za-z0-9._-]*|\.\.[A-Za-z0-9._-]+)"
)
WorkloadIdentity: TypeAlias = Annotated[
    str, Field(max_length=2048, pattern=rf"^spiffe://[a-z0-9._-]{{1,255}}(?:/{_SEGMENT})+$")
]
"""A SPIFFE id; no segment is `.` or `..`."""
Sha256: TypeAlias = Annotated[
    str, Field(max_length=80, pattern=r"^sha256:(?:[0-9a-f]{64}|[0-9a-f]{0,63}\.\.\.)$")
]
BareSha256: TypeAlias = Annotated[
    str, Field(max_length=80, pattern=r"^(?:[0-9a-f]{64}|[0-9a-f]{0,63}\.\.\.)$")
]
"""As attachments write it, without a prefix."""


def _require_some_digit(text: str) -> str:
    if not text.strip("0"):
        raise ValueError("an id of zeros alone stands for none")
    return text


TraceId: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9a-f]{32}$"), AfterValidator(_require_some_digit)
]
"""As W3C Trace Context has it."""
SpanId: TypeAlias = Annotated[
    str, Field(pattern=r"^[0-9a-f]{16}$"), AfterValidator(_require_some_digit)
]
TraceFlags: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{2}$", max_length=2)]
CapabilityId: TypeAlias = Annotated[
    str, Field(max_length=200, pattern=r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_.:/-]+$")
]
"""`adapter.capability`."""
EvidenceRef: TypeAlias = Annotated[
    str,
    Field(
        max_length=1000,
        pattern=(
            r"^(?:kg:[^\s:#]+:[^\s#]+#[^\s#]+"
            r"|policy:[^\s:#]+#[^\s#]+"
            r"|tool:[A-Za-z0-9_-]+\.[^\s]+:[^\s:]+"
            r"|session:[^\s]+"
            r"|attachment:[^\s#]+#sha256:[0-9a-f]{64}"
            r"|context:[^\s]+)$"
        ),
    ),
]


def rank(mode: ApprovalMode) -> int:
    """How risky a mode is, from 0."""
    return MODES.index(mode)


def at_most(mode: ApprovalMode, highest: ApprovalMode) -> bool:
    return rank(mode) <= rank(highest)


def is_elided(text: str) -> bool:
    """Whether a hash is printed with dots in place of digits."""
    return text.endswith("...")

"""The one seam between a flow and the world outside: what a node asks, and who answers.

Error tree
    PlatformError(Exception)        node, url, status, code; never a credential
        PlatformRefused             the call was not made: the url is not allowed, or unresolved
        PlatformUnreachable         no answer: connection, TLS, timeout
        PlatformResponseError       the platform answered with an error status
        PlatformOutputError         the answer lacks a declared output, or one has the wrong type
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from cinatra_sdk.context.refs import PinnedTriple

BASE_URL_PLACEHOLDER = "{{CINATRA_BASE_URL}}"
"""Stands at the start of a flow's urls; each platform puts its own origin there."""


SECRET_NAMES = ("CINATRA_BRIDGE_TOKEN", "CINATRA_CONTEXT_ATTEST_KEY")
"""Environment variables that hold an `HttpPlatform`'s own secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredOutput:
    """One output that the node promises: a top-level key of the response."""

    title: str
    schema: Mapping[str, JsonValue] = field(default_factory=dict)
    """JSON Schema of the value; empty accepts anything."""
    has_default: bool = False
    """A missing key is then no error: the caller puts the default in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What proves who is calling.  Lives in the runtime context only, and prints as nothing."""

    run_token: str = field(default="", repr=False)
    """`X-Cinatra-Run-Token`: per-run raw token from the dispatch message."""
    bearer_token: str = field(default="", repr=False)
    """`Authorization: Bearer …`, where the host uses OAuth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a call asks, as it may be shown: `{{CRM_TOKEN}}` where its value is sent."""

    url: str
    body: JsonValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformCall:
    """One request of an ApiNode, templates already rendered."""

    node: str
    """The original OAS node id: attestations and errors name it."""
    path: str
    """The node with the FlowNodes around it, `outer/inner/node`."""
    method: str
    url: str
    """May begin with `{{CINATRA_BASE_URL}}`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: JsonValue = None
    """Typed JSON; `None` sends no body."""
    written: Written | None = field(default=None, compare=False)
    """The same with the names of placeholders for their values; what is shown and recorded."""
    placeholders: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Values of the host's placeholders (`env=`): secrets of the run, like its credentials."""
    origin_by_value: bool = False
    """Whether a value of the run, or of a placeholder, says whom the url names.  Such a url never
    means the platform: only the author's own words do."""
    origin_by_placeholder: bool = False
    """Whether that is a placeholder alone (`{{CRM_URL}}/people`), and so the host's own word."""
    outputs: tuple[DeclaredOutput, ...] = ()
    risk_class: str = ""
    run_id: str = ""
    context_id: str = ""
    """`X-Cinatra-A2A-Context-Id`: the conversation this run belongs to."""
    idempotency_key: str = ""
    """Stable over crash and resume of the same visit of the node; never reused by another."""
    visit: int = 1
    """How often the node was reached, from 1; the same again after a crash."""
    timeout: float | None = None
    """Seconds; `None` means the platform's own."""
    credentials: Credentials = field(default=Credentials(), repr=False, compare=False)
    with_own_token: bool = True
    """Whether the platform's own bridge token may go with it: not on behalf of somebody else."""
    with_own_signature: bool = True
    """Whether the platform may sign that this node of this conversation is calling."""

    @property
    def shown_url(self) -> str:
        """The url as an error, a record or a log may name it."""
        return self.url if self.written is None else self.written.url

    @property
    def shown_body(self) -> JsonValue:
        """The body as a record may hold it."""
        return self.body if self.written is None else self.written.body

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not come back in an answer or an error."""
        return (self.credentials.run_token, self.credentials.bearer_token, *self.placeholders)

    def __repr__(self) -> str:
        return f"PlatformCall({self.path!r}, {self.method} {self.shown_url!r})"


@runtime_checkable
class Platform(Protocol):
    """Answers the calls of a flow.  Implementations are safe to share between threads."""

    def call(self, call: PlatformCall) -> JsonValue:
        """The decoded response body.

        Raises: `PlatformError` and its subclasses, nothing else.
        """
        ...

    async def acall(self, call: PlatformCall) -> JsonValue:
        """As `call`, for an event loop."""
        ...

    def describe(self) -> dict[str, JsonValue]:
        """How another process can make the same platform again; never a credential.

        `{"kind": "simulated", …}` or `{"kind": "http", "base_url": …, …}`; read by
        `cinatra_sdk.platform.platform_from`.
        """
        ...


@runtime_checkable
class HoldsProofsBack(Protocol):
    """A platform that heeds `with_own_token` and `with_own_signature`, or has no proofs of its own.

    One that does not say so is never called on behalf of a bearer.
    """

    @property
    def holds_proofs_back(self) -> bool: ...


@runtime_checkable
class KeepsArtifacts(Protocol):
    """A platform that also knows what has become of the artifacts which a gate offers.

    A platform that wraps another one hides this, unless it has the method too.
    """

    def withdrawn(self, run_id: str, triples: Sequence[PinnedTriple]) -> Sequence[str]:
        """Ids of the artifacts that cannot be chosen any more on behalf of the run.

        Empty where the platform cannot tell; what is finalized is checked again in any case.
        Raises: `FlowError` where it cannot be asked, which keeps the answer from being taken.
        """
        ...


class PlatformError(RuntimeError):
    """A call of a flow to the platform failed; a `RuntimeError` for what `FlowError` says.

    `code` is the platform's own error code where it gave one, else the class's.
    The text is safe to show and to store: it never holds a header, a token or a response body
    beyond the platform's own `message`.
    """

    code = "platform_error"

    def __init__(
        self, message: str, *, node: str, url: str = "", status: int | None = None, code: str = ""
    ) -> None:
        super().__init__(message)
        self.node = node
        self.url = url
        self.status = status
        if code:
            self.code = code


class PlatformRefused(PlatformError):
    """The call was not made: its url is not allowed or not resolved."""

    code = "platform_refused"


class PlatformUnreachable(PlatformError):
    """There was no answer: connection, TLS or timeout."""

    code = "platform_unreachable"


class PlatformResponseError(PlatformError):
    """The platform answered with an error status."""

    code = "platform_response"


class PlatformOutputError(PlatformError):
    """The answer lacks an output that the node declares, or one has the wrong type."""

    code = "platform_output"

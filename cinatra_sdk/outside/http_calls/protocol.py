"""The one seam between a flow and the world outside: calls of nodes, and platforms that answer.

Error tree
    PlatformError(Exception)        node, url, status, code; never a credential
        PlatformRefused             the call was not made: the url is not allowed, or unresolved
        PlatformUnreachable         no response: connection, TLS, timeout
        PlatformResponseError       a response with an error status
        PlatformOutputError         the response lacks a declared output, or one has the wrong type
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, Protocol, runtime_checkable

from pydantic import JsonValue

from cinatra_sdk.context.artifact_refs import PinnedTriple
from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.light_imports.records import dataclass

BASE_URL_PLACEHOLDER = "{{" + BASE_URL + "}}"
"""The placeholder at the start of a flow's urls; each platform replaces it by its own origin."""


BRIDGE_PATH = "/api/llm-bridge"
"""Where the platform asks a language model, below its address."""
SENSITIVE = "[sensitive]"
"""Stands where the value of a sensitive header would be shown."""
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
class ShownCall:
    """A call as it may be shown: `{{CRM_TOKEN}}` in place of its value."""

    url: str
    body: JsonValue = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformCall:
    """One request of an ApiNode, templates already rendered."""

    node: str
    """The original OAS node id: attestations and errors name it."""
    path: str
    """The node with the FlowNodes around it, `outer/inner/node`."""
    place: str = ""
    """The same with visits and items, as events of the run name it: `outer#2/each[3]/node`."""
    method: str
    url: str
    """May begin with `{{CINATRA_BASE_URL}}`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    sensitive_headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The author's `sensitive_headers`: sent with the others, and kept, shown and told nowhere."""
    unfilled_headers: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Headers whose author's placeholder has no value, each with the placeholder's name: a call
    with one is not sent.
    """
    query: Mapping[str, str] = field(default_factory=dict)
    body: JsonValue = None
    """Typed JSON; `None` sends no body."""
    written: ShownCall | None = field(default=None, compare=False)
    """The call with names of placeholders in place of their values; shown and recorded."""
    placeholders: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Values of the host's placeholders (`env=`): secrets of the run, like its credentials."""
    origin_by_value: bool = False
    """Whether a value of the run, or of a placeholder, is part of the url's origin.  Such a url
    never means the platform: only the author's literal text does.
    """
    origin_by_placeholder: bool = False
    """Whether only placeholders make the origin (`{{CRM_URL}}/people`): then the host chose it."""
    outputs: tuple[DeclaredOutput, ...] = ()
    risk_class: str = ""
    run_id: str = ""
    context_id: str = ""
    """`X-Cinatra-A2A-Context-Id`: the conversation this run belongs to."""
    idempotency_key: str = ""
    """Stable over crash and resume of the same visit of the node; never reused by another."""
    once: bool = False
    """At most once: a request that may have left the process is never sent again."""
    visit: int = 1
    """How often the node was reached, from 1; unchanged when the call is repeated after a crash."""
    timeout: float | None = None
    """Seconds; `None` means the platform's own."""
    retry: CallRetryPolicy | None = None
    """The author's policy; `None` means the platform's own rule."""
    url_allow_list: tuple[str, ...] | None = None
    """Addresses that the author lets the node call, within those of the platform."""
    credentials: Credentials = field(default=Credentials(), repr=False, compare=False)
    with_own_token: bool = True
    """Whether the platform's own bridge token may be sent: not on behalf of another caller."""
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
    def shown_headers(self) -> Mapping[str, str]:
        """The author's headers as a record may hold them."""
        return self.headers if self.written is None else self.written.headers

    @property
    def shown_query(self) -> Mapping[str, str]:
        """The query as a record may hold it."""
        return self.query if self.written is None else self.written.query

    @property
    def secrets(self) -> tuple[str, ...]:
        """Secrets that are cut out of responses and errors."""
        unfilled = {header for header, _ in self.unfilled_headers}
        sensitive = self.sensitive_headers.items()
        return (
            self.credentials.run_token,
            self.credentials.bearer_token,
            *self.placeholders,
            *secrets_of({name: value for name, value in sensitive if name not in unfilled}),
        )

    def __repr__(self) -> str:
        return f"PlatformCall({self.path!r}, {self.method} {self.shown_url!r})"


def secrets_of(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets in headers: their values, and of `Bearer …` the token alone."""
    parts = (value.partition(" ")[2].strip() for value in headers.values())
    return tuple(text for text in (*headers.values(), *parts) if text)


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
        """A description from which another process can rebuild the platform; holds no credential.

        `{"kind": "simulated", …}` or `{"kind": "http", "base_url": …, …}`; read by
        `platform_from` of `description.py`.
        """
        ...


@runtime_checkable
class HoldsProofsBack(Protocol):
    """A platform that obeys `with_own_token` and `with_own_signature`, or has no proofs of its own.

    Any other platform is never called on behalf of a bearer.
    """

    @property
    def holds_proofs_back(self) -> bool: ...


@runtime_checkable
class KeepsArtifacts(Protocol):
    """A platform that also knows the state of the artifacts that a gate offers.

    A platform that wraps such a platform must have the method too, else the method is hidden:
    inherit from `WrappedPlatform` below, which hands it on.
    """

    def withdrawn(self, run_id: str, triples: Sequence[PinnedTriple]) -> Sequence[str]:
        """Ids of the artifacts that the run can no longer choose.

        Empty where the platform cannot tell; a finalize checks its choice again in any case.
        Raises: `FlowError` where the platform cannot be asked; then the answer is not accepted.
        """
        ...


class PlatformError(RuntimeError):
    """A call of a flow to the platform failed; a `RuntimeError` for the same reason as `FlowError`.

    `code` is the platform's own error code if it gave a code, else the code of the class.  The text
    is safe to show and to store: it never holds a header, a token or a response body beyond the
    platform's own `message`.
    """

    code = "platform_error"
    used: object = None
    """What the call used up of a language model all the same, as its effect counts it."""

    def __init__(
        self,
        message: str,
        *,
        node: str,
        url: str = "",
        status: int | None = None,
        code: str = "",
        unsent: bool = False,
    ) -> None:
        super().__init__(message)
        self.node = node
        self.url = url
        self.status = status
        self.unsent = unsent
        """Whether it is certain that no byte of the request left the process."""
        if code:
            self.code = code


class PlatformRefused(PlatformError):
    """The call was not made: its url is not allowed or not resolved."""

    code = "platform_refused"


class PlatformUnreachable(PlatformError):
    """There was no response: connection, TLS or timeout."""

    code = "platform_unreachable"


class PlatformResponseError(PlatformError):
    """The response has an error status."""

    code = "platform_response"


class PlatformOutputError(PlatformError):
    """The response lacks an output that the node declares, or one has the wrong type."""

    code = "platform_output"


# ----------------------------------------------------------------------------
# A platform that refuses every call: for the rejection of a run without lent resources.


class Nowhere:
    """Refuses every call."""

    def call(self, call: PlatformCall) -> JsonValue:
        url = call.url.partition("?")[0]
        raise PlatformRefused(
            f'node "{call.node}": {url} was not called: the run is there to be rejected',
            node=call.node,
            url=url,
        )

    async def acall(self, call: PlatformCall) -> JsonValue:
        return self.call(call)

    def describe(self) -> dict[str, JsonValue]:
        return {"kind": "nowhere"}


# ----------------------------------------------------------------------------
# `WrappedPlatform`: the base of a platform that stands around another one.
#
#     class Slowed(WrappedPlatform):
#         def call(self, call):
#             `time.sleep(1)`
#             `return super().call(call)`
#
# Beyond its three methods a platform may have abilities, which others look for by name: whether it
# keeps artifacts (`KeepsArtifacts`), holds proofs back (`HoldsProofsBack`), may get credentials, or
# answers without calling anybody (`simulates`).
# A wrapper that lacks the name hides the ability, and nobody notices.  This base hands on every ability
# that the inner platform has, and none that it lacks.


ABILITIES: Final = (
    "withdrawn",
    "holds_proofs_back",
    "takes_credentials",
    "unnamed",
    "beyond",
    "simulates",
    "stand_in",
)
"""What is looked for by name on a platform, beyond the protocol `Platform`."""


class WrappedPlatform:
    """Hands every call on to `inner`; subclasses override `call` and `acall`, both.

    Whoever made `inner` closes it.  An ability that the subclass has itself is the subclass's own.
    """

    def __init__(self, inner: Platform) -> None:
        self.inner = inner
        for name in ABILITIES:
            # On the object: on the class, each wrapper would seem to have every ability.
            if hasattr(inner, name) and not hasattr(type(self), name):
                setattr(self, name, getattr(inner, name))

    def call(self, call: PlatformCall) -> JsonValue:
        return self.inner.call(call)

    async def acall(self, call: PlatformCall) -> JsonValue:
        return await self.inner.acall(call)

    def describe(self) -> dict[str, JsonValue]:
        return self.inner.describe()

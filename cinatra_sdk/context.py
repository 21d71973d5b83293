"""What only the host supplies: identity, policy and credentials of one run.

It travels as LangGraph's runtime context (`graph.invoke(…, context=…)`), which is never stored,
so it is given again at every activation.

    host_context(run_id="r1", approval_policy={"steps": […]}, run_token="…")

A context that came over the wire as JSON (a server coerces it to this class) lacks the mark
that `host_context` sets and counts as absent: a client of a graph server is not the host.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from cinatra_sdk.platform.protocol import Credentials

_HOST: Final = object()


class _Derived:
    """The policy that the compiler derived from the file, unless the host gives its own."""

    def __repr__(self) -> str:
        return "DERIVED"


DERIVED: Final = _Derived()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostContext:
    """Made by `host_context` (or `Flow.context`); prints no credential."""

    run_id: str = ""
    tenant: str = ""
    context_id: str = ""
    """The conversation that the run belongs to; sent as `X-Cinatra-A2A-Context-Id`."""
    approval_policy: Any = DERIVED
    """`{"steps": […]}`; None = the host has no policy; DERIVED = the compiler's."""
    credentials: Credentials = field(default=Credentials(), repr=False)
    mark: Any = field(default=None, repr=False, compare=False)


def host_context(
    *,
    run_id: str = "",
    tenant: str = "",
    context_id: str = "",
    approval_policy: Any = DERIVED,
    run_token: str = "",
    bearer_token: str = "",
) -> HostContext:
    """The host's word for one activation of one run.

    `run_token` and `bearer_token` reach the platform's requests and nothing else: no state,
    no checkpoint, no log, no error text.
    """
    return HostContext(
        run_id=run_id,
        tenant=tenant,
        context_id=context_id,
        approval_policy=approval_policy,
        credentials=Credentials(run_token=run_token, bearer_token=bearer_token),
        mark=_HOST,
    )


def context_of(given: object) -> HostContext:
    """The host's context, or an empty one where `given` was not made by the host."""
    if isinstance(given, HostContext) and given.mark is _HOST:
        return given
    return HostContext()

"""The argument of a route, and the error by which a route refuses.

    def greet(call: RouteCall) -> JsonValue:
        if not isinstance(call.body, dict):
            raise RouteError(400, "invalid_body", "the body is an object with a name")
        return {"text": f"Hello {call.body['name']}"}

The identity in a `RouteCall` is sealed: the host took it from the run, or from proofs of the request,
and never from the body.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOwner:
    """Whose call it is; an empty field says that the host does not know."""

    run_id: str = ""
    tenant: str = ""
    """Organisation of the run: rows of another are never read or written."""
    person: str = ""
    """The run's owner, with whose authority a route acts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCall:
    """One call of a route."""

    method: str
    path: str
    """Below the platform's address: `/api/llm-bridge`."""
    body: JsonValue = field(default=None, repr=False)
    owner: RunOwner = RunOwner()
    context_id: str = ""
    """The conversation."""
    idempotency_key: str = ""
    """The same for a call that is made again; empty where the caller gave none."""
    node: str = ""
    """Path of the calling node; over HTTP its id where it is signed, else empty."""
    visit: int = 0
    """How often the node was reached, from 1; 0 over HTTP, where nobody says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteReply:
    """What a route gave: a status and a JSON body, as they go over HTTP."""

    status: int
    body: JsonValue


class RouteError(Exception):
    """A route's refusal: status, code and one sentence; it must quote no value of the body.

    `more` adds members to the JSON body, `{"error": code, "message": …}`, or replaces them.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        more: Mapping[str, JsonValue] | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.more = dict(more or {})

    def reply(self) -> RouteReply:
        body: dict[str, JsonValue] = {"error": self.code, "message": self.message, **self.more}
        return RouteReply(status=self.status, body=body)


Handler: TypeAlias = "Callable[[RouteCall], JsonValue | Awaitable[JsonValue]]"
"""Answers a route, or raises `RouteError`.  An async handler runs on the loop of `route_platform.py`."""

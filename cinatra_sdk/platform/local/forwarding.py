"""A request that the served app has no route for, handed to the platform beyond.

In: what came over HTTP.  Out: status and body, as the caller's own platform would have got them.

    POST /api/llm-bridge  {"user": "hi"}    ->  beyond.call(POST {{CINATRA_BASE_URL}}/api/llm-bridge)
                                            ->  200 {"text": "…"}

What proves the caller stays here, but for the run token, which the platform beyond asks for too.
A node's declared outputs do not come over HTTP: a simulation beyond answers from its stubs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import parse_qsl

from pydantic import JsonValue

from cinatra_sdk.platform.protocol import (
    BASE_URL_PLACEHOLDER,
    Credentials,
    Platform,
    PlatformCall,
    PlatformError,
    PlatformResponseError,
)

_BAD_GATEWAY = 502


def forwarded(
    beyond: Platform, request: Mapping[str, str], headers: Mapping[str, str], content: bytes
) -> tuple[int, JsonValue]:
    """The answer of `beyond`.

    request: `method`, `path` and `query` (without its question mark).
    headers: by lower-case name.
    """
    try:
        body = json.loads(content) if content else None
    except (ValueError, RecursionError):
        return 400, {"error": "invalid_body", "message": "the body is not JSON"}
    node = headers.get("x-cinatra-step-node") or headers.get("x-cinatra-context-node", "")
    call = PlatformCall(
        node=node,
        path=node,
        method=request["method"],
        url=BASE_URL_PLACEHOLDER + request["path"],
        query=dict(parse_qsl(request["query"], keep_blank_values=True)),
        body=body,
        context_id=headers.get("x-cinatra-a2a-context-id", ""),
        idempotency_key=headers.get("idempotency-key", ""),
        credentials=Credentials(run_token=headers.get("x-cinatra-run-token", "")),
    )
    try:
        return 200, beyond.call(call)
    except PlatformError as error:
        answered = isinstance(error, PlatformResponseError) and error.status is not None
        status = error.status if answered and error.status is not None else _BAD_GATEWAY
        return status, {"error": error.code, "message": str(error)}

"""Loopback servers, and calls to make to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from loopback_server import BEARER, RUN_TOKEN, LoopbackServer

from cinatra_sdk.outside.http_calls.protocol import Credentials, PlatformCall


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    loopback = LoopbackServer()
    yield loopback
    loopback.close()


@pytest.fixture
def other() -> Iterator[LoopbackServer]:
    """A second server: another port is a foreign origin."""
    loopback = LoopbackServer()
    yield loopback
    loopback.close()


MakeCall = Callable[..., PlatformCall]


@pytest.fixture
def make_call() -> MakeCall:
    """A call with everything set; a test overrides what it is about."""

    def make(endpoint: str = "/api/llm-bridge", **changes: object) -> PlatformCall:
        settings: dict[str, object] = {
            "node": "ctx-brand-resolve_context",
            "path": "outer/ctx-brand-resolve_context",
            "method": "POST",
            "url": "{{CINATRA_BASE_URL}}" + endpoint,
            "body": {"user": "hi"},
            "context_id": "conversation-1",
            "run_id": "run-1",
            "credentials": Credentials(run_token=RUN_TOKEN, bearer_token=BEARER),
        }
        return PlatformCall(**(settings | changes))

    return make

"""A call of the platform as an effect: the request of an ApiNode, or of a block of a graph by hand.

In: a `PlatformCall`, the platform, and the host's `Door`.  Out: the node's declared outputs.

    perform_call(platform, call, door, defaults={"score": 0})   ->  {"subject": "Hello", "score": 0}

The ledger keeps the outputs, not the whole response: nothing else of a response reaches the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict

from pydantic import JsonValue

from cinatra_sdk.governed.secret_values import cut_out, redact
from cinatra_sdk.outside.effects.door import Door
from cinatra_sdk.outside.effects.effect import Effect, EffectResult, Usage
from cinatra_sdk.outside.effects.execution import aperform, perform
from cinatra_sdk.outside.http_calls.model_usage import CollectedUse, collect_use
from cinatra_sdk.outside.http_calls.protocol import SENSITIVE, Platform, PlatformCall, PlatformError
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from cinatra_sdk.outside.http_calls.wire_request import require_listed


def perform_call(
    platform: Platform,
    call: PlatformCall,
    door: Door,
    *,
    defaults: Mapping[str, JsonValue],
    shown_sha256: str = "",
    finish: Callable[[PlatformCall], PlatformCall] | None = None,
) -> dict[str, JsonValue]:
    """The declared outputs of the call, also where an earlier attempt made it.

    defaults: output → its value where the response lacks it.
    shown_sha256: hash of what a person approved, where a person approved the call.
    finish: puts in what is read only when the call is made, and is no part of what it is known by.
    Raises: `PlatformError`, `NodeFailed`, and what `perform` raises.
    """

    def do() -> EffectResult:
        with collect_use() as used, _on_failure(call, used):
            response = platform.call(call if finish is None else finish(call))
        return _make_result(call, response, defaults, used)

    require_listed(call)
    effect = effect_of(call, shown_sha256, simulated=simulates(platform))
    return _read_outputs(perform(effect, do, door))


async def aperform_call(
    platform: Platform,
    call: PlatformCall,
    door: Door,
    *,
    defaults: Mapping[str, JsonValue],
    shown_sha256: str = "",
    finish: Callable[[PlatformCall], PlatformCall] | None = None,
) -> dict[str, JsonValue]:
    """As `perform_call`, for an event loop."""

    async def do() -> EffectResult:
        with collect_use() as used, _on_failure(call, used):
            sent = call if finish is None else await asyncio.to_thread(finish, call)
            response = await platform.acall(sent)
        return _make_result(call, response, defaults, used)

    require_listed(call)
    effect = effect_of(call, shown_sha256, simulated=simulates(platform))
    return _read_outputs(await aperform(effect, do, door))


def simulates(platform: Platform | None) -> bool:
    """Whether the platform answers without calling anybody."""
    return bool(getattr(platform, "simulates", False))


def effect_of(call: PlatformCall, shown_sha256: str = "", *, simulated: bool = False) -> Effect:
    """The effect that a call makes, with names of placeholders in place of their values."""
    url = call.shown_url
    arguments: dict[str, JsonValue] = {
        "method": call.method,
        "url": url,
        "headers": {**call.shown_headers, **dict.fromkeys(call.sensitive_headers, SENSITIVE)},
        "query": dict(call.shown_query),
        "body": call.shown_body,
    }
    return Effect(
        kind="http",
        capability=f"{call.method} {url.partition('#')[0].partition('?')[0]}",
        node=call.node,
        path=call.path,
        place=call.place,
        visit=call.visit,
        arguments={name: part for name, part in arguments.items() if part not in (None, {})},
        risk=call.risk_class,
        key=call.idempotency_key,
        shown_sha256=shown_sha256,
        once=call.once,
        run_id=call.run_id,
        simulated=simulated,
        secrets=call.secrets,
    )


def _make_result(
    call: PlatformCall,
    response: JsonValue,
    defaults: Mapping[str, JsonValue],
    used: CollectedUse,
) -> EffectResult:
    with _on_failure(call, used):
        value = _read_response(call, response, defaults)
    return EffectResult(value=value, usage=_read_usage(call, used) or Usage())


def _read_usage(call: PlatformCall, used: CollectedUse) -> Usage | None:
    model = used.total()
    if model is None:
        return None
    # The platform gave the name: a token that it echoes there goes no further.
    return Usage(**{**asdict(model), "model": redact(model.model, call.secrets)})


@contextmanager
def _on_failure(call: PlatformCall, used: CollectedUse) -> Iterator[None]:
    """A call that fails says what it used up all the same: `read_failure` looks for it."""
    try:
        yield
    except PlatformError as error:
        error.used = _read_usage(call, used)
        raise


def _read_response(
    call: PlatformCall, response: JsonValue, defaults: Mapping[str, JsonValue]
) -> JsonValue:
    """The declared outputs that a response holds, and defaults for the others.

    Raises: `PlatformOutputError`.
    """
    found = declared_outputs(call, cut_out(response, call.secrets))
    return {**found, **{title: one for title, one in defaults.items() if title not in found}}


def _read_outputs(result: EffectResult) -> dict[str, JsonValue]:
    assert isinstance(result.value, dict)  # it was made by `_read_response`, or stored from it
    return result.value

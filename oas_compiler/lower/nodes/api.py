"""ApiNode: one request through the platform, its declared outputs back.

The request is rendered from the node's inputs; everything about the network lives behind
`cinatra_sdk.platform.Platform`.  Credentials come from the runtime context, values of placeholders
from the host's `env=`, and both go nowhere else: a platform that echoes one back has it cut out
before the response is kept.

A node that finalizes a context selection goes back where the choice can be recorded no more: see
`oas_compiler.lower.reopening`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.runtime import Runtime

from cinatra_sdk.context.refusal import OUTDATED, refusal_of
from cinatra_sdk.effects.calls import aperform_call, perform_call
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.reopening import REFUSED, WayBack
from cinatra_sdk.platform.protocol import (
    BASE_URL_PLACEHOLDER,
    DeclaredOutput,
    PlatformCall,
    PlatformError,
    PlatformRefused,
)
from cinatra_sdk.templates.rendering import TemplateError
from oas_compiler.ir import AT_MOST_ONCE, ApiNode, Port
from oas_compiler.lower.lent_secrets import list_secret_texts
from oas_compiler.lower.registry import LoweringSite, Wiring
from oas_compiler.lower.reopening import way_back
from oas_compiler.lower.request import Request, spells_platform


def lower_api(site: LoweringSite) -> NodeBody:
    node, frame, platform = site.node, site.frame, site.wiring.platform
    assert isinstance(node, ApiNode)
    prepare = make_prepare_call(node, frame, site.wiring)
    given = {port.title: port.default for port in node.outputs if port.default is not None}
    back = way_back(site.flow, node)

    def run(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> Any:
        call, door = prepare(state, runtime.context), context_of(runtime.context).door
        defaults = {title: default.value() for title, default in given.items()}
        try:
            out = perform_call(
                platform, call, door, defaults=defaults, shown_sha256=frame.shown(state)
            )
        except PlatformError as error:
            return _return_to_resolve(frame, back, state, call, error)
        return frame.finish(state, out)

    async def arun(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> Any:
        call, door = prepare(state, runtime.context), context_of(runtime.context).door
        defaults = {title: default.value() for title, default in given.items()}
        try:
            out = await aperform_call(
                platform, call, door, defaults=defaults, shown_sha256=frame.shown(state)
            )
        except PlatformError as error:
            return _return_to_resolve(frame, back, state, call, error)
        return frame.finish(state, out)

    chooses = back is not None
    return NodeBody(run=run, arun=arun, reads=("run",), acts=True, performs=True, chooses=chooses)


def _return_to_resolve(
    frame: Frame,
    back: WayBack | None,
    state: Mapping[str, Any],
    call: PlatformCall,
    error: PlatformError,
) -> Any:
    """The way back of a choice that can be recorded no more; raises every other error again."""
    before = (state.get(frame.channel) or {}).get(REFUSED) or {"times": 0}
    if back is None or error.code not in OUTDATED or before["times"] >= back.most:
        raise error
    refused = {**refusal_of(error.code, call.body), "times": before["times"] + 1}
    return frame.pass_turn(state, {"out": {}, REFUSED: refused}, back.resolve)


def make_prepare_call(
    node: ApiNode, frame: Frame, wiring: Wiring
) -> Callable[[Mapping[str, Any], object], PlatformCall]:
    """The function from state and context to the rendered request."""
    request = Request.of(node, wiring.env, wiring.host.secrets)
    placeholders = (*wiring.env.values(), *list_secret_texts(wiring.host.secrets))
    outputs = tuple(_declare_output(port) for port in node.outputs)

    def prepare(state: Mapping[str, Any], context: object) -> PlatformCall:
        values = frame.gather(state)
        host = context_of(context)
        run = state.get("run") or {}
        try:
            asked = request.rendered(values)
            method = request.method.text(values).upper()
        except TemplateError as error:
            raise frame.failed(f"request: {error}") from None
        if not request.platform and spells_platform(asked.url):
            raise _make_url_refusal(node)
        return PlatformCall(
            node=node.id,
            path=frame.where,
            place=frame.place(state),
            method=method,
            url=asked.url,
            headers=asked.headers,
            query=asked.query,
            body=asked.body,
            sensitive_headers=asked.sensitive_headers,
            retry=node.retry,
            url_allow_list=request.url_allow_list,
            written=asked.written,
            placeholders=placeholders,
            origin_by_value=request.origin_by_value,
            origin_by_placeholder=request.origin_by_placeholder,
            outputs=outputs,
            risk_class=node.risk_class,
            run_id=run.get("run_id", ""),
            context_id=host.context_id or run.get("run_id", ""),
            idempotency_key=frame.effect_key(state),
            once=node.effect == AT_MOST_ONCE,
            visit=frame.visit(state),
            credentials=host.credentials,
        )

    return prepare


def _make_url_refusal(node: ApiNode) -> PlatformRefused:
    """A value of the run stands where only the author may name the platform."""
    return PlatformRefused(
        f'node "{node.id}": the url was not called: a value spells {BASE_URL_PLACEHOLDER}, which '
        "means the platform only where the flow's own url begins with it",
        node=node.id,
    )


def _declare_output(port: Port) -> DeclaredOutput:
    return DeclaredOutput(
        title=port.title, schema=port.schema.mapping(), has_default=port.default is not None
    )

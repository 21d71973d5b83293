"""ApiNode: one request through the platform, its declared outputs back.

The request is rendered from the node's inputs; everything about the network lives behind
`cinatra_sdk.platform.Platform`.  Credentials come from the runtime context and go nowhere else:
a platform that echoes one back has it cut out before the answer is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from cinatra_sdk.platform.outputs import declared_outputs
from cinatra_sdk.platform.protocol import DeclaredOutput, PlatformCall
from cinatra_sdk.runtime_context import HostContext, context_of
from cinatra_sdk.secrets import cut_out
from cinatra_sdk.template_language import json_text
from cinatra_sdk.templates import Renderer, TemplateError
from oas_compiler.ir import ApiNode, Port
from oas_compiler.lower.frame import Frame
from oas_compiler.lower.registry import REGISTRY, Lowered, Site


@REGISTRY.register(ApiNode)
def lower_api(site: Site) -> Lowered:
    node, frame, platform = site.node, site.frame, site.wiring.platform
    assert isinstance(node, ApiNode)
    prepare = _preparation(node, frame)
    defaults = {port.title: port.default for port in node.outputs if port.default is not None}

    def finish(state: Mapping[str, Any], call: PlatformCall, body: Any) -> dict[str, Any]:
        secrets = (call.credentials.run_token, call.credentials.bearer_token)
        out = declared_outputs(call, cut_out(body, secrets))
        for title, default in defaults.items():
            if title not in out:
                out[title] = default.value()
        return frame.finish(state, out)

    def run(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        call = prepare(state, runtime.context)
        return finish(state, call, platform.call(call))

    async def arun(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        call = prepare(state, runtime.context)
        return finish(state, call, await platform.acall(call))

    return Lowered(run=run, arun=arun, reads=("run",), acts=True)


def _preparation(node: ApiNode, frame: Frame) -> Any:
    """The function from state and context to the rendered request."""
    url, method = Renderer(node.url), Renderer(node.method)
    body = Renderer(node.data.value()) if node.data is not None else None
    headers, query = Renderer(node.headers.value()), Renderer(node.query.value())
    outputs = tuple(_declared(port) for port in node.outputs)

    def prepare(state: Mapping[str, Any], context: object) -> PlatformCall:
        values = frame.gather(state)
        host = context_of(context)
        run = state.get("run") or {}
        try:
            return PlatformCall(
                node=node.id,
                path=frame.where,
                method=method.text(values).upper(),
                url=url.text(values),
                headers=_texts(headers.render(values)),
                query=_texts(query.render(values)),
                body=None if body is None else body.render(values),
                outputs=outputs,
                risk_class=node.risk_class,
                run_id=run.get("run_id", ""),
                context_id=host.context_id or run.get("run_id", ""),
                idempotency_key=frame.effect_key(state),
                visit=frame.visit(state),
                credentials=host.credentials,
            )
        except TemplateError as error:
            raise frame.failed(f"request: {error}") from None

    return prepare


def _texts(rendered: Any) -> dict[str, str]:
    return {k: v if isinstance(v, str) else json_text(v) for k, v in rendered.items()}


def _declared(port: Port) -> DeclaredOutput:
    return DeclaredOutput(
        title=port.title, schema=port.schema.mapping(), has_default=port.default is not None
    )

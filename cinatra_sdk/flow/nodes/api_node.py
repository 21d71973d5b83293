"""One request through the platform, and its declared outputs.

The request is rendered from the node's inputs; the network is behind `cinatra_sdk.outside.http_calls.Platform`.
Credentials come from the runtime context, values of placeholders from the host's `env=`.  Both go
nowhere else: where a platform repeats one of them, it is cut out before the response is stored.

A call of the bridge to a language model says which outputs the answer needs: where the author wrote no
`output_schema`, the schema comes from the declared outputs of the node.

A call with `user_envelope` gets an envelope in every case, also where the person answered without a file.

A node that finalizes a context selection goes back where the choice cannot be recorded any more: see
`cinatra_sdk.flow.visit.governance_gate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from langgraph.runtime import Runtime, get_runtime
from pydantic import JsonValue

from cinatra_sdk.attachments.envelope import enclose_text, opens_answer
from cinatra_sdk.context.candidates import OUTDATED, refusal_of
from cinatra_sdk.data.author_json import NOTHING, NOTHING_SEALED, Json, SealedJson
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.data.templates.flow_templates import TemplateError
from cinatra_sdk.flow.plan.frame import Frame, NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.requests.request_template import Request, spells_platform
from cinatra_sdk.flow.visit.confirmation import make_confirmed, open_to_edits
from cinatra_sdk.flow.visit.governance_gate import REFUSED, WayBack
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect
from cinatra_sdk.outside.effects.platform_calls import aperform_call, effect_of, perform_call
from cinatra_sdk.outside.http_calls.protocol import (
    BASE_URL_PLACEHOLDER,
    BRIDGE_PATH,
    DeclaredOutput,
    PlatformCall,
    PlatformError,
    PlatformRefused,
)
from cinatra_sdk.outside.http_calls.response_outputs import derive_output_schema

OUTPUT_SCHEMA: Final = "output_schema"
"""Of the body of such a call: what its answer has to be."""
USER: Final = "user"
"""Of the body of such a call: what the model is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall(NodeWork):
    """One request; texts are templates over the node's inputs."""

    kind: ClassVar[str] = "ApiNode"
    acts: ClassVar[bool] = True
    asks_platform: ClassVar[bool] = True
    method: str = "POST"
    url: str
    headers: Json = NOTHING
    query: Json = NOTHING
    data: Json | None = None
    """The body; None sends no body."""
    sensitive_headers: SealedJson = NOTHING_SEALED
    """Sent with `headers`; never shown or kept."""
    retry: CallRetryPolicy | None = None
    """None means the rule of the platform."""
    url_allow_list: tuple[str, ...] | None = None
    """Addresses that the node may call; None means that the platform alone decides."""
    back: WayBack | None = None
    """Where it goes back when a choice can be recorded no more."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_api(site, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteToolCall(ApiCall):
    """The request of a tool; where a person confirms it, the gate shows the tool's name, its arguments
    and where the request goes.  What is compared before the call is the whole request.
    """

    kind: ClassVar[str] = "RemoteToolNode"
    tool: str
    confirmed: bool = False
    """Whether a person confirms each call."""

    @property
    def asks_person(self) -> bool:
        return self.confirmed

    def make_body(self, site: NodeSite) -> NodeBody:
        if not self.confirmed:
            return make_api(site, self)
        site = open_to_edits(site)
        frame, body = site.frame, make_api(site, self)
        prepare = make_prepare_call(self, site)

        def describe(state: Mapping[str, Any]) -> Effect:
            return effect_of(prepare(state, get_runtime(HostContext).context))

        def show(state: Mapping[str, Any], effect: Effect) -> dict[str, JsonValue]:
            arguments = frame.gather(state)
            return {"call": self.tool, "arguments": arguments, "request": effect.capability}

        return make_confirmed(
            frame,
            body,
            name=site.plan.name,
            effect=describe,
            show=show,
            inputs=site.plan.inputs,
        )


def make_api(site: NodeSite, work: ApiCall) -> NodeBody:
    """The body of a node that makes one request."""
    frame, platform, back = site.frame, site.wiring.platform, work.back
    prepare = make_prepare_call(work, site)
    given = {port.title: port.default for port in frame.outputs if port.default is not None}

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
    work: ApiCall, site: NodeSite
) -> Callable[[Mapping[str, Any], object], PlatformCall]:
    """The function from state and context to the rendered request."""
    frame, wiring = site.frame, site.wiring
    request = Request.of(work, wiring.env, wiring.host.secrets)
    placeholders = wiring.lent_values
    asked_for = _derive_answer(work, frame.outputs)
    opens = _is_bridge(work) and work.data is not None and opens_answer(work.data.value())
    outputs = tuple(_declare_output(port) for port in frame.outputs)

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
            raise _make_url_refusal(frame)
        if asked_for:
            asked = asked.with_body_default(OUTPUT_SCHEMA, asked_for)
        user = asked.body.get(USER) if opens and isinstance(asked.body, dict) else None
        if isinstance(user, str):
            asked = asked.with_body_value(USER, enclose_text(user))
        return PlatformCall(
            node=frame.id,
            path=frame.where,
            place=frame.place(state),
            method=method,
            url=asked.url,
            headers=asked.headers,
            query=asked.query,
            body=asked.body,
            sensitive_headers=asked.sensitive_headers,
            unfilled_headers=request.list_unfilled(asked),
            retry=work.retry,
            url_allow_list=request.url_allow_list,
            written=asked.written,
            placeholders=placeholders,
            origin_by_value=request.origin_by_value,
            origin_by_placeholder=request.origin_by_placeholder,
            outputs=outputs,
            risk_class=frame.risk,
            run_id=run.get("run_id", ""),
            context_id=host.context_id or run.get("run_id", ""),
            idempotency_key=frame.effect_key(state),
            once=frame.once,
            visit=frame.visit(state),
            credentials=host.credentials,
        )

    return prepare


def _is_bridge(work: ApiCall) -> bool:
    return work.method.upper() == "POST" and work.url.rstrip("/").endswith(BRIDGE_PATH)


def _derive_answer(work: ApiCall, outputs: Sequence[TypedPort]) -> dict[str, JsonValue]:
    """The schema of the answer that a call of the bridge asks for; empty for every other call."""
    if not _is_bridge(work):
        return {}
    return derive_output_schema({port.title: port.schema.mapping() for port in outputs})


def _make_url_refusal(frame: Frame) -> PlatformRefused:
    """A value of the run stands where only the author may name the platform."""
    return PlatformRefused(
        f'node "{frame.id}": the url was not called: a value spells {BASE_URL_PLACEHOLDER}, which '
        "means the platform only where the flow's own url begins with it",
        node=frame.id,
    )


def _declare_output(port: TypedPort) -> DeclaredOutput:
    return DeclaredOutput(
        title=port.title, schema=port.schema.mapping(), has_default=port.default is not None
    )

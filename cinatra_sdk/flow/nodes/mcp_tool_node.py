"""The node that calls a tool of an MCP server, as one effect of the kind `mcp`.

    McpToolCall(server=…, tool="search")    the inputs are the arguments
    McpToolCall(server=…)                   a toolbox: the inputs are `tool` and `arguments`

A tool that reports a failure fails the run; in an agent, the model reads the failure instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import islice
from typing import Any, ClassVar, Final

from langgraph.runtime import Runtime, get_runtime
from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, check_value, read_json
from cinatra_sdk.data.ports import ANY, STRING, TypedPort
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.data.templates.placeholders import describe_unfilled
from cinatra_sdk.errors import NodeFailed, NotConfigured, ValueRefused
from cinatra_sdk.flow.plan.casts import CastError, cast_result
from cinatra_sdk.flow.plan.frame import Frame, NodeBody, effect_of
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork, Wiring
from cinatra_sdk.flow.requests.allowances import find_simulation, make_allowance, wait_for
from cinatra_sdk.flow.visit.confirmation import make_confirmed, open_to_edits
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.governed.secret_values import cut_out, redact
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect, EffectResult, NotMade
from cinatra_sdk.outside.effects.execution import aperform, perform
from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput, Platform, PlatformCall
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from cinatra_sdk.outside.mcp.calls import (
    ConnectionLost,
    RequestFailed,
    ServerLink,
    acall,
    read_text,
)
from cinatra_sdk.outside.mcp.server import McpServer, McpWay
from cinatra_sdk.outside.remote_answers.foreign_answer import plain_text, tell_problem
from cinatra_sdk.outside.remote_answers.remote_bounds import USUAL, RemoteBounds

# ----------------------------------------------------------------------------
# The result of an MCP server's call -> the outputs of the node.
#
# one output                 the structured result, else the text; a text that is wanted as another
#                            type is read as JSON; of an object that cannot be the type as a whole, the
#                            member with the name of the output
# several outputs            the members of the structured result, else of the text read as JSON
# {"isError": True, …}       the text is the error


_MOST_NAMED: Final = 5
"""Members of a result that an error lists."""


class ResultUnusable(ValueError):
    """A result that does not give the declared outputs; says why."""


def read_outputs(ports: Sequence[TypedPort], result: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Raises: `ResultUnusable`."""
    if not ports:
        return {}
    structured = result.get("structuredContent")
    if len(ports) == 1:
        return {ports[0].title: _read_single(ports[0], structured, read_text(result))}
    given = structured if structured is not None else _read_json(read_text(result))
    if isinstance(given, dict) and set(given) == {"result"} and isinstance(given["result"], dict):
        given = given["result"]
    if not isinstance(given, dict):
        raise ResultUnusable("it gave no JSON object with the outputs")
    return {port.title: _read_member(port, given) for port in ports}


def _read_single(port: TypedPort, structured: Any, text: str) -> JsonValue:
    if structured is None:
        if port.type in {STRING, ANY}:
            return text
        return _cast(port, _read_json(text))
    if isinstance(structured, dict) and len(structured) == 1:
        # Servers put a result that is no object under this name.
        for name in (port.title, "result"):
            if name in structured:
                return _cast(port, structured[name])
    return _cast_whole(port, structured)


def _cast_whole(port: TypedPort, structured: Any) -> JsonValue:
    """A result, or its member with the output's name where the whole cannot be of the type."""
    try:
        return _cast(port, structured)
    except ResultUnusable as error:
        if not isinstance(structured, dict):
            raise
        if port.title in structured:
            return _cast(port, structured[port.title])
        members = ", ".join(f"'{name[:80]}'" for name in islice(structured, _MOST_NAMED))
        raise ResultUnusable(
            f"{error}; to take one of its members, name the output after it: {members or 'none'}"
        ) from None


def _read_member(port: TypedPort, given: Mapping[str, Any]) -> JsonValue:
    if port.title in given:
        return _cast(port, given[port.title])
    if port.default is not None:
        return port.default.value()
    raise ResultUnusable(f"it did not give the output '{port.title}'")


def _cast(port: TypedPort, value: Any) -> JsonValue:
    try:
        found: JsonValue = cast_result(port, value)
    except CastError as error:
        raise ResultUnusable(f"output '{port.title}': {error}") from None
    return found


def _read_json(text: str) -> JsonValue:
    try:
        return read_json(text)
    except NotStrictJson:
        return text


State = Mapping[str, Any]
FAILED: Final = "failed"
"""Of the record of an agent's tool that says that it failed: its words."""
TOOL: Final = "tool"
ARGUMENTS: Final = "arguments"
RESULT: Final = "result"
"""The output of a toolbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolCall(NodeWork):
    """Calls a tool of an MCP server."""

    kind: ClassVar[str] = "McpToolNode"
    acts: ClassVar[bool] = True
    asks_platform: ClassVar[bool] = True
    server: McpWay
    retry: CallRetryPolicy | None = None
    tool: str = ""
    """Empty: the input `tool` names it, and `arguments` has its arguments."""
    of_agent: bool = False
    """Whether an agent calls it, whose model is told of a failure."""
    confirmed: bool = False
    """Whether a person confirms each call."""

    @property
    def asks_person(self) -> bool:
        return self.confirmed

    def make_body(self, site: NodeSite) -> NodeBody:
        settings = McpToolSettings(
            access=open_access(site.wiring, self.server, self.retry),
            tool=self.tool,
            in_agent=self.of_agent,
            asks_person=self.confirmed,
            name=site.plan.name,
            # what a tool of a toolbox takes is known to its server alone
            inputs=site.plan.inputs if self.tool else None,
        )
        frame = open_to_edits(site).frame if self.confirmed else site.frame
        return make_mcp_tool(frame, settings)


def open_access(wiring: Wiring, server: McpWay, retry: CallRetryPolicy | None) -> McpAccess:
    """A server with what this process lends for it."""
    host = wiring.host
    return McpAccess(
        server=server.find_server(retry, wiring.env, host.secrets),
        servers=host.mcp,
        bounds=host.remote_bounds,
        may_call=make_allowance(wiring.platform, host.allow),
        simulation=find_simulation(wiring.platform),
        secrets=wiring.lent_values,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class McpAccess:
    """A server, and what this process lends for it."""

    server: McpServer
    servers: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Servers that the host lends, by the id or the name of their transport."""
    bounds: RemoteBounds = USUAL
    may_call: Callable[[str], bool] = lambda _address: False
    """Whether the operator opens an address."""
    simulation: Platform | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values of the host's placeholders."""

    @property
    def is_simulated(self) -> bool:
        return self.simulation is not None and self._find_lent() is None

    def link(self) -> ServerLink:
        """Raises: `NotConfigured` for an address that the operator does not open, and for a header
        with a placeholder that has no value.
        """
        server, lent = self.server, self._find_lent()
        unfilled = () if lent is not None else server.list_unfilled()
        if unfilled:
            raise NotConfigured(f"MCP server '{server.label}': {describe_unfilled(*unfilled[0])}")
        if lent is None and server.url and not self.may_call(server.url):
            raise NotConfigured(
                f"the MCP server '{server.label}' is at an address that this process does not open",
                hint="add it to `allow` (--allow at the command line), or lend the server: mcp=…",
            )
        return ServerLink(
            server=server,
            lent=lent,
            rules=server.retry,
            may_call=self.may_call,
            bounds=self.bounds,
        )

    def _find_lent(self) -> Any:
        names = (*self.server.names, "*")
        return next((self.servers[one] for one in names if one in self.servers), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolSettings:
    """A tool of a server."""

    access: McpAccess
    tool: str = ""
    """Empty: the input `tool` names it."""
    in_agent: bool = False
    asks_person: bool = False
    """Whether a person confirms each call."""
    name: str = ""
    """Of the node, for people."""
    inputs: tuple[TypedPort, ...] | None = None
    """Of the tool, which a person may edit; None: they may not."""


def make_mcp_tool(frame: Frame, settings: McpToolSettings) -> NodeBody:
    """The body of the node."""
    call = _Call(frame, settings)

    def run(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        effect, host = call.describe(state), context_of(runtime.context)
        made = perform(effect, lambda: wait_for(lambda: call.amake(state, effect)), host.door)
        return call.leave(state, made)

    async def arun(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        effect, host = call.describe(state), context_of(runtime.context)
        made = await aperform(effect, lambda: call.amake(state, effect), host.door)
        return call.leave(state, made)

    body = NodeBody(run=run, arun=arun, acts=True, performs=True)
    if not settings.asks_person:
        return body
    return make_confirmed(
        frame,
        body,
        name=settings.name,
        effect=call.describe,
        show=_show,
        inputs=settings.inputs,
    )


def make_secrets(access: McpAccess) -> tuple[str, ...]:
    """What is cut out of the effects of a server's nodes."""
    held = context_of(get_runtime(HostContext).context).credentials
    return (held.run_token, held.bearer_token, *access.secrets, *access.server.secrets)


def describe_failure(
    frame: Frame, access: McpAccess, what: str, error: Exception
) -> tuple[NodeFailed, Exception | None]:
    """The error of a node whose request failed, and what it comes from: that tells the door whether a
    later try may help, and whether the request was surely not made.
    """
    if isinstance(error, NotConfigured):
        return frame.failed(error.message, hint=error.hint), NotMade()
    held = error.held if isinstance(error, RequestFailed) else ()
    told = tell_problem(str(error), (*make_secrets(access), *held))
    is_silent = isinstance(error, ConnectionLost) and not error.was_answered
    hint = "see whether the server runs" if is_silent else ""
    message = f"{what} of MCP server '{access.server.label}' failed: {told}"
    cause = error if isinstance(error, (ConnectionLost, NotMade)) else None
    return frame.failed(message, hint=hint), cause


@dataclass(frozen=True, slots=True)
class _Call:
    frame: Frame
    settings: McpToolSettings

    def describe(self, state: State) -> Effect:
        tool, arguments = self._read(state)
        access = self.settings.access
        simulated = "simulated/" if access.is_simulated else ""
        return effect_of(
            self.frame,
            state,
            kind="mcp",
            capability=f"{simulated}{access.server.label}/{tool}",
            arguments=arguments,
            secrets=make_secrets(access),
        )

    async def amake(self, state: State, effect: Effect) -> EffectResult:
        tool, arguments = self._read(state)
        access = self.settings.access
        if access.is_simulated:
            return await self._simulate(effect)
        try:
            link = access.link()
            result = await acall(link, tool, arguments, effect.key)
            return EffectResult(value=self._keep(tool, result, effect))
        except (NotConfigured, RequestFailed, ResultUnusable, ValueRefused) as error:
            failure = describe_failure(self.frame, access, f"tool '{plain_text(tool)}'", error)
        # Out here: in the handler it would drag the client's error along.
        raise failure[0] from failure[1]

    def leave(self, state: State, made: EffectResult) -> dict[str, Any]:
        value = made.value
        assert isinstance(value, dict)  # made by `_keep`, or stored from it
        failed = value.get(FAILED)
        if failed is None:
            outputs = value["outputs"]
            assert isinstance(outputs, dict)
            return self.frame.finish(state, outputs)
        empty = {port.title: _read_default(port) for port in self.frame.outputs}
        update = self.frame.finish(state, empty)
        update[self.frame.channel][FAILED] = failed
        return update

    def _read(self, state: State) -> tuple[str, dict[str, JsonValue]]:
        values = self.frame.gather(state)
        if self.settings.tool:
            return self.settings.tool, values
        arguments = values[ARGUMENTS]
        return str(values[TOOL]), arguments if isinstance(arguments, dict) else {}

    def _keep(self, tool: str, result: Mapping[str, Any], effect: Effect) -> JsonValue:
        secrets = effect.secrets
        if result.get("isError"):
            told = redact(plain_text(read_text(result)) or "it says nothing", secrets)
            if self.settings.in_agent:
                return {FAILED: told}
            raise RequestFailed(f"it says: {told[:1000]}")
        check_value(result.get("structuredContent"), where="what it returned")
        clean = without_governed(dict(result), where=f"what tool '{tool}' returned")
        outputs = read_outputs(self.frame.outputs, clean)
        return {"outputs": cut_out(outputs, secrets)}

    async def _simulate(self, effect: Effect) -> EffectResult:
        platform = self.settings.access.simulation
        assert platform is not None  # see `is_simulated`
        call = make_simulated_call(effect, self.frame.outputs)
        found = declared_outputs(call, await platform.acall(call))
        return EffectResult(value={"outputs": found})


def make_simulated_call(effect: Effect, outputs: tuple[TypedPort, ...]) -> PlatformCall:
    """The call by which a simulation answers."""
    return PlatformCall(
        node=effect.node,
        path=effect.path,
        place=effect.place,
        method=effect.kind.upper(),
        url=effect.capability,
        body=effect.arguments,
        outputs=tuple(
            DeclaredOutput(
                title=port.title, schema=port.schema.mapping(), has_default=port.default is not None
            )
            for port in outputs
        ),
        run_id=effect.run_id,
        idempotency_key=effect.key,
        visit=effect.visit,
    )


def _show(_state: State, effect: Effect) -> dict[str, JsonValue]:
    return {"call": effect.capability, "arguments": effect.arguments}


def _read_default(port: TypedPort) -> JsonValue:
    return None if port.default is None else port.default.value()

"""`Passthrough`: the function of the route `POST /api/agents/passthrough`.

    {"tool": "objects_save", "agent_run_id": "r1", "input": {…}}      ->   {"objectId": "5b…", …}
    {"tool": "drop_tables", "agent_run_id": "r1", "input": {}}        ->   403 tool_not_allowed

`agent_run_id` must be the run that is calling, as the host knows it; empty stands for that run.
`result_input_passthrough` puts the members of the input into the answer, `result_id_field` the id of
what was saved.  Members of the tool's own answer win.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from cinatra_sdk.passthrough.named import NamedCall, NamedTool
from cinatra_sdk.passthrough.shapes import shape_input
from cinatra_sdk.routed.call import RouteCall, RouteError
from cinatra_sdk.text.spelling import did_you_mean

ROUTE: Final = "POST /api/agents/passthrough"
OBJECT_ID: Final = "objectId"
_PACKAGE: Final = re.compile(r"@[^/\s]+/[^/\s]+")


class PassthroughBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    tool: str = Field(min_length=1, max_length=200)
    agent_run_id: str = Field(max_length=1024)
    input: dict[str, JsonValue] = Field(default_factory=dict)
    result_input_passthrough: bool = False
    result_id_field: str = Field(default="", max_length=200)
    result_shape: str = Field(default="", max_length=200)
    """A name for the host's own screens; the answer's members are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passthrough:
    """Calls the tools of a registry."""

    tools: Mapping[str, NamedTool]
    allowed: frozenset[str] | None = field(default=None)
    """Names that may be called; None: all of `tools`."""

    @classmethod
    def of(cls, tools: Iterable[NamedTool], *, allowed: Iterable[str] | None = None) -> Passthrough:
        """A later tool takes the place of an earlier one of its name."""
        return cls(
            tools={tool.name: tool for tool in tools},
            allowed=None if allowed is None else frozenset(allowed),
        )

    async def __call__(self, call: RouteCall) -> JsonValue:
        body = _read_body(call.body)
        tool = self._find(body.tool)
        _check_run(body, call)
        shaped = shape_input(body.tool, body.input)
        asked = NamedCall(tool=tool.name, input=shaped, owner=call.owner, key=call.idempotency_key)
        found = await tool.call(asked)
        if not isinstance(found, Mapping):
            raise RouteError(500, "tool_failed", f"{tool.name} gave no object")
        return _form_answer(body, shaped, dict(found))

    def _find(self, name: str) -> NamedTool:
        names = self.tools if self.allowed is None else self.allowed
        if name not in names:
            hint = did_you_mean(name, names) or f"they may call {', '.join(sorted(names))}"
            if _PACKAGE.fullmatch(name):
                hint = f"an agent is one where its package is in a folder of --packages; {hint}"
            raise RouteError(
                403, "tool_not_allowed",
                f'the tool "{name[:80]}" is not one that flows may call here; {hint}',
            )  # fmt: skip
        if name not in self.tools:
            raise RouteError(404, "handler_missing", f'no tool "{name[:80]}" is registered')
        return self.tools[name]


def _read_body(value: JsonValue) -> PassthroughBody:
    try:
        return PassthroughBody.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
    first = found[0]
    place = ".".join(str(part)[:80] for part in first["loc"]) or "the body"
    issues: list[JsonValue] = [
        {"path": ".".join(str(part)[:80] for part in one["loc"]), "message": one["msg"]}
        for one in found[:20]
    ]
    raise RouteError(400, "invalid_body", f"{place}: {first['msg']}", more={"issues": issues})


def _check_run(body: PassthroughBody, call: RouteCall) -> None:
    """Raises: `RouteError` 400, 403, 404."""
    own = call.owner.run_id
    if not own:
        if not body.agent_run_id.strip():
            raise RouteError(400, "run_id_missing", "agent_run_id names no run")
        raise RouteError(404, "run_missing", "the host does not know the run that is calling")
    if body.agent_run_id.strip() and body.agent_run_id != own:
        raise RouteError(
            403,
            "run_mismatch",
            "agent_run_id is not the run that is calling: leave it to the runtime",
        )


def _form_answer(
    body: PassthroughBody, shaped: Mapping[str, JsonValue], found: dict[str, JsonValue]
) -> JsonValue:
    answer = dict(found)
    if body.result_input_passthrough:
        raw = shaped.get("rawData")
        echoed = raw if isinstance(raw, Mapping) else shaped
        answer = {**echoed, **answer}
    if body.result_id_field and OBJECT_ID in found:
        answer[body.result_id_field] = found[OBJECT_ID]
    return answer

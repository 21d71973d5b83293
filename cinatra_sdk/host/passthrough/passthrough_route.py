"""`Passthrough`: the function of the route `POST /api/agents/passthrough`.

    {"tool": "objects_save", "agent_run_id": "r1", "input": {…}}      ->   {"objectId": "5b…", …}
    {"tool": "drop_tables", "agent_run_id": "r1", "input": {}}        ->   403 tool_not_allowed

`agent_run_id` must be the run that is calling, as the host knows it; empty stands for that run.
`result_input_passthrough` puts the members of the input into the answer, `result_id_field` the id of
what was saved.  Members of the tool's own answer win.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.routes import RouteCall, RouteError, RunOwner
from cinatra_sdk.threads import call_beside

# ----------------------------------------------------------------------------
# Inputs that a flow writes in another form than the tool takes: `_shape` names the form.
#
# `{"_shape": "email_outreach_context_setup", "setupJson": "{\"callToAction\": \"Call\"}"}`
#     ->  {"typeHint": "@cinatra-ai/campaigns:email-outreach-context",
#          "rawData": {"offeringCompanyWebsite": "", "callToAction": "Call", "senderName": ""}}


SHAPE: Final = "_shape"
SETUP_TYPE: Final = "@cinatra-ai/campaigns:email-outreach-context"
_SETUP_TEXTS: Final = ("offeringCompanyWebsite", "callToAction", "senderName")


def shape_input(tool: str, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The input as the tool takes it.  Raises: `RouteError` 400."""
    name = given.get(SHAPE)
    plain = {key: value for key, value in given.items() if key != SHAPE}
    if name is None:
        return plain
    shape = _SHAPES.get(name) if isinstance(name, str) else None
    if shape is None:
        nearest = did_you_mean(str(name), _SHAPES)
        raise RouteError(
            400, "unknown_shape",
            f"{tool} knows no input of this _shape; "
            + (nearest or f"known are {', '.join(sorted(_SHAPES))}"),
        )  # fmt: skip
    return shape(plain)


def parse_object(text: JsonValue, name: str) -> dict[str, JsonValue]:
    """The object in a JSON text, or the object itself.  Raises: `RouteError` 400."""
    problem = ""
    if isinstance(text, dict):
        return text
    try:
        found = read_json(text if isinstance(text, str) else "")
        if isinstance(found, dict):
            return found
        problem = "it is no object"
    except NotStrictJson as error:
        problem = str(error)
    raise RouteError(400, "invalid_input", f'"{name}" is the text of a JSON object: {problem}')


def _shape_setup(given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The campaign that a person set up; what was left out is empty, because outputs are declared."""
    setup = parse_object(given.get("setupJson"), "setupJson")
    texts: dict[str, JsonValue] = {name: setup.get(name) or "" for name in _SETUP_TEXTS}
    wrong = next((name for name, text in texts.items() if not isinstance(text, str)), "")
    if wrong:
        raise RouteError(400, "invalid_input", f'"{wrong}" in setupJson is no text')
    return {"typeHint": SETUP_TYPE, "rawData": texts}


_SHAPES: Final[Mapping[str, Callable[[Mapping[str, JsonValue]], dict[str, JsonValue]]]] = {
    "email_outreach_context_setup": _shape_setup,
}


# ----------------------------------------------------------------------------
# One tool of the host that flows call by its name.
#
#     `NamedTool(name="shout", run=lambda call: {"text": str(call.input["text"]).upper()})`
#
# A tool acts for the run's owner, whom the host knows: nothing of the input says who is calling.


_ANY: Final[dict[str, Any]] = {"type": "object"}


MOST_LETTERS: Final = 2_000
"""Characters of one text of a tool's input that names something."""
MOST_SAID: Final = 1_048_576
"""Characters of what a person answered."""


def is_storable(text: str) -> bool:
    """Whether a database takes the text: no NUL, no half of a surrogate pair."""
    return re.search(r"[\x00\ud800-\udfff]", text) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCall:
    """One call of a tool."""

    tool: str
    input: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    owner: RunOwner
    key: str = ""
    """The same for a call that is made again; empty where the caller gave none."""

    def text(self, name: str, *, needed: bool = True, most: int = MOST_LETTERS) -> str:
        """A text of the input, of `most` letters.  Raises: `RouteError` 400."""
        value = self.input.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip()):
            raise RouteError(400, "invalid_input", f'{self.tool} needs "{name}", a text')
        if len(value) > most or not is_storable(value):
            raise RouteError(
                400, "invalid_input",
                f'{self.tool}: "{name}" has more than {most} letters, or one that no '
                "database stores",
            )  # fmt: skip
        return value

    def require_tenant(self) -> str:
        """The organisation of the run.  Raises: `RouteError` 404."""
        if not self.owner.tenant or not self.owner.run_id:
            raise RouteError(
                404, "run_missing",
                f"{self.tool} acts for the owner of a run, and the host does not know whose call it is",
            )  # fmt: skip
        return self.owner.tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTool:
    """A tool of the registry."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: _ANY)
    """JSON Schema of the input, for models that may call it."""
    run: Callable[[NamedCall], Any] = field(repr=False)
    """Gives the members of the answer, an object; may be async; fails with `RouteError`."""
    for_models: bool = False
    """Whether it is in the toolbox `cinatra-mcp` of the bridge, too."""

    async def call(self, call: NamedCall) -> Any:
        """The result of the tool; a plain function runs in a thread of its own.  Raises: `RouteError`."""
        if inspect.iscoroutinefunction(self.run):
            return await self.run(call)
        found = await call_beside(self.run, call)
        return await found if inspect.isawaitable(found) else found


def missing_tool(name: str, needs: str) -> NamedTool:
    """A tool that flows call and that only a host can lend: refused by its name, with what to do."""

    def refuse(call: NamedCall) -> JsonValue:
        raise RouteError(
            404, "handler_missing", f"{call.tool} {needs}; lend it: HostParts(passthrough={{…}})"
        )

    return NamedTool(name=name, run=refuse)


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

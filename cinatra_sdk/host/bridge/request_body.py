"""The body of the bridge, read strictly: an unknown key, or a value of another type, is refused.

    read_body({"user": "hi", "max_steps": 3})      BridgeBody(user="hi", max_steps=3)
    read_body({"user": "hi", "max_steps": "3"})    RouteError 400, issues: max_steps: …

No value is converted, but for a whole number that is written `3.0`, which JSON does not tell from 3.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError

from cinatra_sdk.attachments import MAX_REFS, AttachmentRef
from cinatra_sdk.outside.routes import RouteError

DEFAULT_STEPS: Final = 6
MOST_STEPS: Final = 20
DEFAULT_TOOLBOX: Final = "cinatra-mcp"
INVALID: Final = "Invalid request body"
_MOST_ISSUES: Final = 20


def _as_whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _blank_is_absent(value: Any) -> Any:
    return None if value == "" else value


def _without_url(value: Any) -> Any:
    """Media without an address is no media."""
    if isinstance(value, dict) and value.get("url") in ("", None) and set(value) <= {"url", "kind"}:
        return None
    return _blank_is_absent(value)


class ClosedBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


_Filled = Annotated[str, Field(min_length=1)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
Whole = Annotated[int, BeforeValidator(_as_whole)]


class PreferredLlm(ClosedBody):
    """`cinatra_llm`: what the author prefers."""

    preferred_provider: Literal["openai", "anthropic", "gemini"] | None = Field(
        default=None, alias="preferredProvider"
    )
    preferred_model: _Name | None = Field(default=None, alias="preferredModel")
    capability_required: Literal["media_input", "function_tools", "native_mcp"] | None = Field(
        default=None, alias="capabilityRequired"
    )


class Media(ClosedBody):
    url: _Filled
    kind: Annotated[
        Literal["audio", "video", "youtube"] | None, BeforeValidator(_blank_is_absent)
    ] = None


class BridgeBody(ClosedBody):
    """What a node asks."""

    user: str
    system: str | None = None
    agent_id: str | None = None
    agent_run_id: str | None = None
    """Never believed: the host knows the run."""
    max_steps: Annotated[int, Field(gt=0), BeforeValidator(_as_whole)] | None = None
    model_id: _Name | None = None
    toolbox_ids: Annotated[list[_Filled], Field(max_length=100)] | None = None
    output_schema: dict[str, JsonValue] | None = None
    cinatra_llm: PreferredLlm | None = None
    media: Annotated[Media | None, BeforeValidator(_without_url)] = None
    attachments: Annotated[list[AttachmentRef], Field(max_length=MAX_REFS)] | None = None
    user_envelope: bool | None = None
    skill_source_path: str | None = None
    package_version: str | None = None
    agent_spec_version: str | None = None

    @property
    def steps(self) -> int:
        """How often the model may be asked."""
        return min(self.max_steps or DEFAULT_STEPS, MOST_STEPS)

    def list_toolboxes(self, known: Collection[str]) -> tuple[str, ...]:
        """Ids of the toolboxes whose tools the model may call.

        known: those of the host.  The default is taken where it is one of them, because a body that
        names no toolbox can leave none out.
        """
        if self.toolbox_ids is None:
            return (DEFAULT_TOOLBOX,) if DEFAULT_TOOLBOX in known else ()
        return tuple(dict.fromkeys(self.toolbox_ids))


def read_body(value: JsonValue) -> BridgeBody:
    """Raises: `RouteError` 400, whose issues name places and rules and quote no value."""
    try:
        return BridgeBody.model_validate(value)
    except ValidationError as error:
        issues = list_issues(error)
    raise refuse_body(issues)


def list_issues(error: ValidationError) -> list[tuple[str, str]]:
    """Place and rule of each thing that is wrong."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [
        (".".join(str(part)[:80] for part in one["loc"]) or "the body", one["msg"])
        for one in found[:_MOST_ISSUES]
    ]


def refuse_body(issues: list[tuple[str, str]]) -> RouteError:
    """The refusal of a body in the words of the contract, with one sentence for people."""
    place, rule = issues[0]
    listed: list[JsonValue] = [{"path": where, "message": what} for where, what in issues]
    return RouteError(
        400,
        "INVALID_BODY",
        f"{place}: {rule}",
        more={"error": INVALID, "code": "INVALID_BODY", "issues": listed},
    )

"""The bodies of the context routes, read strictly: an unknown key or another type is refused.

read_body(ResolveBody, b'{"parentRunId": "r1", "parentPackageName": "@x/a", "slotId": 3}')
    -> ContextError invalid_body: slotId: Input should be a valid string
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.values import strict_json
from cinatra_sdk.values.strict_json import NotStrictJson

_Id = Annotated[str, Field(min_length=1, max_length=1024, pattern=r"^[^\x00]+$")]
"""A text without NUL, which no database stores."""


class ResolveBody(BaseModel):
    """Names the slot to resolve, and its run."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    parent_run_id: _Id = Field(alias="parentRunId")
    parent_package_name: _Id = Field(alias="parentPackageName")
    slot_id: _Id = Field(alias="slotId")
    project_id: str | None = Field(default=None, alias="projectId", max_length=1024)
    """Empty, blank and absent mean the same."""


class FinalizeBody(ResolveBody):
    """The choice that was made for a slot."""

    selection_mode: str = Field(alias="selectionMode")
    """Only compared: the slot's own mode decides."""
    user_response: str = Field(alias="userResponse")
    """The JSON text of a `ContextSelection`."""
    allocation_token: str | None = Field(default=None, alias="allocationToken", max_length=1024)
    """The token from the answer of context-resolve.  Empty, blank and absent mean the same."""


Body = TypeVar("Body", bound=ResolveBody)


def read_body(model: type[Body], content: bytes) -> Body:
    """The body as `model`.

    Raises: `ContextError` `invalid_body`, which names the key and never quotes a value.
    """
    value = read_json(content)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:80] for part in first["loc"]) or "the body"
    raise ContextError("invalid_body", f"{place}: {first['msg']}")


def read_json(content: bytes) -> JsonValue:
    """The JSON value of a body in UTF-8.

    Raises: `ContextError` `invalid_body` for anything else; the error quotes nothing.
    """
    problem = "it is not UTF-8"
    try:
        return strict_json.read_json(content.decode("utf-8"), where="the body")
    except UnicodeDecodeError:
        pass
    except NotStrictJson as error:
        problem = str(error)
    # Raised here, not in the handler: the decoder's error holds the whole body.
    raise ContextError("invalid_body", f"the body is no strict JSON: {problem}")

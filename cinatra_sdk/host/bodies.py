"""The bodies of the context routes, read strictly: an unknown key or another type is refused.

read_body(ResolveBody, b'{"parentRunId": "r1", "parentPackageName": "@x/a", "slotId": 3}')
    -> ContextError invalid_body: slotId: Input should be a valid string
"""

from __future__ import annotations

import json
from typing import Annotated, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from cinatra_sdk.context.errors import ContextError

_Id = Annotated[str, Field(min_length=1, max_length=1024, pattern=r"^[^\x00]+$")]
"""Without the one character that no database takes."""


class ResolveBody(BaseModel):
    """Which slot of which run is to be resolved."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    parent_run_id: _Id = Field(alias="parentRunId")
    parent_package_name: _Id = Field(alias="parentPackageName")
    slot_id: _Id = Field(alias="slotId")
    project_id: str | None = Field(default=None, alias="projectId", max_length=1024)
    """Empty, blank and absent are the same."""


class FinalizeBody(ResolveBody):
    """What was chosen for the slot."""

    selection_mode: str = Field(alias="selectionMode")
    """Compared with the slot's own, which counts."""
    user_response: str = Field(alias="userResponse")
    """The JSON text of a `ContextSelection`."""
    allocation_token: str | None = Field(default=None, alias="allocationToken", max_length=1024)
    """What resolving gave.  Empty, blank and absent are the same."""


Body = TypeVar("Body", bound=ResolveBody)


def read_body(model: type[Body], content: bytes) -> Body:
    """Raises: `ContextError` `invalid_body` naming the key, never quoting a value."""
    value = read_json(content)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:80] for part in first["loc"]) or "the body"
    raise ContextError("invalid_body", f"{place}: {first['msg']}")


def read_json(content: bytes) -> JsonValue:
    """UTF-8 and nothing but JSON.  Raises: `ContextError` `invalid_body`, quoting nothing."""
    try:
        value: JsonValue = json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        pass
    else:
        return value
    # Raised here, not in the handler: the parser's error holds the whole body.
    raise ContextError("invalid_body", "the body is not JSON")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)

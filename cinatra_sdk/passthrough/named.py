"""One tool of the host that flows call by its name.

    NamedTool(name="shout", run=lambda call: {"text": str(call.input["text"]).upper()})

A tool acts for the run's owner, whom the host knows: nothing of the input says who is calling.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.routed.call import RouteError, RunOwner
from cinatra_sdk.threads import call_beside

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
        """What the tool gives; one that is no coroutine function gets a thread.  Raises: `RouteError`."""
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

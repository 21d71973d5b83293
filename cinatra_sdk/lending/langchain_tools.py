"""A tool of LangChain as the Python function that a ToolNode calls.

    HostParts(tools={"look_up": look_up_tool})     look_up_tool is a BaseTool, made with @tool

A tool with a plain function is called by `invoke`, one that is only asynchronous by `ainvoke`.  The
arguments are checked by the tool's own schema too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def as_function(tool: Any) -> Callable[..., Any] | None:
    """The function that calls `tool`; None for what cannot be called."""
    # Whoever lends such a tool has imported LangChain; nobody else needs it here.
    tools = sys.modules.get("langchain_core.tools")
    if tools is not None and isinstance(tool, tools.BaseTool):
        return _make_function(tool)
    return tool if callable(tool) else None


def _make_function(tool: BaseTool) -> Callable[..., Any]:
    def call(**values: Any) -> Any:
        return tool.invoke(values)

    async def acall(**values: Any) -> Any:
        return await tool.ainvoke(values)

    is_async_only = getattr(tool, "func", call) is None
    return acall if is_async_only else call

"""A tool as a model is told of it, and what it gave as the model reads it.

describe_function("search", "", schema)    {"type": "function", "function": {"name": "search", …}}
bind_tools(model, [described], {})         the model, which may now ask for the tool
format_result({"hits": 3})                 '{"hits": 3}'
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def describe_function(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The tool in the form that every chat model of LangChain's takes.

    description: empty: the name stands for it, since providers refuse a tool without one.
    parameters: JSON Schema of an object with the arguments.
    """
    about = {"name": name, "description": description or name, "parameters": dict(parameters)}
    return {"type": "function", "function": about}


def bind_tools(
    model: Any, functions: Sequence[Mapping[str, Any]], arguments: Mapping[str, Any]
) -> Any:
    """The model with its tools, and with what goes along beside the messages.

    Raises: `NotImplementedError` for a model that takes no tools.
    """
    if functions:
        return model.bind_tools(list(functions), **arguments)
    return model.bind(**arguments) if arguments else model


def format_result(value: Any) -> str:
    """What a tool gave, as the model reads it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

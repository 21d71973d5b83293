"""How much MCP servers, agents behind A2A and models may send, list and ask for.

    `HostParts(remote_bounds=RemoteBounds(tools=2000))`

The seconds that an answer may take stand in the file (`read_timeout_seconds`, `timeout`).
"""

from __future__ import annotations

from dataclasses import fields

from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBounds:
    """Bounds of whoever a flow speaks to; all are whole numbers of at least 1.

    Raises: `ValueError`.
    """

    answer_bytes: int = 16 * 1024 * 1024
    """Bytes of one response of a server or agent, or of all that a program writes while it is asked."""
    values: int = 200_000
    """JSON values in one message: many small ones take far more memory and time than their bytes."""
    connect_seconds: int = 30
    """Seconds from the beginning until a server or agent can be asked: its start, its card, its address
    for messages, its first answers.
    """
    requests: int = 300
    """Requests over HTTP for one question to an MCP server."""
    redirects: int = 5
    """Redirects of one request before the question, all within its origin; an agent gets none."""
    pages: int = 100
    """Pages of one list of tools."""
    tools: int = 500
    """Tools of one MCP server."""
    name_letters: int = 200
    """Letters of a tool's name."""
    description_letters: int = 20_000
    """Letters of a tool's description."""
    schema_bytes: int = 200_000
    """Bytes of the JSON text of a tool's schema."""
    calls: int = 100
    """Calls of tools in one reply of a model."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if type(value) is not int or value < 1:
                raise ValueError(f"{one.name} is {value!r}: a whole number of at least 1 is wanted")

    def describe(self, name: str, what: str) -> str:
        """`its list has more than 100 pages: the bound is RemoteBounds(pages=…)`, for errors."""
        told = what.replace("{}", f"{getattr(self, name):,}", 1)
        return f"{told}: the bound is RemoteBounds({name}=…)"


USUAL = RemoteBounds()

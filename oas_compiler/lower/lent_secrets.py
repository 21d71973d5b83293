"""Puts the host's values in where a file only names a sensitive field.

{"$component_ref": "crm.sensitive_headers"}   ->   {"Authorization": "Bearer …"}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cinatra_sdk.errors import NotConfigured
from oas_compiler.document.sensitive import SecretMissing, find_secrets, read_name
from oas_compiler.ir import FlowIR, JsonValue, McpListNode, McpToolNode, walk
from oas_compiler.ir.exporting import list_sealed

_OF_SERVERS = (McpToolNode, McpListNode)


def lend_secrets(value: JsonValue, secrets: Mapping[str, Any] | None) -> Any:
    """`value` with the host's values; secrets: None where nothing will be called.

    Raises: `NotConfigured` for a name without one.
    """
    if secrets is None:
        return {} if read_name(value) else value
    missing = ""
    try:
        return find_secrets(value, secrets)
    except SecretMissing as error:
        missing = str(error.args[0])
    raise _refuse(missing)


def require_secrets(flow: FlowIR, secrets: Mapping[str, Any] | None) -> None:
    """Whether the host has a value for every name of the flow; a model's key may be missing.

    Raises: `NotConfigured`.
    """
    servers = [node.server for _, node in walk(flow) if isinstance(node, _OF_SERVERS)]
    logins = {id(server.login) for server in servers}  # a token stands for all their values
    sealed = (held for held in list_sealed(flow) if id(held) not in logins)
    for held in (*sealed, *(server.settings for server in servers)):
        lend_secrets(held.value(), secrets)


def lend_text(value: object, secrets: Mapping[str, Any] | None) -> str:
    """A text, or the host's in place of its name; empty where there is none."""
    name = read_name(value)
    found = (secrets or {}).get(name) if name else value
    return found if isinstance(found, str) else ""


def list_secret_texts(secrets: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Every text among the values, to be cut out of whatever is kept."""
    return tuple(_list_texts(dict(secrets or {})))


def _refuse(name: str) -> NotConfigured:
    return NotConfigured(
        f"the file names '{name}' without its value",
        hint="give it in components= or HostParts(secrets=…); at the command line, --components",
    )


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _list_texts(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _list_texts(member)

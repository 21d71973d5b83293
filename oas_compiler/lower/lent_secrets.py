"""Whether the host has a value for every sensitive field that a file only names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.values.sensitive import lend_secrets
from oas_compiler.ir import FlowIR, McpListNode, McpToolNode, walk
from oas_compiler.ir.exporting import list_sealed

_OF_SERVERS = (McpToolNode, McpListNode)


def require_secrets(flow: FlowIR, secrets: Mapping[str, Any] | None) -> None:
    """Raise `NotConfigured` for a name without a value; a model's key may be missing."""
    servers = [node.server for _, node in walk(flow) if isinstance(node, _OF_SERVERS)]
    logins = {id(server.login) for server in servers}  # a token stands for all their values
    sealed = (held for held in list_sealed(flow) if id(held) not in logins)
    for held in (*sealed, *(server.settings for server in servers)):
        lend_secrets(held.value(), secrets)

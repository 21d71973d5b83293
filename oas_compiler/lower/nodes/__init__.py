"""One module per kind of node; importing this package registers them all."""

from oas_compiler.lower.nodes import (
    api,
    branching,
    end,
    flow,
    gate,
    message,
    plugins,
    start,
    tool,
)

__all__ = ["api", "branching", "end", "flow", "gate", "message", "plugins", "start", "tool"]

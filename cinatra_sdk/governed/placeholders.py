"""Names that a flow's `{{PLACEHOLDER}}` must not have: variables that the runtime itself reads.

    refuse_runtime_names({"CRM_URL": "https://crm.example"})      fine
    refuse_runtime_names({"CINATRA_BRIDGE_TOKEN": "…"})           PlaceholderRefused

The person who starts a run names its placeholders, and the process that continues the run fills
them in.  A name of a runtime setting would give the flow the settings of that process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.errors import PlaceholderRefused

_PREFIXES: Final = (
    "CINATRA_", "OASFLOW_", "PG", "LANGGRAPH_", "LANGSMITH_", "LANGCHAIN_",
    "SSL_CERT_", "XDG_", "LD_", "DYLD_", "PYTHON",
)  # fmt: skip
_NAMES: Final = frozenset({"DATABASE_URL", "HOME", "PATH", "TERM", "NO_COLOR", "SSLKEYLOGFILE"})


def is_runtime_name(name: str) -> bool:
    """Whether the runtime, or a library that it stands on, reads this variable itself."""
    # In any spelling: an environment need not tell capitals from small letters.
    upper = name.upper()
    return upper in _NAMES or upper.startswith(_PREFIXES)


def refuse_runtime_names(names: Iterable[str]) -> None:
    """Raise `PlaceholderRefused` for a placeholder that is a setting of the runtime."""
    for name in names:
        if not isinstance(name, str):
            raise PlaceholderRefused(f"a placeholder's name is a {type(name).__name__}, not text")
        if is_runtime_name(name):
            raise PlaceholderRefused(
                f"the placeholder '{name}' is a variable that the runtime reads itself",
                hint=_suggest_alternative(name),
            )


def _suggest_alternative(name: str) -> str:
    if name.upper() == BASE_URL:
        return "the platform's address belongs to the platform: HttpPlatform(…), or --base-url"
    if os.environ.get(name):
        return "give only what the flow needs, never the whole environment"
    return "give the placeholder another name"

"""Drops governed keys from answers and logs them; refuses placeholders with names of the runtime's settings.

In: a response, the result of a tool, or the answer of a person.  Out: the value without those keys.

    without_governed({"subject": "Hi", "approval_policy": {}}, where="the response to node 'draft'")
        -> {"subject": "Hi"}          log: R01_IGNORED: the response to node 'draft' holds …

Such keys could set nothing, because no answer reaches a governed channel.  But a later reader, such as a
screen, a child agent or a person, would believe that the value came from the host.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from cinatra_sdk.contract import BASE_URL, GOVERNED_KEYS
from cinatra_sdk.errors import PlaceholderRefused

log = logging.getLogger("oasflow.state")

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def find_governed(value: object) -> str:
    """A governed key in `value`, in words; empty where there is none."""
    name = min(_find_governed_keys(value), default="")
    return f"the key '{name}', which only the host sets" if name else ""


def without_governed(value: Any, *, where: str) -> Any:
    """`value` without governed keys at any depth; the same object where there is none."""
    found = _find_governed_keys(value)
    if not found:
        return value
    names = ", ".join(f"'{name}'" for name in sorted(found))
    log.warning("R01_IGNORED: %s holds %s, which only the host sets: dropped", where, names)
    return _remove_governed_keys(value)


def _find_governed_keys(value: object) -> set[str]:
    found: set[str] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        # Every answer is searched, and asking a plain dict whether it is a Mapping takes long.
        if type(item) is dict or isinstance(item, Mapping):
            if not GOVERNED_KEYS.isdisjoint(item):
                found |= GOVERNED_KEYS.intersection(item)
            stack += [inner for inner in item.values() if type(inner) not in _SCALARS]
        elif isinstance(item, list):
            stack += [inner for inner in item if type(inner) not in _SCALARS]
    return found


def _remove_governed_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            k: _remove_governed_keys(inner) for k, inner in value.items() if k not in GOVERNED_KEYS
        }
    return [_remove_governed_keys(inner) for inner in value] if isinstance(value, list) else value


# ----------------------------------------------------------------------------
# Names that a flow's `{{PLACEHOLDER}}` must not have: variables that the runtime itself reads.
#
#     refuse_runtime_names({"CRM_URL": "https://crm.example"})      fine
#     refuse_runtime_names({"CINATRA_BRIDGE_TOKEN": "…"})           PlaceholderRefused
#
# The person who starts a run names its placeholders, and the process that continues the run fills
# them in.  A name of a runtime setting would give the flow the settings of that process.


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

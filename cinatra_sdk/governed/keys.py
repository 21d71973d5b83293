"""Drops governed keys from answers, and names them in the log.

In: a response, the result of a tool, or the answer of a person.  Out: the value without those keys.

    without_governed({"subject": "Hi", "approval_policy": {}}, where="the response to node 'draft'")
        -> {"subject": "Hi"}          log: R01_IGNORED: the response to node 'draft' holds …

Such keys could set nothing: no answer reaches a governed channel.  But a later reader, a screen, a
child agent or a person, would believe that such a value came from the host.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from cinatra_sdk.contract import GOVERNED_KEYS

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

"""Puts the host's values in place of the sensitive fields that a file only names.

{"$component_ref": "crm.sensitive_headers"}   ->   {"Authorization": "Bearer …"}

Source: Agent Spec, SensitiveField.  The compiler knows which fields are sensitive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cinatra_sdk.data.author_json import JsonValue
from cinatra_sdk.data.ports import REFERENCE, REFERENCE_MARK
from cinatra_sdk.errors import NotConfigured


def read_name(value: object) -> str:
    """The name that a kept value stands for; empty: it is a value of its own."""
    if isinstance(value, str):
        return value.removeprefix(REFERENCE_MARK) if value.startswith(REFERENCE_MARK) else ""
    if isinstance(value, dict) and set(value) == {REFERENCE}:
        name = value[REFERENCE]
        return name if isinstance(name, str) else ""
    return ""


def lend_secrets(value: JsonValue, secrets: Mapping[str, Any] | None) -> Any:
    """`value` with the host's values; secrets: None where nothing will be called.

    Raises: `NotConfigured` for a name without one.
    """
    if secrets is None:
        return {} if read_name(value) else value
    return _fill(value, secrets)


def lend_text(value: object, secrets: Mapping[str, Any] | None) -> str:
    """A text, or the host's in place of its name; empty where there is none."""
    name = read_name(value)
    found = (secrets or {}).get(name) if name else value
    return found if isinstance(found, str) else ""


def list_secret_texts(secrets: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Every text among the values, to be cut out of whatever is kept."""
    return tuple(_list_texts(dict(secrets or {})))


def _fill(value: Any, secrets: Mapping[str, Any]) -> Any:
    name = read_name(value)
    if name:
        if name not in secrets:
            raise NotConfigured(
                f"the file names '{name}' without its value",
                hint="give it in components= or HostParts(secrets=…); at the command line, --components",
            )
        return secrets[name]
    if isinstance(value, dict):
        return {key: _fill(member, secrets) for key, member in value.items()}
    if isinstance(value, list):
        return [_fill(member, secrets) for member in value]
    return value


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _list_texts(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _list_texts(member)

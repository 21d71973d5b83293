"""Puts the host's values in where a file only names a sensitive field.

{"$component_ref": "crm.sensitive_headers"}   ->   {"Authorization": "Bearer …"}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cinatra_sdk.errors import NotConfigured
from oas_compiler.document.sensitive import SecretMissing, find_secrets
from oas_compiler.ir import JsonValue


def lend_secrets(value: JsonValue, secrets: Mapping[str, Any]) -> Any:
    """`value` with the host's values.

    Raises: `NotConfigured` for a name without one.
    """
    missing = ""
    try:
        return find_secrets(value, secrets)
    except SecretMissing as error:
        missing = str(error.args[0])
    raise NotConfigured(
        f"the file names '{missing}' without its value",
        hint="give it in components= or HostParts(secrets=…); at the command line, --components",
    )


def list_secret_texts(secrets: Mapping[str, Any]) -> tuple[str, ...]:
    """Every text among the values, to be cut out of whatever is kept."""
    return tuple(_list_texts(dict(secrets)))


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _list_texts(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _list_texts(member)

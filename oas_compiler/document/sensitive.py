"""Sensitive fields: their values may stand elsewhere, under the name `<id>.<field>`.

    {"api_key": {"$component_ref": "gpt.api_key"}}    ->  keep_name("gpt.api_key", "text")
    find_secret(kept, {"gpt.api_key": "sk-…"})        ->  "sk-…"

A reference that the document does not define is kept as it is, and the host's value is put in where
the field is used, and nowhere else.
Source: Agent Spec, SensitiveField.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.ir import JsonValue

SENSITIVE_FIELDS: Final = frozenset(
    {
        "api_key",
        "auth_file_location",
        "ca_file",
        "cert_file",
        "client_id",
        "client_id_metadata_url",
        "client_secret",
        "credentials",
        "dsn",
        "key_file",
        "password",
        "sensitive_headers",
        "ssl_ca_cert",
        "ssl_cert",
        "ssl_crl",
        "ssl_key",
        "sslkey",
        "user",
        "wallet_location",
        "wallet_password",
    }
)
_REFERENCE: Final = "$component_ref"
_MARK: Final = "$component_ref "
"""Begins a text that stands for a reference: fields of texts hold no objects."""


def is_sensitive_name(name: str) -> bool:
    """Whether the name is `<id>.<field>` of a sensitive field."""
    return "." in name and name.rpartition(".")[2] in SENSITIVE_FIELDS


def is_exported(name: str, pointer: str) -> bool:
    """Whether the reference at `pointer` is one of those that SDKs write for a sensitive field."""
    field = pointer.rpartition("/")[2]
    return field in SENSITIVE_FIELDS and name.endswith(f".{field}")


def keep_name(name: str, kind: str) -> JsonValue:
    """What stands in a field of that kind for the reference."""
    return _MARK + name if kind == "text" else {_REFERENCE: name}


def read_name(value: object) -> str:
    """The name that a kept value stands for; empty: it is a value of its own."""
    if isinstance(value, str):
        return value.removeprefix(_MARK) if value.startswith(_MARK) else ""
    if isinstance(value, dict) and set(value) == {_REFERENCE}:
        name = value[_REFERENCE]
        return name if isinstance(name, str) else ""
    return ""


class SecretMissing(KeyError):
    """No value is lent for the name."""


def find_secrets(value: JsonValue, secrets: Mapping[str, JsonValue]) -> JsonValue:
    """`value` with the values of all names in it.

    Raises: `SecretMissing`.
    """
    name = read_name(value)
    if name:
        if name not in secrets:
            raise SecretMissing(name)
        return secrets[name]
    if isinstance(value, dict):
        return {key: find_secrets(member, secrets) for key, member in value.items()}
    if isinstance(value, list):
        return [find_secrets(member, secrets) for member in value]
    return value

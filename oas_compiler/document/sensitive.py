"""Sensitive fields: their values may stand elsewhere, under the name `<id>.<field>`.

{"api_key": {"$component_ref": "gpt.api_key"}}    ->  keep_name("gpt.api_key", "text")

A reference that the document does not define is kept as it is; the host's value is put in where the
field is used, and nowhere else (`cinatra_sdk.values.sensitive`).
Source: Agent Spec, SensitiveField.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.values.references import REFERENCE, REFERENCE_MARK
from oas_compiler.ir import JsonValue

SENSITIVE_FIELDS: Final = frozenset(
    {
        "api_key",
        "auth_file_location",
        "ca_file",
        "cert_file",
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
        "wallet_location",
        "wallet_password",
    }
)


_NAMED_FIELDS: Final = SENSITIVE_FIELDS | {"client_id", "client_id_metadata_url", "user"}
"""Those of which SDKs write a name; of these three, a request's body may have members, too."""


def is_sensitive_name(name: str) -> bool:
    """Whether the name is `<id>.<field>` of a sensitive field."""
    return "." in name and name.rpartition(".")[2] in _NAMED_FIELDS


def is_exported(name: str, pointer: str) -> bool:
    """Whether the reference at `pointer`, a field or a member of it, is one of those that SDKs write
    for a sensitive field.
    """
    field = name.rpartition(".")[2]
    return is_sensitive_name(name) and field in pointer.split("/")[-2:]


def keep_name(name: str, kind: str) -> JsonValue:
    """What stands in a field of that kind for the reference."""
    return REFERENCE_MARK + name if kind == "text" else {REFERENCE: name}

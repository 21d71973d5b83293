"""A value under the name of a credential is never a literal, in any form.

    "headers": {"X-Api-Key": "d41d8cd9…"}, "url": "https://user:…@host/?token=…"   ->  OAS212 (warning)
    "args": ["--token", "d41d8cd9…"] of a program that is an MCP server            ->   OAS212
    "headers": {"X-Api-Key": "{{ key }}"}, "max_tokens": "200", "token": "count"

In a query or a sensitive header, a text that looks random counts under any name.  Credentials of
known shapes are reported by OAS204 and OAS205.  Metadata and schemas hold names and no values.
"""

from __future__ import annotations

from typing import Final

from oas_compiler.checks.credentials.value_shapes import (
    credential,
    find_argument_credentials,
    is_credential_name,
    is_stand_in,
    known_credential,
    looks_written,
    random_text,
    stands_under,
)
from oas_compiler.checks.safety.literal_credential import is_sent
from oas_compiler.checks.subject import Subject, Text
from oas_compiler.findings.rule import Report, rule

_HEADERS: Final = frozenset({"headers", "sensitive_headers"})
_SENT_TOO: Final = frozenset({"query_params", "sensitive_headers"})
"""Members that are sent and that Cinatra's V17 does not look at: a random text there is a token."""
_NO_VALUES: Final = frozenset(
    {"metadata", "json_schema", "mapping", "input_mapping", "output_mapping", "examples", "enum",
     "required", "branches"}
)  # fmt: skip
"""Members below which no value is sent."""


@rule(
    code="OAS212",
    name="credential-by-name",
    severity="warning",
    summary="A header, field or address that is named like a credential has its value written out.",
    fix="Remove it and let the platform add it at run time, or write a placeholder.",
    source="agent guide: credentials are never stored in an agent",
    needs="document",
    conceals=True,
    bad='"headers": {"X-Api-Key": "d41d8cd9…"}',
    good='"headers": {"X-Api-Key": "{{ api_key }}"}',
)
def credential_by_name(subject: Subject, report: Report) -> None:
    for text in subject.texts:
        where = _describe_credential(text)
        if where and not _is_known(text):
            report(
                f"{where} is written out",
                subject.place(text.pointer),
                hint="remove it and make it invalid; the platform authenticates the calls of a flow",
            )
    for argument in find_argument_credentials(subject):
        if not known_credential(argument.whole)[0]:
            report(
                f'the argument "{argument.name[:80]}" of a program is a credential and is written out',
                subject.place(argument.pointer),
                hint="remove it and make it invalid; let the program read it from a file of its machine",
            )


def is_told(text: Text) -> bool:
    """Whether this rule, OAS204 or OAS205 reports the text."""
    return names_credential(text) or _is_known(text)


def names_credential(text: Text) -> bool:
    """Whether the text's name or place makes it a credential."""
    return bool(_describe_credential(text))


def _describe_credential(text: Text) -> str:
    """The holder of a credential, for the beginning of a message; empty without a credential."""
    name = text.keys[-1] if text.keys else ""
    if is_credential_name(name):
        in_header = stands_under(text.keys[:-1], _HEADERS)
        if looks_written(name, text.value, in_header=in_header) and _is_value(text):
            return f'the credential "{name[:80]}"'
    if stands_under(text.keys, _SENT_TOO) and _is_random(text.value):
        return f'what "{name[:80]}" sends looks like a token and'
    if "://" in text.value or "?" in text.value or "@" in text.value:
        found = _in_address(name, text.value)
        return found if found and _is_value(text) else ""
    return ""


def _is_random(value: str) -> bool:
    return not is_stand_in(value) and bool(random_text(value))


def _is_value(text: Text) -> bool:
    return not stands_under(text.keys, _NO_VALUES)


def _is_known(text: Text) -> bool:
    """Whether OAS204 or OAS205 reports it."""
    if known_credential(text.value)[0]:
        return True
    return is_sent(text) and bool(credential(text.value))


def _in_address(name: str, value: str) -> str:
    value = value.strip()
    scheme, separator, rest = value.partition("://")
    is_whole = (
        bool(separator) and scheme.replace("+", "").isalnum() and not any(map(str.isspace, value))
    )
    if not is_whole and not name.casefold().endswith(("url", "uri")):
        return ""
    authority = rest
    for end in "/?#\\":
        authority = authority.partition(end)[0]
    user, _, password = authority.rpartition("@")[0].partition(":")
    if looks_written("password", password, in_header=True):
        return "the password in the address"
    if not password and looks_written("token", user, in_header=False):
        return "the credential in the address"
    _, _, query = value.partition("#")[0].partition("?")
    for pair in query.split("&"):
        key, _, given = pair.partition("=")
        if is_credential_name(key) and looks_written(key, given, in_header=False):
            return f'the credential "{key[:80]}" in the address'
        if _is_random(given):
            return "what looks like a token in the address"
    return ""

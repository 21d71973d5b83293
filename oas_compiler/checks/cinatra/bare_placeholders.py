"""The inputs that the host's pattern finds in the texts of an ApiNode.  Not a rule itself.

    "{{ a }} {{ b|tojson }} {# {{ c }} #} {{BASE_URL}}"    ->   {"a", "c"}

The host (and the runtime behind it) looks for names by this pattern, not by parsing the template:
a name with a filter is not seen, a name in a comment is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from oas_compiler.checks.subject import Written
from oas_compiler.templates.reading import (
    TemplateInvalid,
    TemplateReader,
    is_environment_name,
    strings,
)

PARSED = ("url", "http_method", "data", "query_params", "headers")
"""Fields whose templates are parsed while a flow is built (OAS080, OAS081)."""
SEARCHED = (*PARSED, "api_spec_uri")
"""Fields that the host's pattern is applied to."""

_HIDING = ("{#", "{%", "'", '"')
"""Signs of comments, blocks and quotes: only inside these is a name not looked up."""
_BARE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def templates(node: Written, fields: tuple[str, ...] = SEARCHED) -> Iterator[tuple[str, str]]:
    """Every text of these fields that could be a template, keys included, with its pointer."""
    for field in fields:
        yield from strings(node.value.get(field), node.at(field))


def bare_names(text: str) -> set[str]:
    """The names that the pattern finds, without names of the environment."""
    return {name for name in _BARE.findall(text) if not is_environment_name(name)}


def used_names(text: str, reader: TemplateReader) -> frozenset[str] | None:
    """The names of the pattern that rendering may look up.

    `None` when the text is no valid template, or when the document has too many to tell.
    """
    if not any(mark in text for mark in _HIDING):
        return frozenset(bare_names(text))  # the common case, without parsing
    try:
        return frozenset(reader.names(text))
    except TemplateInvalid:
        return None

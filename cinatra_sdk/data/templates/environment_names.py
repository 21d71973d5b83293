"""Placeholders of the environment: `{{UPPER_CASE}}` names, which no flow feeds.

fill_environment("{{CRM_URL}}/people/{{ id }}", {"CRM_URL": "https://crm.example"})
    ->  "https://crm.example/people/{{ id }}"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from cinatra_sdk.data.author_json import JsonValue

ENVIRONMENT_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]*")
ENVIRONMENT_PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Z][A-Z0-9_]*)\s*\}\}")


def find_open(written: Mapping[str, JsonValue]) -> dict[str, str]:
    """Of an author's headers those with a placeholder, after `fill_environment`."""
    texts = {header: text for header, text in written.items() if isinstance(text, str)}
    return {header: text for header, text in texts.items() if ENVIRONMENT_PLACEHOLDER.search(text)}


def list_unfilled(
    written: Mapping[str, str], sent: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Headers that would be sent with a placeholder in them, each with the placeholder's name.

    written: of `find_open`: a value of the run that spells a placeholder is none.
    sent:    the headers with everything put in.
    """
    return tuple(
        (header, name)
        for header, text in written.items()
        for name in dict.fromkeys(ENVIRONMENT_PLACEHOLDER.findall(text))
        if name in ENVIRONMENT_PLACEHOLDER.findall(sent.get(header, ""))
    )


def describe_unfilled(header: str, name: str) -> str:
    """What is wrong with such a header, and what to do."""
    return (
        f'the placeholder {{{{{name}}}}} in the header "{header}" has no value; give it one by '
        f"`env` (--env {name}=… at the command line)"
    )


def fill_environment(value: JsonValue, env: Mapping[str, str]) -> JsonValue:
    """`value` with `{{NAME}}` replaced in its strings where `env` knows NAME.

    Works on decoded values, so that positions in the text stay right and nothing in a
    variable can break out of a string.  Keys stay as they are.
    """
    if isinstance(value, str):
        if "{{" not in value:
            return value
        return ENVIRONMENT_PLACEHOLDER.sub(lambda found: str(env.get(found[1], found[0])), value)
    if isinstance(value, list):
        return [fill_environment(item, env) for item in value]
    if isinstance(value, dict):
        return {key: fill_environment(member, env) for key, member in value.items()}
    return value

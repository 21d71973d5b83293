"""Placeholders of the environment: `{{UPPER_CASE}}` names, which no flow feeds.

fill_environment("{{CRM_URL}}/people/{{ id }}", {"CRM_URL": "https://crm.example"})
    ->  "https://crm.example/people/{{ id }}"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from cinatra_sdk.values.json_text import JsonValue

ENVIRONMENT_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]*")
ENVIRONMENT_PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Z][A-Z0-9_]*)\s*\}\}")


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

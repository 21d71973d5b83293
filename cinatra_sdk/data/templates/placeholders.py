"""Placeholders that need no parser: those of the environment, and all of a template of the common kind.

    fill_environment("{{CRM_URL}}/people/{{ id }}", {"CRM_URL": "https://crm.example"})
        ->  "https://crm.example/people/{{ id }}"
    parts_of("Dear {{ name }}, {{ refs[0].id|tojson }}")
        ->  ("Dear ", Put(("name",)), ", ", Put(("refs", 0, "id"), as_json=True))
    parts_of('{{ "{" }}% of {{ n }}')    ->  ("{", "% of ", Put(("n",)))
    parts_of("{% if a %}…")      ->  (): Jinja reads it

A placeholder of the environment is an `{{UPPER_CASE}}` name, which no flow feeds.
Most templates are of the common kind, and Jinja needs some 50 µs for each of their characters.  The
result equals Jinja's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from cinatra_sdk.data.author_json import JsonValue
from cinatra_sdk.light_imports.records import dataclass

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


MARKS: Final = re.compile(r"\{\{|\{%|\{#")
"""What begins a placeholder, a block or a comment."""

BY_NAME: Final = "\ue003"
"""Stands before a name that is one whatever the word means to Jinja: the `true` of plain Agent Spec.

Only a compiler writes it: a letter for private use, which no keyboard has.
"""

_PATH: Final = re.compile(
    r"\{\{[ \t\n]*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:0|[1-9][0-9]{0,8})\])*|[0-9]+[A-Za-z_]\w*)"
    r"[ \t\n]*(\|[ \t\n]*tojson[ \t\n]*)?\}\}|\{\{ \"(\{)\" \}\}"
    rf"|\{{\{{{BY_NAME}([^{{}}]+)\}}\}}",
    re.ASCII,
)
_STEP: Final = re.compile(r"[0-9]*[A-Za-z_]\w*|[0-9]+", re.ASCII)
_NUMBER: Final = re.compile(
    r"0[xX][0-9A-Fa-f_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9][0-9_]*(?:[eE][0-9][0-9_]*)?", re.ASCII
)
"""What begins with a digit and is a number to Jinja; any other such word is a name here."""
_NO_NAMES: Final = frozenset(
    {
        "and", "or", "not", "if", "else", "elif", "in", "is", "true", "false", "none", "True",
        "False", "None", "self", "super", "loop", "caller", "varargs", "kwargs",
    }
)  # fmt: skip
"""Words that mean something else to Jinja than a name of a value."""

Path: TypeAlias = "tuple[str | int, ...]"
"""A name, and the keys and indexes that lead on from its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A placeholder of the common kind."""

    path: Path
    as_json: bool = False


def is_simple(text: str) -> bool:
    """Whether `text` has no other placeholders than paths, so that no parser reads it."""
    return bool(parts_of(text))


def parts_of(text: str) -> tuple[str | Put, ...]:
    """Text and paths in turn; empty where the template has anything else, which Jinja reads."""
    if "\r" in text:
        return ()  # Jinja writes other line ends
    parts: list[str | Put] = []
    done = 0
    for found in _PATH.finditer(text):
        # "{{{" begins a placeholder one character earlier.
        if text.endswith("{", done, found.start()):
            return ()
        if found.start() > done:
            parts.append(text[done : found.start()])
        done = found.end()
        if found[3] is not None:
            parts.append(found[3])
            continue
        if found[4] is not None:
            parts.append(Put(path=(found[4],)))
            continue
        steps = _STEP.findall(found[1])
        if not _NO_NAMES.isdisjoint(steps) or _NUMBER.fullmatch(steps[0]):
            return ()
        path = tuple(int(step) if step.isdigit() else step for step in steps)
        parts.append(Put(path=path, as_json=found[2] is not None))
    if done < len(text):
        parts.append(text[done:])
    plain = (part for part in parts if isinstance(part, str))
    return () if any(MARKS.search(part) for part in plain) else tuple(parts)

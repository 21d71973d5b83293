"""Templates of plain Agent Spec, written in the template language of this project.

    "{{ a }} of {{ b.c }}"   ->   '{{ a }} of {{ "{" }}{ b.c }}'
    "100 {% of {{a}}"        ->   '100 {{ "{" }}% of {{a}}'
    "{{ a }}"                ->   the same
    "{{ true }}"             ->   the input of that name, marked as a name

Agent Spec has one placeholder, `{{ name }}`; every other brace is text.  This project's language has
paths, filters and blocks too, so what it would read in such a text is written as text.
Source: Agent Spec, placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from oas_compiler.ir import JsonValue
from oas_compiler.templates.reading import write_placeholder

_PLACEHOLDER: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_LINE_END: Final = re.compile(r"\r\n?")
_MARK: Final = re.compile(r"\{(?=[{%#])")
_WRITTEN: Final = '{{ "{" }}'
_WIDER: Final = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}")


def write_templates(value: JsonValue) -> JsonValue:
    """Every text below `value`, keys too, as a template that puts out what Agent Spec says."""
    if isinstance(value, str):
        return _write_template(value)
    if isinstance(value, list):
        return [write_templates(item) for item in value]
    if isinstance(value, dict):
        return {_write_template(key): write_templates(item) for key, item in value.items()}
    return value


def find_wider(value: JsonValue) -> str:
    """The first text between marks that only a wider language reads; empty without any."""
    return next(_iterate_wider(value), "")


def _write_template(text: str) -> str:
    if "{" not in text:
        return text
    pieces, done, is_renewed = [], 0, False
    for found in _PLACEHOLDER.finditer(text):
        placeholder = write_placeholder(found[1], found[0])
        is_renewed |= placeholder != found[0]
        pieces += [_write_text(text[done : found.start()], before=True), placeholder]
        done = found.end()
    written = "".join([*pieces, _write_text(text[done:], before=False)])
    # as Jinja writes them, which cannot read a marked name
    return _LINE_END.sub("\n", written) if is_renewed else written


def _write_text(text: str, *, before: bool) -> str:
    """before: whether a placeholder follows, whose first brace a brace at the end would join."""
    written = _MARK.sub(_WRITTEN, text)
    return written[:-1] + _WRITTEN if before and text.endswith("{") else written


def _iterate_wider(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        for found in _WIDER.finditer(value):
            if not _PLACEHOLDER.fullmatch(found[0]):
                yield found[0]
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_wider(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _iterate_wider(key)
            yield from _iterate_wider(item)

r"""Where literal credentials stand in a text, whatever rules have looked at it.

    'headers: {X-Api-Key: &k d41d8cd9…}\nother: *k'     ->    [(20, 35)]      offsets of the value
    'headers: {X-Api-Key: "{{ api_key }}"}'              ->    []
    '{"headers": {'                                      ->    None            no document

An error ends the compiling of a flow before any rule looks for credentials, so an excerpt cannot rely
on findings.  What counts as one is said by `checks/concealed.py`, as for every command that shows a flow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from oas_compiler.rewriting.spans import Span, spans

Range = tuple[int, int]
_Leaf = tuple[str, tuple[str, ...], Range]
"""A text, the names of the members around it, and where it stands."""
_LARGEST: Final = 2_000_000
"""Characters of a text that is read as a document again."""
_MOST_LEAVES: Final = 200_000
"""Texts that are looked at; aliases of YAML can make any number of them."""
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class _TooMuch(Exception):
    """The text is no document that can be read again."""


def find_written_secrets(text: str) -> list[Range] | None:
    """The range of every value that is a credential; None where the text is no document."""
    if len(text) > _LARGEST:
        return None
    try:
        return list(dict.fromkeys(_find_ranges(text)))
    except (_TooMuch, ValueError, IndexError, RecursionError):
        return None


def _find_ranges(text: str) -> Iterator[Range]:
    # imported late: reports have mostly no need of them
    from oas_compiler.checks.concealed import holds_credential
    from oas_compiler.checks.program_arguments import find_listed_credentials
    from oas_compiler.checks.subject import Text

    for number, listed in enumerate(_read_lists(text)):
        if number > _MOST_LEAVES:
            raise _TooMuch
        for value, keys, place in listed:
            if holds_credential(Text(value, "", keys)):
                yield place
        if len(listed) > 1:
            chosen = find_listed_credentials([value for value, _, _ in listed])
            yield from (listed[argument.position][2] for argument in chosen)


def _read_lists(text: str) -> Iterator[list[_Leaf]]:
    """The texts of each list together, and every other text alone."""
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        try:
            root = spans(text)
        except (ValueError, IndexError):
            pass  # YAML in brackets
        else:
            yield from _walk_json(text, root)
            return
    from oas_compiler.rewriting.yaml_places import lists_of  # brings the library of YAML

    found = lists_of(text)
    if found is None:
        raise _TooMuch
    for listed in found:
        yield [(value, tuple(map(_written_name, keys)), place) for value, keys, place in listed]


def _walk_json(text: str, root: Span) -> Iterator[list[_Leaf]]:
    stack: list[tuple[Span, tuple[str, ...]]] = [(root, ())]
    while stack:
        span, keys = stack.pop()
        if span.opens == "{":
            stack += [(child, (*keys, _written_name(key))) for key, child in span.children.items()]
            continue
        listed = []
        for child in span.children.values() if span.opens else (span,):
            if child.opens:
                stack.append((child, keys))
            elif text[child.start] == '"':
                listed.append(
                    (
                        json.loads(text[child.start : child.end], strict=False),
                        keys,
                        (child.start, child.end),
                    )
                )
        if listed:
            yield listed


def _written_name(key: str) -> str:
    """The key as rules know it: `sensitiveHeaders` is `sensitive_headers` to them."""
    if key.islower() or "-" in key:
        return key
    return _HUMP.sub("_", key).lower() if _HUMP.search(key) else key

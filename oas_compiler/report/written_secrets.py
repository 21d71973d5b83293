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
from typing import Final, NamedTuple

from oas_compiler.rewriting.spans import Span, spans

Range = tuple[int, int]


class _Leaf(NamedTuple):
    """A text of the file."""

    value: str
    keys: tuple[str, ...]
    """The names of the members around it."""
    place: Range
    label: str = ""
    """What the object around it calls it, as `Text.label` does."""
    is_name: bool = False
    """Whether it is the name of a member itself, of the object under `keys`."""


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
    from oas_compiler.checks.subject import Text, find_pair_label
    from oas_compiler.checks.written_credentials import is_written_name, names_are_sent

    for number, listed in enumerate(_read_lists(text)):
        if number > _MOST_LEAVES:
            raise _TooMuch
        values = [leaf.value for leaf in listed]
        for index, leaf in enumerate(listed):
            if leaf.is_name:
                if is_written_name(leaf.value, is_sent=names_are_sent(leaf.keys)):
                    yield leaf.place
                continue
            label = find_pair_label(values, index) or leaf.label
            if holds_credential(Text(leaf.value, "", leaf.keys, label)):
                yield leaf.place
        if len(listed) > 1:
            chosen = find_listed_credentials(values)
            yield from (listed[argument.position].place for argument in chosen)


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
    from oas_compiler.checks.subject import find_label

    for listed in found:
        yield [
            _Leaf(
                leaf.value,
                tuple(map(_written_name, leaf.keys)),
                leaf.place,
                find_label(leaf.keys[-1], leaf.siblings) if leaf.keys else "",
                leaf.is_name,
            )
            for leaf in listed
        ]


def _walk_json(text: str, root: Span) -> Iterator[list[_Leaf]]:
    from oas_compiler.checks.subject import find_label

    stack: list[tuple[Span, tuple[str, ...], str]] = [(root, (), "")]
    while stack:
        span, keys, label = stack.pop()
        if span.opens == "{":
            members = span.children
            siblings = {
                key: _read_text(text, child) for key, child in members.items() if not child.opens
            }
            for key, child in members.items():
                name = _written_name(key)
                stack.append((child, (*keys, name), find_label(name, siblings)))
            yield [
                _Leaf(key, keys, (child.member, child.after_key), is_name=True)
                for key, child in members.items()
            ]
            continue
        listed = []
        for child in span.children.values() if span.opens else (span,):
            if child.opens:
                stack.append((child, keys, ""))
            elif (value := _read_text(text, child)) is not None:
                listed.append(_Leaf(value, keys, (child.start, child.end), label))
        if listed:
            yield listed


def _read_text(text: str, span: Span) -> str | None:
    """The text that a value is; None for another value."""
    if text[span.start] != '"':
        return None
    return str(json.loads(text[span.start : span.end], strict=False))


def _written_name(key: str) -> str:
    """The key as rules know it: `sensitiveHeaders` is `sensitive_headers` to them."""
    if key.islower() or "-" in key:
        return key
    return _HUMP.sub("_", key).lower() if _HUMP.search(key) else key

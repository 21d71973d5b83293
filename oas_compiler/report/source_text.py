"""The source lines that findings point at, and the names of files in reports; credentials starred.

texts = SourceTexts(findings)
texts.line(finding)        ->  '      "component_type": "EnNode",'      credentials starred
width(line, column=7)      ->  16                                       "component_type"
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import Final, NamedTuple
from urllib.parse import quote

from oas_compiler.findings.finding import Finding
from oas_compiler.text.file_access import read_shown
from oas_compiler.text.safe_text import kind_of_secret, without_secrets
from oas_compiler.text_edits.json_edits import Span, spans

# ----------------------------------------------------------------------------
# Names of files in reports, for a program in the working directory.
#
# path_from_here("/home/ann/agents/a b.json")    ->    "agents/a b.json"    (working in /home/ann)
# uri("agents/a b.json")                         ->    "agents/a%20b.json"
# uri("/etc/x.json")                             ->    "file:///etc/x.json"


def path_from_here(file: str) -> str:
    """Relative where the file is below the working directory, else absolute."""
    try:
        here = os.getcwd()  # noqa: PTH109 - text is what is compared
    except OSError:
        return file
    # Drives and symbolic links are not resolved, so that the given name stays.
    whole = os.path.normpath(os.path.join(here, file))  # noqa: PTH118 - text is what is compared
    below = whole.removeprefix(here.rstrip(os.sep) + os.sep)
    return below if below != whole else whole


def uri(file: str) -> str:
    """The file as a URI reference (RFC 3986); bytes that are not UTF-8 are kept."""
    path = path_from_here(file)
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:  # half of a surrogate pair: no file has such a name
        raw = path.encode("utf-8", "replace")
    quoted = quote(raw, safe="/")
    return f"file://{quoted}" if path.startswith("/") else quoted


# ----------------------------------------------------------------------------
# Where literal credentials stand in a text, whatever rules have looked at it.
#
#     'headers: {X-Api-Key: &k d41d8cd9…}\nother: *k'     ->    [(20, 35)]      offsets of the value
#     'headers: {X-Api-Key: "{{ api_key }}"}'              ->    []
#     '{"headers": {'                                      ->    None            no document
#
# An error ends the compiling of a flow before any rule looks for credentials, so an excerpt cannot rely
# on findings.  What counts as one is said by `checks/credentials/credential_cover.py`, as for every command that shows a flow.


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
    is_number: bool = False


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
    from oas_compiler.checks.credentials.credential_cover import holds_credential
    from oas_compiler.checks.credentials.credential_literals import is_written_name, names_are_sent
    from oas_compiler.checks.credentials.value_shapes import find_listed_credentials
    from oas_compiler.checks.subject import Text, find_pair_label

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
            if holds_credential(Text(leaf.value, "", leaf.keys, label, is_number=leaf.is_number)):
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
    from oas_compiler.text_edits.yaml_edits import lists_of  # brings the library of YAML

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
            elif text[child.start].isdigit() or text[child.start] == "-":
                place = (child.start, child.end)
                listed.append(_Leaf(text[slice(*place)], keys, place, label, is_number=True))
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


# ----------------------------------------------------------------------------
# The text of a file, in which every literal credential is starred, with or without a finding.
#
#     masked('"key": "d41d8cd98f00"', [finding of that place])    ->    '"key": "************"'
#
# Every character keeps its position, so that columns and underlines stay right.


_KEY: Final = re.compile(r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s:"'\n][^:\n]*):(?=\s)""")
"""The key of a YAML mapping."""
_COMMENT: Final = re.compile(r"(?:(?<=\s)|^)#[^\n]*", re.MULTILINE)
"""A comment of YAML, or what looks like one in another text."""
_NAME: Final = re.compile(r"""(?<![\w-])(?P<name>[\w-]{5,80})["']?\s*:\s*""")
"""A name and its colon, in a text that may be neither JSON nor YAML."""
_VALUE: Final = re.compile(
    r"""[|>][^\n]*(?:\n[ \t]+[^\n]*)*"""
    r"""|"[^"\\]*(?:\\.[^"\\]*)*"?|'[^']*'?|[^\s"',{}\[\]][^\n,{}\[\]]*""",
    re.DOTALL,
)
_SCHEME: Final = re.compile(r"^(?:bearer|basic|token|apikey|digest)\s+(\S+)$", re.IGNORECASE)
_RUN: Final = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_HEX: Final = re.compile(r"[0-9a-fA-F]{24,}")
_SHORTEST_AGAIN: Final = 8
"""Length from which other occurrences of a value are starred; shorter values occur inside ordinary
words.
"""
_MOST_AGAIN: Final = 200
_FIRST_READ: Final = "OAS010"
"""Findings with smaller codes say that a document could not be read: no rule has checked it."""


def masked(text: str, findings: Iterable[Finding]) -> str:
    """The text of a file, in which every value that is a credential is starred.

    Which values are is read from the text itself, and from the findings of a check.  In an unreadable
    document no rule can find them: every possible credential is starred.
    """
    listed = list(findings)
    secrets = [finding for finding in listed if is_about_a_secret(finding)]
    written = find_written_secrets(text) if text else []
    places = [*(written or ()), *_find_in_comments(text)]
    if secrets:
        root, lines = _find_json_spans(text), _Lines(text)
        places += [_find_secret_range(finding, root, lines) for finding in secrets]
    whole = [*places, *_find_repeated_values(text, places)]
    starred = _star_ranges(text, whole)
    if written is None or _is_half_known(listed, secrets):
        return _without_likely_secrets(starred)
    return starred


def _find_repeated_values(
    text: str, places: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Other places of the same values: a credential in one place is a credential everywhere."""
    written = (text[start:end].strip().strip("\"'") for start, end in places)
    # also without its scheme: `Bearer abc` in a header, `abc` in a body
    values = dict.fromkeys(part for value in written for part in (value, *_SCHEME.findall(value)))
    for value in islice((one for one in values if len(one) >= _SHORTEST_AGAIN), _MOST_AGAIN):
        yield from (found.span() for found in re.finditer(re.escape(value), text))


def _find_in_comments(text: str) -> Iterator[tuple[int, int]]:
    """Credentials in what YAML leaves out, and no document therefore holds."""
    if "#" not in text:
        return
    # imported late: reports have mostly no need of them
    from oas_compiler.checks.credentials.credential_literals import find_written
    from oas_compiler.checks.subject import Text

    for comment in _COMMENT.finditer(text):
        for secret in find_written(Text(comment[0], "", ())):
            at = text.find(secret, comment.start(), comment.end())
            if at >= 0:
                yield at, at + len(secret)


def _find_secret_range(finding: Finding, root: Span | None, lines: _Lines) -> tuple[int, int]:
    # A finding without a pointer has a place in a text, not in a document.
    if not finding.pointer:
        return lines.below(finding)
    span = root.find(finding.pointer) if root is not None else None
    if span is not None:
        return span.start, span.end
    return (lines.values or {}).get((finding.line, finding.column)) or lines.below(finding)


def _is_half_known(findings: Sequence[Finding], secrets: Sequence[Finding]) -> bool:
    """Whether the file may contain credentials without a finding."""
    if any(finding.code.startswith("OAS") and finding.code < _FIRST_READ for finding in findings):
        return True
    from oas_compiler.findings.finding import MAX_PER_CODE  # on first use

    return any(number > MAX_PER_CODE for number in Counter(one.code for one in secrets).values())


def _without_likely_secrets(text: str) -> str:
    """`text` with the values of names like "password" starred, and every word that looks random."""
    # imported late: reports have mostly no need of it
    from oas_compiler.checks.credentials.credential_names import is_password_name
    from oas_compiler.checks.credentials.value_shapes import is_credential_name

    parts, at = [], 0
    for found in _NAME.finditer(text):
        name = found["name"]
        if found.end() < at or not (is_credential_name(name) or is_password_name(name)):
            continue
        value = _VALUE.match(text, found.end())
        if value is not None:
            parts += [text[at : value.start()], _star_value(value[0])]
            at = value.end()
    return _RUN.sub(_without_random, "".join([*parts, text[at:]]))


def _without_random(found: re.Match[str]) -> str:
    from oas_compiler.checks.credentials.value_shapes import credential  # imported late, as above

    word = found[0]
    looks_hex = any(not (one.isdigit() or one.isalpha()) for one in _HEX.findall(word))
    return _star_value(word) if looks_hex or credential(word) else word


def _find_json_spans(text: str) -> Span | None:
    try:
        return spans(text) if text.lstrip().startswith(("{", "[")) else None
    except (ValueError, IndexError):
        return None  # YAML in brackets, or a file that changed meanwhile


def is_about_a_secret(finding: Finding) -> bool:
    """Whether the value that a finding points at must not be shown."""
    # imported late: the catalog loads every rule, and most reports have no need of it
    from oas_compiler.catalog import find

    card = find(finding.code)
    return card is not None and card.conceals


class _Lines:
    """A text that is no JSON: indentation shows where the value at a place ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))

    @cached_property
    def values(self) -> dict[tuple[int, int], tuple[int, int]] | None:
        """The positions of all values of a YAML document."""
        from oas_compiler.text_edits.yaml_edits import values_of  # on first use

        return values_of(self._text)

    def below(self, finding: Finding) -> tuple[int, int]:
        """The text from the key at the place to the first line that is not indented deeper."""
        number, depth = finding.line - 1, max(finding.column - 1, 0)
        if not 0 <= number < len(self._lines):
            return 0, 0
        start = self._starts[number] + min(depth, len(self._lines[number]))
        key = _KEY.match(self._text, start)
        last = number + 1
        while last < len(self._lines) and self._is_inside(self._lines[last], depth):
            last += 1
        return (key.end() if key else start), min(self._starts[last], len(self._text))

    @staticmethod
    def _is_inside(line: str, depth: int) -> bool:
        return not line.strip() or len(line) - len(line.lstrip(" ")) > depth


def _star_ranges(text: str, places: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(places):
        if end <= at:
            continue
        first = max(start, at)
        parts += [text[at:first], _star_value(text[first:end])]
        at = end
    return "".join([*parts, text[at:]])


def _star_value(value: str) -> str:
    """Stars for everything but blanks, the quotes around it and the kind of the credential."""
    shown = kind_of_secret(value)
    quoted = value[:1] in {'"', "'"} and value[-1:] == value[:1]
    ends = {0, len(value) - 1} if quoted else set()
    return "".join(
        character if index in shown or index in ends or character.isspace() else "*"
        for index, character in enumerate(value)
    )


MAX_SOURCE: Final = 32 * 1024 * 1024
"""Bytes of a file that are read; no larger file can be checked."""
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,:\[\]{}"]+')


class SourceTexts:
    """The texts of all files of a report, each read once."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings: dict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            self._findings[finding.file].append(finding)
        self._texts: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}
        self._shown: dict[tuple[str, int], str] = {}

    def text(self, file: str) -> str:
        """The whole unmasked text; empty where it cannot be read."""
        if file not in self._texts:
            self._texts[file] = _read_file_text(file)
        return self._texts[file]

    def line(self, finding: Finding) -> str | None:
        """The line of the finding, safe to show; `None` without a line."""
        if finding.file not in self._lines:
            whole = masked(self.text(finding.file), self._findings[finding.file])
            self._lines[finding.file] = whole.split("\n") if whole else []
        lines = self._lines[finding.file]
        if not 0 < finding.line <= len(lines):
            return None
        place = (finding.file, finding.line)
        if place not in self._shown:
            # Mask the whole line before shortening it: half of a credential is not recognised.
            self._shown[place] = without_secrets(lines[finding.line - 1])
        return self._shown[place]


def width(line: str, column: int) -> int:
    """Characters of the word, number or quoted text at `column` (1-based); at least 1."""
    found = _TOKEN.match(line, column - 1)
    return found.end() - found.start() if found else 1


def _read_file_text(file: str) -> str:
    if not file:
        return ""
    try:
        raw = read_shown(file, MAX_SOURCE)
    except (OSError, ValueError):
        return ""  # the finding itself reports the problem of the file
    return raw.decode("utf-8-sig", errors="replace")

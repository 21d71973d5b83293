"""YAML text in, value and positions out: the part of YAML that is JSON written otherwise.

    mapping:            ->  {"mapping": {"yes": "go", "1": "stop"}}
      yes: go               (YAML 1.2 words: yes, no, on, off and dates are strings;
      1: stop                a number or true/false as a key is its JSON text)

Anchors, aliases, tags and several documents are refused: a reader must see what is there.
Built on parser events, not on a composed tree, because composing is recursive.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

import yaml

from oas_compiler.bounds import MAX_DEPTH, MAX_FINDINGS, MAX_VALUES
from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import JsonValue
from oas_compiler.marks import ROOT, Marks

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LONGEST_INTEGER = 20
_STRING_TAG = "tag:yaml.org,2002:str"


@dataclass(slots=True)
class _Open:
    """A mapping or sequence that is being read."""

    value: dict[str, JsonValue] | list[JsonValue]
    number: int
    key: str | None = None
    key_number: int = ROOT


class _Refused(Exception):
    """Reading cannot go on; the finding has been recorded."""


def read_yaml(text: str, findings: Diagnostics) -> tuple[JsonValue, Marks] | None:
    """Decode `text`; `None` when it cannot be read, with the findings that say why."""
    reader = _Reader(text, findings)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except _Refused:
        return None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = reader.marks.at(min(mark.index, len(text)) if mark else 0)
        findings.error("OAS004", f"not YAML: {error.problem or 'syntax error'}", place)
        return None
    except yaml.reader.ReaderError as error:
        place = reader.marks.at(min(max(error.position, 0), len(text)))
        findings.error("OAS004", f"not YAML: {error.reason}", place)
        return None
    if not reader.documents:
        findings.error("OAS004", "the document is empty")
        return None
    return None if findings.errors else (reader.root, reader.marks)


class _Reader:
    """Builds the value from events, with an explicit stack."""

    def __init__(self, text: str, findings: Diagnostics) -> None:
        self.marks = Marks(text)
        self.root: JsonValue = None
        self.documents = 0
        self._findings = findings
        self._open: list[_Open] = []
        self._count = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                self._stop("OAS008", "a file holds one YAML document, this one has more", event)
        elif isinstance(event, yaml.AliasEvent):
            self._stop(
                "OAS008",
                "YAML aliases are refused",
                event,
                hint="write the value out, or use $component_ref",
            )
        elif isinstance(event, yaml.NodeEvent):
            self._node(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()

    def _node(self, event: yaml.NodeEvent) -> None:
        if event.anchor is not None:
            self._stop("OAS008", f"the YAML anchor &{event.anchor} is refused", event)
        tag = getattr(event, "tag", None)
        if tag not in {None, "!", _STRING_TAG}:
            self._stop("OAS008", f"the YAML tag {tag} is refused", event, hint="remove the tag")
        top = self._open[-1] if self._open else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            self._key(top, event)
            return
        number = self._number(top, event)
        self._count += 1
        if self._count > MAX_VALUES:
            self._stop("OAS006", f"the document holds more than {MAX_VALUES:,} values", event)
        if isinstance(event, yaml.ScalarEvent):
            self._put(top, _scalar(event))
            return
        if len(self._open) >= MAX_DEPTH:
            self._stop("OAS006", f"the document nests deeper than {MAX_DEPTH} levels", event)
        value: dict[str, JsonValue] | list[JsonValue] = (
            {} if isinstance(event, yaml.MappingStartEvent) else []
        )
        self._put(top, value)
        self._open.append(_Open(value, number))

    def _number(self, top: _Open | None, event: yaml.NodeEvent) -> int:
        if top is None:
            return ROOT
        if isinstance(top.value, list):
            return self.marks.add(top.number, len(top.value), _offset(event))
        return top.key_number

    def _put(self, top: _Open | None, value: JsonValue) -> None:
        if top is None:
            self.root = value
        elif isinstance(top.value, list):
            top.value.append(value)
        else:
            assert top.key is not None
            top.value[top.key] = value
            top.key = None

    def _key(self, top: _Open, event: yaml.NodeEvent) -> None:
        if not isinstance(event, yaml.ScalarEvent):
            self._stop("OAS008", "a key must be a string, not a list or mapping", event)
        key = _key_text(event)
        if key is None:
            self._stop("OAS008", "a key must be a string, not null", event, hint='write it as ""')
        if self.marks.has(top.number, key):
            self._findings.error(
                "OAS005",
                f'the key "{key[:80]}" stands twice in one object',
                self.marks.at(_offset(event)),
                hint="keep one of the two: readers disagree about which one counts",
            )
            if len(self._findings) >= MAX_FINDINGS:
                raise _Refused
        top.key = key
        top.key_number = self.marks.add(top.number, key, _offset(event))

    def _stop(self, code: str, message: str, event: yaml.Event, *, hint: str = "") -> NoReturn:
        self._findings.error(code, message, self.marks.at(_offset(event)), hint=hint)
        raise _Refused


def _offset(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark is not None else 0


def _is_plain(event: yaml.ScalarEvent) -> bool:
    """Whether the scalar stands without quotes and without a tag, so that its form decides."""
    return bool(event.implicit[0])


def _key_text(event: yaml.ScalarEvent) -> str | None:
    if not _is_plain(event):
        return str(event.value)
    value = _scalar(event)
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    # a decimal integer is written as JSON writes it; any other key is the author's own text
    return str(value) if isinstance(value, int) else str(event.value)


def _scalar(event: yaml.ScalarEvent) -> str | float | bool | None:
    """The value of a scalar by the core schema of YAML 1.2."""
    text = str(event.value)
    if not _is_plain(event):
        return text
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= _LONGEST_INTEGER else 2**63
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0) if len(text) <= _LONGEST_INTEGER else 2**63
    if _NUMBER.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return float(text.lower().replace(".", ""))
    return text

"""Edits of a YAML document as the smallest changes of its text; comments stay.

    start_node:                   Edit("/startnode", key="start_node")     start_node:
      $component_ref: a   # 1     ---------------------------------->        $component_ref: a   # 1

A change that would touch a comment, or need a new layout of the text, is refused (`CannotEdit`):
then the finding tells the author what to write.  Values are written on one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import yaml

from oas_compiler.findings.finding import Findings
from oas_compiler.ir import Json
from oas_compiler.text.source import is_plain
from oas_compiler.text.yaml_text import read_yaml
from oas_compiler.text_edits.json_edits import (
    CannotEdit,
    Changes,
    Chosen,
    Replacement,
    Span,
    Style,
    changed,
)

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][\w$-]*")
_COMMENT: Final = re.compile(r"(^|\s)#")
_LONE_BREAK: Final = re.compile(r"\r(?!\n)")
"""A line break for YAML and for no tool that cuts a text into lines; this one does so by `\\n`."""
_BLOCK_TEXT: Final = re.compile(r"(?:[!&]\S*[ \t]+)*[|>](?P<says>[-+\d]*)[ \t]*(?:#.*)?(?=\r?\n)")
"""What a text in lines of its own begins with: `|`, `>-`, `|+`."""
_NO_PLACE: Final = "its lines would have to be laid out anew"
_INDENTED_COMMENT: Final = re.compile(r"(?:[ \t]*\r?\n)*[ \t]+#")


class YamlRewriting:
    """A YAML text and the edits that were taken for it; the twin of `Rewriting`."""

    def __init__(self, text: str) -> None:
        """Raises: `ValueError` when the text is no YAML that is read here."""
        if read_yaml(text, Findings()) is None:
            raise ValueError("no YAML")
        if _LONE_BREAK.search(text):
            raise ValueError("a line ends with a carriage return alone")
        self.text = text
        reader = _Reader(text)
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
        if reader.root is None:
            raise ValueError("there is no value in the text")
        self.root = reader.root
        self._blocks = reader.blocks

    def chosen(self) -> Chosen:
        """An empty choice of edits."""
        return Chosen(self)

    @cached_property
    def style(self) -> Style:
        return Style.of(self.text, self.root)

    def is_block(self, span: Span) -> bool:
        """Whether a mapping or a list is written line by line, and not in brackets."""
        return id(span) in self._blocks

    def renamed(self, span: Span, name: str) -> Replacement:
        if not _PLAIN_KEY.fullmatch(name):
            raise CannotEdit(_NO_PLACE)
        quote = self.text[span.member]
        quote = quote if quote in "'\"" else ""
        return Replacement(span.member, span.after_key, f"{quote}{name}{quote}")

    def replaced(self, span: Span, value: Json) -> Replacement:
        old = self.text[span.start : span.end]
        if self.is_block(span) or "\n" in old or not old:
            raise CannotEdit(_NO_PLACE)
        return Replacement(span.start, span.end, self._written(value))

    def changed(self, container: Span, change: Changes) -> list[Replacement]:
        if not self.is_block(container):
            found = changed(container, change, self.style)
            for one in found:
                self._keep_comments(one)
            return found
        if change.removed and len(change.removed) == len(container.children):
            raise CannotEdit(_NO_PLACE)
        found = [self._remove_member(container.children[name]) for name in change.removed]
        if change.added:
            found.append(self._add_children(container, change.added))
        return found

    def _written(self, value: Json) -> str:
        return _write_flow(value.value(), escapes=self.style.escapes)

    def _remove_member(self, span: Span) -> Replacement:
        """The lines of one member or element, with nothing else on them."""
        start = self.text.rfind("\n", 0, span.member) + 1
        before = self.text[start : span.member]
        if before.strip() not in {"", "-"} or (before.strip() and span.after_key != span.start):
            raise CannotEdit(_NO_PLACE)
        if self.text[: span.end].endswith("\n"):
            end = span.end
        else:
            line = self.text.find("\n", span.end)
            end = len(self.text) if line < 0 else line + 1
        if self._would_grow(start, end):
            raise CannotEdit("what stands behind it would become part of the text before it")
        one = Replacement(start, end, "")
        self._keep_comments(one)
        return one

    def _add_children(self, container: Span, added: list[tuple[str, Json]]) -> Replacement:
        """Lines behind the last child, indented as the first one."""
        children = list(container.children.values())
        first, last = children[0], children[-1]
        start = self.text.rfind("\n", 0, first.member) + 1
        before = self.text[start : first.member]
        indent = re.sub(r"[^ ]", " ", before)
        if container.opens == "[":
            if before.strip() != "-":
                raise CannotEdit(_NO_PLACE)
            indent = before[: before.index("-")]
        end = last.end
        if not self.text[:end].endswith("\n"):
            if "\n" not in self.text[end:] and self._block_text(_last_scalar(last)):
                raise CannotEdit("the text before it would get a line break at its end")
            line = self.text.find("\n", end)
            end = len(self.text) if line < 0 else line
            end -= self.text[:end].endswith("\r")
        newline = self.style.newline
        lines = [
            f"{indent}- {self._written(value)}"
            if container.opens == "["
            else f"{indent}{name if _PLAIN_KEY.fullmatch(name) else json.dumps(name)}: {self._written(value)}"
            for name, value in added
        ]
        text = newline.join(lines)
        is_behind_a_break = self.text[:end].endswith("\n")
        return Replacement(
            end, end, f"{text}{newline}" if is_behind_a_break else f"{newline}{text}"
        )

    def _block_text(self, span: Span) -> re.Match[str] | None:
        return _BLOCK_TEXT.match(self.text, span.start)

    def _would_grow(self, start: int, end: int) -> bool:
        """Whether a text in lines of its own ends at `start`, and reads on at `end`.

        `|+` keeps blank lines that follow; each of them takes an indented comment for its own.
        """
        return any(
            "+" in found["says"] or _INDENTED_COMMENT.match(self.text, end)
            for span in _collect_scalars(self.root)
            if span.end <= start and not self.text[span.end : start].strip()
            if (found := self._block_text(span))
        )

    def _keep_comments(self, one: Replacement) -> None:
        """Raises: `CannotEdit` where a comment would go."""
        bare = list(self.text[one.start : one.end])
        for span in _collect_scalars(self.root):
            if one.start <= span.start and span.end <= one.end:
                bare[span.start - one.start : span.end - one.start] = "x" * (span.end - span.start)
        if any(_COMMENT.search(line) for line in "".join(bare).splitlines()):
            raise CannotEdit("a comment would be lost")


def _write_flow(value: Any, *, escapes: bool, inside: bool = False) -> str:
    """A value on one line: quotes around keys and words inside brackets go where YAML needs none."""
    if isinstance(value, dict):
        members = [
            f"{_write_flow(key, escapes=escapes, inside=True)}: "
            f"{_write_flow(one, escapes=escapes, inside=True)}"
            for key, one in value.items()
        ]
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list):
        items = (_write_flow(one, escapes=escapes, inside=True) for one in value)
        return f"[{', '.join(items)}]"
    if inside and isinstance(value, str) and is_plain(value):
        return value
    return json.dumps(value, ensure_ascii=escapes)


def _last_scalar(span: Span) -> Span:
    while span.children:
        span = max(span.children.values(), key=lambda child: child.end)
    return span


def _collect_scalars(span: Span) -> list[Span]:
    found, waiting = [], [span]
    while waiting:
        one = waiting.pop()
        if one.opens:
            waiting += one.children.values()
        else:
            found.append(one)
    return found


@dataclass(slots=True)
class _Open:
    span: Span
    key: tuple[str, int, int] | None = None


class _Reader:
    """Makes spans of the parser's events; the text is known to be read without a flaw."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.root: Span | None = None
        self.blocks: Mapping[int, Span] = {}
        self._found: dict[int, Span] = {}
        self._open: list[_Open] = []
        self.blocks = self._found

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.CollectionEndEvent):
            self._close_collection(event)
        elif isinstance(event, yaml.NodeEvent):
            top = self._open[-1] if self._open else None
            start, end = _find_event_offsets(event)
            if top is not None and top.span.opens == "{" and top.key is None:
                top.key = (str(getattr(event, "value", "")), start, end)
                return
            self._value(event, top, start, end)

    def _value(self, event: yaml.NodeEvent, top: _Open | None, start: int, end: int) -> None:
        name, member, after = (top.key if top is not None else None) or ("", start, start)
        opens = (
            "{"
            if isinstance(event, yaml.MappingStartEvent)
            else "["
            if isinstance(event, yaml.SequenceStartEvent)
            else ""
        )
        span = Span(start=start, end=end, member=member, after_key=after, opens=opens)
        if top is None:
            self.root = span
        else:
            children = top.span.children
            children[name if top.span.opens == "{" else str(len(children))] = span
            top.key = None
        if opens:
            if not getattr(event, "flow_style", False):
                self._found[id(span)] = span
            self._open.append(_Open(span))

    def _close_collection(self, event: yaml.CollectionEndEvent) -> None:
        span = self._open.pop().span
        if id(span) in self._found and span.children:
            # the parser lets a block go on until the next thing begins, over comments
            span.end = max(child.end for child in span.children.values())
        else:
            span.end = _find_event_offsets(event)[1]


def _find_event_offsets(event: yaml.Event) -> tuple[int, int]:
    assert event.start_mark is not None
    assert event.end_mark is not None
    return event.start_mark.index, event.end_mark.index


# ----------------------------------------------------------------------------
# Where the value of every place in a YAML text begins and ends.
#
#     'a: {b: "x\n  y", c: 1}'    ->    {(1, 5): (7, 14), …}     line and column of `b`, its value
#
# The parser says it, because indentation does not: inside brackets a quoted text goes on at any column.


Range = tuple[int, int]
Position = tuple[int, int]
"""Line and column, both from 1: of the key, or of the element of a list."""


def values_of(text: str) -> dict[Position, Range] | None:
    """The offsets of every value, by the place that a finding about it has; `None`: no YAML."""
    reader = _PlaceReader()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except (yaml.YAMLError, ValueError):
        return None
    # A mapping in a list begins where its first key does, which is what findings point at.
    return {**reader.elements, **reader.members}


class _PlaceReader:
    """Follows the events with a stack of what is open."""

    def __init__(self) -> None:
        self.members: dict[Position, Range] = {}
        self.elements: dict[Position, Range] = {}
        self._open: list[tuple[yaml.Event, Position]] = []
        self._keys: list[Position | None] = []
        """Of every open collection: where the key stands that waits for its value."""

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.CollectionEndEvent):
            start, place = self._open.pop()
            self._keys.pop()
            self._record(place, start, event)
        elif isinstance(event, yaml.NodeEvent):
            position = self._position(event)
            if position is None:
                return  # a key
            if isinstance(event, yaml.CollectionStartEvent):
                self._open.append((event, position))
                self._keys.append(None)
            else:
                self._record(position, event, event)

    def _position(self, event: yaml.NodeEvent) -> Position | None:
        """The place of the value that begins here; `None` for a key."""
        assert event.start_mark is not None
        here = (event.start_mark.line + 1, event.start_mark.column + 1)
        if not self._open or not isinstance(self._open[-1][0], yaml.MappingStartEvent):
            return here
        key = self._keys[-1]
        self._keys[-1] = here if key is None else None
        return key

    def _record(self, position: Position, first: yaml.Event, last: yaml.Event) -> None:
        in_mapping = bool(self._open) and isinstance(self._open[-1][0], yaml.MappingStartEvent)
        places = self.members if in_mapping else self.elements
        assert first.start_mark is not None
        assert last.end_mark is not None
        places[position] = (first.start_mark.index, last.end_mark.index)


class Leaf(NamedTuple):
    """A text of a YAML document."""

    value: str
    keys: tuple[str, ...]
    """The keys around it, from the outermost on."""
    place: Range
    siblings: Mapping[str, str]
    """The texts of the mapping around it, or around its list; complete when the text was read."""
    is_name: bool = False
    """Whether it is a key itself, of the mapping under `keys`."""


def lists_of(text: str) -> list[list[Leaf]] | None:
    """The texts of each list together, and each other one alone; `None`: no YAML document.

    An alias is the text that it stands for, under the keys of the alias.
    """
    reader = _Texts()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except (yaml.YAMLError, ValueError):
        return None
    return [*reader.lists, *([leaf] for leaf in reader.alone)] if reader.is_document else None


class _Texts:
    """Follows the events with the keys around the next one."""

    def __init__(self) -> None:
        self.lists: list[list[Leaf]] = []
        self.alone: list[Leaf] = []
        self.is_document = False
        self._anchors: dict[str, tuple[str, Range]] = {}
        self._open: list[tuple[bool, str | None, list[Leaf]]] = []
        """Whether it is a mapping, the key that waits for its value, and the texts of a list."""
        self._siblings: list[dict[str, str]] = [{}]
        """Of every open collection: the texts of the mapping that it is, or that it stands in."""

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.CollectionStartEvent):
            self.is_document = True
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            is_value = bool(self._open) and self._open[-1][0]
            self._open.append((is_mapping, None, []))
            self._siblings.append({} if is_mapping or not is_value else self._siblings[-1])
        elif isinstance(event, yaml.CollectionEndEvent):
            self.lists.append(self._open.pop()[2])
            self._siblings.pop()
            self._pass_key("")
        elif isinstance(event, yaml.ScalarEvent):
            assert event.start_mark is not None
            assert event.end_mark is not None
            known = str(event.value), (event.start_mark.index, event.end_mark.index)
            if event.anchor:
                self._anchors[event.anchor] = known
            self._take_text(*known)
        elif isinstance(event, yaml.AliasEvent):
            self._take_text(*self._anchors.get(event.anchor or "", ("", (0, 0))))

    def _take_text(self, value: str, place: Range) -> None:
        keys = tuple(key for is_mapping, key, _ in self._open if is_mapping and key is not None)
        is_key = self._pass_key(value)
        if not self._open:
            return
        is_mapping, _, listed = self._open[-1]
        siblings = self._siblings[-1]
        if is_mapping and not is_key and keys:
            siblings[keys[-1]] = value
        leaf = Leaf(value, keys, place, siblings, is_name=is_key)
        (self.alone if is_mapping else listed).append(leaf)

    def _pass_key(self, value: str) -> bool:
        """Whether what came is a key of the mapping around it."""
        if not self._open or not self._open[-1][0]:
            return False
        _, key, listed = self._open[-1]
        self._open[-1] = (True, value if key is None else None, listed)
        return key is None

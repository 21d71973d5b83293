"""Edits of a YAML document as the smallest changes of its text; comments stay.

    start_node:                   Edit("/startnode", key="start_node")     start_node:
      $component_ref: a   # 1     ---------------------------------->        $component_ref: a   # 1

A change that would touch a comment, or need a new layout of the text, is refused (`CannotEdit`):
then the finding tells the author what to write.  Values are written on one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import yaml

from cinatra_sdk.light_imports.records import dataclass
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
        self._blocks: dict[int, Span] = {}
        self.root = _read_spans(text, self._blocks)

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


def _read_spans(text: str, blocks: dict[int, Span]) -> Span:
    """The value of the whole text, which is read without a flaw; `blocks` gets what is in lines of its own."""
    root: Span | None = None
    containers: list[Span] = []
    for step in _follow(text):
        start, end = _find_offsets(step.last)
        if step.is_key:
            continue
        if step.place == "end":
            span = containers.pop()
            # the parser lets a block go on until the next thing begins, over comments
            in_lines = id(span) in blocks and span.children
            span.end = max(child.end for child in span.children.values()) if in_lines else end
            continue
        name, member, after = "", start, start
        if step.key is not None:
            name, (member, after) = str(getattr(step.key, "value", "")), _find_offsets(step.key)
        opens = "" if step.place == "whole" else "{" if _is_mapping(step) else "["
        span = Span(start=start, end=end, member=member, after_key=after, opens=opens)
        if containers:
            children = containers[-1].children
            children[name if step.key is not None else str(len(children))] = span
        else:
            root = span
        if opens:
            containers.append(span)
            if not getattr(step.first, "flow_style", False):
                blocks[id(span)] = span
    if root is None:
        raise ValueError("there is no value in the text")
    return root


# ----------------------------------------------------------------------------
# The parser's events with the keys around them.
#
#     "a: [b]"    ->    the key `a`; under `a` the start of a list; `b`; under `a` the list's end


class _Step(NamedTuple):
    """A key, or the start or the end of a value; of a scalar both at once."""

    place: Literal["start", "end", "whole"]
    first: yaml.Event
    """What it begins with."""
    last: yaml.Event
    """What it ends with; of a start `first`."""
    key: yaml.Event | None
    """The key under which it stands in a mapping."""
    is_key: bool


@dataclass(slots=True)
class _Level:
    """A collection that is open."""

    start: _Step
    key: yaml.Event | None = None
    """Of a mapping: the key that waits for its value."""


def _follow(text: str) -> Iterator[_Step]:
    """Raises: `yaml.YAMLError` or `ValueError` for a text that is no YAML."""
    opened: list[_Level] = []
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionEndEvent):
            yield opened.pop().start._replace(place="end", last=event)
        elif isinstance(event, yaml.NodeEvent):
            around = opened[-1] if opened else None
            key, is_key = None, False
            if around is not None and _is_mapping(around.start):
                key, is_key = around.key, around.key is None
                around.key = event if is_key else None
            if isinstance(event, yaml.CollectionStartEvent):
                opened.append(_Level(_Step("start", event, event, key, is_key)))
                yield opened[-1].start
            else:
                yield _Step("whole", event, event, key, is_key)


def _is_mapping(step: _Step) -> bool:
    return isinstance(step.first, yaml.MappingStartEvent)


def _find_offsets(event: yaml.Event) -> Range:
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
    members: dict[Position, Range] = {}
    elements: dict[Position, Range] = {}
    try:
        for step in _follow(text):
            if step.place != "start" and not step.is_key:
                mark = (step.key or step.first).start_mark
                assert mark is not None
                places = elements if step.key is None else members
                whole = _find_offsets(step.first)[0], _find_offsets(step.last)[1]
                places[mark.line + 1, mark.column + 1] = whole
    except (yaml.YAMLError, ValueError):
        return None
    # A mapping in a list begins where its first key does, which is what findings point at.
    return {**elements, **members}


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


@dataclass(slots=True, kw_only=True)
class _Texts:
    """The texts of a collection that is open."""

    is_mapping: bool
    keys: tuple[str, ...]
    siblings: dict[str, str]
    """The texts of the mapping that it is, or that it stands in."""
    key: str = ""
    """The last key."""
    listed: list[Leaf] = field(default_factory=list)


def lists_of(text: str) -> list[list[Leaf]] | None:
    """The texts of each list together, and each other one alone; `None`: no YAML document.

    An alias is the text that it stands for, under the keys of the alias.
    """
    try:
        return _read_lists(text)
    except (yaml.YAMLError, ValueError):
        return None


def _read_lists(text: str) -> list[list[Leaf]] | None:
    lists: list[list[Leaf]] = []
    alone: list[list[Leaf]] = []
    is_document = False
    anchors: dict[str, tuple[str, Range]] = {}
    opened: list[_Texts] = []
    for step in _follow(text):
        if step.place == "end":
            lists.append(opened.pop().listed)
            if step.is_key:
                opened[-1].key = ""
            continue
        around = opened[-1] if opened else _Texts(is_mapping=False, keys=(), siblings={})
        keys = around.keys if step.key is None else (*around.keys, around.key)
        if step.place == "start":
            is_document = True
            shares = around.is_mapping and not _is_mapping(step)
            siblings = around.siblings if shares else {}
            opened.append(_Texts(is_mapping=_is_mapping(step), keys=keys, siblings=siblings))
            continue
        value, place = _read_text(step.first, anchors)
        leaf = Leaf(value, keys, place, around.siblings, is_name=step.is_key)
        if step.is_key:
            around.key = value
        elif around.is_mapping:
            around.siblings[around.key] = value
        if around.is_mapping:
            alone.append([leaf])
        else:
            around.listed.append(leaf)
    return [*lists, *alone] if is_document else None


def _read_text(event: yaml.Event, anchors: dict[str, tuple[str, Range]]) -> tuple[str, Range]:
    """The text and the place of a scalar, or of the one that an alias stands for."""
    if isinstance(event, yaml.AliasEvent):
        return anchors.get(event.anchor or "", ("", (0, 0)))
    assert isinstance(event, yaml.ScalarEvent)
    known = str(event.value), _find_offsets(event)
    if event.anchor:
        anchors[event.anchor] = known
    return known

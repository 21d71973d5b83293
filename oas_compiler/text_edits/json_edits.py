"""Edits of a JSON document as the smallest changes of its text.

    {                                                   {
      "id": "a",      Edit("/name", '"b"')                "id": "a",
      "x": 1          Edit("/x", None)          ->        "name": "b"
    }                                                   }

All pointers refer to the original document, before other edits.  Added text imitates its
neighbours: their indentation, line ends and spaces after colons and commas.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property
from typing import Protocol

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Edit
from oas_compiler.ir import Json

# ----------------------------------------------------------------------------
# Where every value of a JSON text begins and ends.
#
#     '{"a": [7]}'    ->    Span(0, 10, children={"a": Span(6, 9, children={"0": Span(7, 8)})})
#
# The text is known to be JSON: `read_source` has read it.  Offsets count characters.


_TOKEN = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+',
    re.DOTALL,
)


@dataclass(slots=True, eq=False)
class Span:
    """One value; built by `spans` and then only read."""

    start: int
    end: int
    member: int
    """Where the member that it is the value of begins: at its key; an array's element: `start`."""
    after_key: int
    """Where that key ends; without a key `start`."""
    opens: str
    """`{`, `[`, or nothing for a string, number, boolean or null."""
    children: dict[str, Span] = field(default_factory=dict)
    """By key, or by index written as text; in the order of the text."""

    def find(self, pointer: str) -> Span | None:
        """The value that a JSON Pointer names; `None` where there is none."""
        found: Span | None = self
        for key in keys_of(pointer):
            found = found.children.get(key) if found is not None else None
        return found


def keys_of(pointer: str) -> tuple[str, ...]:
    """`/a~1b/0` as `("a/b", "0")` (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def spans(text: str) -> Span:
    """The value of the whole text, with everything below it."""
    root: Span | None = None
    containers: list[Span] = []
    key: tuple[str, int, int] | None = None
    for start, end, piece in _iterate_tokens(text):
        if piece in "}]":
            containers.pop().end = end
            continue
        around = containers[-1] if containers else None
        if around is not None and around.opens == "{" and key is None:
            key = (str(json.loads(piece)), start, end)
            continue
        name, member, after_key = key or ("", start, start)
        key = None
        opens = piece if piece in "{[" else ""
        span = Span(start=start, end=end, member=member, after_key=after_key, opens=opens)
        if around is None:
            root = span
        else:
            around.children[name if around.opens == "{" else str(len(around.children))] = span
        if opens:
            containers.append(span)
    if root is None:
        raise ValueError("there is no JSON value in the text")
    return root


def _iterate_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Brackets, keys and scalars; commas and colons say nothing more."""
    for match in _TOKEN.finditer(text):
        piece = match.group()
        if piece not in ",:":
            yield match.start(), match.end(), piece


Keys = tuple[str, ...]
_APPEND = "-"
_LONGEST_LINE = 200
"""Characters of an added value that stands on one line because its neighbours do."""
_INDENT = re.compile(r"\n([ \t]*)")


@dataclass(frozen=True, slots=True)
class Replacement:
    """`text` instead of the characters from `start` up to `end`."""

    start: int
    end: int
    text: str


class CannotEdit(Exception):
    """An edit does not fit the text, or contradicts an earlier edit."""


@dataclass(slots=True)
class Changes:
    """The changes among the children of one container."""

    removed: set[str] = field(default_factory=set)
    added: list[tuple[str, Json]] = field(default_factory=list)


class Rewriting:
    """A JSON text and the edits that were taken for it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = spans(text)

    def chosen(self) -> Chosen:
        """An empty choice of edits."""
        return Chosen(self)

    @cached_property
    def style(self) -> Style:
        return Style.of(self.text, self.root)

    def renamed(self, span: Span, name: str) -> Replacement:
        """A member under another name."""
        return Replacement(span.member, span.after_key, self.style.key(name))

    def replaced(self, span: Span, value: Json) -> Replacement:
        """Another value in the place of one."""
        return Replacement(span.start, span.end, self.style.instead_of(span, value))

    def changed(self, container: Span, change: Changes) -> list[Replacement]:
        """A container with fewer or more children."""
        return changed(container, change, self.style)


class AnyRewriting(Protocol):
    """A text of either kind: JSON, or YAML (yaml_edits.py).

    Its methods raise `CannotEdit` for a change that its text has no room for.
    """

    root: Span
    text: str

    def chosen(self) -> Chosen: ...
    def renamed(self, span: Span, name: str) -> Replacement: ...
    def replaced(self, span: Span, value: Json) -> Replacement: ...
    def changed(self, container: Span, change: Changes) -> list[Replacement]: ...


class Chosen:
    """Edits of one text that do not contradict each other."""

    def __init__(self, rewriting: AnyRewriting) -> None:
        self._rewriting = rewriting
        self._values: dict[Keys, Json | None] = {}
        self._renamed: dict[Keys, str] = {}
        self._above: set[Keys] = set()
        self._appended: dict[Keys, list[Json]] = {}

    def take(self, edits: Iterable[Edit]) -> None:
        """Add all of `edits`, or none of them.

        Raises:
            CannotEdit: with the reason, when one does not fit; nothing has been added then.

        """
        wanted = [(keys_of(edit.pointer), edit) for edit in edits]
        trial = Chosen(self._rewriting)
        for keys, edit in wanted:
            self._check_edit(keys, edit)
            trial._check_edit(keys, edit)
            trial._add(keys, edit)
        trial.replacements()  # whether the text has room for them
        for keys, edit in wanted:
            self._add(keys, edit)

    def replacements(self) -> list[Replacement]:
        """The changes of the text, in order; no two touch the same characters."""
        changes: dict[Keys, Changes] = {}
        found: list[Replacement] = []
        for keys, value in self._values.items():
            span = self._find_span(keys)
            if span is None and value is not None:
                changes.setdefault(keys[:-1], Changes()).added.append((keys[-1], value))
            elif span is not None and value is None:
                changes.setdefault(keys[:-1], Changes()).removed.add(keys[-1])
            elif span is not None and value is not None:
                found.append(self._rewriting.replaced(span, value))
        for keys, name in self._renamed.items():
            span = self._find_span(keys)
            assert span is not None
            found.append(self._rewriting.renamed(span, name))
        for keys, values in self._appended.items():
            change = changes.setdefault(keys, Changes())
            change.added += [(_APPEND, value) for value in values]
        for keys, change in changes.items():
            container = self._find_span(keys)
            assert container is not None
            found += self._rewriting.changed(container, change)
        return sorted(found, key=lambda one: (one.start, one.end))

    def _find_span(self, keys: Keys) -> Span | None:
        span: Span | None = self._rewriting.root
        for key in keys:
            span = span.children.get(key) if span is not None else None
        return span

    def _check_edit(self, keys: Keys, edit: Edit) -> None:
        above = next((keys[:n] for n in range(len(keys)) if keys[:n] in self._values), None)
        if above is not None:
            raise CannotEdit("another fix changes what stands around it")
        if keys in self._above:
            raise CannotEdit("another fix changes something inside of it")
        if keys in self._values and (edit.key or self._values[keys] != edit.value):
            raise CannotEdit("another fix puts something else there")
        if self._renamed.get(keys, edit.key) != edit.key:
            raise CannotEdit("another fix puts something else there")
        if not keys:
            if edit.value is None:
                raise CannotEdit("a document cannot be removed")
            return
        around = self._find_span(keys[:-1])
        if around is None or not around.opens:
            raise CannotEdit(f"there is nothing at {edit.pointer.rpartition('/')[0]}")
        if edit.key:
            self._fits_name(keys, edit.key, around)
        else:
            _fits_place(keys, edit, around)

    def _fits_name(self, keys: Keys, name: str, around: Span) -> None:
        if around.opens != "{" or keys[-1] not in around.children:
            raise CannotEdit(f"there is no member {keys[-1]}")
        new = (*keys[:-1], name)
        taken = {(*old[:-1], key) for old, key in self._renamed.items() if old != keys}
        if name in around.children or new in self._values or new in taken:
            raise CannotEdit(f"{name} is there already")

    def _add(self, keys: Keys, edit: Edit) -> None:
        self._above.update(keys[:n] for n in range(len(keys)))
        if edit.key:
            self._renamed[keys] = edit.key
            return
        around = self._find_span(keys[:-1]) if keys else None
        is_append = around is not None and around.opens == "[" and _is_next(keys[-1], around)
        if not is_append:
            self._values[keys] = edit.value
        elif edit.value is not None:
            appended = self._appended.setdefault(keys[:-1], [])
            if edit.value not in appended:
                appended.append(edit.value)


def _fits_place(keys: Keys, edit: Edit, around: Span) -> None:
    there = keys[-1] in around.children
    if edit.value is None and not there:
        raise CannotEdit(f"there is nothing at {edit.pointer}")
    if around.opens == "[" and not there and not _is_next(keys[-1], around):
        raise CannotEdit(f"the list has no place {keys[-1]}")


def _is_next(key: str, array: Span) -> bool:
    return key in {_APPEND, str(len(array.children))}


def rewritten(raw: bytes, edits: Iterable[Edit]) -> bytes:
    """A whole file with all of the edits made; its byte order mark stays.

    Raises:
        CannotEdit: when one does not fit, or contradicts another.

    """
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    rewriting = Rewriting(raw.removeprefix(mark).decode("utf-8"))
    chosen = rewriting.chosen()
    chosen.take(edits)
    return mark + applied(rewriting.text, chosen.replacements()).encode("utf-8")


def applied(text: str, replacements: Iterable[Replacement]) -> str:
    """`text` with all of them made; they are in order, as `Chosen.replacements` gives them."""
    parts, at = [], 0
    for one in replacements:
        parts += [text[at : one.start], one.text]
        at = one.end
    return "".join([*parts, text[at:]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How the author writes JSON."""

    text: str
    newline: str
    unit: str
    """One step of indentation."""
    colon: str
    """`: ` or `:`."""
    comma: str
    """Between two values on one line: `, ` or `,`."""
    escapes: bool
    """Whether the author writes `\\u00e9` for what is not ASCII."""

    @classmethod
    def of(cls, text: str, root: Span) -> Style:
        tight = not re.search(r'"\s*:\s', text) and '":' in text
        return cls(
            text=text,
            newline="\r\n" if "\r\n" in text else "\n",
            unit=_find_indent_unit(text, root),
            colon=":" if tight else ": ",
            comma="," if tight else ", ",
            escapes=text.isascii() and "\\u" in text,
        )

    def instead_of(self, span: Span, value: Json) -> str:
        """`value` where `span` stands: on one line unless that one had several."""
        several = "\n" in self.text[span.start : span.end]
        if not span.opens:
            # A scalar says nothing about it; the line that it stands on does.
            several = self.text[self._find_line_start(span.member) : span.member].strip() == ""
            several = several and "\n" in self.text
        return self.written(value, self.indent_at(span.start) if several else None)

    def written(self, value: Json, indent: str | None) -> str:
        """`value` as text; over several lines that begin with `indent`, or on one (`None`)."""
        decoded = value.value()
        if indent is None or not isinstance(decoded, (dict, list)) or not decoded:
            separators = (self.comma, self.colon)
            return json.dumps(decoded, ensure_ascii=self.escapes, separators=separators)
        written = json.dumps(
            decoded, ensure_ascii=self.escapes, indent=self.unit, separators=(",", self.colon)
        )
        return written.replace("\n", self.newline + indent)

    def key(self, name: str) -> str:
        """A name of a member."""
        return json.dumps(name, ensure_ascii=self.escapes)

    def indent_at(self, offset: int) -> str:
        """The blanks that the line of `offset` begins with."""
        line = self.text[self._find_line_start(offset) : offset]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _find_line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1


def _find_indent_unit(text: str, root: Span) -> str:
    """What the first member of the document is indented by."""
    first = next(iter(root.children.values()), None)
    found = _INDENT.search(text, root.start, first.member) if first is not None else None
    return found.group(1) if found is not None and found.group(1) else "  "


def changed(container: Span, change: Changes, style: Style) -> list[Replacement]:
    """The children of one container without the removed ones and with the added ones."""
    names = list(container.children)
    children = list(container.children.values())
    kept = [index for index, name in enumerate(names) if name not in change.removed]
    layout = _Layout.of(container, style)
    if not kept:
        inside = layout.only([_pair_key_and_value(container, pair) for pair in change.added])
        return [Replacement(container.start + 1, container.end - 1, inside)]
    last = kept[-1]
    found = [
        # A child that goes takes the comma and the blanks behind it along.
        Replacement(children[index].member, children[index + 1].member, "")
        for index in range(last)
        if names[index] in change.removed
    ]
    added = "".join(
        f",{layout.gap}{layout.child(*_pair_key_and_value(container, pair))}"
        for pair in change.added
    )
    end = children[-1].end if last + 1 < len(children) else children[last].end
    if added or end > children[last].end:
        found.append(Replacement(children[last].end, end, added))
    return found


def _pair_key_and_value(container: Span, pair: tuple[str, Json]) -> tuple[str | None, Json]:
    """An added child: its key in an object, `None` in a list, and its value."""
    return (pair[0] if container.opens == "{" else None), pair[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How the children of one container stand."""

    style: Style
    indent: str | None
    """What the line of each child begins with; `None` when they share one line."""
    outer: str
    """What the line of the closing bracket begins with."""
    flat: bool = False
    """Whether each child that holds something has a line of its own, and only one."""
    padded: bool = False
    """Whether such a child has blanks inside of its braces: `{ "id": "a" }`."""

    @classmethod
    def of(cls, container: Span, style: Style) -> _Layout:
        outer = style.indent_at(container.start)
        first = next(iter(container.children.values()), None)
        if first is not None:
            before = style.text[container.start : first.member]
            indent = before.rpartition("\n")[2] if "\n" in before else None
        else:
            # An empty container is written as the text around it: line by line, or all in one.
            begins_a_line = style.text[: container.member].rstrip(" \t").endswith("\n")
            indent = outer + style.unit if begins_a_line else None
        filled = [one for one in container.children.values() if one.children]
        flat = bool(filled) and all("\n" not in style.text[one.start : one.end] for one in filled)
        padded = flat and all(style.text.startswith("{ ", one.start) for one in filled)
        return cls(style=style, indent=indent, outer=outer, flat=flat, padded=padded)

    @property
    def gap(self) -> str:
        """Between a comma and the child after it."""
        if self.indent is None:
            return self.style.comma[1:]
        return self.style.newline + self.indent

    def child(self, key: str | None, value: Json) -> str:
        written = self.style.written(value, None if self.flat else self.indent)
        if self.padded and written.startswith("{") and written != "{}":
            written = f"{{ {written[1:-1]} }}"
        if self.flat and len(written) > _LONGEST_LINE:
            written = self.style.written(value, self.indent)
        if key is None:
            return written
        return self.style.key(key) + self.style.colon + written

    def only(self, added: list[tuple[str | None, Json]]) -> str:
        """The whole inside of a container that has no other children."""
        inside = f",{self.gap}".join(self.child(*pair) for pair in added)
        if not inside or self.indent is None:
            return inside
        newline = self.style.newline
        return f"{newline}{self.indent}{inside}{newline}{self.outer}"

"""The one reader of YAML: the core schema of YAML 1.2, and only the part that JSON can express.

    mapping:            ->  {"mapping": {"yes": "go", "1": "stop", "n": 17}}
      yes: go               (yes, no, on, off, dates and 1:30 are strings; 017 is seventeen;
      1: stop                `<<` is a key like any other; a number or true/false as a key
      n: 017                 is its JSON text)

Flows, their stored copies, stubs, context files and the frontmatter of a SKILL.md are read here, so
that one text never gets two meanings (tests/test_layers.py).  Anchors, aliases, tags except
`!!str`, and several documents are refused: a reader must see the values in the text.  Built on
parser events, not on a composed tree, because composing is recursive.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Final, Literal, NoReturn

import yaml

from cinatra_sdk.light_imports.records import dataclass

if TYPE_CHECKING:
    from pydantic import JsonValue


Kind = Literal["empty", "syntax", "twice", "bounds", "alias", "anchor", "tag", "beyond JSON"]

MAX_DEPTH: Final = 64
MAX_VALUES: Final = 500_000
MAX_FLAWS: Final = 200
"""Keys written twice, before reading stops; everything else stops it at once."""
ROOT: Final = 0
"""The number of the document's own value."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE: Final = frozenset({"true", "True", "TRUE"})
_FALSE: Final = frozenset({"false", "False", "FALSE"})
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LONGEST: Final = 22
"""Digits of an integer that is made a number of; what is longer is beyond 64 bits in any base."""
_TOO_LARGE: Final = 2**63
_STRING_TAG: Final = "tag:yaml.org,2002:str"
_RESERVED: Final = frozenset("@`%&*!|>")
"""Signs that mean something else at the beginning of a value."""
_FORMER_BREAK: Final = re.compile("[\x85\u2028\u2029]")
"""Line breaks of YAML 1.1, which the parser knows, and 1.2 has not."""

Add = Callable[[int, str | int, int], int]
"""Told of every value: (number of what holds it, key or index, offset) -> its own number."""
Plain = Callable[[str, "JsonValue", int], None]
"""Told of every scalar without quotes: (text, value, offset)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlFlaw:
    """One reason why a text is refused."""

    kind: Kind
    message: str
    """The rule, without a word of the text but `name`."""
    offset: int
    """Characters before it."""
    name: str = ""
    """The key, anchor or tag that it is about."""
    hint: str = ""


@dataclass(slots=True)
class YamlReading:
    """What came of a text: a value, or flaws."""

    value: JsonValue = None
    flaws: list[YamlFlaw] = field(default_factory=list)


def read_yaml(
    text: str,
    *,
    add: Add | None = None,
    plain: Plain | None = None,
    max_depth: int = MAX_DEPTH,
    max_values: int = MAX_VALUES,
) -> YamlReading:
    """The value of `text`, or all its flaws; never raises."""
    reading = YamlReading()
    reader = _Reader(reading, add or _return_root, plain, max_depth, max_values)
    try:
        reader.refuse_former_breaks(text)
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except _Stopped:
        return reading
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = min(mark.index, len(text)) if mark else 0
        reading.flaws.append(_describe_syntax_error(text, offset))
        return reading
    except yaml.reader.ReaderError as error:
        offset = min(max(error.position, 0), len(text))
        message = "a sign stands in it that YAML does not allow"
        reading.flaws.append(
            YamlFlaw(kind="syntax", message=message, offset=offset, hint="remove it")
        )
        return reading
    except ValueError:  # half a surrogate pair: the parser takes bytes
        reading.flaws.append(YamlFlaw(kind="syntax", message="the text is no Unicode", offset=0))
        return reading
    if not reader.documents:
        reading.flaws.append(YamlFlaw(kind="empty", message="the document is empty", offset=0))
    return reading


def _describe_syntax_error(text: str, offset: int) -> YamlFlaw:
    """What is wrong where the parser stopped, by the sign that stands there."""
    sign = text[offset : offset + 1]
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if sign == "\t" or "\t" in line[: len(line) - len(line.lstrip())]:
        message, hint = "a tab indents this line", "indent with blanks"
    elif sign and sign in _RESERVED:
        message = f"a text without quotes begins with {sign}"
        hint = "put the text in quotes"
    elif sign == ":" and ":" in line:
        message = "a text without quotes has a colon with a blank behind it"
        hint = "put the text in quotes"
    elif sign == ":":
        message = "a key stands where none belongs"
        hint = "indent it like the keys before it, and put a text with a colon in quotes"
    else:
        message = "the text cannot be read from here on"
        hint = (
            "look at the lines before: a quote or a bracket that is not closed, a colon without a "
            "blank behind it, or a line that is indented unlike the others"
        )
    return YamlFlaw(kind="syntax", message=message, offset=offset, hint=hint)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Where a character stands, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


@dataclass(slots=True)
class _Open:
    """A mapping or sequence that is being read."""

    value: dict[str, JsonValue] | list[JsonValue]
    number: int
    key: str | None = None
    key_number: int = ROOT
    keys: set[str] = field(default_factory=set)


class _Stopped(Exception):
    """Reading cannot go on; the flaw has been recorded."""


def _return_root(_parent: int, _key: str | int, _offset: int) -> int:
    return ROOT


class _Reader:
    """Builds the value from events, with an explicit stack."""

    def __init__(
        self, reading: YamlReading, add: Add, plain: Plain | None, max_depth: int, max_values: int
    ) -> None:
        self.documents = 0
        self._reading = reading
        self._add = add
        self._plain = plain
        self._max_depth = max_depth
        self._max_values = max_values
        self._open: list[_Open] = []
        self._count = 0

    def refuse_former_breaks(self, text: str) -> None:
        """A character at which a line ends for the parser, and for nobody who looks at the text."""
        found = None if text.isascii() else _FORMER_BREAK.search(text)
        if found is not None:
            code = f"U+{ord(found[0]):04X}"
            self._stop_at_flaw(
                "beyond JSON",
                f"the line break {code} is refused: YAML 1.1 and 1.2 read it differently",
                found.start(),
                hint=f'write it as "\\u{ord(found[0]):04x}" in double quotes',
            )
        if text.startswith("\ufeff"):
            self._stop_at_flaw("syntax", "a second byte order mark", 0)

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self._document(event)
        elif isinstance(event, yaml.AliasEvent):
            self._stop_at_flaw(
                "alias",
                "YAML aliases are refused",
                _offset(event),
                hint="write the value out, or use $component_ref",
            )
        elif isinstance(event, yaml.NodeEvent):
            self._read_node(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()

    def _document(self, event: yaml.DocumentStartEvent) -> None:
        self.documents += 1
        if self.documents > 1:
            message = "a file holds one YAML document, this one has more"
            self._stop_at_flaw("beyond JSON", message, _offset(event))
        if event.version not in {None, (1, 2)}:
            message = "the directive names another version: YAML is read as 1.2"
            self._stop_at_flaw("beyond JSON", message, _offset(event), hint="remove the directive")

    def _read_node(self, event: yaml.NodeEvent) -> None:
        if event.anchor is not None:
            message = "the YAML anchor {name} is refused"
            self._stop_at_flaw(
                "anchor",
                message,
                _offset(event),
                name=f"&{event.anchor}",
                hint="write the value out at each place; JSON has no anchors either",
            )
        tag = getattr(event, "tag", None)
        is_text = tag == _STRING_TAG and isinstance(event, yaml.ScalarEvent)
        if tag not in {None, "!"} and not is_text:
            message = "the YAML tag {name} is refused"
            self._stop_at_flaw("tag", message, _offset(event), name=str(tag), hint="remove the tag")
        top = self._open[-1] if self._open else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            self._key(top, event)
            return
        number = self._assign_number(top, event)
        self._count += 1
        if self._count > self._max_values:
            message = f"the document holds more than {self._max_values:,} values"
            self._stop_at_flaw("bounds", message, _offset(event))
        if isinstance(event, yaml.ScalarEvent):
            self._store_value(top, self._read_scalar(event))
            return
        if len(self._open) >= self._max_depth:
            message = f"the document nests deeper than {self._max_depth} levels"
            self._stop_at_flaw("bounds", message, _offset(event))
        value: dict[str, JsonValue] | list[JsonValue] = (
            {} if isinstance(event, yaml.MappingStartEvent) else []
        )
        self._store_value(top, value)
        self._open.append(_Open(value, number))

    def _assign_number(self, top: _Open | None, event: yaml.NodeEvent) -> int:
        if top is None:
            return ROOT
        if isinstance(top.value, list):
            return self._add(top.number, len(top.value), _offset(event))
        return top.key_number

    def _store_value(self, top: _Open | None, value: JsonValue) -> None:
        if top is None:
            self._reading.value = value
        elif isinstance(top.value, list):
            top.value.append(value)
        else:
            assert top.key is not None
            top.value[top.key] = value
            top.key = None

    def _key(self, top: _Open, event: yaml.NodeEvent) -> None:
        if not isinstance(event, yaml.ScalarEvent):
            message = "a key must be a string, not a list or mapping"
            in_braces = isinstance(event, yaml.MappingStartEvent) and event.flow_style
            hint = "put a text that begins with {{ in quotes" if in_braces else ""
            self._stop_at_flaw("beyond JSON", message, _offset(event), hint=hint)
        key = _key_text(event, self._read_scalar(event))
        if key is None:
            message = "a key must be a string, not null"
            self._stop_at_flaw("beyond JSON", message, _offset(event), hint='write it as ""')
        if key in top.keys:
            flaw = YamlFlaw(
                kind="twice",
                message='the key "{name}" stands twice in one object',
                offset=_offset(event),
                name=key[:80],
                hint="keep one of the two: readers disagree about which one counts",
            )
            self._reading.flaws.append(flaw)
            if len(self._reading.flaws) >= MAX_FLAWS:
                raise _Stopped
        top.keys.add(key)
        top.key = key
        top.key_number = self._add(top.number, key, _offset(event))

    def _read_scalar(self, event: yaml.ScalarEvent) -> JsonValue:
        text = str(event.value)
        if not _is_plain(event):
            return text
        value = core_value(text)
        if self._plain is not None:
            self._plain(text, value, _offset(event))
        return value

    def _stop_at_flaw(
        self, kind: Kind, message: str, offset: int, *, name: str = "", hint: str = ""
    ) -> NoReturn:
        flaw = YamlFlaw(kind=kind, message=message, offset=offset, name=name, hint=hint)
        self._reading.flaws.append(flaw)
        raise _Stopped


def core_value(text: str) -> JsonValue:
    """What a scalar without quotes is by the core schema of YAML 1.2.

    An integer beyond 64 bits is one that is, whatever its digits are: making a number of them
    takes quadratic time.
    """
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.fullmatch(text):
        return _parse_integer(text.lstrip("+-"), 10) * (-1 if text[0] == "-" else 1)
    if _OTHER_BASE.fullmatch(text):
        return _parse_integer(text[2:], 8 if text[1] == "o" else 16)
    if _NUMBER.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return float(text.lower().replace(".", ""))
    return text


def _parse_integer(digits: str, base: int) -> int:
    digits = digits.lstrip("0") or "0"
    return int(digits, base) if len(digits) <= _LONGEST else 2 * _TOO_LARGE


def _offset(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark is not None else 0


def _is_plain(event: yaml.ScalarEvent) -> bool:
    """Whether the scalar stands without quotes and without a tag, so that its form decides.

    The parser calls `! "12"` implicit, too, which by YAML 1.2 is a string.
    """
    return bool(event.implicit[0]) and event.tag is None and not event.style


def _key_text(event: yaml.ScalarEvent, value: JsonValue) -> str | None:
    """A key as JSON has it; `None` for null."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return None
    # an integer is written as JSON writes it; any other key is the author's own text
    is_number = isinstance(value, int) and abs(value) < 2 * _TOO_LARGE
    return str(value) if is_number else str(event.value)

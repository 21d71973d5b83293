r"""Where the value of every place in a YAML text begins and ends.

    'a: {b: "x\n  y", c: 1}'    ->    {(1, 5): (7, 14), …}     line and column of `b`, its value

The parser says it, because indentation does not: inside brackets a quoted text goes on at any column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import yaml

Range = tuple[int, int]
Position = tuple[int, int]
"""Line and column, both from 1: of the key, or of the element of a list."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def values_of(text: str) -> dict[Position, Range] | None:
    """The offsets of every value, by the place that a finding about it has; `None`: no YAML."""
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except (yaml.YAMLError, ValueError):
        return None
    # A mapping in a list begins where its first key does, which is what findings point at.
    return {**reader.elements, **reader.members}


class _Reader:
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

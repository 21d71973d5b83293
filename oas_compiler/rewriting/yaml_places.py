r"""Where the value of every place in a YAML text begins and ends.

    'a: {b: "x\n  y", c: 1}'    ->    {(1, 5): (7, 14), …}     line and column of `b`, its value

The parser says it, because indentation does not: inside brackets a quoted text goes on at any column.
"""

from __future__ import annotations

from typing import Final

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

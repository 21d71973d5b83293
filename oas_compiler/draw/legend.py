"""The legend of a picture: one entry for each kind of shape and line in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oas_compiler.draw.boxes import SMALL_SIZE
from oas_compiler.draw.layout import Picture
from oas_compiler.draw.shapes import number, shape, text
from oas_compiler.draw.words import width
from oas_compiler.kinds.kind import Shape

ROW = 26.0
_SAMPLE = (30.0, 16.0)
_SPACE = 20.0

_WORDS: tuple[tuple[Shape, str], ...] = (
    ("start", "start or end"),
    ("gate", "gate: a person decides"),
    ("call", "call"),
    ("branch", "branch"),
    ("message", "message"),
    ("step", "computation"),
    ("subflow", "subflow"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A sample and what it means."""

    kind: Shape | None
    """`None` for lines."""
    style: str
    words: str

    @property
    def width(self) -> float:
        return _SAMPLE[0] + 8 + width(self.words, SMALL_SIZE) + _SPACE


def entries(picture: Picture) -> tuple[Entry, ...]:
    """The entries for what `picture` holds, in a fixed order."""
    found = [
        Entry(kind, "frame" if kind == "subflow" else kind, words)
        for kind, words in _WORDS
        if kind in picture.kinds or (kind == "start" and "end" in picture.kinds)
    ]
    if any(placed.box.sends for placed in (*picture.boxes, *picture.frames)):
        found.append(Entry("step", "send", "sends: acts on the world outside"))
    if any(wire.loop for wire in picture.wires):
        found.append(Entry(None, "loop", "back to an earlier node"))
    return tuple(found)


def rows(found: tuple[Entry, ...], wide: float) -> list[list[Entry]]:
    """The entries in rows no wider than `wide`."""
    made: list[list[Entry]] = [[]]
    room = wide
    for entry in found:
        if made[-1] and entry.width > room:
            made.append([])
            room = wide
        made[-1].append(entry)
        room -= entry.width
    return made


def legend(made: list[list[Entry]]) -> Iterator[str]:
    """The legend as SVG, its left upper corner at (0, 0)."""
    for index, row in enumerate(made):
        x, y = 0.0, index * ROW
        for entry in row:
            yield _draw_sample(entry, x, y)
            yield text(
                x + _SAMPLE[0] + 8, y + _SAMPLE[1] / 2 + 3.8, entry.words, "oas-left oas-small"
            )
            x += entry.width


def _draw_sample(entry: Entry, x: float, y: float) -> str:
    wide, high = _SAMPLE
    if entry.kind is None:
        middle = number(y + high / 2)
        return f'<path class="oas-{entry.style}" d="M{number(x)},{middle}H{number(x + wide)}"/>'
    return shape(entry.kind, f"oas-{entry.style}", x, y, _SAMPLE)

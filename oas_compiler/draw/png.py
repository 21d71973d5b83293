"""SVG in, PNG out, without a browser, a network or fonts of the machine.

Needs the extra `draw`: resvg draws, and the font comes with it, because a machine without fonts
would show no text at all.  Fonts of the machine serve only characters that ours lacks.
"""

from __future__ import annotations

import importlib
import importlib.util
import pathlib

from oas_compiler.draw.colours import Theme
from oas_compiler.draw.layout import Picture
from oas_compiler.draw.svg import svg_text

FONT = '"Source Sans Pro", sans-serif'
_FONT_PACKAGE = "font_source_sans_pro"
_FACES = ("SourceSansPro-Regular.ttf", "SourceSansPro-Semibold.ttf")
MOST_PIXELS = 40_000_000
MOST_SIDE = 16_000
LEAST_ZOOM = 0.5
"""Smaller than this nobody can read it."""


class DrawingError(Exception):
    """A picture cannot be made in this format; the message says why and what to do."""


class ExtraMissing(DrawingError):
    """PNG needs the extra draw: pip install 'oasflow[draw]'."""

    def __init__(self) -> None:
        super().__init__((self.__doc__ or "").removesuffix("."))


class PictureTooLarge(DrawingError):
    """The flow is too large for a PNG that can be read."""


def png_bytes(picture: Picture, *, theme: Theme = "light", zoom: float = 2.0) -> bytes:
    """Draw `picture`; `auto` is light, since a PNG cannot ask the reader's screen.

    zoom: pixels per unit, lowered where the picture is large.

    Raises: `ExtraMissing`, `PictureTooLarge`.
    """
    fonts = _font_files()
    svg = svg_text(picture, theme="dark" if theme == "dark" else "light", fonts=FONT)
    wide, high = size_of(svg)
    fitting = min(zoom, MOST_SIDE / max(wide, high), (MOST_PIXELS / (wide * high)) ** 0.5)
    if fitting < LEAST_ZOOM:
        raise PictureTooLarge(
            f"the picture is {wide:,.0f} by {high:,.0f} units, too large for a PNG that can be "
            "read: write .svg or .html"
        )
    resvg = importlib.import_module("resvg_py")
    drawn = resvg.svg_to_bytes(svg_string=svg, font_files=fonts, zoom=fitting)
    return bytes(drawn)


def size_of(svg: str) -> tuple[float, float]:
    """Width and height of one of our own SVG texts."""
    box = svg[: svg.index(">")].partition('viewBox="0 0 ')[2].partition('"')[0]
    wide, high = box.split()
    return float(wide), float(high)


def _font_files() -> list[str]:
    """Raises: `ExtraMissing`."""
    try:
        found = importlib.util.find_spec(_FONT_PACKAGE)
        present = found is not None and importlib.util.find_spec("resvg_py") is not None
    except ValueError:
        present = False  # a module that a test or a host has blocked
    if not present or found is None or not found.origin:
        raise ExtraMissing
    folder = pathlib.Path(found.origin).parent / "files"
    files = [str(folder / face) for face in _FACES if (folder / face).is_file()]
    if not files:
        raise ExtraMissing
    return files

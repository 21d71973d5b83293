"""Pictures of a flow: SVG, a web page, PNG, Mermaid text.

    picture = lay_out(flow)                 # FlowIR -> boxes, frames and lines with their places
    svg_text(picture, theme="auto")         # str
    html_page(picture)                      # str, one file, no script
    png_bytes(picture, theme="dark")        # bytes, needs the extra draw

The stages, in order:

picture.py        the whole flow, subflows as frames; the text and size of each box
arrangement.py    the layout of one level: the stages of grid.py, then lines, rows and columns
grid.py           the row of each box, the order within rows, the horizontal place
svg.py            a picture -> SVG text
picture_files.py  a picture -> a web page, or PNG
mermaid.py        a flow -> Mermaid text, without these stages
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from oas_compiler.draw.mermaid import mermaid_text
    from oas_compiler.draw.picture import Picture, lay_out
    from oas_compiler.draw.picture_files import (
        DrawingError,
        ExtraMissing,
        PictureTooLarge,
        html_page,
        png_bytes,
    )
    from oas_compiler.draw.svg import Theme, svg_text

_LATER: Final = {
    "Picture": "draw.picture",
    "lay_out": "draw.picture",
    "Theme": "draw.svg",
    "svg_text": "draw.svg",
    "html_page": "draw.picture_files",
    "png_bytes": "draw.picture_files",
    "DrawingError": "draw.picture_files",
    "ExtraMissing": "draw.picture_files",
    "PictureTooLarge": "draw.picture_files",
    "mermaid_text": "draw.mermaid",
}

__all__ = [
    "Picture",
    "lay_out",
    "Theme",
    "svg_text",
    "html_page",
    "png_bytes",
    "DrawingError",
    "ExtraMissing",
    "PictureTooLarge",
    "mermaid_text",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)

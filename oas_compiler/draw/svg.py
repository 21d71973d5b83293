"""A picture in, SVG text out.

Self-contained: no script, no link, no font, no `foreignObject`; readers that know only basic SVG
show it too (arrow heads are shapes, colours are plain classes).  Every node is a group
`<g class="oas-node" data-node="outer/inner" data-type="gate">`, every control edge a path with
`data-from`, `data-to` and `data-branch`.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.draw.colours import FONTS, Theme, style_sheet
from oas_compiler.draw.layout import Picture
from oas_compiler.draw.legend import ROW, entries, legend, rows
from oas_compiler.draw.shapes import escape, frame, label, node, number, text, wire
from oas_compiler.draw.words import wrap
from oas_compiler.text.safe import safe

MARGIN = 28.0
_TITLE_SIZE = 20.0
_TITLE_LINE = 26.0
_NARROWEST = 440.0


def svg_text(picture: Picture, *, theme: Theme = "auto", fonts: str = FONTS) -> str:
    """The whole picture as an SVG document, without an XML declaration.

    fonts: a CSS font-family, tried in order.
    """
    inner = max(picture.width, _NARROWEST)
    titles = wrap(picture.title, _TITLE_SIZE, most=inner, bold=True, lines=2)
    explained = rows(entries(picture), inner)
    top = MARGIN + _TITLE_LINE * len(titles) + 34
    bottom = top + picture.height + 30
    wide, high = inner + 2 * MARGIN, bottom + ROW * len(explained) + MARGIN - 10
    left = MARGIN + (inner - picture.width) / 2
    size = f'width="{number(wide)}" height="{number(high)}"'
    box = f'viewBox="0 0 {number(wide)} {number(high)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="oas" role="img" {size} {box}>',
        f"<title>{escape(safe(picture.title))}</title>",
        f"<style>\n{style_sheet(theme, fonts=fonts)}</style>",
        f'<rect class="oas-page" {size}/>',
        *_draw_titles(titles, picture.subtitle),
        f'<g transform="translate({number(left)} {number(top)})">',
        *_draw_parts(picture),
        "</g>",
        f'<g class="oas-legend" transform="translate({number(MARGIN)} {number(bottom)})">',
        *legend(explained),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _draw_titles(titles: tuple[str, ...], subtitle: str) -> Iterator[str]:
    y = MARGIN + 16
    for title in titles:
        yield text(MARGIN, y, title, "oas-title")
        y += _TITLE_LINE
    yield text(MARGIN, y - 4, safe(subtitle), "oas-left oas-small")


def _draw_parts(picture: Picture) -> Iterator[str]:
    for placed in picture.frames:
        yield from frame(placed)
    for made in picture.wires:
        yield from wire(made)
    for placed in picture.boxes:
        yield from node(placed)
    for made in picture.wires:
        yield from label(made)

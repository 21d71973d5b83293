"""A picture in, one web page out: the drawing, and lists of its gates and sends.

One file without a script, a link or a font: it works from a disk, in a mail, and behind a strict
Content-Security-Policy, which it also sets itself, by the hashes of its own style sheets.  Dark
where the reader's screen is.  The drawing fits the window or has its own size, as the reader likes.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
import pathlib
import re
from collections.abc import Iterator, Sequence

from cinatra_sdk.contract import is_send_class
from oas_compiler.control.approval import Approval
from oas_compiler.draw.picture import Boxes, Picture, lay_out
from oas_compiler.draw.svg import FONTS, Theme, escape, svg_text
from oas_compiler.ir import FlowIR, Path
from oas_compiler.text.safe_text import safe

_LIGHT = ("#ffffff", "#16202b", "#52606d", "#d5dce4")
_DARK = ("#10161d", "#eef2f6", "#a9b6c3", "#34414e")
_PAGE = """\
:root{color-scheme:SCHEME}
body{margin:0;padding:24px;font:15px/1.5 FONTS}
h1{font-size:22px;margin:0 0 4px}
h2{font-size:17px;margin:28px 0 8px}
p{margin:0 0 12px;max-width:70ch}
input{margin:0 6px 0 0}
label{margin-right:18px}
figure{margin:14px 0;overflow:auto;border-radius:8px;border:1px solid}
figure svg{display:block;margin:auto}
#fit:checked~figure svg{max-width:100%;height:auto}
.tables{overflow-x:auto}
table{border-collapse:collapse}
th,td{text-align:left;padding:6px 14px 6px 0;border-bottom:1px solid;vertical-align:top}
td{overflow-wrap:anywhere}
code{font:13px ui-monospace,Consolas,monospace}
"""


def html_page(flow: FlowIR, *, theme: Theme = "auto") -> str:
    """The whole page."""
    boxes = Boxes(flow)
    svg = svg_text(lay_out(flow), theme=theme)
    page = _format_style_sheet(theme)
    hashes = " ".join(
        f"'{_hash_sheet(sheet)}'"
        for sheet in (page, *re.findall("<style>(.*?)</style>", svg, re.DOTALL))
    )
    policy = f"default-src 'none'; style-src {hashes}; base-uri 'none'; form-action 'none'"
    title = escape(safe(flow.name or flow.id))
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{page}</style>",
        "</head>",
        "<body>",
        f"<h1>{title}</h1>",
        f"<p>{escape(safe(flow.description))}</p>" if flow.description else "",
        '<input type="radio" name="size" id="fit" checked><label for="fit">fit the window</label>',
        '<input type="radio" name="size" id="full"><label for="full">full size</label>',
        f"<figure>\n{svg}</figure>",
        *_format_gates(boxes.approval),
        *_format_sends(boxes),
        "</body>",
        "</html>",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _hash_sheet(sheet: str) -> str:
    digest = hashlib.sha256(sheet.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _format_style_sheet(theme: Theme) -> str:
    scheme = {"auto": "light dark", "light": "light", "dark": "dark"}[theme]
    rules = _PAGE.replace("SCHEME", scheme).replace("FONTS", FONTS)
    rules += _format_colours(_DARK if theme == "dark" else _LIGHT)
    if theme == "auto":
        rules += f"@media (prefers-color-scheme:dark){{{_format_colours(_DARK)}}}"
    return rules


def _format_colours(colours: tuple[str, str, str, str]) -> str:
    ground, words, small, line = colours
    return (
        f"body{{background:{ground};color:{words}}}"
        f"label,th,caption{{color:{small}}}figure,th,td{{border-color:{line}}}"
    )


def _format_gates(approval: Approval) -> Iterator[str]:
    yield "<h2>Gates</h2>"
    if not approval.gates:
        yield "<p>No person is asked anywhere in this flow.</p>"
        return
    guarded = {step: send for step, _, send in approval.guards}
    yield from _format_table(
        ("step", "gate", "node", "risk class", "screen", "stands before"),
        [
            (
                str(gate.step),
                gate.name,
                _format_path(gate.path),
                gate.risk_class,
                gate.renderer or "the field fallback",
                guarded.get(gate.step, "nothing that sends" * is_send_class(gate.risk_class)),
            )
            for gate in approval.gates
        ],
    )


def _format_sends(boxes: Boxes) -> Iterator[str]:
    yield "<h2>Nodes that act on the world outside</h2>"
    if not boxes.sends:
        yield "<p>None has a risk class that sends, publishes, posts or deletes.</p>"
        return
    yield from _format_table(("node",), [(_format_path(path),) for path in sorted(boxes.sends)])


def _format_path(path: Path) -> str:
    return "/".join(path)


def _format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield '<div class="tables"><table>'
    yield f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{escape(safe(cell))}</td>' for cell in row)}</tr>"
    yield "</table></div>"


# ----------------------------------------------------------------------------
# SVG in, PNG out, without a browser, a network or fonts of the machine.
#
# Needs the extra `draw`: resvg draws, and the font comes with it, because a machine without fonts
# would show no text at all.  Fonts of the machine serve only characters that ours lacks.


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

"""The colours of pictures, light and dark, as CSS.

In: a theme.  Out: a style sheet for SVG: classes `oas-…`, every rule without variables, because
programs that draw SVG know none.  `auto` is light, and dark where the reader's screen is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Theme = Literal["auto", "light", "dark"]
FONTS = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, '
    '"DejaVu Sans", sans-serif'
)

# class → (fill, line, text): empty where it has none
_LIGHT: Mapping[str, tuple[str, str, str]] = {
    "page": ("#ffffff", "", ""),
    "title": ("", "", "#16202b"),
    "small": ("", "", "#52606d"),
    "line": ("", "#66747f", ""),
    "tip": ("#66747f", "", ""),
    "loop": ("", "#8a2be2", ""),
    "loop-tip": ("#8a2be2", "", ""),
    "label": ("#ffffff", "#9aa5b1", "#243b53"),
    "loop-label": ("#f6ecff", "#8a2be2", "#5b1a99"),
    "frame": ("#f5f7fa", "#8696a7", "#243b53"),
    "frame-odd": ("#e9eef4", "#8696a7", "#243b53"),
    "frame-send": ("#f5f7fa", "#c22727", "#243b53"),
    "start": ("#e3f5e6", "#3a8a4a", "#123d1b"),
    "end": ("#e3f5e6", "#3a8a4a", "#123d1b"),
    "gate": ("#fff1c2", "#b7791f", "#4a3200"),
    "branch": ("#e4eafc", "#4c63b6", "#1c2a63"),
    "call": ("#ffffff", "#52606d", "#16202b"),
    "message": ("#def4f5", "#2c8a90", "#0d4347"),
    "step": ("#ffffff", "#9aa5b1", "#16202b"),
    "send": ("#ffe3e1", "#c22727", "#5c0b0b"),
    "mark-plain": ("#ffffff", "#9aa5b1", "#3e4c59"),
    "mark-gate": ("#8f5a0a", "", "#ffffff"),
    "mark-send": ("#b91c1c", "", "#ffffff"),
}
_DARK: Mapping[str, tuple[str, str, str]] = {
    "page": ("#10161d", "", ""),
    "title": ("", "", "#eef2f6"),
    "small": ("", "", "#a9b6c3"),
    "line": ("", "#93a1ae", ""),
    "tip": ("#93a1ae", "", ""),
    "loop": ("", "#c792ff", ""),
    "loop-tip": ("#c792ff", "", ""),
    "label": ("#10161d", "#5b6977", "#d9e2ec"),
    "loop-label": ("#2b1740", "#c792ff", "#e9d5ff"),
    "frame": ("#18212b", "#56677a", "#d9e2ec"),
    "frame-odd": ("#212d3a", "#56677a", "#d9e2ec"),
    "frame-send": ("#18212b", "#ff7b72", "#d9e2ec"),
    "start": ("#12301a", "#57b36a", "#c9f2d1"),
    "end": ("#12301a", "#57b36a", "#c9f2d1"),
    "gate": ("#3f2f06", "#f0b429", "#ffe9ad"),
    "branch": ("#1d2750", "#8ea2ff", "#dbe2ff"),
    "call": ("#1c2733", "#93a1ae", "#eef2f6"),
    "message": ("#0d3336", "#4cc3cb", "#c9f3f5"),
    "step": ("#1c2733", "#5b6977", "#eef2f6"),
    "send": ("#4a1313", "#ff7b72", "#ffdad7"),
    "mark-plain": ("#10161d", "#5b6977", "#d9e2ec"),
    "mark-gate": ("#f0b429", "", "#2b1d00"),
    "mark-send": ("#ff7b72", "", "#330404"),
}
_SHAPES = """\
.oas text{font-family:FONTS;font-size:10.5px;text-anchor:middle;stroke:none}
.oas .oas-name{font-size:13px;font-weight:600}
.oas .oas-title{font-size:20px;font-weight:600;text-anchor:start}
.oas .oas-left{text-anchor:start}
.oas .oas-bold{font-weight:600}
.oas .oas-line,.oas .oas-loop{fill:none;stroke-width:1.6}
.oas .oas-loop{stroke-dasharray:6 4}
.oas .oas-gate,.oas .oas-send,.oas .oas-frame-send{stroke-width:2}
"""


def style_sheet(theme: Theme, *, fonts: str = FONTS) -> str:
    """CSS for a picture; `fonts` is a CSS font-family."""
    shapes = _SHAPES.replace("FONTS", fonts)
    if theme == "auto":
        return f"{shapes}{_format_rules(_LIGHT)}@media (prefers-color-scheme:dark){{\n{_format_rules(_DARK)}}}\n"
    return shapes + _format_rules(_DARK if theme == "dark" else _LIGHT)


def _format_rules(colours: Mapping[str, tuple[str, str, str]]) -> str:
    lines = []
    for name, (fill, line, text) in colours.items():
        if fill or line:
            shape = f"fill:{fill};" * bool(fill) + f"stroke:{line};" * bool(line)
            lines.append(f".oas .oas-{name}{{{shape.rstrip(';')}}}\n")
        if text:
            own = f"text.oas-{name}" if not (fill or line) else f".oas-{name}-text"
            lines.append(f".oas {own}{{fill:{text}}}\n")
    return "".join(lines)

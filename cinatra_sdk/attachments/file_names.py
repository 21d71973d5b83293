"""The name under which a file is uploaded: with an ending that fits its type.

    name_file("Report", "application/pdf")       Report.pdf
    name_file("notes.MARKDOWN", "text/markdown")  notes.MARKDOWN
    name_file("scan", "image/x-!!")               scan
    find_type("Plan.PDF")                        application/pdf

OpenAI tells a file's format by the ending of its name.  Control characters go, for a name is written
into the head of a part of a request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cinatra_sdk.attachments.one_line import write_one_line

EXTENSIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "application/pdf": (".pdf",),
        "text/plain": (".txt",),
        "text/markdown": (".md", ".markdown"),
        "text/csv": (".csv",),
        "application/json": (".json",),
        "image/png": (".png",),
        "image/jpeg": (".jpg", ".jpeg"),
        "image/webp": (".webp",),
    }
)
"""Type → the endings that fit it; the first is added where none of them is there."""

MAX_NAME: Final = 200
"""Characters of a file's name, its ending included."""


def find_extensions(mime: str) -> tuple[str, ...]:
    """The endings that fit a type; empty where none is known."""
    lower = mime.lower()
    if lower in EXTENSIONS:
        return EXTENSIONS[lower]
    other = re.fullmatch(r"image/([a-z0-9]+)", lower)
    return (f".{other[1]}",) if other else ()


def find_type(name: str) -> str:
    """The type of a file by the ending of its name; empty where no model reads such files."""
    lower = name.lower()
    for mime, endings in EXTENSIONS.items():
        if lower.endswith(endings):
            return mime
    other = re.search(r"\.(gif|bmp|tiff|heic|heif|avif)\Z", lower)
    return f"image/{other[1]}" if other else ""


def name_file(name: str, mime: str) -> str:
    """`name` on one line, with an ending that fits; a name that has one keeps it as it is."""
    fitting = find_extensions(mime)
    kept = write_one_line(name, most=MAX_NAME) or "attachment"
    if not fitting or kept.lower().endswith(fitting):
        return kept
    return write_one_line(kept, most=MAX_NAME - len(fitting[0])) + fitting[0]

"""Urls of a flow: every value in the path becomes exactly one segment.

    template  https://crm.example.com/people/{{ name }}/notes?by={{ who }}
    values    {"name": "Ada/Lovelace?", "who": "a b"}
    url       https://crm.example.com/people/Ada%2FLovelace%3F/notes?by=a b

Only values in a path that the author began are encoded: a value before the path's first slash is
part of the host, and a value after `?` or `#` may be several parameters.  The whole url is checked
later (`cinatra_sdk/platform/origin.py`), which refuses a value that makes a dot segment, because
servers decode `%2E` and `%2F` before they use a path.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from cinatra_sdk.templates.language import TemplateError
from cinatra_sdk.templates.rendering import Renderer

_NONCE: Final = secrets.token_hex(16)
_PUT: Final = re.compile(f"\\ue000{_NONCE}<(.*?)\\ue001{_NONCE}>", re.DOTALL)
_AUTHORITY: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*)?://[^/?#]*")
"""Scheme and host, or the part of them that the author wrote."""


def render_url(template: Renderer, values: Mapping[str, Any]) -> str:
    """The url with `values` put in, each as one segment where it stands in the path.

    Raises: `TemplateError`.
    """
    marked = template.text(values, put=_mark)
    written, made = "", []
    if _NONCE not in marked:
        return marked
    # Text of the author and of values in turn, as `split` gives them.
    for index, part in enumerate(_PUT.split(marked)):
        if index % 2 == 0:
            written += part
        made.append(_encode(part) if index % 2 and _is_in_path(written) else part)
    return "".join(made)


def _mark(text: str) -> str:
    return f"\ue000{_NONCE}<{text}\ue001{_NONCE}>"


def _is_in_path(written: str) -> bool:
    """Whether what follows the author's own text stands in a path."""
    authority = _AUTHORITY.match(written)
    path = written[authority.end() :] if authority else written
    return "/" in path and not set(written) & {"?", "#"}


def _encode(value: str) -> str:
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        pass
    raise TemplateError("a value in the url's path is no text: it holds half a character")

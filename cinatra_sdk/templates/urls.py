"""Urls of a flow: a value in the path is one segment, whatever it holds.

    template  https://crm.example.com/people/{{ name }}/notes?by={{ who }}
    values    {"name": "Ada/Lovelace?", "who": "a b"}
    url       https://crm.example.com/people/Ada%2FLovelace%3F/notes?by=a b

Only what stands in a path that the author began is encoded: a value in front of the path's first
slash says which host it is, and one behind `?` or `#` may be several parameters.  Whether the url
may be called is asked of the whole of it, later (`cinatra_sdk/platform/origin.py`); a value that
makes a dot segment is refused there, since servers decode `%2E` and `%2F` before they go by them.
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
"""Scheme and host, or what a value leaves of them."""


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

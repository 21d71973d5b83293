"""Urls of a flow: a value in the path is one segment, whatever the value holds.

    template  https://crm.example.com/people/{{ name }}/notes?by={{ who }}
    values    {"name": "Ada/Lovelace?", "who": "a b"}
    url       https://crm.example.com/people/Ada%2FLovelace%3F/notes?by=a b

A value in a path that the author began is encoded.  Four kinds of values stay as they are: a value in front
of the path's first slash, which names the host; a value behind `?` or `#`, which may be several parameters;
an expression in which the author wrote `/`, `?` or `#` (`{{ '?page=' ~ page }}`); and `{{NAME}}`, because a
placeholder without a value is refused where the url is called.

Whether the whole url may be called is decided later (`cinatra_sdk/outside/platform/call_addresses.py`).  A
value that makes a dot segment is refused there: servers decode `%2E` and `%2F` before they resolve.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import quote

from cinatra_sdk.data.templates.flow_templates import Renderer
from cinatra_sdk.data.templates.language import MAX_OUTPUT, TemplateError

_KEPT: Final = re.compile(r"(\{\{[A-Z][A-Z0-9_]*\}\})")


def render_url(
    template: Renderer,
    values: Mapping[str, Any],
    fill: Callable[[str], str] = lambda text: text,
) -> str:
    """The url with `values` put in, each as one segment where it stands in the path.

    fill: gives the author's text as it will be sent, with what is put in for the host's
          placeholders; only read, to see where the path begins.
    Raises: `TemplateError`.
    """
    if template.constant is not None:
        return template.constant
    put = _PutValues()
    marked = template.text(values, put=put)
    if not put.texts:
        return marked
    place = _Place()
    made = []
    # The author's text and numbers of values in turn, as `split` gives them.
    for index, part in enumerate(put.mark.split(marked)):
        if index % 2:
            value = put.texts[int(part)]
            made.append(_encode_segment(value) if place.where == "path" else value)
        else:
            place.read(fill(part))
            made.append(part)
    url = "".join(made)
    if len(url) > MAX_OUTPUT:
        raise TemplateError(f"the rendered url has more than {MAX_OUTPUT} characters")
    return url


@dataclass(slots=True)
class _PutValues:
    """Keeps each value's text, and puts a mark in its place that no value can hold."""

    nonce: str = ""
    """Made for the first value: most urls hold none."""
    texts: list[str] = field(default_factory=list)
    room: int = MAX_OUTPUT

    def __call__(self, text: str) -> str:
        self.room -= len(text)
        if self.room < 0:
            raise TemplateError(f"the rendered text has more than {MAX_OUTPUT} characters")
        self.nonce = self.nonce or secrets.token_hex(8)
        self.texts.append(text)
        return f"\ue000{self.nonce}{len(self.texts) - 1}\ue001"

    @property
    def mark(self) -> re.Pattern[str]:
        return re.compile(f"\ue000{self.nonce}([0-9]+)\ue001")


@dataclass(slots=True)
class _Place:
    """Where in a url its reader stands; read once from left to right."""

    where: Literal["start", "authority", "path", "query"] = "start"
    last: str = ""
    """The end of what was read at the start: `:` or `:/` may begin `://`."""

    def read(self, text: str) -> None:
        """Go on behind `text`."""
        if self.where == "query":
            return
        end = min((at for sign in "?#" if (at := text.find(sign)) >= 0), default=-1)
        rest = text if end < 0 else text[:end]
        if self.where == "start":
            rest = self._read_start(rest)
        if self.where == "authority" and "/" in rest:
            self.where = "path"
        if end >= 0:
            self.where = "query"

    def _read_start(self, text: str) -> str:
        """Go on to the authority or the path; what is left of `text`."""
        known = self.last + text
        at = known.find("/")
        if at < 0 or known[at - 1 :] == ":/":
            self.last = known[-2:] if known.endswith(":/") else known[-1:]
            return ""
        has_scheme = known[max(at - 1, 0) : at + 2] == "://"
        self.where = "authority" if has_scheme else "path"
        return known[at + 2 :] if has_scheme else ""


def _encode_segment(value: str) -> str:
    try:
        parts = _KEPT.split(value)
        return "".join(part if i % 2 else quote(part, safe="") for i, part in enumerate(parts))
    except UnicodeEncodeError:
        pass
    raise TemplateError("a value in the url's path is no text: it holds half a character")

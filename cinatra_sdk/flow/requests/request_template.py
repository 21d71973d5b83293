"""A request, made from the author's templates, a run's values and placeholders.

In: the templates of one node, and the host's placeholders (`env=`).  Out: `Request`, whose
`rendered` gives url, headers, query and body twice: as they are sent, and as they may be shown.

    url       "{{CRM_URL}}/people/{{ id }}?key={{CRM_TOKEN}}"
    sent      https://crm.example.com/people/7?key=s3cret
    written   {{CRM_URL}}/people/7?key={{CRM_TOKEN}}

A placeholder's value is a secret of the run, so it is put in here and nowhere else, last of all:
while values are rendered, a mark that nobody else can know stands in its place.

A value in the path of the url is one segment of it, whatever the value holds:

    template  https://crm.example.com/people/{{ name }}/notes?by={{ who }}
    values    {"name": "Ada/Lovelace?", "who": "a b"}
    url       https://crm.example.com/people/Ada%2FLovelace%3F/notes?by=a b

Four kinds of values stay as they are: see `render_url`.

Only the author's own words name the platform: `{{CINATRA_BASE_URL}}` at the beginning of the url
as the file has it, or the whole origin, written out.  A value that spells either does not.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final, Literal, Protocol
from urllib.parse import quote

from pydantic import JsonValue

from cinatra_sdk.contract import BASE_URL, BASE_URL_MARK
from cinatra_sdk.data.author_json import Json, SealedJson
from cinatra_sdk.data.sensitive_fields import lend_secrets
from cinatra_sdk.data.templates.flow_templates import Renderer
from cinatra_sdk.data.templates.language import MAX_OUTPUT, TemplateError, json_text
from cinatra_sdk.data.templates.placeholders import fill_environment, find_open, list_unfilled
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import BASE_URL_PLACEHOLDER, ShownCall

_KEPT: Final = re.compile(r"(\{\{[A-Z][A-Z0-9_]*\}\})")


def render_url(
    template: Renderer,
    values: Mapping[str, Any],
    fill: Callable[[str], str] = lambda text: text,
) -> str:
    """The url with `values` put in, each as one segment where it stands in the path.

    A value in a path that the author began is encoded.  Four kinds of values stay as they are: a value in
    front of the path's first slash, which names the host; a value behind `?` or `#`, which may be several
    parameters; an expression in which the author wrote `/`, `?` or `#` (`{{ '?page=' ~ page }}`); and
    `{{NAME}}`, because a placeholder without a value is refused where the url is called.

    Whether the whole url may be called is decided later (`cinatra_sdk/outside/http_calls/call_addresses.py`).
    A value that makes a dot segment is refused there: servers decode `%2E` and `%2F` before they resolve.

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


_PLATFORM: Final = re.compile(BASE_URL_MARK)
_ORIGIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#{}]+(?:[/?#]|\Z)")
_SPELLS_PLATFORM: Final = re.compile(r"\s*\{\{[-+]?\s*CINATRA_BASE_URL\b")
_NO_SECRETS: Final[Mapping[str, Any]] = {}
_PARTS: Final = ("url", "headers", "query", "body", "sensitive_headers")
_NONCE: Final = secrets.token_hex(16)
_NONCE_PARTS: Final = tuple(_NONCE[at : at + 12] for at in range(21))
_MARK: Final = re.compile(f"\ue000{_NONCE}:([A-Z][A-Z0-9_]*)\ue001")
_MARKED_ORIGIN: Final = re.compile(rf"{_MARK.pattern}(?:[/?#]|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """One request, values and placeholders put in."""

    url: str
    headers: dict[str, str]
    query: dict[str, str]
    body: JsonValue
    sensitive_headers: dict[str, str] = field(repr=False)
    """No part of `written`: what is shown of a request has nothing of these."""
    written: ShownCall | None
    """The same as it may be shown, where placeholders are in it."""

    def with_body_default(self, key: str, value: JsonValue) -> Rendered:
        """The same with `key` in its body; a body that has it, or is no object, stays as it is."""
        if not isinstance(self.body, dict) or key in self.body:
            return self
        return self.with_body_value(key, value)

    def with_body_value(self, key: str, value: JsonValue) -> Rendered:
        """The same with this value under `key` of its body, which is an object."""
        assert isinstance(self.body, dict)
        written = self.written
        if written is not None and isinstance(written.body, dict):
            written = replace(written, body={**written.body, key: value})
        return replace(self, body={**self.body, key: value}, written=written)


class WrittenRequest(Protocol):
    """A request as its author wrote it: texts are templates."""

    @property
    def method(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def data(self) -> Json | None: ...
    @property
    def headers(self) -> Json: ...
    @property
    def query(self) -> Json: ...
    @property
    def sensitive_headers(self) -> SealedJson: ...
    @property
    def url_allow_list(self) -> tuple[str, ...] | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The templates of one node."""

    method: Renderer
    platform: bool
    """Whether the author's url begins with the placeholder of the platform."""
    origin_by_value: bool
    """Whether the url's host comes from anything but the author's literal text."""
    origin_by_placeholder: bool
    """Whether the host comes from the host's placeholders only, and from no value of the run."""
    url: Renderer
    """Without the placeholder of the platform."""
    headers: Renderer
    query: Renderer
    body: Renderer | None
    sensitive_headers: Renderer
    open_headers: Mapping[str, Any]
    """The author's words of the headers, of both groups, with a placeholder without a value."""
    url_allow_list: tuple[str, ...] | None
    """With the values of the host's placeholders."""
    env: Mapping[str, str]

    @classmethod
    def of(
        cls,
        written: WrittenRequest,
        env: Mapping[str, str],
        secrets: Mapping[str, Any] | None = _NO_SECRETS,
    ) -> Request:
        """secrets: the host's values of sensitive fields.

        Raises: `NotConfigured` for a name without one.
        """
        url = written.url
        begin = _PLATFORM.match(url)
        rest = url[begin.end() :] if begin else url
        marks = {name: f"\ue000{_NONCE}:{name}\ue001" for name in env}
        filled = fill_environment(rest, marks)
        headers: Any = fill_environment(written.headers.value(), marks)
        sensitive: Any = fill_environment(
            lend_secrets(written.sensitive_headers.value(), secrets), marks
        )
        return cls(
            method=Renderer(written.method),
            platform=begin is not None,
            origin_by_value=begin is None and not _ORIGIN.match(url),
            origin_by_placeholder=begin is None and bool(_MARKED_ORIGIN.match(str(filled))),
            url=Renderer(filled),
            headers=Renderer(headers),
            query=Renderer(fill_environment(written.query.value(), marks)),
            body=None
            if written.data is None
            else Renderer(fill_environment(written.data.value(), marks)),
            sensitive_headers=Renderer(sensitive),
            open_headers=find_open({**headers, **sensitive}),
            url_allow_list=_fill_entries(written.url_allow_list, env),
            env=dict(env),
        )

    def rendered(self, values: Mapping[str, Any]) -> Rendered:
        """Raises: `TemplateError`."""
        begin = BASE_URL_PLACEHOLDER if self.platform else ""
        url = begin + render_url(self.url, values, self._fill_url)
        headers, query = self.headers.render(values), self.query.render(values)
        body = None if self.body is None else self.body.render(values)
        sensitive = self.sensitive_headers.render(values)
        if not self.env:
            return Rendered(
                url=url,
                headers=_encode_texts(headers),
                query=_encode_texts(query),
                body=body,
                sensitive_headers=_encode_texts(sensitive),
                written=None,
            )
        sent = [self._fill_env_marks(part) for part in (url, headers, query, body, sensitive)]
        for name, part in zip(_PARTS, sent, strict=True):
            if _holds_nonce(part):
                raise TemplateError(
                    f"an expression in the {name} changes a placeholder of the host: "
                    "put {{NAME}} in as it is"
                )
        return Rendered(
            url=str(sent[0]),
            headers=_encode_texts(sent[1]),
            query=_encode_texts(sent[2]),
            body=sent[3],
            sensitive_headers=_encode_texts(sent[4]),
            written=ShownCall(
                url=str(_restore_placeholders(url)),
                body=_restore_placeholders(body),
                headers=_encode_texts(_restore_placeholders(headers)),
                query=_encode_texts(_restore_placeholders(query)),
            ),
        )

    def list_unfilled(self, rendered: Rendered) -> tuple[tuple[str, str], ...]:
        """Headers that still have a placeholder of the author in them, each with its name."""
        if not self.open_headers:
            return ()
        sent = {**rendered.headers, **rendered.sensitive_headers}
        return list_unfilled(self.open_headers, sent)

    def _fill_env_marks(self, tree: JsonValue) -> JsonValue:
        return _replace_marks(tree, self.env)

    def _fill_url(self, text: str) -> str:
        return str(self._fill_env_marks(text))


def _fill_entries(
    entries: tuple[str, ...] | None, env: Mapping[str, str]
) -> tuple[str, ...] | None:
    """The entries of a `url_allow_list`; one with a placeholder without a value covers nothing."""
    if entries is None:
        return None
    begin = {BASE_URL: BASE_URL_PLACEHOLDER}  # its value is the platform's, and env has none
    return tuple(str(fill_environment(entry, {**env, **begin})) for entry in entries)


def names_platform(url: str) -> bool:
    """Whether an author's url begins with the placeholder of the platform."""
    return _PLATFORM.match(url) is not None


def usual_url(url: str) -> str:
    """An author's url with the placeholder of the platform in its usual spelling."""
    begin = _PLATFORM.match(url)
    return url if begin is None else BASE_URL_PLACEHOLDER + url[begin.end() :]


def spells_platform(url: str) -> bool:
    """Whether `url` begins as only the author of a flow may have it begin."""
    return _SPELLS_PLATFORM.match(url) is not None


def _holds_nonce(tree: JsonValue) -> bool:
    """Whether something is left of a mark.

    Whoever knows the nonce can spell a mark, which would be filled in where a later request puts
    their text in: what an expression has made of a mark is not sent.
    """
    if isinstance(tree, str):
        text = tree.casefold()
        return any(part in text for part in _NONCE_PARTS)
    if isinstance(tree, dict):
        return any(_holds_nonce(part) for item in tree.items() for part in item)
    return isinstance(tree, list) and any(_holds_nonce(item) for item in tree)


def _restore_placeholders(tree: JsonValue) -> JsonValue:
    return _replace_marks(tree, None)


def _replace_marks(tree: JsonValue, env: Mapping[str, str] | None) -> JsonValue:
    """`tree` with values for its marks, or with the names of the placeholders."""
    if isinstance(tree, str):
        if _NONCE not in tree:
            return tree
        return _MARK.sub(
            lambda found: "{{" + found[1] + "}}" if env is None else env[found[1]], tree
        )
    if isinstance(tree, list):
        return [_replace_marks(item, env) for item in tree]
    if isinstance(tree, dict):
        return {key: _replace_marks(item, env) for key, item in tree.items()}
    return tree


def _encode_texts(rendered: Any) -> dict[str, str]:
    return {k: v if isinstance(v, str) else json_text(v) for k, v in rendered.items()}

"""Classifies a templated address: the platform, a literal host, or a host that only the run
decides.

    "{{CINATRA_BASE_URL}}/api/x"        ->  platform
    "/api/x", ""                        ->  path: the host it is taken from
    "https://api.example.com/x"         ->  host "api.example.com"
    "https://{{ tenant }}.example.com"  ->  templated: data of the run decides

The installation fills in an `{{UPPER_CASE}}` name, not the data of a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final
from urllib.parse import urlsplit

from cinatra_sdk.contract import BASE_URL_MARK
from cinatra_sdk.data.text.message_words import LONGEST_COMPARED
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.finding import Edit
from oas_compiler.ir import Json, JsonValue
from oas_compiler.templates import TemplateInvalid, TemplateReader, is_environment_name, strings

_PLATFORM_MARK, _ENVIRONMENT_MARK, _DATA_MARK = "\x01", "\x02", "\x03"
_LOOPBACK = frozenset({"localhost", "0.0.0.0", "[::1]", "host.docker.internal"})  # noqa: S104 - addresses to recognise
_PLATFORM = re.compile(BASE_URL_MARK)
_AUTHORITY = re.compile(r"[^/?#\\]*")
_PLATFORM_AUTHORITY = re.compile(_PLATFORM_MARK + r"(:[0-9]+)?")

CALLERS = ("ApiNode", "RemoteTool")
"""Components whose `url` a flow itself calls."""
TRANSPORTS = (
    "SSETransport",
    "SSEmTLSTransport",
    "StreamableHTTPTransport",
    "StreamableHTTPmTLSTransport",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The facts about an address that are known before a run."""

    scheme: str = ""
    host: str = ""
    """Host of a literal address; empty otherwise."""
    platform: bool = False
    path: bool = False
    """Whether the address is only a path, on the host that it is used with, or empty."""
    templated: bool = False
    """Whether values of the run decide the host."""

    @property
    def is_loopback(self) -> bool:
        return self.host in _LOOPBACK or self.host.startswith("127.")


def read_address(text: str) -> Address:
    marked = "".join(_mark_placeholders(text.strip()))
    if marked == "" or (marked.startswith("/") and marked[1:2] not in {"/", "\\"}):
        return Address(path=True)
    scheme, separator, rest = marked.partition("://")
    if not separator or not scheme.replace(_DATA_MARK, "x").isalpha():
        scheme, rest = "", marked.lstrip("/\\")
    authority = _find_authority(rest)
    if _DATA_MARK in scheme or _DATA_MARK in authority:
        return Address(scheme=scheme.lower(), templated=True)
    if scheme == "" and _PLATFORM_AUTHORITY.fullmatch(authority):
        return Address(platform=True)
    if _PLATFORM_MARK in authority or _ENVIRONMENT_MARK in authority:
        return Address(scheme=scheme.lower())
    if scheme == "" and not marked.startswith(("//", "/\\")):
        return Address()
    host = authority.rpartition("@")[2].lower()
    # an IPv6 host stands in brackets and has colons of its own
    inside, bracket, _ = host.partition("]")
    host = inside + bracket if bracket else host.partition(":")[0]
    return Address(scheme=scheme.lower(), host=host)


def addresses(subject: Subject, *types: str) -> Iterator[tuple[Written, str, Address]]:
    """(component, field, address) of each component of these types with an address."""
    for component in subject.of_type(*types):
        field = "agent_url" if component.type == "A2AAgent" else "url"
        text = component.value.get(field)
        if isinstance(text, str):
            yield component, field, read_address(text)


def _find_authority(rest: str) -> str:
    found = _AUTHORITY.match(rest)
    return found[0] if found is not None else ""


def _mark_placeholders(text: str) -> Iterator[str]:
    """The text with one character for each placeholder."""
    at = 0
    while (start := text.find("{{", at)) >= 0 and (stop := text.find("}}", start)) >= 0:
        yield text[at:start]
        name = text[start + 2 : stop].strip()
        if _PLATFORM.match(text, start):
            yield _PLATFORM_MARK
        else:
            yield _ENVIRONMENT_MARK if is_environment_name(name) else _DATA_MARK
        at = stop + 2
    yield text[at:]


LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1", "host.docker.internal"})  # noqa: S104 - an address to recognise

AGENT_PATH = "/api/a2a/agents/"


def is_internal(url: str) -> bool:
    """Whether the address of an agent leads to the host itself."""
    if read_address(url).platform:
        return True
    whole = url if "://" in url or url.startswith("/") else f"//{url}"
    try:
        parts = urlsplit(whole)
    except ValueError:  # brackets of an address that do not match
        return False
    host = parts.hostname or ""
    return host in LOCAL_HOSTS or (not host and AGENT_PATH in parts.path)


RUN_ID = "agent_run_id"

GIVEN = ("cinatra_run_id", RUN_ID)
"""The host's names of the run id when it starts a flow."""

TRIGGER_TOOL = "trigger_config_set"


VALUES: dict[str, tuple[str, ...]] = {
    "preferredProvider": ("openai", "anthropic", "gemini"),
    "preferredModel": (),
    "capabilityRequired": ("media_input", "function_tools", "native_mcp"),
}
"""The keys of `llm` and their values; an empty tuple stands for any string."""


# ----------------------------------------------------------------------------
# The ApiNodes that call the host's model bridge.  For rules; not a rule itself.
#
# {"url": "{{CINATRA_BASE_URL}}/api/llm-bridge"}     a bridge node
# {"url": "{{CINATRA_BASE_URL}}/api/llm-bridge/"}    one too: the same route
# {"url": "{{CINATRA_BASE_URL}}/api/llm-bridge/v2"}  none: the url must end there


BRIDGE = "/api/llm-bridge"
_MOST_COMPARED: Final = 100
BODIES = ("data", "body", "config")
"""Fields in which a node may keep its request body; tools name the field differently."""


def bridge_nodes(subject: Subject) -> Iterator[Written]:
    """The ApiNodes of all flows that post to the bridge."""
    nodes = subject.of_type("ApiNode")
    return (node for node in nodes if node.text("url").rstrip("/").endswith(BRIDGE))


def lacks(node: Written, key: str) -> bool:
    """Whether `data` of the node, where the loader looks, lacks `key`."""
    data = node.value.get("data")
    return not isinstance(data, dict) or key not in data


def misspelt_key(node: Written, key: str) -> str:
    """The key of `data` that is almost `key`; empty where there is none."""
    data = node.value.get("data")
    names = (
        [name for name in data if len(name) <= LONGEST_COMPARED] if isinstance(data, dict) else []
    )
    near = get_close_matches(key, names[:_MOST_COMPARED], n=1, cutoff=0.75)
    return near[0] if near else ""


class Addition:
    """Puts one value under one key of `data`, as the loader's own pass over a file does.

    The value is written out once, however many nodes it goes to.
    """

    def __init__(self, key: str, value: JsonValue) -> None:
        self._key = key
        self._value = Json.of(value)
        self._body = Json.of({key: value})

    def to(self, node: Written) -> tuple[Edit, ...]:
        """The edit of this node; None where `data` is no object, or has a key that is spelt almost
        the same.
        """
        if misspelt_key(node, self._key):
            return ()
        if isinstance(node.value.get("data"), dict):
            return (Edit(pointer=node.at("data", self._key), value=self._value),)
        if "data" in node.value:
            return ()
        return (Edit(pointer=node.at("data"), value=self._body),)


# ----------------------------------------------------------------------------
# The inputs that the host's pattern finds in the texts of an ApiNode.  Not a rule itself.
#
#     "{{ a }} {{ b|tojson }} {# {{ c }} #} {{BASE_URL}}"    ->   {"a", "c"}
#
# The host (and the runtime behind it) looks for names by this pattern, not by parsing the template:
# a name with a filter is not seen, a name in a comment is.


PARSED = ("url", "http_method", "data", "query_params", "headers")
"""Fields whose templates are parsed while a flow is built (OAS080, OAS081)."""
SEARCHED = (*PARSED, "api_spec_uri")
"""Fields that the host's pattern is applied to."""

_HIDING = ("{#", "{%", "'", '"')
"""Signs of comments, blocks and quotes: only inside these is a name not looked up."""
_BARE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def templates(node: Written, fields: tuple[str, ...] = SEARCHED) -> Iterator[tuple[str, str]]:
    """Every text of these fields that could be a template, keys included, with its pointer."""
    for field in fields:
        yield from strings(node.value.get(field), node.at(field))


def bare_names(text: str) -> set[str]:
    """The names that the pattern finds, without names of the environment."""
    return {name for name in _BARE.findall(text) if not is_environment_name(name)}


def used_names(text: str, reader: TemplateReader) -> frozenset[str] | None:
    """The names of the pattern that rendering may look up.

    `None` when the text is no valid template, or when the document has too many to tell.
    """
    if not any(mark in text for mark in _HIDING):
        return frozenset(bare_names(text))  # the common case, without parsing
    try:
        return frozenset(reader.names(text))
    except TemplateInvalid:
        return None

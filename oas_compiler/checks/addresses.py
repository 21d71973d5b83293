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
from dataclasses import dataclass
from urllib.parse import urlsplit

from cinatra_sdk.contract import BASE_URL_MARK
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.templates.reading import is_environment_name

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

"""The addresses that a flow may call: strictly read urls, the allow list, and the SSRF guard.

In: the text of a url, the operator's allow list, the addresses a host name resolved to.
Out: a `Target`, the `AllowEntry` that covers it, the addresses that may be connected to;
or a `RefusalError` that names the broken rule.

    allow = AllowEntry.parse("https://crm.example.com/v1")
    allow.covers(read_url("https://crm.example.com/v1/people"))      True
    allow.covers(read_url("https://crm.example.com/v10"))            False
    read_url("https://crm.example.com/v1/%252e%252e/admin")          RefusalError: a dot segment

Limits of the guard: the platform's own origin and entries that name an address (or `localhost`) are
trusted as the operator wrote them; a public address that forwards into a private network is not
recognised; nothing is checked behind a proxy of an injected client.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

from cinatra_sdk.light_imports.records import dataclass

Address: TypeAlias = "IPv4Address | IPv6Address"

DEFAULT_PORTS = {"http": 80, "https": 443}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,252})")
_MAX_DECODINGS = 8
_NAT64 = IPv6Network("64:ff9b::/96")
_SPECIAL = tuple(
    ip_network(text)
    for text in (
        "192.0.0.0/24",  # protocol assignments; 192.0.0.192 is a cloud's metadata service
        "192.88.99.0/24",  # relays of 6to4
        "192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "3fff::/20",  # documentation
    )
)  # fmt: skip
"""Ranges without services that Python counts as global, in part or in some versions."""
_CLOUD_METADATA = frozenset({IPv4Address("168.63.129.16"), IPv6Address("fd00:ec2::254")})
"""Metadata services outside the link-local range (which is refused as a whole)."""


class RefusalError(ValueError):
    """A url, an allow entry or an address breaks a rule; the text names the rule, never a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Scheme, host and effective port: the unit that credentials are bound to."""

    scheme: str
    host: str
    """Lower case; an IPv6 address without brackets, in its shortest form."""
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if DEFAULT_PORTS[self.scheme] == self.port else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A url with exactly one reading."""

    origin: Origin
    segments: tuple[str, ...]
    """The path, fully decoded and split; a trailing slash leaves no empty segment."""
    has_query: bool = False


def read_url(text: str) -> Target:
    """Read `text` strictly.

    Raises: `RefusalError` for anything that two parsers could read in two ways.
    """
    if _CONTROL.search(text):
        raise RefusalError("the url holds a control character (CR, LF, NUL, …)")
    if text != text.strip() or "\\" in text:
        raise RefusalError("the url holds a backslash, or a space at an end")
    parts = _split_url(text)
    port = parts.port
    if parts.scheme not in DEFAULT_PORTS:
        raise RefusalError("the url's scheme must be http or https")
    if "@" in parts.netloc:
        raise RefusalError("the url holds a user name or a password")
    if port == 0:
        raise RefusalError("the url's port is 0")
    origin = Origin(
        scheme=parts.scheme, host=_read_host(parts), port=port or DEFAULT_PORTS[parts.scheme]
    )
    return Target(origin=origin, segments=decoded_segments(parts.path), has_query=bool(parts.query))


def _split_url(text: str) -> SplitResult:
    with suppress(ValueError):
        parts = urlsplit(text)
        _ = parts.port  # read here, because it may raise too
        return parts
    # Raised outside of the handler, here and below: the parser's error quotes the url, and would
    # stay in this error's context.
    raise RefusalError("the url cannot be parsed")


def _read_host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if "[" in parts.netloc:
        with suppress(ValueError):
            return str(IPv6Address(host))
        raise RefusalError("the url's IPv6 address cannot be read")
    if not _HOST_NAME.fullmatch(host):
        raise RefusalError("the url has no host, or one that is not a plain ASCII host name")
    return host


def decoded_segments(path: str) -> tuple[str, ...]:
    """The segments of `path`, percent-decoded until nothing changes any more.

    Servers may decode once or twice; neither reading may contain a dot segment.
    """
    for _ in range(_MAX_DECODINGS):
        decoded = _decode_path(path)
        if decoded == path:
            break
        path = decoded
    else:
        raise RefusalError("the url's path is percent-encoded many times over")
    if _CONTROL.search(path) or "\\" in path:
        raise RefusalError("the url's path decodes to a control character or a backslash")
    segments = tuple(segment for segment in path.split("/") if segment)
    # Servers with path parameters read `..;x` as `..`.
    if any(segment.partition(";")[0].strip() in {".", ".."} for segment in segments):
        raise RefusalError("the url's path has a dot segment (`.` or `..`)")
    return segments


def _decode_path(path: str) -> str:
    with suppress(UnicodeDecodeError):
        return unquote(path, errors="strict")
    # A lenient server reads over-long forms such as `%c0%ae` as a dot.
    raise RefusalError("the url's path is percent-encoded, but not as UTF-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowEntry:
    """One origin beside the platform's own that a flow may call: `scheme://host[:port][/prefix]`."""

    origin: Origin
    prefix: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> AllowEntry:
        """Raises: `RefusalError`, a `ValueError`, when the entry is not of that form."""
        target = read_url(text)
        if target.has_query or "#" in text:
            raise RefusalError("an allow entry has no query and no fragment")
        return cls(origin=target.origin, prefix=target.segments)

    def covers(self, target: Target) -> bool:
        """Scheme and authority are equal, and the path begins with the prefix, segment by segment."""
        begins = target.segments[: len(self.prefix)] == self.prefix
        return target.origin == self.origin and begins

    def checked(self, addresses: Sequence[Address]) -> tuple[Address, ...]:
        """The addresses, IPv4 first, if a flow may connect to all of them.

        One forbidden address refuses all: a host name with public and private addresses looks like
        a rebinding attack.
        """
        for address in addresses:
            reason = forbidden(address)
            if reason and not self._names(address):
                raise RefusalError(f'the host "{self.origin.host}" resolves to {reason}')
        return tuple(sorted(addresses, key=lambda address: address.version))

    def _names(self, address: Address) -> bool:
        if self.origin.host == "localhost":
            return address.is_loopback
        return self.origin.host == str(address)


def parse_entry(setting: str, text: str) -> AllowEntry:
    """The entry of a setting of the host.

    Raises: `ValueError`, which names the setting; the entry's own error, which may hold more of it, is left out.
    """
    try:
        return AllowEntry.parse(text)
    except RefusalError as refusal:
        problem = str(refusal)
    raise ValueError(f"{setting} {shown(text)!r}: {problem}")


def forbidden(address: Address) -> str:
    """Why a flow must not reach `address`; an empty string when it may."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return forbidden(inner)
        if address.sixtofour is not None or address.teredo is not None:
            return "a tunnelled address"
        if address.is_site_local:
            return "a private address"
    if address in _CLOUD_METADATA:
        return "a cloud metadata service"
    if any(address in network for network in _SPECIAL):
        return "a special-purpose address"
    kinds = (
        (address.is_loopback, "a loopback address"),
        (address.is_link_local, "a link-local address"),
        (address.is_multicast, "a multicast address"),
        (address.is_unspecified or address.is_reserved, "a reserved address"),
        (not address.is_global, "a private or shared address"),
    )
    return next((reason for applies, reason in kinds if applies), "")


def resolve(host: str, port: int) -> tuple[Address, ...]:
    """All addresses of `host`.

    Raises: `OSError` when the name has none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    texts = dict.fromkeys(str(entry[4][0]).split("%")[0] for entry in found)
    return tuple(ip_address(text) for text in texts)


def shown(url: str) -> str:
    """`url` as an error may show it: no query, no fragment, no user name or password, bounded."""
    text = _CONTROL.sub("_", url).split("?")[0].split("#")[0]
    scheme, separator, rest = text.partition("://")
    if separator:
        authority, slash, path = rest.partition("/")
        text = f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
    return text[:200]

"""Rebuilds a platform from its description, within the limits of this process.

In: a description that was stored with a run, and the settings of this process.
Out: a `Platform`, or a `ValueError` that names the missing setting.

    {"kind": "http", "base_url": "http://host:3000"}, CINATRA_BASE_URL=http://host:3000
        -> HttpPlatform("http://host:3000"), with the secrets of the process

A description is untrusted data: the person who started the run, or any writer of the database,
wrote it.  So it cannot name a file, a secret or a receiver of secrets, and cannot call more than
this process would:

* where the process names its platform (or a list of addresses), the description must agree;
* where the process names none, the run's own address is called without any credential, and only
  where it is public or on this machine (`http_platform.py`);
* an address that only the description names gets no value that the process lends (`unnamed`);
* no text is kept of responses from origins that the process or the description calls opaque.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import JsonValue

from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.call_addresses import (
    AllowEntry,
    Target,
    forbidden,
    read_url,
    shown,
)
from cinatra_sdk.outside.http_calls.opaque_responses import Opaque, listed_opaque, stricter
from cinatra_sdk.outside.http_calls.protocol import SECRET_NAMES, Platform

if TYPE_CHECKING:
    from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform


# ----------------------------------------------------------------------------
# The settings of this process for platforms: addresses that runs may call, and secrets for
# them.


ALLOW: Final = "OASFLOW_ALLOW"


OPAQUE: Final = "OASFLOW_OPAQUE"


NO_SETTINGS: Final = (
    'a platform of kind "local" needs the database that it answers from: a run store rebuilds '
    "one that cinatra_sdk.host.standalone made; for any other one open the store with platform=…"
)


class SettingLacking(ValueError):
    """A description needs a setting that this process lacks."""

    def __init__(self, message: str, *, setting: str, value: str = "") -> None:
        super().__init__(message)
        self.setting = setting
        """The name of the environment's variable: the address of the platform, the list, a secret."""
        self.value = value
        """The address that it would have to name; empty for a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSettings:
    """The settings of this process for platforms."""

    base_url: str = ""
    """The address that gets this process's credentials."""
    allow: tuple[str, ...] | None = None
    """Other addresses that runs may call; None where there is no such setting."""
    opaque: Mapping[str, Opaque] = field(default_factory=dict)
    """Addresses of whose responses no text is kept, in addition to those of a description."""
    bridge_token: str = field(default="", repr=False)
    attestation_key: str = field(default="", repr=False)
    record: str | None = None
    """The file to which simulated calls are appended."""
    opened: tuple[str, ...] = ()
    """Addresses that the caller who continues the run adds to the process's own list."""

    @classmethod
    def of(
        cls, env: Mapping[str, str], *, record: str | None = None, opened: Sequence[str] = ()
    ) -> Self:
        """From `CINATRA_BASE_URL`, `OASFLOW_ALLOW`, `OASFLOW_OPAQUE` and the secrets.

        Both lists separate addresses by blanks; see `listed_opaque` for the levels in the second
        list.
        """
        allow = env.get(ALLOW)
        bridge, attestation = SECRET_NAMES
        return cls(
            base_url=env.get(BASE_URL, ""),
            allow=None if allow is None else tuple(allow.split()),
            opaque=listed_opaque(env.get(OPAQUE, "")),
            bridge_token=env.get(bridge, ""),
            attestation_key=env.get(attestation, ""),
            record=record,
            opened=tuple(opened),
        )

    @property
    def names_addresses(self) -> bool:
        return bool(self.base_url) or self.allow is not None

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the configured secrets."""
        held = (self.bridge_token, self.attestation_key)
        return tuple(name for name, secret in zip(SECRET_NAMES, held, strict=True) if secret)


log = logging.getLogger("oasflow.platform")

MOST_SECONDS: Final = 600.0
"""Longest time of one call, for every description: a call occupies a thread of this process."""
MOST_RETRIES: Final = 10

_HTTP_KEYS: Final = frozenset(
    {"base_url", "allow", "timeout", "retries", "retry_posts", "needs", "opaque", "headers_for"}
)
_SIMULATED_KEYS: Final = frozenset({"stubs", "record", "fallback"})


def platform_from(
    description: Mapping[str, Any],
    *,
    env: Mapping[str, str],
    record: str | None = None,
    allow: Sequence[str] = (),
) -> Platform:
    """The platform that `describe()` described, as far as this process allows.

    env:    the settings of this process.  `CINATRA_BASE_URL` is the only address that gets its
            secrets (`CINATRA_BRIDGE_TOKEN`, `CINATRA_CONTEXT_ATTEST_KEY`) and the tokens of a run;
            it is also the `base_url` of a description that names none.  `OASFLOW_ALLOW` limits
            the other addresses.  `OASFLOW_OPAQUE` names the origins of whose responses no text is kept.
    record: the file to which this process appends simulated calls.
    allow:  further addresses that this process opens to the platform.

    Raises: `ValueError`, which says what is wrong with the description, or what this process lacks.
    """
    return remake(description, OwnSettings.of(env, record=record, opened=allow))


def remake(description: Mapping[str, Any], own: OwnSettings) -> Platform:
    """The platform that `description` describes.

    Raises: `ValueError`, which says what is wrong with the description, or what this process lacks.
    """
    if not isinstance(description, Mapping):
        raise ValueError("the description of a platform is an object")  # noqa: TRY004 - one kind of error for data
    settings = {key: value for key, value in description.items() if key != "kind"}
    kind = description.get("kind")
    if kind == "simulated":
        _refuse_unknown_settings(settings, _SIMULATED_KEYS, kind)
        return _make_simulated_platform(settings, own)
    if kind == "local":
        raise ValueError(NO_SETTINGS)
    if kind != "http":
        raise ValueError(
            f'a platform is of kind "http" or "simulated", not {kind!r}: '
            "open the store with platform=… for one of your own"
        )
    _refuse_unknown_settings(settings, _HTTP_KEYS, kind)
    _refuse_host_headers(settings.get("headers_for"))
    if settings.get("base_url", "") is None:
        return _without_platform(settings, own)
    return _make_http_platform(settings, own)


def takes_credentials(platform: Platform) -> bool:
    """Whether the platform may get this process's credentials: False where the platform, or the
    platform beyond it, has an address that this process has not named.
    """
    return all(getattr(one, "takes_credentials", True) for one in _with_beyond(platform))


def unnamed(platform: Platform) -> tuple[str, ...]:
    """Addresses that the platform, or the platform beyond it, may call and that this process has
    not named.
    """
    return tuple(
        address for one in _with_beyond(platform) for address in getattr(one, "unnamed", ())
    )


def _with_beyond(platform: Platform) -> Iterator[Any]:
    one: Any = platform
    while one is not None:
        yield one
        one = getattr(one, "beyond", None)


def is_own(base_url: str, env: Mapping[str, str]) -> bool:
    """Whether `base_url` is the platform of a process with these settings."""
    own = OwnSettings.of(env)
    with suppress(ValueError):
        return bool(own.base_url) and _parse_address(base_url) == _parse_address(own.base_url)
    return False


def is_named(text: str, env: Mapping[str, str]) -> bool:
    """Whether a process with these settings names an address that covers `text`.

    Raises: `ValueError` for a malformed address in `text` or in the settings.
    """
    return _is_named(text, OwnSettings.of(env))


# ------------------------------------------------------------------------ simulations


def _make_simulated_platform(settings: Mapping[str, Any], own: OwnSettings) -> Platform:
    from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform

    for name in ("stubs", "fallback"):
        if settings.get(name) is not None and not isinstance(settings[name], Mapping):
            # A text would be read as the name of a file.
            raise ValueError(
                f'"{name}" of a stored simulation is an object, not the name of a file'
            )
    if settings.get("record") is not None and own.record is None:
        log.warning(
            "the run was started with a record file: that is the starter's and is left alone; "
            "give a record file of your own"
        )
    return SimulatedPlatform(
        settings.get("stubs"), record=own.record, fallback=settings.get("fallback")
    )


# ------------------------------------------------------------------------------- http


def _make_http_platform(settings: Mapping[str, Any], own: OwnSettings) -> Platform:
    base_url = settings.get("base_url") or own.base_url
    if not isinstance(base_url, str) or not base_url:
        raise ValueError(
            "an http platform needs a base_url, or CINATRA_BASE_URL in the environment"
        )
    is_own = bool(own.base_url) and _parse_address(base_url) == _parse_own_address(
        BASE_URL, own.base_url
    )
    if not is_own:
        _refuse_stranger(base_url, own)
    _refuse_lacking(settings.get("needs", []), own, base_url)
    bounds = _read_bounds(settings, own)
    made = _own_platform(own, bounds) if is_own else _strangers_platform(base_url, bounds)
    made.unnamed = tuple(text for text in (base_url, *bounds["allow"]) if not _is_named(text, own))
    return made


def _read_bounds(settings: Mapping[str, Any], own: OwnSettings) -> dict[str, Any]:
    """The run's timeout and retries, within the limits of this process."""
    return {
        "allow": _check_allow_entries(settings.get("allow", []), own),
        **_read_timeout_settings(settings),
        "opaque": _read_opaque_levels(settings.get("opaque", []), own),
    }


def _own_platform(own: OwnSettings, bounds: dict[str, Any]) -> HttpPlatform:
    from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform

    return HttpPlatform(
        own.base_url,
        bridge_token=own.bridge_token,
        attestation_key=own.attestation_key,
        **bounds,
    )


def _strangers_platform(base_url: str, bounds: dict[str, Any]) -> HttpPlatform:
    from cinatra_sdk.outside.http_calls.http_platform import StrangersPlatform

    return StrangersPlatform(base_url, **bounds)


def _is_named(text: str, own: OwnSettings) -> bool:
    """Whether this process itself wrote an address that covers `text`."""
    mine = [*_parse_own_allow_list(own), *map(AllowEntry.parse, own.opened)]
    if own.base_url:
        mine.append(AllowEntry.parse(own.base_url))
    return any(entry.covers(_build_entry_target(AllowEntry.parse(text))) for entry in mine)


def _without_platform(settings: Mapping[str, Any], own: OwnSettings) -> Platform:
    """The platform of a run that only calls listed addresses; sends no credentials of this
    process.
    """
    from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform

    bounds = _read_bounds(settings, own)
    made = HttpPlatform(None, **bounds)
    made.unnamed = tuple(text for text in bounds["allow"] if not _is_named(text, own))
    return made


def _refuse_host_headers(origins: object) -> None:
    """Refuse a description with host headers: they belonged to another process and are never
    stored.
    """
    if origins in (None, []):
        return
    if not isinstance(origins, list) or not all(isinstance(one, str) for one in origins):
        raise ValueError('"headers_for" of a stored platform is a list of addresses')
    raise ValueError(
        f"the run calls {', '.join(shown(one) for one in origins)} with headers of its host's own: "
        "open the store with platform=HttpPlatform(…, headers_for=…)"
    )


def _parse_address(base_url: str) -> Target:
    """Origin and path: different paths of one host may belong to different receivers."""
    return read_url(base_url)


def _parse_own_address(setting: str, text: str) -> Target:
    """An address of this process's settings; raises `ValueError`, which names the setting."""
    problem = ""
    try:
        return _parse_address(text)
    except ValueError as refusal:
        problem = str(refusal)
    raise ValueError(f"{setting} of this process, {shown(text)!r}: {problem}")


def _parse_own_allow_list(own: OwnSettings) -> list[AllowEntry]:
    """The entries of `OASFLOW_ALLOW`."""
    for text in own.allow or ():
        _parse_own_address(ALLOW, text)
    return [AllowEntry.parse(text) for text in own.allow or ()]


def _refuse_stranger(base_url: str, own: OwnSettings) -> None:
    """Refuse an address that this process has not named where the process named another address."""
    told = shown(base_url)
    if own.secrets:
        raise SettingLacking(
            f"the platform is {told}, but this process holds credentials for "
            f"{shown(own.base_url) or 'no named platform'}: set CINATRA_BASE_URL to it if it is "
            f"yours, or unset {own.secrets[0]}",
            setting=BASE_URL,
            value=base_url,
        )
    if own.names_addresses and not any(
        e.covers(_parse_address(base_url)) for e in _parse_own_allow_list(own)
    ):
        raise SettingLacking(
            f"the platform is {told}, and this process calls "
            f"{shown(own.base_url) or 'only what OASFLOW_ALLOW lists'}: set CINATRA_BASE_URL "
            "(--base-url at the command line) to it if you mean to call it",
            setting=BASE_URL,
            value=base_url,
        )
    if not own.names_addresses:
        _refuse_inner(base_url, setting=BASE_URL, loopback=True)


def _refuse_inner(text: str, *, setting: str, loopback: bool) -> None:
    """Refuse a private address in a description: only an operator may allow a private address.

    A host name is checked when it is resolved.
    """
    host = AllowEntry.parse(text).origin.host
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        here, reason = host == "localhost", "this machine" if host == "localhost" else ""
    else:
        here, reason = address.is_loopback, forbidden(address)
    if reason and not (here and loopback):
        raise SettingLacking(
            f"{shown(text)} is {reason}, which a stored description does not open: "
            f"name it in {BASE_URL} or {ALLOW} if you mean to call it",
            setting=setting,
            value=text,
        )


def _refuse_lacking(needs: object, own: OwnSettings, base_url: str) -> None:
    """Refuse missing settings; the names are not looked up, so that a description cannot probe
    variables.
    """
    if not isinstance(needs, list) or any(name not in SECRET_NAMES for name in needs):
        raise ValueError(f'"needs" of a stored platform lists only {" and ".join(SECRET_NAMES)}')
    lacking = [name for name in needs if name not in own.secrets]
    if lacking:
        raise SettingLacking(
            f"the platform {shown(base_url)} was used with {', '.join(lacking)}, which this process "
            "lacks: set it in the environment, or open the store with platform=…",
            setting=lacking[0],
        )


def _check_allow_entries(entries: object, own: OwnSettings) -> list[str]:
    """The description's entries that this process also allows, and the addresses that it opened."""
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError('"allow" of a stored platform is a list of addresses')
    mine = None if own.allow is None else _parse_own_allow_list(own)
    for text in entries:
        entry = AllowEntry.parse(text)
        if mine is None:
            _refuse_inner(text, setting=ALLOW, loopback=False)
        elif not any(one.covers(_build_entry_target(entry)) for one in mine):
            raise SettingLacking(
                f"the run may call {shown(text)}, and {ALLOW} of this process does not list it "
                "(--allow at the command line)",
                setting=ALLOW,
                value=text,
            )
    return list(dict.fromkeys((*entries, *own.opened)))


def _build_entry_target(entry: AllowEntry) -> Target:
    return Target(origin=entry.origin, segments=entry.prefix)


def _read_timeout_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Timeout, retries and repeated posts, of the right types and within bounds."""
    found: dict[str, Any] = {}
    if "timeout" in settings:
        seconds = settings["timeout"]
        # NaN is not above 0 either; an int may be too large for a float.
        if not _is_number(seconds) or not seconds > 0:
            raise ValueError('"timeout" of a stored platform is a number of seconds above 0')
        found["timeout"] = min(seconds, MOST_SECONDS)
    if "retries" in settings:
        if type(settings["retries"]) is not int or settings["retries"] < 0:
            raise ValueError('"retries" of a stored platform is a whole number')
        found["retries"] = min(settings["retries"], MOST_RETRIES)
    if "retry_posts" in settings:
        if type(settings["retry_posts"]) is not bool:
            raise ValueError('"retry_posts" of a stored platform is true or false')
        found["retry_posts"] = settings["retry_posts"]
    return found


def _read_opaque_levels(given: object, own: OwnSettings) -> dict[str, Opaque]:
    """The description's opaque origins; they only reduce the kept text, so they may add to the
    process's own.
    """
    for address in own.opaque:
        _parse_own_address(OPAQUE, address)
    if isinstance(given, list) and all(isinstance(address, str) for address in given):
        given = dict.fromkeys(given, "status")
    if isinstance(given, Mapping) and all(isinstance(level, str) for level in given.values()):
        return stricter(given, own.opaque)
    raise ValueError('"opaque" of a stored platform lists addresses, or gives each one a level')


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _refuse_unknown_settings(
    settings: Mapping[str, JsonValue], known: frozenset[str], kind: str
) -> None:
    unknown = sorted(set(settings) - known)
    if unknown:
        raise ValueError(
            f'a platform of kind "{kind}" has no setting "{unknown[0]}"; '
            f"known are {', '.join(sorted(known))}"
        )

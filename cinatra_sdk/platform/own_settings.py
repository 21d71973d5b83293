"""The settings of this process for platforms: addresses that runs may call, and secrets for
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.platform.opaque import Opaque, listed_opaque
from cinatra_sdk.platform.protocol import SECRET_NAMES

ALLOW: Final = "OASFLOW_ALLOW"


OPAQUE: Final = "OASFLOW_OPAQUE"


NO_SETTINGS: Final = (
    'a platform of kind "local" needs the database that it answers from: a run store rebuilds '
    "one that cinatra_sdk.host.standalone_platform made; for any other one open the store with platform=…"
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

"""An agent behind the protocol A2A, as a flow file names it.

RemoteAgent(name="travel", url="https://travel.example", poll_interval=2.0)

Source: Agent Spec, A2AAgent, A2AConnectionConfig and the session parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final

from cinatra_sdk.data.author_json import NOTHING, NOTHING_SEALED, Json, SealedJson
from cinatra_sdk.data.sensitive_fields import lend_secrets
from cinatra_sdk.data.templates.placeholders import fill_environment, find_open, list_unfilled
from cinatra_sdk.governed.secret_values import SHORTEST_SECRET
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.remote_answers.foreign_answer import (
    list_address_secrets,
    list_header_secrets,
)

LEAST_POLL_SECONDS: Final = 0.5
"""Between two looks, whatever a file says: nobody has an agent asked without pause."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RemoteAgent:
    """An agent and the way to it; prints no header."""

    id: str = ""
    name: str = ""
    url: str = field(repr=False)
    """Where its card is: the card is read at `/.well-known/agent-card.json` below it."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with each request; never shown or kept."""
    verify: bool = True
    """Whether its certificate is checked."""
    key_file: str = ""
    cert_file: str = ""
    ca_file: str = ""
    request_timeout: float = 600.0
    """Seconds that one request may take."""
    timeout: float = 60.0
    """Seconds that an answer may take."""
    poll_interval: float = 2.0
    """Seconds between two looks at a task that is not done."""
    retries: int = 5
    """How often a request is made again whose connection was lost."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "headers", MappingProxyType(dict(self.headers)))

    @property
    def label(self) -> str:
        """What the agent is called in effects and errors."""
        return self.name or self.id

    def list_unfilled(self) -> tuple[tuple[str, str], ...]:
        """Headers with a placeholder that has no value, each with the placeholder's name."""
        headers = find_open(self.headers)
        return list_unfilled(headers, headers)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown."""
        held = (
            *self.headers.values(),
            *list_header_secrets(self.headers),
            *list_address_secrets(self.url),
        )
        return tuple(one for one in held if len(one) >= SHORTEST_SECRET)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteAgentWay:
    """The way to an agent, in the words of Agent Spec."""

    url: str
    settings: Json = NOTHING
    """`name`, `connection` and `session`: the agent's name and the fields of its configurations."""
    headers: SealedJson = NOTHING_SEALED

    def find_agent(
        self, node: str, name: str, env: Mapping[str, str], secrets: Mapping[str, Any] | None
    ) -> RemoteAgent:
        """The agent; node, name: of the node that speaks to it.

        Raises: `NotConfigured` for a sensitive field without a value.
        """
        fields: Any = fill_environment(lend_secrets(self.settings.value(), secrets), env)
        headers: Any = fill_environment(lend_secrets(self.headers.value(), secrets), env)
        connection, session = fields["connection"], fields["session"]
        return RemoteAgent(
            id=node,
            name=name,
            url=str(fill_environment(self.url, env)),
            headers={key: str(value) for key, value in headers.items()},
            verify=connection.get("verify") is not False,
            key_file=connection.get("key_file") or "",
            cert_file=connection.get("cert_file") or "",
            ca_file=connection.get("ssl_ca_cert") or "",
            request_timeout=_read_positive(connection.get("timeout"), 600.0),
            timeout=_read_positive(session.get("timeout"), 60.0),
            poll_interval=max(
                LEAST_POLL_SECONDS, _read_positive(session.get("poll_interval"), 2.0)
            ),
            retries=int(_read_positive(session.get("max_retries"), 5)),
        )


def _read_positive(value: Any, usual: float) -> float:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return float(value) if usable else usual

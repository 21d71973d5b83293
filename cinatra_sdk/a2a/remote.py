"""An agent behind the protocol A2A, as a flow file names it.

RemoteAgent(name="travel", url="https://travel.example", poll_interval=2.0)

Source: Agent Spec, A2AAgent, A2AConnectionConfig and the session parameters; read by the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from cinatra_sdk.governed.secret_forms import SHORTEST_SECRET


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

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown."""
        return tuple(one for one in self.headers.values() if len(one) >= SHORTEST_SECRET)

"""The person for whom a slot is resolved: the owner of the run, never a name in a request.

Actor(org_id="o1", principal_id="ann", team_ids=frozenset({"t1"}), project_ids=frozenset({"p1"}))
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cinatra_sdk.context.errors import ContextError


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The run's owner, with all memberships that decide which artifacts the owner may see."""

    org_id: str
    """Organisation; an empty one cannot resolve anything (fails closed)."""
    principal_id: str
    """The person or service; the owner of private artifacts."""
    team_ids: frozenset[str] = field(default_factory=frozenset)
    project_ids: frozenset[str] = field(default_factory=frozenset)
    is_platform_admin: bool = False
    """Whether the actor sees `admin` artifacts, and `workspace` artifacts of the organisation."""

    def __post_init__(self) -> None:
        if not self.org_id or not self.principal_id:
            raise ContextError("actor_unresolved", "the run's owner or organisation is not known")

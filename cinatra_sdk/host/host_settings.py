"""The settings of a standalone host for its runs: owner, project, installed extensions.

In: the keys of a context file, or of a stored platform's description.  Out: `LocalSettings`.

    {"actor": {"orgId": "acme", "principalId": "ann", "projectIds": ["spring"]},
     "projectId": "spring", "extensions": {"@acme/house-voice": ["@acme/voice"]}}
        -> .owner  Actor(org_id="acme", principal_id="ann", …)    .written()  the same keys again

Strict: an unknown key, a wrong type, a slot declared twice and a project outside the actor's
projects are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    field_validator,
    model_validator,
)

from cinatra_sdk.context.candidates import Actor, InstalledExtensions
from cinatra_sdk.context.slot_declarations import AgentContextSlot
from cinatra_sdk.data.text.person_texts import find_hidden
from cinatra_sdk.governed.secret_values import find_secret

UNSTORABLE: Final = re.compile(r"[\x00\ud800-\udfff]")
"""A character that no database stores."""


def _check_id_text(text: str) -> str:
    if text != text.strip() or find_hidden(text):
        raise ValueError("an id is printable text without spaces around it")
    if find_secret(text):
        # Such a text would stop every gate that offers it, because the store keeps what a gate
        # shows.
        raise ValueError("looks like a credential, and ids are shown and kept; choose another")
    return text


Id = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_check_id_text)]
Ids = Annotated[frozenset[Id], Field(strict=False)]
Names = Annotated[tuple[Id, ...], Field(strict=False)]
Slots = Annotated[tuple[AgentContextSlot, ...], Field(strict=False)]


class StrictModel(BaseModel):
    """Reads camelCase keys; no value is converted, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ActorSettings(StrictModel):
    """The person for whom runs resolve their slots; see `cinatra_sdk.context.Actor`."""

    org_id: Id = Field(alias="orgId")
    principal_id: Id = Field(alias="principalId")
    team_ids: Ids = Field(default=frozenset(), alias="teamIds")
    project_ids: Ids = Field(default=frozenset(), alias="projectIds")
    is_platform_admin: bool = Field(default=False, alias="isPlatformAdmin")


class LocalSettings(StrictModel):
    """Everything in a context file but the artifacts, which are in the database."""

    actor: ActorSettings
    project_id: Id | None = Field(default=None, alias="projectId")
    """The project of the run, one of the actor's; replaces the flow's own input."""
    package_name: Id | None = Field(default=None, alias="packageName")
    """Package of a flow that does not name its package."""
    extensions: dict[Id, Names] = Field(default_factory=dict)
    """Installed artifact extensions → the extensions that each of them satisfies."""
    packages: dict[Id, Slots] = Field(default_factory=dict)
    """Slots of child packages whose flows are copied into a run's flow without declaring slots."""
    selects_for_other_runs: bool = Field(default=False, alias="selectsForOtherRuns")
    """Whether a run may select for another run of its owner, as a separate selection agent does.

    Only the host can grant this: a flow's name for itself proves nothing.
    """

    @field_validator("packages")
    @classmethod
    def _usable_slots(
        cls, packages: dict[str, tuple[AgentContextSlot, ...]]
    ) -> dict[str, tuple[AgentContextSlot, ...]]:
        for package, slots in packages.items():
            ids = [slot.slot_id for slot in slots]
            double = next((id_ for id_ in ids if ids.count(id_) > 1), None)
            if double is not None:
                raise ValueError(f'"{package}" declares the slot "{double}" twice')
            names = [name for slot in slots for name in slot.accepted_artifact_extensions]
            if any(UNSTORABLE.search(name) for name in (*ids, *names)):
                raise ValueError(f'a slot of "{package}" holds a character that no database takes')
        return packages

    @model_validator(mode="after")
    def _project_of_the_actor(self) -> LocalSettings:
        if self.project_id is not None and self.project_id not in self.actor.project_ids:
            raise ValueError(
                f'projectId "{self.project_id}" is not one of the actor\'s projects: '
                "add it to actor.projectIds, or leave projectId out"
            )
        return self

    @property
    def owner(self) -> Actor:
        actor = self.actor
        return Actor(
            org_id=actor.org_id,
            principal_id=actor.principal_id,
            team_ids=actor.team_ids,
            project_ids=actor.project_ids,
            is_platform_admin=actor.is_platform_admin,
        )

    @property
    def registry(self) -> InstalledExtensions:
        return InstalledExtensions(self.extensions)

    def written(self) -> dict[str, JsonValue]:
        """The settings under their camelCase keys, as JSON; equal settings give equal text."""
        found: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        actor = self.actor
        found["actor"] = {
            "orgId": actor.org_id,
            "principalId": actor.principal_id,
            "teamIds": list[JsonValue](sorted(actor.team_ids)),
            "projectIds": list[JsonValue](sorted(actor.project_ids)),
            "isPlatformAdmin": actor.is_platform_admin,
        }
        return found


KEYS: Final = frozenset(field.alias or name for name, field in LocalSettings.model_fields.items())
HANDS_ON: Final = "handsOn"
_BESIDE: Final = frozenset({"kind", "beyond", HANDS_ON})
"""Members of a platform's description beside the settings."""


def is_standalone(description: Mapping[str, Any]) -> bool:
    """Whether a platform's description holds settings."""
    return description.get("kind") == "local" and "actor" in description


def read_settings(description: Mapping[str, Any]) -> LocalSettings:
    """The settings in a platform's description.

    Raises: `ValueError`, which names the first wrong key and quotes no value.
    """
    unknown = sorted(set(description) - KEYS - _BESIDE)
    if unknown:
        raise ValueError(
            f'a platform of kind "local" has no setting "{unknown[0]}"; '
            f"known are {', '.join(sorted(KEYS | {'beyond'}))}"
        )
    try:
        return LocalSettings.model_validate({k: v for k, v in description.items() if k in KEYS})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:80] for part in first["loc"])
    raise ValueError(f"{place or 'the settings'}: {first['msg']}")

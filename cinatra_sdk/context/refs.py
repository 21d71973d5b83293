"""References to artifacts, pinned by three keys, and the answer that names them.

    {"artifactId": "a1", "representationRevisionId": "r7", "semanticAssertionId": "s3",
     "extension": "@x/voice", "sourceScope": "team", "ownerId": "ann",
     "displayName": "House voice"}                                         a ResolvedContextRef
    its first three keys alone                                             its PinnedTriple

The triple names the exact revision and the exact classification: later changes of either leave a
finalized selection as it was.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.slots import ResolutionMode
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

SourceScope = Literal["project", "user", "team", "organization", "workspace"]
"""Whose the artifact is, from narrow to broad; the order of candidates."""

SCOPES: tuple[SourceScope, ...] = ("project", "user", "team", "organization", "workspace")

MAX_ENVELOPE = 1_048_576
"""Characters of a userResponse: an autonomous slot without a bound may take a thousand refs.

What a person sends is bound more tightly, where it comes in: `cinatra_sdk.gates.answers`."""

_Id = Annotated[str, Field(min_length=1)]


class PinnedTriple(NamedTuple):
    """What identifies a selection: exact artifact, exact revision, exact classification."""

    artifact_id: str
    representation_revision_id: str
    semantic_assertion_id: str

    def wire(self) -> dict[str, JsonValue]:
        """The triple under its camelCase keys."""
        return {
            "artifactId": self.artifact_id,
            "representationRevisionId": self.representation_revision_id,
            "semanticAssertionId": self.semantic_assertion_id,
        }


class ResolvedContextRef(BaseModel):
    """One artifact that a slot may take, as the resolver saw it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    artifact_id: _Id = Field(alias="artifactId")
    representation_revision_id: _Id = Field(alias="representationRevisionId")
    semantic_assertion_id: _Id = Field(alias="semanticAssertionId")
    extension: _Id
    """Package name of the artifact extension that the assertion classifies it as."""
    source_scope: SourceScope = Field(alias="sourceScope")
    owner_id: str = Field(alias="ownerId")
    display_name: str = Field(default="", alias="displayName")
    """What people call the artifact today; empty where it has no name, or nobody looks at the ref.
    A name pins nothing: it is not kept with what was offered or chosen."""

    @property
    def triple(self) -> PinnedTriple:
        return PinnedTriple(
            self.artifact_id, self.representation_revision_id, self.semantic_assertion_id
        )

    def wire(self) -> dict[str, str]:
        """The ref under its camelCase keys, for a person to choose; `displayName` where it has one."""
        return self.pinned() | ({"displayName": self.display_name} if self.display_name else {})

    def pinned(self) -> dict[str, str]:
        """The ref as it is kept and handed to consumers."""
        return self.model_dump(by_alias=True, exclude={"display_name"})


class _Submitted(BaseModel):
    """A ref as it comes back: the triple, with or without the rest of the resolved ref."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    artifact_id: _Id = Field(alias="artifactId")
    representation_revision_id: _Id = Field(alias="representationRevisionId")
    semantic_assertion_id: _Id = Field(alias="semanticAssertionId")
    extension: str | None = None
    source_scope: str | None = Field(default=None, alias="sourceScope")
    owner_id: str | None = Field(default=None, alias="ownerId")
    display_name: str | None = Field(default=None, alias="displayName")


class ContextSelection(BaseModel):
    """The `userResponse` envelope: which refs were chosen for which slot."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    slot_id: _Id = Field(alias="slotId")
    resolution_mode: ResolutionMode = Field(alias="resolutionMode")
    selected_refs: tuple[_Submitted, ...] = Field(alias="selectedRefs", strict=False)

    @property
    def triples(self) -> tuple[PinnedTriple, ...]:
        """The chosen triples in the order given, each once; nothing else of a ref is believed."""
        return tuple(
            dict.fromkeys(
                PinnedTriple(
                    ref.artifact_id, ref.representation_revision_id, ref.semantic_assertion_id
                )
                for ref in self.selected_refs
            )
        )

    @classmethod
    def parse(cls, text: object) -> ContextSelection:
        """The envelope from its JSON text.

        Raises: `ContextError` `bad_envelope` naming the key.
        """
        if not isinstance(text, str) or len(text) > MAX_ENVELOPE:
            raise ContextError(
                "bad_envelope", f"userResponse is not a text of at most {MAX_ENVELOPE} characters"
            )
        try:
            value = read_json(text, to_keep=False)
        except NotStrictJson:
            raise ContextError("bad_envelope", "userResponse is not JSON") from None
        if not isinstance(value, dict):
            raise ContextError("bad_envelope", "userResponse is JSON, but no object")
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "userResponse"
            raise ContextError("bad_envelope", f"{place}: {first['msg']}") from None

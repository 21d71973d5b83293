"""References to artifacts, pinned by three keys; and a person's answer that lists such references.

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

from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.contract import ResolutionMode
from cinatra_sdk.data.json_values import NotStrictJson, read_json

SourceScope = Literal["project", "user", "team", "organization", "workspace"]
"""The scope that owns the artifact, from narrow to broad; the order of candidates."""

SCOPES: tuple[SourceScope, ...] = ("project", "user", "team", "organization", "workspace")

MAX_ENVELOPE = 1_048_576
"""Characters of a userResponse: an autonomous slot without a bound may take a thousand refs.

Answers of a person have a tighter limit: see `cinatra_sdk.gates.answers`.
"""

_Id = Annotated[str, Field(min_length=1)]


class PinnedTriple(NamedTuple):
    """The identity of a selected ref: exact artifact, exact revision, exact classification."""

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
    """The artifact's name today; empty where it has no name, or where no person reads the ref. A
    name pins nothing: offers and selections are stored without names.
    """

    @property
    def triple(self) -> PinnedTriple:
        return PinnedTriple(
            self.artifact_id, self.representation_revision_id, self.semantic_assertion_id
        )

    def wire(self) -> dict[str, str]:
        """The ref under its camelCase keys, for a person to choose; `displayName` where it has one."""
        return self.pinned() | ({"displayName": self.display_name} if self.display_name else {})

    def pinned(self) -> dict[str, str]:
        """The ref as it is stored and passed to consumers."""
        return self.model_dump(by_alias=True, exclude={"display_name"})


class _Submitted(BaseModel):
    """A ref in an answer: the triple, with or without the rest of the resolved ref."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    artifact_id: _Id = Field(alias="artifactId")
    representation_revision_id: _Id = Field(alias="representationRevisionId")
    semantic_assertion_id: _Id = Field(alias="semanticAssertionId")
    extension: str | None = None
    source_scope: str | None = Field(default=None, alias="sourceScope")
    owner_id: str | None = Field(default=None, alias="ownerId")
    display_name: str | None = Field(default=None, alias="displayName")


class ContextSelection(BaseModel):
    """The `userResponse` envelope: the chosen refs and their slot."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    slot_id: _Id = Field(alias="slotId")
    resolution_mode: ResolutionMode = Field(alias="resolutionMode")
    selected_refs: tuple[_Submitted, ...] = Field(alias="selectedRefs", strict=False)

    @property
    def triples(self) -> tuple[PinnedTriple, ...]:
        """The chosen triples in the given order, each once; all other members of a ref are
        ignored.
        """
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

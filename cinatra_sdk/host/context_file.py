"""A context file: the artifacts of a standalone host, and the person whose runs choose from them.

In: a `.yaml`, `.yml` or `.json` file.  Out: a `ContextFile`, or `ContextFileError` with every
problem and its place.

    actor: {orgId: acme, principalId: ann, projectIds: [spring]}
    artifacts:
      - id: house-voice
        visibility: everyone
        extensions: ["@acme/brand-voice-artifact"]
        content: Plain words.

    -> context.yaml: artifacts[0].visibility: write private, org, workspace, admin, team:ID or …
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from cinatra_sdk.data.text.author_files import shown_name
from cinatra_sdk.data.text.documents import DocumentRefused, read_document
from cinatra_sdk.host.host_settings import UNSTORABLE, Id, LocalSettings, Names, StrictModel
from cinatra_sdk.store.artifacts.artifacts import LoadedArtifact

MAX_BYTES: Final = 1_048_576
"""Largest size of the file."""
MAX_DEPTH: Final = 20
"""Deepest nesting of lists and objects."""
MAX_TOLD: Final = 20
"""Problems that one error lists."""
_VISIBILITY: Final = re.compile(r"private|org|workspace|admin|(?:team|project):\S+")


class ContextFileError(ValueError):
    """The file cannot be used; the text names the file, every wrong place and the remedy."""


def _check_visibility(text: str) -> str:
    if _VISIBILITY.fullmatch(text) is None:
        raise ValueError("write private, org, workspace, admin, team:ID or project:ID")
    return text


def _check_storable_text(text: str) -> str:
    if UNSTORABLE.search(text) is not None:
        raise ValueError("holds a character that no database takes")
    return text


Visibility = Annotated[Id, AfterValidator(_check_visibility)]
Text = Annotated[str, AfterValidator(_check_storable_text)]


class ArtifactEntry(StrictModel):
    """One artifact of the file."""

    id: Id
    name: Annotated[Text, Field(max_length=1_000)] = ""
    owner_id: Id | None = Field(default=None, alias="ownerId")
    """`None`: the file's actor."""
    org_id: Id | None = Field(default=None, alias="orgId")
    """`None`: the organisation of the file's actor."""
    owner_level: Literal["user", "team", "organization", "workspace"] = Field(
        default="user", alias="ownerLevel"
    )
    """The scope of an artifact whose visibility names no scope."""
    visibility: Visibility
    extensions: Annotated[Names, Field(min_length=1)]
    content: Text


class ContextFile(LocalSettings):
    """The content of a context file."""

    artifacts: Annotated[tuple[ArtifactEntry, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _each_id_once(self) -> ContextFile:
        first: dict[str, int] = {}
        twice = []
        for place, entry in enumerate(self.artifacts):
            if entry.id in first:
                twice.append(f'artifacts[{place}].id: "{entry.id}" is that of artifacts[{first[entry.id]}]')  # fmt: skip
            first.setdefault(entry.id, place)
        if twice:
            more = f"; and {len(twice) - MAX_TOLD} more" if len(twice) > MAX_TOLD else ""
            told = "; ".join(twice[:MAX_TOLD])
            raise ValueError(f"{told}{more}; give each artifact an id of its own")
        return self

    @property
    def settings(self) -> LocalSettings:
        """The part of the file that a platform's description keeps: everything but the
        artifacts.
        """
        fields = {name: getattr(self, name) for name in LocalSettings.model_fields}
        return LocalSettings.model_construct(**fields)

    @property
    def loaded(self) -> tuple[LoadedArtifact, ...]:
        """The artifacts; missing owners are filled in from the actor."""
        return tuple(
            LoadedArtifact(
                id=entry.id,
                org_id=entry.org_id or self.actor.org_id,
                owner_id=entry.owner_id or self.actor.principal_id,
                owner_level=entry.owner_level,
                name=entry.name,
                visibility=entry.visibility,
                extensions=entry.extensions,
                content=entry.content,
            )
            for entry in self.artifacts
        )


def read_context_file(path: str | os.PathLike[str]) -> ContextFile:
    """Raises: `ContextFileError`."""
    file = shown_name(os.fsdecode(path))
    problem = ""
    try:
        value = read_document(path, what="context file", most=MAX_BYTES, max_depth=MAX_DEPTH)
    except DocumentRefused as error:
        problem = str(error)
    if problem:
        raise ContextFileError(f"{file}: {problem}")
    try:
        return ContextFile.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=True)
    problems = [_describe_problem(one) for one in found]
    told = problems[:MAX_TOLD]
    if len(problems) > MAX_TOLD:
        told.append(f"and {len(problems) - MAX_TOLD} more")
    # Raised here, not in the handler: pydantic's error holds the whole content.
    raise ContextFileError("\n".join(f"{file}: {problem}" for problem in told))


# ------------------------------------------------------------------------ problems


def _describe_problem(error: ErrorDetails) -> str:
    """`artifacts[0].visibility: write private, org, …`."""
    place, kind = _format_location(error["loc"]), error["type"]
    if kind == "extra_forbidden":
        return f"{place}: no such key{_suggest_nearest_key(error['loc'])}"
    if kind == "missing":
        return f"{place}: is missing"
    if kind == "too_short":
        return f"{place}: must have at least one entry"
    message = error["msg"].removeprefix("Value error, ")
    if kind == "string_unicode":
        message = "holds a character that no database takes"
    if kind in {"string_type", "model_type", "dict_type", "tuple_type", "frozen_set_type"}:
        wanted = {"string_type": "text, in quotes where YAML would read something else"}
        wanted |= {"tuple_type": "a list", "frozen_set_type": "a list"}
        message = f"must be {wanted.get(kind, 'an object of keys and values')}"
    return f"{place}: {message}" if place else message


def _format_location(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part != "[key]":
            text += f".{part[:80]}" if text else part[:80]
    return text


def _suggest_nearest_key(loc: tuple[int | str, ...]) -> str:
    known = sorted(_list_allowed_keys(loc[:-1]))
    near = difflib.get_close_matches(str(loc[-1])[:100], known, n=1)
    return f'; did you mean "{near[0]}"?' if near else f"; there are {', '.join(known)}"


def _list_allowed_keys(around: tuple[int | str, ...]) -> Iterator[str]:
    """The keys of the object that `around` leads to."""
    from cinatra_sdk.context.slot_declarations import AgentContextSlot
    from cinatra_sdk.host.host_settings import ActorSettings

    models: dict[int | str, type[Any]] = {
        "actor": ActorSettings,
        "artifacts": ArtifactEntry,
        "packages": AgentContextSlot,
    }
    model: type[Any] = models[around[0]] if around else ContextFile
    for name, field in model.model_fields.items():
        yield field.alias or name

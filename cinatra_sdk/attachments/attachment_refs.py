"""A reference to a file that a person or an agent attached: never its bytes.

    read_refs([{"artifactId": "a1", "representationRevisionId": "r1", "digest": "sha256:0f…",
                "mime": "application/pdf", "originKind": "upload", "size": 1.0}])
        -> (AttachmentRef(artifact_id="a1", …, size=1),)
    read_refs([{"artifactId": "a1", …, "size": "1"}])
        -> AttachmentRefInvalid: attachments[0].size is no number (write a whole number …)

The object is closed: an unknown member is refused, so that bytes or the host's own fields cannot ride
along.  The rules are those of JSON numbers: `1.0` is a whole number, `true` and `"1"` are none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final, Literal, TypeAlias, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    field_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from cinatra_sdk.errors import FlowError

# ----------------------------------------------------------------------------
# The errors of a caller about attachments: each names the member and the right spelling.
#
#     `AttachmentRefInvalid(("attachments", 0, "size"), "is a string", fix="write a whole number")`
#         str:      attachments[0].size is a string (write a whole number)
#         .body():  {"error": "Invalid request body", "issues": [{"path": [...], "message": "..."}]}
#     `UserEnvelopeInvalid("the text of user is not JSON")`
#         .body():  {"error": "invalid_user_envelope", "code": "INVALID_USER_ENVELOPE", "reason": "..."}
#
# No message quotes a value: a value may be as long as a file, or secret.


Path: TypeAlias = tuple[str | int, ...]
"""Names and positions, from the outermost value inward."""


class AttachmentRefInvalid(FlowError, ValueError):
    """A value is no ref of an attachment, or no list of refs."""

    code = "attachment_ref_invalid"
    status: ClassVar[int] = 400

    def __init__(self, path: Path, rule: str, *, fix: str = "") -> None:
        super().__init__(f"{write_path(path)} {rule}", hint=fix)
        self.path = path

    def body(self) -> dict[str, JsonValue]:
        """The body that the bridge answers with."""
        issue: JsonValue = {"path": list(self.path), "message": str(self)}
        return {"error": "Invalid request body", "issues": [issue]}


class UserEnvelopeInvalid(FlowError, ValueError):
    """The text of `user` is no envelope, though the caller says that it is; nothing was dispatched."""

    code = "INVALID_USER_ENVELOPE"
    status: ClassVar[int] = 400

    def __init__(self, reason: str, *, fix: str = "") -> None:
        super().__init__(reason, hint=fix)

    def body(self) -> dict[str, JsonValue]:
        """The body that the bridge answers with."""
        return {"error": "invalid_user_envelope", "code": self.code, "reason": str(self)}


def write_path(path: Path) -> str:
    """`("attachments", 0, "size")` as `attachments[0].size`; a name is cut at 80 characters."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            # A name may be a caller's own, as that of an unknown member is.
            name = part if part.isidentifier() and len(part) <= 80 else repr(part[:80])
            text += f".{name}" if text else name
    return text


OriginKind = Literal[
    "upload", "email_attachment", "agent_generated", "external_link", "live_generator"
]
"""Where the file comes from."""

MAX_REFS: Final = 20
"""Refs of one request, or of one envelope."""
MAX_SIZE: Final = 2**53 - 1
"""The largest whole number that every JSON reader reads alike."""


def _read_size(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PydanticCustomError("size", "is no number")
    if isinstance(value, float) and (not math.isfinite(value) or not value.is_integer()):
        raise PydanticCustomError("size", "is no whole number")
    if not 0 <= value <= MAX_SIZE:
        raise PydanticCustomError("size", "is out of bounds")
    return int(value)


_Named = Annotated[str, Field(min_length=1)]
_Size = Annotated[int, BeforeValidator(_read_size)]


class AttachmentRef(BaseModel):
    """One attached file, pinned to one revision of its bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    artifact_id: _Named = Field(alias="artifactId")
    representation_revision_id: _Named = Field(alias="representationRevisionId")
    digest: _Named
    """Of the bytes; a store of ours writes `sha256:` and 64 hexadecimal digits."""
    mime: _Named
    """What the caller says; a store says for itself what it holds."""
    origin_kind: OriginKind = Field(alias="originKind")
    title: str | None = None
    filename: str | None = None
    size: _Size | None = None
    """Bytes, as the caller says; absent: not known."""

    @field_validator("title", "filename", "size", mode="before")
    @classmethod
    def _refuse_null(cls, value: object) -> object:
        # An optional member may be left out; null is a value, and none of these has it.
        if value is None:
            raise PydanticCustomError("null", "is null")
        return value

    @property
    def shown_name(self) -> str:
        """The name for a model or a person: title, file name or id, the first that is not blank."""
        return _first_said(self.title, self.filename, self.artifact_id)

    @property
    def file_name(self) -> str:
        """The name for a provider: file name, title or id, the first that is not blank."""
        return _first_said(self.filename, self.title, self.artifact_id)

    def wire(self) -> dict[str, JsonValue]:
        """The ref under its camelCase keys; what was left out stays out."""
        return self.model_dump(by_alias=True, exclude_none=True)


MEMBERS: Final[tuple[str, ...]] = tuple(
    field.alias or name for name, field in AttachmentRef.model_fields.items()
)
"""The keys of a ref in JSON."""


def read_refs(value: object, *, where: str = "attachments") -> tuple[AttachmentRef, ...]:
    """The refs of a JSON array, in its order; their number is the caller's affair.

    Raises: `AttachmentRefInvalid` for the first member that is wrong.
    """
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise AttachmentRefInvalid(
            (where,), "is no array", fix="write a list of refs, or leave it out"
        )
    return tuple(read_ref(item, path=(where, number)) for number, item in enumerate(value))


def read_ref(value: object, *, path: Path = ("attachment",)) -> AttachmentRef:
    """One ref from its JSON object; a ref that was read before is given back as it is.

    Raises: `AttachmentRefInvalid`.
    """
    if isinstance(value, AttachmentRef):
        return value
    if not isinstance(value, Mapping):
        raise AttachmentRefInvalid(
            path, "is no object", fix=f"write an object with {', '.join(MEMBERS[:5])}"
        )
    try:
        return AttachmentRef.model_validate(dict(value))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    # Raised here, not in the handler: what was caught holds the whole value.
    rule, fix = _describe(first)
    raise AttachmentRefInvalid((*path, *first["loc"]), rule, fix=fix)


def _describe(problem: ErrorDetails) -> tuple[str, str]:
    """What is wrong, and what to write instead."""
    kinds: dict[str, tuple[str, str]] = {
        "missing": ("is missing", "add it"),
        "extra_forbidden": ("is no member of a ref", f"remove it; known are {', '.join(MEMBERS)}"),
        "string_type": ("is no string", "write a string"),
        "string_too_short": ("is empty", "write a string that is not empty"),
        "string_unicode": ("holds half a character", "write whole characters"),
        "literal_error": ("is none of the origins", f"write one of {', '.join(get_args(OriginKind))}"),
        "null": ("is null", "leave the member out"),
        "size": (problem["msg"], f"write a whole number of bytes from 0 to {MAX_SIZE}"),
    }  # fmt: skip
    return kinds.get(problem["type"], ("cannot be read", "see docs/attachments.md"))


def _first_said(*names: str | None) -> str:
    return next((name for name in names if name and name.strip()), "")

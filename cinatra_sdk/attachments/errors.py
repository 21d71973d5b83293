"""What a caller gets wrong about attachments: each error names the member and says what to write.

    AttachmentRefInvalid(("attachments", 0, "size"), "is a string", fix="write a whole number")
        str:      attachments[0].size is a string (write a whole number)
        .body():  {"error": "Invalid request body", "issues": [{"path": [...], "message": "..."}]}
    UserEnvelopeInvalid("the text of user is not JSON")
        .body():  {"error": "invalid_user_envelope", "code": "INVALID_USER_ENVELOPE", "reason": "..."}

No message quotes a value: a value may be as long as a file, or secret.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.errors import FlowError

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

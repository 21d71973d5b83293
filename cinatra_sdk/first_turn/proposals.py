"""Changes of tastes and notes: proposed by an agent, written once a person has confirmed them.

    store, places = Proposals(), Places(workspace="work")
    made = propose_taste(store, content="- soft light", category="appearance")
    confirm(store, places, made.id, kind="taste")      appends to `_default.md`
    confirm(store, places, made.id, kind="taste")      ProposalNotFound: confirmed before

Proposing writes nothing.  Source: ADR-031, as the seed on first turns names it.
"""

from __future__ import annotations

import os
import secrets
import threading
import unicodedata
from collections import OrderedDict
from typing import Final, Literal, TypeAlias, get_args

from cinatra_sdk.data.text.folders import UnlinkedFolder, rewrite_file
from cinatra_sdk.data.text.person_texts import find_unseen
from cinatra_sdk.errors import FlowError
from cinatra_sdk.first_turn.first_turn_records import MAX_NOTES, MAX_PROSE, is_name
from cinatra_sdk.first_turn.workspace import PathLike, find_image
from cinatra_sdk.first_turn.workspace_files import DEFAULT, NOTES, SUFFIX, find_tastes_dir
from cinatra_sdk.light_imports.records import dataclass

ProposalKind: TypeAlias = Literal["taste", "note"]
Category: TypeAlias = Literal["appearance", "process", "value"]

MAX_CONTENT: Final = 10_000
"""Characters of one proposal."""
MAX_PENDING: Final = 1_000
"""Proposals of one store that wait; the oldest is dropped for a newer one."""


class ProposalInvalid(FlowError, ValueError):
    """The proposal cannot be made; nothing was kept."""

    code = "invalid_input"


class ProposalNotFound(FlowError, LookupError):
    """No proposal of this kind waits under this id: it is unknown, or was confirmed before."""

    code = "not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders that confirmed proposals are written to; the host names them."""

    workspace: PathLike
    tastes_dir: PathLike | None = None
    """None: see `find_tastes_dir`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A paragraph that would be appended to a file."""

    id: str
    """32 hexadecimal digits."""
    kind: ProposalKind
    content: str
    category: str = ""
    """What a taste is about; empty for a note."""
    file: str = ""
    """The file of a taste; empty for a note."""
    image_id: str = ""
    """The image of a note; empty for a taste."""

    def to_json(self) -> dict[str, str]:
        about = {"category": self.category, "file": self.file, "image_id": self.image_id}
        told = {key: value for key, value in about.items() if value}
        return {"proposal_id": self.id, "kind": self.kind, **told, "content": self.content}


class Proposals:
    """The proposals of one process that wait for a person; each is taken once."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Proposal] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, proposal: Proposal) -> Proposal:
        with self._lock:
            self._waiting[proposal.id] = proposal
            while len(self._waiting) > MAX_PENDING:
                self._waiting.popitem(last=False)
        return proposal

    def take(self, proposal_id: object, kind: ProposalKind) -> Proposal:
        """The proposal, which waits no more.

        Raises: `ProposalNotFound`; a proposal of the other kind goes on waiting.
        """
        with self._lock:
            found = self._waiting.get(proposal_id) if isinstance(proposal_id, str) else None
            if found is not None and found.kind == kind:
                return self._waiting.pop(found.id)
        raise ProposalNotFound(
            f"no {kind} proposal waits under this id",
            hint="a proposal is confirmed once, in the process that holds it",
        )


def propose_taste(
    store: Proposals, *, content: str, category: str, file: str = DEFAULT + SUFFIX
) -> Proposal:
    """Raises: `ProposalInvalid`."""
    return store.keep(make_taste(content=content, category=category, file=file))


def propose_note(store: Proposals, *, content: str, image_id: str) -> Proposal:
    """Raises: `ProposalInvalid`; whether the image is there shows when it is confirmed."""
    return store.keep(make_note(content=content, image_id=image_id))


def make_taste(*, content: str, category: str, file: str = DEFAULT + SUFFIX) -> Proposal:
    """A proposal that no store holds.

    file: a name in the folder of tastes, `.md` added where it is missing; empty: `_default.md`.
    Raises: `ProposalInvalid`.
    """
    if category not in get_args(Category):
        raise ProposalInvalid(f"the category of a taste is one of {', '.join(get_args(Category))}")
    return Proposal(
        id=_new_id(),
        kind="taste",
        content=_check_content(content),
        category=category,
        file=_check_file(file),
    )


def make_note(*, content: str, image_id: str) -> Proposal:
    """A proposal that no store holds.  Raises: `ProposalInvalid`."""
    if not is_name(image_id):
        raise ProposalInvalid("the image's id is no plain name")
    return Proposal(id=_new_id(), kind="note", content=_check_content(content), image_id=image_id)


def _new_id() -> str:
    return secrets.token_hex(16)


def _check_file(file: object) -> str:
    name = file.removesuffix(SUFFIX) if isinstance(file, str) else None
    if file == "":
        name = DEFAULT
    if not is_name(name):
        raise ProposalInvalid(
            "the file of a taste is no plain name",
            hint="letters, digits, `_`, `.` and `-`; it lies in the folder of tastes",
        )
    return f"{name}{SUFFIX}"


def _check_content(content: object) -> str:
    if not isinstance(content, str) or not content.strip():
        raise ProposalInvalid("the content of a proposal is a text that is not blank")
    if len(content) > MAX_CONTENT:
        raise ProposalInvalid(f"the content has more than {MAX_CONTENT:,} characters")
    text = content.replace("\r\n", "\n").strip("\n")
    control = next((one for one in text if one not in "\n\t" and _is_control(one)), "")
    hidden = control or find_unseen(text)
    if hidden:
        raise ProposalInvalid(
            f"the content holds U+{ord(hidden):04X}, which nobody sees",
            hint="whoever confirms the text must see all of it: leave the character out",
        )
    return text


def _is_control(letter: str) -> bool:
    return unicodedata.category(letter) in {"Cc", "Cs"}


# ----------------------------------------------------------------------------
# A confirmed change is appended to its file, whole or not at all.
#
#     confirm(store, places, proposal_id, kind="note")     Confirmed(file="img-7/notes.md", added=True)
#
# A blank line stands between the old text and the new text; no byte of the old text changes.
# Writers of all processes take turns (`cinatra_sdk.data.text.folders`).


_BLANK_LINE: Final = (b"\n\n", b"\n\r\n")
"""How a text ends whose last line is blank."""


class ProposalUnwritten(FlowError):
    """The file could not be written; the proposal still waits."""

    code = "unwritable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """What was written."""

    file: str
    """Below the workspace, or below the folder of tastes."""
    added: bool
    """Whether the file changed: with `once`, it may have ended so before."""


def confirm(
    store: Proposals, places: Places, proposal_id: object, *, kind: ProposalKind
) -> Confirmed:
    """Write a proposal of a store.  Where two callers confirm the same proposal, the second finds nothing.

    Raises: `ProposalNotFound`, `ImageNotFound`, `ProposalUnwritten`.
    """
    proposal = store.take(proposal_id, kind)
    try:
        return write_proposal(places, proposal)
    except FlowError:
        store.keep(proposal)
        raise


def write_proposal(places: Places, proposal: Proposal, *, once: bool = False) -> Confirmed:
    """Append the proposal to its file.

    once: a file that ends with this very paragraph stays as it is, so that a run that does not know
          whether it wrote before a crash writes nothing twice.

    Raises: `ImageNotFound`, `ProposalUnwritten`.
    """
    paragraph = proposal.content.encode("utf-8") + b"\n"
    is_added = True

    def change(before: bytes) -> bytes:
        nonlocal is_added
        is_added = not (once and _ends_with(before, paragraph))
        return append_paragraph(before, paragraph) if is_added else before

    problem = ""
    if proposal.kind == "note":
        folder, name, most = find_image(places.workspace, proposal.image_id), NOTES, MAX_NOTES
        name = f"{proposal.image_id}/{name}"
    else:
        folder, name, most = _tastes_of(places), proposal.file, MAX_PROSE
    try:
        if proposal.kind == "taste":
            os.makedirs(folder.path, exist_ok=True)  # noqa: PTH103 - a path as the host gave it
        rewrite_file(folder, name, change, most=most)
    except OSError as error:
        problem = error.strerror or type(error).__name__
    if problem:
        raise ProposalUnwritten(f"{proposal.kind} proposal: its file is not written: {problem}")
    return Confirmed(file=name, added=is_added)


def append_paragraph(before: bytes, paragraph: bytes) -> bytes:
    if not before.strip():
        return before + paragraph
    gap = b"" if before.endswith(_BLANK_LINE) else b"\n" if before.endswith(b"\n") else b"\n\n"
    return before + gap + paragraph


def _ends_with(before: bytes, paragraph: bytes) -> bool:
    """Whether `append_paragraph` could have made the file of another one with this paragraph."""
    if not before.endswith(paragraph):
        return False
    head = before.removesuffix(paragraph)
    return not head.strip() or head.endswith(_BLANK_LINE)


def _tastes_of(places: Places) -> UnlinkedFolder:
    return UnlinkedFolder(find_tastes_dir(places.tastes_dir))

"""Changes of tastes and notes: proposed by an agent, written once a person has confirmed them.

    store, places = Proposals(), Places(workspace="work")
    made = propose_taste(store, content="- soft light", category="appearance")
    confirm(store, places, made.id, kind="taste")      appends to `_default.md`
    confirm(store, places, made.id, kind="taste")      ProposalNotFound: confirmed before

Proposing writes nothing.  Source: ADR-031, as the seed on first turns names it.
"""

from __future__ import annotations

import secrets
import threading
import unicodedata
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from cinatra_sdk.errors import FlowError
from cinatra_sdk.first_turn.bounds import is_name
from cinatra_sdk.first_turn.reading import PathLike
from cinatra_sdk.first_turn.tastes import DEFAULT, SUFFIX
from cinatra_sdk.first_turn.unseen import find_unseen

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

"""What a person has confirmed is appended to its file, whole or not at all.

    confirm(store, places, proposal_id, kind="note")     Confirmed(file="img-7/notes.md", added=True)

A blank line stands between what was there and what is added; no byte of what was there changes.
Writers of all processes take turns (`cinatra_sdk.text.rewriting`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from cinatra_sdk.errors import FlowError
from cinatra_sdk.first_turn.bounds import MAX_NOTES, MAX_PROSE
from cinatra_sdk.first_turn.notes import NOTES
from cinatra_sdk.first_turn.proposals import Places, Proposal, ProposalKind, Proposals
from cinatra_sdk.first_turn.reading import find_image
from cinatra_sdk.first_turn.tastes import find_tastes_dir
from cinatra_sdk.text.rewriting import rewrite_file
from cinatra_sdk.text.unlinked import UnlinkedFolder

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
    """Write a proposal of a store; of two who confirm the same one, one finds nothing.

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

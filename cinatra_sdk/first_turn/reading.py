"""The first turn of a workspace: one call reads everything, in the order of importance.

    turn = read_context("work", "img-7")         FirstTurn, whatever of it can be read
    to_json(turn)                                {"tastes": …, "brief": …, …}
    read_context("work", "../etc")               ImageNotFound

    work/img-7/brief.md  notes.md  log.jsonl  vocabulary_gaps.jsonl        each may be missing

Only an image without a folder is an error; whatever else cannot be read is empty, and `warnings`
says so.  Source: ADR-059 (seed 002).
"""

from __future__ import annotations

import os

from cinatra_sdk.errors import FlowError
from cinatra_sdk.first_turn.bounds import RECENT, Warnings, is_name
from cinatra_sdk.first_turn.brief import parse_brief
from cinatra_sdk.first_turn.notes import load_full_notes, load_notes
from cinatra_sdk.first_turn.prose import read_prose
from cinatra_sdk.first_turn.recent import load_gaps, load_log
from cinatra_sdk.first_turn.records import FirstTurn, FullNotes
from cinatra_sdk.first_turn.tastes import find_tastes_dir, load_tastes
from cinatra_sdk.text.files import shown_name
from cinatra_sdk.text.unlinked import UnlinkedFolder

PathLike = str | os.PathLike[str]

BRIEF = "brief.md"


class ImageNotFound(FlowError, LookupError):
    """The workspace has no folder of this image, or the id is no plain name."""

    code = "not_found"


def read_context(
    workspace: PathLike,
    image_id: str,
    *,
    tastes_dir: PathLike | None = None,
    limit: int = RECENT,
) -> FirstTurn:
    """What an agent reads before its first turn about an image.

    workspace:  the folder with one folder for each image.
    tastes_dir: the folder of tastes; None: see `find_tastes_dir`.
    limit:      entries of the log, and gaps; 0 or less: none.

    Raises: `ImageNotFound`.
    """
    folder = find_image(workspace, image_id)
    warnings = Warnings()
    raw = read_prose(folder, f"{image_id}/{BRIEF}", label=BRIEF, tell=warnings.tell)
    brief = parse_brief(raw, tell=warnings.tell)
    tastes = UnlinkedFolder(find_tastes_dir(tastes_dir))
    return FirstTurn(
        tastes=load_tastes(tastes, brief.tastes, tell=warnings.tell),
        brief=brief,
        notes=load_notes(folder, image_id, tell=warnings.tell),
        recent_log=load_log(folder, image_id, limit=limit, tell=warnings.tell),
        recent_gaps=load_gaps(folder, image_id, limit=limit, tell=warnings.tell),
        # read last: the arguments before it tell the warnings
        warnings=warnings.told(),
    )


def read_full_notes(
    workspace: PathLike, image_id: str, *, offset: int = 0, limit: int | None = None
) -> FullNotes:
    """The notes of an image, line by line as they are.

    offset: lines that are left out at the beginning; limit: lines at most, None for all that one
    answer can hold.

    Raises: `ImageNotFound`.
    """
    folder = find_image(workspace, image_id)
    warnings = Warnings()
    found = load_full_notes(folder, image_id, offset=offset, limit=limit, tell=warnings.tell)
    return FullNotes(
        content=found.content,
        lines=found.lines,
        truncated=found.truncated,
        warnings=warnings.told(),
    )


def find_image(workspace: PathLike, image_id: object) -> UnlinkedFolder:
    """The workspace, which holds a folder of the image.

    Raises: `ImageNotFound`.
    """
    folder = UnlinkedFolder(workspace)
    if isinstance(image_id, str) and is_name(image_id) and folder.holds_folder(image_id):
        return folder
    shown = shown_name(image_id[:80]) if isinstance(image_id, str) else type(image_id).__name__
    raise ImageNotFound(
        f'no image "{shown}" in the workspace',
        hint="an image is a folder of the workspace, named by letters, digits, `_`, `.` and `-`",
    )

r"""`notes.md`: short notes whole, long ones as their first and last lines.

    100 lines  ->  ImageNotes(summary="<10 lines>\n\n... [60 lines elided] ...\n\n<30 lines>", truncated=True)

The file is streamed, so that long notes take no more memory than short ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from cinatra_sdk.first_turn.bounds import (
    HEAD_LINES,
    MAX_NOTES,
    MAX_NOTES_LINE,
    MAX_NOTES_LINES,
    MAX_NOTES_PAGE,
    SHORT_LINES,
    TAIL_LINES,
    Tell,
)
from cinatra_sdk.first_turn.prose import describe_failure
from cinatra_sdk.first_turn.records import FullNotes, ImageNotes
from cinatra_sdk.text.line_ends import lines_forward, without_end
from cinatra_sdk.text.unlinked import Readable, UnlinkedFolder

NOTES: Final = "notes.md"


class _NoText(ValueError):
    """The notes cannot be shown; the text says why."""


def load_notes(folder: UnlinkedFolder, image_id: str, *, tell: Tell) -> ImageNotes:
    """The notes of an image, summarized; empty where there are none, or none that can be read."""
    try:
        with folder.opened(f"{image_id}/{NOTES}") as file:
            return summarize(file, tell=tell)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        tell(describe_failure(NOTES, error))
    except _NoText as error:
        tell(f"{NOTES} is not read: {error}")
    return ImageNotes()


def summarize(file: Readable, *, tell: Tell) -> ImageNotes:
    first: list[str] = []
    last: deque[str] = deque(maxlen=TAIL_LINES)
    count = 0
    for line in _read_lines(file, tell):
        count += 1
        if count <= SHORT_LINES:
            first.append(line)
        last.append(line)
    if count <= SHORT_LINES:
        return ImageNotes(summary="".join(first))
    head = "\n".join(map(without_end, first[:HEAD_LINES]))
    tail = "\n".join(map(without_end, last))
    elided = f"\n\n... [{count - SHORT_LINES} lines elided] ...\n\n"
    return ImageNotes(summary=head + elided + tail, truncated=True)


def load_full_notes(
    folder: UnlinkedFolder, image_id: str, *, offset: int, limit: int | None, tell: Tell
) -> FullNotes:
    """The lines of the notes after the first `offset`; limit: how many at most."""
    try:
        with folder.opened(f"{image_id}/{NOTES}") as file:
            return cut_page(file, offset=offset, limit=limit, tell=tell)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        tell(describe_failure(NOTES, error))
    except _NoText as error:
        tell(f"{NOTES} is not read: {error}")
    return FullNotes()


def cut_page(file: Readable, *, offset: int, limit: int | None, tell: Tell) -> FullNotes:
    start = max(0, offset)
    page: list[str] = []
    count, size, is_full = 0, 0, False
    for line in _read_lines(file, tell):
        count += 1
        if count <= start or is_full:
            continue
        size += len(line)
        if size > MAX_NOTES_PAGE or (limit is not None and len(page) >= limit):
            is_full = True
        else:
            page.append(line)
    return FullNotes(content="".join(page), lines=count, truncated=is_full)


def _read_lines(file: Readable, tell: Tell) -> Iterator[str]:
    """Raises: `_NoText`."""
    if file.size > MAX_NOTES:
        raise _NoText(f"it has more than {MAX_NOTES:,} bytes")

    def leave_out() -> None:
        tell(f"{NOTES}: lines of more than {MAX_NOTES_LINE:,} characters are left out")

    try:
        lines = lines_forward(file, longest=MAX_NOTES_LINE, left_out=leave_out)
        for number, line in enumerate(lines, 1):
            if number > MAX_NOTES_LINES:
                raise _NoText(f"it has more than {MAX_NOTES_LINES:,} lines")
            if "\0" in line:
                raise _NoText("it holds a NUL, so it is no text")
            yield line
    except UnicodeDecodeError:
        raise _NoText("it is not UTF-8") from None

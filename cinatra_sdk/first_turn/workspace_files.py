r"""The files of a workspace, one loader each: tastes, `brief.md`, `notes.md`, `log.jsonl`, `vocabulary_gaps.jsonl`.

    parse_brief("Tastes: [underwater, 'portrait']\nShow the blue.\n", tell=…)
        Brief(tastes=("underwater", "portrait"), intent="Show the blue.", raw=…)

A declaration is a line that begins with `Tastes:` or `**Tastes:**`, in any case, also inside a code
fence.  The last one counts, an empty one too; all of them are taken out of the intent.

    load_log(folder, "img-7", limit=2, tell=…)     (LogEntry(op="export", …), LogEntry(op="crop", …))

The newest entries are the last in the file, whatever the timestamps say.  Lines that are blank, no strict
JSON, or no object are skipped, up to a limit of their own.  A line that is no UTF-8 makes the whole file
unreadable, if the reading came to this line.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.text.author_files import shown_name
from cinatra_sdk.data.text.folders import (
    Readable,
    UnlinkedFolder,
    lines_backward,
    lines_forward,
    read_beginning,
    without_end,
)
from cinatra_sdk.first_turn.first_turn_records import (
    HEAD_LINES,
    MAX_CONFLICTS,
    MAX_ENTRIES,
    MAX_ENTRY,
    MAX_GENRES,
    MAX_LOOKED_BACK,
    MAX_NO_ENTRIES,
    MAX_NOTES,
    MAX_NOTES_LINE,
    MAX_NOTES_LINES,
    MAX_NOTES_PAGE,
    MAX_PROSE,
    MAX_RECENT,
    SHORT_LINES,
    TAIL_LINES,
    UNCATEGORIZED,
    Brief,
    FullNotes,
    GapEntry,
    Genre,
    ImageNotes,
    LogEntry,
    TasteConflict,
    Tastes,
    Tell,
    is_name,
)

# ----------------------------------------------------------------------------
# Texts that people keep: read whole, or as empty texts where they cannot be read.
#
#     read_prose(folder, "img-7/brief.md", label="brief.md", tell=warnings.tell)     "Tastes: …"
#     read_prose(folder, "img-8/brief.md", …)                                        "" where there is none
#
# A text that is no UTF-8, holds a NUL, is no ordinary file or is reached by a link is empty, with a
# warning; a text beyond `MAX_PROSE` is cut after a line.


def read_prose(folder: UnlinkedFolder, name: str, *, label: str, tell: Tell) -> str:
    """The text of a file, without a byte order mark; label: its name for warnings."""
    try:
        with folder.opened(name) as file:
            raw = read_beginning(file, MAX_PROSE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        tell(describe_failure(label, error))
        return ""
    if len(raw) > MAX_PROSE:
        tell(f"{label} is cut: it has more than {MAX_PROSE:,} bytes")
        raw = raw[: raw.rfind(b"\n", 0, MAX_PROSE) + 1]
    return decode_prose(raw, label=label, tell=tell)


def decode_prose(raw: bytes, *, label: str, tell: Tell) -> str:
    """The text of the bytes; empty where they are no text."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        tell(f"{label} is not read: it is not UTF-8")
        return ""
    if "\0" in text:
        tell(f"{label} is not read: it holds a NUL, so it is no text")
        return ""
    return text


def split_lines(text: str) -> list[str]:
    r"""The lines without their ends, which are `\n` and `\r\n` only."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def describe_failure(label: str, error: OSError) -> str:
    """A warning without any path: whoever reads it may not know where the workspace is."""
    return f"{label} is not read: {error.strerror or type(error).__name__}"


_DECLARES: Final = ("tastes:", "**tastes:**")


def parse_brief(raw: str, *, tell: Tell) -> Brief:
    intent: list[str] = []
    declared: str | None = None
    for line in split_lines(raw):
        payload = _read_payload(line)
        if payload is None:
            intent.append(line)
        else:
            declared = payload
    return Brief(
        raw=raw,
        intent="\n".join(intent).strip(),
        tastes=_list_names(declared or "", tell),
    )


def _read_payload(line: str) -> str | None:
    """What a declaration says after its word; None for any other line."""
    for word in _DECLARES:
        if line[: len(word)].lower() == word:
            return line[len(word) :]
    return None


def _list_names(payload: str, tell: Tell) -> tuple[str, ...]:
    names: list[str] = []
    for part in payload.strip().strip("[]").split(","):
        name = part.strip().strip("'\"")
        if is_name(name):
            names.append(name)
        elif name:
            tell(f'brief.md: "{shown_name(name[:80])}" is no name of a taste, and is ignored')
    return tuple(names)


# ----------------------------------------------------------------------------
# `notes.md`: short notes whole, long ones as their first and last lines.
#
#     100 lines  ->  ImageNotes(summary="<10 lines>\n\n... [60 lines elided] ...\n\n<30 lines>", truncated=True)
#
# The file is streamed, so that long notes take no more memory than short ones.


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


# ----------------------------------------------------------------------------
# Tastes of a person, in general and by genre; lines that stand in several genres.
#
#     load_tastes(UnlinkedFolder("tastes"), ("underwater", "portrait"), tell=…)
#         Tastes(default=…, genres=(Genre(name="underwater", …), …), conflicts=(…))
#
# `_default.md` always counts.  A conflict is a line that stands in at least two genres; conflicts are listed,
# and never resolved here.  Headings and comments (`#`), HTML comments and thematic breaks are no lines that
# could conflict.


TASTES_DIR: Final = "OASFLOW_TASTES_DIR"
"""The environment's variable with the folder of tastes; empty counts as unset."""
DEFAULT: Final = "_default"
SUFFIX: Final = ".md"
_HOME: Final = "~/.oasflow/tastes"


def find_tastes_dir(
    named: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None
) -> Path:
    """The folder of tastes: as `named`, else of the environment, else `~/.oasflow/tastes`."""
    environ = os.environ if environ is None else environ
    said = os.fspath(named) if named is not None else ""
    return Path(os.path.expanduser(said or environ.get(TASTES_DIR, "") or _HOME))  # noqa: PTH111 - a user that is not known stays as it is


def load_tastes(folder: UnlinkedFolder, declared: Sequence[str], *, tell: Tell) -> Tastes:
    """The tastes of a folder; declared: names of genres that passed `is_name`."""
    names = list(dict.fromkeys(declared))
    if DEFAULT in names:
        names.remove(DEFAULT)
        tell(f"the taste {DEFAULT} always counts, and needs no declaration")
    if len(names) > MAX_GENRES:
        tell(f"only the first {MAX_GENRES} of {len(names)} declared tastes are read")
    genres = []
    for name in names[:MAX_GENRES]:
        text = _read_taste(folder, name, tell)
        if text:
            genres.append(Genre(name=name, text=text))
        else:
            tell(f"the taste {name} is declared, and there is no text of it")
    return Tastes(
        default=_read_taste(folder, DEFAULT, tell),
        genres=tuple(genres),
        conflicts=find_conflicts(genres, tell=tell),
    )


def _read_taste(folder: UnlinkedFolder, name: str, tell: Tell) -> str:
    return read_prose(folder, name + SUFFIX, label=f"the taste {name}", tell=tell)


def find_conflicts(genres: Sequence[Genre], *, tell: Tell) -> tuple[TasteConflict, ...]:
    """The lines of at least two genres, in the order in which they come first."""
    files: dict[str, dict[str, None]] = {}
    for genre in genres:
        for point in list_points(genre.text):
            files.setdefault(point, {})[genre.name] = None
    found = [
        TasteConflict(point=point, files=tuple(names))
        for point, names in files.items()
        if len(names) > 1
    ]
    if len(found) > MAX_CONFLICTS:
        tell(f"only the first {MAX_CONFLICTS} of {len(found)} conflicts of tastes are told")
    return tuple(found[:MAX_CONFLICTS])


def list_points(text: str) -> Iterator[str]:
    """The trimmed lines of a taste that say something."""
    is_comment = False
    for line in map(str.strip, split_lines(text)):
        if is_comment or line.startswith("<!--"):
            is_comment = "-->" not in line
        elif line and not line.startswith("#") and not _is_break(line):
            yield line


def _is_break(line: str) -> bool:
    """Whether Markdown draws the line as a rule: three or more of one of `-`, `*` and `_`."""
    marks = "".join(line.split())
    return len(marks) >= 3 and set(marks) in ({"-"}, {"*"}, {"_"})


LOG: Final = "log.jsonl"
GAPS: Final = "vocabulary_gaps.jsonl"

Entry = dict[str, JsonValue]


def load_log(
    folder: UnlinkedFolder, image_id: str, *, limit: int, tell: Tell
) -> tuple[LogEntry, ...]:
    found = _load(folder, image_id, LOG, limit, tell)
    return tuple(_make_log_entry(entry) for entry in found)


def load_gaps(
    folder: UnlinkedFolder, image_id: str, *, limit: int, tell: Tell
) -> tuple[GapEntry, ...]:
    found = _load(folder, image_id, GAPS, limit, tell)
    return tuple(_make_gap_entry(entry) for entry in found)


def _load(folder: UnlinkedFolder, image_id: str, name: str, limit: int, tell: Tell) -> list[Entry]:
    if limit <= 0:
        return []
    try:
        with folder.opened(f"{image_id}/{name}") as file:
            return read_entries(file, limit=min(limit, MAX_RECENT), label=name, tell=tell)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        tell(describe_failure(name, error))
    return []


def read_entries(file: Readable, *, limit: int, label: str, tell: Tell) -> list[Entry]:
    """The last `limit` objects of a file with one JSON value a line, the last one first."""
    found: list[Entry] = []
    left, skipped = MAX_ENTRIES, 0
    try:
        for line in _read_texts(file, label, tell):
            entry = _read_object(line) if line.strip() else None
            if entry is None:
                skipped += 1
                if skipped > MAX_NO_ENTRIES:
                    tell(f"{label}: entries before {MAX_NO_ENTRIES:,} other lines are left out")
                    break
                continue
            left -= len(line)
            if left < 0:
                tell(f"{label}: older entries are left out, the newer ones are long")
                break
            found.append(entry)
            if len(found) == limit:
                break
    except UnicodeDecodeError:
        tell(f"{label} is not read: it is not UTF-8")
        return []
    return found


def _read_texts(file: Readable, label: str, tell: Tell) -> Iterator[str]:
    """The lines, the last one first.  Raises: `UnicodeDecodeError`."""

    def leave_out() -> None:
        tell(f"{label}: lines of more than {MAX_ENTRY:,} bytes are left out")

    def stop() -> None:
        tell(f"{label}: entries before the last {MAX_LOOKED_BACK:,} bytes are not looked for")

    lines = lines_backward(
        file, longest=MAX_ENTRY, most=MAX_LOOKED_BACK, left_out=leave_out, stopped=stop
    )
    for line in lines:
        yield line.decode("utf-8")


def _read_object(text: str) -> Entry | None:
    try:
        value = read_json(text)
    except NotStrictJson:
        return None
    return value if isinstance(value, dict) else None


def _make_log_entry(entry: Mapping[str, JsonValue]) -> LogEntry:
    return LogEntry(
        timestamp=_as_text(entry.get("timestamp")),
        op=_as_text(entry.get("op")),
        details={key: value for key, value in entry.items() if key not in {"timestamp", "op"}},
    )


def _make_gap_entry(entry: Mapping[str, JsonValue]) -> GapEntry:
    satisfaction = entry.get("satisfaction")
    return GapEntry(
        timestamp=_as_text(entry.get("timestamp")),
        image_id=_as_text(entry.get("image_id")),
        description=_as_text(entry.get("description")),
        session_id=_as_text_or_none(entry.get("session_id")),
        snapshot_hash=_as_text_or_none(entry.get("snapshot_hash")),
        intent=_as_text_or_none(entry.get("intent")),
        intent_category=_as_text(entry.get("intent_category")) or UNCATEGORIZED,
        missing_capability=_as_text_or_none(entry.get("missing_capability")),
        operations_involved=_as_items(entry.get("operations_involved")),
        vocabulary_used=_as_items(entry.get("vocabulary_used")),
        satisfaction=None if isinstance(satisfaction, (dict, list)) else satisfaction,
        notes=_as_text(entry.get("notes")),
    )


def _as_text(value: JsonValue) -> str:
    """A text as it is, nothing as an empty text, and any other value as JSON: `5` -> "5"."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _as_text_or_none(value: JsonValue) -> str | None:
    return None if value is None else _as_text(value)


def _as_items(value: JsonValue) -> tuple[JsonValue, ...]:
    return tuple(value) if isinstance(value, list) else ()

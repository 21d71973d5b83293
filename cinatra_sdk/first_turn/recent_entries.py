"""The newest entries of `log.jsonl` and `vocabulary_gaps.jsonl`, read from the end of the file.

    load_log(folder, "img-7", limit=2, tell=…)     (LogEntry(op="export", …), LogEntry(op="crop", …))

Newest means last in the file, whatever the timestamps say.  Lines that are blank, no strict JSON, or no
object are skipped, up to a limit of their own.  A line that is no UTF-8 makes the whole file unreadable, if
the reading came to this line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.text.folders import Readable, UnlinkedFolder, lines_backward
from cinatra_sdk.first_turn.first_turn_records import (
    MAX_ENTRIES,
    MAX_ENTRY,
    MAX_LOOKED_BACK,
    MAX_NO_ENTRIES,
    MAX_RECENT,
    UNCATEGORIZED,
    GapEntry,
    LogEntry,
    Tell,
)
from cinatra_sdk.first_turn.workspace_files import describe_failure

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

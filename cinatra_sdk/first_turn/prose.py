"""Texts that people keep: read whole, or as empty texts where they cannot be read.

    read_prose(folder, "img-7/brief.md", label="brief.md", tell=warnings.tell)     "Tastes: …"
    read_prose(folder, "img-8/brief.md", …)                                        "" where there is none

A text that is no UTF-8, holds a NUL, is no ordinary file or is reached by a link is empty, with a
warning; a text beyond `MAX_PROSE` is cut after a line.
"""

from __future__ import annotations

from cinatra_sdk.first_turn.bounds import MAX_PROSE, Tell
from cinatra_sdk.text.unlinked import UnlinkedFolder, read_beginning


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

"""Tastes: what a person likes, in general and by genre, and where genres say the same.

    load_tastes(UnlinkedFolder("tastes"), ("underwater", "portrait"), tell=…)
        Tastes(default=…, genres=(Genre(name="underwater", …), …), conflicts=(…))

`_default.md` always counts.  A conflict is a line that stands in at least two genres; it is told, and
never resolved here.  Headings and comments (`#`), HTML comments and thematic breaks are no lines that
could conflict.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from cinatra_sdk.first_turn.bounds import MAX_CONFLICTS, MAX_GENRES, Tell
from cinatra_sdk.first_turn.prose import read_prose, split_lines
from cinatra_sdk.first_turn.records import Genre, TasteConflict, Tastes
from cinatra_sdk.text.unlinked import UnlinkedFolder

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

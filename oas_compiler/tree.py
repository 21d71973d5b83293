"""Which files of the paths that were given are flows.

    flows_of(["agents", "x.json"])
        ->  Found(files=("agents/email/cinatra/oas.json", "agents/news/oas.json", "x.json"))

A path to a file is that file, whatever is in it.  A folder that is an agent's (it holds
`cinatra/oas.json`, `oas.json`, …) is that agent; any other folder stands for every flow below it:
the flow of each agent's folder, and every other JSON or YAML file that begins as an Agent Spec
document does.  What is hidden, what is installed or built, and symbolic links to folders are left
out below a folder.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oas_compiler.bounds import MAX_JSON_BYTES
from oas_compiler.source import FLOW_FILES

SKIPPED: Final = frozenset(
    {"node_modules", "__pycache__", "site-packages", "dist", "build", "venv"}
)
_SUFFIXES: Final = (".json", ".yaml", ".yml")
_MARKS: Final = ("component_type", "$referenced_components")
"""A member at the top of a document that only Agent Spec has."""
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
"""A string or a bracket; a string that does not end goes to the end, so that it is read once."""
_COLON: Final = re.compile(r"\s*:")
_YAML_MARK: Final = re.compile(
    r"""^(?:component_type|\$referenced_components|(["'])(?:component_type|\$referenced_components)\1)\s*:(?:\s|$)""",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the paths stand for."""

    files: tuple[str, ...]
    """Flow files, each once, in the order of the paths and then by name.  A path that is neither a
    file nor a folder with flows stands for itself: checking it says what is wrong with it."""
    unreadable: tuple[str, ...] = ()
    """Folders that could not be looked into."""


def flows_of(paths: Iterable[str]) -> Found:
    """The flow files of files, agents' folders and whole trees; never raises."""
    files: dict[str, str] = {}
    unreadable: list[str] = []
    for path in paths:
        for file in _flows(path, unreadable):
            files.setdefault(_identity(file), file)
    return Found(files=tuple(files.values()), unreadable=tuple(dict.fromkeys(unreadable)))


def _flows(path: str, unreadable: list[str]) -> Iterator[str]:
    try:
        folder = Path(path)
        if not folder.is_dir():
            yield str(folder) if path else path
            return
        own = _flow_of(folder)
    except (OSError, ValueError):  # a name with NUL in it, or too long a one
        yield path
        return
    found = [own] if own is not None else list(_below(folder, unreadable))
    yield from found or [path]


def _identity(file: str) -> str:
    """The same for two names of one file.

    The file itself may be a symbolic link: the package around it is then another one.
    """
    folder, name = os.path.split(file)
    try:
        return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - only compared
    except (OSError, ValueError):
        return file


def _flow_of(folder: Path) -> str | None:
    """The flow that a folder keeps for itself, first match of FLOW_FILES."""
    return next((str(folder / name) for name in FLOW_FILES if (folder / name).is_file()), None)


def _below(root: Path, unreadable: list[str]) -> Iterator[str]:
    def failed(error: OSError) -> None:
        unreadable.append(os.fsdecode(error.filename or root))

    for name, below, names in os.walk(root, onerror=failed):
        folder = Path(name)
        below[:] = sorted(one for one in below if not one.startswith(".") and one not in SKIPPED)
        own = _flow_of(folder)
        if own is not None and Path(own).parent == folder and _is_something_else(own):
            own = None
        if own is not None:
            yield own
        for one in sorted(names):
            file = str(folder / one)
            if (
                file != own
                and one[0] != "."
                and one.lower().endswith(_SUFFIXES)
                and is_agent_spec(file)
            ):
                yield file


def is_agent_spec(file: str) -> bool:
    """Whether the document begins as those of Agent Spec do; broken ones count as well."""
    text = _text(file)
    if not any(mark in text for mark in _MARKS):
        return False
    if text.lstrip().startswith("{"):
        return any(key in _MARKS for key in _keys(text))
    return _YAML_MARK.search(text) is not None


def _is_something_else(file: str) -> bool:
    """Whether a file called `oas.json` describes an HTTP interface: OpenAPI uses that name too."""
    text = _text(file)
    keys = set(_keys(text)) if text.lstrip().startswith("{") else set()
    return bool(keys & {"openapi", "swagger"}) and not keys & set(_MARKS)


def _text(file: str) -> str:
    try:
        about = Path(file).stat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_JSON_BYTES:
            return ""  # reading a pipe would wait for whoever writes to it
        return Path(file).read_bytes().decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""


def _keys(text: str) -> Iterator[str]:
    """Keys directly inside the outermost bracket; the text may be broken further on."""
    depth = 0
    for match in _TOKEN.finditer(text):
        piece = match.group()
        if piece in "{[":
            depth += 1
        elif piece in "}]":
            depth -= 1
        elif depth == 1 and _COLON.match(text, match.end()):
            yield piece[1:-1]

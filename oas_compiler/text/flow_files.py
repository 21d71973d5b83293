"""Finds the flow files in the given paths.

    flows_of(["agents", "x.json"])
        ->  Found(files=("agents/email/cinatra/oas.json", "agents/news/oas.json", "x.json"))

A path to a file stands for that file, whatever its content.  The folder of an agent (with `cinatra/oas.json`,
`oas.json`, …) stands for that agent.  Any other folder stands for every flow below it: the flow of each agent's
folder, and every other JSON or YAML file that begins like an Agent Spec document.  Below a folder, hidden
files, installed or built files, and symbolic links to folders are left out; links that lead out of the folder,
pipes and devices are not read.  A named folder may not itself be a link out of the folder that holds it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.text.file_access import first_of, folder_at, require_no_link_out, walk
from oas_compiler.text.input_bounds import MAX_JSON_BYTES
from oas_compiler.text.source import FLOW_FILES

SKIPPED: Final = frozenset(
    {"node_modules", "__pycache__", "site-packages", "dist", "build", "venv"}
)
_SUFFIXES: Final = (".json", ".yaml", ".yml")
_MARKS: Final = ("component_type", "$referenced_components")
"""A member at the top of a document that only Agent Spec has."""
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
"""A string or a bracket; a string that does not end goes to the end, so that it is read once."""
_COLON: Final = re.compile(r"\s*:")
_YAML_MARK: Final = re.compile(
    r"""^(?:component_type|\$referenced_components|(["'])(?:component_type|\$referenced_components)\1)\s*:(?:\s|$)""",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The flow files of the paths."""

    files: tuple[str, ...]
    """Flow files, each once, in the order of the paths and then by name.  A path that is neither a
    file nor a folder with flows stands for itself: checking it says what is wrong with it."""
    roots: Mapping[str, str] = field(default_factory=dict)
    """File → the folder of the paths below which it was found; links lead nowhere else."""
    unreadable: tuple[str, ...] = ()
    """Folders that could not be listed."""
    passed_over: tuple[str, ...] = ()
    """Names of flows that are not read: links that lead out of the folder, pipes, devices."""


def flows_of(paths: Iterable[str]) -> Found:
    """The flow files of files, agents' folders and whole trees; never raises."""
    files: dict[str, str] = {}
    roots: dict[str, str] = {}
    left = _Left()
    for path in paths:
        for file in _find_flows(path, left):
            files.setdefault(_resolve_file_identity(file), file)
            if Path(file) != Path(path):
                roots.setdefault(file, str(Path(path)))
    return Found(
        files=tuple(files.values()),
        roots=roots,
        unreadable=tuple(dict.fromkeys(left.unreadable)),
        passed_over=tuple(dict.fromkeys(left.passed_over)),
    )


@dataclass(slots=True)
class _Left:
    """What was not looked at on the way."""

    unreadable: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)


def _find_flows(path: str, left: _Left) -> Iterator[str]:
    try:
        folder = Path(path)
        if not folder.is_dir():
            yield str(folder) if path else path
            return
        require_no_link_out(folder)
        own = _flow_of(folder)
    except (OSError, ValueError):  # a link out, a name with NUL in it, or too long a one
        yield path
        return
    found = [own] if own is not None else list(_find_flows_below(folder, left))
    yield from found or [path]


def _resolve_file_identity(file: str) -> str:
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
    found = first_of(folder, FLOW_FILES)
    return None if found is None else str(folder / found)


def _find_flows_below(root: Path, left: _Left) -> Iterator[str]:
    def failed(error: OSError) -> None:
        left.unreadable.append(os.fsdecode(error.filename or root))

    for name, names in walk(str(root), _is_entered, failed):
        folder = Path(name)
        own = _flow_of(folder)
        if own is not None and Path(own).parent == folder and _is_something_else(own, root):
            own = None
        if own is not None:
            yield own
        for one in names:
            file = str(folder / one)
            if file == own or one[0] == "." or not one.lower().endswith(_SUFFIXES):
                continue
            if folder_at(root).kind(_format_path_inside(file, root)) == "refused":
                left.passed_over.append(file)
            elif is_agent_spec(file, root):
                yield file


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and name not in SKIPPED


def is_agent_spec(file: str, root: Path | None = None) -> bool:
    """Whether the document begins as those of Agent Spec do; broken ones count as well.

    A file below `root` is meant, else one whose name is no link out of its folder.
    """
    try:
        text = _read_text_below(file, root or Path(file).parent)
    except OSError:
        return False
    if not any(mark in text for mark in _MARKS):
        return False
    if text.lstrip().startswith("{"):
        return any(key in _MARKS for key in _iterate_top_level_keys(text))
    return _YAML_MARK.search(text) is not None


def _is_something_else(file: str, root: Path) -> bool:
    """Whether a file called `oas.json` describes an HTTP interface: OpenAPI uses that name too."""
    try:
        text = _read_text_below(file, root)
    except OSError:
        return False
    keys = set(_iterate_top_level_keys(text)) if text.lstrip().startswith("{") else set()
    return bool(keys & {"openapi", "swagger"}) and not keys & set(_MARKS)


def _read_text_below(file: str, root: Path) -> str:
    """The text of a file below `root`; empty where it is larger than any flow.

    Raises: `OSError`.
    """
    raw = folder_at(root).read(_format_path_inside(file, root), MAX_JSON_BYTES + 1)
    return "" if len(raw) > MAX_JSON_BYTES else raw.decode("utf-8-sig", errors="replace")


def _format_path_inside(file: str, root: Path) -> str:
    return Path(file).relative_to(root).as_posix()


def _iterate_top_level_keys(text: str) -> Iterator[str]:
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

"""The folder around a flow file: its package.json and the other files of the agent.

    find_package("agents/email/cinatra/oas.json", findings)
        -> Package(root=Path("agents/email"), manifest={"name": "@x/email", …})

Files are read and never run: a script of a package is text here.  Files outside of the folder do
not belong to the agent: a link that leads there is not followed.
"""

from __future__ import annotations

import os
import posixpath
import stat
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue, Place
from oas_compiler.package.package_programs import Script, read_scripts
from oas_compiler.package.skill import Skill, read_skill
from oas_compiler.text.file_access import MANIFEST, folder_at, has_manifest, package_places, walk
from oas_compiler.text.source import Source, read_below

# ----------------------------------------------------------------------------
# The files of a package that are searched for credentials, and those beyond the limits.
#
#     `FolderListing(files=("SKILL.md", "scripts/a.py"), secret_files=(".env",), closed=())`
#         -> plan_scan(root, …) == ScanPlan(parts=((".env", 120), …), left_out=("big.csv",))
#
# Small files come first, so that one large file does not use up the limit.  Files that are not UTF-8
# are searched too.


MAX_SCAN_BYTES: Final = 8 * 1024 * 1024
"""Bytes that are searched in all files of a package together."""
_NOT_THE_AUTHORS: Final = frozenset({"node_modules", "__pycache__", "dist", "build", "venv"})
_SECRET_FILES: Final = frozenset({".npmrc", ".netrc", ".pypirc", ".git-credentials", ".envrc"})
"""Hidden files in which people keep credentials; `.env` and `.env.…` are others."""
_MEDIA: Final = frozenset(
    {
        "png", "jpg", "jpeg", "gif", "webp", "ico", "pdf", "mp3", "mp4", "mov", "woff", "woff2",
        "ttf", "otf", "zip", "gz", "tgz", "whl", "pyc",
    }
)  # fmt: skip
"""Suffixes of files that hold no text."""


@dataclass(frozen=True, slots=True)
class FolderListing:
    """What is in a folder."""

    files: tuple[str, ...]
    """Names of the author's files, relative and with `/`, sorted."""
    secret_files: tuple[str, ...]
    """Hidden files that credentials are kept in."""
    closed: tuple[str, ...]
    """Folders that could not be listed."""
    refused: tuple[str, ...] = ()
    """Names that are no files of the author: links that lead out of the package, pipes, devices."""


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """What is looked through."""

    parts: tuple[tuple[str, int], ...]
    """Files with how many bytes of each."""
    left_out: tuple[str, ...]
    """Files that are not looked through, or only in part."""


def list_folder(root: Path, max_files: int, max_folders: int) -> FolderListing:
    """The files of a package; see `Package.files` for what is left out."""
    found: dict[str, list[str]] = {"file": [], "secret": [], "refused": []}
    closed: list[str] = []

    def failed(error: OSError) -> None:
        closed.append(_format_relative_path(Path(os.fsdecode(error.filename or root)), root))

    for folders, (folder, names) in enumerate(walk(str(root), _is_entered, failed), start=1):
        for name in names:
            path = Path(folder, name)
            if name.startswith(".") and not _keeps_secrets(name):
                continue
            kind = _find_file_kind(path, root)
            if kind == "file":
                kind = "secret" if name.startswith(".") else kind
                if len(found[kind]) < max_files:
                    found[kind].append(_format_relative_path(path, root))
            elif kind == "refused" and len(found[kind]) < max_files:
                found[kind].append(_format_relative_path(path, root))
        if folders >= max_folders or len(found["file"]) >= max_files:
            break
    return FolderListing(
        files=tuple(sorted(found["file"])),
        secret_files=tuple(found["secret"]),
        closed=tuple(closed),
        refused=tuple(sorted(found["refused"])),
    )


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and name not in _NOT_THE_AUTHORS


def plan_scan(root: Path, files: Iterable[str]) -> ScanPlan:
    """How much of each file is looked through."""
    left = MAX_SCAN_BYTES
    parts: list[tuple[str, int]] = []
    left_out: list[str] = []
    for size, file in sorted(_measure_files(root, files)):
        if size < 0 or size > left:
            left_out.append(file)
        if size > 0 and left > 0:
            parts.append((file, min(size, left)))
            left -= min(size, left)
    return ScanPlan(tuple(parts), tuple(sorted(left_out)))


def read_part(root: Path, file: str, size: int) -> str:
    """The beginning of a file as text, whatever its bytes are; empty where it cannot be read."""
    try:
        raw = folder_at(root).read(file, size)
    except OSError:
        return ""
    is_utf_16 = raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    return raw.decode("utf-16" if is_utf_16 else "utf-8-sig", errors="replace")


def _measure_files(root: Path, files: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Bytes of each file that may hold text; -1 where it may not be read."""
    folder = folder_at(root)
    for file in files:
        if file.rpartition(".")[2].lower() in _MEDIA:
            continue
        try:
            yield (folder.size(file) if os.access(root / file, os.R_OK) else -1), file
        except OSError:
            yield -1, file


def _keeps_secrets(name: str) -> bool:
    return name in _SECRET_FILES or name == ".env" or name.startswith(".env.")


def _find_file_kind(path: Path, root: Path) -> str:
    """What a name that was listed is; only of a link the way has to be looked at."""
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISLNK(mode):
        return folder_at(root).kind(_format_relative_path(path, root))
    return "file" if stat.S_ISREG(mode) else "refused"


def _format_relative_path(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


MAX_FILES: Final = 5_000
"""Files of a package that are looked at."""
MAX_FOLDERS: Final = 5_000
"""Folders of a package that are looked into."""
MAX_SKILLS: Final = 200
"""SKILL.md files of a package that are read."""
MAX_TEXT_BYTES: Final = 512 * 1024
"""A file that is larger is not looked at; what people write is smaller."""
MAX_SKILL_CHARACTERS: Final = 1024 * 1024
"""Of all SKILL.md files of a package together."""
_TESTS: Final = frozenset({"test", "tests", "__tests__"})


@dataclass(frozen=True, kw_only=True, eq=False)
class Package:
    """One agent package."""

    root: Path
    source: Source | None
    """package.json with its positions; `None` when it could not be read, which was reported."""

    @property
    def manifest(self) -> Mapping[str, JsonValue]:
        """package.json; empty when it could not be read or is no object."""
        value = self.source.value if self.source is not None else None
        return value if isinstance(value, dict) else {}

    @property
    def cinatra(self) -> Mapping[str, JsonValue]:
        """The `cinatra` object of package.json; empty where there is none."""
        value = self.manifest.get("cinatra")
        return value if isinstance(value, dict) else {}

    @property
    def manifest_file(self) -> str:
        """How findings name package.json."""
        return self.name_of(MANIFEST)

    def name_of(self, file: str) -> str:
        """How findings name a file of the package; bytes that are no UTF-8 are shown as �."""
        return str(self.root / file.encode("utf-8", "replace").decode("utf-8"))

    def place(self, pointer: str) -> Place:
        """Where a pointer of package.json stands in its text."""
        return self.source.place(pointer) if self.source is not None else Place(pointer)

    @cached_property
    def _listing(self) -> FolderListing:
        return list_folder(self.root, MAX_FILES, MAX_FOLDERS)

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the author's files, relative and with `/`, sorted; at most MAX_FILES.

        Hidden files, what is installed or built, symbolic links to folders, and links that lead
        out of the package are left out.
        """
        return self._listing.files

    @property
    def closed_folders(self) -> tuple[str, ...]:
        """Folders that could not be listed."""
        return self._listing.closed

    @property
    def refused_files(self) -> tuple[str, ...]:
        """Names that are not read: links that lead out of the package, pipes, devices."""
        return self._listing.refused

    @cached_property
    def scan(self) -> ScanPlan:
        """The plan for the search for credentials: `files` without tests, and files like `.env`."""
        files = (*self.files, *self._listing.secret_files)
        return plan_scan(self.root, (file for file in files if not _is_test(file)))

    def part(self, file: str, size: int) -> str:
        """The first bytes of a file as text, whatever they are."""
        return read_part(self.root, file, size)

    @property
    def is_cut(self) -> bool:
        """Whether there may be more files than `files` names."""
        return len(self.files) >= MAX_FILES

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The SKILL.md files of the package that are text, in order of `files`."""
        return self._read_skills[0]

    @property
    def unread_skills(self) -> tuple[str, ...]:
        """Names of the SKILL.md files that were not looked at: no text, or too much of it."""
        return self._read_skills[1]

    @cached_property
    def _read_skills(self) -> tuple[tuple[Skill, ...], tuple[str, ...]]:
        named = [file for file in self.files if file.rpartition("/")[2] == "SKILL.md"]
        left = MAX_SKILL_CHARACTERS
        found: dict[str, Skill] = {}
        # the agent's own one first: no other one takes its place
        for file in sorted(named, key=lambda file: file not in self._own_places)[:MAX_SKILLS]:
            text = self.text(file) if left > 0 else None
            if text is None:
                continue
            left -= len(text)
            if left >= 0:
                found[file] = read_skill(file, text)
        skills = tuple(found[file] for file in named if file in found)
        return skills, tuple(file for file in named if file not in found)

    @cached_property
    def own_skill(self) -> Skill | None:
        """The SKILL.md that says what this agent does; `None` where there is none.

        It is `SKILL.md`, or the file beside the flow in `cinatra/`, else the one in the folder of
        `skills/` with the package's name, else the one whose frontmatter has that name.  Other
        skills are tools of the agent, not its description.
        """
        found = {skill.file: skill for skill in self.skills}
        by_place = next((found[file] for file in self._own_places if file in found), None)
        if by_place is not None:
            return by_place
        own = (skill for skill in self.skills if skill.front.get("name") in self.own_names)
        return next(own, None)

    @property
    def _own_places(self) -> tuple[str, ...]:
        return (
            "SKILL.md",
            "cinatra/SKILL.md",
            *(f"skills/{name}/SKILL.md" for name in self.own_names),
        )

    @property
    def own_names(self) -> tuple[str, ...]:
        """The possible names of the agent in its own package.

        `@x/email-agent` is `email-agent`, `email`, `agent-email-agent` and `agent-email`; the name
        of its folder counts as well.
        """
        name = self.manifest.get("name")
        slug = name.rpartition("/")[2] if isinstance(name, str) else ""
        slugs = (slug, self.root.absolute().name)
        short = [one.removesuffix("-agent") for one in slugs]
        names = tuple(one for one in dict.fromkeys((*slugs, *short)) if one)
        return (*names, *(f"agent-{one}" for one in names))

    @property
    def scripts(self) -> tuple[Script, ...]:
        """The programs of the agent, in order of `files`; tests are none of them."""
        return self._programs[0]

    @property
    def unread_scripts(self) -> tuple[str, ...]:
        """Names of the programs that were not looked at: no text, or too much of it."""
        return self._programs[1]

    @cached_property
    def _programs(self) -> tuple[tuple[Script, ...], tuple[str, ...]]:
        return read_scripts(self.files, self.text)

    def has(self, file: str) -> bool:
        """Whether the package holds this file or folder, which may also be a hidden one."""
        path = PurePosixPath(posixpath.normpath(file))
        if path.is_absolute() or path.parts[:1] == ("..",):
            return False
        return folder_at(self.root).kind(str(path)) in {"file", "folder"}

    def text(self, file: str) -> str | None:
        """The text of one of `files`; `None` when it is no text, too large or not there."""
        try:
            raw = folder_at(self.root).read(file, MAX_TEXT_BYTES + 1)
            return None if len(raw) > MAX_TEXT_BYTES else raw.decode("utf-8-sig")
        except (OSError, ValueError):
            return None


def find_package(flow_file: str, findings: Findings) -> Package | None:
    """The package whose flow this file is: its folder, or the one above, has a package.json.

    Only the two places where Cinatra keeps a flow count: `<package>/cinatra/<file>` and
    `<package>/<file>`.
    """
    for root in package_places(Path(flow_file)):
        if has_manifest(root):
            return Package(root=root, source=read_below(root, MANIFEST, findings))
    return None


def range_of(entry: Mapping[str, JsonValue]) -> tuple[JsonValue, str]:
    """The range of an entry of `cinatra.dependencies`, and the pointer to it in the entry.

    `{"kind": "exact", "version": "1.2.0"}` admits that version; no constraint admits every one.
    """
    constraint = entry.get("versionConstraint")
    if constraint is None:
        return "*", ""
    if isinstance(constraint, dict):
        for key in ("range", "version"):
            if key in constraint:
                return constraint[key], f"/versionConstraint/{key}"
        return None, "/versionConstraint"
    return constraint, "/versionConstraint"


def _is_test(file: str) -> bool:
    *folders, name = file.split("/")
    return not _TESTS.isdisjoint(folders) or ".test." in name or name.startswith("test_")

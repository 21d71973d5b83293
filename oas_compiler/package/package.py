"""The folder around a flow file: its package.json and the other files of the agent.

    find_package("agents/email/cinatra/oas.json", findings)
        -> Package(root=Path("agents/email"), manifest={"name": "@x/email", …})

Files are read and never run: a script of a package is text here.  Files outside of the folder do
not belong to the agent: a link that leads there is not followed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue, Place
from oas_compiler.package.files import (
    FolderListing,
    ScanPlan,
    list_folder,
    plan_scan,
    read_part,
)
from oas_compiler.package.scripts import Script, read_scripts
from oas_compiler.package.skill import Skill, read_skill
from oas_compiler.text.files import MANIFEST, folder_at, has_manifest, package_places
from oas_compiler.text.source import Source, read_below

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

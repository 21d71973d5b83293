"""The agent packages below some folders.

In: root folders.  Out: `Shelf`: every package.json with a `cinatra` object, by name.

    stock(["agents"], findings)
        ->  Shelf(packages=(AgentPackage(name="@x/a", version="1.0.0", folder=Path("agents/a")), …))

Hidden folders, folders of installed or built files (`node_modules`, `dist`, …) and links to folders are not
entered.  To search such a folder, name it as a root.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Finding, Findings, Severity
from oas_compiler.ir import JsonValue
from oas_compiler.package.dependencies import WantedChild, wanted
from oas_compiler.package.package import Package
from oas_compiler.text.file_access import MANIFEST, first_of, folder_at, has_manifest, walk
from oas_compiler.text.input_bounds import MAX_JSON_BYTES
from oas_compiler.text.source import FLOW_FILES, read_below

MAX_FOLDERS: Final = 50_000
"""Folders that are entered below the roots."""
_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "dist", "build", "venv"})


@dataclass(frozen=True, kw_only=True, eq=False)
class AgentPackage:
    """One agent package on disk; two objects for one folder are never made."""

    package: Package
    folder: Path
    """As it was found: below a root as the user gave it."""

    @cached_property
    def name(self) -> str:
        """Empty where package.json has none."""
        return _read_text(self.package.manifest.get("name"))

    @cached_property
    def version(self) -> str:
        """As written; empty where package.json has none."""
        return _read_text(self.package.manifest.get("version"))

    @property
    def label(self) -> str:
        """`@x/a@1.0.0`, as npm writes it."""
        return f"{self.name or self.folder}@{self.version or '?'}"

    def finding(
        self,
        code: str,
        message: str,
        pointer: str,
        *,
        hint: str = "",
        severity: Severity = "error",
    ) -> Finding:
        """A finding at `pointer` of this package.json."""
        return Finding(
            code=code,
            severity=severity,
            message=message,
            place=self.package.place(pointer),
            hint=hint,
            file=self.package.manifest_file,
        )

    @cached_property
    def wanted(self) -> tuple[WantedChild, ...]:
        return wanted(self.package.cinatra)

    @cached_property
    def flow_file(self) -> Path | None:
        """The flow that `oasflow run` would take from this folder."""
        found = first_of(self.folder, FLOW_FILES)
        return None if found is None else self.folder / found

    @cached_property
    def sha256(self) -> str | None:
        """Of the flow file's bytes, in hex; `None` without a readable flow."""
        if self.flow_file is None:
            return None
        name = self.flow_file.relative_to(self.folder).as_posix()
        try:
            raw = folder_at(self.folder).read(name, MAX_JSON_BYTES + 1)
        except OSError:
            return None
        return hashlib.sha256(raw).hexdigest() if len(raw) <= MAX_JSON_BYTES else None


@dataclass(frozen=True, kw_only=True, eq=False)
class Shelf:
    """The packages that a child agent can be taken from."""

    packages: tuple[AgentPackage, ...]
    """In the order of their folders."""

    @cached_property
    def by_name(self) -> Mapping[str, tuple[AgentPackage, ...]]:
        found: dict[str, list[AgentPackage]] = {}
        for package in self.packages:
            found.setdefault(package.name, []).append(package)
        return {name: tuple(packages) for name, packages in found.items()}

    def at(self, folder: Path) -> AgentPackage | None:
        """The package in this folder."""
        real = folder.resolve()
        return next((one for one in self.packages if one.folder.resolve() == real), None)


def stock(roots: Iterable[Path], findings: Findings) -> Shelf:
    """Every agent package in and below `roots`, each folder once."""
    seen: set[Path] = set()
    found: list[AgentPackage] = []
    for folder in _list_folders(roots, findings):
        if not has_manifest(folder) or (real := folder.resolve()) in seen:
            continue
        seen.add(real)
        own = Findings()
        package = open_package(folder, own)
        # Not the package that was asked about: what cannot be read in it is worth a word only.
        findings.findings += [replace(finding, severity="warning") for finding in own]
        if package is not None:
            found.append(package)
    return Shelf(packages=tuple(sorted(found, key=lambda one: one.folder.as_posix())))


def open_package(folder: Path, findings: Findings) -> AgentPackage | None:
    """The agent package in `folder`; `None` without one, or with a package.json that is not JSON."""
    source = read_below(folder, MANIFEST, findings)
    manifest = source.value if source is not None else None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("cinatra"), dict):
        return None
    return AgentPackage(package=Package(root=folder, source=source), folder=folder)


def _list_folders(roots: Iterable[Path], findings: Findings) -> Iterator[Path]:
    entered = 0
    for root in roots:
        for folder, _names in walk(str(root), _is_entered, _pass_over):
            entered += 1
            if entered > MAX_FOLDERS:
                findings.error(
                    "DEP009",
                    f"there are more than {MAX_FOLDERS:,} folders below {root}; "
                    "packages in the others were not looked at",
                    hint="name the folder of the agents with --root",
                )
                return
            yield Path(folder)


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and name not in _SKIPPED


def _pass_over(_error: OSError) -> None:
    """A folder that may not be listed holds no package that can be taken."""


def _read_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""

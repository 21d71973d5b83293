"""The lock file: the child agents to which a package was last resolved, byte for byte.

In: a `Resolution`.  Out: `oasflow-lock.json`, or the differences from the existing file.

    {"lockfileVersion": 1,
     "packages": [{"name": "@x/b", "version": "1.2.0", "path": "../b",
                   "sha256": "5f0c…", "requiredBy": {"@x/a@1.0.0": "^1.0.0"}}]}

The same packages always give the same text: sorted, without a date and without absolute paths.
`sha256` is of the bytes of the flow file, `null` for a package without one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.deps.agent_packages import AgentPackage
from oas_compiler.deps.resolution import Resolution
from oas_compiler.findings.finding import Finding, Findings
from oas_compiler.ir import JsonValue
from oas_compiler.text.file_access import replace_file
from oas_compiler.text.source import read_below

Key: TypeAlias = tuple[str, str]
"""Name and version of a package."""
LOCK_FILE: Final = "oasflow-lock.json"
VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LockChange:
    """One difference between the packages and the lock file."""

    package: str
    """The name of the package; empty where the file as a whole is meant."""
    what: str
    """One sentence."""
    pointer: str
    """Of the place in the lock file."""


def lock_path(resolution: Resolution) -> Path:
    """Where the lock file of these packages is."""
    return resolution.folder / LOCK_FILE


def lock_of(resolution: Resolution) -> dict[str, JsonValue]:
    """The lock file's content."""
    asked: dict[AgentPackage, dict[str, JsonValue]] = {}
    for link in resolution.links:
        if link.chosen is not None:
            asked.setdefault(link.chosen, {})[link.dependent.label] = link.wanted.text
    entries = [_make_entry(package, by, resolution.folder) for package, by in asked.items()]
    entries.sort(key=lambda entry: (str(entry["name"]), str(entry["version"]), str(entry["path"])))
    packages: list[JsonValue] = [*entries]
    return {"lockfileVersion": VERSION, "packages": packages}


def lock_text(lock: Mapping[str, JsonValue]) -> str:
    """The lock file's text; the same on every machine."""
    return json.dumps(lock, indent=2, ensure_ascii=False) + "\n"


def write_lock(path: Path, lock: Mapping[str, JsonValue]) -> None:
    """Write the lock file completely or not at all; raises `OSError`."""
    replace_file(path, lock_text(lock).encode("utf-8"))


def verify_lock(path: Path, lock: Mapping[str, JsonValue]) -> Findings:
    """Record a finding for every difference between the file and `lock`."""
    findings = Findings()
    source = read_below(path.parent, path.name, findings)
    if source is not None:
        findings.findings += [
            Finding(
                code="DEP010",
                severity="error",
                message=change.what,
                place=source.place(change.pointer),
                hint="oasflow deps … --lock --update takes what is there now",
                file=str(path),
            )
            for change in changes(source.value, lock)
        ]
    return findings


def changes(old: JsonValue, new: Mapping[str, JsonValue]) -> Iterator[LockChange]:
    """The differences, package by package."""
    before = _by_key(old)
    if before is None:
        yield LockChange(
            package="",
            what=f"this is no lock file of version {VERSION}",
            pointer="/lockfileVersion",
        )
        return
    after = _by_key(dict(new)) or {}
    others = _other_versions(before, after)
    labels = {"@".join(old): "@".join(now) for old, now in others.items()}
    for key in sorted((before.keys() | after.keys()) - set(others.values())):
        name = key[0]
        if key in others:
            yield LockChange(
                package=name,
                what=f"{name} {key[1]} is locked, {others[key][1]} is needed now",
                pointer=before[key][0],
            )
        elif key not in after:
            pointer, entry = before[key]
            yield LockChange(
                package=name,
                what=f"{name} {entry.get('version')} is locked and no longer needed",
                pointer=pointer,
            )
        elif key not in before:
            yield LockChange(
                package=name,
                what=f"{name} {after[key][1].get('version')} is needed and not locked",
                pointer="/packages",
            )
        else:
            pointer, entry = before[key]
            yield from _compare_entries((pointer, _relabel_requirers(entry, labels)), after[key][1])


def _other_versions(before: Collection[Key], after: Collection[Key]) -> dict[Key, Key]:
    """Locked package → the same one as it is now, where only its version is another."""
    gone, come = _by_name(before, after), _by_name(after, before)
    return {
        (name, versions[0]): (name, come[name][0])
        for name, versions in gone.items()
        if len(versions) == 1 == len(come.get(name, ()))
    }


def _by_name(keys: Collection[Key], others: Collection[Key]) -> dict[str, list[str]]:
    """Name → versions, of what is not among the others."""
    found: dict[str, list[str]] = {}
    for name, version in keys:
        if (name, version) not in others:
            found.setdefault(name, []).append(version)
    return found


def _relabel_requirers(
    entry: Mapping[str, JsonValue], labels: Mapping[str, str]
) -> Mapping[str, JsonValue]:
    """The entry with the present versions of those that ask: that they changed is told already."""
    asked = entry.get("requiredBy")
    if not isinstance(asked, dict):
        return entry
    return {**entry, "requiredBy": {labels.get(who, who): what for who, what in asked.items()}}


def _compare_entries(
    old: tuple[str, Mapping[str, JsonValue]], new: Mapping[str, JsonValue]
) -> Iterator[LockChange]:
    pointer, entry = old
    name = str(new["name"])
    told = {
        "path": f"{name} is now in {new['path']}, it was in {entry.get('path')}",
        "sha256": f"the flow of {name} {new['version']} is not the one that was locked",
        "requiredBy": f"{name} {new['version']} is now asked for {_format_requirers(new.get('requiredBy'))}, "
        f"it was {_format_requirers(entry.get('requiredBy'))}",
    }
    for key, what in told.items():
        if entry.get(key) != new.get(key):
            yield LockChange(package=name, what=what, pointer=f"{pointer}/{key}")


def _format_requirers(value: JsonValue) -> str:
    pairs = value.items() if isinstance(value, dict) else ()
    return ", ".join(f"as {wanted} by {who}" for who, wanted in pairs) or "by nobody"


def _by_key(
    lock: JsonValue,
) -> dict[Key, tuple[str, Mapping[str, JsonValue]]] | None:
    """(name, version) → pointer and entry; `None` when this is no lock file."""
    packages = lock.get("packages") if isinstance(lock, dict) else None
    version = lock.get("lockfileVersion") if isinstance(lock, dict) else None
    if not isinstance(packages, list) or version != VERSION:
        return None
    found: dict[Key, tuple[str, Mapping[str, JsonValue]]] = {}
    for index, entry in enumerate(packages):
        if not isinstance(entry, dict):
            return None
        found[str(entry.get("name")), str(entry.get("version"))] = f"/packages/{index}", entry
    return found


def _make_entry(
    package: AgentPackage, asked: Mapping[str, JsonValue], folder: Path
) -> dict[str, JsonValue]:
    relative = os.path.relpath(package.folder.resolve(), folder.resolve())
    return {
        "name": package.name,
        "version": package.version,
        "path": Path(relative).as_posix(),
        "sha256": package.sha256,
        "requiredBy": dict(sorted(asked.items())),
    }

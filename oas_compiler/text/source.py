"""A path, bytes or a mapping in; one `Source` out: value, positions, and the bytes as read.

    read_source("agents/email", findings)    reads agents/email/cinatra/oas.json
    read_source(b'{"component_type": …}', findings)
    read_source({"component_type": …}, findings)

A `str` is always a path.  A file that ends in `.json` is JSON.  For every other file, and for
bytes, the first character decides, so that a flow from a store is read as the same document.  A
byte order mark at the start is accepted and not part of the text.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Finding, Findings
from oas_compiler.ir import JsonValue, Place
from oas_compiler.text.file_access import (
    first_of,
    folder_at,
    read_flow,
    require_no_link_out,
    shown_name,
)
from oas_compiler.text.input_bounds import (
    MAX_DEPTH,
    MAX_JSON_BYTES,
    MAX_VALUES,
    MAX_YAML_BYTES,
    vet,
)
from oas_compiler.text.json_text import read_json
from oas_compiler.text.marks import Marks, child

# ----------------------------------------------------------------------------
# A Python mapping in, a plain and unshared JSON value out.
#
#     {"inputs": ({"title": "a"},)}   ->  {"inputs": [{"title": "a"}]}
#     {1: "x"}, {"when": datetime}    ->  OAS009 at the pointer
#
# The mapping may be of any class, may contain itself, and may run code of its own when it is read.


T = TypeVar("T")


class _Refused(Exception):
    """Copying cannot go on; the finding has been recorded."""


def read_mapping(value: Mapping[str, object], findings: Findings) -> JsonValue:
    """Copy `value`; `None` when it is not JSON, with the findings that say why."""
    try:
        return _Copier(findings).copy(value, "", 1)
    except _Refused:
        return None


class _Copier:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._count = 0

    def copy(self, value: object, pointer: str, depth: int) -> JsonValue:
        """Recursive, but never deeper than `MAX_DEPTH` calls."""
        self._count += 1
        if self._count > MAX_VALUES:
            self._refuse_value(
                "OAS006", f"the document holds more than {MAX_VALUES:,} values", pointer
            )
        if value is None or isinstance(value, bool):
            return value
        # subclasses (enumerations, annotated strings) become the plain value they carry
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int.__int__(value)
        if isinstance(value, float):
            return float.__float__(value)
        if depth > MAX_DEPTH:
            self._refuse_value(
                "OAS006",
                f"the document nests deeper than {MAX_DEPTH} levels, or contains itself",
                pointer,
            )
        if isinstance(value, Mapping):
            return self._mapping(value, pointer, depth)
        if isinstance(value, (list, tuple)):
            return [
                self.copy(item, f"{pointer}/{index}", depth + 1)
                for index, item in enumerate(self._list_items(value, pointer))
            ]
        return self._refuse_value(
            "OAS009", f"a Python {type(value).__name__} is not a JSON value", pointer
        )

    def _mapping(self, value: Mapping[object, object], pointer: str, depth: int) -> JsonValue:
        copied: dict[str, JsonValue] = {}
        for pair in self._list_items(_Items(value), pointer):
            key, member = pair
            if not isinstance(key, str):
                self._refuse_value(
                    "OAS009",
                    f"the key {type(key).__name__} {_format_key(key)} is not a string",
                    pointer,
                    hint="JSON object keys are strings",
                )
            name = str.__str__(key)
            copied[name] = self.copy(member, child(pointer, name), depth + 1)
        return copied

    def _list_items(self, source: Iterable[T], pointer: str) -> list[T]:
        try:
            return list(source)
        except Exception as error:  # noqa: BLE001 - the caller's class runs its own code here
            self._refuse_value(
                "OAS009", f"reading this value raised {type(error).__name__}", pointer
            )

    def _refuse_value(self, code: str, message: str, pointer: str, *, hint: str = "") -> NoReturn:
        self._findings.error(code, message, Place(pointer), hint=hint)
        raise _Refused


class _Items:
    """The pairs of a foreign mapping, read one by one so that its errors meet one `try`."""

    def __init__(self, mapping: Mapping[object, object]) -> None:
        self._mapping = mapping

    def __iter__(self) -> Iterator[tuple[object, object]]:
        for key in self._mapping:
            yield key, self._mapping[key]


def _format_key(key: object) -> str:
    """A number or None as written; nothing of an object whose `repr` is the caller's code."""
    return repr(key) if type(key) in {int, float, bool, type(None)} else ""


SourceInput = str | os.PathLike[str] | bytes | Mapping[str, object]

FLOW_FILES = tuple(
    f"{folder}{stem}{suffix}"
    for suffix in (".json", ".yaml", ".yml")
    for folder, stem in (("cinatra/", "oas"), ("", "oas"), ("cinatra/", "agent"), ("", "agent"))
)
"""Where a folder keeps its flow, first match wins."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One document that was read completely and is plain JSON data."""

    value: JsonValue
    raw: bytes
    """Exactly the bytes read; of a mapping its canonical JSON."""
    file: str
    """The name as the user gave it (of a folder: the file found in it); empty without a file."""
    marks: Marks
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Members that are read under their corrected names: corrected pointer → the key as written."""

    @property
    def is_json(self) -> bool:
        """Whether the text was read as JSON, and not as YAML."""
        return _is_json(self.raw, self.file)

    def place(self, pointer: str) -> Place:
        """The place of a part, by its corrected pointer."""
        if not self.renamed:
            return self.marks.place(pointer)
        return replace(self.marks.place(self.written(pointer)), pointer=pointer)

    def written(self, pointer: str) -> str:
        """The pointer in the text for a corrected `pointer`."""
        meant = written = ""
        for part in pointer.split("/")[1:] if self.renamed else ():
            meant = f"{meant}/{part}"
            key = self.renamed.get(meant)
            written = f"{written}/{part}" if key is None else child(written, key)
        return written if self.renamed else pointer


def read_source(source: SourceInput, findings: Findings, *, within: str = "") -> Source | None:
    """Read `source`; `None` with findings OAS001 to OAS009 when it cannot be used at all.

    within: the folder below which the path was found; no link out of it is followed.
    """
    if isinstance(source, (str, os.PathLike)):
        return _read_path(source, findings, within)
    if isinstance(source, (bytes, bytearray, memoryview)):
        raw = bytes(source)
        return _read_text(raw, "", _looks_like_json(raw), findings)
    if isinstance(source, Mapping):
        return _read_mapping(source, findings)
    findings.error(
        "OAS001",
        f"a flow is given as a path, bytes or a mapping, not as {type(source).__name__}",
    )
    return None


def file_name(source: object) -> str:
    """How findings name `source`: the path as given, nothing for bytes and mappings."""
    return os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else ""


def _read_path(
    source: str | os.PathLike[str], findings: Findings, within: str = ""
) -> Source | None:
    name = os.fsdecode(source)
    path = Path(name)
    try:
        if path.is_dir():
            require_no_link_out(path)
            found = first_of(path, FLOW_FILES)
            if found is None:
                findings.findings.append(_without_flow(name))
                return None
            folder, path = path, path / found
            name = str(path)
            raw = read_flow(path, MAX_JSON_BYTES + 1, within=folder)
        else:
            raw = read_flow(path, MAX_JSON_BYTES + 1, within=within)
    except OSError as error:
        findings.findings.append(_make_unreadable_finding(name, error))
        return None
    except ValueError:
        # a path with NUL in it is not a path
        findings.error("OAS001", "cannot read the path: it is not a file name")
        return None
    return read_raw(raw, str(path), findings)


def read_below(folder: Path, name: str, findings: Findings) -> Source | None:
    """A document of a folder, such as its package.json; findings are named after it."""
    file = str(folder / name)
    try:
        raw = folder_at(folder).read(name, MAX_JSON_BYTES + 1)
    except OSError as error:
        findings.findings.append(_make_unreadable_finding(file, error))
        return None
    return read_raw(raw, file, findings)


def _without_flow(folder: str) -> Finding:
    return Finding(
        code="OAS001",
        severity="error",
        message=f"the folder {shown_name(folder)} holds no flow",
        hint="a folder's flow is cinatra/oas.json, oas.json or agent.json (or .yaml)",
        file=folder,
    )


def _make_unreadable_finding(file: str, error: OSError) -> Finding:
    message = f"cannot read {shown_name(file)}: {error.strerror or type(error).__name__}"
    return Finding(
        code="OAS001", severity="error", message=message, file=file, hint=_advise(file, error)
    )


def _advise(file: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return _what_exists(file)
    if error.errno == errno.EXDEV and Path(file).is_dir():
        return "name the folder that the link leads to"
    if error.errno == errno.ELOOP and error.strerror == os.strerror(errno.ELOOP):
        return "a symbolic link on this path leads back to itself: name the file itself"
    return ""


def _what_exists(file: str) -> str:
    """How far the way to a missing file is there."""
    path = Path(file)
    there = next((folder for folder in path.parents if folder.is_dir()), None)
    if there is None:
        return ""
    missing = path.relative_to(there).parts[0]
    where = "this folder" if str(there) == "." else f"the folder {shown_name(str(there))}"
    return f"there is no {shown_name(missing)} in {where}: correct the path"


def read_raw(raw: bytes, file: str, findings: Findings) -> Source | None:
    """The document that the bytes of a file are; findings are named after the file."""
    own = Findings()
    read = _read_text(raw, file, _is_json(raw, file), own)
    findings.include(own, file)
    return read


def _is_json(raw: bytes, file: str) -> bool:
    return file.lower().endswith(".json") or _looks_like_json(raw)


def _looks_like_json(raw: bytes) -> bool:
    """Objects and arrays open with a bracket; a YAML flow mapping would too, and is refused.

    A quote opens the key of a YAML mapping as well, and a JSON string is no flow.
    """
    return raw.removeprefix(_BYTE_ORDER_MARK).lstrip(b" \t\r\n")[:1] in {b"{", b"["}


def _read_text(raw: bytes, file: str, is_json: bool, findings: Findings) -> Source | None:
    limit = MAX_JSON_BYTES if is_json else MAX_YAML_BYTES
    if len(raw) > limit:
        kind = "JSON" if is_json else "YAML"
        findings.error("OAS002", f"the {kind} document is larger than {limit:,} bytes")
        return None
    try:
        text = raw.removeprefix(_BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        findings.error(
            "OAS003",
            f"the document is not UTF-8: byte 0x{raw[error.start]:02x}",
            Place("", line, column),
            hint="save the file as UTF-8",
        )
        return None
    if not text.strip():
        findings.error("OAS004", "the document is empty")
        return None
    decoded = _parse_json(text, findings) if is_json else _parse_yaml(text, findings)
    return (
        None if decoded is None else Source(value=decoded[0], raw=raw, file=file, marks=decoded[1])
    )


def _parse_json(text: str, findings: Findings) -> tuple[JsonValue, Marks] | None:
    decoded = read_json(text, findings)
    if decoded is not None:
        vet(*decoded, findings)
    return None if findings.errors else decoded


def _parse_yaml(text: str, findings: Findings) -> tuple[JsonValue, Marks] | None:
    # imported late: most flows are JSON, and PyYAML costs more to import than they cost to read
    from oas_compiler.text.yaml_text import read_yaml, tell_other_readings

    found = read_yaml(text, findings)
    if found is None:
        return None
    vet(found.value, found.marks, findings)
    if findings.errors:
        return None
    tell_other_readings(found, findings)
    return found.value, found.marks


def _read_mapping(source: Mapping[str, object], findings: Findings) -> Source | None:
    value = read_mapping(source, findings)
    marks = Marks()
    if not findings.errors:
        vet(value, marks, findings)
    if findings.errors:
        return None
    raw = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    if len(raw) > MAX_JSON_BYTES:
        findings.error("OAS002", f"the document is larger than {MAX_JSON_BYTES:,} bytes as JSON")
        return None
    return Source(value=value, raw=raw, file="", marks=marks)


# ----------------------------------------------------------------------------
# Words that YAML reads as the same text with quotes and without.
#
# is_plain("string")     ->  True
# is_plain("null"), is_plain("no"), is_plain("1.0")     ->  False


_PLAIN: Final = re.compile(r"[A-Za-z_$][\w$-]*", re.ASCII)
_OTHER_MEANING: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Of YAML 1.1 or 1.2: readers differ, so that each needs its quotes."""


def is_plain(word: str) -> bool:
    """Whether the word needs no quotes, in brackets and as a key."""
    return _PLAIN.fullmatch(word) is not None and word.lower() not in _OTHER_MEANING

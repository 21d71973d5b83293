"""A path, bytes or a mapping in; one `Source` out: value, positions, and the bytes as read.

    read_source("agents/email", findings)    reads agents/email/cinatra/oas.json
    read_source(b'{"component_type": …}', findings)
    read_source({"component_type": …}, findings)

A `str` is always a path.  The suffix decides between JSON and YAML for a path, the first
character for bytes.  A byte order mark at the start is accepted and not part of the text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from oas_compiler.bounds import MAX_JSON_BYTES, MAX_YAML_BYTES, vet
from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import JsonValue, Place
from oas_compiler.json_text import read_json
from oas_compiler.marks import Marks
from oas_compiler.python_value import read_mapping

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

    def place(self, pointer: str) -> Place:
        return self.marks.place(pointer)


def read_source(source: SourceInput, findings: Diagnostics) -> Source | None:
    """Read `source`; `None` with findings OAS001 to OAS009 when it cannot be used at all."""
    if isinstance(source, (str, os.PathLike)):
        return _read_path(source, findings)
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


def _read_path(source: str | os.PathLike[str], findings: Diagnostics) -> Source | None:
    name = os.fsdecode(source)
    try:
        path = Path(name)
        if path.is_dir():
            found = next((path / file for file in FLOW_FILES if (path / file).is_file()), None)
            if found is None:
                findings.error(
                    "OAS001",
                    f"the folder {name} holds no flow",
                    hint="a folder's flow is cinatra/oas.json, oas.json or agent.json (or .yaml)",
                )
                return None
            path = found
        is_yaml = path.suffix.lower() in {".yaml", ".yml"}
        limit = MAX_YAML_BYTES if is_yaml else MAX_JSON_BYTES
        with path.open("rb") as stream:
            raw = stream.read(limit + 1)
    except OSError as error:
        findings.error("OAS001", f"cannot read {name}: {error.strerror or type(error).__name__}")
        return None
    except ValueError:
        # a path with NUL in it is not a path
        findings.error("OAS001", "cannot read the path: it is not a file name")
        return None
    if path.suffix.lower() not in {".json", ".yaml", ".yml"}:
        is_yaml = not _looks_like_json(raw)
    own = Diagnostics()
    read = _read_text(raw, str(path), not is_yaml, own)
    # named after the file that was read, which is another one than a folder that was given
    findings.findings += [finding.in_file(str(path)) for finding in own]
    return read


def _looks_like_json(raw: bytes) -> bool:
    """Objects and arrays open with a bracket; a YAML flow mapping would too, and is refused."""
    return raw.removeprefix(_BYTE_ORDER_MARK).lstrip(b" \t\r\n")[:1] in {b"{", b"[", b'"'}


def _read_text(raw: bytes, file: str, is_json: bool, findings: Diagnostics) -> Source | None:
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
    decoded = read_json(text, findings) if is_json else _yaml(text, findings)
    if decoded is None:
        return None
    value, marks = decoded
    vet(value, marks, findings)
    return None if findings.errors else Source(value=value, raw=raw, file=file, marks=marks)


def _yaml(text: str, findings: Diagnostics) -> tuple[JsonValue, Marks] | None:
    # imported late: most flows are JSON, and PyYAML costs more to import than they cost to read
    from oas_compiler.yaml_text import read_yaml

    return read_yaml(text, findings)


def _read_mapping(source: Mapping[str, object], findings: Diagnostics) -> Source | None:
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

r"""The kind of a stored flow, in front of its bytes.

    b'{"component_type": "Flow", …}'                     an OAS file: its bytes alone
    b'\x1e{"kind": "graph", "name": "shop:build"}\n…'      another kind: a header, then the body

The header is a record of RFC 7464 (JSON text sequences).  Its first byte is one that neither JSON
nor YAML may hold, so no flow file can pass for another kind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.errors import StoreError

OAS: Final = "oas"
"""The kind of bytes without a header: a compiled Agent Spec file."""
_RECORD: Final = b"\x1e"
_MOST: Final = 100_000
"""Bytes of a header."""


def join_source(header: Mapping[str, JsonValue], body: bytes) -> bytes:
    """The bytes to store of a flow; `header` has the members `kind` and those of its kind."""
    text = json.dumps(header, sort_keys=True)
    return _RECORD + text.encode() + b"\n" + body


def split_source(source: bytes) -> tuple[str, Mapping[str, JsonValue]]:
    """The kind of stored bytes, and their header; empty for an OAS file.

    Raises: `StoreError` for a header that cannot be read.
    """
    if not source.startswith(_RECORD):
        return OAS, {}
    line, _, _ = source[1:_MOST].partition(b"\n")
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
        raise StoreError("the stored flow has a header that cannot be read", hint="stop the run")
    return header["kind"], header

"""Compares the outputs of a node of an installed package with its declaration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.flow.frame import Frame
from oas_compiler.ir.type_names import contrast
from oas_compiler.types.casting import is_of_type, type_of


def require_outputs(frame: Frame, record: dict[str, Any]) -> None:
    """Compare the outputs in a record with the node's; a default fills in for a missing output.

    Raises: `NodeFailed` naming the output, the wanted and the given type.
    """
    out, ports = dict(record["out"]), {port.title: port for port in frame.outputs}
    for title, port in ports.items():
        if title not in out and port.default is not None:
            out[title] = port.default.value()
    if out.keys() != ports.keys():
        raise frame.failed(
            f"its outputs are {_join_names(ports)}, and its function gives {_join_names(out)}",
            hint="frame.finish takes a value for each output, under its title",
        )
    for title, port in ports.items():
        if not is_of_type(out[title], port.type):
            wanted, given = contrast(port.type, type_of(out[title]))
            raise frame.failed(
                f"its output '{title}' is declared as {wanted}, and its function gives {given}"
            )
    record["out"] = out


def _join_names(titles: Mapping[str, Any]) -> str:
    return ", ".join(f"'{title}'" for title in titles) or "none"

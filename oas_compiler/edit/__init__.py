"""Changes of an author's own files: `oasflow check --fix` and `oasflow wire-context`.

file_fixes.py  the fixes that help, proved on the result; writing a file, or nothing; the diff
slot_wires.py  slots without a FlowNode, and the edits that wire them
slot_flow.py   the subflow and FlowNode for one slot; the document with its slots wired
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from oas_compiler.edit.slot_wires import CannotWire, WirePlan, plan_wiring
    from oas_compiler.findings.finding import Findings
    from oas_compiler.text.source import Source, read_source
    from oas_compiler.text_edits.json_edits import rewritten

_LATER: Final = {
    "plan_wiring": "edit.slot_wires",
    "WirePlan": "edit.slot_wires",
    "CannotWire": "edit.slot_wires",
    "Source": "text.source",
    "read_source": "text.source",
    "Findings": "findings.finding",
    "rewritten": "text_edits.json_edits",
}

__all__ = [
    "plan_wiring",
    "WirePlan",
    "CannotWire",
    "Source",
    "read_source",
    "Findings",
    "rewritten",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)

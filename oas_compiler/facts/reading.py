"""The flow in the bytes of a stored file, without its checks.

It was checked before it was stored; no rule is applied again, and no placeholder has a value.
"""

from __future__ import annotations

from oas_compiler.build.flows import build
from oas_compiler.document.load import load
from oas_compiler.document.scope import Document
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import FlowIR
from oas_compiler.text.source import read_source


def open_document(source: bytes) -> Document | None:
    """None for what is no JSON or YAML object."""
    findings = Findings()
    read = read_source(source, findings)
    if read is None or not isinstance(read.value, dict):
        return None
    # Misspelt members are not corrected as for checking: nothing is believed that is a guess.
    return Document(read, read.value, findings)


def read_flow(source: bytes) -> FlowIR | None:
    """None for what is no flow, or runs too many nodes."""
    document = open_document(source)
    if document is None or document.root is None or document.root.component_type != "Flow":
        return None
    loaded = load(document)
    return None if loaded is None else build(loaded, document)

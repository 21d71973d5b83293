"""What the metadata of a flow names is there.

"reentrantGate": "review_txt", and the flow has the gate "review_text"   ->   OAS250
"metadata": {"cinatr": {…}}                                              ->   OAS250 did you mean "cinatra"?
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.diagnostics import did_you_mean
from oas_compiler.marks import child
from oas_compiler.rules import Report, rule


@rule(
    code="OAS250",
    name="metadata-names",
    severity="warning",
    summary="The metadata of a flow names a gate that is not there, or its block is misspelt.",
    fix='Write "cinatra", and the id of a gate of the flow.',
    source="Cinatra, metadata.cinatra",
    needs="cinatra",
    bad='"reentrantGate": "review_txt"     (the gate is "review_text")',
    good='"reentrantGate": "review_text"',
)
def metadata_names(subject: Subject, report: Report) -> None:
    gates = {gate.id for gate in subject.of_type("InputMessageNode")}
    for flow in subject.of_type("Flow"):
        named = flow.cinatra.get("reentrantGate")
        if isinstance(named, str) and named not in gates:
            report(
                f'reentrantGate names "{named[:80]}", which is no gate of the flow',
                subject.place(flow.at("metadata", "cinatra", "reentrantGate")),
                hint=report.nearest(named, gates) or "name the gate that the loop comes back to",
            )
    for component in subject.components:
        if subject.root is not None and component.pointer == subject.root.pointer:
            continue  # OAS102 says so
        metadata = component.value.get("metadata")
        if not isinstance(metadata, dict) or "cinatra" in metadata:
            continue
        for key in list(metadata)[:20]:
            if did_you_mean(key.lower(), ["cinatra"]) or key.lower() == "cinatra":
                report(
                    f'"{key[:80]}" in the metadata of {component.label} is read by nobody',
                    subject.place(child(component.at("metadata"), key)),
                    hint='did you mean "cinatra"?',
                )

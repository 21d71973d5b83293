"""The names in the metadata of a flow exist.

"reentrantGate": "review_txt", and the flow has the gate "review_text"   ->   OAS250
"metadata": {"cinatr": {…}}                                              ->   OAS250 did you mean "cinatra"?
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final, TypeAlias

from cinatra_sdk.data.text.message_words import did_you_mean
from oas_compiler.checks.lookup.value_flaws import misspelt, misspelt_keys, tell
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule
from oas_compiler.text.marks import child

_FROM: Final = ("contentFrom", "titleFrom")
_ARTIFACT: Final = frozenset(
    {"extension", "objectTypeId", "contentFrom", "declaredMime", "titleFrom"}
)
_ALIKE: Final = 0.95
"""From here on two names of packages are one with a slip."""


@rule(
    code="OAS250",
    name="metadata-names",
    severity="warning",
    summary="The metadata of a flow names a gate, an output or a package that is not there, or its block is misspelt.",
    fix='Write "cinatra", and names that are there.',
    source="Cinatra, metadata.cinatra",
    needs="cinatra",
    fixable=True,
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
    for component, says, at, hint in (
        *_check_artifact_names(subject),
        *_check_package_names(subject),
    ):
        report(f"{says} of {component.label}", subject.place(at), hint=hint)
    for component in subject.components:
        if subject.root is not None and component.pointer == subject.root.pointer:
            continue  # OAS102 says so
        metadata = component.value.get("metadata")
        if not isinstance(metadata, dict) or "cinatra" in metadata:
            continue
        for key in list(metadata)[:20]:
            if did_you_mean(key.lower(), ["cinatra"]) or key.lower() == "cinatra":
                at = child(component.at("metadata"), key)
                says = f'"{key[:80]}" in the metadata of {component.label} is read by nobody'
                tell(report, misspelt(says, at, "cinatra"), subject.place)


_Named: TypeAlias = "tuple[Written, str, str, str]"


def _check_artifact_names(subject: Subject) -> Iterator[_Named]:
    """The source of an output's artifact is an output of the same node."""
    for end in subject.of_type("EndNode", "Flow"):
        titles = end.titles("outputs")
        for index, item in enumerate(end.items("outputs")):
            about = item.get("cinatra") if isinstance(item, dict) else None
            artifact = about.get("artifact") if isinstance(about, dict) else None
            if not isinstance(artifact, dict):
                continue
            at = end.at("outputs", index, "cinatra", "artifact")
            for key in _FROM:
                name = artifact.get(key)
                if isinstance(name, str) and name not in titles:
                    says = f'{key} names "{name[:80]}", which is no output'
                    hint = did_you_mean(name, titles) or "name an output of the same node"
                    yield end, says, child(at, key), hint
            for key, meant in misspelt_keys(artifact, _ARTIFACT).items():
                says = f'"{key[:80]}" is read by nobody, in an artifact'
                yield end, says, child(at, key), f'did you mean "{meant}"?'


def _check_package_names(subject: Subject) -> Iterator[_Named]:
    """A node's package name is not a misspelling of its own package's name."""
    own = subject.root.cinatra.get("packageName") if subject.root is not None else None
    if not isinstance(own, str):
        return
    for node in subject.of_type("ApiNode", "InputMessageNode"):
        name = node.cinatra.get("packageName")
        if (
            isinstance(name, str)
            and name != own
            and name != own.strip()  # OAS171 says so
            and get_close_matches(name[:200], [own], 1, _ALIKE)
        ):
            at = node.at("metadata", "cinatra", "packageName")
            yield node, f'"{name[:120]}" is no package', at, f'did you mean "{own[:120]}"?'

"""No credential of a well-known shape stands anywhere else in the document either.

    "api_key": "sk-…", "sensitive_headers": {"X-Key": "AKIA…"}     ->  OAS205
    "api_key": {"$component_ref": "llm.api_key"}

Names of members count too: "headers": {"sk-…": ""}.  The places that Cinatra looks at, and texts that only look random, are OAS204's.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.credentials.value_shapes import known_credential
from oas_compiler.checks.safety.literal_credential import is_sent, safe_name
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child

_SHORTEST = 13
"""Characters of the shortest credential."""


@rule(
    code="OAS205",
    name="stray-credential",
    severity="error",
    summary="A credential of a well-known shape is written out in the document.",
    fix="Remove it, make it invalid where it was issued, and refer to it instead.",
    source="Agent Spec, sensitive fields",
    needs="document",
    conceals=True,
    bad='"api_key": "sk-…"',
    good='"api_key": {"$component_ref": "llm.api_key"}',
)
def stray_credential(subject: Subject, report: Report) -> None:
    for text in subject.texts:
        kind, _ = known_credential(text.value)
        if kind and not is_sent(text):
            name = f'"{safe_name(text.keys[-1])}"' if text.keys else "the document"
            report(
                f"{name} holds {kind}, written out",
                subject.place(text.pointer),
                hint="remove it and make it invalid; refer to it by a $component_ref or let the host supply it",
            )
    for kind, pointer in _find_credential_keys(subject.document.source.value):
        report(
            f"the name of a member is {kind}, written out",
            subject.place(pointer),
            hint="remove it and make it invalid where it was issued",
        )


def _find_credential_keys(value: JsonValue) -> Iterator[tuple[str, str]]:
    """Kind of each credential that is a name, and the pointer of the object that has it.

    The pointer of the member itself would repeat the credential.
    """
    waiting: list[tuple[JsonValue, str]] = [(value, "")]
    for current, pointer in waiting:
        if isinstance(current, list):
            waiting += [
                (item, f"{pointer}/{index}")
                for index, item in enumerate(current)
                if isinstance(item, (dict, list))
            ]
        elif isinstance(current, dict):
            for name, member in current.items():
                kind = _kind_of_name(name)
                if kind:
                    yield kind, pointer
                elif isinstance(member, (dict, list)):
                    waiting.append((member, child(pointer, name)))


def _kind_of_name(name: str) -> str:
    if len(name) < _SHORTEST:
        return ""
    kind, start = known_credential(name)
    # "sk-prefixed-component-name" is words
    return kind if kind and any(map(str.isdigit, name[start:])) else ""

"""A node that is defined under a name has that name as its id.

    "$referenced_components": {"review": {"id": "reviews", …}}   ->   OAS244

References go by the key, runs, gates and the host by the id: two names for one node mislead.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.findings.rule import Report, rule
from oas_compiler.text.marks import child


@rule(
    code="OAS244",
    name="key-is-id",
    severity="warning",
    summary="A node is defined under another name than its id.",
    fix="Write one name in both places.",
    source="Cinatra, nodes by reference",
    needs="cinatra",
    bad='"$referenced_components": {"review": {"id": "reviews", …}}',
    good='"$referenced_components": {"review": {"id": "review", …}}',
)
def key_is_id(subject: Subject, report: Report) -> None:
    for component in subject.components:
        defined = component.value.get(DEFINITIONS)
        if component.type != "Flow" or not isinstance(defined, dict):
            continue
        ids = [value.get("id") for value in defined.values() if isinstance(value, dict)]
        for name, value in defined.items():
            own = value.get("id") if isinstance(value, dict) else None
            # of two nodes with one id OAS027 tells
            told = subject.document.lacks(own, component.at(DEFINITIONS))  # OAS010 says so
            if isinstance(own, str) and own and own != name and ids.count(own) == 1 and not told:
                at = child(child(component.at(DEFINITIONS), name), "id")
                report(
                    f'"{name[:80]}" has the id "{own[:80]}"',
                    subject.place(at),
                    hint=f'write "{name[:80]}": references name it so',
                )

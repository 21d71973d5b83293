"""The type of an object that a flow produces is written `@scope/package:local-id`.

outputs: [{"title": "mail", "cinatra": {"object_type": "email"}}]   ->   OAS130
"""

from __future__ import annotations

import re

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule

_OBJECT_TYPE = re.compile(r"@[^/:@\s]+/[^/:@\s]+:[^/:@\s]+")


@rule(
    code="OAS130",
    name="object-type",
    severity="error",
    summary="The object_type of an output is not written as @scope/package:local-id.",
    fix="Write the package that defines the type, a colon, and the name of the type there.",
    source="Cinatra C4",
    needs="cinatra",
    aliases=("C4",),
    bad='{"title": "mail", "type": "object", "cinatra": {"object_type": "email"}}',
    good='{"title": "mail", "type": "object", "cinatra": {"object_type": "@acme/mail:email"}}',
)
def object_types(subject: Subject, report: Report) -> None:
    for found in subject.components:
        for index, item in enumerate(found.items("outputs")):
            about = item.get("cinatra") if isinstance(item, dict) else None
            if not isinstance(about, dict) or about.get("object_type") is None:
                continue
            kind = about["object_type"]
            if isinstance(kind, str) and _OBJECT_TYPE.fullmatch(kind):
                continue
            shown = f'"{kind[:80]}"' if isinstance(kind, str) else describe(kind)
            report(
                f"{shown} is not a type of object: it is written @scope/package:local-id",
                subject.place(found.at("outputs", index, "cinatra", "object_type")),
            )

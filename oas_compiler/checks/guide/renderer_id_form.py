"""A renderer id is `@scope/package:name`.

"renderer": "mail:review"           ->   OAS178
"renderer": "@acme/mail:review"     ->   fine
"""

from __future__ import annotations

from oas_compiler.checks.lookup.renderers import is_renderer_id, named_renderers
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue


@rule(
    code="OAS178",
    name="renderer-id-form",
    severity="warning",
    summary="A renderer is not named as @scope/package:name.",
    fix="Write the id under which the renderer is registered, `@scope/package:name`.",
    source="agent guide, rules 5 and I.2",
    needs="cinatra",
    also=("guide-rule-5",),
    bad='"renderer": "acme/mail/review"',
    good='"renderer": "@acme/mail:review"',
)
def renderer_id_form(subject: Subject, report: Report) -> None:
    for one in named_renderers(subject):
        if not is_renderer_id(one.value):
            _report_renderer_id(
                report, one.value, f"the renderer of {one.by}", subject, one.pointer
            )
    root = subject.root
    screens = root.cinatra.get("hitlScreens") if root is not None else None
    for index, screen in enumerate(screens if isinstance(screens, list) else ()):
        if root is not None and isinstance(screen, str) and not is_renderer_id(screen):
            pointer = root.at("metadata", "cinatra", "hitlScreens", index)
            _report_renderer_id(report, screen, "the entry of hitlScreens", subject, pointer)
    _look_at_manifest(subject, report)


def _look_at_manifest(subject: Subject, report: Report) -> None:
    package = subject.agent
    declared = package.cinatra.get("fieldRenderers") if package is not None else None
    for index, item in enumerate(declared if isinstance(declared, list) else ()):
        name = item.get("id") if isinstance(item, dict) else None
        if package is not None and name is not None and not is_renderer_id(name):
            report(
                f"the id {_format_id(name)} in fieldRenderers is not @scope/package:name",
                package.place(f"/cinatra/fieldRenderers/{index}/id"),
                file=package.manifest_file,
            )


def _report_renderer_id(
    report: Report, value: JsonValue, what: str, subject: Subject, pointer: str
) -> None:
    report(
        f"{what}, {_format_id(value)}, is not @scope/package:name",
        subject.place(pointer),
        hint="one @, one slash, one colon; letters, digits, _ and - between them",
    )


def _format_id(value: JsonValue) -> str:
    return f'"{value[:120]}"' if isinstance(value, str) else "which is no text"

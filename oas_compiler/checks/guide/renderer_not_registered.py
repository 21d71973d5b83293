"""A screen of the package itself is registered in package.json.

    package "@x/mail", a gate with "renderer": "@x/mail:review", fieldRenderers []     ->  OAS238
    fieldRenderers [{"id": "@x/mail:review", "kind": "reviewer-output"}]               ->  fine
    "renderer": "@x/other:review"      is registered by that package, and not looked for

A host that does not know the screen shows its plain form instead.
"""

from __future__ import annotations

from oas_compiler.checks.guide.manifest_values import has_renderers
from oas_compiler.checks.lookup.child_agents import own_names
from oas_compiler.checks.lookup.renderers import (
    is_renderer_id,
    meant_screen,
    named_renderers,
    registered_screens,
)
from oas_compiler.checks.lookup.value_flaws import KEYS, misspelt_keys
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS238",
    name="renderer-not-registered",
    severity="warning",
    summary="A gate names a screen of its own package that package.json does not register.",
    fix="Add the id to cinatra.fieldRenderers of package.json.",
    source="agent guide, rule I.2; Cinatra, fieldRenderers",
    needs="package",
    bad='"renderer": "@acme/mail:review"     (and "fieldRenderers": [])',
    good='"renderer": "@acme/mail:review"     (and "fieldRenderers": [{"id": "@acme/mail:review", …}])',
)
def renderer_not_registered(subject: Subject, report: Report) -> None:
    package, root = subject.agent, subject.root
    if package is None or package.source is None or root is None:
        return
    if (
        not has_renderers(package)
        or "fieldRenderers" in misspelt_keys(package.cinatra, KEYS).values()
    ):
        return  # OAS248 and OAS197 say so
    registered = registered_screens(subject)
    screens = _list_texts(root.cinatra.get("hitlScreens"))
    emitted = [one for one in named_renderers(subject) if one.emitted]
    values = {one.value for one in emitted if isinstance(one.value, str)}
    told: set[str] = set()
    for one in emitted:
        value = one.value
        if not isinstance(value, str) or value in registered or value in told:
            continue
        if not is_renderer_id(value) or value.rpartition(":")[0] not in own_names(subject):
            continue
        unemitted = [screen for screen in screens if screen not in values]
        if value not in screens and meant_screen(value, [*unemitted, *registered]):
            continue  # OAS177 names the screen that was meant
        told.add(value)
        unused = [name for name in registered if name not in values]
        meant = meant_screen(value, unused)
        report(
            f'{one.by} names the renderer "{value[:120]}", which package.json does not register',
            subject.place(one.pointer),
            hint=f'fieldRenderers registers "{meant[:120]}": is that the one?'
            if meant
            else "add an entry with this id and a kind to cinatra.fieldRenderers of package.json",
        )


def _list_texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

"""hitlScreens lists every renderer that a run can pause with.

a gate with renderer "@x/mail:review", hitlScreens []   ->   OAS177
hitlScreens ["@x/mail:review"]                         ->   fine

An invalid renderer id is OAS178, a misspelt hitlScreens OAS133.
"""

from __future__ import annotations

from oas_compiler.checks.lookup.renderers import (
    Named,
    is_renderer_id,
    meant_screen,
    named_renderers,
    registered_screens,
)
from oas_compiler.checks.lookup.value_flaws import meant_keys
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.finding import Edit
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Json

_OF_THE_HOST = ("@cinatra-ai/agent-builder:", "@cinatra/agent-builder:")
"""Renderers that every host has."""


@rule(
    code="OAS177",
    name="unlisted-hitl-screen",
    severity="warning",
    summary="The flow can pause with a renderer that hitlScreens does not list.",
    fix="Add the renderer to metadata.cinatra.hitlScreens of the root flow.",
    source="agent guide, rule 5",
    needs="cinatra",
    fixable=True,
    aliases=("guide-rule-5",),
    bad='"hitlScreens": []                      (and a gate with "renderer": "@acme/mail:review")',
    good='"hitlScreens": ["@acme/mail:review"]   (and a gate with "renderer": "@acme/mail:review")',
)
def unlisted_hitl_screen(subject: Subject, report: Report) -> None:
    root = subject.root
    if root is None or not isinstance(_read_metadata(root).get("cinatra"), dict):
        return  # OAS102 says so
    screens = root.cinatra.get("hitlScreens", [])
    if not isinstance(screens, list):
        return
    listed = [screen for screen in screens if isinstance(screen, str)]
    emitted: dict[str, Named] = {}
    for one in named_renderers(subject):
        if one.emitted and isinstance(one.value, str) and is_renderer_id(one.value):
            emitted.setdefault(one.value, one)
    missing = [one for value, one in emitted.items() if _must_be_listed(value, listed)]
    if missing and (root.pointer, "hitlScreens") in meant_keys(subject):
        return
    unused = [screen for screen in listed if screen not in emitted]
    registered = registered_screens(subject)
    listing = Json.of([str(one.value) for one in missing])
    for index, one in enumerate(missing):
        value = str(one.value)
        meant = meant_screen(value, unused)
        slip = "" if meant or value in registered else meant_screen(value, registered)
        report(
            f'{one.by} names the renderer "{value[:120]}", which is not in hitlScreens',
            subject.place(one.pointer),
            hint=f'hitlScreens lists "{meant[:120]}", which nothing emits: is that the one?'
            if meant
            else f'package.json registers "{slip[:120]}": is that the one?'
            if slip
            else "add it to metadata.cinatra.hitlScreens of the root flow",
            fix=()
            if meant or slip
            else _make_append_edits(root, value, listing, is_first=index == 0),
        )


def _must_be_listed(value: str, listed: list[str]) -> bool:
    return value not in listed and not value.startswith(_OF_THE_HOST) and "{{" not in value


def _make_append_edits(
    root: Written, value: str, listing: Json, *, is_first: bool
) -> tuple[Edit, ...]:
    """Edits that append to the list; where the list is missing, the first finding writes the whole
    list.
    """
    at = root.at("metadata", "cinatra", "hitlScreens")
    if "hitlScreens" in root.cinatra:
        return (Edit(pointer=f"{at}/-", value=Json.of(value)),)
    return (Edit(pointer=at, value=listing),) if is_first else ()


def _read_metadata(root: Written) -> dict[str, object]:
    found = root.value.get("metadata")
    return dict(found) if isinstance(found, dict) else {}

"""Addresses of the platform are spelt correctly.

"{{CINATRA_URL}}/api/llm-bridge"          ->   OAS242: CINATRA_BASE_URL
"{{CINATRA_BASE_URL}}/api/llm-brige"      ->   OAS242: llm-bridge
"{{CINATRA_BASE_URL}}api/llm-bridge"      ->   OAS242: a slash
"{{CINATRA_BASE_URL}}/api/press/notes"    fine: nothing of the platform is called so

A slip in the placeholder itself is OAS255.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final

from cinatra_sdk.contract import BASE_URL, BASE_URL_MARK
from cinatra_sdk.data.text.message_words import did_you_mean
from oas_compiler.checks.sense.platform_placeholder import (
    LONGEST,
    NAME,
    called,
    meant_placeholder,
)
from oas_compiler.checks.subject import Subject
from oas_compiler.control.context_slots import RESOLVE
from oas_compiler.findings.rule import Report, rule
from oas_compiler.templates import is_environment_name

_BASE_FORM: Final = re.compile(
    rf"{BASE_URL_MARK}/{{2,}}"  # a slash too many
    rf"|{BASE_URL_MARK}(?=\w)"  # none
)
_PATH: Final = re.compile(rf"{BASE_URL_MARK}/?(?:(?P<api>[\w.-]+)/)?(?P<rest>[\w./-]+)$")
ROUTES: Final = (
    "llm-bridge", "agents/passthrough", "context-resolve", "context-finalize",
    "auditor/run-skills", "auditor/exclude", "auditor/apply", "a2a/resume",
)  # fmt: skip


@rule(
    code="OAS242",
    name="platform-address",
    severity="warning",
    summary="The address of a call is almost equal to an address of the platform.",
    fix="Correct the spelling: {{CINATRA_BASE_URL}}/api/llm-bridge, and the like.",
    source="Cinatra, endpoints of the platform",
    needs="document",
    bad='"url": "{{CINATRA_BASE_URL}}/api/llm-brige"',
    good='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge"',
)
def platform_address(subject: Subject, report: Report) -> None:
    pretenders = {
        slot.pretender.subflow.place.pointer
        for flow in subject.slot_flows
        for slot in flow.slots
        if slot.pretender is not None
    }
    for node, key in called(subject):
        url = node.text(key)
        if not url or len(url) > LONGEST or meant_placeholder(url):
            continue
        found = _find_misspelt_address(url)
        # a selection that calls the wrong route is OAS154
        if found and not (found[1].endswith(RESOLVE) and node.flow in pretenders):
            wrong, meant = found
            report(
                f'{node.label} calls "{wrong}", which the platform does not have',
                subject.place(node.at(key)),
                hint=f'did you mean "{meant}"?',
            )


def _find_misspelt_address(url: str) -> tuple[str, str] | None:
    form = _BASE_FORM.match(url)
    if form is not None:
        rest = url[form.end() :].lstrip("/")
        return url, f"{{{{{BASE_URL}}}}}/{rest}"
    name = NAME.match(url)
    if (
        name is not None
        and name[1] != BASE_URL
        and is_environment_name(name[1])
        and did_you_mean(name[1].upper(), [BASE_URL])
    ):
        return f"{{{{{name[1]}}}}}", f"{{{{{BASE_URL}}}}}"
    path = _PATH.match(url)
    if path is None:
        return None
    api, rest = path["api"], path["rest"].rstrip("/")
    if api is None or (api != "api" and rest in ROUTES):
        return (
            (f"/{api or ''}/{rest}".replace("//", "/"), f"/api/{rest}") if rest in ROUTES else None
        )
    whole = rest if api == "api" else f"{api}/{rest}"
    if whole in ROUTES or api != "api":
        return None
    near = next((route for route in ROUTES if _is_slip(whole, route)), "")
    return (f"/api/{whole}", f"/api/{near}") if near else None


def _is_slip(written: str, route: str) -> bool:
    """Whether a route was meant: the same letters, or one or two signs of a long name wrong."""
    plain = re.sub(r"[^a-z]", "", written.lower())
    meant = re.sub(r"[^a-z]", "", route)
    if plain == meant:
        return True
    return abs(len(plain) - len(meant)) <= 2 and bool(_is_similar_text(plain, meant))


def _is_similar_text(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other).ratio() >= 0.88

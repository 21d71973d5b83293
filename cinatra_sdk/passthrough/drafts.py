r"""`email_outreach_initial_drafts_update`: the drafts as a person reviewed them, saved and given back.

    {"resumePayloadJson": "{\"draftedEmails\": [{\"subject\": \"Hi\", …}]}"}
        ->  {"ok": true, "reviewedBundle": {"draftedEmails": […], …}, "reviewedDocument": "## Ann\n…"}

The bundle is the last object of its type that this run saved; the drafting step saves it before the
gate.  An answer without drafts, such as a plain approval, leaves them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.passthrough.named import MOST_SAID, NamedCall, NamedTool
from cinatra_sdk.passthrough.objects import RUN_STAMP, add_version
from cinatra_sdk.routed.call import RouteError
from cinatra_sdk.store.saved_objects import ObjectContent, SavedObjects
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

BUNDLE_TYPE: Final = "@cinatra-ai/campaigns:email-draft-bundle"
DRAFTS: Final = "draftedEmails"
_SUMMARY: Final = "summary"


def drafts_tool(objects: SavedObjects) -> NamedTool:
    def run(call: NamedCall) -> dict[str, JsonValue]:
        org = call.require_tenant()
        reviewed = _read_reviewed(call)
        saved = objects.of_run(call.owner.run_id, org_id=org, kind=BUNDLE_TYPE, most=1)
        if not saved:
            raise RouteError(
                404, "object_missing",
                f"this run has saved no {BUNDLE_TYPE}: the drafting step saves it by objects_save "
                "before the review",
            )  # fmt: skip
        before = saved[0].held.value()
        bundle: dict[str, Any] = dict(before) if isinstance(before, dict) else {}
        bundle.update(reviewed)
        if not _is_drafts(bundle.get(DRAFTS) or []):
            raise RouteError(
                400, "invalid_input", f'"{DRAFTS}" of the saved bundle is no list of objects'
            )
        add_version(objects, call, saved[0], ObjectContent.of_json(BUNDLE_TYPE, bundle))
        shown = {key: value for key, value in bundle.items() if key != RUN_STAMP}
        return {
            "ok": True,
            "reviewedBundle": shown,
            "reviewedDocument": format_document(bundle.get(DRAFTS) or []),
        }

    return NamedTool(name="email_outreach_initial_drafts_update", run=run)


def _read_reviewed(call: NamedCall) -> dict[str, JsonValue]:
    """What the person changed: the drafts, and the summary."""
    try:
        answer = read_json(call.text("resumePayloadJson", needed=False, most=MOST_SAID))
    except NotStrictJson:
        return {}  # words of approval
    if not isinstance(answer, dict):
        return {}
    bundle = answer.get("draftBundle")
    found = bundle if isinstance(bundle, dict) else answer
    drafts = found.get(DRAFTS)
    if drafts is None:
        return {}
    if not _is_drafts(drafts):
        raise RouteError(400, "invalid_input", f'"{DRAFTS}" of the answer is a list of objects')
    kept: dict[str, JsonValue] = {DRAFTS: drafts}
    if isinstance(found.get(_SUMMARY), str):
        kept[_SUMMARY] = found[_SUMMARY]
    return kept


def _is_drafts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def format_document(drafts: Sequence[Mapping[str, JsonValue]]) -> str:
    """All drafts as one Markdown document, a section for each recipient."""
    sections = []
    for draft in drafts:
        name = draft.get("recipientName") or draft.get("recipientEmail") or "Recipient"
        subject, body = draft.get("subject") or "", draft.get("body") or ""
        sections.append(f"## {name}\n**Subject:** {subject}\n\n{body}\n\n---\n")
    return "\n".join(sections)

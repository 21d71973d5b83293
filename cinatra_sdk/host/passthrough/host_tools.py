r"""Tools of the platform that public flows call: saved objects, a trigger's settings, the action of a test send.

    trigger_config_set({"userResponse": "{\"triggerType\": \"recurring\", \"cronExpression\": …}"})
        ->  {"triggerType": "recurring", "scheduledAt": "", "cronExpression": "0 9 * * 1", …}

    objects_save({"typeHint": "@x/drafts", "rawData": {"drafts": []}})
        ->  {"objectId": "5b…", "id": "5b…", "typeHint": "@x/drafts", "version": 1, "sha256": "…"}
    objects_get({"objectId": "5b…"})       ->  {"object": {"objectId": "5b…", "rawData": {…}, …}}

An object is JSON with a type, in versions, of the run's organisation alone.  The id of the run is stamped
from the call, whatever the data says.
The settings of a trigger are stored as an object of the run; nothing here starts a run from them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, check_value, read_json
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.host.passthrough.passthrough_route import (
    MOST_SAID,
    NamedCall,
    NamedTool,
    is_storable,
    missing_tool,
    parse_object,
)
from cinatra_sdk.outside.routes import RouteError
from cinatra_sdk.postgres.connection import every
from cinatra_sdk.store.artifacts.object_store import (
    KeyReused,
    ObjectContent,
    SavedObject,
    SavedObjects,
)
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.decisions.decision_rows import GateDecision

_T = TypeVar("_T")
RUN_STAMP: Final = "cinatra_agent_run_id"
_ID: Final[dict[str, Any]] = {"type": "string", "description": "The objectId that was returned."}
_HINT: Final[dict[str, Any]] = {"type": "string", "description": "What the object is."}
_RAW: Final[dict[str, Any]] = {"type": "object", "description": "The data to be saved."}


def object_tools(objects: SavedObjects) -> list[NamedTool]:
    """The tools over one store."""

    def tool(
        name: str, about: str, run: Callable[[SavedObjects, NamedCall], Any], **ports: Any
    ) -> NamedTool:
        return NamedTool(
            name=name,
            description=about,
            schema={"type": "object", "properties": ports, "required": list(ports)},
            run=lambda call: run(objects, call),
            for_models=True,
        )

    return [
        tool("objects_save", "Save a new object.", save, typeHint=_HINT, rawData=_RAW),
        tool("objects_get", "The newest version of an object, or null.", get, objectId=_ID),
        tool("objects_update", "Save a new version of an object.", update, objectId=_ID, rawData=_RAW),
        tool("objects_classify", "Say what an object is.", classify, objectId=_ID, typeHint=_HINT),
        tool("objects_list", "The objects of a type that this run saved.", list_of_run, typeHint=_HINT),
    ]  # fmt: skip


def save(objects: SavedObjects, call: NamedCall) -> JsonValue:
    call.require_tenant()
    return describe(save_content(objects, call, _make_content(call, call.text("typeHint"))))


def get(objects: SavedObjects, call: NamedCall) -> JsonValue:
    found = objects.get(_read_id(call), org_id=call.require_tenant())
    return {"object": None if found is None else show(found)}


def update(objects: SavedObjects, call: NamedCall) -> JsonValue:
    before = _require(objects, call)
    return describe(add_version(objects, call, before, _make_content(call, before.held.type)))


def classify(objects: SavedObjects, call: NamedCall) -> JsonValue:
    before = _require(objects, call)
    content = ObjectContent(
        type=call.text("typeHint"), mime=before.held.mime, content=before.held.content
    )
    return describe(add_version(objects, call, before, content))


def list_of_run(objects: SavedObjects, call: NamedCall) -> JsonValue:
    org, kind = call.require_tenant(), call.text("typeHint", needed=False)
    found = objects.of_run(call.owner.run_id, org_id=org, kind=kind)
    listed: dict[str, JsonValue] = {"objects": [show(one) for one in found]}
    left_out = objects.count_of_run(call.owner.run_id, org_id=org, kind=kind) - len(found)
    return listed | ({"leftOut": left_out} if left_out > 0 else {})


def save_content(
    objects: SavedObjects, call: NamedCall, content: ObjectContent, *, object_id: str = ""
) -> SavedObject:
    """A new object of the caller's organisation, or the next version of `object_id`.

    Raises: `RouteError`.
    """
    org, run_id = call.require_tenant(), call.owner.run_id
    return _refusing(
        call,
        lambda: objects.save(content, org_id=org, run_id=run_id, key=call.key, object_id=object_id),
    )


def add_version(
    objects: SavedObjects, call: NamedCall, before: SavedObject, content: ObjectContent
) -> SavedObject:
    """The next version of an object of the caller's organisation.  Raises: `RouteError`."""
    made = _refusing(
        call,
        lambda: objects.update(
            before.id, content, org_id=before.org_id, run_id=call.owner.run_id, key=call.key
        ),
    )
    if made is None:
        raise _missing()
    return made


def describe(made: SavedObject) -> dict[str, JsonValue]:
    """What a save answers."""
    return {
        "ok": True,
        "objectId": made.id,
        "id": made.id,
        "typeHint": made.held.type,
        "version": made.version,
        "sha256": made.held.sha256,
    }


def show(found: SavedObject) -> dict[str, JsonValue]:
    """An object with its data; one whose data are not what its type says is told as `unreadable`."""
    told = {**describe(found), "runId": found.run_id}
    try:
        return {**told, "rawData": found.held.value()}
    except (ValueError, RecursionError):
        return {**told, "rawData": None, "unreadable": "the data are no JSON"}


def _make_content(call: NamedCall, kind: str) -> ObjectContent:
    raw = call.input.get("rawData")
    if not isinstance(raw, dict):
        raise RouteError(400, "invalid_input", f'{call.tool} needs "rawData", an object')
    value = {**raw, RUN_STAMP: call.owner.run_id}
    problem = ""
    try:
        check_value(value, where="rawData")
    except ValueRefused as error:
        problem = str(error)
    if problem:
        raise RouteError(400, "invalid_input", problem)
    return ObjectContent.of_json(kind, value)


def _require(objects: SavedObjects, call: NamedCall) -> SavedObject:
    found = objects.get(_read_id(call), org_id=call.require_tenant())
    if found is None:
        raise _missing()
    return found


def _read_id(call: NamedCall) -> str:
    """Flows and models write it as `objectId` or `id`."""
    given = call.input.get("objectId") or call.input.get("id")
    if not isinstance(given, str) or not given.strip() or not is_storable(given):
        raise RouteError(400, "invalid_input", f'{call.tool} needs "objectId", a text')
    return given


def _missing() -> RouteError:
    # The same for another organisation's object, so that nobody can probe for ids.
    return RouteError(404, "object_missing", "there is no object with this id")


def _refusing(call: NamedCall, act: Callable[[], _T]) -> _T:
    status, code, problem = 400, "invalid_input", ""
    try:
        return act()
    except KeyReused as error:
        status, code, problem = 409, "key_reused", str(error)
    except ValueRefused as error:
        problem = str(error)
    raise RouteError(status, code, f"{call.tool}: {problem}")


TRIGGER_TYPE: Final = "@cinatra-ai/trigger:config"
_KINDS: Final = ("immediate", "scheduled", "recurring")
_TEXTS: Final = ("scheduledAt", "cronExpression", "timezone")
_SPACE: Final = uuid.UUID("6f1a7f2e-3f0e-5b0c-9b6e-5d8d4c1e7a10")
_CRON_FIELDS: Final = (5, 6)


def trigger_tool(objects: SavedObjects) -> NamedTool:
    def run(call: NamedCall) -> dict[str, JsonValue]:
        org, config = call.require_tenant(), _read_config(call)
        content = ObjectContent.of_json(TRIGGER_TYPE, config)
        # One object for a run, so that the last settings are found without a search.
        name = str(uuid.uuid5(_SPACE, f"{org}\n{call.owner.run_id}"))
        save_content(objects, call, content, object_id=name)
        return config

    return NamedTool(name="trigger_config_set", run=run)


def _read_config(call: NamedCall) -> dict[str, JsonValue]:
    """Raises: `RouteError` 400."""
    given = dict(call.input)
    target = given.pop("runId", "")
    if target not in ("", None, call.owner.run_id):
        raise RouteError(403, "run_mismatch", "a run sets the trigger of itself alone")
    answer = given.pop("userResponse", None)
    if answer is not None:
        given = {**given, **parse_object(answer, "userResponse")}
    kind = given.get("triggerType")
    if kind not in _KINDS:
        raise RouteError(400, "invalid_input", f'"triggerType" is one of {", ".join(_KINDS)}')
    texts: dict[str, JsonValue] = {name: given.get(name) or "" for name in _TEXTS}
    if not all(isinstance(text, str) for text in texts.values()):
        raise RouteError(400, "invalid_input", f"{', '.join(_TEXTS)} are texts")
    _check_time(str(kind), str(texts["scheduledAt"]), str(texts["cronExpression"]))
    _check_timezone(str(texts["timezone"]))
    enabled = given.get("enabled", True)
    if not isinstance(enabled, bool):
        raise RouteError(400, "invalid_input", '"enabled" is true or false')
    return {
        "triggerType": kind,
        **texts,
        "timezone": texts["timezone"] or "UTC",
        "enabled": enabled,
    }


def _check_time(kind: str, scheduled: str, cron: str) -> None:
    if kind == "scheduled":
        try:
            datetime.fromisoformat(scheduled)
        except ValueError:
            problem = '"scheduledAt" of a scheduled trigger is a moment in ISO 8601'
        else:
            return
        raise RouteError(400, "invalid_input", problem)
    if kind == "recurring" and len(cron.split()) not in _CRON_FIELDS:
        raise RouteError(
            400, "invalid_input", '"cronExpression" of a recurring trigger has 5 fields'
        )


def _check_timezone(name: str) -> None:
    if not name or name == "UTC":
        return
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        known = available_timezones()
    else:
        return
    if known:  # a machine without a database of them cannot say
        raise RouteError(400, "invalid_input", '"timezone" is a name as "Europe/Berlin"')


def _read_action(call: NamedCall) -> dict[str, JsonValue]:
    """What a person chose at the form of a test send; everything else goes on without a send."""
    try:
        answer = read_json(call.text("userResponse", needed=False, most=MOST_SAID))
    except NotStrictJson:
        answer = None
    action = answer.get("action") if isinstance(answer, dict) else None
    return {"action": "send" if action == "send" else "continue"}


def plain_tools() -> list[NamedTool]:
    """The tools that need no store, and those that need more than this platform has."""
    return [
        NamedTool(name="email_test_delivery_parse_action", run=_read_action),
        missing_tool(
            "email_test_delivery_run_send", "sends a real mail, and no sender is connected"
        ),
    ]


# ----------------------------------------------------------------------------
# `email_outreach_initial_drafts_update`: the drafts as a person reviewed them, saved and given back.
#
#     `{"resumePayloadJson": "{\"draftedEmails\": [{\"subject\": \"Hi\", …}]}"}`
#         ->  {"ok": true, "reviewedBundle": {"draftedEmails": […], …}, "reviewedDocument": "## Ann\n…"}
#
# The bundle is the last object of its type that this run saved; the drafting step saves it before the
# gate.  An answer without drafts, such as a plain approval, leaves them as they are.


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


# ----------------------------------------------------------------------------
# `agent_run_hitl_prompts_list`: what people answered at the gates of the calling run, in order.
#
# `agent_run_hitl_prompts_list({})`
#     ->  {"prompts": [{"runId": "r1", "stepKey": "review", "message": "Shorter", …}]}
#
# Of more than `MOST_LISTED` answers the last are listed, and `leftOut` says how many came before them.


MOST_LISTED: Final = 500
"""Answers of one list."""
_WORDS: Final = ("approvalNote", "userResponse")
"""Members of an answer that are a person's own words, the first that is a text wins."""
_ALL: Final = {"after_at": None, "after_gate": "", "after_sha256": "", "limit": None}


def prompts_tool(database: Database) -> NamedTool:
    def run(call: NamedCall) -> dict[str, JsonValue]:
        call.require_tenant()
        named = call.input.get("runId") or call.owner.run_id
        if named != call.owner.run_id:
            raise RouteError(403, "run_mismatch", "a run lists the answers of itself alone")
        with database.connection() as connection:
            rows = every(connection, "list_decisions", {"run_id": call.owner.run_id, **_ALL})
        given = [one for one in map(GateDecision.of, rows) if one.kind != "auto_skipped"]
        listed: dict[str, JsonValue] = {"prompts": [_describe(one) for one in given[-MOST_LISTED:]]}
        left_out = len(given) - MOST_LISTED
        return listed | ({"leftOut": left_out} if left_out > 0 else {})

    return NamedTool(name="agent_run_hitl_prompts_list", run=run)


def _describe(decision: GateDecision) -> dict[str, JsonValue]:
    answer: dict[str, Any] = dict(decision.answer)
    words = (answer.get(name) for name in _WORDS)
    return {
        "runId": decision.run_id,
        "stepKey": decision.gate_id,
        "decision": decision.kind,
        "message": next(
            (text for text in words if isinstance(text, str) and text), decision.reason
        ),
        "submittedValues": answer,
        "decidedBy": decision.decided_by,
        "decidedAt": decision.decided_at.isoformat(),
    }

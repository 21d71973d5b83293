r"""Tools of the platform that public flows call: a trigger's settings, the action of a test send.

    trigger_config_set({"userResponse": "{\"triggerType\": \"recurring\", \"cronExpression\": …}"})
        ->  {"triggerType": "recurring", "scheduledAt": "", "cronExpression": "0 9 * * 1", …}

A trigger's settings are kept as an object of the run; nothing here starts runs by them.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import JsonValue

from cinatra_sdk.passthrough.named import MOST_SAID, NamedCall, NamedTool, missing_tool
from cinatra_sdk.passthrough.objects import save_content
from cinatra_sdk.passthrough.shapes import parse_object
from cinatra_sdk.routed.call import RouteError
from cinatra_sdk.store.saved_objects import ObjectContent, SavedObjects
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

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

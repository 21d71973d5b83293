"""The tools that save objects: JSON with a type, in versions, of the run's organisation alone.

    objects_save({"typeHint": "@x/drafts", "rawData": {"drafts": []}})
        ->  {"objectId": "5b…", "id": "5b…", "typeHint": "@x/drafts", "version": 1, "sha256": "…"}
    objects_get({"objectId": "5b…"})       ->  {"object": {"objectId": "5b…", "rawData": {…}, …}}

The id of the run is stamped from the call, whatever the data says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from pydantic import JsonValue

from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall, NamedTool, is_storable
from cinatra_sdk.outside.routes import RouteError
from cinatra_sdk.store.artifacts.object_store import (
    KeyReused,
    ObjectContent,
    SavedObject,
    SavedObjects,
)

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

r"""Inputs that a flow writes in another form than the tool takes: `_shape` names the form.

{"_shape": "email_outreach_context_setup", "setupJson": "{\"callToAction\": \"Call\"}"}
    ->  {"typeHint": "@cinatra-ai/campaigns:email-outreach-context",
         "rawData": {"offeringCompanyWebsite": "", "callToAction": "Call", "senderName": ""}}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.routed.call import RouteError
from cinatra_sdk.text.spelling import did_you_mean
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

SHAPE: Final = "_shape"
SETUP_TYPE: Final = "@cinatra-ai/campaigns:email-outreach-context"
_SETUP_TEXTS: Final = ("offeringCompanyWebsite", "callToAction", "senderName")


def shape_input(tool: str, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The input as the tool takes it.  Raises: `RouteError` 400."""
    name = given.get(SHAPE)
    plain = {key: value for key, value in given.items() if key != SHAPE}
    if name is None:
        return plain
    shape = _SHAPES.get(name) if isinstance(name, str) else None
    if shape is None:
        nearest = did_you_mean(str(name), _SHAPES)
        raise RouteError(
            400, "unknown_shape",
            f"{tool} knows no input of this _shape; "
            + (nearest or f"known are {', '.join(sorted(_SHAPES))}"),
        )  # fmt: skip
    return shape(plain)


def parse_object(text: JsonValue, name: str) -> dict[str, JsonValue]:
    """The object in a JSON text, or the object itself.  Raises: `RouteError` 400."""
    problem = ""
    if isinstance(text, dict):
        return text
    try:
        found = read_json(text if isinstance(text, str) else "")
        if isinstance(found, dict):
            return found
        problem = "it is no object"
    except NotStrictJson as error:
        problem = str(error)
    raise RouteError(400, "invalid_input", f'"{name}" is the text of a JSON object: {problem}')


def _shape_setup(given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The campaign that a person set up; what was left out is empty, because outputs are declared."""
    setup = parse_object(given.get("setupJson"), "setupJson")
    texts: dict[str, JsonValue] = {name: setup.get(name) or "" for name in _SETUP_TEXTS}
    wrong = next((name for name, text in texts.items() if not isinstance(text, str)), "")
    if wrong:
        raise RouteError(400, "invalid_input", f'"{wrong}" in setupJson is no text')
    return {"typeHint": SETUP_TYPE, "rawData": texts}


_SHAPES: Final[Mapping[str, Callable[[Mapping[str, JsonValue]], dict[str, JsonValue]]]] = {
    "email_outreach_context_setup": _shape_setup,
}

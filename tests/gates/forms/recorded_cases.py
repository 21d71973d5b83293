"""The forms and the answers of `recorded.json`: every kind of form, against every kind of answer.

A form is given by the arguments of `form_of`; `selects` stands for the selector of two candidates.
"""

from __future__ import annotations

import json
from typing import Any, Final

from cinatra_sdk.context.selector import Selector, read_selector

OBJECT: Final[dict[str, Any]] = {"type": "object"}
SITE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"site": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["site"],
}
ACTION: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"action": {"enum": ["send", "continue"]}},
    "required": ["action"],
}
YES: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}},
    "required": ["approved"],
}


def titled(name: str, of: dict[str, Any], *, required: bool = True, **more: Any) -> dict[str, Any]:
    """A schema whose object has the output's own title as a property."""
    properties = {name: of, **more}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required else [],
    }


FORMS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "text": {"output": "note"},
    "text with a document": {"output": "doc", "document_schema": ACTION},
    "text with any document": {"output": "doc", "document_schema": {}},
    "number": {"output": "n", "text_output": False, "output_schema": {"type": "integer"}},
    "object": {"output": "setup", "text_output": False, "output_schema": SITE},
    "anything": {"output": "any", "text_output": False},
    "object with a document": {
        "output": "setup", "text_output": False, "output_schema": OBJECT, "document_schema": ACTION,
    },
    "schema: a document": {"output": "setupJson", "answer_schema": SITE},
    "schema: a document with a rule for the document": {
        "output": "setupJson", "answer_schema": SITE, "document_schema": ACTION,
    },
    "schema: a text": {"output": "note", "answer_schema": {"type": "string"}},
    "schema: a choice": {"output": "choice", "answer_schema": {"enum": ["all", "none", None, True]}},
    "schema: anything": {"output": "x", "answer_schema": {}},
    "schema: a yes": {"output": "userResponse", "answer_schema": YES},
    "schema: a yes and a document": {"output": "userResponse", "answer_schema": YES, "document_schema": ACTION},
    "schema: a titled yes": {"output": "approved", "answer_schema": YES},
    "schema: an agreement": {
        "output": "ok",
        "answer_schema": titled("other", {"const": "fixed"}, Accepted={"type": "boolean"}),
    },
    "schema: titled text": {"output": "site", "answer_schema": titled("site", {"type": "string"})},
    "schema: titled text, optional": {
        "output": "site", "answer_schema": titled("site", {"type": "string"}, required=False),
    },
    "schema: titled yes or no": {
        "output": "confirmed", "answer_schema": titled("confirmed", {"type": "boolean"}),
    },
    "schema: titled object": {"output": "setup", "answer_schema": titled("setup", SITE)},
    "schema: titled document": {
        "output": "testResult", "answer_schema": titled("testResult", {"type": "string"}), "document_schema": ACTION,
    },
    "schema: titled document beside another field": {
        "output": "testResult",
        "answer_schema": titled("testResult", {"type": "string"}, tone={"enum": ["warm", "dry"]}),
        "document_schema": ACTION,
    },
    "schema: with a reference": {
        "output": "x",
        "answer_schema": {"$defs": {"s": {"type": "string"}}, "properties": {"site": {"$ref": "#/$defs/s"}}},
    },
    "schema: broken": {"output": "x", "answer_schema": {"type": "nonsense"}},
    "schema: impossible": {"output": "x", "answer_schema": {"not": {}}},
    "schema: a number": {"output": "n", "text_output": False, "answer_schema": {"type": "integer", "minimum": 1}},
    "schema: wider than its output": {
        "output": "n", "text_output": False, "answer_schema": {}, "output_schema": {"type": "integer", "minimum": 2},
    },
    "schema: an object": {
        "output": "setup", "text_output": False, "answer_schema": OBJECT, "output_schema": SITE,
    },
    "schema: titled number": {
        "output": "count", "text_output": False, "answer_schema": titled("count", {"type": "integer"}),
        "output_schema": {"type": "integer", "maximum": 9},
    },
    "schema: titled number, optional": {
        "output": "count", "text_output": False,
        "answer_schema": titled("count", {"type": "integer"}, required=False),
        "output_schema": {"type": "integer"},
    },
    "schema: titled object with a document": {
        "output": "setup", "text_output": False, "answer_schema": titled("setup", OBJECT),
        "output_schema": OBJECT, "document_schema": ACTION,
    },
    "setup: a text": {
        "output": "site", "text_output": False, "bare": True,
        "answer_schema": titled("site", {"type": "string"}) | {"additionalProperties": False},
    },
    "setup: an object": {
        "output": "setup", "text_output": False, "bare": True,
        "answer_schema": titled("setup", SITE) | {"additionalProperties": False},
    },
    "setup: several inputs": {
        "output": "", "text_output": False, "answer_schema": SITE | {"additionalProperties": False},
    },
    "bare text": {"output": "site", "bare": True, "answer_schema": titled("site", {"type": "string"})},
    "selection": {"output": "userResponse", "selects": {}},
    "selection of at least two": {"output": "userResponse", "selects": {"minItems": 2}},
    "selection as an object": {
        "output": "chosen", "text_output": False, "output_schema": OBJECT, "selects": {},
    },
    "selection with a document": {"output": "userResponse", "document_schema": OBJECT, "selects": {}},
    "selection, schema: a text": {
        "output": "userResponse", "answer_schema": {"type": "string"}, "selects": {},
    },
    "selection, schema: an envelope": {
        "output": "userResponse", "answer_schema": {"type": "object", "required": ["selectedRefs"]},
        "selects": {},
    },
    "selection, schema: titled": {
        "output": "userResponse", "answer_schema": titled("userResponse", {"type": "string"}), "selects": {},
    },
    "selection, schema: titled, optional": {
        "output": "userResponse",
        "answer_schema": titled("userResponse", {"type": "string"}, required=False),
        "selects": {},
    },
    "selection, schema: titled beside a note": {
        "output": "userResponse",
        "answer_schema": titled("userResponse", {"type": "string"}, note={"type": "string"}),
        "selects": {"resolutionMode": "override"},
    },
    "selection, schema: titled object": {
        "output": "chosen", "text_output": False, "answer_schema": titled("chosen", OBJECT),
        "output_schema": OBJECT, "selects": {},
    },
    "selection, schema: a yes": {"output": "userResponse", "answer_schema": YES, "selects": {}},
    "selection, schema: with a reference": {
        "output": "x", "answer_schema": {"$defs": {"s": {"type": "string"}}, "$ref": "#/$defs/s"},
        "selects": {},
    },
    "selection at a setup gate": {
        "output": "pick", "text_output": False, "bare": True, "answer_schema": titled("pick", OBJECT),
        "selects": {},
    },
    "selection of nothing": {"output": "userResponse", "selects": {"offered": 0}},
}  # fmt: skip


def ref(name: str) -> dict[str, Any]:
    return {
        "artifactId": name, "representationRevisionId": f"{name}-r",
        "semanticAssertionId": f"{name}-s",
    }  # fmt: skip


def offered(selects: dict[str, Any]) -> dict[str, Any]:
    """The values of a selection gate with two candidates, or fewer."""
    meta = {"slotId": "voice", "resolutionMode": "accumulate", "minItems": 0} | selects
    number = meta.pop("offered", 2)
    refs = [
        {**ref(name), "extension": "@x/voice", "sourceScope": "organization", "ownerId": "bob"}
        for name in ("a", "b")[:number]
    ]
    return {"candidates": refs, "slotMeta": meta, "selectedRefs": []}


def selector_of(selects: dict[str, Any]) -> Selector:
    found = read_selector(offered(selects))
    assert found is not None
    return found


def chosen(*names: str, mode: str = "accumulate") -> dict[str, Any]:
    refs = [ref(name) for name in names]
    return {"slotId": "voice", "resolutionMode": mode, "selectedRefs": refs}


def _approved(value: Any) -> dict[str, Any]:
    return {"approved": True, "value": value}


VALUES: Final[tuple[Any, ...]] = (
    True, False, None, 0, 4, 4.0, 1.5, 12, "", "text", "3", '"text"', "{}", '{"a": 1, "a": 2}', [], [1], {},
    {"site": "s"}, {"site": 3}, {"site": "s", "count": 2}, ' {"site": "s"}\n',
    {"action": "send"}, '{ "action": "send" }', {"action": "explode"}, '{"action": "explode"}',
    {"approved": True}, {"approved": False}, {"confirmed": False},
    {"setup": {"site": "s"}}, {"setup": {"site": 3}}, {"setup": {}}, '{"setup": {"site": "s"}}',
    {"count": 3}, {"count": 3.0}, {"count": 99}, {"n": 4},
    {"testResult": '{"action": "send"}'}, {"testResult": "no json"}, {"testResult": {"action": "send"}},
    {"testResult": '{"action": "send"}', "tone": "dry"}, '{"testResult": "{}"}',
    {"other": "fixed", "Accepted": False},
    chosen("a"), chosen(), chosen("a", "b"), chosen("z"), chosen("a", mode="override"),
    json.dumps(chosen("a")), json.dumps(chosen("z")),
    {"userResponse": json.dumps(chosen("a"))}, {"userResponse": chosen("a")},
    {"userResponse": json.dumps(chosen("a", mode="override")), "note": "n"},
    {"chosen": chosen("a")}, {"pick": chosen("b")}, {"pick": chosen("z")},
    {"approval_policy": {}, "site": "s"}, '{"approval_policy": {}, "site": "s"}',
)  # fmt: skip

ANSWERS: Final[tuple[Any, ...]] = (
    None, True, [], "approve", {}, {"approved": "yes"}, {"approved": True, "goto": 1},
    {"approved": True}, {"approved": True, "approvalNote": "  fine  "},
    {"approved": True, "reason": "why", "by": "ann", "approvedAt": "2026-01-01T00:00:00Z"},
    {"approved": True, "reason": "why", "approvalNote": "note"}, {"approved": True, "reason": 3},
    {"approved": True, "by": "a\u200bnn"},
    {"approved": False}, {"approved": False, "reason": "no", "by": "ann"}, {"approved": False, "value": 1},
    {"approved": False, "userResponse": "x"},
    {"approved": True, "value": 1, "userResponse": "x"}, {"approved": True, "userResponse": ""},
    {"approved": True, "userResponse": 3}, {"approved": True, "userResponse": "text", "approvalNote": "n"},
    {"approved": True, "userResponse": '{"site": "s"}'}, {"approved": True, "userResponse": "true"},
    {"approved": True, "userResponse": json.dumps(chosen("a"))},
    {"approved": True, "value": True, "approvalNote": "note"},
    {"approved": True, "value": "sk-ant-api03-" + "a" * 24},
    {"approved": True, "value": '{"k": "sk-ant-api03-' + "a" * 24 + '"}'},
    {"approved": True, "value": {"__overwrite__": 1}}, {"approved": True, "value": 2**70},
    {"approved": True, "value": "x" * 70_000}, {"approved": True, "value": "1e300"},
    *map(_approved, VALUES),
)  # fmt: skip

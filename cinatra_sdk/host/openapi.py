"""The OpenAPI document of the local platform's routes, and an app that gives it.

    described(local_app(…))      GET /openapi.json   the document;  GET /.health  {"status": "ok"}
                                 everything else goes to the app

OpenAPI describes HTTP routes; it has nothing to do with Agent Spec, whose files are OAS here.
The bodies come from the records that read them, so that the document cannot say something else.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, JsonValue

from cinatra_sdk.host.asgi_app import App, Message, Receive, Send, send_json
from cinatra_sdk.host.bridge.request_body import BridgeBody
from cinatra_sdk.host.context_routes import FinalizeBody, ResolveBody
from cinatra_sdk.host.passthrough.passthrough_route import PassthroughBody
from cinatra_sdk.outside.http_calls.protocol import BRIDGE_PATH

DOCUMENT_PATH: Final = "/openapi.json"
HEALTH_PATH: Final = "/.health"
_SCHEMAS: Final = "#/components/schemas"
_BODIES: Final[dict[str, tuple[type[BaseModel], str]]] = {
    BRIDGE_PATH: (BridgeBody, "Ask a language model."),
    "/api/agents/passthrough": (PassthroughBody, "Call a tool of the host by its name."),
    "/api/context-resolve": (ResolveBody, "What a context slot may take."),
    "/api/context-finalize": (FinalizeBody, "Record what was chosen for a slot."),
}
_NO_MEDIA: Final = {
    "type": "object",
    "description": "Media without an address is no media.",
    "properties": {"url": {"enum": ["", None]}, "kind": {}},
    "additionalProperties": False,
}
_REFUSALS: Final = {
    400: "The body breaks a rule; nothing was done.",
    403: "The caller may not do this.",
    404: "There is no such run, tool or route.",
    405: "The route takes another method.",
    409: "The choice cannot be recorded any more.",
    413: "The body is too large.",
    415: "The body is no JSON.",
    422: "The choice does not fit the slot.",
    500: "The model, or a tool, failed.",
    501: "The platform does not have what the route needs.",
    503: "No model answers; the message is for whoever runs the flow.",
}


def make_document() -> dict[str, JsonValue]:
    """The document of every route with a body."""
    schemas: dict[str, Any] = {
        "Error": {
            "type": "object",
            "properties": {"error": {"type": "string"}, "message": {"type": "string"}},
            "required": ["error"],
        }
    }
    paths: dict[str, Any] = {}
    for path, (model, about) in _BODIES.items():
        found = model.model_json_schema(by_alias=True, ref_template=f"{_SCHEMAS}/{{model}}")
        schemas.update(found.pop("$defs", {}))
        schemas[model.__name__] = found
        paths[path] = {"post": _describe_route(path, model.__name__, about)}
    schemas[BridgeBody.__name__]["properties"]["media"]["anyOf"].append(_NO_MEDIA)
    return {
        "openapi": "3.1.0",
        "info": {"title": "oasflow local platform", "version": "1"},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bridge": {"type": "apiKey", "in": "header", "name": "X-Cinatra-Bridge-Token"}
            },
        },
        "security": [{"bridge": []}, {}],
    }


def described(inner: App) -> App:
    """`inner`, with the two addresses above."""
    document = make_document()

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        asked = scope["type"] == "http" and scope["method"] == "GET"
        if asked and scope["path"] == DOCUMENT_PATH:
            await send_json(send, 200, document)
        elif asked and scope["path"] == HEALTH_PATH:
            await send_json(send, 200, {"status": "ok"})
        else:
            await inner(scope, receive, send)

    return app


def _describe_route(path: str, schema: str, about: str) -> dict[str, Any]:
    def answer(description: str, reference: str) -> dict[str, Any]:
        return {
            "description": description,
            "content": {"application/json": {"schema": {"$ref": f"{_SCHEMAS}/{reference}"}}},
        }

    responses: dict[str, Any] = {
        str(status): answer(text, "Error") for status, text in _REFUSALS.items()
    }
    responses["200"] = {"description": "The answer.", "content": {"application/json": {}}}
    return {
        "summary": about,
        "operationId": path.removeprefix("/api/").replace("/", "-"),
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"{_SCHEMAS}/{schema}"}}},
        },
        "responses": responses,
    }

"""The first turn as tools for a model: functions with closed schemas, whose answers never raise.

    tools = make_tools("work")                    for HostParts(tools=…)
    tools["read_context"](image_id="img-7")       {"success": True, "data": {"tastes": …, …}}
    tools["read_context"](image_id="../etc")      {"success": False, "error": {"code": "not_found", …}}
    tools["read_context"].describe()              {"type": "function", "function": {"name": …, …}}

Tools that propose are there where a store of proposals is given.  No tool confirms: a person does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.errors import FlowError
from cinatra_sdk.first_turn.first_turn_records import MAX_NAME, RECENT, Tell, notes_to_json, to_json
from cinatra_sdk.first_turn.proposals import MAX_CONTENT, Proposals, propose_note, propose_taste
from cinatra_sdk.first_turn.workspace import PathLike, find_image, read_context, read_full_notes
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.tool_loop import describe_function

Answer = dict[str, JsonValue]

_TEXT: Final[dict[str, JsonValue]] = {"type": "string", "maxLength": MAX_CONTENT}
_IMAGE: Final[dict[str, JsonValue]] = {
    "type": "string",
    "description": "The image's id.",
}
_COUNT: Final[dict[str, JsonValue]] = {"type": "integer", "minimum": 0}


def _closed(required: list[str], **properties: JsonValue) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": properties,
        "required": list[JsonValue](required),
        "additionalProperties": False,
    }


TOOL_SCHEMAS: Final[Mapping[str, tuple[str, dict[str, JsonValue]]]] = MappingProxyType(
    {
        "read_context": (
            "Read tastes, brief, notes, recent log and recent gaps of an image; call it first.",
            _closed(["image_id"], image_id=_IMAGE),
        ),
        "read_full_notes": (
            "Read the notes of an image line by line; offset and limit count lines.",
            _closed(["image_id"], image_id=_IMAGE, offset=_COUNT, limit=_COUNT),
        ),
        "propose_taste": (
            "Propose a paragraph for the person's tastes; it is written once a person confirms it.",
            _closed(
                ["content", "category"],
                content=_TEXT,
                category={"enum": ["appearance", "process", "value"]},
                file={"type": "string", "maxLength": MAX_NAME, "default": "_default.md"},
            ),
        ),
        "propose_note": (
            "Propose a paragraph for an image's notes; it is written once a person confirms it.",
            _closed(["image_id", "content"], image_id=_IMAGE, content=_TEXT),
        ),
    }
)
"""Name → what the tool does, and the closed JSON Schema of its input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTurnTool:
    """One tool; calling it answers, and raises nothing but what ends the program."""

    name: str
    answer: Callable[..., JsonValue] = field(repr=False)

    @property
    def description(self) -> str:
        return TOOL_SCHEMAS[self.name][0]

    @property
    def schema(self) -> dict[str, JsonValue]:
        return TOOL_SCHEMAS[self.name][1]

    def describe(self) -> dict[str, Any]:
        """The tool as models are told of it."""
        return describe_function(self.name, self.description, self.schema)

    def __call__(self, **given: Any) -> Answer:
        problem = first_problem(self.schema, given)
        if problem:
            return _make_error("invalid_input", f"{self.name}: {problem}")
        try:
            return {"success": True, "data": self.answer(**given)}
        except FlowError as error:
            return _make_error(error.code, str(error))


def make_tools(
    workspace: PathLike,
    *,
    tastes_dir: PathLike | None = None,
    limit: int = RECENT,
    proposals: Proposals | None = None,
    tell: Tell | None = None,
) -> Mapping[str, FirstTurnTool]:
    """The tools by name, for `tools=` of HostParts or of a call.

    workspace, tastes_dir, limit: as for `read_context`; proposals: where what is proposed waits.
    tell: hears the warnings of each reading, which are no part of an answer.
    """

    def read(image_id: str) -> JsonValue:
        turn = read_context(workspace, image_id, tastes_dir=tastes_dir, limit=limit)
        _tell_each(tell, turn.warnings)
        return to_json(turn)

    def read_notes(image_id: str, offset: int = 0, limit: int | None = None) -> JsonValue:
        notes = read_full_notes(workspace, image_id, offset=offset, limit=limit)
        _tell_each(tell, notes.warnings)
        return notes_to_json(notes)

    answers: dict[str, Callable[..., JsonValue]] = {
        "read_context": read,
        "read_full_notes": read_notes,
    }
    if proposals is not None:
        answers |= _make_proposing(workspace, proposals)
    tools = {name: FirstTurnTool(name=name, answer=answer) for name, answer in answers.items()}
    return MappingProxyType(tools)


def _make_proposing(
    workspace: PathLike, proposals: Proposals
) -> dict[str, Callable[..., JsonValue]]:
    def taste(content: str, category: str, file: str = "") -> JsonValue:
        made = propose_taste(proposals, content=content, category=category, file=file)
        return dict(made.to_json())

    def note(image_id: str, content: str) -> JsonValue:
        find_image(workspace, image_id)
        return dict(propose_note(proposals, content=content, image_id=image_id).to_json())

    return {"propose_taste": taste, "propose_note": note}


def _tell_each(tell: Tell | None, warnings: tuple[str, ...]) -> None:
    if tell is not None:
        for warning in warnings:
            tell(warning)


def _make_error(code: str, message: str) -> Answer:
    return {"success": False, "error": {"code": code, "message": message}}

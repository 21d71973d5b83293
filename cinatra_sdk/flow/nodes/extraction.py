r"""Values out of a text with JSON in it.

    'Here: ```json\n{"name": "Ada"}\n```', {"name": ".name"}   ->  {"name": "Ada"}

The text is looked through part by part, between its fences; of several parts that have a value the
first counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from pydantic import JsonValue

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.casting import CastError, cast
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.values.json_paths import JsonPath, PathError, parse_path, take_path
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

_FENCE: Final = "```"
_WORD: Final = "json"
_BRACKETS: Final = (("{", "}"), ("[", "]"))


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonExtraction(NodeWork):
    """Takes values out of a text with JSON in it."""

    kind: ClassVar[str] = "PluginExtractNode"
    ways: Mapping[str, str] = field(default_factory=dict)
    """Output → the way to its value: `.name`."""

    def make_body(self, site: NodeSite) -> NodeBody:
        read = [(title, parse_path(way)) for title, way in self.ways.items()]
        ways = [(title, path) for title, path in read if path is not None]
        return make_extraction(site.frame, text=site.plan.inputs[0].title, ways=ways)


def make_extraction(frame: Frame, *, text: str, ways: Sequence[tuple[str, JsonPath]]) -> NodeBody:
    """text: the input.  ways: output → the path to its value."""
    ports = {port.title: port for port in frame.outputs}

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        parts = list(find_json(str(frame.gather(state)[text])))
        if not parts:
            raise frame.failed("the text has no JSON in it", hint="see what gives the text")
        out: dict[str, Any] = {}
        for title, path in ways:
            port, value = ports[title], _take_first(parts, path)
            try:
                default = value is None and port.default is not None
                out[title] = (
                    port.default.value() if default and port.default else cast(value, port.type)
                )
            except CastError as error:
                raise frame.failed(f"output '{title}': {error}") from None
        return frame.finish(state, out)

    return NodeBody(run=run, computes=True)


def find_json(text: str) -> Iterator[JsonValue]:
    """The JSON values of a text: of each part between fences one, with or without words around it."""
    for part in text.split(_FENCE):
        stripped = part.strip()
        if stripped[: len(_WORD)].lower() == _WORD:
            stripped = stripped[len(_WORD) :].lstrip(": \n")
        for attempt in (stripped, *_cut_brackets(stripped)):
            try:
                yield read_json(attempt, to_keep=False)
            except NotStrictJson:
                continue
            break


def _cut_brackets(text: str) -> Iterator[str]:
    """From the first bracket to the last, the outer kind first."""
    spans = [(text.find(first), text.rfind(last)) for first, last in _BRACKETS]
    for begin, end in sorted(spans):
        if 0 <= begin < end:
            yield text[begin : end + 1]


def _take_first(parts: Sequence[JsonValue], path: JsonPath) -> JsonValue:
    for part in parts:
        try:
            value = take_path(path, part)
        except PathError:
            continue
        if value is not None:
            return value
    return None

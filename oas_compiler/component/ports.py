"""A Property of the file in, a `Port` of the IR out.

    {"title": "ids", "type": "array", "default": [], "json_schema": {"items": {"type": "string"}}}
        ->  Port(title="ids", type=array<string>, default=[],
                 schema={"items": {"type": "string"}, "type": "array"})

Cinatra's wrapper `json_schema` is merged in; keys beside it win.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from oas_compiler.findings.finding import Edit, Findings
from oas_compiler.ir import NOTHING, Json, JsonValue, Port, ScalarType
from oas_compiler.ir.type_names import brief
from oas_compiler.text.marks import child
from oas_compiler.text.source import Source
from oas_compiler.types.casting import castable, fits, type_of
from oas_compiler.types.schema_types import At, TypeReader

_NOT_SCHEMA = frozenset({"title", "default", "cinatra", "json_schema"})
_UNTITLED: Final = "property"
"""The title of a property without one, as Agent Spec has it."""
_NULL: Final = ScalarType("null")
_LONGEST_KEY: Final = 40
"""Characters of a key that can have been meant as a title."""


class PortReader:
    """Reads the ports of one document."""

    def __init__(
        self,
        source: Source,
        findings: Findings,
        *,
        is_plain: bool = False,
        is_silent: bool = False,
    ) -> None:
        self._source = source
        self._findings = findings
        self.is_plain = is_plain
        """Whether the text of Agent Spec decides, and not what Cinatra's files need."""
        self._types = TypeReader(source, findings)
        self.flawed: set[str] = set()
        """Pointers of the lists with an entry that could not be read."""
        self._silent: PortReader | None = None
        if not is_silent:
            self._silent = PortReader(source, Findings(), is_plain=is_plain, is_silent=True)

    def ports(
        self, properties: Iterable[JsonValue], pointer: str, *, told: Sequence[JsonValue] = ()
    ) -> tuple[Port, ...]:
        """The list of properties at `pointer`; a flawed one is reported and left out.

        `told`: properties that are read elsewhere too; flaws of an equal property are reported
        there, and not again here.
        """
        ports: dict[str, Port] = {}
        others = {_read_title(value): value for value in told if _read_title(value)}
        for index, value in enumerate(properties):
            other = others.get(_read_title(value), told[index] if index < len(told) else None)
            is_told = other is not None and other == value
            reader = self._silent if is_told and self._silent is not None else self
            port = reader._read_port(value, f"{pointer}/{index}")  # noqa: SLF001 - of the same kind
            if port is None:
                self.flawed.add(pointer)
                continue
            if port.title in ports:
                self._findings.error(
                    "OAS030",
                    f'the property "{port.title}" is declared twice',
                    port.place,
                    hint="remove one of the two, or give it a title of its own",
                )
                continue
            ports[port.title] = port
        return tuple(ports.values())

    def _read_port(self, value: JsonValue, pointer: str) -> Port | None:
        place = self._source.place(pointer)
        if not isinstance(value, dict):
            self._findings.error(
                "OAS029",
                "an input or output must be an object with a title",
                place,
                hint=f'write {{"title": "{value[:80]}", "type": "string"}}'
                if isinstance(value, str)
                else 'write {"title": "…", "type": "string"}',
            )
            return None
        wrapper = value.get("json_schema")
        inner = wrapper if isinstance(wrapper, dict) else {}
        merged = {**inner, **value}
        slip = _misspelt_title(value)
        untitled = _UNTITLED if self.is_plain and not slip else None
        title = merged.get("title", untitled)
        if not isinstance(title, str) or not title:
            self._findings.error(
                "OAS029",
                'an input or output has no "title"' + (f', it has "{slip[:80]}"' if slip else ""),
                self._source.place(child(pointer, slip)) if slip else place,
                hint='did you mean "title"?' if slip else 'add "title" with its name',
                fix=(Edit(pointer=child(pointer, slip), key="title"),) if slip else (),
            )
            return None
        schema = {name: part for name, part in merged.items() if name not in _NOT_SCHEMA}
        wrapped = frozenset(inner.keys() - value.keys())
        roots: tuple[tuple[JsonValue, str], ...] = ((value, pointer),)
        if inner:
            roots = ((inner, f"{pointer}/json_schema"), *roots)
        kind = self._types.read(schema, At(pointer=pointer, wrapped=wrapped, roots=roots))
        default = Json.of(merged["default"]) if "default" in merged else None
        port = Port(
            title=title,
            type=kind,
            schema=Json.of(schema),
            default=default,
            cinatra=Json.of(merged["cinatra"]) if "cinatra" in merged else NOTHING,
            place=place,
        )
        self._check_default(port, pointer if "default" in value else f"{pointer}/json_schema")
        return port

    def _check_default(self, port: Port, pointer: str) -> None:
        if port.default is None:
            return
        value = port.default.value()
        takes_null = not self.is_plain or castable(_NULL, port.type)
        if fits(value, port.type) and (value is not None or takes_null):
            return
        if self.is_plain:
            self._findings.error(
                "OAS078",
                f'the default of "{port.title}" is {brief(type_of(value))}, which cannot become '
                f"{brief(port.type)}",
                self._source.place(f"{pointer}/default"),
                hint=f"write a default of the type {brief(port.type)}, or leave it out",
            )
        else:
            self._findings.warning(
                "OAS031",
                f'the default of "{port.title}" is {brief(type_of(value))}, '
                f"its type is {brief(port.type)}",
                self._source.place(f"{pointer}/default"),
                hint=f"write a default of the type {brief(port.type)}, or leave it out",
            )


def _read_title(value: JsonValue) -> str:
    title = value.get("title") if isinstance(value, dict) else None
    return title if isinstance(title, str) else ""


def _misspelt_title(value: Mapping[str, JsonValue]) -> str:
    """The key that was meant to be the title: near to it, or what it is called elsewhere."""
    if "title" in value:
        return ""
    texts = [
        key for key, text in value.items() if isinstance(text, str) and len(key) < _LONGEST_KEY
    ]
    near = get_close_matches("title", texts, n=1, cutoff=0.6)
    return near[0] if near else "name" if "name" in texts else ""

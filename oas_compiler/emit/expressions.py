"""The work of nodes, their ports and types, as Python expressions.

ApiCall(url="https://h", method="GET")                  ->  ApiCall(method="GET", url="https://h")
TypedPort(title="topic", type=STRING, schema=…)         ->  port("topic", STRING)

Fields that have their usual value are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Final, TypeAlias

from cinatra_sdk.data.author_json import Json, SealedJson
from cinatra_sdk.data.ports import (
    ANY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    REFERENCE,
    STRING,
    ArrayType,
    ObjectType,
    ScalarType,
    Type,
    TypedPort,
    UnionType,
    describe_type,
)
from cinatra_sdk.data.sensitive_fields import read_name
from cinatra_sdk.flow.plan.plan import FlowPlan
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.document.scope import SENSITIVE_FIELDS
from oas_compiler.ir import FlowIR, JsonValue, McpListNode, McpToolNode, walk
from oas_compiler.ir.printout import ir_to_json, list_sealed

# ----------------------------------------------------------------------------
# Python expressions, laid out in lines of at most a hundred letters.
#
#     write(CallText("port", [("", "topic"), ("default", None)]))   ->   port("topic", default=None)
#
# Texts come out as literals that evaluate to the same text, whatever stands in them: a file is no
# source of code.


WIDTH: Final = 100
_INDENT: Final = 4
_LONG: Final = 60
"""Letters from which on a text of several lines is written as several lines."""
_SHORT_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}


@dataclass(frozen=True, slots=True)
class NameText:
    """Code as it is: `STRING`, `review.plan()`."""

    code: str


@dataclass(frozen=True, slots=True)
class CallText:
    """A call; an argument without a name stands by its place."""

    function: str
    arguments: Sequence[tuple[str, Expression]]


@dataclass(frozen=True, slots=True)
class ListText:
    """A list, or a tuple."""

    items: Sequence[Expression]
    brackets: str = "[]"


@dataclass(frozen=True, slots=True)
class DictText:
    """A dict."""

    members: Sequence[tuple[Expression, Expression]]


Expression: TypeAlias = (
    "NameText | CallText | ListText | DictText | str | int | float | bool | None"
)


def write(expression: Expression, *, indent: int = 0, before: int = 0, after: int = 0) -> str:
    """The text of an expression.

    indent: of the line on which it begins.  before, after: letters on its first line before it, and
    on its last line behind it.
    """
    flat = _write_flat(expression)
    if before + len(flat) + after <= WIDTH and "\n" not in flat and not _is_long(expression):
        return flat
    return "".join(_write_broken(expression, indent, flat))


_BUILD_COMMAND: Final = re.compile(r"#(?=#[A-Za-z]*\[)")
"""The first letter of `##[error]`, `##vso[…]`, which build runners obey anywhere in a line."""


def quote(text: str) -> str:
    """The literal of a text, on one line; no log of a build obeys it (`##[error]`)."""
    mark = "'" if '"' in text and "'" not in text else '"'
    written = "".join(_escape(letter, mark) for letter in text)
    return mark + _BUILD_COMMAND.sub(r"\\x23", written) + mark


def _escape(letter: str, mark: str) -> str:
    if letter == mark:
        return "\\" + letter
    if letter in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[letter]
    if letter.isprintable():
        return letter
    code = ord(letter)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _write_flat(expression: Expression) -> str:
    if isinstance(expression, NameText):
        return expression.code
    if isinstance(expression, str):
        return quote(expression)
    if isinstance(expression, CallText):
        given = (
            f"{name}={_write_flat(value)}" if name else _write_flat(value)
            for name, value in expression.arguments
        )
        return f"{expression.function}({', '.join(given)})"
    if isinstance(expression, ListText):
        opened, closed = expression.brackets[0], expression.brackets[1]
        items = [_write_flat(item) for item in expression.items]
        last = "," if len(items) == 1 and opened == "(" else ""
        return f"{opened}{', '.join(items)}{last}{closed}"
    if isinstance(expression, DictText):
        members = (f"{_write_flat(key)}: {_write_flat(value)}" for key, value in expression.members)
        return "{" + ", ".join(members) + "}"
    return repr(expression)


def _is_long(expression: Expression) -> bool:
    """Whether a text stands in it that is better read in several lines."""
    if isinstance(expression, str):
        return len(expression) > _LONG and "\n" in expression.rstrip("\n")
    if isinstance(expression, CallText):
        return any(_is_long(value) for _, value in expression.arguments)
    if isinstance(expression, ListText):
        return any(_is_long(item) for item in expression.items)
    if isinstance(expression, DictText):
        return any(_is_long(value) for _, value in expression.members)
    return False


def _write_broken(expression: Expression, indent: int, flat: str) -> Iterator[str]:
    inner = indent + _INDENT
    pad, end = "\n" + " " * inner, "\n" + " " * indent
    if isinstance(expression, str):
        lines = list(_split_text(expression, WIDTH - inner - 2))
        if len(lines) < 2:
            yield flat
            return
        yield "("
        yield from (pad + quote(line) for line in lines)
        yield end + ")"
    elif isinstance(expression, CallText) and expression.arguments:
        if len(expression.arguments) == 1 and isinstance(
            expression.arguments[0][1], (DictText, ListText)
        ):
            # `Json.of({…})`: the brackets of the one argument are enough.
            name, value = expression.arguments[0]
            begin = f"{expression.function}({name}=" if name else f"{expression.function}("
            yield begin + write(value, indent=indent, before=WIDTH, after=1) + ")"
            return
        yield f"{expression.function}("
        for name, value in expression.arguments:
            begin = f"{name}=" if name else ""
            yield pad + begin + write(value, indent=inner, before=inner + len(begin), after=1) + ","
        yield end + ")"
    elif isinstance(expression, ListText) and expression.items:
        opened, closed = expression.brackets[0], expression.brackets[1]
        yield opened
        for item in expression.items:
            yield pad + write(item, indent=inner, before=inner, after=1) + ","
        yield end + closed
    elif isinstance(expression, DictText) and expression.members:
        yield "{"
        for key, value in expression.members:
            begin = f"{_write_flat(key)}: "
            yield pad + begin + write(value, indent=inner, before=inner + len(begin), after=1) + ","
        yield end + "}"
    else:
        yield flat


def _split_text(text: str, width: int) -> Iterator[str]:
    """The text in pieces that together are the text: its lines, long ones cut behind blanks."""
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        yield from _split_line(line, width)


def _split_line(line: str, width: int) -> Iterator[str]:
    """Each piece is looked at once, so that a long text takes no longer than its length says."""
    at = 0
    while len(line) - at > width - 10:
        window = line[at : at + width - 10]
        while len(quote(window)) > width + 2:  # escapes are longer than letters
            window = window[: len(window) * 3 // 4]
        cut = window.rfind(" ") + 1 or len(window)
        yield line[at : at + cut]
        at += cut
    if at < len(line):
        yield line[at:]


# ----------------------------------------------------------------------------
# Values that do not get into the text of a module: the process lends them.
#
#     {"Authorization": "Bearer s3cret"}      ->  {"$component_ref": "call.sensitive_headers"}
#     {"Authorization": "Bearer {{TOKEN}}"}   ->  stays: nothing of a credential stands there
#
# The names are those of Agent Spec's sensitive fields, and `HostParts(secrets=…)` has their values.


_PLACEHOLDER: Final = re.compile(r"\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}")
"""Of the environment, or of an input; not an expression, which may spell anything."""
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|apikey|api-key|key) ", re.IGNORECASE)
FILES_OF_KEYS: Final = frozenset(
    {"key_file", "cert_file", "ca_file", "ssl_ca_cert", "ssl_cert", "ssl_key"}
)
"""Sensitive fields that hold the name of a file; not what is in it."""
_PARAMETERS: Final = "default_generation_parameters"
"""Parameters of a model: a provider's `user` is no login, and nothing lends what stands there."""
_ALWAYS_SECRET: Final = frozenset({"api_key", "client_secret", "credentials", "password"})


class EmitRefused(Exception):
    """A flow that cannot become a module; says why."""


class LentNames:
    """The names that stand for values in one module; taken: those that the file has already."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.values: dict[str, JsonValue] = {}
        self.taken = frozenset(taken)

    def replace_all(self, owner: str, field: str, value: dict[str, JsonValue]) -> JsonValue:
        """A sensitive object, without its literal values; owner: whose field it is."""
        return value if _is_written(value) else self._name(owner, field, value)

    def replace_fields(self, owner: str, value: JsonValue) -> JsonValue:
        """`value` without the literal values of sensitive fields anywhere in it.

        Raises: `EmitRefused` for a credential among the parameters of a model.
        """
        if isinstance(value, list):
            return [self.replace_fields(owner, item) for item in value]
        if not isinstance(value, dict):
            return value
        named = value.get("id")
        owner = named if isinstance(named, str) and named else owner
        return {key: self._replace_field(owner, key, member) for key, member in value.items()}

    def _replace_field(self, owner: str, key: str, member: JsonValue) -> JsonValue:
        if key == _PARAMETERS:
            _refuse_secrets(owner, member)
            return member
        is_file = key in FILES_OF_KEYS and isinstance(member, str) and "\n" not in member
        if key not in SENSITIVE_FIELDS or is_file:
            return self.replace_fields(owner, member)
        if member in (None, "", {}) or read_name(member) or _is_written(member):
            return member
        return self._name(owner, key, member)

    def _name(self, owner: str, field: str, value: JsonValue) -> JsonValue:
        name, number = f"{owner}.{field}", 1
        while name in self.taken or self.values.setdefault(name, value) != value:
            number += 1
            name = f"{owner}_{number}.{field}"
        return {REFERENCE: name}


def find_names(flow: FlowIR) -> frozenset[str]:
    """The names that stand for sensitive values in the file itself."""
    servers = [
        node.server for _, node in walk(flow) if isinstance(node, (McpToolNode, McpListNode))
    ]
    held: list[JsonValue] = [sealed.value() for sealed in list_sealed(flow)]
    held += [server.settings.value() for server in servers]
    held.append(ir_to_json(flow))
    return frozenset(name for value in held for name in _iterate_names(value))


def _iterate_names(value: JsonValue) -> Iterable[str]:
    name = read_name(value)
    if name:
        yield name
    elif isinstance(value, dict):
        for member in value.values():
            yield from _iterate_names(member)
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_names(item)


def _refuse_secrets(owner: str, parameters: JsonValue) -> None:
    for key in parameters if isinstance(parameters, dict) else ():
        if key in _ALWAYS_SECRET:
            raise EmitRefused(
                f"the parameters of the model of '{owner}' have a credential, '{key}': nothing lends "
                "it there; take it out, or give the model its api_key"
            )


def _is_written(value: JsonValue) -> bool:
    """Whether every text in it is made of placeholders, but for a word such as Bearer before one."""
    if read_name(value):
        return True
    if isinstance(value, dict):
        return all(_is_written(member) for member in value.values())
    if isinstance(value, list):
        return all(_is_written(item) for item in value)
    if not isinstance(value, str):
        return value is None or isinstance(value, bool)
    text = value.strip()
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    return not text or (not _PLACEHOLDER.sub("", rest).strip() and bool(rest.strip()))


_SCALARS: Final[Mapping[ScalarType, str]] = {
    ANY: "ANY", STRING: "STRING", INTEGER: "INTEGER", NUMBER: "NUMBER", BOOLEAN: "BOOLEAN",
    NULL: "NULL",
}  # fmt: skip
_PARTS: Final = "cinatra_sdk.flow"
"""The one path from which a module takes what a graph is made of."""
_OF_COMPONENTS: Final = ("llm", "settings")
"""Fields with components of Agent Spec, whose members have the names of sensitive fields; a body or a
schema may have a member `user`, too.
"""


class Records:
    """Expressions of one module; knows what the module has to import."""

    def __init__(self, names: LentNames) -> None:
        self.imports: dict[str, set[str]] = {}
        """Module → names."""
        self._names = names

    def take(self, name: str, module: str = _PARTS) -> str:
        """`name`, which the module then imports."""
        self.imports.setdefault(module, set()).add(name)
        return name

    def write_record(self, record: Any, owner: str, flows: Mapping[int, str]) -> CallText:
        """A frozen record; owner: the node that has it.  flows: `id()` of a plan → its variable."""
        kind = type(record)
        arguments: list[tuple[str, Expression]] = []
        for field in fields(record):
            value = getattr(record, field.name)
            if _is_usual(field, value):
                continue
            arguments.append((field.name, self._write(value, field.name, owner, flows)))
        return CallText(self.take(kind.__name__), arguments)

    def write_ports(self, ports: Sequence[TypedPort]) -> ListText:
        return ListText([self.write_port(one) for one in ports])

    def write_port(self, one: TypedPort) -> CallText:
        arguments: list[tuple[str, Expression]] = [("", one.title)]
        if one.type != ANY:
            arguments.append(("", self._write_type(one.type)))
        if one.schema != Json.of(describe_type(one.type)):
            arguments.append(("schema", write_json(one.schema.value())))
        if one.default is not None:
            arguments.append(("default", write_json(one.default.value())))
        return CallText(self.take("port"), arguments)

    def _write(self, value: Any, field: str, owner: str, flows: Mapping[int, str]) -> Expression:
        if isinstance(value, SealedJson):
            return self._write_sealed(value, field, owner)
        if isinstance(value, Json):
            return self._write_frozen(value, field, owner)
        if isinstance(value, FlowPlan):
            return NameText(f"{flows[id(value)]}.plan()")
        if isinstance(value, TypedPort):
            return self.write_port(value)
        if isinstance(value, (ScalarType, ArrayType, ObjectType, UnionType)):
            return self._write_type(value)
        if is_dataclass(value):
            return self.write_record(value, owner, flows)
        if isinstance(value, frozenset):
            items = [self._write(item, field, owner, flows) for item in sorted(value)]
            return CallText("frozenset", [("", ListText(items))] if items else [])
        if isinstance(value, (tuple, list)):
            items = [self._write(item, field, owner, flows) for item in value]
            return ListText(items, "()")
        if isinstance(value, Mapping):
            return DictText(
                [(key, self._write(one, field, owner, flows)) for key, one in value.items()]
            )
        assert value is None or isinstance(value, (str, int, float)), value
        return value

    def _write_frozen(self, value: Json, field: str, owner: str) -> Expression:
        shown = value.value()
        if field in _OF_COMPONENTS:
            shown = self._names.replace_fields(owner, shown)
        name = self.take("Json")
        return CallText(f"{name}.of", [("", write_json(shown))])

    def _write_sealed(self, value: SealedJson, field: str, owner: str) -> Expression:
        """A sensitive object: of a request its headers, else one with several such objects."""
        held = value.mapping()
        shown: JsonValue
        if field == "login":
            shown = self._names.replace_fields(owner, held)
        elif field == "sensitive":
            shown = {
                key: self._names.replace_all(owner, key, one)
                if isinstance(one, dict)
                else self._names.replace_fields(owner, {key: one})
                for key, one in held.items()
            }
        else:
            shown = self._names.replace_all(owner, field, held)
        name = self.take("SealedJson")
        return CallText(f"{name}.of", [("", write_json(shown))])

    def _write_type(self, of: Type) -> Expression:
        if isinstance(of, ScalarType):
            return NameText(self.take(_SCALARS[of]))
        if isinstance(of, ArrayType):
            return CallText(self.take("ArrayType"), [("", self._write_type(of.items))])
        if isinstance(of, UnionType):
            options = ListText([self._write_type(one) for one in of.options], "()")
            return CallText(self.take("UnionType"), [("", options)])
        arguments: list[tuple[str, Expression]] = []
        if of.properties:
            members = [ListText([name, self._write_type(one)], "()") for name, one in of.properties]
            arguments.append(("properties", ListText(members, "()")))
        if of.additional != ANY:
            allowed = None if of.additional is None else self._write_type(of.additional)
            arguments.append(("additional", allowed))
        if of.required:
            arguments.append(("required", ListText(of.required, "()")))
        return CallText(self.take("ObjectType"), arguments)


def write_json(value: JsonValue) -> Expression:
    if isinstance(value, dict):
        return DictText([(key, write_json(member)) for key, member in value.items()])
    if isinstance(value, list):
        return ListText([write_json(item) for item in value])
    return value


def _is_usual(field: Field[Any], value: Any) -> bool:
    if field.default is not MISSING:
        return bool(value == field.default)
    if field.default_factory is not MISSING:
        return bool(value == field.default_factory())
    return False

"""References: which definition a `$component_ref` means at the place where it stands.

In: a `Source`.  Out: `Document.locate(value, pointer, scope)` -> the value that is meant, with
the place and scope of its definition; unknown names and circles are findings.

Two kinds of file, one rule each:
    Cinatra (the root flow has metadata.cinatra): a flow with its own `$referenced_components`
        sees only those, so `start` may be defined once in every flow;
    plain Agent Spec: names are looked up outwards through the enclosing components, so one
        name is defined once in the whole document (`survey.py` reports a second one).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import Final

from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.data.ports import REFERENCE, REFERENCE_MARK
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Findings, nearest
from oas_compiler.ir import JsonValue, Place
from oas_compiler.text.marks import child
from oas_compiler.text.source import Source

# ----------------------------------------------------------------------------
# Whether a document is plain Agent Spec, or has a sign of Cinatra or of WayFlow.
#
#     {"component_type": "Flow", …}                                          ->  plain
#     the same with "metadata": {"cinatra": …} at a node, or a call of {{CINATRA_BASE_URL}}  ->  not
#     the same with an ExtendedToolNode                                      ->  not
#
# The text of Agent Spec decides about a plain document.  Files of the others mean more by a template,
# and lead values of unknown types into named ones.


_WAYFLOW: Final = ("Plugin", "Extended")
"""What the types of WayFlow begin with."""


def is_plain(document: JsonValue) -> bool:
    """In: the document as written."""
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if BASE_URL in one:
                return False
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            kind, metadata = one.get("component_type"), one.get("metadata")
            if isinstance(kind, str) and kind.startswith(_WAYFLOW):
                return False
            if isinstance(metadata, dict) and "cinatra" in metadata:
                return False
            waiting += one.values()
    return True


# ----------------------------------------------------------------------------
# Sensitive fields: their values may stand elsewhere, under the name `<id>.<field>`.
#
# {"api_key": {"$component_ref": "gpt.api_key"}}    ->  keep_name("gpt.api_key", "text")
#
# A reference that the document does not define is kept as it is; the host's value is put in where the
# field is used, and nowhere else (`cinatra_sdk.data.sensitive_fields`).
# Source: Agent Spec, SensitiveField.


SENSITIVE_FIELDS: Final = frozenset(
    {
        "api_key",
        "auth_file_location",
        "ca_file",
        "cert_file",
        "client_secret",
        "credentials",
        "dsn",
        "key_file",
        "password",
        "sensitive_headers",
        "ssl_ca_cert",
        "ssl_cert",
        "ssl_crl",
        "ssl_key",
        "sslkey",
        "wallet_location",
        "wallet_password",
    }
)


_NAMED_FIELDS: Final = SENSITIVE_FIELDS | {"client_id", "client_id_metadata_url", "user"}
"""Those of which SDKs write a name; of these three, a request's body may have members, too."""


def is_sensitive_name(name: str) -> bool:
    """Whether the name is `<id>.<field>` of a sensitive field."""
    return "." in name and name.rpartition(".")[2] in _NAMED_FIELDS


def is_exported(name: str, pointer: str) -> bool:
    """Whether the reference at `pointer`, a field or a member of it, is one of those that SDKs write
    for a sensitive field.
    """
    field = name.rpartition(".")[2]
    return is_sensitive_name(name) and field in pointer.split("/")[-2:]


def keep_name(name: str, kind: str) -> JsonValue:
    """What stands in a field of that kind for the reference."""
    return REFERENCE_MARK + name if kind == "text" else {REFERENCE: name}


DEFINITIONS = "$referenced_components"


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The definitions that can be seen from one place."""

    block: dict[str, JsonValue]
    pointer: str
    """Of the block, `…/$referenced_components`."""
    outer: Scope | None = None

    def find(self, name: str) -> Located | None:
        """The innermost definition of `name`."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.block:
                return Located(scope.block[name], child(scope.pointer, name), scope)
            scope = scope.outer
        return None

    def key_of(self, id_: str) -> str:
        """The name under which the component with an id is defined; empty where there is none."""
        for name, value in self.block.items():
            if isinstance(value, dict) and value.get("id") == id_:
                return name
        return ""

    def names(self) -> set[str]:
        scope: Scope | None = self
        seen: set[str] = set()
        while scope is not None:
            seen |= scope.block.keys()
            scope = scope.outer
        return seen


@dataclass(frozen=True, slots=True, eq=False)
class Located:
    """A value together with the place and scope of its definition."""

    value: JsonValue
    pointer: str
    scope: Scope

    @property
    def component_type(self) -> str:
        """Empty when this is not a component."""
        kind = self.value.get("component_type") if isinstance(self.value, dict) else None
        return kind if isinstance(kind, str) else ""


@dataclass(slots=True)
class _UnknownName:
    """A name that no definition in scope has."""

    place: Place
    """Of the first reference."""
    scope: Scope
    references: int = 1


def is_reference(value: object) -> bool:
    return isinstance(value, dict) and REFERENCE in value


class Document:
    """One source with its references."""

    def __init__(self, source: Source, value: JsonValue, findings: Findings) -> None:
        """`value` is the source's value, after environment placeholders were filled in."""
        self.source = source
        self.value = value
        self.findings = findings
        self._targets: dict[str, Located | None] = {}
        self._undefined: dict[tuple[str, str], _UnknownName] = {}
        """By the name and the block in which it was looked up."""
        self._has_reported = False
        self.is_cinatra = False
        top = self.enter(Located(value, "", Scope({}, "")))
        self.top = top
        """The document itself, a component or a reference to one."""
        self.root = self.locate(top)
        self.is_cinatra = self.root is not None and read_cinatra(self.root.value) is not None

    @cached_property
    def is_plain(self) -> bool:
        """Whether nothing in it is Cinatra's or WayFlow's: the text of Agent Spec decides."""
        return is_plain(self.source.value)

    def enter(self, located: Located) -> Located:
        """The same component, seen with the definitions that it brings along."""
        value = located.value
        block = value.get(DEFINITIONS) if isinstance(value, dict) else None
        if not isinstance(block, dict):
            return located
        strict = self.is_cinatra and located.component_type == "Flow"
        outer = None if strict else located.scope
        return Located(
            value, located.pointer, Scope(block, f"{located.pointer}/{DEFINITIONS}", outer)
        )

    def locate(self, start: Located) -> Located | None:
        """Follow references until something else is found; `None` after a finding.

        Every reference is followed and reported once, however often it is asked for.
        """
        if not is_reference(start.value):
            return start
        path: dict[str, None] = {}
        current: Located | None = start
        while current is not None and is_reference(current.value):
            if current.pointer in self._targets:
                current = self._targets[current.pointer]
                break
            path[current.pointer] = None
            current = self._follow_reference(current, path)
        # every reference on the way means the same, so that a long chain is walked once
        self._targets.update(dict.fromkeys(path, current))
        return current

    def _follow_reference(self, current: Located, path: Mapping[str, None]) -> Located | None:
        """The definition that one reference names."""
        assert isinstance(current.value, dict)
        name = current.value[REFERENCE]
        place = self.source.place(f"{current.pointer}/{REFERENCE}")
        if not isinstance(name, str):
            self.findings.error(
                "OAS013",
                "a $component_ref must be a string",
                place,
                hint='write the name of a component: {"$component_ref": "…"}',
            )
            return None
        target = current.scope.find(name)
        if target is None:
            if not is_exported(name, current.pointer):
                self._note_unknown_name(name, current)
        elif target.pointer in path and is_reference(target.value):
            self.findings.error(
                "OAS011",
                f'the reference "{name}" leads back to itself',
                place,
                hint="define the component itself under this name",
            )
            return None
        return target

    def lacks(self, name: object, block: str) -> bool:
        """Whether a reference with this name was looked up in a block in vain, which was reported."""
        return isinstance(name, str) and (name, block) in self._undefined

    def _note_unknown_name(self, name: str, at: Located) -> None:
        """Count one more reference to a name that a scope lacks."""
        key = name, at.scope.pointer
        known = self._undefined.get(key)
        if known is not None:
            known.references += 1
            return
        place = self.source.place(f"{at.pointer}/{REFERENCE}")
        self._undefined[key] = unknown = _UnknownName(place, at.scope)
        if self._has_reported:
            self._report_unknown_name(name, unknown)

    def report_unknown_names(self) -> None:
        """Record one finding for each name that a scope lacks, however many references have it.

        For the end of reading, when all references are counted; names that a rule looks up later
        get their findings at once.
        """
        self._has_reported = True
        for (name, _), unknown in self._undefined.items():
            self._report_unknown_name(name, unknown)

    def _report_unknown_name(self, name: str, unknown: _UnknownName) -> None:
        counted = f" ({unknown.references} references)" if unknown.references > 1 else ""
        message = f'no component "{name}" is defined here{counted}'
        self.findings.error(
            "OAS010", message, unknown.place, hint=self._hint_at(name, unknown.scope)
        )

    def _hint_at(self, name: str, scope: Scope) -> str:
        """What a reference with an unknown name may mean."""
        key = scope.key_of(name)
        hint = f'"{key[:80]}" has this id: define it as "{name[:80]}"' if key else ""
        hint = hint or nearest(name, scope.names(), self.findings)
        if not hint and self.is_cinatra:
            return "a flow with its own $referenced_components sees only those"
        return hint or "if another file defines it, give that file too: components=, --components"


def read_cinatra(value: JsonValue) -> dict[str, JsonValue] | None:
    """`metadata.cinatra` of a component as written; `None` where it is no object."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    found = metadata.get("cinatra") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else None


# ----------------------------------------------------------------------------
# What the readers of a document could not take, as facts that rules ask for.
#
# A rule says nothing about a place that was reported already.  It asks the subject for the places, and
# knows neither codes nor sentences of other findings:
#
#     subject.unread(Unread.KIND_OF_VALUE)  ->  frozenset({"/nodes/3"})


class Unread(Enum):
    """One way in which a place of the document cannot be read; its value is the finding's code."""

    UNKNOWN_REFERENCE = "OAS010"
    CIRCULAR_REFERENCE = "OAS011"
    REFERENCE_NOT_TEXT = "OAS013"
    KIND_OF_COMPONENT = "OAS014"
    YAML_WORD = "OAS018"
    """A word such as `yes` that readers of YAML understand differently."""
    KIND_OF_VALUE = "OAS022"
    MISSING = "OAS023"
    VERSION = "OAS025"
    COMPONENT_TYPE = "OAS026"
    KIND_REFUSED = "OAS055"
    """The package that adds the type of the component cannot be used."""
    SCHEMA_TYPE = "OAS037"
    START_INPUTS = "OAS068"
    """The inputs of a flow and of its StartNode differ."""
    TEMPLATE = "OAS080"
    TEMPLATE_NAME = "OAS081"
    """A template uses a name that is no input."""

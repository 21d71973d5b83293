"""YAML text in, value and positions out, and the places that other readers would read differently.

    a: 1        ->  {"a": 1, "b": "no"} and the offset of "a" and "b"
    b: no       ->  `no` at 2:4 is a string here, and false by YAML 1.1

`cinatra_sdk.data.text.yaml_reader` reads the text; this module turns the reader's flaws into findings.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

import yaml

from cinatra_sdk.data.text import yaml_reader
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue, Place
from oas_compiler.text.input_bounds import MAX_DEPTH, MAX_FINDINGS, MAX_VALUES
from oas_compiler.text.marks import Marks

_SHORT_NUMBER: Final = 6
"""Characters of a number that is repeated in a hint."""
_LONGEST: Final = 64
"""Characters of a scalar that YAML 1.1 may read otherwise: a number, a date, a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherReading:
    """A scalar without quotes that a reader of YAML 1.1 reads as another value."""

    text: str
    here: str
    """Its kind in YAML 1.2: "a string", "a number"."""
    there: str
    """Its kind in YAML 1.1."""
    place: Place
    plain: str = ""
    """The same number without signs that YAML 1.1 reads otherwise: `17` for `017`; of a long one,
    which may be a credential, nothing."""


@dataclass(slots=True)
class YamlDocument:
    """A document that was read."""

    value: JsonValue
    marks: Marks
    others: list[OtherReading] = field(default_factory=list)


def read_yaml(text: str, findings: Findings) -> YamlDocument | None:
    """Decode `text`; `None` when it cannot be read, with the findings that say why."""
    marks = Marks(text)
    found = YamlDocument(None, marks)

    def compare(scalar: str, value: JsonValue, offset: int) -> None:
        if len(found.others) < MAX_FINDINGS and (there := _find_pyyaml_reading(scalar, value)):
            place = marks.at(offset)
            other = OtherReading(
                text=scalar,
                here=_name_scalar(value),
                there=there,
                place=place,
                plain=_format_plain_number(scalar, value),
            )
            found.others.append(other)

    reading = yaml_reader.read_yaml(
        text, add=marks.add, plain=compare, max_depth=MAX_DEPTH, max_values=MAX_VALUES
    )
    for flaw in reading.flaws:
        _report_flaw(flaw, marks.at(flaw.offset), findings)
    found.value = reading.value
    return None if reading.flaws else found


def _report_flaw(flaw: yaml_reader.YamlFlaw, place: Place, findings: Findings) -> None:
    message = flaw.message.replace("{name}", flaw.name)
    match flaw.kind:
        case "empty":
            findings.error("OAS004", message)
        case "syntax":
            findings.error("OAS004", f"not YAML: {message}", place, hint=flaw.hint)
        case "twice":
            findings.error("OAS005", message, place, hint=flaw.hint)
        case "bounds":
            findings.error("OAS006", message, place)
        case _:
            findings.error("OAS008", message, place, hint=flaw.hint)


def tell_other_readings(found: YamlDocument, findings: Findings) -> None:
    """Report OAS018 for every scalar that other readers read as another value."""
    for other in found.others:
        # Words are shown; anything else may be a credential that another rule keeps to itself.
        is_word = other.text.isalpha() or other.text in {"<<", "="}
        what = f'"{other.text}"' if is_word else "this scalar"
        there = "another number" if other.there == other.here else other.there
        findings.warning(
            "OAS018",
            f"without quotes, {what} is {other.here} in YAML 1.2 and {there} in YAML 1.1",
            other.place,
            hint=_suggest_spelling(other),
        )


def _suggest_spelling(other: OtherReading) -> str:
    """The spelling that all readers agree on."""
    if other.text == "<<":
        return "write the keys out"
    if other.plain:
        return f'write {other.plain}, or "{other.text}" where it is a string'
    if other.there in {"true", "false", "null"} and other.text.isalpha():
        return f'write "{other.text}" in quotes, or {other.there}'
    return "quote it where it is a string"


# ------------------------------------------------------------------------ as YAML 1.1 has it

_RESOLVERS: Final = yaml.SafeLoader.yaml_implicit_resolvers
_TAG: Final = "tag:yaml.org,2002:"
_WORDS: Final = {
    "timestamp": "a date",
    "merge": "a merge of other keys",
    "value": "a default value",
}


def _find_pyyaml_reading(text: str, value: JsonValue) -> str:
    """What PyYAML, which Agent Spec's own tools use, makes of a scalar; empty where it agrees."""
    if not text or len(text) > _LONGEST:
        return ""
    candidates = _RESOLVERS.get(text[0], ())
    tag = next((tag for tag, pattern in candidates if pattern.match(text)), f"{_TAG}str")
    kind = tag.removeprefix(_TAG)
    if kind in _WORDS:
        return _WORDS[kind]
    other: object = text
    if kind != "str":
        node = yaml.ScalarNode(tag, text)
        try:
            other = yaml.SafeLoader.yaml_constructors[tag](yaml.constructor.SafeConstructor(), node)
        except ValueError:
            return "no value at all"
    same = type(other) is type(value) and (other == value or other != other)  # noqa: PLR0124 - NaN
    return "" if same else _name_scalar(other)


def _format_plain_number(text: str, value: JsonValue) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    return repr(value) if len(text) <= _SHORT_NUMBER and len(repr(value)) <= _SHORT_NUMBER else ""


def _name_scalar(value: object) -> str:
    match value:
        case str():
            return "a string"
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
    return "a number"

"""Cards of the findings while a document is read: OAS001 to OAS009, OAS018."""

from __future__ import annotations

from oas_compiler.findings.rules import Rule

READING: tuple[Rule, ...] = (
    Rule(
        code="OAS001",
        name="unreadable-path",
        severity="error",
        summary="The path cannot be read, the folder holds no flow, or the input is no path, bytes "
        "or mapping.",
        fix="Name the file, or a folder with `cinatra/oas.json`, `oas.json` or `agent.json`.",
        source="oasflow, reading",
        bad="oasflow check agents/email/src",
        good="oasflow check agents/email",
    ),
    Rule(
        code="OAS002",
        name="document-too-large",
        severity="error",
        summary="The document is too large: 8 MB of JSON, 512 kB of YAML.",
        fix="Split the flow into subflows in files of their own.",
        source="oasflow, bounds",
        bad="a flow of 9 MB",
        good="the same flow without data that belongs into files of its own",
    ),
    Rule(
        code="OAS003",
        name="not-utf8",
        severity="error",
        summary="The document is not UTF-8.",
        fix="Save it as UTF-8. A byte order mark is accepted.",
        source="JSON (RFC 8259), section 8.1",
        bad='"name": "Caf\\xe9"   (one byte, Latin-1)',
        good='"name": "Café"   (UTF-8)',
    ),
    Rule(
        code="OAS004",
        name="syntax",
        severity="error",
        summary="The text is not JSON or YAML, or is empty.",
        fix="Fix the syntax at the line and column shown.",
        source="JSON (RFC 8259); YAML 1.2",
        bad='{"id": "a" "name": "A"}',
        good='{"id": "a", "name": "A"}',
    ),
    Rule(
        code="OAS005",
        name="key-twice",
        severity="error",
        summary="A key stands twice in one object.",
        fix="Keep one of the two.",
        source="JSON (RFC 8259), section 4",
        bad='{"id": "a", "id": "b"}',
        good='{"id": "a"}',
    ),
    Rule(
        code="OAS006",
        name="document-too-deep",
        severity="error",
        summary="The document nests deeper than 64 levels, holds more than 500,000 values, has a "
        "pointer of over 4,000 characters, or is a mapping that contains itself.",
        fix="Move inner flows to `$referenced_components`.",
        source="oasflow, bounds",
        bad='{"a": {"a": {"a": …}}}   (65 levels)',
        good='{"a": {"$component_ref": "inner"}, "$referenced_components": {"inner": …}}',
    ),
    Rule(
        code="OAS007",
        name="value-not-storable",
        severity="error",
        summary="A value cannot be stored: NaN, infinity, an integer beyond 64 bits, NUL in a "
        "string, half a surrogate pair.",
        fix="Write large numbers as strings.",
        source="oasflow, bounds",
        bad='{"default": 18446744073709551616}',
        good='{"default": "18446744073709551616"}',
    ),
    Rule(
        code="OAS008",
        name="yaml-beyond-json",
        severity="error",
        summary="YAML beyond JSON's data model: anchor, alias, tag, several documents, a key that "
        "is null, a list or a mapping.",
        fix="Write `key: [1, 2]` out twice instead of `&a` and `*a`.",
        source="oasflow, reading",
        bad="inputs: &ports [topic]\noutputs: *ports",
        good="inputs: [topic]\noutputs: [topic]",
    ),
    Rule(
        code="OAS009",
        name="mapping-beyond-json",
        severity="error",
        summary="A Python mapping holds something that is not JSON, or raises when it is read.",
        fix="Convert dates and objects to strings; use strings as keys.",
        source="oasflow, reading",
        bad='check({"id": "a", "name": date(2026, 1, 1)})',
        good='check({"id": "a", "name": "2026-01-01"})',
    ),
    Rule(
        code="OAS018",
        name="yaml-read-differently",
        severity="warning",
        summary="A YAML scalar without quotes has one value in YAML 1.2, which oasflow reads, and "
        "another value in YAML 1.1, which Agent Spec's own tools read: `no`, `017`, `1:30`, `1_000`, "
        "`2026-01-01`, `1e3`, `<<`.",
        fix="Put quotes around a string; write a number in plain decimal form.",
        source="YAML 1.2, section 10.3; YAML 1.1 as PyYAML reads it",
        bad="description: no\ndefault: 017",
        good='description: "no"\ndefault: 17',
    ),
)

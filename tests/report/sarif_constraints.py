"""What the published SARIF 2.1.0 schema asks of the parts that a report of ours has.

Written by hand after the standard (sections 3.13 to 3.58) and stricter than it: a member that is
not listed here is one that our reports do not have.  `test_sarif.py` checks against the published
schema as well, where it is at hand.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def closed(required: str, optional: str = "", **properties: Schema) -> Schema:
    wanted = required.split()
    assert {*wanted, *optional.split()} == set(properties)
    return {
        "type": "object",
        "required": wanted,
        "properties": properties,
        "additionalProperties": False,
    }


def some(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


TEXT: Schema = {"type": "string"}
POSITIVE: Schema = {"type": "integer", "minimum": 1}
LEVEL: Schema = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = closed("text", "markdown", text=TEXT, markdown=TEXT)
ARTIFACT = closed(
    "uri",
    # RFC 3986: no blank, no control character, nothing but ASCII, and % only before two digits
    uri={"type": "string", "pattern": r"^(file://)?([A-Za-z0-9\-._~/]|%[0-9A-F]{2})+$"},
)
REGION = closed(
    "startLine",
    "startColumn endLine endColumn",
    startLine=POSITIVE,
    startColumn=POSITIVE,
    endLine=POSITIVE,
    endColumn=POSITIVE,
)
LOCATION = closed(
    "logicalLocations",
    "physicalLocation",
    logicalLocations=some(
        closed("fullyQualifiedName kind", fullyQualifiedName=TEXT, kind=TEXT), uniqueItems=True
    ),
    physicalLocation=closed("artifactLocation", "region", artifactLocation=ARTIFACT, region=REGION),
)
REPLACEMENT = closed("deletedRegion insertedContent", deletedRegion=REGION, insertedContent=MESSAGE)
CHANGE = closed(
    "artifactLocation replacements",
    artifactLocation=ARTIFACT,
    replacements=some(REPLACEMENT, minItems=1),
)
FIX = closed(
    "description artifactChanges",
    description=MESSAGE,
    artifactChanges=some(CHANGE, minItems=1, uniqueItems=True),
)
RESULT = closed(
    "ruleId ruleIndex level message locations partialFingerprints",
    "fixes",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations=some(LOCATION, minItems=1, maxItems=1),
    partialFingerprints={"type": "object", "additionalProperties": TEXT, "minProperties": 1},
    fixes=some(FIX, uniqueItems=True),
)
RULE = closed(
    "id defaultConfiguration",
    "name shortDescription fullDescription help properties",
    id=TEXT,
    name=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=closed("level", level=LEVEL),
    properties=closed("aliases source", aliases=some(TEXT, uniqueItems=True), source=TEXT),
)
DRIVER = closed(
    "name rules", "version", name=TEXT, version=TEXT, rules=some(RULE, uniqueItems=True)
)
RUN = closed(
    "tool columnKind results",
    tool=closed("driver", driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=some(RESULT),
)
LOG = {
    **closed(
        "$schema version runs",
        **{"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": some(RUN, minItems=1)},
    ),
    "$schema": "https://json-schema.org/draft/2020-12/schema",
}

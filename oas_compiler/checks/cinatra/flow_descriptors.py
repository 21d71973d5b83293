"""The root flow lists its inputs and outputs in the one form that the host reads.

    no "outputs" at all                         ->   OAS103
    {"title": "topic"}                          ->   OAS103 the type is missing
    {"title": "topic", "type": ["string"]}      ->   OAS103 the type is one string
    {"title": "refs", "items": "string"}        ->   OAS103 items is an object

Errors of Agent Spec too (no list, no title, an unknown type) are OAS022, OAS029, OAS037.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject, Written
from oas_compiler.document.scope import Unread
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue

CATEGORIES = ("profile", "content", "project", "idea", "report")


@rule(
    code="OAS103",
    name="flow-descriptor",
    severity="error",
    summary="An input or output of the root flow is not described in the form that the host reads.",
    fix="List inputs and outputs (an empty list where there are none), each with a title and one type as a string.",
    source="Cinatra S5",
    needs="cinatra",
    aliases=("S5",),
    bad='"inputs": [{"title": "topic", "type": ["string", "null"]}]',
    good='"inputs": [{"title": "topic", "type": "string", "default": ""}]',
)
def flow_descriptors(subject: Subject, report: Report) -> None:
    root = subject.root
    if root is None:
        return
    told = subject.unread(Unread.KIND_OF_VALUE, Unread.SCHEMA_TYPE)
    for field in ("inputs", "outputs"):
        if root.value.get(field) is None:
            report(
                f'{root.label} does not list its "{field}"',
                subject.place(root.pointer),
                hint=f'write "{field}": [] when there are none',
            )
        for index, item in enumerate(root.items(field)):
            if isinstance(item, dict):
                for key, problem, hint in _find_descriptor_problems(item):
                    if _join_pointer(root, field, index, key) in told:
                        continue
                    title = item.get("title")
                    name = f'"{title[:80]}"' if isinstance(title, str) else f"entry {index}"
                    place = subject.place(_join_pointer(root, field, index, key))
                    report(f"{name} of the flow's {field}: {problem}", place, hint=hint)


def _find_descriptor_problems(item: dict[str, JsonValue]) -> list[tuple[str, str, str]]:
    """The problems of one descriptor: the path of keys, the sentence, a hint."""
    found: list[tuple[str, str, str]] = []
    kind = item.get("type")
    if kind is None:
        found.append(("", "it has no type", 'add "type": the host has no default for it'))
    elif not isinstance(kind, str):
        hint = "describe what is allowed in json_schema, and give the one type here"
        found.append(("type", f"its type must be one string, not {describe(kind)}", hint))
    found += [
        (key, f"its {key} must be a string, not {describe(item[key])}", "")
        for key in ("description", "format")
        if key in item and not isinstance(item[key], str)
    ]
    if item.get("items") is not None and not isinstance(item["items"], dict):
        hint = 'write a schema, as in {"type": "string"}'
        found.append(("items", f"its items must be an object, not {describe(item['items'])}", hint))
    about = item.get("cinatra")
    if about is not None and not isinstance(about, dict):
        found.append(("cinatra", f"cinatra must be an object, not {describe(about)}", ""))
    category = about.get("category") if isinstance(about, dict) else None
    if category is not None and not (isinstance(category, str) and category in CATEGORIES):
        hint = f"it is one of {', '.join(CATEGORIES)}"
        found.append(("cinatra/category", "its category is not one of the host's", hint))
    return found


def _join_pointer(root: Written, field: str, index: int, keys: str) -> str:
    return "/".join((root.at(field, index), *keys.split("/"))) if keys else root.at(field, index)

"""A run uses the default that the flow's input declares.

    Flow "inputs": [{"title": "tone", "default": "plain"}]
    StartNode "inputs": [{"title": "tone", "default": "warm"}]      ->   OAS254: always "warm"

A default in one of the two places is enough, and the same in both is fine.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.context.context_slot_given import wrong_defaults
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Json, JsonValue
from oas_compiler.text.marks import child


@rule(
    code="OAS254",
    name="default-ignored",
    severity="warning",
    summary="A flow and its StartNode give one input two defaults; the StartNode's counts.",
    fix="Write one default in both places, or leave one of them out.",
    source="Agent Spec, StartNode",
    needs="document",
    bad='flow: {"title": "tone", "default": "plain"}   StartNode: {"title": "tone", "default": "warm"}',
    good='flow: {"title": "tone", "default": "warm"}   StartNode: {"title": "tone", "default": "warm"}',
)
def default_ignored(subject: Subject, report: Report) -> None:
    differing = list(_find_differing_defaults(subject))
    if not differing:
        return
    told = {child(port.place.pointer, "default") for *_, port in wrong_defaults(subject)}  # OAS243
    for flow, title, at in differing:
        if at not in told:
            report(
                f'the input "{title[:80]}" of {flow.label} has another default in its StartNode, '
                "and that one counts",
                subject.place(at),
                hint="write one default in both places, or leave one of them out",
            )


def _find_differing_defaults(subject: Subject) -> Iterator[tuple[Written, str, str]]:
    """Flow, title and the pointer of the StartNode's default, of every input with two defaults."""
    for start in subject.of_type("StartNode"):
        flow = subject.written_at(start.flow)
        if flow is None:
            continue
        given = {title: item["default"] for _, title, item in _with_default(flow, "inputs")}
        # either list is the node's one set of ports
        field = "inputs" if start.value.get("inputs") is not None else "outputs"
        for index, title, item in _with_default(start, field):
            if title in given and Json.of(given[title]) != Json.of(item["default"]):
                yield flow, title, start.at(field, index, "default")


def _with_default(
    component: Written, field: str
) -> Iterator[tuple[int, str, dict[str, JsonValue]]]:
    for index, item in enumerate(component.items(field)):
        title = item.get("title") if isinstance(item, dict) else None
        if isinstance(item, dict) and isinstance(title, str) and "default" in item:
            yield index, title, item

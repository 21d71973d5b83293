"""The default of a flow's input is the one that a run takes.

    Flow "inputs": [{"title": "tone", "default": "plain"}]
    StartNode "inputs": [{"title": "tone", "default": "warm"}]      ->   OAS254: always "warm"

A default in one of the two places is enough, and the same in both is fine.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.rules import Report, rule


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
    for start in subject.of_type("StartNode"):
        flow = subject.written_at(start.flow)
        if flow is None:
            continue
        given = {
            item["title"]: item["default"]
            for item in flow.items("inputs")
            if isinstance(item, dict) and isinstance(item.get("title"), str) and "default" in item
        }
        # either list is the node's one set of ports
        field = "inputs" if start.value.get("inputs") is not None else "outputs"
        for index, item in enumerate(start.items(field)):
            title = item.get("title") if isinstance(item, dict) else None
            if isinstance(item, dict) and title in given and "default" in item:
                if given[title] == item["default"]:
                    continue
                report(
                    f'the input "{str(title)[:80]}" of {flow.label} has another default in its '
                    "StartNode, and that one counts",
                    subject.place(start.at(field, index, "default")),
                    hint="write one default in both places, or leave one of them out",
                )

"""Every input of a StartNode says who fills it: a person (required) or the caller (hidden).

inputs [topic, tone], required ["topic"], hidden []   ->   OAS125 nobody is asked for "tone"
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject, Written
from oas_compiler.rules import Report, rule


@rule(
    code="OAS125",
    name="start-input-role",
    severity="warning",
    summary="An input of a StartNode is neither required nor hidden: nobody is asked for it.",
    fix="Add it to metadata.cinatra.required (a person gives it) or hidden (the caller does, or its default stands).",
    source="Cinatra W1",
    needs="cinatra",
    aliases=("W1", "start_node_inputs_without_required"),
    bad='"inputs": [{"title": "tone", "type": "string"}], "metadata": {"cinatra": {"required": [], "hidden": []}}',
    good='"inputs": [{"title": "tone", "type": "string"}], "metadata": {"cinatra": {"required": ["tone"], "hidden": []}}',
)
def start_input_roles(subject: Subject, report: Report) -> None:
    for start in subject.of_type("StartNode"):
        named = _names(start, "required") | _names(start, "hidden")
        # either list is the node's one set of ports
        field = "inputs" if start.value.get("inputs") is not None else "outputs"
        for index, item in enumerate(start.items(field)):
            title = item.get("title") if isinstance(item, dict) else None
            if isinstance(title, str) and title not in named:
                report(
                    f'the input "{title[:80]}" of {start.label} is neither required nor hidden',
                    subject.place(start.at(field, index)),
                    hint="name it in metadata.cinatra.required to ask for it, in hidden if the caller gives it",
                )


def _names(start: Written, key: str) -> set[str]:
    names = start.cinatra.get(key)
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()

"""Keys of an earlier setup wizard have no effect any more.

"x-setup-steps": […] in a schema, or an input "__setup_nonce"   ->   OAS174
"""

from __future__ import annotations

import re

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child

_KEY = "x-setup-steps"
_SENTINEL = re.compile(r"__setup_nonce|__step_\w+_done|__agent_run_name")


@rule(
    code="OAS174",
    name="retired-setup-keys",
    severity="warning",
    summary="The flow still carries keys of the retired setup wizard.",
    fix='Remove the key; list what a person must give under the StartNode\'s "required".',
    source="agent guide, rule 3a, patterns before Phase 105",
    needs="cinatra",
    also=("guide-rule-3",),
    bad='"inputSchema": {"type": "object", "x-setup-steps": [{"fields": ["topic"]}]}',
    good='"metadata": {"cinatra": {"required": ["topic"]}}',
)
def retired_setup_keys(subject: Subject, report: Report) -> None:
    for component in subject.components:
        pointer = component.at("metadata", "cinatra")
        for found in _find_key_carriers(component.cinatra, pointer):
            report(
                f"{component.label} carries {_KEY}, which no host reads",
                subject.place(child(found, _KEY)),
                hint='list what a person must give under "required" of the StartNode',
            )
        if component.type == "StartNode":
            _look_at_inputs(subject, report, component.pointer, component.items("inputs"))
    package = subject.agent
    for found in _find_key_carriers(package.cinatra, "/cinatra") if package is not None else ():
        if package is not None:
            report(
                f"package.json carries {_KEY}, which no host reads",
                package.place(child(found, _KEY)),
                file=package.manifest_file,
            )


def _find_key_carriers(about: object, pointer: str) -> list[str]:
    """Pointers of the objects that have the key: the block itself, or a schema in it."""
    if not isinstance(about, dict):
        return []
    schemas = ("inputSchema", "formSchema", "inputMessageSchema")
    places = [(about, pointer), *((about.get(name), child(pointer, name)) for name in schemas)]
    return [at for value, at in places if isinstance(value, dict) and _KEY in value]


def _look_at_inputs(
    subject: Subject, report: Report, pointer: str, inputs: list[JsonValue]
) -> None:
    for index, item in enumerate(inputs):
        title = item.get("title") if isinstance(item, dict) else None
        if isinstance(title, str) and _SENTINEL.fullmatch(title):
            report(
                f'the input "{title[:80]}" belonged to the retired setup wizard',
                subject.place(f"{pointer}/inputs/{index}/title"),
                hint="remove it: nothing writes it any more",
            )

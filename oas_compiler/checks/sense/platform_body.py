"""The body of a platform call has the keys that its route reads.

    to llm-bridge   {"user": …, "sytem": …}              ->   OAS247 did you mean "system"?
    to llm-bridge   {"system": …}                        ->   OAS247: the route needs "user"
    to passthrough  {"input": …, "agent_run_id": …}      ->   OAS247: the route needs "tool"

Further keys may belong to a host; they are reported only if they resemble a missing key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from cinatra_sdk.data.text.message_words import LONGEST_COMPARED, plain
from oas_compiler.checks.lookup.api_calls import BRIDGE, RUN_ID
from oas_compiler.checks.lookup.value_flaws import misspelt, tell
from oas_compiler.checks.sense.run_id_unbound import NAMES as RUN_NAMES
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule

_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "/api/llm-bridge": ("user",),
    "/api/agents/passthrough": ("tool", "agent_run_id"),
}
_TAKES: Final[Mapping[str, tuple[str, ...]]] = {
    "/api/llm-bridge": (
        "user", "system", "agent_run_id", "max_steps", "model_id", "output_schema", "media",
        "attachments", "user_envelope", "skill_source_path", "package_version",
        "agent_spec_version",
    ),
    "/api/agents/passthrough": (
        "tool", "input", "agent_run_id", "result_input_passthrough", "result_id_field",
        "result_shape",
    ),
    "/api/context-resolve": ("parentRunId", "parentPackageName", "slotId", "projectId"),
    "/api/context-finalize": (
        "parentRunId", "parentPackageName", "slotId", "projectId", "selectionMode",
        "resolutionMode", "userResponse", "selectedRefs",
    ),
}  # fmt: skip
"""Keys by route; `agent_id`, `cinatra_llm` and `toolbox_ids` of the bridge have rules of their own."""
_ELSEWHERE: Final = ("agent_id", "cinatra_llm", "toolbox_ids")
_MOST: Final = 50


@rule(
    code="OAS247",
    name="platform-body",
    severity="warning",
    summary="The data of a call of the platform lacks a key that its route needs, or misspells one.",
    fix="Write the key as the route reads it: user for the bridge, tool and agent_run_id for a tool.",
    source="Cinatra, endpoints of the platform",
    needs="cinatra",
    fixable=True,
    bad='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge", "data": {"usr": "…"}',
    good='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge", "data": {"user": "…"}',
)
def platform_body(subject: Subject, report: Report) -> None:
    for node in subject.of_type("ApiNode"):
        url = node.text("url").rstrip("/")
        route = next((route for route in _TAKES if url.endswith(route)), "")
        data = node.value.get("data")
        if not route or not isinstance(data, dict):
            continue
        takes = (
            (*_TAKES[route], *_list_undeclared_keys(subject)) if route == BRIDGE else _TAKES[route]
        )
        slips = _find_misspelt_keys(data, takes)
        for key, meant in slips.items():
            says = f'"{key[:80]}" in data of {node.label} is read by nobody'
            tell(report, misspelt(says, node.at("data", key), meant), subject.place)
        for name in _NEEDS.get(route, ()):
            if not _is_there(name, data) and name not in slips.values():
                report(
                    f'{node.label} calls {route} without "{name}"',
                    subject.place(node.at("data")),
                    hint=_describe_missing_key(name),
                )


def _list_undeclared_keys(subject: Subject) -> Iterator[str]:
    """Keys that the root flow does not declare; declared keys are checked by OAS122 and OAS123."""
    block = subject.root.cinatra if subject.root is not None else {}
    for key, asked_by in (("cinatra_llm", "llm"), ("toolbox_ids", "toolboxes")):
        if not block.get(asked_by):
            yield key


def _is_there(name: str, data: Mapping[str, object]) -> bool:
    """A trigger names the run of its parent by any of the names of a run (agent guide, rule 15)."""
    return name in data or (name == RUN_ID and any(other in data for other in RUN_NAMES))


def _find_misspelt_keys(data: Mapping[str, object], takes: tuple[str, ...]) -> dict[str, str]:
    """Misspelt key → the missing key that was meant."""
    absent = [name for name in takes if name not in data]
    found: dict[str, str] = {}
    for key in list(data)[:_MOST]:
        if key in takes or key in _ELSEWHERE or len(key) > LONGEST_COMPARED:
            continue
        near = [name for name in absent if plain(name) == plain(key)]
        near = near or get_close_matches(key, absent, n=1, cutoff=0.75)
        if near and near[0] not in found.values():
            found[key] = near[0]
    return found


def _describe_missing_key(name: str) -> str:
    if name == "agent_run_id":
        return 'add "agent_run_id": "{{ agent_run_id }}", and lead the StartNode\'s cinatra_run_id to it'
    return f'add "{name}": ' + (
        "what the model is asked" if name == "user" else "the name of the tool"
    )

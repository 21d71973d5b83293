"""A person is never asked for an id that a node of the flow creates.

StartNode required ["campaignId"], hidden []                ->   OAS192
required ["campaignId"], hidden ["campaignId"]              ->   fine: the caller gives it
required ["spreadsheetId"]                                  ->   fine: people have those
"""

from __future__ import annotations

import re
from typing import Final

from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue

_MADE_BY_A_STAGE: Final = re.compile(
    r"(?:[a-z0-9_]*_)?(?:campaign|run|draft|bundle|batch|stage|step|result|recipients?|contacts?"
    r"|contact_list|recipient_list|checkpoint|execution|review|review_task|slot"
    r"|artifact|representation|representation_revision|semantic_assertion)"
    r"(?:_(?:ref|id|ids|uuid))"
)


@rule(
    code="OAS192",
    name="internal-id-asked",
    severity="warning",
    summary="A person is asked for an id that an earlier stage makes.",
    fix='Put the input into "hidden" and feed it from the output of the stage that makes it.',
    source="agent guide, rules 13 and I.3",
    needs="cinatra",
    aliases=("guide-rule-13",),
    bad='"metadata": {"cinatra": {"required": ["campaignId"], "hidden": []}}',
    good='"metadata": {"cinatra": {"required": ["campaignId"], "hidden": ["campaignId"]}}',
)
def internal_id_asked(subject: Subject, report: Report) -> None:
    root = subject.root
    for start in subject.of_type("StartNode"):
        # the inputs of a subflow come from its caller, not from a person
        if root is None or start.flow != root.pointer:
            continue
        unseen = _not_shown(start)
        required = start.cinatra.get("required")
        for index, title in enumerate(required if isinstance(required, list) else ()):
            if isinstance(title, str) and title not in unseen and _is_made(title):
                report(
                    f'a person is asked for "{title[:80]}", which only a stage of the work can know',
                    subject.place(start.at("metadata", "cinatra", "required", index)),
                    hint='list it under "hidden" too, and let the caller or a data edge supply it',
                )


def _is_made(title: str) -> bool:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", title[:120]).replace("-", "_").lower()
    return _MADE_BY_A_STAGE.fullmatch(re.sub(r"_i_ds$", "_ids", snake)) is not None


def _not_shown(start: Written) -> set[str]:
    """Inputs that no person types: hidden inputs, and inputs with their own picker."""
    hidden = start.cinatra.get("hidden")
    picked = start.cinatra.get("inputRenderers")
    names = (
        {title for title in hidden if isinstance(title, str)} if isinstance(hidden, list) else set()
    )
    names |= picked.keys() if isinstance(picked, dict) else set()
    for item in start.items("inputs"):
        if isinstance(item, dict) and _is_covered(item):
            names.add(str(item.get("title")))
    return names


def _is_covered(item: dict[str, JsonValue]) -> bool:
    inner = item.get("json_schema")
    return any(
        schema.get("x-hidden") is True or isinstance(schema.get("x-renderer"), str)
        for schema in (item, inner)
        if isinstance(schema, dict)
    )

"""The placeholder for the platform's address is spelt so that a host fills it in.

"{{CINATRA_BASEURL}}/api/llm-bridge"      ->   OAS255: CINATRA_BASE_URL
"{CINATRA_BASE_URL}/api/llm-bridge"       ->   OAS255: two braces
"{{CINATRA_URL}}/api/x"                   not near enough to be sure: OAS242
"{{CINATA_BASE_URL}}/api/x"               a host may give it a value: OAS242

Names that begin with CINATRA_ are the runtime's own, and nobody else gives them a value: the call
would go to an address that holds the placeholder itself, and fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.data.text.message_words import plain
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule

_OWN: Final = "CINATRA_"
"""What the names of the runtime begin with."""
NAME: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")
LONGEST: Final = 200
"""Characters of an address that is looked at."""
_OTHER_FORM: Final = re.compile(
    rf"\$?\{{{BASE_URL}\}}/?|\${BASE_URL}(?!\w)/?|{BASE_URL}(?!\w)/?"  # as other languages write it
)
_ALIKE: Final = 0.93
"""From here on a name is the platform's with one sign too many, too few or wrong."""


@rule(
    code="OAS255",
    name="platform-placeholder",
    severity="error",
    summary="The address of a call begins with a misspelt placeholder of the platform, which is not filled in.",
    fix="Write {{CINATRA_BASE_URL}} at the beginning of the url.",
    source="Cinatra, endpoints of the platform",
    needs="document",
    bad='"url": "{{CINATRA_BASEURL}}/api/llm-bridge"',
    good='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge"',
)
def platform_placeholder(subject: Subject, report: Report) -> None:
    for node, key in called(subject):
        url = node.text(key)[:LONGEST]
        meant = meant_placeholder(url)
        if meant:
            report(
                f'{node.label} calls "{url}", in which nobody fills the platform in',
                subject.place(node.at(key)),
                hint=f'did you mean "{meant}"?',
            )


def called(subject: Subject) -> Iterator[tuple[Written, str]]:
    """What calls an address, and the field that holds it."""
    for node in subject.of_type("ApiNode", "A2AAgent", "MCPToolBox"):
        yield node, "agent_url" if node.type == "A2AAgent" else "url"


def meant_placeholder(url: str) -> str:
    """The url as it was meant; empty for one that does not begin with a slip of the placeholder."""
    form = _OTHER_FORM.match(url)
    if form is not None:
        return f"{{{{{BASE_URL}}}}}/{url[form.end() :]}"
    name = NAME.match(url)
    if name is None or name[1] == BASE_URL or not name[1].startswith(_OWN):
        return ""
    written, base = plain(name[1]), plain(BASE_URL)
    if written != base and SequenceMatcher(None, written, base).ratio() < _ALIKE:
        return ""
    return f"{{{{{BASE_URL}}}}}{url[name.end() :]}"

"""What findings quote of a document, without its literal credentials.

    'the header "X: hunter2-d41d8cd9" is no name'   ->   'the header "X: ****************" is no name'

A message is read in a traceback too, where no printer stars it.  It may quote the beginning of a value
only, because long names are cut.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from oas_compiler.report.diagnostics import Diagnostics

if TYPE_CHECKING:
    from oas_compiler.checks.subject import Subject

_SHORTEST: Final = 8
"""Fewer characters in common occur in ordinary words."""
_MOST: Final = 200


def star_messages(findings: Diagnostics, subject: Subject) -> Diagnostics:
    """The findings about a document; the same object where none quotes a credential."""
    if not findings.findings:
        return findings
    # imported late: most documents have no finding
    from oas_compiler.checks.concealed import find_credentials

    found = (one for whole in find_credentials(subject) for one in (whole, *whole.split()[1:]))
    secrets = list(dict.fromkeys(one for one in found if len(one) >= _SHORTEST))[:_MOST]
    if not secrets:
        return findings
    return Diagnostics(
        [
            replace(
                one,
                message=_star(one.message, secrets),
                hint=_star(one.hint, secrets),
                place=replace(one.place, pointer=_star(one.pointer, secrets)),
            )
            for one in findings
        ]
    )


def _star(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        at = text.find(secret[:_SHORTEST])
        while at >= 0:
            end = at + _SHORTEST
            while end < len(text) and end - at < len(secret) and text[end] == secret[end - at]:
                end += 1
            text = f"{text[:at]}{'*' * (end - at)}{text[end:]}"
            at = text.find(secret[:_SHORTEST], end)
    return text

"""`Diagnostics`, all findings of one run for a host; `CompileError`, the exception that carries them.

Error tree
    CompileError            whatever is wrong with a file
        .diagnostics        every finding of the run, in file order
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue
from oas_compiler.text.source import is_plain

if TYPE_CHECKING:
    from oas_compiler.checks.subject import Subject


class Diagnostics(Findings):
    """The findings of one run over one file."""

    def to_json(self) -> dict[str, JsonValue]:
        """`{"errors": 1, "warnings": 0, "findings": [{"code": …, "line": …}]}`, ready for JSON."""
        from oas_compiler.report.formats import json_report

        return json_report(self.findings)

    def to_sarif(self) -> dict[str, JsonValue]:
        """The findings as a SARIF 2.1.0 log, ready for JSON."""
        from oas_compiler.report.formats import sarif  # it loads every rule card

        return sarif(self.findings)


class CompileError(ValueError):
    """The flow cannot be compiled; `diagnostics` holds every finding."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        from cinatra_sdk.data.text.message_words import say_number  # for errors only

        self.diagnostics = diagnostics
        errors = diagnostics.errors
        first = "\n".join(str(finding) for finding in errors[:20])
        more = f"\n… and {len(errors) - 20} more" if len(errors) > 20 else ""
        super().__init__(f"{say_number(len(errors), 'error')}\n{first}{more}")


# ----------------------------------------------------------------------------
# What findings quote of a document, without its literal credentials.
#
#     'the header "X: hunter2-d41d8cd9" is no name'   ->   'the header "X: ****************" is no name'
#
# A message is read in a traceback too, where no printer stars it.  It may quote the beginning of a value
# only, because long names are cut.


_SHORTEST: Final = 8
"""Fewer characters in common occur in ordinary words."""
_MOST: Final = 200


def star_messages(findings: Diagnostics, subject: Subject) -> Diagnostics:
    """The findings about a document; the same object where none quotes a credential."""
    if not findings.findings:
        return findings
    # imported late: most documents have no finding
    from oas_compiler.checks.credentials.credential_cover import find_credentials

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


# ----------------------------------------------------------------------------
# Hints about a YAML file, in the spelling of YAML.
#
#     'write {"type": "string"}'                      ->  'write {type: string}'
#     'add "outputs": [{"title": "a", "type": …}]'    ->  'add outputs: [{title: a, type: …}]'
#
# Rules write their hints as JSON, because most files are.  Quotes go where YAML reads the same without
# them; everything else stays.


_KEY: Final = re.compile(r'"([A-Za-z_$][\w$.-]*)":(?=\s)')
_WORD: Final = re.compile(
    r'(?<=[:,\[] )"([A-Za-z_][\w./-]*)"(?=[,}\]]|\s*$)|(?<=\[)"([A-Za-z_][\w./-]*)"(?=[,\]])'
)


def in_yaml(findings: Diagnostics, file: str) -> Diagnostics:
    """The findings of a YAML file; those that name another file stay as they are."""
    return Diagnostics(
        [
            replace(one, hint=write_as_yaml(one.hint))
            if one.file in {"", file} and _KEY.search(one.hint)
            else one
            for one in findings
        ]
    )


def write_as_yaml(hint: str) -> str:
    """A hint without the quotes that only JSON needs; the same where it shows no member."""
    if not _KEY.search(hint):
        return hint
    return _WORD.sub(_write_word, _KEY.sub(_write_key, hint))


def _write_key(found: re.Match[str]) -> str:
    return f"{found[1]}:" if is_plain(found[1]) else found[0]


def _write_word(found: re.Match[str]) -> str:
    word = found[1] or found[2]
    return word if is_plain(word) else found[0]

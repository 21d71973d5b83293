"""Hints about a YAML file, in the spelling of YAML.

    'write {"type": "string"}'                      ->  'write {type: string}'
    'add "outputs": [{"title": "a", "type": …}]'    ->  'add outputs: [{title: a, type: …}]'

Rules write their hints as JSON, because most files are.  Quotes go where YAML reads the same without
them; everything else stays.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from oas_compiler.report.diagnostics import Diagnostics
from oas_compiler.text.yaml_words import is_plain

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

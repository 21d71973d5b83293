r"""`brief.md`: which tastes the person declares, and what the work is meant to become.

    parse_brief("Tastes: [underwater, 'portrait']\nShow the blue.\n")
        Brief(tastes=("underwater", "portrait"), intent="Show the blue.", raw=…)

A declaration is a line that begins with `Tastes:` or `**Tastes:**`, in any case, also inside a code
fence.  The last one counts, an empty one too; all of them are taken out of the intent.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.first_turn.bounds import Tell, is_name
from cinatra_sdk.first_turn.prose import split_lines
from cinatra_sdk.first_turn.records import Brief
from cinatra_sdk.text.files import shown_name

_DECLARES: Final = ("tastes:", "**tastes:**")


def parse_brief(raw: str, *, tell: Tell) -> Brief:
    intent: list[str] = []
    declared: str | None = None
    for line in split_lines(raw):
        payload = _read_payload(line)
        if payload is None:
            intent.append(line)
        else:
            declared = payload
    return Brief(
        raw=raw,
        intent="\n".join(intent).strip(),
        tastes=_list_names(declared or "", tell),
    )


def _read_payload(line: str) -> str | None:
    """What a declaration says after its word; None for any other line."""
    for word in _DECLARES:
        if line[: len(word)].lower() == word:
            return line[len(word) :]
    return None


def _list_names(payload: str, tell: Tell) -> tuple[str, ...]:
    names: list[str] = []
    for part in payload.strip().strip("[]").split(","):
        name = part.strip().strip("'\"")
        if is_name(name):
            names.append(name)
        elif name:
            tell(f'brief.md: "{shown_name(name[:80])}" is no name of a taste, and is ignored')
    return tuple(names)

"""docs/diagnostics.md, made of the cards: `rules_document()` -> its whole text.

    Rule(code="OAS044", name="one-edge-per-branch", …)
        ->  | OAS044 | error | one-edge-per-branch | Two control edges … | Choose … | Agent Spec … |

Written by `scripts/rules-doc`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from oas_compiler.catalog import all_rules
from oas_compiler.findings.rules import Rule

_INTRODUCTION: Final = """\
# Diagnostics

<!-- Written by scripts/rules-doc from the cards of the rules; change those. -->

Every finding has a code, a severity, a place (line and column, or a JSON Pointer when the input was a Python mapping) and usually a hint.
An error with a code below OAS100 keeps the flow from compiling; a warning does not.
The rules from OAS100 on say what a host or a reviewer refuses: `oasflow check` applies them, and compiling does not.
All findings of a file come in one run, in file order.
One mistake makes one finding: its consequences are not reported again.
Codes OAS001 to OAS009 mean that the document could not be read.
If there is no document at all (OAS001 to OAS004), the command line exits with 2; for all other errors it exits with 1.
A code stands for one rule and is never reused for another rule.
`oasflow rule CODE` shows a rule with an example; it also takes the name of the rule and the aliases in the last column.
"""

SECTIONS: Final[tuple[tuple[str, int, int], ...]] = (
    ("Reading", 1, 9),
    ("References", 10, 19),
    ("Structure and fields", 20, 39),
    ("Control flow", 40, 59),
    ("Data flow and types", 60, 79),
    ("Templates", 80, 89),
    ("Unsupported and policy", 90, 99),
    ("Cinatra", 100, 149),
    ("Context slots", 150, 169),
    ("Agent guide", 170, 199),
    ("Safety", 200, 234),
    ("Sense", 235, 299),
)
"""Title, first and last number of each group of codes."""
CHILD_AGENTS: Final = ("Child agents", 1, 99)
"""The codes DEP…, which `oasflow deps` finds."""

_HEAD: Final = """\
| code | severity | name | meaning | correction | source and aliases |
|---|---|---|---|---|---|"""


def rules_document() -> str:
    """The text of docs/diagnostics.md; raises `LookupError` for a code of no section."""
    cards = all_rules()
    sections = [(*section, "OAS") for section in SECTIONS] + [(*CHILD_AGENTS, "DEP")]
    homeless = [card.code for card in cards if not any(_is_in(card, *s[1:]) for s in sections)]
    if homeless:
        raise LookupError(f"no section has {', '.join(homeless)}: see SECTIONS")
    parts = [_INTRODUCTION]
    for title, first, last, letters in sections:
        rows = [_format_rule_row(card) for card in cards if _is_in(card, first, last, letters)]
        if rows:
            head = f"## {title} ({letters}{first:03} to {letters}{last:03})"
            parts.append("\n".join((head, "", _HEAD, *rows)) + "\n")
    return "\n".join(parts)


def _is_in(card: Rule, first: int, last: int, letters: str) -> bool:
    number = card.code.removeprefix(letters)
    return number != card.code and first <= int(number) <= last


def _format_rule_row(card: Rule) -> str:
    names = ", ".join(f"`{name}`" for name in card.aliases)
    source = f"{card.source} ({names})" if names else card.source
    return _format_cells((card.code, card.severity, card.name, card.summary, card.fix, source))


def _format_cells(texts: Iterable[str]) -> str:
    shown = (" ".join(text.split()).replace("|", "\\|") for text in texts)
    return f"| {' | '.join(shown)} |"

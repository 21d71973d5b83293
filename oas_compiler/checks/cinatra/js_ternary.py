"""Templates are Jinja: the ternary of JavaScript is no expression of it.

"{{ ready ? 'yes' : 'no' }}"   ->   OAS118 write {{ 'yes' if ready else 'no' }}

For texts that are rendered, OAS080 reports this already; this rule checks all other texts.
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.subject import Subject
from oas_compiler.document.scope import Unread
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS118",
    name="js-ternary",
    severity="error",
    summary="A text has JavaScript's a ? b : c between {{ and }}; in a text that is rendered this is OAS080.",
    fix="Write {{ b if a else c }}.",
    source="Cinatra V25",
    needs="cinatra",
    aliases=("V25", "OAS-RUNTIME-002"),
    bad="\"message\": \"{{ approved ? 'yes' : 'no' }}\"",
    good="\"message\": \"{{ 'yes' if approved else 'no' }}\"",
)
def js_ternary(subject: Subject, report: Report) -> None:
    reported = subject.unread(Unread.TEMPLATE)
    for text in subject.texts:
        if "?" not in text.value or "{{" not in text.value:
            continue
        if not any(_is_ternary(inner) for inner in _iterate_expressions(text.value)):
            continue
        if text.pointer not in reported:
            report(
                "the text has a JavaScript ternary between {{ and }}, templates are Jinja",
                subject.place(text.pointer),
                hint="write {{ b if a else c }} instead of {{ a ? b : c }}",
            )


def _iterate_expressions(text: str) -> Iterator[str]:
    """The texts between `{{` and the next `}}`; each character is read once."""
    at = text.find("{{")
    while at >= 0:
        end = text.find("}}", at + 2)
        if end < 0:
            return
        yield text[at + 2 : end]
        at = text.find("{{", end + 2)


def _is_ternary(expression: str) -> bool:
    """Whether a lone `?` comes before a `:`, both outside of quotes.

    `a ?? b` and `a?.b` are other operators: wrong too, but no ternary.
    """
    quote = ""
    asked = False
    for index, character in enumerate(expression):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        elif character == "?":
            around = expression[index - 1 : index] + expression[index + 1 : index + 2]
            asked = asked or not set(around) & {"?", "."}
        elif character == ":" and asked:
            return True
    return False

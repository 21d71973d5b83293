"""An approval without words gives the flow a text that no person wrote.

    review (riskClass approval, output "note") ─note→ write      ->  OAS220 at "review"
    the same with an inputMessageSchema that asks for the note
    the same, and nothing reads "note"

Cinatra's hosts answer a yes by `[Approved by operator]`.  A prompt, a mail or an output of the run then holds
these words in place of a person's; they also replace the default of an input.  A gate that asks a question
is fine: a yes is no answer to it.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.control.gates import is_selector, list_readers, takes_text
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import InputMessageNode

_MOST_NAMED = 3


@rule(
    code="OAS220",
    name="approval-as-text",
    severity="warning",
    summary="An approval without words goes on as the text [Approved by operator].",
    fix="Ask for the text by an inputMessageSchema, or lead the gate's output nowhere.",
    source="Cinatra, gates",
    needs="flow",
    bad='"note" of the gate "review" → "note" of "write"',
    good='the same, and "inputMessageSchema": {"type": "string", "minLength": 1} at "review"',
)
def approval_as_text(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        for node in flow.by_id.values():
            if not isinstance(node, InputMessageNode) or not takes_text(node):
                continue
            if not node.cinatra.mapping() or is_selector(node.renderer):
                continue
            readers = list_readers(flow, node)
            if readers:
                named = ", ".join(f'"{one[:80]}"' for one in readers[:_MOST_NAMED])
                more = (
                    f" and {len(readers) - _MOST_NAMED} more" if len(readers) > _MOST_NAMED else ""
                )
                report(
                    f'a person may approve "{node.id[:80]}" without words: {named}{more} then reads '
                    "[Approved by operator]",
                    subject.place(node.place.pointer),
                    hint="ask for the text by inputMessageSchema where it is needed",
                )

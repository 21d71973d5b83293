"""What was said in a run, as people see it.

In: records of messages.  Out: something rich prints.

    said before it
      user       Send the report to Ada.
      assistant  -> send {"to": "ada"}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue
from rich.console import Group, RenderableType
from rich.text import Text

from oas_compiler.cli.layout import Indented
from oas_compiler.cli.safe import clean
from oas_compiler.cli.selecting import offered_in
from oas_compiler.cli.values import Extent, value_view, values_view

if TYPE_CHECKING:
    from cinatra_sdk.context.selector import Selector


def said_view(said: Sequence[Mapping[str, JsonValue]], extent: Extent) -> RenderableType:
    """The conversation of a flow that waits, each message behind the role of who said it."""
    parts: list[RenderableType] = [Text("said before it", style="bold")]
    for message in said:
        role = str(message.get("role", ""))
        parts += [
            Indented(values_view({role: _describe_offer(one) or one}, extent), by=2)
            for one in list_said(message)
        ]
    return Group(*parts)


def without_offer(
    said: Sequence[Mapping[str, JsonValue]], selector: Selector
) -> list[Mapping[str, JsonValue]]:
    """The messages but those that only carry this selection to its gate: its checklist shows it."""
    return [one for one in said if offered_in(one.get("content")) != selector]


def list_said(message: Mapping[str, JsonValue]) -> list[JsonValue]:
    """What a message says: its text, and the calls that a model asks for in it."""
    content, calls = message.get("content", ""), message.get("tool_calls")
    asked = [one for one in calls if isinstance(one, Mapping)] if isinstance(calls, list) else []
    told: list[JsonValue] = [content] if content or not asked else []
    for one in asked:
        arguments = json.dumps(one.get("args"), ensure_ascii=False)
        told.append(f"-> {one.get('name')} {arguments}")
    return told


def _read_answer_with_files(content: Any) -> tuple[str, str]:
    """The text of an envelope, and the names of its files; empty for any other message."""
    if not isinstance(content, str) or not content.startswith('{"text"'):
        return "", ""
    from cinatra_sdk.attachments import UserEnvelopeInvalid, read_user_envelope

    try:
        envelope = read_user_envelope(content, enabled=True)
    except UserEnvelopeInvalid:
        return "", ""
    return envelope.text, ", ".join(ref.shown_name for ref in envelope.attachments or ())


def message_view(content: Any, extent: Extent) -> RenderableType:
    """A message; a message that only carries a context selection to its gate is shown in one
    line, and an answer with files as its text and their names.
    """
    offer = _describe_offer(content)
    if not offer:
        text, names = _read_answer_with_files(content)
        if not names:
            return value_view(content, extent)
        return Group(value_view(text, extent), Text(f"with {clean(names)}", style="dim"))
    return Text(offer, style="dim")


def _describe_offer(content: Any) -> str:
    """A message that only carries a context selection, in a few words; empty for any other."""
    selector = offered_in(content)
    if selector is None:
        return ""
    number = len(selector.candidates)
    what = "candidate" if number == 1 else "candidates"
    return f'{number} {what} for the context slot "{clean(selector.slot_id)}"'

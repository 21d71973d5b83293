"""What was said before a gate inside a flow, for the person who decides there.

In: the state of the gate's own flow.  Out: the last messages, as records of `Run.messages`.

    a gate of an agent  ->  {"said": [{"role": "user", "content": "Send it"}, {"role": "assistant", …}]}
    a gate of the root  ->  {}      what was said before it is the run's own conversation

What a flow inside a node says joins the conversation of the run when it has ended; a person who is
asked before that would decide without having heard it.  Every pause keeps the list, so it is short.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from langgraph.runtime import get_runtime
from pydantic import JsonValue

from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.governed.conversation import read_record

_MOST: Final = 20
"""Messages, the last ones."""
_MOST_LETTERS: Final = 20_000
"""Characters of all of them, as JSON."""

Record = dict[str, JsonValue]


def describe_said(state: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The last of what the gate's flow has heard and said, as `said`; empty where that is nothing,
    and for a flow in no other.
    """
    run = state.get("run")
    if not isinstance(run, Mapping) or not run.get("scope"):
        return {}
    heard = context_of(get_runtime(HostContext).context).heard
    conversation = [*heard, *(state.get("messages") or ())][-_MOST:]
    taken: list[JsonValue] = [*_take_last(map(read_record, reversed(conversation)))]
    return {"said": taken[::-1]} if taken else {}


def _take_last(records: Iterable[Record]) -> Iterable[Record]:
    """Those that fit; of a last message that alone is too long its beginning.

    records: the last one first.
    """
    room = _MOST_LETTERS
    for record in records:
        size = len(json.dumps(record, ensure_ascii=False))
        if size > room:
            if room == _MOST_LETTERS:
                kept = {key: said for key, said in record.items() if key != "tool_calls"}
                yield {**kept, "content": str(record["content"])[:room]}
            return
        room -= size
        yield record

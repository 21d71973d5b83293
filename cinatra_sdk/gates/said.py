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
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governed.conversation import read_record
from cinatra_sdk.governed.keys import find_governed, without_governed
from cinatra_sdk.governed.secrets import find_secret, redact
from cinatra_sdk.values.json_values import check_value

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
    host = context_of(get_runtime(HostContext).context)
    conversation = [*host.heard, *(state.get("messages") or ())][-_MOST:]
    held = (host.credentials.run_token, host.credentials.bearer_token)
    records = (_make_showable(read_record(one), held) for one in reversed(conversation))
    taken: list[JsonValue] = [*_take_last(one for one in records if one is not None)]
    return {"said": taken[::-1]} if taken else {}


def _make_showable(record: Record, held: tuple[str, ...]) -> Record | None:
    """A message as a gate may show it: a gate refuses to show credentials, governed keys and what no
    database stores, and what was said must not keep a person from being asked.  None where nothing of
    it can be shown.
    """
    clean: Any = _clean(without_governed(record, where="what was said before a gate"), held)
    try:
        check_value(clean, where="what was said before a gate")
    except ValueRefused:
        return None
    return None if find_secret(clean) or find_governed(clean) else clean


def _clean(value: Any, held: tuple[str, ...]) -> Any:
    """Without credentials: cut out of texts, and members left out that are named like some."""
    if isinstance(value, str):
        return redact(value, held)
    if isinstance(value, list):
        return [_clean(item, held) for item in value]
    if not isinstance(value, dict):
        return value
    made = {redact(key, held): _clean(item, held) for key, item in value.items()}
    return {key: item for key, item in made.items() if not find_secret({key: item})}


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

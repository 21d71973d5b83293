"""The values that a gate of a flow shows."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.context.refusal import REFUSED_KEY
from cinatra_sdk.flow.frame import MISSING, Frame
from cinatra_sdk.flow.reopening import REFUSED
from cinatra_sdk.governed.secrets import find_secret, without_secrets
from cinatra_sdk.templates.rendering import Renderer, TemplateError
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

_OPENS: Final = re.compile(r"\{[{%#]")
_CLOSES: Final = {"{{": "}}", "{%": "%}", "{#": "#}"}
_QUOTED: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
"""A quoted text; an unclosed one goes to the end, so that it is read once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownValues:
    """The data that a gate shows.

    From the least to the most specific: the flow's visible inputs, what the node before put out,
    the gate's message (its own, else that of the node before), and its own declared inputs.
    A message that its author wrote as one JSON object is shown by its members, any other as `output`.
    Only the author's own choices (message, declared inputs) may fail on a secret; what the
    runtime adds by itself is left out instead.
    """

    frame: Frame
    start: str
    """Channel of the StartNode."""
    hidden: frozenset[str]
    """Inputs of the flow that no person sees."""
    message: Renderer | None
    """The gate's own message."""
    authored: frozenset[str]
    """Names that the author wrote into the message itself."""
    previous: Mapping[str, frozenset[str]]
    """Channels of the nodes before, each with the names in the text of its message."""
    finalizes: tuple[str, ...] = ()
    """Channels of the nodes that ask this gate again."""

    def channels(self) -> tuple[str, ...]:
        return (self.start, *self.previous, *self.finalizes)

    def values(self, state: Mapping[str, Any]) -> dict[str, JsonValue]:
        extra: dict[str, JsonValue] = {}
        started = state.get(self.start)
        if started is not None:
            extra.update({k: v for k, v in started["out"].items() if k not in self.hidden})
        before, last = self._find_last_record(state)
        if last is not None:
            extra.update(last["out"])
        own: dict[str, JsonValue] = {}
        found = self._find_inputs(state)
        if self.message is not None:
            text = self._render(self.message, found)
            own.update({} if text is None else _message_values(text, self.authored))
        elif last is not None and "message" in last:
            own.update(_message_values(last["message"], self.previous[before]))
        own.update(_replace_missing(found))
        return {**without_secrets(extra), **own, **self._read_refusal(state)}

    def find_message(self, state: Mapping[str, Any]) -> str | None:
        """The gate's own message; None where it has none, or its inputs have no value yet."""
        if self.message is None:
            return None
        return self._render(self.message, self._find_inputs(state))

    def _find_inputs(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {plan.title: self.frame.look_up(plan, state) for plan in self.frame.inputs}

    def _render(self, message: Renderer, found: Mapping[str, Any]) -> str | None:
        """The gate's own message; `None` if an input of it has no value yet.

        In a loop a later node may supply that input: the gate shows null for it, and asks all the
        same.
        """
        try:
            text = message.text(_replace_missing(found))
        except TemplateError as error:
            if MISSING in found.values():
                return None
            raise self.frame.failed(f"message: {error}") from None
        # An input of the same name may hide it on the screen; in the conversation it would stand.
        if secret := find_secret(text):
            raise self.frame.failed(f"message: it would show a secret: {secret}")
        return text

    def _read_refusal(self, state: Mapping[str, Any]) -> dict[str, JsonValue]:
        """Why a person is asked again, at the gate of a context selection."""
        for channel in self.finalizes:
            refused = (state.get(channel) or {}).get(REFUSED)
            if refused is not None:
                return {REFUSED_KEY: {k: v for k, v in refused.items() if k != "times"}}
        return {}

    def _find_last_record(self, state: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
        records = [(c, state[c]) for c in self.previous if state.get(c) is not None]
        return max(records, key=lambda one: one[1]["seq"]) if records else ("", None)


def _replace_missing(found: Mapping[str, Any]) -> dict[str, Any]:
    return {title: None if value is MISSING else value for title, value in found.items()}


def _message_values(text: str, authored: frozenset[str]) -> dict[str, JsonValue]:
    """The members of a message, where the author wrote the name of each; else all of it as text.

    What a model or a caller puts into a message must not replace what else the gate shows.
    """
    try:
        decoded = read_json(text)
    except NotStrictJson:
        decoded = None
    return decoded if isinstance(decoded, dict) and decoded.keys() <= authored else {"output": text}


def find_quoted_texts(message: str | None) -> frozenset[str]:
    """The quoted texts that stand in a message outside of its template language."""
    found = set()
    for quoted in _QUOTED.findall(_without_language(message or "")):
        with contextlib.suppress(NotStrictJson):
            found.add(str(read_json(quoted)))
    return frozenset(found)


def _without_language(message: str) -> str:
    parts, at = [], 0
    while opened := _OPENS.search(message, at):
        end = message.find(_CLOSES[opened[0]], opened.end())
        if end < 0:
            break
        parts.append(message[at : opened.start()])
        at = end + 2
    return "".join(parts) + message[at:]

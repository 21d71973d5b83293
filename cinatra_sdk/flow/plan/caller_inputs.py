"""The inputs of a caller: declared inputs are checked; all other keys are dropped and reported.

accepted_inputs(ports, {"topic": "x", "bearer_token": "stolen", "typo": 1})
    -> Accepted(values={"topic": "x"},
                ignored=("R01_IGNORED bearer_token: …", "typo: not an input …"))
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from cinatra_sdk.contract import RUN_ID_INPUTS
from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.light_imports.records import dataclass

log = logging.getLogger("oasflow.flow")

ENGINE_OWNED: Final = frozenset(
    {"bearer_token", "approval_policy", "run", "rejected_at", "status", "approvedAt"}
)


_MOST_HINTS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupInputs:
    """The inputs of a flow, and who supplies them."""

    inputs: tuple[TypedPort, ...]
    required: tuple[str, ...] = ()
    """Inputs without which the run cannot begin, in the order in which they are asked."""
    hidden: tuple[str, ...] = ()
    """Inputs that only the caller supplies; a person is never asked for them."""
    renderers: Mapping[str, str] = field(default_factory=dict)
    """Input → id of the screen that asks for it."""

    def list_pending(self, given: Mapping[str, Any]) -> list[str]:
        """Required inputs that a person must still supply; present but empty counts as supplied."""
        asked = (title for title in self.required if title not in self.hidden)
        return [title for title in asked if title not in given]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The caller's parameters after the border."""

    values: dict[str, Any]
    ignored: tuple[str, ...] = ()
    """What was dropped, one sentence each."""
    stray: tuple[str, ...] = ()
    """The sentences of those that nobody sets: slips of the caller."""


def accepted_inputs(
    ports: Sequence[TypedPort], params: Mapping[str, Any], *, ids_of_run: Sequence[str] = ()
) -> Accepted:
    """The declared ones of `params`, but for `ids_of_run`, which no caller sets.

    Raises: `InputInvalid` naming the input whose value has the wrong type; `ValueRefused`.
    """
    if not isinstance(params, Mapping):
        raise InputInvalid(
            f"the inputs are a {type(params).__name__}, not an object",
            hint="give them by name: {'topic': …}",
        )
    known = {port.title: port for port in ports if port.title not in ids_of_run}
    values: dict[str, Any] = {}
    ignored: list[str] = []
    stray: list[str] = []
    for title, value in params.items():
        if title in ids_of_run:
            ignored.append(f"R01_IGNORED {title}: it carries the run's own id")
            continue
        if title not in known:
            # One hint compares a name with all others: nobody reads the thirtieth.
            near = known if len(ignored) < _MOST_HINTS else {}
            why = _why_ignored(str(title), near)
            ignored.append(why)
            stray += [] if title in ENGINE_OWNED else [why]
            continue
        check_value(value, where=f"input '{title}'")
        problem = first_problem(known[title].schema.text, value)
        default = known[title].default
        # Real files have defaults that break their own type (an empty string for a list): a
        # caller may say what the file itself says.
        if problem and (default is None or default.value() != value):
            raise InputInvalid(f"input '{title}': {problem}")
        values[title] = json.loads(json.dumps(value))
    return Accepted(values=values, ignored=tuple(ignored), stray=tuple(stray))


def require_no_stray(accepted: Accepted) -> Accepted:
    """The same, for a caller who hears no log: what only the host sets is dropped and logged.

    Raises: `InputInvalid` naming a given input that the flow does not have.
    """
    for sentence in accepted.ignored:
        if sentence in accepted.stray:
            raise InputInvalid(f"input {sentence}", hint="give the declared inputs only")
        log.warning("input ignored: %s", sentence)
    return accepted


def refuse_unknown(params: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse what the flow has no input for, as a slip of the caller; what only the host sets, and the
    ids of the run, are left for those who drop them.

    known: the flow's inputs by name.  Raises: `InputInvalid`, which names the first.
    """
    for title in params:
        if title in known or title in ENGINE_OWNED or title in RUN_ID_INPUTS:
            continue
        near = did_you_mean(str(title), known)
        raise InputInvalid(
            f"input {title}: not an input of this flow" + (f", {near}" if near else ""),
            hint="give the declared inputs only"
            + (f": {', '.join(known)}" if 0 < len(known) <= _MOST_HINTS else ""),
        )


def require_hidden(setup: SetupInputs, values: Mapping[str, Any]) -> None:
    """Raise `InputInvalid` for a required input that no person is asked for and nobody supplied."""
    defaults = {port.title for port in setup.inputs if port.default is not None}
    supplied = {*values, *defaults, *RUN_ID_INPUTS}
    missing = [title for title in setup.required if title in setup.hidden and title not in supplied]
    if missing:
        raise InputInvalid(
            f"the flow is missing the required input '{missing[0]}'",
            hint="the caller supplies it: it is hidden from people",
        )


def _why_ignored(title: str, known: Mapping[str, TypedPort]) -> str:
    if title in ENGINE_OWNED:
        return f"R01_IGNORED {title}: only the host sets it"
    hint = did_you_mean(title, known)
    return f"{title}: not an input of this flow" + (f", {hint}" if hint else "")

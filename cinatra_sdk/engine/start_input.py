"""The input by which a caller of a graph begins a compiled flow.

In: what `graph.invoke` and its kin were given, and the names of the flow's inputs.  Out: nothing, or an
error that names what would be lost.

    {"inputs": {"topic": "Bees"}}       right
    {"topic": "Bees"}                   refused: give {"inputs": {"topic": …}}
    {"inputs": {}, "messages": […]}     refused: the flow takes no 'messages'

The engine drops every name that is no key of the graph's input, so that a run would begin without what
its caller gave.  A name that only the host sets is dropped, and logged, as everywhere (R-01).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from typing import Any, Final

from langgraph.types import Command

from cinatra_sdk.contract import GOVERNED_KEYS
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.governed.state import MISSING, unseal
from cinatra_sdk.text.spelling import did_you_mean

log = logging.getLogger("oasflow.state")

DECLARED: Final = "declared_inputs"
"""Attribute of the input schema of a compiled flow's graph: the names of the flow's inputs."""
_INPUTS: Final = "inputs"
_MOST_SHOWN: Final = 5


def require_start_input(given: Any, schema: Any) -> None:
    """schema: of the graph's input; nothing is required of a graph that was written by hand.

    Raises: `InputInvalid`.
    """
    declared: Collection[str] | None = getattr(schema, DECLARED, None)
    if declared is None or given is None or isinstance(given, Command):
        return
    if not isinstance(given, Mapping):
        raise InputInvalid(
            f"the input of a flow is an object, not a {type(given).__name__}",
            hint=_describe_right_input(declared, ()),
        )
    stray = [str(name) for name in given if name != _INPUTS and not _is_of_host(name, given[name])]
    if not stray:
        return
    named = ", ".join(f"'{name[:100]}'" for name in stray[:_MOST_SHOWN])
    more = len(stray) - _MOST_SHOWN
    raise InputInvalid(
        f"the input of a flow has the one member 'inputs', and {named} "
        f"{f'and {more} more ' if more > 0 else ''}would be lost",
        hint=_describe_right_input(declared, stray),
    )


def _is_of_host(name: Any, value: Any) -> bool:
    """Whether the host made the value (a graph around gives its run to this one), or only it may.

    A caller's value under such a name is dropped by the graph, and logged here.
    """
    if unseal(value) is not MISSING:
        return True
    if name not in GOVERNED_KEYS:
        return False
    log.warning("R01_IGNORED: an input %r that the host did not make", name)
    return True


def _describe_right_input(declared: Collection[str], stray: Collection[str]) -> str:
    mine = [name for name in stray if name in declared]
    if not mine and (near := [one for name in stray if (one := did_you_mean(name, declared))]):
        return f'{near[0]} it stands in {{"inputs": …}}'
    shown = mine or list(declared)[:_MOST_SHOWN]
    members = ", ".join(
        f"{json.dumps(name, ensure_ascii=False)}: …" for name in shown[:_MOST_SHOWN]
    )
    return f'give {{"inputs": {{{members}}}}}' + ("" if declared else ": the flow takes no inputs")

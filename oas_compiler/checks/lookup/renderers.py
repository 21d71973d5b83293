"""The renderers that a flow names, and whether a run can show each to a person.

    InputMessageNode metadata.cinatra.renderer "@x/mail:review"   ->   emitted
    StartNode inputRenderers, gateSteps, x-renderer of an input   ->   emitted
    ApiNode metadata.cinatra.renderer                             ->   named only: it never pauses
    InputMessageNode renderer beside inputRenderers[<its output>] ->   named only: the latter wins
    a gate whose entry of gateSteps names another one             ->   named only: the entry wins
    a hidden input, or one of a subflow's StartNode               ->   named only: nobody is asked

For the rules about hitlScreens and about renderer ids; not a rule itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher, get_close_matches
from typing import Final

from cinatra_sdk.data.text.message_words import LONGEST_COMPARED
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.subject import Subject, Text, Written
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.ir import JsonValue, StartNode, walk
from oas_compiler.kinds.registry import find_kind

_FORM: Final = re.compile(r"@[\w-]+/[\w-]+:[\w-]+", re.ASCII)
_NO_INPUT = frozenset({"data", "body", "config", "default", "enum", "examples", "const"})
"""Members below which an `x-renderer` is part of a message or a value, not of a schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """One place where a renderer is named."""

    value: JsonValue
    """The renderer id as the author wrote it, perhaps malformed."""
    pointer: str
    by: str
    """The component that names it, for messages: `the InputMessageNode "review"`."""
    emitted: bool
    """Whether a run can pause with it."""


def is_renderer_id(value: JsonValue) -> bool:
    """Whether this is `@scope/package:name`, or a template that may become one."""
    return isinstance(value, str) and ("{{" in value or _FORM.fullmatch(value) is not None)


def named_renderers(subject: Subject) -> tuple[Named, ...]:
    """Every renderer of every flow of the document; empty strings mean the host's own form."""
    found = [one for component in subject.components for one in _of_component(component)]
    unseen = _unseen_inputs(subject)
    found += [
        Named(
            value=text.value,
            pointer=text.pointer,
            by=_describe_field(text),
            emitted=not text.pointer.startswith(unseen),
        )
        for text in subject.texts
        if text.keys[-1:] == ("x-renderer",) and not _NO_INPUT & set(_select_inner_keys(text))
    ]
    shown = _shown_by_gates(subject)
    return tuple(
        replace(one, emitted=False) if _is_never_shown(one, subject, shown) else one
        for one in found
        if one.value is not None and one.value != ""
    )


def _unseen_inputs(subject: Subject) -> tuple[str, ...]:
    """Pointers of inputs that no person is asked for: hidden ones, and those of a subflow."""
    root = subject.root
    starts = list(subject.of_type("StartNode"))
    own = next((start for start in starts if root is not None and start.flow == root.pointer), None)
    if root is None or own is None:
        return ()
    hidden = own.cinatra.get("hidden")
    names = hidden if isinstance(hidden, list) else []
    found = [f"{start.at('inputs')}/" for start in starts if start is not own]
    flows = (flow for flow in subject.of_type("Flow") if flow.pointer != root.pointer)
    found += [f"{flow.at('inputs')}/" for flow in flows]
    for owner in (root, own):
        for index, item in enumerate(owner.items("inputs")):
            if isinstance(item, dict) and item.get("title") in names:
                found.append(f"{owner.at('inputs', index)}/")
    return tuple(found)


def _shown_by_gates(subject: Subject) -> dict[str, set[str]]:
    """Pointer of a gate, or of a FlowNode around one → the screens that it is shown with.

    An entry of gateSteps wins over the gate's own renderer.
    """
    control, flow = subject.control, subject.flow
    if control is None or flow is None or not isinstance(flow.by_id.get(flow.start), StartNode):
        return {}
    nodes = dict(walk(flow))
    found: dict[str, set[str]] = {}
    for gate in control.approval.gates:
        for depth in range(1, len(gate.path) + 1):
            around = nodes.get(gate.path[:depth])  # none: the place of one flow of several
            if around is not None:
                found.setdefault(around.place.pointer, set()).add(gate.renderer)
    return found


def _is_never_shown(one: Named, subject: Subject, shown: Mapping[str, set[str]]) -> bool:
    """Whether no run can pause with a renderer where it is named."""
    pointer, inside, rest = one.pointer.partition("/metadata/cinatra/")
    if not inside:
        return False
    if rest.startswith("inputRenderers/"):
        start = next((s for s in subject.of_type("StartNode") if s.pointer == pointer), None)
        if start is not None:
            return _asks_nobody(start, rest.removeprefix("inputRenderers/"), subject)
    if rest == "renderer" or rest.startswith(("inputRenderers/", "gateSteps/")):
        screens = shown.get(pointer)
        return screens is not None and isinstance(one.value, str) and one.value not in screens
    return False


def _asks_nobody(start: Written, title: str, subject: Subject) -> bool:
    """Whether an input of a StartNode is in a subflow, or hidden: the run begins without asking."""
    hidden = start.cinatra.get("hidden")
    name = title.replace("~1", "/").replace("~0", "~")
    root = subject.root
    in_subflow = root is not None and start.flow != root.pointer
    return in_subflow or (isinstance(hidden, list) and name in hidden)


def registered_screens(subject: Subject) -> list[str]:
    """The ids under `cinatra.fieldRenderers` of package.json."""
    declared = subject.package.cinatra.get("fieldRenderers") if subject.package else None
    entries = declared if isinstance(declared, list) else []
    names = (entry.get("id") for entry in entries if isinstance(entry, dict))
    return [name for name in names if isinstance(name, str)]


def meant_screen(value: str, unused: Sequence[str]) -> str:
    """The listed id with almost the same spelling, also after the colon; the front is often the
    same.
    """
    known = [name for name in unused[:50] if len(name) <= LONGEST_COMPARED]
    for near in get_close_matches(value[: LONGEST_COMPARED + 1], known, n=3, cutoff=0.85):
        names = (near.rpartition(":")[2], value.rpartition(":")[2])
        if SequenceMatcher(None, *names).ratio() >= 0.75:
            return near
    return ""


def _of_component(component: Written) -> Iterator[Named]:
    kind = find_kind(component.type)
    about, pauses = component.cinatra, kind is not None and kind.shows_screens
    by_input = about.get("inputRenderers")
    titles = by_input if isinstance(by_input, dict) else {}
    is_gate = component.type == "InputMessageNode"
    answer = _choose_answer_name(component) if is_gate else ""
    overridden = is_gate and bool(titles.get(answer))
    if "renderer" in about:
        yield _make_named_renderer(component, pauses and not overridden, "renderer")
    for title in titles:
        # a gate has one answer, and is shown with the renderer of that
        shown = pauses and (not is_gate or title == answer)
        yield _make_named_renderer(component, shown, "inputRenderers", title)
    steps = about.get("gateSteps")
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict) and "renderer" in step:
            yield _make_named_renderer(component, pauses, "gateSteps", index, "renderer")


def _choose_answer_name(gate: Written) -> str:
    """The host's name for the answer of a gate: its output, else the gate's id."""
    return next(iter(gate.titles("outputs")), gate.id)


def _make_named_renderer(component: Written, emitted: bool, *keys: str | int) -> Named:
    value: JsonValue = component.cinatra
    for key in keys:
        value = value[key]  # type: ignore[index]  # the caller has found the keys
    pointer = component.at("metadata", "cinatra", *keys)
    return Named(value=value, pointer=pointer, by=component.label, emitted=emitted)


def _describe_field(text: Text) -> str:
    """Who carries an `x-renderer`: a property of a schema by its name, an input of a list."""
    owner = text.keys[-2] if len(text.keys) > 1 else "inputs"
    is_list = owner in {"inputs", "outputs", "json_schema", "items"}
    return "an input" if is_list else f'the field "{owner[:80]}"'


def _select_inner_keys(text: Text) -> tuple[str, ...]:
    """The members on the way from the innermost component: a component may be called `data`."""
    for index in range(len(text.keys) - 1, -1, -1):
        if text.keys[index] == DEFINITIONS:
            return text.keys[index + 2 :]
    return text.keys

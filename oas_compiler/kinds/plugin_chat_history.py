"""PluginGetChatHistoryNode: what was said in the run, as a text or a list.

n: 4                           ->  one output "chat_history": string
n: 4, outputs: [an array]      ->  one output "chat_history": array

Source: WayFlow's `PluginGetChatHistoryNode`.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import PLUGIN_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import exactly_one, next_only, specialised
from oas_compiler.ir import ANY, STRING, ArrayType, Node, Port
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.templates import TemplateInvalid

HISTORY: Final = "chat_history"
_USUAL_TEMPLATE: Final = (
    "{% for m in chat_history %}{{ m.message_type }} >> {{ m.content }}"
    "{% if not loop.last %}\n{% endif %}{% endfor %}"
)
_USUAL_COUNT: Final = 10
_USUAL_TYPES: Final = ("USER", "AGENT")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginGetChatHistoryNode(Node):
    """In the IR: which messages, and how they are put."""

    most: int = _USUAL_COUNT
    skip: int = 0
    from_end: bool = True
    types: tuple[str, ...] | None = _USUAL_TYPES
    template: str | None = None


def build_history(site: Site) -> Node:
    fields = site.component.fields
    declared = site.declared("outputs") or ()
    is_list = any(isinstance(port.type, ArrayType) for port in declared)
    template = None if is_list else site.component.text("output_template") or _USUAL_TEMPLATE
    kind = STRING if template is not None else ArrayType(ANY)
    output = Port(title=HISTORY, type=kind, place=site.place())
    outputs = specialised(site, "outputs", (output,), "node")
    return PluginGetChatHistoryNode(
        **common(site),
        inputs=specialised(site, "inputs", _infer_inputs(site, template or ""), "template"),
        outputs=exactly_one(site, outputs, "outputs", "output"),
        branches=next_only(site),
        most=_read_count(site, "n", _USUAL_COUNT),
        skip=_read_count(site, "offset", 0),
        from_end=fields.get("which_messages", "last") != "first",
        types=_read_types(site),
        template=template,
    )


def _infer_inputs(site: Site, template: str) -> tuple[Port, ...]:
    try:
        names = site.templates.names(template)
    except TemplateInvalid as error:
        message = f"the template is not valid: {error}"
        site.error("OAS080", message, "output_template", hint=error.hint)
        return ()
    return tuple(
        Port(title=name, type=ANY, place=site.place()) for name in names if name != HISTORY
    )


def _read_count(site: Site, field: str, usual: int) -> int:
    value = site.component.fields.get(field)
    if value is None or (type(value) is int and value >= 0):
        return value if isinstance(value, int) else usual
    site.error("OAS022", f"{field} of {site.label} must be a whole number from 0", field)
    return usual


def _read_types(site: Site) -> tuple[str, ...] | None:
    items = site.component.items("message_types")
    if items is None:
        return _USUAL_TYPES
    return tuple(str(one).upper() for one in items) or None


PLUGIN_CHAT_HISTORY = NodeKind(
    component_type="PluginGetChatHistoryNode",
    node=PluginGetChatHistoryNode,
    build=build_history,
    words="Gives what was said in the run.",
    fields={
        **PLUGIN_FIELDS,
        "n": Field("any", "Messages, at most; 10 where left out."),
        "which_messages": Field("text", "`last` or `first`."),
        "offset": Field("any", "Messages that are left out at that end."),
        "message_types": Field("list", "USER, AGENT, …; an empty list: all."),
        "output_template": Field(
            "text",
            "A template over `chat_history`; none where the output is a list.",
            template=False,
        ),
    },
    acts=False,
    caption="what was said",
    lowering="oas_compiler.lower.plain_nodes:lower_history",
)

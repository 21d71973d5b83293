"""PluginChoiceNode: a model chooses the way on.

next_branches: [["refund", "The customer wants money back."], ["other", "Anything else.", "talk"]]
    ->  branches "refund", "other", "default"; the model is told of "refund" and "talk"

Source: WayFlow's `PluginChoiceNode`.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import PLUGIN_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import checked_branches, specialised
from oas_compiler.ir import NOTHING, STRING, Json, JsonValue, Node, Port
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.llm import LLM, read_config
from oas_compiler.templates import TemplateInvalid

STEPS: Final = "next_steps"
"""The name of the choices in the prompt."""
SELECTED: Final = "selected_choice"
SAID: Final = "llm_output"
_INPUT: Final = "input"
"""What the choice is about; the node has it whatever its prompt says."""
_DEFAULT: Final = "default"
_USUAL_TOKENS: Final = 7
USUAL_PROMPT: Final = """Choose the task that fits a request, and answer with its name and nothing else.
The tasks:
{% for step in next_steps %}- {{ step.displayed_step_name }}: {{ step.description }}
{% endfor %}
The request: {{ input }}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginChoiceNode(Node):
    """In the IR: the choices, and how the model is asked."""

    prompt_template: str
    llm_config: Json = NOTHING
    """As of an LlmNode."""
    choices: tuple[tuple[str, str, str], ...] = ()
    """(branch, description, what the model calls it)."""
    most_tokens: int = _USUAL_TOKENS


def build_choice(site: Site) -> Node:
    choices = _read_choices(site)
    prompt = site.component.text("prompt_template") or USUAL_PROMPT
    branches = dict.fromkeys((*(branch for branch, _, _ in choices), _DEFAULT))
    text = Json.of({"type": "string"})
    outputs = tuple(
        Port(title=title, type=STRING, schema=text, place=site.place())
        for title in (SELECTED, SAID)
    )
    return PluginChoiceNode(
        **common(site),
        inputs=specialised(site, "inputs", _infer_inputs(site, prompt), "prompt"),
        outputs=specialised(site, "outputs", outputs, "node"),
        branches=checked_branches(site, tuple(branches)),
        prompt_template=prompt,
        llm_config=read_config(site),
        choices=choices,
        most_tokens=_read_tokens(site),
    )


def _infer_inputs(site: Site, prompt: str) -> tuple[Port, ...]:
    try:
        names = site.templates.names(prompt)
    except TemplateInvalid as error:
        message = f"the template is not valid: {error}"
        site.error("OAS080", message, "prompt_template", hint=error.hint)
        return ()
    titles = dict.fromkeys((_INPUT, *(name for name in names if name != STEPS)))
    return tuple(Port(title=title, type=STRING, place=site.place()) for title in titles)


def _read_choices(site: Site) -> tuple[tuple[str, str, str], ...]:
    found: list[tuple[str, str, str]] = []
    for index, entry in enumerate(site.component.items("next_branches") or ()):
        texts = [part for part in entry if isinstance(part, str)] if isinstance(entry, list) else []
        if isinstance(entry, list) and len(texts) == len(entry) and len(texts) in (2, 3):
            branch, description, *shown = texts
            found.append((branch, description, shown[0] if shown else branch))
            continue
        site.findings.error(
            "OAS022",
            f"an entry of next_branches of {site.label} must be a list of two or three texts",
            site.place(f"{site.component.at('next_branches')}/{index}"),
            hint="write [branch, description], or the model's name for it as a third",
        )
    return tuple(found)


def _read_tokens(site: Site) -> int:
    value: JsonValue = site.component.fields.get("num_tokens")
    if value is None or (type(value) is int and value >= 1):
        return value if isinstance(value, int) else _USUAL_TOKENS
    site.error("OAS022", f"num_tokens of {site.label} must be a whole number from 1", "num_tokens")
    return _USUAL_TOKENS


PLUGIN_CHOICE = NodeKind(
    component_type="PluginChoiceNode",
    node=PluginChoiceNode,
    build=build_choice,
    words="Lets a model choose the way on.",
    fields={
        **PLUGIN_FIELDS,
        "llm_config": Field("component", "The model that chooses.", required=True),
        "next_branches": Field("list", "[branch, description, name for the model].", required=True),
        "prompt_template": Field("text", "What it is asked; a template over `next_steps`, too."),
        "num_tokens": Field("any", "Tokens of its answer, at most; 7 where left out."),
    },
    behind=LLM.behind,
    shape="branch",
    caption="a model chooses",
    lowering="oas_compiler.lower.service_nodes:lower_choice",
)

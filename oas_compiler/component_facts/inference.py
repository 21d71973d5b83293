"""Infers ports and branches from other parts of the file.

    "{{ topic }}" and no `inputs`      ->  one input "topic" of type any
    "{{ topc }}" and an input "topic"  ->  OAS081 did you mean "topic"?
    an input that no template uses     ->  OAS082
    branches that the node cannot have ->  OAS051

Source of the rules: Agent Spec, inference of inputs, outputs and branches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import Component, Site, label_of
from oas_compiler.component_facts.metadata import attached_input, named_inputs
from oas_compiler.findings.finding import nearest
from oas_compiler.ir import EndNode, FlowIR, JsonValue, Port
from oas_compiler.ir.printout import brief
from oas_compiler.port_types import UNREADABLE
from oas_compiler.templates import TemplateInvalid, strings

# ----------------------------------------------------------------------------
# Hints for templates that were written as JavaScript.
#
#     "{{ name ? name : 'you' }}"   ->   write {{ name if name else 'you' }}
#     "{{ a || b }}"                ->   write or instead of ||
#
# In: a template that is not valid.  Out: a hint, or nothing where the cause is another one.


_LONGEST: Final = 4_000
"""Characters of a template that are looked at; what people write in braces is shorter."""
_LONGEST_SHOWN: Final = 80
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_WORDS: Final = (
    ("===", "write == instead of ==="),
    ("!==", "write != instead of !=="),
    ("?.", "write . instead of ?.: a member that is not there is looked up with | default('')"),
    ("??", "write {{ a | default(b) }} instead of ??"),
    ("||", "write or instead of ||"),
    ("&&", "write and instead of &&"),
)


def cure(template: str) -> str:
    """The hint; empty where nothing of JavaScript stands between braces."""
    for inside in _iterate_insides(template[:_LONGEST]):
        bare = _QUOTED.sub(lambda found: "_" * len(found[0]), inside)
        # the longer of two that begin alike decides: !== holds ==, ?? holds ?
        for word, hint in _WORDS:
            if word in bare:
                return hint
        question = bare.find("?")
        colon = bare.find(":", question)
        if 0 <= question < colon:
            return f"write {_format_conditional(inside, question, colon)}"
        if bare.lstrip().startswith("!"):
            return "write not instead of !"
    return ""


def _format_conditional(inside: str, question: int, colon: int) -> str:
    """`a ? b : c` as Jinja writes it, with the author's own words where they are short."""
    test, yes, no = (
        part.strip()
        for part in (inside[:question], inside[question + 1 : colon], inside[colon + 1 :])
    )
    if len(inside) > _LONGEST_SHOWN or not (test and yes and no):
        return "{{ b if a else c }} instead of a ? b : c"
    return f"{{{{ {yes} if {test} else {no} }}}}"


def _iterate_insides(template: str) -> Iterator[str]:
    """What stands between `{{` and `}}`, and between `{%` and `%}`."""
    at = 0
    while True:
        starts = [found for mark in ("{{", "{%") if (found := template.find(mark, at)) >= 0]
        if not starts:
            return
        start = min(starts)
        close = "}}" if template.startswith("{{", start) else "%}"
        stop = template.find(close, start + 2)
        stop = len(template) if stop < 0 else stop
        yield template[start + 2 : stop]
        at = stop + 2


_MOST_NAMED: Final = 5
_BRACES = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def _merge_ports(first: tuple[Port, ...], second: tuple[Port, ...]) -> tuple[Port, ...]:
    """Ports of both lists, `first` deciding about those in both."""
    titles = {port.title for port in first}
    return first + tuple(port for port in second if port.title not in titles)


def same_ports(site: Site) -> tuple[Port, ...] | None:
    """Inputs and outputs of a StartNode or EndNode, which are one set."""
    inputs, outputs = site.declared("inputs"), site.declared("outputs")
    if inputs is None or outputs is None:
        return inputs if inputs is not None else outputs
    if site.is_flawed("inputs") or site.is_flawed("outputs"):
        return _merge_ports(inputs, outputs)
    different = {port.title for port in inputs} ^ {port.title for port in outputs}
    if different:
        names = ", ".join(sorted(different))
        site.error(
            "OAS065",
            f"inputs and outputs of {site.label} are one set, here they differ: {names}",
            "inputs",
            hint="declare one of the two lists",
        )
    elif site.reader.is_plain:
        _compare_ports(site, inputs, outputs)
    return _merge_ports(inputs, outputs)


def _compare_ports(site: Site, inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> None:
    """Report the first port that is something else among the outputs: the inputs count."""
    known = {port.title: port for port in inputs}
    for port in outputs:
        own = known[port.title]
        problem = ""
        if port.type != own.type and UNREADABLE not in (port.type, own.type):
            problem = f"{brief(own.type)} among its inputs, {brief(port.type)} among its outputs"
        elif port.default not in (None, own.default):
            problem = "with a default among its outputs that its inputs do not have"
        if problem:
            site.findings.error(
                "OAS065",
                f'inputs and outputs of {site.label} are one set, here "{port.title}" is {problem}',
                port.place,
                hint="declare one of the two lists",
            )
            return


def differ(site: Site) -> bool:
    """Whether `same_ports` would report a finding."""
    both = [site.component.items(field) for field in ("inputs", "outputs")]
    titles = [{_read_title(item) for item in items} for items in both if items is not None]
    return len(titles) == 2 and titles[0] != titles[1]


def _read_title(item: JsonValue) -> str:
    title = item.get("title") if isinstance(item, dict) else None
    return title if isinstance(title, str) else ""


def exactly_one(site: Site, ports: tuple[Port, ...], field: str, rule: str) -> tuple[Port, ...]:
    """`ports` when there is exactly one of them."""
    if len(ports) != 1 and not site.is_flawed(field):
        message = f"{site.label} needs exactly one {rule}, it has {len(ports)}"
        named = ", ".join(f'"{port.title[:80]}"' for port in ports[:_MOST_NAMED])
        hint = f"keep one of {named}" if ports else f'add one to {field}: {{"title": "…"}}'
        site.error("OAS035", message, field, hint=hint)
    return ports


def next_only(site: Site) -> tuple[str, ...]:
    return checked_branches(site, ("next",))


def checked_branches(site: Site, real: tuple[str, ...]) -> tuple[str, ...]:
    """The branches a node really has; declared ones must be the same."""
    declared = site.component.items("branches")
    if declared is not None and sorted(map(str, declared)) != sorted(real):
        site.error(
            "OAS051",
            f"the branches of {site.label} are {_join_names(real)}, it declares "
            f"{_join_names(str(name) for name in declared)}",
            "branches",
            hint=_meant_branch(site, {str(name) for name in declared} - set(real))
            or "remove branches: they follow from the node",
        )
    return real


def _meant_branch(site: Site, other: set[str]) -> str:
    """The value of a mapping that is almost one of the branches that are declared and not real."""
    for key, branch in site.component.mapping("mapping").items():
        near = did_you_mean(branch, other) if isinstance(branch, str) else ""
        if near:
            return f'"{key[:80]}" is mapped to "{str(branch)[:80]}": {near}'
    return ""


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names) or "none"


def branches_of(flow: FlowIR) -> tuple[str, ...]:
    """The branches by which a node over this flow is left."""
    ends = [node for node in flow.nodes if isinstance(node, EndNode)]
    return tuple(dict.fromkeys(end.branch_name for end in ends))


def specialised(site: Site, field: str, inherited: tuple[Port, ...], what: str) -> tuple[Port, ...]:
    """The inherited ports, where the node itself may narrow a type or add a default.

    Declared titles are exactly the inherited ones: Agent Spec, inference of inputs and outputs.
    """
    own = site.declared(field)
    declared = {port.title: port for port in own or ()}
    known = {port.title for port in inherited}
    if site.has_unread_ports:
        return tuple(declared.get(port.title, port) for port in inherited)
    for title, port in declared.items():
        if title not in known:
            site.findings.error(
                "OAS067",
                f'"{title}" is not one of the {field} of the {what} of {site.label}',
                port.place,
                hint=nearest(title, known, site.findings)
                or f"the {field} of the {what}: {_join_names(sorted(known)[:_MOST_NAMED])}",
            )
    # a wrong title is mostly a misspelt one: what it means is not missing too
    if own is not None and known >= declared.keys():
        for port in inherited:
            if port.title not in declared:
                site.error(
                    "OAS067",
                    f'{site.label} leaves out "{port.title}", one of the {field} of its {what}',
                    field,
                    hint=f"declare all of them, or leave {field} out: they follow from the {what}",
                )
    ports: list[Port] = []
    for port in inherited:
        chosen = declared.get(port.title, port)
        ports.append(
            chosen if chosen.default is not None else replace(chosen, default=port.default)
        )
    return tuple(ports)


def none_declared(site: Site, field: str) -> tuple[Port, ...]:
    """No ports, for a node that cannot have ports of this kind; declared ports are reported."""
    for port in site.declared(field) or ():
        site.findings.error(
            "OAS067",
            f'{site.label} has no {field}, it declares "{port.title}"',
            port.place,
            hint="remove it",
        )
    return ()


def template_inputs(
    site: Site, *fields: str, also: tuple[str, ...] | None = (), of: Component | None = None
) -> tuple[Port, ...]:
    """Declared inputs, checked against the placeholders of templates, or inferred from them.

    `fields` hold the templates; without any, those fields do that the type declares as templates.
    `also` are more fields where a declared input may be used; `None` leaves unused ones alone.
    `of` is another component than the node, whose templates these are.
    """
    component = of or site.component
    fields = fields or tuple(name for name, field in site.fields.items() if field.template)
    declared = site.declared("inputs", component)
    known = {port.title for port in declared or ()}
    read = _read_templates(site, component, fields)
    if declared is None and site.reader.is_plain and not component.has("url"):
        # only a request has names in capitals that the host fills in
        for name in sorted(filter(str.isupper, _plain_names(component, fields))):
            read.names[name] = Port(title=name, place=site.place(component.at(fields[0])))
    inferred = {name: port for name, port in read.names.items() if name not in known}
    if declared is None or site.is_flawed("inputs", component):
        return (*(declared or ()), *inferred.values())
    label = label_of(component)
    for name, port in inferred.items():
        site.findings.error(
            "OAS081",
            f"{label} uses {{{{ {name} }}}}, which is not one of its inputs",
            port.place,
            hint=_meant_environment(name)
            or nearest(name, known, site.findings)
            or f'add an input with the title "{name}"',
        )
    # a wrong placeholder is mostly a misspelt one: the input that it means is not unused too
    if also is not None and read.valid and not inferred:
        used = read.names.keys() | _plain_names(component, (*fields, *also))
        used |= named_inputs(component) | named_inputs(site.component)
        used |= attached_input(component) | attached_input(site.component)
        for port in declared:
            if port.title not in used:
                site.findings.error(
                    "OAS082",
                    f'no template of {label} uses its input "{port.title}"',
                    port.place,
                    hint=f"write {{{{ {port.title} }}}} where its value belongs, or remove it",
                )
    return declared


def _meant_environment(name: str) -> str:
    """Names that the host fills in are written in capitals."""
    is_base = name.upper() == BASE_URL
    return f"write {{{{{BASE_URL}}}}}: a name that the host fills in" if is_base else ""


@dataclass(frozen=True, slots=True)
class _Templates:
    names: dict[str, Port]
    """Every name that the templates look up, at the first place that does."""
    valid: bool


def _read_templates(site: Site, component: Component, fields: Iterable[str]) -> _Templates:
    names: dict[str, Port] = {}
    valid = True
    for field in fields:
        value = component.fields.get(field)
        for text, pointer in strings(value, component.at(field)):
            found = _read_placeholders(site, text, pointer)
            valid = valid and found is not None
            for name in found or ():
                if name not in names:
                    names[name] = Port(title=name, place=site.place(pointer))
    return _Templates(names, valid)


def _plain_names(component: Component, fields: Iterable[str]) -> set[str]:
    """Names between braces, as Agent Spec finds them: in comments and upper case too."""
    return {
        name
        for field in fields
        for text, _ in strings(component.fields.get(field), "")
        for name in _BRACES.findall(text)
    }


def _read_placeholders(site: Site, text: str, pointer: str) -> tuple[str, ...] | None:
    """The names that a template looks up; `None` when it is not valid, which is reported."""
    try:
        return site.templates.names(text)
    except TemplateInvalid as error:
        site.findings.error(
            "OAS080",
            f"the template is not valid: {error}",
            site.place(pointer),
            hint=error.hint
            or cure(text)
            or "text that is not a template goes between {% raw %} and {% endraw %}",
        )
        return None

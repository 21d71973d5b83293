"""Ports and branches that follow from something else in the file.

    "{{ topic }}" and no `inputs`      ->  one input "topic" of type any
    "{{ topc }}" and an input "topic"  ->  OAS081 did you mean "topic"?
    branches that the node cannot have ->  OAS051

Source of the rules: Agent Spec, inference of inputs, outputs and branches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from oas_compiler.ir import Port
from oas_compiler.nodes.site import Site
from oas_compiler.spelling import nearest
from oas_compiler.templates import TemplateError, placeholders, strings


def _union(first: tuple[Port, ...], second: tuple[Port, ...]) -> tuple[Port, ...]:
    """Ports of both lists, `first` deciding about those in both."""
    titles = {port.title for port in first}
    return first + tuple(port for port in second if port.title not in titles)


def same_ports(site: Site) -> tuple[Port, ...] | None:
    """Inputs and outputs of a StartNode or EndNode, which are one set."""
    inputs, outputs = site.declared("inputs"), site.declared("outputs")
    if inputs is None or outputs is None:
        return inputs if inputs is not None else outputs
    different = {port.title for port in inputs} ^ {port.title for port in outputs}
    if different:
        names = ", ".join(sorted(different))
        site.findings.warning(
            "OAS065",
            f"inputs and outputs of {site.label} differ: {names}; both are taken",
            site.place(),
        )
    return _union(inputs, outputs)


def exactly_one(site: Site, ports: tuple[Port, ...], field: str, rule: str) -> tuple[Port, ...]:
    """`ports` when there is exactly one of them."""
    if len(ports) != 1:
        site.error("OAS035", f"{site.label} needs exactly one {rule}, it has {len(ports)}", field)
    return ports


def next_only(site: Site) -> tuple[str, ...]:
    return checked_branches(site, ("next",))


def checked_branches(site: Site, real: tuple[str, ...]) -> tuple[str, ...]:
    """The branches a node really has; declared ones must be the same."""
    declared = site.component.items("branches")
    if declared is not None and sorted(map(str, declared)) != sorted(real):
        site.error(
            "OAS051",
            f"the branches of {site.label} are {_listed(real)}, it declares "
            f"{_listed(str(name) for name in declared)}",
            "branches",
            hint="remove branches: they follow from the node",
        )
    return real


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names) or "none"


def specialised(site: Site, field: str, inherited: tuple[Port, ...], what: str) -> tuple[Port, ...]:
    """The inherited ports, where the node itself may narrow a type or add a default."""
    declared = {port.title: port for port in site.declared(field) or ()}
    known = {port.title for port in inherited}
    for title, port in declared.items():
        if title not in known:
            site.findings.error(
                "OAS067",
                f'"{title}" is not one of the {field} of the {what} of {site.label}',
                port.place,
                hint=nearest(title, known, site.findings),
            )
    ports: list[Port] = []
    for port in inherited:
        own = declared.get(port.title, port)
        ports.append(own if own.default is not None else replace(own, default=port.default))
    return tuple(ports)


def template_inputs(site: Site, *fields: str) -> tuple[Port, ...]:
    """Declared inputs, checked against the placeholders of `fields`, or inputs inferred from them."""
    declared = site.declared("inputs")
    known = {port.title for port in declared or ()}
    inferred: dict[str, Port] = {}
    for field in fields:
        value = site.component.fields.get(field)
        for text, pointer in strings(value, site.component.at(field)):
            for name in _placeholders(site, text, pointer):
                if name not in known and name not in inferred:
                    inferred[name] = Port(title=name, place=site.place(pointer))
    if declared is None:
        return tuple(inferred.values())
    for name, port in inferred.items():
        site.findings.error(
            "OAS081",
            f"{site.label} uses {{{{ {name} }}}}, which is not one of its inputs",
            port.place,
            hint=nearest(name, known, site.findings) or f'add an input with the title "{name}"',
        )
    return declared


def _placeholders(site: Site, text: str, pointer: str) -> tuple[str, ...]:
    try:
        return placeholders(text)
    except TemplateError as error:
        site.findings.error(
            "OAS080",
            f"the template is not valid: {error}",
            site.place(pointer),
            hint="text that is not a template goes between {% raw %} and {% endraw %}",
        )
        return ()

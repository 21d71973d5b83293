"""Every child agent that the flow calls is declared in package.json.

a FlowNode with packageName "@x/mail-agent", agentDependencies {}   ->   OAS189
{"@x/mail-agent": "^1.2.0"}, or a `dependencies` entry of its name   ->   fine
"""

from __future__ import annotations

from oas_compiler.checks.lookup.child_agents import called_agents, own_names
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.package.dependencies import wanted
from oas_compiler.package.package import Package


@rule(
    code="OAS189",
    name="undeclared-child-agent",
    severity="error",
    summary="The flow calls a child agent that package.json does not declare.",
    fix="Add the child and its version range to cinatra.agentDependencies of package.json.",
    source="agent guide, rule 11",
    needs="package",
    aliases=("guide-rule-11",),
    bad='"agentDependencies": {}                               (and a FlowNode of "@acme/mail-agent")',
    good='"agentDependencies": {"@acme/mail-agent": "^1.2.0"}   (and a FlowNode of "@acme/mail-agent")',
)
def undeclared_child_agent(subject: Subject, report: Report) -> None:
    package = subject.agent
    if package is None or package.source is None:
        return
    declared = _collect_declared_agents(package)
    known = {*declared, *own_names(subject)}
    for called in called_agents(subject):
        if called.package and called.package not in known:
            known.add(called.package)
            report(
                f'{called.node.label} calls "{called.package[:120]}", which package.json does not declare',
                subject.place(called.pointer),
                hint=_format_hint(package, called.package, declared, report),
            )


def _collect_declared_agents(package: Package) -> set[str]:
    """The declared agents of maps and lists, also of lists of names: another rule checks the
    form.
    """
    names = {one.name for one in wanted(package.cinatra)}
    listed = package.cinatra.get("agentDependencies")
    names |= (
        {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    )
    others = package.cinatra.get("dependencies")
    for entry in others if isinstance(others, list) else ():
        name = entry.get("packageName") if isinstance(entry, dict) else None
        # an entry without a kind may be an agent
        if isinstance(name, str) and isinstance(entry, dict) and "kind" not in entry:
            names.add(name)
    return names


def _format_hint(package: Package, name: str, declared: set[str], report: Report) -> str:
    outer = package.manifest.get("agentDependencies")
    if isinstance(outer, (dict, list)) and name in outer:
        return 'package.json has it outside of "cinatra", where no host looks: move agentDependencies into it'
    near = report.nearest(name, declared)
    return near or f'add "{name[:80]}" with a version range to cinatra.agentDependencies'

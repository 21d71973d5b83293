"""Whether a flow's copy of a child agent still equals the flow in the child's package.

    FlowNode {"packageName": "@x/mail"} over a subflow without the gate that @x/mail has   ->  DEP012

The comparison covers everything visible from outside: gates with their screens and risk classes,
calls with their tools, addresses and risk classes, and the outputs.  Ids, names and texts may
differ. Inputs may differ too, because the parent decides the run of an embedded trigger (agent
guide, rule 15).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from cinatra_sdk.values.references import REFERENCE
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.deps.packages import AgentPackage
from oas_compiler.document.scope import DEFINITIONS, Document
from oas_compiler.findings.finding import Finding, Findings
from oas_compiler.text.marks import child
from oas_compiler.text.source import read_source

_MOST_NAMED = 3


def different_copies(
    package: AgentPackage, children: Iterable[AgentPackage], findings: Findings
) -> None:
    """Report each FlowNode whose subflow is no copy of the child agent that it names."""
    subject = _load_subject(package)
    if subject is None:
        return
    by_name = {one.name: one for one in children}
    for node in subject.of_type("FlowNode"):
        copy = _find_subflow(subject, node)
        named = node.cinatra.get("packageName") or (copy.cinatra.get("packageName") if copy else "")
        theirs = by_name.get(named) if isinstance(named, str) else None
        original = _load_subject(theirs) if theirs is not None else None
        if copy is None or theirs is None or original is None or original.root is None:
            continue
        difference = _describe_difference(
            _count_parts(subject, copy), _count_parts(original, original.root)
        )
        if difference:
            findings.findings.append(
                Finding(
                    code="DEP012",
                    severity="warning",
                    message=f"{node.label} holds a copy that differs from {theirs.label}: {difference}",
                    place=subject.place(copy.pointer),
                    hint="copy the flow of the package anew, or give the changed one a name of its own",
                    file=subject.document.source.file,
                )
            )


def _load_subject(package: AgentPackage) -> Subject | None:
    if package.flow_file is None:
        return None
    source = read_source(package.flow_file, Findings())  # `check` says what is wrong with it
    if source is None:
        return None
    return Subject(document=Document(source, source.value, Findings()))


def _find_subflow(subject: Subject, node: Written) -> Written | None:
    value = node.value.get("subflow")
    name = value.get(REFERENCE) if isinstance(value, dict) else None
    wanted = (
        child(f"{node.flow}/{DEFINITIONS}", name) if isinstance(name, str) else node.at("subflow")
    )
    return next((one for one in subject.of_type("Flow") if one.pointer == wanted), None)


def _count_parts(subject: Subject, flow: Written) -> Counter[str]:
    """What stands directly in a flow, in words."""
    found = Counter(f'the output "{title[:80]}"' for title in flow.titles("outputs"))
    for node in subject.of_type("InputMessageNode", "ApiNode", "ToolNode"):
        if node.flow == flow.pointer:
            found.update(_describe_node(node))
    return found


def _describe_node(node: Written) -> Iterator[str]:
    risk = node.cinatra.get("riskClass")
    of_class = f" ({risk[:80]})" if isinstance(risk, str) and risk else ""
    if node.type == "InputMessageNode":
        screen = node.cinatra.get("renderer")
        yield (
            f'a gate with the screen "{screen[:120]}"{of_class}'
            if isinstance(screen, str)
            else f"a gate{of_class}"
        )
        return
    data = node.value.get("data")
    tool = data.get("tool") if isinstance(data, dict) else None
    called = tool if isinstance(tool, str) else _strip_credentials(node.text("url")) or node.type
    yield f'a call of "{called[:120]}"{of_class}'


def _strip_credentials(url: str) -> str:
    """Without user, password and query, which may be credentials."""
    return url.partition("?")[0].rpartition("@")[2]


def _describe_difference(copy: Counter[str], original: Counter[str]) -> str:
    lacks, has = list((original - copy).elements()), list((copy - original).elements())
    said = [f"it lacks {_join_parts(lacks)}"] if lacks else []
    said += [f"it has {_join_parts(has)}"] if has else []
    return ", and ".join(said)


def _join_parts(parts: list[str]) -> str:
    more = len(parts) - _MOST_NAMED
    return ", ".join(parts[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")

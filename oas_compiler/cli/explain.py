"""`oasflow explain`: tells what a flow reads, writes, asks and sends, without running it."""

from __future__ import annotations

from typing import Annotated

import typer

from cinatra_sdk.text.spelling import did_you_mean
from oas_compiler.cli import options
from oas_compiler.cli.check import tell_errors
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.findings import view_of_findings
from oas_compiler.cli.inputs import environment
from oas_compiler.cli.safe import clean
from oas_compiler.cli.sources import loading
from oas_compiler.cli.terminal import Terminal
from oas_compiler.explain import Explanation
from oas_compiler.explain import explain as explanation_of
from oas_compiler.explain.records import NodeFacts


def explain(  # noqa: PLR0917 - typer reads the options from the signature
    path: options.FlowPath,
    node: Annotated[
        str, typer.Option("--node", metavar="ID", help="Only this node; an id or a path a/b.")
    ] = "",
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    as_json: options.Json = False,
) -> Exit:
    """Say what a flow does: its nodes in order, its gates and what they guard, its calls.

    With --json also the approval policy, the schemas and the mappings that a host derives.
    """
    from oas_compiler.cli.explained import explanation_view, node_view

    del components, unblock_component  # their callbacks have told cli/sources.py
    terminal = Terminal.open(as_json=as_json)
    values = environment(env or [])
    explained = explanation_of(path, env=values, loading=loading())
    tell_errors(terminal, path, explained.file, values)
    if node:
        chosen = _select_nodes(explained, node)
        for one in chosen:
            terminal.show(node_view(explained, one))
        everything = explained.to_json()["nodes"]
        wanted = {one.path for one in chosen}
        assert isinstance(everything, list)
        records = [one for one in everything if isinstance(one, dict) and one["path"] in wanted]
        terminal.data({"nodes": records})
        return Exit.OK
    terminal.show(explanation_view(explained))
    terminal.data(explained.to_json())
    if explained.findings and not as_json:
        terminal.say(view_of_findings(explained.findings))
    return Exit.OK


def _select_nodes(explained: Explanation, name: str) -> tuple[NodeFacts, ...]:
    """Raises: `Halt` when there is no such node."""
    chosen = explained.named(name)
    if not chosen:
        ids = [known for node in explained.nodes for known in (node.id, node.path)]
        hint = did_you_mean(name[:80], ids[:4_000])
        message = f"there is no node '{clean(name)[:80]}' in this flow"
        raise Halt(message + (f"; {clean(hint)}" if hint else ""))
    return chosen

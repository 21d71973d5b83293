"""`oasflow schema`: JSON Schemas for editors, hosts and forms.

    oasflow schema oas            the dialect: what a flow file may look like
    oasflow schema input PATH     the parameters of one flow
    oasflow schema output PATH    the results of one flow

stdout is always one JSON document; `--json` only makes errors one too.  Kinds of nodes that installed
packages add and that cannot be used are notes on stderr.
"""

from __future__ import annotations

from collections.abc import Callable

from oas_compiler.checks.concealed import Labels
from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.inputs import environment
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.sources import loading
from oas_compiler.cli.terminal import Terminal
from oas_compiler.ir import FlowIR, JsonValue
from oas_compiler.kinds.registry import list_refusals
from oas_compiler.pipeline import compile_ir
from oas_compiler.schema.dialect import dialect_schema
from oas_compiler.schema.flow_schemas import input_schema, output_schema, schema_document


def oas(as_json: options.Json = False) -> Exit:
    """Print the JSON Schema of flow files, for editors."""
    del as_json  # the result is JSON in any case
    terminal = Terminal.open(as_json=True)
    for refusal in list_refusals():
        terminal.note(f"{refusal.message} ({refusal.hint})")
    terminal.data(dialect_schema())
    return Exit.OK


def input(  # noqa: A001 - the name of the command
    path: options.FlowPath,
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    as_json: options.Json = False,
) -> Exit:
    """Print the JSON Schema of a flow's inputs."""
    del as_json, components, unblock_component  # callbacks have told cli/sources.py of these
    return _print_schema(path, env, "Inputs", input_schema)


def output(
    path: options.FlowPath,
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    as_json: options.Json = False,
) -> Exit:
    """Print the JSON Schema of a flow's results."""
    del as_json, components, unblock_component  # callbacks have told cli/sources.py of these
    return _print_schema(path, env, "Outputs", output_schema)


def _print_schema(
    path: str,
    env: list[str] | None,
    what: str,
    schema_of: Callable[[FlowIR], dict[str, JsonValue]],
) -> Exit:
    names = tuple(environment(env or []))
    flow = compile_ir(path, env_names=names, conceal=Labels(), loading=loading()).ir
    schema = schema_document(schema_of(flow), title=f"{what} of {flow.name}")
    _require_valid(schema)
    Terminal.open(as_json=True).data(schema)
    return Exit.OK


def _require_valid(schema: dict[str, JsonValue]) -> None:
    """Raises: `Halt` naming the property whose description is no JSON Schema."""
    from cinatra_sdk.values.validation.vocabulary import flaw_of

    flaw = flaw_of(schema)
    if flaw is None:
        return
    way = [str(part) for part in flaw.path]
    name = way[1] if len(way) > 1 else "the flow"
    where = "/".join(way[2:])
    message = f'"{name[:80]}" is not described by a JSON Schema: {flaw.text[:200]}'
    raise Halt(
        clean(cut(message, 300)) + (f" (at {clean(cut(where, 80))})" if where else ""),
        exit=Exit.FINDINGS,
        code="schema_invalid",
    )

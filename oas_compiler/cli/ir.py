"""`oasflow ir`: the compiled form of a flow, with every port, edge and default made explicit."""

from __future__ import annotations

from oas_compiler.checks.concealed import Labels
from oas_compiler.checks.running import READING
from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit
from oas_compiler.cli.inputs import environment
from oas_compiler.cli.safe import clean
from oas_compiler.cli.sources import loading
from oas_compiler.cli.terminal import Terminal
from oas_compiler.ir.exporting import ir_to_json
from oas_compiler.ir.printing import print_ir
from oas_compiler.pipeline import compile_ir


def ir(
    path: options.FlowPath,
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    as_json: options.Json = False,
) -> Exit:
    """Print the compiled form of a flow: every port, edge, default and setting, inferred ones too.

    With --json also descriptions, and where each stands in the file. Literal credentials are
    covered. Kinds of nodes that do not run yet are shown, too.
    """
    del components, unblock_component  # their callbacks have told cli/sources.py
    terminal = Terminal.open(as_json=as_json)
    names = tuple(environment(env or []))
    flow = compile_ir(path, env_names=names, conceal=Labels(), rules=READING, loading=loading()).ir
    terminal.show(clean(print_ir(flow).rstrip("\n"), lines=True))
    terminal.data(ir_to_json(flow))
    return Exit.OK

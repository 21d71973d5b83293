"""What a simulation of `oasflow run --simulate` makes up, and what it lets run.

oasflow run . --simulate --host shop_parts:lend     the tools run; everything else is made up
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from oas_compiler.cli.exits import Halt
from oas_compiler.cli.safe import clean

if TYPE_CHECKING:
    from cinatra_sdk.runs import Run
    from oas_compiler.cli.opening import PlatformOptions
    from oas_compiler.cli.terminal import Terminal
    from oas_compiler.ir import FlowIR
    from oas_compiler.lower.flow import Flow


def is_simulated(platform: Mapping[str, Any]) -> bool:
    """Whether a stored description is that of a simulation, also behind a local platform."""
    beyond = platform.get("beyond")
    part = beyond if isinstance(beyond, Mapping) else platform
    return part.get("kind") == "simulated"


def list_tools_of_simulation(run: Run, source: bytes) -> list[str]:
    """The tools that really run where a simulated run goes on; none of a run that is not simulated.

    source: of the run's flow.
    """
    if not is_simulated(run.platform) or b"ServerTool" not in source:
        return []
    from cinatra_sdk.errors import StoreError
    from cinatra_sdk.store.flow_kinds import OAS, split_source
    from oas_compiler.pipeline import compile_ir
    from oas_compiler.report.diagnostics import CompileError

    try:
        return _name_tools(compile_ir(source).ir) if split_source(source)[0] == OAS else []
    except (CompileError, StoreError):
        return []  # whoever goes on with the run is told


def tell_tools_of_simulation(terminal: Terminal, names: Iterable[str]) -> None:
    told = ", ".join(map(clean, names))
    terminal.note(f"the tools of --host really run, calls of platforms are simulated: {told}")


def _name_tools(ir: FlowIR) -> list[str]:
    from oas_compiler.control.approval import acting_nodes
    from oas_compiler.ir import ToolNode

    nodes = (node for _, node in acting_nodes(ir))
    return sorted({node.tool_name for node in nodes if isinstance(node, ToolNode)})


def admit_tools_of_simulation(
    terminal: Terminal, made: Flow, host_option: str, *, yes: bool
) -> None:
    """Tell that the tools of `--host` really run in a simulation, which makes up all other answers.

    Raises: `Halt` for tools that no option of this command names, and for `--yes` beside tools.
    """
    from cinatra_sdk.lending.host_factory import HOST_VARIABLE
    from oas_compiler.control.approval import acting_nodes
    from oas_compiler.ir import ToolNode

    tools = [node for _, node in acting_nodes(made.ir) if isinstance(node, ToolNode)]
    if not tools:
        return
    first = f"first at '{tools[0].name}'"
    if not host_option:
        raise Halt(
            f"--simulate makes up no answers of tools, and those of {HOST_VARIABLE} would really "
            f"run ({first}): give the tools that may run with --simulate --host MODULE:FACTORY, "
            "or leave out --simulate"
        )
    if yes:
        raise Halt(
            f"--yes approves without looking, and tools really run ({first}): leave out --yes"
        )
    tell_tools_of_simulation(terminal, _name_tools(made.ir))


def mention_made_up_context(terminal: Terminal, made: Flow, options: PlatformOptions) -> None:
    """Tell the user where a simulation makes up the candidates of a slot."""
    from cinatra_sdk.flow.request import usual_url
    from cinatra_sdk.host.platform import answers
    from oas_compiler.control.approval import acting_nodes
    from oas_compiler.ir import ApiNode

    if not options.simulate or options.context:
        return
    calls = [node for _, node in acting_nodes(made.ir) if isinstance(node, ApiNode)]
    if any(answers(usual_url(node.url)) for node in calls):
        terminal.note(
            "what the context slots may take is simulated: --context FILE fills them from artifacts"
        )

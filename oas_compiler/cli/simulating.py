"""What a simulation of `oasflow run --simulate` makes up, and what it lets run.

oasflow run . --simulate --host shop_parts:lend     the tools run; everything else is made up
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oas_compiler.cli.exits import Halt
from oas_compiler.cli.safe import clean

if TYPE_CHECKING:
    from oas_compiler.cli.opening import PlatformOptions
    from oas_compiler.cli.terminal import Terminal
    from oas_compiler.lower.flow import Flow


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
    names = ", ".join(sorted({clean(node.tool_name) for node in tools}))
    terminal.note(f"the tools of --host really run, calls of platforms are simulated: {names}")


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

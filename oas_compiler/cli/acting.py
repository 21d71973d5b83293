"""Prepares to continue a run: tells what the run uses, and refuses with all that the command lacks.

In: a run of the store, the options of the command, and the command for typing again.
Out: the run's flow, or `Halt` before anything is recorded.

    TypedCommand("approve", "n1/review", ("--reason", "fine"))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oas_compiler.cli import opening
from oas_compiler.cli.about import Manner, tell_what_is_used
from oas_compiler.cli.lacking import lacking, refusal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.flows import DurableFlow
    from oas_compiler.cli.next_steps import GivenOptions
    from oas_compiler.cli.terminal import Terminal


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A command that acts on a run, so that it can be printed for typing again."""

    name: str
    target: str
    options: tuple[str, ...] = ()
    """The command's own options, without those that lend resources."""


def flow_to_go_on(
    store: RunStore,
    run: Run,
    terminal: Terminal,
    given: GivenOptions,
    call: TypedCommand,
    *,
    to_reject: bool = False,
) -> DurableFlow:
    """The flow of `run`, after telling what the run uses of this process.

    to_reject: a rejected run makes no calls, so the command lends no resources and lacks none.

    Raises: `Halt`, which names everything that is missing and the complete command.
    """
    source = b"" if to_reject else store.source(run.id)
    found = None if to_reject else lacking(run, given, source)
    manner: Manner = "rejected" if found is None else "refused" if found else "done"
    tell_what_is_used(terminal, run, given.own, manner, source)
    if found:
        whole = found.whole.command(call.name, call.target, *call.options)
        raise refusal(run, found, whole)
    return opening.flow_of_run(store, run.id, given.tenant, to_reject=to_reject)
